/* core_cache.h -- cores that were made before, by all that decided what they are.  Internal to
 * api/; may be called from several threads at once. */
#ifndef AR_API_CORE_CACHE_H
#define AR_API_CORE_CACHE_H

#include "run/run.h"

/* One reference more, or NULL. */
ar_core *ar_core_cache_find(const ar_text *key);
/* Keeps a reference of its own; without memory it does nothing. */
void ar_core_cache_add(const ar_text *key, ar_core *core);
void ar_core_cache_clear(void);

/* For tests, to make keys collide; NULL: ar_hash_bytes.  While the cache is empty. */
typedef uint64_t ar_core_hash(uint64_t seed, const void *bytes, size_t length);
void             ar_core_cache_hash(ar_core_hash *hash);

#endif
