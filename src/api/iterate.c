/* iterate.c -- a program run again and again, its outputs fed back as inputs.
 *
 * In memory two sets of outputs take turns: one is read, the other written.  An output that goes to
 * a sink is in a file of its own after each step; only a step that is known to be the last writes
 * to the sink itself. */
#include <arras/sweep.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/run.h"

/* An output on its way to a sink. */
typedef struct {
    ar_sink   *sink;   /* while a step writes it */
    char      *path;   /* of that */
    ar_source *source; /* what the step before wrote */
} spill;

typedef struct {
    arras_program       *program;
    const arras_loop    *loop;
    int                  nbindings, nstored; /* as given */
    const arras_binding *bindings;
    const arras_stored  *stored;

    int               nnow, nfiles; /* of the present step */
    arras_binding    *now;
    size_t            room; /* in now */
    arras_stored     *files;
    spill            *spills; /* by stored array */
    arras_results    *fresh;  /* of the last step */
    arras_results    *older;  /* of the one before: memory to write to */
    arras_loop_report report;
    bool              delivered; /* the last step wrote to the sinks */
} loop_state;

/* ---- Names ----------------------------------------------------------------------------------- */

static const arras_binding *find_binding(const loop_state *l, const char *name)
{
    for (int i = 0; i < l->nbindings; i++)
        if (strcmp(l->bindings[i].name, name) == 0)
            return &l->bindings[i];
    return NULL;
}

static int find_stored(const loop_state *l, const char *name, bool sink)
{
    for (int i = 0; i < l->nstored; i++)
        if (!l->stored[i].sink == !sink && strcmp(l->stored[i].name, name) == 0)
            return i;
    return -1;
}

static bool is_fed(const loop_state *l, const char *input)
{
    for (int i = 0; i < l->loop->nfeeds; i++)
        if (strcmp(l->loop->feeds[i].input, input) == 0)
            return true;
    return false;
}

