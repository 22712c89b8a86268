/* test_normalise.c -- the normal form, kind by kind: only inputs, data and lambdas are left, and
 * they give the same bits. */
#include "normalised.h"
#include "text_programs.h"

static const ar_type untyped_real = { ARRAS_F64, true };

static arras_array number(arras_dtype dtype, ar_value value)
{
    return ar_const(g, (ar_type){ dtype, false }, value);
}

static arras_array real(double value)
{
    return ar_const(g, untyped_real, (ar_value){ .f = value });
}

/* A matrix of symbolic shape, bound to cells of this type. */
static arras_array matrix(const char *name, arras_dim rows, arras_dim cols, const char *type)
{
    bind_array(name, type, NULL);
    return ar_input(g, name, bound[nbound - 1].buffer.dtype, 2, (arras_dim[]){ rows, cols });
}

#define SLICE(start, stop, step) arras_slice(start, stop, step)
#define ALL arras_all_of_axis()

/* ---- Numbers --------------------------------------------------------------------------------- */

static void numbers_keep_every_bit(void)
{
    const ar_value unsigned_end = { .bits = { -1, 0 } }, negative_zero = { .f = -0.0 };

    SAME(number(ARRAS_U64, unsigned_end));
    SAME(number(ARRAS_I64, (ar_value){ .i = INT64_MIN }));
    SAME(number(ARRAS_I8, (ar_value){ .bits = { -128, 0 } }));
    SAME(number(ARRAS_BOOL, (ar_value){ .b = 1 }));
    SAME(number(ARRAS_F64, negative_zero));
    SAME(number(ARRAS_F64, (ar_value){ .f = NAN }));
    SAME(number(ARRAS_F32, (ar_value){ .singles = { 1e-45F, 0 } }));
    SAME(number(ARRAS_F32, (ar_value){ .singles = { NAN, 0 } }));
    SAME(number(ARRAS_C64, (ar_value){ .singles = { -0.0F, INFINITY } }));
    SAME(number(ARRAS_C128, (ar_value){ .parts = { NAN, -0.0 } }));
    SAME(untyped_int(7));
    SAME(real(-0.0));
    SAME((bind_array("n", "i64[]", (double[]){ 5 }), ar_size_node(g, ar_dim_add(g, size("n"), 2))));
}

static void numbers_keep_their_type_among_operands(void)
{
    SAME(map2(AR_OP_add, N("u8[3]"), untyped_int(200)));
    SAME(map2(AR_OP_less, N("u8[3]"), untyped_int(300)));
    SAME(map2(AR_OP_less, N("u64[3]"), untyped_int(-1)));
    SAME(map2(AR_OP_add, N("f32[3]"), real(0.1)));
    SAME(map2(AR_OP_add, N("i32[3]"), real(0.1)));
    SAME(map2(AR_OP_add, N("f32[3]"), number(ARRAS_F64, (ar_value){ .f = 0.1 })));
    SAME(map2(AR_OP_subtract, number(ARRAS_U64, (ar_value){ .bits = { -1, 0 } }), N("u64[2]")));
    SAME(ar_map(AR_OP_where, 3, L(A("bool[2]", 1, 0), untyped_int(3), real(0.5))));
    SAME(map2(AR_OP_pow, N("i16[4]"), untyped_int(3)));
}

/* ---- Elementwise ----------------------------------------------------------------------------- */

static const double oddities[] = { -0.0,      0,      1, -1.5, 2,    300, NAN, INFINITY,
                                   -INFINITY, 1e-310, 3, -7,   1e19, 0.5, 100, 255 };

static arras_array odd_cells(arras_dtype dtype, int first)
{
    double values[6];
    char   type[16];

    for (int i = 0; i < 6; i++)
        values[i] = oddities[(first + i) % (int)AR_COUNT(oddities)];
    snprintf(type, sizeof type, "%s[3]", ar_dtype_name(dtype));
    return array_of(type, values);
}

/* What the builders refuse has no normal form. */
static void check_unless_poison(arras_array x)
{
    if (!CHECK(x != NULL) || ar_is_poison(x))
        return;
    ar_graph_output_add(g, "out", x);
    check_same(EXACT);
}

