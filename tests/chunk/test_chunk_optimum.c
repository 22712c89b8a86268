/* test_chunk_optimum.c -- the best chunk shape against all shapes, one by one, in exact numbers;
 * how long it takes; what happens when there is no memory. */
#include <string.h>

#include "chunk_world.h"

enum { CASES = 1500, SIZES = 300 };

__extension__ typedef unsigned __int128 wide;

/* ---- All shapes, one by one ------------------------------------------------------------------ */

typedef struct exact_cost {
    wide upper, lower;
} exact_cost;

/* Chunks that a range meets, summed over all places it can have: counted, not computed. */
static int64_t count_places(int64_t extent, int64_t range, int64_t edge)
{
    int64_t sum = 0;

    for (int64_t s = 0; s + range <= extent; s++)
        sum += (s + range - 1) / edge - s / edge + 1;
    return sum;
}

static exact_cost range_cost(const ar_chunk_problem *p, int axis, int64_t range, int64_t edge)
{
    if (p->model == ARRAS_CHUNKS_PAPER)
        return (exact_cost){ (wide)(range - 1 + edge), (wide)edge };
    if (p->model == ARRAS_CHUNKS_SS)
        return (exact_cost){ (wide)((range + edge - 1) / edge), 1 };
    return (exact_cost){ (wide)count_places(p->extent[axis], range, edge),
                         (wide)(p->extent[axis] - range + 1) };
}

static exact_cost query_cost(const ar_chunk_problem *p, int64_t q, const int64_t *chunk)
{
    exact_cost product = { 1, 1 };

    for (int i = 0; i < p->workload->rank; i++) {
        exact_cost c = range_cost(p, i, p->workload->shapes[q * p->workload->rank + i], chunk[i]);

        product.upper *= c.upper;
        product.lower *= c.lower;
    }
    return product;
}

/* A sum of fractions with small numbers; the common weight of all is left out. */
static void add_to(exact_cost *sum, exact_cost c, int64_t weight)
{
    wide a, b, times = (wide)weight;

    if (sum->lower == c.lower) {
        sum->upper += c.upper * times;
        return;
    }
    sum->upper = sum->upper * c.lower + c.upper * times * sum->lower;
    sum->lower *= c.lower;
    for (a = sum->upper, b = sum->lower; b;) {
        wide rest = a % b;

        a = b;
        b = rest;
    }
    sum->upper /= a;
    sum->lower /= a;
}

static exact_cost shape_cost(const ar_chunk_problem *p, const int64_t *chunk)
{
    const arras_workload *w = p->workload;
    exact_cost            sum = { 0, 1 }, product = { 1, 1 };

    for (int64_t q = 0; q < w->count; q++)
        add_to(&sum, query_cost(p, q, chunk), w->weights[q]);
    for (int i = 0; i < w->rank && w->independent; i++) {
        exact_cost axis = { 0, 1 };

        for (int64_t r = 0; r < w->axes[i].count; r++)
            add_to(&axis, range_cost(p, i, w->axes[i].shares[r].range, chunk[i]),
                   w->axes[i].shares[r].weight);
        product.upper *= axis.upper;
        product.lower *= axis.lower;
    }
    return w->independent ? product : sum;
}

static double value_of(exact_cost c) { return (double)c.upper / (double)c.lower; }

static double worst_of(const ar_chunk_problem *p, const int64_t *chunk)
{
    double worst = 0;

    for (int64_t q = 0; q < p->workload->count; q++)
        worst = fmax(worst, value_of(query_cost(p, q, chunk)));
    return worst;
}

static bool is_allowed(const ar_chunk_problem *p, int axis, int64_t edge)
{
    if (p->fixed[axis])
        return edge == p->fixed[axis];
    return edge % p->multiple[axis] == 0 && (!p->powers_of_two || (edge & (edge - 1)) == 0);
}

/* The next shape in lexicographic order; false: there is none. */
static bool next_shape(const ar_chunk_problem *p, int64_t *chunk)
{
    for (int i = p->workload->rank - 1; i >= 0; i--) {
        if (++chunk[i] <= p->extent[i])
            return true;
        chunk[i] = 1;
    }
    return false;
}

