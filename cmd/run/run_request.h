/* run_request.h -- what the arguments of `arras run` ask for. */
#ifndef CMD_RUN_REQUEST_H
#define CMD_RUN_REQUEST_H

#include "cmd/io/array.h"
#include "cmd/run/run_repeat.h"
#include "lang/lang.h"

typedef struct cmd_input {
    char         *name;
    const char   *source;
    char         *made;            /* the source, where it is not the user's own text; or NULL */
    bool          used, has_parts; /* by itself; as the whole of others */
    arras_source *stored; /* in a file, while it is open; its cells are not in memory then */
    cmd_array     array;  /* once it is read; type and shape once it is opened */
    int64_t       steps[ARRAS_MAX_RANK]; /* of its binding */
} cmd_input;

typedef struct cmd_sink {
    char       *name; /* NULL: of the only result */
    const char *sink;
    int         result;      /* its number among the results */
    bool        is_mapped;   /* the result is computed in the file itself */
    bool        is_streamed; /* it is written tile by tile */
    arras_sink *stored;      /* in a container, or streamed, while it is open */
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
    bool          explain, stats, quiet, resume;
    int64_t      *chunk; /* of results; NULL: chosen */
    int           chunk_rank;
    const char   *codec;      /* of results; NULL: the default of the format */
    double        checkpoint; /* seconds between checkpoints of a run that can be resumed */
    cmd_repeat    repeat;
    const char   *trace, *dot;
    const char   *queries;    /* where to log what is read of arrays in files; or NULL */
    const char   *attributes; /* the source of the input that gives results theirs; or NULL */
} cmd_request;

/* Arguments are borrowed.  Free it also when it failed. */
bool cmd_request_parse(cmd_request *out, int argc, char **argv, cmd_error *err);
void cmd_request_free(cmd_request *r);
/* To its memory, as long as it stays where it is. */
arras_binding cmd_input_bind(cmd_input *in);

#endif
