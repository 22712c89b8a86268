/* dg_element.c -- the reference tetrahedron: its nodes, and the matrices of nodal functions.
 *
 * Everything follows from one basis, the products of powers of barycentric coordinates whose
 * exponents add up to the degree: their integrals and derivatives are known in closed form. */
#include "dgfem.h"

#include <math.h>
#include <string.h>

enum { MOST = DG_MOST_NODES };

typedef long double real; /* so that inverting loses nothing a double could hold */

typedef struct {
    int count;
    int powers[MOST][DG_CORNERS];
} basis;

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* The Legendre-Gauss-Lobatto points of [0, 1]; the one of degree 0 is the middle. */
static void edge_points(double *points, int degree)
{
    const double s = (1 - sqrt(3.0 / 7)) / 2, t = (1 - 1 / sqrt(5)) / 2;
    const double all[][5] = {
        { 0.5 }, { 0, 1 }, { 0, 0.5, 1 }, { 0, t, 1 - t, 1 }, { 0, s, 0.5, 1 - s, 1 }
    };

    memcpy(points, all[degree], sizeof all[degree]);
}

/* The node with these exponents: on an edge an edge point, elsewhere a mean of the nodes that it
 * has on each side, weighted with how far it is from that side. */
static void place_node(double *place, const int *powers, int corners)
{
    double points[DG_MOST_DEGREE + 1], total = 0;
    int    degree = 0;

    for (int i = 0; i < corners; i++)
        degree += powers[i];
    edge_points(points, degree);
    memset(place, 0, (size_t)corners * sizeof *place);
    if (corners == 2) {
        place[0] = points[powers[0]];
        place[1] = points[powers[1]];
        return;
    }
    for (int i = 0; i < corners; i++) {
        double side[DG_CORNERS], weight = points[degree - powers[i]];
        int    others[DG_CORNERS];

        for (int j = 0, k = 0; j < corners; j++)
            if (j != i)
                others[k++] = powers[j];
        place_node(side, others, corners - 1);
        for (int j = 0, k = 0; j < corners; j++)
            if (j != i)
                place[j] += weight * side[k++];
        total += weight;
    }
    for (int j = 0; j < corners; j++)
        place[j] /= total;
}

/* ---- Monomials ------------------------------------------------------------------------------- */

static void list_powers(basis *out, int degree)
{
    out->count = 0;
    for (int a = degree; a >= 0; a--)
        for (int b = degree - a; b >= 0; b--)
            for (int c = degree - a - b; c >= 0; c--) {
                const int powers[] = { a, b, c, degree - a - b - c };

                memcpy(out->powers[out->count++], powers, sizeof powers);
            }
}

/* Those that do not vanish on a face. */
static void powers_of_face(basis *out, const basis *all, int face)
{
    out->count = 0;
    for (int i = 0; i < all->count; i++)
        if (all->powers[i][face] == 0)
            memcpy(out->powers[out->count++], all->powers[i], sizeof all->powers[i]);
}

static real monomial(const int *powers, const double *place)
{
    real value = 1;

    for (int c = 0; c < DG_CORNERS; c++)
        for (int k = 0; k < powers[c]; k++)
            value *= place[c];
    return value;
}

/* Along direction d of the reference coordinates corner d + 1 gains half of what corner 0 loses. */
static real slope(const int *powers, const double *place, int d)
{
    real sum = 0;

    for (int sign = -1; sign <= 1; sign += 2) {
        int corner = sign < 0 ? 0 : d + 1, lower[DG_CORNERS];

        memcpy(lower, powers, sizeof lower);
        if (lower[corner]-- > 0)
            sum += (real)sign * powers[corner] * monomial(lower, place) / 2;
    }
    return sum;
}

static real factorial(int n)
{
    real product = 1;

    for (int k = 2; k <= n; k++)
        product *= k;
    return product;
}

/* The integral of a product of two monomials over a simplex of this dimension and volume. */
static real integral(const int *a, const int *b, int dimension, real volume)
{
    real value = factorial(dimension) * volume;
    int  degree = 0;

    for (int c = 0; c < DG_CORNERS; c++) {
        value *= factorial(a[c] + b[c]);
        degree += a[c] + b[c];
    }
    return value / factorial(degree + dimension);
}

/* ---- Matrices of n x n ----------------------------------------------------------------------- */

static void multiply(real *out, const real *a, const real *b, int n, bool transpose_a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            real sum = 0;

            for (int k = 0; k < n; k++)
                sum += (transpose_a ? a[k * n + i] : a[i * n + k]) * b[k * n + j];
            out[i * n + j] = sum;
        }
}

static void swap_rows(real *a, int n, int i, int j)
{
    for (int k = 0; k < n; k++) {
        real t = a[i * n + k];

        a[i * n + k] = a[j * n + k];
        a[j * n + k] = t;
    }
}

