/* sweep.h -- ordered sweeps in place, and loops until nothing changes.
 *
 * A sweep visits the cells of one array, the state, in C order or in reverse.  At each cell a C
 * function sees the state around it, cells before it as this sweep has left them and cells after it
 * as they were, and sets the cell.  Further arrays, the companions, are only read.
 *
 *   Order.      The result has the bits of a plain loop over the cells, whatever the number of
 *               threads and the memory: blocks of cells run at once where the reach allows it.
 *   Files.      Arrays may be larger than memory.  Slabs of rows pass through memory, sweep after
 *               sweep; what lies between is in a file in $TMPDIR.  Sources are never changed.
 *   Ownership.  All that a request names is borrowed until the sweep is closed.
 *   Threads.    Functions are called by several threads at once.  They must depend on nothing but
 *               what they are given. */
#ifndef ARRAS_SWEEP_H
#define ARRAS_SWEEP_H

#include <arras/apply.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Functions ------------------------------------------------------------------------------- */

/* Both see the state as input 0 and the companions as the others, through the accessors of
 * arras/apply.h: arras_f32_at2(cell, 0, -1, 0) is the neighbour above.  An access out of reach, or
 * arras_cell_fail, ends the sweep with an error. */

/* Sets one cell: *value is what it was, and becomes what it shall be. */
typedef void arras_sweep_cell(const arras_cell *cell, void *value);
/* Sets `count` cells along the last axis, one after the other: cell number m of the run, from 0, is
 * m * first->views[0].advance bytes from `cells`, and its neighbour in input k as many times
 * views[k].advance from that of the first.  In reverse these are negative.  How cells are cut into
 * runs depends on chance, so results must not. */
typedef void arras_sweep_row(const arras_cell *first, int64_t count, void *cells);
/* How much a cell changed; never negative. */
typedef double arras_sweep_change(const void *before, const void *after, void *context);

/* ---- Sweeps ---------------------------------------------------------------------------------- */

typedef enum {
    ARRAS_SWEEP_FORWARD,   /* C order */
    ARRAS_SWEEP_REVERSE,   /* the last cell first */
    ARRAS_SWEEP_ALTERNATE, /* forward, in reverse, forward, ... */
    ARRAS_SWEEP_ORDERS
} arras_sweep_order;

/* In memory, or in a file.  Cells along the last axis lie side by side. */
typedef struct arras_sweep_array {
    arras_buffer  buffer; /* data NULL: in the source */
    arras_source *source;
    const void   *fill;   /* a cell: what is outside under ARRAS_EDGE_CONSTANT; NULL: 0 */
} arras_sweep_array;

typedef struct arras_sweep_report {
    int64_t sweeps;    /* so far */
    int64_t changes;   /* cells that changed in the last of them */
    int64_t changed;   /* in all of them */
    double  largest;   /* change of a cell in the last one; 0 unless there is a tolerance */
    bool    converged; /* the last one changed nothing, or nothing by more than the tolerance */
} arras_sweep_report;

/* After every sweep, by the thread that runs them; false: that was the last. */
typedef bool arras_sweep_watcher(const arras_sweep_report *so_far, void *context);

/* All that is left 0 has a meaning. */
typedef struct arras_sweep_request {
    arras_sweep_cell *cell; /* one of the two */
    arras_sweep_row  *row;
    void             *context;
    size_t            scratch; /* bytes for each thread, at first 0 */

    /* What a function may look at: offsets -before ... after along each axis (NULL: 0), and what is
     * there beyond the ends of an axis (NULL: all NONE).  Under NONE cells that lack neighbours
     * stay as they are.  NEAREST, REFLECT and MIRROR stand for the cell inside, as it is at that
     * moment.  WRAP is refused: first and last cells would wait for each other. */
    const int64_t         *before, *after;
    const arras_edge_rule *edges;

    /* The state begins as `start` and ends in `start.buffer` itself, in `state`, or in `sink`
     * (which the caller finishes, or abandons after a failure).  Without a start it begins as
     * zeros. */
    arras_sweep_array        start;
    arras_buffer             state; /* data NULL: not here */
    arras_sink              *sink;
    int                      ncompanions; /* of the shape of the state */
    const arras_sweep_array *companions;

    arras_sweep_order      order;
    int64_t                most;      /* sweeps; 0: until it has converged */
    double                 tolerance; /* converged when no cell changes by more */
    arras_sweep_change    *change;    /* NULL: |after - before| */
    arras_sweep_watcher   *watch;     /* may be NULL */

    int     threads; /* 0: one for each CPU */
    int64_t memory;  /* bytes, for arrays in files; 0: half of what is free */
} arras_sweep_request;

/* Sweeps until it has converged, or as often as was asked for.  report may be NULL. */
ARRAS_API arras_status arras_sweep(arras_sweep_report *report, const arras_sweep_request *request,
                                   arras_error *err);

/* The same in steps: open checks everything, run does it, once.  Until it is closed any thread may
 * cancel it (the run then returns ARRAS_ECANCEL soon, and a state in memory is partly swept), or
 * ask how much of the present sweep is done: 0 to 1. */
typedef struct arras_sweeping arras_sweeping;
ARRAS_API arras_status arras_sweep_open(arras_sweeping **out, const arras_sweep_request *request,
                                        arras_error *err);
ARRAS_API arras_status arras_sweep_run(arras_sweep_report *report, arras_sweeping *s,
                                       arras_error *err);
ARRAS_API void         arras_sweep_close(arras_sweeping *s);
ARRAS_API void         arras_sweep_cancel(arras_sweeping *s);
ARRAS_API double       arras_sweep_progress(const arras_sweeping *s);

/* ---- Loops of programs ----------------------------------------------------------------------- */

/* An output that becomes an input in the next step; both have the same type and shape. */
typedef struct arras_feed {
    const char *output, *input;
} arras_feed;

typedef struct arras_loop_report {
    int64_t steps;
    bool    ended; /* by the output `until` */
} arras_loop_report;

/* After every step; false: that was the last. */
typedef bool arras_loop_watcher(const arras_loop_report *so_far, void *context);

typedef struct arras_loop {
    int                 nfeeds;
    const arras_feed   *feeds;
    const char         *until; /* an output of one cell: the last step is the one that sets it */
    int64_t             most;  /* steps; 0: no limit, then `until` or `watch` ends the loop */
    arras_loop_watcher *watch; /* may be NULL */
    void               *context;
    int64_t             memory; /* as in arras_stream_options */
} arras_loop;

/* Runs a program again and again, its outputs fed back as inputs: in memory with arras_launch, with
 * arras_stream if arrays are in files.  What is bound is bound as for these two, and outputs hold
 * what the last step gave them; inputs stay as they are.  Between steps, outputs that go to sinks
 * are in files in $TMPDIR. */
ARRAS_API arras_status arras_iterate(arras_results **out, arras_loop_report *report,
                                     arras_program *p, int n, const arras_binding *bindings,
                                     int nstored, const arras_stored *stored,
                                     const arras_loop *loop, arras_error *err);

#ifdef __cplusplus
}
#endif

#endif
