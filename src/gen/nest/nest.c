/* nest.c -- what is decided of a kernel before a line of it is printed. */
#include "gen/nest/contraction.h"

/* ---- Flat kernels ---------------------------------------------------------------------------- */

static bool load_is_of_own_cell(const ar_kernel_form *form, arras_expr load)
{
    return load->rank == 0 ||
           (form->dense[load->ints[0]] && ar_load_is_own_cell(form->lambdas[0], load));
}

/* Depth is limited by AR_MAX_DEPTH; `seen` keeps shared parts from being looked at again. */
static bool is_flat(const ar_kernel_form *form, arras_expr e, bool *seen)
{
    if (e->kind == AR_EXPR_LOAD)
        return load_is_of_own_cell(form, e);
    if (e->kind == AR_EXPR_INDEX || e->kind == AR_EXPR_REDUCE)
        return false;
    if (seen[e->id])
        return true;
    seen[e->id] = true;
    for (int i = 0; i < e->nargs; i++)
        if (!is_flat(form, e->args[i], seen))
            return false;
    return true;
}

static arras_status find_flat(bool *flat, const ar_kernel_form *form, arras_error *err)
{
    *flat = form->lambdas[0]->rank > 0;
    for (int r = 0; r < form->n && *flat; r++) {
        arras_expr cell = form->lambdas[r]->ref;
        bool      *seen = ar_alloc((size_t)cell->id + 1, sizeof *seen);

        if (!seen)
            return ar_fail_memory(err, (size_t)cell->id + 1);
        *flat = is_flat(form, cell, seen);
        ar_free(seen);
    }
    return ARRAS_OK;
}

/* ---- Strides that are in the code ------------------------------------------------------------ */

/* What lies further apart than this need not be where it would be in the whole array, so that tiles
 * of files can be small; sums of products gain more.  Data is always there as a whole. */
enum { LONGEST_ROW = 512, LONGEST_KNOWN_STRIDE = 1 << 14 };

bool ar_kernel_stride(int64_t *out, arras_array x, int axis)
{
    *out = (int64_t)ar_dtype_size(x->type.dtype);
    for (int behind = axis + 1; behind < x->rank; behind++)
        if (ar_dim_symbolic(x->shape[behind]) || !ar_mul64(out, *out, x->shape[behind]))
            return false;
    return *out <= LONGEST_KNOWN_STRIDE || x->kind == AR_DATA;
}

bool ar_kernel_input_stride(int64_t *out, const ar_kernel_form *form, int input, int axis)
{
    arras_array x = form->lambdas[0]->inputs[input];

    return form->dense[input] && ar_kernel_stride(out, x, axis) &&
           (*out <= LONGEST_ROW || x->kind == AR_DATA);
}

/* Where the stride before an axis is in the code, a box without all of it will not do. */
static bool needs_whole(const ar_nest *nest, const ar_kernel_form *form, int input, int axis)
{
    int64_t stride;

    if (axis == 0 || !form->dense[input] || nest->flat)
        return false;
    return nest->contraction ? ar_kernel_stride(&stride, form->lambdas[0]->inputs[input], axis - 1)
                             : ar_kernel_input_stride(&stride, form, input, axis - 1);
}

static arras_status find_whole(ar_nest *nest, const ar_kernel_form *form, ar_arena *arena,
                               arras_error *err)
{
    arras_array lambda = form->lambdas[0];
    uint32_t   *whole = ar_arena_alloc(arena, (size_t)lambda->ninputs, sizeof *whole);

    if (!whole)
        return ar_fail_memory(err, (size_t)lambda->ninputs * sizeof *whole);
    for (int k = 0; k < lambda->ninputs; k++)
        for (int axis = 0; axis < lambda->inputs[k]->rank; axis++)
            if (needs_whole(nest, form, k, axis))
                whole[k] |= (uint32_t)1 << axis;
    nest->whole = whole;
    return ARRAS_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int64_t short_row(arras_array lambda)
{
    enum { SHORT = 16 };
    arras_dim last = lambda->rank > 1 ? lambda->shape[lambda->rank - 1] : 0;

    return !ar_dim_symbolic(last) && last > 0 && last <= SHORT ? last : 0;
}

arras_status ar_nest_make(ar_nest *out, const ar_kernel_form *form,
                          const ar_contraction *contraction, ar_arena *arena, arras_error *err)
{
    ar_nest      nest = { .contraction = contraction };
    arras_status status = find_flat(&nest.flat, form, err);

    if (!nest.flat && !contraction)
        nest.short_row = short_row(form->lambdas[0]);
    if (status == ARRAS_OK)
        status = find_whole(&nest, form, arena, err);
    if (status == ARRAS_OK)
        *out = nest;
    return status;
}

arras_status ar_contraction_find(const ar_contraction **out, arras_array lambda, ar_arena *arena,
                                 arras_error *err)
{
    ar_contraction found;

    *out = NULL;
    if (!ar_contraction_match(&found, lambda))
        return ARRAS_OK;
    *out = ar_arena_copy(arena, &found, 1, sizeof found);
    return *out ? ARRAS_OK : ar_fail_memory(err, sizeof found);
}

/* ---- As text --------------------------------------------------------------------------------- */

static void print_variables(ar_text *out, const ar_contraction *c)
{
    for (int s = 0; s < c->nsums; s++)
        ar_text_printf(out, "%s%s", s ? ", " : "", c->sums[s]->name);
}

static void print_contraction(ar_text *out, const ar_contraction *c)
{
    ar_text_printf(out, "contraction over ");
    print_variables(out, c);
    ar_text_printf(out,
                   ": %" PRId64 " columns i%d, rows i%d, %" PRId64 " terms%s, %d panels, packed %s",
                   c->columns, c->column, c->row, c->terms, c->fused ? " by fma" : "",
                   c->panels.count, c->packs ? "once" : "in turn");
}

void ar_nest_print(ar_text *out, const ar_nest *nest, const ar_kernel_form *form)
{
    arras_array lambda = form->lambdas[0];

    if (nest->contraction)
        print_contraction(out, nest->contraction);
    else if (nest->flat)
        ar_text_add(out, "flat: one loop over all cells");
    else if (nest->short_row)
        ar_text_printf(out, "strips of several rows of %" PRId64 " cells", nest->short_row);
    else
        ar_text_add(out, lambda->rank ? "strips along the last axis" : "one cell");
    for (int k = 0; k < lambda->ninputs; k++)
        for (int axis = 0; axis < lambda->inputs[k]->rank; axis++)
            if (nest->whole[k] >> axis & 1)
                ar_text_printf(out, "; input %d has all of axis %d", k, axis);
}
