/* toolchain.c -- which compiler there is and which machine it compiles for; looked up once. */
#include "build/build.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- The compiler ---------------------------------------------------------------------------- */

enum { REMEMBERED_PATH = 4096 };

static struct {
    pthread_mutex_t lock;
    char            name[AR_COMPILER_PATH];
    char            search[REMEMBERED_PATH]; /* PATH when it was found */
    ar_compiler     compiler;                /* path "": nothing remembered */
} last = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_compiler(ar_compiler *out, const char *path)
{
    struct stat s;

    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode) || access(path, X_OK) != 0)
        return false;
    snprintf(out->path, sizeof out->path, "%s", path);
    snprintf(out->identity, sizeof out->identity, "%s %lld %lld.%09ld", path, (long long)s.st_size,
             (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
    return true;
}

/* Only absolute directories: the one we happen to be in is no place to run programs from. */
static bool search_path(ar_compiler *out, const char *name, const char *search)
{
    char path[AR_COMPILER_PATH];

    for (const char *at = search; *at;) {
        int length = (int)strcspn(at, ":");

        if (*at == '/') {
            int n = snprintf(path, sizeof path, "%.*s/%s", length, at, name);

            if (n > 0 && (size_t)n < sizeof path && is_compiler(out, path))
                return true;
        }
        at += length + (at[length] == ':');
    }
    return false;
}

static void before_fork(void) { pthread_mutex_lock(&last.lock); }
static void after_fork(void) { pthread_mutex_unlock(&last.lock); }

/* Or a child could wait for ever for a thread it does not have. */
static void survive_forks(void) { pthread_atfork(before_fork, after_fork, after_fork); }

static bool recall(ar_compiler *out, const char *name, const char *search)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    bool                  known;

    pthread_once(&once, survive_forks);
    pthread_mutex_lock(&last.lock);
    known =
        last.compiler.path[0] && strcmp(last.name, name) == 0 && strcmp(last.search, search) == 0;
    if (known) {
        strcpy(out->path, last.compiler.path);
        strcpy(out->identity, last.compiler.identity);
    }
    pthread_mutex_unlock(&last.lock);
    return known;
}

static void remember(const ar_compiler *compiler, const char *name, const char *search)
{
    if (strlen(search) >= sizeof last.search)
        return;
    pthread_mutex_lock(&last.lock);
    strcpy(last.name, name);
    strcpy(last.search, search);
    last.compiler = *compiler;
    pthread_mutex_unlock(&last.lock);
}

void ar_compiler_forget(void)
{
    pthread_mutex_lock(&last.lock);
    last.compiler.path[0] = '\0';
    pthread_mutex_unlock(&last.lock);
}

arras_status ar_compiler_find(ar_compiler *out, const char *name, arras_error *err)
{
    const char *search = secure_getenv("PATH");
    const char *wanted = secure_getenv("ARRAS_CC");

    if (name && *name)
        wanted = name;
    if (!wanted || !*wanted)
        wanted = "cc";
    if (!search)
        search = "/usr/bin:/bin";
    if (strlen(wanted) >= sizeof out->path)
        return ar_fail(err, ARRAS_ELIMIT,
                       "the name of the C compiler has %zu bytes, at most %d fit", strlen(wanted),
                       AR_COMPILER_PATH - 1);
    if (recall(out, wanted, search))
        return ARRAS_OK;
    if (!(strchr(wanted, '/') ? is_compiler(out, wanted) : search_path(out, wanted, search)))
        return ar_fail(
            err, ARRAS_EBUILD,
            "no C compiler: %s is not %s; install gcc, or set ARRAS_CC to the path of one", wanted,
            strchr(wanted, '/') ? "a program" : "in PATH");
    remember(out, wanted, search);
    return ARRAS_OK;
}

/* ---- The machine ----------------------------------------------------------------------------- */

static char cpu[40];

/* Lines that say what code runs here; the others (clock, core number) differ from run to run. */
static bool says_what_runs(const char *line)
{
    static const char *const words[] = { "vendor_id", "cpu family", "model", "stepping", "flags",
                                         "Features",  "CPU ",       "isa",   "cpu\t" };

    for (size_t i = 0; i < AR_COUNT(words); i++)
        if (strncmp(line, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

static void identify_cpu(void)
{
    static const char *const file = "/proc/cpuinfo";
    char     text[8192]; /* the first processor is enough, and costs no visit to the others */
    int      fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t  length = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    uint64_t one = getauxval(AT_HWCAP), two = getauxval(AT_HWCAP2);

    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    for (const char *line = text; *line && *line != '\n';) {
        size_t n = strcspn(line, "\n");

        if (says_what_runs(line)) {
            one = ar_hash_bytes(one, line, n);
            two = ar_hash_bytes(two, line, n);
        }
        line += n + (line[n] == '\n');
    }
    snprintf(cpu, sizeof cpu, "%016" PRIx64 "%016" PRIx64, one, two);
}

const char *ar_cpu_identity(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, identify_cpu);
    return cpu;
}
