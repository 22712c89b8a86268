/* test_stack.c -- the library and the language on threads with a stack of 64 KB.
 *
 * Such a thread is given the upper end of a long painted block: what is written below its 64 KB
 * does no harm, and is counted.  With sanitizers, or without optimisation, functions take several
 * times as much: then all of it runs, but nothing is counted. */
#include "base/base.h"
#include "compile/core_cache.h"
#include "lang/lang.h"
#include "pool/pool.h"
#include "store_world.h"

#include <arras/apply.h>
#include <arras/sweep.h>
#include <arras/taskgraph.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { STACK = 64 << 10, BLOCK = 4 << 20, PAINT = 0xa5 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__) ||     \
    !defined(NDEBUG)
#define COUNTED false
#else
#define COUNTED true
#endif

typedef struct {
    void (*function)(void *argument);
    void *argument;
} call;

static void *do_call(void *context)
{
    const call *c = context;

    c->function(c->argument);
    return NULL;
}

/* Calls it on a short stack; the bytes that it took of it. */
static int64_t on_short_stack(void (*function)(void *argument), void *argument)
{
    call           c = { function, argument };
    unsigned char *block =
        mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t      thread;
    int64_t        untouched = 0;

    if (!CHECK(block != MAP_FAILED))
        return 0;
    memset(block, PAINT, BLOCK);
    pthread_attr_init(&attributes);
    CHECK_EQ_INT(pthread_attr_setstack(&attributes, block + BLOCK - STACK, STACK), 0);
    if (CHECK_EQ_INT(pthread_create(&thread, &attributes, do_call, &c), 0))
        pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    while (untouched < BLOCK && block[untouched] == PAINT)
        untouched++;
    munmap(block, BLOCK);
    return BLOCK - untouched;
}

static void fits(void (*function)(void *argument), void *argument)
{
    int64_t taken = on_short_stack(function, argument);

    if (COUNTED && !CHECK(taken <= STACK))
        printf("    %" PRId64 " bytes of the stack, and there are %d\n", taken, STACK);
    if (getenv("ARRAS_TEST_SHOW"))
        printf("    %s %s: %" PRId64 "\n", test.function, test.row, taken);
}

/* ---- Programs of the language ---------------------------------------------------------------- */

/* Lowers, prints, reads back, compiles, launches, explains and evaluates it. */
static void run_text(void *argument)
{
    static const int threads[] = { 1, 3 };
    const char      *text = argument;
    lang_error       wrong;
    lang_program    *p = lang_program_new();
    arras_graph     *recorded = NULL, *back = NULL;
    arras_program   *compiled = NULL;
    arras_results   *results = NULL;
    const lang_world nothing = { 0 };
    arras_summary    summary;
    char            *printed = NULL;
    arras_error      why;

    if (!CHECK(lang_program_add(p, "text", text, strlen(text), &wrong)) ||
        !CHECK(lang_lower(&recorded, p, &nothing, &wrong)))
        printf("    %s\n", wrong.text);
    lang_program_free(p);
    if (!recorded)
        return;
    CHECK_EQ_INT(arras_summarize(&summary, recorded, &why), ARRAS_OK);
    for (int form = 0; form < ARRAS_TEXT_END; form++) {
        CHECK_EQ_INT(arras_graph_print(&printed, NULL, recorded, (arras_text_form)form, &why),
                     ARRAS_OK);
        if (form == ARRAS_TEXT_FULL)
            CHECK_EQ_INT(arras_graph_read(&back, printed, strlen(printed), &why), ARRAS_OK);
        arras_text_free(printed);
    }
    arras_graph_free(back);
    for (size_t i = 0; i < 2; i++) {
        arras_options options = { .threads = threads[i], .no_cache = i == 0 };

        if (!CHECK_EQ_INT(arras_compile(&compiled, recorded, &options, &why), ARRAS_OK))
            break;
        CHECK_EQ_INT(arras_launch(&results, compiled, 0, NULL, &why), ARRAS_OK);
        arras_results_free(results);
        if (!arras_program_warning(compiled)) {
            CHECK_EQ_INT(arras_program_print(&printed, NULL, compiled, ARRAS_PROGRAM_EXPLAIN, &why),
                         ARRAS_OK);
            arras_text_free(printed);
        }
        arras_program_free(compiled);
    }
    if (summary.flops < 1000000) {
        CHECK_EQ_INT(arras_evaluate(&results, recorded, 0, NULL, &why), ARRAS_OK);
        arras_results_free(results);
    }
    arras_graph_free(recorded);
}

