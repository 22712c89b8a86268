/* label_runs.c -- one tile: rows become bits, bits that stand together are runs, and runs that
 * touch become components.  Runs have no form of their own but their number: which of them touch is
 * found in the bits of two rows, a word at a time. */
#include "label/label_parts.h"

#include <string.h>

/* ---- Bits of a line -------------------------------------------------------------------------- */

static const uint64_t *bits_of(const ar_label_runs *runs, int64_t line)
{
    return runs->bits + line * runs->words;
}

/* Where bits change, from one that is 0 before the first to one that is 0 behind the last. */
int64_t ar_label_edges(uint32_t *edges, const ar_label_runs *runs, int64_t line)
{
    const uint64_t *bits = bits_of(runs, line);
    uint32_t       *out = edges;
    uint64_t        last = 0;

    for (int64_t w = 0; w < runs->words; w++) {
        uint64_t word = bits[w], turns = word ^ (word << 1 | last);

        for (last = word >> 63; turns; turns &= turns - 1)
            *out++ = (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(turns);
    }
    if (last)
        *out++ = (uint32_t)runs->width;
    return (out - edges) / 2;
}

bool ar_label_bit(const ar_label_runs *runs, int64_t line, int64_t x)
{
    return bits_of(runs, line)[x / 64] >> x % 64 & 1;
}

/* ---- Runs that touch: until the end `component` holds parents, of which none is larger ------- */

static inline uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static inline void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/* Two lines: their bits, and the runs that begin before the word that is looked at. */
typedef struct {
    uint32_t       *parent;
    const uint64_t *a, *b;
    int64_t         words;
    uint32_t        before_a, before_b;
    bool            corners; /* touch too: then runs reach one cell further to the right */
} pair;

#define COUNT_BITS(word) ((uint32_t)__builtin_popcountll(word))

/* Two runs meet first where one of them begins and the other one is.  The number of a run is that
 * of the runs that begin up to there. */
static inline __attribute__((always_inline)) void join_words(pair p)
{
    uint64_t last_a = 0, last_b = 0, wide = p.corners ? UINT64_MAX : 0;

    for (int64_t w = 0; w < p.words; w++) {
        uint64_t a = p.a[w], before_a = a << 1 | last_a, begins_a = a & ~before_a;
        uint64_t b = p.b[w], before_b = b << 1 | last_b, begins_b = b & ~before_b;
        uint64_t both = (a | (before_a & wide)) & (b | (before_b & wide));
        uint64_t meet = both & (begins_a | begins_b);

        for (; meet; meet &= meet - 1) {
            uint64_t upto = meet ^ (meet - 1);

            unite(p.parent, p.before_a + COUNT_BITS(begins_a & upto) - 1,
                  p.before_b + COUNT_BITS(begins_b & upto) - 1);
        }
        p.before_a += COUNT_BITS(begins_a);
        p.before_b += COUNT_BITS(begins_b);
        last_a = a >> 63;
        last_b = b >> 63;
    }
}

static inline __attribute__((always_inline)) uint32_t count_words(const uint64_t *bits, int64_t n)
{
    uint64_t last = 0;
    uint32_t count = 0;

    for (int64_t w = 0; w < n; w++) {
        count += COUNT_BITS(bits[w] & ~(bits[w] << 1 | last));
        last = bits[w] >> 63;
    }
    return count;
}

/* Bits are counted by an instruction that not every machine has. */
typedef struct {
    void (*join)(pair p);
    uint32_t (*count)(const uint64_t *bits, int64_t n); /* of the runs of a line */
} counting;

static void     join_plain(pair p) { join_words(p); }
static uint32_t count_plain(const uint64_t *bits, int64_t n) { return count_words(bits, n); }

#if defined                                   __x86_64__
__attribute__((target("popcnt"))) static void join_popcnt(pair p) { join_words(p); }

__attribute__((target("popcnt"))) static uint32_t count_popcnt(const uint64_t *bits, int64_t n)
{
    return count_words(bits, n);
}

static counting best_counting(void)
{
    return __builtin_cpu_supports("popcnt") ? (counting){ join_popcnt, count_popcnt }
                                            : (counting){ join_plain, count_plain };
}
#else
static counting best_counting(void) { return (counting){ join_plain, count_plain }; }
#endif

/* Lines before this one that its cells may touch, as steps along the first two axes. */
static const struct {
    int z, y;
} steps[] = { { 0, -1 }, { -1, 0 }, { -1, -1 }, { -1, 1 } };

static void join_line(ar_label_runs *runs, const ar_label_box *box, int touch, int64_t line,
                      const counting *way)
{
    int64_t z = line / box->extent[1], y = line % box->extent[1];

    for (size_t k = 0; k < AR_COUNT(steps); k++) {
        int     axes = (steps[k].z != 0) + (steps[k].y != 0);
        int64_t other = line + steps[k].z * box->extent[1] + steps[k].y;

        if (axes > touch || z + steps[k].z < 0 || y + steps[k].y < 0 ||
            y + steps[k].y >= box->extent[1])
            continue;
        way->join((pair){ .parent = runs->component,
                          .a = bits_of(runs, line),
                          .b = bits_of(runs, other),
                          .words = runs->words,
                          .before_a = runs->first[line],
                          .before_b = runs->first[other],
                          .corners = axes < touch });
    }
}

/* Parents become numbers of components: a parent comes before its children, and has its own. */
static void number_components(ar_label_runs *runs)
{
    uint32_t *component = runs->component, n = 0;

    for (int64_t line = 0; line < runs->lines; line++) {
        runs->visited[line] = n;
        for (uint32_t i = runs->first[line]; i < runs->first[line + 1]; i++) {
            uint32_t is_root = component[i] == i, parents = component[component[i]];

            component[i] = is_root ? n : parents;
            n += is_root;
        }
    }
    runs->visited[runs->lines] = n;
}

/* ---- The tile -------------------------------------------------------------------------------- */

static bool reserve(ar_label_runs *runs, size_t wanted)
{
    uint32_t *grown;

    if (wanted <= runs->capacity)
        return true;
    if (wanted < runs->capacity + runs->capacity / 2)
        wanted = runs->capacity + runs->capacity / 2;
    grown = ar_realloc(runs->component, wanted, sizeof *grown);
    if (!grown)
        return false;
    runs->component = grown;
    runs->capacity = wanted;
    return true;
}

static bool add_line(ar_label_runs *runs, int64_t line, const void *cells,
                     const ar_label_rule *rule, const counting *way)
{
    uint64_t *bits = runs->bits + line * runs->words;
    uint32_t  begin = runs->first[line], end;

    rule->bits(bits, cells, runs->width, rule);
    end = begin + way->count(bits, runs->words);
    if (!reserve(runs, end))
        return false;
    for (uint32_t i = begin; i < end; i++)
        runs->component[i] = i;
    runs->first[line + 1] = end;
    return true;
}

static const void *row_of(char *room, const ar_label_cells *cells, const ar_label_box *box,
                          int64_t line)
{
    int64_t     z = line / box->extent[1], y = line % box->extent[1];
    const char *cell = cells->first + z * cells->strides[0] + y * cells->strides[1];

    if (cells->strides[2] == (int64_t)cells->size)
        return cell;
    for (int64_t i = 0; i < box->extent[2]; i++)
        memcpy(room + i * (int64_t)cells->size, cell + i * cells->strides[2], cells->size);
    return room;
}

static bool make_runs(ar_label_runs *out, const ar_label_box *box)
{
    size_t lines = (size_t)(box->extent[0] * box->extent[1]);
    size_t words = (size_t)(box->extent[2] + 63) / 64;

    *out = (ar_label_runs){ .lines = (int64_t)lines,
                            .width = box->extent[2],
                            .words = (int64_t)words };
    out->bits = ar_alloc(lines * words, sizeof *out->bits);
    out->first = ar_alloc(lines + 1, sizeof *out->first);
    out->visited = ar_alloc(lines + 1, sizeof *out->visited);
    return out->bits && out->first && out->visited && reserve(out, 1);
}

/* Should memory refuse to shrink, it stays as it is. */
static void give_back(ar_label_runs *runs)
{
    size_t    n = runs->first[runs->lines] ? runs->first[runs->lines] : 1;
    uint32_t *less = ar_realloc(runs->component, n, sizeof *less);

    if (!less)
        return;
    runs->component = less;
    runs->capacity = n;
}

arras_status ar_label_runs_find(ar_label_runs *out, const ar_label_box *box, int touch,
                                const ar_label_cells *cells, const ar_label_rule *rule,
                                const ar_label_scratch *scratch, arras_error *err)
{
    counting way = best_counting();
    bool     ok = make_runs(out, box);

    for (int64_t line = 0; ok && line < out->lines; line++) {
        ok = add_line(out, line, row_of(scratch->line, cells, box, line), rule, &way);
        if (ok)
            join_line(out, box, touch, line, &way);
    }
    if (!ok) {
        ar_label_runs_free(out);
        return ar_fail_memory(err, (size_t)(out->lines * out->words) * sizeof *out->bits);
    }
    number_components(out);
    give_back(out);
    return ARRAS_OK;
}

void ar_label_runs_free(ar_label_runs *runs)
{
    ar_free(runs->bits);
    ar_free(runs->first);
    ar_free(runs->visited);
    ar_free(runs->component);
    runs->bits = NULL;
    runs->first = runs->visited = runs->component = NULL;
}

int64_t ar_label_runs_bytes(const ar_label_runs *runs)
{
    return (int64_t)(runs->capacity * sizeof *runs->component) +
           (runs->lines + 1) * (int64_t)(sizeof *runs->first + sizeof *runs->visited) +
           runs->lines * runs->words * (int64_t)sizeof *runs->bits;
}
