/* dot.c -- a graph as a picture for Graphviz: a box for every node, functions in frames of their
 * own. Numbers and notation are those of the text form, so that both can be read side by side. */
#include "notation/parts.h"

#include <string.h>

typedef struct {
    ar_printer p; /* prints into `scratch` */
    ar_text    scratch;
    ar_text   *out;
    int64_t   *places; /* by id: place in the order of its scope, the name of a box */
    int        scope;  /* 0: the program; 1 + number of a function */
} drawing;

/* ---- Looks ----------------------------------------------------------------------------------- */

typedef struct {
    const char *shape, *fill, *line;
} look;

static look look_of(ar_kind kind)
{
    switch (kind) {
    case AR_INPUT:
    case AR_PARAM: return (look){ "ellipse", "#dcebfb", "#5b87b5" };
    case AR_DATA: return (look){ "cylinder", "#fdf0d5", "#b8954a" };
    case AR_CONST:
    case AR_SIZE: return (look){ "box", "#f4f5f7", "#b0b8c1" };
    case AR_MAP:
    case AR_CAST: return (look){ "box", "#e6f4e4", "#6c9f68" };
    case AR_LAMBDA: return (look){ "box", "#dcf1ee", "#4e968c" };
    case AR_REDUCE:
    case AR_SCAN:
    case AR_EINSUM:
    case AR_CSR: return (look){ "box", "#fce3df", "#bd7468" };
    case AR_CALL:
    case AR_RESULT: return (look){ "box", "#fdf6cf", "#a89a3f" };
    default: return (look){ "box", "#ece6f6", "#8573ad" }; /* what only moves cells */
    }
}

/* ---- Labels ---------------------------------------------------------------------------------- */

enum { LONGEST_LABEL = 56 };

static void put_escaped(ar_text *out, char c)
{
    switch (c) {
    case '&': ar_text_add(out, "&amp;"); break;
    case '<': ar_text_add(out, "&lt;"); break;
    case '>': ar_text_add(out, "&gt;"); break;
    case '"': ar_text_add(out, "&quot;"); break;
    default: ar_text_put(out, &c, 1);
    }
}

