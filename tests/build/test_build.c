/* test_build.c -- building kernels: from source to a symbol, many at once, compilers that go wrong.
 */
#include "build_kit.h"

#include <pthread.h>

/* ---- The way of a source --------------------------------------------------------------------- */

static void builds_loads_and_finds_symbols(void)
{
    ar_build_stats before = stats_now(), after;
    ar_module     *module = open_source(NULL, simple), *again;

    if (!CHECK(module))
        return;
    CHECK_EQ_INT(answer_of(module), 42);
    CHECK(!ar_module_symbol(module, "question"));
    again = open_source(NULL, simple);
    CHECK(again == module);
    ar_module_close(again);
    CHECK_EQ_INT(answer_of(module), 42);
    ar_module_close(module);
    CHECK_EQ_INT(answer_once(NULL, simple), 42);
    after = stats_now();
    CHECK_EQ_INT(after.compiles - before.compiles, 1);
    CHECK_EQ_INT(after.memory_hits - before.memory_hits, 1);
    CHECK_EQ_INT(after.disk_hits - before.disk_hits, 1);
    CHECK_EQ_INT(after.failures - before.failures, 0);
    CHECK(after.compile_ns > before.compile_ns && after.load_ns > before.load_ns);
    ar_module_close(NULL);
}

static void links_libraries_when_asked(void)
{
    const char *const libraries[] = { "-lm", "-lmvec", NULL };
    ar_build_options  options = { .libraries = libraries };

    CHECK_EQ_INT(answer_once(&options,
                             "double exp2(double);\n"
                             "int answer(void) { volatile double x = 5; return (int)exp2(x); }"),
                 32);
#if defined(__x86_64__) && defined(__GLIBC__)
    CHECK_EQ_INT(answer_once(&options,
                             "typedef double v2 __attribute__((vector_size(16)));\n"
                             "v2 _ZGVbN2v_exp(v2);\n"
                             "int answer(void) { return (int)_ZGVbN2v_exp((v2){0, 0})[1]; }"),
                 1);
#endif
    CHECK(!open_source(NULL, "int nowhere(void); int answer(void) { return nowhere(); }"));
    CHECK_HAS(error.text, "nowhere");
}

static void everything_that_matters_is_in_the_key(void)
{
    const char *const fast[] = { "-DSPEED=1", NULL }, *const none[] = { NULL };
    const char      *other = script("other-copier", "exec \"${0%/*}/copier\" \"$@\"");
    ar_build_options same[] = { quick(), quick() };
    ar_build_options options[5] = { quick(), quick(), quick(), quick(), quick() };
    ar_build_stats   before;

    options[1].flags = fast;
    options[2].libraries = fast;
    options[3].generator = "2";
    options[4].compiler = other;
    before = stats_now();
    for (int i = 0; i < 5; i++)
        CHECK_EQ_INT(answer_once(&options[i], simple), 42);
    CHECK_EQ_INT(stats_now().compiles - before.compiles, 5);
    same[1].flags = same[1].libraries = none;
    same[1].generator = "";
    same[1].timeout_ms = 1000 * 1000;
    for (int i = 0; i < 2; i++)
        CHECK_EQ_INT(answer_once(&same[i], simple), 42);
    CHECK_EQ_INT(stats_now().compiles - before.compiles, 5);
}

static void a_changed_compiler_is_another(void)
{
    const char      *path = script("upgraded", "exec \"${0%/*}/copier\" \"$@\"");
    ar_build_options options = { .compiler = path };
    ar_build_stats   before = stats_now();

    CHECK_EQ_INT(answer_once(&options, simple), 42);
    script("upgraded", "exec   \"${0%/*}/copier\" \"$@\"");
    ar_build_has_compiler(NULL); /* the one remembered is not asked again until another was */
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK_EQ_INT(stats_now().compiles - before.compiles, 2);
}

static void no_cache_writes_nothing(void)
{
    ar_build_options options = quick();
    ar_build_stats   before = stats_now();

    options.no_cache = true;
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK_EQ_INT(stats_now().compiles - before.compiles, 2);
    CHECK_EQ_INT(stats_now().unstored - before.unstored, 0);
    CHECK(access(cache, F_OK) != 0);
}

static void too_many_flags_are_refused(void)
{
    const char      *flags[101];
    ar_build_options options = quick();

    for (int i = 0; i < 100; i++)
        flags[i] = "-DX";
    flags[100] = NULL;
    options.flags = flags;
    CHECK(!open_source(&options, simple));
    CHECK_EQ_INT(error.code, ARRAS_ELIMIT);
}

/* ---- Many at once ---------------------------------------------------------------------------- */

enum { THREADS = 8 };

typedef struct {
    char       source[100];
    ar_module *module;
    int        answer;
} thread_work;

static void *open_in_thread(void *work)
{
    thread_work *w = work;

    if (ar_build_open(&w->module, NULL, w->source, strlen(w->source), NULL) == ARRAS_OK)
        w->answer = answer_of(w->module);
    return NULL;
}

