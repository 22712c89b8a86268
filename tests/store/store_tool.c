/* store_tool.c -- for tests in Python: what the library sees in a file, and files it writes.
 *
 * store_tool info PATH[:INSIDE]: one line for each property, then attributes
 * store_tool list PATH[:INSIDE]: what a container holds
 * store_tool read PATH[:INSIDE] [lo:hi,lo:hi]: cells in C order to standard output
 * store_tool write PATH[:INSIDE] DTYPE SHAPE CHUNK CODECS [OPTION...] < cells
 * store_tool append PATH[:INSIDE] AXIS EXTRA [leave] < cells: abandoned at the end with `leave`
 *
 * SHAPE and CHUNK are numbers with commas; "-" is rank 0, and a chunk or codecs that are not given.
 * Options: fill=NUMBER, grow=AXIS,AXIS, like=PATH[:INSIDE], by=ROWS (so many chunks at a time),
 * only=lo:hi,... (nothing else is written), version=2 (of Zarr), leave=1 (abandoned at the end).
 * THREADS in the environment: how many read and write; MISSING: what packed cells that are missing
 * become when they are read (a number, or nan), without it cells are as stored.  A failure is one
 * line and exit status 1. */
#include "store/store.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 4096 };

typedef struct {
    char  path[LONGEST];
    char *inside; /* NULL: not given */
} place;

static int fail(const char *text)
{
    fprintf(stderr, "store_tool: %s\n", text);
    return 1;
}

/* A file that is there is a path as a whole, colons or not. */
static void split_place(place *out, const char *text)
{
    char *colon;

    snprintf(out->path, sizeof out->path, "%s", text);
    out->inside = NULL;
    if (access(text, F_OK) == 0)
        return;
    colon = strchr(out->path, ':');
    if (colon) {
        *colon = '\0';
        out->inside = colon + 1;
    }
}

static int read_numbers(int64_t *out, const char *text)
{
    int   n = 0;
    char *end = NULL;

    if (strcmp(text, "-") == 0)
        return 0;
    for (; n < ARRAS_MAX_RANK; text = end + 1) {
        errno = 0;
        out[n++] = strtoll(text, &end, 10);
        if (end == text || errno)
            return -1;
        if (*end == '\0')
            return n;
        if (*end != ',')
            return -1;
    }
    return -1;
}

/* "lo:hi,lo:hi" */
static bool read_box(int64_t *lo, int64_t *hi, int rank, const char *text)
{
    for (int d = 0; d < rank; d++) {
        int used = 0;

        if (sscanf(text, "%" SCNd64 ":%" SCNd64 "%n", &lo[d], &hi[d], &used) != 2)
            return false;
        text += used + (text[used] == ',');
    }
    return *text == '\0';
}

static int threads(void)
{
    const char *text = getenv("THREADS");

    return text ? atoi(text) : 1;
}

static int64_t cells_of(int rank, const int64_t *lo, const int64_t *hi)
{
    int64_t n = 1;

    for (int d = 0; d < rank; d++)
        if (hi[d] < lo[d] || !ar_mul64(&n, n, hi[d] - lo[d]))
            return -1;
    return n;
}

/* ---- info, list, read ------------------------------------------------------------------------ */

static void print_numbers(const char *name, int rank, const int64_t *numbers)
{
    printf("%s:", name);
    for (int d = 0; d < rank; d++)
        printf(" %" PRId64, numbers[d]);
    printf("\n");
}

static void print_info(const ar_store_info *info)
{
    printf("format: %s\ndtype: %s\n", info->format, arras_dtype_name(info->dtype));
    print_numbers("shape", info->rank, info->shape);
    print_numbers("chunk", info->rank, info->chunk);
    printf("chunked: %d\nlayout: %s\nstored: %s\ncodecs: %s\nbytes: %" PRId64 "\n", info->chunked,
           info->layout, info->stored, info->codecs, info->stored_bytes);
    printf("growable:");
    for (int d = 0; d < info->rank; d++)
        printf(" %d", info->growable[d]);
    printf("\nfill: ");
    for (size_t i = 0; i < arras_dtype_size(info->dtype); i++)
        printf("%02x", info->fill[i]);
    printf("\naxes:");
    for (int d = 0; d < info->rank; d++)
        printf(" '%s'", info->axes[d]);
    printf("\n");
}

