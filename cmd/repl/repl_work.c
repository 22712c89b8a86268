/* repl_work.c -- what is done with a text: lower, compile, launch. */
#include "cmd/interrupt.h"
#include "cmd/io/stored.h"
#include "cmd/repl/repl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lowering -------------------------------------------------------------------------------- */

/* `outputs` names what is wanted; none: what the text makes. */
static bool lower_program(arras_graph **out, const cmd_session *s, int noutputs,
                          const char *const *outputs, cmd_error *err)
{
    lang_input *inputs = calloc((size_t)s->count + 1, sizeof *inputs);
    lang_world  world = { s->count, inputs, 0, NULL, noutputs, outputs };
    lang_error  why;
    bool        ok;

    if (!inputs)
        return cmd_fail(err, "out of memory");
    for (int i = 0; i < s->count; i++) {
        const cmd_array *a = &s->variables[i].array;

        inputs[i] = (lang_input){ s->variables[i].name, a->dtype, a->rank, a->shape };
    }
    ok = lang_lower(out, s->program, &world, &why) || cmd_fail(err, "%s", why.text);
    free(inputs);
    return ok;
}

static bool add_text(cmd_work *w, cmd_session *s, const char *text, cmd_error *err)
{
    lang_error why;

    if (!lang_program_add(s->program, "input", text, strlen(text), &why))
        return cmd_fail(err, "%s", why.text);
    w->session = s;
    w->added = true;
    return true;
}

static void take_back(cmd_work *w)
{
    if (w->added)
        lang_program_undo(w->session->program);
    w->added = false;
}

/* A text that only defines: its mistakes are told now, not when somebody reads it. */
static bool check_lets(const cmd_session *s, cmd_error *err)
{
    bool ok = true;

    for (int i = 0; ok && lang_program_let(s->program, i); i++) {
        const char  *name = lang_program_let(s->program, i);
        arras_graph *g = NULL;

        ok = lower_program(&g, s, 1, &name, err);
        arras_graph_free(g);
    }
    return ok;
}

static bool lower_text(cmd_work *w, cmd_session *s, cmd_error *err)
{
    bool ok = lang_program_output(s->program, 0) ? lower_program(&w->graph, s, 0, NULL, err)
                                                 : check_lets(s, err);

    lang_program_forget_results(s->program);
    return ok;
}

/* ---- Names that are defined anew: a = a + 1 -------------------------------------------------- */

static bool note_renewed(cmd_work *w, const lang_program *p, cmd_error *err)
{
    int n = 0;

    while (lang_program_renewed(p, n))
        n++;
    w->renewed = calloc((size_t)n + 1, sizeof *w->renewed);
    while (w->renewed && w->nrenewed < n &&
           (w->renewed[w->nrenewed].name = strdup(lang_program_renewed(p, w->nrenewed))))
        w->nrenewed++;
    return (w->renewed && w->nrenewed == n) || cmd_fail(err, "out of memory");
}

/* What a name means now. */
static bool value_of(cmd_array *out, cmd_session *s, const char *name, cmd_error *err)
{
    cmd_work w = { 0 };
    bool     ok = add_text(&w, s, name, err) && lower_text(&w, s, err) &&
              cmd_work_compile(&w, s, err) && cmd_work_launch(&w, s, err);

    if (ok) {
        *out = w.results[0];
        w.results[0] = (cmd_array){ 0 };
    }
    cmd_work_free(&w);
    return ok;
}

/* The array and that of the session change places. */
static bool enter_session(cmd_renewed *r, cmd_session *s, cmd_error *err)
{
    cmd_array *there = cmd_session_find(s, r->name), old = { 0 };

    r->had_array = there != NULL;
    if (there) {
        old = *there;
        *there = r->array;
    } else if (!cmd_session_set(s, r->name, &r->array, err)) {
        return false;
    }
    r->array = old;
    return r->in_session = true;
}

static void leave_session(cmd_renewed *r, cmd_session *s)
{
    if (!r->in_session)
        return;
    if (r->had_array) {
        cmd_array *there = cmd_session_find(s, r->name), value = *there;

        *there = r->array;
        r->array = value;
    } else {
        cmd_session_drop(s, r->name);
    }
}

