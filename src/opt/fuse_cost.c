/* fuse_cost.c -- what a cell of each lambda costs, and how lambdas read one another. */
#include "opt/fuse.h"

enum {
    BYTES_NEAR = 1 << 20,
    UNKNOWN_SIZE = 1000,
    MOST_INDEX_PARTS = 64,
    MOST_VISITS = 5000 /* to the parts of one cell: beyond, conditions are not looked at */
};

typedef struct {
    ar_fusion  *f;
    arras_array lambda;
    ar_item    *item;
    ar_space    space;
    int64_t     stamp, first_stamp, visits;
    ar_use    **uses; /* by input of the lambda */
} looker;

/* ---- Estimates ------------------------------------------------------------------------------- */

double ar_fuse_estimate(const arras_graph *g, arras_dim dim)
{
    const ar_affine *affine = ar_dim_affine(g, dim);
    double           sum;

    if (!affine)
        return (double)dim;
    sum = (double)affine->constant;
    for (int i = 0; i < affine->nterms; i++)
        sum += (double)affine->terms[i].factor * UNKNOWN_SIZE;
    return sum > 1 ? sum : 1;
}

static double number_of(arras_expr e, double otherwise)
{
    if (ar_is_int(e))
        return (double)e->ints[0];
    return e->kind == AR_EXPR_SIZE ? ar_fuse_estimate(e->graph, e->ints[0]) : otherwise;
}

static double rounds_of(const ar_frame *frame)
{
    double rounds = number_of(frame->hi, UNKNOWN_SIZE) - number_of(frame->lo, 0);

    return rounds > 1 ? rounds : 1;
}

/* How often e is computed in a cell: what does not depend on a variable is computed before. */
static double times_of(arras_expr e, const ar_frame *around)
{
    double times = 1;

    for (; around; around = around->outer)
        if (around->variable && ar_expr_depends(e, around->variable))
            times *= rounds_of(around);
    return times;
}

static bool is_gather(arras_expr load)
{
    for (int axis = 0; axis < load->rank; axis++)
        if (load->args[axis]->kind == AR_EXPR_LOAD || load->args[axis]->kind == AR_EXPR_CAST ||
            ar_expr_is(load->args[axis], AR_OP_where))
            return true;
    return false;
}

/* Picoseconds of one evaluation. */
static double price_of(const ar_prices *prices, arras_expr e)
{
    switch (e->kind) {
    case AR_EXPR_OP: return prices->operation * ar_op_units((ar_op)e->ints[0]);
    case AR_EXPR_CAST: return e->args[0]->kind != AR_EXPR_LITERAL ? prices->operation : 0;
    case AR_EXPR_LOAD: return is_gather(e) ? prices->gather : prices->operation;
    default: return 0;
    }
}

/* ---- Loads ----------------------------------------------------------------------------------- */

static bool has_condition(const ar_frame *around)
{
    for (; around; around = around->outer)
        if (around->condition)
            return true;
    return false;
}

static const ar_frame *frame_of(const char *variable, const ar_frame *around)
{
    while (around && (!around->variable || strcmp(around->variable, variable) != 0))
        around = around->outer;
    return around;
}

/* An index that takes every value along an axis of the array. */
static bool runs_along(const looker *l, arras_expr index, arras_dim length, const ar_frame *around)
{
    const ar_frame *frame;

    if (index->kind == AR_EXPR_INDEX)
        return l->lambda->shape[index->ints[0]] == length;
    if (index->kind != AR_EXPR_VAR || !(frame = frame_of(index->name, around)))
        return false;
    return ar_is_int(frame->lo) && frame->lo->ints[0] == 0 &&
           (ar_is_int(frame->hi) || frame->hi->kind == AR_EXPR_SIZE) &&
           frame->hi->ints[0] == length;
}

static bool is_indexed_by(arras_expr load, int axis)
{
    for (int i = 0; i < load->rank; i++)
        if (load->args[i]->kind == AR_EXPR_INDEX && load->args[i]->ints[0] == axis)
            return true;
    return false;
}

/* What a load does not run along may have no cells at all, and then nothing is read. */
static bool is_reached(const looker *l, arras_expr load, const ar_frame *around)
{
    for (int axis = 0; axis < l->lambda->rank; axis++)
        if (l->lambda->shape[axis] < 1 && !is_indexed_by(load, axis))
            return false;
    for (; around; around = around->outer)
        if (around->variable && !ar_expr_depends(load, around->variable) &&
            !(ar_is_int(around->lo) && ar_is_int(around->hi) &&
              around->lo->ints[0] < around->hi->ints[0]))
            return false;
    return true;
}

