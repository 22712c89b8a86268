/* opencl_kit.h -- OpenCL C with the names that kernels use, as text before them: types, functions
 * of the C library with an f or a d at their end, without which a call with an integer would mean
 * any of several functions. */

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF
#undef __FMA__ /* ir/scalar_kit.h need not keep compilers from using it */

typedef char   int8_t;
typedef short  int16_t;
typedef int    int32_t;
typedef long   int64_t;
typedef uchar  uint8_t;
typedef ushort uint16_t;
typedef uint   uint32_t;
typedef ulong  uint64_t;
typedef struct {
    float re, im;
} c64;
#ifdef cl_khr_fp64
typedef struct {
    double re, im;
} c128;
#endif

#define MOST 0x7fffffffffffffffl
#define SET_FAULT(flag) atomic_or((volatile __global int *)(flag), 1)
#define __builtin_inf() INFINITY
#define __builtin_ctzll(x) (int)popcount(((x) & -(x)) - 1)

#define sqrtf(x) sqrt((float)(x))
#define cbrtf(x) cbrt((float)(x))
#define expf(x) exp((float)(x))
#define exp2f(x) exp2((float)(x))
#define expm1f(x) expm1((float)(x))
#define logf(x) log((float)(x))
#define log2f(x) log2((float)(x))
#define log10f(x) log10((float)(x))
#define log1pf(x) log1p((float)(x))
#define sinf(x) sin((float)(x))
#define cosf(x) cos((float)(x))
#define tanf(x) tan((float)(x))
#define asinf(x) asin((float)(x))
#define acosf(x) acos((float)(x))
#define atanf(x) atan((float)(x))
#define sinhf(x) sinh((float)(x))
#define coshf(x) cosh((float)(x))
#define tanhf(x) tanh((float)(x))
#define asinhf(x) asinh((float)(x))
#define acoshf(x) acosh((float)(x))
#define atanhf(x) atanh((float)(x))
#define erff(x) erf((float)(x))
#define erfcf(x) erfc((float)(x))
#define tgammaf(x) tgamma((float)(x))
#define floorf(x) floor((float)(x))
#define ceilf(x) ceil((float)(x))
#define truncf(x) trunc((float)(x))
#define rintf(x) rint((float)(x))
#define fabsf(x) fabs((float)(x))
#define fmodf(x, y) fmod((float)(x), (float)(y))
#define powf(x, y) pow((float)(x), (float)(y))
#define atan2f(x, y) atan2((float)(x), (float)(y))
#define hypotf(x, y) hypot((float)(x), (float)(y))
#define copysignf(x, y) copysign((float)(x), (float)(y))
#define fmaf(x, y, z) fma((float)(x), (float)(y), (float)(z))
#define lgammaf_r(x, sign) lgamma_r((float)(x), sign)
#define sqrtd(x) sqrt((double)(x))
#define cbrtd(x) cbrt((double)(x))
#define expd(x) exp((double)(x))
#define exp2d(x) exp2((double)(x))
#define expm1d(x) expm1((double)(x))
#define logd(x) log((double)(x))
#define log2d(x) log2((double)(x))
#define log10d(x) log10((double)(x))
#define log1pd(x) log1p((double)(x))
#define sind(x) sin((double)(x))
#define cosd(x) cos((double)(x))
#define tand(x) tan((double)(x))
#define asind(x) asin((double)(x))
#define acosd(x) acos((double)(x))
#define atand(x) atan((double)(x))
#define sinhd(x) sinh((double)(x))
#define coshd(x) cosh((double)(x))
#define tanhd(x) tanh((double)(x))
#define asinhd(x) asinh((double)(x))
#define acoshd(x) acosh((double)(x))
#define atanhd(x) atanh((double)(x))
#define erfd(x) erf((double)(x))
#define erfcd(x) erfc((double)(x))
#define tgammad(x) tgamma((double)(x))
#define floord(x) floor((double)(x))
#define ceild(x) ceil((double)(x))
#define truncd(x) trunc((double)(x))
#define rintd(x) rint((double)(x))
#define fabsd(x) fabs((double)(x))
#define fmodd(x, y) fmod((double)(x), (double)(y))
#define powd(x, y) pow((double)(x), (double)(y))
#define atan2d(x, y) atan2((double)(x), (double)(y))
#define hypotd(x, y) hypot((double)(x), (double)(y))
#define copysignd(x, y) copysign((double)(x), (double)(y))
#define fmad(x, y, z) fma((double)(x), (double)(y), (double)(z))
#define lgammad_r(x, sign) lgamma_r((double)(x), sign)
