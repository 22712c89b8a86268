/* sweep_blocks.c -- blocks of cells on all threads, in an order that gives the bits of a plain
 * loop.
 *
 * In reverse everything is counted from the other end, and nothing else changes: rows, columns and
 * blocks below are numbers in the order of the sweep.
 *
 * Row r of a block has the columns [J * width - r * skew, (J + 1) * width - r * skew), where skew
 * is the reach along the axis of columns.  Whatever is in reach of a cell and comes before it is
 * then in the same row of blocks not to the right of its block, or in rows of blocks above; and
 * there no farther to the right than column (J + 1) * width - 1 + skew, which in the last row of a
 * block belongs to block J + lag at most.  The same lag keeps a block from overwriting what the row
 * of blocks above has not looked at yet. */
#include "native/sweep_job.h"

#include <sched.h>

enum {
    RUN = 1024,      /* cells that a run should have */
    SHORT_RUN = 128, /* and has at least, if there are so many */
    BLOCK_CELLS = 1 << 18
};

/* ---- Which axis ------------------------------------------------------------------------------ */

static int64_t product(const int64_t *shape, int from, int to)
{
    int64_t n = 1;

    for (int d = from; d < to; d++)
        n *= shape[d];
    return n;
}

static bool any_reach(const arras_sweeping *s, int from, int to)
{
    bool any = false;

    for (int d = from; d < to; d++)
        any = any || s->reach[d] > 0;
    return any;
}

/* How many blocks could run at once if this axis were cut. */
static int64_t width_of_wave(const arras_sweeping *s, int axis)
{
    int64_t rows = product(s->shape, 0, axis), columns = s->shape[axis];
    int64_t runs = ar_min64(columns, columns * product(s->shape, axis + 1, s->rank) / SHORT_RUN);

    if (s->reach[axis] == 0)
        return runs;
    return any_reach(s, 0, axis) ? ar_min64(rows, runs / 2) : rows;
}

static int choose_axis(const arras_sweeping *s)
{
    int64_t most = -1;
    int     chosen = 0;

    for (int axis = 0; axis < s->rank; axis++) {
        int64_t wide = width_of_wave(s, axis);

        if (wide >= most) {
            most = wide;
            chosen = axis;
        }
    }
    return chosen;
}

/* ---- How large ------------------------------------------------------------------------------- */

static int64_t clamp(int64_t x, int64_t lo, int64_t hi) { return ar_max64(lo, ar_min64(x, hi)); }

static int64_t round_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* Some four blocks in a row of blocks for each thread, but runs that are worth a call. */
static int64_t choose_width(const arras_sweeping *s)
{
    int     axis = s->grid.axis;
    int64_t line = ar_max64(1, product(s->shape, axis + 1, s->rank));
    int64_t wanted = s->shape[axis] / (4 * (int64_t)s->threads);

    return clamp(wanted, round_up(SHORT_RUN, line), ar_max64(1, RUN / line));
}

/* High blocks let threads drift apart, so that one that is interrupted does not stop the others at
 * once; caches need no more than a few rows at a time.  So there are some eight rows of blocks for
 * each thread, unless blocks become so large that a sweep cannot be stopped soon. */
static int64_t choose_height(const arras_sweeping *s, int64_t rows)
{
    const ar_sweep_grid *g = &s->grid;
    int64_t              line = ar_max64(1, product(s->shape, g->axis + 1, s->rank));
    int64_t              most = BLOCK_CELLS / (g->width * line);

    if (g->skew > 0)
        most = ar_min64(most, g->width / g->skew);
    return clamp(rows / (8 * (int64_t)s->threads), 1, ar_max64(1, most));
}

