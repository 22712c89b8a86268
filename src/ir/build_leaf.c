/* build_leaf.c -- nodes without operands: inputs, parameters, data, numbers, sizes. */
#include "ir/graph.h"

#include <stdio.h>
#include <string.h>

/* ---- Inputs and parameters ------------------------------------------------------------------- */

static arras_array check_leaf(arras_graph *g, const char *what, const char *name, arras_dtype dtype,
                              int rank, const arras_dim *shape)
{
    char named[300];

    if (!name || !ar_name_valid(name, strlen(name)))
        return ar_poison(g, ARRAS_ENAME,
                         "%s '%.255s': a name is letters, digits, '_' and '.', "
                         "starts with a letter or '_', and has at most 255 bytes",
                         what, name ? name : "");
    if (!ar_dtype_valid(dtype))
        return ar_poison(g, ARRAS_EDTYPE, "%s '%s': there is no type number %d", what, name,
                         (int)dtype);
    snprintf(named, sizeof named, "%s '%s'", what, name);
    return ar_check_shape(g, named, rank, shape);
}

arras_array ar_input(arras_graph *g, const char *name, arras_dtype dtype, int rank,
                     const arras_dim *shape)
{
    arras_array     bad = check_leaf(g, "input", name, dtype, rank, shape), x;
    const ar_named *known;

    if (bad)
        return bad;
    if ((known = ar_named_find(g, name)))
        return ar_poison(g, ARRAS_ENAME,
                         "input '%s': the name is already used by %s: choose another", name,
                         known->input ? "an input" : "a size");
    x = ar_intern(g, &(struct arras_node){ .kind = AR_INPUT,
                                           .type = { dtype, false },
                                           .rank = rank,
                                           .shape = shape,
                                           .name = name });
    if (ar_is_poison(x))
        return x;
    if (!ar_grow(&g->inputs, &g->inputs_room, g->ninputs, sizeof *g->inputs) ||
        !ar_named_add(g, (ar_named){ .name = x->name, .input = x }))
        return ar_poison_memory(g);
    g->inputs[g->ninputs++] = x;
    return x;
}

/* Parameters of different functions may share a name; the serial number keeps them apart. */
arras_array ar_param(arras_graph *g, const char *name, arras_dtype dtype, int rank,
                     const arras_dim *shape)
{
    arras_array bad = check_leaf(g, "parameter", name, dtype, rank, shape);
    int64_t     serial = g->nparams;

    if (bad)
        return bad;
    g->nparams++;
    return ar_intern(g, &(struct arras_node){ .kind = AR_PARAM,
                                              .type = { dtype, false },
                                              .rank = rank,
                                              .shape = shape,
                                              .name = name,
                                              .nints = 1,
                                              .ints = &serial });
}

/* ---- Data ------------------------------------------------------------------------------------ */

static bool is_empty(int rank, const int64_t *shape)
{
    for (int d = 0; d < rank; d++)
        if (shape[d] == 0)
            return true;
    return false;
}

static void c_strides(int64_t *strides, size_t size, int rank, const int64_t *shape)
{
    int64_t step = (int64_t)size;
    bool    empty = is_empty(rank, shape); /* its other axes may be too long to multiply */

    for (int d = rank - 1; d >= 0; d--) {
        strides[d] = step;
        step *= empty ? 1 : shape[d];
    }
}

/* Copies strided cells in row-major order.  Offsets wrap around on the way, since the stride of an
 * axis of length 1 may be anything; where a cell is read they are right. */
static void pack(unsigned char *to, const unsigned char *from, size_t size, int rank,
                 const int64_t *shape, const int64_t *strides)
{
    int64_t  at[ARRAS_MAX_RANK] = { 0 };
    uint64_t offset = 0;
    int      d;

    do {
        memcpy(to, from + (int64_t)offset, size);
        to += size;
        for (d = rank - 1; d >= 0; d--) {
            offset += (uint64_t)strides[d];
            if (++at[d] < shape[d])
                break;
            offset -= (uint64_t)shape[d] * (uint64_t)strides[d];
            at[d] = 0;
        }
    } while (d >= 0);
}

