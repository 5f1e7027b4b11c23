/* What becomes of the numbers that a loop's own atomic finds: whether a thread keeps what they say.
 *
 * An atomic that adds to its word in every round finds numbers that others find in other orders: each number
 * comes once, to some round. What that round does with it alone (a place that it fills, a sum that it is the
 * last to add to) is done in every order. What the thread takes along, to later rounds or out of the loop,
 * says how far others had come: such rounds are a poll that gives up.
 *
 * So comparisons are followed forwards from what the atomic finds: through registers, memory of the CTA and
 * the thread, and the branches that they decide. */
#include "rewrite/waits/waits.h"

/* What is known of a register. */
enum {
  NUMBER = 1,  /* it holds what was found */
  MADE = 2,    /* or what is worked out of that */
  OUTCOME = 4, /* or what a comparison of that decides */
  LOADED = 8,  /* the same, from memory of the CTA or the thread */
};

enum { MOST_STORED = 8, MOST_ROUNDS = 64, MOST_DEPTH = 64 };

typedef struct keeping {
  wait_search *w;
  uint32_t look;
  uint32_t rounds[MOST_ROUNDS],
      n_rounds; /* instructions at which a round begins: the look and those like it */
  wait_keeping how;
  uint8_t *holds;            /* per register */
  uint8_t *ruled;            /* per block: an outcome decides whether it runs */
  uint32_t *work, n_work;    /* registers whose readers are still to be looked at */
  uint8_t *waits;            /* per register: it is among them */
  uint32_t *stack;           /* blocks */
  uint32_t *seen, mark;      /* per block, twice: in this round, and beyond */
  hd_sym roots[MOST_STORED]; /* variables of the CTA's or the thread's memory with an outcome */
  uint32_t n_roots;
  bool anywhere; /* in some variable */
  bool keeps;
} keeping;

static bool is_guarded(const wait_search *w, uint32_t inst) { return hd_inst_stmt(&w->g, inst)->guard != 0; }

/* ---- Registers ---------------------------------------------------------------------------------- */

/* The first of some instructions that lies within these. */
static uint32_t first_among(const uint32_t *insts, uint32_t n, uint32_t from, uint32_t end) {
  uint32_t first = HD_NONE;
  for (uint32_t i = 0; i < n; i++)
    if (insts[i] >= from && insts[i] < end && insts[i] < first) first = insts[i];
  return first;
}

/* The first write that leaves nothing of what the register held. */
static uint32_t first_write(const wait_search *w, uint32_t reg, uint32_t from, uint32_t end) {
  uint32_t first = HD_NONE;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++) {
    const uint32_t at = w->writers.insts[i];
    if (at >= from && at < end && at < first && !is_guarded(w, at)) first = at;
  }
  return first;
}

/* Another round begins on the way from one block to the next: not one of a cycle within, beside the look. */
static bool begins_round(const keeping *x, uint32_t from, uint32_t to) {
  const hd_cfg *g = &x->w->g;
  const uint32_t loop = g->blocks[to].loop, home = g->insts[x->look].block;
  if (g->blocks[to].rpo > g->blocks[from].rpo) return false;
  return loop == HD_NONE || g->loops[loop].header != to || hd_loop_contains(g, loop, g->blocks[home].loop);
}

/* What lanes hand each other is what one of them has found in this round: the others still hold something
 * else. */
static bool is_handed(const keeping *x, uint32_t reg, uint32_t reader) {
  return x->holds[reg] == NUMBER && hd_inst_form(&x->w->g, reader)->op == HD_OP_SHFL;
}

/* Some reader of the register within these instructions, which lie beyond the round. */
static bool is_read_among(const keeping *x, uint32_t reg, uint32_t from, uint32_t end) {
  uint32_t n;
  const uint32_t *readers = wait_readers(x->w, reg, &n);
  for (uint32_t i = 0; i < n; i++)
    if (readers[i] >= from && readers[i] < end && !is_handed(x, reg, readers[i])) return true;
  return false;
}

/* The write is read behind the round: in a later one, or behind the loop. */
static bool outlives(keeping *x, uint32_t reg, uint32_t write) {
  wait_search *w = x->w;
  uint32_t top = 0, block = w->g.insts[write].block, from = write + 1;
  bool beyond = false;
  x->mark++;
  for (;;) {
    const hd_block *b = &w->g.blocks[block];
    const uint32_t end = b->first + b->n_insts, kill = first_write(w, reg, from, end);
    const uint32_t until = kill == HD_NONE ? end : kill + 1;
    const uint32_t again = first_among(x->rounds, x->n_rounds, from, until);
    w->steps += 1 + w->writers.first[reg + 1] - w->writers.first[reg];
    if (is_read_among(x, reg, beyond ? from : again, until)) return true;
    for (uint32_t k = 0; k < b->n_succ && kill == HD_NONE; k++) {
      const uint32_t to = w->g.edges[b->first_succ + k];
      const bool later = beyond || again != HD_NONE || w->in[to] != w->stamp || begins_round(x, block, to);
      if (x->seen[2 * to + later] == x->mark) continue;
      x->seen[2 * to + later] = x->mark;
      x->stack[top++] = 2 * to + later;
    }
    if (!top) return false;
    block = x->stack[--top] / 2;
    beyond = x->stack[top] % 2;
    from = w->g.blocks[block].first;
  }
}

