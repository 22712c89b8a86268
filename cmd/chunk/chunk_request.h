/* chunk_request.h -- what `arras chunk` was asked: the array, how it is read, and which chunks it
 * may have. */
#ifndef CMD_CHUNK_REQUEST_H
#define CMD_CHUNK_REQUEST_H

#include "cmd/io/array.h"

typedef struct cmd_chunk_request {
    /* As written, borrowed from the command line. */
    const char  *source, *shape_text, *dtype_text, *log, *svg;
    const char **queries, **ranges, **fixes, **multiples;
    int          query_count, range_count, fix_count, multiple_count;
    bool         independent, compare, json;
    /* As understood. */
    arras_dtype         dtype;
    int64_t             shape[ARRAS_MAX_RANK];
    int64_t             fixed[ARRAS_MAX_RANK], multiple[ARRAS_MAX_RANK];
    bool                has_now; /* the array is in a file, in chunks */
    int64_t             now[ARRAS_MAX_RANK];
    arras_chunk_options options; /* points into this request */
    arras_workload     *workload;
} cmd_chunk_request;

bool cmd_chunk_request_read(cmd_chunk_request *r, int argc, char **argv, cmd_error *err);
void cmd_chunk_request_free(cmd_chunk_request *r);

/* Finds the array and its queries once the arguments are read: for cmd_chunk_request_read. */
bool cmd_chunk_request_resolve(cmd_chunk_request *r, cmd_error *err);

#endif
