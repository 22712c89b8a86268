/* colour.h -- colour maps made in OKLab: equal steps of a value are equal steps of lightness, so a
 * picture reads the same in grey and for eyes that mix up red and green.  Sees nothing else. */
#ifndef CMD_COLOUR_H
#define CMD_COLOUR_H

#include <stdbool.h>
#include <stdint.h>

enum { CMD_COLOURS = 256 };

typedef struct cmd_rgb {
    uint8_t r, g, b;
} cmd_rgb;

/* A map as a table: colours[0] is the lower end of the scale. */
typedef struct cmd_palette {
    cmd_rgb colours[CMD_COLOURS];
    cmd_rgb missing; /* of nan: no colour of the map comes near it */
    bool    diverging;
} cmd_palette;

/* false when there is no map of that name. */
bool cmd_palette_find(cmd_palette *out, const char *name);
/* The names there are, best first; NULL when out of range. */
const char *cmd_palette_name(int i);

/* t from 0 to 1, beyond it the ends; nan is missing. */
cmd_rgb cmd_palette_at(const cmd_palette *p, double t);

/* The nearest of the 240 fixed colours of a terminal with 256. */
int cmd_colour_of_256(cmd_rgb c);

#endif
