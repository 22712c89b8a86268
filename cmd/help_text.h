/* help_text.h -- the texts of cmd/help/, which the command carries with it. */
#ifndef CMD_HELP_TEXT_H
#define CMD_HELP_TEXT_H

#include "cmd/io/array.h"

typedef struct cmd_topic {
    const char *name;
    const char *text; /* lines that begin with four spaces are examples or tables */
} cmd_topic;

/* NULL when out of range, or unknown. */
const cmd_topic *cmd_topic_at(int i);
const cmd_topic *cmd_topic_find(const char *name);

#endif
