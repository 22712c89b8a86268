/* test_codecs.c -- codecs and chains of them: back and forth, known bytes, what is damaged, what is
 * cut off, too little memory; chains as text. */
#include "store/codec/codec.h"
#include "test.h"

#include <stdlib.h>

/* ---- Chains, data ---------------------------------------------------------------------------- */

static ar_codec_chain chain_of(const ar_codec *codec, int cell_size, int n, const int64_t *values)
{
    ar_codec_chain chain = { .n = 1, .cell_size = cell_size };

    chain.steps[0].codec = codec;
    chain.steps[0].nvalues = n;
    for (int i = 0; i < n; i++)
        chain.steps[0].values[i] = values[i];
    return chain;
}

#define CHAIN(codec, cell_size, ...)                                                               \
    chain_of(&(codec), cell_size, sizeof((int64_t[]){ __VA_ARGS__ }) / 8,                          \
             (int64_t[]){ __VA_ARGS__ })

static ar_codec_chain parsed(const char *text, int cell_size)
{
    ar_codec_chain chain = { 0 };
    arras_error    err = { 0 };

    CHECK_EQ_INT(ar_chain_parse(&chain, text, cell_size, &err), ARRAS_OK);
    CHECK_STR(err.text, "");
    return chain;
}

/* A codec without its library says so; everything else is tested without it. */
static bool is_there(const char *text)
{
    ar_codec_chain chain;
    arras_error    err = { 0 };

    if (ar_chain_parse(&chain, text, 4, &err) == ARRAS_OK)
        return true;
    CHECK_HAS(err.text, "this Arras was built without");
    return false;
}

static uint32_t random_state = 1;

static uint32_t random_number(void)
{
    random_state = random_state * 1664525 + 1013904223;
    return random_state >> 8;
}

/* kind 0: noise; 1: slow growth, as measured data has it; 2: zeros. */
static void fill(unsigned char *data, size_t n, int kind)
{
    for (size_t i = 0; i < n; i++)
        data[i] =
            (unsigned char)(kind == 0   ? random_number()
                            : kind == 1 ? (i % 4 == 0 ? i / 16 + random_number() % 2 : i >> 10)
                                        : 0);
}

/* ---- Back and forth -------------------------------------------------------------------------- */

/* In pieces, the last step too where it can be done so; from any byte on. */
static bool comes_apart(const ar_codec_chain *chain, const unsigned char *data, size_t n,
                        const ar_text *stored, size_t piece, bool far)
{
    ar_codec_scratch scratch = { 0 };
    unsigned char   *back = malloc(n + 1);
    ar_decoded       decoded;
    arras_status     status =
        ar_chain_decode_apart(&decoded, &scratch, chain, 0, n, stored->data, stored->length, NULL);
    bool good;

    back[n] = 77;
    for (size_t at = 0; status == ARRAS_OK && at < n; at += piece) {
        size_t some = n - at < piece ? n - at : piece;

        status = ar_decoded_copy(&decoded, back + at, at, some, far, NULL);
    }
    ar_stream_end();
    good = CHECK_EQ_INT(status, ARRAS_OK) && CHECK(memcmp(back, data, n) == 0) &&
           CHECK_EQ_INT(back[n], 77);
    ar_codec_scratch_free(&scratch);
    free(back);
    return good;
}

static bool comes_back(const ar_codec_chain *chain, const unsigned char *data, size_t n)
{
    ar_text        out = { 0 };
    unsigned char *back = malloc(n + 1);
    arras_error    err = { 0 };
    bool           good;

    back[n] = 77;
    good = CHECK_EQ_INT(ar_chain_encode(chain, &out, data, n, &err), ARRAS_OK) &&
           CHECK_EQ_INT(ar_chain_decode(chain, 0, back, n, out.data, out.length, &err), ARRAS_OK) &&
           CHECK(memcmp(back, data, n) == 0) && CHECK_EQ_INT(back[n], 77) &&
           comes_apart(chain, data, n, &out, 16 * (size_t)chain->cell_size, false) &&
           comes_apart(chain, data, n, &out, 64 * (size_t)chain->cell_size, true) &&
           comes_apart(chain, data, n, &out, 1001, true);
    if (!good)
        printf("    %s\n", err.text);
    free(back);
    ar_text_free(&out);
    return good;
}

