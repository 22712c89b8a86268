/* letters.h -- the letters of ASCII, which are the same in every locale.  Those of <ctype.h> are
 * not, and the REPL has the terminal's locale. */
#ifndef CMD_LETTERS_H
#define CMD_LETTERS_H

#include <stdbool.h>
#include <stddef.h>

static inline bool cmd_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool cmd_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static inline bool cmd_is_name(char c) { return cmd_is_letter(c) || cmd_is_digit(c) || c == '_'; }
static inline char cmd_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c; }
static inline char cmd_upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }

/* The same `length` characters, small or capital. */
static inline bool cmd_same_letters(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (cmd_lower(a[i]) != cmd_lower(b[i]))
            return false;
    return true;
}

#endif
