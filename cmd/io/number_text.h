/* number_text.h -- floating-point numbers as the shortest digits that read back as the same number,
 * laid out as NumPy does. */
#ifndef CMD_NUMBER_TEXT_H
#define CMD_NUMBER_TEXT_H

#include <stdbool.h>

#define CMD_NUMBER_ROOM 400 /* a number in full, with its NUL */

typedef struct cmd_number_form {
    bool single;     /* the number is an f32 */
    bool plus;       /* a sign also when it is not negative */
    int  precision;  /* digits after the point, at most; less than 0: as many as it takes */
    int  min_digits; /* digits after the point, at least */
    int  exponent;   /* digits of the exponent, at least */
} cmd_number_form;

/* "12.5", "3." and "1.25e+10", "3.e+10"; x is finite. */
void cmd_number_positional(char out[CMD_NUMBER_ROOM], double x, const cmd_number_form *form);
void cmd_number_scientific(char out[CMD_NUMBER_ROOM], double x, const cmd_number_form *form);

/* One number by itself: 3.5, 1e+16, nan; and with_point: 3.0 instead of 3. */
void cmd_number_alone(char out[CMD_NUMBER_ROOM], double x, bool single, bool plus, bool with_point);

#endif
