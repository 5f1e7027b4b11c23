/* run/run.h: what heddle knows of a steered program: its modules, its kernels, and the kernels that take
 * their place.
 *
 *   driver.c    between the program and its driver
 *   image.c     the PTX in an image that is loaded
 *   texts.c     the PTX that machine code was made of
 *   compilers.c, links.c, jitlink.c   and where that is seen
 *   cut.c       a text with one kernel alone
 *   variant.c   rewritten kernels, as text
 *   variables.c and the program's variables in them
 *   wanted.c    which kernels are to be rewritten: verdicts, or one plan for all
 *   load.c      modules and libraries come
 *   unload.c    and go
 *   handles.c   functions by their handles
 *   cubins.c    and as machine code, kept for later processes
 *   kept.c      with all that a launch needs to know of them
 *   places.c    a rewritten kernel in a context: its function, its table, its states
 *   launch.c    a launch, or the one that takes its place
 *   levers.c    attributes of launches of kernels without PTX
 *   live.c      launches in turns with the original, which are timed
 *   notes.c     what was learnt of verdicts so, for later processes of the program
 *   graph.c     the same for nodes of graphs
 *   exec.c      and for those of executable graphs, which have states of their own
 *   pairs.c     executable graphs in turns, with plans that are on probation and without
 *   report.c    the report at the end
 *   watch.h     the program's memory, streams and threads, for those that repeat its launches
 *   trial.c     a launch repeated, under plans, on the program's memory
 *   tune.c      the search for the plan that wins
 *   ahead.c     its plans as machine code, before they are tried
 *
 * A launch must not allocate or compile, nor wait but for a kernel that another thread is loading (run_hold),
 * and other threads may be in one at any time. So launches take no lock but that of the allocations, for a
 * plan that presumes something of them (memory.c): what they read is put together first and then made visible
 * by one atomic pointer, and it is freed only long after the program has unloaded the module that it is of
 * (unload.c). All else happens under run_lock.
 */
#ifndef HEDDLE_RUN_RUN_H
#define HEDDLE_RUN_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "heddle/rewrite.h"
#include "heddle/steer.h"
#include "run/driver.h"

/* A variable of each thread. The library is loaded with the program, so that it is found without a call. */
#define RUN_OF_THREAD _Thread_local __attribute__((tls_model("initial-exec")))

extern pthread_mutex_t run_lock;
/* A line on standard error, begun with "heddle: ". */
void run_say(const char *fmt, ...) HD_PRINTF(1, 2);

/* ---- Images (image.c) -------------------------------------------------------------------------- */

typedef struct run_gpu {
  int device;
  unsigned arch, isa, n_sms; /* isa: the latest PTX that the driver reads; 0: not known */
  char name[96], driver[32];
} run_gpu;

typedef struct run_text {
  char *data; /* PTX, malloc'd; NULL: none that the driver would run */
  size_t len;
  const char *why; /* why there is no text; static */
  unsigned newer;  /* the sm number that it is for, where the GPU does not run it; else 0 */
} run_text;

/* The PTX in what a program loads: PTX text, a fatbin, the wrapper that nvcc puts around one, a cubin.
 * `bytes` 0: not known. Not `whole`: only whether there is any, from the headers. */
void run_image_read(const void *image, size_t bytes, const run_gpu *gpu, bool whole, run_text *out);

/* A digest of the machine code in an image, large ones by their ends; false: it has none. */
bool run_image_digest(const void *image, size_t bytes, hd_digest *out);

/* ---- Machine code and what it was made of (texts.c, compilers.c, links.c, jitlink.c) ----------- */

/* Keeps the PTX of a cubin in a file, for all processes. */
void run_text_keep(const void *cubin, size_t bytes, const char *ptx, size_t len);
/* How long it is, as its headers have it; 0: it is no cubin. */
size_t run_cubin_bytes(const void *cubin);
/* The PTX of a cubin in memory, malloc'd; NULL: it is not known. `bytes` 0: the cubin says how long it is. */
char *run_text_of(const void *cubin, size_t bytes, size_t *len);
/* Whether the name is of a compiler's function that heddle stands in front of; and what stands there, for the
 * address that the program has looked up. */
