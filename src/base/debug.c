/* debug.c -- ARRAS_DEBUG: which stages of compilation show what they made, a letter each, on the
 * standard error.  The only place where the library writes there, and only when it is asked to. */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *letters(void)
{
    const char *value = secure_getenv("ARRAS_DEBUG");

    return value ? value : "";
}

bool ar_debug(char letter) { return strchr(letters(), letter); }

bool ar_debug_shows(void) { return letters()[strspn(letters(), "v")] != '\0'; }

bool ar_debug_verifies(void)
{
#ifdef NDEBUG
    return ar_debug('v');
#else
    return true;
#endif
}

static void put(const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t n = write(STDERR_FILENO, bytes, length);

        if (n <= 0)
            return;
        bytes += n;
        length -= (size_t)n;
    }
}

/* In one piece, so that what several threads show does not mix. */
void ar_debug_show(const char *stage, const ar_text *what)
{
    ar_text all = { 0 };

    ar_text_printf(&all, "---- %s\n", stage);
    ar_text_put(&all, what->data, what->length);
    put(all.data ? all.data : "", all.length);
    ar_text_free(&all);
}
