/* names.h -- what users write for arrays at rest: file.npy, file.h5:/path, file.nc:var, dir.zarr, -
 * `:` parts the file from what is inside it; a backslash before `:` or `\` takes it as it is.
 * @raw or @missing=NUMBER at the end says how packed and missing cells are read. */
#ifndef CMD_NAMES_H
#define CMD_NAMES_H

#include "cmd/io/array.h"

/* X(CONSTANT, endings of file names) */
#define CMD_FORMAT_LIST(X)                                                                         \
    X(NPY, ".npy")                                                                                 \
    X(HDF5, ".h5 .hdf5 .he5")                                                                      \
    X(NETCDF, ".nc .nc4 .cdf")                                                                     \
    X(ZARR, ".zarr")

typedef enum {
    CMD_FORMAT_UNKNOWN, /* a literal, or a file that does not say what it is */
    CMD_FORMAT_STREAM,  /* `-` */
#define CMD_FORMAT_ENUM(constant, endings) CMD_FORMAT_##constant,
    CMD_FORMAT_LIST(CMD_FORMAT_ENUM)
#undef CMD_FORMAT_ENUM
} cmd_format;

typedef struct cmd_place {
    cmd_format format;
    char      *file; /* without escapes */
    char      *part; /* after the colon; NULL when there is none */

    arras_source_options options;
} cmd_place;

/* The format alone, of so many bytes: it takes no memory, so that the answer is always the same. */
cmd_format cmd_place_format(const char *text, size_t length);
bool cmd_place_parse(cmd_place *out, const char *text, cmd_error *err);
void cmd_place_free(cmd_place *place); /* accepts one that was zeroed */

/* Splits "name=rest" at the first `=`; *rest points into text.  false when there is none, or the
 * name is not one of the language. */
bool cmd_assignment_split(char **name, const char **rest, const char *text);

#endif
