/* read_node.c -- one node from text, made by the builder of its kind: what no builder takes is
 * reported, so that no text can make a bad graph. */
#include "notation/reader.h"

#include <string.h>

/* ---- Leaves ---------------------------------------------------------------------------------- */

static bool read_const(ar_reader *r, arras_array *out)
{
    ar_value value = { .bits = { 0, 0 } };
    ar_type  type;

    if (r->token.kind != AR_TOKEN_NAME || !ar_type_find(&type, r->token.start, r->token.length))
        return ar_fail_expected(r, "int, real, complex or a type like f64");
    ar_advance(r);
    if (!ar_read_number(r, type.dtype, &value))
        return false;
    *out = ar_const(r->g, type, value);
    return true;
}

static bool read_size(ar_reader *r, arras_array *out)
{
    arras_dim dim;

    if (!ar_expect(r, "(") || !ar_read_dim(r, &dim) || !ar_expect(r, ")"))
        return false;
    *out = ar_size_node(r->g, dim);
    return true;
}

/* ---- Data ------------------------------------------------------------------------------------ */

typedef struct {
    char   *bytes;
    size_t  room; /* in cells */
    int64_t count;
} cells;

/* Memory grows with the values that are there, not with those a shape claims. */
static bool read_cells(ar_reader *r, arras_dtype dtype, int64_t want, cells *c)
{
    size_t size = ar_dtype_size(dtype);

    while (!ar_token_is(&r->token, "}")) {
        if (c->count > 0 && !ar_expect(r, ","))
            return false;
        if (c->count == want)
            return ar_fail_at(r, &r->token, ARRAS_ESHAPE,
                              "there are more than the %" PRId64 " values of the shape", want);
        if (!ar_grow(&c->bytes, &c->room, (size_t)c->count, size))
            return ar_fail_no_memory(r);
        if (!ar_read_number(r, dtype, c->bytes + (size_t)c->count * size))
            return false;
        c->count++;
    }
    return c->count == want ||
           ar_fail_at(r, &r->token, ARRAS_ESHAPE,
                      "the shape needs %" PRId64 " values, there are %" PRId64, want, c->count);
}

static bool read_data(ar_reader *r, arras_array *out)
{
    ar_token  at = r->token;
    ar_type   type;
    int       rank;
    arras_dim shape[ARRAS_MAX_RANK];
    int64_t   want;
    cells     c = { 0 };
    bool      done;

    if (!ar_read_type(r, &type, &rank, shape) || !ar_expect(r, "{"))
        return false;
    want = ar_cells(rank, shape);
    if (type.weak || want < 0)
        return ar_fail_at(r, &at, type.weak ? ARRAS_EDTYPE : ARRAS_ESHAPE,
                          "data needs a type and a shape of numbers, like f64[3]");
    done = read_cells(r, type.dtype, want, &c) && ar_expect(r, "}");
    if (done)
        *out = ar_data(r->g, type.dtype, rank, shape, NULL, c.bytes, true);
    ar_free(c.bytes);
    return done;
}

/* ---- Elementwise and reductions -------------------------------------------------------------- */

static bool read_map(ar_reader *r, const ar_token *at, ar_op op, arras_array *out)
{
    if (!ar_read_list(r) || !ar_expect(r, ")") || !ar_check_operands(r, at, ar_op_arity(op)))
        return false;
    *out = ar_map(op, ar_operand_count(r), r->operands.items);
    return true;
}

static bool read_cast(ar_reader *r, arras_array *out)
{
    arras_array x;
    arras_dtype dtype;

    if (!ar_read_first(r, &x) || !ar_expect(r, ",") || !ar_read_dtype(r, &dtype) ||
        !ar_expect(r, ")"))
        return false;
    *out = ar_cast(x, dtype);
    return true;
}

/* sum(x, axes=[0], keepdims, initial=%1), all but x optional */
static bool read_reduce(ar_reader *r, ar_reduction reduction, arras_array *out)
{
    const char *what = ar_reduction_name(reduction);
    arras_array x, initial = NULL;
    uint32_t    mask;
    bool        keepdims = false, more;

    if (!ar_read_first(r, &x))
        return false;
    ar_axes_mask(&mask, what, 0, NULL, x->rank, NULL); /* all of them */
    more = ar_accept(r, ",");
    if (more && ar_token_is(&r->token, "axes")) {
        if (!ar_expect_option(r, "axes") || !ar_read_axes_mask(r, what, x->rank, &mask))
            return false;
        more = ar_accept(r, ",");
    }
    if (more && ar_accept(r, "keepdims")) {
        keepdims = true;
        more = ar_accept(r, ",");
    }
    if (more && !(ar_expect_option(r, "initial") && ar_read_operand(r, &initial)))
        return false;
    if (!ar_expect(r, ")"))
        return false;
    *out = ar_reduce(reduction, x, mask, keepdims, initial);
    return true;
}