/* All values are taken before the first of them enters the session, where others may read it. */
static bool renew(cmd_work *w, cmd_session *s, const char *text, cmd_error *err)
{
    if (!note_renewed(w, s->program, err))
        return false;
    take_back(w);
    for (int i = 0; i < w->nrenewed; i++)
        if (!value_of(&w->renewed[i].array, s, w->renewed[i].name, err))
            return false;
    for (int i = 0; i < w->nrenewed; i++)
        if (!enter_session(&w->renewed[i], s, err))
            return false;
    return add_text(w, s, text, err);
}

bool cmd_work_lower(cmd_work *w, cmd_session *s, const char *text, cmd_error *err)
{
    if (!add_text(w, s, text, err))
        return false;
    if (lang_program_renewed(s->program, 0) && !renew(w, s, text, err))
        return false;
    return lower_text(w, s, err);
}

void cmd_work_keep(cmd_work *w, const char *text)
{
    cmd_session_note_words(w->session, text);
    w->session = NULL;
    w->added = false;
}

/* ---- Compiling ------------------------------------------------------------------------------- */

static bool make_result(cmd_array *out, arras_array y, const char *name, cmd_error *err)
{
    int64_t shape[ARRAS_MAX_RANK];

    for (int axis = 0; axis < arras_array_rank(y); axis++)
        shape[axis] = arras_array_dim(y, axis);
    return cmd_array_new(out, arras_array_dtype(y), arras_array_rank(y), shape) ||
           cmd_fail(err, "out of memory for the result `%s`", name);
}

/* The arrays of the session are there already.  Results of arrays in files are made by the library,
 * in tiles that take what is left, and copied. */
static bool check_memory(const cmd_work *w, cmd_error *err)
{
    int64_t        available = arras_memory_available(), needed;
    arras_summary  summary;
    arras_counters counters;
    arras_error    why;

    if (arras_summarize(&summary, w->graph, &why) != ARRAS_OK)
        return cmd_fail(err, "%s", why.text);
    arras_program_counters(&counters, w->compiled);
    int64_t more = w->streams ? summary.bytes_out : counters.planned;
    if (__builtin_add_overflow(summary.bytes_out, more, &needed))
        needed = INT64_MAX;
    return needed <= available ||
           cmd_fail(err,
                    "the arrays need %" PRId64 " bytes of memory (results %" PRId64 ", %s %" PRId64
                    "), %" PRId64 " are free; `arras run` writes results to files",
                    needed, summary.bytes_out, w->streams ? "copies of them" : "temporaries", more,
                    available);
}

static bool make_results(cmd_work *w, cmd_error *err)
{
    int n = arras_output_count(w->graph);

    if (!check_memory(w, err))
        return false;
    w->results = calloc((size_t)n, sizeof *w->results);
    if (!w->results)
        return cmd_fail(err, "out of memory");
    for (w->count = 0; w->count < n; w->count++)
        if (!make_result(&w->results[w->count], arras_output_array(w->graph, w->count),
                         cmd_work_name(w, w->count), err))
            return false;
    return true;
}

static bool cancelled(cmd_error *err) { return cmd_fail(err, "cancelled"); }

/* Whether arrays in files are used.  Without kernels all of them is read: only those can be run
 * piece by piece. */
static bool choose_stream(cmd_work *w, cmd_session *s, cmd_error *err)
{
    for (int i = 0; i < s->count; i++) {
        cmd_array *a = &s->variables[i].array;

        if (!a->stored || !arras_find_input(w->graph, s->variables[i].name))
            continue;
        if (!arras_program_warning(w->compiled))
            w->streams = true;
        else if (!cmd_stored_fetch(a, s->variables[i].name, err))
            return false;
    }
    return true;
}

bool cmd_work_compile(cmd_work *w, cmd_session *s, cmd_error *err)
{
    arras_error why;

    if (cmd_compile(&w->compiled, w->graph, NULL, &why) != ARRAS_OK)
        return cmd_fail(err, "%s", why.text);
    if (cmd_interrupted())
        return cancelled(err);
    return choose_stream(w, s, err) && make_results(w, err);
}

const char *cmd_work_name(const cmd_work *w, int i) { return arras_output_name(w->graph, i); }

/* ---- Launching ------------------------------------------------------------------------------- */

typedef struct {
    int            n, nstored;
    arras_binding *arrays; /* in memory */
    int64_t (*strides)[ARRAS_MAX_RANK];
    arras_stored *stored;
} bindings;

