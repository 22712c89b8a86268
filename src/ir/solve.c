/* solve.c -- sizes from the shapes of real arrays: a system of linear equations in whole numbers.
 *
 * Nearly every fact names one size ("axis 0 of x is n"), so facts with one unknown are used first,
 * over and over.  What is left (n + m is 7, n - m is 1) goes through exact elimination. */
#include "ir/graph.h"

__extension__ typedef __int128 big;

typedef struct {
    const arras_graph  *g;
    int                 nfacts, nsizes;
    const ar_size_fact *facts;
    int64_t            *sizes; /* -1: not known */
    int                *from;  /* fact that gave each size, -1: elimination */
    arras_error        *err;
} solver;

static void place_print(ar_text *out, const ar_size_fact *fact)
{
    if (fact->axis < 0)
        ar_text_printf(out, "the value bound to %s", fact->name);
    else
        ar_text_printf(out, "axis %d of %s", fact->axis, fact->name);
}

/* "axis 1 of y is 6, but n + 1 is 5 there: n is 4 by axis 0 of x" */
static arras_status fail_conflict(solver *s, const ar_size_fact *fact, const char *problem)
{
    const ar_affine *affine = ar_dim_affine(s->g, fact->dim);
    ar_text          text = { 0 };

    place_print(&text, fact);
    ar_text_printf(&text, " is %" PRId64 ", but the program says ", fact->value);
    ar_dim_print(&text, s->g, fact->dim);
    ar_text_add(&text, problem);
    for (int i = 0; affine && i < affine->nterms; i++) {
        int size = affine->terms[i].size;

        if (s->sizes[size] < 0)
            continue;
        ar_text_printf(&text, "%s %s is %" PRId64, i ? "," : ":", s->g->sizes[size],
                       s->sizes[size]);
        if (s->from[size] >= 0) {
            ar_text_add(&text, " by ");
            place_print(&text, &s->facts[s->from[size]]);
        }
    }
    ar_fail(s->err, ARRAS_ESIZE, "%s", text.data ? text.data : "sizes conflict");
    ar_text_free(&text);
    return ARRAS_ESIZE;
}

/* value - constant - known terms; counts the unknown terms and gives the last of them.  -1 when the
 * numbers are too large even for 128 bits. */
static int unknowns(const solver *s, const ar_size_fact *fact, ar_term *unknown, big *rest)
{
    const ar_affine *affine = ar_dim_affine(s->g, fact->dim);
    int              count = 0;

    *rest = (big)fact->value - (affine ? (big)affine->constant : (big)fact->dim);
    for (int i = 0; affine && i < affine->nterms; i++) {
        ar_term term = affine->terms[i];

        if (s->sizes[term.size] < 0)
            *unknown = term, count++;
        else if (__builtin_sub_overflow(*rest, (big)term.factor * s->sizes[term.size], rest))
            return -1;
    }
    return count;
}

static arras_status settle(solver *s, int fact, ar_term unknown, big rest)
{
    big value = rest / unknown.factor;

    if (rest % unknown.factor != 0)
        return fail_conflict(s, &s->facts[fact], ", which no whole number gives");
    if (value < 0)
        return fail_conflict(s, &s->facts[fact], ", which no size >= 0 gives");
    if (value > INT64_MAX)
        return fail_conflict(s, &s->facts[fact], ", which is too large");
    s->sizes[unknown.size] = (int64_t)value;
    s->from[unknown.size] = fact;
    return ARRAS_OK;
}

static arras_status settle_single_unknowns(solver *s)
{
    for (bool progress = true; progress;) {
        progress = false;
        for (int f = 0; f < s->nfacts; f++) {
            ar_term      unknown;
            big          rest;
            arras_status status;

            int count = unknowns(s, &s->facts[f], &unknown, &rest);

            if (count < 0)
                return fail_conflict(s, &s->facts[f], ", which is too large to compare");
            if (count != 1)
                continue;
            if ((status = settle(s, f, unknown, rest)) != ARRAS_OK)
                return status;
            progress = true;
        }
    }
    return ARRAS_OK;
}

/* ---- Elimination ----------------------------------------------------------------------------- */

/* Rows of factors over the unknown sizes with the right-hand side last; row * size, not shortened.
 */
typedef struct {
    int  nrows, ncols;
    big *cells;
    int *column; /* of each size, -1: known */
    int *size;   /* of each column */
    bool overflow;
} matrix;

static big *cell(matrix *m, int row, int col)
{
    return &m->cells[(size_t)row * (size_t)(m->ncols + 1) + (size_t)col];
}