static void run_threads(thread_work *work)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, open_in_thread, &work[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void threads_build_a_source_once(void)
{
    thread_work    work[THREADS] = { { .module = NULL } };
    ar_build_stats before = stats_now();

    for (int i = 0; i < THREADS; i++) /* two sources */
        snprintf(work[i].source, sizeof work[i].source, "int answer(void) { return %d; }", i % 2);
    run_threads(work);
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ_INT(work[i].answer, i % 2);
        CHECK(work[i].module == work[i % 2].module);
    }
    for (int i = 0; i < THREADS; i++)
        ar_module_close(work[i].module);
    CHECK_EQ_INT(stats_now().compiles - before.compiles, 2);
    CHECK_EQ_INT(stats_now().memory_hits - before.memory_hits, THREADS - 2);
}

static void threads_share_a_failure(void)
{
    thread_work work[THREADS] = { { .module = NULL } };

    for (int i = 0; i < THREADS; i++)
        snprintf(work[i].source, sizeof work[i].source, "this is not C");
    run_threads(work);
    for (int i = 0; i < THREADS; i++)
        CHECK(!work[i].module);
}

static void processes_share_a_cache(void)
{
    enum { PROCESSES = 8 };
    pid_t          pids[PROCESSES];
    ar_build_stats before;

    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            int wrong = 0;

            for (int k = 0; k < 3; k++)
                wrong += answer_once(NULL, simple) != 42;
            _exit(wrong);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;

        waitpid(pids[i], &status, 0);
        CHECK_EQ_INT(status, 0);
    }
    CHECK_EQ_INT(count_files(cache, ""), 1); /* one object, nothing left over */
    before = stats_now();
    CHECK_EQ_INT(answer_once(NULL, simple), 42);
    CHECK_EQ_INT(stats_now().disk_hits - before.disk_hits, 1);
}