bool run_is_compilers(const char *name);
void *run_compiler_front(const char *name, void *address);
/* The function behind the one that heddle exports, for a program or a library of it that is linked with that,
 * and calls it from `caller`. NULL: there is none. */
void *run_compiler_behind(const char *symbol, const void *caller);
/* The same two of nvJitLink. */
bool run_is_jitlinks(const char *symbol);
void *run_jitlink_front(const char *symbol, void *address);
/* A link begins; `unknown`: its machine code computes something else than the PTX alone says. */
void run_link_begin(run_handle link, bool unknown);
/* PTX goes into it, or machine code whose PTX is kept; `data` or `path` NULL: something else. */
void run_link_add(run_handle link, const void *data, size_t bytes);
void run_link_add_file(run_handle link, const char *path);
/* This came out of it. `bytes` as in run_text_of. */
void run_link_finish(run_handle link, const void *cubin, size_t bytes);
void run_link_drop(run_handle link);
/* From now on links may go unseen: none is known. */
void run_link_miss_some(void);
/* In a child of a fork: of the threads there is one. */
void run_compilers_forked(void);
void run_links_forked(void);
/* At the end of a process that may be ptxas. */
void run_compiler_end(void);

/* ---- Kernels ----------------------------------------------------------------------------------- */

typedef struct run_place run_place;
typedef struct run_kernel run_kernel;
typedef struct run_module run_module;
typedef struct run_lever run_lever;

enum { RUN_MOST_POINTERS = 24 };

/* Variables of a module that a kernel uses. */
typedef struct run_variable {
  char *name;
  uint32_t var; /* in the parsed module */
  uint64_t bytes;
  bool constant, managed;
  uint64_t at; /* run_variables_find (places.c) */
} run_variable;
typedef struct run_variables {
  HD_VEC(run_variable) all;
  bool constants; /* some are */
  char *word;     /* with a number of the list behind it, a variable's address in the text of a variant */
} run_variables;

/* A rewritten kernel: a module of its own. */
typedef struct run_variant {
  struct run_variant *next;
  run_kernel *kernel;
  bool any;     /* for every launch; else for those of this shape: */
  bool dynamic; /* and of these, for those with dynamic shared memory, which the text does not name */
  uint32_t grid[3], block[3], shared;
  char *plan;  /* in notation; NULL: no memory */
  char *text;  /* with words in place of the variables' addresses; NULL: it was recalled, */
  hd_buf code; /* and this is its machine code, until it is loaded; or it is compiled already */
  bool kept;   /* for later processes, or cannot be */
  run_variables variables;
  uint32_t n_params; /* of the original; and the bytes of its parameter block */
  uint64_t own_bytes;
  /* bypass=ro: numbers of parameters, and where they are in the block. Addresses of the first kind are read
     as what nothing writes, and so must be in other allocations than those of the second. */
  struct run_pointers {
    uint32_t n;
    struct {
      uint32_t param;
      uint64_t offset;
    } at[RUN_MOST_POINTERS];
  } reads, writes;
  hd_recipe recipe;
  hd_table table;
  _Atomic uint64_t saves;      /* nanoseconds of each launch, as they were measured; 0: none, or not known */
  const hd_verdict *verdict;   /* of the store; NULL: it was found here, or is for every launch */
  cu_library library;          /* of `text`, once it is loaded; NULL where it has variables: see run_place */
  _Atomic(run_place *) places; /* the contexts that it is ready in */
  atomic_bool off;  /* the original is launched: the driver did not take it once, or it is slower */
  bool probation;   /* it is to be, once it is ready */
  atomic_bool held; /* it is launched in its turns alone (live.c) */
  double ready;     /* seconds that it took to get ready, but for compiling it; */
  double making;    /* and of these, those that rewriting took */
} run_variant;

