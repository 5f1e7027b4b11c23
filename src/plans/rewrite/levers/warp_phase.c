/* Waits at mbarriers that come between all threads of a CTA, as a barrier does.
 *
 *   mbarrier.init [m], T;                  T: the threads of the CTA
 *   mbarrier.arrive state, [m];
 *   loop: mbarrier.test_wait p, [m], state; @!p bra loop;
 *
 * Where nothing else is done with m, a phase ends with the arrivals of T different threads, because none
 * arrives again before its own phase has ended. Other waits may be for a phase that had ended before. */
#include "rewrite/levers/warp_talk.h"

typedef warp_search search;

static bool has_only(const hd_ptx_form *f, const hd_mod *mods, size_t n) {
  for (unsigned i = 0; i < f->n_mods; i++) {
    bool known = false;
    for (size_t k = 0; k < n; k++) known |= f->mods[i] == mods[k];
    if (!known) return false;
  }
  return f->op == HD_OP_MBARRIER;
}

/* An address that is a place in a variable. */
static bool is_place(const search *s, const hd_ptx_opnd *o) {
  return o && o->kind == HD_O_ADDR && s->g.module->syms[o->sym].kind == HD_SYM_VAR;
}

static bool same_place(const search *s, const hd_ptx_opnd *a, const hd_ptx_opnd *b) {
  return is_place(s, a) && is_place(s, b) && a->sym == b->sym && a->imm == b->imm;
}

static bool is_arrival(const search *s, uint32_t inst) {
  static const hd_mod mods[] = {HD_M_ARRIVE, HD_M_RELEASE, HD_M_CTA, HD_M_SHARED, HD_M_SHARED_CTA, HD_M_B64};
  const hd_ptx_form *f = hd_inst_form(&s->g, inst);
  const hd_ptx_stmt *st = hd_inst_stmt(&s->g, inst);
  return has_only(f, mods, sizeof mods / sizeof *mods) && hd_ptx_form_has(f, HD_M_ARRIVE) && !st->guard &&
         st->n_opnds == 2 && warp_reg(&s->g, inst, 0) != HD_NONE && is_place(s, warp_operand(&s->g, inst, 1));
}

static bool is_wait(const search *s, uint32_t inst) {
  static const hd_mod mods[] = {HD_M_TEST_WAIT, HD_M_TRY_WAIT,   HD_M_ACQUIRE, HD_M_CTA,
                                HD_M_SHARED,    HD_M_SHARED_CTA, HD_M_B64};
  const hd_ptx_form *f = hd_inst_form(&s->g, inst);
  return has_only(f, mods, sizeof mods / sizeof *mods) && warp_waits_at_mbarrier(f) &&
         !hd_inst_stmt(&s->g, inst)->guard && warp_reg(&s->g, inst, 0) != HD_NONE &&
         is_place(s, warp_operand(&s->g, inst, 1)) && warp_reg(&s->g, inst, 2) != HD_NONE;
}

/* Neither memory nor other threads. */
static bool is_local(const search *s, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&s->g, inst);
  return f->flags & (HD_OPF_PURE | HD_OPF_JUMPS) || f->op == HD_OP_NANOSLEEP;
}

static bool is_set_once(const search *s, uint32_t reg, uint32_t by) {
  const uint32_t *w = &s->writers.first[reg];
  return w[1] - w[0] == 1 && s->writers.insts[w[0]] == by;
}

/* The wait is all that a loop does, which ends when the phase has. */
static bool waits_until_it_ends(const search *s, uint32_t wait) {
  const hd_cfg *g = &s->g;
  const uint32_t block = g->insts[wait].block, loop = g->blocks[block].loop;
  const hd_block *b = &g->blocks[block];
  const uint32_t last = b->first + b->n_insts - 1;
  const hd_ptx_stmt *branch = hd_inst_stmt(g, last);
  if (loop == HD_NONE || g->loops[loop].header != block || b->n_succ != 2 ||
      hd_inst_form(g, last)->op != HD_OP_BRA || !branch->guard ||
      hd_cfg_reg(g, g->insts[last].call, branch->guard) != warp_reg(&s->g, wait, 0) ||
      !is_set_once(s, warp_reg(&s->g, wait, 0), wait))
    return false;
  const bool leaves_if_taken = !hd_loop_contains(g, loop, g->blocks[g->edges[b->first_succ]].loop),
             leaves_if_not = !hd_loop_contains(g, loop, g->blocks[g->edges[b->first_succ + 1]].loop);
  if (leaves_if_taken == leaves_if_not || leaves_if_taken == (branch->guard_neg != 0)) return false;
  for (uint32_t i = 0; i < g->n_insts; i++)
    if (i != wait && hd_loop_contains(g, loop, g->blocks[g->insts[i].block].loop) && !is_local(s, i))
      return false;
  for (uint32_t k = 0; k < g->n_blocks; k++)
    for (uint32_t e = 0; k != block && e < g->blocks[k].n_succ; e++)
      if (hd_loop_contains(g, loop, g->blocks[k].loop) &&
          !hd_loop_contains(g, loop, g->blocks[g->edges[g->blocks[k].first_succ + e]].loop))
        return false;
  return true;
}

