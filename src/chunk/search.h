/* search.h -- the search for the best shape: its tables, for the files that fill and use them.
 *
 * Let C be the cells a chunk may have.  Once some edges are chosen, the others share m = C div
 * their product, and every m is a floor quotient C div j: there are about 2 sqrt(C) of them.  Costs
 * never grow with an edge, so of all edges that leave the same m the largest one is enough.  Tables
 * have a column for each floor quotient. */
#ifndef AR_SEARCH_H
#define AR_SEARCH_H

#include "chunk/chunk.h"

/* Costs of an axis, a row for each class of queries that are alike along it. */
typedef struct ar_search_axis {
    int64_t  most;    /* the largest edge */
    int64_t *edges;   /* of each quotient: the largest edge not above it; 0: none */
    int64_t  classes; /* rows */
    double  *costs;   /* chunks along this axis with this edge: classes * quotients */
    double  *logs;    /* of costs */
    double  *parts;   /* sums of the weights of the queries in each class */
    double  *along;   /* the mean of logs, by these */
    double  *rest;    /* with axes before this one chosen and so many cells left: the least sum of
                         `along` of this and all later axes */
    int      twin;    /* an earlier axis that is exactly alike; -1: none */
} ar_search_axis;

typedef struct ar_search {
    const ar_chunk_problem *problem;
    int                     rank;
    int64_t                 cells, root, quotients;
    int64_t                *values; /* the quotients, ascending */
    ar_search_axis          axes[ARRAS_MAX_RANK];
    int64_t                 queries;
    int32_t                *classes; /* of a query along each axis: queries * rank */
    double                 *shares;  /* probabilities of queries */
    double                 *weights; /* of queries in the bound; they add up to 1 */
    double                  offset;  /* sum of weight * log(share / weight) */
    double                 *products; /* of the costs along the axes that are chosen, with shares:
                                         (rank + 1) * queries */
    int64_t                 edges[ARRAS_MAX_RANK]; /* that are chosen */
    bool                    cubes; /* among equals prefer what is like a cube */
    double                  grain; /* costs that differ do so by this at least; 0: not known */
    double                  cost;  /* of the best so far */
    int64_t                 best[ARRAS_MAX_RANK];
    int64_t                 examined, effort;
    double                  open; /* the least bound (a log) of what was left out for its effort */
} ar_search;

arras_status ar_search_open(ar_search *s, const ar_chunk_problem *p, arras_error *err);
void         ar_search_close(ar_search *s);

static inline int64_t ar_search_column(const ar_search *s, int64_t quotient)
{
    return quotient <= s->root ? quotient - 1 : s->quotients - s->cells / quotient;
}

/* A walk over the edges that are worth a try along an axis when m cells are left. */
typedef struct ar_edge_walk {
    int64_t left, next, last; /* the cells, where to go on, the edge before */
    int64_t edge, column;     /* the edge, and its column */
    int64_t rest;             /* the cells that are left after it */
} ar_edge_walk;

static inline ar_edge_walk ar_edge_walk_of(int64_t left)
{
    return (ar_edge_walk){ .left = left, .next = 1 };
}

/* The same for a search: along the last axis only the largest edge is worth a try. */
static inline ar_edge_walk ar_edge_walk_at(const ar_search *s, int axis, int64_t left)
{
    return (ar_edge_walk){ .left = left, .next = axis + 1 == s->rank ? left : 1 };
}

static inline bool ar_edge_walk_next(ar_edge_walk *walk, const ar_search *s, int axis)
{
    const ar_search_axis *a = &s->axes[axis];

    while (walk->next <= walk->left && walk->last < a->most) {
        int64_t rest = walk->left / walk->next, edge = walk->left / rest;

        walk->next = edge + 1;
        walk->column = ar_search_column(s, edge);
        walk->edge = a->edges[walk->column];
        if (walk->edge == walk->last)
            continue;
        walk->last = walk->edge;
        walk->rest = walk->edge == edge ? rest : walk->left / walk->edge;
        return true;
    }
    return false;
}

/* The weights have changed: fills along, and rest below the first axis (everywhere: that too). */
void ar_search_bound(ar_search *s, bool everywhere);
/* The least log of a cost when so many cells are left for all axes: no shape costs less. */
double ar_search_bound_at(const ar_search *s, int64_t cells);
/* The shape that the tables say is the best, and its cost; those of queries are in products[0]. */
double ar_search_descend(ar_search *s, int64_t *chunk);
/* First weights for shapes of queries, from real-valued edges. */
void ar_search_relax(ar_search *s);
/* Finds weights with a high bound, and a good first shape. */
void ar_search_ascend(ar_search *s);
/* Examines all shapes that may be better than the best so far. */
void ar_search_run(ar_search *s);
/* Among those near the best the one that is best balanced. */
void ar_search_balance(ar_search *s, double within, int64_t *chunk);

/* Parts of both searches.  The least sum of `along` with this edge; */
double ar_search_rest(const ar_search *s, int axis, const ar_edge_walk *walk);
/* whether an earlier axis that is alike has the larger edge: then the shape was seen before; */
bool ar_search_is_twice(const ar_search *s, int axis, int64_t edge);
/* multiplies the products by the costs of an edge, and returns a sum below which no completion
 * comes: all edges that are left taken as large as each of them alone could be. */
double ar_search_extend(ar_search *s, int axis, const ar_edge_walk *walk);

/* Finds how far two costs are apart if they differ. */
void ar_search_set_grain(ar_search *s);
/* -1, 0, 1: how a shape of this cost compares with the best so far; exact. */
int ar_search_compare(const ar_search *s, const int64_t *chunk, double cost);
/* Whether no query costs less with the larger edge. */
bool ar_search_costs_same(const ar_search *s, int axis, int64_t edge, int64_t larger);
/* The smallest edges with the same costs. */
void ar_search_shrink(const ar_search *s, int64_t *chunk);
/* Whether a is to be preferred to b, which costs the same. */
bool ar_search_prefers(const ar_search *s, const int64_t *a, const int64_t *b);

#endif
