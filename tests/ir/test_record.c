/* test_record.c -- recording: shapes and types inferred, sharing, poison and its messages, limits.
 */
#include "ir/ir.h"
#include "test.h"

static arras_graph *g;

static arras_array input(const char *name, arras_dtype dtype, int rank, const arras_dim *shape)
{
    return arras_placeholder(g, name, dtype, rank, shape);
}

#define SHAPE(...)                                                                                 \
    (int)(sizeof((arras_dim[]){ __VA_ARGS__ }) / sizeof(arras_dim)), (const arras_dim[])           \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* "f64[n, 4]", or the message of poison */
static const char *typed(arras_array x)
{
    static char kept[1100];
    ar_text     text = { 0 };

    if (arras_array_error(x))
        return arras_array_error(x);
    ar_node_type_print(&text, x);
    snprintf(kept, sizeof kept, "%s", text.data ? text.data : "");
    ar_text_free(&text);
    return kept;
}

/* ---- Shapes and types ------------------------------------------------------------------------ */

static void shapes_are_inferred(void)
{
    arras_dim   n = arras_size(g, "n");
    arras_array x = input("x", ARRAS_F32, SHAPE(n, 4)), y = input("y", ARRAS_F64, SHAPE(4)),
                i = input("i", ARRAS_I32, SHAPE(2, 1)), z = input("z", ARRAS_I8, SHAPE(2, 3, 4, 5));
    int         axis0 = 0, last = -1, swap[] = { 1, 0 };
    arras_array two[] = { x, x };

    CHECK_STR(typed(arras_add(x, y)), "f64[n, 4]");
    CHECK_STR(typed(arras_add(x, arras_float(g, 2))), "f32[n, 4]");
    CHECK_STR(typed(arras_add(arras_multiply(arras_int(g, 2), arras_float(g, 3.5)), x)),
              "f32[n, 4]");
    CHECK_STR(typed(arras_sum(x, 1, &axis0, false)), "f32[4]");
    CHECK_STR(typed(arras_sum(z, 1, &last, true)), "i64[2, 3, 4, 1]");
    CHECK_STR(typed(arras_mean(z, 0, NULL, false)), "f64[]");
    CHECK_STR(typed(arras_permute(x, 2, swap)), "f32[4, n]");
    CHECK_STR(typed(arras_stack(2, two, -1)), "f32[n, 4, 2]");
    CHECK_STR(typed(arras_concatenate(2, two, 0)), "f32[2*n, 4]");
    CHECK_STR(typed(arras_reshape(x, SHAPE(-1), 'C')), "f32[4*n]");
    CHECK_STR(typed(arras_reshape(x, SHAPE(2, n, -1), 'F')), "f32[2, n, 2]");
    CHECK_STR(typed(arras_einsum("nk,k->n", 2, (arras_array[]){ x, y })), "f64[n]");
    CHECK_STR(typed(arras_matmul(x, y)), "f64[n]");
    CHECK_STR(typed(arras_index(x, 2, (arras_item[]){ arras_slice(1, -1, 1), arras_at(-1) })),
              "f32[n - 2]");
    CHECK_STR(typed(arras_index(
                  z, 3, (arras_item[]){ arras_gather(i), arras_all_of_axis(), arras_gather(i) })),
              "i8[2, 1, 3, 5]"); /* side by side they are not: the new axes come first */
    CHECK_STR(typed(arras_index(
                  z, 3, (arras_item[]){ arras_at(0), arras_all_of_axis(), arras_gather(i) })),
              "i8[2, 1, 3, 5]"); /* a number beside an index array counts as one */
    CHECK_STR(typed(arras_index(
                  z, 3, (arras_item[]){ arras_all_of_axis(), arras_gather(i), arras_gather(i) })),
              "i8[2, 2, 1, 5]");
    CHECK_STR(typed(arras_index(
                  y, 3, (arras_item[]){ arras_newaxis(), arras_ellipsis(), arras_newaxis() })),
              "f64[1, 4, 1]");
    CHECK_STR(typed(arras_tile(x, 2, (int64_t[]){ 2, 3 })), "f32[2*n, 12]");
    CHECK_STR(typed(arras_stencil(x, 2, (int64_t[]){ -1, 0, 2, 1 }, (double[]){ 1, 1 }, NULL)),
              "f32[n - 3, 3]");
}

