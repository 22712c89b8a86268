/* npy.h -- NumPy's file format, versions 1, 2 and 3. */
#ifndef CMD_NPY_H
#define CMD_NPY_H

#include "cmd/io/array.h"
#include "cmd/io/output_file.h"

#define CMD_NPY_START 12          /* bytes with magic, version and length of the header, at most */
#define CMD_NPY_MAX_HEADER 65536  /* more is refused */

/* Of a file or pipe that is open, and stands at its cells then. */
bool cmd_npy_header_read(arras_npy_header *out, int fd, const char *name, cmd_error *err);
/* From a file that is open, or a pipe; the array is in C order and the machine's byte order.
 * `header`: how it was stored; may be NULL. */
bool cmd_npy_read(cmd_array *out, arras_npy_header *header, int fd, const char *name,
                  cmd_error *err);
/* The same, but cells stay in the order of the file, which the array tells. */
bool cmd_npy_read_unordered(cmd_array *out, int fd, const char *name, cmd_error *err);
bool cmd_npy_write(cmd_output *out, const cmd_array *a, cmd_error *err);
/* Gives an array, of which type and shape are set, memory in the file itself, header and all: what
 * is stored there is written.  Without a failure a->data stays NULL where that is not possible, or
 * not worth it; the file is then still empty. */
bool cmd_npy_map(cmd_array *a, cmd_output *out, cmd_error *err);

#endif
