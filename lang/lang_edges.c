/* lang_edges.c -- the rules for reads outside of an array, as `edge` statements give them. */
#include "lang/lang_lower.h"

#include <stdlib.h>
#include <string.h>

static bool fail_rule(lang_lowering *L, const lang_node *node)
{
    static const char *const words[] = { "nearest", "reflect", "mirror", "wrap", "none" };
    lang_guess guess = { .wanted = node->kind == LANG_NAME ? node->symbol->text : "" };
    char       room[320];

    for (int i = 0; i < 5; i++)
        lang_guess_offer(&guess, words[i]);
    return lang_fail(L->err, node->place, "an edge is " LANG_EDGE_WORDS "%s",
                     lang_guess_text(&guess, room, sizeof room));
}

/* 0 for integers and bool, 1 for reals, 2 for complex numbers. */
static int kind_of(arras_dtype dtype)
{
    return dtype >= ARRAS_C64 ? 2 : dtype >= ARRAS_F32 ? 1 : 0;
}

/* The library casts what is outside to the type of the array: nothing of it may be lost. */
static bool check_fill(lang_lowering *L, const lang_node *node, arras_dtype dtype)
{
    lang_data d = { 0 };

    if (!lang_evaluate(&d, L, NULL, node, "the number outside"))
        return false;
    free(d.data);
    return kind_of(d.dtype) <= kind_of(dtype) ||
           lang_fail(L->err, node->place, "this %s does not fit the array, which is %s",
                     arras_dtype_name(d.dtype), arras_dtype_name(dtype));
}

static bool read_rule(arras_edge *out, lang_lowering *L, const lang_node *node, arras_dtype dtype)
{
    lang_equation none = { 0 };
    lang_cell    *cell;

    if (node->kind == LANG_WORD) {
        *out = (arras_edge){ lang_find_edge(node->text, strlen(node->text)), NULL };
        return true;
    }
    if (!lang_is_number(L, NULL, node))
        return fail_rule(L, node);
    if (!check_fill(L, node, dtype))
        return false;
    cell = lang_expand(L, &none, NULL, node);
    *out = (arras_edge){ ARRAS_EDGE_CONSTANT, cell ? lang_emit(L, cell) : NULL };
    return out->fill != NULL;
}

static const arras_edge *read_rules(lang_lowering *L, const lang_statement *s, arras_array x)
{
    int         rank = arras_array_rank(x);
    arras_edge *edges = lang_alloc(L, (size_t)rank, sizeof *edges);

    if (!edges)
        return NULL;
    if (s->per_axis && s->nparts != rank) {
        lang_fail(L->err, s->place, "%d edge rule%s for `%s`, which has %d ax%s", s->nparts,
                  s->nparts == 1 ? "" : "s", s->symbol->text, rank, rank == 1 ? "is" : "es");
        return NULL;
    }
    for (int axis = 0; axis < rank; axis++)
        if (!read_rule(&edges[axis], L, s->parts[s->per_axis ? axis : 0], arras_array_dtype(x)))
            return NULL;
    return edges;
}

bool lang_edges_of(const arras_edge **out, lang_lowering *L, const lang_node *base, arras_array x)
{
    bool                  named = base->kind == LANG_NAME && !base->local;
    const lang_statement *s = named ? base->symbol->edge : NULL;

    *out = NULL;
    if (!s)
        return true;
    *out = lang_map_find(&L->edges, x);
    if (*out)
        return true;
    *out = read_rules(L, s, x);
    return *out && (lang_map_set(&L->edges, x, *out) || lang_fail_memory(L->err));
}
