/* test_build_cache.c -- the cache of kernels on disk: broken files, unsafe directories, its limit.
 */
#include "build_kit.h"

#include <sys/prctl.h>
#include <sys/resource.h>

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
static void flip_code(const char *path) { flip(path, 200); }
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
#define ROW(f)                                                                                     \
    {                                                                                              \
        f, #f                                                                                      \
    }
    static const struct {
        void (*spoil)(const char *path);
        const char *name;
    } rows[] = { ROW(cut_to_nothing),     ROW(cut_to_a_byte),   ROW(cut_in_half),
                 ROW(cut_one_byte),       ROW(flip_first),      ROW(flip_code),
                 ROW(flip_key),           ROW(flip_magic),      ROW(flip_checksum),
                 ROW(flip_object_length), ROW(flip_key_length), ROW(append),
                 ROW(fill_with_zeros),    ROW(write_words),     ROW(make_pipe),
                 ROW(make_link) };
    ar_build_options options = quick();

    CHECK_EQ_INT(answer_once(&options, simple), 42);
    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        ar_build_stats before = stats_now();

        CASE("%s", rows[i].name);
        rows[i].spoil(cached_file(NULL));
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
    snprintf(first, sizeof first, "%s", cached_file(NULL));
    CHECK(rename(first, place("kept.so")) == 0);
    options.generator = "2";
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK(rename(place("kept.so"), cached_file(NULL)) == 0);
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
    snprintf(path, sizeof path, "%s", cached_file(NULL));
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

/* Runs without the cache, and says what to do to whoever asks. */
static void works_without(const ar_build_options *options, const char *because)
{
    ar_build_stats before = stats_now();
    arras_options public = { .cache = options->cache };

    CHECK_EQ_INT(answer_once(options, simple), 42);
    CHECK_EQ_INT(stats_now().unstored - before.unstored, 1);
    error.text[0] = '\0';
    CHECK_EQ_INT(arras_cache_check(&public, &error), ARRAS_EINVAL);
    CHECK_HAS(error.text, because);
    public.no_cache = true;
    CHECK_EQ_INT(arras_cache_check(&public, &error), ARRAS_OK);
}

static void works_with(const ar_build_options *options)
{
    ar_build_stats before = stats_now();
    arras_options public = { .cache = options->cache };

    CHECK_EQ_INT(answer_once(options, simple), 42);
    CHECK_EQ_INT(stats_now().unstored - before.unstored, 0);
    CHECK_EQ_INT(arras_cache_check(&public, &error), ARRAS_OK);
}

static void a_directory_others_can_write_is_not_used(void)
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
        if (rows[i / 2].refused) {
            works_without(&options, "chmod 700");
            CHECK_HAS(error.text, options.cache);
            CHECK_EQ_INT(count_files(cache, ".so"), i > 3 ? 1 : 0);
        } else {
            works_with(&options);
        }
    }
}

static void a_directory_of_another_user_is_not_used(void)
{
    ar_build_options options = quick();

    options.cache = "/usr";
    if (geteuid() == 0) { /* root owns that one */
        CHECK(mkdir(cache, 0700) == 0 && chown(cache, 12345, 12345) == 0);
        options.cache = cache;
    }
    works_without(&options, "belongs to user");
    CHECK_HAS(error.text, "ARRAS_CACHE_DIR");
    CHECK_EQ_INT(count_files(options.cache, ".so"), 0);
}

static void works_for_user(uid_t user, const ar_build_options *options)
{
    CHECK(seteuid(user) == 0);
    prctl(PR_SET_DUMPABLE, 1); /* or a compiler could not open what it has to write */
    works_with(options);
    CHECK(seteuid(0) == 0);
}