static void check_operation(ar_op op, arras_dtype a, arras_dtype b)
{
    arras_array x, y;

    CASE("%s of %s and %s", ar_op_name(op), ar_dtype_name(a), ar_dtype_name(b));
    begin();
    x = odd_cells(a, 0), y = odd_cells(b, 4);
    check_unless_poison(ar_map(op, ar_op_arity(op), L(x, y, x)));
    end();
}

static void every_operation_in_every_type(void)
{
    for (int op = 0; op < AR_OP_END; op++)
        for (int a = ARRAS_NO_DTYPE + 1; a < ARRAS_DTYPE_END; a++)
            check_operation((ar_op)op, (arras_dtype)a,
                            (arras_dtype)(1 + (a * 5 + op) % (ARRAS_DTYPE_END - 1)));
}

static void every_cast(void)
{
    for (int a = ARRAS_NO_DTYPE + 1; a < ARRAS_DTYPE_END; a++)
        for (int b = ARRAS_NO_DTYPE + 1; b < ARRAS_DTYPE_END; b++)
            for (int first = 0; first < (int)AR_COUNT(oddities); first += 3)
                SAME(ar_cast(odd_cells((arras_dtype)a, first), (arras_dtype)b));
}

static void broadcasting(void)
{
    SAME(map2(AR_OP_add, N("i32[4,1]"), N("i64[3]")));
    SAME(map2(AR_OP_add, N("i32[]"), N("i64[2,3]")));
    SAME(map2(AR_OP_add, N("i32[1,1]"), N("i64[1]")));
    SAME(map2(AR_OP_add, N("i32[0,3]"), N("i64[1]")));
    SAME(map2(AR_OP_add, matrix("x", size("n"), 1, "f64[3,1]"), N("f64[2]")));
    SAME(ar_map(AR_OP_where, 3, L(N("bool[2,1,1]"), N("i8[3,1]"), N("f32[4]"))));
}

/* ---- Movement -------------------------------------------------------------------------------- */

static void stack_and_concatenate(void)
{
    SAME(ar_stack(2, L(N("i32[2,3]"), N("f32[2,3]")), 0));
    SAME(ar_stack(3, L(N("i32[2]"), N("u8[2]"), N("bool[2]")), 1));
    SAME(ar_stack(2, L(untyped_int(3), N("u8[]")), 0));
    SAME(ar_stack(1, L(N("i32[0,3]")), 2));
    SAME(ar_concat(3, L(N("i32[2,3]"), N("f32[0,3]"), N("i8[4,3]")), 0));
    SAME(ar_concat(2, L(N("c64[2,3]"), N("u16[2,1]")), 1));
    SAME(ar_concat(2,
                   L(vector("x", size("n"), "i8[3]", NULL),
                     vector("y", ar_dim_add(g, size("m"), 1), "i8[1]", NULL)),
                   0));
}

/* More parts than an expression may be deep. */
static void many_parts(void)
{
    enum { PARTS = 3000 };
    static arras_array parts[PARTS];

    begin();
    for (int i = 0; i < PARTS; i++) {
        int64_t value = i;

        parts[i] = ar_data(g, ARRAS_I64, 1, (int64_t[]){ 1 }, NULL, &value, true);
    }
    ar_graph_output_add(g, "concatenated", ar_concat(PARTS, parts, 0));
    ar_graph_output_add(g, "stacked", ar_stack(PARTS, parts, 1));
    check_same(EXACT);
    end();
}

