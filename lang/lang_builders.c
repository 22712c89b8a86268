/* lang_builders.c -- functions on whole arrays: one row each, and how it calls the library.
 * A builder returns NULL after an error of its own; poison is seen to by its caller. */
#include "lang/lang_functions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Few builders need more than the arguments. */
#define MAYBE __attribute__((unused))
#define BUILDER(name)                                                                              \
    static arras_array name(MAYBE lang_lowering *L, MAYBE const lang_function *f,                  \
                            MAYBE lang_scope scope, MAYBE const lang_node *call,                   \
                            MAYBE lang_argument *a)

/* ---- Reductions ------------------------------------------------------------------------------ */

BUILDER(reduction)
{
    return arras_reduce(f->op, a[0].array, a[1].count, a[1].axes, a[2].flag, a[3].array);
}

BUILDER(mean) { return arras_mean(a[0].array, a[1].count, a[1].axes, a[2].flag); }

BUILDER(var) { return arras_var(a[0].array, a[1].count, a[1].axes, a[2].integer, a[3].flag); }

BUILDER(standard_deviation)
{
    return arras_std(a[0].array, a[1].count, a[1].axes, a[2].integer, a[3].flag);
}

/* ---- From nothing ---------------------------------------------------------------------------- */

static arras_dtype dtype_or_f64(const lang_argument *a) { return a->node ? a->dtype : ARRAS_F64; }

BUILDER(zeros) { return arras_zeros(L->graph, dtype_or_f64(&a[1]), a[0].count, a[0].ints); }

BUILDER(ones) { return arras_ones(L->graph, dtype_or_f64(&a[1]), a[0].count, a[0].ints); }

BUILDER(full) { return arras_full(a[1].array, a[0].count, a[0].ints); }

BUILDER(eye)
{
    return arras_eye(L->graph, dtype_or_f64(&a[3]), a[0].integer,
                     a[1].node ? a[1].integer : a[0].integer, a[2].integer);
}

BUILDER(index_array)
{
    if (a[1].integer < -ARRAS_MAX_RANK || a[1].integer > ARRAS_MAX_RANK)
        return arras_poison(L->graph, ARRAS_EAXIS, "index_array: there is no such axis");
    return arras_index_array(L->graph, a[0].count, a[0].ints, (int)a[1].integer);
}

BUILDER(linspace)
{
    return arras_linspace(L->graph, a[0].real, a[1].real, a[2].node ? a[2].integer : 50,
                          a[3].node ? a[3].flag : true);
}

static bool all_integers(lang_lowering *L, lang_scope scope, const lang_argument *a, bool *out)
{
    *out = true;
    for (int i = 0; i < 3; i++) {
        lang_data d = { 0 };

        if (!a[i].node)
            continue;
        if (!lang_evaluate(&d, L, scope, a[i].node, "a bound of arange"))
            return false;
        *out = *out && d.dtype >= ARRAS_I8 && d.dtype <= ARRAS_U64;
        free(d.data);
    }
    return true;
}

static arras_array arange_integer(lang_lowering *L, lang_scope scope, const lang_argument *a)
{
    int64_t v[3] = { 0, 0, 1 };

    for (int i = 0; i < 3; i++)
        if (a[i].node && !lang_int_value(&v[i], L, scope, a[i].node, "a bound of arange"))
            return NULL;
    return a[1].node ? arras_arange(L->graph, v[0], v[1], v[2])
                     : arras_arange(L->graph, 0, v[0], v[2]);
}

static arras_array arange_real(lang_lowering *L, lang_scope scope, const lang_argument *a)
{
    double v[3] = { 0, 0, 1 };

    for (int i = 0; i < 3; i++)
        if (a[i].node && !lang_real_value(&v[i], L, scope, a[i].node, "a bound of arange"))
            return NULL;
    return a[1].node ? arras_arange_real(L->graph, v[0], v[1], v[2])
                     : arras_arange_real(L->graph, 0, v[0], v[2]);
}

