/* native_parts.h -- what the files of native stages share: native_*.c.  Internal to native/.
 *
 * A native stage calls a function in C at every cell.  Most cells have all their neighbours within
 * the tile's memory and are computed right there.  For cells near the ends of an axis the cells
 * around them are copied into a patch first, as the rules of the borders say. */
#ifndef AR_NATIVE_PARTS_H
#define AR_NATIVE_PARTS_H

#include "native/native.h"

enum { AR_CELL_BYTES = 16 }; /* of the largest type */

typedef struct {
    const char     *name; /* the native's own */
    arras_dtype     dtype;
    size_t          size;
    int             rank;
    int64_t         shape[ARRAS_MAX_RANK];
    bool            whole;
    bool            probed; /* its reach is found out */
    int             axes[ARRAS_MAX_RANK]; /* of the result */
    int64_t         step[ARRAS_MAX_RANK], start[ARRAS_MAX_RANK];
    int64_t         before[ARRAS_MAX_RANK], after[ARRAS_MAX_RANK];
    arras_edge_rule rules[ARRAS_MAX_RANK];
    uint8_t         fills[ARRAS_MAX_RANK][AR_CELL_BYTES];
} ar_native_input;

typedef struct {
    const char *name;
    arras_dtype dtype;
    size_t      size;
    int64_t     cell_bytes; /* of a value or a vector */
} ar_native_output_type;

typedef struct {
    uint8_t low[AR_CELL_BYTES], high[AR_CELL_BYTES];
    char  **outputs;
} ar_native_mirror;

/* What goes wrong in a function, or what it looks at when its reach is found out. */
struct arras_cell_log {
    ar_native *native;
    bool       probing;
    bool       failed;
    int        input; /* that was read out of reach; -1: the function said what was wrong */
    int        n;
    int64_t    offset[ARRAS_MAX_RANK];
    int64_t    index[ARRAS_MAX_RANK]; /* of the cell, or of the first of its row */
    char       message[256];
};

/* What a thread has. */
typedef struct {
    arras_cell            cell;
    arras_view           *views;
    uintptr_t            *origins; /* by input: where its cell [0, 0, ...] would be */
    void                **outs;
    int64_t               index[ARRAS_MAX_RANK];
    char                **patches;       /* by input; NULL: none yet */
    size_t               *patch_bytes;
    uint8_t              *marks;         /* of the cells of a row: 0, or 1 + a mirror */
    int64_t               nmarks;
    struct arras_cell_log log;
} ar_native_worker;

struct ar_native {
    ar_stage               stage;
    int                    rank; /* of the cells, and their shape */
    int64_t                shape[ARRAS_MAX_RANK];
    int64_t                length; /* of a vector; 0: none */
    ar_native_input       *inputs;
    ar_native_output_type *outputs;
    int64_t                inner_lo[ARRAS_MAX_RANK]; /* cells that need no patch */
    int64_t                inner_hi[ARRAS_MAX_RANK];
    arras_apply_cell      *cell; /* or */
    arras_apply_row       *row;  /* or */
    void                  *entry; /* of the text */
    ar_module             *module;
    void                  *context;
    size_t                 scratch;
    int                    nmirrors;
    ar_native_mirror      *mirrors;
    int                    nworkers;
    ar_native_worker      *workers;
    ar_arena               arena;
};

/* ---- Checking (native_check.c) --------------------------------------------------------------- */

/* Before the reach is known, and after. */
arras_status ar_native_copy_inputs(ar_native *n, const arras_apply_spec *spec, int narrays,
                                   const ar_exec_array *arrays, arras_error *err);
arras_status ar_native_find_shape(ar_native *n, const arras_apply_spec *spec, arras_error *err);
void         ar_native_find_inner(ar_native *n);

/* ---- Calls (native_call.c) ------------------------------------------------------------------- */

arras_status ar_native_worker_make(ar_native_worker *out, ar_native *n, arras_error *err);
void         ar_native_worker_free(ar_native_worker *w, int ninputs);
/* `count` cells from where the worker stands, which then stands after them. */
void ar_native_call(const ar_native *n, ar_native_worker *w, int64_t count);
/* Stands so many cells further on. */
void ar_native_step(const ar_native *n, ar_native_worker *w, int64_t cells);
/* Calls the function once on cells that are all 1 and notes how far it looks. */
arras_status ar_native_probe(ar_native *n, arras_error *err);
/* What was noted, as an error. */
arras_status ar_native_complain(const ar_native *n, const struct arras_cell_log *log,
                                arras_error *err);

/* ---- Rows (native_row.c) --------------------------------------------------------------------- */

/* The cells lo <= i < hi, for which the worker has origins and strides; operands: results first. */
arras_status ar_native_rows(const ar_native *n, ar_native_worker *w, const ar_operands *operands,
                            const int64_t *lo, const int64_t *hi, arras_error *err);

/* ---- Mirrors (native_mirror.c) --------------------------------------------------------------- */

/* Whether values of a type can be compared at all. */
bool ar_native_can_mirror(arras_dtype dtype);
/* As ar_native_call, but for the cells whose value says what they become. */
arras_status ar_native_call_mirrored(const ar_native *n, ar_native_worker *w, int64_t count,
                                     arras_error *err);

/* ---- Borders (native_border.c) --------------------------------------------------------------- */

/* Along an axis, the cells of an input that the cells lo <= i < hi of the result look at, outside
 * of the array too. */
void ar_native_looks_at(int64_t *from, int64_t *to, const ar_native_input *in, int axis,
                        const int64_t *lo, const int64_t *hi);
/* What these need of an input. */
ar_region ar_native_need(const ar_native_input *in, const int64_t *lo, const int64_t *hi);
/* Whether these look outside of an input. */
bool ar_native_leaves(const ar_native_input *in, const int64_t *lo, const int64_t *hi);
/* Bytes of the patch of input k for these; INT64_MAX: too many. */
int64_t ar_native_patch_bytes(const ar_native_input *in, const int64_t *lo, const int64_t *hi);
/* Copies it and makes it what the worker reads. */
arras_status ar_native_patch(const ar_native *n, ar_native_worker *w, int k,
                             const ar_operands *operands, const int64_t *lo, const int64_t *hi,
                             arras_error *err);

/* ---- Text (native_text.c) -------------------------------------------------------------------- */

/* probing: every access is noted, whatever the reach. */
arras_status ar_native_build(ar_native *n, const arras_apply_spec *spec, bool probing,
                             const ar_build_options *build, arras_error *err);
void         ar_native_call_text(const ar_native *n, ar_native_worker *w, int64_t count);

#endif
