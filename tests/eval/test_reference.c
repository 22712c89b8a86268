/* test_reference.c -- the reference evaluator on single nodes of every kind but lambda and call:
 * values, boundary cases, errors that only a run can find. */
#include "evaluate.h"

/* ---- Leaves and cells on their own ----------------------------------------------------------- */

static void leaves(void)
{
    GIVES(I("x", "f64[3]", 1, 2, 3), "f64[3] 1 2 3");
    GIVES(I("x", "f64[]", 5), "f64[] 5");
    GIVES(I("x", "u8[0, 3]", 0), "u8[0, 3]");
    GIVES(A("c64[2]", 1, 2, 3, -4), "c64[2] (1, 2) (3, -4)");
    GIVES(N("bool[3]"), "bool[3] false true true");
    GIVES(untyped_int(7), "i64[] 7");
    GIVES(ar_const(g, (ar_type){ ARRAS_F32, false }, (ar_value){ .bits = { 0x3fc00000, 0 } }),
          "f32[] 1.5");
    GIVES((vector("x", size("n"), "f64[4]", NULL),
           ar_size_node(g, ar_dim_add(g, ar_dim_mul(g, size("n"), 2), 1))),
          "i64[] 9");
}

static void maps(void)
{
    GIVES(map2(AR_OP_add, N("i64[2, 3]"), A("i64[3]", 10, 20, 30)), "i64[2, 3] 10 21 32 13 24 35");
    GIVES(map2(AR_OP_add, N("i64[2, 1]"), N("i64[1, 3]")), "i64[2, 3] 0 1 2 1 2 3");
    GIVES(map2(AR_OP_add, N("i64[0, 1]"), N("i64[1, 3]")), "i64[0, 3]");
    GIVES(map2(AR_OP_add, N("u8[2]"), untyped_int(255)), "u8[2] 255 0");
    GIVES(map2(AR_OP_multiply, A("f64[2]", 0, 2), A("f64[]", NAN)), "f64[2] nan nan");
    GIVES(map2(AR_OP_divide, A("i32[2]", 1, 0), A("i32[]", 0)), "f64[2] inf nan");
    GIVES(map2(AR_OP_less, N("f64[3]"), N("i8[1]")), "bool[3] false false false");
    GIVES(map1(AR_OP_abs, A("c128[1]", 3, 4)), "f64[1] 5");
    GIVES(map1(AR_OP_isnan, A("c64[2]", 1, NAN, 1, 1)), "bool[2] true false");
    GIVES(ar_map(AR_OP_where, 3, L(N("i8[3]"), A("f32[]", 1.5), N("i16[3]"))), "f32[3] 0 1.5 1.5");
    GIVES(ar_cast(A("f64[4]", 1.9, -1.9, NAN, 1e300), ARRAS_I8), "i8[4] 1 -1 0 127");
    GIVES(ar_cast(N("i64[]"), ARRAS_BOOL), "bool[] false");
}

/* A user's bool is any byte; what is not 0 is true. */
static void odd_bools(void)
{
    uint8_t *cells = malloc(2);

    begin();
    cells[0] = 2, cells[1] = 1;
    bind_cells("x", ARRAS_BOOL, 1, (int64_t[]){ 2 }, cells);
    ar_graph_output_add(
        g, "sum", reduce(AR_REDUCE_sum, ar_input(g, "x", ARRAS_BOOL, 1, (int64_t[]){ 2 }), 1));
    ar_graph_output_add(g, "same", ar_graph_input_find(g, "x"));
    ar_graph_output_add(g, "both",
                        map2(AR_OP_bitwise_and, ar_graph_input_find(g, "x"), A("bool[]", 1)));
    CHECK_STR(run(), "i64[] 2; bool[2] true true; bool[2] true true");
    end();
}

/* ---- Reductions ------------------------------------------------------------------------------ */

