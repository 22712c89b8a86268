/* store_npy.h -- NumPy's names of types, which Zarr v2 uses too. */
#ifndef AR_STORE_NPY_H
#define AR_STORE_NPY_H

#include "store/store.h"

/* "<f8": byte order, kind, bytes; half: 16 bits for each number of dtype.  What is not a number we
 * have is refused by its name. */
arras_status ar_npy_type(arras_dtype *dtype, bool *half, bool *swapped, const char *descr,
                         const char *name, arras_error *err);
/* "f8", without the byte order; "V0" where there is none. */
const char *ar_npy_code(arras_dtype dtype, bool half);
/* As arras_npy_header_print. */
size_t ar_npy_header_print(char out[ARRAS_NPY_ROOM], arras_dtype dtype, bool half, int rank,
                           const int64_t *shape);

#endif
