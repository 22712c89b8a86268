/* chain_text.c -- chains of codecs as people write them: "shuffle deflate 4", "blosc lz4 5". */
#include "store/codec/codec_parts.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Words ----------------------------------------------------------------------------------- */

enum { LONGEST = 31 };

typedef struct {
    const char *at;
    char        word[LONGEST + 1]; /* "" at the end */
    int         cell_size;
} reader;

static bool is_gap(char c) { return c == ' ' || c == ',' || c == '\t' || c == '\n'; }

static void next_word(reader *r)
{
    size_t n = 0;

    while (is_gap(*r->at))
        r->at++;
    while (*r->at && !is_gap(*r->at)) {
        if (n < LONGEST)
            r->word[n++] = *r->at;
        r->at++;
    }
    r->word[n] = '\0';
}

static bool is_number(const char *word)
{
    if (*word == '-')
        word++;
    return *word >= '0' && *word <= '9';
}

/* A number, if one follows. */
static arras_status read_number(int64_t *value, reader *r, const char *name, int64_t least,
                                int64_t most, arras_error *err)
{
    long long number;
    char     *end;

    if (!is_number(r->word))
        return ARRAS_OK;
    number = strtoll(r->word, &end, 10);
    if (*end || number < least || number > most)
        return ar_fail(err, ARRAS_EINVAL,
                       "codec %s: not %s, but a number from %" PRId64 " to %" PRId64, name, r->word,
                       least, most);
    *value = number;
    next_word(r);
    return ARRAS_OK;
}

static arras_status refuse_missing(const ar_codec *codec, arras_error *err)
{
    return ar_fail(err, ARRAS_EINVAL, "codec %s: this Arras was built without %s", codec->name,
                   codec->missing);
}

/* ---- Text of limited length -------------------------------------------------------------------
 */

typedef struct {
    char  *at;
    size_t left; /* with the NUL */
} printer;

AR_PRINTF(2, 3) static void print(printer *p, const char *format, ...)
{
    va_list args;
    int     n;

    va_start(args, format);
    n = vsnprintf(p->at, p->left, format, args);
    va_end(args);
    if (n > 0) {
        size_t written = (size_t)n < p->left ? (size_t)n : p->left - 1;

        p->at += written;
        p->left -= written;
    }
}

/* ---- Codecs with words of their own ---------------------------------------------------------- */

static const char *const blosc_compressors[] = {
    "blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"
};
enum { BLOSC_LZ4 = 1, BLOSC_LEVEL = 5 };

static arras_status read_blosc(ar_codec_step *step, reader *r, arras_error *err)
{
    /* Versions of the filter and of the format; the bytes of a chunk are not known here. */
    int64_t values[] = { 2, 2, r->cell_size, 0, BLOSC_LEVEL, 1, BLOSC_LZ4 };

    for (size_t i = 0; i < AR_COUNT(blosc_compressors); i++)
        if (strcmp(r->word, blosc_compressors[i]) == 0) {
            values[6] = (int64_t)i;
            next_word(r);
            break;
        }
    memcpy(step->values, values, sizeof values);
    step->nvalues = AR_COUNT(values);
    return read_number(&step->values[4], r, "blosc", 0, 9, err);
}

enum { BITSHUFFLE_LZ4 = 2, BITSHUFFLE_ZSTD = 3 };

static arras_status read_bitshuffle(ar_codec_step *step, reader *r, arras_error *err)
{
    int64_t         values[] = { 0, 4, r->cell_size, 0, 0, 1 };
    bool            zstd = strcmp(r->word, "zstd") == 0;
    const ar_codec *inner = zstd ? &ar_codec_zstd : &ar_codec_lz4_hdf5;

    if (zstd || strcmp(r->word, "lz4") == 0) {
        if (inner->missing)
            return refuse_missing(inner, err);
        values[4] = zstd ? BITSHUFFLE_ZSTD : BITSHUFFLE_LZ4;
        next_word(r);
    }
    memcpy(step->values, values, sizeof values);
    step->nvalues = zstd ? 6 : 5;
    return zstd ? read_number(&step->values[5], r, "bitshuffle zstd", 1, 22, err) : ARRAS_OK;
}

static arras_status read_lzf(ar_codec_step *step, reader *r, arras_error *err)
{
    (void)r, (void)err;
    step->values[0] = 4;      /* versions of the filter ... */
    step->values[1] = 0x0105; /* ... and of the format */
    step->nvalues = 3;        /* the bytes of a chunk are not known here */
    return ARRAS_OK;
}

