/* dg_cases.c -- initial states and exact solutions, as array programs of place and time. */
#include "dgfem.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ---- Small words for formulas ---------------------------------------------------------------- */

static arras_array number(const dg_place *at, double value)
{
    return arras_float(arras_array_graph(at->t), value);
}

/* One value at all nodes. */
static arras_array constant(const dg_place *at, double value)
{
    const arras_dim shape[] = { arras_array_dim(at->x[0], 0), arras_array_dim(at->x[0], 1) };

    return arras_full(arras_scalar(arras_array_graph(at->t), ARRAS_F64, &value), 2, shape);
}

static arras_array plus(const dg_place *at, arras_array x, double value)
{
    return arras_add(x, number(at, value));
}

static arras_array over_root3(arras_array x) { return dg_times(1 / sqrt(3), x); }

/* a x + b y + c z */
static arras_array along(const dg_place *at, double a, double b, double c)
{
    const arras_array scaled[] = { dg_times(a, at->x[0]), dg_times(b, at->x[1]),
                                   dg_times(c, at->x[2]) };

    return arras_add(arras_add(scaled[0], scaled[1]), scaled[2]);
}

/* exp(-|x - centre|^2 / width) */
static arras_array bell(const dg_place *at, double cx, double cy, double cz, double width)
{
    const arras_array from[] = { plus(at, at->x[0], -cx), plus(at, at->x[1], -cy),
                                 plus(at, at->x[2], -cz) };

    return arras_exp(dg_times(-1 / width, dg_dot(from, from)));
}

/* ---- Waves ----------------------------------------------------------------------------------- */

/* A standing wave: u = phi cos wt, v = grad phi sin wt / w with phi = cos pi x cos pi y cos pi z.
 */
static void standing_wave(arras_array *fields, const dg_place *at)
{
    const double w = sqrt(3) * pi;
    arras_array  cosines[3], phase = dg_times(w, at->t);

    for (int i = 0; i < 3; i++)
        cosines[i] = arras_cos(dg_times(pi, at->x[i]));
    fields[0] = arras_multiply(arras_multiply(cosines[0], cosines[1]),
                               arras_multiply(cosines[2], arras_cos(phase)));
    for (int i = 0; i < 3; i++) {
        arras_array others = arras_multiply(cosines[(i + 1) % 3], cosines[(i + 2) % 3]);
        arras_array slope = dg_times(-pi / w, arras_sin(dg_times(pi, at->x[i])));

        fields[1 + i] = arras_multiply(arras_multiply(slope, others), arras_sin(phase));
    }
}

/* Along (1, 1, -1), the direction in which both plane waves go. */
static void in_direction(arras_array out[3], arras_array size)
{
    out[0] = out[1] = over_root3(size);
    out[2] = arras_negative(out[0]);
}

static void plane_wave(arras_array *fields, const dg_place *at)
{
    arras_array phase = arras_add(along(at, 1, 1, -1), dg_times(sqrt(3), at->t));

    fields[0] = arras_sin(dg_times(2 * pi, phase));
    in_direction(fields + 1, fields[0]);
}

static void bump(arras_array *fields, const dg_place *at)
{
    fields[0] = bell(at, 0.2, 0.35, 0.1, 0.05 * 0.05);
    for (int i = 0; i < 3; i++)
        fields[1 + i] = constant(at, 0);
}

/* ---- Gases ----------------------------------------------------------------------------------- */

/* From density, velocity and pressure. */
static void set_gas(arras_array *fields, arras_array density, const arras_array velocity[3],
                    arras_array pressure)
{
    arras_array speed2 = dg_dot(velocity, velocity);

    fields[0] = density;
    fields[1] =
        arras_add(dg_times(1 / 0.4, pressure), dg_times(0.5, arras_multiply(density, speed2)));
    for (int i = 0; i < 3; i++)
        fields[2 + i] = arras_multiply(density, velocity[i]);
}

static void density_wave(arras_array *fields, const dg_place *at)
{
    static const double speed[] = { 1, 0.5, -0.75 };
    arras_array         sum = constant(at, 0), velocity[3];

    for (int i = 0; i < 3; i++) {
        arras_array carried = arras_subtract(at->x[i], dg_times(speed[i], at->t));

        sum = arras_add(sum, arras_sin(dg_times(2 * pi, carried)));
        velocity[i] = constant(at, speed[i]);
    }
    set_gas(fields, plus(at, dg_times(0.1, sum), 1), velocity, constant(at, 1));
}

