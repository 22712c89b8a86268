/* label_border.c -- what a tile shows to its neighbours: the components at its borders, as nodes of
 * one union-find.  Tiles are joined in their order, each with those before it, by whoever labels
 * the one whose turn it is; faces go when nobody needs them any more. */
#include "label/label_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- Faces and nodes of one tile ------------------------------------------------------------- */

typedef struct {
    const ar_label_grid *grid;
    ar_label_box         box;
    const ar_label_runs *runs;
    uint32_t            *edges;   /* of the runs of a line */
    uint32_t            *node_of; /* each component: 1 + its node, or 0 */
    ar_label_node       *nodes;
    uint32_t             count;
} border;

static bool has_neighbour(const border *b, int axis, int side)
{
    return side ? b->box.at[axis] + 1 < b->grid->count[axis] : b->box.at[axis] > 0;
}

static uint32_t components_of(const border *b) { return b->runs->visited[b->runs->lines]; }

/* The component of the first or last cell of a line; false: that cell does not count. */
static bool component_at_end(uint32_t *out, const ar_label_runs *runs, int64_t line, int side)
{
    if (!ar_label_bit(runs, line, side ? runs->width - 1 : 0))
        return false;
    *out = runs->component[side ? runs->first[line + 1] - 1 : runs->first[line]];
    return true;
}

/* Lines of a face that is not at the ends of lines: number `i` of them. */
static int64_t face_line(const ar_label_box *box, int axis, int side, int64_t i)
{
    if (axis == 0)
        return (side ? box->extent[0] - 1 : 0) * box->extent[1] + i;
    return i * box->extent[1] + (side ? box->extent[1] - 1 : 0);
}

static void mark_ends(border *b, int side)
{
    uint32_t component;

    for (int64_t line = 0; line < b->runs->lines; line++)
        if (component_at_end(&component, b->runs, line, side))
            b->node_of[component] = 1;
}

static void mark_lines(border *b, int axis, int side)
{
    const ar_label_runs *runs = b->runs;

    for (int64_t i = 0; i < b->box.extent[1 - axis]; i++) {
        int64_t line = face_line(&b->box, axis, side, i);

        for (uint32_t run = runs->first[line]; run < runs->first[line + 1]; run++)
            b->node_of[runs->component[run]] = 1;
    }
}

static void paint_ends(uint32_t *face, const border *b, int side)
{
    uint32_t component;

    for (int64_t line = 0; line < b->runs->lines; line++)
        if (component_at_end(&component, b->runs, line, side))
            face[line] = b->node_of[component];
}

static void paint_line(uint32_t *out, const border *b, int64_t line)
{
    const uint32_t *component = b->runs->component + b->runs->first[line];
    int64_t         n = ar_label_edges(b->edges, b->runs, line);

    for (int64_t k = 0; k < n; k++)
        for (uint32_t x = b->edges[2 * k]; x < b->edges[2 * k + 1]; x++)
            out[x] = b->node_of[component[k]];
}

static uint32_t *paint_face(const border *b, int axis, int side)
{
    int64_t   lines = axis == 2 ? b->runs->lines : b->box.extent[1 - axis];
    int64_t   width = axis == 2 ? 1 : b->runs->width;
    uint32_t *face = ar_alloc((size_t)(lines * width), sizeof *face);

    if (face && axis == 2)
        paint_ends(face, b, side);
    for (int64_t i = 0; face && axis < 2 && i < lines; i++)
        paint_line(face + i * width, b, face_line(&b->box, axis, side, i));
    return face;
}

/* Of the components that begin in a line those that were marked become nodes, the others are
 * counted in their segment. */
static void make_nodes_of(border *b, int64_t line, int64_t *others)
{
    const ar_label_runs *runs = b->runs;
    const ar_label_grid *grid = b->grid;
    int64_t  z = b->box.lo[0] + line / b->box.extent[1], y = b->box.lo[1] + line % b->box.extent[1];
    int64_t  cell = (z * grid->shape[1] + y) * grid->shape[2] + b->box.lo[2];
    uint32_t run = runs->first[line];
    bool     has_edges = false;

    for (uint32_t c = runs->visited[line]; c < runs->visited[line + 1]; c++) {
        if (!b->node_of[c]) {
            ++*others;
            continue;
        }
        if (!has_edges)
            ar_label_edges(b->edges, runs, line);
        has_edges = true;
        while (runs->component[run] != c)
            run++;
        b->nodes[b->count] =
            (ar_label_node){ .first = cell + b->edges[2 * (run - runs->first[line])],
                             .component = c,
                             .before = (uint32_t)*others };
        b->node_of[c] = ++b->count;
    }
}

static void make_nodes(border *b, int64_t *segments)
{
    for (int64_t line = 0; line < b->runs->lines; line++)
        make_nodes_of(b, line, &segments[ar_label_segment(b->grid, &b->box, line)]);
}

