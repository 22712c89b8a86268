/* test_launch_threads.c -- launches at the same time, from several threads and in two steps.  Also
 * run under ThreadSanitizer, which sees all but the kernels. */
#include "launch_kit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 6, ROUNDS = 40, LENGTH = 3000 };

/* x - mean(x) + data: a temporary, a constant that is computed once, two kernels. */
static void record(void)
{
    double      weights[4] = { 1, 2, 3, 4 };
    arras_array x = input("x", arras_size(g, "n"));
    arras_array data = arras_copy(g, ARRAS_F64, 1, (int64_t[]){ 4 }, NULL, weights);
    arras_array sum = arras_sum(arras_exp(arras_multiply(data, arras_int(g, 0))), 0, NULL, true);

    arras_output(g, "y", arras_add(arras_subtract(x, arras_mean(x, 0, NULL, true)), sum));
}

static bool is_centred(const double *y, const double *x, int64_t step, int64_t n)
{
    double mean = 0;

    for (int64_t i = 0; i < n; i++)
        mean += x[i * step];
    mean /= (double)n;
    for (int64_t i = 0; i < n; i++)
        if (fabs(y[i] - (x[i * step] - mean + 4)) > 1e-9)
            return false;
    return true;
}

/* ---- Many threads ---------------------------------------------------------------------------- */

typedef struct {
    arras_program *p;
    int            number;
    int            wrong;
} job;

/* Its own arrays; other sizes and layouts again and again, so that instances and kernels are made
 * while others run. */
static void *launch_often(void *context)
{
    job    *j = context;
    double *x = calloc(2 * LENGTH, sizeof *x), *y = calloc(LENGTH, sizeof *y);

    for (int round = 0; round < ROUNDS; round++) {
        int64_t        n = 1 + (round % 3) * (LENGTH - 1) / 2, step = 1 + (round + j->number) % 2;
        arras_results *r = NULL;
        arras_binding  in = STRIDED("x", x, n, step);

        for (int i = 0; i < 2 * LENGTH; i++)
            x[i] = (i * 7 + j->number + round) % 100;
        if (round % 5 == 0) {
            j->wrong += arras_launch(&r, j->p, BINDINGS(in), NULL) != ARRAS_OK ||
                        !is_centred(result(r, "y"), x, step, n);
            arras_results_free(r);
        } else {
            j->wrong += arras_launch(NULL, j->p, BINDINGS(in, VEC("y", y, n)), NULL) != ARRAS_OK ||
                        !is_centred(y, x, step, n);
        }
    }
    free(x);
    free(y);
    return NULL;
}

static int run_threads(arras_program *const *programs, void *(*function)(void *))
{
    pthread_t threads[THREADS];
    job       jobs[THREADS];
    int       wrong = 0;

    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job){ programs[i], i, 0 };
        pthread_create(&threads[i], NULL, function, &jobs[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        wrong += jobs[i].wrong;
    }
    return wrong;
}

static void one_program(void)
{
    arras_program *programs[THREADS];

    start();
    record();
    programs[0] = compiled(&(arras_options){ .threads = 2, .tile_bytes = 4096 });
    for (int i = 1; i < THREADS; i++)
        programs[i] = programs[0];
    CHECK_EQ_INT(run_threads(programs, launch_often), 0);
    CHECK_EQ_INT(counters(programs[0]).launches, THREADS * ROUNDS);
    finish(programs[0]);
}

static void several_programs(void)
{
    arras_program *programs[THREADS];

    start();
    record();
    for (int i = 0; i < THREADS; i++)
        programs[i] = compiled(&(arras_options){ .threads = 1 + i % 3, .tile_bytes = 4096 });
    CHECK_EQ_INT(run_threads(programs, launch_often), 0);
    for (int i = 1; i < THREADS; i++)
        arras_program_free(programs[i]);
    finish(programs[0]);
}

