/* items_world.h -- for tests of kernels in items: every array of a program is computed by its own
 * kernel on a device, through a queue, and compared with the reference evaluator, bit by bit but
 * where functions of another mathematical library stand.
 *
 * Who includes it opens `device` and sets `exact`. */
#ifndef TEST_ITEMS_WORLD_H
#define TEST_ITEMS_WORLD_H

#include "device/device.h"
#include "eval/reference.h"

#include "kernel_cases.h"
#include "nest_kit.h"

enum { MOST_OPERANDS = 64, MOST_NODES = 64, MOST_NUMBERS = 2048 };

static arras_device *device;
static bool          exact; /* its functions are those of the evaluator */

/* What became of the programs. */
static struct {
    int compared, failed_alike, declined, approximate;
} tally;

typedef struct {
    arras_graph     *plain, *normal; /* the normal form, and the same fused */
    arras_array     *nodes;
    int64_t          count;
    const ar_dialect *dialect;
    ar_op_set        used;
    void            *module;
    ar_tensor       *values; /* of each node, on the host */
    bool             strided;
} itemised;

/* ---- A normal form as a module of the device ------------------------------------------------- */

static void print_item_kernel(ar_text *kernels, itemised *c, int64_t i, arras_error *err)
{
    bool           dense[MOST_OPERANDS];
    ar_kernel_form form = { 1, &c->nodes[i], dense, ar_machine_host() };
    ar_nest        nest;
    ar_arena       arena = { 0 };
    char           name[32];

    for (int k = 0; k < MOST_OPERANDS; k++)
        dense[k] = !c->strided;
    nest = nest_of(&form, &arena);
    snprintf(name, sizeof name, "kernel_%d", (int)i);
    if (err->code == ARRAS_OK)
        ar_items_print(kernels, &c->used, c->dialect, &form, &nest, name, err);
    ar_arena_free(&arena);
}

/* False: the dialect lacks an operation, or something is wrong. */
static bool build_items(itemised *c)
{
    ar_text     kernels = { 0 }, source = { 0 };
    arras_error err = { ARRAS_OK, "" };
    bool        good;

    for (int64_t i = 0; i < c->count; i++)
        if (c->nodes[i]->kind == AR_LAMBDA)
            print_item_kernel(&kernels, c, i, &err);
    ar_items_head_print(&source, c->dialect, &c->used);
    ar_text_put(&source, kernels.data ? kernels.data : "", kernels.length);
    if (getenv("SHOW"))
        printf("%s\n", source.data);
    if (err.code == ARRAS_OK)
        device->type->build(&c->module, device->state, source.data, source.length, &err);
    good = err.code == ARRAS_OK;
    if (!good && !CHECK(err.code == ARRAS_EDTYPE && !exact))
        printf("%s\n%s\n", source.data, err.text);
    ar_text_free(&kernels);
    ar_text_free(&source);
    return good;
}

static const ar_dialect *device_dialect(void)
{
    ar_device_facts facts;

    ar_device_facts_of(&facts, device);
    return ar_dialect_find(facts.dialect);
}

static bool open_items(itemised *c)
{
    arras_array *roots = NULL;
    bool         good;

    c->dialect = device_dialect();
    good = CHECK(c->dialect != NULL) &&
           CHECK_EQ_INT(ar_normalise(&c->plain, g, NULL), ARRAS_OK) &&
           CHECK_EQ_INT(ar_fuse(&c->normal, c->plain, NULL), ARRAS_OK) &&
           CHECK_EQ_INT(ar_graph_roots(&roots, c->normal, NULL), ARRAS_OK) &&
           CHECK_EQ_INT(ar_reach(&c->nodes, &c->count, c->normal, ar_graph_output_count(c->normal),
                                 roots, NULL),
                        ARRAS_OK) &&
           CHECK(c->count <= MOST_NODES);
    ar_free(roots);
    return good;
}

static void close_items(itemised *c)
{
    for (int64_t i = 0; c->values && i < c->count; i++)
        ar_tensor_free(&c->values[i]);
    ar_free(c->values);
    ar_free(c->nodes);
    if (c->module)
        device->type->unbuild(device->state, c->module);
    ar_graph_free(c->normal);
    ar_graph_free(c->plain);
}

/* Whether a function is computed that other libraries compute to other bits. */
static bool is_approximate(const itemised *c)
{
    for (int op = 0; op < AR_OP_END; op++)
        for (int d = ARRAS_F32; d <= ARRAS_C128; d++)
            if (c->used.ops[op][d] &&
                (ar_op_units((ar_op)op) == ar_op_units(AR_OP_exp) ||
                 (d >= ARRAS_C64 && (op == AR_OP_abs || op == AR_OP_sign))))
                return !exact;
    return false;
}

