/* tile.c -- the cells of a step in pieces: small enough for the caches and for all threads, large
 * enough that starting one costs nothing. */
#include "plan/plan.h"

/* A tile takes at least this long, and each thread gets this many where there is enough to do.
 * Between tiles a run can be cancelled, so none takes much longer than people wait. */
enum { SHORTEST_PS = 12 * 1000 * 1000, TILES_PER_THREAD = 8 };
static const double longest_ps = 20e9;
/* Across the order in which an array lies in memory: cells that share cache lines with others. */
enum { CROSSING_TILE = 64 };
/* Down columns: rows of so many cells are read at the speed of memory, at most and at least; the
 * longer they are, the less often reading starts anew. */
enum { WIDEST_TILE = 4096, WIDE_TILE = 1024 };

static int64_t clamp(double wanted, int64_t most)
{
    return wanted < 1 ? 1 : wanted > (double)most ? most : (int64_t)wanted;
}

static int64_t bytes_per_cell(const ar_step *step)
{
    int64_t bytes = 0;

    for (int k = 0; k < step->form.n; k++)
        bytes += (int64_t)ar_dtype_size(step->form.lambdas[k]->type.dtype);
    for (int k = 0; k < step->ninputs; k++)
        bytes += (int64_t)ar_dtype_size(step->form.lambdas[0]->inputs[k]->type.dtype);
    return bytes;
}

/* ---- Reads across the order of memory -------------------------------------------------------- */

/* The axis of the result that runs along the last axis of what a load reads; -1: none. */
static int crossing_axis(arras_array lambda, arras_expr load)
{
    uint32_t last = load->rank > 0 ? load->args[load->rank - 1]->uses : 0;

    if (lambda->rank < 2 || last == 0 || last >> (lambda->rank - 1) & 1)
        return -1;
    for (int axis = 0; axis + 1 < load->rank; axis++)
        if (load->args[axis]->uses >> (lambda->rank - 1) & 1)
            return __builtin_ctz(last);
    return -1;
}

/* Depth is limited by AR_MAX_DEPTH; large texts are not looked at to the end. */
static int find_crossing(arras_array lambda, arras_expr e, int *left)
{
    int found = e->kind == AR_EXPR_LOAD ? crossing_axis(lambda, e) : -1;

    for (int i = 0; i < e->nargs && found < 0 && --*left > 0; i++)
        found = find_crossing(lambda, e->args[i], left);
    return found;
}

static int step_crossing(const ar_step *step)
{
    int found = -1, left = 500;

    for (int k = 0; k < step->form.n && found < 0; k++)
        found = find_crossing(step->form.lambdas[k], step->form.lambdas[k]->ref, &left);
    return found;
}

/* ---- Reductions down columns ----------------------------------------------------------------- */

/* A load that a variable moves from row to row, along which neighbouring cells read neighbours. */
static bool load_goes_down(arras_array lambda, arras_expr load)
{
    uint32_t last = load->rank > 1 ? load->args[load->rank - 1]->uses : 0;

    if (lambda->rank == 0 || !(last >> (lambda->rank - 1) & 1) ||
        load->args[load->rank - 1]->nfree > 0)
        return false;
    for (int axis = 0; axis + 1 < load->rank; axis++)
        if (load->args[axis]->nfree > 0)
            return true;
    return false;
}

/* Depth is limited by AR_MAX_DEPTH; large texts are not looked at to the end. */
static bool cell_goes_down(arras_array lambda, arras_expr e, int *left)
{
    bool down = e->kind == AR_EXPR_LOAD && load_goes_down(lambda, e);

    for (int i = 0; i < e->nargs && !down && --*left > 0; i++)
        down = cell_goes_down(lambda, e->args[i], left);
    return down;
}

static bool step_goes_down(const ar_step *step)
{
    int left = 500;

    return step->form.n > 0 &&
           cell_goes_down(step->form.lambdas[0], step->form.lambdas[0]->ref, &left);
}

/* Columns of a tile, the same in all of them; fewer where there would not be enough tiles.  others:
 * how many tiles there are of each column. */
