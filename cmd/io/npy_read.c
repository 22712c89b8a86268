/* npy_read.c -- arrays out of .npy files: mapped where that is possible, read otherwise. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/io/npy.h"
#include "cmd/io/rearrange.h"
#include "cmd/progress.h"

static const char magic[6] = { '\x93', 'N', 'U', 'M', 'P', 'Y' };

/* Reads until `count` bytes are there or the file ends; -1 on errors. */
static int64_t read_bytes(int fd, void *out, size_t count)
{
    size_t have = 0;

    while (have < count) {
        ssize_t n = read(fd, (char *)out + have, count - have);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        have += (size_t)n;
        cmd_progress_add(n);
    }
    return (int64_t)have;
}

static bool read_exactly(int fd, void *out, size_t count, const char *what, const char *name,
                         cmd_error *err)
{
    int64_t have = read_bytes(fd, out, count);

    if (have < 0)
        return cmd_fail(err, "cannot read %s: %s", name, strerror(errno));
    if ((size_t)have < count)
        return cmd_fail(err, "%s is cut off: it ends after %" PRId64 " of %zu bytes of its %s",
                        name, have, count, what);
    return true;
}

/* Magic, version and the length of the header. */
static bool read_start(int fd, int *version, size_t *length, const char *name, cmd_error *err)
{
    unsigned char start[CMD_NPY_START] = { 0 };
    int64_t       have = read_bytes(fd, start, 8);

    if (have < 0)
        return cmd_fail(err, "cannot read %s: %s", name, strerror(errno));
    if (have == 0)
        return cmd_fail(err, "%s is empty: expected a .npy file", name);
    if (have < 8 || memcmp(start, magic, sizeof magic) != 0)
        return cmd_fail(err, "%s is not a .npy file: it does not begin with \\x93NUMPY", name);
    *version = start[6];
    if (*version < 1 || *version > 3)
        return cmd_fail(err, "%s: version %d.%d of the .npy format is not known", name, start[6],
                        start[7]);
    if (!read_exactly(fd, start + 8, *version == 1 ? 2 : 4, "header", name, err))
        return false;
    *length = (size_t)start[8] | (size_t)start[9] << 8 | (size_t)start[10] << 16 |
              (size_t)start[11] << 24;
    if (*length > CMD_NPY_MAX_HEADER)
        return cmd_fail(err, "%s: damaged .npy header: %zu bytes, more than %d", name, *length,
                        CMD_NPY_MAX_HEADER);
    return true;
}

bool cmd_npy_header_read(arras_npy_header *out, int fd, const char *name, cmd_error *err)
{
    char        text[CMD_NPY_MAX_HEADER];
    size_t      length = 0;
    arras_error why;

    if (!read_start(fd, &out->version, &length, name, err) ||
        !read_exactly(fd, text, length, "header", name, err))
        return false;
    return arras_npy_header_parse(out, text, length, name, &why) == ARRAS_OK ||
           cmd_fail(err, "%s", why.text);
}

static bool check_length(int64_t have, int64_t bytes, const char *name, cmd_error *err)
{
    if (have >= bytes)
        return true;
    return cmd_fail(
        err, "%s is cut off: its header promises %" PRId64 " bytes of data, %" PRId64 " are there",
        name, bytes, have);
}

/* Maps what follows in a regular file, to be written to, in memory only, if its cells must be made
 * regular.  False without a message when it can't be mapped. */
static bool map_data(cmd_array *a, bool is_written, int fd, off_t start, int64_t bytes)
{
    int    access = is_written ? PROT_READ | PROT_WRITE : PROT_READ;
    off_t  page = sysconf(_SC_PAGESIZE);
    off_t  first = start / page * page;
    size_t length = (size_t)(start - first + bytes);

    if (bytes == 0 || start % (off_t)arras_dtype_size(a->dtype) != 0)
        return false;
    char *base = mmap(NULL, length, access, MAP_PRIVATE, fd, first);
    if (base == MAP_FAILED)
        return false;
    a->data = base + (start - first);
    a->mapped = length;
    a->release = cmd_array_unmap;
    return true;
}

/* bytes: as they are stored, which come to be where the array ends. */
static bool read_data(cmd_array *a, int fd, int64_t bytes, const char *name, cmd_error *err)
{
    if (!cmd_array_new(a, a->dtype, a->rank, a->shape))
        return cmd_fail(err, "%s: no memory for %" PRId64 " bytes", name, cmd_array_bytes(a));
    cmd_progress_stage("reading", bytes);
    int64_t have = read_bytes(fd, (char *)a->data + cmd_array_bytes(a) - bytes, (size_t)bytes);
    if (have < 0)
        cmd_fail(err, "cannot read %s: %s", name, strerror(errno));
    if (have >= 0 && check_length(have, bytes, name, err))
        return true;
    cmd_array_free(a);
    return false;
}

static bool load_data(cmd_array *a, const arras_npy_header *h, int fd, const char *name,
                      cmd_error *err)
{
    struct stat file;
    off_t       start = lseek(fd, 0, SEEK_CUR);
    int64_t     bytes = cmd_array_bytes(a);

    if (bytes < 0)
        return cmd_fail(err, "%s: its header promises more bytes than there can be", name);
    bytes = h->half ? bytes / 2 : bytes;
    bool is_file = start >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode);
    if (is_file && !check_length(file.st_size - start, bytes, name, err))
        return false;
    bool is_written = h->swapped || h->dtype == ARRAS_BOOL;

    return (is_file && !h->half && map_data(a, is_written, fd, start, bytes)) ||
           read_data(a, fd, bytes, name, err);
}

/* Byte order, and booleans that are neither 0 nor 1. */
static void make_regular(cmd_array *a, const arras_npy_header *h)
{
    if (h->half)
        arras_half_widen(a->data, cmd_array_count(a), h->swapped);
    else if (h->swapped)
        cmd_array_swap_bytes(a);
    if (a->dtype == ARRAS_BOOL)
        cmd_array_normalise_bools(a);
}

static bool read_unordered(cmd_array *out, arras_npy_header *h, int fd, const char *name,
                           cmd_error *err)
{
    if (!cmd_npy_header_read(h, fd, name, err))
        return false;
    cmd_array a = { .dtype = h->dtype, .rank = h->rank };
    memcpy(a.shape, h->shape, sizeof a.shape);
    if (!load_data(&a, h, fd, name, err))
        return false;
    make_regular(&a, h);
    a.fortran = h->fortran && h->rank > 1;
    *out = a;
    return true;
}

bool cmd_npy_read_unordered(cmd_array *out, int fd, const char *name, cmd_error *err)
{
    arras_npy_header h = { 0 };

    return read_unordered(out, &h, fd, name, err);
}

bool cmd_npy_read(cmd_array *out, arras_npy_header *header, int fd, const char *name,
                  cmd_error *err)
{
    arras_npy_header h = { 0 };
    cmd_array        a;

    if (!read_unordered(&a, &h, fd, name, err))
        return false;
    a.fortran = a.fortran && cmd_array_count(&a) > 0;
    if (a.fortran && !cmd_array_from_fortran(&a, name, err)) {
        cmd_array_free(&a);
        return false;
    }
    *out = a;
    if (header)
        *header = h;
    return true;
}