BUILDER(arange)
{
    bool integers;

    if (!all_integers(L, scope, a, &integers))
        return NULL;
    return integers ? arange_integer(L, scope, a) : arange_real(L, scope, a);
}

BUILDER(shape_of)
{
    int64_t shape[ARRAS_MAX_RANK + 1] = { 0 }, rank = arras_array_rank(a[0].array);

    for (int axis = 0; axis < rank; axis++)
        shape[axis] = arras_array_dim(a[0].array, axis);
    return arras_copy(L->graph, ARRAS_I64, 1, &rank, NULL, shape);
}

/* ---- Elementwise, but not in the table of operations ----------------------------------------- */

BUILDER(cast) { return arras_cast(a[0].array, a[1].dtype); }

BUILDER(clip) { return arras_clip(a[0].array, a[1].array, a[2].array); }

/* ---- Products -------------------------------------------------------------------------------- */

BUILDER(einsum)
{
    int          n = call->nparts - 1;
    arras_array *operands = lang_alloc(L, (size_t)n, sizeof *operands);

    for (int i = 0; operands && i < n; i++)
        if (!(operands[i] = lang_lower_array(L, scope, call->parts[i + 1])))
            return NULL;
    if (n == 0)
        return arras_poison(L->graph, ARRAS_EINVAL,
                            "einsum: it needs an array for each part of "
                            "the text: einsum(\"ij,jk->ik\", a, b)");
    return operands ? arras_einsum(a[0].text, n, operands) : NULL;
}

BUILDER(matmul) { return arras_matmul(a[0].array, a[1].array); }

BUILDER(dot) { return arras_dot(a[0].array, a[1].array); }

BUILDER(vdot) { return arras_vdot(a[0].array, a[1].array); }

BUILDER(outer) { return arras_outer(a[0].array, a[1].array); }

BUILDER(csr_matmul) { return arras_csr_matmul(a[0].array, a[1].array, a[2].array, a[3].array); }

/* ---- Movement -------------------------------------------------------------------------------- */

static bool axis_of(int *out, lang_lowering *L, const lang_node *call, int64_t axis)
{
    *out = (int)axis;
    return (axis > -1000 && axis < 1000) ||
           lang_fail(L->err, call->place, "there is no axis %" PRId64, axis);
}

BUILDER(stack)
{
    int axis;

    return axis_of(&axis, L, call, a[1].integer) ? arras_stack(a[0].count, a[0].arrays, axis)
                                                 : NULL;
}

/* As in the array API, a vector needs no axis. */
BUILDER(cumulative_sum)
{
    int axis;

    if (!a[1].node && arras_array_rank(a[0].array) > 1)
        return arras_poison(L->graph, ARRAS_EAXIS, "cumulative_sum: along which axis? axis=0, ...");
    return axis_of(&axis, L, call, a[1].integer) ? arras_cumulative_sum(a[0].array, axis) : NULL;
}

BUILDER(concatenate)
{
    int axis;

    return axis_of(&axis, L, call, a[1].integer) ? arras_concatenate(a[0].count, a[0].arrays, axis)
                                                 : NULL;
}

/* Without an axis the cells are rolled row by row, as if in one long line. */
static arras_array roll_flat(arras_array x, int64_t shift)
{
    arras_dim shape[ARRAS_MAX_RANK];
    int       rank = arras_array_rank(x);

    for (int axis = 0; axis < rank; axis++)
        shape[axis] = arras_array_dim(x, axis);
    x = arras_reshape(x, 1, (arras_dim[]){ -1 }, 'C');
    x = arras_roll(x, 1, &shift, (int[]){ 0 });
    return arras_reshape(x, rank, shape, 'C');
}

static bool has_no_cells(arras_array x)
{
    for (int axis = 0; axis < arras_array_rank(x); axis++)
        if (arras_array_dim(x, axis) == 0)
            return true;
    return false;
}