typedef struct writing {
  keeping *x;
  uint32_t inst;
  unsigned holds;
} writing;

static void note_written(void *ctx, uint32_t reg) {
  const writing *y = ctx;
  keeping *x = y->x;
  if ((y->holds & OUTCOME) && !x->keeps) x->keeps = outlives(x, reg, y->inst);
  if ((x->holds[reg] | y->holds) == x->holds[reg]) return;
  x->holds[reg] |= (uint8_t)y->holds;
  if (x->waits[reg]) return;
  x->waits[reg] = 1;
  x->work[x->n_work++] = reg;
}

static void add_held(void *ctx, uint32_t reg) {
  writing *y = ctx;
  y->holds |= y->x->holds[reg];
}

/* What the instruction reads, its guard included. */
static unsigned held_by(keeping *x, uint32_t inst) {
  writing y = {.x = x};
  hd_inst_reads(&x->w->g, inst, add_held, &y);
  return y.holds;
}

static unsigned held_in(const keeping *x, uint32_t inst, const hd_ptx_opnd *o) {
  const wait_search *w = x->w;
  unsigned holds = 0;
  if (o->kind == HD_O_VEC || o->kind == HD_O_BRACKET || o->kind == HD_O_INDEX || o->kind == HD_O_LIST)
    for (uint32_t k = 0; k < o->n_kids; k++) holds |= held_in(x, inst, &w->m->opnds[o->sym + k]);
  else if ((o->kind == HD_O_REG || o->kind == HD_O_ADDR) && o->sym && w->m->syms[o->sym].kind == HD_SYM_REG)
    holds = x->holds[hd_cfg_reg(&w->g, w->g.insts[inst].call, o->sym)];
  return holds;
}

/* ---- Memory ------------------------------------------------------------------------------------- */

static void look_at_inst(keeping *x, uint32_t inst);

static bool is_own(const hd_ptx_access *a, unsigned kinds) {
  return hd_ptx_access_in(a, HD_IN_ANY_SHARED | HD_IN_LOCAL | HD_IN_GENERIC) & kinds;
}

/* The variable of the CTA's or the thread's memory that an instruction reads, or writes; 0: not known. */
static hd_sym variable_of(wait_search *w, uint32_t inst, unsigned kinds) {
  const hd_ptx_access *a = wait_access(w, inst);
  for (unsigned k = 0; k < a->n; k++) {
    const hd_ptx_touch *t = &a->touches[k];
    if (!(t->kinds & kinds) || t->operand >= hd_inst_stmt(&w->g, inst)->n_opnds) continue;
    if (t->space & (HD_IN_ANY_SHARED | HD_IN_LOCAL | HD_IN_GENERIC))
      return wait_root(w, inst, &wait_operands(w, inst)[t->operand]);
  }
  return 0;
}

static bool may_hold_outcome(const keeping *x, hd_sym root) {
  if (!x->n_roots && !x->anywhere) return false;
  if (x->anywhere || !root) return true;
  for (uint32_t i = 0; i < x->n_roots; i++)
    if (x->roots[i] == root) return true;
  return false;
}

/* A load of memory that may hold an outcome brings one; outside of the loop it was kept. */
static void look_at_load(keeping *x, uint32_t inst) {
  wait_search *w = x->w;
  if (!is_own(wait_access(w, inst), HD_ACC_READ) || !may_hold_outcome(x, variable_of(w, inst, HD_ACC_READ)))
    return;
  if (!wait_inside(w, inst)) x->keeps = true;
  hd_inst_writes(&w->g, inst, note_written, &(writing){x, inst, OUTCOME | LOADED});
}

static void note_stored(keeping *x, uint32_t inst) {
  wait_search *w = x->w;
  const hd_sym root = variable_of(w, inst, HD_ACC_WRITE);
  if (root && may_hold_outcome(x, root) && !x->anywhere)
    for (uint32_t i = 0; i < x->n_roots; i++)
      if (x->roots[i] == root) return;
  if (x->anywhere) return;
  if (root && x->n_roots < MOST_STORED)
    x->roots[x->n_roots++] = root;
  else
    x->anywhere = true;
  w->steps += w->g.n_insts;
  for (uint32_t i = 0; i < w->g.n_insts && !x->keeps; i++) look_at_load(x, i);
}

