/* json.h -- JSON as Zarr's metadata has it, read with jansson.  For the files of one leaf only:
 * include it where ARRAS_HAVE_JANSSON is defined. */
#ifndef AR_JSON_H
#define AR_JSON_H

#include "base/base.h"

#include <jansson.h>

/* An object.  Beyond JSON, as Python writes it, NaN, Infinity and -Infinity are read, as strings of
 * that text; so are integers too long for jansson, which would round or refuse them.  The result is
 * to be released with json_decref. */
arras_status ar_json_read(json_t **out, const char *text, size_t length, const char *name,
                          arras_error *err);

/* A list of 0 to ARRAS_MAX_RANK integers, each at least `least`; `what` is for messages. */
arras_status ar_json_lengths(int *rank, int64_t *out, const json_t *list, int64_t least,
                             const char *what, const char *name, arras_error *err);

/* As jansson prints it, with its flags. */
void ar_json_print(ar_text *out, const json_t *value, size_t flags);
/* A value in one line; strings without quotes, unless they would read as something else. */
void ar_json_print_value(ar_text *out, const json_t *value);
/* The value that was printed so. */
json_t *ar_json_read_value(const char *text, size_t length);

#endif
