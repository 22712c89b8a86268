/* block_addressing.c -- finding the chunks of a sparse array by a block-compressed header, as the
 * paper on optimal chunking has it (section 3; docs/chunking.md).
 *
 *   block_addressing                        the paper's matrix, in chunks of 2 x 2 cells
 *   block_addressing FILE EDGE,EDGE,...     an array in a file, in chunks of these edges
 *
 * Of a sparse array most chunks hold nothing but zeros, so only the others are stored, one after
 * the other in the order of their places.  A dense array finds a chunk by multiplying; now
 * something has to say which place of the file has which chunk.  The header does it as compressed
 * rows do it for the numbers of a sparse matrix, with whole blocks in the numbers' stead:
 *
 *     first[r]   how many chunks are stored before row r of chunks (rows: all axes but the last)
 *     column[k]  where in its row the k-th stored chunk is
 *
 * Chunk (r, c) is the k-th with first[r] <= k < first[r+1] and column[k] == c, which bisection
 * finds. That is 8 bytes for each row and 4 for each chunk that is stored.  The library itself
 * keeps a hash table of the numbers along each axis, several times as large, because there a new
 * chunk, or an array that grows, moves nothing; here everything behind it moves.  The header is for
 * arrays that are written once.  This program makes both, and looks every chunk up in both. */
#include <arras/files.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int     rank;
    int64_t shape[ARRAS_MAX_RANK];
    size_t  cell; /* bytes */
    char   *cells;
} array;

typedef struct {
    int      rank;
    int64_t  edge[ARRAS_MAX_RANK], grid[ARRAS_MAX_RANK]; /* cells of a chunk; chunks */
    int64_t  rows, stored;
    int64_t *first;  /* [rows + 1] */
    int32_t *column; /* [stored] */
    char    *chunks; /* [stored], all of the same size: those at borders are filled with zeros */
    size_t   chunk_bytes;
} packed;

static int64_t product(int count, const int64_t *numbers)
{
    int64_t p = 1;

    for (int d = 0; d < count; d++)
        p *= numbers[d];
    return p;
}

/* The n-th index of a box in C order. */
static void unravel(int64_t *index, int rank, const int64_t *shape, int64_t n)
{
    for (int d = rank - 1; d >= 0; n /= shape[d--])
        index[d] = n % shape[d];
}

static int64_t ravel(int rank, const int64_t *shape, const int64_t *index)
{
    int64_t n = 0;

    for (int d = 0; d < rank; d++)
        n = n * shape[d] + index[d];
    return n;
}

/* ---- The header ------------------------------------------------------------------------------ */

/* The place of a chunk among those that are stored; -1: it is not. */
static int64_t find_by_header(const packed *p, const int64_t *number)
{
    int64_t row = ravel(p->rank - 1, p->grid, number), column = number[p->rank - 1];
    int64_t lo = p->first[row], hi = p->first[row + 1], end = hi;

    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;

        if (p->column[middle] < column)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < end && p->column[lo] == column ? lo : -1;
}

/* ---- A hash table laid out as the library's own (src/chunk/chunk_index.c) ----------------------
 */

typedef struct {
    int      rank;
    size_t   capacity; /* a power of two; at most 3/4 of it is used */
    int64_t *keys;     /* [capacity][rank] */
    int64_t *values;
    bool    *used;
} hash_index;

