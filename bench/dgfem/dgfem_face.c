/* dgfem_face.c -- one right-hand side as the driver sees it: a problem with a state, which Arras
 * (with fusion, without, and one operation after the other) and hand-written C turn into rates;
 * functions of plain numbers and addresses, for Python's ctypes.  Where something fails
 * dgfem_message says what. */
#include "dgfem_hand.h"
#include "dgfem_steps.h"

#include <stdlib.h>

#define FACE __attribute__((visibility("default")))

enum { FUSED, UNFUSED, ONE_BY_ONE, HAND };

typedef struct {
    dg_problem     problem;
    hand_matrices  matrices;
    dg_state       state, rates;
    arras_program *programs[2];
    steps         *one_by_one;
    int            threads;
} dgfem_race;

/* The driver is one thread. */
static arras_error last_error;

FACE const char *dgfem_message(void) { return last_error.text; }

FACE void dgfem_close(dgfem_race *r)
{
    if (!r)
        return;
    for (int way = FUSED; way <= UNFUSED; way++)
        arras_program_free(r->programs[way]);
    steps_free(r->one_by_one);
    dg_state_free(&r->state);
    dg_state_free(&r->rates);
    dg_problem_free(&r->problem);
    free(r);
}

static arras_status open_race(dgfem_race *r, const dg_equations *eq, int degree,
                              const int64_t *cells, int threads)
{
    arras_error *err = &last_error;
    arras_status status = dg_problem_make(&r->problem, dg_case_find(eq, "R"), degree, cells, err);

    r->threads = threads;
    if (status == ARRAS_OK)
        status = dg_state_make(&r->state, &r->problem, err);
    if (status == ARRAS_OK)
        status = dg_state_make(&r->rates, &r->problem, err);
    if (status == ARRAS_OK)
        status = dg_state_set(&r->state, &r->problem, 0, err);
    for (int way = FUSED; way <= UNFUSED && status == ARRAS_OK; way++) {
        arras_options options = { .threads = threads, .no_fusion = way == UNFUSED };

        status = dg_program_compile(&r->programs[way], &r->problem, DG_RATES, &options, err);
    }
    if (status == ARRAS_OK)
        status = steps_make(&r->one_by_one, &r->problem, &r->state, &r->rates, threads, err);
    hand_prepare(&r->matrices, &r->problem.element);
    return status;
}

FACE dgfem_race *dgfem_open(bool euler, int degree, const int64_t *cells, int threads)
{
    const dg_equations *eq = euler ? &dg_euler : &dg_wave;
    dgfem_race         *r = calloc(1, sizeof *r);

    if (r && open_race(r, eq, degree, cells, threads) == ARRAS_OK)
        return r;
    dgfem_close(r);
    return NULL;
}

static arras_status run_once(dgfem_race *r, int way)
{
    if (way == ONE_BY_ONE)
        return steps_run(r->one_by_one, &last_error);
    if (way != HAND)
        return dg_launch(r->programs[way], &r->problem, &r->state, &r->rates, NULL, &last_error);
    if (r->problem.of->equations == &dg_wave)
        hand_wave(r->rates.fields, r->state.fields, &r->problem, &r->matrices, r->threads);
    else
        hand_euler(r->rates.fields, r->state.fields, &r->problem, &r->matrices, r->threads);
    return ARRAS_OK;
}

FACE bool dgfem_run(dgfem_race *r, int way, int64_t times)
{
    arras_status status = ARRAS_OK;

    for (int64_t t = 0; t < times && status == ARRAS_OK; t++)
        status = run_once(r, way);
    return status == ARRAS_OK;
}

/* Of the fused program: nodes, kernels, tasks, bytes if all were stored, bytes moved, compulsory,
 * temporaries, live; launches of one operation after the other. */
FACE void dgfem_counters(int64_t out[9], const dgfem_race *r)
{
    arras_counters c;

    arras_program_counters(&c, r->programs[FUSED]);
    out[0] = c.nodes, out[1] = c.kernels, out[2] = c.tasks;
    out[3] = c.bytes_before, out[4] = c.bytes_moved, out[5] = c.bytes_compulsory;
    out[6] = c.planned, out[7] = c.live, out[8] = steps_count(r->one_by_one);
}

/* The arrays a right-hand side is made from, in the order of dgfem_numpy.py; fields and rates. */
FACE void dgfem_arrays(const void *out[11], const dgfem_race *r)
{
    const dg_mesh    *m = &r->problem.mesh;
    const dg_element *e = &r->problem.element;
    const void *const all[] = { m->metric,       m->inverse_jacobian, m->surface,   m->normal,
                                m->across,       m->across_nodes,     m->wall,      e->stiffness,
                                e->inverse_mass, e->face_mass,        e->face_nodes };

    for (int i = 0; i < 11; i++)
        out[i] = all[i];
}

FACE double *dgfem_field(const dgfem_race *r, int i) { return r->state.fields[i]; }

FACE double *dgfem_rate(const dgfem_race *r, int i) { return r->rates.fields[i]; }
