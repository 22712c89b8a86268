/* chunk_tool.c -- for tests in Python: the mathematics of chunk shapes, one question at a time.
 *
 *     chunk_tool VERB KEY=VALUE ...
 *
 * Lists are numbers with commas, lists of lists have semicolons between.  A workload is shapes= and
 * p=, or ranges=AXIS,LENGTH;... and p= (independent), or boxes=lo,hi,lo,hi,...;... .  Others: N
 * (the array), C (cells of a chunk), c (a chunk), model (0 exact, 1 paper, 2 ss), pow2, bytes (of a
 * cell), real (mean lengths less 1).  A failure is one line and exit status 1. */
#include "chunk/chunk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunk/probability.h"

enum { MOST = 4096 };

static char **arguments;

static const char *value_of(const char *key)
{
    size_t length = strlen(key);

    for (char **a = arguments; *a; a++)
        if (strncmp(*a, key, length) == 0 && (*a)[length] == '=')
            return *a + length + 1;
    return NULL;
}

/* All numbers of a list, whatever parts them; *rows counts the semicolons. */
static int64_t read_numbers(int64_t *out, const char *text, int64_t *rows)
{
    int64_t n = 0;

    for (*rows = text ? 1 : 0; text && *text && n < MOST;) {
        char *end;

        out[n++] = strtoll(text, &end, 10);
        *rows += *end == ';';
        text = *end ? end + 1 : end;
    }
    return n;
}

static int64_t read_number(const char *key, int64_t otherwise)
{
    const char *text = value_of(key);

    return text ? strtoll(text, NULL, 10) : otherwise;
}

static int read_texts(const char **out, const char *text)
{
    static char copy[MOST * 16];
    int         n = 0;

    snprintf(copy, sizeof copy, "%s", text);
    for (char *part = strtok(copy, ";"); part && n < MOST; part = strtok(NULL, ";"))
        out[n++] = part;
    return n;
}

static arras_status read_workload(arras_workload **out, arras_error *err)
{
    static int64_t     numbers[MOST], lo[MOST], hi[MOST];
    static const char *texts[MOST];
    static int         axes[MOST];
    int64_t            rows, n, rank = 0;
    bool               p = value_of("p") != NULL;

    if (p)
        read_texts(texts, value_of("p"));
    if (value_of("shapes")) {
        n = read_numbers(numbers, value_of("shapes"), &rows);
        if (n % rows)
            return ar_fail(err, ARRAS_ESHAPE, "ragged shapes");
        return ar_workload_from_shapes(out, (int)(n / rows), rows, numbers, p ? texts : NULL, err);
    }
    if (value_of("ranges")) {
        read_numbers(numbers, value_of("ranges"), &rows);
        for (int64_t i = 0; i < rows; i++) {
            axes[i] = (int)numbers[2 * i];
            lo[i] = numbers[2 * i + 1];
            rank = ar_max64(rank, axes[i] + 1);
        }
        return ar_workload_from_ranges(out, (int)rank, rows, axes, lo, p ? texts : NULL, err);
    }
    n = read_numbers(numbers, value_of("boxes"), &rows);
    for (int64_t i = 0; i < n / 2; i++) {
        lo[i] = numbers[2 * i];
        hi[i] = numbers[2 * i + 1];
    }
    return ar_workload_from_boxes(out, rows ? (int)(n / 2 / rows) : 0, rows, lo, hi, err);
}

static arras_status read_problem(ar_chunk_problem *p, arras_error *err)
{
    arras_workload *w;
    int64_t         rows, extents[MOST] = { 0 };
    arras_status    status = read_workload(&w, err);

    if (status != ARRAS_OK)
        return status;
    *p = (ar_chunk_problem){ .workload = w,
                             .model = (arras_chunk_model)read_number("model", 1),
                             .cells = read_number("C", 1),
                             .powers_of_two = value_of("pow2") != NULL };
    read_numbers(extents, value_of("N"), &rows);
    for (int i = 0; i < w->rank; i++) {
        p->extent[i] = rows ? extents[i] : 0;
        p->multiple[i] = 1;
        if (rows && extents[i] < 1)
            return ar_fail(err, ARRAS_ESHAPE, "axis %d of the array has length %" PRId64, i,
                           extents[i]);
    }
    return ar_chunk_problem_check(p, err);
}

