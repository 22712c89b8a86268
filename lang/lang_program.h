/* lang_program.h -- a parsed program, as the parts of the language see it. */
#ifndef LANG_PROGRAM_H
#define LANG_PROGRAM_H

#include "lang/lang_tree.h"

typedef struct lang_symbols {
    lang_arena    arena;
    lang_symbol **buckets;
    size_t        count, room; /* room is a power of two, or 0 */
} lang_symbols;

/* The symbol of a text, made if it is new; NULL: no memory. */
lang_symbol *lang_symbol_get(lang_symbols *symbols, const char *text, size_t length);
/* NULL when it was never made. */
lang_symbol *lang_symbol_find(const lang_symbols *symbols, const char *text);
void         lang_symbols_free(lang_symbols *symbols);

struct lang_program {
    lang_symbols symbols;
    lang_list    units;      /* of lang_unit */
    lang_list    statements; /* of lang_statement, in order */
    lang_list    before;     /* the statements as they were before the last addition */
    lang_list    inputs, outputs, params, renewed, lets; /* of lang_symbol */
    unsigned     listing;                                /* counts lists that were made */
};

/* Parses statements, or one expression alone, into a new unit. */
lang_unit *lang_unit_read(lang_symbols *symbols, const char *file, const char *text, size_t length,
                          bool expression, lang_error *err);
void       lang_unit_free(lang_unit *unit);

/* Whether a name means a number of the language when nobody defines it: `e`, but not e[i]. */
bool lang_is_constant_name(const lang_node *node);
/* What to add to a message about an unknown function or name, where other languages have it; NULL:
 * nothing is known. */
const char *lang_function_advice(const char *name, char *room, size_t size);
const char *lang_name_advice(const char *name, char *room, size_t size);
/* What to add to a message about an unknown name that stands where an index might. */
const char *lang_index_hint(const lang_node *node, char *room, size_t size);

#endif
