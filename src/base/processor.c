/* processor.c -- what the processor is good at, where neither CPUID nor a compiler says it.  All of
 * it was measured; docs/benchmarks.md has the machines. */
#include "base/base.h"

#if defined __x86_64__
#include <cpuid.h>
#include <stdatomic.h>

/* AMD's families from Zen 5 on. */
enum { ZEN_5 = 0x1a };

static bool is_amd(void) { return __builtin_cpu_is("amd"); }

/* Asked once: a virtual machine is left for the answer. */
static int family(void)
{
    static atomic_int known;
    unsigned          a = 0, b, c, d;

    if (known == 0) {
        __get_cpuid(1, &a, &b, &c, &d);
        known = (int)((a >> 8 & 15) + (a >> 20 & 255));
    }
    return known;
}

bool ar_has_avx512(void) { return __builtin_cpu_supports("avx512vl"); }

bool ar_has_wide_vectors(void)
{
    return ar_has_avx512() && (__builtin_cpu_is("intel") || (is_amd() && family() >= ZEN_5));
}

bool ar_loads_wide_vectors(void) { return ar_has_avx512() && __builtin_cpu_is("intel"); }

bool ar_reads_ahead_alone(void) { return is_amd(); }

#else
bool ar_has_avx512(void) { return false; }
bool ar_has_wide_vectors(void) { return false; }
bool ar_loads_wide_vectors(void) { return false; }
bool ar_reads_ahead_alone(void) { return false; }
#endif
