/* test_plan_memory.c -- temporaries share memory, tasks run in any order that their edges allow: no
 * such order may let one array overwrite another that is still needed.  Proved for random programs
 * from the task graph itself; and measured: how much memory that takes. */
#include "launch_kit.h"

#include "run/program.h"

enum { PROGRAMS = 20, NODES = 45, MOST_TASKS = 200, LENGTHS = 5 };

static uint64_t state;

static int pick(int n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int)(state >> 33) % n;
}

/* ---- Random programs: every operation is a step of its own ----------------------------------- */

static const int64_t lengths[LENGTHS] = { 16, 100, 1000, 4000, 4001 };
static arras_array   nodes[NODES];
static int           lengths_of[NODES]; /* place in `lengths` */
static int           nnodes;

/* A recent array of this length; NULL: there is none. */
static arras_array some(int length)
{
    for (int tries = 0; tries < 20; tries++) {
        int i = nnodes - 1 - pick(nnodes < 12 ? nnodes : 12); /* mostly new ones */

        if (lengths_of[i] == length)
            return nodes[i];
    }
    return NULL;
}

static arras_array reversed(arras_array x)
{
    return arras_index(x, 1, (arras_item[]){ arras_slice(ARRAS_NONE, ARRAS_NONE, -1) });
}

static arras_array rolled(arras_array x)
{
    return arras_roll(x, 1, (int64_t[]){ 1 + pick(5) }, (int[]){ 0 });
}

/* x[i * n / m]: another length. */
static arras_array stretched(arras_array x, int64_t n, int64_t m)
{
    arras_expr i = arras_expr_index(g, 0), at;

    at = arras_expr_apply(arras_op_find("multiply"), 2, (arras_expr[]){ i, arras_expr_int(g, n) });
    at = arras_expr_apply(arras_op_find("floor_divide"), 2,
                          (arras_expr[]){ at, arras_expr_int(g, m) });
    return arras_lambda(g, 1, &m, arras_expr_load(x, 1, &at, NULL));
}

static arras_array random_node(int length)
{
    arras_array x = some(length), y = some(length);
    int         other = pick(LENGTHS);

    if (!x || !y || pick(6) == 0) {
        x = some(other);
        return x ? stretched(x, lengths[other], lengths[length]) : NULL;
    }
    switch (pick(5)) {
    case 0: return reversed(x);
    case 1: return rolled(x);
    case 2: return arras_subtract(x, arras_mean(x, 0, NULL, true));
    case 3: return arras_maximum(reversed(x), y);
    default: return arras_add(arras_multiply(x, arras_float(g, .5)), y);
    }
}

static void record(uint64_t seed)
{
    char name[16];

    state = seed * 0x9E3779B97F4A7C15U + 1;
    nnodes = 1;
    lengths_of[0] = 2;
    nodes[0] = input("x", lengths[2]);
    for (int tries = 0; nnodes < NODES && tries < 1000; tries++) {
        int         length = pick(LENGTHS);
        arras_array x = random_node(length);

        if (x) {
            nodes[nnodes] = x;
            lengths_of[nnodes++] = length;
        }
    }
    for (int i = 1; i <= 3; i++) {
        snprintf(name, sizeof name, "out%d", i);
        arras_output(g, name, nodes[nnodes - i]);
    }
}

/* ---- Who comes before whom ------------------------------------------------------------------- */

static bool before[MOST_TASKS][MOST_TASKS];

static void find_paths(const ar_taskgraph *tasks)
{
    int n = ar_taskgraph_count(tasks), a, b;

    memset(before, 0, sizeof before);
    for (int e = 0; e < ar_taskgraph_edges(tasks); e++) {
        ar_taskgraph_edge(&a, &b, tasks, e);
        before[a][b] = true;
    }
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n && before[i][k]; j++)
                before[i][j] = before[i][j] || before[k][j];
}

static int task_of(const arras_run *run, int step) { return run->steps[step].home; }

static bool reads(const ar_step *step, int array)
{
    for (int k = 0; k < step->ninputs; k++)
        if (step->inputs[k] == array)
            return true;
    return false;
}

