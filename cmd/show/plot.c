/* plot.c -- the line through a vector as strokes within a square. */
#include "cmd/show/picture.h"

#include <math.h>

/* Cuts a stroke at y = 0 and y = 1; false when nothing is left. */
static bool cut(double *x0, double *y0, double *x1, double *y1)
{
    double from = 0, to = 1, rise = *y1 - *y0, run = *x1 - *x0, x = *x0, y = *y0;

    if (rise == 0) {
        if (y < 0 || y > 1)
            return false;
    } else {
        double at_zero = -y / rise, at_one = (1 - y) / rise;

        from = fmax(from, fmin(at_zero, at_one));
        to = fmin(to, fmax(at_zero, at_one));
    }
    if (from > to)
        return false;
    *x0 = x + from * run;
    *x1 = x + to * run;
    *y0 = y + from * rise;
    *y1 = y + to * rise;
    return true;
}

void cmd_curve_walk(const cmd_curve *c, const cmd_scale *s, cmd_stroke *visit, void *user)
{
    double last = NAN;

    for (int64_t i = 0; i < c->count; i++) {
        double y = cmd_scale_place(s, c->y[i]);
        double next = i + 1 < c->count ? cmd_scale_place(s, c->y[i + 1]) : NAN;
        bool   alone = !isfinite(last) && !isfinite(next);
        double x0 = c->x[i], y0 = y, x1 = alone ? x0 : c->x[i + 1 < c->count ? i + 1 : i];
        double y1 = alone ? y : next;

        last = y;
        if (isfinite(y0) && isfinite(y1) && cut(&x0, &y0, &x1, &y1))
            visit(user, x0, y0, x1, y1);
    }
}
