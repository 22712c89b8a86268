/* store_zarr.h -- what the files of the Zarr format share.  Nobody else sees it. */
#ifndef AR_STORE_ZARR_H
#define AR_STORE_ZARR_H

#include "store/zarr/json.h"
#include "store/store.h"

/* Of a file with metadata; more is refused. */
#define AR_ZARR_MOST_JSON ((int64_t)64 << 20)

/* ---- What an array's metadata say (store_zarr_v2.c, store_zarr_v3.c) ------------------------- */

/* Chunks within a chunk (v3's sharding): the index has two u64 for each, place and bytes. */
typedef struct {
    bool           used;
    bool           index_first; /* in the file; otherwise last */
    int64_t        shape[ARRAS_MAX_RANK];
    int64_t        per_axis[ARRAS_MAX_RANK]; /* inner chunks along each axis */
    int64_t        inner;                    /* of them all */
    int64_t        index_bytes;              /* as stored */
    ar_codec_chain index_chain;
} ar_zarr_shard;

typedef struct {
    int            version; /* 2 or 3 */
    ar_store_info  info;
    ar_codec_chain chain;
    ar_zarr_shard  shard;
    const char    *prefix;    /* of keys: "" or "c" */
    char           separator; /* '.' or '/' */
    bool           no_fill;   /* version 2: its fill value is null */
} ar_zarr_meta;

/* `attributes` is that of .zattrs, or NULL. */
arras_status ar_zarr_read_v2(ar_zarr_meta *out, const json_t *meta, const json_t *attributes,
                             const char *name, arras_error *err);
arras_status ar_zarr_read_v3(ar_zarr_meta *out, const json_t *meta, const char *name,
                             arras_error *err);
/* What both check at the end: shape, chunks and their bytes. */
arras_status ar_zarr_check(ar_zarr_meta *meta, const char *name, arras_error *err);

/* ---- Parts of metadata ----------------------------------------------------------------------- */

/* A fill value of either version; a cell as it is in memory.  NULL, as null, is 0
 * (store_zarr_fill.c). `swapped`: what base64 holds is in the other byte order. */
arras_status ar_zarr_read_fill(void *cell, arras_dtype dtype, bool swapped, const json_t *value,
                               const char *name, arras_error *err);
/* What is left of such a cell of numbers that are stored with 16 bits, whose bits (v3) are fewer.
 */
arras_status ar_zarr_read_fill_half(void *cell, const json_t *value, const char *name,
                                    arras_error *err);
/* The same as JSON. */
void ar_zarr_print_fill(ar_text *out, arras_dtype dtype, const void *cell);
/* Its bytes, from the lowest, in base64. */
void ar_zarr_print_real_bytes(ar_text *out, double x);

/* One compressor, filter or codec that turns bytes into bytes, by its name and parameters
 * (store_zarr_codecs.c). */
arras_status ar_zarr_add_codec(ar_codec_chain *chain, int version, const char *codec,
                               const json_t *parameters, const char *name, arras_error *err);
/* The first step of all, where cells have 16 bits; f32 comes out. */
void ar_zarr_add_half(ar_codec_chain *chain);
/* Numbers in the other byte order, and another order of axes; of what comes next in the chain. */
arras_status ar_zarr_add_swap(ar_codec_chain *chain, arras_dtype dtype, const char *name,
                              arras_error *err);
arras_status ar_zarr_add_transpose(ar_codec_chain *chain, int rank, const int64_t *order,
                                   const int64_t *shape, const char *name, arras_error *err);
/* The chain for codecs as people write them (NULL: the default); what this version has no name for
 * is refused. */
arras_status ar_zarr_chain(ar_codec_chain *out, int version, const char *codecs, arras_dtype dtype,
                           const char *name, arras_error *err);
/* Step k of such a chain as JSON. */
void ar_zarr_print_codec(ar_text *out, int version, const ar_codec_chain *chain, int k);

