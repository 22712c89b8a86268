/* chunk_threads.c -- work on many chunks by threads of its own, for readers outside of a run. */
#include "store/boxes.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MOST_THREADS = 64 };

typedef struct {
    int64_t         n;
    ar_chunk_work  *work;
    void           *context;
    _Atomic int64_t next;
    atomic_bool     failed;
    pthread_mutex_t lock; /* of the message */
    arras_status    status;
    arras_error    *err;
} crew;

typedef struct {
    crew     *crew;
    int       number;
    pthread_t thread;
    bool      started;
} worker;

static void keep_failure(crew *c, arras_status status, const arras_error *err)
{
    pthread_mutex_lock(&c->lock);
    if (!atomic_exchange(&c->failed, true)) {
        c->status = status;
        if (c->err)
            *c->err = *err;
    }
    pthread_mutex_unlock(&c->lock);
}

static void *take_chunks(void *context)
{
    worker *w = context;
    crew   *c = w->crew;

    while (!atomic_load(&c->failed)) {
        int64_t      i = atomic_fetch_add(&c->next, 1);
        arras_error  err;
        arras_status status;

        if (i >= c->n)
            break;
        status = c->work(c->context, i, w->number, &err);
        if (status != ARRAS_OK)
            keep_failure(c, status, &err);
    }
    return NULL;
}

arras_status ar_chunks_do(int64_t n, int threads, ar_chunk_work *work, void *context,
                          arras_error *err)
{
    crew   c = { .n = n, .work = work, .context = context, .err = err };
    worker workers[MOST_THREADS];
    int    count = (int)ar_min64(ar_min64(threads, MOST_THREADS), n);

    pthread_mutex_init(&c.lock, NULL);
    for (int i = 0; i < count; i++) {
        workers[i] = (worker){ .crew = &c, .number = i };
        /* The caller is the first; where no more threads are to be had it does all. */
        workers[i].started = i > 0 && ar_thread_start(&workers[i].thread, take_chunks, &workers[i]);
    }
    if (count > 0)
        take_chunks(&workers[0]);
    for (int i = 1; i < count; i++)
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
    pthread_mutex_destroy(&c.lock);
    return c.status;
}
