/* chunk.h -- the mathematics of chunk shapes: what queries cost in chunks, which shape costs least,
 * what others would choose, and an index of chunks that are there.  Knows nothing of files. */
#ifndef AR_CHUNK_H
#define AR_CHUNK_H

#include "base/base.h"

/* ---- Workloads ------------------------------------------------------------------------------- */

typedef struct ar_range_share {
    int64_t range, weight; /* both are above 0 */
} ar_range_share;

/* The lengths of queries along one axis, ascending; a probability is weight / total. */
typedef struct ar_range_set {
    int64_t         count, total;
    ar_range_share *shares;
} ar_range_set;

struct arras_workload {
    int          rank;
    bool         independent;
    ar_range_set axes[ARRAS_MAX_RANK]; /* of both kinds */
    int64_t      count, total;         /* of shapes and of their weights; independent: 0 */
    int64_t     *shapes;               /* count * rank lengths, ascending, all different */
    int64_t     *weights;              /* above 0 */
    int64_t      queries;              /* logged; 0: there is no log */
    int64_t     *lo, *hi;              /* queries * rank */
};

arras_status ar_workload_from_shapes(arras_workload **out, int rank, int64_t n,
                                     const int64_t *shapes, const char *const *probabilities,
                                     arras_error *err);
arras_status ar_workload_from_ranges(arras_workload **out, int rank, int64_t n, const int *axes,
                                     const int64_t *lengths, const char *const *probabilities,
                                     arras_error *err);
arras_status ar_workload_from_boxes(arras_workload **out, int rank, int64_t n, const int64_t *lo,
                                    const int64_t *hi, arras_error *err);
arras_status ar_workload_from_log(arras_workload **out, int rank, const char *text, size_t length,
                                  const char *name, arras_error *err);
arras_status ar_workload_independent(arras_workload **out, const arras_workload *w,
                                     arras_error *err);
arras_status ar_workload_joint(arras_workload **out, const arras_workload *w, arras_error *err);
void         ar_workload_free(arras_workload *w);

/* ---- Problems: a workload, a model, and what edges a chunk may have -------------------------- */

typedef struct ar_chunk_problem {
    const arras_workload *workload;
    arras_chunk_model     model;
    int64_t               cells; /* of a chunk, at most */
    bool                  powers_of_two;
    int64_t               extent[ARRAS_MAX_RANK];   /* of the array; 0: not known, no bound */
    int64_t               fixed[ARRAS_MAX_RANK];    /* 0: free */
    int64_t               multiple[ARRAS_MAX_RANK]; /* at least 1 */
} ar_chunk_problem;

arras_status ar_chunk_problem_check(const ar_chunk_problem *p, arras_error *err);
/* The largest edge that is allowed along an axis and not above `most`, and the smallest not below
 * `least`; 0: there is none. */
int64_t ar_chunk_edge_below(const ar_chunk_problem *p, int axis, int64_t most);
int64_t ar_chunk_edge_above(const ar_chunk_problem *p, int axis, int64_t least);

/* ---- Costs: chunks a query reads on average -------------------------------------------------- */

/* Along one axis, as upper / lower; whole numbers below 2^126 and 2^63.  extent 0: not known, for
 * the models that do not ask. */
typedef struct ar_range_cost {
    __extension__ unsigned __int128 upper;
    int64_t                         lower;
} ar_range_cost;
ar_range_cost ar_chunk_range_cost(arras_chunk_model model, int64_t extent, int64_t range,
                                  int64_t edge);
double        ar_chunk_range_value(ar_range_cost cost);

/* shape -1: of the workload; otherwise of one of its shapes.  Edges are above 0. */
double ar_chunk_value(const ar_chunk_problem *p, const int64_t *chunk, int64_t shape);
/* As "p/q"; false: it has too many digits. */
bool ar_chunk_exact(ar_text *out, const ar_chunk_problem *p, const int64_t *chunk, int64_t shape);
/* -1, 0, 1: which of two shapes costs less, by the exact numbers as far as they fit. */
int          ar_chunk_compare(const ar_chunk_problem *p, const int64_t *a, const int64_t *b);
arras_status ar_chunk_check(int rank, const int64_t *chunk, arras_error *err);
arras_status ar_chunk_bytes(int64_t *out, int rank, const int64_t *chunk, int64_t cell_bytes,
                            bool for_hdf5, arras_error *err);
