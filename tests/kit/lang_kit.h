/* lang_kit.h -- for tests of the language: a program and its inputs as texts, what it gives as a
 * text.
 *
 *     GIVES("y = x + 1", "y: i64[2] 2 3", "x=[1, 2]");
 *     FAILS("y = xx", "unknown name `xx`; did you mean `x`?", "x=[1, 2]");
 *
 * lower the program for inputs that are constants of the language, run it in the reference
 * evaluator, and compare all results, or a part of the message.  "-n=4" sets a param. */
#ifndef TEST_LANG_KIT_H
#define TEST_LANG_KIT_H

#include "base/base.h"
#include "lang/lang.h"
#include "test.h"

#include <stdlib.h>

/* Program, what is wanted, inputs. */
#define GIVES(...) gives((const char *const[]){ __VA_ARGS__, NULL }, __FILE__, __LINE__)
#define FAILS(...) fails((const char *const[]){ __VA_ARGS__, NULL }, __FILE__, __LINE__)
#define INPUTS(...) ((const char *const[]){ __VA_ARGS__, NULL })

enum { MOST_INPUTS = 8, MOST_SHOWN = 1 << 16 };

typedef struct world {
    int           ninputs, nsettings;
    lang_input    inputs[MOST_INPUTS];
    arras_binding bindings[MOST_INPUTS];
    int64_t       shapes[MOST_INPUTS][ARRAS_MAX_RANK];
    lang_setting  settings[MOST_INPUTS];
    char          names[MOST_INPUTS][64];
} world;

static char   shown[MOST_SHOWN];
static size_t nshown;

__attribute__((format(printf, 1, 2))) static inline void show(const char *format, ...)
{
    va_list args;
    int     n;

    va_start(args, format);
    n = ar_vsnprintf(shown + nshown, sizeof shown - nshown, format, args);
    va_end(args);
    nshown += n > 0 ? (size_t)n : 0;
    if (nshown >= sizeof shown)
        nshown = sizeof shown - 1;
}

static inline void show_cell(arras_dtype dtype, const void *at)
{
    switch (dtype) {
    case ARRAS_BOOL: show(" %s", *(const uint8_t *)at ? "true" : "false"); break;
    case ARRAS_I8: show(" %d", *(const int8_t *)at); break;
    case ARRAS_I16: show(" %d", *(const int16_t *)at); break;
    case ARRAS_I32: show(" %d", *(const int32_t *)at); break;
    case ARRAS_I64: show(" %" PRId64, *(const int64_t *)at); break;
    case ARRAS_U8: show(" %u", *(const uint8_t *)at); break;
    case ARRAS_U16: show(" %u", *(const uint16_t *)at); break;
    case ARRAS_U32: show(" %u", *(const uint32_t *)at); break;
    case ARRAS_U64: show(" %" PRIu64, *(const uint64_t *)at); break;
    case ARRAS_F32: show(" %g", (double)*(const float *)at); break;
    case ARRAS_F64: show(" %g", *(const double *)at); break;
    case ARRAS_C64:
        show(" %g%+gj", (double)((const float *)at)[0], (double)((const float *)at)[1]);
        break;
    case ARRAS_C128: show(" %g%+gj", ((const double *)at)[0], ((const double *)at)[1]); break;
    default: show(" ?");
    }
}

/* "f64[2] 1 2" */
static inline void show_array(const arras_buffer *b)
{
    int64_t count = 1;

    show("%s[", arras_dtype_name(b->dtype));
    for (int axis = 0; axis < b->rank; axis++) {
        show("%s%" PRId64, axis > 0 ? ", " : "", b->shape[axis]);
        count *= b->shape[axis];
    }
    show("]");
    for (int64_t i = 0; i < count; i++)
        show_cell(b->dtype, (const char *)b->data + (size_t)i * arras_dtype_size(b->dtype));
}

/* "name=constant", or "-name=constant" for a param. */
static inline bool add_to_world(world *w, const char *text, lang_error *err)
{
    const char *equals = strchr(text, '=');
    bool        param = text[0] == '-';
    int         i = w->ninputs;
    char       *name = w->names[w->ninputs + w->nsettings];
    arras_buffer *b = &w->bindings[i].buffer;

    snprintf(name, sizeof w->names[0], "%.*s", (int)(equals - text) - param, text + param);
    if (param) {
        w->settings[w->nsettings++] = (lang_setting){ name, equals + 1 };
        return true;
    }
    if (!lang_constant(&b->data, &b->dtype, &b->rank, w->shapes[i], name, equals + 1,
                       strlen(equals + 1), err))
        return false;
    b->shape = w->shapes[i];
    w->bindings[i].name = name;
    w->inputs[i] = (lang_input){ name, b->dtype, b->rank, b->shape };
    w->ninputs++;
    return true;
}

static inline void run_graph(const arras_graph *g, const world *w)
{
    arras_binding  used[MOST_INPUTS];
    arras_results *results = NULL;
    arras_error    err;
    int            n = 0;

    for (int i = 0; i < w->ninputs; i++)
        if (arras_find_input(g, w->inputs[i].name))
            used[n++] = w->bindings[i];
    if (arras_evaluate(&results, g, n, used, &err) != ARRAS_OK) {
        show("run: %s", err.text);
        return;
    }
    for (int i = 0; i < arras_results_count(results); i++) {
        show("%s%s: ", i > 0 ? "; " : "", arras_results_at(results, i)->name);
        show_array(&arras_results_at(results, i)->buffer);
    }
    arras_results_free(results);
}

static inline void lower_and_run(const lang_program *p, const world *w)
{
    lang_world   given = { .ninputs = w->ninputs,
                           .inputs = w->inputs,
                           .nsettings = w->nsettings,
                           .settings = w->settings };
    arras_graph *g = NULL;
    lang_error   err;

    if (lang_lower(&g, p, &given, &err))
        run_graph(g, w);
    else
        show("%s", err.text);
    arras_graph_free(g);
}

/* The results as "x: f64[1] 2; y: ..." or the message.  Valid until the next call. */
static inline const char *outcome_of(const char *program, size_t length, const char *const *inputs)
{
    lang_program *p = lang_program_new();
    world         w = { 0 };
    lang_error    err;
    bool          made = true;

    nshown = 0;
    shown[0] = '\0';
    for (int i = 0; made && inputs[i]; i++)
        made = add_to_world(&w, inputs[i], &err);
    if (made && lang_program_add(p, "program", program, length, &err))
        lower_and_run(p, &w);
    else
        show("%s", err.text);
    for (int i = 0; i < w.ninputs; i++)
        free(w.bindings[i].buffer.data);
    lang_program_free(p);
    return shown;
}

static inline const char *outcome(const char *program, const char *const *inputs)
{
    return outcome_of(program, strlen(program), inputs);
}

static inline void gives(const char *const *parts, const char *file, int line)
{
    CASE("%.60s", parts[0]);
    test_string(outcome(parts[0], parts + 2), parts[1], file, line, "what it gives");
}

static inline void fails(const char *const *parts, const char *file, int line)
{
    CASE("%.60s", parts[0]);
    test_has(outcome(parts[0], parts + 2), parts[1], file, line, "how it fails");
}

#endif
