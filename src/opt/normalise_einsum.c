/* normalise_einsum.c -- sums of products over letters.  Three operands and more are contracted two
 * by two, in the order that takes the fewest operations, if that takes fewer than all at once. */
#include "opt/normalise.h"

#include <string.h>

enum {
    LETTERS = 128,
    MOST_OPERANDS = 64,
    MOST_VARIABLES = 52,
    TRY_ALL = 5, /* operands: beyond, the cheapest pair comes first */
    UNKNOWN_SIZE = 1000
};

typedef struct {
    arras_array old;  /* of the old graph, or */
    arras_array made; /* of the new one: an array between */
    int         rank;
    char        letters[ARRAS_MAX_RANK];
} operand;

typedef struct {
    ar_scope   *scope;
    arras_array node;
    int         n;
    operand     operands[MOST_OPERANDS];
    operand     result;            /* its letters */
    arras_dim   length[LETTERS];   /* of the new graph */
    arras_dim   recorded[LETTERS]; /* of the old one: it may not have been known */
    double      size[LETTERS];
} einsum;

/* ---- "ab,bc->ac" ----------------------------------------------------------------------------- */

static void read_letters(operand *o, const char **at, int rank)
{
    o->rank = rank;
    memcpy(o->letters, *at, (size_t)rank);
    *at += rank;
}

/* The length of a letter is that of its axes that are not 1, if there are such. */
static void note_lengths(einsum *e, const operand *o, arras_array x)
{
    for (int axis = 0; axis < o->rank; axis++) {
        int       letter = o->letters[axis] & 127;
        arras_dim length = ar_scope_dim(e->scope, x->shape[axis]);

        if (e->size[letter] == 0 || x->shape[axis] != 1) {
            e->length[letter] = length;
            e->recorded[letter] = x->shape[axis];
            e->size[letter] = ar_dim_symbolic(length) ? UNKNOWN_SIZE : (double)length + 1e-9;
        }
    }
}

static void read_spec(einsum *e)
{
    const char *at = e->node->name;

    e->n = e->node->ninputs;
    for (int k = 0; k < e->n; k++, at++) { /* over the comma */
        e->operands[k].old = e->node->inputs[k];
        read_letters(&e->operands[k], &at, e->node->inputs[k]->rank);
        note_lengths(e, &e->operands[k], e->node->inputs[k]);
    }
    at = strchr(e->node->name, '>');
    at = at ? at + 1 : "";
    read_letters(&e->result, &at, e->node->rank);
    note_lengths(e, &e->result, e->node);
}

static bool has_letter(const operand *o, char letter)
{
    return memchr(o->letters, letter, (size_t)o->rank) != NULL;
}

/* ---- A sum of products ----------------------------------------------------------------------- */

typedef struct {
    arras_expr index[LETTERS]; /* NULL: not met yet */
    int        summed;
    arras_dim  lengths[MOST_VARIABLES], recorded[MOST_VARIABLES];
} indices;

static arras_expr index_of(const einsum *e, indices *in, char letter)
{
    arras_expr *index = &in->index[letter & 127];

    if (!*index) {
        in->lengths[in->summed] = e->length[letter & 127];
        in->recorded[in->summed] = e->recorded[letter & 127];
        *index = ar_reduce_variable(e->scope->to, in->summed++);
    }
    return *index;
}

static arras_expr read_operand(const einsum *e, indices *in, const operand *o)
{
    arras_expr at[ARRAS_MAX_RANK], cell;

    for (int axis = 0; axis < o->rank; axis++) {
        arras_dim length =
            o->old ? ar_scope_dim(e->scope, o->old->shape[axis]) : o->made->shape[axis];

        at[axis] = broadcast_index(index_of(e, in, o->letters[axis]), length,
                                   e->length[o->letters[axis] & 127]);
    }
    cell = o->old ? ar_scope_read(e->scope, o->old, at, NULL)
                  : ar_expr_load(o->made, o->rank, at, NULL);
    return ar_expr_cast(cell, e->node->type.dtype);
}

