/* test_place.c -- one piece of memory for all temporaries: blocks that are needed at the same time
 * never overlap, but an heir and what it takes over; looked at byte by byte for random lifetimes.
 */
#include "plan/plan.h"
#include "test.h"

enum { MOST_BLOCKS = 40, MOST_STEPS = 30 };

static uint64_t state;

static int below(int n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)(state >> 33) % n;
}

/* ---- A few that can be looked at ------------------------------------------------------------- */

/* A block: bytes, first step, last step, heir. */
static const struct {
    const char    *why;
    int            n;
    ar_block       blocks[4]; /* offset: what it should be, -1: any */
    ar_memory_plan want;
} cases[] = {
    { "nothing needs nothing", 0, { { 0 } }, { 0, 0, 0 } },
    { "one byte takes a line of the cache", 1, { { 1, 0, 3, -1, 0 } }, { 64, 64, 64 } },
    { "no bytes take none", 2, { { 0, 0, 3, -1, -1 }, { 64, 0, 3, -1, -1 } }, { 64, 64, 64 } },
    { "one after the other: the same place",
      2,
      { { 640, 0, 1, -1, 0 }, { 640, 2, 3, -1, 0 } },
      { 640, 640, 1280 } },
    { "a step that is the last of one and the first of the other needs both",
      2,
      { { 640, 0, 1, -1, -1 }, { 640, 1, 2, -1, -1 } },
      { 1280, 1280, 1280 } },
    { "but not where one is the heir",
      2,
      { { 640, 0, 1, 1, 0 }, { 640, 1, 2, -1, 0 } },
      { 640, 640, 1280 } },
    { "an heir that is larger gets a place of its own",
      2,
      { { 640, 0, 1, 1, -1 }, { 704, 1, 2, -1, -1 } },
      { 1344, 1344, 1344 } },
    { "an heir that comes later is none, yet may lie there",
      2,
      { { 640, 0, 1, 1, 0 }, { 640, 2, 2, -1, 0 } },
      { 640, 640, 1280 } },
    { "an heir that is there before is none",
      2,
      { { 640, 1, 1, 1, -1 }, { 640, 0, 1, -1, -1 } },
      { 1280, 1280, 1280 } },
    { "heirs of heirs keep the place as long as the last lives",
      4,
      { { 640, 0, 1, 1, 0 }, { 640, 1, 2, 2, 0 }, { 64, 2, 3, -1, 0 }, { 640, 3, 3, -1, 640 } },
      { 1280, 1280, 1984 } },
    { "two small ones where a large one was",
      3,
      { { 1280, 0, 1, -1, 0 }, { 640, 2, 3, -1, -1 }, { 640, 3, 4, -1, -1 } },
      { 1280, 1280, 2560 } },
};

static void a_few_blocks(void)
{
    for (size_t i = 0; i < AR_COUNT(cases); i++) {
        ar_block       blocks[4];
        ar_memory_plan got = { -1, -1, -1 };

        CASE("%s", cases[i].why);
        memcpy(blocks, cases[i].blocks, sizeof blocks);
        CHECK_EQ_INT(ar_memory_place(&got, cases[i].n, blocks, NULL), ARRAS_OK);
        CHECK_EQ_INT(got.live, cases[i].want.live);
        CHECK_EQ_INT(got.sum, cases[i].want.sum);
        CHECK_EQ_INT(got.bytes, cases[i].want.bytes);
        for (int k = 0; k < cases[i].n; k++)
            if (cases[i].blocks[k].offset >= 0)
                CHECK_EQ_INT(blocks[k].offset, cases[i].blocks[k].offset);
    }
}

/* ---- Random lifetimes ------------------------------------------------------------------------ */

/* Blocks in the order of their first steps, as arrays are made; an heir is always a later one. */
static int make_blocks(ar_block *blocks)
{
    static const int lengths[] = { 0, 1, 64, 65, 1000, 4096, 100000 };
    int              n = 1 + below(MOST_BLOCKS), steps = 1 + below(MOST_STEPS);
    bool             is_heir[MOST_BLOCKS] = { false };

    for (int i = 0; i < n; i++) {
        int first = below(steps);

        blocks[i] =
            (ar_block){ .bytes = below(2) ? lengths[below((int)AR_COUNT(lengths))] : below(5000),
                        .first = first,
                        .last = first + below(below(3) ? 4 : steps - first),
                        .in_place_successor = -1,
                        .offset = -1 };
    }
    /* A block takes over one place at most.  Some heirs do not suit: they must be taken for none.
     */
    for (int i = 0; i < n; i++) {
        int heir = below(n);

        if (heir == i || is_heir[heir])
            continue;
        blocks[i].in_place_successor = heir;
        is_heir[heir] = true;
        if (below(4) && blocks[i].last > blocks[i].first) {
            blocks[heir].last += blocks[i].last - blocks[heir].first;
            blocks[heir].first = blocks[i].last;
            if (blocks[heir].last < blocks[heir].first)
                blocks[heir].last = blocks[heir].first;
            blocks[heir].bytes = ar_min64(blocks[heir].bytes, blocks[i].bytes);
        }
    }
    return n;
}

