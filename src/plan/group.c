/* group.c -- which lambdas are computed in one loop nest: those of one shape that read the same
 * arrays, or each other at their own cell. */
#include "plan/group.h"

/* More streams of memory at once are slower than two passes; longer texts take long to compile. */
enum { MOST_RESULTS = 8, MOST_INPUTS = 24, MOST_OPERATIONS = 750, MOST_DEPTH = 400 };

typedef struct {
    int     results, inputs;
    int64_t reads[MOST_INPUTS]; /* ids of its inputs */
    int64_t operations;         /* those that members share count again */
    int     depth;              /* of cells in which members are written into their readers */
    int     model;              /* its first member */
} group;

typedef struct {
    int        n;
    ar_member *members;
    const int *of_node;
    group     *groups;
    int        count;
    int       *last_reader; /* by id of node: the last group that reads it; -1: none */
} grouper;

static bool same_shape(arras_array a, arras_array b)
{
    if (a->rank != b->rank)
        return false;
    for (int axis = 0; axis < a->rank; axis++)
        if (a->shape[axis] != b->shape[axis])
            return false;
    return true;
}

static const ar_member *member_of(const grouper *s, arras_array node)
{
    int number = s->of_node[node->id];

    return number < 0 ? NULL : &s->members[number];
}

/* Groups run in the order of their numbers: what is read must come from an earlier one, or from the
 * same cell within this one. */
static bool order_allows(const grouper *s, const ar_member *m, int number)
{
    for (int k = 0; k < m->lambda->ninputs; k++) {
        const ar_member *from = member_of(s, m->lambda->inputs[k]);

        if (!from || (from->constant && !m->constant)) /* is there before all launches */
            continue;
        if (from->group > number || (from->group == number && !m->facts.same_cell[k]))
            return false;
    }
    return true;
}

static bool reads(const group *g, int64_t id)
{
    for (int i = 0; i < g->inputs && i < MOST_INPUTS; i++)
        if (g->reads[i] == id)
            return true;
    return false;
}

static int count_inputs_with(const group *g, const ar_member *m)
{
    int count = g->inputs;

    for (int k = 0; k < m->lambda->ninputs; k++)
        count += !reads(g, m->lambda->inputs[k]->id);
    return count;
}

static int depth_of(const ar_member *m)
{
    return m->lambda->kind == AR_LAMBDA ? ((arras_expr)m->lambda->ref)->depth : 0;
}

/* How deep the cells of a group would be with m among them. */
static int depth_with(const grouper *s, const ar_member *m, int number)
{
    int depth = depth_of(m), had = s->groups[number].depth;

    for (int k = 0; k < m->lambda->ninputs; k++) {
        const ar_member *from = member_of(s, m->lambda->inputs[k]);

        if (from && from->group == number)
            return had + depth;
    }
    return had > depth ? had : depth;
}

static bool is_alone(const ar_member *m)
{
    return m->kind.gemm || m->kind.contraction || m->lambda->kind != AR_LAMBDA;
}

static bool may_join(const grouper *s, const ar_member *m, int number)
{
    const group     *g = &s->groups[number];
    const ar_member *model = &s->members[g->model];

    return !is_alone(m) && !is_alone(model) && g->results < MOST_RESULTS &&
           count_inputs_with(g, m) <= MOST_INPUTS &&
           g->operations + m->facts.operations <= MOST_OPERATIONS &&
           model->constant == m->constant && model->facts.reduces == m->facts.reduces &&
           same_shape(model->lambda, m->lambda) && order_allows(s, m, number) &&
           depth_with(s, m, number) <= MOST_DEPTH;
}

/* 0-d arrays are everywhere: to share one gains nothing. */
static int find_group(const grouper *s, const ar_member *m)
{
    for (int k = 0; k < m->lambda->ninputs; k++) {
        arras_array      x = m->lambda->inputs[k];
        const ar_member *from = member_of(s, x);
        int              reader = s->last_reader[x->id];

        if (x->rank == 0)
            continue;
        if (from && may_join(s, m, from->group))
            return from->group;
        if (reader >= 0 && may_join(s, m, reader))
            return reader;
    }
    return -1;
}

static void join(grouper *s, int number, int place)
{
    ar_member *m = &s->members[place];
    group     *g = &s->groups[number];

    g->depth = depth_with(s, m, number);
    g->results++;
    g->operations += m->facts.operations;
    m->group = number;
    for (int k = 0; k < m->lambda->ninputs; k++) {
        int64_t id = m->lambda->inputs[k]->id;

        if (!reads(g, id) && g->inputs++ < MOST_INPUTS)
            g->reads[g->inputs - 1] = id;
        s->last_reader[id] = number;
    }
}

static int64_t largest_id(int n, const ar_member *members)
{
    return n ? members[n - 1].lambda->id : 0;
}

/* Members in the order of their groups. */
static void list_members(ar_groups *out, const grouper *s)
{
    for (int i = 0; i < s->n; i++)
        out->first[s->members[i].group + 1]++;
    for (int g = 0; g < s->count; g++)
        out->first[g + 1] += out->first[g];
    for (int i = 0; i < s->n; i++)
        out->members[out->first[s->members[i].group]++] = i;
    for (int g = s->count; g > 0; g--)
        out->first[g] = out->first[g - 1];
    out->first[0] = 0;
    out->count = s->count;
}

arras_status ar_groups_make(ar_groups *out, int n, ar_member *members, const int *of_node,
                            bool single, ar_arena *arena, arras_error *err)
{
    size_t  ids = (size_t)largest_id(n, members) + 1;
    grouper s = { .n = n, .members = members, .of_node = of_node };

    s.groups = ar_arena_alloc(arena, (size_t)n, sizeof *s.groups);
    s.last_reader = ar_arena_alloc(arena, ids, sizeof *s.last_reader);
    out->first = ar_arena_alloc(arena, (size_t)n + 1, sizeof *out->first);
    out->members = ar_arena_alloc(arena, (size_t)n, sizeof *out->members);
    if (!s.groups || !s.last_reader || !out->first || !out->members)
        return ar_fail_memory(err, ids * sizeof *s.last_reader);
    for (size_t id = 0; id < ids; id++)
        s.last_reader[id] = -1;
    for (int i = 0; i < n; i++) {
        int number = single ? -1 : find_group(&s, &members[i]);

        if (number < 0) {
            number = s.count++;
            s.groups[number].model = i;
        }
        join(&s, number, i);
    }
    list_members(out, &s);
    return ARRAS_OK;
}
