/* store_hdf5_member.c -- members of compound types, each an array of its own. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/hdf5/store_hdf5.h"

#include <string.h>

void ar_h5_members_print(ar_text *out, hid_t type)
{
    int n = H5Tget_nmembers(type);

    for (int i = 0; i < n; i++) {
        char *name = H5Tget_member_name(type, (unsigned)i);

        ar_text_printf(out, "%s%s", i ? ", " : "", name ? name : "?");
        H5free_memory(name);
    }
}

static bool is_called(hid_t type, unsigned i, const char *name, size_t length)
{
    char *found = H5Tget_member_name(type, i);
    bool  is = found && strlen(found) == length && memcmp(found, name, length) == 0;

    H5free_memory(found);
    return is;
}

/* The number of a member whose name is the start of `path`: all of it, or up to a dot. */
static int find_first(hid_t type, const char *path, size_t *length)
{
    int n = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_nmembers(type) : 0;

    for (*length = strlen(path); *length > 0; --*length) {
        if (path[*length] && path[*length] != '.')
            continue;
        for (int i = 0; i < n; i++)
            if (is_called(type, (unsigned)i, path, *length))
                return i;
    }
    return -1;
}

/* What has any length is something else in the file than in memory, and so is where the members
 * behind it are. */
static bool is_fixed(hid_t type, int depth)
{
    enum { DEEPEST = 16 };
    H5T_class_t class = H5Tget_class(type);
    int  n = class == H5T_COMPOUND ? H5Tget_nmembers(type) : class == H5T_ARRAY;
    bool fixed = depth < DEEPEST && class != H5T_VLEN && class != H5T_REFERENCE &&
                 !(class == H5T_STRING && H5Tis_variable_str(type) != 0);

    for (int i = 0; i < n && fixed; i++) {
        hid_t part =
            class == H5T_ARRAY ? H5Tget_super(type) : H5Tget_member_type(type, (unsigned)i);

        fixed = part >= 0 && is_fixed(part, depth + 1);
        if (part >= 0)
            H5Tclose(part);
    }
    return fixed;
}

/* Whether all members lie within their records: libhdf5 copies them from where a file says. */
static bool is_sound(hid_t type, int depth)
{
    enum { DEEPEST = 16 };
    int    n = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_nmembers(type) : 0;
    size_t size = H5Tget_size(type);
    bool   sound = depth < DEEPEST;

    for (int i = 0; i < n && sound; i++) {
        hid_t  member = H5Tget_member_type(type, (unsigned)i);
        size_t at = H5Tget_member_offset(type, (unsigned)i);

        sound = member >= 0 && at <= size && H5Tget_size(member) <= size - at &&
                is_sound(member, depth + 1);
        if (member >= 0)
            H5Tclose(member);
    }
    return sound;
}

/* A record in memory that holds one thing. */
static hid_t wrap(hid_t inner, const char *path, size_t length)
{
    char  name[256];
    hid_t type = -1;

    if (inner < 0 || length >= sizeof name)
        return -1;
    memcpy(name, path, length);
    name[length] = '\0';
    type = H5Tcreate(H5T_COMPOUND, H5Tget_size(inner));
    if (type >= 0 && H5Tinsert(type, name, 0, inner) < 0) {
        H5Tclose(type);
        type = -1;
    }
    return type;
}

/* Records in records: as deep as the path is long. */
static hid_t find(ar_h5_member *out, hid_t stored, const char *path)
{
    size_t    length;
    int       i = find_first(stored, path, &length);
    ar_h5_ids ids = { .n = 0 };
    hid_t     type = i < 0 ? -1 : ar_h5_keep(&ids, H5Tget_member_type(stored, (unsigned)i)), inner;
    hid_t     memory = -1;

    if (type >= 0) {
        out->at += H5Tget_member_offset(stored, (unsigned)i);
        ar_h5_type_of(&out->type, type);
        if (path[length])
            inner = find(out, type, path + length + 1);
        else
            inner = out->type.dtype ? ar_h5_type_in_memory(out->type.dtype, type) : H5Tcopy(type);
        memory = wrap(ar_h5_keep(&ids, inner), path, length);
    }
    ar_h5_close(&ids);
    return memory;
}

arras_status ar_h5_member_find(ar_h5_member *out, hid_t stored, const char *member,
                               const char *name, arras_error *err)
{
    ar_text      members = { 0 };
    ar_h5_member found = { .at = 0 };

    if (!is_sound(stored, 0))
        return ar_fail(err, ARRAS_EFORMAT,
                       "%s: the file is damaged: a member of its records ends beyond them", name);
    found.memory = find(&found, stored, member);
    if (found.memory >= 0) {
        found.fixed = is_fixed(stored, 0);
        found.type.direct = found.type.direct && found.fixed;
        *out = found;
        return ARRAS_OK;
    }
    if (H5Tget_class(stored) == H5T_COMPOUND)
        ar_h5_members_print(&members, stored);
    ar_fail(err, ARRAS_ENAME, "%s: there is no member %s%s%s", name, member,
            members.data ? "; the members are " : "", members.data ? members.data : "");
    ar_text_free(&members);
    return ARRAS_ENAME;
}
#endif
