/* vector_kit.h -- vectors of 32 bytes and how they are combined, as text before kernels (c_ops.c)
 * and for the library's own folds (folds.inc). */

typedef float   f32x8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef double  f64x4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int32_t i32x8 __attribute__((vector_size(32)));
typedef int64_t i64x4 __attribute__((vector_size(32)));

#define CHOOSE(V, I, m, a, b) ((V)(((I)(a) & (m)) | ((I)(b) & ~(m))))
#define V_add(V, I, a, b) ((a) + (b))
#define V_multiply(V, I, a, b) ((a) * (b))
#define V_minimum(V, I, a, b) CHOOSE(V, I, ((a) <= (b)) | ((a) != (a)), a, b)
#define V_maximum(V, I, a, b) CHOOSE(V, I, ((a) >= (b)) | ((a) != (a)), a, b)

