/* lang_order.c -- which statements the outputs need, each after what it uses.  The order in which
 * they are written does not matter; a circle is an error that names it. */
#include "lang/lang_lower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A statement whose needs are being followed, and how far. */
typedef struct {
    const lang_statement *statement;
    int                   use;  /* the next one to look at */
    int                   part; /* of that use: 0 what it names, 1 the edge of that */
} frame;

typedef struct {
    lang_lowering *L;
    lang_list     *out;
    lang_map       seen; /* statement -> &open or &done */
    frame         *frames;
    size_t         count, room;
} walk;

static const char open_mark, done_mark;

static bool push(walk *w, const lang_statement *s)
{
    if (w->count == w->room) {
        size_t room = w->room ? 2 * w->room : 64;
        frame *frames = reallocarray(w->frames, room, sizeof *frames);

        if (!frames)
            return lang_fail_memory(w->L->err);
        w->frames = frames;
        w->room = room;
    }
    w->frames[w->count++] = (frame){ s, 0, 0 };
    return lang_map_set(&w->seen, s, &open_mark) || lang_fail_memory(w->L->err);
}

/* "a needs b, b needs a" */
static bool fail_circle(walk *w, const lang_statement *again)
{
    char   path[512];
    size_t at = 0, from = 0;

    while (w->frames[from].statement != again)
        from++;
    path[0] = '\0';
    for (size_t i = from; i < w->count && at < sizeof path; i++) {
        const lang_statement *s = w->frames[i].statement;
        const lang_statement *next = i + 1 < w->count ? w->frames[i + 1].statement : again;
        int n = snprintf(path + at, sizeof path - at, "%s%.60s needs %.60s", i > from ? ", " : "",
                         s->symbol->text, next->symbol->text);

        at += n > 0 ? (size_t)n : 0;
    }
    if (at >= sizeof path)
        memcpy(path + sizeof path - 4, "...", 4);
    if (again->kind == LANG_DEF)
        return lang_fail(w->L->err, again->place, "the function `%s` calls itself: %s",
                         again->symbol->text, path);
    return lang_fail(w->L->err, again->place, "`%s` is defined by itself: %s", again->symbol->text,
                     path);
}

static bool visit(walk *w, const lang_statement *s, const lang_statement *from)
{
    const void *mark = s ? lang_map_find(&w->seen, s) : &done_mark;

    /* In its own equation a name means the input of that name. */
    if (mark == &done_mark || (s == from && s->kind != LANG_DEF))
        return true;
    return mark ? fail_circle(w, s) : push(w, s);
}

/* What the next use of the statement on top names. */
static bool follow(walk *w)
{
    frame                *top = &w->frames[w->count - 1];
    const lang_statement *s = top->statement;
    const lang_node      *use = s->uses[top->use];

    if (use->kind == LANG_CALL) {
        top->use++;
        return visit(w, use->symbol->function, s);
    }
    if (top->part == 0) {
        top->part = 1;
        return visit(w, use->symbol->array, s);
    }
    top->part = 0;
    top->use++;
    return visit(w, use->symbol->edge, s);
}

static bool finish(walk *w)
{
    const lang_statement *s = w->frames[--w->count].statement;

    return (lang_list_add(w->out, s) && lang_map_set(&w->seen, s, &done_mark)) ||
           lang_fail_memory(w->L->err);
}

static bool walk_from(walk *w, const lang_statement *root)
{
    if (!visit(w, root, NULL))
        return false;
    while (w->count > 0) {
        const frame *top = &w->frames[w->count - 1];

        if (!(top->use < top->statement->nuses ? follow(w) : finish(w)))
            return false;
    }
    return true;
}

bool lang_order(lang_list *out, lang_lowering *L, const lang_list *outputs)
{
    walk w = { .L = L, .out = out };
    bool done = true;

    for (size_t i = 0; done && i < outputs->count; i++)
        done = walk_from(&w, ((const lang_symbol *)outputs->items[i])->array);
    free(w.frames);
    lang_map_free(&w.seen);
    return done;
}
