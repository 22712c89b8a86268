/* random_programs.h -- random programs for tests, recorded in the graph `g` of evaluate.h.  A
 * program is made step by step from arrays that are there already; what the builders refuse is left
 * out.  Each random choice is a statement of its own: a seed is one program with every compiler. */
#ifndef TEST_RANDOM_PROGRAMS_H
#define TEST_RANDOM_PROGRAMS_H

#include "normalised.h"


enum { STEPS = 14, POOL = 32 };

/* What a test may choose before it records. */
static int64_t largest = 300;    /* cells of an array */
static int     longest = 3;      /* values of the sizes n and m */
static int     long_length;      /* of some axes; 0: of none */

static uint64_t state;

static uint64_t random_bits(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

/* 0 .. n - 1 */
static int pick(int n) { return (int)(random_bits() >> 33) % n; }

/* ---- What is there --------------------------------------------------------------------------- */

static arras_array pool[POOL];
static int         npool;
static int64_t     sizes[2]; /* of n and m */

static arras_array any(void) { return pool[pick(npool)]; }

static int64_t length_of(arras_dim dim)
{
    int64_t value = -1;

    return ar_dim_value(&value, g, dim, sizes, NULL) == ARRAS_OK ? value : -1;
}

/* -1: too many, or a length that is no length. */
static int64_t cells_in(arras_array x)
{
    int64_t cells = 1;

    for (int axis = 0; axis < x->rank; axis++) {
        int64_t length = length_of(x->shape[axis]);

        if (length < 0 || length > largest || cells * length > largest)
            return -1;
        cells *= length;
    }
    return cells;
}

static void keep(arras_array x)
{
    if (ar_is_poison(x) || npool == POOL || cells_in(x) < 0)
        return;
    some_are_empty = some_are_empty || cells_in(x) == 0;
    pool[npool++] = x;
}

static arras_dtype any_dtype(void) { return (arras_dtype)(1 + pick(ARRAS_DTYPE_END - 1)); }

static arras_dim any_length(void)
{
    switch (pick(9)) {
    case 0: return 0;
    case 1:
    case 2: return 1;
    case 3: return size("n");
    case 4: return size("m");
    case 5: return ar_dim_add(g, size("n"), 1);
    default: return long_length && pick(2) ? long_length : 2 + pick(3);
    }
}

static double any_value(void)
{
    static const double odd[] = { -0.0, NAN, INFINITY, -INFINITY, 0.1, -2.5, 1e10, 255, 1e-300 };

    return pick(4) ? pick(11) - 4 : odd[pick((int)AR_COUNT(odd))];
}

static void *any_cells(arras_dtype dtype, int rank, const int64_t *shape)
{
    static double values[2 * MOST_CELLS];
    int64_t       count = 1;

    for (int axis = 0; axis < rank; axis++)
        count *= shape[axis];
    if (count > MOST_CELLS)
        return NULL;
    for (size_t i = 0; i < AR_COUNT(values); i++)
        values[i] = any_value();
    return cells_of(dtype, rank, shape, values);
}

/* ---- Leaves ---------------------------------------------------------------------------------- */

static arras_array random_input(void)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    const char              *name = names[pick(4)];
    arras_dtype              dtype = any_dtype();
    int                      rank = pick(4);
    arras_dim                dims[4];
    int64_t                  shape[4] = { 0 };
    arras_array              x;
    void                    *cells;

    for (int axis = 0; axis < rank; axis++) {
        dims[axis] = any_length();
        shape[axis] = length_of(dims[axis]);
    }
    cells = any_cells(dtype, rank, shape);
    if (!cells)
        return ar_poison_no_graph();
    x = ar_input(g, name, dtype, rank, dims); /* poison when the name is used already */
    if (ar_is_poison(x))
        free(cells);
    else
        bind_cells(x->name, dtype, rank, shape, cells);
    return x;
}

