/* heddle/plan.h: plans, orders, clusters. Pure arithmetic.
 *
 * A plan fixes every lever for one kernel and is a plain value: `=` copies it, and there is nothing to free.
 * Its notation is `lever=value` pairs joined by commas, "baseline" for the empty plan:
 *
 *     order=tile:8x4,bind=redirect
 *
 * An order is a bijection from positions 0..V-1 to the grid coordinates of the
 * V tasks. The arithmetic of orders and clusters is defined once, as a small
 * program (hd_prog): the host evaluates it, the rewriter lowers it to PTX.
 */
#ifndef HEDDLE_PLAN_H
#define HEDDLE_PLAN_H

#include "heddle/numbers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Orders ------------------------------------------------------------- */

/* gx, gy, gz: CTAs per dimension. A task's number is x + gx*(y + gy*z); its
 * position is when it comes in an order. With r = remaining cells:
 *
 * row          x fastest, then y, then z (the hardware's own order)
 * col          y fastest, then x, then z (CLU's column-major indexing)
 * band:H       bands of H rows; inside a band y fastest, then x, then z; bands
 *              one after the other. The last band may be lower.
 * tile:WxH     tiles of W x H cells per z plane, tiles in row order, cells of a
 *              tile in row order, x fastest; edge tiles are smaller
 * tile:WxHxL   the same of row-order positions, in rows of L of them, whatever the grid's own rows are
 *              (SCH 5.1). Positions behind the last whole row keep their places.
 * zigzag:A[xB] rows of A groups of B positions (B = 1 when left out): odd rows
 *              run backwards group by group, over row-order positions (SCH 5.1).
 *              The incomplete last row is not reversed.
 * stride:AxB   groups of B consecutive row-order positions, taken A groups apart
 *              (SCH 5.1): groups 0, A, 2A, ..., then 1, A+1, ... A trailing
 *              incomplete group, if any, stays last. A >= the number of groups
 *              changes nothing.
 * hilbert      Hilbert curve per z plane: of the smallest 2^k x 2^k square that
 *              covers it, quadrants (0,0) (0,1) (1,1) (1,0), cells outside the
 *              plane left out
 * reverse      row order backwards
 * heavy-first  the tasks with most work first: a table that an analysis of the work
 *              per task supplies
 * affinity     tasks that share data next to each other: a table that an analysis of
 *              the accesses supplies
 * table:FILE   position -> task number, from a file: text, one decimal number a
 *              line ('#' starts a comment), or binary little-endian u32 when the
 *              file starts with the 8 bytes "HDTABLE1" followed by a u64 count. An
 *              order of a plan's tasks only, not of threads or of a shape
 *
 * Parameters larger than the grid are as good as the grid's own extent.
 */
typedef enum hd_order_kind {
  HD_ORDER_ROW = 0,
  HD_ORDER_COL,
  HD_ORDER_BAND,
  HD_ORDER_TILE,
  HD_ORDER_ZIGZAG,
  HD_ORDER_STRIDE,
  HD_ORDER_HILBERT,
  HD_ORDER_REVERSE,
  HD_ORDER_HEAVY_FIRST,
  HD_ORDER_AFFINITY,
  HD_ORDER_TABLE,
  HD_ORDER_COUNT
} hd_order_kind;

typedef struct hd_order {
  hd_order_kind kind;
  uint32_t a, b; /* band: a = H; tile: a = W, b = H; zigzag, stride: a, b. >= 1 */
  uint32_t c;    /* tile: L; 0: left out. Else 0 */
} hd_order;

/* Orders that are a table for one grid, supplied by an analysis or a file. */
static inline bool hd_order_needs_table(hd_order_kind k) {
  return k == HD_ORDER_HEAVY_FIRST || k == HD_ORDER_AFFINITY || k == HD_ORDER_TABLE;
}

/* ---- Shapes ------------------------------------------------------------- */