static void a_child_does_not_wait_for_a_thread_it_has_not(void)
{
    thread_work work = { .source = "int answer(void) { return 1; }" };
    const char *go = place("go");
    char        body[700];
    pthread_t   thread;
    int         status = -1;
    pid_t       pid;

    /* The thread's compiler waits until the child has built the same. */
    snprintf(body, sizeof body, "while [ ! -e %s ]; do sleep 0.01; done\nexec %s \"$@\"", go,
             copier);
    setenv("ARRAS_CC", script("waits", body), 1);
    pthread_create(&thread, NULL, open_in_thread, &work);
    usleep(50 * 1000);
    pid = fork();
    if (pid == 0) {
        write_text(go, "", 0600);
        _exit(answer_once(NULL, work.source) == 42 ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    CHECK_EQ_INT(status, 0);
    pthread_join(thread, NULL);
    CHECK_EQ_INT(work.answer, 42);
    ar_module_close(work.module);
    unsetenv("ARRAS_CC");
}

/* ---- Collisions ------------------------------------------------------------------------------ */

static uint64_t same_for_all(uint64_t seed, const void *bytes, size_t length)
{
    (void)seed, (void)bytes, (void)length;
    return 7;
}

static void a_collision_gives_no_wrong_kernel(void)
{
    static const char *const other = "int answer(void) { return 43; }\n";
    ar_build_options         options = { .hash = same_for_all };
    ar_module *one = open_source(&options, simple), *two = open_source(&options, other);

    CHECK(one != two);
    CHECK_EQ_INT(answer_of(one), 42);
    CHECK_EQ_INT(answer_of(two), 43);
    ar_module_close(one);
    CHECK_EQ_INT(answer_once(&options, simple), 42); /* the file is the other's, who is loaded */
    ar_module_close(two);
    CHECK_EQ_INT(answer_once(&options, other), 43);
    CHECK_EQ_INT(count_files(cache, ""), 1);
}

/* ---- The compiler ---------------------------------------------------------------------------- */

static void without_a_compiler_the_caller_is_told(void)
{
    char             search[300], *path = strdup(getenv("PATH"));
    ar_build_options absent = { .compiler = "/nowhere/cc" };

    CHECK(ar_build_has_compiler(NULL));
    setenv("PATH", "", 1);
    CHECK(!ar_build_has_compiler(NULL));
    CHECK(!open_source(NULL, simple));
    CHECK_EQ_INT(error.code, ARRAS_EBUILD);
    CHECK_STR(error.text,
              "no C compiler: cc is not in PATH; install gcc, or set ARRAS_CC to the path of one");
    setenv("ARRAS_CC", copier, 1);
    CHECK(ar_build_has_compiler(NULL));
    CHECK_EQ_INT(answer_once(NULL, simple), 42);
    unsetenv("ARRAS_CC");
    script("cc", "exec \"${0%/*}/copier\" \"$@\"");
    snprintf(search, sizeof search, ".::/nowhere:%s", root);
    setenv("PATH", search, 1);
    CHECK(ar_build_has_compiler(NULL));
    setenv("PATH", path, 1);
    CHECK(!ar_build_has_compiler(&absent));
    CHECK(!open_source(&absent, simple));
    CHECK_HAS(error.text, "/nowhere/cc is not a program");
    free(path);
}

static void a_wrong_source_shows_its_first_error(void)
{
    CHECK(!open_source(NULL, "int good;\nint answer(void) { return missing; }\nint bad(\n"));
    CHECK_EQ_INT(error.code, ARRAS_EBUILD);
    CHECK_HAS(error.text, "<stdin>:2:");
    CHECK_HAS(error.text, "error: ");
    CHECK_HAS(error.text, "missing");
    CHECK(!strchr(error.text, '\n'));
    CHECK_EQ_INT(count_files(cache, ""), 0);
}

static void a_compiler_may_do_anything(void)
{
    static const struct {
        const char *name, *body, *message;
    } rows[] = {
        { "fails", "echo out; echo first >&2; echo second >&2; exit 3", "(exit status 3): first" },
        { "silent", "exit 4", "(exit status 4): it said nothing" },
        { "crashes", "kill -SEGV $$", "(killed by signal 11)" },
        { "idle", "exit 0", "no output" },
        { "garbage", "printf '\\001\\377\\033[31mred' >&2; exit 1", "??" },
        { "liar", "while [ \"$1\" != -o ]; do shift; done; echo rubbish >\"$2\"",
          "cannot be loaded" },
        { "flood", "cat /dev/zero >&2; exit 5", "(exit status 5)" },
        { "curious", "[ -e /proc/$$/fd/77 ] && echo leaked >&2; cat >/dev/null; exit 1",
          "nothing" },
    };
    int inherited = dup2(STDOUT_FILENO, 77);

    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        ar_build_options options = { .compiler = script(rows[i].name, rows[i].body) };
        ar_build_stats   before = stats_now();

        CASE("%s", rows[i].name);
        CHECK(!open_source(&options, simple));
        CHECK_EQ_INT(error.code, ARRAS_EBUILD);
        CHECK_HAS(error.text, rows[i].message);
        CHECK_EQ_INT(stats_now().failures - before.failures, 1);
        CHECK_EQ_INT(count_files(cache, ""), 0);
    }
    close(inherited);
}

static void no_program_cannot_be_run(void)
{
    ar_build_options options = { .compiler = place("empty") };

    write_text(options.compiler,
               "\x7f"
               "ELF",
               0755);
    CHECK(!open_source(&options, simple));
    CHECK_HAS(error.text, "cannot run");
    CHECK_HAS(error.text, "ARRAS_CC");
}

static void a_compiler_that_hangs_is_stopped(void)
{
    ar_build_options options = { .compiler = script("hangs", "sleep 100000 & sleep 100000"),
                                 .timeout_ms = 80 };

    CHECK(!open_source(&options, simple));
    CHECK_EQ_INT(error.code, ARRAS_ELIMIT);
    CHECK_HAS(error.text, "longer than 80 ms");
}

static void a_program_may_ignore_its_children(void)
{
    ar_build_options options = quick();

    signal(SIGCHLD, SIG_IGN);
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK(!open_source(NULL, "not C"));
    signal(SIGCHLD, SIG_DFL);
}

static void a_program_may_have_no_standard_files(void)
{
    pid_t pid = fork();
    int   status = -1;

    if (pid == 0) {
        for (int fd = 0; fd < 3; fd++)
            close(fd);
        _exit(answer_once(NULL, simple) == 42 ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    CHECK_EQ_INT(status, 0);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void failing_allocations_leave_nothing_behind(void)
{
    ar_build_options options = quick();
    int64_t          before = ar_alloc_live();
    ar_module       *module = NULL;
    int              n = 1;

    for (; n < 100 && !module; n++) {
        ar_alloc_fail_from(n);
        module = open_source(&options, simple);
        ar_alloc_fail_from(0);
        if (!module)
            CHECK_EQ_INT(error.code, ARRAS_ENOMEM);
        if (!module)
            CHECK_EQ_INT(ar_alloc_live(), before);
    }
    CHECK(n > 4 && n < 100);
    CHECK_EQ_INT(answer_of(module), 42);
    ar_module_close(module);
    CHECK_EQ_INT(ar_alloc_live(), before);
}

/* ---- All ------------------------------------------------------------------------------------- */

TEST_MAIN
{
    set_up();
    RUN(builds_loads_and_finds_symbols);
    RUN(links_libraries_when_asked);
    RUN(everything_that_matters_is_in_the_key);
    RUN(a_changed_compiler_is_another);
    RUN(no_cache_writes_nothing);
    RUN(too_many_flags_are_refused);
    RUN(threads_build_a_source_once);
    RUN(threads_share_a_failure);
    RUN(processes_share_a_cache);
    RUN(a_child_does_not_wait_for_a_thread_it_has_not);
    RUN(a_collision_gives_no_wrong_kernel);
    RUN(without_a_compiler_the_caller_is_told);
    RUN(a_wrong_source_shows_its_first_error);
    RUN(a_compiler_may_do_anything);
    RUN(no_program_cannot_be_run);
    RUN(a_compiler_that_hangs_is_stopped);
    RUN(a_program_may_ignore_its_children);
    RUN(a_program_may_have_no_standard_files);
    RUN(failing_allocations_leave_nothing_behind);
    RUN(leaves_no_temporary_files);
    remove_tree(root);
}
