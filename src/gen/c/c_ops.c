/* c_ops.c -- what kernels in strips begin with: types, operations, and how cells are reduced. */
#include "gen/c/c_writer.h"

/* ---- Reductions ------------------------------------------------------------------------------ */

/* A table of the library's, its functions by their names. */
static void print_library_fold(ar_text *out, ar_op op, arras_dtype dtype)
{
    static const char *const functions[] = { "line",  "lanes", "close", "carry", "finish",
                                             "range", "join",  "down",  "total", "columns" };
    const char              *name = ar_op_name(op), *d = ar_dtype_name(dtype);
    int                      number = ar_fold_number(op, dtype);

    for (size_t i = 0; i < AR_COUNT(functions); i++)
        ar_text_printf(out, "#define %s_%s_%s ((const fold_%s *)a->folds[%d])->%s\n", functions[i],
                       name, d, d, number, functions[i]);
    ar_text_printf(out, "#define place_%s_%s ((const fold_%s *)a->folds[%d])->place\n",
                   op == AR_OP_minimum ? "less" : "greater", d, d, number);
}

/* Integers give the same bits in any order, and compilers know how to add them up. */
static void print_own_fold(ar_text *out, ar_op op, arras_dtype dtype, const ar_op_set *set)
{
    const char *name = ar_op_name(op), *d = ar_dtype_name(dtype), *type = ar_c_type(dtype);

    if (set->folds[op][dtype]) {
        ar_text_printf(out, "FOLD_KIT(%s, %s, %s)\n", name, d, type);
        if (ar_dtype_class(dtype) == AR_CLASS_COMPLEX)
            ar_text_printf(out, "LANES_PLAIN(%s, %s, %s)\n", name, d, type);
        else
            ar_text_printf(out, "#define lanes_%s_%s line_%s_%s\n", name, d, name, d);
        ar_text_printf(out, "PAIR_PLAIN(%s, %s, %s)\nRANGE_KIT(%s, %s, %s)\n", name, d, type, name,
                       d, type);
    }
    if (set->places[op][dtype])
        ar_text_printf(out, "PLACE_KIT(%s, %s, %s, %s)\n", name,
                       op == AR_OP_minimum ? "less" : "greater", d, type);
    if (set->across[op][dtype])
        ar_text_printf(out, "DOWN_KIT(%s, %s, %s)\n", name, d, type);
}

static bool is_folded(const ar_op_set *set, int op, arras_dtype dtype)
{
    return (set->folds[op][dtype] || set->across[op][dtype]) && ar_op_value((ar_op)op, dtype);
}

static bool has_folds(const ar_op_set *set, arras_dtype dtype)
{
    for (int op = 0; op < AR_OP_END; op++)
        if (is_folded(set, op, dtype))
            return true;
    return false;
}

static bool is_across(const ar_op_set *set, arras_dtype dtype)
{
    for (int op = 0; op < AR_OP_END; op++)
        if (set->across[op][dtype])
            return true;
    return false;
}

static void print_folds_of(ar_text *out, const ar_op_set *set, arras_dtype dtype)
{
    const char *d = ar_dtype_name(dtype), *type = ar_c_type(dtype);
    bool        real = ar_dtype_class(dtype) == AR_CLASS_REAL;

    if (!has_folds(set, dtype))
        return;
    if (real)
        ar_text_printf(
            out, "FOLD_TABLE(%s, %s)\n#define fill_%s ((const fold_%s *)a->folds[%d])->fill\n", d,
            type, d, d, ar_fold_number(AR_OP_add, dtype));
    else if (is_across(set, dtype))
        ar_text_printf(out, "FILL_KIT(%s, %s)\n", d, type);
    for (int op = 0; op < AR_OP_END; op++)
        if (is_folded(set, op, dtype) && real)
            print_library_fold(out, (ar_op)op, dtype);
        else if (is_folded(set, op, dtype))
            print_own_fold(out, (ar_op)op, dtype, set);
}

static void print_folds(ar_text *out, const ar_op_set *set)
{
    bool any = set->vectors, own = false; /* that the library does not have */

    for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END; d++) {
        bool folded = has_folds(set, (arras_dtype)d);

        any = any || folded;
        own = own || (folded && ar_dtype_class((arras_dtype)d) != AR_CLASS_REAL);
    }
    if (own) {
        ar_text_add(out, ar_kit_trees);
        ar_text_add(out, ar_kit_folds);
    }
    if (any)
        ar_text_add(out, ar_kit_vector);
    for (int d = ARRAS_F32; d <= ARRAS_F64; d++)
        if (set->edged[d])
            ar_text_printf(out, "EDGED_KIT(%s, %s, %d)\n", ar_c_type((arras_dtype)d),
                           ar_c_vector_type((arras_dtype)d), ar_c_vector_cells((arras_dtype)d));
    for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END; d++)
        print_folds_of(out, set, (arras_dtype)d);
}

/* ---- All of it ------------------------------------------------------------------------------- */

void ar_c_ops_print(ar_text *out, const ar_op_set *set)
{
    ar_words_ops_print(out, &ar_dialect_c, set);
    print_folds(out, set);
}
