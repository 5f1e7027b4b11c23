/* rewrite/rewrite_internal.h: shared between the files of this floor.
 *
 * About a kernel:
 *   refuse.c     reasons why it must not be reordered
 *   waits/       loops that may wait for another CTA
 *   clock_reads.c  clocks that only decide how long a thread waits
 *   scan.c       the functions that it reaches, refusals as they are found
 *   traits.c     features that it and its callees use
 *   shared_numbers.c  shared memory that is reached by numbers
 *   global_loads.c  its loads of global memory and how they are spelt
 *   same.c       values that all threads of a launch see alike
 *
 * The rewrite:
 *   rewrite.c    its steps, in their order
 *   vectors.c    reads of all coordinates at once
 *   recipe.c     the needs of the new kernel's launch
 *   registers.c  the limit on its registers
 *   lowering/    lower.c: programs (plan.h) as PTX
 *   levers/      order.c     the order's program and table
 *                copies.c    copies of coordinates that are not needed any more
 *                claim*.c, bind.c  bind=claim, bind=agents: how a worker gets its tasks
 *                shared.c    shared memory of the rewriter's own
 *                agents.c    bind=agents, bind=cancel: a kernel's body becomes the body of a loop
 *                cancel.c    bind=cancel: CTAs that take over others which have not started
 *                threads.c   threads=: thread ids renumbered; warp_*.c  what lanes of a warp leave in memory
 *                bypass.c    bypass= and stream=: loads that go around a cache
 *                ballot.c    bypass=auto: the SMs vote on how many warps bypass
 *                prefetch.c  prefetch=: fetches for a later task; a step of levers.def, as new levers are
 *
 * Generated names. In text given to rewrite_put, `~` stands for the fresh prefix and an underscore:
 * %~u is %heddle_u. Registers shared between files:
 *
 *   %~u               the position in the order (64 bits: %~w), or a negative number: no task. Not there
 *                     where the order's program reads the worker's own cell
 *   %~nx %~ny %~nz %~v  dimensions of the tasks' grid and their product, when the grid is not known
 *   %~large           then, too: a grid that is left in its own order
 */
#ifndef HEDDLE_REWRITE_INTERNAL_H
#define HEDDLE_REWRITE_INTERNAL_H

#include "heddle/cfg.h"
#include "heddle/ptx_facts.h"
#include "heddle/rewrite.h"

/* ---- Traits -------------------------------------------------------------------- */

/* The features that a kernel and all functions it can reach use. */
typedef struct rewrite_traits {
  bool shared;              /* shared memory, or operations that only make sense with it */
  bool barrier;             /* barriers of the CTA */
  bool cta_scope;           /* rewrite_has_narrow_scope */
  bool copies, bulk_copies; /* REWRITE_ASYNC_COPY, REWRITE_ASYNC_BULK */
  bool sees_shared_size;    /* %total_smem_size and the like */
  bool dynamic_shared;      /* a variable whose size the launch says: it lies behind all others */
  bool async_shared;        /* operations that reach shared memory by the async proxy */
  bool shared_by_number;    /* addresses of shared memory without a variable: shared_numbers.c */
  bool shared_behind;       /* a variable that lies behind those that stand before the kernel: shared.c */
  uint64_t shared_bytes;    /* of the variables, at most */
  hd_sym shared_var;        /* one of them, of 8 bytes or more, that inserted statements see; 0: none */
} rewrite_traits;
/* What a task's end has to wait for. */
typedef enum rewrite_async {
  REWRITE_ASYNC_NONE = 0, /* nothing: it is done when the next instruction is, or no value depends on it */
  REWRITE_ASYNC_COPY,     /* cp.async: cp.async.wait_all */
  REWRITE_ASYNC_BULK,  /* in a bulk group: committed or not, cp.async.bulk.commit_group and .wait_group 0 */
  REWRITE_ASYNC_OTHER, /* something that the thread cannot wait for by itself: an mbarrier, nothing at all */
} rewrite_async;
rewrite_async rewrite_async_of(const hd_ptx_form *f);
/* A memory operation between the threads of a CTA, or of a cluster, which a CTA alone is, too. */
bool rewrite_has_narrow_scope(const hd_ptx_form *f);
bool rewrite_find_traits(const hd_ptx_module *m, uint32_t func, rewrite_traits *out); /* false: no memory */
/* shared_numbers.c. Some access of shared memory may be by a number: no variable's address, which moves by
 * multiples of the boundary alone. */
