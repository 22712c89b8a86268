/* test_opt_random.c -- every pass on normal forms gives the bits of what it was given, for random
 * programs. */
#include "random_programs.h"

enum { PROGRAMS = 600 };

typedef arras_status pass_function(arras_graph **out, const arras_graph *normal, arras_error *err);

static arras_status optimise(arras_graph **out, const arras_graph *normal, arras_error *err)
{
    ar_decisions decisions = { 0 };
    arras_status status = ar_optimise(out, normal, NULL, &decisions, err);

    CHECK(status != ARRAS_OK || decisions.count > 0);
    ar_decisions_free(&decisions);
    return status;
}

static const struct {
    const char    *name;
    pass_function *run;
} passes[] = {
    { "simplify", ar_simplify }, { "unroll", ar_unroll },  { "split", ar_split },
    { "fuse", ar_fuse },         { "optimise", optimise },
};

/* The sign and the payload of a nan are nobody's business: compilers swap operands. */
static void make_canonical(const arras_results *results)
{
    for (int i = 0; i < results->count; i++) {
        const arras_buffer *b = &results->items[i].buffer;
        size_t              size = ar_dtype_size(b->dtype);

        for (size_t k = 0; k < cell_count(b); k++) {
            ar_value value = { .bits = { 0, 0 } };

            memcpy(&value, (char *)b->data + k * size, size);
            ar_value_canonical(b->dtype, &value);
            memcpy((char *)b->data + k * size, &value, size);
        }
    }
}

static void compare_runs(const arras_graph *before, const arras_graph *after)
{
    arras_results *a = NULL, *b = NULL;
    arras_error    err = { ARRAS_OK, "" };
    arras_status   plain = ar_reference_run(&a, before, nbound, bound, NULL);

    if (!CHECK_EQ_INT(ar_reference_run(&b, after, nbound, bound, &err), plain))
        printf("    %s\n", err.text);
    else if (plain == ARRAS_OK) {
        make_canonical(a);
        make_canonical(b);
        compare_values(a, b, EXACT);
    }
    ar_results_free(a);
    ar_results_free(b);
}

static void check_passes(const arras_graph *normal)
{
    for (size_t p = 0; p < AR_COUNT(passes); p++) {
        int          failures = test.failures;
        arras_graph *better = NULL;
        arras_error  err = { ARRAS_OK, "" };

        if (CHECK_EQ_INT(passes[p].run(&better, normal, &err), ARRAS_OK) && check_kinds(better)) {
            check_face(better);
            compare_runs(normal, better);
        }
        if (test.failures > failures) {
            printf("    after %s: %s\n", passes[p].name, err.text);
            if (better)
                show_programs(better);
        }
        ar_graph_free(better);
    }
}

static void random_programs(void)
{
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        arras_graph *normal = NULL;

        CASE("seed %d", (int)seed);
        begin();
        record(seed);
        if (CHECK_EQ_INT(ar_normalise(&normal, g, NULL), ARRAS_OK))
            check_passes(normal);
        ar_graph_free(normal);
        end();
    }
}

TEST_MAIN { RUN(random_programs); }
