/* dg_euler.c -- the compressible Euler equations of an ideal gas (gamma 1.4) for density, energy
 * and momentum, in weak form with local Lax-Friedrichs fluxes.  The gas slips along walls: across
 * them the momentum is mirrored. */
#include "dgfem.h"

#include <string.h>

static const double gamma_gas = 1.4;

/* The gas at some places: at nodes, (E, Np), or at nodes of faces, (4, E, Nfp). */
typedef struct {
    arras_array q[5];                          /* density, energy, momentum */
    arras_array velocity[3], pressure, volume; /* of a unit of mass */
} gas;

static gas make_gas(const arras_array q[5])
{
    gas         g;
    arras_array kinetic;

    memcpy(g.q, q, sizeof g.q);
    g.volume = arras_divide(arras_float(arras_array_graph(q[0]), 1), q[0]);
    for (int i = 0; i < 3; i++)
        g.velocity[i] = arras_multiply(q[2 + i], g.volume);
    kinetic = dg_times(0.5, dg_dot(q + 2, g.velocity));
    g.pressure = dg_times(gamma_gas - 1, arras_subtract(q[1], kinetic));
    return g;
}

/* How fast the quantities are carried along x, y and z: fluxes[k] is that of q[k]. */
static void fluxes_of(arras_array fluxes[5][3], const gas *g)
{
    arras_array enthalpy = arras_add(g->q[1], g->pressure);

    for (int i = 0; i < 3; i++) {
        fluxes[0][i] = g->q[2 + i];
        fluxes[1][i] = arras_multiply(g->velocity[i], enthalpy);
        for (int j = 0; j < 3; j++) {
            arras_array carried = arras_multiply(g->q[2 + j], g->velocity[i]);

            fluxes[2 + j][i] = i == j ? arras_add(carried, g->pressure) : carried;
        }
    }
}

/* The speed of the fastest wave: that of the gas and that of sound. */
static arras_array fastest(const gas *g)
{
    arras_array sound = arras_sqrt(arras_multiply(dg_times(gamma_gas, g->pressure), g->volume));

    return arras_add(arras_sqrt(dg_dot(g->velocity, g->velocity)), sound);
}

static gas gas_inside(const dg_space *s, const arras_array *fields)
{
    arras_array q[5];

    for (int k = 0; k < 5; k++)
        q[k] = dg_inside(s, fields[k]);
    return make_gas(q);
}

/* On walls, the gas inside with its momentum mirrored: without twice its part along the normal. */
static gas gas_across(const dg_space *s, const arras_array *fields)
{
    arras_array q[5], twice;

    for (int k = 0; k < 5; k++)
        q[k] = dg_across(s, fields[k]);
    twice = arras_multiply(dg_times(2, s->wall), dg_dot(q + 2, s->normal));
    for (int i = 0; i < 3; i++)
        q[2 + i] = arras_subtract(q[2 + i], arras_multiply(twice, s->normal[i]));
    return make_gas(q);
}

/* What flows out through the faces. */
static void outflow(arras_array out[5], const dg_space *s, const arras_array *fields)
{
    gas         inside = gas_inside(s, fields), across = gas_across(s, fields);
    arras_array from_inside[5][3], from_across[5][3];
    arras_array speed = arras_maximum(fastest(&inside), fastest(&across));

    fluxes_of(from_inside, &inside);
    fluxes_of(from_across, &across);
    for (int k = 0; k < 5; k++) {
        arras_array central =
            arras_add(dg_dot(s->normal, from_inside[k]), dg_dot(s->normal, from_across[k]));
        arras_array jump = arras_subtract(across.q[k], inside.q[k]);

        out[k] = dg_times(0.5, arras_subtract(central, arras_multiply(speed, jump)));
    }
}

static void rates(arras_array *rates, const dg_space *s, const arras_array *fields)
{
    gas         here = make_gas(fields);
    arras_array out[5], fluxes[5][3];

    outflow(out, s, fields);
    fluxes_of(fluxes, &here);
    for (int k = 0; k < 5; k++)
        rates[k] =
            dg_solve_mass(s, arras_subtract(dg_divergence(s, fluxes[k]), dg_lift(s, out[k])));
}

const dg_equations dg_euler = { "euler", 5, { "rho", "E", "mx", "my", "mz" }, rates };
