/* store_netcdf_header.c -- reads the header of a netCDF classic file.  Every count is checked
 * against the bytes that are left before there is memory for it, and every place against the file.
 */
#include "store/flat/flat.h"
#include "store/netcdf/store_netcdf.h"

#include <string.h>

enum { ABSENT = 0, DIMENSIONS = 10, VARIABLES = 11, ATTRIBUTES = 12 };
enum { NAME_MOST = 1024 }; /* bytes; the library's own limit is 256 */

typedef struct {
    const char    *at, *end;
    int64_t        size;
    const char    *name;
    arras_error   *err;
    bool          *more;
    ar_cdf_header *out;
    bool           streaming; /* the records are not counted */
} reader;

static const struct {
    int         size;
    arras_dtype dtype;
} types[AR_CDF_TYPES + 1] = {
    { 0, ARRAS_NO_DTYPE }, { 1, ARRAS_I8 },  { 1, ARRAS_NO_DTYPE }, { 2, ARRAS_I16 },
    { 4, ARRAS_I32 },      { 4, ARRAS_F32 }, { 8, ARRAS_F64 },      { 1, ARRAS_U8 },
    { 2, ARRAS_U16 },      { 4, ARRAS_U32 }, { 8, ARRAS_I64 },      { 8, ARRAS_U64 },
};

int ar_cdf_size(int type) { return types[type].size; }

arras_dtype ar_cdf_dtype(int type) { return types[type].dtype; }

static arras_status fail(const reader *r, const char *what)
{
    return ar_fail(r->err, ARRAS_EFORMAT, "%s: damaged netCDF header: %s", r->name, what);
}

/* ---- Numbers and names ----------------------------------------------------------------------- */

static int64_t left(const reader *r) { return r->end - r->at; }

static arras_status need(reader *r, int64_t bytes)
{
    if (bytes <= left(r))
        return ARRAS_OK;
    *r->more = true;
    return ar_fail(r->err, ARRAS_EFORMAT,
                   "%s is cut off within its netCDF header, at byte %" PRId64, r->name, r->size);
}

static arras_status take(reader *r, int bytes, uint64_t *out)
{
    arras_status status = need(r, bytes);

    if (status != ARRAS_OK)
        return status;
    *out = 0;
    for (int i = 0; i < bytes; i++)
        *out = *out << 8 | (uint8_t)r->at[i];
    r->at += bytes;
    return ARRAS_OK;
}

/* A count, a length or an offset: not negative. */
static arras_status take_size(reader *r, int bytes, int64_t *out)
{
    uint64_t     value = 0;
    arras_status status = take(r, bytes, &value);

    if (status == ARRAS_OK && value > (bytes == 4 ? (uint64_t)INT32_MAX : (uint64_t)INT64_MAX))
        return fail(r, "a number is negative");
    *out = (int64_t)value;
    return status;
}

/* 8 bytes in CDF-5, 4 before. */
static arras_status take_count(reader *r, int64_t *out)
{
    return take_size(r, r->out->version == 5 ? 8 : 4, out);
}

static int64_t padded(int64_t n) { return (n + 3) / 4 * 4; }

/* n bytes and what fills them up to a multiple of 4. */
static arras_status take_bytes(reader *r, int64_t n, const char **out)
{
    arras_status status =
        n > r->size ? fail(r, "a value is longer than the file") : need(r, padded(n));

    if (status == ARRAS_OK) {
        *out = r->at;
        r->at += padded(n);
    }
    return status;
}

static arras_status take_name(reader *r, ar_cdf_text *out)
{
    int64_t      length = 0;
    arras_status status = take_count(r, &length);

    if (status == ARRAS_OK && (length < 1 || length > NAME_MOST))
        return ar_fail(r->err, ARRAS_EFORMAT,
                       "%s: damaged netCDF header: a name of %" PRId64 " bytes, not 1 to %d",
                       r->name, length, NAME_MOST);
    if (status == ARRAS_OK)
        status = take_bytes(r, length, &out->at);
    out->length = (size_t)length;
    if (status == ARRAS_OK && memchr(out->at, 0, out->length))
        return fail(r, "a name with a zero byte in it");
    return status;
}

/* A tag and a count; each item has at least `least` bytes. */
static arras_status take_list(reader *r, int tag, int64_t least, int64_t *count)
{
    uint64_t     found = 0;
    arras_status status = take(r, 4, &found);

    if (status == ARRAS_OK)
        status = take_count(r, count);
    if (status != ARRAS_OK)
        return status;
    if (found == ABSENT && *count == 0)
        return ARRAS_OK;
    if (found != (uint64_t)tag)
        return ar_fail(r->err, ARRAS_EFORMAT,
                       "%s: damaged netCDF header: tag %d expected, %" PRIu64 " found", r->name,
                       tag, found);
    if (*count > r->size / least)
        return fail(r, "a list is longer than the file");
    return *count > left(r) / least ? need(r, *count * least) : ARRAS_OK;
}

