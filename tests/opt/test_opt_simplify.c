/* test_opt_simplify.c -- what expressions become. */
#include "one_lambda.h"

/* Cells read x, of some type, at i0. */
typedef struct {
    const char *cell, *type, *want;
} example;

static const example reals[] = {
    { "multiply(_0[i0], 1)", "f64[n]", "_0[i0]" },
    { "divide(_0[i0], 1.0)", "f64[n]", "_0[i0]" },
    { "subtract(_0[i0], 0)", "f64[n]", "_0[i0]" },
    { "add(_0[i0], 0)", "f64[n]", "add(_0[i0], 0)" }, /* -0.0 + 0.0 is 0.0 */
    { "add(_0[i0], -0.0)", "f64[n]", "_0[i0]" },
    { "add(abs(_0[i0]), 0)", "f64[n]", "abs(_0[i0])" },
    { "multiply(_0[i0], 0)", "f64[n]", "multiply(_0[i0], 0)" }, /* of nan it is nan */
    { "multiply(_0[i0], 2)", "f64[n]", "multiply(_0[i0], 2)" },
    { "multiply(_0[i0], -1)", "f64[n]", "negative(_0[i0])" },
    { "divide(_0[i0], 4)", "f64[n]", "multiply(_0[i0], 0.25)" },
    { "divide(_0[i0], 3)", "f64[n]", "divide(_0[i0], 3)" },
    { "negative(negative(_0[i0]))", "f64[n]", "_0[i0]" },
    { "abs(negative(abs(_0[i0])))", "f64[n]", "abs(_0[i0])" },
    { "subtract(_0[i0], negative(sin(_0[i0])))", "f64[n]", "add(_0[i0], sin(_0[i0]))" },
    { "multiply(f64(3), f64(0.5))", "f64[n]", "f64(1.5)" },
    { "sum[k: 0, 64 fused](multiply(_0[k], 1.0))", "f64[64]",
      "sum[k: 0, 64 fused](multiply(_0[k], 1.0))" },
    { "sum[k: 0, 64 fused](multiply(f64(3), f64(0.5)))", "f64[64]",
      "sum[k: 0, 64 fused](multiply(f64(3), f64(0.5)))" },
    { "pow(_0[i0], 2)", "f64[n]", "multiply(_0[i0], _0[i0])" },
    { "pow(_0[i0], f64(3))", "f64[n]", "multiply(_0[i0], multiply(_0[i0], _0[i0]))" },
    { "pow(_0[i0], i8(4))", "f64[n]", "$0 = multiply(_0[i0], _0[i0]);\n    multiply($0, $0)" },
    { "pow(_0[i0], divide(f64(1), 2))", "f64[n]", /* of -inf inf, of -0 0 */
      "where(equal(_0[i0], -inf), inf, sqrt(add(_0[i0], 0.0)))" },
    { "pow(abs(_0[i0]), 1.5)", "f64[n]",
      "$0 = abs(_0[i0]);\n    multiply($0, where(equal($0, -inf), inf, sqrt($0)))" },
    { "pow(_0[i0], -1)", "f64[n]", "divide(1.0, _0[i0])" },
    { "pow(_0[i0], -2)", "f64[n]", "$0 = divide(1.0, _0[i0]);\n    multiply($0, $0)" },
    { "pow(_0[i0], 1)", "f64[n]", "_0[i0]" },
    { "pow(i0, 0.0)", "f64[n]", "f64(1.0)" },
    { "pow(_0[i0], 0)", "f64[n]", "pow(_0[i0], 0)" }, /* the read may fail, for all we know */
    { "pow(_0[i0], 2.5)", "f64[n]", "pow(_0[i0], 2.5)" },
};

