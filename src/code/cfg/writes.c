/* Which threads of a CTA may find a value in memory that the kernel changes before the others load it.
 *
 * Shared memory is written by the CTA's own threads, between the same two barriers as the load: those
 * stretches of code are searched. Global memory may be written by other CTAs at any time. A program without
 * data races does not do so where it matters, but flags that end a search are often set without
 * synchronisation. So a load is alike nowhere if an instruction of the kernel writes into the same array, and
 * in a warp alone, whose lanes load together, if one writes into an array that may be the same: through
 * another pointer, or one that is not known. A generic address may lead into either. */
#include <string.h>

#include "cfg/internal.h"
#include "heddle/ptx_facts.h"

enum { MOST_STEPS = 1 << 22 };

static hd_root root_of_operand(const cfg_alike *a, uint32_t inst, unsigned k) {
  return hd_root_of(a->g, a->writers, inst, &a->g->module->opnds[hd_inst_stmt(a->g, inst)->first_opnd + k]);
}

typedef enum overlap { APART = 0, PERHAPS, SAME } overlap;

/* A variable is apart from others, and a pointer from nothing. */
static overlap overlap_of(hd_root a, hd_root b) {
  if (!hd_roots_differ(a, b)) return a.sym && b.sym ? SAME : PERHAPS;
  return a.loaded || b.loaded ? PERHAPS : APART;
}

/* How an instruction, or a function that it calls, may write into the array of `from`, in one of `spaces`. */
static overlap writes_there(const cfg_alike *a, uint32_t inst, hd_root from, unsigned spaces) {
  const hd_ptx_stmt *s = hd_inst_stmt(a->g, inst);
  const hd_ptx_form *f = &a->g->module->forms[s->form];
  const hd_ptx_access x = hd_ptx_access_of(f);
  overlap worst = APART;
  if (f->flags & HD_OPF_CALLS && !a->g->insts[inst].body) return from.sym ? SAME : PERHAPS;
  if (!(x.kinds & HD_ACC_WRITE)) return x.unknown ? SAME : APART;
  for (unsigned k = 0; k < x.n; k++) {
    if (!(x.touches[k].kinds & HD_ACC_WRITE) || !(x.touches[k].space & (spaces | HD_IN_GENERIC)) ||
        x.touches[k].operand >= s->n_opnds)
      continue;
    const overlap o = overlap_of(root_of_operand(a, inst, x.touches[k].operand), from);
    if (o > worst) worst = o;
  }
  return worst;
}

/* ---- Between two barriers ---------------------------------------------------------------------- */

typedef struct stretch {
  const cfg_alike *a;
  hd_root from;
  uint8_t *seen; /* per block: FORWARD, BACKWARD */
  uint32_t *work, n_work;
  uint32_t steps;
  bool found;
} stretch;

enum { FORWARD = 1, BACKWARD = 2 };

static void push(stretch *s, uint32_t block, uint8_t way) {
  if (s->seen[block] & way) return;
  s->seen[block] |= way;
  s->work[s->n_work++] = 2 * block + (way == BACKWARD);
}

/* Searches from an instruction on, up to the next barrier. */
static void go_forward(stretch *s, uint32_t block, uint32_t from) {
  const hd_block *b = &s->a->g->blocks[block];
  for (uint32_t i = from; i < b->first + b->n_insts; i++) {
    s->steps++;
    if (s->a->effects[i] == CFG_EFFECT_CLEARS) return;
    s->found |= writes_there(s->a, i, s->from, HD_IN_ANY_SHARED) != APART;
  }
  for (uint32_t k = 0; k < b->n_succ; k++) push(s, s->a->g->edges[b->first_succ + k], FORWARD);
}

/* Searches back from an instruction, to the beginning of the stretch. */
static void go_backward(stretch *s, uint32_t block, uint32_t to) {
  const hd_block *b = &s->a->g->blocks[block];
  for (uint32_t i = to; i-- > b->first;) {
    s->steps++;
    if (s->a->effects[i] != CFG_EFFECT_CLEARS) continue;
    go_forward(s, block, i + 1);
    return;
  }
  if (!block) push(s, 0, FORWARD);
  for (uint32_t k = 0; k < b->n_pred; k++) push(s, s->a->g->edges[b->first_pred + k], BACKWARD);
}

static bool changes_between_barriers(const cfg_alike *a, uint32_t load, hd_root from) {
  const hd_cfg *g = a->g;
  stretch s = {.a = a,
               .from = from,
               .seen = HD_NEW_N(a->arena, g->n_blocks, uint8_t),
               .work = HD_NEW_N(a->arena, 2 * (size_t)g->n_blocks + 1, uint32_t)};
  uint32_t block = g->insts[load].block;
  go_backward(&s, block, load);
  while (s.n_work && !s.found && s.steps < MOST_STEPS) {
    uint32_t at = s.work[--s.n_work];
    const hd_block *b = &g->blocks[at / 2];
    if (at % 2)
      go_backward(&s, at / 2, b->first + b->n_insts);
    else
      go_forward(&s, at / 2, b->first);
  }
  return s.found || s.steps >= MOST_STEPS;
}

/* Anywhere in the kernel. */
static overlap changes_at_any_time(const cfg_alike *a, hd_root from) {
  overlap worst = APART;
  for (uint32_t i = 0; worst != SAME && i < a->g->n_insts; i++) {
    const overlap o = writes_there(a, i, from, HD_IN_ANY_GLOBAL);
    if (o > worst) worst = o;
  }
  return worst;
}

hd_same cfg_unchanged_in(const cfg_alike *a, uint32_t load, unsigned space) {
  const hd_root from = root_of_operand(a, load, 1);
  if (space & HD_IN_GENERIC) space = hd_root_spaces(a->g->module, from);
  if (!(space & HD_IN_ANY_SHARED)) space = HD_IN_GLOBAL;
  if (space & HD_IN_ANY_SHARED && changes_between_barriers(a, load, from)) return HD_SAME_NOWHERE;
  if (!(space & HD_IN_GLOBAL)) return HD_SAME_IN_CTA;
  switch (changes_at_any_time(a, from)) {
  case APART: return HD_SAME_IN_CTA;
  case PERHAPS: return HD_SAME_IN_WARP;
  case SAME: break;
  }
  return HD_SAME_NOWHERE;
}
