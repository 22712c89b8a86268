/* test_write_behind.c -- what is written behind somebody's back is in the file, or its failure is
 * heard of: whole pages and parts of them, by several threads, with a disk that refuses. */
#include "store/safe/write_behind.h"
#include "store_world.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

enum { FILE_BYTES = 24 << 20, WRITERS = 3 };

static char *wanted; /* FILE_BYTES of it */
static bool  can;    /* the file system of the tests takes writes past the cache */

static uint64_t mix(uint64_t x) { return ar_hash_mix(x, 77); }

static int make(const char *name)
{
    int fd = open(at(name), O_RDWR | O_CREAT | O_TRUNC, 0666);

    CHECK(fd >= 0);
    return fd;
}

/* The descriptor that it opens is the lowest that is free. */
static ar_write_behind *behind(int fd, int *past)
{
    ar_write_behind *b = NULL;

    *past = dup(fd);
    close(*past);
    CHECK_EQ_INT(ar_write_behind_new(&b, fd, 0, FILE_BYTES, AR_WRITE_BEHIND_LEAST, "x", &err),
                 ARRAS_OK);
    return b;
}

static bool same(int fd, int64_t n)
{
    char *got = calloc(1, (size_t)n);
    bool  equal = pread(fd, got, (size_t)n, 0) == n && memcmp(got, wanted, (size_t)n) == 0;

    free(got);
    return equal;
}

static void is_possible(void)
{
    int              past, fd = make("possible");
    ar_write_behind *b = behind(fd, &past);

    can = b != NULL;
    if (!can)
        printf("this file system does not take writes past the cache: they are not tested\n");
    ar_write_behind_free(b);
    close(fd);
}

/* ---- All is written -------------------------------------------------------------------------- */

typedef struct {
    ar_write_behind *b;
    int              number;
    arras_status     status;
} writer;

/* In memory that was lent, if there is some, or as it is. */
static arras_status write_piece(ar_write_behind *b, int64_t n, int64_t at_byte, bool borrows)
{
    char *lent = borrows ? ar_write_behind_reserve(b, n, at_byte) : NULL;

    if (lent)
        memcpy(lent, wanted + at_byte, (size_t)n);
    return ar_write_behind_write(b, lent ? lent : wanted + at_byte, n, at_byte, "x", NULL);
}

/* Every third piece, whose lengths are arbitrary, or pages, or many. */
static void *write_pieces(void *context)
{
    writer *w = context;

    for (int64_t at_byte = 0, i = 0; at_byte < FILE_BYTES; i++) {
        int64_t most[] = { 5000, 70000, 300000, 3 << 20 };
        int64_t n = 1 + (int64_t)(mix((uint64_t)i) % (uint64_t)most[i % 4]);

        n = i % 5 == 0 ? (n + 4095) / 4096 * 4096 : n;
        n = ar_min64(n, FILE_BYTES - at_byte);
        if (i % WRITERS == w->number && w->status == ARRAS_OK)
            w->status = write_piece(w->b, n, at_byte, i % 2);
        at_byte += n;
    }
    return NULL;
}

static void pieces_of_all_sizes(void)
{
    int              past, fd = make("pieces");
    ar_write_behind *b = behind(fd, &past);
    pthread_t        threads[WRITERS];
    writer           writers[WRITERS];

    for (int i = 0; i < WRITERS && b; i++) {
        writers[i] = (writer){ .b = b, .number = i };
        pthread_create(&threads[i], NULL, write_pieces, &writers[i]);
    }
    for (int i = 0; i < WRITERS && b; i++) {
        pthread_join(threads[i], NULL);
        CHECK_EQ_INT(writers[i].status, ARRAS_OK);
    }
    CHECK(!b || ar_write_behind_wait(b, "x", &err) == ARRAS_OK);
    CHECK(!b || same(fd, FILE_BYTES));
    ar_write_behind_free(b);
    close(fd);
}

/* Slots are what there is to lend, and they are there again when what was in them is written: those
 * of parts of pages at both ends too. */
static void lends(void)
{
    enum { MUCH = 10 << 20 };
    int              past, fd = make("lent");
    ar_write_behind *b = behind(fd, &past);

    for (int64_t at_byte = 0; b && at_byte + MUCH <= FILE_BYTES; at_byte += MUCH - 5) {
        char *lent = ar_write_behind_reserve(b, MUCH, at_byte);

        CASE("from %" PRId64, at_byte);
        CHECK(lent != NULL);
        CHECK(!lent || (uintptr_t)lent % 4096 == (uintptr_t)(at_byte % 4096));
        CHECK(ar_write_behind_reserve(b, MUCH, at_byte) == NULL);
        if (lent)
            memcpy(lent, wanted + at_byte, MUCH);
        CHECK(lent && ar_write_behind_write(b, lent, MUCH, at_byte, "x", &err) == ARRAS_OK);
        CHECK_EQ_INT(ar_write_behind_wait(b, "x", &err), ARRAS_OK);
    }
    CHECK(!b || same(fd, 2 * MUCH - 5));
    CHECK(!b || ar_write_behind_reserve(b, 100, 0) == NULL);        /* is not worth it */
    CHECK(!b || ar_write_behind_reserve(b, FILE_BYTES, 0) == NULL); /* is more than there is */
    CHECK(!b || ar_write_behind_reserve(b, MUCH, 0) != NULL);       /* and never comes back */
    ar_write_behind_free(b);
    close(fd);
}

