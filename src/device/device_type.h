/* device_type.h -- what a device is: a table of functions that allocate, copy, compile and launch,
 * and the objects around it that graphs of tasks are made of.
 *
 * Devices, blocks and kernels are counted: each `keep` is undone by one `drop`, and what was made
 * on a device keeps it open.  Internal to device/. */
#ifndef AR_DEVICE_TYPE_H
#define AR_DEVICE_TYPE_H

#include "pool/pool.h"

#include <arras/taskgraph.h>
#include <stdatomic.h>

/* ---- What a device has to know how to do ----------------------------------------------------- */

/* An argument as the device sees it. */
typedef struct {
    void   *memory; /* what alloc() gave; NULL: a value */
    int64_t offset, bytes;
    void   *host; /* the value; of a copy: memory of the host */
} ar_device_operand;

typedef struct {
    void             *function; /* what find() gave */
    int               nargs;
    const ar_device_operand *operands;
    void            **slots; /* [nargs], the device's own, filled by bind() */
} ar_device_call;

/* What a device is, for who makes kernels for it. */
typedef struct {
    char        name[160];      /* for people */
    const char *dialect;        /* of its kernels: ar_dialect_find() */
    int64_t     units;          /* that compute at the same time */
    int64_t     memory;         /* bytes; 0: that of the host */
    int64_t     argument_bytes; /* of all arguments of a kernel; 0: any number */
    int64_t     group;          /* it is best if items are a multiple of it */
    bool        doubles;        /* it has f64 */
} ar_device_facts;

typedef enum { AR_WORK_COPY_IN, AR_WORK_COPY_OUT, AR_WORK_COPY, AR_WORK_KERNEL } ar_work_kind;

/* Something to do, one after the other.  Copies: `to.bytes` bytes, of both sides the same; the side
 * that is memory of the host has it in `host`. */
typedef struct {
    ar_work_kind      kind;
    ar_device_operand to, from;
    ar_device_call    call;
    int64_t           items; /* of the call */
} ar_device_work;

/* `state` is what open() gave.  Every function may be called by several threads at once. */
typedef struct ar_device_type {
    const char *name;
    bool        shares_memory; /* slots are addresses of this process: native kernels can run */
    bool        divides;       /* launch() takes parts of the items of a call, at once */
    int64_t     copy_part;     /* bytes of a copy that are worth a call of their own; 0: all */

    /* A line for each device that can be opened. */
    arras_status (*list)(ar_text *out, arras_error *err);
    /* which: what stands after "NAME:"; NULL: nothing. */
    arras_status (*open)(void **state, const char *which, const arras_options *options,
                         arras_error *err);
    void (*close)(void *state);
    void (*facts)(ar_device_facts *out, void *state);

    /* Zeros, aligned to AR_DEVICE_ALIGN. */
    arras_status (*alloc)(void **memory, void *state, int64_t bytes, arras_error *err);
    void (*free)(void *state, void *memory);
    arras_status (*copy_in)(void *state, void *to, int64_t offset, const void *from, int64_t bytes,
                            arras_error *err);
    arras_status (*copy_out)(void *state, void *to, const void *from, int64_t offset, int64_t bytes,
                             arras_error *err);
    arras_status (*copy_within)(void *state, void *to, int64_t to_offset, const void *from,
                                int64_t from_offset, int64_t bytes, arras_error *err);

    /* All three are NULL where there is nothing that compiles. */
    arras_status (*build)(void **module, void *state, const char *source, size_t length,
                          arras_error *err);
    void (*unbuild)(void *state, void *module);
    void *(*find)(void *state, void *module, const char *name); /* NULL: no such function */

    /* Argument i of a call changed.  NULL: launch() looks at the operands itself. */
    void (*bind)(void *state, const ar_device_call *call, int i);
    arras_status (*launch)(void *state, const ar_device_call *call, int64_t first, int64_t last,
                           arras_error *err);

    /* Queues: what is enqueued is done in order, beside the host; memory of the host must stay
     * until the wait.  All are NULL where everything is done when its function has returned. */
    arras_status (*queue_new)(void **queue, void *state, arras_error *err);
    void (*queue_free)(void *state, void *queue);
    arras_status (*enqueue)(void *state, void *queue, const ar_device_work *work, arras_error *err);
    arras_status (*wait)(void *state, void *queue, arras_error *err);
    /* A whole pass and the wait for it; NULL: its works are enqueued one by one. */
    arras_status (*pass)(void *state, void *queue, int64_t n, const ar_device_work *works,
                         arras_error *err);
} ar_device_type;

enum { AR_DEVICE_ALIGN = 64 };

extern const ar_device_type ar_cpu_type, ar_opencl_type; /* dev_NAME.c */

/* ---- Devices (device.c) ---------------------------------------------------------------------- */

struct arras_device {
    const ar_device_type *type;
    void                 *state;
    ar_pool              *pool; /* runs the tasks */
    atomic_int            references;
};

arras_status ar_device_open(arras_device **out, const char *name, const arras_options *options,
                            arras_error *err);
void         ar_device_keep(arras_device *device);
void         ar_device_drop(arras_device *device);

/* A line for each device that can be opened, or for why it cannot. */
void ar_devices_print(ar_text *out);
void ar_device_facts_of(ar_device_facts *out, const arras_device *device);

/* ---- Queues (device_queue.c) ----------------------------------------------------------------- */

/* Of any device: where it has none, all is done at once. */
typedef struct {
    arras_device *device;
    void         *queue; /* the device's; NULL: it has none */
} ar_device_queue;

arras_status ar_queue_open(ar_device_queue *out, arras_device *device, arras_error *err);
void         ar_queue_close(ar_device_queue *queue);
arras_status ar_queue_add(const ar_device_queue *queue, const ar_device_work *work,
                          arras_error *err);
arras_status ar_queue_wait(const ar_device_queue *queue, arras_error *err);
/* All of them, and waits, whatever the status. */
arras_status ar_queue_pass(const ar_device_queue *queue, int64_t n, const ar_device_work *works,
                           arras_error *err);

struct arras_block {
    arras_device *device;
    void         *memory;
    int64_t       bytes;
    atomic_int    references;
};

arras_status ar_block_new(arras_block **out, arras_device *device, int64_t bytes, arras_error *err);
void         ar_block_keep(arras_block *block); /* NULL is fine, also for drop */
void         ar_block_drop(arras_block *block);

struct arras_kernel {
    arras_device *device;
    void         *module, *function; /* of the device; NULL: native */
    arras_native *native;
    void         *context;
    char         *name;
    atomic_int    references;
};

arras_status ar_kernel_build(arras_kernel **out, arras_device *device, const char *source,
                             size_t length, const char *entry, arras_error *err);
arras_status ar_kernel_native(arras_kernel **out, arras_device *device, const char *name,
                              arras_native *function, void *context, arras_error *err);
void         ar_kernel_keep(arras_kernel *kernel); /* NULL is fine, also for drop */
void         ar_kernel_drop(arras_kernel *kernel);

#endif