/* The grid as the orders see it, whatever the launch says: for kernels that are launched in one dimension and
 * divide the CTA's number themselves.
 *
 * WxH[xD]   a grid of W x H x D cells, in which the kernel numbers its tasks as the hardware numbers CTAs:
 * task t is cell (t mod W, t / W mod H, t / (W*H)). An extent beyond what is left of the V tasks is as good
 *           as that: W is at most V, H at most V / W, D at most V / (W*H), rounded down; D left out is all
 *           planes. Tasks from W*H*D on, if there are any, come last and in their own order.
 * :ORDER    behind it: the kernel itself goes through the cells in this order, task t being the cell at
 *           position t. Triton's grouping by G rows is WxH:band:G. Orders act on the cells, so that the
 *           kernel's own order is undone
 * loop:     before it: a persistent kernel's tiles, all W*H*D that there are, which its CTAs go through in a
 * loop of their own in steps of the grid's size; the order is that of the loop's tiles, and CTAs stay
 */
typedef enum hd_shape_kind {
  HD_SHAPE_LAUNCH = 0,
  HD_SHAPE_GIVEN,
  HD_SHAPE_AUTO, /* as an analysis of the launch finds it; the launch's where it finds none */
  HD_SHAPE_COUNT
} hd_shape_kind;

typedef struct hd_shape {
  hd_shape_kind kind;
  uint32_t n[3]; /* given: W, H, D >= 1; D = 0: left out */
  hd_order own;  /* given: no table */
  bool loop;     /* given: of the tiles that a persistent kernel's own loop goes through, not of its CTAs */
} hd_shape;

/* ---- Levers ------------------------------------------------------------- */

/* How a worker learns its tasks. Clusters: the tasks meant for one SM, as `split` cuts the order.
 *
 * none         by its own id: the hardware's dispatch over the new order
 * redirect     by its own id, clusters by assumed round robin (CLU 4.2.3 A, eq. 7 and 8)
 * agents[:N]   persistent workers, N active per SM (all that fit when N is left out): each claims task
 *              after task from the cluster of the SM it runs on, and from others when that is empty
 * agents:auto  as many workers as fit, of which another number is active on each SM, hd_agents_voted: the
 *              launch in which the SMs vote on N (CLU 4.3). Together with order, shape and split alone
 * claim        as many workers as tasks: each claims one, in the same way, when it starts
 * cancel       CTAs in a loop, without clusters: each does its own task, asks the hardware for a CTA that has
 *              not started yet (clusterlaunchcontrol.try_cancel, sm_100), and does that one's in its place
 *              until none is left. The launch stays as it was, and so does the order of the dispatch */
typedef enum hd_bind_kind {
  HD_BIND_NONE = 0,
  HD_BIND_REDIRECT,
  HD_BIND_AGENTS,
  HD_BIND_CLAIM,
  HD_BIND_CANCEL,
  HD_BIND_COUNT
} hd_bind_kind;

/* Workers claim their tasks. */
static inline bool hd_bind_claims(hd_bind_kind k) { return k == HD_BIND_AGENTS || k == HD_BIND_CLAIM; }
/* A CTA does one task after another. */
static inline bool hd_bind_loops(hd_bind_kind k) { return k == HD_BIND_AGENTS || k == HD_BIND_CANCEL; }
/* The order is cut into clusters, one for each SM. */
static inline bool hd_bind_has_clusters(hd_bind_kind k) { return k != HD_BIND_NONE && k != HD_BIND_CANCEL; }

/* How V positions are cut into M clusters. Always the first V mod M clusters have V/M + 1 tasks, the
 * others V/M.
 *
 * chunk   M runs of consecutive positions (CLU eq. 7)
 * wave:N  waves of M*N consecutive positions, each cut by chunk, so that what runs at the same time on
 *         the whole GPU is compact too
 * rows    as many whole rows to each cluster as each can get; what is left is cut by chunk (MAP
 *         algorithm 3, direction x). A row is a run of nx positions: for order=row only
 * cols    the same with columns: for order=col only */
