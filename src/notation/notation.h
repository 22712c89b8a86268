/* notation.h -- graphs as text: printed, read back, drawn, summed up.  The door of notation/.
 * Sees base/ and ir/. */
#ifndef AR_NOTATION_H
#define AR_NOTATION_H

#include "ir/ir.h"

/* The text form of docs/text.md.  Brief: long data is cut, and the text can't be read back. */
arras_status ar_print(ar_text *out, const arras_graph *g, bool brief, arras_error *err);
/* Only through the builders of ir/, so that a text can be refused but never make a wrong graph. */
arras_status ar_read(arras_graph **out, const char *text, size_t length, arras_error *err);
arras_status ar_dot(ar_text *out, const arras_graph *g, arras_error *err);
arras_status ar_summarize(arras_summary *out, const arras_graph *g, arras_error *err);
arras_status ar_summary_print(ar_text *out, const arras_graph *g, arras_error *err);

#endif