/* A step may write over what it reads itself, cell by cell. */
static bool is_in_place(const arras_run *run, int from, int to)
{
    int            writer = run->core->plan.arrays[to].step;
    const ar_step *step = &run->core->plan.steps[writer];

    if (step->form.n > 1 || run->steps[writer].home != writer ||
        run->steps[writer].pass.nstages > 1)
        return false;
    for (int k = 0; k < step->ninputs; k++)
        if (step->inputs[k] == from && !step->same_cell[k])
            return false;
    return run->arrays[from].data == run->arrays[to].data;
}

/* All that touches `first` is over before the step that writes `second` starts. */
static bool is_over(const arras_run *run, int first, int second)
{
    const ar_plan *plan = &run->core->plan;
    int            writer = task_of(run, plan->arrays[second].step);

    for (int s = 0; s < plan->nsteps; s++) {
        bool uses = plan->arrays[first].step == s || reads(&plan->steps[s], first);
        int  task = task_of(run, s);

        if (!uses || before[task][writer])
            continue;
        if (task != writer || !is_in_place(run, first, second))
            return false;
    }
    return true;
}

/* ---- The proof ------------------------------------------------------------------------------- */

/* Computed in scratch memory of a tile, not in that of temporaries. */
static bool is_placed(const arras_run *run, int a)
{
    return run->core->plan.arrays[a].at == AR_AT_TEMPORARY && !run->in_band[a];
}

static int64_t bytes_of(const ar_tensor *t) { return t->count * (int64_t)ar_dtype_size(t->dtype); }

static bool overlap(const ar_tensor *a, const ar_tensor *b)
{
    return a->data < b->data + bytes_of(b) && b->data < a->data + bytes_of(a);
}

static void check_reads(const arras_run *run)
{
    const ar_plan *plan = &run->core->plan;

    for (int s = 0; s < plan->nsteps; s++)
        for (int k = 0; k < plan->steps[s].ninputs; k++) {
            int writer = plan->arrays[plan->steps[s].inputs[k]].step;

            if (writer >= 0 && !plan->steps[writer].constant)
                CHECK(task_of(run, writer) == task_of(run, s) ||
                      before[task_of(run, writer)][task_of(run, s)]);
        }
    for (int s = 0; s < plan->nsteps; s++)
        if (!plan->steps[s].constant)
            CHECK(before[task_of(run, s)][run->finish]);
}

static int check_sharing(const arras_run *run)
{
    const char *block = run->block;
    int         shared = 0;

    for (int a = 0; a < run->core->plan.narrays; a++) {
        if (!is_placed(run, a))
            continue;
        CHECK(run->arrays[a].data >= block &&
              run->arrays[a].data + bytes_of(&run->arrays[a]) <= block + run->memory.bytes);
        for (int b = 0; b < a; b++)
            if (is_placed(run, b) && overlap(&run->arrays[a], &run->arrays[b])) {
                CHECK(is_over(run, a, b) || is_over(run, b, a));
                shared++;
            }
    }
    return shared;
}

static int check_run(const arras_run *run)
{
    CHECK(ar_taskgraph_count(run->tasks) <= MOST_TASKS);
    find_paths(run->tasks);
    check_reads(run);
    return check_sharing(run);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static bool same_results(const arras_results *a, const arras_results *b)
{
    for (int i = 0; i < arras_results_count(a); i++) {
        const arras_buffer *x = &arras_results_at(a, i)->buffer,
                           *y = &arras_results_at(b, i)->buffer;
        size_t bytes = sizeof(double) * (size_t)x->shape[0];

        if (memcmp(x->data, y->data, bytes) != 0)
            return false;
    }
    return true;
}

static void launch_often(arras_program *p, double *x)
{
    arras_results *want = NULL;

    arras_evaluate(&want, g, BINDINGS(VEC("x", x, lengths[2])), NULL);
    for (int i = 0; i < 10; i++) {
        arras_results *r = NULL;

        launched(&r, p, BINDINGS(VEC("x", x, lengths[2])));
        CHECK(same_results(r, want));
        arras_results_free(r);
    }
    arras_results_free(want);
}

static void check_programs(const arras_options *options)
{
    double  x[1000], worst = 1;
    int64_t planned = 0, live = 0;
    int     shared = 0;

    count_up(x, 1000, -500);
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        arras_program *p;

        CASE("seed %d", (int)seed);
        start();
        record(seed);
        p = compiled(options);
        launch_often(p, x);
        shared += check_run(p->runs);
        planned += counters(p).planned;
        live += counters(p).live;
        if (counters(p).live)
            worst = fmax(worst, (double)counters(p).planned / (double)counters(p).live);
        finish(p);
    }
    printf("    planned %" PRId64 " bytes, live %" PRId64 ", worst ratio %.3f, %d pairs share\n",
           planned, live, worst, shared);
    CASE("memory");
    CHECK((double)planned <= 1.1 * (double)live);
    CHECK(worst <= 1.1);
    CHECK(shared > 0 || live == 0);
}

