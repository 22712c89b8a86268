/* lang_tree.h -- a program as a tree: symbols, nodes of expressions, statements.
 * Owned by the arena of the text it was read from; never changed after that.  Sees lang_base.h
 * only. */
#ifndef LANG_TREE_H
#define LANG_TREE_H

#include "lang/lang_base.h"

/* A name, once per program: the same text is the same pointer. */
typedef struct lang_symbol {
    const char                  *text;
    struct lang_symbol          *next;  /* of the same hash */
    const struct lang_statement *array; /* equation, let or param that defines it; NULL: nobody */
    const struct lang_statement *function;
    const struct lang_statement *edge;
    unsigned                     listed; /* in which list of the program it is already */
} lang_symbol;

typedef enum {
    LANG_INT,       /* integer */
    LANG_REAL,      /* real */
    LANG_IMAGINARY, /* real */
    LANG_BOOL,      /* integer: 0 or 1 */
    LANG_TEXT,      /* text */
    LANG_WORD,      /* text: `all` or `none` as an argument */
    LANG_DTYPE,     /* integer: an arras_dtype as an argument */
    LANG_NAME,      /* symbol; local: an index or a parameter of a function */
    LANG_OP,        /* integer: an operation of the table; parts: operands */
    LANG_MATMUL,    /* parts: two */
    LANG_INDEX,     /* parts: what is indexed, then the items */
    LANG_SLICE,     /* parts: start, stop, step; each may be NULL */
    LANG_ELLIPSIS,
    LANG_NEWAXIS,
    LANG_CALL,   /* symbol; parts: arguments */
    LANG_NAMED,  /* symbol; parts: the value of this argument */
    LANG_REDUCE, /* symbol: the word; ranges; parts: the body */
    LANG_LIST    /* parts */
} lang_kind;

/* An index with its range: lo NULL means 0, hi NULL means that it must be found out. */
typedef struct lang_range {
    const lang_symbol      *symbol;
    lang_place              place;
    const struct lang_node *lo, *hi;
} lang_range;

typedef struct lang_node {
    lang_kind  kind;
    bool       local;     /* NAME */
    bool       indexed;   /* NAME: [ follows */
    bool       as_index;  /* NAME: in the brackets of an array */
    bool       bracketed; /* it stood in ( ) */
    int        height;    /* of the tree: at most LANG_MAX_HEIGHT */
    lang_place place;
    union {
        int64_t            integer;
        double             real;
        const char        *text;
        const lang_symbol *symbol;
    };
    int                            nparts, nranges;
    const struct lang_node *const *parts;
    const lang_range *const       *ranges;
} lang_node;

enum {
    LANG_MAX_HEIGHT = 1000,
    LANG_MAX_LOCALS = 64 /* indices and parameters at one place */
};

typedef enum {
    LANG_EQUATION,
    LANG_LET,
    LANG_PARAM,
    LANG_DEF,
    LANG_EDGE,
    LANG_OUTPUT,
    LANG_EXPRESSION /* its symbol is `result` */
} lang_statement_kind;

typedef struct lang_statement {
    lang_statement_kind      kind;
    bool                     dead;     /* replaced by a later one: about to be forgotten */
    bool                     per_axis; /* EDGE: a list of rules */
    lang_place               place;    /* of the name */
    struct lang_unit        *unit;     /* where it was read */
    const lang_symbol       *symbol;
    int                      nindices; /* on the left side; 0: whole arrays */
    const lang_range *const *indices;
    int                      nparams; /* DEF */
    const lang_symbol      **params;
    int                      nparts; /* EDGE: a rule, or one per axis; OUTPUT: names; others: 1 */
    const lang_node *const  *parts;
    int                      nuses; /* names that are not local, and functions, each as written */
    const lang_node *const  *uses;
} lang_statement;

/* The text of a program that was added at once. */
typedef struct lang_unit {
    lang_arena  arena;
    lang_source source;
    lang_list   statements; /* until the program takes them */
    bool        needed;     /* by a statement that is not forgotten */
} lang_unit;

#endif