enum { RUN_DYNAMIC_NONE = 0, RUN_DYNAMIC_WANTED, RUN_DYNAMIC_MADE };

/* Why a launch of a kernel with variants was the original's. Of several variants the last of these counts. */
typedef enum run_miss {
  RUN_MISS_NOT,
  RUN_MISS_OTHER,   /* it has another shape than those of verdicts */
  RUN_MISS_HELD,    /* the plan is on probation, and this one takes no turn */
  RUN_MISS_OFF,     /* the plan is not used any more */
  RUN_MISS_EARLY,   /* it was not ready in the context */
  RUN_MISS_FORM,    /* its parameters, or how many CTAs fit, are not known */
  RUN_MISS_MEMORY,  /* what the plan reads as unwritten may be written, or is not known */
  RUN_MISS_STREAMS, /* all states are other streams' */
  RUN_MISS_CAPTURE, /* it is captured, or the driver does not say */
  RUN_MISS_KIND,    /* cooperative, in clusters, or dependent on another */
  RUN_MISSES
} run_miss;

struct run_kernel {
  run_kernel *next; /* in its module */
  run_module *module;
  char *name, *title; /* its symbol, and as people write it */
  uint64_t hash;
  char why[256];     /* why it is not steered, in one line; "": it is, or nothing is known for it */
  char plan[128];    /* of its last variant */
  char refused[256]; /* why no plan can touch it, where it was asked; "": some can */
  char tuned[120];   /* what came of tuning, where the original stays; "": it was not tried */
  bool cut;          /* --total ended its tuning */
  double speedup;    /* of that, where it was found in this process; 0: it was not */
  atomic_ulong launches, steered, saved; /* saved: nanoseconds, of those that were steered */
  atomic_ulong early;                    /* before the rewritten kernel was ready in their context */
  atomic_ulong missed[RUN_MISSES];       /* launches, nodes apart */
  char missing[256];                     /* the same for people */
  atomic_ulong nodes;                    /* of executable graphs that are steered by plans with states */
  double seconds;                        /* of those launches that were timed, and how many they are */
  unsigned long timed;                   /* under the lock of times.c */
  atomic_ulong trials;                   /* launches of the original in tuning, and in turns with others */
  atomic_bool later;                     /* see run_place_later */
  atomic_int dynamic; /* RUN_DYNAMIC_...: whether launches need a variant that is `dynamic` */
  /* Of run_wanted: to rewrite it by, once the program asks for it. */
  HD_VEC(const hd_verdict *) wanted;
  _Atomic(run_variant *) variants;
  _Atomic(run_lever *) levers;     /* where it has no PTX (levers.c) */
  _Atomic(struct run_live *) live; /* launches take turns, of some shapes (live.c); those that are over: */
  _Atomic(struct run_live *) lived;
  HD_VEC(struct run_note *) notes; /* of its verdicts */
  double ready;                    /* seconds that its rewritten kernels took to get ready */
  struct run_shape *shapes;        /* of its launches, where they are watched */
  uint32_t set;                    /* attributes that the program has set, as bits; and their values */
  int values[32];
};

struct run_module {
  struct run_module *next;
  run_handle handle;
  bool library; /* the handle's kind; else a module's */
  bool dead;
  bool leaving;    /* it is dead, and its rewritten kernels are still on the device */
  const char *why; /* why no kernel of it is in reach; NULL: they are */
  run_kernel *kernels;
  run_text own; /* the program's text, where launches are watched or kernels are wanted */
  bool has_code;
  run_variables globals; /* run_globals_find */
  bool listed;           /* they are */
  bool allocates;        /* functions of it call malloc, or may: its text is not understood */
  hd_digest code; /* of its machine code, where it has no text, and launches may have levers of their own */
};

