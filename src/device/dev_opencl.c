/* dev_opencl.c -- OpenCL devices: memory, programs, queues of commands that run in order. */
#include "device/device_type.h"
#include "device/dl_opencl.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 64, MOST_DEVICES = 64, CODE = 48 };

typedef struct {
    const ar_opencl *cl;
    cl_device_id     device;
    cl_context       context;
    cl_command_queue queue; /* of what is waited for at once */
    ar_device_facts  facts;
    size_t           align; /* of arguments within memory, in bytes */
    bool             exact; /* f32 is divided as IEEE 754 says */
} opencl;

static arras_status fail(arras_error *err, arras_status status, const char *what, cl_int code)
{
    char room[CODE];

    return ar_fail(err, status, "%s: %s", what, ar_opencl_error(room, sizeof room, code));
}

/* ---- Which devices there are ----------------------------------------------------------------- */

/* All of all platforms, in order; gives their number. */
static int list_devices(const ar_opencl *cl, cl_device_id *devices, cl_platform_id *of)
{
    cl_platform_id platforms[MOST_DEVICES];
    cl_uint        nplatforms = 0, n;
    int            count = 0;

    if (cl->clGetPlatformIDs(MOST_DEVICES, platforms, &nplatforms) != CL_SUCCESS)
        return 0;
    for (cl_uint p = 0; p < nplatforms && p < MOST_DEVICES && count < MOST_DEVICES; p++) {
        cl_uint room = (cl_uint)(MOST_DEVICES - count);

        if (cl->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, room, devices + count, &n) !=
            CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < n && d < room; d++)
            of[count++] = platforms[p];
    }
    return count;
}

static uint64_t number_of(const ar_opencl *cl, cl_device_id device, cl_uint what, size_t bytes)
{
    uint64_t value = 0; /* the first bytes of it are those of smaller numbers */

    cl->clGetDeviceInfo(device, what, bytes, &value, NULL);
    return value;
}

static void describe(ar_device_facts *facts, const ar_opencl *cl, cl_device_id device,
                     cl_platform_id platform)
{
    char name[100] = "", maker[60] = "";

    cl->clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    cl->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof maker - 1, maker, NULL);
    *facts = (ar_device_facts){
        .dialect = "opencl",
        .units = (int64_t)number_of(cl, device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint)),
        .memory = (int64_t)number_of(cl, device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_bits)),
        .argument_bytes =
            (int64_t)number_of(cl, device, CL_DEVICE_MAX_PARAMETER_SIZE, sizeof(size_t)),
        .doubles = number_of(cl, device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_bits)) != 0,
        .group = GROUP,
    };
    ar_snprintf(facts->name, sizeof facts->name, "%s (%s)", name, maker);
}

static arras_status load(const ar_opencl **cl, arras_error *err)
{
    const char *why;

    *cl = ar_opencl_load(&why);
    return *cl ? ARRAS_OK : ar_fail(err, ARRAS_EIO, "device 'opencl': %s", why);
}

