/* store_hdf5_header.c -- headers of objects, read without libhdf5, which believes what is in those
 * of version 1; later ones have checksums.  And what it believes too much in: heaps of names, links
 * into other files, how chunks are laid out. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/hdf5/store_hdf5.h"
#include "store/hdf5/store_hdf5_header.h"

#include <string.h>
#include <unistd.h>

enum {
    BLOCKS = 64, /* of one header */
    PREFIX = 16, /* bytes before the messages of a header */
    MESSAGE = 8  /* bytes before the content of a message */
};

enum { IS_CONTINUATION = 0x10 };

uint64_t ar_h5_number(ar_h5_bytes b, size_t at, size_t size)
{
    uint64_t value = 0;

    for (size_t i = size; i-- > 0;)
        value = value << 8 | (at < b.n && i < b.n - at ? b.at[at + i] : 0);
    return value;
}

ar_h5_bytes ar_h5_part(ar_h5_bytes b, size_t at, size_t n)
{
    at = at < b.n ? at : b.n;
    return (ar_h5_bytes){ b.at + at, n < b.n - at ? n : b.n - at };
}

ar_h5_bytes ar_h5_of_text(const ar_text *text)
{
    return (ar_h5_bytes){ (const uint8_t *)text->data, text->length };
}

bool ar_h5_load(ar_text *out, ar_h5_raw *file, uint64_t address, uint64_t size)
{
    int64_t at;

    ar_text_cut(out, 0);
    if (size > AR_H5_MOST || address > INT64_MAX || !ar_add64(&at, file->base, (int64_t)address))
        return false;
    if (!ar_text_reserve(out, (size_t)size)) {
        ar_h5_no_memory();
        file->no_memory = true;
        return false;
    }
    if (pread(file->fd, out->data, (size_t)size, at) != (ssize_t)size)
        return false;
    out->length = (size_t)size;
    return true;
}

/* ---- Messages -------------------------------------------------------------------------------- */

typedef struct {
    uint64_t address, size;
} block;

typedef struct {
    block             blocks[BLOCKS];
    int               nblocks; /* of the header, as far as they are known */
    ar_h5_on_message *each;
    void             *context;
} visit;

static void visit_block(visit *v, ar_h5_bytes bytes)
{
    for (size_t at = 0; at + MESSAGE <= bytes.n;) {
        uint64_t    kind = ar_h5_number(bytes, at, 2), n = ar_h5_number(bytes, at + 2, 2);
        ar_h5_bytes content = ar_h5_part(bytes, at + MESSAGE, (size_t)n);

        if (kind == IS_CONTINUATION && v->nblocks < BLOCKS)
            v->blocks[v->nblocks++] =
                (block){ ar_h5_number(content, 0, 8), ar_h5_number(content, 8, 8) };
        v->each(v->context, kind, content);
        at += MESSAGE + (size_t)n;
    }
}