const char *ar_zarr_type_v3(arras_dtype dtype, bool half); /* "float32" */

/* ---- Directories (store_zarr_tree.c) --------------------------------------------------------- */

typedef enum { AR_ZARR_NOTHING, AR_ZARR_GROUP, AR_ZARR_ARRAY } ar_zarr_kind;

/* What a directory is.  meta and attributes (v2) are to be released; each may be NULL. */
typedef struct {
    ar_zarr_kind kind;
    int          version;
    json_t      *meta, *attributes;
} ar_zarr_node;

arras_status ar_zarr_node_read(ar_zarr_node *out, int directory, const char *name,
                               arras_error *err);
void         ar_zarr_node_free(ar_zarr_node *node);
arras_status ar_zarr_node_meta(ar_zarr_meta *out, const ar_zarr_node *node, const char *name,
                               arras_error *err);
/* "/a/b" as a path below the directory: "a/b"; "..", "." and empty names are refused. */
arras_status ar_zarr_clean_path(ar_text *out, const char *inside, const char *path,
                                arras_error *err);
arras_status ar_zarr_list(ar_text *out, const char *path, const char *inside, arras_error *err);
/* Path of the only array of a group; the others are named where there are several. */
arras_status ar_zarr_only_array(ar_text *out, const char *path, const char *inside,
                                arras_error *err);

/* The name of a chunk's file, below its array. */
enum { AR_ZARR_KEY = 24 * ARRAS_MAX_RANK };
void ar_zarr_key(char out[AR_ZARR_KEY], const ar_zarr_meta *meta, const int64_t *chunk);

/* ---- Sources and sinks ----------------------------------------------------------------------- */

arras_status ar_zarr_open(ar_source **out, const char *path, const char *inside, arras_error *err);
/* Borrowed; NULL: it has none, or is of another format. */
json_t *ar_zarr_own_attributes(const ar_source *source);
/* Of a source of this format: its metadata, and its directory, which stays open. */
const ar_zarr_meta *ar_zarr_meta_of(const ar_source *source, int *directory);

/* ---- Attributes (store_zarr_attributes.c) ---------------------------------------------------- */

/* Calls `each` for those that are numbers or text. */
arras_status ar_zarr_visit_attributes(json_t *attributes, ar_on_attribute *each, void *context,
                                      arras_error *err);
/* Those a new array of this type gets from a source of any format.  A new reference. */
json_t *ar_zarr_attributes_like(const ar_source *like, const ar_zarr_meta *meta);
/* What is missing in cells that are like those, as a cell; false: nothing says so. */
bool ar_zarr_fill_like(void *cell, const ar_source *like, arras_dtype dtype);
/* Those of version 2, with the fill value as what is missing where xarray means that.  A new
 * reference. */
json_t *ar_zarr_attributes_v2(json_t *attributes, const ar_zarr_meta *meta, json_t *fill);
/* The texts of metadata (store_zarr_print.c); `like` may be NULL. */
void ar_zarr_print_meta(ar_text *out, const ar_zarr_meta *meta, const ar_source *like);
void ar_zarr_print_attributes_v2(ar_text *out, const ar_zarr_meta *meta, const ar_source *like);
arras_status ar_zarr_create(ar_sink **out, const char *path, const char *inside, arras_dtype dtype,
                            int rank, const int64_t *shape, const ar_sink_options *options,
                            arras_error *err);

/* The directories of a key "c/0/1", which others may make at the same moment; and the file. */
arras_status ar_zarr_make_parents(int directory, const char *key, const char *name,
                                  arras_error *err);
arras_status ar_zarr_write_file(int directory, const char *file, bool is_new, const char *bytes,
                                size_t n, const char *name, arras_error *err);
/* More cells of an array that is there (store_zarr_append.c). */
arras_status ar_zarr_append(ar_sink **out, const char *path, const char *inside, int axis,
                            int64_t extra, arras_error *err);

#endif
