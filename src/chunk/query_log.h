/* query_log.h -- for the files that read logs of queries: boxes as they come. */
#ifndef AR_QUERY_LOG_H
#define AR_QUERY_LOG_H

#include "base/base.h"

typedef struct ar_query_log {
    int         rank;
    const char *name; /* for messages */
    size_t      count, lo_room, hi_room;
    int64_t    *lo, *hi; /* count * rank */
} ar_query_log;

/* numbers: start and stop of each axis. */
arras_status ar_query_log_add(ar_query_log *log, const int64_t *numbers, arras_error *err);
arras_status ar_query_log_read_json(ar_query_log *log, const char *text, size_t length,
                                    arras_error *err);

#endif
