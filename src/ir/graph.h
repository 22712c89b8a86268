/* graph.h -- what a graph is made of.  Only src/ir/ sees this. */
#ifndef AR_IR_GRAPH_H
#define AR_IR_GRAPH_H

#include "ir/ir.h"

#include <stdatomic.h>

/* Inputs and sizes share one space of names: both appear bare in texts and are bound by name. */
typedef struct {
    const char *name;
    arras_array input; /* NULL: a size */
    int         size;
} ar_named;

struct arras_graph {
    ar_arena arena; /* owns all below but the vectors' own storage */
    ar_table node_set, expr_set, affine_set, named, output_names, function_names;

    arras_array      *nodes; /* by id */
    const ar_affine **affines;
    const char      **sizes;
    arras_dim        *size_dims; /* the dim that is just this size */
    arras_array      *inputs;
    ar_output        *outputs;
    arras_function   *functions;
    void            **blocks; /* copies of users' data */
    size_t            nnodes, naffines, nsizes, ninputs, noutputs, nfunctions, nblocks;
    size_t nodes_room, affines_room, sizes_room, size_dims_room, inputs_room, outputs_room;
    size_t functions_room, blocks_room;

    const arras_graph *whole; /* of a snapshot: the graph it is of, kept; else NULL */
    atomic_int         kept;  /* how often it must be freed more */
    int64_t            nexprs, nparams;
    arras_expr indices[ARRAS_MAX_RANK]; /* those made so far: passes ask for them all the time */
    bool       memory_failed; /* once while recording: what came after may not be what was meant */

    /* Scratch of ar_lambda: what an expression became, valid where stamp is the current one. */
    struct ar_bound {
        int64_t    stamp;
        arras_expr expr;
    } * bound;
    size_t  bound_room;
    int64_t stamp;

    /* Made with the graph, so that running out of memory needs no memory. */
    struct arras_node      memory_node;
    struct arras_expr_node memory_expr;
    struct arras_funcdef   memory_function;
};

/* Index of the affine form that says "out of memory"; made with the graph too. */
enum { AR_AFFINE_MEMORY = 0 };

/* The one node, or expression, equal to the given one, whose arrays may be the caller's own. */
arras_array ar_intern(arras_graph *g, struct arras_node *node);

extern const ar_data_range ar_no_data_range;
ar_data_range              ar_data_look(const struct arras_node *data);
/* A lambda of which all is known to be right. */
arras_array ar_lambda_intern(arras_graph *g, int rank, const arras_dim *shape, arras_expr cell,
                             int n, const arras_array *bindings);
arras_expr  ar_expr_intern(arras_graph *g, struct arras_expr_node *expr);

/* constant + the sum of n terms, each a size and its factor, ordered by size. */
arras_dim ar_dim_form(arras_graph *g, int64_t constant, int n, const int64_t *terms);

const ar_named *ar_named_find(const arras_graph *g, const char *name);
bool            ar_named_add(arras_graph *g, ar_named named);
const char *ar_string_keep(arras_graph *g, const char *string, size_t length); /* NULL: no memory */

/* Poison that says what `err` says, followed by the operands. */
arras_array ar_poison_about(arras_graph *g, const arras_error *err, int n, const arras_array *xs);
arras_expr  ar_expr_memory(arras_graph *g);
arras_expr  ar_expr_poison_of(arras_graph *g, arras_status code, const char *text);

#endif
