/* scalar_kit.h -- the helpers that ops.def calls as FN(name): a macro for each class of types that
 * makes them for one type.  Where C leaves a result undefined (overflow, division by zero, long
 * shifts) it is defined here.
 * scalar.c includes this, and generated kernels begin with its text: it must need no header but
 * those that declare the C library's mathematics. */

/* ---- Integers: S suffix, T type, U unsigned type of at least 32 bits, BITS, SIGNED 0 or 1 ---- */

#define INTEGER_KIT(S, T, U, BITS, SIGNED)                                                         \
    static inline T magnitude_##S(T x) { return x < 0 ? (T)(0 - (U)x) : x; }                       \
    static inline T remainder_##S(T x, T y)                                                        \
    {                                                                                              \
        return y == 0 || ((SIGNED) && y == (T)-1) ? 0 : (T)(x % y);                                \
    }                                                                                              \
    static inline T floor_remainder_##S(T x, T y)                                                  \
    {                                                                                              \
        T r = remainder_##S(x, y);                                                                 \
        return r != 0 && (r < 0) != (y < 0) ? (T)(r + y) : r;                                      \
    }                                                                                              \
    static inline T floor_divide_##S(T x, T y)                                                     \
    {                                                                                              \
        if (y == 0)                                                                                \
            return 0;                                                                              \
        if ((SIGNED) && y == (T)-1)                                                                \
            return (T)(0 - (U)x); /* the smallest number divided by -1 wraps */                    \
        return (T)(x / y - (x % y != 0 && (x < 0) != (y < 0)));                                    \
    }                                                                                              \
    static inline T power_##S(T x, T y)                                                            \
    {                                                                                              \
        U base = (U)x, result = 1;                                                                 \
        if (y < 0)                                                                                 \
            return x == 1 ? 1 : (SIGNED) && x == (T)-1 ? (y % 2 ? (T)-1 : 1) : 0;                  \
        for (; y > 0; y = (T)(y / 2), base *= base)                                                \
            if (y % 2)                                                                             \
                result *= base;                                                                    \
        return (T)result;                                                                          \
    }                                                                                              \
    static inline T left_shift_##S(T x, T y)                                                       \
    {                                                                                              \
        return y >= 0 && (uint64_t)y < (BITS) ? (T)((U)x << y) : 0;                                \
    }                                                                                              \
    static inline T right_shift_##S(T x, T y)                                                      \
    {                                                                                              \
        return y >= 0 && (uint64_t)y < (BITS) ? (T)(x >> y) : x < 0 ? (T)-1 : 0;                   \
    }

/* ---- Reals: M the C library's suffix ("f" or nothing) ---------------------------------------- */

/* Some powers are products, quotients and roots; zeros, infinities and nan as C's pow has them: a
 * root of -0 is 0, and of -inf inf. */
#define POWER_KIT(S, T, M)                                                                         \
    static inline T root_##S(T x) { return x == -(T)__builtin_inf() ? -x : sqrt##M(x + 0); }       \
    static inline int is_simple_power_##S(T y)                                                     \
    {                                                                                              \
        return y == 2 || y == 3 || y == 4 || y == (T)0.5 || y == (T)1.5 || y == (T)-0.5 ||         \
               y == -1 || y == -2 || y == 0 || y == 1;                                             \
    }                                                                                              \
    static inline T simple_power_##S(T x, T y)                                                     \
    {                                                                                              \
        T square = x * x, inverse = 1 / x;                                                         \
        return y == 2          ? square                                                            \
               : y == 3        ? square * x                                                        \
               : y == 4        ? square * square                                                   \
               : y == (T)0.5   ? root_##S(x)                                                       \
               : y == (T)1.5   ? fabs##M(x) * root_##S(x)                                          \
               : y == (T)-0.5  ? 1 / root_##S(x)                                                   \
               : y == -1       ? inverse                                                           \
               : y == -2       ? inverse * inverse                                                 \
               : y == 0        ? 1                                                                 \
                               : x;                                                                \
    }

/* Of equal numbers (0 and -0) minimum and maximum give the first.  They are written so that they
 * become single instructions and a choice.
 * Floor division rounds a quotient that fmod has made exact, as Python does: 1.0 // 0.1 is 9. */
