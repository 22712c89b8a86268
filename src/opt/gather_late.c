/* gather_late.c -- what takes long to compute of gathered cells is gathered from what is computed
 * of all cells: sqrt(x[k[i]]) becomes y[k[i]], where y = sqrt(x).
 *
 * The bits are the same.  It is worth it where cells are gathered often: the roots at the nodes of
 * an element, each of which lies on several of its faces, are taken once.  Every array that is
 * computed of cells at the same place has a view: a load, at that place, of what is computed of all
 * cells.  The view takes its place if its operation is a dear one, or if all that it is computed of
 * are such views already. */
#include "opt/opt.h"

#include "opt/survey.h"

#include <math.h>

enum { MOST_VISITS = 300, OFTEN = 2 };

typedef struct {
    arras_expr load; /* NULL: none */
    bool       used; /* it is what is read */
} view;

/* Views by id of the new graph. */
typedef struct {
    view         *items;
    size_t        room;
    ar_decisions *decisions; /* or NULL */
} views;

/* What a cell is computed of. */
typedef struct {
    ar_rewrite  *r;
    const views *views;
    arras_expr   place; /* a load: the first that was met; all others are at the same place */
    int          visits;
    const char  *dear;     /* an operation that is, or NULL */
    bool         computed; /* all that is read is a view that is used */
} gathered;

/* ---- Loads ----------------------------------------------------------------------------------- */

static bool has_edges(arras_expr load)
{
    for (int axis = 0; axis < load->rank; axis++)
        if (load->ints[1 + axis] != ARRAS_EDGE_NONE)
            return true;
    return false;
}

static bool is_inside(arras_expr load, const ar_space *space)
{
    for (int axis = 0; axis < load->rank; axis++)
        if (!ar_index_is_below(load->args[axis], load->array->shape[axis], space, NULL))
            return false;
    return true;
}

static bool reads_all(const ar_rewrite *r, arras_expr load)
{
    for (int axis = 0; axis < load->rank; axis++)
        if (load->args[axis] != ar_expr_index(r->to, axis) ||
            load->array->shape[axis] != r->shape[axis])
            return false;
    return load->rank == r->space.rank;
}

/* Whether to read what v reads, in place of an array's cells with this load: not if cells that it
 * does not read are an error, which that array must tell. */
static bool may_read_through(const ar_rewrite *r, arras_expr load, view v)
{
    arras_array x = load->array;
    ar_space    space = { .g = r->to, .rank = x->rank, .shape = x->shape };

    return v.load && !has_edges(load) && is_inside(load, &r->space) &&
           (reads_all(r, load) || is_inside(v.load, &space));
}

static view view_of(const gathered *c, arras_array x)
{
    arras_expr cell = ar_rewrite_cell(c->r, x);

    if ((size_t)x->id < c->views->room && c->views->items[x->id].load)
        return c->views->items[x->id];
    return (view){ cell && cell->kind == AR_EXPR_LOAD && !has_edges(cell) ? cell : NULL, false };
}

/* From array to array, as long as one hands on cells of another. */
static arras_expr read_through(const gathered *c, arras_expr load, bool *used)
{
    view v = view_of(c, load->array);

    *used = v.used;
    while (may_read_through(c->r, load, v)) {
        load = ar_substitute_indices(v.load, load->rank, load->args,
                                     (ar_place_of){ &c->r->space, NULL });
        if (load->kind != AR_EXPR_LOAD)
            break;
        v = view_of(c, load->array);
        *used = *used || v.used;
    }
    return load;
}

static bool is_same_place(arras_expr a, arras_expr b)
{
    if (a->rank != b->rank)
        return false;
    for (int axis = 0; axis < a->rank; axis++)
        if (a->args[axis] != b->args[axis] || a->array->shape[axis] != b->array->shape[axis])
            return false;
    return true;
}

