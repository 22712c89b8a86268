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
#include "store/codec/codec.h"

#include <stdatomic.h>

/* ---- What an array is ------------------------------------------------------------------------ */

typedef arras_store_info ar_store_info;

/* Bytes of the cells of a whole chunk, or a number with which one can still reckon that no memory
 * has; 0: it has no chunks. */
int64_t ar_chunk_memory(const ar_store_info *info);

/* The stored bytes of one chunk.  `bytes` belongs to whoever holds this and grows as needed. */
typedef struct {
    ar_text          bytes;
    bool             missing; /* not stored: every cell is the fill value */
    bool             part;    /* only those bytes that were asked for */
    uint32_t         skipped; /* bit k: codec k of the chain was not applied to this chunk */
    ar_codec_scratch between; /* memory for decoding */
} ar_chunk_bytes;

void ar_chunk_bytes_free(ar_chunk_bytes *bytes);

/* ---- Sources --------------------------------------------------------------------------------- */

typedef struct arras_source ar_source;

/* So many values of dtype, or so many bytes of text (ARRAS_NO_DTYPE).  Valid during the call. */
typedef struct {
    const char *name;
    arras_dtype dtype;
    int64_t     count;
    const void *values;
} ar_attribute;

typedef arras_status ar_on_attribute(void *context, const ar_attribute *attribute,
                                     arras_error *err);

/* What a format fills in.  Slots that may be empty say so. */
typedef struct {
    /* The stored bytes of the chunk with these numbers along the axes.  Several threads at once. */
    arras_status (*fetch)(ar_source *self, const int64_t *chunk, ar_chunk_bytes *out,
                          arras_error *err);
    /* For chunks without codecs, `size` bytes of cells: n of them, from byte `at` on; all where a
     * part can't be had.  Several threads at once.  May be NULL. */
    arras_status (*fetch_part)(ar_source *self, const int64_t *chunk, int64_t size, int64_t at,
                               int64_t n, ar_chunk_bytes *out, arras_error *err);
    /* Instead of fetch and codecs: cells lo <= i < hi, in C order, as dtype.  May be NULL. */
    arras_status (*read_box)(ar_source *self, const int64_t *lo, const int64_t *hi, void *cells,
                             arras_error *err);
    /* A contiguous array of native cells in memory (mapped); NULL where it is not.  May be NULL. */
    const void *(*mapped)(ar_source *self);
    /* Instead of fetch and codecs, where chunks are made of those of another source: the `size`
     * bytes of cells of one whole chunk (see ar_source_chunk).  Several threads at once.  May be
     * NULL. */
    arras_status (*read_chunk)(ar_source *self, const int64_t *chunk, void *cells, size_t size,
                               ar_chunk_bytes *scratch, arras_error *err);
    /* Attributes as text lines "name: value", for info; may be NULL. */
    arras_status (*describe)(ar_source *self, ar_text *out, arras_error *err);
    /* Calls `each` for all attributes that are numbers or text; may be NULL. */
    arras_status (*attributes)(ar_source *self, ar_on_attribute *each, void *context,
                               arras_error *err);
    void (*close)(ar_source *self);
} ar_source_type;

/* Cells that are members of stored records. */
typedef struct {
    size_t bytes, at; /* of a record, 0: cells are stored as they are; where in it the cell is */
    bool   swapped;   /* the cell is in the other byte order */
    bool   half;      /* its numbers have 16 bits */
} ar_record;

struct arras_source {
    const ar_source_type *type;
    ar_store_info         info;
    ar_codec_chain        chain; /* from cells to stored bytes; decoding goes backwards */
    ar_record             record;
    char                  name[512]; /* for messages: "sea.h5:/ssh" */
    ar_source            *inner;     /* what it is made of, and closes; NULL: of a file */
    _Atomic int64_t       fetched, fetched_bytes; /* stored chunks, so far */
    struct ar_read_log   *log;                    /* of boxes that users asked for; NULL: none */
};

/* ---- Sinks ----------------------------------------------------------------------------------- */

typedef arras_sink_options ar_sink_options;

typedef struct arras_sink ar_sink;

/* Memory for what is written behind: less is of no use, more neither. */
enum { AR_WRITE_BEHIND_LEAST = 16 << 20, AR_WRITE_BEHIND_MOST = 32 << 20 };