/* Where an output is in memory; NULL: it is not. */
static const arras_buffer *find_output(const loop_state *l, const char *name)
{
    const arras_binding *found = find_binding(l, name);

    if (!found)
        found = arras_results_find(l->fresh, name);
    return found ? &found->buffer : NULL;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static arras_status check_feed(const loop_state *l, int i, arras_error *err)
{
    const arras_feed *feed = &l->loop->feeds[i];

    if (!feed->output || !feed->input)
        return ar_fail(err, ARRAS_EINVAL, "iterate: feed number %d needs two names", i);
    if (!find_binding(l, feed->input) && find_stored(l, feed->input, false) < 0)
        return ar_fail(err, ARRAS_ENAME,
                       "iterate: %s is fed from %s, but what it is in the first step is not bound",
                       feed->input, feed->output);
    for (int k = 0; k < i; k++)
        if (strcmp(l->loop->feeds[k].input, feed->input) == 0)
            return ar_fail(err, ARRAS_ENAME, "iterate: %s is fed from %s and from %s", feed->input,
                           l->loop->feeds[k].output, feed->output);
    return ARRAS_OK;
}

static arras_status check_names(const loop_state *l, arras_error *err)
{
    for (int i = 0; i < l->nbindings; i++)
        if (!l->bindings[i].name)
            return ar_fail(err, ARRAS_EINVAL, "iterate: binding number %d has no name", i);
    for (int i = 0; i < l->nstored; i++)
        if (!l->stored[i].name || !l->stored[i].source == !l->stored[i].sink)
            return ar_fail(err, ARRAS_EINVAL,
                           "iterate: stored array number %d needs a name and a source or a sink",
                           i);
    return ARRAS_OK;
}

static arras_status check_loop(const loop_state *l, arras_error *err)
{
    const arras_loop *loop = l->loop;
    arras_status      status = check_names(l, err);

    if (status != ARRAS_OK)
        return status;
    if (loop->most < 0 || loop->memory < 0 || loop->nfeeds < 0 || (loop->nfeeds && !loop->feeds))
        return ar_fail(err, ARRAS_EINVAL,
                       "iterate: %" PRId64 " steps, %" PRId64
                       " bytes of memory, %d feeds: none may be negative, and feeds not NULL",
                       loop->most, loop->memory, loop->nfeeds);
    if (loop->most == 0 && !loop->until && !loop->watch)
        return ar_fail(err, ARRAS_EINVAL,
                       "iterate: nothing ends the loop; set `most`, `until` or `watch`");
    if (loop->until && find_stored(l, loop->until, true) >= 0)
        return ar_fail(err, ARRAS_EINVAL, "iterate: %s ends the loop and cannot go to a sink",
                       loop->until);
    for (int i = 0; i < loop->nfeeds && status == ARRAS_OK; i++)
        status = check_feed(l, i, err);
    return status;
}

typedef struct {
    arras_dtype    dtype;
    int            rank;
    const int64_t *shape;
} form;

static form form_of(const loop_state *l, const char *name, bool sink, const arras_buffer *memory)
{
    int                  i = find_stored(l, name, sink);
    const ar_store_info *info = i < 0  ? NULL
                                : sink ? &l->stored[i].sink->info
                                       : &l->stored[i].source->info;

    if (memory)
        return (form){ memory->dtype, memory->rank, memory->shape };
    return (form){ info->dtype, info->rank, info->shape };
}

static void print_form(ar_text *out, form f)
{
    ar_text_printf(out, "%s[", arras_dtype_name(f.dtype));
    for (int d = 0; d < f.rank; d++)
        ar_text_printf(out, "%s%" PRId64, d ? ", " : "", f.shape[d]);
    ar_text_add(out, "]");
}

static arras_status check_alike(const loop_state *l, const arras_feed *feed, arras_error *err)
{
    const arras_binding *given = find_binding(l, feed->input);
    form                 to = form_of(l, feed->input, false, given ? &given->buffer : NULL);
    form                 from = form_of(l, feed->output, true, find_output(l, feed->output));
    ar_text              one = { 0 }, other = { 0 };

    if (from.dtype == to.dtype && from.rank == to.rank &&
        (to.rank == 0 || memcmp(from.shape, to.shape, (size_t)to.rank * sizeof *to.shape) == 0))
        return ARRAS_OK;
    print_form(&one, from);
    print_form(&other, to);
    ar_fail(err, ARRAS_ESHAPE,
            "iterate: the output %s is %s and cannot become the input %s, which is %s",
            feed->output, one.data ? one.data : "", feed->input, other.data ? other.data : "");
    ar_text_free(&one);
    ar_text_free(&other);
    return ARRAS_ESHAPE;
}

/* ---- What a step is given -------------------------------------------------------------------- */

static arras_status bind(loop_state *l, const char *name, const arras_buffer *b, arras_error *err)
{
    if (!ar_grow(&l->now, &l->room, (size_t)l->nnow, sizeof *l->now))
        return ar_fail_memory(err, (size_t)l->nnow * sizeof *l->now);
    l->now[l->nnow++] = (arras_binding){ name, *b };
    return ARRAS_OK;
}

static arras_status feed_back(loop_state *l, const arras_feed *feed, arras_error *err)
{
    const arras_buffer *memory = find_output(l, feed->output);
    int                 file = find_stored(l, feed->output, true);
    arras_status        status;

    if (!memory && file < 0)
        return ar_fail(err, ARRAS_ENAME, "iterate: %s is fed from %s, which is no output",
                       feed->input, feed->output);
    status = check_alike(l, feed, err);
    if (status != ARRAS_OK)
        return status;
    if (memory)
        return bind(l, feed->input, memory, err);
    l->files[l->nfiles++] = (arras_stored){ feed->input, l->spills[file].source, NULL };
    return ARRAS_OK;
}

static arras_status open_spill(spill *s, const ar_store_info *info, arras_error *err)
{
    static _Atomic unsigned number;
    const char             *folder = getenv("TMPDIR");
    ar_text                 path = { 0 };
    arras_status            status;

    ar_text_printf(&path, "%s/arras-step-%ld-%u.npy", folder && *folder ? folder : "/tmp",
                   (long)getpid(), number++);
    if (path.failed) {
        ar_text_free(&path);
        return ar_fail_memory(err, 64);
    }
    status =
        ar_store_create(&s->sink, path.data, NULL, info->dtype, info->rank, info->shape, NULL, err);
    if (status == ARRAS_OK)
        s->path = path.data; /* taken over */
    else
        ar_text_free(&path);
    return status;
}

static arras_status bind_file(loop_state *l, int i, arras_error *err)
{
    arras_stored given = l->stored[i];
    arras_status status = ARRAS_OK;

    if (given.source && l->report.steps > 0 && is_fed(l, given.name))
        return ARRAS_OK;
    if (given.sink && !l->delivered) {
        status = open_spill(&l->spills[i], &given.sink->info, err);
        given.sink = l->spills[i].sink;
    }
    l->files[l->nfiles++] = given;
    return status;
}

/* Outputs of the step before the last are written over. */
static arras_status bind_older(loop_state *l, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int i = 0; i < arras_results_count(l->older) && status == ARRAS_OK; i++) {
        const arras_binding *b = arras_results_at(l->older, i);

        status = bind(l, b->name, &b->buffer, err);
    }
    return status;
}

