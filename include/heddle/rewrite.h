/* heddle/rewrite.h: (kernel, plan) -> kernel.
 *
 * Each CTA of the rewritten kernel works out which task it is (a few instructions at entry) and uses that
 * instead of %ctaid. An order alone, or bind=redirect, leaves the launch as it was: the same grid, block,
 * shared memory and arguments. bind=cancel adds static shared memory. bind=claim, bind=agents and large
 * tables need more at launch: the recipe lists it. Where tasks are claimed, the kernel's remark
 * (hd_ptx_func), two lines printed as comments, names the scheme and the reason for it.
 */
#ifndef HEDDLE_REWRITE_H
#define HEDDLE_REWRITE_H

#include "heddle/plan.h"
#include "heddle/ptx.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Registers that the loop over tasks takes: the queue and the number claimed ahead, a coordinate. */
enum { HD_AGENT_REGISTERS = 3 };

/* How many registers ptxas may give each thread of a kernel with agents (.maxnreg), where the original's are
 * known. ptxas hoists values out of a loop over tasks into up to sixteen more registers, of which most
 * kernels need none. No limit is below 24, ptxas's least. A limit under which ptxas spills must be loosened;
 * local memory that has grown shows a spill (hd_kernel_info). */
typedef enum hd_register_budget {
  HD_BUDGET_SAME_OCCUPANCY = 0, /* three more than the original, but no more than leave as many CTAs resident
                                   on an SM (block not known: than the original's, rounded up to eight) */
  HD_BUDGET_THREE_MORE,         /* three more than the original */
  HD_BUDGET_NONE,               /* no limit but the kernel's own */
  HD_BUDGET_COUNT
} hd_register_budget;

/* Facts that the caller knows and the text does not say; bits. The rewritten kernel's remark names those that
 * it rests on. */
enum {
  HD_ASSUME_NO_WAITS = 1, /* no loop waits for another CTA's write, though the text looks so: hash tables with
                             room, say. Where this is wrong, CTAs may wait for ever */
  HD_ASSUME_NO_CARRY = 2, /* shape=loop: no tile of the kernel's own loop reads or overwrites what an earlier
                             one of the same CTA left in memory. Where this is wrong, so are results */
};
/* "no-waits", "no-carry", several joined by commas. False: another word. */
HD_API bool hd_assume_parse(const char *text, unsigned *assume);
/* As hd_assume_parse reads it; "": nothing is assumed. */
HD_OWN const char *hd_assume_text(unsigned assume);

typedef struct hd_rewrite_options {
  hd_grid grid;          /* known: constants are baked in, and a launch with any other grid would be wrong;
                            unknown: any grid */
  uint32_t block[3];     /* threads per CTA of every launch to come; {0}: any, unless the kernel says it */
  const hd_table *table; /* the checked table of an order that needs one; else NULL */
  const hd_numbers
      *sms; /* bind=claim, bind=agents: the numbers (%smid) of the SMs that launches to come may run on, where
               they have holes (MIG, green contexts, MPS); each serves the cluster of its place among them.
               NULL: 0 to n_sms - 1. A plan's own sms= takes precedence. Results are right on any SMs, but
               other SMs then serve the clusters of SMs that do not run */
  uint32_t registers; /* that a thread of the original uses, on the GPU to come; 0: not known */
  /* Loads, by number as hd_rewrite_loads lists them, increasing: the caller states that no launch to come
   * writes the memory they read. bypass=ro makes them non-coherent */
  const uint32_t *unwritten;
  uint32_t n_unwritten;
  unsigned assume; /* HD_ASSUME_... */
  hd_register_budget
      budget;     /* of bind=agents. For bind=agents:N it is what N CTAs per SM leave, if that is more */
  bool own_state; /* the state that a plan needs is a variable of the module, and no parameter: the launches
                     of   the module, as it is loaded, must come one after the other */
  bool dynamic_shared; /* launches give the kernel dynamic shared memory, whether its text names some or not:
                          a variable of the plan's own does not stand where that begins */
  bool no_hoisting; /* bind=agents: the loop over tasks is written so that ptxas hoists nothing out of it, at
                       the price of a vote per task. For kernels that would otherwise take more than
                       HD_AGENT_REGISTERS more */
} hd_rewrite_options;

/* The CTAs of a cluster along each dimension, if the kernel says it (.reqnctapercluster); else 1, 1, 1 and
 * false. Orders then act on whole clusters, whose grid a plan's shape and order mean, and each CTA keeps its
 * rank; bindings, orders of threads and prefetching are refused. */
HD_OWN bool hd_rewrite_clusters(const hd_ptx_module *m, uint32_t func, uint32_t cluster[3]);

