/* test_memory_pass.c -- passes over arrays in memory, with stages that are written here: one stage
 * in tiles, and two that run one after the other in every tile, the second reading rows around its
 * own of what the first left in scratch memory. */
#include "exec/exec.h"
#include "test.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { RANK = 2, MOST_CELLS = 4096, TRASH = -77777 };

/* ---- Stages ---------------------------------------------------------------------------------- */

/* t = 3*x + row, or y = the weighted sum of the rows stride*i - before .. stride*i + after of t,
 * without those that there are not. */
typedef struct {
    ar_stage    stage;
    int         axis;                  /* that rows are of */
    int64_t     stride, before, after; /* of the second */
    int64_t     fails_at;              /* row; -1: it does not */
    atomic_long cells, calls;          /* so far */
} test_stage;

static int64_t *cell_of(const ar_operands *o, int operand, const int64_t *index)
{
    uintptr_t at = (uintptr_t)o->origins[operand];

    for (int axis = 0; axis < RANK; axis++)
        at += (uintptr_t)(index[axis] * o->strides[operand][axis]);
    return (int64_t *)at;
}

static int64_t first_value(const test_stage *s, const ar_operands *o, const int64_t *index)
{
    return 3 * *cell_of(o, 1, index) + index[s->axis];
}

static int64_t second_value(const test_stage *s, const ar_operands *o, const int64_t *index)
{
    int64_t sum = 0, row = s->stride * index[s->axis], length = o->shapes[1][s->axis];

    for (int64_t k = ar_max64(0, row - s->before); k <= ar_min64(length - 1, row + s->after); k++) {
        int64_t from[RANK] = { index[0], index[1] };

        from[s->axis] = k;
        sum += (k - row + 100) * *cell_of(o, 1, from);
    }
    return sum;
}

typedef int64_t value_of(const test_stage *s, const ar_operands *o, const int64_t *index);

static arras_status compute(const ar_stage *stage, const ar_operands *o, const int64_t *lo,
                            const int64_t *hi, value_of *value, arras_error *err)
{
    test_stage *s = (test_stage *)(uintptr_t)stage;
    int64_t     index[RANK];

    atomic_fetch_add(&s->calls, 1);
    if (s->fails_at >= lo[s->axis] && s->fails_at < hi[s->axis])
        return ar_fail(err, ARRAS_EINVAL, "row %" PRId64 " is broken", s->fails_at);
    for (index[0] = lo[0]; index[0] < hi[0]; index[0]++)
        for (index[1] = lo[1]; index[1] < hi[1]; index[1]++)
            *cell_of(o, 0, index) = value(s, o, index);
    atomic_fetch_add(&s->cells, (hi[0] - lo[0]) * (hi[1] - lo[1]));
    return ARRAS_OK;
}

static arras_status compute_first(const ar_stage *s, const ar_operands *o, const int64_t *lo,
                                  const int64_t *hi, int thread, arras_error *err)
{
    (void)thread;
    return compute(s, o, lo, hi, first_value, err);
}

static arras_status compute_second(const ar_stage *s, const ar_operands *o, const int64_t *lo,
                                   const int64_t *hi, int thread, arras_error *err)
{
    (void)thread;
    return compute(s, o, lo, hi, second_value, err);
}

static const ar_stage_type first_type = { .compute = compute_first };
static const ar_stage_type second_type = { .compute = compute_second };

/* ---- A world: x, t and y --------------------------------------------------------------------- */

typedef struct {
    const char *why;
    int         axis;
    int64_t     shape[RANK]; /* of y */
    int64_t     rows;        /* of t */
    int64_t     tile;        /* rows of y */
    int64_t     stride, before, after;
} band_case;

typedef struct {
    const band_case *c;
    int64_t          shapes[3][RANK], strides[3][RANK]; /* of x, t, y */
    int64_t          cells[3][MOST_CELLS];
    test_stage       first, second;
    char            *scratch;

    /* What ar_memory_pass points to. */
    char                *origins[2][2];
    const int64_t       *shapes_of[2][2], *strides_of[2][2];
    ar_tile_array        t;
    int64_t              t_strides[RANK];
    const ar_tile_array *inner[2][2];
    ar_memory_stage      stages[2];
    ar_memory_pass       pass;
} band_world;

