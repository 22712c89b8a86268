/* lang_points.c -- how far an affine form goes over the values that indices take together: the
 * range of each may depend on others.  The rows below hold of the indices; eliminating one after
 * the other (Fourier and Motzkin) leaves what they say of the form. */
#include "lang/lang_ranges.h"

/* Beyond, nothing is proved, and the run has to look. */
enum { MOST_INDICES = 16, MOST_ROWS = 48 };
#define LARGEST ((int64_t)1 << 52)

/* constant + sum of factor * index >= 0 */
typedef struct {
    int64_t constant, factors[MOST_INDICES];
} row;

/* Number 0 is no index but the value that is asked for. */
typedef struct {
    const lang_index *indices[MOST_INDICES];
    row               rows[MOST_ROWS];
    int               nindices, nrows;
    bool              empty, too_large;
    bool              inexact; /* not all that is left comes from whole numbers */
} points;

/* ---- Rows ------------------------------------------------------------------------------------ */

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static bool is_small(int64_t value) { return value > -LARGEST && value < LARGEST; }

static bool row_is_small(const row *r)
{
    bool small = is_small(r->constant);

    for (int i = 0; i < MOST_INDICES; i++)
        small = small && is_small(r->factors[i]);
    return small;
}

static bool same_factors(const row *a, const row *b)
{
    for (int i = 0; i < MOST_INDICES; i++)
        if (a->factors[i] != b->factors[i])
            return false;
    return true;
}

/* Indices are whole numbers, so what their factors share divides the constant, rounded down. */
static void add_row(points *p, row r)
{
    int64_t divisor = 0;

    if (!row_is_small(&r)) {
        p->too_large = true;
        return;
    }
    for (int i = 0; i < MOST_INDICES; i++)
        divisor = greatest_divisor(divisor, r.factors[i]);
    if (divisor == 0) {
        p->empty = p->empty || r.constant < 0;
        return;
    }
    for (int i = 0; i < MOST_INDICES; i++)
        r.factors[i] /= divisor;
    r.constant = lang_floor_divide(r.constant, divisor);
    for (int i = 0; i < p->nrows; i++)
        if (same_factors(&p->rows[i], &r)) {
            if (r.constant < p->rows[i].constant)
                p->rows[i].constant = r.constant;
            return;
        }
    if (p->nrows == MOST_ROWS)
        p->too_large = true;
    else
        p->rows[p->nrows++] = r;
}

/* The multiple of both in which an index is gone: its factor is above 0 in one, below in other. */
static void add_without(points *p, const row *one, const row *other, int index)
{
    int64_t shared = greatest_divisor(one->factors[index], other->factors[index]);
    int64_t a = -other->factors[index] / shared, b = one->factors[index] / shared, x, y;
    row     r;

    p->inexact = p->inexact || (one->factors[index] != 1 && other->factors[index] != -1);
    for (int i = 0; i <= MOST_INDICES; i++) {
        bool    is_factor = i < MOST_INDICES;
        int64_t of_one = is_factor ? one->factors[i] : one->constant;
        int64_t of_other = is_factor ? other->factors[i] : other->constant;

        if (__builtin_mul_overflow(of_one, a, &x) || __builtin_mul_overflow(of_other, b, &y) ||
            __builtin_add_overflow(x, y, is_factor ? &r.factors[i] : &r.constant)) {
            p->too_large = true;
            return;
        }
    }
    add_row(p, r);
}

static void eliminate(points *p, int index)
{
    row rows[MOST_ROWS];
    int nrows = p->nrows;

    for (int i = 0; i < nrows; i++)
        rows[i] = p->rows[i];
    p->nrows = 0;
    for (int i = 0; i < nrows; i++) {
        if (rows[i].factors[index] == 0)
            add_row(p, rows[i]);
        for (int j = 0; rows[i].factors[index] > 0 && j < nrows && !p->too_large; j++)
            if (rows[j].factors[index] < 0)
                add_without(p, &rows[i], &rows[j], index);
    }
}

