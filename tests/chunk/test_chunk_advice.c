/* test_chunk_advice.c -- chunk shapes through the public header: advice, costs, guesses, and
 * arguments that will not do. */
#include <arras/arras.h>

#include "test.h"

static const int64_t climate[] = { 98128, 277, 349 };
static const int64_t series_and_maps[] = { 98128, 1, 1, 1, 277, 349 };

static arras_chunk_options options_for(const int64_t *shape, int rank)
{
    return (arras_chunk_options){ .rank = rank, .shape = shape, .cell_bytes = 4, .within = 0.01 };
}

static arras_workload *climate_workload(void)
{
    arras_workload *w = NULL;

    CHECK(arras_workload_from_shapes(&w, 3, 2, series_and_maps, NULL, NULL) == ARRAS_OK);
    return w;
}

static void advises(void)
{
    arras_workload     *w = climate_workload();
    arras_chunk_options o = options_for(climate, 3);
    arras_chunk_advice  advice;
    arras_chunk_costs   costs, query;
    char               *exact = NULL;
    double              sum = 0;

    if (!CHECK(arras_chunk_advise(&advice, w, &o, NULL) == ARRAS_OK))
        return;
    CHECK(advice.proven && advice.gap <= 0.01 && advice.cells * 4 <= 1 << 20);
    CHECK(arras_chunk_cost(&costs, &exact, w, &o, advice.least, NULL) == ARRAS_OK);
    CHECK_STR(exact, "383/2");
    CHECK_EQ_REAL(costs.chunks, 191.5);
    CHECK_EQ_REAL(costs.seconds, 0);
    arras_text_free(exact);
    for (int64_t i = 0; i < arras_workload_count(w); i++) {
        int64_t shape[3], weight, total;

        CHECK(arras_workload_shape(w, i, shape, &weight, &total));
        CHECK(arras_chunk_cost_of(&query, NULL, w, i, &o, advice.least, NULL) == ARRAS_OK);
        sum += query.chunks * (double)weight / (double)total;
    }
    CHECK_EQ_REAL(sum, costs.chunks);
    CHECK(!arras_workload_shape(w, 2, NULL, NULL, NULL));
    arras_workload_free(w);
}

/* A chunk of twice the bytes takes twice the time to read, and decoding comes on top. */
static void counts_seconds(void)
{
    static const int64_t chunk[] = { 64, 64, 64 };
    arras_workload      *w = climate_workload();
    arras_chunk_options  o = options_for(climate, 3);
    arras_chunk_costs    costs;
    const double         bytes = 64 * 64 * 64 * 4;

    o.latency = 0.5;
    o.bandwidth = bytes;
    CHECK(arras_chunk_cost(&costs, NULL, w, &o, chunk, NULL) == ARRAS_OK);
    CHECK(fabs(costs.seconds - costs.chunks * 1.5) < 1e-9 * costs.seconds);
    o.ratio = 4;
    o.decoding = 2 * bytes;
    CHECK(arras_chunk_cost(&costs, NULL, w, &o, chunk, NULL) == ARRAS_OK);
    CHECK(fabs(costs.seconds - costs.chunks * 1.25) < 1e-9 * costs.seconds);
    arras_workload_free(w);
}

static void guesses(void)
{
    arras_workload     *w = climate_workload();
    arras_chunk_options o = options_for(climate, 3);
    int64_t             chunk[3];

    for (int g = 0; g < ARRAS_GUESS_END; g++) {
        CASE("%s", arras_chunk_guess_name((arras_chunk_guess)g));
        CHECK(arras_chunk_guess_shape(chunk, (arras_chunk_guess)g, w, &o, NULL) == ARRAS_OK);
        for (int i = 0; i < 3; i++)
            CHECK(chunk[i] >= 1 && chunk[i] <= climate[i]);
    }
    CASE("beyond");
    CHECK(!arras_chunk_guess_name(ARRAS_GUESS_END));
    CHECK(arras_chunk_guess_shape(chunk, ARRAS_GUESS_END, w, &o, NULL) == ARRAS_EINVAL);
    arras_workload_free(w);
}

static void refuses(void)
{
    static const int64_t short_array[] = { 98127, 277, 349 }, zero[] = { 5, 0, 5 };
    arras_workload      *w = climate_workload(), *none = NULL;
    arras_chunk_options  o = options_for(climate, 3), other;
    arras_chunk_advice   advice;
    arras_chunk_costs    costs;
    arras_error          err;
    int64_t              chunks;

    CHECK_EQ_INT(arras_chunk_advise(NULL, w, &o, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_chunk_advise(&advice, NULL, &o, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_chunk_advise(&advice, w, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_workload_from_shapes(NULL, 3, 2, series_and_maps, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_workload_from_log(&none, 3, NULL, 0, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_workload_joint(&none, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_chunk_trace(&chunks, NULL, w, climate, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "no log");
    CHECK_EQ_INT(arras_chunk_cost(&costs, NULL, w, &o, zero, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_chunk_cost_of(&costs, NULL, w, 2, &o, climate, &err), ARRAS_EINDEX);
    other = o, other.rank = 2;
    CHECK_EQ_INT(arras_chunk_advise(&advice, w, &other, &err), ARRAS_ESHAPE);
    other = o, other.shape = short_array, other.model = ARRAS_CHUNKS_SS;
    CHECK_EQ_INT(arras_chunk_advise(&advice, w, &other, &err), ARRAS_ESHAPE);
    CHECK_HAS(err.text, "98128 cells long along axis 0; the array has 98127");
    other = o, other.cell_bytes = 0;
    CHECK_EQ_INT(arras_chunk_advise(&advice, w, &other, &err), ARRAS_EINVAL);
    other = o, other.limit = -1;
    CHECK_EQ_INT(arras_chunk_advise(&advice, w, &other, &err), ARRAS_EINVAL);
    other = o, other.model = ARRAS_CHUNKS_END;
    CHECK_EQ_INT(arras_chunk_advise(&advice, w, &other, &err), ARRAS_EINVAL);
    other = o, other.bandwidth = NAN;
    CHECK_EQ_INT(arras_chunk_advise(&advice, w, &other, &err), ARRAS_EINVAL);
    other = o, other.latency = 1;
    CHECK_EQ_INT(arras_chunk_advise(&advice, w, &other, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "without a bandwidth");
    CHECK(none == NULL);
    arras_workload_free(w);
    arras_workload_free(NULL);
}

TEST_MAIN
{
    RUN(advises);
    RUN(counts_seconds);
    RUN(guesses);
    RUN(refuses);
}
