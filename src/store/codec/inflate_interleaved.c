/* inflate_interleaved.c -- the loops that decode deflate streams, several at once.  They are fast
 * where both ends are far away, careful near them, and give up at whatever is odd: the caller has
 * another decoder, and its word stands. */
#include "store/codec/inflate_interleaved.h"

#include "base/base.h"
#include "store/codec/inflate_tables.h"

#include <string.h>

typedef enum { AT_BLOCK, IN_BLOCK, AT_END, GIVEN_UP } state;

/* A stream.  `bits` has the next `left` bits, the first one lowest; above them there may be more,
 * which are those of the bytes from `in` on.  Of `left` only the lowest 6 bits count. */
typedef struct {
    uint64_t                 bits;
    uint32_t                 left;
    const unsigned char     *in, *in_end;
    unsigned char           *out, *begin, *out_end;
    const ar_inflate_tables *tables;
    state                    state;
    bool                     last; /* block */
} lane;

typedef struct {
    lane              lanes[AR_INFLATE_STREAMS];
    ar_inflate_tables tables[AR_INFLATE_STREAMS];
} decoder;

/* ---- Bits ------------------------------------------------------------------------------------ */

#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t load(const unsigned char *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
    return x;
}

INLINE void store(unsigned char *p, uint64_t x) { memcpy(p, &x, sizeof x); }

INLINE uint64_t low(uint64_t x, uint32_t n) { return x & ~(~(uint64_t)0 << (n & 63)); }

INLINE void take(lane *s, uint32_t entry)
{
    s->bits >>= entry & 63;
    s->left -= entry;
}

/* At least 56 bits; needs 8 bytes of input. */
INLINE void refill(lane *s)
{
    s->bits |= load(s->in) << (s->left & 63);
    s->in += 7 - (s->left >> 3 & 7);
    s->left |= 56;
}

/* ---- Fast: far from both ends ---------------------------------------------------------------- */

/* A turn writes four literals at most and a match of 258 bytes, which may be copied up to 32 bytes
 * too far; it refills twice, by less than 8 bytes each, and reads 8. */
enum { OUT_TURN = 4 + 258, IN_TURN = 16, OUT_MARGIN = 32, IN_MARGIN = 8 };

INLINE bool has_margin(const lane *s)
{
    return s->in_end - s->in >= IN_MARGIN + IN_TURN && s->out_end - s->out >= OUT_MARGIN + OUT_TURN;
}

INLINE void copy16(unsigned char *to, const unsigned char *from)
{
    unsigned char x[16];

    memcpy(x, from, sizeof x);
    memcpy(to, x, sizeof x);
}

/* Matches of shuffled planes are either short or very long. */
INLINE void copy_far(unsigned char *to, const unsigned char *from, uint32_t n)
{
    const unsigned char *end = to + n;

    copy16(to, from);
    copy16(to + 16, from + 16);
    while (__builtin_expect((to += 32) < end, 0)) {
        from += 32;
        copy16(to, from);
        copy16(to + 16, from + 16);
    }
}

/* From less than 16 bytes away: what is copied may have been written by the same copy. */
INLINE void copy_near(unsigned char *to, uint32_t distance, uint32_t n)
{
    const unsigned char *end = to + n;

    if (distance == 1) {
        unsigned char x[16];

        memset(x, to[-1], sizeof x);
        do {
            memcpy(to, x, sizeof x);
            memcpy(to + 16, x, sizeof x);
            to += 32;
        } while (to < end);
    } else if (distance >= 8) {
        for (; to < end; to += 8)
            store(to, load(to - distance));
    } else {
        for (; to < end; to++)
            *to = *(to - distance);
    }
}

INLINE uint32_t value(uint64_t bits, uint32_t entry)
{
    return (entry >> 16) + (uint32_t)(low(bits, entry) >> (entry >> 8 & 15));
}

INLINE bool stop(lane *s, uint32_t entry)
{
    if (entry & AR_INFLATE_END)
        take(s, entry);
    s->state = entry & AR_INFLATE_END ? AT_BLOCK : GIVEN_UP;
    return false;
}

