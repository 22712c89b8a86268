/* c_results.h -- where the cells of a kernel go.  Shared by c_kernel.c and c_results.c. */
#ifndef AR_C_RESULTS_H
#define AR_C_RESULTS_H

#include "gen/c/c_writer.h"

typedef struct {
    const ar_kernel_form *form;
    const arras_expr     *cells;
    bool                  is_short;   /* rows of a few cells, a number that is known */
    ar_c_rows            *gathered;   /* NULL: short rows are computed one by one */
    bool                  vectors;    /* short rows are, in boxes of whole rows */
    bool                  one_vector; /* and each is just one */
    int                   lanes;      /* or so many cells, which are put together to one; else 0 */
    bool                  streams;    /* where it is worth it */
} ar_c_results;

arras_dtype ar_c_result_dtype(const ar_c_results *r, int k);
/* pastK: cells of result K go to memory, past the caches, as they are made: their vectors start
 * where they must for that.  asked: whether that is wanted; from: what is added to oK. */
void ar_c_put_past(ar_writer *w, int k, const char *asked, const char *from);
/* oK is where a row of result K starts; of rows that are too short for segments of their own, the
 * first of those that share one. */
void ar_c_put_row_starts(ar_writer *w, const ar_c_results *r, int axes);
/* bK: so many cells of result K that are on their way. */
void ar_c_put_buffers(ar_writer *w, const ar_c_results *r, int64_t length);

/* The cells of long rows, segment by segment. */
ar_c_sink ar_c_long_rows(ar_c_results *r);

#endif
