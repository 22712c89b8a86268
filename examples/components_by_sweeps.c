/* components_by_sweeps.c -- connected components by forward and reverse sweeps, as SLOPE finds the
 * ice sheets of a model: every cell of ice takes the smallest label around it, until nothing
 * changes.
 *
 *   components_by_sweeps                            a small field, drawn
 *   components_by_sweeps MASK LABELS [NEIGHBOURS [MEMORY [THREADS]]]
 *                                                   from file to file; u8 or bool to i32
 *
 * A label is the number of the first cell of its component in C order, counted from 1.  arras_label
 * does the same by union-find, in two passes whatever the shapes; sweeps need as many as the shapes
 * have turns. */
#include <arras/sweep.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The function ---------------------------------------------------------------------------- */

typedef struct {
    int64_t columns;
    bool    diagonal; /* 8 neighbours, not 4 */
} field;

static int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

/* Labels less 1, so that none (0) is more than any. */
static int32_t rank_of(int32_t label) { return (label - 1) & INT32_MAX; }

/* The least around each cell but for the cell before it, which this run is about to set: nothing
 * here waits for anything, so compilers make vectors of it. */
static void look_around(int32_t *restrict found, const arras_cell *first, int64_t count,
                        int64_t step)
{
    const field   *f = first->context;
    const int32_t *row = (const int32_t *)(const void *)arras_cell_near2(first, 0, 0, 0);
    const int32_t *up = (const int32_t *)(const void *)arras_cell_near2(first, 0, -1, 0);
    const int32_t *down = (const int32_t *)(const void *)arras_cell_near2(first, 0, 1, 0);
    int64_t        shift = step < 0 ? 1 - count : 0; /* to the cell with the lowest address */

    row += shift, up += shift, down += shift;
    for (int64_t i = 0; i < count; i++)
        found[i] = least(least(rank_of(row[i]), rank_of(row[i + step])),
                         least(rank_of(up[i]), rank_of(down[i])));
    for (int64_t i = 0; i < count && f->diagonal; i++)
        found[i] = least(found[i], least(least(rank_of(up[i - 1]), rank_of(up[i + 1])),
                                         least(rank_of(down[i - 1]), rank_of(down[i + 1]))));
}

static void take_least(const arras_cell *first, int64_t count, void *cells)
{
    const field   *f = first->context;
    int32_t       *found = first->scratch;
    int64_t        step = first->views[0].advance < 0 ? -1 : 1;
    int32_t       *label = cells;
    const uint8_t *ice = (const uint8_t *)arras_cell_near2(first, 1, 0, 0);
    int32_t        number = (int32_t)(first->index[0] * f->columns + first->index[1]);
    int32_t        before = rank_of(arras_i32_at2(first, 0, 0, -step));

    look_around(found, first, count, step);
    if (step < 0)
        found += count - 1;
    for (int64_t n = 0; n < count; n++, number += (int32_t)step) {
        int32_t now = least(before, least(found[n * step], number));

        before = ice[n * step] ? now : INT32_MAX;
        label[n * step] = ice[n * step] ? now + 1 : 0;
    }
}

static bool tell(const arras_sweep_report *so_far, void *context)
{
    (void)context;
    printf("step %" PRId64 ": %" PRId64 " cells changed\n", so_far->sweeps, so_far->changes);
    return true;
}

/* Outside there is no ice: the fill value is 0.  The scratch holds the longest run. */
static arras_sweep_request request_for(field *f, const arras_sweep_array *ice)
{
    static const int64_t         reach[] = { 1, 1 };
    static const arras_edge_rule edges[] = { ARRAS_EDGE_CONSTANT, ARRAS_EDGE_CONSTANT };
    arras_sweep_request          r = { .row = take_least, .context = f };

    r.scratch = (size_t)f->columns * sizeof(int32_t);
    r.before = r.after = reach;
    r.edges = edges;
    r.ncompanions = 1;
    r.companions = ice;
    r.order = ARRAS_SWEEP_ALTERNATE;
    r.watch = tell;
    return r;
}