static const int result[] = { 0 }, operand[] = { 0 };

/* Operands of stage `s`: its result, array s + 1, then its input, array s. */
static void set_stage(band_world *w, int s, test_stage *stage, const ar_stage_type *type)
{
    *stage = (test_stage){ .stage = { type, 1, 1, result, operand },
                           .axis = w->c->axis,
                           .stride = w->c->stride,
                           .before = w->c->before,
                           .after = w->c->after,
                           .fails_at = -1 };
    for (int k = 0; k < 2; k++) {
        int array = k == 0 ? s + 1 : s;

        w->origins[s][k] = (char *)w->cells[array];
        w->shapes_of[s][k] = w->shapes[array];
        w->strides_of[s][k] = w->strides[array];
    }
    w->stages[s] = (ar_memory_stage){
        .stage = &stage->stage,
        .operands = { w->origins[s], w->shapes_of[s], w->strides_of[s], false, false },
        .inner = w->inner[s],
        .rows = { .axis = w->c->axis, .length = w->shapes[s + 1][w->c->axis], .stride = 1 },
        .rank = RANK,
    };
}

/* t is in scratch memory of as many rows as a tile may need, with trash around them. */
static void set_scratch(band_world *w, int threads)
{
    const band_case *c = w->c;
    int64_t          most = (c->tile - 1) * c->stride + 1 + c->before + c->after;
    int64_t          across = c->shape[1 - c->axis], margin = 64;

    most = ar_min64(most, c->rows);
    w->t_strides[1] = sizeof(int64_t);
    w->t_strides[0] = (int64_t)sizeof(int64_t) * (c->axis == 1 ? most : across);
    w->t = (ar_tile_array){
        .stage = 0, .offset = margin, .strides = w->t_strides, .row_bytes = w->t_strides[c->axis]
    };
    w->pass.scratch_bytes = 2 * margin + most * across * (int64_t)sizeof(int64_t);
    w->scratch = calloc((size_t)(w->pass.scratch_bytes * threads), 1);
    for (int64_t i = 0; i < w->pass.scratch_bytes * threads / 8; i++)
        ((int64_t *)(void *)w->scratch)[i] = TRASH;
    w->pass.scratch = w->scratch;
    w->inner[0][0] = w->inner[1][1] = &w->t;
}

static band_world *make_world(const band_case *c, int threads)
{
    band_world *w = calloc(1, sizeof *w);

    w->c = c;
    for (int array = 0; array < 3; array++) {
        memcpy(w->shapes[array], c->shape, sizeof c->shape);
        if (array < 2)
            w->shapes[array][c->axis] = c->rows;
        w->strides[array][1] = sizeof(int64_t);
        w->strides[array][0] = w->shapes[array][1] * (int64_t)sizeof(int64_t);
    }
    for (int i = 0; i < MOST_CELLS; i++) {
        w->cells[0][i] = i * 7919 % 1009;
        w->cells[1][i] = w->cells[2][i] = TRASH;
    }
    set_stage(w, 0, &w->first, &first_type);
    set_stage(w, 1, &w->second, &second_type);
    w->stages[0].rows.stride = c->stride;
    w->stages[0].rows.before = c->before;
    w->stages[0].rows.after = c->after;
    w->pass.nstages = 2;
    w->pass.stages = w->stages;
    w->pass.tiling = (ar_tiling){ .rank = RANK };
    for (int axis = 0; axis < RANK; axis++) {
        w->pass.tiling.shape[axis] = c->shape[axis];
        w->pass.tiling.tile[axis] = axis == c->axis ? c->tile : c->shape[axis];
    }
    ar_tiling_count(&w->pass.tiling);
    set_scratch(w, threads);
    return w;
}

static void free_world(band_world *w)
{
    free(w->scratch);
    free(w);
}

