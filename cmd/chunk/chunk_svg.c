/* chunk_svg.c -- a picture of the trade-off: the least cost for each size of a chunk as a curve,
 * and the candidates as dots.  Both axes are logarithmic. */
#include <math.h>
#include <stdlib.h>

#include "cmd/chunk/chunk_report.h"
#include "cmd/io/output_file.h"
#include "cmd/io/quantity.h"

enum { WIDTH = 640, HEIGHT = 400, LEFT = 70, RIGHT = 40, TOP = 30, BOTTOM = 50, MOST_POINTS = 64 };

#define LARGEST 0x1p28 /* bytes of a chunk on the curve */

typedef struct point {
    double bytes, chunks;
} point;

typedef struct plot {
    point  curve[MOST_POINTS];
    int    count;
    double low_x, high_x, low_y, high_y; /* log2 of bytes, log10 of chunks */
} plot;

/* The best shape of each size, twice as large each time, as far as the candidates go. */
static bool trace_curve(plot *p, const cmd_chunk_request *r, const cmd_chunk_result *result,
                        cmd_error *err)
{
    arras_chunk_options o = r->options;
    double              most = 0x1p20;

    for (int i = 0; i < result->count; i++)
        most = fmax(most, fmin(LARGEST, 2 * (double)result->candidates[i].bytes));
    o.within = o.bandwidth = o.latency = 0;
    for (double bytes = 4096; bytes <= most && p->count < MOST_POINTS; bytes *= 2) {
        arras_chunk_advice advice;
        arras_chunk_costs  costs;
        arras_error        why;

        o.limit = (int64_t)bytes;
        if (arras_chunk_advise(&advice, r->workload, &o, &why) != ARRAS_OK)
            continue; /* what is fixed may need more */
        if (arras_chunk_cost(&costs, NULL, r->workload, &o, advice.least, &why) != ARRAS_OK)
            return cmd_fail(err, "%s", why.text);
        p->curve[p->count++] = (point){ bytes, costs.chunks };
    }
    return true;
}

static void include(plot *p, double bytes, double chunks)
{
    p->low_x = fmin(p->low_x, log2(bytes));
    p->high_x = fmax(p->high_x, log2(bytes));
    p->low_y = fmin(p->low_y, log10(chunks));
    p->high_y = fmax(p->high_y, log10(chunks));
}

static void find_bounds(plot *p, const cmd_chunk_result *result)
{
    p->low_x = p->low_y = INFINITY;
    p->high_x = p->high_y = -INFINITY;
    for (int i = 0; i < p->count; i++)
        include(p, p->curve[i].bytes, p->curve[i].chunks);
    for (int i = 0; i < result->count; i++)
        include(p, (double)result->candidates[i].bytes, result->candidates[i].costs.chunks);
    p->low_x = floor(p->low_x / 2) * 2;
    p->high_x = fmax(ceil(p->high_x / 2) * 2, p->low_x + 2);
    p->low_y = floor(p->low_y);
    p->high_y = fmax(ceil(p->high_y), p->low_y + 1);
}

static double x_of(const plot *p, double bytes)
{
    return LEFT + (log2(bytes) - p->low_x) / (p->high_x - p->low_x) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const plot *p, double chunks)
{
    return TOP + (p->high_y - log10(chunks)) / (p->high_y - p->low_y) * (HEIGHT - TOP - BOTTOM);
}

static void draw_grid(FILE *f, const plot *p)
{
    char text[CMD_QUANTITY_ROOM];

    for (double x = p->low_x; x <= p->high_x; x += 2) {
        fprintf(f, "<path d=\"M%.1f %d V%d\" stroke=\"#ddd\"/>\n", x_of(p, exp2(x)), TOP,
                HEIGHT - BOTTOM);
        fprintf(f, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x_of(p, exp2(x)),
                HEIGHT - BOTTOM + 18, cmd_quantity_bytes(text, (int64_t)exp2(x)));
    }
    for (double y = p->low_y; y <= p->high_y; y++) {
        fprintf(f, "<path d=\"M%d %.1f H%d\" stroke=\"#ddd\"/>\n", LEFT, y_of(p, pow(10, y)),
                WIDTH - RIGHT);
        fprintf(f, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", LEFT - 6,
                y_of(p, pow(10, y)) + 4, pow(10, y));
    }
    fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">size of a chunk</text>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12);
    fprintf(f, "<text x=\"%d\" y=\"%d\">chunks read by a query</text>\n", LEFT - 55, TOP - 12);
}

static void draw_curve(FILE *f, const plot *p)
{
    fprintf(f, "<path d=\"");
    for (int i = 0; i < p->count; i++)
        fprintf(f, "%s%.1f %.1f ", i ? "L" : "M", x_of(p, p->curve[i].bytes),
                y_of(p, p->curve[i].chunks));
    fprintf(f, "\" fill=\"none\" stroke=\"#2a6db0\" stroke-width=\"2\"/>\n");
}

static void draw_candidates(FILE *f, const plot *p, const cmd_chunk_result *result)
{
    for (int i = 0; i < result->count; i++) {
        const cmd_chunk_candidate *c = &result->candidates[i];
        double                     x = x_of(p, (double)c->bytes), y = y_of(p, c->costs.chunks);

        if (i == 1)
            continue; /* the least is next to the advised one */
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", x, y,
                i == 0 ? "#c0392b" : "#555");
        fprintf(f, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x + 7, y - 5, c->name);
    }
}

static void draw(FILE *f, const plot *p, const cmd_chunk_result *result)
{
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
    draw_grid(f, p);
    draw_curve(f, p);
    draw_candidates(f, p, result);
    fprintf(f, "</svg>\n");
}

bool cmd_chunk_draw(const char *file, const cmd_chunk_request *r, const cmd_chunk_result *result,
                    cmd_error *err)
{
    plot   p = { .count = 0 };
    char  *text = NULL;
    size_t length = 0;

    if (!trace_curve(&p, r, result, err))
        return false;
    find_bounds(&p, result);
    FILE *f = open_memstream(&text, &length);
    if (!f)
        return cmd_fail(err, "%s: no memory for the picture", file);
    draw(f, &p, result);
    bool ok = fclose(f) == 0 ? cmd_output_whole(file, text, length, err)
                             : cmd_fail(err, "%s: no memory for the picture", file);
    free(text);
    return ok;
}
