/* lang_numbers.c -- numbers that must be known before the program runs: ranges, shapes, axes.
 * They are lowered to a graph of their own and evaluated there, so that they mean what they mean
 * everywhere else; arrays of the program are there only as types and shapes. */
#include "lang/lang_functions.h"
#include "lang/lang_lower.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is made of numbers alone ----------------------------------------------------------- */

static bool is_number_call(lang_lowering *L, lang_scope scope, const lang_node *node)
{
    const lang_function *f = node->symbol->function ? NULL : lang_find_function(node->symbol->text);

    if (!f || (f->kind != LANG_F_OP && f->kind != LANG_F_CAST && f->kind != LANG_F_MEASURE))
        return false;
    if (f->kind == LANG_F_MEASURE)
        return true;
    for (int i = 0; i < node->nparts; i++)
        if (node->parts[i]->kind == LANG_NAMED || !lang_is_number(L, scope, node->parts[i]))
            return false;
    return true;
}

static bool is_late_number(lang_lowering *L, const lang_binding *b)
{
    lang_binding *own = (lang_binding *)(uintptr_t)b; /* the answer is kept for the next time */

    if (own->number == LANG_PERHAPS)
        own->number = lang_is_number(L, b->around, b->node) ? LANG_YES : LANG_NO;
    return own->number == LANG_YES;
}

static bool is_number_name(lang_lowering *L, lang_scope scope, const lang_node *node)
{
    const lang_binding *b;
    const lang_value   *value;

    if (!node->local) {
        value = lang_lookup(L, scope, node);
        return value && value->number;
    }
    b = lang_local(scope, node->symbol);
    return b && b->kind == LANG_BIND_LATE && is_late_number(L, b);
}

bool lang_is_number(lang_lowering *L, lang_scope scope, const lang_node *node)
{
    switch (node->kind) {
    case LANG_INT:
    case LANG_REAL:
    case LANG_IMAGINARY:
    case LANG_BOOL: return true;
    case LANG_NAME: return is_number_name(L, scope, node);
    case LANG_CALL: return is_number_call(L, scope, node);
    case LANG_OP:
        for (int i = 0; i < node->nparts; i++)
            if (!lang_is_number(L, scope, node->parts[i]))
                return false;
        return true;
    default: return false;
    }
}

/* ---- Twins ----------------------------------------------------------------------------------- */

static arras_array twin(lang_lowering *L, const lang_node *node, arras_array x)
{
    arras_dim shape[ARRAS_MAX_RANK];
    char      name[64];

    for (int axis = 0; axis < arras_array_rank(x); axis++)
        shape[axis] = arras_array_dim(x, axis);
    snprintf(name, sizeof name, "twin.%" PRId64, arras_graph_nodes(L->graph));
    L->has_twins = true;
    return lang_checked(
        L, node,
        arras_placeholder(L->graph, name, arras_array_dtype(x), arras_array_rank(x), shape));
}

arras_array lang_twin_of_binding(lang_lowering *L, const lang_node *node, const lang_binding *b)
{
    arras_array x = lang_map_find(&L->twins, b);

    if (x)
        return x;
    if (b->kind == LANG_BIND_LATE)
        x = lang_lower_array(L, b->around, b->node);
    else
        x = arras_array_graph(b->array) == L->graph ? b->array : twin(L, node, b->array);
    if (x && !lang_map_set(&L->twins, b, x)) {
        lang_fail_memory(L->err);
        return NULL;
    }
    return x;
}

const lang_value *lang_twin_of_name(lang_lowering *L, lang_scope scope, const lang_node *node)
{
    const lang_value *outer = lang_lookup(L->outer, scope, node);
    arras_array       x;

    if (!outer)
        return NULL;
    if (outer->number && node->symbol->array)
        return lang_define(L, node->symbol->array);
    if (outer->number)
        return lang_define_constant(L, node);
    x = twin(L, node, outer->array);
    return x ? lang_keep_value(L, node->symbol, (lang_value){ .array = x }) : NULL;
}

/* ---- Evaluation ------------------------------------------------------------------------------ */

static bool copy_result(lang_data *out, const arras_buffer *b, lang_error *err)
{
    size_t size = arras_dtype_size(b->dtype);

    *out = (lang_data){ .dtype = b->dtype, .rank = b->rank, .count = 1 };
    for (int axis = 0; axis < b->rank; axis++) {
        out->shape[axis] = b->shape[axis];
        out->count *= b->shape[axis];
    }
    out->data = malloc((size_t)out->count * size + 1);
    if (!out->data)
        return lang_fail_memory(err);
    memcpy(out->data, b->data, (size_t)out->count * size);
    return true;
}

/* A range or a shape is computed while the program is lowered, by the reference evaluator: nobody
 * waits for that longer than a moment. */
