/* test_stream_random.c -- random programs from files to files give the bits of the reference
 * evaluator: for any format, chunks, tiles, number of threads and memory. */
#include "compile/core_cache.h"
#include "random_programs.h"

#include <ftw.h>
#include <sys/stat.h>

enum { PROGRAMS = 60, MOST = 64 };

static char world[64];
static int  nstreamed, nlimited;

/* ---- Files ----------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st, (void)kind, (void)walk;
    return remove(path);
}

static void world_begin(void)
{
    snprintf(world, sizeof world, "/tmp/arras-stream-XXXXXX");
    CHECK(mkdtemp(world) != NULL);
}

static void world_end(void) { nftw(world, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

static void name_file(char *path, size_t size, const char *what, int number)
{
    static const char *const endings[] = { "npy", "zarr", "h5" };

    snprintf(path, size, "%s/%s%d.%s", world, what, number, endings[pick(3)]);
}

static bool long_arrays; /* their chunks are neither many nor large */

static void fit_chunk(int64_t *chunk, const arras_buffer *like)
{
    enum { LEAST = 4000, MOST_OF_ONE = 20000 };
    int64_t cells = 1;

    for (int d = 0; d < like->rank; d++)
        cells *= chunk[d];
    for (int d = 0; d < like->rank; d++) {
        for (; cells < LEAST && chunk[d] < like->shape[d]; chunk[d] *= 2)
            cells *= 2;
        for (; cells > MOST_OF_ONE && chunk[d] > 1; chunk[d] /= 2)
            cells = cells / chunk[d] * (chunk[d] / 2);
    }
}

/* A sink with chunks of any lengths. */
static arras_sink *make_sink(const char *path, const arras_buffer *like)
{
    int64_t            chunk[ARRAS_MAX_RANK];
    arras_sink_options options = { .codecs = pick(2)               ? "none"
                                             : strstr(path, ".h5") ? "shuffle deflate 1"
                                                                   : "zstd 1" };
    arras_sink        *sink = NULL;
    arras_error        err;

    for (int d = 0; d < like->rank; d++)
        chunk[d] = 1 + pick((int)like->shape[d] + 1);
    if (long_arrays)
        fit_chunk(chunk, like);
    if (!strstr(path, ".npy") && like->rank > 0 && pick(3))
        options.chunk = chunk;
    else
        options.codecs = NULL;
    if (!CHECK_EQ_INT(arras_sink_create(&sink, path, NULL, like->dtype, like->rank, like->shape,
                                        &options, &err),
                      ARRAS_OK))
        printf("    %s\n", err.text);
    return sink;
}

