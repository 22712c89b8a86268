/* npy_write.c -- arrays into .npy files: written, or mapped so that results are computed in place.
 *
 * Fresh memory costs more than the pass that fills it, so a large result that is computed elsewhere
 * and written afterwards takes twice as long as one computed in the file's own pages. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/io/npy.h"
#include "cmd/progress.h"

/* Written at once, between two looks at the progress; far more would be slower (base/write.c). */
#define PIECE_BYTES ((size_t)128 << 10)
#define LEAST_MAPPED ((int64_t)1 << 20) /* bytes; smaller results are written */

bool cmd_npy_write(cmd_output *out, const cmd_array *a, cmd_error *err)
{
    char   header[ARRAS_NPY_ROOM];
    size_t length = arras_npy_header_print(header, a->dtype, a->rank, a->shape);
    size_t bytes = (size_t)cmd_array_bytes(a);
    bool   ok = cmd_output_write(out, header, length, err);

    for (size_t at = 0; at < bytes && ok; at += PIECE_BYTES) {
        size_t piece = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;

        ok = cmd_output_write(out, (const char *)a->data + at, piece, err);
        cmd_progress_add((int64_t)piece);
    }
    return ok;
}

/* The whole file in memory.  Its blocks are set aside first: a disk that turns out to be full when
 * pages are written would end the process. */
static bool map_file(cmd_array *a, cmd_output *out, size_t start, size_t bytes, cmd_error *err)
{
    size_t length = start + bytes;

    if (fallocate(out->fd, 0, 0, (off_t)length) != 0)
        return errno == EOPNOTSUPP || errno == ENOSYS ||
               cmd_fail(err, "cannot write %s: %s", out->path, strerror(errno));
    char *base = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, out->fd, 0);
    if (base == MAP_FAILED)
        return ftruncate(out->fd, 0) == 0 ||
               cmd_fail(err, "cannot write %s: %s", out->path, strerror(errno));
    madvise(base, length, MADV_HUGEPAGE);
    a->data = base + start;
    a->mapped = length;
    a->release = cmd_array_unmap;
    return true;
}

bool cmd_npy_map(cmd_array *a, cmd_output *out, cmd_error *err)
{
    char    header[ARRAS_NPY_ROOM];
    size_t  start = arras_npy_header_print(header, a->dtype, a->rank, a->shape);
    int64_t bytes = cmd_array_bytes(a);

    if (!out->temporary || bytes < LEAST_MAPPED)
        return true;
    if (!map_file(a, out, start, (size_t)bytes, err))
        return false;
    if (a->data)
        memcpy((char *)a->data - start, header, start);
    return true;
}
