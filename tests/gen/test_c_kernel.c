/* test_c_kernel.c -- generated kernels give the bits of the reference evaluator, however the cells
 * are cut into boxes, and give up where it gives an error. */
#include "build/build.h"
#include "eval/reference.h"
#include "nest_kit.h"
#include "random_programs.h"

enum { PROGRAMS = 40, MOST_OPERANDS = 64, MOST_NODES = 64 };

/* ---- A normal form as a module --------------------------------------------------------------- */

/* How kernels are made and called. */
typedef struct {
    bool strided, stream;
    int  cut; /* which of the ways below */
} mode;

typedef struct {
    arras_graph *plain, *normal; /* the normal form, and the same fused */
    arras_array *nodes;
    int64_t      count;
    ar_module   *module;
    ar_tensor   *values;           /* of each node */
    bool         flat[MOST_NODES]; /* of each kernel */
    bool         strided;
} compiled;

static void kernel_name(char *name, size_t size, int64_t i)
{
    snprintf(name, size, "kernel_%d", (int)i);
}

static void print_kernel(ar_text *kernels, ar_op_set *used, compiled *c, int64_t i)
{
    bool           dense[MOST_OPERANDS];
    ar_kernel_form form = { 1, &c->nodes[i], dense, ar_machine_host() };
    ar_nest        nest;
    ar_arena       arena = { 0 };
    arras_error    err = { ARRAS_OK, "" };
    char           name[32];

    for (int k = 0; k < MOST_OPERANDS; k++)
        dense[k] = !c->strided;
    nest = nest_of(&form, &arena);
    c->flat[i] = nest.flat;
    kernel_name(name, sizeof name, i);
    CHECK_EQ_INT(ar_c_kernel_print(kernels, used, &form, &nest, name, &err), ARRAS_OK);
    ar_arena_free(&arena);
}

static void print_source(ar_text *source, compiled *c)
{
    static ar_op_set used;
    ar_text          kernels = { 0 };

    memset(&used, 0, sizeof used);
    for (int64_t i = 0; i < c->count; i++)
        if (c->nodes[i]->kind == AR_LAMBDA)
            print_kernel(&kernels, &used, c, i);
    ar_c_ops_print(source, &used);
    ar_c_kernel_head_print(source);
    ar_text_put(source, kernels.data ? kernels.data : "", kernels.length);
    ar_text_free(&kernels);
}

static bool build(compiled *c)
{
    ar_build_options options = { .libraries = ar_c_libraries(), .no_cache = true };
    ar_text          source = { 0 };
    arras_error      err = { ARRAS_OK, "" };
    bool             good;

    print_source(&source, c);
    good = CHECK_EQ_INT(ar_build_open(&c->module, &options, source.data, source.length, &err),
                        ARRAS_OK);
    if (!good)
        printf("%s\n%s\n", source.data, err.text);
    if (getenv("SHOW"))
        printf("%s\n", source.data);
    ar_text_free(&source);
    return good;
}

static bool open_module(compiled *c, mode m)
{
    arras_error  err = { ARRAS_OK, "" };
    arras_array *roots = NULL;
    bool         good;

    c->strided = m.strided;
    good = CHECK_EQ_INT(ar_normalise(&c->plain, g, &err), ARRAS_OK) &&
           CHECK_EQ_INT(ar_fuse(&c->normal, c->plain, &err), ARRAS_OK) &&
           CHECK_EQ_INT(ar_graph_roots(&roots, c->normal, NULL), ARRAS_OK) &&
           CHECK_EQ_INT(ar_reach(&c->nodes, &c->count, c->normal, ar_graph_output_count(c->normal),
                                 roots, NULL),
                        ARRAS_OK) &&
           CHECK(c->count <= MOST_NODES) && build(c);
    ar_free(roots);
    return good;
}

static void free_values(compiled *c)
{
    for (int64_t i = 0; c->values && i < c->count; i++)
        ar_tensor_free(&c->values[i]);
    ar_free(c->values);
    c->values = NULL;
}

