/* store_hdf5.h -- what the files of the HDF5 format share.  Nobody else sees it.
 *
 * libhdf5 runs in one thread at a time: whoever calls it stands between ar_h5_enter and
 * ar_h5_leave.  All functions below expect that, but these two, ar_h5_open and ar_h5_create. */
#ifndef AR_STORE_HDF5_H
#define AR_STORE_HDF5_H

/* Numbered functions (H5Oget_info_by_name2) keep the meaning they have in 1.10. */
#define H5_USE_110_API
#include "store/flat/flat.h"
#include "store/hdf5/hdf5_library.h"
#include "store/store.h"

#include <sys/stat.h>

enum { AR_H5_PATH = 1024 }; /* bytes of a path inside a file that is written */

/* ---- Calls and their failures (store_hdf5_call.c) -------------------------------------------- */

/* Between these two libhdf5 prints nothing; afterwards it does again what others wanted of it. */
void ar_h5_enter(void);
void ar_h5_leave(void);

/* What was said about the last failure by whoever noticed it first: one line. */
typedef struct {
    char text[240];
    bool not_stored; /* not a failure: there is no such chunk */
} ar_h5_reason;

void ar_h5_why(ar_h5_reason *out);
/* A function of ours that libhdf5 called had no memory: that is why what was called failed. */
void ar_h5_no_memory(void);
bool ar_h5_had_no_memory(void);
/* "NAME: WHAT: what libhdf5 says". */
arras_status ar_h5_fail(arras_error *err, arras_status code, const char *name, const char *what);

/* Identifiers that are to be closed, in the order in which they were obtained; at most 16. */
typedef struct {
    hid_t ids[16];
    int   n;
} ar_h5_ids;

/* Hands the identifier on; one that is negative (a failure) is not kept. */
hid_t ar_h5_keep(ar_h5_ids *ids, hid_t id);
/* Why a call failed is still known afterwards. */
void ar_h5_close(ar_h5_ids *ids);

/* ---- Calls of libhdf5 to read and write (store_hdf5_vfile.c) --------------------------------- */

/* A file that is open in a driver of ours. */
typedef struct {
    H5FD_t  pub;
    int     fd;
    haddr_t eoa, eof; /* where what is given out ends, and the file itself */
} ar_h5_vfile;

/* What the usual driver says of itself, and is true of all. */
#define AR_H5_USUAL_FEATURES                                                                       \
    (H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |         \
     H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE)

haddr_t ar_h5_get_eoa(const H5FD_t *file, H5FD_mem_t type);
herr_t  ar_h5_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t eoa);
haddr_t ar_h5_get_eof(const H5FD_t *file, H5FD_mem_t type);
/* Beyond the end of the file there are zeros.  Heaps and links that are broken are not
 * handed on. */
herr_t ar_h5_read_bytes(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                        void *bytes);
/* Registers the driver the first time, when *id is 0; negative: failed. */
hid_t ar_h5_driver(hid_t *id, const H5FD_class_t *driver);

/* ---- How files are read (store_hdf5_reader.c) ------------------------------------------------ */

/* Negative: failed.  Files behind external links are opened in the same way. */
hid_t ar_h5_open_file(const char *path);
/* That of the file in which an object is, whatever links lead to it; good while the object is open.
 * -1: there is none. */
int ar_h5_descriptor(hid_t object);

/* Where a chunk is stored, as the index of its dataset says. */
typedef struct {
    bool     missing; /* it is not stored */
    uint32_t skipped; /* a mask of filters that were not applied */
    int64_t  at, bytes;
} ar_h5_place;

/* Of the chunk whose first cell is this one; false: it can't be found. */
bool ar_h5_find_chunk(ar_h5_place *out, hid_t dataset, const hsize_t *first, ar_h5_reason *why);

/* Refuses a dataset whose cells are in what is no file, or are made of themselves; before anything
 * is asked of its shape (store_hdf5_elsewhere.c). */
arras_status ar_h5_check_elsewhere(hid_t dataset, const char *name, arras_error *err);

/* ---- Types (store_hdf5_type.c) --------------------------------------------------------------- */

typedef struct {
    arras_dtype dtype;      /* ARRAS_NO_DTYPE: not numbers */
    bool        direct;     /* stored cells are those of dtype, up to the order of their bytes */
    int         swap;       /* bytes of the numbers that are in the other order; 0: none are */
    bool        half;       /* numbers with 16 bits, where dtype has 32 */
    size_t      size;       /* bytes of a cell as stored */
    char        stored[64]; /* in words */
} ar_h5_type;

/* What a type in a file means here.  It never fails: what is not known is not numbers. */
void ar_h5_type_of(ar_h5_type *out, hid_t type);
/* The type of cells in memory that cells of `stored` are converted to; negative: failed. */
hid_t ar_h5_type_in_memory(arras_dtype dtype, hid_t stored);
/* The type cells of dtype are stored as, as h5py does it; half: with 16 bits for each number. */
hid_t ar_h5_type_to_store(arras_dtype dtype, bool half);

