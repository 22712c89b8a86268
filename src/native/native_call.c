/* native_call.c -- calls of a function: what it is handed, what it may look at, and what is noted
 * when it looks elsewhere. */
#include "native/native_parts.h"

#include <string.h>

/* ---- Workers --------------------------------------------------------------------------------- */

static bool make_arrays(ar_native_worker *w, const ar_native *n)
{
    size_t inputs = (size_t)n->stage.ninputs + 1, outputs = (size_t)n->stage.nresults;

    w->views = ar_alloc(inputs, sizeof *w->views);
    w->origins = ar_alloc(inputs, sizeof *w->origins);
    w->patches = ar_alloc(inputs, sizeof *w->patches);
    w->patch_bytes = ar_alloc(inputs, sizeof *w->patch_bytes);
    w->outs = ar_alloc(outputs, sizeof *w->outs);
    w->cell.scratch = n->scratch ? ar_alloc(n->scratch, 1) : NULL;
    return w->views && w->origins && w->patches && w->patch_bytes && w->outs &&
           (w->cell.scratch || !n->scratch);
}

static void set_reach(arras_view *v, const ar_native_input *in)
{
    v->rank = in->rank;
    for (int a = 0; a < in->rank; a++) {
        v->before[a] = in->whole ? 0 : in->before[a];
        v->span[a] = (uint64_t)(in->whole ? in->shape[a] : in->before[a] + in->after[a] + 1);
    }
}

arras_status ar_native_worker_make(ar_native_worker *out, ar_native *n, arras_error *err)
{
    *out = (ar_native_worker){ .log = { .native = n, .input = -1 } };
    if (!make_arrays(out, n)) {
        ar_native_worker_free(out, n->stage.ninputs);
        return ar_fail_memory(err, n->scratch + sizeof *out);
    }
    out->cell.views = out->views;
    out->cell.index = out->index;
    out->cell.context = n->context;
    out->cell.ninputs = n->stage.ninputs;
    out->cell.noutputs = n->stage.nresults;
    out->cell.log = &out->log;
    for (int k = 0; k < n->stage.ninputs; k++)
        set_reach(&out->views[k], &n->inputs[k]);
    return ARRAS_OK;
}

void ar_native_worker_free(ar_native_worker *w, int ninputs)
{
    for (int k = 0; k < ninputs && w->patches; k++)
        ar_free(w->patches[k]);
    ar_free(w->patches);
    ar_free(w->patch_bytes);
    ar_free(w->views);
    ar_free(w->origins);
    ar_free(w->outs);
    ar_free(w->marks);
    ar_free(w->cell.scratch);
    *w = (ar_native_worker){ 0 };
}

/* ---- Calls ----------------------------------------------------------------------------------- */

void ar_native_step(const ar_native *n, ar_native_worker *w, int64_t cells)
{
    for (int k = 0; k < n->stage.ninputs; k++)
        w->views[k].at += cells * w->views[k].advance;
    for (int m = 0; m < n->stage.nresults; m++)
        w->outs[m] = (char *)w->outs[m] + cells * n->outputs[m].cell_bytes;
    if (n->rank > 0)
        w->index[n->rank - 1] += cells;
}

static void call_row(const ar_native *n, ar_native_worker *w, int64_t count)
{
    if (n->row)
        n->row(&w->cell, count, w->outs);
    else
        ar_native_call_text(n, w, count);
}

/* One input and one output, as most functions have: all that moves stays in registers. */
static void call_cells_1_1(const ar_native *n, ar_native_worker *w, int64_t count)
{
    arras_apply_cell *cell = n->cell;
    arras_view       *view = w->views;
    int64_t          *last = &w->index[n->rank > 0 ? n->rank - 1 : 0], index = *last;
    int64_t           advance = view->advance, bytes = n->outputs[0].cell_bytes;
    const char       *at = view->at;
    char             *out = w->outs[0];

    for (int64_t i = 0; i < count; i++) {
        view->at = at + i * advance;
        w->outs[0] = out + i * bytes;
        *last = index + i;
        cell(&w->cell, w->outs);
    }
    ar_native_step(n, w, 1);
}

