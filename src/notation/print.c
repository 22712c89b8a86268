/* print.c -- a graph as text that can be read back: sizes, inputs, functions, nodes, outputs. */
#include "notation/parts.h"

#include <string.h>

/* ---- Statements ------------------------------------------------------------------------------ */

static bool has_type_of_its_own(arras_array x)
{
    return x->kind != AR_CONST && x->kind != AR_DATA && x->kind != AR_CALL;
}

static arras_status print_definition(ar_printer *p, arras_array x, arras_error *err)
{
    arras_status status = ar_print_node(p, x, err);

    if (has_type_of_its_own(x)) {
        ar_text_add(p->out, " : ");
        ar_print_type(p, x->type, x->rank, x->shape);
    }
    ar_text_add(p->out, "\n");
    return status;
}

/* Equal cells borrowed from two places are two nodes, but one when read back, and so is what is
 * made of them: nodes that read the same share a number. */
typedef struct {
    size_t  start, length; /* of what stands right of '=' */
    int64_t number;
} definition;
typedef struct {
    ar_table table;
    ar_arena arena;
    int64_t  count;
} definitions;
typedef struct {
    const char *text;
    definition  made;
} lookup;

static bool reads_the_same(const void *item, const void *key)
{
    const definition *known = item, *made = &((const lookup *)key)->made;
    const char       *text = ((const lookup *)key)->text;

    return known->length == made->length &&
           memcmp(text + known->start, text + made->start, made->length) == 0;
}

/* The number of what was printed from `start` on; its own if it is new.  Brief texts of different
 * data may look the same: there every node is new. */
static bool find_number(ar_printer *p, definitions *all, size_t start, int64_t *number)
{
    lookup      key = { p->out->data, { start, p->out->length - start, all->count } };
    uint64_t    hash = ar_hash_bytes(0, key.text + start, key.made.length);
    const void *found = ar_table_find(&all->table, hash, reads_the_same, &key);

    if (!found || p->brief) {
        found = ar_arena_copy(&all->arena, &key.made, 1, sizeof key.made);
        if (!found || !ar_table_add(&all->table, hash, found))
            return false;
        all->count++;
    }
    *number = ((const definition *)found)->number;
    return true;
}

static arras_status print_node_line(ar_printer *p, definitions *all, arras_array x,
                                    arras_error *err)
{
    size_t       line = p->out->length, start;
    int64_t      next = all->count;
    arras_status status;

    ar_print_line_start(p);
    ar_text_printf(p->out, "%%%" PRId64 " = ", next);
    start = p->out->length;
    status = print_definition(p, x, err);
    if (status != ARRAS_OK)
        return status;
    if (p->out->failed || !find_number(p, all, start, &p->numbers[x->id]))
        return ar_fail_memory(err, p->out->length);
    if (p->numbers[x->id] != next)
        p->out->length = line; /* it is there already */
    return ARRAS_OK;
}

static arras_status print_nodes(ar_printer *p, int64_t count, const arras_array *nodes,
                                arras_error *err)
{
    definitions  all = { .count = 0 };
    arras_status status = ARRAS_OK;

    for (int64_t i = 0; i < count && status == ARRAS_OK; i++)
        if (nodes[i]->kind != AR_INPUT && nodes[i]->kind != AR_PARAM) /* they go by their names */
            status = print_node_line(p, &all, nodes[i], err);
    ar_table_free(&all.table);
    ar_arena_free(&all.arena);
    return status;
}

/* `input x : f64[n, 4]`, or without the word for a parameter */
static void print_declared(ar_printer *p, arras_array x)
{
    ar_text_printf(p->out, "%s : ", x->name);
    ar_print_type(p, x->type, x->rank, x->shape);
}

static void print_named(ar_printer *p, const char *word, const char *name, arras_array x)
{
    ar_print_line_start(p);
    ar_text_printf(p->out, "%s %s = ", word, name);
    ar_print_operand(p, x);
    ar_text_add(p->out, "\n");
}

