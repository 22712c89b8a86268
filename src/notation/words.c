/* words.c -- the words of the text form that no table of ir/ has. */
#include "notation/parts.h"

#include <string.h>

static const struct {
    const char *word;
    ar_type     type;
} weak_types[] = {
    { "int", { ARRAS_I64, true } },
    { "real", { ARRAS_F64, true } },
    { "complex", { ARRAS_C128, true } },
};

static const char *const edge_words[ARRAS_EDGE_END] = {
    [ARRAS_EDGE_NONE] = "",           [ARRAS_EDGE_CONSTANT] = "constant",
    [ARRAS_EDGE_NEAREST] = "nearest", [ARRAS_EDGE_REFLECT] = "reflect",
    [ARRAS_EDGE_MIRROR] = "mirror",   [ARRAS_EDGE_WRAP] = "wrap",
};

static bool is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && memcmp(word, text, length) == 0;
}

const char *ar_type_word(ar_type type)
{
    for (size_t i = 0; type.weak && i < AR_COUNT(weak_types); i++)
        if (weak_types[i].type.dtype == type.dtype)
            return weak_types[i].word;
    return ar_dtype_name(type.dtype);
}

bool ar_type_find(ar_type *out, const char *word, size_t length)
{
    arras_dtype dtype = ar_dtype_find(word, length);

    for (size_t i = 0; i < AR_COUNT(weak_types); i++)
        if (is_word(weak_types[i].word, word, length)) {
            *out = weak_types[i].type;
            return true;
        }
    if (dtype == ARRAS_NO_DTYPE)
        return false;
    *out = (ar_type){ dtype, false };
    return true;
}

const char *ar_edge_word(arras_edge_rule rule) { return edge_words[rule]; }

int ar_edge_find(const char *word, size_t length)
{
    for (int rule = ARRAS_EDGE_NONE + 1; rule < ARRAS_EDGE_END; rule++)
        if (is_word(edge_words[rule], word, length))
            return rule;
    return -1;
}

bool ar_variable_is_plain(const char *name, size_t length)
{
    size_t digits = 0;

    while (length > 1 && digits < length - 1 && name[digits + 1] >= '0' && name[digits + 1] <= '9')
        digits++;
    if (length > 1 && name[0] == 'i' && digits == length - 1)
        return false;
    return !is_word("inf", name, length) && !is_word("nan", name, length);
}

/* ---- Guesses --------------------------------------------------------------------------------- */

ar_guess ar_guess_start(const char *wrong)
{
    size_t letters = strlen(wrong);

    /* A third of the letters may be wrong, but not all of a short word. */
    return (ar_guess){ wrong, NULL, letters < 3 ? 1 : letters > 9 ? 4 : (int)letters / 3 + 1 };
}

static size_t same_start(const char *a, const char *b)
{
    size_t n = 0;

    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

void ar_guess_try(ar_guess *guess, const char *word)
{
    int distance = ar_text_distance(guess->wrong, word);

    /* Of words that are equally near, the one that starts the same: most slips come late. */
    if (distance < guess->distance ||
        (guess->best && distance == guess->distance &&
         same_start(guess->wrong, word) > same_start(guess->wrong, guess->best))) {
        guess->distance = distance;
        guess->best = word;
    }
}
