/* emu/machine/gather.c: warp-synchronous instructions: threads wait for those that they name.
 *
 * They meet at one instruction, or at several of one kind: a thread waits until all threads of its member
 * mask that have not exited have executed the instruction with the same qualifiers and the same mask (PTX
 * ISA, shfl.sync, vote.sync, match.sync, redux.sync), wherever in the code that is. */
#include "emu/machine/grid.h"

static const emu_inst *at(const emu_fiber *f) { return &f->frame->code->insts[f->pc]; }

/* The threads that f's lanes, all naming the same ones, wait for. */
static uint32_t members(const emu_warp *w, const emu_fiber *f) {
  const emu_inst *i = at(f);
  if (!i->gather_mask) return w->live;
  return emu_lane_u32(f->frame->regs, i->src[3], (unsigned)__builtin_ctz(f->mask)) & w->live;
}

/* Their operand is a predicate, which each instruction may negate. */
static bool is_vote(const emu_inst *i) { return i->exchange == EMU_BALLOT || i->exchange == EMU_VOTE; }

/* Whether threads at i and at j may meet: at instructions of one kind with the same qualifiers. */
static bool same_kind(const emu_inst *i, const emu_inst *j) {
  if (i == j || (!i->fn && !j->fn)) return true;
  return i->exchange && i->exchange == j->exchange && i->fn == j->fn &&
         (is_vote(i) || memcmp(&i->arith, &j->arith, sizeof i->arith) == 0);
}

/* Whether fibers a and b, both waiting, may meet. */
static bool can_meet(const emu_warp *w, const emu_fiber *a, const emu_fiber *b) {
  return same_kind(at(a), at(b)) && members(w, a) == members(w, b);
}

/* ---- Threads that meet from several places --------------------------------------------------- */

/* The content of an operand's slot: nothing, a 32-bit or a 64-bit register, or a predicate, one bit a lane.
 */
typedef enum content { NOTHING = 0, WORD, LONG, BIT } content;
static const struct exchange_operands {
  uint8_t src, dst, dst2;
  uint8_t n_src;
} exchanges[] = {
    [EMU_SHFL] = {WORD, WORD, BIT, 3},
    [EMU_BALLOT] = {BIT, WORD, NOTHING, 1},
    [EMU_VOTE] = {BIT, BIT, NOTHING, 1},
    [EMU_MATCH_ANY] = {WORD, WORD, NOTHING, 1},
    [EMU_MATCH_ANY_64] = {LONG, WORD, NOTHING, 1},
    [EMU_MATCH_ALL] = {WORD, WORD, BIT, 1},
    [EMU_MATCH_ALL_64] = {LONG, WORD, BIT, 1},
    [EMU_REDUX] = {WORD, WORD, NOTHING, 1},
};

static void copy_lanes(char *to, const char *from, content c, uint32_t lanes) {
  if (c == BIT) {
    uint32_t a, b;
    memcpy(&a, to, sizeof a);
    memcpy(&b, from, sizeof b);
    a = (a & ~lanes) | (b & lanes);
    memcpy(to, &a, sizeof a);
    return;
  }
  const size_t bytes = c == LONG ? 8 : 4;
  for (uint32_t left = lanes; left; left &= left - 1) {
    const size_t offset = (size_t)__builtin_ctz(left) * bytes;
    memcpy(to + offset, from + offset, bytes);
  }
}

static void flip_lanes(char *bits, uint32_t lanes) {
  uint32_t a;
  memcpy(&a, bits, sizeof a);
  a ^= lanes;
  memcpy(bits, &a, sizeof a);
}

static char *slot_of(const emu_fiber *f, uint32_t slot) {
  return f->frame->regs + (size_t)slot * EMU_SLOT_BYTES;
}

/* Slots of the place where operands of several instructions come together. */
enum { AT_SRC = 0, AT_DST = 6, AT_DST2 = 7, PLACE_SLOTS = 8 };

/* Run one instruction for lanes that are at several: with their operands in slots of its own. */
static void exchange(emu_warp *w, const emu_fiber *f, uint32_t have) {
  char place[PLACE_SLOTS * EMU_SLOT_BYTES] __attribute__((aligned(64))) = {0};
  const struct exchange_operands *o = &exchanges[at(f)->exchange];
  emu_inst one = *at(f);
  one.dst = one.dst2 = EMU_NO_SLOT;
  for (uint32_t k = 0; k < w->n_fibers; k++) {
    const emu_fiber *g = &w->fibers[k];
    if (!(g->mask & have)) continue;
    for (unsigned s = 0; s < o->n_src; s++)
      copy_lanes(place + (AT_SRC + 2 * s) * EMU_SLOT_BYTES, slot_of(g, at(g)->src[s]), o->src, g->mask);
    if (is_vote(&one) && at(g)->compare.negate) flip_lanes(place + AT_SRC * EMU_SLOT_BYTES, g->mask);
  }
  for (unsigned s = 0; s < o->n_src; s++) one.src[s] = AT_SRC + 2 * s;
  if (o->dst) one.dst = AT_DST;
  if (o->dst2) one.dst2 = AT_DST2;
  if (is_vote(&one)) one.compare.negate = 0;
  one.fn(w, &one, place, have);
  for (uint32_t k = 0; k < w->n_fibers; k++) {
    const emu_fiber *g = &w->fibers[k];
    if (!(g->mask & have)) continue;
    const emu_inst *i = at(g);
    if (o->dst && i->dst != EMU_NO_SLOT)
      copy_lanes(slot_of(g, i->dst), place + AT_DST * EMU_SLOT_BYTES, o->dst, g->mask);
    if (o->dst2 && i->dst2 != EMU_NO_SLOT)
      copy_lanes(slot_of(g, i->dst2), place + AT_DST2 * EMU_SLOT_BYTES, o->dst2, g->mask);
  }
}

