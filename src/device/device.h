/* device.h -- graphs of work for a device: built (device_graph.c), made tasks and pictures
 * (device_tasks.c), checked (device_check.c), executable (device_exec.c, device_update.c).
 *
 * Node n becomes task n of the task pool.  The door of device/.  Sees base/, build/ and pool/. */
#ifndef AR_DEVICE_H
#define AR_DEVICE_H

#include "device/device_type.h"

/* ---- Nodes ----------------------------------------------------------------------------------- */

typedef enum {
    AR_NODE_MEMALLOC,
    AR_NODE_MEMFREE,
    AR_NODE_KERNEL,
    AR_NODE_COPY_IN, /* copies have two arguments: ARRAS_COPY_TO and ARRAS_COPY_FROM */
    AR_NODE_COPY_OUT,
    AR_NODE_COPY,
    AR_NODE_JOIN
} ar_node_kind;

typedef struct {
    ar_node_kind  kind;
    int           partner; /* of a memalloc node its memfree node, and the reverse; -1: none */
    int64_t       bytes;   /* of a memalloc node, of a copy */
    arras_kernel *kernel;
    int64_t       items, grain;
    int           first_arg, nargs; /* in the array of all arguments */
} ar_device_node;

typedef struct {
    int before, after;
} ar_device_edge;

/* What a graph and its executable have in common.  Arguments are complete: `bytes` is what is
 * touched, values lie in the arena. */
typedef struct {
    arras_device   *device;
    int             nnodes, nargs;
    ar_device_node *nodes;
    arras_arg      *args;
    ar_arena        arena;
} ar_device_nodes;

struct arras_taskgraph {
    ar_device_nodes all;
    ar_device_edge *edges;
    int             nedges;
    size_t          nodes_capacity, args_capacity, edges_capacity;
};

arras_status ar_device_graph_new(arras_taskgraph **out, arras_device *device, arras_error *err);
void         ar_device_graph_free(arras_taskgraph *graph);

/* Adds a node of this kind with all its fields but those of arguments, which are given apart. */
arras_status ar_device_graph_add(int *out, arras_taskgraph *graph, int n, const int *after,
                                 ar_device_node node, int nargs, const arras_arg *args,
                                 arras_error *err);
arras_status ar_device_graph_order(arras_taskgraph *graph, int before, int after, arras_error *err);

/* Whether an argument may stand at place `i` of a node; completes it. */
arras_status ar_device_arg_check(arras_arg *arg, const ar_device_nodes *all,
                                 const ar_device_node *node, int i, arras_error *err);
/* Both mean the same memory, or the same place of a value. */
bool ar_device_arg_same(const arras_arg *a, const arras_arg *b);
/* "node 3 (copy in)", for messages. */
enum { AR_NODE_LABEL = 96 };
const char *ar_device_node_name(char *label, const ar_device_nodes *all, int node);


/* ---- Checks (device_check.c) ----------------------------------------------------------------- */

/* Some bytes that a node touches. */
typedef struct {
    int      space; /* a memalloc node, or one of the two below */
    uint64_t block; /* which one */
    int64_t  lo, hi;
    int      node;
    bool     writes;
} ar_device_access;

enum { AR_SPACE_HOST = -1, AR_SPACE_BLOCK = -2 };

typedef struct {
    size_t     words;  /* of a row */
    uint64_t  *before; /* bit a of row b: there is a path from node a to node b */
    ar_device_access *accesses; /* [nargs], scratch of the check */
} ar_device_order;

/* From tasks that are instantiated. */
arras_status ar_device_order_make(ar_device_order *out, const ar_device_nodes *all,
                                  const ar_taskgraph *tasks, arras_error *err);
void         ar_device_order_free(ar_device_order *order);
bool         ar_device_path(const ar_device_order *order, int from, int to);
/* Memory is used while it is there, and nothing that is written is touched at the same time.
 * args: in place of those in `all`; old: arguments that were found safe, or NULL. */
arras_status ar_device_check(ar_device_order *order, const ar_device_nodes *all,
                             const arras_arg *args, const arras_arg *old, arras_error *err);

/* ---- Memory (arena_plan.c) ------------------------------------------------------------------- */

/* Two pieces are never alive at the same time. */
typedef bool ar_apart(const void *context, int a, int b);
/* offsets: of each of n pieces, multiples of AR_DEVICE_ALIGN. */
arras_status ar_arena_plan(int64_t *offsets, int64_t *total, int n, const int64_t *bytes,
                           ar_apart *apart, const void *context, arras_error *err);

/* ---- Executables ----------------------------------------------------------------------------- */

typedef struct {
    arras_exec *exec;
    int         node;
    ar_device_call     call;
} ar_exec_task;

/* The graph as tasks that are not instantiated.  contexts: of each task; NULL: for a picture.
 * Names are in `arena`. */
arras_status ar_device_tasks(ar_taskgraph **out, const arras_taskgraph *graph,
                             ar_exec_task *contexts, ar_arena *arena, arras_error *err);
arras_status ar_device_graph_draw(ar_text *out, const arras_taskgraph *graph, arras_error *err);

struct arras_exec {
    ar_device_nodes all;
    arras_arg      *spare; /* arguments as an update would leave them */
    ar_device_order order;
    int64_t        *offsets; /* of each memalloc node in the memory */
    int64_t         requested, planned;
    void           *memory; /* of all memalloc nodes; NULL: there are none */
    ar_device_operand     *operands; /* of each argument */
    void          **slots;
    ar_exec_task   *contexts;
    ar_taskgraph   *tasks;
    ar_trace       *trace;
    atomic_int      state; /* idle, busy or started */
    atomic_int_fast64_t launches, updates;
};

arras_status ar_exec_new(arras_exec **out, const arras_taskgraph *graph, arras_error *err);
void         ar_exec_free(arras_exec *exec);
arras_status ar_exec_launch(arras_exec *exec, arras_error *err);
arras_status ar_exec_start(arras_exec *exec, arras_error *err);
arras_status ar_exec_wait(arras_exec *exec, arras_error *err);
void         ar_exec_cancel(arras_exec *exec);
arras_status ar_exec_update(arras_exec *exec, int n, const arras_update *updates, arras_error *err);
arras_status ar_exec_trace(arras_exec *exec, bool on, arras_error *err);
arras_status ar_exec_print(ar_text *out, const arras_exec *exec, arras_error *err);
void         ar_exec_summarize(arras_exec_summary *out, const arras_exec *exec);

/* Between launches: the executable is the caller's until it is released. */
arras_status ar_exec_claim(arras_exec *exec, const char *what, arras_error *err);
void         ar_exec_release(arras_exec *exec);
void         ar_exec_bind(arras_exec *exec, int node, int i); /* argument i of a node changed */

#endif
