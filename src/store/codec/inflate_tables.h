/* inflate_tables.h -- tables that decode the Huffman codes of deflate (RFC 1951) by one lookup, or
 * by two where a code is long.  Seen by inflate_*.c only. */
#ifndef AR_INFLATE_TABLES_H
#define AR_INFLATE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An entry.  Bits 0 to 7: how many bits it takes from the stream, those of the code and, of a
 * length or a distance, the extra ones.  Then:
 *   literals: AR_INFLATE_LITERAL; from 16 on: the byte
 *   lengths and distances: bits 8 to 11: bits of the code alone; from 16 on: the smallest value
 *   long codes: AR_INFLATE_ODD and _MORE; bits 8 to 11: bits that choose within a second table;
 *     from 16 on: where that begins
 *   end of a block: AR_INFLATE_ODD and _END;  no code at all: AR_INFLATE_ODD */
enum {
    AR_INFLATE_LITERAL = 1 << 15,
    AR_INFLATE_ODD = 1 << 14,
    AR_INFLATE_MORE = 1 << 13,
    AR_INFLATE_END = 1 << 12,
    AR_INFLATE_SYMBOL_BITS = 11, /* of the first lookup: more would leave the cache */
    AR_INFLATE_DISTANCE_BITS = 8,
    AR_INFLATE_SYMBOLS = 288,
    AR_INFLATE_DISTANCES = 32,
    AR_INFLATE_LONGEST = 15, /* bits of a code */
};

/* Second tables of a complete code double their size only where the codes in them fill more than
 * half: there is always room. */
typedef struct {
    uint32_t symbols[(1 << AR_INFLATE_SYMBOL_BITS) + 1024];
    uint32_t distances[(1 << AR_INFLATE_DISTANCE_BITS) + 768];
} ar_inflate_tables;

/* From the lengths of the codes, 0: not used.  False: they make no code, or one that is not
 * complete (of distances, a single one of 1 bit may be that, and none at all). */
bool ar_inflate_tables_make(ar_inflate_tables *t, const uint8_t *symbols, int nsymbols,
                            const uint8_t *distances, int ndistances);
/* The lengths of codes are in a code of 19 symbols with at most 7 bits: entries of 128 are
 * symbol << 16 | bits. */
bool ar_inflate_lengths_make(uint32_t *table, const uint8_t *lengths);

#endif