static void programs(void)
{
    static const char *const texts[] = {
        "let x[i:300, j:70] = i*0.5 + j\ny[j] = sum[i] x[i, j]\nz[j] = max[i] x[i, j]",
        "let x[i:3000, j:300] = (i*7 + j)%11 + 0.5\na = sum(x, axis=0)\nb = min(x, axis=0)",
        "let x[i:3000, j:300] = (i*7 + j)%11 + 0.5\na[j] = argmax[i] x[i, j]\n"
        "b[j] = argmin[i] x[i, j]\nc[j] = argmax[i] x[i, j]*x[i, j]\nd[j] = argmin[i] sin(x[i, j])",
        "let x[i:300, j:300] = i*0.5 + j\ny[i, j] = sum[k] x[i, k]*x[k, j]",
        "let x[i:70, j:30, k:9] = i + j*k\ny[i, j] = sum[k, l] x[i, l, k]*x[j, l, k]*1.5",
        "let x[i:30000] = i*0.5\ny = sum(x)\nm = mean(x)\ns = std(x)",
        "let x[i:3000, j:7] = i*0.5 + j\ny[i] = sum[j] x[i, j]*x[i, j]\nz[i] = argmax[j] x[i, j]",
        "edge u = nearest\nlet u[i:90, j:90] = sin(i*0.1 + j)\n"
        "v[i, j] = (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1])/4",
    };

    for (size_t i = 0; i < AR_COUNT(texts); i++) {
        CASE("%.60s", texts[i]);
        fits(run_text, (void *)(uintptr_t)texts[i]);
    }
}

/* As deep as texts and expressions may be. */
static void deep_programs(void)
{
    static char text[1 << 16];
    char       *at;

    CASE("brackets in brackets");
    at = text + sprintf(text, "let x[i:30] = i*0.5\ny[i] = ");
    for (int i = 0; i < 190; i++)
        at += sprintf(at, i % 3 ? "(1.5 + " : "sin(");
    at += sprintf(at, "x[i]");
    for (int i = 0; i < 190; i++)
        at += sprintf(at, ")");
    fits(run_text, text);
    CASE("a chain");
    at = text + sprintf(text, "let x[i:30] = i*0.5\ny[i] = x[i]");
    for (int i = 0; i < 960; i++)
        at += sprintf(at, i % 2 ? " + 0.5" : "*1.001");
    fits(run_text, text);
    CASE("lines that use each other");
    at = text + sprintf(text, "let x0[i:30] = i*0.5\n");
    for (int i = 0; i < 900; i++)
        at += sprintf(at, "let x%d[i] = x%d[i]*1.001 + x%d[i]\n", i + 1, i, i / 2);
    sprintf(at, "y[i] = x900[i]");
    fits(run_text, text);
}

