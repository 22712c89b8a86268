/* store_hdf5_header.h -- headers of objects as they stand in the file, for those who look at them
 * before libhdf5 does (store_hdf5_header.c).  Nobody else sees it.  Numbers in files are
 * little-endian; addresses and lengths of 8 bytes are what everybody writes. */
#ifndef AR_STORE_HDF5_HEADER_H
#define AR_STORE_HDF5_HEADER_H

#include "base/base.h"

enum { AR_H5_MOST = 1 << 24 }; /* bytes of a block or of a heap */

typedef struct {
    const uint8_t *at;
    size_t         n;
} ar_h5_bytes;

/* A number of so many bytes at this place; beyond the end there are zeros. */
uint64_t    ar_h5_number(ar_h5_bytes b, size_t at, size_t size);
ar_h5_bytes ar_h5_part(ar_h5_bytes b, size_t at, size_t n);
ar_h5_bytes ar_h5_of_text(const ar_text *text);

typedef struct {
    int     fd;
    int64_t base;      /* of addresses */
    bool    no_memory; /* something could not be looked at */
    bool    too_long;  /* a block of a header is longer than any file has it */
} ar_h5_raw;

/* Fails where the file ends before, or where there is no memory, which is pushed for libhdf5. */
bool ar_h5_load(ar_text *out, ar_h5_raw *file, uint64_t address, uint64_t size);

enum { AR_H5_LINK = 0x06, AR_H5_LAYOUT = 0x08, AR_H5_ATTRIBUTE = 0x0c }; /* kinds of messages */

typedef void ar_h5_on_message(void *context, uint64_t kind, ar_h5_bytes content);

/* Every message of a header of version 1, which has no checksum; false: here is none. */
bool ar_h5_header_visit(ar_h5_raw *file, uint64_t address, ar_h5_on_message *each, void *context);

#endif
