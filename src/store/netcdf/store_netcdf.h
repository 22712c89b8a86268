/* store_netcdf.h -- the header of a netCDF classic file: CDF-1, CDF-2 and CDF-5.  Shared by
 * store_netcdf*.c.  Sees base/ and the public header. */
#ifndef AR_STORE_NETCDF_H
#define AR_STORE_NETCDF_H

#include "base/base.h"

/* A name or a value: a piece of the header's bytes. */
typedef struct {
    const char *at;
    size_t      length;
} ar_cdf_text;

typedef struct {
    ar_cdf_text name;
    int64_t     length; /* of the record dimension: the records there are */
    bool        is_record;
} ar_cdf_dim;

typedef struct {
    ar_cdf_text name;
    int         type;
    int64_t     count;
    const char *values; /* count of them, big-endian */
} ar_cdf_attribute;

typedef struct {
    ar_cdf_text       name;
    int               type, rank;
    int64_t          *dims;      /* their numbers */
    bool              is_record; /* the first of them is the record dimension */
    ar_cdf_attribute *attributes;
    int64_t           n_attributes;
    int64_t           begin; /* byte of the first cell */
    int64_t           bytes; /* all cells, or those of one record; without padding */
} ar_cdf_variable;

typedef struct {
    int              version;               /* 1, 2 or 5 */
    int64_t          records, record_bytes; /* from one record to the next */
    ar_cdf_dim      *dims;
    ar_cdf_variable *variables;
    int64_t          n_dims, n_variables;
    ar_arena         arena; /* of all of the above */
} ar_cdf_header;

/* The types of a file; those of CDF-5 only are the last. */
enum { AR_CDF_BYTE = 1, AR_CDF_CHAR = 2, AR_CDF_TYPES = 11 };
int         ar_cdf_size(int type);  /* bytes of a value */
arras_dtype ar_cdf_dtype(int type); /* ARRAS_NO_DTYPE for text */

/* Reads the header out of the first bytes of a file of this size.  *more: they are too few, and the
 * file has more of them.  What is in *out points into `bytes`. */
arras_status ar_cdf_read(ar_cdf_header *out, bool *more, const char *bytes, size_t n, int64_t size,
                         const char *name, arras_error *err);
void         ar_cdf_free(ar_cdf_header *header);

#endif
