/* hash.c -- a 64-bit hash that is the same in every process: no seed, no pointers. */
#include "base/base.h"

#include <string.h>

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
