/* test_opt_order_random.c -- random programs of what passes reorder: products with matrices of
 * data, factors, gathers and dear operations, and what must keep them from it.  Numbers are small
 * and whole, so that sums are exact in any order and every difference is a mistake. */
#include "normalised.h"

enum { PROGRAMS = 1500, STEPS = 22, POOL = 40, MATRICES = 4 };

static uint64_t state;

/* 0 .. n - 1 */
static int pick(int n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int)((state >> 33) % (uint64_t)n);
}

/* ---- What is there --------------------------------------------------------------------------- */

typedef struct {
    arras_array array;
    double      most;  /* of its numbers */
    bool        rough; /* not whole, or not finite: nothing to be summed up in another order */
} member;

static member      pool[POOL];
static int         npool;
static arras_array matrices[MATRICES];
static int         nmatrices;
static arras_array lift, some_places;    /* the last ones, or NULL */
static int64_t     rows, columns, faces; /* most arrays are [rows, columns] */
static arras_dim   rows_dim;             /* perhaps a size that is not known */
static arras_dtype dtype;                /* of most arrays */

static void keep(arras_array x, double most, bool rough)
{
    double limit =
        ar_dtype_size(x->type.dtype) == 4 || x->type.dtype == ARRAS_C64 ? 1 << 22 : 1L << 50;

    if (!ar_is_poison(x) && npool < POOL && (rough || most < limit))
        pool[npool++] = (member){ x, most, rough };
}

static member any(void) { return pool[pick(3) ? pick(npool) : npool - 1]; }

static double whole(void) { return pick(4) - 1; }

static void *cells(arras_dtype type, int rank, const int64_t *shape, bool wild)
{
    static const double odd[] = { -0.0, NAN, INFINITY, -INFINITY, 0.1, 1e300 };
    double              values[2 * MOST_CELLS];

    for (int i = 0; i < 2 * MOST_CELLS; i++)
        values[i] = wild && pick(3) == 0 ? odd[pick((int)AR_COUNT(odd))] : whole();
    return cells_of(type, rank, shape, values);
}

/* An input as long as there are names, else data. */
static arras_array leaf(arras_dtype type, int rank, const arras_dim *dims, const int64_t *shape,
                        bool wild)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
    void                    *own = cells(type, rank, shape, wild);
    arras_array              x;

    if (nbound < (int)AR_COUNT(names) && pick(4)) {
        x = ar_input(g, names[nbound], type, rank, dims);
        bind_cells(names[nbound], type, rank, shape, own);
        return x;
    }
    x = ar_data(g, type, rank, shape, NULL, own, true);
    free(own);
    return x;
}

static arras_array known_data(arras_dtype type, int rank, const int64_t *shape)
{
    void       *own = cells(type, rank, shape, false);
    arras_array x = ar_data(g, type, rank, shape, NULL, own, true);

    free(own);
    return x;
}

/* ---- Leaves ---------------------------------------------------------------------------------- */

static void add_rows(void)
{
    bool wild = pick(4) == 0;

    keep(leaf(dtype, 2, (arras_dim[]){ rows_dim, columns }, (int64_t[]){ rows, columns }, wild), 2,
         wild);
}

/* [faces, rows, columns] */
static void add_faces(void)
{
    arras_dim dims[] = { faces, rows_dim, columns };

    keep(leaf(dtype, 3, dims, (int64_t[]){ faces, rows, columns }, false), 2, false);
}

static arras_array matrix(void)
{
    if (nmatrices == 0 || (nmatrices < MATRICES && pick(3) == 0))
        matrices[nmatrices++] = known_data(dtype, 2, (int64_t[]){ columns, columns });
    return matrices[pick(nmatrices)];
}

/* ---- Products -------------------------------------------------------------------------------- */

