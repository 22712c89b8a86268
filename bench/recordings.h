/* recordings.h -- the workloads of the benchmark as Arras programs, by name. */
#ifndef BENCH_RECORDINGS_H
#define BENCH_RECORDINGS_H

#include <arras/arras.h>

/* Records a workload; `size` are the numbers that its recorder in recordings.c names.  NULL, with a
 * message, when there is no such workload. */
arras_graph *bench_record(const char *workload, const int64_t *size, arras_error *err);

#endif
