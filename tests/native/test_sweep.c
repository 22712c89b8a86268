/* test_sweep.c -- ordered sweeps against a plain loop over the cells: random shapes, reaches,
 * rules, blocks, slabs, threads, arrays in memory and in files, all with the same bits. */
#include <arras/sweep.h>

#include "native/native.h"
#include "store_world.h"

enum { CASES = 500, MOST_CELLS = 1500, ARRAYS = 3 };

static uint64_t seed = 88172645463325252u;

static int64_t pick(int64_t lo, int64_t hi)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return lo + (int64_t)(seed >> 11) % (hi - lo + 1);
}

/* ---- A random sweep -------------------------------------------------------------------------- */

static const arras_dtype types[] = { ARRAS_I32, ARRAS_U8, ARRAS_I64, ARRAS_F32 };

typedef struct {
    int             rank, narrays;
    int64_t         shape[4], cells, before[4], after[4];
    arras_edge_rule edges[4];
    arras_dtype     dtypes[ARRAYS]; /* the state, then companions */
    int64_t         fills[ARRAYS];
    char            values[ARRAYS][MOST_CELLS * 8];
    char            expected[MOST_CELLS * 8];
    int64_t         order, sweeps, changes; /* of the last sweep */
    bool            filed;                  /* some arrays are in files */
} problem;

static int64_t read_number(arras_dtype dtype, const char *cell)
{
    int32_t word = 0;
    int64_t number = 0;

    if (dtype == ARRAS_I64)
        memcpy(&number, cell, 8);
    else if (dtype == ARRAS_U8)
        number = *(const uint8_t *)cell;
    else
        memcpy(&word, cell, 4);
    return dtype == ARRAS_I64 || dtype == ARRAS_U8 ? number : word; /* of f32, the bits */
}

static void write_number(arras_dtype dtype, char *cell, int64_t number)
{
    int32_t word = dtype == ARRAS_F32 ? (int32_t)(number & 0x3fffffff) : (int32_t)number;

    if (dtype == ARRAS_I64)
        memcpy(cell, &number, 8);
    else if (dtype == ARRAS_U8)
        *(uint8_t *)cell = (uint8_t)number;
    else
        memcpy(cell, &word, 4);
}

static void random_problem(problem *p)
{
    p->rank = (int)pick(1, 4);
    p->narrays = (int)pick(1, ARRAYS);
    p->cells = 1;
    for (int d = 0; d < p->rank; d++) {
        static const int64_t longest[] = { 0, 400, 30, 11, 5 };

        p->shape[d] = pick(pick(0, 9) ? 1 : 0, longest[p->rank]);
        p->cells *= p->shape[d];
        p->before[d] = pick(0, 3) * (pick(0, 3) > 0);
        p->after[d] = pick(0, 3) * (pick(0, 3) > 0);
        p->edges[d] = (arras_edge_rule)pick(ARRAS_EDGE_NONE, ARRAS_EDGE_MIRROR);
    }
    for (int i = 0; i < p->narrays; i++) {
        p->dtypes[i] = types[pick(0, 3)];
        p->fills[i] = pick(0, 100);
        for (int64_t c = 0; c < p->cells; c++)
            write_number(p->dtypes[i], p->values[i] + c * (int64_t)arras_dtype_size(p->dtypes[i]),
                         pick(0, 200));
    }
    p->order = pick(0, ARRAS_SWEEP_ORDERS - 1);
    p->sweeps = pick(1, 4);
    p->filed = p->cells > 0 && pick(0, 3) == 0;
}

/* ---- The plain loop -------------------------------------------------------------------------- */

/* Step by step, so that it is easily seen to be right; -1: the fill value. */
static int64_t inside(arras_edge_rule rule, int64_t i, int64_t n)
{
    if (rule == ARRAS_EDGE_CONSTANT && (i < 0 || i >= n))
        return -1;
    while (i < 0 || i >= n) {
        if (rule == ARRAS_EDGE_NEAREST || (rule == ARRAS_EDGE_MIRROR && n == 1))
            i = i < 0 ? 0 : n - 1;
        else if (rule == ARRAS_EDGE_REFLECT)
            i = i < 0 ? -i - 1 : 2 * n - 1 - i;
        else
            i = i < 0 ? -i : 2 * n - 2 - i;
    }
    return i;
}

static uint64_t mix(uint64_t hash, int64_t number)
{
    hash = (hash ^ (uint64_t)number) * 1099511628211u;
    return hash ^ hash >> 29;
}

static int64_t number_near(const problem *p, int array, const char *state, const int64_t *at,
                           const int64_t *offset)
{
    const char *cells = array ? p->values[array] : state;
    int64_t     place = 0;

    for (int d = 0; d < p->rank; d++) {
        int64_t i = inside(p->edges[d], at[d] + offset[d], p->shape[d]);

        if (i < 0)
            return p->fills[array];
        place = place * p->shape[d] + i;
    }
    return read_number(p->dtypes[array],
                       cells + place * (int64_t)arras_dtype_size(p->dtypes[array]));
}

