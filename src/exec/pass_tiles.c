/* pass_tiles.c -- the tiles of a pass.
 *
 * Slabs of whole rows first, along which memory and files run; further axes are cut only where one
 * slab is too large.  Tiles are as small as caches like them, but so large that halos, which are
 * read twice, stay a small part of what is read.
 *
 * Where a row of chunks is more than can be kept decoded, slabs would decode the same ones again
 * and again.  Such arrays are cut into panels, a few chunks wide, and tiles follow each other down
 * one panel after the other: only chunks at the borders of panels are decoded twice. */
#include "exec/pass.h"

#include <math.h>
#include <stdio.h>

enum {
    CACHE_TILE = 4 << 20, /* bytes of a tile that caches like */
    HALO_PERCENT = 10,    /* more of what is read should not be read twice */
    AGAIN_PERCENT = 5,    /* nor this much, where it is also computed twice */
    TILES_PER_THREAD = 4, /* at least, so that all threads end at the same time */
    SMALLEST_PART = 8     /* of a tile that caches like: not less in panels */
};

/* How many times chunks may be decoded, on average, before panels are tried, and how much less that
 * must be in these. */
static const double OFTEN = 1.25, LESS = 0.75;

/* ---- Sizes ----------------------------------------------------------------------------------- */

static void count_tiles(ar_pass *pass)
{
    pass->count = 1;
    for (int axis = 0; axis < pass->axes; axis++) {
        pass->tiles[axis] = (pass->shape[axis] + pass->tile[axis] - 1) / pass->tile[axis];
        pass->count *= pass->tiles[axis];
    }
}

/* The tile in the middle has all its halos; the last one may be cut off. */
static int64_t middle_tile(const ar_pass *pass)
{
    int64_t number = 0;

    for (int axis = 0; axis < pass->axes; axis++)
        if (axis != pass->along)
            number = number * pass->tiles[axis] + (pass->tiles[axis] - 1) / 2;
    if (pass->axes > 0)
        number = number * pass->tiles[pass->along] + (pass->tiles[pass->along] - 1) / 2;
    return number;
}

static int64_t bytes_with(ar_pass *pass, int axis, int64_t cells, ar_region *regions)
{
    pass->tile[axis] = cells;
    count_tiles(pass);
    if (pass->count == 0)
        return 0;
    ar_pass_regions(regions, pass, middle_tile(pass));
    return ar_pass_scratch(pass, regions);
}

/* Tiles are whole chunks of the files that they are written to. */
static int64_t grain(const ar_pass *pass, int axis)
{
    int64_t cells = 1;

    for (int i = 0; i < pass->ntargets; i++) {
        const ar_sink *sink = pass->exec->arrays[pass->targets[i]].sink;

        if (sink && sink->info.chunked)
            cells = ar_common_multiple(cells, ar_max64(1, sink->info.chunk[axis]));
    }
    return ar_min64(cells, ar_max64(1, pass->shape[axis]));
}

/* And, where that is possible, of the chunks that are read. */
static int64_t reading_grain(const ar_pass *pass, int axis, int64_t of_sinks)
{
    int64_t cells = of_sinks;

    for (int a = 0; a < pass->exec->narrays; a++) {
        const ar_exec_array *array = &pass->exec->arrays[a];

        if (array->source && array->source->info.chunked && array->rank > axis &&
            array->shape[axis] == pass->shape[axis])
            cells = ar_common_multiple(cells, ar_max64(1, array->source->info.chunk[axis]));
    }
    return cells <= pass->shape[axis] ? cells : of_sinks;
}

/* The axis along which a tile and the next one lie; -1: there is one only. */
static int next_axis(const ar_pass *pass)
{
    int last = -1;

    for (int axis = 0; axis < pass->axes; axis++)
        last = pass->tiles[axis] > 1 ? axis : last;
    return last >= 0 && pass->tiles[pass->along] > 1 ? pass->along : last;
}

/* Threads take tiles in order, so that what they need at one time is what a tile as long as all of
 * theirs needs, with those for which chunks are decoded ahead. */
static int64_t met_at_once(const ar_pass *pass, int64_t ahead, ar_region *regions)
{
    ar_pass several = *pass;
    int     axis = next_axis(pass);

    if (axis >= 0 &&
        !ar_mul64(&several.tile[axis], pass->tile[axis], ar_pool_threads(pass->exec->pool) + ahead))
        return INT64_MAX;
    count_tiles(&several);
    ar_pass_regions(regions, &several, middle_tile(&several));
    return ar_pass_chunk_bytes(&several, regions);
}

