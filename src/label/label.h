/* label.h -- connected components: cells that belong together and touch get the same number.  The
 * door of label/.  Sees base/, gen/ (streaming stores), run/ (the pool) and store/.
 *
 * The array is cut into tiles.  Each is labelled by itself: its rows become runs of cells, and runs
 * that touch become components.  Components that touch a border between tiles become nodes of one
 * union-find, which is all that tiles know of each other.  Numbers follow from the first cell of
 * each component in C order, so they do not depend on tiles, threads or memory. */
#ifndef AR_LABEL_H
#define AR_LABEL_H

#include "run/run.h"
#include "store/store.h"

typedef struct arras_labelling ar_labelling;

/* From memory or from a source, into memory or into a sink; all of the same shape, of 1 to 3 axes.
 * Buffers and options are copied, what they point at is borrowed until the end of the wait. */
typedef struct {
    int                  rank;
    const int64_t       *shape;
    const arras_buffer  *cells;  /* or NULL: */
    ar_source           *source;
    const arras_buffer  *labels; /* i32 or i64; or NULL: */
    ar_sink             *sink;
    arras_label_options  options;
    /* As tests want it: */
    const int64_t       *tile;   /* of each axis; NULL: chosen */
    bool                 forget; /* runs are found again for every tile */
} ar_label_request;

arras_status ar_labelling_start(ar_labelling **out, const ar_label_request *request,
                                arras_error *err);
/* Works too, once; *count is the number of components. */
arras_status ar_labelling_wait(int64_t *count, ar_labelling *l, arras_error *err);
void         ar_labelling_free(ar_labelling *l);
void         ar_labelling_cancel(ar_labelling *l);
double       ar_labelling_progress(const ar_labelling *l);

#endif