/* ---- Indices --------------------------------------------------------------------------------- */

static int place_of(points *p, const lang_index *index);

/* r += factor * a */
static void add_form(points *p, row *r, const lang_affine *a, int64_t factor)
{
    r->constant += factor * a->constant;
    for (int i = 0; i < a->nterms; i++)
        r->factors[place_of(p, a->terms[i].index)] += factor * a->terms[i].factor;
}

/* first <= index, index <= end - 1.  Numbers are those that are left of a range. */
static void add_range(points *p, const lang_index *index, int place)
{
    row first = { .factors[0] = 0 }, last = { .constant = -1 };

    first.factors[place] = 1;
    last.factors[place] = -1;
    if (index->moves) {
        if (index->first)
            add_form(p, &first, index->first->affine, -1);
        add_form(p, &last, index->end->affine, 1);
    } else {
        first.constant = -index->lo;
        last.constant = index->hi - 1;
    }
    add_row(p, first);
    add_row(p, last);
}

/* Ranges depend on indices further outside only.  Of one without room 0 comes back. */
static int place_of(points *p, const lang_index *index)
{
    int place = 1;

    while (place < p->nindices && p->indices[place] != index)
        place++;
    if (place < p->nindices)
        return place;
    if (place == MOST_INDICES) {
        p->too_large = true;
        return 0;
    }
    p->indices[p->nindices++] = index;
    add_range(p, index, place);
    return place;
}

/* Those around a read, and those of the form: a read is made only where all have values. */
static void find_points(points *p, const lang_affine *a, const lang_index *except,
                        const lang_index *around)
{
    *p = (points){ .nindices = 1 };
    for (; around; around = around->around)
        if (around->state == LANG_KNOWN)
            place_of(p, around);
    for (int i = 0; i < a->nterms; i++)
        if (a->terms[i].index != except)
            place_of(p, a->terms[i].index);
}

/* ---- The largest value ----------------------------------------------------------------------- */

/* How many rows there would be. */
static int cost_of(const points *p, int index)
{
    int above = 0, below = 0;

    for (int i = 0; i < p->nrows; i++) {
        above += p->rows[i].factors[index] > 0;
        below += p->rows[i].factors[index] < 0;
    }
    return above * below - above - below;
}

/* All but one place; 0: all indices. */
static void eliminate_but(points *p, int kept)
{
    bool gone[MOST_INDICES] = { true };

    gone[kept] = true;
    while (!p->too_large) {
        int best = 0;

        for (int i = 1; i < p->nindices; i++)
            if (!gone[i] && (best == 0 || cost_of(p, i) < cost_of(p, best)))
                best = i;
        if (best == 0)
            return;
        gone[best] = true;
        eliminate(p, best);
    }
}

/* Of a form over its indices except one; p is used up.  False: not known, or there are none. */
static bool find_largest(int64_t *out, points *p, const row *form)
{
    row  value = *form;
    bool found = false;

    value.factors[0] = -1; /* value <= form */
    add_row(p, value);
    eliminate_but(p, 0);
    for (int i = 0; i < p->nrows && !p->too_large; i++)
        if (p->rows[i].factors[0] < 0) {
            *out = lang_floor_divide(p->rows[i].constant, -p->rows[i].factors[0]);
            found = true;
        }
    return found && !p->empty && !p->too_large;
}

static row row_of(points *p, const lang_affine *a, const lang_index *except, int64_t sign)
{
    row r = { .constant = sign * a->constant };

    for (int i = 0; i < a->nterms; i++)
        if (a->terms[i].index != except)
            r.factors[place_of(p, a->terms[i].index)] = sign * a->terms[i].factor;
    return r;
}

