/* test_verify.c -- graphs and plans that do not hold are found.  Each row spoils one thing. */
#include "one_lambda.h"
#include "plan/plan.h"

/* What is immutable to everybody else. */
#define SPOIL(type, pointer) ((type *)(uintptr_t)(pointer))

static arras_graph *normal;

static struct arras_node *output_node(void)
{
    return SPOIL(struct arras_node, ar_graph_output(normal, 0)->array);
}

static struct arras_expr_node *cell(void)
{
    return SPOIL(struct arras_expr_node, output_node()->ref);
}

static struct arras_expr_node *part(int i)
{
    return SPOIL(struct arras_expr_node, cell()->args[i]);
}

static void spoil_number(const int64_t *number, int64_t value) { *SPOIL(int64_t, number) = value; }

/* The cell is add(sum[k: 0, n](_0[i0, k]), 1.5): a sum, of which part 2 is a load. */
static struct arras_expr_node *load(void)
{
    return SPOIL(struct arras_expr_node, part(0)->args[2]);
}

static void wrong_kind(void) { output_node()->kind = AR_CAST; }
static void wrong_order(void) { output_node()->id = 0; }
static void wrong_type(void) { output_node()->type.dtype = ARRAS_I8; }
static void wrong_shape(void) { spoil_number(output_node()->shape, -3); }
static void wrong_rank(void) { output_node()->rank = 0; }
static void other_operand(void) { SPOIL(struct arras_node, output_node()->inputs[0])->id = 99; }
static void wrong_op(void) { spoil_number(cell()->ints, AR_OP_END); }
static void other_op(void) { spoil_number(cell()->ints, AR_OP_less); }
static void wrong_arity(void) { spoil_number(cell()->ints, AR_OP_sin); }
static void typed_literal(void) { part(1)->type.weak = false; }
static void wrong_binding(void) { spoil_number(load()->ints, 1); }
static void wrong_edge(void) { spoil_number(load()->ints + 1, ARRAS_EDGE_END); }
static void missing_fill(void) { spoil_number(load()->ints + 1, ARRAS_EDGE_CONSTANT); }
static void wrong_load_type(void)
{
    SPOIL(struct arras_node, output_node()->inputs[0])->type.dtype = ARRAS_F32;
}
static void real_index(void)
{
    SPOIL(struct arras_expr_node, load()->args[0])->type.dtype = ARRAS_F64;
}
static void free_variable(void)
{
    part(0)->name = "other";
    cell()->nfree = 1;
    cell()->free = &part(0)->name;
}
static void wrong_measures(void) { cell()->uses = 0; }
static void later_part(void) { load()->id = cell()->id + 1; }
static void wrong_reduction(void) { spoil_number(part(0)->ints, AR_REDUCTION_END); }
static void other_reduction(void) { spoil_number(part(0)->ints, AR_REDUCE_argmax); }
static void poison(void) { part(1)->kind = AR_EXPR_POISON; }

static const struct {
    const char *name;
    void (*spoil)(void);
    const char *message;
} spoilt[] = {
    { "kind", wrong_kind, "a cast has no place in a normal form" },
    { "order", wrong_order, "has the number 0" },
    { "type", wrong_type, "its cells are f64" },
    { "shape", wrong_shape, "the length of axis 0 is no size" },
    { "rank", wrong_rank, "its cells use the index of axis 0" },
    { "operand", other_operand, "has the number 99" },
    { "op", wrong_op, "operation " },
    { "other op", other_op, "less has the type f64, which its operands do not give" },
    { "arity", wrong_arity, "of 2 operands" },
    { "literal", typed_literal, "a literal has a type of its own" },
    { "binding", wrong_binding, "a load is bound to array 1 of 1" },
    { "edge", wrong_edge, "a load has edge rule " },
    { "fill", missing_fill, "a load of 2 axes, 1 of them with fills, has 2 parts" },
    { "load type", wrong_load_type, "type f64 of an array of rank 2 and type f32" },
    { "index", real_index, "index 0 of a load is f64" },
    { "variable", free_variable, "the variable other is bound by no reduction" },
    { "measures", wrong_measures, "is measured wrongly" },
    { "part", later_part, "has the part" },
    { "reduction", wrong_reduction, "of 3 parts" },
    { "other reduction", other_reduction, "argmax over k has the type f64" },
    { "poison", poison, "poison in its cells" },
};