/* The next offset within reach; false after the last. */
static bool next_offset(int rank, const int64_t *before, const int64_t *after, int64_t *offset)
{
    for (int d = rank - 1; d >= 0; d--) {
        if (++offset[d] <= after[d])
            return true;
        offset[d] = -before[d];
    }
    return false;
}

static bool stays(const problem *p, const int64_t *at)
{
    bool any = false;

    for (int d = 0; d < p->rank; d++)
        any = any || (p->edges[d] == ARRAS_EDGE_NONE &&
                      (at[d] < p->before[d] || at[d] + p->after[d] >= p->shape[d]));
    return any;
}

static void plain_cell(problem *p, int64_t place)
{
    int64_t  at[4], offset[4], rest = place, size = (int64_t)arras_dtype_size(p->dtypes[0]);
    uint64_t hash = (uint64_t)place;
    char     old[8];

    for (int d = p->rank - 1; d >= 0; d--) {
        at[d] = rest % p->shape[d];
        rest /= p->shape[d];
        offset[d] = -p->before[d];
    }
    if (stays(p, at))
        return;
    do
        for (int i = 0; i < p->narrays; i++)
            hash = mix(hash, number_near(p, i, p->expected, at, offset));
    while (next_offset(p->rank, p->before, p->after, offset));
    memcpy(old, p->expected + place * size, (size_t)size);
    write_number(p->dtypes[0], p->expected + place * size, (int64_t)(hash & 0x7fff));
    p->changes += memcmp(old, p->expected + place * size, (size_t)size) != 0;
}

static void plain_sweeps(problem *p)
{
    memcpy(p->expected, p->values[0], sizeof p->expected);
    for (int64_t sweep = 0; sweep < p->sweeps; sweep++) {
        bool reverse = p->order == ARRAS_SWEEP_REVERSE ||
                       (p->order == ARRAS_SWEEP_ALTERNATE && sweep % 2 == 1);

        p->changes = 0;
        for (int64_t c = 0; c < p->cells; c++)
            plain_cell(p, reverse ? p->cells - 1 - c : c);
        if (p->changes == 0)
            break; /* converged */
    }
}

/* ---- The same through the library ------------------------------------------------------------ */

static int64_t place_of(const problem *p, const int64_t *index)
{
    int64_t place = 0;

    for (int d = 0; d < p->rank; d++)
        place = place * p->shape[d] + index[d];
    return place;
}

static void first_offset(const problem *p, int64_t *offset)
{
    for (int d = 0; d < p->rank; d++)
        offset[d] = -p->before[d];
}

static void hash_cell(const arras_cell *cell, void *value)
{
    const problem *p = cell->context;
    int64_t        offset[4];
    uint64_t       hash = (uint64_t)place_of(p, cell->index);

    first_offset(p, offset);
    do
        for (int i = 0; i < cell->ninputs; i++)
            hash = mix(hash, read_number(p->dtypes[i], arras_cell_near(cell, i, offset)));
    while (next_offset(p->rank, p->before, p->after, offset));
    write_number(p->dtypes[0], value, (int64_t)(hash & 0x7fff));
}

static void hash_row(const arras_cell *first, int64_t count, void *cells)
{
    const problem *p = first->context;
    int64_t        offset[4], advance = first->views[0].advance;
    int64_t        place = place_of(p, first->index);

    for (int64_t n = 0; n < count; n++) {
        uint64_t hash = (uint64_t)(advance < 0 ? place - n : place + n);

        first_offset(p, offset);
        do
            for (int i = 0; i < first->ninputs; i++)
                hash = mix(hash, read_number(p->dtypes[i], arras_cell_near(first, i, offset) +
                                                               n * first->views[i].advance));
        while (next_offset(p->rank, p->before, p->after, offset));
        write_number(p->dtypes[0], (char *)cells + n * advance, (int64_t)(hash & 0x7fff));
    }
}

static arras_buffer buffer_of(const problem *p, int array, void *cells)
{
    return (arras_buffer){ cells, p->dtypes[array], p->rank, p->shape, NULL };
}

static arras_sink *new_sink(const problem *p, int array)
{
    static const char *const endings[] = { "npy", "zarr", "h5" };
    static int               number;
    char                     name[32];
    int64_t                  chunk[4];
    arras_sink_options       options = { .chunk = chunk };
    arras_sink              *sink = NULL;
    const char              *ending = endings[pick(0, 2)];

    for (int d = 0; d < p->rank; d++)
        chunk[d] = pick(1, p->shape[d] ? p->shape[d] : 1);
    snprintf(name, sizeof name, "%d.%s", number++, ending);
    if (strcmp(ending, "npy") == 0)
        options.chunk = NULL;
    CHECK_EQ_INT(arras_sink_create(&sink, at(name), strcmp(ending, "h5") == 0 ? "/x" : NULL,
                                   p->dtypes[array], p->rank, p->shape, &options, &err),
                 ARRAS_OK);
    return sink;
}

