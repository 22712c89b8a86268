/* words_fold.c -- what all reductions need, whatever loops they are computed by. */
#include "gen/words/words.h"

ar_w_fold ar_w_fold_of(const ar_dialect *dialect, arras_expr e)
{
    ar_w_fold f = { .reduction = (ar_reduction)e->ints[0] };

    ar_reduction_signature(&f.s, f.reduction, e->args[2]->type);
    f.type = ar_dialect_type(dialect, f.s.compute);
    f.dtype = ar_dtype_name(f.s.compute);
    f.op = ar_reduction_op(f.reduction);
    f.identity = ar_reduction_identity(f.reduction);
    f.place = f.reduction == AR_REDUCE_argmin || f.reduction == AR_REDUCE_argmax;
    f.better = f.reduction == AR_REDUCE_argmin ? AR_OP_less : AR_OP_greater;
    f.tree = ar_expr_tree(e);
    return f;
}

void ar_w_fold_few(ar_writer *w, const ar_w_fold *f, int number)
{
    if (f->tree == AR_TREE_PART) /* of more cells, unless it is the first */
        ar_text_printf(w->out, "low%d == 0 && ", number);
    ar_text_printf(w->out, "high%d - low%d <= %d", number, number, AR_FOLD_SERIAL);
}

void ar_w_fold_neutral(ar_writer *w, const ar_w_fold *f)
{
    arras_dtype dtype = f->s.compute;
    bool        is_real = ar_dtype_class(dtype) == AR_CLASS_REAL, is_min = f->op == AR_OP_minimum;

    if (f->op == AR_OP_add)
        ar_text_add(w->out, is_real ? "-0.0" : "0");
    else if (f->op == AR_OP_multiply || f->op == AR_OP_logical_and)
        ar_text_add(w->out, "1");
    else if (f->op == AR_OP_logical_or)
        ar_text_add(w->out, "0");
    else if (is_real)
        ar_text_printf(w->out, "%s%s", is_min ? "" : "-", w->dialect->infinity);
    else if (dtype == ARRAS_BOOL)
        ar_text_add(w->out, is_min ? "1" : "0");
    else
        ar_text_printf(w->out, "%s_OF(%s)", is_min ? "LARGEST" : "SMALLEST", ar_w_type(w, dtype));
}

int64_t ar_w_fold_length(arras_expr e)
{
    int64_t low, high, length;

    return ar_w_integer(&low, e->args[0]) && ar_w_integer(&high, e->args[1]) &&
                   ar_sub64(&length, high, low) && length > 0
               ? length
               : 0;
}

void ar_w_put_bounds(ar_writer *w, arras_expr e, int number)
{
    static const char *const names[] = { "low", "high" };

    for (int i = 0; i < 2; i++) {
        bool large = e->args[i]->type.dtype == ARRAS_U64;

        ar_text_printf(w->out, "const int64_t %s%d = %s", names[i], number,
                       large ? "far_edge_nearest(" : "");
        if (large)
            ar_w_name(w, e->args[i]);
        else
            ar_w_cast(w, e->args[i], ARRAS_I64);
        ar_text_add(w->out, large ? ", MOST);\n" : ";\n");
    }
    if (!ar_reduce_is_countable(e))
        ar_text_printf(w->out, "if (low%d < 0 && high%d >= 0 && low%d < high%d - MOST) %s;\n",
                       number, number, number, number,
                       w->shape->gives_up ? "return 1" : "fault = 1");
}

void ar_w_put_fused(ar_writer *w, arras_expr product, const char *sum)
{
    arras_dtype dtype = product->type.dtype;

    ar_w_put(w, product->args[0]);
    ar_w_put(w, product->args[1]);
    ar_text_printf(w->out, "%s = ", sum);
    ar_w_op(w, AR_OP_fma, dtype);
    for (int i = 0; i < 2; i++) {
        ar_text_add(w->out, i ? ", " : "(");
        ar_w_cast(w, product->args[i], dtype);
    }
    ar_text_printf(w->out, ", %s);\n", sum);
}
