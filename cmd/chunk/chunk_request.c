/* chunk_request.c -- the array and its queries that `arras chunk` was asked about. */
#include "cmd/chunk/chunk_request.h"
#include "cmd/show/letters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/io/names.h"
#include "cmd/io/whole_file.h"
#include "cmd/show/letters.h"

/* ---- The array ------------------------------------------------------------------------------- */

/* Numbers with commas up to `stop`; `*` is as long as the array.  -1: they are not. */
static int read_lengths(int64_t *out, const char *text, const char *stop, const int64_t *array)
{
    for (int n = 0; n < ARRAS_MAX_RANK;) {
        char *end = (char *)text + 1;

        errno = 0;
        if (*text == '*' && array)
            out[n] = array[n];
        else if (!cmd_is_digit(*text) && *text != '-')
            return -1;
        else
            out[n] = strtoll(text, &end, 10);
        n++;
        if (errno || (*end != ',' && end != stop))
            return -1;
        if (end == stop)
            return n;
        text = end + 1;
    }
    return -1;
}

static bool read_shape(cmd_chunk_request *r, cmd_error *err)
{
    const char *text = r->shape_text;

    r->options.rank = read_lengths(r->shape, text, text + strlen(text), NULL);
    if (r->options.rank < 1)
        return cmd_fail(err, "--shape %s: expected lengths, such as 1000,200,300", text);
    return true;
}

/* Names of the language, and NumPy's codes where they mean nothing else. */
static bool read_dtype(cmd_chunk_request *r, cmd_error *err)
{
    static const char *const codes[][2] = {
        { "f4", "f32" },        { "f8", "f64" },          { "i1", "i8" },
        { "i2", "i16" },        { "i4", "i32" },          { "u1", "u8" },
        { "u2", "u16" },        { "u4", "u32" },          { "b1", "bool" },
        { "c8", "c64" },        { "c16", "c128" },        { "int8", "i8" },
        { "int16", "i16" },     { "int32", "i32" },       { "int64", "i64" },
        { "uint8", "u8" },      { "uint16", "u16" },      { "uint32", "u32" },
        { "uint64", "u64" },    { "float32", "f32" },     { "float64", "f64" },
        { "complex64", "c64" }, { "complex128", "c128" },
    };
    const char *name = r->dtype_text ? r->dtype_text : "f32";

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(codes[i][0], name) == 0)
            name = codes[i][1];
    r->dtype = arras_dtype_find(name);
    return r->dtype != ARRAS_NO_DTYPE ||
           cmd_fail(err, "--dtype %s: expected a type, such as f32, f8, i16 or u1", r->dtype_text);
}

static bool take_info(cmd_chunk_request *r, const arras_store_info *info, cmd_error *err)
{
    if (info->dtype == ARRAS_NO_DTYPE)
        return cmd_fail(err, "%s: its cells, %s, are not numbers", r->source, info->stored);
    if (info->rank < 1)
        return cmd_fail(err, "%s has no axes, so there is nothing to cut", r->source);
    if (strncmp(info->format, "HDF5", 4) == 0 && r->options.limit >= INT64_C(1) << 32)
        return cmd_fail(err, "--limit %" PRId64 ": chunks in HDF5 stay below 4294967296 bytes",
                        r->options.limit);
    r->dtype = info->dtype;
    r->options.rank = info->rank;
    r->has_now = info->chunked;
    memcpy(r->shape, info->shape, sizeof r->shape);
    memcpy(r->now, info->chunk, sizeof r->now);
    return true;
}

static bool read_source(cmd_chunk_request *r, cmd_error *err)
{
    cmd_place     place;
    arras_source *source;
    arras_error   why;
    bool          ok;

    if (r->shape_text || r->dtype_text)
        return cmd_fail(err, "%s has a shape and a type; leave out --shape and --dtype", r->source);
    if (!cmd_place_parse(&place, r->source, err))
        return false;
    ok = arras_source_open(&source, place.file, place.part, &why) == ARRAS_OK ||
         cmd_fail(err, "%s", why.text);
    if (ok) {
        ok = take_info(r, arras_source_info(source), err);
        arras_source_close(source);
    }
    cmd_place_free(&place);
    return ok;
}

