/* free_memory.c -- how much memory there is to be had, as Linux says: /proc and control groups. */
#include "base/base.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What is in front of /proc and /sys; for tests. */
static const char *world = "";

void ar_memory_world(const char *root) { world = root; }

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

static int64_t of_system(const char *word)
{
    char    path[PATH_MAX];
    int64_t kilobytes;

    snprintf(path, sizeof path, "%s/proc/meminfo", world);
    kilobytes = number_in(path, word);
    return kilobytes < 0 || kilobytes > INT64_MAX / 1024 ? INT64_MAX : kilobytes * 1024;
}

/* ---- Control groups -------------------------------------------------------------------------- */

/* Where a version of them keeps what; `high` is a limit beyond which a group is slowed down. */
typedef struct {
    const char *controller, *root, *limit, *high, *used, *cache;
} hierarchy;

static const hierarchy versions[] = {
    { "", "/sys/fs/cgroup", "memory.max", "memory.high", "memory.current", "inactive_file " },
    { "memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", NULL, "memory.usage_in_bytes",
      "total_inactive_file " },
};

typedef struct {
    int64_t limit, left;
} room;

static int64_t number_of_group(const hierarchy *h, const char *group, const char *file,
                               const char *word)
{
    char path[2 * PATH_MAX];
    int  n = snprintf(path, sizeof path, "%s%s%s/%s", world, h->root, group, file);

    return n > 0 && (size_t)n < sizeof path ? number_in(path, word) : -1;
}

/* What one group leaves: files in its cache that nobody needs can be given up. */
static void look_at_group(room *r, const hierarchy *h, const char *group)
{
    int64_t limit = number_of_group(h, group, h->limit, "");
    int64_t high = h->high ? number_of_group(h, group, h->high, "") : -1;
    int64_t used = number_of_group(h, group, h->used, "");
    int64_t cache = number_of_group(h, group, "memory.stat", h->cache);

    if (high >= 0 && (limit < 0 || high < limit))
        limit = high;
    if (limit < 0) /* "max", or no such group */
        return;
    used -= ar_min64(used, ar_max64(0, cache));
    r->limit = ar_min64(r->limit, limit);
    r->left = ar_min64(r->left, ar_max64(0, limit - ar_max64(0, used)));
}

/* Limits hold for all groups within a group, so that all those around ours count. */
static void look_around(room *r, const hierarchy *h, char *group)
{
    for (;;) {
        char *slash = strrchr(group, '/');

        look_at_group(r, h, group);
        if (!slash)
            return;
        *slash = '\0';
    }
}

/* Whether a word stands in a list such as "cpuset,memory". */
static bool is_listed(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (;; list++) {
        size_t n = strcspn(list, ",");

        if (n == length && memcmp(list, word, n) == 0)
            return true;
        list += n;
        if (!*list)
            return false;
    }
}

/* A line "number:controllers:group", the second version without controllers. */
static void look_at_line(room *r, char *line)
{
    char *controllers = strchr(line, ':'),
         *group = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!group)
        return;
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    for (size_t i = 0; i < AR_COUNT(versions); i++)
        if (is_listed(controllers + 1, versions[i].controller)) {
            look_around(r, &versions[i], group);
            return;
        }
}

static room of_groups(void)
{
    char  line[PATH_MAX];
    room  r = { INT64_MAX, INT64_MAX };
    FILE *file;

    snprintf(line, sizeof line, "%s/proc/self/cgroup", world);
    file = fopen(line, "re");
    while (file && fgets(line, sizeof line, file))
        look_at_line(&r, line);
    if (file)
        fclose(file);
    return r;
}

/* ---- The answers ----------------------------------------------------------------------------- */

int64_t ar_memory_available(void) { return ar_min64(of_system("MemAvailable:"), of_groups().left); }

int64_t ar_memory_whole(void) { return ar_min64(of_system("MemTotal:"), of_groups().limit); }

int64_t ar_memory_fair(void)
{
    int64_t available = ar_memory_available();

    return available < INT64_MAX ? available / 2 : (int64_t)1 << 30;
}