typedef enum hd_split_kind {
  HD_SPLIT_CHUNK = 0,
  HD_SPLIT_WAVE,
  HD_SPLIT_ROWS,
  HD_SPLIT_COLS,
  HD_SPLIT_COUNT
} hd_split_kind;

typedef struct hd_split {
  hd_split_kind kind;
  uint32_t wave; /* wave: N >= 1; else 0 */
} hd_split;

/* How many tasks an agent takes at once.
 *
 * tasks         one, which is claimed while it does the one before
 * segments[:K]  K consecutive places of a cluster, the last ones of it fewer (SMC 3.3): one atomic for all of
 *               them. Without K as many as there are for each worker, so that nearly all work is dealt out at
 *               the start, as SMC does it; what workers that come late or never leave behind, others take
 * strides       each worker takes one of the strides that its SM's cluster is cut into, one atomic when it
 *               starts, and does places w, w + S, w + 2S, ... of it (CLU listing 5). S: as many strides as
 * there are workers for each SM, of which agents:N leaves all but N empty. A worker on an SM that has more
 * takes a stride of another cluster, and nothing is taken over from workers that are slow */
typedef enum hd_take_kind {
  HD_TAKE_TASKS = 0,
  HD_TAKE_SEGMENTS,
  HD_TAKE_STRIDES,
  HD_TAKE_COUNT
} hd_take_kind;

typedef struct hd_take {
  hd_take_kind kind;
  uint32_t tasks; /* segments: K; 0: as many as there are for each worker */
} hd_take;

/* bind=agents:auto: how many of `most` workers are active on the SM that serves that cluster. Never none. */
static inline uint32_t hd_agents_voted(uint32_t most, uint32_t cluster) { return 1 + cluster % most; }

/* Horizontal bypassing (BYP): warps with index >= `warps` in their CTA go around the cache. */
typedef enum hd_bypass_kind {
  HD_BYPASS_NONE = 0,
  HD_BYPASS_L1,
  HD_BYPASS_READONLY,
  HD_BYPASS_L2,
  HD_BYPASS_AUTO,  /* cache and threshold are voted for */
  HD_BYPASS_L1_L2, /* both, each from a threshold of its own (BYP figures 7 and 10: the same one) */
  HD_BYPASS_COUNT
} hd_bypass_kind;

typedef struct hd_bypass {
  hd_bypass_kind kind;
  uint32_t warps;    /* of L1, READONLY and L2; 0: all warps bypass. L1_L2: of L1 */
  uint32_t l2_warps; /* L1_L2: of L2; else 0 */
} hd_bypass;

/* bypass=auto: the warps of each CTA that use L1 on an SM of that number. SM 0 bypasses nothing, so that a
 * run on one SM shows every load as it is with L1. */
static inline uint32_t hd_bypass_voted(uint32_t warps, uint32_t sm) { return warps - sm % (warps + 1); }

/* Vertical bypassing: these loads bypass in every warp. */
typedef enum hd_stream_kind {
  HD_STREAM_NONE = 0,
  HD_STREAM_L1,    /* all of global memory that can */
  HD_STREAM_LOADS, /* those listed */
  HD_STREAM_AUTO,  /* those whose data is not requested again: hd_resolve finds them, for one workload */
  HD_STREAM_COUNT
} hd_stream_kind;

typedef struct hd_stream {
  hd_stream_kind kind;
  hd_numbers loads; /* those listed: numbers of global loads in the kernel's text, from 0 */
} hd_stream;

/* How bypassing is coded: both variants of each load under predicates, or the kernel's text twice with
 * one branch per warp at entry (BYP 4.2, 6.1). */
typedef enum hd_form {
  HD_FORM_AUTO =
      0, /* whichever costs less: predicates for a few loads, else two texts unless they are too long */
  HD_FORM_PREDICATE,
  HD_FORM_REPLICATE,
  HD_FORM_COUNT
} hd_form;

