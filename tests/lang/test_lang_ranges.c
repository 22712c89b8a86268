/* test_lang_ranges.c -- how far indices go, and what happens at the edges of arrays. */
#include "lang_kit.h"

static void given(void)
{
    GIVES("x[i:4] = i*2", "x: i64[4] 0 2 4 6");
    GIVES("x[i:1:4] = i*2", "x: i64[3] 2 4 6");
    GIVES("x[i:-1:2] = i", "x: i64[3] -1 0 1");
    GIVES("x[i:0] = i", "x: i64[0]");
    GIVES("x[i:2, j:3] = 10*i + j", "x: i64[2, 3] 0 1 2 10 11 12");
    GIVES("param n = 2; x[i:n, j:n+1] = i + j", "x: i64[3, 4] 0 1 2 3 1 2 3 4 2 3 4 5", "-n=3");
    GIVES("x[i:size(v)] = i", "x: i64[3] 0 1 2", "v=[5, 5, 5]");
    GIVES("y[i:2] = x[i]", "y: i64[2] 1 2", "x=[1, 2, 3]");
    FAILS("x[i:2:1] = i", "ends at 1, before it begins (2)");
    FAILS("x[i:2.5] = i", "the range of an index must be an integer, not f64");
    FAILS("x[i:[2]] = i", "the range of an index must be an integer, not i64 of rank 1");
    FAILS("x[i:n] = i", "must be known before the program runs", "n=3");
    FAILS("x[i:j, j:2] = i", "unknown name `j`");
    FAILS("x[i:2, j:i] = i", "the range of an index on the left can't depend on the index `i`");
}

static void inferred(void)
{
    GIVES("y[i] = x[i]", "y: i64[3] 1 2 3", "x=[1, 2, 3]");
    GIVES("y[i] = x[2*i]", "y: i64[2] 1 3", "x=[1, 2, 3]");
    GIVES("y[i] = x[2*i+1]", "y: i64[1] 2", "x=[1, 2, 3]");
    GIVES("y[i] = x[i+1]", "y: i64[2] 2 3", "x=[1, 2, 3]");
    GIVES("y[i] = x[2-i]", "y: i64[3] 3 2 1", "x=[1, 2, 3]");
    GIVES("y[i] = x[size(x)-1-i]", "y: i64[3] 3 2 1", "x=[1, 2, 3]");
    GIVES("y[i] = x[i+1] + x[i+2]", "y: i64[1] 5", "x=[1, 2, 3]");
    GIVES("y[i,j] = x[i] + z[2*j]", "y: i64[2, 1] 11 12", "x=[1, 2]", "z=[10, 20]");
    GIVES("p[i,j] = max[r:2, s:2] x[2*i+r, 2*j+s]", "p: i64[1, 2] 6 8",
          "x=[[1, 2, 3, 4], [5, 6, 7, 8]]");
    GIVES("y[i] = sum[k] x[i+k]*w[k]", "y: i64[2] 3 5", "x=[1, 2, 3]", "w=[1, 1]");
    /* i from z, which stands after k; then k as far as x goes. */
    GIVES("y[i] = (sum[k] x[i+k]) + 0*z[i]", "y: i64[2] 3 5", "x=[1, 2, 3]", "z=[1, 1]");
    GIVES("y[i] = x[i+5]", "y: i64[0]", "x=[1, 2, 3]");
    GIVES("y[i] = x[i] + x[0*i]", "y: i64[2] 2 3", "x=[1, 2]");
    GIVES("y[i] = x[i+i]", "y: i64[2] 1 3", "x=[1, 2, 3]");
    GIVES("y[i] = x[-(-i)] + x[+i]", "y: i64[2] 2 4", "x=[1, 2]");
    GIVES("y[i] = x[i]", "y: i64[0]", "x=i64([])");
}

static void not_to_be_inferred(void)
{
    FAILS("y[i] = 3",
          "nothing says how far `i` goes: read an array at `i`, or write its range, i:N");
    FAILS("y[i] = x[i//2]", "nothing says how far `i` goes", "x=[1]");
    FAILS("y[i] = sum[k] x[i+k]", "nothing says how far `i` goes", "x=[1, 2, 3]");
    FAILS("y = sum[k] 1", "nothing says how far `k` goes");
    FAILS("y[i] = x[idx[0] + i]", "nothing says how far `i` goes", "x=[1]", "idx=[0]");
    FAILS(
        "y[i] = a[i] + b[i]",
        "`i` runs over axis 0 of `a` (length 2) and axis 0 of `b` (length 3): they must be equal, "
        "or give it a range, i:2",
        "a=[1, 2]", "b=[1, 2, 3]");
    FAILS("y[i] = a[i,i]", "axis 0 of `a` (length 1) and axis 1 of `a` (length 2)", "a=[[1, 2]]");
}