static const char *const texts[] = {
    "none",
    "deflate 1",
    "zlib 9",
    "gzip 12",
    "zstd",
    "zstd -5",
    "lz4",
    "lzf",
    "shuffle",
    "shuffle 3",
    "bitshuffle",
    "bitshuffle lz4",
    "bitshuffle zstd 3",
    "fletcher32",
    "crc32c",
    "blosc",
    "blosc zstd 9",
    "shuffle deflate 4 fletcher32",
    "fletcher32, shuffle, lz4, crc32c",
    "fletcher32 crc32c",
    "shuffle zstd 1 deflate 1 lzf gzip 1",
};

static void back_and_forth(void)
{
    static const size_t  counts[] = { 0, 1, 7, 8, 15, 16, 33, 1000, 5003 };
    static unsigned char data[5003 * 16];

    for (size_t t = 0; t < AR_COUNT(texts); t++)
        for (int cell = 1; is_there(texts[t]) && cell <= 16; cell++)
            for (size_t c = 0; c < AR_COUNT(counts); c++) {
                ar_codec_chain chain;

                CASE("%s, %zu cells of %d bytes", texts[t], counts[c], cell);
                chain = parsed(texts[t], cell);
                for (int kind = 0; kind < 3; kind++) {
                    fill(data, counts[c] * (size_t)cell, kind);
                    if (!comes_back(&chain, data, counts[c] * (size_t)cell))
                        return;
                }
            }
}

static void szip_back_and_forth(void)
{
    static unsigned char data[8 * 3000];
    static const int64_t lines[] = { 1, 31, 32, 100, 250 }, options[] = { 128 | 32, 128 | 4, 32 };

    for (int cell = 1; is_there("szip") && cell <= 8; cell *= 2)
        for (size_t l = 0; l < AR_COUNT(lines); l++)
            for (size_t o = 0; o < AR_COUNT(options); o++)
                for (int64_t block = 2; block <= 32; block *= 4) {
                    ar_codec_chain chain =
                        CHAIN(ar_codec_szip, cell, options[o] | 8, block, 8 * cell, lines[l]);

                    CASE("%d bytes, lines of %d, blocks of %d", cell, (int)lines[l], (int)block);
                    for (int kind = 0; kind < 3; kind++) {
                        fill(data, sizeof data, kind);
                        comes_back(&chain, data, (size_t)(1000 * cell));
                        comes_back(&chain, data, (size_t)(37 * cell));
                    }
                }
}

typedef struct {
    int     rank;
    int64_t order[4], shape[4];
} turning;

static const turning turnings[] = {
    { 0, { 0 }, { 0 } },                       /* one cell */
    { 1, { 0 }, { 9 } },                       /* nothing to do */
    { 2, { 1, 0 }, { 70, 130 } },              /* whole tiles and rests */
    { 2, { 1, 0 }, { 1, 5 } },                 /* an axis of 1 */
    { 3, { 2, 1, 0 }, { 17, 5, 9 } },          /* F order */
    { 3, { 1, 0, 2 }, { 4, 6, 5 } },           /* rows stay whole */
    { 3, { 2, 0, 1 }, { 3, 4, 33 } },          /* two axes stay together */
    { 4, { 3, 1, 2, 0 }, { 2, 3, 4, 5 } },     /* inner and outer change places */
    { 4, { 1, 3, 0, 2 }, { 16, 16, 16, 16 } }, /* far strides */
};

static ar_codec_chain chain_of_turning(const turning *t, int cell_size)
{
    int64_t values[9] = { t->rank };

    for (int a = 0; a < t->rank; a++) {
        values[1 + a] = t->order[a];
        values[1 + t->rank + a] = t->shape[a];
    }
    return chain_of(&ar_codec_transpose, cell_size, 1 + 2 * t->rank, values);
}

/* Which cell of the chunk is stored as number i. */
static int64_t cell_stored(const turning *t, int64_t i)
{
    int64_t index[4] = { 0 }, at = 0;

    for (int a = t->rank - 1; a >= 0; a--) {
        index[t->order[a]] = i % t->shape[t->order[a]];
        i /= t->shape[t->order[a]];
    }
    for (int a = 0; a < t->rank; a++)
        at = at * t->shape[a] + index[a];
    return at;
}

