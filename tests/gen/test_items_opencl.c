/* test_items_opencl.c -- the same kernels as OpenCL C, on the first device there is. */
#include "items_ops.h"

static void random_programs(void)
{
    check_random_programs(200);
    print_tally();
}

TEST_MAIN
{
    arras_error err = { ARRAS_OK, "" };

    if (ar_device_open(&device, "opencl", NULL, &err) != ARRAS_OK) {
        printf("skipped: %s\n", err.text);
        CHECK(err.text[0] && !strchr(err.text, '\n'));
        return;
    }
    RUN(operations_of_every_type);
    run_kernel_cases();
    RUN(random_programs);
    ar_device_drop(device);
}
