/* dgfem_lines.h -- a line of a program's text form (docs/text.md) as a program of its own. */
#ifndef DGFEM_LINES_H
#define DGFEM_LINES_H

#include "../../examples/dgfem/dgfem.h"

enum { LINE_MOST_READ = 6, LINE_NAME = 16 };

typedef struct {
    const char *start;
    size_t      length;
} line_span;

/* What an operation reads or makes. */
typedef struct {
    line_span      written;         /* in the program's text: u, %12 */
    line_span      number;          /* the line that defines it, unless it is an array */
    char           name[LINE_NAME]; /* as an input or output of an operation's own program */
    int64_t        shape[ARRAS_MAX_RANK];
    arras_buffer   buffer;
    arras_results *data; /* the owner of data */
} line_value;

line_span line_at(const char *at); /* a statement, which goes on while a bracket is open */
/* A name, a node, a number or a string; of anything else one character. */
line_span line_word_at(const char *at);
line_span line_after(line_span text, size_t length);
bool      line_starts_with(line_span text, const char *word);

line_value *line_find(int64_t n, line_value *values, line_span word); /* or NULL */
/* Those of all values that a line reads, each once. */
arras_status line_find_read(int *n, line_value *read[LINE_MOST_READ], int64_t count,
                            line_value *values, line_span line, arras_error *err);
/* The arrays among them are inputs, the numbers are defined again; the result is the output. */
arras_status line_read_alone(arras_graph **out, int n, line_value *const *read, line_span line,
                             const line_value *result, arras_error *err);

#endif
