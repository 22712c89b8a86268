/* fuse.h -- what the files of fusion share.  Only fuse*.c see this. */
#ifndef AR_OPT_FUSE_H
#define AR_OPT_FUSE_H

#include "opt/opt.h"
#include "opt/rewrite.h"

enum {
    AR_FUSE_OPERATIONS = 400, /* of one cell */
    AR_FUSE_DEPTH = 300,
    AR_FUSE_ARRAYS = 60 /* read by one lambda */
};

/* How one lambda reads another: all its loads of it together. */
typedef struct ar_use {
    struct ar_use *next;        /* of the same array */
    int64_t        reader;      /* node */
    int            sites;       /* different loads */
    double         evaluations; /* for each cell of the array */
    double         jumps;       /* those of them at a place that is read itself */
    bool           own_cell;    /* one load, of the reader's own cell, of as many cells */
    bool           varies;      /* an index depends on a variable of the reader */
    double         skipping;    /* what more it costs as neighbours read cells that are not: 1, 2 */
    bool           inside;      /* never read outside */
    bool           covers;      /* every cell is read */
    bool           picks;       /* every load takes one of the array's choices */
} ar_use;

/* Arrays by id, ascending. */
typedef struct {
    int      count;
    int64_t *ids;
} ar_id_list;

/* One array of the graph. */
typedef struct {
    arras_array node;
    ar_use     *uses, *last_use;
    int         readers;
    double      cells;      /* sizes that are not known count as 1000 */
    double      cell_ps;    /* to compute a cell, with what is fused into it */
    double      move_ps;    /* to read or write all of it, for each of its cells */
    int64_t     operations; /* of its cell, with what is fused into it */
    int64_t     alone;      /* of these, those that are not of what it shares */
    ar_id_list  shares;     /* arrays of several readers, fused into it at its own cell */
    int         depth;
    ar_id_list  reads; /* what its cell reads, after fusion */
    int         choices;  /* expressions its cell is one of, by the index along axis choice */
    int         choice;
    bool        output, fused;
    bool        scanned; /* a scan reads it, cell after cell, from memory */
    bool        reduces;     /* there is a reduction in its cell */
    bool        contracts;   /* that is a sum of products which kernels are made for */
    bool        long_sum;    /* and so long that it is left to a library */
    bool        only_vector; /* its operations are + - * / in its own type */
    bool        may_fail;    /* some read may be outside */
    const char *reason;
} ar_item;

typedef struct {
    const arras_graph *g;
    const ar_prices   *prices;
    ar_item           *items; /* by id of node */
    int64_t            count; /* of nodes */
    arras_array       *nodes; /* that the outputs need, by id */
    int64_t            nnodes;
    int64_t           *visited;     /* by id of expression: the stamp of the frame it was met in */
    int64_t           *counted; /* by id of expression: the lambda in which it was counted */
    ar_arena           arena;
    arras_error       *err;
} ar_fusion;

/* Fills in all that is known of items before anything is decided (fuse_cost.c). */
arras_status ar_fuse_cost(ar_fusion *f);
/* Sets `fused` and `reason` of all items (fuse_decide.c). */
arras_status ar_fuse_decide(ar_fusion *f, bool no_fusion);
double       ar_fuse_estimate(const arras_graph *g, arras_dim dim);
/* Writes down what was decided of the arrays of f->g, which became those of `optimised`; where it
 * was decided before, that is brought up to date (decisions.c). */
arras_status ar_decisions_note(ar_decisions *out, const ar_fusion *f, arras_graph *optimised,
                               const arras_array *became);

#endif
