/* c_expr.c -- scalar expressions as C statements.
 *
 * Every expression that is not a leaf becomes a constant `vN`, N its id, in the block where it is
 * first needed.  A block is the body of a reduction or a branch of where(): what was computed
 * inside is forgotten when it ends, and inside a reduction what depends on its variable is computed
 * anew. */
#include "gen/c_expr.h"

#include <math.h>
#include <string.h>

enum { MAX_STATEMENTS = 20000, MAX_NESTING = 60 };

typedef struct {
    ar_text    *out;
    ar_op_set  *used;
    arras_array lambda;
    int         nresults; /* operand nresults + k is input k */
    bool        flat;     /* every load is at the cell number i */
    bool       *done;     /* by id: vN stands in a block around here */
    int8_t     *may_fail; /* by id: 1 yes, -1 no, 0 not known yet */
    arras_expr *order;    /* those done, in order */
    size_t      ndone, room;
    const char *variables[MAX_NESTING]; /* of the reductions around, outermost first: k0, k1, ... */
    int         nesting;
    int64_t     statements;
    bool        failed; /* no memory, or too long */
} writer;

static void put_value(writer *w, arras_expr e);

/* ---- Names and numbers ---------------------------------------------------------------------- */

/* In hexadecimal and as a whole number times a power of two: exact, and without a decimal point,
 * which a locale might change. */
static void print_finite(ar_text *out, double x)
{
    int    exponent;
    double whole = ldexp(frexp(fabs(x), &exponent), 53);

    ar_text_printf(out, "%s0x%" PRIx64 "p%d", signbit(x) ? "-" : "", (uint64_t)whole,
                   exponent - 53);
}

static void print_real(ar_text *out, double x)
{
    if (x != x)
        ar_text_add(out, "__builtin_nan(\"\")");
    else if (isinf(x))
        ar_text_add(out, x < 0 ? "-__builtin_inf()" : "__builtin_inf()");
    else
        print_finite(out, x);
}

static void print_literal(ar_text *out, arras_expr e)
{
    double parts[2];

    memcpy(parts, e->ints, sizeof parts);
    if (e->type.dtype == ARRAS_I64) {
        if (e->ints[0] == INT64_MIN)
            ar_text_add(out, "(-(int64_t)9223372036854775807ll - 1)");
        else
            ar_text_printf(out, "(int64_t)%" PRId64 "ll", e->ints[0]);
    } else if (e->type.dtype == ARRAS_F64) {
        print_real(out, parts[0]);
    } else {
        ar_text_add(out, "__builtin_complex((double)");
        print_real(out, parts[0]);
        ar_text_add(out, ", (double)");
        print_real(out, parts[1]);
        ar_text_add(out, ")");
    }
}

static int variable_number(const writer *w, const char *name)
{
    int k = w->nesting - 1;

    while (k > 0 && strcmp(w->variables[k], name) != 0)
        k--;
    return k;
}

static void print_name(writer *w, arras_expr e)
{
    switch (e->kind) {
    case AR_EXPR_INDEX: ar_text_printf(w->out, "i%d", (int)e->ints[0]); break;
    case AR_EXPR_VAR: ar_text_printf(w->out, "k%d", variable_number(w, e->name)); break;
    case AR_EXPR_LITERAL: print_literal(w->out, e); break;
    default: ar_text_printf(w->out, "v%" PRId64, e->id);
    }
}

/* The value of e, which was put before, in another type. */
static void print_cast(writer *w, arras_expr e, arras_dtype to)
{
    arras_dtype from = e->type.dtype;

    if (from == to) {
        print_name(w, e);
        return;
    }
    w->used->casts[from][to] = true;
    ar_text_printf(w->out, "cast_%s_%s(", ar_dtype_name(from), ar_dtype_name(to));
    print_name(w, e);
    ar_text_add(w->out, ")");
}

/* ---- What may fail: it must not be computed where it is not asked for -------------------------
 */

static bool load_may_fail(const writer *w, arras_expr load)
{
    for (int axis = 0; axis < load->rank; axis++)
        if (load->ints[1 + axis] != ARRAS_EDGE_CONSTANT &&
            (load->ints[1 + axis] != ARRAS_EDGE_NONE || !ar_load_is_inside(w->lambda, load, axis)))
            return true;
    return false;
}

