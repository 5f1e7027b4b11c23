/* cuda/core/core.h: the objects behind a CUDA program's calls: devices, contexts, modules, memory, streams.
 *
 * The state of the process is `core`, as a driver's is. Every entry point of the driver and the runtime holds
 * core.lock from its beginning to its end; all functions here expect the caller to hold it. The lock is
 * released only while an operation runs (queue.c), and taken again before any of the state is read.
 *
 * All devices live in one emulator: device memory is one range of addresses, and an address alone tells
 * device memory from host memory. A kernel reaches another device's memory where the program has let it.
 */
#ifndef HEDDLE_CUDA_CORE_CORE_H
#define HEDDLE_CUDA_CORE_CORE_H

#include <pthread.h>

#include "abi/cuda.h"
#include "cuda/core/calling.h"
#include "heddle/emu.h"
#include "heddle/program.h"

enum { CORE_MAX_DEVICES = 64, CORE_VERSION = 13000 };

/* Every handle starts with its kind, so that a wrong or stale one is recognised. */
typedef enum core_kind {
  CORE_DEAD = 0,
  CORE_CONTEXT = 0x63757831,
  CORE_MODULE,
  CORE_LIBRARY,
  CORE_FUNCTION,
  CORE_KERNEL,
  CORE_STREAM,
  CORE_EVENT,
  CORE_LINK,
  CORE_ARRAY,
  CORE_POOL,
  CORE_PHYSICAL,
  CORE_GRAPH,
  CORE_NODE,
  CORE_GRAPH_EXEC,
  CORE_USER_OBJECT,
} core_kind;

typedef struct cu_context_ core_context;
typedef struct cu_module_ core_module;
typedef struct cu_library_ core_library;
typedef struct cu_function_ core_function;
typedef struct cu_stream_ core_stream;
typedef struct cu_event_ core_event;
typedef struct core_op core_op;
typedef struct cu_node_ core_node;
typedef HD_VEC(core_node *) core_nodes;

/* ---- The process (process.c) --------------------------------------------------------------------- */

typedef struct core_device {
  int ordinal;
  core_context *primary; /* NULL: not made yet */
  unsigned primary_refs, primary_flags;
  uint64_t used;                        /* bytes allocated */
  uint64_t graph_used[2];               /* of them by graphs that ran: now, and at most */
  uint64_t graph_reserved[2];           /* likewise, with what may be used again */
  struct cu_pool_ *default_pool, *pool; /* NULL: not asked for yet; the one that is in use */
} core_device;

typedef struct core_state {
  pthread_mutex_t lock;
  pthread_cond_t changed; /* an operation has ended */
  hd_program_settings settings;
  hd_emu *emu;      /* NULL: not initialised */
  int pid;          /* of the process that initialised, or tried; a fork of it has no devices */
  bool initialised; /* by cuInit */
  bool ended;       /* the process exits: calls answer CU_DEINITIALIZED */
  bool log_lost;    /* lines of it are on standard error */
  uint64_t calls;   /* of the program's */
  core_device devices[CORE_MAX_DEVICES];
  HD_VEC(core_context *) contexts;
  uint64_t next_id; /* of contexts, allocations, events, ... */
} core_state;
extern core_state core;

/* Take the settings from the environment and make the emulator, once. */
cu_result core_start(void);
/* CU_SUCCESS from cuInit to the process's end, in the process that called it; else the error to return. */
cu_result core_ready(void);
/* A line on standard error, begun with "heddle: ". */
void core_say(const char *fmt, ...) HD_PRINTF(1, 2);
/* The lines that core_say was given more than once, which it printed once, with their counts. */
void core_say_counts(void);

/* How far each stream had come, as an operation or a thread knows: a vector clock (order.h). */
typedef struct core_tick {
  uint64_t stream, tick;
} core_tick;
typedef HD_VEC(core_tick) core_clock;
typedef HD_VEC(uint64_t) core_steps; /* a set of small numbers: a bit each */

