/* test_text_errors.c -- texts that are no programs: each gives one line that says where and what,
 * and none does harm. */
#include "notation/notation.h"
#include "test.h"
#include "text_programs.h"

#include <stdlib.h>

static arras_status read_text(const char *text, size_t length, arras_error *err)
{
    arras_graph *g = NULL;
    arras_status status;

    *err = (arras_error){ ARRAS_OK, "" };
    status = ar_read(&g, text, length, err);
    ar_graph_free(g);
    return status;
}

#define HEAD "arras 1\nsize n\ninput x : f64[n, 4]\ninput k : i32[3]\n"
#define FUNCTION "function f(u : f64[n]) {\n  result r = u\n}\n"

static const struct {
    const char *text, *message; /* what the message has in it */
} cases[] = {
    /* the first line */
    { "", "line 1, column 1: expected 'arras 1', found the end of the text" },
    { "\n\n  hello", "line 3, column 3: expected 'arras 1', found 'hello'" },
    { "arras", "line 1, column 6: expected a number, found the end of the text" },
    { "arras 2\n", "line 1, column 7: version 2 of the text form is not known" },
    { "arras 1 x", "line 1, column 9: expected the end of the line, found 'x'" },
    { "arras 1\n",
      "line 2, column 1: expected an output: a line like 'output y = %3', found the end" },
    { "arras 1\n# no output\n", "line 3, column 1: expected an output" },
    /* odd bytes */
    { "arras 1\n\x01", "line 2, column 1: expected size, input, function, %number = ... or output, "
                       "found the byte 0x01" },
    { "arras 1\n\x7f", "found the byte 0x7f" },
    { "arras 1\n~", "line 2, column 1: expected size, input, function, %number = ... or output, "
                    "found '~'" },
    { "arras 1\n\xff\xfe", "found '\xff\xfe'" },
    { HEAD "%0 = add(x, @)",
      "line 5, column 13: expected an operand, %number or a name, found '@'" },
    /* sizes and declarations */
    { "arras 1\nsize", "line 2, column 5: expected the name of a size, found the end of the text" },
    { "arras 1\nsize 3\n", "line 2, column 6: expected the name of a size, found '3'" },
    { "arras 1\nsize n\nsize n\n", "line 3, column 6: size 'n' is declared twice" },
    { "arras 1\ninput n : f64[2]\nsize n\n", "line 3, column 6: a size has the name of an input" },
    { "arras 1\nsize rows\ninput x : f64[row]\n",
      "line 3, column 15: there is no size 'row'; did you mean 'rows'?" },
    { "arras 1\ninput x : f64[q]\n", "line 2, column 15: there is no size 'q': declare it above" },
    { "arras 1\ninput x f64", "line 2, column 9: expected ':', found 'f64'" },
    { "arras 1\ninput x : f65", "line 2, column 11: expected a type like f64[3], found 'f65'" },
    { "arras 1\ninput x : real", "line 2, column 7: 'x' needs a type like f64, not 'real'" },
    { "arras 1\ninput x : f64[3\ninput", "line 3, column 1: expected ',', found 'input'" },
    { "arras 1\ninput x : f64[-3]", "line 2, column 15: a length or place cannot be negative: -3" },
    { "arras 1\ninput x : f64[2 - 5]", "column 15: a length or place cannot be negative: -3" },
    { "arras 1\ninput x : f64[9223372036854775808]", "but 9223372036854775808 is out of range" },
    { "arras 1\ninput x : f64[9223372036854775807]", "column 15: a size is too large" },
    { "arras 1\ninput x : f64[-9223372036854775807]", "column 15: a size is too large" },
    { "arras 1\ninput x : f64[9223372036854775807 + 1]", "do not fit 64 bits" },
    { "arras 1\nsize n\ninput x : f64[n * 2]", "line 3, column 17: expected ',', found '*'" },
    { "arras 1\nsize n\ninput x : f64[2*3]", "expected a number or the name of a size, found '3'" },
    { "arras 1\nsize n\ninput x : f64[9223372036854775807*n + n]", "a size is too large" },
    { "arras 1\ninput x : f64[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
      "1, 1, 1, 1, 1, 1, 1, 1, 1, 1]",
      "a shape has at most 32 axes" },
    { HEAD "input x : f64[2]\n",
      "line 5, column 7: input 'x': the name is already used by an input" },
    /* nodes */
    { HEAD "%0 multiply(x, x)", "line 5, column 4: expected '=', found 'multiply'" },
    { HEAD "%0 = 5", "line 5, column 6: expected an operation, found '5'" },
    { HEAD "%0 = mulitply(x, x)",
      "line 5, column 6: there is no operation 'mulitply'; did you mean "
      "'multiply'?" },
    { HEAD "%0 = zzzzzz(x)\n", "line 5, column 6: there is no operation 'zzzzzz'" },
    { HEAD "%0 = poison(x)\n", "there is no operation 'poison'" },
    { HEAD "%0 = map(x)\n", "there is no operation 'map'; did you mean 'max'?" },
    { HEAD "%0 = add(x)", "line 5, column 6: add takes 2 operands, not 1" },
    { HEAD "%0 = sin(x, x)", "line 5, column 6: sin takes 1 operand, not 2" },
    { HEAD "%0 = add(x, x, axis=1)", "line 5, column 16: expected ')', found 'axis'" },
    { HEAD "%0 = add(x, xx)", "line 5, column 13: there is no input 'xx'" },
    { HEAD "%0 = add(x, %1)", "line 5, column 13: %1 is not defined above" },
    { HEAD "%0 = add(x, %0)", "line 5, column 13: %0 is not defined above" },
    { HEAD "%0 = add(x, %)", "line 5, column 13: % is not defined above" },
    { HEAD "%5 = sin(x)\n%5 = cos(x)", "line 6, column 1: %5 comes after %5: numbers must ascend" },
    { HEAD "%99999999999999999999 = sin(x)",
      "line 5, column 1: % takes a number that fits 64 bits" },
    { HEAD "%0 = add(x, k)\n", "line 5, column 6: add: axis -1 is 4 against 3" },
    { HEAD "%0 = left_shift(x, x)", "line 5, column 6: left_shift is not defined for f64" },
    { HEAD "%0 = sin(x) : f32[n, 4]\n",
      "line 5, column 15: the type is given as f32[n, 4], but it is "
      "f64[n, 4]" },
    { HEAD "%0 = sin(x) : f64[4, n]\n", "the type is given as f64[4, n], but it is f64[n, 4]" },
    { HEAD "%0 = sin(x) : f64\n", "the type is given as f64[], but it is f64[n, 4]" },
    { HEAD "%0 = const f64 2 : real\n", "the type is given as real, but it is f64[]" },
    { HEAD "%0 = sin(x) sin\n", "line 5, column 13: expected the end of the line, found 'sin'" },
    { HEAD "%0 = sin(x", "line 5, column 11: expected ')', found the end of the text" },
    { HEAD "%0 = cast(x, f16)", "line 5, column 14: expected a type like f64, found 'f16'" },
    { HEAD "%0 = sum(x, axes=[2])", "line 5, column 18: sum: axis 2 is not in -2..1" },
    { HEAD "%0 = sum(x, axes=[1, 0])",
      "line 5, column 18: sum: axes count from 0 and must ascend" },
    { HEAD "%0 = sum(x, keepdim)", "line 5, column 13: expected 'initial', found 'keepdim'" },
    { HEAD "%0 = stack(x, x)", "line 5, column 16: expected 'axis', found ')'" },
    { HEAD "%0 = stack(x, x, axis=3)", "line 5, column 6: stack: axis 3 is not in" },
    { HEAD "%0 = stack(x, axis=99999999999)", "line 5, column 20: there is no axis 99999999999" },
    { HEAD "%0 = roll(x, shifts=[1])",
      "line 5, column 21: there are 1 shifts for an array of rank 2" },
    { HEAD "%0 = permute(x, axes=[0, 0])", "line 5, column 6: permute: axis 0 is given twice" },
    { HEAD "%0 = reshape(x, [7])",
      "line 5, column 6: reshape: the cells do not fill the shape [7]" },
    { HEAD "%0 = reshape(x, [4, n], order=D)", "line 5, column 31: expected C or F, found 'D'" },
    { HEAD "%0 = index(x, 1)", "line 5, column 15: expected at, from, all or newaxis, found '1'" },
    { HEAD "%0 = index(x, all, at 4)", "line 5, column 6: index: start 4 is out of bounds" },
    { HEAD "%0 = index(x, all, all, all)",
      "line 5, column 25: there are more items than the 2 axes" },
    { HEAD "%0 = index(x, all)", "line 5, column 6: index: 1 indices for an array of rank 2" },
    { HEAD "%0 = index(x, all, from 3 take 2)", "index: start 3 is out of bounds" },
    { HEAD "%0 = gather(x, axes=[0], place=0)",
      "line 5, column 6: gather takes an array and at least" },
    { HEAD "%0 = gather(x, x, axes=[0], place=0)", "gather: an index array is f64" },
    { HEAD "%0 = csr_matmul(x, k, k)", "line 5, column 6: csr_matmul takes 4 operands, not 3" },
    { HEAD "%0 = einsum(x)", "line 5, column 13: expected a string like \"ij,jk->ik\", found 'x'" },
    { HEAD "%0 = einsum(\"ij",
      "line 5, column 13: expected a string like \"ij,jk->ik\", found a string "
      "that is not closed" },
    { HEAD "%0 = einsum(\"ij\nk\", x)", "found a string that is not closed" },
    { HEAD "%0 = einsum(\"ij,jk\", x)",
      "line 5, column 6: einsum \"ij,jk\": there are more parts" },
    /* numbers and data */
    { HEAD "%0 = const real", "line 5, column 16: expected a number, found the end of the text" },
    { HEAD "%0 = const f16 1",
      "line 5, column 12: expected int, real, complex or a type like f64" },
    { HEAD "%0 = const u8 256",
      "line 5, column 15: expected a number of type u8, but 256 is out of" },
    { HEAD "%0 = const u8 -1",
      "line 5, column 15: expected a number of type u8, but -1 is out of" },
    { HEAD "%0 = const i8 -129", "but -129 is out of range" },
    { HEAD "%0 = const int 9223372036854775808", "but 9223372036854775808 is out of range" },
    { HEAD "%0 = const int 1.5",
      "line 5, column 16: expected a number of type i64, but 1.5 is not a "
      "whole number" },
    { HEAD "%0 = const real 1e309", "but 1e309 is out of range" },
    { HEAD "%0 = const real 1e999999999999", "but 1e999999999999 is out of range" },
    { HEAD "%0 = const f32 3.5e38", "but 3.5e38 is out of range" },
    { HEAD "%0 = const real x", "but x is not a number" },
    { HEAD "%0 = const bool 1", "but 1 is neither true nor false" },
    { HEAD "%0 = const complex 1", "line 5, column 20: expected '(', found '1'" },
    { HEAD "%0 = const complex (1)", "line 5, column 22: expected ',', found ')'" },
    { HEAD "%0 = data f64[3] { 1, 2 }",
      "line 5, column 25: the shape needs 3 values, there are 2" },
    { HEAD "%0 = data f64[3] { 1, 2, 3, 4 }",
      "line 5, column 29: there are more than the 3 values" },
    { HEAD "%0 = data f64[3] { 1, 2, 3",
      "line 5, column 27: expected ',', found the end of the text" },
    { HEAD "%0 = data f64[n] { 1 }",
      "line 5, column 11: data needs a type and a shape of numbers" },
    { HEAD "%0 = data real[1] { 1 }",
      "line 5, column 11: data needs a type and a shape of numbers" },
    { HEAD "%0 = data f64[1000000, 1000000, 1000] { 1, 2, 3 }",
      "needs 1000000000000000 values, there "
      "are 3" },
    { HEAD "%0 = data f64[4000000000, 4000000000] { 1 }", "values, there are 1" },
    /* lambdas */
    { HEAD "%0 = lambda(x) { _0[i0, i1] }\n",
      "line 5, column 30: expected ':' and the type of the "
      "lambda, which says its shape, found the end of the line" },
    { HEAD "%0 = lambda(x) _0[i0, i1]", "line 5, column 16: expected '{', found '_0'" },
    { HEAD "%0 = lambda(x) { }", "line 5, column 18: expected an expression, found '}'" },
    { HEAD "%0 = lambda(x) { _1[i0] }",
      "line 5, column 18: _1 is not there: the lambda has 1 operands" },
    { HEAD "%0 = lambda(x) { _0[i0] } : f64[n]\n",
      "line 5, column 6: lambda: a load of binding 0 has 1 "
      "indices" },
    { HEAD "%0 = lambda(x) { _0[i0 wrap constant, i1] }", "expected ',', found 'constant'" },
    { HEAD "%0 = lambda(x) { _0[i0 constant, i1] }",
      "line 5, column 32: expected a number, found ','" },
    { HEAD "%0 = lambda(x) { _0[i0, i1 warp] }", "line 5, column 28: expected ',', found 'warp'" },
    { HEAD "%0 = lambda(x) { _0[i0, 0.5] }", "line 5, column 18: load: index 1 is f64" },
    { HEAD "%0 = lambda(x) { sine(i0) }",
      "line 5, column 18: there is no operation 'sine' within a cell; "
      "did you mean 'sin'?" },
    { HEAD "%0 = lambda(x) { sin(i0, i1) }", "line 5, column 18: sin takes 1 operand, not 2" },
    { HEAD "%0 = lambda() { q } : f64[n]\n",
      "line 5, column 6: lambda: no reduction gives the variable "
      "'q' a value" },
    { HEAD "%0 = lambda() { i1 } : i64[n]\n",
      "lambda: index 1 is used, but the result has rank 1" },
    { HEAD "%0 = lambda() { i99 } : i64[n]\n", "line 5, column 17: index of axis 99" },
    { HEAD "%0 = lambda() { $0 } : i64[n]\n", "line 5, column 17: $0 is not defined above" },
    { HEAD "%0 = lambda() { $0 = i0; $0 = i0; $0 }", "line 5, column 26: $0 comes after $0" },
    { HEAD "%0 = lambda() { $0 = i0 $0 }", "line 5, column 25: expected ';', found '$0'" },
    { HEAD "%0 = lambda() { sum[k 0, 4](k) }", "line 5, column 23: expected ':', found '0'" },
    { HEAD "%0 = lambda() { sum[k: 0, 4] }", "line 5, column 30: expected '(', found '}'" },
    { HEAD "%0 = lambda() { sum[k: 0, 4 fused](k) }",
      "line 5, column 17: sum: only a sum of 64 products of reals or fewer can be fused" },
    { HEAD "%0 = lambda() { sum[k: 0, 65 fused](multiply(f64(k), 2.0)) }",
      "line 5, column 17: sum: only a sum of 64 products of reals or fewer can be fused" },
    { HEAD "%0 = lambda() { sum[k: 0, i0 fused](multiply(f64(k), 2.0)) }",
      "line 5, column 17: sum: only a sum of 64 products of reals or fewer can be fused" },
    { HEAD "%0 = lambda() { max[k: 0, 4 fused](multiply(0.5, 2.0)) }",
      "line 5, column 17: max: only a sum of 64 products of reals or fewer can be fused" },
    { HEAD "%0 = lambda() { sum[k: 0.5, 4](k) }", "line 5, column 17: sum: a bound of k is f64" },
    { HEAD "%0 = lambda() { size(q) }", "line 5, column 22: there is no size 'q'" },
    { HEAD "%0 = lambda() { i0 } : f64[n]\n",
      "line 5, column 24: the type is given as f64[n], but it is "
      "i64[n]" },
    { HEAD "%0 = lambda() { sin(\nsin(\n  @)) }",
      "line 7, column 3: expected an expression, found '@'" },
    /* functions */
    { HEAD "function",
      "line 5, column 9: expected the name of a function, found the end of the text" },
    { HEAD "function f(", "line 5, column 12: expected a name, found the end of the text" },
    { HEAD "function f() x", "line 5, column 14: expected '{', found 'x'" },
    { HEAD "function f() {\n",
      "line 6, column 1: expected %number = ..., result or '}', found the end" },
    { HEAD "function f() {\n}\n", "line 5, column 10: function 'f' has no results" },
    { HEAD "function f() {\n result r = x\n}\n",
      "line 6, column 13: the body of a function does not see the input 'x'" },
    { HEAD FUNCTION FUNCTION, "line 8, column 10: function 'f' is defined twice" },
    { HEAD FUNCTION "%0 = call g(x)\n", "line 8, column 11: there is no function 'g' above" },
    { HEAD FUNCTION "%0 = call f()\n",
      "line 8, column 6: call of 'f': 0 arguments for 1 parameters" },
    { HEAD FUNCTION "%0 = call f(x)\n", "line 8, column 6: call of 'f': parameter u: f64[n]" },
    { HEAD FUNCTION "%0 = call f(%1)\n", "%1 is not defined above" },
    { HEAD "%0 = result(x, r)\n", "line 5, column 13: result takes a call" },
    { "arras 1\nsize n\ninput x : f64[3]\n" FUNCTION "%0 = call f(x)\n%1 = result(%0, q)\n",
      "line 8, column 17: function 'f' has no result 'q'" },
    { "arras 1\nsize n\ninput x : f64[3]\n" FUNCTION "%0 = call f(x)\n%1 = sin(%0)\n",
      "line 8, column 6: sin: operand 0 is a call, not one of its results" },
    { "arras 1\nsize n\ninput x : f64[3]\n" FUNCTION "%0 = call f(x)\noutput y = %0\n",
      "line 8, column 8: output 'y' is a call, not one of its results" },
    { "arras 1\nsize n\ninput x : f64[3]\n" FUNCTION
      "%0 = call f(x)\n%1 = lambda(%0) { sin(_0[]) } : f64[3]\n",
      "line 8, column 23: _0 is a call, not one of its results" },
    /* outputs */
    { HEAD "output = x", "line 5, column 8: expected a name, found '='" },
    { HEAD "output y x", "line 5, column 10: expected '=', found 'x'" },
    { HEAD "output y = x\noutput y = k\n", "line 6, column 8: output 'y' exists already" },
    { HEAD "output y = 5\n",
      "line 5, column 12: expected an operand, %number or a name, found '5'" },
    /* columns count characters, not bytes */
    { "arras 1\ninput gr\xc3\xb6\xc3\x9f"
      "e : f64[?]",
      "line 2, column 19: expected a number" },
};

