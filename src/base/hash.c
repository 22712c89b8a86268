/* hash.c -- a 64-bit hash that is the same in every process: no seed, no pointers. */
#include "base/base.h"

#include <string.h>

uint64_t ar_hash_mix(uint64_t hash, uint64_t value)
{
    __uint128_t product = (__uint128_t)(hash ^ 0x9e3779b97f4a7c15u) * (value ^ 0xd1b54a32d192ed03u);

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t ar_hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t             word = 0;

    for (size_t left = length; left >= 8; left -= 8, at += 8) {
        memcpy(&word, at, 8);
        hash = ar_hash_mix(hash, word);
    }
    word = 0;
    if (length % 8)
        memcpy(&word, at, length % 8);
    return ar_hash_mix(ar_hash_mix(hash, word), length);
}
