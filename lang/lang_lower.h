/* lang_lower.h -- from the tree to a graph: what the parts of the lowering share.
 *
 * Two contexts.  Whole arrays (lang_array.c): an expression becomes an arras_array.  Cells
 * (lang_equation.c): an expression over indices is first expanded to a lang_cell (lang_cells.c:
 * names are resolved and functions written out), then the ranges of its indices are found
 * (lang_ranges.c), then it becomes an arras_expr (lang_emit.c).
 *
 * Functions return NULL or false after an error, which then stands in L->err. */
#ifndef LANG_LOWER_H
#define LANG_LOWER_H

#include "lang/lang_program.h"
#include "lang/lang_words.h"

/* ---- Cells ----------------------------------------------------------------------------------- */

typedef enum {
    LANG_UNKNOWN, /* not found out yet */
    LANG_KNOWN,   /* lo <= i < hi */
    LANG_BY_DATA  /* its bounds are read from arrays */
} lang_range_state;

/* An index of an equation or of a reduction. */
typedef struct lang_index {
    const lang_range    *range;
    int                  axis;        /* of the result; -1: it is reduced over */
    const char          *name;        /* of the variable, for a reduction */
    const struct lang_index *around;  /* the next reduction further outside */
    struct lang_cell    *first, *end; /* given bounds of a reduction; NULL: not given */
    bool                 moves;       /* a given bound depends on other indices or on data */
    lang_range_state     state;
    int64_t              lo, hi; /* if KNOWN: it stays there, whatever other indices are */
    arras_expr           expr;   /* once ranges are known */
    struct lang_mention *mentions, *last_mention; /* reads whose index has it, as written */
} lang_index;

typedef struct lang_mention {
    const struct lang_read *read;
    struct lang_mention    *next;
} lang_mention;

/* constant + sum of factor * index */
enum { LANG_MAX_TERMS = 8 };
typedef struct lang_affine {
    int64_t constant;
    int     nterms;
    struct {
        lang_index *index;
        int64_t     factor; /* not 0 */
    } terms[LANG_MAX_TERMS];
} lang_affine;

typedef enum {
    LANG_CELL_INT,    /* integer */
    LANG_CELL_EXPR,   /* expr */
    LANG_CELL_INDEX,  /* index */
    LANG_CELL_OP,     /* number: the operation */
    LANG_CELL_CAST,   /* number: the type */
    LANG_CELL_LOAD,   /* array, edges; parts: indices */
    LANG_CELL_REDUCE  /* reduction, indices; parts: the body */
} lang_cell_kind;

/* The value of one cell.  Cells form a graph without cycles: arguments of functions are shared. */
typedef struct lang_cell {
    lang_cell_kind        kind;
    bool                  number; /* made of numbers alone, without indices and arrays */
    bool                  affine_tried;
    int                   height, op;
    const lang_node      *node; /* where it is written */
    int64_t               integer;
    arras_dtype           dtype;
    arras_array           array;
    const arras_edge     *edges; /* NULL: none */
    const lang_reduction *reduction;
    lang_index           *index; /* INDEX */
    int                   nindices;
    lang_index          **indices; /* REDUCE */
    int                   nparts;
    struct lang_cell    **parts;
    const lang_affine    *affine; /* if it is one */
    arras_expr            expr;   /* once it is made */
} lang_cell;

/* One index of a load, for the inference of ranges. */
typedef struct lang_read {
    const lang_cell   *load;
    int                axis;
    int64_t            length;
    const lang_affine *affine;
    const lang_index  *around;   /* of the innermost reduction that surrounds it */
    bool               guarded;  /* in a branch of a choice: perhaps not read at all */
    bool               in_bound; /* of a range: x[i] there does not make i as long as x */
    bool               shrinks;  /* its edge is `none` */
    bool               edged;    /* it has another rule: it may leave the array */
} lang_read;

