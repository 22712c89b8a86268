/* kit.c -- the texts that stand before kernels, as bytes (cmake/library.cmake). */
#include "gen/kit/kit.h"

const char ar_kit_scalar[] = {
#include "scalar_kit_bytes.inc"
    0
};

const char ar_kit_trees[] = {
#include "trees_bytes.inc"
    0
};

const char ar_kit_folds[] = {
#include "fold_kit_bytes.inc"
    0
};

const char ar_kit_vector[] = {
#include "vector_kit_bytes.inc"
    0
};

const char ar_kit_kernel[] = {
#include "kernel_kit_bytes.inc"
    0
};

const char ar_kit_edges[] = {
#include "edge_kit_bytes.inc"
    0
};

const char ar_kit_stream[] = {
#include "stream_kit_bytes.inc"
    0
};

const char ar_kit_pairs[] = {
#include "pair_kit_bytes.inc"
    0
};

const char ar_kit_items[] = {
#include "item_kit_bytes.inc"
    0
};

const char ar_kit_plain[] = {
#include "plain_kit_bytes.inc"
    0
};

const char ar_kit_opencl[] = {
#include "opencl_kit_bytes.inc"
    0
};
