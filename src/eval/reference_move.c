/* reference_move.c -- cells that only change their place: nearly all of it is one copy between
 * views. */
#include "eval/reference.h"

static arras_status fail_fit(const ar_job *job, const char *what, int64_t got, int64_t wanted)
{
    ar_text text = { 0 };

    ar_fail(job->err, ARRAS_ESHAPE, "%s: %s is %" PRId64 ", but %" PRId64 " is needed",
            ar_describe(&text, job->node), what, got, wanted);
    ar_text_free(&text);
    return ARRAS_ESHAPE;
}

/* ---- Stack and concatenate ------------------------------------------------------------------- */

static void view_drop_axis(ar_view *view, int axis)
{
    view->tensor.rank--;
    for (int d = axis; d < view->tensor.rank; d++) {
        view->shape[d] = view->shape[d + 1];
        view->strides[d] = view->strides[d + 1];
    }
}

/* Sizes may differ when the program is run although they could not be told apart when it was
 * recorded. */
static arras_status check_part(const ar_job *job, const ar_view *room, const ar_tensor *part)
{
    for (int d = 0; d < part->rank; d++)
        if (part->shape[d] != room->shape[d])
            return fail_fit(job, "the length of a part", part->shape[d], room->shape[d]);
    return ARRAS_OK;
}

static arras_status put_part(const ar_job *job, ar_view *room, const ar_tensor *part)
{
    arras_status status = check_part(job, room, part);

    return status == ARRAS_OK ? ar_tensor_copy(&room->tensor, part, job->err) : status;
}

arras_status ar_reference_stack(const ar_job *job)
{
    int          axis = (int)job->node->ints[0];
    arras_status status = ARRAS_OK;

    for (int k = 0; k < job->node->ninputs && status == ARRAS_OK; k++) {
        ar_view room;

        ar_view_open(&room, job->out);
        room.tensor.data += k * room.strides[axis];
        view_drop_axis(&room, axis);
        status = put_part(job, &room, job->in[k]);
    }
    return status;
}

static arras_status check_concat(const ar_job *job, int axis)
{
    int64_t length = 0, wanted = job->out->shape[axis];

    for (int k = 0; k < job->node->ninputs; k++)
        if (!ar_add64(&length, length, job->in[k]->shape[axis]))
            return fail_fit(job, "the length of all parts", INT64_MAX, wanted);
    return length == wanted ? ARRAS_OK : fail_fit(job, "the length of all parts", length, wanted);
}

arras_status ar_reference_concat(const ar_job *job)
{
    int          axis = (int)job->node->ints[0];
    int64_t      at = 0;
    arras_status status = check_concat(job, axis);

    for (int k = 0; k < job->node->ninputs && status == ARRAS_OK; k++) {
        ar_view room;

        ar_view_open(&room, job->out);
        room.tensor.data += at * room.strides[axis];
        room.shape[axis] = job->in[k]->shape[axis];
        at += room.shape[axis];
        status = put_part(job, &room, job->in[k]);
    }
    return status;
}

/* ---- Roll, permute, reshape ------------------------------------------------------------------ */

static int64_t floor_modulo(int64_t x, int64_t n)
{
    int64_t rest = x % n;

    return rest < 0 ? rest + n : rest;
}

/* The depth of this recursion is the rank. */
static void roll_axis(const ar_job *job, int axis, char *to, const char *from)
{
    const ar_tensor *x = job->in[0], *out = job->out;
    int64_t          length, source;

    if (axis == x->rank) {
        ar_cell_read(out->dtype, to, x->dtype, from);
        return;
    }
    length = x->shape[axis];
    source = length ? floor_modulo(-floor_modulo(job->node->ints[axis], length), length) : 0;
    for (int64_t i = 0; i < length; i++) {
        roll_axis(job, axis + 1, to + i * out->strides[axis], from + source * x->strides[axis]);
        source = source + 1 == length ? 0 : source + 1;
    }
}

arras_status ar_reference_roll(const ar_job *job)
{
    if (job->out->count > 0)
        roll_axis(job, 0, job->out->data, job->in[0]->data);
    return ARRAS_OK;
}

arras_status ar_reference_permute(const ar_job *job)
{
    const ar_tensor *x = job->in[0];
    ar_view          from;

    ar_view_open(&from, x);
    for (int axis = 0; axis < x->rank; axis++) {
        from.shape[axis] = x->shape[job->node->ints[axis]];
        from.strides[axis] = x->strides[job->node->ints[axis]];
    }
    return ar_tensor_copy(job->out, &from.tensor, job->err);
}