/* ---- Contexts (context.c) ------------------------------------------------------------------------- */

struct cu_context_ {
  core_kind kind;
  core_device *device;
  bool primary;
  unsigned flags;
  uint64_t id;
  cu_result fault;               /* not 0: every call answers this */
  bool fault_seen;               /* a call has answered it */
  core_stream *legacy;           /* stream 0 */
  HD_VEC(core_stream *) streams; /* all, the legacy one first */
  core_clock gone[2];            /* of destroyed streams: those that the legacy one orders, and the others */
  HD_VEC(core_module *) modules;
  size_t limits[CU_LIMITS];
  int cache_config, shared_config;
  uint64_t peers; /* bit per device whose memory was enabled */
};

cu_result core_context_create(core_device *device, unsigned flags, core_context **out);
/* Wait for its operations, then end its streams, modules and memory. */
void core_context_destroy(core_context *c);
core_context *core_context_of(cu_context handle); /* NULL: none */
cu_result core_primary_retain(core_device *device, core_context **out);
cu_result core_primary_release(core_device *device);
cu_result core_primary_reset(core_device *device);

/* The calling thread's. */
core_context *core_current(void);
cu_result core_push(core_context *c);
cu_result core_pop(core_context **c);
cu_result core_set_current(core_context *c); /* in place of the top */
/* A number for each thread, from 1. */
uint64_t core_thread(void);

/* ---- Memory (memory.c) ----------------------------------------------------------------------------- */

typedef enum core_memory_kind {
  CORE_MEMORY_DEVICE,
  CORE_MEMORY_MANAGED,    /* the host sees it at the device's address */
  CORE_MEMORY_PINNED,     /* the same, for cuMemHostAlloc */
  CORE_MEMORY_REGISTERED, /* the host's own pages, shown to kernels */
  CORE_MEMORY_VARIABLE    /* of a module */
} core_memory_kind;

/* A pool: its numbers, for memory is the device's in any case. */
typedef struct cu_pool_ {
  core_kind kind;
  core_device *device;
  uint64_t threshold;
  int reuse[3];
  uint64_t used, used_high, reserved_high;
  uint64_t users; /* bit per other device that was given access */
} core_pool;

typedef struct core_memory {
  uint64_t address, bytes;
  core_memory_kind kind;
  unsigned flags;        /* as the program gave them */
  core_context *context; /* of the allocation */
  void *host;            /* where the host sees it; NULL: nowhere */
  core_pool *pool;       /* that it came from; NULL: none */
  int advice[4];         /* for managed memory (driver/advice.c) */
  struct core_work *of;  /* the allocation of a graph that it belongs to; NULL: none */
  uint64_t id;
  bool owned;       /* an array's, or reserved addresses: the calls that free memory do not free it */
  char what[96];    /* for reports: the call and its number */
  const void *from; /* where that call returns to; NULL: the program made none */
} core_memory;

cu_result core_memory_create(core_context *c, core_memory_kind kind, uint64_t bytes, unsigned flags,
                             const char *what, core_memory **out);
/* Make the host's own pages the pages of device memory. */
cu_result core_memory_register(core_context *c, void *host, uint64_t bytes, unsigned flags,
                               core_memory **out);
/* CU_INVALID_VALUE inside of registered memory, and in memory of another kind; CU_HOST_NOT_REGISTERED
 * anywhere else. */
cu_result core_memory_unregister(void *host);
/* Note a variable of a module, which the emulator has allocated; a managed one is shown to the host. */
cu_result core_memory_adopt(core_context *c, uint64_t address, uint64_t bytes, bool managed,
                            const char *name);
void core_memory_forget(uint64_t address);
/* The devices whose kernels reach the memory have changed: of one allocation; of all on a device, NULL: on
 * any.
 */
