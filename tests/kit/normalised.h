/* normalised.h -- for tests of the normal form: a program and its normal form must say the same.
 *
 *     SAME(ar_roll(A("i64[3]", 1, 2, 3), (int64_t[]){ 1 }));
 *
 * records in a fresh graph `g` (evaluate.h), normalises it, looks at the kinds that are left,
 * evaluates both and compares the cells bit by bit, and normalises once more. */
#ifndef TEST_NORMALISED_H
#define TEST_NORMALISED_H

#include "notation/notation.h"
#include "opt/opt.h"

#include "evaluate.h"

#define SAME(array) \
    (begin(), ar_graph_output_add(g, "out", array), check_same(EXACT), end())
#define NEARLY(array) (begin(), ar_graph_output_add(g, "out", array), check_same(NEAR), end())
/* Neither has a value; both have this status when they are run. */
#define NEITHER(array, status)                                                                     \
    (begin(), ar_graph_output_add(g, "out", array), check_fails(status, status), end())

typedef enum { EXACT, NEAR } nearness; /* NEAR: sums in another order */

/* ---- Form ------------------------------------------------------------------------------------ */

static inline bool check_kinds(const arras_graph *normal)
{
    arras_array *roots = NULL, *nodes = NULL;
    int64_t      count = 0;
    bool         good = CHECK_EQ_INT(ar_graph_roots(&roots, normal, NULL), ARRAS_OK) &&
                CHECK_EQ_INT(ar_reach(&nodes, &count, normal, ar_graph_output_count(normal), roots,
                                      NULL),
                             ARRAS_OK);

    for (int64_t i = 0; i < count; i++) {
        ar_kind kind = nodes[i]->kind;

        good = CHECK(kind == AR_INPUT || kind == AR_DATA || kind == AR_LAMBDA || kind == AR_SCAN) &&
               good;
    }
    ar_free(roots);
    ar_free(nodes);
    return good;
}

/* Names, types and order of inputs, sizes and outputs. */
static inline void check_face(const arras_graph *normal)
{
    if (!CHECK_EQ_INT(ar_graph_input_count(normal), ar_graph_input_count(g)) ||
        !CHECK_EQ_INT(ar_size_count(normal), ar_size_count(g)) ||
        !CHECK_EQ_INT(ar_graph_output_count(normal), ar_graph_output_count(g)))
        return;
    for (int i = 0; i < ar_graph_input_count(g); i++)
        CHECK(ar_equal(ar_graph_input(normal, i), ar_graph_input(g, i)));
    for (int i = 0; i < ar_size_count(g); i++)
        CHECK_STR(ar_size_name(normal, i), ar_size_name(g, i));
    for (int i = 0; i < ar_graph_output_count(g); i++) {
        const ar_output *a = ar_graph_output(normal, i), *b = ar_graph_output(g, i);

        CHECK_STR(a->name, b->name);
        CHECK_EQ_INT(a->array->type.dtype, b->array->type.dtype);
        CHECK_EQ_INT(a->array->rank, b->array->rank);
    }
}

