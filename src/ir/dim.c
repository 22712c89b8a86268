/* dim.c -- lengths of axes: numbers, or affine forms over named sizes, one per graph and value. */
#include "ir/graph.h"

#include <stdio.h>
#include <string.h>

/* Handles of affine forms are the smallest numbers there are; no length is among them. */
#define FIRST_HANDLE                                                                               \
    (INT64_MIN + 1) /* the smallest number itself is a usual slip: not a handle                    \
                     */
#define LAST_HANDLE (INT64_MIN + INT32_MAX)

bool ar_dim_symbolic(arras_dim dim) { return dim <= LAST_HANDLE; }

static arras_dim handle(size_t index) { return FIRST_HANDLE + (int64_t)index; }

const ar_affine *ar_dim_affine(const arras_graph *g, arras_dim dim)
{
    uint64_t index = (uint64_t)dim - (uint64_t)FIRST_HANDLE;

    return ar_dim_symbolic(dim) && index < g->naffines ? g->affines[index] : NULL;
}

const char *ar_dim_error(const arras_graph *g, arras_dim dim)
{
    const ar_affine *affine = ar_dim_affine(g, dim);

    if (ar_dim_symbolic(dim) && !affine)
        return dim == INT64_MIN ? "INT64_MIN is no length" : "a size belongs to another graph";
    return affine ? affine->error : NULL;
}

/* ---- Interning ------------------------------------------------------------------------------- */

static size_t affine_bytes(int nterms)
{
    return sizeof(ar_affine) + (size_t)nterms * sizeof(ar_term);
}

/* Terms are hashed and compared member by member: there is padding between the members. */
static uint64_t affine_hash(const ar_affine *a)
{
    uint64_t hash = ar_hash_mix((uint64_t)a->constant, (uint64_t)a->nterms);

    for (int i = 0; i < a->nterms; i++)
        hash = ar_hash_mix(ar_hash_mix(hash, (uint64_t)a->terms[i].size),
                           (uint64_t)a->terms[i].factor);
    return hash;
}

/* The table's items point to a form and its index, since handles are made of indices. */
typedef struct {
    const ar_affine *affine;
    size_t           index;
} entry;

static bool affine_same(const void *item, const void *key)
{
    const ar_affine *a = ((const entry *)item)->affine, *b = key;

    if (a->error || b->error || a->constant != b->constant || a->nterms != b->nterms)
        return false;
    for (int i = 0; i < a->nterms; i++)
        if (a->terms[i].size != b->terms[i].size || a->terms[i].factor != b->terms[i].factor)
            return false;
    return true;
}

static arras_dim dim_memory(arras_graph *g)
{
    g->memory_failed = true;
    return handle(AR_AFFINE_MEMORY);
}

static arras_dim dim_keep(arras_graph *g, const ar_affine *affine)
{
    entry *made;

    if (g->naffines >= INT32_MAX ||
        !ar_grow(&g->affines, &g->affines_room, g->naffines, sizeof *g->affines))
        return dim_memory(g);
    made = ar_arena_alloc(&g->arena, 1, sizeof *made);
    if (!made)
        return dim_memory(g);
    *made =
        (entry){ ar_arena_copy(&g->arena, affine, 1, affine_bytes(affine->nterms)), g->naffines };
    if (!made->affine || !ar_table_add(&g->affine_set, affine_hash(affine), made))
        return dim_memory(g);
    g->affines[g->naffines] = made->affine;
    return handle(g->naffines++);
}

static arras_dim dim_intern(arras_graph *g, const ar_affine *affine)
{
    const entry *found = ar_table_find(&g->affine_set, affine_hash(affine), affine_same, affine);

    return found ? handle(found->index) : dim_keep(g, affine);
}

static arras_dim dim_poison(arras_graph *g, const char *error)
{
    return dim_keep(g, &(ar_affine){ .error = error });
}

/* ---- Arithmetic ------------------------------------------------------------------------------ */

/* A number as a form without terms; `storage` holds it. */
static const ar_affine *as_affine(const arras_graph *g, arras_dim dim, ar_affine *storage)
{
    if (ar_dim_symbolic(dim))
        return ar_dim_affine(g, dim);
    storage->constant = dim;
    return storage;
}

static arras_dim from_affine(arras_graph *g, const ar_affine *affine)
{
    if (affine->nterms > 0)
        return dim_intern(g, affine);
    if (ar_dim_symbolic(affine->constant) || affine->constant == ARRAS_NONE)
        return dim_poison(g, "a size is too large");
    return affine->constant;
}

/* A factor can be negated and printed: INT64_MIN is not allowed. */
static void add_term(ar_affine *sum, int size, int64_t factor)
{
    if (factor != 0)
        sum->terms[sum->nterms++] = (ar_term){ size, factor };
}

