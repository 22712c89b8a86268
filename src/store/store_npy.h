/* store_npy.h -- NumPy's names of types, which Zarr v2 uses too. */
#ifndef AR_STORE_NPY_H
#define AR_STORE_NPY_H

#include "store/store.h"

/* "<f8": byte order, kind, bytes.  What is not a number we have is refused by its name. */
arras_status ar_npy_type(arras_dtype *dtype, bool *swapped, const char *descr, const char *name,
                         arras_error *err);
/* "f8", without the byte order. */
const char *ar_npy_code(arras_dtype dtype);

#endif
