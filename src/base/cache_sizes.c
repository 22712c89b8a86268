/* cache_sizes.c -- how large the caches of the CPUs are, as the kernel of the system says it: what
 * sysconf() calls the last cache is, on some machines, the sum over all parts of a processor. */
#include "base/base.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A virtual machine is told the size of the whole last cache of its host, and nothing of those it
 * shares it with: so much for each of its own CPUs is what processors have at most. */
#define MOST_PER_CPU ((int64_t)16 << 20)

/* The text of a small file in the directory of one cache; false: there is none. */
static bool read_word(char *word, size_t size, int cache, const char *name)
{
    char  path[96];
    FILE *file;
    bool  read;

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", cache, name);
    file = fopen(path, "re");
    if (!file)
        return false;
    read = fgets(word, (int)size, file) != NULL;
    fclose(file);
    return read;
}

/* How many CPUs a list such as "0-3,8-11" has; at least one. */
static int64_t count_cpus(const char *list)
{
    int64_t count = 0;
    int     first, last, length;

    while (sscanf(list, "%d%n", &first, &length) == 1) {
        list += length;
        last = first;
        if (sscanf(list, "-%d%n", &last, &length) == 1)
            list += length;
        count += last - first + 1;
        list += *list == ',';
    }
    return ar_max64(1, count);
}

static void read_cache(int64_t *sizes, int cache)
{
    char word[1024];
    int  level;
    long kilobytes;

    if (!read_word(word, sizeof word, cache, "type") || strncmp(word, "Instruction", 11) == 0 ||
        !read_word(word, sizeof word, cache, "level") || sscanf(word, "%d", &level) != 1 ||
        !read_word(word, sizeof word, cache, "size") || sscanf(word, "%ldK", &kilobytes) != 1)
        return;
    if (level < 1 || level > AR_CACHE_LEVELS || kilobytes <= 0)
        return;
    sizes[level] = (int64_t)kilobytes << 10;
    if (level == AR_CACHE_LEVELS && read_word(word, sizeof word, cache, "shared_cpu_list"))
        sizes[level] = ar_min64(sizes[level], MOST_PER_CPU * count_cpus(word));
}

void ar_cache_sizes(int64_t *sizes)
{
    static const struct {
        int     name;
        int64_t otherwise;
    } told[AR_CACHE_LEVELS + 1] = { { 0, 0 },
                                    { _SC_LEVEL1_DCACHE_SIZE, 32 << 10 },
                                    { _SC_LEVEL2_CACHE_SIZE, 512 << 10 },
                                    { _SC_LEVEL3_CACHE_SIZE, 8 << 20 } };

    for (int cache = 0; cache <= AR_CACHE_LEVELS; cache++)
        read_cache(sizes, cache);
    for (int level = 1; level <= AR_CACHE_LEVELS; level++) {
        long bytes = sizes[level] ? 0 : sysconf(told[level].name);

        if (sizes[level] == 0)
            sizes[level] = bytes > 0 ? bytes : told[level].otherwise;
    }
}
