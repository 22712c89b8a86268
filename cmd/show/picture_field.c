/* picture_field.c -- the cells of a view in numbers: statistics, means at another size, the line
 * through a vector.  Cells are read in blocks, so that no copy of the array is ever made. */
#include "cmd/show/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2048 };

static int64_t block_at(int64_t from, int64_t length)
{
    return length - from < BLOCK ? length - from : BLOCK;
}

/* ---- Statistics ------------------------------------------------------------------------------ */

/* Sums of one block, about its own mean: no digits are lost, however far from 0 the cells are. */
typedef struct {
    double count, mean, squares;
} moments;

/* The moments of two blocks together (Chan, Golub and LeVeque, 1979). */
static moments join(moments a, moments b)
{
    double count = a.count + b.count, apart = b.mean - a.mean;

    if (b.count == 0)
        return a;
    return (moments){ count, a.mean + apart * (b.count / count),
                      a.squares + b.squares + apart * apart * (a.count * b.count / count) };
}

static moments moments_of(const double *cells, int64_t n, cmd_view_statistics *s)
{
    moments m = { 0, 0, 0 };
    double  sum = 0;

    for (int64_t i = 0; i < n; i++) {
        bool finite = isfinite(cells[i]);

        s->nans += isnan(cells[i]) != 0;
        s->infinities += isinf(cells[i]) != 0;
        sum += finite ? cells[i] : 0;
        m.count += finite;
        s->min = finite && cells[i] < s->min ? cells[i] : s->min;
        s->max = finite && cells[i] > s->max ? cells[i] : s->max;
    }
    if (m.count == 0)
        return m;
    m.mean = sum / m.count;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(cells[i]))
            m.squares += (cells[i] - m.mean) * (cells[i] - m.mean);
    return m;
}

bool cmd_view_measure(cmd_view_statistics *out, const cmd_view *v, cmd_error *err)
{
    int64_t             rows = cmd_view_rows(v), columns = cmd_view_columns(v);
    cmd_view_statistics s = { .count = rows * columns, .min = INFINITY, .max = -INFINITY };
    moments             all = { 0, 0, 0 };
    double              cells[BLOCK];

    for (int64_t row = 0; row < rows; row++)
        for (int64_t at = 0; at < columns; at += BLOCK) {
            int64_t n = block_at(at, columns);

            if (!cmd_view_read(cells, v, row, at, n, err))
                return false;
            all = join(all, moments_of(cells, n, &s));
        }
    if (all.count == 0)
        s.min = s.max = NAN;
    s.mean = all.count > 0 ? all.mean : NAN;
    s.std = all.count > 0 ? sqrt(all.squares / all.count) : NAN;
    *out = s;
    return true;
}

/* ---- Means ----------------------------------------------------------------------------------- */

/* Both sizes are laid over one ruler: of n cells that become w, a cell is w units long and a mean
 * covers n units.  A weight is a part of what a mean covers, so that no sum leaves the range of its
 * cells. */

/* Sums of a line of means: of value * weight, and of the weights of what is not nan. */
typedef struct {
    double *sum, *weight;
} sums;

/* Adds one row of cells to a line of w means. */
static bool gather_row(sums line, int w, const cmd_view *v, int64_t row, cmd_error *err)
{
    int64_t n = cmd_view_columns(v), mean = 0, at = 0, mean_end = n;
    double  cells[BLOCK];

    for (int64_t from = 0; from < n; from += BLOCK) {
        int64_t count = block_at(from, n);

        if (!cmd_view_read(cells, v, row, from, count, err))
            return false;
        for (int64_t i = 0; i < count; i++)
            for (int64_t cell_end = (from + i + 1) * w; at < cell_end;) {
                int64_t end = cell_end < mean_end ? cell_end : mean_end;
                double  weight = (double)(end - at) / (double)n;

                if (!isnan(cells[i])) {
                    line.sum[mean] += cells[i] * weight;
                    line.weight[mean] += weight;
                }
                at = end;
                mean += at == mean_end;
                mean_end += at == mean_end ? n : 0;
            }
    }
    return true;
}

static void add_line(sums to, sums line, int w, double weight)
{
    for (int i = 0; i < w; i++) {
        to.sum[i] += line.sum[i] * weight;
        to.weight[i] += line.weight[i] * weight;
    }
}

/* Adds a line, made of row `row`, to all rows of means that it touches. */
static void spread_line(sums field, int rows, sums line, int w, int64_t row, int64_t n)
{
    int64_t at = row * rows, cell_end = at + rows;

    for (int64_t mean = at / n; at < cell_end; mean++) {
        int64_t mean_end = (mean + 1) * n, end = cell_end < mean_end ? cell_end : mean_end;
        sums    to = { field.sum + mean * w, field.weight + mean * w };

        add_line(to, line, w, (double)(end - at) / (double)n);
        at = end;
    }
}

