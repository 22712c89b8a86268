/* dgfem_lines.c -- a line of a program's text form as a program of its own. */
#include "dgfem_lines.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Words and statements -------------------------------------------------------------------- */

bool line_starts_with(line_span text, const char *word)
{
    return text.length >= strlen(word) && memcmp(text.start, word, strlen(word)) == 0;
}

line_span line_after(line_span text, size_t length)
{
    return (line_span){ text.start + length, text.length - length };
}

line_span line_word_at(const char *at)
{
    size_t length = 1;

    if (*at == '"')
        length = strcspn(at + 1, "\"") + 2;
    else if (*at == '%' || *at == '_' || isalnum((unsigned char)*at))
        while (at[length] == '_' || at[length] == '.' || isalnum((unsigned char)at[length]))
            length++;
    return (line_span){ at, length };
}

line_span line_at(const char *at)
{
    const char *end = at;

    for (int depth = 0; *end && (*end != '\n' || depth > 0); end++)
        if (*end == '(' || *end == '[' || *end == '{')
            depth++;
        else if (*end == ')' || *end == ']' || *end == '}')
            depth--;
    return (line_span){ at, (size_t)(end - at) };
}

/* ---- What is read ---------------------------------------------------------------------------- */

static bool is_written(const line_value *v, line_span word)
{
    return v->written.length == word.length &&
           memcmp(v->written.start, word.start, word.length) == 0;
}

line_value *line_find(int64_t n, line_value *values, line_span word)
{
    for (int64_t i = 0; i < n; i++)
        if (is_written(&values[i], word))
            return &values[i];
    return NULL;
}

static const line_value *find_read(int n, line_value *const *read, line_span word)
{
    for (int i = 0; i < n; i++)
        if (is_written(read[i], word))
            return read[i];
    return NULL;
}

arras_status line_find_read(int *n, line_value *read[LINE_MOST_READ], int64_t count,
                            line_value *values, line_span line, arras_error *err)
{
    *n = 0;
    for (line_span word; line.length > 0; line = line_after(line, word.length)) {
        line_value *v;

        word = line_word_at(line.start);
        v = line_find(count, values, word);
        if (!v || find_read(*n, read, word))
            continue;
        if (*n == LINE_MOST_READ)
            return dg_fail(err, ARRAS_ELIMIT,
                           "an operation reads more than %d values; the limit "
                           "is LINE_MOST_READ",
                           LINE_MOST_READ);
        read[(*n)++] = v;
    }
    return ARRAS_OK;
}

/* ---- Texts of their own ---------------------------------------------------------------------- */

static void write_declaration(FILE *to, const line_value *v)
{
    if (v->number.start) {
        fprintf(to, "%.*s\n", (int)v->number.length, v->number.start);
        return;
    }
    fprintf(to, "input %s : %s[", v->name, arras_dtype_name(v->buffer.dtype));
    for (int d = 0; d < v->buffer.rank; d++)
        fprintf(to, "%s%" PRId64, d ? ", " : "", v->buffer.shape[d]);
    fputs("]\n", to);
}

/* Arrays go by their names. */
static void write_definition(FILE *to, int n, line_value *const *read, line_span line)
{
    for (line_span word; line.length > 0; line = line_after(line, word.length)) {
        const line_value *v;

        word = line_word_at(line.start);
        v = find_read(n, read, word);
        if (v && !v->number.start)
            fputs(v->name, to);
        else
            fwrite(word.start, 1, word.length, to);
    }
}

static void write_alone(FILE *to, int n, line_value *const *read, line_span line,
                        const line_value *result)
{
    fputs("arras 1\n", to);
    for (int i = 0; i < n; i++)
        write_declaration(to, read[i]);
    write_definition(to, n, read, line);
    fprintf(to, "\noutput %s = %.*s\n", result->name, (int)result->written.length,
            result->written.start);
}

arras_status line_read_alone(arras_graph **out, int n, line_value *const *read, line_span line,
                             const line_value *result, arras_error *err)
{
    char        *text = NULL;
    size_t       length;
    FILE        *to = open_memstream(&text, &length);
    arras_status status;

    if (to)
        write_alone(to, n, read, line, result);
    if (!to || fclose(to) != 0)
        status = dg_fail(err, ARRAS_ENOMEM, "no memory for the text of an operation");
    else
        status = arras_graph_read(out, text, length, err);
    free(text);
    return status;
}
