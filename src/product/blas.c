/* blas.c -- finds OpenBLAS and hands products of matrices to it.
 *
 * The serial build is preferred: tasks are ours, and other threads would only get in their way.  It
 * is never unloaded. */
#include "product/blas.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- The library ----------------------------------------------------------------------------- */

/* From cblas.h, which need not be installed. */
enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };

#define GEMM(name, scalar, type)                                                                   \
    typedef void name(int order, int a_is, int b_is, int rows, int columns, int terms,             \
                      scalar alpha, const type *a, int a_step, const type *b, int b_step,          \
                      scalar beta, type *c, int c_step)
GEMM(gemm_f32, float, float);
GEMM(gemm_f64, double, double);
GEMM(gemm_complex, const void *, void);

static struct {
    gemm_f32     *f32;
    gemm_f64     *f64;
    gemm_complex *c64, *c128;
    ar_blas_wish  wish;
    bool          there;
} blas;

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* dlsym gives a data pointer; POSIX lets it hold a function. */
static bool find(void *function, void *library, const char *name)
{
    void *symbol = dlsym(library, name);

    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void use_one_thread(void *library)
{
    void (*set)(int) = NULL;

    if (find(&set, library, "openblas_set_num_threads"))
        set(1);
}

static bool open_library(const char *path)
{
    const char *why;
    void       *library = ar_library_load(path, &why);

    if (!library)
        return false;
    if (!find(&blas.f32, library, "cblas_sgemm") || !find(&blas.f64, library, "cblas_dgemm") ||
        !find(&blas.c64, library, "cblas_cgemm") || !find(&blas.c128, library, "cblas_zgemm")) {
        dlclose(library);
        return false;
    }
    use_one_thread(library);
    return true;
}

static void open_blas(void)
{
    static const char *const places[] = {
        "/usr/lib/x86_64-linux-gnu/openblas-serial/libopenblas.so.0",
        "/usr/lib/aarch64-linux-gnu/openblas-serial/libopenblas.so.0",
        "libopenblas.so.0",
        "libopenblas.so",
    };
    const char *chosen = getenv("ARRAS_BLAS");

    if (chosen && *chosen) {
        blas.wish = strcmp(chosen, "none") == 0 ? AR_BLAS_NONE : AR_BLAS_NAMED;
        blas.there = blas.wish == AR_BLAS_NAMED && open_library(chosen);
        return;
    }
    for (size_t i = 0; i < AR_COUNT(places) && !blas.there; i++)
        blas.there = open_library(places[i]);
}

ar_blas_wish ar_blas_wished(void)
{
    pthread_once(&once, open_blas);
    return blas.wish;
}

bool ar_blas_available(void)
{
    pthread_once(&once, open_blas);
    return blas.there;
}

/* ---- One product ----------------------------------------------------------------------------- */

/* A matrix as the library wants it: cells of a row side by side, or those of a column. */
typedef struct {
    int is, step;
} layout;

/* Cells between one row and the next; as wide as a row where there is only one. */
static bool find_step(int *step, int64_t stride, int64_t size, int64_t rows, int64_t columns)
{
    int64_t least = ar_max64(columns, 1), cells = rows > 1 ? stride / size : least;

    if (cells < least || cells > INT_MAX || (rows > 1 && stride % size != 0))
        return false;
    *step = (int)cells;
    return true;
}

static bool find_layout(layout *out, int64_t size, int64_t rows, int64_t row_stride,
                        int64_t columns, int64_t column_stride)
{
    if (columns <= 1 || column_stride == size) {
        out->is = AS_IT_IS;
        if (find_step(&out->step, row_stride, size, rows, columns))
            return true;
    }
    out->is = TRANSPOSED;
    return (rows <= 1 || row_stride == size) &&
           find_step(&out->step, column_stride, size, columns, rows);
}

static bool find_layouts(layout *a, layout *b, int *c_step, const ar_product *p)
{
    int64_t size = (int64_t)ar_dtype_size(p->dtype);

    return p->rows <= INT_MAX && p->columns <= INT_MAX && p->terms <= INT_MAX &&
           find_layout(a, size, p->rows, p->a_row, p->terms, p->a_term) &&
           find_layout(b, size, p->terms, p->b_term, p->columns, p->b_column) &&
           find_step(c_step, p->c_row, size, p->rows, p->columns);
}

bool ar_blas_takes(const ar_product *product)
{
    layout a, b;
    int    c_step;

    return ar_dtype_class(product->dtype) >= AR_CLASS_REAL &&
           find_layouts(&a, &b, &c_step, product);
}

void ar_blas_run(const ar_product *product)
{
    static const float  one_c64[2] = { 1, 0 }, zero_c64[2] = { 0, 0 };
    static const double one_c128[2] = { 1, 0 }, zero_c128[2] = { 0, 0 };
    const ar_product   *p = product;
    int                 m = (int)p->rows, n = (int)p->columns, k = (int)p->terms, c_step = 0;
    layout              a = { 0 }, b = { 0 };

    if (m == 0 || n == 0 || !find_layouts(&a, &b, &c_step, p))
        return;
    switch (p->dtype) {
    case ARRAS_F32:
        blas.f32(ROW_MAJOR, a.is, b.is, m, n, k, 1, (const float *)(const void *)p->a, a.step,
                 (const float *)(const void *)p->b, b.step, 0, (float *)(void *)p->c, c_step);
        break;
    case ARRAS_F64:
        blas.f64(ROW_MAJOR, a.is, b.is, m, n, k, 1, (const double *)(const void *)p->a, a.step,
                 (const double *)(const void *)p->b, b.step, 0, (double *)(void *)p->c, c_step);
        break;
    case ARRAS_C64:
        blas.c64(ROW_MAJOR, a.is, b.is, m, n, k, one_c64, p->a, a.step, p->b, b.step, zero_c64,
                 p->c, c_step);
        break;
    default:
        blas.c128(ROW_MAJOR, a.is, b.is, m, n, k, one_c128, p->a, a.step, p->b, b.step, zero_c128,
                  p->c, c_step);
    }
}
