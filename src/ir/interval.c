/* interval.c -- ranges of whole numbers whose ends may be sizes. */
#include "ir/interval.h"

/* No array has so many cells and no loop so many rounds: what counts them is below. */
#define MOST_CELLS ((int64_t)1 << 48)
#define MOST_ROUNDS ((int64_t)1 << 56)
/* A size is checked when it is computed, and so is a number; it may be as large as that. */
#define MOST_SIZE ((int64_t)1 << 62)

/* ---- Ends ------------------------------------------------------------------------------------ */

static const ar_end unknown_end = { .known = false };

ar_end ar_end_number(int64_t number) { return (ar_end){ .known = true, .constant = number }; }

ar_end ar_end_of(const arras_graph *g, arras_dim dim)
{
    const ar_affine *affine = ar_dim_affine(g, dim);
    ar_end           end = { .known = true };

    if (!ar_dim_symbolic(dim))
        return ar_end_number(dim);
    if (!affine || affine->error || affine->nterms > AR_END_TERMS)
        return unknown_end;
    end.constant = affine->constant;
    end.nterms = affine->nterms;
    for (int i = 0; i < affine->nterms; i++)
        end.terms[i] = affine->terms[i];
    return end;
}

static bool add_term(ar_end *end, ar_term term)
{
    if (term.factor == 0)
        return true;
    if (end->nterms == AR_END_TERMS)
        return false;
    end->terms[end->nterms++] = term;
    return true;
}

/* The next term of a + scale * b, where i and j are the places in both. */
static bool next_term(ar_term *out, const ar_end *a, int *i, const ar_end *b, int *j, int64_t scale)
{
    bool    from_a = *i < a->nterms && (*j >= b->nterms || a->terms[*i].size <= b->terms[*j].size);
    bool    from_b = *j < b->nterms && (*i >= a->nterms || b->terms[*j].size <= a->terms[*i].size);
    int64_t scaled = 0;

    out->size = from_a ? a->terms[*i].size : b->terms[*j].size;
    out->factor = from_a ? a->terms[(*i)++].factor : 0;
    return !from_b || (ar_mul64(&scaled, b->terms[(*j)++].factor, scale) &&
                       ar_add64(&out->factor, out->factor, scaled));
}

/* a + scale * b */
static ar_end combine(const ar_end *a, const ar_end *b, int64_t scale)
{
    ar_end  sum = { .known = a->known && b->known };
    int64_t scaled;
    int     i = 0, j = 0;

    if (!sum.known || !ar_mul64(&scaled, b->constant, scale) ||
        !ar_add64(&sum.constant, a->constant, scaled))
        return unknown_end;
    while (i < a->nterms || j < b->nterms) {
        ar_term term;

        if (!next_term(&term, a, &i, b, &j, scale) || !add_term(&sum, term))
            return unknown_end;
    }
    return sum;
}

static ar_end plus(ar_end end, int64_t number)
{
    ar_end other = ar_end_number(number);

    return combine(&end, &other, 1);
}

static ar_end scaled(const ar_end *end, int64_t factor)
{
    ar_end zero = ar_end_number(0);

    return combine(&zero, end, factor);
}

static int64_t floor_quotient(int64_t x, int64_t by) { return x / by - (x % by != 0 && x < 0); }

/* floor(end / by), when that is a form: the factors are whole multiples. */
static ar_end divided(ar_end end, int64_t by)
{
    for (int i = 0; i < end.nterms; i++) {
        if (end.terms[i].factor % by != 0)
            return unknown_end;
        end.terms[i].factor /= by;
    }
    end.constant = floor_quotient(end.constant, by);
    return end;
}

/* False when it may be below any number. */
static bool least_of(int64_t *out, const ar_end *end, const ar_least *least)
{
    int64_t sum = end->constant, product;

    if (!end->known)
        return false;
    for (int i = 0; i < end->nterms; i++) {
        ar_term term = end->terms[i];
        int64_t low = term.size < AR_LEAST_SIZES ? least->of[term.size] : 0;

        if (term.factor < 0 || !ar_mul64(&product, term.factor, low) ||
            !ar_add64(&sum, sum, product))
            return false;
    }
    *out = sum;
    return true;
}