static void ranks_go_up_to_32(void)
{
    arras_dim   ones[33];
    arras_array x;

    for (int d = 0; d < 33; d++)
        ones[d] = 1 + (d == 7);
    x = input("x", ARRAS_F64, 32, ones);
    CHECK_EQ_INT(arras_array_rank(arras_negative(x)), 32);
    CHECK_EQ_INT(arras_array_dim(x, -25), 2);
    CHECK_EQ_INT(arras_array_dim(x, 32), -1);
    CHECK_STR(typed(arras_sum(x, 0, NULL, false)), "f64[]");
    CHECK_HAS(typed(input("y", ARRAS_F64, 33, ones)), "rank 33 is not in 0..32");
    CHECK_HAS(typed(arras_stack(1, &x, 0)), "rank 33");
    CHECK_HAS(typed(arras_index(x, 1, (arras_item[]){ arras_newaxis() })), "rank 33");
    CHECK_HAS(typed(arras_outer(x, x)), "f64[2, 2]");
}

/* ---- Sharing --------------------------------------------------------------------------------- */

static void equal_structures_are_one_node(void)
{
    arras_array   x = input("x", ARRAS_F64, SHAPE(3)), y = input("y", ARRAS_F64, SHAPE(3));
    const double  cells[] = { 1, 2, 3, 4 }, reversed[] = { 4, 3, 2, 1 };
    const int64_t four = 4, back = -8;

    CHECK(arras_add(x, y) == arras_add(x, y));
    CHECK(arras_add(x, y) != arras_add(y, x));
    CHECK(arras_add(x, arras_float(g, 1)) != arras_add(x, arras_int(g, 1)));
    CHECK(arras_float(g, 0.0) != arras_float(g, -0.0));
    CHECK(arras_float(g, NAN) == arras_float(g, -NAN));
    CHECK(arras_copy(g, ARRAS_F64, 1, &four, NULL, cells) ==
          arras_copy(g, ARRAS_F64, 1, &four, &back, reversed + 3));
    CHECK(arras_copy(g, ARRAS_F64, 1, &four, NULL, cells) !=
          arras_copy(g, ARRAS_F64, 1, &four, NULL, reversed));
    CHECK(arras_borrow(g, ARRAS_F64, 1, &four, NULL, cells) ==
          arras_borrow(g, ARRAS_F64, 1, &four, NULL, cells));
    CHECK(arras_roll(x, 1, (int64_t[]){ -1 }, (int[]){ 0 }) ==
          arras_roll(x, 1, (int64_t[]){ 5 }, (int[]){ -1 }));
    CHECK(arras_einsum("ij,jk", 2, (arras_array[]){ arras_outer(x, y), arras_outer(y, x) }) ==
          arras_einsum("ab,bc->ac", 2, (arras_array[]){ arras_outer(x, y), arras_outer(y, x) }));
    CHECK(arras_index(x, 1, (arras_item[]){ arras_slice(0, 99, 1) }) ==
          arras_index(x, 1, (arras_item[]){ arras_slice(-3, ARRAS_NONE, 1) }));
}

static arras_array diamond(arras_graph *in, int levels)
{
    arras_array x = arras_placeholder(in, "x", ARRAS_F64, SHAPE(3));

    for (int i = 0; i < levels; i++)
        x = arras_sin(arras_add(x, x));
    return x;
}

/* It has 2^1000 paths: whoever walks them does not come to an end. */
static void a_diamond_is_linear(void)
{
    arras_graph *other = NULL;
    arras_error  err;
    arras_array  x = diamond(g, 1000), y;

    if (!CHECK_EQ_INT(arras_graph_new(&other, &err), ARRAS_OK))
        return;
    y = diamond(other, 1000);
    CHECK_EQ_INT(arras_graph_nodes(g), 2001);
    CHECK(arras_array_equal(x, y));
    CHECK(!arras_array_equal(x, arras_sin(y)));
    CHECK(!arras_array_equal(arras_cos(x), arras_sin(y)));
    arras_graph_free(other);
}

/* A lambda whose expression is a diamond, with names in another order in the second graph. */
static arras_array lambda_diamond(arras_graph *in, bool other_order)
{
    arras_dim   m = other_order ? arras_size(in, "m") : 0, n = arras_size(in, "n"), shape[2];
    arras_array x;
    arras_expr  e, i, k;

    shape[0] = n, shape[1] = arras_dim_add(in, other_order ? m : arras_size(in, "m"), n);
    x = arras_placeholder(in, "x", ARRAS_F64, 2, shape);
    i = arras_expr_index(in, 0), k = arras_expr_var(in, "k");
    e = arras_expr_load(x, 2, (arras_expr[]){ i, k }, NULL);
    for (int level = 0; level < 100; level++)
        e = arras_expr_apply(ARRAS_OP_add, 2, (arras_expr[]){ e, e });
    e = arras_expr_reduce(ARRAS_REDUCE_sum, "k", arras_expr_int(in, 0),
                          arras_expr_size(in, shape[1]), e);
    return arras_lambda(in, 1, shape, e);
}