static bool find_array(cmd_chunk_request *r, cmd_error *err)
{
    if (!r->source && !r->shape_text)
        return cmd_fail(err, "chunks of what?  arras chunk --shape 1000,200,300 --query "
                             "1,200,300:0.5 --query 1000,1,1:0.5 (`arras help chunk`)");
    bool ok = r->source ? read_source(r, err) : read_shape(r, err) && read_dtype(r, err);
    r->options.shape = r->shape;
    r->options.cell_bytes = (int64_t)arras_dtype_size(r->dtype);
    return ok;
}

/* ---- AXIS=NUMBER ----------------------------------------------------------------------------- */

static bool read_axis(int *axis, int64_t *number, const char *stop, const cmd_chunk_request *r,
                      const char *option, const char *text, cmd_error *err)
{
    char *equals, *end = NULL;
    long  at = strtol(text, &equals, 10);

    errno = 0;
    *number = equals != text && *equals == '=' ? strtoll(equals + 1, &end, 10) : 0;
    if (!end || end == equals + 1 || end != stop || errno)
        return cmd_fail(err, "--%s %s: expected an axis and a number, such as 0=16", option, text);
    if (at < 0 || at >= r->options.rank)
        return cmd_fail(err, "--%s %s: the array has axes 0 to %d", option, text,
                        r->options.rank - 1);
    *axis = (int)at;
    return true;
}

static bool read_edges(int64_t *edges, const char *option, const char **texts, int count,
                       const cmd_chunk_request *r, cmd_error *err)
{
    for (int i = 0; i < count; i++) {
        int     axis = 0;
        int64_t edge;

        if (!read_axis(&axis, &edge, texts[i] + strlen(texts[i]), r, option, texts[i], err))
            return false;
        if (edge < 1)
            return cmd_fail(err, "--%s %s: an edge has at least 1 cell", option, texts[i]);
        if (edges[axis])
            return cmd_fail(err, "--%s %s: axis %d is given twice", option, texts[i], axis);
        edges[axis] = edge;
    }
    return true;
}

static bool read_bounds(cmd_chunk_request *r, cmd_error *err)
{
    r->options.fixed = r->fixed;
    r->options.multiple = r->multiple;
    return read_edges(r->fixed, "fix", r->fixes, r->fix_count, r, err) &&
           read_edges(r->multiple, "multiple", r->multiples, r->multiple_count, r, err);
}

/* ---- Queries --------------------------------------------------------------------------------- */

typedef struct query_list {
    int          count;
    int64_t     *lengths; /* count * rank, or count */
    int         *axes;
    const char **probabilities;
    int          given; /* how many have one */
} query_list;

static bool make_list(query_list *list, int count, int rank, cmd_error *err)
{
    *list = (query_list){ .count = count };
    list->lengths = calloc((size_t)count * (size_t)rank + 1, sizeof *list->lengths);
    list->axes = calloc((size_t)count + 1, sizeof *list->axes);
    list->probabilities = calloc((size_t)count + 1, sizeof *list->probabilities);
    return (list->lengths && list->axes && list->probabilities) ||
           cmd_fail(err, "no memory for %d queries", count);
}

static void free_list(query_list *list)
{
    free(list->lengths);
    free(list->axes);
    free(list->probabilities);
}

/* The end of what stands before a colon; what is behind it is a probability. */
static const char *split_probability(query_list *list, int i, const char *text)
{
    const char *colon = strrchr(text, ':');

    list->probabilities[i] = colon ? colon + 1 : NULL;
    list->given += colon != NULL;
    return colon ? colon : text + strlen(text);
}

