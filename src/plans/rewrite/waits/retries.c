/* What becomes of the words that updates find.
 *
 *     do { expected = found; found = swap(word, expected, f(expected)); } while (found != expected);
 *
 * An update ends as its swap succeeds, and waits for no other thread. What its swap found says what others
 * have written, though: a sum of doubles to which 0 is added is a look at it. So the number is followed
 * forwards. As long as it only makes the next try, or decides whether there is one, it shows nothing. */
#include "rewrite/waits/waits.h"

enum { MOST_FOLLOWED = 64 };

typedef struct retries {
  wait_search *w;
  uint32_t look;
  uint32_t regs[MOST_FOLLOWED], n;
  bool shown; /* the number, or what it decides, leaves the update */
} retries;

static void follow(void *ctx, uint32_t reg) {
  retries *x = ctx;
  for (uint32_t i = 0; i < x->n; i++)
    if (x->regs[i] == reg) return;
  if (x->n < MOST_FOLLOWED)
    x->regs[x->n++] = reg;
  else
    x->shown = true;
}

static bool is_settled(const wait_search *w, uint32_t inst) { return w->settled[w->g.insts[inst].block]; }

static void look_for_use_beyond(void *ctx, uint32_t reg) {
  retries *x = ctx;
  uint32_t n;
  const uint32_t *readers = wait_readers(x->w, reg, &n);
  x->w->steps += n;
  for (uint32_t i = 0; i < n; i++) x->shown = x->shown || !is_settled(x->w, readers[i]);
}

static bool writes_word(const retries *x, uint32_t inst) {
  wait_search *w = x->w;
  return hd_ptx_access_in(wait_access(w, inst), HD_IN_ANY_GLOBAL) & HD_ACC_WRITE &&
         (inst == x->look || wait_same_place(w, x->look, inst));
}

/* A block that runs or not by such a branch: in the update it may leave nothing behind, and beyond the update
 * it may do nothing at all. */
static void look_at_ruled(retries *x, uint32_t block) {
  wait_search *w = x->w;
  const hd_block *b = &w->g.blocks[block];
  w->steps += b->n_insts;
  for (uint32_t i = b->first; i < b->first + b->n_insts && !x->shown; i++) {
    const hd_ptx_form *f = hd_inst_form(&w->g, i);
    if (f->flags & HD_OPF_JUMPS || writes_word(x, i)) continue;
    if (!w->settled[block] || wait_access(w, i)->kinds & HD_ACC_WRITE || f->flags & HD_OPF_CALLS)
      x->shown = true;
    hd_inst_writes(&w->g, i, look_for_use_beyond, x);
  }
}

static void look_at_branch(retries *x, uint32_t block) {
  wait_search *w = x->w;
  const uint32_t meet = w->g.blocks[block].ipdom;
  uint32_t top = 0, *stack = HD_NEW_N(w->arena, w->g.n_blocks + 1u, uint32_t);
  uint8_t *seen = HD_NEW_N(w->arena, w->g.n_blocks + 1u, uint8_t);
  stack[top++] = block;
  while (top && !x->shown) {
    const hd_block *b = &w->g.blocks[stack[--top]];
    for (uint32_t k = 0; k < b->n_succ; k++) {
      const uint32_t to = w->g.edges[b->first_succ + k];
      if (to == meet || seen[to]) continue;
      seen[to] = 1;
      stack[top++] = to;
      look_at_ruled(x, to);
    }
  }
}

static void look_at_reader(retries *x, uint32_t inst) {
  wait_search *w = x->w;
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  if (!is_settled(w, inst))
    x->shown = true;
  else if (f->flags & HD_OPF_JUMPS)
    look_at_branch(x, w->g.insts[inst].block);
  else if (f->flags & HD_OPF_PURE)
    hd_inst_writes(&w->g, inst, follow, x);
  else if (!writes_word(x, inst))
    x->shown = true;
}

bool wait_shows_found(wait_search *w, uint32_t look) {
  retries x = {.w = w, .look = look};
  hd_inst_writes(&w->g, look, follow, &x);
  for (uint32_t k = 0; k < x.n && !x.shown; k++) {
    uint32_t n;
    const uint32_t *readers = wait_readers(w, x.regs[k], &n);
    w->steps += n;
    for (uint32_t i = 0; i < n && !x.shown; i++) look_at_reader(&x, readers[i]);
  }
  return x.shown || w->steps >= WAIT_WALK;
}