/* Recorded by hand: nothing of the language, which has a stack of its own. */
static void record_deep(void *argument)
{
    arras_graph   *recorded;
    arras_program *compiled = NULL;
    arras_results *results = NULL;
    arras_dim      n = 30;
    arras_array    x, y;
    arras_expr     e, index;
    arras_error    why;

    (void)argument;
    CHECK_EQ_INT(arras_graph_new(&recorded, &why), ARRAS_OK);
    x = arras_arange_real(recorded, 0, 30, 1);
    index = arras_expr_index(recorded, 0);
    e = arras_expr_load(x, 1, &index, NULL);
    for (int i = 0; i < 990; i++)
        e = arras_expr_apply(ARRAS_OP_add, 2, (arras_expr[]){ e, index });
    y = arras_lambda(recorded, 1, &n, e);
    for (int i = 0; i < 2000; i++)
        y = arras_add(y, arras_multiply(y, arras_float(recorded, 1e-6)));
    arras_output(recorded, "y", y);
    CHECK_EQ_INT(arras_check(recorded, &why), ARRAS_OK);
    if (!CHECK_EQ_INT(arras_compile(&compiled, recorded, NULL, &why), ARRAS_OK))
        printf("    %s\n", why.text);
    CHECK_EQ_INT(arras_launch(&results, compiled, 0, NULL, &why), ARRAS_OK);
    arras_results_free(results);
    arras_program_free(compiled);
    arras_graph_free(recorded);
}

static void recorded_by_hand(void) { fits(record_deep, NULL); }

/* ---- Files ----------------------------------------------------------------------------------- */

enum { ROWS = 240, COLUMNS = 260 };
static const int64_t field[] = { ROWS, COLUMNS };

typedef struct {
    const char *file, *inside, *codecs;
} format;

static void write_field(const format *f, arras_dtype dtype)
{
    static double        cells[ROWS * COLUMNS];
    static const int64_t zero[2], chunk[] = { 60, 70 };
    arras_sink_options   options = { .codecs = f->codecs, .chunk = f->codecs ? chunk : NULL };
    arras_sink          *sink = NULL;
    arras_error          why;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        cells[i] = i % 37 > 5 ? i % 11 : 0;
    if (!CHECK_EQ_INT(arras_sink_create(&sink, f->file, f->inside, dtype, 2, field, &options, &why),
                      ARRAS_OK)) {
        printf("    %s\n", why.text);
        return;
    }
    CHECK_EQ_INT(arras_sink_write(sink, zero, field, cells, NULL, 2, &why), ARRAS_OK);
    CHECK_EQ_INT(arras_sink_finish(sink, &why), ARRAS_OK);
}

static arras_source *open_field(const format *f)
{
    arras_source *source = NULL;
    arras_error   why;

    if (!CHECK_EQ_INT(arras_source_open(&source, f->file, f->inside, &why), ARRAS_OK))
        printf("    %s\n", why.text);
    return source;
}

static arras_sink *new_field(const char *name, arras_dtype dtype, bool resumed)
{
    static const int64_t chunk[] = { 50, 90 };
    arras_sink_options options = { .codecs = strstr(name, "zarr") ? "zstd 3" : "shuffle deflate 2",
                                   .chunk = chunk };
    arras_sink        *sink = NULL;
    arras_error        why;

    if (resumed)
        CHECK_EQ_INT(
            arras_sink_resume(&sink, name, "/y", dtype, 2, field, &options, "same", 0.01, &why),
            ARRAS_OK);
    else
        CHECK_EQ_INT(arras_sink_create(&sink, name, "/y", dtype, 2, field, &options, &why),
                     ARRAS_OK);
    return sink;
}

static void finish_field(arras_sink *sink, const char *name)
{
    arras_error why;
    char        command[200];

    CHECK_EQ_INT(arras_sink_finish(sink, &why), ARRAS_OK);
    snprintf(command, sizeof command, "rm -r %s", name);
    CHECK_EQ_INT(system(command), 0);
}

static arras_graph *smoothing(void)
{
    static const int64_t    offsets[] = { -1, 0, 0, 0, 1, 0 };
    static const double     weights[] = { 0.25, 0.5, 0.25 };
    static const arras_edge nearest[] = { { ARRAS_EDGE_NEAREST, NULL },
                                          { ARRAS_EDGE_NEAREST, NULL } };
    arras_graph            *recorded = NULL;
    arras_array             x;
    arras_error             why;

    CHECK_EQ_INT(arras_graph_new(&recorded, &why), ARRAS_OK);
    x = arras_placeholder(recorded, "x", ARRAS_F64, 2, field);
    x = arras_stencil(x, 3, offsets, weights, nearest);
    arras_output(recorded, "y", arras_divide(x, arras_mean(x, 0, NULL, false)));
    arras_output(recorded, "sums", arras_sum(x, 1, (int[]){ 0 }, false));
    return recorded;
}

