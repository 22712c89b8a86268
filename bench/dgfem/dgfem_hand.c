/* dgfem_hand.c -- right-hand sides in C with a loop over elements: what is between is in local
 * arrays, and sizes are constants in each of the four degrees.  The same operators in the same form
 * as the array programs, so that what differs is how they are computed. */
#include "dgfem_hand.h"

#include <math.h>
#include <string.h>

enum { NP = DG_MOST_NODES, NFP = DG_MOST_FACE_NODES, FIELDS = DG_MOST_FIELDS };

#define INLINE static inline __attribute__((always_inline))

/* What an element needs, with its sizes, which are constants wherever this is inlined. */
typedef struct {
    const dg_problem    *p;
    const hand_matrices *of;
    int                  np, nfp, fields;
} setting;

void hand_prepare(hand_matrices *out, const dg_element *e)
{
    int np = e->np, nfp = e->nfp;

    for (int m = 0; m < np; m++)
        for (int n = 0; n < np; n++) {
            out->inverse_mass[n * np + m] = e->inverse_mass[m * np + n];
            for (int r = 0; r < 3; r++)
                out->stiffness[(r * np + n) * np + m] = e->stiffness[(r * np + m) * np + n];
        }
    for (int m = 0; m < np; m++)
        for (int k = 0; k < DG_CORNERS * nfp; k++)
            out->face_mass[k * np + m] = e->face_mass[m * DG_CORNERS * nfp + k];
}

/* y += A x, with column k of A at a + k * n; y stays in registers. */
INLINE void add_product(double *restrict y, const double *restrict a, const double *restrict x,
                        int terms, int n)
{
    double sum[NP];

    for (int m = 0; m < n; m++)
        sum[m] = y[m];
    for (int k = 0; k < terms; k++)
#pragma GCC unroll 64
        for (int m = 0; m < n; m++)
            sum[m] += a[k * n + m] * x[k];
    for (int m = 0; m < n; m++)
        y[m] = sum[m];
}

/* y += factor * x */
INLINE void add_scaled(double *restrict y, const double *restrict x, double factor, int n)
{
    for (int m = 0; m < n; m++)
        y[m] += factor * x[m];
}

/* ---- What both equations do ------------------------------------------------------------------ */

INLINE void add_divergence(double *sum, const setting *s, int64_t e, double (*flux)[NP],
                           double sign)
{
    const double *metric = s->p->mesh.metric + e;
    int64_t       count = s->p->mesh.count;

    double along[3 * NP];

    for (int r = 0; r < 3; r++)
        for (int n = 0; n < s->np; n++)
            along[r * s->np + n] =
                sign * (metric[r * count] * flux[0][n] + metric[(3 + r) * count] * flux[1][n] +
                        metric[(6 + r) * count] * flux[2][n]);
    add_product(sum, s->of->stiffness, along, 3 * s->np, s->np);
}

INLINE void add_lift(double *sum, const setting *s, int face, const double *values)
{
    add_product(sum, s->of->face_mass + face * s->nfp * s->np, values, s->nfp, s->np);
}

INLINE void solve_mass(double *const *rates, const setting *s, int64_t e, double (*sums)[NP])
{
    double inverse = s->p->mesh.inverse_jacobian[e];

    for (int i = 0; i < s->fields; i++) {
        double solved[NP] = { 0 };

        for (int n = 0; n < s->np; n++)
            sums[i][n] *= inverse;
        add_product(solved, s->of->inverse_mass, sums[i], s->np, s->np);
        memcpy(rates[i] + e * s->np, solved, (size_t)s->np * sizeof *solved);
    }
}

/* A side of a face: where its values are, inside and across. */
typedef struct {
    const int32_t *own, *other;
    int64_t        element, across;
    double         normal[3], surface;
    bool           wall;
} side;

