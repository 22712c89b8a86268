/* rearrange.c -- byte order, order of axes, odd booleans. */
#include "cmd/io/rearrange.h"

#include <byteswap.h>

#include "cmd/interrupt.h"

void cmd_array_swap_bytes(cmd_array *a)
{
    size_t size = arras_dtype_size(a->dtype);
    size_t bytes = (size_t)cmd_array_bytes(a);

    if (a->dtype == ARRAS_C64 || a->dtype == ARRAS_C128)
        size /= 2; /* each half by itself */
    uint16_t *p2 = a->data;
    uint32_t *p4 = a->data;
    uint64_t *p8 = a->data;
    for (size_t i = 0; i < bytes / size; i++) {
        if (size == 2)
            p2[i] = bswap_16(p2[i]);
        else if (size == 4)
            p4[i] = bswap_32(p4[i]);
        else if (size == 8)
            p8[i] = bswap_64(p8[i]);
    }
}

void cmd_array_normalise_bools(cmd_array *a)
{
    uint8_t *bytes = a->data;
    int64_t  count = cmd_array_count(a);
    uint8_t  all = 0;

    for (int64_t i = 0; i < count; i++)
        all |= bytes[i];
    if (all <= 1)
        return; /* nothing is written: pages of a mapped file stay shared */
    for (int64_t i = 0; i < count; i++)
        bytes[i] = bytes[i] != 0;
}

/* Smaller arrays are not worth a kernel. */
#define SMALL_CELLS (1 << 16)

/* The program y = x for arrays of this type and rank, whatever their sizes. */
static arras_status compile_copy(arras_program **out, const cmd_array *a, arras_error *err)
{
    static const char *const names[ARRAS_MAX_RANK] = {
        "n0",  "n1",  "n2",  "n3",  "n4",  "n5",  "n6",  "n7",  "n8",  "n9",  "n10",
        "n11", "n12", "n13", "n14", "n15", "n16", "n17", "n18", "n19", "n20", "n21",
        "n22", "n23", "n24", "n25", "n26", "n27", "n28", "n29", "n30", "n31",
    };
    arras_options options = { .reference = cmd_array_count(a) < SMALL_CELLS };
    arras_dim     shape[ARRAS_MAX_RANK];
    arras_graph  *g;
    arras_status  status = arras_graph_new(&g, err);

    if (status != ARRAS_OK)
        return status;
    for (int d = 0; d < a->rank; d++)
        shape[d] = arras_size(g, names[d]);
    arras_output(g, "y", arras_placeholder(g, "x", a->dtype, a->rank, shape));
    status = cmd_compile(out, g, &options, err);
    arras_graph_free(g);
    return status;
}

static arras_status copy_strided(cmd_array *to, const cmd_array *from, const int64_t *strides,
                                 arras_error *err)
{
    arras_binding bindings[] = {
        { "x", { from->data, from->dtype, from->rank, from->shape, strides } },
        { "y", { to->data, to->dtype, to->rank, to->shape, NULL } },
    };
    arras_program *program;
    arras_status   status = compile_copy(&program, from, err);

    if (status != ARRAS_OK)
        return status;
    status = arras_launch(NULL, program, 2, bindings, err);
    arras_program_free(program);
    return status;
}

bool cmd_array_from_fortran(cmd_array *a, const char *name, cmd_error *err)
{
    int64_t     strides[ARRAS_MAX_RANK];
    cmd_array   c;
    arras_error why;

    cmd_array_steps(strides, a);
    if (!cmd_array_new(&c, a->dtype, a->rank, a->shape))
        return cmd_fail(err, "%s: no memory for a copy in C order", name);
    if (copy_strided(&c, a, strides, &why) != ARRAS_OK) {
        cmd_array_free(&c);
        return cmd_fail(err, "%s: %s", name, why.text);
    }
    cmd_array_free(a);
    *a = c;
    return true;
}
