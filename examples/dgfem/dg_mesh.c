/* dg_mesh.c -- a box of cells, each cut into the same six tetrahedra, with all that operators need
 * to know of it.  Cells being alike, who is across a face is found once, among the neighbours of
 * one cell. */
#include "dgfem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TETS = 6, MOST_ELEMENTS = 1 << 27 };

/* Corners of the tetrahedra in a cell: bits 4, 2, 1 are the offsets along x, y, z. */
static const int corners[TETS][DG_CORNERS] = {
    { 0, 4, 2, 1 }, { 5, 4, 1, 2 }, { 5, 3, 2, 1 }, { 4, 2, 5, 6 }, { 3, 2, 6, 5 }, { 3, 7, 5, 6 },
};

static int corner_offset(int tet, int corner, int axis)
{
    return corners[tet][corner] >> (2 - axis) & 1;
}

/* ---- What is alike in all cells -------------------------------------------------------------- */

/* What is across a face: so many cells away, this tetrahedron, these nodes. */
typedef struct {
    int     away[3], tet;
    int32_t nodes[DG_MOST_FACE_NODES];
} side;

typedef struct {
    double metric[3][3], jacobian;
    double surface[DG_CORNERS], normal[DG_CORNERS][3];
    double nodes[DG_MOST_NODES][3]; /* from the cell's corner */
} shape;

/* Where a node is, in cells. */
static void node_in_cell(double place[3], int tet, const double *barycentric)
{
    for (int axis = 0; axis < 3; axis++) {
        place[axis] = 0;
        for (int c = 0; c < DG_CORNERS; c++)
            place[axis] += barycentric[c] * corner_offset(tet, c, axis);
    }
}

/* The node of `tet`, so many cells away, at a place; -1 when there is none. */
static int32_t node_at(const dg_element *e, int tet, const int away[3], const double place[3])
{
    for (int i = 0; i < e->np; i++) {
        double there[3], distance = 0;

        node_in_cell(there, tet, e->nodes[i]);
        for (int axis = 0; axis < 3; axis++)
            distance += fabs(there[axis] + away[axis] - place[axis]);
        if (distance < 1e-9)
            return i;
    }
    return -1;
}

static bool matches(side *s, const dg_element *e, int tet, int face)
{
    for (int k = 0; k < e->nfp; k++) {
        double place[3];

        node_in_cell(place, tet, e->nodes[e->face_nodes[face * e->nfp + k]]);
        s->nodes[k] = node_at(e, s->tet, s->away, place);
        if (s->nodes[k] < 0)
            return false;
    }
    return true;
}

static void find_side(side *s, const dg_element *e, int tet, int face)
{
    for (int k = 0; k < 27 * TETS; k++) {
        int cell = k / TETS;

        s->tet = k % TETS;
        s->away[0] = cell / 9 - 1;
        s->away[1] = cell / 3 % 3 - 1;
        s->away[2] = cell % 3 - 1;
        if ((cell != 13 || s->tet != tet) && matches(s, e, tet, face))
            return;
    }
}