arras_status ar_sweep_blocks_plan(arras_sweeping *s, const ar_sweep_tuning *tuning,
                                  arras_error *err)
{
    ar_sweep_grid *g = &s->grid;
    int64_t        most = ar_min64(s->shape[0], s->slab + 2 * s->reach[0]), rows;

    g->axis = tuning && tuning->axes ? tuning->axes - 1 : choose_axis(s);
    g->inner = product(s->shape, 1, g->axis);
    g->columns_wait = s->reach[g->axis] > 0;
    g->rows_wait = any_reach(s, 0, g->axis);
    g->skew = g->rows_wait ? s->reach[g->axis] : 0;
    g->width = tuning && tuning->width ? tuning->width : choose_width(s);
    rows = g->axis > 0 ? most * g->inner : 1;
    g->height = tuning && tuning->height ? tuning->height : choose_height(s, rows);
    g->lag = round_up(g->skew * g->height, g->width);
    s->longest = ar_max64(1, g->axis < s->rank - 1 ? s->shape[s->rank - 1]
                                                   : ar_min64(g->width, s->shape[s->rank - 1]));
    g->done = ar_arena_alloc(&s->arena, (size_t)round_up(rows, g->height) + 1, sizeof *g->done);
    return g->done ? ARRAS_OK : ar_fail_memory(err, (size_t)rows * sizeof *g->done);
}

/* ---- A block --------------------------------------------------------------------------------- */

/* From a number within a box of axes to an index. */
static void set_index(const arras_sweeping *s, int64_t *index, int from, int to, int64_t number)
{
    for (int d = to - 1; d >= from; d--) {
        index[d] = number % s->shape[d];
        number /= s->shape[d];
    }
}

/* One column of one row, where lines are whole. */
static void run_column(const arras_sweeping *s, ar_sweep_worker *w)
{
    int     last = s->rank - 1;
    int64_t lines = product(s->shape, s->grid.axis + 1, last);

    for (int64_t n = 0; n < lines; n++) {
        set_index(s, w->index, s->grid.axis + 1, last, s->step > 0 ? n : lines - 1 - n);
        ar_sweep_line(s, w, 0, s->shape[last]);
    }
}

/* Columns lo <= j < hi of a row, both in the order of the sweep. */
static void run_columns(const arras_sweeping *s, ar_sweep_worker *w, int64_t row, int64_t lo,
                        int64_t hi)
{
    const ar_sweep_grid *g = &s->grid;
    int64_t              first = g->axis > 0 ? 0 : g->lo, number = row;

    if (s->step < 0)
        number = g->rows - 1 - row;
    if (g->axis > 0) {
        w->index[0] = g->lo + number / g->inner;
        set_index(s, w->index, 1, g->axis, number % g->inner);
    }
    if (g->axis == s->rank - 1 && s->step > 0) {
        ar_sweep_line(s, w, first + lo, first + hi);
    } else if (g->axis == s->rank - 1) {
        ar_sweep_line(s, w, first + g->columns - hi, first + g->columns - lo);
    } else {
        for (int64_t j = lo; j < hi; j++) {
            w->index[g->axis] = first + (s->step > 0 ? j : g->columns - 1 - j);
            run_column(s, w);
        }
    }
}

