/* partial_log.h -- a directory in which an array grows piece by piece, so that a process that is
 * killed can go on where it was.  Sees base/ and store.h.
 *
 *     identity   what is being computed, as text; another one is another computation
 *     pieces     the bytes of pieces, one after the other
 *     journal    which pieces there are, and where; only what is on disk already
 *     finished   empty: all pieces were put into the array, which is about to get its name
 *
 * Pieces go to the file at once; a thread brings them to disk and enters them in the journal from
 * time to time (a checkpoint), so that those who compute never wait for the disk. */
#ifndef AR_PARTIAL_LOG_H
#define AR_PARTIAL_LOG_H

#include "store/boxes.h"

#include <time.h>

/* A chunk, by its number in C order, or (number -1) the cells of a box. */
typedef struct {
    int64_t  number, offset, length;
    uint32_t skipped; /* see ar_chunk_bytes */
    bool     missing;
    ar_box   box;
} ar_saved_box;

typedef struct ar_partial_log ar_partial_log;

/* Opens what is there under this name, or begins it.  EINVAL: it is of another identity, or some
 * process works on it.  period: seconds between checkpoints.  *found: how many pieces there are. */
arras_status ar_partial_open(ar_partial_log **out, const char *folder, const char *identity,
                             double period, int64_t *found, arras_error *err);
/* Adds a piece with these bytes; several threads at once.  Its offset and length are set. */
arras_status ar_partial_add(ar_partial_log *log, ar_saved_box *piece, const void *bytes,
                            size_t length, arras_error *err);
/* Piece number i of those found when it was opened, in the order in which they were added. */
const ar_saved_box *ar_partial_found(const ar_partial_log *log, int64_t i);
arras_status    ar_partial_read(const ar_partial_log *log, const ar_saved_box *piece, void *bytes,
                                arras_error *err);
/* A last checkpoint, and the end of the thread; the directory stays. */
arras_status ar_partial_close(ar_partial_log *log, arras_error *err);
/* To be called just before the array gets its name. */
arras_status ar_partial_finished(const ar_partial_log *log, arras_error *err);
/* When that was; false: it was not, or some process works on it. */
bool ar_partial_was_finished(struct timespec *when, const char *folder);
/* Removes the directory and all that is in it; only what is ours is in it. */
void ar_partial_remove(const char *folder);

#endif
