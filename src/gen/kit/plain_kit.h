/* plain_kit.h -- what items in plain C need beside the definitions of kernels, as text before
 * them. */

typedef struct {
    float re, im;
} c64;
typedef struct {
    double re, im;
} c128;

#define MOST 0x7fffffffffffffffll
#define SET_FAULT(flag) __atomic_store_n(flag, 1, __ATOMIC_RELAXED)

/* Functions of the C library, which knows complex numbers. */
#define OF_LIBRARY(f, S, T, R, M)                                                                  \
    static inline T f##_##S(T x)                                                                   \
    {                                                                                              \
        union {                                                                                    \
            T          pair;                                                                       \
            R _Complex whole;                                                                      \
        } u = { x };                                                                               \
        u.whole = f##M(u.whole);                                                                   \
        return u.pair;                                                                             \
    }
#define PLAIN_PAIR_KIT(S, T, R, M)                                                                 \
    PAIR_KIT(S, T, R, M)                                                                           \
    OF_LIBRARY(csqrt, S, T, R, M)                                                                  \
    OF_LIBRARY(cexp, S, T, R, M)                                                                   \
    OF_LIBRARY(clog, S, T, R, M)                                                                   \
    OF_LIBRARY(csin, S, T, R, M)                                                                   \
    OF_LIBRARY(ccos, S, T, R, M)                                                                   \
    OF_LIBRARY(ctan, S, T, R, M)                                                                   \
    OF_LIBRARY(casin, S, T, R, M)                                                                  \
    OF_LIBRARY(cacos, S, T, R, M)                                                                  \
    OF_LIBRARY(catan, S, T, R, M)                                                                  \
    OF_LIBRARY(csinh, S, T, R, M)                                                                  \
    OF_LIBRARY(ccosh, S, T, R, M)                                                                  \
    OF_LIBRARY(ctanh, S, T, R, M)                                                                  \
    OF_LIBRARY(casinh, S, T, R, M)                                                                 \
    OF_LIBRARY(cacosh, S, T, R, M)                                                                 \
    OF_LIBRARY(catanh, S, T, R, M)                                                                 \
    static inline T cpow_##S(T x, T y)                                                             \
    {                                                                                              \
        union {                                                                                    \
            T          pair;                                                                       \
            R _Complex whole;                                                                      \
        } u = { x }, v = { y };                                                                    \
        u.whole = cpow##M(u.whole, v.whole);                                                       \
        return u.pair;                                                                             \
    }                                                                                              \
    PAIR_MATH_KIT(S, T, R, M)