typedef struct {
    /* Stores the bytes of a whole chunk, at most once for each.  Several threads at once. */
    arras_status (*put)(ar_sink *self, const int64_t *chunk, const ar_chunk_bytes *bytes,
                        arras_error *err);
    /* Instead, for arrays that are not chunked: cells lo <= i < hi in C order.  May be NULL. */
    arras_status (*write_box)(ar_sink *self, const int64_t *lo, const int64_t *hi,
                              const void *cells, arras_error *err);
    /* From now on cells go to the disk while their writer goes on, which takes so many bytes of
     * memory; nothing changes where that can't be done.  May be NULL. */
    arras_status (*write_behind)(ar_sink *self, int64_t memory, arras_error *err);
    /* Memory of the sink's own in which a box may be computed, in C order, that write_box will be
     * called with: so no copy is made.  NULL: there is none just now.  May be NULL. */
    void *(*reserve_write_buffer)(ar_sink *self, const int64_t *lo, const int64_t *hi);
    /* Whether all cells of a box are there, from an earlier process.  May be NULL: none are. */
    bool (*has_box)(ar_sink *self, const int64_t *lo, const int64_t *hi);
    /* All is written: the array appears under its name, whole.  Releases the sink either way. */
    arras_status (*finish)(ar_sink *self, arras_error *err);
    /* Nothing is left of it.  Releases the sink. */
    void (*abandon)(ar_sink *self);
} ar_sink_type;

/* An array that is made longer: what it was, which the sink closes. */
typedef struct {
    ar_source *source; /* NULL: the array is new */
    int        axis;
    int64_t    length; /* of that axis */
} ar_sink_before;

struct arras_sink {
    const ar_sink_type *type;
    ar_store_info       info;
    ar_codec_chain      chain;
    char                name[512];
    ar_sink_before      before;
    bool                stores_all;    /* of chunks that are not there nobody says what they are */
    bool                wants_fill_chunks; /* chunks of nothing but the fill value are put too */
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
    /* More cells along an axis of an array that is there.  May be NULL. */
    arras_status (*append)(ar_sink **out, const char *path, const char *inside, int axis,
                           int64_t extra, arras_error *err);
} ar_format;

extern const ar_format ar_format_npy, ar_format_raw, ar_format_hdf5, ar_format_netcdf_classic,
    ar_format_zarr, ar_format_many;

/* The format is found out (formats.c). */
arras_status ar_store_open(ar_source **out, const char *path, const char *inside, arras_error *err);
/* The same; cells that are packed or missing are read as the options say (store_packed.c). */
arras_status ar_store_open_with(ar_source **out, const char *path, const char *inside,
                                const arras_source_options *options, arras_error *err);
/* Whether an attribute says something about the numbers that are stored (a scale, a value for what
 * is missing), which is true of no others. */
bool ar_attribute_is_about_cells(const char *name);
/* Names for the axes of a new array called `name` that is like another one. */
void ar_axes_like(ar_store_info *info, const char *name, const ar_store_info *like);
/* What is in the file, of a source that unpacks it; otherwise the source itself. */
ar_source   *ar_source_stored(const ar_source *source);
arras_status ar_store_list(ar_text *out, const char *path, const char *inside, arras_error *err);
arras_status ar_store_create(ar_sink **out, const char *path, const char *inside, arras_dtype dtype,
                             int rank, const int64_t *shape, const ar_sink_options *options,
                             arras_error *err);

/* A sink whose chunks survive the process: made again with the same identity, it has those that are
 * there.  It is a directory beside the file, until it is finished; abandoned it stays, if anything
 * is in it.  period: seconds after which chunks are on disk for good (store_partial.c). */
arras_status ar_store_create_partial(ar_sink **out, const char *path, const char *inside,
                                     arras_dtype dtype, int rank, const int64_t *shape,
                                     const ar_sink_options *options, const char *identity,
                                     double period, arras_error *err);
/* Removes that directory where its process was killed after the array had got its name.  Whoever
 * makes a sink does so first; replaces: the file may have been there before. */
void ar_store_tidy(const char *path, const char *inside, bool replaces);
/* That, and drafts, for a file that is replaced by other means than a sink. */
void ar_store_tidy_file(const char *path);

arras_status ar_store_append(ar_sink **out, const char *path, const char *inside, int axis,
                             int64_t extra, arras_error *err);
/* Type, shape and codecs of a sink are those of `before`, with so many more cells along an axis.
 * On success the sink owns it. */
arras_status ar_sink_extend(ar_sink *out, ar_source *before, int axis, int64_t extra,
                            arras_error *err);

/* Removes all drafts of arrays that are not finished.  May be called by a signal handler; the
 * process must end then (drafts.c). */
void ar_drafts_discard(void);

/* ---- What users ask for (read_log.c) --------------------------------------------------------- */

typedef struct ar_read_log ar_read_log;

/* From now on boxes are appended to this file; path NULL: no more. */
arras_status ar_source_log(ar_source *source, const char *path, arras_error *err);
void         ar_source_log_close(ar_source *source); /* fine without one */
/* Where there is a log, and the box is not empty. */
arras_status ar_source_note(const ar_source *source, const int64_t *lo, const int64_t *hi,
                            arras_error *err);