/* sum = a + scale * b, terms merged in order; false on overflow. */
static bool combine(ar_affine *sum, const ar_affine *a, const ar_affine *b, int64_t scale)
{
    int64_t scaled;
    int     i = 0, j = 0;

    if (!ar_mul64(&scaled, b->constant, scale) || !ar_add64(&sum->constant, a->constant, scaled))
        return false;
    while (i < a->nterms || j < b->nterms) {
        bool    from_a = i < a->nterms && (j >= b->nterms || a->terms[i].size <= b->terms[j].size);
        bool    from_b = j < b->nterms && (i >= a->nterms || b->terms[j].size <= a->terms[i].size);
        int     size = from_a ? a->terms[i].size : b->terms[j].size;
        int64_t factor = from_a ? a->terms[i++].factor : 0;

        if (from_b &&
            (!ar_mul64(&scaled, b->terms[j++].factor, scale) || !ar_add64(&factor, factor, scaled)))
            return false;
        if (factor == INT64_MIN)
            return false;
        add_term(sum, size, factor);
    }
    return true;
}

static arras_dim dim_combine(arras_graph *g, arras_dim a, arras_dim b, int64_t scale)
{
    ar_affine        number_a = { 0 }, number_b = { 0 };
    const ar_affine *x = as_affine(g, a, &number_a), *y = as_affine(g, b, &number_b);
    ar_affine       *sum;
    arras_dim        result;

    if (!x || !y)
        return dim_poison(g, "a size belongs to another graph");
    if (x->error || y->error)
        return x->error ? a : b;
    sum = ar_alloc(1, affine_bytes(x->nterms + y->nterms));
    if (!sum)
        return dim_memory(g);
    result = combine(sum, x, y, scale) ? from_affine(g, sum) : dim_poison(g, "a size is too large");
    ar_free(sum);
    return result;
}

arras_dim ar_dim_add(arras_graph *g, arras_dim a, arras_dim b) { return dim_combine(g, a, b, 1); }
arras_dim ar_dim_sub(arras_graph *g, arras_dim a, arras_dim b) { return dim_combine(g, a, b, -1); }

arras_dim ar_dim_mul(arras_graph *g, arras_dim a, arras_dim b)
{
    if (ar_dim_symbolic(a) && ar_dim_symbolic(b))
        return dim_poison(
            g, "a product of two sizes is not affine: give it a name of its own with arras_size");
    return ar_dim_symbolic(b) ? dim_combine(g, 0, b, a) : dim_combine(g, 0, a, b);
}

bool ar_dim_divide(arras_dim *out, arras_graph *g, arras_dim of, int64_t by)
{
    const ar_affine *affine = ar_dim_affine(g, of);
    arras_dim        result;

    if (by == 0 || ar_dim_error(g, of) || (affine ? affine->constant : of) % by != 0)
        return false;
    result = (affine ? affine->constant : of) / by;
    for (int i = 0; affine && i < affine->nterms; i++) {
        ar_term term = affine->terms[i];

        if (term.factor % by != 0)
            return false;
        result = ar_dim_add(g, result, ar_dim_mul(g, g->size_dims[term.size], term.factor / by));
    }
    *out = result;
    return true;
}

arras_dim ar_dim_substitute(arras_graph *g, arras_dim of, const arras_dim *sizes)
{
    const ar_affine *affine = ar_dim_affine(g, of);
    arras_dim        result;

    if (!affine || affine->error)
        return of;
    result = affine->constant;
    for (int i = 0; i < affine->nterms; i++) {
        ar_term   term = affine->terms[i];
        arras_dim by = sizes[term.size];

        if (by == ARRAS_NONE)
            by = g->size_dims[term.size];
        result = ar_dim_add(g, result, ar_dim_mul(g, by, term.factor));
    }
    return result;
}

