/* test_extent_random.c -- what is said of an index before a program runs, against every value that
 * it has: of random index expressions, under reductions within reductions whose ranges depend on
 * one another and may be empty, and under conditions, each value is computed.  None may lie outside
 * of the extent (extent.c), of the bounds (region.c), or contradict an order that was called sure.
 */
#include "index_kit.h"

enum { PROGRAMS = 4000, MOST_FRAMES = 4, MOST_POINTS = 3000 };

/* ---- Every value ----------------------------------------------------------------------------- */

typedef struct {
    int             nframes, points;
    const ar_frame *frames;
    arras_expr      e, other;
    int64_t         length;
    ar_extent       extent;
    bool            bounded, is_below;
    int             is_less;
    int64_t         low, high;
    int64_t         box_lo[AXES], box_hi[AXES]; /* of the extent */
    values          v;
    bool            in_box;
} claims;

static void show_claims(const claims *c, int64_t value)
{
    printf("    ");
    show_expr(c->e);
    printf(" is %" PRId64 " at i0 = %" PRId64 ", i1 = %" PRId64, value, c->v.index[0],
           c->v.index[1]);
    for (int i = 0; i < c->v.n; i++)
        printf(", %s = %" PRId64, c->v.names[i], c->v.values[i]);
    printf("; extent %" PRId64 " to %" PRId64 ", bounds %" PRId64 " to %" PRId64 "\n",
           c->extent.low, c->extent.high, c->low, c->high);
    for (int k = 0; k < c->nframes; k++) {
        const ar_frame *frame = &c->frames[k];

        printf("    where %s ", frame->variable ? frame->variable : frame->holds ? "" : "not");
        show_expr(frame->variable ? frame->lo : frame->condition);
        if (frame->variable) {
            printf(" to ");
            show_expr(frame->hi);
        }
        printf("\n");
    }
}

static void check_value(claims *c)
{
    int     failures = test.failures;
    int64_t value, other;

    c->v.none = false;
    value = value_of(c->e, &c->v);
    if (c->v.none || c->points > MOST_POINTS)
        return;
    c->points++;
    if (c->in_box && c->extent.known)
        CHECK(value >= c->extent.low && value <= c->extent.high &&
              (value < c->extent.gap_low || value > c->extent.gap_high));
    if (c->bounded)
        CHECK(value >= c->low && value <= c->high);
    if (c->is_below)
        CHECK(value >= 0 && value < c->length);
    other = value_of(c->other, &c->v);
    if (!c->v.none && c->is_less)
        CHECK((value < other) == (c->is_less > 0));
    if (test.failures > failures)
        show_claims(c, value);
}

static void walk_frames(claims *c, int k)
{
    const ar_frame *frame = &c->frames[k];

    if (k == c->nframes) {
        check_value(c);
        return;
    }
    c->v.none = false;
    if (!frame->variable) {
        bool holds = value_of(frame->condition, &c->v);

        if (!c->v.none && holds == frame->holds)
            walk_frames(c, k + 1);
        return;
    }
    int64_t lo = value_of(frame->lo, &c->v), hi = value_of(frame->hi, &c->v);
    bool    none = c->v.none;
    int     at = c->v.n++;

    c->v.names[at] = frame->variable;
    for (int64_t i = lo; i < hi && i < lo + 12 && !none; i++) {
        c->v.values[at] = i;
        walk_frames(c, k + 1);
    }
    for (int64_t i = hi - 3 > lo + 12 ? hi - 3 : lo + 12; i < hi && !none; i++) {
        c->v.values[at] = i;
        walk_frames(c, k + 1);
    }
    c->v.n--;
}

static void walk_cells(claims *c, const arras_dim *shape)
{
    for (c->v.index[0] = 0; c->v.index[0] < shape[0]; c->v.index[0]++)
        for (c->v.index[1] = 0; c->v.index[1] < shape[1]; c->v.index[1]++) {
            c->in_box = true;
            for (int axis = 0; axis < AXES; axis++)
                c->in_box = c->in_box && c->v.index[axis] >= c->box_lo[axis] &&
                            c->v.index[axis] < c->box_hi[axis];
            walk_frames(c, 0);
        }
}

/* ---- Claims ---------------------------------------------------------------------------------- */

static int make_frames(ar_frame *frames, int *variables)
{
    int n = below(MOST_FRAMES + 1);

    *variables = 0;
    for (int k = 0; k < n; k++) {
        frames[k] = (ar_frame){ .outer = k ? &frames[k - 1] : NULL };
        if (*variables < 3 && below(3)) {
            frames[k].lo = below(2) ? number(0) : random_expr(*variables, 1);
            frames[k].hi = random_expr(*variables, 1);
            frames[k].variable = names[(*variables)++];
        } else {
            frames[k].condition = random_condition(*variables, 1);
            frames[k].holds = below(2);
        }
    }
    return n;
}

static bool one_expression(void)
{
    ar_frame       frames[MOST_FRAMES];
    arras_dim      shape[AXES] = { 1 + below(4), 1 + below(4) };
    claims         c = { .frames = frames };
    int            variables;
    const ar_space space = { .g = g, .rank = AXES, .shape = shape };

    c.nframes = make_frames(frames, &variables);
    c.e = random_expr(variables, 3);
    c.other = below(2) ? random_expr(variables, 2) : number(below(8) - 2);
    c.length = 1 + below(8);
    for (int axis = 0; axis < AXES; axis++) {
        c.box_lo[axis] = below((int)shape[axis]);
        c.box_hi[axis] = c.box_lo[axis] + 1 + below((int)(shape[axis] - c.box_lo[axis]));
    }
    if (!CHECK(c.e->kind != AR_EXPR_POISON && c.other->kind != AR_EXPR_POISON))
        return false;
    const ar_frame *around = c.nframes ? &frames[c.nframes - 1] : NULL;
    ar_extent_code  code;
    ar_arena        arena = { 0 };

    CHECK(ar_extent_compile(&code, c.e, NULL, around, &arena));
    c.extent = ar_extent_of(&code, c.box_lo, c.box_hi);
    ar_arena_free(&arena);
    c.bounded = ar_index_bounds(&c.low, &c.high, c.e, &space, around);
    c.is_below = ar_index_is_below(c.e, c.length, &space, around);
    c.is_less = ar_index_is_less(c.e, c.other, &space, around);
    walk_cells(&c, shape);
    return c.extent.known || c.bounded;
}

static void no_value_is_outside(void)
{
    int known = 0;

    for (int i = 0; i < PROGRAMS; i++) {
        CASE("expression %d", i);
        if (!CHECK_EQ_INT(arras_graph_new(&g, NULL), ARRAS_OK))
            return;
        known += one_expression();
        arras_graph_free(g);
    }
    CHECK(known > PROGRAMS / 3); /* or nothing was tested */
}

TEST_MAIN { RUN(no_value_is_outside); }