static bool all_or_none(const query_list *list, const char *option, cmd_error *err)
{
    return list->given == 0 || list->given == list->count ||
           cmd_fail(err, "%d of %d --%s have a probability; give one to all of them, or to none",
                    list->given, list->count, option);
}

static bool fill_shapes(query_list *list, const cmd_chunk_request *r, cmd_error *err)
{
    int rank = r->options.rank;

    for (int i = 0; i < list->count; i++) {
        int64_t     lengths[ARRAS_MAX_RANK];
        const char *stop = split_probability(list, i, r->queries[i]);
        int         n = read_lengths(lengths, r->queries[i], stop, r->shape);

        if (n < 0)
            return cmd_fail(err,
                            "--query %s: expected lengths, and a probability behind a colon, "
                            "such as 1,200,300:0.5",
                            r->queries[i]);
        if (n != rank)
            return cmd_fail(err, "--query %s has %d lengths; the array has %d axes", r->queries[i],
                            n, rank);
        memcpy(list->lengths + i * rank, lengths, (size_t)rank * sizeof *lengths);
    }
    return all_or_none(list, "query", err);
}

static bool fill_ranges(query_list *list, const cmd_chunk_request *r, cmd_error *err)
{
    for (int i = 0; i < list->count; i++) {
        const char *stop = split_probability(list, i, r->ranges[i]);

        if (!read_axis(&list->axes[i], &list->lengths[i], stop, r, "range", r->ranges[i], err))
            return false;
    }
    return all_or_none(list, "range", err);
}

static bool from_lists(cmd_chunk_request *r, cmd_error *err)
{
    query_list   list;
    arras_error  why;
    arras_status status = ARRAS_OK;
    bool         shapes = r->query_count > 0;
    bool ok = make_list(&list, shapes ? r->query_count : r->range_count, r->options.rank, err) &&
              (shapes ? fill_shapes(&list, r, err) : fill_ranges(&list, r, err));

    const char *const *p = list.given ? list.probabilities : NULL;
    if (ok && shapes)
        status = arras_workload_from_shapes(&r->workload, r->options.rank, list.count, list.lengths,
                                            p, &why);
    else if (ok)
        status = arras_workload_from_ranges(&r->workload, r->options.rank, list.count, list.axes,
                                            list.lengths, p, &why);
    free_list(&list);
    return ok && (status == ARRAS_OK || cmd_fail(err, "%s", why.text));
}

static bool from_log(cmd_chunk_request *r, cmd_error *err)
{
    char       *text;
    size_t      length;
    arras_error why;

    if (!cmd_whole_file(&text, &length, r->log, err))
        return false;
    bool ok = arras_workload_from_log(&r->workload, r->options.rank, text, length, r->log, &why) ==
                  ARRAS_OK ||
              cmd_fail(err, "%s", why.text);
    free(text);
    return ok;
}

/* The same lengths, but independent of each other. */
static bool make_independent(cmd_chunk_request *r, cmd_error *err)
{
    arras_workload *joint = r->workload;
    arras_error     why;

    if (!r->independent || arras_workload_is_independent(joint))
        return true;
    if (arras_workload_independent(&r->workload, joint, &why) != ARRAS_OK)
        return cmd_fail(err, "%s", why.text);
    arras_workload_free(joint);
    return true;
}

static bool find_queries(cmd_chunk_request *r, cmd_error *err)
{
    int ways = (r->query_count > 0) + (r->range_count > 0) + (r->log != NULL);

    if (ways == 0)
        return cmd_fail(err, "how is the array read?  Give --query, --range or --log (`arras help "
                             "chunk`)");
    if (ways > 1)
        return cmd_fail(err, "--query, --range and --log say the same thing; give one kind");
    return (r->log ? from_log(r, err) : from_lists(r, err)) && make_independent(r, err);
}

bool cmd_chunk_request_resolve(cmd_chunk_request *r, cmd_error *err)
{
    return find_array(r, err) && read_bounds(r, err) && find_queries(r, err);
}
