/* scratches.c -- memory in which chunks are decoded and encoded, for so many threads at a time:
 * where it is short, few do that, and the others wait. */
#include "store/store.h"

#include <pthread.h>

struct ar_scratches {
    pthread_mutex_t      lock;
    pthread_cond_t       given;
    int                  n, nfree;
    ar_chunk_scratches **free; /* the one that was used last is the last */
    ar_chunk_scratches   all[];
};

arras_status ar_scratches_new(ar_scratches **out, int n, arras_error *err)
{
    size_t        bytes = sizeof(ar_scratches) + (size_t)n * sizeof(ar_chunk_scratches);
    ar_scratches *h = ar_alloc(1, bytes);

    if (h)
        h->free = ar_alloc((size_t)n, sizeof *h->free);
    if (!h || !h->free) {
        ar_free(h);
        return ar_fail_memory(err, bytes);
    }
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->given, NULL);
    for (; h->n < n; h->n++)
        h->free[h->nfree++] = &h->all[h->n];
    *out = h;
    return ARRAS_OK;
}

void ar_scratches_free(ar_scratches *h)
{
    if (!h)
        return;
    for (int i = 0; i < h->n; i++)
        ar_chunk_scratches_free(&h->all[i]);
    pthread_cond_destroy(&h->given);
    pthread_mutex_destroy(&h->lock);
    ar_free(h->free);
    ar_free(h);
}

ar_chunk_scratches *ar_scratches_take(ar_scratches *h)
{
    ar_chunk_scratches *taken;

    pthread_mutex_lock(&h->lock);
    while (h->nfree == 0)
        pthread_cond_wait(&h->given, &h->lock);
    taken = h->free[--h->nfree];
    pthread_mutex_unlock(&h->lock);
    return taken;
}

void ar_scratches_give(ar_scratches *h, ar_chunk_scratches *taken)
{
    pthread_mutex_lock(&h->lock);
    h->free[h->nfree++] = taken;
    pthread_cond_signal(&h->given);
    pthread_mutex_unlock(&h->lock);
}