#define REAL_KIT(S, T, M)                                                                          \
    POWER_KIT(S, T, M)                                                                             \
    static inline T floor_remainder_##S(T x, T y)                                                  \
    {                                                                                              \
        T r = fmod##M(x, y);                                                                       \
        if (r == 0)                                                                                \
            return copysign##M(0, y);                                                              \
        return (r < 0) != (y < 0) && y == y ? r + y : r;                                           \
    }                                                                                              \
    static inline T floor_divide_##S(T x, T y)                                                     \
    {                                                                                              \
        T r = fmod##M(x, y), quotient, whole;                                                      \
        if (y == 0)                                                                                \
            return x / y;                                                                          \
        quotient = (x - r) / y;                                                                    \
        if (r != 0 && (r < 0) != (y < 0))                                                          \
            quotient -= 1;                                                                         \
        if (quotient == 0)                                                                         \
            return copysign##M(0, x / y);                                                          \
        whole = floor##M(quotient);                                                                \
        return quotient - whole > (T)0.5 ? whole + 1 : whole;                                      \
    }                                                                                              \
    static inline T sign_##S(T x) { return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x; }              \
    static inline T minimum_##S(T x, T y)                                                          \
    {                                                                                              \
        T m = y < x ? y : x;                                                                       \
        return y != y ? y : m;                                                                     \
    }                                                                                              \
    static inline T maximum_##S(T x, T y)                                                          \
    {                                                                                              \
        T m = y > x ? y : x;                                                                       \
        return y != y ? y : m;                                                                     \
    }                                                                                              \
    static inline T fmin_##S(T x, T y)                                                             \
    {                                                                                              \
        T m = y < x ? y : x;                                                                       \
        return x != x ? y : m;                                                                     \
    }                                                                                              \
    static inline T fmax_##S(T x, T y)                                                             \
    {                                                                                              \
        T m = y > x ? y : x;                                                                       \
        return x != x ? y : m;                                                                     \
    }                                                                                              \
    static inline T lgamma_##S(T x)                                                                \
    {                                                                                              \
        int sign; /* lgamma itself writes a global */                                              \
        return lgamma##M##_r(x, &sign);                                                            \
    }

/* ---- Complex numbers: T complex type, R its parts' type -------------------------------------- */

/* C's own * and / recover infinities from nan (Annex G); NumPy's, and these, are the plain
 * formulas: four products, and Smith's division, which scales by the larger part of the divisor.
 * Order is by real part, then by imaginary part; a nan anywhere makes it false.
 * GCC 12 makes fused instructions of a * c - b * d beside a * d + b * c, though told not to:
 * ROUND_NOW keeps products apart. */
