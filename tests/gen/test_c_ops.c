/* test_c_ops.c -- operations and casts as generated C give the bits of the reference evaluator:
 * every operation in every type, every cast, on special and random values. */
#include "build/build.h"
#include "gen/gen.h"
#include "odd_values.h"

enum { VALUES = 40 };

static ar_module *module;

/* One function with the interface of ar_op_function around each operation and cast. */
static void print_wrappers(ar_text *out)
{
    for (int op = 0; op < AR_OP_END; op++)
        for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END; d++) {
            const char  *type = ar_c_type((arras_dtype)d), *name = ar_dtype_name((arras_dtype)d);
            int          arity = ar_op_arity((ar_op)op);
            ar_type      types[] = { { (arras_dtype)d, false },
                                     { (arras_dtype)d, false },
                                     { (arras_dtype)d, false } };
            ar_signature s;

            if (!ar_op_value((ar_op)op, (arras_dtype)d) || !ar_op_signature(&s, (ar_op)op, types))
                continue;
            ar_text_printf(
                out,
                "void test_%s_%s(void *out, const void *x, const void *y, const void *z)\n"
                "{ *(%s *)out = op_%s_%s(*(const %s *)x%s%s%s%s%s%s); }\n",
                ar_op_name((ar_op)op), name, ar_c_type(s.result.dtype), ar_op_name((ar_op)op), name,
                op == AR_OP_where ? "uint8_t" : type, arity > 1 ? ", *(const " : "",
                arity > 1 ? type : "", arity > 1 ? " *)y" : "", arity > 2 ? ", *(const " : "",
                arity > 2 ? type : "", arity > 2 ? " *)z" : "");
        }
    for (int from = ARRAS_NO_DTYPE + 1; from < ARRAS_DTYPE_END; from++)
        for (int to = ARRAS_NO_DTYPE + 1; to < ARRAS_DTYPE_END; to++) {
            const char *a = ar_dtype_name((arras_dtype)from), *b = ar_dtype_name((arras_dtype)to);

            ar_text_printf(out,
                           "void test_cast_%s_%s(void *out, const void *x)\n"
                           "{ *(%s *)out = cast_%s_%s(*(const %s *)x); }\n",
                           a, b, ar_c_type((arras_dtype)to), a, b, ar_c_type((arras_dtype)from));
        }
}

static ar_module *build_everything(void)
{
    static ar_op_set all;
    ar_build_options options = { .libraries = ar_c_libraries(), .no_cache = true };
    ar_text          source = { 0 };
    arras_error      err = { .text = "" };
    ar_module       *built = NULL;

    memset(all.ops, 1, sizeof all.ops);
    memset(all.casts, 1, sizeof all.casts);
    ar_c_ops_print(&source, &all);
    print_wrappers(&source);
    ar_build_open(&built, &options, source.data, source.length, &err);
    ar_text_free(&source);
    CHECK_STR(err.text, "");
    return built;
}

static void compare_op(ar_op op, arras_dtype dtype, ar_op_function *generated)
{
    ar_type      types[] = { { dtype, false }, { dtype, false }, { dtype, false } };
    ar_signature s;
    int          differ = 0;

    ar_op_signature(&s, op, types);
    for (int i = 0; i < VALUES; i++)
        for (int j = 0; j < (ar_op_arity(op) > 1 ? VALUES : 1); j++) {
            ar_value x = { .bits = { 0, 0 } }, y = x, z = x, got = x, want = x;

            draw(s.operand[0], &x, i);
            draw(dtype, &y, j);
            draw(dtype, &z, (i + 3 * j) % VALUES);
            generated(&got, &x, &y, &z);
            ar_op_value(op, dtype)(&want, &x, &y, &z);
            differ += !same_cell(s.result.dtype, &got, &want);
        }
    CHECK_EQ_INT(differ, 0);
}

