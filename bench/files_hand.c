/* files_hand.c -- by hand, what bench/files.py compares Arras with: stencils from HDF5 file to HDF5
 * file as a good C programmer writes them, the decoders of chunks by themselves, and a clock.
 *
 *     files_hand loop IN OUT          5-point Laplacian, /h to /lap: H5Dread, compute, H5Dwrite
 *     files_hand cnn|cam5|laplace|interpolate IN OUT     examples/slope, on all threads
 *     files_hand decode IN            chunks of /h that are in memory already, on all threads
 *     files_hand decode IN OUT        and writes what comes out, chunk after chunk
 *     files_hand warm BYTES           touches so much memory and gives it back
 *     files_hand timed COMMAND ...    runs it
 *
 * decode and timed print seconds and bytes: those that were decoded, and those that were resident
 * at most.  All else is timed from outside. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "files_hand.h"
#include "store/store.h"

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- The decoders by themselves -----------------------------------------------------------------
 */

static void check(arras_status status, const arras_error *err)
{
    if (status != ARRAS_OK)
        give_up("decode", err->text);
}

/* All stored chunks, in memory; their number in *n. */
static ar_chunk_bytes *fetch_all(ar_source *s, int64_t *n)
{
    int64_t     rows = (s->info.shape[0] + s->info.chunk[0] - 1) / s->info.chunk[0];
    int64_t     columns = (s->info.shape[1] + s->info.chunk[1] - 1) / s->info.chunk[1];
    arras_error err;

    *n = rows * columns;
    ar_chunk_bytes *chunks = calloc((size_t)*n, sizeof *chunks);
    if (!chunks)
        give_up("memory", strerror(errno));
    for (int64_t i = 0; i < *n; i++)
        check(s->type->fetch(s, (const int64_t[]){ i / columns, i % columns }, &chunks[i], &err),
              &err);
    return chunks;
}

static void write_all(int fd, const char *bytes, size_t n, size_t at)
{
    for (size_t done = 0; done < n;) {
        ssize_t put = pwrite(fd, bytes + done, n - done, (off_t)(at + done));

        if (put <= 0)
            give_up("writing", strerror(errno));
        done += (size_t)put;
    }
}

/* fd: where decoded chunks are written; -1: nowhere. */
static void decode_all(const ar_source *s, const ar_chunk_bytes *chunks, int64_t n, size_t size,
                       int fd)
{
#pragma omp parallel
    {
        void            *cells = floats((int64_t)(size / sizeof(float)));
        ar_codec_scratch scratch = { 0 };
        arras_error      err;

#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < n; i++) {
            check(ar_chain_decode_with(&scratch, &s->chain, chunks[i].skipped, cells, size,
                                       chunks[i].bytes.data, chunks[i].bytes.length, &err),
                  &err);
            if (fd >= 0)
                write_all(fd, cells, size, (size_t)i * size);
        }
        ar_codec_scratch_free(&scratch);
        free(cells);
    }
}

static void run_decode(const char *in, const char *out)
{
    ar_source  *s;
    arras_error err;
    int64_t     n;
    int         fd = out ? open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;

    if (out && fd < 0)
        give_up(out, strerror(errno));
    check(ar_store_open(&s, in, "/h", &err), &err);
    if (s->info.rank != 2 || s->info.dtype != ARRAS_F32 || !s->info.chunked || !s->type->fetch)
        give_up(in, "/h must be an f32 array of two axes, in chunks");
    size_t          size = (size_t)(s->info.chunk[0] * s->info.chunk[1]) * sizeof(float);
    ar_chunk_bytes *chunks = fetch_all(s, &n);
    double          start = now();

    decode_all(s, chunks, n, size, fd);
    printf("%.6f %zu\n", now() - start, (size_t)n * size);
    for (int64_t i = 0; i < n; i++)
        ar_text_free(&chunks[i].bytes);
    free(chunks);
    arras_source_close(s);
    if (out)
        close(fd);
}

/* ---- Memory -------------------------------------------------------------------------------------
 */

/* A host takes memory back that its guests did not use for a while.  Whoever comes first after that
 * waits for each page until it is there again, up to ten times as long as for others. */
static void run_warm(const char *bytes)
{
    enum { PAGE = 4096 };
    int64_t n = atoll(bytes);
    char   *block = n > 0 ? mmap(NULL, (size_t)n, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                          : MAP_FAILED;

    if (block == MAP_FAILED)
        give_up("warm", n > 0 ? strerror(errno) : "so many bytes, more than 0");
#pragma omp parallel for
    for (int64_t at = 0; at < n; at += PAGE)
        block[at] = 1;
    munmap(block, (size_t)n);
}

/* ---- A clock ------------------------------------------------------------------------------------
 */

/* What the system says of a child's memory begins with that of its parent, which must be small. */
static void run_timed(char **command)
{
    struct rusage used;
    double        start = now();
    pid_t         child = fork();
    int           status;

    if (child == 0) {
        execvp(command[0], command);
        give_up(command[0], strerror(errno));
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child)
        give_up(command[0], strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        give_up(command[0], "it failed");
    printf("%.6f %ld\n", now() - start, used.ru_maxrss * 1024);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const char *in, const char *out);
    } loops[] = { { "loop", run_loop },
                  { "cnn", run_cnn },
                  { "cam5", run_cam5 },
                  { "laplace", run_laplace },
                  { "interpolate", run_interpolate } };

    if (argc >= 3 && strcmp(argv[1], "timed") == 0)
        return run_timed(argv + 2), 0;
    if ((argc == 3 || argc == 4) && strcmp(argv[1], "decode") == 0)
        return run_decode(argv[2], argc == 4 ? argv[3] : NULL), 0;
    if (argc == 3 && strcmp(argv[1], "warm") == 0)
        return run_warm(argv[2]), 0;
    for (size_t i = 0; argc == 4 && i < sizeof loops / sizeof *loops; i++)
        if (strcmp(argv[1], loops[i].name) == 0)
            return loops[i].run(argv[2], argv[3]), 0;
    fprintf(stderr, "files_hand loop|cnn|cam5|laplace|interpolate IN OUT, decode IN [OUT], "
                    "warm BYTES, timed COMMAND ...\n");
    return 2;
}