static void roll_and_permute(void)
{
    SAME(ar_roll(N("i32[2,5]"), (int64_t[]){ 1, -2 }));
    SAME(ar_roll(N("i32[0,5]"), (int64_t[]){ 1, 7 }));
    SAME(ar_roll(N("i32[]"), NULL));
    SAME(ar_roll(vector("x", size("n"), "i8[5]", NULL), (int64_t[]){ 13 }));
    SAME(ar_roll(vector("x", size("n"), "i8[5]", NULL), (int64_t[]){ INT64_MIN }));
    SAME(ar_roll(vector("x", size("n"), "i8[5]", NULL), (int64_t[]){ INT64_MAX }));
    SAME(ar_roll(vector("x", size("n"), "i8[0]", NULL), (int64_t[]){ 4 }));
    SAME(ar_permute(N("i32[2,3,4]"), (int[]){ 2, 0, 1 }));
    SAME(ar_permute(N("i32[]"), NULL));
}

#define RESHAPE(x, order, ...)                                                                     \
    ar_reshape(x, (int)AR_COUNT(((arras_dim[]){ __VA_ARGS__ })), (arras_dim[]){ __VA_ARGS__ },     \
               order)

static void reshape(void)
{
    for (const char *order = "CF"; *order; order++) {
        CASE("order %c", *order);
        SAME(RESHAPE(N("i32[2,3,4]"), *order, 4, 3, 2));
        SAME(RESHAPE(N("i32[2,3,4]"), *order, 24));
        SAME(RESHAPE(N("i32[24]"), *order, 2, 3, 4));
        SAME(RESHAPE(N("i32[2,6,5]"), *order, 2, 3, 2, 5));
        SAME(RESHAPE(N("i32[4,6,2]"), *order, 2, 2, 3, 4));
        SAME(RESHAPE(N("i32[1,6,1]"), *order, 6, 1, 1, 1));
        SAME(RESHAPE(N("i32[0,3]"), *order, 5, 0, 7));
        SAME(RESHAPE(N("i32[]"), *order, 1, 1));
        SAME(ar_reshape(N("i32[1,1]"), 0, NULL, *order));
        SAME(RESHAPE(matrix("x", size("n"), 6, "i32[3,6]"), *order, size("n"), 2, 3));
        SAME(RESHAPE(matrix("x", 4, size("n"), "i32[4,3]"), *order, 2, 2, size("n")));
        SAME(RESHAPE(matrix("x", size("n"), 4, "i32[3,4]"), *order, 4, size("n")));
        SAME(RESHAPE(matrix("x", size("n"), 4, "i32[3,4]"), *order, -1));
        SAME(RESHAPE(matrix("x", size("n"), size("m"), "i32[3,4]"), *order, size("m"), size("n")));
    }
}

static arras_expr cell_of(arras_array x) { return x->ref; }

/* No division where an axis passes through. */
static void reshape_is_plain_where_it_can_be(void)
{
    arras_graph *normal = NULL;
    arras_expr   cell;

    begin();
    ar_graph_output_add(g, "out", RESHAPE(N("i32[2,1,3,4]"), 'C', 2, 3, 1, 2, 2, 1));
    if (CHECK_EQ_INT(ar_normalise(&normal, g, NULL), ARRAS_OK)) {
        cell = cell_of(ar_graph_output(normal, 0)->array);
        CHECK_EQ_INT(cell->kind, AR_EXPR_LOAD);
        CHECK_EQ_INT(cell->args[0]->kind, AR_EXPR_INDEX);
        CHECK_EQ_INT(cell->args[1]->kind, AR_EXPR_LITERAL);
        CHECK_EQ_INT(cell->args[2]->kind, AR_EXPR_INDEX);
        CHECK_EQ_INT(cell->args[3]->kind, AR_EXPR_OP);
    }
    ar_graph_free(normal);
    end();
}

static void basic_index(void)
{
    SAME(AT(N("i32[5,4]"), SLICE(3, ARRAS_NONE, -2), arras_at(1)));
    SAME(AT(N("i32[5,4]"), arras_newaxis(), SLICE(ARRAS_NONE, ARRAS_NONE, 3), arras_newaxis(),
            SLICE(-3, -1, 1)));
    SAME(AT(N("i32[5]"), SLICE(3, 1, 1)));
    SAME(AT(N("i32[5]"), SLICE(2, 3, INT64_MIN)));
    SAME(AT(N("i32[]"), arras_newaxis()));
    SAME(AT(vector("x", size("n"), "i8[5]", NULL), SLICE(1, -1, 1)));
    SAME(AT(vector("x", size("n"), "i8[5]", NULL), SLICE(ARRAS_NONE, ARRAS_NONE, -1)));
    SAME(AT(vector("x", size("n"), "i8[0]", NULL), SLICE(ARRAS_NONE, ARRAS_NONE, -1)));
    SAME(AT(vector("x", size("n"), "i8[5]", NULL), arras_at(-2)));
}