static void cross(double out[3], const double a[3], const double b[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* J times the slope of a reference coordinate is the cross product of two half edges: it points
 * away from a face, and its length is half the area of that face. */
static void shape_faces(shape *s)
{
    for (int face = 0; face < DG_CORNERS; face++) {
        double inward[3], length;

        for (int i = 0; i < 3; i++)
            inward[i] = face > 0 ? s->metric[i][face - 1]
                                 : -s->metric[i][0] - s->metric[i][1] - s->metric[i][2];
        length = sqrt(dot(inward, inward));
        s->surface[face] = length;
        for (int i = 0; i < 3; i++)
            s->normal[face][i] = -inward[i] / length;
    }
}

static void make_shape(shape *s, const dg_element *e, int tet, const double width[3])
{
    double half[3][3], rows[3][3];

    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            half[j][i] = (corner_offset(tet, j + 1, i) - corner_offset(tet, 0, i)) * width[i] / 2;
    for (int j = 0; j < 3; j++)
        cross(rows[j], half[(j + 1) % 3], half[(j + 2) % 3]);
    s->jacobian = dot(half[0], rows[0]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            s->metric[i][j] = rows[j][i]; /* J times the inverse of the half edges */
    shape_faces(s);
    for (int node = 0; node < e->np; node++) {
        node_in_cell(s->nodes[node], tet, e->nodes[node]);
        for (int i = 0; i < 3; i++)
            s->nodes[node][i] *= width[i];
    }
}

/* ---- The whole box --------------------------------------------------------------------------- */

typedef struct {
    const dg_element *element;
    side              sides[TETS][DG_CORNERS];
    shape             shapes[TETS];
} pattern;

static void place_element(dg_mesh *m, const pattern *p, int64_t e, const int64_t cell[3])
{
    const shape *s = &p->shapes[e % TETS];
    int64_t      n = m->count, np = p->element->np;

    m->jacobian[e] = s->jacobian;
    m->inverse_jacobian[e] = 1 / s->jacobian;
    m->parity[e] = (cell[0] + cell[1] + cell[2]) % 2 ? -1 : 1;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            m->metric[(i * 3 + j) * n + e] = s->metric[i][j];
        for (int face = 0; face < DG_CORNERS; face++)
            m->normal[(i * DG_CORNERS + face) * n + e] = s->normal[face][i];
        for (int node = 0; node < np; node++)
            m->nodes[(i * n + e) * np + node] =
                (double)cell[i] / (double)m->cells[i] - 0.5 + s->nodes[node][i];
    }
    for (int face = 0; face < DG_CORNERS; face++)
        m->surface[face * n + e] = s->surface[face];
}

/* The number of the cell that is `away`; -1 when it is outside. */
static int64_t cell_across(const dg_mesh *m, const int64_t cell[3], const int away[3])
{
    int64_t number = 0;

    for (int i = 0; i < 3; i++) {
        int64_t at = cell[i] + away[i], n = m->cells[i];

        if (!m->periodic && (at < 0 || at >= n))
            return -1;
        number = number * n + (at + n) % n;
    }
    return number;
}

static void connect_element(dg_mesh *m, const pattern *p, int64_t e, const int64_t cell[3])
{
    for (int face = 0; face < DG_CORNERS; face++) {
        const side    *s = &p->sides[e % TETS][face];
        int64_t        at = face * m->count + e, other = cell_across(m, cell, s->away);
        int64_t        nfp = p->element->nfp;
        const int32_t *own = p->element->face_nodes + face * nfp;

        m->wall[at] = other < 0;
        m->across[at] = (int32_t)(other < 0 ? e : other * TETS + s->tet);
        memcpy(m->across_nodes + at * nfp, other < 0 ? own : s->nodes, (size_t)nfp * sizeof *own);
    }
}

static void *numbers(int64_t count, size_t size, bool *failed)
{
    void *block = calloc((size_t)count, size);

    *failed |= !block;
    return block;
}

static bool allocate(dg_mesh *m, const dg_element *e)
{
    int64_t n = m->count;
    bool    failed = false;

    m->metric = numbers(9 * n, sizeof(double), &failed);
    m->jacobian = numbers(n, sizeof(double), &failed);
    m->inverse_jacobian = numbers(n, sizeof(double), &failed);
    m->surface = numbers(DG_CORNERS * n, sizeof(double), &failed);
    m->normal = numbers(3 * DG_CORNERS * n, sizeof(double), &failed);
    m->nodes = numbers(3 * n * e->np, sizeof(double), &failed);
    m->parity = numbers(n, sizeof(double), &failed);
    m->across = numbers(DG_CORNERS * n, sizeof(int32_t), &failed);
    m->across_nodes = numbers(DG_CORNERS * n * e->nfp, sizeof(int32_t), &failed);
    m->wall = numbers(DG_CORNERS * n, sizeof(uint8_t), &failed);
    return !failed;
}

static arras_status check_cells(const int64_t cells[3], bool periodic, arras_error *err)
{
    int64_t least = periodic ? 3 : 1, elements = TETS;

    for (int i = 0; i < 3; i++) {
        if (cells[i] < least)
            return dg_fail(
                err, ARRAS_EINVAL, "%lld cells along axis %d: a %s box has at least %lld",
                (long long)cells[i], i, periodic ? "periodic" : "reflecting", (long long)least);
        if (cells[i] > MOST_ELEMENTS / elements)
            return dg_fail(
                err, ARRAS_ELIMIT, "%lld x %lld x %lld cells: more than %d tetrahedra; take fewer",
                (long long)cells[0], (long long)cells[1], (long long)cells[2], MOST_ELEMENTS);
        elements *= cells[i];
    }
    return ARRAS_OK;
}

static void make_pattern(pattern *p, const dg_element *element, const int64_t cells[3])
{
    const double width[] = { 1 / (double)cells[0], 1 / (double)cells[1], 1 / (double)cells[2] };

    p->element = element;
    for (int tet = 0; tet < TETS; tet++) {
        make_shape(&p->shapes[tet], element, tet, width);
        for (int face = 0; face < DG_CORNERS; face++)
            find_side(&p->sides[tet][face], element, tet, face);
    }
}

arras_status dg_mesh_make(dg_mesh *out, const int64_t cells[3], bool periodic,
                          const dg_element *element, arras_error *err)
{
    arras_status status = check_cells(cells, periodic, err);
    dg_mesh      m = { .cells = { cells[0], cells[1], cells[2] }, .periodic = periodic };
    pattern      p;

    if (status != ARRAS_OK)
        return status;
    m.count = cells[0] * cells[1] * cells[2] * TETS;
    if (!allocate(&m, element)) {
        dg_mesh_free(&m);
        return dg_fail(err, ARRAS_ENOMEM, "no memory for a mesh of %lld tetrahedra",
                       (long long)m.count);
    }
    make_pattern(&p, element, cells);
    for (int64_t e = 0; e < m.count; e++) {
        int64_t number = e / TETS;
        int64_t cell[] = { number / cells[2] / cells[1], number / cells[2] % cells[1],
                           number % cells[2] };

        place_element(&m, &p, e, cell);
        connect_element(&m, &p, e, cell);
    }
    *out = m;
    return ARRAS_OK;
}

void dg_mesh_free(dg_mesh *m)
{
    void *const blocks[] = { m->metric, m->jacobian,    m->inverse_jacobian, m->surface,
                             m->normal, m->nodes,       m->parity,           m->across,
                             m->wall,   m->across_nodes };

    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        free(blocks[i]);
    memset(m, 0, sizeof *m);
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* `place` from the cell's corner, in cells.  The smallest coordinate tells how far outside it is.
 */
static double in_tet(double barycentric[DG_CORNERS], int tet, const double place[3])
{
    const double width[] = { 1, 1, 1 };
    dg_element   none = { .np = 0 };
    double       least = 1;
    shape        s;

    make_shape(&s, &none, tet, width);
    barycentric[0] = 1;
    for (int j = 0; j < 3; j++) {
        barycentric[j + 1] = 0;
        for (int i = 0; i < 3; i++)
            barycentric[j + 1] +=
                s.metric[i][j] / s.jacobian / 2 * (place[i] - corner_offset(tet, 0, i));
        barycentric[0] -= barycentric[j + 1];
    }
    for (int c = 0; c < DG_CORNERS; c++)
        least = fmin(least, barycentric[c]);
    return least;
}

int64_t dg_mesh_find(double barycentric[DG_CORNERS], const dg_mesh *mesh, const double point[3])
{
    double  place[3], best = -1e300;
    int64_t cell = 0, element = 0;

    for (int i = 0; i < 3; i++) {
        int64_t n = mesh->cells[i];
        double  at = (point[i] + 0.5) * (double)n;
        int64_t index = (int64_t)fmin(fmax(floor(at), 0), (double)(n - 1));

        place[i] = at - (double)index;
        cell = cell * n + index;
    }
    for (int tet = 0; tet < TETS; tet++) {
        double here[DG_CORNERS], least = in_tet(here, tet, place);

        if (least > best) {
            best = least;
            element = cell * TETS + tet;
            memcpy(barycentric, here, sizeof here);
        }
    }
    return element;
}
