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

/* ---- What others left behind (draft_sweep.c) ------------------------------------------------- */

/* Drafts for sea.h5 are called .sea.h5.1a2b3c.draft; of long names the first so many bytes. */
#define AR_DRAFT_ENDING ".draft"
enum { AR_DRAFT_NAME = 200 };

/* Removes drafts for the first bytes of a path that no process has open any more. */
void ar_drafts_sweep(const char *path, size_t length);
/* Removes a file, or a directory with all that is in it. */
void ar_draft_delete(int directory, const char *name);

#endif
