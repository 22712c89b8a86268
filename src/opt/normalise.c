/* normalise.c -- the normal form: every array an output needs becomes an INPUT, DATA, a LAMBDA, or
 * a SCAN of one of them.
 * Arrays are taken by ascending id; the expression of a cell comes from the function of its kind.
 */
#include "opt/opt.h"

#include "opt/normalise.h"

/* Who says what a cell of each kind is; of leaves, scans, calls and their results place_make()
 * knows what they become.  A kind that is not here does not compile. */
#define CELL_OF_POISON NULL
#define CELL_OF_INPUT NULL
#define CELL_OF_PARAM NULL
#define CELL_OF_DATA NULL
#define CELL_OF_CONST NULL
#define CELL_OF_SIZE NULL
#define CELL_OF_SCAN NULL
#define CELL_OF_CALL NULL
#define CELL_OF_RESULT NULL
#define CELL_OF_MAP ar_normal_map
#define CELL_OF_CAST ar_normal_cast
#define CELL_OF_LAMBDA ar_normal_lambda
#define CELL_OF_REDUCE ar_normal_reduce
#define CELL_OF_EINSUM ar_normal_einsum
#define CELL_OF_STACK ar_normal_stack
#define CELL_OF_CONCAT ar_normal_concat
#define CELL_OF_ROLL ar_normal_roll
#define CELL_OF_PERMUTE ar_normal_permute
#define CELL_OF_RESHAPE ar_normal_reshape
#define CELL_OF_INDEX ar_normal_index
#define CELL_OF_GATHER ar_normal_gather
#define CELL_OF_CSR ar_normal_csr

static ar_normal_function *const functions[AR_KIND_END] = {
#define AR_KIND(NAME, word, text) [AR_##NAME] = CELL_OF_##NAME,
#include "ir/kinds.def"
#undef AR_KIND
};

/* ---- Sizes ----------------------------------------------------------------------------------- */

arras_dim ar_scope_dim(const ar_scope *s, arras_dim dim)
{
    return ar_dim_move(s->to, s->pass->from, dim, s->sizes);
}

void ar_scope_shape(arras_dim *shape, const ar_scope *s, arras_array node)
{
    for (int axis = 0; axis < node->rank; axis++)
        shape[axis] = ar_scope_dim(s, node->shape[axis]);
}

/* A call may give a size that makes another one negative. */
static arras_status check_dim(const ar_scope *s, arras_dim old, arras_dim dim)
{
    ar_text text = { 0 };

    if (ar_dim_symbolic(dim) || dim >= 0)
        return ARRAS_OK;
    ar_dim_print(&text, s->pass->from, old);
    ar_fail(s->pass->err, ARRAS_ESIZE, "size %s is negative: %" PRId64 ", in a call of '%s'",
            text.data ? text.data : "", dim, s->function ? s->function->name : "");
    ar_text_free(&text);
    return ARRAS_ESIZE;
}

/* ---- Reads ----------------------------------------------------------------------------------- */

ar_place *ar_scope_place(const ar_scope *s, arras_array node)
{
    int64_t low = 0, high = s->count - 1;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (s->places[middle].node->id < node->id)
            low = middle + 1;
        else
            high = middle;
    }
    return &s->places[low];
}

arras_expr ar_scope_read(const ar_scope *s, arras_array x, const arras_expr *indices,
                         const arras_edge *edges)
{
    const ar_became *became = &ar_scope_place(s, x)->became;
    arras_expr       cell = became->number;

    if (!cell)
        cell = ar_expr_load(became->array, x->rank, indices, edges);
    /* An untyped number that went through a parameter has a type there. */
    return x->type.weak ? cell : ar_expr_cast(cell, x->type.dtype);
}

void ar_split_number(arras_expr *indices, arras_expr number, int n, const arras_dim *lengths)
{
    for (int k = n - 1; k > 0; k--) {
        arras_expr length = dim_expr(number->graph, lengths[k]);

        indices[k] = binary(AR_OP_remainder, number, length);
        number = binary(AR_OP_floor_divide, number, length);
    }
    if (n > 0)
        indices[0] = number;
}

/* ---- One array ------------------------------------------------------------------------------- */

/* A cast from i64 to u64 keeps all bits, so three types of literals can say every value. */
static arras_expr const_number(arras_graph *to, arras_array node)
{
    ar_class class = ar_dtype_class(node->type.dtype);
    arras_dtype dtype = class == AR_CLASS_COMPLEX ? ARRAS_C128
                        : class == AR_CLASS_REAL  ? ARRAS_F64
                                                  : ARRAS_I64;
    ar_value    value = { .bits = { 0, 0 } };
    arras_expr  literal;

    ar_cell_cast(dtype, &value, node->type.dtype, node->ints);
    literal = ar_expr_literal(to, dtype, value);
    return node->type.weak ? literal : ar_expr_cast(literal, node->type.dtype);
}