bool rewrite_shared_by_number(const hd_ptx_module *m, const hd_reach *reach, unsigned boundary,
                              hd_arena *arena);

/* ---- The rewrite ------------------------------------------------------------------- */

/* Reads of one three-dimensional special register. */
typedef struct rewrite_reads {
  bool want[3], narrow[3]; /* per coordinate; narrow: into 16 bits */
  char names[3][64];       /* u32 registers (or constants) that replace them; "" where not wanted */
} rewrite_reads;

/* An order's table, as its readers find it. */
typedef struct rewrite_table {
  char name[96];  /* a variable of the module, or the u64 register with its address */
  unsigned bytes; /* of one entry: 2 or 4 */
  bool constant;  /* a variable in the .const space, whose addresses ld.const alone takes */
} rewrite_table;

typedef struct rewrite_job {
  hd_ptx_module *m;
  uint32_t func;
  const hd_plan *plan;
  hd_order order;              /* as it is applied: the plan's, or a table that was made of it */
  const hd_table *order_table; /* of an order that is one; else NULL */
  const hd_rewrite_options *opt;
  hd_recipe *recipe;
  const hd_recipe *asked; /* where the caller wants it; NULL: nowhere */
  const char *prefix;
  rewrite_traits traits;
  bool no_carry; /* the text rests on HD_ASSUME_NO_CARRY */
  rewrite_reads ctaid, nctaid;
  bool clusters;           /* the kernel says which ones it runs in; then opt->grid and V count clusters */
  uint32_t cluster[3];     /* CTAs of one */
  rewrite_reads clusterid; /* then: what the order gives, of which %ctaid is made */
  uint64_t V;              /* known grids: tasks */
  bool wide;               /* positions need 64 bits */
  bool claims;             /* bind=agents or bind=claim */
  bool loops;              /* bind=agents or bind=cancel: the body is a loop's */
  const struct claim_scheme *claim; /* then, how: levers/claim.h */
  bool attend;                      /* where it loops: ended warps attend the others' barriers */
  uint32_t block[3];                /* known or {0} */
  rewrite_table table;              /* the order's */
  bool ordered;                     /* the binding's and the order's registers are there */
  uint32_t body; /* where the kernel's own statements begin, behind those that the steps put there */
  bool own_cell; /* the order's program reads the worker's own cell, and %~u is not there */
} rewrite_job;

static inline uint32_t rewrite_threads(const rewrite_job *j) {
  return j->block[0] * j->block[1] * j->block[2];
}

/* levers/cluster.c: orders of whole clusters. */
hd_status rewrite_check_clusters(const rewrite_job *j, hd_diag *d);
/* The registers that replace %ctaid, from those of %clusterid. */
void rewrite_put_ctas(rewrite_job *j, hd_buf *text);
/* The order's results: the reads of %ctaid, or those of %clusterid and what %ctaid takes of it. */
static inline rewrite_reads *rewrite_ordered(rewrite_job *j) {
  return j->clusters ? &j->clusterid : &j->ctaid;
}
/* dependents.c: what a plan adds may not run while the launch before still does. */
hd_status rewrite_check_dependents(const rewrite_job *j, hd_diag *d);
/* levers/tiles.c: shape=loop. *rests: on HD_ASSUME_NO_CARRY. */
hd_status rewrite_tile_loop(rewrite_job *j, bool *rests, hd_diag *d);
/* The registers of the worker's place, less their coordinate. */
static inline const char *rewrite_place(const rewrite_job *j) { return j->clusters ? "clusterid" : "ctaid"; }
/* The register has one value in all threads of a launch, however often it is written. */
bool rewrite_same_in_launch(const hd_cfg *g, const hd_writers *writers, uint32_t reg);

/* ---- Editing (edit.c): what every lever does to a kernel ------------------------------ */

