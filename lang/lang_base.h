/* lang_base.h -- what every part of the language stands on: memory, lists, maps, places in a
 * source text, and the one function that makes an error.  Sees lang.h only. */
#ifndef LANG_BASE_H
#define LANG_BASE_H

#include "lang/lang.h"

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Everything allocated is released at once.  An arena that was zeroed is empty. */
typedef struct lang_arena {
    struct lang_block *last;
} lang_arena;

void *lang_arena_alloc(lang_arena *a, size_t count, size_t size); /* zeroed; NULL: no memory */
char *lang_arena_text(lang_arena *a, const char *text, size_t length); /* a copy, with a NUL */
void  lang_arena_free(lang_arena *a);

/* A list of pointers.  A list that was zeroed is empty. */
typedef struct lang_list {
    const void **items;
    size_t       count, room;
} lang_list;

bool  lang_list_reserve(lang_list *list, size_t room); /* false: no memory */
bool  lang_list_add(lang_list *list, const void *item);
void *lang_list_keep(const lang_list *list, size_t from, lang_arena *a); /* a copy in an arena */
void  lang_list_free(lang_list *list);

/* From pointers to pointers.  A map that was zeroed is empty. */
typedef struct lang_map {
    struct lang_map_slot *slots;
    size_t                count, room; /* room is a power of two, or 0 */
} lang_map;

void *lang_map_find(const lang_map *map, const void *key); /* NULL when unknown */
bool  lang_map_set(lang_map *map, const void *key, const void *value); /* false: no memory */
void  lang_map_free(lang_map *map);

/* ---- Places and errors ----------------------------------------------------------------------- */

typedef struct lang_source {
    const char *file; /* as messages call it */
    const char *text;
    size_t      length;
} lang_source;

/* Bytes of a source; source NULL: nowhere. */
typedef struct lang_place {
    const lang_source *source;
    size_t             start, length;
} lang_place;

/* From the start of one to the end of the other. */
lang_place lang_place_span(lang_place from, lang_place to);
size_t     lang_place_line(lang_place place); /* from 1 */

/* Writes place, message, line and caret; returns false. */
bool lang_fail(lang_error *err, lang_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool lang_fail_memory(lang_error *err);
/* Brackets in brackets take more of a stack than a caller may have.  `work` gives ARRAS_OK, or any
 * other status when it wrote *err. */
bool lang_with_room(arras_status (*work)(void *context, arras_error *err), void *context,
                    lang_error *err);

/* ---- Suggestions ----------------------------------------------------------------------------- */

/* The name nearest to `wanted` of those that were offered, if it is near enough. */
typedef struct lang_guess {
    const char *wanted, *best;
    size_t      distance; /* of best */
} lang_guess;

void lang_guess_offer(lang_guess *guess, const char *name);
/* "; did you mean `h`?" or "". */
const char *lang_guess_text(const lang_guess *guess, char *room, size_t size);

#endif
