/* machine.c -- what the machine is good at, where neither CPUID nor a compiler says it.  All of it
 * was measured; docs/benchmarks.md has the machines. */
#include "base/base.h"

#include <pthread.h>
#include <unistd.h>

static const ar_prices prices = {
    .operation = 60,
    .gather = 600,
    .jump = 1000,
    .byte_near = 20,
    .byte_far = 100,
    .kernel = 2e6,
};

#if defined __x86_64__
#include <cpuid.h>

/* AMD's families from Zen 5 on. */
enum { ZEN_5 = 0x1a };

static int family(void)
{
    unsigned a = 0, b, c, d;

    __get_cpuid(1, &a, &b, &c, &d);
    return (int)((a >> 8 & 15) + (a >> 20 & 255));
}

static void describe_processor(ar_machine *m)
{
    bool intel = __builtin_cpu_is("intel"), amd = __builtin_cpu_is("amd");

    m->masks = __builtin_cpu_supports("avx512vl");
    m->vector_registers = m->masks ? 32 : 16;
    m->wide = m->masks && (intel || (amd && family() >= ZEN_5));
    m->wide_loads = m->masks && intel;
    m->reads_ahead = amd;
}

#else
static void describe_processor(ar_machine *m) { m->vector_registers = 16; }
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static ar_machine     host;

static void describe_host(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    host.cpus = cpus > 0 ? (int)cpus : 1;
    host.prices = prices;
    describe_processor(&host);
    ar_cache_sizes(host.cache);
}

const ar_machine *ar_machine_host(void)
{
    pthread_once(&once, describe_host);
    return &host;
}