BUILDER(roll)
{
    int64_t shifts[ARRAS_MAX_RANK];
    int     n = a[2].count;

    if (!a[2].node && a[1].count == 1)
        return has_no_cells(a[0].array) ? a[0].array : roll_flat(a[0].array, a[1].ints[0]);
    if (n > ARRAS_MAX_RANK || (a[1].count != 1 && a[1].count != n))
        return arras_poison(L->graph, ARRAS_EINVAL, "roll: it needs one shift, or one per axis");
    for (int i = 0; i < n; i++)
        shifts[i] = a[1].ints[a[1].count == 1 ? 0 : i];
    return arras_roll(a[0].array, n, shifts, a[2].axes);
}

BUILDER(permute) { return arras_permute(a[0].array, a[1].count, a[1].axes); }

BUILDER(reshape)
{
    const char *order = a[2].node ? a[2].text : "C";

    if (strcmp(order, "C") != 0 && strcmp(order, "F") != 0)
        return arras_poison(L->graph, ARRAS_EINVAL, "reshape: the order is \"C\" or \"F\"");
    return arras_reshape(a[0].array, a[1].count, a[1].ints, order[0]);
}

BUILDER(broadcast_to) { return arras_broadcast_to(a[0].array, a[1].count, a[1].ints); }

BUILDER(squeeze) { return arras_squeeze(a[0].array, a[1].count, a[1].axes); }

BUILDER(expand_dims) { return arras_expand_dims(a[0].array, a[1].count, a[1].axes); }

BUILDER(flip) { return arras_flip(a[0].array, a[1].count, a[1].axes); }

BUILDER(tile) { return arras_tile(a[0].array, a[1].count, a[1].ints); }

BUILDER(repeat)
{
    int axis;

    return axis_of(&axis, L, call, a[2].integer) ? arras_repeat(a[0].array, a[1].integer, axis)
                                                 : NULL;
}

static arras_pad_mode find_mode(const char *text)
{
    static const char *const modes[ARRAS_PAD_END] = {
        [ARRAS_PAD_CONSTANT] = "constant",
        [ARRAS_PAD_EDGE] = "edge",
        [ARRAS_PAD_LINEAR_RAMP] = "linear_ramp",
        [ARRAS_PAD_MAXIMUM] = "maximum",
        [ARRAS_PAD_MEAN] = "mean",
        [ARRAS_PAD_MEDIAN] = "median",
        [ARRAS_PAD_MINIMUM] = "minimum",
        [ARRAS_PAD_REFLECT] = "reflect",
        [ARRAS_PAD_SYMMETRIC] = "symmetric",
        [ARRAS_PAD_WRAP] = "wrap",
        [ARRAS_PAD_EMPTY] = "empty",
    };

    for (int mode = 0; mode < ARRAS_PAD_END; mode++)
        if (strcmp(modes[mode], text) == 0)
            return (arras_pad_mode)mode;
    return ARRAS_PAD_END;
}

/* One number for all sides, two for before and after, or two for each axis. */
BUILDER(pad)
{
    int64_t        widths[2 * ARRAS_MAX_RANK];
    int            n = 2 * arras_array_rank(a[0].array), given = a[1].count;
    arras_pad_mode mode = a[2].node ? find_mode(a[2].text) : ARRAS_PAD_CONSTANT;

    if (mode == ARRAS_PAD_END)
        return arras_poison(L->graph, ARRAS_EINVAL,
                            "pad: the mode is \"constant\", \"edge\", \"linear_ramp\", "
                            "\"maximum\", \"mean\", \"median\", \"minimum\", \"reflect\", "
                            "\"symmetric\", \"wrap\" or \"empty\"");
    if (given != 1 && given != 2 && given != n)
        return arras_poison(L->graph, ARRAS_EINVAL,
                            "pad: it needs one width, or [before, after], or these for each axis");
    for (int i = 0; i < n; i++)
        widths[i] = a[1].ints[given == 1 ? 0 : given == 2 ? i % 2 : i];
    return arras_pad(a[0].array, widths, mode, a[3].array);
}

