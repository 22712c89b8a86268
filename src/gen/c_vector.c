/* c_vector.c -- the body of a reduction as whole vectors, so that accumulators stay in registers.
 *
 * For bodies that need nothing but + - * / and the like in one real type, of cells that lie side by
 * side.  While w->vector is set, names stand for vectors: vN[l] is the value in the cell l places
 * after that of the strip's variable. */
#include "gen/c_writer.h"

/* Each is written out several times in a loop. */
enum { MOST_OPERATIONS = 16 };

const char *ar_c_vector_type(arras_dtype dtype)
{
    return dtype == ARRAS_F32 ? "f32x8" : dtype == ARRAS_F64 ? "f64x4" : NULL;
}

int ar_c_vector_cells(arras_dtype dtype) { return 32 / (int)ar_dtype_size(dtype); }

static const char *integers_like(arras_dtype dtype)
{
    return dtype == ARRAS_F32 ? "i32x8" : "i64x4";
}

static const char *infix(ar_op op)
{
    switch (op) {
    case AR_OP_add: return "+";
    case AR_OP_subtract: return "-";
    case AR_OP_multiply: return "*";
    case AR_OP_divide: return "/";
    default: return NULL;
    }
}

static bool is_extreme(ar_op op) { return op == AR_OP_minimum || op == AR_OP_maximum; }

static const ar_c_read *read_of(const ar_c_strip *strip, arras_expr load)
{
    for (size_t i = 0; i < strip->nreads; i++)
        if (strip->reads[i]->load == load)
            return strip->reads[i];
    return NULL;
}

static bool is_row(const ar_c_strip *strip, arras_expr load)
{
    const ar_c_read *read = read_of(strip, load);

    return read && read->unit && read->along == 1 && !read->fills && !read->any;
}

typedef struct {
    const ar_writer  *w;
    const ar_c_strip *strip;
    arras_dtype       dtype;
    const char       *variable;
} query;

/* Depth is limited by AR_MAX_DEPTH, and the number of visits by MOST_OPERATIONS. */
static bool is_vector(const query *q, arras_expr e, int *left)
{
    bool  good = e->type.dtype == q->dtype && !e->type.weak;
    ar_op op = e->kind == AR_EXPR_OP ? (ar_op)e->ints[0] : AR_OP_END;

    if (!ar_c_varies(q->strip, e))
        return good && (ar_c_is_leaf(e) || q->w->facts[e->id].state.place == AR_C_VALUE) &&
               !(q->variable && ar_expr_depends(e, q->variable));
    if (!good || --*left < 0)
        return false;
    if (q->w->facts[e->id].state.place == AR_C_BUFFER)
        return true;
    if (e->kind == AR_EXPR_LOAD)
        return is_row(q->strip, e);
    if (!(infix(op) || is_extreme(op)) || ar_c_signature(e).compute != q->dtype)
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (!is_vector(q, e->args[i], left) ||
            (is_extreme(op) && !ar_c_varies(q->strip, e->args[i])))
            return false;
    return true;
}

bool ar_c_is_vector(const ar_writer *w, const ar_c_strip *strip, arras_expr root,
                    const ar_c_fold *f, const char *variable)
{
    const query q = { w, strip, f->s.compute, variable };
    int         left = MOST_OPERATIONS;

    return ar_c_vector_type(q.dtype) && f->s.operand[0] == q.dtype && !f->place &&
           (infix(f->op) || is_extreme(f->op)) && !strip->cut && strip->nstaged == 0 &&
           !w->failed && ar_c_varies(strip, root) && is_vector(&q, root, &left);
}

void ar_c_put_vector_op(ar_writer *w, arras_expr e)
{
    ar_op op = (ar_op)e->ints[0];

    if (is_extreme(op))
        ar_text_printf(w->out, "V_%s(%s, %s, ", ar_op_name(op), w->vector,
                       integers_like(e->type.dtype));
    ar_c_name(w, e->args[0]);
    ar_text_printf(w->out, is_extreme(op) ? ", " : " %s ", infix(op));
    ar_c_name(w, e->args[1]);
    ar_text_add(w->out, is_extreme(op) ? ");\n" : ";\n");
}

void ar_c_vector_open(ar_writer *w, const ar_c_strip *strip, const ar_c_fold *f, const char *at,
                      int row)
{
    w->vector = ar_c_vector_type(f->s.compute);
    w->vector_row = row;
    w->vector_mark = w->nchanges;
    ar_text_printf(w->out, "{\nconst int64_t %s = %s;\n", strip->name, at);
    ar_c_strip_set_inside(w, strip);
}

void ar_c_vector_accumulate(ar_writer *w, const ar_c_fold *f, arras_expr root, int number)
{
    arras_dtype dtype = f->s.compute;

    w->used->ops[f->op][dtype] = true;
    ar_c_put(w, root);
    ar_text_printf(w->out, "a%d = V_%s(%s, %s, a%d, v%" PRId64 ");\n", number, ar_op_name(f->op),
                   w->vector, integers_like(dtype), number, root->id);
}

void ar_c_vector_close(ar_writer *w)
{
    ar_text_add(w->out, "}\n");
    ar_c_forget(w, w->vector_mark);
    w->vector = NULL;
}

bool ar_c_turn_step(ar_writer *w, ar_text *out, const ar_c_read *read, int turns)
{
    ar_c_strip  along;
    ar_c_affine form;
    arras_expr  e = read->load;
    bool        moves = false;

    ar_c_strip_variable(&along, &w->variables[w->nesting - 1]);
    for (int axis = 0; axis < e->rank; axis++)
        if (ar_c_varies(&along, e->args[axis]) && ar_c_affine_read(&form, &along, e->args[axis])) {
            ar_text_printf(out, "%s%" PRId64 "ll * s%d_%d", moves ? " + " : "", turns * form.along,
                           ar_c_operand(w, e), axis);
            moves = true;
        }
    return moves;
}