static void view_reverse_axes(ar_view *view, const ar_tensor *tensor)
{
    ar_view_open(view, tensor);
    for (int axis = 0; axis < tensor->rank; axis++) {
        view->shape[axis] = tensor->shape[tensor->rank - 1 - axis];
        view->strides[axis] = tensor->strides[tensor->rank - 1 - axis];
    }
}

arras_status ar_reference_reshape(const ar_job *job)
{
    ar_view to, from;

    if (job->in[0]->count != job->out->count)
        return fail_fit(job, "the number of cells given", job->in[0]->count, job->out->count);
    if (job->node->ints[0] != 'F')
        return ar_tensor_copy(job->out, job->in[0], job->err);
    /* F order is row-major order with the axes reversed, on both sides. */
    view_reverse_axes(&to, job->out);
    view_reverse_axes(&from, job->in[0]);
    return ar_tensor_copy(&to.tensor, &from.tensor, job->err);
}

/* ---- Index ----------------------------------------------------------------------------------- */

static arras_status fail_item(const ar_job *job, int axis, int64_t cell)
{
    ar_text text = { 0 };

    ar_fail(job->err, ARRAS_EINDEX,
            "index: cell %" PRId64 " is asked for on axis %d of length %" PRId64 " of %s", cell,
            axis, job->in[0]->shape[axis], ar_describe(&text, job->node->inputs[0]));
    ar_text_free(&text);
    return ARRAS_EINDEX;
}

static arras_status check_item(const ar_job *job, int axis, int64_t first, int64_t step,
                               int64_t count)
{
    int64_t length = job->in[0]->shape[axis], last;

    if (!ar_mul64(&last, count - 1, step) || !ar_add64(&last, first, last))
        last = step < 0 ? INT64_MIN : INT64_MAX;
    if (first < 0 || first >= length)
        return fail_item(job, axis, first);
    return last < 0 || last >= length ? fail_item(job, axis, last) : ARRAS_OK;
}

/* Narrows an axis to an item.  The start of an item that takes no cell means nothing: that of
 * x[::-1] is n - 1, which for an empty x is no place at all. */
static arras_status take_item(const ar_job *job, ar_view *from, int axis, const int64_t *item,
                              int64_t *count)
{
    arras_dim    length = item[AR_ITEM_KIND] == ARRAS_AT ? 1 : item[AR_ITEM_LENGTH];
    int64_t      first;
    arras_status status = ar_dim_number(count, job->node, length, job->sizes, job->err);

    if (status != ARRAS_OK || *count == 0)
        return status;
    status = ar_dim_number(&first, job->node, item[AR_ITEM_START], job->sizes, job->err);
    if (status == ARRAS_OK)
        status = check_item(job, axis, first, item[AR_ITEM_STEP], *count);
    if (status == ARRAS_OK)
        from->tensor.data += first * job->in[0]->strides[axis];
    return status;
}

static void push_axis(ar_view *view, int64_t length, int64_t stride)
{
    view->shape[view->tensor.rank] = length;
    view->strides[view->tensor.rank++] = stride;
}

arras_status ar_reference_index(const ar_job *job)
{
    const ar_tensor *x = job->in[0];
    int              items = job->node->nints / AR_ITEM_INTS, axis = 0;
    ar_view          from;

    ar_view_open(&from, x);
    from.tensor.rank = 0;
    for (int i = 0; i < items; i++) {
        const int64_t *item = job->node->ints + (ptrdiff_t)i * AR_ITEM_INTS;
        int64_t        count;
        arras_status   status;

        if (item[AR_ITEM_KIND] == ARRAS_NEWAXIS) {
            push_axis(&from, 1, 0);
            continue;
        }
        status = take_item(job, &from, axis, item, &count);
        if (status != ARRAS_OK)
            return status;
        /* A step that is not taken is not multiplied either: it may be huge. */
        if (item[AR_ITEM_KIND] == ARRAS_SLICE)
            push_axis(&from, count, count > 1 ? item[AR_ITEM_STEP] * x->strides[axis] : 0);
        axis++;
    }
    for (; axis < x->rank; axis++)
        push_axis(&from, x->shape[axis], x->strides[axis]);
    return ar_tensor_copy(job->out, &from.tensor, job->err);
}

/* ---- Gather ---------------------------------------------------------------------------------- */

/* The result's axes are x's axes that are not indexed, in order, with the axes the index arrays are
 * broadcast to put in between, at `place`.  So each operand of the walk, x (operand 0) and the
 * index arrays (1, 2, ...), moves along its own axes of the result only. */