static void add_product(void)
{
    static const char *const of_rows[] = { "mn,en->em", "nm,en->em", "mn,en->me" };
    static const char *const of_faces[] = { "mn,fen->fem", "mn,fen->em", "nm,fen->fem" };
    member                   x = any();
    int                      way = pick(10) ? pick(2) : 2;

    if (x.rough || x.array->rank < 2)
        return;
    keep(ar_einsum((x.array->rank == 2 ? of_rows : of_faces)[way], 2, L(matrix(), x.array)),
         2 * x.most * (double)(columns * faces), false);
}

static arras_array lifted(arras_array x)
{
    if (!lift || pick(4) == 0)
        lift = known_data(dtype, 3, (int64_t[]){ columns, faces, columns });
    return ar_einsum("mfk,fek->em", 2, L(lift, x));
}

/* What is on faces, lifted to rows. */
static void add_lift(void)
{
    member x = any();

    if (!x.rough && x.array->rank == 3)
        keep(lifted(x.array), 2 * x.most * (double)(columns * faces), false);
}

/* ---- Cell by cell ---------------------------------------------------------------------------- */

/* Something to multiply an array with, the same along some axes. */
static arras_array factor_of(arras_array x, bool wild)
{
    int64_t     shape[3] = { faces, rows, columns };
    arras_dim   dims[3] = { faces, rows_dim, columns };
    int         first = 3 - x->rank;
    arras_dtype type = pick(9) ? dtype : ARRAS_F32;

    for (int axis = first; axis < 3; axis++)
        if (axis == 2 ? pick(6) : pick(4) == 0)
            dims[axis] = shape[axis] = 1;
    return leaf(type, x->rank, dims + first, shape + first, wild);
}

static arras_array scaled(arras_array x)
{
    arras_array c = factor_of(x, false);

    return pick(2) ? map2(AR_OP_multiply, x, c) : map2(AR_OP_multiply, c, x);
}

static void add_scaled(void)
{
    member x = any();

    if (pick(5))
        keep(scaled(x.array), 2 * x.most, x.rough);
    else
        keep(map2(AR_OP_divide, x.array, factor_of(x.array, true)), 0, true);
}

/* The same matrix and the same array, with different factors between them. */
static void add_products(void)
{
    member      x = any();
    arras_array m = matrix(), sum = NULL;
    bool        faced = x.array->rank == 3;

    if (x.rough || x.array->rank < 2)
        return;
    for (int k = 0; k < 2 + pick(2); k++) {
        arras_array p = pick(6) ? scaled(x.array) : scaled(scaled(x.array));

        p = faced ? lifted(p) : ar_einsum("mn,en->em", 2, L(m, p));
        sum = sum ? map2(AR_OP_subtract, sum, p) : p;
        if (pick(3) == 0)
            keep(p, 4 * x.most * (double)(columns * faces), false);
    }
    keep(sum, 24 * x.most * (double)(columns * faces), false);
}

static void add_sum(void)
{
    static const ar_op ops[] = { AR_OP_add, AR_OP_subtract, AR_OP_add, AR_OP_maximum };
    member             x = any(), y = any();

    keep(ar_map(ops[pick(4)], 2, L(x.array, y.array)), x.most + y.most, x.rough || y.rough);
}

static void add_simple(void)
{
    member      x = any();
    arras_array half = ar_const(g, (ar_type){ ARRAS_F64, true }, (ar_value){ .f = 0.5 });

    if (pick(2))
        keep(map1(AR_OP_negative, x.array), x.most, x.rough);
    else
        keep(map2(AR_OP_divide, x.array, half), 2 * x.most, x.rough);
}

static void add_dear(void)
{
    static const ar_op ops[] = { AR_OP_sqrt, AR_OP_cbrt, AR_OP_abs, AR_OP_floor };
    ar_op              op = ops[pick(4)];
    member             x = any();

    keep(map1(op, pick(2) ? x.array : map1(AR_OP_abs, x.array)), x.most * x.most,
         x.rough || op == AR_OP_sqrt || op == AR_OP_cbrt ||
             ar_dtype_class(x.array->type.dtype) == AR_CLASS_COMPLEX);
}

