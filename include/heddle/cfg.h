/* heddle/cfg.h: control flow of PTX.
 *
 * This floor stands on ptx alone and describes how a kernel runs: the functions that it can reach, its basic
 * blocks with dominators both ways, its loops, the registers that are live in each block, and the
 * instructions that all threads of a CTA or of a warp execute alike.
 *
 * Memory. Everything here is allocated from the arena that the caller passes, and lives as long. The arena's
 * escape must be set: running out of memory leaves through it.
 */
#ifndef HEDDLE_CFG_H
#define HEDDLE_CFG_H

#include "heddle/ptx.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HD_NONE UINT32_MAX /* no block, no loop, no instruction, no parameter */

/* ---- Calls ------------------------------------------------------------------- */

/* A function and those that it can reach: every function of the module that a reached body names (calls,
 * lists in .calltargets, or takes the address of), itself first. If a body calls through a register without
 * .calltargets, they include the functions whose addresses initialise variables. */
typedef struct hd_reach {
  uint32_t *funcs; /* into module->funcs; all have bodies; none is a kernel but the first may be */
  uint32_t n;
  bool *recursive; /* per entry of funcs: it may call itself, perhaps by way of others */
  bool unknown;    /* a call through a register without .calltargets, or of a function without a body */
} hd_reach;
HD_OWN void hd_reach_find(const hd_ptx_module *m, uint32_t func, hd_arena *arena, hd_reach *out);
/* The function that a call names: index into funcs; HD_NONE: it goes through a register. */
HD_OWN uint32_t hd_callee(const hd_ptx_module *m, const hd_ptx_stmt *call);
/* What CUDA's system functions do, which every module may call and none holds. None of them reads where the
 * CTA runs. */
typedef enum hd_system {
  HD_SYSTEM_UNKNOWN = 0, /* another function, or one with a body */
  HD_SYSTEM_REPORTS,     /* vprintf, __assertfail: what the thread says, or why it ends the program */
  HD_SYSTEM_ALLOCATES,   /* malloc */
  HD_SYSTEM_FREES,       /* free */
  HD_SYSTEM_COPIES,      /* memcpy */
  HD_SYSTEM_FILLS,       /* memset */
} hd_system;
HD_OWN hd_system hd_system_called(const hd_ptx_module *m, const hd_ptx_stmt *call);
/* Whether the call is to a function of the system that writes no memory of the program. */
HD_OWN bool hd_call_writes_nothing(const hd_ptx_module *m, const hd_ptx_stmt *call);

/* ---- The graph ----------------------------------------------------------------- */

/* An instruction of the function, calls inlined. */
typedef struct hd_inst {
  uint32_t func, stmt; /* module->funcs[func].stmts[stmt] */
  uint32_t block;
  uint32_t call; /* the inlined call it belongs to: index into calls; 0 is the function itself */
  uint32_t body; /* of a call whose body follows: index into calls; else 0 */
} hd_inst;

typedef struct hd_inlined {
  uint32_t func;
  uint32_t site;            /* the call instruction: index into insts; HD_NONE for the function itself */
  uint32_t parent;          /* the call that site belongs to */
  uint32_t after;           /* the instruction behind the body; HD_NONE for the function itself */
  uint32_t reg_base;        /* registers of this body are reg_base + hd_ptx_sym.index */
  const uint32_t *position; /* per statement, and one more: the first instruction at or behind it */
} hd_inlined;

/* Edges, in the order of the branch: the taken one of a conditional branch first, then the fall-
 * through. The last block is the exit: empty, and the successor of every ret, exit and trap. */
typedef struct hd_block {
  uint32_t first, n_insts;     /* into insts */
  uint32_t first_succ, n_succ; /* into edges */
  uint32_t first_pred, n_pred; /* into edges */
  uint32_t idom;               /* immediate dominator; HD_NONE for the entry and for unreachable blocks */
  uint32_t ipdom; /* immediate post-dominator; HD_NONE for the exit, and if the exit is not reached */
  uint32_t dom_pre, dom_last; /* a dominates b: a.dom_pre <= b.dom_pre <= a.dom_last */
  uint32_t loop;              /* innermost loop around it, or HD_NONE */
  uint32_t rpo;               /* its number in reverse postorder; HD_NONE: unreachable */
  hd_sym label;               /* first label in front of it, 0: none */
} hd_block;

