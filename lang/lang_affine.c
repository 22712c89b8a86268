/* lang_affine.c -- cells that are constant + sum of factor * index. */
#include "lang/lang_lower.h"

/* Numbers stay below this, so that a few of them can be added without overflow. */
#define LARGEST ((int64_t)1 << 52)

static bool is_small(int64_t value) { return value > -LARGEST && value < LARGEST; }

static bool is_constant(const lang_affine *a) { return a->nterms == 0; }

static bool add_term(lang_affine *a, lang_index *index, int64_t factor)
{
    int at = 0;

    while (at < a->nterms && a->terms[at].index != index)
        at++;
    if (at == a->nterms) {
        if (at == LANG_MAX_TERMS)
            return false;
        a->terms[a->nterms].index = index;
        a->terms[a->nterms++].factor = 0;
    }
    a->terms[at].factor += factor;
    if (a->terms[at].factor == 0)
        a->terms[at] = a->terms[--a->nterms];
    return at >= a->nterms || is_small(a->terms[at].factor);
}

/* a += factor * b */
static bool add_scaled(lang_affine *a, const lang_affine *b, int64_t factor)
{
    int64_t product;

    if (__builtin_mul_overflow(b->constant, factor, &product) || !is_small(product) ||
        !is_small(a->constant + product))
        return false;
    a->constant += product;
    for (int i = 0; i < b->nterms; i++)
        if (__builtin_mul_overflow(b->terms[i].factor, factor, &product) || !is_small(product) ||
            !add_term(a, b->terms[i].index, product))
            return false;
    return true;
}

static bool multiply(lang_affine *out, const lang_affine *a, const lang_affine *b)
{
    if (is_constant(b))
        return add_scaled(out, a, b->constant);
    return is_constant(a) && add_scaled(out, b, a->constant);
}

static bool affine_of_op(lang_affine *out, lang_lowering *L, const lang_cell *cell)
{
    const lang_affine *a = lang_affine_of(L, cell->parts[0]);
    const lang_affine *b = a && cell->nparts == 2 ? lang_affine_of(L, cell->parts[1]) : NULL;

    if (!a || (cell->nparts == 2 && !b))
        return false;
    switch (cell->op) {
    case ARRAS_OP_add: return add_scaled(out, a, 1) && add_scaled(out, b, 1);
    case ARRAS_OP_subtract: return add_scaled(out, a, 1) && add_scaled(out, b, -1);
    case ARRAS_OP_multiply: return multiply(out, a, b);
    case ARRAS_OP_negative: return add_scaled(out, a, -1);
    default: return false;
    }
}

static bool affine_of(lang_affine *out, lang_lowering *L, const lang_cell *cell)
{
    switch (cell->kind) {
    case LANG_CELL_INT: out->constant = cell->integer; return is_small(cell->integer);
    case LANG_CELL_INDEX: return add_term(out, cell->index, 1);
    case LANG_CELL_OP: return cell->nparts <= 2 && affine_of_op(out, L, cell);
    default: return false;
    }
}

const lang_affine *lang_affine_of(lang_lowering *L, lang_cell *cell)
{
    lang_affine a = { 0 }, *kept;

    if (cell->affine_tried)
        return cell->affine;
    cell->affine_tried = true;
    if (!affine_of(&a, L, cell))
        return NULL;
    kept = lang_arena_alloc(&L->arena, 1, sizeof *kept);
    if (kept) {
        *kept = a;
        cell->affine = kept;
    }
    return cell->affine;
}
