/* help.c -- `arras help`: topics in the terminal, all of them as a man page, and words for shells
 * that complete. */
#include <stdio.h>
#include <string.h>

#include "cmd/commands.h"
#include "cmd/help_text.h"
#include "cmd/show/letters.h"
#include "lang/lang.h"

enum { OPT_MAN, OPT_WORDS };
enum { MOST_TOPICS = 512 };

const cmd_option cmd_help_options[] = {
    [OPT_MAN] = { "man", 0, NULL, "print everything as a man page" },
    [OPT_WORDS] = { "words", 0, "WHAT",
                    "list what can be written: commands, topics, or the options of a command" },
    { 0 },
};

/* ---- Pieces: plain text, written through a function so that a man page can be made of it ------
 */

typedef void put_line(const char *line, size_t length);

static void put_plain(const char *line, size_t length) { printf("%.*s\n", (int)length, line); }

static void put_text(const char *text, put_line *put)
{
    while (*text) {
        size_t length = strcspn(text, "\n");

        put(text, length);
        text += length + (text[length] == '\n');
    }
}

static void put_option(const cmd_option *o, put_line *put)
{
    char left[64], line[256];
    int  n = o->letter ? snprintf(left, sizeof left, "-%c, --%s", o->letter, o->name)
                       : snprintf(left, sizeof left, "    --%s", o->name);

    if (o->argument)
        snprintf(left + n, sizeof left - (size_t)n, " %s", o->argument);
    n = snprintf(line, sizeof line, "    %-26s  %s", left, o->text);
    put(line, (size_t)n);
}

static void put_usage(const cmd_command *c, put_line *put)
{
    char line[256];
    int  n = snprintf(line, sizeof line, "    arras %s %s%s", c->name, c->arguments,
                     c->options[0].name ? " [OPTIONS]" : "");

    put(line, (size_t)n);
}

/* What a function takes is long at times: the text then goes to the next line. */
static void put_functions(put_line *put)
{
    enum { COLUMN = 44 };
    char line[512];

    for (int i = 0; lang_function_at(i); i++) {
        const lang_function_info *f = lang_function_at(i);
        int                       n = snprintf(line, sizeof line, "    %s", f->usage);

        if (n > COLUMN - 2) {
            put(line, (size_t)n);
            n = 0;
        }
        n += snprintf(line + n, sizeof line - (size_t)n, "%*s%s", COLUMN - n, "", f->text);
        put(line, (size_t)n);
    }
}

static void put_topic(const cmd_topic *topic, put_line *put)
{
    const cmd_command *c = cmd_command_find(topic->name);

    if (c) {
        put_usage(c, put);
        put("", 0);
    }
    put_text(topic->text, put);
    if (strcmp(topic->name, "functions") == 0)
        put_functions(put);
    if (c && c->options[0].name)
        put("", 0);
    for (int i = 0; c && c->options[i].name; i++)
        put_option(&c->options[i], put);
}

static void put_commands(put_line *put)
{
    char line[256];

    for (int i = 0; cmd_command_at(i); i++) {
        const cmd_command *c = cmd_command_at(i);
        int                n =
            snprintf(line, sizeof line, "    arras %-7s %-29s  %s", c->name, c->arguments, c->text);

        put(line, (size_t)n);
    }
}

/* ---- In the terminal ------------------------------------------------------------------------- */

static void print_overview(void)
{
    puts("arras computes arrays: you say what each cell of a result is.\n");
    put_commands(put_plain);
    printf("\n    arras --version\n\nTopics of `arras help`:");
    for (int i = 0; cmd_topic_at(i); i++)
        printf(" %s", cmd_topic_at(i)->name);
    puts(" FUNCTION\n\nTry: arras run '[1,2,3] * 2'");
}

static bool help_on_function(const char *name)
{
    for (int i = 0; lang_function_at(i); i++)
        if (strcmp(lang_function_at(i)->name, name) == 0) {
            printf("%s\n    %s\n", lang_function_at(i)->usage, lang_function_at(i)->text);
            return true;
        }
    return false;
}

static bool has_word(const char *line, size_t length, const char *word)
{
    size_t n = strlen(word);

    for (size_t i = 0; i + n <= length; i++) {
        bool begins = i == 0 || !cmd_is_name(line[i - 1]);

        if (begins && memcmp(line + i, word, n) == 0 && !cmd_is_name(line[i + n]))
            return true;
    }
    return false;
}

