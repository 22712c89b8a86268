/* test_contract.c -- register-tiled contractions give the bits of the reference evaluator, whatever
 * box is asked for, and are recognised where they should be. */
#include "build/build.h"
#include "evaluate.h"
#include "gen/c/c_writer.h"
#include "gen/nest/contraction.h"
#include "opt/opt.h"

#include <stdlib.h>

/* ---- Inputs ---------------------------------------------------------------------------------- */

static uint32_t seed = 1;

static uint32_t next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* Numbers of many magnitudes, and now and then one of those that spoil a sum. */
static double odd_number(void)
{
    static const double special[] = { 0, -0.0, INFINITY, -INFINITY, NAN };
    double              x = (double)next_random() / (1 << 24) - 0.5;

    return next_random() % 500 == 0 ? special[next_random() % AR_COUNT(special)]
                                    : ldexp(x, (int)(next_random() % 20));
}

static arras_array odd_input(const char *name, const char *type)
{
    int         rank;
    int64_t     shape[ARRAS_MAX_RANK], count = 1;
    arras_dtype dtype = read_type(type, &rank, shape);
    double     *values;
    arras_array x;

    for (int axis = 0; axis < rank; axis++)
        count *= shape[axis];
    values = malloc(sizeof *values * (size_t)(2 * count + 1));
    for (int64_t i = 0; i < 2 * count; i++)
        values[i] = odd_number();
    x = ar_input(g, name, dtype, rank, shape);
    bind_array(name, type, values);
    free(values);
    return x;
}

/* ---- A kernel and what it is called with ----------------------------------------------------- */

enum { STRETCH = 3 }; /* of the strides of arrays that are not dense */

typedef struct {
    arras_graph *plain, *normal;
    arras_array  lambda;
    bool         dense;
    ar_module   *module;
    ar_kernel   *kernel;
    char        *data[1 + MOST_INPUTS];
    int64_t      strides[1 + MOST_INPUTS][ARRAS_MAX_RANK];
} contracted;

static ar_kernel_form form_of(const contracted *c)
{
    static const bool all[MOST_INPUTS] = { 1, 1, 1, 1, 1, 1, 1, 1 }, none[MOST_INPUTS];

    return (ar_kernel_form){ 1, &c->lambda, c->dense ? all : none, ar_machine_host() };
}

static bool open_program(contracted *c, arras_array out)
{
    ar_graph_output_add(g, "out", out);
    if (!CHECK_EQ_INT(ar_normalise(&c->plain, g, NULL), ARRAS_OK) ||
        !CHECK_EQ_INT(ar_fuse(&c->normal, c->plain, NULL), ARRAS_OK))
        return false;
    c->lambda = ar_graph_output(c->normal, 0)->array;
    return true;
}

static bool build_kernel(contracted *c)
{
    static const char *const libraries[] = { "-lm", "-lgcc", NULL };
    static ar_op_set         used;
    ar_build_options         options = { .libraries = libraries, .no_cache = true };
    ar_kernel_form           form = form_of(c);
    ar_contraction           contraction;
    ar_text                  kernel = { 0 }, source = { 0 };
    arras_error              err = { ARRAS_OK, "" };

    memset(&used, 0, sizeof used);
    if (!CHECK(ar_contraction_match(&contraction, c->lambda)))
        return false;
    CHECK_EQ_INT(ar_c_contraction_print(&kernel, &used, &form, &contraction, "kernel", &err),
                 ARRAS_OK);
    ar_c_ops_print(&source, &used);
    ar_c_kernel_head_print(&source);
    ar_text_add(&source, kernel.data);
    if (!CHECK_EQ_INT(ar_build_open(&c->module, &options, source.data, source.length, &err),
                      ARRAS_OK))
        printf("%s\n%s\n", source.data, err.text);
    ar_text_free(&kernel);
    ar_text_free(&source);
    if (c->module)
        *(void **)&c->kernel = ar_module_symbol(c->module, "kernel");
    return CHECK(c->kernel != NULL);
}

