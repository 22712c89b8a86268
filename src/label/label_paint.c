/* label_paint.c -- runs of a tile become labels of cells, line by line. */
#include "gen/gen.h"
#include "label/label_parts.h"

#include <string.h>

typedef struct {
    const ar_labelling  *l;
    const ar_label_runs *runs;
    uint32_t            *edges;  /* of the runs of a line */
    int64_t             *labels; /* of each component */
} painting;

/* Components without a node, and nodes that are roots, are numbered one after the other from the
 * first of their segment on. */
static void find_labels(painting *p, const ar_label_tile *tile, const ar_label_box *box)
{
    int64_t last = 0, segment = -1, node = tile->first_node, end = node + tile->nodes;

    for (int64_t line = 0; line < p->runs->lines; line++) {
        int64_t here = ar_label_segment(&p->l->grid, box, line);

        if (here != segment)
            last = p->l->segments[here];
        segment = here;
        for (uint32_t c = p->runs->visited[line]; c < p->runs->visited[line + 1]; c++) {
            bool is_node = node < end && p->l->nodes[node].component == c;

            p->labels[c] = is_node ? p->l->nodes[node].label : last + 1;
            last += !is_node || p->l->nodes[node].parent == node;
            node += is_node;
        }
    }
}

/* Cells before `end` are filled 16 bytes at a time, so those behind it may change: what is there is
 * written later. */
#define PAINT_LINE(name, type)                                                                     \
    static inline void fill_##name(type *cell, const type *end, type value)                        \
    {                                                                                              \
        enum { STEP = 16 / sizeof(type) };                                                         \
                                                                                                   \
        for (; cell < end; cell += STEP)                                                           \
            for (int i = 0; i < STEP; i++)                                                         \
                cell[i] = value;                                                                   \
    }                                                                                              \
                                                                                                   \
    static void paint_##name(type *out, painting *p, int64_t line)                                 \
    {                                                                                              \
        const uint32_t *component = p->runs->component + p->runs->first[line];                     \
        int64_t         n = ar_label_edges(p->edges, p->runs, line);                               \
        uint32_t        at = 0;                                                                    \
                                                                                                   \
        for (int64_t k = 0; k < n; k++) {                                                          \
            uint32_t lo = p->edges[2 * k], hi = p->edges[2 * k + 1];                               \
                                                                                                   \
            fill_##name(out + at, out + lo, 0);                                                    \
            fill_##name(out + lo, out + hi, (type)p->labels[component[k]]);                        \
            at = hi;                                                                               \
        }                                                                                          \
        fill_##name(out + at, out + p->runs->width, 0);                                            \
    }
PAINT_LINE(i32, int32_t)
PAINT_LINE(i64, int64_t)

static void put_line(char *to, int64_t stride, const char *line, int64_t n, size_t size)
{
    if (stride == (int64_t)size) {
        ar_streaming()(to, line, n * (int64_t)size);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * stride, line + i * (int64_t)size, size);
}

arras_status ar_label_paint(const ar_labelling *l, int64_t tile, const ar_label_runs *runs,
                            char *first, const int64_t *strides, const ar_label_scratch *scratch,
                            arras_error *err)
{
    painting     p = { .l = l, .runs = runs, .edges = scratch->edges };
    ar_label_box box = ar_label_grid_box(&l->grid, tile);
    uint32_t     components = runs->visited[runs->lines];

    p.labels = ar_alloc(components, sizeof *p.labels);
    if (!p.labels)
        return ar_fail_memory(err, components * sizeof *p.labels);
    find_labels(&p, &l->tiles[tile], &box);
    for (int64_t line = 0; line < runs->lines; line++) {
        int64_t z = line / box.extent[1], y = line % box.extent[1];

        if (l->label_dtype == ARRAS_I32)
            paint_i32((int32_t *)(void *)scratch->line, &p, line);
        else
            paint_i64((int64_t *)(void *)scratch->line, &p, line);
        put_line(first + z * strides[0] + y * strides[1], strides[2], scratch->line, runs->width,
                 l->label_size);
    }
    ar_free(p.labels);
    return ARRAS_OK;
}
