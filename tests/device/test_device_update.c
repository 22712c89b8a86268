/* test_device_update.c -- arguments of executable graphs replaced: all of them, or none. */
#include "device_kit.h"

enum { CELL = sizeof(int64_t) };

static void updates_are_all_or_none(void)
{
    arras_taskgraph *graph = graph_new();
    arras_block     *x = block_of(CELL), *y = block_of(CELL), *z = block_of(2 * CELL);
    int64_t          five = 5, seen = 0;
    int              plus = apply(graph, -1, add, in_block(y), in_block(x), 1, 1);
    int              other = apply(graph, -1, add, in_block(z), in_block(x), 7, 1);
    arras_exec      *exec = instantiated(graph);
    arras_update     first = { plus, 2, arras_arg_value(&five, CELL) };
    const struct {
        arras_update second;
        const char  *part;
    } wrong[] = {
        { { 2, 0, arras_arg_read(in_block(x)) }, "update 1 is of node 2 in a graph of 2" },
        { { -1, 0, arras_arg_read(in_block(x)) }, "update 1 is of node -1" },
        { { plus, 3, arras_arg_read(in_block(x)) }, "argument 3 of node 0 (add), which has 3" },
        { { plus, -1, arras_arg_read(in_block(x)) }, "argument -1 of node 0 (add)" },
        { { plus, 0, arras_arg_write(in_block(x)) }, "is of kind 0 and cannot become 1" },
        { { plus, 0, arras_arg_host(&five) }, "is of kind 0 and cannot become 4" },
        { { plus, 2, arras_arg_value(&five, 4) }, "a value of 8 bytes and cannot become one of 4" },
        { { plus, 2, arras_arg_value(NULL, 8) }, "is a value at NULL" },
        { { plus, 0, arras_arg_read(arras_place_in_block(x, 9)) }, "starts at byte 9" },
        { { plus, 0, arras_arg_read(in_node(1)) }, "node 1, which is no memalloc node" },
        { { plus, 1, arras_arg_write(in_block(z)) },
          "node 0 (add) and node 1 (add) touch the same bytes of a block" },
    };

    for (size_t i = 0; i < AR_COUNT(wrong); i++) {
        arras_update both[] = { first, wrong[i].second };

        CASE("%s", wrong[i].part);
        CHECK(arras_exec_update(exec, 2, both, &error) != ARRAS_OK);
        CHECK_HAS(error.text, wrong[i].part);
        CHECK_EQ_INT(summary_of(exec).updates, 0);
        CHECK(launches(exec));
        CHECK(arras_block_read(&seen, y, 0, CELL, NULL) == ARRAS_OK);
        CHECK_EQ_INT(seen, 1);
    }
    CASE("other bytes of the same block are fine");
    first = (arras_update){ other, 1, arras_arg_write(arras_place_in_block(z, CELL)) };
    CHECK(ok(arras_exec_update(exec, 1, &first, &error), &error));
    first = (arras_update){ plus, 1, arras_arg_memory(ARRAS_ARG_WRITE, in_block(z), CELL) };
    CHECK(ok(arras_exec_update(exec, 1, &first, &error), &error));
    CHECK(ok(arras_exec_update(exec, 0, NULL, &error), &error));
    CHECK_EQ_INT(summary_of(exec).updates, 2);
    CHECK(launches(exec));
    CHECK(arras_block_read(&seen, z, CELL, CELL, NULL) == ARRAS_OK);
    CHECK_EQ_INT(seen, 7);
    arras_exec_free(exec);
    arras_taskgraph_free(graph);
    arras_block_free(x);
    arras_block_free(y);
    arras_block_free(z);
}

/* Every kernel gets another cell to write; two of them the same one in the end. */
static void many_updates_at_once(void)
{
    enum { KERNELS = 40 };
    arras_taskgraph *graph = graph_new();
    arras_block     *x = block_of(CELL), *y = block_of(KERNELS * CELL);
    arras_update     updates[KERNELS];
    int64_t          seen[KERNELS];
    arras_exec      *exec;

    for (int i = 0; i < KERNELS; i++) {
        arras_place to = arras_place_in_block(y, i * CELL);
        int64_t     c = i;
        arras_arg   args[] = { arras_arg_read(in_block(x)),
                               arras_arg_memory(ARRAS_ARG_WRITE, to, CELL),
                               arras_arg_value(&c, CELL) };

        CHECK_EQ_INT(kernel(graph, -1, add, 1, 3, args), i);
        args[1].place.offset = (KERNELS - 1 - i) * CELL;
        updates[i] = (arras_update){ i, 1, args[1] };
    }
    exec = instantiated(graph);
    CHECK(ok(arras_exec_update(exec, KERNELS, updates, &error), &error));
    CHECK_EQ_INT(summary_of(exec).updates, KERNELS);
    CHECK(launches(exec));
    CHECK(arras_block_read(seen, y, 0, sizeof seen, NULL) == ARRAS_OK);
    for (int i = 0; i < KERNELS; i++) {
        CHECK_EQ_INT(seen[i], KERNELS - 1 - i);
        updates[i].with.place.offset = (i == 30 ? 7 : i) * CELL;
    }
    CHECK(arras_exec_update(exec, KERNELS, updates, &error) == ARRAS_EINVAL);
    CHECK_HAS(error.text, "node 7 (add) and node 30 (add) touch the same bytes of a block");
    CHECK_EQ_INT(summary_of(exec).updates, KERNELS);
    arras_exec_free(exec);
    arras_taskgraph_free(graph);
    arras_block_free(x);
    arras_block_free(y);
}

TEST_MAIN
{
    device_set_up(3);
    RUN(updates_are_all_or_none);
    RUN(many_updates_at_once);
    device_tear_down();
    CHECK_EQ_INT(ar_alloc_live(), 0);
}
