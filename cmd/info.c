/* info.c -- `arras info`: what an array is and how it is stored, with statistics of its cells. */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cell_statistics.h"
#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/print_array.h"
#include "cmd/print_cells.h"
#include "cmd/progress.h"
#include "cmd/quantity.h"
#include "cmd/source.h"
#include "cmd/stored.h"

enum { OPT_LOG_QUERIES };

const cmd_option cmd_info_options[] = {
    [OPT_LOG_QUERIES] = { "log-queries", 0, "FILE",
                          "note which boxes of arrays in files are read, for `arras chunk --log`" },
    { 0 },
};

static void print_layout(const cmd_npy_header *h)
{
    bool little = (BYTE_ORDER == LITTLE_ENDIAN) != h->swapped;

    if (h->version == 0) {
        puts("layout   a literal");
        return;
    }
    printf("layout   .npy version %d, %s order", h->version, h->fortran ? "Fortran" : "C");
    if (arras_dtype_size(h->dtype) > 1)
        printf(", %s-endian", little ? "little" : "big");
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

static bool print_storage(const cmd_place *place, const cmd_npy_header *header, cmd_error *err)
{
    if (cmd_stored_is(place))
        return cmd_stored_describe(place, err);
    print_layout(header);
    return true;
}

static bool describe_array(const char *source, const cmd_place *place, bool is_first,
                           cmd_error *err)
{
    cmd_npy_header header = { 0 };
    cmd_array      a;
    cmd_statistics s;
    char           bytes[CMD_QUANTITY_ROOM];

    if (!cmd_source_load(&a, &header, source, err))
        return false;
    bool ok = cmd_statistics_of(&s, &a, err);
    cmd_progress_stop();
    if (ok) {
        printf("%sarray    %s : ", is_first ? "" : "\n", source);
        cmd_print_type(stdout, &a);
        printf("\nsize     %" PRId64 " cell%s, %s\n", cmd_array_count(&a),
               cmd_array_count(&a) == 1 ? "" : "s", cmd_quantity_bytes(bytes, cmd_array_bytes(&a)));
        ok = print_storage(place, &header, err);
        print_statistics(&s);
    }
    cmd_array_free(&a);
    return ok;
}

/* A container without a name inside is listed, unless it holds one array only. */
static bool describe(const char *source, bool is_first, cmd_error *err)
{
    cmd_place place;

    if (!cmd_place_parse(&place, source, err))
        return false;
    bool listed = cmd_stored_is(&place) && !cmd_stored_is_one(&place);
    if (listed && !is_first)
        putchar('\n');
    bool ok = listed ? cmd_stored_list(&place, err) : describe_array(source, &place, is_first, err);
    cmd_place_free(&place);
    return ok;
}

/* Options may stand behind the arrays that they are for. */
static void hear_options(int argc, char **argv)
{
    cmd_arguments a = cmd_arguments_of(argc, argv, cmd_info_options);
    const char   *value;
    cmd_error     unused;

    for (int argument = 0; argument != CMD_END_OF_ARGUMENTS && argument != CMD_BAD_ARGUMENT;) {
        argument = cmd_next_argument(&a, &value, &unused);
        if (argument == OPT_LOG_QUERIES)
            cmd_stored_log_queries(value);
    }
}

int cmd_info(int argc, char **argv)
{
    cmd_arguments a = cmd_arguments_of(argc, argv, cmd_info_options);
    const char   *source;
    cmd_error     err;
    int           asked = 0, described = 0;

    cmd_interrupt_start();
    hear_options(argc, argv);
    for (;;) {
        int argument = cmd_next_argument(&a, &source, &err);

        if (argument == CMD_END_OF_ARGUMENTS)
            break;
        if (argument == OPT_LOG_QUERIES)
            continue;
        if (argument != CMD_NAME)
            return cmd_complain("%s", err.text);
        cmd_progress_start();
        cmd_progress_stage("reading", 0);
        bool ok = describe(source, described == 0, &err);
        cmd_progress_stop();
        asked++;
        described += ok;
        if (!ok)
            cmd_complain("%s", err.text);
    }
    return asked ? described < asked
                 : cmd_complain("info on what?  arras info h.npy (`arras help info`)");
}
