/* buffers.h -- memory for arrays, kept warm: what is given back is taken again without the system
 * having to clear its pages, which costs several times as much as a pass over them.
 * May be called from several threads at once.  Internal to run/; sees base/ only. */
#ifndef AR_RUN_BUFFERS_H
#define AR_RUN_BUFFERS_H

#include "base/base.h"

/* At least `bytes`, aligned to 64; what it holds is undefined.  NULL: no memory. */
void *ar_buffer_take(int64_t bytes);
void  ar_buffer_give(void *buffer); /* NULL is fine */

#endif
