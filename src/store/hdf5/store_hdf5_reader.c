/* store_hdf5_reader.c -- how libhdf5 reads files: each with a descriptor that is ours to read from
 * as well, and asked where a chunk is instead of for its bytes.
 *
 * libhdf5 1.10 believes what the index of a damaged file says of the length of a chunk, writes so
 * many bytes to whatever memory it was given, and tells another length when it is asked for it.
 * What its reading comes to is one call of the driver below it, with a place and a length.  Here
 * that call is noted and nothing is read, so that the length can be looked at first; and the bytes
 * are read outside of libhdf5's lock. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/hdf5/store_hdf5.h"
#include "store/safe/store_file.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

typedef struct {
    ar_h5_vfile base;
    struct stat st;
} read_file;

/* What is no regular file would be waited for, or worse. */
static arras_status open_regular(read_file *f, const char *name, arras_error *err)
{
    int64_t      size;
    arras_status status = ar_file_open(&f->base.fd, &size, name, err);

    if (status != ARRAS_OK)
        return status;
    f->base.eof = (haddr_t)size;
    if (fstat(f->base.fd, &f->st) == 0)
        return ARRAS_OK;
    close(f->base.fd);
    return ar_fail(err, ARRAS_EIO, "cannot read %s: %s", name, strerror(errno));
}

static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    read_file  *f = ar_alloc(1, sizeof *f);
    arras_error err;

    (void)access, (void)most;
    if (!f) {
        ar_h5_no_memory();
        return NULL;
    }
    if (!(flags & H5F_ACC_RDWR) && open_regular(f, name, &err) == ARRAS_OK)
        return &f->base.pub;
    H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_FILE, H5E_CANTOPENFILE,
             "%s", flags & H5F_ACC_RDWR ? "only drafts are written" : err.text);
    ar_free(f);
    return NULL;
}

static herr_t close_file(H5FD_t *file)
{
    close(((read_file *)file)->base.fd);
    ar_free(file);
    return 0;
}

static int order(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

/* What has been opened twice is one file. */
static int compare(const H5FD_t *a, const H5FD_t *b)
{
    const struct stat *x = &((const read_file *)a)->st, *y = &((const read_file *)b)->st;

    return x->st_dev != y->st_dev ? order(x->st_dev, y->st_dev) : order(x->st_ino, y->st_ino);
}

/* What the usual driver says of itself, but that it reads what libhdf5 wants of headers and heaps
 * as a whole: nothing of it comes out of what was read before, so that all of it is looked at. */
static herr_t query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = (AR_H5_USUAL_FEATURES & ~(unsigned long)H5FD_FEAT_ACCUMULATE_METADATA) |
             H5FD_FEAT_POSIX_COMPAT_HANDLE | H5FD_FEAT_SUPPORTS_SWMR_IO;
    return 0;
}

static herr_t get_handle(H5FD_t *file, hid_t access, void **handle)
{
    (void)access;
    *handle = &((read_file *)file)->base.fd;
    return 0;
}

/* File systems without locks are used without them. */
static herr_t set_lock(H5FD_t *file, int wanted)
{
    if (flock(((read_file *)file)->base.fd, wanted) == 0 || errno == ENOSYS)
        return 0;
    H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_FILE, H5E_CANTOPENFILE,
             "%s", errno == EWOULDBLOCK ? "it is open for writing elsewhere" : strerror(errno));
    return -1;
}

static herr_t lock_file(H5FD_t *file, hbool_t write)
{
    return set_lock(file, (write ? LOCK_EX : LOCK_SH) | LOCK_NB);
}

static herr_t unlock_file(H5FD_t *file) { return set_lock(file, LOCK_UN); }

/* ---- Reading --------------------------------------------------------------------------------- */

/* What is read to here is not read.  One thread at a time is within libhdf5. */
static ar_h5_place noted;

static herr_t read_bytes(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                         void *bytes)
{
    if (bytes != &noted)
        return ar_h5_read_bytes(file, type, transfer, at, size, bytes);
    noted = (ar_h5_place){ .at = (int64_t)at, .bytes = (int64_t)size };
    return 0;
}

static herr_t refuse_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                           const void *bytes)
{
    (void)file, (void)type, (void)transfer, (void)at, (void)size, (void)bytes;
    return -1;
}

static const H5FD_class_t driver = {
    .name = "arras_reader",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK,
    .open = open_file,
    .close = close_file,
    .cmp = compare,
    .query = query,
    .get_eoa = ar_h5_get_eoa,
    .set_eoa = ar_h5_set_eoa,
    .get_eof = ar_h5_get_eof,
    .get_handle = get_handle,
    .read = read_bytes,
    .write = refuse_write,
    .lock = lock_file,
    .unlock = unlock_file,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t ar_h5_open_file(const char *path)
{
    static hid_t registered;
    ar_h5_ids    ids = { .n = 0 };
    hid_t        id = ar_h5_driver(&registered, &driver), file = -1;
    hid_t        access = ar_h5_keep(&ids, H5Pcreate(H5P_FILE_ACCESS));

    if (id >= 0 && access >= 0 && H5Pset_driver(access, id, NULL) >= 0 &&
        H5Pset_file_locking(access, 1, 1) >= 0)
        file = H5Fopen(path, H5F_ACC_RDONLY, access);
    ar_h5_close(&ids);
    return file;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

bool ar_h5_find_chunk(ar_h5_place *out, hid_t dataset, const hsize_t *first, ar_h5_reason *why)
{
    uint32_t skipped = 0;

    noted = (ar_h5_place){ .at = -1 };
    if (H5Dread_chunk(dataset, H5P_DEFAULT, first, &skipped, &noted) < 0) {
        ar_h5_why(why);
        *out = (ar_h5_place){ .missing = why->not_stored };
        return why->not_stored;
    }
    noted.skipped = skipped;
    *out = noted;
    return true;
}

int ar_h5_descriptor(hid_t object)
{
    hid_t file = H5Iget_file_id(object);
    void *handle = NULL;
    bool  good = file >= 0 && H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && handle;

    if (file >= 0)
        H5Fclose(file);
    return good ? *(int *)handle : -1;
}
#endif
