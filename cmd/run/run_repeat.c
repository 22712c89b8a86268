/* run_repeat.c -- `arras run` again and again: the options, and the loop. */
#include "cmd/run/run_repeat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/io/names.h"
#include "cmd/progress.h"

/* ---- Options --------------------------------------------------------------------------------- */

bool cmd_repeat_feed(cmd_repeat *r, const char *text, cmd_error *err)
{
    arras_feed *feeds = realloc(r->feeds, ((size_t)r->nfeeds + 1) * sizeof *feeds);
    char       *output;
    const char *input;

    if (!feeds)
        return cmd_fail(err, "out of memory");
    r->feeds = feeds;
    if (!cmd_assignment_split(&output, &input, text) || *input == '\0')
        return cmd_fail(err, "--feed %s: expected RESULT=INPUT, such as y=x", text);
    r->feeds[r->nfeeds++] = (arras_feed){ output, input };
    return true;
}

bool cmd_repeat_is_asked(const cmd_repeat *r) { return r->most > 0 || r->until || r->nfeeds > 0; }

bool cmd_repeat_check(const cmd_repeat *r, cmd_error *err)
{
    if (r->nfeeds > 0 && r->most == 0 && !r->until)
        return cmd_fail(err, "--feed: how often?  Add --repeat N, --until RESULT, or both");
    if (r->nfeeds == 0 && cmd_repeat_is_asked(r))
        return cmd_fail(err, "every step would be the same: say which result becomes which input "
                             "in the next, with --feed RESULT=INPUT");
    return true;
}

void cmd_repeat_free(cmd_repeat *r)
{
    for (int i = 0; i < r->nfeeds; i++)
        free((char *)(uintptr_t)r->feeds[i].output);
    free(r->feeds);
    *r = (cmd_repeat){ 0 };
}

/* ---- Results --------------------------------------------------------------------------------- */

static void add_name(const char **names, int *n, const char *name)
{
    int i = 0;

    while (i < *n && strcmp(names[i], name) != 0)
        i++;
    if (i == *n)
        names[(*n)++] = name;
}

bool cmd_repeat_outputs(const char ***out, int *n, const cmd_repeat *r, int nwanted,
                        const char *const *wanted)
{
    const char **names = calloc((size_t)nwanted + (size_t)r->nfeeds + 1, sizeof *names);

    if (!names)
        return false;
    *n = 0;
    for (int i = 0; i < nwanted; i++)
        add_name(names, n, wanted[i]);
    for (int i = 0; i < r->nfeeds; i++)
        add_name(names, n, r->feeds[i].output);
    if (r->until)
        add_name(names, n, r->until);
    *out = names;
    return true;
}

/* ---- The loop -------------------------------------------------------------------------------- */

static bool count_step(const arras_loop_report *so_far, void *context)
{
    (void)so_far, (void)context;
    cmd_progress_add(1);
    return true;
}

bool cmd_repeat_run(arras_results **results, const cmd_repeat *r, arras_program *p, int n,
                    const arras_binding *bindings, int nstored, const arras_stored *stored,
                    int64_t memory, bool tell, cmd_error *err)
{
    arras_loop        loop = { .nfeeds = r->nfeeds,
                               .feeds = r->feeds,
                               .until = r->until,
                               .most = r->most,
                               .watch = count_step,
                               .memory = memory };
    arras_loop_report report;
    arras_error       why;

    cmd_progress_stage("computing", r->most);
    if (arras_iterate(results, &report, p, n, bindings, nstored, stored, &loop, &why) != ARRAS_OK)
        return cmd_fail(err, "%s", why.text);
    cmd_progress_clear();
    if (tell)
        fprintf(stderr, "%" PRId64 " step%s\n", report.steps, report.steps == 1 ? "" : "s");
    return true;
}
