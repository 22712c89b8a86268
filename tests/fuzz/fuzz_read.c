/* fuzz_read.c -- any bytes to the reader of the text form.  What it accepts must print, and what is
 * printed must be read back to the same text. */
#include "ir/ir.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* Data with equal cells may be two nodes until it is read back, so the second text is the one to
 * compare. */
static void check_round_trip(const arras_graph *g)
{
    arras_graph *again = NULL, *last = NULL;
    ar_text      first = { 0 }, second = { 0 }, third = { 0 };

    must(ar_print(&first, g, false, NULL) == ARRAS_OK);
    must(ar_read(&again, first.data, first.length, NULL) == ARRAS_OK);
    must(ar_print(&second, again, false, NULL) == ARRAS_OK);
    must(ar_read(&last, second.data, second.length, NULL) == ARRAS_OK);
    must(ar_print(&third, last, false, NULL) == ARRAS_OK);
    must(strcmp(second.data, third.data) == 0);
    for (int i = 0; i < ar_graph_output_count(g); i++)
        must(ar_equal(ar_graph_output(again, i)->array, ar_graph_output(last, i)->array));
    ar_text_free(&first);
    ar_text_free(&second);
    ar_text_free(&third);
    ar_graph_free(again);
    ar_graph_free(last);
}

static void check_pictures(const arras_graph *g)
{
    ar_text       brief = { 0 }, dot = { 0 }, summary = { 0 };
    arras_summary numbers;

    must(ar_print(&brief, g, true, NULL) == ARRAS_OK);
    must(ar_dot(&dot, g, NULL) == ARRAS_OK);
    must(ar_summary_print(&summary, g, NULL) == ARRAS_OK);
    must(ar_summarize(&numbers, g, NULL) == ARRAS_OK);
    must(numbers.nodes > 0 && numbers.flops >= 0 && numbers.bytes_between >= 0);
    ar_text_free(&brief);
    ar_text_free(&dot);
    ar_text_free(&summary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arras_graph *g = NULL;
    arras_error  err;

    if (ar_read(&g, (const char *)data, size, &err) == ARRAS_OK) {
        check_round_trip(g);
        check_pictures(g);
    } else {
        must(strncmp(err.text, "line ", 5) == 0);
    }
    ar_graph_free(g);
    return 0;
}