lang_interval lang_interval_over_points(const lang_affine *a, const lang_index *except,
                                        const lang_index *around)
{
    lang_interval r = { LANG_KNOWN, false, 0, 0 };
    points        all, p;

    find_points(&all, a, except, around);
    for (int64_t sign = 1; sign >= -1; sign -= 2) {
        int64_t *end = sign > 0 ? &r.max : &r.min;
        row      form = row_of(&all, a, except, sign);

        p = all;
        if (!find_largest(end, &p, &form))
            return p.empty ? (lang_interval){ LANG_KNOWN, true, 0, 0 }
                           : (lang_interval){ LANG_BY_DATA, false, 0, 0 };
        *end *= sign;
    }
    return r;
}

/* The rows that are left bound the index from below or above. */
static lang_interval values_left(const points *p, int place)
{
    lang_interval r = { LANG_KNOWN, p->empty, INT64_MIN, INT64_MAX };

    if (p->too_large)
        return (lang_interval){ LANG_BY_DATA, false, 0, 0 };
    for (int i = 0; i < p->nrows; i++) {
        const row *one = &p->rows[i];

        if (one->factors[place] > 0)
            r.min = -one->constant;
        else if (one->factors[place] < 0)
            r.max = one->constant;
    }
    r.empty = r.empty || r.max < r.min;
    r.state = r.empty || !p->inexact ? LANG_KNOWN : LANG_BY_DATA;
    return r;
}

/* Where form >= length, or form < 0. */
static void find_outside(points *p, const lang_read *read, bool beyond)
{
    row outside;

    find_points(p, read->affine, NULL, read->around);
    outside = row_of(p, read->affine, NULL, beyond ? 1 : -1);
    outside.constant -= beyond ? read->length : 1;
    add_row(p, outside);
}

lang_interval lang_values_outside(const lang_read *read, const lang_index *index, bool beyond)
{
    points p;
    int    place;

    find_outside(&p, read, beyond);
    place = place_of(&p, index);
    eliminate_but(&p, place);
    return values_left(&p, place);
}

static void put_value(points *p, int place, int64_t value)
{
    row rows[MOST_ROWS];
    int nrows = p->nrows;

    for (int i = 0; i < nrows; i++)
        rows[i] = p->rows[i];
    p->nrows = 0;
    for (int i = 0; i < nrows; i++) {
        int64_t *constant = &rows[i].constant, part;

        if (__builtin_mul_overflow(rows[i].factors[place], value, &part) ||
            __builtin_add_overflow(*constant, part, constant))
            p->too_large = true;
        rows[i].factors[place] = 0;
        add_row(p, rows[i]);
    }
}

bool lang_is_outside_at(const lang_read *read, const lang_index *index, int64_t value, bool beyond)
{
    points p;
    int    place;

    find_outside(&p, read, beyond);
    place = place_of(&p, index);
    put_value(&p, place, value);
    eliminate_but(&p, 0);
    return !p.empty && !p.too_large && !p.inexact;
}

/* ---- Where it is ----------------------------------------------------------------------------- */

static row only(int place, int64_t factor, int64_t constant)
{
    row r = { .constant = constant };

    r.factors[place] = factor;
    return r;
}

/* Index after index gets a value for which there are points left: at the end all have one. */
bool lang_find_point(int64_t *values, const lang_affine *a, const lang_index *around, bool largest)
{
    int64_t sign = largest ? 1 : -1, most, found[MOST_INDICES];
    points  all, p;
    row     form;

    find_points(&all, a, NULL, around);
    p = all;
    form = row_of(&p, a, NULL, sign);
    if (!find_largest(&most, &p, &form))
        return false;
    form.constant -= most; /* form >= most */
    add_row(&all, form);
    for (int place = 1; place < all.nindices; place++) {
        row index = only(place, form.factors[place] < 0 ? -1 : 1, 0);

        p = all;
        if (!find_largest(&found[place], &p, &index))
            return false;
        found[place] *= index.factors[place];
        add_row(&all, only(place, 1, -found[place]));
        add_row(&all, only(place, -1, found[place]));
    }
    for (int i = 0; i < a->nterms; i++)
        values[i] = found[place_of(&all, a->terms[i].index)];
    eliminate_but(&all, 0);
    return !all.empty && !all.too_large;
}