static void advanced_index(void)
{
    SAME(AT(N("i32[5,4]"), arras_gather(A("i8[3]", 0, -1, 2))));
    SAME(AT(N("i32[5,4]"), ALL, arras_gather(A("u64[2,1]", 3, 0))));
    SAME(AT(N("i32[5,4,3]"), arras_gather(A("i16[2,1]", 4, -5)), ALL,
            arras_gather(A("i64[3]", -1, 0, 2))));
    SAME(AT(N("i32[5,4]"), arras_gather(A("i64[2]", 1, -1)), arras_at(-2)));
    SAME(AT(N("i32[5]"), arras_gather(N("i64[0]"))));
    SAME(AT(N("i32[5]"), arras_gather(A("i64[]", -3))));
    SAME(ar_gather(N("i32[5]"), 1, 0, 1, L(untyped_int(-2))));
    SAME(AT(vector("x", size("n"), "i8[5]", NULL), arras_gather(A("i8[2]", -5, 4))));
}

/* ---- Reductions ------------------------------------------------------------------------------ */

/* Sums of small whole numbers are exact in any order. */
static void check_reduction(ar_reduction reduction, arras_dtype dtype, const char *shape)
{
    char type[32];

    snprintf(type, sizeof type, "%s%s", ar_dtype_name(dtype), shape);
    for (uint32_t axes = 0; axes < 8; axes++) {
        begin();
        check_unless_poison(ar_reduce(reduction, N(type), axes, axes % 3 == 1, NULL));
        end();
    }
}

static void every_reduction_in_every_type(void)
{
    static const char *const all[] = { "[2,3,4]", "[1,1,2]", "[3]", "[]", "[0,2]", "[2,0]" };

    for (int r = 0; r < AR_REDUCTION_END; r++)
        for (int a = ARRAS_NO_DTYPE + 1; a < ARRAS_DTYPE_END; a++)
            for (size_t k = 0; k < AR_COUNT(all); k++)
                check_reduction((ar_reduction)r, (arras_dtype)a, all[k]);
}

static void floating_sums(void)
{
    SAME(reduce(AR_REDUCE_sum, A("f32[7]", .1, .2, .3, 1e8, .5, -1e8, .7), 1));
    SAME(reduce(AR_REDUCE_prod, A("f64[2,3]", .1, .2, .3, .4, .5, .6), 2));
    SAME(reduce(AR_REDUCE_sum, A("f64[1]", -0.0), 1));
    NEARLY(reduce(AR_REDUCE_sum, A("f32[2,3]", .1, .2, .3, .4, .5, .6), 3));
    SAME(reduce(AR_REDUCE_argmax, A("f64[2,3]", 1, NAN, 3, NAN, 5, 6), 3));
    SAME(reduce(AR_REDUCE_argmin, A("f64[2,3]", 1, 1, 3, 0, 0, 6), 2));
    SAME(reduce(AR_REDUCE_max, A("f64[2,3]", 1, NAN, 3, 4, 5, 6), 3));
}

static arras_array reduce_from(ar_reduction reduction, arras_array x, uint32_t axes,
                               arras_array initial)
{
    return ar_reduce(reduction, x, axes, false, initial);
}

