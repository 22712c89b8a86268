/* survey.h -- what is in a normal form and what a launch of it costs, for passes that look before
 * they rewrite, and that may make it better or worse.  Only src/opt/ sees this. */
#ifndef AR_OPT_SURVEY_H
#define AR_OPT_SURVEY_H

#include "opt/opt.h"
#include "opt/rewrite.h"

typedef struct {
    const arras_graph *normal;
    arras_array       *nodes; /* that the outputs need, by id */
    int64_t            count;
    bool              *constant; /* by id: needs nothing but data, and so is computed once */
} ar_survey;

/* Close it if that went well. */
arras_status ar_survey_open(ar_survey *out, const arras_graph *normal, arras_error *err);
void         ar_survey_close(ar_survey *s);

/* Called with each expression of a lambda once; false: that is enough. */
typedef bool ar_look_function(void *pass, arras_array lambda, arras_expr e);
/* All lambdas by id, of each what an expression needs before itself. */
arras_status ar_survey_look(const ar_survey *s, ar_look_function *look, void *pass,
                            arras_error *err);

/* What a pass did, for the decisions; the operations that saves are added. */
typedef void ar_tell_function(ar_text *line, const void *pass);
/* Rewrites what was surveyed.  *out, the caller's, stays as it is unless that changed something and
 * saves operations.  decisions: NULL if nobody asks. */
arras_status ar_survey_try(arras_graph **out, const ar_survey *s, ar_rewrite *r,
                           ar_tell_function *tell, ar_decisions *decisions, arras_error *err);

/* What a lambda's load reads.  Expressions of lambdas say which of its inputs that is, those under
 * construction say it themselves. */
static inline arras_array ar_array_of(arras_array lambda, arras_expr load)
{
    return load->array ? load->array : lambda->inputs[load->ints[0]];
}

#endif
