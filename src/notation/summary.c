/* summary.c -- a graph in numbers: nodes by kind, bytes, operations, depth and width. */
#include "notation/parts.h"

#include <stdio.h>

/* What a scope (the program, or a function at each call) takes. */
typedef struct {
    int64_t flops, between;
    bool    symbolic;
} cost;

typedef struct {
    const arras_graph *g;
    arras_summary      s;
    bool              *counted; /* by id: a node of several scopes counts once */
    bool              *kept;    /* by id: outputs of the scope at hand */
    cost              *calls;   /* by function */
    bool              *called;
    int64_t           *levels; /* by id */
    int64_t           *widths; /* by level - 1; room for all nodes of the program */
    int64_t            kinds[AR_KIND_END], ops[AR_OP_END], reductions[AR_REDUCTION_END];
    ar_expr_walk       walk;
} tally;

/* ---- Counting -------------------------------------------------------------------------------- */

static void count_node(tally *t, arras_array x)
{
    if (t->counted[x->id])
        return;
    t->counted[x->id] = true;
    t->s.nodes++;
    t->kinds[x->kind]++;
    if (x->kind == AR_MAP)
        t->ops[x->ints[0]]++;
    if (x->kind == AR_REDUCE)
        t->reductions[x->ints[0]]++;
}

/* Adds the bytes of x; symbolic ones are left out and said so. */
static void add_bytes(int64_t *sum, bool *symbolic, arras_array x)
{
    int64_t cells = ar_cells(x->rank, x->shape);

    if (cells < 0)
        *symbolic = true;
    else
        *sum = ar_sum_capped(*sum, ar_product_capped(cells, (int64_t)ar_dtype_size(x->type.dtype)));
}

static void add_cost(cost *sum, const cost *more)
{
    sum->flops = ar_sum_capped(sum->flops, more->flops);
    sum->between = ar_sum_capped(sum->between, more->between);
    sum->symbolic = sum->symbolic || more->symbolic;
}

/* Arguments lie with the caller, and so do results: they are stored as its RESULT nodes. */
static bool lies_between(const tally *t, arras_array x)
{
    return x->kind != AR_INPUT && x->kind != AR_PARAM && x->kind != AR_DATA && x->kind != AR_CALL &&
           !t->kept[x->id];
}

static arras_status add_node(tally *t, cost *scope, arras_array x, arras_error *err)
{
    int64_t      flops;
    arras_status status = ar_flops(&flops, &t->walk, x, err);

    if (status != ARRAS_OK)
        return status;
    add_cost(scope, &(cost){ flops < 0 ? 0 : flops, 0, flops < 0 });
    if ((x->kind == AR_INPUT || x->kind == AR_DATA) && !t->counted[x->id])
        add_bytes(&t->s.bytes_in, &scope->symbolic, x);
    if (lies_between(t, x))
        add_bytes(&scope->between, &scope->symbolic, x);
    if (x->kind == AR_CALL)
        add_cost(scope, &t->calls[((arras_function)x->ref)->id]);
    count_node(t, x);
    return ARRAS_OK;
}

static arras_status add_scope(tally *t, cost *scope, int64_t count, const arras_array *nodes,
                              arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int64_t i = 0; i < count && status == ARRAS_OK; i++)
        status = add_node(t, scope, nodes[i], err);
    return status;
}

static arras_status add_function(tally *t, arras_function f, arras_error *err)
{
    arras_array *nodes;
    int64_t      count;
    arras_status status = ar_order(&nodes, &count, f->nresults, f->results, err);

    if (status != ARRAS_OK)
        return status;
    for (int i = 0; i < f->nresults; i++)
        t->kept[f->results[i]->id] = true;
    status = add_scope(t, &t->calls[f->id], count, nodes, err);
    for (int i = 0; i < f->nresults; i++)
        t->kept[f->results[i]->id] = false;
    ar_free(nodes);
    return status;
}

/* Functions call only those defined before them. */
static arras_status add_functions(tally *t, int64_t count, const arras_array *nodes,
                                  arras_error *err)
{
    arras_status status = ar_reach_functions(t->called, t->g, count, nodes, err);

    for (int i = 0; i < ar_graph_function_count(t->g) && status == ARRAS_OK; i++)
        if (t->called[i])
            status = add_function(t, ar_graph_function(t->g, i), err);
    return status;
}

