/* rewrite/waits/waits.h: whether a loop may wait for what another CTA writes.
 *
 *   quick.c     kernels that need no closer look
 *   waits.c     the kernel's cycles, from the outermost in
 *   flow.c      the values that decide whether a cycle is left
 *   progress.c  cycles that the thread itself ends
 *   lock.c      locks: taken in a loop, and given back on every path
 *   value.c     constants, addresses and copies
 */
#ifndef HEDDLE_REWRITE_WAITS_H
#define HEDDLE_REWRITE_WAITS_H

#include "heddle/cfg.h"
#include "heddle/ptx_facts.h"
#include "rewrite/rewrite_internal.h"

/* The strength with which an instruction reads memory that other CTAs may write. */
typedef enum wait_source {
  WAIT_OWN = 0, /* nothing, or nothing that a thread of another CTA could have written meanwhile */
  WAIT_CTA,     /* ordered among the threads of the CTA: another CTA's, where a wider fence is near */
  WAIT_WEAK,    /* a plain load: another CTA's write may be seen, but this is not guaranteed */
  WAIT_STRONG,  /* made to see other CTAs' writes */
} wait_source;

enum { WAIT_WALK = 1 << 22 }; /* steps for one kernel; beyond, a loop counts as waiting */

typedef struct wait_search {
  const hd_ptx_module *m;
  hd_arena *arena;
  hd_cfg g;
  hd_writers writers;
  hd_regions regions;
  hd_ptx_access *access; /* per form, made when asked for */
  uint8_t *known_form;   /* per form: access is there */
  uint8_t *source;       /* per instruction: wait_source */
  uint64_t steps;

  /* The region that is looked at. */
  uint32_t *in, stamp; /* per block: in[b] == stamp */
  const uint32_t *blocks;
  uint32_t n_blocks;
  bool fence;  /* one that orders more than the CTA */
  bool strong; /* some instruction is WAIT_STRONG */

  /* Scratch of progress.c: parts of the region. */
  uint32_t *part, *members, *first;

  /* For flow.c: the parts of this region that were reached (== stamp), the work still to do, and blocks'
   * numbers. */
  uint32_t *seen_reg, *seen_inst, *seen_block, *seen_var, *work, *number, *doubtful;
  uint32_t *invariant; /* of value.c, per register */
  uint32_t *itself;    /* of flow.c, per register */
  /* For flow.c, per register: == slice if the register is followed now. */
  uint32_t *in_slice, slice;
} wait_search;

static inline bool wait_inside(const wait_search *w, uint32_t inst) {
  return w->in[w->g.insts[inst].block] == w->stamp;
}
static inline const hd_ptx_opnd *wait_operands(const wait_search *w, uint32_t inst) {
  return &w->m->opnds[hd_inst_stmt(&w->g, inst)->first_opnd];
}
const hd_ptx_access *wait_access(wait_search *w, uint32_t inst);

/* ---- quick.c ---------------------------------------------------------------------------------- */

/* Memory may decide about a branch of some loop of this function, which calls no other with a body. */
bool wait_may_be(const hd_ptx_module *m, uint32_t func, hd_arena *arena);

/* ---- value.c ------------------------------------------------------------------------------- */

/* The register of a plain operand, %r with neither part nor sign; HD_NONE: it is none. */
uint32_t wait_register(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o);
/* The only instruction that writes a register: in the whole graph, or in the region; HD_NONE: none, several,
 * or a guarded one. */
uint32_t wait_only_writer(const wait_search *w, uint32_t reg);
uint32_t wait_only_writer_inside(const wait_search *w, uint32_t reg);
bool wait_written_inside(const wait_search *w, uint32_t reg);
/* A move, or a reinterpretation, of a whole register: the one that is read; else HD_NONE. */
uint32_t wait_copied(const wait_search *w, uint32_t inst);
/* A number that the operand always has. */
bool wait_constant(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, int64_t *value);
/* Above 0 in every launch: a constant, or made of the dimensions of the CTA and the grid. */
bool wait_positive(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o);
/* The operand has the same value in every round of the region. */
bool wait_invariant(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o);
/* The variable that an address operand leads into; 0: not known. */
hd_sym wait_root(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o);
/* The address operand of an access: its first place's, or a copy's source. */
const hd_ptx_opnd *wait_address(wait_search *w, uint32_t inst);
/* Both instructions access the same address, if no register that it is made of changed in between; those
 * registers' numbers go to leaves (at most cap), *n of them. */
bool wait_same_address(wait_search *w, uint32_t a, uint32_t b, uint32_t *leaves, uint32_t *n, uint32_t cap);

/* ---- progress.c ---------------------------------------------------------------------------- */

/* The way out of block b in the region: `reg` has the value `leaves` when it is taken. False: no condition.
 */
bool wait_exit(const wait_search *w, uint32_t block, uint32_t *reg, bool *leaves);
/* The exit at this block is taken at some time whatever other CTAs do, if only it is reached again and again:
 * it compares a counter, the result of a successful update, a lock, or a number that grows by the thread's
 * own atomics. */
bool wait_ends_itself(wait_search *w, uint32_t block);
/* Every way round in the region that passes `block` passes one of those blocks as well. */
bool wait_every_round(wait_search *w, uint32_t block, const uint32_t *through, uint32_t n);
/* A condition `reg == leaves` of the exit at `block` that comes true as work is fetched by an atomic,
 * whichever thread of the CTA does that: the atomic; HD_NONE. *bound: the register that it is compared with;
 * HD_NONE. */
uint32_t wait_fetch(wait_search *w, uint32_t reg, bool leaves, uint32_t *bound);

typedef enum wait_compare { CMP_NONE = 0, CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE } wait_compare;
/* The comparison that holds when setp's result is `leaves`; CMP_NONE: floats, or more than a comparison. */
wait_compare wait_comparison(const wait_search *w, uint32_t setp, bool leaves);
/* Follows copies, negations and selections of 1 or 0 to the instruction that decides; HD_NONE. */
uint32_t wait_decides(const wait_search *w, uint32_t reg, bool *leaves, bool inside);

/* ---- lock.c -------------------------------------------------------------------------------- */

/* The atomic takes a lock when it finds `free`: on every path from there the thread gives it back. */
bool wait_is_lock(wait_search *w, uint32_t atom, int64_t free);

/* ---- flow.c -------------------------------------------------------------------------------- */

/* The instruction for whose value the region's exits wait, if another CTA may bring it; HD_NONE: there is
 * none. */
uint32_t wait_find(wait_search *w);

#endif
