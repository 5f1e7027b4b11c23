/* Loops that fetch work and may give up before it runs out: whether it shows which of the two came.
 *
 *     for (round = 0; round < most; round++) { work = atomicAdd(count, 1); if (work >= n) break; ... }
 *
 * How often a thread gets something depends on how much others have fetched: by itself it may give up where,
 * with others beside it, the work runs out. If the two ends lead to one place, and what the loop leaves
 * behind is data of the work that was done, the difference is not seen. Else the loop is a poll with a
 * time-out. */
#include "rewrite/waits/waits.h"

enum { MOST_FOLLOWED = 32, MOST_PASSED = 8 };

/* ---- Where the ends lead ------------------------------------------------------------------------- */

static bool only_jumps(const wait_search *w, uint32_t block) {
  const hd_block *b = &w->g.blocks[block];
  for (uint32_t i = b->first; i < b->first + b->n_insts; i++)
    if (!(hd_inst_form(&w->g, i)->flags & HD_OPF_JUMPS)) return false;
  return true;
}

/* Beyond blocks in which nothing is done. */
static uint32_t led_to(const wait_search *w, uint32_t block) {
  for (unsigned k = 0; k < MOST_PASSED && w->g.blocks[block].n_succ == 1 && only_jumps(w, block); k++)
    block = w->g.edges[w->g.blocks[block].first_succ];
  return block;
}

/* Something leaves the region to two places. */
static bool leads_apart(const wait_search *w) {
  uint32_t only = HD_NONE;
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    for (uint32_t k = 0; k < b->n_succ; k++) {
      uint32_t to = w->g.edges[b->first_succ + k];
      if (w->in[to] == w->stamp) continue;
      to = led_to(w, to);
      if (only != HD_NONE && only != to) return true;
      only = to;
    }
  }
  return false;
}

/* ---- What is left behind ------------------------------------------------------------------------- */

typedef struct left {
  wait_search *w;
  uint32_t regs[MOST_FOLLOWED], n;
  bool data;  /* something is loaded from places that are not the same in all rounds */
  bool shows; /* the register that was asked for may show the end */
} left;

/* Registers beyond MOST_FOLLOWED are not followed: data that only they bring is not found, which is the
 * worst. */
static void follow(void *ctx, uint32_t reg) {
  left *x = ctx;
  for (uint32_t i = 0; i < x->n; i++)
    if (x->regs[i] == reg) return;
  if (x->n < MOST_FOLLOWED) x->regs[x->n++] = reg;
}

/* Global memory, but not a number that is fetched. */
static bool loads_data(wait_search *w, uint32_t inst) {
  const hd_ptx_opnd *o = wait_address(w, inst);
  return hd_inst_form(&w->g, inst)->op == HD_OP_LD && o && !wait_invariant(w, inst, o) &&
         hd_ptx_access_in(wait_access(w, inst), HD_IN_ANY_GLOBAL) & HD_ACC_READ;
}

/* What the region writes into the register is made of numbers alone: of rounds, or of what was fetched. */
static bool is_made_of_numbers(wait_search *w, uint32_t reg) {
  left x = {.w = w};
  follow(&x, reg);
  for (uint32_t k = 0; k < x.n && !x.data; k++)
    for (uint32_t i = w->writers.first[x.regs[k]]; i < w->writers.first[x.regs[k] + 1]; i++) {
      const uint32_t at = w->writers.insts[i];
      if (!wait_inside(w, at)) continue;
      w->steps++;
      x.data |= loads_data(w, at);
      hd_inst_reads(&w->g, at, follow, &x);
    }
  return !x.data;
}

static bool is_read_beyond(wait_search *w, uint32_t reg) {
  uint32_t n;
  const uint32_t *readers = wait_readers(w, reg, &n);
  w->steps += n;
  for (uint32_t i = 0; i < n; i++)
    if (!wait_inside(w, readers[i])) return true;
  return false;
}

static void look_at_result(void *ctx, uint32_t reg) {
  left *x = ctx;
  x->shows = x->shows || (is_read_beyond(x->w, reg) && is_made_of_numbers(x->w, reg));
}

/* Memory of the CTA or the thread that is read beyond the region, under the name that this one writes. */
static bool is_loaded_beyond(wait_search *w, uint32_t store) {
  const hd_sym root = wait_root(w, store, &wait_operands(w, store)[0]);
  w->steps += w->g.n_insts;
  for (uint32_t i = 0; i < w->g.n_insts; i++) {
    if (wait_inside(w, i) || hd_inst_form(&w->g, i)->op != HD_OP_LD) continue;
    if (!hd_ptx_access_in(wait_access(w, i), HD_IN_ANY_SHARED | HD_IN_LOCAL | HD_IN_GENERIC)) continue;
    const hd_sym other = wait_root(w, i, &wait_operands(w, i)[1]);
    if (root && other == root) return true;
  }
  return false;
}

static bool leaves_number(wait_search *w, uint32_t inst) {
  left x = {.w = w};
  hd_inst_writes(&w->g, inst, look_at_result, &x);
  if (x.shows || hd_inst_form(&w->g, inst)->op != HD_OP_ST) return x.shows;
  if (!hd_ptx_access_in(wait_access(w, inst), HD_IN_ANY_SHARED | HD_IN_LOCAL)) return false;
  const uint32_t value = wait_operand(w, inst, 1);
  return is_loaded_beyond(w, inst) && (value == HD_NONE || is_made_of_numbers(w, value));
}

bool wait_shows_end(wait_search *w) {
  bool others = false;
  for (uint32_t i = 0; i < w->n_blocks; i++)
    others |= wait_leaves(w, w->blocks[i]) && !w->fetch_ends[w->blocks[i]];
  if (!others) return false;
  if (leads_apart(w)) return true;
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    w->steps += b->n_insts;
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++)
      if (leaves_number(w, k)) return true;
  }
  return false;
}
