/* record.c -- the public face of the builders: every handle may be NULL and every number wrong, so
 * what the builders take for granted is checked here. */
#include "ir/ir.h"

#include <string.h>

arras_array arras_poison(arras_graph *g, arras_status code, const char *message)
{
    /* ENOMEM is the graph's own: it says that recording itself has failed. */
    bool known = (int)code > ARRAS_OK && (int)code < ARRAS_ENOMEM;

    return g ? ar_poison(g, known ? code : ARRAS_EINVAL, "%s", message ? message : "")
             : ar_poison_no_graph();
}

/* ---- Sizes and leaves ------------------------------------------------------------------------ */

arras_dim arras_size(arras_graph *g, const char *name) { return g ? ar_dim_size(g, name) : -1; }
arras_dim arras_dim_add(arras_graph *g, arras_dim a, arras_dim b)
{
    return g ? ar_dim_add(g, a, b) : -1;
}
arras_dim arras_dim_sub(arras_graph *g, arras_dim a, arras_dim b)
{
    return g ? ar_dim_sub(g, a, b) : -1;
}
arras_dim arras_dim_mul(arras_graph *g, arras_dim a, arras_dim b)
{
    return g ? ar_dim_mul(g, a, b) : -1;
}
bool arras_dim_is_symbolic(arras_dim d) { return ar_dim_symbolic(d); }

arras_array arras_placeholder(arras_graph *g, const char *name, arras_dtype dtype, int rank,
                              const arras_dim *shape)
{
    return g ? ar_input(g, name, dtype, rank, shape) : ar_poison_no_graph();
}

arras_array arras_param(arras_graph *g, const char *name, arras_dtype dtype, int rank,
                        const arras_dim *shape)
{
    return g ? ar_param(g, name, dtype, rank, shape) : ar_poison_no_graph();
}

arras_array arras_copy(arras_graph *g, arras_dtype dtype, int rank, const int64_t *shape,
                       const int64_t *strides, const void *data)
{
    return g ? ar_data(g, dtype, rank, shape, strides, data, true) : ar_poison_no_graph();
}

arras_array arras_borrow(arras_graph *g, arras_dtype dtype, int rank, const int64_t *shape,
                         const int64_t *strides, const void *data)
{
    return g ? ar_data(g, dtype, rank, shape, strides, data, false) : ar_poison_no_graph();
}

static arras_array number(arras_graph *g, arras_dtype dtype, ar_value value)
{
    return g ? ar_const(g, (ar_type){ dtype, true }, value) : ar_poison_no_graph();
}

arras_array arras_int(arras_graph *g, int64_t value)
{
    return number(g, ARRAS_I64, (ar_value){ .bits = { value, 0 } });
}

arras_array arras_float(arras_graph *g, double value)
{
    return number(g, ARRAS_F64, (ar_value){ .parts = { value, 0 } });
}

arras_array arras_complex(arras_graph *g, double re, double im)
{
    return number(g, ARRAS_C128, (ar_value){ .parts = { re, im } });
}

arras_array arras_scalar(arras_graph *g, arras_dtype dtype, const void *value)
{
    ar_value cell = { .bits = { 0, 0 } };

    if (!g)
        return ar_poison_no_graph();
    if (!value)
        return ar_poison(g, ARRAS_EINVAL, "scalar: the pointer to the value is NULL");
    memcpy(&cell, value, ar_dtype_size(dtype));
    return ar_const(g, (ar_type){ dtype, false }, cell);
}

arras_array arras_size_value(arras_graph *g, arras_dim size)
{
    return g ? ar_size_node(g, size) : ar_poison_no_graph();
}

/* ---- Elementwise and reductions -------------------------------------------------------------- */

static const arras_op_info op_infos[] = {
#define AR_OP(name, arity, rule, cost, b, i, r, c, help) { #name, arity, help },
#include "ir/ops.def"
#undef AR_OP
};

int                  arras_op_count(void) { return AR_OP_END; }
const arras_op_info *arras_op_get(int op)
{
    return op >= 0 && op < AR_OP_END ? &op_infos[op] : NULL;
}
int arras_op_find(const char *name) { return name ? ar_op_find(name, strlen(name)) : -1; }

arras_array arras_apply(int op, int n, const arras_array *operands)
{
    arras_array bad;

    if (op >= 0 && op < AR_OP_END)
        return ar_map((ar_op)op, n, operands);
    bad = ar_check_inputs("apply", n, operands);
    return bad ? bad
               : ar_poison(operands[0]->graph, ARRAS_EINVAL,
                           "apply: there is no operation number %d", op);
}

arras_array arras_cast(arras_array x, arras_dtype dtype) { return ar_cast(x, dtype); }