/* ---- Blocks alone ---------------------------------------------------------------------------- */

enum { SETS = 400, MOST_BLOCKS = 120 };

/* As steps make them: most are read soon after they are made, some late. */
static int random_blocks(ar_block *blocks)
{
    int n = 2 + pick(MOST_BLOCKS - 2);

    for (int i = 0; i < n; i++)
        blocks[i] = (ar_block){ .bytes = lengths[pick(LENGTHS)] * (1 + pick(8)),
                                .first = i,
                                .last = i + 1 + (pick(5) ? pick(3) : pick(20)),
                                .in_place_successor = -1 };
    for (int i = 0; i < n; i++) {
        int in_place_successor = blocks[i].last;

        if (in_place_successor < n && pick(2) == 0) {
            blocks[i].in_place_successor = in_place_successor;
            blocks[in_place_successor].bytes = blocks[i].bytes;
        }
    }
    return n;
}

static bool may_meet(const ar_block *blocks, int a, int b)
{
    return blocks[a].last < blocks[b].first || blocks[b].last < blocks[a].first ||
           blocks[a].in_place_successor == b || blocks[b].in_place_successor == a;
}

static void blocks_alone(void)
{
    ar_block       blocks[MOST_BLOCKS];
    double         worst = 1, sum = 0;
    ar_memory_plan plan;

    state = 99;
    for (int set = 0; set < SETS; set++) {
        int n = random_blocks(blocks), wrong = 0;

        CHECK_EQ_INT(ar_memory_place(&plan, n, blocks, NULL), ARRAS_OK);
        for (int a = 0; a < n; a++) {
            wrong += blocks[a].offset < 0 || blocks[a].offset % AR_BLOCK_ALIGN != 0 ||
                     blocks[a].offset + blocks[a].bytes > plan.bytes;
            for (int b = 0; b < a; b++)
                wrong += blocks[a].offset < blocks[b].offset + blocks[b].bytes &&
                         blocks[b].offset < blocks[a].offset + blocks[a].bytes &&
                         !may_meet(blocks, a, b);
        }
        CHECK_EQ_INT(wrong, 0);
        CHECK(plan.live <= plan.bytes && plan.bytes <= plan.sum);
        worst = fmax(worst, (double)plan.bytes / (double)plan.live);
        sum += (double)plan.bytes / (double)plan.live;
    }
    printf("    planned against live: mean %.3f, worst %.3f\n", sum / SETS, worst);
    CHECK(sum / SETS <= 1.02);
    CHECK(worst <= 1.2); /* of some sets no plan has only what is live */
    CHECK_EQ_INT(ar_memory_place(&plan, 0, NULL, NULL), ARRAS_OK);
    CHECK_EQ_INT(plan.bytes, 0);
}

static void not_fused(void) { check_programs(&(arras_options){ .threads = 3, .no_fusion = true }); }
static void fused(void) { check_programs(&(arras_options){ .threads = 3 }); }
static void small_tiles(void)
{
    check_programs(&(arras_options){ .threads = 3, .tile_bytes = 1000 });
}

TEST_MAIN
{
    RUN(blocks_alone);
    RUN(not_fused);
    RUN(fused);
    RUN(small_tiles);
}
