/* make_ops_header.c -- prints arras/ops.h: a number and a function for each row of the tables of
 * elementwise operations and reductions.  Part of the build; takes no arguments. */
#include <stdio.h>

static const char *const parameters[] = {
    [1] = "arras_array x",
    [2] = "arras_array x, arras_array y",
    [3] = "arras_array x, arras_array y, arras_array z",
};

static void print_op(const char *name, int arity, const char *help)
{
    printf("/* %s */\nARRAS_API arras_array arras_%s(%s);\n", help, name, parameters[arity]);
}

static void print_reduction(const char *name, const char *help)
{
    printf("/* %s */\nARRAS_API arras_array arras_%s(%s);\n", help, name,
           "arras_array x, int n, const int *axes, bool keepdims");
}

/* Numbers for arras_apply, arras_expr_apply, arras_reduce and arras_expr_reduce. */
static void print_enums(void)
{
    puts("\ntypedef enum {");
#define AR_OP(name, arity, rule, cost, b, i, r, c, help) puts("    ARRAS_OP_" #name ",");
#include "ir/ops.def"
#undef AR_OP
    puts("    ARRAS_OP_END\n} arras_op;\n\ntypedef enum {");
#define AR_REDUCTION(name, op, rule, identity, help) puts("    ARRAS_REDUCE_" #name ",");
#include "ir/reductions.def"
#undef AR_REDUCTION
    puts("    ARRAS_REDUCE_END\n} arras_reduction;");
}

static void print_declarations(void)
{
    puts("\n/* ---- Elementwise operations ---- */\n");
#define AR_OP(name, arity, rule, cost, b, i, r, c, help) print_op(#name, arity, help);
#include "ir/ops.def"
#undef AR_OP
    puts("\n/* ---- Reductions ---- */\n");
#define AR_REDUCTION(name, op, rule, identity, help) print_reduction(#name, help);
#include "ir/reductions.def"
#undef AR_REDUCTION
}

int main(void)
{
    puts("/* ops.h -- a number and a function for each elementwise operation and reduction.\n"
         " * Made from the tables in src/ir by tools/make_ops_header.c: do not edit. */\n"
         "#ifndef ARRAS_OPS_H\n"
         "#define ARRAS_OPS_H\n"
         "\n"
         "#ifndef ARRAS_ARRAS_H\n"
         "#error \"include <arras/arras.h>, which includes this\"\n"
         "#endif");
    print_enums();
    print_declarations();
    puts("\n#endif");
    return fflush(stdout) || ferror(stdout);
}