static arras_status take_type(reader *r, int *out)
{
    uint64_t     type = 0;
    arras_status status = take(r, 4, &type);
    uint64_t     most = r->out->version == 5 ? AR_CDF_TYPES : 6;

    if (status == ARRAS_OK && (type < 1 || type > most))
        return ar_fail(r->err, ARRAS_EFORMAT,
                       "%s: damaged netCDF header: there is no type %" PRIu64, r->name, type);
    *out = (int)type;
    return status;
}

static arras_status allocate(const reader *r, void *out, int64_t count, size_t size)
{
    void *items = ar_arena_alloc(&r->out->arena, (size_t)ar_max64(count, 1), size);

    if (!items)
        return ar_fail_memory(r->err, (size_t)count * size);
    memcpy(out, &items, sizeof items);
    return ARRAS_OK;
}

/* ---- Dimensions and attributes --------------------------------------------------------------- */

static arras_status read_dims(reader *r)
{
    ar_cdf_header *h = r->out;
    bool           has_record = false;
    arras_status   status = take_list(r, DIMENSIONS, 8, &h->n_dims);

    if (status == ARRAS_OK)
        status = allocate(r, &h->dims, h->n_dims, sizeof *h->dims);
    for (int64_t i = 0; i < h->n_dims && status == ARRAS_OK; i++) {
        ar_cdf_dim *d = &h->dims[i];

        status = take_name(r, &d->name);
        if (status == ARRAS_OK)
            status = take_count(r, &d->length);
        d->is_record = d->length == 0;
        if (status == ARRAS_OK && d->is_record && has_record)
            return fail(r, "two unlimited dimensions");
        has_record = has_record || d->is_record;
    }
    return status;
}

static arras_status read_attribute(reader *r, ar_cdf_attribute *a)
{
    int64_t      bytes = 0;
    arras_status status = take_name(r, &a->name);

    if (status == ARRAS_OK)
        status = take_type(r, &a->type);
    if (status == ARRAS_OK)
        status = take_count(r, &a->count);
    if (status != ARRAS_OK)
        return status;
    if (!ar_mul64(&bytes, a->count, types[a->type].size))
        return fail(r, "an attribute is longer than the file");
    return take_bytes(r, bytes, &a->values);
}

static arras_status read_attributes(reader *r, ar_cdf_attribute **out, int64_t *count)
{
    arras_status status = take_list(r, ATTRIBUTES, 12, count);

    if (status == ARRAS_OK)
        status = allocate(r, out, *count, sizeof **out);
    for (int64_t i = 0; i < *count && status == ARRAS_OK; i++)
        status = read_attribute(r, &(*out)[i]);
    return status;
}

/* ---- Variables ------------------------------------------------------------------------------- */

static arras_status read_rank(reader *r, ar_cdf_variable *v)
{
    int64_t      rank = 0;
    arras_status status = take_count(r, &rank);

    if (status == ARRAS_OK && rank > ARRAS_MAX_RANK)
        return ar_fail(r->err, ARRAS_EFORMAT, "%s: a variable of %" PRId64 " axes, more than %d",
                       r->name, rank, ARRAS_MAX_RANK);
    v->rank = (int)rank;
    if (status == ARRAS_OK)
        status = allocate(r, &v->dims, rank, sizeof *v->dims);
    for (int d = 0; d < v->rank && status == ARRAS_OK; d++) {
        status = take_count(r, &v->dims[d]);
        if (status == ARRAS_OK && v->dims[d] >= r->out->n_dims)
            return ar_fail(r->err, ARRAS_EFORMAT,
                           "%s: damaged netCDF header: dimension %" PRId64 " of %" PRId64, r->name,
                           v->dims[d], r->out->n_dims);
        if (status == ARRAS_OK && r->out->dims[v->dims[d]].is_record && d > 0)
            return fail(r, "an unlimited dimension that is not the first");
    }
    v->is_record = v->rank > 0 && status == ARRAS_OK && r->out->dims[v->dims[0]].is_record;
    return status;
}

/* vsize, which the file gives too, is too short for large variables: it is not needed. */
static arras_status set_bytes(const reader *r, ar_cdf_variable *v)
{
    int64_t lengths[ARRAS_MAX_RANK];

    for (int d = 0; d < v->rank; d++)
        lengths[d] = r->out->dims[v->dims[d]].length;
    if (!ar_flat_bytes(&v->bytes, types[v->type].size, v->rank - v->is_record,
                       lengths + v->is_record))
        return fail(r, "a variable has more bytes than there can be");
    return ARRAS_OK;
}

