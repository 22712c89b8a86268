/* build_kit.h -- for tests of building: a private place, and compilers that take no time. */
#ifndef BUILD_KIT_H
#define BUILD_KIT_H

#include "build/build.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- A private place ------------------------------------------------------------------------- */

static char root[256];   /* everything is below */
static char copier[300]; /* a "compiler" that copies an object of answer() == 42 */
static char cache[300];  /* a new directory for each case */

static inline const char *place(const char *name)
{
    static char paths[8][600];
    static int  next;
    char       *path = paths[next++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static inline void write_text(const char *path, const char *text, mode_t mode)
{
    FILE *f = fopen(path, "w");

    if (!f)
        return;
    fputs(text, f);
    fclose(f);
    chmod(path, mode);
}

/* A compiler of our own making: a script. */
static inline const char *script(const char *name, const char *body)
{
    const char *path = place(name);
    char        text[1000];

    snprintf(text, sizeof text, "#!/bin/sh\n%s\n", body);
    write_text(path, text, 0755);
    return path;
}

static inline int remove_one(const char *path, const struct stat *s, int type, struct FTW *where)
{
    (void)s, (void)type, (void)where;
    return remove(path);
}

static inline void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void new_cache(void)
{
    static int serial;

    snprintf(cache, sizeof cache, "%s/cache-%d", root, serial++);
    setenv("ARRAS_CACHE_DIR", cache, 1);
}

static inline int count_files(const char *directory, const char *ending)
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

/* An object of the cache that is not `other`, which may be NULL. */
static inline const char *cached_file(const char *other)
{
    DIR        *listing = opendir(cache);
    static char path[600];

    path[0] = '\0';
    for (struct dirent *d; listing && !*path && (d = readdir(listing));) {
        if (strlen(d->d_name) == 35)
            snprintf(path, sizeof path, "%s/%.40s", cache, d->d_name);
        if (other && strcmp(path, other) == 0)
            path[0] = '\0';
    }
    if (listing)
        closedir(listing);
    return path;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static arras_error error;

static inline ar_module *open_source(const ar_build_options *options, const char *source)
{
    ar_module *module = NULL;

    error.text[0] = '\0';
    if (ar_build_open(&module, options, source, strlen(source), &error) != ARRAS_OK)
        return NULL;
    return module;
}

static inline int answer_of(const ar_module *module)
{
    void *symbol = module ? ar_module_symbol(module, "answer") : NULL;
    int (*function)(void);

    if (!symbol)
        return -1;
    memcpy(&function, &symbol, sizeof function);
    return function();
}

/* Opens, calls, closes: so that the next time nothing is in memory. */
static inline int answer_once(const ar_build_options *options, const char *source)
{
    ar_module *module = open_source(options, source);
    int        answer = answer_of(module);

    ar_module_close(module);
    return answer;
}

static inline ar_build_stats stats_now(void)
{
    ar_build_stats stats;

    ar_build_stats_read(&stats);
    return stats;
}

static const char *const simple = "int answer(void) { return 42; }\n";

static inline ar_build_options quick(void) { return (ar_build_options){ .compiler = copier }; }

/* ---- Cases ----------------------------------------------------------------------------------- */

static inline void set_up(void)
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
             script("copier", "while [ \"$1\" != -o ]; do shift; done\n"
                              "exec /bin/cp \"${0%/*}/k.so\" \"$2\""));
    setenv("OUTPUT", place("k.so"), 1);
    CHECK(system("echo 'int answer(void) { return 42; }' |"
                 " cc -shared -fPIC -nostdlib -x c -o \"$OUTPUT\" -") == 0);
}

static inline void run_case(const char *name, void (*function)(void))
{
    new_cache();
    test_run(name, function);
}
#undef RUN
#define RUN(function) run_case(#function, function)

static inline void leaves_no_temporary_files(void)
{
    CHECK_EQ_INT(count_files(place("tmp"), ""), 0);
}

#endif
