/* read.c -- a graph from its text: statements, one a line, each made before the next is read. */
#include "notation/reader.h"

#include <string.h>

static bool expect_line_end(ar_reader *r)
{
    if (r->token.kind == AR_TOKEN_END)
        return true;
    if (r->token.kind != AR_TOKEN_LINE)
        return ar_fail_expected(r, "the end of the line");
    ar_advance(r);
    return true;
}

static void skip_empty_lines(ar_reader *r)
{
    while (r->token.kind == AR_TOKEN_LINE)
        ar_advance(r);
}

/* ---- Statements ------------------------------------------------------------------------------ */

static bool read_header(ar_reader *r)
{
    ar_token at;
    int64_t  version;

    skip_empty_lines(r);
    if (!ar_accept(r, "arras"))
        return ar_fail_expected(r, "'arras 1'");
    at = r->token;
    if (!ar_read_integer(r, &version))
        return false;
    if (version != AR_TEXT_VERSION)
        return ar_fail_at(r, &at, ARRAS_ETEXT,
                          "version %" PRId64 " of the text form is not known; this is %d", version,
                          AR_TEXT_VERSION);
    return expect_line_end(r);
}

static bool read_size_line(ar_reader *r)
{
    ar_token    at = r->token;
    const char *name;

    if (!ar_read_name(r, &name, "the name of a size"))
        return false;
    if (ar_size_find(r->g, name) >= 0)
        return ar_fail_at(r, &at, ARRAS_ENAME, "size '%s' is declared twice", name);
    return ar_check_dim(r, &at, ar_dim_size(r->g, name));
}

typedef arras_array declare(arras_graph *g, const char *name, arras_dtype dtype, int rank,
                            const arras_dim *shape);

/* x : f64[n, 4] */
static bool read_declared(ar_reader *r, declare *builder, arras_array *out)
{
    ar_token    at = r->token;
    const char *name;
    ar_type     type;
    int         rank;
    arras_dim   shape[ARRAS_MAX_RANK];

    if (!ar_read_name(r, &name, "a name") || !ar_expect(r, ":") ||
        !ar_read_type(r, &type, &rank, shape))
        return false;
    if (type.weak)
        return ar_fail_at(r, &at, ARRAS_EDTYPE, "'%s' needs a type like f64, not '%s'", name,
                          ar_type_word(type));
    *out = builder(r->g, name, type.dtype, rank, shape);
    return !ar_is_poison(*out) || ar_fail_poison(r, &at, *out);
}

static bool read_node_line(ar_reader *r)
{
    ar_token    at = r->token;
    arras_array x;

    ar_advance(r);
    return ar_expect(r, "=") && ar_read_node(r, &x) && ar_numbers_add(r, &r->nodes, &at, x);
}

/* y = %3 */
static bool read_naming(ar_reader *r, const char **name, arras_array *x)
{
    return ar_read_name(r, name, "a name") && ar_expect(r, "=") && ar_read_operand(r, x);
}

static bool read_output_line(ar_reader *r)
{
    ar_token    at = r->token;
    const char *name;
    arras_array x;

    if (!read_naming(r, &name, &x))
        return false;
    x = ar_graph_output_add(r->g, name, x);
    return !ar_is_poison(x) || ar_fail_poison(r, &at, x);
}

/* ---- Functions ------------------------------------------------------------------------------- */

typedef struct {
    const char **items;
    size_t       count, room;
} names;

static bool read_params(ar_reader *r)
{
    arras_array x;

    if (!ar_expect(r, "("))
        return false;
    for (bool first = true; !ar_token_is(&r->token, ")"); first = false)
        if ((!first && !ar_expect(r, ",")) || !read_declared(r, ar_param, &x) ||
            !ar_arrays_add(r, &r->params, x))
            return false;
    return ar_expect(r, ")");
}

static bool read_result_line(ar_reader *r, names *named, ar_arrays *results)
{
    const char *name;
    arras_array x;

    if (!read_naming(r, &name, &x) || !ar_arrays_add(r, results, x))
        return false;
    if (!ar_grow(&named->items, &named->room, named->count, sizeof *named->items))
        return ar_fail_no_memory(r);
    named->items[named->count++] = name;
    return true;
}

