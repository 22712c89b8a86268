/* store_hdf5_type.c -- types of HDF5 and dtypes, both ways. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/hdf5/store_hdf5.h"

#include <stdio.h>
#include <string.h>

/* Big-endian machines are not known to read HDF5 with this library; the test is for the reader. */
static bool is_other_order(H5T_order_t order)
{
    const uint16_t one = 1;
    uint8_t        first;

    memcpy(&first, &one, 1);
    return order == (first ? H5T_ORDER_BE : H5T_ORDER_LE);
}

static const char *order_words(hid_t type)
{
    H5T_order_t order = H5Tget_size(type) > 1 ? H5Tget_order(type) : H5T_ORDER_NONE;

    return order == H5T_ORDER_BE ? "big-endian " : order == H5T_ORDER_VAX ? "VAX " : "";
}

/* ---- Integers and bit fields ----------------------------------------------------------------- */

/* Every bit of every byte counts. */
static bool uses_all_bits(hid_t type)
{
    return H5Tget_offset(type) == 0 && H5Tget_precision(type) == 8 * H5Tget_size(type);
}

/* libhdf5 1.10 looks for the bits of a number where a damaged file says they are. */
static bool has_room(hid_t type, size_t at, size_t n)
{
    size_t bits = 8 * H5Tget_size(type);

    return at <= bits && n <= bits - at;
}

static arras_dtype integer_of(size_t size, bool is_signed)
{
    static const arras_dtype signed_of[] = { ARRAS_I8, ARRAS_I16, ARRAS_I32, ARRAS_I64 };
    static const arras_dtype unsigned_of[] = { ARRAS_U8, ARRAS_U16, ARRAS_U32, ARRAS_U64 };
    int                      i = size <= 1 ? 0 : size <= 2 ? 1 : size <= 4 ? 2 : 3;

    if (size < 1 || size > 8)
        return ARRAS_NO_DTYPE;
    return (is_signed ? signed_of : unsigned_of)[i];
}

static void set_order(ar_h5_type *out, hid_t type)
{
    H5T_order_t order = H5Tget_order(type);

    out->direct =
        out->direct && (order == H5T_ORDER_LE || order == H5T_ORDER_BE || order == H5T_ORDER_NONE);
    out->swap = out->size > 1 && is_other_order(order) ? (int)out->size : 0;
}

static void describe_integer(ar_h5_type *out, hid_t type)
{
    bool is_signed = H5Tget_class(type) == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2;

    if (has_room(type, (size_t)H5Tget_offset(type), H5Tget_precision(type)))
        out->dtype = integer_of(out->size, is_signed);
    out->direct = out->dtype && uses_all_bits(type) && arras_dtype_size(out->dtype) == out->size;
    set_order(out, type);
    snprintf(out->stored, sizeof out->stored, "%s%s%zu", order_words(type), is_signed ? "i" : "u",
             H5Tget_precision(type));
}

/* Bit fields have no conversion into integers: those that are no plain words are not numbers. */
static void describe_bits(ar_h5_type *out, hid_t type)
{
    describe_integer(out, type);
    if (!out->direct)
        out->dtype = ARRAS_NO_DTYPE;
    snprintf(out->stored, sizeof out->stored, "%sbit field of %zu", order_words(type),
             H5Tget_precision(type));
}

/* ---- Reals ----------------------------------------------------------------------------------- */

typedef struct {
    size_t sign, exponent, exponent_bits, mantissa, mantissa_bits, bias;
    bool   implied; /* the first bit of the mantissa is not stored */
} real_layout;

static bool read_layout(real_layout *out, hid_t type)
{
    out->implied = H5Tget_norm(type) == H5T_NORM_IMPLIED;
    out->bias = H5Tget_ebias(type);
    return H5Tget_fields(type, &out->sign, &out->exponent, &out->exponent_bits, &out->mantissa,
                         &out->mantissa_bits) >= 0;
}

static bool is_ieee(const real_layout *l, size_t bits)
{
    size_t exponent = bits == 16 ? 5 : bits == 32 ? 8 : 11;

    return l->sign == bits - 1 && l->mantissa == 0 && l->exponent == l->mantissa_bits &&
           l->exponent_bits == exponent && l->mantissa_bits == bits - 1 - exponent && l->implied &&
           l->bias == ((size_t)1 << (exponent - 1)) - 1;
}

/* The narrowest type that loses nothing: 16 bits are read as f32 (those of IEEE without libhdf5),
 * 80 bits not at all. */