/* Depth is limited by AR_MAX_DEPTH. */
static bool may_fail(writer *w, arras_expr e)
{
    bool fails = e->kind == AR_EXPR_LOAD && load_may_fail(w, e);

    if (w->may_fail[e->id])
        return w->may_fail[e->id] > 0;
    if (e->kind == AR_EXPR_REDUCE && ar_reduction_identity((ar_reduction)e->ints[0]) < 0)
        fails = true;
    for (int i = 0; i < e->nargs && !fails; i++)
        fails = may_fail(w, e->args[i]);
    w->may_fail[e->id] = fails ? 1 : -1;
    return fails;
}

/* ---- Blocks --------------------------------------------------------------------------------- */

static void mark_done(writer *w, arras_expr e)
{
    if (!ar_grow(&w->order, &w->room, w->ndone, sizeof *w->order) ||
        ++w->statements > MAX_STATEMENTS) {
        w->failed = true;
        return;
    }
    w->order[w->ndone++] = e;
    w->done[e->id] = true;
}

static void forget_since(writer *w, size_t mark)
{
    while (w->ndone > mark)
        w->done[w->order[--w->ndone]->id] = false;
}

static bool depends_on(arras_expr e, const char *variable)
{
    for (int i = 0; i < e->nfree; i++)
        if (strcmp(e->free[i], variable) == 0)
            return true;
    return false;
}

/* Inside a reduction its variable hides one of the same name outside.  Gives a list of what was
 * hidden, for reveal(). */
static bool *hide_dependent(writer *w, const char *variable)
{
    bool *hidden = ar_alloc(w->ndone, sizeof *hidden);

    w->failed = w->failed || !hidden;
    for (size_t i = 0; hidden && i < w->ndone; i++) {
        hidden[i] = w->done[w->order[i]->id] && depends_on(w->order[i], variable);
        if (hidden[i])
            w->done[w->order[i]->id] = false;
    }
    return hidden;
}

static void reveal(writer *w, bool *hidden)
{
    for (size_t i = 0; hidden && i < w->ndone; i++)
        if (hidden[i])
            w->done[w->order[i]->id] = true;
    ar_free(hidden);
}

/* ---- Operations ----------------------------------------------------------------------------- */

static void start(writer *w, arras_expr e)
{
    ar_text_printf(w->out, "const %s v%" PRId64 " = ", ar_c_type(e->type.dtype), e->id);
}

static ar_signature signature_of(arras_expr e)
{
    ar_type      types[AR_MAX_ARITY];
    ar_signature s = { .compute = ARRAS_NO_DTYPE };

    for (int i = 0; i < e->nargs; i++)
        types[i] = e->args[i]->type;
    ar_op_signature(&s, (ar_op)e->ints[0], types);
    return s;
}

static void put_branch(writer *w, arras_expr e, arras_expr branch, arras_dtype dtype)
{
    size_t mark = w->ndone;

    ar_text_add(w->out, "{\n");
    put_value(w, branch);
    ar_text_printf(w->out, "v%" PRId64 " = ", e->id);
    print_cast(w, branch, dtype);
    ar_text_add(w->out, ";\n}\n");
    forget_since(w, mark);
}

/* Only the branch that is taken may be computed when the other may fail. */
static void put_guarded(writer *w, arras_expr e, const ar_signature *s)
{
    put_value(w, e->args[0]);
    ar_text_printf(w->out, "%s v%" PRId64 ";\nif (", ar_c_type(e->type.dtype), e->id);
    print_cast(w, e->args[0], ARRAS_BOOL);
    ar_text_add(w->out, ") ");
    put_branch(w, e, e->args[1], s->compute);
    ar_text_add(w->out, "else ");
    put_branch(w, e, e->args[2], s->compute);
}

static void put_op(writer *w, arras_expr e)
{
    ar_signature s = signature_of(e);
    ar_op        op = (ar_op)e->ints[0];

    if (op == AR_OP_where && (may_fail(w, e->args[1]) || may_fail(w, e->args[2]))) {
        put_guarded(w, e, &s);
        return;
    }
    for (int i = 0; i < e->nargs; i++)
        put_value(w, e->args[i]);
    w->used->ops[op][s.compute] = true;
    start(w, e);
    ar_text_printf(w->out, "op_%s_%s(", ar_op_name(op), ar_dtype_name(s.compute));
    for (int i = 0; i < e->nargs; i++) {
        ar_text_add(w->out, i ? ", " : "");
        print_cast(w, e->args[i], s.operand[i]);
    }
    ar_text_add(w->out, ");\n");
}