static arras_status run_pass(ar_memory_pass *pass, int threads, arras_error *err)
{
    ar_pool      *pool = NULL;
    ar_taskgraph *tasks = NULL;
    int           id;
    arras_status  status = ARRAS_ENOMEM;

    if (CHECK(ar_pool_new(&pool, threads, NULL) == ARRAS_OK) &&
        CHECK(ar_taskgraph_new(&tasks, NULL) == ARRAS_OK) &&
        CHECK(ar_taskgraph_add(&id, tasks,
                               (ar_task){ ar_memory_pass_run, pass, pass->tiling.count, "pass" },
                               NULL) == ARRAS_OK) &&
        CHECK(ar_taskgraph_instantiate(tasks, NULL) == ARRAS_OK))
        status = ar_taskgraph_run(tasks, pool, err);
    ar_taskgraph_free(tasks);
    ar_pool_free(pool);
    return status;
}

/* ---- What should come out -------------------------------------------------------------------- */

/* Array `to` from the one before it, all at once, by the stage's own rule. */
static void compute_whole(int64_t *cells, band_world *w, int to, const int64_t *from)
{
    char          *origins[2] = { (char *)cells, (char *)(uintptr_t)from };
    const int64_t *shapes[2] = { w->shapes[to], w->shapes[to - 1] };
    const int64_t *strides[2] = { w->strides[to], w->strides[to - 1] };
    ar_operands    o = { .origins = origins, .shapes = shapes, .strides = strides };
    int64_t        index[RANK];

    for (index[0] = 0; index[0] < shapes[0][0]; index[0]++)
        for (index[1] = 0; index[1] < shapes[0][1]; index[1]++)
            *cell_of(&o, 0, index) =
                to == 1 ? first_value(&w->first, &o, index) : second_value(&w->second, &o, index);
}

static int wrong_cells(const int64_t *got, const int64_t *want)
{
    int wrong = 0;

    for (int i = 0; i < MOST_CELLS; i++)
        wrong += got[i] != want[i];
    return wrong;
}

/* Of t, all tiles together: what overlaps is computed twice, and no more than that. */
static int64_t rows_computed(const band_case *c)
{
    int64_t n = 0, length = c->shape[c->axis];

    for (int64_t lo = 0; lo < length; lo += c->tile) {
        int64_t hi = ar_min64(lo + c->tile, length);
        int64_t first = ar_max64(0, lo * c->stride - c->before);
        int64_t end = ar_min64(c->rows, (hi - 1) * c->stride + c->after + 1);

        n += ar_max64(0, end - first);
    }
    return n;
}

/* ---- One stage ------------------------------------------------------------------------------- */

static const band_case one_stage[] = {
    { "one tile", 0, { 10, 7 }, 10, 10, 1, 0, 0 },
    { "tiles, the last one smaller", 0, { 10, 7 }, 10, 4, 1, 0, 0 },
    { "a tile for each row", 0, { 10, 7 }, 10, 1, 1, 0, 0 },
    { "tiles of columns", 1, { 10, 7 }, 7, 3, 1, 0, 0 },
    { "no cells, no tiles", 0, { 0, 7 }, 0, 1, 1, 0, 0 },
};

static void a_single_stage(void)
{
    for (size_t i = 0; i < AR_COUNT(one_stage); i++)
        for (int threads = 1; threads <= 3; threads++) {
            band_world *w = make_world(&one_stage[i], threads);
            int64_t     want[MOST_CELLS];

            CASE("%s, %d threads", one_stage[i].why, threads);
            memcpy(want, w->cells[1], sizeof want);
            compute_whole(want, w, 1, w->cells[0]);
            w->pass.nstages = 1;
            w->stages[0].inner = NULL;
            CHECK_EQ_INT(run_pass(&w->pass, threads, NULL), ARRAS_OK);
            CHECK_EQ_INT(wrong_cells(w->cells[1], want), 0);
            CHECK_EQ_INT(w->first.calls, w->pass.tiling.count);
            CHECK_EQ_INT(w->first.cells, w->shapes[1][0] * w->shapes[1][1]);
            free_world(w);
        }
}

/* ---- Two in a band --------------------------------------------------------------------------- */

