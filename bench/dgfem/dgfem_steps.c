/* dgfem_steps.c -- every operation of a right-hand side as a program of its own.
 *
 * Operations are the lines of the recorded program's text form (docs/text.md).  Each becomes a text
 * of its own, with the arrays it reads as inputs and its result as the output, and is compiled.
 * Numbers stay within the operations that use them; data is evaluated once, before any run. */
#include "dgfem_steps.h"

#include "dgfem_lines.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CACHE_LINE = 64, HUGE_PAGE = 2 * 1024 * 1024 };

typedef struct {
    arras_program *program;
    int            n;
    line_value    *values[LINE_MOST_READ + 1]; /* what is read, then the result */
    arras_binding  bindings[LINE_MOST_READ + 1];
} step;

struct steps {
    const dg_state *state, *rates;
    int             threads, inputs, outputs;
    int64_t         nvalues, nsteps;
    line_value     *values;
    step           *steps;
    void           *pool; /* all results but the rates, one behind the other */
};

/* ---- Values ---------------------------------------------------------------------------------- */

/* Inputs have names, nodes are called node_12. */
static line_value *add_value(steps *s, line_span written)
{
    line_value *v = &s->values[s->nvalues++];
    bool        is_node = *written.start == '%';
    line_span   shown = is_node ? line_after(written, 1) : written;

    v->written = written;
    snprintf(v->name, LINE_NAME, "%s%.*s", is_node ? "node_" : "", (int)shown.length, shown.start);
    return v;
}

static void take_type(line_value *v, arras_array x)
{
    v->buffer = (arras_buffer){ NULL, arras_array_dtype(x), arras_array_rank(x), v->shape, NULL };
    for (int d = 0; d < v->buffer.rank; d++)
        v->shape[d] = arras_array_dim(x, d);
}

/* ---- Operations ------------------------------------------------------------------------------ */

static arras_status evaluate_data(line_value *v, line_span line, arras_error *err)
{
    arras_graph *g = NULL;
    arras_status status = line_read_alone(&g, 0, NULL, line, v, err);

    if (status == ARRAS_OK)
        status = arras_evaluate(&v->data, g, 0, NULL, err);
    if (status == ARRAS_OK)
        v->buffer = arras_results_at(v->data, 0)->buffer;
    arras_graph_free(g);
    return status;
}

/* What only the reference evaluator can do would be no measure of kernels that are launched. */
static arras_status compile(step *out, const arras_graph *g, int threads, arras_error *err)
{
    const arras_options options = { .threads = threads };
    arras_status        status = arras_compile(&out->program, g, &options, err);

    if (status == ARRAS_OK && arras_program_warning(out->program))
        return dg_fail(err, ARRAS_EBUILD, "%s", arras_program_warning(out->program));
    return status;
}