arras_dim ar_dim_form(arras_graph *g, int64_t constant, int n, const int64_t *terms)
{
    ar_affine *form = ar_alloc(1, affine_bytes(n));
    arras_dim  result;

    if (!form)
        return dim_memory(g);
    form->constant = constant;
    for (int i = 0; i < n; i++)
        add_term(form, (int)terms[2 * i], terms[2 * i + 1]);
    result = from_affine(g, form);
    ar_free(form);
    return result;
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* The affine form that is just size number `size`, which is new. */
static arras_dim size_form(arras_graph *g, int size)
{
    ar_affine *one = ar_alloc(1, affine_bytes(1));
    arras_dim  result;

    if (!one)
        return dim_memory(g);
    add_term(one, size, 1);
    result = dim_keep(g, one);
    ar_free(one);
    return result;
}

static arras_dim size_new(arras_graph *g, const char *name)
{
    const char *kept = ar_string_keep(g, name, strlen(name));
    int         size = (int)g->nsizes;
    arras_dim   dim;

    if (!kept || !ar_grow(&g->sizes, &g->sizes_room, g->nsizes, sizeof *g->sizes) ||
        !ar_grow(&g->size_dims, &g->size_dims_room, g->nsizes, sizeof *g->size_dims))
        return dim_memory(g);
    dim = size_form(g, size);
    if (ar_dim_error(g, dim) || !ar_named_add(g, (ar_named){ .name = kept, .size = size }))
        return dim_memory(g);
    g->sizes[size] = kept;
    g->size_dims[size] = dim;
    g->nsizes++;
    return dim;
}

arras_dim ar_dim_size(arras_graph *g, const char *name)
{
    const ar_named *known = name ? ar_named_find(g, name) : NULL;

    if (known)
        return known->input ? dim_poison(g, "a size has the name of an input: rename one of them")
                            : g->size_dims[known->size];
    if (!name || !ar_name_valid(name, strlen(name)))
        return dim_poison(g, "the name of a size must be letters, digits, '_' and '.', start with "
                             "a letter or '_', and have at most 255 bytes");
    return size_new(g, name);
}

arras_dim   ar_size_dim(const arras_graph *g, int size) { return g->size_dims[size]; }
int         ar_size_count(const arras_graph *g) { return (int)g->nsizes; }
const char *ar_size_name(const arras_graph *g, int size) { return g->sizes[size]; }

int ar_size_find(const arras_graph *g, const char *name)
{
    const ar_named *known = ar_named_find(g, name);

    return known && !known->input ? known->size : -1;
}

/* ---- Values and texts ------------------------------------------------------------------------ */

static bool affine_value(int64_t *out, const ar_affine *affine, const int64_t *sizes)
{
    int64_t sum = affine->constant, product;

    for (int i = 0; i < affine->nterms; i++)
        if (!ar_mul64(&product, affine->terms[i].factor, sizes[affine->terms[i].size]) ||
            !ar_add64(&sum, sum, product))
            return false;
    *out = sum;
    return true;
}

static arras_status fail_dim(const arras_graph *g, arras_dim dim, const char *what,
                             arras_error *err)
{
    ar_text text = { 0 };

    ar_dim_print(&text, g, dim);
    ar_fail(err, ARRAS_ESIZE, "size %s %s", text.data ? text.data : "", what);
    ar_text_free(&text);
    return ARRAS_ESIZE;
}

arras_status ar_dim_value(int64_t *out, const arras_graph *g, arras_dim dim, const int64_t *sizes,
                          arras_error *err)
{
    const ar_affine *affine = ar_dim_affine(g, dim);
    const char      *error = ar_dim_error(g, dim);
    int64_t          value = dim;

    if (error)
        return ar_fail(err, ARRAS_ESIZE, "%s", error);
    for (int i = 0; affine && i < affine->nterms; i++)
        if (sizes[affine->terms[i].size] < 0)
            return ar_fail(err, ARRAS_ESIZE,
                           "size %s is not determined by the inputs: bind it by name",
                           g->sizes[affine->terms[i].size]);
    if (affine && !affine_value(&value, affine, sizes))
        return fail_dim(g, dim, "is too large", err);
    if (value < 0) {
        char what[64];

        snprintf(what, sizeof what, "is negative: %" PRId64, value);
        return fail_dim(g, dim, what, err);
    }
    *out = value;
    return ARRAS_OK;
}

static void print_term(ar_text *out, const arras_graph *g, ar_term term, bool first)
{
    uint64_t size = term.factor < 0 ? 0 - (uint64_t)term.factor : (uint64_t)term.factor;

    ar_text_add(out, term.factor < 0 ? (first ? "-" : " - ") : first ? "" : " + ");
    if (size != 1)
        ar_text_printf(out, "%" PRIu64 "*", size);
    ar_text_add(out, g->sizes[term.size]);
}

/* Without printf: a compilation notes the shapes of all its arrays. */
static void print_number(ar_text *out, arras_dim dim)
{
    char     digits[20];
    size_t   at = sizeof digits;
    uint64_t left = dim < 0 ? 0 - (uint64_t)dim : (uint64_t)dim;

    if (ar_dim_symbolic(dim)) {
        ar_text_add(out, "?");
        return;
    }
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    ar_text_add(out, dim < 0 ? "-" : "");
    ar_text_put(out, digits + at, sizeof digits - at);
}

void ar_dim_print(ar_text *out, const arras_graph *g, arras_dim dim)
{
    const ar_affine *affine = ar_dim_affine(g, dim);

    if (!affine || affine->error) {
        print_number(out, dim);
        return;
    }
    for (int i = 0; i < affine->nterms; i++)
        print_term(out, g, affine->terms[i], i == 0);
    if (affine->constant > 0)
        ar_text_printf(out, " + %" PRId64, affine->constant);
    else if (affine->constant < 0)
        ar_text_printf(out, " - %" PRIu64, 0 - (uint64_t)affine->constant);
}

void ar_shape_print(ar_text *out, const arras_graph *g, int rank, const arras_dim *shape)
{
    ar_text_add(out, "[");
    for (int d = 0; d < rank; d++) {
        ar_text_add(out, d ? ", " : "");
        ar_dim_print(out, g, shape[d]);
    }
    ar_text_add(out, "]");
}

arras_dim ar_dim_move(arras_graph *to, const arras_graph *from, arras_dim dim,
                      const arras_dim *sizes)
{
    const ar_affine *affine = ar_dim_affine(from, dim);
    arras_dim        result;

    if (!affine)
        return dim;
    result = affine->constant;
    for (int i = 0; i < affine->nterms; i++) {
        ar_term term = affine->terms[i];

        result = ar_dim_add(to, result, ar_dim_mul(to, sizes[term.size], term.factor));
    }
    return result;
}
