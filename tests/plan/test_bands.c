/* test_bands.c -- steps that run together, tile by tile: which do, which must not, and that every
 * cell has the bits it has when nothing does. */
#include "launch_kit.h"

enum { ROWS = 700, NODES = 10, FACES = 4, ON_FACE = 6 };

static double x_cells[ROWS * NODES], small[3][NODES * NODES], lift[NODES * FACES * ON_FACE];

static void fill(double *cells, int n, int seed)
{
    for (int i = 0; i < n; i++)
        cells[i] = (double)((i * 7919 + seed * 104729) % 1009) / 64 - 7;
}

static arras_array begin(void)
{
    start();
    fill(x_cells, ROWS * NODES, 1);
    fill(lift, NODES * FACES * ON_FACE, 5);
    for (int k = 0; k < 3; k++)
        fill(small[k], NODES * NODES, k);
    return matrix("x", ROWS, NODES);
}

static arras_array times(arras_array x, int k)
{
    const arras_array both[] = { x, arras_borrow(g, ARRAS_F64, 2, (int64_t[]){ NODES, NODES }, NULL,
                                                 small[k]) };

    return arras_einsum("en,mn->em", 2, both);
}

static const arras_options ways[] = {
    { .threads = 1 },
    { .threads = 2, .tile_bytes = 1 },
    { .threads = 2, .tile_bytes = 3000 },
    { .threads = 3, .tile_bytes = 700 },
    { .threads = 7, .tile_bytes = 12000 },
};

/* How many steps run with another. */
static int together(arras_program *p)
{
    char *text = NULL;
    int   n = 0;

    CHECK_EQ_INT(arras_program_print(&text, NULL, p, ARRAS_PROGRAM_EXPLAIN, &err), ARRAS_OK);
    for (const char *at = text; at && (at = strstr(at, "tile by tile with step")); at++)
        n++;
    arras_text_free(text);
    return n;
}

static void check(int wanted)
{
    const arras_binding x = MATRIX("x", x_cells, ROWS, NODES);
    arras_results      *want = NULL, *got = NULL;

    arras_program *plain = compiled(&(arras_options){ .threads = 1, .no_fusion = true });

    launched(&want, plain, 1, &x);
    arras_program_free(plain);
    for (size_t i = 0; i < AR_COUNT(ways) && want; i++) {
        arras_program *p = compiled(&ways[i]);

        CHECK_EQ_INT(together(p), wanted);
        for (int again = 0; again < 2; again++) {
            if (launched(&got, p, 1, &x))
                CHECK(same_bits(got, want));
            arras_results_free(got);
        }
        arras_program_free(p);
    }
    arras_results_free(want);
    finish(NULL);
}

/* ---- Those that do --------------------------------------------------------------------------- */

static void one_array_for_two(void)
{
    arras_array t = arras_abs(times(begin(), 0)); /* without it, two products */

    arras_output(g, "y", times(t, 1));
    arras_output(g, "z", times(t, 2));
    check(3);
}

static void results_on_the_way(void)
{
    arras_array t = times(begin(), 0);

    arras_output(g, "t", t);
    arras_output(g, "y", times(arras_abs(times(t, 1)), 2)); /* without it, one product */
    check(3);
}

static void sums_along_rows(void)
{
    const int   axis = 1;
    arras_array x = begin();
    arras_array e = arras_exp(arras_subtract(x, arras_max(x, 1, &axis, true)));

    arras_output(g, "y", times(arras_divide(e, arras_sum(e, 1, &axis, true)), 0));
    check(4);
}

/* Arrays of which the rows are the second axis, as on the faces of finite elements. */
static void rows_in_the_middle(void)
{
    static const int32_t nodes[FACES * ON_FACE] = { 0, 3, 5, 9, 2, 1, 7, 6, 5, 4, 3, 2,
                                                    1, 0, 9, 8, 7, 6, 1, 4, 9, 2, 5, 8 };
    const int            faces_first[] = { 1, 0, 2 };
    const int64_t        on_faces[] = { FACES, ON_FACE };
    arras_array          x = begin();
    arras_array          index = arras_borrow(g, ARRAS_I32, 2, on_faces, NULL, nodes);
    const arras_item     items[] = { arras_all_of_axis(), arras_gather(index) };
    const int64_t        shape[] = { NODES, FACES, ON_FACE };
    arras_array          faces = arras_permute(arras_index(x, 2, items), 3, faces_first);
    arras_array          matrix_of_faces = arras_borrow(g, ARRAS_F64, 3, shape, NULL, lift);
    arras_array roots = arras_sqrt(arras_add(arras_multiply(faces, faces), arras_float(g, 1)));

    for (int k = 0; k < 2; k++) {
        const arras_array operands[] = { matrix_of_faces, k ? arras_divide(faces, roots) : roots };

        arras_output(g, k ? "y" : "z", times(arras_einsum("mfk,fek->em", 2, operands), k));
    }
    check(3);
}

/* Rows with a halo, for two that reach differently. */
static arras_array near(arras_array x, int64_t before, int64_t after)
{
    const arras_edge edges[] = { { .rule = ARRAS_EDGE_NEAREST }, { .rule = ARRAS_EDGE_NEAREST } };

    return arras_stencil(x, 3, (int64_t[]){ -before, 0, 0, 0, after, 0 },
                         (double[]){ 0.5, -1.25, 0.75 }, edges);
}

static void neighbours(void)
{
    arras_array t = times(begin(), 0);

    arras_output(g, "y", times(near(t, 1, 0), 1));
    arras_output(g, "z", times(near(t, 3, 2), 2));
    check(3);
}

static void neighbours_of_neighbours(void)
{
    arras_array t = times(near(times(begin(), 0), 2, 1), 1);

    arras_output(g, "y", times(near(t, 4, 3), 2));
    check(4);
}

/* ---- Those that must not --------------------------------------------------------------------- */

/* Rows of anywhere are read: all of them must be there. */
static void rows_of_anywhere(void)
{
    static int32_t order[ROWS];
    arras_array    t = times(begin(), 0), index;
    arras_item     items[1];

    for (int i = 0; i < ROWS; i++)
        order[i] = (i * 331 + 5) % ROWS;
    index = arras_borrow(g, ARRAS_I32, 1, (int64_t[]){ ROWS }, NULL, order);
    items[0] = arras_gather(index);
    arras_output(g, "y", arras_add(times(t, 1), times(arras_index(t, 1, items), 2)));
    check(2);
}

/* The same where another array makes the two readers one band: t still has to come before it. */
static void anywhere_and_here(void)
{
    arras_array      x = begin(), t = times(x, 0), s = times(x, 1);
    const arras_item backwards[] = { arras_slice(ARRAS_NONE, ARRAS_NONE, -1) };
    arras_array      turned = arras_index(t, 1, backwards);

    arras_output(g, "y", times(arras_add(s, turned), 2));
    arras_output(g, "z", times(arras_multiply(s, t), 2));
    check(3);
}

/* An output with a halo would be written twice. */
static void results_with_halos(void)
{
    arras_array t = times(begin(), 0);

    arras_output(g, "t", t);
    arras_output(g, "y", times(near(t, 2, 2), 1));
    check(1);
}

TEST_MAIN
{
    RUN(one_array_for_two);
    RUN(results_on_the_way);
    RUN(sums_along_rows);
    RUN(rows_in_the_middle);
    RUN(neighbours);
    RUN(neighbours_of_neighbours);
    RUN(rows_of_anywhere);
    RUN(anywhere_and_here);
    RUN(results_with_halos);
}
