/* flat_write.c -- boxes of cells into a file in which they lie without gaps. */
#include "store/codec/half.h"
#include "store/flat/flat.h"
#include "store/safe/store_file.h"

#include <string.h>

/* Cells of the last axes that lie side by side in the box and in the file: *run bytes.  The axes
 * before them are the result. */
static int find_run(const ar_flat *flat, const ar_store_info *info, const int64_t *lo,
                    const int64_t *hi, int64_t *run)
{
    int  d = info->rank;
    bool whole = true;

    *run = ar_flat_cell(flat, info->dtype);
    while (d > 0 && whole) {
        d--;
        *run *= hi[d] - lo[d];
        whole = hi[d] - lo[d] == info->shape[d];
    }
    return d;
}

static arras_status write_run(const ar_flat *flat, const char *from, int64_t run, int64_t place,
                              const char *name, arras_error *err)
{
    if (flat->behind)
        return ar_write_behind_write(flat->behind, from, run, place, name, err);
    return ar_file_write(flat->fd, from, run, place, name, err);
}

static int64_t place_of(const ar_flat *flat, int rank, const int64_t *index)
{
    int64_t place = flat->start;

    for (int k = 0; k < rank; k++)
        place += index[k] * flat->step[k];
    return place;
}

static arras_status write_stored(const ar_flat *flat, const ar_store_info *info, const int64_t *lo,
                                 const int64_t *hi, const void *cells, const char *name,
                                 arras_error *err)
{
    const char  *from = cells;
    int64_t      at[ARRAS_MAX_RANK], run;
    int          outer = find_run(flat, info, lo, hi, &run), d = 0;
    arras_status status = ARRAS_OK;

    memcpy(at, lo, sizeof *at * (size_t)info->rank);
    while (run > 0 && d >= 0 && status == ARRAS_OK) {
        status = write_run(flat, from, run, place_of(flat, info->rank, at), name, err);
        from += run;
        for (d = outer - 1; d >= 0 && ++at[d] == hi[d]; d--)
            at[d] = lo[d];
    }
    return status;
}

static arras_status write_halves(const ar_flat *flat, const ar_store_info *info, const int64_t *lo,
                                 const int64_t *hi, const void *cells, const char *name,
                                 arras_error *err)
{
    int64_t      bytes = ar_flat_cell(flat, info->dtype);
    char        *stored;
    arras_status status;

    for (int d = 0; d < info->rank; d++)
        bytes *= hi[d] - lo[d];
    stored = ar_alloc((size_t)bytes, 1);
    if (!stored)
        return ar_fail_memory(err, (size_t)bytes);
    ar_half_narrow(stored, cells, (size_t)bytes / sizeof(uint16_t));
    status = write_stored(flat, info, lo, hi, stored, name, err);
    ar_free(stored);
    return status;
}

arras_status ar_flat_write(const ar_flat *flat, const ar_store_info *info, const int64_t *lo,
                           const int64_t *hi, const void *cells, const char *name, arras_error *err)
{
    return (flat->half ? write_halves : write_stored)(flat, info, lo, hi, cells, name, err);
}

/* Only what lies in one piece in the file can be written as it is. */
void *ar_flat_reserve(const ar_flat *flat, const ar_store_info *info, const int64_t *lo,
                      const int64_t *hi)
{
    int64_t run;
    int     outer = find_run(flat, info, lo, hi, &run);

    for (int d = 0; d < outer; d++)
        if (hi[d] - lo[d] != 1)
            return NULL;
    return flat->behind ? ar_write_behind_reserve(flat->behind, run, place_of(flat, info->rank, lo))
                        : NULL;
}

arras_status ar_flat_write_behind(ar_flat *flat, const ar_store_info *info, int64_t memory,
                                  const char *name, arras_error *err)
{
    int64_t bytes = 0;

    if (flat->behind || flat->half ||
        !ar_flat_bytes(&bytes, (int64_t)arras_dtype_size(info->dtype), info->rank, info->shape) ||
        bytes == 0)
        return ARRAS_OK;
    return ar_write_behind_new(&flat->behind, flat->fd, flat->start, bytes, memory, name, err);
}

arras_status ar_flat_settle(ar_flat *flat, const char *name, arras_error *err)
{
    arras_status status = flat->behind ? ar_write_behind_wait(flat->behind, name, err) : ARRAS_OK;

    ar_write_behind_free(flat->behind);
    flat->behind = NULL;
    return status;
}
