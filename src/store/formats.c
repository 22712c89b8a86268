/* formats.c -- which format a file is of: by its first bytes when it is opened, by its name when it
 * is made. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BYTES = 16 };

/* Asked in this order; plain cells have no mark of their own and come last. */
static const ar_format *const formats[] = {
    &ar_format_npy,  &ar_format_hdf5, &ar_format_netcdf_classic,
    &ar_format_zarr, &ar_format_many, &ar_format_raw
};

/* The first bytes of a file; of a directory there are none, and *n is 0. */
static arras_status read_first(uint8_t *first, size_t *n, bool *directory, const char *path,
                               arras_error *err)
{
    struct stat st;
    int         fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t     got = 0;

    *n = 0;
    if (fd < 0 || fstat(fd, &st) != 0) {
        int why = errno;

        if (fd >= 0)
            close(fd);
        return ar_fail(err, ARRAS_EIO, "%s: %s", path, strerror(why));
    }
    *directory = S_ISDIR(st.st_mode);
    if (S_ISREG(st.st_mode))
        got = pread(fd, first, FIRST_BYTES, 0);
    close(fd);
    if (got < 0)
        return ar_fail(err, ARRAS_EIO, "%s: %s", path, strerror(errno));
    *n = (size_t)got;
    return ARRAS_OK;
}

static arras_status find_format(const ar_format **out, const char *path, arras_error *err)
{
    uint8_t      first[FIRST_BYTES];
    size_t       n;
    bool         directory;
    arras_status status = read_first(first, &n, &directory, path, err);

    for (size_t i = 0; i < AR_COUNT(formats) && status == ARRAS_OK; i++)
        if (formats[i]->recognise(path, directory ? NULL : first, n)) {
            *out = formats[i];
            return ARRAS_OK;
        }
    if (status != ARRAS_OK)
        return status;
    if (directory)
        return ar_fail(
            err, ARRAS_EFORMAT,
            "%s is a directory, neither of Zarr nor of files that are parts of one array", path);
    return ar_fail(
        err, ARRAS_EFORMAT,
        "%s is none of .npy, HDF5, netCDF, Zarr; for plain cells say their type and shape, "
        "as in %s:f32[100,200]",
        path, path);
}

/* A name like f32[100,200] can only mean plain cells. */
static bool is_plain(const char *inside)
{
    return inside && strchr(inside, '[') && inside[0] != '/';
}

arras_status ar_store_open(ar_source **out, const char *path, const char *inside, arras_error *err)
{
    const ar_format *format = &ar_format_raw;
    arras_status     status = is_plain(inside) ? ARRAS_OK : find_format(&format, path, err);

    return status == ARRAS_OK ? format->open(out, path, inside, err) : status;
}

arras_status ar_store_list(ar_text *out, const char *path, const char *inside, arras_error *err)
{
    const ar_format *format = NULL;
    arras_status     status = find_format(&format, path, err);

    if (status != ARRAS_OK)
        return status;
    if (!format->list)
        return ar_fail(err, ARRAS_EINVAL, "%s (%s) holds one array", path, format->name);
    return format->list(out, path, inside, err);
}

/* ---- New arrays ------------------------------------------------------------------------------ */

static const struct {
    const char      *ending;
    const ar_format *format;
} endings[] = {
    { ".npy", &ar_format_npy },   { ".h5", &ar_format_hdf5 }, { ".hdf5", &ar_format_hdf5 },
    { ".he5", &ar_format_hdf5 },  { ".nc", &ar_format_hdf5 }, { ".nc4", &ar_format_hdf5 },
    { ".zarr", &ar_format_zarr },
};

static bool ends_with(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);

    while (n > 0 && path[n - 1] == '/')
        n--;
    return n > m && memcmp(path + n - m, ending, m) == 0;
}

arras_status ar_store_append(ar_sink **out, const char *path, const char *inside, int axis,
                             int64_t extra, arras_error *err)
{
    const ar_format *format = NULL;
    arras_status     status = find_format(&format, path, err);

    if (status == ARRAS_OK && !format->append)
        return ar_fail(err, ARRAS_EFORMAT,
                       "%s: nothing can be appended to %s; arrays in HDF5, netCDF-4 and Zarr grow",
                       path, format->name);
    return status == ARRAS_OK ? format->append(out, path, inside, axis, extra, err) : status;
}

arras_status ar_store_create(ar_sink **out, const char *path, const char *inside, arras_dtype dtype,
                             int rank, const int64_t *shape, const ar_sink_options *options,
                             arras_error *err)
{
    static const ar_sink_options defaults;

    ar_store_tidy(path, inside, options && options->replace);
    for (size_t i = 0; i < AR_COUNT(endings); i++)
        if (ends_with(path, endings[i].ending)) {
            if (!endings[i].format->create)
                return ar_fail(err, ARRAS_EFORMAT, "%s: arrays can't be written as %s", path,
                               endings[i].format->name);
            return endings[i].format->create(out, path, inside, dtype, rank, shape,
                                             options ? options : &defaults, err);
        }
    return ar_fail(err, ARRAS_EFORMAT,
                   "%s: the ending of a new file says its format: .npy, .h5, .nc or .zarr", path);
}