static arras_source *store_input(const arras_buffer *b, int number)
{
    static const int64_t from_start[ARRAS_MAX_RANK];
    char                 path[200];
    arras_source        *source = NULL;
    arras_sink          *sink;
    arras_error          err = { ARRAS_OK, "" };

    name_file(path, sizeof path, "in", number);
    sink = make_sink(path, b);
    if (!sink ||
        !CHECK_EQ_INT(arras_sink_write(sink, from_start, b->shape, b->data, NULL, 1, &err),
                      ARRAS_OK) ||
        !CHECK_EQ_INT(arras_sink_finish(sink, &err), ARRAS_OK) ||
        !CHECK_EQ_INT(arras_source_open(&source, path, NULL, &err), ARRAS_OK))
        printf("    %s\n", err.text);
    return source;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static bool same_cells(arras_dtype dtype, int64_t n, const char *got, const char *want)
{
    size_t size = ar_dtype_size(dtype);

    for (int64_t i = 0; i < n; i++) {
        ar_value a = { .bits = { 0, 0 } }, b = a;

        memcpy(&a, got + i * (int64_t)size, size);
        memcpy(&b, want + i * (int64_t)size, size);
        ar_value_canonical(dtype, &a);
        ar_value_canonical(dtype, &b);
        if (memcmp(&a, &b, sizeof a) != 0)
            return false;
    }
    return true;
}

static void compare_file(const char *path, const arras_binding *want)
{
    static const int64_t from_start[ARRAS_MAX_RANK];
    const arras_buffer  *b = &want->buffer;
    int64_t              n = (int64_t)cell_count(b);
    char                *cells = malloc((size_t)n * 16 + 16);
    arras_source        *source = NULL;
    arras_error          err = { ARRAS_OK, "" };

    if (CHECK_EQ_INT(arras_source_open(&source, path, NULL, &err), ARRAS_OK) &&
        CHECK_EQ_INT(arras_source_read(source, from_start, b->shape, cells, NULL, 1, &err),
                     ARRAS_OK)) {
        if (!CHECK(same_cells(b->dtype, n, cells, b->data)))
            printf("    %s in %s differs\n", want->name, path);
    } else {
        printf("    %s\n", err.text);
    }
    arras_source_close(source);
    free(cells);
}

static void compare_memory(const arras_results *got, const arras_binding *want)
{
    for (int i = 0; i < got->count; i++)
        if (strcmp(got->items[i].name, want->name) == 0 &&
            !CHECK(same_cells(want->buffer.dtype, (int64_t)cell_count(&want->buffer),
                              got->items[i].buffer.data, want->buffer.data)))
            printf("    %s in memory differs\n", want->name);
}

/* ---- Streaming ------------------------------------------------------------------------------- */

typedef struct {
    int           nmemory, nstored;
    arras_binding memory[MOST];
    arras_stored  stored[MOST];
    char          paths[MOST][200]; /* of sinks */
} places;

/* Inputs go to files or stay in memory; the first two are sizes. */
static void place_inputs(places *p)
{
    for (int i = 0; i < nbound; i++)
        if (i < 2 || pick(4) == 0)
            p->memory[p->nmemory++] = bound[i];
        else
            p->stored[p->nstored++] =
                (arras_stored){ bound[i].name, store_input(&bound[i].buffer, i), NULL };
}

static void place_outputs(places *p, const arras_results *want)
{
    for (int i = 0; i < want->count; i++) {
        if (pick(3) == 0)
            continue;
        name_file(p->paths[p->nstored], sizeof p->paths[0], "out", p->nstored);
        p->stored[p->nstored] =
            (arras_stored){ want->items[i].name, NULL,
                            make_sink(p->paths[p->nstored], &want->items[i].buffer) };
        p->nstored++;
    }
}

static const arras_binding *find_want(const arras_results *want, const char *name)
{
    for (int i = 0; i < want->count; i++)
        if (strcmp(want->items[i].name, name) == 0)
            return &want->items[i];
    return NULL;
}

static void check_results(places *p, const arras_results *got, const arras_results *want)
{
    arras_error err;

    for (int i = 0; i < p->nstored; i++)
        if (p->stored[i].sink) {
            arras_sink *sink = p->stored[i].sink;

            p->stored[i].sink = NULL;
            CHECK_EQ_INT(arras_sink_finish(sink, &err), ARRAS_OK);
            compare_file(p->paths[i], find_want(want, p->stored[i].name));
        }
    for (int i = 0; i < want->count; i++)
        compare_memory(got, &want->items[i]);
}

static void close_places(places *p)
{
    for (int i = 0; i < p->nstored; i++) {
        arras_source_close(p->stored[i].source);
        if (p->stored[i].sink)
            arras_sink_abandon(p->stored[i].sink);
    }
}

static void stream(arras_program *program, arras_status wanted, const arras_results *want,
                   int64_t memory)
{
    static places        p;
    arras_stream_options options = { .memory = memory };
    arras_results       *got = NULL;
    arras_stream        *s = NULL;
    arras_error          err = { ARRAS_OK, "" };
    arras_status         status;

    p = (places){ 0 };
    world_begin();
    place_inputs(&p);
    if (want)
        place_outputs(&p, want);
    status =
        arras_stream_start(&s, program, p.nmemory, p.memory, p.nstored, p.stored, &options, &err);
    if (status == ARRAS_OK)
        status = arras_stream_wait(&got, s, &err);
    arras_stream_free(s);
    nstreamed += status == ARRAS_OK;
    nlimited += status == ARRAS_ELIMIT;
    if (status != ARRAS_ELIMIT && !CHECK(statuses_agree(wanted, status)))
        printf("    %d, not %d: %s\n", (int)status, (int)wanted, err.text);
    else if (status == ARRAS_OK && wanted == ARRAS_OK)
        check_results(&p, got, want);
    arras_results_free(got);
    close_places(&p);
    world_end();
}

static void check_program(const arras_options *options, int64_t memory)
{
    arras_results *want = NULL;
    arras_status   wanted = ar_reference_run(&want, g, nbound, bound, NULL);
    arras_program *p = NULL;
    arras_error    err = { ARRAS_OK, "" };
    arras_status   status = arras_compile(&p, g, options, &err);
    int            before = test.failures;

    if (!CHECK(status == ARRAS_OK || statuses_agree(wanted, status)))
        printf("    %s\n", err.text);
    if (p && CHECK(!arras_program_warning(p)))
        stream(p, wanted, want, memory);
    if (test.failures > before)
        printf("    with %d threads, tiles of %d bytes, %d bytes of memory%s\n", options->threads,
               (int)options->tile_bytes, (int)memory, options->no_fusion ? ", not fused" : "");
    arras_program_free(p);
    ar_results_free(want);
}

static void random_programs(void)
{
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        arras_options options = { .threads = 1 + (int)(seed % 3),
                                  .tile_bytes = seed % 4 ? 1 + (int)(seed * 37 % 5000) : 0,
                                  .no_fusion = seed % 5 == 0 };
        int           failures = test.failures;

        CASE("seed %d", (int)seed);
        longest = seed % 3 ? 40 : 3;
        largest = seed % 3 ? 3000 : 300;
        begin();
        record(seed);
        check_program(&options, seed % 7 ? 64 << 20 : 100000);
        if (test.failures > failures)
            show_programs(g);
        ar_core_cache_clear();
        end();
    }
    CASE("most of them could be streamed");
    CHECK(nstreamed > 2 * nlimited);
    printf("%d programs streamed, %d needed more memory\n", nstreamed, nlimited);
}

