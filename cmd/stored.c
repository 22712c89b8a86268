/* stored.c -- arrays in HDF5, netCDF and Zarr, through the library. */
#include "cmd/stored.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/quantity.h"

static const int64_t from_start[ARRAS_MAX_RANK];

/* Files with other endings that begin as HDF5 or netCDF do; of pipes nothing must be read. */
static bool is_container(const char *file)
{
    char        first[4] = "";
    struct stat st;
    int fd = stat(file, &st) == 0 && S_ISREG(st.st_mode) ? open(file, O_RDONLY | O_CLOEXEC) : -1;

    if (fd < 0)
        return false;
    ssize_t got = pread(fd, first, sizeof first, 0);
    close(fd);
    return got == sizeof first &&
           (memcmp(first, "\x89HDF", sizeof first) == 0 || memcmp(first, "CDF", 3) == 0);
}

/* Files that are one array together. */
static bool is_directory(const char *file)
{
    struct stat s;

    return stat(file, &s) == 0 && S_ISDIR(s.st_mode);
}

bool cmd_stored_is(const cmd_place *place)
{
    if (place->format == CMD_FORMAT_UNKNOWN)
        return place->part || is_directory(place->file) || is_container(place->file);
    return place->format > CMD_FORMAT_NPY;
}

static bool give_up(cmd_error *err, const arras_error *why)
{
    return cmd_fail(err, "%s", why->text);
}

bool cmd_stored_no_numbers(const arras_store_info *info, const char *source, cmd_error *err)
{
    if (strncmp(info->stored, "compound", strlen("compound")) == 0)
        return cmd_fail(err, "%s: its cells are records, %s; say which member: %s.MEMBER", source,
                        info->stored, source);
    return cmd_fail(err, "%s: its cells, %s, are not numbers", source, info->stored);
}

static const char *query_log; /* NULL: reads are not noted */

void cmd_stored_log_queries(const char *file) { query_log = file; }

bool cmd_stored_open(arras_source **out, const cmd_place *place, cmd_error *err)
{
    arras_source *source;
    arras_error   why;

    if (arras_source_open_with(&source, place->file, place->part, &place->options, &why) !=
        ARRAS_OK)
        return give_up(err, &why);
    bool ok = arras_source_info(source)->dtype != ARRAS_NO_DTYPE ||
              cmd_stored_no_numbers(arras_source_info(source), place->file, err);
    if (ok && query_log)
        ok = arras_source_log(source, query_log, &why) == ARRAS_OK || give_up(err, &why);
    if (ok)
        *out = source;
    else
        arras_source_close(source);
    return ok;
}

static bool read_cells(cmd_array *out, arras_source *source, const cmd_place *place, cmd_error *err)
{
    const arras_store_info *info = arras_source_info(source);
    arras_error             why;

    if (!cmd_array_new(out, info->dtype, info->rank, info->shape))
        return cmd_fail(err, "%s: no memory for its cells", place->file);
    if (arras_source_read(source, from_start, info->shape, out->data, NULL, 0, &why) == ARRAS_OK)
        return true;
    cmd_array_free(out);
    return give_up(err, &why);
}

bool cmd_stored_read(cmd_array *out, const cmd_place *place, cmd_error *err)
{
    arras_source *source;

    if (!cmd_stored_open(&source, place, err))
        return false;
    bool ok = read_cells(out, source, place, err);
    arras_source_close(source);
    return ok;
}

/* ---- What there is --------------------------------------------------------------------------- */

static void print_numbers(const char *what, int rank, const int64_t *numbers)
{
    printf("%-8s [", what);
    for (int d = 0; d < rank; d++)
        printf("%s%" PRId64, d ? ", " : "", numbers[d]);
    puts("]");
}

static void print_axes(const arras_store_info *info)
{
    bool named = false;

    for (int d = 0; d < info->rank; d++)
        named = named || info->axes[d][0] != '\0';
    if (!named)
        return;
    printf("axes     ");
    for (int d = 0; d < info->rank; d++)
        printf("%s%s%s", d ? ", " : "", info->axes[d][0] ? info->axes[d] : "-",
               info->growable[d] ? " (unlimited)" : "");
    putchar('\n');
}

static void print_info(const arras_store_info *info)
{
    char bytes[CMD_QUANTITY_ROOM];

    printf("format   %s, %s, %s\n", info->format, info->layout, info->stored);
    if (info->chunked)
        print_numbers("chunks", info->rank, info->chunk);
    if (info->codecs[0])
        printf("codecs   %s\n", info->codecs);
    if (info->stored_bytes >= 0)
        printf("stored   %s\n", cmd_quantity_bytes(bytes, info->stored_bytes));
    print_axes(info);
}

static bool print_attributes(arras_source *source, cmd_error *err)
{
    arras_error why;
    char       *text;

    if (arras_source_describe(&text, source, &why) != ARRAS_OK)
        return give_up(err, &why);
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        printf("         %.*s\n", (int)(end - line), line);
        end += *end == '\n';
    }
    arras_text_free(text);
    return true;
}

