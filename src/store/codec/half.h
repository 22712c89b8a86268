/* half.h -- reals of 16 bits (IEEE binary16), which files hold and nobody computes with: in memory
 * they are f32.  Sees base/ only. */
#ifndef AR_HALF_H
#define AR_HALF_H

#include "base/base.h"

#include <arras/files.h>

/* n of them, which every f32 holds exactly.  The result may end where what is given ends. */
void ar_half_widen(void *to, const void *from, size_t n, bool swapped);
/* The nearest ones, ties to even; beyond 65519 they are infinite, as in NumPy. */
void ar_half_narrow(void *to, const void *from, size_t n);
/* What is left of so many numbers of 32 bits when they were stored so. */
void ar_half_round(void *numbers, size_t n);
/* Cells that are written so: f32.  Complex ones are read, but hardly anybody else does. */
arras_status ar_half_check(arras_dtype dtype, const char *name, arras_error *err);

#endif
