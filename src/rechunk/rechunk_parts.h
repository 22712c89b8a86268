/* rechunk_parts.h -- what the files of rechunking share.  Internal to rechunk/.
 *
 * An array is copied box by box.  A box is a union of chunks of the sink, so that each of these is
 * written once; the chunks of the source that it meets are read into it.  A chunk that lies in
 * several boxes is read for each of them, so boxes are chosen to be such that few do. */
#ifndef AR_RECHUNK_PARTS_H
#define AR_RECHUNK_PARTS_H

#include "rechunk/rechunk.h"

/* ---- The choice of the box (rechunk_plan.c) -------------------------------------------------- */

typedef struct {
    int     rank;
    int64_t cell_size;
    int64_t shape[ARRAS_MAX_RANK];
    int64_t grain[ARRAS_MAX_RANK]; /* what edges of boxes are multiples of, or end with the array */
    int64_t unit[ARRAS_MAX_RANK];  /* what is read as a whole */
} ar_rechunk_grid;

typedef struct {
    int64_t edge[ARRAS_MAX_RANK];
    int64_t bytes;
    double  units; /* of the array */
    double  reads; /* of units, for all boxes together */
} ar_rechunk_box;

/* What is read and written as a whole: chunks; rows of some length where there are none. */
void ar_rechunk_unit(int64_t *unit, const ar_store_info *info);
/* The first axis is the one along which cells of a file follow each other. */
bool ar_rechunk_is_fortran(const ar_store_info *info);
/* The box of at most so many bytes with which the fewest units are read, the smallest of these.
 * ELIMIT without a message: not even one of single grains has so few; *out is that one. */
arras_status ar_rechunk_choose(ar_rechunk_box *out, const ar_rechunk_grid *grid, int64_t bytes,
                               arras_error *err);
/* Longer along the last axes, up to so many bytes; nothing is read more often for it. */
void ar_rechunk_enlarge(ar_rechunk_box *box, const ar_rechunk_grid *grid, int64_t bytes);

/* ---- Copying one box (rechunk_box.c) --------------------------------------------------------- */

/* How a box is cut into parts that threads read, or write, at once. */
typedef struct {
    ar_box  box;
    int64_t first[ARRAS_MAX_RANK], step[ARRAS_MAX_RANK], count[ARRAS_MAX_RANK];
    int64_t total;
} ar_rechunk_parts;

void ar_rechunk_cut(ar_rechunk_parts *out, const ar_store_info *info, const ar_box *box);
void ar_rechunk_part(ar_box *out, const ar_rechunk_parts *parts, int64_t number);
/* One part between its file and the cells of the box, which lie in C order. */
arras_status ar_rechunk_read(ar_source *source, const ar_box *box, char *cells, const ar_box *part,
                             ar_chunk_scratch *scratch, arras_error *err);
arras_status ar_rechunk_write(ar_sink *sink, const ar_box *box, const char *cells,
                              const ar_box *part, ar_chunk_scratch *scratch, arras_error *err);

#endif