/* Looked at, read, streamed, resumed, rechunked, labelled. */
static void stream_field(void *argument)
{
    const format        *f = argument;
    arras_options        two = { .threads = 2 };
    arras_stream_options options = { .memory = 1 << 20 };
    arras_graph         *recorded;
    arras_program       *p = NULL;
    arras_stream        *stream;
    arras_results       *results = NULL;
    arras_source        *source;
    arras_sink          *sink;
    arras_error          why;
    char                *text;

    write_field(f, ARRAS_F64);
    source = open_field(f);
    if (!source)
        return;
    CHECK_EQ_INT(arras_source_describe(&text, source, &why), ARRAS_OK);
    arras_text_free(text);
    if (f->inside) {
        CHECK_EQ_INT(arras_source_list(&text, f->file, NULL, &why), ARRAS_OK);
        arras_text_free(text);
    }
    recorded = smoothing();
    CHECK_EQ_INT(arras_compile(&p, recorded, &two, &why), ARRAS_OK);
    for (int resumed = 0; resumed < 2; resumed++) {
        arras_stored stored[] = { { "x", source, NULL }, { "y", NULL, NULL } };

        sink = stored[1].sink = new_field("y.h5", ARRAS_F64, resumed);
        if (CHECK_EQ_INT(arras_stream_start(&stream, p, 0, NULL, 2, stored, &options, &why),
                         ARRAS_OK)) {
            CHECK_EQ_INT(arras_stream_explain(&text, stream, &why), ARRAS_OK);
            arras_text_free(text);
            CHECK_EQ_INT(arras_stream_wait(&results, stream, &why), ARRAS_OK);
            arras_results_free(results);
            arras_stream_free(stream);
        } else {
            printf("    %s\n", why.text);
        }
        finish_field(sink, "y.h5");
    }
    arras_program_free(p);
    arras_graph_free(recorded);
    sink = new_field("r.zarr", ARRAS_F64, false);
    CHECK_EQ_INT(arras_rechunk(NULL, source, sink, &(arras_rechunk_options){ .threads = 2 }, &why),
                 ARRAS_OK);
    finish_field(sink, "r.zarr");
    sink = new_field("l.zarr", ARRAS_I32, false);
    CHECK_EQ_INT(arras_label_stored(NULL, source, sink,
                                    &(arras_label_options){ .threads = 2, .memory = 1 << 20 },
                                    &why),
                 ARRAS_OK);
    finish_field(sink, "l.zarr");
    arras_source_close(source);
}

static void files(void)
{
    static const format formats[] = {
        { "plain.npy", NULL, NULL },   { "c.h5", "/x", "shuffle deflate 4" },
        { "n.h5", "/a/b/x", NULL },    { "c.nc", "/x", "deflate 1" },
        { "v3.zarr", "/x", "zstd 3" },
    };

    for (size_t i = 0; i < AR_COUNT(formats); i++) {
        CASE("%s", formats[i].file);
        fits(stream_field, (void *)(uintptr_t)&formats[i]);
    }
}

/* ---- Functions, sweeps, loops, graphs by hand ------------------------------------------------ */

static double smooth(const arras_cell *c)
{
    return (arras_f64_at2(c, 0, -1, 0) + arras_f64_at2(c, 0, 0, -1)) / 2;
}

static void apply_cell(const arras_cell *c, void *const *out) { *(double *)out[0] = smooth(c); }

static void sweep_cell(const arras_cell *c, void *value) { *(double *)value = smooth(c) / 2; }