static bool continues_character(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* Runs of blanks and ends of lines become one blank, and what is too long is cut between
 * characters. */
static void put_label(ar_text *out, const char *text, size_t length)
{
    size_t shown = 0;

    for (size_t i = 0; i < length; i++) {
        char c = text[i] == '\n' ? ' ' : text[i];

        if (shown >= LONGEST_LABEL && !continues_character(c)) {
            ar_text_add(out, " ...");
            return;
        }
        if (c == ' ' && i > 0 && (text[i - 1] == ' ' || text[i - 1] == '\n'))
            continue;
        put_escaped(out, c);
        shown += !continues_character(c);
    }
}

static void put_string(ar_text *out, const char *text) { put_label(out, text, strlen(text)); }

static void put_small(ar_text *out, const char *colour, const char *text, size_t length)
{
    if (length == 0)
        return;
    ar_text_printf(out, "<br/><font point-size=\"10\" color=\"%s\">", colour);
    put_label(out, text, length);
    ar_text_add(out, "</font>");
}

static bool has_name(arras_array x) { return x->kind == AR_INPUT || x->kind == AR_PARAM; }

static void label_type(drawing *d, arras_array x)
{
    d->scratch.length = 0;
    ar_print_type(&d->p, x->type, x->rank, x->shape);
    if (!d->scratch.failed)
        put_small(d->out, "#55606c", d->scratch.data, d->scratch.length);
}

static void label_title(drawing *d, arras_array x, const char *text, size_t length)
{
    if (!has_name(x))
        ar_text_printf(d->out, "<font color=\"#8a94a0\">%%%" PRId64 "</font> ",
                       d->p.numbers[x->id]);
    ar_text_add(d->out, "<b>");
    put_label(d->out, text, length);
    ar_text_add(d->out, "</b>");
}

/* The word of the operation, then what follows it in the text form, without brackets around it. */
static arras_status label_operation(drawing *d, arras_array x, arras_error *err)
{
    arras_status status;
    const char  *rest;
    size_t       word, length;

    d->scratch.length = 0;
    status = ar_print_node(&d->p, x, err);
    if (status != ARRAS_OK || d->scratch.failed)
        return status;
    word = strcspn(d->scratch.data, " (");
    rest = d->scratch.data + word;
    length = d->scratch.length - word;
    label_title(d, x, d->scratch.data, word);
    if (rest[0] == '(' && rest[length - 1] == ')')
        rest++, length -= 2;
    put_small(d->out, "#1f2933", rest, length);
    return ARRAS_OK;
}

static void label_const(drawing *d, arras_array x)
{
    d->scratch.length = 0;
    ar_value_print(&d->scratch, x->type.dtype, x->ints);
    if (!d->scratch.failed)
        label_title(d, x, d->scratch.data, d->scratch.length);
}

static arras_status label_node(drawing *d, arras_array x, arras_error *err)
{
    arras_status status = ARRAS_OK;

    if (has_name(x))
        label_title(d, x, x->name, strlen(x->name));
    else if (x->kind == AR_CONST)
        label_const(d, x);
    else
        status = label_operation(d, x, err);
    if (x->kind != AR_DATA && x->kind != AR_CALL)
        label_type(d, x);
    return status;
}

/* ---- Boxes and arrows ------------------------------------------------------------------------ */

static void put_place(const drawing *d, arras_array x)
{
    ar_text_printf(d->out, "s%d_%" PRId64, d->scope, d->places[x->id]);
}

static arras_status draw_node(drawing *d, arras_array x, arras_error *err)
{
    look         l = look_of(x->kind);
    arras_status status;

    ar_text_add(d->out, "    ");
    put_place(d, x);
    ar_text_printf(d->out, " [shape=%s, fillcolor=\"%s\", color=\"%s\", label=<", l.shape, l.fill,
                   l.line);
    status = label_node(d, x, err);
    ar_text_add(d->out, ">];\n");
    for (int i = 0; i < x->ninputs; i++) {
        ar_text_add(d->out, "    ");
        put_place(d, x->inputs[i]);
        ar_text_add(d->out, " -> ");
        put_place(d, x);
        ar_text_add(d->out, ";\n");
    }
    return status;
}

static arras_status draw_nodes(drawing *d, int64_t count, const arras_array *nodes,
                               arras_error *err)
{
    arras_status status = ARRAS_OK;
    int64_t      number = 0;

    for (int64_t i = 0; i < count && status == ARRAS_OK; i++) {
        d->places[nodes[i]->id] = i;
        if (!has_name(nodes[i]))
            d->p.numbers[nodes[i]->id] = number++;
        status = draw_node(d, nodes[i], err);
    }
    return status;
}

/* A flag that carries the name of an output or a result. */
static void draw_named(drawing *d, const char *word, int number, const char *name, arras_array x)
{
    ar_text_printf(
        d->out,
        "    s%d_%s%d [shape=invhouse, fillcolor=\"#e3e7ed\", color=\"#5f6b7a\", label=<<b>",
        d->scope, word, number);
    put_string(d->out, name);
    ar_text_add(d->out, "</b>>];\n    ");
    put_place(d, x);
    ar_text_printf(d->out, " -> s%d_%s%d;\n", d->scope, word, number);
}

/* ---- Functions and the program --------------------------------------------------------------- */

/* Parameters that no result needs are drawn too: they are part of the function. */
static arras_status order_function(arras_array **nodes, int64_t *count, arras_function f,
                                   arras_error *err)
{
    size_t       n = (size_t)f->nparams + (size_t)f->nresults;
    arras_array *roots = ar_alloc(n, sizeof *roots);
    arras_status status;

    if (!roots)
        return ar_fail_memory(err, n * sizeof *roots);
    memcpy(roots, f->params, (size_t)f->nparams * sizeof *roots);
    memcpy(roots + f->nparams, f->results, (size_t)f->nresults * sizeof *roots);
    status = ar_order(nodes, count, (int)n, roots, err);
    ar_free(roots);
    return status;
}

static arras_status draw_function(drawing *d, arras_function f, arras_error *err)
{
    arras_array *nodes;
    int64_t      count;
    arras_status status = order_function(&nodes, &count, f, err);

    if (status != ARRAS_OK)
        return status;
    d->scope = 1 + f->id;
    ar_text_printf(d->out,
                   "    subgraph cluster_%d {\n    style=\"rounded,filled\"; color=\"#c9c08a\"; "
                   "fillcolor=\"#fffdf2\"; label=<function <b>",
                   f->id);
    put_string(d->out, f->name);
    ar_text_add(d->out, "</b>>;\n");
    status = draw_nodes(d, count, nodes, err);
    for (int i = 0; i < f->nresults; i++)
        draw_named(d, "result", i, f->result_names[i], f->results[i]);
    ar_text_add(d->out, "    }\n");
    d->scope = 0;
    ar_free(nodes);
    return status;
}

static arras_status draw_functions(drawing *d, int64_t count, const arras_array *nodes,
                                   arras_error *err)
{
    const arras_graph *g = d->p.g;
    int                n = ar_graph_function_count(g);
    bool              *called = ar_alloc((size_t)n, sizeof *called);
    arras_status       status;

    if (!called)
        return ar_fail_memory(err, (size_t)n);
    status = ar_reach_functions(called, g, count, nodes, err);
    for (int i = 0; i < n && status == ARRAS_OK; i++)
        if (called[i])
            status = draw_function(d, ar_graph_function(g, i), err);
    ar_free(called);
    return status;
}

/* Inputs first, also those that no output needs. */
static arras_status order_program(arras_array **nodes, int64_t *count, const arras_graph *g,
                                  arras_error *err)
{
    int          inputs = ar_graph_input_count(g), n = inputs + ar_graph_output_count(g);
    arras_array *roots = ar_alloc((size_t)n, sizeof *roots);
    arras_status status;

    if (!roots)
        return ar_fail_memory(err, (size_t)n * sizeof *roots);
    for (int i = 0; i < n; i++)
        roots[i] = i < inputs ? ar_graph_input(g, i) : ar_graph_output(g, i - inputs)->array;
    status = ar_order(nodes, count, n, roots, err);
    ar_free(roots);
    return status;
}

static arras_status draw_program(drawing *d, arras_error *err)
{
    const arras_graph *g = d->p.g;
    arras_array       *nodes;
    int64_t            count;
    arras_status       status = order_program(&nodes, &count, g, err);

    if (status != ARRAS_OK)
        return status;
    ar_text_add(d->out,
                "digraph arras {\n"
                "    graph [rankdir=TB, nodesep=0.3, ranksep=0.35, fontname=\"Helvetica\"];\n"
                "    node [style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=12, "
                "height=0.3, margin=\"0.12,0.06\"];\n"
                "    edge [color=\"#8a94a0\", arrowsize=0.6];\n");
    status = draw_functions(d, count, nodes, err);
    if (status == ARRAS_OK)
        status = draw_nodes(d, count, nodes, err);
    for (int i = 0; i < ar_graph_output_count(g); i++)
        draw_named(d, "output", i, ar_graph_output(g, i)->name, ar_graph_output(g, i)->array);
    ar_text_add(d->out, "}\n");
    ar_free(nodes);
    return status;
}

static arras_status finish(ar_text *out, const drawing *d, arras_error *err)
{
    if (!d->out->failed && !d->scratch.failed)
        ar_text_put(out, d->out->data, d->out->length);
    return d->out->failed || d->scratch.failed || out->failed ? ar_fail_memory(err, d->out->length)
                                                              : ARRAS_OK;
}

arras_status ar_dot(ar_text *out, const arras_graph *g, arras_error *err)
{
    ar_text      picture = { 0 };
    drawing      d = { .out = &picture };
    arras_status status = ar_graph_check(g, err);

    if (status == ARRAS_OK)
        status = ar_printer_open(&d.p, &d.scratch, g, true, err);
    if (status != ARRAS_OK)
        return status;
    d.places = ar_alloc((size_t)ar_graph_count(g), sizeof *d.places);
    status = d.places ? draw_program(&d, err) : ar_fail_memory(err, sizeof *d.places);
    if (status == ARRAS_OK)
        status = finish(out, &d, err);
    ar_free(d.places);
    ar_printer_close(&d.p);
    ar_text_free(&d.scratch);
    ar_text_free(&picture);
    return status;
}