/* Fetch the data of the task that is `distance` steps ahead in this worker's order. */
typedef enum hd_prefetch_kind {
  HD_PREFETCH_NONE = 0,
  HD_PREFETCH_L1,
  HD_PREFETCH_L2,
  HD_PREFETCH_COUNT
} hd_prefetch_kind;

typedef struct hd_prefetch {
  hd_prefetch_kind kind;
  uint32_t distance; /* >= 1 when there is one */
} hd_prefetch;

/* A lever's value where it is a name out of a list, with a number: levers.def. */
typedef struct hd_setting {
  unsigned kind;   /* in the list; 0: the default */
  uint32_t number; /* behind the colon; 0 where there is none */
} hd_setting;

/* The room for a table's path, its 0 included. */
enum { HD_PLAN_TABLE = 256 };

/* All zero: the baseline. */
typedef struct hd_plan {
  hd_order order;
  char table[HD_PLAN_TABLE]; /* order=table:FILE: the path as written; else "" */
  hd_shape shape;
  hd_bind_kind bind;
  uint32_t agents;   /* bind=agents: active per SM; 0: all that fit */
  bool agents_voted; /* bind=agents:auto: all that fit are launched, and SMs differ in how many are active */
  hd_order threads;  /* of thread ids across CTA borders (SCH); row: as they are */
  bool threads_in_cta; /* the order is one of the threads inside each CTA instead */
  hd_bypass bypass;
  hd_stream stream;
  hd_form form;
  hd_numbers sms; /* the SMs that the kernel may use; none: all */
  /* The other levers, each named as in the notation: hd_split split; hd_take take; hd_prefetch prefetch; */
#define HD_LEVER(name, type, values, least) type name;
#include "heddle/levers.def"
} hd_plan;

/* The baseline. */
HD_API extern const hd_plan hd_plan_original;

/* The notation's values, beyond those above:
 *
 *   shape=[loop:]WxH[xD][:ORDER]|auto          bind=agents[:N]|agents:auto
 *   split=chunk|wave:N|rows|cols          take=tasks|segments[:K]|strides
 *   threads=ORDER|cta:ORDER (no table)
 *   bypass=l1:K|ro:K|l2:K|auto|l1:K+l2:K            stream=l1|3+7+8|auto (load numbers)
 *   form=auto|predicate|replicate         prefetch=l1:D|l2:D
 *   sms=0-31+64-95
 */

/* Parse the notation. Errors name the lever, the value, the column. A lever given twice is an error, and
 * so is a combination that hd_plan_check refuses. The FILE of table:FILE may hold commas: it ends before
 * a comma that a known lever's name and '=' follow; it has at most HD_PLAN_TABLE - 1 bytes. Loads and SMs
 * have numbers below HD_NUMBERS. On failure *out is the baseline. */
HD_API hd_status hd_plan_parse(const char *text, hd_plan *out, hd_diag *d);
/* Make the plan's order the table of that file. HD_ERR_UNSUPPORTED, naming the bound, where the path is too
 * long; the plan stays as it was. */
HD_OWN hd_status hd_plan_order_by(hd_plan *p, const char *path, hd_diag *d);
/* *out is p with those levers of q that p leaves alone; it may be one that hd_plan_check refuses. False: it
 * is p. */
HD_OWN bool hd_plan_join(const hd_plan *p, const hd_plan *q, hd_plan *out);
/* HD_ERR_USAGE with one line that says why when a value is out of range or levers are combined that make
 * no sense together: split without clusters, form without bypass, sms without agents, ... */
HD_OWN hd_status hd_plan_check(const hd_plan *p, hd_diag *d);
/* The least sm number of GPUs that can run the plan's kernels; 0: any. *what (may be NULL) names the lever
 * that needs it. */
enum { HD_READONLY_ARCH = 32, HD_CANCEL_ARCH = 100 };
HD_OWN unsigned hd_plan_arch(const hd_plan *p, const char **what);
/* HD_ERR_UNSUPPORTED, with a line that says what is missing, where the GPU is older. arch 0: not known, any.
 */
