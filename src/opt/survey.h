/* survey.h -- what a launch of a normal form costs, for passes that may make it better or worse.
 * Only src/opt/ sees this. */
#ifndef AR_OPT_SURVEY_H
#define AR_OPT_SURVEY_H

#include "ir/ir.h"

typedef struct {
    arras_array *nodes; /* that the outputs need, by id */
    int64_t      count;
    bool        *constant; /* by id: needs nothing but data, and so is computed once */
} ar_survey;

/* Close it if that went well. */
arras_status ar_survey_open(ar_survey *out, const arras_graph *normal, arras_error *err);
void         ar_survey_close(ar_survey *s);
/* Whether a launch of this graph takes fewer operations than one of the other. */
arras_status ar_survey_is_cheaper(bool *out, const arras_graph *normal, const ar_survey *than,
                                  arras_error *err);

#endif