int64_t ar_pass_met(ar_region *regions, const ar_pass *pass)
{
    return met_at_once(pass, pass->ahead, regions);
}

/* ---- Choosing -------------------------------------------------------------------------------- */

/* The most cells along an axis, multiples of step, with which a tile has at most so many bytes; at
 * least one step. */
static int64_t most_cells(ar_pass *pass, int axis, int64_t step, int64_t bytes, ar_region *regions)
{
    int64_t low = 1, high = (pass->shape[axis] + step - 1) / step;

    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;

        if (bytes_with(pass, axis, middle * step, regions) <= bytes)
            low = middle;
        else
            high = middle - 1;
    }
    return ar_min64(low * step, ar_max64(1, pass->shape[axis]));
}

/* What a tile reads of files beyond its share of all that is read, in percent of its share. */
static double halo_percent(ar_pass *pass, int64_t all, ar_region *regions)
{
    double share = (double)all;

    for (int axis = 0; axis < pass->axes; axis++)
        share *= (double)pass->tile[axis] / (double)pass->shape[axis];
    ar_pass_regions(regions, pass, middle_tile(pass));
    return share > 0 ? ((double)ar_pass_read_bytes(pass, regions) / share - 1) * 100 : 0;
}

/* Twice as large until halos are a small part, or memory ends, or threads would go idle. */
static void grow_tiles(ar_pass *pass, int axis, int64_t all, ar_region *regions)
{
    int64_t threads = ar_pool_threads(pass->exec->pool);
    double  most = pass->nstages > 1 ? AGAIN_PERCENT : HALO_PERCENT;

    while (pass->count > 1 && halo_percent(pass, all, regions) > most) {
        int64_t before = pass->tile[axis];
        int64_t more = ar_min64(2 * before, pass->shape[axis]);
        bool    fits = bytes_with(pass, axis, more, regions) <= pass->exec->scratch;

        if (more == before || !fits || pass->count < 2 * threads) {
            bytes_with(pass, axis, before, regions);
            return;
        }
    }
}

/* Whether tiles of half the length need much less memory, and do not read most of it twice. */
static bool is_worth_cutting(ar_pass *pass, int axis, int64_t step, int64_t all, ar_region *regions)
{
    int64_t whole = pass->tile[axis], before = bytes_with(pass, axis, whole, regions);
    int64_t half = ar_min64((whole / 2 + step - 1) / step * step, whole), after;
    double  twice;

    if (half == whole || half == 0)
        return false;
    after = bytes_with(pass, axis, half, regions);
    twice = halo_percent(pass, all, regions);
    bytes_with(pass, axis, whole, regions);
    return after < before / 4 * 3 && twice < 50;
}

/* "8.6 MB", rounded up, or "96 bytes". */
static const char *size_text(char out[32], int64_t bytes)
{
    if (bytes < 100000)
        snprintf(out, 32, "%" PRId64 " bytes", bytes);
    else
        ar_snprintf(out, 32, "%.1f MB", ceil((double)bytes / 1e5) / 10);
    return out;
}

/* The least memory with which tiles as small as these fit: see share_memory in execution.c. */
static int64_t least_memory(const ar_pass *pass)
{
    const ar_execution *exec = pass->exec;
    int64_t             bytes;

    if (!ar_mul64(&bytes, pass->bytes, ar_pool_threads(exec->pool)) ||
        !ar_add64(&bytes, bytes, exec->passing))
        return INT64_MAX;
    return bytes > INT64_MAX / 2 ? bytes : bytes + ar_min64(exec->chunks, bytes / 3 + 1);
}

static arras_status too_large(const ar_pass *pass, arras_error *err)
{
    const ar_execution  *exec = pass->exec;
    const ar_exec_array *a = &exec->arrays[pass->targets[0]];
    char                 needed[32], given[32];

    return ar_fail(
        err, ARRAS_ELIMIT,
        "%s: %d threads need %s of memory for the smallest tiles and for chunks on their "
        "way, and have %s: allow more memory, fewer threads, or smaller chunks",
        a->name ? a->name : "an array in between", ar_pool_threads(exec->pool),
        size_text(needed, least_memory(pass)), size_text(given, exec->memory));
}

