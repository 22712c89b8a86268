/* label_parts.h -- what the files of label/ share: the grid of tiles, runs of cells, components
 * that touch borders, and the labelling that holds them all. */
#ifndef AR_LABEL_PARTS_H
#define AR_LABEL_PARTS_H

#include "label/label.h"

#include <pthread.h>
#include <stdatomic.h>

/* Every array is seen with three axes; those in front that it does not have are of one cell. */
enum { AR_LABEL_AXES = 3 };

/* ---- Tiles (label_tiles.c) ------------------------------------------------------------------- */

/* A segment is a piece of a tile that is one piece of the array too, in C order.  Every axis behind
 * `segment_axis` is in one tile as a whole. */
typedef struct {
    int64_t shape[AR_LABEL_AXES], tile[AR_LABEL_AXES];
    int64_t count[AR_LABEL_AXES], total; /* tiles along each axis, and all */
    int     touch;                       /* neighbours differ along at most so many axes */
    int     segment_axis;
    int64_t segments;
} ar_label_grid;

typedef struct {
    int64_t at[AR_LABEL_AXES]; /* of the tile, in the grid */
    int64_t lo[AR_LABEL_AXES], extent[AR_LABEL_AXES];
} ar_label_box;

/* The number of tiles and segments, of tiles of this shape. */
void         ar_label_grid_cut(ar_label_grid *grid, const int64_t *tile);
ar_label_box ar_label_grid_box(const ar_label_grid *grid, int64_t tile);
/* The segment of line `line` of a tile; that of a cell of the array. */
int64_t ar_label_segment(const ar_label_grid *grid, const ar_label_box *box, int64_t line);
int64_t ar_label_segment_of(const ar_label_grid *grid, int64_t cell);
/* Tiles that keep `threads` busy, for arrays in memory. */
void ar_label_tiles_memory(ar_label_grid *grid, int threads);
/* Tiles for arrays at rest: made of whole `unit`s, of at most `most` cells if a unit is not
 * larger. */
void ar_label_tiles_stored(ar_label_grid *grid, const int64_t *unit, int64_t most);

/* ---- Which cells count (label_rule.c) -------------------------------------------------------- */

typedef struct ar_label_rule ar_label_rule;
/* Bit i of the words: whether cell i counts.  Bits behind the last cell are 0. */
typedef void ar_label_bits(uint64_t *bits, const void *cells, int64_t n, const ar_label_rule *rule);

struct ar_label_rule {
    ar_label_bits *bits;
    int64_t        whole; /* what integers are compared with; of u64 the same bits */
    double         real;  /* what real numbers are compared with */
};

arras_status ar_label_rule_make(ar_label_rule *out, const arras_label_options *options,
                                arras_dtype dtype, arras_error *err);

/* ---- Runs of one tile (label_runs.c) --------------------------------------------------------- */

/* Lines are rows along the last axis, in C order.  A run is a row of bits that are 1; runs and
 * components are numbered from 0 by their first cells. */
typedef struct {
    int64_t   lines, width, words; /* words: of bits, for a line */
    uint64_t *bits;                /* which cells count; those behind the end of a line do not */
    uint32_t *first;               /* runs that begin before each line, and before the end */
    uint32_t *visited;                 /* components that do */
    uint32_t *component;           /* of each run */
    size_t    capacity;            /* of them */
} ar_label_runs;

typedef struct {
    const char *first; /* cell of the tile */
    int64_t     strides[AR_LABEL_AXES];
    size_t      size;
} ar_label_cells;

/* Memory of one thread, made when it is first needed. */
typedef struct {
    uint32_t *edges;  /* of the runs of a line */
    char     *line;   /* of cells or labels, side by side */
    char     *cells;  /* of a tile that was read */
    char     *labels; /* of a tile that is written */
} ar_label_scratch;

arras_status ar_label_runs_find(ar_label_runs *out, const ar_label_box *box, int touch,
                                const ar_label_cells *cells, const ar_label_rule *rule,
                                const ar_label_scratch *scratch, arras_error *err);
void         ar_label_runs_free(ar_label_runs *runs);
int64_t      ar_label_runs_bytes(const ar_label_runs *runs);
/* Where each run of a line begins and where it has ended; the number of runs. */
int64_t ar_label_edges(uint32_t *edges, const ar_label_runs *runs, int64_t line);
bool    ar_label_bit(const ar_label_runs *runs, int64_t line, int64_t x);

/* ---- Components that touch borders (label_border.c) ------------------------------------------ */

typedef struct {
    int64_t  first;     /* cell of the part in its tile, in C order of the array */
    int64_t  parent;    /* node; a root's is itself, and its first cell the least of all */
    int64_t  label;     /* when all is numbered */
    uint32_t component; /* of its tile */
    uint32_t before;    /* components without a node that begin before it in its segment */
} ar_label_node;

typedef struct {
    ar_label_runs runs; /* empty when they are found again to be painted */
    /* Cells at borders to other tiles: 1 + the number of the node in the tile, or 0. */
    uint32_t *face[AR_LABEL_AXES][2];
    int64_t   first_node;
    uint32_t  nodes, components;
    bool      labelled, kept;
} ar_label_tile;

/* Makes faces and nodes of the tile's runs, hands them to the union-find and joins the tiles whose
 * turn it is. */
arras_status ar_label_border(ar_labelling *l, int64_t tile, const ar_label_runs *runs,
                             const ar_label_scratch *scratch, arras_error *err);
void         ar_label_faces_free(ar_label_tile *tile);
int64_t      ar_label_root(ar_label_node *nodes, int64_t i);

/* ---- Numbers and labels (label_number.c, label_paint.c) -------------------------------------- */

/* Gives every root its label and every segment the number of components before it. */
void ar_label_number(ar_labelling *l);
/* The labels of a tile into memory with these strides, in bytes. */
arras_status ar_label_paint(const ar_labelling *l, int64_t tile, const ar_label_runs *runs,
                            char *first, const int64_t *strides, const ar_label_scratch *scratch,
                            arras_error *err);

/* ---- The whole ------------------------------------------------------------------------------- */

struct arras_labelling {
    ar_label_request  request; /* its pointers to buffers and shape are not used after the start */
    ar_label_grid     grid;
    ar_label_rule     rule;
    ar_label_cells    cells;   /* of the array, in memory */
    char             *labels;  /* likewise */
    int64_t           label_strides[AR_LABEL_AXES];
    arras_dtype       label_dtype;
    size_t            label_size;
    ar_label_tile    *tiles;
    int64_t          *segments; /* components that begin in each; then: in all before it */
    int64_t           count;    /* components */
    ar_label_scratch *scratch;  /* one for each thread */
    int               threads;
    ar_pool          *pool;
    ar_taskgraph     *graph;
    /* Bytes that kept runs and the table of nodes may take, and what kept runs take. */
    int64_t             runs_most, table_most;
    atomic_int_fast64_t runs_bytes;
    pthread_mutex_t     lock; /* of what follows, and of the faces of tiles that are labelled */
    ar_label_node      *nodes;
    size_t              nnodes, nodes_capacity;
    int64_t             joined; /* tiles joined with those before them */
};

/* Checks the request, and finds rule, tiles, threads and shares of memory (label_plan.c). */
arras_status ar_label_plan(ar_labelling *l, arras_error *err);

#endif