static int fail(const char *text)
{
    fprintf(stderr, "components_by_sweeps: %s\n", text);
    return 1;
}

/* ---- A small field --------------------------------------------------------------------------- */

static const char *const picture[] = {
    "............................", "..#####.......########......", "..#...#......#........#.....",
    "..#.#.#......#..####..#..##.", "..#.###......#..#..#..#..##.", "..#............#..###.#.....",
    "..###########..#......#.....", "................#######.....", "............................",
};

enum { ROWS = sizeof picture / sizeof picture[0], COLUMNS = 28 };

/* Letters instead of numbers, in the order of the first cells. */
static void draw(int32_t labels[ROWS][COLUMNS])
{
    int32_t first_of[26], count = 0;

    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            int32_t k = 0;

            if (labels[i][j] == i * COLUMNS + j + 1 && count < 26)
                first_of[count++] = labels[i][j];
            while (k < count && first_of[k] != labels[i][j])
                k++;
            putchar(labels[i][j] == 0 ? '.' : 'a' + k);
        }
        putchar('\n');
    }
}

static int run_small(void)
{
    static uint8_t      mask[ROWS][COLUMNS];
    static int32_t      labels[ROWS][COLUMNS];
    const int64_t       shape[] = { ROWS, COLUMNS };
    field               f = { COLUMNS, true };
    arras_sweep_array   ice = { .buffer = { mask, ARRAS_U8, 2, shape, NULL } };
    arras_sweep_request r = request_for(&f, &ice);
    arras_sweep_report  report;
    arras_error         err;

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            mask[i][j] = picture[i][j] == '#';
    r.state = (arras_buffer){ labels, ARRAS_I32, 2, shape, NULL };
    if (arras_sweep(&report, &r, &err) != ARRAS_OK)
        return fail(err.text);
    draw(labels);
    printf("%" PRId64 " steps\n", report.sweeps);
    return 0;
}

/* ---- From file to file ----------------------------------------------------------------------- */

static arras_status sweep_into(arras_sweep_report *report, arras_source *mask, const char *path,
                               char **argv, arras_error *err)
{
    const arras_store_info *info = arras_source_info(mask);
    arras_sweep_array       ice = { .source = mask };
    field                   f = { info->shape[1], argv[0] && atoi(argv[0]) == 8 };
    arras_sweep_request     r = request_for(&f, &ice);
    arras_status            status;

    if (argv[0] && argv[1])
        r.memory = strtoll(argv[1], NULL, 10);
    if (argv[0] && argv[1] && argv[2])
        r.threads = atoi(argv[2]);
    status = arras_sink_create(&r.sink, path, NULL, ARRAS_I32, 2, info->shape, NULL, err);
    if (status != ARRAS_OK)
        return status;
    status = arras_sweep(report, &r, err);
    if (status == ARRAS_OK)
        return arras_sink_finish(r.sink, err);
    arras_sink_abandon(r.sink);
    return status;
}

static bool is_mask(const arras_store_info *info)
{
    return info->rank == 2 && arras_dtype_size(info->dtype) == 1 &&
           (info->shape[1] == 0 || info->shape[0] < INT32_MAX / info->shape[1]);
}

static int run_files(char **argv)
{
    arras_source      *mask;
    arras_sweep_report report = { 0 };
    arras_error        err;

    if (arras_source_open(&mask, argv[0], NULL, &err) != ARRAS_OK)
        return fail(err.text);
    arras_status status = ARRAS_EINVAL;
    if (is_mask(arras_source_info(mask)))
        status = sweep_into(&report, mask, argv[1], argv + 2, &err);
    else
        strcpy(err.text,
               "the mask must have two axes, cells of one byte, and less than 2^31 cells");
    arras_source_close(mask);
    if (status != ARRAS_OK)
        return fail(err.text);
    printf("%" PRId64 " steps\n", report.sweeps);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return run_small();
    if (argc < 3 || argc > 6)
        return fail("MASK LABELS [NEIGHBOURS [MEMORY [THREADS]]]");
    return run_files(argv + 1);
}