static void put_cast(writer *w, arras_expr e)
{
    put_value(w, e->args[0]);
    start(w, e);
    print_cast(w, e->args[0], e->type.dtype);
    ar_text_add(w->out, ";\n");
}

static void put_size(writer *w, arras_expr e)
{
    const ar_affine *affine = ar_dim_affine(e->graph, e->ints[0]);

    start(w, e);
    ar_text_printf(w->out, "%" PRId64 "ll", affine->constant);
    for (int i = 0; i < affine->nterms; i++)
        ar_text_printf(w->out, " + %" PRId64 "ll * a->sizes[%d]", affine->terms[i].factor,
                       affine->terms[i].size);
    ar_text_add(w->out, ";\n");
}

/* ---- Loads ---------------------------------------------------------------------------------- */

static const char *const edge_macros[] = {
    [ARRAS_EDGE_NONE] = "EDGE_NONE",       [ARRAS_EDGE_CONSTANT] = NULL,
    [ARRAS_EDGE_NEAREST] = "EDGE_NEAREST", [ARRAS_EDGE_REFLECT] = "EDGE_REFLECT",
    [ARRAS_EDGE_MIRROR] = "EDGE_MIRROR",   [ARRAS_EDGE_WRAP] = "EDGE_WRAP",
};

/* An index that may be above INT64_MAX is outside in any case, but some rules ask how far. */
static bool index_is_plain(arras_expr load, int axis)
{
    return load->args[axis]->type.dtype != ARRAS_U64 || load->ints[1 + axis] == ARRAS_EDGE_NONE ||
           load->ints[1 + axis] == ARRAS_EDGE_CONSTANT;
}

/* Brings jN_axis inside the axis; outside a constant edge fN becomes the number of its fill. */
static void put_index(writer *w, arras_expr e, int axis, int *fill)
{
    int             operand = w->nresults + (int)e->ints[0];
    arras_edge_rule rule = (arras_edge_rule)e->ints[1 + axis];

    ar_text_printf(w->out, "int64_t j%d = ", axis);
    print_cast(w, e->args[axis], ARRAS_I64);
    ar_text_add(w->out, ";\n");
    if (rule == ARRAS_EDGE_CONSTANT)
        ar_text_printf(w->out, "if ((uint64_t)j%d >= (uint64_t)n%d_%d) fill = %d, j%d = 0;\n", axis,
                       operand, axis, ++*fill, axis);
    else if (rule != ARRAS_EDGE_NONE || !ar_load_is_inside(w->lambda, e, axis))
        ar_text_printf(w->out, "%s(j%d, n%d_%d)\n", edge_macros[rule], axis, operand, axis);
}

static void print_cell_read(writer *w, arras_expr e)
{
    int operand = w->nresults + (int)e->ints[0];

    ar_text_printf(w->out, "*(const %s *)(d%d", ar_c_type(e->type.dtype), operand);
    if (w->flat && e->rank > 0)
        ar_text_printf(w->out, " + i * %d", (int)ar_dtype_size(e->type.dtype));
    for (int axis = 0; axis < e->rank && !w->flat; axis++)
        ar_text_printf(w->out, " + j%d * s%d_%d", axis, operand, axis);
    ar_text_add(w->out, e->type.dtype == ARRAS_BOOL ? ") != 0" : ")");
}

static void put_load(writer *w, arras_expr e)
{
    int fills = 0;

    for (int i = 0; i < e->nargs; i++)
        put_value(w, e->args[i]);
    for (int axis = 0; axis < e->rank; axis++)
        w->failed = w->failed || !index_is_plain(e, axis);
    ar_text_printf(w->out, "%s v%" PRId64 ";\n{\n", ar_c_type(e->type.dtype), e->id);
    if (e->nargs > e->rank)
        ar_text_add(w->out, "int fill = 0;\n");
    for (int axis = 0; axis < e->rank && !w->flat; axis++)
        put_index(w, e, axis, &fills);
    ar_text_printf(w->out, "v%" PRId64 " = ", e->id);
    for (int fill = 1; fill <= fills; fill++) {
        ar_text_printf(w->out, "fill == %d ? ", fill);
        print_cast(w, e->args[e->rank + fill - 1], e->type.dtype);
        ar_text_add(w->out, " : ");
    }
    print_cell_read(w, e);
    ar_text_add(w->out, ";\n}\n");
}

