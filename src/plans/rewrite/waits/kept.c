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

enum { MOST_ROUNDS = 64, MOST_DEPTH = 64 };

typedef struct keeping {
  wait_search *w;
  uint32_t look;
  uint32_t rounds[MOST_ROUNDS], n_rounds; /* where rounds begin: the look and instructions like it */
  wait_keeping how;
  uint8_t *holds;         /* per register */
  uint8_t *ruled;         /* per block: an outcome decides whether it runs */
  uint8_t *made;          /* per instruction: what it leaves in the registers that it writes */
  uint32_t *work, n_work; /* instructions whose results are still to be followed */
  uint8_t *waits;         /* per instruction: it is among them */
  uint32_t write;         /* the one that is followed */
  unsigned follows;       /* what its results hold */
  uint32_t *stack;        /* blocks */
  uint32_t *seen, mark;   /* per block, twice: in this round, and beyond */
  uint8_t *stored;        /* per instruction: what it has written of these */
  bool generic;           /* unknown generic addresses may lead to memory of the CTA or the thread */
  bool judges;            /* what holds numbers is known, and outcomes are followed */
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

static void look_at_inst(keeping *x, uint32_t inst);

/* The readers of the register within these instructions see what is followed. Those from `later` on lie
 * beyond the round: an outcome outlives it. */
static void look_at_readers(keeping *x, uint32_t reg, uint32_t from, uint32_t end, uint32_t later) {
  uint32_t n;
  const uint32_t *readers = wait_readers(x->w, reg, &n);
  x->w->steps += n;
  for (uint32_t i = 0; i < n && !x->keeps; i++) {
    if (readers[i] < from || readers[i] >= end) continue;
    if (x->follows & OUTCOME && readers[i] >= later) x->keeps = true;
    look_at_inst(x, readers[i]);
  }
}

/* Follows what a write leaves in a register to wherever it is read. */
static void follow_write(void *ctx, uint32_t reg) {
  keeping *x = ctx;
  wait_search *w = x->w;
  uint32_t top = 0, block = w->g.insts[x->write].block, from = x->write + 1;
  bool beyond = !wait_inside(w, x->write);
  x->mark++;
  while (!x->keeps && w->steps < WAIT_WALK) {
    const hd_block *b = &w->g.blocks[block];
    const uint32_t end = b->first + b->n_insts, kill = first_write(w, reg, from, end);
    const uint32_t until = kill == HD_NONE ? end : kill + 1;
    const uint32_t again = first_among(x->rounds, x->n_rounds, from, until);
    look_at_readers(x, reg, from, until, beyond ? from : again);
    w->steps += 1 + w->writers.first[reg + 1] - w->writers.first[reg];
    for (uint32_t k = 0; k < b->n_succ && kill == HD_NONE; k++) {
      const uint32_t to = w->g.edges[b->first_succ + k];
      const bool later = beyond || again != HD_NONE || w->in[to] != w->stamp || begins_round(x, block, to);
      if (x->seen[2 * to + later] == x->mark) continue;
      x->seen[2 * to + later] = x->mark;
      x->stack[top++] = 2 * to + later;
    }
    if (!top) return;
    block = x->stack[--top] / 2;
    beyond = x->stack[top] % 2;
    from = w->g.blocks[block].first;
  }
}

static void note_held(void *ctx, uint32_t reg) {
  keeping *x = ctx;
  x->holds[reg] |= x->made[x->write];
}

static void enqueue(keeping *x, uint32_t inst) {
  if (x->waits[inst]) return;
  x->waits[inst] = 1;
  x->work[x->n_work++] = inst;
}

/* What the instruction leaves in the registers that it writes. */
static void note_result(keeping *x, uint32_t inst, unsigned holds) {
  const uint32_t write = x->write;
  if ((x->made[inst] | holds) == x->made[inst]) return;
  x->made[inst] |= (uint8_t)holds;
  x->write = inst;
  hd_inst_writes(&x->w->g, inst, note_held, x);
  x->write = write;
  enqueue(x, inst);
}

/* Follows all results that are known to hold something; false: there are too many. */
static bool follow(keeping *x) {
  while (x->n_work && !x->keeps) {
    if (x->w->steps >= WAIT_WALK) return false;
    x->write = x->work[--x->n_work];
    x->waits[x->write] = 0;
    x->follows = x->made[x->write];
    hd_inst_writes(&x->w->g, x->write, follow_write, x);
  }
  return true;
}

typedef struct held {
  const keeping *x;
  unsigned holds;
} held;

static void add_held(void *ctx, uint32_t reg) {
  held *y = ctx;
  y->holds |= y->x->holds[reg];
}

/* What the instruction reads, its guard included. */
static unsigned held_by(const keeping *x, uint32_t inst) {
  held y = {.x = x};
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

static bool is_own_variable(const wait_search *w, hd_sym root) {
  if (w->m->syms[root].kind != HD_SYM_VAR) return false;
  const hd_mod space = w->m->vars[w->m->syms[root].decl].space;
  return space == HD_M_SHARED || space == HD_M_LOCAL;
}

/* The instruction reads, or writes, memory of the CTA or the thread. *root: the variable; 0: not known. */
static bool is_own(const keeping *x, uint32_t inst, unsigned kinds, hd_sym *root) {
  wait_search *w = x->w;
  const hd_ptx_access *a = wait_access(w, inst);
  for (unsigned k = 0; k < a->n; k++) {
    const hd_ptx_touch *t = &a->touches[k];
    if (!(t->kinds & kinds) || t->operand >= hd_inst_stmt(&w->g, inst)->n_opnds) continue;
    const bool generic = t->space & HD_IN_GENERIC;
    if (!generic && !(t->space & (HD_IN_ANY_SHARED | HD_IN_LOCAL))) continue;
    *root = wait_root(w, inst, &wait_operands(w, inst)[t->operand]);
    if (!generic || (*root ? is_own_variable(w, *root) : x->generic)) return true;
  }
  return false;
}

/* Addresses of memory of the CTA or the thread are handed about as generic ones. */
static bool makes_generic(const wait_search *w) {
  bool some = !w->whole;
  for (uint32_t i = 0; i < w->g.n_insts && !some; i++) {
    const hd_ptx_form *f = hd_inst_form(&w->g, i);
    const bool other = hd_ptx_form_has(f, HD_M_TO) || hd_ptx_form_has(f, HD_M_GLOBAL) ||
                       hd_ptx_form_has(f, HD_M_CONST) || hd_ptx_form_has(f, HD_M_PARAM);
    some = f->op == HD_OP_MAPA || (f->op == HD_OP_CVTA && !other);
  }
  return some;
}

/* The load may bring what the store wrote. */
static bool brings(const keeping *x, uint32_t load, uint32_t store, bool own, hd_sym stored) {
  wait_search *w = x->w;
  hd_sym root = 0;
  if (is_own(x, load, HD_ACC_READ, &root) && own) return !root || !stored || root == stored;
  if (own || w->source[load] == WAIT_OWN) return false;
  const wait_place place = wait_place_of(w, load);
  return place.root && wait_may_write(w, &place, store) == WAIT_MEETS;
}

/* What is written comes back to wherever it is loaded. */
static void follow_store(keeping *x, uint32_t store, unsigned holds) {
  wait_search *w = x->w;
  hd_sym root = 0;
  const bool own = is_own(x, store, HD_ACC_WRITE, &root);
  if ((x->stored[store] | holds) == x->stored[store]) return;
  x->stored[store] |= (uint8_t)holds;
  w->steps += w->g.n_insts;
  for (uint32_t i = 0; i < w->g.n_insts && !x->keeps && w->steps < WAIT_WALK; i++) {
    const hd_ptx_access *a = wait_access(w, i);
    if (!(a->kinds & HD_ACC_READ) || a->kinds & HD_ACC_ATOMIC || !brings(x, i, store, own, root)) continue;
    note_result(x, i, holds & OUTCOME ? holds | LOADED : holds);
  }
}

typedef struct cta_search {
  keeping *x;
  uint8_t *seen;
  uint32_t depth;
  bool found;
} cta_search;

/* What the instruction reads or loads may be another number in each CTA. */
static bool differs_by_cta(const keeping *x, uint32_t at) {
  const wait_search *w = x->w;
  hd_sym root;
  bool found = is_own(x, at, HD_ACC_READ, &root) || wait_access(x->w, at)->kinds & HD_ACC_ATOMIC;
  for (uint32_t k = 0; k < hd_inst_stmt(&w->g, at)->n_opnds; k++) {
    const hd_ptx_opnd *o = &wait_operands(w, at)[k];
    const unsigned kind = o->kind == HD_O_SREG ? hd_ptx_sreg_kind(w->m->syms[o->sym].index) : HD_SRK_LAUNCH;
    found |= kind == HD_SRK_CTA || kind == HD_SRK_CLUSTER || kind == HD_SRK_SCHEDULE;
  }
  return found;
}

/* Some write of the register is worked out from the CTA's number. */
static void find_cta(void *ctx, uint32_t reg) {
  cta_search *y = ctx;
  const wait_search *w = y->x->w;
  if (y->found || y->seen[reg]) return;
  y->seen[reg] = 1;
  y->found = ++y->depth > MOST_DEPTH;
  y->x->w->steps++;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1] && !y->found; i++) {
    y->found = differs_by_cta(y->x, w->writers.insts[i]);
    hd_inst_reads(&w->g, w->writers.insts[i], find_cta, y);
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

/* What is written, but for the address. */
static unsigned held_as_data(const keeping *x, uint32_t inst) {
  wait_search *w = x->w;
  const hd_ptx_access *a = wait_access(w, inst);
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  unsigned holds = s->guard ? x->holds[hd_cfg_reg(&w->g, w->g.insts[inst].call, s->guard)] : 0;
  for (uint32_t k = 0; k < s->n_opnds; k++) {
    bool address = false;
    for (unsigned i = 0; i < a->n; i++) address |= a->touches[i].operand == k;
    if (!address) holds |= held_in(x, inst, &wait_operands(w, inst)[k]);
  }
  return holds;
}

/* A write of a number or an outcome, or one that an outcome decides about. */
static void look_at_write(keeping *x, uint32_t inst, unsigned holds, bool ruled) {
  wait_search *w = x->w;
  const hd_ptx_access *a = wait_access(w, inst);
  hd_sym root;
  if (!(a->kinds & HD_ACC_WRITE)) return;
  const unsigned data = held_as_data(x, inst) | (ruled ? OUTCOME : 0);
  if (data & LOADED && is_own(x, inst, HD_ACC_WRITE, &root)) x->keeps = true;
  if (holds & OUTCOME && hd_ptx_access_in(a, HD_IN_PARAM) & HD_ACC_WRITE) x->keeps = true;
  if (holds & OUTCOME && !(holds & (NUMBER | MADE)) && hd_ptx_access_in(a, HD_IN_ANY_GLOBAL) & HD_ACC_WRITE &&
      !is_own(x, inst, HD_ACC_WRITE, &root))
    x->keeps |= is_place_of_cta(x, inst);
  if (data && !x->keeps) follow_store(x, inst, data);
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
  if (is_predicate(w, inst)) {
    const bool shows = x->judges && shows_others(x, inst, holds);
    x->keeps |= shows && !wait_inside(w, inst);
    holds = (holds & (OUTCOME | LOADED)) | (shows ? OUTCOME : 0);
  }
  if (ruled) holds |= OUTCOME;
  if (holds) look_at_write(x, inst, holds, ruled);
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
  if (holds) note_result(x, inst, holds);
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
      if (wait_result_is_read(w, k) && wait_compare_places(w, x->look, k) != WAIT_TWO_PLACES)
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
               .made = HD_NEW_N(w->arena, g->n_insts + 1u, uint8_t),
               .waits = HD_NEW_N(w->arena, g->n_insts + 1u, uint8_t),
               .work = HD_NEW_N(w->arena, g->n_insts + 1u, uint32_t),
               .stored = HD_NEW_N(w->arena, g->n_insts + 1u, uint8_t),
               .generic = makes_generic(w),
               .ruled = HD_NEW_N(w->arena, g->n_blocks + 1u, uint8_t),
               .stack = HD_NEW_N(w->arena, 2 * (g->n_blocks + 1u), uint32_t),
               .seen = HD_NEW_N(w->arena, 2 * (g->n_blocks + 1u), uint32_t)};
  find_rounds(&x);
  if (w->n_blocks == g->n_blocks && x.n_rounds == 1) return false; /* no rounds are written out */
  note_result(&x, look, NUMBER);
  if (!follow(&x)) return true;
  x.judges = true;
  for (uint32_t i = 0; i < g->n_insts; i++)
    if (x.made[i]) enqueue(&x, i);
  return !follow(&x) || x.keeps || w->steps >= WAIT_WALK;
}
