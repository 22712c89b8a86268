/* dl_opencl.h -- libOpenCL, loaded when it is first needed: what dev_opencl.c uses of OpenCL 1.2,
 * declared here, so that no header of others is needed.  Internal to device/. */
#ifndef AR_DEVICE_DL_OPENCL_H
#define AR_DEVICE_DL_OPENCL_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t  cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_bits;

typedef struct _cl_platform_id   *cl_platform_id;
typedef struct _cl_device_id     *cl_device_id;
typedef struct _cl_context       *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem           *cl_mem;
typedef struct _cl_program       *cl_program;
typedef struct _cl_kernel        *cl_kernel;
typedef struct _cl_event         *cl_event;

enum {
    CL_SUCCESS = 0,
    CL_DEVICE_NOT_FOUND = -1,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_OUT_OF_RESOURCES = -5,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_PLATFORM_NOT_FOUND = -1001,

    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_PARAMETER_SIZE = 0x1017,
    CL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019, /* in bits */
    CL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    CL_DEVICE_NAME = 0x102B,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_BUFFER_CREATE_TYPE_REGION = 0x1220,

    CL_FP_DENORM = 1 << 0,
    CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 7,
    CL_MEM_READ_WRITE = 1 << 0
};

#define CL_DEVICE_TYPE_ALL 0xFFFFFFFFu

typedef struct {
    size_t origin, size;
} cl_region;

/* X(name, result, arguments) */
#define AR_OPENCL_FUNCTIONS(X)                                                                     \
    X(clGetPlatformIDs, cl_int, (cl_uint, cl_platform_id *, cl_uint *))                            \
    X(clGetPlatformInfo, cl_int, (cl_platform_id, cl_uint, size_t, void *, size_t *))              \
    X(clGetDeviceIDs, cl_int, (cl_platform_id, cl_bits, cl_uint, cl_device_id *, cl_uint *))       \
    X(clGetDeviceInfo, cl_int, (cl_device_id, cl_uint, size_t, void *, size_t *))                  \
    X(clCreateContext, cl_context,                                                                 \
      (const intptr_t *, cl_uint, const cl_device_id *,                                            \
       void (*)(const char *, const void *, size_t, void *), void *, cl_int *))                    \
    X(clReleaseContext, cl_int, (cl_context))                                                      \
    X(clCreateCommandQueue, cl_command_queue, (cl_context, cl_device_id, cl_bits, cl_int *))       \
    X(clReleaseCommandQueue, cl_int, (cl_command_queue))                                           \
    X(clCreateBuffer, cl_mem, (cl_context, cl_bits, size_t, void *, cl_int *))                     \
    X(clCreateSubBuffer, cl_mem, (cl_mem, cl_bits, cl_uint, const void *, cl_int *))               \
    X(clReleaseMemObject, cl_int, (cl_mem))                                                        \
    X(clEnqueueReadBuffer, cl_int,                                                                 \
      (cl_command_queue, cl_mem, cl_uint, size_t, size_t, void *, cl_uint, const cl_event *,       \
       cl_event *))                                                                                \
    X(clEnqueueWriteBuffer, cl_int,                                                                \
      (cl_command_queue, cl_mem, cl_uint, size_t, size_t, const void *, cl_uint, const cl_event *, \
       cl_event *))                                                                                \
    X(clEnqueueCopyBuffer, cl_int,                                                                 \
      (cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event *,        \
       cl_event *))                                                                                \
    X(clEnqueueFillBuffer, cl_int,                                                                 \
      (cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint, const cl_event *,  \
       cl_event *))                                                                                \
    X(clCreateProgramWithSource, cl_program,                                                       \
      (cl_context, cl_uint, const char **, const size_t *, cl_int *))                              \
    X(clBuildProgram, cl_int,                                                                      \
      (cl_program, cl_uint, const cl_device_id *, const char *, void (*)(cl_program, void *),      \
       void *))                                                                                    \
    X(clGetProgramBuildInfo, cl_int, (cl_program, cl_device_id, cl_uint, size_t, void *, size_t *))\
    X(clReleaseProgram, cl_int, (cl_program))                                                      \
    X(clCreateKernel, cl_kernel, (cl_program, const char *, cl_int *))                             \
    X(clReleaseKernel, cl_int, (cl_kernel))                                                        \
    X(clSetKernelArg, cl_int, (cl_kernel, cl_uint, size_t, const void *))                          \
    X(clEnqueueNDRangeKernel, cl_int,                                                              \
      (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *,       \
       cl_uint, const cl_event *, cl_event *))                                                     \
    X(clWaitForEvents, cl_int, (cl_uint, const cl_event *))                                        \
    X(clReleaseEvent, cl_int, (cl_event))                                                          \
    X(clFinish, cl_int, (cl_command_queue))

typedef struct {
#define AR_OPENCL_MEMBER(name, result, arguments) result (*name) arguments;
    AR_OPENCL_FUNCTIONS(AR_OPENCL_MEMBER)
#undef AR_OPENCL_MEMBER
} ar_opencl;

/* NULL, and one line of why it is not to be had.  ARRAS_OPENCL names another library. */
const ar_opencl *ar_opencl_load(const char **why);
/* "out of memory on the device", or the number. */
const char *ar_opencl_error(char *room, size_t size, cl_int code);

#endif
