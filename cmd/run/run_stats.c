/* run_stats.c -- `arras run --stats`: what was read, computed and written, and how fast. */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/io/print_array.h"
#include "cmd/io/quantity.h"
#include "cmd/run/run_job.h"

static int64_t print_array_line(const char *what, const char *name, const cmd_array *a)
{
    char    bytes[CMD_QUANTITY_ROOM];
    int64_t count = cmd_array_bytes(a);

    fprintf(stderr, "%-10s%s : ", what, name);
    cmd_print_type(stderr, a);
    fprintf(stderr, ", %s\n", cmd_quantity_bytes(bytes, count));
    return count;
}

static const char *plural(int64_t count) { return count == 1 ? "" : "s"; }

static void print_program(const arras_counters *c)
{
    const char *from = c->from_memory ? " (from memory)" : c->from_disk ? " (from the cache)" : "";

    fprintf(stderr, "%-10s%" PRId64 " node%s, %" PRId64 " kernel%s%s, %" PRId64 " task%s\n",
            "program", c->nodes, plural(c->nodes), c->kernels, plural(c->kernels), from, c->tasks,
            plural(c->tasks));
}

static void print_bytes(const arras_counters *c)
{
    char moved[CMD_QUANTITY_ROOM], before[CMD_QUANTITY_ROOM], needed[CMD_QUANTITY_ROOM],
        planned[CMD_QUANTITY_ROOM];

    fprintf(
        stderr, "%-10s%s; %s if every array were stored, %s at least; temporaries %s\n", "moved",
        cmd_quantity_bytes(moved, c->bytes_moved), cmd_quantity_bytes(before, c->bytes_before),
        cmd_quantity_bytes(needed, c->bytes_compulsory), cmd_quantity_bytes(planned, c->planned));
}

/* A stage with its speed, if it moved bytes.  Reading and writing have none of their own: files are
 * mapped where that is possible, so most of it happens while computing. */
static void print_stage(const char *name, int64_t ns, int64_t bytes)
{
    char time[CMD_QUANTITY_ROOM];

    fprintf(stderr, "%-10s%s", name, cmd_quantity_time(time, ns));
    if (bytes > 0 && ns > 0)
        fprintf(stderr, ", %.1f GB/s", (double)bytes / (double)ns);
    fputc('\n', stderr);
}

void cmd_stats_print(const cmd_job *job)
{
    int64_t        in = 0, out = 0;
    arras_counters counters;

    for (int i = 0; i < job->request.ninputs; i++)
        if (job->request.inputs[i].used)
            in += print_array_line("input", job->request.inputs[i].name,
                                   &job->request.inputs[i].array);
    for (int i = 0; i < job->nresults; i++)
        out += print_array_line("result", job->names[i], &job->results[i]);
    arras_program_counters(&counters, job->compiled);
    print_program(&counters);
    print_bytes(&counters);
    print_stage("parse", job->spent[CMD_STAGE_PARSE], 0);
    print_stage("read", job->spent[CMD_STAGE_READ], 0);
    print_stage("compile", job->spent[CMD_STAGE_COMPILE], 0);
    print_stage("compute", job->spent[CMD_STAGE_COMPUTE], counters.bytes_moved);
    print_stage("write", job->spent[CMD_STAGE_WRITE], 0);
    print_stage("total", cmd_now() - job->began, in + out);
}