/* ---- Disks that refuse ----------------------------------------------------------------------- */

/* Takes requests, and fails later. */
static int broken_pipe(void)
{
    int ends[2];

    signal(SIGPIPE, SIG_IGN);
    CHECK_EQ_INT(pipe(ends), 0);
    close(ends[0]);
    return ends[1];
}

static int nothing(void) { return open("/dev/null", O_RDONLY); }

/* Where writes past the cache go to; what was written is in the file all the same. */
static void refusals(void)
{
    static const struct {
        const char *when;
        int (*instead)(void);
    } rows[] = { { "at once", nothing }, { "later", broken_pipe } };

    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        int              past, fd = make("refused"), other = rows[i].instead();
        ar_write_behind *b = behind(fd, &past);

        CASE("refused %s", rows[i].when);
        CHECK(other >= 0);
        if (b) {
            CHECK_EQ_INT(dup2(other, past), past);
            CHECK_EQ_INT(write_piece(b, 3000001, 0, true), ARRAS_OK);
            CHECK_EQ_INT(write_piece(b, (20 << 20) - 3000001, 3000001, false), ARRAS_OK);
            CHECK_EQ_INT(ar_write_behind_wait(b, "x", &err), ARRAS_OK);
            CHECK(same(fd, 20 << 20));
        }
        ar_write_behind_free(b);
        close(other);
        close(fd);
    }
}

/* Neither way is left: whoever writes next, or waits, hears of it. */
static void a_full_disk(void)
{
    struct rlimit    old, small;
    int              past, fd = make("full"), full = broken_pipe();
    ar_write_behind *b = behind(fd, &past);

    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){ 1 << 20, old.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    if (b) {
        CHECK_EQ_INT(dup2(full, past), past);
        setrlimit(RLIMIT_FSIZE, &small);
        CHECK_EQ_INT(ar_write_behind_write(b, wanted, 1 << 20, 4 << 20, "sea.h5", &err), ARRAS_OK);
        CHECK_EQ_INT(ar_write_behind_wait(b, "sea.h5", &err), ARRAS_EIO);
        CHECK_HAS(err.text, "cannot write sea.h5: File too large");
        CHECK_EQ_INT(ar_write_behind_write(b, wanted, 1 << 20, 0, "sea.h5", &err), ARRAS_EIO);
        setrlimit(RLIMIT_FSIZE, &old);
    }
    CHECK(full >= 0);
    ar_write_behind_free(b);
    close(full);
    close(fd);
}

/* A disk without room is known before anything is computed. */
static void no_room(void)
{
    struct rlimit    old, small;
    int              fd = make("room");
    ar_write_behind *b = NULL;

    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){ 1 << 20, old.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    CHECK_EQ_INT(ar_write_behind_new(&b, fd, 0, FILE_BYTES, AR_WRITE_BEHIND_LEAST, "sea.h5", &err),
                 can ? ARRAS_EIO : ARRAS_OK);
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK(b == NULL);
    if (can)
        CHECK_HAS(err.text, "cannot write sea.h5, which needs 25165824 bytes: File too large");
    close(fd);
}

static void memory_runs_out(void)
{
    int64_t live = ar_alloc_live();

    for (int64_t n = 1; n <= 3; n++) {
        int              fd = make("memory");
        ar_write_behind *b = NULL;

        CASE("allocation %" PRId64, n);
        ar_alloc_fail_from(n);
        arras_status status =
            ar_write_behind_new(&b, fd, 0, FILE_BYTES, AR_WRITE_BEHIND_LEAST, "x", &err);
        ar_alloc_fail_from(0);
        CHECK(n > 1 ? status == ARRAS_OK : status == ARRAS_ENOMEM);
        ar_write_behind_free(b);
        close(fd);
        CHECK_EQ_INT(ar_alloc_live(), live);
    }
}

TEST_MAIN
{
    world_begin();
    wanted = malloc(FILE_BYTES);
    for (int i = 0; i < FILE_BYTES / 8; i++) {
        uint64_t x = mix((uint64_t)i);

        memcpy(wanted + 8 * (ptrdiff_t)i, &x, 8);
    }
    RUN(is_possible);
    RUN(pieces_of_all_sizes);
    RUN(lends);
    RUN(refusals);
    RUN(a_full_disk);
    RUN(no_room);
    RUN(memory_runs_out);
    free(wanted);
    world_end();
}