static arras_status fail_poison(const ar_scope *s, const char *text, const int64_t *code)
{
    return ar_fail(s->pass->err, (arras_status)*code, "%s", text);
}

static arras_status put_array(const ar_scope *s, ar_place *p, arras_array x)
{
    if (ar_is_poison(x))
        return fail_poison(s, x->name, x->ints);
    p->became.array = x;
    return ARRAS_OK;
}

static arras_status put_number(const ar_scope *s, ar_place *p, arras_expr number)
{
    if (number->kind == AR_EXPR_POISON)
        return fail_poison(s, number->name, number->ints);
    p->became.number = number;
    return ARRAS_OK;
}

static arras_status put_size(const ar_scope *s, ar_place *p)
{
    arras_dim    dim = ar_scope_dim(s, p->node->ints[0]);
    arras_status status = check_dim(s, p->node->ints[0], dim);

    return status == ARRAS_OK ? put_number(s, p, ar_expr_size(s->to, dim)) : status;
}

static arras_status put_param(const ar_scope *s, ar_place *p)
{
    for (int i = 0; s->function && i < s->function->nparams; i++)
        if (s->function->params[i] == p->node) {
            p->became = s->args[i];
            return ARRAS_OK;
        }
    return ar_fail(s->pass->err, ARRAS_EINVAL, "the parameter '%s' is used outside its function",
                   p->node->name);
}

static arras_status put_lambda(ar_scope *s, ar_place *p)
{
    arras_array  node = p->node;
    arras_dim    shape[ARRAS_MAX_RANK];
    arras_expr   cell;
    arras_status status = ARRAS_OK;

    ar_scope_shape(shape, s, node);
    for (int axis = 0; axis < node->rank && status == ARRAS_OK; axis++)
        status = check_dim(s, node->shape[axis], shape[axis]);
    if (status != ARRAS_OK)
        return status;
    cell = functions[node->kind](s, node);
    if (cell->kind != AR_EXPR_POISON && cell->type.dtype != node->type.dtype)
        cell = ar_expr_cast(cell, node->type.dtype);
    return put_array(s, p, ar_lambda(s->to, node->rank, shape, cell));
}

/* Of cells in the type that is reduced: the cast is what is computed before. */
static arras_status put_scan(ar_scope *s, ar_place *p)
{
    arras_array x = ar_scope_place(s, p->node->inputs[0])->became.array;
    arras_expr  indices[ARRAS_MAX_RANK];

    if (x->type.dtype != p->node->type.dtype) {
        for (int axis = 0; axis < x->rank; axis++)
            indices[axis] = ar_expr_index(s->to, axis);
        x = ar_lambda(s->to, x->rank, x->shape,
                      ar_expr_cast(ar_expr_load(x, x->rank, indices, NULL), p->node->type.dtype));
    }
    return put_array(
        s, p,
        ar_is_poison(x) ? x : ar_scan((ar_reduction)p->node->ints[0], x, (int)p->node->ints[1]));
}

static arras_status place_make(ar_scope *s, ar_place *p)
{
    arras_array node = p->node;

    switch (node->kind) {
    case AR_INPUT: return put_array(s, p, ar_graph_input_find(s->to, node->name));
    case AR_PARAM: return put_param(s, p);
    case AR_DATA: return put_array(s, p, ar_data_again(s->to, node));
    case AR_CONST: return put_number(s, p, const_number(s->to, node));
    case AR_SIZE: return put_size(s, p);
    case AR_SCAN: return put_scan(s, p);
    case AR_CALL: return ar_inline_call(s, p);
    case AR_RESULT:
        p->became = ar_scope_place(s, node->inputs[0])->results[node->ints[0]];
        return ARRAS_OK;
    default: return put_lambda(s, p);
    }
}

/* ---- Scopes ---------------------------------------------------------------------------------- */

/* A result that is in the list is wanted of its call, which comes before it. */
static bool place_prepare(ar_scope *s, ar_place *p)
{
    arras_array node = p->node;

    if (node->kind == AR_RESULT)
        ar_scope_place(s, node->inputs[0])->results[node->ints[0]].wanted = true;
    if (node->kind != AR_CALL)
        return true;
    p->results = ar_arena_alloc(&s->arena, (size_t)((arras_function)node->ref)->nresults,
                                sizeof *p->results);
    return p->results != NULL;
}

