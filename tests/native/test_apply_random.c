/* test_apply_random.c -- random functions over random arrays give the bits of a slow loop: for any
 * rule at the borders, reach, step and shape, in memory and in files of any chunks, for any tiles,
 * number of threads and memory, and one after the other. */
#include "apply_kit.h"
#include "run/run.h"

#include <ftw.h>
#include <sys/stat.h>

enum { CASES = 300, TEXTS = 12, STAGES = 3, MOST_GRIDS = 4 + STAGES * MOST_OUTPUTS };

static char folder[64];
static int  nfiles, nlimited, nrun;

/* ---- Files ----------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st, (void)kind, (void)walk;
    return remove(path);
}

static void name_file(char *path, size_t size)
{
    static const char *const endings[] = { "npy", "zarr", "h5" };

    snprintf(path, size, "%s/%d.%s", folder, nfiles++, endings[pick(3)]);
}

static arras_sink *make_sink(const char *path, const grid *a)
{
    int64_t            chunk[MOST_AXES + 1];
    arras_sink_options options = { 0 };
    arras_sink        *sink = NULL;
    arras_error        err;

    for (int axis = 0; axis < a->rank; axis++)
        chunk[axis] = 1 + pick((int)a->shape[axis] + 1);
    if (!strstr(path, ".npy") && a->rank > 0)
        options.chunk = chunk;
    if (!CHECK_EQ_INT(
            arras_sink_create(&sink, path, NULL, a->dtype, a->rank, a->shape, &options, &err),
            ARRAS_OK))
        printf("    %s\n", err.text);
    return sink;
}

static arras_source *store(const grid *a)
{
    static const int64_t zeros[MOST_AXES + 1];
    char                 path[200];
    arras_source        *source = NULL;
    arras_sink          *sink;
    arras_error          err = { ARRAS_OK, "" };

    name_file(path, sizeof path);
    sink = make_sink(path, a);
    if (!sink ||
        !CHECK_EQ_INT(arras_sink_write(sink, zeros, a->shape, a->cells, NULL, 1, &err), ARRAS_OK) ||
        !CHECK_EQ_INT(arras_sink_finish(sink, &err), ARRAS_OK) ||
        !CHECK_EQ_INT(arras_source_open(&source, path, NULL, &err), ARRAS_OK))
        printf("    %s\n", err.text);
    return source;
}

/* ---- Random arrays and functions ------------------------------------------------------------- */

static const arras_dtype dtypes[] = { ARRAS_U8, ARRAS_I32, ARRAS_I64, ARRAS_F32, ARRAS_F64 };

static void random_grid(grid *a, int number, int rank, const int64_t *shape)
{
    *a = (grid){ .dtype = dtypes[pick(5)], .rank = rank };
    snprintf(a->name, sizeof a->name, "a%d", number);
    memcpy(a->shape, shape, (size_t)rank * sizeof *shape);
    grid_alloc(a);
    for (int64_t i = 0; i < grid_count(a); i++)
        cell_put(a->dtype, a->cells + i * (int64_t)arras_dtype_size(a->dtype), pick(50));
}

/* Usually near, at times as far as the array goes, or several times as far. */
static void random_offsets(term *t)
{
    int far = pick(8);

    t->noffsets = 1 + pick(MOST_OFFSETS);
    for (int o = 0; o < t->noffsets; o++)
        for (int a = 0; a < t->array->rank; a++) {
            int64_t reach = far ? 2 : 1 + 3 * t->array->shape[a];

            t->offsets[o][a] = pick((int)(2 * reach + 1)) - reach;
        }
}

static void find_reach(term *t, bool generous)
{
    for (int a = 0; a < t->array->rank; a++) {
        t->before[a] = generous ? pick(2) : 0;
        t->after[a] = generous ? pick(2) : 0;
        for (int o = 0; o < t->noffsets; o++) {
            t->before[a] = ar_max64(t->before[a], -t->offsets[o][a]);
            t->after[a] = ar_max64(t->after[a], t->offsets[o][a]);
        }
    }
}

