/* one_lambda.h -- for tests of passes: a program of one lambda from short texts.
 *
 *     read_lambda("input x : f64[n]", "x", "add(_0[i0], 1)", "f64[n]");
 *
 * makes it in the graph `program`; cell_text() is the cell of the last lambda of a graph. */
#ifndef TEST_ONE_LAMBDA_H
#define TEST_ONE_LAMBDA_H

#include "notation/notation.h"
#include "opt/opt.h"
#include "run/run.h"
#include "test.h"

static arras_graph *program;

/* declarations: lines of sizes and inputs, separated by ';'. */
static inline bool read_lambda(const char *declarations, const char *inputs, const char *cell,
                               const char *type)
{
    ar_text     text = { 0 };
    arras_error err = { ARRAS_OK, "" };
    bool        good;

    ar_text_add(&text, "arras 1\n");
    for (const char *c = declarations; *c; c++)
        ar_text_put(&text, *c == ';' ? "\n" : c, 1);
    ar_text_printf(&text, "\n%%0 = lambda(%s) { %s } : %s\noutput y = %%0\n", inputs, cell, type);
    good = CHECK_EQ_INT(ar_read(&program, text.data, text.length, &err), ARRAS_OK);
    if (!good)
        printf("    %s\n%s", err.text, text.data);
    ar_text_free(&text);
    return good;
}

/* Of the last lambda that is printed; without spaces at its ends.  Released with ar_text_free. */
static inline ar_text cell_text(const arras_graph *g)
{
    ar_text text = { 0 }, cell = { 0 };
    char   *from, *to;

    if (ar_print(&text, g, true, NULL) != ARRAS_OK)
        return cell;
    from = strrchr(text.data, '{'), to = strrchr(text.data, '}');
    if (from && to) {
        from += strspn(from + 1, " \n") + 1;
        while (to[-1] == ' ' || to[-1] == '\n')
            to--;
        ar_text_put(&cell, from, (size_t)(to - from));
    }
    ar_text_free(&text);
    return cell;
}

#endif