static void check_turning(const turning *t, size_t cell)
{
    static unsigned char data[16 * 16 * 16 * 16 * 70];
    ar_codec_chain       chain = chain_of_turning(t, (int)cell);
    ar_text              out = { 0 };
    size_t               count = 1;
    bool                 same = true;

    for (int a = 0; a < t->rank; a++)
        count *= (size_t)t->shape[a];
    fill(data, count * cell, 0);
    CHECK_EQ_INT(ar_chain_encode(&chain, &out, data, count * cell, NULL), ARRAS_OK);
    for (size_t i = 0; i < count; i++)
        same &= memcmp(out.data + i * cell, data + (size_t)cell_stored(t, (int64_t)i) * cell,
                       cell) == 0;
    CHECK(same);
    comes_back(&chain, data, count * cell);
    ar_text_free(&out);
}

static void transposes(void)
{
    static const size_t cells[] = { 1, 2, 3, 4, 8, 12, 16, 70 };

    for (size_t k = 0; k < AR_COUNT(turnings); k++)
        for (size_t c = 0; c < AR_COUNT(cells); c++) {
            CASE("case %zu, cells of %zu", k, cells[c]);
            check_turning(&turnings[k], cells[c]);
        }
}

/* ---- Known bytes ----------------------------------------------------------------------------- */

#define STEP(codec, ...)                                                                           \
    {                                                                                              \
        &ar_codec_##codec, { __VA_ARGS__ }, sizeof((int64_t[]){ __VA_ARGS__ }) / 8                 \
    }

static const struct {
    const char   *what;
    ar_codec_step step;
    const char   *plain, *stored; /* in hexadecimal */
    bool          both_ways;
} known_bytes[] = {
    { "of 123456789", STEP(crc32c, 0), "313233343536373839", "313233343536373839 839206e3", true },
    { "even", STEP(fletcher32, 0), "0102030405060708", "0102030405060708 1410281e", true },
    { "odd", STEP(fletcher32, 0), "ff", "ff 00ff00ff", true },
    { "turned", STEP(fletcher32, 0), "0102030405060708", "0102030405060708 10141e28", false },
    { "of zeros", STEP(fletcher32, 0), "0000", "0000 00000000", true },
    { "of ones is not 0", STEP(fletcher32, 0), "ffff", "ffff ffffffff", true },
    { "with a rest", STEP(shuffle, 4), "0102030411121314ff", "0111021203130414 ff", true },
    { "bytes", STEP(bitshuffle, 0, 4, 1, 0, 0), "0300000000000080", "0101000000000080", true },
    { "words", STEP(bitshuffle, 0, 4, 2, 0, 0), "01000100010001000100010001008002",
      "7f00000000000080 0080000000000000", true },
    { "a copy onto itself", STEP(lzf, 0), "616262626262626262", "016162 a000", false },
    { "a long copy", STEP(lzf, 0), "41414141414141414141", "0041 e00000", false },
    { "a block as it is", STEP(lz4_hdf5, 0), "0102", "0000000000000002 00000002 00000002 0102",
      true },
    { "two blocks", STEP(lz4_hdf5, 2), "010203",
      "0000000000000003 00000002 00000002 0102 00000001 03", true },
    { "nothing", STEP(lz4_hdf5, 0), "", "0000000000000000 00000000", true },
    { "of Zarr", STEP(lz4_zarr, 1), "010203", "03000000 30010203", true },
    { "stored", STEP(deflate, 6), "616263", "7801 01 0300 fcff 616263 024d0127", false },
    { "of 4", STEP(swap, 4), "0102030411121314", "0403020114131211", true },
    { "of 3", STEP(swap, 3), "010203", "030201", true },
};

/* Gives the number of bytes; spaces are for readers. */
static size_t from_hex(unsigned char *out, const char *hex)
{
    size_t n = 0;

    for (; *hex; hex += 2) {
        unsigned value = 0;

        hex += *hex == ' ';
        sscanf(hex, "%2x", &value);
        out[n++] = (unsigned char)value;
    }
    return n;
}

static void knows_bytes(void)
{
    for (size_t k = 0; k < AR_COUNT(known_bytes); k++) {
        ar_codec_chain chain = { .steps = { known_bytes[k].step }, .n = 1, .cell_size = 1 };
        unsigned char  plain[100], stored[100], cells[100];
        size_t         n = from_hex(plain, known_bytes[k].plain);
        size_t         m = from_hex(stored, known_bytes[k].stored);
        arras_error    err = { 0 };
        ar_text        out = { 0 };

        CASE("%s: %s", chain.steps[0].codec->name, known_bytes[k].what);
        if (chain.steps[0].codec->missing) {
            CHECK_EQ_INT(ar_chain_decode(&chain, 0, cells, n, stored, m, &err), ARRAS_EFORMAT);
            CHECK_HAS(err.text, "this Arras was built without");
            continue;
        }
        CHECK_EQ_INT(ar_chain_decode(&chain, 0, cells, n, stored, m, &err), ARRAS_OK);
        CHECK_STR(err.text, "");
        CHECK(memcmp(cells, plain, n) == 0);
        if (known_bytes[k].both_ways) {
            CHECK_EQ_INT(ar_chain_encode(&chain, &out, plain, n, &err), ARRAS_OK);
            CHECK(out.length == m && memcmp(out.data, stored, m) == 0);
        }
        ar_text_free(&out);
    }
}

