/* dialect.h -- how a language like C spells what the expression writer says: a table for each, in a
 * file of its own (dialect_NAME.c).  Only src/gen/ sees this. */
#ifndef AR_GEN_DIALECT_H
#define AR_GEN_DIALECT_H

#include "gen/gen.h"

/* The words that ops.def and scalar_kit.h use for a type; see ops.def. */
typedef struct {
    const char *type, *wrapping, *suffix;
} ar_words_of_type;

/* Those of all types but the complex ones; what the names of functions for f32 and f64 end with. */
#define AR_WORDS_OF_NUMBERS(SINGLE, DOUBLE)                                                        \
    [ARRAS_NO_DTYPE] = { "void", "void", "" }, [ARRAS_BOOL] = { "uint8_t", "uint32_t", "" },       \
    [ARRAS_I8] = { "int8_t", "uint32_t", "" }, [ARRAS_I16] = { "int16_t", "uint32_t", "" },        \
    [ARRAS_I32] = { "int32_t", "uint32_t", "" }, [ARRAS_I64] = { "int64_t", "uint64_t", "" },      \
    [ARRAS_U8] = { "uint8_t", "uint32_t", "" }, [ARRAS_U16] = { "uint16_t", "uint32_t", "" },      \
    [ARRAS_U32] = { "uint32_t", "uint32_t", "" }, [ARRAS_U64] = { "uint64_t", "uint64_t", "" },    \
    [ARRAS_F32] = { "float", "float", SINGLE }, [ARRAS_F64] = { "double", "double", DOUBLE }

struct ar_dialect {
    const char      *name; /* for people */
    const char      *head; /* the text that all else needs: types, names of functions */
    ar_words_of_type words[ARRAS_DTYPE_END];
    const char      *global;         /* before the type of cells of arrays: their address space */
    const char      *nan, *infinity; /* of type double */
    const char      *complex[3];     /* around and between the parts of a number */
    const char      *l, *ul;         /* after digits: 64 bits */
    const char      *complex_kit;    /* the macro of helpers for a complex type */
    const char      *pairs;   /* the text of that macro, where complex numbers are no numbers but
                                 pairs of them; NULL: they have C's operators */
    const char      *narrowed; /* from c128 `re` to c64: statements; NULL: as any cast */

    /* Before all else where there are casts from reals to integers and from integers to reals; GCC
     * 12 makes trunc(x) of both, which is -0 for x = -0.5.  May be NULL. */
    const char *casts_both_ways;

    /* Prints the function of an operation in its own way; false: as ops.def says.  May be NULL. */
    bool (*print_op)(ar_text *out, const ar_op_set *set, ar_op op, arras_dtype dtype);
    /* Whether it has the operation; NULL: it has all of ops.def. */
    bool (*has)(ar_op op, arras_dtype dtype);

    /* Kernels in items, where there are any: up to the statements of one item, whose number is
     * `item`, and after them. */
    void (*open_items)(ar_text *out, const char *name, int nresults, int noperands);
    const char *close_items;
};

extern const ar_dialect ar_dialect_c; /* of strips: GCC's C */

static inline const char *ar_dialect_type(const ar_dialect *dialect, arras_dtype dtype)
{
    return dialect->words[ar_dtype_valid(dtype) ? dtype : 0].type;
}

/* The definitions that kernels begin with, but for those of reductions (words_ops.c). */
void ar_words_ops_print(ar_text *out, const ar_dialect *dialect, const ar_op_set *set);

/* ---- Vector functions of the C library (c_math.c), for dialects of GCC ----------------------- */

/* What is called for a vector; NULL: there is no such function. */
const char *ar_c_vector_math_call(ar_op op, arras_dtype dtype);
/* op_sin_f64 of one cell and, where asked for, row_sin_f64 of a buffer. */
void ar_c_vector_math_print(ar_text *out, ar_op op, arras_dtype dtype, bool rows);
/* -x by its sign bit. */
void ar_c_negative_print(ar_text *out, arras_dtype dtype);

#endif
