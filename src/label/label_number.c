/* label_number.c -- components get their numbers, by their first cells in C order.  Most are known
 * only as a count in the segment where they begin; those at borders have a node. */
#include "label/label_parts.h"

/* A component of several tiles begins where the first of its parts does. */
static void count_roots(ar_labelling *l)
{
    for (size_t i = 0; i < l->nnodes; i++)
        if (ar_label_root(l->nodes, (int64_t)i) == (int64_t)i)
            l->segments[ar_label_segment_of(&l->grid, l->nodes[i].first)]++;
}

/* From how many begin in each segment to how many begin before it. */
static int64_t sum_up(int64_t *segments, int64_t n)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < n; i++) {
        int64_t here = segments[i];

        segments[i] = sum;
        sum += here;
    }
    return sum;
}

/* Nodes of a tile are in the order of their first cells, so those of a segment follow each other.
 */
static void number_roots(ar_labelling *l, const ar_label_tile *tile)
{
    int64_t segment = -1, roots = 0;

    for (int64_t i = tile->first_node; i < tile->first_node + tile->nodes; i++) {
        ar_label_node *node = &l->nodes[i];
        int64_t        here;

        if (node->parent != i)
            continue;
        here = ar_label_segment_of(&l->grid, node->first);
        roots = here == segment ? roots + 1 : 1;
        segment = here;
        node->label = l->segments[segment] + node->before + roots;
    }
}

void ar_label_number(ar_labelling *l)
{
    count_roots(l);
    l->count = sum_up(l->segments, l->grid.segments);
    for (int64_t t = 0; t < l->grid.total; t++)
        number_roots(l, &l->tiles[t]);
    for (size_t i = 0; i < l->nnodes; i++)
        l->nodes[i].label = l->nodes[ar_label_root(l->nodes, (int64_t)i)].label;
}