/* w = 0.1 sin(2 pi (xi - sqrt3 (1 + 1.2 w) t)), by Newton's method; six steps leave nothing. */
static arras_array simple_wave_size(const dg_place *at)
{
    arras_array xi = along(at, 1, 1, -1), w = constant(at, 0);

    for (int k = 0; k < 6; k++) {
        arras_array speed = dg_times(sqrt(3), plus(at, dg_times(1.2, w), 1));
        arras_array phase = dg_times(2 * pi, arras_subtract(xi, arras_multiply(speed, at->t)));
        arras_array miss = arras_subtract(w, dg_times(0.1, arras_sin(phase)));
        arras_array slope = arras_multiply(dg_times(0.24 * pi * sqrt(3), at->t), arras_cos(phase));

        w = arras_subtract(w, arras_divide(miss, plus(at, slope, 1)));
    }
    return w;
}

static void simple_wave(arras_array *fields, const dg_place *at)
{
    arras_array w = simple_wave_size(at), c = plus(at, dg_times(0.2, w), 1), c2, c4, velocity[3];

    c2 = arras_multiply(c, c);
    c4 = arras_multiply(c2, c2);
    in_direction(velocity, w);
    set_gas(fields, arras_multiply(c4, c), velocity,
            dg_times(1 / 1.4, arras_multiply(c4, arras_multiply(c2, c))));
}

static void pulse(arras_array *fields, const dg_place *at)
{
    fields[0] = constant(at, 1);
    fields[1] = plus(at, bell(at, 0, 0, 0, 0.02), 2.5);
    for (int i = 0; i < 3; i++)
        fields[2 + i] = constant(at, 0);
}

/* ---- One right-hand side --------------------------------------------------------------------- */

/* Jumps from cell to cell, so that all fluxes matter. */
static void disturb(arras_array *fields, int n, const dg_place *at)
{
    arras_array ripple =
        arras_add(dg_times(0.01, arras_sin(along(at, 3, 2, -1))), dg_times(0.005, at->parity));

    for (int k = 0; k < n; k++)
        fields[k] = arras_add(fields[k], dg_times(k + 1, ripple));
}

static void disturbed_bump(arras_array *fields, const dg_place *at)
{
    bump(fields, at);
    disturb(fields, 4, at);
}

static void disturbed_pulse(arras_array *fields, const dg_place *at)
{
    pulse(fields, at);
    disturb(fields, 5, at);
}

/* ---- The list -------------------------------------------------------------------------------- */

static const dg_case cases[] = {
    { "W1", "a standing wave between reflecting walls", &dg_wave, .exact = true, .end = 0.25,
      .steps_per_cell = 0.5, .state = standing_wave },
    { "W2", "a plane wave, periodic", &dg_wave, .periodic = true, .exact = true, .end = 0.25,
      .steps_per_cell = 0.5, .state = plane_wave },
    { "W3", "a bump between reflecting walls", &dg_wave, .end = 0.25, .steps_per_cell = 0.5,
      .state = bump },
    { "R", "one right-hand side of a bump that jumps from cell to cell", &dg_wave, .one_rate = true,
      .state = disturbed_bump },
    { "E1", "a density wave that is carried along, periodic", &dg_euler, .periodic = true,
      .exact = true, .end = 0.125, .steps_per_cell = 1, .state = density_wave },
    { "E2", "a pulse between walls", &dg_euler, .end = 0.125, .steps_per_cell = 1, .state = pulse },
    { "E3", "an isentropic simple wave, periodic", &dg_euler, .periodic = true, .exact = true,
      .end = 0.125, .steps_per_cell = 0.5, .state = simple_wave },
    { "R", "one right-hand side of a pulse that jumps from cell to cell", &dg_euler,
      .one_rate = true, .state = disturbed_pulse },
};

const dg_case *dg_case_at(int i)
{
    return i < (int)(sizeof cases / sizeof cases[0]) ? &cases[i] : NULL;
}

const dg_case *dg_case_find(const dg_equations *equations, const char *name)
{
    for (int i = 0; dg_case_at(i); i++)
        if (cases[i].equations == equations && strcmp(cases[i].name, name) == 0)
            return &cases[i];
    return NULL;
}

int64_t dg_case_steps(const dg_case *c, const int64_t cells[3], int degree)
{
    double most = 0, steps;

    for (int i = 0; i < 3; i++)
        most = fmax(most, (double)cells[i]);
    steps = floor(c->steps_per_cell * most * (degree + 1) * (degree + 1));
    return c->one_rate ? 0 : (int64_t)fmax(steps, 1);
}