static int64_t columns_down(int64_t columns, int64_t others, int threads)
{
    enum { LINE = 64 }; /* cells; more than a cache line has */
    int64_t enough = (TILES_PER_THREAD * threads + others - 1) / others;
    int64_t pieces = ar_min64(ar_max64((columns + WIDEST_TILE - 1) / WIDEST_TILE, enough),
                              (columns + WIDE_TILE - 1) / WIDE_TILE);
    int64_t tile = (columns + pieces - 1) / pieces;

    return ar_min64(columns, (tile + LINE - 1) / LINE * LINE);
}

/* ---- Reads of several planes ----------------------------------------------------------------- */

/* Whether an index is one of the cell's, and how much more. */
static bool read_offset(int *axis, int64_t *offset, arras_expr index)
{
    bool       sum = index->kind == AR_EXPR_OP && index->ints[0] == AR_OP_add;
    arras_expr moving = sum ? index->args[ar_is_int(index->args[0])] : index;
    arras_expr more = sum ? index->args[!ar_is_int(index->args[0])] : NULL;

    if (moving->kind != AR_EXPR_INDEX || (more && !ar_is_int(more)))
        return false;
    *axis = (int)moving->ints[0];
    *offset = more ? more->ints[0] : 0;
    return true;
}

typedef struct {
    int64_t least, most; /* offsets along the first axis */
    int     left;        /* expressions to look at */
} reach;

enum { FAR = 1000 }; /* planes between two that no cache holds */

/* Depth is limited by AR_MAX_DEPTH; large texts are not looked at to the end. */
static void find_reach(reach *r, arras_expr e)
{
    int64_t offset;
    int     axis;

    if (--r->left < 0)
        return;
    if (e->kind == AR_EXPR_LOAD && e->rank > 2 && read_offset(&axis, &offset, e->args[0]) &&
        axis == 0 && offset > -FAR && offset < FAR) {
        r->least = ar_min64(r->least, offset);
        r->most = ar_max64(r->most, offset);
    }
    for (int i = 0; i < e->nargs; i++)
        find_reach(r, e->args[i]);
}

/* How many planes a plane of the result is made of. */
static int64_t planes_read(const ar_step *step)
{
    reach r = { 0, 0, 500 };

    for (int k = 0; k < step->form.n && step->rank == 3 && !step->nest.flat; k++)
        find_reach(&r, step->form.lambdas[k]->ref);
    return r.most - r.least + 1;
}

/* Rows that a tile has of each plane, so few that those of all planes read stay in a cache until
 * the next plane needs them; and then many planes, since the first ones are read for it alone.
 * Planes that are small, but not tiny, are cut in two, if there are many: otherwise there would be
 * too few tiles. */
static void tile_planes(ar_tiling *t, const ar_step *step, const ar_tile_options *options)
{
    enum { PLANES_AT_ONCE = 10 };
    int64_t planes = planes_read(step);
    int64_t row = t->shape[2] * bytes_per_cell(step) / 2; /* half of it is written */
    int64_t rows = options->bytes / (planes * ar_max64(1, row));
    bool    many = t->shape[0] >= TILES_PER_THREAD * options->threads * planes &&
                t->shape[1] * row >= options->bytes / (PLANES_AT_ONCE * planes);

    if (planes == 1 || rows < 4 || (rows >= t->shape[1] && !many))
        return;
    rows = ar_min64(rows, (t->shape[1] + 1) / 2);
    t->tile[2] = t->shape[2];
    t->tile[1] = t->shape[1] / ((t->shape[1] + rows - 1) / rows);
    t->tile[0] = ar_min64(PLANES_AT_ONCE * planes, t->shape[0]);
}

/* ---- How many cells a tile should have ------------------------------------------------------- */

