/* test_launch_trouble.c -- compiling and launching when there is no memory, no compiler, no cache.
 */
#include "launch_kit.h"

#include <sys/stat.h>
#include <unistd.h>

/* ---- A program that uses all there is -------------------------------------------------------- */

static const int64_t three[] = { 3 }, two[] = { 2 }, every_other[] = { 2 * sizeof(double) };
static double        x[6], y[6];
static char          z[3 * sizeof(double)]; /* its cells start at the second byte */
static int64_t       indices[2] = { 2, 0 };

static const arras_binding bindings[] = {
    { "x", { x, ARRAS_F64, 1, three, every_other } },
    { "i", { indices, ARRAS_I64, 1, two, NULL } },
    { "y", { y, ARRAS_F64, 1, three, every_other } },
    { "z", { z + 1, ARRAS_F64, 1, two, NULL } },
};

/* A constant, a temporary, a read that might be outside, a copy. */
static void record(void)
{
    double      cells[4] = { 1, 4, 9, 16 };
    arras_array a = input("x", arras_size(g, "n")), i, sum;

    i = arras_placeholder(g, "i", ARRAS_I64, 1, (arras_dim[]){ 2 });
    sum = arras_copy(g, ARRAS_F64, 1, (int64_t[]){ 4 }, NULL, cells);
    sum = arras_sum(arras_sqrt(sum), 0, NULL, true);
    arras_output(g, "y", arras_add(arras_subtract(a, arras_mean(a, 0, NULL, true)), sum));
    arras_output(g, "z", arras_index(a, 1, (arras_item[]){ arras_gather(i) }));
    arras_output(g, "same", a);
}

static void check_values(const arras_results *r)
{
    double z0, z1;

    memcpy(&z0, z + 1, sizeof z0);
    memcpy(&z1, z + 1 + sizeof z0, sizeof z1);
    CHECK(y[0] == 8 && y[2] == 10 && y[4] == 12);
    CHECK(z0 == 5 && z1 == 1);
    CHECK(same_cells(result(r, "same"), (double[]){ 1, 3, 5 }, 3));
}

static arras_status launch_once(arras_program *p)
{
    arras_results *r = NULL;
    arras_status   status;

    for (int i = 0; i < 6; i++) {
        x[i] = 1 + i;
        y[i] = 0;
    }
    memset(z, 0, sizeof z);
    status = arras_launch(&r, p, (int)AR_COUNT(bindings), bindings, &err);
    if (status == ARRAS_OK)
        check_values(r);
    else
        CHECK(r == NULL);
    arras_results_free(r);
    return status;
}

static arras_status compile_and_launch(void)
{
    arras_program *p = NULL;
    arras_status   status = arras_compile(&p, g, &(arras_options){ .threads = 2 }, &err);

    CHECK((p != NULL) == (status == ARRAS_OK));
    if (status == ARRAS_OK)
        status = launch_once(p);
    arras_program_free(p);
    return status;
}

/* ---- No memory ------------------------------------------------------------------------------- */

static int64_t allocations_of(arras_status (*function)(void))
{
    int64_t made = ar_alloc_made();

    CHECK_EQ_INT(function(), ARRAS_OK);
    return ar_alloc_made() - made;
}

/* The n-th allocation and all after it fail, for every n: an error, and nothing is left behind. */
static void no_memory_at_all(void)
{
    int64_t allocations, failed = 0;

    start();
    record();
    compile_and_launch(); /* so that kernels are on disk, and threads are there */
    ar_core_cache_clear();
    allocations = allocations_of(compile_and_launch);
    for (int64_t n = 1; n <= allocations + 5; n++) {
        int64_t      live;
        arras_status status;

        ar_core_cache_clear();
        ar_buffers_clear();
        live = ar_alloc_live();
        ar_alloc_fail_from(n);
        status = compile_and_launch();
        ar_alloc_fail_from(0);
        if (!CHECK(status == ARRAS_OK || status == ARRAS_ENOMEM))
            printf("    allocation %d: %s\n", (int)n, err.text);
        failed += status != ARRAS_OK;
        ar_core_cache_clear();
        ar_buffers_clear();
        if (!CHECK_EQ_INT(ar_alloc_live(), live))
            printf("    allocation %d of %d\n", (int)n, (int)allocations);
    }
    CHECK(failed > 20);
    finish(NULL);
}