static void gzip_members(void)
{
    ar_codec_chain chain = CHAIN(ar_codec_gzip, 1, 6);
    ar_text        a = { 0 }, b = { 0 };
    arras_error    err = { 0 };
    char           cells[6];

    if (!is_there("gzip"))
        return;
    CHECK_EQ_INT(ar_chain_encode(&chain, &a, "abc", 3, &err), ARRAS_OK);
    CHECK_EQ_INT(ar_chain_encode(&chain, &b, "def", 3, &err), ARRAS_OK);
    ar_text_put(&a, b.data, b.length);
    ar_text_put(&a, "\0\0\0", 3); /* padding */
    CHECK_EQ_INT(ar_chain_decode(&chain, 0, cells, 6, a.data, a.length, &err), ARRAS_OK);
    CHECK(memcmp(cells, "abcdef", 6) == 0);
    CHECK_EQ_INT(ar_chain_decode(&chain, 0, cells, 5, a.data, a.length, &err), ARRAS_EFORMAT);
    CHECK_EQ_INT(ar_chain_decode(&chain, 0, cells, 7, a.data, a.length, &err), ARRAS_EFORMAT);
    ar_text_put(&a, "x", 1);
    CHECK_EQ_INT(ar_chain_decode(&chain, 0, cells, 6, a.data, a.length, &err), ARRAS_EFORMAT);
    ar_text_free(&a);
    ar_text_free(&b);
}

static void skips_steps(void)
{
    ar_codec_chain chain = parsed("shuffle crc32c fletcher32", 2);
    ar_codec_chain shuffled = parsed("shuffle", 2);
    ar_text        out = { 0 };
    char           cells[6];

    CHECK_EQ_INT(ar_chain_decode(&chain, 7, cells, 6, "abcdef", 6, NULL), ARRAS_OK);
    CHECK(memcmp(cells, "abcdef", 6) == 0);
    CHECK_EQ_INT(ar_chain_decode(&chain, 6, cells, 6, "acebdf", 6, NULL), ARRAS_OK);
    CHECK(memcmp(cells, "abcdef", 6) == 0);
    CHECK_EQ_INT(ar_chain_encode(&shuffled, &out, "abcdef", 6, NULL), ARRAS_OK);
    CHECK(memcmp(out.data, "acebdf", 6) == 0);
    ar_text_free(&out);
}

/* ---- What is wrong --------------------------------------------------------------------------- */

/* A refusal of one line, or a whole chunk: nothing else, whatever the bytes are. */
static bool is_refused(const ar_codec_chain *chain, const char *stored, size_t n, size_t size)
{
    char        *exact = malloc(n ? n : 1), *cells = malloc(size ? size : 1);
    arras_error  err = { 0 };
    arras_status status;

    memcpy(exact, stored, n);
    status = ar_chain_decode(chain, 0, cells, size, exact, n, &err);
    if (status != ARRAS_OK)
        CHECK(status == ARRAS_EFORMAT && *err.text && !strchr(err.text, '\n'));
    free(exact);
    free(cells);
    return status != ARRAS_OK;
}

static void damage(const ar_codec_chain *chain, const ar_text *stored, size_t size)
{
    char *copy = malloc(stored->length);

    for (size_t n = 0; n < stored->length; n++)
        is_refused(chain, stored->data, n, size);
    for (size_t bit = 0; bit < 8 * stored->length; bit++) {
        memcpy(copy, stored->data, stored->length);
        copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
        is_refused(chain, copy, stored->length, size);
    }
    /* Half as large, twice as large, nothing: a chunk of another size is refused. */
    CHECK(is_refused(chain, stored->data, stored->length, size / 2));
    CHECK(is_refused(chain, stored->data, stored->length, size * 2));
    CHECK(is_refused(chain, stored->data, stored->length, 0));
    free(copy);
}