/* ---- Meeting ------------------------------------------------------------------------------------- */

/* If all threads that f waits for are there, run the instruction once and let them go on. */
static bool gather(emu_mwarp *m, emu_fiber *f) {
  emu_warp *w = &m->w;
  const uint32_t want = members(w, f);
  uint32_t have = 0;
  bool one_frame = true, one_place = true;
  for (uint32_t k = 0; k < w->n_fibers; k++) {
    const emu_fiber *g = &w->fibers[k];
    if (g->waiting != EMU_AT_GATHER || !can_meet(w, f, g)) continue;
    have |= g->mask;
    one_frame &= g->frame == f->frame;
    one_place &= at(g) == at(f);
  }
  if (have != want) return false;
  const emu_inst *i = at(f);
  w->current = f;
  const bool apart = !one_frame || !one_place;
  if (i->fn && apart && !i->exchange) {
    emu_fault(w, i, f->mask, HD_FAULT_NOT_EMULATED,
              "threads meet in different calls of one function, which is not emulated");
    return false;
  }
  if (i->fn && apart)
    exchange(w, f, have);
  else if (i->fn)
    i->fn(w, i, f->frame->regs, have);
  emu_order_meet(w, have, !i->fn);
  for (uint32_t k = 0; k < w->n_fibers; k++) {
    emu_fiber *g = &w->fibers[k];
    if (!(g->mask & have)) continue;
    g->waiting = EMU_READY;
    g->pc++;
  }
  return true;
}

bool emu_gather_meet(emu_mwarp *m, emu_fiber *f, const emu_inst *i) {
  emu_warp *w = &m->w;
  const char *r = f->frame->regs;
  /* Slots of init hold the same in all lanes. */
  if (i->gather_mask && i->src[3] >= f->frame->code->n_init) {
    uint32_t named = emu_lane_u32(r, i->src[3], (unsigned)__builtin_ctz(f->mask)), others = 0;
    for (unsigned l = 0; l < HD_WARP; l++) others |= (uint32_t)(emu_lane_u32(r, i->src[3], l) != named) << l;
    if (others & f->mask) emu_split_fiber(w, f, others & f->mask, f->pc);
  }
  const uint32_t want = members(w, f);
  if (f->mask & ~want) {
    emu_fault(w, i, f->mask & ~want, HD_FAULT_OTHER, "the thread is not in its own member mask 0x%08x", want);
    return false;
  }
  if (f->mask == want) {
    if (i->fn) i->fn(w, i, f->frame->regs, f->mask);
    emu_order_meet(w, want, !i->fn);
    f->pc++;
    return true;
  }
  f->waiting = EMU_AT_GATHER;
  gather(m, f);
  return false;
}

/* Threads that exited meanwhile may have been the last ones missing. */
bool emu_gather_release(emu_mwarp *m) {
  emu_warp *w = &m->w;
  for (uint32_t k = 0; k < w->n_fibers; k++)
    if (w->fibers[k].waiting == EMU_AT_GATHER && gather(m, &w->fibers[k])) return true;
  return false;
}

void emu_gather_stuck(emu_mwarp *m) {
  emu_warp *w = &m->w;
  for (uint32_t k = 0; k < w->n_fibers; k++) {
    emu_fiber *f = &w->fibers[k];
    if (f->waiting != EMU_AT_GATHER) continue;
    uint32_t there = 0;
    for (uint32_t j = 0; j < w->n_fibers; j++)
      if (w->fibers[j].waiting == EMU_AT_GATHER && can_meet(w, f, &w->fibers[j])) there |= w->fibers[j].mask;
    emu_fault_at(
        m, f->frame->code, at(f), f->mask, HD_FAULT_OTHER,
        "a warp-synchronous instruction waits for threads that never reach it: lanes 0x%08x of 0x%08x",
        members(w, f) & ~there, members(w, f));
    return;
  }
  emu_fiber *f = &w->fibers[0], *g = &w->fibers[w->n_fibers - 1];
  emu_fault_at(
      m, f->frame->code, at(f), f->mask, HD_FAULT_OTHER,
      "threads of one warp wait at different barriers: the other ones at line %u, thread %u of the CTA first",
      at(g)->line, w->index * HD_WARP + (uint32_t)__builtin_ctz(g->mask));
}