/* ---- Boxes of cells (boxes.c) ---------------------------------------------------------------- */

typedef struct {
    int     rank;
    int64_t lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];
} ar_box;

/* Strides in bytes of cells in C order. */
void ar_strides_dense(int64_t *out, int rank, const int64_t *shape, size_t size);
/* Copies the cells of `box` between two places, each given by the address of the cell at [0, 0,
 * ...] of the array, which need not exist, and strides in bytes. */
void ar_box_copy(const ar_box *box, size_t size, char *to, const int64_t *to_strides,
                 const char *from, const int64_t *from_strides);
/* The address the cell at [0, 0, ...] would have where the cell at `lo` is at `first`. */
char *ar_box_origin(const void *first, int rank, const int64_t *lo, const int64_t *strides);

/* ---- Boxes of cells, for all formats (box_read.c, box_write.c) ------------------------------- */

/* The `size` bytes of cells of one whole chunk.  scratch: any, to be used again. */
arras_status ar_source_chunk(ar_source *s, const int64_t *chunk, void *cells, size_t size,
                             ar_chunk_bytes *scratch, arras_error *err);
/* Memory for a chunk on its way, to be used for the next one too.  Zero-initialise one to start. */
typedef struct {
    ar_chunk_bytes bytes; /* as it is stored */
    char          *cells;
    size_t         room; /* bytes at `cells` */
} ar_chunk_scratch;

void ar_chunk_scratch_free(ar_chunk_scratch *scratch);

/* For all that one thread decodes at once. */
typedef struct {
    ar_chunk_scratch each[AR_CODEC_TOGETHER];
} ar_chunk_scratches;

void ar_chunk_scratches_free(ar_chunk_scratches *scratches);
/* The same as ar_source_chunk, wherever in the scratch memory the cells come to be; they are valid
 * until it is used again. */
arras_status ar_source_chunk_view(const char **cells, ar_source *s, const int64_t *chunk,
                                  size_t size, ar_chunk_scratch *scratch, arras_error *err);
/* The same where only the n bytes from byte `at` on are needed: the others may be missing. */
arras_status ar_source_chunk_part(const char **cells, ar_source *s, const int64_t *chunk,
                                  size_t size, size_t at, size_t n, ar_chunk_scratch *scratch,
                                  arras_error *err);
/* Chunks that go to where an array with these strides (bytes) has their cells. */
typedef struct {
    const int64_t *strides;
    size_t         chunk_bytes;
    bool           far; /* they are not read soon, and may go around the caches */
} ar_spread;

typedef struct {
    int64_t           chunk[ARRAS_MAX_RANK];
    char             *to;      /* its first cell */
    ar_chunk_scratch *scratch; /* of its own */
    arras_status      status;  /* what came of it */
    arras_error       err;
} ar_chunk_job;

/* How many a thread should take at once: up to AR_CODEC_TOGETHER, each with memory for itself as it
 * is and as it is stored. */
int ar_source_together(const ar_source *s);
/* Up to AR_CODEC_TOGETHER of them. */
void ar_source_chunks_spread(ar_source *s, ar_chunk_job *jobs, int count, const ar_spread *to);
/* Cells lo <= i < hi, as info.dtype, into memory with these strides (bytes; NULL: C order), decoded
 * on `threads` threads. */
arras_status ar_source_read(ar_source *s, const int64_t *lo, const int64_t *hi, void *cells,
                            const int64_t *strides, int threads, arras_error *err);
/* Boxes that cover whole chunks (or end at the end of the array; or begin where the cells begin
 * that are new). */
arras_status ar_sink_write(ar_sink *s, const int64_t *lo, const int64_t *hi, const void *cells,
                           const int64_t *strides, int threads, arras_error *err);
/* The same by the calling thread, with memory that it has. */
arras_status ar_sink_write_with(ar_sink *s, const int64_t *lo, const int64_t *hi, const void *cells,
                                const int64_t *strides, ar_chunk_scratch *scratch,
                                arras_error *err);

/* Bytes that one thread has in hand, beside cells of others, while it decodes or encodes a chunk:
 * as it is stored, between two codecs, and as cells.  They add up with threads. */
int64_t ar_source_in_hand(const ar_source *s);
int64_t ar_sink_in_hand(const ar_sink *s);
/* So many threads may have that in hand at once within so many bytes; 1 at least. */
int ar_scratches_within(int64_t memory, int64_t in_hand, int threads);

/* ---- Memory for chunks on their way (scratches.c) -------------------------------------------- */