static bool read_body(ar_reader *r, names *named, ar_arrays *results)
{
    if (!ar_token_is(&r->token, "{"))
        return ar_fail_expected(r, "'{'");
    r->nesting = 0; /* lines count within a body */
    ar_advance(r);
    for (skip_empty_lines(r); !ar_accept(r, "}"); skip_empty_lines(r)) {
        bool done = r->token.kind == AR_TOKEN_NODE ? read_node_line(r)
                    : ar_accept(r, "result")       ? read_result_line(r, named, results)
                                             : ar_fail_expected(r, "%number = ..., result or '}'");
        if (!done || !expect_line_end(r))
            return false;
    }
    return true;
}

static bool read_function_parts(ar_reader *r, names *named, ar_arrays *results)
{
    ar_token       at = r->token;
    const char    *name;
    arras_function f;

    if (!ar_read_name(r, &name, "the name of a function") || !read_params(r) ||
        !read_body(r, named, results))
        return false;
    f = ar_function_new(r->g, name, (int)r->params.count, r->params.items, (int)results->count,
                        named->items, results->items);
    return !f->error || ar_fail_at(r, &at, ARRAS_EINVAL, "%s", f->error);
}

/* A body sees its parameters and its own nodes, and nothing of the program around it. */
static bool read_function(ar_reader *r)
{
    ar_numbers outside = r->nodes;
    names      named = { 0 };
    ar_arrays  results = { 0 };
    bool       done;

    r->nodes = (ar_numbers){ 0 };
    r->params.count = 0;
    r->in_function = true;
    done = read_function_parts(r, &named, &results);
    r->in_function = false;
    ar_free(named.items);
    ar_free(results.items);
    ar_free(r->nodes.items);
    r->nodes = outside;
    return done;
}

/* ---- Programs -------------------------------------------------------------------------------- */

static bool read_statement(ar_reader *r)
{
    arras_array x;

    if (r->token.kind == AR_TOKEN_NODE)
        return read_node_line(r);
    if (ar_accept(r, "size"))
        return read_size_line(r);
    if (ar_accept(r, "input"))
        return read_declared(r, ar_input, &x);
    if (ar_accept(r, "function"))
        return read_function(r);
    if (ar_accept(r, "output"))
        return read_output_line(r);
    return ar_fail_expected(r, "size, input, function, %number = ... or output");
}

static bool read_program(ar_reader *r)
{
    arras_error err;

    ar_advance(r);
    if (!read_header(r))
        return false;
    for (skip_empty_lines(r); r->token.kind != AR_TOKEN_END; skip_empty_lines(r))
        if (!read_statement(r) || !expect_line_end(r))
            return false;
    if (ar_graph_output_count(r->g) == 0)
        return ar_fail_expected(r, "an output: a line like 'output y = %3'");
    return ar_graph_check(r->g, &err) == ARRAS_OK ||
           ar_fail_at(r, &r->token, err.code, "%s", err.text);
}

static void reader_close(ar_reader *r)
{
    ar_arena_free(&r->arena);
    ar_free(r->nodes.items);
    ar_free(r->params.items);
    ar_free(r->operands.items);
    ar_free(r->locals.items);
    ar_free(r->exprs.items);
    ar_free(r->exprs.edges);
}

arras_status ar_read(arras_graph **out, const char *text, size_t length, arras_error *err)
{
    static const char nothing[1];
    const char       *start = text ? text : nothing;
    ar_reader         r = { .next = start,
                            .line_start = start,
                            .end = start + (text ? length : 0),
                            .line = 1,
                            .err = err };
    arras_status      status = ar_graph_new(&r.g, err);

    if (status != ARRAS_OK)
        return status;
    if (!read_program(&r))
        status = r.status;
    if (ar_graph_memory_failed(r.g)) /* whatever a builder made of that */
        status = ar_fail(err, ARRAS_ENOMEM, "out of memory while a text was read");
    if (status == ARRAS_OK)
        *out = r.g;
    else
        ar_graph_free(r.g);
    reader_close(&r);
    return status;
}