/* Whether a load reads every cell, whatever is computed of the lambda. */
static bool load_covers(const looker *l, arras_expr load, arras_array x, const ar_frame *around)
{
    if (has_condition(around) || l->visits > MOST_VISITS || !is_reached(l, load, around))
        return false;
    for (int axis = 0; axis < load->rank; axis++) {
        if (!runs_along(l, load->args[axis], x->shape[axis], around))
            return false;
        for (int other = 0; other < axis; other++)
            if (load->args[other] == load->args[axis])
                return false;
    }
    return true;
}

static bool load_is_own_cell(const looker *l, arras_expr load, arras_array x)
{
    bool own = load->rank == l->lambda->rank;

    for (int axis = 0; axis < load->rank && own; axis++)
        own = load->args[axis]->kind == AR_EXPR_INDEX && load->args[axis]->ints[0] == axis &&
              x->shape[axis] == l->lambda->shape[axis];
    return own;
}

static bool load_is_inside(const looker *l, arras_expr load, arras_array x, const ar_frame *around)
{
    for (int axis = 0; axis < load->rank; axis++)
        if (!ar_index_is_below(load->args[axis], x->shape[axis], &l->space, around))
            return false;
    return true;
}

static bool is_two(arras_expr e) { return ar_is_int(e) && e->ints[0] == 2; }

/* Vectors of cells that are not neighbours are put together from several, which is done quickly for
 * every second one of real numbers.  1: the last index is not that of the reader's cell times a
 * number, perhaps shifted. */
static double skipping_of(const looker *l, arras_expr load)
{
    const double second = 1.25, others = 2;
    bool         real;
    uint32_t     last_axis = l->lambda->rank > 0 ? 1u << (l->lambda->rank - 1) : 0;
    arras_expr   e = load->rank > 0 ? load->args[load->rank - 1] : NULL;

    while (e && e->uses & last_axis && (ar_expr_is(e, AR_OP_add) || ar_expr_is(e, AR_OP_subtract)))
        e = e->args[!(e->args[0]->uses & last_axis)];
    if (!e || !(e->uses & last_axis) || !ar_expr_is(e, AR_OP_multiply))
        return 1;
    real = load->type.dtype == ARRAS_F32 || load->type.dtype == ARRAS_F64;
    return real && (is_two(e->args[0]) || is_two(e->args[1])) ? second : others;
}

/* Whether an index is read itself.  Depth is limited by AR_MAX_DEPTH. */
static bool index_is_read(arras_expr index, int *visits)
{
    bool is = index->kind == AR_EXPR_LOAD;

    for (int i = 0; i < index->nargs && !is && ++*visits < MOST_INDEX_PARTS; i++)
        is = index_is_read(index->args[i], visits);
    return is;
}

static bool load_jumps(arras_expr load)
{
    int visits = 0;

    for (int axis = 0; axis < load->rank; axis++)
        if (index_is_read(load->args[axis], &visits))
            return true;
    return false;
}

static bool load_picks(const ar_item *of, arras_expr load)
{
    return of->choices > 1 && ar_is_int(load->args[of->choice]);
}

static bool has_rules(arras_expr load)
{
    for (int axis = 0; axis < load->rank; axis++)
        if (load->ints[1 + axis] != ARRAS_EDGE_NONE)
            return true;
    return false;
}

static ar_use *new_use(looker *l, arras_array x)
{
    ar_item *of = &l->f->items[x->id];
    ar_use  *use = ar_arena_alloc(&l->f->arena, 1, sizeof *use);

    if (!use)
        return NULL;
    *use = (ar_use){ .reader = l->lambda->id, .own_cell = true, .inside = true, .picks = true };
    if (of->last_use)
        of->last_use->next = use;
    else
        of->uses = use;
    of->last_use = use;
    of->readers++;
    return use;
}

