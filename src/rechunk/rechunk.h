/* rechunk.h -- arrays in other chunks.  The door of rechunk/.  Sees base/, pool/ and store/. */
#ifndef AR_RECHUNK_H
#define AR_RECHUNK_H

#include "pool/pool.h"
#include "store/store.h"

arras_status ar_rechunking_start(arras_rechunking **out, ar_source *source, ar_sink *sink,
                                 const arras_rechunk_options *options, arras_error *err);
arras_status ar_rechunking_wait(arras_rechunking *r, arras_error *err);
void         ar_rechunking_cancel(arras_rechunking *r);
double       ar_rechunking_progress(const arras_rechunking *r);
void         ar_rechunking_report(arras_rechunk_report *out, const arras_rechunking *r);
void         ar_rechunking_free(arras_rechunking *r);

#endif
