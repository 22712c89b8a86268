/* lang_words.h -- words with a meaning of their own: types, reductions, edge rules. */
#ifndef LANG_WORDS_H
#define LANG_WORDS_H

#include "lang/lang_base.h"

/* ARRAS_NO_DTYPE when it is none. */
arras_dtype lang_find_dtype(const char *text, size_t length);

/* A word that reduces, as in sum[k] x[k]. */
typedef struct lang_reduction {
    const char *word;
    enum {
        LANG_R_PLAIN,
        LANG_R_PLACE, /* gives where, not what: argmin, argmax */
        LANG_R_MEAN,
        LANG_R_VAR,
        LANG_R_STD
    } kind;
    int reduction; /* of the library: PLAIN, PLACE */
} lang_reduction;

const lang_reduction *lang_find_reduction(const char *text, size_t length); /* NULL when none */

/* ARRAS_EDGE_END when it is none. */
arras_edge_rule lang_find_edge(const char *text, size_t length);
/* Whether the table of functions has it. */
bool lang_is_function(const char *name);
#define LANG_EDGE_WORDS "nearest, reflect, mirror, wrap, none or a number"

#endif
