/* repl_commands.c -- the commands of the REPL: lines that begin with a colon. */
#include "cmd/commands.h"
#include "cmd/io/print_array.h"
#include "cmd/io/quantity.h"
#include "cmd/io/rearrange.h"
#include "cmd/io/source.h"
#include "cmd/io/stored.h"
#include "cmd/repl/repl.h"
#include "cmd/run/run_job.h"
#include "cmd/show/letters.h"
#include "cmd/show/show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Looking at programs --------------------------------------------------------------------- */

static bool need_expression(const cmd_work *w, cmd_error *err)
{
    return w->graph ||
           cmd_fail(err, "there is nothing to compute: write an expression or an equation");
}

static void put_type(const char *name, arras_array y)
{
    printf("%s : %s[", name, arras_dtype_name(arras_array_dtype(y)));
    for (int axis = 0; axis < arras_array_rank(y); axis++)
        printf("%s%" PRId64, axis ? ", " : "", arras_array_dim(y, axis));
    printf("]\n");
}

static bool type(cmd_session *s, const char *rest, cmd_error *err)
{
    cmd_work w = { 0 };
    bool     ok = cmd_work_lower(&w, s, rest, err) && need_expression(&w, err);

    for (int i = 0; ok && i < arras_output_count(w.graph); i++)
        put_type(cmd_work_name(&w, i), arras_output_array(w.graph, i));
    cmd_work_free(&w);
    return ok;
}

static bool explain(cmd_session *s, const char *rest, cmd_error *err)
{
    cmd_work    w = { 0 };
    arras_error why;
    char       *text = NULL;
    bool        ok = cmd_work_lower(&w, s, rest, err) && need_expression(&w, err) &&
              cmd_work_compile(&w, s, err) && cmd_work_launch(&w, s, err);

    if (ok && arras_program_warning(w.compiled))
        puts(
            "there are no kernels: the reference evaluator computes one operation after the other");
    else if (ok &&
             arras_program_print(&text, NULL, w.compiled, ARRAS_PROGRAM_EXPLAIN, &why) != ARRAS_OK)
        ok = cmd_fail(err, "%s", why.text);
    if (ok && w.passes)
        fputs(w.passes, stdout);
    if (text)
        fputs(text, stdout);
    arras_text_free(text);
    cmd_work_free(&w);
    return ok;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

enum { FEWEST_LAUNCHES = 3, MOST_LAUNCHES = 1000 };
#define MEASURED_NS 300000000 /* launches are repeated that long */

static bool measure(int64_t *best, int *launches, cmd_work *w, const cmd_session *s, cmd_error *err)
{
    int64_t began = cmd_now(), start, spent;

    *best = INT64_MAX;
    for (*launches = 0; *launches < MOST_LAUNCHES; ++*launches) {
        start = cmd_now();
        if (*launches >= FEWEST_LAUNCHES && start - began > MEASURED_NS)
            break;
        if (!cmd_work_launch(w, s, err))
            return false;
        spent = cmd_now() - start;
        *best = spent < *best ? spent : *best;
    }
    return true;
}

static const char *origin_of(const arras_counters *c)
{
    return c->from_memory ? ", found in memory" : c->from_disk ? ", kernels found on disk" : "";
}

static bool time_work(cmd_work *w, cmd_session *s, cmd_error *err)
{
    char           text[CMD_QUANTITY_ROOM];
    int64_t        began = cmd_now(), best;
    int            launches;
    arras_counters c;

    if (!cmd_work_compile(w, s, err))
        return false;
    int64_t compiled = cmd_now() - began;
    if (!measure(&best, &launches, w, s, err))
        return false;
    arras_program_counters(&c, w->compiled);
    printf("compiled in %s (%" PRId64 " kernel%s%s)\n", cmd_quantity_time(text, compiled),
           c.kernels, c.kernels == 1 ? "" : "s", origin_of(&c));
    printf("launched in %s, the best of %d", cmd_quantity_time(text, best), launches);
    if (w->streams) /* what it moves depends on its tiles */
        printf("; it reads files, piece by piece\n");
    else
        printf("; %s moved, %.1f GB/s\n", cmd_quantity_bytes(text, c.bytes_moved),
               (double)c.bytes_moved / (double)(best > 0 ? best : 1));
    return true;
}

static bool time_text(cmd_session *s, const char *rest, cmd_error *err)
{
    cmd_work w = { 0 };
    bool ok = cmd_work_lower(&w, s, rest, err) && need_expression(&w, err) && time_work(&w, s, err);

    cmd_work_free(&w);
    return ok;
}

/* ---- Arrays in and out ----------------------------------------------------------------------- */

static bool is_name(const char *s, size_t length)
{
    if (length == 0 || !(cmd_is_letter(*s) || *s == '_'))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!cmd_is_name(s[i]) && s[i] != '.')
            return false;
    return s[length - 1] != '.';
}

