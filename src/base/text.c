/* text.c -- growing strings, and how far two words are apart. */
#include "base/base.h"

#include <string.h>

bool ar_text_reserve(ar_text *text, size_t extra)
{
    size_t capacity = text->capacity ? text->capacity : 128;
    char  *data;

    if (text->failed)
        return false;
    if (extra < text->capacity - text->length) /* room for the NUL too */
        return true;
    while (capacity - text->length <= extra) {
        if (capacity > SIZE_MAX / 2) {
            text->failed = true;
            return false;
        }
        capacity *= 2;
    }
    data = ar_realloc(text->data, capacity, 1);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void ar_text_put(ar_text *text, const char *bytes, size_t length)
{
    if (!ar_text_reserve(text, length))
        return;
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void ar_text_add(ar_text *text, const char *string) { ar_text_put(text, string, strlen(string)); }

/* Mostly there is room for it, and once is enough. */
void ar_text_printf(ar_text *text, const char *format, ...)
{
    size_t  room = text->failed ? 0 : text->capacity - text->length;
    va_list args;
    int     length;

    va_start(args, format);
    length = ar_vsnprintf(room ? text->data + text->length : NULL, room, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length >= room) {
        if (room)
            text->data[text->length] = '\0';
        if (!ar_text_reserve(text, (size_t)length))
            return;
        va_start(args, format);
        length = ar_vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
        va_end(args);
    }
    text->length += length > 0 ? (size_t)length : 0;
}

/* Bytes of the UTF-8 character that starts here; 0: none does.  Spellings that could be shorter,
 * halves of pairs and numbers above 10FFFF are not UTF-8. */
static size_t character_length(const unsigned char *s)
{
    size_t        length = s[0] < 0x80                    ? 1
                           : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
                           : s[0] >= 0xe0 && s[0] <= 0xef ? 3
                           : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                          : 0;
    unsigned char least = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char most = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;

    if (length > 1 && (s[1] < least || s[1] > most))
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

void ar_text_add_quoted(ar_text *text, const char *string)
{
    ar_text_add(text, "\"");
    while (*string) {
        unsigned char first = (unsigned char)*string;
        size_t        length = character_length((const unsigned char *)string);

        if (first == '"' || first == '\\')
            ar_text_add(text, "\\");
        if (length == 0 || first < ' ' || first == 127)
            ar_text_add(text, "?");
        else
            ar_text_put(text, string, length);
        string += length ? length : 1;
    }
    ar_text_add(text, "\"");
}

void ar_text_cut(ar_text *text, size_t length)
{
    if (length < text->length) {
        text->length = length;
        text->data[length] = '\0';
    }
}

void ar_text_free(ar_text *text)
{
    ar_free(text->data);
    *text = (ar_text){ 0 };
}

int ar_text_distance(const char *a, const char *b)
{
    enum { LONGEST = 64 };
    size_t m = strlen(a), n = strlen(b);
    int    row[LONGEST + 1];

    if (m > LONGEST || n > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= n; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= m; i++) {
        int diagonal = row[0];

        row[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            int shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

            diagonal = row[j];
            row[j] = change < shift ? change : shift;
        }
    }
    return row[n];
}