static void add_cast(void)
{
    static const arras_dtype types[] = { ARRAS_F32, ARRAS_F64, ARRAS_I64, ARRAS_C128 };
    member                   x = any();

    if (!x.rough)
        keep(ar_cast(x.array, types[pick(4)]), x.most, true);
}

/* ---- Elsewhere ------------------------------------------------------------------------------- */

/* Numbers of rows: data or an input, counted from the end too, and rarely outside.  NULL: none. */
static arras_array places(void)
{
    int64_t many[] = { 1 + pick(30) };
    double  values[30];
    int     origin = pick(6) ? 0 : -(int)rows;
    void   *own;

    if (some_places && pick(3))
        return some_places;
    for (int i = 0; i < 30; i++)
        values[i] = pick(200) ? origin + pick((int)rows) : 7;
    own = cells_of(ARRAS_I32, 1, many, values);
    if (nbound < MOST_INPUTS && pick(3) == 0) {
        some_places = ar_input(g, "places", ARRAS_I32, 1, many);
        if (!ar_is_poison(some_places)) {
            bind_cells("places", ARRAS_I32, 1, many, own);
            return some_places;
        }
    }
    some_places = ar_data(g, ARRAS_I32, 1, many, NULL, own, true);
    free(own);
    return some_places;
}

static void add_gather(void)
{
    member x = any();

    if (x.array->rank == 2 && rows > 0)
        keep(AT(x.array, arras_gather(places())), x.most, x.rough);
}

/* Of rows of one array or of two. */
static void add_gathered_root(void)
{
    member      x = any(), y = any();
    arras_array both[2];

    if (x.array->rank != 2 || y.array->rank != 2 || rows == 0)
        return;
    both[0] = AT(x.array, arras_gather(places()));
    both[1] = AT(y.array, arras_gather(places()));
    if (pick(2))
        both[0] = map2(AR_OP_multiply, both[0], both[1]);
    both[0] = map1(AR_OP_sqrt, map1(AR_OP_abs, both[0]));
    keep(pick(2) ? map2(AR_OP_add, both[0], both[1]) : both[0], 0, true);
}

/* x[i - 1, ...], with a rule for what is outside */
static void add_shifted(void)
{
    member     x = any();
    arras_expr indices[3];
    arras_edge edges[3] = { { ARRAS_EDGE_NONE, NULL } };
    int        axis = x.array->rank ? pick(x.array->rank) : 0;

    if (x.array->rank == 0)
        return;
    for (int k = 0; k < x.array->rank; k++)
        indices[k] = ar_expr_index(g, k), edges[k] = edges[0];
    indices[axis] = ar_expr_apply(
        AR_OP_add, 2,
        (arras_expr[]){ indices[axis],
                        ar_expr_literal(g, ARRAS_I64, (ar_value){ .i = pick(3) - 1 }) });
    edges[axis].rule = (arras_edge_rule)(pick(6) ? 1 + pick(ARRAS_EDGE_END - 1) : ARRAS_EDGE_NONE);
    if (edges[axis].rule == ARRAS_EDGE_CONSTANT && pick(2))
        edges[axis].fill = ar_expr_literal(g, ARRAS_I64, (ar_value){ .i = 3 });
    keep(ar_lambda(g, x.array->rank, x.array->shape,
                   ar_expr_load(x.array, x.array->rank, indices, edges)),
         x.most + 3, x.rough);
}

static void add_permuted(void)
{
    member x = any();

    if (x.array->rank == 2 && pick(3) == 0)
        keep(ar_permute(x.array, (int[]){ 1, 0 }), x.most, x.rough);
    else if (x.array->rank == 3)
        keep(ar_index(x.array, 1, (arras_item[]){ arras_at(pick((int)faces)) }), x.most, x.rough);
}

static void add_reduced(void)
{
    member x = any();

    if (!x.rough && x.array->rank > 0)
        keep(ar_reduce(AR_REDUCE_sum, x.array, (uint32_t)1 << pick(x.array->rank), pick(2), NULL),
             x.most * 12, false);
}

