/* test_lang_meaning.c -- what expressions mean, over whole arrays and over cells. */
#include "lang_kit.h"

static void precedence(void)
{
    GIVES("1 + 2*3", "result: i64[] 7");
    GIVES("(1 + 2)*3", "result: i64[] 9");
    GIVES("2**3**2", "result: i64[] 512");
    GIVES("-2**2", "result: i64[] -4");
    GIVES("2**-1.0", "result: f64[] 0.5");
    GIVES("7 - 4 - 2", "result: i64[] 1");
    GIVES("7 // 2 * 2", "result: i64[] 6");
    GIVES("-7 // 2", "result: i64[] -4");
    GIVES("-7 % 3", "result: i64[] 2");
    GIVES("1 / 2", "result: f64[] 0.5");
    GIVES("1 + 2 << 1", "result: i64[] 6");
    GIVES("1 | 2 ^ 3 & 2", "result: i64[] 1");
    GIVES("1 | 6 & 3", "result: i64[] 3");
    GIVES("1 < 2 and 2 < 1 or true", "result: bool[] true");
    GIVES("not 1 == 2", "result: bool[] true");
    GIVES("!1 && 0 || 1", "result: bool[] true");
    GIVES("1 > 2 ? 3 : 2 > 1 ? 4 : 5", "result: i64[] 4");
    GIVES("~5 + 1", "result: i64[] -5");
    GIVES("+3", "result: i64[] 3");
}

static void types_follow_the_library(void)
{
    GIVES("y = x + 1", "y: f32[2] 2 3", "x=f32([1, 2])");
    GIVES("y[i] = x[i] + 1", "y: f32[2] 2 3", "x=f32([1, 2])");
    GIVES("y = x + 0.5", "y: f64[2] 1.5 2.5", "x=i8([1, 2])");
    GIVES("y = x / 2", "y: f64[2] 0.5 1", "x=[1, 2]");
    GIVES("y = u8(200) + 100", "y: u8[] 44");
    FAILS("y = x + 300", "300 does not fit u8", "x=u8([1])");
    FAILS("y[i] = x[i] + 300", "300 does not fit u8", "x=u8([1])");
    FAILS("y = x ^ 2", "`**` is power", "x=1.5");
    FAILS("y[i] = x[i] ^ 2", "`**` is power", "x=[1.5]");
    GIVES("y = c64(x) * 1j", "y: c64[2] 0+1j 0+2j", "x=[1, 2]");
    GIVES("y = cast(x, i16); z[i] = cast(x[i], \"u8\")", "y: i16[2] 1 2; z: u8[2] 1 2",
          "x=[1.5, 2]");
}

static void names_of_numbers_stay_untyped(void)
{
    GIVES("let h = 0.5; y = x*h; z[i] = x[i]*h", "y: f32[1] 1; z: f32[1] 1", "x=f32([2])");
    GIVES("param n = 2; let m = n + 1; y[i] = x[i]*m", "y: f32[1] 6", "x=f32([2])");
    GIVES("y[i] = x[i]*e*0; z = x*pi*0", "y: f32[1] 0; z: f32[1] 0", "x=f32([2])");
    GIVES("def two(t) = 2; y = x*two(x)", "y: f32[1] 4", "x=f32([2])");
    GIVES("y[i] = x[i]*size(x)", "y: f32[1] 2", "x=f32([2])");
    /* An array of rank 0 has a type. */
    GIVES("y = x*h; z[i] = x[i]*h", "y: f64[1] 1; z: f64[1] 1", "x=f32([2])", "h=0.5");
}

static void whole_arrays(void)
{
    GIVES("y = a*sin(b) + exp(-c)*d", "y: f64[2] 4 5", "a=[1, 2]", "b=[0, 0]", "c=0", "d=[4, 5]");
    GIVES("y = a + b", "y: i64[2, 2] 11 21 12 22", "a=[[1], [2]]", "b=[10, 20]");
    FAILS("y = a + b", "program:1:5: ", "a=[1, 2]", "b=[1, 2, 3]");
    GIVES("y = where(x > 1, x, -x)", "y: i64[3] 0 -1 2", "x=[0, 1, 2]");
    GIVES("y = x > 1 ? x : -x", "y: i64[3] 0 -1 2", "x=[0, 1, 2]");
    GIVES("a @ b", "result: i64[] 11", "a=[1, 2]", "b=[3, 4]");
    GIVES("e = 3; y = e*2", "e: i64[] 3; y: i64[] 6");
    GIVES("y = e", "y: f64[] 7", "e=7.0");
    GIVES("s = p.x*2 + p.y", "s: i64[1] 5", "p.x=[1]", "p.y=[3]");
}

