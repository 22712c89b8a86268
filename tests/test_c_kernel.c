/* test_c_kernel.c -- kernels generated from the fused normal form give the bits of the reference
 * evaluator, and give up where it gives an error. */
#include "gen/gen.h"
#include "random_programs.h"
#include "run/build.h"
#include "run/reference.h"

enum { PROGRAMS = 40 };

/* ---- A normal form as a module
 * -------------------------------------------------------------------- */

typedef struct {
    arras_graph *plain, *normal; /* the normal form, and the same fused */
    arras_array *nodes;
    int64_t      count;
    ar_module   *module;
    ar_tensor   *values; /* of each node */
} compiled;

static void kernel_name(char *name, size_t size, int64_t i)
{
    snprintf(name, size, "kernel_%d", (int)i);
}

static void print_source(ar_text *source, const compiled *c)
{
    static ar_op_set used;
    ar_text          kernels = { 0 };
    arras_error      err = { ARRAS_OK, "" };
    char             name[32];
    static const bool dense[64];

    memset(&used, 0, sizeof used);
    for (int64_t i = 0; i < c->count; i++)
        if (c->nodes[i]->kind == AR_LAMBDA) {
            ar_kernel_form form = { 1, &c->nodes[i], dense };

            kernel_name(name, sizeof name, i);
            CHECK_EQ_INT(ar_c_kernel_print(&kernels, &used, &form, name, &err), ARRAS_OK);
        }
    ar_c_ops_print(source, &used);
    ar_c_kernel_head_print(source);
    ar_text_put(source, kernels.data ? kernels.data : "", kernels.length);
    ar_text_free(&kernels);
}

static bool open_module(compiled *c)
{
    static const char *const libraries[] = { "-lm", "-lgcc", NULL };
    ar_build_options         options = { .libraries = libraries, .no_cache = true };
    ar_text                  source = { 0 };
    arras_error              err = { ARRAS_OK, "" };
    arras_array             *roots = NULL;
    bool                     good;

    good = CHECK_EQ_INT(ar_normalise(&c->plain, g, &err), ARRAS_OK) &&
           CHECK_EQ_INT(ar_fuse(&c->normal, c->plain, &err), ARRAS_OK) &&
           CHECK_EQ_INT(ar_graph_roots(&roots, c->normal, NULL), ARRAS_OK) &&
           CHECK_EQ_INT(ar_reach(&c->nodes, &c->count, c->normal, ar_graph_output_count(c->normal),
                                 roots, NULL),
                        ARRAS_OK);
    ar_free(roots);
    if (!good)
        return false;
    print_source(&source, c);
    good = CHECK_EQ_INT(ar_build_open(&c->module, &options, source.data, source.length, &err),
                        ARRAS_OK);
    if (!good)
        printf("%s\n%s\n", source.data, err.text);
    ar_text_free(&source);
    return good;
}

static void close_module(compiled *c)
{
    for (int64_t i = 0; c->values && i < c->count; i++)
        ar_tensor_free(&c->values[i]);
    ar_free(c->values);
    ar_free(c->nodes);
    ar_module_close(c->module);
    ar_graph_free(c->normal);
    ar_graph_free(c->plain);
}

/* ---- Running it
 * ------------------------------------------------------------------------------------ */

static ar_tensor *value_of(const compiled *c, arras_array node)
{
    for (int64_t i = 0; i < c->count; i++)
        if (c->nodes[i] == node)
            return &c->values[i];
    return NULL;
}

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

/* Twice half of it, as two threads would. */
static int call_kernel(ar_kernel *kernel, const ar_kernel_args *args, const ar_tensor *out)
{
    int64_t lo[ARRAS_MAX_RANK] = { 0 }, hi[ARRAS_MAX_RANK];
    int     gave_up;

    for (int axis = 0; axis < out->rank; axis++)
        hi[axis] = out->shape[axis];
    if (out->rank == 0)
        return kernel(args, lo, hi);
    hi[0] = out->shape[0] / 2;
    gave_up = kernel(args, lo, hi);
    lo[0] = hi[0], hi[0] = out->shape[0];
    return gave_up ? gave_up : kernel(args, lo, hi);
}