static big big_gcd(big a, big b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b) {
        big rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Keeps numbers small; the row means the same. */
static void shorten(matrix *m, int row)
{
    big common = 0;

    for (int c = 0; c <= m->ncols; c++)
        common = big_gcd(common, *cell(m, row, c));
    for (int c = 0; common > 1 && c <= m->ncols; c++)
        *cell(m, row, c) /= common;
}

/* target := target * pivot - pivot_row * factor, so that column col of target becomes 0. */
static void eliminate(matrix *m, int pivot_row, int target, int col)
{
    big pivot = *cell(m, pivot_row, col), factor = *cell(m, target, col);

    for (int c = 0; c <= m->ncols; c++) {
        big left, right;

        if (__builtin_mul_overflow(*cell(m, target, c), pivot, &left) ||
            __builtin_mul_overflow(*cell(m, pivot_row, c), factor, &right) ||
            __builtin_sub_overflow(left, right, cell(m, target, c))) {
            m->overflow = true;
            return;
        }
    }
    shorten(m, target);
}

static void swap_rows(matrix *m, int a, int b)
{
    for (int c = 0; c <= m->ncols; c++) {
        big kept = *cell(m, a, c);

        *cell(m, a, c) = *cell(m, b, c);
        *cell(m, b, c) = kept;
    }
}

/* To reduced row echelon form: a size is determined where its row has no other unknown. */
static void reduce(matrix *m)
{
    int done = 0;

    for (int col = 0; col < m->ncols && done < m->nrows; col++) {
        int pivot = done;

        while (pivot < m->nrows && *cell(m, pivot, col) == 0)
            pivot++;
        if (pivot == m->nrows)
            continue;
        swap_rows(m, done, pivot);
        for (int row = 0; row < m->nrows && !m->overflow; row++)
            if (row != done && *cell(m, row, col) != 0)
                eliminate(m, done, row, col);
        done++;
    }
}

static arras_status read_off(solver *s, matrix *m)
{
    for (int row = 0; row < m->nrows; row++) {
        int     count = 0;
        ar_term unknown = { 0, 0 };
        big     value = *cell(m, row, m->ncols), factor = 0;

        for (int c = 0; c < m->ncols; c++)
            if (*cell(m, row, c) != 0)
                count++, unknown.size = m->size[c], factor = *cell(m, row, c);
        if (count == 0 && value != 0)
            return ar_fail(s->err, ARRAS_ESIZE,
                           "the shapes of the inputs contradict each other: "
                           "no sizes fit all of them");
        if (count != 1)
            continue;
        if (value % factor != 0 || value / factor < 0 || value / factor > INT64_MAX)
            return ar_fail(s->err, ARRAS_ESIZE,
                           "the shapes of the inputs give size %s no whole number >= 0: check them",
                           s->g->sizes[unknown.size]);
        s->sizes[unknown.size] = (int64_t)(value / factor);
    }
    return ARRAS_OK;
}

static void fill_matrix(solver *s, matrix *m)
{
    int row = 0;

    for (int f = 0; f < s->nfacts; f++) {
        const ar_affine *affine = ar_dim_affine(s->g, s->facts[f].dim);
        ar_term          unknown;
        big              rest;

        if (unknowns(s, &s->facts[f], &unknown, &rest) == 0)
            continue;
        for (int i = 0; i < affine->nterms; i++)
            if (m->column[affine->terms[i].size] >= 0)
                *cell(m, row, m->column[affine->terms[i].size]) = affine->terms[i].factor;
        *cell(m, row++, m->ncols) = rest;
    }
}

/* Counts the equations that are left and numbers their unknown sizes. */
static void number_unknowns(solver *s, matrix *m)
{
    for (int i = 0; i < s->nsizes; i++)
        m->column[i] = -1;
    for (int f = 0; f < s->nfacts; f++) {
        const ar_affine *affine = ar_dim_affine(s->g, s->facts[f].dim);
        bool             open = false;

        for (int i = 0; affine && i < affine->nterms; i++) {
            int size = affine->terms[i].size;

            if (s->sizes[size] >= 0)
                continue;
            open = true;
            if (m->column[size] < 0) {
                m->size[m->ncols] = size;
                m->column[size] = m->ncols++;
            }
        }
        m->nrows += open;
    }
}

static arras_status solve_the_rest(solver *s)
{
    matrix       m = { .column = ar_alloc((size_t)s->nsizes, sizeof(int)),
                       .size = ar_alloc((size_t)s->nsizes, sizeof(int)) };
    arras_status status = ARRAS_OK;

    if (m.column && m.size) {
        number_unknowns(s, &m);
        m.cells = ar_alloc((size_t)m.nrows * (size_t)(m.ncols + 1), sizeof *m.cells);
    }
    if (!m.cells) {
        status = ar_fail_memory(s->err, (size_t)s->nsizes * sizeof(int));
    } else if (m.nrows > 0) {
        fill_matrix(s, &m);
        reduce(&m);
        status = m.overflow ? ar_fail(s->err, ARRAS_ESIZE,
                                      "the inputs' sizes are too large to be solved for")
                            : read_off(s, &m);
    }
    ar_free(m.column);
    ar_free(m.size);
    ar_free(m.cells);
    return status;
}

static arras_status check_facts(solver *s)
{
    for (int f = 0; f < s->nfacts; f++) {
        ar_term unknown;
        big     rest;

        if (unknowns(s, &s->facts[f], &unknown, &rest) == 0 && rest != 0)
            return fail_conflict(s, &s->facts[f], "");
    }
    return ARRAS_OK;
}

arras_status ar_sizes_solve(int64_t *sizes, const arras_graph *g, int n, const ar_size_fact *facts,
                            arras_error *err)
{
    int          nsizes = (int)g->nsizes;
    int         *from = ar_alloc((size_t)nsizes, sizeof *from);
    solver       s = { g, n, nsizes, facts, sizes, from, err };
    arras_status status;

    if (!from)
        return ar_fail_memory(err, (size_t)nsizes * sizeof *from);
    for (int i = 0; i < nsizes; i++)
        sizes[i] = from[i] = -1;
    status = settle_single_unknowns(&s);
    if (status == ARRAS_OK)
        status = solve_the_rest(&s);
    if (status == ARRAS_OK)
        status = check_facts(&s);
    ar_free(from);
    return status;
}