/* Straight from the arrival, and from nowhere else. */
static bool follows(const search *s, uint32_t arrive, uint32_t wait) {
  const hd_cfg *g = &s->g;
  const uint32_t from = g->insts[arrive].block, to = g->insts[wait].block;
  const hd_block *a = &g->blocks[from], *w = &g->blocks[to];
  if (a->n_succ != 1 || g->edges[a->first_succ] != to) return false;
  for (uint32_t i = arrive + 1; i < a->first + a->n_insts; i++)
    if (!is_local(s, i)) return false;
  for (uint32_t e = 0; e < w->n_pred; e++) {
    const uint32_t pred = g->edges[w->first_pred + e];
    if (pred != from && !hd_loop_contains(g, w->loop, g->blocks[pred].loop)) return false;
  }
  return true;
}

/* The wait for what the arrival began. */
static uint32_t wait_of(const search *s, uint32_t arrive) {
  for (uint32_t i = 0; i < s->g.n_insts; i++)
    if (is_wait(s, i) && same_place(s, warp_operand(&s->g, arrive, 1), warp_operand(&s->g, i, 1)) &&
        warp_reg(&s->g, i, 2) == warp_reg(&s->g, arrive, 0) &&
        is_set_once(s, warp_reg(&s->g, i, 2), arrive) && waits_until_it_ends(s, i) && follows(s, arrive, i))
      return i;
  return HD_NONE;
}

static bool begins_for_all(const search *s, uint32_t inst) {
  const uint64_t threads = (uint64_t)s->block_dims[0] * s->block_dims[1] * s->block_dims[2];
  const hd_ptx_opnd *count = warp_operand(&s->g, inst, 1);
  return hd_ptx_form_has(hd_inst_form(&s->g, inst), HD_M_INIT) && count && count->kind == HD_O_INT &&
         threads && count->imm == (int64_t)threads;
}

/* An ordinary access whose array is not known: PTX does not define one to an mbarrier. */
static bool is_elsewhere(const hd_ptx_form *f, const hd_ptx_access *a, uint64_t arrays) {
  return f->op != HD_OP_MBARRIER && !a->async && !a->bulk && !a->unknown && arrays >> WARP_ARRAYS;
}

/* Nothing but such arrivals and waits is done with the mbarrier at this place. */
static bool is_for_all(search *s, const hd_ptx_opnd *place, uint64_t array) {
  const hd_cfg *g = &s->g;
  for (uint32_t i = 0; i < g->n_insts; i++) {
    const hd_ptx_form *f = hd_inst_form(g, i);
    const hd_ptx_access a = hd_ptx_access_of(f);
    if (f->flags & HD_OPF_CALLS && !g->insts[i].body) return false;
    for (unsigned k = 0; k < a.n; k++) {
      const hd_ptx_opnd *o = warp_operand(&s->g, i, a.touches[k].operand);
      const uint64_t arrays = warp_array_of(s, i, &a.touches[k]);
      if (!warp_meet(s, array, arrays) || is_elsewhere(f, &a, arrays)) continue;
      if (f->op != HD_OP_MBARRIER || !is_place(s, o) || o->sym != place->sym) return false;
      if (o->imm != place->imm) continue; /* another one, of the same variable */
      if (!begins_for_all(s, i) && !is_wait(s, i) && !(is_arrival(s, i) && wait_of(s, i) != HD_NONE))
        return false;
    }
  }
  return true;
}

void warp_find_phases(search *s) {
  const hd_cfg *g = &s->g;
  for (uint32_t i = 0; i < g->n_insts; i++) {
    const uint32_t wait = is_arrival(s, i) ? wait_of(s, i) : HD_NONE;
    if (wait == HD_NONE) continue;
    const hd_ptx_access a = hd_ptx_access_of(hd_inst_form(g, i));
    if (is_for_all(s, warp_operand(&s->g, i, 1), warp_array_of(s, i, &a.touches[0])))
      s->comes_between[wait] = 1;
  }
}
