/* store_file.h -- files as stores use them: reads and writes of whole pieces, and files and
 * directories that appear under their names when they are complete.  Sees base/ only. */
#ifndef AR_STORE_FILE_H
#define AR_STORE_FILE_H

#include "base/base.h"

/* Opens a regular file below a directory (AT_FDCWD: the current one) to read it; *fd is -1 when
 * there is none of that name.  What is no regular file is refused, and never waited for.  `name` is
 * for messages, here and below. */
arras_status ar_file_find(int *fd, int64_t *size, int directory, const char *path, const char *name,
                          arras_error *err);
/* The same; it is an error when there is none. */
arras_status ar_file_open(int *fd, int64_t *size, const char *path, arras_error *err);

/* Exactly n bytes from this place on. */
arras_status ar_file_read(int fd, void *out, int64_t n, int64_t at, const char *name,
                          arras_error *err);
arras_status ar_file_write(int fd, const void *bytes, int64_t n, int64_t at, const char *name,
                           arras_error *err);
/* All of a file that has at most `most` bytes; appended to out. */
arras_status ar_file_load(ar_text *out, int fd, int64_t size, int64_t most, const char *name,
                          arras_error *err);

/* The names in a directory, those with a dot at their beginning left out, in natural order: x2
 * before x10.  They live as long as the arena. */
typedef struct {
    ar_arena arena;
    char   **names;
    size_t   n, capacity;
} ar_file_names;

/* Does not take the directory over. */
arras_status ar_file_names_read(ar_file_names *out, int directory, const char *name,
                                arras_error *err);
void         ar_file_names_free(ar_file_names *names);

/* Makes an empty file or directory beside `path`, with a name that begins with a dot: for what is
 * not complete yet.  *name is a new text, to be freed by ar_draft_name_free.  It is a draft as long
 * as *fd is open, which is locked: what a process left behind that was killed is removed by the
 * next who makes a draft for the same path. */
arras_status ar_file_make_beside(ar_text *name, int *fd, bool is_directory, const char *path,
                                 arras_error *err);
/* Gives a complete file or directory its name; never in place of something that is there. */
arras_status ar_file_appear(const char *temporary, const char *path, arras_error *err);

#endif