/* An heir may lie in the place of what it takes over, from the step on in which it does. */
static bool inherits(const ar_block *blocks, int from, int to)
{
    return blocks[from].in_place_successor == to && blocks[to].bytes <= blocks[from].bytes &&
           blocks[to].first == blocks[from].last && blocks[from].first < blocks[to].first;
}

static bool meet(const ar_block *a, const ar_block *b)
{
    bool in_time = a->first <= b->last && b->first <= a->last;

    return in_time && a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

/* By step, the bytes of all blocks that are alive, each in whole lines, what an heir takes over
 * counted once. */
static int64_t most_alive(const ar_block *blocks, int n)
{
    int64_t most = 0;

    for (int step = 0; step < 3 * MOST_STEPS; step++) {
        int64_t alive = 0;

        for (int i = 0; i < n; i++) {
            bool starts_as_heir = false;

            for (int from = 0; from < n && step == blocks[i].first; from++)
                starts_as_heir = starts_as_heir || inherits(blocks, from, i);
            if (step >= blocks[i].first && step <= blocks[i].last && !starts_as_heir)
                alive += (blocks[i].bytes + AR_BLOCK_ALIGN - 1) / AR_BLOCK_ALIGN * AR_BLOCK_ALIGN;
        }
        most = ar_max64(most, alive);
    }
    return most;
}

static void check_blocks(const ar_block *blocks, int n, const ar_memory_plan *plan)
{
    int64_t end = 0, sum = 0;

    for (int i = 0; i < n; i++) {
        CHECK(blocks[i].offset >= 0 && blocks[i].offset % AR_BLOCK_ALIGN == 0);
        end = ar_max64(end, blocks[i].offset + blocks[i].bytes);
        sum += (blocks[i].bytes + AR_BLOCK_ALIGN - 1) / AR_BLOCK_ALIGN * AR_BLOCK_ALIGN;
        for (int k = 0; k < i; k++)
            if (meet(&blocks[i], &blocks[k]))
                CHECK(inherits(blocks, i, k) || inherits(blocks, k, i));
        if (blocks[i].in_place_successor >= 0 && inherits(blocks, i, blocks[i].in_place_successor))
            CHECK_EQ_INT(blocks[blocks[i].in_place_successor].offset, blocks[i].offset);
    }
    CHECK(end <= plan->bytes);
    CHECK_EQ_INT(plan->sum, sum);
    CHECK(plan->live <= plan->bytes && plan->bytes <= plan->sum);
    CHECK(plan->live >= most_alive(blocks, n));
}

static void random_lifetimes(void)
{
    int shared = 0;

    for (int seed = 1; seed <= 3000; seed++) {
        ar_block       blocks[MOST_BLOCKS];
        ar_memory_plan plan;
        int            n;

        CASE("seed %d", seed);
        state = (uint64_t)seed * UINT64_C(0x9E3779B97F4A7C15);
        n = make_blocks(blocks);
        CHECK_EQ_INT(ar_memory_place(&plan, n, blocks, NULL), ARRAS_OK);
        check_blocks(blocks, n, &plan);
        shared += plan.bytes < plan.sum;
    }
    CHECK(shared > 1000); /* or memory is not shared at all */
}

static void no_memory(void)
{
    ar_block       blocks[3] = { { 10, 0, 1, -1, 0 }, { 10, 1, 2, -1, 0 }, { 10, 2, 3, -1, 0 } };
    ar_memory_plan plan;
    arras_error    err = { ARRAS_OK, "" };
    int64_t        live = ar_alloc_live();
    arras_status   status = ARRAS_ENOMEM;

    for (int n = 1; n < 20 && status == ARRAS_ENOMEM; n++) {
        ar_alloc_fail_from(n);
        status = ar_memory_place(&plan, 3, blocks, &err);
        ar_alloc_fail_from(0);
        CHECK(status == ARRAS_OK || err.code == ARRAS_ENOMEM);
        CHECK_EQ_INT(ar_alloc_live(), live);
    }
    CHECK_EQ_INT(status, ARRAS_OK);
}

TEST_MAIN
{
    RUN(a_few_blocks);
    RUN(random_lifetimes);
    RUN(no_memory);
}