typedef struct {
    const ar_job *job;
    int           place, added;         /* where the broadcast axes start, how many they are */
    int           axis[ARRAS_MAX_RANK]; /* of x, for each index array */
    ar_walk       walk;
} gather;

static void gather_follow_x(gather *ga, uint32_t mask)
{
    const ar_tensor *x = ga->job->in[0];
    int              indexed = 0, to = 0;

    for (int axis = 0; axis < x->rank; axis++) {
        if (mask >> axis & 1) {
            ga->axis[indexed++] = axis;
            continue;
        }
        if (to == ga->place)
            to += ga->added;
        ga->walk.step[(ptrdiff_t)to++ * ga->walk.n] = x->strides[axis];
    }
}

static arras_status gather_follow_index(gather *ga, int k)
{
    const ar_tensor *index = ga->job->in[k];
    int              start = ga->place + ga->added - index->rank;

    for (int d = 0; d < index->rank; d++) {
        int64_t length = index->shape[d], wanted = ga->walk.length[start + d];

        if (length != 1 && length != wanted)
            return fail_fit(ga->job, "the length of an index array", length, wanted);
        ga->walk.step[(ptrdiff_t)(start + d) * ga->walk.n + k] =
            length == 1 ? 0 : index->strides[d];
    }
    return ARRAS_OK;
}

static arras_status fail_gather(const gather *ga, int k, const char *cell)
{
    const ar_job *job = ga->job;
    int           axis = ga->axis[k - 1];
    ar_text       number = { 0 }, text = { 0 };

    ar_fail(job->err, ARRAS_EINDEX,
            "index %s is out of bounds for axis %d of length %" PRId64 " of %s",
            ar_describe_cell(&number, job->in[k]->dtype, cell), axis, job->in[0]->shape[axis],
            ar_describe(&text, job->node->inputs[0]));
    ar_text_free(&number);
    ar_text_free(&text);
    return ARRAS_EINDEX;
}

/* All indices are checked, also those that an empty axis of the result would leave unused. */
static arras_status gather_check(const gather *ga, int k)
{
    const ar_tensor *index = ga->job->in[k];
    int64_t          length = ga->job->in[0]->shape[ga->axis[k - 1]];
    ar_walk          walk;
    arras_status     status = ar_walk_open(&walk, index->rank, index->shape, 1, ga->job->err);

    if (status == ARRAS_OK)
        status = ar_walk_follow(&walk, 0, index, ga->job->err);
    for (; status == ARRAS_OK && !walk.done; ar_walk_next(&walk)) {
        const char *cell = index->data + walk.offset[0];
        int64_t     value = ar_cell_integer(index->dtype, cell);

        if (value < -length || value >= length)
            status = fail_gather(ga, k, cell);
    }
    ar_walk_close(&walk);
    return status;
}

/* Offset of the cell of x that the indices choose now. */
static int64_t gather_offset(const gather *ga)
{
    const ar_tensor *x = ga->job->in[0];
    int64_t          offset = ga->walk.offset[0];

    for (int k = 1; k < ga->walk.n; k++) {
        const ar_tensor *index = ga->job->in[k];
        int              axis = ga->axis[k - 1];
        int64_t          value = ar_cell_integer(index->dtype, index->data + ga->walk.offset[k]);

        offset += (value < 0 ? value + x->shape[axis] : value) * x->strides[axis];
    }
    return offset;
}

static void gather_cells(gather *ga)
{
    const ar_tensor *x = ga->job->in[0], *out = ga->job->out;
    char            *to = out->data;

    for (; !ga->walk.done; ar_walk_next(&ga->walk), to += ar_dtype_size(out->dtype))
        ar_cell_read(out->dtype, to, x->dtype, x->data + gather_offset(ga));
}

arras_status ar_reference_gather(const ar_job *job)
{
    arras_array  node = job->node;
    gather       ga = { .job = job, .place = (int)node->ints[1] };
    arras_status status =
        ar_walk_open(&ga.walk, node->rank, job->out->shape, node->ninputs, job->err);

    ga.added = node->rank - (job->in[0]->rank - (node->ninputs - 1));
    if (status == ARRAS_OK)
        gather_follow_x(&ga, (uint32_t)node->ints[0]);
    for (int k = 1; k < node->ninputs && status == ARRAS_OK; k++) {
        status = gather_follow_index(&ga, k);
        if (status == ARRAS_OK)
            status = gather_check(&ga, k);
    }
    if (status == ARRAS_OK)
        gather_cells(&ga);
    ar_walk_close(&ga.walk);
    return status;
}
