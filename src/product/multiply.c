/* multiply.c -- chooses who computes a large product, and goes through its box: one product of two
 * matrices for each index of the batch. */
#include "product/blas.h"
#include "product/product.h"

/* ---- Who ------------------------------------------------------------------------------------- */

static bool is_real(arras_dtype dtype) { return dtype == ARRAS_F32 || dtype == ARRAS_F64; }

/* A library that is named computes all it can, also where we would be faster. */
static bool is_ours(const ar_gemm *gemm)
{
    return is_real(gemm->dtype) && ar_product_kernels() && ar_blas_wished() != AR_BLAS_NAMED;
}

ar_engine ar_engine_choose(const ar_gemm *gemm, const int64_t *shape, int64_t terms)
{
    int64_t rows = shape[gemm->row], columns = shape[gemm->column];

    if (ar_blas_wished() == AR_BLAS_NONE)
        return AR_ENGINE_KERNEL;
    if (is_ours(gemm))
        return ar_gemm_fills_blocks(rows, columns, terms) ? AR_ENGINE_BLOCKS : AR_ENGINE_KERNEL;
    /* Of other operands strides are known too late. */
    return ar_gemm_is_large(rows, columns, terms) && gemm->dense && ar_blas_available()
               ? AR_ENGINE_BLAS
               : AR_ENGINE_KERNEL;
}

/* ---- One of the products --------------------------------------------------------------------- */

static int64_t stride_of(const ar_kernel_args *args, const ar_gemm_operand *operand, int axis)
{
    return axis < 0 ? 0 : args->strides[1 + operand->input][axis];
}

/* The first of its products, with all rows and columns. */
static ar_product product_of(const ar_gemm *gemm, const ar_kernel_args *args)
{
    const ar_gemm_operand *a = &gemm->a, *b = &gemm->b;

    return (ar_product){ .dtype = gemm->dtype,
                         .rows = args->shapes[0][gemm->row],
                         .columns = args->shapes[0][gemm->column],
                         .terms = args->shapes[1 + a->input][a->term],
                         .a = args->data[1 + a->input],
                         .a_row = stride_of(args, a, a->axis[gemm->row]),
                         .a_term = stride_of(args, a, a->term),
                         .b = args->data[1 + b->input],
                         .b_term = stride_of(args, b, b->term),
                         .b_column = stride_of(args, b, b->axis[gemm->column]),
                         .c = args->data[0],
                         .c_row = args->strides[0][gemm->row] };
}

