/* c_index.c -- how index expressions move along a strip. */
#include "gen/c/c_writer.h"

#include <string.h>

/* ---- Affine forms ---------------------------------------------------------------------------- */

bool ar_c_varies(const ar_c_strip *strip, arras_expr e)
{
    if (!strip)
        return false;
    if (strip->flat)
        return e->uses != 0;
    return strip->axis >= 0 ? ((uint32_t)1 << strip->axis | strip->beside) & e->uses
                            : ar_expr_depends(e, strip->variable);
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
        if (ar_w_integer(&by, e->args[side]) && ar_mul64(&by, by, factor))
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
    if (ar_w_integer(&number, e))
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
        ar_w_put(w, affine->terms[i].of);
}

void ar_c_affine_print_rest(ar_writer *w, const ar_c_affine *affine)
{
    ar_text_printf(w->out, "(int64_t)(%" PRIu64 "ull", (uint64_t)affine->constant);
    for (int i = 0; i < affine->nterms; i++) {
        ar_text_add(w->out, " + (uint64_t)");
        ar_w_name(w, affine->terms[i].of);
        if (affine->terms[i].factor != 1)
            ar_text_printf(w->out, " * %" PRIu64 "ull", (uint64_t)affine->terms[i].factor);
    }
    ar_text_add(w->out, ")");
}
