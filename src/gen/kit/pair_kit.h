/* pair_kit.h -- complex numbers as pairs of reals, for dialects in which they are no numbers: the
 * functions of COMPLEX_KIT in ir/scalar_kit.h, with the same bits.  Text before
 * kernels. */

/* S suffix, T type of pairs, R of their parts, M the suffix of mathematical functions of R. */
#define PAIR_KIT(S, T, R, M)                                                                       \
    static inline T make_##S(R re, R im)                                                           \
    {                                                                                              \
        T both = { re, im };                                                                       \
        return both;                                                                               \
    }                                                                                              \
    static inline uint8_t same_##S(T x, T y) { return x.re == y.re && x.im == y.im; }              \
    static inline T plus_##S(T x, T y) { return make_##S(x.re + y.re, x.im + y.im); }              \
    static inline T minus_##S(T x, T y) { return make_##S(x.re - y.re, x.im - y.im); }             \
    static inline T opposite_##S(T x) { return make_##S(-x.re, -x.im); }                           \
    static inline T times_##S(T x, T y)                                                            \
    {                                                                                              \
        R p = x.re * y.re, q = x.re * y.im, r = x.im * y.im, s = x.im * y.re;                      \
        ROUND_NOW(p, q);                                                                           \
        ROUND_NOW(r, s);                                                                           \
        return make_##S(p - r, q + s);                                                             \
    }                                                                                              \
    static inline T over_##S(T x, T y)                                                             \
    {                                                                                              \
        R a = x.re, b = x.im, c = y.re, d = y.im, ratio, scale, p, q;                              \
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
    static inline T conjugate_##S(T x) { return make_##S(x.re, -x.im); }                           \
    static inline T round_##S(T x) { return make_##S(rint##M(x.re), rint##M(x.im)); }              \
    static inline uint8_t isinf_##S(T x) { return isinf(x.re) || isinf(x.im); }                    \
    static inline uint8_t isfinite_##S(T x) { return isfinite(x.re) && isfinite(x.im); }           \
    static inline uint8_t less_##S(T x, T y)                                                       \
    {                                                                                              \
        return (x.re < y.re && x.im == x.im && y.im == y.im) || (x.re == y.re && x.im < y.im);     \
    }                                                                                              \
    static inline uint8_t less_equal_##S(T x, T y) { return less_##S(x, y) || same_##S(x, y); }    \
    static inline T minimum_##S(T x, T y)                                                          \
    {                                                                                              \
        return !same_##S(x, x) || less_equal_##S(x, y) ? x : y;                                    \
    }                                                                                              \
    static inline T maximum_##S(T x, T y)                                                          \
    {                                                                                              \
        return !same_##S(x, x) || less_equal_##S(y, x) ? x : y;                                    \
    }                                                                                              \
    static inline T fmin_##S(T x, T y)                                                             \
    {                                                                                              \
        return !same_##S(y, y) || less_equal_##S(x, y) ? x : y;                                    \
    }                                                                                              \
    static inline T fmax_##S(T x, T y)                                                             \
    {                                                                                              \
        return !same_##S(y, y) || less_equal_##S(y, x) ? x : y;                                    \
    }                                                                                              \
    static inline T sign_##S(T x)                                                                  \
    {                                                                                              \
        R re = x.re, im = x.im, size;                                                              \
        if (isinf(re) || isinf(im)) {                                                              \
            if (isinf(re) && isinf(im))                                                            \
                return make_##S((R)NAN, (R)NAN);                                                   \
            return isinf(re) ? make_##S(copysign##M(1, re), 0) : make_##S(0, copysign##M(1, im));  \
        }                                                                                          \
        if (fabs##M(re) > 1 || fabs##M(im) > 1)                                                    \
            re /= 4, im /= 4;                                                                      \
        size = hypot##M(re, im);                                                                   \
        return x.re == 0 && x.im == 0 ? make_##S(0, 0) : make_##S(re / size, im / size);           \
    }                                                                                              \
    static inline T log1p_##S(T x)                                                                 \
    {                                                                                              \
        R re = x.re + 1;                                                                           \
        return make_##S(log##M(hypot##M(re, x.im)), atan2##M(x.im, re));                           \
    }                                                                                              \
    static inline T expm1_##S(T x)                                                                 \
    {                                                                                              \
        R re = x.re, im = x.im, h = sin##M(im / 2);                                                \
        return make_##S(expm1##M(re) * cos##M(im) - 2 * h * h, exp##M(re) * sin##M(im));           \
    }

/* What needs clog, cexp and cpow of pairs. */
#define PAIR_MATH_KIT(S, T, R, M)                                                                  \
    static inline T scale_##S(T x, R by) { return make_##S(x.re * by, x.im * by); }                \
    static inline T log2_##S(T x) { return scale_##S(clog_##S(x), (R)1.4426950408889634074); }     \
    static inline T log10_##S(T x) { return scale_##S(clog_##S(x), (R)0.43429448190325182765); }   \
    static inline T exp2_##S(T x) { return cexp_##S(scale_##S(x, (R)0.69314718055994530942)); }    \
    static inline T power_##S(T x, T y)                                                            \
    {                                                                                              \
        R   re = y.re;                                                                             \
        T   result = x;                                                                            \
        int n;                                                                                     \
        int started = 0;                                                                           \
        if (y.re == 0 && y.im == 0)                                                                \
            return make_##S(1, 0);                                                                 \
        if (x.re == 0 && x.im == 0)                                                                \
            return re > 0 ? make_##S(0, 0) : make_##S((R)NAN, (R)NAN);                             \
        if (y.im != 0 || fabs##M(re) >= 100 || re != rint##M(re))                                  \
            return cpow_##S(x, y);                                                                 \
        for (n = (int)fabs##M(re); n > 0; n /= 2, x = times_##S(x, x)) {                           \
            if (n % 2)                                                                             \
                result = started ? times_##S(result, x) : x;                                       \
            started = started || n % 2;                                                            \
        }                                                                                          \
        return re < 0 ? over_##S(make_##S(1, 0), result) : result;                                 \
    }
