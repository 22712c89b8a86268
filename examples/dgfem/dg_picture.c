/* dg_picture.c -- a field on a horizontal plane as a .npy file, for `arras show`.  Where each point
 * of the picture lies is found once; its value is a gather and an einsum. */
#include "dgfem.h"

#include <stdlib.h>

typedef struct {
    int64_t  points; /* along each side of the picture */
    int32_t *element;
    double  *weights; /* of the nodes of that element, Np for each point */
} raster;

static void raster_free(raster *r)
{
    free(r->element);
    free(r->weights);
}

/* The first row is the far end of y, as pictures are looked at. */
static void place_points(raster *r, const dg_problem *p, double height)
{
    for (int64_t k = 0; k < r->points * r->points; k++) {
        double row = (double)(k / r->points) + 0.5, column = (double)(k % r->points) + 0.5;
        double point[] = { column / (double)r->points - 0.5, 0.5 - row / (double)r->points,
                           height };
        double barycentric[DG_CORNERS];

        r->element[k] = (int32_t)dg_mesh_find(barycentric, &p->mesh, point);
        dg_element_weights(r->weights + k * p->element.np, &p->element, barycentric);
    }
}

static arras_status raster_make(raster *r, const dg_problem *p, double height, int64_t points,
                                arras_error *err)
{
    size_t count = (size_t)(points * points);

    *r = (raster){ .points = points };
    r->element = calloc(count, sizeof *r->element);
    r->weights = calloc(count * (size_t)p->element.np, sizeof *r->weights);
    if (!r->element || !r->weights) {
        raster_free(r);
        return dg_fail(err, ARRAS_ENOMEM, "no memory for a picture of %lld x %lld points",
                       (long long)points, (long long)points);
    }
    place_points(r, p, height);
    return ARRAS_OK;
}

static void record_picture(arras_graph *g, const raster *r, const dg_problem *p,
                           const double *field)
{
    const int64_t    field_shape[] = { p->mesh.count, p->element.np };
    const int64_t    shape[] = { r->points, r->points, p->element.np };
    const arras_item element = arras_gather(arras_borrow(g, ARRAS_I32, 2, shape, NULL, r->element));
    const arras_array operands[] = {
        arras_index(arras_borrow(g, ARRAS_F64, 2, field_shape, NULL, field), 1, &element),
        arras_borrow(g, ARRAS_F64, 3, shape, NULL, r->weights),
    };

    arras_output(g, "picture", arras_einsum("ijn,ijn->ij", 2, operands));
}

static arras_status save(const char *path, const arras_results *results, arras_error *err)
{
    const arras_buffer *picture = &arras_results_find(results, "picture")->buffer;
    const int64_t       from[] = { 0, 0 };
    arras_sink         *sink = NULL;
    arras_status        status =
        arras_sink_create(&sink, path, NULL, ARRAS_F64, 2, picture->shape, NULL, err);

    if (status != ARRAS_OK)
        return status;
    status = arras_sink_write(sink, from, picture->shape, picture->data, NULL, 0, err);
    if (status == ARRAS_OK)
        return arras_sink_finish(sink, err);
    arras_sink_abandon(sink);
    return status;
}

arras_status dg_picture(const char *path, const dg_problem *problem, const double *field,
                        double height, int64_t points, arras_error *err)
{
    arras_graph   *g = NULL;
    arras_program *program = NULL;
    arras_results *results = NULL;
    raster         r = { 0, NULL, NULL };
    arras_status   status = arras_graph_new(&g, err);

    if (status == ARRAS_OK)
        status = raster_make(&r, problem, height, points, err);
    if (status == ARRAS_OK) {
        record_picture(g, &r, problem, field);
        status = arras_compile(&program, g, NULL, err);
    }
    if (status == ARRAS_OK)
        status = arras_launch(&results, program, 0, NULL, err);
    if (status == ARRAS_OK)
        status = save(path, results, err);
    arras_results_free(results);
    arras_program_free(program);
    arras_graph_free(g);
    raster_free(&r);
    return status;
}
