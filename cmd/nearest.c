/* nearest.c -- what a misspelt word may have been meant to be. */
#include <string.h>

#include "cmd/commands.h"
#include "cmd/show/letters.h"

#define MAX_WORD 40 /* longer words get no suggestion */

static int min3(int a, int b, int c)
{
    int least = a < b ? a : b;

    return least < c ? least : c;
}

/* Insertions, deletions, replacements and swaps of neighbours that make one word of the other.
 * rows[i % 3][j]: for the first i characters of a and j of b. */
static int distance(const char *a, const char *b)
{
    int rows[3][MAX_WORD + 1];
    int na = (int)strlen(a), nb = (int)strlen(b);

    for (int j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *row = rows[i % 3], *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];

        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            bool same = cmd_lower(a[i - 1]) == cmd_lower(b[j - 1]);

            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + !same);
            if (i > 1 && j > 1 && cmd_lower(a[i - 1]) == cmd_lower(b[j - 2]) &&
                cmd_lower(a[i - 2]) == cmd_lower(b[j - 1]) && two_above[j - 2] + 1 < row[j])
                row[j] = two_above[j - 2] + 1;
        }
    }
    return rows[na % 3][nb];
}

const char *cmd_nearest(const char *name, const char *const *names)
{
    size_t      length = strlen(name);
    const char *best = NULL;
    int         least = length > 8 ? 4 : length > 5 ? 3 : length > 2 ? 2 : 1; /* must be less */

    if (length == 0 || length > MAX_WORD)
        return NULL;
    for (int i = 0; names[i]; i++) {
        if (strlen(names[i]) > MAX_WORD)
            continue;
        int d = distance(name, names[i]);
        if (d < least && d < (int)strlen(names[i])) {
            least = d;
            best = names[i];
        }
    }
    return best;
}
