/* kernel_cases.h -- for tests of kernels: programs that try what kernels can do.  Who includes it
 * says how the program that is recorded is checked, with the arrays that are bound: check_strided.
 */
#ifndef TEST_KERNEL_CASES_H
#define TEST_KERNEL_CASES_H

#include "random_programs.h"

/* Whether it ran to the end.  strided: kernels do not count on inputs in C order. */
static bool check_strided(bool strided);

static bool check_compiled(void)
{
    check_strided(true);
    return check_strided(false);
}

/* One of them: compiling takes its time. */
static bool check_one_way(uint64_t which) { return check_strided(which % 2); }

/* ---- Values ---------------------------------------------------------------------------------- */

static bool shape_value(ar_tensor *value, arras_array node, const int64_t *known, ar_arena *arena)
{
    int64_t *shape = ar_arena_alloc(arena, 2 * (size_t)node->rank, sizeof *shape);

    for (int axis = 0; axis < node->rank; axis++)
        if (ar_dim_value(&shape[axis], node->graph, node->shape[axis], known, NULL) != ARRAS_OK)
            return false;
    *value = (ar_tensor){
        .dtype = node->type.dtype, .rank = node->rank, .shape = shape, .strides = shape + node->rank
    };
    ar_strides_make(shape + node->rank, node->type.dtype, node->rank, shape);
    return ar_shape_count(&value->count, node->rank, shape);
}

/* The same bits, but for the bits of a nan. */
static bool same_values(arras_dtype dtype, int64_t count, const char *x, const char *y)
{
    size_t size = ar_dtype_size(dtype);

    for (int64_t i = 0; i < count; i++) {
        ar_value a = { .bits = { 0, 0 } }, b = a;

        memcpy(&a, x + (size_t)i * size, size);
        memcpy(&b, y + (size_t)i * size, size);
        ar_value_canonical(dtype, &a);
        ar_value_canonical(dtype, &b);
        if (memcmp(&a, &b, sizeof a) != 0) {
            printf("    cell %d\n", (int)i);
            return false;
        }
    }
    return true;
}

/* ---- Programs -------------------------------------------------------------------------------- */

#define COMPILED(array) (begin(), ar_graph_output_add(g, "out", array), check_compiled(), end())

static arras_expr literal(int64_t value)
{
    return ar_expr_literal(g, ARRAS_I64, (ar_value){ .bits = { value, 0 } });
}

static arras_expr op2(ar_op op, arras_expr x, arras_expr y)
{
    return ar_expr_apply(op, 2, (arras_expr[]){ x, y });
}

/* x[i + reach] with a rule, for reaches far beyond both ends */
static void record_reaches(const char *type, arras_edge_rule rule, int step)
{
    arras_array x = I("x", type, 3, 1, 4, 1, 5, 9, 2, 6, 5, 3); /* complex cells take two */
    arras_edge  edge = { rule, rule == ARRAS_EDGE_CONSTANT ? literal(7) : NULL };

    for (int reach = -11; reach <= 11; reach += step) {
        arras_expr at = op2(AR_OP_add, ar_expr_index(g, 0), literal(reach));
        char       name[16];

        snprintf(name, sizeof name, "reach%d", reach + 11);
        ar_graph_output_add(g, name, ar_lambda(g, 1, x->shape, ar_expr_load(x, 1, &at, &edge)));
    }
}

static void edges_reach_any_distance(void)
{
    static const char *const types[] = { "f64[1]", "i16[2]", "c64[4]", "bool[5]", "f32[0]" };

    for (int rule = 0; rule < ARRAS_EDGE_END; rule++)
        for (size_t t = 0; t < AR_COUNT(types); t++) {
            CASE("rule %d, %s", rule, types[t]);
            begin();
            record_reaches(types[t], (arras_edge_rule)rule, rule == ARRAS_EDGE_NONE ? 22 : 1);
            check_strided(t % 2);
            end();
        }
}

/* sum over k of (x[k] + sum over k of x[k]): the inner k is another one */
static arras_array shadowing(void)
{
    arras_array x = I("x", "f64[5]", 0.1, 0.2, 0.3, 0.4, 0.5);
    arras_expr  k = ar_expr_var(g, "k"), load = ar_expr_load(x, 1, &k, NULL);
    arras_expr  inner = ar_expr_reduce(AR_REDUCE_sum, "k", literal(1), literal(4), load);
    arras_expr  body = op2(AR_OP_add, load, op2(AR_OP_multiply, inner, load));

    return ar_lambda(g, 0, NULL, ar_expr_reduce(AR_REDUCE_sum, "k", literal(0), literal(5), body));
}

/* where(i > 0, x[i - 1], 0): the read is guarded */
static arras_array guarded(void)
{
    arras_array x = I("x", "i32[4]", 5, 6, 7, 8);
    arras_expr  i = ar_expr_index(g, 0), before = op2(AR_OP_subtract, i, literal(1));
    arras_expr  choice[] = { op2(AR_OP_greater, i, literal(0)), ar_expr_load(x, 1, &before, NULL),
                             literal(0) };

    return ar_lambda(g, 1, x->shape, ar_expr_apply(AR_OP_where, 3, choice));
}