/* An index that is read itself. */
static bool jumps(arras_expr load)
{
    for (int axis = 0; axis < load->rank; axis++) {
        arras_expr index = load->args[axis];

        while (index->kind == AR_EXPR_CAST)
            index = index->args[0];
        if (index->kind == AR_EXPR_LOAD)
            return true;
    }
    return false;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static bool look_at_load(gathered *c, arras_expr load)
{
    bool used;

    load = read_through(c, load, &used);
    if (load->kind != AR_EXPR_LOAD || has_edges(load) || !jumps(load))
        return false;
    c->computed = c->computed && used;
    if (!c->place)
        c->place = load;
    return is_same_place(load, c->place);
}

/* A division takes no longer than to gather what it gives. */
static bool is_dear(ar_op op)
{
    return op == AR_OP_sqrt || ar_op_units(op) > ar_op_units(AR_OP_divide);
}

/* Depth is limited by AR_MAX_DEPTH. */
static bool look(gathered *c, arras_expr e)
{
    bool good = ++c->visits <= MOST_VISITS;

    if (e->kind == AR_EXPR_LOAD)
        return good && look_at_load(c, e);
    if (e->kind != AR_EXPR_OP && e->kind != AR_EXPR_CAST)
        return good && e->kind == AR_EXPR_LITERAL;
    if (e->kind == AR_EXPR_OP && is_dear((ar_op)e->ints[0]))
        c->dear = ar_op_name((ar_op)e->ints[0]);
    for (int i = 0; good && i < e->nargs; i++)
        good = look(c, e->args[i]);
    return good;
}

/* By an array of this shape.  What is computed of all cells must be stored, and gathered too. */
static bool is_gathered_often(arras_array x, int rank, const arras_dim *shape)
{
    double cells = 1, needed = 1;

    for (int axis = 0; axis < x->rank; axis++)
        cells *= ar_dim_symbolic(x->shape[axis]) ? HUGE_VAL : (double)x->shape[axis];
    for (int axis = 0; axis < rank; axis++)
        needed *= ar_dim_symbolic(shape[axis]) ? 0 : (double)shape[axis];
    return needed > OFTEN * cells;
}

/* The same of the cells as they lie. */
static arras_expr at_own_cell(const gathered *c, arras_expr e)
{
    arras_expr args[ARRAS_MAX_RANK];
    bool       used;

    if (e->kind == AR_EXPR_LITERAL)
        return e;
    if (e->kind == AR_EXPR_LOAD) {
        for (int axis = 0; axis < c->place->rank; axis++)
            args[axis] = ar_expr_index(e->graph, axis);
        return ar_expr_load(read_through(c, e, &used)->array, c->place->rank, args, NULL);
    }
    for (int i = 0; i < e->nargs; i++)
        args[i] = at_own_cell(c, e->args[i]);
    return ar_expr_with_args(e, args);
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static arras_status note(views *v, arras_array made, view noted, arras_error *err)
{
    while (v->room <= (size_t)made->id) {
        size_t old = v->room;

        if (!ar_grow(&v->items, &v->room, old, sizeof *v->items))
            return ar_fail_memory(err, old * sizeof *v->items);
        memset(v->items + old, 0, (v->room - old) * sizeof *v->items);
    }
    v->items[made->id] = noted;
    return ARRAS_OK;
}

/* What is computed of all cells, read where c reads. */
static arras_status make_view(view *out, const gathered *c, arras_expr cell)
{
    arras_array  x = c->place->array, all = NULL;
    arras_status status = ar_rewrite_store(c->r, &all, x->rank, x->shape, at_own_cell(c, cell));

    if (status == ARRAS_OK)
        *out = (view){ ar_load_like(c->place, all, c->place->args), c->dear || c->computed };
    return status;
}

static arras_status say(const gathered *c, arras_array made)
{
    ar_text line = { 0 };

    if (!c->views->decisions)
        return ARRAS_OK;
    ar_text_printf(&line, "computed before a gather: %s, cells of ",
                   c->dear ? c->dear : "what is made of such");
    ar_node_type_print(&line, c->place->array);
    ar_text_add(&line, " instead of ");
    ar_node_type_print(&line, made);
    return ar_decisions_say(c->views->decisions, &line, c->r->err);
}

static arras_status put(ar_rewrite *r, arras_array old, arras_expr cell)
{
    gathered     c = { .r = r, .views = r->pass, .computed = true };
    arras_array *became = &r->became[old->id];
    view         v = { NULL, false };
    arras_status status = ARRAS_OK;

    if (cell->kind == AR_EXPR_OP && look(&c, cell) && c.place &&
        is_gathered_often(c.place->array, old->rank, r->shape))
        status = make_view(&v, &c, cell);
    if (status == ARRAS_OK)
        status = ar_rewrite_store(r, became, old->rank, r->shape, v.used ? v.load : cell);
    if (status == ARRAS_OK && v.load)
        status = note(r->pass, *became, v, r->err);
    if (status == ARRAS_OK && v.used)
        status = say(&c, *became);
    r->changed = r->changed || v.used;
    return status;
}

/* What there must be, before it is worth to rewrite anything. */
typedef struct {
    bool gathers, dear;
} signs;

static bool look_for(void *pass, arras_array lambda, arras_expr e)
{
    signs *s = pass;

    if (!s->gathers && e->kind == AR_EXPR_LOAD && jumps(e))
        s->gathers = is_gathered_often(ar_array_of(lambda, e), lambda->rank, lambda->shape);
    s->dear = s->dear || (e->kind == AR_EXPR_OP && is_dear((ar_op)e->ints[0]));
    return !s->gathers || !s->dear;
}

arras_status ar_gather_late(arras_graph **out, const arras_graph *normal, ar_decisions *decisions,
                            arras_error *err)
{
    views        v = { .decisions = decisions };
    ar_rewrite   r = { .make = ar_rewrite_copy, .put = put, .pass = &v, .looks_back = true };
    signs        found = { false, false };
    ar_survey    s;
    arras_status status = ar_survey_open(&s, normal, err);

    if (status != ARRAS_OK)
        return status;
    status = ar_survey_look(&s, look_for, &found, err);
    ar_survey_close(&s);
    if (status == ARRAS_OK && found.gathers && found.dear)
        status = ar_rewrite_try(out, &r, normal, err);
    ar_free(v.items);
    return status;
}