static arras_status make_places(ar_scope *s, int64_t count, const arras_array *nodes)
{
    s->places = ar_arena_alloc(&s->arena, (size_t)count, sizeof *s->places);
    if (!s->places)
        return ar_fail_memory(s->pass->err, (size_t)count * sizeof *s->places);
    s->count = count;
    for (int64_t i = 0; i < count; i++)
        s->places[i].node = nodes[i];
    for (int64_t i = 0; i < count; i++)
        if (!place_prepare(s, &s->places[i]))
            return ar_fail_memory(s->pass->err, sizeof *s->places[i].results);
    return ARRAS_OK;
}

arras_status ar_scope_open(ar_scope *s, int n, const arras_array *roots)
{
    arras_array *nodes;
    int64_t      count;
    arras_status status = ar_reach(&nodes, &count, s->pass->from, n, roots, s->pass->err);

    if (status != ARRAS_OK)
        return status;
    status = make_places(s, count, nodes);
    ar_free(nodes);
    return status;
}

/* Calls within calls come back here; how deep they are nested is limited when functions are
 * defined. */
arras_status ar_scope_run(ar_scope *s)
{
    arras_status status = ARRAS_OK;

    for (int64_t i = 0; i < s->count && status == ARRAS_OK; i++)
        status = place_make(s, &s->places[i]);
    return status;
}

void ar_scope_close(ar_scope *s) { ar_arena_free(&s->arena); }

/* ---- The program ----------------------------------------------------------------------------- */

static arras_status copy_sizes(ar_scope *s)
{
    int        n = ar_size_count(s->pass->from);
    arras_dim *sizes = ar_arena_alloc(&s->arena, (size_t)n, sizeof *sizes);

    if (!sizes)
        return ar_fail_memory(s->pass->err, (size_t)n * sizeof *sizes);
    for (int i = 0; i < n; i++)
        sizes[i] = ar_dim_size(s->to, ar_size_name(s->pass->from, i));
    s->sizes = sizes;
    return ARRAS_OK;
}

/* All of them, also those that no output needs: users bind them. */
static arras_status copy_inputs(ar_scope *s)
{
    for (int i = 0; i < ar_graph_input_count(s->pass->from); i++) {
        arras_array old = ar_graph_input(s->pass->from, i), input;
        arras_dim   shape[ARRAS_MAX_RANK];

        ar_scope_shape(shape, s, old);
        input = ar_input(s->to, old->name, old->type.dtype, old->rank, shape);
        if (ar_is_poison(input))
            return fail_poison(s, input->name, input->ints);
    }
    return ARRAS_OK;
}

static arras_status copy_outputs(ar_scope *s)
{
    for (int i = 0; i < ar_graph_output_count(s->pass->from); i++) {
        const ar_output *output = ar_graph_output(s->pass->from, i);
        const ar_became *became = &ar_scope_place(s, output->array)->became;
        arras_array      x = became->array;

        if (became->number)
            x = ar_lambda(s->to, 0, NULL, became->number);
        x = ar_graph_output_add(s->to, output->name, x);
        if (ar_is_poison(x))
            return fail_poison(s, x->name, x->ints);
    }
    return ARRAS_OK;
}

static arras_status normalise_program(ar_scope *s)
{
    arras_array *roots = NULL;
    arras_status status = copy_sizes(s);

    if (status == ARRAS_OK)
        status = copy_inputs(s);
    if (status == ARRAS_OK)
        status = ar_graph_roots(&roots, s->pass->from, s->pass->err);
    if (status == ARRAS_OK)
        status = ar_scope_open(s, ar_graph_output_count(s->pass->from), roots);
    if (status == ARRAS_OK)
        status = ar_scope_run(s);
    if (status == ARRAS_OK)
        status = copy_outputs(s);
    ar_free(roots);
    return status;
}

arras_status ar_normalise(arras_graph **out, const arras_graph *g, arras_error *err)
{
    ar_normaliser pass = { .from = g, .err = err };
    ar_scope      program = { .pass = &pass };
    arras_status  status = ar_graph_check(g, err);

    if (status == ARRAS_OK)
        status = ar_graph_new(&pass.to, err);
    if (status != ARRAS_OK)
        return status;
    program.to = pass.to;
    status = normalise_program(&program);
    ar_scope_close(&program);
    ar_free(pass.copied);
    /* Whatever that led to, it is the reason. */
    if (ar_graph_memory_failed(pass.to))
        status = ar_fail(err, ARRAS_ENOMEM, "out of memory while a program was normalised");
    if (status == ARRAS_OK)
        *out = pass.to;
    else
        ar_graph_free(pass.to);
    return status;
}