static void describe_real(ar_h5_type *out, hid_t type)
{
    real_layout l;
    bool        known = read_layout(&l, type);

    snprintf(out->stored, sizeof out->stored, "%sf%zu", order_words(type), H5Tget_precision(type));
    if (!known || out->size > 8 || !has_room(type, l.sign, 1) ||
        !has_room(type, l.exponent, l.exponent_bits) ||
        !has_room(type, l.mantissa, l.mantissa_bits) ||
        !has_room(type, (size_t)H5Tget_offset(type), H5Tget_precision(type)))
        return;
    if (l.mantissa_bits <= 23 && l.exponent_bits <= 8)
        out->dtype = ARRAS_F32;
    else if (l.mantissa_bits <= 52 && l.exponent_bits <= 11)
        out->dtype = ARRAS_F64;
    out->half = out->size == 2 && uses_all_bits(type) && is_ieee(&l, 16);
    out->direct = out->half || (out->dtype && arras_dtype_size(out->dtype) == out->size &&
                                uses_all_bits(type) && is_ieee(&l, 8 * out->size));
    set_order(out, type);
}

/* ---- Types made of others -------------------------------------------------------------------- */

/* h5py's bool: 0 is FALSE, 1 is TRUE, and nothing else. */
static bool is_bool(hid_t type)
{
    int8_t no = 1, yes = 0;

    return H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2 &&
           H5Tenum_valueof(type, "FALSE", &no) >= 0 && H5Tenum_valueof(type, "TRUE", &yes) >= 0 &&
           no == 0 && yes == 1;
}

static void describe_enum(ar_h5_type *out, hid_t type)
{
    hid_t  base = H5Tget_super(type);
    char   words[sizeof out->stored];
    size_t room = sizeof words - sizeof "enum of ";

    if (base < 0)
        return;
    describe_integer(out, base);
    H5Tclose(base);
    if (is_bool(type)) {
        out->dtype = ARRAS_BOOL;
        snprintf(out->stored, sizeof out->stored, "bool");
        return;
    }
    if (!out->direct)
        out->dtype = ARRAS_NO_DTYPE;
    snprintf(words, sizeof words, "enum of %.*s", (int)room, out->stored);
    memcpy(out->stored, words, sizeof words);
}

static bool member_is(hid_t type, unsigned i, const char *name, const char *other)
{
    char *found = H5Tget_member_name(type, i);
    bool  is = found && (strcmp(found, name) == 0 || strcmp(found, other) == 0);

    H5free_memory(found);
    return is;
}

static void describe_member(ar_h5_type *out, hid_t type, unsigned i)
{
    hid_t member = H5Tget_member_type(type, i);

    *out = (ar_h5_type){ 0 };
    if (member < 0)
        return;
    out->size = H5Tget_size(member);
    if (H5Tget_class(member) == H5T_FLOAT)
        describe_real(out, member);
    H5Tclose(member);
}