/* ---- Programs -------------------------------------------------------------------------------- */

static void (*const kinds[])(void) = {
    add_product, add_product,  add_product, add_products, add_products,      add_products,
    add_lift,    add_scaled,   add_scaled,  add_sum,      add_sum,           add_simple,
    add_dear,    add_dear,     add_cast,    add_gather,   add_gathered_root, add_gathered_root,
    add_shifted, add_permuted, add_reduced, add_faces,    add_rows,
};

static void record(uint64_t seed)
{
    static const arras_dtype dtypes[] = { ARRAS_F64, ARRAS_F64, ARRAS_F32, ARRAS_I64, ARRAS_C64 };

    state = seed * 0x9e3779b97f4a7c15u + 1;
    npool = nmatrices = 0;
    lift = some_places = NULL;
    for (int k = 0; k < 9; k++)
        pick(2);
    rows = (int64_t[]){ 0, 1, 2, 6, 6, 9 }[pick(6)];
    columns = (int64_t[]){ 0, 1, 2, 3, 5, 5 }[pick(6)];
    faces = 1 + pick(4);
    dtype = dtypes[pick(5)];
    rows_dim = pick(4) ? rows : size("n");
    some_are_empty = rows == 0 || columns == 0;
    keep(ar_input(g, "x", dtype, 2, (arras_dim[]){ rows_dim, columns }), 2, false);
    bind_cells("x", dtype, 2, (int64_t[]){ rows, columns },
               cells(dtype, 2, (int64_t[]){ rows, columns }, false));
    if (pick(2))
        add_faces();
    for (int step = 0; step < STEPS; step++)
        kinds[pick((int)AR_COUNT(kinds))]();
    for (int k = 0; k < 3; k++)
        ar_graph_output_add(g, (const char *[]){ "r", "s", "t" }[k],
                            k ? any().array : pool[npool - 1].array);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static arras_status optimise(arras_graph **out, const arras_graph *normal, ar_decisions *decisions,
                             arras_error *err)
{
    return ar_optimise(out, normal, NULL, decisions, err);
}

static struct {
    const char *name;
    arras_status (*run)(arras_graph **out, const arras_graph *normal, ar_decisions *decisions,
                        arras_error *err);
    int changed; /* programs */
} passes[] = {
    { "compose", ar_compose, 0 },
    { "factor", ar_factor, 0 },
    { "gather_late", ar_gather_late, 0 },
    { "optimise", optimise, 0 },
};

static void check_passes(const arras_graph *normal)
{
    for (size_t p = 0; p < AR_COUNT(passes); p++) {
        int          failures = test.failures;
        arras_graph *better = NULL;
        arras_error  err = { ARRAS_OK, "" };
        ar_decisions decisions = { 0 };

        CHECK_EQ_INT(passes[p].run(&better, normal, &decisions, &err), ARRAS_OK);
        passes[p].changed += better != NULL;
        if (passes[p].run != optimise)
            CHECK_EQ_INT(decisions.nchanges > 0, better != NULL);
        if (better && check_kinds(better)) {
            check_face(better);
            check_values(better, NEAR);
        }
        if (test.failures > failures) {
            printf("    after %s: %s\n", passes[p].name, err.text);
            show_programs(better ? better : normal);
        }
        ar_decisions_free(&decisions);
        ar_graph_free(better);
    }
}

static void random_programs(void)
{
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        arras_graph *normal = NULL;

        CASE("seed %d", (int)seed);
        begin();
        record(seed);
        if (CHECK_EQ_INT(ar_normalise(&normal, g, NULL), ARRAS_OK))
            check_passes(normal);
        ar_graph_free(normal);
        end();
    }
}

/* Programs that nothing comes of would test nothing. */
static void something_is_changed(void)
{
    for (size_t p = 0; p < AR_COUNT(passes); p++) {
        CASE("%s", passes[p].name);
        CHECK(passes[p].changed > 10);
    }
}

TEST_MAIN
{
    RUN(random_programs);
    RUN(something_is_changed);
}