void ar_native_call(const ar_native *n, ar_native_worker *w, int64_t count)
{
    if (n->cell && n->stage.ninputs == 1 && n->stage.nresults == 1) {
        call_cells_1_1(n, w, count);
    } else if (n->cell) {
        for (int64_t i = 0; i < count; i++, ar_native_step(n, w, 1))
            n->cell(&w->cell, w->outs);
    } else {
        call_row(n, w, count);
        ar_native_step(n, w, count);
    }
}

/* ---- What is noted --------------------------------------------------------------------------- */

static void note_place(struct arras_cell_log *log, const arras_cell *cell)
{
    log->failed = true;
    memcpy(log->index, cell->index, sizeof log->index);
}

static void note_offset(const arras_cell *cell, int input, int n, const int64_t *offset)
{
    struct arras_cell_log *log = cell->log;

    if (log->failed)
        return;
    note_place(log, cell);
    log->input = input;
    log->n = n;
    memcpy(log->offset, offset, (size_t)n * sizeof *offset);
}

/* False: no reach can be so uncached. */
static bool widen_reach(ar_native_input *in, int n, const int64_t *offset)
{
    const int64_t most = (int64_t)1 << 60;

    if (n > in->rank)
        return false;
    for (int a = 0; a < n; a++) {
        if (offset[a] < -most || offset[a] > most)
            return false;
        in->before[a] = ar_max64(in->before[a], -offset[a]);
        in->after[a] = ar_max64(in->after[a], offset[a]);
    }
    return true;
}

/* Any type of number that is 1. */
static const char *one_of(arras_dtype dtype)
{
    static const union {
        uint8_t  u8[16];
        uint16_t u16[8];
        uint32_t u32[4];
        uint64_t u64[2];
    } bytes = { .u8 = { 1 } }, words = { .u16 = { 1 } }, longs = { .u32 = { 1 } },
      wide = { .u64 = { 1 } };
    static const float  f32[4] = { 1 };
    static const double f64[2] = { 1 };

    if (dtype == ARRAS_F32 || dtype == ARRAS_C64)
        return (const char *)f32;
    if (dtype == ARRAS_F64 || dtype == ARRAS_C128)
        return (const char *)f64;
    switch (ar_dtype_size(dtype)) {
    case 1: return (const char *)&bytes;
    case 2: return (const char *)&words;
    case 4: return (const char *)&longs;
    default: return (const char *)&wide;
    }
}

static const char *probe_input(const arras_cell *cell, int input, int n, const int64_t *offset)
{
    ar_native_input *in = &cell->log->native->inputs[input];

    if (in->probed && !in->whole && !widen_reach(in, n, offset))
        note_offset(cell, input, n, offset);
    return one_of(in->dtype);
}

const char *ar_cell_outside(const arras_cell *cell, int input, int n, const int64_t *offset)
{
    static const char zeros[AR_CELL_BYTES];

    if (cell->log->probing)
        return probe_input(cell, input, n, offset);
    note_offset(cell, input, n, offset);
    /* The cell itself, so that all cells of a row can be read too; a whole array may have none. */
    if (cell->log->native && cell->log->native->inputs[input].whole)
        return zeros;
    return cell->views[input].at;
}

void ar_cell_fail(const arras_cell *cell, const char *message)
{
    struct arras_cell_log *log = cell->log;

    if (log->failed)
        return;
    note_place(log, cell);
    log->input = -1;
    strncpy(log->message, message ? message : "the function failed", sizeof log->message - 1);
}

/* ---- Complaints ------------------------------------------------------------------------------ */

