/* files_arrays.c -- arrays of f32 in HDF5 files, with libhdf5 as it is. */
#include "files_hand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void give_up(const char *what, const char *why)
{
    fprintf(stderr, "files_hand: %s: %s\n", what, why);
    exit(1);
}

float *floats(int64_t n)
{
    float *cells = aligned_alloc(64, ((size_t)n * sizeof *cells + 63) / 64 * 64);

    if (!cells)
        give_up("memory", strerror(errno));
    return cells;
}

static hid_t valid(hid_t id, const char *what)
{
    if (id < 0)
        give_up(what, "HDF5 can't");
    return id;
}

static int64_t row_cells(int rank, const hsize_t *shape)
{
    int64_t cells = 1;

    for (int axis = 1; axis < rank; axis++)
        cells *= (int64_t)shape[axis];
    return cells;
}

array open_array(const char *path, const char *name)
{
    array a = { .file = valid(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), path) };
    hid_t space;

    a.set = valid(H5Dopen2(a.file, name, H5P_DEFAULT), name);
    space = valid(H5Dget_space(a.set), name);
    a.rank = H5Sget_simple_extent_ndims(space);
    if (a.rank < 1 || a.rank > AXES)
        give_up(name, "it must have 1 to 4 axes");
    H5Sget_simple_extent_dims(space, a.shape, NULL);
    H5Sclose(space);
    a.row = row_cells(a.rank, a.shape);
    return a;
}

array create_array(const char *path, const char *name, int rank, const hsize_t *shape)
{
    array a = { .rank = rank, .row = row_cells(rank, shape) };
    hid_t space = valid(H5Screate_simple(rank, shape, NULL), name);
    hid_t layout = valid(H5Pcreate(H5P_DATASET_CREATE), name);
    hid_t links = valid(H5Pcreate(H5P_LINK_CREATE), name);

    memcpy(a.shape, shape, (size_t)rank * sizeof *shape);
    H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER);
    H5Pset_create_intermediate_group(links, 1);
    a.file = valid(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), path);
    a.set =
        valid(H5Dcreate2(a.file, name, H5T_IEEE_F32LE, space, links, layout, H5P_DEFAULT), name);
    H5Pclose(links);
    H5Pclose(layout);
    H5Sclose(space);
    return a;
}

void close_array(array *a)
{
    if (H5Dclose(a->set) < 0 || H5Fclose(a->file) < 0)
        give_up("closing", "HDF5 can't");
}

/* libhdf5 serves one thread at a time. */
static void move_rows(const array *a, int64_t first, int64_t count, float *cells, bool writes)
{
    hsize_t start[AXES] = { (hsize_t)first }, lengths[AXES];
    herr_t  status;

    memcpy(lengths, a->shape, sizeof lengths);
    lengths[0] = (hsize_t)count;
#pragma omp critical(hdf5)
    {
        hid_t memory = H5Screate_simple(a->rank, lengths, NULL), space = H5Dget_space(a->set);

        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, lengths, NULL);
        status = writes ? H5Dwrite(a->set, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, cells)
                        : H5Dread(a->set, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, cells);
        H5Sclose(space);
        H5Sclose(memory);
    }
    if (status < 0)
        give_up(writes ? "writing" : "reading", "HDF5 can't");
}

void read_rows(const array *a, int64_t first, int64_t count, float *to)
{
    move_rows(a, first, count, to, false);
}

void write_rows(const array *a, int64_t first, int64_t count, float *from)
{
    move_rows(a, first, count, from, true);
}

float *read_all(const char *path, const char *name)
{
    array  a = open_array(path, name);
    float *cells = floats((int64_t)a.shape[0] * a.row);

    read_rows(&a, 0, (int64_t)a.shape[0], cells);
    close_array(&a);
    return cells;
}

int64_t rows_of_chunks(const array *a)
{
    hsize_t chunk[AXES] = { 512 };
    hid_t   layout = valid(H5Dget_create_plist(a->set), "layout");

    if (H5Pget_layout(layout) == H5D_CHUNKED)
        H5Pget_chunk(layout, AXES, chunk);
    H5Pclose(layout);
    return (int64_t)chunk[0];
}
