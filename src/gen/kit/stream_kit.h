/* stream_kit.h -- what kernels for CPUs ask of caches and registers, as text before them. */

/* Asks for cells that will be needed soon; they need not exist.  Not inlined: that would only take
 * the compiler longer. */
static __attribute__((noinline)) void fetch(const char *from, int64_t bytes)
{
#pragma GCC unroll 8
    for (int64_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(from + at);
}

/* At -O1 compilers leave the upper halves of registers as they are, and all that computes with the
 * lower ones has to wait for them, back in the library too. */
static inline void vectors_end(void)
{
#if defined __AVX__
    __builtin_ia32_vzeroupper();
#endif
}

/* After what a->stream stored. */
static inline void stream_end(void)
{
#if defined __x86_64__
    __builtin_ia32_sfence();
#endif
}
