/* test_codec_text.c -- chains of codecs as text, read and printed. */
#include "store/codec/codec.h"
#include "test.h"

static ar_codec_chain parsed(const char *text)
{
    ar_codec_chain chain = { 0 };
    arras_error    err = { 0 };

    CHECK_EQ_INT(ar_chain_parse(&chain, text, 4, &err), ARRAS_OK);
    CHECK_STR(err.text, "");
    return chain;
}

static void reads_and_prints(void)
{
    static const struct {
        const char *text, *printed;
    } cases[] = {
        { "none", "" },
        { "", "" },
        { "zstd", "zstd 3" },
        { "zstd -7", "zstd -7" },
        { "shuffle deflate 4", "shuffle, deflate 4" },
        { " shuffle,deflate\t9 , fletcher32 ", "shuffle, deflate 9, fletcher32" },
        { "shuffle 8 lz4", "shuffle 8, lz4" },
        { "blosc", "blosc lz4 5" },
        { "blosc zstd", "blosc zstd 5" },
        { "blosc lz4 7 crc32c", "blosc lz4 7, crc32c" },
        { "blosc 3", "blosc lz4 3" },
        { "bitshuffle", "bitshuffle" },
        { "bitshuffle lz4 gzip", "bitshuffle lz4, gzip 4" },
        { "bitshuffle zstd 9", "bitshuffle zstd 9" },
        { "lzf", "lzf" },
        { "szip 8", "szip 8" },
    };
    char out[100], tiny[9];

    for (size_t k = 0; k < AR_COUNT(cases); k++) {
        ar_codec_chain chain, again;
        arras_error    err = { 0 };

        CASE("%s", cases[k].text);
        if (ar_chain_parse(&chain, cases[k].text, 4, &err) != ARRAS_OK) {
            CHECK_HAS(err.text, "this Arras was built without");
            continue;
        }
        ar_chain_print(out, sizeof out, &chain);
        CHECK_STR(out, cases[k].printed);
        again = parsed(out);
        CHECK_EQ_INT(again.n, chain.n);
        for (int i = 0; i < chain.n; i++)
            CHECK(memcmp(&again.steps[i], &chain.steps[i], sizeof chain.steps[i]) == 0);
        ar_chain_print(tiny, sizeof tiny, &chain);
        CHECK(strlen(tiny) < sizeof tiny && strncmp(tiny, out, strlen(tiny)) == 0);
    }
}

static void prints_what_formats_add(void)
{
    ar_codec_chain chain = { .n = 3, .cell_size = 4 };
    char           out[100];

    chain.steps[0] = (ar_codec_step){ &ar_codec_transpose, { 2, 1, 0, 5, 6 }, 5 };
    chain.steps[1] = (ar_codec_step){ &ar_codec_swap, { 4 }, 1 };
    chain.steps[2] = (ar_codec_step){ &ar_codec_blosc_zarr, { 5, 3, 1, 0 }, 4 };
    ar_chain_print(out, sizeof out, &chain);
    CHECK_STR(out, "transpose 1 0, swap, blosc zstd 3");
}

static void refuses_texts(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "zsdt 3", "there is no codec 'zsdt'; did you mean 'zstd'?  There are " },
        { "marble", "there is no codec 'marble'; there are " },
        { "suffle", "did you mean 'shuffle'?" },
        { "deflate 13", "not 13, but a number from 0 to 12" },
        { "deflate 4x", "not 4x" },
        { "zstd 99999999999999999999", "from -100 to 22" },
        { "4 deflate", "the number 4 follows no name" },
        { "lz4 4", "the number 4 follows no name" },
        { "none zstd", "'zstd' follows 'none'" },
        { "zstd none", "there is no codec 'none'" },
        { "szip 7", "blocks of 7 cells" },
        { "lz4 lz4 lz4 lz4 lz4 lz4 lz4 lz4 lz4 lz4 lz4 lz4 lz4 lz4 lz4 lz4 lz4", "more than 16" },
    };

    for (size_t k = 0; k < AR_COUNT(cases); k++) {
        ar_codec_chain chain = { .n = 77 };
        arras_error    err = { 0 };

        CASE("%s", cases[k].text);
        CHECK(ar_chain_parse(&chain, cases[k].text, 4, &err) != ARRAS_OK);
        if (!strstr(err.text, "this Arras was built without"))
            CHECK_HAS(err.text, cases[k].says);
        CHECK_EQ_INT(chain.n, 77); /* as it was */
    }
}

/* Those that are built in, and no others: what the list names can be used. */
static void lists_what_there_is(void)
{
    static const char *const all[] = { "deflate", "zlib",       "gzip",    "zstd",
                                       "lz4",     "lzf",        "shuffle", "bitshuffle",
                                       "szip",    "fletcher32", "crc32c",  "blosc" };
    ar_codec_chain           chain;
    arras_error              err, unused;

    CHECK(ar_chain_parse(&chain, "marble", 4, &err) == ARRAS_EINVAL);
    ar_text list = { 0 };
    ar_text_printf(&list, "%s,", err.text);
    for (size_t k = 0; k < AR_COUNT(all); k++) {
        ar_text stored = { 0 };
        char    item[32];

        CASE("%s", all[k]);
        snprintf(item, sizeof item, " %s,", all[k]);
        bool encodes = ar_chain_parse(&chain, all[k], 4, &unused) == ARRAS_OK;
        encodes = encodes && ar_chain_encode(&chain, &stored, "abcd", 4, &unused) == ARRAS_OK;
        ar_text_free(&stored);
        CHECK_EQ_INT(strstr(list.data, item) != NULL, encodes);
    }
    ar_text_free(&list);
}

TEST_MAIN
{
    RUN(reads_and_prints);
    RUN(prints_what_formats_add);
    RUN(refuses_texts);
    RUN(lists_what_there_is);
}