static bool check_cost(const lang_lowering *S, const lang_node *node, const char *what)
{
    const int64_t most_operations = 20 * 1000 * 1000, most_bytes = (int64_t)1 << 30;
    arras_summary cost;

    if (arras_summarize(&cost, S->graph, NULL) != ARRAS_OK ||
        (cost.flops <= most_operations && cost.bytes_out <= most_bytes &&
         cost.bytes_between <= most_bytes))
        return true;
    return lang_fail(S->err, node->place,
                     "%s takes too much work to find out: %" PRId64 " operations, %" PRId64
                     " bytes",
                     what, cost.flops, cost.bytes_out + cost.bytes_between);
}

static bool run(lang_data *out, lang_lowering *S, const lang_node *node, const char *what)
{
    arras_results *results = NULL;
    arras_error    err;
    bool           done;

    if (!check_cost(S, node, what))
        return false;
    if (arras_evaluate(&results, S->graph, 0, NULL, &err) != ARRAS_OK) {
        if (S->has_twins)
            return lang_fail(S->err, node->place,
                             "%s must be known before the program runs, but this depends on the "
                             "cells of an array",
                             what);
        return lang_fail(S->err, node->place, "%s", err.text);
    }
    done = copy_result(out, &arras_results_at(results, 0)->buffer, S->err);
    arras_results_free(results);
    return done;
}

bool lang_evaluate(lang_data *out, lang_lowering *L, lang_scope scope, const lang_node *node,
                   const char *what)
{
    lang_lowering S = { .program = L->program,
                        .world = L->world,
                        .outer = L,
                        .inputs = L->inputs,
                        .settings = L->settings,
                        .calls = L->calls,
                        .steps = L->steps,
                        .err = L->err };
    arras_array   x;
    bool          done;

    if (arras_graph_new(&S.graph, NULL) != ARRAS_OK)
        return lang_fail_memory(L->err);
    x = lang_lower_array(&S, scope, node);
    done =
        x && lang_checked(&S, node, arras_output(S.graph, "number", x)) && run(out, &S, node, what);
    L->steps = S.steps;
    lang_lowering_free(&S);
    arras_graph_free(S.graph);
    return done;
}

/* ---- Numbers and lists of them --------------------------------------------------------------- */

static bool is_integer(arras_dtype dtype) { return dtype >= ARRAS_I8 && dtype <= ARRAS_U64; }

static int64_t int_at(const lang_data *d, int64_t i)
{
    switch (d->dtype) {
    case ARRAS_I8: return ((const int8_t *)d->data)[i];
    case ARRAS_I16: return ((const int16_t *)d->data)[i];
    case ARRAS_I32: return ((const int32_t *)d->data)[i];
    case ARRAS_U8: return ((const uint8_t *)d->data)[i];
    case ARRAS_U16: return ((const uint16_t *)d->data)[i];
    case ARRAS_U32: return ((const uint32_t *)d->data)[i];
    default: return ((const int64_t *)d->data)[i];
    }
}

static bool real_at(double *out, const lang_data *d, int64_t i)
{
    if (is_integer(d->dtype))
        *out = (double)int_at(d, i);
    else if (d->dtype == ARRAS_F32)
        *out = (double)((const float *)d->data)[i];
    else if (d->dtype == ARRAS_F64)
        *out = ((const double *)d->data)[i];
    else
        return false;
    return true;
}

static bool fail_type(lang_lowering *L, const lang_node *node, const char *what, const char *needed,
                      const lang_data *d)
{
    return lang_fail(L->err, node->place, "%s must be %s, not %s of rank %d", what, needed,
                     arras_dtype_name(d->dtype), d->rank);
}

bool lang_int_value(int64_t *out, lang_lowering *L, lang_scope scope, const lang_node *node,
                    const char *what)
{
    lang_data d = { 0 };
    bool      done;

    if (node->kind == LANG_INT) {
        *out = node->integer;
        return true;
    }
    if (!lang_evaluate(&d, L, scope, node, what))
        return false;
    done = d.rank == 0 && is_integer(d.dtype);
    if (done)
        *out = int_at(&d, 0);
    else
        fail_type(L, node, what, "an integer", &d);
    free(d.data);
    return done;
}

bool lang_real_value(double *out, lang_lowering *L, lang_scope scope, const lang_node *node,
                     const char *what)
{
    lang_data d = { 0 };
    bool      done;

    if (!lang_evaluate(&d, L, scope, node, what))
        return false;
    done = d.rank == 0 && real_at(out, &d, 0);
    if (!done)
        fail_type(L, node, what, "a real number", &d);
    free(d.data);
    return done;
}

static bool fits_list(const lang_data *d) { return d->rank <= 2 && d->count <= INT32_MAX; }