static void print_list(const int64_t *numbers, int n)
{
    for (int i = 0; i < n; i++)
        printf("%s%" PRId64, i ? "," : "", numbers[i]);
    putchar('\n');
}

static void print_cost(const ar_chunk_problem *p, const int64_t *chunk)
{
    ar_text text = { 0 };

    if (!ar_chunk_exact(&text, p, chunk, -1))
        ar_text_add(&text, "none");
    printf("%s %.17g\n", text.data, ar_chunk_value(p, chunk, -1));
    ar_text_free(&text);
}

/* ---- Verbs ----------------------------------------------------------------------------------- */

static arras_status do_cost(arras_error *err)
{
    ar_chunk_problem p;
    int64_t          chunk[MOST], rows;
    arras_status     status = read_problem(&p, err);

    if (status != ARRAS_OK)
        return status;
    read_numbers(chunk, value_of("c"), &rows);
    status = ar_chunk_check(p.workload->rank, chunk, err);
    if (status == ARRAS_OK)
        print_cost(&p, chunk);
    return status;
}

static arras_status do_optimum(arras_error *err)
{
    ar_chunk_problem p;
    ar_chunk_optimum best;
    arras_status     status = read_problem(&p, err);

    if (status == ARRAS_OK)
        status = ar_chunk_optimise(&best, &p, 0, 0, err);
    if (status != ARRAS_OK)
        return status;
    print_list(best.least, p.workload->rank);
    print_cost(&p, best.least);
    puts(best.proven ? "proven" : "open");
    return ARRAS_OK;
}

static arras_status do_greedy(arras_error *err)
{
    ar_chunk_problem p;
    int64_t          chunk[ARRAS_MAX_RANK];
    arras_status     status = read_problem(&p, err);

    if (status != ARRAS_OK)
        return status;
    for (int i = 0; i < p.workload->rank; i++)
        chunk[i] = 1;
    for (int axis = 0; axis >= 0;) {
        print_list(chunk, p.workload->rank);
        print_cost(&p, chunk);
        axis = ar_chunk_greedy_step(&p, chunk);
        if (axis >= 0)
            chunk[axis] *= 2;
    }
    return ARRAS_OK;
}

static int read_lengths(double *out)
{
    const char *texts[MOST];
    int         n = read_texts(texts, value_of("real"));

    for (int i = 0; i < n; i++)
        out[i] = strtod(texts[i], NULL);
    return n;
}

static arras_status do_closed(void)
{
    double  lengths[MOST], edges[ARRAS_MAX_RANK], cost;
    int64_t extent[MOST], rows, cells = read_number("C", 1);
    int     powers[ARRAS_MAX_RANK], rank = read_lengths(lengths);

    read_numbers(extent, value_of("N"), &rows);
    cost = ar_chunk_closed_form(edges, rank, lengths, rows ? extent : NULL, (double)cells);
    for (int i = 0; i < rank; i++)
        printf("%s%.17g", i ? "," : "", edges[i]);
    printf("\n%.17g\n", cost);
    bool feasible = ar_chunk_closed_form_rounded(powers, rank, lengths, rows ? extent : NULL,
                                                 63 - __builtin_clzll((unsigned long long)cells));
    for (int i = 0; i < rank && feasible; i++)
        printf("%s%d", i ? "," : "", 1 << powers[i]);
    puts(feasible ? "" : "infeasible");
    return ARRAS_OK;
}

static arras_status do_size(void)
{
    double lengths[MOST];
    int    rank = read_lengths(lengths);

    printf("%.17g\n", ar_chunk_closed_form_cells(rank, lengths, strtod(value_of("latency"), NULL),
                                                 strtod(value_of("per_cell"), NULL)));
    return ARRAS_OK;
}

