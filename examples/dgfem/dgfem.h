/* dgfem.h -- nodal discontinuous Galerkin on a box of tetrahedra, as array programs.
 *
 * dg_element and dg_mesh are plain numbers, made once.  dg_space is what an operator reads of them,
 * recorded in a graph; dg_equations are the operators; the rest records whole programs with them,
 * launches those and reports.  Letters in shapes: E elements, Np nodes of an element, Nfp nodes of
 * a face. */
#ifndef DGFEM_H
#define DGFEM_H

#include <arras/arras.h>
#include <stdio.h>

enum {
    DG_CORNERS = 4, /* of a tetrahedron; as many faces, each opposite to the corner of its number */
    DG_MOST_DEGREE = 4,
    DG_MOST_NODES = 35,      /* Np */
    DG_MOST_FACE_NODES = 15, /* Nfp */
    DG_MOST_FIELDS = 5
};

/* Says what is wrong in err, in one line; returns code. */
arras_status dg_fail(arras_error *err, arras_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- The reference element (dg_element.c) ---------------------------------------------------- */

/* Matrices are in C order; the tetrahedron is the biunit one, of volume 4/3. */
typedef struct {
    int     degree, np, nfp;
    double  nodes[DG_MOST_NODES][DG_CORNERS]; /* barycentric */
    int32_t face_nodes[DG_CORNERS * DG_MOST_FACE_NODES];              /* (4, Nfp) */
    double  mass[DG_MOST_NODES * DG_MOST_NODES];                      /* (Np, Np) */
    double  inverse_mass[DG_MOST_NODES * DG_MOST_NODES];              /* (Np, Np) */
    double  stiffness[3 * DG_MOST_NODES * DG_MOST_NODES];             /* (3, Np, Np): D^T M */
    double  face_mass[DG_MOST_NODES * DG_CORNERS * DG_MOST_FACE_NODES]; /* (Np, 4, Nfp) */
    long double to_basis[DG_MOST_NODES * DG_MOST_NODES]; /* values at nodes -> coefficients */
} dg_element;

arras_status dg_element_make(dg_element *out, int degree, arras_error *err);
/* The values at a point of the functions that are 1 at one node and 0 at all others. */
void dg_element_weights(double *weights, const dg_element *element, const double *barycentric);

/* ---- The mesh (dg_mesh.c) -------------------------------------------------------------------- */

/* A box [-1/2, 1/2]^3 of cells, six tetrahedra each.  All arrays are in C order. */
typedef struct {
    int64_t  cells[3];
    bool     periodic;
    int64_t  count;            /* E */
    double  *metric;           /* (3, 3, E): J dr_j/dx_i */
    double  *jacobian;         /* (E): J */
    double  *inverse_jacobian; /* (E) */
    double  *surface;          /* (4, E): half the area of a face */
    double  *normal;           /* (3, 4, E), outward */
    double  *nodes;            /* (3, E, Np): coordinates */
    double  *parity;           /* (E): 1 and -1, as on a chess board of cells */
    int32_t *across;           /* (4, E): the element across a face; its own where there is none */
    int32_t *across_nodes;     /* (4, E, Nfp): nodes of that element at the same places */
    uint8_t *wall;             /* (4, E): whether there is none */
} dg_mesh;

arras_status dg_mesh_make(dg_mesh *out, const int64_t cells[3], bool periodic,
                          const dg_element *element, arras_error *err);
void         dg_mesh_free(dg_mesh *mesh);
/* The element a point of the box is in, and its barycentric coordinates there. */
int64_t dg_mesh_find(double barycentric[DG_CORNERS], const dg_mesh *mesh, const double point[3]);

/* ---- What operators are made of (dg_space.c) ------------------------------------------------- */

typedef struct {
    arras_graph *graph;
    int64_t      elements, np, nfp;
    arras_array  metric, stiffness, face_mass, inverse_mass, inverse_jacobian, surface;
    arras_array  face_nodes, across, across_nodes; /* (4, Nfp), (4, E, 1), (4, E, Nfp) */
    arras_array  normal[3];                        /* (4, E, 1) */
    arras_array  wall;                             /* (4, E, 1): 1 on walls, else 0 */
} dg_space;

/* The mesh and the element are borrowed: they must outlive the graph and its programs. */
void dg_space_record(dg_space *out, arras_graph *g, const dg_mesh *mesh, const dg_element *element);

/* Values at the nodes of all faces, (4, E, Nfp): of the element itself, and of the one across,
 * which on walls is the element itself. */
arras_array dg_inside(const dg_space *s, arras_array field);
arras_array dg_across(const dg_space *s, arras_array field);
arras_array dg_divergence(const dg_space *s, const arras_array flux[3]); /* weak, (E, Np) */
arras_array dg_gradient(const dg_space *s, arras_array field);           /* weak, (3, E, Np) */
arras_array dg_lift(const dg_space *s, arras_array face_values);         /* (E, Np) */
arras_array dg_solve_mass(const dg_space *s, arras_array field);         /* (E, Np) */
arras_array dg_dot(const arras_array a[3], const arras_array b[3]);
arras_array dg_times(double factor, arras_array x);

/* ---- Equations (dg_wave.c, dg_euler.c) ------------------------------------------------------- */

typedef struct {
    const char *name;
    int         fields;
    const char *names[DG_MOST_FIELDS];
    /* d/dt of the fields, each (E, Np). */
    void (*rates)(arras_array *rates, const dg_space *s, const arras_array *fields);
} dg_equations;

extern const dg_equations dg_wave, dg_euler;

/* ---- Cases (dg_cases.c) ---------------------------------------------------------------------- */

typedef struct {
    arras_array x[3]; /* (E, Np) */
    arras_array t;    /* 0-d */
    arras_array parity; /* (E, 1) */
} dg_place;

typedef struct {
    const char         *name, *text;
    const dg_equations *equations;
    bool                periodic;
    bool                exact;         /* whether `state` is the solution at all times */
    bool                one_rate;      /* only d/dt of the state is wanted */
    double              end;           /* time */
    double              steps_per_cell; /* times (degree + 1)^2 */
    void (*state)(arras_array *fields, const dg_place *at);
} dg_case;

const dg_case *dg_case_find(const dg_equations *equations, const char *name); /* or NULL */
const dg_case *dg_case_at(int i); /* NULL at the end */
int64_t        dg_case_steps(const dg_case *c, const int64_t cells[3], int degree);

/* ---- Programs -------------------------------------------------------------------------------- */

typedef struct {
    const dg_case *of;
    dg_element     element;
    dg_mesh        mesh;
} dg_problem;

arras_status dg_problem_make(dg_problem *out, const dg_case *of, int degree, const int64_t cells[3],
                             arras_error *err);
void         dg_problem_free(dg_problem *problem);

/* Inputs are the fields by their names, and "dt" for a step; outputs are the same names after
 * "new_": one right-hand side, or the state after the five of a Runge-Kutta step. (dg_step.c) */
typedef enum { DG_RATES, DG_STEP } dg_program_kind;
void         dg_program_record(arras_graph *g, const dg_problem *problem, dg_program_kind kind);
arras_status dg_program_compile(arras_program **out, const dg_problem *problem,
                                dg_program_kind kind, const arras_options *options,
                                arras_error *err);

/* All fields of one moment, each (E, Np). */
typedef struct {
    double *fields[DG_MOST_FIELDS];
} dg_state;
arras_status dg_state_make(dg_state *out, const dg_problem *problem, arras_error *err);
void         dg_state_free(dg_state *state);
/* The case's state at a time. (dg_measure.c) */
arras_status dg_state_set(dg_state *state, const dg_problem *problem, double time,
                          arras_error *err);

/* One launch; dt is NULL for DG_RATES. (dg_step.c) */
arras_status dg_launch(arras_program *program, const dg_problem *problem, dg_state *in,
                       dg_state *out, double *dt, arras_error *err);
/* Leaves the new state in *state. */
arras_status dg_advance(arras_program *step, const dg_problem *problem, dg_state *state,
                        int64_t steps, double dt, double *seconds, arras_error *err);

/* ---- Measures and pictures (dg_measure.c, dg_picture.c) -------------------------------------- */

typedef struct {
    double norms[DG_MOST_FIELDS], errors[DG_MOST_FIELDS], integrals[DG_MOST_FIELDS];
    double error; /* of all fields; errors are against the case's state at `time` */
} dg_measures;

arras_status dg_measure(dg_measures *out, const dg_problem *problem, const dg_state *state,
                        double time, arras_error *err);
/* A .npy file of so many times so many values of a field on the plane z = height. */
arras_status dg_picture(const char *path, const dg_problem *problem, const double *field,
                        double height, int64_t points, arras_error *err);

/* ---- Reports (dg_report.c) ------------------------------------------------------------------- */

typedef struct {
    const dg_problem *problem;
    int64_t           steps;
    double            seconds; /* of all right-hand sides after the first launch */
    int64_t           rates;   /* how many these were */
    dg_measures       before, after;
    arras_counters    counters;
} dg_run;

void dg_report_json(FILE *to, const dg_run *run);
void dg_report_text(FILE *to, const dg_run *run, const dg_run *coarser); /* NULL: there is none */

#endif