static int64_t cells_of(int rank, const int64_t *chunk)
{
    int64_t cells = 1;

    for (int i = 0; i < rank; i++)
        cells *= chunk[i];
    return cells;
}

static bool is_shape(const ar_chunk_problem *p, const int64_t *chunk)
{
    for (int i = 0; i < p->workload->rank; i++)
        if (!is_allowed(p, i, chunk[i]))
            return false;
    return cells_of(p->workload->rank, chunk) <= p->cells;
}

typedef struct brute {
    bool       found;
    int64_t    chunk[ARRAS_MAX_RANK];
    exact_cost cost;
    double     worst; /* the best worst query among those within 1 % */
} brute;

static brute try_all(const ar_chunk_problem *p)
{
    int     rank = p->workload->rank;
    int64_t chunk[ARRAS_MAX_RANK];
    brute   best = { .worst = INFINITY };

    for (int i = 0; i < rank; i++)
        chunk[i] = 1;
    do {
        if (!is_shape(p, chunk))
            continue;
        exact_cost cost = shape_cost(p, chunk);
        wide       left = cost.upper * best.cost.lower, right = best.cost.upper * cost.lower;
        if (!best.found || left < right ||
            (left == right && cells_of(rank, chunk) < cells_of(rank, best.chunk))) {
            best.found = true;
            best.cost = cost;
            memcpy(best.chunk, chunk, sizeof chunk);
        }
    } while (next_shape(p, chunk));
    do
        if (is_shape(p, chunk) &&
            value_of(shape_cost(p, chunk)) <= 1.01 * value_of(best.cost) * (1 - 1e-12))
            best.worst = fmin(best.worst, worst_of(p, chunk));
    while (next_shape(p, chunk));
    return best;
}

/* ---- Random problems ------------------------------------------------------------------------- */

static bool random_problem(ar_chunk_problem *p)
{
    int     rank = 1 + (int)world_random(4);
    int64_t queries = 1 + world_random(3), shapes[12], extent[4];

    for (int i = 0; i < rank; i++)
        extent[i] = 1 + world_random(rank == 4 ? 5 : rank == 3 ? 9 : 30);
    for (int64_t i = 0; i < queries * rank; i++)
        shapes[i] = world_random(3) ? 1 + world_random(extent[i % rank]) : 1;
    if (rank > 1 && world_random(4) == 0) { /* axes that are alike */
        extent[1] = extent[0];
        for (int64_t q = 0; q < queries; q++)
            shapes[q * rank + 1] = shapes[q * rank];
    }
    if (!world_problem(p, rank, queries, shapes, extent, 1 + world_random(200)))
        return false;
    p->model = (arras_chunk_model)world_random(ARRAS_CHUNKS_END);
    p->powers_of_two = world_random(3) == 0;
    for (int i = 0; i < rank; i++) {
        p->fixed[i] = world_random(6) ? 0 : 1 + world_random(extent[i]);
        p->multiple[i] = world_random(6) || p->fixed[i] ? 1 : 1 + world_random(3);
    }
    if (world_random(3) == 0)
        world_make_independent(p);
    return true;
}

static void check_balance(const ar_chunk_problem *p, const brute *want)
{
    ar_chunk_optimum got;

    if (!CHECK(ar_chunk_optimise(&got, p, 0.01, 0, NULL) == ARRAS_OK))
        return;
    CHECK(is_shape(p, got.chunk));
    CHECK(value_of(shape_cost(p, got.chunk)) <= 1.01 * value_of(want->cost) * (1 + 1e-9));
    if (!p->workload->independent)
        CHECK(worst_of(p, got.chunk) <= want->worst * (1 + 1e-8));
}