#if defined(__x86_64__) && defined(__FMA__)
#define ROUND_NOW(x, y) __asm__("" : "+x"(x), "+x"(y))
#else
#define ROUND_NOW(x, y) (void)0
#endif
#define COMPLEX_KIT(S, T, R, M)                                                                    \
    static inline T make_##S(R re, R im)                                                           \
    {                                                                                              \
        union {                                                                                    \
            R parts[2];                                                                            \
            T whole;                                                                               \
        } both = { { re, im } };                                                                   \
        return both.whole;                                                                         \
    }                                                                                              \
    static inline T times_##S(T x, T y)                                                            \
    {                                                                                              \
        R a = creal##M(x), b = cimag##M(x), c = creal##M(y), d = cimag##M(y);                      \
        R p = a * c, q = a * d, r = b * d, s = b * c;                                              \
        ROUND_NOW(p, q);                                                                           \
        ROUND_NOW(r, s);                                                                           \
        return make_##S(p - r, q + s);                                                             \
    }                                                                                              \
    static inline T over_##S(T x, T y)                                                             \
    {                                                                                              \
        R a = creal##M(x), b = cimag##M(x), c = creal##M(y), d = cimag##M(y);                      \
        R ratio, scale, p, q;                                                                      \
        if (fabs##M(c) >= fabs##M(d)) {                                                            \
            if (c == 0 && d == 0)                                                                  \
                return make_##S(a / fabs##M(c), b / fabs##M(c));                                   \
            ratio = d / c, scale = 1 / (c + d * ratio);                                            \
            p = b * ratio, q = a * ratio;                                                          \
            ROUND_NOW(p, q);                                                                       \
            return make_##S((a + p) * scale, (b - q) * scale);                                     \
        }                                                                                          \
        ratio = c / d, scale = 1 / (c * ratio + d);                                                \
        p = a * ratio, q = b * ratio;                                                              \
        ROUND_NOW(p, q);                                                                           \
        return make_##S((p + b) * scale, (q - a) * scale);                                         \
    }                                                                                              \
    static inline T conjugate_##S(T x) { return make_##S(creal##M(x), -cimag##M(x)); }             \
    static inline T round_##S(T x) { return make_##S(rint##M(creal##M(x)), rint##M(cimag##M(x))); }\
    static inline uint8_t isinf_##S(T x) { return isinf(creal##M(x)) || isinf(cimag##M(x)); }      \
    static inline uint8_t isfinite_##S(T x)                                                        \
    {                                                                                              \
        return isfinite(creal##M(x)) && isfinite(cimag##M(x));                                     \
    }                                                                                              \
    static inline uint8_t less_##S(T x, T y)                                                       \
    {                                                                                              \
        R a = creal##M(x), b = cimag##M(x), c = creal##M(y), d = cimag##M(y);                      \
        return (a < c && b == b && d == d) || (a == c && b < d);                                   \
    }                                                                                              \
    static inline uint8_t less_equal_##S(T x, T y) { return less_##S(x, y) || x == y; }            \
    static inline T minimum_##S(T x, T y) { return x != x || less_equal_##S(x, y) ? x : y; }       \
    static inline T maximum_##S(T x, T y) { return x != x || less_equal_##S(y, x) ? x : y; }       \
    static inline T fmin_##S(T x, T y) { return y != y || less_equal_##S(x, y) ? x : y; }          \
    static inline T fmax_##S(T x, T y) { return y != y || less_equal_##S(y, x) ? x : y; }          \
    /* x / abs(x), where abs(x) may be infinite though x is not. */                                \
    static inline T sign_##S(T x)                                                                  \
    {                                                                                              \
        R re = creal##M(x), im = cimag##M(x), size;                                                \
        if (isinf(re) || isinf(im)) {                                                              \
            if (isinf(re) && isinf(im))                                                            \
                return make_##S((R)NAN, (R)NAN);                                                   \
            return isinf(re) ? make_##S(copysign##M(1, re), 0) : make_##S(0, copysign##M(1, im));  \
        }                                                                                          \
        if (fabs##M(re) > 1 || fabs##M(im) > 1)                                                    \
            re /= 4, im /= 4;                                                                      \
        size = hypot##M(re, im);                                                                   \
        return x == 0 ? make_##S(0, 0) : make_##S(re / size, im / size);                           \
    }                                                                                              \
    static inline T scale_##S(T x, R by) { return make_##S(creal##M(x) * by, cimag##M(x) * by); }  \
    static inline T log2_##S(T x) { return scale_##S(clog##M(x), (R)1.4426950408889634074); }      \
    static inline T log10_##S(T x) { return scale_##S(clog##M(x), (R)0.43429448190325182765); }    \
    static inline T exp2_##S(T x) { return cexp##M(scale_##S(x, (R)0.69314718055994530942)); }     \
    static inline T log1p_##S(T x)                                                                 \
    {                                                                                              \
        R re = creal##M(x) + 1, im = cimag##M(x);                                                  \
        return make_##S(log##M(hypot##M(re, im)), atan2##M(im, re));                               \
    }                                                                                              \
    static inline T expm1_##S(T x)                                                                 \
    {                                                                                              \
        R re = creal##M(x), im = cimag##M(x), half = sin##M(im / 2);                               \
        return make_##S(expm1##M(re) * cos##M(im) - 2 * half * half, exp##M(re) * sin##M(im));     \
    }                                                                                              \
    /* Small whole powers by multiplication: exact where cpow is not, and x to the 1 is x. */      \
    static inline T power_##S(T x, T y)                                                            \
    {                                                                                              \
        R   re = creal##M(y);                                                                      \
        T   result = x;                                                                            \
        int n;                                                                                     \
        int started = 0;                                                                           \
        if (y == 0)                                                                                \
            return make_##S(1, 0);                                                                 \
        if (x == 0)                                                                                \
            return re > 0 ? make_##S(0, 0) : make_##S((R)NAN, (R)NAN);                             \
        if (cimag##M(y) != 0 || fabs##M(re) >= 100 || re != rint##M(re))                           \
            return cpow##M(x, y);                                                                  \
        for (n = (int)fabs##M(re); n > 0; n /= 2, x = times_##S(x, x)) {                           \
            if (n % 2)                                                                             \
                result = started ? times_##S(result, x) : x;                                       \
            started = started || n % 2;                                                            \
        }                                                                                          \
        return re < 0 ? over_##S(make_##S(1, 0), result) : result;                                 \
    }