static void apply_field(void *argument)
{
    static double                   cells[ROWS * COLUMNS];
    static const arras_border       borders[] = { { ARRAS_EDGE_NEAREST, NULL },
                                                  { ARRAS_EDGE_NEAREST, NULL } };
    static const arras_apply_output y = { "y", ARRAS_F64 };
    arras_apply_input               input = { .borders = borders, .name = "x" };
    arras_apply_spec spec = { .ninputs = 1, .noutputs = 1, .inputs = &input, .outputs = &y };
    arras_buffer     x = { cells, ARRAS_F64, 2, field, NULL };
    arras_flow      *flow = NULL;
    arras_results   *results = NULL;
    arras_error      why;
    int              number;

    CHECK_EQ_INT(arras_flow_new(&flow, &(arras_options){ .threads = 2 }, 1 << 20, &why), ARRAS_OK);
    CHECK_EQ_INT(arras_flow_input(&number, flow, "x", &x, &why), ARRAS_OK);
    input.array = number;
    if (argument)
        spec.text = argument;
    else
        spec.cell = apply_cell;
    if (!CHECK_EQ_INT(arras_flow_apply(&number, flow, &spec, &why), ARRAS_OK))
        printf("    %s\n", why.text);
    CHECK_EQ_INT(arras_flow_result(flow, number, NULL, &why), ARRAS_OK);
    CHECK_EQ_INT(arras_flow_run(&results, flow, &why), ARRAS_OK);
    arras_results_free(results);
    arras_flow_free(flow);
}

static void sweep_field(void *argument)
{
    static double                cells[ROWS * COLUMNS];
    static const int64_t         before[] = { 1, 1 };
    static const arras_edge_rule edges[] = { ARRAS_EDGE_NEAREST, ARRAS_EDGE_NEAREST };
    arras_sweep_request          r = { .cell = sweep_cell,
                                       .before = before,
                                       .edges = edges,
                                       .most = 3,
                                       .threads = 2,
                                       .memory = 1 << 20 };
    arras_error                  why;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        cells[i] = i % 13;
    r.start.buffer = (arras_buffer){ cells, ARRAS_F64, 2, field, NULL };
    if (argument) {
        write_field(argument, ARRAS_F64);
        r.start = (arras_sweep_array){ .source = open_field(argument) };
        r.sink = new_field("s.h5", ARRAS_F64, false);
    }
    if (!CHECK_EQ_INT(arras_sweep(NULL, &r, &why), ARRAS_OK))
        printf("    %s\n", why.text);
    if (argument) {
        arras_source_close(r.start.source);
        finish_field(r.sink, "s.h5");
    }
}

static arras_status count_up(void *context, void *const *args, int64_t first, int64_t last,
                             arras_error *why)
{
    (void)context, (void)why;
    for (int64_t i = first; i < last; i++)
        ((double *)args[0])[i] += 1;
    return ARRAS_OK;
}

static void run_graph(void *argument)
{
    arras_device    *device = NULL;
    arras_kernel    *kernel = NULL;
    arras_taskgraph *graph = NULL;
    arras_exec      *exec = NULL;
    arras_error      why;
    char            *text;
    int              memory, node;

    (void)argument;
    CHECK_EQ_INT(arras_device_open(&device, NULL, NULL, &why), ARRAS_OK);
    CHECK_EQ_INT(arras_kernel_native(&kernel, device, "up", count_up, NULL, &why), ARRAS_OK);
    CHECK_EQ_INT(arras_taskgraph_new(&graph, device, &why), ARRAS_OK);
    CHECK_EQ_INT(arras_taskgraph_add_memalloc(&memory, graph, 0, NULL, 8000, &why), ARRAS_OK);
    node = memory;
    for (int i = 0; i < 3000; i++) {
        arras_arg         arg = arras_arg_read_write(arras_place_in_node(memory, 0));
        arras_kernel_call c = { kernel, 1000, 0, 1, &arg };

        CHECK_EQ_INT(arras_taskgraph_add_kernel(&node, graph, 1, &node, &c, &why), ARRAS_OK);
    }
    CHECK_EQ_INT(arras_taskgraph_instantiate(&exec, graph, &why), ARRAS_OK);
    CHECK_EQ_INT(arras_exec_launch(exec, &why), ARRAS_OK);
    CHECK_EQ_INT(arras_taskgraph_print(&text, NULL, graph, &why), ARRAS_OK);
    arras_text_free(text);
    arras_exec_free(exec);
    arras_taskgraph_free(graph);
    arras_kernel_free(kernel);
    arras_device_close(device);
}

