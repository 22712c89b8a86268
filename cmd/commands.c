/* commands.c -- the table of subcommands, and how they speak to the user. */
#include "cmd/commands.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd/progress.h"

static const cmd_command commands[] = {
    { "run", "'EQUATIONS' [name=SOURCE ...]", "compute arrays from equations", cmd_run,
      cmd_run_options },
    { "show", "SOURCE", "a picture of an array: in the terminal, as PNG or as SVG", cmd_show,
      cmd_show_options },
    { "info", "SOURCE ...", "shape, type, layout and statistics of an array", cmd_info,
      cmd_info_options },
    { "chunk", "[SOURCE]", "the chunk shape for the way an array is read", cmd_chunk,
      cmd_chunk_options },
    { "rechunk", "SOURCE SINK", "copy an array into other chunks, within a budget of memory",
      cmd_rechunk, cmd_rechunk_options },
    { "repl", "[name=SOURCE ...]", "type equations and see what they give", cmd_repl,
      cmd_repl_options },
    { "label", "SOURCE SINK", "number the connected components of an array", cmd_label,
      cmd_label_options },
    { "help", "[TOPIC]", "what there is to know", cmd_help, cmd_help_options },
};

const cmd_command *cmd_command_at(int i)
{
    return i >= 0 && (size_t)i < sizeof commands / sizeof *commands ? &commands[i] : NULL;
}

const cmd_command *cmd_command_find(const char *name)
{
    for (int i = 0; cmd_command_at(i); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static void say(const char *kind, const char *format, va_list args)
{
    fflush(stdout); /* what was printed before stands before it, wherever both go */
    fprintf(stderr, "arras: %s", kind);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int cmd_complain(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say("", format, args);
    va_end(args);
    return 1;
}

void cmd_warn(const char *format, ...)
{
    va_list args;

    cmd_progress_clear();
    va_start(args, format);
    say("warning: ", format, args);
    va_end(args);
}

void cmd_warn_uncached(const arras_options *options)
{
    static bool said;
    arras_error why;

    if (said || arras_cache_check(options, &why) == ARRAS_OK)
        return;
    said = true;
    cmd_warn("%s (until then each run compiles its kernels anew)", why.text);
}
