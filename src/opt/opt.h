/* opt.h -- graphs become better graphs of the same meaning, one pass per file.
 * The door of opt/.  Sees base/ and ir/. */
#ifndef AR_OPT_H
#define AR_OPT_H

#include "ir/ir.h"

/* The normal form of a program: a new graph, the caller's, with the same inputs, sizes and outputs,
 * in which every array an output needs is an INPUT, DATA or a LAMBDA.  Calls are written out;
 * numbers and sizes stand in the expressions that use them.  Nothing is fused or simplified.
 *
 * Evaluating the new graph gives the same bits, but for sums and products of floating-point cells
 * over several axes: one reduction within another combines them in another order.  What goes wrong
 * goes wrong there too, with the same status, here or when it is run, but for this: a minimum over
 * nothing is EINDEX (was: ESHAPE); what is wrong with the reads of an array that has no cells is
 * not looked at, nor is what no row of a sparse matrix uses; a size that a call makes negative
 * within an index lambda is a number like others.
 *
 * Data is borrowed: the old graph must outlive the new one. */
arras_status ar_normalise(arras_graph **out, const arras_graph *g, arras_error *err);

/* ---- What is asked for and what was decided -------------------------------------------------- */

typedef struct {
    bool              no_fusion; /* every array is stored */
    const ar_machine *machine;   /* that runs it; NULL: the host */
} ar_opt_options;

typedef enum { AR_FATE_INPUT, AR_FATE_INLINED, AR_FATE_STORED, AR_FATE_OUTPUT } ar_fate;

/* What became of one array, and why. */
typedef struct {
    const char      *what;  /* "%7: f64[n, 4]" */
    arras_array      array; /* of the optimised graph; NULL: it is inlined */
    ar_fate          fate;
    const char      *reason;
    int64_t          operations; /* a cell costs, as fused; additions count 1, others more */
    double           reads;      /* of a cell, by all that use it */
    int              rank;
    const arras_dim *shape; /* of the optimised graph */
    size_t           cell_bytes;
    /* How often all its cells are moved: if every array were stored, as fused, and at least. */
    int moves_before, moves_after, moves_least;
} ar_decision;

/* For explain.  Zero-initialise one to start. */
typedef struct {
    ar_decision *items;
    size_t       count, room;
    const char **changes; /* to the order of operations: a line each */
    size_t       nchanges, changes_room;
    ar_arena     arena;
} ar_decisions;

void ar_decisions_free(ar_decisions *decisions);
/* One line more of what was changed; it is freed. */
arras_status ar_decisions_say(ar_decisions *decisions, ar_text *line, arras_error *err);
/* As bytes, and back (decisions_pack.c); false: no memory, or bytes that are none.  Those left are
 * all of the decisions; *out, the caller's, keeps what it needs of them. */
bool ar_decisions_pack(ar_text *out, const ar_decisions *decisions);
bool ar_decisions_unpack(ar_decisions *out, ar_unpacker *u, const arras_graph *optimised);

/* In bytes.  Arrays whose sizes are not known (sizes NULL or -1) are left out. */
typedef struct {
    int64_t before, after, least;
} ar_traffic;
ar_traffic ar_decisions_traffic(const ar_decisions *decisions, const arras_graph *optimised,
                                const int64_t *sizes);

/* ---- Passes ---------------------------------------------------------------------------------- */

/* Passes on normal forms.  Each makes a new graph, the caller's, which is a normal form of the same
 * bits, but for ar_compose and ar_factor; what may go wrong goes wrong in both.  `normal` must
 * outlive it, as data is borrowed. */

/* Expressions that are cheaper (simplify.c). */
arras_status ar_simplify(arras_graph **out, const arras_graph *normal, arras_error *err);

/* Axes of one cell are left out of arrays that are no outputs (squeeze.c). */
arras_status ar_squeeze(arras_graph **out, const arras_graph *normal, arras_error *err);

/* Those that change the order of operations say so to the decisions, which may be NULL.  *out stays
 * as it is where that saves nothing. */

/* What is computed of gathered cells is gathered from what is computed of all (gather_late.c). */
arras_status ar_gather_late(arras_graph **out, const arras_graph *normal, ar_decisions *decisions,
                            arras_error *err);

/* Matrices that are data, applied one after the other, are multiplied with each other once
 * (compose.c).  Sums round otherwise. */
arras_status ar_compose(arras_graph **out, const arras_graph *normal, ar_decisions *decisions,
                        arras_error *err);

/* Factors that are the same along a sum go out of it, where what is left is the same for several
 * sums (factor.c).  They round otherwise. */
arras_status ar_factor(arras_graph **out, const arras_graph *normal, ar_decisions *decisions,
                       arras_error *err);

/* Short reductions with known bounds become sums of their cells: windows become stencils
 * (unroll.c). */
arras_status ar_unroll(arras_graph **out, const arras_graph *normal, arras_error *err);

/* Long reductions of few results become reductions of parts, which can run at once, and of their
 * results: in the same order, with the same bits (split.c). */
arras_status ar_split(arras_graph **out, const arras_graph *normal, arras_error *err);

/* The arrays that are not worth storing are computed where they are read: those whose cells cost
 * less than writing and reading them, and which are never read outside.  Outputs are stored
 * (fuse*.c). */
arras_status ar_fuse(arras_graph **out, const arras_graph *normal, arras_error *err);
/* The same; options and decisions may be NULL. */
arras_status ar_fuse_with(arras_graph **out, const arras_graph *normal,
                          const ar_opt_options *options, ar_decisions *decisions, arras_error *err);

/* ---- All passes (optimise.c) ----------------------------------------------------------------- */

/* The program as it should be computed: a normal form, each LAMBDA of it an array to store.  The
 * caller's; it borrows the data of `recorded`, which must outlive it.  decisions: NULL if nobody
 * asks. */
arras_status ar_optimise(arras_graph **out, const arras_graph *recorded,
                         const ar_opt_options *options, ar_decisions *decisions, arras_error *err);

#endif
