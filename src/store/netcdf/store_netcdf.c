/* store_netcdf.c -- variables of netCDF classic files as sources.  Read only: new files are
 * netCDF-4, which is HDF5. */
#include "store/netcdf/store_netcdf.h"
#include "store/flat/flat.h"
#include "store/safe/store_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- The file -------------------------------------------------------------------------------- */

typedef struct {
    int           fd;
    int64_t       size;
    ar_text       bytes; /* of the header, at least */
    ar_cdf_header header;
} cdf_file;

static void close_file(cdf_file *f)
{
    ar_cdf_free(&f->header);
    ar_text_free(&f->bytes);
    close(f->fd);
}

static arras_status load_more(cdf_file *f, int64_t wanted, const char *path, arras_error *err)
{
    int64_t have = (int64_t)f->bytes.length, n = ar_min64(wanted, f->size) - have;

    if (!ar_text_reserve(&f->bytes, (size_t)n))
        return ar_fail_memory(err, (size_t)n);
    arras_status status = ar_file_read(f->fd, f->bytes.data + have, n, have, path, err);
    if (status == ARRAS_OK)
        f->bytes.length += (size_t)n;
    return status;
}

/* How long a header is stands nowhere: as long as it is not all there, twice as much is read. */
static arras_status open_file(cdf_file *f, const char *path, arras_error *err)
{
    enum { FIRST = 1 << 16, MOST = 1 << 26 };
    arras_status status = ar_file_open(&f->fd, &f->size, path, err);
    bool         more = true;

    if (status != ARRAS_OK)
        return status;
    for (int64_t wanted = FIRST; more; wanted *= 2) {
        more = false;
        status = wanted > MOST
                     ? ar_fail(err, ARRAS_EFORMAT, "%s: a header of more than %d bytes", path, MOST)
                     : load_more(f, wanted, path, err);
        if (status == ARRAS_OK)
            status =
                ar_cdf_read(&f->header, &more, f->bytes.data, f->bytes.length, f->size, path, err);
    }
    if (status != ARRAS_OK)
        close_file(f);
    return status;
}

/* ---- Attributes ------------------------------------------------------------------------------ */

/* Value i as a cell of its type. */
static void get_value(void *cell, const ar_cdf_attribute *a, int64_t i)
{
    int   size = ar_cdf_size(a->type);
    char *to = cell;

    for (int k = 0; k < size; k++) {
        bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

        to[little ? size - 1 - k : k] = a->values[i * size + k];
    }
}

static void print_value(ar_text *out, int type, const void *cell)
{
    union {
        int8_t   i8;
        int16_t  i16;
        int32_t  i32;
        int64_t  i64;
        uint8_t  u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float    f32;
        double   f64;
    } x = { 0 };

    memcpy(&x, cell, sizeof x);
    switch (ar_cdf_dtype(type)) {
    case ARRAS_I8: ar_text_printf(out, "%d", x.i8); break;
    case ARRAS_I16: ar_text_printf(out, "%d", x.i16); break;
    case ARRAS_I32: ar_text_printf(out, "%" PRId32, x.i32); break;
    case ARRAS_I64: ar_text_printf(out, "%" PRId64, x.i64); break;
    case ARRAS_U8: ar_text_printf(out, "%u", x.u8); break;
    case ARRAS_U16: ar_text_printf(out, "%u", x.u16); break;
    case ARRAS_U32: ar_text_printf(out, "%" PRIu32, x.u32); break;
    case ARRAS_U64: ar_text_printf(out, "%" PRIu64, x.u64); break;
    case ARRAS_F32: ar_text_add_real(out, (double)x.f32, true); break;
    default: ar_text_add_real(out, x.f64, false); break;
    }
}

/* A line stays a line, whatever text there is. */
static void print_text(ar_text *out, const ar_cdf_attribute *a)
{
    for (int64_t i = 0; i < a->count && a->values[i]; i++) {
        char c = a->values[i];

        ar_text_put(out, (unsigned char)c < ' ' ? " " : &c, 1);
    }
}

static void print_attribute(ar_text *out, const ar_cdf_attribute *a)
{
    uint64_t cell = 0;

    ar_text_put(out, a->name.at, a->name.length);
    ar_text_add(out, ": ");
    if (a->type == AR_CDF_CHAR)
        print_text(out, a);
    else if (a->count != 1)
        ar_text_add(out, "[");
    for (int64_t i = 0; i < a->count && a->type != AR_CDF_CHAR; i++) {
        ar_text_add(out, i ? ", " : "");
        get_value(&cell, a, i);
        print_value(out, a->type, &cell);
    }
    ar_text_add(out, a->type == AR_CDF_CHAR || a->count == 1 ? "\n" : "]\n");
}

/* ---- The source ------------------------------------------------------------------------------ */

typedef struct {
    ar_source              source;
    cdf_file               file;
    const ar_cdf_variable *variable;
    ar_flat                flat;
} cdf_source;

static arras_status read_box(ar_source *self, const int64_t *lo, const int64_t *hi, void *cells,
                             arras_error *err)
{
    cdf_source *c = (cdf_source *)self;

    return ar_flat_read(&c->flat, &self->info, lo, hi, cells, self->name, err);
}