static void reductions(void)
{
    GIVES(reduce(AR_REDUCE_sum, N("i8[2, 3]"), 3), "i64[] 15");
    GIVES(reduce(AR_REDUCE_sum, N("u8[2, 3]"), 1), "u64[3] 3 5 7");
    GIVES(reduce(AR_REDUCE_sum, N("f64[2, 3]"), 2), "f64[2] 3 12");
    GIVES(reduce(AR_REDUCE_sum, N("f64[2, 3]"), 0), "f64[2, 3] 0 1 2 3 4 5");
    GIVES(ar_reduce(AR_REDUCE_max, N("i16[2, 3]"), 2, true, NULL), "i16[2, 1] 2 5");
    GIVES(reduce(AR_REDUCE_sum, N("f64[2, 2, 2]"), 5), "f64[2] 10 18");
    GIVES(reduce(AR_REDUCE_prod, A("c64[2]", 0, 1, 0, 1), 1), "c64[] (-1, 0)");
    GIVES(reduce(AR_REDUCE_sum, A("f64[1]", -0.0), 1), "f64[] -0");
    GIVES(reduce(AR_REDUCE_min, A("f64[3]", 1, NAN, 0), 1), "f64[] nan");
    GIVES(reduce(AR_REDUCE_all, A("f64[3]", 1, NAN, 0), 1), "bool[] false");
    GIVES(reduce(AR_REDUCE_any, A("f64[3]", 0, NAN, 0), 1), "bool[] true");
    GIVES(reduce(AR_REDUCE_count_nonzero, A("u8[4]", 7, 0, 255, 2), 1), "i64[] 3");
}

static void reductions_of_nothing(void)
{
    GIVES(reduce(AR_REDUCE_sum, N("f32[0]"), 1), "f32[] 0");
    GIVES(reduce(AR_REDUCE_prod, N("i8[2, 0]"), 2), "i64[2] 1 1");
    GIVES(reduce(AR_REDUCE_all, N("f64[0]"), 1), "bool[] true");
    GIVES(reduce(AR_REDUCE_min, N("f64[0, 3]"), 2), "f64[0]");
    GIVES(reduce(AR_REDUCE_min, N("f64[0, 0]"), 2), "f64[0]");
    FAILS(reduce(AR_REDUCE_min, vector("x", size("n"), "f64[0]", NULL), 1),
          "ESHAPE: min over no cells of x");
    FAILS(reduce(AR_REDUCE_argmax, vector("x", size("n"), "f64[0]", NULL), 1),
          "argmax over no cells of x");
}

static void initial_values(void)
{
    GIVES(ar_reduce(AR_REDUCE_sum, N("i8[3]"), 1, false, untyped_int(10)), "i64[] 13");
    GIVES(ar_reduce(AR_REDUCE_min, N("f64[3]"), 1, false, A("f64[]", -1)), "f64[] -1");
    GIVES(ar_reduce(AR_REDUCE_min, N("f64[0]"), 1, false, untyped_int(4)), "f64[] 4");
    GIVES(ar_reduce(AR_REDUCE_sum, N("f64[0]"), 1, false, A("f64[]", -0.0)), "f64[] -0");
    GIVES(ar_reduce(AR_REDUCE_sum, N("i64[2, 2]"), 2, false, untyped_int(1)), "i64[2] 2 6");
}

static void places(void)
{
    GIVES(reduce(AR_REDUCE_argmin, A("f64[5]", 3, 1, 2, 1, 1), 1), "i64[] 1");
    GIVES(reduce(AR_REDUCE_argmax, A("f64[5]", 3, 1, 3, 1, 1), 1), "i64[] 0");
    GIVES(reduce(AR_REDUCE_argmin, A("f64[4]", 3, NAN, 0, NAN), 1), "i64[] 1");
    GIVES(reduce(AR_REDUCE_argmax, A("f32[4]", INFINITY, 2, 0, NAN), 1), "i64[] 3");
    GIVES(reduce(AR_REDUCE_argmax, A("bool[3]", 0, 1, 1), 1), "i64[] 1");
    GIVES(reduce(AR_REDUCE_argmin, A("c64[3]", 1, 1, 1, 0, 1, 0), 1), "i64[] 1");
    GIVES(reduce(AR_REDUCE_argmax, A("c64[3]", 1, 1, 1, NAN, 9, 0), 1), "i64[] 1");
    GIVES(reduce(AR_REDUCE_argmax, N("i64[2, 3]"), 3), "i64[] 5");
    GIVES(reduce(AR_REDUCE_argmin, A("i8[2, 2]", 1, 0, -3, 2), 2), "i64[2] 1 0");
    GIVES(ar_reduce(AR_REDUCE_argmin, A("i8[2, 2]", 1, 0, -3, 2), 1, true, NULL), "i64[1, 2] 1 0");
}

