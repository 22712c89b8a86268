/* native.h -- functions in C at every cell: as stages of an execution, and as ordered sweeps in
 * place.  The door of native/.  Sees base/, ir/, pool/, build/, store/ and exec/. */
#ifndef AR_NATIVE_H
#define AR_NATIVE_H

#include "build/build.h"
#include "exec/exec.h"

#include <arras/apply.h>
#include <arras/sweep.h>

/* ---- Stages (native_*.c) --------------------------------------------------------------------- */

typedef struct ar_native ar_native;

/* Checks a spec against the arrays of an execution that it reads, finds reach and shape, builds its
 * text.  Its outputs will be the arrays from number first_result on. */
arras_status ar_native_new(ar_native **out, const arras_apply_spec *spec, int narrays,
                           const ar_exec_array *arrays, int first_result,
                           const ar_build_options *build, arras_error *err);
void         ar_native_free(ar_native *native); /* NULL is fine */
/* Memory for each thread, before the execution is opened. */
arras_status ar_native_prepare(ar_native *native, int threads, arras_error *err);
ar_stage    *ar_native_stage(ar_native *native);
/* Output m as an array: name (of the native's own), type and shape. */
ar_exec_array ar_native_output(const ar_native *native, int m);

/* What functions call: see the public header. */
const char *ar_cell_outside(const arras_cell *cell, int input, int n, const int64_t *offset);
void        ar_cell_fail(const arras_cell *cell, const char *message);

/* ---- Ordered sweeps in place (sweep_loop.c) -------------------------------------------------- */

/* As tests want it; what is 0 is chosen. */
typedef struct {
    int     axes;          /* before and with the one that is cut into columns */
    int64_t height, width; /* of blocks; both or none */
    int64_t slab;          /* rows that are read at once */
} ar_sweep_tuning;

arras_status ar_sweeping_open(arras_sweeping **out, const arras_sweep_request *request,
                              const ar_sweep_tuning *tuning, arras_error *err);
arras_status ar_sweeping_run(arras_sweep_report *report, arras_sweeping *s, arras_error *err);
void         ar_sweeping_close(arras_sweeping *s);
void         ar_sweeping_cancel(arras_sweeping *s);
double       ar_sweeping_progress(const arras_sweeping *s);

#endif
