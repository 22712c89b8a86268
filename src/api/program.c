/* program.c -- whole programs: graphs, outputs, texts. */
#include "notation/notation.h"

#include <string.h>

/* ---- Names of things ------------------------------------------------------------------------- */

static const struct {
    const char *name, *text;
} statuses[] = {
#define STATUS(code, text) { "ARRAS_" #code, text },
    ARRAS_STATUS_LIST(STATUS)
#undef STATUS
};

static bool status_known(arras_status status)
{
    return (int)status >= 0 && (size_t)status < AR_COUNT(statuses);
}

const char *arras_status_name(arras_status s)
{
    return status_known(s) ? statuses[s].name : "ARRAS_?";
}
const char *arras_status_text(arras_status s)
{
    return status_known(s) ? statuses[s].text : "no such status";
}
const char *arras_version(void) { return ARRAS_VERSION; }

const char *arras_dtype_name(arras_dtype dtype) { return ar_dtype_name(dtype); }
size_t      arras_dtype_size(arras_dtype dtype) { return ar_dtype_size(dtype); }
arras_dtype arras_dtype_find(const char *name)
{
    return name ? ar_dtype_find(name, strlen(name)) : ARRAS_NO_DTYPE;
}

arras_dtype arras_dtype_promote(arras_dtype a, arras_dtype b)
{
    if (!ar_dtype_valid(a) || !ar_dtype_valid(b))
        return ARRAS_NO_DTYPE;
    return ar_promote((ar_type){ a, false }, (ar_type){ b, false }).dtype;
}

/* ---- Graphs and arrays ----------------------------------------------------------------------- */

arras_status arras_graph_new(arras_graph **out, arras_error *err)
{
    return out ? ar_graph_new(out, err)
               : ar_fail(err, ARRAS_EINVAL, "graph: nowhere to put it: out is NULL");
}

void    arras_graph_free(arras_graph *g) { ar_graph_free(g); }
int64_t arras_graph_nodes(const arras_graph *g) { return g ? ar_graph_count(g) : 0; }

arras_graph *arras_array_graph(arras_array x) { return x ? x->graph : NULL; }
arras_dtype  arras_array_dtype(arras_array x) { return x ? x->type.dtype : ARRAS_NO_DTYPE; }
int          arras_array_rank(arras_array x) { return x ? x->rank : -1; }

arras_dim arras_array_dim(arras_array x, int axis)
{
    int checked;

    if (!x || x->rank < 0 || ar_axis_check(&checked, "dim", axis, x->rank, NULL) != ARRAS_OK)
        return -1;
    return x->shape[checked];
}

const char *arras_array_error(arras_array x)
{
    if (!x)
        return ar_poison_no_graph()->name;
    return ar_is_poison(x) ? x->name : NULL;
}

bool arras_array_equal(arras_array x, arras_array y) { return x && y ? ar_equal(x, y) : x == y; }

/* ---- Outputs and inputs ---------------------------------------------------------------------- */

arras_array arras_output(arras_graph *g, const char *name, arras_array x)
{
    return g ? ar_graph_output_add(g, name, x) : ar_poison_no_graph();
}

int arras_output_count(const arras_graph *g) { return g ? ar_graph_output_count(g) : 0; }

static const ar_output *output_at(const arras_graph *g, int i)
{
    return g && i >= 0 && i < ar_graph_output_count(g) ? ar_graph_output(g, i) : NULL;
}

const char *arras_output_name(const arras_graph *g, int i)
{
    const ar_output *output = output_at(g, i);

    return output ? output->name : NULL;
}

arras_array arras_output_array(const arras_graph *g, int i)
{
    const ar_output *output = output_at(g, i);

    return output ? output->array : NULL;
}

arras_array arras_find_input(const arras_graph *g, const char *name)
{
    return g && name ? ar_graph_input_find(g, name) : NULL;
}

int64_t arras_memory_available(void) { return ar_memory_available(); }

arras_status arras_with_room(arras_status (*work)(void *context, arras_error *err), void *context,
                             arras_error *err)
{
    if (!work)
        return ar_fail(err, ARRAS_EINVAL, "with room: there is no function to call");
    return ar_with_room(work, context, err);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static arras_status no_graph(arras_error *err)
{
    return ar_fail(err, ARRAS_EINVAL, "the graph is NULL");
}

arras_status arras_check(const arras_graph *g, arras_error *err)
{
    return g ? ar_graph_check(g, err) : no_graph(err);
}

typedef struct {
    arras_summary     *out;
    const arras_graph *g;
} summing;

static arras_status sum_up(void *context, arras_error *err)
{
    const summing *s = context;

    return ar_summarize(s->out, s->g, err);
}

arras_status arras_summarize(arras_summary *out, const arras_graph *g, arras_error *err)
{
    summing s = { out, g };

    if (!out)
        return ar_fail(err, ARRAS_EINVAL, "summary: nowhere to put it: out is NULL");
    return g ? ar_with_room(sum_up, &s, err) : no_graph(err);
}

typedef struct {
    ar_text           *text;
    const arras_graph *g;
    arras_text_form    form;
} printing;

static arras_status print_form(void *context, arras_error *err)
{
    const printing *p = context;

    switch (p->form) {
    case ARRAS_TEXT_FULL: return ar_print(p->text, p->g, false, err);
    case ARRAS_TEXT_BRIEF: return ar_print(p->text, p->g, true, err);
    case ARRAS_TEXT_DOT: return ar_dot(p->text, p->g, err);
    case ARRAS_TEXT_SUMMARY: return ar_summary_print(p->text, p->g, err);
    case ARRAS_TEXT_END: break;
    }
    return ar_fail(err, ARRAS_EINVAL, "print: there is no form number %d", (int)p->form);
}

arras_status arras_graph_print(char **out, size_t *length, const arras_graph *g,
                               arras_text_form form, arras_error *err)
{
    ar_text      text = { 0 };
    printing     p = { &text, g, form };
    arras_status status;

    if (!out)
        return ar_fail(err, ARRAS_EINVAL, "print: nowhere to put the text: out is NULL");
    if (!g)
        return no_graph(err);
    status = ar_with_room(print_form, &p, err);
    if (status == ARRAS_OK && (text.failed || !text.data))
        status = ar_fail_memory(err, text.capacity);
    if (status != ARRAS_OK) {
        ar_text_free(&text);
        return status;
    }
    *out = text.data;
    if (length)
        *length = text.length;
    return ARRAS_OK;
}

void arras_text_free(char *text) { ar_free(text); }

typedef struct {
    arras_graph **out;
    const char   *text;
    size_t        length;
} reading;

static arras_status read_text(void *context, arras_error *err)
{
    const reading *r = context;

    return ar_read(r->out, r->text, r->length, err);
}

arras_status arras_graph_read(arras_graph **out, const char *text, size_t length, arras_error *err)
{
    reading r = { out, text ? text : "", length };

    if (!out || (!text && length > 0))
        return ar_fail(err, ARRAS_EINVAL, "read: the text or the place for the graph is NULL");
    return ar_with_room(read_text, &r, err);
}
