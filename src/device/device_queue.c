/* device_queue.c -- work for a device in order: through its queues, or at once where it has none.
 */
#include "device/device_type.h"

arras_status ar_queue_open(ar_device_queue *out, arras_device *device, arras_error *err)
{
    *out = (ar_device_queue){ .device = device };
    return device->type->queue_new ? device->type->queue_new(&out->queue, device->state, err)
                                   : ARRAS_OK;
}

void ar_queue_close(ar_device_queue *queue)
{
    if (queue->queue)
        queue->device->type->queue_free(queue->device->state, queue->queue);
    queue->queue = NULL;
}

static arras_status do_now(const arras_device *device, const ar_device_work *work, arras_error *err)
{
    const ar_device_type    *type = device->type;
    const ar_device_operand *to = &work->to, *from = &work->from;

    switch (work->kind) {
    case AR_WORK_COPY_IN:
        return type->copy_in(device->state, to->memory, to->offset, from->host, to->bytes, err);
    case AR_WORK_COPY_OUT:
        return type->copy_out(device->state, to->host, from->memory, from->offset, to->bytes, err);
    case AR_WORK_COPY:
        return type->copy_within(device->state, to->memory, to->offset, from->memory, from->offset,
                                 to->bytes, err);
    case AR_WORK_KERNEL: break;
    }
    for (int i = 0; i < work->call.nargs && type->bind; i++)
        type->bind(device->state, &work->call, i);
    return type->launch(device->state, &work->call, 0, work->items, err);
}

arras_status ar_queue_add(const ar_device_queue *queue, const ar_device_work *work,
                          arras_error *err)
{
    const arras_device *device = queue->device;

    return queue->queue ? device->type->enqueue(device->state, queue->queue, work, err)
                        : do_now(device, work, err);
}

arras_status ar_queue_wait(const ar_device_queue *queue, arras_error *err)
{
    const arras_device *device = queue->device;

    return queue->queue ? device->type->wait(device->state, queue->queue, err) : ARRAS_OK;
}

arras_status ar_queue_pass(const ar_device_queue *queue, int64_t n, const ar_device_work *works,
                           arras_error *err)
{
    const arras_device *device = queue->device;
    arras_status        status = ARRAS_OK, waited;

    if (queue->queue && device->type->pass)
        return device->type->pass(device->state, queue->queue, n, works, err);
    for (int64_t i = 0; i < n && status == ARRAS_OK; i++)
        status = ar_queue_add(queue, &works[i], err);
    waited = ar_queue_wait(queue, status == ARRAS_OK ? err : NULL);
    return status == ARRAS_OK ? waited : status;
}