static void cells(void)
{
    GIVES("t[i,j] = a[j,i]", "t: i64[3, 2] 1 4 2 5 3 6", "a=[[1, 2, 3], [4, 5, 6]]");
    GIVES("y[i] = v[idx[i]]", "y: i64[4] 30 10 10 20", "v=[10, 20, 30]", "idx=[2, 0, 0, 1]");
    FAILS("y[i] = v[idx[i]]", "run: ", "v=[10, 20, 30]", "idx=[3]");
    FAILS("y[i] = v[idx[i]]", "run: ", "v=[10, 20, 30]", "idx=[-1]");
    GIVES("y[i] = v[floor(x[i])]", "y: i64[2] 1 3", "v=[1, 2, 3]", "x=[0.5, 2.0]");
    FAILS("y[i] = v[x[i]]", "an index must be an integer", "v=[1]", "x=[0.5]");
    GIVES("z[i] = x[i] - mean(x)", "z: f64[3] -1 0 1", "x=[1, 2, 3]");
    GIVES("z[i] = x[i] - mean(x, axis=0)", "z: f64[3] -1 0 1", "x=[1, 2, 3]");
    GIVES("z[i] = roll(x, 1)[i] + (x*10)[i]", "z: i64[3] 13 21 32", "x=[1, 2, 3]");
    GIVES("y[i] = s*x[i]", "y: i64[2] 3 6", "s=3", "x=[1, 2]");
    GIVES("g[i,c:2] = c == 0 ? x[i] : -x[i]", "g: i64[2, 2] 1 -1 2 -2", "x=[1, 2]");
    GIVES("y[i] = clip(x[i], 0, 2) + clip(x[i], hi=1)", "y: i64[3] -1 2 3", "x=[-1, 1, 5]");
    GIVES("y[i] = sqrt(x[i]) + maximum(x[i], 2)", "y: f64[2] 3 6", "x=[1, 4]");
    FAILS("y[i] = x[i]*v",
          "`v` is an array with 1 axis, but one cell is needed here: write its "
          "indices, v[i]",
          "x=[1]", "v=[1]");
    FAILS("y[i] = x[i,0]", "2 indices for an array with 1 axis", "x=[1]");
    FAILS("y[i] = x[i,:]", "each index is one number", "x=[[1]]");
    FAILS("y[i] = [1,2]", "a list is a whole array", "x=[1]");
    FAILS("y[i] = x @ x", "`@` multiplies whole matrices", "x=[1]");
    FAILS("y[i] = max(x[i], 0)", "maximum(a, b) for the larger of two", "x=[1]");
    FAILS("y[i] = sum(sum[k] x[i,k])", "the index `i` means nothing among whole arrays", "x=[[1]]");
    FAILS("y[i] = i[0]", "`i` is an index here", "x=[1]");
    FAILS("y[i] = roll(x, 1) + x[i]", "write its indices, (...)[i]", "x=[1]");
    /* An index hides an array of the same name. */
    GIVES("y[x:3] = x*2; z = x", "y: i64[3] 0 2 4; z: i64[1] 7", "x=[7]");
}

