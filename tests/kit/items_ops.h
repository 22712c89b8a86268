/* items_ops.h -- for tests of kernels in items: every operation in every type and every cast, on
 * odd and random values, against the evaluator's. */
#ifndef TEST_ITEMS_OPS_H
#define TEST_ITEMS_OPS_H

#include "gen/words/dialect.h"

#include "items_world.h"
#include "odd_values.h"

/* Values of each operand; all pairs of the first two are tried. */
enum { ODD_VALUES = 40, ODD_CELLS = ODD_VALUES * ODD_VALUES };

static double largest_error; /* of functions, in units of the last place */

static arras_array odd_input(const char *name, arras_dtype dtype, int turn)
{
    const int64_t shape[] = { ODD_CELLS };
    size_t        size = ar_dtype_size(dtype);
    char         *cells = calloc(ODD_CELLS, size);

    for (int i = 0; i < ODD_CELLS; i++) {
        ar_value value = { .bits = { 0, 0 } };
        int      at = turn == 0 ? i % ODD_VALUES
                      : turn == 1 ? i / ODD_VALUES
                                  : (i + 3 * (i / ODD_VALUES)) % ODD_VALUES;

        srand((unsigned)(at * 3 + turn));
        draw(dtype, &value, at);
        memcpy(cells + (size_t)i * size, &value, size);
    }
    bind_cells(name, dtype, 1, shape, cells);
    return ar_input(g, name, dtype, 1, shape);
}

/* An output for each operation that computes in the type, and for each cast from it. */
static void record_ops(arras_dtype dtype, int from, int to)
{
    arras_array x = odd_input("x", dtype, 0), y = odd_input("y", dtype, 1);
    arras_array z = odd_input("z", dtype, 2), condition = odd_input("c", ARRAS_BOOL, 0);

    for (int op = from; op < to && op < AR_OP_END; op++) {
        arras_array args[] = { op == AR_OP_where ? condition : x, y, z };

        if (ar_op_value((ar_op)op, dtype) && ar_dialect_has(device_dialect(), (ar_op)op, dtype))
            ar_graph_output_add(g, ar_op_name((ar_op)op),
                                ar_map((ar_op)op, ar_op_arity((ar_op)op), args));
    }
    for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END && from == 0; d++) {
        char name[32];

        snprintf(name, sizeof name, "to_%s", ar_dtype_name((arras_dtype)d));
        ar_graph_output_add(g, name, ar_cast(x, (arras_dtype)d));
    }
}

/* How far apart two numbers are, in units of the last place of the second. */
static double error_of(double got, double want, bool single)
{
    int exponent;

    if (got == want || (isnan(got) && isnan(want)))
        return 0;
    if (isnan(got) || isnan(want) || isinf(got) || isinf(want))
        return INFINITY;
    frexp(want, &exponent);
    if (exponent < (single ? -125 : -1021))
        exponent = single ? -125 : -1021;
    return fabs(got - want) / ldexp(1, exponent - (single ? 24 : 53));
}

static bool is_near(arras_dtype dtype, const char *got, const char *want, double units)
{
    double a[2], b[2], error = 0;
    bool   single = ar_dtype_real(dtype) == ARRAS_F32;

    ar_cell_cast(ARRAS_C128, a, dtype, got);
    ar_cell_cast(ARRAS_C128, b, dtype, want);
    for (int i = 0; i < 2; i++)
        error = fmax(error, error_of(a[i], b[i], single));
    if (error <= units && error > largest_error)
        largest_error = error;
    return error <= units;
}

static void compare_output(const char *name, const ar_tensor *got, const arras_buffer *want,
                           double units)
{
    size_t size = ar_dtype_size(got->dtype);
    int    wrong = 0, first = -1;

    CASE("%s of %s", name, ar_dtype_name(bound[0].buffer.dtype));
    for (int i = 0; i < ODD_CELLS; i++) {
        const char *a = got->data + (size_t)i * size;
        const char *b = (const char *)want->data + (size_t)i * size;

        if (same_cell(got->dtype, a, b) || (units > 0 && is_near(got->dtype, a, b, units)))
            continue;
        wrong++;
        first = first < 0 ? i : first;
    }
    if (!CHECK_EQ_INT(wrong, 0)) {
        ar_text text = { 0 };

        ar_value_print(&text, got->dtype, got->data + (size_t)first * size);
        ar_text_add(&text, ", not ");
        ar_value_print(&text, got->dtype, (const char *)want->data + (size_t)first * size);
        printf("    cell %d: %s\n", first, text.data);
        ar_text_free(&text);
    }
}

/* Of what OpenCL leaves to the device, 0 where it leaves nothing. */
static double units_of(const char *name, arras_dtype dtype)
{
    int op = ar_op_find(name, strlen(name));

    if (exact || op < 0 || ar_dtype_class(dtype) < AR_CLASS_REAL)
        return 0;
    if (ar_dtype_class(dtype) == AR_CLASS_COMPLEX && (op == AR_OP_abs || op == AR_OP_sign))
        return 16;
    return ar_op_units((ar_op)op) == ar_op_units(AR_OP_exp) ? 16 : 0;
}

static void check_ops(arras_dtype dtype, int from, int to)
{
    itemised       c = { .strided = false };
    ar_inputs      in;
    ar_arena       arena = { 0 };
    arras_results *results = NULL;

    begin();
    record_ops(dtype, from, to);
    if (ar_graph_output_count(g) > 0 && open_items(&c) && build_items(&c) &&
        CHECK_EQ_INT(ar_reference_run(&results, c.normal, nbound, bound, NULL), ARRAS_OK) &&
        CHECK_EQ_INT(ar_inputs_open(&in, c.normal, nbound, bound, NULL), ARRAS_OK) &&
        CHECK_EQ_INT(run_items(&c, &in, &arena), 0))
        for (int i = 0; i < results->count; i++) {
            const ar_output *out = ar_graph_output(c.normal, i);

            compare_output(out->name, host_value(&c, out->array), &results->items[i].buffer,
                           units_of(out->name, dtype));
        }
    if (results)
        ar_inputs_close(&in);
    ar_results_free(results);
    ar_arena_free(&arena);
    close_items(&c);
    end();
}

static void operations_of_every_type(void)
{
    for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END; d++)
        for (int from = 0; from < AR_OP_END; from += 20)
            check_ops((arras_dtype)d, from, from + 20);
    printf("    functions are wrong by %.1f units of the last place at most\n", largest_error);
}

#endif