static void operations_give_the_same_bits(void)
{
    for (int op = 0; op < AR_OP_END; op++)
        for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END; d++) {
            char            name[64];
            ar_op_function *generated;

            if (!ar_op_value((ar_op)op, (arras_dtype)d))
                continue;
            snprintf(name, sizeof name, "test_%s_%s", ar_op_name((ar_op)op),
                     ar_dtype_name((arras_dtype)d));
            CASE("%s", name);
            *(void **)&generated = ar_module_symbol(module, name);
            if (CHECK(generated != NULL))
                compare_op((ar_op)op, (arras_dtype)d, generated);
        }
}

static void casts_give_the_same_bits(void)
{
    for (int from = ARRAS_NO_DTYPE + 1; from < ARRAS_DTYPE_END; from++)
        for (int to = ARRAS_NO_DTYPE + 1; to < ARRAS_DTYPE_END; to++) {
            char name[64];
            void (*generated)(void *, const void *);
            int differ = 0;

            snprintf(name, sizeof name, "test_cast_%s_%s", ar_dtype_name((arras_dtype)from),
                     ar_dtype_name((arras_dtype)to));
            CASE("%s", name);
            *(void **)&generated = ar_module_symbol(module, name);
            if (!CHECK(generated != NULL))
                continue;
            for (int i = 0; i < 10 * VALUES; i++) {
                ar_value x = { .bits = { 0, 0 } }, got = x, want = x;

                draw((arras_dtype)from, &x, i % VALUES);
                generated(&got, &x);
                ar_cell_cast((arras_dtype)to, &want, (arras_dtype)from, &x);
                differ += !same_cell((arras_dtype)to, &got, &want);
            }
            CHECK_EQ_INT(differ, 0);
        }
}

/* ---- Vector mathematics ---------------------------------------------------------------------- */

enum { UNITS = 4, SAMPLES = 3000 }; /* of the last place, as glibc states */

/* How many numbers lie between two, as integers that order as they do. */
static int64_t units_between(arras_dtype dtype, const ar_value *x, const ar_value *y)
{
    const ar_value *both[] = { x, y };
    int64_t         order[2];

    for (int k = 0; k < 2; k++) {
        if (dtype == ARRAS_F64) {
            order[k] = both[k]->i < 0 ? INT64_MIN - both[k]->i : both[k]->i;
        } else {
            int32_t bits;

            memcpy(&bits, both[k], sizeof bits);
            order[k] = bits < 0 ? (int64_t)INT32_MIN - bits : bits;
        }
    }
    return order[0] > order[1] ? order[0] - order[1] : order[1] - order[0];
}

/* Special values first, then numbers of all sizes. */
static void draw_wide(arras_dtype dtype, ar_value *cell, int i)
{
    double x = ldexp(rand() / (double)RAND_MAX - 0.5, rand() % 24 - 12);

    if (i < VALUES)
        draw(dtype, cell, i);
    else
        ar_cell_cast(dtype, cell, ARRAS_F64, &x);
}

static bool is_near(arras_dtype dtype, const ar_value *got, const ar_value *want)
{
    double g, w;

    ar_cell_cast(ARRAS_F64, &g, dtype, got);
    ar_cell_cast(ARRAS_F64, &w, dtype, want);
    if (isnan(w) || isinf(w) || w == 0 || isnan(g) || isinf(g))
        return same_cell(dtype, got, want) ||
               (fabs(g) <= (dtype == ARRAS_F64 ? 2e-308 : 2e-38) && w == 0);
    return units_between(dtype, got, want) <= UNITS;
}

#define ONE(name)                                                                                  \
    {                                                                                              \
        AR_OP_##name, name##f, name, NULL, NULL                                                    \
    }
#define TWO(name)                                                                                  \
    {                                                                                              \
        AR_OP_##name, NULL, NULL, name##f, name                                                    \
    }
static const struct {
    ar_op op;
    float (*one_f32)(float);
    double (*one_f64)(double);
    float (*two_f32)(float, float);
    double (*two_f64)(double, double);
} library[] = {
    ONE(cbrt),  ONE(exp),  ONE(exp2),  ONE(expm1), ONE(log),   ONE(log2),  ONE(log10),
    ONE(log1p), ONE(sin),  ONE(cos),   ONE(tan),   ONE(asin),  ONE(acos),  ONE(atan),
    ONE(sinh),  ONE(cosh), ONE(tanh),  ONE(asinh), ONE(acosh), ONE(atanh), ONE(erf),
    ONE(erfc),  TWO(pow),  TWO(atan2), TWO(hypot),
};

