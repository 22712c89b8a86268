/* store_packed.c -- cells that attributes say more about: packed into fewer bits, missing, or to be
 * taken as unsigned.  A source around another one, which decodes what that one reads. */
#include "store/store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- What attributes say --------------------------------------------------------------------- */

enum { VALUE_BYTES = 128 }; /* of one attribute: sixteen numbers */

typedef struct {
    arras_dtype dtype;
    int64_t     count; /* 0: there is none */
    uint8_t     values[VALUE_BYTES];
} rule;

typedef struct {
    const ar_source *source; /* for messages */
    rule             fill, missing, scale, offset, is_unsigned;
} rules;

static rule *rule_of(rules *r, const char *name)
{
    const struct {
        const char *name;
        rule       *rule;
    } known[] = { { "_FillValue", &r->fill },
                  { "missing_value", &r->missing },
                  { "scale_factor", &r->scale },
                  { "add_offset", &r->offset },
                  { "_Unsigned", &r->is_unsigned } };

    for (size_t i = 0; i < AR_COUNT(known); i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].rule;
    return NULL;
}

bool ar_attribute_is_about_cells(const char *name)
{
    static const char *const others[] = { "valid_min", "valid_max", "valid_range" };
    rules                    unused;

    for (size_t i = 0; i < AR_COUNT(others); i++)
        if (strcmp(name, others[i]) == 0)
            return true;
    return rule_of(&unused, name) != NULL;
}

/* Text where numbers are expected says nothing, and the other way round. */
static arras_status note(void *context, const ar_attribute *a, arras_error *err)
{
    rules  *r = context;
    rule   *to = rule_of(r, a->name);
    size_t  size = a->dtype == ARRAS_NO_DTYPE ? 1 : arras_dtype_size(a->dtype);
    int64_t room = VALUE_BYTES / (int64_t)size;

    if (!to || (to == &r->is_unsigned) != (a->dtype == ARRAS_NO_DTYPE) || a->count < 1)
        return ARRAS_OK;
    if (a->count > room || (a->count > 1 && (to == &r->scale || to == &r->offset)))
        return ar_fail(err, ARRAS_EFORMAT,
                       "%s: its attribute %s has %" PRId64
                       " values; read the numbers as they are stored (@raw)",
                       r->source->name, a->name, a->count);
    *to = (rule){ .dtype = a->dtype, .count = a->count };
    memcpy(to->values, a->values, (size_t)a->count * size);
    return ARRAS_OK;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* X(dtype, type in C) */
#define INTEGERS(X)                                                                                \
    X(I8, int8_t)                                                                                  \
    X(I16, int16_t)                                                                                \
    X(I32, int32_t)                                                                                \
    X(I64, int64_t)                                                                                \
    X(U8, uint8_t)                                                                                 \
    X(U16, uint16_t)                                                                               \
    X(U32, uint32_t)                                                                               \
    X(U64, uint64_t)
#define REALS(X)                                                                                   \
    X(F32, float)                                                                                  \
    X(F64, double)
#define NUMBERS(X) INTEGERS(X) REALS(X)

static bool is_integer(arras_dtype dtype) { return dtype >= ARRAS_I8 && dtype <= ARRAS_U64; }
static bool is_real(arras_dtype dtype) { return dtype == ARRAS_F32 || dtype == ARRAS_F64; }

static double number_of(const rule *r, int64_t i)
{
    switch (r->dtype) {
#define CASE(D, T)                                                                                 \
    case ARRAS_##D: {                                                                              \
        T x;                                                                                       \
        memcpy(&x, r->values + (size_t)i * sizeof x, sizeof x);                                    \
        return (double)x;                                                                          \
    }
        NUMBERS(CASE)
#undef CASE
    default: return 0;
    }
}

/* A cell of this type and value, if there is one. */
static bool set_cell(void *cell, arras_dtype dtype, double x)
{
    switch (dtype) {
#define CASE(D, T)                                                                                 \
    case ARRAS_##D: {                                                                              \
        const double end = ldexp(1, 8 * (int)sizeof(T) - ((T)-1 < (T)1 ? 1 : 0));                  \
        if (!(x >= ((T)-1 < (T)1 ? -end : 0) && x < end && x == floor(x)))                         \
            return false;                                                                          \
        T y = (T)x;                                                                                \
        memcpy(cell, &y, sizeof y);                                                                \
        return true;                                                                               \
    }
        INTEGERS(CASE)
#undef CASE
    case ARRAS_F32: memcpy(cell, &(float){ (float)x }, sizeof(float)); return true;
    default: memcpy(cell, &x, sizeof x); return true;
    }
}

/* ---- How cells are decoded ------------------------------------------------------------------- */

enum { MOST_MISSING = 2 * VALUE_BYTES, BLOCK = 512 };