static void reach(void)
{
    FAILS(
        "y[i] = x[i+1] - x[i]",
        "x[i+1] goes 1 beyond the end of axis 0 of `x` (length 3) when i = 2; say `edge x = ...`, "
        "or give i a shorter range: i:2",
        "x=[1, 2, 3]");
    FAILS("y[i] = x[i] - x[i-2]",
          "x[i-2] goes 2 before the start of axis 0 of `x` (length 3) when i = 0; say `edge x = "
          "...`, or give i another range: i:2:3",
          "x=[1, 2, 3]");
    FAILS("y[i,j] = a[i,j] + a[i,j+3]",
          "goes 3 beyond the end of axis 1 of `a` (length 2) when j = 1", "a=[[1, 2]]");
    FAILS("y[i:9] = x[i]", "goes 6 beyond the end of axis 0 of `x` (length 3) when i = 8",
          "x=[1, 2, 3]");
    FAILS("y[i] = x[i] + sum[k:3] x[i+k]", "when i = 2, k = 2", "x=[1, 2, 3]");
    FAILS("y[i] = x[i] + x[7]", "x[7] goes 5 beyond the end of axis 0 of `x` (length 3)",
          "x=[1, 2, 3]");
    FAILS("y[i] = x[i] + x[-1]", "x[-1] goes 1 before the start", "x=[1, 2, 3]");
    FAILS("y[i:3] = roll(x, 1)[i+1]", "roll(x, 1)[i+1] goes 1 beyond the end", "x=[1, 2, 3]");
    GIVES("y[i:2] = x[i+1] - x[i]", "y: i64[2] 1 2", "x=[1, 2, 4][:3]");
    GIVES("y[i:1:3] = x[i] - x[i-1]", "y: i64[2] 1 2", "x=[1, 2, 4]");
}

/* Where the range of an index depends on others, a read goes as far as they do together. */
static void triangles(void)
{
    GIVES("y[i:4] = sum[k:4-i] x[k+i]", "y: i64[4] 10 9 7 4", "x=[1, 2, 3, 4]");
    GIVES("y[i:4] = sum[k:i+1] x[i-k]", "y: i64[4] 1 3 6 10", "x=[1, 2, 3, 4]");
    GIVES("y[i:4] = sum[k:2*i:5] x[2*i]", "y: i64[4] 5 9 5 0", "x=[1, 2, 3, 4, 5]");
    GIVES("sum[i:4, j:i, k:j, l:k] x[i-j+k-l-2]", "result: i64[] 7", "x=[7]");
    GIVES("sum[i:2:9, j:3*i:2*i+7] x[j-2*i-2, 6-i]", "result: i64[] 240",
          "x=reshape(arange(25), [5, 5])");
    /* Where there is no k there is no read. */
    GIVES("y[i:6] = sum[k:i-2] x[i-3]", "y: i64[6] 0 0 0 1 4 9", "x=[1, 2, 3]");
    GIVES("sum[i:4, j:i] x[i+j-1]", "result: i64[] 18", "x=[1, 2, 3, 4, 5]");
    GIVES("sum[k:0] x[9]", "result: i64[] 0", "x=[1]");
    /* An argument is read where it is used: within sum[k], and beside it. */
    FAILS("def f(a) = (sum[k:0] a) + a; y[i:3] = f(x[i-1])", "goes 1 before the start", "x=[1, 2]");
    /* How far others go. */
    GIVES("y[i] = sum[j:3, k:3-j] x[i+j+k]", "y: i64[3] 14 20 26", "x=[1, 2, 3, 4, 5]");
    GIVES("edge x = none; y[i:9] = sum[j:3, k:3-j] x[i+j+k]", "y: i64[3] 14 20 26",
          "x=[1, 2, 3, 4, 5]");
    FAILS("y[i:4] = sum[k:5-i] x[k+i]",
          "goes 1 beyond the end of axis 0 of `x` (length 4) when k = ", "x=[1, 2, 3, 4]");
    FAILS("sum[i:4, j:i] x[i+j-2]",
          "goes 1 before the start of axis 0 of `x` (length 5) when i = 1, "
          "j = 0",
          "x=[1, 2, 3, 4, 5]");
    FAILS("sum[i:4, j:i, k:j, l:k] x[i-j+k-l-3]", "goes 1 before the start", "x=[7]");
}

