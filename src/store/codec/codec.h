/* codec.h -- what is done to the bytes of a chunk before they are stored: compression, shuffling,
 * checksums, byte order, order of axes.  Sees base/ only. */
#ifndef AR_CODEC_H
#define AR_CODEC_H

#include "base/base.h"

enum {
    AR_CODEC_PARAMETERS = 72, /* room for an order and a shape of rank 32 */
    AR_CODECS = 16,
    AR_CODEC_TOGETHER = 3, /* inputs that are decoded at once */
};

/* One step of a chain.  Parameters mean what the codec says: see codec_NAME.c. */
typedef struct ar_codec_step {
    const struct ar_codec *codec;
    int64_t                values[AR_CODEC_PARAMETERS];
    int                    nvalues;
} ar_codec_step;

typedef struct {
    ar_codec_step steps[AR_CODECS]; /* in the order of encoding */
    int           n;
    int           cell_size; /* bytes of a cell as stored */
} ar_codec_chain;

/* One of several inputs that are decoded at once. */
typedef struct {
    const void *in;
    size_t      n;
    ar_text    *out;
    bool        done;
} ar_codec_part;

/* Decoding never writes more than `most` bytes and never reads outside its input, whatever that is;
 * what is malformed ends in EFORMAT with one line.  Results take the place of what was in `out`
 * and are bytes, without a NUL.  Several threads at once. */
typedef struct ar_codec {
    const char *name;
    arras_status (*decode)(const ar_codec_step *step, int cell_size, ar_text *out, size_t most,
                           const void *in, size_t n, arras_error *err);
    /* Only n bytes of those that come out, from byte `at` on, of input that is given whole; far:
     * around the caches, if that can be done (see ar_streaming).  May be NULL. */
    arras_status (*decode_part)(const ar_codec_step *step, int cell_size, void *out, size_t at,
                                size_t n, bool far, const void *in, size_t all, arras_error *err);
    /* May be NULL: read only. */
    arras_status (*encode)(const ar_codec_step *step, int cell_size, ar_text *out, const void *in,
                           size_t n, arras_error *err);
    /* Instead of decode, where what is decoded stands in the input as it is: finds it there, no
     * copy is made.  May be NULL. */
    arras_status (*strip)(const ar_codec_step *step, const char **in, size_t *n, arras_error *err);
    /* Up to AR_CODEC_TOGETHER inputs at once, which is faster than one after the other.  What it
     * does not say is done, for whatever reason, goes to decode.  May be NULL. */
    void (*decode_together)(ar_codec_part *parts, int count, size_t most);
    /* The most bytes that n bytes may become when encoded.  May be NULL: always n. */
    size_t (*grown)(size_t n);
    const char *missing; /* the library this Arras was built without; NULL: all is there */
} ar_codec;

/* Values of codecs that HDF5 has are those of its filters (cd_values). */
extern const ar_codec ar_codec_deflate, /* zlib stream (HDF5); values: level */
    ar_codec_zlib, ar_codec_gzip, ar_codec_zstd, ar_codec_lz4_hdf5, ar_codec_lz4_zarr, ar_codec_lzf,
    ar_codec_shuffle,    /* values: size of elements */
    ar_codec_bitshuffle, /* HDF5 filter: versions, element size, block size, compressor */
    ar_codec_szip, ar_codec_fletcher32, ar_codec_crc32c, ar_codec_blosc_hdf5, ar_codec_blosc_zarr,
    ar_codec_float16, /* the first step only: f32 in half as many bits */
    ar_codec_swap,    /* values: bytes of each number: big-endian stored */
    ar_codec_transpose; /* values: rank, order..., shape of the chunk... */

/* Memory for what is between the steps of a chain.  Whoever decodes or encodes many chunks keeps
 * one for each thread; zero-initialise it to start. */
typedef struct {
    ar_text buffers[2];
} ar_codec_scratch;

void ar_codec_scratch_free(ar_codec_scratch *scratch);

/* From stored bytes to exactly `size` bytes of cells; `skipped`: bit k, step k was not applied.
 * scratch may be NULL. */
arras_status ar_chain_decode_with(ar_codec_scratch *scratch, const ar_codec_chain *chain,
                                  uint32_t skipped, void *cells, size_t size, const void *stored,
                                  size_t n, arras_error *err);
/* Buffers, as long as a chunk, that decoding or encoding fills on the way. */
int          ar_chain_buffers(const ar_codec_chain *chain, bool encodes);
arras_status ar_chain_decode(const ar_codec_chain *chain, uint32_t skipped, void *cells,
                             size_t size, const void *stored, size_t n, arras_error *err);
/* Cells that are decoded, but for a last step which can be done in parts. */
typedef struct {
    const ar_codec_step *last; /* NULL: nothing is left to be done */
    int                  cell_size;
    const char          *bytes; /* of the input, or of the scratch memory */
    size_t               size;
} ar_decoded;

/* As ar_chain_decode_with, for cells that will not lie side by side: ar_decoded_copy puts n bytes
 * of them, from byte `at` on, to their place; far: around the caches, until ar_stream_end. */
arras_status ar_chain_decode_apart(ar_decoded *out, ar_codec_scratch *scratch,
                                   const ar_codec_chain *chain, uint32_t skipped, size_t size,
                                   const void *stored, size_t n, arras_error *err);
arras_status ar_decoded_copy(const ar_decoded *d, void *to, size_t at, size_t n, bool far,
                             arras_error *err);
/* One of several chunks of an array, with a scratch memory of its own. */
typedef struct {
    ar_codec_scratch *scratch;
    uint32_t          skipped;
    const void       *stored;
    size_t            n;
} ar_chain_input;

/* Numbers are stored with 16 bits each. */
static inline bool ar_chain_is_half(const ar_codec_chain *chain)
{
    return chain->n > 0 && chain->steps[0].codec == &ar_codec_float16;
}

/* Whether a thread gains by having several chunks at hand. */
bool ar_chain_is_shared(const ar_codec_chain *chain);
/* Undoes the step that is to be undone first, for up to AR_CODEC_TOGETHER chunks of `size` bytes at
 * once: then what is `stored` stands in the scratch memory, and that step is skipped.  Where it did
 * not succeed all is as it was.  Decoding goes on with ar_chain_decode_with or _apart. */
void ar_chain_begin_together(const ar_codec_chain *chain, size_t size, ar_chain_input *inputs,
                             int count);
/* What was in `out` is replaced. */
arras_status ar_chain_encode_with(ar_codec_scratch *scratch, const ar_codec_chain *chain,
                                  ar_text *out, const void *cells, size_t size, arras_error *err);
arras_status ar_chain_encode(const ar_codec_chain *chain, ar_text *out, const void *cells,
                             size_t size, arras_error *err);
/* "shuffle deflate 4" of cells of `cell_size` bytes; names and levels as people write them.  lz4
 * and blosc are those of HDF5.  After "float16" cells are half as long (see half.h). */
arras_status ar_chain_parse(ar_codec_chain *out, const char *text, int cell_size, arras_error *err);
void         ar_chain_print(char *out, size_t size, const ar_codec_chain *chain);

#endif