static int64_t wanted_cells(const ar_step *step, int64_t cells, const int64_t *sizes,
                            const ar_tile_options *options)
{
    double cost = ar_step_cost(step, sizes);
    double cached = (double)options->bytes / (double)bytes_per_cell(step);
    double shared = (double)cells / (TILES_PER_THREAD * options->threads);
    double shortest = SHORTEST_PS / cost;
    double wanted;

    if (options->exact)
        return clamp(cached, cells);
    if (step->nest.flat) /* no cell is read again: the fewer tiles end the better */
        cached *= 4;
    wanted = cached < shared ? cached : shared;
    if (options->threads == 1)
        wanted = cached;
    if (step_goes_down(step))
        wanted = WIDE_TILE;
    wanted = wanted > shortest ? wanted : shortest;
    return clamp(wanted < longest_ps / cost ? wanted : longest_ps / cost, cells);
}

/* ---- The grid -------------------------------------------------------------------------------- */

/* Rows that would be cut in a few pieces stay whole where there are many: the end of a tile waits
 * for memory, and the start of the next one jumps to another row. */
static int64_t whole_or(int64_t tile, int64_t length, int64_t others)
{
    enum { FEW = 4, MANY = 256 };

    return tile > 1 && length <= FEW * tile && others >= MANY ? length : tile;
}

/* Whole rows first, then rows of rows. */
static void fill_from_last(ar_tiling *t, int64_t cells, bool exact)
{
    int64_t others = 1; /* rows along the axes before */

    for (int axis = 0; axis < t->rank; axis++)
        others *= t->shape[axis];
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        others /= t->shape[axis];
        if (t->tile[axis] == 0) {
            t->tile[axis] = ar_max64(1, ar_min64(t->shape[axis], cells));
            if (!exact)
                t->tile[axis] = whole_or(t->tile[axis], t->shape[axis], others);
        }
        cells /= ar_max64(1, t->tile[axis]);
    }
}

/* Lines are not cut; as many of them as make a tile worth its while, and all threads busy. */
static void cut_scan(ar_tiling *t, const ar_step *step, const int64_t *shape,
                     const ar_tile_options *options)
{
    enum { LEAST_CELLS = 1 << 14 };
    int64_t axis = step->scan->ints[1], lines = 1, wanted;

    for (int d = 0; d < t->rank; d++) {
        t->shape[d] = shape[d];
        lines *= d == axis ? 1 : shape[d];
    }
    wanted = ar_max64(lines / (TILES_PER_THREAD * options->threads), LEAST_CELLS / shape[axis]);
    if (options->exact)
        wanted = options->bytes / (shape[axis] * bytes_per_cell(step));
    for (int d = t->rank - 1; d >= 0; d--) {
        t->tile[d] = d == axis ? shape[d] : ar_max64(1, ar_min64(shape[d], wanted));
        wanted /= d == axis ? 1 : t->tile[d];
    }
    ar_tiling_count(t);
}

void ar_tiling_make(ar_tiling *out, const ar_step *step, const int64_t *shape, const int64_t *sizes,
                    const ar_tile_options *options)
{
    int64_t cells = 1;
    int     crossing;

    for (int axis = 0; axis < step->rank; axis++)
        cells *= shape[axis];
    *out = (ar_tiling){ .rank = step->nest.flat ? 1 : step->rank };
    if (cells == 0)
        return;
    if (step->scan) {
        cut_scan(out, step, shape, options);
        return;
    }
    for (int axis = 0; axis < out->rank; axis++)
        out->shape[axis] = step->nest.flat ? cells : shape[axis];
    crossing = step->nest.flat ? -1 : step_crossing(step);
    if (crossing >= 0) {
        out->tile[crossing] = ar_min64(CROSSING_TILE, shape[crossing]);
        out->tile[step->rank - 1] = ar_min64(CROSSING_TILE, shape[step->rank - 1]);
    }
    if (out->rank == 3 && !options->exact && crossing < 0)
        tile_planes(out, step, options);
    if (!step->nest.flat && !options->exact && step_goes_down(step)) {
        int64_t columns = shape[step->rank - 1];

        out->tile[step->rank - 1] = columns_down(columns, cells / columns, options->threads);
    }
    fill_from_last(out, wanted_cells(step, cells, sizes, options), options->exact);
    ar_tiling_count(out);
}