static void einsums(void)
{
    GIVES(ar_einsum("ij,jk", 2, L(N("i64[2, 3]"), N("i64[3, 2]"))), "i64[2, 2] 10 13 28 40");
    GIVES(ar_einsum("ii->i", 1, L(N("f64[3, 3]"))), "f64[3] 0 4 8");
    GIVES(ar_einsum("ii", 1, L(N("f32[3, 3]"))), "f32[] 12");
    GIVES(ar_einsum("ij->ji", 1, L(N("i8[2, 3]"))), "i8[3, 2] 0 3 1 4 2 5");
    GIVES(ar_einsum("i,j->ij", 2, L(N("i64[2]"), N("f32[3]"))), "f64[2, 3] 0 0 0 0 1 2");
    GIVES(ar_einsum("i,i->i", 2, L(N("i64[1]"), N("i64[3]"))), "i64[3] 0 0 0");
    GIVES(ar_einsum("i,i->", 2, L(A("i64[1]", 2), N("i64[3]"))), "i64[] 6");
    GIVES(ar_einsum("i,i", 2, L(N("f64[0]"), N("f64[1]"))), "f64[] 0");
    GIVES(ar_einsum("i,i", 2, L(A("bool[2]", 1, 1), A("bool[2]", 1, 1))), "bool[] true");
    GIVES(ar_einsum("i,i", 2, L(A("i8[2]", 100, 100), A("i8[2]", 1, 1))), "i8[] -56");
    GIVES(ar_einsum("i,i,i", 3, L(N("c64[3]"), N("i16[3]"), N("i16[3]"))), "c64[] (9, 0)");
    GIVES(ar_einsum(",", 2, L(A("f64[]", 2), A("f64[]", 3))), "f64[] 6");
    GIVES(ar_einsum("a,b,c,d,e,f,g,h->hgfedcba", 8,
                    L(N("i8[1]"), N("i8[2]"), N("i8[1]"), N("i8[1]"), N("i8[1]"), N("i8[1]"),
                      N("i8[1]"), N("i8[1]"))),
          "i8[1, 1, 1, 1, 1, 1, 2, 1] 0 0");
}

static arras_array sparse(arras_array columns, arras_array starts, arras_array dense)
{
    return ar_csr(A("f32[3]", 2, 3, 5), columns, starts, dense);
}

static void sparse_products(void)
{
    GIVES(sparse(A("i32[3]", 0, 2, 1), A("u64[4]", 0, 2, 2, 3), N("f64[3]")), "f64[3] 6 0 5");
    GIVES(sparse(A("u8[3]", 0, 1, 1), A("i64[3]", 0, 2, 3), N("i16[2, 2]")),
          "f32[2, 2] 6 11 10 15");
    GIVES(sparse(A("i8[3]", 0, 0, 0), A("i8[1]", 1), N("f32[2]")), "f32[0]");
    GIVES(sparse(A("i8[3]", 0, 0, 0), A("i8[2]", 0, 3), N("f32[1, 0]")), "f32[1, 0]");
    FAILS(sparse(A("i32[3]", 0, 3, 1), A("i64[2]", 0, 3), N("f64[3]")),
          "columns[1] is 3, but must be at least 0 and at most 2");
    FAILS(sparse(A("i32[3]", 0, -1, 1), A("i64[2]", 0, 3), N("f64[3]")), "EINDEX");
    FAILS(sparse(A("i32[3]", 0, 1, 1), A("i64[3]", 0, 2, 1), N("f64[3]")),
          "row_starts[2] is 1, but must be at least 2 and at most 3");
    FAILS(sparse(A("i32[3]", 0, 1, 1), A("i64[2]", 0, 4), N("f64[3]")), "row_starts[1] is 4");
    FAILS(sparse(A("i32[3]", 0, 1, 1), A("i64[2]", -1, 3), N("f64[3]")), "row_starts[0] is -1");
    FAILS(sparse(A("i32[3]", 0, 1, 1), A("u64[2]", 0, 1.8446744073709550e19), N("f64[3]")),
          "row_starts[1] is 18446744073709549568");
}

/* ---- Movement -------------------------------------------------------------------------------- */

static void joins(void)
{
    GIVES(ar_stack(2, L(N("i8[2]"), A("f32[2]", 5, 6)), 0), "f32[2, 2] 0 1 5 6");
    GIVES(ar_stack(2, L(N("i64[2]"), A("i64[2]", 5, 6)), 1), "i64[2, 2] 0 5 1 6");
    GIVES(ar_stack(1, L(N("i64[]")), 0), "i64[1] 0");
    GIVES(ar_stack(2, L(N("i64[0]"), N("i64[0]")), 0), "i64[2, 0]");
    GIVES(ar_concat(3, L(N("i64[2]"), N("i64[0]"), N("bool[2]")), 0), "i64[4] 0 1 0 1");
    GIVES(ar_concat(2, L(N("i64[2, 1]"), N("i64[2, 2]")), 1), "i64[2, 3] 0 0 1 1 2 3");
    GIVES(ar_concat(2, L(vector("x", size("n"), "i64[2]", NULL), N("i64[1]")), 0), "i64[3] 0 1 0");
}

