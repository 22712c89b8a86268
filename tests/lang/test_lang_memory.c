/* test_lang_memory.c -- running out of memory is an error like any other: whichever allocation
 * fails, a message comes out, nothing leaks, and the program is as it was. */
#include "failing_malloc.h"
#include "lang_kit.h"

static const char program[] =
    "param n = 2\n"
    "let m = mean(x); let w = [1, 2, 1]\n"
    "def f(x, y) = x*x + y\n"
    "edge x = [reflect]\n"
    "s[i] = (sum[k] w[k]*x[i+k-1])/4 + f(x[i], n)\n"
    "t = f(x, 2) + reshape(zeros([size(x), n//4]), -1) + where(x > m, x, 0)\n"
    "r = max[i:3, j:i] x[j] + (argmin[i:3, j:i] x[j]) - count[i:2, j:3] 1\n"
    "o[r:3] = (std[i:3, j:r:i] x[j]) + mean[p:i64(x[r]), q:2] 1\n"
    "u = x[1:n, newaxis]; v = einsum(\"i,j->ij\", x, x)[argmax(x)]\n";

static bool lower(lang_program *p, lang_error *err)
{
    static const int64_t length = 5;
    lang_input           input = { "x", ARRAS_F64, 1, &length };
    lang_setting         setting = { "n", "4" };
    lang_world           w = { 1, &input, 1, &setting, 0, NULL };
    arras_graph         *g = NULL;
    bool                 done;

    done =
        lang_program_add(p, "program", program, strlen(program), err) && lang_lower(&g, p, &w, err);
    arras_graph_free(g);
    return done;
}

static void each_allocation(void)
{
    bool done = false;

    for (int64_t n = 0; !done && n < 100000; n++) {
        lang_program *p;
        lang_error    err = { "" };

        until_failure = n;
        p = lang_program_new();
        done = p && lower(p, &err);
        until_failure = -1;
        /* Only tables for speed may do without memory. */
        if (p && !done)
            CHECK_HAS(err.text, "memory");
        lang_program_free(p);
    }
    CHECK(done);
}

static void each_allocation_of_a_constant(void)
{
    static const char text[] = "f32([[1, 2], [3, 4*2]])";
    bool              done = false;

    for (int64_t n = 0; !done && n < 100000; n++) {
        arras_dtype dtype;
        int         rank;
        int64_t     shape[ARRAS_MAX_RANK];
        void       *data = NULL;
        lang_error  err = { "" };

        until_failure = n;
        done = lang_constant(&data, &dtype, &rank, shape, "text", text, strlen(text), &err);
        until_failure = -1;
        if (!done)
            CHECK_HAS(err.text, "memory");
        free(data);
    }
    CHECK(done);
}

TEST_MAIN
{
    RUN(each_allocation);
    RUN(each_allocation_of_a_constant);
}
