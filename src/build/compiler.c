/* compiler.c -- runs the C compiler: source in through a nameless file, object out.
 * No shell, nothing of ours inherited, a limit on time and on what it may say. */
#include "build/build.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Loops over cells must become vectors, which -O2 alone does for few of them; the rest of -O3 would
 * take longer than it saves.  Every word here is known to GCC and to Clang. */
const char *const ar_compiler_arguments[] = {
    "-O2",
    "-ftree-vectorize",
    "-fvect-cost-model",
    "--param=vect-epilogues-nomask=0",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-march=native",
    "-fno-asynchronous-unwind-tables",
    "-fno-use-linker-plugin",
    "-pipe", /* the assembler starts while the compiler works */
    "-fPIC",
    "-nostdlib",
    "-w",
    NULL,
};

/* ---- Files ----------------------------------------------------------------------------------- */

static const char *temporary_directory(void)
{
    const char *directory = secure_getenv("TMPDIR");

    return directory && *directory ? directory : "/tmp";
}

int ar_scratch_open(const char *label)
{
    int fd = memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int high;

    if (fd < 0)
        fd = open(temporary_directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0700);
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    /* A program may run with its standard files closed; a child needs these three numbers. */
    high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return high;
}

bool ar_write_all(int fd, const void *bytes, size_t length)
{
    const char *from = bytes;

    for (size_t at = 0; at < length;) {
        int64_t n = ar_write_some(fd, from + at, (int64_t)(length - at), (int64_t)at);

        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

bool ar_read_all(ar_text *out, int fd)
{
    char block[4096];

    for (;;) {
        ssize_t n = read(fd, block, sizeof block);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0 && !out->failed;
        ar_text_put(out, block, (size_t)n);
    }
}

/* ---- One run --------------------------------------------------------------------------------- */

enum { MESSAGES_LIMIT = 65536, MESSAGES_READ = 8192, DEFAULT_TIMEOUT_MS = 120 * 1000 };

typedef struct {
    const ar_compiler *compiler;
    char               tmpdir[PATH_MAX]; /* "TMPDIR=" and a private directory */
    char              *directory;        /* within tmpdir; NULL: not made yet */
    char               output[PATH_MAX + 8];
    int                source, messages; /* its standard input and error */
    const char       **arguments;
    char             **environment;
} job;

static arras_status make_directory(job *j, arras_error *err)
{
    int n = snprintf(j->tmpdir, sizeof j->tmpdir, "TMPDIR=%s/arras-XXXXXX", temporary_directory());

    if (n < 0 || (size_t)n >= sizeof j->tmpdir || !mkdtemp(j->tmpdir + strlen("TMPDIR=")))
        return ar_fail(err, ARRAS_EBUILD,
                       "cannot make a directory in %s: %s; set TMPDIR to one that can be written",
                       temporary_directory(), strerror(errno));
    j->directory = j->tmpdir + strlen("TMPDIR=");
    snprintf(j->output, sizeof j->output, "%s/k.so", j->directory);
    return ARRAS_OK;
}

/* What the compiler left there, should it have been killed, goes too. */
static void remove_directory(const char *path)
{
    DIR *directory = opendir(path);

    for (struct dirent *entry; directory && (entry = readdir(directory));)
        unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        closedir(directory);
    rmdir(path);
}

static arras_status open_files(job *j, const char *source, size_t length, arras_error *err)
{
    j->source = ar_scratch_open("arras-source");
    j->messages = ar_scratch_open("arras-messages");
    if (j->source < 0 || j->messages < 0 || !ar_write_all(j->source, source, length))
        return ar_fail(err, ARRAS_EBUILD, "cannot write a source of %zu bytes for %s: %s", length,
                       j->compiler->path, strerror(errno));
    /* A compiler gone mad may write all day; it is not given more room than this. */
    if (ftruncate(j->messages, MESSAGES_LIMIT) == 0)
        fcntl(j->messages, F_ADD_SEALS, F_SEAL_GROW);
    return ARRAS_OK;
}

static size_t count_list(const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

static size_t add_list(const char **to, size_t at, const char *const *list)
{
    size_t n = count_list(list);

    if (n)
        memcpy(to + at, list, n * sizeof *list);
    return at + n;
}

static arras_status make_arguments(job *j, const ar_build_options *options, arras_error *err)
{
    const char *const source[] = {
        options->unlinked ? "-c" : "-shared", "-x", "c", "-o", j->output, "-", NULL
    };
    size_t most = count_list(ar_compiler_arguments) + count_list(options->flags) +
                  count_list(options->libraries) + AR_COUNT(source) + 1;
    size_t n = 0;

    j->arguments = ar_alloc(most, sizeof *j->arguments);
    if (!j->arguments)
        return ar_fail_memory(err, most * sizeof *j->arguments);
    j->arguments[n++] = j->compiler->path;
    n = add_list(j->arguments, n, ar_compiler_arguments);
    n = add_list(j->arguments, n, options->flags);
    n = add_list(j->arguments, n, source);
    if (!options->unlinked)
        add_list(j->arguments, n, options->libraries);
    return ARRAS_OK;
}

/* Ours, but for messages that can be understood and temporary files that can be found. */
static arras_status make_environment(job *j, arras_error *err)
{
    static char english[] = "LC_ALL=C";
    size_t      most = count_list((const char *const *)environ) + 3, n = 0;

    j->environment = ar_alloc(most, sizeof *j->environment);
    if (!j->environment)
        return ar_fail_memory(err, most * sizeof *j->environment);
    for (char **e = environ; e && *e && n < most - 3; e++)
        if (strncmp(*e, "LC_ALL=", 7) != 0 && strncmp(*e, "TMPDIR=", 7) != 0)
            j->environment[n++] = *e;
    j->environment[n++] = english;
    j->environment[n] = j->tmpdir;
    return ARRAS_OK;
}

static void job_close(job *j)
{
    if (j->source >= 0)
        close(j->source);
    if (j->messages >= 0)
        close(j->messages);
    if (j->directory)
        remove_directory(j->directory);
    ar_free(j->arguments);
    ar_free(j->environment);
}

static int set_files(posix_spawn_file_actions_t *files, const job *j)
{
    int failed = posix_spawn_file_actions_adddup2(files, j->source, STDIN_FILENO);

    if (!failed)
        failed = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(files, j->messages, STDERR_FILENO);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    if (!failed)
        failed = posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1);
#endif
    return failed;
}

/* A process group of its own, so that a time-out reaches all it started; no signal blocked or
 * ignored, whatever the program does with its own. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t signals;
    int      failed = posix_spawnattr_setflags(
             attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    sigemptyset(&signals);
    if (!failed)
        failed = posix_spawnattr_setsigmask(attributes, &signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    return failed ? failed : posix_spawnattr_setsigdefault(attributes, &signals);
}

/* 0, or an error number. */
static int start(pid_t *pid, const job *j)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t          attributes;
    int                        failed = posix_spawn_file_actions_init(&files);

    if (failed)
        return failed;
    failed = posix_spawnattr_init(&attributes);
    if (!failed) {
        failed = set_files(&files, j);
        if (!failed)
            failed = set_attributes(&attributes);
        if (!failed)
            failed = posix_spawn(pid, j->compiler->path, &files, &attributes,
                                 (char *const *)j->arguments, j->environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* False when it did not end in time.  A program that ignores SIGCHLD, or reaps all children, leaves
 * us without a status: then it is 0, and what was written has to speak for itself. */
static bool ends_in_time(pid_t pid, int64_t timeout_ms, int *status)
{
    int64_t       start_ms = now_ms();
    int           handle = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd wait = { .fd = handle, .events = POLLIN };
    bool          ended = false;

    for (;;) {
        pid_t   done = waitpid(pid, status, WNOHANG);
        bool    reaped = done < 0 && errno != EINTR;
        int64_t left = timeout_ms - (now_ms() - start_ms);

        if (reaped)
            *status = 0;
        ended = done == pid || reaped;
        if (ended || left <= 0)
            break;
        /* On a kernel without such handles, look again every millisecond. */
        poll(&wait, 1, handle < 0 ? 1 : (int)ar_min64(left, INT_MAX));
    }
    if (handle >= 0)
        close(handle);
    return ended;
}

static void stop(pid_t pid)
{
    killpg(pid, SIGKILL); /* the compiler and what it started; a group of their own */
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* ---- What went wrong ------------------------------------------------------------------------- */

/* The first error in the source, else the first line there is. */
static const char *first_error(char *messages)
{
    const char *first = NULL;
    char       *rest = NULL;

    for (char *line = strtok_r(messages, "\r\n", &rest); line;
         line = strtok_r(NULL, "\r\n", &rest)) {
        if (strncmp(line, "<stdin>:", 8) == 0 && strstr(line, "error: "))
            return line;
        if (!first)
            first = line;
    }
    return first ? first : "it said nothing";
}

static void keep_ascii(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text > 126)
            *text = '?';
}

static arras_status fail_by_message(const job *j, const char *how, int number, arras_error *err)
{
    char    messages[MESSAGES_READ];
    ssize_t n = pread(j->messages, messages, sizeof messages - 1, 0);

    messages[n > 0 ? n : 0] = '\0';
    keep_ascii(messages);
    return ar_fail(err, ARRAS_EBUILD, "%s did not compile a kernel (%s %d): %.600s",
                   j->compiler->path, how, number, first_error(messages));
}

static arras_status fail_to_start(const job *j, int number, arras_error *err)
{
    ar_compiler_forget();
    return ar_fail(err, ARRAS_EBUILD, "cannot run %s: %s; set ARRAS_CC to another C compiler",
                   j->compiler->path, strerror(number));
}

static arras_status read_output(ar_text *object, const job *j, arras_error *err)
{
    size_t before = object->length;
    int    fd = open(j->output, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool   whole = fd >= 0 && ar_read_all(object, fd) && object->length > before;

    if (fd >= 0)
        close(fd);
    if (object->failed)
        return ar_fail_memory(err, object->length);
    return whole ? ARRAS_OK : fail_by_message(j, "no output, exit status", 0, err);
}

static arras_status run(ar_text *object, const job *j, int64_t timeout_ms, arras_error *err)
{
    pid_t pid;
    int   status = 0, failed = start(&pid, j);

    if (failed)
        return fail_to_start(j, failed, err);
    if (!ends_in_time(pid, timeout_ms, &status)) {
        stop(pid);
        return ar_fail(err, ARRAS_ELIMIT,
                       "%s was stopped: it took longer than %" PRId64 " ms to compile a kernel",
                       j->compiler->path, timeout_ms);
    }
    if (WIFSIGNALED(status))
        return fail_by_message(j, "killed by signal", WTERMSIG(status), err);
    if (WEXITSTATUS(status) != 0)
        return fail_by_message(j, "exit status", WEXITSTATUS(status), err);
    return read_output(object, j, err);
}

arras_status ar_compiler_run(ar_text *object, const ar_compiler *compiler,
                             const ar_build_options *options, const char *source, size_t length,
                             arras_error *err)
{
    job          j = { .compiler = compiler, .source = -1, .messages = -1 };
    int64_t      timeout_ms = options->timeout_ms > 0 ? options->timeout_ms : DEFAULT_TIMEOUT_MS;
    arras_status status = make_directory(&j, err);

    if (!status)
        status = open_files(&j, source, length, err);
    if (!status)
        status = make_arguments(&j, options, err);
    if (!status)
        status = make_environment(&j, err);
    if (!status)
        status = run(object, &j, timeout_ms, err);
    job_close(&j);
    return status;
}
