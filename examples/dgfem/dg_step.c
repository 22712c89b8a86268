/* dg_step.c -- programs that advance a state, and their launches.
 *
 * A step is the five stages of Carpenter and Kennedy's low-storage Runge-Kutta method of order 4,
 * recorded as one program; two states take turns as its input and its output. */
#include "dgfem.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STAGES = 5, NAME = 16 };

/* In memory that outlives all programs: the stages then differ in what they read, not in what they
 * do, and share their kernels. */
static const double keep[STAGES] = {
    0,
    -567301805773.0 / 1357537059087.0,
    -2404267990393.0 / 2016746695238.0,
    -3550918686646.0 / 2091501179385.0,
    -1275806237668.0 / 842570457699.0,
};
static const double add[STAGES] = {
    1432997174477.0 / 9575080441755.0,  5161836677717.0 / 13612068292357.0,
    1720146321549.0 / 2090206949498.0,  3134564353537.0 / 4481467310338.0,
    2277821191437.0 / 14882151754819.0,
};

/* ---- Recording ------------------------------------------------------------------------------- */

/* k = keep k + dt rates(q), q = q + add k */
static void record_stage(const dg_equations *eq, const dg_space *s, int stage, arras_array dt,
                         arras_array *q, arras_array *k)
{
    arras_array kept = arras_borrow(s->graph, ARRAS_F64, 0, NULL, NULL, &keep[stage]);
    arras_array added = arras_borrow(s->graph, ARRAS_F64, 0, NULL, NULL, &add[stage]);
    arras_array rates[DG_MOST_FIELDS];

    eq->rates(rates, s, q);
    for (int i = 0; i < eq->fields; i++) {
        arras_array change = arras_multiply(dt, rates[i]);

        k[i] = stage == 0 ? change : arras_add(arras_multiply(kept, k[i]), change);
        q[i] = arras_add(q[i], arras_multiply(added, k[i]));
    }
}

static void record_step(const dg_equations *eq, const dg_space *s, arras_array *q)
{
    arras_array dt = arras_placeholder(s->graph, "dt", ARRAS_F64, 0, NULL), k[DG_MOST_FIELDS];

    for (int stage = 0; stage < STAGES; stage++)
        record_stage(eq, s, stage, dt, q, k);
}

static void output_name(char name[NAME], const char *field)
{
    snprintf(name, NAME, "new_%s", field);
}

void dg_program_record(arras_graph *g, const dg_problem *p, dg_program_kind kind)
{
    const dg_equations *eq = p->of->equations;
    const arras_dim     shape[] = { p->mesh.count, p->element.np };
    arras_array         q[DG_MOST_FIELDS], rates[DG_MOST_FIELDS];
    dg_space            s;
    char                name[NAME];

    dg_space_record(&s, g, &p->mesh, &p->element);
    for (int i = 0; i < eq->fields; i++)
        q[i] = arras_placeholder(g, eq->names[i], ARRAS_F64, 2, shape);
    if (kind == DG_STEP)
        record_step(eq, &s, q);
    else
        eq->rates(rates, &s, q);
    for (int i = 0; i < eq->fields; i++) {
        output_name(name, eq->names[i]);
        arras_output(g, name, kind == DG_STEP ? q[i] : rates[i]);
    }
}

arras_status dg_program_compile(arras_program **out, const dg_problem *problem,
                                dg_program_kind kind, const arras_options *options,
                                arras_error *err)
{
    arras_graph *g = NULL;
    arras_status status = arras_graph_new(&g, err);

    if (status != ARRAS_OK)
        return status;
    dg_program_record(g, problem, kind);
    status = arras_compile(out, g, options, err);
    arras_graph_free(g);
    return status;
}

/* ---- Problems and states --------------------------------------------------------------------- */

arras_status dg_problem_make(dg_problem *out, const dg_case *of, int degree, const int64_t cells[3],
                             arras_error *err)
{
    arras_status status = dg_element_make(&out->element, degree, err);

    out->of = of;
    if (status == ARRAS_OK)
        status = dg_mesh_make(&out->mesh, cells, of->periodic, &out->element, err);
    return status;
}

void dg_problem_free(dg_problem *problem) { dg_mesh_free(&problem->mesh); }

arras_status dg_state_make(dg_state *out, const dg_problem *problem, arras_error *err)
{
    size_t   count = (size_t)(problem->mesh.count * problem->element.np);
    dg_state s = { { NULL } };

    for (int i = 0; i < problem->of->equations->fields; i++) {
        s.fields[i] = calloc(count, sizeof(double));
        if (!s.fields[i]) {
            dg_state_free(&s);
            return dg_fail(err, ARRAS_ENOMEM, "no memory for fields of %zu values", count);
        }
    }
    *out = s;
    return ARRAS_OK;
}

void dg_state_free(dg_state *state)
{
    for (int i = 0; i < DG_MOST_FIELDS; i++)
        free(state->fields[i]);
    memset(state, 0, sizeof *state);
}

/* ---- Launches -------------------------------------------------------------------------------- */

arras_status dg_launch(arras_program *program, const dg_problem *problem, dg_state *in,
                       dg_state *out, double *dt, arras_error *err)
{
    const dg_equations *eq = problem->of->equations;
    const int64_t       shape[] = { problem->mesh.count, problem->element.np };
    arras_binding       bindings[2 * DG_MOST_FIELDS + 1];
    char                names[DG_MOST_FIELDS][NAME];
    int                 n = 0;

    for (int i = 0; i < eq->fields; i++) {
        arras_buffer from = { in->fields[i], ARRAS_F64, 2, shape, NULL };
        arras_buffer to = { out->fields[i], ARRAS_F64, 2, shape, NULL };

        output_name(names[i], eq->names[i]);
        bindings[n++] = (arras_binding){ eq->names[i], from };
        bindings[n++] = (arras_binding){ names[i], to };
    }
    if (dt)
        bindings[n++] = (arras_binding){ "dt", { dt, ARRAS_F64, 0, NULL, NULL } };
    return arras_launch(NULL, program, n, bindings, err);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

arras_status dg_advance(arras_program *step, const dg_problem *problem, dg_state *state,
                        int64_t steps, double dt, double *seconds, arras_error *err)
{
    dg_state     other, between;
    double       start = 0;
    arras_status status = dg_state_make(&other, problem, err);

    for (int64_t i = 0; i < steps && status == ARRAS_OK; i++) {
        if (i <=
            1) /* the first launch lays out memory and tasks; it counts if it is the only one */
            start = now();
        status = dg_launch(step, problem, state, &other, &dt, err);
        if (status != ARRAS_OK)
            break;
        between = *state;
        *state = other;
        other = between;
    }
    *seconds = now() - start;
    dg_state_free(&other);
    return status;
}
