/* lang_words.c -- words with a meaning of their own. */
#include "lang/lang_words.h"
#include "lang/lang_token.h"

#include <string.h>

static bool same(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && memcmp(word, text, length) == 0;
}

arras_dtype lang_find_dtype(const char *text, size_t length)
{
    for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END; d++)
        if (same(arras_dtype_name((arras_dtype)d), text, length))
            return (arras_dtype)d;
    return ARRAS_NO_DTYPE;
}

static const lang_reduction reductions[] = {
    { "all", LANG_R_PLAIN, ARRAS_REDUCE_all },
    { "any", LANG_R_PLAIN, ARRAS_REDUCE_any },
    { "argmax", LANG_R_PLACE, ARRAS_REDUCE_argmax },
    { "argmin", LANG_R_PLACE, ARRAS_REDUCE_argmin },
    { "count", LANG_R_PLAIN, ARRAS_REDUCE_count_nonzero },
    { "count_nonzero", LANG_R_PLAIN, ARRAS_REDUCE_count_nonzero },
    { "max", LANG_R_PLAIN, ARRAS_REDUCE_max },
    { "mean", LANG_R_MEAN, 0 },
    { "min", LANG_R_PLAIN, ARRAS_REDUCE_min },
    { "prod", LANG_R_PLAIN, ARRAS_REDUCE_prod },
    { "std", LANG_R_STD, 0 },
    { "sum", LANG_R_PLAIN, ARRAS_REDUCE_sum },
    { "var", LANG_R_VAR, 0 },
};

const lang_reduction *lang_find_reduction(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (same(reductions[i].word, text, length))
            return &reductions[i];
    return NULL;
}

static const char *const edge_words[ARRAS_EDGE_END] = {
    [ARRAS_EDGE_NONE] = "none",       [ARRAS_EDGE_CONSTANT] = NULL,
    [ARRAS_EDGE_NEAREST] = "nearest", [ARRAS_EDGE_REFLECT] = "reflect",
    [ARRAS_EDGE_MIRROR] = "mirror",   [ARRAS_EDGE_WRAP] = "wrap",
};

arras_edge_rule lang_find_edge(const char *text, size_t length)
{
    for (int rule = 0; rule < ARRAS_EDGE_END; rule++)
        if (edge_words[rule] && same(edge_words[rule], text, length))
            return (arras_edge_rule)rule;
    return ARRAS_EDGE_END;
}

const char *lang_keyword_at(int i)
{
    static const char *const keywords[] = {
        "and",     "def",  "e",   "edge", "false",  "inf",   "let", "mirror",  "nan",  "nearest",
        "newaxis", "none", "not", "or",   "output", "param", "pi",  "reflect", "true", "wrap",
    };

    return i >= 0 && i < (int)(sizeof keywords / sizeof *keywords) ? keywords[i] : NULL;
}