static arras_array random_data(void)
{
    arras_dtype dtype = any_dtype();
    int         rank = pick(3);
    int64_t     shape[3] = { 0 };
    void       *cells;
    arras_array x;

    for (int axis = 0; axis < rank; axis++)
        shape[axis] = pick(4);
    cells = any_cells(dtype, rank, shape);
    x = ar_data(g, dtype, rank, shape, NULL, cells, true);
    free(cells);
    return x;
}

static arras_array random_number(void)
{
    ar_value    value = { .bits = { 0, 0 } };
    double      number = any_value();
    bool        weak = pick(2);
    arras_dtype dtype =
        weak ? (arras_dtype[]){ ARRAS_I64, ARRAS_F64, ARRAS_C128 }[pick(3)] : any_dtype();

    if (pick(5) == 0)
        return ar_size_node(g, ar_dim_add(g, size("n"), pick(3)));
    ar_cell_cast(dtype, &value, ARRAS_F64, &number);
    return ar_const(g, (ar_type){ dtype, weak }, value);
}

/* ---- Cell by cell ---------------------------------------------------------------------------- */

static arras_array random_map(void)
{
    ar_op       op = (ar_op)pick(AR_OP_END);
    arras_array x = any(), y = pick(3) ? any() : random_number(), z = any();

    return ar_map(op, ar_op_arity(op), L(x, y, z));
}

static arras_array random_cast(void)
{
    arras_array x = any();

    return ar_cast(x, any_dtype());
}

static arras_array random_lambda(void)
{
    arras_array x = any();
    arras_expr  indices[ARRAS_MAX_RANK], cell;
    arras_edge  edges[ARRAS_MAX_RANK];

    for (int axis = 0; axis < x->rank; axis++) {
        arras_expr offset = ar_expr_literal(g, ARRAS_I64, (ar_value){ .i = pick(9) - 4 });

        indices[axis] =
            ar_expr_apply(AR_OP_add, 2, (arras_expr[]){ ar_expr_index(g, axis), offset });
        if (pick(4) == 0) /* below 0 unsigned ones are far outside */
            indices[axis] = ar_expr_cast(indices[axis], (arras_dtype)(ARRAS_I8 + pick(8)));
        edges[axis] = (arras_edge){ (arras_edge_rule)(1 + pick(ARRAS_EDGE_END - 1)), NULL };
    }
    cell = ar_expr_load(x, x->rank, indices, edges);
    cell = ar_expr_apply(AR_OP_add, 2,
                         (arras_expr[]){ cell, pick(2) ? cell : ar_expr_size(g, size("m")) });
    return ar_lambda(g, x->rank, x->shape, cell);
}

/* ---- Movement -------------------------------------------------------------------------------- */

static arras_array random_stack(void)
{
    arras_array x = any(), y = pick(2) ? any() : ar_cast(x, any_dtype());

    return ar_stack(3, L(x, y, x), pick(x->rank + 1));
}

static arras_array random_concat(void)
{
    arras_array x = any(), y = pick(2) ? any() : ar_cast(x, any_dtype());

    return x->rank ? ar_concat(3, L(x, y, x), pick(x->rank)) : ar_poison_no_graph();
}

static arras_array random_scan(void)
{
    static const ar_reduction scanned[] = { AR_REDUCE_sum, AR_REDUCE_sum, AR_REDUCE_prod,
                                            AR_REDUCE_max, AR_REDUCE_any };
    arras_array               x = any();

    return x->rank ? ar_scan(scanned[pick(5)], x, pick(x->rank)) : ar_poison_no_graph();
}

static arras_array random_roll(void)
{
    arras_array x = any();
    int64_t     shifts[ARRAS_MAX_RANK];

    for (int axis = 0; axis < x->rank; axis++)
        shifts[axis] = pick(11) - 5;
    return ar_roll(x, shifts);
}

static arras_array random_permute(void)
{
    arras_array x = any();
    int         axes[ARRAS_MAX_RANK];

    for (int axis = 0; axis < x->rank; axis++) {
        int other = pick(axis + 1);

        axes[axis] = axes[other];
        axes[other] = axis;
    }
    return ar_permute(x, axes);
}