/* ---- Functions ------------------------------------------------------------------------------- */

static void print_heading(ar_printer *p, arras_function f)
{
    ar_text_printf(p->out, "\nfunction %s(", f->name);
    for (int i = 0; i < f->nparams; i++) {
        ar_text_add(p->out, i ? ", " : "");
        print_declared(p, f->params[i]);
    }
    ar_text_add(p->out, ") {\n");
}

static arras_status print_function(ar_printer *p, arras_function f, arras_error *err)
{
    arras_array *nodes;
    int64_t      count;
    arras_status status = ar_order(&nodes, &count, f->nresults, f->results, err);

    if (status != ARRAS_OK)
        return status;
    print_heading(p, f);
    p->indent++;
    status = print_nodes(p, count, nodes, err);
    for (int i = 0; i < f->nresults; i++)
        print_named(p, "result", f->result_names[i], f->results[i]);
    p->indent--;
    ar_text_add(p->out, "}\n");
    ar_free(nodes);
    return status;
}

static arras_status print_functions(ar_printer *p, int64_t count, const arras_array *nodes,
                                    arras_error *err)
{
    int          n = ar_graph_function_count(p->g), printed = 0;
    bool        *called = ar_alloc((size_t)n, sizeof *called);
    arras_status status;

    if (!called)
        return ar_fail_memory(err, (size_t)n);
    status = ar_reach_functions(called, p->g, count, nodes, err);
    for (int i = 0; i < n && status == ARRAS_OK; i++)
        if (called[i]) {
            status = print_function(p, ar_graph_function(p->g, i), err);
            printed++;
        }
    ar_text_add(p->out, printed > 0 ? "\n" : "");
    ar_free(called);
    return status;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

static arras_status print_program(ar_printer *p, arras_error *err)
{
    arras_array *nodes;
    int64_t      count;
    arras_status status = ar_order_outputs(&nodes, &count, p->g, err);

    if (status != ARRAS_OK)
        return status;
    for (int i = 0; i < ar_graph_input_count(p->g); i++) {
        ar_text_add(p->out, "input ");
        print_declared(p, ar_graph_input(p->g, i));
        ar_text_add(p->out, "\n");
    }
    status = print_functions(p, count, nodes, err);
    if (status == ARRAS_OK)
        status = print_nodes(p, count, nodes, err);
    for (int i = 0; i < ar_graph_output_count(p->g); i++)
        print_named(p, "output", ar_graph_output(p->g, i)->name, ar_graph_output(p->g, i)->array);
    ar_free(nodes);
    return status;
}

/* The sizes a program uses are known once it is printed, and stand before it. */
static void print_sizes(ar_text *out, const ar_printer *p)
{
    ar_text_printf(out, "arras %d\n", AR_TEXT_VERSION);
    for (int i = 0; i < p->nsizes; i++)
        ar_text_printf(out, "size %s\n", p->sizes[i]);
}

static arras_status join(ar_text *out, const ar_text *head, const ar_text *body, arras_error *err)
{
    if (head->failed || body->failed)
        return ar_fail_memory(err, head->length + body->length);
    ar_text_put(out, head->data, head->length);
    ar_text_put(out, body->data, body->length);
    return out->failed ? ar_fail_memory(err, body->length) : ARRAS_OK;
}

arras_status ar_print(ar_text *out, const arras_graph *g, bool brief, arras_error *err)
{
    ar_text      head = { 0 }, body = { 0 };
    ar_printer   p;
    arras_status status = ar_graph_check(g, err);

    if (status == ARRAS_OK)
        status = ar_printer_open(&p, &body, g, brief, err);
    if (status != ARRAS_OK)
        return status;
    status = print_program(&p, err);
    print_sizes(&head, &p);
    if (status == ARRAS_OK)
        status = join(out, &head, &body, err);
    ar_printer_close(&p);
    ar_text_free(&head);
    ar_text_free(&body);
    return status;
}
