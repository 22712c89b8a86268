/* test_chunk_cost.c -- what chunks cost: against counting, in large exact numbers, for logs; and
 * workloads that are refused. */
#include <string.h>

#include "chunk/big.h"
#include "chunk/probability.h"
#include "chunk_world.h"

/* ---- One axis -------------------------------------------------------------------------------- */

static int64_t count_places(int64_t extent, int64_t range, int64_t edge)
{
    int64_t sum = 0;

    for (int64_t s = 0; s + range <= extent; s++)
        sum += (s + range - 1) / edge - s / edge + 1;
    return sum;
}

/* All arrays of up to 40 cells, all ranges, all edges. */
static void exact_cost_is_what_counting_gives(void)
{
    int64_t wrong = 0, grows = 0;

    for (int64_t extent = 1; extent <= 40; extent++)
        for (int64_t range = 1; range <= extent; range++)
            for (int64_t edge = 1; edge <= extent + 1; edge++) {
                ar_range_cost cost = ar_chunk_range_cost(ARRAS_CHUNKS_EXACT, extent, range, edge);
                ar_range_cost next =
                    ar_chunk_range_cost(ARRAS_CHUNKS_EXACT, extent, range, edge + 1);

                wrong += cost.lower != extent - range + 1 ||
                         cost.upper != (ar_u128)count_places(extent, range, edge);
                grows += next.upper > cost.upper;
            }
    CHECK_EQ_INT(wrong, 0);
    CHECK_EQ_INT(grows, 0); /* what the search stands on */
}

/* ---- Logs ------------------------------------------------------------------------------------ */

/* A query at each of its places, logged: their mean is the exact model's, to the last digit. */
static void a_log_of_all_places_has_the_exact_mean(void)
{
    enum {
        ROWS = 7,
        COLUMNS = 9,
        HIGH = 3,
        WIDE = 4,
        PLACES = (ROWS - HIGH + 1) * (COLUMNS - WIDE + 1)
    };
    static const int64_t chunks[][2] = { { 1, 1 }, { 2, 3 }, { 5, 4 }, { 7, 9 }, { 4, 2 } };
    int64_t              lo[2 * PLACES], hi[2 * PLACES], total;
    arras_workload      *w = NULL;
    double               error;

    for (int64_t i = 0; i < PLACES; i++) {
        lo[2 * i] = i / (COLUMNS - WIDE + 1);
        lo[2 * i + 1] = i % (COLUMNS - WIDE + 1);
        hi[2 * i] = lo[2 * i] + HIGH;
        hi[2 * i + 1] = lo[2 * i + 1] + WIDE;
    }
    if (!CHECK(ar_workload_from_boxes(&w, 2, PLACES, lo, hi, NULL) == ARRAS_OK))
        return;
    ar_chunk_problem p = { .workload = w, .cells = 100, .extent = { ROWS, COLUMNS } };
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        ar_fraction mean;
        ar_text     want = { 0 }, got = { 0 };

        CHECK(ar_chunk_trace(&total, &error, w, chunks[i], NULL) == ARRAS_OK);
        ar_fraction_set(&mean, (ar_u128)total, PLACES);
        ar_fraction_print(&want, &mean);
        CHECK(ar_chunk_exact(&got, &p, chunks[i], -1));
        CHECK_STR(got.data, want.data);
        ar_text_free(&want);
        ar_text_free(&got);
    }
    ar_workload_free(w);
}

static void a_log_knows_its_error(void)
{
    static const int64_t lo[] = { 0, 0, 0, 0 }, hi[] = { 1, 3, 5, 7 };
    int64_t              one = 1, chunks;
    arras_workload      *w = NULL;
    double               error;

    CHECK(ar_workload_from_boxes(&w, 1, 4, lo, hi, NULL) == ARRAS_OK);
    CHECK(ar_chunk_trace(&chunks, &error, w, &one, NULL) == ARRAS_OK);
    CHECK_EQ_INT(chunks, 16);
    CHECK(fabs(error - sqrt(20.0 / 3 / 4)) < 1e-12); /* 1, 3, 5, 7: variance 20/3 */
    ar_workload_free(w);
}

/* ---- Large numbers --------------------------------------------------------------------------- */