typedef struct packed packed;
typedef void          decoder(const packed *p, void *out, const void *in, size_t n);

struct packed {
    ar_source   source;
    arras_dtype stored;             /* as the inner source has it, but for the sign of integers */
    decoder    *decode;             /* NULL: cells are as they are stored */
    double      scale, offset, gap; /* gap: what a missing cell becomes */
    int         n_missing;
    bool        nan_is_missing;
    uint8_t     missing[MOST_MISSING][8]; /* cells of `stored` */
};

/* x * 1 + -0 is x, whatever it is.  Each loop is a vector's; blocks stay in the cache. */
#define DECODER(T, R)                                                                              \
    static void decode_##T##_##R(const packed *p, void *to, const void *from, size_t n)            \
    {                                                                                              \
        R *restrict out = to;                                                                      \
        const T *restrict in = from;                                                               \
        const R scale = (R)p->scale, offset = (R)p->offset, gap = (R)p->gap;                       \
                                                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            out[i] = (R)in[i] * scale + offset;                                                    \
        for (int k = 0; k < p->n_missing; k++) {                                                   \
            T missing;                                                                             \
                                                                                                   \
            memcpy(&missing, p->missing[k], sizeof missing);                                       \
            for (size_t i = 0; i < n; i++)                                                         \
                out[i] = in[i] == missing ? gap : out[i];                                          \
        }                                                                                          \
        for (size_t i = 0; p->nan_is_missing && i < n; i++)                                        \
            out[i] = in[i] != in[i] ? gap : out[i];                                                \
    }
#define DECODERS(D, T) DECODER(T, float) DECODER(T, double)
NUMBERS(DECODERS)
#undef DECODERS
#undef DECODER

static decoder *decoder_of(arras_dtype stored, arras_dtype dtype)
{
    switch (stored) {
#define CASE(D, T)                                                                                 \
    case ARRAS_##D: return dtype == ARRAS_F32 ? decode_##T##_float : decode_##T##_double;
        NUMBERS(CASE)
#undef CASE
    default: return NULL;
    }
}

/* ---- From attributes to a way of decoding ---------------------------------------------------- */

static bool says(const rule *r, const char *word)
{
    return r->count >= (int64_t)strlen(word) && memcmp(r->values, word, strlen(word)) == 0;
}

/* Integers of netCDF's first versions have a sign, unless an attribute takes it away. */
static arras_dtype with_sign(arras_dtype dtype, const rule *is_unsigned)
{
    bool      is_signed = dtype >= ARRAS_I8 && dtype <= ARRAS_I64;
    bool      takes = says(is_unsigned, "true") || says(is_unsigned, "True");
    bool      gives = says(is_unsigned, "false") || says(is_unsigned, "False");
    const int apart = ARRAS_U8 - ARRAS_I8;

    if (!is_integer(dtype) || !(is_signed ? takes : gives))
        return dtype;
    return (arras_dtype)(is_signed ? (int)dtype + apart : (int)dtype - apart);
}

/* A value of the same size as cells are is one of them, whatever its sign; others are converted,
 * and where that is not possible no cell can have them. */
static void add_missing(packed *p, const rule *r)
{
    size_t size = arras_dtype_size(p->stored);

    for (int64_t i = 0; i < r->count; i++) {
        uint8_t *cell = p->missing[p->n_missing];
        double   x = number_of(r, i);

        if (is_integer(r->dtype) && is_integer(p->stored) && arras_dtype_size(r->dtype) == size)
            memcpy(cell, r->values + (size_t)i * size, size), p->n_missing++;
        else if (is_real(p->stored) && isnan(x))
            p->nan_is_missing = true;
        else if (set_cell(cell, p->stored, x))
            p->n_missing++;
    }
}

/* f32 holds every integer of 16 bits, and f64 those of 32. */
static arras_dtype unpacked_type(arras_dtype stored, const rules *r)
{
    bool scaled = r->scale.count || r->offset.count;
    bool singles = (!r->scale.count || r->scale.dtype == ARRAS_F32) &&
                   (!r->offset.count || r->offset.dtype == ARRAS_F32);

    if (is_real(stored))
        return stored == ARRAS_F32 && (!scaled || singles) ? ARRAS_F32 : ARRAS_F64;
    return arras_dtype_size(stored) <= 2 && singles ? ARRAS_F32 : ARRAS_F64;
}

static void set_decoder(packed *p, const rules *r, const arras_source_options *options)
{
    ar_store_info *info = &p->source.info;
    bool           scaled = r->scale.count || r->offset.count;

    p->stored = info->dtype = with_sign(info->dtype, &r->is_unsigned);
    if (!scaled && !r->fill.count && !r->missing.count)
        return;
    p->scale = r->scale.count ? number_of(&r->scale, 0) : 1;
    p->offset = r->offset.count ? number_of(&r->offset, 0) : -0.0;
    p->gap = options->missing == ARRAS_MISSING_REPLACE ? options->replacement : (double)NAN;
    add_missing(p, &r->fill);
    add_missing(p, &r->missing);
    info->dtype = unpacked_type(p->stored, r);
    p->decode = decoder_of(p->stored, info->dtype);
    snprintf(info->stored, sizeof info->stored, "%s%.40s", scaled ? "packed " : "",
             p->source.inner->info.stored);
    p->decode(p, info->fill, p->source.inner->info.fill, 1);
}

