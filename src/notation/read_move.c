/* read_move.c -- nodes whose cells stand elsewhere in their operand: stack, concatenate, roll,
 * permute, reshape, index, gather; and sums up to each cell. */
#include "notation/reader.h"

enum { MAX_INDEX_ITEMS = 3 * ARRAS_MAX_RANK };

/* ---- Whole arrays ---------------------------------------------------------------------------- */

bool ar_read_joined(ar_reader *r, ar_kind kind, arras_array *out)
{
    int axis, n;

    if (!ar_read_list(r) || !ar_expect_option(r, "axis") || !ar_read_int(r, &axis) ||
        !ar_expect(r, ")"))
        return false;
    n = ar_operand_count(r);
    *out = kind == AR_STACK ? ar_stack(n, r->operands.items, axis)
                            : ar_concat(n, r->operands.items, axis);
    return true;
}

/* One number for each axis, no more and no less. */
static bool check_per_axis(ar_reader *r, const ar_token *at, const char *what, int n, arras_array x)
{
    return n == x->rank || ar_fail_at(r, at, ARRAS_EAXIS, "there are %d %s for an array of rank %d",
                                      n, what, x->rank);
}

bool ar_read_scan(ar_reader *r, arras_array *out)
{
    ar_token    at;
    arras_array x;
    int         reduction, axis;

    if (!ar_read_first(r, &x) || !ar_expect(r, ","))
        return false;
    at = r->token;
    reduction = ar_reduction_find(at.start, at.length);
    if (reduction < 0)
        return ar_fail_expected(r, "the name of a reduction");
    ar_advance(r);
    if (!ar_expect(r, ",") || !ar_expect_option(r, "axis") || !ar_read_int(r, &axis) ||
        !ar_expect(r, ")"))
        return false;
    *out = ar_scan((ar_reduction)reduction, x, axis);
    return true;
}

bool ar_read_roll(ar_reader *r, arras_array *out)
{
    ar_token    at;
    arras_array x;
    int64_t     shifts[ARRAS_MAX_RANK];
    int         n;

    if (!ar_read_first(r, &x) || !ar_expect(r, ",") || !ar_expect_option(r, "shifts"))
        return false;
    at = r->token;
    if (!ar_read_integers(r, &n, shifts, ARRAS_MAX_RANK) ||
        !check_per_axis(r, &at, "shifts", n, x) || !ar_expect(r, ")"))
        return false;
    *out = ar_roll(x, shifts);
    return true;
}

bool ar_read_permute(ar_reader *r, arras_array *out)
{
    ar_token    at;
    arras_array x;
    int         n, axes[ARRAS_MAX_RANK];

    if (!ar_read_first(r, &x) || !ar_expect(r, ",") || !ar_expect_option(r, "axes"))
        return false;
    at = r->token;
    if (!ar_read_axes(r, &n, axes) || !check_per_axis(r, &at, "axes", n, x) || !ar_expect(r, ")"))
        return false;
    *out = ar_permute(x, axes);
    return true;
}

static bool read_order(ar_reader *r, char *order)
{
    if (!ar_expect_option(r, "order"))
        return false;
    if (!ar_token_is(&r->token, "C") && !ar_token_is(&r->token, "F"))
        return ar_fail_expected(r, "C or F");
    *order = *r->token.start;
    ar_advance(r);
    return true;
}

bool ar_read_reshape(ar_reader *r, arras_array *out)
{
    arras_array x;
    arras_dim   shape[ARRAS_MAX_RANK];
    int         rank;
    char        order = 'C';

    if (!ar_read_first(r, &x) || !ar_expect(r, ",") || !ar_read_dims(r, &rank, shape))
        return false;
    if ((ar_accept(r, ",") && !read_order(r, &order)) || !ar_expect(r, ")"))
        return false;
    *out = ar_reshape(x, rank, shape, order);
    return true;
}

/* ---- Index and gather ------------------------------------------------------------------------ */

/* from 1 take 3 step 2 */
static bool read_slice(ar_reader *r, int64_t *item)
{
    return ar_read_dim(r, &item[AR_ITEM_START]) && ar_expect(r, "take") &&
           ar_read_dim(r, &item[AR_ITEM_LENGTH]) &&
           (!ar_accept(r, "step") || ar_read_integer(r, &item[AR_ITEM_STEP]));
}

static void set_item(int64_t *item, arras_item_kind kind, arras_dim length)
{
    item[AR_ITEM_KIND] = kind;
    item[AR_ITEM_START] = 0;
    item[AR_ITEM_STEP] = 1;
    item[AR_ITEM_LENGTH] = length;
}

static bool read_item(ar_reader *r, arras_array x, int *axis, int64_t *item)
{
    ar_token at = r->token;

    set_item(item, ARRAS_NEWAXIS, 1);
    if (ar_accept(r, "newaxis"))
        return true;
    if (*axis >= x->rank)
        return ar_fail_at(r, &at, ARRAS_EINDEX,
                          "there are more items than the %d axes of the array", x->rank);
    set_item(item, ARRAS_SLICE, x->shape[*axis]);
    ++*axis;
    if (ar_accept(r, "all"))
        return true;
    if (ar_accept(r, "from"))
        return read_slice(r, item);
    set_item(item, ARRAS_AT, 1);
    return ar_accept(r, "at") ? ar_read_dim(r, &item[AR_ITEM_START])
                              : ar_fail_expected(r, "at, from, all or newaxis");
}

bool ar_read_index(ar_reader *r, arras_array *out)
{
    int64_t     items[MAX_INDEX_ITEMS * AR_ITEM_INTS];
    int         n = 0, axis = 0;
    arras_array x;

    if (!ar_read_first(r, &x))
        return false;
    while (ar_accept(r, ",")) {
        if (n == MAX_INDEX_ITEMS)
            return ar_fail_at(r, &r->token, ARRAS_ELIMIT, "there are more than %d items",
                              MAX_INDEX_ITEMS);
        if (!read_item(r, x, &axis, &items[AR_ITEM_INTS * n++]))
            return false;
    }
    if (!ar_expect(r, ")"))
        return false;
    *out = ar_index_exact(x, n, items);
    return true;
}

bool ar_read_gather(ar_reader *r, const ar_token *at, arras_array *out)
{
    const arras_array *xs;
    uint32_t           mask;
    int                place;

    if (!ar_read_list(r))
        return false;
    if (r->operands.count < 2)
        return ar_fail_at(r, at, ARRAS_EINVAL,
                          "gather takes an array and at least one index array");
    xs = r->operands.items;
    if (!ar_expect_option(r, "axes") || !ar_read_axes_mask(r, "gather", xs[0]->rank, &mask) ||
        !ar_expect(r, ",") || !ar_expect_option(r, "place") || !ar_read_int(r, &place) ||
        !ar_expect(r, ")"))
        return false;
    *out = ar_gather(xs[0], mask, place, ar_operand_count(r) - 1, xs + 1);
    return true;
}
