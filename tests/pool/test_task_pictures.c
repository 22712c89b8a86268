/* test_task_pictures.c -- task graphs drawn, and what they did on a time line. */
#include "pool/pool.h"
#include "test.h"

#include <stdlib.h>

static arras_status do_nothing(void *context, int64_t first, int64_t last, int thread,
                               arras_error *err)
{
    (void)context, (void)first, (void)last, (void)thread, (void)err;
    return ARRAS_OK;
}

static ar_taskgraph *graph_of(int count, const ar_task *tasks)
{
    ar_taskgraph *graph = NULL;
    int           task = -1;

    CHECK(ar_taskgraph_new(&graph, NULL) == ARRAS_OK);
    for (int i = 0; i < count; i++) {
        CHECK(ar_taskgraph_add(&task, graph, tasks[i], NULL) == ARRAS_OK);
        if (i > 0)
            CHECK(ar_taskgraph_order(graph, 0, i, NULL) == ARRAS_OK);
    }
    return graph;
}

/* Names from outside may hold anything. */
static const ar_task strange[] = {
    { do_nothing, NULL, 1, "say \"hi\" \\ \n\t\x01 \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
    { do_nothing, NULL, 40,
      "not UTF-8: \xff \xc3 \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82" },
    { NULL, NULL, 0, NULL },
    { do_nothing, NULL, 7, NULL },
    { do_nothing, NULL, 1, "" },
};

/* What a program says about a text on its standard input. */
static bool accepts(const char *command, const ar_text *text)
{
    FILE *program = popen(command, "w");
    bool  written = program && fwrite(text->data, 1, text->length, program) == text->length;

    return program && pclose(program) == 0 && written;
}

static bool is_json(const ar_text *text)
{
    return accepts("python3 -m json.tool >/dev/null", text);
}

/* ---- Quotes ---------------------------------------------------------------------------------- */

static const struct {
    const char *string, *quoted;
} quotes[] = {
    { "", "\"\"" },
    { "plain", "\"plain\"" },
    { "a\"b\\c", "\"a\\\"b\\\\c\"" },
    { "\n\x7f", "\"??\"" },
    { "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
    { "\xff!", "\"?!\"" },
    { "\xc3", "\"?\"" },                /* ends too early */
    { "\xe2\x82", "\"??\"" },           /* the same */
    { "\xc0\xaf", "\"??\"" },           /* a long spelling of '/' */
    { "\xed\xa0\x80", "\"???\"" },      /* half of a pair */
    { "\xf4\x90\x80\x80", "\"????\"" }, /* above the last character */
};

static void quotes_are_safe(void)
{
    for (size_t i = 0; i < AR_COUNT(quotes); i++) {
        ar_text text = { 0 };

        CASE("row %zu", i);
        ar_text_add_quoted(&text, quotes[i].string);
        CHECK_STR(text.data, quotes[i].quoted);
        ar_text_free(&text);
    }
}

/* ---- Traces ---------------------------------------------------------------------------------- */

static ar_trace *traced(ar_taskgraph *graph, int threads, int64_t capacity)
{
    ar_pool  *pool = NULL;
    ar_trace *trace = NULL;

    CHECK(ar_pool_new(&pool, threads, NULL) == ARRAS_OK);
    CHECK(ar_trace_new(&trace, capacity, NULL) == ARRAS_OK);
    CHECK(ar_taskgraph_instantiate(graph, NULL) == ARRAS_OK);
    ar_taskgraph_trace(graph, trace);
    CHECK(ar_taskgraph_run(graph, pool, NULL) == ARRAS_OK);
    ar_pool_free(pool);
    return trace;
}

static void a_trace_is_json(void)
{
    static const char *const categories[] = { "kernel \"a\"", NULL, NULL, "copy", "copy" };
    ar_taskgraph            *graph = graph_of(AR_COUNT(strange), strange);
    ar_trace                *trace = traced(graph, 3, 1000);
    ar_text                  text = { 0 };

    ar_trace_print(&text, graph, trace, categories);
    CHECK(is_json(&text));
    CHECK_HAS(text.data, "\"name\":\"say \\\"hi\\\" \\\\ ??? \xc3\xa9");
    CHECK_HAS(text.data, "\"name\":\"task 3\",\"cat\":\"copy\",\"ts\":");
    CHECK_HAS(text.data, "\"cat\":\"kernel \\\"a\\\"\"");
    CHECK_HAS(text.data, "\"parts of the task\":40}");
    CHECK_HAS(text.data, "\"args\":{\"name\":\"caller\"}");
    CHECK_HAS(text.data, "\"ts\":0.000,");
    CHECK_HAS(text.data, "\"records lost\":0");
    ar_text_free(&text);
    ar_trace_free(trace);
    ar_taskgraph_free(graph);
}

static void full_and_empty_traces(void)
{
    ar_taskgraph *graph = graph_of(AR_COUNT(strange), strange);
    ar_trace     *trace = traced(graph, 1, 2);
    ar_text       text = { 0 };

    ar_trace_print(&text, graph, trace, NULL);
    CHECK(is_json(&text));
    CHECK(!strstr(text.data, "\"records lost\":0"));
    ar_text_free(&text);
    ar_trace_clear(trace);
    ar_trace_print(&text, graph, trace, NULL);
    CHECK(is_json(&text));
    CHECK(!strstr(text.data, "\"X\""));
    ar_text_free(&text);
    ar_trace_free(trace);
    ar_taskgraph_free(graph);
}

/* ---- Pictures -------------------------------------------------------------------------------- */

static bool is_dot(const ar_text *text)
{
    /* Where Graphviz is not installed, what it would say is not known. */
    return system("command -v dot >/dev/null") != 0 || accepts("dot -Tdot >/dev/null", text);
}

static void a_picture_shows_tasks(void)
{
    static const int classes[] = { 0, 1, -1, 1, 12345 };
    ar_taskgraph    *graph = graph_of(AR_COUNT(strange), strange);
    ar_text          text = { 0 };

    CHECK(ar_taskgraph_order(graph, 0, 1, NULL) == ARRAS_OK); /* once more */
    CHECK(ar_taskgraph_instantiate(graph, NULL) == ARRAS_OK);
    ar_taskgraph_dot(&text, graph, classes);
    CHECK(is_dot(&text));
    CHECK_HAS(text.data, "strict digraph tasks {");
    CHECK_HAS(text.data, "t0 [fillcolor=\"0.000 ");
    CHECK_HAS(text.data, "t3 [fillcolor=\"0.618 0.14 0.97\", color=\"0.618 0.45 0.62\", "
                         "label=\"task 3, 7 parts\"];");
    CHECK_HAS(text.data, "t2 [style=\"rounded,filled,dashed\", label=\"task 2, 0 parts\"];");
    CHECK_HAS(text.data, "{ rank=same; t0; }");
    CHECK_HAS(text.data, "{ rank=same; t1; t2; t3; t4; }");
    CHECK_HAS(text.data, "t0 -> t4;");
    CHECK(!strstr(text.data, "more ["));
    ar_text_free(&text);
    ar_taskgraph_free(graph);
}

static void large_pictures_are_cut(void)
{
    enum { COUNT = AR_DOT_TASKS + 5 };
    ar_task      *tasks = calloc(COUNT, sizeof *tasks);
    ar_taskgraph *graph = graph_of(COUNT, tasks);
    ar_text       text = { 0 };

    ar_taskgraph_dot(&text, graph, NULL);
    CHECK_HAS(text.data, "label=\"5 more tasks\"");
    CHECK(!strstr(text.data, "t2000"));
    CHECK_HAS(text.data, "t0 -> t1999;");
    ar_text_free(&text);
    ar_taskgraph_free(graph);
    free(tasks);
}

static void no_memory_for_pictures(void)
{
    ar_taskgraph *graph = graph_of(AR_COUNT(strange), strange);
    ar_trace     *trace = traced(graph, 1, 100);

    for (int64_t n = 1; n < 12; n++) {
        ar_text picture = { 0 }, line = { 0 };

        ar_alloc_fail_from(n);
        ar_taskgraph_dot(&picture, graph, NULL);
        ar_trace_print(&line, graph, trace, NULL);
        ar_alloc_fail_from(0);
        CHECK(line.failed || n > 5);
        CHECK(picture.failed || n > 5);
        ar_text_free(&picture);
        ar_text_free(&line);
    }
    ar_trace_free(trace);
    ar_taskgraph_free(graph);
}

TEST_MAIN
{
    RUN(quotes_are_safe);
    RUN(a_trace_is_json);
    RUN(full_and_empty_traces);
    RUN(a_picture_shows_tasks);
    RUN(large_pictures_are_cut);
    RUN(no_memory_for_pictures);
}