/* Threads of a CTA: the caller's, else the kernel's own; {0}: not known. */
void rewrite_find_block(const hd_ptx_module *m, uint32_t func, const uint32_t given[3], uint32_t block[3]);
/* printf, then ~ becomes the prefix. */
void rewrite_put(const rewrite_job *j, hd_buf *text, const char *fmt, ...) HD_PRINTF(3, 4);
/* "line 7: mov.u32 %r1, %smid: WHY" as HD_ERR_REFUSED. */
hd_status rewrite_refuse(const hd_ptx_module *m, const hd_ptx_stmt *st, const char *why, hd_diag *d);
/* Which coordinates of special register `id` the kernel reads; a read in a shape that cannot be
 * replaced is refused. Then, of names given in *r: 16-bit registers %~<letter>x for the narrow ones, and the
 * replacement of reads from statement `begin` on. */
hd_status rewrite_find_reads(const hd_ptx_module *m, const hd_ptx_func *f, uint32_t id, rewrite_reads *r,
                             hd_diag *d);
void rewrite_put_halves(const rewrite_job *j, const rewrite_reads *r, char letter, hd_buf *text);
void rewrite_replace_reads(const rewrite_job *j, uint32_t id, const rewrite_reads *r, char letter,
                           uint32_t begin);
/* The symbol of an inserted register; 0: none. */
hd_sym rewrite_find_register(const hd_ptx_module *m, const char *name);
/* The first of n refusals as an error; HD_OK: there is none. */
hd_status rewrite_first_refusal(const hd_refusal *why, size_t n, hd_diag *d);
/* %~linear: the thread's number in its CTA. */
void rewrite_put_linear_thread(const rewrite_job *j, hd_buf *t);

/* ---- Searching ------------------------------------------------------------------------- */

/* scan.c: a search of a kernel, and of every function that it can reach, for instructions that bar a plan.
 * Refusals go to out[0..cap); all are counted in n. */
typedef enum rewrite_clocks { CLOCKS_UNSEEN = 0, CLOCKS_HIDDEN, CLOCKS_SHOW } rewrite_clocks;
typedef struct rewrite_scan {
  const hd_ptx_module *m;
  hd_refusal *out;
  size_t cap, n;
  hd_arena arena;
  hd_reach reach;
  uint32_t next;  /* the function of `reach` that is looked at next */
  uint8_t *forms; /* per form: refuse.c's verdict on it */
  bool clusters;  /* refuse.c: the kernel says which clusters it runs in */
  rewrite_clocks clocks;
} rewrite_scan;
/* Begins with `func`. False when there is no memory, which is refused. rewrite_scan_end frees in either case.
 */
bool rewrite_scan_begin(rewrite_scan *s, const hd_ptx_module *m, uint32_t func, hd_refusal *out, size_t cap);
void rewrite_scan_end(rewrite_scan *s);
/* The next function; NULL: there is none. */
const hd_ptx_func *rewrite_scan_next(rewrite_scan *s);
/* "mov.u32 %r1, %smid;: WHY"; WHY alone where `st` is NULL. */
void rewrite_scan_refuse(rewrite_scan *s, hd_refusal_kind kind, const hd_ptx_stmt *st, const char *why);
/* A graph with calls inlined, up to so many instructions, is right: none passes values through registers,
 * which are not followed from the caller's to the function's. */
enum { REWRITE_MOST_INSTS = 1 << 17 };
bool rewrite_can_inline(const rewrite_scan *s);
/* Every call of a function that has a body was inlined. */
bool rewrite_is_whole(const hd_cfg *g);

/* clock_reads.c: clocks that the kernel and its functions read decide for how long threads wait, and nothing
 * else. Found out once; true when memory runs out, which is refused. */
bool rewrite_hides_clocks(rewrite_scan *s);

/* waits/waits.c: refuses loops of the kernel and of its functions that may wait for another CTA's write.
 * False: no memory. */
bool rewrite_scan_waits(rewrite_scan *s);

/* levers/claim.c: the scheme of bind=claim and bind=agents, in j->claim, the launch's needs in j->recipe, and
 * the remark that says it. Refuses kernels and grids that no scheme is for. */
