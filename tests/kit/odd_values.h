/* odd_values.h -- for tests of operations: cells that are hard to compute with, and whether two
 * cells are the same. */
#ifndef TEST_ODD_VALUES_H
#define TEST_ODD_VALUES_H

#include "ir/ir.h"
#include "test.h"

#include <stdlib.h>

/* Zeros, ones, ends of ranges, infinities, nan, then random numbers of all sizes. */
static void draw(arras_dtype dtype, void *cell, int i)
{
    static const double special[] = { 0,    -0.0, 1,     -1,     2,      0.5,      -2.5,      100,
                                      -128, 255,  1e300, -1e300, 5e-324, INFINITY, -INFINITY, NAN };
    double              parts[2];
    int64_t             whole;

    for (int p = 0; p < 2; p++) {
        int at = (i * (p ? 7 : 1)) % 32;

        parts[p] = at < 16 ? special[at] : ldexp(rand() / (double)RAND_MAX - 0.5, rand() % 40 - 10);
    }
    if (ar_dtype_class(dtype) == AR_CLASS_REAL || ar_dtype_class(dtype) == AR_CLASS_COMPLEX) {
        ar_cell_cast(dtype, cell, ARRAS_C128, parts);
        return;
    }
    whole = i < 8    ? (int64_t[]){ 0, 1, -1, 2, INT64_MAX, INT64_MIN, 7, -8 }[i]
            : i < 20 ? rand() % 20 - 10
                     : (int64_t)((uint64_t)rand() << 40 ^ (uint64_t)rand());
    ar_cell_cast(dtype, cell, ARRAS_I64, &whole);
}

static bool same_cell(arras_dtype dtype, const void *got, const void *want)
{
    const double *a = got, *b = want;
    const float  *af = got, *bf = want;
    int           n = ar_dtype_class(dtype) == AR_CLASS_COMPLEX ? 2 : 1;

    if (memcmp(got, want, ar_dtype_size(dtype)) == 0)
        return true;
    if (ar_dtype_class(dtype) < AR_CLASS_REAL)
        return false;
    for (int i = 0; i < n; i++) { /* one nan is as good as another */
        bool single = ar_dtype_real(dtype) == ARRAS_F32;

        if (single ? memcmp(&af[i], &bf[i], 4) != 0 && !(isnan(af[i]) && isnan(bf[i]))
                   : memcmp(&a[i], &b[i], 8) != 0 && !(isnan(a[i]) && isnan(b[i])))
            return false;
    }
    return true;
}

#endif
