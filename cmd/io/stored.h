/* stored.h -- arrays in HDF5, netCDF and Zarr, through the library. */
#ifndef CMD_STORED_H
#define CMD_STORED_H

#include "cmd/io/names.h"

bool cmd_stored_is(const cmd_place *place);
/* From now on reads of arrays in containers are noted in this file, for `arras chunk --log`. */
void cmd_stored_log_queries(const char *file);
/* An array of numbers, to be closed; its reads are noted where that was asked for. */
bool cmd_stored_open(arras_source **out, const cmd_place *place, cmd_error *err);
/* Bytes of an array that is as well read at once as when it is needed. */
#define CMD_SMALL ((int64_t)16 << 20)
/* All cells of an array; one that has more bytes than `most` stays in its file. */
bool cmd_stored_read(cmd_array *out, const cmd_place *place, int64_t most, cmd_error *err);
/* All cells of an array that has stayed there, now.  Ctrl-C in the REPL ends it with a message. */
bool cmd_stored_fetch(cmd_array *a, const char *name, cmd_error *err);
/* The refusal of an array that holds something else. */
bool cmd_stored_no_numbers(const arras_store_info *info, const char *source, cmd_error *err);
/* Whether this is one array of numbers, not a container of several, text or records. */
bool cmd_stored_is_one(const cmd_place *place);
/* Prints how an array is stored, and its attributes; what a container or a record holds. */
bool cmd_stored_describe(const cmd_place *place, cmd_error *err);
bool cmd_stored_list(const cmd_place *place, cmd_error *err);

/* A new array of the type and shape of `a`; it appears when it is finished.  like: what gives it
 * its attributes and the names of its axes; may be NULL. */
bool cmd_stored_create(arras_sink **out, const cmd_place *place, const cmd_array *a,
                       const cmd_place *like, cmd_error *err);
/* The rows of `a` behind those of an array; where there is none it is made, so that it can grow. */
bool cmd_stored_append(arras_sink **out, const cmd_place *place, const cmd_array *a,
                       const cmd_place *like, cmd_error *err);
bool cmd_stored_write(arras_sink *sink, const cmd_array *a, cmd_error *err);
bool cmd_stored_finish(arras_sink *sink, cmd_error *err);

#endif