static void rolls(void)
{
    GIVES(ar_roll(N("i64[5]"), (int64_t[]){ 2 }), "i64[5] 3 4 0 1 2");
    GIVES(ar_roll(N("i64[2, 3]"), (int64_t[]){ 1, -1 }), "i64[2, 3] 4 5 3 1 2 0");
    GIVES(ar_roll(N("i64[]"), NULL), "i64[] 0");
    GIVES(ar_roll(vector("x", size("n"), "i64[3]", NULL), (int64_t[]){ INT64_MIN }),
          "i64[3] 2 0 1");
    GIVES(ar_roll(vector("x", size("n"), "i64[3]", NULL), (int64_t[]){ INT64_MAX }),
          "i64[3] 2 0 1");
    GIVES(ar_roll(vector("x", size("n"), "i64[0]", NULL), (int64_t[]){ 7 }), "i64[0]");
}

static void permutations(void)
{
    GIVES(ar_permute(N("i64[2, 3]"), (int[]){ 1, 0 }), "i64[3, 2] 0 3 1 4 2 5");
    GIVES(ar_permute(N("i64[2, 1, 2]"), (int[]){ 2, 0, 1 }), "i64[2, 2, 1] 0 2 1 3");
    GIVES(ar_permute(N("i64[2, 0]"), (int[]){ 1, 0 }), "i64[0, 2]");
}

static void reshapes(void)
{
    GIVES(ar_reshape(N("i64[2, 3]"), 1, (arras_dim[]){ -1 }, 'C'), "i64[6] 0 1 2 3 4 5");
    GIVES(ar_reshape(N("i64[2, 3]"), 1, (arras_dim[]){ -1 }, 'F'), "i64[6] 0 3 1 4 2 5");
    GIVES(ar_reshape(N("i64[2, 3]"), 2, (arras_dim[]){ 3, 2 }, 'F'), "i64[3, 2] 0 4 3 2 1 5");
    GIVES(ar_reshape(N("i64[1]"), 0, NULL, 'C'), "i64[] 0");
    GIVES(ar_reshape(N("i64[0, 3]"), 2, (arras_dim[]){ 5, 0 }, 'F'), "i64[5, 0]");
    GIVES(ar_reshape(vector("x", ar_dim_mul(g, size("n"), 2), "i64[6]", NULL), 2,
                     (arras_dim[]){ -1, 2 }, 'C'),
          "i64[3, 2] 0 1 2 3 4 5");
}

static void indices(void)
{
    GIVES(AT(N("i64[5]"), arras_at(-1)), "i64[] 4");
    GIVES(AT(N("i64[5]"), arras_slice(1, ARRAS_NONE, 2)), "i64[2] 1 3");
    GIVES(AT(N("i64[5]"), arras_slice(ARRAS_NONE, ARRAS_NONE, -2)), "i64[3] 4 2 0");
    GIVES(AT(N("i64[5]"), arras_slice(3, 1, 1)), "i64[0]");
    GIVES(AT(N("i64[2, 3]"), arras_all_of_axis(), arras_newaxis(), arras_at(1)), "i64[2, 1] 1 4");
    GIVES(AT(N("i64[2, 3]"), arras_ellipsis(), arras_slice(ARRAS_NONE, ARRAS_NONE, -1)),
          "i64[2, 3] 2 1 0 5 4 3");
    GIVES(AT(N("i64[2, 3]"), arras_slice(ARRAS_NONE, ARRAS_NONE, INT64_MIN)), "i64[1, 3] 3 4 5");
    GIVES(AT(N("i64[]"), arras_newaxis()), "i64[1] 0");
}

/* Whether a symbolic item stays inside is known at run time only. */
static void symbolic_indices(void)
{
    GIVES(AT(vector("x", size("n"), "i64[3]", NULL), arras_slice(ARRAS_NONE, ARRAS_NONE, -1)),
          "i64[3] 2 1 0");
    GIVES(AT(vector("x", size("n"), "i64[0]", NULL), arras_slice(ARRAS_NONE, ARRAS_NONE, -1)),
          "i64[0]");
    GIVES(AT(vector("x", size("n"), "i64[3]", NULL), arras_slice(1, -1, 1)), "i64[1] 1");
    GIVES(AT(vector("x", size("n"), "i64[3]", NULL), arras_at(-1)), "i64[] 2");
    GIVES(AT(vector("x", size("n"), "i64[3]", NULL), arras_at(ar_dim_sub(g, size("n"), 3))),
          "i64[] 0");
    FAILS(AT(vector("x", size("n"), "i64[3]", NULL), arras_at(3)),
          "EINDEX: index: cell 3 is asked for on axis 0 of length 3 of x: i64[n]");
    FAILS(AT(vector("x", size("n"), "i64[3]", NULL), arras_at(-4)), "size n - 4 is negative: -1");
    FAILS(AT(vector("x", size("n"), "i64[3]", NULL), arras_slice(5, ARRAS_NONE, 1)),
          "size n - 5 is negative: -2");
    FAILS(AT(vector("x", size("n"), "i64[3]", NULL), arras_slice(0, 4, 1)),
          "EINDEX: index: cell 3 is asked for");
    FAILS(AT(N("i64[3]"), arras_slice(0, size("m"), 1)),
          "size m is not determined by the inputs: bind it by name");
}

