/* c_writer.h -- what the files that write kernels as C share.  Only src/gen/ sees this.
 *
 * A kernel is loops around *strips*.  A strip is a run of consecutive values of one variable, the
 * last index of the cells or the variable of a reduction, along which expressions are computed by
 * loops that a C compiler turns into vector instructions.  What does not change along a strip is
 * computed before it, so is the place in memory where its reads start.  Where some read may leave
 * its array the strip is cut: in the middle, where all are inside, nothing is checked; at both ends
 * cells are computed one by one.
 *
 * Names in the C text beside those of words.h, N an expression's id, S a number:
 *     mN[]      its values along a segment of a strip
 *     pN tN fN  where a read starts, bytes from one cell to the next, which fill stands for it
 *     segS lenS                start and length of a segment of a strip
 *     atS nS eS                the same of a piece of it, and a place in that
 *     firstS lastS             where all reads are inside */
#ifndef AR_GEN_C_WRITER_H
#define AR_GEN_C_WRITER_H

#include "gen/kit/kit.h"
#include "gen/words/words.h"

enum {
    AR_C_TERMS = 8,
    AR_C_TOGETHER = 4,            /* reductions in one loop */
    AR_C_SEGMENT = AR_FOLD_BLOCK, /* cells: small enough for the first cache, too */
};

/* ---- State ----------------------------------------------------------------------------------- */

/* Where the value of an expression is, if not in a name. */
enum {
    AR_C_BUFFER = AR_W_SHAPED, /* mN[] is in scope */
    AR_C_POINTER, /* a load: pN is in scope, and the cell is where all reads are inside */
    AR_C_EDGE     /* a load: pN is in scope, but indices that move may be outside */
};

/* What a writer of strips knows beside what all writers know. */
typedef struct ar_c_strips {
    ar_text                  top;    /* declarations of the whole kernel */
    const char              *vector; /* type of the values that are put; NULL: of single cells */
    arras_dtype              vector_dtype;
    const struct ar_c_strip *vector_strip;
    int                      vector_row;
    size_t                   vector_mark;
    bool                     wide;      /* vectors are of 64 bytes */
    int                      abreast;   /* so many vectors are put side by side, if not 0 */
    char                     which[16]; /* of them: ends its names, not those of the first */
    int                      lanes;     /* cells of a vector that is put together of them, or 0 */
    int                      lanes_block; /* a number of its own for each */
    bool                     in_order;  /* statements must stay side by side, as they are put */
    bool                     edged;     /* vectors are those of a row that has no other cells, */
    bool                     at_edge;   /* some of whose lanes may be outside */
} ar_c_strips;

extern const ar_shape ar_c_strips_shape; /* c_shape.c */

/* ---- Indices (c_index.c) --------------------------------------------------------------------- */

/* along * (variable of a strip) + constant + sum of factor * of, as 64 bits that wrap. */
typedef struct {
    int64_t along, constant;
    int     nterms;
    struct {
        int64_t    factor;
        arras_expr of;
    } terms[AR_C_TERMS];
} ar_c_affine;

bool ar_c_varies(const struct ar_c_strip *strip, arras_expr e);
bool ar_c_affine_read(ar_c_affine *out, const struct ar_c_strip *strip, arras_expr index);
/* All but the part along the strip; names in it must have been put. */
void ar_c_affine_put_terms(ar_writer *w, const ar_c_affine *affine);
void ar_c_affine_print_rest(ar_writer *w, const ar_c_affine *affine);

/* ---- Reads (c_load.c) ------------------------------------------------------------------------ */

typedef enum { AR_C_FIXED, AR_C_AFFINE, AR_C_ANY } ar_c_motion; /* of an index along a strip */

typedef struct ar_c_read {
    arras_expr  load;
    bool        unit;  /* pN points to cells, the next one is read next (or every along-th) */
    bool        any;   /* some index is ANY */
    bool        fills; /* fN may be not 0 */
    bool        rows;  /* then qN points to a row of fills in each piece */
    bool        edged; /* a unit one, whose last index may be outside: then it is a constant */
    int64_t     along; /* of a unit read */
    ar_c_affine last;  /* its last index */
    ar_c_motion motion[ARRAS_MAX_RANK];
    /* Another read of the same row, `shift` cells before: so compilers see they are near. */
    const struct ar_c_read *neighbour;
    int64_t                 shift;
} ar_c_read;