typedef struct cta_search {
  keeping *x;
  uint8_t *seen;
  uint32_t depth;
  bool found;
} cta_search;

/* Some write of the register is worked out from the CTA's number. */
static void find_cta(void *ctx, uint32_t reg) {
  cta_search *y = ctx;
  const wait_search *w = y->x->w;
  if (y->found || y->seen[reg] || y->depth > MOST_DEPTH) return;
  y->seen[reg] = 1;
  y->depth++;
  y->x->w->steps++;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1] && !y->found; i++) {
    const uint32_t at = w->writers.insts[i];
    for (uint32_t k = 0; k < hd_inst_stmt(&w->g, at)->n_opnds; k++) {
      const hd_ptx_opnd *o = &wait_operands(w, at)[k];
      const unsigned kind = o->kind == HD_O_SREG ? hd_ptx_sreg_kind(w->m->syms[o->sym].index) : HD_SRK_LAUNCH;
      y->found |= kind == HD_SRK_CTA || kind == HD_SRK_CLUSTER || kind == HD_SRK_SCHEDULE;
    }
    hd_inst_reads(&w->g, at, find_cta, y);
  }
  y->depth--;
}

/* It writes a place of the CTA's own, by which the CTA keeps what it writes there. */
static bool is_place_of_cta(keeping *x, uint32_t inst) {
  const hd_ptx_opnd *o = wait_address(x->w, inst);
  cta_search y = {.x = x, .seen = HD_NEW_N(x->w->arena, x->w->g.n_regs + 1u, uint8_t)};
  if (!o || !o->sym || x->w->m->syms[o->sym].kind != HD_SYM_REG) return !o;
  find_cta(&y, hd_cfg_reg(&x->w->g, x->w->g.insts[inst].call, o->sym));
  return y.found;
}

/* A write of an outcome, or one that an outcome decides about. */
static void look_at_write(keeping *x, uint32_t inst, unsigned holds) {
  wait_search *w = x->w;
  const hd_ptx_access *a = wait_access(w, inst);
  if (!(a->kinds & HD_ACC_WRITE)) return;
  if (is_own(a, HD_ACC_WRITE)) {
    x->keeps |= (holds & LOADED) != 0;
    note_stored(x, inst);
  }
  if (hd_ptx_access_in(a, HD_IN_PARAM) & HD_ACC_WRITE) x->keeps = true;
  if (hd_ptx_access_in(a, HD_IN_ANY_GLOBAL) & HD_ACC_WRITE && !(holds & (NUMBER | MADE)))
    x->keeps |= is_place_of_cta(x, inst);
}

/* ---- Instructions ------------------------------------------------------------------------------- */

/* Everything in a block that an outcome decides about. */
static void look_at_ruled(keeping *x, uint32_t block) {
  const hd_block *b = &x->w->g.blocks[block];
  if (x->ruled[block]) return;
  x->ruled[block] = 1;
  for (uint32_t i = b->first; i < b->first + b->n_insts && !x->keeps; i++) look_at_inst(x, i);
}

/* The blocks of which the branch decides whether they run: those between it and where its ways meet. */
static void look_at_branch(keeping *x, uint32_t block) {
  wait_search *w = x->w;
  const uint32_t meet = w->g.blocks[block].ipdom, base = w->n_blocks;
  uint32_t top = 0, *stack = HD_NEW_N(w->arena, w->g.n_blocks + 1u, uint32_t);
  uint8_t *seen = HD_NEW_N(w->arena, w->g.n_blocks + 1u, uint8_t);
  stack[top++] = block;
  while (top && !x->keeps) {
    const hd_block *b = &w->g.blocks[stack[--top]];
    for (uint32_t k = 0; k < b->n_succ; k++) {
      const uint32_t to = w->g.edges[b->first_succ + k];
      if (to == meet || seen[to] || w->in[to] != w->stamp) continue;
      seen[to] = 1;
      stack[top++] = to;
      look_at_ruled(x, to);
    }
  }
  w->steps += base;
}

/* The comparison shows what others have done. Of numbers that the thread by itself comes to, one is equal to
 * a number that stays in every order. What is fetched is compared with the number that was fetched before. */
static bool shows_others(const keeping *x, uint32_t inst, unsigned holds) {
  const wait_search *w = x->w;
  const hd_ptx_opnd *o = wait_operands(w, inst);
  const wait_compare c = wait_comparison(w, inst, true);
  if (!(holds & (NUMBER | MADE))) return false;
  if (x->how == WAIT_FETCHED) return held_in(x, inst, &o[1]) & held_in(x, inst, &o[2]) & NUMBER;
  return x->how != WAIT_EACH || holds != NUMBER || (c != CMP_EQ && c != CMP_NE);
}