/* Cells that mean the same have the same bytes, so that equal data is one node. */
static void make_canonical(unsigned char *cell, size_t count, arras_dtype dtype)
{
    size_t size = ar_dtype_size(dtype);

    if (ar_dtype_is_integer(dtype))
        return;
    for (size_t i = 0; i < count; i++, cell += size) {
        ar_value value = { .bits = { 0, 0 } };

        memcpy(&value, cell, size);
        ar_value_canonical(dtype, &value);
        memcpy(cell, &value, size);
    }
}

static void *copy_cells(const struct arras_node *node, const int64_t *strides)
{
    size_t size = ar_dtype_size(node->type.dtype), cells = 1;
    void  *block;

    for (int d = 0; d < node->rank; d++)
        cells *= (size_t)node->shape[d];
    block = ar_alloc(cells, size);
    if (block && !is_empty(node->rank, node->shape)) {
        pack(block, node->ref, size, node->rank, node->shape, strides);
        make_canonical(block, cells, node->type.dtype);
    }
    return block;
}

/* Equal copies are one node: the new block is dropped when there is such a node already. */
static arras_array intern_copy(arras_graph *g, struct arras_node *node, int64_t *ints)
{
    void       *block = copy_cells(node, ints);
    arras_array x;

    if (!block)
        return ar_poison_memory(g);
    if (!ar_grow(&g->blocks, &g->blocks_room, g->nblocks, sizeof *g->blocks)) {
        ar_free(block);
        return ar_poison_memory(g);
    }
    c_strides(ints, ar_dtype_size(node->type.dtype), node->rank, node->shape);
    node->ref = block;
    x = ar_intern(g, node);
    if (x->ref == block)
        g->blocks[g->nblocks++] = block;
    else
        ar_free(block);
    return x;
}

arras_array ar_data(arras_graph *g, arras_dtype dtype, int rank, const int64_t *shape,
                    const int64_t *strides, const void *data, bool copy)
{
    arras_array       bad = check_leaf(g, "data", "cells", dtype, rank, shape);
    int64_t           ints[ARRAS_MAX_RANK + 3];
    struct arras_node node = {
        .kind = AR_DATA, .type = { dtype, false }, .rank = rank, .shape = shape
    };
    ar_data_range range;

    if (bad)
        return bad;
    for (int d = 0; d < rank; d++)
        if (ar_dim_symbolic(shape[d]))
            return ar_poison(g, ARRAS_ESIZE, "data: axis %d is symbolic: data has its shape now",
                             d);
    if (!data && !is_empty(rank, shape))
        return ar_poison(g, ARRAS_EINVAL, "data: the pointer is NULL, but the array has cells");
    c_strides(ints, ar_dtype_size(dtype), rank, shape);
    if (strides)
        memcpy(ints, strides, (size_t)rank * sizeof *ints);
    node.nints = rank + 3;
    node.ints = ints;
    node.ref = data;
    range = ar_data_look(&node);
    ints[rank] = range.low;
    ints[rank + 1] = range.high;
    ints[rank + 2] = copy;
    return copy ? intern_copy(g, &node, ints) : ar_intern(g, &node);
}

arras_array ar_data_again(arras_graph *g, arras_array data)
{
    struct arras_node node = *data;
    int64_t           ints[ARRAS_MAX_RANK + 3];

    memcpy(ints, data->ints, (size_t)data->nints * sizeof *ints);
    ints[data->nints - 1] = false;
    node.ints = ints;
    return ar_intern(g, &node);
}

/* ---- Numbers and sizes ----------------------------------------------------------------------- */

arras_array ar_const(arras_graph *g, ar_type type, ar_value value)
{
    if (!ar_dtype_valid(type.dtype))
        return ar_poison(g, ARRAS_EDTYPE, "constant: there is no type number %d", (int)type.dtype);
    ar_value_canonical(type.dtype, &value);
    return ar_intern(
        g, &(struct arras_node){ .kind = AR_CONST, .type = type, .nints = 2, .ints = value.bits });
}

arras_array ar_size_node(arras_graph *g, arras_dim dim)
{
    const char *error = ar_dim_error(g, dim);

    if (error)
        return ar_poison(g, ARRAS_ESIZE, "size: %s", error);
    if (!ar_dim_symbolic(dim))
        return ar_const(g, (ar_type){ ARRAS_I64, false }, (ar_value){ .bits = { dim, 0 } });
    return ar_intern(g,
                     &(struct arras_node){
                         .kind = AR_SIZE, .type = { ARRAS_I64, false }, .nints = 1, .ints = &dim });
}
