/* stack.c -- room on stacks: threads of our own have enough of it, and what takes more than the
 * calling thread may have goes to such a thread.
 *
 * Expressions are walked recursively, AR_MAX_DEPTH deep at most, and kernels keep lanes and parts
 * of sums on their stack.  Callers may have little: 64 KB, a fiber, a thread of musl's. */
#include "base/base.h"

#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OURS = 4 << 20, ENOUGH = 2 << 20, ARGUMENTS = 256 << 10 };

/* Where the stack of the calling thread is. */
typedef struct {
    uintptr_t low, high;
} extent;

/* The system makes it longer, up to its limit.  It ends where the program's arguments begin. */
static extent of_first_thread(void)
{
    extent        e = { .high = (uintptr_t)getauxval(AT_RANDOM) };
    struct rlimit limit;
    rlim_t        room;

    if (getrlimit(RLIMIT_STACK, &limit) != 0)
        return (extent){ 0, 0 };
    room = limit.rlim_cur > ARGUMENTS ? limit.rlim_cur - ARGUMENTS : 0;
    e.low = room < e.high ? e.high - (uintptr_t)room : 1;
    return e;
}

static extent of_other_thread(void)
{
    extent         e = { 0, 0 };
    pthread_attr_t attributes;
    void          *low;
    size_t         size;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return e;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0)
        e = (extent){ (uintptr_t)low, (uintptr_t)low + size };
    pthread_attr_destroy(&attributes);
    return e;
}

/* Of the calling thread: enough is left between the two; both 0 before somebody asked. */
static _Thread_local uintptr_t lowest, above;

static void measure(void)
{
    extent e = syscall(SYS_gettid) == getpid() ? of_first_thread() : of_other_thread();

    above = e.high ? e.high : 1;
    lowest = e.high - e.low > ENOUGH ? e.low + ENOUGH : above;
}

/* What runs on a stack that the system does not know, as fibers do, has little of it. */
bool ar_has_room(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (above == 0)
        measure();
    return here - lowest < above - lowest;
}

bool ar_thread_start(pthread_t *out, void *(*run)(void *), void *context)
{
    pthread_attr_t attributes;
    size_t         size;
    bool           started;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    started = (pthread_attr_getstacksize(&attributes, &size) == 0 && size >= OURS) ||
              pthread_attr_setstacksize(&attributes, OURS) == 0;
    started = started && pthread_create(out, &attributes, run, context) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

typedef struct {
    ar_roomy    *work;
    void        *context;
    arras_error *err;
    arras_status status;
} errand;

static void *run_errand(void *context)
{
    errand *e = context;

    e->status = e->work(e->context, e->err);
    return NULL;
}

arras_status ar_with_room(ar_roomy *work, void *context, arras_error *err)
{
    errand    e = { work, context, err, ARRAS_OK };
    pthread_t thread;

    if (ar_has_room())
        return work(context, err);
    if (!ar_thread_start(&thread, run_errand, &e))
        return ar_fail(err, ARRAS_ENOMEM,
                       "the stack of this thread is short, and the system gives no thread with one "
                       "of %d bytes; call from a thread with %d",
                       OURS, 2 * ENOUGH);
    pthread_join(thread, NULL);
    return e.status;
}
