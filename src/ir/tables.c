/* tables.c -- names and properties of kinds, operations and reductions, read off the .def tables.
 */
#include "ir/ir.h"

#include <string.h>

static const char *const kind_words[] = {
#define AR_KIND(name, word, help) #word,
#include "ir/kinds.def"
#undef AR_KIND
};

typedef enum { COST_SIMPLE, COST_FUSED, COST_DIVIDES, COST_CALLS } cost;

static const struct {
    int units, flops;
} costs[] = {
    [COST_SIMPLE] = { 1, 1 },
    [COST_FUSED] = { 1, 2 },
    [COST_DIVIDES] = { 4, 1 },
    [COST_CALLS] = { 20, 1 },
};

static const struct {
    const char *name;
    int         arity;
    cost        cost;
    const char *help;
} ops[] = {
#define AR_OP(name, arity, rule, cost, b, i, r, c, help) { #name, arity, COST_##cost, help },
#include "ir/ops.def"
#undef AR_OP
};

enum { IDENTITY_0 = 0, IDENTITY_1 = 1, IDENTITY_NONE = -1 };
static const struct {
    const char *name;
    ar_op       op;
    int         identity;
} reductions[] = {
#define AR_REDUCTION(name, op, rule, identity, help) { #name, AR_OP_##op, IDENTITY_##identity },
#include "ir/reductions.def"
#undef AR_REDUCTION
};

static bool is_word(const char *word, const char *name, size_t length)
{
    return strlen(word) == length && memcmp(word, name, length) == 0;
}

const char *ar_kind_word(ar_kind kind) { return kind_words[kind]; }
const char *ar_op_name(ar_op op) { return ops[op].name; }
int         ar_op_arity(ar_op op) { return ops[op].arity; }
const char *ar_op_help(ar_op op) { return ops[op].help; }
int         ar_op_units(ar_op op) { return costs[ops[op].cost].units; }
int         ar_op_flops(ar_op op) { return costs[ops[op].cost].flops; }

int ar_op_find(const char *name, size_t length)
{
    for (int op = 0; op < AR_OP_END; op++)
        if (is_word(ops[op].name, name, length))
            return op;
    return -1;
}

const char *ar_reduction_name(ar_reduction reduction) { return reductions[reduction].name; }
ar_op       ar_reduction_op(ar_reduction reduction) { return reductions[reduction].op; }
int         ar_reduction_identity(ar_reduction reduction) { return reductions[reduction].identity; }

ar_reduction ar_reduction_of_results(ar_reduction reduction)
{
    return reduction == AR_REDUCE_count_nonzero ? AR_REDUCE_sum : reduction;
}

int ar_reduction_find(const char *name, size_t length)
{
    for (int r = 0; r < AR_REDUCTION_END; r++)
        if (is_word(reductions[r].name, name, length))
            return r;
    return -1;
}
