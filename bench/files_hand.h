/* files_hand.h -- what the parts of files_hand share: arrays of f32 in HDF5, loops over them. */
#ifndef FILES_HAND_H
#define FILES_HAND_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

enum { AXES = 4 };

_Noreturn void give_up(const char *what, const char *why);
float         *floats(int64_t n); /* aligned; never NULL */

/* ---- Arrays of f32 in HDF5, read and written by rows of axis 0 (files_arrays.c) -------------- */

typedef struct {
    hid_t   file, set;
    int     rank;
    hsize_t shape[AXES];
    int64_t row; /* cells for each index of axis 0 */
} array;

array   open_array(const char *path, const char *name);
array   create_array(const char *path, const char *name, int rank, const hsize_t *shape);
void    close_array(array *a);
int64_t rows_of_chunks(const array *a); /* of an array without chunks: 512 */
/* From any thread. */
void   read_rows(const array *a, int64_t first, int64_t count, float *to);
void   write_rows(const array *a, int64_t first, int64_t count, float *from);
float *read_all(const char *path, const char *name); /* the caller's to free */

/* ---- From file to file (files_stencils.c, files_layers.c) ------------------------------------ */

void run_loop(const char *in, const char *out); /* one thread; the others: all */
void run_laplace(const char *in, const char *out);
void run_interpolate(const char *in, const char *out);
void run_cnn(const char *in, const char *out);
void run_cam5(const char *in, const char *out);

#endif
