/* axes.c -- names of the axes of new arrays that are like others.  netCDF and xarray want a name
 * for each, which has one length in all arrays of a group: axes that are not those of the other
 * array are called by their lengths. */
#include "store/store.h"

#include <stdio.h>
#include <string.h>

static bool is_named(const ar_store_info *info)
{
    for (int d = 0; d < info->rank; d++)
        if (info->axes[d][0])
            return true;
    return false;
}

static bool is_taken(const ar_store_info *info, int axis)
{
    for (int d = 0; d < axis; d++)
        if (strcmp(info->axes[d], info->axes[axis]) == 0)
            return true;
    return false;
}

/* An axis as long as the one it is like, or one that still grows, has its name. */
static bool keeps_name(const ar_store_info *info, int axis, const ar_store_info *like, int other)
{
    return like->axes[other][0] &&
           (info->growable[axis] || info->shape[axis] == like->shape[other]);
}

/* A line that is called as an axis: its coordinates. */
static bool is_coordinate(const ar_store_info *info, const char *name, const ar_store_info *like)
{
    for (int d = 0; d < like->rank; d++)
        if (info->rank == 1 && strcmp(name, like->axes[d]) == 0 && keeps_name(info, 0, like, d))
            return true;
    return false;
}

/* Only a line may be called as its axis. */
static void name_axis(ar_store_info *info, int d, const char *own, const ar_store_info *like)
{
    const size_t room = sizeof info->axes[d];
    const char  *name = like->rank == info->rank ? like->axes[d] : "";
    size_t       n;

    if (*name && keeps_name(info, d, like, d) && (info->rank == 1 || strcmp(name, own) != 0))
        snprintf(info->axes[d], room, "%s", name);
    else
        snprintf(info->axes[d], room, "%.40s_%" PRId64, *name ? name : "dim", info->shape[d]);
    n = strlen(info->axes[d]);
    for (int i = 1; is_taken(info, d) && i < ARRAS_MAX_RANK; i++)
        snprintf(info->axes[d] + n, room - n, "_%d", i);
}

void ar_axes_like(ar_store_info *info, const char *name, const ar_store_info *like)
{
    if (!is_named(like))
        return;
    for (int d = 0; d < info->rank; d++)
        name_axis(info, d, name, like);
    if (is_coordinate(info, name, like))
        memcpy(info->axes[0], name, strlen(name) + 1); /* as short as the one it is equal to */
}