static void blocks_nest(void)
{
    COMPILED(shadowing());
    COMPILED(guarded());
}

static void reductions_of_every_type(void)
{
    for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END; d++) {
        char        type[32];
        arras_array x;

        snprintf(type, sizeof type, "%s[3, 5]", ar_dtype_name((arras_dtype)d));
        CASE("%s", type);
        begin();
        x = I("x", type, 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3,
              3, 8, 3, 2, 7);
        for (int r = 0; r < AR_REDUCTION_END; r++)
            ar_graph_output_add(g, ar_reduction_name((ar_reduction)r),
                                ar_reduce((ar_reduction)r, x, 2, false, NULL));
        check_one_way((uint64_t)d);
        end();
    }
}

/* ---- Long rows: segments, blocks and borders ------------------------------------------------- */

static arras_array long_input(const char *name, const char *type)
{
    int         rank;
    int64_t     shape[ARRAS_MAX_RANK], count = 1;
    arras_dtype dtype = read_type(type, &rank, shape);
    bool        special = ar_dtype_class(dtype) >= AR_CLASS_REAL;
    double     *values;

    for (int axis = 0; axis < rank; axis++)
        count *= shape[axis];
    values = malloc(2 * (size_t)count * sizeof *values);
    state = (uint64_t)count * 77 + (uint64_t)dtype + 1;
    for (int64_t i = 0; i < 2 * count; i++)
        values[i] = special && pick(700) == 0 ? any_value() : (pick(2001) - 1000) / 64.0;
    bind_cells(name, dtype, rank, shape, cells_of(dtype, rank, shape, values));
    free(values);
    return ar_input(g, name, dtype, rank, shape);
}

/* Along both axes of arrays whose lengths are on either side of the tree's borders. */
static void reductions_of_many_cells(void)
{
    static const char *const types[] = { "f64[3, 64]",    "f32[2, 65]",   "f64[2, 1024]",
                                         "f32[3, 1025]",  "f64[2, 5007]", "f64[65, 7]",
                                         "f32[1030, 5]",  "f64[2500, 3]", "c128[2, 1100]",
                                         "c64[70, 3]",    "i32[3, 2000]", "u8[1100, 9]",
                                         "bool[2, 1500]", "i64[5, 77]" };

    for (size_t t = 0; t < AR_COUNT(types); t++) {
        CASE("%s", types[t]);
        begin();
        arras_array x = long_input("x", types[t]);
        for (int r = 0; r < AR_REDUCTION_END; r++)
            for (int axis = 0; axis < 2; axis++) {
                char name[32];

                snprintf(name, sizeof name, "%s%d", ar_reduction_name((ar_reduction)r), axis);
                ar_graph_output_add(g, name,
                                    ar_reduce((ar_reduction)r, x, 1U << axis, false, NULL));
            }
        check_strided(t % 3 == 2);
        end();
    }
}

/* x[i, j + d] of all d in a range, added up, with a rule on both axes */
static arras_array stencil_of(arras_array x, arras_edge_rule rule, int step)
{
    arras_edge edges[] = { { rule, rule == ARRAS_EDGE_CONSTANT ? literal(3) : NULL },
                           { rule, rule == ARRAS_EDGE_CONSTANT ? literal(5) : NULL } };
    arras_expr total = NULL;

    for (int d = -2; d <= 2; d++) {
        arras_expr j = op2(AR_OP_multiply, ar_expr_index(g, 1), literal(step));
        arras_expr at[] = { op2(AR_OP_add, ar_expr_index(g, 0), literal(d)),
                            op2(AR_OP_subtract, j, literal(3 * d)) };
        arras_expr load = ar_expr_load(x, 2, at, edges);

        total = total ? op2(AR_OP_add, total, load) : load;
    }
    return ar_lambda(g, 2, x->shape, total);
}

static void stencils_of_long_rows(void)
{
    for (int rule = 1; rule < ARRAS_EDGE_END; rule++) {
        CASE("rule %d", rule);
        begin();
        arras_array x = long_input("x", "f32[4, 2100]"), y = long_input("y", "f64[3, 130]");

        ar_graph_output_add(g, "x", stencil_of(x, (arras_edge_rule)rule, 1));
        ar_graph_output_add(g, "y", stencil_of(y, (arras_edge_rule)rule, 1));
        ar_graph_output_add(g, "twice", stencil_of(x, (arras_edge_rule)rule, 2));
        ar_graph_output_add(g, "back", stencil_of(x, (arras_edge_rule)rule, -1));
        check_one_way((uint64_t)rule);
        check_one_way(0);
        end();
    }
}

