/* test_types.c -- promotion against tables printed by NumPy 2 (promote_types, result_type),
 * signatures of operations, casts. */
#include "ir/ir.h"
#include "test.h"

enum { TYPES = ARRAS_DTYPE_END - 1 };

static const char *const promoted[TYPES][TYPES] = {
    { "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "c64", "c128" },
    { "i8", "i8", "i16", "i32", "i64", "i16", "i32", "i64", "f64", "f32", "f64", "c64", "c128" },
    { "i16", "i16", "i16", "i32", "i64", "i16", "i32", "i64", "f64", "f32", "f64", "c64", "c128" },
    { "i32", "i32", "i32", "i32", "i64", "i32", "i32", "i64", "f64", "f64", "f64", "c128", "c128" },
    { "i64", "i64", "i64", "i64", "i64", "i64", "i64", "i64", "f64", "f64", "f64", "c128", "c128" },
    { "u8", "i16", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "c64", "c128" },
    { "u16", "i32", "i32", "i32", "i64", "u16", "u16", "u32", "u64", "f32", "f64", "c64", "c128" },
    { "u32", "i64", "i64", "i64", "i64", "u32", "u32", "u32", "u64", "f64", "f64", "c128", "c128" },
    { "u64", "f64", "f64", "f64", "f64", "u64", "u64", "u64", "u64", "f64", "f64", "c128", "c128" },
    { "f32", "f32", "f32", "f64", "f64", "f32", "f32", "f64", "f64", "f32", "f64", "c64", "c128" },
    { "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "c128", "c128" },
    { "c64", "c64", "c64", "c128", "c128", "c64", "c64", "c128", "c128", "c64", "c128", "c64",
      "c128" },
    { "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128",
      "c128", "c128" },
};

static arras_dtype type_number(int i) { return (arras_dtype)(ARRAS_BOOL + i); }

static void promotes_as_numpy(void)
{
    for (int a = 0; a < TYPES; a++)
        for (int b = 0; b < TYPES; b++) {
            CASE("%s with %s", ar_dtype_name(type_number(a)), ar_dtype_name(type_number(b)));
            CHECK_STR(arras_dtype_name(arras_dtype_promote(type_number(a), type_number(b))),
                      promoted[a][b]);
        }
}

/* result_type(array of type, 1), (.., 1.0), (.., 1j) */
static const char *const weak_promoted[3][TYPES] = {
    { "i64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "c64", "c128" },
    { "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f32", "f64", "c64", "c128" },
    { "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c64", "c128", "c64",
      "c128" },
};
static const arras_dtype weak_types[] = { ARRAS_I64, ARRAS_F64, ARRAS_C128 };

static void untyped_numbers_give_way(void)
{
    for (int w = 0; w < 3; w++)
        for (int t = 0; t < TYPES; t++) {
            ar_type strong = { type_number(t), false }, weak = { weak_types[w], true };

            CASE("untyped %s with %s", ar_dtype_name(weak.dtype), ar_dtype_name(strong.dtype));
            CHECK_STR(ar_dtype_name(ar_promote(strong, weak).dtype), weak_promoted[w][t]);
            CHECK_STR(ar_dtype_name(ar_promote(weak, strong).dtype), weak_promoted[w][t]);
            CHECK(!ar_promote(weak, strong).weak);
        }
}

static const struct {
    ar_op       op;
    arras_dtype x, y;
    const char *result; /* NULL: not defined */
} signatures[] = {
    { AR_OP_add, ARRAS_BOOL, ARRAS_BOOL, "bool" },
    { AR_OP_subtract, ARRAS_BOOL, ARRAS_BOOL, NULL }, /* NumPy refuses it too */
    { AR_OP_floor_divide, ARRAS_BOOL, ARRAS_BOOL, "i8" },
    { AR_OP_divide, ARRAS_I8, ARRAS_I8, "f64" }, /* division never stays small */
    { AR_OP_divide, ARRAS_I16, ARRAS_F32, "f32" },
    { AR_OP_divide, ARRAS_I32, ARRAS_F32, "f64" },
    { AR_OP_hypot, ARRAS_U16, ARRAS_I16, "f32" }, /* each becomes real on its own */
    { AR_OP_hypot, ARRAS_I8, ARRAS_I8, "f32" },   /* NumPy: f16, which does not exist here */
    { AR_OP_atan2, ARRAS_C64, ARRAS_C64, NULL },
    { AR_OP_less, ARRAS_C64, ARRAS_C64, "bool" },
    { AR_OP_logical_and, ARRAS_C64, ARRAS_F32, "bool" },
    { AR_OP_bitwise_and, ARRAS_F32, ARRAS_F32, NULL },
    { AR_OP_left_shift, ARRAS_BOOL, ARRAS_BOOL, "i8" },
    { AR_OP_left_shift, ARRAS_U64, ARRAS_I64, NULL }, /* they meet in f64 */
};

static void signatures_follow_the_rules(void)
{
    for (size_t i = 0; i < AR_COUNT(signatures); i++) {
        ar_type      types[] = { { signatures[i].x, false },
                                 { signatures[i].y, false },
                                 { ARRAS_BOOL, false } };
        ar_signature s;
        bool         defined = ar_op_signature(&s, signatures[i].op, types);

        CASE("%s(%s, %s)", ar_op_name(signatures[i].op), ar_dtype_name(signatures[i].x),
             ar_dtype_name(signatures[i].y));
        CHECK_STR(defined ? ar_dtype_name(s.result.dtype) : NULL, signatures[i].result);
    }
}

static const struct {
    double      from;
    arras_dtype to;
    int64_t     want;
} casts[] = {
    { 1e300, ARRAS_I8, 127 },
    { -1e300, ARRAS_I8, -128 },
    { 127.9, ARRAS_I8, 127 },
    { -128.9, ARRAS_I8, -128 },
    { 255.5, ARRAS_U8, 255 },
    { -0.5, ARRAS_U8, 0 },
    { 9.3e18, ARRAS_I64, INT64_MAX },
    { -9.3e18, ARRAS_I64, INT64_MIN },
    { 2e19, ARRAS_U64, -1 /* all ones */ },
    { -1, ARRAS_U64, 0 },
    { NAN, ARRAS_I32, 0 },
    { NAN, ARRAS_U64, 0 },
    { NAN, ARRAS_BOOL, 1 },
    { -0.0, ARRAS_BOOL, 0 },
    { 0.3, ARRAS_BOOL, 1 },
    { -3.7, ARRAS_I16, -3 },
};

static void casts_saturate(void)
{
    for (size_t i = 0; i < AR_COUNT(casts); i++) {
        ar_value out = { .bits = { 0, 0 } };
        int64_t  got = 0;

        CASE("%g to %s", casts[i].from, ar_dtype_name(casts[i].to));
        ar_cell_cast(casts[i].to, &out, ARRAS_F64, &casts[i].from);
        ar_cell_cast(ARRAS_I64, &got, casts[i].to, &out);
        CHECK_EQ_INT(got, casts[i].want);
    }
}

/* Through double 2^53 + 1 would lose its last bit before the float does. */
static void integers_round_once(void)
{
    int64_t wide = ((int64_t)1 << 53) + ((int64_t)1 << 29) + 1;
    float   got;

    ar_cell_cast(ARRAS_F32, &got, ARRAS_I64, &wide);
    CHECK_EQ_REAL(got, (float)wide);
}

static void every_op_has_a_help_line(void)
{
    for (int op = 0; op < AR_OP_END; op++) {
        CASE("%s", ar_op_name((ar_op)op));
        CHECK(ar_op_help((ar_op)op)[0] != '\0');
        CHECK_EQ_INT(arras_op_find(arras_op_get(op)->name), op);
        CHECK(ar_op_arity((ar_op)op) >= 1 && ar_op_arity((ar_op)op) <= AR_MAX_ARITY);
    }
    CHECK(arras_op_get(-1) == NULL && arras_op_get(AR_OP_END) == NULL);
    CHECK_EQ_INT(arras_op_find("sine"), -1);
}

TEST_MAIN
{
    RUN(promotes_as_numpy);
    RUN(untyped_numbers_give_way);
    RUN(signatures_follow_the_rules);
    RUN(casts_saturate);
    RUN(integers_round_once);
    RUN(every_op_has_a_help_line);
}
