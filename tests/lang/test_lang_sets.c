/* test_lang_sets.c -- reductions over several indices are over the set of their values: how many
 * there are, which is best and where, their mean; what an empty set is. */
#include "lang_kit.h"

#define SQUARE "x=[[1, 2, 3], [4, 5, 6], [7, 8, 9]]"

static void counts(void)
{
    GIVES("count[i:2, j:3] 1", "result: i64[] 6");
    GIVES("count[i:2, j:3, k:4] 1", "result: i64[] 24");
    GIVES("count[i, j] x[i,j]", "result: i64[] 4", "x=[[1, 0, 1], [0, 1, 1]]");
    GIVES("count_nonzero[i:3, j:i] x[i,j]", "result: i64[] 3", SQUARE);
    GIVES("y[r:4] = count[i:r, j:i, k:j] 1", "y: i64[4] 0 0 0 1");
    GIVES("sum[k:3, m:k, n:x[m]] 1", "result: i64[] 4", "x=[1, 2, 3]");
    GIVES("all[i:3, j:i] (x[i,j] > 3)", "result: bool[] true", SQUARE);
    GIVES("any[i:3, j:i] (x[i,j] == 9)", "result: bool[] false", SQUARE);
    GIVES("all[i:3, j:i, k:j:i] 0", "result: bool[] false");
    GIVES("prod[i:3, j:i] x[i,j]", "result: i64[] 224", SQUARE);
}

static void the_best(void)
{
    GIVES("max[i:3, j:i] x[i,j]", "result: i64[] 8", SQUARE);
    GIVES("min[i:3, j:i] x[i,j]", "result: i64[] 4", SQUARE);
    GIVES("max[i:3, j:i] -x[i,j]", "result: f64[] -4", "x=f64([[1, 2, 3], [4, 5, 6], [7, 8, 9]])");
    GIVES("y[r:2:4] = max[i:r, j:i] x[i,j]", "y: i64[2] 4 8", SQUARE);
    GIVES("max[i, p:s[i]:s[i+1]] v[p]", "result: i64[] 7", "s=[0, 0, 2, 2, 3]", "v=[5, 7, 6]");
    GIVES("min[i, p:s[i]:s[i+1]] v[p]", "result: i64[] 5", "s=[0, 0, 2, 2, 3]", "v=[5, 7, 6]");
    GIVES("y[i] = i > 0 ? max[j:i, k:j+1] x[j,k] + 0*x[i,0] : 0", "y: i64[3] 0 1 5", SQUARE);
}

/* An empty row has no cell that could be the best one, whatever the type. */
static void the_worst_number_of_a_type(void)
{
    GIVES("max[i:3, j:i] x[j]", "result: f64[] -inf", "x=[-inf, -inf]");
    GIVES("min[i:3, j:i] x[j]", "result: f64[] inf", "x=[inf, inf]");
    GIVES("max[i:3, j:i] x[j]", "result: f64[] nan", "x=[-inf, nan]");
    GIVES("max[i:3, j:i] x[j]", "result: f32[] -2", "x=f32([-2, -3])");
    GIVES("max[i:3, j:i] x[j]", "result: i64[] -9223372036854775808", "x=i64([-9.3e18, -9.3e18])");
    GIVES("min[i:3, j:i] x[j]", "result: u64[] 18446744073709551615", "x=u64([1.9e19, 1.9e19])");
    GIVES("min[i:3, j:i] x[j]", "result: u64[] 3", "x=u64([1.9e19, 3])");
    GIVES("max[i:3, j:i] x[j]", "result: i8[] -128", "x=i8([-128, -128])");
    GIVES("min[i:3, j:i] x[j]", "result: i8[] 127", "x=i8([127, 127])");
    GIVES("min[i:3, j:i] x[j]", "result: u16[] 65535", "x=u16([65535, 65535])");
    GIVES("max[i:3, j:i] x[j]", "result: bool[] false", "x=[false, false]");
    GIVES("min[i:3, j:i] x[j]", "result: bool[] true", "x=[true, true]");
    GIVES("max[i:3, j:i] x[j]", "result: c128[] -5+1j", "x=[-5-1j, -5+1j]");
    GIVES("min[i:3, j:i] x[j]", "result: c64[] -5-1j", "x=c64([-5-1j, -5+1j])");
    /* The place, too, is that of the first cell, not of the first row. */
    GIVES("argmax[i:3, j:i] x[j]", "result: i64[] 0", "x=[-inf, -inf]");
    GIVES("argmin[i:3, j:i] x[j]", "result: i64[] 0", "x=u8([255, 255])");
    GIVES("argmax[i:3, j:i] x[j]", "result: i64[] 0", "x=[false, false]");
    GIVES("argmax[i:3, j:i] x[j]", "result: i64[] 2", "x=[-inf, nan]");
}