bool ar_end_not_above(const ar_end *a, const ar_end *b, const ar_least *least)
{
    ar_end  room = combine(b, a, -1);
    int64_t low;

    return least_of(&low, &room, least) && low >= 0;
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

ar_range ar_range_numbers(int64_t low, int64_t high)
{
    return (ar_range){ ar_end_number(low), ar_end_number(high), low, high, false };
}

ar_range ar_range_number(int64_t number) { return ar_range_numbers(number, number); }

static ar_range anything(void)
{
    return (ar_range){ unknown_end, unknown_end, INT64_MIN, INT64_MAX, false };
}

ar_range ar_range_of_dtype(arras_dtype dtype)
{
    int bits = 8 * (int)ar_dtype_size(dtype);

    if (dtype == ARRAS_BOOL)
        return ar_range_numbers(0, 1);
    if (!ar_dtype_is_integer(dtype) || bits == 64)
        return anything();
    if (ar_dtype_class(dtype) == AR_CLASS_UNSIGNED)
        return ar_range_numbers(0, ((int64_t)1 << bits) - 1);
    return ar_range_numbers(-((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1);
}

ar_range ar_range_of_dim(const arras_graph *g, arras_dim dim, const ar_least *least)
{
    ar_end  end = ar_end_of(g, dim);
    int64_t low = 0;

    if (!ar_dim_symbolic(dim))
        return ar_range_number(dim);
    if (!least_of(&low, &end, least) || low < 0)
        low = 0; /* a size that is negative is an error of the run */
    return (ar_range){ end, end, low, MOST_SIZE, false };
}

ar_range ar_range_of_index(const arras_graph *g, arras_dim length)
{
    ar_end end = ar_end_of(g, length);

    if (!ar_dim_symbolic(length))
        return ar_range_numbers(0, ar_max64(length - 1, 0));
    return (ar_range){ ar_end_number(0), plus(end, -1), 0, MOST_CELLS - 1, false };
}

ar_range ar_range_below(const ar_range *lo, const ar_range *end)
{
    ar_range r = { lo->lo, plus(end->hi, -1), lo->low, INT64_MAX, false };
    int64_t  far;

    if (lo->wraps || end->wraps)
        return anything();
    if (end->high > INT64_MIN)
        r.high = end->high - 1;
    if (lo->high < MOST_CELLS && ar_add64(&far, lo->high, MOST_ROUNDS))
        r.high = ar_min64(r.high, far);
    return r;
}

/* The bounds that are numbers, from those of a and b by an operation that may overflow. */
static void set_numbers(ar_range *r, bool fits, int64_t low, int64_t high)
{
    r->wraps = !fits;
    r->low = fits ? low : INT64_MIN;
    r->high = fits ? high : INT64_MAX;
}

ar_range ar_range_add(const ar_range *a, const ar_range *b)
{
    ar_range r = { .lo = combine(&a->lo, &b->lo, 1), .hi = combine(&a->hi, &b->hi, 1) };
    int64_t  low = 0, high = 0;
    bool     fits = !a->wraps && !b->wraps && ar_add64(&low, a->low, b->low) &&
                ar_add64(&high, a->high, b->high);

    set_numbers(&r, fits, low, high);
    return r;
}

ar_range ar_range_subtract(const ar_range *a, const ar_range *b)
{
    ar_range r = { .lo = combine(&a->lo, &b->hi, -1), .hi = combine(&a->hi, &b->lo, -1) };
    int64_t  low = 0, high = 0;
    bool     fits = !a->wraps && !b->wraps && ar_sub64(&low, a->low, b->high) &&
                ar_sub64(&high, a->high, b->low);

    set_numbers(&r, fits, low, high);
    return r;
}

static bool product_numbers(int64_t *low, int64_t *high, const ar_range *a, const ar_range *b)
{
    int64_t p[4];

    if (a->wraps || b->wraps || !ar_mul64(&p[0], a->low, b->low) ||
        !ar_mul64(&p[1], a->low, b->high) || !ar_mul64(&p[2], a->high, b->low) ||
        !ar_mul64(&p[3], a->high, b->high))
        return false;
    *low = ar_min64(ar_min64(p[0], p[1]), ar_min64(p[2], p[3]));
    *high = ar_max64(ar_max64(p[0], p[1]), ar_max64(p[2], p[3]));
    return true;
}

static bool is_number(const ar_range *r) { return !r->wraps && r->low == r->high; }

ar_range ar_range_multiply(const ar_range *a, const ar_range *b)
{
    ar_range r = { .lo = unknown_end, .hi = unknown_end };
    int64_t  low = 0, high = 0;
    bool     fits = product_numbers(&low, &high, a, b);

    if (is_number(a) && !is_number(b))
        return ar_range_multiply(b, a);
    if (is_number(b)) {
        bool rising = b->low >= 0;

        r.lo = scaled(rising ? &a->lo : &a->hi, b->low);
        r.hi = scaled(rising ? &a->hi : &a->lo, b->low);
    }
    set_numbers(&r, fits, low, high);
    return r;
}

/* x // 0 is 0. */
ar_range ar_range_floor_divide(const ar_range *a, const ar_range *b, const ar_least *least)
{
    ar_range r = anything(), zero = ar_range_number(0);

    if (a->wraps || b->wraps || b->low < 1 || b->high < b->low) /* the range may be empty */
        return r;
    r.low = a->low < 0 ? floor_quotient(a->low, b->low) : floor_quotient(a->low, b->high);
    r.high = a->high < 0 ? floor_quotient(a->high, b->high) : floor_quotient(a->high, b->low);
    if (is_number(b)) {
        r.lo = divided(a->lo, b->low);
        r.hi = divided(a->hi, b->low);
    } else if (a->low >= 0 || ar_end_not_above(&zero.lo, &a->lo, least)) {
        r.lo = ar_end_number(0);
        r.hi = a->hi;
    }
    return r;
}

/* x % 0 is 0, and x % y has the sign of y. */
ar_range ar_range_remainder(const ar_range *a, const ar_range *b, const ar_least *least)
{
    ar_range r = { ar_end_number(0), plus(b->hi, -1), 0, 0, false };
    ar_end   zero = ar_end_number(0);
    bool     rises = !a->wraps && (a->low >= 0 || ar_end_not_above(&zero, &a->lo, least));

    if (b->wraps || b->low < 0)
        return anything();
    r.high = ar_max64(b->high - 1, 0);
    if (b->low == 0) /* then it may be 0 where b.hi - 1 is not */
        r.hi = unknown_end;
    if (!rises)
        return r;
    r.high = ar_min64(r.high, a->high);
    if (!r.hi.known || ar_end_not_above(&a->hi, &r.hi, least))
        r.hi = a->hi;
    return r;
}

/* The smaller of two ends, where it is known which one that is. */
static ar_end smaller(const ar_end *a, const ar_end *b, const ar_least *least)
{
    if (ar_end_not_above(a, b, least))
        return *a;
    return ar_end_not_above(b, a, least) ? *b : unknown_end;
}

static ar_end larger(const ar_end *a, const ar_end *b, const ar_least *least)
{
    if (ar_end_not_above(a, b, least))
        return *b;
    return ar_end_not_above(b, a, least) ? *a : unknown_end;
}

/* A size itself, rather than something that is bounded by sizes. */
static bool is_form(const ar_range *r)
{
    ar_end room = combine(&r->hi, &r->lo, -1);

    return room.known && room.nterms == 0 && room.constant == 0;
}

/* Both bound it; the better one, or else a size: who limits something by a size knows why. */
static ar_end either_end(ar_end better, const ar_range *a, const ar_end *a_end, const ar_range *b,
                         const ar_end *b_end)
{
    if (better.known)
        return better;
    if (!a_end->known || !b_end->known)
        return a_end->known ? *a_end : *b_end;
    return is_form(b) && !is_form(a) ? *b_end : *a_end;
}

ar_range ar_range_minimum(const ar_range *a, const ar_range *b, const ar_least *least)
{
    ar_range r = { .low = ar_min64(a->low, b->low), .high = ar_min64(a->high, b->high) };

    if (a->wraps || b->wraps)
        return anything();
    r.lo = smaller(&a->lo, &b->lo, least);
    r.hi = either_end(smaller(&a->hi, &b->hi, least), a, &a->hi, b, &b->hi);
    return r;
}

ar_range ar_range_maximum(const ar_range *a, const ar_range *b, const ar_least *least)
{
    ar_range r = { .low = ar_max64(a->low, b->low), .high = ar_max64(a->high, b->high) };

    if (a->wraps || b->wraps)
        return anything();
    r.lo = either_end(larger(&a->lo, &b->lo, least), a, &a->lo, b, &b->lo);
    r.hi = larger(&a->hi, &b->hi, least);
    return r;
}

ar_range ar_range_either(const ar_range *a, const ar_range *b, const ar_least *least)
{
    ar_range r = { .lo = smaller(&a->lo, &b->lo, least), .hi = larger(&a->hi, &b->hi, least) };

    r.wraps = a->wraps || b->wraps;
    r.low = r.wraps ? INT64_MIN : ar_min64(a->low, b->low);
    r.high = r.wraps ? INT64_MAX : ar_max64(a->high, b->high);
    return r;
}

/* What is meant and what is computed are not mixed. */
ar_range ar_range_both(const ar_range *a, const ar_range *b, const ar_least *least)
{
    ar_range r = { .low = ar_max64(a->low, b->low), .high = ar_min64(a->high, b->high) };

    if (a->wraps || b->wraps)
        return a->wraps ? *b : *a;
    r.lo = either_end(larger(&a->lo, &b->lo, least), a, &a->lo, b, &b->lo);
    r.hi = either_end(smaller(&a->hi, &b->hi, least), a, &a->hi, b, &b->hi);
    return r;
}