static void random_borders(term *t, bool all_have)
{
    for (int a = 0; a < t->array->rank; a++) {
        t->borders[a].rule = (arras_edge_rule)(all_have + pick(ARRAS_EDGE_END - all_have));
        t->fills[a] = pick(3) ? pick(40) : 0;
        cell_put(t->array->dtype, t->fill_cells[a], t->fills[a]);
        t->borders[a].fill = t->fills[a] != 0 || pick(2) ? t->fill_cells[a] : NULL;
    }
}

/* All inputs alike: the library finds starts and shape, and so does this. */
static void infer_shape(sum *s, const int64_t *step)
{
    for (int axis = 0; axis < s->rank; axis++) {
        int64_t first = 0, last = INT64_MAX;

        for (int k = 0; k < s->nterms; k++) {
            const term *t = &s->terms[k];
            bool        none = t->borders[axis].rule == ARRAS_EDGE_NONE;

            first = none ? ar_max64(first, t->before[axis]) : first;
            last = ar_min64(last, t->array->shape[axis] - 1 - (none ? t->after[axis] : 0));
        }
        s->shape[axis] = 0;
        for (int64_t at = first; at <= last; at += step[axis])
            s->shape[axis]++;
        for (int k = 0; k < s->nterms; k++) {
            s->terms[k].axes[axis] = axis;
            s->terms[k].step[axis] = step[axis];
            s->terms[k].start[axis] = first;
        }
    }
}

/* Any place in any array, along any axis of the result. */
static void random_places(sum *s, int rank)
{
    s->rank = rank;
    for (int axis = 0; axis < rank; axis++)
        s->shape[axis] = pick(12) ? 1 + pick(20) : 0;
    for (int k = 0; k < s->nterms; k++)
        for (int a = 0; a < s->terms[k].array->rank; a++) {
            s->terms[k].axes[a] = rank ? pick(rank) : 0;
            s->terms[k].step[a] = rank ? pick(3) : 0;
            s->terms[k].start[a] = pick(9) - 4;
        }
}

static void random_outputs(sum *s, int number)
{
    s->length = pick(3) ? 0 : 1 + pick(4);
    s->noutputs = 1 + pick(MOST_OUTPUTS);
    for (int m = 0; m < s->noutputs; m++) {
        grid *a = &s->outputs[m];

        *a = (grid){ .dtype = dtypes[pick(5)], .rank = s->rank + (s->length > 0) };
        snprintf(a->name, sizeof a->name, "r%d%c", number, 'a' + m);
        memcpy(a->shape, s->shape, (size_t)s->rank * sizeof *s->shape);
        if (s->length)
            a->shape[s->rank] = s->length;
        grid_alloc(a);
    }
}

/* ---- A flow of them -------------------------------------------------------------------------- */

typedef struct {
    int           ninputs, ngrids, nsums, numbers[MOST_GRIDS];
    grid         *grids[MOST_GRIDS];
    grid          inputs[4];
    sum           sums[STAGES];
    bool          inferred[STAGES], declared[STAGES];
    arras_source *sources[4];
    arras_sink   *sinks[MOST_GRIDS];
    char          paths[MOST_GRIDS][200];
    bool          wanted[MOST_GRIDS];
} world;

static void random_sum(world *w, int number)
{
    sum    *s = &w->sums[number];
    int64_t step[MOST_AXES];
    bool    alike = pick(2);
    int     rank = w->grids[0]->rank;

    *s = (sum){ .nterms = 1 + pick(MOST_INPUTS), .rank = rank };
    for (int k = 0; k < s->nterms; k++) {
        /* The newest is read most often, so that functions follow each other. */
        int from = pick(2) ? w->ngrids - 1 : pick(w->ngrids);

        if (w->grids[from]->rank > MOST_AXES || grid_count(w->grids[from]) == 0)
            from = 0;
        s->terms[k].array = w->grids[from];
        alike = alike && w->grids[from]->rank == rank;
    }
    w->inferred[number] = alike;
    w->declared[number] = pick(3);
    for (int k = 0; k < s->nterms; k++) {
        term *t = &s->terms[k];

        random_offsets(t);
        find_reach(t, w->declared[number]);
        random_borders(t, !alike);
    }
    for (int axis = 0; axis < rank; axis++)
        step[axis] = pick(3) ? 1 : 1 + pick(3);
    if (alike)
        infer_shape(s, step);
    else
        random_places(s, pick(MOST_AXES + 1));
    random_outputs(s, number);
    sum_slowly(s);
    for (int m = 0; m < s->noutputs; m++)
        w->grids[w->ngrids++] = &s->outputs[m];
}

