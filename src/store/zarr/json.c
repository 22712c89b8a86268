/* json.c -- JSON as Zarr's metadata has it: what Python writes beyond the standard is read too. */
#include "base/base.h"

#if defined ARRAS_HAVE_JANSSON
#include "store/zarr/json.h"

#include <ctype.h>
#include <string.h>

/* ---- Beyond the standard --------------------------------------------------------------------- */

/* Digits that fit jansson's integers for certain. */
enum { SAFE_DIGITS = 18 };

static const char *const words[] = { "NaN", "Infinity", "-Infinity" };

static size_t word_at(const char *at, size_t left)
{
    for (size_t i = 0; i < AR_COUNT(words); i++) {
        size_t length = strlen(words[i]);

        if (length <= left && memcmp(at, words[i], length) == 0)
            return length;
    }
    return 0;
}

/* Length of the number that begins here; *is_long: an integer of more digits than are safe. */
static size_t number_at(const char *at, size_t left, bool *is_long)
{
    size_t n = *at == '-', digits = 0;

    for (; n < left && isdigit((unsigned char)at[n]); n++)
        digits++;
    bool whole = true;
    for (; n < left && at[n] && strchr("0123456789.eE+-", at[n]); n++)
        whole = false;
    *is_long = whole && digits > SAFE_DIGITS;
    return n;
}

static size_t string_at(const char *at, size_t left)
{
    size_t n = 1;

    while (n < left && at[n] != '"')
        n += at[n] == '\\' ? 2 : 1;
    return n < left ? n + 1 : left;
}

static void put_quoted(ar_text *out, const char *at, size_t n, bool quoted)
{
    if (quoted)
        ar_text_add(out, "\"");
    ar_text_put(out, at, n);
    if (quoted)
        ar_text_add(out, "\"");
}

static void make_standard(ar_text *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        const char *at = text + i;
        bool        quoted = true;
        size_t      n = word_at(at, length - i);

        if (n == 0 && (*at == '-' || isdigit((unsigned char)*at)))
            n = number_at(at, length - i, &quoted);
        if (n == 0) {
            n = *at == '"' ? string_at(at, length - i) : 1;
            quoted = false;
        }
        put_quoted(out, at, n, quoted);
        i += n;
    }
}

/* jansson reads and prints numbers as the locale has them, and mends a point of one byte only. */
static json_t *load(const char *text, size_t length, size_t flags, json_error_t *why)
{
    ar_locale before = ar_locale_plain();
    json_t   *value = json_loadb(text, length, flags, why);

    ar_locale_back(before);
    return value;
}

arras_status ar_json_read(json_t **out, const char *text, size_t length, const char *name,
                          arras_error *err)
{
    ar_text      standard = { 0 };
    json_error_t why;

    make_standard(&standard, text, length);
    if (standard.failed) {
        ar_text_free(&standard);
        return ar_fail_memory(err, length);
    }
    json_t *value =
        load(standard.data ? standard.data : "", standard.length, JSON_REJECT_DUPLICATES, &why);
    ar_text_free(&standard);
    if (!value)
        return ar_fail(err, ARRAS_EFORMAT, "%s is not JSON: line %d: %s", name, why.line, why.text);
    if (!json_is_object(value)) {
        json_decref(value);
        return ar_fail(err, ARRAS_EFORMAT, "%s: expected a JSON object", name);
    }
    *out = value;
    return ARRAS_OK;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

arras_status ar_json_lengths(int *rank, int64_t *out, const json_t *list, int64_t least,
                             const char *what, const char *name, arras_error *err)
{
    size_t n = json_array_size(list);

    if (!json_is_array(list))
        return ar_fail(err, ARRAS_EFORMAT, "%s: %s is not a list", name, what);
    if (n > ARRAS_MAX_RANK)
        return ar_fail(err, ARRAS_EFORMAT, "%s: %s has %zu axes, more than %d", name, what, n,
                       ARRAS_MAX_RANK);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);

        if (!json_is_integer(item) || json_integer_value(item) < least)
            return ar_fail(err, ARRAS_EFORMAT,
                           "%s: %s[%zu] is not an integer from %" PRId64 " to 10^18", name, what, i,
                           least);
        out[i] = json_integer_value(item);
    }
    *rank = (int)n;
    return ARRAS_OK;
}

static int add_bytes(const char *bytes, size_t length, void *out)
{
    ar_text_put(out, bytes, length);
    return 0;
}

void ar_json_print(ar_text *out, const json_t *value, size_t flags)
{
    ar_locale before = ar_locale_plain();

    if (json_dump_callback(value, add_bytes, out, flags) != 0)
        out->failed = true;
    ar_locale_back(before);
}

/* Values of one line that are no strings. */
static json_t *read_plain(const char *text, size_t length)
{
    return load(text, length, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
}

void ar_json_print_value(ar_text *out, const json_t *value)
{
    const char *text = json_string_value(value);
    json_t     *other = text ? read_plain(text, strlen(text)) : NULL;

    if (text && !other && !strpbrk(text, "\r\n"))
        ar_text_add(out, text);
    else
        ar_json_print(out, value, JSON_ENCODE_ANY | JSON_COMPACT);
    json_decref(other);
}

json_t *ar_json_read_value(const char *text, size_t length)
{
    json_t *value = read_plain(text, length);

    return value ? value : json_stringn(text, length);
}

#endif