static const band_case two_stages[] = {
    { "rows of their own", 0, { 40, 9 }, 40, 6, 1, 0, 0 },
    { "a halo, clipped at both ends", 0, { 40, 9 }, 40, 6, 1, 2, 3 },
    { "a halo longer than tiles", 0, { 40, 9 }, 40, 2, 1, 5, 7 },
    { "a halo longer than the array", 0, { 6, 9 }, 6, 2, 1, 20, 20 },
    { "one tile: no row twice", 0, { 40, 9 }, 40, 40, 1, 2, 3 },
    { "a tile for each row", 0, { 40, 9 }, 40, 1, 1, 1, 1 },
    { "two rows for one", 0, { 20, 9 }, 40, 3, 2, 0, 1 },
    { "three for one, with a halo", 0, { 13, 9 }, 39, 4, 3, 2, 4 },
    { "more rows are asked for than there are", 0, { 20, 9 }, 33, 3, 2, 1, 1 },
    { "columns", 1, { 9, 40 }, 40, 6, 1, 2, 3 },
    { "two columns for one", 1, { 9, 20 }, 40, 3, 2, 1, 2 },
};

static void two_stages_in_a_band(void)
{
    for (size_t i = 0; i < AR_COUNT(two_stages); i++)
        for (int threads = 1; threads <= 3; threads++) {
            const band_case *c = &two_stages[i];
            band_world      *w = make_world(c, threads);
            int64_t          t[MOST_CELLS] = { 0 }, want[MOST_CELLS];

            CASE("%s, %d threads", c->why, threads);
            compute_whole(t, w, 1, w->cells[0]);
            memcpy(want, w->cells[2], sizeof want);
            compute_whole(want, w, 2, t);
            CHECK_EQ_INT(run_pass(&w->pass, threads, NULL), ARRAS_OK);
            CHECK_EQ_INT(wrong_cells(w->cells[2], want), 0);
            for (int k = 0; k < MOST_CELLS; k++)
                t[k] = TRASH;
            CHECK_EQ_INT(wrong_cells(w->cells[1], t), 0); /* t as a whole is nowhere */
            CHECK_EQ_INT(w->first.cells, rows_computed(c) * c->shape[1 - c->axis]);
            CHECK_EQ_INT(w->second.cells, c->shape[0] * c->shape[1]);
            free_world(w);
        }
}

/* Nothing is written before and after the rows that a thread has. */
static void scratch_memory_is_kept_to(void)
{
    for (size_t i = 0; i < AR_COUNT(two_stages); i++) {
        band_world *w = make_world(&two_stages[i], 3);

        CASE("%s", two_stages[i].why);
        CHECK_EQ_INT(run_pass(&w->pass, 3, NULL), ARRAS_OK);
        for (int thread = 0; thread < 3; thread++) {
            const int64_t *first = (void *)(w->scratch + thread * w->pass.scratch_bytes);
            const int64_t *end = (void *)(w->scratch + (thread + 1) * w->pass.scratch_bytes);

            for (int k = 0; k < 8; k++)
                CHECK(first[k] == TRASH && end[-1 - k] == TRASH);
        }
        free_world(w);
    }
}

/* ---- One that fails -------------------------------------------------------------------------- */

static void a_stage_that_fails(void)
{
    const band_case *c = &two_stages[1];

    for (int stage = 0; stage < 2; stage++)
        for (int threads = 1; threads <= 3; threads++) {
            band_world *w = make_world(c, threads);
            arras_error err = { ARRAS_OK, "" };

            CASE("stage %d, %d threads", stage, threads);
            (stage ? &w->second : &w->first)->fails_at = 22; /* in the fourth tile */
            CHECK_EQ_INT(run_pass(&w->pass, threads, &err), ARRAS_EINVAL);
            CHECK_STR(err.text, "row 22 is broken");
            CHECK(w->second.calls <= w->first.calls);
            if (threads == 1) { /* nothing after it is tried */
                CHECK_EQ_INT(w->first.calls, 4);
                CHECK_EQ_INT(w->second.calls, stage ? 4 : 3);
            }
            free_world(w);
        }
}

TEST_MAIN
{
    RUN(a_single_stage);
    RUN(two_stages_in_a_band);
    RUN(scratch_memory_is_kept_to);
    RUN(a_stage_that_fails);
}