/* How many cells further the next one lies that it reads along a strip; 0: nothing is known. */
int64_t ar_c_row_step(const ar_writer *w, const struct ar_c_strip *strip, arras_expr load);
/* Before a strip: where the read starts; gives up when it fails whatever the cell. */
void ar_c_prepare_load(ar_writer *w, struct ar_c_strip *strip, arras_expr load);
/* At the start of a piece where all reads are inside. */
void ar_c_put_fill_row(ar_writer *w, const ar_c_read *read, const struct ar_c_strip *strip);
/* A cell, where the reads are inside, and where they may be outside. */
void ar_c_put_read(ar_writer *w, const ar_c_read *read, const struct ar_c_strip *strip);
void ar_c_put_edge_read(ar_writer *w, const ar_c_read *read);
/* pN[...], where the read is a unit one. */
void ar_c_print_unit_cell(ar_writer *w, const ar_c_read *read, const struct ar_c_strip *strip);

/* ---- Strips (c_look.c, c_strip.c) ------------------------------------------------------------ */

/* What is done with the cells; each may be NULL. */
typedef struct {
    void (*open)(ar_writer *w, void *self, const struct ar_c_strip *strip); /* a segment */
    void (*cell)(ar_writer *w, void *self, const struct ar_c_strip *strip); /* roots have names */
    void (*close)(ar_writer *w, void *self, const struct ar_c_strip *strip);
    /* Around loops over vectors; may be NULL. */
    void (*open_vectors)(ar_writer *w, void *self, const struct ar_c_strip *strip);
    void (*close_vectors)(ar_writer *w, void *self, const struct ar_c_strip *strip);
    void *self;
} ar_c_sink;

typedef struct {
    arras_expr expr;
    int        level; /* how many come one after the other to compute it */
} ar_c_staged;

/* Which boxes the runs of a strip are for: where an axis of a few cells is known to be whole, the
 * loops around it are written twice. */
typedef enum { AR_C_ANY_RUN, AR_C_WHOLE_RUN, AR_C_PART_RUN } ar_c_runs;

typedef struct ar_c_strip {
    int               axis;     /* that runs; -1: a variable */
    const char       *variable; /* its name */
    char              name[24]; /* in C */
    bool              flat;     /* all axes at once */
    uint32_t          beside;   /* axes whose indices change along it too, one bit each */
    int               number;
    int64_t           walk; /* its stamp */
    int               nroots;
    const arras_expr *roots;
    ar_c_staged      *staged; /* what is computed for a whole segment first */
    size_t            nstaged, staged_room;
    const ar_c_read **reads;
    size_t            nreads, reads_room;
    bool              cut;        /* firstS and lastS are in scope */
    bool              ragged;     /* and that not only by reads that are edged */
    bool              jumps;      /* reads some array where another one says */
    const char       *to;         /* where its run ends */
    int               segment;    /* cells */
    int               cell_bytes; /* of a sink's own buffers */
    int64_t           length;     /* of the whole axis, when known and short; else 0 */
    int               most;       /* cells of a run, when known; else 0 */
    ar_c_runs         runs;
    bool              rest;    /* most cells are computed elsewhere: not worth vectors */
    bool              sparse;  /* each cell is a long reduction: no vectors, no streaming */
    bool              direct;  /* and has all of it computed before the next cell is */
    bool              vectors; /* cells are put as vectors, if they can be */
    bool              calls;   /* and functions are called for them */
    bool              past;    /* and stored past the caches, where pastK says so */
    bool              lines;   /* those of a cache line side by side, in a loop of their own */
    bool              lanes;   /* they must be put together of single cells */
    int               abreast; /* vectors computed side by side, while each waits for itself */
    bool              plain;   /* vectors can be of 64 bytes */
    bool              wide;    /* and are of 64 bytes first, as long as there are enough cells */
    bool              again;   /* no result can stand where a cell is read: the last vector of a row
                                  may compute cells that have been computed, to end with it */
} ar_c_strip;

