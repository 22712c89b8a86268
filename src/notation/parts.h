/* parts.h -- what printers and the reader of the text form must agree on: numbers, words, and
 * the order in which nodes are shown.  Only src/notation/ sees this. */
#ifndef AR_NOTATION_PARTS_H
#define AR_NOTATION_PARTS_H

#include "notation/notation.h"

enum { AR_TEXT_VERSION = 1 };

/* ---- Words (words.c) ------------------------------------------------------------------------- */

/* "f64"; "int", "real" or "complex" for untyped numbers. */
const char *ar_type_word(ar_type type);
bool        ar_type_find(ar_type *out, const char *word, size_t length);
const char *ar_edge_word(arras_edge_rule rule);            /* "" for NONE */
int         ar_edge_find(const char *word, size_t length); /* -1 when unknown */
/* False for names that an expression would read as something else: i0, inf, nan. */
bool ar_variable_is_plain(const char *name, size_t length);

/* The word nearest to a misspelt one, if one of those tried is near enough to be meant. */
typedef struct {
    const char *wrong, *best; /* best: NULL when nothing is near */
    int         distance;
} ar_guess;

ar_guess ar_guess_start(const char *wrong);
void     ar_guess_try(ar_guess *guess, const char *word);

/* ---- Order of nodes and expressions (order.c) ------------------------------------------------ */

/* The nodes that `roots` need, each after its inputs, as a walk from the first root on meets them:
 * it depends on the program alone, not on what else was recorded or when.  Free it with ar_free. */
arras_status ar_order(arras_array **out, int64_t *count, int n, const arras_array *roots,
                      arras_error *err);
/* The same for the outputs of a graph. */
arras_status ar_order_outputs(arras_array **out, int64_t *count, const arras_graph *g,
                              arras_error *err);

/* The same for expressions, with room for a note on each.  One walker serves many expressions of a
 * graph; each walk forgets the one before.  Zero-initialise one to start. */
typedef struct {
    int64_t stamp; /* of the walk that met it */
    int64_t uses;  /* places that name it */
    int64_t note;  /* the caller's own, 0 at first */
} ar_expr_slot;
typedef struct {
    arras_expr   *found; /* each after its arguments */
    ar_expr_slot *slots; /* by id */
    size_t        count, room, slots_room;
    int64_t       stamp;
} ar_expr_walk;

bool ar_expr_walk_from(ar_expr_walk *walk, arras_expr root); /* false: no memory */
void ar_expr_walk_free(ar_expr_walk *walk);

/* ---- Statements in parts (print_node.c, print_expr.c) ---------------------------------------- */

typedef struct {
    ar_text           *out;
    const arras_graph *g;
    bool               brief;
    int                indent;    /* levels, 4 blanks each */
    int64_t           *numbers;   /* %number by id of node, within the scope being printed */
    int               *positions; /* of sizes, by first use; -1: not used yet */
    const char       **sizes;     /* names by position */
    int                nsizes;
    ar_expr_walk       walk;    /* over the lambda being printed */
    int64_t            nlocals; /* its subexpressions with a number */
} ar_printer;

arras_status ar_printer_open(ar_printer *p, ar_text *out, const arras_graph *g, bool brief,
                             arras_error *err);
void         ar_printer_close(ar_printer *p);
void         ar_print_line_start(ar_printer *p);
void         ar_print_dim(ar_printer *p, arras_dim dim);
void         ar_print_dims(ar_printer *p, int rank, const arras_dim *dims); /* [n, 4] */
void         ar_print_type(ar_printer *p, ar_type type, int rank, const arras_dim *shape);
void         ar_print_operand(ar_printer *p, arras_array x);
/* What stands right of "%3 = ", without the type. */
arras_status ar_print_node(ar_printer *p, arras_array x, arras_error *err);
/* "{ ... }", with shared subexpressions defined first. */
arras_status ar_print_cell(ar_printer *p, arras_expr cell, arras_error *err);

/* ---- Amounts (flops.c) ----------------------------------------------------------------------- */

int64_t ar_sum_capped(int64_t a, int64_t b); /* of numbers >= 0; INT64_MAX when it would be more */
int64_t ar_product_capped(int64_t a, int64_t b);
int64_t ar_cells(int rank, const arras_dim *shape); /* -1: symbolic */
/* Arithmetic operations of a node, but for those of the function a CALL calls; -1: symbolic. */
arras_status ar_flops(int64_t *out, ar_expr_walk *walk, arras_array x, arras_error *err);

#endif