static void equality_crosses_graphs(void)
{
    arras_graph *other = NULL;
    arras_error  err;

    if (!CHECK_EQ_INT(arras_graph_new(&other, &err), ARRAS_OK))
        return;
    CHECK_STR(typed(lambda_diamond(g, false)), "f64[n]");
    CHECK(arras_array_equal(arras_output_array(g, 0), NULL)); /* both are no array */
    {
        arras_array x = arras_find_input(g, "x"), y = lambda_diamond(other, true);

        CHECK(arras_array_equal(arras_sum(x, 0, NULL, false),
                                arras_sum(arras_find_input(other, "x"), 0, NULL, false)));
        CHECK_STR(arras_array_error(y), NULL);
        CHECK(!arras_array_equal(x, y));
    }
    arras_graph_free(other);
}

/* A node and its copy from elsewhere: equal cells are equal, whoever owns them, seen from both
 * sides; and however a nan or a true is spelt. */
static void equality_is_symmetric(void)
{
    arras_graph  *other = NULL;
    const double  cells[] = { 1, -NAN }, again[] = { 1, NAN };
    const uint8_t yes = 1, also_yes = 7;
    const int64_t two = 2;
    arras_error   err;
    arras_array   a, b, c, x, y;

    if (!CHECK_EQ_INT(arras_graph_new(&other, &err), ARRAS_OK))
        return;
    a = arras_copy(g, ARRAS_F64, 1, &two, NULL, cells);
    b = arras_borrow(other, ARRAS_F64, 1, &two, NULL, cells);
    c = arras_borrow(other, ARRAS_F64, 1, &two, NULL, again);
    x = arras_multiply(arras_sin(a), arras_sin(a)), y = arras_multiply(arras_sin(b), arras_sin(c));
    CHECK(b != c && a == arras_copy(g, ARRAS_F64, 1, &two, NULL, again));
    CHECK(arras_array_equal(x, y) && arras_array_equal(y, x));
    CHECK(!arras_array_equal(arras_sin(a), y) && !arras_array_equal(y, arras_sin(a)));
    CHECK(arras_scalar(g, ARRAS_BOOL, &yes) == arras_scalar(g, ARRAS_BOOL, &also_yes));
    CHECK(arras_copy(g, ARRAS_BOOL, 0, NULL, NULL, &yes) ==
          arras_copy(g, ARRAS_BOOL, 0, NULL, NULL, &also_yes));
    arras_graph_free(other);
}

static arras_array record_chain(arras_graph *in)
{
    arras_array x = arras_placeholder(in, "x", ARRAS_F64, SHAPE(100, 100)), y = x;

    for (int i = 0; i < 5000; i++)
        y = arras_add(arras_multiply(y, arras_float(in, i)), x);
    return y;
}

static arras_array record_stencils(arras_graph *in)
{
    arras_array  x = arras_placeholder(in, "x", ARRAS_F64, SHAPE(100));
    const double weights[] = { 1, 2 };

    for (int i = 0; i < 10000; i++) {
        const int64_t    offsets[] = { -1, i };
        const arras_edge edge = { ARRAS_EDGE_WRAP, NULL };

        x = arras_stencil(x, 2, offsets, weights, &edge);
    }
    return x;
}

static void records_all(arras_array (*record)(arras_graph *))
{
    arras_graph *in = NULL;

    if (!CHECK_EQ_INT(arras_graph_new(&in, NULL), ARRAS_OK))
        return;
    CHECK_STR(arras_array_error(record(in)), NULL);
    CHECK(arras_graph_nodes(in) >= 10000);
    arras_graph_free(in);
}

static void ten_thousand_nodes_are_recorded(void)
{
    records_all(record_chain);
    records_all(record_stencils);
}

/* ---- Poison ---------------------------------------------------------------------------------- */

static arras_array a, b, c, whole, mask, sym;

static void make_operands(void)
{
    a = input("a", ARRAS_F64, SHAPE(3, 4));
    b = input("b", ARRAS_F64, SHAPE(3, 5));
    c = input("c", ARRAS_U8, SHAPE(3));
    whole = input("whole", ARRAS_I32, SHAPE(3));
    mask = input("mask", ARRAS_BOOL, SHAPE(3));
    sym = input("sym", ARRAS_F64, SHAPE(arras_size(g, "n"), arras_size(g, "m")));
}

