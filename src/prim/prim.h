/* prim.h -- algorithms over cells in memory that are no loops over cells: scans.  The door of
 * prim/.  Sees base/ and ir/. */
#ifndef AR_PRIM_H
#define AR_PRIM_H

#include "ir/ir.h"

/* ---- Reductions of all cells up to each (scan.c) --------------------------------------------- */

/* Bytes that the cells of a line so far hand on to those after them, of lines of this length. */
int64_t ar_scan_carry_bytes(ar_op op, arras_dtype dtype, int64_t length);

/* Some cells of each of many lines, from the same one on: a multiple of AR_SCAN_GROUP. */
typedef struct {
    ar_op          op;
    arras_dtype    dtype;
    int64_t        length; /* of a whole line */
    int64_t        first, count;
    const char    *in; /* the cell `first` of the first line */
    char          *out;
    int64_t        in_step, out_step; /* along a line */
    int64_t        lines;
    int64_t        in_line, out_line; /* from one to the next */
    char          *carries;           /* of each; not looked at where first is 0 */
} ar_scan_lines;

void ar_scan_run(const ar_scan_lines *job);

#endif