/* The same text from all threads: one is compiled, or several, and each works. */
static void *compile_and_launch(void *context)
{
    job           *j = context;
    double         x[3] = { 1, 2, j->number }, y[3];
    arras_graph   *graph = NULL;
    arras_program *p = NULL;
    arras_dim      n = 3;

    for (int round = 0; round < 5; round++) {
        arras_array a;

        arras_graph_new(&graph, NULL);
        a = arras_placeholder(graph, "x", ARRAS_F64, 1, &n);
        arras_output(graph, "y", arras_add(a, arras_int(graph, round % 2)));
        j->wrong += arras_compile(&p, graph, NULL, NULL) != ARRAS_OK;
        arras_graph_free(graph);
        j->wrong +=
            arras_launch(NULL, p, BINDINGS(VEC("x", x, 3), VEC("y", y, 3)), NULL) != ARRAS_OK;
        j->wrong += y[2] != j->number + round % 2;
        arras_program_free(p);
    }
    return NULL;
}

static void compiling_at_once(void)
{
    arras_program *none[THREADS] = { NULL };

    start();
    CHECK_EQ_INT(run_threads(none, compile_and_launch), 0);
    finish(NULL);
}

/* Looking at a program that runs. */
static void *look_often(void *context)
{
    job *j = context;

    if (j->number > 0)
        return launch_often(context);
    for (int i = 0; i < ROUNDS; i++) {
        char *text = NULL;

        counters(j->p);
        arras_program_trace(j->p, i % 2, NULL);
        if (arras_program_print(&text, NULL, j->p, (arras_program_text)(i % ARRAS_PROGRAM_TEXT_END),
                                NULL) == ARRAS_OK)
            arras_text_free(text);
    }
    return NULL;
}

static void looking_meanwhile(void)
{
    arras_program *programs[THREADS];

    start();
    record();
    programs[0] = compiled(&(arras_options){ .threads = 2 });
    for (int i = 1; i < THREADS; i++)
        programs[i] = programs[0];
    CHECK_EQ_INT(run_threads(programs, look_often), 0);
    finish(programs[0]);
}

/* ---- In two steps ---------------------------------------------------------------------------- */

static void started_and_waited_for(const arras_options *options)
{
    static double  x[4][LENGTH], y[4][LENGTH];
    arras_run     *runs[4];
    arras_results *r = NULL;
    arras_program *p;

    start();
    record();
    p = compiled(options);
    for (int round = 0; round < 10; round++) {
        for (int k = 0; k < 4; k++) {
            count_up(x[k], LENGTH, k + round);
            runs[k] = NULL;
            CHECK_EQ_INT(
                arras_launch_start(&runs[k], p,
                                   BINDINGS(VEC("x", x[k], LENGTH), VEC("y", y[k], LENGTH)), &err),
                ARRAS_OK);
        }
        for (int k = 3; k >= 0; k--) {
            CHECK_EQ_INT(arras_launch_wait(&r, runs[k], &err), ARRAS_OK);
            CHECK_EQ_INT(arras_results_count(r), 0);
            arras_results_free(r);
            r = NULL;
            CHECK(is_centred(y[k], x[k], 1, LENGTH));
        }
    }
    CHECK_EQ_INT(counters(p).launches, 40);
    CHECK_EQ_INT(arras_launch_start(&runs[0], p, BINDINGS(VEC("x", x[0], LENGTH)), &err), ARRAS_OK);
    CHECK_EQ_INT(arras_launch_wait(&r, runs[0], &err), ARRAS_OK);
    CHECK(is_centred(result(r, "y"), x[0], 1, LENGTH));
    arras_results_free(r);
    CHECK_EQ_INT(arras_launch_start(&runs[0], p, BINDINGS(VEC("x", x[0], LENGTH)), &err), ARRAS_OK);
    CHECK_EQ_INT(arras_launch_wait(NULL, runs[0], &err), ARRAS_OK); /* results go */
    CHECK_EQ_INT(arras_launch_start(&runs[0], p, BINDINGS(VEC("y", y[0], LENGTH)), &err),
                 ARRAS_ENAME);
    finish(p);
}