/* Lengths of x in another order, perhaps with ones, perhaps with two of them joined. */
static arras_array random_reshape(void)
{
    arras_array x = any();
    arras_dim   shape[2 * ARRAS_MAX_RANK];
    int         rank = 0, first = pick(x->rank + 1);
    char        order = "CF"[pick(2)];

    for (int k = 0; k < x->rank; k++) {
        arras_dim length = x->shape[(first + k) % x->rank];

        if (!ar_dim_symbolic(length) && length == 4 && pick(2))
            shape[rank++] = 2, shape[rank++] = 2;
        else if (rank > 0 && pick(3) == 0 && !ar_dim_symbolic(length))
            shape[rank - 1] = ar_dim_mul(g, shape[rank - 1], length);
        else
            shape[rank++] = length;
        if (pick(5) == 0)
            shape[rank++] = 1;
    }
    if (rank > 0 && pick(4) == 0)
        shape[pick(rank)] = -1;
    return ar_reshape(x, rank, shape, order);
}

static arras_item random_item(arras_dim length)
{
    int64_t start = pick(4) ? pick(7) - 3 : ARRAS_NONE, stop = pick(4) ? pick(7) - 3 : ARRAS_NONE;
    int64_t step = ar_dim_symbolic(length) ? 1 - 2 * pick(2) : pick(7) - 3;

    if (ar_dim_symbolic(length) && pick(3)) /* where it is not known what is inside */
        return pick(2) ? arras_all_of_axis() : arras_slice(ARRAS_NONE, ARRAS_NONE, -1);
    switch (pick(6)) {
    case 0: return arras_at(pick(5) - 2);
    case 1: return arras_all_of_axis();
    default: return arras_slice(start, stop, step);
    }
}

static arras_array random_index(void)
{
    arras_array x = any();
    arras_item  items[2 * ARRAS_MAX_RANK];
    int         n = 0;

    for (int axis = 0; axis < x->rank; axis++) {
        items[n++] = random_item(x->shape[axis]);
        if (pick(5) == 0)
            items[n++] = arras_newaxis();
    }
    return ar_index(x, n, items);
}

/* Indices within -length .. length - 1. */
static arras_array random_indices(int64_t length)
{
    static const arras_dtype signed_types[] = { ARRAS_I8, ARRAS_I16, ARRAS_I32, ARRAS_I64 };
    arras_dtype              dtype = signed_types[pick(4)];
    int                      rank = pick(3);
    int64_t                  shape[] = { 1 + pick(2), 2 };
    double                   values[4];
    void                    *cells;
    arras_array              x;

    for (int i = 0; i < 4; i++)
        values[i] = pick(2 * (int)length) - (int)length;
    cells = cells_of(dtype, rank, shape, values);
    x = ar_data(g, dtype, rank, shape, NULL, cells, true);
    free(cells);
    return x;
}

static arras_array random_gather(void)
{
    arras_array x = any();
    arras_item  items[ARRAS_MAX_RANK];

    for (int axis = 0; axis < x->rank; axis++) {
        int64_t length = length_of(x->shape[axis]);

        items[axis] =
            length > 0 && pick(2) ? arras_gather(random_indices(length)) : arras_all_of_axis();
    }
    return ar_index(x, x->rank, items);
}

/* ---- Reductions and products ----------------------------------------------------------------- */

static bool adds_exactly(arras_array x) { return ar_dtype_class(x->type.dtype) < AR_CLASS_REAL; }

/* Floating-point sums over one axis only: those over several add in another order. */
static arras_array random_reduce(void)
{
    arras_array  x = any();
    ar_reduction reduction = (ar_reduction)pick(AR_REDUCTION_END);
    bool         ordered = reduction == AR_REDUCE_sum || reduction == AR_REDUCE_prod;
    uint32_t     axes = (uint32_t)pick(1 << x->rank);
    bool         keepdims = pick(2);
    arras_array  initial = pick(3) ? NULL : random_number();

    if (ordered && !adds_exactly(x))
        axes = x->rank ? (uint32_t)1 << pick(x->rank) : 0;
    return ar_reduce(reduction, x, axes, keepdims, initial);
}

