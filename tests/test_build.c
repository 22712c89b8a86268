/* Building kernels: from source to a symbol; the cache on disk and all that can be wrong with it; the
 * compiler and all that can be wrong with that. */
#include "run/build.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- A private place, and a compiler that takes no time -------------------------------------- */

static char root[256];    /* everything below */
static char copier[300];  /* a "compiler" that copies an object of answer() == 42 */
static char cache[300];   /* a new directory for each case */

static const char *place(const char *name)
{
    static char paths[8][600];
    static int  next;
    char       *path = paths[next++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static void write_text(const char *path, const char *text, mode_t mode)
{
    FILE *f = fopen(path, "w");

    if (!f)
        return;
    fputs(text, f);
    fclose(f);
    chmod(path, mode);
}

/* A compiler of our own making: a script. */
static const char *script(const char *name, const char *body)
{
    const char *path = place(name);
    char        text[1000];

    snprintf(text, sizeof text, "#!/bin/sh\n%s\n", body);
    write_text(path, text, 0755);
    return path;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *where)
{
    (void)s, (void)type, (void)where;
    return remove(path);
}

static void remove_tree(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

static void new_cache(void)
{
    static int serial;

    snprintf(cache, sizeof cache, "%s/cache-%d", root, serial++);
    setenv("ARRAS_CACHE_DIR", cache, 1);
}

static int count_files(const char *directory, const char *ending)
{
    DIR *listing = opendir(directory);
    int  count = 0;

    for (struct dirent *d; listing && (d = readdir(listing));) {
        size_t length = strlen(d->d_name), n = strlen(ending);

        count += d->d_name[0] != '.' && length >= n && strcmp(d->d_name + length - n, ending) == 0;
    }
    if (listing)
        closedir(listing);
    return count;
}

/* The only object of the cache. */
static const char *cached_file(void)
{
    DIR        *listing = opendir(cache);
    static char path[600];

    path[0] = '\0';
    for (struct dirent *d; listing && (d = readdir(listing));)
        if (strlen(d->d_name) == 35)
            snprintf(path, sizeof path, "%s/%.40s", cache, d->d_name);
    if (listing)
        closedir(listing);
    return path;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static arras_error error;

static ar_module *open_source(const ar_build_options *options, const char *source)
{
    ar_module *module = NULL;

    error.text[0] = '\0';
    if (ar_build_open(&module, options, source, strlen(source), &error) != ARRAS_OK)
        return NULL;
    return module;
}

static int answer_of(const ar_module *module)
{
    void *symbol = module ? ar_module_symbol(module, "answer") : NULL;
    int (*function)(void);

    if (!symbol)
        return -1;
    memcpy(&function, &symbol, sizeof function);
    return function();
}

/* Opens, calls, closes: so that the next time nothing is in memory. */
static int answer_once(const ar_build_options *options, const char *source)
{
    ar_module *module = open_source(options, source);
    int        answer = answer_of(module);

    ar_module_close(module);
    return answer;
}

static ar_build_stats stats_now(void)
{
    ar_build_stats stats;

    ar_build_stats_read(&stats);
    return stats;
}

static const char *const simple = "int answer(void) { return 42; }\n";

static ar_build_options quick(void) { return (ar_build_options){ .compiler = copier }; }

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

    CHECK_EQ_INT(answer_once(&options, "double exp2(double);\n"
                                       "int answer(void) { volatile double x = 5; return (int)exp2(x); }"),
                 32);
#if defined(__x86_64__) && defined(__GLIBC__)
    CHECK_EQ_INT(answer_once(&options, "typedef double v2 __attribute__((vector_size(16)));\n"
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
    const char       *other = script("other-copier", "exec \"${0%/*}/copier\" \"$@\"");
    ar_build_options  same[] = { quick(), quick() };
    ar_build_options  options[5] = { quick(), quick(), quick(), quick(), quick() };
    ar_build_stats    before;

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
    ar_module               *one = open_source(&options, simple), *two = open_source(&options, other);

    CHECK(one != two);
    CHECK_EQ_INT(answer_of(one), 42);
    CHECK_EQ_INT(answer_of(two), 43);
    ar_module_close(one);
    CHECK_EQ_INT(answer_once(&options, simple), 42); /* the file is the other's, who is loaded */
    ar_module_close(two);
    CHECK_EQ_INT(answer_once(&options, other), 43);
    CHECK_EQ_INT(count_files(cache, ""), 1);
}

/* ---- Files that are not what they should be -------------------------------------------------- */

static void cut_at(const char *path, off_t length) { CHECK(truncate(path, length) == 0); }
static void cut_to_nothing(const char *path) { cut_at(path, 0); }
static void cut_to_a_byte(const char *path) { cut_at(path, 1); }
static void cut_in_half(const char *path)
{
    struct stat s;

    CHECK(stat(path, &s) == 0);
    cut_at(path, s.st_size / 2);
}
static void cut_one_byte(const char *path)
{
    struct stat s;

    CHECK(stat(path, &s) == 0);
    cut_at(path, s.st_size - 1);
}

/* Negative: from the end. */
static void flip(const char *path, off_t at)
{
    int           fd = open(path, O_RDWR);
    unsigned char byte = 0;

    lseek(fd, at, at < 0 ? SEEK_END : SEEK_SET);
    CHECK(read(fd, &byte, 1) == 1);
    byte ^= 1;
    lseek(fd, -1, SEEK_CUR);
    CHECK(write(fd, &byte, 1) == 1);
    close(fd);
}
static void flip_first(const char *path) { flip(path, 0); }
static void flip_code(const char *path) { flip(path, 3000); }
static void flip_key(const char *path) { flip(path, -40); }
static void flip_object_length(const char *path) { flip(path, -25); } /* its highest byte */
static void flip_key_length(const char *path) { flip(path, -24); }
static void flip_checksum(const char *path) { flip(path, -16); }
static void flip_magic(const char *path) { flip(path, -1); }

static void append(const char *path)
{
    FILE *f = fopen(path, "a");

    fputs("more", f);
    fclose(f);
}
static void fill_with_zeros(const char *path)
{
    struct stat s;

    CHECK(stat(path, &s) == 0);
    cut_at(path, 0);
    cut_at(path, s.st_size); /* as after a crash: the length was written, the blocks were not */
}
static void write_words(const char *path) { write_text(path, "not an object at all\n", 0600); }
static void make_pipe(const char *path) { CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0); }
static void make_link(const char *path)
{
    CHECK(rename(path, place("moved.so")) == 0 && symlink(place("moved.so"), path) == 0);
}

static void a_broken_file_is_built_again(void)
{
#define ROW(f) { f, #f }
    static const struct {
        void (*spoil)(const char *path);
        const char *name;
    } rows[] = { ROW(cut_to_nothing), ROW(cut_to_a_byte),      ROW(cut_in_half),     ROW(cut_one_byte),
                 ROW(flip_first),     ROW(flip_code),          ROW(flip_key),        ROW(flip_magic),
                 ROW(flip_checksum),  ROW(flip_object_length), ROW(flip_key_length), ROW(append),
                 ROW(fill_with_zeros), ROW(write_words),       ROW(make_pipe),       ROW(make_link) };
    ar_build_options options = quick();

    CHECK_EQ_INT(answer_once(&options, simple), 42);
    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        ar_build_stats before = stats_now();

        CASE("%s", rows[i].name);
        rows[i].spoil(cached_file());
        CHECK_EQ_INT(answer_once(&options, simple), 42);
        CHECK_EQ_INT(stats_now().compiles - before.compiles, 1);
        CHECK_EQ_INT(answer_once(&options, simple), 42);
        CHECK_EQ_INT(stats_now().disk_hits - before.disk_hits, 1);
    }
}

static void a_file_for_another_key_is_not_used(void)
{
    ar_build_options options = quick();
    char             first[600];
    ar_build_stats   before;

    CHECK_EQ_INT(answer_once(&options, simple), 42);
    snprintf(first, sizeof first, "%s", cached_file());
    CHECK(rename(first, place("kept.so")) == 0);
    options.generator = "2";
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK(rename(place("kept.so"), cached_file()) == 0);
    before = stats_now();
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK_EQ_INT(stats_now().compiles - before.compiles, 1);
}

static void a_directory_in_its_place_only_costs_time(void)
{
    ar_build_options options = quick();
    char             path[600];
    ar_build_stats   before;

    CHECK_EQ_INT(answer_once(&options, simple), 42);
    snprintf(path, sizeof path, "%s", cached_file());
    CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
    before = stats_now();
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK_EQ_INT(stats_now().unstored - before.unstored, 1);
    CHECK_EQ_INT(count_files(cache, ""), 1);
}

/* ---- The directory --------------------------------------------------------------------------- */

static void the_directory_is_made_private(void)
{
    struct stat      s;
    ar_build_options options = quick();
    char             deep[400];

    snprintf(deep, sizeof deep, "%s/a/b", cache);
    options.cache = deep;
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK(stat(deep, &s) == 0 && (s.st_mode & 0777) == 0700);
    CHECK(stat(cache, &s) == 0 && (s.st_mode & 0777) == 0700);
    CHECK_EQ_INT(count_files(deep, ".so"), 1);
}

static void a_directory_others_can_write_is_refused(void)
{
    static const struct {
        mode_t mode;
        bool   refused;
    } rows[] = { { 0700, false }, { 0755, false }, { 0770, true },
                 { 0707, true },  { 0777, true },  { 01777, true } };
    ar_build_options options = quick();
    const char      *link = place("link-to-cache");

    CHECK(mkdir(cache, 0700) == 0);
    CHECK(symlink(cache, link) == 0);
    for (size_t i = 0; i < 2 * AR_COUNT(rows); i++) {
        mode_t mode = rows[i / 2].mode;

        CASE("mode %o%s", (unsigned)mode, i % 2 ? " through a link" : "");
        options.cache = i % 2 ? link : cache;
        CHECK(chmod(cache, mode) == 0);
        CHECK_EQ_INT(answer_once(&options, simple), rows[i / 2].refused ? -1 : 42);
        if (rows[i / 2].refused) {
            CHECK_EQ_INT(error.code, ARRAS_EINVAL);
            CHECK_HAS(error.text, "chmod 700");
            CHECK_HAS(error.text, options.cache);
        }
    }
}

static void a_directory_of_another_user_is_refused(void)
{
    ar_build_options options = quick();

    options.cache = "/usr";
    if (geteuid() == 0) { /* root owns that one */
        CHECK(mkdir(cache, 0700) == 0 && chown(cache, 12345, 12345) == 0);
        options.cache = cache;
    }
    CHECK_EQ_INT(answer_once(&options, simple), -1);
    CHECK_HAS(error.text, "belongs to user");
    CHECK_HAS(error.text, "ARRAS_CACHE_DIR");
}

static void without_a_directory_it_works_all_the_same(void)
{
    const char      *file = place("a-file");
    const char      *rows[] = { "/proc/arras/cache", file, cache };
    ar_build_options options = quick();

    write_text(file, "", 0600);
    CHECK(mkdir(cache, 0500) == 0);
    for (size_t i = 0; i < AR_COUNT(rows) - (geteuid() == 0); i++) { /* root may write anywhere */
        ar_build_stats before = stats_now();

        CASE("%s", rows[i]);
        options.cache = rows[i];
        CHECK_EQ_INT(answer_once(&options, simple), 42);
        CHECK_EQ_INT(stats_now().unstored - before.unstored, 1);
    }
}

static void a_full_disk_only_costs_time(void)
{
    static char      generator[200 * 1024]; /* part of the key: makes a large file in the cache only */
    struct rlimit    old, small;
    ar_build_options options = quick();
    ar_build_stats   before = stats_now();

    memset(generator, 'g', sizeof generator - 1);
    options.generator = generator;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 100 * 1024;
    setrlimit(RLIMIT_FSIZE, &small);
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
    CHECK_EQ_INT(stats_now().unstored - before.unstored, 1);
    CHECK_EQ_INT(count_files(cache, ""), 0);
}

static void the_environment_says_where(void)
{
    ar_build_options options = quick();
    ar_build_stats   before = stats_now();

    unsetenv("ARRAS_CACHE_DIR");
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK_EQ_INT(count_files(place(".cache/arras"), ".so"), 1);
    setenv("XDG_CACHE_HOME", place("xdg"), 1);
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK_EQ_INT(count_files(place("xdg/arras"), ".so"), 1);
    setenv("XDG_CACHE_HOME", "not/absolute", 1);
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK_EQ_INT(stats_now().disk_hits - before.disk_hits, 1);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK_EQ_INT(stats_now().unstored - before.unstored, 1);
    setenv("HOME", root, 1);
}

/* ---- The limit ------------------------------------------------------------------------------- */

static void set_age(const char *path, time_t seconds)
{
    struct timespec times[2] = { { .tv_sec = time(NULL) - seconds }, { .tv_sec = 0 } };

    times[1] = times[0];
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

static void the_least_recently_used_go_first(void)
{
    ar_build_options options = quick();
    char             first[600];
    ar_build_stats   before = stats_now();
    struct stat      s;

    CHECK_EQ_INT(answer_once(&options, simple), 42);
    snprintf(first, sizeof first, "%s", cached_file());
    set_age(first, 10 * 24 * 3600);
    CHECK_EQ_INT(answer_once(&options, simple), 42); /* used today */
    CHECK(stat(first, &s) == 0 && time(NULL) - s.st_mtime < 3600);
    set_age(first, 100);
    options.generator = "older";
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    for (int i = 0; i < 2; i++) /* of the two, the one that is not `first` */
        if (strcmp(cached_file(), first) != 0)
            set_age(cached_file(), 3 * 24 * 3600);
    options.generator = "new";
    CHECK(stat(first, &s) == 0);
    options.cache_limit = (s.st_size + 4095) / 4096 * 4096 * 3 - 1;
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK(stats_now().evicted - before.evicted >= 1);
    options.generator = NULL;
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    options.generator = "new";
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK_EQ_INT(stats_now().compiles - before.compiles, 3);
}

static void the_cache_stays_within_its_limit(void)
{
    ar_build_options options = quick();
    char             generator[20];

    options.cache_limit = 64 * 1024;
    options.generator = generator;
    CHECK(mkdir(cache, 0700) == 0);
    write_text(place("foreign"), "", 0600);
    CHECK(link(place("foreign"), strcat(strcpy((char[400]){ 0 }, cache), "/foreign")) == 0);
    write_text(strcat(strcpy((char[400]){ 0 }, cache), "/tmp-0123456789abcdef"), "", 0600);
    set_age(strcat(strcpy((char[400]){ 0 }, cache), "/tmp-0123456789abcdef"), 2 * 3600);
    for (int i = 0; i < 20; i++) {
        snprintf(generator, sizeof generator, "%d", i);
        CHECK_EQ_INT(answer_once(&options, simple), 42);
    }
    CHECK(count_files(cache, ".so") >= 2 && count_files(cache, ".so") <= 16);
    CHECK_EQ_INT(count_files(cache, "foreign"), 1);         /* not ours to remove */
    CHECK_EQ_INT(count_files(cache, "0123456789abcdef"), 0); /* its writer died long ago */
    options.cache_limit = 1;
    options.generator = "alone";
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK_EQ_INT(count_files(cache, ".so"), 1); /* what was just written stays */
}

/* ---- The compiler ---------------------------------------------------------------------------- */

static void without_a_compiler_the_caller_is_told(void)
{
    char            *path = strdup(getenv("PATH"));
    ar_build_options absent = { .compiler = "/nowhere/cc" };

    CHECK(ar_build_has_compiler(NULL));
    setenv("PATH", "", 1);
    CHECK(!ar_build_has_compiler(NULL));
    CHECK(!open_source(NULL, simple));
    CHECK_EQ_INT(error.code, ARRAS_EINVAL);
    CHECK_STR(error.text,
              "no C compiler: cc is not in PATH; install gcc, or set ARRAS_CC to the path of one");
    setenv("ARRAS_CC", copier, 1);
    CHECK(ar_build_has_compiler(NULL));
    CHECK_EQ_INT(answer_once(NULL, simple), 42);
    unsetenv("ARRAS_CC");
    script("cc", "exec \"${0%/*}/copier\" \"$@\"");
    setenv("PATH", strcat(strcpy((char[400]){ 0 }, ".::/nowhere:"), root), 1);
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
    CHECK_EQ_INT(error.code, ARRAS_EINVAL);
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
        { "liar", "while [ \"$1\" != -o ]; do shift; done; echo rubbish >\"$2\"", "cannot be loaded" },
        { "flood", "cat /dev/zero >&2; exit 5", "(exit status 5)" },
        { "curious", "[ -e /proc/$$/fd/77 ] && echo leaked >&2; cat >/dev/null; exit 1", "nothing" },
    };
    int inherited = dup2(STDOUT_FILENO, 77);

    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        ar_build_options options = { .compiler = script(rows[i].name, rows[i].body) };
        ar_build_stats   before = stats_now();

        CASE("%s", rows[i].name);
        CHECK(!open_source(&options, simple));
        CHECK_EQ_INT(error.code, ARRAS_EINVAL);
        CHECK_HAS(error.text, rows[i].message);
        CHECK_EQ_INT(stats_now().failures - before.failures, 1);
        CHECK_EQ_INT(count_files(cache, ""), 0);
    }
    close(inherited);
}

static void no_program_cannot_be_run(void)
{
    ar_build_options options = { .compiler = place("empty") };

    write_text(options.compiler, "\x7f" "ELF", 0755);
    CHECK(!open_source(&options, simple));
    CHECK_HAS(error.text, "cannot run");
    CHECK_HAS(error.text, "ARRAS_CC");
}

static void a_compiler_that_hangs_is_stopped(void)
{
    ar_build_options options = { .compiler = script("hangs", "sleep 60 & sleep 60"), .timeout_ms = 80 };
    time_t           start = time(NULL);

    CHECK(!open_source(&options, simple));
    CHECK_EQ_INT(error.code, ARRAS_ELIMIT);
    CHECK_HAS(error.text, "longer than 80 ms");
    CHECK(time(NULL) - start < 10);
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

static void set_up(void)
{
    const char *base = getenv("TMPDIR");

    snprintf(root, sizeof root, "%.200s/arras-test-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(root))
        return;
    setenv("HOME", root, 1);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("ARRAS_CC");
    mkdir(place("tmp"), 0700);
    setenv("TMPDIR", place("tmp"), 1);
    snprintf(copier, sizeof copier, "%s",
             script("copier", "while [ \"$1\" != -o ]; do shift; done\nexec /bin/cp \"${0%/*}/k.so\" \"$2\""));
    setenv("OUTPUT", place("k.so"), 1);
    CHECK(system("echo 'int answer(void) { return 42; }' |"
                 " cc -shared -fPIC -nostdlib -x c -o \"$OUTPUT\" -") == 0);
}

static void run_case(const char *name, void (*function)(void))
{
    new_cache();
    test_run(name, function);
}
#undef RUN
#define RUN(function) run_case(#function, function)

static void leaves_no_temporary_files(void) { CHECK_EQ_INT(count_files(place("tmp"), ""), 0); }

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
    RUN(a_collision_gives_no_wrong_kernel);
    RUN(a_broken_file_is_built_again);
    RUN(a_file_for_another_key_is_not_used);
    RUN(a_directory_in_its_place_only_costs_time);
    RUN(the_directory_is_made_private);
    RUN(a_directory_others_can_write_is_refused);
    RUN(a_directory_of_another_user_is_refused);
    RUN(without_a_directory_it_works_all_the_same);
    RUN(a_full_disk_only_costs_time);
    RUN(the_environment_says_where);
    RUN(the_least_recently_used_go_first);
    RUN(the_cache_stays_within_its_limit);
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
