/* damage_tool.c -- for tests in Python: what becomes of an array when one byte of its file is
 * another one.
 *
 * damage_tool FILE INSIDE FIRST LAST VALUE...: for every byte FIRST <= i < LAST of the file, and
 * every value: "^N" (the byte xor N) or "N", opens and reads the array, and lists the file.  Either
 * works, or it is refused with one line that names the file; the numbers of both are printed.  Long
 * runs of zeros are left alone.  Whatever else happens is a line "byte I value N: WHAT", and exit
 * status 1.  The file is as before at the end.
 *
 * Processes of their own try some bytes each, so that one that dies is known. */
#include "store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOGETHER = 512, MOST_CELLS = 1 << 16, SECONDS = 60, AROUND = 12, COMPLAINED = 3 };

typedef struct {
    const char *path, *inside;
    char      **values;
    int         nvalues, fd;
    char       *whole; /* the file as it is */
    long        size, good, refused;
} trial;

/* ---- One variant ----------------------------------------------------------------------------- */

/* A damaged shape may be huge: then some cells from its beginning. */
static arras_status read_cells(ar_source *s, arras_error *err)
{
    static char  cells[16 * MOST_CELLS];
    int64_t      lo[ARRAS_MAX_RANK] = { 0 }, hi[ARRAS_MAX_RANK], left = MOST_CELLS;
    arras_status status;

    for (int d = 0; d < s->info.rank; d++) {
        hi[d] = s->info.shape[d] < left ? s->info.shape[d] : left;
        left /= hi[d] > 0 ? hi[d] : 1;
    }
    status = ar_source_read(s, lo, hi, cells, NULL, 1, err);
    /* The end too: other chunks, and those that end beyond the array. */
    for (int d = 0; d < s->info.rank && status == ARRAS_OK; d++) {
        lo[d] = s->info.shape[d] - (hi[d] - lo[d]);
        hi[d] = s->info.shape[d];
    }
    return status == ARRAS_OK ? ar_source_read(s, lo, hi, cells, NULL, 1, err) : status;
}

static const char *complaint_about(const trial *t, const arras_error *err)
{
    if (!strstr(err->text, t->path))
        return "its file is not named";
    return strchr(err->text, '\n') ? "more than one line" : NULL;
}

/* What people see of a file: what is in it, and what is said about an array. */
static const char *show(const trial *t, ar_source *s)
{
    arras_error err = { 0 };
    ar_text     text = { 0 };
    const char *what = NULL;

    if (s && s->type->describe && s->type->describe(s, &text, &err) != ARRAS_OK)
        what = complaint_about(t, &err);
    if (!s && ar_store_list(&text, t->path, NULL, &err) != ARRAS_OK)
        what = complaint_about(t, &err);
    ar_text_free(&text);
    return what;
}

/* NULL: all is well. */
static const char *try_file(trial *t)
{
    arras_error  err = { 0 };
    ar_source   *s = NULL;
    arras_status status = ar_store_open(&s, t->path, t->inside, &err);
    const char  *what = show(t, NULL);

    if (status == ARRAS_OK) {
        what = what ? what : show(t, s);
        status = read_cells(s, &err);
        s->type->close(s);
    }
    *(status == ARRAS_OK ? &t->good : &t->refused) += 1;
    ar_buffers_clear(); /* what waits for the next reader is nobody's */
    if (ar_alloc_live() != 0)
        return "memory was not freed";
    return what || status == ARRAS_OK ? what : complaint_about(t, &err);
}

static uint8_t changed(uint8_t byte, const char *how)
{
    return *how == '^' ? byte ^ (uint8_t)atoi(how + 1) : (uint8_t)atoi(how);
}

/* Room that is not used: more zeros before and after than numbers have. */
static bool is_unused(const trial *t, long at)
{
    static const char zeros[2 * AROUND + 1];

    return at >= AROUND && at + AROUND < t->size &&
           memcmp(t->whole + at - AROUND, zeros, sizeof zeros) == 0;
}

static bool put(const trial *t, long at, uint8_t byte) { return pwrite(t->fd, &byte, 1, at) == 1; }

/* Complaints go to standard output; false: there were some. */
static bool try_byte(trial *t, long at)
{
    uint8_t byte;
    bool    good = pread(t->fd, &byte, 1, at) == 1;

    for (int i = 0; i < t->nvalues && good; i++) {
        uint8_t     other = changed(byte, t->values[i]);
        const char *what;

        if (other == byte)
            continue;
        alarm(SECONDS);
        good = put(t, at, other);
        what = try_file(t);
        if (what)
            printf("byte %ld value %d: %s\n", at, other, what);
        good = put(t, at, byte) && good && !what;
    }
    return good;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static int try_range(trial *t, long first, long last)
{
    bool good = try_file(t) == NULL && t->good == 1; /* as it is */

    if (!good)
        printf("it can't be read as it is\n");
    t->good = t->refused = 0;
    for (long at = first; at < last; at++)
        good = (is_unused(t, at) || try_byte(t, at)) && good;
    printf("%ld good, %ld refused\n", t->good, t->refused);
    fflush(stdout);
    return good ? 0 : COMPLAINED;
}

/* What libhdf5 does when it is left is not looked at: it can't close some of what it opened. */
static int in_a_process(trial *t, long first, long last)
{
    pid_t child = fork();
    int   status = 1;

    if (child == 0)
        _exit(try_range(t, first, last));
    return child > 0 && waitpid(child, &status, 0) == child ? status : 1;
}

static bool restore(const trial *t)
{
    return pwrite(t->fd, t->whole, (size_t)t->size, 0) == t->size;
}

/* Which one it was. */
static void find_death(trial *t, long first, long last)
{
    for (long at = first; at < last; at++) {
        int status = in_a_process(t, at, at + 1);

        if (status != 0)
            printf("byte %ld: %s %d\n", at, WIFSIGNALED(status) ? "signal" : "status",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        fflush(stdout);
        restore(t);
    }
}

static bool is_all_unused(const trial *t, long first, long last)
{
    while (first < last && is_unused(t, first))
        first++;
    return first == last;
}

static bool load(trial *t, const char *path)
{
    t->path = path;
    t->fd = open(path, O_RDWR);
    t->size = lseek(t->fd, 0, SEEK_END);
    t->whole = t->size > 0 ? malloc((size_t)t->size) : NULL;
    return t->whole && pread(t->fd, t->whole, (size_t)t->size, 0) == t->size;
}

int main(int argc, char **argv)
{
    trial t = { .fd = -1 };
    long  first, last;
    int   failed = 0;

    if (argc < 6 || !load(&t, argv[1])) {
        fprintf(stderr, "see the head of damage_tool.c\n");
        return 2;
    }
    t.inside = argv[2];
    first = atol(argv[3]);
    last = atol(argv[4]) < t.size ? atol(argv[4]) : t.size;
    t.values = argv + 5;
    t.nvalues = argc - 5;
    for (long at = first; at < last; at += TOGETHER) {
        long end = at + TOGETHER < last ? at + TOGETHER : last;
        int  status = is_all_unused(&t, at, end) ? 0 : in_a_process(&t, at, end);

        failed = failed || status != 0 || !restore(&t);
        if (WIFSIGNALED(status) || (status != 0 && WEXITSTATUS(status) != COMPLAINED))
            find_death(&t, at, end);
    }
    free(t.whole);
    return failed;
}
