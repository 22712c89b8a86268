/* inflate_tables.c -- tables for the Huffman codes of deflate, from the lengths of the codes. */
#include "store/codec/inflate_tables.h"

#include <string.h>

enum { LENGTHS = 19, LENGTH_BITS = 7, FIRST_LENGTH = 257, NO_CODE = AR_INFLATE_ODD };

/* What a symbol means, but for the bits of its code. */
typedef struct {
    uint16_t base;
    uint8_t  extra;
} meaning;

static const meaning lengths_of[] = {
    { 3, 0 },   { 4, 0 },   { 5, 0 },   { 6, 0 },   { 7, 0 },   { 8, 0 },  { 9, 0 },  { 10, 0 },
    { 11, 1 },  { 13, 1 },  { 15, 1 },  { 17, 1 },  { 19, 2 },  { 23, 2 }, { 27, 2 }, { 31, 2 },
    { 35, 3 },  { 43, 3 },  { 51, 3 },  { 59, 3 },  { 67, 4 },  { 83, 4 }, { 99, 4 }, { 115, 4 },
    { 131, 5 }, { 163, 5 }, { 195, 5 }, { 227, 5 }, { 258, 0 },
};

static const meaning distances_of[] = {
    { 1, 0 },     { 2, 0 },     { 3, 0 },     { 4, 0 },      { 5, 1 },      { 7, 1 },
    { 9, 2 },     { 13, 2 },    { 17, 3 },    { 25, 3 },     { 33, 4 },     { 49, 4 },
    { 65, 5 },    { 97, 5 },    { 129, 6 },   { 193, 6 },    { 257, 7 },    { 385, 7 },
    { 513, 8 },   { 769, 8 },   { 1025, 9 },  { 1537, 9 },   { 2049, 10 },  { 3073, 10 },
    { 4097, 11 }, { 6145, 11 }, { 8193, 12 }, { 12289, 12 }, { 16385, 13 }, { 24577, 13 },
};

/* The entry of a symbol whose code has so many bits that were not looked up before. */
typedef uint32_t make_entry(int symbol, int bits);

static inline uint32_t value_entry(meaning m, int bits)
{
    return (uint32_t)m.base << 16 | (uint32_t)bits << 8 | (uint32_t)(bits + m.extra);
}

static inline uint32_t symbol_entry(int symbol, int bits)
{
    if (symbol < 256)
        return AR_INFLATE_LITERAL | (uint32_t)symbol << 16 | (uint32_t)bits;
    if (symbol < FIRST_LENGTH)
        return AR_INFLATE_ODD | AR_INFLATE_END | (uint32_t)bits;
    symbol -= FIRST_LENGTH;
    if (symbol >= (int)(sizeof lengths_of / sizeof *lengths_of))
        return NO_CODE;
    return value_entry(lengths_of[symbol], bits);
}

static inline uint32_t distance_entry(int symbol, int bits)
{
    if (symbol >= (int)(sizeof distances_of / sizeof *distances_of))
        return NO_CODE;
    return value_entry(distances_of[symbol], bits);
}

static inline uint32_t plain_entry(int symbol, int bits)
{
    return (uint32_t)symbol << 16 | (uint32_t)bits;
}

/* ---- Codes ----------------------------------------------------------------------------------- */

/* A code and what is made of it. */
typedef struct {
    const uint8_t *lengths;
    int            n;
    uint32_t      *table;
    int            bits;     /* of the first lookup */
    size_t         room;     /* entries of the table */
    bool           may_lack; /* codes, if it has one only or none */
    int            count[AR_INFLATE_LONGEST + 1];
    uint16_t       sorted[AR_INFLATE_SYMBOLS]; /* symbols, by length and number: as codes go */
} code;

/* False: too many codes, or too few. */
static bool sort_symbols(code *c)
{
    int at[AR_INFLATE_LONGEST + 1], left = 1, used = 0;

    memset(c->count, 0, sizeof c->count);
    for (int i = 0; i < c->n; i++)
        c->count[c->lengths[i]]++;
    for (int bits = 1; bits <= AR_INFLATE_LONGEST; bits++) {
        left = 2 * left - c->count[bits];
        if (left < 0)
            return false;
        at[bits] = used;
        used += c->count[bits];
    }
    at[0] = used; /* those without a code come last */
    for (int i = 0; i < c->n; i++)
        c->sorted[at[c->lengths[i]]++] = (uint16_t)i;
    return left == 0 || (c->may_lack && used == c->count[1] && used <= 1);
}

