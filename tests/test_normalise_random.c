/* test_normalise_random.c -- the normal form of random programs gives the same bits. */
#include "random_programs.h"

enum { PROGRAMS = 600 };

static void random_programs(void)
{
    int ran = 0;

    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        CASE("seed %d", (int)seed);
        begin();
        record(seed);
        check_same(EXACT);
        ran += run_status(g) == ARRAS_OK;
        end();
    }
    printf("    %d programs, %d of them without an error\n", PROGRAMS, ran);
    CHECK(ran > PROGRAMS / 2);
}

TEST_MAIN { RUN(random_programs); }