HD_API hd_status hd_plan_check_arch(const hd_plan *p, const char *gpu, unsigned arch, hd_diag *d);
/* Canonical notation, appended: levers in the table's order, defaults left out,
 * "baseline" when nothing is left. parse(print(p)) equals p. */
HD_API void hd_plan_print(const hd_plan *p, hd_buf *out);
/* "WxH", "WxHxD", "WxH:ORDER"; HD_SHAPE_LAUNCH: nothing. */
HD_OWN void hd_shape_print(const hd_shape *s, hd_buf *out);
HD_API bool hd_plan_equal(const hd_plan *a, const hd_plan *b);
HD_API bool hd_plan_is_baseline(const hd_plan *p);
/* Whether a plan changes a task's own work, and not only when and where it runs: threads, bypass, stream, and
 * every lever with a step in levers.def. */
HD_OWN bool hd_plan_changes_tasks(const hd_plan *p);

/* ---- Plan sets ------------------------------------------------------------ */

typedef struct hd_kernel_plan {
  const char *kernel; /* the caller's */
  hd_plan plan;
} hd_kernel_plan;

/* The plans of a workload's kernels: `all` is the plan of each kernel that `kernels` does not name; no kernel
 * is named twice. All zero: the baseline for every kernel. The list and the names in it are the caller's. */
typedef struct hd_plan_set {
  hd_plan all;
  hd_kernel_plan *kernels;
  size_t n;
} hd_plan_set;

/* The baseline for every kernel. */
HD_API extern const hd_plan_set hd_plan_set_original;

/* Give a kernel a plan, in place of the one that it had; kernel NULL: set `all`. The list must have room for
 * one kernel more where this one is not in it, and the name must live as long as the set. */
HD_OWN void hd_plan_set_put(hd_plan_set *s, const char *kernel, const hd_plan *p);
/* The kernel's plan: never NULL, as long-lived as the set. */
HD_OWN const hd_plan *hd_plan_set_of(const hd_plan_set *s, const char *kernel);
/* The same plan for every kernel that either names, and for all others. */
HD_OWN bool hd_plan_set_equal(const hd_plan_set *a, const hd_plan_set *b);
/* No kernel is changed. */
HD_OWN bool hd_plan_set_is_baseline(const hd_plan_set *s);
/* Appended: the plan for all, then "; kernel: plan" for each kernel of its own, in the set's order. */
HD_OWN void hd_plan_set_print(const hd_plan_set *s, hd_buf *out);

/* ---- Tables ------------------------------------------------------------- */

/* An explicit order: task[p] is the task number at position p. */
typedef struct hd_table {
  uint32_t *task;
  uint64_t n;
} hd_table;

/* Read and check: exactly V entries, each of 0..V-1 exactly once. A table that
 * is no bijection fails with HD_ERR_REFUSED, naming the entry's line (or index)
 * and the number repeated, missing or out of range. */
HD_API hd_status hd_table_read(const char *path, uint64_t V, hd_table *out, hd_diag *d);
HD_OWN hd_status hd_table_parse(const char *bytes, size_t len, const char *name, uint64_t V, hd_table *out,
                                hd_diag *d);
/* The binary form, whole or not at all (hd_file_write). */
HD_API hd_status hd_table_write(const char *path, const hd_table *t, hd_diag *d);
HD_API void hd_table_free(hd_table *t);

/* ---- Programs: the arithmetic, defined once ------------------------------ */