void core_memory_reached(const core_memory *m);
void core_memory_reached_on(const core_device *device);
/* Memory that belongs to a graph stays there for the graph's next run. */
cu_result core_memory_free(core_memory *m);
void core_memory_free_all(core_context *c);
/* The allocation that holds an address, of the device or of the host; NULL: none. */
core_memory *core_memory_find(uint64_t address);
core_memory *core_memory_find_host(const void *host);
/* The description of a freed allocation that held this address; NULL: none is known. */
const char *core_memory_was(uint64_t address);
bool core_memory_shared(void); /* the host sees some of it */
/* Whether what the host sees is at most so many bytes, and the same as then. */
bool core_memory_shared_same(const hd_emu_snapshot *s, uint64_t most);
uint64_t core_memory_live(void (*each)(const core_memory *m, void *arg), void *arg);

/* ---- Modules (module.c, function.c) ----------------------------------------------------------------- */

/* PTX text that a program handed in: a text, a fatbin, or several of them to be linked. */
typedef struct core_image {
  HD_VEC(char *) texts;
  bool newer; /* a text may be for a newer architecture: the image has machine code for this one, too */
} core_image;
/* Take the PTX for this architecture out of what `data` points at: PTX text, a fatbin or a wrapper around
 * one. Programs for several GPUs often have machine code for each and PTX for the newest alone, which is then
 * taken where the GPU would run the machine code. HD_ERR_UNSUPPORTED: there is nothing for this GPU. */
hd_status core_image_add(core_image *i, const void *data, unsigned arch, hd_diag *d);
hd_status core_image_add_bytes(core_image *i, const void *data, size_t n, unsigned arch, hd_diag *d);
/* All PTX of an object file, or of a library of them, for the newest architecture that `arch` runs. One
 * without any adds nothing: calls of its functions are refused where they happen. */
hd_status core_image_add_archive(core_image *i, const void *data, size_t n, unsigned arch, hd_diag *d);
void core_image_free(core_image *i);
/* All texts as one module. */
hd_status core_image_link(const core_image *i, hd_buf *out, hd_diag *d);

struct cu_module_ {
  core_kind kind;
  core_context *context;
  core_library *library; /* NULL: loaded by itself */
  hd_arena arena;
  hd_ptx_module *ptx;
  hd_emu_program *program;
  HD_VEC(core_function *) functions;
};
cu_result core_module_load(core_context *c, const core_image *i, core_module **out);
void core_module_unload(core_module *m);
/* A function or a variable of the module, by its name. */
cu_result core_module_function(core_module *m, const char *name, core_function **out);
cu_result core_module_global(core_module *m, const char *name, uint64_t *address, uint64_t *bytes);
/* A variable that the host reaches at the same address. */
cu_result core_module_managed(core_module *m, const char *name, uint64_t *address, uint64_t *bytes);
/* The driver's result for a module that failed to load; prints the reason in one line. */
cu_result core_load_failed(hd_status st, const hd_diag *d);

struct cu_library_ {
  core_kind kind;
  core_image image;
  core_module *modules[CORE_MAX_DEVICES]; /* loaded when asked for; by device, for its primary context */
  HD_VEC(core_function *) kernels;
};
cu_result core_library_module(core_library *l, core_context *c, core_module **out);
cu_result core_library_kernel(core_library *l, const char *name, core_function **out);
void core_library_unload(core_library *l);

/* Findings from traces of a kernel's launches (locality.c); counts are of 128-byte lines and of sectors. */
typedef struct core_locality {
  unsigned category; /* hd_category bits; 0: evidence says why there is none */
  unsigned traces;   /* of this kernel */
  uint64_t ctas;     /* of the launch */
  uint64_t requests, intra_warp, intra_cta, inter_cta;
  uint64_t sectors, least_sectors; /* that warps touched; that would have done */
  char evidence[1024];
} core_locality;

