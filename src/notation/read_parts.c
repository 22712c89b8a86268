/* read_parts.c -- the small parts of statements: names, numbers, sizes, types, operands. */
#include "notation/reader.h"

#include <string.h>

/* ---- Names ----------------------------------------------------------------------------------- */

const char *ar_keep_token(ar_reader *r, const ar_token *token)
{
    char *kept = ar_arena_alloc(&r->arena, token->length + 1, 1); /* zeroed: ends with NUL */

    if (!kept) {
        ar_fail_no_memory(r);
        return NULL;
    }
    memcpy(kept, token->start, token->length);
    return kept;
}

bool ar_read_name(ar_reader *r, const char **out, const char *what)
{
    if (r->token.kind != AR_TOKEN_NAME)
        return ar_fail_expected(r, what);
    if (!ar_name_valid(r->token.start, r->token.length))
        return ar_fail_at(r, &r->token, ARRAS_ENAME, "a name of %zu letters is too long",
                          r->token.length);
    if (!(*out = ar_keep_token(r, &r->token)))
        return false;
    ar_advance(r);
    return true;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* What is wrong with the number from `start` up to the token, in the words of ar_number_read(). */
static bool fail_number(ar_reader *r, const ar_token *start, arras_dtype dtype, const char *wrong)
{
    ar_token whole = *start;

    whole.length = (size_t)(r->token.start + r->token.length - start->start);
    return ar_fail_at(r, start, ARRAS_ETEXT, "expected a number of type %s, but %.*s %s",
                      ar_dtype_name(dtype), (int)ar_min64(40, (int64_t)whole.length), whole.start,
                      wrong);
}

/* The number behind a sign that was read already. */
static bool read_unsigned(ar_reader *r, const ar_token *start, bool negative, arras_dtype dtype,
                          void *cell)
{
    const char *wrong;

    if (r->token.kind != AR_TOKEN_NUMBER && r->token.kind != AR_TOKEN_NAME)
        return ar_fail_expected(r, "a number");
    wrong = ar_number_read(cell, dtype, negative, r->token.start, r->token.length);
    if (wrong)
        return fail_number(r, start, dtype, wrong);
    ar_advance(r);
    return true;
}

static bool read_part(ar_reader *r, arras_dtype dtype, void *cell)
{
    ar_token start = r->token;
    bool     negative = ar_accept(r, "-");

    return read_unsigned(r, &start, negative, dtype, cell);
}

bool ar_read_number(ar_reader *r, arras_dtype dtype, void *cell)
{
    arras_dtype part = ar_dtype_real(dtype);

    if (part == dtype)
        return read_part(r, dtype, cell);
    return ar_expect(r, "(") && read_part(r, part, cell) && ar_expect(r, ",") &&
           read_part(r, part, (char *)cell + ar_dtype_size(part)) && ar_expect(r, ")");
}

static bool is_real_text(const ar_token *t)
{
    for (size_t i = 0; i < t->length; i++)
        if (t->start[i] < '0' || t->start[i] > '9')
            return true; /* a fraction, an exponent, nan or inf */
    return false;
}

bool ar_read_untyped(ar_reader *r, arras_dtype *dtype, ar_value *value)
{
    ar_token start = r->token;
    bool     negative;

    if (ar_token_is(&r->token, "(")) {
        *dtype = ARRAS_C128;
        return ar_read_number(r, *dtype, value);
    }
    negative = ar_accept(r, "-");
    *dtype = is_real_text(&r->token) ? ARRAS_F64 : ARRAS_I64;
    return read_unsigned(r, &start, negative, *dtype, value);
}

bool ar_read_integer(ar_reader *r, int64_t *out) { return read_part(r, ARRAS_I64, out); }

bool ar_read_integers(ar_reader *r, int *n, int64_t *out, int most)
{
    int count = 0;

    if (!ar_expect(r, "["))
        return false;
    while (!ar_token_is(&r->token, "]")) {
        if (count > 0 && !ar_expect(r, ","))
            return false;
        if (count == most)
            return ar_fail_at(r, &r->token, ARRAS_ELIMIT, "there are more than %d numbers", most);
        if (!ar_read_integer(r, &out[count++]))
            return false;
    }
    *n = count;
    return ar_expect(r, "]");
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static bool fail_unknown_size(ar_reader *r, const ar_token *at, const char *name)
{
    ar_guess guess = ar_guess_start(name);

    for (int i = 0; i < ar_size_count(r->g); i++)
        ar_guess_try(&guess, ar_size_name(r->g, i));
    if (guess.best)
        return ar_fail_at(r, at, ARRAS_ENAME, "there is no size '%s'; did you mean '%s'?", name,
                          guess.best);
    return ar_fail_at(r, at, ARRAS_ENAME,
                      "there is no size '%s': declare it above, with a line 'size %s'", name, name);
}

static bool read_size(ar_reader *r, arras_dim *out)
{
    ar_token    at = r->token;
    const char *name;

    if (!ar_read_name(r, &name, "a number or the name of a size"))
        return false;
    if (ar_size_find(r->g, name) < 0)
        return fail_unknown_size(r, &at, name);
    *out = ar_dim_size(r->g, name);
    return true;
}

/* 3, n or 2*n: a number and a size, either of which may be missing. */
static bool read_term(ar_reader *r, int64_t *factor, arras_dim *size, bool *has_size)
{
    *factor = 1;
    *has_size = true;
    if (r->token.kind != AR_TOKEN_NUMBER)
        return read_size(r, size);
    if (!ar_read_integer(r, factor))
        return false;
    *has_size = ar_accept(r, "*");
    return !*has_size || read_size(r, size);
}

/* Numbers and sizes are added up apart: a dim that is only a number must never be a large negative
 * one, since those are handles of other sizes. */
static bool add_term(ar_reader *r, arras_dim *sizes, int64_t *number, bool negative)
{
    ar_token  at = r->token;
    int64_t   factor;
    arras_dim size = 0;
    bool      has_size;

    if (!read_term(r, &factor, &size, &has_size))
        return false;
    if (!has_size) {
        if (negative ? ar_sub64(number, *number, factor) : ar_add64(number, *number, factor))
            return true;
        return ar_fail_at(r, &at, ARRAS_ELIMIT, "the numbers of this size do not fit 64 bits");
    }
    size = ar_dim_mul(r->g, size, factor);
    *sizes = negative ? ar_dim_sub(r->g, *sizes, size) : ar_dim_add(r->g, *sizes, size);
    return true;
}

bool ar_check_dim(ar_reader *r, const ar_token *at, arras_dim dim)
{
    const char *wrong = ar_dim_error(r->g, dim);

    return !wrong || ar_fail_at(r, at, ARRAS_ESIZE, "%s", wrong);
}

bool ar_read_dim(ar_reader *r, arras_dim *out)
{
    ar_token  at = r->token;
    arras_dim sizes = 0;
    int64_t   number = 0;

    if (!add_term(r, &sizes, &number, ar_accept(r, "-")))
        return false;
    while (ar_token_is(&r->token, "+") || ar_token_is(&r->token, "-"))
        if (!add_term(r, &sizes, &number, !ar_accept(r, "+") && ar_accept(r, "-")))
            return false;
    if (number > -INT64_MAX / 2)
        sizes = number < 0 ? ar_dim_sub(r->g, sizes, -number) : ar_dim_add(r->g, sizes, number);
    else
        return ar_fail_at(r, &at, ARRAS_ELIMIT, "a size is too large");
    if (!ar_check_dim(r, &at, sizes))
        return false;
    if (!ar_dim_symbolic(sizes) && sizes < 0)
        return ar_fail_at(r, &at, ARRAS_ESIZE, "a length or place cannot be negative: %" PRId64,
                          sizes);
    *out = sizes;
    return true;
}

bool ar_read_dims(ar_reader *r, int *rank, arras_dim *shape)
{
    int count = 0;

    if (!ar_expect(r, "["))
        return false;
    while (!ar_token_is(&r->token, "]")) {
        if (count > 0 && !ar_expect(r, ","))
            return false;
        if (count == ARRAS_MAX_RANK)
            return ar_fail_at(r, &r->token, ARRAS_ELIMIT, "a shape has at most %d axes",
                              ARRAS_MAX_RANK);
        if (!ar_read_dim(r, &shape[count++]))
            return false;
    }
    *rank = count;
    return ar_expect(r, "]");
}

/* ---- Types ----------------------------------------------------------------------------------- */

bool ar_read_type(ar_reader *r, ar_type *type, int *rank, arras_dim *shape)
{
    if (r->token.kind != AR_TOKEN_NAME || !ar_type_find(type, r->token.start, r->token.length))
        return ar_fail_expected(r, "a type like f64[3]");
    ar_advance(r);
    *rank = 0;
    return !ar_token_is(&r->token, "[") || ar_read_dims(r, rank, shape);
}

bool ar_read_dtype(ar_reader *r, arras_dtype *out)
{
    if (r->token.kind != AR_TOKEN_NAME ||
        (*out = ar_dtype_find(r->token.start, r->token.length)) == ARRAS_NO_DTYPE)
        return ar_fail_expected(r, "a type like f64");
    ar_advance(r);
    return true;
}

/* ---- Numbered things ------------------------------------------------------------------------- */

bool ar_numbers_add(ar_reader *r, ar_numbers *numbers, const ar_token *token, const void *value)
{
    int64_t last = numbers->count > 0 ? numbers->items[numbers->count - 1].number : -1;
    char    sign = token->kind == AR_TOKEN_NODE ? '%' : '$';

    if (token->number < 0)
        return ar_fail_at(r, token, ARRAS_ETEXT, "%c takes a number that fits 64 bits", sign);
    if (token->number <= last)
        return ar_fail_at(r, token, ARRAS_ETEXT,
                          "%c%" PRId64 " comes after %c%" PRId64 ": numbers must ascend", sign,
                          token->number, sign, last);
    if (!ar_grow(&numbers->items, &numbers->room, numbers->count, sizeof *numbers->items))
        return ar_fail_no_memory(r);
    numbers->items[numbers->count++] = (ar_numbered){ token->number, value };
    return true;
}

const void *ar_numbers_find(const ar_numbers *numbers, int64_t number)
{
    size_t low = 0, high = numbers->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (numbers->items[middle].number == number)
            return numbers->items[middle].value;
        if (numbers->items[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- Operands -------------------------------------------------------------------------------- */

bool ar_arrays_add(ar_reader *r, ar_arrays *arrays, arras_array x)
{
    if (arrays->count == AR_MAX_OPERANDS)
        return ar_fail_at(r, &r->token, ARRAS_ELIMIT, "there are more than %d operands",
                          AR_MAX_OPERANDS);
    if (!ar_grow(&arrays->items, &arrays->room, arrays->count, sizeof *arrays->items))
        return ar_fail_no_memory(r);
    arrays->items[arrays->count++] = x;
    return true;
}

static arras_array find_param(const ar_reader *r, const char *name)
{
    for (size_t i = 0; i < r->params.count; i++)
        if (strcmp(r->params.items[i]->name, name) == 0)
            return r->params.items[i];
    return NULL;
}

static bool fail_unknown_array(ar_reader *r, const ar_token *at, const char *name)
{
    ar_guess guess = ar_guess_start(name);

    if (r->in_function && ar_graph_input_find(r->g, name))
        return ar_fail_at(r, at, ARRAS_ENAME,
                          "the body of a function does not see the input '%s': make it a parameter",
                          name);
    for (size_t i = 0; i < r->params.count; i++)
        ar_guess_try(&guess, r->params.items[i]->name);
    for (int i = 0; !r->in_function && i < ar_graph_input_count(r->g); i++)
        ar_guess_try(&guess, ar_graph_input(r->g, i)->name);
    return ar_fail_at(r, at, ARRAS_ENAME, "there is no %s '%s'%s%s%s",
                      r->in_function ? "parameter" : "input", name,
                      guess.best ? "; did you mean '" : "", guess.best ? guess.best : "",
                      guess.best ? "'?" : "");
}

static bool read_named(ar_reader *r, arras_array *out)
{
    ar_token    at = r->token;
    const char *name;

    if (!ar_read_name(r, &name, "an operand"))
        return false;
    *out = r->in_function ? find_param(r, name) : ar_graph_input_find(r->g, name);
    return *out || fail_unknown_array(r, &at, name);
}

bool ar_read_operand(ar_reader *r, arras_array *out)
{
    if (r->token.kind == AR_TOKEN_NAME)
        return read_named(r, out);
    if (r->token.kind != AR_TOKEN_NODE)
        return ar_fail_expected(r, "an operand, %number or a name");
    *out = ar_numbers_find(&r->nodes, r->token.number);
    if (!*out)
        return ar_fail_at(r, &r->token, ARRAS_ENAME, "%.*s is not defined above",
                          (int)ar_min64(40, (int64_t)r->token.length), r->token.start);
    ar_advance(r);
    return true;
}

static bool at_option(const ar_reader *r)
{
    return r->token.kind == AR_TOKEN_NAME && ar_followed_by(r, '=');
}

bool ar_read_operands(ar_reader *r)
{
    arras_array x;

    r->operands.count = 0;
    if (ar_token_is(&r->token, ")"))
        return true;
    do {
        if (at_option(r))
            return true;
        if (!ar_read_operand(r, &x) || !ar_arrays_add(r, &r->operands, x))
            return false;
    } while (ar_accept(r, ","));
    return !at_option(r) || ar_fail_expected(r, "',' or ')'");
}

/* ---- Options --------------------------------------------------------------------------------- */

/* axis= */
bool ar_expect_option(ar_reader *r, const char *word)
{
    return ar_expect(r, word) && ar_expect(r, "=");
}

bool ar_read_int(ar_reader *r, int *out)
{
    ar_token at = r->token;
    int64_t  wide;

    if (!ar_read_integer(r, &wide))
        return false;
    *out = (int)wide;
    return wide == *out || ar_fail_at(r, &at, ARRAS_EAXIS, "there is no axis %" PRId64, wide);
}

bool ar_read_axes(ar_reader *r, int *n, int *axes)
{
    int64_t wide[ARRAS_MAX_RANK];

    if (!ar_read_integers(r, n, wide, ARRAS_MAX_RANK))
        return false;
    for (int i = 0; i < *n; i++)
        axes[i] = (int)ar_max64(INT16_MIN, ar_min64(INT16_MAX, wide[i])); /* no axis is out there */
    return true;
}

/* As a set; ascending, since the arrays of a gather go with their axes one by one. */
bool ar_read_axes_mask(ar_reader *r, const char *what, int rank, uint32_t *mask)
{
    ar_token    at = r->token;
    int         n, axes[ARRAS_MAX_RANK];
    arras_error err;

    if (!ar_read_axes(r, &n, axes))
        return false;
    for (int i = 0; i < n; i++)
        if (axes[i] <= (i > 0 ? axes[i - 1] : -1))
            return ar_fail_at(r, &at, ARRAS_EAXIS, "%s: axes count from 0 and must ascend", what);
    return ar_axes_mask(mask, what, n, axes, rank, &err) == ARRAS_OK ||
           ar_fail_at(r, &at, err.code, "%s", err.text);
}

/* ---- Lists of operands ----------------------------------------------------------------------- */

bool ar_read_list(ar_reader *r) { return ar_expect(r, "(") && ar_read_operands(r); }

bool ar_read_first(ar_reader *r, arras_array *x)
{
    return ar_expect(r, "(") && ar_read_operand(r, x);
}

bool ar_check_operands(ar_reader *r, const ar_token *at, int want)
{
    if (r->operands.count == (size_t)want)
        return true;
    return ar_fail_at(r, at, ARRAS_EINVAL, "%.*s takes %d operand%s, not %zu", (int)at->length,
                      at->start, want, want == 1 ? "" : "s", r->operands.count);
}

int ar_operand_count(const ar_reader *r) { return (int)r->operands.count; }