/* In the order of the operands, in the type of the result. */
static arras_expr sum_of_products(const einsum *e, int n, const operand *const *operands,
                                  const operand *result)
{
    indices    in = { .summed = 0 };
    arras_expr product;

    for (int axis = 0; axis < result->rank; axis++)
        in.index[result->letters[axis] & 127] = ar_expr_index(e->scope->to, axis);
    product = read_operand(e, &in, operands[0]);
    for (int k = 1; k < n; k++)
        product = binary(AR_OP_multiply, product, read_operand(e, &in, operands[k]));
    return ar_sum_products(
        in.summed, in.lengths, product,
        n > 1 && in.summed > 0 &&
            ar_products_are_fused(e->node->type.dtype, 1, &in.recorded[in.summed - 1]));
}

/* ---- Two by two ------------------------------------------------------------------------------ */

/* Operands that are left, by their letters alone. */
typedef struct {
    int     n;
    operand items[MOST_OPERANDS];
} rest;

typedef struct {
    int    n;
    int    first[MOST_OPERANDS], second[MOST_OPERANDS]; /* places in what is left then */
    double operations;
} sequence;

static bool is_needed(const einsum *e, const rest *left, int a, int b, char letter)
{
    if (has_letter(&e->result, letter))
        return true;
    for (int k = 0; k < left->n; k++)
        if (k != a && k != b && has_letter(&left->items[k], letter))
            return true;
    return false;
}

/* Adds the letters of one operand: all of them count, those needed later stay.  False: too many. */
static bool add_letters(const einsum *e, const rest *left, int a, int b, const operand *from,
                        operand *pair, char *visited, double *cells)
{
    for (int axis = 0; axis < from->rank; axis++) {
        char letter = from->letters[axis];

        if (visited[letter & 127])
            continue;
        visited[letter & 127] = 1;
        *cells *= e->size[letter & 127];
        if (!is_needed(e, left, a, b, letter))
            continue;
        if (pair->rank == ARRAS_MAX_RANK)
            return false;
        pair->letters[pair->rank++] = letter;
    }
    return true;
}

/* Letters that the result has too come in the order they have there: rows of what is between are
 * then rows of the result. */
static void order_as_result(const einsum *e, operand *pair)
{
    operand had = *pair;
    int     next = 0;

    for (int axis = 0; axis < pair->rank; axis++) {
        if (!has_letter(&e->result, had.letters[axis]))
            continue;
        while (!has_letter(&had, e->result.letters[next]))
            next++;
        pair->letters[axis] = e->result.letters[next++];
    }
}

/* The product of two operands, summed over what nobody needs any more; operations < 0: too many
 * letters. */
static double contract(const einsum *e, const rest *left, int a, int b, operand *pair)
{
    char   visited[LETTERS] = { 0 };
    double cells = 1;
    int    letters = 0;

    *pair = (operand){ .rank = 0 };
    if (!add_letters(e, left, a, b, &left->items[a], pair, visited, &cells) ||
        !add_letters(e, left, a, b, &left->items[b], pair, visited, &cells))
        return -1;
    order_as_result(e, pair);
    for (int c = 0; c < LETTERS; c++)
        letters += visited[c];
    return cells * (letters > pair->rank ? 2 : 1);
}

/* The pair takes the place of its first operand. */
static void replace_pair(rest *left, int a, int b, const operand *pair)
{
    left->items[a] = *pair;
    memmove(&left->items[b], &left->items[b + 1], (size_t)(left->n - b - 1) * sizeof *left->items);
    left->n--;
}