/* All three are promoted together: clip(bool, 1, c64) is c64, although bool and 1 alone are i64. */
arras_array arras_clip(arras_array x, arras_array lo, arras_array hi)
{
    arras_array operands[] = { x, lo ? lo : x, hi ? hi : x },
                bad = ar_check_inputs("clip", 3, operands);
    ar_type type;

    if (bad)
        return bad;
    type = ar_promote_nodes(3, operands);
    if (!type.weak)
        x = ar_cast(x, type.dtype);
    x = lo ? arras_maximum(x, lo) : x;
    return hi ? arras_minimum(x, hi) : x;
}

int         arras_reduction_count(void) { return AR_REDUCTION_END; }
const char *arras_reduction_name(int r)
{
    return r >= 0 && r < AR_REDUCTION_END ? ar_reduction_name((ar_reduction)r) : NULL;
}
int arras_reduction_find(const char *name)
{
    return name ? ar_reduction_find(name, strlen(name)) : -1;
}

arras_array arras_reduce(int reduction, arras_array x, int n, const int *axes, bool keepdims,
                         arras_array initial)
{
    arras_array bad = ar_check_inputs("reduce", 1, &x);
    arras_error err;
    uint32_t    mask;

    if (bad)
        return bad;
    if (reduction < 0 || reduction >= AR_REDUCTION_END)
        return ar_poison(x->graph, ARRAS_EINVAL, "reduce: there is no reduction number %d",
                         reduction);
    if (ar_axes_mask(&mask, ar_reduction_name((ar_reduction)reduction), n, axes, x->rank, &err) !=
        ARRAS_OK)
        return ar_poison_of(x->graph, &err);
    return ar_reduce((ar_reduction)reduction, x, mask, keepdims, initial);
}

/* ---- Products and movement ------------------------------------------------------------------- */

arras_array arras_einsum(const char *spec, int n, const arras_array *operands)
{
    return ar_einsum(spec, n, operands);
}

arras_array arras_csr_matmul(arras_array values, arras_array columns, arras_array row_starts,
                             arras_array dense)
{
    return ar_csr(values, columns, row_starts, dense);
}

arras_array arras_cumulative_sum(arras_array x, int axis)
{
    return ar_scan(AR_REDUCE_sum, x, axis);
}

arras_array arras_stack(int n, const arras_array *xs, int axis) { return ar_stack(n, xs, axis); }
arras_array arras_concatenate(int n, const arras_array *xs, int axis)
{
    return ar_concat(n, xs, axis);
}

arras_array arras_roll(arras_array x, int n, const int64_t *shifts, const int *axes)
{
    arras_array bad = ar_check_inputs("roll", 1, &x);
    int64_t     all[ARRAS_MAX_RANK] = { 0 };
    arras_error err;

    if (bad)
        return bad;
    if (n < 0 || (n > 0 && (!shifts || !axes)))
        return ar_poison(x->graph, ARRAS_EINVAL, "roll: %d shifts, or shifts or axes are NULL", n);
    for (int i = 0; i < n; i++) {
        int axis;

        if (ar_axis_check(&axis, "roll", axes[i], x->rank, &err) != ARRAS_OK)
            return ar_poison_of(x->graph, &err);
        if (ar_dim_symbolic(shifts[i]))
            return ar_poison(x->graph, ARRAS_ESIZE,
                             "roll: the shift of axis %d is symbolic: it must be a number", axis);
        /* An axis may be rolled twice, as in NumPy. */
        if (!ar_add64(&all[axis], all[axis], shifts[i]))
            return ar_poison(x->graph, ARRAS_ELIMIT, "roll: the shift of axis %d is too large",
                             axis);
    }
    return ar_roll(x, all);
}

arras_array arras_permute(arras_array x, int n, const int *axes)
{
    arras_array bad = ar_check_inputs("permute", 1, &x);
    int         reversed[ARRAS_MAX_RANK];

    if (bad)
        return bad;
    for (int d = 0; d < x->rank; d++)
        reversed[d] = x->rank - 1 - d;
    if (axes && n != x->rank)
        return ar_poison(x->graph, ARRAS_EAXIS, "permute: %d axes for an array of rank %d", n,
                         x->rank);
    return ar_permute(x, axes ? axes : reversed);
}

arras_array arras_reshape(arras_array x, int rank, const arras_dim *shape, char order)
{
    return ar_reshape(x, rank, shape, order);
}

arras_array arras_index(arras_array x, int n, const arras_item *items)
{
    return ar_index(x, n, items);
}

/* ---- Expressions ----------------------------------------------------------------------------- */

static arras_expr no_graph(void) { return ar_expr_poison(NULL, ARRAS_EINVAL, "the graph is NULL"); }