/* Of a word of the language: the lines about it. */
static bool help_on_word(const char *word)
{
    const char *text = cmd_topic_find("language")->text;
    int         i = 0;

    while (lang_keyword_at(i) && strcmp(lang_keyword_at(i), word) != 0)
        i++;
    if (!lang_keyword_at(i))
        return false;
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        if (has_word(text, length, word))
            put_plain(text, length);
    }
    puts("\n`arras help language` says more.");
    return true;
}

/* Of everything there is help on. */
static const char *nearest_topic(const char *name)
{
    const char *names[MOST_TOPICS + 1] = { NULL };
    int         n = 0;

    for (int i = 0; n < MOST_TOPICS && cmd_topic_at(i); i++)
        names[n++] = cmd_topic_at(i)->name;
    for (int i = 0; n < MOST_TOPICS && lang_keyword_at(i); i++)
        names[n++] = lang_keyword_at(i);
    for (int i = 0; n < MOST_TOPICS && lang_function_at(i); i++)
        names[n++] = lang_function_at(i)->name;
    return cmd_nearest(name, names);
}

bool cmd_help_topic(const char *text, cmd_error *err)
{
    char             name[64];
    const cmd_topic *topic;

    /* "sin(x)": as one writes it. */
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "( \t"), text);
    topic = cmd_topic_find(name);
    if (topic)
        put_topic(topic, put_plain);
    if (topic || help_on_function(name) || help_on_word(name))
        return true;
    const char *near = nearest_topic(name);
    return near ? cmd_fail(err, "no help on %s; did you mean %s?", name, near)
                : cmd_fail(err, "no help on %s; `arras help` lists the topics", name);
}

/* ---- As a man page --------------------------------------------------------------------------- */

static bool in_table; /* lines are kept as they are */

static void set_table(bool on)
{
    if (on != in_table)
        puts(on ? ".nf" : ".fi");
    in_table = on;
}

/* Some characters would come out as their typographic cousins. */
static void put_roff_character(char c)
{
    static const char  special[] = "\\-'`^~";
    static const char *names[] = { "\\e", "\\-", "\\(aq", "\\(ga", "\\(ha", "\\(ti" };
    const char        *at = strchr(special, c);

    if (at)
        fputs(names[at - special], stdout);
    else
        putchar(c);
}

static void put_roff(const char *line, size_t length)
{
    if (length == 0) {
        puts(".PP");
        return;
    }
    set_table(line[0] == ' ');
    if (line[0] == '.' || line[0] == '\'')
        fputs("\\&", stdout);
    for (size_t i = 0; i < length; i++)
        put_roff_character(line[i]);
    putchar('\n');
}

static void put_heading(const char *name)
{
    set_table(false);
    fputs(".SH ", stdout);
    for (; *name; name++)
        putchar(cmd_upper(*name));
    putchar('\n');
}

static void print_man_page(void)
{
    printf(".TH ARRAS 1 \"\" \"arras %s\"\n.SH NAME\narras \\- computes arrays from equations\n",
           ARRAS_VERSION);
    puts(".SH SYNOPSIS");
    put_commands(put_roff);
    for (int i = 0; cmd_topic_at(i); i++) {
        put_heading(cmd_topic_at(i)->name);
        put_topic(cmd_topic_at(i), put_roff);
    }
}

/* ---- For shells ------------------------------------------------------------------------------ */

static int print_words(const char *what)
{
    const cmd_command *c = cmd_command_find(what);

    if (strcmp(what, "commands") == 0)
        for (int i = 0; cmd_command_at(i); i++)
            puts(cmd_command_at(i)->name);
    else if (strcmp(what, "topics") == 0)
        for (int i = 0; cmd_topic_at(i); i++)
            puts(cmd_topic_at(i)->name);
    else if (!c)
        return cmd_complain("no words for %s", what);
    for (int i = 0; c && c->options[i].name; i++)
        printf("--%s\n", c->options[i].name);
    return 0;
}

int cmd_help(int argc, char **argv)
{
    cmd_arguments a = cmd_arguments_of(argc, argv, cmd_help_options);
    const char   *value = NULL;
    cmd_error     err;

    switch (cmd_next_argument(&a, &value, &err)) {
    case CMD_END_OF_ARGUMENTS: print_overview(); return 0;
    case OPT_MAN: print_man_page(); return 0;
    case OPT_WORDS: return print_words(value);
    case CMD_NAME: return cmd_help_topic(value, &err) ? 0 : cmd_complain("%s", err.text);
    default: return cmd_complain("%s", err.text);
    }
}