/* ---- Launching a rewritten kernel ------------------------------------------ */

/* Everything that the launch of a rewritten kernel takes beyond the original's. All zero: nothing.
 *
 * Extra parameters stand behind the kernel's own, in this order, those that are there:
 *
 *   state   .u64  address of state_bytes of device memory, zero before the first launch. Every launch
 *                 leaves it zero again, but for a ballot, so launches one after the other in a stream share
 *                 one; launches that may run at once (in several streams, or by programmatic dependent
 *                 launch) need one each. A launch that was killed leaves it undefined
 *   table   .u64  address of the order's table in device memory: one u32 per position
 *   grid    .u32 x 3  the dimensions of the original's grid
 */
typedef struct hd_recipe {
  bool agents; /* the grid is another one: see hd_recipe_grid */
  bool fills;  /* agents: the grid fills the GPU, even if there are fewer tasks: workers on SMs that the plan
                  does not name leave at once, and only so enough come to those that it names; of take=strides
                  each SM gets as many strides as others */
  bool ballot; /* bypass=auto, bind=agents:auto: a ballot of HD_BALLOT_SMS u32, at the state's end. bypass:
                  for each SM's number modulo HD_BALLOT_SMS the CTAs that it ran; agents: for each cluster
                  the tasks that its SM did, or the warps of those tasks. Launches add to it and clear
                  nothing there */
  bool own_state;         /* it has a state, in its module: hd_rewrite_options.own_state */
  uint64_t state_bytes;   /* 0: no such parameter */
  uint64_t table_bytes;   /* 0: no such parameter */
  uint64_t ballot_offset; /* in the state */
  bool grid;
  bool no_dynamic_shared; /* the launch may give the kernel no dynamic shared memory: its text names none */
  uint32_t shared_bytes;  /* by which the kernel's static shared memory has grown */
  uint32_t n_params;      /* of the original */
  uint64_t state_offset, table_offset, grid_offset; /* in the parameter block */
  uint64_t params_bytes;                            /* of the whole block */
} hd_recipe;

enum { HD_BALLOT_SMS = 1024 };

/* Tasks from which on bind=agents and bind=claim leave a grid in its own order (they count in 32 bits). */
#define HD_MOST_CLAIMED ((uint64_t)INT32_MAX)

/* The grid to launch: `tasks` is the original's, n_sms those of the GPU, resident the CTAs of the rewritten
 * kernel that fit on one SM. Any other grid of workers, of one CTA or more in one dimension, is right, too.
 */
HD_API void hd_recipe_grid(const hd_recipe *r, const uint32_t tasks[3], uint32_t n_sms, uint32_t resident,
                           uint32_t workers[3]);
/* Write the extra parameters into a block of params_bytes that begins with the original's. */
HD_API void hd_recipe_params(const hd_recipe *r, const uint32_t tasks[3], uint64_t state, uint64_t table,
                             void *params);

/* How the kernel is launched from now on, as comments for the end of the module's text; nothing if it is
 * launched as before. */
HD_API void hd_recipe_print(const char *kernel, const hd_recipe *r, hd_buf *out);
/* The same for people: a line says so if it is launched as before. */
HD_OWN void hd_recipe_tell(const char *kernel, const hd_recipe *r, hd_buf *out);

/* ---- Refusals ----------------------------------------------------------------- */

/* The reason why a kernel cannot be rewritten. */
typedef enum hd_refusal_kind {
  HD_REFUSE_NONE = 0,
  HD_REFUSE_NO_BODY,   /* a declaration only */
  HD_REFUSE_NO_MEMORY, /* memory ran out while the kernel was examined: hd_rewrite fails with HD_ERR_NOMEM */
  HD_REFUSE_GRID_SYNC, /* grid-wide synchronisation, or spinning on other CTAs' data */
  HD_REFUSE_CLUSTER,   /* works across the CTAs of clusters whose shape only the launch says */
  HD_REFUSE_SREG,      /* reads %smid %warpid %gridid %pm0 ..., which the rewrite would change, or a clock
                          that decides more than how long a thread waits */
  HD_REFUSE_UNKNOWN_INSTRUCTION, /* an opcode, a modifier or a form that heddle does not know: no lever takes
                                    it */
  HD_REFUSE_CTAID_IN_FUNC,       /* %ctaid read inside a function that is not inlined */
  HD_REFUSE_UNKNOWN_CALL,   /* calls a function that this module does not define, or through a pointer: it may
                               read %ctaid */
  HD_REFUSE_DYNAMIC_LAUNCH, /* takes over CTAs not launched yet (clusterlaunchcontrol) */
  /* For bind=agents and bind=cancel only: */
  HD_REFUSE_SKIPPED_BARRIER, /* some threads may end before others meet there, and cannot attend it */
  HD_REFUSE_LASTING_STATE,   /* the next task would see state that a task leaves behind: mbarriers, setmaxnreg
                              */
  HD_REFUSE_GRID_IN_FUNC,    /* %nctaid read inside a function that is not inlined */
  /* For threads= only: */
  HD_REFUSE_WORKS_TOGETHER, /* threads of a CTA or a warp do: barriers, shared memory, shuffles, lanes */
  HD_REFUSE_TID_IN_FUNC,    /* %tid read inside a function that is not inlined */
} hd_refusal_kind;