static int show_info(ar_source *s, arras_error *err)
{
    ar_text      text = { 0 };
    arras_status status = ARRAS_OK;

    print_info(&s->info);
    if (s->type->describe)
        status = s->type->describe(s, &text, err);
    if (text.data)
        fputs(text.data, stdout);
    ar_text_free(&text);
    return status == ARRAS_OK ? 0 : fail(err->text);
}

static int read_cells(ar_source *s, const char *box, arras_error *err)
{
    int64_t lo[ARRAS_MAX_RANK] = { 0 }, hi[ARRAS_MAX_RANK], cells;
    size_t  size = arras_dtype_size(s->info.dtype), bytes;
    char   *memory;
    int     result = 0;

    memcpy(hi, s->info.shape, sizeof hi);
    if (box && !read_box(lo, hi, s->info.rank, box))
        return fail("a box is lo:hi,lo:hi");
    cells = cells_of(s->info.rank, lo, hi);
    bytes = cells < 0 ? 0 : (size_t)cells * size;
    memory = cells < 0 || (size && bytes / size != (size_t)cells) ? NULL : malloc(bytes + 1);
    if (!memory)
        return fail("no memory for this box");
    if (ar_source_read(s, lo, hi, memory, NULL, threads(), err) != ARRAS_OK)
        result = fail(err->text);
    else if (fwrite(memory, 1, bytes, stdout) != bytes)
        result = fail(strerror(errno));
    free(memory);
    return result;
}

static arras_source_options options(void)
{
    const char *text = getenv("MISSING");

    if (!text)
        return (arras_source_options){ ARRAS_MISSING_RAW, 0 };
    return (arras_source_options){ strcmp(text, "nan") == 0 ? ARRAS_MISSING_PROPAGATE
                                                            : ARRAS_MISSING_REPLACE,
                                   ar_real_read(text, NULL, false) };
}

static int do_source(char **args, int n)
{
    const arras_source_options how = options();
    arras_error                err;
    ar_source                 *s;
    place                      at;
    int                        result;

    split_place(&at, args[1]);
    if (ar_store_open_with(&s, at.path, at.inside, &how, &err) != ARRAS_OK)
        return fail(err.text);
    result = strcmp(args[0], "info") == 0 ? show_info(s, &err)
                                          : read_cells(s, n > 2 ? args[2] : NULL, &err);
    s->type->close(s);
    return result;
}

static int do_list(char **args)
{
    arras_error  err;
    ar_text      text = { 0 };
    place        at;
    arras_status status;

    split_place(&at, args[1]);
    status = ar_store_list(&text, at.path, at.inside, &err);
    if (status == ARRAS_OK && text.data)
        fputs(text.data, stdout);
    ar_text_free(&text);
    return status == ARRAS_OK ? 0 : fail(err.text);
}

/* ---- write ----------------------------------------------------------------------------------- */

typedef struct {
    ar_sink_options options;
    arras_dtype     dtype;
    int             rank;
    int64_t         shape[ARRAS_MAX_RANK], chunk[ARRAS_MAX_RANK];
    bool            growable[ARRAS_MAX_RANK], leave;
    uint8_t         fill[16];
    ar_source      *like;
    int64_t         by;
    const char     *only;
} request;

static void set_fill(request *r, const char *text)
{
    double  real = ar_real_read(text, NULL, false);
    float   single = (float)real;
    int64_t whole = strtoll(text, NULL, 10); /* its first bytes are those of narrower integers */

    if (r->dtype == ARRAS_F32 || r->dtype == ARRAS_C64)
        memcpy(r->fill, &single, sizeof single);
    else if (r->dtype == ARRAS_F64 || r->dtype == ARRAS_C128)
        memcpy(r->fill, &real, sizeof real);
    else
        memcpy(r->fill, &whole, sizeof whole);
    r->options.fill = r->fill;
}