static void make_world(world *w)
{
    int     rank = 1 + pick(MOST_AXES);
    int64_t shape[MOST_AXES];

    *w = (world){ .ninputs = 1 + pick(3) };
    for (int axis = 0; axis < rank; axis++)
        shape[axis] = 1 + pick(rank == 1 ? 300 : rank == 2 ? 40 : 14);
    for (int i = 0; i < w->ninputs; i++) {
        random_grid(&w->inputs[i], i, rank, shape);
        w->grids[w->ngrids++] = &w->inputs[i];
    }
    for (; w->nsums < 1 + pick(STAGES); w->nsums++)
        random_sum(w, w->nsums);
}

static void free_world(world *w)
{
    for (int i = 0; i < w->ngrids; i++)
        free(w->grids[i]->cells);
    for (int i = 0; i < 4; i++)
        arras_source_close(w->sources[i]);
}

static int number_of(const world *w, const grid *a)
{
    for (int i = 0; i < w->ngrids; i++)
        if (w->grids[i] == a)
            return w->numbers[i];
    abort();
}

static arras_status add_inputs(arras_flow *flow, world *w, bool files, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int i = 0; i < w->ninputs && status == ARRAS_OK; i++) {
        arras_buffer b = grid_buffer(w->grids[i]);

        if (files && pick(4))
            w->sources[i] = store(w->grids[i]);
        status = w->sources[i] ? arras_flow_source(&w->numbers[i], flow, w->grids[i]->name,
                                                   w->sources[i], err)
                               : arras_flow_input(&w->numbers[i], flow, w->grids[i]->name, &b, err);
    }
    return status;
}

static arras_status add_sum(arras_flow *flow, world *w, int number, bool text, arras_error *err)
{
    sum               *s = &w->sums[number];
    arras_apply_input  inputs[MOST_INPUTS] = { { 0 } };
    arras_apply_output outputs[MOST_OUTPUTS];
    arras_apply_spec   spec = { .ninputs = s->nterms,
                                .noutputs = s->noutputs,
                                .inputs = inputs,
                                .outputs = outputs,
                                .context = s,
                                .scratch = 8 * 1000,
                                .length = s->length };
    ar_text            body = { 0 };
    int                at = 0, form = text ? 2 : pick(2);
    arras_status       status;

    for (int k = 0; k < s->nterms; k++) {
        term *t = &s->terms[k];

        inputs[k] = (arras_apply_input){ .array = number_of(w, t->array),
                                         .name = input_names[k],
                                         .before = w->declared[number] ? t->before : NULL,
                                         .after = w->declared[number] ? t->after : NULL,
                                         .borders = t->borders,
                                         .axes = t->axes,
                                         .step = t->step,
                                         .start = w->inferred[number] ? NULL : t->start };
    }
    for (int m = 0; m < s->noutputs; m++)
        outputs[m] = (arras_apply_output){ s->outputs[m].name, s->outputs[m].dtype };
    if (!w->inferred[number]) {
        spec.rank = s->rank;
        spec.shape = s->shape;
    }
    sum_text(&body, s);
    spec.cell = form == 0 ? sum_cell : NULL;
    spec.row = form == 1 ? sum_row : NULL;
    spec.text = form == 2 ? body.data : NULL;
    while (w->grids[at] != &s->outputs[0])
        at++;
    status = arras_flow_apply(&w->numbers[at], flow, &spec, err);
    ar_text_free(&body);
    return status;
}

/* Some of what is computed goes to files, some to memory, some nowhere. */
static arras_status add_results(arras_flow *flow, world *w, bool files, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int i = w->ninputs; i < w->ngrids && status == ARRAS_OK; i++) {
        bool last = i == w->ngrids - 1;

        if (!last && pick(2))
            continue;
        w->wanted[i] = true;
        if (files && pick(4)) {
            name_file(w->paths[i], sizeof w->paths[i]);
            w->sinks[i] = make_sink(w->paths[i], w->grids[i]);
        }
        status = w->sinks[i] ? arras_flow_sink(flow, w->numbers[i], w->sinks[i], err)
                             : arras_flow_result(flow, w->numbers[i], NULL, err);
    }
    return status;
}