static void survives_damage(void)
{
    unsigned char data[4 * 25];

    fill(data, sizeof data, 1);
    for (size_t t = 0; t < AR_COUNT(texts); t++) {
        ar_codec_chain chain;
        ar_text        out = { 0 };

        CASE("%s", texts[t]);
        if (!is_there(texts[t]))
            continue;
        chain = parsed(texts[t], 4);
        CHECK_EQ_INT(ar_chain_encode(&chain, &out, data, sizeof data, NULL), ARRAS_OK);
        damage(&chain, &out, sizeof data);
        ar_text_free(&out);
    }
}

/* Bits that mean nothing are there too. */
static void sums_notice_bits(void)
{
    static const char *const summed[] = { "fletcher32", "crc32c", "deflate 1", "gzip 1" };
    unsigned char            data[40], cells[40];

    fill(data, sizeof data, 0);
    for (size_t t = 0; t < AR_COUNT(summed); t++) {
        ar_codec_chain chain;
        ar_text        out = { 0 };

        CASE("%s", summed[t]);
        if (!is_there(summed[t]))
            continue;
        chain = parsed(summed[t], 4);
        CHECK_EQ_INT(ar_chain_encode(&chain, &out, data, sizeof data, NULL), ARRAS_OK);
        for (size_t bit = 0; bit < 8 * out.length; bit++) {
            out.data[bit / 8] = (char)(out.data[bit / 8] ^ 1 << bit % 8);
            CHECK(ar_chain_decode(&chain, 0, cells, sizeof cells, out.data, out.length, NULL) ||
                  memcmp(cells, data, sizeof data) == 0);
            out.data[bit / 8] = (char)(out.data[bit / 8] ^ 1 << bit % 8);
        }
        ar_text_free(&out);
    }
}

/* Headers that promise more than the chunk are refused before there is memory for it, and so are
 * parameters that make no sense. */
static const struct {
    const char   *what;
    ar_codec_step step;
    const char   *stored, *says;
} wrong_bytes[] = {
    { "too much", STEP(lz4_hdf5, 0), "7fffffffffffffff 40000000 00000001 00",
      "9223372036854775807" },
    { "too much", STEP(lz4_zarr, 0), "ffffff7f 00", "2147483647 bytes come out" },
    { "too much", STEP(bitshuffle, 0, 4, 4, 0, 2), "7ffffffffffffff0 00002000 00000001 00",
      "9223372036854775792" },
    { "too much", STEP(szip, 168, 16, 32, 256), "f0ffff7f 00", "2147483632" },
    { "too much", STEP(zstd, 3), "28b52ffde0 0000000000010000 010000", "1099511627776" },
    { "blocks of 0", STEP(lz4_hdf5, 0), "0000000000000001 00000000 00", "blocks of 0" },
    { "odd blocks", STEP(bitshuffle, 0, 4, 4, 0, 2), "0000000000000008 00000004", "blocks of 4" },
    { "elements of 0 bytes", STEP(shuffle, 0), "00", "elements of 0" },
    { "elements of -1 bytes", STEP(bitshuffle, 0, 0, -1), "00", "elements of -1" },
    { "an unknown compressor", STEP(bitshuffle, 0, 0, 4, 0, 9), "00", "compressor 9" },
    { "too few values", STEP(szip, 168), "00", "1 parameters" },
    { "odd blocks", STEP(szip, 168, 15, 32, 256), "00", "15 pixels a block" },
    { "a part of a number", STEP(swap, 4), "000000", "3 bytes are not whole" },
    { "no shape", STEP(transpose, 2, 1, 0), "00", "rank 2" },
    { "rank 33", STEP(transpose, 33, 1, 0), "00", "rank 33" },
    { "an axis that is not there", STEP(transpose, 1, 1, 1), "00", "not every axis" },
    { "another shape", STEP(transpose, 1, 0, 3), "00", "its shape says 12" },
};

static void refuses_bombs(void)
{
    for (size_t k = 0; k < AR_COUNT(wrong_bytes); k++) {
        ar_codec_chain chain = { .steps = { wrong_bytes[k].step }, .n = 1, .cell_size = 4 };
        unsigned char  stored[100];
        char           cells[64];
        size_t         n = from_hex(stored, wrong_bytes[k].stored);
        int64_t        made = ar_alloc_made();
        arras_error    err = { 0 };

        CASE("%s: %s", chain.steps[0].codec->name, wrong_bytes[k].what);
        CHECK_EQ_INT(ar_chain_decode(&chain, 0, cells, 64, stored, n, &err), ARRAS_EFORMAT);
        if (!strstr(err.text, "this Arras was built without"))
            CHECK_HAS(err.text, wrong_bytes[k].says);
        CHECK_EQ_INT(ar_alloc_made(), made);
    }
}