/* A launch that failed so does not spoil the next. */
static void no_memory_for_a_launch(void)
{
    int64_t failed = 0;

    start();
    record();
    for (int64_t n = 1; n < 400; n++) {
        arras_program *p = compiled(&(arras_options){ .threads = 2 });
        arras_status   status;

        ar_buffers_clear();
        ar_alloc_fail_from(n);
        status = launch_once(p);
        ar_alloc_fail_from(0);
        CHECK(status == ARRAS_OK || status == ARRAS_ENOMEM);
        CHECK_EQ_INT(launch_once(p), ARRAS_OK);
        CHECK_EQ_INT(launch_once(p), ARRAS_OK);
        arras_program_free(p);
        failed += status != ARRAS_OK;
        if (status == ARRAS_OK && n > failed + 20)
            break;
    }
    CHECK(failed > 10);
    finish(NULL);
}

/* ---- No compiler ----------------------------------------------------------------------------- */

static void no_compiler(void)
{
    arras_options  options = { .compiler = "/nonexistent", .no_cache = true };
    arras_program *p = NULL;

    start();
    record();
    CHECK_EQ_INT(arras_compile(&p, g, &options, &err), ARRAS_OK);
    CHECK_HAS(arras_program_warning(p), "/nonexistent");
    CHECK_EQ_INT(launch_once(p), ARRAS_OK);
    indices[0] = 3;
    CHECK_EQ_INT(launch_once(p), ARRAS_EINDEX);
    indices[0] = 2;
    CHECK_EQ_INT(launch_once(p), ARRAS_OK);
    CHECK_EQ_INT(counters(p).launches, 3);
    CHECK_EQ_INT(counters(p).kernels, 0);
    finish(p);
}

static void compiler_that_fails(void)
{
    arras_options  options = { .compiler = "/bin/false", .no_cache = true };
    arras_program *p = NULL;

    start();
    record();
    CHECK_EQ_INT(arras_compile(&p, g, &options, &err), ARRAS_OK);
    CHECK_HAS(arras_program_warning(p), "/bin/false");
    CHECK_EQ_INT(launch_once(p), ARRAS_OK);
    finish(p);
}

/* ---- Caches ---------------------------------------------------------------------------------- */

static void from_memory_and_from_disk(void)
{
    char           folder[] = "/tmp/arras-test-XXXXXX";
    arras_options  options = { .cache = mkdtemp(folder) };
    arras_program *p, *q;
    char           command[100];

    start();
    record();
    p = compiled(&options);
    CHECK(!counters(p).from_memory && !counters(p).from_disk && counters(p).build_ns > 0);
    q = compiled(&options);
    CHECK(counters(q).from_memory);
    CHECK_EQ_INT(launch_once(q), ARRAS_OK);
    arras_program_free(q);
    arras_program_free(p);
    ar_core_cache_clear();
    p = compiled(&options);
    CHECK(!counters(p).from_memory && counters(p).from_disk);
    CHECK_EQ_INT(launch_once(p), ARRAS_OK);
    arras_program_free(p);
    options.no_cache = true;
    p = compiled(&options);
    CHECK(!counters(p).from_memory && !counters(p).from_disk);
    CHECK_EQ_INT(launch_once(p), ARRAS_OK);
    finish(p);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK_EQ_INT(system(command), 0);
}

