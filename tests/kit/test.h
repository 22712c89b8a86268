/* test.h -- a tiny harness for tests in C.
 *
 *     static void adds(void) { CHECK_EQ_INT(1 + 1, 2); }
 *
 *     TEST_MAIN
 *     {
 *         RUN(adds);
 *     }
 *
 * RUN makes a case of a function.  A loop over a table says CASE("row %d", i) first and so makes a
 * case of each row.  A check that fails is printed and the case goes on; its value is whether it
 * held: if (!CHECK(x)) return;  A case that checks nothing fails.
 *
 * Tests run in the locale of the environment, whatever that is: locales.py chooses odd ones. */
#ifndef TEST_H
#define TEST_H

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct {
    const char *function; /* NULL between cases */
    char        row[160];
    int         checks, failures; /* of this case */
    int         passed, failed;   /* cases that are over */
} test;

#define RUN(function) test_run(#function, function)
#define CASE(...) test_row(__VA_ARGS__)

#define CHECK(condition) test_check((condition), __FILE__, __LINE__, #condition)
#define CHECK_EQ_INT(got, want) test_equal_int((got), (want), __FILE__, __LINE__, #got " == " #want)
/* The same number, or both nan; -0 and 0 differ. */
#define CHECK_EQ_REAL(got, want)                                                                   \
    test_equal_real((got), (want), __FILE__, __LINE__, #got " == " #want)
#define CHECK_STR(got, want) test_string((got), (want), __FILE__, __LINE__, #got " == " #want)
/* `part` stands somewhere in `text`. */
#define CHECK_HAS(text, part) test_has((text), (part), __FILE__, __LINE__, #text " has " #part)

#define TEST_MAIN                                                                                  \
    static void test_cases(void);                                                                  \
    int main(void)                                                                                 \
    {                                                                                              \
        setlocale(LC_ALL, "");                                                                     \
        test_cases();                                                                              \
        return test_end();                                                                         \
    }                                                                                              \
    static void test_cases(void)

/* ---- What the macros call -------------------------------------------------------------------- */

static inline bool test_check(bool holds, const char *file, int line, const char *text)
{
    test.checks++;
    if (holds)
        return true;
    test.failures++;
    printf("%s:%d: %s%s%s: failed: %s\n", file, line, test.function ? test.function : "no case",
           *test.row ? ", " : "", test.row, text);
    fflush(stdout);
    return false;
}

static inline bool test_equal_int(int64_t got, int64_t want, const char *file, int line,
                                  const char *text)
{
    if (test_check(got == want, file, line, text))
        return true;
    printf("    got  %" PRId64 "\n    want %" PRId64 "\n", got, want);
    return false;
}

static inline bool test_equal_real(double got, double want, const char *file, int line,
                                   const char *text)
{
    bool same = isnan(got) || isnan(want) ? isnan(got) && isnan(want)
                                          : got == want && !signbit(got) == !signbit(want);

    if (test_check(same, file, line, text))
        return true;
    printf("    got  %.17g\n    want %.17g\n", got, want);
    return false;
}

static inline bool test_string(const char *got, const char *want, const char *file, int line,
                               const char *text)
{
    bool same = got && want ? strcmp(got, want) == 0 : got == want;

    if (test_check(same, file, line, text))
        return true;
    printf("    got  %s\n    want %s\n", got ? got : "NULL", want ? want : "NULL");
    return false;
}

static inline bool test_has(const char *whole, const char *part, const char *file, int line,
                            const char *text)
{
    if (test_check(whole && strstr(whole, part), file, line, text))
        return true;
    printf("    text %s\n    part %s\n", whole ? whole : "NULL", part);
    return false;
}

static inline void test_close(void)
{
    if (test.function && test.checks == 0)
        test_check(false, __FILE__, __LINE__, "a case checks something");
    if (test.checks > 0) /* those outside of cases count, too */
        *(test.failures ? &test.failed : &test.passed) += 1;
    test.checks = test.failures = 0;
    test.row[0] = '\0';
}

static inline void test_run(const char *name, void (*function)(void))
{
    test.function = name;
    printf("%s\n", name); /* says where, should the case not come back */
    fflush(stdout);
    function();
    test_close();
    test.function = NULL;
}

__attribute__((format(printf, 1, 2))) static inline void test_row(const char *format, ...)
{
    va_list args;

    if (test.checks > 0)
        test_close();
    va_start(args, format);
    vsnprintf(test.row, sizeof test.row, format, args);
    va_end(args);
}

static inline int test_end(void)
{
    test_close();
    printf("%d passed, %d failed\n", test.passed, test.failed);
    fflush(stdout);
    return test.failed > 0 || test.passed == 0;
}

#endif
