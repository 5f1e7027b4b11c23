/* Polls that give up after a few rounds, each of which is written out: compilers unroll short loops.
 *
 *     look; setp p; @p bra FOUND; look; setp p; @p bra FOUND; look; ...
 *
 * What becomes of the values does not matter: they may be masked, selected, voted about or summed up. One
 * place is looked at POLL_LOOKS times on one path, and time goes by in between: at a branch, a barrier, a
 * fence or a rest. Two looks are common where nothing waits: a test in front of a lock, and behind it. A load
 * that may find what it found before is a look if a fence stands in between. */
#include "rewrite/waits/waits.h"

enum { POLL_LOOKS = 3, MOST_LEAVES = 8 };

/* What an instruction does to the place that is looked at. */
typedef enum touch { TOUCH_NONE = 0, TOUCH_LOOK, TOUCH_WRITE } touch;

/* How far a path has come. */
typedef struct way {
  uint8_t looks;
  bool apart, fenced; /* since the last: time has gone by, and a fence orders more than the CTA */
} way;

typedef struct poll {
  wait_search *w;
  uint32_t *looks, n_looks; /* instructions of the graph */
  uint8_t *grouped;         /* per look: its place has been counted */
  uint8_t *touches;         /* per instruction */
  way *ends;                /* per block, at its end */
  uint32_t *order;          /* blocks in reverse postorder */
  uint32_t n_order;
} poll;

/* It may find what it found before, or what its CTA knows, as long as no fence stands in between. */
static bool needs_fence(wait_search *w, uint32_t inst) {
  return w->source[inst] == WAIT_CTA || wait_is_plain_load(w, inst) || wait_access(w, inst)->noncoherent;
}

static bool has_fence(wait_search *w) {
  for (uint32_t i = 0; i < w->g.n_insts; i++)
    if (wait_is_wide_fence(w, i)) return true;
  return false;
}

/* Whatever comes to an end in any case is none: an update, or a lock that is given back. */
static void list_looks(poll *x) {
  wait_search *w = x->w;
  const bool fence = has_fence(w);
  for (uint32_t i = 0; i < w->g.n_insts; i++) {
    if (w->settled[w->g.insts[i].block] || !wait_reads_others(w, i)) continue;
    if (fence || !needs_fence(w, i)) x->looks[x->n_looks++] = i;
  }
}

/* The looks at the place of one, and the writes there; how many looks. */
static uint32_t mark_touches(poll *x, uint32_t first) {
  wait_search *w = x->w;
  const uint32_t look = x->looks[first];
  uint32_t n = 0;
  for (uint32_t i = 0; i < w->g.n_insts; i++) x->touches[i] = TOUCH_NONE;
  for (uint32_t i = first; i < x->n_looks; i++) {
    w->steps += MOST_LEAVES;
    if (i != first && !wait_same_place(w, look, x->looks[i])) continue;
    x->grouped[i] = 1;
    x->touches[x->looks[i]] = TOUCH_LOOK;
    n++;
  }
  for (uint32_t i = 0; i < w->g.n_insts && n >= POLL_LOOKS; i++)
    if (!x->touches[i] && wait_writes_surely(w, i) && wait_same_place(w, look, i))
      x->touches[i] = TOUCH_WRITE;
  return n;
}

static bool lets_time_go_by(const wait_search *w, uint32_t inst) {
  const hd_ptx_op op = hd_inst_form(&w->g, inst)->op;
  return op == HD_OP_NANOSLEEP || op == HD_OP_BAR || op == HD_OP_BARRIER;
}

static void go_through(const poll *x, uint32_t block, way *at) {
  wait_search *w = x->w;
  const hd_block *b = &w->g.blocks[block];
  for (uint32_t i = b->first; i < b->first + b->n_insts && at->looks < POLL_LOOKS; i++) {
    const bool fence = wait_is_wide_fence(w, i);
    if (x->touches[i] == TOUCH_WRITE) *at = (way){0};
    if (x->touches[i] == TOUCH_LOOK &&
        (!at->looks || ((at->apart || hd_inst_stmt(&w->g, i)->guard) && (at->fenced || !needs_fence(w, i)))))
      *at = (way){.looks = (uint8_t)(at->looks + 1)};
    at->fenced |= fence;
    at->apart |= fence || lets_time_go_by(w, i);
  }
}

static bool is_further(const way *a, const way *b) {
  if (a->looks != b->looks) return a->looks > b->looks;
  return a->apart + a->fenced > b->apart + b->fenced;
}

/* Some path, round no loop twice, comes to so many looks. */
static bool is_polled(const poll *x) {
  const hd_cfg *g = &x->w->g;
  for (uint32_t i = 0; i < x->n_order; i++) {
    const uint32_t block = x->order[i];
    const hd_block *b = &g->blocks[block];
    way at = {0};
    for (uint32_t k = 0; k < b->n_pred; k++) {
      const uint32_t from = g->edges[b->first_pred + k];
      if (g->blocks[from].rpo >= b->rpo) continue;
      way end = x->ends[from];
      end.apart |= g->blocks[from].n_succ > 1;
      if (is_further(&end, &at)) at = end;
    }
    go_through(x, block, &at);
    if (at.looks >= POLL_LOOKS) return true;
    x->ends[block] = at;
  }
  x->w->steps += x->n_order;
  return false;
}

uint32_t wait_unrolled(wait_search *w) {
  const hd_cfg *g = &w->g;
  poll x = {.w = w,
            .looks = HD_NEW_N(w->arena, g->n_insts + 1u, uint32_t),
            .touches = HD_NEW_N(w->arena, g->n_insts + 1u, uint8_t),
            .ends = HD_NEW_N(w->arena, g->n_blocks + 1u, way),
            .order = HD_NEW_N(w->arena, g->n_blocks + 1u, uint32_t)};
  list_looks(&x);
  if (x.n_looks < POLL_LOOKS) return HD_NONE;
  x.grouped = HD_NEW_N(w->arena, x.n_looks, uint8_t);
  for (uint32_t b = 0; b < g->n_blocks; b++) {
    if (g->blocks[b].rpo == HD_NONE) continue;
    x.order[g->blocks[b].rpo] = b;
    if (g->blocks[b].rpo >= x.n_order) x.n_order = g->blocks[b].rpo + 1;
  }
  for (uint32_t i = 0; i < x.n_looks; i++) {
    if (x.grouped[i]) continue;
    if (w->steps >= WAIT_WALK) return x.looks[i];
    if (mark_touches(&x, i) >= POLL_LOOKS && is_polled(&x)) return x.looks[i];
  }
  return HD_NONE;
}
