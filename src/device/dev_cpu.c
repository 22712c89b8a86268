/* dev_cpu.c -- the CPU as a device: memory of the process, kernels in C. */
#include "build/build.h"
#include "device/device_type.h"

#include <string.h>

typedef void cpu_kernel(void *const *args, int64_t first, int64_t last);

typedef struct {
    ar_build_options build;
    ar_arena         arena; /* the names in the options */
} cpu;

/* ---- Opening --------------------------------------------------------------------------------- */

static bool copy_name(const char **out, cpu *c, const char *name)
{
    if (name)
        *out = ar_arena_copy(&c->arena, name, strlen(name) + 1, 1);
    return !name || *out;
}

static void close_cpu(void *state)
{
    cpu *c = state;

    ar_arena_free(&c->arena);
    ar_free(c);
}

static arras_status open_cpu(void **state, const char *which, const arras_options *options,
                             arras_error *err)
{
    static const char *const libraries[] = { "-lm", NULL };
    cpu                     *c;

    if (which)
        return ar_fail(err, ARRAS_ENAME, "there is no device 'cpu:%.40s': there is one cpu", which);
    c = ar_alloc(1, sizeof *c);
    if (!c)
        return ar_fail_memory(err, sizeof *c);
    c->build.libraries = libraries;
    c->build.no_cache = options->no_cache;
    if (!copy_name(&c->build.compiler, c, options->compiler) ||
        !copy_name(&c->build.cache, c, options->cache)) {
        close_cpu(c);
        return ar_fail_memory(err, sizeof *c);
    }
    *state = c;
    return ARRAS_OK;
}

static arras_status list_cpu(ar_text *out, arras_error *err)
{
    (void)err;
    ar_text_printf(out, "cpu       %d CPUs\n", ar_machine_host()->cpus);
    return ARRAS_OK;
}

static void facts_cpu(ar_device_facts *out, void *state)
{
    (void)state;
    *out = (ar_device_facts){ .name = "the CPU",
                              .dialect = "plain",
                              .units = ar_machine_host()->cpus,
                              .group = 1,
                              .doubles = true };
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Before what is given stands the address of the block that it is in. */
static arras_status alloc_cpu(void **memory, void *state, int64_t bytes, arras_error *err)
{
    size_t   extra = sizeof(void *) + AR_DEVICE_ALIGN;
    bool     fits = (uint64_t)bytes <= PTRDIFF_MAX - extra;
    char    *block = fits ? ar_alloc((size_t)bytes + extra, 1) : NULL;
    uint64_t past;

    (void)state;
    if (!block)
        return ar_fail(err, ARRAS_ENOMEM, "out of memory: no %" PRId64 " bytes to be had", bytes);
    past = ((uintptr_t)block + sizeof(void *)) % AR_DEVICE_ALIGN;
    *memory = block + sizeof(void *) + (AR_DEVICE_ALIGN - past);
    memcpy((char *)*memory - sizeof(void *), &block, sizeof block);
    return ARRAS_OK;
}

static void free_cpu(void *state, void *memory)
{
    void *block;

    (void)state;
    memcpy(&block, (char *)memory - sizeof block, sizeof block);
    ar_free(block);
}

static arras_status copy_in_cpu(void *state, void *to, int64_t offset, const void *from,
                                int64_t bytes, arras_error *err)
{
    (void)state, (void)err;
    memcpy((char *)to + offset, from, (size_t)bytes);
    return ARRAS_OK;
}

static arras_status copy_out_cpu(void *state, void *to, const void *from, int64_t offset,
                                 int64_t bytes, arras_error *err)
{
    (void)state, (void)err;
    memcpy(to, (const char *)from + offset, (size_t)bytes);
    return ARRAS_OK;
}

static arras_status copy_within_cpu(void *state, void *to, int64_t to_offset, const void *from,
                                    int64_t from_offset, int64_t bytes, arras_error *err)
{
    (void)state, (void)err;
    memcpy((char *)to + to_offset, (const char *)from + from_offset, (size_t)bytes);
    return ARRAS_OK;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static arras_status build_cpu(void **module, void *state, const char *source, size_t length,
                              arras_error *err)
{
    const cpu   *c = state;
    ar_module   *built = NULL;
    arras_status status = ar_build_open(&built, &c->build, source, length, err);

    *module = built;
    return status;
}

static void unbuild_cpu(void *state, void *module)
{
    (void)state;
    ar_module_close(module);
}

static void *find_cpu(void *state, void *module, const char *name)
{
    (void)state;
    return ar_module_symbol(module, name);
}

static void bind_cpu(void *state, const ar_device_call *call, int i)
{
    const ar_device_operand *operand = &call->operands[i];

    (void)state;
    call->slots[i] = operand->memory ? (char *)operand->memory + operand->offset : operand->host;
}

static arras_status launch_cpu(void *state, const ar_device_call *call, int64_t first, int64_t last,
                               arras_error *err)
{
    cpu_kernel *kernel;

    (void)state, (void)err;
    memcpy(&kernel, &call->function, sizeof kernel); /* C knows no cast from data to functions */
    kernel(call->slots, first, last);
    return ARRAS_OK;
}

const ar_device_type ar_cpu_type = {
    .name = "cpu",
    .shares_memory = true,
    .divides = true,
    .copy_part = 1 << 18,
    .list = list_cpu,
    .open = open_cpu,
    .close = close_cpu,
    .facts = facts_cpu,
    .alloc = alloc_cpu,
    .free = free_cpu,
    .copy_in = copy_in_cpu,
    .copy_out = copy_out_cpu,
    .copy_within = copy_within_cpu,
    .build = build_cpu,
    .unbuild = unbuild_cpu,
    .find = find_cpu,
    .bind = bind_cpu,
    .launch = launch_cpu,
};
