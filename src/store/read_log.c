/* read_log.c -- boxes that were asked for, a line of CSV each: what chunk shapes are chosen for.
 * Lines are appended whole, so that several threads and processes may share a file. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct ar_read_log {
    int   fd;
    char *path; /* for messages */
};

static arras_status append(const ar_read_log *log, const ar_text *line, arras_error *err)
{
    const struct iovec bytes = { line->data, line->length };

    if (line->failed)
        return ar_fail_memory(err, line->length);
    if (writev(log->fd, &bytes, 1) == (ssize_t)line->length)
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EIO, "%s: a query can't be written to the log: %s", log->path,
                   strerror(errno));
}

/* Where nothing is in the file. */
static arras_status add_header(const ar_read_log *log, int rank, arras_error *err)
{
    ar_text      line = { 0 };
    struct stat  st;
    arras_status status = ARRAS_OK;

    for (int d = 0; d < rank; d++)
        ar_text_printf(&line, "%sstart%d,stop%d", d ? "," : "", d, d);
    ar_text_add(&line, "\n");
    if (fstat(log->fd, &st) == 0 && st.st_size == 0)
        status = append(log, &line, err);
    ar_text_free(&line);
    return status;
}

static arras_status open_log(ar_read_log **out, const char *path, arras_error *err)
{
    ar_read_log *log = ar_alloc(1, sizeof *log);
    size_t       length = strlen(path) + 1;
    char        *copy = ar_alloc(length, 1);

    if (!log || !copy) {
        ar_free(log);
        ar_free(copy);
        return ar_fail_memory(err, length);
    }
    memcpy(copy, path, length);
    *log = (ar_read_log){ open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666), copy };
    *out = log;
    return log->fd >= 0 ? ARRAS_OK
                        : ar_fail(err, ARRAS_EIO, "%s: no log of queries can be opened: %s", path,
                                  strerror(errno));
}

arras_status ar_source_log(ar_source *source, const char *path, arras_error *err)
{
    arras_status status;

    ar_source_log_close(source);
    if (!path)
        return ARRAS_OK;
    status = open_log(&source->log, path, err);
    if (status == ARRAS_OK)
        status = add_header(source->log, source->info.rank, err);
    if (status != ARRAS_OK)
        ar_source_log_close(source);
    return status;
}

void ar_source_log_close(ar_source *source)
{
    ar_read_log *log = source->log;

    source->log = NULL;
    if (!log)
        return;
    if (log->fd >= 0)
        close(log->fd);
    ar_free(log->path);
    ar_free(log);
}

arras_status ar_source_note(const ar_source *source, const int64_t *lo, const int64_t *hi,
                            arras_error *err)
{
    ar_text      line = { 0 };
    arras_status status;

    if (!source->log)
        return ARRAS_OK;
    for (int d = 0; d < source->info.rank; d++) {
        if (lo[d] >= hi[d]) { /* nothing was asked for */
            ar_text_free(&line);
            return ARRAS_OK;
        }
        ar_text_printf(&line, "%s%" PRId64 ",%" PRId64, d ? "," : "", lo[d], hi[d]);
    }
    ar_text_add(&line, "\n");
    status = append(source->log, &line, err);
    ar_text_free(&line);
    return status;
}
