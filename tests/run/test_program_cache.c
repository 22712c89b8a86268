/* test_program_cache.c -- programs that were compiled before: their optimised graphs come back from
 * bytes as they were, an entry of the cache gives the same kernels and results, and one that is
 * damaged gives nothing. */
#include "compile/core_cache.h"
#include "compile/program_cache.h"
#include "random_programs.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Bytes ----------------------------------------------------------------------------------- */

static ar_text packed(const arras_graph *optimised, const ar_decisions *decisions)
{
    ar_text bytes = { 0 };

    CHECK(ar_graph_pack(&bytes, optimised, g));
    CHECK(ar_decisions_pack(&bytes, decisions));
    return bytes;
}

/* NULL: refused. */
static arras_graph *unpacked(ar_decisions *decisions, const char *bytes, size_t length)
{
    ar_unpacker  u = { .at = bytes, .end = bytes + length };
    arras_graph *back = ar_graph_unpack(&u, g);

    if (back && ar_decisions_unpack(decisions, &u, back))
        return back;
    ar_graph_free(back);
    return NULL;
}

static void check_same_text(const arras_graph *a, const arras_graph *b)
{
    ar_text text_a = { 0 }, text_b = { 0 };

    CHECK_EQ_INT(ar_print(&text_a, a, true, NULL), ARRAS_OK);
    CHECK_EQ_INT(ar_print(&text_b, b, true, NULL), ARRAS_OK);
    CHECK_STR(text_a.data, text_b.data);
    ar_text_free(&text_a);
    ar_text_free(&text_b);
}

/* Numbers and order of all there is are in the bytes: packed again they are the same. */
static void check_round_trip(const arras_graph *optimised, const ar_decisions *decisions)
{
    ar_text      bytes = packed(optimised, decisions), again;
    ar_decisions back_decisions = { 0 };
    arras_graph *back = unpacked(&back_decisions, bytes.data, bytes.length);

    if (CHECK(back != NULL)) {
        check_same_text(optimised, back);
        again = packed(back, &back_decisions);
        CHECK(again.length == bytes.length && memcmp(again.data, bytes.data, bytes.length) == 0);
        ar_text_free(&again);
    }
    ar_decisions_free(&back_decisions);
    ar_graph_free(back);
    ar_text_free(&bytes);
}

/* The end of a cut text is the end of what may be read: the sanitizers look. */
static void check_cuts(const arras_graph *optimised, const ar_decisions *decisions)
{
    ar_text bytes = packed(optimised, decisions);

    for (size_t length = 0; length < bytes.length; length += sizeof(int64_t)) {
        ar_decisions back_decisions = { 0 };
        char        *cut = malloc(length + 1);

        memcpy(cut, bytes.data, length);
        CHECK(!unpacked(&back_decisions, cut, length));
        free(cut);
    }
    ar_text_free(&bytes);
}

static void with_optimised(uint64_t seed,
                           void (*check)(const arras_graph *optimised, const ar_decisions *d))
{
    ar_decisions decisions = { 0 };
    arras_graph *optimised = NULL;

    begin();
    record(seed);
    if (CHECK_EQ_INT(ar_optimise(&optimised, g, NULL, &decisions, NULL), ARRAS_OK))
        check(optimised, &decisions);
    ar_decisions_free(&decisions);
    ar_graph_free(optimised);
    end();
}

static void random_programs(void)
{
    for (uint64_t seed = 1; seed <= 500; seed++) {
        CASE("seed %d", (int)seed);
        with_optimised(seed, check_round_trip);
    }
}

static void cut_bytes(void)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        CASE("cut, seed %d", (int)seed);
        with_optimised(seed, check_cuts);
    }
}

/* ---- Entries --------------------------------------------------------------------------------- */

enum { ROUNDS = 16, CELLS = 6 };

static char folder[64];

/* More than a hundred nodes; `weights` is borrowed. */
static void record_long(const double *weights)
{
    arras_dim   shape[] = { CELLS };
    arras_array x = arras_placeholder(g, "x", ARRAS_F64, 1, shape), y = x;
    arras_array w = arras_borrow(g, ARRAS_F64, 1, (int64_t[]){ CELLS }, NULL, weights);

    for (int i = 0; i < ROUNDS; i++) {
        arras_array moved = arras_roll(y, 1, (int64_t[]){ i % 3 }, (int[]){ 0 });

        y = arras_add(arras_multiply(w, moved), arras_multiply(y, arras_float(g, 0.5 + i)));
        y = arras_divide(y, arras_add(arras_max(y, 0, NULL, false), arras_int(g, 3)));
    }
    arras_output(g, "y", y);
}

typedef struct {
    char  *source, *explained;
    double y[CELLS];
} outcome_of_long;

static void print_program(char **out, const arras_program *p, arras_program_text form)
{
    CHECK_EQ_INT(arras_program_print(out, NULL, p, form, NULL), ARRAS_OK);
}

static arras_status compile_long(outcome_of_long *out, const double *weights)
{
    arras_options  options = { .cache = folder };
    double         x[CELLS] = { 1, 2, 3, 4, 5, 6 };
    arras_binding  bindings[] = { { "x", { x, ARRAS_F64, 1, (int64_t[]){ CELLS }, NULL } },
                                  { "y", { out->y, ARRAS_F64, 1, (int64_t[]){ CELLS }, NULL } } };
    arras_program *p = NULL;
    arras_status   status;

    ar_core_cache_clear();
    begin();
    record_long(weights);
    status = arras_compile(&p, g, &options, NULL);
    if (status == ARRAS_OK) {
        print_program(&out->source, p, ARRAS_PROGRAM_SOURCE);
        print_program(&out->explained, p, ARRAS_PROGRAM_EXPLAIN);
        CHECK_EQ_INT(arras_launch(NULL, p, 2, bindings, NULL), ARRAS_OK);
    }
    arras_program_free(p);
    ar_core_cache_clear();
    arras_graph_free(g);
    g = NULL;
    return status;
}