static void add_array(bindings *out, const char *name, const cmd_array *a)
{
    out->arrays[out->n] = cmd_array_bind(name, a, out->strides[out->n]);
    out->n++;
}

/* Inputs that the program uses, and all results. */
static void bind_all(bindings *out, const cmd_work *w, const cmd_session *s)
{
    for (int i = 0; i < s->count; i++) {
        const cmd_variable *v = &s->variables[i];

        if (!arras_find_input(w->graph, v->name))
            continue;
        if (v->array.stored)
            out->stored[out->nstored++] = (arras_stored){ v->name, v->array.stored, NULL };
        else
            add_array(out, v->name, &v->array);
    }
    for (int i = 0; i < w->count && !w->streams; i++)
        add_array(out, cmd_work_name(w, i), &w->results[i]);
}

static bool conclude(arras_status status, const arras_error *why, cmd_error *err)
{
    if (status == ARRAS_ECANCEL)
        return cancelled(err);
    return status == ARRAS_OK || cmd_fail(err, "%s", why->text);
}

static void cancel_launch(void *running) { arras_launch_cancel(running); }

static bool launch(cmd_work *w, const bindings *b, cmd_error *err)
{
    arras_error  why;
    arras_run   *running;
    arras_status status;

    if (cmd_launch_start(&running, w->compiled, b->n, b->arrays, &why) != ARRAS_OK)
        return cmd_fail(err, "%s", why.text);
    /* The reference evaluator is done when it has started: there is nothing left to cancel. */
    if (!arras_program_warning(w->compiled))
        cmd_repl_interrupt_watch(cancel_launch, running);
    status = arras_launch_wait(NULL, running, &why);
    cmd_repl_interrupt_watch(NULL, NULL);
    return conclude(status, &why, err);
}

static void cancel_stream(void *stream) { arras_stream_cancel(stream); }

static void take_results(cmd_work *w, const arras_results *results)
{
    for (int i = 0; i < w->count; i++)
        memcpy(w->results[i].data, arras_results_find(results, cmd_work_name(w, i))->buffer.data,
               (size_t)cmd_array_bytes(&w->results[i]));
}

static bool run_stream(cmd_work *w, const bindings *b, cmd_error *err)
{
    arras_stream_options options = { .memory = arras_memory_available() / 2 };
    arras_results       *results = NULL;
    arras_stream        *stream;
    arras_error          why;

    if (arras_stream_start(&stream, w->compiled, b->n, b->arrays, b->nstored, b->stored, &options,
                           &why) != ARRAS_OK)
        return cmd_fail(err, "%s", why.text);
    arras_text_free(w->passes);
    w->passes = NULL;
    cmd_repl_interrupt_watch(cancel_stream, stream);
    bool ok = (arras_stream_explain(&w->passes, stream, &why) == ARRAS_OK ||
               cmd_fail(err, "%s", why.text)) &&
              conclude(arras_stream_wait(&results, stream, &why), &why, err);
    cmd_repl_interrupt_watch(NULL, NULL);
    arras_stream_free(stream);
    if (ok)
        take_results(w, results);
    arras_results_free(results);
    return ok;
}

bool cmd_work_launch(cmd_work *w, const cmd_session *s, cmd_error *err)
{
    size_t   most = (size_t)(s->count + w->count + 1);
    bindings b = { .arrays = calloc(most, sizeof *b.arrays),
                   .strides = calloc(most, sizeof *b.strides),
                   .stored = calloc(most, sizeof *b.stored) };
    bool     ok = b.arrays && b.strides && b.stored;

    if (ok) {
        bind_all(&b, w, s);
        ok = w->streams ? run_stream(w, &b, err) : launch(w, &b, err);
    } else {
        cmd_fail(err, "out of memory");
    }
    free(b.arrays);
    free(b.strides);
    free(b.stored);
    return ok;
}

void cmd_work_free(cmd_work *w)
{
    take_back(w);
    for (int i = 0; i < w->nrenewed; i++) {
        if (w->session)
            leave_session(&w->renewed[i], w->session);
        cmd_array_free(&w->renewed[i].array);
        free(w->renewed[i].name);
    }
    free(w->renewed);
    for (int i = 0; i < w->count; i++)
        cmd_array_free(&w->results[i]);
    free(w->results);
    arras_text_free(w->passes);
    arras_program_free(w->compiled);
    arras_graph_free(w->graph);
    *w = (cmd_work){ 0 };
}
