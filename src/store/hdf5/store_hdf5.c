/* store_hdf5.c -- the format HDF5, and with it netCDF-4: what the rest of the library sees of it.
 */
#include "store/store.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const uint8_t signature[8] = { 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n' };

/* The signature is at byte 0 or, behind a block of the user's own, at 512, 1024, 2048, ... */
static bool has_late_signature(const char *path)
{
    int     fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    uint8_t bytes[sizeof signature];
    bool    found = false;

    if (fd < 0)
        return false;
    for (int64_t at = 512; !found && at < INT64_MAX / 2; at *= 2) {
        if (pread(fd, bytes, sizeof bytes, at) != (ssize_t)sizeof bytes)
            break;
        found = memcmp(bytes, signature, sizeof bytes) == 0;
    }
    close(fd);
    return found;
}

static bool recognise(const char *path, const uint8_t *first, size_t n)
{
    if (!first)
        return false;
    return (n >= sizeof signature && memcmp(first, signature, sizeof signature) == 0) ||
           has_late_signature(path);
}

#if defined ARRAS_HAVE_HDF5
#include "store/hdf5/store_hdf5.h"

static arras_status list(ar_text *out, const char *path, const char *inside, arras_error *err)
{
    ar_h5_file   file = { .path = path };
    arras_status status = ar_hdf5_load(err);

    if (status != ARRAS_OK)
        return status;
    ar_h5_enter();
    file.file = ar_h5_open_file(path);
    if (file.file < 0) {
        status = ar_h5_fail(err, ARRAS_EFORMAT, path, "not readable as HDF5");
    } else {
        status = ar_h5_list(out, &file, inside, err);
        H5Fclose(file.file);
    }
    ar_h5_leave();
    return status;
}

static arras_status open_array(ar_source **out, const char *path, const char *inside,
                               arras_error *err)
{
    arras_status status = ar_hdf5_load(err);

    return status == ARRAS_OK ? ar_h5_open(out, path, inside, err) : status;
}

static arras_status create(ar_sink **out, const char *path, const char *inside, arras_dtype dtype,
                           int rank, const int64_t *shape, const ar_sink_options *options,
                           arras_error *err)
{
    arras_status status = ar_hdf5_load(err);

    return status == ARRAS_OK ? ar_h5_create(out, path, inside, dtype, rank, shape, options, err)
                              : status;
}

static arras_status append(ar_sink **out, const char *path, const char *inside, int axis,
                           int64_t extra, arras_error *err)
{
    arras_status status = ar_hdf5_load(err);

    return status == ARRAS_OK ? ar_h5_append(out, path, inside, axis, extra, err) : status;
}

const ar_format ar_format_hdf5 = { .name = "HDF5",
                                   .recognise = recognise,
                                   .open = open_array,
                                   .list = list,
                                   .create = create,
                                   .append = append };
#else

static arras_status refuse(const char *path, arras_error *err)
{
    return ar_fail(err, ARRAS_EFORMAT, "%s: this Arras was built without libhdf5", path);
}

static arras_status refuse_open(ar_source **out, const char *path, const char *inside,
                                arras_error *err)
{
    (void)out, (void)inside;
    return refuse(path, err);
}

static arras_status refuse_list(ar_text *out, const char *path, const char *inside,
                                arras_error *err)
{
    (void)out, (void)inside;
    return refuse(path, err);
}

static arras_status refuse_create(ar_sink **out, const char *path, const char *inside,
                                  arras_dtype dtype, int rank, const int64_t *shape,
                                  const ar_sink_options *options, arras_error *err)
{
    (void)out, (void)inside, (void)dtype, (void)rank, (void)shape, (void)options;
    return refuse(path, err);
}

const ar_format ar_format_hdf5 = { .name = "HDF5",
                                   .recognise = recognise,
                                   .open = refuse_open,
                                   .list = refuse_list,
                                   .create = refuse_create };
#endif
