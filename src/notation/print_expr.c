/* print_expr.c -- the cell of a lambda as text.  An expression is a graph: what is used more than
 * once is defined once, as $0, $1, ..., or a diamond of 100 levels would fill the disk. */
#include "notation/parts.h"

#include <string.h>

static void print_expr(ar_printer *p, arras_expr e);

static void print_list(ar_printer *p, int n, const arras_expr *args)
{
    for (int i = 0; i < n; i++) {
        ar_text_add(p->out, i ? ", " : "");
        print_expr(p, args[i]);
    }
}

static void print_variable(ar_printer *p, const char *name)
{
    ar_text_printf(p->out, ar_variable_is_plain(name, strlen(name)) ? "%s" : "var(%s)", name);
}

/* A real number keeps a point or an exponent, which tells it from an integer. */
static void print_literal(ar_printer *p, arras_expr e)
{
    size_t start = p->out->length;

    ar_value_print(p->out, e->type.dtype, e->ints);
    if (e->type.dtype == ARRAS_F64 && !p->out->failed && !strpbrk(p->out->data + start, ".ein"))
        ar_text_add(p->out, ".0");
}

static void print_load(ar_printer *p, arras_expr e)
{
    int fill = e->rank;

    ar_text_printf(p->out, "_%" PRId64 "[", e->ints[0]);
    for (int d = 0; d < e->rank; d++) {
        arras_edge_rule rule = (arras_edge_rule)e->ints[1 + d];

        ar_text_add(p->out, d ? ", " : "");
        print_expr(p, e->args[d]);
        if (rule != ARRAS_EDGE_NONE)
            ar_text_printf(p->out, " %s", ar_edge_word(rule));
        if (rule == ARRAS_EDGE_CONSTANT) {
            ar_text_add(p->out, " ");
            print_expr(p, e->args[fill++]);
        }
    }
    ar_text_add(p->out, "]");
}

static const char *const tree_words[] = {
    [AR_TREE_WHOLE] = "",
    [AR_TREE_PART] = " part",
    [AR_TREE_PARTIALS] = " partials",
    [AR_TREE_FUSED] = " fused",
};

static void print_reduce(ar_printer *p, arras_expr e)
{
    ar_text_printf(p->out, "%s[%s: ", ar_reduction_name((ar_reduction)e->ints[0]), e->name);
    print_list(p, 2, e->args);
    ar_text_add(p->out, tree_words[ar_expr_tree(e)]);
    ar_text_add(p->out, "](");
    print_expr(p, e->args[2]);
    ar_text_add(p->out, ")");
}

static void print_call(ar_printer *p, const char *word, arras_expr e)
{
    ar_text_printf(p->out, "%s(", word);
    print_list(p, e->nargs, e->args);
    ar_text_add(p->out, ")");
}

static void print_structure(ar_printer *p, arras_expr e)
{
    switch (e->kind) {
    case AR_EXPR_POISON: break;
    case AR_EXPR_INDEX: ar_text_printf(p->out, "i%" PRId64, e->ints[0]); break;
    case AR_EXPR_VAR: print_variable(p, e->name); break;
    case AR_EXPR_LITERAL: print_literal(p, e); break;
    case AR_EXPR_SIZE:
        ar_text_add(p->out, "size(");
        ar_print_dim(p, e->ints[0]);
        ar_text_add(p->out, ")");
        break;
    case AR_EXPR_CAST: print_call(p, ar_dtype_name(e->type.dtype), e); break;
    case AR_EXPR_OP: print_call(p, ar_op_name((ar_op)e->ints[0]), e); break;
    case AR_EXPR_LOAD: print_load(p, e); break;
    case AR_EXPR_REDUCE: print_reduce(p, e); break;
    }
}

/* ---- Shared subexpressions ------------------------------------------------------------------- */

/* The note of an expression that has a number: 1 + the number. */
static int64_t *note_of(ar_printer *p, arras_expr e) { return &p->walk.slots[e->id].note; }

static void print_expr(ar_printer *p, arras_expr e)
{
    int64_t note = *note_of(p, e);

    if (note > 0)
        ar_text_printf(p->out, "$%" PRId64, note - 1);
    else
        print_structure(p, e);
}

static bool is_leaf(arras_expr e) { return e->nargs == 0 && e->kind != AR_EXPR_LOAD; }

/* Leaves and loads at plain indices are as easily read as a number. */
static bool is_simple(arras_expr e)
{
    if (e->kind != AR_EXPR_LOAD)
        return is_leaf(e);
    for (int i = 0; i < e->nargs; i++)
        if (!is_leaf(e->args[i]))
            return false;
    return true;
}

static void print_definition(ar_printer *p, arras_expr e)
{
    ar_print_line_start(p);
    ar_text_printf(p->out, "$%" PRId64 " = ", p->nlocals);
    print_structure(p, e);
    ar_text_add(p->out, ";\n");
    *note_of(p, e) = ++p->nlocals;
}

static void print_definitions(ar_printer *p)
{
    for (size_t i = 0; i < p->walk.count; i++) {
        arras_expr e = p->walk.found[i];

        if (p->walk.slots[e->id].uses < 2 || is_simple(e))
            continue;
        if (p->nlocals == 0)
            ar_text_add(p->out, "\n");
        print_definition(p, e);
    }
}

arras_status ar_print_cell(ar_printer *p, arras_expr cell, arras_error *err)
{
    bool lines;

    if (!ar_expr_walk_from(&p->walk, cell))
        return ar_fail_memory(err, sizeof cell);
    p->nlocals = 0;
    p->indent++;
    ar_text_add(p->out, "{");
    print_definitions(p);
    lines = p->nlocals > 0;
    if (lines)
        ar_print_line_start(p);
    else
        ar_text_add(p->out, " ");
    print_expr(p, cell);
    p->indent--;
    ar_text_add(p->out, lines ? "\n" : " ");
    if (lines)
        ar_print_line_start(p);
    ar_text_add(p->out, "}");
    return ARRAS_OK;
}