/* ---- Running it ------------------------------------------------------------------------------ */

static ar_tensor *host_value(const itemised *c, arras_array node)
{
    for (int64_t i = 0; i < c->count; i++)
        if (c->nodes[i] == node)
            return &c->values[i];
    return NULL;
}

/* All operands of one call, one after the other in one piece of memory. */
typedef struct {
    const ar_tensor  *tensors[MOST_OPERANDS];
    ar_item_operand   places[MOST_OPERANDS];
    ar_device_operand args[MOST_OPERANDS + 2];
    ar_device_work    works[MOST_OPERANDS + 5];
    void             *slots[MOST_OPERANDS + 2];
    int64_t           numbers[MOST_NUMBERS];
    int32_t           flag;
    int64_t           n, nworks;
} item_call;

/* What is shared by kernels starts with a byte offset that is no multiple of much. */
static int64_t place_operands(item_call *call)
{
    int64_t at = 32;

    for (int64_t k = 0; k < call->n; k++) {
        const ar_tensor *x = call->tensors[k];

        call->places[k] = (ar_item_operand){ at, x->shape, x->strides };
        at += (x->count * (int64_t)ar_dtype_size(x->dtype) + 47) / 16 * 16;
    }
    return at;
}

static void add_copy(item_call *call, ar_work_kind kind, void *memory, int64_t offset, void *host,
                     int64_t bytes)
{
    ar_device_operand there = { .memory = memory, .offset = offset, .bytes = bytes };
    ar_device_operand here = { .host = host, .bytes = bytes };
    bool              in = kind == AR_WORK_COPY_IN;

    call->works[call->nworks++] =
        (ar_device_work){ .kind = kind, .to = in ? there : here, .from = in ? here : there };
}

static void add_works(item_call *call, void *memory, void *numbers, void *flag, void *function)
{
    const ar_tensor *out = call->tensors[0];
    int64_t          bytes = out->count * (int64_t)ar_dtype_size(out->dtype);

    for (int64_t k = 1; k < call->n; k++)
        add_copy(call, AR_WORK_COPY_IN, memory, call->places[k].offset, call->tensors[k]->data,
                 call->tensors[k]->count * (int64_t)ar_dtype_size(call->tensors[k]->dtype));
    add_copy(call, AR_WORK_COPY_IN, numbers, 0, call->numbers, sizeof call->numbers);
    add_copy(call, AR_WORK_COPY_IN, flag, 0, &call->flag, sizeof call->flag);
    for (int64_t k = 0; k < call->n; k++)
        call->args[k] = (ar_device_operand){ .memory = memory };
    call->args[call->n] = (ar_device_operand){ .memory = numbers };
    call->args[call->n + 1] = (ar_device_operand){ .memory = flag };
    call->works[call->nworks++] = (ar_device_work){
        .kind = AR_WORK_KERNEL,
        .call = { function, (int)call->n + 2, call->args, call->slots },
        .items = (out->count + 63) / 64 * 64, /* a few more than there are cells */
    };
    add_copy(call, AR_WORK_COPY_OUT, memory, call->places[0].offset, out->data, bytes);
    add_copy(call, AR_WORK_COPY_OUT, flag, 0, &call->flag, sizeof call->flag);
}

static int run_call(item_call *call, void *function)
{
    const ar_device_type *type = device->type;
    void                 *memory = NULL, *numbers = NULL, *flag = NULL;
    ar_device_queue       queue = { .device = NULL };
    int64_t               bytes = place_operands(call);
    arras_error           err = { ARRAS_OK, "" };

    CHECK_EQ_INT(type->alloc(&memory, device->state, bytes, &err), ARRAS_OK);
    CHECK_EQ_INT(type->alloc(&numbers, device->state, sizeof call->numbers, &err), ARRAS_OK);
    CHECK_EQ_INT(type->alloc(&flag, device->state, sizeof call->flag, &err), ARRAS_OK);
    add_works(call, memory, numbers, flag, function);
    CHECK_EQ_INT(ar_queue_open(&queue, device, &err), ARRAS_OK);
    if (!CHECK_EQ_INT(ar_queue_pass(&queue, call->nworks, call->works, &err), ARRAS_OK))
        printf("    %s\n", err.text);
    ar_queue_close(&queue);
    type->free(device->state, memory);
    type->free(device->state, numbers);
    type->free(device->state, flag);
    return call->flag;
}