/* Tuples are counted row by row; one index gives its own value. */
static void places(void)
{
    GIVES("argmax[i:1:3, j:1:3] x[i,j]", "result: i64[] 3", SQUARE);
    GIVES("argmax[i:3, j:i] x[i,j]", "result: i64[] 2", SQUARE);
    GIVES("argmin[i:3, j:i] x[i,j]", "result: i64[] 0", SQUARE);
    GIVES("argmax[i:3, j:i+1] -abs(x[i,j] - 7)", "result: i64[] 3", SQUARE);
    GIVES("argmax[i:3, j:i, k:j+1] x[i,j]*x[j,k]", "result: i64[] 3", SQUARE);
    GIVES("argmax[i, p:s[i]:s[i+1]] v[p]", "result: i64[] 1", "s=[0, 0, 2, 2, 3]", "v=[5, 7, 7]");
    GIVES("y[r:2:4] = argmax[i:r, j:i] x[i,j]", "y: i64[2] 0 2", SQUARE);
    GIVES("argmax[i:2:5] x[i]", "result: i64[] 4", "x=[9, 9, 1, 2, 3]");
}

static void means(void)
{
    GIVES("mean[i:3, j:i+1] x[i,j]", "result: f64[] 5.66667", SQUARE);
    GIVES("var[i:3, j:i] x[i,j]", "result: f64[] 2.88889", SQUARE);
    GIVES("std[i:3, j:i] x[i,j]", "result: f64[] 1.69967", SQUARE);
    GIVES("mean[k] x[k]; y = mean(x)", "result: f64[] 9.22337e+18; y: f64[] 9.22337e+18",
          "x=[9223372036854775807, 9223372036854775807]");
    GIVES("std[k] x[k]; y = std(x)", "result: f64[] 0; y: f64[] 0",
          "x=[9223372036854775807, 9223372036854775807]");
    GIVES("mean[k] x[k]; y = mean(x)", "result: f64[] 1.84467e+19; y: f64[] 1.84467e+19",
          "x=u64([1.9e19, 1.9e19])");
    GIVES("mean[k] x[k]; y = mean(x)", "result: f64[] 0.5; y: f64[] 0.5", "x=[true, false]");
    GIVES("var[k] x[k]; y = var(x)", "result: f64[] 0.25; y: f64[] 0.25", "x=[true, false]");
    GIVES("mean[k] x[k]; y = mean(x)", "result: f64[] 127; y: f64[] 127", "x=i8([127, 127])");
    GIVES("mean[k] x[k]; y = mean(x)", "result: f32[] 1.5; y: f32[] 1.5", "x=f32([1, 2])");
    GIVES("std[k] x[k]; y = std(x)", "result: f32[] 0.5; y: f32[] 0.5", "x=f32([1, 2])");
    GIVES("mean[k] x[k]; y = mean(x)", "result: c64[] 0.5+1j; y: c64[] 0.5+1j", "x=c64([1, 2j])");
    GIVES("var[k] x[k]; y = var(x)", "result: f64[] 1.25; y: f64[] 1.25", "x=[1, 2j]");
    GIVES("mean[k:3] 2", "result: f64[] 2");
    /* How many there are is counted in f32, where numbers above 2**24 would stop. */
    GIVES("y[i:2] = mean[j:1 + n[0]*i] f32(1)", "y: f32[2] 1 1", "n=[100]");
    /* Of nothing it is not a number. */
    GIVES("isnan(mean[i:2, j:i, k:j] 1)", "result: bool[] true");
    GIVES("y[i:3] = i > 0 ? mean[j:i] x[j] : -1", "y: f64[3] -1 1 1.5", "x=[1, 2, 3]");
    GIVES("y[i:3] = isnan(var[j:i] x[j])", "y: bool[3] true false false", "x=[1, 2, 3]");
}

static void empty_sets(void)
{
    FAILS("max[i:1, j:i] x[i,j]", "run: lambda: max over an empty range, 0 <= j < 0, in cell []",
          SQUARE);
    FAILS("min[i:n[0], j:i] x[i,j]", "run: lambda: min over an empty range, 0 <= i < 0, in cell []",
          SQUARE, "n=[0]");
    FAILS("min[i:n[0], j:i] x[i,j]", "run: lambda: min over an empty range, 0 <= j < 0, in cell []",
          SQUARE, "n=[1]");
    FAILS("argmax[i:2, j:i, k:j] x[i,j]", "run: lambda: argmax over an empty range", SQUARE);
    FAILS("argmin[i:0, j:3] x[i,j]", "run: lambda: argmin over an empty range, 0 <= i < 0", SQUARE);
    FAILS("argmin[i:3, j:0] x[i,j]", "run: lambda: argmin over an empty range, 0 <= j < 0", SQUARE);
    FAILS("y[r:1:4] = max[i:r, j:i] x[i,j]", "max over an empty range, 0 <= j < 0, in cell [0]",
          SQUARE);
    GIVES("y[r:1:4] = r > 1 ? max[i:r, j:i] x[i,j] : -1", "y: i64[3] -1 4 8", SQUARE);
    GIVES("y[r:0] = max[i:r, j:i] x[i,j]", "y: i64[0]", SQUARE);
    GIVES("sum[i:1, j:i] x[i,j]; p = prod[i:1, j:i] x[i,j]", "result: i64[] 0; p: i64[] 1", SQUARE);
}

TEST_MAIN
{
    RUN(counts);
    RUN(the_best);
    RUN(the_worst_number_of_a_type);
    RUN(places);
    RUN(means);
    RUN(empty_sets);
}