INLINE uint32_t second(lane *s, const uint32_t *table, uint32_t entry)
{
    take(s, entry);
    return table[(entry >> 16) + low(s->bits, entry >> 8 & 15)];
}

INLINE void put(lane *s, uint32_t entry)
{
    *s->out++ = (unsigned char)(entry >> 16);
    take(s, entry);
}

/* With at least 48 bits: all that a match may have. */
INLINE bool match(lane *s, uint32_t entry)
{
    uint64_t bits = s->bits;
    uint32_t length, distance;

    take(s, entry);
    length = value(bits, entry);
    entry = s->tables->distances[low(s->bits, AR_INFLATE_DISTANCE_BITS)];
    if (__builtin_expect(entry & AR_INFLATE_ODD, 0)) {
        if (entry & AR_INFLATE_MORE)
            entry = second(s, s->tables->distances, entry);
        if (entry & AR_INFLATE_ODD)
            return stop(s, AR_INFLATE_ODD);
    }
    distance = value(s->bits, entry);
    take(s, entry);
    if (distance > (size_t)(s->out - s->begin))
        return stop(s, AR_INFLATE_ODD);
    if (distance >= 16)
        copy_far(s->out, s->out - distance, length);
    else
        copy_near(s->out, distance, length);
    s->out += length;
    return true;
}

/* Whatever does not begin with a short code of literals. */
INLINE bool turn_slow(lane *s, uint32_t entry)
{
    refill(s);
    if (__builtin_expect(entry & AR_INFLATE_ODD, 0)) {
        if (entry & AR_INFLATE_MORE)
            entry = second(s, s->tables->symbols, entry);
        if (entry & AR_INFLATE_ODD)
            return stop(s, entry);
        if (entry & AR_INFLATE_LITERAL) {
            put(s, entry);
            return true;
        }
    }
    return match(s, entry);
}

/* Some symbols; false: the block ends, or this is odd. */
INLINE bool turn(lane *s)
{
    uint32_t entry;

    refill(s);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) { /* of 11 bits each */
        entry = s->tables->symbols[low(s->bits, AR_INFLATE_SYMBOL_BITS)];
        if (!(entry & AR_INFLATE_LITERAL))
            return turn_slow(s, entry);
        put(s, entry);
    }
    return true;
}

/* So many turns stay away from both ends, whatever they meet. */
INLINE int64_t turns_of(const lane *s)
{
    int64_t in = (s->in_end - s->in - IN_MARGIN) / IN_TURN;
    int64_t out = (s->out_end - s->out - OUT_MARGIN) / OUT_TURN;

    return s->state == IN_BLOCK ? ar_min64(in, out) : 0;
}

INLINE void run_one(lane *first)
{
    lane    a = *first;
    int64_t n;

    while ((n = turns_of(&a)) > 0)
        while (n-- > 0 && turn(&a))
            continue;
    *first = a;
}

/* The processor works on the turns of all of them at once: none waits for another. */
INLINE void run_two(lane *first, lane *other)
{
    lane    a = *first, b = *other;
    int64_t n;

    while ((n = ar_min64(turns_of(&a), turns_of(&b))) > 0)
        while (n-- > 0 && turn(&a) && turn(&b))
            continue;
    *first = a;
    *other = b;
}

INLINE void run_three(lane *first, lane *other, lane *third)
{
    lane    a = *first, b = *other, c = *third;
    int64_t n;

    while ((n = ar_min64(ar_min64(turns_of(&a), turns_of(&b)), turns_of(&c))) > 0)
        while (n-- > 0 && turn(&a) && turn(&b) && turn(&c))
            continue;
    *first = a;
    *other = b;
    *third = c;
}

INLINE void run_lanes(lane **lanes, int n)
{
    if (n == 1)
        run_one(lanes[0]);
    else if (n == 2)
        run_two(lanes[0], lanes[1]);
    else
        run_three(lanes[0], lanes[1], lanes[2]);
}

typedef void run_some(lane **lanes, int n);

static void run_plain(lane **lanes, int n) { run_lanes(lanes, n); }

#if defined __x86_64__ && defined __GNUC__
/* Shifts by any count that take one cycle. */
__attribute__((target("bmi,bmi2"))) static void run_bmi(lane **lanes, int n)
{
    run_lanes(lanes, n);
}

