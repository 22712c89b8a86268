/* pass_order.c -- stages whose boxes hand something on to those that lie behind them along an axis.
 * Tiles are read by all threads at once; only the computing of such a stage waits for the tile
 * before, which was begun earlier, since tiles are taken in the order of their numbers. */
#include "exec/pass.h"

#include <pthread.h>
#include <string.h>

bool ar_stage_order(ar_order *out, const ar_stage *s, const ar_execution *exec)
{
    return s->type->order && s->type->order(out, s, exec);
}

/* ---- What is handed on ----------------------------------------------------------------------- */

static bool lines_of(int64_t *out, const ar_exec_array *a, int axis)
{
    *out = 1;
    for (int d = 0; d < a->rank; d++)
        if (d != axis && !ar_mul64(out, *out, a->shape[d]))
            return false;
    return true;
}

static arras_status hand_on(ar_execution *exec, int stage, const ar_order *order, arras_error *err)
{
    enum { SHARE = 4 }; /* of the memory: no more than one part in so many */
    const ar_exec_array *a = &exec->arrays[exec->stages[stage]->results[0]];
    int64_t              bytes;

    if (!lines_of(&bytes, a, order->axis) || !ar_mul64(&bytes, bytes, order->bytes) ||
        bytes > exec->memory / SHARE)
        return ar_fail(err, ARRAS_ELIMIT,
                       "%s: its lines along axis %d are so many that what they hand on takes more "
                       "than a quarter of %.1f MB: allow more memory",
                       a->name ? a->name : "an array in between", order->axis,
                       (double)exec->memory / 1e6);
    exec->handed[stage] = ar_arena_alloc(&exec->arena, (size_t)ar_max64(bytes, 1), 1);
    if (!exec->handed[stage])
        return ar_fail_memory(err, (size_t)bytes);
    exec->memory -= bytes;
    return ARRAS_OK;
}

arras_status ar_execution_hand_on(ar_execution *exec, arras_error *err)
{
    arras_status status = ARRAS_OK;
    ar_order     order;

    exec->handed = ar_arena_alloc(&exec->arena, (size_t)exec->nstages, sizeof *exec->handed);
    if (!exec->handed)
        return ar_fail_memory(err, (size_t)exec->nstages * sizeof *exec->handed);
    for (int i = 0; i < exec->nstages && status == ARRAS_OK; i++)
        if (ar_stage_order(&order, exec->stages[i], exec))
            status = hand_on(exec, i, &order, err);
    return status;
}

void ar_pass_align(ar_pass *pass)
{
    for (int i = 0; i < pass->nstages; i++) {
        ar_order order;

        if (!ar_stage_order(&order, pass->exec->stages[pass->stages[i]], pass->exec) ||
            order.axis >= pass->axes || pass->tile[order.axis] >= pass->shape[order.axis])
            continue;
        pass->tile[order.axis] = ar_max64(1, pass->tile[order.axis] / order.grain) * order.grain;
    }
}

/* ---- Turns ----------------------------------------------------------------------------------- */

struct ar_turns {
    pthread_mutex_t lock;
    pthread_cond_t  changed;
    bool            failed;
    bool           *over; /* by tile: what it hands on is there */
};

static bool has_order(const ar_pass *pass)
{
    ar_order order;

    for (int i = 0; i < pass->nstages; i++)
        if (ar_stage_order(&order, pass->exec->stages[pass->stages[i]], pass->exec))
            return true;
    return false;
}

arras_status ar_pass_turns_new(ar_pass *pass, arras_error *err)
{
    if (!has_order(pass))
        return ARRAS_OK;
    pass->turns = ar_alloc(1, sizeof *pass->turns);
    if (!pass->turns)
        return ar_fail_memory(err, sizeof *pass->turns);
    pthread_mutex_init(&pass->turns->lock, NULL);
    pthread_cond_init(&pass->turns->changed, NULL);
    pass->turns->over = ar_alloc((size_t)ar_max64(pass->count, 1), sizeof *pass->turns->over);
    return pass->turns->over ? ARRAS_OK : ar_fail_memory(err, (size_t)pass->count);
}

void ar_pass_turns_free(ar_pass *pass)
{
    if (!pass->turns)
        return;
    pthread_mutex_destroy(&pass->turns->lock);
    pthread_cond_destroy(&pass->turns->changed);
    ar_free(pass->turns->over);
    ar_free(pass->turns);
    pass->turns = NULL;
}

void ar_pass_turns_start(ar_pass *pass)
{
    if (!pass->turns)
        return;
    pass->turns->failed = false;
    memset(pass->turns->over, 0, (size_t)pass->count * sizeof *pass->turns->over);
}

/* The tile before along an axis; -1: it is the first.  See tile_corner(). */
static int64_t tile_before(const ar_pass *pass, int axis, int64_t tile)
{
    int64_t run = pass->tiles[pass->along], step = 1;

    if (axis != pass->along) {
        step = run;
        for (int d = pass->axes - 1; d > axis; d--)
            step *= d == pass->along ? 1 : pass->tiles[d];
    }
    return tile / step % pass->tiles[axis] > 0 ? tile - step : -1;
}

bool ar_pass_turn_wait(ar_pass *pass, int axis, int64_t tile)
{
    struct ar_turns *turns = pass->turns;
    int64_t          before = axis < pass->axes ? tile_before(pass, axis, tile) : -1;
    bool             good;

    pthread_mutex_lock(&turns->lock);
    while (before >= 0 && !turns->over[before] && !turns->failed)
        pthread_cond_wait(&turns->changed, &turns->lock);
    good = !turns->failed;
    pthread_mutex_unlock(&turns->lock);
    return good;
}

void ar_pass_turn_over(ar_pass *pass, int64_t tile, bool good)
{
    struct ar_turns *turns = pass->turns;

    if (!turns)
        return;
    pthread_mutex_lock(&turns->lock);
    turns->over[tile] = turns->over[tile] || good;
    turns->failed = turns->failed || !good;
    pthread_cond_broadcast(&turns->changed);
    pthread_mutex_unlock(&turns->lock);
}
