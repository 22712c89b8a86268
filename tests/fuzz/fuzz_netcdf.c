/* fuzz_netcdf.c -- any bytes as a netCDF classic file: its variables are listed, described and
 * read, or one line says why not. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void must_say(arras_status status, const arras_error *err)
{
    must(status == ARRAS_OK || (*err->text && !strchr(err->text, '\n')));
}

/* The first cells and the last ones: what the geometry promises must be there. */
static void read_corner(ar_source *s, bool last)
{
    int64_t      lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK], count = 1;
    arras_error  err = { 0 };
    arras_status status;

    for (int d = 0; d < s->info.rank; d++) {
        int64_t n = ar_min64(s->info.shape[d], count < 64 ? 3 : 1);

        lo[d] = last ? s->info.shape[d] - n : 0;
        hi[d] = lo[d] + n;
        count *= n;
    }
    char *cells = malloc((size_t)count * 16 + 1);
    must(cells != NULL);
    status = ar_source_read(s, lo, hi, cells, NULL, 1, &err);
    must_say(status, &err);
    must(status == ARRAS_OK || s->info.dtype == ARRAS_NO_DTYPE);
    free(cells);
}

static void look_at(const char *path, const char *variable)
{
    ar_source   *s = NULL;
    ar_text      text = { 0 };
    arras_error  err = { 0 };
    arras_status status = ar_format_netcdf_classic.open(&s, path, variable, &err);

    must_say(status, &err);
    if (status != ARRAS_OK)
        return;
    must_say(s->type->describe(s, &text, &err), &err);
    ar_text_free(&text);
    read_corner(s, false);
    read_corner(s, true);
    s->type->close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char         path[64];
    ar_text      names = { 0 };
    arras_error  err = { 0 };
    int          fd = memfd_create("input", MFD_CLOEXEC), looked = 0;
    arras_status status;

    must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    status = ar_format_netcdf_classic.list(&names, path, NULL, &err);
    must_say(status, &err);
    look_at(path, NULL);
    for (char *at = names.data; status == ARRAS_OK && at && *at && looked < 4; looked++) {
        char *end = strchr(at, '\n'), *tab = strchr(at, '\t');

        if (!end || !tab)
            break;
        *tab = '\0';
        look_at(path, at);
        at = end + 1;
    }
    ar_text_free(&names);
    close(fd);
    return 0;
}
