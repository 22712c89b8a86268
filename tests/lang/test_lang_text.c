/* test_lang_text.c -- how programs are written, and where errors point. */
#include "lang_kit.h"

static void numbers(void)
{
    GIVES("12", "result: i64[] 12");
    GIVES("1_000", "result: i64[] 1000");
    GIVES("0x1F", "result: i64[] 31");
    GIVES("-9223372036854775808", "result: i64[] -9223372036854775808");
    FAILS("9223372036854775808", "too large for an integer");
    FAILS("- 9223372036854775809", "too large for an integer");
    GIVES("1.5", "result: f64[] 1.5");
    GIVES(".5", "result: f64[] 0.5");
    GIVES("2.", "result: f64[] 2");
    GIVES("1e-3", "result: f64[] 0.001");
    GIVES("1E+2", "result: f64[] 100");
    GIVES("2j", "result: c128[] 0+2j");
    GIVES("1 - 2.5j", "result: c128[] 1-2.5j");
    GIVES("-inf", "result: f64[] -inf");
    GIVES("2*pi", "result: f64[] 6.28319");
    GIVES("true", "result: bool[] true");
    FAILS("2x", "a number runs into letters; write a product as `2 * ...`");
    FAILS("1e", "a number runs into letters");
    FAILS("0x", "a number runs into letters");
    FAILS("1__0", "a number runs into letters");
}

static void lines(void)
{
    GIVES("a = 1; b = 2", "a: i64[] 1; b: i64[] 2");
    GIVES("a = 1\n\n\n;;b = 2\n", "a: i64[] 1; b: i64[] 2");
    GIVES("a = 1 +\n 2", "a: i64[] 3");
    GIVES("a = 1 + # and\n# more\n 2", "a: i64[] 3");
    GIVES("a = (1\n + 2)", "a: i64[] 3");
    GIVES("a = 1 \\\n + 2", "a: i64[] 3");
    GIVES("a =\n 3", "a: i64[] 3");
    GIVES("a = 1 and\r\n 0\r\n", "a: bool[] false");
    GIVES("a = 1 # b = 2", "a: i64[] 1");
    GIVES("a = [1,\n 2,\n]", "a: i64[2] 1 2");
    FAILS("a = 1\n + 2", "a statement can't begin with `+`");
    GIVES("-2", "result: i64[] -2");
    FAILS("a = 1 \\ + 2", "`\\` must be the last thing on its line");
    FAILS("", "the program has no results");
    FAILS("# nothing\n", "the program has no results");
}

static void unfinished(void)
{
    static const struct {
        const char *text;
        bool        unfinished;
    } cases[] = {
        { "", false },           { "a = 1", false },   { "a = (1", true },
        { "a = [1,\n2", true },  { "a = 1 +", true },  { "a = 1 + # why", true },
        { "a = 1 and", true },   { "a =", true },      { "a = 1 \\", true },
        { "a = 1 \\\n", false }, { "a = \"x", false }, /* a text ends on its line, so another line
                                                          is no help */
        { "a = 1)", false },     { "f(x", true },      { "c ? a :", true },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CASE("%s", cases[i].text);
        CHECK(lang_is_unfinished(cases[i].text, strlen(cases[i].text)) == cases[i].unfinished);
    }
}

static void carets(void)
{
    GIVES("let h = 1\n\nlap[i,j] = 4*hh[i,j]",
          "program:3:14: unknown name `hh`; did you mean `h`?\n"
          "    3 | lap[i,j] = 4*hh[i,j]\n"
          "      |              ^~");
    GIVES("y = (1 + 2", "program:1:11: expected `)`, found the end of the program\n"
                        "    1 | y = (1 + 2\n"
                        "      |           ^");
    /* Columns count characters, and a tab is one of them. */
    GIVES("\t\"\xc3\xa9\xc3\xa9\" + $", "program:1:9: `$` means nothing here\n"
                                        "    1 |  \"\xc3\xa9\xc3\xa9\" + $\n"
                                        "      |         ^");
    GIVES("y = 1 +\n  z", "program:2:3: unknown name `z`\n"
                          "    2 |   z\n"
                          "      |   ^");
    FAILS("x = f(\n1,\n2\ny = 3",
          "program:4:1: expected `,` or `)` for the bracket opened in line 1");
}

static void long_lines_are_cut(void)
{
    char program[1000];

    memset(program, ' ', sizeof program);
    memcpy(program + 500, "y = zz + 1", 10);
    program[999] = '\0';
    CASE("a long line");
    CHECK_HAS(outcome(program, INPUTS("x=1")), "program:1:505: unknown name `zz`\n    1 | ...  ");
    CHECK(strlen(shown) < 350);
    CHECK_HAS(shown, "...\n");
}

