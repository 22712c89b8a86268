/* fuzz_read.c -- any bytes to the reader of the text form.  What it accepts must print, and what is
 * printed must be read back to the same text. */
#include "notation/notation.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_round_trip(const arras_graph *g)
{
    arras_graph *back = NULL;
    ar_text      text = { 0 }, again = { 0 };

    must(ar_print(&text, g, false, NULL) == ARRAS_OK);
    must(ar_read(&back, text.data, text.length, NULL) == ARRAS_OK);
    must(ar_print(&again, back, false, NULL) == ARRAS_OK);
    must(strcmp(text.data, again.data) == 0);
    for (int i = 0; i < ar_graph_output_count(g); i++)
        must(ar_equal(ar_graph_output(g, i)->array, ar_graph_output(back, i)->array));
    ar_text_free(&text);
    ar_text_free(&again);
    ar_graph_free(back);
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