/* Everything that is lowered to one index lambda. */
typedef struct lang_equation {
    lang_list indices; /* of lang_index: those of the result, then those of reductions */
    lang_list reads;   /* of lang_read */
    lang_list active;  /* of lang_index: the reductions around this place */
    int       guards;  /* choices around this place */
    int       bounds;  /* bounds of ranges around this place */
    /* The innermost reduction that surrounds this place wherever it is used: an argument is used
     * within reductions of the function, and outside of them. */
    const lang_index *around;
} lang_equation;

/* ---- Names ----------------------------------------------------------------------------------- */

/* What a name of the program means; made in an order in which all that it needs is there. */
typedef struct lang_value {
    arras_array array;
    lang_cell  *number; /* the same as a cell, if it is made of numbers alone */
} lang_value;

/* What a local name means: an index or a parameter of a function.  The innermost comes first. */
typedef enum {
    LANG_BIND_INDEX, /* cell, in one equation only */
    LANG_BIND_ARRAY, /* array */
    LANG_BIND_LATE   /* node, as written in `around`: lowered where it is used */
} lang_binding_kind;
typedef struct lang_binding {
    const struct lang_binding *next;
    const lang_symbol         *symbol;
    lang_binding_kind          kind;
    const lang_equation       *equation; /* INDEX; LATE: in which `cells` are made, or NULL */
    lang_cell                 *cell;
    arras_array                array; /* LATE: made when it is first needed */
    const lang_node           *node;
    const struct lang_binding *around;
    const lang_index          *surrounded; /* LATE: by this reduction of the equation */
    lang_cell                **cells; /* LATE: two, outside and inside of choices */
    enum { LANG_PERHAPS, LANG_YES, LANG_NO } number; /* LATE: whether it is made of numbers alone */
} lang_binding;
typedef const lang_binding *lang_scope;

typedef struct lang_lowering {
    const lang_program   *program;
    const lang_world     *world;
    struct lang_lowering *outer;     /* this one only finds out a number for that one */
    bool                  has_twins; /* arrays of the outer one, of which only shapes are known */
    arras_graph          *graph;
    lang_arena            arena;
    const lang_map       *inputs;    /* symbol -> lang_input */
    const lang_map       *settings;  /* symbol -> lang_node: values of params from outside */
    lang_map              values;    /* symbol -> lang_value */
    lang_map              twins;     /* binding -> arras_array; if there is an outer one */
    lang_map              edges;     /* array -> arras_edge */
    lang_map              closed;    /* def -> itself, if it reads no arrays of the program */
    lang_map              instances; /* def -> lang_instance: functions of the graph */
    int                   calls;     /* of functions of the program, in one another */
    int64_t               steps;     /* how much was lowered; see lang_step */
    lang_error           *err;
} lang_lowering;

/* ---- Errors and memory ----------------------------------------------------------------------- */

/* An array or expression that came from the library: NULL after its message became an error. */
arras_array lang_checked(lang_lowering *L, const lang_node *node, arras_array x);
arras_expr  lang_checked_expr(lang_lowering *L, const lang_node *node, arras_expr e);
/* What to add to the message of an operation that was refused; often "". */
const char *lang_op_hint(int op);
void       *lang_alloc(lang_lowering *L, size_t count, size_t size); /* NULL: an error was made */
/* Counts what functions expand to, so that a short program can't run for hours. */
bool lang_step(lang_lowering *L, const lang_node *node);
/* An unknown name, with a suggestion. */
bool lang_fail_unknown(lang_lowering *L, lang_scope scope, const lang_node *node);

/* All but the graph. */
void lang_lowering_free(lang_lowering *L);

/* ---- Parts ----------------------------------------------------------------------------------- */

/* The statements that the outputs need, in an order in which each comes after what it uses. */
bool lang_order(lang_list *out, lang_lowering *L, const lang_list *outputs);

/* What a name of the program means; NULL: an error. */
const lang_value   *lang_lookup(lang_lowering *L, lang_scope scope, const lang_node *node);
const lang_binding *lang_local(lang_scope scope, const lang_symbol *symbol); /* NULL: not there */
const lang_value   *lang_keep_value(lang_lowering *L, const lang_symbol *symbol, lang_value value);
const lang_value   *lang_define(lang_lowering *L, const lang_statement *s);
const lang_value   *lang_define_constant(lang_lowering *L, const lang_node *node);

