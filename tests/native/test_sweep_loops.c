/* test_sweep_loops.c -- sweeps until they converge, what ends them early, what is refused; programs
 * that run again and again. */
#include <arras/sweep.h>
#include <math.h>
#include <pthread.h>

#include "native/native.h"
#include "store_world.h"

enum { SIDE = 40 };

static const int64_t         shape[] = { SIDE, SIDE };
static const int64_t         one[] = { 1, 1 };
static const arras_edge_rule outside_is_fill[] = { ARRAS_EDGE_CONSTANT, ARRAS_EDGE_CONSTANT };
static double                state[SIDE][SIDE];

/* ---- A relaxation: every cell becomes the mean of its neighbours ----------------------------- */

static void relax(const arras_cell *c, void *value)
{
    *(double *)value = (arras_f64_at2(c, 0, -1, 0) + arras_f64_at2(c, 0, 1, 0) +
                        arras_f64_at2(c, 0, 0, -1) + arras_f64_at2(c, 0, 0, 1)) /
                       4;
}

static void reset(double (*cells)[SIDE])
{
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            cells[i][j] = i == 0 ? 100 : 0;
}

static double plain_sweep(double (*cells)[SIDE])
{
    double largest = 0;

    for (int i = 1; i < SIDE - 1; i++)
        for (int j = 1; j < SIDE - 1; j++) {
            double old = cells[i][j];

            cells[i][j] =
                (cells[i - 1][j] + cells[i + 1][j] + cells[i][j - 1] + cells[i][j + 1]) / 4;
            largest = fmax(largest, fabs(cells[i][j] - old));
        }
    return largest;
}

static arras_sweep_request relaxation(void)
{
    return (arras_sweep_request){ .cell = relax,
                                  .before = one,
                                  .after = one,
                                  .start = { .buffer = { state, ARRAS_F64, 2, shape, NULL } },
                                  .threads = 2 };
}

/* Without a rule the border stays as it is. */
static void converges(void)
{
    static double       expected[SIDE][SIDE];
    arras_sweep_request r = relaxation();
    arras_sweep_report  report;
    int64_t             sweeps = 1;
    double              largest;

    reset(expected);
    reset(state);
    while ((largest = plain_sweep(expected)) > 1e-3)
        sweeps++;
    r.tolerance = 1e-3;
    CHECK_EQ_INT(arras_sweep(&report, &r, &err), ARRAS_OK);
    CHECK_EQ_INT(report.sweeps, sweeps);
    CHECK(report.converged && sweeps > 10);
    CHECK_EQ_REAL(report.largest, largest);
    CHECK(memcmp(state, expected, sizeof state) == 0);
}

static double quarter(const void *before, const void *after, void *context)
{
    (void)context;
    return fabs(*(const double *)after - *(const double *)before) / 4;
}

static bool at_most_three(const arras_sweep_report *so_far, void *context)
{
    (void)context;
    return so_far->sweeps < 3;
}

static void ends_as_asked(void)
{
    arras_sweep_request r = relaxation();
    arras_sweep_report  report, other;

    r.tolerance = 1e-3;
    reset(state);
    CHECK_EQ_INT(arras_sweep(&report, &r, &err), ARRAS_OK);
    r.tolerance = 2.5e-4; /* of a quarter of the change */
    r.change = quarter;
    reset(state);
    CHECK_EQ_INT(arras_sweep(&other, &r, &err), ARRAS_OK);
    CHECK_EQ_INT(other.sweeps, report.sweeps);
    r.watch = at_most_three;
    reset(state);
    CHECK_EQ_INT(arras_sweep(&report, &r, &err), ARRAS_OK);
    CHECK(report.sweeps == 3 && !report.converged);
    r.watch = NULL;
    r.most = 5;
    reset(state);
    CHECK_EQ_INT(arras_sweep(&report, &r, &err), ARRAS_OK);
    CHECK(report.sweeps == 5 && !report.converged && report.changed > report.changes);
}

static void stay(const arras_cell *c, void *value) { (void)c, (void)value; }