static size_t slot_of(const hash_index *h, const int64_t *number)
{
    size_t   key_bytes = (size_t)h->rank * sizeof *number, slot;
    uint64_t hash = 0;

    for (int d = 0; d < h->rank; d++)
        hash = (hash ^ (uint64_t)number[d]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    for (slot = hash & (h->capacity - 1); h->used[slot]; slot = (slot + 1) & (h->capacity - 1))
        if (memcmp(h->keys + slot * (size_t)h->rank, number, key_bytes) == 0)
            break;
    return slot;
}

static int64_t find_by_hash(const hash_index *h, const int64_t *number)
{
    size_t slot = slot_of(h, number);

    return h->used[slot] ? h->values[slot] : -1;
}

static size_t hash_bytes(const hash_index *h)
{
    return h->capacity * ((size_t)(h->rank + 1) * sizeof(int64_t) + sizeof(bool));
}

static bool hash_make(hash_index *h, int rank, int64_t count)
{
    *h = (hash_index){ .rank = rank, .capacity = 16 };
    while (4 * (size_t)count > 3 * h->capacity)
        h->capacity *= 2;
    h->keys = calloc(h->capacity, (size_t)rank * sizeof *h->keys);
    h->values = calloc(h->capacity, sizeof *h->values);
    h->used = calloc(h->capacity, sizeof *h->used);
    return h->keys && h->values && h->used;
}

static void hash_put(hash_index *h, const int64_t *number, int64_t value)
{
    size_t slot = slot_of(h, number);

    memcpy(h->keys + slot * (size_t)h->rank, number, (size_t)h->rank * sizeof *number);
    h->values[slot] = value;
    h->used[slot] = true;
}

/* ---- Storing what is not zero ---------------------------------------------------------------- */

static bool is_zero(const char *bytes, size_t count)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

/* The cells of a chunk; zeros where it sticks out of the array. */
static void gather(char *out, const packed *p, const array *a, const int64_t *number)
{
    int64_t count = product(p->rank, p->edge), at[ARRAS_MAX_RANK];

    memset(out, 0, p->chunk_bytes);
    for (int64_t n = 0; n < count; n++) {
        bool is_inside = true;

        unravel(at, p->rank, p->edge, n);
        for (int d = 0; d < p->rank; d++) {
            at[d] += number[d] * p->edge[d];
            is_inside = is_inside && at[d] < a->shape[d];
        }
        if (is_inside)
            memcpy(out + (size_t)n * a->cell,
                   a->cells + (size_t)ravel(a->rank, a->shape, at) * a->cell, a->cell);
    }
}

/* Chunks come in C order, so rows come one after the other: first[] is a running count. */
static void store_chunks(packed *p, const array *a)
{
    int64_t columns = p->grid[p->rank - 1], number[ARRAS_MAX_RANK];

    for (int64_t n = 0; n < p->rows * columns; n++) {
        char *next = p->chunks + (size_t)p->stored * p->chunk_bytes;

        unravel(number, p->rank, p->grid, n);
        gather(next, p, a, number);
        if (!is_zero(next, p->chunk_bytes))
            p->column[p->stored++] = (int32_t)(n % columns);
        p->first[n / columns + 1] = p->stored;
    }
}

/* Room for all chunks; what is not stored in the end was needed only here. */
static bool pack(packed *p, const array *a)
{
    p->rank = a->rank;
    for (int d = 0; d < a->rank; d++)
        p->grid[d] = (a->shape[d] + p->edge[d] - 1) / p->edge[d];
    p->rows = product(a->rank - 1, p->grid);
    p->chunk_bytes = (size_t)product(a->rank, p->edge) * a->cell;
    size_t total = (size_t)product(a->rank, p->grid);
    p->first = calloc((size_t)p->rows + 1, sizeof *p->first);
    p->column = calloc(total, sizeof *p->column);
    p->chunks = calloc(total + 1, p->chunk_bytes); /* one more: where a chunk is compared */
    if (!p->first || !p->column || !p->chunks)
        return false;
    store_chunks(p, a);
    return true;
}

/* ---- Every chunk, looked up in both ---------------------------------------------------------- */

static bool fill_hash(hash_index *h, const packed *p)
{
    if (!hash_make(h, p->rank, p->stored))
        return false;
    for (int64_t row = 0; row < p->rows; row++)
        for (int64_t k = p->first[row]; k < p->first[row + 1]; k++) {
            int64_t number[ARRAS_MAX_RANK];

            unravel(number, p->rank - 1, p->grid, row);
            number[p->rank - 1] = p->column[k];
            hash_put(h, number, k);
        }
    return true;
}

/* How many chunks both find where they were put; those of zeros are found nowhere. */
static int64_t count_found(const packed *p, const array *a, const hash_index *h)
{
    char   *cells = p->chunks + (size_t)p->stored * p->chunk_bytes; /* behind those stored */
    int64_t total = product(p->rank, p->grid), found = 0, number[ARRAS_MAX_RANK];

    for (int64_t n = 0; n < total; n++) {
        unravel(number, p->rank, p->grid, n);
        gather(cells, p, a, number);
        int64_t k = find_by_header(p, number);
        bool    is_same =
            k < 0 ? is_zero(cells, p->chunk_bytes)
                     : memcmp(p->chunks + (size_t)k * p->chunk_bytes, cells, p->chunk_bytes) == 0;

        found += is_same && find_by_hash(h, number) == k;
    }
    return found;
}

static void print_header(const packed *p)
{
    puts("row of chunks   first   columns");
    for (int64_t row = 0; row < p->rows; row++) {
        printf("%13" PRId64 " %7" PRId64 "  ", row, p->first[row]);
        for (int64_t k = p->first[row]; k < p->first[row + 1]; k++)
            printf(" %" PRId32, p->column[k]);
        putchar('\n');
    }
}

static int fail(const char *text)
{
    fprintf(stderr, "block_addressing: %s\n", text);
    return 1;
}

static int report(const packed *p, const array *a, const hash_index *h)
{
    int64_t total = product(p->rank, p->grid), found = count_found(p, a, h);
    size_t  row_bytes = ((size_t)p->rows + 1) * sizeof *p->first;
    size_t  column_bytes = (size_t)p->stored * sizeof *p->column;

    printf("%" PRId64 " of %" PRId64 " chunks are stored: %zu bytes instead of %zu\n", p->stored,
           total, (size_t)p->stored * p->chunk_bytes, (size_t)total * p->chunk_bytes);
    if (p->rows <= 16 && p->stored <= 64)
        print_header(p);
    printf("header: %zu bytes (rows %zu, chunks %zu)\n", row_bytes + column_bytes, row_bytes,
           column_bytes);
    printf("hash table: %zu bytes\n", hash_bytes(h));
    printf("%" PRId64 " of %" PRId64 " look-ups are right in both\n", found, total);
    return found == total ? 0 : fail("the header and the hash table differ");
}

static int pack_and_report(packed *p, const array *a)
{
    hash_index h = { 0 };
    int        status = pack(p, a) && fill_hash(&h, p) ? report(p, a, &h) : fail("out of memory");

    free(h.keys);
    free(h.values);
    free(h.used);
    free(p->first);
    free(p->column);
    free(p->chunks);
    return status;
}

/* ---- What is packed -------------------------------------------------------------------------- */

static int run_matrix(void)
{
    static int8_t cells[6][6] = {
        { 7, 0, 0, 0, 12, 0 }, { 0, 3, 0, 0, 0, -4 },  { 0, -7, 0, 0, 0, 0 },
        { 2, 0, 0, 0, 0, 0 },  { 5, 8, 0, 10, -1, 9 }, { 0, 4, 1, 0, 2, -9 },
    };
    array  a = { 2, { 6, 6 }, sizeof cells[0][0], (char *)cells };
    packed p = { .edge = { 2, 2 } };

    return pack_and_report(&p, &a);
}

/* One edge for each axis, none longer than it; the shape is that of an array in memory. */
static bool read_edges(packed *p, const array *a, const char *text)
{
    for (int d = 0; d < a->rank; d++) {
        char     *end;
        long long edge = strtoll(text, &end, 10);

        if (end == text || edge < 1 || *end != (d + 1 < a->rank ? ',' : 0))
            return false;
        p->edge[d] = edge < a->shape[d] ? edge : a->shape[d];
        text = end + 1;
    }
    return a->shape[a->rank - 1] <= INT32_MAX;
}

static arras_status read_array(array *a, const char *path, arras_error *err)
{
    arras_source *source;
    int64_t       lo[ARRAS_MAX_RANK] = { 0 };
    arras_status  status = arras_source_open(&source, path, NULL, err);

    if (status != ARRAS_OK)
        return status;
    const arras_store_info *info = arras_source_info(source);
    a->rank = info->rank;
    memcpy(a->shape, info->shape, sizeof info->shape);
    a->cell = arras_dtype_size(info->dtype);
    a->cells = calloc((size_t)product(a->rank, a->shape) + 1, a->cell + 1);
    if (a->cells && a->cell)
        status = arras_source_read(source, lo, a->shape, a->cells, NULL, 0, err);
    arras_source_close(source);
    return status;
}

static int run_file(const char *path, const char *edges)
{
    array       a = { 0 };
    packed      p = { 0 };
    arras_error err;
    int         status;

    if (read_array(&a, path, &err) != ARRAS_OK)
        status = fail(err.text);
    else if (!a.cells)
        status = fail("out of memory");
    else if (a.rank == 0 || a.cell == 0 || product(a.rank, a.shape) == 0)
        status = fail("expected an array of numbers with at least one axis and one cell");
    else if (!read_edges(&p, &a, edges))
        status = fail("expected an edge of 1 or more for each axis, such as 16,16");
    else
        status = pack_and_report(&p, &a);
    free(a.cells);
    return status;
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return run_matrix();
    if (argc != 3)
        return fail("FILE EDGE,EDGE,...");
    return run_file(argv[1], argv[2]);
}
