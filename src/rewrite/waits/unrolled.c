/* Polls that give up after a few rounds, each of which is written out: compilers unroll short loops.
 *
 *     look; setp p; @p bra FOUND; look; setp p; @p bra FOUND; look; ...
 *
 * One place is looked at POLL_LOOKS times, each time but the first because the look before has not found what
 * it is compared with. Two looks are common where nothing waits: a test in front of a lock, and behind it. */
#include "rewrite/waits/waits.h"

enum { POLL_LOOKS = 3, MOST_BLOCKS = 3 };

/* Made to see what others write; an atomic, if it compares or stores a number of the text. */
static bool looks(wait_search *w, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  int64_t value;
  if (w->source[inst] == WAIT_OWN || w->source[inst] == WAIT_CTA) return false;
  if (f->op == HD_OP_LD) return w->source[inst] == WAIT_STRONG || !wait_is_plain_load(w, inst);
  return f->op == HD_OP_ATOM && hd_inst_stmt(&w->g, inst)->n_opnds > 2 &&
         wait_constant(w, inst, &wait_operands(w, inst)[2], &value);
}

/* The comparison of a look's result that decides about the branch at the end of its block; HD_NONE. */
static uint32_t compared(wait_search *w, uint32_t look) {
  const hd_block *b = &w->g.blocks[w->g.insts[look].block];
  const uint32_t last = b->first + b->n_insts - 1;
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, last);
  bool taken = true;
  if (b->n_succ != 2 || !s->guard) return HD_NONE;
  uint32_t setp = wait_decides(w, hd_cfg_reg(&w->g, w->g.insts[last].call, s->guard), &taken, false);
  if (setp == HD_NONE || wait_comparison(w, setp, taken) == CMP_NONE) return HD_NONE;
  uint32_t reg = wait_operand(w, setp, 1);
  for (uint32_t at; reg != HD_NONE && (at = wait_only_writer(w, reg)) != HD_NONE; reg = wait_copied(w, at))
    if (at == look) return setp;
  return HD_NONE;
}

/* Nothing that the address is made of changes. */
static bool same_place(wait_search *w, uint32_t a, uint32_t b) {
  uint32_t leaves[8], n = 0;
  if (!wait_same_address(w, a, b, leaves, &n, 8)) return false;
  for (uint32_t i = 0; i < n; i++)
    if (w->writers.first[leaves[i] + 1] - w->writers.first[leaves[i]] > 1) return false;
  return true;
}

static bool same_constant(wait_search *w, uint32_t a, uint32_t b, uint32_t k) {
  int64_t x, y;
  return wait_constant(w, a, &wait_operands(w, a)[k], &x) &&
         wait_constant(w, b, &wait_operands(w, b)[k], &y) && x == y;
}

static bool same_look(wait_search *w, uint32_t a, uint32_t b) {
  if (hd_inst_stmt(&w->g, a)->form != hd_inst_stmt(&w->g, b)->form || !looks(w, b)) return false;
  if (hd_inst_form(&w->g, a)->op == HD_OP_ATOM && !same_constant(w, a, b, 2)) return false;
  const uint32_t x = compared(w, a), y = compared(w, b);
  return x != HD_NONE && y != HD_NONE && hd_inst_stmt(&w->g, x)->form == hd_inst_stmt(&w->g, y)->form &&
         same_constant(w, x, y, 2) && same_place(w, a, b);
}

/* The look that follows behind the branch; HD_NONE. */
static uint32_t next_look(wait_search *w, uint32_t look) {
  const hd_block *from = &w->g.blocks[w->g.insts[look].block];
  for (uint32_t way = 0; way < from->n_succ; way++) {
    uint32_t block = w->g.edges[from->first_succ + way];
    for (unsigned k = 0; k < MOST_BLOCKS && w->g.blocks[block].n_pred == 1; k++) {
      const hd_block *b = &w->g.blocks[block];
      w->steps += b->n_insts;
      for (uint32_t i = b->first; i < b->first + b->n_insts; i++)
        if (i != look && same_look(w, look, i)) return i;
      if (b->n_succ != 1) break;
      block = w->g.edges[b->first_succ];
    }
  }
  return HD_NONE;
}

uint32_t wait_unrolled(wait_search *w) {
  for (uint32_t i = 0; i < w->g.n_insts && w->steps < WAIT_WALK; i++) {
    uint32_t n = 1, at = i;
    if (!looks(w, i) || compared(w, i) == HD_NONE) continue;
    while (n < POLL_LOOKS && (at = next_look(w, at)) != HD_NONE) n++;
    if (n == POLL_LOOKS) return i;
  }
  return HD_NONE;
}