/* ---- Places ---------------------------------------------------------------------------------- */

enum { PLACES = 12, CELLS = 500000 };

/* Of one to three axes, flat or tall or wide; the first axis may be a size.  Values are few, so
 * that the best are many. */
static arras_array long_input(void)
{
    static const arras_dtype dtypes[] = { ARRAS_F64, ARRAS_I64, ARRAS_F32, ARRAS_I16, ARRAS_C64 };
    arras_dtype              dtype = dtypes[pick((int)AR_COUNT(dtypes))];
    double                  *values = malloc((2 * CELLS + 2) * sizeof *values);
    int                      rank = 1 + pick(3);
    int64_t                  shape[3] = { CELLS, 1, 1 };

    for (int axis = 1; axis < rank; axis++) {
        shape[axis] = pick(2) ? 1 + pick(9) : 1 + pick(500);
        shape[0] = ar_max64(1, shape[0] / shape[axis]);
    }
    if (pick(2)) {
        int64_t swapped = shape[0];

        shape[0] = shape[rank - 1];
        shape[rank - 1] = swapped;
    }
    for (int i = 0; i < 2 * CELLS; i++)
        values[i] = pick(1000) || pick(8) ? pick(9) - 4 : any_value();
    longest = 3;
    bind_sizes();
    bind_cells("x", dtype, rank, shape, cells_of(dtype, rank, shape, values));
    free(values);
    return ar_input(g, "x", dtype, rank, shape);
}

static void record_places(uint64_t seed)
{
    static const ar_reduction which[] = { AR_REDUCE_argmin, AR_REDUCE_argmax };
    arras_array               x;

    state = seed * 0x9E3779B97F4A7C15U + 1;
    some_are_empty = false;
    x = long_input();
    ar_graph_output_add(g, "all", ar_reduce(which[pick(2)], x, (1u << x->rank) - 1, false, NULL));
    ar_graph_output_add(g, "axis", ar_reduce(which[pick(2)], x, 1u << pick(x->rank), false, NULL));
    ar_graph_output_add(g, "twice",
                        ar_reduce(which[pick(2)], ar_map(AR_OP_add, 2, (arras_array[]){ x, x }),
                                  (1u << x->rank) - 1, pick(2), NULL));
}

/* Less memory than the array has bytes, but for the smallest: places are found part by part. */
static void places_of_long_arrays(void)
{
    int limited = nlimited;

    long_arrays = true;
    for (uint64_t seed = 1; seed <= PLACES; seed++) {
        arras_options options = { .threads = 1 + (int)(seed % 2),
                                  .tile_bytes = seed % 3 ? 1 + (int)(seed * 7919 % 100000) : 0 };
        int           failures = test.failures;

        CASE("seed %d", (int)seed);
        begin();
        record_places(seed);
        check_program(&options, (int64_t)3000000 * options.threads);
        if (test.failures > failures)
            show_programs(g);
        ar_core_cache_clear();
        end();
    }
    CASE("most of them need less memory than the array");
    CHECK(nlimited - limited <= PLACES / 4);
}

TEST_MAIN
{
    RUN(random_programs);
    RUN(places_of_long_arrays);
}
