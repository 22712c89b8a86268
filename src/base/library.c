/* library.c -- libraries that are loaded when they are needed. */
#include "base/base.h"

#include <dlfcn.h>
#include <link.h>

static int find_loader(struct dl_phdr_info *program, size_t size, void *found)
{
    (void)size;
    for (int i = 0; i < program->dlpi_phnum; i++)
        if (program->dlpi_phdr[i].p_type == PT_INTERP)
            *(bool *)found = true;
    return 1; /* the program itself comes first */
}

bool ar_program_is_static(void)
{
    bool found = false;

    dl_iterate_phdr(find_loader, &found);
    return !found;
}

/* A static program has a C library of its own, and any library that is loaded brings the other one,
 * which nobody has started: its tables of letters are at no address, for one. */
void *ar_library_load(const char *name, const char **why)
{
    void *library = NULL;

    if (ar_program_is_static()) {
        *why = "a program that is linked with -static can load no libraries; link it without";
        return NULL;
    }
    library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    *why = library ? NULL : dlerror();
    return library;
}
