/* pass.h -- what the files of the executor share.  Internal to exec/. */
#ifndef AR_PASS_H
#define AR_PASS_H

#include "exec/exec.h"

/* ---- Regions (pass_regions.c) ---------------------------------------------------------------- */

/* The cells of a target that a tile has. */
void ar_pass_box(int64_t *lo, int64_t *hi, const ar_pass *pass, int target, int64_t number);
/* Whether a pass finds an array whole in memory. */
bool ar_pass_has_whole(const ar_pass *pass, int array);
/* By array: what the tile computes or reads of it in scratch memory. */
void ar_pass_regions(ar_region *regions, const ar_pass *pass, int64_t number);
/* Bytes of scratch memory for these; INT64_MAX: too many to count. */
int64_t ar_pass_scratch(const ar_pass *pass, const ar_region *regions);
/* Bytes that are read from files for these. */
int64_t ar_pass_read_bytes(const ar_pass *pass, const ar_region *regions);
/* Bytes of the chunks, whole and decoded, that such regions meet wherever they begin. */
int64_t ar_pass_chunk_bytes(const ar_pass *pass, const ar_region *regions);
/* Bytes of the chunks that are decoded for these, and could be kept. */
int64_t ar_pass_decoded_bytes(const ar_pass *pass, const ar_region *regions);
/* By array: what all threads need at one time, with what is decoded ahead; the bytes of its chunks
 * (pass_tiles.c). */
int64_t ar_pass_met(ar_region *regions, const ar_pass *pass);

/* ---- Planning -------------------------------------------------------------------------------- */

/* What has to be kept; levels: at which level of passes each stage runs (exec_keep.c). */
arras_status ar_execution_keep(ar_execution *exec, int *levels, arras_error *err);
/* Groups targets into passes (exec_passes.c). */
arras_status ar_execution_passes(ar_execution *exec, arras_error *err);
/* Chooses the tiles of a pass, within exec->scratch (pass_tiles.c). */
arras_status ar_pass_tiles(ar_pass *pass, ar_region *regions, arras_error *err);
/* Gives arrays bands where that pays, of at most *left bytes, which become less
 * (exec_chunk_rows.c). */
arras_status ar_execution_chunk_rows(ar_execution *exec, int64_t *left, arras_error *err);

/* ---- Ordered stages (pass_order.c) ----------------------------------------------------------- */

bool ar_stage_order(ar_order *out, const ar_stage *s, const ar_execution *exec);
/* Memory for what boxes hand on, of exec->memory. */
arras_status ar_execution_hand_on(ar_execution *exec, arras_error *err);
/* So that tiles begin where boxes of ordered stages may. */
void ar_pass_align(ar_pass *pass);
/* Before tiles run: so that they can wait for each other. */
arras_status ar_pass_turns_new(ar_pass *pass, arras_error *err);
void         ar_pass_turns_free(ar_pass *pass);
void         ar_pass_turns_start(ar_pass *pass);
/* Waits for the tile before this one along the axis of a stage; false: it failed. */
bool ar_pass_turn_wait(ar_pass *pass, int axis, int64_t tile);
/* What a tile hands on is there, or never will be. */
void ar_pass_turn_over(ar_pass *pass, int64_t tile, bool good);

/* ---- Running (pass_run.c) -------------------------------------------------------------------- */

/* Where an array of a tile is. */
typedef struct {
    char          *origin;
    const int64_t *shape, *strides;
    bool           uncached;
} ar_place;

struct ar_exec_worker {
    ar_region  *regions; /* by array */
    ar_place *places;  /* by array */
    int64_t    *strides; /* ARRAS_MAX_RANK for each array */
    char      **borrowed; /* by array: its cells in memory of others; NULL: none */
    char      **banded;  /* by array: its cell [0, 0, ...] if its bands have it; NULL: they don't */
    bool       *held;    /* by array: its bands are to be given back */
    void      **sparse;  /* by array: a mapping of its own, for regions with gaps, or of a file */
    size_t     *sparse_bytes;
    ar_operands operands; /* of a stage */
    char       *scratch;
    int64_t     scratch_bytes;
};

/* Kernels may look so many bytes ahead; less is not worth a mapping. */
enum { AR_PASS_AHEAD = 4096, AR_PASS_MAP_LEAST = 1 << 16 };

/* Where a mapping of a file has the cells of a box, in C order; NULL: they have to be read.  The
 * caller unmaps `pages`, if that was set (pass_map.c). */
char *ar_map_cells(void **pages, size_t *size, ar_source *source, const int64_t *lo,
                  const int64_t *hi);

/* A task function: tiles of an ar_pass. */
arras_status ar_pass_run(void *context, int64_t first, int64_t last, int thread, arras_error *err);

#endif