/* Straight-line code over 64-bit unsigned values with one kind of loop. Value
 * numbers index `vals`; instructions run in the order of their numbers. Programs
 * from hd_plan_forward never wrap: no sum or product reaches
 * 2^64, no difference falls below 0. `max` is the greatest value an instruction
 * can give for an input below V, so that the lowering may use 32-bit instructions
 * and exact multiplications for divisions. Constants and inputs come first.
 *
 * A value is computed where it stands and keeps that value until it is computed
 * again. Variables are the exception: a VAR instruction sets its variable to the
 * initial value, an ASSIGN changes it, and an operand (or out[]) that names the
 * VAR reads what the variable holds at that time. After a loop it holds what was
 * assigned last; leaving by BREAK_IF changes nothing. Variables are declared
 * outside the loops that assign them, or again in each iteration.
 *
 * A loop's body runs until one of its BREAK_IFs leaves it (every loop ends for
 * every input). Values computed in a body are recomputed in each iteration, and
 * nothing behind ENDLOOP reads them: results leave a loop in variables.
 *
 * A pass that rewrites programs must heed this: two equal instructions may be merged, and a value moved, only
 * if no variable that they name directly is assigned in between, a loop's body counting as its own successor,
 * and if the one that stays is on every path to the uses of both. */
typedef enum hd_pop {
  HD_P_CONST,   /* imm */
  HD_P_POS,     /* input: worker or position (forward), task number (inverse), place in its cluster (place) */
  HD_P_CLUSTER, /* input: cluster number (place, quota) */
  HD_P_X,
  HD_P_Y,
  HD_P_Z, /* inputs of hd_plan_from_cell's programs: the worker's own cell, %ctaid */
  HD_P_NX,
  HD_P_NY,
  HD_P_NZ, /* grid dimensions, when they are not known constants */
  HD_P_V,  /* number of tasks, when not a constant */
  HD_P_A,
  HD_P_B,
  HD_P_C,   /* inputs of hd_plan_header's functions only: an order's parameters, a number of clusters */
  HD_P_VAR, /* a variable; a: initial value. `max` holds for all it is ever assigned */
  HD_P_ADD,
  HD_P_SUB,
  HD_P_MUL, /* a, b */
  HD_P_DIV,
  HD_P_REM, /* a, b; b is never 0 (the builder guarantees it) */
  HD_P_MIN,
  HD_P_MAX,
  HD_P_AND,
  HD_P_OR,
  HD_P_XOR,
  HD_P_SHL,
  HD_P_SHR, /* shift by b < 64 */
  HD_P_LT,
  HD_P_EQ,       /* 0 or 1 */
  HD_P_SELECT,   /* a != 0 ? b : c */
  HD_P_ASSIGN,   /* variable a = b; has no value */
  HD_P_LOOP,     /* while (true) { ; a: its ENDLOOP */
  HD_P_BREAK_IF, /* leave the innermost loop when a != 0; b: its ENDLOOP */
  HD_P_ENDLOOP,  /* } ; a: its LOOP */
  HD_P_TABLE,    /* entry a of the order's table */
} hd_pop;

typedef struct hd_pval {
  hd_pop op;
  uint32_t a, b, c; /* operands: value numbers; 0 where there is none */
  uint64_t imm;
  uint64_t max; /* no smaller than any value this can take */
} hd_pval;

enum { HD_PROG_MAX = 512 };
typedef struct hd_prog {
  hd_pval vals[HD_PROG_MAX];
  uint32_t n;
  uint32_t out[3]; /* forward: values that hold x, y, z; inverse: all three name the worker */
  bool uses_table;
  bool any_size; /* needs no count of tasks: right for unknown grids of 2^32 tasks and more, too */
} hd_prog;

/* The grid that a plan is applied to. With `known` false, g is ignored and the program
 * reads HD_P_NX/NY/NZ/V; it is then right for every grid of fewer than
 * 2^32 tasks (the rewriter keeps the original order for larger ones). */
typedef struct hd_grid {
  bool known;
  uint32_t g[3];
  uint32_t n_sms; /* >= 1; clusters, unless the plan names its SMs */
} hd_grid;

/* V = gx*gy*gz; false on 64-bit overflow or a zero dimension. Programs are built
 * for V < 2^63, which holds for every grid that CUDA allows. */
