/* store_hdf5_vfile.c -- what the drivers of ours have in common, with which libhdf5 reads files and
 * writes drafts: a file is a descriptor, and knows where it ends. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/hdf5/store_hdf5.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Never given back: libhdf5 forgets a driver that only an open file holds before it calls it to
 * close that file.  One thread at a time is here. */
hid_t ar_h5_driver(hid_t *id, const H5FD_class_t *driver)
{
    if (*id <= 0)
        *id = H5FDregister(driver);
    return *id;
}

haddr_t ar_h5_get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const ar_h5_vfile *)file)->eoa;
}

herr_t ar_h5_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t eoa)
{
    (void)type;
    ((ar_h5_vfile *)file)->eoa = eoa;
    return 0;
}

haddr_t ar_h5_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const ar_h5_vfile *)file)->eof;
}

static uint64_t file_end(const H5FD_t *file) { return ((const ar_h5_vfile *)file)->eof; }

static herr_t refuse(const char *why)
{
    H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_FILE, H5E_CANTOPENFILE,
             "%s", why);
    return -1;
}

herr_t ar_h5_read_bytes(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                        void *bytes)
{
    int         fd = ((const ar_h5_vfile *)file)->fd;
    const char *broken;

    (void)transfer;
    for (size_t have = 0; have < size;) {
        ssize_t got = pread(fd, (char *)bytes + have, size - have, (off_t)(at + have));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0) {
            memset((char *)bytes + have, 0, size - have);
            break;
        }
        have += (size_t)got;
    }
    if (ar_h5_is_broken_heap(fd, at, bytes, size))
        return refuse("a heap of texts and lists is damaged");
    if (type == H5FD_MEM_LHEAP && ar_h5_is_broken_name_heap(bytes, size, file_end(file)))
        return refuse("a heap of names is longer than its file");
    broken = type == H5FD_MEM_OHDR ? ar_h5_what_is_broken(fd, (int64_t)file->base_addr, at) : NULL;
    return broken ? refuse(broken) : 0;
}
#endif