static arras_status add_operation(steps *s, line_span line, arras_error *err)
{
    step        *made = &s->steps[s->nsteps++];
    arras_graph *g = NULL;
    arras_status status = line_find_read(&made->n, made->values, s->nvalues, s->values, line, err);
    line_value  *result = add_value(s, line_word_at(line.start));

    if (status == ARRAS_OK)
        status = line_read_alone(&g, made->n, made->values, line, result, err);
    if (status == ARRAS_OK) {
        take_type(result, arras_output_array(g, 0));
        made->values[made->n++] = result;
        status = compile(made, g, s->threads, err);
    }
    arras_graph_free(g);
    return status;
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* %12 = ... */
static arras_status add_definition(steps *s, line_span line, arras_error *err)
{
    line_span written = line_word_at(line.start);
    line_span what = line_after(line, written.length + strlen(" = "));

    if (line_starts_with(what, "data "))
        return evaluate_data(add_value(s, written), line, err);
    if (!line_starts_with(what, "const "))
        return add_operation(s, line, err);
    add_value(s, written)->number = line;
    return ARRAS_OK;
}

/* input u : f64[1000, 35]; fields come in their order */
static void add_input(steps *s, line_span line, const arras_graph *g)
{
    line_value *v = add_value(s, line_word_at(line.start + strlen("input ")));

    take_type(v, arras_find_input(g, v->name));
    v->buffer.data = s->state->fields[s->inputs++];
}

/* output new_u = %60; so do rates */
static void add_output(steps *s, line_span line)
{
    const char *equals = memchr(line.start, '=', line.length);

    line_find(s->nvalues, s->values, line_word_at(equals + strlen("= ")))->buffer.data =
        s->rates->fields[s->outputs++];
}

static arras_status add_statements(steps *s, const char *text, const arras_graph *g,
                                   arras_error *err)
{
    arras_status status = ARRAS_OK;

    while (*text && status == ARRAS_OK) {
        line_span line = line_at(text);

        if (line_starts_with(line, "input "))
            add_input(s, line, g);
        else if (line_starts_with(line, "output "))
            add_output(s, line);
        else if (line_starts_with(line, "%"))
            status = add_definition(s, line, err);
        text += line.length + strspn(text + line.length, "\n");
    }
    return status;
}

static size_t pool_bytes(const line_value *v)
{
    size_t bytes = arras_dtype_size(v->buffer.dtype);

    if (v->number.start || v->buffer.data)
        return 0;
    for (int d = 0; d < v->buffer.rank; d++)
        bytes *= (size_t)v->shape[d];
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* Once it is known which results are rates.  Pages are as large as Arras takes them for itself, and
 * all of them are there before a run. */
static arras_status take_pool(steps *s, arras_error *err)
{
    size_t bytes = 0;
    char  *at;

    for (int64_t i = 0; i < s->nvalues; i++)
        bytes += pool_bytes(&s->values[i]);
    if (posix_memalign(&s->pool, HUGE_PAGE, bytes) != 0)
        return dg_fail(err, ARRAS_ENOMEM, "no memory for results of %zu bytes", bytes);
    madvise(s->pool, bytes, MADV_HUGEPAGE);
    at = memset(s->pool, 0, bytes);
    for (int64_t i = 0; i < s->nvalues; i++) {
        size_t own = pool_bytes(&s->values[i]);

        if (own > 0)
            s->values[i].buffer.data = at;
        at += own;
    }
    return ARRAS_OK;
}

static void bind(step *at)
{
    int arrays = 0;

    for (int i = 0; i < at->n; i++)
        if (!at->values[i]->number.start)
            at->bindings[arrays++] = (arras_binding){ at->values[i]->name, at->values[i]->buffer };
    at->n = arrays;
}

static arras_status make(steps *s, const arras_graph *g, arras_error *err)
{
    size_t       most = (size_t)arras_graph_nodes(g);
    char        *text;
    arras_status status;

    s->values = calloc(most, sizeof *s->values);
    s->steps = calloc(most, sizeof *s->steps);
    if (!s->values || !s->steps)
        return dg_fail(err, ARRAS_ENOMEM, "no memory for %zu operations", most);
    status = arras_graph_print(&text, NULL, g, ARRAS_TEXT_FULL, err);
    if (status != ARRAS_OK)
        return status;
    status = add_statements(s, text, g, err);
    if (status == ARRAS_OK)
        status = take_pool(s, err);
    for (int64_t i = 0; i < s->nsteps && status == ARRAS_OK; i++)
        bind(&s->steps[i]);
    arras_text_free(text);
    return status;
}

arras_status steps_make(steps **out, const dg_problem *problem, const dg_state *state,
                        const dg_state *rates, int threads, arras_error *err)
{
    steps       *s = calloc(1, sizeof *s);
    arras_graph *g = NULL;
    arras_status status = arras_graph_new(&g, err);

    if (status == ARRAS_OK && !s)
        status = dg_fail(err, ARRAS_ENOMEM, "no memory for the steps of a right-hand side");
    if (status == ARRAS_OK) {
        *s = (steps){ .state = state, .rates = rates, .threads = threads };
        dg_program_record(g, problem, DG_RATES);
        status = make(s, g, err);
    }
    arras_graph_free(g);
    if (status == ARRAS_OK)
        *out = s;
    else
        steps_free(s);
    return status;
}

void steps_free(steps *s)
{
    if (!s)
        return;
    for (int64_t i = 0; i < s->nsteps; i++)
        arras_program_free(s->steps[i].program);
    for (int64_t i = 0; i < s->nvalues; i++)
        arras_results_free(s->values[i].data);
    free(s->pool);
    free(s->steps);
    free(s->values);
    free(s);
}

arras_status steps_run(steps *s, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (step *at = s->steps; at < s->steps + s->nsteps && status == ARRAS_OK; at++)
        status = arras_launch(NULL, at->program, at->n, at->bindings, err);
    return status;
}

int64_t steps_count(const steps *s) { return s->nsteps; }
