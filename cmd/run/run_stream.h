/* run_stream.h -- `arras run` from files to files, tile by tile: for arrays that are larger than
 * memory, or that are decoded as they are read. */
#ifndef CMD_RUN_STREAM_H
#define CMD_RUN_STREAM_H

#include "cmd/run/run_job.h"

/* An input in a container: opened, its type and shape set; its cells are not read. */
bool cmd_stream_open_input(cmd_input *in, cmd_error *err);
/* Whether the job is to be streamed, now that all types and shapes are known. */
bool cmd_stream_decide(cmd_job *job, cmd_error *err);
/* All cells of inputs that were opened, for a job that is not streamed. */
bool cmd_stream_load_inputs(cmd_job *job, cmd_error *err);
/* Makes the sinks; computes.  Results that have no sink are in memory then, as others are. */
bool cmd_stream_prepare(cmd_job *job, cmd_error *err);
bool cmd_stream_compute(cmd_job *job, cmd_error *err);

#endif