/* Cuts an axis so that tiles are cosy; true when they fit into memory. */
static bool cut_axis(ar_pass *pass, int axis, int64_t cache_tile, int64_t all, ar_region *regions)
{
    int64_t most = pass->exec->scratch, step = grain(pass, axis);
    int64_t wide = reading_grain(pass, axis, step);
    int64_t cells = most_cells(pass, axis, step, cache_tile, regions);

    /* Rounded up to whole chunks of what is read, if there is room and they would be decoded again
     * for the next tile. */
    bytes_with(pass, axis, cells, regions);
    if (cells % wide && met_at_once(pass, 0, regions) > pass->room &&
        bytes_with(pass, axis, (cells / wide + 1) * wide, regions) <= most)
        cells = ar_min64((cells / wide + 1) * wide, pass->shape[axis]);
    pass->bytes = bytes_with(pass, axis, cells, regions);
    if (pass->exec->tile_bytes > 0)
        return pass->bytes <= cache_tile;
    if (pass->bytes <= most)
        grow_tiles(pass, axis, all, regions);
    return pass->bytes <= most;
}

/* ---- Panels ---------------------------------------------------------------------------------- */

/* Bytes of chunks that all tiles decode together.  Tiles that follow each other find what was kept,
 * if there is room for that, and decode as much as one tile in their place would; so do rows of
 * tiles, and so on. */
static double decoded(const ar_pass *pass, ar_region *regions)
{
    ar_pass merged = *pass;

    for (int axis; (axis = next_axis(&merged)) >= 0; count_tiles(&merged)) {
        if (met_at_once(&merged, 0, regions) > pass->room)
            break;
        merged.tile[axis] = merged.shape[axis];
    }
    ar_pass_regions(regions, &merged, middle_tile(&merged));
    return (double)merged.count * (double)ar_pass_decoded_bytes(&merged, regions);
}

static int64_t chunks_across(const ar_pass *pass, int axis)
{
    int64_t cells = reading_grain(pass, axis, grain(pass, axis));

    return (pass->tile[axis] + cells - 1) / cells;
}

static void set_chunks_across(ar_pass *pass, int axis, int64_t n)
{
    pass->tile[axis] =
        ar_min64(n * reading_grain(pass, axis, grain(pass, axis)), pass->shape[axis]);
}

/* Of those that a panel can be cut along, the one with the most chunks; -1: no more cuts. */
static int widest_axis(const ar_pass *pass)
{
    int widest = -1;

    for (int axis = 0; axis < pass->axes; axis++)
        if (axis != pass->along && chunks_across(pass, axis) > 1 &&
            (widest < 0 || chunks_across(pass, axis) > chunks_across(pass, widest)))
            widest = axis;
    return widest;
}

/* Cuts a panel into tiles; whether they, and the chunks they need at one time, fit into memory. */
static bool cut_panel(ar_pass *pass, int64_t cache_tile, ar_region *regions)
{
    int     axis = pass->along;
    int64_t more = (pass->room - pass->exec->cached) / ar_pool_threads(pass->exec->pool);
    int64_t most = pass->exec->scratch - more;
    int64_t cells = most_cells(pass, axis, grain(pass, axis), ar_min64(cache_tile, most), regions);

    pass->bytes = bytes_with(pass, axis, cells, regions);
    return pass->bytes <= most && met_at_once(pass, 0, regions) <= pass->room;
}

/* As many chunks across as there is room for, the same number in all panels. */
static void widen_panel(ar_pass *pass, int axis, int64_t cache_tile, ar_region *regions)
{
    ar_pass whole = *pass;
    int64_t low = chunks_across(pass, axis), high = 2 * low, all, panels;

    whole.tile[axis] = whole.shape[axis];
    all = chunks_across(&whole, axis);
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;

        set_chunks_across(pass, axis, middle);
        if (cut_panel(pass, cache_tile, regions))
            low = middle;
        else
            high = middle - 1;
    }
    panels = (all + low - 1) / low;
    set_chunks_across(pass, axis, (all + panels - 1) / panels);
    if (cut_panel(pass, cache_tile, regions))
        return;
    set_chunks_across(pass, axis, low);
    cut_panel(pass, cache_tile, regions);
}

