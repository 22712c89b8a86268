/* chunk_json.c -- the advice of `arras chunk` as JSON; docs/chunking.md says what stands where. */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/chunk/chunk_report.h"

static void print_list(const char *key, int rank, const int64_t *numbers)
{
    printf("\"%s\": [", key);
    for (int i = 0; i < rank; i++)
        printf("%s%" PRId64, i ? ", " : "", numbers[i]);
    printf("]");
}

static void print_cost(const char *exact, double value)
{
    printf("{\"exact\": %s%s%s, \"value\": %.17g}", exact ? "\"" : "", exact ? exact : "null",
           exact ? "\"" : "", value);
}

static void print_candidate(const cmd_chunk_request *r, const cmd_chunk_candidate *c)
{
    int64_t chunks;
    double  error;

    printf("{\"name\": \"%s\", ", c->name);
    print_list("chunk", r->options.rank, c->chunk);
    printf(", \"bytes\": %" PRId64 ", \"cost\": ", c->bytes);
    print_cost(c->exact, c->costs.chunks);
    printf(", \"bytes_per_query\": %.17g", c->costs.chunks * (double)c->bytes);
    if (c->least > 0)
        printf(", \"least_of_size\": %.17g", c->least);
    if (r->options.bandwidth > 0)
        printf(", \"seconds\": %.17g", c->costs.seconds);
    if (arras_chunk_trace(&chunks, &error, r->workload, c->chunk, NULL) == ARRAS_OK)
        printf(", \"logged_chunks\": %" PRId64 ", \"standard_error\": %.17g", chunks, error);
    printf("}");
}

static void print_candidates(const cmd_chunk_request *r, const cmd_chunk_result *result)
{
    printf(",\n \"candidates\": [\n");
    for (int i = 0; i < result->count; i++) {
        printf("  ");
        print_candidate(r, &result->candidates[i]);
        printf(i + 1 < result->count ? ",\n" : "\n ]");
    }
}

static bool print_query(const cmd_chunk_request *r, const cmd_chunk_result *result, int64_t i,
                        cmd_error *err)
{
    const cmd_chunk_candidate *advised = &result->candidates[0];
    int64_t                    shape[ARRAS_MAX_RANK], weight, total;
    arras_chunk_costs          costs;
    arras_error                why;
    char                      *exact;

    arras_workload_shape(r->workload, i, shape, &weight, &total);
    if (arras_chunk_cost_of(&costs, &exact, r->workload, i, &r->options, advised->chunk, &why) !=
        ARRAS_OK)
        return cmd_fail(err, "%s", why.text);
    printf("%s\n  {", i ? "," : "");
    print_list("shape", r->options.rank, shape);
    printf(", \"probability\": {\"exact\": \"%" PRId64 "/%" PRId64 "\", \"value\": %.17g}", weight,
           total, (double)weight / (double)total);
    printf(", \"cost\": ");
    print_cost(exact, costs.chunks);
    printf(", \"bytes\": %.17g}", costs.chunks * (double)advised->bytes);
    arras_text_free(exact);
    return true;
}

static bool print_queries(const cmd_chunk_request *r, const cmd_chunk_result *result,
                          cmd_error *err)
{
    bool ok = true;

    printf(",\n \"queries\": [");
    for (int64_t i = 0; i < arras_workload_count(r->workload) && ok; i++)
        ok = print_query(r, result, i, err);
    printf("]");
    return ok;
}

static void print_array(const cmd_chunk_request *r)
{
    printf(",\n \"array\": {");
    print_list("shape", r->options.rank, r->shape);
    printf(", \"dtype\": \"%s\", \"cell_bytes\": %" PRId64 ", ", arras_dtype_name(r->dtype),
           r->options.cell_bytes);
    if (r->has_now)
        print_list("chunk", r->options.rank, r->now);
    else
        printf("\"chunk\": null");
    printf("}");
}

bool cmd_chunk_print_json(const cmd_chunk_request *r, const cmd_chunk_result *result,
                          cmd_error *err)
{
    static const char *const   models[] = { "exact", "paper", "ss" };
    const cmd_chunk_candidate *advised = &result->candidates[0], *least = &result->candidates[1];

    printf("{");
    print_list("chunk", r->options.rank, advised->chunk);
    printf(",\n \"bytes\": %" PRId64 ",\n \"cost\": ", advised->bytes);
    print_cost(advised->exact, advised->costs.chunks);
    printf(",\n \"optimal\": %s,\n \"gap\": %.17g", result->advice.proven ? "true" : "false",
           result->advice.gap);
    printf(",\n \"least\": {");
    print_list("chunk", r->options.rank, least->chunk);
    printf(", \"cost\": ");
    print_cost(least->exact, least->costs.chunks);
    printf("},\n \"model\": \"%s\",\n \"integers\": \"%s\",\n \"workload\": \"%s\"",
           models[r->options.model], r->options.powers_of_two ? "pow2" : "all",
           arras_workload_is_independent(r->workload) ? "iar" : "qs");
    printf(",\n \"logged_queries\": %" PRId64, arras_workload_queries(r->workload));
    if (r->options.bandwidth > 0)
        printf(",\n \"seconds\": %.17g", advised->costs.seconds);
    print_array(r);
    if (!print_queries(r, result, err))
        return false;
    print_candidates(r, result);
    puts("\n}");
    return true;
}