/* ---- What is wanted (wanted.c) ----------------------------------------------------------------- */

/* The GPU of the current context, or the first one. False: the driver does not say. */
bool run_gpu_of(run_gpu *out);
/* Whether any kernel could be rewritten on this GPU; what cannot need not be read. */
bool run_wants(const run_gpu *gpu);
/* Calls `each` for every kernel of the text that is to be rewritten, and each of its verdicts, which stay as
 * they are; NULL for the settings' plan. */
void run_wanted(const run_gpu *gpu, const run_text *text,
                void (*each)(void *ctx, const char *kernel, const hd_verdict *verdict), void *ctx);
/* Calls `each` for the verdicts of this kernel in the module with this digest. */
void run_verdicts_of(const run_gpu *gpu, hd_digest module, const char *kernel,
                     void (*each)(void *ctx, const char *kernel, const hd_verdict *verdict), void *ctx);
/* Calls `each` for verdicts for this GPU, with what `name` gives for them, unless that is NULL. */
void run_each_verdict(const run_gpu *gpu, const char *(*name)(const hd_verdict *v),
                      void (*each)(const hd_verdict *v, const char *name));
/* Whether there is a verdict for this key, be it that the original stays. */
bool run_has_verdict(const hd_verdict_key *key);
extern hd_steer_settings run_settings;

/* ---- Levers of launches alone (levers.c) ------------------------------------------------------- */

/* Adopts what verdicts say of the kernel; under run_lock. */
void run_levers_read(run_kernel *k);
void run_levers_free(run_kernel *k);

/* ---- Rewriting (variant.c) --------------------------------------------------------------------- */

/* Parses PTX of the program's. How often this process has: not at all, where all that it needs is kept. */
hd_status run_parse(const char *text, size_t len, hd_arena *arena, hd_ptx_module **out, hd_diag *d);
unsigned long run_parsed(void);

/* The saving of a launch that takes so many microseconds less. */
static inline uint64_t run_saves(double before_us, double after_us) {
  return before_us > after_us ? (uint64_t)((before_us - after_us) * 1e3) : 0;
}
/* The kernel under the plan, for the launch of the verdict. Without one: for every launch, of which those
 * that have `dynamic` shared memory need a variant of their own if the text does not name that memory and the
 * plan has a variable in its place. HD_ERR_REFUSED and others with the reason in *d. */
hd_status run_variant_make(const run_gpu *gpu, const run_text *text, run_kernel *kernel, const hd_plan *plan,
                           const hd_verdict *verdict, bool dynamic, run_variant **out, hd_diag *d);

enum { RUN_MOST_BLOCK = 32764 }; /* bytes of parameters */

/* A kernel as far as its launches can be repeated. */
typedef struct run_facts {
  uint32_t n_params;
  uint64_t *offsets, *sizes; /* of each parameter in the block, in bytes */
  uint64_t bytes;            /* of the block */
  uint32_t n_unwritten;      /* loads that bypass=ro may change */
  run_variables variables;
  const char *handle; /* how it reaches memory through the driver's handles; static. NULL: it does not */
  const char *effect; /* why a launch cannot be repeated: its parameters do not show what it writes, or it may
                         wait for others; static. NULL: it can */
} run_facts;
/* HD_ERR_REFUSED for a kernel with effects outside its memory. */
hd_status run_facts_of(const run_text *text, const char *kernel, run_facts *out, hd_diag *d);
void run_facts_free(run_facts *f);
/* The plans that a launch with this block of parameters leaves to try, as far as the text tells: n_sms,
 * resident and readonly are 0. Without tasks: nothing is known. */
hd_plan_space run_space_of(const run_gpu *gpu, const run_text *text, const char *kernel,
                           const uint32_t grid[3], const uint32_t block[3], const void *params,
                           uint64_t bytes);

/* ---- Variables (variables.c) -------------------------------------------------------------------- */