static void large_numbers_are_exact(void)
{
    ar_fraction a, b, sum;
    ar_big      power, ten;
    ar_text     text = { 0 };

    ar_big_set(&power, 1);
    ar_big_set(&ten, 10);
    for (int i = 0; i < 2000; i++)
        CHECK(ar_big_multiply(&power, &power, &ten));
    ar_big_print(&text, &power);
    CHECK_EQ_INT((int64_t)text.length, 2001);
    CHECK_EQ_INT((int64_t)strspn(text.data + 1, "0"), 2000);
    int more = 0;
    while (more < 1000 && ar_big_multiply(&power, &power, &ten))
        more++;
    CHECK(more > 400 && more < 467); /* 10^2467 has more than 8192 bits */
    ar_text_free(&text);

    world_state = 11;
    for (int i = 0; i < 200; i++) {
        uint64_t up = 1 + (uint64_t)world_random(INT64_MAX),
                 down = 1 + (uint64_t)world_random(INT64_MAX);

        ar_fraction_set(&a, (ar_u128)up * up, down);
        ar_fraction_set(&b, down, (ar_u128)up * up);
        sum = a;
        CHECK(ar_fraction_add(&sum, &a) && ar_fraction_compare(&sum, &a) > 0);
        CHECK(ar_fraction_multiply(&sum, &b)); /* (a + a) / a = 2 */
        CHECK(ar_fraction_value(&sum) == 2 && sum.lower.count == 1 && sum.lower.words[0] == 1);
    }
}

/* Six queries along thirty-two axes of 2^61 cells have no common denominator of 8192 bits, so there
 * is a value and no fraction. */
static void costs_beyond_all_digits_have_a_value(void)
{
    enum { QUERIES = 6 };
    int64_t shapes[QUERIES * ARRAS_MAX_RANK], extent[ARRAS_MAX_RANK], chunk[ARRAS_MAX_RANK];
    ar_chunk_problem p;
    ar_text          text = { 0 };

    for (int i = 0; i < ARRAS_MAX_RANK; i++) {
        extent[i] = (INT64_C(1) << 61) - 2 * i - 1;
        chunk[i] = 999 + 2 * i;
    }
    for (int i = 0; i < QUERIES * ARRAS_MAX_RANK; i++)
        shapes[i] = 1000003 + 37 * i;
    if (!world_problem(&p, ARRAS_MAX_RANK, QUERIES, shapes, extent, 1000))
        return;
    CHECK(ar_chunk_problem_check(&p, NULL) == ARRAS_OK);
    CHECK(!ar_chunk_exact(&text, &p, chunk, -1));
    CHECK(ar_chunk_value(&p, chunk, -1) > 1e90);
    ar_text_free(&text);
    world_free(&p);
}

/* ---- Probabilities --------------------------------------------------------------------------- */

static void probabilities_are_exact(void)
{
    static const struct {
        const char *text;
        int64_t     upper, lower;
    } rows[] = {
        { "1/3", 1, 3 },   { "0.25", 1, 4 },    { "2.5e-3", 1, 400 },
        { "4/24", 1, 6 },  { "1", 1, 1 },       { ".5", 1, 2 },
        { "0.5/2", 1, 4 }, { "1e2/400", 1, 4 }, { "0.100000000000000000000", 1, 10 },
        { "-1/2", -1, 2 }, { "0", 0, 1 },
    };
    static const char *const wrong[] = {
        "", "x", "1/0", "1/", "nan", "inf", "1/3x", "1e", "99999999999999999999", "1/-2", "."
    };
    int64_t upper, lower;

    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        CASE("%s", rows[i].text);
        if (strlen(rows[i].text) > 20) /* zeros beyond what fits are refused, not rounded */
            CHECK_EQ_INT(ar_ratio_read(&upper, &lower, rows[i].text, "p", NULL), ARRAS_EINVAL);
        else if (CHECK(ar_ratio_read(&upper, &lower, rows[i].text, "p", NULL) == ARRAS_OK)) {
            CHECK_EQ_INT(upper, rows[i].upper);
            CHECK_EQ_INT(lower, rows[i].lower);
        }
    }
    for (size_t i = 0; i < AR_COUNT(wrong); i++) {
        CASE("wrong: %s", wrong[i]);
        CHECK_EQ_INT(ar_ratio_read(&upper, &lower, wrong[i], "p", NULL), ARRAS_EINVAL);
    }
}