typedef struct hd_refusal {
  hd_refusal_kind kind;
  uint32_t line;   /* PTX line of the instruction; 0: none */
  uint16_t reason; /* where in `what` the reason begins, behind the instruction */
  char what[256];  /* "mov.u32 %r1, %smid: ..." one line */
} hd_refusal;

/* All reasons why `func` of m must not be reordered; at most cap are stored, the
 * total is returned. 0: it may. A property of the kernel, not of the plan. */
HD_API size_t hd_rewrite_refusals(const hd_ptx_module *m, uint32_t func, hd_refusal *out, size_t cap);
/* The same, without the reasons that the caller's word (HD_ASSUME_...) removes. */
HD_OWN size_t hd_rewrite_refusals_assuming(const hd_ptx_module *m, uint32_t func, unsigned assume,
                                           hd_refusal *out, size_t cap);
/* The reasons why a CTA must not do one task after another (bind=agents, bind=cancel), beyond those. block as
 * in hd_rewrite_options. */
HD_OWN size_t hd_rewrite_agent_refusals(const hd_ptx_module *m, uint32_t func, const uint32_t block[3],
                                        hd_refusal *out, size_t cap);
/* The reasons why threads must not be renumbered, beyond those: across CTAs (threads=ORDER), or, in_cta,
 * inside each of them (threads=cta:ORDER). block as there. */
HD_OWN size_t hd_rewrite_thread_refusals(const hd_ptx_module *m, uint32_t func, bool in_cta,
                                         const uint32_t block[3], hd_refusal *out, size_t cap);
HD_API const char *hd_refusal_name(hd_refusal_kind k);
/* The plans that a launch of a kernel leaves to try (hd_candidates), as far as the kernel's text tells
 * without the launch's arguments: n_sms, resident, readonly, the shape, vote and the facts from a trace are
 * 0. */
HD_OWN hd_status hd_rewrite_space(const hd_ptx_module *m, const char *kernel, const uint32_t grid[3],
                                  const uint32_t block[3], unsigned assume, hd_plan_space *out, hd_diag *d);

/* ---- Loads --------------------------------------------------------------------- */

/* bypass= and stream= change loads by ld, of global memory, that are weak and have no cache operator but .ca,
 * in the kernel itself. Other loads stay as they are, and a kernel in which none can be changed is refused,
 * naming its first one. `kept` says why no such lever can change a load. Further:
 *
 *   l1, stream   .L1::no_allocate from sm_70 and ISA 7.4 on, else .cg. Non-coherent loads (.nc) go through L1
 *                from sm_50 on; before that they are kept
 *   ro           the same, of loads that are non-coherent: they alone use the read-only cache. From sm_32
 *                on, the loads that the options name are made non-coherent, and no others: the kernel may
 *                write the same memory through another pointer, and PTX does not say whether it does
 *   l2           a policy that evicts first (.L2::cache_hint), made once, from sm_80 and ISA 7.4 on, else
 *                .cs; loads with a policy of their own are kept
 *
 * With form=predicate each load stands there twice, under opposite predicates (with policies, once, under its
 * warp's policy); with form=replicate the whole body does; form=auto takes replicate from 8 such loads on, if
 * the body is not too long. With a known block, thresholds that let all warps bypass, or none, cost nothing.
 *
 * bypass=auto makes the kernel that takes the vote (BYP 4.4.2): the CTAs of an SM let as many of their warps
 * use L1 as hd_bypass_voted says, and count themselves. Where the grid has many waves, SMs whose threshold is
 * better run more of them. It needs the block, and stands alone.
 *
 * bind=agents:auto makes the kernel that takes CLU's vote (4.3): as many workers are launched as with
 * bind=agents, of which as many are active on an SM as hd_agents_voted says for its cluster and for the
 * workers that there are for each cluster, rounded up. Each task that is done counts for the SM that did it:
 * SMs that are faster do more, because they take tasks from others' queues when theirs are empty.
 *
 * prefetch= works out the addresses of the loads that follow from ids and parameters alone, each as its loop
 * begins, at most 16 lines a thread; a kernel without any is refused. */