bool ar_engine_takes(ar_engine by, const ar_gemm *gemm, const ar_kernel_args *args)
{
    ar_product product = product_of(gemm, args);

    return by == AR_ENGINE_BLOCKS || (by == AR_ENGINE_BLAS && ar_blas_takes(&product));
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* Of a box: shorter ones copy too much for what they compute, longer ones take too long for people
 * who want to stop.  Rows need not end with a tile, which costs less than shares that differ;
 * columns end with half a strip, for which there are kernels. */
typedef struct {
    int64_t unit, least, most;
} limits;

static const limits row_limits = { 1, 84, 2016 };

static limits column_limits(arras_dtype dtype)
{
    return (limits){ ar_product_columns(ar_product_kernels(), dtype) / 2, 64, 1024 };
}

static int64_t parts_of(int64_t n, int64_t by) { return (n + by - 1) / by; }

static int64_t cut(int64_t length, int64_t parts, const limits *l)
{
    int64_t part = parts_of(parts_of(length, parts), l->unit) * l->unit;

    return ar_min64(ar_max64(part, l->least), l->most);
}

/* Columns first, as those of b are copied and a is read where it lies, once for each part.  But
 * where a has to be copied rows are cut, since every tile would do that. */
static void cut_product(ar_tiling *t, const ar_gemm *gemm, const ar_product *p, int64_t parts)
{
    const limits of_columns = column_limits(p->dtype);
    int64_t     *rows = &t->tile[gemm->row], *columns = &t->tile[gemm->column];

    if (ar_product_copies_a(p)) {
        *rows = cut(p->rows, parts, &row_limits);
        *columns = cut(p->columns, parts_of(parts, parts_of(p->rows, *rows)), &of_columns);
    } else {
        *columns = cut(p->columns, parts, &of_columns);
        *rows = cut(p->rows, parts_of(parts, parts_of(p->columns, *columns)), &row_limits);
    }
}

/* Threads are not equally fast where others use the machine, too.  So they take short boxes, as
 * they come: of whole rows, since columns of b are copied once for all of them.  b goes by for each
 * box, from the cache that threads share, and must have room there. */
enum { LEAST_TILES = 3, MOST_TILES = 18 }; /* rows of them in a box; more delay who wants to stop */
enum { LEAST_BOXES = 5, MANY_BOXES = 6 };  /* of a thread */

static int64_t tiles_down(const ar_product *p)
{
    return parts_of(p->rows, ar_product_rows(ar_product_kernels(), p->dtype));
}

/* Of the thread that has most to do, if all are equally fast. */
static int64_t longest_way(int64_t tiles, int64_t box, int threads)
{
    int64_t boxes = tiles / box, last = boxes % threads > 0 ? box : tiles % box;

    return boxes / threads * box + last;
}

static int64_t shared_rows(const ar_product *p, int threads)
{
    int64_t tiles = tiles_down(p), best = LEAST_TILES;
    int64_t most = ar_min64(tiles / (MANY_BOXES * threads), MOST_TILES);

    for (int64_t box = best; box <= most; box++)
        if (longest_way(tiles, box, threads) <= longest_way(tiles, best, threads))
            best = box;
    return best * ar_product_rows(ar_product_kernels(), p->dtype);
}

int64_t ar_multiply_shared_bytes(ar_engine by, const ar_gemm *gemm, const ar_kernel_args *args,
                                 int threads, int64_t cache)
{
    ar_product p = product_of(gemm, args);
    int64_t    bytes;

    if (by != AR_ENGINE_BLOCKS || threads == 1 || p.terms == 0 || gemm->rank > 2 ||
        tiles_down(&p) < LEAST_BOXES * LEAST_TILES * threads)
        return 0;
    bytes = ar_product_shared_bytes(ar_product_kernels(), &p);
    return bytes <= cache / 2 ? bytes : 0;
}

void ar_multiply_share(ar_multiply_shared *out, const ar_gemm *gemm, const ar_kernel_args *args,
                       int threads, void *memory)
{
    ar_product p = product_of(gemm, args);

    *out = (ar_multiply_shared){ .threads = threads, .box_rows = shared_rows(&p, threads) };
    ar_product_shared_open(&out->strips, ar_product_kernels(), &p, memory);
}

void ar_multiply_tiling(ar_tiling *out, ar_engine by, const ar_gemm *gemm,
                        const ar_kernel_args *args, int threads, bool shared)
{
    ar_product p = product_of(gemm, args);
    ar_tiling  t = { .rank = gemm->rank };
    int64_t    batches = 1;

    for (int axis = 0; axis < gemm->rank; axis++) {
        t.shape[axis] = args->shapes[0][axis];
        t.tile[axis] = 1;
        if (axis != gemm->row && axis != gemm->column)
            batches *= t.shape[axis];
    }
    t.tile[gemm->row] = AR_GEMM_ROWS;
    t.tile[gemm->column] = p.columns;
    if (shared)
        t.tile[gemm->row] = shared_rows(&p, threads);
    else if (by == AR_ENGINE_BLOCKS)
        cut_product(&t, gemm, &p, parts_of(threads, batches));
    ar_tiling_count(&t);
    *out = t;
}

int64_t ar_multiply_room(ar_engine by, const ar_gemm *gemm, const ar_kernel_args *args,
                         const int64_t *lengths, bool shared)
{
    ar_product p = product_of(gemm, args);

    p.rows = lengths[gemm->row];
    p.columns = lengths[gemm->column];
    return by == AR_ENGINE_BLOCKS ? ar_product_room(ar_product_kernels(), &p, shared) : 0;
}

/* ---- A box ----------------------------------------------------------------------------------- */

/* Moves on by `steps` along an axis of the result. */
static void move(ar_product *p, const ar_gemm *gemm, const ar_kernel_args *args, int axis,
                 int64_t steps)
{
    p->a += steps * stride_of(args, &gemm->a, gemm->a.axis[axis]);
    p->b += steps * stride_of(args, &gemm->b, gemm->b.axis[axis]);
    p->c += steps * args->strides[0][axis];
}

/* The rows of one product, a panel at a time. */
static void run_blas(ar_product p)
{
    ar_product panel = p;

    for (int64_t row = 0; row < p.rows; row += AR_GEMM_ROWS) {
        panel.rows = ar_min64(AR_GEMM_ROWS, p.rows - row);
        ar_blas_run(&panel);
        panel.a += AR_GEMM_ROWS * p.a_row;
        panel.c += AR_GEMM_ROWS * p.c_row;
    }
}

/* Sets the next index of the batch axes; false when all have been. */
static bool next_batch(ar_product *p, int64_t *at, const ar_gemm *gemm, const ar_kernel_args *args,
                       const int64_t *lo, const int64_t *hi)
{
    for (int axis = gemm->column - 1; axis >= 0; axis--) {
        if (axis == gemm->row)
            continue;
        move(p, gemm, args, axis, 1);
        if (++at[axis] < hi[axis])
            return true;
        move(p, gemm, args, axis, lo[axis] - hi[axis]);
        at[axis] = lo[axis];
    }
    return false;
}

/* The first boxes, which copy strips, begin at different ones.  All others begin at the same: what
 * one thread has brought into the cache they share is there for the next. */
static void run_product(const ar_product *p, int64_t row, void *room, ar_multiply_shared *shared)
{
    int64_t box = shared ? row / shared->box_rows : 0;

    if (room && shared)
        ar_product_run_shared(ar_product_kernels(), p, room, &shared->strips,
                              box < shared->threads ? (int)box : 0, shared->threads);
    else
        ar_product_run(ar_product_kernels(), p, room);
}

void ar_multiply(ar_engine by, const ar_gemm *gemm, const ar_kernel_args *args, const int64_t *lo,
                 const int64_t *hi, void *room, ar_multiply_shared *shared)
{
    ar_product p = product_of(gemm, args);
    int64_t    at[ARRAS_MAX_RANK];

    for (int axis = 0; axis < gemm->rank; axis++) {
        if (lo[axis] >= hi[axis])
            return;
        at[axis] = lo[axis];
        move(&p, gemm, args, axis, lo[axis]);
    }
    p.rows = hi[gemm->row] - lo[gemm->row];
    p.columns = hi[gemm->column] - lo[gemm->column];
    do
        if (by == AR_ENGINE_BLOCKS)
            run_product(&p, lo[gemm->row], room, shared);
        else
            run_blas(p);
    while (next_batch(&p, at, gemm, args, lo, hi));
}