/* Rows that are cut at their borders leave past the caches by whole lines, and what is beside these
 * through a buffer; others as vectors, wherever these start. */
static inline bool ar_c_goes_by_lines(const ar_c_strip *strip) { return strip->past && strip->cut; }

/* Where nothing but constants is beyond their borders they are whole vectors up to there, if their
 * length allows it: reads leave out the lanes that are outside. */
static inline bool ar_c_has_edged_vectors(const ar_c_strip *strip)
{
    return ar_c_goes_by_lines(strip) && strip->lines && !strip->ragged && strip->nstaged == 0;
}

/* Asks for what will be read after so many cells, or after a segment (c_ahead.c). */
void ar_c_put_turn_ahead(ar_writer *w, const ar_c_strip *strip, int cells);
void ar_c_put_segment_ahead(ar_writer *w, const ar_c_strip *strip);

/* A function that is called for all cells of a segment at once. */
bool ar_c_is_row_math(arras_expr e);
/* The axis along which a read jumps from cell to cell, as an array of indices says; -1: none, or
 * several. */
int ar_c_jumping_axis(const ar_c_read *read);

void ar_c_strip_cell(ar_c_strip *out, ar_writer *w); /* the last index */
void ar_c_strip_variable(ar_c_strip *out, const ar_w_variable *variable);
/* Puts what does not change along it. */
void ar_c_strip_open(ar_writer *w, ar_c_strip *strip, int n, const arras_expr *roots);
/* From and to: names of int64_t. */
void ar_c_strip_run(ar_writer *w, ar_c_strip *strip, const char *from, const char *to,
                    const ar_c_sink *sink);
/* Whether the loop over a whole axis of a few cells is unlike that over parts of it. */
bool ar_c_strip_is_short(const ar_c_strip *strip);
/* Instead of a run: its reads are cells in memory, whatever the cell. */
void ar_c_strip_set_inside(ar_writer *w, const ar_c_strip *strip);
void ar_c_strip_close(ar_c_strip *strip);

/* ---- Short rows that jump (c_rows.c) --------------------------------------------------------- */

enum { AR_C_LEAVES = 32 };

typedef struct {
    int        n;
    arras_expr leaves[AR_C_LEAVES]; /* what is gathered for many rows first */
    int        nspread;
    arras_expr spread[AR_C_LEAVES]; /* reads of one cell for each row, which lie side by side */
    int        npicked;
    arras_expr picked[AR_C_LEAVES]; /* reads of cells of as many short rows, the same in each */
    int        cells;               /* of these rows, at most */
    ar_c_strip strip;               /* all of them, when they are computed */
} ar_c_rows;

/* Whether these cells, of short rows, are worth it. */
bool ar_c_rows_find(ar_c_rows *out, ar_writer *w, int n, const arras_expr *cells);
void ar_c_rows_declare(ar_writer *w, const ar_c_rows *rows);
/* Within the loops over rows.  length: of a row. */
void ar_c_rows_gather(ar_writer *w, ar_c_rows *rows, int64_t length);
/* A loop over all cells that were gathered; the name of its variable is rows->strip.name. */
void ar_c_rows_open(ar_writer *w, ar_c_rows *rows);
/* The same with vectors: rows, each a part of one, are gathered side by side, and computed as wide
 * vectors that are full.  Only where all are cells of one type. */
bool ar_c_rows_are_vectors(ar_c_rows *rows, ar_writer *w, arras_dtype dtype);
/* Before the loop over parts of the rows. */
void ar_c_rows_declare_picks(ar_writer *w, const ar_c_rows *rows, int64_t length,
                             arras_dtype dtype);
void ar_c_rows_gather_vectors(ar_writer *w, ar_c_rows *rows, int64_t length);
/* `left`: how many cells of a vector there are. */
void ar_c_rows_open_vectors(ar_writer *w, ar_c_rows *rows, int64_t length, arras_dtype dtype);
void ar_c_rows_close_vectors(ar_writer *w);

