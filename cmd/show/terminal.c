/* terminal.c -- asks the system and the environment what a terminal can show. */
#include "cmd/show/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *environment(const char *name)
{
    const char *value = getenv(name);

    return value ? value : "";
}

static int number_in(const char *name, int otherwise)
{
    long value = strtol(environment(name), NULL, 10);

    return value > 0 && value <= CMD_MAX_CHARACTERS ? (int)value : otherwise;
}

/* Half blocks need UTF-8.  A locale that was never set says nothing about the terminal, which then
 * most likely understands it. */
static bool refuses_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    const char              *locale = "";

    for (int i = 0; i < 3 && !*locale; i++)
        locale = environment(names[i]);
    return *locale && strcmp(locale, "C") != 0 && strcmp(locale, "POSIX") != 0 &&
           !strcasestr(locale, "utf-8") && !strcasestr(locale, "utf8");
}

static cmd_ink ink_of(int fd)
{
    const char *term = environment("TERM"), *depth = environment("COLORTERM");
    bool        forced = *environment("CLICOLOR_FORCE");

    if (*environment("NO_COLOR") || refuses_utf8())
        return CMD_PLAIN;
    if (!forced && (!isatty(fd) || !*term || strcmp(term, "dumb") == 0))
        return CMD_PLAIN;
    if (strcmp(depth, "truecolor") == 0 || strcmp(depth, "24bit") == 0 || strstr(term, "-direct"))
        return CMD_COLOURS_ALL;
    return CMD_COLOURS_256;
}

static int within(int value, int lo, int hi) { return value < lo ? lo : value > hi ? hi : value; }

cmd_screen cmd_terminal_of(FILE *file)
{
    struct winsize size = { 0 };
    int            fd = fileno(file), width, height;

    if (ioctl(fd, TIOCGWINSZ, &size) != 0)
        size = (struct winsize){ 0 };
    width = size.ws_col ? size.ws_col : number_in("COLUMNS", 80);
    height = size.ws_row ? size.ws_row : number_in("LINES", 24);
    return (cmd_screen){ within(width, CMD_MIN_WIDTH, CMD_MAX_CHARACTERS),
                         within(height, CMD_MIN_HEIGHT, CMD_MAX_CHARACTERS), ink_of(fd) };
}
