/* stored.h -- arrays in HDF5, netCDF and Zarr, through the library. */
#ifndef CMD_STORED_H
#define CMD_STORED_H

#include "cmd/names.h"

bool cmd_stored_is(const cmd_place *place);
/* All cells of an array. */
bool cmd_stored_read(cmd_array *out, const cmd_place *place, cmd_error *err);
/* Whether this is one array, not a container of several. */
bool cmd_stored_is_one(const cmd_place *place);
/* Prints how an array is stored, and its attributes; what a container holds. */
bool cmd_stored_describe(const cmd_place *place, cmd_error *err);
bool cmd_stored_list(const cmd_place *place, cmd_error *err);

/* A new array of the type and shape of `a`; it appears when it is finished. */
bool cmd_stored_create(arras_sink **out, const cmd_place *place, const cmd_array *a,
                       cmd_error *err);
bool cmd_stored_write(arras_sink *sink, const cmd_array *a, cmd_error *err);
bool cmd_stored_finish(arras_sink *sink, cmd_error *err);

#endif