static void reductions(void)
{
    GIVES("c[i,j] = sum[k] a[i,k]*b[k,j]", "c: i64[2, 2] 1 3 3 7", "a=[[1, 2], [3, 4]]",
          "b=[[1, 1], [0, 1]]");
    GIVES("s = sum[k] a[k]*b[k] + 1", "s: i64[] 12", "a=[1, 2]", "b=[3, 4]");
    GIVES("s = 2*sum[k] a[k]*b[k]", "s: i64[] 22", "a=[1, 2]", "b=[3, 4]");
    GIVES("s = -sum[k] a[k]", "s: i64[] -3", "a=[1, 2]");
    GIVES("y = x - mean[k] x[k]", "y: f64[2] -0.5 0.5", "x=[1, 2]");
    GIVES("p = prod[k] x[k]; q = min[k] x[k]; r = max[k] x[k]",
          "p: i64[] 6; q: i64[] 1; r: i64[] 3", "x=[1, 2, 3]");
    GIVES("a = all[k] (x[k] > 1); b = any[k] (x[k] > 1); c = count[k] (x[k] > 1)",
          "a: bool[] false; b: bool[] true; c: i64[] 2", "x=[1, 2, 3]");
    GIVES("a = argmin[k] x[k]; b = argmax[k] x[k]", "a: i64[] 2; b: i64[] 1", "x=[3, 5, 1]");
    GIVES("a[i] = argmax[r, s] x[i,r,s]", "a: i64[2] 5 0",
          "x=[[[1,2,3],[4,5,6]],[[9,1,1],[1,1,1]]]");
    GIVES("a = argmax[k:1:3] x[k]; b = argmax[r:2, s:1:3] y[r,s]", "a: i64[] 2; b: i64[] 3",
          "x=[9, 1, 2]", "y=[[9, 1, 2], [9, 3, 4]]");
    GIVES("m = mean[k] x[k]; n = mean[k:1:3] x[k]", "m: f32[] 2; n: f32[] 2.5", "x=f32([1, 2, 3])");
    GIVES("t = sum[i, j:i+1] (1 + 0*x[i])", "t: i64[] 6", "x=[1, 1, 1]");
    GIVES("s[i:3] = sum[k:i+1] x[k]", "s: i64[3] 1 3 6", "x=[1, 2, 3]");
    GIVES("s[i] = sum[p:starts[i]:starts[i+1]] v[p]*x[col[p]]", "s: i64[2] 201 30",
          "starts=[0, 2, 3]", "v=[1, 2, 3]", "x=[1, 10, 100]", "col=[0, 2, 1]");
    GIVES("s[i] = mean[p:starts[i]:starts[i+1]] v[p]", "s: f32[2] 1.5 3", "starts=[0, 2, 3]",
          "v=f32([1, 2, 3])");
    GIVES("s[i] = argmax[p:starts[i]:starts[i+1], q:2] v[p]", "s: i64[2] 2 0", "starts=[0, 2, 3]",
          "v=[1, 2, 3]");
    FAILS("s[i] = sum[k:x[i]] 1", "must be an integer", "x=[1.5]");
    GIVES("y[i] = sum[j] (x[j] <= x[i])", "y: i64[3] 3 1 2", "x=[5, 1, 3]");
    /* Reductions in one another, through a function, with one name. */
    GIVES("def total(v, w) = sum[k] v[k]*w; y = sum[k:3] total(x, k)", "y: i64[] 18",
          "x=[1, 2, 3]");
}

static void literals(void)
{
    GIVES("[1, 2, 3]", "result: i64[3] 1 2 3");
    GIVES("[[1, 2], [3, 4.5]]", "result: f64[2, 2] 1 2 3 4.5");
    GIVES("[true, false]", "result: bool[2] true false");
    GIVES("[1, 2j]", "result: c128[2] 1+0j 0+2j");
    GIVES("[1, -1.5]", "result: f64[2] 1 -1.5");
    GIVES("[]", "result: f64[0]");
    GIVES("[[], []]", "result: f64[2, 0]");
    GIVES("[mean(x), 2*x[0], 7]", "result: f64[3] 1.5 2 7", "x=[1, 2]");
    GIVES("[x, x + 1]", "result: i64[2, 2] 1 2 2 3", "x=[1, 2]");
    FAILS("[[1, 2], [3]]", "a row of 1 in a list whose first row has 2");
    FAILS("[[1, 2], 3]", "program:1:1");
}

static void slices(void)
{
    GIVES("x[1:3]", "result: i64[2] 20 30", "x=[10, 20, 30, 40]");
    GIVES("x[::2]", "result: i64[2] 10 30", "x=[10, 20, 30, 40]");
    GIVES("x[::-1]", "result: i64[4] 40 30 20 10", "x=[10, 20, 30, 40]");
    GIVES("x[-1]", "result: i64[] 40", "x=[10, 20, 30, 40]");
    GIVES("x[[0, -1]]", "result: i64[2] 10 40", "x=[10, 20, 30, 40]");
    GIVES("x[argmax(x)]", "result: i64[] 40", "x=[10, 20, 30, 40]");
    GIVES("x[size(x)//2:]", "result: i64[2] 30 40", "x=[10, 20, 30, 40]");
    GIVES("let n = 2; x[n]", "result: i64[] 30", "x=[10, 20, 30, 40]");
    GIVES("a[..., 0]", "result: i64[2] 1 3", "a=[[1, 2], [3, 4]]");
    GIVES("a[:, newaxis, 1]", "result: i64[2, 1] 2 4", "a=[[1, 2], [3, 4]]");
    GIVES("a[1][0]", "result: i64[] 3", "a=[[1, 2], [3, 4]]");
    GIVES("x[true ? 1 : 2]", "result: i64[] 20", "x=[10, 20, 30, 40]");
    FAILS("x[4]", "program:1:1: ", "x=[10, 20, 30, 40]");
    FAILS("x[n:]", "a bound of a slice must be known before the program runs", "x=[1]", "n=1");
    FAILS("x[0.5]", "an index must be an integer, not f64", "x=[1]");
    FAILS("x[0, 0]", "program:1:1: ", "x=[1]");
}

TEST_MAIN
{
    RUN(precedence);
    RUN(types_follow_the_library);
    RUN(names_of_numbers_stay_untyped);
    RUN(whole_arrays);
    RUN(cells);
    RUN(reductions);
    RUN(literals);
    RUN(slices);
}
