/* info.c -- `arras info`: what an array is and how it is stored, with statistics of its cells. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/io/print_array.h"
#include "cmd/io/print_cells.h"
#include "cmd/io/quantity.h"
#include "cmd/io/source.h"
#include "cmd/io/stored.h"
#include "cmd/progress.h"
#include "cmd/show/cell_statistics.h"

/* Bytes of cells that are read without being asked: a second or so from a slow disk. */
#define CHEAP ((int64_t)256 << 20)

enum { OPT_STATS, OPT_LOG_QUERIES };

const cmd_option cmd_info_options[] = {
    [OPT_STATS] = { "stats", 0, NULL,
                    "statistics also of arrays of more than 256 MiB: all of their cells are read" },
    [OPT_LOG_QUERIES] = { "log-queries", 0, "FILE",
                          "note which boxes of arrays in files are read, for `arras chunk --log`" },
    { 0 },
};

static void print_layout(const arras_npy_header *h)
{
    bool little = (BYTE_ORDER == LITTLE_ENDIAN) != h->swapped;

    if (h->version == 0) {
        puts("layout   a literal");
        return;
    }
    printf("layout   .npy version %d, %s order", h->version, h->fortran ? "Fortran" : "C");
    if (arras_dtype_size(h->dtype) > 1)
        printf(", %s-endian%s", little ? "little" : "big", h->half ? " float16" : "");
    putchar('\n');
}

static void print_cell(const char *what, arras_dtype dtype, const void *cell)
{
    char text[CMD_CELL_ROOM];

    cmd_cell_alone(text, dtype, cell);
    printf("%-8s %s\n", what, text);
}

static void print_count(const char *what, int64_t count)
{
    if (count > 0)
        printf("%-8s %" PRId64 " cell%s\n", what, count, count == 1 ? "" : "s");
}

static void print_statistics(const cmd_statistics *s)
{
    if (s->count > 0) {
        if (s->of_sizes)
            puts("of |x|:");
        print_cell("min", s->dtype, s->least);
        print_cell("max", s->dtype, s->most);
        printf("mean     %.10g\nstd      %.10g\n", s->mean, s->std);
    }
    print_count("nan", s->nans);
    print_count("inf", s->infs);
}

/* ---- One array ------------------------------------------------------------------------------- */

typedef struct {
    const char      *source;
    const cmd_place *place;
    arras_npy_header header; /* of what is not in a container; version 0: a literal */
    cmd_array        array;  /* without data as long as its cells were not read */
    arras_source    *stored; /* of a large one */
} subject;

static bool print_storage(const subject *s, cmd_error *err)
{
    if (cmd_stored_is(s->place))
        return cmd_stored_describe(s->place, err);
    print_layout(&s->header);
    return true;
}

static bool print_head(const subject *s, bool is_first, cmd_error *err)
{
    int64_t cells = cmd_array_count(&s->array);
    char    bytes[CMD_QUANTITY_ROOM];

    printf("%sarray    %s : ", is_first ? "" : "\n", s->source);
    cmd_print_type(stdout, &s->array);
    printf("\nsize     %" PRId64 " cell%s, %s\n", cells, cells == 1 ? "" : "s",
           cmd_quantity_bytes(bytes, cmd_array_bytes(&s->array)));
    return print_storage(s, err);
}