enum { SZIP_OPTIONS = 128 | 32 | 8, SZIP_BLOCKS = 16 }; /* raw, nearest neighbour, little-endian */

static arras_status read_szip(ar_codec_step *step, reader *r, arras_error *err)
{
    int64_t      pixels = 16;
    arras_status status = read_number(&pixels, r, "szip", 2, 32, err);

    if (status != ARRAS_OK)
        return status;
    if (pixels % 2 || r->cell_size > 8 || (r->cell_size & (r->cell_size - 1)))
        return ar_fail(err, ARRAS_EINVAL,
                       "codec szip: blocks of %" PRId64 " cells of %d bytes; an even number of "
                       "cells of 1, 2, 4 or 8 bytes is possible",
                       pixels, r->cell_size);
    step->values[0] = SZIP_OPTIONS;
    step->values[1] = pixels;
    step->values[2] = 8 * r->cell_size;
    step->values[3] = SZIP_BLOCKS * pixels;
    step->nvalues = 4;
    return ARRAS_OK;
}

static arras_status read_shuffle(ar_codec_step *step, reader *r, arras_error *err)
{
    step->values[0] = r->cell_size;
    step->nvalues = 1;
    return read_number(&step->values[0], r, "shuffle", 1, INT32_MAX, err);
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct {
    const ar_codec *codec;
    arras_status (*read)(ar_codec_step *step, reader *r, arras_error *err); /* NULL: a level */
    int64_t level, least, most; /* no level where both ends are the same */
} entry;

static arras_status read_float16(ar_codec_step *step, reader *r, arras_error *err)
{
    (void)step;
    if (r->cell_size != (int)sizeof(float))
        return ar_fail(err, ARRAS_EINVAL, "codec float16: it stores f32, not cells of %d bytes",
                       r->cell_size);
    r->cell_size /= 2;
    return ARRAS_OK;
}

static const entry entries[] = {
    { &ar_codec_float16, read_float16, 0, 0, 0 },
    { &ar_codec_deflate, NULL, 4, 0, 12 },
    { &ar_codec_zlib, NULL, 4, 0, 12 },
    { &ar_codec_gzip, NULL, 4, 0, 12 },
    { &ar_codec_zstd, NULL, 3, -100, 22 },
    { &ar_codec_lz4_hdf5, NULL, 0, 0, 0 },
    { &ar_codec_lzf, read_lzf, 0, 0, 0 },
    { &ar_codec_shuffle, read_shuffle, 0, 0, 0 },
    { &ar_codec_bitshuffle, read_bitshuffle, 0, 0, 0 },
    { &ar_codec_szip, read_szip, 0, 0, 0 },
    { &ar_codec_fletcher32, NULL, 0, 0, 0 },
    { &ar_codec_crc32c, NULL, 0, 0, 0 },
    { &ar_codec_blosc_hdf5, read_blosc, 0, 0, 0 },
};

/* Built in, and its library is on this machine. */
static bool is_there(const ar_codec *codec)
{
    return !codec->missing && (codec != &ar_codec_blosc_hdf5 || ar_codec_blosc_loads());
}

static void list_codecs(printer *p)
{
    const char *gap = "";

    for (size_t i = 0; i < AR_COUNT(entries); i++) {
        if (!is_there(entries[i].codec))
            continue;
        print(p, "%s%s", gap, entries[i].codec->name);
        gap = ", ";
    }
}

static const char *nearest_codec(const char *word)
{
    const char *nearest = NULL;
    int         distance = 3; /* what is farther is no slip of the hand */

    for (size_t i = 0; i < AR_COUNT(entries); i++) {
        int d = ar_text_distance(word, entries[i].codec->name);

        if (d < distance && is_there(entries[i].codec)) {
            distance = d;
            nearest = entries[i].codec->name;
        }
    }
    return nearest;
}

static arras_status unknown_word(const char *word, arras_error *err)
{
    const char *nearest = nearest_codec(word);
    char        list[256] = "";

    if (is_number(word))
        return ar_fail(err, ARRAS_EINVAL, "codecs: the number %s follows no name that takes one",
                       word);
    list_codecs(&(printer){ list, sizeof list });
    if (nearest)
        return ar_fail(err, ARRAS_EINVAL,
                       "there is no codec '%s'; did you mean '%s'?  There are %s", word, nearest,
                       list);
    return ar_fail(err, ARRAS_EINVAL, "there is no codec '%s'; there are %s", word, list);
}

static arras_status read_level(ar_codec_step *step, const entry *e, reader *r, arras_error *err)
{
    if (e->least == e->most)
        return ARRAS_OK;
    step->values[0] = e->level;
    step->nvalues = 1;
    return read_number(&step->values[0], r, e->codec->name, e->least, e->most, err);
}

static arras_status read_step(ar_codec_step *step, reader *r, arras_error *err)
{
    for (size_t i = 0; i < AR_COUNT(entries); i++) {
        const entry *e = &entries[i];

        if (strcmp(r->word, e->codec->name) != 0)
            continue;
        if (e->codec->missing)
            return refuse_missing(e->codec, err);
        step->codec = e->codec;
        next_word(r);
        return e->read ? e->read(step, r, err) : read_level(step, e, r, err);
    }
    return unknown_word(r->word, err);
}

arras_status ar_chain_parse(ar_codec_chain *out, const char *text, int cell_size, arras_error *err)
{
    ar_codec_chain chain = { .cell_size = cell_size };
    reader         r = { .at = text, .cell_size = cell_size };

    if (cell_size < 1)
        return ar_fail(err, ARRAS_EINVAL, "codecs for cells of %d bytes", cell_size);
    next_word(&r);
    if (strcmp(r.word, "none") == 0) {
        next_word(&r);
        if (*r.word)
            return ar_fail(err, ARRAS_EINVAL, "codecs: '%s' follows 'none'", r.word);
    }
    while (*r.word) {
        arras_status status;

        if (chain.n == AR_CODECS)
            return ar_fail(err, ARRAS_ELIMIT, "more than %d codecs", AR_CODECS);
        if (chain.n > 0 && strcmp(r.word, ar_codec_float16.name) == 0)
            return ar_fail(err, ARRAS_EINVAL,
                           "codecs: float16 is what cells become, so it is first");
        status = read_step(&chain.steps[chain.n++], &r, err);
        if (status != ARRAS_OK)
            return status;
    }
    chain.cell_size = r.cell_size;
    *out = chain;
    return ARRAS_OK;
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_values(printer *p, const int64_t *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        print(p, " %" PRId64, values[i]);
}

static void print_blosc(printer *p, int64_t compressor, int64_t level)
{
    if (compressor >= 0 && compressor < (int64_t)AR_COUNT(blosc_compressors))
        print(p, " %s", blosc_compressors[compressor]);
    print_values(p, &level, 1);
}

static void print_bitshuffle(printer *p, const ar_codec_step *step)
{
    int64_t inner = ar_codec_value(step, 4, 0);

    if (inner == BITSHUFFLE_LZ4)
        print(p, " lz4");
    if (inner == BITSHUFFLE_ZSTD)
        print(p, " zstd");
    if (inner == BITSHUFFLE_ZSTD && step->nvalues > 5)
        print_values(p, &step->values[5], 1);
}

static bool has_level(const ar_codec_step *step)
{
    for (size_t i = 0; i < AR_COUNT(entries); i++)
        if (entries[i].codec == step->codec)
            return step->nvalues > 0 && entries[i].least != entries[i].most;
    return false;
}

/* What a reader wants to know; sizes that are those of the cells are left out. */
static void print_step(printer *p, const ar_codec_step *step, int cell_size)
{
    const ar_codec *codec = step->codec;

    print(p, "%s", codec->name);
    if (has_level(step))
        print_values(p, step->values, 1);
    else if (codec == &ar_codec_blosc_hdf5)
        print_blosc(p, ar_codec_value(step, 6, 0), ar_codec_value(step, 4, BLOSC_LEVEL));
    else if (codec == &ar_codec_blosc_zarr)
        print_blosc(p, ar_codec_value(step, 0, BLOSC_LZ4), ar_codec_value(step, 1, BLOSC_LEVEL));
    else if (codec == &ar_codec_bitshuffle)
        print_bitshuffle(p, step);
    else if (codec == &ar_codec_szip && step->nvalues > 1)
        print_values(p, &step->values[1], 1);
    else if (codec == &ar_codec_shuffle && ar_codec_value(step, 0, cell_size) != cell_size)
        print_values(p, step->values, 1);
    else if (codec == &ar_codec_transpose && step->nvalues > 0)
        print_values(p, step->values + 1, ar_min64(step->values[0], ARRAS_MAX_RANK));
}

void ar_chain_print(char *out, size_t size, const ar_codec_chain *chain)
{
    printer p = { out, size };

    if (size == 0)
        return;
    *out = '\0';
    for (int k = 0; k < chain->n; k++) {
        print(&p, "%s", k ? ", " : "");
        print_step(&p, &chain->steps[k], chain->cell_size);
    }
}
