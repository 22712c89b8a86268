/* c_libraries.c -- what kernels are linked with. */
#include "gen/gen.h"

const char *const *ar_c_libraries(void)
{
    static const char *const libraries[] = { "-lm", "-lgcc", NULL };

    return libraries;
}
