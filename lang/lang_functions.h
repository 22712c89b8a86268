/* lang_functions.h -- the one table of what can be called, and the arguments of a call. */
#ifndef LANG_FUNCTIONS_H
#define LANG_FUNCTIONS_H

#include "lang/lang_lower.h"

enum { LANG_MAX_PARAMETERS = 5 };

typedef enum {
    LANG_F_OP,      /* elementwise: op is its number */
    LANG_F_CAST,    /* f32(x): op is the type */
    LANG_F_CAST_TO, /* cast(x, dtype) */
    LANG_F_CLIP,
    LANG_F_MEASURE, /* size, rank: numbers that are known at once */
    LANG_F_ARRAY    /* whole arrays only */
} lang_function_kind;

/* What may stand for a parameter. */
typedef enum {
    LANG_P_ARRAY = 'x',
    LANG_P_ARRAYS = 'X', /* a list of arrays */
    LANG_P_REST = '*',   /* arrays: all arguments that are left */
    LANG_P_INT = 'i',
    LANG_P_INTS = 'I', /* a number or a list of them */
    LANG_P_REAL = 'r',
    LANG_P_REALS = 'R',
    LANG_P_BOOL = 'b',
    LANG_P_AXES = 'a', /* all, a number, or a list of them */
    LANG_P_DTYPE = 't',
    LANG_P_TEXT = 'q',
    LANG_P_EDGE = 'e',  /* a rule as a text, a number, or a list of them */
    LANG_P_NUMBER = 'n' /* looked at by the function itself */
} lang_parameter_type;

typedef struct lang_argument {
    const lang_node *node; /* NULL: not given */
    arras_array      array;
    int64_t          integer;
    double           real;
    bool             flag;
    int              count;
    int64_t         *ints;
    double          *reals;
    int             *axes; /* NULL: all */
    arras_array     *arrays;
    arras_edge      *edges; /* count of them; count 1: one for all axes */
    arras_dtype      dtype;
    const char      *text;
} lang_argument;

typedef struct lang_function {
    lang_function_info info;
    lang_function_kind kind;
    int                op; /* operation, reduction or type */
    arras_array (*build)(lang_lowering *L, const struct lang_function *f, lang_scope scope,
                         const lang_node *call, lang_argument *arguments);
    int  nparameters, nneeded;
    struct {
        char                name[16];
        lang_parameter_type type;
    } parameters[LANG_MAX_PARAMETERS]; /* those after the first nneeded may be left out */
} lang_function;

const lang_function *lang_find_function(const char *name); /* NULL when unknown */
bool                 lang_fail_unknown_function(lang_lowering *L, const lang_node *call);

/* Finds the argument of each parameter, by place or by name; NULL where none is given. */
bool lang_sort_arguments(const lang_node **out, lang_lowering *L, const lang_node *call,
                         const lang_function *f);
/* Lowers them as their types say. */
bool lang_read_arguments(lang_argument *out, lang_lowering *L, lang_scope scope,
                         const lang_node *call, const lang_function *f);
bool lang_dtype_value(arras_dtype *out, lang_lowering *L, const lang_node *node);

/* One row for each function on whole arrays: usage, types of the parameters, help, builder. */
typedef struct lang_builder_row {
    const char        *usage, *types, *text;
    lang_function_kind kind;
    int                op;
    arras_array (*build)(lang_lowering *L, const lang_function *f, lang_scope scope,
                         const lang_node *call, lang_argument *arguments);
} lang_builder_row;

extern const lang_builder_row lang_builders[];
extern const int              lang_builder_count;

#endif
