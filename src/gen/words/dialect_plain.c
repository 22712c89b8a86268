/* dialect_plain.c -- items in plain C: a function with a loop over items, in which complex numbers
 * are pairs as they are on devices. */
#include "gen/kit/kit.h"
#include "gen/words/dialect.h"

/* As dev_cpu.c calls kernels. */
static void open_items(ar_text *out, const char *name, int nresults, int noperands)
{
    ar_text_printf(out, "void %s(void *const *args, int64_t first, int64_t last)\n{\n", name);
    for (int k = 0; k < noperands; k++)
        ar_text_printf(out, "%schar *const a%d = args[%d];\n", k < nresults ? "" : "const ", k, k);
    ar_text_printf(out,
                   "const int64_t *const numbers = args[%d];\nint32_t *const flag = args[%d];\n"
                   "for (int64_t item = first; item < last && item < numbers[0]; item++) {\n",
                   noperands, noperands + 1);
}

const ar_dialect ar_dialect_plain = {
    .name = "plain C",
    .heads = { ar_c_definitions, ar_kit_plain },
    .words = { AR_WORDS_OF_NUMBERS("f", ""), [ARRAS_C64] = { "c64", "c64", "f" },
               [ARRAS_C128] = { "c128", "c128", "" } },
    .global = "",
    .nan = "__builtin_nan(\"\")",
    .infinity = "__builtin_inf()",
    .complex = { "(c128){ ", ", ", " }" },
    .l = "ll",
    .ul = "ull",
    .complex_kit = "PLAIN_PAIR_KIT",
    .pairs = true,
    .complex_functions = true,
    .casts_both_ways = "#pragma GCC optimize (\"trapping-math\")\n",
    .print_op = ar_c_op_print,
    .open_items = open_items,
    .close_items = "}\n}\n",
};