static bool set_growable(request *r, const char *text)
{
    int64_t axes[ARRAS_MAX_RANK];
    int     n = read_numbers(axes, text);

    for (int i = 0; i < n; i++)
        if (axes[i] >= 0 && axes[i] < r->rank)
            r->growable[axes[i]] = true;
    r->options.growable = r->growable;
    return n >= 0;
}

static bool set_like(request *r, const char *text, arras_error *err)
{
    place at;

    split_place(&at, text);
    if (ar_store_open(&r->like, at.path, at.inside, err) != ARRAS_OK)
        return false;
    r->options.like = r->like;
    return true;
}

static bool set_option(request *r, const char *text, arras_error *err)
{
    const char *value = strchr(text, '=');

    snprintf(err->text, sizeof err->text, "unknown option %s", text);
    if (!value++)
        return false;
    if (strncmp(text, "fill=", 5) == 0)
        set_fill(r, value);
    else if (strncmp(text, "grow=", 5) == 0)
        return set_growable(r, value);
    else if (strncmp(text, "like=", 5) == 0)
        return set_like(r, value, err);
    else if (strncmp(text, "by=", 3) == 0)
        r->by = atoll(value);
    else if (strncmp(text, "only=", 5) == 0)
        r->only = value;
    else if (strncmp(text, "version=", 8) == 0)
        r->options.version = atoi(value);
    else if (strncmp(text, "leave=", 6) == 0)
        r->leave = true;
    else
        return false;
    return true;
}

static bool read_request(request *r, char **args, int n, arras_error *err)
{
    int chunk_rank;

    r->dtype = arras_dtype_find(args[2]);
    r->rank = read_numbers(r->shape, args[3]);
    chunk_rank = read_numbers(r->chunk, args[4]);
    snprintf(err->text, sizeof err->text, "no such dtype, shape or chunk");
    if (r->dtype == ARRAS_NO_DTYPE || r->rank < 0 || (chunk_rank != 0 && chunk_rank != r->rank))
        return false;
    r->options.chunk = chunk_rank > 0 ? r->chunk : NULL;
    r->options.codecs = strcmp(args[5], "-") == 0 ? NULL : args[5];
    for (int i = 6; i < n; i++)
        if (!set_option(r, args[i], err))
            return false;
    return true;
}

/* So many chunks along the first axis at a time; by 0: all at once. */
static arras_status write_cells(ar_sink *s, const request *r, char *cells, int64_t *lo, int64_t *hi,
                                arras_error *err)
{
    int64_t      end = hi[0], step = r->rank ? r->by * s->info.chunk[0] : 0;
    int64_t      row = (int64_t)arras_dtype_size(r->dtype);
    arras_status status = ARRAS_OK;

    if (step <= 0)
        return ar_sink_write(s, lo, hi, cells, NULL, threads(), err);
    for (int d = 1; d < r->rank; d++)
        row *= hi[d] - lo[d];
    for (; lo[0] < end && status == ARRAS_OK; lo[0] += step) {
        hi[0] = ar_min64(end, lo[0] + step);
        status = ar_sink_write(s, lo, hi, cells, NULL, threads(), err);
        cells += (hi[0] - lo[0]) * row;
    }
    return status;
}

static arras_status fill_sink(ar_sink *s, const request *r, arras_error *err)
{
    int64_t      lo[ARRAS_MAX_RANK] = { 0 }, hi[ARRAS_MAX_RANK], cells;
    char        *memory;
    size_t       bytes;
    arras_status status;

    memcpy(hi, r->shape, sizeof hi);
    if (r->only && !read_box(lo, hi, r->rank, r->only))
        return ar_fail(err, ARRAS_EINVAL, "a box is lo:hi,lo:hi");
    cells = cells_of(r->rank, lo, hi);
    bytes = cells < 0 ? 0 : (size_t)cells * arras_dtype_size(r->dtype);
    memory = malloc(bytes + 1);
    if (cells < 0 || !memory || fread(memory, 1, bytes, stdin) != bytes)
        status = ar_fail(err, ARRAS_EIO, "standard input has less than the %zu bytes of the cells",
                         bytes);
    else
        status = write_cells(s, r, memory, lo, hi, err);
    free(memory);
    return status;
}

