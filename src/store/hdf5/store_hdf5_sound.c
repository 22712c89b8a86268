/* store_hdf5_sound.c -- which attributes of an object can be read without harm.
 *
 * libhdf5 1.10 believes what attributes say: how many values there are and, of texts and lists of
 * any length, where in which heap they stand.  A damaged file then ends in a crash.  New object
 * headers have checksums; in old ones (version 1) every attribute is looked at here before libhdf5
 * reads it. Numbers in files are little-endian. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/hdf5/store_hdf5.h"
#include "store/hdf5/store_hdf5_header.h"

#include <string.h>

enum {
    PREFIX = 16, /* bytes before the values of a heap, and before each of them */
    PLACE = 16   /* bytes of a length and a place */
};

enum { OF_INTEGERS = 0, OF_REALS = 1, OF_TEXT = 3, OF_REFERENCES = 7, OF_LISTS = 9, LAST = 10 };

typedef struct {
    ar_h5_raw file;
    ar_text   heap;  /* the last one that was read */
    uint64_t  where; /* and its address */
    ar_text  *names;
} reader;

/* ---- Heaps ----------------------------------------------------------------------------------- */

static bool load_heap(reader *r, uint64_t address)
{
    if (r->heap.length > 0 && r->where == address)
        return true;
    r->where = address;
    if (ar_h5_load(&r->heap, &r->file, address, PREFIX) && memcmp(r->heap.data, "GCOL\1", 5) == 0 &&
        ar_h5_load(&r->heap, &r->file, address, ar_h5_number(ar_h5_of_text(&r->heap), 8, 8)))
        return true;
    ar_text_cut(&r->heap, 0);
    return false;
}

/* Every value lies within its heap; whether the one that is wanted has its length is told.  What is
 * left has the number 0. */
static bool look_through(bool *found, ar_h5_bytes heap, uint64_t index, uint64_t size)
{
    *found = false;
    for (size_t at = PREFIX; at + PREFIX <= heap.n;) {
        uint64_t i = ar_h5_number(heap, at, 2), n = ar_h5_number(heap, at + 8, 8),
                 room = heap.n - at;

        if (i == 0)
            return n == room;
        if (n > room - PREFIX)
            return false;
        *found = *found || (i == index && n == size);
        at += PREFIX + (size_t)((n + 7) / 8 * 8);
    }
    return true;
}

static bool heap_has(reader *r, uint64_t address, uint64_t index, uint64_t size)
{
    bool found;

    return load_heap(r, address) && look_through(&found, ar_h5_of_text(&r->heap), index, size) &&
           found;
}

/* Of a long heap libhdf5 reads the beginning first, which is `data`, and then only the rest. */
bool ar_h5_is_broken_heap(int fd, uint64_t at, const void *data, size_t n)
{
    ar_h5_raw   file = { .fd = fd };
    ar_h5_bytes all = { data, n };
    ar_text     whole = { 0 };
    bool        found, broken;

    if (n < PREFIX || memcmp(data, "GCOL\1", 5) != 0)
        return false;
    broken = !ar_h5_load(&whole, &file, at, ar_h5_number(all, 8, 8)) ||
             !look_through(&found, ar_h5_of_text(&whole), 0, 0);
    ar_text_free(&whole);
    return broken;
}

static bool places_are_sound(reader *r, ar_h5_bytes places, uint64_t count, uint64_t unit)
{
    for (uint64_t i = 0; i < count; i++) {
        size_t   at = (size_t)i * PLACE;
        uint64_t n = ar_h5_number(places, at, 4), address = ar_h5_number(places, at + 4, 8);

        if (address != 0 && !heap_has(r, address, ar_h5_number(places, at + 12, 4), n * unit))
            return false;
    }
    return true;
}

