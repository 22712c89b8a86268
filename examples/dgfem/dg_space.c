/* dg_space.c -- the mesh and the reference element in a graph, and what operators are made of:
 * values on faces by gathers, derivatives, lifts and inverse masses by einsums. */
#include "dgfem.h"

/* (4, E, 1): one number for each side of a face. */
static arras_array of_sides(arras_graph *g, arras_dtype dtype, const dg_mesh *m, const void *data)
{
    return arras_borrow(g, dtype, 3, (const int64_t[]){ DG_CORNERS, m->count, 1 }, NULL, data);
}

static void record_mesh(dg_space *s, arras_graph *g, const dg_mesh *m)
{
    const int64_t metric[] = { 3, 3, m->count }, faces[] = { DG_CORNERS, m->count, s->nfp };

    s->metric = arras_borrow(g, ARRAS_F64, 3, metric, NULL, m->metric);
    s->inverse_jacobian = arras_borrow(g, ARRAS_F64, 1, &m->count, NULL, m->inverse_jacobian);
    s->surface = arras_borrow(g, ARRAS_F64, 2, faces, NULL, m->surface);
    s->across = of_sides(g, ARRAS_I32, m, m->across);
    s->across_nodes = arras_borrow(g, ARRAS_I32, 3, faces, NULL, m->across_nodes);
    s->wall = arras_cast(of_sides(g, ARRAS_BOOL, m, m->wall), ARRAS_F64);
    for (int i = 0; i < 3; i++)
        s->normal[i] = of_sides(g, ARRAS_F64, m, m->normal + i * DG_CORNERS * m->count);
}

static void record_element(dg_space *s, arras_graph *g, const dg_element *e)
{
    const int64_t stiffness[] = { 3, e->np, e->np }, face_mass[] = { e->np, DG_CORNERS, e->nfp };

    s->stiffness = arras_borrow(g, ARRAS_F64, 3, stiffness, NULL, e->stiffness);
    s->inverse_mass = arras_borrow(g, ARRAS_F64, 2, stiffness + 1, NULL, e->inverse_mass);
    s->face_mass = arras_borrow(g, ARRAS_F64, 3, face_mass, NULL, e->face_mass);
    s->face_nodes = arras_borrow(g, ARRAS_I32, 2, face_mass + 1, NULL, e->face_nodes);
}

void dg_space_record(dg_space *out, arras_graph *g, const dg_mesh *mesh, const dg_element *element)
{
    *out = (dg_space){ .graph = g, .elements = mesh->count, .np = element->np };
    out->nfp = element->nfp;
    record_mesh(out, g, mesh);
    record_element(out, g, element);
}

arras_array dg_inside(const dg_space *s, arras_array field)
{
    const arras_item items[] = { arras_all_of_axis(), arras_gather(s->face_nodes) };
    const int        faces_first[] = { 1, 0, 2 };

    return arras_permute(arras_index(field, 2, items), 3, faces_first);
}

arras_array dg_across(const dg_space *s, arras_array field)
{
    const arras_item items[] = { arras_gather(s->across), arras_gather(s->across_nodes) };

    return arras_index(field, 2, items);
}

/* Letters: e element, f face, k node of a face, m and n nodes, x and r directions in space and of
 * the reference element. */
arras_array dg_divergence(const dg_space *s, const arras_array flux[3])
{
    const arras_array operands[] = { s->metric, s->stiffness, arras_stack(3, flux, 0) };

    return arras_einsum("xre,rmn,xen->em", 3, operands);
}

arras_array dg_gradient(const dg_space *s, arras_array field)
{
    const arras_array operands[] = { s->metric, s->stiffness, field };

    return arras_einsum("xre,rmn,en->xem", 3, operands);
}

arras_array dg_lift(const dg_space *s, arras_array face_values)
{
    const arras_array operands[] = { s->face_mass, s->surface, face_values };

    return arras_einsum("mfk,fe,fek->em", 3, operands);
}

arras_array dg_solve_mass(const dg_space *s, arras_array field)
{
    const arras_array operands[] = { s->inverse_jacobian, s->inverse_mass, field };

    return arras_einsum("e,mn,en->em", 3, operands);
}

arras_array dg_dot(const arras_array a[3], const arras_array b[3])
{
    arras_array first_two = arras_add(arras_multiply(a[0], b[0]), arras_multiply(a[1], b[1]));

    return arras_add(first_two, arras_multiply(a[2], b[2]));
}

arras_array dg_times(double factor, arras_array x)
{
    return arras_multiply(arras_float(arras_array_graph(x), factor), x);
}