static arras_array random_einsum(void)
{
    static const struct {
        const char *spec;
        int         n;
        bool        ordered; /* one letter is summed over at most */
    } specs[] = {
        { "ij,jk", 2, true },     { "i,i", 2, true },     { "i,j", 2, true },
        { "ii", 1, true },        { "ii->i", 1, true },   { "ij->ji", 1, true },
        { "ij->", 1, false },     { "ij,ij", 2, false },  { "...i,i", 2, true },
        { "ij,i,j->", 3, false }, { "ijk,kj", 2, false }, { "i,...->...i", 2, true },
    };
    int         s = pick((int)AR_COUNT(specs));
    arras_array xs[3];

    for (int i = 0; i < specs[s].n; i++)
        xs[i] = any();
    for (int i = 0; i < specs[s].n; i++)
        if (!specs[s].ordered && !adds_exactly(xs[i]))
            return ar_poison_no_graph();
    return ar_einsum(specs[s].spec, specs[s].n, xs);
}

static arras_array random_csr(void)
{
    arras_array x = any();
    int64_t     columns = x->rank ? length_of(x->shape[0]) : 0;

    if (columns <= 0)
        return ar_poison_no_graph();
    return ar_csr(A("f32[3]", .5, -1, 3), A("i16[3]", 0, (double)columns - 1, 0),
                  A("u8[5]", 0, 1, 1, 3, 3), x);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* reversed(p) = p[::-1] * n, same(p) = p, for vectors of the type of x. */
static arras_array random_call(void)
{
    arras_array    x = any(), p, results[2];
    arras_dim      n = size("n");
    arras_function f;
    char           name[16];

    if (x->rank != 1)
        return ar_poison_no_graph();
    snprintf(name, sizeof name, "f%d", (int)x->type.dtype);
    f = ar_function_find(g, name);
    if (!f) {
        p = ar_param(g, "p", x->type.dtype, 1, &n);
        results[0] = ar_map(AR_OP_maximum, 2,
                            L(AT(p, arras_slice(ARRAS_NONE, ARRAS_NONE, -1)), ar_size_node(g, n)));
        results[1] = p;
        f = ar_function_new(g, name, 1, &p, 2, (const char *[]){ "reversed", "same" }, results);
    }
    return ar_call_result(ar_call(f, 1, &x), pick(2));
}

/* ---- Programs -------------------------------------------------------------------------------- */

static arras_array (*const steps[])(void) = {
    random_input,   random_data,    random_map,    random_map,    random_map,
    random_cast,    random_lambda,  random_stack,  random_concat, random_roll,
    random_permute, random_reshape, random_index,  random_index,  random_gather,
    random_reduce,  random_reduce,  random_einsum, random_csr,    random_call,
    random_scan,
};

/* n and m are known whatever inputs the program has. */
static void bind_sizes(void)
{
    static const char *const names[] = { "n", "m" };

    for (int i = 0; i < 2; i++) {
        double value = (double)(sizes[i] = pick(longest + 1));

        size(names[i]);
        bind_array(names[i], "i64[]", &value);
    }
}

static void record(uint64_t seed)
{
    state = seed * 0x9E3779B97F4A7C15U + 1;
    npool = 0;
    some_are_empty = false;
    bind_sizes();
    keep(random_input());
    keep(random_data());
    while (npool == 0)
        keep(random_data());
    for (int i = 0; i < STEPS; i++)
        keep(steps[pick((int)AR_COUNT(steps))]());
    for (int i = npool > 4 ? npool - 4 : 0; i < npool; i++) {
        char name[16];

        snprintf(name, sizeof name, "out%d", i);
        ar_graph_output_add(g, name, pool[i]);
    }
}

#endif