static void is_the_best_of_all(void)
{
    int solved = 0, refused = 0;

    world_state = 42;
    for (int i = 0; i < CASES; i++) {
        ar_chunk_problem p;
        ar_chunk_optimum got;

        CASE("problem %d", i);
        if (!random_problem(&p))
            return;
        brute        want = try_all(&p);
        arras_status status = ar_chunk_optimise(&got, &p, 0, 0, NULL);
        CHECK_EQ_INT(status, want.found ? ARRAS_OK : ARRAS_EINVAL);
        if (status == ARRAS_OK && want.found) {
            solved++;
            CHECK(got.proven);
            for (int d = 0; d < p.workload->rank; d++)
                CHECK_EQ_INT(got.least[d], want.chunk[d]);
            check_balance(&p, &want);
        }
        refused += !want.found;
        world_free(&p);
    }
    CASE("how many");
    CHECK(solved >= 1000);
    CHECK(refused > 0);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static double least_time(const ar_chunk_problem *p, ar_chunk_clock clock)
{
    int64_t chunk[ARRAS_MAX_RANK];
    double  least = INFINITY;

    for (int i = 0; i < p->workload->rank; i++)
        chunk[i] = 1;
    do
        if (is_shape(p, chunk))
            least = fmin(least, value_of(shape_cost(p, chunk)) / (double)p->workload->total *
                                    (clock.fixed +
                                     clock.per_cell * (double)cells_of(p->workload->rank, chunk)));
    while (next_shape(p, chunk));
    return least;
}

/* The size that is chosen may not be the very best; what it says of how far off it is, is true. */
static void sizes_take_little_time(void)
{
    double sum = 0;
    int    n = 0;

    world_state = 7;
    for (int i = 0; i < SIZES; i++) {
        ar_chunk_problem p;
        ar_chunk_optimum got;
        ar_chunk_clock   clock = { 1, 0.001 * (double)(1 + world_random(300)) };
        double           bound;

        if (!random_problem(&p))
            return;
        if (!p.workload->independent && try_all(&p).found) {
            double least = least_time(&p, clock);

            CHECK(ar_chunk_best_size(&p.cells, &bound, &p, clock, NULL) == ARRAS_OK);
            CHECK(bound <= least * (1 + 1e-9));
            CHECK(ar_chunk_optimise(&got, &p, 0, 0, NULL) == ARRAS_OK);
            double cells = (double)cells_of(p.workload->rank, got.least);
            sum += got.cost * (clock.fixed + clock.per_cell * cells) / least;
            n++;
        }
        world_free(&p);
    }
    CHECK(n > 100);
    CHECK(sum / n < 1.03);
}

/* ---- Stopped early --------------------------------------------------------------------------- */

static void says_how_far_off_it_may_be(void)
{
    static const int64_t extent[] = { 500, 3000, 3000, 40 };
    static const int64_t shapes[] = { 1, 100, 100, 40, 500, 1,    1,    40,
                                      5, 300, 300, 1,  1,   3000, 3000, 1 };
    ar_chunk_problem     p;
    ar_chunk_optimum     best, early;

    if (!world_problem(&p, 4, 4, shapes, extent, 1 << 18))
        return;
    CHECK(ar_chunk_optimise(&best, &p, 0, 0, NULL) == ARRAS_OK);
    CHECK(ar_chunk_optimise(&early, &p, 0, 1, NULL) == ARRAS_OK);
    CHECK(best.proven && !early.proven);
    CHECK(early.bound <= best.cost && best.cost <= early.cost);
    CHECK(early.bound > 0.5 * best.cost);
    world_free(&p);
}

/* ---- Work ------------------------------------------------------------------------------------ */

/* Of shapes there are far more. */
static void check_work(const char *what, const ar_chunk_problem *p, int64_t most)
{
    ar_chunk_optimum got;

    CHECK(ar_chunk_optimise(&got, p, 0.01, 0, NULL) == ARRAS_OK);
    printf("    %s: %lld partial shapes\n", what, (long long)got.examined);
    CHECK(got.proven && got.examined <= most);
}

static void eight_axes_are_little_work(void)
{
    int64_t          extent[8], shapes[64];
    ar_chunk_problem p;

    world_state = 3;
    for (int i = 0; i < 8; i++)
        extent[i] = 50 + world_random(2000);
    for (int i = 0; i < 64; i++)
        shapes[i] = world_random(3) ? 1 + world_random(1 + world_random(extent[i % 8])) : 1;
    if (!world_problem(&p, 8, 8, shapes, extent, 1 << 24))
        return;
    check_work("8 axes, 8 shapes, 2^24 cells", &p, 50000);
    world_make_independent(&p);
    check_work("8 axes, independent, 2^24 cells", &p, 20000);
    world_free(&p);
}

static void three_axes_are_less(void)
{
    static const int64_t extent[] = { 98128, 277, 349 };
    static const int64_t shapes[] = { 98128, 1, 1, 1, 277, 349 };
    ar_chunk_problem     p;

    if (!world_problem(&p, 3, 2, shapes, extent, 1 << 18))
        return;
    check_work("series and maps", &p, 200000);
    world_free(&p);
}

/* ---- Trouble --------------------------------------------------------------------------------- */

static void survives_without_memory(void)
{
    static const int64_t extent[] = { 30, 20 }, shapes[] = { 5, 20, 30, 3 };
    ar_chunk_problem     p;
    ar_chunk_optimum     got;
    ar_chunk_clock       clock = { 1, 0.1 };
    arras_status         status = ARRAS_ENOMEM;
    double               bound;
    int64_t              live, n;

    if (!world_problem(&p, 2, 2, shapes, extent, 60))
        return;
    live = ar_alloc_live();
    for (n = 1; status == ARRAS_ENOMEM && n < 1000; n++) {
        ar_alloc_fail_from(n);
        status = ar_chunk_optimise(&got, &p, 0.01, 0, NULL);
        if (status == ARRAS_OK)
            status = ar_chunk_best_size(&p.cells, &bound, &p, clock, NULL);
        ar_alloc_fail_from(0);
        CHECK_EQ_INT(ar_alloc_live(), live);
    }
    CHECK_EQ_INT(status, ARRAS_OK);
    CHECK(n > 10);
    world_free(&p);
}

static void refuses_what_cannot_be(void)
{
    static const int64_t shapes[] = { 5, 20 }, extent[] = { 30, 20 }, far[] = { 1 << 20, 1 << 20 };
    arras_error          err;
    ar_chunk_optimum     got;
    ar_chunk_problem     p, q;

    if (!world_problem(&p, 2, 1, shapes, extent, 60))
        return;
    q = p, q.cells = 0;
    CHECK_EQ_INT(ar_chunk_optimise(&got, &q, 0, 0, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "a chunk may have 0 cells");
    q = p, q.fixed[0] = 31;
    CHECK_EQ_INT(ar_chunk_optimise(&got, &q, 0, 0, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "axis 0 is fixed to 31; the array has 30");
    q = p, q.fixed[0] = 30, q.multiple[1] = 3;
    CHECK_EQ_INT(ar_chunk_optimise(&got, &q, 0, 0, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "need more than the 60 cells that the limit allows, at axis 1");
    q = p, q.multiple[1] = 21;
    CHECK_EQ_INT(ar_chunk_optimise(&got, &q, 0, 0, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "cannot be a multiple of 21");
    q = p, q.multiple[1] = 3, q.powers_of_two = true;
    CHECK_EQ_INT(ar_chunk_optimise(&got, &q, 0, 0, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "a power of two and a multiple of 3");
    q = p, q.extent[1] = 19;
    CHECK_EQ_INT(ar_chunk_optimise(&got, &q, 0, 0, &err), ARRAS_ESHAPE);
    CHECK_HAS(err.text, "20 cells long along axis 1; the array has 19");
    q = p, q.extent[0] = 0;
    CHECK_EQ_INT(ar_chunk_optimise(&got, &q, 0, 0, &err), ARRAS_ESHAPE);
    q = p, q.extent[0] = far[0] << 10, q.extent[1] = far[1] << 10, q.cells = INT64_MAX;
    CHECK_EQ_INT(ar_chunk_optimise(&got, &q, 0, 0, &err), ARRAS_ELIMIT);
    CHECK_HAS(err.text, "set a lower limit");
    world_free(&p);
}

TEST_MAIN
{
    RUN(is_the_best_of_all);
    RUN(sizes_take_little_time);
    RUN(says_how_far_off_it_may_be);
    RUN(eight_axes_are_little_work);
    RUN(three_axes_are_less);
    RUN(survives_without_memory);
    RUN(refuses_what_cannot_be);
}
