/* store_hdf5_driver.c -- how libhdf5 writes drafts.  When a disk is full, its own way of writing
 * leaves a file that can't be closed, and the process crashes at its end.  Here the first write
 * that fails is told, and remembered; all that come later go nowhere, so that the draft can be
 * closed and thrown away. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/hdf5/store_hdf5.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    ar_h5_vfile base; /* it ends with what is written */
    ar_h5_disk *disk;
} disk_file;

typedef struct {
    ar_h5_disk *disk;
    const char *path;
} access_info;

/* Links to other files are not followed: they are no drafts. */
static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    const access_info *info = H5Pget_driver_info(access);
    struct stat        st;
    disk_file         *f;

    (void)flags, (void)most;
    if (!info || strcmp(name, info->path) != 0 || fstat(info->disk->fd, &st) != 0)
        return NULL;
    f = ar_alloc(1, sizeof *f);
    if (!f) {
        ar_h5_no_memory();
        return NULL;
    }
    f->disk = info->disk;
    f->base.fd = info->disk->fd;
    f->base.eof = (haddr_t)st.st_size;
    return &f->base.pub;
}

static herr_t close_file(H5FD_t *file)
{
    ar_free(file);
    return 0;
}

/* What the usual driver says of itself. */
static herr_t query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = AR_H5_USUAL_FEATURES;
    return 0;
}

static herr_t write_bytes(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                          const void *bytes)
{
    disk_file *f = (disk_file *)file;

    (void)type, (void)transfer;
    for (size_t done = 0; done < size && !f->disk->failed;) {
        int64_t put = ar_write_some(f->disk->fd, (const char *)bytes + done, (int64_t)(size - done),
                                    (int64_t)(at + done));

        if (put <= 0) {
            f->disk->failed = errno;
            return -1;
        }
        done += (size_t)put;
    }
    if (at + size > f->base.eof)
        f->base.eof = at + size;
    return 0;
}

static herr_t cut_file(H5FD_t *file, hid_t transfer, hbool_t closing)
{
    disk_file *f = (disk_file *)file;

    (void)transfer, (void)closing;
    if (!f->disk->failed && ftruncate(f->disk->fd, (off_t)f->base.eoa) != 0) {
        f->disk->failed = errno;
        return -1;
    }
    f->base.eof = f->base.eoa;
    return 0;
}

static const H5FD_class_t driver = {
    .name = "arras_draft",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(access_info),
    .open = open_file,
    .close = close_file,
    .query = query,
    .get_eoa = ar_h5_get_eoa,
    .set_eoa = ar_h5_set_eoa,
    .get_eof = ar_h5_get_eof,
    .read = ar_h5_read_bytes,
    .write = write_bytes,
    .truncate = cut_file,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* What is large begins with a page, so that it can be written past the system's cache. */
enum { LARGE = 1 << 18, PAGE = 4096 };

hid_t ar_h5_open_draft(const char *path, unsigned flags, ar_h5_disk *disk)
{
    static hid_t registered;
    ar_h5_ids    ids = { .n = 0 };
    access_info  info = { disk, path };
    hid_t        id = ar_h5_driver(&registered, &driver), file = -1;
    hid_t        access = ar_h5_keep(&ids, H5Pcreate(H5P_FILE_ACCESS));

    if (id >= 0 && access >= 0 && H5Pset_driver(access, id, &info) >= 0 &&
        H5Pset_alignment(access, LARGE, PAGE) >= 0)
        file = flags & H5F_ACC_TRUNC ? H5Fcreate(path, flags, H5P_DEFAULT, access)
                                     : H5Fopen(path, flags, access);
    ar_h5_close(&ids);
    return file;
}
#endif