static void choices_guard_reads(void)
{
    GIVES("y[i] = i > 0 ? x[i-1] : x[i]", "y: i64[3] 1 1 2", "x=[1, 2, 3]");
    GIVES("y[i] = where(i < 2, x[i+1], 0) + 0*x[i]", "y: i64[3] 2 3 0", "x=[1, 2, 3]");
    GIVES("y[i:5] = i < 3 ? a[i] : b[i-3]", "y: i64[5] 1 2 3 8 9", "a=[1, 2, 3]", "b=[8, 9]");
    GIVES("y[i] = i > 0 ? x[i-1] : 0", "y: i64[4] 0 1 2 3", "x=[1, 2, 3]");
    /* Also where the read is an argument. */
    GIVES("def pick(c, a, b) = c ? a : b; y[i] = pick(i > 0, x[i-1], x[i])", "y: i64[3] 1 1 2",
          "x=[1, 2, 3]");
    FAILS("def both(c, a) = c ? a : a + a; y[i] = x[i] + both(i > 0, x[i-1])",
          "run: ", "x=[1, 2, 3]");
    FAILS("def twice(a) = a + (true ? a : 0); y[i] = x[i] + twice(x[i-1])", "before the start",
          "x=[1, 2, 3]");
    /* The condition itself is not guarded. */
    FAILS("y[i] = x[i+1] > 0 ? x[i] : 0", "goes 1 beyond the end", "x=[1, 2, 3]");
}

static void edge_rules(void)
{
    GIVES("edge x = nearest; y[i] = x[i-1] + 10*x[i+1]", "y: i64[3] 21 31 32", "x=[1, 2, 3]");
    GIVES("edge x = reflect; y[i] = x[i-2]", "y: i64[3] 2 1 1", "x=[1, 2, 3]");
    GIVES("edge x = mirror; y[i] = x[i-2]", "y: i64[3] 3 2 1", "x=[1, 2, 3]");
    GIVES("edge x = wrap; y[i] = x[i-2]", "y: i64[3] 2 3 1", "x=[1, 2, 3]");
    GIVES("edge x = 7; y[i] = x[i-2]", "y: i64[3] 7 7 1", "x=[1, 2, 3]");
    GIVES("edge x = -1.5; y[i] = x[i+1]", "y: f64[2] 2 -1.5", "x=[1.0, 2.0]");
    GIVES("y[i] = x[i-2]; edge x = wrap", "y: i64[3] 2 3 1", "x=[1, 2, 3]");
    GIVES("param f = 2; edge x = f + 1; y[i] = x[i+1]", "y: i64[2] 2 6", "x=[1, 2]", "-f=5");
    GIVES("edge a = [wrap, 0]; y[i,j] = a[i-1,j+1]", "y: i64[2, 2] 4 0 2 0", "a=[[1, 2], [3, 4]]");
    GIVES("edge x = wrap; y[i] = x[2*i-1]", "y: i64[2] 3 2", "x=[1, 2, 3]");
    GIVES("edge x = wrap; def at(g, k) = g[k+1]; y[i] = at(x, i)", "y: i64[3] 2 3 1",
          "x=[1, 2, 3]");
    GIVES("edge x = wrap; y = x", "y: i64[1] 1", "x=[1]");
    FAILS("edge x = reflct; y[i] = x[i+1]",
          "an edge is nearest, reflect, mirror, wrap, none or a "
          "number; did you mean `reflect`?",
          "x=[1]");
    FAILS("edge x = [wrap, wrap]; y[i] = x[i+1]", "2 edge rules for `x`, which has 1 axis",
          "x=[1]");
    FAILS("edge x = 1.5; y[i] = x[i+1]", "this f64 does not fit the array, which is i64", "x=[1]");
    FAILS("edge x = 1j; y[i] = x[i+1]", "this c128 does not fit the array", "x=[1.0]");
    FAILS("edge x = 300; y[i] = x[i+1]", "does not fit u8", "x=u8([1])");
    FAILS("edge x = m; y[i] = x[i+1]", "an edge is nearest", "x=[1]", "m=[3]");
}

