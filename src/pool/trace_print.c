/* trace_print.c -- a trace as JSON in the format of Chrome's trace viewer, which Perfetto reads
 * too.
 */
#include "pool/pool.h"

/* The origin of time is the first thing that happened. */
static int64_t earliest(const ar_trace *trace)
{
    int64_t first = INT64_MAX;

    for (int64_t i = 0; i < ar_trace_count(trace); i++)
        first = ar_min64(first, ar_trace_at(trace, i)->start);
    return first;
}

static int last_thread(const ar_trace *trace)
{
    int last = -1;

    for (int64_t i = 0; i < ar_trace_count(trace); i++)
        if (ar_trace_at(trace, i)->thread > last)
            last = ar_trace_at(trace, i)->thread;
    return last;
}

static void print_threads(ar_text *out, int last)
{
    ar_text_add(out,
                "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"arras\"}}");
    for (int thread = 0; thread <= last; thread++) {
        ar_text_printf(out, ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"name\":\"thread_name\",",
                       thread);
        if (thread == 0)
            ar_text_add(out, "\"args\":{\"name\":\"caller\"}}");
        else
            ar_text_printf(out, "\"args\":{\"name\":\"worker %d\"}}", thread);
    }
}

/* Written without floating numbers: their point depends on the locale. */
static void print_microseconds(ar_text *out, const char *key, int64_t ns)
{
    ns = ar_max64(ns, 0);
    ar_text_printf(out, ",\"%s\":%" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

static void print_name(ar_text *out, const ar_taskgraph *graph, int task)
{
    const char *name = ar_taskgraph_task(graph, task)->name;

    if (name)
        ar_text_add_quoted(out, name);
    else
        ar_text_printf(out, "\"task %d\"", task);
}

static void print_record(ar_text *out, const ar_taskgraph *graph, const ar_trace_record *record,
                         int64_t origin, const char *category)
{
    ar_text_printf(out, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"name\":", record->thread);
    print_name(out, graph, record->task);
    if (category) {
        ar_text_add(out, ",\"cat\":");
        ar_text_add_quoted(out, category);
    }
    print_microseconds(out, "ts", record->start - origin);
    print_microseconds(out, "dur", record->end - record->start);
    ar_text_printf(out,
                   ",\"args\":{\"task\":%d,\"first part\":%" PRId64 ",\"parts\":%" PRId64
                   ",\"parts of the task\":%" PRId64 "}}",
                   record->task, record->first, record->last - record->first,
                   ar_taskgraph_task(graph, record->task)->parts);
}

void ar_trace_print(ar_text *out, const ar_taskgraph *graph, const ar_trace *trace,
                    const char *const *categories)
{
    int64_t origin = earliest(trace);

    ar_text_add(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    print_threads(out, last_thread(trace));
    for (int64_t i = 0; i < ar_trace_count(trace); i++) {
        const ar_trace_record *record = ar_trace_at(trace, i);

        print_record(out, graph, record, origin, categories ? categories[record->task] : NULL);
    }
    ar_text_printf(out, "\n],\"otherData\":{\"records lost\":%" PRId64 "}}\n",
                   ar_trace_lost(trace));
}
