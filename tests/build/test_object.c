/* test_object.c -- objects that are loaded without a linker: all they may refer to, what they must
 * not, files that are broken in any place. */
#include "build_kit.h"

#include <pthread.h>

static const ar_build_options unlinked = { .unlinked = true, .no_cache = true };

static int64_t compiles_of(const char *source, int answer)
{
    ar_build_stats before = stats_now();

    CHECK_EQ_INT(answer_once(&unlinked, source), answer);
    return stats_now().compiles - before.compiles;
}

/* ---- What they refer to ---------------------------------------------------------------------- */

static void code_and_data_find_each_other(void)
{
    CHECK_EQ_INT(compiles_of(simple, 42), 1);
    CHECK_EQ_INT(compiles_of("static const double table[] = { 1.5, 40.5 };\n"
                             "int answer(void) { volatile int one = 1;\n"
                             "return (int)(table[0] + table[one]); }",
                             42),
                 1);
    CHECK_EQ_INT(compiles_of("int first(void) { return 1; } int second(void) { return 41; }\n"
                             "static int (*const both[])(void) = { first, second };\n"
                             "int answer(void) { volatile int one = 1;\n"
                             "return both[0]() + both[one](); }",
                             42),
                 1);
    CHECK_EQ_INT(compiles_of("int count = 40, zeros[10000];\n"
                             "int answer(void) { zeros[9999] += 2; return count += zeros[9999]; }",
                             42),
                 1);
}

static void functions_of_libraries_are_found(void)
{
    CHECK_EQ_INT(compiles_of("double exp2(double);\n"
                             "int answer(void) { volatile double x = 5; return (int)exp2(x); }",
                             32),
                 1);
    CHECK_EQ_INT(compiles_of("int answer(void) { volatile __int128 a = 85, b = 2;\n"
                             "return (int)(a / b); }",
                             42),
                 1);
    CHECK_EQ_INT(compiles_of("double floor(double);\nint answer(void) {\n"
                             "double (*volatile f)(double) = floor; return (int)f(42.5); }",
                             42),
                 1);
#if defined(__x86_64__) && defined(__GLIBC__)
    CHECK_EQ_INT(compiles_of("typedef double v2 __attribute__((vector_size(16)));\n"
                             "v2 _ZGVbN2v_exp(v2);\n"
                             "int answer(void) { return (int)_ZGVbN2v_exp((v2){ 0, 0 })[1]; }",
                             1),
                 1);
#endif
}

static void only_what_is_for_others_has_a_name(void)
{
    ar_module *module = open_source(&unlinked, "static int hidden(void) { return 42; }\n"
                                               "int answer(void) { return hidden(); }");

    CHECK_EQ_INT(answer_of(module), 42);
    CHECK(!ar_module_symbol(module, "hidden"));
    CHECK(!ar_module_symbol(module, "question"));
    CHECK(!ar_module_symbol(module, ""));
    ar_module_close(module);
}

/* ---- What is linked after all ---------------------------------------------------------------- */

#if defined __x86_64__ && defined __linux__
static const char                 threads_own[] = "static __thread int mine = 1;\n"
                                                  "int answer(void) { return mine++ ? 42 : 0; }";

static void what_is_not_known_is_linked(void)
{
    CHECK_EQ_INT(compiles_of(threads_own, 42), 2);
    CHECK_EQ_INT(compiles_of(simple, 42), 1);
}

static void *open_it(void *module)
{
    *(ar_module **)module = open_source(&unlinked, threads_own);
    return NULL;
}