/* Others could put code of theirs there. */
static void cache_of_others(void)
{
    char           folder[] = "/tmp/arras-test-XXXXXX";
    arras_options  options = { .cache = mkdtemp(folder) };
    arras_program *p;

    start();
    record();
    chmod(folder, 0777);
    CHECK_EQ_INT(arras_cache_check(&options, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, folder);
    p = compiled(&options);
    CHECK(!counters(p).from_disk && !arras_program_warning(p));
    CHECK_EQ_INT(launch_once(p), ARRAS_OK);
    finish(p);
    CHECK_EQ_INT(rmdir(folder), 0); /* nothing was put there */
}

/* Kernels for arrays in C order are on disk; those for other layouts can't be built any more. */
static void compiler_that_went(void)
{
    char           folder[] = "/tmp/arras-test-XXXXXX", compiler[40], command[100];
    arras_options  options = { .cache = mkdtemp(folder), .compiler = compiler };
    arras_program *p;

    snprintf(compiler, sizeof compiler, "%s/cc", folder);
    CHECK_EQ_INT(symlink("/usr/bin/cc", compiler), 0);
    start();
    record();
    p = compiled(&options);
    unlink(compiler);
    CHECK_EQ_INT(launch_once(p), ARRAS_OK);
    CHECK_EQ_INT(launch_once(p), ARRAS_OK);
    finish(p);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK_EQ_INT(system(command), 0);
}

/* Each of these inputs in C order or not: more layouts than kernels are made for. */
static void many_layouts(void)
{
    enum { INPUTS = 5 };
    static const char *const names[INPUTS] = { "a", "b", "c", "d", "e" };
    double                   cells[INPUTS][4], out[2];
    arras_array              sum;
    arras_program           *p;

    start();
    sum = input(names[0], 2);
    for (int i = 1; i < INPUTS; i++)
        sum = arras_add(arras_multiply(sum, arras_int(g, 10)), input(names[i], 2));
    arras_output(g, "y", sum);
    p = compiled(NULL);
    for (int i = 0; i < INPUTS; i++)
        count_up(cells[i], 4, i);
    for (int layouts = 0; layouts < 1 << INPUTS; layouts++) {
        arras_binding in[INPUTS + 1] = { [INPUTS] = VEC("y", out, 2) };
        double        want = 0;

        for (int i = 0; i < INPUTS; i++) {
            bool strided = layouts >> i & 1;

            in[i] =
                (arras_binding){ names[i],
                                 { cells[i], ARRAS_F64, 1, two, strided ? every_other : NULL } };
            want = want * 10 + cells[i][strided ? 2 : 1];
        }
        launched(NULL, p, INPUTS + 1, in);
        CHECK_EQ_REAL(out[0], 1234);
        CHECK_EQ_REAL(out[1], want);
    }
    finish(p);
}

/* Cells of data are not part of what a program is known by: each keeps its own. */
static void same_program_other_data(void)
{
    arras_program *programs[3];

    start();
    for (int i = 0; i < 3; i++) {
        double      cells[3] = { i, 2 * i, 3 };
        arras_array data;

        arras_graph_free(g);
        arras_graph_new(&g, NULL);
        data = arras_copy(g, ARRAS_F64, 1, three, NULL, cells);
        arras_output(g, "y", arras_add(arras_sum(data, 0, NULL, true), input("x", 3)));
        arras_output(g, "d", data);
        programs[i] = compiled(NULL);
        CHECK(counters(programs[i]).from_memory == (i > 0));
    }
    for (int i = 0; i < 3; i++) {
        double         ones[3] = { 1, 1, 1 };
        arras_results *r = NULL;

        launched(&r, programs[i], BINDINGS(VEC("x", ones, 3)));
        CHECK_EQ_REAL(result(r, "y")[2], 3 * i + 4);
        CHECK_EQ_REAL(result(r, "d")[1], 2 * i);
        arras_results_free(r);
    }
    arras_program_free(programs[1]);
    arras_program_free(programs[2]);
    finish(programs[0]);
}

/* Keys of one hash: what is found is what was asked for. */
static uint64_t everything_is_seven(uint64_t seed, const void *bytes, size_t length)
{
    (void)seed, (void)bytes, (void)length;
    return 7;
}

static void keys_that_collide(void)
{
    arras_program *programs[5];

    start();
    ar_core_cache_hash(everything_is_seven);
    for (int i = 0; i < 5; i++) {
        arras_graph_free(g);
        arras_graph_new(&g, NULL);
        arras_output(g, "y", arras_multiply(input("x", 1), arras_int(g, i % 4)));
        programs[i] = compiled(NULL);
        CHECK(counters(programs[i]).from_memory == (i == 4));
    }
    for (int i = 0; i < 5; i++) {
        double one = 5, out;

        launched(NULL, programs[i], BINDINGS(VEC("x", &one, 1), VEC("y", &out, 1)));
        CHECK_EQ_REAL(out, 5 * (i % 4));
        if (i > 0)
            arras_program_free(programs[i]);
    }
    ar_core_cache_clear();
    ar_core_cache_hash(NULL);
    finish(programs[0]);
}

/* More programs than are kept. */
static void many_programs(void)
{
    start();
    for (int i = 0; i < 150; i++) {
        double         one = 5, out;
        arras_program *p;

        arras_graph_free(g);
        arras_graph_new(&g, NULL);
        arras_output(g, "y",
                     arras_add(input("x", 1),
                               arras_copy(g, ARRAS_F64, 0, NULL, NULL, (double[]){ i % 100 })));
        for (int k = 0; k < i % 75; k++)
            input((char[]){ 'a', (char)('a' + k / 25), (char)('a' + k % 25), 0 }, 1);
        p = compiled(NULL);
        launched(NULL, p, BINDINGS(VEC("x", &one, 1), VEC("y", &out, 1)));
        CHECK_EQ_REAL(out, 5 + i % 100);
        arras_program_free(p);
    }
    finish(NULL);
}

TEST_MAIN
{
    RUN(no_memory_at_all);
    RUN(no_memory_for_a_launch);
    RUN(no_compiler);
    RUN(compiler_that_fails);
    RUN(from_memory_and_from_disk);
    RUN(cache_of_others);
    RUN(compiler_that_went);
    RUN(many_layouts);
    RUN(same_program_other_data);
    RUN(keys_that_collide);
    RUN(many_programs);
}
