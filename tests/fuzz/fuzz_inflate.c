/* fuzz_inflate.c -- any bytes as three deflate streams that are decoded at once: what is done comes
 * out of libdeflate too, byte for byte.  The first bytes say how they are cut and how much room
 * they have. */
#include "store/codec/codec.h"
#include "store/codec/inflate_interleaved.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t adler32(const unsigned char *bytes, size_t n)
{
    uint32_t a = 1, b = 0;

    for (size_t i = 0; i < n; i++) {
        a = (a + bytes[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

/* As a zlib stream with the checksum of what came out. */
static void check_done(const ar_inflate_stream *s)
{
    static const ar_codec_chain chain = { .steps = { { &ar_codec_deflate, { 1 }, 1 } },
                                          .n = 1,
                                          .cell_size = 1 };
    unsigned char              *in = malloc(s->used + 6), *out = malloc(s->made + 1);
    uint32_t                    sum = adler32(s->out, s->made);

    if (!in || !out || s->used > s->n || s->made > s->room)
        abort();
    memcpy(in, "\x78\x01", 2);
    memcpy(in + 2, s->in, s->used);
    for (int i = 0; i < 4; i++)
        in[2 + s->used + (size_t)i] = (unsigned char)(sum >> (24 - 8 * i));
    if (ar_chain_decode(&chain, 0, out, s->made, in, s->used + 6, NULL) != ARRAS_OK ||
        memcmp(out, s->out, s->made) != 0)
        abort();
    free(in);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ar_inflate_stream streams[AR_INFLATE_STREAMS];
    size_t            part, room;

    if (size < 4)
        return 0;
    room = (size_t)(data[0] | data[1] << 8);
    part = data[2] < 128 ? size - 3 : (size - 3) / AR_INFLATE_STREAMS; /* the same, or others */
    for (int i = 0; i < AR_INFLATE_STREAMS; i++) {
        unsigned char *in = malloc(part ? part : 1);

        if (!in)
            abort();
        memcpy(in, data + 3 + (data[2] < 128 ? 0 : (size_t)i * part), part);
        streams[i] = (ar_inflate_stream){
            .in = in, .n = part, .out = malloc(room + 1), .room = i == 1 ? room / 2 : room
        };
    }
    ar_inflate_interleaved(streams, data[2] % AR_INFLATE_STREAMS + 1);
    for (int i = 0; i < AR_INFLATE_STREAMS; i++) {
        if (i <= data[2] % AR_INFLATE_STREAMS && streams[i].done)
            check_done(&streams[i]);
        free((void *)(uintptr_t)streams[i].in);
        free(streams[i].out);
    }
    return ar_alloc_live() == 0 ? 0 : (abort(), 0);
}
