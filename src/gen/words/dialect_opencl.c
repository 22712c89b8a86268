/* dialect_opencl.c -- OpenCL C 1.2, a work item for each item.  It has no complex numbers, and of
 * functions of those only what is made of arithmetic and a few real functions. */
#include "gen/kit/kit.h"
#include "gen/words/dialect.h"

static void open_items(ar_text *out, const char *name, int nresults, int noperands)
{
    ar_text_printf(out, "__kernel void %s(", name);
    for (int k = 0; k < noperands; k++)
        ar_text_printf(out, "__global %schar *a%d, ", k < nresults ? "" : "const ", k);
    ar_text_add(out, "__global const int64_t *numbers, __global int32_t *flag)\n{\n"
                     "const int64_t item = get_global_id(0);\n"
                     "if (item < numbers[0]) {\n");
}

const ar_dialect ar_dialect_opencl = {
    .name = "OpenCL C",
    .heads = { ar_kit_opencl },
    .words = { AR_WORDS_OF_NUMBERS("f", "d"), [ARRAS_C64] = { "c64", "c64", "f" },
               [ARRAS_C128] = { "c128", "c128", "d" } },
    .global = "__global ",
    .nan = "(double)NAN",
    .infinity = "(double)INFINITY",
    .complex = { "(c128){ ", ", ", " }" },
    .l = "l",
    .ul = "ul",
    .complex_kit = "PAIR_KIT",
    .pairs = true,
    .open_items = open_items,
    .close_items = "}\n}\n",
};
