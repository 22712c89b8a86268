/* statistics.c -- mean, variance, standard deviation.
 * A library on top of the public header, and nothing else. */
#include <arras/arras.h>

/* As in NumPy: means of integers and bools are f64. */
static arras_array as_inexact(arras_array x)
{
    return arras_array_dtype(x) < ARRAS_F32 ? arras_cast(x, ARRAS_F64) : x;
}

/* The number of cells that are reduced, as an f64: a product, since sizes may be symbolic. */
static arras_array reduced_count(arras_array x, int n, const int *axes)
{
    arras_graph *g = arras_array_graph(x);
    arras_array  count = NULL;

    for (int i = 0; i < (axes ? n : arras_array_rank(x)); i++) {
        arras_dim   dim = arras_array_dim(x, axes ? axes[i] : i);
        arras_array length = arras_cast(arras_size_value(g, dim), ARRAS_F64);

        count = count ? arras_multiply(count, length) : length;
    }
    return count ? count : arras_float(g, 1);
}

/* total / count in the type of the total: a count is a number, it must not widen f32 to f64. */
static arras_array over_count(arras_array total, arras_array count)
{
    arras_dtype dtype = arras_array_dtype(total);
    arras_dtype real = dtype == ARRAS_C64 ? ARRAS_F32 : dtype == ARRAS_C128 ? ARRAS_F64 : dtype;

    return arras_divide(total, arras_cast(count, real));
}

arras_array arras_mean(arras_array x, int n, const int *axes, bool keepdims)
{
    arras_array total = arras_sum(as_inexact(x), n, axes, keepdims);

    if (arras_array_error(total))
        return total;
    return over_count(total, reduced_count(x, n, axes));
}

arras_array arras_var(arras_array x, int n, const int *axes, int64_t ddof, bool keepdims)
{
    arras_graph *g = arras_array_graph(x);
    arras_array  values = as_inexact(x),
                away = arras_subtract(values, arras_mean(values, n, axes, true));
    arras_array squares = arras_real(arras_multiply(away, arras_conj(away))), total, count;

    total = arras_sum(squares, n, axes, keepdims);
    if (arras_array_error(total))
        return total;
    count = arras_subtract(reduced_count(x, n, axes), arras_float(g, (double)ddof));
    return over_count(total, arras_maximum(count, arras_float(g, 0)));
}

arras_array arras_std(arras_array x, int n, const int *axes, int64_t ddof, bool keepdims)
{
    return arras_sqrt(arras_var(x, n, axes, ddof, keepdims));
}