struct cu_function_ {
  core_kind kind;           /* CORE_FUNCTION, or CORE_KERNEL: of a library, for any context */
  const char *name, *title; /* its symbol; and as people write it, of a CORE_FUNCTION */
  core_module *module;      /* CORE_FUNCTION */
  core_library *library;    /* CORE_KERNEL */
  uint32_t n_params;
  uint64_t *offsets, *sizes; /* of parameters */
  uint64_t params_bytes;
  uint32_t static_shared, registers;
  uint32_t max_threads;      /* .maxntid's product, else 1024 */
  uint32_t cluster[3];       /* .reqnctapercluster, or as set; 0: none */
  bool cluster_fixed;        /* by the PTX */
  bool large_clusters;       /* as set: beyond those that every GPU takes */
  int max_dynamic, carveout; /* as set */
  /* For the report. */
  uint64_t launches, idle_launches, warp_instructions, thread_instructions;
  double seconds;
  core_locality *locality; /* NULL: not traced */
  HD_VEC(uint32_t) strays; /* lines whose accesses outside of allocations were said */
};
/* A line of a kernel's PTX; function NULL: nowhere. The function's module may be gone. */
typedef struct core_code {
  const core_function *function;
  uint32_t line;
} core_code;
/* A handle without a kind; it stays allocated, so that a stale handle is recognised. NULL: no memory. */
core_function *core_function_new(void);
/* Any address as a CUfunction or CUkernel; NULL: it is none. */
core_function *core_function_of(const void *handle);
/* The function in this context that a CUfunction or CUkernel stands for. */
cu_result core_function_in(core_function *f, core_context *c, core_function **out);
cu_result core_function_attribute(core_function *f, int attribute, int *value);
cu_result core_function_set(core_function *f, int attribute, int value);
/* The shape of the clusters that a launch with this shape (0: none given) has: 1x1x1 without clusters. */
cu_result core_cluster_of(const core_function *f, const uint32_t grid[3], const uint32_t given[3],
                          uint32_t out[3]);
uint32_t core_most_cluster(const core_function *f); /* CTAs of a cluster; 1: there are none */
/* CTAs of one on an SM. */
uint32_t core_occupancy(const core_function *f, uint64_t threads, uint64_t dynamic_shared);

/* ---- Operations (queue.c) ------------------------------------------------------------------------------ */

/* One thing that a device does: immutable, counted, run any number of times (graphs run theirs again). */
typedef enum core_work_kind {
  CORE_WORK_KERNEL,
  CORE_WORK_COPY,
  CORE_WORK_SET,
  CORE_WORK_HOST,
  CORE_WORK_EMPTY,
  CORE_WORK_EVENT,
  CORE_WORK_FREE,
  CORE_WORK_GRAPH,
  CORE_WORK_ALLOC,
  CORE_WORK_VALUE,
} core_work_kind;
typedef struct core_work {
  core_work_kind kind;
  unsigned refs;
  bool may_wait; /* for what the host or another operation writes to memory: it runs on a thread of its own */
  bool programmatic; /* core_launch */
  core_context *context;
  /* Runs without core.lock, one at a time in the process. */
  cu_result (*run)(struct core_work *w);
  void (*drop)(struct core_work *w); /* before it is freed; NULL: nothing to do */
} core_work;
/* A work of `bytes`, of which core_work is the first member, with one reference; NULL: no memory. */
void *core_work_new(core_work_kind kind, size_t bytes, core_context *c, cu_result (*run)(core_work *));
void core_work_release(core_work *w);

struct core_op {
  unsigned refs;
  enum { CORE_PENDING, CORE_RUNNING, CORE_DONE } state;
  struct core_wait *wait; /* of an operation that may wait (aside.c); NULL: it does not run */
  core_stream *stream;
  core_work *work;
  core_op *next;   /* in its stream */
  core_op **after; /* operations that must be over before, beside the stream's earlier ones */
  size_t n_after;
  uint64_t serial; /* the order of submission */
  double ended;    /* by hd_seconds */
  uint64_t tick;   /* its number in its stream; and what it comes behind (order.c) */
  core_clock clock;
  uint64_t surely; /* the last one of its stream that it comes behind even if programmatic */
};
void core_op_release(core_op *o);

