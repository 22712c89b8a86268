/* progress.c -- the line of progress, drawn by a thread of its own. */
#include "cmd/progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cmd/interrupt.h"

#define FIRST_MS 500
#define NEXT_MS 100
#define MAX_BAR 40

static struct {
    pthread_t       thread;
    pthread_mutex_t lock;
    pthread_cond_t  wake;
    /* Under the lock: */
    bool               running, stop, shown;
    const arras_run   *watched;
    cmd_progress_part *part; /* asked about `of`; NULL: none */
    const void        *of;
    /* Written by those who work: */
    struct timespec       began;
    _Atomic(const char *) what;
    _Atomic int64_t       done, total;
} progress = { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER };

static double seconds_since(const struct timespec *t)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->tv_sec) + 1e-9 * (double)(now.tv_nsec - t->tv_nsec);
}

static int bar_width(void)
{
    struct winsize size;
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
    int room = columns - 30; /* the words beside it */

    return room < 0 ? 0 : room > MAX_BAR ? MAX_BAR : room;
}

/* How much of the stage is done, from 0 to 1; below 0 when that is not known. */
static double fraction(void)
{
    int64_t done = atomic_load(&progress.done), total = atomic_load(&progress.total);

    if (progress.watched)
        return arras_launch_progress(progress.watched);
    if (progress.part)
        return progress.part(progress.of);
    return total > 0 && done <= total ? (double)done / (double)total : -1;
}

/* "computing [#####.....]  52 %  3.1 s" */
static void draw(void)
{
    const char *what = atomic_load(&progress.what);
    double      part = fraction();
    char        line[256], bar[MAX_BAR + 1];
    int         width = bar_width(), n = snprintf(line, sizeof line, "\r%s", what ? what : "");

    if (part >= 0) {
        int full = (int)(part * width);

        memset(bar, '#', (size_t)full);
        memset(bar + full, '.', (size_t)(width - full));
        bar[width] = 0;
        n += snprintf(line + n, sizeof line - (size_t)n, " [%s] %3d %%", bar, (int)(100 * part));
    }
    n += snprintf(line + n, sizeof line - (size_t)n, "  %.1f s\033[K",
                  seconds_since(&progress.began));
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
        return; /* a terminal that is gone shows nothing */
}

static void wipe(void)
{
    if (progress.shown && write(STDERR_FILENO, "\r\033[K", 4) < 0)
        return; /* as above */
    progress.shown = false;
}

static void wait_ms(int ms)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ms * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!progress.stop &&
           pthread_cond_timedwait(&progress.wake, &progress.lock, &until) != ETIMEDOUT)
        ;
}

static void *show(void *unused)
{
    pthread_mutex_lock(&progress.lock);
    wait_ms(FIRST_MS);
    while (!progress.stop) {
        cmd_interrupt_wipes(true);
        progress.shown = true;
        draw();
        wait_ms(NEXT_MS);
    }
    wipe();
    pthread_mutex_unlock(&progress.lock);
    cmd_interrupt_wipes(false);
    return unused;
}

bool cmd_progress_start(void)
{
    if (progress.running || !isatty(STDERR_FILENO))
        return progress.running;
    clock_gettime(CLOCK_MONOTONIC, &progress.began);
    progress.stop = false;
    progress.running = pthread_create(&progress.thread, NULL, show, NULL) == 0;
    return progress.running;
}

void cmd_progress_stage(const char *what, int64_t total)
{
    atomic_store(&progress.total, 0); /* no bar while the numbers do not belong together */
    atomic_store(&progress.done, 0);
    atomic_store(&progress.what, what);
    atomic_store(&progress.total, total);
}

void cmd_progress_add(int64_t done) { atomic_fetch_add(&progress.done, done); }

void cmd_progress_watch(const arras_run *run)
{
    pthread_mutex_lock(&progress.lock);
    progress.watched = run;
    pthread_mutex_unlock(&progress.lock);
}

void cmd_progress_ask(cmd_progress_part *part, const void *of)
{
    pthread_mutex_lock(&progress.lock);
    progress.part = part;
    progress.of = of;
    pthread_mutex_unlock(&progress.lock);
}

void cmd_progress_clear(void)
{
    pthread_mutex_lock(&progress.lock);
    wipe();
    pthread_mutex_unlock(&progress.lock);
}

void cmd_progress_stop(void)
{
    if (!progress.running)
        return;
    pthread_mutex_lock(&progress.lock);
    progress.stop = true;
    pthread_cond_signal(&progress.wake);
    pthread_mutex_unlock(&progress.lock);
    pthread_join(progress.thread, NULL);
    progress.running = false;
}
