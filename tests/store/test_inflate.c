/* test_inflate.c -- several deflate streams at once: the same bytes, and the same failures, as one
 * after the other; which streams are done at once; what is cut off, changed, or without memory. */
#include "store/codec/codec.h"
#include "store/codec/inflate_interleaved.h"
#include "test.h"

#include <stdlib.h>

/* ---- Streams --------------------------------------------------------------------------------- */

static uint32_t random_state = 1;

static uint32_t random_number(void)
{
    random_state = random_state * 1664525 + 1013904223;
    return random_state >> 8;
}

enum { KINDS = 9 };

/* 0: zeros; 1: noise; 2: few values; 3: slow growth; 4 and more: patterns, from 1 byte to 40. */
static void fill(unsigned char *data, size_t n, int kind)
{
    static const size_t periods[] = { 1, 3, 7, 12, 40 };

    for (size_t i = 0; i < n; i++)
        data[i] = (unsigned char)(kind == 0   ? 0
                                  : kind == 1 ? random_number()
                                  : kind == 2 ? random_number() % 17 * (random_number() % 3)
                                  : kind == 3 ? i / 16 + random_number() % 2
                                              : (i % periods[kind - 4]) * 37 + 1 + (i % 5003 == 9));
}

static ar_codec_chain parsed(const char *text)
{
    ar_codec_chain chain = { 0 };

    CHECK_EQ_INT(ar_chain_parse(&chain, text, 4, NULL), ARRAS_OK);
    return chain;
}

static bool is_there(void)
{
    ar_codec_chain chain;

    return ar_chain_parse(&chain, "deflate 1", 4, NULL) == ARRAS_OK;
}

/* Stored bytes in memory of their exact size, so that sanitizers see its end. */
typedef struct {
    unsigned char *bytes;
    size_t         n;
} stored;

static stored copy_of(const void *bytes, size_t n)
{
    stored s = { malloc(n ? n : 1), n };

    if (n > 0)
        memcpy(s.bytes, bytes, n);
    return s;
}

static stored encoded(const ar_codec_chain *chain, const unsigned char *data, size_t n)
{
    ar_text out = { 0 };
    stored  s;

    CHECK_EQ_INT(ar_chain_encode(chain, &out, data, n, NULL), ARRAS_OK);
    s = copy_of(out.data, out.length);
    ar_text_free(&out);
    return s;
}

static stored made_of(const ar_codec_chain *chain, size_t n, int kind)
{
    unsigned char *data = malloc(n ? n : 1);
    stored         s;

    fill(data, n, kind);
    s = encoded(chain, data, n);
    free(data);
    return s;
}

/* ---- The same as one after the other --------------------------------------------------------- */

/* A chunk, and what came of it. */
typedef struct {
    stored           in;
    char            *cells;
    ar_codec_scratch scratch;
    arras_status     status;
    arras_error      err;
} job;

static void decode_together(const ar_codec_chain *chain, size_t size, job *jobs, int count)
{
    ar_chain_input in[AR_CODEC_TOGETHER];

    for (int i = 0; i < count; i++)
        in[i] = (ar_chain_input){ &jobs[i].scratch, 0, jobs[i].in.bytes, jobs[i].in.n };
    ar_chain_begin_together(chain, size, in, count);
    for (int i = 0; i < count; i++)
        jobs[i].status = ar_chain_decode_with(in[i].scratch, chain, in[i].skipped, jobs[i].cells,
                                              size, in[i].stored, in[i].n, &jobs[i].err);
}

static bool same_as_alone(const ar_codec_chain *chain, size_t size, const job *j)
{
    unsigned char *alone = malloc(size ? size : 1);
    arras_error    err = { 0 };
    arras_status   status = ar_chain_decode(chain, 0, alone, size, j->in.bytes, j->in.n, &err);
    bool           good = CHECK_EQ_INT(j->status, status);

    if (good && status == ARRAS_OK)
        good = CHECK(memcmp(alone, j->cells, size) == 0);
    else if (good)
        good = CHECK_STR(j->err.text, err.text);
    free(alone);
    return good;
}

