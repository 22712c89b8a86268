/* test_picture_window.c -- parts of arrays in files as pictures read them: random slices of arrays
 * in several layouts, through windows from a few cells to all of them. */
#include "cmd/show/picture_window.h"
#include "test.h"

#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

enum { RANK = 3, CELLS = 23 * 17 * 31 };
static const int64_t shape[RANK] = { 23, 17, 31 };
static cmd_error     err;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st, (void)kind, (void)walk;
    return remove(path);
}

static uint64_t state = 88172645463325252u;

static int64_t pick(int64_t n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int64_t)((state >> 11) % (uint64_t)n);
}

/* Each cell is its number. */
static arras_source *store(const char *path, const int64_t *chunk)
{
    const int64_t      zero[RANK] = { 0 };
    static int32_t     cells[CELLS];
    arras_sink_options options = { .chunk = chunk };
    arras_error        why;
    arras_sink        *sink;
    arras_source      *source = NULL;

    for (int32_t i = 0; i < CELLS; i++)
        cells[i] = i;
    CHECK_EQ_INT(arras_sink_create(&sink, path, NULL, ARRAS_I32, RANK, shape, &options, &why), 0);
    CHECK_EQ_INT(arras_sink_write(sink, zero, shape, cells, NULL, 1, &why), 0);
    CHECK_EQ_INT(arras_sink_finish(sink, &why), 0);
    CHECK_EQ_INT(arras_source_open(&source, path, NULL, &why), 0);
    return source;
}

static cmd_item random_item(int64_t length)
{
    int64_t  strides[] = { 1, 1, 1, -1, 2, -2, 3, 5, -7, 30 };
    cmd_item i = { .stride = strides[pick(10)], .start = pick(length) };
    int64_t  most = i.stride > 0 ? (length - 1 - i.start) / i.stride : i.start / -i.stride;

    i.count = 1 + pick(most + 1);
    return i;
}

static int64_t cell_at(const cmd_item *items, int64_t row, int64_t column)
{
    int64_t at = 0;
    int     axes = 0, kept = 0;

    for (int d = 0; d < RANK; d++)
        axes += !items[d].is_index;
    for (int d = 0; d < RANK; d++) {
        int64_t k = items[d].is_index ? 0 : ++kept == axes ? column : row;

        at = at * shape[d] + items[d].start + k * items[d].stride;
    }
    return at;
}

/* All cells from the first to the last, in pieces of random lengths. */
static bool reads_all(cmd_window *w, const cmd_item *items, int64_t rows, int64_t columns)
{
    bool same = true;

    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0, n; column < columns && same; column += n) {
            const char *cells;
            int64_t     asked = 1 + pick(columns - column);

            n = asked;
            same = cmd_window_cells(&cells, &n, w, row, column, &err) && n > 0 && n <= asked;
            for (int64_t i = 0; i < n && same; i++)
                same = ((const int32_t *)(const void *)cells)[i] == cell_at(items, row, column + i);
        }
    return same;
}

static void look(arras_source *source, int layout)
{
    cmd_item    items[RANK];
    cmd_window *w;
    int64_t     kept[2] = { 1, 1 }, memory = pick(3) ? 4 * (1 + pick(200)) : 0;
    int         naxes = 1 + (int)pick(2), left = naxes;

    for (int d = 0; d < RANK; d++) {
        bool is_kept = pick(RANK - d) < left;

        items[d] = is_kept ? random_item(shape[d]) : (cmd_item){ true, pick(shape[d]), 1, 1 };
        if (is_kept)
            kept[2 - left--] = items[d].count;
    }
    if (naxes == 1)
        kept[0] = 1;
    CASE("layout %d, %lld x %lld cells, %lld bytes", layout, (long long)kept[0], (long long)kept[1],
         (long long)memory);
    if (!CHECK(cmd_window_open(&w, source, items, memory, &err)))
        return;
    CHECK(reads_all(w, items, kept[0], kept[1])); /* statistics */
    CHECK(reads_all(w, items, kept[0], kept[1])); /* and the picture */
    cmd_window_close(w);
}

static void windows_show_the_cells(void)
{
    static const struct {
        const char *name;
        int64_t     chunk[RANK];
    } layouts[] = { { "a.npy", { 0 } },
                    { "b.zarr", { 4, 5, 6 } },
                    { "c.zarr", { 1, 17, 31 } },
                    { "d.zarr", { 23, 1, 2 } },
                    { "e.zarr", { 23, 17, 31 } } };
    char world[] = "/tmp/arras-window-XXXXXX", path[64];

    CHECK(mkdtemp(world) != NULL);
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/%s", world, layouts[i].name);
        arras_source *source = store(path, layouts[i].chunk[0] ? layouts[i].chunk : NULL);

        for (int k = 0; k < 100; k++)
            look(source, i);
        arras_source_close(source);
    }
    nftw(world, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

TEST_MAIN { RUN(windows_show_the_cells); }