INLINE side side_of(const setting *s, int64_t e, int face)
{
    const dg_mesh *m = &s->p->mesh;
    int64_t        at = face * m->count + e, all = DG_CORNERS * m->count;

    return (side){ .own = s->p->element.face_nodes + face * s->nfp,
                   .other = m->across_nodes + at * s->nfp,
                   .element = e * s->np,
                   .across = (int64_t)m->across[at] * s->np,
                   .normal = { m->normal[at], m->normal[all + at], m->normal[2 * all + at] },
                   .surface = m->surface[at],
                   .wall = m->wall[at] };
}

/* ---- Wave ------------------------------------------------------------------------------------ */

INLINE void wave_face(double (*flux)[NFP], const setting *s, const side *f, double *const *q)
{
    const double *n = f->normal;

    for (int k = 0; k < s->nfp; k++) {
        int64_t in = f->element + f->own[k], out = f->across + f->other[k];
        double  u = q[0][in], v = f->wall ? -u : q[0][out], mean = 0, jump = 0;

        for (int i = 0; i < 3; i++) {
            mean += n[i] * (q[1 + i][in] + q[1 + i][out]);
            jump += n[i] * (q[1 + i][out] - q[1 + i][in]);
        }
        flux[0][k] = f->surface * 0.5 * (mean + v - u);
        for (int i = 0; i < 3; i++)
            flux[1 + i][k] = f->surface * n[i] * 0.5 * (u + v + jump);
    }
}

INLINE void subtract_gradient(double (*sums)[NP], const setting *s, int64_t e, const double *u)
{
    const double *metric = s->p->mesh.metric + e;
    int64_t       count = s->p->mesh.count;

    for (int r = 0; r < 3; r++) {
        double slope[NP] = { 0 };

        add_product(slope, s->of->stiffness + r * s->np * s->np, u, s->np, s->np);
        for (int x = 0; x < 3; x++)
            add_scaled(sums[1 + x], slope, -metric[(3 * x + r) * count], s->np);
    }
}

INLINE void wave_element(double *const *rates, double *const *q, const setting *s, int64_t e)
{
    double sums[4][NP] = { { 0 } }, v[3][NP], flux[4][NFP];

    for (int x = 0; x < 3; x++)
        memcpy(v[x], q[1 + x] + e * s->np, (size_t)s->np * sizeof(double));
    add_divergence(sums[0], s, e, v, -1);
    subtract_gradient(sums, s, e, q[0] + e * s->np);
    for (int face = 0; face < DG_CORNERS; face++) {
        side f = side_of(s, e, face);

        wave_face(flux, s, &f, q);
        for (int i = 0; i < 4; i++)
            add_lift(sums[i], s, face, flux[i]);
    }
    solve_mass(rates, s, e, sums);
}

/* ---- Euler ----------------------------------------------------------------------------------- */

typedef struct {
    double q[5], velocity[3], pressure, volume; /* of a unit of mass */
} gas;

INLINE void complete(gas *g)
{
    double energy = 0;

    g->volume = 1 / g->q[0];
    for (int i = 0; i < 3; i++) {
        g->velocity[i] = g->q[2 + i] * g->volume;
        energy += g->q[2 + i] * g->velocity[i];
    }
    g->pressure = 0.4 * (g->q[1] - 0.5 * energy);
}

INLINE double fastest(const gas *g)
{
    const double *u = g->velocity;

    return sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) + sqrt(1.4 * g->pressure * g->volume);
}

/* The flux of quantity k along direction i. */
INLINE double flux_of(const gas *g, int k, int i)
{
    if (k == 0)
        return g->q[2 + i];
    if (k == 1)
        return g->velocity[i] * (g->q[1] + g->pressure);
    return g->q[k] * g->velocity[i] + (k == 2 + i ? g->pressure : 0);
}