/* Each row: what is recorded, and what its message must say. */
#define POISON(expression, ...)                                                                    \
    do {                                                                                           \
        const char *parts[] = { __VA_ARGS__ };                                                     \
        arras_array poison = (expression);                                                         \
        CASE("%s", #expression);                                                                   \
        CHECK_EQ_INT(arras_array_rank(poison), -1);                                                \
        CHECK_EQ_INT(arras_array_dtype(poison), ARRAS_NO_DTYPE);                                   \
        for (size_t part = 0; part < AR_COUNT(parts); part++)                                      \
            CHECK_HAS(arras_array_error(poison), parts[part]);                                     \
    } while (0)

static void mistakes_of_shape_and_type(void)
{
    make_operands();
    POISON(arras_add(a, b), "add: axis -1 is 4 against 5", "a: f64[3, 4]", "b: f64[3, 5]");
    POISON(arras_add(a, sym), "axis -2 is 3 against n");
    POISON(arras_where(mask, a, b), "where: axis");
    POISON(arras_bitwise_and(a, a), "bitwise_and is not defined for f64");
    POISON(arras_subtract(mask, mask), "logical_xor");
    POISON(arras_add(c, arras_int(g, 300)), "300 does not fit u8");
    POISON(arras_add(c, arras_int(g, -1)), "-1 does not fit u8");
    POISON(arras_pow(whole, arras_int(g, -1)), "power -1");
    POISON(arras_cast(a, (arras_dtype)99), "no type number 99");
    POISON(arras_sum(a, 1, (int[]){ 2 }, false), "sum: axis 2 is not in -2..1");
    POISON(arras_sum(a, 2, (int[]){ 1, -1 }, false), "axis 1 is given twice");
    POISON(arras_max(input("none", ARRAS_F64, SHAPE(3, 0)), 0, NULL, false), "max over no cells");
    POISON(arras_reduce(ARRAS_REDUCE_sum, whole, 0, NULL, false, arras_float(g, 0.5)),
           "initial value does not fit i64");
    POISON(arras_reduce(ARRAS_REDUCE_argmin, whole, 0, NULL, false, arras_int(g, 0)),
           "no initial value");
    POISON(arras_reduce(99, a, 0, NULL, false, NULL), "no reduction number 99");
    POISON(arras_apply(-1, 1, &a), "no operation number -1");
    POISON(arras_apply(ARRAS_OP_add, 1, &a), "add takes 2 operands, not 1");
    POISON(arras_matmul(a, b), "4", "3");
    POISON(arras_matmul(a, arras_int(g, 1)), "rank 0");
    POISON(arras_csr_matmul(a, whole, whole, a), "rank 1");
    POISON(arras_csr_matmul(c, c, mask, a), "integers");
}

static void mistakes_of_movement(void)
{
    make_operands();
    POISON(arras_stack(2, (arras_array[]){ a, b }, 0), "stack: part 1", "a: f64[3, 4]",
           "b: f64[3, 5]");
    POISON(arras_stack(2, (arras_array[]){ a, a }, 3), "axis 3");
    POISON(arras_concatenate(2, (arras_array[]){ a, b }, 0), "concatenate: part 1");
    POISON(arras_stack(0, NULL, 0), "no arrays");
    POISON(arras_permute(a, 2, (int[]){ 0, 0 }), "axis 0 is given twice");
    POISON(arras_permute(a, 1, (int[]){ 0 }), "1 axes for an array of rank 2");
    POISON(arras_roll(a, 1, (int64_t[]){ 1 }, (int[]){ 5 }), "roll: axis 5");
    POISON(arras_reshape(a, SHAPE(5, -1), 'C'), "do not fill the shape [5, -1]");
    POISON(arras_reshape(a, SHAPE(-1, -1), 'C'), "axes 0 and 1 are both -1");
    POISON(arras_reshape(a, SHAPE(12), 'X'), "'C' or 'F'");
    POISON(arras_reshape(sym, SHAPE(-1), 'C'), "do not fill"); /* n*m is not affine */
    POISON(arras_reshape(input("zero", ARRAS_F64, SHAPE(0, 3)), SHAPE(0, -1), 'C'), "do not fill");
    POISON(arras_broadcast_to(a, SHAPE(3, 5)), "axis 1");
    POISON(arras_squeeze(a, 1, (int[]){ 0 }), "axis 0 is 3, not 1");
    POISON(arras_expand_dims(a, 1, (int[]){ 5 }), "does not exist");
    POISON(arras_flip(a, 1, (int[]){ 2 }), "flip: axis 2");
    POISON(arras_repeat(a, -1, 0), "negative");
    POISON(arras_index(a, 1, (arras_item[]){ arras_at(3) }),
           "number 3 is out of bounds for axis 0 of length 3");
    POISON(arras_index(a, 1, (arras_item[]){ arras_at(-4) }), "number -4");
    POISON(arras_index(a, 1, (arras_item[]){ arras_slice(0, 2, 0) }), "step", "is 0");
    POISON(arras_index(a, 3, (arras_item[]){ arras_at(0), arras_at(0), arras_at(0) }), "3 indices",
           "rank 2");
    POISON(arras_index(a, 2, (arras_item[]){ arras_ellipsis(), arras_ellipsis() }), "2 ellipses");
    POISON(arras_index(a, 1, (arras_item[]){ arras_gather(mask) }), "bool", "where");
    POISON(arras_index(a, 1, (arras_item[]){ arras_gather(a) }), "must be an integer");
    POISON(arras_index(sym, 1, (arras_item[]){ arras_slice(ARRAS_NONE, ARRAS_NONE, 2) }),
           "not affine");
    POISON(arras_pad(a, (int64_t[]){ -1, 0, 0, 0 }, ARRAS_PAD_EDGE, NULL), "-1");
    POISON(arras_pad(a, (int64_t[]){ 1, 0, 0, 0 }, (arras_pad_mode)77, NULL), "no such mode");
    POISON(arras_arange(g, 0, 5, 0), "step is 0");
    POISON(arras_arange_real(g, 0, 5, NAN), "no number of cells");
    POISON(arras_linspace(g, 0, 1, -3, true), "0 or more");
}

static void mistakes_of_einsum(void)
{
    arras_array one[1], two[2];

    make_operands();
    one[0] = two[0] = a, two[1] = b;
    POISON(arras_einsum("ij,jk", 1, one), "more parts than operands");
    POISON(arras_einsum("ij", 2, two), "fewer parts");
    POISON(arras_einsum("ij,jk", 2, two), "an index is 4 before but 3 in operand 1");
    POISON(arras_einsum("ijk", 1, one), "operand 0 has rank 2, its part names 3");
    POISON(arras_einsum("ii", 1, one), "different lengths");
    POISON(arras_einsum("i1", 1, one), "a letter");
    POISON(arras_einsum("ij->ijj", 1, one), "twice");
    POISON(arras_einsum("ij->k", 1, one), "no operand has");
    POISON(arras_einsum("......", 1, one), "two ellipses");
    POISON(arras_einsum(NULL, 1, one), "NULL");
}

static void sets(arras_expr i)
{
    const char *const names[] = { "k", "l" }, *const twice[] = { "k", "k" };
    const char *const wrong[] = { "k", "2" };
    const arras_expr  lo[] = { i, i }, hi[] = { i, i }, none[] = { i, NULL };
    const arras_expr  real[] = { i, arras_expr_float(g, 2) };

#define REDUCE(reduction, n, vars, low, high, body)                                                \
    arras_lambda(g, SHAPE(3), arras_expr_reduce_over(reduction, n, vars, low, high, body))
    POISON(REDUCE(ARRAS_REDUCE_max, 0, names, lo, hi, i), "max over 0 variables");
    POISON(REDUCE(ARRAS_REDUCE_max, 65, names, lo, hi, i), "there must be 1 to 64");
    POISON(REDUCE(ARRAS_REDUCE_max, 2, NULL, lo, hi, i), "max: the variables are NULL");
    POISON(REDUCE(ARRAS_REDUCE_max, 2, names, lo, NULL, i), "max: the bounds are NULL");
    POISON(REDUCE(ARRAS_REDUCE_max, 2, twice, lo, hi, i), "max: two variables are called k");
    POISON(REDUCE(ARRAS_REDUCE_argmin, 2, wrong, lo, hi, i), "'2' is no name");
    POISON(REDUCE(ARRAS_REDUCE_min, 2, names, lo, none, i), "NULL");
    POISON(REDUCE(ARRAS_REDUCE_min, 2, names, lo, real, i), "a bound of l is f64");
    POISON(REDUCE(ARRAS_REDUCE_min, 2, names, lo, hi, NULL), "NULL");
    POISON(REDUCE(-1, 2, names, lo, hi, i), "no reduction number -1");
    POISON(arras_lambda(g, SHAPE(3), arras_expr_mean_over(0, names, lo, hi, i)), "mean over 0");
    POISON(arras_lambda(g, SHAPE(3), arras_expr_std_over(2, twice, lo, hi, 0, i)), "var: two");
#undef REDUCE
}

static void mistakes_of_lambdas(void)
{
    arras_expr i, j, k, load;

    make_operands();
    i = arras_expr_index(g, 0), j = arras_expr_index(g, 1), k = arras_expr_var(g, "k");
    load = arras_expr_load(a, 2, (arras_expr[]){ i, j }, NULL);
    POISON(arras_lambda(g, SHAPE(3), load), "index 1 is used, but the result has rank 1");
    POISON(arras_lambda(g, SHAPE(3), k), "variable 'k'");
    POISON(arras_lambda(g, SHAPE(3), arras_expr_load(a, 1, &i, NULL)),
           "1 indices for a: f64[3, 4]");
    POISON(arras_lambda(g, SHAPE(3), arras_expr_load(c, 1, &load, NULL)),
           "an index must be an integer");
    POISON(arras_lambda(g, SHAPE(3),
                        arras_expr_load(c, 1, &i, &(arras_edge){ ARRAS_EDGE_CONSTANT, i })),
           "must be a number");
    POISON(arras_lambda(g, SHAPE(3),
                        arras_expr_load(c, 1, &i, &(arras_edge){ (arras_edge_rule)9, NULL })),
           "edge rule number 9");
    POISON(
        arras_lambda(g, SHAPE(3),
                     arras_expr_load(c, 1, &i,
                                     &(arras_edge){ ARRAS_EDGE_CONSTANT, arras_expr_int(g, 300) })),
        "fill 300 of axis 0 does not fit u8");
    POISON(
        arras_lambda(g, SHAPE(3),
                     arras_expr_apply(ARRAS_OP_pow, 2, (arras_expr[]){ i, arras_expr_int(g, -1) })),
        "power -1");
    POISON(arras_lambda(g, SHAPE(3), NULL), "NULL");
    POISON(arras_lambda(g, SHAPE(-2), i), "negative length -2");
    POISON(arras_lambda(g, SHAPE(3),
                        arras_expr_reduce(ARRAS_REDUCE_sum, "k", i, arras_expr_float(g, 2), k)),
           "bound");
    POISON(arras_lambda(g, SHAPE(3), arras_expr_reduce(ARRAS_REDUCE_sum, "2", i, i, i)), "no name");
    sets(i);
    POISON(arras_lambda(g, SHAPE(3),
                        arras_expr_apply(ARRAS_OP_bitwise_and, 2, (arras_expr[]){ load, i })),
           "bitwise_and");
    POISON(arras_lambda(g, SHAPE(3), arras_expr_load(arras_add(a, b), 1, &i, NULL)),
           "add: axis"); /* poison spreads */
    POISON(arras_stencil(a, 0, NULL, NULL, NULL), "at least one offset");
    for (int depth = 0; depth < 2000; depth++)
        load = arras_expr_apply(ARRAS_OP_negative, 1, &load);
    POISON(arras_lambda(g, SHAPE(3, 4), load), "nested more than 1000 deep");
}

static void mistakes_of_names(void)
{
    arras_array x = input("x", ARRAS_F64, SHAPE(3)), p = arras_param(g, "p", ARRAS_F64, SHAPE(3));
    arras_array y = arras_add(p, p), outside = arras_add(p, x);
    const char *result = "y";
    arras_error err;

    arras_size(g, "n");
    POISON(input("x", ARRAS_F64, SHAPE(3)), "input 'x'", "already used by an input");
    POISON(input("n", ARRAS_F64, SHAPE(3)), "already used by a size");
    POISON(input("a b", ARRAS_F64, SHAPE(3)), "letters, digits");
    POISON(input("", ARRAS_F64, SHAPE(3)), "letters");
    POISON(input(NULL, ARRAS_F64, SHAPE(3)), "letters");
    POISON(arras_output(g, "1", x), "output '1'");
    CHECK(arras_output(g, "y", x) == x);
    POISON(arras_output(g, "y", x), "output 'y' exists already");
    POISON(arras_call(arras_function_new(g, "f", 1, &p, 1, &result, &outside), "y", 1, &x),
           "reads the input 'x'");
    POISON(arras_call(arras_function_new(g, "f", 0, NULL, 1, &result, &y), "y", 0, NULL),
           "parameter 'p' of another");
    POISON(arras_call(arras_function_new(g, "f", 1, &x, 1, &result, &x), "y", 1, &x),
           "arras_param");
    POISON(arras_call(arras_function_new(g, "f", 1, &p, 1, &result, &y), "z", 1, &x),
           "no result 'z'");
    POISON(arras_call(ar_function_find(g, "f"), "y", 0, NULL), "0 arguments for 1");
    POISON(arras_call(ar_function_find(g, "f"), "y", 1, (arras_array[]){ arras_outer(x, x) }),
           "the argument is f64[3, 3]");
    POISON(arras_call(arras_function_new(g, "f", 1, &p, 1, &result, &y), "y", 1, &x),
           "defined twice");
    CHECK_STR(typed(arras_call(ar_function_find(g, "f"), "y", 1, &x)), "f64[3]");
    CHECK_EQ_INT(arras_check(g, &err), ARRAS_ENAME);
    CHECK_HAS(err.text, "output '1'");
}

/* Poison of the user's own making is poison whatever its code, and does not spoil other outputs. */
static void users_make_poison(void)
{
    arras_error err;

    POISON(arras_poison(g, ARRAS_OK, "mine"), "mine");
    POISON(arras_poison(g, (arras_status)777, "mine"), "mine");
    POISON(arras_poison(g, ARRAS_ENOMEM, "mine"), "mine");
    arras_output(g, "fine", arras_int(g, 1));
    CHECK_EQ_INT(arras_check(g, &err), ARRAS_OK);
    arras_output(g, "bad", arras_poison(g, ARRAS_OK, "mine"));
    CHECK_EQ_INT(arras_check(g, &err), ARRAS_EINVAL);
}

static void sizes_are_no_numbers(void)
{
    arras_dim   n = arras_size(g, "n");
    arras_array x = input("x", ARRAS_F64, SHAPE(10));

    POISON(arras_linspace(g, 0, 1, n, true), "must be a number");
    POISON(arras_arange(g, 0, n, 1), "must be numbers");
    POISON(arras_roll(x, 1, &n, (int[]){ 0 }), "symbolic");
    POISON(arras_index(x, 1, (arras_item[]){ arras_slice(-20, n, 1) }), "start -20");
    POISON(input("y", ARRAS_F64, SHAPE(INT64_MIN)), "INT64_MIN is no length");
    POISON(arras_sum(x, -1, (int[]){ 0 }, false), "negative");
    POISON(arras_matmul(arras_poison(g, ARRAS_EINVAL, "first"), arras_int(g, 1)), "first");
    POISON(arras_add(x, NULL), "add: operand 1 is NULL");
}

/* [2*n, n] fits [2*m, m] though its first axis alone does not say what n is. */
static void sizes_of_calls_are_found(void)
{
    arras_dim   n = arras_size(g, "n"), m = arras_size(g, "m");
    arras_array p = arras_param(g, "p", ARRAS_F64, SHAPE(arras_dim_mul(g, n, 2), n));
    arras_array x = input("x", ARRAS_F64, SHAPE(arras_dim_mul(g, m, 2), m));
    arras_array y = input("y", ARRAS_F64, SHAPE(arras_dim_mul(g, m, 4), m));
    arras_array q = arras_param(g, "q", ARRAS_F64, SHAPE(arras_dim_mul(g, n, 2)));
    arras_array z = input("z", ARRAS_F64, SHAPE(arras_dim_mul(g, m, 4))),
                w = input("w", ARRAS_F64, SHAPE(m));
    const char    *name = "r";
    arras_function f = arras_function_new(g, "f", 1, &p, 1, &name, &p);
    arras_function h =
        arras_function_new(g, "h", 1, &q, 1, &name, (arras_array[]){ arras_size_value(g, n) });

    CHECK_STR(typed(arras_call(f, "r", 1, &x)), "f64[2*m, m]");
    CHECK_STR(typed(arras_call(h, "r", 1, &z)), "i64[]");
    POISON(arras_call(f, "r", 1, &y), "does not fit");
    POISON(arras_call(h, "r", 1, &w), "can't be shown to fit");
}

static void a_parameter_needs_a_call(void)
{
    arras_error err;

    arras_output(g, "y", arras_sin(arras_param(g, "p", ARRAS_F64, SHAPE(3))));
    CHECK_EQ_INT(arras_check(g, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "parameter 'p' outside its function");
}

static void graphs_do_not_mix(void)
{
    arras_graph *other = NULL;
    arras_error  err;
    arras_array  x = input("x", ARRAS_F64, SHAPE(3)), y;
    arras_dim    n;

    if (!CHECK_EQ_INT(arras_graph_new(&other, &err), ARRAS_OK))
        return;
    y = arras_placeholder(other, "y", ARRAS_F64, SHAPE(3));
    for (int i = 0; i < 50; i++)
        n = arras_dim_add(other, arras_size(other, "n"), i);
    {
        arras_expr at = arras_expr_index(g, 0);
        arras_edge edge = { ARRAS_EDGE_CONSTANT, arras_expr_int(other, 5) };

        POISON(arras_lambda(g, SHAPE(3), arras_expr_load(x, 1, &at, &edge)), "another graph");
    }
    POISON(arras_add(x, y), "another graph");
    POISON(arras_output(g, "y", y), "another graph");
    POISON(input("z", ARRAS_F64, SHAPE(n)), "another graph");
    arras_graph_free(other);
}

/* Every entry point with nothing in its hands. */
static void nothing_is_survived(void)
{
    arras_array none[] = { NULL, NULL, NULL };

    POISON(arras_placeholder(NULL, "x", ARRAS_F64, 0, NULL), "NULL");
    POISON(arras_int(NULL, 1), "NULL");
    POISON(arras_add(NULL, NULL), "NULL");
    POISON(arras_sin(NULL), "NULL");
    POISON(arras_sum(NULL, 0, NULL, false), "NULL");
    POISON(arras_mean(NULL, 0, NULL, false), "NULL");
    POISON(arras_std(NULL, 0, NULL, 0, false), "NULL");
    POISON(arras_clip(NULL, NULL, NULL), "NULL");
    POISON(arras_einsum("i", 1, none), "NULL");
    POISON(arras_matmul(NULL, NULL), "NULL");
    POISON(arras_dot(NULL, NULL), "NULL");
    POISON(arras_vdot(NULL, NULL), "NULL");
    POISON(arras_outer(NULL, NULL), "NULL");
    POISON(arras_csr_matmul(NULL, NULL, NULL, NULL), "NULL");
    POISON(arras_stack(2, none, 0), "NULL");
    POISON(arras_concatenate(2, none, 0), "NULL");
    POISON(arras_roll(NULL, 0, NULL, NULL), "NULL");
    POISON(arras_permute(NULL, 0, NULL), "NULL");
    POISON(arras_reshape(NULL, 0, NULL, 'C'), "NULL");
    POISON(arras_broadcast_to(NULL, 0, NULL), "NULL");
    POISON(arras_squeeze(NULL, 0, NULL), "NULL");
    POISON(arras_expand_dims(NULL, 0, NULL), "NULL");
    POISON(arras_flip(NULL, 0, NULL), "NULL");
    POISON(arras_tile(NULL, 0, NULL), "NULL");
    POISON(arras_repeat(NULL, 1, 0), "NULL");
    POISON(arras_pad(NULL, NULL, ARRAS_PAD_EDGE, NULL), "NULL");
    POISON(arras_index(NULL, 0, NULL), "NULL");
    POISON(arras_lambda(NULL, 0, NULL, NULL), "NULL");
    POISON(arras_stencil(NULL, 0, NULL, NULL, NULL), "NULL");
    POISON(arras_call(NULL, "y", 0, NULL), "NULL");
    POISON(arras_call(arras_function_new(NULL, "f", 0, NULL, 0, NULL, NULL), "y", 0, NULL), "NULL");
    POISON(arras_zeros(NULL, ARRAS_F64, 0, NULL), "NULL");
    POISON(arras_eye(NULL, ARRAS_F64, 2, 2, 0), "NULL");
    POISON(arras_linspace(NULL, 0, 1, 5, true), "NULL");
    POISON(arras_output(NULL, "x", NULL), "NULL");
    POISON(arras_output(g, "x", NULL), "NULL");
    CHECK(arras_expr_error(arras_expr_apply(0, 2, NULL)) != NULL);
    CHECK(arras_expr_error(arras_expr_load(NULL, 0, NULL, NULL)) != NULL);
    CHECK(arras_expr_error(arras_expr_index(NULL, 0)) != NULL);
    CHECK(arras_check(NULL, NULL) != ARRAS_OK &&
          arras_evaluate(NULL, NULL, 0, NULL, NULL) != ARRAS_OK);
    arras_graph_free(NULL);
    arras_results_free(NULL);
    arras_text_free(NULL);
}

static void in_new_graph(void (*test_case)(void), const char *name)
{
    arras_error err;

    if (arras_graph_new(&g, &err) != ARRAS_OK)
        return;
    test_run(name, test_case);
    arras_graph_free(g);
}

#define RUN_IN_GRAPH(name) in_new_graph(name, #name)

TEST_MAIN
{
    RUN_IN_GRAPH(shapes_are_inferred);
    RUN_IN_GRAPH(ranks_go_up_to_32);
    RUN_IN_GRAPH(equal_structures_are_one_node);
    RUN_IN_GRAPH(a_diamond_is_linear);
    RUN_IN_GRAPH(equality_crosses_graphs);
    RUN_IN_GRAPH(equality_is_symmetric);
    RUN(ten_thousand_nodes_are_recorded);
    RUN_IN_GRAPH(mistakes_of_shape_and_type);
    RUN_IN_GRAPH(mistakes_of_movement);
    RUN_IN_GRAPH(mistakes_of_einsum);
    RUN_IN_GRAPH(mistakes_of_lambdas);
    RUN_IN_GRAPH(mistakes_of_names);
    RUN_IN_GRAPH(users_make_poison);
    RUN_IN_GRAPH(sizes_are_no_numbers);
    RUN_IN_GRAPH(sizes_of_calls_are_found);
    RUN_IN_GRAPH(a_parameter_needs_a_call);
    RUN_IN_GRAPH(graphs_do_not_mix);
    RUN_IN_GRAPH(nothing_is_survived);
}
