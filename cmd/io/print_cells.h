/* print_cells.h -- how the cells of one array are printed: all of them to the same width, chosen
 * from the cells that are shown. */
#ifndef CMD_PRINT_CELLS_H
#define CMD_PRINT_CELLS_H

#include "cmd/io/array.h"
#include "cmd/io/number_text.h"

#define CMD_CELL_ROOM (2 * CMD_NUMBER_ROOM)

typedef struct cmd_float_format {
    bool   single, plus;
    bool   scientific;
    double least, most; /* of sizes of finite numbers that are not 0; most is 0 if there is none */
    bool   has_nan, has_inf, has_minus_inf, has_finite;
    int    left, right; /* characters before and after the point */
    int    precision;
    int    exponent; /* digits */
} cmd_float_format;

typedef struct cmd_cell_format {
    arras_dtype      dtype;
    int              width; /* of bools and integers */
    cmd_float_format re, im;
} cmd_cell_format;

/* In this order: start, survey every cell, decide, measure every cell; then print.
 * Surveying finds out whether numbers need exponents, measuring how wide they are. */
cmd_cell_format cmd_cells_start(arras_dtype dtype);
void            cmd_cells_survey(cmd_cell_format *f, const void *cell);
void            cmd_cells_decide(cmd_cell_format *f);
void            cmd_cells_measure(cmd_cell_format *f, const void *cell);
void            cmd_cells_fit(cmd_cell_format *f);
void            cmd_cell_print(char out[CMD_CELL_ROOM], const cmd_cell_format *f, const void *cell);

/* The only cell of an array of rank 0. */
void cmd_cell_alone(char out[CMD_CELL_ROOM], arras_dtype dtype, const void *cell);

#endif
