/* Whether some threads of a CTA may end while others go on to a barrier.
 *
 * All threads of a CTA begin together, and they leave a barrier together if they meet at it. PTX defines an
 * aligned barrier (bar, and barrier with .aligned) only where all of them execute the same one; so between
 * two such barriers they may go their own ways, and must all come to the next one. A thread that ends instead
 * is not waited for. That happens only if some branch leads one thread to the end without a barrier, and
 * another one to a barrier. It does not where threads agree on each such branch. */
#include "cfg/internal.h"
#include "heddle/ptx_facts.h"

/* Where a path from here may first come to; bits. */
enum { TO_BARRIER = 1, TO_END = 2 };

/* Under a guard, a barrier is a branch around itself. */
static bool is_guarded(const hd_uniformity *u, uint32_t inst) {
  return hd_inst_stmt(u->cfg, inst)->guard && hd_inst_same(u, inst) != HD_SAME_IN_CTA;
}

static bool is_aligned(const hd_ptx_form *f) {
  return f->op == HD_OP_BAR || hd_ptx_form_has(f, HD_M_ALIGNED);
}

static bool all_are_plain(const hd_uniformity *u) {
  const hd_cfg *g = u->cfg;
  for (uint32_t i = 0; i < g->n_insts; i++) {
    const hd_ptx_form *f = hd_inst_form(g, i);
    if (!(f->flags & (HD_OPF_CTA_WIDE | HD_OPF_CLUSTER_WIDE))) continue;
    if (!hd_inst_is_full_barrier(g, i) || !is_aligned(f) || is_guarded(u, i)) return false;
  }
  return true;
}

/* Where the ways out of a block come to. A trap ends the whole launch, whatever other threads do. */
static unsigned behind(const hd_cfg *g, uint32_t block, const uint8_t *places) {
  const hd_block *b = &g->blocks[block];
  bool traps = b->n_insts && hd_inst_form(g, b->first + b->n_insts - 1)->op == HD_OP_TRAP;
  unsigned reached = 0;
  for (uint32_t k = 0; k < b->n_succ; k++) {
    uint32_t to = g->edges[b->first_succ + k];
    if (!traps || to != g->n_blocks - 1) reached |= places[to];
  }
  return reached;
}

static void find_places(const hd_cfg *g, hd_arena *arena, uint8_t *places) {
  uint8_t *stops =
      HD_NEW_N(arena, g->n_blocks, uint8_t); /* all threads that run the block stop at a barrier in it */
  for (uint32_t i = 0; i < g->n_insts; i++) {
    uint32_t block = g->insts[i].block;
    if (!hd_inst_is_full_barrier(g, i)) continue;
    if (!stops[block]) places[block] = TO_BARRIER;
    stops[block] |= !hd_inst_stmt(g, i)->guard;
  }
  /* The exit has no immediate post-dominator. Nor has a block in an endless loop, which reaches no barrier
   * either. */
  for (uint32_t b = 0; b < g->n_blocks; b++)
    if (g->blocks[b].ipdom == HD_NONE) places[b] |= TO_END;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = g->n_blocks - 1; b-- > 0;) {
      unsigned reached = places[b] | (stops[b] ? 0 : behind(g, b, places));
      changed |= reached != places[b];
      places[b] = (uint8_t)reached;
    }
  }
}

typedef struct decision {
  const hd_uniformity *u;
  hd_same level;
} decision;

static void raise(void *ctx, uint32_t reg) {
  decision *x = ctx;
  if (x->u->reg[reg] > x->level) x->level = (hd_same)x->u->reg[reg];
}

/* The threads that agree on where to go from a block. */
static hd_same branch_same(const hd_uniformity *u, uint32_t block) {
  const hd_block *b = &u->cfg->blocks[block];
  decision x = {u, (hd_same)u->block[block]};
  hd_inst_reads(u->cfg, b->first + b->n_insts - 1, raise, &x);
  return x.level;
}

bool hd_barriers_are_met(const hd_uniformity *u, hd_arena *arena) {
  const hd_cfg *g = u->cfg;
  if (!all_are_plain(u)) return false;
  uint8_t *places = HD_NEW_N(arena, g->n_blocks, uint8_t);
  find_places(g, arena, places);
  for (uint32_t b = 0; b + 1 < g->n_blocks; b++) {
    if (g->blocks[b].n_succ < 2 || branch_same(u, b) == HD_SAME_IN_CTA) continue;
    if (behind(g, b, places) == (TO_BARRIER | TO_END)) return false;
  }
  return true;
}
