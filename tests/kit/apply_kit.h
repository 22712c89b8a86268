/* apply_kit.h -- for tests of functions in C over arrays: arrays whose cells are read as numbers, a
 * function that sums neighbours in all three forms, and a slow evaluator of the same that knows of
 * no tiles. */
#ifndef TEST_APPLY_KIT_H
#define TEST_APPLY_KIT_H

#include "base/base.h"
#include "test.h"

#include <arras/apply.h>
#include <stdlib.h>

enum { MOST_INPUTS = 3, MOST_OUTPUTS = 2, MOST_OFFSETS = 6, MOST_AXES = 3 };

static uint64_t seed_state;

static inline uint64_t random_bits(void)
{
    seed_state ^= seed_state << 13, seed_state ^= seed_state >> 7, seed_state ^= seed_state << 17;
    return seed_state;
}

/* 0 .. n - 1 */
static inline int pick(int n) { return (int)(random_bits() >> 33) % n; }

/* ---- Arrays ---------------------------------------------------------------------------------- */

typedef struct {
    char        name[16];
    arras_dtype dtype;
    int         rank;
    int64_t     shape[MOST_AXES + 1];
    char       *cells; /* C order */
} grid;

static inline int64_t grid_count(const grid *a)
{
    int64_t n = 1;

    for (int axis = 0; axis < a->rank; axis++)
        n *= a->shape[axis];
    return n;
}

static inline arras_buffer grid_buffer(const grid *a)
{
    return (arras_buffer){ a->cells, a->dtype, a->rank, a->shape, NULL };
}

static inline void grid_alloc(grid *a)
{
    a->cells = calloc((size_t)grid_count(a) + 1, 16);
    if (!a->cells)
        abort();
}

static inline double cell_value(arras_dtype dtype, const void *cell)
{
    switch (dtype) {
    case ARRAS_U8: return *(const uint8_t *)cell;
    case ARRAS_I32: return *(const int32_t *)cell;
    case ARRAS_I64: return (double)*(const int64_t *)cell;
    case ARRAS_F32: return (double)*(const float *)cell;
    default: return *(const double *)cell;
    }
}

static inline void cell_put(arras_dtype dtype, void *cell, double value)
{
    switch (dtype) {
    case ARRAS_U8: *(uint8_t *)cell = (uint8_t)(int64_t)value; break;
    case ARRAS_I32: *(int32_t *)cell = (int32_t)value; break;
    case ARRAS_I64: *(int64_t *)cell = (int64_t)value; break;
    case ARRAS_F32: *(float *)cell = (float)value; break;
    default: *(double *)cell = value; break;
    }
}

static inline char *grid_at(const grid *a, const int64_t *index)
{
    int64_t at = 0;

    for (int axis = 0; axis < a->rank; axis++)
        at = at * a->shape[axis] + index[axis];
    return a->cells + at * (int64_t)arras_dtype_size(a->dtype);
}

static inline bool next_index(int rank, int64_t *index, const int64_t *shape)
{
    for (int axis = rank - 1; axis >= 0; axis--) {
        if (++index[axis] < shape[axis])
            return true;
        index[axis] = 0;
    }
    return false;
}

/* ---- What is computed ------------------------------------------------------------------------ */

typedef struct {
    const grid  *array;
    int          noffsets;
    int64_t      offsets[MOST_OFFSETS][MOST_AXES];
    int64_t      before[MOST_AXES], after[MOST_AXES], step[MOST_AXES], start[MOST_AXES];
    int          axes[MOST_AXES];
    arras_border borders[MOST_AXES];
    double       fills[MOST_AXES]; /* of CONSTANT, as a number */
    char         fill_cells[MOST_AXES][16];
} term;

typedef struct {
    int     nterms, noutputs, rank;
    term    terms[MOST_INPUTS];
    int64_t shape[MOST_AXES];
    int64_t length; /* of a vector; 0: none */
    grid    outputs[MOST_OUTPUTS];
} sum;

static inline double weight(int k, int o) { return 1 + k * 2 + o * 0.5; }

/* Output m, value v of a cell, whose neighbours sum up to `all`; small whole numbers, which all
 * types have. */
static inline double sum_value(double all, int m, int64_t v, int64_t last)
{
    int64_t whole = (int64_t)(all * 2) + m * 3 + v * 5 + last % 7;

    return (double)((whole % 100 + 100) % 100);
}

static inline void sum_put(const sum *s, double all, int64_t last, char *const *out)
{
    for (int m = 0; m < s->noutputs; m++) {
        arras_dtype dtype = s->outputs[m].dtype;

        for (int64_t v = 0; v < (s->length ? s->length : 1); v++)
            cell_put(dtype, out[m] + v * (int64_t)arras_dtype_size(dtype),
                     sum_value(all, m, v, last));
    }
}

/* Through the accessor for so many axes, or the one for any number. */
static inline const char *near_of(const arras_cell *c, int k, const term *t, int o)
{
    const int64_t *at = t->offsets[o];

    switch (o % 2 ? 0 : t->array->rank) {
    case 1: return arras_cell_near1(c, k, at[0]);
    case 2: return arras_cell_near2(c, k, at[0], at[1]);
    case 3: return arras_cell_near3(c, k, at[0], at[1], at[2]);
    default: return arras_cell_near(c, k, at);
    }
}

