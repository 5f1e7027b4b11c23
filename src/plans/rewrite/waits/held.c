/* Follows what a thread holds from where it takes it along every path. */
#include "rewrite/waits/held.h"

#include <string.h>

bool held_word(wait_search *w, uint32_t inst, const hd_ptx_opnd *o, int64_t *value) {
  if (!wait_constant(w, inst, o, value)) return false;
  *value = wait_word(*value, wait_access(w, inst)->bytes);
  return true;
}

int64_t held_addend(const wait_search *w, uint32_t inst) {
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  const hd_ptx_form *f = &w->m->forms[s->form];
  const unsigned by = f->flags & HD_OPF_RESULT ? 2 : 1;
  int64_t value;
  if (s->guard || !(f->flags & HD_OPF_UPDATES) || !hd_ptx_form_has(f, HD_M_ADD)) return 0;
  if (!hd_ptx_form_is_whole(f, 32) || s->n_opnds <= by) return 0;
  return wait_constant(w, inst, &wait_operands(w, inst)[by], &value) ? value : 0;
}

/* It writes the very word, no part of it, and nothing beside it. */
static bool is_release(held *h, uint32_t inst) {
  wait_search *w = h->w;
  uint32_t word = h->look == HD_NONE ? h->atom : h->look;
  return h->gives(h, inst) && wait_access(w, inst)->bytes == wait_access(w, word)->bytes &&
         wait_same_address(w, word, inst, h->leaves, &h->n_leaves, HELD_MOST_LEAVES);
}

static bool is_taker(const held *h, uint32_t inst) { return inst == h->atom || (h->takes && h->takes[inst]); }

static bool is_never(const held *h, uint32_t inst) {
  return is_taker(h, inst) || (h->never && h->never[inst]);
}

static void check_leaf(void *ctx, uint32_t reg) {
  held *h = ctx;
  for (uint32_t i = 0; i < h->n_leaves; i++) h->moved |= h->leaves[i] == reg;
}

/* What a thread is known by: the value of the predicate `of`, while it is that thread. */
enum { ANY_THREAD = 0, WHERE_FALSE, WHERE_TRUE, KINDS };

static void go(held *h, uint32_t block, uint32_t kind) {
  if (h->seen[KINDS * block + kind]) return;
  h->seen[KINDS * block + kind] = 1;
  h->stack[h->top++] = KINDS * block + kind;
}

/* The predicate by which the block's branch goes, and whether that is taken where it is true; HD_NONE. */
static uint32_t branches_by(const wait_search *w, uint32_t block, bool *when) {
  const hd_block *b = &w->g.blocks[block];
  const uint32_t last = b->first + b->n_insts - 1;
  if (b->n_succ != 2 || !b->n_insts || hd_inst_form(&w->g, last)->op != HD_OP_BRA) return HD_NONE;
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, last);
  *when = !s->guard_neg;
  return s->guard ? hd_cfg_reg(&w->g, w->g.insts[last].call, s->guard) : HD_NONE;
}

/* The predicate has one value for all of the thread's life: it is written once, and in no cycle. */
static bool is_of_the_thread(const wait_search *w, uint32_t pred, uint32_t block) {
  const uint32_t at = wait_only_writer(w, pred);
  return at != HD_NONE && !w->g.irreducible && w->g.blocks[w->g.insts[at].block].loop == HD_NONE &&
         hd_dominates(&w->g, w->g.insts[at].block, block);
}

/* Whoever comes to the block comes from there, at first. */
static bool is_entered_from(const wait_search *w, uint32_t block, uint32_t from) {
  const hd_block *b = &w->g.blocks[block];
  for (uint32_t k = 0; k < b->n_pred; k++) {
    const uint32_t before = w->g.edges[b->first_pred + k];
    if (before != from && !hd_dominates(&w->g, block, before)) return false;
  }
  return true;
}

/* One thread takes it for the CTA: the branch that all which take it lie behind, and later ones by the same
 * predicate, divide the threads into those that have it and the others. */
static void find_threads(held *h) {
  const wait_search *w = h->w;
  h->of = HD_NONE;
  for (uint32_t i = 0; i < w->g.n_blocks && h->of == HD_NONE; i++) {
    bool when, all = true;
    const uint32_t pred = branches_by(w, i, &when);
    if (pred == HD_NONE || !is_of_the_thread(w, pred, i)) continue;
    for (uint32_t k = 0; k < 2 && h->of == HD_NONE; k++, all = true) {
      const uint32_t to = w->g.edges[w->g.blocks[i].first_succ + k];
      if (!is_entered_from(w, to, i)) continue;
      for (uint32_t j = 0; j < w->g.n_insts && all; j++)
        all = !is_taker(h, j) || hd_dominates(&w->g, to, w->g.insts[j].block);
      if (!all) continue;
      h->of = pred;
      h->is = (k == 0) == when;
    }
  }
}