/* ---- Reductions ----------------------------------------------------------------------------- */

typedef struct {
    ar_reduction reduction;
    ar_signature s;
    const char  *type; /* that cells are combined in */
    int          identity;
    bool         place; /* argmin, argmax */
    bool         tree;  /* floating sums and products: in the order of the reference evaluator */
} fold;

static fold fold_of(arras_expr e)
{
    fold f = { .reduction = (ar_reduction)e->ints[0] };

    ar_reduction_signature(&f.s, f.reduction, e->args[2]->type);
    f.type = ar_c_type(f.s.compute);
    f.identity = ar_reduction_identity(f.reduction);
    f.place = f.reduction == AR_REDUCE_argmin || f.reduction == AR_REDUCE_argmax;
    f.tree = ar_dtype_class(f.s.compute) >= AR_CLASS_REAL &&
             (f.reduction == AR_REDUCE_sum || f.reduction == AR_REDUCE_prod);
    return f;
}

static void use_op(writer *w, ar_op op, arras_dtype dtype)
{
    w->used->ops[op][dtype] = true;
    ar_text_printf(w->out, "op_%s_%s", ar_op_name(op), ar_dtype_name(dtype));
}

/* `x` is the next cell, `count` how many came before. */
static void put_step(writer *w, const fold *f)
{
    if (f->place) {
        ar_text_add(w->out, "if (count == 0 || (!");
        use_op(w, AR_OP_isnan, f->s.compute);
        ar_text_add(w->out, "(best) && (");
        use_op(w, f->reduction == AR_REDUCE_argmin ? AR_OP_less : AR_OP_greater, f->s.compute);
        ar_text_add(w->out, "(x, best) || ");
        use_op(w, AR_OP_isnan, f->s.compute);
        ar_text_printf(w->out, "(x)))) best = x, place = k%d;\n", w->nesting - 1);
    } else if (f->tree) {
        ar_text_add(w->out, "int b = 0;\nfor (; count >> b & 1; b++) x = ");
        use_op(w, ar_reduction_op(f->reduction), f->s.compute);
        ar_text_add(w->out, "(part[b], x);\npart[b] = x;\n");
    } else {
        ar_text_add(w->out, "best = count == 0 ? x : ");
        use_op(w, ar_reduction_op(f->reduction), f->s.compute);
        ar_text_add(w->out, "(best, x);\n");
    }
    ar_text_add(w->out, "count++;\n");
}

static void put_end(writer *w, arras_expr e, const fold *f)
{
    if (f->identity < 0)
        ar_text_add(w->out, "if (count == 0) return 1;\n");
    if (f->tree) { /* the later, smaller parts first */
        ar_text_add(w->out, "int started = 0;\nfor (int b = 0; b < 64; b++) if (count >> b & 1) {\n"
                            "best = started ? ");
        use_op(w, ar_reduction_op(f->reduction), f->s.compute);
        ar_text_add(w->out, "(part[b], best) : part[b];\nstarted = 1;\n}\n");
    }
    ar_text_printf(w->out, "v%" PRId64 " = ", e->id);
    if (f->place)
        ar_text_add(w->out, "place;\n");
    else if (f->identity >= 0)
        ar_text_printf(w->out, "count == 0 ? (%s)%d : best;\n", f->type, f->identity);
    else
        ar_text_add(w->out, "best;\n");
}

/* The cells: x is the body cast twice, as the rules of reductions.def say. */
static void put_cells(writer *w, arras_expr e, const fold *f)
{
    arras_dtype first = f->s.operand[0], compute = f->s.compute;
    size_t      mark = w->ndone;
    int         k = w->nesting++;
    bool       *hidden = hide_dependent(w, e->name);

    w->variables[k] = e->name;
    ar_text_printf(w->out, "for (int64_t k%d = low; k%d < high; k%d++) {\n", k, k, k);
    put_value(w, e->args[2]);
    ar_text_printf(w->out, "%s x = ", f->type);
    if (first != compute) {
        w->used->casts[first][compute] = true;
        ar_text_printf(w->out, "cast_%s_%s(", ar_dtype_name(first), ar_dtype_name(compute));
    }
    print_cast(w, e->args[2], first);
    ar_text_add(w->out, first != compute ? ");\n" : ";\n");
    put_step(w, f);
    ar_text_add(w->out, "}\n");
    forget_since(w, mark);
    reveal(w, hidden);
    w->nesting--;
}