static run_some *find_run(void)
{
    return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") ? run_bmi : run_plain;
}
#else
static run_some *find_run(void) { return run_plain; }
#endif

/* ---- Careful: near the ends, and between blocks ---------------------------------------------- */

/* As many bits as there are, and none above them. */
static void tidy(lane *s)
{
    s->left &= 63;
    s->bits = low(s->bits, s->left);
    while (s->left < 56 && s->in < s->in_end) {
        s->bits |= (uint64_t)*s->in++ << s->left;
        s->left += 8;
    }
}

static void give_up(lane *s) { s->state = GIVEN_UP; }

static bool take_surely(lane *s, uint32_t n)
{
    if (s->left < n)
        return give_up(s), false;
    s->bits >>= n;
    s->left -= n;
    return true;
}

/* Up to 16 bits; 0 where they are missing. */
static uint32_t number(lane *s, uint32_t n)
{
    uint32_t x;

    tidy(s);
    x = (uint32_t)low(s->bits, n);
    return take_surely(s, n) ? x : 0;
}

/* The entry of the next code: its bits are not taken yet, those of a first table are.  ODD: none.
 */
static uint32_t find_entry(lane *s, const uint32_t *table, uint32_t bits)
{
    uint32_t entry = table[low(s->bits, bits)];

    if (entry & AR_INFLATE_ODD && entry & AR_INFLATE_MORE) {
        if (!take_surely(s, entry & 63))
            return AR_INFLATE_ODD;
        entry = table[(entry >> 16) + low(s->bits, entry >> 8 & 15)];
    }
    return (entry & 63) <= s->left ? entry : AR_INFLATE_ODD;
}

static void match_carefully(lane *s, uint32_t entry)
{
    uint32_t length = value(s->bits, entry), distance;

    take(s, entry);
    tidy(s);
    entry = find_entry(s, s->tables->distances, AR_INFLATE_DISTANCE_BITS);
    if (entry & AR_INFLATE_ODD) {
        give_up(s);
        return;
    }
    distance = value(s->bits, entry);
    take(s, entry);
    if (distance > (size_t)(s->out - s->begin) || length > (size_t)(s->out_end - s->out)) {
        give_up(s);
        return;
    }
    for (; length > 0; length--, s->out++)
        *s->out = *(s->out - distance);
}

static void put_carefully(lane *s, uint32_t entry)
{
    if (s->out == s->out_end) {
        give_up(s);
        return;
    }
    put(s, entry);
}