bool ar_h5_header_visit(ar_h5_raw *file, uint64_t address, ar_h5_on_message *each, void *context)
{
    ar_text text = { 0 };
    visit   v = { .each = each, .context = context };
    bool    is_one = ar_h5_load(&text, file, address, PREFIX) && text.data[0] == 1;

    if (is_one)
        v.blocks[v.nblocks++] =
            (block){ address + PREFIX, ar_h5_number(ar_h5_of_text(&text), 8, 4) };
    for (int i = 0; i < v.nblocks; i++)
        if (v.blocks[i].size > AR_H5_MOST)
            file->too_long = true;
        else if (ar_h5_load(&text, file, v.blocks[i].address, v.blocks[i].size))
            visit_block(&v, ar_h5_of_text(&text));
    ar_text_free(&text);
    return is_one;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* A word, a version, then the length. */
bool ar_h5_is_broken_name_heap(const void *data, size_t n, uint64_t file_size)
{
    ar_h5_bytes heap = { data, n };

    return n >= PREFIX && memcmp(data, "HEAP", 4) == 0 && ar_h5_number(heap, 8, 8) > file_size;
}

/* ---- Links into other files ------------------------------------------------------------------ */

enum { EXTERNAL = 64, WITH_KIND = 8, WITH_ORDER = 4, WITH_LETTERS = 16 };

/* Flags, the name of a file, that of an object in it: libhdf5 reads both up to their NULs. */
static bool is_broken_value(ar_h5_bytes value)
{
    ar_h5_bytes names = ar_h5_part(value, 1, value.n);
    const void *end = names.n > 0 ? memchr(names.at, 0, names.n) : NULL;

    return !end || !memchr((const char *)end + 1, 0,
                           (size_t)(names.at + names.n - (const uint8_t *)end) - 1);
}

typedef struct {
    ar_h5_raw   file;
    const char *broken; /* what is; NULL: nothing */
} look;

/* Version, flags, perhaps a kind, an order, letters; how long the name is, the name; then the
 * length of the value and the value. */
static void look_at_link(look *l, ar_h5_bytes link)
{
    uint64_t flags = ar_h5_number(link, 1, 1), width = 1u << (flags & 3), n;
    size_t   at = 2;

    if (!(flags & WITH_KIND) || ar_h5_number(link, at++, 1) != EXTERNAL)
        return;
    at += (flags & WITH_ORDER ? 8u : 0u) + (flags & WITH_LETTERS ? 1u : 0u);
    n = ar_h5_number(link, at, (size_t)width);
    if (n >= link.n) /* libhdf5 sees that, too */
        return;
    at += (size_t)width + (size_t)n;
    if (is_broken_value(ar_h5_part(link, at + 2, (size_t)ar_h5_number(link, at, 2))))
        l->broken = "a link into another file is damaged";
}

/* ---- Layouts --------------------------------------------------------------------------------- */

enum { CHUNKED = 2 };

static size_t size_of_addresses(ar_h5_raw *file)
{
    ar_text  text = { 0 };
    uint64_t size = 8;

    if (ar_h5_load(&text, file, 0, PREFIX))
        size = ar_h5_number(ar_h5_of_text(&text), text.data[8] < 2 ? 13 : 9, 1);
    ar_text_free(&text);
    return (size_t)size;
}

/* Version, class, how many lengths a chunk has (its cells' is the last), the address of the index,
 * the lengths; before version 3 otherwise, and libhdf5 divides by lengths of 0 there. */
static bool is_broken_layout(ar_h5_raw *file, ar_h5_bytes layout)
{
    uint64_t version = ar_h5_number(layout, 0, 1);
    bool     old = version < 3;
    uint64_t class = ar_h5_number(layout, old ? 2 : 1, 1),
             rank = ar_h5_number(layout, old ? 1 : 2, 1);
    bool broken = rank < 2;

    if (class != CHUNKED || version > 3)
        return false;
    for (size_t d = 0, at = old ? 8 + size_of_addresses(file) : 0; old && d < rank; d++)
        broken = broken || ar_h5_number(layout, at + 4 * d, 4) == 0;
    return broken;
}

/* ---- Both ------------------------------------------------------------------------------------ */

static void look_at_message(void *context, uint64_t kind, ar_h5_bytes message)
{
    look *l = context;

    if (kind == AR_H5_LINK)
        look_at_link(l, message);
    if (kind == AR_H5_LAYOUT && is_broken_layout(&l->file, message))
        l->broken = "the layout of its chunks is damaged";
}

const char *ar_h5_what_is_broken(int fd, int64_t base, uint64_t at)
{
    look l = { .file = { .fd = fd, .base = base } };

    ar_h5_header_visit(&l.file, at - (uint64_t)base, look_at_message, &l);
    if (l.file.too_long)
        return "the header of an object is longer than files have it";
    return l.file.no_memory && !l.broken ? "it can't be looked at" : l.broken;
}
#endif