static inline int64_t last_index(const sum *s, const int64_t *index)
{
    return s->rank ? index[s->rank - 1] : 0;
}

static inline void sum_cell(const arras_cell *c, void *const *out)
{
    const sum *s = c->context;
    double     all = 0;

    for (int k = 0; k < s->nterms; k++)
        for (int o = 0; o < s->terms[k].noffsets; o++)
            all += weight(k, o) *
                   cell_value(s->terms[k].array->dtype, near_of(c, k, &s->terms[k], o));
    sum_put(s, all, last_index(s, c->index), (char *const *)out);
}

/* Partial sums of the row lie in the thread's own memory. */
static inline void sum_row(const arras_cell *c, int64_t count, void *const *out)
{
    const sum *s = c->context;
    double    *all = c->scratch;

    for (int64_t x = 0; x < count; x++)
        all[x] = 0;
    for (int k = 0; k < s->nterms; k++)
        for (int o = 0; o < s->terms[k].noffsets; o++) {
            const char *at = near_of(c, k, &s->terms[k], o);

            for (int64_t x = 0; x < count; x++)
                all[x] += weight(k, o) * cell_value(s->terms[k].array->dtype,
                                                    at + x * c->views[k].advance);
        }
    for (int64_t x = 0; x < count; x++) {
        char *to[MOST_OUTPUTS];

        for (int m = 0; m < s->noutputs; m++)
            to[m] = (char *)out[m] + x * (s->length ? s->length : 1) *
                                         (int64_t)arras_dtype_size(s->outputs[m].dtype);
        sum_put(s, all[x], last_index(s, c->index) + x, to);
    }
}

static const char *const input_names[MOST_INPUTS] = { "f", "g", "h" };

/* The same as text. */
static inline void sum_text(ar_text *out, const sum *s)
{
    ar_text_add(out, "double all = 0;\n");
    for (int k = 0; k < s->nterms; k++)
        for (int o = 0; o < s->terms[k].noffsets; o++) {
            const term *t = &s->terms[k];

            ar_text_printf(out, "all += %g * %s(", weight(k, o), input_names[k]);
            for (int axis = 0; axis < t->array->rank; axis++)
                ar_text_printf(out, "%s%d", axis ? ", " : "", (int)t->offsets[o][axis]);
            ar_text_add(out, ");\n");
        }
    for (int m = 0; m < s->noutputs; m++)
        for (int64_t v = 0; v < (s->length ? s->length : 1); v++) {
            ar_text_printf(out, "%s", s->outputs[m].name);
            if (s->length)
                ar_text_printf(out, "[%d]", (int)v);
            ar_text_printf(out,
                           " = (((int64_t)(all * 2) + %d + index(%d) %% 7) %% 100 + 100) %% 100;\n",
                           m * 3 + (int)v * 5, s->rank ? s->rank - 1 : 0);
        }
}

/* ---- The slow way ---------------------------------------------------------------------------- */

/* Step by step, as a person would unfold the array. */
static inline int64_t unfold(arras_edge_rule rule, int64_t i, int64_t n)
{
    while (i < 0 || i >= n)
        switch (rule) {
        case ARRAS_EDGE_NEAREST: i = i < 0 ? 0 : n - 1; break;
        case ARRAS_EDGE_WRAP: i += i < 0 ? n : -n; break;
        case ARRAS_EDGE_REFLECT: i = i < 0 ? -1 - i : 2 * n - 1 - i; break;
        case ARRAS_EDGE_MIRROR: i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i; break;
        default: return -1;
        }
    return i;
}

static inline double term_value(const term *t, int o, const int64_t *index)
{
    int64_t at[MOST_AXES];
    double  fill = 0;
    bool    outside = false;

    for (int a = 0; a < t->array->rank; a++) {
        int64_t centre = t->start[a] + t->step[a] * index[t->axes[a]];

        at[a] = unfold(t->borders[a].rule, centre + t->offsets[o][a], t->array->shape[a]);
        if (at[a] < 0) {
            outside = true;
            fill = t->fills[a];
        }
    }
    return outside ? fill : cell_value(t->array->dtype, grid_at(t->array, at));
}

/* Fills the outputs. */
static inline void sum_slowly(sum *s)
{
    int64_t index[MOST_AXES + 1] = { 0 }, cells = 1;

    for (int axis = 0; axis < s->rank; axis++)
        cells *= s->shape[axis];
    for (int64_t i = 0; i < cells; i++) {
        double all = 0;
        char  *to[MOST_OUTPUTS];

        for (int k = 0; k < s->nterms; k++)
            for (int o = 0; o < s->terms[k].noffsets; o++)
                all += weight(k, o) * term_value(&s->terms[k], o, index);
        for (int m = 0; m < s->noutputs; m++)
            to[m] = s->outputs[m].cells + i * (s->length ? s->length : 1) *
                                              (int64_t)arras_dtype_size(s->outputs[m].dtype);
        sum_put(s, all, last_index(s, index), to);
        next_index(s->rank, index, s->shape);
    }
}

#endif
