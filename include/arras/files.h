/* files.h -- arrays in files, programs that run on them, and their chunks rewritten.
 * arras/arras.h includes it. */
#ifndef ARRAS_ARRAS_H
#include <arras/arras.h> /* which includes this, in its place */
#elif !defined(ARRAS_FILES_H)
#define ARRAS_FILES_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Arrays in files ------------------------------------------------------------------------- */

/* An array at rest: in a .npy file, in HDF5 and netCDF, in a Zarr directory, in a file of plain
 * cells.  `inside` names it within its file ("/ocean/ssh"); NULL: the only one there. */
typedef struct arras_source arras_source;
typedef struct arras_sink   arras_sink;

typedef struct arras_store_info {
    arras_dtype dtype; /* of the cells as they are read; ARRAS_NO_DTYPE: they are not numbers */
    int         rank;
    int64_t     shape[ARRAS_MAX_RANK];
    int64_t     chunk[ARRAS_MAX_RANK]; /* of one that is not chunked: the shape, at least 1 */
    bool        chunked;
    bool        growable[ARRAS_MAX_RANK]; /* unlimited dimensions */
    char        format[32];               /* "HDF5", "Zarr v3" */
    char        layout[128];              /* "chunked", "contiguous" */
    char        stored[64];               /* type as stored: "big-endian f32" */
    char        codecs[256];              /* "shuffle, deflate 4"; "" for none */
    int64_t     stored_bytes;             /* -1: not known */
    uint8_t     fill[16];                 /* a cell: the value of what is not stored */
    char        axes[ARRAS_MAX_RANK][64]; /* names of dimensions; "" where there are none */
} arras_store_info;

ARRAS_API arras_status arras_source_open(arras_source **out, const char *path, const char *inside,
                                         arras_error *err);

/* Attributes may say (as netCDF and its CF conventions have it) that cells are packed: scale_factor
 * and add_offset; that some are missing: _FillValue and missing_value; or that integers are to be
 * taken as _Unsigned.  They are heard in every format that has attributes.  Unpacked cells are of
 * the type of the two factors, those without factors f32 if they are integers of at most 16 bits,
 * f64 if they are longer ones; reals stay what they are.  valid_range and the like are not looked
 * at. */
typedef enum arras_missing {
    ARRAS_MISSING_RAW,       /* the numbers that are stored, whatever attributes say */
    ARRAS_MISSING_PROPAGATE, /* unpacked; a missing cell is NaN, and so is what is made of it */
    ARRAS_MISSING_REPLACE    /* unpacked; a missing cell is `replacement`: one that a sum (0), a
                                maximum (-INFINITY) ignores */
} arras_missing;

typedef struct arras_source_options {
    arras_missing missing;
    double        replacement;
} arras_source_options;

/* arras_source_open with options; NULL: cells as they are stored. */
ARRAS_API arras_status            arras_source_open_with(arras_source **out, const char *path,
                                                         const char                 *inside,
                                                         const arras_source_options *options,
                                                         arras_error                *err);
ARRAS_API void                    arras_source_close(arras_source *s);
ARRAS_API const arras_store_info *arras_source_info(const arras_source *s);
/* Attributes, one line each; release with arras_text_free. */
ARRAS_API arras_status arras_source_describe(char **out, arras_source *s, arras_error *err);
/* Cells lo <= i < hi into memory with these strides (bytes; NULL: C order), decoded on so many
 * threads (0: one for each CPU). */
ARRAS_API arras_status arras_source_read(arras_source *s, const int64_t *lo, const int64_t *hi,
                                         void *cells, const int64_t *strides, int threads,
                                         arras_error *err);
/* From now on each box that is read, and the box that a stream needs of the source as a whole, is
 * appended to a file as a line of CSV: start and stop for each axis.  arras_workload_from_log reads
 * it.  path NULL: no more. */
ARRAS_API arras_status arras_source_log(arras_source *s, const char *path, arras_error *err);
/* Stored chunks that were fetched since it was opened, and their bytes as stored. */
ARRAS_API void arras_source_fetched(int64_t *chunks, int64_t *bytes, const arras_source *s);
/* What a container holds: a line "path TAB type and shape" for each array. */
ARRAS_API arras_status arras_source_list(char **out, const char *path, const char *inside,
                                         arras_error *err);

