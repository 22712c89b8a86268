/* codec_parts.c -- room for the results of codecs, and the failures that many of them have. */
#include "store/codec/codec_parts.h"

arras_status ar_codec_room(ar_text *out, size_t n, arras_error *err)
{
    if (!out->data || n > out->capacity) {
        ar_free(out->data); /* nothing in it is worth the copy that growing it would be */
        out->length = out->capacity = 0;
        out->data = ar_realloc(NULL, n ? n : 1, 1);
        if (!out->data)
            return ar_fail_memory(err, n);
        out->capacity = n ? n : 1;
    }
    out->length = n;
    return ARRAS_OK;
}

arras_status ar_codec_copy(const char *name, ar_text *out, size_t most, const void *in, size_t n,
                           arras_error *err)
{
    arras_status status;

    if (n > most)
        return ar_codec_too_long(name, n, most, err);
    status = ar_codec_room(out, n, err);
    if (status == ARRAS_OK && n > 0)
        memcpy(out->data, in, n);
    return status;
}

enum { CHECKSUM = 4 };

arras_status ar_codec_sum_up(ar_text *out, const void *in, size_t n, uint32_t sum, arras_error *err)
{
    arras_status status = ar_codec_room(out, n + CHECKSUM, err);

    if (status != ARRAS_OK)
        return status;
    if (n > 0)
        memcpy(out->data, in, n);
    ar_put_le32(out->data + n, sum);
    return ARRAS_OK;
}

size_t ar_codec_summed(size_t n) { return n > SIZE_MAX - CHECKSUM ? n : n + CHECKSUM; }

arras_status ar_codec_too_long(const char *name, uint64_t n, size_t most, arras_error *err)
{
    return ar_fail(err, ARRAS_EFORMAT, "%s: %" PRIu64 " bytes come out, at most %zu should", name,
                   n, most);
}

arras_status ar_codec_cut_off(const char *name, size_t n, uint64_t needed, arras_error *err)
{
    return ar_fail(err, ARRAS_EFORMAT,
                   "%s: cut off: %zu bytes are stored, at least %" PRIu64 " are needed", name, n,
                   needed);
}

size_t ar_codec_grown(size_t n)
{
    size_t more = n / 8 + 4096;

    return n > SIZE_MAX - more ? SIZE_MAX : n + more;
}