static void threads_that_wait_are_linked_too(void)
{
    pthread_t  threads[4];
    ar_module *modules[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, open_it, &modules[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ_INT(answer_of(modules[i]), 42);
        ar_module_close(modules[i]);
    }
}
#endif

static void a_function_that_is_nowhere_is_named(void)
{
    ar_build_stats before = stats_now();

    CHECK(!open_source(&unlinked, "int nowhere(void); int answer(void) { return nowhere(); }"));
    CHECK_HAS(error.text, "nowhere");
    CHECK_EQ_INT(stats_now().failures - before.failures, 1);
}

static void linked_and_not_are_two_in_the_cache(void)
{
    ar_build_options options = { .unlinked = true };
    ar_build_stats   before = stats_now();

    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK_EQ_INT(answer_once(NULL, simple), 42);
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK_EQ_INT(answer_once(NULL, simple), 42);
    CHECK_EQ_INT(stats_now().disk_hits - before.disk_hits, 2);
    CHECK_EQ_INT(stats_now().compiles - before.compiles, ar_object_is_possible() ? 2 : 1);
}

/* ---- Broken files ---------------------------------------------------------------------------- */

static void compile_to(ar_text *object)
{
    static const char source[] = "double sin(double); static const double t[3] = { 1, 2, 3 };\n"
                                 "int more = 5; int (*where)(void); int answer(void);\n"
                                 "int answer(void) { volatile int i = 1; where = answer;\n"
                                 "return (int)(t[i] + sin(0) * more) + 40; }";
    ar_compiler       compiler;

    CHECK_EQ_INT(ar_compiler_find(&compiler, NULL, &error), ARRAS_OK);
    CHECK_EQ_INT(ar_compiler_run(object, &compiler, &unlinked, source, sizeof source - 1, &error),
                 ARRAS_OK);
}

static bool loads(const char *bytes, size_t length)
{
    ar_object *object = ar_object_load(bytes, length);

    ar_object_free(object);
    return object != NULL;
}

static void a_part_of_a_file_is_refused(void)
{
    ar_text object = { 0 };

    compile_to(&object);
    CHECK_EQ_INT(loads(object.data, object.length), ar_object_is_possible());
    for (size_t length = 0; length < object.length; length++)
        CHECK(!loads(object.data, length)); /* the table of sections is at the end */
    ar_text_free(&object);
}

/* Nothing of what is loaded is run: whether it loads is not known, but that nothing outside of the
 * file is read or written is what sanitizers see. */
static void wrong_bytes_do_no_harm(void)
{
    static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
    ar_text                    object = { 0 };
    int                        refused = 0;

    compile_to(&object);
    for (size_t at = 0; at < object.length; at++)
        for (size_t v = 0; v < AR_COUNT(values); v++) {
            char kept = object.data[at];

            object.data[at] = (char)values[v];
            refused += !loads(object.data, object.length);
            object.data[at] = kept;
        }
    CHECK(refused > 100);
    CHECK_EQ_INT(loads(object.data, object.length), ar_object_is_possible());
    ar_text_free(&object);
}

static void failing_allocations_leave_nothing_behind(void)
{
    ar_text object = { 0 };
    int64_t before;

    compile_to(&object);
    before = ar_alloc_live();
    for (int n = 1; n < 20; n++) {
        ar_alloc_fail_from(n);
        loads(object.data, object.length);
        ar_alloc_fail_from(0);
        CHECK_EQ_INT(ar_alloc_live(), before);
    }
    CHECK_EQ_INT(loads(object.data, object.length), ar_object_is_possible());
    ar_text_free(&object);
}

/* ---- All ------------------------------------------------------------------------------------- */

TEST_MAIN
{
    set_up();
    RUN(code_and_data_find_each_other);
    RUN(functions_of_libraries_are_found);
    RUN(only_what_is_for_others_has_a_name);
#if defined __x86_64__ && defined __linux__
    RUN(what_is_not_known_is_linked);
    RUN(threads_that_wait_are_linked_too);
#endif
    RUN(a_function_that_is_nowhere_is_named);
    RUN(linked_and_not_are_two_in_the_cache);
    RUN(a_part_of_a_file_is_refused);
    RUN(wrong_bytes_do_no_harm);
    RUN(failing_allocations_leave_nothing_behind);
    RUN(leaves_no_temporary_files);
    remove_tree(root);
}
