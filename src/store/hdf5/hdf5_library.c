/* hdf5_library.c -- finds libhdf5 and what is called of it. */
#include "base/base.h"

#if defined ARRAS_HAVE_HDF5
#define AR_HDF5_LOADS
#define H5_USE_110_API
#include "store/hdf5/hdf5_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

ar_hdf5_table ar_hdf5;

static struct {
    pthread_once_t once;
    bool           there;
    char           why[400];
} library = { .once = PTHREAD_ONCE_INIT };

static void find(void *handle, void *entry, const char *name)
{
    void *found = dlsym(handle, name);

    if (!found && library.there)
        snprintf(library.why, sizeof library.why, "it has no %s", name);
    library.there = library.there && found;
    *(void **)entry = found;
}

/* The part for dimension scales needs the other one, so both come together. */
static void load(void)
{
    const char *why;
    void       *handle = ar_library_load(ARRAS_HDF5_LIBRARY, &why);

    library.there = handle != NULL;
    if (!handle) {
        snprintf(library.why, sizeof library.why, "%s", why);
        return;
    }
#define FIND(name) find(handle, &ar_hdf5.name, #name);
    AR_HDF5_SYMBOLS(FIND)
#undef FIND
}

arras_status ar_hdf5_load(arras_error *err)
{
    pthread_once(&library.once, load);
    if (library.there)
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EFORMAT, "HDF5 files need %s, which can't be loaded: %s",
                   ARRAS_HDF5_LIBRARY, library.why);
}
#endif