static bool agree(const ar_codec_chain *chain, size_t size, const stored *in, int count)
{
    job  jobs[AR_CODEC_TOGETHER] = { 0 };
    bool good = true;

    for (int i = 0; i < count; i++)
        jobs[i] = (job){ .in = in[i], .cells = malloc(size ? size : 1) };
    decode_together(chain, size, jobs, count);
    for (int i = 0; i < count; i++) {
        good = same_as_alone(chain, size, &jobs[i]) && good;
        free(jobs[i].cells);
        ar_codec_scratch_free(&jobs[i].scratch);
    }
    return good;
}

static const char *const texts[] = { "deflate 0", "deflate 1", "zlib 4",     "deflate 9",
                                     "gzip 6",    "gzip 12",   "lzf zlib 3", "shuffle deflate 4" };

static void agrees_on_all_kinds(void)
{
    static const size_t sizes[] = { 0, 1, 4, 8, 259, 304, 1000, 70000, 300004 };

    for (size_t t = 0; t < AR_COUNT(texts); t++)
        for (size_t z = 0; z < AR_COUNT(sizes); z++)
            for (int kind = 0; kind < KINDS; kind++) {
                ar_codec_chain chain = parsed(texts[t]);
                stored         in[AR_CODEC_TOGETHER];

                CASE("%s, %zu bytes of kind %d", texts[t], sizes[z], kind);
                for (int i = 0; i < AR_CODEC_TOGETHER; i++)
                    in[i] = made_of(&chain, sizes[z], (kind + i * i) % KINDS);
                for (int count = 1; count <= AR_CODEC_TOGETHER; count++)
                    agree(&chain, sizes[z], in, count);
                for (int i = 0; i < AR_CODEC_TOGETHER; i++)
                    free(in[i].bytes);
            }
}

/* ---- Done at once ---------------------------------------------------------------------------- */

/* Whoever always said that he does not know would agree with all. */
static void decodes_what_is_good(void)
{
    static const char *const good[] = { "deflate 0", "deflate 1", "zlib 4", "gzip 6", "zlib 12" };
    enum { N = 100000 };

    for (size_t t = 0; t < AR_COUNT(good); t++)
        for (int kind = 0; kind < KINDS; kind++) {
            ar_codec_chain chain = parsed(good[t]);
            stored         in[2];
            ar_text        out[2] = { { 0 }, { 0 } };
            ar_codec_part  parts[2];

            CASE("%s, kind %d", good[t], kind);
            for (int i = 0; i < 2; i++) {
                in[i] = made_of(&chain, N, i ? kind : 3);
                parts[i] = (ar_codec_part){ .in = in[i].bytes, .n = in[i].n, .out = &out[i] };
            }
            chain.steps[0].codec->decode_together(parts, 2, N);
            for (int i = 0; i < 2; i++) {
                CHECK(parts[i].done);
                CHECK(out[i].length == N);
                ar_text_free(&out[i]);
                free(in[i].bytes);
            }
        }
}

/* ---- Blocks by hand -------------------------------------------------------------------------- */

static const struct {
    const char   *what;
    unsigned char in[24];
    size_t        n, room;
    bool          done;
    const char   *out;
} cases[] = {
    { "empty, fixed", { 0x03, 0x00 }, 2, 0, true, "" },
    { "one letter, fixed", { 0x4b, 0x04, 0x00 }, 3, 1, true, "a" },
    { "no room for it", { 0x4b, 0x04, 0x00 }, 3, 0, false, "" },
    { "cut off", { 0x4b, 0x04 }, 2, 1, false, "" },
    { "ten letters, distance 1", { 0x4b, 0x4c, 0x84, 0x01, 0x00 }, 5, 10, true, "aaaaaaaaaa" },
    { "nine places for ten", { 0x4b, 0x4c, 0x84, 0x01, 0x00 }, 5, 9, false, "" },
    { "stored", { 0x01, 3, 0, 0xfc, 0xff, 'x', 'y', 'z' }, 8, 3, true, "xyz" },
    { "stored, and cut off", { 0x01, 3, 0, 0xfc, 0xff, 'x', 'y' }, 7, 3, false, "" },
    { "stored, no complement", { 0x01, 3, 0, 0xfc, 0xfe, 'x', 'y', 'z' }, 8, 3, false, "" },
    { "a block of type 3", { 0x07, 0x00 }, 2, 9, false, "" },
    { "distance before the start", { 0x03, 0x02, 0x00 }, 3, 9, false, "" },
    { "nothing", { 0 }, 0, 9, false, "" },
};

