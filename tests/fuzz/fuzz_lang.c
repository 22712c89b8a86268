/* fuzz_lang.c -- any bytes as a program of the language, lowered for inputs of a few shapes.  What
 * is accepted must pass the library's own check, and what is refused must say why. */
#include "lang/lang.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* The names that programs of the corpus use; in each world they have other types and shapes. */
enum { NAMES = 8, WORLDS = 4 };
static const char *const names[NAMES] = { "x", "y", "a", "b", "h", "idx", "starts", "p.x" };

static const struct {
    arras_dtype dtype;
    int         rank;
    int64_t     shape[3];
} kinds[WORLDS][NAMES] = {
    { { ARRAS_F64, 1, { 5 } },
      { ARRAS_F64, 1, { 5 } },
      { ARRAS_F64, 2, { 4, 5 } },
      { ARRAS_F64, 2, { 5, 4 } },
      { ARRAS_F32, 2, { 6, 7 } },
      { ARRAS_I64, 1, { 5 } },
      { ARRAS_I64, 1, { 6 } },
      { ARRAS_F64, 1, { 5 } } },
    { { ARRAS_I32, 2, { 3, 3 } },
      { ARRAS_U8, 2, { 3, 3 } },
      { ARRAS_C64, 2, { 3, 3 } },
      { ARRAS_BOOL, 2, { 3, 3 } },
      { ARRAS_I64, 3, { 2, 3, 4 } },
      { ARRAS_I32, 2, { 3, 3 } },
      { ARRAS_U64, 1, { 4 } },
      { ARRAS_I8, 0, { 0 } } },
    { { ARRAS_F64, 0, { 0 } },
      { ARRAS_I64, 0, { 0 } },
      { ARRAS_C128, 0, { 0 } },
      { ARRAS_BOOL, 0, { 0 } },
      { ARRAS_F32, 1, { 1 } },
      { ARRAS_U16, 0, { 0 } },
      { ARRAS_I16, 1, { 1 } },
      { ARRAS_U32, 1, { 1 } } },
    { { ARRAS_F64, 1, { 0 } },
      { ARRAS_F32, 2, { 0, 3 } },
      { ARRAS_F64, 2, { 3, 0 } },
      { ARRAS_I64, 3, { 1, 0, 1 } },
      { ARRAS_F64, 2, { 0, 0 } },
      { ARRAS_I64, 1, { 0 } },
      { ARRAS_I64, 1, { 1 } },
      { ARRAS_U8, 1, { 0 } } },
};

static void lower_in(const lang_program *p, int world)
{
    lang_input   inputs[NAMES];
    lang_world   w = { .ninputs = NAMES, .inputs = inputs };
    arras_graph *g = NULL;
    lang_error   err = { "" };

    for (int i = 0; i < NAMES; i++)
        inputs[i] = (lang_input){ names[i], kinds[world][i].dtype, kinds[world][i].rank,
                                  kinds[world][i].shape };
    if (lang_lower(&g, p, &w, &err)) {
        must(arras_output_count(g) > 0);
        must(arras_check(g, NULL) == ARRAS_OK);
        arras_graph_free(g);
    } else {
        must(err.text[0] != '\0');
    }
}

static void check_names(const lang_program *p)
{
    for (int i = 0; lang_program_input(p, i); i++)
        must(strlen(lang_program_input(p, i)) > 0);
    for (int i = 0; lang_program_output(p, i); i++)
        must(strlen(lang_program_output(p, i)) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char   *text = (const char *)data;
    lang_program *p = lang_program_new();
    lang_error    err = { "" };

    must(p != NULL);
    lang_is_unfinished(text, size);
    if (lang_program_add(p, "program", text, size, &err)) {
        check_names(p);
        for (int world = 0; world < WORLDS; world++)
            lower_in(p, world);
        must(lang_program_add(p, "program", "let again = 1", 13, &err));
        lang_program_forget_results(p);
        must(lang_program_output(p, 0) == NULL);
    } else {
        must(strncmp(err.text, "program", 7) == 0);
    }
    lang_program_free(p);
    return 0;
}