static const example integers[] = {
    { "multiply(_0[i0], 0)", "i64[n]",
      "multiply(_0[i0], 0)" }, /* the read may fail, for all we know */
    { "multiply(i0, 0)", "i64[n]", "i64(0)" },
    { "add(_0[i0], 0)", "i64[n]", "_0[i0]" },
    { "pow(_0[i0], 2)", "i64[n]", "multiply(_0[i0], _0[i0])" },
    { "pow(_0[i0], 3)", "i64[n]", "multiply(_0[i0], multiply(_0[i0], _0[i0]))" },
    { "pow(_0[i0], i64(-1))", "i64[n]", "pow(_0[i0], i64(-1))" },
    { "add(add(i0, 3), -3)", "i64[n]", "i0" },
    { "subtract(size(n), subtract(size(n), i0))", "i64[n]", "i0" },
    { "multiply(add(i0, 1), 2)", "i64[n]", "add(multiply(i0, 2), 2)" },
    { "remainder(add(multiply(i0, 4), i1), 4)", "i64[n, 4]", "i1" },
    { "floor_divide(add(multiply(i0, 4), i1), 4)", "i64[n, 4]", "i0" },
    { "floor_divide(add(multiply(i0, 8), i1), 4)", "i64[3, 8]",
      "add(multiply(i0, 2), floor_divide(i1, 4))" },
    { "remainder(add(multiply(i0, 8), i1), 4)", "i64[3, 8]", "remainder(i1, 4)" },
    { "remainder(i0, size(n))", "i64[n]", "i0" },
    { "floor_divide(floor_divide(i0, 3), 5)", "i64[n]", "floor_divide(i0, 15)" },
    { "where(less(i0, size(n)), 1, 2)", "i64[n]", "i64(1)" },
    { "where(less(i0, 5), i0, 2)", "i64[n]", "where(less(i0, 5), i0, 2)" },
    { "minimum(i0, 20)", "i64[10]", "i0" },
    { "maximum(subtract(i0, 1), 0)", "i64[10]", "maximum(add(i0, -1), 0)" },
};

static const example bytes[] = {
    { "where(bool(1), _0[i0], 0)", "i8[n]", "_0[i0]" },
    { "logical_not(logical_not(_0[i0]))", "bool[n]", "bool(_0[i0])" },
    { "u8(f32(_0[i0]))", "u8[n]", "u8(f32(_0[i0]))" }, /* reals saturate, integers wrap */
    { "i8(i64(_0[i0]))", "i8[n]", "_0[i0]" },
    { "i8(f32(_0[i0]))", "i8[n]", "_0[i0]" },
    { "greater(i0, 3)", "bool[n]", "less(3, i0)" },
};

static void check_example(const example *e, const char *input)
{
    arras_graph *simple = NULL;
    ar_text      cell;

    CASE("%s", e->cell);
    program = NULL;
    if (read_lambda(input, strstr(e->cell, "_0") ? "x" : "", e->cell, e->type) &&
        CHECK_EQ_INT(ar_simplify(&simple, program, NULL), ARRAS_OK)) {
        cell = cell_text(simple);
        CHECK_STR(cell.data, e->want);
        ar_text_free(&cell);
    }
    ar_graph_free(simple);
    ar_graph_free(program);
}

static void of_reals(void)
{
    for (size_t i = 0; i < AR_COUNT(reals); i++)
        check_example(&reals[i], "size n;input x : f64[n]");
}

static void of_integers(void)
{
    for (size_t i = 0; i < AR_COUNT(integers); i++)
        check_example(&integers[i], "size n;input x : i64[n]");
}

static void of_bytes(void)
{
    for (size_t i = 0; i < AR_COUNT(bytes); i++)
        check_example(&bytes[i], "size n;input x : i8[n]");
}

static const example complex_numbers[] = {
    { "multiply(_0[i0], 1)", "c128[n]",
      "multiply(_0[i0], 1)" }, /* (inf, 0) times (1, 0) has a nan */
    { "pow(_0[i0], 2)", "c128[n]",
      "where(equal(_0[i0], 0.0), 0.0, multiply(_0[i0], _0[i0]))" }, /* of (-0, 0) it is (0, 0) */
    { "pow(_0[i0], (2, 1))", "c128[n]", "pow(_0[i0], (2, 1))" },
    { "pow(_0[i0], 1)", "c128[n]", "pow(_0[i0], 1)" },
};

static void of_complex_numbers(void)
{
    for (size_t i = 0; i < AR_COUNT(complex_numbers); i++)
        check_example(&complex_numbers[i], "size n;input x : c128[n]");
}

TEST_MAIN
{
    RUN(of_reals);
    RUN(of_integers);
    RUN(of_bytes);
    RUN(of_complex_numbers);
}
