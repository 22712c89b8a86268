/* test_command_memory.c -- the command when the n-th allocation fails: an error that says so,
 * or what it would have said.  Linked so that all allocations of the command, the
 * language and the library come through here; each command runs in a process of its own. */
#include "cmd/commands.h"
#include "failing_malloc.h"
#include "store_world.h"

#include <fcntl.h>
#include <sys/wait.h>

/* ---- One command ----------------------------------------------------------------------------- */

enum { MOST_WORDS = 16, MOST_TEXT = 1 << 16 };

typedef struct {
    int  status; /* of the process, as wait() gives it */
    char out[MOST_TEXT], complaint[MOST_TEXT];
    bool failed; /* an allocation did */
} outcome;

static void load(char *text, const char *name)
{
    FILE  *file = fopen(at(name), "r");
    size_t n = file ? fread(text, 1, MOST_TEXT - 1, file) : 0;

    text[n] = '\0';
    if (file)
        fclose(file);
}

static void run_child(char **words, int64_t n)
{
    int count = 0, status;

    while (words[count])
        count++;
    if (!freopen(at("out"), "w", stdout) || !freopen(at("err"), "w", stderr) || chdir(world) != 0)
        _exit(100);
    until_failure = n;
    status = cmd_command_find(words[0])->main(count, words);
    if (until_failure == -1 && n >= 0)
        close(open("failed", O_WRONLY | O_CREAT, 0666));
    until_failure = -1;
    fflush(stdout);
    fflush(stderr);
    _exit(status);
}

static void run(outcome *o, const char *const *words, int64_t n)
{
    char *copies[MOST_WORDS] = { NULL };
    pid_t child;

    for (int i = 0; words[i]; i++)
        copies[i] = strdup(words[i]);
    fflush(stdout);
    child = fork();
    if (child == 0)
        run_child(copies, n);
    CHECK(child > 0 && waitpid(child, &o->status, 0) == child);
    for (int i = 0; copies[i]; i++)
        free(copies[i]);
    load(o->out, "out");
    load(o->complaint, "err");
    o->failed = unlink(at("failed")) == 0;
}

static void remove_results(void)
{
    char command[100];

    snprintf(command, sizeof command, "rm -rf %s/new*", world);
    CHECK_EQ_INT(system(command), 0);
}

/* Every one of the first, then fewer and fewer. */
static void fail_some(const char *const *words)
{
    static outcome whole, o;
    int64_t        n = 0;

    CASE("%s %s", words[0], words[1]);
    run(&whole, words, -1); /* kernels are built */
    remove_results();
    run(&whole, words, -1);
    if (!CHECK_EQ_INT(whole.status, 0))
        printf("    %s\n", whole.complaint);
    remove_results();
    do {
        run(&o, words, n);
        remove_results();
        if (!CHECK(WIFEXITED(o.status) && WEXITSTATUS(o.status) <= 1) ||
            !CHECK(WEXITSTATUS(o.status) ? strstr(o.complaint, "memory") != NULL
                                         : strcmp(o.out, whole.out) == 0))
            printf("    allocation %d: status %x, %s\n", (int)n, (unsigned)o.status, o.complaint);
        n += 1 + n / 12;
    } while (o.failed);
}

static void commands(void)
{
    static const char *const lines[][MOST_WORDS] = {
        { "run", "y = x*2 + mean(x)", "x=x.npy" },
        { "run", "y = x*2", "x=x.npy", "-o", "y=new.npy" },
        { "run", "y = x*2", "x=x.zarr", "-o", "y=new.zarr", "--memory", "4M" },
        { "run", "y = x + 1", "x=x.h5:/x", "-o", "y=new.h5:/y", "--resume" },
        { "info", "x.npy", "x.h5", "x.zarr" },
        { "show", "x.zarr", "--svg", "new.svg" },
        { "label", "x.npy", "new.npy" },
        { "rechunk", "x.h5:/x", "new.zarr", "--chunk", "7,7", "--quiet" },
    };

    for (size_t i = 0; i < AR_COUNT(lines); i++)
        fail_some(lines[i]);
}

static void make(const char *name, const char *inside)
{
    static double        cells[40 * 30];
    static const int64_t zero[2], shape[] = { 40, 30 };
    arras_sink          *sink = NULL;

    for (int i = 0; i < 40 * 30; i++)
        cells[i] = i % 7 - 2;
    CHECK_EQ_INT(arras_sink_create(&sink, at(name), inside, ARRAS_F64, 2, shape, NULL, &err),
                 ARRAS_OK);
    CHECK_EQ_INT(arras_sink_write(sink, zero, shape, cells, NULL, 1, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_sink_finish(sink, &err), ARRAS_OK);
}

TEST_MAIN
{
    world_begin();
    setenv("TMPDIR", world, 1);
    make("x.npy", NULL);
    make("x.zarr", NULL);
    make("x.h5", "/x");
    RUN(commands);
    world_end();
}
