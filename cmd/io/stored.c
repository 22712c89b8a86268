/* stored.c -- arrays in HDF5, netCDF and Zarr, through the library. */
#include "cmd/io/stored.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/interrupt.h"
#include "cmd/io/quantity.h"

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

/* So many rows that they are a piece of work, and whole chunks. */
static int64_t rows_at_once(const arras_store_info *info, const cmd_array *a)
{
    int64_t bytes = cmd_array_bytes(a), rows = a->shape[0],
            chunk = info->chunked ? info->chunk[0] : 1;
    int64_t some =
        CMD_SMALL < bytes ? (int64_t)((double)CMD_SMALL / (double)bytes * (double)rows) : rows;

    return (some / chunk + 1) * chunk;
}

static bool read_slabs(cmd_array *a, cmd_error *err)
{
    const arras_store_info *info = arras_source_info(a->stored);
    int64_t                 lo[ARRAS_MAX_RANK] = { 0 }, hi[ARRAS_MAX_RANK], step = 0;
    arras_error             why;

    memcpy(hi, info->shape, sizeof hi);
    if (a->rank > 0 && cmd_array_bytes(a) > 0) {
        step = rows_at_once(info, a);
        hi[0] = 0;
    }
    do {
        char *to = a->data;

        if (cmd_interrupted())
            return cmd_fail(err, "cancelled");
        if (step > 0) {
            lo[0] = hi[0];
            hi[0] = info->shape[0] - lo[0] < step ? info->shape[0] : lo[0] + step;
            to += cmd_array_bytes(a) / info->shape[0] * lo[0];
        }
        if (arras_source_read(a->stored, lo, hi, to, NULL, 0, &why) != ARRAS_OK)
            return give_up(err, &why);
    } while (step > 0 && hi[0] < info->shape[0]);
    return true;
}

static bool check_room(int64_t bytes, const char *name, cmd_error *err)
{
    int64_t available = arras_memory_available();

    if (bytes < 0)
        return cmd_fail(err, "%s: it has more bytes than there can be", name);
    return bytes <= available ||
           cmd_fail(err, "%s: its cells are %" PRId64 " bytes, and %" PRId64 " bytes are free",
                    name, bytes, available);
}

bool cmd_stored_fetch(cmd_array *a, const char *name, cmd_error *err)
{
    cmd_array out;

    if (!check_room(cmd_array_bytes(a), name, err))
        return false;
    if (!cmd_array_new(&out, a->dtype, a->rank, a->shape))
        return cmd_fail(err, "%s: no memory for its cells", name);
    out.stored = a->stored;
    bool ok = read_slabs(&out, err);
    out.stored = NULL;
    cmd_array_free(ok ? a : &out);
    if (ok)
        *a = out;
    return ok;
}

bool cmd_stored_read(cmd_array *out, const cmd_place *place, int64_t most, cmd_error *err)
{
    cmd_array a = { 0 };

    if (!cmd_stored_open(&a.stored, place, err))
        return false;
    const arras_store_info *info = arras_source_info(a.stored);
    a.dtype = info->dtype;
    a.rank = info->rank;
    memcpy(a.shape, info->shape, sizeof a.shape);
    int64_t bytes = cmd_array_bytes(&a);
    bool    stays = most < INT64_MAX && (bytes < 0 || bytes > most);
    if (!stays && !cmd_stored_fetch(&a, place->file, err)) {
        cmd_array_free(&a);
        return false;
    }
    *out = a;
    return true;
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

    arras_status status = arras_source_open(&source, place->file, place->part, NULL);
    if (status != ARRAS_OK)
        return status == ARRAS_ENOMEM ||
               !is_listed(place); /* then opening it again says what is wrong */
    bool numbers = arras_source_info(source)->dtype != ARRAS_NO_DTYPE;
    arras_source_close(source);
    return numbers;
}

/* ---- Folders of .npy files ------------------------------------------------------------------- */

static int is_npy(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot && dot != entry->d_name && strcasecmp(dot, ".npy") == 0;
}

static void list_file(const char *folder, const char *name)
{
    arras_source *source;
    arras_error   why;
    char         *path;

    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return;
    if (arras_source_open(&source, path, NULL, &why) == ARRAS_OK) {
        const arras_store_info *info = arras_source_info(source);

        printf("    %s\t%s[", name, arras_dtype_name(info->dtype));
        for (int d = 0; d < info->rank; d++)
            printf("%s%" PRId64, d ? ", " : "", info->shape[d]);
        puts("]");
        arras_source_close(source);
    } else {
        printf("    %s\t%s\n", name, why.text);
    }
    free(path);
}

/* Files that are not parts of one array; false when there are none. */
static bool list_folder(const cmd_place *place)
{
    struct dirent **entries = NULL;
    int             n = place->part || !is_directory(place->file)
                            ? 0
                            : scandir(place->file, &entries, is_npy, alphasort);

    if (n > 0)
        printf("%s holds\n", place->file);
    for (int i = 0; i < n; i++) {
        list_file(place->file, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return n > 0;
}

bool cmd_stored_list(const cmd_place *place, cmd_error *err)
{
    arras_error why;
    char       *text;

    if (list_folder(place))
        return true;
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