struct cu_stream_ {
  core_kind kind;
  core_context *context;
  unsigned flags;
  int priority;
  uint64_t id;
  uint64_t thread;              /* of a thread's default stream; 0: any other */
  uint64_t ticks;               /* operations submitted */
  struct core_ran *ran;         /* the kernel that it ran last (unordered.c) */
  char (*attributes)[64];       /* as the program set them, by CUlaunchAttributeID; NULL: none */
  core_op *head, *last;         /* pending ones; the last one submitted, over or not (a reference) */
  struct core_capture *capture; /* not NULL: operations go into its graph, behind these nodes */
  core_nodes behind;
};
cu_result core_stream_create(core_context *c, unsigned flags, int priority, core_stream **out);
void core_stream_destroy(core_stream *s);
/* The stream that a handle names in the current context; per_thread: stream 0 is the thread's own. */
cu_result core_stream_of(cu_stream handle, bool per_thread, core_stream **out);

/* Submit work, of which one reference is taken over, behind the stream's earlier operations and behind
 * `after`, if that is not NULL. `out`, if not NULL, gets a reference to the operation. */
cu_result core_submit(core_stream *s, core_work *w, core_op *after, core_op **out);
/* Run operations until these are over. The result is the context's fault. */
cu_result core_wait_op(core_op *o, core_context *c);
/* The same for a copy from or to pageable memory, of which a program must not rely on that; a call that is
 * not `async` has waited for the operations in front of it. */
cu_result core_wait_staged(core_op *o, core_context *c, bool async);
cu_result core_wait_stream(core_stream *s);
cu_result core_wait_context(core_context *c);
/* Wait for all operations that may use memory, before it is freed. */
cu_result core_wait_all(void);
/* At the end of the program: those that wait for the host do so in vain. */
void core_wait_end(void);
/* Whether it is over; the program then knows that it is. */
bool core_stream_idle(core_stream *s);
bool core_op_over(const core_op *o);
/* An operation that is over when all that is over now is: an event that the running operation records stands
 * for it. NULL: no memory. */
core_op *core_op_now(void);
/* For hd_emu_hooks.wait. */
bool core_wait_outside(void *ctx, bool proved, bool moved);

struct cu_event_ {
  core_kind kind;
  core_context *context;
  unsigned flags;
  core_op *op;                  /* of the last record; NULL: never recorded */
  struct core_capture *capture; /* it was recorded in; with the nodes it stands behind */
  core_nodes behind;
};

/* ---- Copies and fills (copy.c) --------------------------------------------------------------- */

/* One side of a copy: where byte (0, 0, 0) lies, and how far rows and slices are apart. */
typedef struct core_place {
  uint64_t address; /* of the device, or of the host */
  uint64_t pitch, slice;
  bool device;
} core_place;
typedef struct core_box {
  uint64_t width, height, depth; /* bytes, rows, slices */
} core_box;
/* Whether unified addressing takes an address for the device's. */
bool core_is_device(uint64_t address);
/* CU_INVALID_VALUE unless all of the box lies in one allocation of the device. */
cu_result core_check_place(const core_place *p, const core_box *box);
/* The description of a copy's work, and of a fill's. Arrays are given as the memory that holds them. */
cu_copy3d core_copy_of(const core_work *w);
cu_set_node core_set_of(const core_work *w);
cu_result core_copy(core_stream *s, core_place dst, core_place src, core_box box, bool async);
cu_result core_copy_work(core_context *c, core_place dst, core_place src, core_box box, core_work **out);
/* Fill with the lowest `bytes` bytes of value: 1, 2 or 4. */
cu_result core_set_work(core_context *c, core_place dst, core_box box, uint32_t value, unsigned bytes,
                        core_work **out);
cu_result core_set(core_stream *s, core_place dst, core_box box, uint32_t value, unsigned bytes, bool async);

/* ---- Values in memory (value.c) -------------------------------------------------------------- */

/* WRITE writes the value; the others wait: until what is there, less the value, is not negative; equals it;
 * has one of its bits; or lacks a bit that it lacks. */