/* ---- Members of compound types (store_hdf5_member.c) ----------------------------------------- */

typedef struct {
    ar_h5_type type;
    size_t     at;     /* byte of it in a record */
    hid_t      memory; /* a record with this member only, as cells in memory are; to be closed */
    bool       fixed;  /* records are as long in the file */
} ar_h5_member;

/* "x", or "position.x" of a record within a record. */
arras_status ar_h5_member_find(ar_h5_member *out, hid_t stored, const char *member,
                               const char *name, arras_error *err);
/* The names of all members, "x, y, z". */
void ar_h5_members_print(ar_text *out, hid_t type);

/* ---- Filters (store_hdf5_filter.c) ----------------------------------------------------------- */

typedef struct {
    ar_codec_chain chain;
    bool           known; /* the chain is all that was done; otherwise libhdf5 has to decode */
    int            first; /* which step of it is the first filter */
    char           missing[128]; /* a filter that nobody has, in words; "" for none */
    char           codecs[256];
} ar_h5_filters;

arras_status ar_h5_filters_read(ar_h5_filters *out, hid_t plist, const ar_h5_type *type,
                                const char *name, arras_error *err);
/* The codecs of a parsed chain as HDF5 has them. */
void ar_h5_filters_adapt(ar_codec_chain *chain);
/* libhdf5 makes datasets only with filters it knows.  Between these two it takes those of a chain
 * for granted. */
void ar_h5_filters_pretend(const ar_codec_chain *chain, uint32_t *pretended);
void ar_h5_filters_forget(uint32_t pretended);
/* The filters of a chain into the properties of a new dataset. */
arras_status ar_h5_filters_write(hid_t plist, const ar_codec_chain *chain, uint32_t pretended,
                                 const ar_store_info *info, const char *name, arras_error *err);

/* ---- What a file holds (store_hdf5_list.c) --------------------------------------------------- */

typedef struct {
    hid_t       file;
    const char *path; /* of the file, for messages */
} ar_h5_file;

/* The dataset that is meant when none is named; or a refusal that says what there is. */
arras_status ar_h5_only_dataset(ar_text *out, const ar_h5_file *file, arras_error *err);
/* The refusal for a name that is not there. */
arras_status ar_h5_no_dataset(const ar_h5_file *file, const char *inside, arras_error *err);
/* What is in a group, or what a dataset is. */
arras_status ar_h5_list(ar_text *out, const ar_h5_file *file, const char *inside, arras_error *err);

/* ---- Attributes and axes (store_hdf5_sound.c, _attributes.c, _axes.c) ------------------------ */

/* Whether these bytes begin a heap of values of any length (texts, lists) that is not sound:
 * libhdf5 1.10 may look through such a one for ever. */
bool ar_h5_is_broken_heap(int fd, uint64_t at, const void *data, size_t n);
/* Whether these bytes begin a heap of names that is longer than its file: libhdf5 1.10 takes memory
 * for all of it (store_hdf5_header.c). */
bool ar_h5_is_broken_name_heap(const void *data, size_t n, uint64_t file_size);
/* What is damaged in the header of an object that begins here, NULL if nothing is: links into other
 * files whose names do not end, behind which libhdf5 1.10 reads on; chunks without lengths, by
 * which it divides; blocks for which it takes memory without end (store_hdf5_header.c). */
const char *ar_h5_what_is_broken(int fd, int64_t base, uint64_t at);
/* The names of all attributes that can be read without harm, each with its NUL. */
void ar_h5_attributes_find(ar_text *names, hid_t object);

/* "name: value" lines. */
void ar_h5_attributes_print(ar_text *out, hid_t object);
/* Calls `each`, which must not call libhdf5, for all that are numbers or text. */
arras_status ar_h5_attributes_visit(hid_t object, ar_on_attribute *each, void *context,
                                    arras_error *err);
/* All but those that tie a dataset to others in its file; those about the values of cells (a scale,
 * a value for missing ones) only where cells are of the same type. */
arras_status ar_h5_attributes_copy(hid_t to, hid_t from, bool same_cells, const char *name,
                                   arras_error *err);

/* A new one of a dataset with cells of this type. */
arras_status ar_h5_attribute_write(hid_t to, arras_dtype cells, const ar_attribute *a,
                                   const char *name, arras_error *err);

/* An attribute with its values in memory. */
typedef struct {
    ar_h5_ids ids;
    hid_t     id, type, space;
    size_t    size; /* of a value in memory */
    int64_t   count;
    char     *values; /* NULL: none, or too many */
} ar_h5_attribute;

/* False: there is none that can be read.  To be closed either way. */
bool ar_h5_attribute_open(ar_h5_attribute *out, hid_t object, const char *name);
void ar_h5_attribute_close(ar_h5_attribute *attribute);

bool ar_h5_is_scale(hid_t dataset);