/* Arithmetic and mathematics over whole rows, some operands smaller. */
static void rows_and_columns(void)
{
    begin();
    arras_array a = long_input("a", "f64[3, 1500]"), b = long_input("b", "f32[3, 1500]");
    arras_array row = long_input("row", "f64[1500]"), column = long_input("column", "f64[3, 1]");
    arras_array chain = map2(AR_OP_add, map2(AR_OP_multiply, a, map1(AR_OP_sin, b)),
                             map2(AR_OP_multiply, map1(AR_OP_exp, map1(AR_OP_negative, a)), row));

    ar_graph_output_add(g, "chain", chain);
    ar_graph_output_add(g, "column", map2(AR_OP_subtract, a, map1(AR_OP_tanh, column)));
    ar_graph_output_add(g, "pow", map2(AR_OP_pow, map1(AR_OP_abs, b), map2(AR_OP_atan2, a, row)));
    ar_graph_output_add(g, "deep", map1(AR_OP_cos, map1(AR_OP_log1p, map1(AR_OP_cbrt, a))));
    ar_graph_output_add(g, "turned", ar_permute(map2(AR_OP_maximum, a, b), (int[]){ 1, 0 }));
    check_compiled();
    end();
}

/* Standard deviation: a reduction of what another one of the same row gave. */
static void reductions_in_reductions(void)
{
    for (int axis = 0; axis < 2; axis++) {
        CASE("axis %d", axis);
        begin();
        arras_array x = long_input("x", axis ? "f32[5, 1300]" : "f32[1300, 5]");
        arras_expr  k = ar_expr_var(g, "k"), i = ar_expr_index(g, 0), n = literal(1300);
        arras_expr  at[] = { axis ? i : k, axis ? k : i }, cell = ar_expr_load(x, 2, at, NULL);
        arras_expr  sum = ar_expr_reduce(AR_REDUCE_sum, "k", literal(0), n, cell);
        arras_expr  off = op2(AR_OP_subtract, cell, op2(AR_OP_divide, sum, n));
        arras_expr  spread =
            ar_expr_reduce(AR_REDUCE_sum, "k", literal(0), n, op2(AR_OP_multiply, off, off));
        arras_dim length = 5;

        ar_graph_output_add(g, "std", ar_lambda(g, 1, &length, op2(AR_OP_add, spread, sum)));
        check_compiled();
        end();
    }
}

/* ---- Short rows that jump: gathered first, then computed together ---------------------------- */

static arras_array indices(const char *name, int64_t rows, int64_t length, int below)
{
    double        values[2 * 40 * 16] = { 0 };
    const int64_t shape[] = { rows, length };

    for (int64_t i = 0; i < rows * length; i++)
        values[2 * i] = pick(below);
    bind_cells(name, ARRAS_I32, 2, shape, cells_of(ARRAS_I32, 2, shape, values));
    return ar_input(g, name, ARRAS_I32, 2, shape);
}

/* c = x[element[i, 0], node[i, j]], then c * weight[i, 0] + x[...] again and again. */
static arras_expr jumping_cell(arras_array x, arras_array element, arras_array node,
                               arras_array weight)
{
    arras_expr i = ar_expr_index(g, 0), j = ar_expr_index(g, 1);
    arras_expr row[] = { i, literal(0) }, own[] = { i, j };
    arras_expr at[] = { ar_expr_load(element, 2, row, NULL), ar_expr_load(node, 2, own, NULL) };
    arras_expr cell = ar_expr_load(x, 2, at, NULL), w = ar_expr_load(weight, 2, row, NULL);

    for (int k = 0; k < 40; k++)
        cell = op2(k % 7 == 6 ? AR_OP_divide : AR_OP_add, op2(AR_OP_multiply, cell, w),
                   ar_expr_load(x, 2, at, NULL));
    return cell;
}

/* One of them reads outside, where `below` is more than there is. */
static void short_rows_that_jump(void)
{
    static const struct {
        int64_t length;
        int     below;
    } cases[] = { { 1, 7 }, { 3, 7 }, { 15, 7 }, { 16, 7 }, { 3, 9 } };

    for (size_t k = 0; k < AR_COUNT(cases); k++) {
        const int64_t length = cases[k].length, shape[] = { 40, length };

        CASE("rows of %d, nodes below %d", (int)length, cases[k].below);
        begin();
        arras_array x = long_input("x", "f64[50, 7]"), weight = long_input("w", "f64[40, 1]");
        arras_array element = indices("element", 40, 1, 50);
        arras_array node = indices("node", 40, length, cases[k].below);

        ar_graph_output_add(g, "y", ar_lambda(g, 2, shape, jumping_cell(x, element, node, weight)));
        check_compiled();
        end();
    }
}

/* The first `programs` of them. */
static void check_random_programs(int programs)
{
    int ran = 0;

    for (uint64_t seed = 1; seed <= (uint64_t)programs; seed++) {
        CASE("seed %d", (int)seed);
        begin();
        record(seed);
        ran += check_one_way(seed);
        end();
    }
    printf("    %d programs, %d of them without an error\n", programs, ran);
    CHECK(ran > programs / 3);
}

static void run_kernel_cases(void)
{
    RUN(blocks_nest);
    RUN(edges_reach_any_distance);
    RUN(reductions_of_every_type);
    RUN(reductions_of_many_cells);
    RUN(stencils_of_long_rows);
    RUN(rows_and_columns);
    RUN(reductions_in_reductions);
    RUN(short_rows_that_jump);
}

#endif