/* Regular files have a header; what it says of a pipe is known when all of it was read. */
static bool read_npy_header(subject *s, cmd_error *err)
{
    struct stat st;
    int         fd = open(s->place->file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool is_file = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > CHEAP;
    bool ok = !is_file || cmd_npy_header_read(&s->header, fd, s->place->file, err);

    if (fd >= 0)
        close(fd);
    return ok;
}

/* Those that are large stay in their files. */
static bool open_large(subject *s, cmd_error *err)
{
    bool in_container = cmd_stored_is(s->place);

    if (!in_container && s->place->format != CMD_FORMAT_NPY)
        return true;
    if (!in_container && !read_npy_header(s, err))
        return false;
    if (!in_container && s->header.version == 0)
        return true;
    if (!cmd_stored_open(&s->stored, s->place, err))
        return false;
    const arras_store_info *info = arras_source_info(s->stored);
    s->array = (cmd_array){ .dtype = info->dtype, .rank = info->rank };
    memcpy(s->array.shape, info->shape, sizeof info->shape);
    int64_t bytes = cmd_array_bytes(&s->array);
    if (bytes < 0)
        return cmd_fail(err, "%s: it has more bytes than there can be", s->source);
    if (bytes > CHEAP)
        return true;
    arras_source_close(s->stored);
    s->stored = NULL;
    return true;
}

static bool describe_small(subject *s, bool is_first, cmd_error *err)
{
    cmd_statistics statistics;

    if (!cmd_source_load(&s->array, &s->header, s->source, err))
        return false;
    bool ok = cmd_statistics_of(&statistics, &s->array, err);
    cmd_progress_stop();
    ok = ok && print_head(s, is_first, err);
    if (ok)
        print_statistics(&statistics);
    cmd_array_free(&s->array);
    return ok;
}

/* Slabs of an array in Fortran order lie all over the file; its cells are read as they lie there.
 */
static bool compute_large(cmd_statistics *out, const subject *s, cmd_error *err)
{
    if (!s->header.fortran)
        return cmd_statistics_of_stored(out, s->stored, err);
    int       fd = open(s->place->file, O_RDONLY | O_CLOEXEC);
    cmd_array a;

    if (fd < 0)
        return cmd_fail(err, "cannot read %s: %s", s->place->file, strerror(errno));
    bool ok = cmd_npy_read_unordered(&a, fd, s->place->file, err);
    close(fd);
    if (!ok)
        return false;
    ok = cmd_statistics_of(out, &a, err);
    cmd_array_free(&a);
    return ok;
}

/* What is known at once is said at once. */
static bool describe_large(const subject *s, bool is_first, bool reads_all, cmd_error *err)
{
    cmd_statistics statistics;

    cmd_progress_clear();
    if (!print_head(s, is_first, err))
        return false;
    if (!reads_all) {
        puts("stats    not computed, all cells would have to be read: arras info --stats");
        return true;
    }
    fflush(stdout);
    bool ok = compute_large(&statistics, s, err);
    cmd_progress_stop();
    if (ok)
        print_statistics(&statistics);
    return ok;
}

static bool describe_array(const char *source, const cmd_place *place, bool is_first,
                           bool reads_all, cmd_error *err)
{
    subject s = { .source = source, .place = place };
    bool    ok = open_large(&s, err);

    if (ok)
        ok = s.stored ? describe_large(&s, is_first, reads_all, err)
                      : describe_small(&s, is_first, err);
    arras_source_close(s.stored);
    return ok;
}

/* A container without a name inside is listed, unless it holds one array only. */
static bool describe(const char *source, bool is_first, bool reads_all, cmd_error *err)
{
    cmd_place place;

    if (!cmd_place_parse(&place, source, err))
        return false;
    bool listed = cmd_stored_is(&place) && !cmd_stored_is_one(&place);
    if (listed && !is_first)
        putchar('\n');
    bool ok = listed ? cmd_stored_list(&place, err)
                     : describe_array(source, &place, is_first, reads_all, err);
    cmd_place_free(&place);
    return ok;
}

/* Options may stand behind the arrays that they are for.  Whether all cells are to be read. */
static bool hear_options(int argc, char **argv)
{
    cmd_arguments a = cmd_arguments_of(argc, argv, cmd_info_options);
    const char   *value;
    cmd_error     unused;
    bool          reads_all = false;

    for (int argument = 0; argument != CMD_END_OF_ARGUMENTS && argument != CMD_BAD_ARGUMENT;) {
        argument = cmd_next_argument(&a, &value, &unused);
        if (argument == OPT_LOG_QUERIES)
            cmd_stored_log_queries(value);
        reads_all = reads_all || argument == OPT_STATS;
    }
    return reads_all;
}

int cmd_info(int argc, char **argv)
{
    cmd_arguments a = cmd_arguments_of(argc, argv, cmd_info_options);
    const char   *source;
    cmd_error     err;
    int           asked = 0, described = 0;

    cmd_interrupt_start();
    bool reads_all = hear_options(argc, argv);
    for (;;) {
        int argument = cmd_next_argument(&a, &source, &err);

        if (argument == CMD_END_OF_ARGUMENTS)
            break;
        if (argument == OPT_LOG_QUERIES || argument == OPT_STATS)
            continue;
        if (argument != CMD_NAME)
            return cmd_complain("%s", err.text);
        cmd_progress_start();
        cmd_progress_stage("reading", 0);
        bool ok = describe(source, described == 0, reads_all, &err);
        cmd_progress_stop();
        asked++;
        described += ok;
        if (!ok)
            cmd_complain("%s", err.text);
    }
    return asked ? described < asked
                 : cmd_complain("info on what?  arras info h.npy (`arras help info`)");
}