/* ---- Types at the end of a node -------------------------------------------------------------- */

static bool read_annotation(ar_reader *r)
{
    ar_annotation *a = &r->annotation;

    if (!ar_expect(r, ":"))
        return false;
    a->at = r->token;
    a->given = true;
    return ar_read_type(r, &a->type, &a->rank, a->shape);
}

static bool fits_annotation(const ar_annotation *a, arras_array x)
{
    return a->type.dtype == x->type.dtype && a->type.weak == x->type.weak && a->rank == x->rank &&
           (a->rank == 0 || memcmp(a->shape, x->shape, (size_t)a->rank * sizeof *a->shape) == 0);
}

static bool fail_annotation(ar_reader *r, arras_array x)
{
    const ar_annotation *a = &r->annotation;
    ar_text              is = { 0 }, said = { 0 };

    ar_node_type_print(&is, x);
    ar_text_add(&said, ar_type_word(a->type));
    if (!a->type.weak || a->rank > 0)
        ar_shape_print(&said, r->g, a->rank, a->shape);
    if (is.failed || said.failed)
        ar_fail_no_memory(r);
    else
        ar_fail_at(r, &a->at, ARRAS_ETEXT, "the type is given as %s, but it is %s", said.data,
                   is.data);
    ar_text_free(&is);
    ar_text_free(&said);
    return false;
}

/* ---- Lambdas and products -------------------------------------------------------------------- */

static bool read_lambda(ar_reader *r, arras_array *out)
{
    arras_expr cell;

    if (!ar_read_list(r) || !ar_expect(r, ")") || !ar_read_cell(r, &cell))
        return false;
    if (!ar_token_is(&r->token, ":"))
        return ar_fail_expected(r, "':' and the type of the lambda, which says its shape");
    if (!read_annotation(r))
        return false;
    *out = ar_lambda_bound(r->g, r->annotation.rank, r->annotation.shape, cell, ar_operand_count(r),
                           r->operands.items);
    return true;
}

static bool read_einsum(ar_reader *r, arras_array *out)
{
    ar_token    inside;
    const char *spec;

    if (!ar_expect(r, "("))
        return false;
    if (r->token.kind != AR_TOKEN_STRING)
        return ar_fail_expected(r, "a string like \"ij,jk->ik\"");
    inside = r->token;
    inside.start++;
    inside.length -= 2;
    if (!(spec = ar_keep_token(r, &inside)))
        return false;
    ar_advance(r);
    r->operands.count = 0;
    if ((ar_accept(r, ",") && !ar_read_operands(r)) || !ar_expect(r, ")"))
        return false;
    *out = ar_einsum(spec, ar_operand_count(r), r->operands.items);
    return true;
}

static bool read_csr(ar_reader *r, const ar_token *at, arras_array *out)
{
    const arras_array *xs;

    if (!ar_read_list(r) || !ar_expect(r, ")") || !ar_check_operands(r, at, 4))
        return false;
    xs = r->operands.items;
    *out = ar_csr(xs[0], xs[1], xs[2], xs[3]);
    return true;
}

/* ---- Functions ------------------------------------------------------------------------------- */

static bool fail_unknown_function(ar_reader *r, const ar_token *at, const char *name)
{
    ar_guess guess = ar_guess_start(name);

    for (int i = 0; i < ar_graph_function_count(r->g); i++)
        ar_guess_try(&guess, ar_graph_function(r->g, i)->name);
    return ar_fail_at(r, at, ARRAS_ENAME, "there is no function '%s'%s%s%s", name,
                      guess.best ? "; did you mean '" : " above", guess.best ? guess.best : "",
                      guess.best ? "'?" : "");
}

static bool read_call(ar_reader *r, arras_array *out)
{
    ar_token       at = r->token;
    const char    *name;
    arras_function f;

    if (!ar_read_name(r, &name, "the name of a function"))
        return false;
    if (!(f = ar_function_find(r->g, name)))
        return fail_unknown_function(r, &at, name);
    if (!ar_read_list(r) || !ar_expect(r, ")"))
        return false;
    *out = ar_call(f, ar_operand_count(r), r->operands.items);
    return true;
}