/* A group, or a file without what is inside it. */
static bool is_listed(const cmd_place *place)
{
    char *text;

    if (!place->part)
        return true;
    if (arras_source_list(&text, place->file, place->part, NULL) != ARRAS_OK)
        return false;
    bool any = *text != '\0';
    arras_text_free(text);
    return any;
}

bool cmd_stored_is_one(const cmd_place *place)
{
    arras_source *source;

    if (arras_source_open(&source, place->file, place->part, NULL) != ARRAS_OK)
        return !is_listed(place); /* then opening it again says what is wrong */
    bool numbers = arras_source_info(source)->dtype != ARRAS_NO_DTYPE;
    arras_source_close(source);
    return numbers;
}

bool cmd_stored_list(const cmd_place *place, cmd_error *err)
{
    arras_error why;
    char       *text;

    if (arras_source_list(&text, place->file, place->part, &why) != ARRAS_OK)
        return give_up(err, &why);
    printf("%s%s%s holds\n", place->file, place->part ? ":" : "", place->part ? place->part : "");
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        printf("    %.*s\n", (int)(end - line), line);
        end += *end == '\n';
    }
    arras_text_free(text);
    return true;
}

bool cmd_stored_describe(const cmd_place *place, cmd_error *err)
{
    arras_source *source;
    arras_error   why;

    if (arras_source_open(&source, place->file, place->part, &why) != ARRAS_OK)
        return give_up(err, &why);
    print_info(arras_source_info(source));
    bool ok = print_attributes(source, err);
    arras_source_close(source);
    return ok;
}

/* ---- New arrays ------------------------------------------------------------------------------ */

static bool create(arras_sink **out, const cmd_place *place, const cmd_array *a,
                   const bool *growable, const cmd_place *like, cmd_error *err)
{
    arras_sink_options options = { .growable = growable };
    arras_source      *source = NULL;
    arras_error        why;

    if (like &&
        arras_source_open_with(&source, like->file, like->part, &like->options, &why) != ARRAS_OK)
        return give_up(err, &why);
    options.like = source;
    bool ok = arras_sink_create(out, place->file, place->part, a->dtype, a->rank, a->shape,
                                &options, &why) == ARRAS_OK;
    arras_source_close(source);
    return ok || give_up(err, &why);
}

bool cmd_stored_create(arras_sink **out, const cmd_place *place, const cmd_array *a,
                       const cmd_place *like, cmd_error *err)
{
    return create(out, place, a, NULL, like, err);
}

/* Type and all axes but the first are the same. */
static bool check_rows(const arras_store_info *info, const cmd_place *place, const cmd_array *a,
                       cmd_error *err)
{
    bool fits = info->dtype == a->dtype && info->rank == a->rank;

    for (int d = 1; d < a->rank && fits; d++)
        fits = info->shape[d] == a->shape[d];
    return fits || cmd_fail(err,
                            "%s: the result, %s of rank %d, does not fit behind the %s of rank %d "
                            "that is there: type and all axes but the first must be the same",
                            place->file, arras_dtype_name(a->dtype), a->rank,
                            arras_dtype_name(info->dtype), info->rank);
}

bool cmd_stored_append(arras_sink **out, const cmd_place *place, const cmd_array *a,
                       const cmd_place *like, cmd_error *err)
{
    static const bool first[ARRAS_MAX_RANK] = { true };
    arras_error       why;

    if (a->rank == 0)
        return cmd_fail(err, "%s: a single number has no axis along which it could be appended",
                        place->file);
    if (access(place->file, F_OK) != 0)
        return create(out, place, a, first, like, err);
    arras_status status = arras_sink_append(out, place->file, place->part, 0, a->shape[0], &why);
    if (status == ARRAS_ENAME)
        return create(out, place, a, first, like, err);
    if (status != ARRAS_OK)
        return give_up(err, &why);
    if (check_rows(arras_sink_info(*out), place, a, err))
        return true;
    arras_sink_abandon(*out);
    *out = NULL;
    return false;
}

/* At the end of the array, which is all of it where it is new. */
bool cmd_stored_write(arras_sink *sink, const cmd_array *a, cmd_error *err)
{
    const arras_store_info *info = arras_sink_info(sink);
    int64_t                 lo[ARRAS_MAX_RANK] = { 0 };
    arras_error             why;

    if (a->rank > 0)
        lo[0] = info->shape[0] - a->shape[0];
    return arras_sink_write(sink, lo, info->shape, a->data, NULL, 0, &why) == ARRAS_OK ||
           give_up(err, &why);
}

bool cmd_stored_finish(arras_sink *sink, cmd_error *err)
{
    arras_error why;

    return arras_sink_finish(sink, &why) == ARRAS_OK || give_up(err, &why);
}