static inline void check_again(const arras_graph *normal)
{
    arras_graph *again = NULL;

    if (!CHECK_EQ_INT(ar_normalise(&again, normal, NULL), ARRAS_OK))
        return;
    for (int i = 0; i < ar_graph_output_count(normal); i++)
        CHECK(ar_equal(ar_graph_output(again, i)->array, ar_graph_output(normal, i)->array));
    ar_graph_free(again);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static inline size_t cell_count(const arras_buffer *b)
{
    size_t count = 1;

    for (int axis = 0; axis < b->rank; axis++)
        count *= (size_t)b->shape[axis];
    return count;
}

static inline bool parts_near(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-5 * (fabs(a) + fabs(b));
}

static inline bool cells_near(const arras_buffer *a, const arras_buffer *b)
{
    size_t size = ar_dtype_size(a->dtype);

    for (size_t i = 0; i < cell_count(a); i++) {
        double x[2], y[2];

        ar_cell_cast(ARRAS_C128, x, a->dtype, (const char *)a->data + i * size);
        ar_cell_cast(ARRAS_C128, y, b->dtype, (const char *)b->data + i * size);
        if (!parts_near(x[0], y[0]) || !parts_near(x[1], y[1]))
            return false;
    }
    return true;
}

static inline bool same_buffer(const arras_buffer *a, const arras_buffer *b, nearness how)
{
    if (a->dtype != b->dtype || a->rank != b->rank)
        return false;
    for (int axis = 0; axis < a->rank; axis++)
        if (a->shape[axis] != b->shape[axis])
            return false;
    if (how == NEAR)
        return cells_near(a, b);
    return memcmp(a->data, b->data, cell_count(a) * ar_dtype_size(a->dtype)) == 0;
}

/* Prints the two programs: a failure that cannot be looked at helps nobody. */
static inline void show_programs(const arras_graph *normal)
{
    const arras_graph *both[] = { g, normal };

    for (int i = 0; i < 2; i++) {
        ar_text text = { 0 };

        if (ar_print(&text, both[i], true, NULL) == ARRAS_OK)
            printf("%s", text.data);
        ar_text_free(&text);
    }
}

static inline void compare_values(const arras_results *a, const arras_results *b, nearness how)
{
    if (!CHECK_EQ_INT(a->count, b->count))
        return;
    for (int i = 0; i < a->count; i++) {
        const arras_buffer *x = &a->items[i].buffer, *y = &b->items[i].buffer;

        CHECK_STR(a->items[i].name, b->items[i].name);
        if (!CHECK(same_buffer(x, y, how))) {
            ar_text text = { 0 };

            show_buffer(&text, x);
            ar_text_add(&text, "\n    not ");
            show_buffer(&text, y);
            printf("    %s\n", text.data);
            ar_text_free(&text);
        }
    }
}

/* Set by a test whose arrays are not all known to have cells. */
static bool some_are_empty;

/* What may differ is said in opt.h. */
static inline bool statuses_agree(arras_status old, arras_status normal)
{
    if (some_are_empty && (old == ARRAS_EINDEX || old == ARRAS_ESIZE))
        return true; /* no cell needed it, and something else may be wrong too */
    return old == normal || (old == ARRAS_ESHAPE && normal == ARRAS_EINDEX);
}

static inline void check_values(const arras_graph *normal, nearness how)
{
    arras_results *a = NULL, *b = NULL;
    arras_error    err_a = { ARRAS_OK, "" }, err_b = { ARRAS_OK, "" };
    arras_status   old = ar_reference_run(&a, g, nbound, bound, &err_a);
    arras_status   new = ar_reference_run(&b, normal, nbound, bound, &err_b);

    if (!CHECK(statuses_agree(old, new)))
        printf("    old  %s\n    new  %s\n", err_a.text, err_b.text);
    if (old == ARRAS_OK && new == ARRAS_OK)
        compare_values(a, b, how);
    ar_results_free(a);
    ar_results_free(b);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* With the arrays that are bound now, whatever they give. */
static inline void check_same(nearness how)
{
    int          failures = test.failures;
    arras_graph *normal = NULL;
    arras_error  err = { ARRAS_OK, "" };

    if (!CHECK_EQ_INT(ar_normalise(&normal, g, &err), ARRAS_OK)) {
        printf("    %s\n", err.text);
        return;
    }
    check_kinds(normal);
    check_face(normal);
    check_values(normal, how);
    check_again(normal);
    if (test.failures > failures)
        show_programs(normal);
    ar_graph_free(normal);
}

static inline arras_status run_status(const arras_graph *program)
{
    arras_results *results = NULL;
    arras_status   status = ar_reference_run(&results, program, nbound, bound, NULL);

    ar_results_free(results);
    return status;
}

/* The normal form may fail when it is made or when it is run. */
static inline void check_fails(arras_status old, arras_status new)
{
    arras_graph *normal = NULL;
    arras_status status = ar_normalise(&normal, g, NULL);

    CHECK_EQ_INT(run_status(g), old);
    if (status == ARRAS_OK)
        status = run_status(normal);
    CHECK_EQ_INT(status, new);
    ar_graph_free(normal);
}

/* ---- Inputs for any program ------------------------------------------------------------------ */

/* Binds each input to cells 0, 1, 2, 0, 1, ..., where every size is `size`.  False when a shape is
 * no shape then. */
static inline bool bind_all(int64_t size)
{
    int64_t sizes[MOST_INPUTS];

    for (int i = 0; i < ar_size_count(g); i++)
        sizes[i] = size;
    for (int i = 0; i < ar_graph_input_count(g); i++) {
        arras_array x = ar_graph_input(g, i);
        int64_t     shape[ARRAS_MAX_RANK];
        double      values[MOST_CELLS];

        for (int axis = 0; axis < x->rank; axis++)
            if (ar_dim_value(&shape[axis], g, x->shape[axis], sizes, NULL) != ARRAS_OK)
                return false;
        for (int k = 0; k < MOST_CELLS; k++)
            values[k] = k % 3;
        bind_cells(x->name, x->type.dtype, x->rank, shape,
                   cells_of(x->type.dtype, x->rank, shape, values));
    }
    return true;
}

#endif
