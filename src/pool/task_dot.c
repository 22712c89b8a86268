/* task_dot.c -- a task graph as a picture for Graphviz. */
#include "pool/pool.h"

static int tasks_shown(const ar_taskgraph *graph)
{
    int count = ar_taskgraph_count(graph);

    return count < AR_DOT_TASKS ? count : AR_DOT_TASKS;
}

/* Steps of the golden ratio around the circle of hues: however many classes there are, those of
 * near numbers look different. */
static void draw_colours(ar_text *out, int class)
{
    int hue = (int)((int64_t) class * 618 % 1000);

    if (class >= 0)
        ar_text_printf(out, "fillcolor=\"0.%03d 0.14 0.97\", color=\"0.%03d 0.45 0.62\", ", hue,
                       hue);
}

static void draw_label(ar_text *out, int task, const ar_task *what)
{
    ar_text label = { 0 };

    if (what->name)
        ar_text_add(&label, what->name);
    else
        ar_text_printf(&label, "task %d", task);
    if (what->parts != 1)
        ar_text_printf(&label, ", %" PRId64 " parts", what->parts);
    if (label.failed)
        out->failed = true;
    else
        ar_text_add_quoted(out, label.data);
    ar_text_free(&label);
}

static void draw_task(ar_text *out, const ar_taskgraph *graph, int task, int class)
{
    const ar_task *what = ar_taskgraph_task(graph, task);

    ar_text_printf(out, "    t%d [", task);
    draw_colours(out, class);
    if (what->parts == 0)
        ar_text_add(out, "style=\"rounded,filled,dashed\", ");
    ar_text_add(out, "label=");
    draw_label(out, task, what);
    ar_text_add(out, "];\n");
}

static int deepest_level(const ar_taskgraph *graph)
{
    int deepest = 0;

    for (int task = 0; task < tasks_shown(graph); task++)
        if (ar_taskgraph_level(graph, task) > deepest)
            deepest = ar_taskgraph_level(graph, task);
    return deepest;
}

static void draw_level(ar_text *out, const ar_taskgraph *graph, int level)
{
    ar_text_add(out, "    { rank=same;");
    for (int task = 0; task < tasks_shown(graph); task++)
        if (ar_taskgraph_level(graph, task) == level)
            ar_text_printf(out, " t%d;", task);
    ar_text_add(out, " }\n");
}

static void draw_edges(ar_text *out, const ar_taskgraph *graph)
{
    int before, after;

    for (int edge = 0; edge < ar_taskgraph_edges(graph); edge++) {
        ar_taskgraph_edge(&before, &after, graph, edge);
        if (before < tasks_shown(graph) && after < tasks_shown(graph))
            ar_text_printf(out, "    t%d -> t%d;\n", before, after);
    }
}

void ar_taskgraph_dot(ar_text *out, const ar_taskgraph *graph, const int *classes)
{
    int hidden = ar_taskgraph_count(graph) - tasks_shown(graph);
    int deepest = deepest_level(graph);

    /* strict: an edge that is given twice is drawn once */
    ar_text_add(out, "strict digraph tasks {\n"
                     "    node [shape=box, style=\"rounded,filled\", fillcolor=\"#f4f5f7\", "
                     "color=\"#b0b8c1\", fontname=\"Helvetica\", fontsize=11];\n"
                     "    edge [color=\"#8a94a0\", arrowsize=0.6];\n");
    for (int task = 0; task < tasks_shown(graph); task++)
        draw_task(out, graph, task, classes ? classes[task] : -1);
    for (int level = 0; deepest > 0 && level <= deepest; level++)
        draw_level(out, graph, level);
    draw_edges(out, graph);
    if (hidden > 0)
        ar_text_printf(out, "    more [shape=note, style=\"\", label=\"%d more tasks\"];\n",
                       hidden);
    ar_text_add(out, "}\n");
}
