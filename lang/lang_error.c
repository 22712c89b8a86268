/* lang_error.c -- messages that point at their place in the source, and suggestions. */
#include "lang/lang_base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_BEFORE = 60, SHOWN_AFTER = 40 }; /* characters of a long line, around the place */

/* ---- Places ---------------------------------------------------------------------------------- */

lang_place lang_place_span(lang_place from, lang_place to)
{
    size_t end = to.start + to.length;

    if (from.source != to.source || end < from.start)
        return from;
    from.length = end - from.start;
    return from;
}

size_t lang_place_line(lang_place place)
{
    size_t line = 1;

    for (size_t i = 0; place.source && i < place.start; i++)
        line += place.source->text[i] == '\n';
    return line;
}

/* Bytes 10xxxxxx go on with a character of UTF-8. */
static bool starts_character(char byte) { return ((unsigned char)byte & 0xc0) != 0x80; }

static size_t characters(const char *text, size_t length)
{
    size_t count = 0;

    for (size_t i = 0; i < length; i++)
        count += starts_character(text[i]);
    return count;
}

/* ---- The line and the caret ------------------------------------------------------------------ */

typedef struct {
    char  *text;
    size_t length, room;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...)
{
    size_t  left = w->room - w->length;
    va_list args;
    int     wanted;

    va_start(args, format);
    wanted = vsnprintf(w->text + w->length, left, format, args);
    va_end(args);
    if (wanted > 0)
        w->length += (size_t)wanted < left ? (size_t)wanted : left - 1;
}

static void put_bytes(writer *w, const char *text, size_t length)
{
    for (size_t i = 0; i < length && w->length + 1 < w->room; i++) {
        unsigned char byte = (unsigned char)text[i];

        /* A tab would move the caret, and control bytes a terminal. */
        w->text[w->length++] = (char)(byte == '\t' ? ' ' : byte < 32 || byte == 127 ? '?' : byte);
        w->text[w->length] = '\0';
    }
}

static void put_many(writer *w, char c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_bytes(w, &c, 1);
}

/* What is shown of a line, [from, to), when something in it is at [start, end). */
typedef struct {
    size_t from, to;
} window;

static window window_of(const lang_source *s, size_t start, size_t end)
{
    window line = { start, start }, shown;
    size_t before = 0, after = 0;

    while (line.from > 0 && s->text[line.from - 1] != '\n')
        line.from--;
    while (line.to < s->length && s->text[line.to] != '\n')
        line.to++;
    shown = (window){ start, start };
    while (shown.from > line.from && before < SHOWN_BEFORE)
        before += starts_character(s->text[--shown.from]);
    while (shown.to < line.to &&
           (after < SHOWN_AFTER || (shown.to < end && after < 2 * SHOWN_AFTER) ||
            !starts_character(s->text[shown.to])))
        after += starts_character(s->text[shown.to++]);
    while (shown.to > shown.from && s->text[shown.to - 1] == '\r')
        shown.to--;
    return shown;
}

static void put_line(writer *w, lang_place place, size_t line)
{
    const lang_source *s = place.source;
    size_t             start = place.start < s->length ? place.start : s->length;
    size_t             end = place.length < s->length - start ? start + place.length : s->length;
    window             shown = window_of(s, start, end);
    bool               cut = shown.from > 0 && s->text[shown.from - 1] != '\n';
    size_t             marked;

    put(w, "\n    %zu | %s", line, cut ? "..." : "");
    put_bytes(w, s->text + shown.from, shown.to - shown.from);
    put(w, "%s\n    ",
        shown.to < s->length && s->text[shown.to] != '\n' && s->text[shown.to] != '\r' ? "..."
                                                                                       : "");
    put_many(w, ' ', (size_t)snprintf(NULL, 0, "%zu", line));
    put(w, " | ");
    put_many(w, ' ', (cut ? 3 : 0) + characters(s->text + shown.from, start - shown.from));
    end = end < shown.to ? end : shown.to;
    marked = end > start ? characters(s->text + start, end - start) : 0;
    put_many(w, '^', 1);
    put_many(w, '~', marked > 0 ? marked - 1 : 0);
}

static size_t column_of(lang_place place)
{
    size_t from = place.start;

    while (from > 0 && place.source->text[from - 1] != '\n')
        from--;
    return characters(place.source->text + from, place.start - from) + 1;
}

/* ---- Errors ---------------------------------------------------------------------------------- */

bool lang_fail(lang_error *err, lang_place place, const char *format, ...)
{
    size_t  line = lang_place_line(place);
    char    message[2048];
    writer  w;
    va_list args;

    if (!err)
        return false;
    w = (writer){ err->text, 0, sizeof err->text };
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (place.source)
        put(&w, "%.255s:%zu:%zu: ", place.source->file, line, column_of(place));
    put_bytes(&w, message, strlen(message));
    if (place.source)
        put_line(&w, place, line);
    return false;
}

bool lang_fail_memory(lang_error *err)
{
    return lang_fail(err, (lang_place){ 0 }, "out of memory");
}

bool lang_with_room(arras_status (*work)(void *context, arras_error *err), void *context,
                    lang_error *err)
{
    arras_error why = { ARRAS_OK, "" };

    if (arras_with_room(work, context, &why) == ARRAS_OK)
        return true;
    return why.text[0] ? lang_fail(err, (lang_place){ 0 }, "%s", why.text) : false;
}

/* ---- Suggestions ----------------------------------------------------------------------------- */

enum { LONGEST_GUESS = 64 };

static size_t least(size_t a, size_t b, size_t c)
{
    a = a < b ? a : b;
    return a < c ? a : c;
}

/* How many letters must be added, removed, replaced, or swapped with the next one. */
static size_t edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t  rows[3][LONGEST_GUESS + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2], *free_row;

    for (size_t j = 0; j <= nb; j++)
        last[j] = before[j] = j;
    for (size_t i = 1; i <= na; i++) {
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            row[j] = least(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1, row[j]);
        }
        free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[nb];
}

static size_t common_start(const char *a, const char *b)
{
    size_t n = 0;

    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

void lang_guess_offer(lang_guess *guess, const char *name)
{
    size_t na = strlen(guess->wanted), nb = strlen(name), distance;
    size_t enough = na < 6 ? 1 : na < 9 ? 2 : 3; /* further away it is another word */

    if (na > LONGEST_GUESS || nb > LONGEST_GUESS || na > nb + enough || nb > na + enough)
        return;
    distance = edit_distance(guess->wanted, na, name, nb);
    if (distance == 0 || distance > enough || distance >= na)
        return;
    if (guess->best &&
        (distance > guess->distance ||
         (distance == guess->distance &&
          common_start(guess->wanted, name) <= common_start(guess->wanted, guess->best))))
        return;
    guess->best = name;
    guess->distance = distance;
}

const char *lang_guess_text(const lang_guess *guess, char *room, size_t size)
{
    if (!guess->best)
        return "";
    snprintf(room, size, "; did you mean `%s`?", guess->best);
    return room;
}