/* False: not even panels of one chunk fit. */
static bool make_panels(ar_pass *pass, int along, int64_t cache_tile, ar_region *regions)
{
    pass->along = along;
    pass->room = ar_max64(pass->exec->cached, ar_min64(pass->exec->chunks, pass->exec->memory / 2));
    for (int axis = 0; axis < pass->axes; axis++)
        pass->tile[axis] = pass->shape[axis];
    while (!cut_panel(pass, cache_tile, regions)) {
        int axis = widest_axis(pass);

        if (axis < 0)
            return false;
        set_chunks_across(pass, axis, (chunks_across(pass, axis) + 1) / 2);
    }
    for (int axis = 0; axis < pass->axes; axis++)
        if (pass->tiles[axis] > 1 && axis != along)
            widen_panel(pass, axis, cache_tile, regions);
    return true;
}

/* Panels in place of what was chosen, if less is decoded then; how much that is. */
static double try_panels(ar_pass *pass, double least, int along, int64_t cache_tile,
                         ar_region *regions)
{
    ar_pass panels = *pass;
    double  bytes =
        make_panels(&panels, along, cache_tile, regions) ? decoded(&panels, regions) : least;

    if (bytes > LESS * least)
        return least;
    *pass = panels;
    return bytes;
}

/* Smaller tiles leave more room for wide panels: threads stay closer to each other.  once: bytes of
 * all chunks that are needed. */
static void prefer_panels(ar_pass *pass, double once, int64_t cache_tile, ar_region *regions)
{
    double least = decoded(pass, regions);

    for (int along = 0; along < pass->axes; along++)
        for (int part = 1; part <= SMALLEST_PART && least > OFTEN * once; part *= 2)
            least = try_panels(pass, least, along, cache_tile / part, regions);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Where several tiles are cut out of the same chunks, threads would first decode, all at the same
 * time, and then write, all at the same time, which a file does not allow.  So each decodes a few
 * chunks of those that come next after every tile. */
static void look_ahead(ar_pass *pass, ar_region *regions)
{
    int     axis = next_axis(pass);
    int64_t tiles, reached;

    pass->reached = met_at_once(pass, 0, regions);
    if (axis < 0 || pass->reached == 0)
        return;
    tiles = reading_grain(pass, axis, 1) / pass->tile[axis];
    reached = met_at_once(pass, tiles, regions);
    if (tiles < 2 || reached > pass->room)
        return;
    pass->ahead = tiles;
    pass->reached = reached;
}

arras_status ar_pass_tiles(ar_pass *pass, ar_region *regions, arras_error *err)
{
    int64_t cache_tile, all, once;
    int     threads = ar_pool_threads(pass->exec->pool);
    bool    done;

    for (int axis = 0; axis < pass->axes; axis++)
        pass->tile[axis] = ar_max64(1, pass->shape[axis]);
    pass->along = pass->axes > 0 ? pass->axes - 1 : 0;
    pass->room = pass->exec->cached;
    count_tiles(pass);
    if (pass->count == 0)
        return ARRAS_OK;
    ar_pass_regions(regions, pass, 0);
    pass->bytes = ar_pass_scratch(pass, regions);
    all = ar_pass_read_bytes(pass, regions);
    once = ar_pass_decoded_bytes(pass, regions);
    cache_tile = ar_min64(ar_min64(CACHE_TILE, pass->exec->scratch),
                          pass->bytes / (TILES_PER_THREAD * threads));
    if (pass->exec->tile_bytes > 0)
        cache_tile = pass->exec->tile_bytes;
    done = pass->bytes <= cache_tile;
    /* First the axes along which that works well, then whatever is left. */
    for (int round = 0; round < 2; round++)
        for (int axis = 0; axis < pass->axes && !done; axis++)
            if (pass->tile[axis] == pass->shape[axis] &&
                (round > 0 || is_worth_cutting(pass, axis, grain(pass, axis), all, regions)))
                done = cut_axis(pass, axis, cache_tile, all, regions);
    if (once > 0)
        prefer_panels(pass, (double)once, cache_tile, regions);
    ar_pass_align(pass);
    count_tiles(pass);
    ar_pass_regions(regions, pass, middle_tile(pass));
    pass->bytes = ar_pass_scratch(pass, regions);
    pass->read = ar_pass_read_bytes(pass, regions);
    look_ahead(pass, regions);
    return pass->bytes <= pass->exec->scratch ? ARRAS_OK : too_large(pass, err);
}