static void mistakes_are_told_where_they_are(void)
{
    for (size_t i = 0; i < AR_COUNT(cases); i++) {
        arras_error err;

        CASE("%s", cases[i].message);
        CHECK(read_text(cases[i].text, strlen(cases[i].text), &err) != ARRAS_OK);
        CHECK_HAS(err.text, cases[i].message);
    }
}

static void codes_are_the_builders_own(void)
{
    arras_error err;

    CHECK_EQ_INT(read_text("arras x", 7, &err), ARRAS_ETEXT);
    CHECK_EQ_INT(read_text(NULL, 0, &err), ARRAS_ETEXT);
    CHECK_EQ_INT(read_text("arras 1\ninput x:f64[q]", 22, &err), ARRAS_ENAME);
    CHECK_EQ_INT(read_text(HEAD "%0 = add(x, k)", strlen(HEAD) + 14, &err), ARRAS_ESHAPE);
    CHECK_EQ_INT(err.code, ARRAS_ESHAPE);
}

/* The byte behind the end is never looked at: it is not ours. */
static void texts_need_no_nul(void)
{
    for (size_t i = 0; i < AR_COUNT(programs); i++) {
        size_t      length = strlen(programs[i].text);
        char       *copy = malloc(length);
        arras_error err;

        CASE("%s", programs[i].name);
        memcpy(copy, programs[i].text, length);
        CHECK_EQ_INT(read_text(copy, length, &err), ARRAS_OK);
        free(copy);
    }
}