static void close_module(compiled *c)
{
    free_values(c);
    ar_free(c->nodes);
    ar_module_close(c->module);
    ar_graph_free(c->normal);
    ar_graph_free(c->plain);
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* Cells per box along an axis; 0: all of them. */
static const struct {
    const char *name;
    int64_t     first, middle, last; /* along the first, the last and the other axes */
} cuts[] = {
    { "whole", 0, 0, 0 },     { "rows", 1, 1, 0 },     { "cells", 1, 1, 1 },
    { "odd tiles", 3, 2, 5 }, { "columns", 0, 0, 37 },
};

typedef struct {
    ar_kernel            *kernel;
    const ar_kernel_args *args;
    int                   rank;
    int64_t               shape[ARRAS_MAX_RANK];
    int                   cut;
} call;

static int64_t step_of(const call *c, int axis)
{
    int64_t step = axis == c->rank - 1 ? cuts[c->cut].last
                   : axis == 0         ? cuts[c->cut].first
                                       : cuts[c->cut].middle;

    return step ? step : ar_max64(c->shape[axis], 1);
}

/* All boxes; depth is the rank. */
static int call_boxes(const call *c, int axis, int64_t *lo, int64_t *hi)
{
    int gave_up = 0;

    if (axis == c->rank)
        return c->kernel(c->args, lo, hi);
    for (int64_t at = 0; at < c->shape[axis] && !gave_up; at += step_of(c, axis)) {
        lo[axis] = at;
        hi[axis] = ar_min64(at + step_of(c, axis), c->shape[axis]);
        gave_up = call_boxes(c, axis + 1, lo, hi);
    }
    return gave_up;
}

/* ---- Running it ------------------------------------------------------------------------------ */

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

static int run_lambda(const compiled *c, int64_t i, const int64_t *known, mode m)
{
    arras_array    node = c->nodes[i];
    char          *data[MOST_OPERANDS];
    const int64_t *strides[MOST_OPERANDS], *lengths[MOST_OPERANDS];
    ar_kernel_args args = { data,       strides, lengths, known, m.stream ? ar_streaming() : NULL,
                            ar_folds(), m.stream };
    int64_t        lo[ARRAS_MAX_RANK] = { 0 }, hi[ARRAS_MAX_RANK] = { 0 };
    call           all = { .args = &args, .rank = node->rank, .cut = m.cut };
    char           name[32];

    kernel_name(name, sizeof name, i);
    *(void **)&all.kernel = ar_module_symbol(c->module, name);
    if (!CHECK(all.kernel != NULL && node->ninputs < MOST_OPERANDS))
        return 0;
    for (int k = 0; k <= node->ninputs; k++) {
        const ar_tensor *value = k ? value_of(c, node->inputs[k - 1]) : &c->values[i];

        data[k] = value->data, strides[k] = value->strides, lengths[k] = value->shape;
    }
    memcpy(all.shape, c->values[i].shape, (size_t)node->rank * sizeof *all.shape);
    if (c->flat[i])
        all.rank = 1, all.shape[0] = c->values[i].count;
    return c->values[i].count ? call_boxes(&all, 0, lo, hi) : 0;
}

/* 0, or not 0 when a kernel gave up. */
static int run_nodes(compiled *c, const ar_inputs *in, ar_arena *arena, mode m)
{
    c->values = ar_alloc((size_t)c->count, sizeof *c->values);
    for (int64_t i = 0; i < c->count; i++) {
        arras_array node = c->nodes[i];
        int         gave_up = 0;

        if (node->kind == AR_INPUT) {
            c->values[i] = *ar_inputs_find(in, node);
            c->values[i].owned = false;
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
        if (node->kind == AR_SCAN) { /* no kernel is made for it */
            const ar_tensor *x = value_of(c, node->inputs[0]);

            ar_reference_scan(&(ar_job){ node, &c->values[i], &x, in->sizes, NULL });
            continue;
        }
        if ((gave_up = run_lambda(c, i, in->sizes, m)))
            return gave_up;
    }
    return 0;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

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

static void compare_outputs(const compiled *c, const char *want)
{
    for (int i = 0; i < ar_graph_output_count(c->normal); i++) {
        const ar_output *out = ar_graph_output(c->normal, i);
        const ar_tensor *x = value_of(c, out->array);

        if (out->array->kind != AR_LAMBDA)
            continue;
        if (!CHECK(same_values(x->dtype, x->count, x->data, want)))
            printf("    output %s\n", out->name);
        want += (size_t)x->count * ar_dtype_size(x->dtype);
    }
}

static void keep_results(ar_text *kept, const compiled *c, const arras_results *results)
{
    for (int i = 0; i < results->count; i++) {
        const arras_buffer *b = &results->items[i].buffer;

        if (ar_graph_output(c->normal, i)->array->kind == AR_LAMBDA)
            ar_text_put(kept, b->data, cell_count(b) * ar_dtype_size(b->dtype));
    }
}

/* ---- All ways -------------------------------------------------------------------------------- */

static void run_and_compare(compiled *c, const ar_inputs *in, mode m, bool should_fail,
                            const char *want)
{
    ar_arena arena = { 0 };
    int      gave_up = run_nodes(c, in, &arena, m), failures = test.failures;

    CHECK_EQ_INT(gave_up != 0, should_fail);
    if (!gave_up && !should_fail)
        compare_outputs(c, want);
    if (test.failures > failures)
        printf("    %s%s%s\n", m.strided ? "strided, " : "", m.stream ? "streamed, " : "",
               cuts[m.cut].name);
    free_values(c);
    ar_arena_free(&arena);
}

/* All runs give the bits of the reference evaluator. */
static bool check_module(mode m)
{
    compiled       c = { .count = 0 };
    ar_inputs      in;
    arras_results *results = NULL;
    ar_text        want = { 0 };
    arras_status   status = ARRAS_OK;
    int            failures = test.failures;

    if (open_module(&c, m)) {
        status = ar_reference_run(&results, c.normal, nbound, bound, NULL);
        if (status == ARRAS_OK)
            keep_results(&want, &c, results);
        if (ar_inputs_open(&in, c.normal, nbound, bound, NULL) == ARRAS_OK)
            for (int i = 0; i < (int)AR_COUNT(cuts) * 2; i++) {
                m.cut = i / 2, m.stream = i % 2;
                run_and_compare(&c, &in, m, status != ARRAS_OK, want.data);
            }
        ar_inputs_close(&in);
    }
    if (test.failures > failures && c.normal)
        show_programs(c.normal);
    ar_text_free(&want);
    ar_results_free(results);
    close_module(&c);
    return status == ARRAS_OK;
}

/* With the arrays that are bound now.  Whether it ran to the end. */
static bool check_compiled(void)
{
    check_module((mode){ .strided = true });
    return check_module((mode){ .strided = false });
}

/* One of them: compiling takes its time. */
static bool check_one_way(uint64_t which) { return check_module((mode){ .strided = which % 2 }); }

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
            check_module((mode){ .strided = t % 2 });
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
        check_module((mode){ .strided = t % 3 == 2 });
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

static void random_programs(void)
{
    int ran = 0;

    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        CASE("seed %d", (int)seed);
        begin();
        record(seed);
        ran += check_one_way(seed);
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
    RUN(reductions_of_many_cells);
    RUN(stencils_of_long_rows);
    RUN(rows_and_columns);
    RUN(reductions_in_reductions);
    RUN(short_rows_that_jump);
    RUN(random_programs);
}
