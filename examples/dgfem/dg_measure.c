/* dg_measure.c -- states of a case at a time, and norms, errors and integrals of states: array
 * programs that run once. */
#include "dgfem.h"

#include <math.h>
#include <string.h>

static const int64_t *shape_of_fields(int64_t shape[2], const dg_problem *p)
{
    shape[0] = p->mesh.count;
    shape[1] = p->element.np;
    return shape;
}

static dg_place record_place(arras_graph *g, const dg_problem *p, double time)
{
    const int64_t parity[] = { p->mesh.count, 1 };
    int64_t       shape[2];
    dg_place      at;

    shape_of_fields(shape, p);
    at.t = arras_copy(g, ARRAS_F64, 0, NULL, NULL, &time);
    at.parity = arras_borrow(g, ARRAS_F64, 2, parity, NULL, p->mesh.parity);
    for (int i = 0; i < 3; i++)
        at.x[i] =
            arras_borrow(g, ARRAS_F64, 2, shape, NULL, p->mesh.nodes + i * shape[0] * shape[1]);
    return at;
}

/* Compiles, launches once, and releases the graph. */
static arras_status run_once(arras_results **out, arras_graph *g, int n,
                             const arras_binding *bindings, arras_error *err)
{
    arras_program *program = NULL;
    arras_status   status = arras_compile(&program, g, NULL, err);

    if (status == ARRAS_OK)
        status = arras_launch(out, program, n, bindings, err);
    arras_program_free(program);
    arras_graph_free(g);
    return status;
}

/* ---- States ---------------------------------------------------------------------------------- */

arras_status dg_state_set(dg_state *state, const dg_problem *problem, double time, arras_error *err)
{
    const dg_equations *eq = problem->of->equations;
    arras_binding       bindings[DG_MOST_FIELDS];
    arras_array         fields[DG_MOST_FIELDS];
    arras_graph        *g = NULL;
    arras_status        status = arras_graph_new(&g, err);
    dg_place            at;
    int64_t             shape[2];

    if (status != ARRAS_OK)
        return status;
    shape_of_fields(shape, problem);
    at = record_place(g, problem, time);
    problem->of->state(fields, &at);
    for (int i = 0; i < eq->fields; i++) {
        arras_output(g, eq->names[i], fields[i]);
        bindings[i] =
            (arras_binding){ eq->names[i], { state->fields[i], ARRAS_F64, 2, shape, NULL } };
    }
    return run_once(NULL, g, eq->fields, bindings, err);
}

/* ---- Measures -------------------------------------------------------------------------------- */

/* The square of the norm: f_e^T M f_e, each element with its J. */
static arras_array norm2(arras_array jacobian, arras_array mass, arras_array f)
{
    const arras_array operands[] = { jacobian, mass, f, f };

    return arras_einsum("e,mn,em,en->", 4, operands);
}

static arras_array integral(arras_array jacobian, arras_array mass, arras_array f)
{
    const arras_array operands[] = { jacobian, mass, f };

    return arras_einsum("e,mn,en->", 3, operands);
}

static void record_measures(arras_graph *g, const dg_problem *p, double time)
{
    const dg_equations *eq = p->of->equations;
    const int64_t       mass_shape[] = { p->element.np, p->element.np };
    dg_place            at = record_place(g, p, time);
    arras_array         exact[DG_MOST_FIELDS], norms[DG_MOST_FIELDS], errors[DG_MOST_FIELDS];
    arras_array         sums[DG_MOST_FIELDS], jacobian, mass;
    int64_t             shape[2];

    shape_of_fields(shape, p);
    jacobian = arras_borrow(g, ARRAS_F64, 1, shape, NULL, p->mesh.jacobian);
    mass = arras_borrow(g, ARRAS_F64, 2, mass_shape, NULL, p->element.mass);
    p->of->state(exact, &at);
    for (int i = 0; i < eq->fields; i++) {
        arras_array f = arras_placeholder(g, eq->names[i], ARRAS_F64, 2, shape);

        norms[i] = norm2(jacobian, mass, f);
        errors[i] = norm2(jacobian, mass, arras_subtract(f, exact[i]));
        sums[i] = integral(jacobian, mass, f);
    }
    arras_output(g, "norms2", arras_stack(eq->fields, norms, 0));
    arras_output(g, "errors2", arras_stack(eq->fields, errors, 0));
    arras_output(g, "integrals", arras_stack(eq->fields, sums, 0));
}

static void read_measures(dg_measures *out, const arras_results *r, int fields)
{
    const double *norms2 = arras_results_find(r, "norms2")->buffer.data;
    const double *errors2 = arras_results_find(r, "errors2")->buffer.data;
    double        all = 0;

    memcpy(out->integrals, arras_results_find(r, "integrals")->buffer.data,
           (size_t)fields * sizeof(double));
    for (int i = 0; i < fields; i++) {
        out->norms[i] = sqrt(norms2[i]);
        out->errors[i] = sqrt(errors2[i]);
        all += errors2[i];
    }
    out->error = sqrt(all);
}

arras_status dg_measure(dg_measures *out, const dg_problem *problem, const dg_state *state,
                        double time, arras_error *err)
{
    const dg_equations *eq = problem->of->equations;
    arras_binding       bindings[DG_MOST_FIELDS];
    arras_graph        *g = NULL;
    arras_results      *results = NULL;
    arras_status        status = arras_graph_new(&g, err);
    int64_t             shape[2];

    if (status != ARRAS_OK)
        return status;
    shape_of_fields(shape, problem);
    record_measures(g, problem, time);
    for (int i = 0; i < eq->fields; i++)
        bindings[i] =
            (arras_binding){ eq->names[i], { state->fields[i], ARRAS_F64, 2, shape, NULL } };
    status = run_once(&results, g, eq->fields, bindings, err);
    if (status == ARRAS_OK)
        read_measures(out, results, eq->fields);
    arras_results_free(results);
    return status;
}