/* A copy of what was found, or that and a number. */
static bool keeps_number(const wait_search *w, uint32_t inst) {
  const hd_ptx_result *r = wait_result(w, inst);
  return wait_moves_whole(w, inst) || wait_copied(w, inst) != HD_NONE || hd_ptx_adds_two(r) ||
         hd_inst_form(&w->g, inst)->op == HD_OP_SHFL;
}

static bool is_predicate(const wait_search *w, uint32_t inst) {
  const hd_ptx_result *r = wait_result(w, inst);
  return r->makes == HD_MAKES_COMPARISON || hd_inst_form(&w->g, inst)->op == HD_OP_SETP;
}

static void look_at_inst(keeping *x, uint32_t inst) {
  wait_search *w = x->w;
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  unsigned holds = held_by(x, inst);
  const bool ruled = x->ruled[w->g.insts[inst].block];
  if (f->flags & HD_OPF_JUMPS) {
    if (holds & OUTCOME) look_at_branch(x, w->g.insts[inst].block);
    return;
  }
  if (is_predicate(w, inst))
    holds = (holds & (OUTCOME | LOADED)) | (shows_others(x, inst, holds) ? OUTCOME : 0);
  if (ruled) holds |= OUTCOME;
  if (holds & OUTCOME) look_at_write(x, inst, holds);
  if (wait_access(w, inst)->kinds & HD_ACC_READ) {
    /* What lies at a place is data, but of one that an outcome chooses. */
    const hd_ptx_opnd *o = wait_address(w, inst);
    unsigned by = ruled || (o && held_in(x, inst, o) & OUTCOME) ? OUTCOME : 0;
    if (hd_inst_stmt(&w->g, inst)->guard)
      by |= x->holds[hd_cfg_reg(&w->g, w->g.insts[inst].call, hd_inst_stmt(&w->g, inst)->guard)] & OUTCOME;
    holds = by;
  } else if (!keeps_number(w, inst)) {
    holds |= holds & NUMBER ? MADE : 0;
    holds &= ~(unsigned)NUMBER;
  }
  if (holds) hd_inst_writes(&w->g, inst, note_written, &(writing){x, inst, holds});
}

/* Another atomic like the look, which may be at its place, is the next round, as compilers write them out. */
static void find_rounds(keeping *x) {
  wait_search *w = x->w;
  x->rounds[x->n_rounds++] = x->look;
  for (uint32_t b = 0; b < w->g.n_blocks; b++) {
    const hd_block *block = &w->g.blocks[b];
    if (w->in[b] != w->stamp) continue;
    w->steps += block->n_insts;
    for (uint32_t k = block->first; k < block->first + block->n_insts && x->n_rounds < MOST_ROUNDS; k++) {
      if (k == x->look || hd_inst_form(&w->g, k)->op != HD_OP_ATOM || w->source[k] == WAIT_OWN) continue;
      if (hd_result_is_read(&w->g, w->is_read, k) && wait_compare_places(w, x->look, k) != WAIT_TWO_PLACES)
        x->rounds[x->n_rounds++] = k;
    }
  }
}

bool wait_keeps_outcome(wait_search *w, uint32_t look, wait_keeping how) {
  const hd_cfg *g = &w->g;
  keeping x = {.w = w,
               .look = look,
               .how = how,
               .holds = HD_NEW_N(w->arena, g->n_regs + 1u, uint8_t),
               .waits = HD_NEW_N(w->arena, g->n_regs + 1u, uint8_t),
               .work = HD_NEW_N(w->arena, g->n_regs + 1u, uint32_t),
               .ruled = HD_NEW_N(w->arena, g->n_blocks + 1u, uint8_t),
               .stack = HD_NEW_N(w->arena, 2 * (g->n_blocks + 1u), uint32_t),
               .seen = HD_NEW_N(w->arena, 2 * (g->n_blocks + 1u), uint32_t)};
  find_rounds(&x);
  if (w->n_blocks == g->n_blocks && x.n_rounds == 1) return false; /* no rounds are written out */
  hd_inst_writes(g, look, note_written, &(writing){&x, look, NUMBER});
  while (x.n_work && !x.keeps) {
    if (w->steps >= WAIT_WALK) return true;
    const uint32_t reg = x.work[--x.n_work];
    uint32_t n;
    const uint32_t *readers = wait_readers(w, reg, &n);
    x.waits[reg] = 0;
    for (uint32_t i = 0; i < n && !x.keeps; i++)
      if (wait_inside(w, readers[i])) look_at_inst(&x, readers[i]);
  }
  return x.keeps;
}