static void in_two_steps(void)
{
    started_and_waited_for(NULL);
    started_and_waited_for(&(arras_options){ .threads = 1 });
    started_and_waited_for(&(arras_options){ .threads = 3, .tile_bytes = 1000 });
}

/* Sooner or later: the run is over as a whole, or cancelled; the program goes on either way. */
static void cancelled(void)
{
    static double  x[200 * LENGTH], y[200 * LENGTH];
    int            done = 0, cut = 0;
    arras_program *p;

    start();
    arras_output(g, "y", arras_exp(arras_sin(arras_sqrt(input("x", 200 * LENGTH)))));
    p = compiled(&(arras_options){ .threads = 2, .tile_bytes = 8192 });
    for (int round = 0; round < 20; round++) {
        arras_run   *run = NULL;
        arras_status status;

        arras_launch_start(&run, p, BINDINGS(VEC("x", x, 200 * LENGTH), VEC("y", y, 200 * LENGTH)),
                           &err);
        for (volatile int i = 0; i < round * 10000; i++)
            ;
        arras_launch_cancel(run);
        status = arras_launch_wait(NULL, run, &err);
        done += status == ARRAS_OK;
        cut += status == ARRAS_ECANCEL;
    }
    CHECK_EQ_INT(done + cut, 20);
    CHECK(cut > 0);
    launched(NULL, p, BINDINGS(VEC("x", x, 200 * LENGTH), VEC("y", y, 200 * LENGTH)));
    CHECK(y[0] == 1 && y[200 * LENGTH - 1] == 1);
    finish(p);
}

/* It never goes back, and ends at 1: every part was begun, in the second run too. */
static void watched(void)
{
    static double  x[200 * LENGTH], y[200 * LENGTH];
    arras_program *p;

    start();
    arras_output(g, "y", arras_exp(arras_sin(arras_sqrt(input("x", 200 * LENGTH)))));
    p = compiled(&(arras_options){ .threads = 2, .tile_bytes = 8192 });
    for (int round = 0; round < 2; round++) {
        arras_run *run = NULL;
        double     before = 0, now = 0;

        arras_launch_start(&run, p, BINDINGS(VEC("x", x, 200 * LENGTH), VEC("y", y, 200 * LENGTH)),
                           &err);
        for (bool forward = true; now < 1 && forward; before = now) {
            now = arras_launch_progress(run);
            forward = now >= before && now <= 1;
            CHECK(forward);
            sched_yield();
        }
        CHECK_EQ_INT(arras_launch_wait(NULL, run, &err), ARRAS_OK);
    }
    finish(p);
}

/* A program waits for what was started before it goes; results that nobody waited for go with it.
 */
static void freed_while_running(void)
{
    static double  x[100 * LENGTH], y[100 * LENGTH];
    arras_run     *run = NULL;
    arras_program *p;
    int64_t        missing = 0;

    start();
    arras_output(g, "y", arras_exp(input("x", 100 * LENGTH)));
    p = compiled(&(arras_options){ .threads = 2, .tile_bytes = 8192 });
    CHECK_EQ_INT(arras_launch_start(
                     &run, p, BINDINGS(VEC("x", x, 100 * LENGTH), VEC("y", y, 100 * LENGTH)), &err),
                 ARRAS_OK);
    CHECK_EQ_INT(arras_launch_start(&run, p, BINDINGS(VEC("x", x, 100 * LENGTH)), &err), ARRAS_OK);
    finish(p); /* which also looks for what is left behind */
    for (int64_t i = 0; i < 100 * LENGTH; i++)
        missing += y[i] != 1;
    CHECK_EQ_INT(missing, 0);
}

TEST_MAIN
{
    RUN(one_program);
    RUN(several_programs);
    RUN(compiling_at_once);
    RUN(looking_meanwhile);
    RUN(in_two_steps);
    RUN(cancelled);
    RUN(watched);
    RUN(freed_while_running);
}
