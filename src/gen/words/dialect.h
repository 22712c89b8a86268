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
    const char      *name;           /* for people */
    const char      *heads[3];       /* the texts that all else needs, in order; NULL: no more */
    ar_words_of_type words[ARRAS_DTYPE_END];
    const char      *global;         /* before the type of cells of arrays: their address space */
    const char      *nan, *infinity; /* of type double */
    const char      *complex[3];     /* around and between the parts of a number */
    const char      *l, *ul;         /* after digits: 64 bits */
    const char      *complex_kit;    /* the macro of helpers for a complex type */
    bool             pairs;          /* complex numbers are pairs: no operators for them */
    bool             complex_functions; /* and there are csqrt, cexp ... all the same */
    const char      *narrowed; /* from c128 `re` to c64: statements; NULL: as any cast */
    /* Before all else where there are casts from reals to integers and from integers to reals; GCC
     * 12 makes trunc(x) of both, which is -0 for x = -0.5.  May be NULL. */
    const char *casts_both_ways;

    /* Prints the function of an operation in its own way; false: as ops.def says.  May be NULL. */
    bool (*print_op)(ar_text *out, const ar_op_set *set, ar_op op, arras_dtype dtype);

    /* Kernels in items, where there are any: up to the statements of one item, whose number is
     * `item`, and after them. */
    void (*open_items)(ar_text *out, const char *name, int nresults, int noperands);
    const char *close_items;
};

extern const ar_dialect ar_dialect_c;      /* of strips: GCC's C */
extern const ar_dialect ar_dialect_plain;  /* of items, in the same C */
extern const ar_dialect ar_dialect_opencl; /* of items, in OpenCL C 1.2 */

static inline const char *ar_dialect_type(const ar_dialect *dialect, arras_dtype dtype)
{
    return dialect->words[ar_dtype_valid(dtype) ? dtype : 0].type;
}

/* Whether it has the operation at all. */
bool ar_dialect_has(const ar_dialect *dialect, ar_op op, arras_dtype dtype);
/* The definitions that kernels begin with, but for those of reductions (words_ops.c). */
void ar_words_ops_print(ar_text *out, const ar_dialect *dialect, const ar_op_set *set);

/* ---- Vector functions of the C library (c_math.c), for dialects of GCC ----------------------- */

/* What is called for a vector; NULL: there is no such function. */
const char *ar_c_vector_math_call(ar_op op, arras_dtype dtype);
/* op_sin_f64 of one cell and, where asked for, row_sin_f64 of a buffer. */
void ar_c_vector_math_print(ar_text *out, ar_op op, arras_dtype dtype, bool rows);

/* ---- What dialects of GCC share (dialect_c.c) ------------------------------------------------ */

extern const char ar_c_definitions[];
bool ar_c_op_print(ar_text *out, const ar_op_set *set, ar_op op, arras_dtype dtype);

#endif
