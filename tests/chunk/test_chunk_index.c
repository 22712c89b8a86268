/* test_chunk_index.c -- which chunks are there: against a plain grid, while the array grows, and
 * walks that do not look at every place. */
#include <string.h>

#include "chunk_world.h"

enum { EDGE = 12, STEPS = 20000 };

typedef struct grid {
    int64_t values[EDGE][EDGE]; /* 0: not there */
    int64_t count;
} grid;

typedef struct sum {
    int64_t last[3], seen, total;
    bool    ascending;
} sum;

static void add_up(void *context, const int64_t *key, int64_t value)
{
    sum *s = context;

    s->ascending = s->ascending && (s->seen == 0 || s->last[0] < key[0] ||
                                    (s->last[0] == key[0] && s->last[1] < key[1]));
    memcpy(s->last, key, 2 * sizeof *key);
    s->seen++;
    s->total += value;
}

static void check_box(const ar_chunk_index *index, const grid *g)
{
    int64_t lo[2], hi[2], want = 0, seen = 0;
    sum     s = { .ascending = true };

    for (int i = 0; i < 2; i++) {
        lo[i] = world_random(EDGE);
        hi[i] = world_random(EDGE + 1);
    }
    for (int64_t i = lo[0]; i < hi[0]; i++)
        for (int64_t j = lo[1]; j < hi[1]; j++) {
            want += g->values[i][j];
            seen += g->values[i][j] != 0;
        }
    CHECK(ar_chunk_index_walk(index, lo, hi, add_up, &s));
    CHECK(s.ascending);
    CHECK_EQ_INT(s.seen, seen);
    CHECK_EQ_INT(s.total, want);
}

static void change(ar_chunk_index *index, grid *g, int step)
{
    int64_t  key[2] = { world_random(EDGE), world_random(EDGE) }, value = 0;
    int64_t *cell = &g->values[key[0]][key[1]];

    CHECK_EQ_INT(ar_chunk_index_find(&value, index, key), *cell != 0);
    CHECK_EQ_INT(value, *cell);
    if (world_random(2)) {
        g->count += *cell == 0;
        *cell = step + 1;
        CHECK(ar_chunk_index_put(index, key, *cell));
    } else {
        CHECK_EQ_INT(ar_chunk_index_remove(index, key), *cell != 0);
        g->count -= *cell != 0;
        *cell = 0;
    }
    CHECK_EQ_INT(ar_chunk_index_count(index), g->count);
}

static void is_like_a_grid(void)
{
    ar_chunk_index *index = ar_chunk_index_new(2);
    grid            g = { .count = 0 };

    world_state = 5;
    for (int step = 0; step < STEPS && CHECK(index); step++) {
        change(index, &g, step);
        if (step % 10 == 0)
            check_box(index, &g);
    }
    ar_chunk_index_free(index);
}

/* Ten chunks in a grid of 2^120 places: a walk over all of it takes no time. */
static void walks_do_not_look_at_every_place(void)
{
    const int64_t   lo[3] = { 0 }, hi[3] = { INT64_C(1) << 40, INT64_C(1) << 40, INT64_C(1) << 40 };
    ar_chunk_index *index = ar_chunk_index_new(3);
    sum             s = { .ascending = true };

    for (int64_t i = 0; i < 10; i++)
        CHECK(ar_chunk_index_put(index, (const int64_t[]){ i << 36, 7, (9 - i) << 30 }, 1 << i));
    CHECK(ar_chunk_index_walk(index, lo, hi, add_up, &s));
    CHECK_EQ_INT(s.seen, 10);
    CHECK_EQ_INT(s.total, 1023);
    CHECK(s.ascending);
    ar_chunk_index_free(index);
}

/* An array grows along both axes: chunks that were there keep their keys and values. */
static void growing_renumbers_nothing(void)
{
    ar_chunk_index *index = ar_chunk_index_new(2);
    int64_t         value, next = 1;
    const int64_t   none[2] = { 99, 0 };

    for (int64_t size = 1; size <= 16; size *= 2)
        for (int64_t i = 0; i < size; i++)
            for (int64_t j = 0; j < 2 * size; j++) {
                const int64_t key[2] = { i, j };

                if (!ar_chunk_index_find(&value, index, key))
                    CHECK(ar_chunk_index_put(index, key, next++));
            }
    CHECK_EQ_INT(ar_chunk_index_count(index), 16 * 32);
    CHECK(ar_chunk_index_find(&value, index, (const int64_t[]){ 0, 0 }) && value == 1);
    CHECK(ar_chunk_index_find(&value, index, (const int64_t[]){ 0, 1 }) && value == 2);
    CHECK(ar_chunk_index_find(&value, index, (const int64_t[]){ 15, 31 }) && value == 16 * 32);
    CHECK(!ar_chunk_index_find(&value, index, none)); /* the fill value */
    ar_chunk_index_free(index);
}

static void survives_without_memory(void)
{
    ar_chunk_index *index = ar_chunk_index_new(1);
    const int64_t   lo = 0, hi = INT64_C(1) << 50;
    sum             s = { .ascending = true };
    int64_t         value;

    for (int64_t i = 0; i < 100; i++) {
        ar_alloc_fail_from(1);
        bool put = ar_chunk_index_put(index, &i, i);
        ar_alloc_fail_from(0);
        if (!put) {
            CHECK(!ar_chunk_index_find(&value, index, &i));
            CHECK(ar_chunk_index_put(index, &i, i));
        }
    }
    CHECK_EQ_INT(ar_chunk_index_count(index), 100);
    ar_alloc_fail_from(1);
    CHECK(!ar_chunk_index_walk(index, &lo, &hi, add_up, &s));
    ar_alloc_fail_from(0);
    CHECK_EQ_INT(s.seen, 0);
    ar_chunk_index_free(index);
}

TEST_MAIN
{
    RUN(is_like_a_grid);
    RUN(walks_do_not_look_at_every_place);
    RUN(growing_renumbers_nothing);
    RUN(survives_without_memory);
}