static int run_item_lambda(const itemised *c, int64_t i, const int64_t *known)
{
    static item_call call;
    arras_array      node = c->nodes[i];
    bool             dense[MOST_OPERANDS];
    ar_kernel_form   form = { 1, &c->nodes[i], dense, ar_machine_host() };
    char             name[32];
    void            *function;

    memset(&call, 0, sizeof call);
    snprintf(name, sizeof name, "kernel_%d", (int)i);
    function = device->type->find(device->state, c->module, name);
    if (!CHECK(function && node->ninputs < MOST_OPERANDS &&
               ar_items_number_count(&form) <= MOST_NUMBERS))
        return 0;
    for (int k = 0; k <= node->ninputs; k++)
        call.tensors[call.n++] = k ? host_value(c, node->inputs[k - 1]) : &c->values[i];
    place_operands(&call);
    ar_items_numbers(call.numbers, &form, known, call.places);
    return c->values[i].count ? run_call(&call, function) : 0;
}

/* In C order, whatever its strides are. */
static bool set_data(ar_tensor *value, arras_array node)
{
    ar_tensor from = *value;

    from.data = (char *)(uintptr_t)node->ref;
    from.strides = node->ints;
    if (ar_tensor_alloc(value, node, NULL) != ARRAS_OK)
        return false;
    ar_cells_copy(value, &from);
    return true;
}

/* 0, or not 0 when a kernel met a fault. */
static int run_items(itemised *c, const ar_inputs *in, ar_arena *arena)
{
    c->values = ar_alloc((size_t)c->count, sizeof *c->values);
    for (int64_t i = 0; i < c->count; i++) {
        arras_array node = c->nodes[i];

        if (node->kind == AR_INPUT) {
            c->values[i] = *ar_inputs_find(in, node);
            c->values[i].owned = false;
            continue;
        }
        if (!shape_value(&c->values[i], node, in->sizes, arena))
            return 1;
        if (node->kind == AR_DATA ? !set_data(&c->values[i], node)
                                  : ar_tensor_alloc(&c->values[i], node, NULL) != ARRAS_OK)
            return 1;
        if (node->kind == AR_SCAN) { /* no kernel is made for it */
            const ar_tensor *x = host_value(c, node->inputs[0]);

            ar_reference_scan(&(ar_job){ node, &c->values[i], &x, in->sizes, NULL });
        }
        if (node->kind == AR_LAMBDA && run_item_lambda(c, i, in->sizes))
            return 1;
    }
    return 0;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static void compare_items(const itemised *c, const arras_results *results)
{
    bool approximate = is_approximate(c);

    tally.approximate += approximate;
    tally.compared += !approximate;
    for (int i = 0; i < results->count; i++) {
        const arras_buffer *want = &results->items[i].buffer;
        const ar_output    *out = ar_graph_output(c->normal, i);
        const ar_tensor    *got = host_value(c, out->array);

        if (out->array->kind != AR_LAMBDA)
            continue;
        if (!approximate && !CHECK(same_values(got->dtype, got->count, got->data, want->data)))
            printf("    output %s\n", out->name);
    }
}

static bool run_and_compare(itemised *c)
{
    ar_arena       arena = { 0 };
    ar_inputs      in;
    arras_results *results = NULL;
    arras_status   status = ar_reference_run(&results, c->normal, nbound, bound, NULL);

    if (ar_inputs_open(&in, c->normal, nbound, bound, NULL) == ARRAS_OK) {
        int fault = run_items(c, &in, &arena);

        CHECK_EQ_INT(fault != 0, status != ARRAS_OK);
        tally.failed_alike += fault != 0;
        if (!fault && status == ARRAS_OK)
            compare_items(c, results);
    }
    ar_inputs_close(&in);
    ar_results_free(results);
    ar_arena_free(&arena);
    return status == ARRAS_OK;
}

static bool check_strided(bool strided)
{
    itemised c = { .strided = strided };
    bool     ran = true;
    int      failures = test.failures;

    if (open_items(&c) && build_items(&c))
        ran = run_and_compare(&c);
    else
        tally.declined++;
    if (test.failures > failures && c.normal)
        show_programs(c.normal);
    close_items(&c);
    return ran;
}

static inline void print_tally(void)
{
    printf("    %d programs with the evaluator's bits, %d with its faults, %d by other functions, "
           "%d declined\n",
           tally.compared, tally.failed_alike, tally.approximate, tally.declined);
    CHECK(tally.compared > 0);
}

#endif