static arras_status list_opencl(ar_text *out, arras_error *err)
{
    cl_device_id     devices[MOST_DEVICES];
    cl_platform_id   platforms[MOST_DEVICES];
    const ar_opencl *cl;
    arras_status     status = load(&cl, err);
    int              count = status ? 0 : list_devices(cl, devices, platforms);

    if (status == ARRAS_OK && count == 0)
        return ar_fail(err, ARRAS_EIO,
                       "device 'opencl': there is an OpenCL library, but no device");
    for (int i = 0; i < count; i++) {
        ar_device_facts facts;

        describe(&facts, cl, devices[i], platforms[i]);
        ar_text_printf(out, "opencl:%d  %s, %" PRId64 " units, %" PRId64 " MB%s\n", i, facts.name,
                       facts.units, facts.memory >> 20, facts.doubles ? "" : ", no f64");
    }
    return status;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void close_opencl(void *state)
{
    opencl *o = state;

    if (o->queue)
        o->cl->clReleaseCommandQueue(o->queue);
    if (o->context)
        o->cl->clReleaseContext(o->context);
    ar_free(o);
}

static arras_status make_queue(cl_command_queue *out, const opencl *o, arras_error *err)
{
    cl_int code;

    *out = o->cl->clCreateCommandQueue(o->context, o->device, 0, &code);
    return *out ? ARRAS_OK : fail(err, ARRAS_EIO, "a queue of the OpenCL device", code);
}

static arras_status open_context(opencl *o, arras_error *err)
{
    cl_bits single = number_of(o->cl, o->device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof single);
    cl_int  code;

    o->align = number_of(o->cl, o->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(cl_uint)) / 8;
    o->exact = single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    o->context = o->cl->clCreateContext(NULL, 1, &o->device, NULL, NULL, &code);
    if (!o->context)
        return fail(err, ARRAS_EIO, "the OpenCL device does not open", code);
    return make_queue(&o->queue, o, err);
}

static arras_status choose(opencl *o, const char *which, arras_error *err)
{
    cl_device_id   devices[MOST_DEVICES];
    cl_platform_id platforms[MOST_DEVICES];
    int            count = list_devices(o->cl, devices, platforms);
    char          *end = NULL;
    long           number = which ? strtol(which, &end, 10) : 0;

    if (count == 0)
        return ar_fail(err, ARRAS_EIO,
                       "device 'opencl': there is an OpenCL library, but no device; "
                       "install a driver, for CPUs pocl-opencl-icd");
    if ((which && (!*which || *end)) || number < 0 || number >= count)
        return ar_fail(err, ARRAS_ENAME,
                       "there is no device 'opencl:%.40s': they are opencl:0 to "
                       "opencl:%d",
                       which, count - 1);
    o->device = devices[number];
    describe(&o->facts, o->cl, o->device, platforms[number]);
    return ARRAS_OK;
}

static arras_status open_opencl(void **state, const char *which, const arras_options *options,
                                arras_error *err)
{
    opencl      *o = ar_alloc(1, sizeof *o);
    arras_status status;

    (void)options;
    if (!o)
        return ar_fail_memory(err, sizeof *o);
    status = load(&o->cl, err);
    if (status == ARRAS_OK)
        status = choose(o, which, err);
    if (status == ARRAS_OK)
        status = open_context(o, err);
    if (status == ARRAS_OK)
        *state = o;
    else
        close_opencl(o);
    return status;
}

static void facts_of(ar_device_facts *out, void *state) { *out = ((opencl *)state)->facts; }

/* ---- Memory ---------------------------------------------------------------------------------- */

static arras_status alloc_opencl(void **memory, void *state, int64_t bytes, arras_error *err)
{
    static const char zero;
    opencl           *o = state;
    cl_int            code;
    cl_mem made = o->cl->clCreateBuffer(o->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &code);

    if (made)
        code =
            o->cl->clEnqueueFillBuffer(o->queue, made, &zero, 1, 0, (size_t)bytes, 0, NULL, NULL);
    if (made && code == CL_SUCCESS)
        code = o->cl->clFinish(o->queue);
    if (made && code == CL_SUCCESS) {
        *memory = made;
        return ARRAS_OK;
    }
    if (made)
        o->cl->clReleaseMemObject(made);
    return ar_fail(err, ARRAS_ENOMEM,
                   "out of memory on %s: no %" PRId64 " bytes to be had (OpenCL error %d)",
                   o->facts.name, bytes, (int)code);
}

static void free_opencl(void *state, void *memory)
{
    ((opencl *)state)->cl->clReleaseMemObject(memory);
}

/* Commands about no bytes would be errors. */
static cl_int write_memory(const opencl *o, cl_command_queue queue, bool wait,
                           const ar_device_operand *to, const void *from)
{
    if (to->bytes == 0)
        return CL_SUCCESS;
    return o->cl->clEnqueueWriteBuffer(queue, to->memory, wait, (size_t)to->offset,
                                       (size_t)to->bytes, from, 0, NULL, NULL);
}

static cl_int read_memory(const opencl *o, cl_command_queue queue, bool wait, void *to,
                          const ar_device_operand *from)
{
    if (from->bytes == 0)
        return CL_SUCCESS;
    return o->cl->clEnqueueReadBuffer(queue, from->memory, wait, (size_t)from->offset,
                                      (size_t)from->bytes, to, 0, NULL, NULL);
}

static cl_int copy_memory(const opencl *o, cl_command_queue queue, const ar_device_operand *to,
                          const ar_device_operand *from)
{
    if (to->bytes == 0)
        return CL_SUCCESS;
    return o->cl->clEnqueueCopyBuffer(queue, from->memory, to->memory, (size_t)from->offset,
                                      (size_t)to->offset, (size_t)to->bytes, 0, NULL, NULL);
}

static arras_status done(cl_int code, const char *what, arras_error *err)
{
    return code == CL_SUCCESS ? ARRAS_OK : fail(err, ARRAS_EIO, what, code);
}

static arras_status copy_in_opencl(void *state, void *to, int64_t offset, const void *from,
                                   int64_t bytes, arras_error *err)
{
    const opencl           *o = state;
    const ar_device_operand place = { .memory = to, .offset = offset, .bytes = bytes };

    return done(write_memory(o, o->queue, true, &place, from), "a copy to the device", err);
}

static arras_status copy_out_opencl(void *state, void *to, const void *from, int64_t offset,
                                    int64_t bytes, arras_error *err)
{
    const opencl           *o = state;
    const ar_device_operand place = { .memory = (void *)(uintptr_t)from,
                                      .offset = offset,
                                      .bytes = bytes };

    return done(read_memory(o, o->queue, true, to, &place), "a copy from the device", err);
}

static arras_status copy_within_opencl(void *state, void *to, int64_t to_offset, const void *from,
                                       int64_t from_offset, int64_t bytes, arras_error *err)
{
    const opencl           *o = state;
    const ar_device_operand there = { .memory = to, .offset = to_offset, .bytes = bytes };
    const ar_device_operand here = { .memory = (void *)(uintptr_t)from,
                                     .offset = from_offset,
                                     .bytes = bytes };
    cl_int                  code = copy_memory(o, o->queue, &there, &here);

    if (code == CL_SUCCESS)
        code = o->cl->clFinish(o->queue);
    return done(code, "a copy on the device", err);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Arguments are set one by one, by one thread at a time. */
typedef struct function {
    cl_kernel        kernel;
    pthread_mutex_t  lock;
    struct function *next;
} function;

typedef struct {
    cl_program      program;
    pthread_mutex_t lock;
    function       *functions; /* that were asked for */
} module;

/* The first line of the log that names an error, else its first line. */
static arras_status fail_build(const opencl *o, cl_program program, arras_error *err)
{
    enum { ROOM = 1 << 14 };
    char       *log = ar_alloc(ROOM, 1);
    const char *line = log ? log : "";
    size_t      length;

    if (log)
        o->cl->clGetProgramBuildInfo(program, o->device, CL_PROGRAM_BUILD_LOG, ROOM - 1, log, NULL);
    if (log && strstr(log, "error:"))
        line = strstr(log, "error:");
    length = strcspn(line, "\n");
    ar_fail(err, ARRAS_EBUILD, "the OpenCL compiler of %s refuses a kernel: %.*s", o->facts.name,
            (int)ar_min64((int64_t)length, 300), line);
    ar_free(log);
    return ARRAS_EBUILD;
}

static void unbuild_opencl(void *state, void *built)
{
    const ar_opencl *cl = ((opencl *)state)->cl;
    module          *m = built;

    while (m->functions) {
        function *next = m->functions->next;

        cl->clReleaseKernel(m->functions->kernel);
        pthread_mutex_destroy(&m->functions->lock);
        ar_free(m->functions);
        m->functions = next;
    }
    if (m->program)
        cl->clReleaseProgram(m->program);
    pthread_mutex_destroy(&m->lock);
    ar_free(m);
}

static arras_status build_opencl(void **out, void *state, const char *source, size_t length,
                                 arras_error *err)
{
    opencl      *o = state;
    const char  *flags = o->exact ? "-w -cl-fp32-correctly-rounded-divide-sqrt" : "-w";
    module      *m = ar_alloc(1, sizeof *m);
    arras_status status = ARRAS_OK;
    cl_int       code;

    if (!m)
        return ar_fail_memory(err, sizeof *m);
    pthread_mutex_init(&m->lock, NULL);
    m->program = o->cl->clCreateProgramWithSource(o->context, 1, &source, &length, &code);
    if (!m->program)
        status = fail(err, ARRAS_EBUILD, "a program for the device", code);
    else if (o->cl->clBuildProgram(m->program, 1, &o->device, flags, NULL, NULL) != CL_SUCCESS)
        status = fail_build(o, m->program, err);
    if (status == ARRAS_OK)
        *out = m;
    else
        unbuild_opencl(o, m);
    return status;
}

static void *find_opencl(void *state, void *built, const char *name)
{
    const ar_opencl *cl = ((opencl *)state)->cl;
    module          *m = built;
    function        *f = ar_alloc(1, sizeof *f);
    cl_int           code;

    if (f)
        f->kernel = cl->clCreateKernel(m->program, name, &code);
    if (!f || !f->kernel) {
        ar_free(f);
        return NULL;
    }
    pthread_mutex_init(&f->lock, NULL);
    pthread_mutex_lock(&m->lock);
    f->next = m->functions;
    m->functions = f;
    pthread_mutex_unlock(&m->lock);
    return f;
}

/* Memory from an offset on is a piece of its own, for as long as the command needs it. */
static arras_status set_argument(const opencl *o, cl_kernel kernel, int i,
                                 const ar_device_operand *operand, arras_error *err)
{
    cl_region region = { (size_t)operand->offset, (size_t)operand->bytes };
    cl_mem    memory = operand->memory;
    cl_int    code = CL_SUCCESS;

    if (!memory)
        return done(
            o->cl->clSetKernelArg(kernel, (cl_uint)i, (size_t)operand->bytes, operand->host),
            "an argument of a kernel", err);
    if (region.origin > 0 && o->align > 0 && region.origin % o->align != 0)
        return ar_fail(err, ARRAS_EINVAL,
                       "argument %d of a kernel starts %" PRId64
                       " bytes into its memory; %s needs multiples of %d",
                       i, operand->offset, o->facts.name, (int)o->align);
    if (region.origin > 0)
        memory = o->cl->clCreateSubBuffer(memory, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                          &region, &code);
    if (code == CL_SUCCESS)
        code = o->cl->clSetKernelArg(kernel, (cl_uint)i, sizeof memory, &memory);
    if (region.origin > 0 && memory)
        o->cl->clReleaseMemObject(memory); /* the kernel keeps it */
    return done(code, "an argument of a kernel", err);
}

/* Groups of one size, where that is possible: some compilers make a kernel anew for each other. */
static arras_status enqueue_kernel(const opencl *o, cl_command_queue queue, cl_event *event,
                                   const ar_device_call *call, int64_t first, int64_t last,
                                   arras_error *err)
{
    function    *f = call->function;
    const size_t from = (size_t)first, items = (size_t)(last - first), group = GROUP;
    arras_status status = ARRAS_OK;

    if (items == 0)
        return ARRAS_OK;
    pthread_mutex_lock(&f->lock);
    for (int i = 0; i < call->nargs && status == ARRAS_OK; i++)
        status = set_argument(o, f->kernel, i, &call->operands[i], err);
    if (status == ARRAS_OK)
        status = done(o->cl->clEnqueueNDRangeKernel(queue, f->kernel, 1, &from, &items,
                                                    items % group ? NULL : &group, 0, NULL, event),
                      "a kernel on the device", err);
    pthread_mutex_unlock(&f->lock);
    return status;
}

static arras_status launch_opencl(void *state, const ar_device_call *call, int64_t first,
                                  int64_t last, arras_error *err)
{
    const opencl *o = state;
    cl_event      event = NULL;
    arras_status  status = enqueue_kernel(o, o->queue, &event, call, first, last, err);

    if (status == ARRAS_OK && event)
        status = done(o->cl->clWaitForEvents(1, &event), "a kernel on the device", err);
    if (event)
        o->cl->clReleaseEvent(event);
    return status;
}

/* ---- Queues ---------------------------------------------------------------------------------- */

static arras_status queue_new(void **out, void *state, arras_error *err)
{
    cl_command_queue queue = NULL;
    arras_status     status = make_queue(&queue, state, err);

    *out = queue;
    return status;
}

static void queue_free(void *state, void *queue)
{
    const ar_opencl *cl = ((opencl *)state)->cl;

    cl->clFinish(queue);
    cl->clReleaseCommandQueue(queue);
}

static arras_status enqueue(void *state, void *queue, const ar_device_work *work, arras_error *err)
{
    const opencl *o = state;

    switch (work->kind) {
    case AR_WORK_COPY_IN:
        return done(write_memory(o, queue, false, &work->to, work->from.host),
                    "a copy to the device", err);
    case AR_WORK_COPY_OUT:
        return done(read_memory(o, queue, false, work->to.host, &work->from),
                    "a copy from the device", err);
    case AR_WORK_COPY:
        return done(copy_memory(o, queue, &work->to, &work->from), "a copy on the device", err);
    case AR_WORK_KERNEL: break;
    }
    return enqueue_kernel(o, queue, NULL, &work->call, 0, work->items, err);
}

static arras_status wait_opencl(void *state, void *queue, arras_error *err)
{
    return done(((opencl *)state)->cl->clFinish(queue), "work on the device", err);
}

const ar_device_type ar_opencl_type = {
    .name = "opencl",
    .list = list_opencl,
    .open = open_opencl,
    .close = close_opencl,
    .facts = facts_of,
    .alloc = alloc_opencl,
    .free = free_opencl,
    .copy_in = copy_in_opencl,
    .copy_out = copy_out_opencl,
    .copy_within = copy_within_opencl,
    .build = build_opencl,
    .unbuild = unbuild_opencl,
    .find = find_opencl,
    .launch = launch_opencl,
    .queue_new = queue_new,
    .queue_free = queue_free,
    .enqueue = enqueue,
    .wait = wait_opencl,
};