static void odd_bytes(void)
{
    static const char nul[] = "y = 1\0 + 2";

    CASE("a byte 0");
    CHECK_HAS(outcome_of(nul, sizeof nul - 1, INPUTS("x=1")),
              "program:1:6: a byte 0, which is no text");
    FAILS("y = 1 \x01", "a byte 1, which is no text");
    FAILS("y = \xff", "a byte 255, which is no UTF-8 text");
    FAILS("y = \xc3", "a byte 195, which is no UTF-8 text");
    FAILS("y = \xe2\x82\xac", "`\xe2\x82\xac` means nothing here");
    FAILS("y = 'a'", "texts stand in \"...\"");
    FAILS("y = \"abc", "a text that does not end");
}

static void syntax_errors(void)
{
    FAILS("2 x",
          "expected an operator (a product is `a * b`) or the end of the statement, found `x`");
    FAILS("y = ", "expected a number, a name or a bracket, found the end of the program");
    FAILS("y = if x > 1 then 2", "program:1:5: there is no `if`: write c ? a : b");
    FAILS("y(i) = 2", "cells are defined by y[i] = ..., a function by def f(x) = ...");
    FAILS("y = sum[k=0:3] k", "a range is written `k:5` or `k:1:5`");
    FAILS("y = 1 = 2", "found `=`; to compare write `==`");
    FAILS("y = a < b < c", "comparisons can't be chained: write a < b and b < c");
    FAILS("let = 3", "expected the name of an array, found `=`");
    FAILS("pi = 3", "`pi` is a word of the language: an array needs another name");
    FAILS("f32 = 3", "`f32` is a type: an array needs another name");
    FAILS("edge[i] = 3", "expected the name of an array, found `[`");
    FAILS("x[0] = 3", "expected the name of an index, found `0`");
    FAILS("x[i, i] = 3", "`i` is used already at this place");
    FAILS("x[i] = sum[i] a[i]", "`i` is used already at this place");
    FAILS("x[a.b:3] = 1", "the name of an index has no dots");
    FAILS("sum[i] = 3", "`sum[...]` would be read as a reduction");
    FAILS("y = sum[k]", "`sum[...]` begins a reduction, and what it reduces must follow");
    FAILS("y = 1 + not 2", "put it in brackets, (not x)");
    FAILS("y = all[k] x[k] > 0", "write brackets, all[k] (x[k] > 0)", "x=[1]");
    FAILS("def sin(x) = x", "`sin` is a function of the language");
    FAILS("def f(x, x) = x", "`x` is used already at this place");
    FAILS("def f x = x", "expected `(` after the name of a function, found `x`");
    FAILS("y = f(a=1, 2)", "arguments without a name stand before those with one");
    FAILS("x = 1; x = 2", "`x` is given twice; first in line 1");
    FAILS("edge x = 1; edge x = 2", "the edge of `x` is given twice");
}

static void nesting(void)
{
    char text[4096], *at;

    memset(text, '(', sizeof text);
    text[sizeof text - 1] = '\0';
    FAILS(text, "more than 200 levels of brackets");
    memset(text, '-', sizeof text - 1);
    FAILS(text, "more than 200 levels of brackets");
    at = text;
    for (int i = 0; i < 190; i++)
        *at++ = '(';
    *at++ = '1';
    memset(at, ')', 190);
    at[190] = '\0';
    GIVES(text, "result: i64[] 1");
    for (at = text; at < text + 4000; at += 2)
        memcpy(at, "1+", 2);
    strcpy(at, "1");
    FAILS(text, "more than 1000 operations in one another");
}

static void texts_as_arguments_only(void)
{
    FAILS("y = \"abc\"", "a text stands only as an argument");
    FAILS("y = f32", "a type stands only as an argument");
    FAILS("y[i:2] = \"abc\"", "a text stands only as an argument");
}

static void keywords(void)
{
    for (int i = 1; lang_keyword_at(i); i++)
        CHECK(strcmp(lang_keyword_at(i - 1), lang_keyword_at(i)) < 0);
    CHECK(lang_keyword_at(-1) == NULL);
    CHECK(lang_keyword_at(1000) == NULL);
}

TEST_MAIN
{
    RUN(numbers);
    RUN(lines);
    RUN(unfinished);
    RUN(carets);
    RUN(long_lines_are_cut);
    RUN(odd_bytes);
    RUN(syntax_errors);
    RUN(nesting);
    RUN(texts_as_arguments_only);
    RUN(keywords);
}