static void find_levels(tally *t, int64_t count, const arras_array *nodes)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t level = 0;

        for (int k = 0; k < nodes[i]->ninputs; k++)
            level = ar_max64(level, t->levels[nodes[i]->inputs[k]->id]);
        t->levels[nodes[i]->id] = ++level;
        t->s.depth = ar_max64(t->s.depth, level);
        t->s.width = ar_max64(t->s.width, ++t->widths[level - 1]);
    }
}

static arras_status add_program(tally *t, int64_t count, const arras_array *nodes, arras_error *err)
{
    cost         program = { 0, 0, false };
    arras_status status = add_functions(t, count, nodes, err);

    if (status != ARRAS_OK)
        return status;
    for (int i = 0; i < ar_graph_output_count(t->g); i++) {
        arras_array x = ar_graph_output(t->g, i)->array;

        t->kept[x->id] = true;
        add_bytes(&t->s.bytes_out, &program.symbolic, x);
    }
    status = add_scope(t, &program, count, nodes, err);
    find_levels(t, count, nodes);
    t->s.flops = program.flops;
    t->s.bytes_between = program.between;
    t->s.symbolic = program.symbolic;
    return status;
}

/* ---- Tallies --------------------------------------------------------------------------------- */

static void tally_free(tally *t)
{
    ar_free(t->counted);
    ar_free(t->kept);
    ar_free(t->calls);
    ar_free(t->called);
    ar_free(t->levels);
    ar_free(t->widths);
    ar_expr_walk_free(&t->walk);
}

static bool tally_open(tally *t, const arras_graph *g, int64_t count)
{
    size_t ids = (size_t)ar_graph_count(g), functions = (size_t)ar_graph_function_count(g);

    t->g = g;
    t->counted = ar_alloc(ids, sizeof *t->counted);
    t->kept = ar_alloc(ids, sizeof *t->kept);
    t->calls = ar_alloc(functions, sizeof *t->calls);
    t->called = ar_alloc(functions, sizeof *t->called);
    t->levels = ar_alloc(ids, sizeof *t->levels);
    t->widths = ar_alloc((size_t)count, sizeof *t->widths);
    return t->counted && t->kept && t->calls && t->called && t->levels && t->widths;
}

/* The caller frees the tally, whatever is returned. */
static arras_status take_tally(tally *t, const arras_graph *g, arras_error *err)
{
    arras_array *nodes;
    int64_t      count;
    arras_status status = ar_graph_check(g, err);

    if (status == ARRAS_OK)
        status = ar_order_outputs(&nodes, &count, g, err);
    if (status != ARRAS_OK)
        return status;
    status = tally_open(t, g, count) ? add_program(t, count, nodes, err)
                                     : ar_fail_memory(err, (size_t)ar_graph_count(g));
    ar_free(nodes);
    return status;
}