typedef struct arras_sink_options {
    /* "zstd 3", "shuffle deflate 4", "none"; NULL: the default.  "float16", before others if there
     * are any, stores f32 with 16 bits for each cell; .npy files have that, too. */
    const char         *codecs;
    const int64_t      *chunk;    /* NULL: chosen */
    const void         *fill;     /* a cell; NULL: 0 */
    const bool         *growable; /* of each axis; NULL: none */
    const arras_source *like;     /* whose attributes and names of dimensions are copied; or NULL */
    int                 version;  /* of the format: Zarr 2 or 3; 0: the newest */
    bool                replace;  /* a .npy file that is there, when the new one is finished */
} arras_sink_options;

/* A new array.  It appears under its name when it is finished, whole; what there is under that name
 * already is refused. */
ARRAS_API arras_status arras_sink_create(arras_sink **out, const char *path, const char *inside,
                                         arras_dtype dtype, int rank, const int64_t *shape,
                                         const arras_sink_options *options, arras_error *err);
/* A new array whose cells survive the process: they are collected in a directory beside the file,
 * ".NAME.partial", and brought to disk every `period` seconds by a thread of its own.  Made again
 * with the same identity (any text that says what is being computed, and from which inputs), it
 * has the cells that were there, and arras_stream_start does not compute them again; another
 * identity is refused.  V bytes take V/T seconds to a disk of T bytes per second, which is the time
 * of V/(T*E) steps of E seconds each: checkpoints do not follow each other any faster, whatever the
 * period.  Finished, it is an array like others; abandoned, it stays. */
ARRAS_API arras_status arras_sink_resume(arras_sink **out, const char *path, const char *inside,
                                         arras_dtype dtype, int rank, const int64_t *shape,
                                         const arras_sink_options *options, const char *identity,
                                         double period, arras_error *err);
/* Sinks remove, when they are made, what processes that were killed left beside the same array:
 * drafts, and the directory of an array that is finished.  This does the same for those who write
 * a file in another way. */
ARRAS_API void arras_sink_tidy(const char *path);
/* An array of HDF5, netCDF-4 or Zarr that is there, made longer by so many cells along an axis;
 * nothing of it is moved.  arras_sink_info says the new shape; the box of new cells begins where
 * the old ones end, and all of it has to be written.  The array is longer when the sink is
 * finished; until then, and if that fails, it is what it was.  HDF5 works on a copy of the file,
 * which costs nothing where the file system shares blocks. */
ARRAS_API arras_status arras_sink_append(arras_sink **out, const char *path, const char *inside,
                                         int axis, int64_t extra, arras_error *err);
ARRAS_API const arras_store_info *arras_sink_info(const arras_sink *s);
/* Boxes of whole chunks, or as far as the array goes; what is never written is the fill value. */
ARRAS_API arras_status arras_sink_write(arras_sink *s, const int64_t *lo, const int64_t *hi,
                                        const void *cells, const int64_t *strides, int threads,
                                        arras_error *err);
/* Both release the sink. */
ARRAS_API arras_status arras_sink_finish(arras_sink *s, arras_error *err);
ARRAS_API void         arras_sink_abandon(arras_sink *s);
/* Removes what there is of all sinks of the process that are not finished.  For handlers of signals
 * that end it, which must be the next thing to happen. */
ARRAS_API void arras_sinks_discard(void);

/* ---- Programs on arrays in files ------------------------------------------------------------- */

/* An input that is read from a source, or an output that is written to a sink (the caller finishes
 * it, or abandons it after a failure). */
typedef struct arras_stored {
    const char   *name;
    arras_source *source; /* of an input; else NULL */
    arras_sink   *sink;   /* of an output; else NULL */
} arras_stored;

typedef struct arras_stream_options {
    int64_t memory; /* bytes that may be used, beside what is bound; 0: half of what is free */
} arras_stream_options;

/* Runs a program tile by tile: for each tile it reads what the tile needs, halo included, computes
 * all that lies between in memory, and writes.  Arrays in files may be larger than memory.  Cells
 * have the bits that arras_launch would give them, whatever the tiles, threads and memory.
 *
 * Inputs are bound in memory or in files; outputs without a sink become results (release them with
 * arras_results_free; out may be NULL when there are none). */
typedef struct arras_stream arras_stream;

ARRAS_API arras_status arras_stream_start(arras_stream **out, arras_program *p, int n,
                                          const arras_binding *bindings, int nstored,
                                          const arras_stored         *stored,
                                          const arras_stream_options *options, arras_error *err);