/* ---- Reductions (c_reduce.c, c_across.c) ----------------------------------------------------- */

/* target = its value over nothing. */
void ar_c_fold_empty(ar_writer *w, const ar_w_fold *fold, const char *target);
/* One value. */
void ar_c_put_reduce(ar_writer *w, arras_expr reduce);
/* For all cells of a segment at once: worth it where the reads run along the strip. */
bool ar_c_runs_across(ar_writer *w, const ar_c_strip *strip, arras_expr reduce);
bool ar_c_go_together(arras_expr reduce, arras_expr other);
/* One, or up to AR_C_TOGETHER that go together. */
void ar_c_put_across(ar_writer *w, const ar_c_strip *strip, int n, const arras_expr *reductions);

/* ---- Vectors (c_vector.c) -------------------------------------------------------------------- */

const char *ar_c_vector_type(arras_dtype dtype); /* NULL: there is none */
int         ar_c_vector_cells(arras_dtype dtype);
/* Whether the cells of a strip, which is about to be opened, can be put as vectors. */
bool ar_c_cells_are_vectors(ar_writer *w, ar_c_strip *strip, int n, const arras_expr *roots);
/* A loop from eS on over the cells of a piece, as long as there are enough for a vector. */
void ar_c_put_vector_cells(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink);
/* All cells of a segment, of a strip with edged vectors. */
void ar_c_put_edged_vectors(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink);
/* Sets w->vector: what is put from now on are vectors along the strip. */
void ar_c_vector_set(ar_writer *w, const ar_c_strip *strip, arras_dtype dtype);
/* The same of a row that is one vector. */
void ar_c_put_row_vector(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink);
/* Names for what the rows of a loop that follows share: roots of a strip that was opened. */
void ar_c_put_shared_vectors(ar_writer *w, const ar_c_strip *strip, int lanes);
/* Whether the body of a reduction can, a root of a strip that is open, also for later values of a
 * variable around (NULL: none): nothing but the places of reads depends on it. */
bool ar_c_is_vector(ar_writer *w, const ar_c_strip *strip, arras_expr root, const ar_w_fold *f,
                    const char *variable);
void ar_c_vector_start(ar_writer *w, arras_expr e); /* const f64x4 v7 = */
/* for (int t = 0; ar_c_abreast(w, t); t++): a statement for each of the vectors side by side. */
bool ar_c_abreast(ar_writer *w, int t);
void ar_c_put_vector_op(ar_writer *w, arras_expr e);
/* A block, in which roots are those of the cells from `at` on, in row number `row`: stepN bytes
 * further for each. */
void ar_c_vector_open(ar_writer *w, const ar_c_strip *strip, const ar_w_fold *f, const char *at,
                      int row);
/* aNUMBER is combined with a root. */
void ar_c_vector_accumulate(ar_writer *w, const ar_w_fold *f, arras_expr root, int number);
void ar_c_vector_close(ar_writer *w);
/* How many bytes further a read is `turns` values of the innermost variable later; false: it is the
 * same place. */
bool ar_c_turn_step(ar_writer *w, ar_text *out, const ar_c_read *read, int turns);

/* ---- Short rows that jump, as vectors (c_lanes.c) -------------------------------------------- */

/* Whether the cells of a vector can be read one by one. */
bool ar_c_is_lane_read(ar_writer *w, const ar_c_strip *strip, arras_expr load);
void ar_c_put_lane_read(ar_writer *w, const ar_c_read *read, const ar_c_strip *strip);
/* A whole row of strip->length cells. */
void ar_c_put_row_lanes(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink);

/* ---- Other ----------------------------------------------------------------------------------- */

/* The expression with short reductions written out (c_unroll.c). */
arras_expr ar_c_unroll(arras_expr e);
/* The kernel of a contraction, the one lambda of the form (c_contract_print.c). */
arras_status ar_c_contraction_print(ar_text *out, ar_op_set *used, const ar_kernel_form *form,
                                    const ar_contraction *c, const char *name, arras_error *err);

#endif