/* Lists of plain numbers, letters or references; lists of lists are not looked through. */
static bool is_plain_list(ar_h5_bytes type)
{
    uint64_t element = ar_h5_number(type, 8, 1) & 15, unit = ar_h5_number(type, 12, 4);

    return ar_h5_number(type, 4, 4) == PLACE && unit >= 1 && unit <= 16 &&
           (element == OF_INTEGERS || element == OF_REALS || element == OF_TEXT ||
            element == OF_REFERENCES);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

/* How many values a shape makes; false: it is none, or more than a header has room for. */
static bool count_values(uint64_t *out, ar_h5_bytes shape)
{
    uint64_t version = ar_h5_number(shape, 0, 1), rank = ar_h5_number(shape, 1, 1);
    size_t   at = version == 1 ? 8 : 4;
    int64_t  count = version == 2 && ar_h5_number(shape, 3, 1) == 2 ? 0 : 1; /* 2: of nothing */

    if (version < 1 || version > 2 || rank > ARRAS_MAX_RANK || at + 8 * rank > shape.n)
        return false;
    for (uint64_t d = 0; d < rank; d++) {
        uint64_t length = ar_h5_number(shape, at + 8 * (size_t)d, 8);

        if (length > AR_H5_MOST || !ar_mul64(&count, count, (int64_t)length) || count > AR_H5_MOST)
            return false;
    }
    *out = (uint64_t)count;
    return true;
}

static bool values_are_sound(reader *r, ar_h5_bytes type, ar_h5_bytes shape, ar_h5_bytes values)
{
    uint64_t class = ar_h5_number(type, 0, 1) & 15, size = ar_h5_number(type, 4, 4), count = 0;

    if (type.n < 8 || class > LAST || !count_values(&count, shape) || size > AR_H5_MOST ||
        count * size > values.n)
        return false;
    return class != OF_LISTS ||
           (is_plain_list(type) && places_are_sound(r, values, count, ar_h5_number(type, 12, 4)));
}

static size_t padded(uint64_t n, bool pads) { return (size_t)(pads ? (n + 7) / 8 * 8 : n); }

/* Its version, flags or nothing, three sizes, perhaps an encoding; then name, type, shape, values.
 * Flags say that type or shape are elsewhere. */
static void see_message(void *context, uint64_t kind, ar_h5_bytes message)
{
    reader  *r = context;
    uint64_t version = ar_h5_number(message, 0, 1),
             flags = version > 1 ? ar_h5_number(message, 1, 1) : 0;
    size_t      name_at = version == 3 ? 9 : 8;
    size_t      type_at = name_at + padded(ar_h5_number(message, 2, 2), version == 1);
    size_t      shape_at = type_at + padded(ar_h5_number(message, 4, 2), version == 1);
    size_t      values_at = shape_at + padded(ar_h5_number(message, 6, 2), version == 1);
    ar_h5_bytes name = ar_h5_part(message, name_at, (size_t)ar_h5_number(message, 2, 2));

    if (kind != AR_H5_ATTRIBUTE || version < 1 || version > 3 || flags || values_at > message.n ||
        name.n < 2 || memchr(name.at, 0, name.n) != name.at + name.n - 1)
        return;
    if (values_are_sound(r, ar_h5_part(message, type_at, shape_at - type_at),
                         ar_h5_part(message, shape_at, values_at - shape_at),
                         ar_h5_part(message, values_at, message.n)))
        ar_text_put(r->names, (const char *)name.at, name.n);
}

/* ---- Objects --------------------------------------------------------------------------------- */

static herr_t add_name(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    (void)object, (void)info;
    ar_text_put(context, name, strlen(name) + 1);
    return 0;
}

/* Headers that are not of version 1 have checksums. */
static void see_header(reader *r, hid_t object, uint64_t address)
{
    hsize_t first = 0;

    if (!ar_h5_header_visit(&r->file, address, see_message, r))
        H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &first, add_name, r->names);
}

static bool start(reader *r, hid_t object)
{
    ar_h5_ids ids = { .n = 0 };
    hid_t     file = ar_h5_keep(&ids, H5Iget_file_id(object));
    hid_t     plist = file < 0 ? -1 : ar_h5_keep(&ids, H5Fget_create_plist(file));
    hsize_t   base = 0;
    size_t    address = 0, size = 0;
    bool      good = plist >= 0 && H5Pget_userblock(plist, &base) >= 0 &&
                H5Pget_sizes(plist, &address, &size) >= 0;

    r->file = (ar_h5_raw){ .fd = ar_h5_descriptor(object), .base = (int64_t)base };
    ar_h5_close(&ids);
    return good && r->file.fd >= 0 && address == 8 && size == 8 && base <= INT64_MAX;
}

void ar_h5_attributes_find(ar_text *names, hid_t object)
{
    reader     r = { .names = names };
    H5O_info_t info;

    if (start(&r, object) && H5Oget_info2(object, &info, H5O_INFO_BASIC) >= 0)
        see_header(&r, object, info.addr);
    ar_text_free(&r.heap);
}
#endif