typedef struct hd_global_load {
  uint32_t stmt, line; /* statement of the kernel; PTX line */
  const char *kept;    /* NULL: a lever may change it */
} hd_global_load;
/* The kernel's loads of global memory (generic ones included) in the order of its text, as stream= numbers
 * them; at most cap are stored, the total is returned. */
HD_OWN size_t hd_rewrite_loads(const hd_ptx_module *m, uint32_t func, hd_global_load *out, size_t cap);

/* ---- Rewriting ---------------------------------------------------------------- */

/* Rewrite kernel `func` of *m in place for plan `p`; *recipe says how it is launched from then on. With
 * `recipe` NULL, plans that change the launch fail with HD_ERR_USAGE. A baseline plan changes nothing.
 * HD_ERR_REFUSED with the first refusal when there is one; HD_ERR_UNSUPPORTED, naming the lever, if the
 * rewriter cannot do it. On failure the module must be thrown away. */
HD_OWN hd_status hd_rewrite(hd_ptx_module *m, uint32_t func, const hd_plan *p, const hd_rewrite_options *opt,
                            hd_recipe *recipe, hd_diag *d);

/* ---- From a plan to a text ------------------------------------------------------ */

/* A kernel to rewrite, and what is known of its launches. */
typedef struct hd_apply_kernel {
  const char *name; /* NULL: it is function number `func` */
  uint32_t func;
  const hd_plan *plan;
  hd_rewrite_options options;
  /* Completes a copy of the options by facts that only the kernel's code tells, such as its loads of memory
   * that nothing writes. What it adds must live until the kernel is rewritten. NULL: they are complete. */
  hd_status (*prepare)(void *ctx, const hd_ptx_module *m, uint32_t func, hd_rewrite_options *options,
                       hd_diag *d);
  void *ctx;
  const char *blame; /* failures that name no file begin with it; NULL: they are as they come */
} hd_apply_kernel;

typedef enum hd_text_form {
  HD_TEXT_NONE = 0,
  HD_TEXT_CANONICAL, /* hd_ptx_print */
  HD_TEXT_IN_PLACE,  /* hd_ptx_print_in_place */
} hd_text_form;

typedef struct hd_rewritten {
  hd_arena arena; /* holds the module and the recipes */
  hd_ptx_module *module;
  hd_recipe *recipes; /* hd_apply_text: one for each kernel; hd_apply_resolved: one for each launch */
  hd_buf text;        /* empty for HD_TEXT_NONE */
} hd_rewritten;

/* Parse a module's text, rewrite these kernels of it one after the other, and print it. `name` is the text's,
 * for diagnostics. HD_ERR_INPUT for a kernel that is not in the module; else fails as hd_ptx_parse and
 * hd_rewrite do. *out is freed by hd_rewritten_free; on failure it needs no freeing. */
HD_API hd_status hd_apply_text(const char *text, size_t len, const char *name, const hd_apply_kernel *kernels,
                               size_t n, hd_text_form form, hd_rewritten *out, hd_diag *d);
/* The same for a module that is parsed, in place; on failure it must be thrown away. recipes: n of them. The
 * text is appended. */
HD_OWN hd_status hd_apply_module(hd_ptx_module *m, const hd_apply_kernel *kernels, size_t n,
                                 hd_text_form form, hd_recipe *recipes, hd_buf *text, hd_diag *d);
HD_API void hd_rewritten_free(hd_rewritten *r);

/* ---- What rewriting added ---------------------------------------------------------- */

/* The instructions of a rewritten kernel for one task, beside the task's own work: of an agent from one
 * task's end to the next one's begin, on the way that claims it; of a worker with one task from its start. A
 * search for other queues' tasks is not among it. */
typedef struct hd_added {
  uint32_t instructions; /* of the warp that claims */
  uint32_t depth;        /* the longest chain of instructions that wait for each other */
  bool by_warp;          /* every warp claims for itself, else one for its CTA */
  bool ahead;            /* an agent claims its next task while it does the present one */
  uint32_t registers;    /* that ptxas may give each thread, by the rewriter's .maxnreg; 0: there is none */
} hd_added;
/* Of kernel `func`; `before` and `after`: the module before and after hd_rewrite. */
HD_OWN hd_status hd_rewrite_added(const hd_ptx_module *before, const hd_ptx_module *after, uint32_t func,
                                  hd_added *out, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
