/* chunk_report.c -- the advice of `arras chunk` for people. */
#include "cmd/chunk/chunk_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cmd/io/quantity.h"

enum { SHAPE_ROOM = 24 * ARRAS_MAX_RANK, MOST_QUERIES = 12 };

static const char *shape_text(char out[SHAPE_ROOM], int rank, const int64_t *shape,
                              const char *between)
{
    size_t n = 0;

    out[0] = '\0';
    for (int i = 0; i < rank; i++)
        n += (size_t)snprintf(out + n, SHAPE_ROOM - n, "%s%" PRId64, i ? between : "", shape[i]);
    return out;
}

/* 193, 9.97, 1.6e+08 */
static const char *count_text(char out[32], double count)
{
    if (count >= 1e9)
        snprintf(out, 32, "%.3g", count);
    else
        snprintf(out, 32, "%.*f", count >= 100 ? 0 : count >= 10 ? 1 : 2, count);
    return out;
}

static const char *bytes_text(char out[CMD_QUANTITY_ROOM], double bytes)
{
    return cmd_quantity_bytes(out, bytes < 9e18 ? (int64_t)bytes : INT64_MAX);
}

/* ---- The table ------------------------------------------------------------------------------- */

static int widest_shape(const cmd_chunk_request *r, const cmd_chunk_result *result)
{
    char text[SHAPE_ROOM];
    int  widest = 5;

    for (int i = 0; i < result->count; i++) {
        int n = (int)strlen(shape_text(text, r->options.rank, result->candidates[i].chunk, " x "));

        widest = n > widest ? n : widest;
    }
    return widest;
}

static void print_row(const cmd_chunk_candidate *c, const cmd_chunk_request *r, int width,
                      double best)
{
    char shape[SHAPE_ROOM], size[CMD_QUANTITY_ROOM], read[CMD_QUANTITY_ROOM], count[32], times[32];
    char time[CMD_QUANTITY_ROOM];
    bool timed = r->options.bandwidth > 0;

    printf("%-12s %-*s  %9s  %12s  %10s", c->name, width,
           shape_text(shape, r->options.rank, c->chunk, " x "), bytes_text(size, (double)c->bytes),
           count_text(count, c->costs.chunks),
           bytes_text(read, c->costs.chunks * (double)c->bytes));
    if (timed)
        printf("  %10s", cmd_quantity_time(time, (int64_t)fmin(9e18, c->costs.seconds * 1e9)));
    printf("  %9s", count_text(times, (timed ? c->costs.seconds : c->costs.chunks) / best));
    if (c->least > 0)
        printf("  %14s", count_text(times, c->costs.chunks / c->least));
    putchar('\n');
}

static bool is_same(const cmd_chunk_candidate *a, const cmd_chunk_candidate *b, int rank)
{
    return memcmp(a->chunk, b->chunk, (size_t)rank * sizeof *a->chunk) == 0;
}

static void print_table(const cmd_chunk_request *r, const cmd_chunk_result *result)
{
    const cmd_chunk_candidate *advised = &result->candidates[0];
    int                        width = widest_shape(r, result);
    bool                       timed = r->options.bandwidth > 0;

    printf("\n%-12s %-*s  %9s  %12s  %10s%s  %9s%s\n", "", width, "chunk", "size", "chunks/query",
           "read/query", timed ? "  time/query" : "", timed ? "x time" : "x chunks",
           r->compare ? "  x best so large" : "");
    for (int i = 0; i < result->count; i++)
        if (i != 1 || !is_same(&result->candidates[1], advised, r->options.rank))
            print_row(&result->candidates[i], r, width,
                      timed ? advised->costs.seconds : advised->costs.chunks);
}

/* ---- By query -------------------------------------------------------------------------------- */

static void print_query(const cmd_chunk_request *r, const cmd_chunk_candidate *advised, int64_t i)
{
    int64_t           shape[ARRAS_MAX_RANK], weight, total;
    arras_chunk_costs costs;
    char   text[SHAPE_ROOM], count[32], read[CMD_QUANTITY_ROOM], asked[CMD_QUANTITY_ROOM];
    double cells = 1;

    arras_workload_shape(r->workload, i, shape, &weight, &total);
    if (arras_chunk_cost_of(&costs, NULL, r->workload, i, &r->options, advised->chunk, NULL) !=
        ARRAS_OK)
        return;
    for (int d = 0; d < r->options.rank; d++)
        cells *= (double)shape[d];
    printf("  %-28s  %5.1f %%  %12s chunks, %9s read for %s\n",
           shape_text(text, r->options.rank, shape, " x "), 100 * (double)weight / (double)total,
           count_text(count, costs.chunks), bytes_text(read, costs.chunks * (double)advised->bytes),
           bytes_text(asked, cells * (double)r->options.cell_bytes));
}

