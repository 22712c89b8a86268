/* c_index.c -- what index expressions say: how they move along a strip, and that they stay inside
 * their axis. */
#include "gen/c_writer.h"

#include <string.h>

/* ---- Affine forms ---------------------------------------------------------------------------- */

bool ar_c_integer(int64_t *out, arras_expr e)
{
    if (e->kind == AR_EXPR_CAST && e->type.dtype == ARRAS_I64)
        e = e->args[0];
    if (e->kind != AR_EXPR_LITERAL || e->type.dtype != ARRAS_I64)
        return false;
    *out = e->ints[0];
    return true;
}

bool ar_c_varies(const ar_c_strip *strip, arras_expr e)
{
    if (!strip)
        return false;
    if (strip->flat)
        return e->uses != 0;
    return strip->axis >= 0 ? e->uses >> strip->axis & 1 : ar_c_depends(e, strip->variable);
}

static bool is_strip_variable(const ar_c_strip *strip, arras_expr e)
{
    return (e->kind == AR_EXPR_INDEX || e->kind == AR_EXPR_VAR) && ar_c_varies(strip, e);
}

static bool add_term(ar_c_affine *out, arras_expr e, int64_t factor)
{
    if (out->nterms == AR_C_TERMS || e->type.dtype != ARRAS_I64)
        return false;
    out->terms[out->nterms].factor = factor;
    out->terms[out->nterms++].of = e;
    return true;
}

static bool add_form(ar_c_affine *out, const ar_c_strip *strip, arras_expr e, int64_t factor);

static bool add_product(ar_c_affine *out, const ar_c_strip *strip, arras_expr e, int64_t factor)
{
    int64_t by;

    for (int side = 0; side < 2; side++)
        if (ar_c_integer(&by, e->args[side]) && ar_mul64(&by, by, factor))
            return add_form(out, strip, e->args[1 - side], by);
    return !ar_c_varies(strip, e) && add_term(out, e, factor);
}

static bool add_operation(ar_c_affine *out, const ar_c_strip *strip, arras_expr e, int64_t factor)
{
    switch (e->ints[0]) {
    case AR_OP_add:
        return add_form(out, strip, e->args[0], factor) && add_form(out, strip, e->args[1], factor);
    case AR_OP_subtract:
        return factor != INT64_MIN && add_form(out, strip, e->args[0], factor) &&
               add_form(out, strip, e->args[1], -factor);
    case AR_OP_negative: return factor != INT64_MIN && add_form(out, strip, e->args[0], -factor);
    case AR_OP_multiply: return add_product(out, strip, e, factor);
    default: return !ar_c_varies(strip, e) && add_term(out, e, factor);
    }
}

/* Depth is limited by AR_MAX_DEPTH. */
static bool add_form(ar_c_affine *out, const ar_c_strip *strip, arras_expr e, int64_t factor)
{
    int64_t number;

    if (e->type.dtype != ARRAS_I64)
        return false;
    if (ar_c_integer(&number, e))
        return ar_mul64(&number, number, factor) && ar_add64(&out->constant, out->constant, number);
    if (is_strip_variable(strip, e))
        return ar_add64(&out->along, out->along, factor);
    if (e->kind == AR_EXPR_OP)
        return add_operation(out, strip, e, factor);
    return !ar_c_varies(strip, e) && add_term(out, e, factor);
}

bool ar_c_affine_read(ar_c_affine *out, const ar_c_strip *strip, arras_expr index)
{
    *out = (ar_c_affine){ 0 };
    return add_form(out, strip, index, 1);
}

void ar_c_affine_put_terms(ar_writer *w, const ar_c_affine *affine)
{
    for (int i = 0; i < affine->nterms; i++)
        ar_c_put(w, affine->terms[i].of);
}

void ar_c_affine_print_rest(ar_writer *w, const ar_c_affine *affine)
{
    ar_text_printf(w->out, "(int64_t)(%" PRIu64 "ull", (uint64_t)affine->constant);
    for (int i = 0; i < affine->nterms; i++) {
        ar_text_add(w->out, " + (uint64_t)");
        ar_c_name(w, affine->terms[i].of);
        if (affine->terms[i].factor != 1)
            ar_text_printf(w->out, " * %" PRIu64 "ull", (uint64_t)affine->terms[i].factor);
    }
    ar_text_add(w->out, ")");
}