/* The file's own name up to its ending; what is no letter, digit or _ becomes _. */
static bool name_of_file(char *out, size_t size, const char *source, cmd_error *err)
{
    const char *slash = strrchr(source, '/'), *base = slash ? slash + 1 : source;
    size_t      n = strcspn(base, ".:");

    if (n == 0 || n >= size)
        return cmd_fail(err, "`%s` gives no name for the array: write :load name=%s", source,
                        source);
    for (size_t i = 0; i < n; i++)
        out[i] = cmd_is_name(base[i]) ? base[i] : '_';
    out[n] = '\0';
    if (cmd_is_digit(out[0]))
        out[0] = '_';
    return true;
}

/* Splits name=SOURCE; a file whose name has a `=` somewhere after a character that no name has is a
 * file. */
static const char *split_name(char *name, size_t size, const char *what)
{
    size_t n = strcspn(what, "=");

    if (what[n] != '=' || !is_name(what, n) || n >= size)
        return NULL;
    memcpy(name, what, n);
    name[n] = '\0';
    return what + n + 1;
}

bool cmd_session_load(cmd_session *s, const char *what, cmd_error *err)
{
    char        name[256];
    const char *source = split_name(name, sizeof name, what);
    cmd_array   a;

    if (!source && !name_of_file(name, sizeof name, source = what, err))
        return false;
    if (strcmp(source, "-") == 0)
        return cmd_fail(err, "standard input has the lines of the session: load from a file");
    if (!cmd_source_open(&a, source, CMD_SMALL, err))
        return false;
    if (!cmd_session_set(s, name, &a, err)) {
        cmd_array_free(&a);
        return false;
    }
    printf("%s : ", name);
    cmd_print_type(stdout, cmd_session_find(s, name));
    putchar('\n');
    return true;
}

static bool load(cmd_session *s, const char *rest, cmd_error *err)
{
    if (!*rest)
        return cmd_fail(err, "say what to load, as in :load h=sea.npy");
    return cmd_session_load(s, rest, err);
}

static bool unknown_array(const cmd_session *s, const char *name, cmd_error *err)
{
    const char **names = calloc((size_t)s->count + 1, sizeof *names), *near = NULL;

    for (int i = 0; names && i < s->count; i++)
        names[i] = s->variables[i].name;
    if (names)
        near = cmd_nearest(name, names);
    if (near)
        cmd_fail(err, "there is no array `%s`; did you mean `%s`?", name, near);
    else
        cmd_fail(err, "there is no array `%s`; :names lists those there are", name);
    free(names);
    return false;
}

static void cancel_copy(void *work) { arras_rechunk_cancel(work); }

