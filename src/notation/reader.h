/* reader.h -- the reader of the text form, in parts: tokens (read_token.c), names, sizes, types and
 * operands (read_parts.c), cells of lambdas (read_expr.c), nodes (read_move.c, read_node.c) and
 * statements (read.c).  Functions return false once something is wrong; the first one counts. */
#ifndef AR_NOTATION_READER_H
#define AR_NOTATION_READER_H

#include "notation/parts.h"

enum { AR_MAX_OPERANDS = 1 << 20 };

/* ---- What a reader knows --------------------------------------------------------------------- */

typedef enum {
    AR_TOKEN_END,
    AR_TOKEN_LINE, /* the end of a line, but not within brackets */
    AR_TOKEN_NAME,
    AR_TOKEN_NUMBER, /* without a sign */
    AR_TOKEN_NODE,   /* %3 */
    AR_TOKEN_LOCAL,  /* $3 */
    AR_TOKEN_STRING, /* with its quotes */
    AR_TOKEN_MARK    /* any other byte, or "..." */
} ar_token_kind;

typedef struct {
    ar_token_kind kind;
    const char   *start;
    size_t        length;
    int64_t       number; /* of %3 and $3; -1: too large or missing */
    const char   *line_start;
    int64_t       line;
} ar_token;

/* What %3 and $3 stand for.  Numbers ascend, so they are found by halving. */
typedef struct {
    int64_t     number;
    const void *value;
} ar_numbered;
typedef struct {
    ar_numbered *items;
    size_t       count, room;
} ar_numbers;

typedef struct {
    arras_array *items;
    size_t       count, room;
} ar_arrays;

typedef struct {
    arras_expr *items;
    arras_edge *edges; /* of indices */
    size_t      count, room, edges_room;
} ar_exprs;

/* ": f64[n, 4]" behind a node */
typedef struct {
    bool      given;
    ar_token  at;
    ar_type   type;
    int       rank;
    arras_dim shape[ARRAS_MAX_RANK];
} ar_annotation;

typedef struct {
    const char   *end, *next; /* next: behind the token */
    const char   *line_start;
    int64_t       line;
    int           nesting; /* brackets open: within them a line may end anywhere */
    ar_token      token;   /* the one looked at */
    arras_graph  *g;
    arras_error  *err;
    arras_status  status; /* ARRAS_OK until something is wrong */
    ar_arena      arena;  /* names */
    ar_numbers    nodes;  /* of the program, or of the function being read */
    ar_arrays     params; /* of the function being read */
    bool          in_function;
    ar_arrays     operands; /* of the node being read */
    ar_annotation annotation;
    ar_numbers    locals; /* of the lambda being read */
    ar_exprs      exprs;  /* a stack: arguments read so far at every level of nesting */
    int           depth;  /* of that nesting */
} ar_reader;

/* ---- Tokens ---------------------------------------------------------------------------------- */

void ar_advance(ar_reader *r);
bool ar_token_is(const ar_token *token, const char *text); /* a mark or a name */
/* Steps over a token that is `text`; expect: or fails. */
bool ar_accept(ar_reader *r, const char *text);
bool ar_expect(ar_reader *r, const char *text);
bool ar_followed_by(const ar_reader *r, char mark); /* is it the next token's first byte? */
/* All return false. */
bool ar_fail_at(ar_reader *r, const ar_token *at, arras_status code, const char *format, ...)
    AR_PRINTF(4, 5);
bool ar_fail_expected(ar_reader *r, const char *what);
bool ar_fail_poison(ar_reader *r, const ar_token *at, arras_array poison);
bool ar_fail_no_memory(ar_reader *r);

/* ---- Names and numbers ----------------------------------------------------------------------- */

/* Kept until the reader is done. */
const char *ar_keep_token(ar_reader *r, const ar_token *token); /* NULL: no memory, and failed */
bool        ar_read_name(ar_reader *r, const char **out, const char *what);
bool        ar_read_integer(ar_reader *r, int64_t *out); /* perhaps with a sign */
bool        ar_read_number(ar_reader *r, arras_dtype dtype, void *cell);
/* A number that says by its looks whether it is an i64, an f64 or a c128: 1, 1.0, (1, 0). */
bool ar_read_untyped(ar_reader *r, arras_dtype *dtype, ar_value *value);
bool ar_read_integers(ar_reader *r, int *n, int64_t *out, int most); /* [1, -2] */

/* ---- Sizes and types ------------------------------------------------------------------------- */

bool ar_check_dim(ar_reader *r, const ar_token *at, arras_dim dim); /* fails for poison */
bool ar_read_dim(ar_reader *r, arras_dim *out);
bool ar_read_dims(ar_reader *r, int *rank, arras_dim *shape); /* [n, 4] */
bool ar_read_type(ar_reader *r, ar_type *type, int *rank, arras_dim *shape);
bool ar_read_dtype(ar_reader *r, arras_dtype *out);

/* ---- Operands and options -------------------------------------------------------------------- */

/* `at` is the %3 or $3. */
bool ar_numbers_add(ar_reader *r, ar_numbers *numbers, const ar_token *at, const void *value);
const void *ar_numbers_find(const ar_numbers *numbers, int64_t number); /* NULL when unknown */
bool        ar_arrays_add(ar_reader *r, ar_arrays *arrays, arras_array x);

bool ar_read_operand(ar_reader *r, arras_array *out);
/* Operands up to an option (axis=...) or the closing bracket, into r->operands. */
bool ar_read_operands(ar_reader *r);
bool ar_read_list(ar_reader *r);                  /* "(", then these */
bool ar_read_first(ar_reader *r, arras_array *x); /* "(", then one operand */
bool ar_check_operands(ar_reader *r, const ar_token *at, int want);
int  ar_operand_count(const ar_reader *r);

bool ar_expect_option(ar_reader *r, const char *word); /* axis= */
bool ar_read_int(ar_reader *r, int *out);
bool ar_read_axes(ar_reader *r, int *n, int *axes);
bool ar_read_axes_mask(ar_reader *r, const char *what, int rank, uint32_t *mask);

/* ---- Cells and nodes ------------------------------------------------------------------------- */

/* { ... }: the cell of a lambda whose bindings are r->operands. */
bool ar_read_cell(ar_reader *r, arras_expr *out);
/* Nodes that move cells, behind the word that says which. */
bool ar_read_joined(ar_reader *r, ar_kind kind, arras_array *out);
bool ar_read_scan(ar_reader *r, arras_array *out);
bool ar_read_roll(ar_reader *r, arras_array *out);
bool ar_read_permute(ar_reader *r, arras_array *out);
bool ar_read_reshape(ar_reader *r, arras_array *out);
bool ar_read_index(ar_reader *r, arras_array *out);
bool ar_read_gather(ar_reader *r, const ar_token *at, arras_array *out);
/* What stands right of "%3 = ", with its type if there is one. */
bool ar_read_node(ar_reader *r, arras_array *out);

#endif
