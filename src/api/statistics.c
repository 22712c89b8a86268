/* statistics.c -- mean, variance, standard deviation.
 * Compositions of public functions; of ir/ they use the checks, for messages. */
#include "api/variance.h"

/* NULL, or poison that names the function that was asked for. */
static arras_array check_axes(const char *what, arras_array x, int n, const int *axes)
{
    arras_array bad = ar_check_inputs(what, 1, &x);
    arras_error err;
    uint32_t    mask;

    if (!bad && ar_axes_mask(&mask, what, n, axes, x->rank, &err) != ARRAS_OK)
        bad = ar_poison_of(x->graph, &err);
    return bad;
}

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

static arras_array mean_of(arras_array x, int n, const int *axes, bool keepdims)
{
    arras_array total = arras_sum(as_inexact(x), n, axes, keepdims);

    if (arras_array_error(total))
        return total;
    return over_count(total, reduced_count(x, n, axes));
}

/* abs(x) * abs(x), without a root on the way. */
static arras_array squared(arras_array x)
{
    if (arras_array_dtype(x) < ARRAS_C64)
        return arras_multiply(x, x);
    return arras_real(arras_multiply(x, arras_conj(x)));
}

/* The sum of squared deviations from the mean. */
static arras_array squares_of(arras_array x, int n, const int *axes, bool keepdims)
{
    if (!ar_is_long_down(x, n, axes))
        return arras_sum(squared(arras_subtract(x, mean_of(x, n, axes, true))), n, axes, keepdims);
    x = ar_squares_down(x, axes[0]);
    return keepdims ? arras_expand_dims(x, n, axes) : x;
}

static arras_array var_of(arras_array x, int n, const int *axes, int64_t ddof, bool keepdims)
{
    arras_graph *g = arras_array_graph(x);
    arras_array  total = squares_of(as_inexact(x), n, axes, keepdims), count;

    if (arras_array_error(total))
        return total;
    count = arras_subtract(reduced_count(x, n, axes), arras_float(g, (double)ddof));
    return over_count(total, arras_maximum(count, arras_float(g, 0)));
}

arras_array arras_mean(arras_array x, int n, const int *axes, bool keepdims)
{
    arras_array bad = check_axes("mean", x, n, axes);

    return bad ? bad : mean_of(x, n, axes, keepdims);
}

arras_array arras_var(arras_array x, int n, const int *axes, int64_t ddof, bool keepdims)
{
    arras_array bad = check_axes("var", x, n, axes);

    return bad ? bad : var_of(x, n, axes, ddof, keepdims);
}

arras_array arras_std(arras_array x, int n, const int *axes, int64_t ddof, bool keepdims)
{
    arras_array bad = check_axes("std", x, n, axes);

    return bad ? bad : arras_sqrt(var_of(x, n, axes, ddof, keepdims));
}
