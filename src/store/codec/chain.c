/* chain.c -- all codecs of a chunk, one after the other: from stored bytes to cells and back. */
#include "store/codec/codec_parts.h"

/* Bytes between two steps: in the input, in a scratch buffer, or in the caller's memory. */
typedef struct {
    const char *at;
    size_t      n;
} span;

void ar_codec_scratch_free(ar_codec_scratch *scratch)
{
    ar_text_free(&scratch->buffers[0]);
    ar_text_free(&scratch->buffers[1]);
}

static bool applied(const ar_codec_chain *chain, uint32_t skipped, int k)
{
    return k < chain->n && !(skipped >> k & 1);
}

/* ---- Decoding -------------------------------------------------------------------------------- */

/* most[k]: the bytes that may come out when step k is undone.  Only the geometry of the chunk
 * counts here, so that no header makes us ask for more memory than that. */
static void find_most(size_t *most, const ar_codec_chain *chain, uint32_t skipped, size_t size)
{
    for (int k = 0; k < chain->n; k++) {
        const ar_codec *codec = chain->steps[k].codec;

        most[k] = size;
        if (applied(chain, skipped, k) && codec->grown)
            size = codec->grown(size);
    }
}

/* What decoding does last; it writes the cells, unless it only looks. */
static int find_last(const ar_codec_chain *chain, uint32_t skipped)
{
    int k = 0;

    while (k < chain->n && !applied(chain, skipped, k))
        k++;
    return k;
}

static arras_status undo(const ar_codec_step *step, int cell_size, ar_text *out, size_t most,
                         span *bytes, arras_error *err)
{
    arras_status status;

    if (step->codec->strip)
        return step->codec->strip(step, &bytes->at, &bytes->n, err);
    status = step->codec->decode(step, cell_size, out, most, bytes->at, bytes->n, err);
    if (status == ARRAS_OK)
        *bytes = (span){ out->data, out->length };
    return status;
}

/* Steps from the last one of the chain down to `end`.  What find_last finds writes to `cells`, if
 * there are any; `size`: their bytes. */
static arras_status undo_all(ar_codec_scratch *scratch, const ar_codec_chain *chain,
                             uint32_t skipped, int end, ar_text *cells, size_t size, span *bytes,
                             arras_error *err)
{
    int    last = cells ? find_last(chain, skipped) : -1;
    size_t most[AR_CODECS];
    int    turn = 0;

    find_most(most, chain, skipped, size);
    for (int k = chain->n - 1; k >= end; k--) {
        ar_text     *out = k == last ? cells : &scratch->buffers[turn];
        arras_status status;

        if (!applied(chain, skipped, k))
            continue;
        status = undo(&chain->steps[k], chain->cell_size, out, most[k], bytes, err);
        if (status != ARRAS_OK)
            return status;
        if (!chain->steps[k].codec->strip)
            turn = !turn;
    }
    return ARRAS_OK;
}

static arras_status check_size(const span *bytes, size_t size, arras_error *err)
{
    if (bytes->n == size)
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EFORMAT, "%zu bytes of cells, %zu expected", bytes->n, size);
}

/* What a step that can be undone in parts makes of so many bytes. */
static size_t encoded_size(const ar_codec_step *step, size_t size)
{
    return step->codec->grown ? step->codec->grown(size) : size;
}

arras_status ar_chain_decode_with(ar_codec_scratch *scratch, const ar_codec_chain *chain,
                                  uint32_t skipped, void *cells, size_t size, const void *stored,
                                  size_t n, arras_error *err)
{
    char             nothing;
    ar_codec_scratch own = { 0 };
    ar_text          out = { .data = size ? cells : &nothing, .capacity = size };
    span             bytes = { stored, n };
    arras_status     status = undo_all(scratch ? scratch : &own, chain, skipped,
                                   find_last(chain, skipped), &out, size, &bytes, err);

    if (status == ARRAS_OK)
        status = check_size(&bytes, size, err);
    if (status == ARRAS_OK && size > 0 && bytes.at != cells)
        memcpy(cells, bytes.at, size);
    ar_codec_scratch_free(&own);
    return status;
}

arras_status ar_chain_decode_apart(ar_decoded *out, ar_codec_scratch *scratch,
                                   const ar_codec_chain *chain, uint32_t skipped, size_t size,
                                   const void *stored, size_t n, arras_error *err)
{
    int          last = find_last(chain, skipped);
    bool         parts = last < chain->n && chain->steps[last].codec->decode_part;
    span         bytes = { stored, n };
    arras_status status =
        undo_all(scratch, chain, skipped, parts ? last + 1 : last, NULL, size, &bytes, err);

    if (status == ARRAS_OK)
        status = check_size(&bytes, parts ? encoded_size(&chain->steps[last], size) : size, err);
    if (status == ARRAS_OK)
        *out =
            (ar_decoded){ parts ? &chain->steps[last] : NULL, chain->cell_size, bytes.at, bytes.n };
    return status;
}