static int run_lambda(const compiled *c, int64_t i, const int64_t *known)
{
    enum { MOST = 64 };
    arras_array    node = c->nodes[i];
    char          *data[MOST];
    const int64_t *strides[MOST], *lengths[MOST];
    ar_kernel_args args = { data, strides, lengths, known, 0 };
    ar_kernel     *kernel;
    char           name[32];

    kernel_name(name, sizeof name, i);
    *(void **)&kernel = ar_module_symbol(c->module, name);
    if (!CHECK(kernel != NULL && node->ninputs < MOST))
        return 0;
    for (int k = 0; k <= node->ninputs; k++) {
        const ar_tensor *value = k ? value_of(c, node->inputs[k - 1]) : &c->values[i];

        data[k] = value->data, strides[k] = value->strides, lengths[k] = value->shape;
    }
    return c->values[i].count ? call_kernel(kernel, &args, &c->values[i]) : 0;
}

/* 0, or not 0 when a kernel gave up. */
static int run_nodes(compiled *c, const ar_inputs *in, ar_arena *arena)
{
    c->values = ar_alloc((size_t)c->count, sizeof *c->values);
    for (int64_t i = 0; i < c->count; i++) {
        arras_array node = c->nodes[i];
        int         gave_up = 0;

        if (node->kind == AR_INPUT) {
            c->values[i] = *ar_inputs_find(in, node);
            continue;
        }
        if (!shape_value(&c->values[i], node, in->sizes, arena))
            return 1;
        if (node->kind == AR_DATA) {
            c->values[i].data = (char *)(uintptr_t)node->ref;
            c->values[i].strides = node->ints;
            continue;
        }
        if (ar_tensor_alloc(&c->values[i], node, NULL) != ARRAS_OK)
            return 1;
        if ((gave_up = run_lambda(c, i, in->sizes)))
            return gave_up;
    }
    return 0;
}

/* ---- Comparing
 * -------------------------------------------------------------------------------------- */

/* The same bits, but for the bits of a nan. */
static bool same_values(const ar_tensor *x, const arras_buffer *want)
{
    size_t size = ar_dtype_size(x->dtype);

    for (int64_t i = 0; i < x->count; i++) {
        ar_value a = { .bits = { 0, 0 } }, b = a;

        memcpy(&a, x->data + (size_t)i * size, size);
        memcpy(&b, (const char *)want->data + (size_t)i * size, size);
        ar_value_canonical(x->dtype, &a);
        ar_value_canonical(x->dtype, &b);
        if (memcmp(&a, &b, sizeof a) != 0)
            return false;
    }
    return true;
}

static void compare_outputs(const compiled *c, const arras_results *want)
{
    for (int i = 0; i < want->count; i++) {
        arras_array node = ar_graph_output(c->normal, i)->array;

        if (node->kind == AR_LAMBDA &&
            !CHECK(same_values(value_of(c, node), &want->items[i].buffer)))
            printf("    output %s\n", want->items[i].name);
    }
}

/* With the arrays that are bound now.  Whether it ran to the end. */
static bool check_compiled(void)
{
    compiled       c = { .count = 0 };
    arras_results *want = NULL;
    ar_inputs      in;
    ar_arena       arena = { 0 };
    bool           ran = false;
    int            failures = test.failures;

    if (open_module(&c)) {
        arras_status status = ar_reference_run(&want, c.plain, nbound, bound, NULL);

        if (ar_inputs_open(&in, c.normal, nbound, bound, NULL) == ARRAS_OK) {
            int gave_up = run_nodes(&c, &in, &arena);

            ran = status == ARRAS_OK;
            CHECK_EQ_INT(gave_up != 0, status != ARRAS_OK);
            if (ran && !gave_up)
                compare_outputs(&c, want);
        }
        ar_inputs_close(&in);
    }
    if (test.failures > failures && c.normal)
        show_programs(c.normal);
    ar_results_free(want);
    close_module(&c);
    ar_arena_free(&arena);
    return ran;
}

/* ---- Programs
 * ---------------------------------------------------------------------------------------- */

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
            check_compiled();
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
        check_compiled();
        end();
    }
}

static void random_programs(void)
{
    int ran = 0;

    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        CASE("seed %d", (int)seed);
        begin();
        record(seed);
        ran += check_compiled();
        end();
    }
    printf("    %d programs, %d of them without an error\n", PROGRAMS, ran);
    CHECK(ran > PROGRAMS / 3);
}

TEST_MAIN
{
    RUN(blocks_nest);
    RUN(edges_reach_any_distance);
    RUN(reductions_of_every_type);
    RUN(random_programs);
}