/* ---- Damage ---------------------------------------------------------------------------------- */

/* A text cut anywhere is an error, unless it is cut between outputs or behind the last. */
static void cut_texts_do_no_harm(void)
{
    for (size_t i = 0; i < AR_COUNT(programs); i++) {
        size_t  length = strlen(programs[i].text), first_output;
        int64_t live = ar_alloc_live();

        CASE("%s", programs[i].name);
        first_output = (size_t)(strstr(programs[i].text, "\noutput ") - programs[i].text);
        for (size_t cut = 0; cut < length; cut++) {
            char        *copy = malloc(cut + 1);
            arras_error  err;
            arras_status status;

            memcpy(copy, programs[i].text, cut);
            status = read_text(copy, cut, &err);
            CHECK(status != ARRAS_OK || cut > first_output);
            CHECK(status == ARRAS_OK || strncmp(err.text, "line ", 5) == 0);
            free(copy);
        }
        CHECK_EQ_INT(ar_alloc_live(), live);
    }
}

/* What is read although a byte is wrong can be printed and read again. */
static void check_if_read(const char *text, size_t length)
{
    arras_graph *g = NULL;
    ar_text      full = { 0 }, dot = { 0 }, summary = { 0 };
    arras_error  err = { ARRAS_OK, "" };

    if (ar_read(&g, text, length, &err) != ARRAS_OK) {
        CHECK_EQ_INT((int64_t)strcspn(err.text, "\n\r\t"), (int64_t)strlen(err.text));
        return;
    }
    CHECK_EQ_INT(ar_print(&full, g, false, &err), ARRAS_OK);
    CHECK_EQ_INT(ar_dot(&dot, g, &err), ARRAS_OK);
    CHECK_EQ_INT(ar_summary_print(&summary, g, &err), ARRAS_OK);
    CHECK_EQ_INT(read_text(full.data, full.length, &err), ARRAS_OK);
    ar_text_free(&full);
    ar_text_free(&dot);
    ar_text_free(&summary);
    ar_graph_free(g);
}

