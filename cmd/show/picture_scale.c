/* picture_scale.c -- from values to places on a scale; round numbers for ticks. */
#include "cmd/show/picture.h"

#include <math.h>
#include <string.h>

/* Halves, since hi - lo may be beyond what a double holds. */
double cmd_scale_place(const cmd_scale *s, double value)
{
    if (isnan(value))
        return NAN;
    if (!(s->lo < s->hi))
        return 0.5;
    return (value / 2 - s->lo / 2) / (s->hi / 2 - s->lo / 2);
}

cmd_number cmd_number_of(double value)
{
    cmd_number n;

    snprintf(n.text, sizeof n.text, "%.6g", value == 0 ? 0 : value);
    return n;
}

/* The smallest of 1, 2, 5 times a power of ten that is not below `least`. */
static double round_step(double least)
{
    double power = pow(10, floor(log10(least)));

    for (int i = 0; i < 3; i++)
        if ((double[]){ 1, 2, 5 }[i] * power >= least * (1 - 1e-9))
            return (double[]){ 1, 2, 5 }[i] * power;
    return 10 * power;
}

/* As many digits as tell one tick from the next. */
static void put_label(char *out, size_t size, double value, double step, double largest)
{
    int first = (int)floor(log10(largest)), last = (int)floor(log10(step) + 1e-9);

    if (fabs(value) < step / 1000)
        value = 0;
    if (first >= 6 || last < -5)
        snprintf(out, size, "%.*g", first - last + 1 > 17 ? 17 : first - last + 1, value);
    else
        snprintf(out, size, "%.*f", last < 0 ? -last : 0, value);
}

static void one_tick(cmd_ticks *out, double value)
{
    out->count = 1;
    out->at[0] = value;
    snprintf(out->label[0], sizeof out->label[0], "%s", cmd_number_of(value).text);
}

void cmd_scale_ticks(cmd_ticks *out, const cmd_scale *s, int most)
{
    cmd_ticks_between(out, s->lo, s->hi, most, s->integers);
    for (int i = 0; s->truth && i < out->count; i++)
        snprintf(out->label[i], sizeof out->label[i], "%s", out->at[i] > 0 ? "true" : "false");
}

void cmd_ticks_between(cmd_ticks *out, double lo, double hi, int most, bool integers)
{
    double width = hi - lo, largest = fmax(fabs(lo), fabs(hi)), step, from;

    most = most > CMD_MAX_TICKS ? CMD_MAX_TICKS : most < 2 ? 2 : most;
    /* Too wide to divide, or so narrow that neighbouring ticks would be the same number. */
    if (!(width > 1e-13 * largest) || !isfinite(width) || width < 1e-300) {
        one_tick(out, lo);
        return;
    }
    step = round_step(width / most);
    if (integers && step < 1)
        step = 1;
    from = ceil(lo / step - 1e-9);
    out->count = 0;
    for (double k = from; k * step <= hi + step * 1e-9 && out->count < most; k++) {
        out->at[out->count] = k * step;
        put_label(out->label[out->count], sizeof out->label[0], k * step, step, largest);
        out->count++;
    }
    if (out->count == 0)
        one_tick(out, lo);
}