arras_array lang_lower_array(lang_lowering *L, lang_scope scope, const lang_node *node);
arras_array lang_lower_call(lang_lowering *L, lang_scope scope, const lang_node *call);
arras_array lang_lower_list(lang_lowering *L, lang_scope scope, const lang_node *list);
/* name[indices] = body, and for a reduction among whole arrays without indices. */
arras_array lang_lower_equation(lang_lowering *L, lang_scope scope, int n,
                                const lang_range *const *ranges, const lang_node *body);

lang_cell *lang_expand(lang_lowering *L, lang_equation *eq, lang_scope scope,
                       const lang_node *node);
lang_cell *lang_cell_new(lang_lowering *L, lang_cell_kind kind, const lang_node *node, int nparts,
                         lang_cell *const *parts);
lang_scope lang_bind(lang_lowering *L, lang_scope scope, lang_binding binding);
lang_scope lang_bind_index(lang_lowering *L, lang_equation *eq, lang_scope scope,
                           const lang_node *node, lang_index *index);
/* NULL when the cell is no affine form. */
const lang_affine *lang_affine_of(lang_lowering *L, lang_cell *cell);

/* Writes a read down at each index that it has. */
bool       lang_mention_read(lang_lowering *L, const lang_read *read);
bool       lang_find_ranges(lang_lowering *L, lang_equation *eq);
/* An error: the read leaves its array, at `at`, where its indices have these values. */
bool       lang_fail_reach(lang_lowering *L, const lang_read *read, int64_t at,
                           const int64_t *values);
void       lang_emit_index(lang_lowering *L, lang_index *index); /* its range is known */
arras_expr lang_emit(lang_lowering *L, lang_cell *cell);

/* The rules of an array for loads from it, one for each axis; *out NULL: no rules. */
bool lang_edges_of(const arras_edge **out, lang_lowering *L, const lang_node *base, arras_array x);

/* ---- Functions of the program ---------------------------------------------------------------- */

/* Notes whether a function reads arrays of the program; those it calls were noted before. */
bool        lang_note_def(lang_lowering *L, const lang_statement *def);
arras_array lang_call_def(lang_lowering *L, lang_scope scope, const lang_node *call,
                          const lang_statement *def);
lang_cell  *lang_expand_def(lang_lowering *L, lang_equation *eq, lang_scope scope,
                            const lang_node *call, const lang_statement *def);

/* ---- Numbers that must be known now ---------------------------------------------------------- */

/* Cells in C order; data is released with free(). */
typedef struct lang_data {
    arras_dtype dtype;
    int         rank;
    int64_t     shape[ARRAS_MAX_RANK], count;
    void       *data;
} lang_data;

/* Whether an expression is made of numbers alone. */
bool lang_is_number(lang_lowering *L, lang_scope scope, const lang_node *node);
/* `what` says for messages what the number is for: "the axis". */
bool lang_evaluate(lang_data *out, lang_lowering *L, lang_scope scope, const lang_node *node,
                   const char *what);
bool lang_int_value(int64_t *out, lang_lowering *L, lang_scope scope, const lang_node *node,
                    const char *what);
bool lang_real_value(double *out, lang_lowering *L, lang_scope scope, const lang_node *node,
                     const char *what);
/* A number or a list of numbers; *out lives in the arena. */
bool lang_int_values(int64_t **out, int *count, lang_lowering *L, lang_scope scope,
                     const lang_node *node, const char *what);
bool lang_real_values(double **out, int *count, lang_lowering *L, lang_scope scope,
                      const lang_node *node, const char *what);

/* An array that stands for one of the outer lowering: only its type and shape are known. */
arras_array       lang_twin_of_binding(lang_lowering *L, const lang_node *node,
                                       const lang_binding *b);
const lang_value *lang_twin_of_name(lang_lowering *L, lang_scope scope, const lang_node *node);

/* size(x), size(x, axis), rank(x): they need no data. */
bool lang_measure(int64_t *out, lang_lowering *L, lang_scope scope, const lang_node *node);

#endif
