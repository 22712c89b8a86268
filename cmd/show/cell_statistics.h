/* cell_statistics.h -- statistics of the cells of an array, computed by one Arras program. */
#ifndef CMD_CELL_STATISTICS_H
#define CMD_CELL_STATISTICS_H

#include "cmd/io/array.h"

typedef struct cmd_statistics {
    int64_t     count;      /* finite cells: all that follows is about them */
    int64_t     nans, infs; /* the others */
    bool        of_sizes;    /* of abs(x), because x is complex */
    arras_dtype dtype;       /* of least and most */
    char        least[8], most[8];
    double      mean, std; /* of the count cells; nothing is said about no cells */
} cmd_statistics;

bool cmd_statistics_of(cmd_statistics *out, const cmd_array *a, cmd_error *err);
/* Of an array in a file, tile by tile, within the memory there is; progress is shown. */
bool cmd_statistics_of_stored(cmd_statistics *out, arras_source *source, cmd_error *err);

#endif