/* The code after this one among those with so many bits.  Codes have their first bit lowest, as the
 * stream has them: carries go down. */
static inline unsigned next_code(unsigned x, int bits)
{
    unsigned gaps = x ^ ((1u << bits) - 1), highest;

    if (gaps == 0)
        return 0;
    highest = 1u << (31 - __builtin_clz(gaps));
    return (x & (highest - 1)) | highest;
}

/* How wide a second table must be that begins with a code of so many bits. */
static int second_width(const code *c, int bits, int done)
{
    int wide = bits - c->bits, room = (1 << wide) - (c->count[bits] - done);

    while (room > 0 && c->bits + wide < AR_INFLATE_LONGEST) {
        wide++;
        room = 2 * room - c->count[c->bits + wide];
    }
    return wide;
}

/* Codes of more bits than the first lookup has: k, the first of them in order; x, its code. */
static inline bool add_long_ones(code *c, make_entry *entry, int k, unsigned x, int bits)
{
    unsigned mask = (1u << c->bits) - 1, prefix = mask + 1;
    size_t   begin = 0, end = mask + 1;
    int      wide = 0;

    for (; bits <= AR_INFLATE_LONGEST; bits++)
        for (int i = 0; i < c->count[bits]; i++, k++) {
            if ((x & mask) != prefix) {
                prefix = x & mask;
                wide = second_width(c, bits, i);
                begin = end;
                end += (size_t)1 << wide;
                if (end > c->room)
                    return false;
                c->table[prefix] = (uint32_t)begin << 16 | (uint32_t)wide << 8 | AR_INFLATE_ODD |
                                   AR_INFLATE_MORE | (uint32_t)c->bits;
            }
            for (unsigned at = x >> c->bits; at < 1u << wide; at += 1u << (bits - c->bits))
                c->table[begin + at] = entry(c->sorted[k], bits - c->bits);
            x = next_code(x, bits);
        }
    return true;
}

/* A table for n bits, twice, is that for n + 1 bits: codes are put in once, the rest is copied. */
static inline __attribute__((always_inline)) bool make_table(code *c, make_entry *entry)
{
    unsigned x = 0;
    int      k = 0;

    if (!sort_symbols(c))
        return false;
    c->table[0] = NO_CODE;
    for (int bits = 1; bits <= c->bits; bits++) {
        memcpy(c->table + ((size_t)1 << (bits - 1)), c->table, sizeof *c->table << (bits - 1));
        for (int i = 0; i < c->count[bits]; i++, k++) {
            c->table[x] = entry(c->sorted[k], bits);
            x = next_code(x, bits);
        }
    }
    return add_long_ones(c, entry, k, x, c->bits + 1);
}

bool ar_inflate_tables_make(ar_inflate_tables *t, const uint8_t *symbols, int nsymbols,
                            const uint8_t *distances, int ndistances)
{
    code of_symbols = { .lengths = symbols,
                        .n = nsymbols,
                        .table = t->symbols,
                        .bits = AR_INFLATE_SYMBOL_BITS,
                        .room = sizeof t->symbols / sizeof *t->symbols };
    code of_distances = { .lengths = distances,
                          .n = ndistances,
                          .table = t->distances,
                          .bits = AR_INFLATE_DISTANCE_BITS,
                          .room = sizeof t->distances / sizeof *t->distances,
                          .may_lack = true };

    return make_table(&of_symbols, symbol_entry) && make_table(&of_distances, distance_entry);
}

bool ar_inflate_lengths_make(uint32_t *table, const uint8_t *lengths)
{
    code c = { .lengths = lengths,
               .n = LENGTHS,
               .table = table,
               .bits = LENGTH_BITS,
               .room = 1 << LENGTH_BITS };

    return make_table(&c, plain_entry);
}