static void close_program(contracted *c)
{
    for (int k = 0; k <= c->lambda->ninputs; k++)
        free(c->data[k]);
    ar_module_close(c->module);
    ar_graph_free(c->normal);
    ar_graph_free(c->plain);
}

/* A copy of the cells that are bound to a name, at the strides of operand k. */
static void copy_input(contracted *c, int k)
{
    arras_array x = c->lambda->inputs[k - 1];
    size_t      size = ar_dtype_size(x->type.dtype), step = c->dense ? 1 : STRETCH;
    int64_t     count = 1;

    for (int axis = x->rank - 1; axis >= 0; axis--) {
        c->strides[k][axis] = count * (int64_t)(size * step);
        count *= x->shape[axis];
    }
    c->data[k] = calloc((size_t)count * step, size);
    for (int b = 0; b < nbound; b++)
        if (strcmp(bound[b].name, x->name) == 0)
            for (size_t i = 0; i < (size_t)count; i++)
                memcpy(c->data[k] + i * size * step, (char *)bound[b].buffer.data + i * size, size);
}

static int64_t open_result(contracted *c)
{
    size_t  size = ar_dtype_size(c->lambda->type.dtype);
    int64_t count = 1;

    for (int axis = c->lambda->rank - 1; axis >= 0; axis--) {
        c->strides[0][axis] = count * (int64_t)size;
        count *= c->lambda->shape[axis];
    }
    c->data[0] = malloc((size_t)count * size);
    memset(c->data[0], 0xa5, (size_t)count * size);
    return count;
}

static void call_kernel(const contracted *c, const int64_t *lo, const int64_t *hi)
{
    const int64_t *strides[1 + MOST_INPUTS];
    ar_kernel_args args = { .data = c->data, .strides = strides };

    for (int k = 0; k <= c->lambda->ninputs; k++)
        strides[k] = c->strides[k];
    CHECK_EQ_INT(c->kernel(&args, lo, hi), 0);
}

/* Every axis is cut in two at some place; all parts, last first. */
static void call_in_parts(const contracted *c)
{
    int     rank = c->lambda->rank;
    int64_t cut[ARRAS_MAX_RANK], lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];

    for (int axis = 0; axis < rank; axis++)
        cut[axis] = next_random() % (c->lambda->shape[axis] + 1);
    for (int part = (1 << rank) - 1; part >= 0; part--) {
        for (int axis = 0; axis < rank; axis++) {
            lo[axis] = part >> axis & 1 ? cut[axis] : 0;
            hi[axis] = part >> axis & 1 ? c->lambda->shape[axis] : cut[axis];
        }
        call_kernel(c, lo, hi);
    }
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* The same bits, but for the bits of a nan. */
static bool same_cells(arras_dtype dtype, const char *x, const char *want, int64_t count)
{
    size_t size = ar_dtype_size(dtype);

    for (int64_t i = 0; i < count; i++) {
        ar_value a = { .bits = { 0, 0 } }, b = a;

        memcpy(&a, x + (size_t)i * size, size);
        memcpy(&b, want + (size_t)i * size, size);
        ar_value_canonical(dtype, &a);
        ar_value_canonical(dtype, &b);
        if (memcmp(&a, &b, sizeof a) != 0)
            return false;
    }
    return true;
}

/* Cells outside the box keep what they had. */
static void check_box(contracted *c, const char *want, int64_t count)
{
    size_t   size = ar_dtype_size(c->lambda->type.dtype);
    int64_t  lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];
    uint32_t strangers = 0;

    memset(c->data[0], 0xa5, (size_t)count * size);
    for (int axis = 0; axis < c->lambda->rank; axis++) {
        lo[axis] = next_random() % c->lambda->shape[axis];
        hi[axis] = lo[axis] + next_random() % (c->lambda->shape[axis] - lo[axis] + 1);
    }
    call_kernel(c, lo, hi);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i;
        bool    inside = true;

        for (int axis = c->lambda->rank - 1; axis >= 0; axis--) {
            int64_t at = rest % c->lambda->shape[axis];

            rest /= c->lambda->shape[axis];
            inside = inside && at >= lo[axis] && at < hi[axis];
        }
        for (size_t byte = 0; byte < size && !inside; byte++)
            strangers += (uint8_t)c->data[0][(size_t)i * size + byte] != 0xa5;
        strangers += inside && !same_cells(c->lambda->type.dtype, c->data[0] + (size_t)i * size,
                                           want + (size_t)i * size, 1);
    }
    CHECK_EQ_INT(strangers, 0);
}

