/* demo.c -- a sea with eddies: record a small array program, look at it, compile it, launch it, see
 * the picture.
 *
 * h is the height of the sea surface.  Water flows around highs and lows (geostrophic balance), so
 * the speed of the current is the length of the gradient of h. */
#include <arras/arras.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 48, COLS = 96 };

static double height[ROWS][COLS];

/* A handful of eddies: bumps and dips of different size. */
static void make_sea(void)
{
    static const double eddies[][4] = {
        /* row, column, radius, height in metres */
        { 14, 20, 6, 0.9 }, { 30, 34, 8, -0.8 }, { 16, 52, 7, 0.7 },
        { 34, 66, 6, 0.8 }, { 14, 80, 8, -0.9 }, { 38, 12, 5, -0.5 },
    };

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) {
            height[i][j] = 0.1 * sin(0.3 * i) * cos(0.2 * j);
            for (size_t e = 0; e < sizeof eddies / sizeof eddies[0]; e++) {
                double di = i - eddies[e][0], dj = j - eddies[e][1], r = eddies[e][2];

                height[i][j] += eddies[e][3] * exp(-(di * di + dj * dj) / (r * r));
            }
        }
}

/* The program: nothing is computed here, only recorded. */
static void record(arras_graph *g)
{
    const arras_dim  shape[] = { ROWS, COLS };
    const arras_edge edges[] = { { ARRAS_EDGE_NEAREST, NULL }, { ARRAS_EDGE_WRAP, NULL } };
    const int64_t    cross[] = { 0, 0, -1, 0, 1, 0, 0, -1, 0, 1 };
    const double     soften[] = { 0.5, 0.125, 0.125, 0.125, 0.125 };
    const int64_t    sides[] = { -1, 0, 1, 0, 0, -1, 0, 1 };
    arras_array      h = arras_placeholder(g, "h", ARRAS_F64, 2, shape), near[4], smooth, speed;

    smooth = arras_stencil(h, 5, cross, soften, edges);
    arras_neighbours(near, smooth, 4, sides, edges);
    speed = arras_hypot(arras_subtract(near[1], near[0]), arras_subtract(near[3], near[2]));
    arras_output(g, "speed", speed);
    arras_output(g, "mean", arras_mean(speed, 0, NULL, false));
    arras_output(g, "fastest", arras_max(speed, 0, NULL, false));
}

static void stop_on(arras_status status, const arras_error *err)
{
    if (status == ARRAS_OK)
        return;
    fprintf(stderr, "demo: %s\n", err->text);
    exit(1);
}

static void show_text(const arras_graph *g, arras_text_form form, const char *title)
{
    arras_error err;
    char       *text = NULL;

    stop_on(arras_graph_print(&text, NULL, g, form, &err), &err);
    printf("\n== %s\n\n%s", title, text);
    arras_text_free(text);
}

static void save_dot(const arras_graph *g, const char *path)
{
    arras_error err;
    char       *text = NULL;
    FILE       *file = fopen(path, "w");

    if (!file) {
        printf("\n(no picture of the graph: %s can't be written)\n", path);
        return;
    }
    stop_on(arras_graph_print(&text, NULL, g, ARRAS_TEXT_DOT, &err), &err);
    fputs(text, file);
    fclose(file);
    arras_text_free(text);
    printf("\nThe graph as a picture: dot -Tpng %s -o demo.png\n", path);
}

/* From deep blue over green to yellow, in steps of equal lightness. */
static int colour(double t)
{
    static const int ramp[] = { 17, 18, 24, 30, 36, 42, 78, 114, 150, 186, 220, 226 };
    int              last = (int)(sizeof ramp / sizeof ramp[0]) - 1, at = (int)(t * last + 0.5);

    return ramp[at < 0 ? 0 : at > last ? last : at];
}

/* Two rows of cells to a line of text: the upper half block has one colour, its ground the other.
 */
static void show_field(const double *cells, double top)
{
    int terminal = isatty(STDOUT_FILENO);

    for (int i = 0; i < ROWS; i += 2) {
        for (int j = 0; j < COLS; j++) {
            double upper = cells[i * COLS + j] / top, lower = cells[(i + 1) * COLS + j] / top;

            if (terminal)
                printf("\033[38;5;%d;48;5;%dm\u2580", colour(upper), colour(lower));
            else
                putchar(" .:-=+*#%@"[(int)(9.99 * (upper + lower) / 2)]);
        }
        puts(terminal ? "\033[0m" : "");
    }
}

static double number(const arras_results *r, const char *name)
{
    return *(const double *)arras_results_find(r, name)->buffer.data;
}

/* Why the program is computed as it is. */
static void explain(const arras_program *p)
{
    arras_error err;
    char       *text = NULL;

    if (arras_program_warning(p)) {
        printf("\n(%s)\n", arras_program_warning(p));
        return;
    }
    stop_on(arras_program_print(&text, NULL, p, ARRAS_PROGRAM_EXPLAIN, &err), &err);
    printf("\n== As it was compiled\n\n%s", text);
    arras_text_free(text);
}

static void run(const arras_graph *g)
{
    const int64_t       shape[] = { ROWS, COLS };
    const arras_binding input = { "h", { height, ARRAS_F64, 2, shape, NULL } };
    arras_program      *program = NULL;
    arras_results      *results = NULL;
    arras_error         err;

    stop_on(arras_compile(&program, g, NULL, &err), &err);
    explain(program);
    stop_on(arras_launch(&results, program, 1, &input, &err), &err);
    arras_program_free(program);
    printf("\n== Speed of the current: mean %.4f, fastest %.4f\n\n", number(results, "mean"),
           number(results, "fastest"));
    show_field(arras_results_find(results, "speed")->buffer.data, number(results, "fastest"));
    arras_results_free(results);
}

/* Builders never fail: what is wrong is said when the program is run. */
static void show_mistake(void)
{
    arras_graph *g = NULL;
    arras_error  err;
    arras_array  a, b;

    stop_on(arras_graph_new(&g, &err), &err);
    a = arras_placeholder(g, "a", ARRAS_F32, 2, (const arras_dim[]){ 3, 4 });
    b = arras_placeholder(g, "b", ARRAS_F32, 2, (const arras_dim[]){ 3, 5 });
    arras_output(g, "y", arras_sin(arras_add(a, b)));
    if (arras_check(g, &err) != ARRAS_OK)
        printf("\n== A mistake is one line, when the program is run\n\n%s\n", err.text);
    arras_graph_free(g);
}

int main(int argc, char **argv)
{
    arras_graph *g = NULL;
    arras_error  err;

    stop_on(arras_graph_new(&g, &err), &err);
    printf("Arras %s\n", arras_version());
    make_sea();
    record(g);
    show_text(g, ARRAS_TEXT_BRIEF, "The program, as it was recorded");
    show_text(g, ARRAS_TEXT_SUMMARY, "What it would cost, operation by operation");
    run(g);
    show_mistake();
    save_dot(g, argc > 1 ? argv[1] : "demo.dot");
    arras_graph_free(g);
    return 0;
}