static bool look_at_load(looker *l, arras_expr load, const ar_frame *around, bool again)
{
    arras_array x = l->lambda->inputs[load->ints[0]];
    ar_use    **use = &l->uses[load->ints[0]];
    bool        inside = load_is_inside(l, load, x, around);
    double      evaluations, skipping;

    if (!*use && !(*use = new_use(l, x)))
        return false;
    (*use)->inside = (*use)->inside && inside;
    l->item->may_fail = l->item->may_fail || (!inside && !has_rules(load));
    if (again)
        return true;
    (*use)->sites++;
    evaluations = times_of(load, around) * l->item->cells / l->f->items[x->id].cells;
    (*use)->evaluations += evaluations;
    (*use)->jumps += load_jumps(load) ? evaluations : 0;
    (*use)->own_cell = (*use)->own_cell && load_is_own_cell(l, load, x);
    (*use)->varies = (*use)->varies || load->nfree > 0;
    skipping = skipping_of(l, load);
    (*use)->skipping = skipping > (*use)->skipping ? skipping : (*use)->skipping;
    (*use)->covers = (*use)->covers || load_covers(l, load, x, around);
    (*use)->picks = (*use)->picks && load_picks(&l->f->items[x->id], load);
    return true;
}

/* ---- Reductions ------------------------------------------------------------------------------ */

static int loads_that_depend(arras_expr e, const char *variable, int *visits)
{
    int loads = e->kind == AR_EXPR_LOAD;

    if (!ar_expr_depends(e, variable) || ++*visits > AR_FUSE_OPERATIONS)
        return 0;
    for (int i = 0; i < e->nargs; i++)
        loads += loads_that_depend(e->args[i], variable, visits);
    return loads;
}

/* A sum of products over a few terms is what the kernels of small contractions are made for, and
 * over many what libraries do. */
