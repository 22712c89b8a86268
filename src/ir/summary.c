/* stub */
#include "ir/notation.h"
arras_status ar_summarize(arras_summary *out, const arras_graph *g, arras_error *err){(void)out;(void)g;(void)err;return 0;}
arras_status ar_summary_print(ar_text *out, const arras_graph *g, arras_error *err){(void)out;(void)g;(void)err;return 0;}
