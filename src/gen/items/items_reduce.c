/* items_reduce.c -- a reduction by one item: a loop over its range, cells combined in the order
 * that ir/trees.h states. */
#include "gen/items/items.h"

/* How cells are combined. */
typedef enum {
    IN_TURN,  /* one after the other */
    BY_FMA,   /* products, one after the other */
    PLACES,   /* the best so far, and where it was */
    PARTIALS, /* each is a whole block already */
    TREE
} manner;

typedef struct {
    ar_w_fold   fold;
    arras_expr  e;
    int         number;
    manner      manner;
    bool        may_be_few; /* a tree, unless the cells turn out to be few */
    bool        may_fail;
    const char *op, *type, *dtype;
} reduction;

/* The order of integers and truths does not matter. */
static bool is_exact(arras_dtype dtype) { return ar_dtype_class(dtype) < AR_CLASS_REAL; }

static manner manner_of(const ar_w_fold *f, arras_expr e)
{
    int64_t length = ar_w_fold_length(e);

    if (f->place)
        return PLACES;
    if (f->tree == AR_TREE_FUSED)
        return BY_FMA;
    if (is_exact(f->s.compute))
        return IN_TURN;
    if (f->tree == AR_TREE_PARTIALS)
        return PARTIALS;
    return f->tree == AR_TREE_WHOLE && length > 0 && length <= AR_FOLD_SERIAL ? IN_TURN : TREE;
}

static reduction reduction_of(ar_writer *w, arras_expr e)
{
    ar_w_fold fold = ar_w_fold_of(w->dialect, e);
    reduction r = { .fold = fold, .e = e, .number = ar_w_number(w), .may_fail = false };

    r.manner = manner_of(&fold, e);
    r.may_be_few = r.manner == TREE && ar_w_fold_length(e) <= AR_FOLD_SERIAL;
    r.may_fail = ar_w_may_fail(w, e);
    r.op = ar_op_name(fold.op);
    r.type = fold.type;
    r.dtype = fold.dtype;
    return r;
}

/* ---- What there is so far -------------------------------------------------------------------- */

static void declare_state(ar_writer *w, const reduction *r)
{
    int s = r->number;

    ar_text_printf(w->out, "%s r%d = ", r->type, s);
    if (r->manner == BY_FMA)
        ar_w_fold_neutral(w, &r->fold);
    else
        ar_text_add(w->out, "{ 0 }");
    ar_text_add(w->out, ";\n");
    if (r->manner == PLACES)
        ar_text_printf(w->out, "int64_t place%d = 0;\n", s);
    if (r->manner == TREE)
        ar_text_printf(w->out, "%s l%d[%d];\n", r->type, s, AR_FOLD_LANES);
    if (r->manner == TREE || r->manner == PARTIALS)
        ar_text_printf(w->out, "%s p%d[%d];\n", r->type, s, AR_FOLD_DEPTH);
    if (r->may_be_few) {
        ar_text_printf(w->out, "const int few%d = ", s);
        ar_w_fold_few(w, &r->fold, s);
        ar_text_add(w->out, ";\n");
    }
}

/* rS = kS == lowS ? xS : op_add_f64(rS, xS); */
static void put_in_turn(ar_writer *w, const reduction *r)
{
    int s = r->number;

    ar_text_printf(w->out, "r%d = k%d == low%d ? x%d : ", s, s, s, s);
    ar_w_op(w, r->fold.op, r->fold.s.compute);
    ar_text_printf(w->out, "(r%d, x%d);\n", s, s);
}

static void put_into_tree(ar_writer *w, const reduction *r)
{
    int s = r->number;

    w->used->ops[r->fold.op][r->fold.s.compute] = true;
    w->used->folds[r->fold.op][r->fold.s.compute] = true;
    if (r->manner == PARTIALS) {
        ar_text_printf(w->out, "carry_%s_%s(p%d, (uint64_t)(k%d - low%d), x%d);\n", r->op, r->dtype,
                       s, s, s, s);
        return;
    }
    if (r->may_be_few) {
        ar_text_printf(w->out, "if (few%d)\n", s);
        put_in_turn(w, r);
        ar_text_add(w->out, "else\n");
    }
    ar_text_printf(w->out, "item_take_%s_%s(l%d, p%d, k%d - low%d, x%d);\n", r->op, r->dtype, s, s,
                   s, s, s);
}

