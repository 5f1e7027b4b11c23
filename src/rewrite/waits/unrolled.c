/* Polls that give up after a few rounds, each of which is written out: compilers unroll short loops.
 *
 *     look; setp p; @p bra FOUND; look; setp p; @p bra FOUND; look; ...
 *
 * One place is looked at POLL_LOOKS times, each time but the first because the look before has not found what
 * it is compared with, a number of the text or a register that does not change. Two looks are common where
 * nothing waits: a test in front of a lock, and behind it. A load that may find what it found before is a
 * look if a fence stands in between. */
#include "rewrite/waits/waits.h"

enum { POLL_LOOKS = 3, MOST_BLOCKS = 3 };

/* An instruction whose result the branch at the end of its block follows. */
typedef struct look {
  uint32_t inst, setp;
  unsigned side; /* the operand of the comparison that is the result */
} look;

/* Reads memory that others write; an atomic, if it compares or stores a number of the text. */
static bool reads(wait_search *w, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  int64_t value;
  if (w->source[inst] == WAIT_OWN || f->flags & HD_OPF_CALLS) return false;
  return f->op != HD_OP_ATOM || (hd_inst_stmt(&w->g, inst)->n_opnds > 2 &&
                                 wait_constant(w, inst, &wait_operands(w, inst)[2], &value));
}

/* It may find what it found before, or what its CTA knows, as long as no fence stands in between. */
static bool needs_fence(wait_search *w, uint32_t inst) {
  return w->source[inst] == WAIT_CTA || wait_is_plain_load(w, inst);
}

static bool comes_from(const wait_search *w, uint32_t reg, uint32_t inst) {
  for (uint32_t at; reg != HD_NONE && (at = wait_only_writer(w, reg)) != HD_NONE; reg = wait_copied(w, at))
    if (at == inst) return true;
  return false;
}

static bool is_look(wait_search *w, uint32_t inst, look *out) {
  const hd_block *b = &w->g.blocks[w->g.insts[inst].block];
  const uint32_t last = b->first + b->n_insts - 1;
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, last);
  bool taken = true;
  if (!reads(w, inst) || b->n_succ != 2 || !s->guard) return false;
  *out = (look){.inst = inst};
  out->setp = wait_decides(w, hd_cfg_reg(&w->g, w->g.insts[last].call, s->guard), &taken, false);
  if (out->setp == HD_NONE || wait_comparison(w, out->setp, taken) == CMP_NONE) return false;
  for (out->side = 1; out->side <= 2; out->side++)
    if (comes_from(w, wait_operand(w, out->setp, out->side), inst)) return true;
  return false;
}

/* Nothing that the address is made of changes. */
static bool same_place(wait_search *w, uint32_t a, uint32_t b) {
  uint32_t leaves[8], n = 0;
  if (!wait_same_address(w, a, b, leaves, &n, 8)) return false;
  for (uint32_t i = 0; i < n; i++)
    if (w->writers.first[leaves[i] + 1] - w->writers.first[leaves[i]] > 1) return false;
  return true;
}

/* Operand k of both is one number, or one register that is written once at most. */
static bool same_value(wait_search *w, uint32_t a, uint32_t b, uint32_t k) {
  int64_t x, y;
  if (wait_constant(w, a, &wait_operands(w, a)[k], &x))
    return wait_constant(w, b, &wait_operands(w, b)[k], &y) && x == y;
  const uint32_t reg = wait_operand(w, a, k);
  return reg != HD_NONE && reg == wait_operand(w, b, k) &&
         w->writers.first[reg + 1] - w->writers.first[reg] <= 1;
}

static bool same_form(const wait_search *w, uint32_t a, uint32_t b) {
  return hd_inst_stmt(&w->g, a)->form == hd_inst_stmt(&w->g, b)->form;
}

static bool is_same_look(wait_search *w, const look *a, uint32_t inst, look *out) {
  if (!same_form(w, a->inst, inst) || !is_look(w, inst, out)) return false;
  if (hd_inst_form(&w->g, inst)->op == HD_OP_ATOM && !same_value(w, a->inst, inst, 2)) return false;
  return same_form(w, a->setp, out->setp) && a->side == out->side &&
         same_value(w, a->setp, out->setp, 3 - a->side) && same_place(w, a->inst, inst);
}

/* The look that follows behind the branch takes its place; false: there is none. */
static bool go_on(wait_search *w, look *at) {
  const hd_block *from = &w->g.blocks[w->g.insts[at->inst].block];
  bool behind = !needs_fence(w, at->inst);
  for (uint32_t i = at->inst + 1; i < from->first + from->n_insts; i++) behind |= wait_is_wide_fence(w, i);
  for (uint32_t way = 0; way < from->n_succ; way++) {
    uint32_t block = w->g.edges[from->first_succ + way];
    bool fenced = behind;
    for (unsigned k = 0; k < MOST_BLOCKS && w->g.blocks[block].n_pred == 1; k++) {
      const hd_block *b = &w->g.blocks[block];
      look next;
      w->steps += b->n_insts;
      for (uint32_t i = b->first; i < b->first + b->n_insts; i++) {
        fenced |= wait_is_wide_fence(w, i);
        if (!fenced || i == at->inst || !is_same_look(w, at, i, &next)) continue;
        *at = next;
        return true;
      }
      if (b->n_succ != 1) break;
      block = w->g.edges[b->first_succ];
    }
  }
  return false;
}

uint32_t wait_unrolled(wait_search *w) {
  for (uint32_t i = 0; i < w->g.n_insts; i++) {
    unsigned n = 1;
    look at;
    if (!is_look(w, i, &at)) continue;
    if (w->steps >= WAIT_WALK) return i;
    while (n < POLL_LOOKS && go_on(w, &at)) n++;
    if (n == POLL_LOOKS) return i;
  }
  return HD_NONE;
}
