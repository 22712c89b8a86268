/* test_c_kernel.c -- generated kernels give the bits of the reference evaluator, however the cells
 * are cut into boxes, and give up where it gives an error. */
#include "build/build.h"
#include "eval/reference.h"
#include "kernel_cases.h"
#include "nest_kit.h"

enum { MOST_OPERANDS = 64, MOST_NODES = 64 };

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

static bool check_strided(bool strided) { return check_module((mode){ .strided = strided }); }

static void random_programs(void) { check_random_programs(40); }

TEST_MAIN
{
    run_kernel_cases();
    RUN(random_programs);
}