static bool fill_field(sums field, sums line, const cmd_view *v, int rows, int columns,
                       cmd_error *err)
{
    int64_t n = cmd_view_rows(v);

    for (int64_t row = 0; row < n; row++) {
        memset(line.sum, 0, (size_t)columns * sizeof *line.sum);
        memset(line.weight, 0, (size_t)columns * sizeof *line.weight);
        if (!gather_row(line, columns, v, row, err))
            return false;
        spread_line(field, rows, line, columns, row, n);
    }
    for (int64_t i = 0; i < (int64_t)rows * columns; i++)
        field.sum[i] /= field.weight[i]; /* 0 / 0: nan where there was no number */
    return true;
}

bool cmd_field_new(cmd_field *out, const cmd_view *v, int rows, int columns, cmd_error *err)
{
    size_t count = (size_t)rows * (size_t)columns;
    sums   field = { calloc(count, sizeof(double)), calloc(count, sizeof(double)) };
    sums   line = { calloc((size_t)columns, sizeof(double)),
                    calloc((size_t)columns, sizeof(double)) };
    bool   ok = field.sum && field.weight && line.sum && line.weight;

    ok = ok ? fill_field(field, line, v, rows, columns, err)
            : cmd_fail(err, "out of memory for a picture of %d x %d cells", columns, rows);
    if (ok)
        *out = (cmd_field){ rows, columns, field.sum };
    else
        free(field.sum);
    free(field.weight);
    free(line.sum);
    free(line.weight);
    return ok;
}

void cmd_field_free(cmd_field *f)
{
    free(f->cells);
    *f = (cmd_field){ 0 };
}

/* ---- Curves ---------------------------------------------------------------------------------- */

static void add_point(cmd_curve *c, double x, double y)
{
    c->x[c->count] = x;
    c->y[c->count] = y;
    c->count++;
}

static bool trace_cells(cmd_curve *c, const cmd_view *v, cmd_error *err)
{
    int64_t n = cmd_view_columns(v);

    if (!cmd_view_read(c->y, v, 0, 0, n, err))
        return false;
    for (int64_t i = 0; i < n; i++)
        c->x[i] = ((double)i + 0.5) / (double)n;
    c->count = n;
    return true;
}

/* The smallest and the largest of some cells; low > high when all are nan. */
static bool extremes(double *low, double *high, const cmd_view *v, int64_t from, int64_t to,
                     cmd_error *err)
{
    double cells[BLOCK];

    *low = INFINITY;
    *high = -INFINITY;
    for (int64_t at = from; at < to; at += BLOCK) {
        int64_t n = block_at(at, to);

        if (!cmd_view_read(cells, v, 0, at, n, err))
            return false;
        for (int64_t i = 0; i < n; i++) {
            *low = cells[i] < *low ? cells[i] : *low;
            *high = cells[i] > *high ? cells[i] : *high;
        }
    }
    return true;
}

/* A column begins at the end that is nearer to where the last one stopped. */
static bool trace_envelope(cmd_curve *c, const cmd_view *v, int columns, cmd_error *err)
{
    int64_t n = cmd_view_columns(v);
    double  last = NAN;

    for (int k = 0; k < columns; k++) {
        double x = (k + 0.5) / columns, low, high;

        if (!extremes(&low, &high, v, n * k / columns, n * (k + 1) / columns, err))
            return false;
        if (low > high) {
            add_point(c, x, NAN);
            last = NAN;
            continue;
        }
        bool rise = isnan(last) || fabs(last - low) <= fabs(last - high);
        add_point(c, x, rise ? low : high);
        if (low < high)
            add_point(c, x, rise ? high : low);
        last = c->y[c->count - 1];
    }
    return true;
}

bool cmd_curve_new(cmd_curve *out, const cmd_view *v, int columns, cmd_error *err)
{
    bool      envelope = cmd_view_columns(v) > 2 * (int64_t)columns;
    size_t    points = envelope ? 2 * (size_t)columns : (size_t)cmd_view_columns(v);
    cmd_curve c = { 0, calloc(points, sizeof(double)), calloc(points, sizeof(double)), envelope };

    if (!c.x || !c.y) {
        cmd_curve_free(&c);
        return cmd_fail(err, "out of memory for a line of %zu points", points);
    }
    if (!(envelope ? trace_envelope(&c, v, columns, err) : trace_cells(&c, v, err))) {
        cmd_curve_free(&c);
        return false;
    }
    *out = c;
    return true;
}

void cmd_curve_free(cmd_curve *c)
{
    free(c->x);
    free(c->y);
    *c = (cmd_curve){ 0 };
}
