/* test_data_indices.c -- gathers whose indices are data: their range is known when they are
 * recorded, and reads that it allows are not checked.  Every type of index, at any strides, with
 * indices from the end and outside. */
#include "launch_kit.h"

enum { LENGTH = 50, COUNT = 12 };

static double x_cells[LENGTH];

/* The n-th index in a cell of this type. */
static void put_index(char *cell, arras_dtype dtype, int64_t index)
{
    switch (dtype) {
    case ARRAS_I8: *(int8_t *)cell = (int8_t)index; break;
    case ARRAS_I16: *(int16_t *)cell = (int16_t)index; break;
    case ARRAS_I32: *(int32_t *)cell = (int32_t)index; break;
    case ARRAS_U8: *(uint8_t *)cell = (uint8_t)index; break;
    case ARRAS_U16: *(uint16_t *)cell = (uint16_t)index; break;
    case ARRAS_U32: *(uint32_t *)cell = (uint32_t)index; break;
    default: *(int64_t *)cell = index;
    }
}

/* One index of many is `odd`; `apart`: cells from one index to the next, perhaps backwards. */
static void check(arras_dtype dtype, int64_t odd, int apart)
{
    _Alignas(8) char    cells[COUNT * 2 * 8] = { 0 };
    const int64_t       size = (int64_t)arras_dtype_size(dtype), shape[] = { COUNT };
    const int64_t       stride = apart * size;
    char               *first = cells + (apart < 0 ? -(COUNT - 1) * stride : 0);
    const arras_binding x = VEC("x", x_cells, LENGTH);
    bool                good = odd >= -LENGTH && odd < LENGTH;
    arras_results      *want = NULL, *got = NULL;
    arras_item          items[1];
    arras_program      *p;

    CASE("%s, %d, %d apart", arras_dtype_name(dtype), (int)odd, apart);
    start();
    for (int i = 0; i < COUNT; i++)
        put_index(first + i * stride, dtype, i == 7 ? odd : i * 4 % LENGTH);
    items[0] = arras_gather(arras_borrow(g, dtype, 1, shape, &stride, first));
    arras_output(g, "y", arras_index(input("x", LENGTH), 1, items));
    p = compiled(&(arras_options){ .threads = 2 });
    CHECK_EQ_INT(arras_evaluate(&want, g, 1, &x, &err), good ? ARRAS_OK : ARRAS_EINDEX);
    if (!good)
        refused(p, 1, &x, ARRAS_EINDEX, "out of bounds");
    else if (launched(&got, p, 1, &x))
        CHECK(same_bits(got, want));
    arras_results_free(want);
    arras_results_free(got);
    finish(p);
}

static void check_types(int n, const arras_dtype *dtypes, int odds, const int64_t *odd)
{
    for (int i = 0; i < LENGTH; i++)
        x_cells[i] = 100 + i;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < odds; i++) {
            check(dtypes[k], odd[i], 1);
            check(dtypes[k], odd[i], -2);
        }
}

static void signed_indices(void)
{
    const arras_dtype dtypes[] = { ARRAS_I8, ARRAS_I16, ARRAS_I32, ARRAS_I64 };
    const int64_t     odd[] = { 0, LENGTH - 1, LENGTH, -1, -LENGTH, -LENGTH - 1 };

    check_types(AR_COUNT(dtypes), dtypes, AR_COUNT(odd), odd);
}

static void unsigned_indices(void)
{
    const arras_dtype dtypes[] = { ARRAS_U8, ARRAS_U16, ARRAS_U32, ARRAS_U64 };
    const int64_t     odd[] = { 0, LENGTH - 1, LENGTH, 200 };

    check_types(AR_COUNT(dtypes), dtypes, AR_COUNT(odd), odd);
}

/* Reads of what was inside are not checked, so data that changed before is refused. */
static void changed_data(void)
{
    int64_t        cells[COUNT] = { 3, 1, 4, 1, 5 };
    const int64_t  shape[] = { COUNT };
    arras_item     items[1];
    arras_program *p = NULL;

    start();
    items[0] = arras_gather(arras_borrow(g, ARRAS_I64, 1, shape, NULL, cells));
    arras_output(g, "y", arras_index(input("x", LENGTH), 1, items));
    cells[2] = LENGTH + 7;
    CHECK_EQ_INT(arras_compile(&p, g, NULL, &err), ARRAS_EINVAL);
    CHECK(strstr(err.text, "from 0 to 57, but 0 to 5 when it was recorded"));
    cells[2] = 4;
    p = compiled(NULL);
    finish(p);
}

TEST_MAIN
{
    RUN(signed_indices);
    RUN(unsigned_indices);
    RUN(changed_data);
}