static void gathers(void)
{
    GIVES(ar_gather(N("i64[4]"), 1, 0, 1, L(A("i8[3]", 2, -1, 0))), "i64[3] 2 3 0");
    GIVES(ar_gather(N("i64[2, 3]"), 2, 1, 1, L(A("u8[2, 1]", 2, 0))), "i64[2, 2, 1] 2 0 5 3");
    GIVES(ar_gather(N("i64[2, 3]"), 3, 0, 2, L(A("i64[2, 1]", 0, 1), A("i64[3]", 0, 1, 2))),
          "i64[2, 3] 0 1 2 3 4 5");
    GIVES(ar_gather(N("i64[2, 2, 2]"), 5, 0, 2, L(A("i64[2]", 0, 1), A("i64[1]", 1))),
          "i64[2, 2] 1 3 5 7");
    GIVES(ar_gather(N("i64[2, 2, 2]"), 5, 1, 2, L(A("i64[2]", 0, 1), A("i64[1]", 1))),
          "i64[2, 2] 1 5 3 7");
    GIVES(ar_gather(N("i64[3]"), 1, 0, 1, L(A("u64[]", 2))), "i64[] 2");
    GIVES(ar_gather(N("i64[0]"), 1, 0, 1, L(N("i64[0]"))), "i64[0]");
    GIVES(ar_gather(AT(N("f64[5]"), arras_slice(ARRAS_NONE, ARRAS_NONE, -1)), 1, 0, 1,
                    L(A("i8[1]", 1))),
          "f64[1] 3");
    FAILS(ar_gather(I("x", "f64[5]", 0, 0, 0, 0, 0), 1, 0, 1, L(A("i8[1]", 7))),
          "EINDEX: index 7 is out of bounds for axis 0 of length 5 of x: f64[5]");
    FAILS(ar_gather(N("f64[2, 5]"), 2, 1, 1, L(A("i8[1]", -6))),
          "index -6 is out of bounds for axis 1");
    FAILS(ar_gather(N("f64[5]"), 1, 0, 1, L(A("u64[1]", 9.3e18))),
          "index 9300000000000000000 is out of bounds");
    FAILS(ar_gather(N("f64[0]"), 1, 0, 1, L(A("i8[1]", 0))), "EINDEX");
    FAILS(ar_gather(N("f64[3, 0]"), 1, 0, 1, L(A("i8[1]", 3))),
          "EINDEX"); /* though nothing would be read */
}

/* ---- Shapes at their limits ------------------------------------------------------------------ */

static void rank_32(void)
{
    static const char ones[] =
        "i64[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
        "1, 1, 1, 1, 1, 2]";
    char want[256];

    snprintf(want, sizeof want, "%s 1 2", ones);
    GIVES(map2(AR_OP_add, N(ones), untyped_int(1)), want);
    GIVES(reduce(AR_REDUCE_sum, N(ones), 0xffffffff), "i64[] 1");
    GIVES(reduce(AR_REDUCE_sum, N(ones), 0x7fffffff), "i64[2] 0 1");
    GIVES(ar_reshape(ar_roll(N(ones), (int64_t[32]){ [31] = 1 }), 1, (arras_dim[]){ 2 }, 'F'),
          "i64[2] 1 0");
    snprintf(want, sizeof want, "%.*s1] 1", (int)strlen(ones) - 2, ones);
    GIVES(ar_gather(N(ones), 0x80000000, 31, 1, L(A("i8[1]", 1))), want);
}

TEST_MAIN
{
    RUN(leaves);
    RUN(maps);
    RUN(odd_bools);
    RUN(reductions);
    RUN(reductions_of_nothing);
    RUN(initial_values);
    RUN(places);
    RUN(einsums);
    RUN(sparse_products);
    RUN(joins);
    RUN(rolls);
    RUN(permutations);
    RUN(reshapes);
    RUN(indices);
    RUN(symbolic_indices);
    RUN(gathers);
    RUN(rank_32);
}