static void run_carefully(lane *s)
{
    while (s->state == IN_BLOCK) {
        uint32_t entry;

        tidy(s);
        entry = find_entry(s, s->tables->symbols, AR_INFLATE_SYMBOL_BITS);
        if (entry & AR_INFLATE_LITERAL)
            put_carefully(s, entry);
        else if (entry & AR_INFLATE_ODD)
            stop(s, entry);
        else
            match_carefully(s, entry);
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Bytes that were read ahead go back. */
static void align(lane *s)
{
    tidy(s);
    s->in -= s->left >> 3;
    s->bits = s->left = 0;
}

static void copy_stored(lane *s)
{
    size_t n;

    align(s);
    if (s->in_end - s->in < 4) {
        give_up(s);
        return;
    }
    n = s->in[0] | (size_t)s->in[1] << 8;
    if ((n ^ 0xffff) != (s->in[2] | (size_t)s->in[3] << 8)) {
        give_up(s);
        return;
    }
    s->in += 4;
    if (n > (size_t)(s->in_end - s->in) || n > (size_t)(s->out_end - s->out)) {
        give_up(s);
        return;
    }
    if (n > 0)
        memcpy(s->out, s->in, n);
    s->in += n;
    s->out += n;
}

static bool make_fixed(ar_inflate_tables *t)
{
    uint8_t symbols[AR_INFLATE_SYMBOLS], distances[AR_INFLATE_DISTANCES];

    for (int i = 0; i < AR_INFLATE_SYMBOLS; i++)
        symbols[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    memset(distances, 5, sizeof distances);
    return ar_inflate_tables_make(t, symbols, AR_INFLATE_SYMBOLS, distances, AR_INFLATE_DISTANCES);
}

/* The lengths of codes, themselves in a code, runs of them shortened. */
static bool read_lengths(lane *s, uint8_t *lengths, int n, const uint32_t *table)
{
    static const uint8_t bits_of_run[] = { 2, 3, 7 }, least[] = { 3, 3, 11 };

    for (int i = 0; i < n;) {
        uint32_t entry, symbol, run = 1;

        tidy(s);
        entry = table[low(s->bits, 7)];
        symbol = entry >> 16;
        if (!take_surely(s, entry & 63) || (symbol == 16 && i == 0))
            return false;
        if (symbol >= 16)
            run = least[symbol - 16] + number(s, bits_of_run[symbol - 16]);
        if (run > (uint32_t)(n - i) || s->state == GIVEN_UP)
            return false;
        if (symbol < 16)
            lengths[i] = (uint8_t)symbol;
        else
            memset(lengths + i, symbol == 16 ? lengths[i - 1] : 0, run);
        i += (int)run;
    }
    return true;
}

static bool make_dynamic(lane *s, ar_inflate_tables *t)
{
    static const uint8_t order[] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                     11, 4,  12, 3, 13, 2, 14, 1, 15 };
    uint8_t  of_lengths[sizeof order] = { 0 }, lengths[AR_INFLATE_SYMBOLS + AR_INFLATE_DISTANCES];
    uint32_t table[1 << 7];
    int      symbols = (int)number(s, 5) + 257, distances = (int)number(s, 5) + 1;
    int      n = (int)number(s, 4) + 4;

    for (int i = 0; i < n; i++)
        of_lengths[order[i]] = (uint8_t)number(s, 3);
    if (s->state == GIVEN_UP || symbols > 286 || !ar_inflate_lengths_make(table, of_lengths) ||
        !read_lengths(s, lengths, symbols + distances, table))
        return false;
    return ar_inflate_tables_make(t, lengths, symbols, lengths + symbols, distances);
}

/* Up to the codes of a block, or after one without any. */
static void begin_block(lane *s, ar_inflate_tables *t)
{
    bool made = true;

    if (s->last) {
        align(s);
        s->state = AT_END;
        return;
    }
    s->last = number(s, 1);
    switch (number(s, 2)) {
    case 0:
        if (s->state == AT_BLOCK)
            copy_stored(s);
        return;
    case 1: made = make_fixed(t); break;
    case 2: made = make_dynamic(s, t); break;
    default: made = false;
    }
    s->state = made && s->state == AT_BLOCK ? IN_BLOCK : GIVEN_UP;
}

/* ---- All together ---------------------------------------------------------------------------- */

static void decode(decoder *d, int count, run_some *run)
{
    for (;;) {
        lane *lanes[AR_INFLATE_STREAMS];
        int   n = 0;

        for (int i = 0; i < count; i++) {
            lane *s = &d->lanes[i];

            while (s->state == AT_BLOCK || (s->state == IN_BLOCK && !has_margin(s)))
                if (s->state == AT_BLOCK)
                    begin_block(s, &d->tables[i]);
                else
                    run_carefully(s);
            if (s->state == IN_BLOCK)
                lanes[n++] = s;
        }
        if (n == 0)
            return;
        run(lanes, n);
    }
}

void ar_inflate_interleaved(ar_inflate_stream *streams, int count)
{
    decoder *d = ar_alloc(1, sizeof *d);

    for (int i = 0; i < count; i++)
        streams[i].done = false;
    if (!d || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
        ar_free(d);
        return;
    }
    for (int i = 0; i < count; i++) {
        ar_inflate_stream *f = &streams[i];

        d->lanes[i] = (lane){ .in = f->in,
                              .in_end = f->in + f->n,
                              .begin = f->out,
                              .out = f->out,
                              .out_end = f->out + f->room,
                              .tables = &d->tables[i] };
    }
    decode(d, count, find_run());
    for (int i = 0; i < count; i++) {
        const lane *s = &d->lanes[i];

        streams[i].done = s->state == AT_END;
        streams[i].used = (size_t)(s->in - streams[i].in);
        streams[i].made = (size_t)(s->out - s->begin);
    }
    ar_free(d);
}
