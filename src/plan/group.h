/* group.h -- lambdas that share a loop nest.  Only src/plan/ sees this. */
#ifndef AR_PLAN_GROUP_H
#define AR_PLAN_GROUP_H

#include "plan/plan.h"

typedef struct {
    arras_array     lambda; /* or a scan, which is alone in its group */
    ar_lambda_facts facts;
    ar_lambda_kind  kind;
    bool            constant, output;
    int             group; /* number; groups are in an order in which they can run */
} ar_member;

typedef struct {
    int  count; /* of groups */
    int *first; /* first[g] .. first[g + 1] - 1 are the places in `members` of group g */
    int *members;
} ar_groups;

/* Puts lambdas, given in an order in which they can be computed, into groups.  of_node: by id of
 * node, the member it is or -1. */
arras_status ar_groups_make(ar_groups *out, int n, ar_member *members, const int *of_node,
                            bool single, ar_arena *arena, arras_error *err);

/* The lambdas of one group in terms of the same inputs; members read at their own cell are
 * written into their readers.  New lambdas of `g`; *inputs and *ninputs are what all of them are
 * bound to. */
arras_status ar_group_bind(arras_array *lambdas, arras_array **inputs, int *ninputs,
                           arras_graph *g, int n, const arras_array *members, ar_arena *arena,
                           arras_error *err);

#endif
