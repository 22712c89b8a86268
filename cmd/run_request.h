/* run_request.h -- what the arguments of `arras run` ask for. */
#ifndef CMD_RUN_REQUEST_H
#define CMD_RUN_REQUEST_H

#include "cmd/array.h"
#include "lang/lang.h"

typedef struct cmd_input {
    char       *name;
    const char *source;
    bool        used;
    cmd_array   array; /* once it is read */
} cmd_input;

typedef struct cmd_sink {
    char       *name; /* NULL: of the only result */
    const char *sink;
    int         result;    /* its number among the results */
    bool        is_mapped; /* the result is computed in the file itself */
    arras_sink *stored;    /* in a container, while it is open */
} cmd_sink;

typedef struct cmd_request {
    const char   *equations; /* on the command line, or else */
    const char   *file;      /* the name of a file, `-` for standard input */
    int           ninputs, nsinks, nsettings;
    cmd_input    *inputs;
    cmd_sink     *sinks;
    lang_setting *settings; /* names are ours */
    arras_options options;
    int64_t       memory; /* bytes; 0: what the system has */
    bool          explain, stats, quiet;
    const char   *trace, *dot;
} cmd_request;

/* Arguments are borrowed.  Free it also when it failed. */
bool cmd_request_parse(cmd_request *out, int argc, char **argv, cmd_error *err);
void cmd_request_free(cmd_request *r);

#endif