static arras_status read_variable(reader *r, ar_cdf_variable *v)
{
    uint64_t     vsize;
    arras_status status = take_name(r, &v->name);

    if (status == ARRAS_OK)
        status = read_rank(r, v);
    if (status == ARRAS_OK)
        status = read_attributes(r, &v->attributes, &v->n_attributes);
    if (status == ARRAS_OK)
        status = take_type(r, &v->type);
    if (status == ARRAS_OK)
        status = set_bytes(r, v);
    if (status == ARRAS_OK)
        status = take(r, r->out->version == 5 ? 8 : 4, &vsize);
    if (status == ARRAS_OK)
        status = take_size(r, r->out->version == 1 ? 4 : 8, &v->begin);
    return status;
}

static arras_status read_variables(reader *r)
{
    ar_cdf_header *h = r->out;
    arras_status   status = take_list(r, VARIABLES, 28, &h->n_variables);

    if (status == ARRAS_OK)
        status = allocate(r, &h->variables, h->n_variables, sizeof *h->variables);
    for (int64_t i = 0; i < h->n_variables && status == ARRAS_OK; i++)
        status = read_variable(r, &h->variables[i]);
    return status;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* Records hold the record variables in turn, each filled up to a multiple of 4; a single one is not
 * filled up. */
static arras_status set_record_bytes(const reader *r, int64_t *first)
{
    ar_cdf_header *h = r->out;
    int64_t        count = 0, bare = 0;

    *first = INT64_MAX;
    for (int64_t i = 0; i < h->n_variables; i++) {
        const ar_cdf_variable *v = &h->variables[i];

        if (!v->is_record)
            continue;
        if (v->bytes > INT64_MAX - 3 ||
            !ar_add64(&h->record_bytes, h->record_bytes, padded(v->bytes)))
            return fail(r, "a record has more bytes than there can be");
        bare = v->bytes;
        *first = ar_min64(*first, v->begin);
        count++;
    }
    if (count == 1)
        h->record_bytes = bare;
    return ARRAS_OK;
}

static arras_status set_records(const reader *r)
{
    ar_cdf_header *h = r->out;
    int64_t        first;
    arras_status   status = set_record_bytes(r, &first);

    if (status != ARRAS_OK)
        return status;
    if (r->streaming)
        h->records =
            h->record_bytes > 0 && first < r->size ? (r->size - first) / h->record_bytes : 0;
    for (int64_t i = 0; i < h->n_dims; i++)
        if (h->dims[i].is_record)
            h->dims[i].length = h->records;
    return ARRAS_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static arras_status read_start(reader *r)
{
    arras_status status = need(r, 4);
    uint64_t     records = 0;

    if (status != ARRAS_OK)
        return status;
    if (memcmp(r->at, "CDF", 3) != 0)
        return ar_fail(r->err, ARRAS_EFORMAT, "%s is not a netCDF classic file", r->name);
    int version = r->at[3];
    if (version != 1 && version != 2 && version != 5)
        return ar_fail(r->err, ARRAS_EFORMAT, "%s: version %d of netCDF classic is not known",
                       r->name, version);
    r->out->version = version;
    r->at += 4;
    status = take(r, version == 5 ? 8 : 4, &records);
    r->streaming = records == (version == 5 ? UINT64_MAX : UINT32_MAX);
    if (status == ARRAS_OK && !r->streaming && records > INT64_MAX)
        return fail(r, "the number of records is negative");
    r->out->records = r->streaming ? 0 : (int64_t)records;
    return status;
}

arras_status ar_cdf_read(ar_cdf_header *out, bool *more, const char *bytes, size_t n, int64_t size,
                         const char *name, arras_error *err)
{
    ar_cdf_header     h = { 0 };
    reader            r = { bytes, bytes + n, size, name, err, more, &h, false };
    ar_cdf_attribute *global;
    int64_t           n_global;

    *more = false;
    arras_status status = read_start(&r);
    if (status == ARRAS_OK)
        status = read_dims(&r);
    if (status == ARRAS_OK)
        status = read_attributes(&r, &global, &n_global);
    if (status == ARRAS_OK)
        status = read_variables(&r);
    if (status == ARRAS_OK)
        status = set_records(&r);
    *more = *more && (int64_t)n < size;
    if (status == ARRAS_OK)
        *out = h;
    else
        ar_cdf_free(&h);
    return status;
}

void ar_cdf_free(ar_cdf_header *header)
{
    ar_arena_free(&header->arena);
    *header = (ar_cdf_header){ 0 };
}
