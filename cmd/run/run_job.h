/* run_job.h -- one `arras run` on its way from text to results. */
#ifndef CMD_RUN_JOB_H
#define CMD_RUN_JOB_H

#include "cmd/io/output_file.h"
#include "cmd/run/run_request.h"

typedef enum {
    CMD_STAGE_PARSE,
    CMD_STAGE_READ,
    CMD_STAGE_COMPILE,
    CMD_STAGE_COMPUTE,
    CMD_STAGE_WRITE,
    CMD_STAGES
} cmd_stage;

typedef struct cmd_job {
    cmd_request    request;
    char          *text; /* of the program, if it came from a file */
    lang_program  *program;
    arras_graph   *graph;
    arras_program *compiled;
    int            nresults;
    const char   **names; /* of results; borrowed */
    cmd_array     *results;
    cmd_output    *outputs; /* of each sink, while it is open */
    int            nopen;
    bool           streams;    /* tile by tile, from files to files */
    bool           is_watched; /* progress is shown */
    bool           has_place; /* the message says where in the program */
    int64_t        began, stage_began, spent[CMD_STAGES]; /* ns */
} cmd_job;

/* Which result each sink takes, and which results are wanted at all. */
bool cmd_results_choose(cmd_job *job, cmd_error *err);
/* Opens the sinks, so that what cannot be written is known before anything is computed. */
bool cmd_results_open(cmd_job *job, cmd_error *err);
/* Types and shapes of the results, and memory for those that can be computed in the file they go
 * to; then memory for the others, of so many bytes. */
bool    cmd_results_map(cmd_job *job, cmd_error *err);
bool    cmd_results_describe(cmd_job *job, cmd_error *err); /* only types and shapes */
int64_t cmd_results_bytes(const cmd_job *job);
bool    cmd_results_make(cmd_job *job, cmd_error *err);
/* Writes them to their sinks, or prints them. */
bool cmd_results_deliver(cmd_job *job, cmd_error *err);
/* Nothing is left of sinks that were not delivered to. */
void cmd_results_free(cmd_job *job);
void cmd_stats_print(const cmd_job *job);

int64_t cmd_now(void); /* ns of a clock that never goes back */

#endif