/* For so many threads at a time.  Whoever has taken it decodes or encodes, waiting for nobody, and
 * gives it back. */
typedef struct ar_scratches ar_scratches;

arras_status        ar_scratches_new(ar_scratches **out, int n, arras_error *err);
void                ar_scratches_free(ar_scratches *h); /* NULL is fine */
ar_chunk_scratches *ar_scratches_take(ar_scratches *h); /* waits until there is one */
void                ar_scratches_give(ar_scratches *h, ar_chunk_scratches *taken);

/* ---- Decoded chunks (chunk_cache.c) ---------------------------------------------------------- */

/* Keeps decoded chunks of sources while there is room, so that what is read in overlapping boxes is
 * decoded once. */
typedef struct ar_chunk_cache ar_chunk_cache;

/* hands: with which chunks are decoded. */
arras_status ar_chunk_cache_new(ar_chunk_cache **out, int64_t bytes, ar_scratches *hands,
                                arras_error *err);
void         ar_chunk_cache_free(ar_chunk_cache *cache); /* NULL is fine */
/* Cells lo <= i < hi into memory given by the address of cell [0, 0, ...], by the calling thread.
 * Several threads at once. */
arras_status ar_chunk_cache_read(ar_chunk_cache *cache, ar_source *source, const int64_t *lo,
                                 const int64_t *hi, char *origin, const int64_t *strides,
                                 arras_error *err);
/* Decodes some chunks of a box that will be read soon, so that after so many calls all are there.
 * Waits for nobody; where there is no room nothing is done. */
arras_status ar_chunk_cache_ahead(ar_chunk_cache *cache, ar_source *source, const int64_t *lo,
                                  const int64_t *hi, int64_t calls, arras_error *err);

/* ---- Decoded rows of chunks (chunk_bands.c) -------------------------------------------------- */

/* All chunks with the same number along axis 0 are a band.  Bands are decoded to where an array in
 * C order would have their cells, in a ring of n places: boxes that follow each other along axis 0
 * can be used where they are, and each chunk is decoded once. */
typedef struct ar_chunk_bands ar_chunk_bands;

/* Bytes of one band; INT64_MAX: too many. */
int64_t ar_chunk_band_bytes(const ar_store_info *info);
/* Of a source in chunks without read_box, which must stay open, with axes and cells; together:
 * chunks that a thread decodes at once, 1 <= together <= ar_source_together; hands: with which it
 * does. */
arras_status ar_chunk_bands_new(ar_chunk_bands **out, ar_source *source, int64_t n, int together,
                                ar_scratches *hands, arras_error *err);
void         ar_chunk_bands_free(ar_chunk_bands *b); /* NULL is fine */
int          ar_chunk_bands_together(const ar_chunk_bands *b);
/* Whether there are places enough for a box.  Others must not be taken. */
bool           ar_chunk_bands_fit(const ar_chunk_bands *b, const int64_t *lo, const int64_t *hi);
const int64_t *ar_chunk_bands_strides(const ar_chunk_bands *b);
/* The address that cell [0, 0, ...] has for a box which is taken; NULL: it lies in two pieces, at
 * the end and at the beginning of the ring. */
char *ar_chunk_bands_origin(const ar_chunk_bands *b, const int64_t *lo, const int64_t *hi);
/* All cells of a box are there until it is given back.  Waits for who has other boxes in its
 * places: whoever takes boxes of several sources takes them in the same order as all others, and
 * one of each.  Several threads at once. */
arras_status ar_chunk_bands_take(ar_chunk_bands *b, const int64_t *lo, const int64_t *hi,
                                 arras_error *err);
void         ar_chunk_bands_give(ar_chunk_bands *b, const int64_t *lo, const int64_t *hi);
/* Takes a box, copies it to memory given by the address of cell [0, 0, ...], and gives it back. */
arras_status ar_chunk_bands_read(ar_chunk_bands *b, const int64_t *lo, const int64_t *hi,
                                 char *origin, const int64_t *strides, arras_error *err);
/* As ar_chunk_cache_ahead. */
arras_status ar_chunk_bands_ahead(ar_chunk_bands *b, const int64_t *lo, const int64_t *hi,
                                  int64_t calls, arras_error *err);

/* ---- Whole sinks (sink_boxes.c) -------------------------------------------------------------- */

/* Cells of a box in C order. */
typedef arras_status ar_box_reader(void *context, const ar_box *box, char *cells, arras_error *err);

/* Writes all of a sink in boxes of whole chunks, each of at most so many bytes unless a chunk is
 * larger. */
arras_status ar_sink_write_all(ar_sink *sink, int64_t memory, int threads, ar_box_reader *read,
                               void *context, arras_error *err);

#endif