static void run_block(arras_sweeping *s, ar_sweep_worker *w, int64_t high, int64_t wide)
{
    const ar_sweep_grid *g = &s->grid;
    int64_t              rows = ar_min64(g->height, g->rows - high * g->height), columns = 0;

    for (int64_t r = 0; r < rows; r++) {
        int64_t lo = ar_max64(0, wide * g->width - r * g->skew);
        int64_t hi = ar_min64(g->columns, (wide + 1) * g->width - r * g->skew);

        if (lo >= hi)
            continue;
        run_columns(s, w, high * g->height + r, lo, hi);
        columns += hi - lo;
    }
    atomic_fetch_add(&s->progress, columns * product(s->shape, g->axis + 1, s->rank));
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* Whoever is waited for runs already: rows of blocks are taken in order. */
static bool wait_for(arras_sweeping *s, const _Atomic int64_t *done, int64_t blocks)
{
    enum { SPINS = 2000 };

    for (int n = 0; atomic_load_explicit(done, memory_order_acquire) < blocks; n++) {
        if (atomic_load_explicit(&s->stopped, memory_order_relaxed))
            return false;
        if (n >= SPINS)
            sched_yield();
    }
    return !atomic_load_explicit(&s->stopped, memory_order_relaxed);
}

static bool run_row_of_blocks(arras_sweeping *s, ar_sweep_worker *w, int64_t high)
{
    ar_sweep_grid *g = &s->grid;

    for (int64_t wide = 0; wide < g->wide; wide++) {
        bool    waits = g->rows_wait && high > 0;
        int64_t above = ar_min64(wide + g->lag + 1, g->wide);

        if (!wait_for(s, &g->done[waits ? high - 1 : high], waits ? above : wide))
            return false;
        run_block(s, w, high, wide);
        atomic_store_explicit(&g->done[high], wide + 1, memory_order_release);
        if (w->log.failed)
            return false;
    }
    return true;
}

/* Columns need nothing of each other. */
static bool run_column_of_blocks(arras_sweeping *s, ar_sweep_worker *w, int64_t wide)
{
    for (int64_t high = 0; high < s->grid.high; high++) {
        if (atomic_load_explicit(&s->stopped, memory_order_relaxed))
            return false;
        run_block(s, w, high, wide);
        if (w->log.failed)
            return false;
    }
    return true;
}

static void print_numbers(ar_text *out, int n, const int64_t *numbers)
{
    for (int d = 0; d < n; d++)
        ar_text_printf(out, "%s%" PRId64, d ? ", " : "", numbers[d]);
}

static arras_status complain(const arras_sweeping *s, const struct arras_cell_log *log,
                             arras_error *err)
{
    arras_status code = log->input < 0 ? ARRAS_EINVAL : ARRAS_EINDEX;
    ar_text      text = { 0 };

    print_numbers(&text, s->rank, log->index);
    ar_text_add(&text, "]: ");
    if (log->input < 0) {
        ar_text_add(&text, log->message);
    } else {
        ar_text_printf(&text, "the function reads array %d at the offset [", log->input);
        print_numbers(&text, log->n, log->offset);
        ar_text_add(&text, "], and declared a reach of [");
        print_numbers(&text, s->rank, s->before);
        ar_text_add(&text, "] before and [");
        print_numbers(&text, s->rank, s->after);
        ar_text_add(&text, "] after");
    }
    ar_fail(err, code, "sweep: %s [%s", s->request.cell ? "cell" : "the run of cells from",
            text.data ? text.data : "");
    ar_text_free(&text);
    return code;
}

/* A task function: every part takes what is next until nothing is left. */
static arras_status run_blocks(void *context, int64_t first, int64_t last, int thread,
                               arras_error *err)
{
    arras_sweeping  *s = context;
    ar_sweep_worker *w = &s->workers[thread];
    ar_sweep_grid   *g = &s->grid;
    int64_t          units = g->columns_wait ? g->high : g->wide;

    (void)first, (void)last;
    for (int64_t n; (n = atomic_fetch_add(&g->next, 1)) < units;)
        if (!(g->columns_wait ? run_row_of_blocks(s, w, n) : run_column_of_blocks(s, w, n)))
            break;
    if (!w->log.failed)
        return ARRAS_OK;
    atomic_store(&s->stopped, true);
    return complain(s, &w->log, err);
}

static arras_status make_tasks(arras_sweeping *s, arras_error *err)
{
    int          task;
    arras_status status = ar_taskgraph_new(&s->tasks, err);

    if (status == ARRAS_OK)
        status =
            ar_taskgraph_add(&task, s->tasks, (ar_task){ run_blocks, s, s->threads, "sweep" }, err);
    return status == ARRAS_OK ? ar_taskgraph_instantiate(s->tasks, err) : status;
}

arras_status ar_sweep_blocks_run(arras_sweeping *s, int64_t lo, int64_t hi, arras_error *err)
{
    ar_sweep_grid *g = &s->grid;
    arras_status   status = s->tasks ? ARRAS_OK : make_tasks(s, err);

    if (status != ARRAS_OK)
        return status;
    g->lo = lo;
    g->hi = hi;
    g->rows = g->axis > 0 ? (hi - lo) * g->inner : 1;
    g->columns = g->axis > 0 ? s->shape[g->axis] : hi - lo;
    g->high = round_up(g->rows, g->height);
    g->wide = round_up(g->columns + g->skew * (g->height - 1), g->width);
    for (int64_t i = 0; i < g->high; i++)
        atomic_store_explicit(&g->done[i], 0, memory_order_relaxed);
    atomic_store(&g->next, 0);
    return ar_taskgraph_run(s->tasks, s->pool, err);
}
