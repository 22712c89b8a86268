/* lang_advice.c -- what to write instead of what other languages have and this one does not. */
#include "lang/lang_functions.h"

#include <stdio.h>
#include <string.h>

/* ---- Functions that there are not ------------------------------------------------------------ */

/* The same under another name, or one that does it. */
static const char *other_name(const char *name)
{
    static const char *const pairs[][2] = {
        { "transpose", "permute" },
        { "power", "pow" },
        { "mod", "remainder" },
        { "arctan2", "atan2" },
        { "arcsin", "asin" },
        { "arccos", "acos" },
        { "arctan", "atan" },
        { "len", "size" },
        { "concat", "concatenate" },
        { "invert", "bitwise_invert" },
        { "angle", "atan2" },
        { "conjugate", "conj" },
        { "fabs", "abs" },
        { "absolute", "abs" },
        { "rint", "round" },
        { "astype", "cast" },
        { "product", "prod" },
        { "average", "mean" },
        { "ndim", "rank" },
        { "gamma", "tgamma" },
        { "iota", "arange" },
        { "range", "arange" },
        { "select", "where" },
        { "if", "where" },
        { "ceiling", "ceil" },
        { "ln", "log" },
        { "negate", "negative" },
        { "swapaxes", "permute" },
        { "shift", "roll" },
        { "cumsum", "cumulative_sum" },
        { "convolve", "stencil" },
        { "float", "f64" },
        { "float64", "f64" },
        { "float32", "f32" },
        { "int", "i64" },
        { "int64", "i64" },
        { "int32", "i32" },
        { "complex", "c128" },
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(pairs[i][0], name) == 0)
            return pairs[i][1];
    return NULL;
}

/* What an equation says, or nobody here. */
static const char *other_way(const char *name)
{
#define NOT_SORTED "cells are not sorted here: do it before, as with NumPy, and give the result"
#define NOT_RANDOM "there are no random numbers: make them before, and give them as an input"
    static const char *const pairs[][2] = {
        { "cumprod", "write y[i:size(x)] = prod[k:0:i+1] x[k]" },
        { "gradient", "write edge x = nearest; g[i] = (x[i+1] - x[i-1])/2" },
        { "diff", "write edge x = none; d[i] = x[i+1] - x[i]" },
        { "median", NOT_SORTED },
        { "sort", NOT_SORTED },
        { "argsort", NOT_SORTED },
        { "unique", NOT_SORTED },
        { "percentile", NOT_SORTED },
        { "quantile", NOT_SORTED },
        { "rand", NOT_RANDOM },
        { "randn", NOT_RANDOM },
        { "random", NOT_RANDOM },
        { "random.rand", NOT_RANDOM },
        { "random.randn", NOT_RANDOM },
        { "random.random", NOT_RANDOM },
        { "print", "write the expression alone" },
    };
#undef NOT_SORTED
#undef NOT_RANDOM

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(pairs[i][0], name) == 0)
            return pairs[i][1];
    return NULL;
}

/* np.sin: what stands behind the name of a library of Python. */
static const char *without_library(const char *name)
{
    static const char *const libraries[] = { "np.", "numpy.", "math.", "torch.", "jnp." };

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
            return name + strlen(libraries[i]);
    return name;
}

const char *lang_function_advice(const char *name, char *room, size_t size)
{
    const char *bare = without_library(name);
    const char *other = other_name(bare), *way = other_way(bare);

    if (!other && bare != name && lang_is_function(bare))
        other = bare;
    if (!other && !way)
        return NULL;
    if (way)
        snprintf(room, size, "; %s", way);
    else
        snprintf(room, size, "; did you mean `%s`?", other);
    return room;
}

/* ---- Names that there are not ---------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n > m && strcmp(text + n - m, end) == 0;
}

static bool is_number(const char *name)
{
    return strcmp(name, "pi") == 0 || strcmp(name, "e") == 0 || strcmp(name, "inf") == 0 ||
           strcmp(name, "nan") == 0;
}

const char *lang_name_advice(const char *name, char *room, size_t size)
{
    const char          *bare = without_library(name);
    const lang_function *f = lang_find_function(bare);

    if (bare != name && is_number(bare))
        snprintf(room, size, "; did you mean `%s`?", bare);
    else if (f)
        snprintf(room, size, "; `%s` is a function: %s", bare, f->info.usage);
    else if (ends_with(name, ".T"))
        snprintf(room, size, "; did you mean permute(%.*s)?", (int)strlen(name) - 2, name);
    else if (ends_with(name, ".shape") || ends_with(name, ".size"))
        snprintf(room, size, "; did you mean %s(%.*s)?", strrchr(name, '.') + 1,
                 (int)(strrchr(name, '.') - name), name);
    else
        return NULL;
    return room;
}
