/* test_needs.c -- which cells of its inputs a step is said to read for a box of its results,
 * against every cell that it does read there: of random index expressions under all edge rules, in
 * sums within sums whose ranges depend on one another.  What is read must be in the region, and
 * where indices are simple no more than that. */
#include "index_kit.h"
#include "opt/opt.h"
#include "run/step_stage.h"

enum { PROGRAMS = 3000, INPUTS = 2, LONGEST = 9 };

static int64_t shapes[INPUTS][AXES]; /* of the inputs */

/* ---- What is read ---------------------------------------------------------------------------- */

static bool read_there[INPUTS][LONGEST][LONGEST]; /* by input and cell */

/* The place that an edge rule makes of an index; -1: none is read. */
static int64_t place_of(int64_t at, int64_t n, arras_edge_rule rule)
{
    int64_t period = rule == ARRAS_EDGE_REFLECT  ? 2 * n
                     : rule == ARRAS_EDGE_MIRROR ? ar_max64(1, 2 * n - 2)
                                                 : n;
    int64_t around = (at % period + period) % period;

    if (at >= 0 && at < n)
        return at;
    switch (rule) {
    case ARRAS_EDGE_NEAREST: return at < 0 ? 0 : n - 1;
    case ARRAS_EDGE_WRAP: return around;
    case ARRAS_EDGE_REFLECT: return around < n ? around : period - 1 - around;
    case ARRAS_EDGE_MIRROR: return around < n ? around : period - around;
    default: return -1; /* a constant, or an error */
    }
}

static void mark_load(arras_expr load, values *v)
{
    int64_t at[AXES];
    int     input = (int)load->ints[0];

    v->none = false;
    for (int axis = 0; axis < AXES; axis++) {
        at[axis] = value_of(load->args[axis], v);
        if (v->none)
            return;
        at[axis] = place_of(at[axis], shapes[input][axis], (arras_edge_rule)load->ints[1 + axis]);
    }
    if (at[0] >= 0 && at[1] >= 0)
        read_there[input][at[0]][at[1]] = true;
}

/* Both branches of a choice: kernels may read before they choose. */
static void mark_reads(arras_expr e, values *v)
{
    if (e->kind == AR_EXPR_LOAD) {
        mark_load(e, v);
        return;
    }
    if (e->kind != AR_EXPR_REDUCE) {
        for (int i = 0; i < e->nargs; i++)
            mark_reads(e->args[i], v);
        return;
    }
    v->none = false;
    int64_t lo = value_of(e->args[0], v), hi = value_of(e->args[1], v);
    bool    none = v->none;

    v->names[v->n++] = e->name;
    for (int64_t k = lo; k < hi && k < lo + 40 && !none; k++) {
        v->values[v->n - 1] = k;
        mark_reads(e->args[2], v);
    }
    v->n--;
}

static void mark_box(arras_expr cell, const int64_t *lo, const int64_t *hi)
{
    values v = { .n = 0 };

    memset(read_there, 0, sizeof read_there);
    for (v.index[0] = lo[0]; v.index[0] < hi[0]; v.index[0]++)
        for (v.index[1] = lo[1]; v.index[1] < hi[1]; v.index[1]++)
            mark_reads(cell, &v);
}

/* ---- What is said ---------------------------------------------------------------------------- */

static bool in_region(const ar_region *r, const int64_t *at)
{
    for (int axis = 0; axis < AXES; axis++)
        if (at[axis] < r->axes[axis].lo || at[axis] >= r->axes[axis].hi ||
            (at[axis] >= r->axes[axis].gap_lo && at[axis] < r->axes[axis].gap_hi))
            return false;
    return r->any;
}

/* Of an input: how many cells are read; none of them may lie outside, and nothing of the region
 * outside of the array. */
static int64_t check_need(const ar_region *need, int input)
{
    int64_t at[AXES], n = 0;

    for (at[0] = 0; at[0] < shapes[input][0]; at[0]++)
        for (at[1] = 0; at[1] < shapes[input][1]; at[1]++)
            if (read_there[input][at[0]][at[1]]) {
                CHECK(in_region(need, at));
                n++;
            }
    for (int axis = 0; axis < AXES && need->any; axis++)
        CHECK(need->axes[axis].lo >= 0 && need->axes[axis].hi <= shapes[input][axis] &&
              need->axes[axis].lo < need->axes[axis].hi);
    return n;
}