arras_status ar_decoded_copy(const ar_decoded *d, void *to, size_t at, size_t n, bool far,
                             arras_error *err)
{
    if (d->last)
        return d->last->codec->decode_part(d->last, d->cell_size, to, at, n, far, d->bytes, d->size,
                                           err);
    if (far)
        ar_streaming()(to, d->bytes + at, (int64_t)n);
    else
        memcpy(to, d->bytes + at, n);
    return ARRAS_OK;
}

arras_status ar_chain_decode(const ar_codec_chain *chain, uint32_t skipped, void *cells,
                             size_t size, const void *stored, size_t n, arras_error *err)
{
    return ar_chain_decode_with(NULL, chain, skipped, cells, size, stored, n, err);
}

/* Steps write to two buffers in turn, the last one to its place. */
int ar_chain_buffers(const ar_codec_chain *chain, bool encodes)
{
    int writes = 0;

    for (int k = 0; k < chain->n; k++)
        writes += encodes || !chain->steps[k].codec->strip;
    writes = writes > 0 ? writes - 1 : 0;
    return (int)ar_min64(writes, encodes ? 1 : 2);
}

/* ---- Several at once ------------------------------------------------------------------------- */

bool ar_chain_is_shared(const ar_codec_chain *chain)
{
    return chain->n > 0 && chain->steps[chain->n - 1].codec->decode_together;
}

/* What comes out is in the second buffer, for undo_all begins with the first one. */
void ar_chain_begin_together(const ar_codec_chain *chain, size_t size, ar_chain_input *inputs,
                             int count)
{
    int             step = chain->n - 1, n = 0;
    size_t          most[AR_CODECS];
    ar_codec_part   parts[AR_CODEC_TOGETHER];
    ar_chain_input *whose[AR_CODEC_TOGETHER];

    for (int i = 0; i < count && ar_chain_is_shared(chain); i++)
        if (applied(chain, inputs[i].skipped, step) && inputs[i].skipped == inputs[0].skipped) {
            parts[n] = (ar_codec_part){ .in = inputs[i].stored,
                                        .n = inputs[i].n,
                                        .out = &inputs[i].scratch->buffers[1] };
            whose[n++] = &inputs[i];
        }
    if (n < 2)
        return;
    find_most(most, chain, inputs[0].skipped, size);
    chain->steps[step].codec->decode_together(parts, n, most[step]);
    for (int i = 0; i < n; i++)
        if (parts[i].done) {
            whose[i]->skipped |= (uint32_t)1 << step;
            whose[i]->stored = parts[i].out->data;
            whose[i]->n = parts[i].out->length;
        }
}

/* ---- Encoding -------------------------------------------------------------------------------- */

static arras_status apply(const ar_codec_step *step, int cell_size, ar_text *out, span *bytes,
                          arras_error *err)
{
    arras_status status;

    if (!step->codec->encode)
        return ar_fail(err, ARRAS_EINVAL, "%s: it is read, but not written", step->codec->name);
    status = step->codec->encode(step, cell_size, out, bytes->at, bytes->n, err);
    if (status == ARRAS_OK)
        *bytes = (span){ out->data, out->length };
    return status;
}

/* Results go to `out` and one scratch buffer in turn, so that the last one comes to be in `out`. */
arras_status ar_chain_encode_with(ar_codec_scratch *scratch, const ar_codec_chain *chain,
                                  ar_text *out, const void *cells, size_t size, arras_error *err)
{
    ar_codec_scratch own = { 0 };
    ar_text         *between = scratch ? &scratch->buffers[0] : &own.buffers[0];
    span             bytes = { cells, size };
    arras_status     status = ARRAS_OK;

    if (chain->n == 0)
        return ar_codec_copy("none", out, size, cells, size, err);
    for (int k = 0; status == ARRAS_OK && k < chain->n; k++) {
        bool to_out = (chain->n - k) % 2 == 1;

        status = apply(&chain->steps[k], chain->cell_size, to_out ? out : between, &bytes, err);
    }
    ar_codec_scratch_free(&own);
    return status;
}

arras_status ar_chain_encode(const ar_codec_chain *chain, ar_text *out, const void *cells,
                             size_t size, arras_error *err)
{
    return ar_chain_encode_with(NULL, chain, out, cells, size, err);
}
