/* chunk.c -- `arras chunk`: the chunk shape for the way an array is read, beside what others would
 * choose. */
#include <stdlib.h>
#include <string.h>

#include "cmd/chunk/chunk_report.h"
#include "cmd/commands.h"

static bool give_up(cmd_error *err, const arras_error *why)
{
    return cmd_fail(err, "%s", why->text);
}

/* Fills in what a shape costs. */
static bool weigh(cmd_chunk_candidate *c, const cmd_chunk_request *r, cmd_error *err)
{
    arras_error why;

    if (arras_chunk_bytes(&c->bytes, r->options.rank, c->chunk, r->options.cell_bytes, false,
                          &why) != ARRAS_OK ||
        arras_chunk_cost(&c->costs, r->json ? &c->exact : NULL, r->workload, &r->options, c->chunk,
                         &why) != ARRAS_OK)
        return give_up(err, &why);
    return true;
}

/* What the best shape would cost that is no larger than this one. */
static void find_least(cmd_chunk_candidate *c, const cmd_chunk_request *r)
{
    arras_chunk_options o = r->options;
    arras_chunk_advice  advice;
    arras_chunk_costs   costs;

    o.within = o.bandwidth = o.latency = 0;
    o.limit = c->bytes;
    if (arras_chunk_advise(&advice, r->workload, &o, NULL) == ARRAS_OK &&
        arras_chunk_cost(&costs, NULL, r->workload, &o, advice.least, NULL) == ARRAS_OK)
        c->least = costs.chunks;
}

static bool add(cmd_chunk_result *result, const cmd_chunk_request *r, const char *name,
                const int64_t *chunk, cmd_error *err)
{
    cmd_chunk_candidate *c = &result->candidates[result->count];

    c->name = name;
    memcpy(c->chunk, chunk, (size_t)r->options.rank * sizeof *chunk);
    if (!weigh(c, r, err))
        return false;
    if (r->compare)
        find_least(c, r);
    result->count++;
    return true;
}

/* A rule that has no shape for this array is left out. */
static bool add_guesses(cmd_chunk_result *result, const cmd_chunk_request *r, cmd_error *err)
{
    int  last = r->compare ? ARRAS_GUESS_END : ARRAS_GUESS_REW;
    bool ok = true;

    for (int g = 0; g < last && ok; g++) {
        int64_t chunk[ARRAS_MAX_RANK];

        if (arras_chunk_guess_shape(chunk, (arras_chunk_guess)g, r->workload, &r->options, NULL) ==
            ARRAS_OK)
            ok = add(result, r, arras_chunk_guess_name((arras_chunk_guess)g), chunk, err);
    }
    return ok;
}

static bool advise(cmd_chunk_result *result, const cmd_chunk_request *r, cmd_error *err)
{
    arras_error why;

    if (arras_chunk_advise(&result->advice, r->workload, &r->options, &why) != ARRAS_OK)
        return give_up(err, &why);
    return add(result, r, "advised", result->advice.chunk, err) &&
           add(result, r, "least", result->advice.least, err) &&
           (!r->has_now || add(result, r, "now", r->now, err)) && add_guesses(result, r, err);
}

static bool report(const cmd_chunk_request *r, const cmd_chunk_result *result, cmd_error *err)
{
    if (r->svg && !cmd_chunk_draw(r->svg, r, result, err))
        return false;
    if (r->json)
        return cmd_chunk_print_json(r, result, err);
    if (!r->svg || strcmp(r->svg, "-") != 0)
        cmd_chunk_print(r, result);
    return true;
}

int cmd_chunk(int argc, char **argv)
{
    cmd_chunk_request *r = calloc(1, sizeof *r);
    cmd_chunk_result  *result = calloc(1, sizeof *result);
    cmd_error          err;
    bool               ok = r && result;

    if (!ok)
        cmd_fail(&err, "no memory");
    ok = ok && cmd_chunk_request_read(r, argc, argv, &err) && advise(result, r, &err) &&
         report(r, result, &err);
    for (int i = 0; result && i < CMD_CHUNK_MOST_CANDIDATES; i++)
        arras_text_free(result->candidates[i].exact);
    cmd_chunk_request_free(r);
    free(r);
    free(result);
    return ok ? 0 : cmd_complain("%s", err.text);
}