hd_status rewrite_decide_claims(rewrite_job *j, hd_diag *d);
/* levers/bind.c: the text up to the order's arithmetic, after which %~u holds the position; for agents, with
 * the loop's head and the way out. The tail follows the order's arithmetic. */
hd_status rewrite_put_binding(const rewrite_job *j, hd_buf *text, hd_diag *d);
void rewrite_put_binding_tail(const rewrite_job *j, hd_buf *text);
/* Shared memory that the kernel lends for handing tasks over is named at entry, so that a declaration of its
 * own comes before. *n: 1 when there is one, which is the first statement then. */
hd_status rewrite_declare_lender(const rewrite_job *j, uint32_t *n, hd_diag *d);

/* levers/attend.c. The end of a task: attend what others still do, wait for all threads of the warp, and for
 * copies under way. */
void rewrite_put_task_end(const rewrite_job *j, hd_buf *text);
#define REWRITE_BY_NUMBER                                                                                    \
  "the kernel reaches shared memory by numbers, and this plan would put a variable of its own there"

/* levers/shared.c. What an instruction may ask of a shared address: it is a multiple of this at most. */
unsigned rewrite_shared_boundary(const hd_ptx_module *m);
/* Bytes of static shared memory to add where so many are needed; 0: there is no room. */
uint32_t rewrite_spare_shared(const rewrite_job *j, uint32_t bytes);
/* So many bytes of shared memory as the variable ~NAME, which moves no variable of the kernel's off a
 * boundary that it lies at. */
hd_status rewrite_add_shared(const rewrite_job *j, const char *name, uint32_t bytes, uint32_t align,
                             hd_buf *text, hd_diag *d);

/* levers/cancel.c. Whether the GPU and the kernel are such as bind=cancel needs, and the launch's needs. */
hd_status rewrite_decide_cancel(rewrite_job *j, hd_diag *d);
/* The text up to the order's arithmetic, which begins at the cell of the CTA that was taken over. */
hd_status rewrite_put_cancel(const rewrite_job *j, hd_buf *text, hd_diag *d);
/* The register with coordinate k of that cell. Returns `name`. */
const char *rewrite_cancel_cell(const rewrite_job *j, unsigned k, char name[64]);

/* levers/order.c. Tables of no more entries are written into the module: the launch stays as it was. */
enum { REWRITE_MOST_EMBEDDED = 1 << 16 };
/* The program from the worker's own cell, or from %~u, to its task's cell; sets j->own_cell. */
hd_status rewrite_order_program(rewrite_job *j, hd_prog *prog, hd_diag *d);
/* Put the table that the program reads where it will find it. */
hd_status rewrite_order_table(rewrite_job *j, hd_diag *d);
/* For any grid, and its tasks must be fewer than 2^32: %~nx and so on are needed, and a way around, to
 * $~entered. */
bool rewrite_order_counts(const rewrite_job *j, const hd_prog *prog);
/* A way around for grids of one row, where the order leaves them as they are: no division by unknown
 * numbers. */
void rewrite_put_line_check(const rewrite_job *j, hd_buf *text);
/* The program as text; j->ctaid.names: the registers that replace %ctaid. */
hd_status rewrite_put_order(rewrite_job *j, const hd_prog *prog, hd_buf *text, hd_diag *d);
/* levers/copies.c: drop the body's own copies of those registers. The inserted statements end at `begin`, and
 * other levers' `header` statements follow, which stay. */
hd_status rewrite_drop_copies(const rewrite_job *j, uint32_t begin, uint32_t header, hd_diag *d);

/* levers/agents.c */
/* hd_rewrite_agent_refusals, and how the kernel becomes an agent where there are none. */
size_t rewrite_scan_agents(const hd_ptx_module *m, uint32_t func, const uint32_t block[3], bool *attend,
                           hd_refusal *out, size_t cap);
/* Before the binding is inserted: zero the registers that the body may read before it writes them, behind the
 * declarations that follow its first `header` statements. */
hd_status rewrite_start_fresh(const rewrite_job *j, uint32_t header, hd_diag *d);
/* After the binding was inserted in `begin` statements: the kernel's exits become branches to $~end. */
hd_status rewrite_close_loop(const rewrite_job *j, uint32_t begin, hd_diag *d);