/* ---- Programs -------------------------------------------------------------------------------- */

static arras_array inputs[INPUTS];

static arras_expr load(int input, const arras_expr *indices, const arras_edge_rule *rules)
{
    arras_edge edges[AXES] = { { .rule = rules[0] }, { .rule = rules[1] } };

    return ar_expr_load(inputs[input], AXES, indices, edges);
}

static arras_expr random_load(int variables)
{
    arras_expr      indices[AXES];
    arras_edge_rule rules[AXES];

    for (int axis = 0; axis < AXES; axis++) {
        indices[axis] = random_expr(variables, 2);
        rules[axis] =
            (arras_edge_rule)(ARRAS_EDGE_CONSTANT + below(ARRAS_EDGE_END - ARRAS_EDGE_CONSTANT));
    }
    return load(below(INPUTS), indices, rules);
}

static arras_expr random_cell(int variables, int depth)
{
    arras_expr both[2];

    if (depth == 0 || below(3) == 0)
        return random_load(variables);
    if (variables < 3 && below(2)) {
        arras_expr lo = below(2) ? number(0) : random_expr(variables, 1);

        return ar_expr_reduce(AR_REDUCE_sum, names[variables], lo, random_expr(variables, 1),
                              random_cell(variables + 1, depth - 1));
    }
    both[0] = random_cell(variables, depth - 1);
    both[1] = random_cell(variables, depth - 1);
    return ar_expr_apply(AR_OP_add, 2, both);
}

static bool make_inputs(void)
{
    static const char *const called[INPUTS] = { "x", "y" };

    if (!CHECK_EQ_INT(ar_graph_new(&g, NULL), ARRAS_OK))
        return false;
    for (int k = 0; k < INPUTS; k++) {
        for (int axis = 0; axis < AXES; axis++)
            shapes[k][axis] = 1 + below(LONGEST);
        inputs[k] = ar_input(g, called[k], ARRAS_F64, AXES, shapes[k]);
    }
    return true;
}

/* The step of the one lambda, and for each of its inputs which of ours it is. */
static arras_status make_plan(ar_plan *plan, arras_graph **normal, const arras_dim *shape,
                              arras_expr cell, arras_error *err)
{
    arras_status status;

    ar_graph_output_add(g, "z", ar_lambda(g, AXES, shape, cell));
    status = ar_normalise(normal, g, err);
    return status == ARRAS_OK
               ? ar_plan_make(plan, *normal, &(ar_plan_options){ .machine = ar_machine_host() },
                              err)
               : status;
}

/* Inputs of a lambda are numbered as it meets them. */
static void order_shapes(const ar_plan *plan, const ar_step *step)
{
    for (int k = 0; k < step->ninputs; k++)
        for (int axis = 0; axis < AXES; axis++)
            shapes[k][axis] = plan->arrays[step->inputs[k]].node->shape[axis];
}

static void random_box(int64_t *lo, int64_t *hi, const arras_dim *shape)
{
    for (int axis = 0; axis < AXES; axis++) {
        lo[axis] = below((int)shape[axis]);
        hi[axis] = lo[axis] + 1 + below((int)(shape[axis] - lo[axis]));
    }
}

static void show_cell(arras_expr cell, const int64_t *lo, const int64_t *hi)
{
    printf("    ");
    for (int k = 0; k < INPUTS; k++)
        printf("_%d: [%d, %d] ", k, (int)shapes[k][0], (int)shapes[k][1]);
    printf("box %d..%d, %d..%d of kind %d\n", (int)lo[0], (int)hi[0], (int)lo[1], (int)hi[1],
           (int)cell->kind);
}

/* Cells that are read of those that are said to be, added to *read and *said. */
static void check_boxes(const ar_plan *plan, const arras_dim *shape, int boxes, int64_t *read,
                        int64_t *said)
{
    const ar_step *step = &plan->steps[0];
    arras_expr     cell = step->form.lambdas[0]->ref;
    ar_reads       reads;
    ar_arena       arena = { 0 };

    CHECK_EQ_INT(ar_step_reads(&reads, step, NULL, &arena, NULL), ARRAS_OK);
    for (int i = 0; i < boxes; i++) {
        int     failures = test.failures;
        int64_t lo[AXES], hi[AXES];

        random_box(lo, hi, shape);
        mark_box(cell, lo, hi);
        for (int k = 0; k < step->ninputs; k++) {
            ar_region need = ar_reads_need(&reads, k, lo, hi, shapes[k]);

            *read += check_need(&need, k);
            *said += ar_region_cells(&need);
        }
        if (test.failures > failures)
            show_cell(cell, lo, hi);
    }
    ar_arena_free(&arena);
}

