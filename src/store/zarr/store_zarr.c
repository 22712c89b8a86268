/* store_zarr.c -- the format Zarr, versions 2 and 3: a directory for each array and group. */
#include "store/store.h"

#include <fcntl.h>
#include <unistd.h>

static bool recognise(const char *path, const uint8_t *first, size_t n)
{
    static const char *const files[] = { "zarr.json", ".zarray", ".zgroup" };
    int                      folder = first ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool                     found = false;

    (void)n;
    for (size_t i = 0; folder >= 0 && !found && i < AR_COUNT(files); i++)
        found = faccessat(folder, files[i], F_OK, 0) == 0;
    if (folder >= 0)
        close(folder);
    return found;
}

#if defined ARRAS_HAVE_JANSSON
#include "store/zarr/store_zarr.h"

const ar_format ar_format_zarr = { .name = "Zarr",
                                   .recognise = recognise,
                                   .open = ar_zarr_open,
                                   .list = ar_zarr_list,
                                   .create = ar_zarr_create,
                                   .append = ar_zarr_append };
#else

static arras_status refuse(const char *path, arras_error *err)
{
    return ar_fail(err, ARRAS_EFORMAT, "%s: this Arras was built without jansson, which Zarr needs",
                   path);
}

static arras_status open_zarr(ar_source **out, const char *path, const char *inside,
                              arras_error *err)
{
    (void)out, (void)inside;
    return refuse(path, err);
}

static arras_status list_zarr(ar_text *out, const char *path, const char *inside, arras_error *err)
{
    (void)out, (void)inside;
    return refuse(path, err);
}

static arras_status create_zarr(ar_sink **out, const char *path, const char *inside,
                                arras_dtype dtype, int rank, const int64_t *shape,
                                const ar_sink_options *options, arras_error *err)
{
    (void)out, (void)inside, (void)dtype, (void)rank, (void)shape, (void)options;
    return refuse(path, err);
}

const ar_format ar_format_zarr = { .name = "Zarr",
                                   .recognise = recognise,
                                   .open = open_zarr,
                                   .list = list_zarr,
                                   .create = create_zarr };
#endif
