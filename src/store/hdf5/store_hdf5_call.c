/* store_hdf5_call.c -- calls of libhdf5: one thread at a time, and its failures as one line. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/hdf5/store_hdf5.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Others in this process may use libhdf5 as well (h5py does); what they set is put back. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static H5E_auto2_t     their_printer;
static void           *their_data;
static bool            no_memory;

void ar_h5_enter(void)
{
    pthread_mutex_lock(&lock);
    H5Eget_auto2(H5E_DEFAULT, &their_printer, &their_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    no_memory = false;
}

void ar_h5_leave(void)
{
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, their_printer, their_data);
    pthread_mutex_unlock(&lock);
}

/* Of a chunk, or of the index in which it would be. */
static bool says_not_stored(const char *text)
{
    return strstr(text, "chunk address isn't defined") ||
           strstr(text, "storage is not initialized");
}

/* Upwards is from where it was noticed to the function that was called: the first is the cause. */
static herr_t take_first(unsigned n, const H5E_error2_t *error, void *context)
{
    ar_h5_reason *out = context;

    if (n == 0) {
        snprintf(out->text, sizeof out->text, "%s", error->desc ? error->desc : "no reason given");
        out->not_stored = says_not_stored(out->text);
    }
    return 0;
}

void ar_h5_why(ar_h5_reason *out)
{
    *out = (ar_h5_reason){ .text = "libhdf5 does not say why" };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, out);
}

void ar_h5_no_memory(void) { no_memory = true; }

bool ar_h5_had_no_memory(void) { return no_memory; }

arras_status ar_h5_fail(arras_error *err, arras_status code, const char *name, const char *what)
{
    ar_h5_reason reason;

    if (no_memory)
        return ar_fail_memory(err, sizeof(H5FD_t));
    ar_h5_why(&reason);
    return ar_fail(err, code, "%s: %s: %s", name, what, reason.text);
}

hid_t ar_h5_keep(ar_h5_ids *ids, hid_t id)
{
    if (id >= 0)
        ids->ids[ids->n++] = id;
    return id;
}

/* Each by its kind, whatever that is; the last first.  Every call forgets why the one before it
 * failed, so that is put aside. */
void ar_h5_close(ar_h5_ids *ids)
{
    hid_t reasons = H5Eget_current_stack();

    while (ids->n > 0)
        H5Idec_ref(ids->ids[--ids->n]);
    H5Eset_current_stack(reasons);
}
#endif