/* levers/attend.c. The registers; then, when the binding and they were inserted in `begin` statements: the
 * barriers of the kernel's own threads become such as ended warps can attend. */
void rewrite_put_attendance(const rewrite_job *j, hd_buf *text);
hd_status rewrite_attend(const rewrite_job *j, uint32_t begin, hd_diag *d);

/* recipe.c: the extra parameters, or the state as a variable of the module. */
hd_status rewrite_add_params(rewrite_job *j, hd_diag *d);
/* The address of the state, in the register ~NAME. */
void rewrite_put_state(const rewrite_job *j, hd_buf *text, const char *name);

/* registers.c: the kernel's directives. */
hd_status rewrite_set_registers(rewrite_job *j, hd_diag *d);

/* ---- Other levers ------------------------------------------------------------------- */

/* vectors.c: reads of a special register's four coordinates at once become reads of each. */
hd_status rewrite_split_vectors(hd_ptx_module *m, uint32_t func, hd_diag *d);
/* refuse.c: refused where the kernel has an instruction that is not known; hd_rewrite_refusals asks, too. */
hd_status rewrite_check_known(const rewrite_job *j, hd_diag *d);
/* %~u or %~w: the worker's number. %~nx %~ny %~nz %~v %~large for any grid. */
void rewrite_put_worker(const rewrite_job *j, hd_buf *text);
void rewrite_put_dimensions(const rewrite_job *j, hd_buf *text);

/* levers/threads.c: before all else. */
hd_status rewrite_threads_order(const rewrite_job *j, hd_diag *d);
/* global_loads.c: how the load is spelt that goes around a cache; *kept says why it stays as it is, if it
 * does. Where there are policies, one around L2 takes one more operand. */
hd_status rewrite_respell(hd_ptx_module *m, const hd_ptx_stmt *load, hd_bypass_kind around, uint32_t *form,
                          const char **kept, hd_diag *d);
bool rewrite_has_policies(const hd_ptx_module *m);
/* How it is spelt as a non-coherent one. */
hd_status rewrite_make_readonly(hd_ptx_module *m, const hd_ptx_stmt *load, uint32_t *form, const char **kept,
                                hd_diag *d);
/* levers/bypass.c. *header: the statements that were put in front, to be run once. */
hd_status rewrite_loads(const rewrite_job *j, uint32_t *header, hd_diag *d);
/* levers/ballot.c. Whether the vote can be taken; then, for the header: %~limit, the threads that use L1, of
 * %~linear, and the count. The launch's parameters are added. */
hd_status rewrite_check_ballot(const rewrite_job *j, hd_diag *d);
hd_status rewrite_put_ballot(rewrite_job *j, hd_buf *text, hd_diag *d);
/* The steps of levers.def: after all else. */
#define HD_LEVER_STEP(name, type, values, least, step) hd_status step(rewrite_job *j, hd_diag *d);
#include "heddle/levers.def"

/* ---- Lowering ------------------------------------------------------------------------ */

/* Lower a program to PTX statements. Registers are named %<prefix>_...; the text declares
 * them. `in` is the name of the u32 register that holds the position (u64 when wide);
 * `want` says which of the results are wanted: their values end in u32 registers whose names are
 * written to names[k] (at most 64 bytes each). `table` is read by programs of an order that is one. Division
 * by a constant becomes a multiplication that is exact for every value the operand can take. */
typedef struct rewrite_lowering {
  const char *prefix;
  bool wide_in; /* `in` is a u64 register */
  const char *in;
  const char *cluster; /* u32 register; NULL when the program does not read it */
  const char *own[3];  /* u32 registers with the worker's cell; NULL: %ctaid is read */
  const char *dims[4]; /* names of u32 registers with NX, NY, NZ, V; NULL when constants; %nctaid is read
                          where the program asks for NX, NY, NZ all the same */
  bool clusters;       /* %clusterid and %nclusterid are read instead */
  bool want[3];
  const rewrite_table *table;
} rewrite_lowering;
hd_status rewrite_lower(const hd_prog *p, const rewrite_lowering *l, char names[3][64], hd_buf *text,
                        hd_diag *d);

#endif
