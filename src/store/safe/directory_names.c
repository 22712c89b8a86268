/* directory_names.c -- the names in a directory, in natural order. */
#include "store/safe/store_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where both have a number, the longer one (without zeros in front) is greater. */
static int compare_numbers(const char **a, const char **b)
{
    size_t m, n;

    *a += strspn(*a, "0");
    *b += strspn(*b, "0");
    m = strspn(*a, "0123456789");
    n = strspn(*b, "0123456789");
    int order = m != n ? (m < n ? -1 : 1) : memcmp(*a, *b, n);
    *a += m;
    *b += n;
    return order;
}

static int compare_natural(const void *left, const void *right)
{
    const char *const *names[2] = { left, right };
    const char        *a = *names[0], *b = *names[1];

    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            int order = compare_numbers(&a, &b);

            if (order)
                return order;
        } else if (*a != *b) {
            break;
        } else {
            a++, b++;
        }
    }
    /* x01 and x1 are equal as numbers and still two files. */
    return *a || *b ? (unsigned char)*a - (unsigned char)*b : strcmp(*names[0], *names[1]);
}

static bool add_name(ar_file_names *out, const char *name)
{
    char *copy = ar_arena_copy(&out->arena, name, strlen(name) + 1, 1);

    if (!copy || !ar_grow(&out->names, &out->capacity, out->n, sizeof *out->names))
        return false;
    out->names[out->n++] = copy;
    return true;
}

static arras_status add_names(ar_file_names *out, DIR *entries, const char *name, arras_error *err)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(entries);

        if (!entry && errno)
            return ar_fail(err, ARRAS_EIO, "cannot read %s: %s", name, strerror(errno));
        if (!entry)
            return ARRAS_OK;
        if (entry->d_name[0] != '.' && !add_name(out, entry->d_name))
            return ar_fail_memory(err, strlen(entry->d_name) + 1);
    }
}

arras_status ar_file_names_read(ar_file_names *out, int directory, const char *name,
                                arras_error *err)
{
    int           own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR          *entries = own < 0 ? NULL : fdopendir(own);
    ar_file_names names = { 0 };

    if (!entries) {
        int why = errno;

        if (own >= 0)
            close(own);
        return ar_fail(err, ARRAS_EIO, "cannot read %s: %s", name, strerror(why));
    }
    arras_status status = add_names(&names, entries, name, err);
    closedir(entries);
    if (status != ARRAS_OK) {
        ar_file_names_free(&names);
        return status;
    }
    if (names.n > 1)
        qsort(names.names, names.n, sizeof *names.names, compare_natural);
    *out = names;
    return ARRAS_OK;
}

void ar_file_names_free(ar_file_names *names)
{
    ar_free(names->names);
    ar_arena_free(&names->arena);
    *names = (ar_file_names){ 0 };
}
