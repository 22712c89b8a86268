/* store_world.h -- for tests of stores in C: a directory of their own, files in it, arrays read
 * back as numbers. */
#ifndef STORE_WORLD_H
#define STORE_WORLD_H

#include "store/store.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char        world[64]; /* the directory */
static arras_error err;

static void world_begin(void)
{
    snprintf(world, sizeof world, "/tmp/arras-store-XXXXXX");
    CHECK(mkdtemp(world) != NULL);
}

static int world_remove(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st, (void)kind, (void)walk;
    return remove(path);
}

static void world_end(void) { nftw(world, world_remove, 8, FTW_DEPTH | FTW_PHYS); }

/* A path in it; the last four are kept. */
static const char *at(const char *name)
{
    static char paths[4][256];
    static int  turn;
    char       *path = paths[turn++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", world, name);
    return path;
}

static inline void put_file(const char *name, const void *bytes, size_t n)
{
    FILE *file = fopen(at(name), "wb");

    if (!CHECK(file != NULL))
        return;
    CHECK(fwrite(bytes, 1, n, file) == n);
    fclose(file);
}

static inline void make_directory(const char *name) { CHECK(mkdir(at(name), 0777) == 0); }

/* How many entries the directory has, hidden ones included. */
static int world_count;
static int world_count_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)path, (void)st, (void)kind;
    world_count += walk->level == 1;
    return 0;
}
static inline int count_entries(void)
{
    world_count = 0;
    nftw(world, world_count_one, 8, FTW_PHYS);
    return world_count;
}

/* All cells as one number: the sum of cell * (its place + 1); -1 and err when it was refused. */
static inline double digest(ar_source *s, const int64_t *lo, const int64_t *hi)
{
    int64_t n = 1;
    double  sum = 0;

    for (int d = 0; d < s->info.rank; d++)
        n *= hi[d] - lo[d];
    double *cells = calloc((size_t)n + 1, sizeof *cells);
    if (!CHECK(cells && s->info.dtype == ARRAS_F64))
        return -1;
    if (ar_source_read(s, lo, hi, cells, NULL, 2, &err) != ARRAS_OK)
        sum = -1;
    for (int64_t i = 0; i < n && sum >= 0; i++)
        sum += cells[i] * (double)(i + 1);
    free(cells);
    return sum;
}

static inline double digest_all(ar_source *s)
{
    static const int64_t zero[ARRAS_MAX_RANK];

    return digest(s, zero, s->info.shape);
}

#endif
