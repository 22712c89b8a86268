/* dg_wave.c -- the wave equation as a system of first order, du/dt = div v and dv/dt = grad u, in
 * weak form with upwind fluxes.  Walls reflect: u changes its sign across them, v stays. */
#include "dgfem.h"

/* A field on both sides of all faces, (4, E, Nfp). */
typedef struct {
    arras_array mean, half_jump;
} trace;

static trace make_trace(arras_array inside, arras_array across)
{
    return (trace){ dg_times(0.5, arras_add(inside, across)),
                    dg_times(0.5, arras_subtract(across, inside)) };
}

/* 1, and on walls -1. */
static arras_array mirror(const dg_space *s)
{
    return arras_subtract(arras_float(s->graph, 1), dg_times(2, s->wall));
}

static void rates(arras_array *rates, const dg_space *s, const arras_array *fields)
{
    arras_array gradient = dg_gradient(s, fields[0]);
    arras_array divergence = dg_divergence(s, fields + 1);
    arras_array u_across = arras_multiply(mirror(s), dg_across(s, fields[0]));
    trace       u = make_trace(dg_inside(s, fields[0]), u_across);
    arras_array v_mean[3], v_half_jump[3], flux;

    for (int i = 0; i < 3; i++) {
        trace v = make_trace(dg_inside(s, fields[1 + i]), dg_across(s, fields[1 + i]));

        v_mean[i] = v.mean;
        v_half_jump[i] = v.half_jump;
    }
    flux = arras_add(dg_dot(s->normal, v_mean), u.half_jump);
    rates[0] = dg_solve_mass(s, arras_subtract(dg_lift(s, flux), divergence));
    flux = arras_add(u.mean, dg_dot(s->normal, v_half_jump));
    for (int i = 0; i < 3; i++) {
        const arras_item part = arras_at(i);
        arras_array      lifted = dg_lift(s, arras_multiply(s->normal[i], flux));

        rates[1 + i] = dg_solve_mass(s, arras_subtract(lifted, arras_index(gradient, 1, &part)));
    }
}

const dg_equations dg_wave = { "wave", 4, { "u", "vx", "vy", "vz" }, rates };