static void library_value(size_t f, arras_dtype dtype, ar_value *out, const ar_value *x,
                          const ar_value *y)
{
    bool two = library[f].two_f64 != NULL;

    if (dtype == ARRAS_F64)
        out->f = two ? library[f].two_f64(x->f, y->f) : library[f].one_f64(x->f);
    else
        out->singles[0] = two ? library[f].two_f32(x->singles[0], y->singles[0])
                              : library[f].one_f32(x->singles[0]);
}

static void compare_with_library(size_t f, arras_dtype dtype)
{
    ar_op op = library[f].op;
    int   far = 0;

    for (int i = 0; i < SAMPLES; i++)
        for (int j = 0; j < (ar_op_arity(op) > 1 && i < VALUES ? VALUES : 1); j++) {
            ar_value x = { .bits = { 0, 0 } }, y = x, got = x, want = x;

            draw_wide(dtype, &x, i);
            draw_wide(dtype, &y, i < VALUES ? j : i);
            ar_op_value(op, dtype)(&got, &x, &y, &y);
            library_value(f, dtype, &want, &x, &y);
            far += !is_near(dtype, &got, &want);
            if (!is_near(dtype, &got, &want) && far < 4) {
                double v[4];

                ar_cell_cast(ARRAS_F64, &v[0], dtype, &x);
                ar_cell_cast(ARRAS_F64, &v[1], dtype, &y);
                ar_cell_cast(ARRAS_F64, &v[2], dtype, &got);
                ar_cell_cast(ARRAS_F64, &v[3], dtype, &want);
                printf("    %a %a: %a, not %a\n", v[0], v[1], v[2], v[3]);
            }
        }
    CHECK_EQ_INT(far, 0);
}

static void vector_functions_are_accurate(void)
{
    for (size_t f = 0; f < AR_COUNT(library); f++)
        for (arras_dtype d = ARRAS_F32; d <= ARRAS_F64; d++) {
            CASE("%s of %s", ar_op_name(library[f].op), ar_dtype_name(d));
            compare_with_library(f, d);
        }
}

/* Exponents whose powers are products, quotients and roots: in every place among others, they give
 * what C's pow gives, and of zeros, infinities and nan exactly that. */
static void simple_powers_are_powers(void)
{
    static const double exponents[] = { 0, -0.0, 1, 2, 3, 4, 0.5, 1.5, -0.5, -1, -2 };

    for (arras_dtype d = ARRAS_F32; d <= ARRAS_F64; d++)
        for (size_t e = 0; e < AR_COUNT(exponents); e++) {
            int far = 0;

            CASE("%s to the power %g", ar_dtype_name(d), exponents[e]);
            for (int i = 0; i < 10 * SAMPLES; i++) {
                ar_value x = { .bits = { 0, 0 } }, y = x, got = x, want = x;
                double   any = ldexp(rand() / (double)RAND_MAX - 0.5, rand() % 2200 - 1100);

                draw(d, &x, i);
                if (i >= VALUES) /* of all sizes, denormal ones too */
                    ar_cell_cast(d, &x, ARRAS_F64, &any);
                ar_cell_cast(d, &y, ARRAS_F64, &exponents[e]);
                ar_op_value(AR_OP_pow, d)(&got, &x, &y, &y);
                if (d == ARRAS_F64)
                    want.f = pow(x.f, y.f);
                else
                    want.singles[0] = powf(x.singles[0], y.singles[0]);
                far += !same_cell(d, &got, &want) && units_between(d, &got, &want) > 2;
            }
            CHECK_EQ_INT(far, 0);
        }
}

static void everything_compiles(void)
{
    module = build_everything();
    CHECK(module != NULL);
}

TEST_MAIN
{
    srand(1);
    RUN(everything_compiles);
    if (!module)
        return;
    RUN(operations_give_the_same_bits);
    RUN(casts_give_the_same_bits);
    RUN(vector_functions_are_accurate);
    RUN(simple_powers_are_powers);
    ar_module_close(module);
}