static size_t count_marks(const border *b)
{
    size_t n = 0;

    for (uint32_t i = 0; i < components_of(b); i++)
        n += b->node_of[i];
    return n;
}

static void mark_faces(border *b)
{
    for (int side = 0; side < 2; side++) {
        for (int axis = 0; axis < 2; axis++)
            if (has_neighbour(b, axis, side))
                mark_lines(b, axis, side);
        if (has_neighbour(b, 2, side))
            mark_ends(b, side);
    }
}

static bool paint_faces(const border *b, ar_label_tile *tile)
{
    for (int axis = 0; axis < AR_LABEL_AXES; axis++)
        for (int side = 0; side < 2; side++)
            if (has_neighbour(b, axis, side) &&
                !(tile->face[axis][side] = paint_face(b, axis, side)))
                return false;
    return true;
}

/* Everything of a tile's border that needs nobody else. */
static bool look(border *b, ar_label_tile *tile, int64_t *segments)
{
    b->node_of = ar_alloc(components_of(b), sizeof *b->node_of);
    if (!b->node_of)
        return false;
    mark_faces(b);
    b->nodes = ar_alloc(count_marks(b), sizeof *b->nodes);
    if (!b->nodes)
        return false;
    make_nodes(b, segments);
    tile->nodes = b->count;
    tile->components = components_of(b);
    return paint_faces(b, tile);
}

void ar_label_faces_free(ar_label_tile *tile)
{
    for (int axis = 0; axis < AR_LABEL_AXES; axis++)
        for (int side = 0; side < 2; side++) {
            ar_free(tile->face[axis][side]);
            tile->face[axis][side] = NULL;
        }
}

/* ---- Two tiles ------------------------------------------------------------------------------- */

int64_t ar_label_root(ar_label_node *nodes, int64_t i)
{
    while (nodes[i].parent != i)
        i = nodes[i].parent = nodes[nodes[i].parent].parent;
    return i;
}

static void unite(ar_label_node *nodes, int64_t a, int64_t b)
{
    a = ar_label_root(nodes, a);
    b = ar_label_root(nodes, b);
    if (nodes[a].first < nodes[b].first)
        nodes[b].parent = a;
    else
        nodes[a].parent = b;
}

/* One side of a border: a face, seen along the two axes that lie in it. */
typedef struct {
    const uint32_t *cells;
    int64_t         first_node, extent[2];
} face;

typedef struct {
    ar_label_node *nodes;
    face           a, b;
    int            step[2]; /* from a to b; 0: they lie side by side along all of this axis */
    int            spare;   /* along how many axes of the face cells that touch may still differ */
} seam;

static uint32_t node_at(const face *f, int64_t i, int64_t j)
{
    return i < 0 || j < 0 || i >= f->extent[0] || j >= f->extent[1]
               ? 0
               : f->cells[i * f->extent[1] + j];
}

/* The cell of b at a step of (di, dj) from (i, j) of a.  Along an axis of a step tiles are not side
 * by side: what lies across is b's first or last cell. */
static uint32_t across(const seam *s, int64_t i, int64_t j, int di, int dj)
{
    int64_t to[2] = { i + di, j + dj };

    for (int d = 0; d < 2; d++)
        if (s->step[d])
            to[d] = s->step[d] > 0 ? 0 : s->b.extent[d] - 1;
    return node_at(&s->b, to[0], to[1]);
}

static void join_cell(const seam *s, int64_t i, int64_t j)
{
    int64_t  node = s->a.first_node + s->a.cells[i * s->a.extent[1] + j] - 1;
    uint32_t other = across(s, i, j, 0, 0);
    int      ri = s->spare && !s->step[0], rj = s->spare && !s->step[1];

    /* Where the cell straight across counts, it touches all the others. */
    if (other) {
        unite(s->nodes, node, s->b.first_node + other - 1);
        return;
    }
    for (int di = -ri; di <= ri; di++)
        for (int dj = -rj; dj <= rj; dj++)
            if ((di != 0) + (dj != 0) <= s->spare && (other = across(s, i, j, di, dj)))
                unite(s->nodes, node, s->b.first_node + other - 1);
}

static int64_t first_of(const seam *s, int d) { return s->step[d] > 0 ? s->a.extent[d] - 1 : 0; }

static int64_t end_of(const seam *s, int d) { return s->step[d] < 0 ? 1 : s->a.extent[d]; }

static void join_seam(const seam *s)
{
    for (int64_t i = first_of(s, 0); i < end_of(s, 0); i++)
        for (int64_t j = first_of(s, 1); j < end_of(s, 1); j++)
            if (s->a.cells[i * s->a.extent[1] + j])
                join_cell(s, i, j);
}