/* Appends the variables `used`, by number; HD_ERR_UNSUPPORTED: one cannot be used by its address. */
hd_status run_variables_list(const hd_ptx_module *m, const bool *used, run_variables *out, hd_diag *d);
/* In the functions `in`, by number: words that stand for the variables' addresses in place of the variables.
 */
hd_status run_variables_replace(hd_ptx_module *m, const bool *in, run_variables *v, hd_diag *d);
/* The variables in global memory of a module with a text, and their addresses in the current context; 0: it
 * is not known. The GPU is idle. */
void run_globals_find(run_module *m);
/* The text with the addresses in place of the words, malloc'd; NULL: no memory. */
char *run_variables_fill(const run_variables *v, const char *text);
void run_variables_free(run_variables *v);

/* ---- Machine code of rewritten kernels (cubins.c) ---------------------------------------------- */

/* A text, or machine code, as a library in the driver. NULL: the driver does not take it. */
cu_library run_library_load(const void *image);
/* The same of a text: its machine code of an earlier process, if there is any; else
 * compiled, and `kept` for later ones. NULL: the driver does not take it. Under run_lock, as all of these. */
cu_library run_cubin_load(const char *text, bool kept);
/* Keeps its machine code: the driver's, or the one that is at hand. */
void run_cubin_make(const char *text);
void run_cubin_keep(const char *text, const hd_buf *code);
/* Appends the machine code that is kept of a text; false: none is. */
bool run_cubin_find(const char *text, hd_buf *out);
/* Seconds that the driver has compiled in all; a process that finds the machine code spends none. */
double run_cubins_compiling(void);
/* Reads what was kept for later processes, this or a text. False: it is not there, or not to be trusted,
 * which is said once. */
bool run_kept(const char *path, hd_buf *out);
/* Writes what is to be kept. */
void run_cubins_write(void);

/* The variant of a verdict as an earlier process made it: nothing is parsed. NULL: there is none. Under
 * run_lock, as the next one. */
run_variant *run_variant_recall(run_kernel *k, const hd_verdict *verdict);
/* Loads those that the program is known to launch, once, if the GPU is idle: it allocates memory, and may not
 * have begun with its work. Takes run_lock, if no one has it. */
void run_kept_early(void);
/* Seconds that it takes later processes to get ready a variant that is ready in this one. */
double run_variant_cost(const run_variant *v);
/* Keeps a verdict's variant, once its machine code is. */
void run_variant_keep(run_variant *v);

/* ---- Modules (load.c), handles (handles.c) ----------------------------------------------------- */

/* Rewrites the kernel under the plans that are wanted for it, and makes them ready (run_place_make). Under
 * run_lock. */
void run_kernel_make(run_kernel *k);
/* Rewrites it for launches with dynamic shared memory as well, if there were some. Under run_lock. */
void run_kernel_make_dynamic(run_kernel *k);

/* By its name, made when there is none. NULL: no memory. */
run_kernel *run_kernel_of(run_module *m, const char *name);
/* Maps of handles. A handle that is given again means what it was given for last. */
void run_know_module(run_handle handle, run_module *m);
run_module *run_module_of(run_handle handle);
void run_know_function(run_handle handle, run_kernel *k);
/* Without a lock. NULL: not known. */
run_kernel *run_function_of(run_handle handle);
/* The place of a rewritten kernel's handle, as graphs give it back; NULL: it is none. */
void run_know_place(run_handle rewritten, run_place *p);
run_place *run_place_behind(run_handle handle);
/* The handles of these kernels mean nothing any more. NULL: of all. */
void run_forget_functions(const run_module *m);
/* All handles that mean this module. */
void run_forget_module(const run_module *m);
extern run_module *run_modules; /* all that are loaded, and some that were */

/* The program has unloaded it, and before, its handles were forgotten: its rewritten kernels leave the
 * device once the GPU is idle, and its records go some time later. Under run_lock. */