/* Once for each stream. */
ARRAS_API arras_status arras_stream_wait(arras_results **out, arras_stream *stream,
                                         arras_error *err);
/* From any thread: the wait returns ARRAS_ECANCEL soon, if not done already. */
ARRAS_API void arras_stream_cancel(arras_stream *stream);
/* From any thread: how much has been done, from 0 to 1; below 0 when that is not known.  Passes
 * count by the bytes that they move. */
ARRAS_API double arras_stream_progress(const arras_stream *stream);
/* What was not waited for is cancelled. */
ARRAS_API void arras_stream_free(arras_stream *stream); /* NULL is fine */
/* Passes, tiles and what is kept in memory, for people; release with arras_text_free. */
ARRAS_API arras_status arras_stream_explain(char **out, const arras_stream *stream,
                                            arras_error *err);

/* ---- Other chunks ---------------------------------------------------------------------------- */

/* Copies an array into one that has other chunks, box by box.  Each chunk of the sink is written
 * once; each of the source is read once where the memory allows it, and `times` says how often
 * otherwise.  The source is not changed.  A sink of arras_sink_resume gets what it lacks. */
typedef struct arras_rechunk_options {
    int64_t memory;  /* bytes that may be used; 0: half of what is free */
    int     threads; /* 0: one for each CPU */
} arras_rechunk_options;

typedef struct arras_rechunk_report {
    int64_t box[ARRAS_MAX_RANK]; /* what is copied at once */
    int64_t boxes;
    int64_t boxes_before;   /* of these, there already */
    int     lanes, threads; /* boxes under way at once; threads that work on them */
    int64_t memory;         /* bytes, at most */
    int64_t chunks;         /* of the source; 0: it has none */
    double  times;          /* how often a chunk is read, on average; 1 at best */
    int64_t read;           /* chunks that were read, so far */
} arras_rechunk_report;

/* The caller finishes the sink, or abandons it after a failure.  report: may be NULL. */
ARRAS_API arras_status arras_rechunk(arras_rechunk_report *report, arras_source *source,
                                     arras_sink *sink, const arras_rechunk_options *options,
                                     arras_error *err);
/* The same in steps: each start has one wait.  Until it is freed any thread may cancel it, ask how
 * much has been begun (0 to 1; below 0: not known), and look at the report. */
typedef struct arras_rechunking arras_rechunking;

ARRAS_API arras_status arras_rechunk_start(arras_rechunking **out, arras_source *source,
                                           arras_sink *sink, const arras_rechunk_options *options,
                                           arras_error *err);
ARRAS_API arras_status arras_rechunk_wait(arras_rechunking *r, arras_error *err);
ARRAS_API void         arras_rechunk_cancel(arras_rechunking *r);
ARRAS_API double       arras_rechunk_progress(const arras_rechunking *r);
ARRAS_API void         arras_rechunk_look(arras_rechunk_report *out, const arras_rechunking *r);
ARRAS_API void         arras_rechunk_free(arras_rechunking *r); /* cancels what is not waited for */

/* ---- Headers of .npy files ------------------------------------------------------------------- */

/* For programs that read and write NumPy's files themselves: from a pipe, or mapped. */
typedef struct arras_npy_header {
    int         version; /* of the format: the caller's own */
    arras_dtype dtype;
    bool        swapped; /* the other byte order than this machine's */
    bool        fortran; /* the first index runs fastest */
    int         rank;
    int64_t     shape[ARRAS_MAX_RANK];
    bool        half; /* numbers are stored with 16 bits, where dtype has 32 */
} arras_npy_header;

#define ARRAS_NPY_ROOM 1024 /* bytes that a printed header has at most */

/* The text of a header, which follows its length in the file.  `name` is for messages. */
ARRAS_API arras_status arras_npy_header_parse(arras_npy_header *out, const char *text,
                                              size_t length, const char *name, arras_error *err);
/* n numbers of 16 bits become f32.  They stand where the memory for these ends. */
ARRAS_API void arras_half_widen(float *numbers, int64_t n, bool swapped);
/* Everything before the cells, of an array in C order, as NumPy writes it; the number of bytes, 0
 * where there is no such type or rank. */
ARRAS_API size_t arras_npy_header_print(char out[ARRAS_NPY_ROOM], arras_dtype dtype, int rank,
                                        const int64_t *shape);

#ifdef __cplusplus
}
#endif

#endif