/* ---- Bounds: constant + sum of factor * size ------------------------------------------------- */

enum { BOUND_TERMS = 16 };

typedef struct {
    int64_t constant;
    int     nterms;
    ar_term terms[BOUND_TERMS];
} bound;

static bool add_size(bound *b, int size, int64_t factor)
{
    int k = 0;

    while (k < b->nterms && b->terms[k].size != size)
        k++;
    if (k == BOUND_TERMS)
        return false;
    if (k == b->nterms)
        b->terms[b->nterms++] = (ar_term){ size, 0 };
    return ar_add64(&b->terms[k].factor, b->terms[k].factor, factor);
}

static bool add_constant(bound *b, int64_t value, int64_t factor)
{
    return ar_mul64(&value, value, factor) && ar_add64(&b->constant, b->constant, value);
}

static bool add_dim(bound *b, const arras_graph *g, arras_dim dim, int64_t factor)
{
    const ar_affine *affine = ar_dim_affine(g, dim);
    int64_t          product;

    if (!ar_dim_symbolic(dim))
        return add_constant(b, dim, factor);
    if (!affine || affine->error || !add_constant(b, affine->constant, factor))
        return false;
    for (int i = 0; i < affine->nterms; i++)
        if (!ar_mul64(&product, affine->terms[i].factor, factor) ||
            !add_size(b, affine->terms[i].size, product))
            return false;
    return true;
}

/* A bound of a reduction: a number or a size. */
static bool add_limit(bound *b, arras_expr e, int64_t factor)
{
    int64_t number;

    if (ar_c_integer(&number, e))
        return add_constant(b, number, factor);
    return e->kind == AR_EXPR_SIZE && add_dim(b, e->graph, e->ints[0], factor);
}

static const ar_c_variable *find_variable(const ar_writer *w, const char *name)
{
    for (int k = w->nesting - 1; k >= 0; k--)
        if (strcmp(w->variables[k].name, name) == 0)
            return &w->variables[k];
    return NULL;
}

/* Adds the smallest or largest value of factor * e. */
static bool add_extreme(bound *b, const ar_writer *w, arras_expr e, int64_t factor, bool largest)
{
    bool                 top = largest == (factor > 0);
    const ar_c_variable *v;

    switch (e->kind) {
    case AR_EXPR_SIZE: return add_dim(b, e->graph, e->ints[0], factor);
    case AR_EXPR_INDEX:
        return !top || (add_dim(b, w->lambda->graph, w->lambda->shape[e->ints[0]], factor) &&
                        add_constant(b, -1, factor));
    case AR_EXPR_VAR:
        v = find_variable(w, e->name);
        if (!v)
            return false;
        return top ? add_limit(b, v->hi, factor) && add_constant(b, -1, factor)
                   : add_limit(b, v->lo, factor);
    default: return false;
    }
}

/* Sizes are not negative. */
static bool is_not_negative(const bound *b)
{
    for (int i = 0; i < b->nterms; i++)
        if (b->terms[i].factor < 0)
            return false;
    return b->constant >= 0;
}

static bool negate(bound *b)
{
    for (int i = 0; i < b->nterms; i++)
        if (!ar_mul64(&b->terms[i].factor, b->terms[i].factor, -1))
            return false;
    return ar_mul64(&b->constant, b->constant, -1);
}

bool ar_c_is_inside(ar_writer *w, arras_expr load, int axis)
{
    arras_array x = w->lambda->inputs[load->ints[0]];
    ar_c_affine form;
    bound       low = { 0 }, high = { 0 };

    if (!ar_c_affine_read(&form, NULL, load->args[axis]))
        return false;
    low.constant = high.constant = form.constant;
    for (int i = 0; i < form.nterms; i++)
        if (!add_extreme(&low, w, form.terms[i].of, form.terms[i].factor, false) ||
            !add_extreme(&high, w, form.terms[i].of, form.terms[i].factor, true))
            return false;
    return is_not_negative(&low) && negate(&high) && add_dim(&high, x->graph, x->shape[axis], 1) &&
           add_constant(&high, -1, 1) && is_not_negative(&high);
}
