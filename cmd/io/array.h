/* array.h -- an array, as the parts of the command hand it around: in memory, or still in its file.
 */
#ifndef CMD_ARRAY_H
#define CMD_ARRAY_H

#include <arras/arras.h>

/* C order, if it does not say otherwise.  `data` belongs to the array: it is released by `release`,
 * or stays if that is NULL. */
typedef struct cmd_array {
    arras_dtype dtype;
    int         rank;
    int64_t     shape[ARRAS_MAX_RANK];
    void       *data;
    void (*release)(struct cmd_array *a);
    size_t        mapped;  /* bytes of a mapping, for its release */
    bool          fortran; /* mapped in the order of its file: the first index runs fastest */
    arras_source *stored;  /* its own: where the cells of an array without data are; else NULL */
} cmd_array;

/* Checked product of the shape, and its bytes; -1 when it does not fit. */
int64_t cmd_array_count(const cmd_array *a);
int64_t cmd_array_bytes(const cmd_array *a);
/* Bytes in memory from one cell of each axis to the next. */
void cmd_array_steps(int64_t *steps, const cmd_array *a);
/* As it is in memory; the binding points to its shape, and to `steps` if it is not in C order. */
arras_binding cmd_array_bind(const char *name, const cmd_array *a, int64_t *steps);
/* Fresh memory, zeroed lazily by the system; false when there is none. */
bool cmd_array_new(cmd_array *out, arras_dtype dtype, int rank, const int64_t *shape);
void cmd_array_free(cmd_array *a); /* accepts an array that was zeroed */
/* A release for memory from malloc, and one for `mapped` bytes that begin with the page in which
 * `data` lies. */
void cmd_array_release_heap(cmd_array *a);
void cmd_array_unmap(cmd_array *a);

/* One line of text, no newline; the caller's own. */
typedef struct cmd_error {
    char text[4096];
} cmd_error;
/* Writes the message and returns false. */
bool cmd_fail(cmd_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
