/* system_memory.c -- how much memory there is to be had, as Linux says: /proc and control groups.
 */
#include "cmd/system_memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The number behind a word, in a file of lines "word number"; -1 when it is not there.  An empty
 * word: the file is one number. */
static int64_t number_in(const char *path, const char *word)
{
    FILE   *file = fopen(path, "re");
    char    line[256];
    size_t  length = strlen(word);
    int64_t number = -1;

    while (file && number < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, word, length) != 0 || sscanf(line + length, " %" SCNd64, &number) != 1)
            number = -1;
    if (file)
        fclose(file);
    return number;
}

static int64_t system_available(void)
{
    int64_t kilobytes = number_in("/proc/meminfo", "MemAvailable:");

    return kilobytes < 0 ? INT64_MAX : kilobytes * 1024;
}

/* ---- Control groups -------------------------------------------------------------------------- */

/* Where a version of them keeps what. */
typedef struct {
    const char *mark; /* in /proc/self/cgroup, before the path */
    const char *root, *limit, *used, *cache;
} hierarchy;

static const hierarchy hierarchies[] = {
    { "0::", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file" },
    { ":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
      "total_inactive_file" },
};

static int64_t number_of_group(const hierarchy *h, const char *group, const char *file,
                               const char *word)
{
    char path[PATH_MAX + 128];

    snprintf(path, sizeof path, "%s%s/%s", h->root, group, file);
    return number_in(path, word);
}

/* What one group leaves: files in its cache that nobody needs can be given up. */
static int64_t left_in(const hierarchy *h, const char *group)
{
    int64_t limit = number_of_group(h, group, h->limit, "");
    int64_t used = number_of_group(h, group, h->used, "");
    int64_t cache = number_of_group(h, group, "memory.stat", h->cache);

    if (limit < 0 || used < 0) /* "max", or no such group */
        return INT64_MAX;
    used -= least(used, cache < 0 ? 0 : cache);
    return used < limit ? limit - used : 0;
}

/* Limits hold for all groups within a group, so that all those around ours count. */
static int64_t left_around(const hierarchy *h, char *group)
{
    int64_t left = INT64_MAX;

    for (;;) {
        char *slash = strrchr(group, '/');

        left = least(left, left_in(h, group));
        if (!slash)
            return left;
        *slash = '\0';
    }
}

static int64_t groups_available(void)
{
    FILE   *file = fopen("/proc/self/cgroup", "re");
    char    line[PATH_MAX];
    int64_t left = INT64_MAX;

    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        for (size_t i = 0; i < sizeof hierarchies / sizeof *hierarchies; i++) {
            char *at = strstr(line, hierarchies[i].mark);

            if (at)
                left = least(left, left_around(&hierarchies[i], at + strlen(hierarchies[i].mark)));
        }
    }
    if (file)
        fclose(file);
    return left;
}

int64_t cmd_memory_available(void) { return least(system_available(), groups_available()); }