static void knows_blocks(void)
{
    for (size_t t = 0; t < AR_COUNT(cases); t++)
        for (int count = 1; count <= AR_INFLATE_STREAMS; count++) {
            ar_inflate_stream streams[AR_INFLATE_STREAMS];

            CASE("%s, %d of them", cases[t].what, count);
            for (int i = 0; i < count; i++)
                streams[i] = (ar_inflate_stream){ .in = copy_of(cases[t].in, cases[t].n).bytes,
                                                  .n = cases[t].n,
                                                  .out = malloc(cases[t].room + 1),
                                                  .room = cases[t].room };
            ar_inflate_interleaved(streams, count);
            for (int i = 0; i < count; i++) {
                CHECK_EQ_INT(streams[i].done, cases[t].done);
                if (cases[t].done) {
                    CHECK(streams[i].used == cases[t].n);
                    CHECK(streams[i].made == strlen(cases[t].out));
                    CHECK(memcmp(streams[i].out, cases[t].out, streams[i].made) == 0);
                }
                free((void *)(uintptr_t)streams[i].in);
                free(streams[i].out);
            }
        }
}

/* ---- Damage ---------------------------------------------------------------------------------- */

/* A bad one between two good ones, cut off at every byte and with every bit changed. */
static void agrees_on_damage(void)
{
    static const char *const bad[] = { "deflate 0", "deflate 4", "gzip 9" };
    enum { N = 1500 };

    for (size_t t = 0; t < AR_COUNT(bad); t++)
        for (int kind = 0; kind < KINDS; kind += 2) {
            ar_codec_chain chain = parsed(bad[t]);
            stored         in[3] = { made_of(&chain, N, 3), made_of(&chain, N, kind),
                                     made_of(&chain, N, 2) };
            stored         whole = in[1];

            CASE("%s, kind %d", bad[t], kind);
            for (size_t n = 0; n < whole.n; n++) {
                in[1] = copy_of(whole.bytes, n);
                agree(&chain, N, in, 3);
                free(in[1].bytes);
            }
            in[1] = whole;
            for (size_t bit = 0; bit < 8 * whole.n; bit += bit < 1200 ? 1 : 41) {
                whole.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
                agree(&chain, N, in, 2);
                whole.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            }
            for (int i = 0; i < 3; i++)
                free(in[i].bytes);
        }
}

/* Chunks that are longer or shorter than they should be. */
static void agrees_on_sizes(void)
{
    ar_codec_chain chain = parsed("shuffle deflate 4");
    stored         in[2] = { made_of(&chain, 4000, 2), made_of(&chain, 4000, 3) };

    for (size_t size = 3600; size <= 4400; size += 100) {
        CASE("%zu bytes instead of 4000", size);
        agree(&chain, size, in, 2);
    }
    free(in[0].bytes);
    free(in[1].bytes);
}

static void runs_out_of_memory(void)
{
    ar_codec_chain chain = parsed("shuffle deflate 4");
    stored         in = made_of(&chain, 4000, 2);
    int64_t        live = ar_alloc_live();
    static char    cells[2][4000];

    for (int n = 1; n < 8; n++) {
        job jobs[2] = { { .in = in, .cells = cells[0] }, { .in = in, .cells = cells[1] } };

        CASE("from allocation %d on", n);
        ar_alloc_fail_from(n);
        decode_together(&chain, sizeof cells[0], jobs, 2);
        ar_alloc_fail_from(0);
        for (int i = 0; i < 2; i++) {
            CHECK(jobs[i].status == ARRAS_OK || jobs[i].status == ARRAS_ENOMEM);
            ar_codec_scratch_free(&jobs[i].scratch);
        }
    }
    free(in.bytes);
    CHECK_EQ_INT(ar_alloc_live(), live);
}

TEST_MAIN
{
    if (!is_there())
        return;
    RUN(agrees_on_all_kinds);
    RUN(decodes_what_is_good);
    RUN(knows_blocks);
    RUN(agrees_on_damage);
    RUN(agrees_on_sizes);
    RUN(runs_out_of_memory);
}
