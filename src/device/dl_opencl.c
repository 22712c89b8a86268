/* dl_opencl.c -- finds libOpenCL and the functions of it that are used; it is never unloaded. */
#include "device/dl_opencl.h"

#include "base/base.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static ar_opencl      functions;
static bool           there;
static char           reason[300];

/* dlsym gives a data pointer; POSIX lets it hold a function. */
static bool find(void *function, void *library, const char *name)
{
    void *symbol = dlsym(library, name);

    memcpy(function, &symbol, sizeof symbol);
    if (!symbol)
        ar_snprintf(reason, sizeof reason, "the OpenCL library has no %s: version 1.2 is needed",
                    name);
    return symbol != NULL;
}

static bool find_all(void *library)
{
#define FIND(name, result, arguments) &&find(&functions.name, library, #name)
    return true AR_OPENCL_FUNCTIONS(FIND);
#undef FIND
}

static void load(void)
{
    const char *chosen = getenv("ARRAS_OPENCL"), *why = NULL;
    const char *name = chosen && *chosen ? chosen : "libOpenCL.so.1";
    void       *library = ar_library_load(name, &why);

    if (library)
        there = find_all(library);
    else
        ar_snprintf(reason, sizeof reason, "no OpenCL library (%.200s)", why);
}

const ar_opencl *ar_opencl_load(const char **why)
{
    pthread_once(&once, load);
    *why = there ? NULL : reason;
    return there ? &functions : NULL;
}

const char *ar_opencl_error(char *room, size_t size, cl_int code)
{
    switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES: return "out of memory on the device";
    case CL_OUT_OF_HOST_MEMORY: return "out of memory";
    default: ar_snprintf(room, size, "OpenCL error %d", (int)code); return room;
    }
}