/* From file to file, piece by piece. */
static bool copy_stored(const char *sink, const cmd_array *a, cmd_error *err)
{
    arras_sink       *to;
    arras_rechunking *work;
    arras_error       why;

    if (!cmd_sink_create(&to, sink, a, err))
        return false;
    if (arras_rechunk_start(&work, a->stored, to, NULL, &why) != ARRAS_OK) {
        arras_sink_abandon(to);
        return cmd_fail(err, "%s", why.text);
    }
    cmd_repl_interrupt_watch(cancel_copy, work);
    arras_status status = arras_rechunk_wait(work, &why);
    cmd_repl_interrupt_watch(NULL, NULL);
    arras_rechunk_free(work);
    if (status == ARRAS_OK)
        return cmd_stored_finish(to, err);
    arras_sink_abandon(to);
    return cmd_fail(err, "%s", status == ARRAS_ECANCEL ? "cancelled" : why.text);
}

/* What is not a file is written from memory. */
static bool write_array(const char *sink, const char *name, cmd_array *a, cmd_error *err)
{
    if (a->stored && cmd_sink_is_file(sink))
        return copy_stored(sink, a, err);
    return (!a->stored || cmd_stored_fetch(a, name, err)) &&
           (!a->fortran || cmd_array_from_fortran(a, name, err)) && cmd_sink_write(sink, a, err);
}

static bool save(cmd_session *s, const char *rest, cmd_error *err)
{
    char        name[256];
    const char *sink = split_name(name, sizeof name, rest);
    cmd_array  *a = sink ? cmd_session_find(s, name) : NULL;

    if (!sink || !*sink)
        return cmd_fail(err, "say what to save and where, as in :save h=sea.npy");
    if (strcmp(sink, "-") == 0 && isatty(STDOUT_FILENO))
        return cmd_fail(err, "standard output is this terminal: save to a file");
    return a ? write_array(sink, name, a, err) : unknown_array(s, name, err);
}

static bool names(cmd_session *s, const char *rest, cmd_error *err)
{
    (void)rest;
    (void)err;
    for (int i = 0; i < s->count; i++) {
        printf("%s : ", s->variables[i].name);
        cmd_print_type(stdout, &s->variables[i].array);
        putchar('\n');
    }
    for (int i = 0; i < s->nwords; i++)
        printf("%s\n", s->words[i]);
    return true;
}

/* ---- Pictures -------------------------------------------------------------------------------- */

enum { MOST_ARGUMENTS = 32 };

/* Splits at blanks, within `text`. */
static int split_words(char **argv, char *text)
{
    char *rest = NULL;
    int   n = 0;

    for (char *word = strtok_r(text, " \t", &rest); word && n < MOST_ARGUMENTS;
         word = strtok_r(NULL, " \t", &rest))
        argv[n++] = word;
    return n;
}

/* An array by its name, or an expression. */
static bool show_what(cmd_session *s, const cmd_show_request *r, cmd_error *err)
{
    const cmd_array *a = cmd_session_find(s, r->source);
    cmd_work         w = { 0 };
    bool             ok;

    if (a)
        return cmd_show_array(r, r->source, a, err);
    if (is_name(r->source, strlen(r->source)))
        return unknown_array(s, r->source, err);
    ok = cmd_work_lower(&w, s, r->source, err) && need_expression(&w, err) &&
         cmd_work_compile(&w, s, err) && cmd_work_launch(&w, s, err) &&
         cmd_show_array(r, r->source, &w.results[0], err);
    cmd_work_free(&w);
    return ok;
}

/* Options begin at the first word that looks like one: what is before it may have blanks. */
static bool parse_show(cmd_show_request *out, char **argv, char *text, cmd_error *err)
{
    char  *options = strncmp(text, "--", 2) == 0 ? text : strstr(text, " --");
    size_t length = options ? (size_t)(options - text) : strlen(text);

    if (!cmd_show_parse(out, 1 + (options ? split_words(argv + 1, options) : 0), argv, err))
        return false;
    if (out->source)
        return cmd_fail(err, "`%s` is no option: say first what to show, then options",
                        out->source);
    if (length == 0)
        return cmd_fail(err, "say what to show, as in :show h");
    text[length] = '\0';
    out->source = text;
    return true;
}