static void check_values(contracted *c, const char *want)
{
    int64_t count = open_result(c), zeros[ARRAS_MAX_RANK] = { 0 };

    for (int k = 1; k <= c->lambda->ninputs; k++)
        copy_input(c, k);
    call_kernel(c, zeros, c->lambda->shape);
    CHECK(same_cells(c->lambda->type.dtype, c->data[0], want, count));
    memset(c->data[0], 0xa5, (size_t)count * ar_dtype_size(c->lambda->type.dtype));
    call_in_parts(c);
    CHECK(same_cells(c->lambda->type.dtype, c->data[0], want, count));
    for (int box = 0; box < 5; box++)
        check_box(c, want, count);
}

static void check_contraction(arras_array out, bool dense)
{
    contracted     c = { .dense = dense };
    arras_results *want = NULL;

    if (open_program(&c, out) && build_kernel(&c) &&
        CHECK_EQ_INT(ar_reference_run(&want, c.plain, nbound, bound, NULL), ARRAS_OK))
        check_values(&c, want->items[0].buffer.data);
    ar_results_free(want);
    close_program(&c);
}

#define CONTRACTS(array)                                                                           \
    (begin(), check_contraction(array, true), end(), begin(), check_contraction(array, false),     \
     end())

/* ---- Contractions ---------------------------------------------------------------------------- */

#define D(type) odd_input("d", type)
#define U(type) odd_input("u", type)
#define V(type) odd_input("v", type)

/* The sizes of finite elements, and numbers of columns that fill vectors or do not. */
static void derivatives(void)
{
    static const struct {
        const char *dtype;
        int         points;
    } rows[] = { { "f64", 4 }, { "f64", 10 }, { "f64", 20 }, { "f64", 35 }, { "f64", 64 },
                 { "f32", 3 }, { "f32", 8 },  { "f32", 20 }, { "f32", 31 }, { "f32", 63 } };

    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        char d[32], u[32];

        CASE("%d points of %s", rows[i].points, rows[i].dtype);
        snprintf(d, sizeof d, "%s[3, %d, %d]", rows[i].dtype, rows[i].points, rows[i].points);
        snprintf(u, sizeof u, "%s[11, %d]", rows[i].dtype, rows[i].points);
        begin();
        check_contraction(ar_einsum("xij,ej->xei", 2, L(D(d), U(u))), true);
        end();
    }
}

static arras_expr at(int axis) { return ar_expr_index(g, axis); }

static arras_expr whole(int64_t value)
{
    return ar_expr_literal(g, ARRAS_I64, (ar_value){ .i = value });
}

static arras_expr op2(ar_op op, arras_expr x, arras_expr y)
{
    return ar_expr_apply(op, 2, (arras_expr[]){ x, y });
}

static arras_expr load1(arras_array x, arras_expr i) { return ar_expr_load(x, 1, &i, NULL); }

static arras_expr load3(arras_array x, arras_expr i, arras_expr j, arras_expr k)
{
    return ar_expr_load(x, 3, (arras_expr[]){ i, j, k }, NULL);
}

static arras_expr load2(arras_array x, arras_expr i, arras_expr j)
{
    return ar_expr_load(x, 2, (arras_expr[]){ i, j }, NULL);
}

static arras_array lambda2(int64_t rows, int64_t columns, arras_expr cell)
{
    return ar_lambda(g, 2, (arras_dim[]){ rows, columns }, cell);
}

