/* drafts.h -- names of files and directories that are not complete, so that a process that is told
 * to end can remove them.  Sees base/ only. */
#ifndef AR_DRAFTS_H
#define AR_DRAFTS_H

#include "base/base.h"

/* To be called before the draft is made.  The path must stay until it is forgotten; of more than
 * 256 at once those beyond are not remembered. */
void ar_draft_remember(const char *path);
/* False: the process is about to end, and looks at the path: it must not be freed. */
bool ar_draft_forget(const char *path);
/* Forgets and frees. */
void ar_draft_name_free(ar_text *name);
/* Whether ar_drafts_discard was called: nothing more is to be begun. */
bool ar_drafts_are_discarded(void);
#endif