static arras_status do_guess(arras_error *err)
{
    int64_t        shape[MOST], chunk[MOST], rows;
    ar_chunk_array a = { .shape = shape };
    const char    *rule = value_of("rule");
    arras_status   status = ARRAS_OK;

    a.rank = (int)read_numbers(shape, value_of("N"), &rows);
    a.cell_bytes = read_number("bytes", 1);
    a.limit = read_number("limit", 0);
    if (strcmp(rule, "h5py") == 0)
        ar_chunk_guess_h5py(chunk, &a);
    else if (strcmp(rule, "zarr") == 0)
        ar_chunk_guess_zarr(chunk, &a);
    else if (strcmp(rule, "dask") == 0)
        ar_chunk_guess_dask(chunk, &a);
    else if (strcmp(rule, "netcdf") == 0)
        ar_chunk_guess_netcdf(chunk, &a, (double)a.limit);
    else
        status = ar_chunk_guess_rew(chunk, &a, err);
    if (status == ARRAS_OK)
        print_list(chunk, a.rank);
    return status;
}

static arras_status do_trace(arras_error *err)
{
    arras_workload *w;
    int64_t         chunk[MOST], rows, chunks;
    double          error;
    arras_status    status = read_workload(&w, err);

    if (status != ARRAS_OK)
        return status;
    read_numbers(chunk, value_of("c"), &rows);
    status = ar_chunk_trace(&chunks, &error, w, chunk, err);
    if (status == ARRAS_OK)
        printf("%" PRId64 "\n%" PRId64 "\n", chunks, w->queries);
    return status;
}

static void print_shapes(const arras_workload *w)
{
    for (int64_t i = 0; i < w->count; i++) {
        printf("shape %" PRId64 "/%" PRId64 " ", w->weights[i], w->total);
        print_list(w->shapes + i * w->rank, w->rank);
    }
}

static arras_status do_workload(arras_error *err)
{
    arras_workload *w, *independent, *joint;
    arras_status    status = read_workload(&w, err);

    if (status == ARRAS_OK)
        status = ar_workload_independent(&independent, w, err);
    if (status == ARRAS_OK)
        status = ar_workload_joint(&joint, independent, err);
    if (status != ARRAS_OK)
        return status;
    print_shapes(w);
    for (int i = 0; i < w->rank; i++)
        for (int64_t r = 0; r < independent->axes[i].count; r++)
            printf("range %d %" PRId64 " %" PRId64 "/%" PRId64 "\n", i,
                   independent->axes[i].shares[r].range, independent->axes[i].shares[r].weight,
                   independent->axes[i].total);
    puts("joint");
    print_shapes(joint);
    return ARRAS_OK;
}

static arras_status do_bytes(arras_error *err)
{
    int64_t      chunk[MOST], rows, bytes;
    int          rank = (int)read_numbers(chunk, value_of("c"), &rows);
    arras_status status =
        ar_chunk_bytes(&bytes, rank, chunk, read_number("bytes", 1), value_of("hdf5") != NULL, err);

    if (status == ARRAS_OK)
        printf("%" PRId64 "\n", bytes);
    return status;
}

static arras_status do_ratio(arras_error *err)
{
    int64_t      upper, lower;
    arras_status status = ar_ratio_read(&upper, &lower, value_of("text"), "a range", err);

    if (status == ARRAS_OK)
        printf("%" PRId64 "/%" PRId64 "\n", upper, lower);
    return status;
}

static arras_status run(const char *verb, arras_error *err)
{
    if (strcmp(verb, "cost") == 0)
        return do_cost(err);
    if (strcmp(verb, "optimum") == 0)
        return do_optimum(err);
    if (strcmp(verb, "greedy") == 0)
        return do_greedy(err);
    if (strcmp(verb, "closed") == 0)
        return do_closed();
    if (strcmp(verb, "size") == 0)
        return do_size();
    if (strcmp(verb, "guess") == 0)
        return do_guess(err);
    if (strcmp(verb, "trace") == 0)
        return do_trace(err);
    if (strcmp(verb, "workload") == 0)
        return do_workload(err);
    if (strcmp(verb, "bytes") == 0)
        return do_bytes(err);
    if (strcmp(verb, "ratio") == 0)
        return do_ratio(err);
    return ar_fail(err, ARRAS_EINVAL, "unknown verb %s", verb);
}

int main(int argc, char **argv)
{
    arras_error err;

    if (argc < 2)
        return 2;
    arguments = argv + 2;
    if (run(argv[1], &err) == ARRAS_OK)
        return 0;
    fprintf(stderr, "chunk_tool: %s\n", err.text);
    return 1;
}