/* A natural loop. Back edges to one header make one loop. Cycles with several entries are no loops
 * (irreducible): hd_cfg.irreducible says that there are some, hd_regions_find finds them with the others. */
typedef struct hd_loop {
  uint32_t header;
  uint32_t parent; /* the loop around it, or HD_NONE; parents come first */
  uint32_t depth;  /* 1: outermost */
  uint32_t n_blocks, n_latches,
      n_exits;            /* n_exits: edges that leave it, those to the exit block not counted */
  uint32_t line;          /* of the header's first instruction */
  uint32_t leave, leaves; /* the blocks of an edge that leaves it, if there is one; else HD_NONE */
} hd_loop;

typedef struct hd_cfg {
  const hd_ptx_module *module;
  hd_inst *insts;
  uint32_t n_insts;
  hd_inlined *calls;
  uint32_t n_calls;
  uint32_t n_regs; /* registers of all bodies */
  hd_block *blocks;
  uint32_t n_blocks; /* 0 is the entry, n_blocks - 1 the exit */
  uint32_t *edges;
  uint32_t n_edges; /* block numbers */
  hd_loop *loops;
  uint32_t n_loops;
  bool irreducible; /* some cycle has several entries */
} hd_cfg;

/* The graph of a function that has a body. A call is inlined when it names a function with a body that is not
 * open already, and the list stays below max_insts instructions (0: no call is inlined).
 * Errors: HD_ERR_INPUT for a branch to a label that is not there. */
HD_OWN hd_status hd_cfg_build(const hd_ptx_module *m, uint32_t func, uint32_t max_insts, hd_arena *arena,
                              hd_cfg *out, hd_diag *d);

HD_OWN bool hd_dominates(const hd_cfg *g, uint32_t a, uint32_t b);
/* Whether loop `outer` is `inner` or around it; HD_NONE is around everything. */
HD_OWN bool hd_loop_contains(const hd_cfg *g, uint32_t outer, uint32_t inner);
/* The graph in Graphviz' language: blocks with their instructions, loops as clusters. */
HD_OWN void hd_cfg_dot(const hd_cfg *g, const hd_ptx_module *m, hd_buf *out);

static inline const hd_ptx_stmt *hd_inst_stmt(const hd_cfg *g, uint32_t inst) {
  const hd_inst *i = &g->insts[inst];
  return &g->module->funcs[i->func].stmts[i->stmt];
}
static inline const hd_ptx_form *hd_inst_form(const hd_cfg *g, uint32_t inst) {
  return &g->module->forms[hd_inst_stmt(g, inst)->form];
}
/* The register number of a register symbol in the body of `call`. */
static inline uint32_t hd_cfg_reg(const hd_cfg *g, uint32_t call, hd_sym sym) {
  return g->calls[call].reg_base + g->module->syms[sym].index;
}

/* Strongly connected regions of parts of a graph: of natural loops and of irreducible cycles alike. The
 * arrays are scratch, a word per block, made once for any number of searches. */
typedef struct hd_regions {
  const hd_cfg *g;
  uint32_t *inside, *number, *low, *stack, *path, *cursor;
  uint32_t stamp;
} hd_regions;
HD_OWN void hd_regions_init(hd_regions *r, const hd_cfg *g, hd_arena *arena);
/* The maximal regions among n blocks, those without a cycle left out. Their blocks go to `members` (room for
 * n): region i has members[first[i] .. first[i + 1]); `first` has room for n + 1. Returns how many regions
 * there are. Takes time in proportion to the blocks and their edges. */
HD_OWN uint32_t hd_regions_find(hd_regions *r, const uint32_t *blocks, uint32_t n, uint32_t *members,
                                uint32_t *first);

/* ---- Registers --------------------------------------------------------------------- */

/* Calls visit(ctx, register) for each register that an instruction reads, its guard included, or writes. A
 * guarded instruction may leave a register that it writes unchanged. */
typedef void hd_reg_visit(void *ctx, uint32_t reg);
HD_OWN void hd_inst_reads(const hd_cfg *g, uint32_t inst, hd_reg_visit *visit, void *ctx);
HD_OWN void hd_inst_writes(const hd_cfg *g, uint32_t inst, hd_reg_visit *visit, void *ctx);

/* The instructions that write each register, in the order of insts: insts[first[reg] .. first[reg + 1]). */
typedef struct hd_writers {
  uint32_t *first, *insts;
} hd_writers;
HD_OWN void hd_writers_find(const hd_cfg *g, hd_arena *arena, hd_writers *out);

