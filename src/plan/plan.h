/* plan.h -- what a program does when it runs: which arrays there are, which steps compute them, in
 * which tiles, and where temporary arrays lie.  The door of plan/.  Sees base/, ir/ and gen/. */
#ifndef AR_PLAN_H
#define AR_PLAN_H

#include "gen/gen.h"
#include "plan/gemm.h"

/* ---- Arrays and steps (plan.c) --------------------------------------------------------------- */

typedef enum {
    AR_AT_INPUT,     /* bound at launch */
    AR_AT_DATA,      /* known when recorded */
    AR_AT_CONSTANT,  /* computed once from data alone */
    AR_AT_TEMPORARY, /* computed in every launch, and not asked for */
    AR_AT_OUTPUT
} ar_at;

typedef struct {
    arras_array node;
    ar_at       at;
    int         number; /* of the graph's inputs, of the data in order of ids, or of the outputs */
    int         step;   /* that computes it; -1: it is given */
} ar_plan_array;

/* How a step reads one of its inputs: for row i of an axis of its own, the rows stride*i - before
 * .. stride*i + after of the input's axis `axis`. */
typedef struct {
    int     axis; /* below 0: none, or not in such a way */
    int64_t stride, before, after;
} ar_row_reach;

/* One kernel over all cells of its results. */
typedef struct {
    ar_kernel_form form;
    ar_nest        nest;
    int            rank;
    const int     *results; /* arrays, form.n of them */
    int            ninputs;
    const int     *inputs;    /* arrays */
    const bool    *same_cell; /* of each input: a cell reads only the same cell of it */
    int            code;      /* steps of one code call one kernel; -1: they call none */
    bool           constant;  /* runs once, before the first launch */
    bool           may_fault; /* a read may be outside, a minimum over nothing, a range too long */
    const ar_gemm *gemm;      /* not NULL: a product of matrices */
    arras_array    scan;      /* not NULL: no kernel computes it, but the scan that this node is */
    /* Of input k along its own axis x, at [k * rank + x]; of those that other steps compute.  NULL:
     * none are. */
    const ar_row_reach *reach;
} ar_step;

/* Output `output` is the array `array` too, which lies elsewhere. */
typedef struct {
    int array, output;
} ar_plan_copy;

typedef struct {
    const arras_graph *g;
    const ar_machine  *machine;
    int                narrays, nsteps, ncodes, ncopies;
    ar_plan_array     *arrays;
    ar_step           *steps; /* what a step reads is computed by steps before it */
    ar_plan_copy      *copies;
    ar_arena           arena; /* owns all but the graph */
} ar_plan;

typedef struct {
    const bool       *dense;     /* of each input of the graph: bound in C order; NULL: all are */
    bool              no_fusion; /* one array, one step, one after the other */
    const ar_machine *machine;   /* that runs it */
} ar_plan_options;

/* Of a fused normal form, to which it adds lambdas and which must outlive it. */
arras_status ar_plan_make(ar_plan *out, arras_graph *g, const ar_plan_options *options,
                          arras_error *err);
void         ar_plan_free(ar_plan *plan);
/* EINVAL says what does not hold (verify_plan.c). */
arras_status ar_plan_verify(const ar_plan *plan, arras_error *err);

/* ---- Facts about lambdas (facts.c) ----------------------------------------------------------- */

/* What the cells of a lambda do; made once for each, by one walk over its expression. */
typedef struct {
    bool    may_fault;
    bool    reduces;
    bool    sized;      /* depends on the value of a size */
    int64_t operations; /* in the text, each shared part once */
    bool   *same_cell;  /* of each input */
} ar_lambda_facts;

arras_status ar_lambda_look(ar_lambda_facts *out, arras_array lambda, ar_arena *arena,
                            arras_error *err);

/* Lambdas that share no kernel with others: a product of matrices, or another sum that has a kernel
 * of its own; NULL where it is not that. */
typedef struct {
    const ar_gemm        *gemm;
    const ar_contraction *contraction;
} ar_lambda_kind;

arras_status ar_lambda_kind_find(ar_lambda_kind *out, arras_array lambda, ar_arena *arena,
                                 arras_error *err);
/* Picoseconds that a cell of all lambdas of a step takes, roughly, given every size. */
double ar_step_cost(const ar_step *step, const int64_t *sizes);

/* ---- Bands: steps that run tile by tile, one after the other in each (reach.c, bands.c) --------
 */

/* Limits of one band: steps, and results and inputs of each of them. */
enum { AR_BAND_STEPS = 64, AR_BAND_OPERANDS = 60 };

/* A step in its band.  A tile of the band is a range of rows lo <= i < hi; for it the step computes
 * the rows stride*lo - before .. stride*(hi - 1) + after of its axis `axis`. */
typedef struct {
    int     home; /* the last step of the band; its own number where the step is alone */
    int     axis;
    int64_t stride, before, after;
} ar_band_place;

/* Finds what every step reaches of its inputs. */
arras_status ar_plan_reach(ar_plan *plan, arras_error *err);
/* places: of each step.  alone: steps that are not to be in any band. */
arras_status ar_plan_bands(ar_band_place *places, const ar_plan *plan, const bool *alone,
                           arras_error *err);

/* The steps, a line each (print_plan.c).  places: may be NULL. */
void ar_plan_print(ar_text *out, const ar_plan *plan, const ar_band_place *places);

/* By array: the home of the band in which it is computed and read, and by none else; -1: none. */
void ar_plan_insides(int *inside, const ar_plan *plan, const ar_band_place *places);
/* Bytes that a launch reads and writes (traffic.c); bytes: of each array, -1 where not known. */
arras_status ar_plan_traffic(int64_t *out, const ar_plan *plan, const ar_band_place *places,
                             const int64_t *bytes, arras_error *err);

/* ---- Tiles (tile.c) -------------------------------------------------------------------------- */

typedef struct {
    int     threads;
    int64_t bytes; /* that a tile should touch at most */
    bool    exact; /* just so many, however little time that takes */
} ar_tile_options;

/* shape: of the results, as numbers. */
void ar_tiling_make(ar_tiling *out, const ar_step *step, const int64_t *shape, const int64_t *sizes,
                    const ar_tile_options *options);

/* ---- Memory (place.c) ------------------------------------------------------------------------ */

/* A block that is needed from its first step to its last, both included. */
typedef struct {
    int64_t bytes;
    int     first, last;
    int     in_place_successor;   /* block that may take over its place in step `last`; -1: none */
    int64_t offset; /* out */
} ar_block;

typedef struct {
    int64_t bytes; /* that all blocks need together */
    int64_t live;  /* the most that is needed at any one step */
    int64_t sum;   /* without any sharing */
} ar_memory_plan;

enum { AR_BLOCK_ALIGN = 64 };

/* Gives each block its offset: blocks that are needed at the same time do not overlap, but for an
 * heir and what it takes over. */
arras_status ar_memory_place(ar_memory_plan *out, int n, ar_block *blocks, arras_error *err);

#endif