void run_module_leave(run_module *m);
/* The GPU may be idle: what could not leave it yet does. `own`: as in run_hold. Under run_lock. */
void run_modules_leave(const unsigned long *own);

/* ---- Places (places.c) ------------------------------------------------------------------------- */

enum { RUN_STATES = 32 };

/* A variant in one context. */
struct run_place {
  run_place *next;
  unsigned long long context;   /* its number */
  cu_library library;           /* its own, where the text has addresses of this context; else NULL */
  cu_function function, kernel; /* as CUfunction and as CUkernel */
  cu_function original, original_kernel; /* the same of the program's; a CUkernel, if it is a library's */
  uint64_t table;                        /* the address of its table */
  uint64_t states;                       /* of RUN_STATES states, one behind the other; 0: it needs none */
  uint64_t state_bytes;
  struct run_lots {
    HD_VEC(uint64_t) slabs, idle; /* addresses of RUN_STATES states each, and of those that no node has */
    HD_VEC(struct run_retired {
      uint64_t state;
      unsigned long when; /* as run_place_take_back was called */
    })
    retired;
  } lots;                               /* for nodes of executable graphs; under run_lock */
  uint64_t bytes;                       /* of device memory that it takes in all */
  int device;                           /* whose memory that is; -1: not known */
  _Atomic uint64_t streams[RUN_STATES]; /* the stream that each state belongs to; 0: free */
  uint32_t n_sms;
  _Atomic uint64_t
      fit;          /* how many CTAs fit on an SM, for the last shape: threads << 40 | shared << 8 | CTAs */
  atomic_bool dead; /* the context is gone */
};

/* Makes all variants of a kernel ready in the current context, if there is one and the GPU is idle (run_hold,
 * also for `own`); else later. Takes no part in captures. */
void run_place_make(run_kernel *k, const unsigned long *own);
/* A launch in a context that the kernel is not ready in: it is made ready when the program waits there next.
 * Takes no lock. */
void run_place_later(run_kernel *k);
/* Something is to be done when the program waits next. */
void run_some_later(void);
/* Frees its memory of the device, whose context is current; and itself. */
void run_place_free_memory(run_place *p);
void run_place_free(run_place *p);
/* Without a lock. NULL: not ready in the current context. */
run_place *run_place_of(const run_variant *v);
/* The state for launches in this stream; 0: there is none left. `thread`: not 0 for a thread's default
 * stream. */
uint64_t run_place_state(run_place *p, cu_stream stream, uint64_t thread);
/* Some variant keeps a state, or has as many CTAs as fit. */
bool run_any_states(void);
/* A state for a node of an executable graph, all zeros; 0: there is no room. Under run_lock. */
uint64_t run_place_lend(run_place *p);
/* It is no node's any more; `idle`: nor does one run that had it. */
void run_place_take_back(run_place *p, uint64_t state, bool idle);
/* Finds the addresses of a module's variables in the current context. NULL: they are there; else why not.
 * Under run_lock. */
const char *run_variables_find(run_variables *v, const run_module *m);
/* One of them; false: it is not known. */
bool run_variable_find(run_variable *v, const run_module *m);
/* Frees a variant that no launch has seen, with its places. */
void run_variant_drop(run_variant *v);
/* Makes it ready in the current context, and nothing else; NULL: the driver does not take it. */
run_place *run_place_try(run_variant *v);
/* The launches of heddle's own stream are over, and the stream goes. Under run_lock. */
void run_states_free(cu_stream stream);
/* Settings of a function that are no attributes, numbered behind those. */
enum { RUN_CACHE_CONFIG = 30, RUN_SHARED_CONFIG = 31 };
/* Sets an attribute of the variants as the program set it of the original. */
void run_place_set(run_kernel *k, int attribute, int value);

/* ---- The report (report.c) --------------------------------------------------------------------- */

void run_report(void);
/* Why launches of the kernel were not steered; as long-lived as both. */
const char *run_why(const run_module *m, const run_kernel *k);

#endif