typedef enum core_value_test {
  CORE_VALUE_WRITE,
  CORE_VALUE_AT_LEAST,
  CORE_VALUE_EQUAL,
  CORE_VALUE_AND,
  CORE_VALUE_NOR
} core_value_test;
typedef struct core_value {
  uint64_t address, value;
  unsigned bytes; /* 4 or 8 */
  core_value_test test;
} core_value;
cu_result core_value_work(core_context *c, const core_value *v, core_work **out);

/* ---- Arrays, textures, surfaces (array.c) ---------------------------------------------------- */

typedef struct cu_array_ {
  core_kind kind;
  hd_image image;
  unsigned flags; /* as the program gave them */
  core_memory *memory;
  struct cu_array_ *mipmap, **levels; /* a level's whole; a whole's levels. NULL: neither */
} core_array;
/* `levels` 0: no mipmap. */
cu_result core_array_create(core_context *c, const cu_array3d *shape, unsigned levels, core_array **out);
void core_array_destroy(core_array *a);
core_array *core_array_level(core_array *a, unsigned level); /* NULL: there is none */
cu_array3d core_array_shape(const core_array *a);
/* The address of byte (0, 0, 0), and the distances of rows and slices. */
core_place core_array_place(const core_array *a);
/* Objects are the emulator's handles. */
cu_result core_texture_create(const cu_resource *r, const cu_texture *t, uint64_t *out);
cu_result core_surface_create(const cu_resource *r, uint64_t *out);
cu_result core_object_destroy(uint64_t object);
/* The description that a live object was made from. NULL: there is no such object. */
const cu_resource *core_object_resource(uint64_t object);
const cu_texture *core_object_texture(uint64_t object);

/* ---- Launches (launch.c) --------------------------------------------------------------------- */

typedef struct core_launch {
  core_function *function;
  uint32_t grid[3], block[3], cluster[3];
  uint32_t dynamic_shared;
  bool cooperative;
  bool programmatic; /* it may start before the kernel in front of it in its stream is over */
  void **params;     /* one pointer a parameter; NULL: packed */
  const void *packed;
  size_t packed_bytes;
} core_launch;
/* Checks the launch as a driver does and copies its parameters. */
/* Launches have done the work that they may (settings.work). */
bool core_is_cut(void);
/* From here on the program ends if it computes by itself for settings.alone (alone.c); whether it did. */
void core_alone_watch(void);
bool core_alone_ended(void);
cu_result core_launch_work(core_context *c, const core_launch *l, core_work **out);
/* The launch of a kernel's work; its parameters belong to the work. */
core_launch core_launch_of(const core_work *w);
cu_result core_host_work(core_context *c, cu_host_fn *fn, void *data, core_work **out);
cu_host_node core_host_of(const core_work *w);

/* ---- Graphs (graph.c) --------------------------------------------------------------------- */

typedef struct cu_graph_ core_graph;
typedef struct cu_graph_exec_ core_graph_exec;

struct cu_node_ {
  core_kind kind;
  core_graph *graph;
  cu_node_type type;
  core_work *work;           /* NULL: nothing to do */
  core_event *event;         /* CU_NODE_WAIT, CU_NODE_RECORD */
  core_graph *child;         /* CU_NODE_GRAPH */
  core_nodes after;          /* the nodes that it depends on */
  uint32_t index;            /* in its graph */
  const core_node *original; /* of which it was cloned; NULL: of none */
  char (*attributes)[64];    /* of a kernel, as a stream's */
};

struct cu_graph_ {
  core_kind kind;
  core_nodes nodes;                         /* in the order in which they were added */
  HD_VEC(struct cu_user_object_ *) objects; /* one entry a reference */
};

/* A graph as it was when it was instantiated: works in an order that keeps to its edges. */
struct cu_graph_exec_ {
  core_kind kind;
  unsigned refs;
  uint64_t flags; /* of cuGraphInstantiate */
  HD_VEC(struct cu_user_object_ *) objects;
  core_op *last; /* its last launch: the next one comes behind it */
  size_t n;
  struct core_step {
    core_work *work;
    cu_node_type type;
    core_event *event;
    bool off; /* it is left out */
    core_graph_exec *child;
    /* That it was made from, and of the last update's graph: numbers to compare, not to be followed. */
    const core_node *node, *updated;
    uint32_t *after, n_after; /* steps */
  } * steps;
};

