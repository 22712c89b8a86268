/* device.c -- devices by name; their blocks and kernels, counted. */
#include "device/device_type.h"

#include <string.h>

static const ar_device_type *const types[] = { &ar_cpu_type, &ar_opencl_type };

/* ---- Counting -------------------------------------------------------------------------------- */

/* relaxed: who keeps a thing has it already */
static void keep(atomic_int *references)
{
    atomic_fetch_add_explicit(references, 1, memory_order_relaxed);
}

/* True for the last one, which sees what all others have done. */
static bool drop(atomic_int *references)
{
    return atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel) == 1;
}

/* ---- Devices --------------------------------------------------------------------------------- */

/* "NAME" or "NAME:which". */
static const ar_device_type *find_type(const char *name, const char **which)
{
    size_t length = strcspn(name, ":");

    *which = name[length] ? name + length + 1 : NULL;
    for (size_t i = 0; i < AR_COUNT(types); i++)
        if (strlen(types[i]->name) == length && strncmp(types[i]->name, name, length) == 0)
            return types[i];
    return NULL;
}

void ar_devices_print(ar_text *out)
{
    for (size_t i = 0; i < AR_COUNT(types); i++) {
        arras_error err = { ARRAS_OK, "" };

        if (types[i]->list(out, &err) != ARRAS_OK)
            ar_text_printf(out, "%s\n", err.text);
    }
}

void ar_device_facts_of(ar_device_facts *out, const arras_device *device)
{
    device->type->facts(out, device->state);
}

static arras_status open_parts(arras_device *device, const char *which,
                               const arras_options *options, arras_error *err)
{
    arras_status status = ar_pool_shared(&device->pool, options->threads, err);

    if (status)
        return status;
    status = device->type->open(&device->state, which, options, err);
    if (status)
        ar_pool_free(device->pool);
    return status;
}

arras_status ar_device_open(arras_device **out, const char *name, const arras_options *options,
                            arras_error *err)
{
    static const arras_options defaults;
    const char                *which = NULL;
    const ar_device_type      *type = name ? find_type(name, &which) : &ar_cpu_type;
    arras_device              *device;
    arras_status               status;

    if (!type)
        return ar_fail(err, ARRAS_ENAME,
                       "there is no device '%.100s': there are 'cpu' and 'opencl'", name);
    device = ar_alloc(1, sizeof *device);
    if (!device)
        return ar_fail_memory(err, sizeof *device);
    device->type = type;
    atomic_init(&device->references, 1);
    status = open_parts(device, which, options ? options : &defaults, err);
    if (status) {
        ar_free(device);
        return status;
    }
    *out = device;
    return ARRAS_OK;
}

void ar_device_keep(arras_device *device) { keep(&device->references); }

void ar_device_drop(arras_device *device)
{
    if (!drop(&device->references))
        return;
    device->type->close(device->state);
    ar_pool_free(device->pool);
    ar_free(device);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

arras_status ar_block_new(arras_block **out, arras_device *device, int64_t bytes, arras_error *err)
{
    arras_block *block;
    arras_status status;

    if (bytes < 1)
        return ar_fail(err, ARRAS_EINVAL, "a block of %" PRId64 " bytes: give at least 1", bytes);
    block = ar_alloc(1, sizeof *block);
    if (!block)
        return ar_fail_memory(err, sizeof *block);
    status = device->type->alloc(&block->memory, device->state, bytes, err);
    if (status) {
        ar_free(block);
        return status;
    }
    ar_device_keep(device);
    block->device = device;
    block->bytes = bytes;
    atomic_init(&block->references, 1);
    *out = block;
    return ARRAS_OK;
}

void ar_block_keep(arras_block *block)
{
    if (block)
        keep(&block->references);
}

void ar_block_drop(arras_block *block)
{
    if (!block || !drop(&block->references))
        return;
    block->device->type->free(block->device->state, block->memory);
    ar_device_drop(block->device);
    ar_free(block);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* With nothing in it but its name. */
static arras_status new_kernel(arras_kernel **out, arras_device *device, const char *name,
                               arras_error *err)
{
    size_t        size = strlen(name) + 1;
    arras_kernel *kernel = ar_alloc(1, sizeof *kernel);
    char         *copy = ar_alloc(1, size);

    if (!kernel || !copy) {
        ar_free(kernel);
        ar_free(copy);
        return ar_fail_memory(err, sizeof *kernel + size);
    }
    kernel->name = memcpy(copy, name, size);
    kernel->device = device;
    atomic_init(&kernel->references, 1);
    ar_device_keep(device);
    *out = kernel;
    return ARRAS_OK;
}

static arras_status build_function(arras_kernel *kernel, const char *source, size_t length,
                                   arras_error *err)
{
    const ar_device_type *type = kernel->device->type;
    void                 *state = kernel->device->state;
    arras_status          status;

    if (!type->build)
        return ar_fail(err, ARRAS_EINVAL, "device '%s' has no compiler: kernel %s is not built",
                       type->name, kernel->name);
    status = type->build(&kernel->module, state, source, length, err);
    if (status)
        return status;
    kernel->function = type->find(state, kernel->module, kernel->name);
    if (!kernel->function)
        return ar_fail(err, ARRAS_ENAME,
                       "the source has no function '%.200s' that can be seen from outside",
                       kernel->name);
    return ARRAS_OK;
}

arras_status ar_kernel_build(arras_kernel **out, arras_device *device, const char *source,
                             size_t length, const char *entry, arras_error *err)
{
    arras_kernel *kernel = NULL;
    arras_status  status = new_kernel(&kernel, device, entry, err);

    if (status)
        return status;
    status = build_function(kernel, source, length, err);
    if (status) {
        ar_kernel_drop(kernel);
        return status;
    }
    *out = kernel;
    return ARRAS_OK;
}

arras_status ar_kernel_native(arras_kernel **out, arras_device *device, const char *name,
                              arras_native *function, void *context, arras_error *err)
{
    arras_status status;

    if (!device->type->shares_memory)
        return ar_fail(err, ARRAS_EINVAL,
                       "kernel %.200s: device '%s' has memory of its own, where functions of the "
                       "program cannot run",
                       name, device->type->name);
    status = new_kernel(out, device, name, err);
    if (status)
        return status;
    (*out)->native = function;
    (*out)->context = context;
    return ARRAS_OK;
}

void ar_kernel_keep(arras_kernel *kernel)
{
    if (kernel)
        keep(&kernel->references);
}

void ar_kernel_drop(arras_kernel *kernel)
{
    if (!kernel || !drop(&kernel->references))
        return;
    if (kernel->module)
        kernel->device->type->unbuild(kernel->device->state, kernel->module);
    ar_device_drop(kernel->device);
    ar_free(kernel->name);
    ar_free(kernel);
}