static void print_queries(const cmd_chunk_request *r, const cmd_chunk_result *result)
{
    int64_t count = arras_workload_count(r->workload);

    if (count == 0)
        return;
    puts("\nBy query, with the advised shape:");
    for (int64_t i = 0; i < count && i < MOST_QUERIES; i++)
        print_query(r, &result->candidates[0], i);
    if (count > MOST_QUERIES)
        printf("  and %" PRId64 " more shapes (--json has all)\n", count - MOST_QUERIES);
}

/* ---- How sure it is -------------------------------------------------------------------------- */

static void print_certainty(const cmd_chunk_request *r, const cmd_chunk_result *result)
{
    const arras_chunk_advice  *a = &result->advice;
    const cmd_chunk_candidate *least = &result->candidates[1];
    char                       count[32];

    putchar('\n');
    if (r->options.bandwidth > 0)
        printf("No size and shape takes less than %.3g times this time (proven).\n",
               1 / (1 + a->gap));
    else if (!a->proven)
        printf("The search was stopped: the least possible cost is at most %.3g %% lower.\n",
               100 * (1 - 1 / (1 + a->gap)));
    else if (is_same(least, &result->candidates[0], r->options.rank))
        puts("No shape within the limit costs less (proven).");
    else
        printf("No shape within the limit costs less than %s (proven); the advised one costs %.2g "
               "%% more and\nis better for the query that reads most chunks (--within 0 takes the "
               "least).\n",
               count_text(count, least->costs.chunks), 100 * a->gap);
}

static void print_log(const cmd_chunk_request *r, const cmd_chunk_result *result)
{
    int64_t queries = arras_workload_queries(r->workload), chunks;
    double  error;
    char    count[32];

    if (queries == 0 || arras_chunk_trace(&chunks, &error, r->workload, result->candidates[0].chunk,
                                          NULL) != ARRAS_OK)
        return;
    printf("The %" PRId64 " logged queries would read %" PRId64 " chunks, %s each; from so many "
           "queries a mean is known\nto about %.2g %%.\n",
           queries, chunks, count_text(count, (double)chunks / (double)queries),
           100 * error * (double)queries / (double)chunks);
}

/* ---- Other models ---------------------------------------------------------------------------- */

static void print_models(const cmd_chunk_request *r, const cmd_chunk_result *result)
{
    static const char *const names[] = { "exact", "paper", "ss" };

    printf("\n%-12s %12s  %12s  %12s\n", "chunks/query", names[0], names[1], names[2]);
    for (int i = 0; i < result->count; i++) {
        printf("%-12s", result->candidates[i].name);
        for (int m = 0; m < ARRAS_CHUNKS_END; m++) {
            arras_chunk_options o = r->options;
            arras_chunk_costs   costs = { 0 };
            char                count[32];

            o.model = (arras_chunk_model)m;
            arras_chunk_cost(&costs, NULL, r->workload, &o, result->candidates[i].chunk, NULL);
            printf("%s%12s", m ? "  " : " ", count_text(count, costs.chunks));
        }
        putchar('\n');
    }
}

void cmd_chunk_print(const cmd_chunk_request *r, const cmd_chunk_result *result)
{
    char   text[SHAPE_ROOM], size[CMD_QUANTITY_ROOM];
    double bytes = (double)r->options.cell_bytes;

    for (int i = 0; i < r->options.rank; i++)
        bytes *= (double)r->shape[i];
    printf("array    %s%s%s[%s], %s\n", r->source ? r->source : "", r->source ? " : " : "",
           arras_dtype_name(r->dtype), shape_text(text, r->options.rank, r->shape, ", "),
           bytes_text(size, bytes));
    printf("chunk    %s\n", shape_text(text, r->options.rank, result->advice.chunk, ","));
    print_table(r, result);
    if (r->compare)
        print_models(r, result);
    print_queries(r, result);
    print_certainty(r, result);
    print_log(r, result);
}