static void check_program(arras_expr cell, const arras_dim *shape, int boxes, int64_t *read,
                          int64_t *said)
{
    arras_graph *normal = NULL;
    ar_plan      plan;
    arras_error  err = { ARRAS_OK, "" };

    if (CHECK_EQ_INT(make_plan(&plan, &normal, shape, cell, &err), ARRAS_OK)) {
        if (plan.nsteps > 0) { /* or it was a copy */
            order_shapes(&plan, &plan.steps[0]);
            check_boxes(&plan, shape, boxes, read, said);
        }
        ar_plan_free(&plan);
    } else {
        printf("    %s\n", err.text);
    }
    ar_graph_free(normal);
}

static void all_that_is_read_is_needed(void)
{
    int64_t read = 0, said = 0;

    for (int seed = 1; seed <= PROGRAMS; seed++) {
        arras_dim shape[AXES];

        CASE("seed %d", seed);
        state = (uint64_t)seed * UINT64_C(0x9E3779B97F4A7C15);
        if (!make_inputs())
            return;
        for (int axis = 0; axis < AXES; axis++)
            shape[axis] = 1 + below(6);
        check_program(random_cell(0, 3), shape, 4, &read, &said);
        ar_graph_free(g);
    }
    CHECK(read > 10000);    /* or nothing was tested */
    CHECK(said < 8 * read); /* or all of every array was said to be needed */
}

/* ---- No more than that ----------------------------------------------------------------------- */

/* A cell [i0, i1] of z reads x[i0 + down, i1 + right], under these rules. */
static const struct {
    const char     *why;
    arras_edge_rule rule;
    int64_t         down, right;
} exact[] = {
    { "its own cell", ARRAS_EDGE_NEAREST, 0, 0 },
    { "a neighbour, or the end of the row", ARRAS_EDGE_NEAREST, 1, -2 },
    { "cells outside are none", ARRAS_EDGE_CONSTANT, 3, 4 },
    { "around the end: a gap lies between", ARRAS_EDGE_WRAP, 2, -3 },
    { "all the way around", ARRAS_EDGE_WRAP, 16, -14 },
    { "reflected: some cells twice", ARRAS_EDGE_REFLECT, 3, -2 },
    { "mirrored: the end itself once", ARRAS_EDGE_MIRROR, 3, -2 },
};

static arras_expr shifted(int axis, int64_t by)
{
    return ar_expr_apply(AR_OP_add, 2, (arras_expr[]){ ar_expr_index(g, axis), number(by) });
}

/* x is f64[8, 7], and so is z: boxes of whatever size need just what they read, or what lies
 * between it where cells come twice. */
static void no_more_than_that(void)
{
    static const arras_dim shape[AXES] = { 8, 7 };

    for (size_t i = 0; i < AR_COUNT(exact); i++) {
        int64_t read = 0, said = 0;

        CASE("%s", exact[i].why);
        if (!CHECK_EQ_INT(ar_graph_new(&g, NULL), ARRAS_OK))
            return;
        shapes[0][0] = shape[0], shapes[0][1] = shape[1];
        inputs[0] = ar_input(g, "x", ARRAS_F64, AXES, shapes[0]);
        check_program(load(0,
                           (arras_expr[]){ shifted(0, exact[i].down), shifted(1, exact[i].right) },
                           (arras_edge_rule[]){ exact[i].rule, exact[i].rule }),
                      shape, 200, &read, &said);
        CHECK(read > 0);
        if (exact[i].rule == ARRAS_EDGE_NEAREST || exact[i].rule == ARRAS_EDGE_WRAP)
            CHECK_EQ_INT(said, read);
        ar_graph_free(g);
    }
}

TEST_MAIN
{
    RUN(all_that_is_read_is_needed);
    RUN(no_more_than_that);
}