static bool show(cmd_session *s, const char *rest, cmd_error *err)
{
    char            *argv[MOST_ARGUMENTS + 1] = { (char[]){ "show" } }, *text = strdup(rest);
    cmd_show_request request;
    bool             ok;

    if (!text)
        return cmd_fail(err, "out of memory");
    ok = parse_show(&request, argv, text, err) && show_what(s, &request, err);
    free(text);
    return ok;
}

/* ---- Help and the end ------------------------------------------------------------------------ */

static bool help(cmd_session *s, const char *rest, cmd_error *err)
{
    (void)s;
    if (*rest)
        return cmd_help_topic(rest, err);
    printf("Type an equation or an expression and see its value; arrays keep their names:\n\n"
           "    x[i:100] = sin(i*0.1)\n    d[i:99] = x[i+1] - x[i]\n    mean(d)\n\n");
    for (int i = 0; cmd_repl_command_at(i); i++) {
        const cmd_repl_command *c = cmd_repl_command_at(i);
        int                     used = printf("  :%s %s", c->name, c->arguments);

        printf("%*s%s\n", used < 30 ? 30 - used : 1, "", c->text);
    }
    printf("\nTAB completes names; Ctrl-C stops a computation or drops a line; Ctrl-D ends.\n"
           ":help language, :help functions and :help FUNCTION say more.\n");
    return true;
}

static bool quit(cmd_session *s, const char *rest, cmd_error *err)
{
    (void)rest;
    (void)err;
    return s->quits = true;
}

/* ---- The table ------------------------------------------------------------------------------- */

static const cmd_repl_command commands[] = {
    { "explain", "EXPR", "how it is computed: what is fused, tiles, memory", explain },
    { "help", "[TOPIC]", "this, a topic, or a function", help },
    { "load", "name=SOURCE", "an array from a file (also: :load FILE)", load },
    { "names", "", "the arrays and definitions there are", names },
    { "quit", "", "the end (also Ctrl-D)", quit },
    { "save", "name=SINK", "an array to a file", save },
    { "show", "EXPR [OPTIONS]", "a picture; options as of arras show", show },
    { "time", "EXPR", "how long it takes; the value is not kept", time_text },
    { "type", "EXPR", "type and shape, without computing it", type },
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

const cmd_repl_command *cmd_repl_command_at(int i)
{
    return i >= 0 && i < COMMANDS ? &commands[i] : NULL;
}

/* A beginning will do if only one command has it. */
static const cmd_repl_command *find_command(const char *name, size_t length)
{
    const cmd_repl_command *found = NULL;

    for (int i = 0; i < COMMANDS; i++) {
        if (strncmp(commands[i].name, name, length) != 0)
            continue;
        if (commands[i].name[length] == '\0')
            return &commands[i];
        if (found)
            return NULL;
        found = &commands[i];
    }
    return length > 0 ? found : NULL;
}

static bool unknown_command(const char *name, size_t length, cmd_error *err)
{
    const char *all[COMMANDS + 1] = { NULL }, *near;
    char        word[64];

    snprintf(word, sizeof word, "%.*s", (int)(length > 60 ? 60 : length), name);
    for (int i = 0; i < COMMANDS; i++)
        all[i] = commands[i].name;
    near = cmd_nearest(word, all);
    if (near)
        return cmd_fail(err, "there is no command :%s; did you mean :%s?", word, near);
    return cmd_fail(err, "there is no command :%s; :help lists those there are", word);
}

bool cmd_repl_command_run(cmd_session *s, const char *line, cmd_error *err)
{
    size_t                  length = strcspn(line, " \t");
    const cmd_repl_command *c = find_command(line, length);
    const char             *rest = line + length + strspn(line + length, " \t");

    return c ? c->run(s, rest, err) : unknown_command(line, length, err);
}
