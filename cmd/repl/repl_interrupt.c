/* repl_interrupt.c -- Ctrl-C in the REPL: noted by a signal handler, acted upon by a thread,
 * because a handler may not call the library. */
#include "cmd/interrupt.h"
#include "cmd/repl/repl.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int             wake[2]; /* a pipe: one byte for each Ctrl-C */
static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by watch_lock: */
static cmd_canceller *stop;
static void          *watched;

static void handle(int signal)
{
    int     saved = errno;
    ssize_t written;

    (void)signal;
    cmd_interrupt_note(true);
    do
        written = write(wake[1], "", 1);
    while (written < 0 && errno == EINTR);
    errno = saved;
}

static void *watch(void *unused)
{
    char    byte;
    ssize_t n;

    (void)unused;
    while ((n = read(wake[0], &byte, 1)) != 0) {
        if (n < 0 && errno != EINTR)
            break;
        pthread_mutex_lock(&watch_lock);
        if (stop)
            stop(watched);
        pthread_mutex_unlock(&watch_lock);
    }
    return NULL;
}

/* The thread takes no signals itself. */
static bool start_thread(void)
{
    pthread_t thread;
    sigset_t  all, before;
    bool      ok;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    ok = pthread_create(&thread, NULL, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok)
        pthread_detach(thread);
    return ok;
}

bool cmd_repl_interrupt_start(cmd_error *err)
{
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };

    cmd_interrupt_start();
    if (pipe(wake) != 0)
        return cmd_fail(err, "no pipe for Ctrl-C: %s", strerror(errno));
    if (!start_thread())
        return cmd_fail(err, "no thread for Ctrl-C");
    if (sigaction(SIGINT, &action, NULL) != 0)
        return cmd_fail(err, "no handler for Ctrl-C: %s", strerror(errno));
    return true;
}

void cmd_repl_interrupt_watch(cmd_canceller *cancel, void *work)
{
    pthread_mutex_lock(&watch_lock);
    stop = cancel;
    watched = work;
    /* It may have come just before. */
    if (stop && cmd_interrupted())
        stop(watched);
    pthread_mutex_unlock(&watch_lock);
}