/* ---- Neighbours ------------------------------------------------------------------------------ */

typedef struct {
    int         n;
    arras_edge  edges[ARRAS_MAX_RANK];
    arras_array bad; /* poison that says what is wrong */
} places;

static places read_places(lang_lowering *L, arras_array x, const lang_argument *offsets,
                          const lang_argument *edge)
{
    int    rank = arras_array_rank(x);
    places p = { 0 };

    if (rank == 0 || offsets->count == 0 || offsets->count % rank != 0)
        p.bad = arras_poison(L->graph, ARRAS_EINVAL,
                             "the offsets need one number for each axis: [[-1, 0], [1, 0]]");
    else if (edge->node && edge->count != 1 && edge->count != rank)
        p.bad = arras_poison(L->graph, ARRAS_EINVAL, "the edge needs one rule, or one per axis");
    else
        p.n = offsets->count / rank;
    for (int axis = 0; !p.bad && edge->node && axis < rank; axis++)
        p.edges[axis] = edge->edges[edge->count == 1 ? 0 : axis];
    return p;
}

BUILDER(stencil)
{
    places p = read_places(L, a[0].array, &a[1], &a[3]);

    if (!p.bad && p.n != a[2].count)
        return arras_poison(L->graph, ARRAS_EINVAL, "stencil: it needs one weight for each offset");
    return p.bad ? p.bad : arras_stencil(a[0].array, p.n, a[1].ints, a[2].reals, p.edges);
}

BUILDER(neighbours)
{
    places       p = read_places(L, a[0].array, &a[1], &a[2]);
    arras_array *out = p.bad ? NULL : lang_alloc(L, (size_t)p.n, sizeof *out);

    if (!out)
        return p.bad;
    arras_neighbours(out, a[0].array, p.n, a[1].ints, p.edges);
    return arras_stack(p.n, out, 0);
}

/* ---- The rows -------------------------------------------------------------------------------- */

#define REDUCTION(name, reduction_name, text)                                                      \
    {                                                                                              \
        name "(x, axis=all, keepdims=false, initial=none)", "xabx", text, LANG_F_ARRAY,            \
            ARRAS_REDUCE_##reduction_name, reduction                                               \
    }
#define PLACE(name, reduction_name, text)                                                          \
    {                                                                                              \
        name "(x, axis=all, keepdims=false)", "xab", text, LANG_F_ARRAY,                           \
            ARRAS_REDUCE_##reduction_name, reduction                                               \
    }
#define ROW(usage, types, builder, text)                                                           \
    {                                                                                              \
        usage, types, text, LANG_F_ARRAY, 0, builder                                               \
    }