static void nothing_changes(void)
{
    arras_sweep_request r = relaxation();
    arras_sweep_report  report;

    r.cell = stay;
    r.before = r.after = NULL; /* no reach at all */
    CHECK_EQ_INT(arras_sweep(&report, &r, &err), ARRAS_OK);
    CHECK(report.sweeps == 1 && report.converged && report.changes == 0);
}

/* ---- Ends that come from outside ------------------------------------------------------------- */

static void count_up(const arras_cell *c, void *value)
{
    (void)c;
    *(double *)value += 1;
}

static void *cancel_soon(void *sweeping)
{
    while (arras_sweep_progress(sweeping) <= 0)
        usleep(100);
    arras_sweep_cancel(sweeping);
    return NULL;
}

static void is_cancelled(void)
{
    arras_sweep_request r = relaxation();
    arras_sweeping     *s;
    pthread_t           thread;

    r.cell = count_up; /* never converges */
    CHECK_EQ_INT(arras_sweep_open(&s, &r, &err), ARRAS_OK);
    CHECK_EQ_INT(pthread_create(&thread, NULL, cancel_soon, s), 0);
    CHECK_EQ_INT(arras_sweep_run(NULL, s, &err), ARRAS_ECANCEL);
    pthread_join(thread, NULL);
    CHECK_EQ_INT(arras_sweep_run(NULL, s, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "has run already");
    arras_sweep_close(s);
}

static void look_far(const arras_cell *c, void *value)
{
    *(double *)value = arras_f64_at2(c, 0, -1, 2);
}

static void complain(const arras_cell *c, void *value)
{
    (void)value;
    if (c->index[0] == 7 && c->index[1] == 9)
        arras_cell_fail(c, "seven and nine");
}

static void functions_fail(void)
{
    arras_sweep_request r = relaxation();

    r.cell = look_far;
    CHECK_EQ_INT(arras_sweep(NULL, &r, &err), ARRAS_EINDEX);
    CHECK_HAS(err.text, "array 0 at the offset [-1, 2]");
    CHECK_HAS(err.text, "[1, 1] after");
    r.cell = complain;
    CHECK_EQ_INT(arras_sweep(NULL, &r, &err), ARRAS_EINVAL);
    CHECK_STR(err.text, "sweep: cell [7, 9]: seven and nine");
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void refuses(arras_sweep_request r, arras_status code, const char *part)
{
    test_row("%s", part);
    CHECK_EQ_INT(arras_sweep(NULL, &r, &err), code);
    CHECK_HAS(err.text, part);
}

static void is_refused(void)
{
    static const int64_t         less[] = { 1, -1 }, other[] = { SIDE, SIDE - 1 };
    static const int64_t         gaps[] = { 16, 16 }, same[] = { 0, 8 }, huge[] = { 2000, 2000 };
    static const arras_edge_rule wrap[] = { ARRAS_EDGE_NONE, ARRAS_EDGE_WRAP };
    const arras_sweep_request    good = relaxation();
    arras_sweep_request          r = good;
    arras_sweep_array            companion = good.start;

    r.cell = NULL;
    refuses(r, ARRAS_EINVAL, "give one function");
    r = good, r.before = less;
    refuses(r, ARRAS_EINVAL, "along axis 1 the reach is -1 before and 1 after");
    r = good, r.before = r.after = huge;
    refuses(r, ARRAS_ELIMIT, "in reach of one");
    r = good, r.edges = wrap;
    refuses(r, ARRAS_EINVAL, "axis 1 cannot wrap");
    r = good, r.start.buffer.data = NULL;
    refuses(r, ARRAS_EINVAL, "there is no state");
    r = good, r.start.buffer.rank = 0;
    refuses(r, ARRAS_EINVAL, "rank 0");
    r = good, r.start.buffer.strides = gaps;
    refuses(r, ARRAS_EINVAL, "16 bytes apart along the last axis and must be 8");
    r = good, r.start.buffer.strides = same;
    refuses(r, ARRAS_EINVAL, "share memory");
    r = good, r.ncompanions = 1, r.companions = &companion;
    refuses(r, ARRAS_EINVAL, "companion 1 lies in the memory of the state");
    companion.buffer.shape = other;
    refuses(r, ARRAS_ESHAPE, "the state is f64[40, 40], and companion 1 is f64[40, 39]");
    companion.buffer.data = NULL;
    refuses(r, ARRAS_EINVAL, "companion 1 has neither data nor a source");
    r = good, r.state = r.start.buffer, r.state.dtype = ARRAS_I64;
    refuses(r, ARRAS_EDTYPE, "its start is f64[40, 40]");
    r = good, r.tolerance = NAN;
    refuses(r, ARRAS_EINVAL, "the tolerance is nan");
    r = good, r.most = -1;
    refuses(r, ARRAS_EINVAL, "at most -1 sweeps");
    r = good, r.order = (arras_sweep_order)7;
    refuses(r, ARRAS_EINVAL, "no order number 7");
    CHECK_EQ_INT(arras_sweep(NULL, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_sweep_run(NULL, NULL, &err), ARRAS_EINVAL);
}

static void refuses_sinks_and_budgets(void)
{
    arras_sweep_request  r = relaxation();
    static const int64_t other[] = { SIDE, 3 };

    world_begin();
    CHECK_EQ_INT(arras_sink_create(&r.sink, at("a.npy"), NULL, ARRAS_F64, 2, other, NULL, &err),
                 ARRAS_OK);
    refuses(r, ARRAS_ESHAPE, "the state is f64[40, 3], and its start is f64[40, 40]");
    arras_sink_abandon(r.sink);
    CHECK_EQ_INT(arras_sink_create(&r.sink, at("b.npy"), NULL, ARRAS_F64, 2, shape, NULL, &err),
                 ARRAS_OK);
    r.memory = 900; /* three rows of 320 bytes are needed */
    refuses(r, ARRAS_ELIMIT, "900 bytes of memory are not enough");
    CHECK_HAS(err.text, "need 960");
    setenv("TMPDIR", "/nowhere", 1);
    r.memory = 3000;
    refuses(r, ARRAS_EIO, "/nowhere/arras-sweep-");
    unsetenv("TMPDIR");
    arras_sink_abandon(r.sink);
    CHECK_EQ_INT(count_entries(), 0);
    world_end();
}

/* ---- Memory that runs out -------------------------------------------------------------------- */

/* The n-th allocation fails; nothing is lost. */
static arras_status run_short_of(arras_sweep_request *r, int64_t n)
{
    int64_t      live = ar_alloc_live();
    arras_status status;

    ar_alloc_fail_from(n);
    status = arras_sweep(NULL, r, &err);
    ar_alloc_fail_from(0);
    CHECK_EQ_INT(ar_alloc_live(), live);
    return status;
}

static void memory_runs_out(void)
{
    arras_sweep_request r = relaxation();
    arras_status        status = ARRAS_ENOMEM;
    int64_t             n = 0;

    r.edges = outside_is_fill;
    r.most = 2;
    r.threads = 1;
    CHECK_EQ_INT(arras_sweep(NULL, &r, &err), ARRAS_OK); /* what is shared is there now */
    while (status == ARRAS_ENOMEM && n < 1000)
        status = run_short_of(&r, ++n);
    CHECK_EQ_INT(status, ARRAS_OK);
    CHECK(n > 4);
}

static void memory_runs_out_with_files(void)
{
    arras_sweep_request r = relaxation();
    arras_status        status = ARRAS_ENOMEM;
    int64_t             n = 0;

    world_begin();
    r.most = 2;
    r.threads = 1;
    r.memory = 4000;
    while (status == ARRAS_ENOMEM && n < 1000) {
        CHECK_EQ_INT(arras_sink_create(&r.sink, at("a.npy"), NULL, ARRAS_F64, 2, shape, NULL, &err),
                     ARRAS_OK);
        status = run_short_of(&r, ++n);
        arras_sink_abandon(r.sink);
    }
    CHECK_EQ_INT(status, ARRAS_OK);
    CHECK(n > 8);
    CHECK_EQ_INT(count_entries(), 0);
    world_end();
}

TEST_MAIN
{
    RUN(converges);
    RUN(ends_as_asked);
    RUN(nothing_changes);
    RUN(is_cancelled);
    RUN(functions_fail);
    RUN(is_refused);
    RUN(refuses_sinks_and_budgets);
    RUN(memory_runs_out);
    RUN(memory_runs_out_with_files);
}
