/* flat.h -- arrays whose cells lie at regular distances in one file: npy, raw binary, netCDF
 * classic. Sees base/ and store.h. */
#ifndef AR_FLAT_H
#define AR_FLAT_H

#include "store/safe/write_behind.h"
#include "store/store.h"

typedef struct {
    int     fd;
    int64_t start;                /* byte of the first cell */
    int64_t step[ARRAS_MAX_RANK]; /* bytes from a cell to its neighbour along each axis */
    bool    swapped; /* numbers are stored in the other byte order than the machine's */
    bool    half;    /* and with 16 bits each (half.h) */
    ar_write_behind *behind; /* who writes; NULL: whoever has something to write */
} ar_flat;

/* Bytes of a cell in the file. */
int64_t ar_flat_cell(const ar_flat *flat, arras_dtype dtype);
/* Bytes of an array; false: more than there can be. */
bool ar_flat_bytes(int64_t *out, int64_t cell_size, int rank, const int64_t *shape);
/* The steps of an array without gaps. */
void ar_flat_dense(ar_flat *flat, const ar_store_info *info, bool fortran);
/* Cells lo <= i < hi into memory in C order.  Several threads at once. */
arras_status ar_flat_read(const ar_flat *flat, const ar_store_info *info, const int64_t *lo,
                          const int64_t *hi, void *cells, const char *name, arras_error *err);

/* Cells lo <= i < hi in C order, into a file in which they lie without gaps.  Several threads at
 * once. */
arras_status ar_flat_write(const ar_flat *flat, const ar_store_info *info, const int64_t *lo,
                           const int64_t *hi, const void *cells, const char *name,
                           arras_error *err);
/* From now on behind the back of whoever has something to write. */
arras_status ar_flat_write_behind(ar_flat *flat, const ar_store_info *info, int64_t memory,
                                  const char *name, arras_error *err);
/* Memory in which cells lo <= i < hi may be put together for ar_flat_write; NULL: none just now.
 */
void *ar_flat_reserve(const ar_flat *flat, const ar_store_info *info, const int64_t *lo,
                   const int64_t *hi);
/* All that was written is in the file, and `behind` is gone. */
arras_status ar_flat_settle(ar_flat *flat, const char *name, arras_error *err);

/* n cells, so many bytes apart, side by side. */
void ar_flat_pick(void *to, arras_dtype dtype, bool swapped, bool half, const void *from,
                  int64_t step, int64_t n);

/* A source over one array in one file: what npy and raw open. */
typedef struct {
    arras_dtype dtype;
    bool        swapped, fortran, half;
    int         rank;
    int64_t     shape[ARRAS_MAX_RANK];
    int64_t     start; /* byte of the first cell */
} ar_flat_shape;

/* Takes fd over, also when it fails. */
arras_status ar_flat_open(ar_source **out, const ar_flat_shape *shape, const char *format, int fd,
                          int64_t size, const char *name, arras_error *err);
/* A sink that writes `header` (may be NULL), then the cells in C order; of the options it hears
 * fill and replace. */
arras_status ar_flat_create(ar_sink **out, const ar_flat_shape *shape, const char *format,
                            const char *path, const ar_text *header,
                            const ar_sink_options *options, arras_error *err);

#endif