static void put_numbers(ar_text *out, int n, const int64_t *numbers)
{
    ar_text_add(out, "[");
    for (int i = 0; i < n; i++)
        ar_text_printf(out, "%s%" PRId64, i ? ", " : "", numbers[i]);
    ar_text_add(out, "]");
}

static void put_reach(ar_text *out, const ar_native_input *in)
{
    ar_text_add(out, in->whole ? "its shape " : in->probed ? "the reach found " : "its reach ");
    if (in->whole) {
        put_numbers(out, in->rank, in->shape);
        return;
    }
    ar_text_add(out, "[");
    for (int a = 0; a < in->rank; a++)
        ar_text_printf(out, "%s%" PRId64 "..%" PRId64, a ? ", " : "", -in->before[a], in->after[a]);
    ar_text_add(out, "]");
}

static void put_offset(ar_text *out, const ar_native *n, const struct arras_cell_log *log)
{
    const ar_native_input *in = &n->inputs[log->input];

    ar_text_printf(out, "input %s is read at %s ", in->name,
                   in->whole ? "the place" : "the offset");
    put_numbers(out, log->n, log->offset);
    if (log->n > in->rank) {
        ar_text_printf(out, ", and it has %d axes", in->rank);
        return;
    }
    ar_text_add(out, ", beyond ");
    put_reach(out, in);
    if (!in->whole)
        ar_text_add(out, ": declare a reach that holds all offsets");
}

arras_status ar_native_complain(const ar_native *n, const struct arras_cell_log *log,
                                arras_error *err)
{
    arras_status code = log->input >= 0 ? ARRAS_EINDEX : ARRAS_EINVAL;
    ar_text      place = { 0 }, what = { 0 };

    put_numbers(&place, n->rank, log->index);
    if (log->input >= 0)
        put_offset(&what, n, log);
    else
        ar_text_add(&what, log->message);
    ar_fail(err, code, "%s %s: %s", n->cell ? "cell" : "the row of cells from",
            place.data ? place.data : "", what.data ? what.data : "");
    ar_text_free(&place);
    ar_text_free(&what);
    return code;
}

/* ---- Reach that is found out ----------------------------------------------------------------- */

static bool wants_probe(const ar_native *n)
{
    for (int k = 0; k < n->stage.ninputs; k++)
        if (n->inputs[k].probed)
            return true;
    return false;
}

static arras_status run_probe(ar_native *n, ar_native_worker *w, char *outs, arras_error *err)
{
    w->log.probing = true;
    for (int k = 0; k < n->stage.ninputs; k++) {
        memset(w->views[k].span, 0, sizeof w->views[k].span); /* so that every access is noted */
        w->views[k].advance = (int64_t)n->inputs[k].size;
    }
    for (int m = 0; m < n->stage.nresults; m++) {
        w->outs[m] = outs;
        outs += n->outputs[m].cell_bytes + AR_CELL_BYTES - n->outputs[m].cell_bytes % AR_CELL_BYTES;
    }
    if (n->cell)
        n->cell(&w->cell, w->outs);
    else
        call_row(n, w, 1);
    return w->log.failed ? ar_native_complain(n, &w->log, err) : ARRAS_OK;
}

arras_status ar_native_probe(ar_native *n, arras_error *err)
{
    ar_native_worker w;
    size_t           bytes = 0;
    char            *outs;
    arras_status     status;

    if (!wants_probe(n))
        return ARRAS_OK;
    for (int m = 0; m < n->stage.nresults; m++)
        bytes += (size_t)n->outputs[m].cell_bytes + AR_CELL_BYTES;
    status = ar_native_worker_make(&w, n, err);
    if (status != ARRAS_OK)
        return status;
    outs = ar_alloc(bytes, 1);
    status = outs ? run_probe(n, &w, outs, err) : ar_fail_memory(err, bytes);
    ar_free(outs);
    ar_native_worker_free(&w, n->stage.ninputs);
    return status;
}
