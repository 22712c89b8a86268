/* help_text.c -- the texts of cmd/help/, as bytes that CMake made of them. */
#include "cmd/help_text.h"

#include <string.h>

static const char run_text[] = {
#include "help_run.inc"
};
static const char show_text[] = {
#include "help_show.inc"
};
static const char info_text[] = {
#include "help_info.inc"
};
static const char chunk_text[] = {
#include "help_chunk.inc"
};
static const char rechunk_text[] = {
#include "help_rechunk.inc"
};
static const char repl_text[] = {
#include "help_repl.inc"
};
static const char label_text[] = {
#include "help_label.inc"
};
static const char help_text[] = {
#include "help_help.inc"
};
static const char language_text[] = {
#include "help_language.inc"
};
static const char sources_text[] = {
#include "help_sources.inc"
};

/* Commands first, in their order. */
static const cmd_topic topics[] = {
    { "run", run_text },           { "show", show_text },
    { "info", info_text },         { "chunk", chunk_text },
    { "rechunk", rechunk_text },   { "repl", repl_text },
    { "label", label_text },       { "help", help_text },
    { "language", language_text }, { "functions", "" /* made from the table of the language */ },
    { "sources", sources_text },
};

const cmd_topic *cmd_topic_at(int i)
{
    return i >= 0 && (size_t)i < sizeof topics / sizeof *topics ? &topics[i] : NULL;
}

const cmd_topic *cmd_topic_find(const char *name)
{
    for (int i = 0; cmd_topic_at(i); i++)
        if (strcmp(topics[i].name, name) == 0)
            return &topics[i];
    return NULL;
}