static bool read_result(ar_reader *r, arras_array *out)
{
    ar_token       at;
    arras_array    call;
    arras_function f;
    const char    *name;

    if (!ar_expect(r, "("))
        return false;
    at = r->token;
    if (!ar_read_operand(r, &call))
        return false;
    if (call->kind != AR_CALL)
        return ar_fail_at(r, &at, ARRAS_EINVAL, "result takes a call");
    if (!ar_expect(r, ","))
        return false;
    at = r->token;
    if (!ar_read_name(r, &name, "the name of a result") || !ar_expect(r, ")"))
        return false;
    f = call->ref;
    for (int i = 0; i < f->nresults; i++)
        if (strcmp(f->result_names[i], name) == 0) {
            *out = ar_call_result(call, i);
            return true;
        }
    return ar_fail_at(r, &at, ARRAS_ENAME, "function '%s' has no result '%s'", f->name, name);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static ar_kind find_kind(const ar_token *t)
{
    for (int kind = 0; kind < AR_KIND_END; kind++)
        if (ar_token_is(t, ar_kind_word((ar_kind)kind)))
            return (ar_kind)kind;
    return AR_KIND_END;
}

static bool fail_unknown_word(ar_reader *r, const ar_token *at)
{
    const char *name = ar_keep_token(r, at);
    ar_guess    guess;

    if (!name)
        return false;
    guess = ar_guess_start(name);
    for (int kind = AR_DATA; kind < AR_KIND_END; kind++)
        if (kind != AR_MAP && kind != AR_REDUCE)
            ar_guess_try(&guess, ar_kind_word((ar_kind)kind));
    for (int op = 0; op < AR_OP_END; op++)
        ar_guess_try(&guess, ar_op_name((ar_op)op));
    for (int i = 0; i < AR_REDUCTION_END; i++)
        ar_guess_try(&guess, ar_reduction_name((ar_reduction)i));
    return ar_fail_at(r, at, ARRAS_ENAME, "there is no operation '%.80s'%s%s%s", name,
                      guess.best ? "; did you mean '" : "", guess.best ? guess.best : "",
                      guess.best ? "'?" : "");
}

/* Operations and reductions go by their own names, not by their kind's. */
static bool read_operation(ar_reader *r, const ar_token *at, arras_array *out)
{
    int op = ar_op_find(at->start, at->length),
        reduction = ar_reduction_find(at->start, at->length);

    if (op >= 0)
        return read_map(r, at, (ar_op)op, out);
    return reduction >= 0 ? read_reduce(r, (ar_reduction)reduction, out) : fail_unknown_word(r, at);
}

static bool read_kind(ar_reader *r, const ar_token *at, arras_array *out)
{
    ar_kind kind = find_kind(at);

    switch (kind) {
    case AR_DATA: return read_data(r, out);
    case AR_CONST: return read_const(r, out);
    case AR_SIZE: return read_size(r, out);
    case AR_CAST: return read_cast(r, out);
    case AR_LAMBDA: return read_lambda(r, out);
    case AR_EINSUM: return read_einsum(r, out);
    case AR_STACK:
    case AR_CONCAT: return ar_read_joined(r, kind, out);
    case AR_SCAN: return ar_read_scan(r, out);
    case AR_ROLL: return ar_read_roll(r, out);
    case AR_PERMUTE: return ar_read_permute(r, out);
    case AR_RESHAPE: return ar_read_reshape(r, out);
    case AR_INDEX: return ar_read_index(r, out);
    case AR_GATHER: return ar_read_gather(r, at, out);
    case AR_CSR: return read_csr(r, at, out);
    case AR_CALL: return read_call(r, out);
    case AR_RESULT: return read_result(r, out);
    case AR_POISON:
    case AR_INPUT:
    case AR_PARAM:
    case AR_MAP:
    case AR_REDUCE:
    case AR_KIND_END: break;
    }
    return read_operation(r, at, out);
}

bool ar_read_node(ar_reader *r, arras_array *out)
{
    ar_token at = r->token;

    if (at.kind != AR_TOKEN_NAME)
        return ar_fail_expected(r, "an operation");
    r->annotation.given = false;
    ar_advance(r);
    if (!read_kind(r, &at, out))
        return false;
    if (ar_is_poison(*out))
        return ar_fail_poison(r, &at, *out);
    if (ar_token_is(&r->token, ":") && !r->annotation.given && !read_annotation(r))
        return false;
    return !r->annotation.given || fits_annotation(&r->annotation, *out) ||
           fail_annotation(r, *out);
}