static void functions_and_graphs(void)
{
    static const format h5 = { "start.h5", "/x", "shuffle deflate 4" };

    CASE("a function");
    fits(apply_field, NULL);
    CASE("a text");
    fits(apply_field, "y = x(-1, 0) + x(0, 1);");
    CASE("a sweep");
    fits(sweep_field, NULL);
    CASE("a sweep in files");
    fits(sweep_field, (void *)(uintptr_t)&h5);
    CASE("a task graph");
    fits(run_graph, NULL);
}

/* ---- Threads of the library ------------------------------------------------------------------ */

static arras_status use_much(void *context, int64_t first, int64_t last, int thread,
                             arras_error *why)
{
    volatile char much[3 << 19]; /* 1.5 MB */

    (void)thread, (void)why;
    for (size_t i = 0; i < sizeof much; i += 4096)
        much[i] = 1;
    atomic_fetch_add((atomic_long *)context, (last - first) * much[4096]);
    return ARRAS_OK;
}

static void use_workers(void *argument)
{
    atomic_long   done = 0;
    ar_task       task = { use_much, &done, 4000, "much" };
    ar_taskgraph *graph = NULL;
    ar_pool      *workers = NULL;
    arras_error   why;
    int           number;

    CHECK_EQ_INT(ar_pool_new(&workers, argument ? 1 : 4, &why), ARRAS_OK);
    CHECK_EQ_INT(ar_taskgraph_new(&graph, &why), ARRAS_OK);
    CHECK_EQ_INT(ar_taskgraph_add(&number, graph, task, &why), ARRAS_OK);
    CHECK_EQ_INT(ar_taskgraph_instantiate(graph, &why), ARRAS_OK);
    CHECK_EQ_INT(ar_taskgraph_run(graph, workers, &why), ARRAS_OK);
    CHECK_EQ_INT(ar_taskgraph_start(graph, workers, &why), ARRAS_OK);
    CHECK_EQ_INT(ar_taskgraph_wait(graph, &why), ARRAS_OK);
    CHECK_EQ_INT(atomic_load(&done), 8000);
    ar_taskgraph_free(graph);
    ar_pool_free(workers);
}

/* However little the system gives to a thread, and whoever calls. */
static void tasks_have_room(void)
{
    pthread_attr_t before, little;

    pthread_getattr_default_np(&before);
    pthread_attr_init(&little);
    pthread_attr_setstacksize(&little, STACK);
    CHECK_EQ_INT(pthread_setattr_default_np(&little), 0);
    CASE("workers");
    fits(use_workers, NULL);
    use_workers(NULL);
    CASE("the caller alone");
    fits(use_workers, &before);
    use_workers(&before);
    pthread_setattr_default_np(&before);
    pthread_attr_destroy(&little);
    pthread_attr_destroy(&before);
}

static void give_back(void)
{
    ar_core_cache_clear();
    ar_buffers_clear();
}

TEST_MAIN
{
    world_begin();
    CHECK_EQ_INT(chdir(world), 0);
    RUN(programs);
    RUN(deep_programs);
    RUN(recorded_by_hand);
    RUN(files);
    RUN(functions_and_graphs);
    RUN(tasks_have_room);
    give_back();
    world_end();
}