static void refuses_to_write(void)
{
    ar_codec_chain chain = CHAIN(ar_codec_szip, 2, 168, 16, 11, 16);
    ar_codec_chain blosc = CHAIN(ar_codec_blosc_zarr, 4, 99, 5, 1, 0);
    ar_text        out = { 0 };
    arras_error    err = { 0 };

    CHECK(ar_chain_encode(&chain, &out, "abcd", 4, &err) != ARRAS_OK);
    CHECK_HAS(err.text, chain.steps[0].codec->missing ? "built without" : "11 bits");
    CHECK(ar_chain_encode(&blosc, &out, "abcd", 4, &err) != ARRAS_OK);
    CHECK_HAS(err.text, blosc.steps[0].codec->missing ? "built without" : "no compressor 99");
    ar_text_free(&out);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void runs_out_of_memory(void)
{
    unsigned char data[400], back[400];

    fill(data, sizeof data, 1);
    for (size_t t = 0; t < AR_COUNT(texts); t++) {
        ar_codec_chain chain;
        ar_text        good = { 0 };
        int64_t        live = ar_alloc_live();

        CASE("%s", texts[t]);
        if (!is_there(texts[t]))
            continue;
        chain = parsed(texts[t], 4);
        CHECK_EQ_INT(ar_chain_encode(&chain, &good, data, sizeof data, NULL), ARRAS_OK);
        for (int n = 1; n < 12; n++) {
            ar_text      out = { 0 };
            arras_status status;

            ar_alloc_fail_from(n);
            status = ar_chain_encode(&chain, &out, data, sizeof data, NULL);
            CHECK(status == ARRAS_OK || status == ARRAS_ENOMEM);
            ar_alloc_fail_from(n);
            status = ar_chain_decode(&chain, 0, back, sizeof back, good.data, good.length, NULL);
            CHECK(status == ARRAS_OK || status == ARRAS_ENOMEM);
            ar_alloc_fail_from(0);
            ar_text_free(&out);
        }
        ar_text_free(&good);
        CHECK_EQ_INT(ar_alloc_live(), live);
    }
}

/* Cells are written in place, and what is kept is used again. */
static void needs_little_memory(void)
{
    static unsigned char data[40000], back[40000];
    static const struct {
        const char *codecs;
        int         first, then; /* allocations of the first chunk, and of the next */
    } cases[] = { { "none", 0, 0 },
                  { "deflate 1", 0, 0 },
                  { "shuffle", 0, 0 },
                  { "shuffle deflate 1", 1, 0 },
                  { "shuffle deflate 1 fletcher32", 1, 0 },
                  { "shuffle zstd 1 lz4", 2, 0 } };

    fill(data, sizeof data, 1);
    for (size_t t = 0; t < AR_COUNT(cases); t++) {
        ar_codec_scratch scratch = { 0 };
        ar_codec_chain   chain;
        ar_text          out = { 0 };
        int64_t          made;

        CASE("%s", cases[t].codecs);
        if (!is_there(cases[t].codecs))
            continue;
        chain = parsed(cases[t].codecs, 4);
        CHECK_EQ_INT(ar_chain_encode(&chain, &out, data, sizeof data, NULL), ARRAS_OK);
        for (int round = 0; round < 2; round++) {
            made = ar_alloc_made();
            CHECK_EQ_INT(ar_chain_decode_with(&scratch, &chain, 0, back, sizeof back, out.data,
                                              out.length, NULL),
                         ARRAS_OK);
            CHECK_EQ_INT(ar_alloc_made() - made, round ? cases[t].then : cases[t].first);
        }
        CHECK(memcmp(back, data, sizeof data) == 0);
        ar_codec_scratch_free(&scratch);
        ar_text_free(&out);
    }
}

TEST_MAIN
{
    RUN(back_and_forth);
    RUN(szip_back_and_forth);
    RUN(transposes);
    RUN(knows_bytes);
    RUN(gzip_members);
    RUN(skips_steps);
    RUN(survives_damage);
    RUN(sums_notice_bits);
    RUN(refuses_bombs);
    RUN(refuses_to_write);
    RUN(runs_out_of_memory);
    RUN(needs_little_memory);
}
