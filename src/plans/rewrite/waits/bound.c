/* Bounds: numbers that do not count themselves. */
#include "rewrite/waits/waits.h"

enum { MOST_DEPTH = 10 };

/* Which loads may bring a bound. */
typedef enum bound_loads {
  BOUND_ANY = 0,
  BOUND_PLAIN, /* plain ones, which may go on finding what they found */
  BOUND_KEPT,  /* none of memory of the CTA or the thread, if the region may count there */
} bound_loads;

typedef struct bound_search {
  wait_search *w;
  unsigned depth;
  bound_loads loads;
  bool ok;
} bound_search;

static bool register_is_bound(wait_search *w, uint32_t reg, bound_loads loads, unsigned depth);

static void check_bound(void *ctx, uint32_t reg) {
  bound_search *x = ctx;
  x->ok = x->ok && register_is_bound(x->w, reg, x->loads, x->depth + 1);
}

/* The region writes memory of the CTA or the thread. */
static bool writes_own(wait_search *w) {
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    w->steps += b->n_insts;
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++)
      if (hd_ptx_access_in(wait_access(w, k), HD_IN_ANY_SHARED | HD_IN_LOCAL | HD_IN_GENERIC) & HD_ACC_WRITE)
        return true;
  }
  return false;
}

/* What an instruction reads from memory is no counter. */
static bool brings_bound(wait_search *w, uint32_t at, bound_loads loads) {
  const unsigned own = HD_IN_ANY_SHARED | HD_IN_LOCAL | HD_IN_GENERIC;
  switch (loads) {
  case BOUND_PLAIN:
    return wait_is_plain_load(w, at) || !hd_ptx_access_in(wait_access(w, at), ~(HD_IN_PARAM | HD_IN_CONST));
  case BOUND_KEPT: return !hd_ptx_access_in(wait_access(w, at), own) || !writes_own(w);
  default: return true;
  }
}

/* Every write of the register in the region reads memory, or computes the value from such registers and from
 * those that the region leaves alone. A register that depends on itself runs out of depth. */
static bool register_is_bound(wait_search *w, uint32_t reg, bound_loads loads, unsigned depth) {
  if (depth == MOST_DEPTH) return false;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++) {
    uint32_t at = w->writers.insts[i];
    if (!wait_inside(w, at)) continue;
    const bool reads = wait_access(w, at)->kinds & HD_ACC_READ;
    if (reads ? !brings_bound(w, at, loads) : !(hd_inst_form(&w->g, at)->flags & HD_OPF_PURE)) return false;
    if (reads && loads != BOUND_PLAIN) continue;
    bound_search x = {w, depth, loads, true};
    w->steps++;
    hd_inst_reads(&w->g, at, check_bound, &x);
    if (!x.ok) return false;
  }
  return true;
}

bool wait_accumulates(wait_search *w, uint32_t reg) { return !register_is_bound(w, reg, BOUND_KEPT, 0); }

bool wait_is_bound(wait_search *w, uint32_t inst, const hd_ptx_opnd *o, bool plain) {
  uint32_t reg = wait_register(w, inst, o);
  return wait_invariant(w, inst, o) ||
         (reg != HD_NONE && register_is_bound(w, reg, plain ? BOUND_PLAIN : BOUND_ANY, 0));
}
