/* store.h -- arrays at rest: sources that are read and sinks that are written.  The door of store/.
 * Sees base/ and the public header (types, errors); knows nothing of graphs.
 *
 * An array at rest is a grid of chunks.  A format (npy, raw, HDF5, netCDF, Zarr) knows where the
 * stored bytes of a chunk are and what was done to them: a chain of codecs.  What reads boxes of
 * cells, decodes in several threads and keeps decoded chunks is the same for all (box_read.c).
 * Formats are leaves: the library builds without any one of them. */
#ifndef AR_STORE_H
#define AR_STORE_H

#include "base/base.h"
#include "store/codec.h"

/* ---- What an array is ------------------------------------------------------------------------ */

typedef arras_store_info ar_store_info;

/* The stored bytes of one chunk.  `bytes` belongs to whoever holds this and grows as needed. */
typedef struct {
    ar_text  bytes;
    bool     missing; /* not stored: every cell is the fill value */
    uint32_t skipped; /* bit k: codec k of the chain was not applied to this chunk */
} ar_chunk_bytes;

/* ---- Sources --------------------------------------------------------------------------------- */

typedef struct arras_source ar_source;

/* What a format fills in.  Slots that may be empty say so. */
typedef struct {
    /* The stored bytes of the chunk with these numbers along the axes.  Several threads at once. */
    arras_status (*fetch)(ar_source *self, const int64_t *chunk, ar_chunk_bytes *out,
                          arras_error *err);
    /* Instead of fetch and codecs: cells lo <= i < hi, in C order, as dtype.  May be NULL. */
    arras_status (*read_box)(ar_source *self, const int64_t *lo, const int64_t *hi, void *cells,
                             arras_error *err);
    /* A contiguous array of native cells in memory (mapped); NULL where it is not.  May be NULL. */
    const void *(*mapped)(ar_source *self);
    /* Attributes as text lines "name: value", for info; may be NULL. */
    arras_status (*describe)(ar_source *self, ar_text *out, arras_error *err);
    void (*close)(ar_source *self);
} ar_source_type;

struct arras_source {
    const ar_source_type *type;
    ar_store_info         info;
    ar_codec_chain        chain; /* from cells to stored bytes; decoding goes backwards */
    char                  name[512]; /* for messages: "sea.h5:/ssh" */
};

/* ---- Sinks ----------------------------------------------------------------------------------- */

typedef arras_sink_options ar_sink_options;

typedef struct arras_sink ar_sink;

typedef struct {
    /* Stores the bytes of a whole chunk, at most once for each.  Several threads at once. */
    arras_status (*put)(ar_sink *self, const int64_t *chunk, const ar_chunk_bytes *bytes,
                        arras_error *err);
    /* Instead, for arrays that are not chunked: cells lo <= i < hi in C order.  May be NULL. */
    arras_status (*write_box)(ar_sink *self, const int64_t *lo, const int64_t *hi,
                              const void *cells, arras_error *err);
    /* All is written: the array appears under its name, whole.  Releases the sink either way. */
    arras_status (*finish)(ar_sink *self, arras_error *err);
    /* Nothing is left of it.  Releases the sink. */
    void (*abandon)(ar_sink *self);
} ar_sink_type;

struct arras_sink {
    const ar_sink_type *type;
    ar_store_info       info;
    ar_codec_chain      chain;
    char                name[512];
};

/* ---- Formats --------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    /* Whether this file, with its first bytes, is of this format (first NULL: a directory). */
    bool (*recognise)(const char *path, const uint8_t *first, size_t n);
    arras_status (*open)(ar_source **out, const char *path, const char *inside, arras_error *err);
    /* What a container holds: lines "path<TAB>f32[10, 20]<TAB>HDF5".  May be NULL. */
    arras_status (*list)(ar_text *out, const char *path, const char *inside, arras_error *err);
    arras_status (*create)(ar_sink **out, const char *path, const char *inside, arras_dtype dtype,
                           int rank, const int64_t *shape, const ar_sink_options *options,
                           arras_error *err);
} ar_format;

extern const ar_format ar_format_npy, ar_format_raw, ar_format_hdf5, ar_format_netcdf_classic,
    ar_format_zarr, ar_format_many;

/* The format is found out (formats.c). */
arras_status ar_store_open(ar_source **out, const char *path, const char *inside, arras_error *err);
arras_status ar_store_list(ar_text *out, const char *path, const char *inside, arras_error *err);
arras_status ar_store_create(ar_sink **out, const char *path, const char *inside, arras_dtype dtype,
                             int rank, const int64_t *shape, const ar_sink_options *options,
                             arras_error *err);

/* ---- Boxes of cells, for all formats (box_read.c, box_write.c) ------------------------------- */

/* The `size` bytes of cells of one whole chunk.  scratch: any, to be used again. */
arras_status ar_source_chunk(ar_source *s, const int64_t *chunk, void *cells, size_t size,
                             ar_chunk_bytes *scratch, arras_error *err);
/* Cells lo <= i < hi, as info.dtype, into memory with these strides (bytes; NULL: C order), decoded
 * on `threads` threads. */
arras_status ar_source_read(ar_source *s, const int64_t *lo, const int64_t *hi, void *cells,
                            const int64_t *strides, int threads, arras_error *err);
/* Boxes that cover whole chunks (or end at the end of the array). */
arras_status ar_sink_write(ar_sink *s, const int64_t *lo, const int64_t *hi, const void *cells,
                           const int64_t *strides, int threads, arras_error *err);

#endif