/* Registers that some instruction reads: a byte each. */
HD_OWN uint8_t *hd_reads_find(const hd_cfg *g, hd_arena *arena);
/* The instruction writes one of them. */
HD_OWN bool hd_result_is_read(const hd_cfg *g, const uint8_t *is_read, uint32_t inst);

/* The number of the parameter of the graph's own function that the variable is; HD_NONE. */
HD_OWN uint32_t hd_cfg_param(const hd_cfg *g, hd_sym var);

/* The variable whose name stands for all that share its storage: all shared variables whose size the launch
 * says begin at one place. */
HD_OWN hd_sym hd_storage(const hd_ptx_module *m, hd_sym var);

/* The array that an address leads into. */
typedef struct hd_root {
  hd_sym sym;    /* a variable, or a parameter; 0: not known */
  int64_t place; /* of the pointer in the parameter */
  bool loaded;   /* the parameter holds the pointer */
} hd_root;
/* Of an address operand, or of a register that an address is computed from. Shared variables whose size the
 * launch says are one array, under the name of the module's first. */
HD_OWN hd_root hd_root_of(const hd_cfg *g, const hd_writers *writers, uint32_t inst, const hd_ptx_opnd *o);
/* Whether two names are both known and differ. Two parameters may still hold one pointer. */
HD_OWN bool hd_roots_differ(hd_root a, hd_root b);
/* The space that a generic address into the array leads to; HD_IN_SHARED and HD_IN_GLOBAL if it is not known.
 * The host passes no pointers to shared memory. */
HD_OWN unsigned hd_root_spaces(const hd_ptx_module *m, hd_root r);

/* Registers that some path from a block's beginning reads before it writes them: a bit each. */
typedef struct hd_liveness {
  uint64_t *in; /* `words` per block */
  size_t words;
} hd_liveness;
/* False, and nothing made: the sets would take more than max_bytes. */
HD_OWN bool hd_liveness_find(const hd_cfg *g, size_t max_bytes, hd_arena *arena, hd_liveness *out);
static inline bool hd_live_in(const hd_liveness *l, uint32_t block, uint32_t reg) {
  return l->in[block * l->words + reg / 64] >> reg % 64 & 1;
}

/* ---- Uniformity ---------------------------------------------------------------------- */

/* The threads that agree on a value, or on whether a block runs. */
typedef enum hd_same { HD_SAME_IN_CTA = 0, HD_SAME_IN_WARP, HD_SAME_NOWHERE } hd_same;

/* The level of a value is the highest among the values that it is computed from, of its instruction's guard,
 * and of that instruction's block; that of a register, where it is read, of the values that may be in it
 * there. A block's level is that of the branches that it is control-dependent on, directly or through others.
 * An operation that is not understood counts as different for each thread. */
typedef struct hd_uniformity {
  uint8_t *block; /* hd_same */
  uint8_t *inst;  /* hd_same: see hd_inst_same */
} hd_uniformity;
/* `block_dims`: threads of every CTA, or {0}. */
HD_OWN void hd_uniformity_find(const hd_cfg *g, const uint32_t block_dims[3], hd_arena *arena,
                               hd_uniformity *out);
/* The same under the assumption that the branch at the end of block `branch` goes one way: for the threads
 * that take it, behind it. */
HD_OWN void hd_uniformity_assume(const hd_cfg *g, const uint32_t block_dims[3], uint32_t branch,
                                 hd_arena *arena, hd_uniformity *out);
/* Whether all lanes that the mask of a warp's operation names run it: the mask is a ballot's, and the lanes
 * that said yes go to the operation together. */
HD_OWN bool hd_members_run(const hd_cfg *g, const hd_writers *writers, const uint32_t block_dims[3],
                           uint32_t inst, hd_arena *arena);
/* A barrier that waits for all threads of the CTA: for those that have not ended, or for as many as the block
 * has. Dimensions that are not known are 0. */
HD_OWN bool hd_inst_is_full_barrier(const hd_cfg *g, uint32_t inst, const uint32_t block_dims[3]);
/* A barrier that says how many threads it waits for; it waits for threads that have ended, too. */
HD_OWN bool hd_inst_counts_threads(const hd_cfg *g, uint32_t inst);
/* The threads that agree on whether an instruction runs. */
HD_OWN hd_same hd_inst_same(const hd_uniformity *u, uint32_t inst);

#ifdef __cplusplus
}
#endif
#endif
