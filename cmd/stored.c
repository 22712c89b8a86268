/* stored.c -- arrays in HDF5, netCDF and Zarr, through the library. */
#include "cmd/stored.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/quantity.h"

static const int64_t from_start[ARRAS_MAX_RANK];

bool cmd_stored_is(const cmd_place *place)
{
    return place->format > CMD_FORMAT_NPY || (place->part && place->format == CMD_FORMAT_UNKNOWN);
}

static bool give_up(cmd_error *err, const arras_error *why)
{
    return cmd_fail(err, "%s", why->text);
}

static bool read_cells(cmd_array *out, arras_source *source, const char *file, cmd_error *err)
{
    const arras_store_info *info = arras_source_info(source);
    arras_error             why;

    if (info->dtype == ARRAS_NO_DTYPE)
        return cmd_fail(err, "%s: its cells, %s, are not numbers", file, info->stored);
    if (!cmd_array_new(out, info->dtype, info->rank, info->shape))
        return cmd_fail(err, "%s: no memory for its cells", file);
    if (arras_source_read(source, from_start, info->shape, out->data, NULL, 0, &why) == ARRAS_OK)
        return true;
    cmd_array_free(out);
    return give_up(err, &why);
}

bool cmd_stored_read(cmd_array *out, const cmd_place *place, cmd_error *err)
{
    arras_source *source;
    arras_error   why;

    if (arras_source_open(&source, place->file, place->part, &why) != ARRAS_OK)
        return give_up(err, &why);
    bool ok = read_cells(out, source, place->file, err);
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

bool cmd_stored_is_one(const cmd_place *place)
{
    arras_source *source;

    if (arras_source_open(&source, place->file, place->part, NULL) != ARRAS_OK)
        return place->part != NULL; /* then opening it again says what is wrong */
    arras_source_close(source);
    return true;
}

bool cmd_stored_list(const cmd_place *place, cmd_error *err)
{
    arras_error why;
    char       *text;

    if (arras_source_list(&text, place->file, place->part, &why) != ARRAS_OK)
        return give_up(err, &why);
    printf("%s holds\n", place->file);
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

bool cmd_stored_create(arras_sink **out, const cmd_place *place, const cmd_array *a, cmd_error *err)
{
    arras_error why;

    return arras_sink_create(out, place->file, place->part, a->dtype, a->rank, a->shape, NULL,
                             &why) == ARRAS_OK ||
           give_up(err, &why);
}

bool cmd_stored_write(arras_sink *sink, const cmd_array *a, cmd_error *err)
{
    arras_error why;

    return arras_sink_write(sink, from_start, a->shape, a->data, NULL, 0, &why) == ARRAS_OK ||
           give_up(err, &why);
}

bool cmd_stored_finish(arras_sink *sink, cmd_error *err)
{
    arras_error why;

    return arras_sink_finish(sink, &why) == ARRAS_OK || give_up(err, &why);
}
