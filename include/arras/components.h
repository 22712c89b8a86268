/* components.h -- connected components of arrays in memory and in files.
 * arras/arras.h includes it. */
#ifndef ARRAS_ARRAS_H
#include <arras/arras.h> /* which includes this, in its place */
#elif !defined(ARRAS_COMPONENTS_H)
#define ARRAS_COMPONENTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Connected components -------------------------------------------------------------------- */

/* Cells that belong together and touch get the same number: 1, 2, ... in the order of the first
 * cell of each component, in C order; all other cells get 0.  The same numbers whatever the number
 * of threads and the memory. */
typedef enum {
    ARRAS_LABEL_NONZERO, /* cells that are not 0 belong to components */
    ARRAS_LABEL_ABOVE,   /* cells above `value` */
    ARRAS_LABEL_EQUAL,   /* cells that are `value` */
    ARRAS_LABEL_RULES
} arras_label_rule;

typedef struct arras_label_options {
    int              neighbours; /* 2 along one axis; 4 or 8; 6, 18 or 26; 0: the fewest of them */
    arras_label_rule rule;
    double           value;
    int              threads; /* 0: one for each CPU */
    int64_t          memory;  /* bytes, for arrays in files; 0: half of what is free */
} arras_label_options;

/* Arrays of 1 to 3 axes, of any type but complex.  The labels are i32 or i64 and have the shape of
 * the cells; they may lie in the same place.  options: NULL for the defaults; count, the number of
 * components, may be NULL. */
ARRAS_API arras_status arras_label(int64_t *count, const arras_buffer *cells,
                                   const arras_buffer *labels, const arras_label_options *options,
                                   arras_error *err);
/* From file to file, in two passes: a source may be read twice.  The caller finishes the sink, or
 * abandons it after a failure. */
ARRAS_API arras_status arras_label_stored(int64_t *count, arras_source *source, arras_sink *sink,
                                          const arras_label_options *options, arras_error *err);

/* The same in steps.  Arrays must stay until the wait is over.  Until it is freed, any thread may
 * cancel a labelling (the wait then returns ARRAS_ECANCEL soon, and labels are partly written), or
 * ask how much of it has been begun: 0 to 1, below 0 when that is not known. */
typedef struct arras_labelling arras_labelling;
ARRAS_API arras_status arras_label_start(arras_labelling **out, const arras_buffer *cells,
                                         const arras_buffer *labels,
                                         const arras_label_options *options, arras_error *err);
ARRAS_API arras_status arras_label_stored_start(arras_labelling **out, arras_source *source,
                                                arras_sink *sink,
                                                const arras_label_options *options,
                                                arras_error *err);
ARRAS_API arras_status arras_label_wait(int64_t *count, arras_labelling *l, arras_error *err);
ARRAS_API void         arras_label_free(arras_labelling *l); /* cancels what is not waited for */
ARRAS_API void         arras_label_cancel(arras_labelling *l);
ARRAS_API double       arras_label_progress(const arras_labelling *l);

#ifdef __cplusplus
}
#endif

#endif