HD_OWN bool hd_grid_tasks(const uint32_t g[3], uint64_t *V);

/* Build the program that turns a worker's linear id u into its task's (x, y, z): binding first (CLU eq. 8
 * and 7), then the order. With bind=agents and bind=claim workers learn a position while they run: the
 * input is that position. Fails with HD_ERR_USAGE for parameters of 0 and the like, HD_ERR_REFUSED for a
 * table with an unknown grid. */
HD_OWN hd_status hd_plan_forward(const hd_plan *p, const hd_grid *g, hd_prog *out, hd_diag *d);
/* The same from the worker's own cell, which says more than its id: coordinates that the order leaves alone,
 * or changes one by one, cost little or nothing. Not for bind=agents and bind=claim (HD_ERR_USAGE). With
 * `packed` the program's table is hd_plan_pack's, of hd_plan_packed > 0 words; else the order's own. */
HD_OWN hd_status hd_plan_from_cell(const hd_plan *p, const hd_grid *g, bool packed, hd_prog *out, hd_diag *d);
/* Words of the table that stands for the order on a known grid: of an order that is a table, where the grid
 * is one plane, and of the Hilbert curve, whose arithmetic is a loop. A word holds a cell of the plane, x in
 * its low half and y above; on a line, the one coordinate that there is. 0: there is no such table. */
HD_OWN uint64_t hd_plan_packed(const hd_plan *p, const hd_grid *g);
/* Make it; t: the order's own table, if it has one. */
HD_OWN hd_status hd_plan_pack(const hd_plan *p, const hd_grid *g, const hd_table *t, hd_table *words,
                              hd_diag *d);
/* The number of clusters: SMs that the plan may use. */
HD_OWN uint32_t hd_plan_clusters(const hd_plan *p, const hd_grid *g);
/* From a cluster and a place w in it to a position, as `split` says; all three results are it. */
HD_OWN hd_status hd_plan_place(const hd_plan *p, const hd_grid *g, hd_prog *out, hd_diag *d);
/* From a cluster to the number of its tasks; all three results are it. */
HD_OWN hd_status hd_plan_quota(const hd_plan *p, const hd_grid *g, hd_prog *out, hd_diag *d);

/* Evaluate. `in` < V is the worker or task number; `g` is the launch's grid; the
 * table, of V entries, may be NULL when the program uses none. An inverse program
 * gives its one result three times. */
HD_OWN void hd_prog_eval(const hd_prog *p, const uint32_t g[3], uint64_t in, const hd_table *t,
                         uint64_t out[3]);
/* The same for programs that read a cluster's number. */
HD_OWN void hd_prog_eval_in(const hd_prog *p, const uint32_t g[3], uint64_t cluster, uint64_t in,
                            const hd_table *t, uint64_t out[3]);
/* The program as text, one value a line: for people and tests. */
HD_OWN void hd_prog_print(const hd_prog *p, hd_buf *out);
/* All orders that need no table, and the clusters of CLU 4.2, as functions in C and CUDA C for any grid of
 * fewer than 2^32 tasks and any parameters: the text of heddle/cta_orders.h. */
HD_API hd_status hd_plan_header(hd_buf *out, hd_diag *d);

/* task[u] for all workers u = 0..V-1; with bind=agents and bind=claim the tasks of cluster 0, then those
 * of cluster 1, ...: cluster i begins at hd_cluster_start. The grid must be known and V below 2^32.
 * Allocates *out. `t` is the checked table of an order that needs one, else NULL. */
HD_API hd_status hd_plan_tabulate(const hd_plan *p, const hd_grid *g, const hd_table *t, hd_table *out,
                                  hd_diag *d);
HD_OWN hd_status hd_table_invert(const hd_table *t, hd_table *out, hd_diag *d);

/* ---- Divisions by constants ------------------------------------------------ */