/* ---- The source ------------------------------------------------------------------------------ */

/* Stored cells lie at the end of the room for cells, which are never smaller: what is decoded does
 * not reach what is not. */
static void decode_in_place(const packed *p, char *cells, size_t n)
{
    size_t from = arras_dtype_size(p->stored), to = arras_dtype_size(p->source.info.dtype);
    double in[BLOCK], out[BLOCK];

    for (size_t at = 0; p->decode && at < n; at += BLOCK) {
        size_t count = n - at < BLOCK ? n - at : BLOCK;

        memcpy(in, cells + n * (to - from) + at * from, count * from);
        p->decode(p, out, in, count);
        memcpy(cells + at * to, out, count * to);
    }
}

static size_t stored_at(const packed *p, size_t n)
{
    return n * (arras_dtype_size(p->source.info.dtype) - arras_dtype_size(p->stored));
}

static arras_status read_chunk(ar_source *self, const int64_t *chunk, void *cells, size_t size,
                               ar_chunk_bytes *scratch, arras_error *err)
{
    const packed *p = (const packed *)self;
    size_t        n = size / arras_dtype_size(self->info.dtype);
    arras_status  status = ar_source_chunk(self->inner, chunk, (char *)cells + stored_at(p, n),
                                           n * arras_dtype_size(p->stored), scratch, err);

    if (status == ARRAS_OK)
        decode_in_place(p, cells, n);
    return status;
}

static arras_status read_box(ar_source *self, const int64_t *lo, const int64_t *hi, void *cells,
                             arras_error *err)
{
    const packed *p = (const packed *)self;
    size_t        n = 1;
    arras_status  status;

    for (int d = 0; d < self->info.rank; d++)
        n *= (size_t)(hi[d] - lo[d]); /* there is memory for them */
    status = ar_source_read(self->inner, lo, hi, (char *)cells + stored_at(p, n), NULL, 1, err);
    if (status == ARRAS_OK)
        decode_in_place(p, cells, n);
    return status;
}

static arras_status describe(ar_source *self, ar_text *out, arras_error *err)
{
    const ar_source_type *type = self->inner->type;

    return type->describe ? type->describe(self->inner, out, err) : ARRAS_OK;
}

static arras_status attributes(ar_source *self, ar_on_attribute *each, void *context,
                               arras_error *err)
{
    return self->inner->type->attributes(self->inner, each, context, err);
}

static void close_source(ar_source *self)
{
    self->inner->type->close(self->inner);
    ar_free(self);
}

static const ar_source_type in_chunks = {
    .read_chunk = read_chunk, .describe = describe, .attributes = attributes, .close = close_source
};
static const ar_source_type in_boxes = {
    .read_box = read_box, .describe = describe, .attributes = attributes, .close = close_source
};

static arras_status wrap(ar_source **source, const rules *r, const arras_source_options *options,
                         arras_error *err)
{
    ar_source *inner = *source;
    packed    *p = ar_alloc(1, sizeof *p);

    if (!p)
        return ar_fail_memory(err, sizeof *p);
    p->source.inner = inner;
    p->source.info = inner->info;
    p->source.type = inner->type->read_box ? &in_boxes : &in_chunks;
    memcpy(p->source.name, inner->name, sizeof inner->name);
    set_decoder(p, r, options);
    *source = &p->source;
    return ARRAS_OK;
}

ar_source *ar_source_stored(const ar_source *source)
{
    return source->inner ? source->inner : (ar_source *)(uintptr_t)source;
}

arras_status ar_store_open_with(ar_source **out, const char *path, const char *inside,
                                const arras_source_options *options, arras_error *err)
{
    ar_source   *source = NULL;
    rules        r = { 0 };
    arras_status status = ar_store_open(&source, path, inside, err);

    if (status != ARRAS_OK)
        return status;
    r.source = source;
    if (options->missing != ARRAS_MISSING_RAW && source->type->attributes &&
        (is_integer(source->info.dtype) || is_real(source->info.dtype)))
        status = source->type->attributes(source, note, &r, err);
    if (status == ARRAS_OK &&
        (r.fill.count || r.missing.count || r.scale.count || r.offset.count || r.is_unsigned.count))
        status = wrap(&source, &r, options, err);
    if (status == ARRAS_OK)
        *out = source;
    else
        source->type->close(source);
    return status;
}
