/* show.h -- pictures of arrays, as `arras show` and the REPL's :show ask for them. */
#ifndef CMD_SHOW_H
#define CMD_SHOW_H

#include "cmd/show/picture.h"

/* What the command line said; texts are borrowed from it. */
typedef struct cmd_show_request {
    const char *source;    /* what to show; NULL when it was not said */
    const char *png, *svg; /* files; with neither, the terminal */
    int         width, height; /* 0: chosen */
    bool        bare;
    cmd_wishes  wishes;
} cmd_show_request;

/* argv[0] is not looked at. */
bool cmd_show_parse(cmd_show_request *out, int argc, char **argv, cmd_error *err);
/* To the files of the request, or to standard output. */
bool cmd_show_array(const cmd_show_request *r, const char *name, const cmd_array *a,
                    cmd_error *err);

#endif
