/* error.c -- failures: a code and one line of text, in the caller's own object. */
#include "base/base.h"

static void keep_to_one_line(char *text)
{
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
}

arras_status ar_vfail(arras_error *err, arras_status code, const char *format, va_list args)
{
    if (!err)
        return code;
    err->code = code;
    if (ar_vsnprintf(err->text, sizeof err->text, format, args) < 0)
        err->text[0] = '\0';
    keep_to_one_line(err->text);
    return code;
}

arras_status ar_fail(arras_error *err, arras_status code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    ar_vfail(err, code, format, args);
    va_end(args);
    return code;
}

arras_status ar_fail_memory(arras_error *err, size_t bytes)
{
    return ar_fail(err, ARRAS_ENOMEM, "out of memory: no %zu bytes to be had", bytes);
}
