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

const cmd_option cmd_info_options[] = { { 0 } };

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

static void print_statistics(const cmd_statistics *s)
{
    if (s->count > 0) {
        if (s->of_sizes)
            puts("of |x|:");
        print_cell("min", s->dtype, s->least);
        print_cell("max", s->dtype, s->most);
        printf("mean     %.10g\nstd      %.10g\n", s->mean, s->std);
    }
    if (s->nans > 0)
        printf("nan      %" PRId64 " cell%s\n", s->nans, s->nans == 1 ? "" : "s");
}

static bool describe(const char *source, int described, cmd_error *err)
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
        printf("%sarray    %s : ", described ? "\n" : "", source);
        cmd_print_type(stdout, &a);
        printf("\nsize     %" PRId64 " cell%s, %s\n", cmd_array_count(&a),
               cmd_array_count(&a) == 1 ? "" : "s", cmd_quantity_bytes(bytes, cmd_array_bytes(&a)));
        print_layout(&header);
        print_statistics(&s);
    }
    cmd_array_free(&a);
    return ok;
}

int cmd_info(int argc, char **argv)
{
    cmd_arguments a = cmd_arguments_of(argc, argv, cmd_info_options);
    const char   *source;
    cmd_error     err;
    int           described = 0;

    cmd_interrupt_start();
    for (;;) {
        int argument = cmd_next_argument(&a, &source, &err);

        if (argument == CMD_END_OF_ARGUMENTS)
            break;
        cmd_progress_start();
        cmd_progress_stage("reading", 0);
        bool ok = argument == CMD_NAME && describe(source, described++, &err);
        cmd_progress_stop();
        if (!ok)
            return cmd_complain("%s", err.text);
    }
    return described ? 0 : cmd_complain("info on what?  arras info h.npy (`arras help info`)");
}
