/* nest_kit.h -- for tests of kernels: what the plan would decide of one. */
#ifndef TEST_NEST_KIT_H
#define TEST_NEST_KIT_H

#include "gen/gen.h"
#include "test.h"

/* What it points to is in the arena. */
static inline ar_nest nest_of(const ar_kernel_form *form, ar_arena *arena)
{
    const ar_contraction *contraction = NULL;
    ar_nest               nest = { .flat = false };

    if (form->n == 1)
        CHECK_EQ_INT(ar_contraction_find(&contraction, form->lambdas[0], arena, NULL), ARRAS_OK);
    CHECK_EQ_INT(ar_nest_make(&nest, form, contraction, arena, NULL), ARRAS_OK);
    return nest;
}

#endif
