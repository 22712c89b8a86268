/* test_items.c -- kernels in items, printed as plain C, give the bits of the reference evaluator
 * and meet the faults that it meets. */
#include "items_ops.h"

static void random_programs(void)
{
    check_random_programs(200);
    print_tally();
}

TEST_MAIN
{
    arras_options options = { .no_cache = true };

    if (!CHECK_EQ_INT(ar_device_open(&device, "cpu", &options, NULL), ARRAS_OK))
        return;
    exact = true;
    RUN(operations_of_every_type);
    run_kernel_cases();
    RUN(random_programs);
    ar_device_drop(device);
}