cu_result core_graph_create(core_graph **out);
void core_graph_destroy(core_graph *g);
/* Takes over the reference to the work. */
cu_result core_graph_add(core_graph *g, cu_node_type type, core_work *w, core_node *const *after, size_t n,
                         core_node **out);
cu_result core_graph_clone(const core_graph *g, core_graph **out);
bool core_node_depends(const core_node *n, const core_node *on);
bool core_node_depend(core_node *n, core_node *on);         /* false: no memory */
bool core_node_undepend(core_node *n, const core_node *on); /* false: there was no such edge */
void core_node_remove(core_node *n);
/* CU_INVALID_VALUE: the graph has a cycle. */
cu_result core_graph_instantiate(const core_graph *g, uint64_t flags, core_graph_exec **out);
void core_graph_exec_release(core_graph_exec *e);
/* Replace its works by those of another graph of the same shape. *changed: where one of another type stops
 * that; NULL: nodes or edges differ. */
cu_result core_graph_exec_update(core_graph_exec *e, const core_graph *g, core_node **changed);
struct core_step *core_graph_exec_step(core_graph_exec *e, const core_node *n); /* NULL: it has none */
cu_result core_graph_launch(core_graph_exec *e, core_stream *s);

/* Memory of a graph (graph_memory.c): it has its address from the start, is allocated when the node runs, and
 * belongs to the graph and what was instantiated from it. Memory that a last run left allocated is then
 * the program's. */
cu_result core_alloc_work(core_context *c, uint64_t bytes, core_work **out);
uint64_t core_alloc_address(const core_work *w, uint64_t *bytes);
bool core_alloc_lives(const core_work *w);
void core_alloc_free(core_work *w); /* until the node runs again */
void core_alloc_lost(core_work *w); /* its memory is gone, with its context */
cu_result core_free_work(core_context *c, uint64_t address, core_work **out);
uint64_t core_free_address(const core_work *w);
/* For the check of streams: the stream has come to where this memory was allocated. */
cu_result core_allocated(core_stream *s, uint64_t address);

/* A function of the program's that is called when nothing refers to its object any more (graph.c). */
typedef struct cu_user_object_ {
  core_kind kind;
  unsigned refs;
  cu_host_fn *destroy;
  void *data;
} core_user_object;
void core_user_object_release(core_user_object *o);

/* ---- Findings and the report (report.c) ------------------------------------------------------ */

typedef enum core_finding_kind {
  CORE_FOUND_FAULT, /* any other end of a kernel */
  CORE_FOUND_BOUNDS,
  CORE_FOUND_MISALIGNED,
  CORE_FOUND_INIT,
  CORE_FOUND_RACE,
  CORE_FOUND_BARRIER,
  CORE_FOUND_ASSERTION,
  CORE_FOUND_ARGUMENT,
  CORE_FOUND_LEAK,
  CORE_FOUND_STREAMS,
  CORE_FOUND_HOST,
} core_finding_kind;
void core_found(core_finding_kind kind, const char *fmt, ...) HD_PRINTF(2, 3);
/* A finding at these places, up to two; those without a function are left out. */
void core_found_at(core_finding_kind kind, const core_code at[2], const char *fmt, ...) HD_PRINTF(3, 4);
/* "PTX line 12 (kernel.cu:3)", or ""; out is returned. */
const char *core_code_text(core_code at, char *out, size_t cap);
/* Add a function's counts to the report, which outlives its module. */
void core_report_function(const core_function *f);
void core_report(void);
/* Text for people: to standard error, or into the log. */
void core_write(const char *text, size_t len);
/* Behind all destructors: the exit code for what was found, or could not be written. */
void core_leave(int code);

#endif