/* out[i, j] = sum over k of (v[i] * d[j, k]) * u[i, k] */
static arras_array scaled_product(void)
{
    arras_expr k = ar_expr_var(g, "k");
    arras_expr scaled =
        op2(AR_OP_multiply, load1(V("f64[17]"), at(0)), load2(D("f64[10, 10]"), at(1), k));
    arras_expr body = op2(AR_OP_multiply, scaled, load2(U("f64[17, 10]"), at(0), k));

    return lambda2(17, 10, ar_expr_reduce(AR_REDUCE_sum, "k", whole(0), whole(10), body));
}

static arras_array sized_input(const char *name, const char *dtype, const char *shape)
{
    char type[64];

    snprintf(type, sizeof type, "%s%s", dtype, shape);
    return odd_input(name, type);
}

/* out[l, i] = sum over j of sum over k of (d[i, j, k] * v[j, l]) * u[j, l, k] */
static arras_array lifting(const char *dtype)
{
    arras_array d = sized_input("d", dtype, "[20, 4, 10]"), v = sized_input("v", dtype, "[4, 9]");
    arras_array u = sized_input("u", dtype, "[4, 9, 10]");
    arras_expr  j = ar_expr_var(g, "j"), k = ar_expr_var(g, "k");
    arras_expr  scaled = op2(AR_OP_multiply, load3(d, at(1), j, k), load2(v, j, at(0)));
    arras_expr  body = op2(AR_OP_multiply, scaled, load3(u, j, at(0), k));
    arras_expr  inner = ar_expr_reduce(AR_REDUCE_sum, "k", whole(0), whole(10), body);

    return lambda2(9, 20, ar_expr_reduce(AR_REDUCE_sum, "j", whole(0), whole(4), inner));
}

static void products(void)
{
    CONTRACTS(ar_einsum("ik,kj->ij", 2, L(U("f64[9, 6]"), D("f64[6, 13]"))));
    CONTRACTS(ar_einsum("ik,jk->ij", 2, L(U("f64[9, 6]"), D("f64[13, 6]"))));
    CONTRACTS(ar_einsum("ki,kj->ij", 2, L(U("f32[6, 9]"), D("f32[6, 13]"))));
    CONTRACTS(scaled_product());
    CONTRACTS(ar_einsum("bik,bkj->bij", 2, L(U("f64[3, 9, 5]"), D("f64[3, 5, 6]"))));
    CONTRACTS(ar_einsum("bik,bkj->bij", 2, L(U("f64[9, 8, 33]"), D("f64[9, 33, 20]"))));
    CONTRACTS(ar_einsum("bcik,bkj->bcij", 2, L(U("f32[2, 3, 9, 5]"), D("f32[2, 5, 6]"))));
    CONTRACTS(ar_einsum("rsej,ij->rsei", 2, L(U("f64[2, 3, 9, 5]"), D("f64[4, 5]"))));
}

/* Sums within sums: the inner one is finished before it is added to the outer. */
static void nested_sums(void)
{
    CONTRACTS(lifting("f64"));
    CONTRACTS(lifting("f32"));
    CONTRACTS(ar_einsum("iabc,eabc->ei", 2, L(D("f64[6, 2, 3, 4]"), U("f64[8, 2, 3, 4]"))));
}

/* The sum over k of d[j, k] * u[i, k], k from `first` on. */
static arras_expr product_sum(arras_array d, arras_array u, int64_t first)
{
    arras_expr k = ar_expr_var(g, "k");
    arras_expr body = op2(AR_OP_multiply, load2(d, at(1), k), load2(u, at(0), k));

    return ar_expr_reduce(AR_REDUCE_sum, "k", whole(first), whole(u->shape[1]), body);
}