static void initial_values(void)
{
    SAME(reduce_from(AR_REDUCE_sum, N("i8[2,3]"), 3, untyped_int(100)));
    SAME(reduce_from(AR_REDUCE_sum, N("f64[0]"), 1, real(-0.0)));
    SAME(reduce_from(AR_REDUCE_prod, N("c64[0,2]"), 1, A("c64[]", INFINITY, -0.0)));
    SAME(reduce_from(AR_REDUCE_min, N("u8[0,2]"), 1, untyped_int(7)));
    SAME(reduce_from(AR_REDUCE_max, N("i32[2,2]"), 2, untyped_int(2)));
    SAME(reduce_from(AR_REDUCE_all, N("i32[3]"), 1, A("bool[]", 1)));
    SAME(reduce_from(AR_REDUCE_count_nonzero, N("i32[3]"), 1, untyped_int(5)));
    SAME(reduce_from(AR_REDUCE_max, N("f32[3]"), 0, real(1.5)));
    SAME(reduce_from(AR_REDUCE_max, vector("x", size("n"), "i8[0]", NULL), 1, untyped_int(2)));
    SAME(reduce_from(AR_REDUCE_max, vector("x", size("n"), "i8[4]", NULL), 1, untyped_int(2)));
    SAME(reduce_from(AR_REDUCE_max, matrix("x", size("n"), size("m"), "f64[0,3]"), 3, real(2)));
}

static void symbolic_reductions(void)
{
    SAME(reduce(AR_REDUCE_sum, matrix("x", size("n"), size("m"), "i32[3,4]"), 3));
    SAME(reduce(AR_REDUCE_argmax, matrix("x", size("n"), size("m"), "i32[3,4]"), 3));
    SAME(reduce(AR_REDUCE_any, matrix("x", size("n"), size("m"), "i32[0,4]"), 1));
}

/* ---- Products -------------------------------------------------------------------------------- */

static void einsums(void)
{
    SAME(ar_einsum("ij,jk", 2, L(N("i32[2,3]"), N("i64[3,4]"))));
    SAME(ar_einsum("ij,jk", 2, L(N("u8[2,13]"), N("u8[13,4]"))));
    SAME(ar_einsum("ij,jk", 2, L(N("bool[2,3]"), N("bool[3,4]"))));
    SAME(ar_einsum("ij,jk", 2, L(N("f32[2,3]"), N("f64[3,4]"))));
    SAME(ar_einsum("ij,j,k->ik", 3, L(N("c64[2,3]"), N("i8[3]"), N("u16[2]"))));
    SAME(ar_einsum("ii->i", 1, L(N("i32[3,3]"))));
    SAME(ar_einsum("ii", 1, L(N("i32[3,3]"))));
    SAME(ar_einsum("ijk->kij", 1, L(N("i32[2,3,4]"))));
    SAME(ar_einsum("ijk,kj->", 2, L(N("i32[2,3,4]"), N("i32[4,3]"))));
    SAME(ar_einsum("i,i", 2, L(N("i32[0]"), N("i32[0]"))));
    SAME(ar_einsum("i,i", 2, L(N("i32[1]"), N("i32[4]"))));
    SAME(ar_einsum("i,i->i", 2, L(N("i32[1]"), N("i32[4]"))));
    SAME(ar_einsum("...i,i", 2, L(N("i32[2,2,3]"), N("i32[3]"))));
    SAME(ar_einsum(",", 2, L(untyped_int(3), N("u8[]"))));
    SAME(ar_einsum(
        "ij,kj", 2,
        L(matrix("x", size("n"), size("m"), "i32[2,3]"), matrix("y", 1, size("m"), "i32[1,3]"))));
}

static void sparse_products(void)
{
    SAME(ar_csr(A("f64[3]", .1, .2, .3), A("i8[3]", 0, 2, 1), A("u64[3]", 0, 1, 3), N("f32[3,2]")));
    SAME(ar_csr(A("u8[3]", 100, 200, 3), A("i8[3]", 0, 2, 0), A("i32[4]", 0, 2, 2, 3), N("u8[3]")));
    SAME(ar_csr(A("bool[2]", 1, 1), A("i8[2]", 0, 2), A("i32[2]", 0, 2), A("bool[3]", 1, 0, 0)));
    SAME(ar_csr(N("i64[0]"), N("i64[0]"), A("i64[1]", 0), N("i64[3,2]")));
    SAME(ar_csr(N("i64[2]"), A("i64[2]", 0, 1), vector("s", size("n"), "i64[3]", NULL),
                N("i64[3,2]")));
}