static void look_at_reduce(looker *l, arras_expr e, const ar_frame *within)
{
    enum { FEW = 64 };
    int visits = 0;

    l->item->reduces = true;
    if (ar_reduction_identity((ar_reduction)e->ints[0]) < 0)
        l->item->may_fail = true;
    if (e->ints[0] != AR_REDUCE_sum || loads_that_depend(e->args[2], e->name, &visits) < 2 ||
        e->args[2]->uses == 0)
        return;
    l->item->contracts = true;
    if (!ar_is_int(e->args[1]) || rounds_of(within) > FEW)
        l->item->long_sum = true;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static bool look(looker *l, arras_expr e, const ar_frame *around);

static ar_frame new_frame(looker *l, const ar_frame *outer)
{
    return (ar_frame){ .outer = outer, .stamp = ++l->stamp };
}

static bool look_into_reduce(looker *l, arras_expr e, const ar_frame *around)
{
    ar_frame within = new_frame(l, around);

    within.variable = e->name, within.lo = e->args[0], within.hi = e->args[1];
    look_at_reduce(l, e, &within);
    l->item->cell_ps += l->f->prices->operation * times_of(e, around) * rounds_of(&within);
    return look(l, e->args[0], around) && look(l, e->args[1], around) &&
           look(l, e->args[2], &within);
}

static bool look_into_where(looker *l, arras_expr e, const ar_frame *around)
{
    bool good = look(l, e->args[0], around);

    for (int branch = 1; branch <= 2 && good; branch++) {
        ar_frame within = new_frame(l, around);

        within.condition = e->args[0], within.holds = branch == 1;
        good = look(l, e->args[branch], l->visits > MOST_VISITS ? around : &within);
    }
    return good;
}

static bool was_met_around(const looker *l, arras_expr e, const ar_frame *around)
{
    int64_t stamp = l->f->visited[e->id];

    for (; around; around = around->outer) {
        if (around->stamp == stamp)
            return true;
        if (around->variable && ar_expr_depends(e, around->variable))
            return false;
    }
    return stamp == l->first_stamp;
}

static bool is_vector_op(arras_expr e, arras_dtype dtype)
{
    if (e->kind == AR_EXPR_CAST && e->args[0]->kind == AR_EXPR_LITERAL)
        return true;
    return e->kind == AR_EXPR_OP && e->type.dtype == dtype &&
           (ar_expr_is(e, AR_OP_add) || ar_expr_is(e, AR_OP_subtract) ||
            ar_expr_is(e, AR_OP_multiply) || ar_expr_is(e, AR_OP_divide));
}

static void count(looker *l, arras_expr e, const ar_frame *around)
{
    bool counts = e->kind == AR_EXPR_OP || e->kind == AR_EXPR_CAST;

    l->item->cell_ps += price_of(l->f->prices, e) * times_of(e, around);
    l->item->operations += counts;
    l->item->alone += counts;
    if (counts && !is_vector_op(e, l->lambda->type.dtype))
        l->item->only_vector = false;
    l->f->counted[e->id] = l->first_stamp;
}

/* Each part once for each place where something else is known of it.  Depth is limited by
 * AR_MAX_DEPTH. */
static bool look(looker *l, arras_expr e, const ar_frame *around)
{
    bool again = l->f->counted[e->id] == l->first_stamp;

    if (l->f->visited[e->id] >= l->first_stamp && was_met_around(l, e, around))
        return true;
    l->visits++;
    l->f->visited[e->id] = around ? around->stamp : l->first_stamp;
    if (!again)
        count(l, e, around);
    if (e->kind == AR_EXPR_LOAD && !look_at_load(l, e, around, again))
        return false;
    if (e->kind == AR_EXPR_REDUCE)
        return look_into_reduce(l, e, around);
    if (ar_expr_is(e, AR_OP_where))
        return look_into_where(l, e, around);
    for (int i = 0; i < e->nargs; i++)
        if (!look(l, e->args[i], around))
            return false;
    return true;
}

/* ---- Choices: what was stacked or concatenated ----------------------------------------------- */

/* A comparison of the index along *axis (-1: any) with a number. */
static bool is_choice(arras_expr e, int *axis)
{
    arras_expr condition = e->args[0];

    if (!ar_expr_is(e, AR_OP_where) || condition->kind != AR_EXPR_OP || condition->nargs != 2 ||
        condition->args[0]->kind != AR_EXPR_INDEX || !ar_is_int(condition->args[1]) ||
        (*axis >= 0 && condition->args[0]->ints[0] != *axis))
        return false;
    *axis = (int)condition->args[0]->ints[0];
    return true;
}

static void find_choices(ar_item *item)
{
    arras_expr e = item->node->ref;
    int        axis = -1;

    item->choices = 1;
    while (e->nargs > 0 && is_choice(e, &axis)) {
        e = e->args[2];
        item->choices++;
    }
    item->choice = axis;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static void measure(ar_fusion *f, arras_array node)
{
    ar_item *item = &f->items[node->id];
    bool     symbolic = false;
    double   bytes = (double)ar_dtype_size(node->type.dtype);

    item->node = node;
    item->cells = 1;
    item->only_vector = true;
    for (int axis = 0; axis < node->rank; axis++) {
        symbolic = symbolic || ar_dim_symbolic(node->shape[axis]);
        item->cells *= ar_fuse_estimate(f->g, node->shape[axis]);
    }
    item->cells = item->cells > 1 ? item->cells : 1;
    item->move_ps = bytes * (symbolic || bytes * item->cells > BYTES_NEAR ? f->prices->byte_far
                                                                          : f->prices->byte_near);
}

static bool list_reads(ar_fusion *f, ar_item *item)
{
    arras_array node = item->node;
    int         n = 0;

    item->reads.ids = ar_arena_alloc(&f->arena, (size_t)node->ninputs, sizeof *item->reads.ids);
    if (!item->reads.ids)
        return false;
    for (int i = 0; i < node->ninputs; i++) {
        int at = n;

        for (; at > 0 && item->reads.ids[at - 1] > node->inputs[i]->id; at--)
            item->reads.ids[at] = item->reads.ids[at - 1];
        item->reads.ids[at] = node->inputs[i]->id;
        n++;
    }
    item->reads.count = n;
    return true;
}

static bool look_at_lambda(ar_fusion *f, arras_array node, int64_t *stamp)
{
    ar_item *item = &f->items[node->id];
    looker   l = { .f = f, .lambda = node, .item = item };
    bool     good;

    l.space = (ar_space){ node->graph, node->rank, node->shape, node->ninputs, node->inputs };
    l.stamp = l.first_stamp = *stamp + 1;
    l.uses = ar_alloc((size_t)node->ninputs, sizeof *l.uses);
    item->depth = ((arras_expr)node->ref)->depth;
    find_choices(item);
    good = l.uses && list_reads(f, item) && look(&l, node->ref, NULL);
    ar_free(l.uses);
    *stamp = l.stamp;
    return good;
}

arras_status ar_fuse_cost(ar_fusion *f)
{
    int64_t stamp = 0;

    for (int64_t i = 0; i < f->nnodes; i++)
        measure(f, f->nodes[i]);
    for (int i = 0; i < ar_graph_output_count(f->g); i++)
        f->items[ar_graph_output(f->g, i)->array->id].output = true;
    for (int64_t i = 0; i < f->nnodes; i++)
        if (f->nodes[i]->kind == AR_SCAN)
            f->items[f->nodes[i]->inputs[0]->id].scanned = true;
    for (int64_t i = 0; i < f->nnodes; i++)
        if (f->nodes[i]->kind == AR_LAMBDA && !look_at_lambda(f, f->nodes[i], &stamp))
            return ar_fail_memory(f->err, sizeof(ar_use));
    return ARRAS_OK;
}