static arras_status describe(ar_source *self, ar_text *out, arras_error *err)
{
    const ar_cdf_variable *v = ((cdf_source *)self)->variable;

    for (int64_t i = 0; i < v->n_attributes; i++)
        print_attribute(out, &v->attributes[i]);
    return out->failed ? ar_fail_memory(err, out->length) : ARRAS_OK;
}

static arras_status visit_attribute(const ar_cdf_attribute *a, ar_on_attribute *each, void *context,
                                    arras_error *err)
{
    size_t       size = (size_t)ar_cdf_size(a->type);
    char         name[256];
    char        *values = ar_alloc((size_t)a->count + 1, size);
    ar_attribute found = { name, ar_cdf_dtype(a->type), a->count, values };

    if (!values)
        return ar_fail_memory(err, ((size_t)a->count + 1) * size);
    snprintf(name, sizeof name, "%.*s", (int)a->name.length, a->name.at);
    for (int64_t i = 0; i < a->count; i++)
        get_value(values + (size_t)i * size, a, i);
    arras_status status = each(context, &found, err);
    ar_free(values);
    return status;
}

static arras_status attributes(ar_source *self, ar_on_attribute *each, void *context,
                               arras_error *err)
{
    const ar_cdf_variable *v = ((cdf_source *)self)->variable;
    arras_status           status = ARRAS_OK;

    for (int64_t i = 0; i < v->n_attributes && status == ARRAS_OK; i++)
        status = visit_attribute(&v->attributes[i], each, context, err);
    return status;
}

static void close_source(ar_source *self)
{
    cdf_source *c = (cdf_source *)self;

    close_file(&c->file);
    ar_free(c);
}

static const ar_source_type source_type = {
    .read_box = read_box, .describe = describe, .attributes = attributes, .close = close_source
};

/* What the netCDF library writes where nothing was written. */
static void set_default_fill(uint8_t *fill, int type)
{
    static const int8_t      i1 = -127;
    static const int16_t     i2 = -32767;
    static const int32_t     i4 = -2147483647;
    static const int64_t     i8 = -9223372036854775806;
    static const uint8_t     u1 = 255;
    static const uint16_t    u2 = 65535;
    static const uint32_t    u4 = 4294967295u;
    static const uint64_t    u8 = 18446744073709551614u;
    static const float       f4 = 9.9692099683868690e+36f;
    static const double      f8 = 9.9692099683868690e+36;
    static const void *const fills[AR_CDF_TYPES + 1] = { NULL, &i1, NULL, &i2, &i4, &f4,
                                                         &f8,  &u1, &u2,  &u4, &i8, &u8 };

    if (fills[type])
        memcpy(fill, fills[type], (size_t)ar_cdf_size(type));
}

static void set_fill(ar_store_info *info, const ar_cdf_variable *v)
{
    static const char name[] = "_FillValue";

    set_default_fill(info->fill, v->type);
    for (int64_t i = 0; i < v->n_attributes; i++) {
        const ar_cdf_attribute *a = &v->attributes[i];

        if (a->name.length == sizeof name - 1 && memcmp(a->name.at, name, sizeof name - 1) == 0 &&
            a->type == v->type && a->count == 1 && info->dtype != ARRAS_NO_DTYPE)
            get_value(info->fill, a, 0);
    }
}

static void set_info(ar_store_info *info, const ar_cdf_header *h, const ar_cdf_variable *v)
{
    info->dtype = ar_cdf_dtype(v->type);
    info->rank = v->rank;
    for (int d = 0; d < v->rank; d++) {
        const ar_cdf_dim *dim = &h->dims[v->dims[d]];

        info->shape[d] = dim->length;
        info->chunk[d] = ar_max64(dim->length, 1);
        info->growable[d] = dim->is_record;
        snprintf(info->axes[d], sizeof info->axes[d], "%.*s", (int)dim->name.length, dim->name.at);
    }
    snprintf(info->format, sizeof info->format, "netCDF classic");
    snprintf(info->layout, sizeof info->layout, v->is_record ? "records" : "contiguous");
    snprintf(info->stored, sizeof info->stored, "%s%s",
             ar_cdf_size(v->type) > 1 ? "big-endian " : "",
             v->type == AR_CDF_CHAR ? "text" : arras_dtype_name(info->dtype));
    set_fill(info, v);
}

/* Where the cells are, and that the file has them all. */
static arras_status set_place(cdf_source *c, arras_error *err)
{
    const ar_cdf_header   *h = &c->file.header;
    const ar_cdf_variable *v = c->variable;
    ar_store_info         *info = &c->source.info;
    int64_t                end = 0, all = v->bytes;
    bool                   fits = true;

    c->flat = (ar_flat){ .fd = c->file.fd, .start = v->begin };
    c->flat.swapped = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    ar_flat_dense(&c->flat, info, false);
    if (v->is_record) {
        c->flat.step[0] = h->record_bytes;
        fits = ar_mul64(&end, h->record_bytes, ar_max64(h->records - 1, 0)) &&
               ar_mul64(&all, v->bytes, h->records);
    }
    if (all > 0)
        fits = fits && ar_add64(&end, end, v->bytes) && ar_add64(&end, end, v->begin);
    info->stored_bytes = all;
    if (fits && (all == 0 || end <= c->file.size))
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EFORMAT,
                   "%s is cut off: its %" PRId64 " records of %" PRId64 " bytes from byte %" PRId64
                   " on are more than the %" PRId64 " bytes of the file",
                   c->source.name, v->is_record ? h->records : 1, v->bytes, v->begin, c->file.size);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static bool is_called(ar_cdf_text text, const char *name)
{
    return text.length == strlen(name) && memcmp(text.at, name, text.length) == 0;
}

