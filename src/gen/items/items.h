/* items.h -- kernels in items: each work item computes a cell of all results by itself.  The door
 * of gen/items/.  Sees base/, ir/, gen/kit/ and gen/words/.
 *
 * Names in the text beside those of words.h, S a number:
 *     aK         memory of operand K, as it is handed to the kernel
 *     item i     the number of the cell in C order; both are the same
 *     rS lS pS   a reduction so far: the total, or lanes of a block and parts of blocks */
#ifndef AR_GEN_ITEMS_H
#define AR_GEN_ITEMS_H

#include "gen/words/words.h"

extern const ar_shape ar_items_shape; /* items_kernel.c */

/* One value, by the one item (items_reduce.c). */
void ar_items_put_reduce(ar_writer *w, arras_expr reduce);

#endif