static arras_source *open_sink_again(arras_sink *sink)
{
    char          path[600];
    char         *part;
    arras_source *source = NULL;

    snprintf(path, sizeof path, "%s", ((const ar_sink *)sink)->name);
    part = strstr(path, ".h5:");
    if (part)
        part[3] = '\0';
    if (CHECK_EQ_INT(arras_sink_finish(sink, &err), ARRAS_OK))
        CHECK_EQ_INT(arras_source_open(&source, path, part ? "/x" : NULL, &err), ARRAS_OK);
    return source;
}

static arras_source *stored(const problem *p, int array)
{
    static const int64_t zero[4];
    arras_sink          *sink = new_sink(p, array);

    if (p->cells > 0)
        CHECK_EQ_INT(arras_sink_write(sink, zero, p->shape, p->values[array], NULL, 1, &err),
                     ARRAS_OK);
    return open_sink_again(sink);
}

static void place_array(const problem *p, int array, arras_sweep_array *out, void *fill)
{
    write_number(p->dtypes[array], fill, p->fills[array]);
    out->fill = fill;
    if (!p->filed || pick(0, 1))
        out->buffer = buffer_of(p, array, (void *)(uintptr_t)p->values[array]);
    else
        out->source = stored(p, array);
}

static void compare(const problem *p, const char *cells)
{
    size_t bytes = (size_t)p->cells * arras_dtype_size(p->dtypes[0]);

    CHECK(memcmp(cells, p->expected, bytes) == 0);
}

static void compare_sink(const problem *p, arras_sink *sink)
{
    static char          cells[MOST_CELLS * 8];
    static const int64_t zero[4];
    arras_source        *source = open_sink_again(sink);

    if (!source)
        return;
    if (p->cells > 0)
        CHECK_EQ_INT(arras_source_read(source, zero, p->shape, cells, NULL, 1, &err), ARRAS_OK);
    compare(p, cells);
    arras_source_close(source);
}

static void run_problem(const problem *p, arras_sweep_request *r)
{
    static char        cells[MOST_CELLS * 8];
    ar_sweep_tuning    tuning = { (int)pick(0, p->rank), pick(1, 6), pick(1, 9), pick(1, 12) };
    arras_sweeping    *s;
    arras_sweep_report report = { 0 };

    memset(cells, 17, sizeof cells);
    if (!p->filed || pick(0, 3) == 0)
        r->state = buffer_of(p, 0, cells);
    else
        r->sink = new_sink(p, 0);
    if (CHECK_EQ_INT(ar_sweeping_open(&s, r, pick(0, 5) ? &tuning : NULL, &err), ARRAS_OK)) {
        if (!CHECK_EQ_INT(ar_sweeping_run(&report, s, &err), ARRAS_OK))
            printf("    %s\n", err.text);
        CHECK_EQ_INT(report.changes, p->changes);
        CHECK(report.converged == (p->changes == 0));
        ar_sweeping_close(s);
    }
    if (r->sink)
        compare_sink(p, r->sink);
    else
        compare(p, cells);
}

static void test_random(int number)
{
    static problem      p;
    char                fills[ARRAYS][16];
    arras_sweep_array   companions[ARRAYS] = { { .fill = NULL } };
    arras_sweep_request r = { .context = &p,
                              .before = p.before,
                              .after = p.after,
                              .edges = p.edges,
                              .companions = companions };

    random_problem(&p);
    test_row("case %d, rank %d, %" PRId64 " cells", number, p.rank, p.cells);
    plain_sweeps(&p);
    if (pick(0, 1))
        r.cell = hash_cell;
    else
        r.row = hash_row;
    place_array(&p, 0, &r.start, fills[0]);
    r.ncompanions = p.narrays - 1;
    for (int i = 1; i < p.narrays; i++)
        place_array(&p, i, &companions[i - 1], fills[i]);
    r.order = (arras_sweep_order)p.order;
    r.most = p.sweeps;
    r.threads = (int)pick(1, 4);
    run_problem(&p, &r);
    arras_source_close(r.start.source);
    for (int i = 0; i < r.ncompanions; i++)
        arras_source_close(companions[i].source);
}

static void random_sweeps(void)
{
    world_begin();
    for (int i = 0; i < CASES; i++)
        test_random(i);
    world_end();
}

TEST_MAIN { RUN(random_sweeps); }