/* (v[i] * sum + w[i, j]) / b[j] - max(sum, 0.5) * sum */
static arras_array with_surroundings(const char *dtype, int64_t rows, int64_t columns)
{
    char       text[4][32];
    arras_expr sum, half = ar_expr_literal(g, ARRAS_F64, (ar_value){ .f = 0.5 }), left, right;

    snprintf(text[0], sizeof text[0], "%s[%d, 5]", dtype, (int)columns);
    snprintf(text[1], sizeof text[1], "%s[%d, 5]", dtype, (int)rows);
    snprintf(text[2], sizeof text[2], "%s[%d, %d]", dtype, (int)rows, (int)columns);
    snprintf(text[3], sizeof text[3], "%s[%d]", dtype, (int)columns);
    sum = product_sum(odd_input("d", text[0]), odd_input("u", text[1]), 1);
    left = op2(AR_OP_add, op2(AR_OP_multiply, load2(odd_input("x", text[1]), at(0), whole(3)), sum),
               load2(odd_input("w", text[2]), at(0), at(1)));
    left = op2(AR_OP_divide, left, load1(odd_input("b", text[3]), at(1)));
    right = op2(AR_OP_multiply, op2(AR_OP_maximum, sum, half), sum);
    return lambda2(rows, columns, op2(AR_OP_subtract, left, right));
}

static void surroundings(void)
{
    CONTRACTS(with_surroundings("f64", 9, 6));
    CONTRACTS(with_surroundings("f64", 13, 20));
    CONTRACTS(with_surroundings("f32", 9, 11));
}

/* Integers and numbers among the factors, indices as values, a panel of two arrays. */
static arras_array mixed_types(void)
{
    arras_array d = odd_input("d", "i32[7, 5]"), u = odd_input("u", "f64[9, 5]");
    arras_array m = odd_input("m", "bool[9]"), s = odd_input("s", "f32[7]");
    arras_expr  k = ar_expr_var(g, "k");
    arras_expr  panel = op2(AR_OP_add, load2(d, at(1), k), op2(AR_OP_multiply, load1(s, at(1)), k));
    arras_expr  row =
        op2(AR_OP_multiply, load2(u, at(0), k), op2(AR_OP_add, load1(m, at(0)), at(0)));
    arras_expr body = op2(AR_OP_multiply, row, panel);
    arras_expr sum = ar_expr_reduce(AR_REDUCE_sum, "k", whole(0), whole(5), body);

    return lambda2(9, 7, op2(AR_OP_multiply, sum, op2(AR_OP_add, at(1), whole(1))));
}

static void types_meet(void) { CONTRACTS(mixed_types()); }

/* ---- What is left to other kernels ----------------------------------------------------------- */

static bool matches(arras_array out)
{
    contracted     c = { .dense = true };
    ar_contraction contraction;
    bool           answer = false;

    if (open_program(&c, out))
        answer = ar_contraction_match(&contraction, c.lambda);
    close_program(&c);
    return answer;
}

#define DECLINES(array) (begin(), CHECK(!matches(array)), end())

static void declined(void)
{
    DECLINES(ar_einsum("ij,jk->ik", 2, L(U("f64[9, 65]"), D("f64[65, 20]")))); /* a tree of sums */
    DECLINES(ar_einsum("ij,jk->ik", 2, L(U("f64[9, 20]"), D("f64[20, 65]")))); /* too wide */
    DECLINES(ar_einsum("ij,jk->ik", 2, L(U("f64[9, 5]"), D("f64[5, 2]"))));
    DECLINES(ar_einsum("ij,jk->ik", 2, L(U("f64[4, 5]"), D("f64[5, 20]")))); /* too few rows */
    DECLINES(ar_einsum("ij,jk->ik", 2, L(U("i32[9, 5]"), D("i32[5, 20]"))));
    DECLINES(ar_einsum("ij,jk->ik", 2, L(U("c64[9, 5]"), D("c64[5, 20]"))));
    DECLINES(ar_einsum("ij,ijk->ik", 2, L(U("f64[9, 5]"), D("f64[9, 5, 20]")))); /* no panel */
    DECLINES(ar_einsum("ij->ij", 1, L(U("f64[9, 5]"))));
    DECLINES(reduce(AR_REDUCE_sum, U("f64[9, 5, 7]"), 2));
    DECLINES(map2(AR_OP_add, U("f64[9, 5]"), D("f64[5]")));
}

TEST_MAIN
{
    RUN(derivatives);
    RUN(products);
    RUN(nested_sums);
    RUN(surroundings);
    RUN(types_meet);
    RUN(declined);
}
