/* write_behind.h -- writing behind the back of those who compute: whole pages are sent off, the
 * disk takes them past the system's cache, and the caller goes on.  Sees base/ only. */
#ifndef AR_WRITE_BEHIND_H
#define AR_WRITE_BEHIND_H

#include "base/base.h"

typedef struct ar_write_behind ar_write_behind;

/* For a file that is open as fd, which must stay open, and of which `bytes` from `at` on will be
 * written: their place on disk is taken now, so that a disk which is too small is known at once.
 * memory: bytes for what is on its way.  *out is NULL where the system can't do this. */
arras_status ar_write_behind_new(ar_write_behind **out, int fd, int64_t at, int64_t bytes,
                                 int64_t memory, const char *name, arras_error *err);
/* Memory in which n bytes can be put together that will be written to `at`; NULL: none just now.
 * It is given back by writing them, all at once; who fails before that need not care. */
char *ar_write_behind_reserve(ar_write_behind *b, int64_t n, int64_t at);
/* As ar_file_write; bytes that are in memory which was lent are not copied.  Whatever the disk does
 * not take at once is written the usual way.  Several threads at once, each to places of its own.
 */
arras_status ar_write_behind_write(ar_write_behind *b, const void *bytes, int64_t n, int64_t at,
                             const char *name, arras_error *err);
/* Waits until all of it is written. */
arras_status ar_write_behind_wait(ar_write_behind *b, const char *name, arras_error *err);
/* Waits too.  NULL is fine. */
void ar_write_behind_free(ar_write_behind *b);

#endif