arras_status ar_summarize(arras_summary *out, const arras_graph *g, arras_error *err)
{
    tally        t = { 0 };
    arras_status status = take_tally(&t, g, err);

    if (status == ARRAS_OK)
        *out = t.s;
    tally_free(&t);
    return status;
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* "1.5 KiB (1536)", in whole numbers, so that no locale has a say. */
static void print_amount(ar_text *out, const char *what, int64_t amount, int64_t unit, int n,
                         const char *const *units)
{
    int64_t scale = 1;
    int     i = 0;

    for (; i < n - 1 && amount / scale >= unit; i++)
        scale *= unit;
    ar_text_printf(out, "  %-16s  %" PRId64, what, amount / scale);
    if (i > 0)
        ar_text_printf(out, ".%" PRIu64, (uint64_t)(amount % scale) * 10 / (uint64_t)scale);
    ar_text_add(out, units[i]);
    if (i > 0)
        ar_text_printf(out, " (%" PRId64 ")", amount);
    ar_text_add(out, "\n");
}

static void print_amounts(ar_text *out, const arras_summary *s)
{
    static const char *const bytes[] = { " bytes", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB" };
    static const char *const counts[] = { "", " thousand", " million", " billion", " trillion" };
    enum { BYTES = AR_COUNT(bytes), COUNTS = AR_COUNT(counts) };

    print_amount(out, "inputs and data", s->bytes_in, 1024, BYTES, bytes);
    print_amount(out, "outputs", s->bytes_out, 1024, BYTES, bytes);
    print_amount(out, "in between", s->bytes_between, 1024, BYTES, bytes);
    print_amount(out, "operations", s->flops, 1000, COUNTS, counts);
    if (s->symbolic)
        ar_text_add(out,
                    "  some sizes are not known yet: bytes and operations leave those nodes out\n");
}

static void print_part(ar_text *out, int *printed, const char *name, int64_t count)
{
    if (count == 0)
        return;
    ar_text_printf(out, "%s%s %" PRId64, (*printed)++ ? ", " : "   ", name, count);
}

static void print_kinds(ar_text *out, const tally *t)
{
    for (int kind = 0; kind < AR_KIND_END; kind++) {
        int printed = 0;

        if (t->kinds[kind] == 0)
            continue;
        ar_text_printf(out, "  %-16s %6" PRId64, ar_kind_word((ar_kind)kind), t->kinds[kind]);
        for (int op = 0; kind == AR_MAP && op < AR_OP_END; op++)
            print_part(out, &printed, ar_op_name((ar_op)op), t->ops[op]);
        for (int r = 0; kind == AR_REDUCE && r < AR_REDUCTION_END; r++)
            print_part(out, &printed, ar_reduction_name((ar_reduction)r), t->reductions[r]);
        ar_text_add(out, "\n");
    }
}

enum { MOST_ROWS = 20, LONGEST_BAR = 50 };

static void print_bar(ar_text *out, int64_t width, int64_t widest)
{
    int64_t length = widest <= LONGEST_BAR ? width : (width * LONGEST_BAR + widest - 1) / widest;

    for (int64_t i = 0; i < length; i++)
        ar_text_add(out, "#");
    ar_text_add(out, "\n");
}

static int64_t widest_of(const tally *t, int64_t first, int64_t end)
{
    int64_t width = 0;

    for (int64_t level = first; level < end; level++)
        width = ar_max64(width, t->widths[level]);
    return width;
}

/* A row for each level; for a range of them, with the widest, when there are many. */
static void print_levels(ar_text *out, const tally *t)
{
    int64_t step = (t->s.depth + MOST_ROWS - 1) / MOST_ROWS;

    ar_text_printf(out, "  %-16s  nodes\n", step > 1 ? "levels" : "level");
    for (int64_t first = 0; first < t->s.depth; first += step) {
        int64_t end = ar_min64(first + step, t->s.depth), width = widest_of(t, first, end);
        char    range[48];

        snprintf(range, sizeof range, end == first + 1 ? "%" PRId64 : "%" PRId64 "-%" PRId64,
                 first + 1, end);
        ar_text_printf(out, "  %-16s %6" PRId64 "  ", range, width);
        print_bar(out, width, t->s.width);
    }
}

static void print_summary(ar_text *out, const tally *t)
{
    ar_text_printf(out, "%" PRId64 " node%s, %" PRId64 " level%s, at most %" PRId64 " wide\n\n",
                   t->s.nodes, t->s.nodes == 1 ? "" : "s", t->s.depth, t->s.depth == 1 ? "" : "s",
                   t->s.width);
    print_kinds(out, t);
    ar_text_add(out, "\n");
    print_amounts(out, &t->s);
    ar_text_add(out, "\n");
    print_levels(out, t);
}

arras_status ar_summary_print(ar_text *out, const arras_graph *g, arras_error *err)
{
    tally        t = { 0 };
    ar_text      text = { 0 };
    arras_status status = take_tally(&t, g, err);

    if (status == ARRAS_OK) {
        print_summary(&text, &t);
        if (!text.failed)
            ar_text_put(out, text.data, text.length);
        if (text.failed || out->failed)
            status = ar_fail_memory(err, text.length);
    }
    ar_text_free(&text);
    tally_free(&t);
    return status;
}
