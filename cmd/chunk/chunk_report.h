/* chunk_report.h -- the advice of `arras chunk` beside other shapes: a table, JSON, a picture. */
#ifndef CMD_CHUNK_REPORT_H
#define CMD_CHUNK_REPORT_H

#include <stdio.h>

#include "cmd/chunk/chunk_request.h"

enum { CMD_CHUNK_MOST_CANDIDATES = ARRAS_GUESS_END + 3 };

/* A shape and what it costs. */
typedef struct cmd_chunk_candidate {
    const char       *name;
    int64_t           chunk[ARRAS_MAX_RANK];
    int64_t           bytes;
    arras_chunk_costs costs;
    char             *exact; /* for JSON; NULL: too many digits */
    double            least; /* chunks with the best shape of no more bytes; 0: not asked */
} cmd_chunk_candidate;

typedef struct cmd_chunk_result {
    arras_chunk_advice  advice;
    int                 count;
    cmd_chunk_candidate candidates[CMD_CHUNK_MOST_CANDIDATES]; /* the advised one, the least, ... */
} cmd_chunk_result;

void cmd_chunk_print(const cmd_chunk_request *r, const cmd_chunk_result *result);
bool cmd_chunk_print_json(const cmd_chunk_request *r, const cmd_chunk_result *result,
                          cmd_error *err);
/* The least cost for each size of a chunk, and where the candidates are. */
bool cmd_chunk_draw(const char *file, const cmd_chunk_request *r, const cmd_chunk_result *result,
                    cmd_error *err);

#endif
