/* source.h -- arrays by name: where they come from (SOURCE) and where they go (SINK).
 * `arras help sources` says what the names mean. */
#ifndef CMD_SOURCE_H
#define CMD_SOURCE_H

#include "cmd/io/npy.h"

/* A file, `-` for standard input, or a literal such as 3.5 or [1,2,3]. */
bool cmd_source_read(cmd_array *out, const char *source, cmd_error *err);
/* The same, but what has more bytes than `most` and can't be mapped stays in its file, and what can
 * be mapped is in the order of its file. */
bool cmd_source_open(cmd_array *out, const char *source, int64_t most, cmd_error *err);
/* As cmd_source_open; messages about a literal say which input it is.  INT64_MAX: it is in memory,
 * and in C order. */
bool cmd_source_read_as(cmd_array *out, const char *name, const char *source, int64_t most,
                        cmd_error *err);
/* As cmd_source_read; header->version is 0 for a literal.  header may be NULL. */
bool cmd_source_load(cmd_array *out, arras_npy_header *header, const char *source, cmd_error *err);
/* Whether it is an array in HDF5, netCDF, Zarr or another container of the library. */
bool cmd_source_is_stored(const char *source);
/* Whether it may have parts: it is in a file of several arrays. */
bool cmd_source_has_parts(const char *source);
/* The source of the part of that name: a member of its records, or what is so called in the group.
 * A new text; false: out of memory. */
bool cmd_source_part(char **out, const char *source, const char *part);
/* A file, whole or not at all, or `-` for standard output. */
bool cmd_sink_write(const char *sink, const cmd_array *a, cmd_error *err);
/* Whether it is an array in HDF5, netCDF or Zarr, which cmd_sink_store makes. */
bool cmd_sink_is_stored(const char *sink);
/* The array, new or, where the sink ends with `+`, with more rows.  like: the source that gives it
 * attributes; may be NULL. */
bool cmd_sink_store(arras_sink **out, const char *sink, const cmd_array *a, const char *like,
                    cmd_error *err);
/* Whether it is a new file of a format of the library, and such a file for an array's cells. */
bool cmd_sink_is_file(const char *sink);
bool cmd_sink_create(arras_sink **out, const char *sink, const cmd_array *a, cmd_error *err);
/* Refuses a sink that would replace the file of a source, or one of the files it consists of. */
bool cmd_sink_check_apart(const char *sink, const char *source, cmd_error *err);
/* Only the first step of it: the file appears when the output is finished. */
bool cmd_sink_open(cmd_output *out, const char *sink, cmd_error *err);

#endif
