/* interrupt.c -- the one signal handler of the command.  All it touches is lock-free, and all it
 * calls may be called from a handler. */
#include "cmd/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define MAX_FILES 256

static _Atomic(const char *) files[MAX_FILES];
static atomic_bool           holds, wipes, pressed, leaving;
static atomic_int            noted; /* the signal that came while holding */
static void (*stop_work)(void *of); /* called then; does not change while holding */
static void *work;

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody listens */
}

/* Once: who comes second, from another thread or within the first, must not end the process before
 * the first has tidied up; so it returns. */
static void leave(int signal)
{
    if (atomic_exchange(&leaving, true))
        return;
    for (int i = 0; i < MAX_FILES; i++) {
        const char *path = atomic_load(&files[i]);

        if (path)
            unlink(path);
    }
    arras_sinks_discard();
    if (atomic_load(&wipes))
        say("\r\033[K");
    if (signal == SIGBUS)
        say("arras: a file became shorter while it was read, or its disk failed\n");
    _exit(signal == SIGBUS ? 1 : 128 + signal);
}

static void handle(int signal)
{
    int none = 0;

    if (signal != SIGBUS && atomic_load(&holds) &&
        atomic_compare_exchange_strong(&noted, &none, signal)) {
        if (stop_work)
            stop_work(work);
        return;
    }
    leave(signal);
}

void cmd_interrupt_start(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGBUS };

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction before, action = { .sa_handler = handle, .sa_flags = SA_RESTART };

        /* What the shell told us to ignore (nohup, a job in the background) stays ignored. */
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN); /* `ulimit -f`: writing fails, and whoever writes says so */
}

int cmd_interrupt_remember(const char *path)
{
    for (int i = 0; i < MAX_FILES; i++) {
        const char *nothing = NULL;

        if (atomic_compare_exchange_strong(&files[i], &nothing, path))
            return i;
    }
    return -1;
}

void cmd_interrupt_forget(int slot)
{
    if (slot >= 0)
        atomic_store(&files[slot], NULL);
}

void cmd_interrupt_hold(void (*stop)(void *of), void *of)
{
    stop_work = stop;
    work = of;
    atomic_store(&holds, true);
}

void cmd_interrupt_release(void)
{
    atomic_store(&holds, false);
    int signal = atomic_load(&noted);
    if (!signal)
        return;
    leave(signal);
    for (;;)
        pause();
}

arras_status cmd_compile(arras_program **out, const arras_graph *g, const arras_options *options,
                         arras_error *err)
{
    cmd_interrupt_hold(NULL, NULL);
    arras_status status = arras_compile(out, g, options, err);
    cmd_interrupt_release();
    return status;
}

arras_status cmd_launch_start(arras_run **out, arras_program *p, int n,
                              const arras_binding *bindings, arras_error *err)
{
    if (arras_program_warning(p)) /* the reference evaluator is done when it has started */
        return arras_launch_start(out, p, n, bindings, err);
    cmd_interrupt_hold(NULL, NULL);
    arras_status status = arras_launch_start(out, p, n, bindings, err);
    cmd_interrupt_release();
    return status;
}

void cmd_interrupt_wipes(bool on) { atomic_store(&wipes, on); }

void cmd_interrupt_note(bool is_pressed) { atomic_store(&pressed, is_pressed); }

bool cmd_interrupted(void) { return atomic_load(&pressed); }
