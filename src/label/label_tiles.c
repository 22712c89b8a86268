/* label_tiles.c -- how an array is cut into tiles, and where tiles lie in C order. */
#include "label/label_parts.h"

static int64_t pieces(int64_t n, int64_t size) { return n / size + (n % size != 0); }

void ar_label_grid_cut(ar_label_grid *grid, const int64_t *tile)
{
    grid->total = 1;
    grid->segment_axis = 0;
    for (int d = 0; d < AR_LABEL_AXES; d++) {
        grid->tile[d] = ar_max64(1, ar_min64(tile[d], grid->shape[d]));
        grid->count[d] = pieces(grid->shape[d], grid->tile[d]);
        grid->total *= grid->count[d];
        if (grid->count[d] > 1)
            grid->segment_axis = d;
    }
    grid->segments = grid->count[grid->segment_axis];
    for (int d = 0; d < grid->segment_axis; d++)
        grid->segments *= grid->shape[d];
}

ar_label_box ar_label_grid_box(const ar_label_grid *grid, int64_t tile)
{
    ar_label_box box;

    for (int d = AR_LABEL_AXES - 1; d >= 0; d--) {
        box.at[d] = tile % grid->count[d];
        box.lo[d] = box.at[d] * grid->tile[d];
        box.extent[d] = ar_min64(grid->tile[d], grid->shape[d] - box.lo[d]);
        tile /= grid->count[d];
    }
    return box;
}

/* Segments are numbered in C order: by the axes before theirs, then by tiles along it. */
static int64_t segment_at(const ar_label_grid *grid, int64_t z, int64_t y, const int64_t *tile)
{
    switch (grid->segment_axis) {
    case 0: return tile[0];
    case 1: return z * grid->count[1] + tile[1];
    default: return (z * grid->shape[1] + y) * grid->count[2] + tile[2];
    }
}

int64_t ar_label_segment(const ar_label_grid *grid, const ar_label_box *box, int64_t line)
{
    int64_t z = box->lo[0] + line / box->extent[1], y = box->lo[1] + line % box->extent[1];

    return segment_at(grid, z, y, box->at);
}

int64_t ar_label_segment_of(const ar_label_grid *grid, int64_t cell)
{
    int64_t x = cell % grid->shape[2], line = cell / grid->shape[2];
    int64_t y = line % grid->shape[1], z = line / grid->shape[1];
    int64_t tile[AR_LABEL_AXES] = { z / grid->tile[0], y / grid->tile[1], x / grid->tile[2] };

    return segment_at(grid, z, y, tile);
}

/* Tiles of about the same size. */
static int64_t even(int64_t n, int64_t size) { return n ? pieces(n, pieces(n, size)) : 1; }

static int64_t within(int64_t n, int64_t lo, int64_t hi) { return ar_max64(lo, ar_min64(n, hi)); }

static int64_t enough_for(const ar_label_grid *grid, int threads, int64_t least, int64_t most)
{
    enum { TILES_PER_THREAD = 8 };
    int64_t cells = grid->shape[0] * grid->shape[1] * grid->shape[2];

    return within(cells / (TILES_PER_THREAD * (int64_t)threads), least, most);
}

/* Long rows are cut, so that what is painted of one stays in the caches. */
void ar_label_tiles_memory(ar_label_grid *grid, int threads)
{
    enum { LONG_ROW = 1 << 18, LEAST = 1 << 16, MOST = 1 << 24 };
    int64_t most = enough_for(grid, threads, LEAST, MOST), tile[AR_LABEL_AXES];

    for (int d = AR_LABEL_AXES - 1; d >= 0; d--) {
        tile[d] = even(grid->shape[d],
                       within(d == 2 ? ar_min64(most, LONG_ROW) : most, 1, grid->shape[d]));
        most = ar_max64(1, most / tile[d]);
    }
    ar_label_grid_cut(grid, tile);
}

/* Whole rows come first: the longer segments are, the fewer there are. */
void ar_label_tiles_stored(ar_label_grid *grid, const int64_t *unit, int64_t most)
{
    int64_t tile[AR_LABEL_AXES], cells = 1;

    for (int d = 0; d < AR_LABEL_AXES; d++) {
        tile[d] = within(unit[d], 1, grid->shape[d]);
        cells *= tile[d];
    }
    for (int d = AR_LABEL_AXES - 1; d >= 0; d--) {
        int64_t units = within(most / cells, 1, pieces(grid->shape[d], tile[d]));

        cells *= units; /* or fewer, where the array ends */
        tile[d] *= units;
    }
    ar_label_grid_cut(grid, tile);
}