static void put_reduce(writer *w, arras_expr e)
{
    fold f = fold_of(e);

    if (w->nesting == MAX_NESTING || e->args[0]->type.dtype == ARRAS_U64 ||
        e->args[1]->type.dtype == ARRAS_U64) {
        w->failed = true;
        return;
    }
    put_value(w, e->args[0]);
    put_value(w, e->args[1]);
    ar_text_printf(w->out, "%s v%" PRId64 ";\n{\nconst int64_t low = ", ar_c_type(e->type.dtype),
                   e->id);
    print_cast(w, e->args[0], ARRAS_I64);
    ar_text_add(w->out, ", high = ");
    print_cast(w, e->args[1], ARRAS_I64);
    ar_text_printf(w->out, ";\nuint64_t count = 0;\n%s best = 0;\n", f.type);
    if (f.place)
        ar_text_add(w->out, "int64_t place = 0;\n");
    if (f.tree)
        ar_text_printf(w->out, "%s part[64];\n", f.type);
    put_cells(w, e, &f);
    put_end(w, e, &f);
    ar_text_add(w->out, "}\n");
}

/* ---- All kinds ------------------------------------------------------------------------------ */

static bool is_leaf(arras_expr e)
{
    return e->kind == AR_EXPR_INDEX || e->kind == AR_EXPR_VAR || e->kind == AR_EXPR_LITERAL;
}

/* Depth is limited by AR_MAX_DEPTH. */
static void put_value(writer *w, arras_expr e)
{
    if (w->failed || is_leaf(e) || w->done[e->id])
        return;
    switch (e->kind) {
    case AR_EXPR_OP: put_op(w, e); break;
    case AR_EXPR_CAST: put_cast(w, e); break;
    case AR_EXPR_SIZE: put_size(w, e); break;
    case AR_EXPR_LOAD: put_load(w, e); break;
    case AR_EXPR_REDUCE: put_reduce(w, e); break;
    default: w->failed = true;
    }
    mark_done(w, e);
}

static void put_store(writer *w, int result, arras_expr cell)
{
    arras_dtype dtype = w->lambda->type.dtype;

    ar_text_printf(w->out, "*(%s *)(d%d", ar_c_type(dtype), result);
    if (w->flat)
        ar_text_printf(w->out, " + i * %d", (int)ar_dtype_size(dtype));
    for (int axis = 0; axis < w->lambda->rank && !w->flat; axis++)
        ar_text_printf(w->out, " + i%d * s%d_%d", axis, result, axis);
    ar_text_add(w->out, ") = ");
    print_cast(w, cell, dtype);
    ar_text_add(w->out, ";\n");
}

static void put_cell(writer *w, const ar_kernel_form *form)
{
    for (int r = 0; r < form->n; r++) {
        w->lambda = form->lambdas[r];
        put_value(w, w->lambda->ref);
        put_store(w, r, w->lambda->ref);
    }
}

static int64_t largest_id(const ar_kernel_form *form)
{
    int64_t largest = 0;

    for (int r = 0; r < form->n; r++)
        largest = ar_max64(largest, ((arras_expr)form->lambdas[r]->ref)->id);
    return largest;
}

arras_status ar_c_cell_print(ar_text *out, ar_op_set *used, const ar_kernel_form *form,
                             arras_error *err)
{
    int64_t largest = largest_id(form);
    writer  w = {
         .out = out, .used = used, .nresults = form->n, .flat = ar_kernel_is_flat(form)
    };

    w.done = ar_alloc((size_t)largest + 1, sizeof *w.done);
    w.may_fail = ar_alloc((size_t)largest + 1, sizeof *w.may_fail);
    if (w.done && w.may_fail)
        put_cell(&w, form);
    else
        w.failed = true;
    ar_free(w.done);
    ar_free(w.may_fail);
    ar_free(w.order);
    if (out->failed)
        return ar_fail_memory(err, out->capacity);
    return w.failed
               ? ar_fail(err, ARRAS_ELIMIT, "a kernel would be too long, or counts beyond 2**63")
               : ARRAS_OK;
}
