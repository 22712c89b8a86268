/* optimum.c -- the optimum of a problem: tables, a first shape, the search, balance; and the size
 * of a chunk when time is asked. */
#include "chunk/search.h"

#include <math.h>
#include <string.h>

#define EFFORT INT64_C(60000000) /* below 2 s */

static void set_result(ar_chunk_optimum *out, const ar_search *s)
{
    out->cost = ar_chunk_value(s->problem, s->best, -1);
    out->proven = s->open >= log(s->cost) - 1e-11;
    out->bound = out->proven ? out->cost : exp(s->open);
    out->examined = s->examined;
    memcpy(out->least, s->best, sizeof out->least);
    memcpy(out->chunk, s->best, sizeof out->chunk);
}

arras_status ar_chunk_optimise(ar_chunk_optimum *out, const ar_chunk_problem *p, double within,
                               int64_t effort, arras_error *err)
{
    ar_search    s;
    arras_status status = ar_chunk_problem_check(p, err);

    if (status == ARRAS_OK)
        status = ar_search_open(&s, p, err);
    if (status != ARRAS_OK)
        return status;
    s.effort = effort ? effort : EFFORT;
    s.cubes = within > 0;
    ar_search_ascend(&s);
    ar_search_run(&s);
    set_result(out, &s);
    if (within > 0 && s.queries > 1) {
        s.effort = s.examined + s.effort / 4;
        ar_search_balance(&s, within, out->chunk);
    }
    ar_search_close(&s);
    return ARRAS_OK;
}

/* ---- The size -------------------------------------------------------------------------------- */

typedef struct size_choice {
    int64_t cells;
    double  seconds; /* that the tables promise */
    double  bound;   /* of sizes that were looked at closely enough */
} size_choice;

/* A chunk of more than `above` and at most `cells` cells meets at least as many chunks as the
 * tables say for the one, and takes at least the time of the other. */
static void try_size(size_choice *best, const ar_search *s, ar_chunk_clock clock, int64_t above,
                     int64_t cells)
{
    double chunks = exp(ar_search_bound_at(s, cells));
    double seconds = chunks * (clock.fixed + clock.per_cell * (double)cells);

    best->bound = fmin(best->bound, chunks * (clock.fixed + clock.per_cell * (double)(above + 1)));
    if (seconds < best->seconds) {
        best->seconds = seconds;
        best->cells = cells;
    }
}

/* Quotients of a number are far apart near it: there, sizes between two of them are tried as the
 * numbers of tables of their own, with the same weights. */
static arras_status try_between(size_choice *best, const ar_search *coarse, ar_chunk_clock clock,
                                int64_t low, int64_t high, arras_error *err)
{
    ar_chunk_problem part = *coarse->problem;
    arras_status     status = ARRAS_OK;

    while (high > low && status == ARRAS_OK) {
        int64_t   next = ar_max64(low, ar_min64(high - 1, (int64_t)((double)high / 1.04)));
        ar_search s;

        part.cells = high;
        if (ar_chunk_problem_check(&part, NULL) != ARRAS_OK)
            break; /* fixed edges need more cells */
        status = ar_search_open(&s, &part, err);
        if (status != ARRAS_OK)
            break;
        memcpy(s.weights, coarse->weights, (size_t)s.queries * sizeof *s.weights);
        ar_search_bound(&s, false);
        try_size(best, &s, clock, next, s.cells);
        ar_search_close(&s);
        high = next;
    }
    return status;
}

static arras_status choose_size(size_choice *best, const ar_search *s, ar_chunk_clock clock,
                                arras_error *err)
{
    size_choice  first = { .seconds = INFINITY, .bound = INFINITY };
    int64_t      at = 0, low, high;
    arras_status status;

    for (int64_t v = 0; v < s->quotients; v++)
        try_size(&first, s, clock, v > 0 ? s->values[v - 1] : 0, s->values[v]);
    at = ar_search_column(s, first.cells);
    low = at > 0 ? s->values[at - 1] : 0;
    high = s->values[at + 1 < s->quotients ? at + 1 : at];
    *best = (size_choice){ first.cells, first.seconds, INFINITY };
    if ((double)high < 1.1 * (double)low) {
        best->bound = first.bound;
        return ARRAS_OK;
    }
    status = try_between(best, s, clock, low, high, err);
    for (int64_t v = 0; v < s->quotients; v++)
        if (v != at && v != at + 1)
            try_size(best, s, clock, v > 0 ? s->values[v - 1] : 0, s->values[v]);
    return status;
}

arras_status ar_chunk_best_size(int64_t *cells, double *bound, const ar_chunk_problem *p,
                                ar_chunk_clock clock, arras_error *err)
{
    size_choice  best;
    ar_search    s;
    arras_status status = ar_chunk_problem_check(p, err);

    if (status == ARRAS_OK)
        status = ar_search_open(&s, p, err);
    if (status != ARRAS_OK)
        return status;
    ar_search_ascend(&s);
    ar_search_bound(&s, true);
    status = choose_size(&best, &s, clock, err);
    ar_search_close(&s);
    if (status != ARRAS_OK)
        return status;
    *cells = best.cells;
    *bound = best.bound;
    return ARRAS_OK;
}
