/* options.c -- walks over arguments: --name value, --name=value, -x value, -xvalue, names, --. */
#include "cmd/options.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"

#define MAX_OPTIONS 64

cmd_arguments cmd_arguments_of(int argc, char **argv, const cmd_option *options)
{
    return (cmd_arguments){ .argc = argc, .argv = argv, .options = options, .at = 1 };
}

static int find_letter(const cmd_option *options, char letter)
{
    for (int i = 0; options[i].name; i++)
        if (options[i].letter == letter)
            return i;
    return CMD_BAD_ARGUMENT;
}

static int find_name(const cmd_option *options, const char *name, size_t length)
{
    for (int i = 0; options[i].name; i++)
        if (strlen(options[i].name) == length && memcmp(options[i].name, name, length) == 0)
            return i;
    return CMD_BAD_ARGUMENT;
}

static int refuse_name(const cmd_arguments *a, const char *name, size_t length, cmd_error *err)
{
    const char *names[MAX_OPTIONS + 1] = { NULL };
    char        wanted[64];

    for (int i = 0; i < MAX_OPTIONS && a->options[i].name; i++)
        names[i] = a->options[i].name;
    size_t kept = length < sizeof wanted ? length : sizeof wanted - 1;
    memcpy(wanted, name, kept);
    wanted[kept] = 0;
    const char *near = cmd_nearest(wanted, names);
    if (near)
        cmd_fail(err, "unknown option --%.*s; did you mean --%s?", (int)length, name, near);
    else
        cmd_fail(err, "unknown option --%.*s; `arras help %s` lists the options", (int)length, name,
                 a->argv[0]);
    return CMD_BAD_ARGUMENT;
}

/* The value of an option that must have one and did not bring it along. */
static int take_value(cmd_arguments *a, int option, const char **value, cmd_error *err)
{
    const cmd_option *o = &a->options[option];

    if (a->at >= a->argc) {
        cmd_fail(err, "option --%s needs a value: --%s %s", o->name, o->name, o->argument);
        return CMD_BAD_ARGUMENT;
    }
    *value = a->argv[a->at++];
    return option;
}

static int long_option(cmd_arguments *a, const char *text, const char **value, cmd_error *err)
{
    const char *equals = strchr(text, '=');
    size_t      length = equals ? (size_t)(equals - text) : strlen(text);
    int         option = find_name(a->options, text, length);

    if (option < 0)
        return refuse_name(a, text, length, err);
    if (!a->options[option].argument && equals) {
        cmd_fail(err, "option --%.*s takes no value", (int)length, text);
        return CMD_BAD_ARGUMENT;
    }
    if (!a->options[option].argument)
        return option;
    if (!equals)
        return take_value(a, option, value, err);
    *value = equals + 1;
    return option;
}

static int short_option(cmd_arguments *a, const char *text, const char **value, cmd_error *err)
{
    int option = find_letter(a->options, text[0]);

    if (option < 0) {
        cmd_fail(err, "unknown option -%s; `arras help %s` lists the options", text, a->argv[0]);
        return CMD_BAD_ARGUMENT;
    }
    if (!a->options[option].argument && text[1]) {
        cmd_fail(err, "option -%c takes no value", text[0]);
        return CMD_BAD_ARGUMENT;
    }
    if (!a->options[option].argument)
        return option;
    if (!text[1])
        return take_value(a, option, value, err);
    *value = text + 1;
    return option;
}

int cmd_next_argument(cmd_arguments *a, const char **value, cmd_error *err)
{
    if (a->at >= a->argc)
        return CMD_END_OF_ARGUMENTS;
    const char *text = a->argv[a->at++];

    if (!a->only_names && strcmp(text, "--") == 0) {
        a->only_names = true;
        return cmd_next_argument(a, value, err);
    }
    *value = text;
    if (a->only_names || text[0] != '-' || !text[1])
        return CMD_NAME;
    if (text[1] == '-')
        return long_option(a, text + 2, value, err);
    return short_option(a, text + 1, value, err);
}

bool cmd_option_number(int64_t *out, const char *option, const char *value, int64_t lo, int64_t hi,
                       cmd_error *err)
{
    char *end;

    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end == value || *end || errno || number < lo || number > hi)
        return cmd_fail(err, "--%s %s: expected a whole number from %" PRId64 " to %" PRId64,
                        option, value, lo, hi);
    *out = number;
    return true;
}

/* The power of 1024 that a unit stands for; -1 when it is none. */
static int unit_power(const char *unit)
{
    static const char letters[] = "KMGT";
    const char       *at = *unit ? strchr(letters, *unit & ~0x20) : NULL;

    if (!*unit || strcmp(unit, "B") == 0)
        return 0;
    if (!at)
        return -1;
    bool is_unit = !unit[1] || strcmp(unit + 1, "B") == 0 || strcmp(unit + 1, "iB") == 0;
    return is_unit ? (int)(at - letters) + 1 : -1;
}

bool cmd_option_bytes(int64_t *out, const char *option, const char *value, cmd_error *err)
{
    char  *end;
    double number = strtod(value, &end);
    int    power = end == value ? -1 : unit_power(end);
    double bytes = power < 0 ? NAN : ldexp(number, 10 * power);

    if (!(bytes >= 1 && bytes < 0x1p62))
        return cmd_fail(err, "--%s %s: expected bytes, such as 512M or 2G", option, value);
    *out = (int64_t)bytes;
    return true;
}
