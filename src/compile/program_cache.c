/* program_cache.c -- what a program became is kept on disk, so that another process need neither
 * optimise it nor generate its sources again.
 *
 * An entry is found by all that decides what it is: the program as recorded (but for the cells of
 * its data, of which nothing is kept), the options, the machine, and the sources of all that makes
 * the entry.  As for kernels, the whole key and a checksum are compared before it is believed. */
#include "compile/program_cache.h"

#include <string.h>
#include <unistd.h>

/* Nodes of a program: smaller ones are compiled in less time than it takes to read a file. */
enum { WORTH_IT = 100 };

/* ---- Where ----------------------------------------------------------------------------------- */

static void describe_machine(ar_text *out)
{
    ar_text_printf(out, "%s, %d CPUs, functions in vectors:", ar_cpu_identity(),
                   ar_machine_host()->cpus);
    for (ar_op op = 0; op < AR_OP_END; op++)
        for (arras_dtype dtype = ARRAS_F32; dtype <= ARRAS_F64; dtype++)
            if (ar_c_is_vector_math(op, dtype))
                ar_text_printf(out, " %d.%d", (int)op, (int)dtype);
#ifdef _CS_GNU_LIBC_VERSION /* numbers that were folded have its bits */
    char version[64] = "";

    confstr(_CS_GNU_LIBC_VERSION, version, sizeof version);
    ar_text_printf(out, ", %s", version);
#endif
}

static void make_key(ar_program_cache *k)
{
    k->parts[0] = (ar_bytes){ k->compilation->key.data, k->compilation->key.length };
    k->parts[1] = (ar_bytes){ k->machine.data, k->machine.length };
    k->parts[2] = (ar_bytes){ ARRAS_GENERATOR, strlen(ARRAS_GENERATOR) };
    k->parts[3] = (ar_bytes){ arras_version(), strlen(arras_version()) };
    k->key = (ar_key){ k->parts, AR_COUNT(k->parts) };
}

void ar_program_cache_open(ar_program_cache *k, const ar_compilation *compilation)
{
    ar_build_options options = { .cache = compilation->cache, .hash = ar_hash_bytes };

    *k = (ar_program_cache){ .compilation = compilation, .disk = { .directory = -1 } };
    /* Who asks what the stages make wants them to run. */
    if (compilation->options.no_cache || ar_graph_count(compilation->g) < WORTH_IT ||
        ar_debug_shows())
        return;
    describe_machine(&k->machine);
    make_key(k);
    if (!k->machine.failed)
        ar_disk_open(&k->disk, &options, &k->key);
    k->found = k->disk.directory >= 0 && ar_disk_fetch(&k->bytes, &k->disk, &k->key);
}

void ar_program_cache_close(ar_program_cache *k)
{
    ar_disk_close(&k->disk);
    ar_text_free(&k->machine);
    ar_text_free(&k->bytes);
}

/* ---- Out ------------------------------------------------------------------------------------- */

static void unpack_sources(ar_program_cache *k, ar_unpacker *u)
{
    int64_t n = ar_unpack_number(u);

    u->failed = u->failed || n < 0 || n > AR_MOST_UNITS;
    for (k->nsources = 0; k->nsources < n && !u->failed; k->nsources++) {
        struct ar_cached_source *source = &k->sources[k->nsources];

        source->in_vectors = ar_unpack_number(u) != 0;
        source->text = ar_unpack_string(u);
    }
}

static bool unpack(arras_graph **out, ar_decisions *decisions, ar_program_cache *k)
{
    ar_unpacker  u = { .at = k->bytes.data, .end = k->bytes.data + k->bytes.length };
    arras_graph *g = ar_graph_unpack(&u, k->compilation->g);

    if (g)
        unpack_sources(k, &u);
    if (!g || u.failed || !ar_decisions_unpack(decisions, &u, g)) {
        ar_graph_free(g);
        return false;
    }
    *out = g;
    return true;
}

/* ---- In -------------------------------------------------------------------------------------- */

/* Before it is planned: a plan adds to the graph. */
static void pack(const arras_graph *g, ar_program_cache *k)
{
    k->found = false;
    ar_text_free(&k->bytes);
    if (k->disk.directory >= 0 && !ar_graph_pack(&k->bytes, g, k->compilation->g))
        ar_text_free(&k->bytes);
}

arras_status ar_program_cache_optimise(arras_graph **out, ar_decisions *decisions,
                                       ar_program_cache *k, arras_error *err)
{
    ar_opt_options options = { k->compilation->options.no_fusion, ar_machine_host() };
    arras_status   status;

    if (k->found && unpack(out, decisions, k))
        return ARRAS_OK;
    status = ar_optimise(out, k->compilation->g, &options, decisions, err);
    if (status == ARRAS_OK)
        pack(*out, k);
    return status;
}

arras_status ar_program_cache_sources(ar_core_parts *parts, const ar_program_cache *k,
                                      arras_error *err)
{
    for (int i = 0; i < k->nsources; i++) {
        ar_text_add(&parts->sources[i].text, k->sources[i].text);
        parts->sources[i].in_vectors = k->sources[i].in_vectors;
        if (parts->sources[i].text.failed)
            return ar_fail_memory(err, strlen(k->sources[i].text));
    }
    parts->nsources = k->nsources;
    return ARRAS_OK;
}

/* What cannot be stored is made again. */
void ar_program_cache_store(ar_program_cache *k, const ar_core_parts *parts)
{
    int64_t evicted = 0;

    if (k->found || k->bytes.length == 0)
        return;
    ar_pack_number(&k->bytes, parts->nsources);
    for (int i = 0; i < parts->nsources; i++) {
        ar_pack_number(&k->bytes, parts->sources[i].in_vectors);
        ar_pack_string(&k->bytes, parts->sources[i].text.data);
    }
    if (ar_decisions_pack(&k->bytes, parts->notes))
        ar_disk_store(&k->disk, &k->key, &k->bytes, &evicted);
}
