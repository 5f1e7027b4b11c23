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
  const unsigned by = f->op == HD_OP_RED ? 1 : 2;
  int64_t value;
  if (s->guard || (f->op != HD_OP_ATOM && f->op != HD_OP_RED) || !hd_ptx_form_has(f, HD_M_ADD)) return 0;
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

static void go(held *h, uint32_t block) {
  if (h->seen[block]) return;
  h->seen[block] = 1;
  h->stack[h->top++] = block;
}

/* Along a block from `inst`: false when the thread ends, or comes to
 * where it may not be, with it in hand. */
static bool follow(held *h, uint32_t inst, uint32_t block) {
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
    if (way != HD_NONE && to != way) continue;
    if (to == w->g.n_blocks - 1) return false;
    go(h, to);
  }
  return true;
}

static bool walk(held *h) {
  const wait_search *w = h->w;
  uint32_t block = w->g.insts[h->atom].block;
  memset(h->seen, 0, w->g.n_blocks);
  h->top = 0;
  bool back = follow(h, h->atom + 1, block);
  while (back && h->top) {
    uint32_t next = h->stack[--h->top];
    back = follow(h, w->g.blocks[next].first, next);
  }
  return back && !h->moved;
}

/* From the block's instruction `inst` on with free hands, as far as the next instruction that ends the way.
 */
static void mark_free_handed(held *h, uint32_t inst, uint32_t block) {
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
    if (!holds) go(h, to);
  }
}

/* The instructions that threads run with free hands: from the beginning, and behind each release. The way
 * that the branch behind the atomic takes with it in hand is left out. */
static void find_free_handed(held *h) {
  const wait_search *w = h->w;
  memset(h->seen, 0, w->g.n_blocks);
  h->top = 0;
  go(h, 0);
  for (uint32_t i = 0; i < w->g.n_insts; i++)
    if (h->given[i]) mark_free_handed(h, i + 1, w->g.insts[i].block);
  while (h->top) {
    uint32_t next = h->stack[--h->top];
    mark_free_handed(h, w->g.blocks[next].first, next);
  }
}

bool held_is_given_back(held *h) {
  wait_search *w = h->w;
  h->seen = HD_NEW_N(w->arena, w->g.n_blocks, uint8_t);
  h->given = HD_NEW_N(w->arena, w->g.n_insts, uint8_t);
  h->free_handed = HD_NEW_N(w->arena, w->g.n_insts, uint8_t);
  h->stack = HD_NEW_N(w->arena, w->g.n_blocks, uint32_t);
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