/* n / divisor == (n * multiplier) >> shift for every n <= max, with multiplier < 2^bits and shift >= bits: a
 * high multiplication and a shift. bits is 32 or 64, divisor >= 1. False when no such multiplier exists; a
 * max below 2^(bits-1) always has one, but for divisor 1. */
typedef struct hd_magic {
  uint64_t multiplier;
  unsigned shift;
} hd_magic;
HD_OWN bool hd_find_magic(uint64_t divisor, uint64_t max, unsigned bits, hd_magic *out);
/* The same for n * factor / divisor, factor >= 1. */
HD_OWN bool hd_find_scaled_magic(uint64_t factor, uint64_t divisor, uint64_t max, unsigned bits,
                                 hd_magic *out);

/* ---- Clusters (CLU 4.2) --------------------------------------------------- */

/* V tasks cut into M >= 1 contiguous clusters whose sizes differ by at most one: the
 * first V mod M clusters have one task more. (w, i): position w in cluster i < M. */
HD_OWN uint64_t hd_cluster_size(uint64_t V, uint64_t M, uint64_t i);
HD_OWN uint64_t hd_cluster_start(uint64_t V, uint64_t M, uint64_t i); /* CLU eq. 7, w = 0 */
HD_OWN void hd_cluster_of(uint64_t V, uint64_t M, uint64_t v, uint64_t *w, uint64_t *i); /* eq. 4, 5 */

/* ---- Candidates ------------------------------------------------------------ */

/* A kernel's launch as far as it decides which plans are worth trying. */
typedef struct hd_plan_space {
  uint32_t grid[3], block[3]; /* grid: as orders see it, which is the launch's or that of `shape` */
  hd_shape shape;             /* where the kernel divides the CTA's number: the tiles that it means */
  uint64_t tasks;             /* CTAs of the grid */
  uint32_t n_sms;
  uint32_t resident; /* CTAs of the original per SM; 0: unknown */
  uint32_t warps;    /* per CTA */
  uint32_t loads;    /* global loads that bypassing can change */
  uint32_t readonly; /* loads of memory that nothing writes, which could take the read-only path and do not */
  bool can_order;    /* nothing bars another order of the CTAs */
  bool can_loop;     /* nor agents */
  bool can_cancel;   /* then: the kernel is for a GPU that lets CTAs take over others (bind=cancel) */
  bool clusters;     /* CTAs run in clusters: orders are theirs, none is a table, and no CTA is bound */
  bool can_swap_threads; /* nor another order of the threads across CTAs; inside each CTA: */
  bool can_turn_threads;
  bool has_affinity, has_heavy_first, has_streams; /* a trace can supply these, and they may pay */
  bool grows;    /* CTAs of greater numbers run some loop more often, as in causal attention */
  bool apart;    /* data decides which tasks share, and no table tells: distances along the grid are tried */
  bool has_vote; /* of the thresholds of bypassing L1 only this one is a candidate */
  uint32_t vote;
  bool has_agents_vote; /* of the numbers of agents only all that fit and this one are candidates */
  uint32_t agents_vote;
} hd_plan_space;

/* A plan worth trying. */
typedef struct hd_candidate {
  hd_plan plan;
  double prior;       /* the greater, the earlier it should be tried: 0 to 1 */
  const char *reason; /* why it may pay, in one line; static */
} hd_candidate;

enum { HD_CANDIDATES = 320 }; /* no launch has more */

/* The plans that are tried unless the caller names others: optimize, sweep and tune all take this list.
 * Greatest prior first, no plan twice, no two orders that are the same on this grid, the baseline not among
 * them. The first `cap` are stored. Returns how many there are in all; 0 for a grid without tasks or with
 * 2^63 or more.
 */
HD_OWN size_t hd_candidates(const hd_plan_space *s, hd_candidate *out, size_t cap);

/* Which levers the plan pulls, and which way, as bits: plans of one family tend to win or lose together. 0:
 * the baseline's. */
HD_OWN uint32_t hd_plan_family(const hd_plan *p);

#ifdef __cplusplus
}
#endif
#endif