const lang_builder_row lang_builders[] = {
    REDUCTION("all", all, "no cell is 0"),
    REDUCTION("any", any, "some cell is not 0"),
    PLACE("argmax", argmax, "where the largest cell is, counted row by row"),
    PLACE("argmin", argmin, "where the smallest cell is, counted row by row"),
    REDUCTION("count", count_nonzero, "how many cells are not 0"),
    REDUCTION("count_nonzero", count_nonzero, "how many cells are not 0"),
    REDUCTION("max", max, "the largest cell"),
    REDUCTION("min", min, "the smallest cell"),
    REDUCTION("prod", prod, "the product of the cells"),
    REDUCTION("sum", sum, "the sum of the cells"),
    ROW("mean(x, axis=all, keepdims=false)", "xab", mean, "the mean of the cells"),
    ROW("var(x, axis=all, ddof=0, keepdims=false)", "xaib", var,
        "the variance; divided by the number of cells - ddof"),
    ROW("std(x, axis=all, ddof=0, keepdims=false)", "xaib", standard_deviation,
        "the standard deviation: sqrt(var)"),
    ROW("zeros(shape, dtype=f64)", "It", zeros, "all cells are 0"),
    ROW("ones(shape, dtype=f64)", "It", ones, "all cells are 1"),
    ROW("full(shape, value)", "Ix", full, "all cells are value"),
    ROW("eye(rows, cols=rows, diagonal=0, dtype=f64)", "iiit", eye, "1 on a diagonal, 0 elsewhere"),
    ROW("arange(start, stop=none, step=1)", "nnn", arange,
        "start, start+step, ... before stop; arange(n) is 0, 1, ... n-1"),
    ROW("linspace(start, stop, count=50, endpoint=true)", "rrib", linspace,
        "count numbers from start to stop, evenly spaced"),
    ROW("index_array(shape, axis)", "Ii", index_array, "each cell is its own index along axis"),
    ROW("shape(x)", "x", shape_of, "the lengths of the axes of x, as an array"),
    { "cast(x, dtype)", "xt", "x as another type; f32(x) is short for cast(x, f32)", LANG_F_CAST_TO,
      0, cast },
    { "clip(x, lo=none, hi=none)", "xxx", "x, but not below lo and not above hi", LANG_F_CLIP, 0,
      clip },
    { "size(x, axis=all)", "xi", "how many cells x has, or its length along axis", LANG_F_MEASURE,
      0, NULL },
    { "rank(x)", "x", "how many axes x has", LANG_F_MEASURE, 0, NULL },
    ROW("einsum(spec, ...)", "q*", einsum, "a sum of products: einsum(\"ij,jk->ik\", a, b)"),
    ROW("matmul(x, y)", "xx", matmul, "the product of matrices; also x @ y"),
    ROW("dot(x, y)", "xx", dot, "sum over the last axis of x and the second last of y"),
    ROW("vdot(x, y)", "xx", vdot, "the sum of conj(x) * y over all cells"),
    ROW("outer(x, y)", "xx", outer, "every cell of x times every cell of y"),
    ROW("csr_matmul(values, columns, starts, dense)", "xxxx", csr_matmul,
        "a sparse matrix in compressed rows times a dense array"),
    ROW("stack(arrays, axis=0)", "Xi", stack, "arrays of one shape along a new axis"),
    ROW("concatenate(arrays, axis=0)", "Xi", concatenate, "arrays one after the other"),
    ROW("cumulative_sum(x, axis=0)", "xi", cumulative_sum,
        "the sum of the cells up to each along axis; only a vector needs none"),
    ROW("roll(x, shift, axis=all)", "xIa", roll,
        "cells moved by shift; what leaves comes in at the other end"),
    ROW("permute(x, axes=reversed)", "xa", permute, "x with its axes in another order"),
    ROW("reshape(x, shape, order=\"C\")", "xIq", reshape,
        "the same cells in another shape; one length may be -1"),
    ROW("broadcast_to(x, shape)", "xI", broadcast_to, "x repeated along axes of length 1"),
    ROW("squeeze(x, axis=all)", "xa", squeeze, "without axes of length 1"),
    ROW("expand_dims(x, axis)", "xa", expand_dims, "with new axes of length 1"),
    ROW("flip(x, axis=all)", "xa", flip, "cells in reverse order"),
    ROW("tile(x, reps)", "xI", tile, "x repeated as a whole, reps times along each axis"),
    ROW("repeat(x, count, axis)", "xii", repeat, "each cell repeated count times along axis"),
    ROW("pad(x, widths, mode=\"constant\", fill=0)", "xIqx", pad,
        "with cells around it; modes as in NumPy"),
    ROW("stencil(x, offsets, weights, edge=none)", "xIRe", stencil,
        "weighted sum of neighbours; edge: none, nearest, reflect, mirror, wrap, number"),
    ROW("neighbours(x, offsets, edge=none)", "xIe", neighbours,
        "the neighbours at these offsets, along a new first axis; edge as of stencil"),
};
const int lang_builder_count = (int)(sizeof lang_builders / sizeof *lang_builders);