static void workloads_are_checked(void)
{
    static const struct {
        const char *p[2];
        int64_t     shapes[4];
        const char *says;
    } rows[] = {
        { { "1/2", "1/4" }, { 2, 3, 3, 4 }, "add up to 0.75, not to 1" },
        { { "3/2", "-1/2" }, { 2, 3, 3, 4 }, "probability 1 is 3/2" },
        { { "1/2", "-1/2" }, { 2, 3, 3, 4 }, "probability 2 is -1/2" },
        { { "0.5", "half" }, { 2, 3, 3, 4 }, "'half'" },
        { { "1/2", "1/2" }, { 0, 3, 3, 4 }, "query 1 is 0 cells long along axis 0" },
        { { "1/2", "1/2" }, { 2, 3, 3, -4 }, "query 2 is -4 cells long along axis 1" },
        { { "0.1234567890123456", "1/999999999999999989" }, { 2, 3, 3, 4 }, "fewer digits" },
    };
    arras_workload *w = NULL;
    arras_error     err;

    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        CASE("%s", rows[i].says);
        CHECK(ar_workload_from_shapes(&w, 2, 2, rows[i].shapes, rows[i].p, &err) != ARRAS_OK);
        CHECK_HAS(err.text, rows[i].says);
    }
    CASE("nearly 1");
    CHECK(ar_workload_from_shapes(&w, 2, 2, rows[0].shapes,
                                  (const char *const[]){ "0.3333333333", "0.6666666667" },
                                  &err) == ARRAS_OK);
    ar_workload_free(w);
    CASE("no queries");
    CHECK_EQ_INT(ar_workload_from_shapes(&w, 2, 0, rows[0].shapes, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(ar_workload_from_shapes(&w, 0, 1, rows[0].shapes, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(ar_workload_from_shapes(&w, 33, 1, rows[0].shapes, NULL, &err), ARRAS_EINVAL);
}

static void ranges_are_checked(void)
{
    static const int     axes[] = { 0, 0, 2 }, beyond[] = { 0, 0, 3 };
    static const int64_t lengths[] = { 3, 5, 7 };
    arras_workload      *w = NULL;
    arras_error          err;

    CHECK_EQ_INT(ar_workload_from_ranges(&w, 3, 3, axes, lengths, NULL, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "no range along axis 1");
    CHECK_EQ_INT(ar_workload_from_ranges(&w, 3, 3, beyond, lengths, NULL, &err), ARRAS_EAXIS);
    CHECK_HAS(err.text, "axis 3; there are axes 0 to 2");
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static void bytes_are_checked(void)
{
    static const int64_t far[] = { INT64_C(1) << 32, INT64_C(1) << 32, 4 }, zero[] = { 3, 0 };
    static const int64_t square[] = { 65536, 65536 }, fits[] = { 65535, 65536 };
    arras_error          err;
    int64_t              bytes = 0;

    CHECK_EQ_INT(ar_chunk_bytes(&bytes, 3, far, 1, false, &err), ARRAS_ELIMIT);
    CHECK_EQ_INT(ar_chunk_bytes(&bytes, 2, zero, 1, false, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "axis 1 is 0");
    CHECK_EQ_INT(ar_chunk_bytes(&bytes, 2, square, 1, true, &err), ARRAS_ELIMIT);
    CHECK_HAS(err.text, "too large for HDF5");
    CHECK_EQ_INT(ar_chunk_bytes(&bytes, 2, square, 1, false, &err), ARRAS_OK);
    CHECK_EQ_INT(ar_chunk_bytes(&bytes, 2, fits, 1, true, &err), ARRAS_OK);
    CHECK_EQ_INT(bytes, 65535 * INT64_C(65536));
}

TEST_MAIN
{
    RUN(exact_cost_is_what_counting_gives);
    RUN(a_log_of_all_places_has_the_exact_mean);
    RUN(a_log_knows_its_error);
    RUN(large_numbers_are_exact);
    RUN(costs_beyond_all_digits_have_a_value);
    RUN(probabilities_are_exact);
    RUN(workloads_are_checked);
    RUN(ranges_are_checked);
    RUN(bytes_are_checked);
}
