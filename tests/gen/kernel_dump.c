/* kernel_dump.c -- the generated sources of random programs, for tools/same_kernels:
 * kernel_dump FIRST LAST prints a line for each program and way (its number, the hash and the
 * length of its source), kernel_dump NUMBER the sources themselves. */
#include "plan/plan.h"
#include "random_programs.h"

enum { MOST_ARRAYS = 32 };

/* How a program is compiled. */
typedef struct {
    const char *name;
    bool        strided, no_fusion;
    ar_machine  machine;
} way;

static const ar_machine small = { .cpus = 2,
                                  .vector_registers = 16,
                                  .cache = { 0, 32 << 10, 256 << 10, 4 << 20 },
                                  .prices = { 60, 600, 1000, 20, 100, 2e6 } };

static int list_ways(way *ways)
{
    ar_machine wide = small, ahead = small;

    wide.vector_registers = 32;
    wide.masks = wide.wide = wide.wide_loads = true;
    ahead.vector_registers = 32;
    ahead.masks = ahead.wide = ahead.reads_ahead = true;
    ways[0] = (way){ "small", false, false, small };
    ways[1] = (way){ "wide", false, false, wide };
    ways[2] = (way){ "ahead", false, false, ahead };
    ways[3] = (way){ "small strided", true, false, small };
    ways[4] = (way){ "wide strided", true, false, wide };
    ways[5] = (way){ "wide unfused", false, true, wide };
    return 6;
}

static void print_codes(ar_text *source, const ar_plan *plan)
{
    static ar_op_set used;
    ar_text          kernels = { 0 };
    arras_error      err = { ARRAS_OK, "" };
    int              next = 0;

    memset(&used, 0, sizeof used);
    for (int s = 0; s < plan->nsteps; s++) {
        char name[32];

        if (plan->steps[s].code != next)
            continue;
        snprintf(name, sizeof name, "kernel_%d", next++);
        if (ar_c_kernel_print(&kernels, &used, &plan->steps[s].form, &plan->steps[s].nest, name,
                              &err) != ARRAS_OK)
            ar_text_printf(&kernels, "%s: %s\n", name, err.text);
    }
    ar_c_ops_print(source, &used);
    ar_c_kernel_head_print(source);
    ar_text_put(source, kernels.data ? kernels.data : "", kernels.length);
    ar_text_free(&kernels);
}

/* Of the program that is recorded. */
static void print_source(ar_text *source, const way *w)
{
    bool            dense[MOST_ARRAYS] = { false };
    ar_opt_options  opt = { w->no_fusion, &w->machine };
    ar_plan_options options = { w->strided ? dense : NULL, w->no_fusion, &w->machine };
    arras_graph    *optimised = NULL;
    ar_plan         plan;
    arras_error     err = { ARRAS_OK, "" };

    if (ar_optimise(&optimised, g, &opt, NULL, &err) != ARRAS_OK ||
        ar_plan_make(&plan, optimised, &options, &err) != ARRAS_OK) {
        ar_text_add(source, err.text);
    } else {
        print_codes(source, &plan);
        ar_plan_free(&plan);
    }
    ar_graph_free(optimised);
}

static void dump(uint64_t seed, bool whole)
{
    static const int lengths[] = { 0, 17, 40, 0, 64, 1000, 3, 0, 130 };
    way              ways[8];
    int              nways = list_ways(ways);

    begin();
    long_length = lengths[seed % AR_COUNT(lengths)];
    largest = long_length ? 5000 : 300;
    record(seed);
    for (int i = 0; i < nways; i++) {
        ar_text source = { 0 };

        print_source(&source, &ways[i]);
        printf("%d %s %016" PRIx64 " %d\n", (int)seed, ways[i].name,
               ar_hash_bytes(0, source.data, source.length), (int)source.length);
        if (whole)
            fwrite(source.data, 1, source.length, stdout);
        ar_text_free(&source);
    }
    end();
}

int main(int argc, char **argv)
{
    long first = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    long last = argc > 2 ? strtol(argv[2], NULL, 10) : first;

    for (long seed = first; seed <= last; seed++)
        dump((uint64_t)seed, argc == 2);
    return test.failed > 0;
}