/* The first nan is the best there is. */
static void put_place(ar_writer *w, const reduction *r)
{
    arras_dtype dtype = r->fold.s.compute;
    int         s = r->number;

    ar_text_printf(w->out, "if (k%d == low%d || ", s, s);
    if (!is_exact(dtype)) {
        ar_text_add(w->out, "!");
        ar_w_op(w, AR_OP_isnan, dtype);
        ar_text_printf(w->out, "(r%d) && (", s);
        ar_w_op(w, AR_OP_isnan, dtype);
        ar_text_printf(w->out, "(x%d) || ", s);
    }
    ar_w_op(w, r->fold.better, dtype);
    ar_text_printf(w->out, "(x%d, r%d)%s)\nr%d = x%d, place%d = k%d;\n", s, s,
                   is_exact(dtype) ? "" : ")", s, s, s, s);
}

static void put_cell(ar_writer *w, const reduction *r)
{
    arras_expr body = r->e->args[2];
    char       sum[24];

    if (r->manner == BY_FMA) {
        ar_snprintf(sum, sizeof sum, "r%d", r->number);
        ar_w_put_fused(w, body, sum);
        return;
    }
    ar_w_put(w, body);
    ar_text_printf(w->out, "const %s x%d = ", r->type, r->number);
    ar_w_cast_twice(w, body, r->fold.s.operand[0], r->fold.s.compute);
    ar_text_add(w->out, ";\n");
    if (r->manner == PLACES)
        put_place(w, r);
    else if (r->manner == IN_TURN)
        put_in_turn(w, r);
    else
        put_into_tree(w, r);
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* After a fault nothing counts: a range may be very long. */
static void put_loop(ar_writer *w, const reduction *r)
{
    size_t mark = w->nchanges;
    int    s = r->number;

    declare_state(w, r);
    if (!ar_w_enter(w, r->e, s))
        return;
    ar_text_printf(w->out, "for (int64_t k%d = low%d; k%d < high%d%s; k%d++) {\n", s, s, s, s,
                   r->may_fail ? " && !fault" : "", s);
    put_cell(w, r);
    ar_text_add(w->out, "}\n");
    ar_w_leave(w);
    ar_w_forget(w, mark);
}

static void put_result(ar_writer *w, const reduction *r)
{
    int s = r->number;

    ar_text_printf(w->out, "v%" PRId64 " = ", r->e->id);
    if (r->may_fail && (r->manner == TREE || r->manner == PARTIALS))
        ar_text_printf(w->out, "fault ? r%d : ", s);
    if (r->may_be_few)
        ar_text_printf(w->out, "few%d ? r%d : ", s, s);
    if (r->manner == TREE)
        ar_text_printf(w->out, "item_total_%s_%s(l%d, p%d, high%d - low%d);\n", r->op, r->dtype, s,
                       s, s, s);
    else if (r->manner == PARTIALS)
        ar_text_printf(w->out, "finish_%s_%s(p%d, (uint64_t)(high%d - low%d));\n", r->op, r->dtype,
                       s, s, s);
    else
        ar_text_printf(w->out, "%s%d;\n", r->manner == PLACES ? "place" : "r", s);
}

static void put_empty(ar_writer *w, const reduction *r)
{
    const char *type = ar_w_type(w, r->e->type.dtype);

    if (r->fold.identity < 0)
        ar_text_add(w->out, "fault = 1;\n");
    ar_text_printf(w->out, "v%" PRId64 " = (%s){ %d };\n", r->e->id, type,
                   r->fold.identity > 0 ? r->fold.identity : 0);
}

void ar_items_put_reduce(ar_writer *w, arras_expr e)
{
    reduction r = reduction_of(w, e);
    int       s = r.number;

    ar_w_put(w, e->args[0]);
    ar_w_put(w, e->args[1]);
    ar_text_printf(w->out, "%s v%" PRId64 ";\n{\n", ar_w_type(w, e->type.dtype), e->id);
    ar_w_put_bounds(w, e, s);
    if (!ar_w_fold_length(e)) {
        ar_text_printf(w->out, "if (low%d >= high%d) {\n", s, s);
        put_empty(w, &r);
        ar_text_add(w->out, "} else ");
    }
    ar_text_add(w->out, "{\n");
    put_loop(w, &r);
    put_result(w, &r);
    ar_text_add(w->out, "}\n}\n");
}
