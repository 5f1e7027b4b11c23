/* Clocks that only decide how long a thread waits, as in the back-off of a loop that polls.
 *
 * A clock's value is followed forward through registers, regardless of order: a register that may depend on a
 * clock counts as `told` wherever it is read. It may be used to compute other registers, which are told then,
 * as the operand of nanosleep, and to decide a branch. Between such a branch and its immediate
 * post-dominator, where both its sides meet again, nothing may happen but jumps, sleep and computing; all
 * registers that are written there are told, whichever side writes them. So everything else that a thread
 * holds or does is the same for any value of the clock.
 *
 * Between the two there may be no cycle except through the branch itself: time ends such a cycle, as it goes
 * on reading a clock (a delay). Any other could go round for ever on one side only. */
#include <setjmp.h>

#include "rewrite/rewrite_internal.h"

enum { MOST_STEPS = 1 << 22 }; /* for one kernel; beyond, its clocks show */

typedef struct clock_search {
  hd_cfg g;
  hd_regions regions;
  bool *told;            /* per register: it may follow from a clock */
  bool *reads;           /* per instruction: it reads a clock itself */
  bool *decided;         /* per block: its branch was looked at */
  uint32_t *seen, stamp; /* per block: seen[b] == stamp */
  uint32_t *blocks, *members, *first;
  uint64_t steps;
  bool any, changed;
} clock_search;

static bool is_no_clock(void *ctx, const hd_ptx_leaf *leaf) {
  const hd_ptx_sym *y = &((const hd_ptx_module *)ctx)->syms[leaf->sym];
  return y->kind != HD_SYM_SREG || !hd_ptx_sreg_clock(y->index);
}

static void tell(void *ctx, uint32_t reg) {
  clock_search *s = ctx;
  s->changed |= !s->told[reg];
  s->told[reg] = true;
}

static void ask(void *ctx, uint32_t reg) {
  clock_search *s = ctx;
  s->any |= s->told[reg];
}

/* ---- Instructions ------------------------------------------------------------------------------ */

/* Whether the instruction only writes the registers that it names. */
static bool only_computes(const hd_ptx_form *f) {
  return f->flags & HD_OPF_PURE && !(f->flags & (HD_OPF_READS_CARRY | HD_OPF_WRITES_CARRY));
}

/* The block's branch depends on the clock. False: other code may depend on the side that was taken. */
static bool look_at_branch(clock_search *s, uint32_t block) {
  const hd_cfg *g = &s->g;
  uint32_t join = g->blocks[block].ipdom, n = 0, inner = 0;
  bool time_passes = false;
  if (s->decided[block]) return true;
  s->decided[block] = true;
  if (join == HD_NONE) return false;
  s->stamp++;
  s->seen[join] = s->stamp;
  for (uint32_t at = block, next = 0;; at = s->blocks[next++]) {
    const hd_block *b = &g->blocks[at];
    if (b->ipdom == HD_NONE) return false; /* some way never ends */
    for (uint32_t k = 0; k < b->n_succ; k++) {
      uint32_t to = g->edges[b->first_succ + k];
      if (s->seen[to] == s->stamp) continue;
      s->seen[to] = s->stamp;
      s->blocks[n++] = to;
    }
    if (next == n) break;
  }
  for (uint32_t i = 0; i < n; i++) {
    const hd_block *b = &g->blocks[s->blocks[i]];
    s->steps += b->n_insts + 1;
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++) {
      const hd_ptx_form *f = hd_inst_form(g, k);
      time_passes |= s->reads[k];
      if (only_computes(f))
        hd_inst_writes(g, k, tell, s);
      else if (f->op != HD_OP_NANOSLEEP && !(f->flags & HD_OPF_JUMPS))
        return false;
    }
    if (s->blocks[i] != block) s->blocks[inner++] = s->blocks[i];
  }
  if (inner < n && !time_passes) return false;
  return hd_regions_find(&s->regions, s->blocks, inner, s->members, s->first) == 0;
}

/* False: the instruction lets others see a value that depends on the clock. */
static bool look_at(clock_search *s, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&s->g, inst);
  s->any = s->reads[inst];
  hd_inst_reads(&s->g, inst, ask, s);
  if (!s->any || f->op == HD_OP_NANOSLEEP) return true;
  if (f->op == HD_OP_BRA) return look_at_branch(s, s->g.insts[inst].block);
  if (!only_computes(f)) return false;
  hd_inst_writes(&s->g, inst, tell, s);
  return true;
}

/* ---- Kernels ----------------------------------------------------------------------------------- */

static void prepare(clock_search *s, hd_arena *arena) {
  const hd_cfg *g = &s->g;
  hd_regions_init(&s->regions, g, arena);
  s->told = HD_NEW_N(arena, g->n_regs + 1u, bool);
  s->reads = HD_NEW_N(arena, g->n_insts + 1u, bool);
  s->decided = HD_NEW_N(arena, g->n_blocks + 1u, bool);
  s->seen = HD_NEW_N(arena, g->n_blocks + 1u, uint32_t);
  s->blocks = HD_NEW_N(arena, g->n_blocks + 1u, uint32_t);
  s->members = HD_NEW_N(arena, g->n_blocks + 1u, uint32_t);
  s->first = HD_NEW_N(arena, g->n_blocks + 2u, uint32_t);
  for (uint32_t i = 0; i < g->n_insts; i++)
    s->reads[i] = !hd_ptx_visit(g->module, hd_inst_stmt(g, i), is_no_clock, (void *)g->module);
}

/* A clock may part the threads of a warp, and activemask, votes and shuffles see which threads are there. */
static bool sees_who_is_there(const clock_search *s) {
  bool parts = false, sees = false;
  for (uint32_t b = 0; b < s->g.n_blocks; b++) parts |= s->decided[b];
  for (uint32_t i = 0; i < s->g.n_insts; i++) {
    const hd_ptx_form *f = hd_inst_form(&s->g, i);
    sees |= f->flags & HD_OPF_SEES_LANES && !hd_ptx_form_has(f, HD_M_SYNC);
  }
  return parts && sees;
}

static bool hides(const rewrite_scan *scan, hd_arena *arena) {
  clock_search s = {0};
  bool inlines = rewrite_can_inline(scan);
  if (hd_cfg_build(scan->m, scan->reach.funcs[0], inlines ? REWRITE_MOST_INSTS : 0, arena, &s.g, NULL) !=
      HD_OK)
    return false;
  if (scan->reach.n > 1 && !(inlines && rewrite_is_whole(&s.g))) return false;
  prepare(&s, arena);
  do {
    s.changed = false;
    s.steps += s.g.n_insts;
    for (uint32_t i = 0; i < s.g.n_insts; i++)
      if (s.steps > MOST_STEPS || !look_at(&s, i)) return false;
  } while (s.changed);
  return !sees_who_is_there(&s);
}

bool rewrite_hides_clocks(rewrite_scan *s) {
  hd_arena arena;
  jmp_buf out_of_memory;
  if (s->clocks != CLOCKS_UNSEEN) return s->clocks == CLOCKS_HIDDEN;
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  if (!setjmp(out_of_memory)) {
    s->clocks = hides(s, &arena) ? CLOCKS_HIDDEN : CLOCKS_SHOW;
  } else {
    rewrite_scan_refuse(s, HD_REFUSE_NO_MEMORY, NULL, "out of memory while looking at the kernel");
    s->clocks = CLOCKS_HIDDEN;
  }
  hd_arena_free(&arena);
  return s->clocks == CLOCKS_HIDDEN;
}