/* The chunks that logged queries read, and the standard error of their mean. */
arras_status ar_chunk_trace(int64_t *chunks, double *error, const arras_workload *w,
                            const int64_t *chunk, arras_error *err);

/* ---- As published ---------------------------------------------------------------------------- */

/* The real-valued optimum of the paper's model for mean lengths less 1, with edges from 1 to the
 * array's (0: no bound); returns the cost. */
double ar_chunk_closed_form(double *edges, int rank, const double *lengths, const int64_t *extent,
                            double cells);
/* Without bounds, rounded to powers of two as the paper does.  false: an edge is below 1 or above
 * the array's. */
bool ar_chunk_closed_form_rounded(int *powers, int rank, const double *lengths,
                                  const int64_t *extent, int log2_cells);
/* The number of cells for which reading takes the least time, real-valued, without bounds. */
double ar_chunk_closed_form_cells(int rank, const double *lengths, double latency,
                                  double seconds_per_cell);
/* The next step of the paper's greedy algorithm: the axis whose edge is doubled; -1: none can. */
int ar_chunk_greedy_step(const ar_chunk_problem *p, const int64_t *chunk);

/* ---- The optimum ----------------------------------------------------------------------------- */

typedef struct ar_chunk_optimum {
    int64_t least[ARRAS_MAX_RANK]; /* least cost, then fewest cells, then lexicographically first */
    double  cost;                  /* of it */
    int64_t chunk[ARRAS_MAX_RANK]; /* the balanced one; `least` if nothing may be given up for it */
    double  bound;                 /* no shape costs less */
    bool    proven;                /* bound is cost */
    int64_t examined;
} ar_chunk_optimum;

/* `within` 0.01: among the shapes that cost at most 1 % more than the least, `chunk` is the one
 * whose worst query costs least; then fewest cells, then the one most like a cube.  `effort`: how
 * many partial shapes are examined, about; 0: the default. */
arras_status ar_chunk_optimise(ar_chunk_optimum *out, const ar_chunk_problem *p, double within,
                               int64_t effort, arras_error *err);

/* Seconds for a chunk: fixed + per_cell * cells. */
typedef struct ar_chunk_clock {
    double fixed, per_cell;
} ar_chunk_clock;
/* The size with which reading takes the least time: *cells, not above p->cells; no size and shape
 * takes less than *bound seconds. */
arras_status ar_chunk_best_size(int64_t *cells, double *bound, const ar_chunk_problem *p,
                                ar_chunk_clock clock, arras_error *err);

/* ---- What others choose ---------------------------------------------------------------------- */

typedef struct ar_chunk_array {
    int            rank;
    const int64_t *shape;
    int64_t        cell_bytes, limit;
} ar_chunk_array;
void         ar_chunk_guess_h5py(int64_t *chunk, const ar_chunk_array *a);
void         ar_chunk_guess_zarr(int64_t *chunk, const ar_chunk_array *a);
void         ar_chunk_guess_dask(int64_t *chunk, const ar_chunk_array *a);
void         ar_chunk_guess_netcdf(int64_t *chunk, const ar_chunk_array *a, double chunk_bytes);
arras_status ar_chunk_guess_rew(int64_t *chunk, const ar_chunk_array *a, arras_error *err);

/* ---- Which chunks are there ------------------------------------------------------------------ */

/* Values found by the numbers of chunks along each axis.  Keys do not depend on how large the array
 * is, so it may grow along any axis, and nothing is renumbered. */
typedef struct ar_chunk_index ar_chunk_index;

ar_chunk_index *ar_chunk_index_new(int rank); /* NULL: no memory */
void            ar_chunk_index_free(ar_chunk_index *index);
int64_t         ar_chunk_index_count(const ar_chunk_index *index);
/* Adds or replaces; false: no memory. */
bool ar_chunk_index_put(ar_chunk_index *index, const int64_t *key, int64_t value);
/* false: there is none such, so all its cells are the fill value. */
bool ar_chunk_index_find(int64_t *value, const ar_chunk_index *index, const int64_t *key);
bool ar_chunk_index_remove(ar_chunk_index *index, const int64_t *key);
/* Calls `see` for each chunk that is there with lo <= key < hi, in ascending order, in time that
 * grows with the smaller of how many are there and how many the box has.  false: no memory. */
typedef void ar_chunk_see(void *context, const int64_t *key, int64_t value);
bool         ar_chunk_index_walk(const ar_chunk_index *index, const int64_t *lo, const int64_t *hi,
                                 ar_chunk_see *see, void *context);

#endif