bool lang_int_values(int64_t **out, int *count, lang_lowering *L, lang_scope scope,
                     const lang_node *node, const char *what)
{
    lang_data d = { 0 };
    bool      done;

    if (!lang_evaluate(&d, L, scope, node, what))
        return false;
    *count = (int)d.count;
    done = fits_list(&d) && (is_integer(d.dtype) || d.count == 0);
    if (!done)
        fail_type(L, node, what, "an integer or a list of integers", &d);
    else
        done = (*out = lang_alloc(L, (size_t)d.count, sizeof **out)) != NULL;
    for (int64_t i = 0; done && i < d.count; i++)
        (*out)[i] = int_at(&d, i);
    free(d.data);
    return done;
}

bool lang_real_values(double **out, int *count, lang_lowering *L, lang_scope scope,
                      const lang_node *node, const char *what)
{
    lang_data d = { 0 };
    bool      done;

    if (!lang_evaluate(&d, L, scope, node, what))
        return false;
    *count = (int)d.count;
    done = fits_list(&d) && (*out = lang_alloc(L, (size_t)d.count, sizeof **out));
    for (int64_t i = 0; done && i < d.count; i++)
        done = real_at(&(*out)[i], &d, i);
    if (!done)
        fail_type(L, node, what, "a real number or a list of real numbers", &d);
    free(d.data);
    return done;
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static bool length_of_axis(int64_t *out, lang_lowering *L, lang_scope scope, const lang_node *node,
                           arras_array x)
{
    int     rank = arras_array_rank(x);
    int64_t axis;

    if (!lang_int_value(&axis, L, scope, node, "the axis"))
        return false;
    if (axis < -rank || axis >= rank)
        return lang_fail(L->err, node->place, "axis %" PRId64 " of an array with %d ax%s", axis,
                         rank, rank == 1 ? "is" : "es");
    *out = arras_array_dim(x, (int)axis);
    return true;
}

static bool count_of_cells(int64_t *out, lang_lowering *L, const lang_node *node, arras_array x)
{
    *out = 1;
    for (int axis = 0; axis < arras_array_rank(x); axis++)
        if (__builtin_mul_overflow(*out, arras_array_dim(x, axis), out))
            return lang_fail(L->err, node->place, "the number of cells does not fit an i64");
    return true;
}

bool lang_measure(int64_t *out, lang_lowering *L, lang_scope scope, const lang_node *node)
{
    const lang_function *f = lang_find_function(node->symbol->text);
    const lang_node     *arguments[LANG_MAX_PARAMETERS];
    arras_array          x;

    if (!lang_sort_arguments(arguments, L, node, f) ||
        !(x = lang_lower_array(L, scope, arguments[0])))
        return false;
    *out = arras_array_rank(x);
    if (f->nparameters == 1)
        return true;
    return arguments[1] && arguments[1]->kind != LANG_WORD
               ? length_of_axis(out, L, scope, arguments[1], x)
               : count_of_cells(out, L, node, x);
}

/* ---- Constants ------------------------------------------------------------------------------- */

static bool no_names(const lang_statement *s, lang_error *err)
{
    for (int i = 0; i < s->nuses; i++)
        if (s->uses[i]->kind == LANG_NAME && !lang_is_constant_name(s->uses[i]))
            return lang_fail(err, s->uses[i]->place,
                             "a constant has no names in it, but here is `%s`",
                             s->uses[i]->symbol->text);
    return true;
}

static bool evaluate_alone(lang_data *out, const lang_program *p, const lang_node *node,
                           lang_error *err)
{
    lang_world    nothing = { 0 };
    lang_map      none = { 0 };
    lang_lowering L = {
        .program = p, .world = &nothing, .inputs = &none, .settings = &none, .err = err
    };
    bool done;

    if (arras_graph_new(&L.graph, NULL) != ARRAS_OK)
        return lang_fail_memory(err);
    done = lang_evaluate(out, &L, NULL, node, "a constant");
    lang_lowering_free(&L);
    arras_graph_free(L.graph);
    return done;
}

bool lang_constant(void **data, arras_dtype *dtype, int *rank, int64_t *shape, const char *file,
                   const char *text, size_t length, lang_error *err)
{
    lang_program          p = { 0 };
    lang_unit            *unit = lang_unit_read(&p.symbols, file, text, length, true, err);
    const lang_statement *s = unit ? unit->statements.items[0] : NULL;
    lang_data             d = { 0 };
    bool                  done;

    done = s && no_names(s, err) && evaluate_alone(&d, &p, s->parts[0], err);
    if (done) {
        *data = d.data;
        *dtype = d.dtype;
        *rank = d.rank;
        memcpy(shape, d.shape, sizeof d.shape);
    }
    lang_unit_free(unit);
    lang_symbols_free(&p.symbols);
    return done;
}
