/* chunks.h -- chunk shapes from the way arrays are read.
 * arras/arras.h includes it. */
#ifndef ARRAS_ARRAS_H
#include <arras/arras.h> /* which includes this, in its place */
#elif !defined(ARRAS_CHUNKS_H)
#define ARRAS_CHUNKS_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Chunk shapes ---------------------------------------------------------------------------- */

/* How an array is read: shapes of queries with their probabilities, or, independent of each other,
 * lengths along each axis.  Never changes once it is made. */
typedef struct arras_workload arras_workload;

/* n shapes of queries, n * rank lengths.  Probabilities are texts, so that they are exact: "1/3",
 * "0.25"; they add up to 1.  NULL: all are equal. */
ARRAS_API arras_status arras_workload_from_shapes(arras_workload **out, int rank, int64_t n,
                                                  const int64_t     *shapes,
                                                  const char *const *probabilities,
                                                  arras_error       *err);
/* Entry i: along axes[i] a query is lengths[i] cells long with this probability; those of an axis
 * add up to 1, and every axis has some. */
ARRAS_API arras_status arras_workload_from_ranges(arras_workload **out, int rank, int64_t n,
                                                  const int *axes, const int64_t *lengths,
                                                  const char *const *probabilities,
                                                  arras_error       *err);
/* Queries that were made, lo <= i < hi: n * rank numbers each. */
ARRAS_API arras_status arras_workload_from_boxes(arras_workload **out, int rank, int64_t n,
                                                 const int64_t *lo, const int64_t *hi,
                                                 arras_error *err);
/* The same from a text, CSV or JSON (docs/chunking.md); `name` is for messages. */
ARRAS_API arras_status arras_workload_from_log(arras_workload **out, int rank, const char *text,
                                               size_t length, const char *name, arras_error *err);
/* The lengths along each axis by themselves; and all combinations of these. */
ARRAS_API arras_status arras_workload_independent(arras_workload **out, const arras_workload *w,
                                                  arras_error *err);
ARRAS_API arras_status arras_workload_joint(arras_workload **out, const arras_workload *w,
                                            arras_error *err);
ARRAS_API void         arras_workload_free(arras_workload *w);
ARRAS_API bool         arras_workload_is_independent(const arras_workload *w);
/* Different shapes, in ascending order; 0 when independent. */
ARRAS_API int64_t      arras_workload_count(const arras_workload *w);
/* Its probability is *weight / *total; false: no such shape. */
ARRAS_API bool         arras_workload_shape(const arras_workload *w, int64_t i, int64_t *shape,
                                            int64_t *weight, int64_t *total);
ARRAS_API int64_t      arras_workload_queries(const arras_workload *w); /* logged ones */

typedef enum {
    ARRAS_CHUNKS_EXACT, /* the mean over all places of a query inside the array */
    ARRAS_CHUNKS_PAPER, /* the product of (length - 1) / edge + 1: as if there were no border */
    ARRAS_CHUNKS_SS,    /* the product of ceil(length / edge): Sarawagi and Stonebraker's */
    ARRAS_CHUNKS_END
} arras_chunk_model;

typedef struct arras_chunk_options {
    int               rank;
    const int64_t    *shape; /* of the array */
    int64_t           cell_bytes;
    int64_t           limit; /* bytes of a chunk, at most; 0: 1 MiB, or 64 MiB if time is asked */
    arras_chunk_model model;
    bool              powers_of_two; /* edges are; otherwise any whole number */
    const int64_t    *fixed;         /* edges that are given, 0 where free; NULL: none */
    const int64_t    *multiple; /* what edges are multiples of; 0 or 1: of anything; NULL: all so */
    double            within;   /* 0.01: of shapes that near the least cost take a balanced one */
    /* Time for a chunk, with which the size is chosen too; bandwidth 0: only chunks are counted. */
    double latency;   /* seconds until its first byte */
    double bandwidth; /* stored bytes a second */
    double decoding;  /* bytes of cells decoded a second; 0: at once */
    double ratio;     /* bytes of cells by stored bytes; 0: 1 */
} arras_chunk_options;

typedef struct arras_chunk_advice {
    int64_t chunk[ARRAS_MAX_RANK]; /* advised */
    int64_t least[ARRAS_MAX_RANK]; /* of the least cost; differs if a balanced one was preferred */
    int64_t cells;                 /* of the advised chunk */
    bool    proven;                /* no shape costs less than `least` */
    double  gap;      /* the advised costs at most 1 + gap times what the best possible would */
    int64_t examined; /* partial shapes that were looked at */
} arras_chunk_advice;

ARRAS_API arras_status arras_chunk_advise(arras_chunk_advice *out, const arras_workload *w,
                                          const arras_chunk_options *options, arras_error *err);
/* Chunks a query reads, on average; and seconds, 0 without a bandwidth.  `exact`: a fraction "7/3"
 * to be released with arras_text_free, NULL when it has more than 8192 bits; it may be NULL. */
typedef struct arras_chunk_costs {
    double chunks, seconds;
} arras_chunk_costs;
ARRAS_API arras_status arras_chunk_cost(arras_chunk_costs *out, char **exact,
                                        const arras_workload      *w,
                                        const arras_chunk_options *options, const int64_t *chunk,
                                        arras_error *err);
/* The same of one shape of a workload. */
ARRAS_API arras_status arras_chunk_cost_of(arras_chunk_costs *out, char **exact,
                                           const arras_workload *w, int64_t shape,
                                           const arras_chunk_options *options,
                                           const int64_t *chunk, arras_error *err);
/* Chunks that the logged queries read, all together; and how far the mean of a query may be off
 * (its standard error) for it was estimated from so many. */
ARRAS_API arras_status arras_chunk_trace(int64_t *chunks, double *error, const arras_workload *w,
                                         const int64_t *chunk, arras_error *err);
/* Checked: cells of a chunk times bytes of a cell; for HDF5 both stay below 2^32. */
ARRAS_API arras_status arras_chunk_bytes(int64_t *out, int rank, const int64_t *chunk,
                                         int64_t cell_bytes, bool for_hdf5, arras_error *err);

/* Shapes that others choose. */
typedef enum {
    ARRAS_GUESS_H5PY,
    ARRAS_GUESS_ZARR,
    ARRAS_GUESS_DASK,
    ARRAS_GUESS_NETCDF,
    ARRAS_GUESS_REW,         /* Rew's for series and maps of 3 axes */
    ARRAS_GUESS_CLOSED_FORM, /* of the paper, rounded to powers of two as it says */
    ARRAS_GUESS_GREEDY,      /* the paper's algorithm for shapes of queries */
    ARRAS_GUESS_END
} arras_chunk_guess;
ARRAS_API const char  *arras_chunk_guess_name(arras_chunk_guess guess); /* "h5py" */
/* ARRAS_EINVAL with the reason where there is none. */
ARRAS_API arras_status arras_chunk_guess_shape(int64_t *chunk, arras_chunk_guess guess,
                                               const arras_workload      *w,
                                               const arras_chunk_options *options,
                                               arras_error               *err);

#ifdef __cplusplus
}
#endif

#endif