static void try_all(const einsum *e, const rest *left, sequence *now, sequence *best)
{
    if (left->n == 1) {
        if (best->operations < 0 || now->operations < best->operations)
            *best = *now;
        return;
    }
    for (int a = 0; a < left->n; a++)
        for (int b = a + 1; b < left->n; b++) {
            rest     next = *left;
            operand  pair;
            double   operations = contract(e, left, a, b, &pair);
            sequence with = *now;

            if (operations < 0)
                continue;
            with.first[with.n] = a, with.second[with.n++] = b;
            with.operations += operations;
            replace_pair(&next, a, b, &pair);
            try_all(e, &next, &with, best);
        }
}

static void take_cheapest(const einsum *e, rest *left, sequence *s)
{
    while (left->n > 1) {
        operand pair, cheapest = { .rank = 0 };
        double  least = -1;

        for (int a = 0; a < left->n; a++)
            for (int b = a + 1; b < left->n; b++) {
                double operations = contract(e, left, a, b, &pair);

                if (operations >= 0 && (least < 0 || operations < least)) {
                    least = operations, cheapest = pair;
                    s->first[s->n] = a, s->second[s->n] = b;
                }
            }
        if (least < 0) {
            s->operations = -1;
            return;
        }
        s->operations += least;
        replace_pair(left, s->first[s->n], s->second[s->n], &cheapest);
        s->n++;
    }
}

static double operations_at_once(const einsum *e)
{
    double cells = 1;
    int    letters = 0;

    for (int c = 0; c < LETTERS; c++)
        if (e->size[c] > 0) {
            cells *= e->size[c];
            letters++;
        }
    return cells * (e->n - 1 + (letters > e->result.rank));
}

/* False: all at once is as good. */
static bool find_sequence(const einsum *e, sequence *s)
{
    rest left = { .n = e->n };

    *s = (sequence){ .operations = 0 };
    memcpy(left.items, e->operands, (size_t)e->n * sizeof *left.items);
    if (e->n <= TRY_ALL) {
        sequence none = *s;

        s->operations = -1;
        try_all(e, &left, &none, s);
    } else {
        take_cheapest(e, &left, s);
    }
    return s->operations >= 0 && s->operations < operations_at_once(e);
}

/* Stores the product of a pair between. */
static arras_array store_pair(const einsum *e, const rest *left, int a, int b, const operand *pair)
{
    const operand *both[] = { &left->items[a], &left->items[b] };
    arras_expr     cell = sum_of_products(e, 2, both, pair);
    arras_dim      shape[ARRAS_MAX_RANK];

    for (int axis = 0; axis < pair->rank; axis++)
        shape[axis] = e->length[pair->letters[axis] & 127];
    if (cell->kind != AR_EXPR_POISON)
        cell = ar_expr_cast(cell, e->node->type.dtype);
    return ar_lambda(e->scope->to, pair->rank, shape, cell);
}

static arras_expr contract_pairs(const einsum *e, const sequence *s)
{
    rest           left = { .n = e->n };
    const operand *both[2];

    memcpy(left.items, e->operands, (size_t)e->n * sizeof *left.items);
    for (int k = 0; k < s->n - 1; k++) {
        operand pair;

        contract(e, &left, s->first[k], s->second[k], &pair);
        pair.made = store_pair(e, &left, s->first[k], s->second[k], &pair);
        if (ar_is_poison(pair.made))
            return ar_expr_poison(e->scope->to, (arras_status)pair.made->ints[0], "%s",
                                  pair.made->name);
        replace_pair(&left, s->first[k], s->second[k], &pair);
    }
    both[0] = &left.items[0], both[1] = &left.items[1];
    return sum_of_products(e, 2, both, &e->result);
}

arras_expr ar_normal_einsum(ar_scope *s, arras_array node)
{
    einsum         e = { .scope = s, .node = node };
    const operand *all[MOST_OPERANDS];
    sequence       pairs;

    read_spec(&e);
    if (e.n > 2 && find_sequence(&e, &pairs))
        return contract_pairs(&e, &pairs);
    for (int k = 0; k < e.n; k++)
        all[k] = &e.operands[k];
    return sum_of_products(&e, e.n, all, &e.result);
}
