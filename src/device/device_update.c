/* device_update.c -- arguments of an executable graph replaced, all of them or none. */
#include "device/device.h"

#include <string.h>

static arras_arg *spare_of(arras_exec *exec, const arras_update *update)
{
    return &exec->spare[exec->all.nodes[update->node].first_arg + update->arg];
}

static arras_status check_target(const arras_exec *exec, const arras_update *update, int number,
                                 arras_error *err)
{
    const ar_device_nodes *all = &exec->all;
    char                   name[AR_NODE_LABEL];

    if (update->node < 0 || update->node >= all->nnodes)
        return ar_fail(err, ARRAS_EINVAL, "update %d is of node %d in a graph of %d nodes", number,
                       update->node, all->nnodes);
    if (update->arg < 0 || update->arg >= all->nodes[update->node].nargs)
        return ar_fail(err, ARRAS_EINVAL, "update %d is of argument %d of %s, which has %d", number,
                       update->arg, ar_device_node_name(name, all, update->node),
                       all->nodes[update->node].nargs);
    return ARRAS_OK;
}

static arras_status check_kind(const arras_exec *exec, const arras_arg *old,
                               const arras_update *update, arras_error *err)
{
    char name[AR_NODE_LABEL];

    if (update->with.kind != old->kind)
        return ar_fail(err, ARRAS_EINVAL, "argument %d of %s is of kind %d and cannot become %d",
                       update->arg, ar_device_node_name(name, &exec->all, update->node),
                       (int)old->kind, (int)update->with.kind);
    if (old->kind == ARRAS_ARG_VALUE && update->with.bytes != old->bytes)
        return ar_fail(err, ARRAS_ESIZE,
                       "argument %d of %s is a value of %" PRId64 " bytes and cannot become one of "
                       "%" PRId64,
                       update->arg, ar_device_node_name(name, &exec->all, update->node), old->bytes,
                       update->with.bytes);
    return ARRAS_OK;
}

/* Values stay where they are until all is known to be right. */
static arras_status prepare(arras_exec *exec, const arras_update *update, int number,
                            arras_error *err)
{
    arras_arg    with = update->with, *spare;
    arras_status status = check_target(exec, update, number, err);

    if (status)
        return status;
    spare = spare_of(exec, update);
    status = check_kind(exec, spare, update, err);
    if (!status)
        status = ar_device_arg_check(&with, &exec->all, &exec->all.nodes[update->node], update->arg,
                                     err);
    if (!status && with.kind != ARRAS_ARG_VALUE)
        *spare = with;
    return status;
}

static bool replace_value(arras_arg *arg, const void *value)
{
    if (memcmp(arg->host, value, (size_t)arg->bytes) == 0)
        return false;
    memcpy(arg->host, value, (size_t)arg->bytes);
    return true;
}

static bool replace_place(arras_arg *arg, const arras_arg *with)
{
    if (ar_device_arg_same(arg, with))
        return false;
    ar_block_keep(with->place.block);
    ar_block_drop(arg->place.block);
    *arg = *with;
    return true;
}

static void commit(arras_exec *exec, const arras_update *update)
{
    arras_arg *spare = spare_of(exec, update);
    arras_arg *arg = &exec->all.args[spare - exec->spare];
    bool       changed = arg->kind == ARRAS_ARG_VALUE ? replace_value(arg, update->with.host)
                                                      : replace_place(arg, spare);

    if (!changed)
        return;
    ar_exec_bind(exec, update->node, update->arg);
    atomic_fetch_add(&exec->updates, 1);
}

static arras_status update_all(arras_exec *exec, int n, const arras_update *updates,
                               arras_error *err)
{
    arras_status status = ARRAS_OK;

    memcpy(exec->spare, exec->all.args, (size_t)exec->all.nargs * sizeof *exec->spare);
    for (int i = 0; i < n && !status; i++)
        status = prepare(exec, &updates[i], i, err);
    if (!status)
        status = ar_device_check(&exec->order, &exec->all, exec->spare, exec->all.args, err);
    for (int i = 0; i < n && !status; i++)
        commit(exec, &updates[i]);
    return status;
}

arras_status ar_exec_update(arras_exec *exec, int n, const arras_update *updates, arras_error *err)
{
    arras_status status = ar_exec_claim(exec, "an update", err);

    if (status)
        return status;
    status = update_all(exec, n, updates, err);
    ar_exec_release(exec);
    return status;
}