static void describe_members(ar_h5_type *out, hid_t type)
{
    ar_text names = { 0 };

    ar_h5_members_print(&names, type);
    if (names.length < sizeof out->stored - sizeof "compound ()")
        snprintf(out->stored, sizeof out->stored, "compound (%s)", names.data ? names.data : "");
    else
        snprintf(out->stored, sizeof out->stored, "compound of %d", H5Tget_nmembers(type));
    for (char *c = out->stored; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    ar_text_free(&names);
}

/* Two reals of one type, r and i. */
static void describe_compound(ar_h5_type *out, hid_t type)
{
    ar_h5_type re, im;
    int        members = H5Tget_nmembers(type);

    describe_members(out, type);
    if (members != 2 || !member_is(type, 0, "r", "real") || !member_is(type, 1, "i", "imag"))
        return;
    describe_member(&re, type, 0);
    describe_member(&im, type, 1);
    if (!re.dtype || re.dtype != im.dtype)
        return;
    out->dtype = re.dtype == ARRAS_F32 ? ARRAS_C64 : ARRAS_C128;
    out->direct = re.direct && im.direct && re.swap == im.swap && re.half == im.half &&
                  out->size == 2 * re.size && H5Tget_member_offset(type, 0) == 0 &&
                  H5Tget_member_offset(type, 1) == re.size;
    out->swap = re.swap;
    out->half = re.half;
    snprintf(out->stored, sizeof out->stored, "%sc%zu", re.swap ? "big-endian " : "",
             8 * out->size);
}

static const char *class_words(H5T_class_t class, hid_t type)
{
    switch (class) {
    case H5T_STRING: return H5Tis_variable_str(type) > 0 ? "text of any length" : "text";
    case H5T_OPAQUE: return "opaque bytes";
    case H5T_REFERENCE: return "references";
    case H5T_VLEN: return "lists of any length";
    case H5T_ARRAY: return "arrays";
    case H5T_TIME: return "times";
    default: return "an unknown type";
    }
}

void ar_h5_type_of(ar_h5_type *out, hid_t type)
{
    H5T_class_t class = H5Tget_class(type);

    *out = (ar_h5_type){ .size = H5Tget_size(type) };
    switch (class) {
    case H5T_INTEGER: describe_integer(out, type); break;
    case H5T_BITFIELD: describe_bits(out, type); break;
    case H5T_FLOAT: describe_real(out, type); break;
    case H5T_ENUM: describe_enum(out, type); break;
    case H5T_COMPOUND: describe_compound(out, type); break;
    default: snprintf(out->stored, sizeof out->stored, "%s", class_words(class, type)); break;
    }
    out->direct = out->direct && out->dtype != ARRAS_NO_DTYPE;
}

/* ---- Types of cells in memory and of new datasets -------------------------------------------- */

static hid_t native_number(arras_dtype dtype)
{
    switch (dtype) {
    case ARRAS_I8: return H5T_NATIVE_INT8;
    case ARRAS_I16: return H5T_NATIVE_INT16;
    case ARRAS_I32: return H5T_NATIVE_INT32;
    case ARRAS_I64: return H5T_NATIVE_INT64;
    case ARRAS_U8: return H5T_NATIVE_UINT8;
    case ARRAS_U16: return H5T_NATIVE_UINT16;
    case ARRAS_U32: return H5T_NATIVE_UINT32;
    case ARRAS_U64: return H5T_NATIVE_UINT64;
    case ARRAS_F32: return H5T_NATIVE_FLOAT;
    case ARRAS_F64: return H5T_NATIVE_DOUBLE;
    default: return -1;
    }
}

static hid_t make_complex(hid_t part, const char *re, const char *im)
{
    size_t size = H5Tget_size(part);
    hid_t  type = H5Tcreate(H5T_COMPOUND, 2 * size);

    if (type >= 0 && (H5Tinsert(type, re, 0, part) < 0 || H5Tinsert(type, im, size, part) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

/* Members are matched by name. */
static hid_t complex_in_memory(hid_t part, hid_t stored)
{
    char *re = H5Tget_member_name(stored, 0), *im = H5Tget_member_name(stored, 1);
    hid_t type = re && im ? make_complex(part, re, im) : -1;

    H5free_memory(re);
    H5free_memory(im);
    return type;
}

hid_t ar_h5_type_in_memory(arras_dtype dtype, hid_t stored)
{
    switch (H5Tget_class(stored)) {
    case H5T_COMPOUND:
        return complex_in_memory(dtype == ARRAS_C64 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, stored);
    case H5T_ENUM:
    case H5T_BITFIELD: return H5Tget_native_type(stored, H5T_DIR_ASCEND);
    default: return H5Tcopy(native_number(dtype));
    }
}

static hid_t make_bool(void)
{
    hid_t  type = H5Tenum_create(H5T_NATIVE_INT8);
    int8_t no = 0, yes = 1;

    if (type >= 0 &&
        (H5Tenum_insert(type, "FALSE", &no) < 0 || H5Tenum_insert(type, "TRUE", &yes) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

/* As h5py has it. */
static hid_t make_half(void)
{
    hid_t type = H5Tcopy(H5T_NATIVE_FLOAT);

    if (type >= 0 && (H5Tset_fields(type, 15, 10, 5, 0, 10) < 0 || H5Tset_size(type, 2) < 0 ||
                      H5Tset_ebias(type, 15) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

hid_t ar_h5_type_to_store(arras_dtype dtype, bool half)
{
    if (half)
        return make_half();
    switch (dtype) {
    case ARRAS_BOOL: return make_bool();
    case ARRAS_C64: return make_complex(H5T_NATIVE_FLOAT, "r", "i");
    case ARRAS_C128: return make_complex(H5T_NATIVE_DOUBLE, "r", "i");
    default: return H5Tcopy(native_number(dtype));
    }
}
#endif
