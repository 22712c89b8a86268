/* test_normalise_random.c -- the normal form of random programs gives the same bits. */
#include "random_programs.h"

enum { PROGRAMS = 600 };

/* Fused, it gives the bits of the normal form, and is no larger. */
static void check_fused(void)
{
    arras_graph   *normal = NULL, *fused = NULL;
    arras_results *a = NULL, *b = NULL;
    arras_status   plain;

    if (CHECK_EQ_INT(ar_normalise(&normal, g, NULL), ARRAS_OK) &&
        CHECK_EQ_INT(ar_fuse(&fused, normal, NULL), ARRAS_OK) && check_kinds(fused)) {
        plain = ar_reference_run(&a, normal, nbound, bound, NULL);
        CHECK_EQ_INT(ar_reference_run(&b, fused, nbound, bound, NULL), plain);
        CHECK(ar_graph_count(fused) <= ar_graph_count(normal));
        if (plain == ARRAS_OK)
            compare_values(a, b, EXACT);
    }
    ar_results_free(a);
    ar_results_free(b);
    ar_graph_free(fused);
    ar_graph_free(normal);
}

static void random_programs(void)
{
    int ran = 0;

    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        CASE("seed %d", (int)seed);
        begin();
        record(seed);
        check_same(EXACT);
        check_fused();
        ran += run_status(g) == ARRAS_OK;
        end();
    }
    printf("    %d programs, %d of them without an error\n", PROGRAMS, ran);
    CHECK(ran > PROGRAMS / 2);
}

TEST_MAIN { RUN(random_programs); }
