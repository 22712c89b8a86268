/* repl_work.c -- what is done with a text: lower, compile, launch. */
#include "cmd/repl.h"

#include <stdlib.h>
#include <string.h>

/* ---- Lowering -------------------------------------------------------------------------------- */

static bool lower_program(cmd_work *w, const cmd_session *s, cmd_error *err)
{
    lang_input *inputs = calloc((size_t)s->count + 1, sizeof *inputs);
    lang_world  world = { .ninputs = s->count, .inputs = inputs };
    lang_error  why;
    bool        ok;

    if (!inputs)
        return cmd_fail(err, "out of memory");
    for (int i = 0; i < s->count; i++) {
        const cmd_array *a = &s->variables[i].array;

        inputs[i] = (lang_input){ s->variables[i].name, a->dtype, a->rank, a->shape };
    }
    ok = lang_lower(&w->graph, s->program, &world, &why) || cmd_fail(err, "%s", why.text);
    free(inputs);
    return ok;
}

bool cmd_work_lower(cmd_work *w, cmd_session *s, const char *text, cmd_error *err)
{
    lang_error why;
    bool       ok = true;

    if (!lang_program_add(s->program, "input", text, strlen(text), &why))
        return cmd_fail(err, "%s", why.text);
    cmd_session_note_words(s, text);
    if (lang_program_output(s->program, 0))
        ok = lower_program(w, s, err);
    lang_program_forget_results(s->program);
    return ok;
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

static bool make_results(cmd_work *w, cmd_error *err)
{
    int n = arras_output_count(w->graph);

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

bool cmd_work_compile(cmd_work *w, cmd_error *err)
{
    arras_error why;

    if (arras_compile(&w->compiled, w->graph, NULL, &why) != ARRAS_OK)
        return cmd_fail(err, "%s", why.text);
    if (cmd_repl_interrupted())
        return cancelled(err);
    return make_results(w, err);
}

const char *cmd_work_name(const cmd_work *w, int i) { return arras_output_name(w->graph, i); }

/* ---- Launching ------------------------------------------------------------------------------- */

static arras_binding bind(const char *name, const cmd_array *a)
{
    return (arras_binding){ name, { a->data, a->dtype, a->rank, a->shape, NULL } };
}

/* Inputs that the program uses, and all results. */
static int bind_all(arras_binding *out, const cmd_work *w, const cmd_session *s)
{
    int n = 0;

    for (int i = 0; i < s->count; i++)
        if (arras_find_input(w->graph, s->variables[i].name))
            out[n++] = bind(s->variables[i].name, &s->variables[i].array);
    for (int i = 0; i < w->count; i++)
        out[n++] = bind(cmd_work_name(w, i), &w->results[i]);
    return n;
}

static bool run(cmd_work *w, int n, const arras_binding *bindings, cmd_error *err)
{
    arras_error  why;
    arras_run   *running;
    arras_status status;

    if (arras_launch_start(&running, w->compiled, n, bindings, &why) != ARRAS_OK)
        return cmd_fail(err, "%s", why.text);
    /* The reference evaluator is done when it has started: there is nothing left to cancel. */
    if (!arras_program_warning(w->compiled))
        cmd_repl_interrupt_watch(running);
    status = arras_launch_wait(NULL, running, &why);
    cmd_repl_interrupt_watch(NULL);
    if (status == ARRAS_ECANCEL)
        return cancelled(err);
    return status == ARRAS_OK || cmd_fail(err, "%s", why.text);
}

bool cmd_work_launch(cmd_work *w, const cmd_session *s, cmd_error *err)
{
    arras_binding *bindings = calloc((size_t)(s->count + w->count + 1), sizeof *bindings);
    bool           ok;

    if (!bindings)
        return cmd_fail(err, "out of memory");
    ok = run(w, bind_all(bindings, w, s), bindings, err);
    free(bindings);
    return ok;
}

void cmd_work_free(cmd_work *w)
{
    for (int i = 0; i < w->count; i++)
        cmd_array_free(&w->results[i]);
    free(w->results);
    arras_program_free(w->compiled);
    arras_graph_free(w->graph);
    *w = (cmd_work){ 0 };
}
