/* main.c -- the arras command: finds the subcommand and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/commands.h"

static int refuse(const char *name)
{
    const char *names[17] = { NULL };

    for (int i = 0; i < 16 && cmd_command_at(i); i++)
        names[i] = cmd_command_at(i)->name;
    const char *near = cmd_nearest(name, names);
    if (near)
        return cmd_complain("unknown command %s; did you mean %s?", name, near);
    return cmd_complain("unknown command %s; `arras help` lists the commands", name);
}

/* What was left in the buffer may fail to be written: a full disk must not look like success. */
static int close_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    return status ? status : cmd_complain("cannot write standard output: %s", strerror(errno));
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* `arras run --help`, wherever it stands among the options. */
static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (is_help(argv[i]))
            return true;
    return false;
}

static int help_on(char *topic)
{
    char *words[] = { "help", topic, NULL };

    return cmd_help(topic ? 2 : 1, words);
}

static int run_command(int argc, char **argv)
{
    const cmd_command *command = cmd_command_find(argv[0]);

    if (!command)
        return refuse(argv[0]);
    return asks_for_help(argc, argv) ? help_on(argv[0]) : command->main(argc, argv);
}

static bool asks_for_version(const char *word)
{
    return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 ||
           strcmp(word, "version") == 0;
}

/* The number of a standard file that is closed would be given to the next that is opened, and what
 * is printed would go into an array.  Its place is taken by one that fails as it would. */
static void keep_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    keep_standard_files();
    if (argc < 2 || is_help(argv[1]))
        return close_output(help_on(NULL));
    if (asks_for_version(argv[1])) {
        printf("arras %s\n", ARRAS_VERSION);
        return close_output(0);
    }
    return close_output(run_command(argc - 1, argv + 1));
}