static void wrong_bytes_do_no_harm(void)
{
    static const char bytes[] = { 0,   '\n', ' ', '"', '#', '%', '(',        ')',       '-',
                                  '0', '9',  '[', 'e', '{', '}', (char)0x80, (char)0xff };

    for (size_t i = 0; i < AR_COUNT(programs); i++) {
        size_t  length = strlen(programs[i].text);
        char   *copy = malloc(length);
        int64_t live = ar_alloc_live();

        CASE("%s", programs[i].name);
        memcpy(copy, programs[i].text, length);
        for (size_t at = 0; at < length; at++)
            for (size_t b = 0; b < AR_COUNT(bytes); b++) {
                copy[at] = bytes[b];
                check_if_read(copy, length);
                copy[at] = programs[i].text[at];
            }
        CHECK_EQ_INT(ar_alloc_live(), live);
        free(copy);
    }
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static arras_status read_pieces(const char *head, const char *piece, int times, const char *tail,
                                arras_error *err)
{
    ar_text      text = { 0 };
    arras_status status;

    ar_text_add(&text, head);
    for (int i = 0; i < times; i++)
        ar_text_add(&text, piece);
    ar_text_add(&text, tail);
    status = read_text(text.data, text.length, err);
    ar_text_free(&text);
    return status;
}

static void limits_are_errors(void)
{
    static const struct {
        const char *head, *piece;
        int         times;
        const char *tail, *message;
    } limits[] = {
        { HEAD "%0 = lambda() { ", "sin(", 1000000, "", "nested more than 1000 deep" },
        { HEAD "%0 = lambda() { ", "f32(", 1000000, "", "nested more than 1000 deep" },
        { HEAD "%0 = lambda(x) { ", "_0[", 1000000, "", "nested more than 1000 deep" },
        { HEAD "%0 = lambda() { ", "sum[k: ", 1000000, "", "nested more than 1000 deep" },
        { HEAD "%0 = lambda() { ", "(", 1000000, "", "expected a number, found '('" },
        { HEAD "%0 = add", "(", 1000000, "", "expected an operand" },
        { HEAD "%0 = const int ", "-", 1000000, "", "expected a number, found '-'" },
        { HEAD "%0 = const int ", "9", 1000000, "", "is out of range" },
        { HEAD "%0 = const real 0.", "9", 1000000, "", "has more digits than any number needs" },
        { HEAD "%0 = const real 1e", "9", 900, "", "is out of range" },
        { HEAD "%0 = const real 1", "0", 400, "", "is out of range" },
        { HEAD "output ", "y", 1000000, " = x", "a name of 1000000 letters is too long" },
        { HEAD "input ", "y", 300, " : f64", "a name of 300 letters is too long" },
        { HEAD "%0 = ", "y", 1000000, "(x)", "there is no operation 'yyyy" },
        { HEAD "%0 = stack(x", ", x", 1 << 20, ", axis=0)",
          "there are more than 1048576 operands" },
        { HEAD "%0 = sum(x, axes=[0", ", 1", 40, "])", "there are more than 32 numbers" },
        { HEAD "%0 = index(x", ", newaxis", 100, ")", "there are more than 96 items" },
        { HEAD "%0 = index(x, all, all", ", newaxis", 40, ")", "index: rank 42 is not in 0..32" },
        { HEAD "%0 = lambda(x) { _0[0", ", 0", 100, "] }", "a load takes at most 32 indices" },
        { HEAD, "\n", 1000000, "@", "line 1000005, column 1: " },
        { HEAD, "#", 1000000, "\n@", "line 6, column 1: " },
        { HEAD "%0 = @", "\x01", 100, "", "column 6: expected an operation, found '@'" },
    };

    for (size_t i = 0; i < AR_COUNT(limits); i++) {
        arras_error err;

        CASE("%s", limits[i].message);
        CHECK(read_pieces(limits[i].head, limits[i].piece, limits[i].times, limits[i].tail, &err) !=
              ARRAS_OK);
        CHECK_HAS(err.text, limits[i].message);
    }
}

static void large_texts_are_read(void)
{
    arras_error err;

    CHECK_EQ_INT(read_pieces(HEAD "%0 = stack(x", ", x", 10000, ", axis=0)\noutput y = %0", &err),
                 ARRAS_OK);
    CHECK_EQ_INT(
        read_pieces(HEAD "%0 = data i8[100001] { 1", ", 1", 100000, " }\noutput y = %0", &err),
        ARRAS_OK);
    CHECK_EQ_INT(read_pieces(HEAD "%0 = const real 0.", "3", 900, "\noutput y = %0", &err),
                 ARRAS_OK);
    CHECK_EQ_INT(read_pieces("arras 1", "\n", 100000, "input x : f64\noutput y = x", &err),
                 ARRAS_OK);
}

TEST_MAIN
{
    RUN(mistakes_are_told_where_they_are);
    RUN(codes_are_the_builders_own);
    RUN(texts_need_no_nul);
    RUN(cut_texts_do_no_harm);
    RUN(wrong_bytes_do_no_harm);
    RUN(limits_are_errors);
    RUN(large_texts_are_read);
}
