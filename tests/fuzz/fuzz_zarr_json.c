/* fuzz_zarr_json.c -- any bytes as the metadata of a Zarr array, of either version: what is
 * accepted has a geometry that holds together, and what is refused says why in one line. */
#include <stdlib.h>
#include <string.h>

#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#if defined ARRAS_HAVE_JANSSON
#include "store/zarr/store_zarr.h"

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_meta(const ar_zarr_meta *meta)
{
    int64_t bytes = (int64_t)arras_dtype_size(meta->info.dtype);
    char    key[AR_ZARR_KEY];
    int64_t last[ARRAS_MAX_RANK];

    must(bytes > 0 && meta->info.rank >= 0 && meta->info.rank <= ARRAS_MAX_RANK);
    for (int d = 0; d < meta->info.rank; d++) {
        must(meta->info.shape[d] >= 0 && meta->info.chunk[d] >= 1);
        must(ar_mul64(&bytes, bytes, meta->info.chunk[d]));
        must(!meta->shard.used ||
             meta->shard.per_axis[d] * meta->info.chunk[d] == meta->shard.shape[d]);
        last[d] = INT64_MAX;
    }
    must(meta->chain.n <= AR_CODECS);
    for (int k = 0; k < meta->chain.n; k++)
        must(meta->chain.steps[k].codec && meta->chain.steps[k].nvalues <= AR_CODEC_PARAMETERS);
    ar_zarr_key(key, meta, last);
    must(strlen(key) < sizeof key && !strstr(key, "..") && key[0] != '/');
}

static void print_again(const ar_zarr_meta *meta)
{
    ar_text text = { 0 };

    ar_zarr_print_fill(&text, meta->info.dtype, meta->info.fill);
    must(text.length > 0);
    ar_text_free(&text);
}

static void read_as(int version, const json_t *json)
{
    ar_zarr_meta meta;
    arras_error  err = { 0 };
    arras_status status = version == 2 ? ar_zarr_read_v2(&meta, json, json, "input", &err)
                                       : ar_zarr_read_v3(&meta, json, "input", &err);

    if (status == ARRAS_OK) {
        check_meta(&meta);
        print_again(&meta);
    } else {
        must(*err.text && !strchr(err.text, '\n'));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t     *json = NULL;
    arras_error err = { 0 };
    ar_text     text = { 0 };

    if (ar_json_read(&json, (const char *)data, size, "input", &err) != ARRAS_OK) {
        must(*err.text && !strchr(err.text, '\n'));
        return 0;
    }
    read_as(2, json);
    read_as(3, json);
    ar_json_print_value(&text, json);
    ar_text_free(&text);
    json_decref(json);
    return 0;
}
#else
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)data, (void)size;
    return 0;
}
#endif