/* What one user left is no end for another, whoever comes first, wherever it was said. */
static void root_leaves_nothing_in_the_home_of_a_user(void)
{
    enum { USER = 12345 };
    static const struct {
        const char *variable, *value; /* within the user's home */
    } rows[] = { { "HOME", "" },
                 { "XDG_CACHE_HOME", "/xdg/deep" },
                 { "ARRAS_CACHE_DIR", "/named/deep" } };
    ar_build_options options = quick();
    char             home[300], value[400];
    struct stat      s;

    if (geteuid() != 0) {
        printf("    skipped: only root can be two users\n");
        CHECK_EQ_INT(answer_once(&options, simple), 42);
        return;
    }
    CHECK(chmod(root, 0711) == 0 && chmod(place("tmp"), 01777) == 0);
    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        CASE("%s", rows[i].variable);
        snprintf(home, sizeof home, "%s/home-%zu", root, i);
        snprintf(value, sizeof value, "%s%s", home, rows[i].value);
        CHECK(mkdir(home, 0755) == 0 && chown(home, USER, USER) == 0);
        unsetenv("ARRAS_CACHE_DIR");
        setenv(rows[i].variable, value, 1);
        works_without(&options, "root makes no folder within one of user 12345");
        CHECK_EQ_INT(count_files(home, ""), 0);
        CHECK(stat(value, &s) == (i == 0 ? 0 : -1));
        works_for_user(USER, &options);
        works_without(&options, "belongs to user 12345");
        works_for_user(USER, &options);
        setenv("HOME", root, 1);
        unsetenv("XDG_CACHE_HOME");
    }
    CHECK(chmod(root, 0700) == 0 && chmod(place("tmp"), 0700) == 0);
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
    /* Said of a folder that was named, not of one that everybody has. */
    options.cache = file;
    works_without(&options, "a-file");
    options.cache = NULL;
    unsetenv("ARRAS_CACHE_DIR");
    setenv("HOME", file, 1);
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK_EQ_INT(arras_cache_check(NULL, &error), ARRAS_OK);
    setenv("HOME", root, 1);
}

static void a_full_disk_only_costs_time(void)
{
    static char   generator[200 * 1024]; /* part of the key: makes a large file in the cache only */
    struct rlimit old, small;
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
    setenv("HOME", "not/absolute", 1);
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK_EQ_INT(stats_now().unstored - before.unstored, 2);
    setenv("HOME", root, 1);
}

/* ---- The limit ------------------------------------------------------------------------------- */

static void set_age(const char *path, time_t seconds)
{
    struct timespec times[2] = { { .tv_sec = time(NULL) - seconds }, { .tv_sec = 0 } };

    times[1] = times[0];
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

static const char *in_cache(const char *name)
{
    static char path[400];

    snprintf(path, sizeof path, "%s/%s", cache, name);
    return path;
}

static int64_t cache_size(void)
{
    DIR        *listing = opendir(cache);
    int64_t     size = 0;
    struct stat s;

    for (struct dirent *d; listing && (d = readdir(listing));)
        if (strlen(d->d_name) == 35 && fstatat(dirfd(listing), d->d_name, &s, 0) == 0)
            size += s.st_size;
    if (listing)
        closedir(listing);
    return size;
}

static void the_least_recently_used_go_first(void)
{
    ar_build_options options = quick();
    char             first[600];
    ar_build_stats   before = stats_now();
    struct stat      s;

    CHECK_EQ_INT(answer_once(&options, simple), 42);
    snprintf(first, sizeof first, "%s", cached_file(NULL));
    set_age(first, 10 * 24 * 3600);
    CHECK_EQ_INT(answer_once(&options, simple), 42); /* used today */
    CHECK(stat(first, &s) == 0 && time(NULL) - s.st_mtime < 3600);
    set_age(first, 100);
    options.generator = "older";
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    set_age(cached_file(first), 3 * 24 * 3600);
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
    write_text(in_cache("foreign"), "", 0600);
    write_text(in_cache("tmp-0123456789abcdef"), "", 0600);
    set_age(in_cache("tmp-0123456789abcdef"), 2 * 3600);
    for (int i = 0; i < 20; i++) {
        snprintf(generator, sizeof generator, "%d", i);
        CHECK_EQ_INT(answer_once(&options, simple), 42);
        CHECK(cache_size() <= options.cache_limit);
    }
    CHECK(count_files(cache, ".so") >= 2);
    CHECK_EQ_INT(count_files(cache, "foreign"), 1);          /* not ours to remove */
    CHECK_EQ_INT(count_files(cache, "0123456789abcdef"), 0); /* its writer died long ago */
    options.cache_limit = 1;
    options.generator = "alone";
    CHECK_EQ_INT(answer_once(&options, simple), 42);
    CHECK_EQ_INT(count_files(cache, ".so"), 1); /* what was just written stays */
}

/* ---- All ------------------------------------------------------------------------------------- */

TEST_MAIN
{
    set_up();
    RUN(a_broken_file_is_built_again);
    RUN(a_file_for_another_key_is_not_used);
    RUN(a_directory_in_its_place_only_costs_time);
    RUN(the_directory_is_made_private);
    RUN(a_directory_others_can_write_is_not_used);
    RUN(a_directory_of_another_user_is_not_used);
    RUN(root_leaves_nothing_in_the_home_of_a_user);
    RUN(without_a_directory_it_works_all_the_same);
    RUN(a_full_disk_only_costs_time);
    RUN(the_environment_says_where);
    RUN(the_least_recently_used_go_first);
    RUN(the_cache_stays_within_its_limit);
    RUN(leaves_no_temporary_files);
    remove_tree(root);
}