/* A variable with the name of a dimension holds its coordinates. */
static bool is_coordinate(const ar_cdf_header *h, const ar_cdf_variable *v)
{
    const ar_cdf_text *dim = v->rank == 1 ? &h->dims[v->dims[0]].name : NULL;

    return dim && dim->length == v->name.length && memcmp(dim->at, v->name.at, dim->length) == 0;
}

static arras_status fail_choice(const ar_cdf_header *h, const char *path, const char *inside,
                                arras_error *err)
{
    enum { NAMED = 10 };
    ar_text names = { 0 };

    for (int64_t i = 0; i < ar_min64(h->n_variables, NAMED); i++)
        ar_text_printf(&names, "%s%.*s", i ? ", " : "", (int)h->variables[i].name.length,
                       h->variables[i].name.at);
    ar_fail(err, ARRAS_ENAME, "%s: %s%s%s; it holds %s%s", path,
            inside ? "there is no variable '" : "say which variable", inside ? inside : "",
            inside ? "'" : "", names.data ? names.data : "none",
            h->n_variables > NAMED ? ", ..." : "");
    ar_text_free(&names);
    return ARRAS_ENAME;
}

static arras_status find_variable(const ar_cdf_variable **out, const ar_cdf_header *h,
                                  const char *path, const char *inside, arras_error *err)
{
    const ar_cdf_variable *found = NULL;
    int                    count = 0;

    if (inside)
        inside += strspn(inside, "/");
    if (inside && !*inside)
        inside = NULL;
    for (int64_t i = 0; i < h->n_variables; i++) {
        const ar_cdf_variable *v = &h->variables[i];
        bool                   wanted =
            inside ? is_called(v->name, inside) : !is_coordinate(h, v) || h->n_variables == 1;

        count += wanted;
        found = wanted ? v : found;
    }
    if (count != 1)
        return fail_choice(h, path, inside, err);
    *out = found;
    return ARRAS_OK;
}

static arras_status open_netcdf(ar_source **out, const char *path, const char *inside,
                                arras_error *err)
{
    cdf_source  *c = ar_alloc(1, sizeof *c);
    arras_status status = c ? open_file(&c->file, path, err) : ar_fail_memory(err, sizeof *c);

    if (status != ARRAS_OK) {
        ar_free(c);
        return status;
    }
    status = find_variable(&c->variable, &c->file.header, path, inside, err);
    if (status == ARRAS_OK) {
        snprintf(c->source.name, sizeof c->source.name, "%s:%.*s", path,
                 (int)c->variable->name.length, c->variable->name.at);
        c->source.type = &source_type;
        set_info(&c->source.info, &c->file.header, c->variable);
        if (c->variable->type != AR_CDF_CHAR)
            status = set_place(c, err);
    }
    if (status != ARRAS_OK)
        close_source(&c->source);
    else
        *out = &c->source;
    return status;
}

/* ---- The format ------------------------------------------------------------------------------ */

static arras_status list_netcdf(ar_text *out, const char *path, const char *inside,
                                arras_error *err)
{
    cdf_file     f = { 0 };
    arras_status status = open_file(&f, path, err);

    if (inside)
        inside += strspn(inside, "/");
    for (int64_t i = 0; status == ARRAS_OK && i < f.header.n_variables; i++) {
        const ar_cdf_variable *v = &f.header.variables[i];

        if (inside && *inside && !is_called(v->name, inside))
            continue;
        ar_text_printf(out, "%.*s\t%s[", (int)v->name.length, v->name.at,
                       v->type == AR_CDF_CHAR ? "text" : arras_dtype_name(ar_cdf_dtype(v->type)));
        for (int d = 0; d < v->rank; d++)
            ar_text_printf(out, "%s%" PRId64, d ? ", " : "", f.header.dims[v->dims[d]].length);
        ar_text_add(out, "]\tnetCDF classic\n");
    }
    if (status != ARRAS_OK)
        return status;
    close_file(&f);
    return out->failed ? ar_fail_memory(err, out->length) : ARRAS_OK;
}

static bool recognise(const char *path, const uint8_t *first, size_t n)
{
    (void)path;
    return first && n >= 4 && memcmp(first, "CDF", 3) == 0 &&
           (first[3] == 1 || first[3] == 2 || first[3] == 5);
}

const ar_format ar_format_netcdf_classic = {
    .name = "netCDF classic", .recognise = recognise, .open = open_netcdf, .list = list_netcdf
};