arras_expr arras_expr_index(arras_graph *g, int axis)
{
    return g ? ar_expr_index(g, axis) : no_graph();
}

arras_expr arras_expr_var(arras_graph *g, const char *name)
{
    return g ? ar_expr_var(g, name) : no_graph();
}

static arras_expr literal(arras_graph *g, arras_dtype dtype, ar_value value)
{
    return g ? ar_expr_literal(g, dtype, value) : no_graph();
}

arras_expr arras_expr_int(arras_graph *g, int64_t value)
{
    return literal(g, ARRAS_I64, (ar_value){ .bits = { value, 0 } });
}

arras_expr arras_expr_float(arras_graph *g, double value)
{
    return literal(g, ARRAS_F64, (ar_value){ .parts = { value, 0 } });
}

arras_expr arras_expr_complex(arras_graph *g, double re, double im)
{
    return literal(g, ARRAS_C128, (ar_value){ .parts = { re, im } });
}

arras_expr arras_expr_size(arras_graph *g, arras_dim size)
{
    return g ? ar_expr_size(g, size) : no_graph();
}

arras_expr arras_expr_cast(arras_expr x, arras_dtype dtype) { return ar_expr_cast(x, dtype); }

arras_expr arras_expr_apply(int op, int n, const arras_expr *operands)
{
    if (op < 0 || op >= AR_OP_END)
        return ar_expr_poison(n > 0 && operands && operands[0] ? operands[0]->graph : NULL,
                              ARRAS_EINVAL, "apply: there is no operation number %d", op);
    return ar_expr_apply((ar_op)op, n, operands);
}

arras_expr arras_expr_load(arras_array x, int n, const arras_expr *indices, const arras_edge *edges)
{
    return ar_expr_load(x, n, indices, edges);
}

/* A sum of a product is what an einsum would be. */
static ar_tree tree_of(ar_reduction reduction, arras_expr lo, arras_expr hi, arras_expr body)
{
    bool fused =
        lo && hi && body && !body->type.weak && ar_sum_can_be_fused(reduction, lo, hi, body);

    return fused ? AR_TREE_FUSED : AR_TREE_WHOLE;
}

arras_expr arras_expr_reduce(int reduction, const char *var, arras_expr lo, arras_expr hi,
                             arras_expr body)
{
    if (reduction < 0 || reduction >= AR_REDUCTION_END)
        return ar_expr_poison(body ? body->graph : NULL, ARRAS_EINVAL,
                              "reduce: there is no reduction number %d", reduction);
    return ar_expr_reduce_tree((ar_reduction)reduction,
                               tree_of((ar_reduction)reduction, lo, hi, body), var, lo, hi, body);
}

const char *arras_expr_error(arras_expr e)
{
    if (!e)
        return "the expression is NULL";
    return e->kind == AR_EXPR_POISON ? e->name : NULL;
}

typedef struct {
    arras_array      out;
    arras_graph     *g;
    int              rank;
    const arras_dim *shape;
    arras_expr       cell;
} lambda;

static arras_status record_lambda(void *context, arras_error *err)
{
    lambda *l = context;

    (void)err;
    l->out = ar_lambda(l->g, l->rank, l->shape, l->cell);
    return ARRAS_OK;
}

arras_array arras_lambda(arras_graph *g, int rank, const arras_dim *shape, arras_expr cell)
{
    lambda      l = { NULL, g, rank, shape, cell };
    arras_error why;

    if (!g)
        return ar_poison_no_graph();
    if (ar_with_room(record_lambda, &l, &why) != ARRAS_OK)
        return ar_poison(g, why.code, "lambda: %s", why.text);
    return l.out;
}

/* ---- Functions ------------------------------------------------------------------------------- */

arras_function arras_function_new(arras_graph *g, const char *name, int nparams,
                                  const arras_array *params, int nresults, const char *const *names,
                                  const arras_array *results)
{
    static const struct arras_funcdef nowhere = { .name = "",
                                                  .error = "the graph is NULL",
                                                  .code = ARRAS_EINVAL };

    return g ? ar_function_new(g, name, nparams, params, nresults, names, results) : &nowhere;
}

arras_array arras_call(arras_function f, const char *result, int n, const arras_array *args)
{
    arras_array call = ar_call(f, n, args);

    if (ar_is_poison(call))
        return call;
    for (int i = 0; result && i < f->nresults; i++)
        if (strcmp(f->result_names[i], result) == 0)
            return ar_call_result(call, i);
    return ar_poison(f->graph, ARRAS_ENAME,
                     "call of '%s': it has no result '%.255s'; the first of its %d is '%s'",
                     f->name, result ? result : "", f->nresults, f->result_names[0]);
}
