/* rechunk_request.h -- what the arguments of `arras rechunk` ask for. */
#ifndef CMD_RECHUNK_REQUEST_H
#define CMD_RECHUNK_REQUEST_H

#include "cmd/io/array.h"

typedef struct cmd_rechunk_request {
    /* Borrowed from the command line. */
    const char *source, *sink, *codec;
    const char *chunk_text; /* NULL: not given */
    char      **advice;     /* arguments of `arras chunk`, beginning with a name and the source */
    int         nadvice;    /* more than 2: chunks are to be advised */

    int64_t memory; /* 0: half of what is free */
    int     threads;
    bool    resume, quiet;
    double  checkpoint; /* seconds */
} cmd_rechunk_request;

/* Free it also when it failed. */
bool cmd_rechunk_request_read(cmd_rechunk_request *out, int argc, char **argv, cmd_error *err);
void cmd_rechunk_request_free(cmd_rechunk_request *r);

/* The chunk of the new array: as given, as advised, or that of the source.  Not chosen: there is
 * none of these, and the format may take any. */
bool cmd_rechunk_choose(int64_t *chunk, bool *chosen, const cmd_rechunk_request *r,
                        const arras_store_info *info, cmd_error *err);

#endif