static arras_status bind_step(loop_state *l, arras_error *err)
{
    bool         first = l->report.steps == 0;
    arras_status status = ARRAS_OK;

    l->nnow = l->nfiles = 0;
    for (int i = 0; i < l->nbindings && status == ARRAS_OK; i++)
        if (first || !is_fed(l, l->bindings[i].name))
            status = bind(l, l->bindings[i].name, &l->bindings[i].buffer, err);
    for (int i = 0; i < l->nstored && status == ARRAS_OK; i++)
        status = bind_file(l, i, err);
    for (int i = 0; i < l->loop->nfeeds && !first && status == ARRAS_OK; i++)
        status = feed_back(l, &l->loop->feeds[i], err);
    return status == ARRAS_OK ? bind_older(l, err) : status;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void swap_results(loop_state *l, arras_results *made)
{
    arras_results *written = made ? made : l->older;

    l->older = l->fresh;
    l->fresh = written;
}

static arras_status launch(loop_state *l, arras_error *err)
{
    arras_results *made = NULL;
    arras_status   status = arras_launch(l->older ? NULL : &made, l->program, l->nnow, l->now, err);

    if (status == ARRAS_OK)
        swap_results(l, made);
    return status;
}

/* What a step wrote can be read by the next; the file loses its name at once. */
static arras_status settle(spill *s, arras_error *err)
{
    ar_sink     *sink = s->sink;
    arras_status status;

    if (!sink)
        return ARRAS_OK;
    arras_source_close(s->source);
    s->source = NULL;
    s->sink = NULL;
    status = sink->type->finish(sink, err);
    if (status == ARRAS_OK)
        status = ar_store_open(&s->source, s->path, NULL, err);
    unlink(s->path);
    ar_free(s->path);
    s->path = NULL;
    return status;
}

static arras_status stream(loop_state *l, arras_error *err)
{
    arras_stream_options options = { .memory = l->loop->memory };
    arras_stream        *running;
    arras_results       *made = NULL;
    arras_status status = arras_stream_start(&running, l->program, l->nnow, l->now, l->nfiles,
                                             l->files, &options, err);

    if (status != ARRAS_OK)
        return status;
    status = arras_stream_wait(&made, running, err);
    arras_stream_free(running);
    for (int i = 0; i < l->nstored && status == ARRAS_OK; i++)
        status = settle(&l->spills[i], err);
    arras_results_free(l->fresh);
    l->fresh = made;
    return status;
}

static bool is_set(const arras_buffer *b)
{
    float  f32[2] = { 0 };
    double f64[2] = { 0 };
    size_t size = arras_dtype_size(b->dtype);
    bool   set = false;

    if (b->dtype == ARRAS_F32 || b->dtype == ARRAS_C64)
        memcpy(f32, b->data, size);
    else if (b->dtype == ARRAS_F64 || b->dtype == ARRAS_C128)
        memcpy(f64, b->data, size);
    else
        for (size_t i = 0; i < size; i++)
            set = set || ((const uint8_t *)b->data)[i] != 0;
    return set || f32[0] != 0 || f32[1] != 0 || f64[0] != 0 || f64[1] != 0;
}

static arras_status ask_until(loop_state *l, arras_error *err)
{
    const arras_buffer *b = l->loop->until ? find_output(l, l->loop->until) : NULL;
    int64_t             cells = 1;

    if (!l->loop->until)
        return ARRAS_OK;
    if (!b)
        return ar_fail(err, ARRAS_ENAME, "iterate: %s should end the loop and is no output",
                       l->loop->until);
    for (int d = 0; d < b->rank; d++)
        cells *= b->shape[d];
    if (cells != 1)
        return ar_fail(err, ARRAS_ESHAPE,
                       "iterate: %s should end the loop and has %" PRId64
                       " cells; reduce it to one, as with any() or all()",
                       l->loop->until, cells);
    l->report.ended = is_set(b);
    return ARRAS_OK;
}

static arras_status step(loop_state *l, arras_error *err)
{
    arras_status status;

    l->delivered = l->loop->most > 0 && l->report.steps + 1 == l->loop->most;
    status = bind_step(l, err);
    if (status == ARRAS_OK)
        status = l->nstored ? stream(l, err) : launch(l, err);
    if (status != ARRAS_OK)
        return status;
    l->report.steps++;
    return ask_until(l, err);
}

static bool is_over(const loop_state *l)
{
    const arras_loop *loop = l->loop;

    if (loop->watch && !loop->watch(&l->report, loop->context))
        return true;
    return l->report.ended || l->report.steps == loop->most;
}

/* ---- The end --------------------------------------------------------------------------------- */

static arras_status read_source(void *source, const ar_box *box, char *cells, arras_error *err)
{
    return ar_source_read(source, box->lo, box->hi, cells, NULL, ar_cpu_count(), err);
}

static arras_status deliver(loop_state *l, arras_error *err)
{
    int64_t      memory = l->loop->memory ? l->loop->memory : ar_memory_fair();
    arras_status status = ARRAS_OK;

    for (int i = 0; i < l->nstored && !l->delivered && status == ARRAS_OK; i++)
        if (l->spills[i].source)
            status = ar_sink_write_all(l->stored[i].sink, memory / 2, ar_cpu_count(), read_source,
                                       l->spills[i].source, err);
    return status;
}

static arras_status make_room(loop_state *l, arras_error *err)
{
    size_t nfiles = (size_t)l->nstored + (size_t)l->loop->nfeeds;

    l->files = ar_alloc(nfiles, sizeof *l->files);
    l->spills = ar_alloc((size_t)l->nstored, sizeof *l->spills);
    if (l->files && l->spills)
        return ARRAS_OK;
    return ar_fail_memory(err, nfiles * sizeof *l->files);
}

static void release(loop_state *l)
{
    for (int i = 0; l->spills && i < l->nstored; i++) {
        arras_sink_abandon(l->spills[i].sink);
        arras_source_close(l->spills[i].source);
        ar_free(l->spills[i].path);
    }
    arras_results_free(l->fresh);
    arras_results_free(l->older);
    ar_free(l->now);
    ar_free(l->files);
    ar_free(l->spills);
}

static arras_status run(loop_state *l, arras_error *err)
{
    arras_status status = check_loop(l, err);
    bool         over = false;

    if (status == ARRAS_OK)
        status = make_room(l, err);
    while (!over && status == ARRAS_OK) {
        status = step(l, err);
        if (status == ARRAS_OK)
            over = is_over(l);
    }
    return status == ARRAS_OK ? deliver(l, err) : status;
}

arras_status arras_iterate(arras_results **out, arras_loop_report *report, arras_program *p, int n,
                           const arras_binding *bindings, int nstored, const arras_stored *stored,
                           const arras_loop *loop, arras_error *err)
{
    loop_state   l = { .program = p,
                       .loop = loop,
                       .nbindings = n,
                       .nstored = nstored,
                       .bindings = bindings,
                       .stored = stored };
    arras_status status;

    if (!p || !loop || n < 0 || nstored < 0 || (n && !bindings) || (nstored && !stored))
        return ar_fail(err, ARRAS_EINVAL, "iterate: the program, the loop or a list is NULL");
    status = run(&l, err);
    if (status == ARRAS_OK && report)
        *report = l.report;
    if (status == ARRAS_OK && out) {
        *out = l.fresh;
        l.fresh = NULL;
    }
    release(&l);
    return status;
}