static arras_status build(arras_flow *flow, world *w, bool files, bool text, arras_error *err)
{
    arras_status status = add_inputs(flow, w, files, err);

    for (int i = 0; i < w->nsums && status == ARRAS_OK; i++)
        status = add_sum(flow, w, i, text, err);
    return status == ARRAS_OK ? add_results(flow, w, files, err) : status;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static bool same_cells(const grid *want, const char *got)
{
    return memcmp(want->cells, got, (size_t)grid_count(want) * arras_dtype_size(want->dtype)) == 0;
}

static void compare_file(const grid *want, const char *path)
{
    static const int64_t zeros[MOST_AXES + 1];
    char                *cells = malloc((size_t)grid_count(want) * 16 + 16);
    arras_source        *source = NULL;

    if (CHECK_EQ_INT(arras_source_open(&source, path, NULL, NULL), ARRAS_OK) &&
        CHECK_EQ_INT(arras_source_read(source, zeros, want->shape, cells, NULL, 1, NULL), ARRAS_OK))
        CHECK(same_cells(want, cells));
    arras_source_close(source);
    free(cells);
}

static void compare(world *w, const arras_results *got)
{
    for (int i = 0; i < w->ngrids; i++) {
        const grid          *want = w->grids[i];
        const arras_binding *b = arras_results_find(got, want->name);

        if (w->sinks[i]) {
            CHECK_EQ_INT(arras_sink_finish(w->sinks[i], NULL), ARRAS_OK);
            compare_file(want, w->paths[i]);
        } else if (w->wanted[i] && CHECK(b)) {
            CHECK_EQ_INT(b->buffer.rank, want->rank);
            CHECK(memcmp(b->buffer.shape, want->shape, (size_t)want->rank * sizeof *want->shape) ==
                  0);
            CHECK(same_cells(want, b->buffer.data));
        }
    }
}

static void run_world(world *w, const arras_options *options, int64_t memory, bool text)
{
    arras_flow    *flow = NULL;
    arras_results *got = NULL;
    arras_error    err = { ARRAS_OK, "" };
    arras_status   status = arras_flow_new(&flow, options, memory, &err);

    if (status == ARRAS_OK)
        status = build(flow, w, pick(3) > 0, text, &err);
    if (status == ARRAS_OK)
        status = arras_flow_run(&got, flow, &err);
    nrun += status == ARRAS_OK;
    nlimited += status == ARRAS_ELIMIT;
    if (status == ARRAS_OK)
        compare(w, got);
    else if (!CHECK(status == ARRAS_ELIMIT))
        printf("    %s\n", err.text);
    for (int i = 0; i < w->ngrids && status != ARRAS_OK; i++)
        if (w->sinks[i])
            arras_sink_abandon(w->sinks[i]);
    arras_results_free(got);
    arras_flow_free(flow);
}

static void random_case(int seed, bool text)
{
    arras_options options = { .threads = 1 + seed % 3 };
    int64_t       memory = seed % 5 ? 64 << 20 : 1 + seed * 40;
    int64_t       live;
    world         w;

    seed_state = (uint64_t)seed * 2654435761u + 88172645463325252u;
    snprintf(folder, sizeof folder, "/tmp/arras-apply-XXXXXX");
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    for (int i = 0; i < 5; i++)
        random_bits();
    options.tile_bytes = seed % 4 ? 1 + pick(6000) : 0;
    make_world(&w);
    ar_buffers_clear();
    live = ar_alloc_live();
    run_world(&w, &options, memory, text);
    for (int i = 0; i < 4; i++) {
        arras_source_close(w.sources[i]);
        w.sources[i] = NULL;
    }
    ar_buffers_clear();
    CHECK_EQ_INT(ar_alloc_live(), live);
    free_world(&w);
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void functions(void)
{
    for (int seed = 1; seed <= CASES; seed++) {
        CASE("seed %d", seed);
        random_case(seed, false);
    }
    CASE("most of them run");
    CHECK(nrun >= CASES * 9 / 10 && nlimited > 0);
}

static void texts(void)
{
    for (int seed = 1; seed <= TEXTS; seed++) {
        CASE("seed %d", seed);
        random_case(seed * 1000, true);
    }
}

TEST_MAIN
{
    RUN(functions);
    RUN(texts);
}