static bool begin(void)
{
    return read_lambda("size n; size m; input x : f64[n, m]", "x",
                       "add(sum[k: 0, size(m)](_0[i0, k]), 1.5)", "f64[n]") &&
           CHECK_EQ_INT(ar_normalise(&normal, program, NULL), ARRAS_OK);
}

static void end(void)
{
    ar_graph_free(normal);
    ar_graph_free(program);
    normal = program = NULL;
}

static void graphs_hold(void)
{
    if (begin())
        CHECK_EQ_INT(ar_graph_verify(normal, true, NULL), ARRAS_OK);
    end();
}

static void spoilt_graphs_are_found(void)
{
    for (size_t i = 0; i < AR_COUNT(spoilt); i++) {
        arras_error err = { ARRAS_OK, "" };

        CASE("%s", spoilt[i].name);
        if (begin()) {
            spoilt[i].spoil();
            CHECK_EQ_INT(ar_graph_verify(normal, true, &err), ARRAS_EINVAL);
            CHECK_HAS(err.text, spoilt[i].message);
        }
        end();
    }
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static ar_plan plan;

static void no_step(void) { plan.arrays[plan.steps[0].results[0]].step = -1; }
static void other_step(void) { plan.arrays[plan.steps[0].results[0]].step = 1; }
static void swapped_steps(void)
{
    ar_step first = plan.steps[0];

    plan.steps[0] = plan.steps[1];
    plan.steps[1] = first;
    plan.steps[0].code = 0, plan.steps[1].code = 1;
}
static void runs_once(void) { plan.steps[0].constant = true; }
static void wrong_code(void) { plan.steps[1].code = 7; }
static void lost_output(void) { plan.arrays[plan.steps[1].results[0]].at = AR_AT_TEMPORARY; }

static const struct {
    const char *name;
    void (*spoil)(void);
    const char *message;
} spoilt_plans[] = {
    { "no step", no_step, "by no step is made array" },
    { "other step", other_step, "another step makes array" },
    { "order", swapped_steps, "another step makes array" },
    { "once", runs_once, "runs as often as is not said" },
    { "code", wrong_code, "codes are numbered as they are met, not 7" },
    { "output", lost_output, "outputs that lie somewhere: 1" },
};

/* y is read at other cells: two steps. */
static arras_status make_plan(arras_graph **g)
{
    static const char text[] = "arras 1\n"
                               "size n\n"
                               "input x : f64[n]\n"
                               "%0 = lambda(x) { sin(_0[i0]) } : f64[n]\n"
                               "%1 = lambda(%0) { add(_0[add(i0, 1) wrap], _0[i0]) } : f64[n]\n"
                               "output y = %0\n"
                               "output z = %1\n";
    arras_status      status = ar_read(&program, text, sizeof text - 1, NULL);

    if (status == ARRAS_OK)
        status = ar_optimise(g, program, NULL, NULL, NULL);
    return status == ARRAS_OK
               ? ar_plan_make(&plan, *g, &(ar_plan_options){ .machine = ar_machine_host() }, NULL)
               : status;
}

static void spoilt_plans_are_found(void)
{
    for (size_t i = 0; i < AR_COUNT(spoilt_plans); i++) {
        arras_error  err = { ARRAS_OK, "" };
        arras_graph *g = NULL;

        CASE("%s", spoilt_plans[i].name);
        if (CHECK_EQ_INT(make_plan(&g), ARRAS_OK) && CHECK_EQ_INT(plan.nsteps, 2)) {
            CHECK_EQ_INT(ar_plan_verify(&plan, NULL), ARRAS_OK);
            spoilt_plans[i].spoil();
            CHECK_EQ_INT(ar_plan_verify(&plan, &err), ARRAS_EINVAL);
            CHECK_HAS(err.text, spoilt_plans[i].message);
        }
        ar_plan_free(&plan);
        ar_graph_free(g);
        ar_graph_free(program);
        program = NULL;
    }
}

TEST_MAIN
{
    RUN(graphs_hold);
    RUN(spoilt_graphs_are_found);
    RUN(spoilt_plans_are_found);
}