INLINE gas gas_across(const gas *inside, const side *f, double *const *q, int64_t at)
{
    const double *n = f->normal, *m = inside->q + 2;
    double        toward = 2 * (n[0] * m[0] + n[1] * m[1] + n[2] * m[2]);
    gas           g;

    for (int k = 0; k < 5; k++)
        g.q[k] = q[k][at];
    for (int i = 0; i < 3; i++)
        g.q[2 + i] = f->wall ? m[i] - toward * n[i] : g.q[2 + i];
    complete(&g);
    return g;
}

INLINE void euler_face(double (*flux)[NFP], const setting *s, const side *f, double *const *q)
{
    const double *n = f->normal;

    for (int k = 0; k < s->nfp; k++) {
        gas    in, out;
        double speed;

        for (int i = 0; i < 5; i++)
            in.q[i] = q[i][f->element + f->own[k]];
        complete(&in);
        out = gas_across(&in, f, q, f->across + f->other[k]);
        speed = fmax(fastest(&in), fastest(&out));
        for (int i = 0; i < 5; i++) {
            double both = 0;

            for (int x = 0; x < 3; x++)
                both += n[x] * (flux_of(&in, i, x) + flux_of(&out, i, x));
            flux[i][k] = -f->surface * 0.5 * (both - speed * (out.q[i] - in.q[i]));
        }
    }
}

INLINE void euler_volume(double (*sums)[NP], double *const *q, const setting *s, int64_t e)
{
    double flux[5][3][NP];

    for (int n = 0; n < s->np; n++) {
        gas g;

        for (int k = 0; k < 5; k++)
            g.q[k] = q[k][e * s->np + n];
        complete(&g);
        for (int k = 0; k < 5; k++)
            for (int x = 0; x < 3; x++)
                flux[k][x][n] = flux_of(&g, k, x);
    }
    for (int k = 0; k < 5; k++)
        add_divergence(sums[k], s, e, flux[k], 1);
}

INLINE void euler_element(double *const *rates, double *const *q, const setting *s, int64_t e)
{
    double sums[5][NP] = { { 0 } }, flux[5][NFP];

    euler_volume(sums, q, s, e);
    for (int face = 0; face < DG_CORNERS; face++) {
        side f = side_of(s, e, face);

        euler_face(flux, s, &f, q);
        for (int i = 0; i < 5; i++)
            add_lift(sums[i], s, face, flux[i]);
    }
    solve_mass(rates, s, e, sums);
}

/* ---- All elements ---------------------------------------------------------------------------- */

/* Sizes are written out for each degree, within the loop, where the compiler unrolls and vectorises
 * with them. */
#define DEGREE(number, nodes, face_nodes, element_function, nfields)                               \
    case number:                                                                                   \
        _Pragma("omp parallel for schedule(static) num_threads(threads)") for (int64_t e = 0;      \
                                                                               e < count; e++)     \
        {                                                                                          \
            const setting s = { p, matrices, nodes, face_nodes, nfields };                         \
                                                                                                   \
            element_function(rates, fields, &s, e);                                                \
        }                                                                                          \
        break;

void hand_wave(double *const *rates, double *const *fields, const dg_problem *p,
               const hand_matrices *matrices, int threads)
{
    int64_t count = p->mesh.count;

    switch (p->element.degree) {
        DEGREE(1, 4, 3, wave_element, 4)
        DEGREE(2, 10, 6, wave_element, 4)
        DEGREE(3, 20, 10, wave_element, 4)
        DEGREE(4, 35, 15, wave_element, 4)
    }
}

void hand_euler(double *const *rates, double *const *fields, const dg_problem *p,
                const hand_matrices *matrices, int threads)
{
    int64_t count = p->mesh.count;

    switch (p->element.degree) {
        DEGREE(1, 4, 3, euler_element, 5)
        DEGREE(2, 10, 6, euler_element, 5)
        DEGREE(3, 20, 10, euler_element, 5)
        DEGREE(4, 35, 15, euler_element, 5)
    }
}
