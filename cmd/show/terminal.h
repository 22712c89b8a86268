/* terminal.h -- what the terminal behind a file can show. */
#ifndef CMD_TERMINAL_H
#define CMD_TERMINAL_H

#include "cmd/show/picture.h"

/* Its size in characters (80 x 24 when it does not say), and its colours: none when it is no
 * terminal, when TERM is dumb, or when NO_COLOR is set; CLICOLOR_FORCE asks for them everywhere. */
cmd_screen cmd_terminal_of(FILE *file);

#endif