/* Whether there is an entry for the program that is good. */
static bool is_kept(const double *weights)
{
    arras_options    options = { .cache = folder };
    ar_compilation  *compilation = NULL;
    ar_program_cache kept;
    bool             found = false;

    begin();
    record_long(weights);
    if (CHECK_EQ_INT(ar_compilation_new(&compilation, g, &options, NULL), ARRAS_OK)) {
        ar_program_cache_open(&kept, compilation);
        found = kept.found;
        ar_program_cache_close(&kept);
        ar_compilation_free(compilation);
    }
    end();
    return found;
}

static void free_outcome(outcome_of_long *o)
{
    arras_text_free(o->source);
    arras_text_free(o->explained);
}

/* Each file of the cache: its number is returned; the byte in the middle changes if that is asked.
 */
static int each_file(bool damage)
{
    DIR *listing = opendir(folder);
    int  count = 0;

    for (struct dirent *d; listing && (d = readdir(listing));) {
        char        path[400], byte;
        struct stat s;
        FILE       *f;

        if (d->d_name[0] == '.')
            continue;
        count++;
        snprintf(path, sizeof path, "%s/%.255s", folder, d->d_name);
        if (!damage || stat(path, &s) != 0 || !(f = fopen(path, "r+")))
            continue;
        fseek(f, (long)s.st_size / 2, SEEK_SET);
        byte = (char)(fgetc(f) ^ 0x55);
        fseek(f, (long)s.st_size / 2, SEEK_SET);
        fputc(byte, f);
        fclose(f);
    }
    if (listing)
        closedir(listing);
    return count;
}

static void remove_folder(void)
{
    char command[100];

    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK_EQ_INT(system(command), 0);
}

static void begin_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/arras-kept-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
}

static void check_same_program(const outcome_of_long *a, const outcome_of_long *b)
{
    CHECK_STR(a->source, b->source);
    CHECK_STR(a->explained, b->explained);
}

static void entries_give_the_same(void)
{
    static const double weights[CELLS] = { 1, -2, 3, -4, 5, -6 },
                        others[CELLS] = { 2, 2, 2, 2, 2, 2 };
    outcome_of_long first = { 0 }, again = { 0 }, other = { 0 }, alone = { 0 };
    int             files;

    begin_folder();
    CHECK(!is_kept(weights));
    CHECK_EQ_INT(compile_long(&first, weights), ARRAS_OK);
    CHECK(is_kept(weights) && is_kept(others));
    files = each_file(false);
    CHECK_EQ_INT(compile_long(&again, weights), ARRAS_OK);
    CHECK_EQ_INT(compile_long(&other, others), ARRAS_OK);
    CHECK(files >= 2);
    CHECK_EQ_INT(each_file(false), files);
    check_same_program(&first, &again);
    check_same_program(&first, &other);
    CHECK(memcmp(first.y, again.y, sizeof first.y) == 0);
    remove_folder();
    /* Other cells of data: as if that program had been the first. */
    begin_folder();
    CHECK_EQ_INT(compile_long(&alone, others), ARRAS_OK);
    CHECK(memcmp(other.y, alone.y, sizeof other.y) == 0);
    CHECK(memcmp(other.y, first.y, sizeof other.y) != 0);
    remove_folder();
    free_outcome(&first), free_outcome(&again), free_outcome(&other), free_outcome(&alone);
}

static void damage_is_seen(void)
{
    static const double weights[CELLS] = { 1, -2, 3, -4, 5, -6 };
    outcome_of_long     first = { 0 }, again = { 0 };

    begin_folder();
    CHECK_EQ_INT(compile_long(&first, weights), ARRAS_OK);
    CHECK(each_file(true) >= 2);
    CHECK(!is_kept(weights));
    CHECK_EQ_INT(compile_long(&again, weights), ARRAS_OK);
    CHECK(is_kept(weights));
    check_same_program(&first, &again);
    CHECK(memcmp(first.y, again.y, sizeof first.y) == 0);
    remove_folder();
    free_outcome(&first), free_outcome(&again);
}

/* Without memory there is an error, or the program is optimised after all. */
static void memory_ends(void)
{
    static const double weights[CELLS] = { 1, -2, 3, -4, 5, -6 };
    outcome_of_long     first = { 0 };
    arras_options       options = { .cache = folder };
    int                 refused = 0;

    begin_folder();
    CHECK_EQ_INT(compile_long(&first, weights), ARRAS_OK);
    for (int64_t n = 1; n < 400; n += 3) {
        arras_program *p = NULL;
        int64_t        live;

        begin();
        record_long(weights);
        live = ar_alloc_live();
        ar_alloc_fail_from(n);
        refused += arras_compile(&p, g, &options, NULL) == ARRAS_ENOMEM;
        ar_alloc_fail_from(0);
        arras_program_free(p);
        ar_core_cache_clear();
        CHECK_EQ_INT(ar_alloc_live(), live);
        arras_graph_free(g);
        g = NULL;
    }
    CHECK(refused > 0);
    remove_folder();
    free_outcome(&first);
}

TEST_MAIN
{
    RUN(random_programs);
    RUN(cut_bytes);
    RUN(entries_give_the_same);
    RUN(damage_is_seen);
    RUN(memory_ends);
}