static face face_of(const ar_label_tile *tile, const ar_label_box *box, int axis, int side)
{
    return (face){ .cells = tile->face[axis][side],
                   .first_node = tile->first_node,
                   .extent = { box->extent[axis == 0], box->extent[axis == 2 ? 1 : 2] } };
}

/* A tile and the one at `step` from it in the grid. */
static void join_pair(ar_labelling *l, int64_t tile, const ar_label_box *box, const int *step)
{
    int            axis = step[0] ? 0 : step[1] ? 1 : 2, away = 0;
    int64_t        other = 0;
    ar_label_box   other_box;
    const int64_t *count = l->grid.count;

    for (int d = 0; d < AR_LABEL_AXES; d++) {
        if (box->at[d] + step[d] < 0 || box->at[d] + step[d] >= count[d])
            return;
        other = other * count[d] + box->at[d] + step[d];
        away += step[d] != 0;
    }
    if (away > l->grid.touch)
        return;
    other_box = ar_label_grid_box(&l->grid, other);
    join_seam(&(seam){ .nodes = l->nodes,
                       .a = face_of(&l->tiles[tile], box, axis, step[axis] > 0),
                       .b = face_of(&l->tiles[other], &other_box, axis, step[axis] < 0),
                       .step = { step[axis == 0], step[axis == 2 ? 1 : 2] },
                       .spare = l->grid.touch - away });
}

/* ---- All tiles, in order --------------------------------------------------------------------- */

static void join_tile(ar_labelling *l, int64_t tile)
{
    static const int before[][AR_LABEL_AXES] = {
        { -1, -1, -1 }, { -1, -1, 0 }, { -1, -1, 1 }, { -1, 0, -1 }, { -1, 0, 0 },
        { -1, 0, 1 },   { -1, 1, -1 }, { -1, 1, 0 },  { -1, 1, 1 },  { 0, -1, -1 },
        { 0, -1, 0 },   { 0, -1, 1 },  { 0, 0, -1 },
    };
    ar_label_box box = ar_label_grid_box(&l->grid, tile);

    for (size_t k = 0; k < AR_COUNT(before); k++)
        join_pair(l, tile, &box, before[k]);
}

/* The last tile that touches tile t is t + farthest. */
static int64_t farthest(const ar_label_grid *grid)
{
    return grid->count[1] * grid->count[2] + grid->count[2] + 1;
}

static void join_ready(ar_labelling *l)
{
    while (l->joined < l->grid.total && l->tiles[l->joined].labelled) {
        int64_t done = l->joined - farthest(&l->grid);

        join_tile(l, l->joined++);
        if (done >= 0)
            ar_label_faces_free(&l->tiles[done]);
    }
}

static arras_status take_nodes(ar_labelling *l, const border *b, arras_error *err)
{
    size_t  n = l->nnodes + b->count, capacity = l->nodes_capacity;
    int64_t bytes;

    if (n > capacity) {
        capacity = n > 2 * capacity ? n : 2 * capacity;
        bytes = (int64_t)(capacity * sizeof *l->nodes);
        if (bytes > l->table_most)
            return ar_fail(err, ARRAS_ELIMIT,
                           "label: %zu components touch borders between tiles; a table of them "
                           "needs %" PRId64 " bytes and may have %" PRId64
                           ": allow at least %" PRId64 " MB of memory",
                           n, bytes, l->table_most, (4 * bytes >> 20) + 1);
        ar_label_node *grown = ar_realloc(l->nodes, capacity, sizeof *grown);
        if (!grown)
            return ar_fail_memory(err, capacity * sizeof *grown);
        l->nodes = grown;
        l->nodes_capacity = capacity;
    }
    for (uint32_t i = 0; i < b->count; i++) {
        l->nodes[l->nnodes + i] = b->nodes[i];
        l->nodes[l->nnodes + i].parent = (int64_t)(l->nnodes + i);
    }
    return ARRAS_OK;
}

arras_status ar_label_border(ar_labelling *l, int64_t number, const ar_label_runs *runs,
                             const ar_label_scratch *scratch, arras_error *err)
{
    ar_label_tile *tile = &l->tiles[number];
    border         b = { .grid = &l->grid,
                         .box = ar_label_grid_box(&l->grid, number),
                         .runs = runs,
                         .edges = scratch->edges };
    arras_status   status = ARRAS_OK;

    if (!look(&b, tile, l->segments))
        status = ar_fail_memory(err, components_of(&b) * sizeof *b.node_of);
    pthread_mutex_lock(&l->lock);
    if (status == ARRAS_OK)
        status = take_nodes(l, &b, err);
    if (status == ARRAS_OK) {
        tile->first_node = (int64_t)l->nnodes;
        l->nnodes += b.count;
        tile->labelled = true;
        join_ready(l);
    }
    pthread_mutex_unlock(&l->lock);
    ar_free(b.node_of);
    ar_free(b.nodes);
    return status;
}