/* ---- Lambdas --------------------------------------------------------------------------------- */

static arras_expr literal(int64_t value)
{
    return ar_expr_literal(g, ARRAS_I64, (ar_value){ .i = value });
}

static arras_array edge_lambda(arras_array x, arras_edge_rule rule)
{
    arras_edge edge = { rule, rule == ARRAS_EDGE_CONSTANT ? literal(-3) : NULL };
    arras_expr at =
        ar_expr_apply(AR_OP_subtract, 2, (arras_expr[]){ ar_expr_index(g, 0), literal(4) });

    return ar_lambda(g, 1, (arras_dim[]){ 9 }, ar_expr_load(x, 1, &at, &edge));
}

static arras_array sum_of_loads(arras_array x, arras_array y)
{
    return ar_lambda(g, 0, NULL,
                     ar_expr_apply(AR_OP_add, 2,
                                   (arras_expr[]){ ar_expr_load(x, 0, NULL, NULL),
                                                   ar_expr_load(y, 0, NULL, NULL) }));
}

static void lambdas(void)
{
    for (int rule = ARRAS_EDGE_CONSTANT; rule < ARRAS_EDGE_END; rule++)
        SAME(edge_lambda(N("i32[3]"), (arras_edge_rule)rule));
    SAME(ar_lambda(g, 0, NULL, ar_expr_load(untyped_int(5), 0, NULL, NULL)));
    SAME(sum_of_loads(untyped_int(200), A("u8[]", 100))); /* what is read has a type: i64 */
    SAME(sum_of_loads(ar_size_node(g, ar_dim_add(g, size("n"), 2)),
                      reduce(AR_REDUCE_sum, vector("x", size("n"), "i8[3]", NULL), 1)));
    SAME(ar_lambda(g, 1, (arras_dim[]){ 3 },
                   ar_expr_reduce(AR_REDUCE_sum, "r0", literal(0), ar_expr_index(g, 0),
                                  ar_expr_var(g, "r0"))));
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* outer(q) = inner(q[1:]) + size: both have a size n of their own. */
static arras_function nested_functions(void)
{
    arras_dim   n = size("n");
    arras_array p = ar_param(g, "p", ARRAS_F64, 1, &n), q = ar_param(g, "q", ARRAS_F64, 1, &n);
    arras_array scaled = map2(AR_OP_multiply, p, ar_size_node(g, n));
    arras_array cell =
        ar_lambda(g, 1, &n, ar_expr_cast(ar_expr_size(g, ar_dim_mul(g, n, 10)), ARRAS_F64));
    arras_function inner = ar_function_new(g, "inner", 1, &p, 2, (const char *[]){ "a", "b" },
                                           L(map2(AR_OP_add, scaled, cell), p));
    arras_array    tail = AT(q, SLICE(1, ARRAS_NONE, 1));
    arras_array    call = ar_call(inner, 1, &tail), last = AT(q, arras_at(-1));

    return ar_function_new(
        g, "outer", 1, &q, 3, (const char *[]){ "x", "y", "z" },
        L(map2(AR_OP_add, ar_call_result(call, 0), last), ar_call_result(call, 1), untyped_int(4)));
}

static void check_calls(arras_array x)
{
    arras_array call = ar_call(nested_functions(), 1, &x);

    ar_graph_output_add(g, "x", ar_call_result(call, 0));
    ar_graph_output_add(g, "y", ar_call_result(call, 1));
    ar_graph_output_add(g, "z", map2(AR_OP_add, ar_call_result(call, 2), N("u8[2]")));
    check_same(EXACT);
}

static void calls_are_written_out(void)
{
    begin();
    check_calls(N("f64[4]"));
    end();
    begin();
    check_calls(vector("v", ar_dim_add(g, ar_dim_mul(g, size("n"), 2), 1), "f64[5]", NULL));
    end();
    begin();
    check_calls(N("f64[1]"));
    end();
}

/* A number becomes typed where it goes through a parameter: 254 + 2 is no u8. */
static void numbers_as_arguments(void)
{
    arras_array    p, large;
    arras_function f;

    begin();
    p = ar_param(g, "p", ARRAS_I64, 0, NULL);
    f = ar_function_new(g, "f", 1, &p, 2, (const char *[]){ "a", "b" },
                        L(map2(AR_OP_add, p, N("u8[3]")), p));
    large = untyped_int(254);
    ar_graph_output_add(g, "a", ar_call_result(ar_call(f, 1, &large), 0));
    ar_graph_output_add(g, "b",
                        map2(AR_OP_add, ar_call_result(ar_call(f, 1, &large), 1), N("i8[3]")));
    check_same(EXACT);
    end();
}

/* f(p: [2*n + m], q: [m]) = n, called with 8 and 2 cells: n is 3. */
static void sizes_of_calls_are_solved(void)
{
    arras_dim      n, m, both;
    arras_array    params[2], value;
    arras_function f;

    begin();
    n = size("n"), m = size("m");
    both = ar_dim_add(g, ar_dim_mul(g, n, 2), m);
    params[0] = ar_param(g, "p", ARRAS_I8, 1, &both);
    params[1] = ar_param(g, "q", ARRAS_I8, 1, &m);
    value = ar_size_node(g, n);
    f = ar_function_new(g, "f", 2, params, 1, (const char *[]){ "n" }, &value);
    ar_graph_output_add(g, "out", ar_call_result(ar_call(f, 2, L(N("i8[8]"), N("i8[2]"))), 0));
    CHECK_STR(run(), "i64[] 3");
    check_same(EXACT);
    end();
}

/* Each function calls the one before it twice. */
static void calls_have_a_limit(void)
{
    arras_array    p, x;
    arras_function f = NULL;
    arras_graph   *normal = NULL;

    begin();
    for (int i = 0; i < 40; i++) {
        char name[16];

        snprintf(name, sizeof name, "f%d", i);
        p = ar_param(g, "p", ARRAS_F64, 0, NULL);
        x = map2(AR_OP_add, p, real(1));
        if (f)
            x = map2(AR_OP_add, ar_call_result(ar_call(f, 1, &p), 0),
                     ar_call_result(ar_call(f, 1, &x), 0));
        f = ar_function_new(g, name, 1, &p, 1, (const char *[]){ "r" }, &x);
    }
    x = N("f64[]");
    ar_graph_output_add(g, "out", ar_call_result(ar_call(f, 1, &x), 0));
    CHECK_EQ_INT(ar_normalise(&normal, g, NULL), ARRAS_ELIMIT);
    end();
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static void what_is_wrong_stays_wrong(void)
{
    NEITHER(AT(N("i32[5]"), arras_gather(A("i8[2]", 0, 5))), ARRAS_EINDEX);
    NEITHER(AT(N("i32[5]"), arras_gather(A("i8[2]", 0, -6))), ARRAS_EINDEX);
    NEITHER(AT(N("i32[5]"), arras_gather(A("u64[1]", 1e19))), ARRAS_EINDEX);
    NEITHER(AT(vector("x", size("n"), "i8[2]", NULL), arras_at(2)), ARRAS_EINDEX);
    NEITHER(AT(vector("x", size("n"), "i8[2]", NULL), arras_at(-3)), ARRAS_ESIZE);
    NEITHER(AT(vector("x", size("n"), "i8[2]", NULL), SLICE(3, ARRAS_NONE, 1)), ARRAS_ESIZE);
    NEITHER(ar_csr(N("i8[2]"), A("i8[2]", 0, 3), A("i8[2]", 0, 2), N("i8[3]")), ARRAS_EINDEX);
    NEITHER(ar_csr(N("i8[2]"), A("i8[2]", 0, 1), A("i8[3]", 0, 2, 1), N("i8[3]")), ARRAS_EINDEX);
    NEITHER(ar_csr(N("i8[2]"), A("i8[2]", 0, 1), A("i8[2]", 0, 3), N("i8[3]")), ARRAS_EINDEX);
    NEITHER(ar_csr(N("i8[2]"), A("i8[2]", 0, 1), A("i8[2]", -1, -1), N("i8[3]")), ARRAS_EINDEX);
    NEITHER(map2(AR_OP_add, N("i8[2]"), N("i8[3]")), ARRAS_ESHAPE);
    NEITHER(ar_param(g, "p", ARRAS_I8, 0, NULL), ARRAS_EINVAL);
    begin();
    ar_graph_output_add(g, "out", reduce(AR_REDUCE_max, vector("x", size("n"), "i8[0]", NULL), 1));
    check_fails(ARRAS_ESHAPE, ARRAS_EINDEX);
    end();
}

/* A call with two cells makes n - 3 negative: as a value, and as an index. */
static void negative_sizes_in_calls(void)
{
    for (int result = 0; result < 2; result++) {
        arras_dim      n;
        arras_array    p, x;
        arras_function f;

        begin();
        n = size("n");
        p = ar_param(g, "p", ARRAS_I8, 1, &n);
        f = ar_function_new(g, "f", 1, &p, 2, (const char *[]){ "a", "b" },
                            L(ar_size_node(g, ar_dim_sub(g, n, 3)), AT(p, arras_at(-3))));
        x = N("i8[2]");
        ar_graph_output_add(g, "out", ar_call_result(ar_call(f, 1, &x), result));
        check_fails(ARRAS_ESIZE, ARRAS_ESIZE);
        end();
    }
}

/* ---- Whole programs -------------------------------------------------------------------------- */

static void text_programs(void)
{
    for (size_t p = 0; p < AR_COUNT(programs); p++)
        for (int64_t extent = 0; extent < 4; extent++) {
            CASE("%s, sizes %" PRId64, programs[p].name, extent);
            begin();
            ar_graph_free(g);
            CHECK_EQ_INT(ar_read(&g, programs[p].text, strlen(programs[p].text), NULL), ARRAS_OK);
            if (bind_all(extent))
                check_same(NEAR);
            end();
        }
}

/* Every allocation may fail: no leak, and ENOMEM says so. */
static void running_out_of_memory(void)
{
    for (size_t p = 0; p < AR_COUNT(programs); p++) {
        arras_graph *program = NULL, *normal = NULL;
        arras_status status = ARRAS_ENOMEM;
        int64_t      n = 0, live;

        CASE("%s", programs[p].name);
        CHECK_EQ_INT(ar_read(&program, programs[p].text, strlen(programs[p].text), NULL), ARRAS_OK);
        live = ar_alloc_live();
        while (status == ARRAS_ENOMEM && n < 100000) {
            ar_alloc_fail_from(++n);
            status = ar_normalise(&normal, program, NULL);
            ar_alloc_fail_from(0);
            if (status != ARRAS_OK && !CHECK_EQ_INT(ar_alloc_live(), live))
                break;
        }
        CHECK_EQ_INT(status, ARRAS_OK);
        CHECK(n > 5);
        ar_graph_free(normal);
        ar_graph_free(program);
    }
}

TEST_MAIN
{
    RUN(numbers_keep_every_bit);
    RUN(numbers_keep_their_type_among_operands);
    RUN(every_operation_in_every_type);
    RUN(every_cast);
    RUN(broadcasting);
    RUN(stack_and_concatenate);
    RUN(many_parts);
    RUN(roll_and_permute);
    RUN(reshape);
    RUN(reshape_is_plain_where_it_can_be);
    RUN(basic_index);
    RUN(advanced_index);
    RUN(every_reduction_in_every_type);
    RUN(floating_sums);
    RUN(initial_values);
    RUN(symbolic_reductions);
    RUN(einsums);
    RUN(sparse_products);
    RUN(lambdas);
    RUN(calls_are_written_out);
    RUN(numbers_as_arguments);
    RUN(sizes_of_calls_are_solved);
    RUN(calls_have_a_limit);
    RUN(what_is_wrong_stays_wrong);
    RUN(negative_sizes_in_calls);
    RUN(text_programs);
    RUN(running_out_of_memory);
}