static void subtract_row(real *a, int n, int from, int row, real factor)
{
    for (int k = 0; k < n; k++)
        a[from * n + k] -= factor * a[row * n + k];
}

/* Gauss and Jordan, with pivots; the matrices here are never singular. */
static void invert(real *out, const real *matrix, int n)
{
    real a[MOST * MOST];

    memcpy(a, matrix, (size_t)(n * n) * sizeof *a);
    for (int i = 0; i < n * n; i++)
        out[i] = i % (n + 1) == 0;
    for (int c = 0; c < n; c++) {
        int  best = c;
        real pivot;

        for (int i = c + 1; i < n; i++)
            if (fabsl(a[i * n + c]) > fabsl(a[best * n + c]))
                best = i;
        swap_rows(a, n, c, best);
        swap_rows(out, n, c, best);
        pivot = a[c * n + c];
        for (int k = 0; k < n; k++) {
            a[c * n + k] /= pivot;
            out[c * n + k] /= pivot;
        }
        for (int i = 0; i < n; i++)
            if (i != c) {
                real factor = a[i * n + c];

                subtract_row(a, n, i, c, factor);
                subtract_row(out, n, i, c, factor);
            }
    }
}

/* ---- The element ----------------------------------------------------------------------------- */

static void round_to(double *out, const real *matrix, int count)
{
    for (int i = 0; i < count; i++)
        out[i] = (double)matrix[i];
}

/* From values at the nodes (NULL: at all) to coefficients. */
static void invert_values(real *out, const dg_element *e, const basis *powers, const int32_t *nodes)
{
    int  n = powers->count;
    real values[MOST * MOST] = { 0 };

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            values[i * n + j] = monomial(powers->powers[j], e->nodes[nodes ? nodes[i] : i]);
    invert(out, values, n);
}

/* The mass matrix of nodal functions, from the inverse of the values of `powers` at the nodes. */
static void nodal_mass(real *out, const real *to_basis, const basis *powers, int dimension,
                       real volume)
{
    int  n = powers->count;
    real gram[MOST * MOST], half[MOST * MOST];

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            gram[i * n + j] = integral(powers->powers[i], powers->powers[j], dimension, volume);
    multiply(half, gram, to_basis, n, false);
    multiply(out, to_basis, half, n, true);
}

static void make_volume(dg_element *e, const basis *powers)
{
    int  n = e->np;
    real mass[MOST * MOST], slopes[MOST * MOST], d[MOST * MOST], product[MOST * MOST];

    invert_values(e->to_basis, e, powers, NULL);
    nodal_mass(mass, e->to_basis, powers, 3, 4 / 3.0L);
    round_to(e->mass, mass, n * n);
    for (int axis = 0; axis < 3; axis++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                slopes[i * n + j] = slope(powers->powers[j], e->nodes[i], axis);
        multiply(d, slopes, e->to_basis, n, false);
        multiply(product, d, mass, n, true);
        round_to(e->stiffness + axis * n * n, product, n * n);
    }
    invert(product, mass, n);
    round_to(e->inverse_mass, product, n * n);
}

static void make_face(dg_element *e, const basis *all, int face)
{
    int32_t *nodes = e->face_nodes + face * e->nfp;
    int      n = e->nfp, found = 0;
    real     to_basis[MOST * MOST], mass[MOST * MOST];
    basis    powers;

    for (int i = 0; i < e->np; i++)
        if (all->powers[i][face] == 0)
            nodes[found++] = i;
    powers_of_face(&powers, all, face);
    invert_values(to_basis, e, &powers, nodes);
    nodal_mass(mass, to_basis, &powers, 2, 2);
    for (int i = 0; i < n; i++)
        round_to(e->face_mass + (nodes[i] * DG_CORNERS + face) * n, mass + i * n, n);
}

arras_status dg_element_make(dg_element *out, int degree, arras_error *err)
{
    basis powers;

    if (degree < 1 || degree > DG_MOST_DEGREE)
        return dg_fail(err, ARRAS_EINVAL, "degree %d: there are 1 to %d", degree, DG_MOST_DEGREE);
    memset(out, 0, sizeof *out);
    list_powers(&powers, degree);
    out->degree = degree;
    out->np = powers.count;
    out->nfp = (degree + 1) * (degree + 2) / 2;
    for (int i = 0; i < out->np; i++)
        place_node(out->nodes[i], powers.powers[i], DG_CORNERS);
    make_volume(out, &powers);
    for (int face = 0; face < DG_CORNERS; face++)
        make_face(out, &powers, face);
    return ARRAS_OK;
}

void dg_element_weights(double *weights, const dg_element *element, const double *barycentric)
{
    basis powers;
    int   n = element->np;

    list_powers(&powers, element->degree);
    for (int node = 0; node < n; node++) {
        real sum = 0;

        for (int j = 0; j < n; j++)
            sum += monomial(powers.powers[j], barycentric) * element->to_basis[j * n + node];
        weights[node] = (double)sum;
    }
}