static void edge_none_shrinks(void)
{
    GIVES("edge x = none; y[i] = x[i+1] - x[i-1]", "y: i64[2] 8 12", "x=[1, 4, 9, 16]");
    GIVES("edge x = none; y[i] = i + 0*x[i-1] + 0*x[i+1]", "y: i64[2] 1 2", "x=[1, 4, 9, 16]");
    GIVES("edge x = none; y[i] = x[i] + x[i+2]", "y: i64[2] 10 20", "x=[1, 4, 9, 16]");
    GIVES("edge a = [none, wrap]; y[i,j] = a[i+1,j+1] + a[i,j]", "y: i64[1, 2] 5 5",
          "a=[[1, 2], [3, 4]]");
    GIVES("edge x = none; y[i] = sum[k:3] x[i+k-1]", "y: i64[2] 14 29", "x=[1, 4, 9, 16]");
    GIVES("edge x = none; s = sum[k] x[k-1]*x[k]", "s: i64[] 184", "x=[1, 4, 9, 16]");
    GIVES("edge x = none; y[i] = x[i+9] + x[i]", "y: i64[0]", "x=[1, 4]");
    GIVES("edge x = none; y[i] = x[3-2*i] + 0*x[i]", "y: i64[2] 16 4", "x=[1, 4, 9, 16]");
    GIVES("edge x = none; y[i:10] = x[i]", "y: i64[2] 1 4", "x=[1, 4]");
    FAILS("edge x = none; y[i] = x[i] + x[9]", "its edge is `none`, and no index can shrink",
          "x=[1, 4]");
    FAILS("edge x = none; y[i:2] = sum[k:i+1] x[k+5]", "goes", "x=[1, 4]");
}

static void edge_none_where_rows_differ(void)
{
    GIVES("edge x = none; y[s:7] = sum[i:s] x[i-1+s]", "y: i64[4] 0 1 5 12", "x=[1, 2, 3, 4, 5]");
    GIVES("edge x = none; y[s:2:7] = sum[i:s] x[i-1+s]", "y: i64[2] 5 12", "x=[1, 2, 3, 4, 5]");
    GIVES("edge x = none; y[s:1:5] = sum[i:s] x[i+s-4]", "y: i64[1] 10", "x=[1, 2, 3, 4]");
    GIVES("edge x = none; y[s:9] = sum[i:s] x[6-i-s]", "y: i64[4] 0 6 9 9", "x=[1, 2, 3, 4, 5, 6]");
    GIVES("edge x = none; y[s:9] = sum[i:s] x[2*i+s]", "y: i64[3] 0 2 8", "x=[1, 2, 3, 4, 5, 6]");
    /* At 0 nothing is read, so it stays. */
    GIVES("edge x = none; y[s:9] = sum[i:s] x[s-1]", "y: i64[4] 0 1 8 27", "x=[1, 4, 9]");
    GIVES("edge x = none; y[s:1:9] = max[i:s] x[s-1]", "y: i64[3] 1 4 9", "x=[1, 4, 9]");
    FAILS("edge x = none; y[s:9] = max[i:s] x[s-1]", "max over an empty range", "x=[1, 4, 9]");
    /* Whole numbers leave gaps in the rows. */
    GIVES("edge x = none; y[s:8] = sum[i:1:s+3, j:1:s+3-2*i] x[2*s+3*i+1]", "y: i64[2] 0 7",
          "x=[1, 2, 3, 4, 5, 6, 7]");
    /* Where no cell is left, nothing is read in its rows. */
    GIVES("edge x = none; y[s:1:2] = sum[i:s:3] (x[s+9] + z[i+9])", "y: i64[0]", "x=[1]", "z=[1]");
    /* Over indices of reductions, and where one range depends on another. */
    GIVES("edge x = none; y = sum[s:7, i:s] x[i-1+s]", "y: i64[] 18", "x=[1, 2, 3, 4, 5]");
    GIVES("edge x = none; y[s:9] = sum[i:s, j:i] x[i+j+s]", "y: i64[3] 0 0 4", "x=[1, 2, 3, 4, 5]");
    /* 2 and 3 lie between 1 and 4 for one read, and at an end once another has cut. */
    FAILS("edge x = none; y[s:5] = sum[i:4-s] sum[j:s-1] x[s+9]",
          "x[s+9] goes 11 beyond the end of axis 0 of `x` (length 2) when s = 3; its edge is "
          "`none`, but only the first and last values of `s` can be left out",
          "x=[1, 4]");
    GIVES("edge x = none; edge z = none; y[s:5] = (sum[i:4-s] sum[j:s-1] x[s+9]) + z[s]",
          "y: i64[2] 5 6", "x=[1, 4]", "z=[5, 6, 7, 8]");
    FAILS("edge x = none; y[s:5] = sum[i:s] x[i+s-4]", "x[i+s-4] goes 3 before the start",
          "x=[1, 2, 3, 4]");
}

TEST_MAIN
{
    RUN(given);
    RUN(inferred);
    RUN(not_to_be_inferred);
    RUN(reach);
    RUN(triangles);
    RUN(choices_guard_reads);
    RUN(edge_rules);
    RUN(edge_none_shrinks);
    RUN(edge_none_where_rows_differ);
}