static int do_write(char **args, int n)
{
    arras_error  err = { 0 };
    request      r = { 0 };
    ar_sink     *s;
    place        at;
    arras_status status;

    split_place(&at, args[1]);
    if (!read_request(&r, args, n, &err))
        return fail(err.text);
    status = ar_store_create(&s, at.path, at.inside, r.dtype, r.rank, r.shape, &r.options, &err);
    if (status == ARRAS_OK) {
        status = fill_sink(s, &r, &err);
        if (status == ARRAS_OK && !r.leave)
            status = s->type->finish(s, &err);
        else
            s->type->abandon(s);
    }
    if (r.like)
        r.like->type->close(r.like);
    return status == ARRAS_OK ? 0 : fail(err.text);
}

/* ---- append ---------------------------------------------------------------------------------- */

/* First what ends with a chunk, if there is such a part; then the rest. */
static arras_status write_new(ar_sink *s, const char *cells, arras_error *err)
{
    int          axis = s->before.axis;
    int64_t      lo[ARRAS_MAX_RANK] = { 0 }, hi[ARRAS_MAX_RANK], end = s->info.shape[axis];
    int64_t      row = (int64_t)arras_dtype_size(s->info.dtype), chunk = s->info.chunk[axis];
    arras_status status = ARRAS_OK;

    memcpy(hi, s->info.shape, sizeof hi);
    for (int d = 1; d < s->info.rank; d++)
        row *= s->info.shape[d];
    lo[axis] = s->before.length;
    hi[axis] = axis ? end : ar_min64(end, (lo[0] / chunk + 1) * chunk);
    while (lo[axis] < end && status == ARRAS_OK) {
        status = ar_sink_write(s, lo, hi, cells, NULL, threads(), err);
        cells += (hi[axis] - lo[axis]) * row;
        lo[axis] = hi[axis];
        hi[axis] = end;
    }
    return status;
}

static arras_status append_cells(ar_sink *s, int64_t extra, arras_error *err)
{
    int64_t bytes = (int64_t)arras_dtype_size(s->info.dtype);

    for (int d = 0; d < s->info.rank; d++)
        bytes *= d == s->before.axis ? extra : s->info.shape[d];
    char        *cells = malloc((size_t)bytes + 1);
    arras_status status = cells && fread(cells, 1, (size_t)bytes, stdin) == (size_t)bytes
                              ? write_new(s, cells, err)
                              : ar_fail(err, ARRAS_EIO, "standard input has less than the cells");
    free(cells);
    return status;
}

static int do_append(char **args, int n)
{
    arras_error  err = { 0 };
    ar_sink     *s;
    place        at;
    arras_status status;

    split_place(&at, args[1]);
    status = ar_store_append(&s, at.path, at.inside, atoi(args[2]), atoll(args[3]), &err);
    if (status != ARRAS_OK)
        return fail(err.text);
    status = append_cells(s, atoll(args[3]), &err);
    if (status == ARRAS_OK && n == 4)
        status = s->type->finish(s, &err);
    else
        s->type->abandon(s);
    return status == ARRAS_OK ? 0 : fail(err.text);
}

int main(int argc, char **argv)
{
    const char *verb = argc > 2 ? argv[1] : "";
    int         result;

    setlocale(LC_ALL, ""); /* as programs do that speak to people: nothing may depend on it */
    if (strcmp(verb, "info") == 0 || strcmp(verb, "read") == 0)
        result = do_source(argv + 1, argc - 1);
    else if (strcmp(verb, "list") == 0)
        result = do_list(argv + 1);
    else if (strcmp(verb, "write") == 0 && argc >= 7)
        result = do_write(argv + 1, argc - 1);
    else if (strcmp(verb, "append") == 0 && argc >= 5)
        result = do_append(argv + 1, argc - 1);
    else
        result = fail("see the head of store_tool.c");
    ar_buffers_clear(); /* what waits for the next reader is nobody's */
    if (result == 0 && (fflush(stdout) != 0 || ar_alloc_live() != 0))
        result = fail("memory was not freed, or standard output is full");
    return result;
}
