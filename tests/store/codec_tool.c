/* codec_tool.c -- codecs for tests in Python.  Requests come on stdin, each a line
 *     encode|decode BYTES CELL_SIZE SIZE CODEC VALUE... ; CODEC VALUE... \n
 * and then BYTES bytes; SIZE is that of the decoded chunk.  Answers are "ok BYTES\n" or
 * "error BYTES\n" and then that many bytes. */
#include "store/codec/codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char     *name;
    const ar_codec *codec;
} names[] = {
    { "deflate", &ar_codec_deflate },
    { "zlib", &ar_codec_zlib },
    { "gzip", &ar_codec_gzip },
    { "zstd", &ar_codec_zstd },
    { "lz4_hdf5", &ar_codec_lz4_hdf5 },
    { "lz4_zarr", &ar_codec_lz4_zarr },
    { "lzf", &ar_codec_lzf },
    { "shuffle", &ar_codec_shuffle },
    { "bitshuffle", &ar_codec_bitshuffle },
    { "szip", &ar_codec_szip },
    { "fletcher32", &ar_codec_fletcher32 },
    { "crc32c", &ar_codec_crc32c },
    { "blosc_hdf5", &ar_codec_blosc_hdf5 },
    { "blosc_zarr", &ar_codec_blosc_zarr },
    { "swap", &ar_codec_swap },
    { "transpose", &ar_codec_transpose },
};

static bool read_step(ar_codec_chain *chain, char *text)
{
    ar_codec_step *step = &chain->steps[chain->n++];
    char          *rest, *word = strtok_r(text, " \n", &rest);

    for (size_t i = 0; word && i < AR_COUNT(names); i++)
        if (strcmp(word, names[i].name) == 0)
            step->codec = names[i].codec;
    while ((word = strtok_r(NULL, " \n", &rest)) && step->nvalues < AR_CODEC_PARAMETERS)
        step->values[step->nvalues++] = strtoll(word, NULL, 10);
    return step->codec != NULL;
}

static bool read_chain(ar_codec_chain *chain, char *text)
{
    char *rest;

    for (char *part = strtok_r(text, ";", &rest); part; part = strtok_r(NULL, ";", &rest))
        if (chain->n == AR_CODECS ||
            (strspn(part, " \n") < strlen(part) && !read_step(chain, part)))
            return false;
    return true;
}

static void answer(const char *word, const void *bytes, size_t n)
{
    printf("%s %zu\n", word, n);
    if (n > 0)
        fwrite(bytes, 1, n, stdout);
    fflush(stdout);
}

static void convert(const ar_codec_chain *chain, bool decode, const void *in, size_t n, size_t size)
{
    arras_error  err = { 0 };
    ar_text      out = { 0 };
    char        *cells = decode ? malloc(size ? size : 1) : NULL;
    arras_status status = decode ? ar_chain_decode(chain, 0, cells, size, in, n, &err)
                                 : ar_chain_encode(chain, &out, in, n, &err);

    if (status != ARRAS_OK)
        answer("error", err.text, strlen(err.text));
    else
        answer("ok", decode ? cells : out.data, decode ? size : out.length);
    free(cells);
    ar_text_free(&out);
}

static bool serve(char *line)
{
    ar_codec_chain chain = { 0 };
    char           how[8];
    size_t         n, size;
    int            used;
    char          *in;

    if (sscanf(line, "%7s %zu %d %zu%n", how, &n, &chain.cell_size, &size, &used) != 4 ||
        !read_chain(&chain, line + used))
        return false;
    in = malloc(n ? n : 1); /* of its exact size: reads behind it are seen by a sanitizer */
    if (!in || fread(in, 1, n, stdin) != n)
        return false;
    convert(&chain, strcmp(how, "decode") == 0, in, n, size);
    free(in);
    return true;
}

int main(void)
{
    static char line[10000];

    while (fgets(line, sizeof line, stdin))
        if (!serve(line)) {
            fprintf(stderr, "codec_tool: not a request: %s\n", line);
            return 1;
        }
    return 0;
}