/* What is known of a thread that leaves the block by its way out k; KINDS: it does not. */
static uint32_t kind_behind(const held *h, uint32_t block, uint32_t k, uint32_t kind) {
  bool when;
  if (h->of == HD_NONE || branches_by(h->w, block, &when) != h->of) return kind;
  const uint32_t is = (k == 0) == when ? WHERE_TRUE : WHERE_FALSE;
  return kind == ANY_THREAD || kind == is ? is : KINDS;
}

static uint32_t kind_of_holders(const held *h) {
  return h->of == HD_NONE ? ANY_THREAD : h->is ? WHERE_TRUE : WHERE_FALSE;
}

/* Along a block from `inst`: false when the thread ends, or comes to
 * where it may not be, with it in hand. */
static bool follow(held *h, uint32_t inst, uint32_t block, uint32_t kind) {
  wait_search *w = h->w;
  const hd_block *b = &w->g.blocks[block];
  for (; inst < b->first + b->n_insts; inst++) {
    w->steps++;
    if (is_never(h, inst)) return false;
    if (is_release(h, inst)) {
      h->given[inst] = 1;
      return true;
    }
    if (hd_inst_form(&w->g, inst)->op == HD_OP_TRAP && !hd_inst_stmt(&w->g, inst)->guard) return true;
    hd_inst_writes(&w->g, inst, check_leaf, h);
  }
  uint32_t way = h->way ? h->way(h, block) : HD_NONE;
  for (uint32_t k = 0; k < b->n_succ; k++) {
    uint32_t to = w->g.edges[b->first_succ + k];
    const uint32_t behind = kind_behind(h, block, k, kind);
    if ((way != HD_NONE && to != way) || behind == KINDS) continue;
    if (to == w->g.n_blocks - 1) return false;
    go(h, to, behind);
  }
  return true;
}

static bool walk(held *h) {
  const wait_search *w = h->w;
  uint32_t block = w->g.insts[h->atom].block;
  memset(h->seen, 0, KINDS * (size_t)w->g.n_blocks);
  h->top = 0;
  bool back = follow(h, h->atom + 1, block, kind_of_holders(h));
  while (back && h->top) {
    const uint32_t next = h->stack[--h->top];
    back = follow(h, w->g.blocks[next / KINDS].first, next / KINDS, next % KINDS);
  }
  return back && !h->moved;
}

/* From the block's instruction `inst` on with free hands, as far as the next instruction that ends the way.
 */
static void mark_free_handed(held *h, uint32_t inst, uint32_t block, uint32_t kind) {
  const wait_search *w = h->w;
  const hd_block *b = &w->g.blocks[block];
  uint32_t way = HD_NONE;
  for (; inst < b->first + b->n_insts; inst++) {
    h->w->steps++;
    h->free_handed[inst] = 1;
    if (!is_taker(h, inst) || h->look != HD_NONE) continue;
    if (!h->way) return;
    h->atom = inst;
    way = h->way(h, block);
  }
  for (uint32_t k = 0; k < b->n_succ; k++) {
    uint32_t to = w->g.edges[b->first_succ + k];
    bool holds = h->look == HD_NONE ? to == way : block == h->exit && w->in[to] != w->stamp;
    if (h->turn) holds |= h->turn(h, block) == to;
    const uint32_t behind = kind_behind(h, block, k, kind);
    if (!holds && behind != KINDS) go(h, to, behind);
  }
}

/* The instructions that threads run with free hands: from the beginning, and behind each release. The way
 * that the branch behind the atomic takes with it in hand is left out. */
static void find_free_handed(held *h) {
  const wait_search *w = h->w;
  memset(h->seen, 0, KINDS * (size_t)w->g.n_blocks);
  h->top = 0;
  go(h, 0, ANY_THREAD);
  for (uint32_t i = 0; i < w->g.n_insts; i++)
    if (h->given[i]) mark_free_handed(h, i + 1, w->g.insts[i].block, kind_of_holders(h));
  while (h->top) {
    const uint32_t next = h->stack[--h->top];
    mark_free_handed(h, w->g.blocks[next / KINDS].first, next / KINDS, next % KINDS);
  }
}

bool held_is_given_back(held *h) {
  wait_search *w = h->w;
  h->seen = HD_NEW_N(w->arena, KINDS * w->g.n_blocks, uint8_t);
  h->given = HD_NEW_N(w->arena, w->g.n_insts, uint8_t);
  h->free_handed = HD_NEW_N(w->arena, w->g.n_insts, uint8_t);
  h->stack = HD_NEW_N(w->arena, KINDS * w->g.n_blocks, uint32_t);
  find_threads(h);
  /* Twice: the first walk finds the registers that releases depend on, the second checks that they do not
   * change. */
  const uint32_t atom = h->atom;
  for (uint32_t i = 0; i < w->g.n_insts; i++) {
    if (i != atom && !(h->takes && h->takes[i])) continue;
    h->atom = i;
    if (!walk(h) || !walk(h)) return false;
  }
  find_free_handed(h);
  for (uint32_t i = 0; i < w->g.n_insts; i++)
    if (h->given[i] && h->free_handed[i]) return false;
  h->atom = atom;
  return true;
}
