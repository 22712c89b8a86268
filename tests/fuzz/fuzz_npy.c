/* fuzz_npy.c -- any bytes as a .npy file, from a regular file and from a pipe: an array or one
 * line, and the array is printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/io/npy.h"
#include "cmd/io/print_array.h"

#define PIPE_BYTES 60000 /* fit a pipe, so that one thread can fill and empty it */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_from(int fd)
{
    static FILE     *nowhere;
    arras_npy_header header = { 0 };
    cmd_error        err = { "" };
    cmd_array        a = { 0 };

    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        abort();
    if (cmd_npy_read(&a, &header, fd, "input", &err)) {
        cmd_print_array(nowhere, &a, 75);
        cmd_array_free(&a);
    } else if (!*err.text || strchr(err.text, '\n')) {
        abort();
    }
}

static void read_file(const uint8_t *data, size_t size)
{
    int fd = memfd_create("input", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    read_from(fd);
    close(fd);
}

static void read_pipe(const uint8_t *data, size_t size)
{
    int ends[2];

    if (pipe(ends) != 0 || write(ends[1], data, size) != (ssize_t)size)
        abort();
    close(ends[1]);
    read_from(ends[0]);
    close(ends[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > PIPE_BYTES)
        return 0;
    read_file(data, size);
    read_pipe(data, size);
    return 0;
}