void ar_h5_axes_read(ar_store_info *info, hid_t dataset);

/* ---- Reading (store_hdf5_open.c, store_hdf5_read.c) ------------------------------------------ */

typedef struct {
    ar_source base;
    hid_t     file, dataset;
    hid_t     stored_type, memory_type; /* of cells; -1: they need no conversion */
    int       fd;                       /* of the file it is in, for what needs no libhdf5 */
    int64_t   file_size;
    int64_t   offset; /* of cells that lie in one piece; -1: they are not stored */
    int       swap;   /* of these */
    bool      half;
    int       first_filter;             /* which step of the chain that is */
    size_t    chunk_bytes, stored_size; /* of a chunk, and of a cell, as they were encoded */
    size_t    record, member_at; /* of cells that are members of records; record 0: they are not */
    char      member[256];
    bool      fixed;         /* a cell, or record, has as many bytes in the file as its type says */
    bool      whole_filters; /* chunks that end beyond the array are not filtered */
    void     *map;
    size_t    map_size;
    char      missing[128]; /* a filter nobody has: why cells can't be read */
} ar_h5_source;

extern const ar_source_type ar_h5_chunked, ar_h5_chunks_converted, ar_h5_contiguous,
    ar_h5_converted;

arras_status ar_h5_open(ar_source **out, const char *path, const char *inside, arras_error *err);
/* The dataset of a source; -1 where that is of another format. */
hid_t ar_h5_dataset_of(const ar_source *source);

/* ---- Writing (store_hdf5_write.c, store_hdf5_file.c) ----------------------------------------- */

arras_status ar_h5_create(ar_sink **out, const char *path, const char *inside, arras_dtype dtype,
                          int rank, const int64_t *shape, const ar_sink_options *options,
                          arras_error *err);

arras_status ar_h5_append(ar_sink **out, const char *path, const char *inside, int axis,
                          int64_t extra, arras_error *err);

/* Where a draft is written (store_hdf5_driver.c). */
typedef struct {
    int fd;
    int failed; /* why the first write failed that did; 0: none.  None is made after it */
} ar_h5_disk;

/* Flags as of H5Fopen, or H5F_ACC_TRUNC: a new one.  `path` and `disk` have to stay until it is
 * closed. */
hid_t ar_h5_open_draft(const char *path, unsigned flags, ar_h5_disk *disk);

/* An axis of a new dataset, and the scale that was made for it beside it. */
typedef struct ar_h5_axis_use {
    struct ar_h5_axis_use *next;
    int                    axis;
    char                   dataset[AR_H5_PATH], scale[AR_H5_PATH];
} ar_h5_axis_use;

/* A new file beside the one it is going to be; shared by the datasets that are written into it. */
typedef struct ar_h5_draft {
    struct ar_h5_draft *next;
    char               *target;
    ar_text             path;
    ar_h5_disk          disk;
    hid_t               file;
    int                 users, kept; /* datasets that are not complete yet; that are */
    bool                replaces;    /* it began as a copy of the target */
    bool                spoiled;     /* a dataset of the target was begun and not completed */
    struct stat         original;    /* which was this */
    ar_h5_axis_use     *uses;
} ar_h5_draft;

/* The draft of a file, begun if there is none; there must be nothing of that name inside.  NULL:
 * the file is there, and so is what is meant. */
arras_status ar_h5_draft_join(ar_h5_draft **out, const char *path, const char *inside,
                              arras_error *err);
/* A dataset is complete, or was taken out.  With the last one the draft becomes the file, if any is
 * to be kept, or vanishes. */
arras_status ar_h5_draft_leave(ar_h5_draft *draft, bool keep, arras_error *err);
/* "cannot write NAME: why", or what libhdf5 says where the disk is not the reason. */
arras_status ar_h5_draft_fail(arras_error *err, const ar_h5_draft *draft, const char *name,
                              const char *what);

typedef struct ar_h5_sink {
    ar_sink      base;
    ar_h5_draft *draft;
    hid_t        dataset;
    ar_flat      cells; /* that lie in one piece */
    char         inside[AR_H5_PATH];
} ar_h5_sink;

/* ---- Axes of what is written (store_hdf5_axes.c) --------------------------------------------- */

/* Names of the axes of a new dataset as scales, which stand in its group; coordinates come with
 * them.  from: what it is like, -1 when that is no HDF5. */
void ar_h5_axes_write(const ar_h5_sink *sink, hid_t group, hid_t from,
                      const ar_store_info *from_info);
/* Scales that this draft got for axes only make way for a dataset of their name: true when there
 * was such a one, which is gone.  Then the dataset takes its place, if it can be a scale. */
bool ar_h5_scale_yields(ar_h5_draft *draft, const char *inside);
void ar_h5_scale_replace(const ar_h5_sink *sink);

arras_status ar_h5_put(ar_sink *self, const int64_t *chunk, const ar_chunk_bytes *bytes,
                       arras_error *err);

#endif
