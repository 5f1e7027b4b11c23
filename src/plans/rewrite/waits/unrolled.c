/* Polls that give up after a few rounds, each of which is written out: compilers unroll short loops.
 *
 *     look; setp p; @p bra FOUND; look; setp p; @p bra FOUND; look; ...
 *
 * What becomes of the values does not matter: they may be masked, selected, voted about or summed up. One
 * place is looked at WAIT_POLL_LOOKS times on one path, and time goes by in between: at a branch, a barrier,
 * a fence or a rest, and, if it is one place for certain, at whatever is done in between. Two looks are
 * common where nothing waits: a test in front of a lock, and behind it. A load that may find what it found
 * before is a look if a fence stands in between.
 *
 * What the thread itself writes in between does not matter either: it may leave the bits that are looked at,
 * or put back what is waited to change. */
#include <string.h>

#include "rewrite/waits/waits.h"

/* A body that is searched alone looks once less than a poll does, at most: two calls of it make a poll. */
enum { CALL_LOOKS = WAIT_POLL_LOOKS - 1, MOST_CARRIED = 32 };
enum { AHEAD_ENOUGH = 4, CONDITION = 3 /* selp's and slct's operand */ };
enum { MOST_AT_ONCE = 3 }; /* looks at one place with nothing in between, in what is no poll */
/* What becomes of the value that a look finds: it only goes back to its place, into something else, nowhere.
 */
enum { BACK_ALL = 1, BACK_SOME, BACK_UNREAD };

/* How an instruction touches the place of the look that a path begins with. */
typedef enum touch {
  TOUCH_NONE = 0,
  TOUCH_FIRST,  /* the look itself */
  TOUCH_SAME,   /* another one at that place */
  TOUCH_UNKNOWN /* it may be at that place */
} touch;

/* What an instruction is to a path. */
enum {
  WHAT_FENCE = 1 << 0,   /* a fence that orders more than the CTA */
  WHAT_REST = 1 << 1,    /* time goes by */
  WHAT_ASKS = 1 << 2,    /* it accesses global memory */
  WHAT_BLIND = 1 << 3,   /* a look that needs a fence to find something new */
  WHAT_STRONG = 1 << 4,  /* one that is made to see what others write */
  WHAT_GUARDED = 1 << 5, /* it may not run */
  WHAT_CALL = 1 << 6,    /* a call of a body that is not looked into */
  WHAT_LOOK = 1 << 7,
  WHAT_BEHIND = 1 << 8, /* the thread has done something since the event before, or its block's begin */
};

/* How far a path has come. */
typedef struct way {
  uint8_t looks, at_once;
  bool apart, fenced; /* since the last: time has gone by, and a fence orders more than the CTA */
  bool worked;        /* since the last: something has been done */
  bool read;          /* some look's value is, or may be */
  bool called;        /* some look is a call */
} way;

typedef struct poll {
  wait_search *w;
  uint32_t *looks, n_looks; /* instructions of the graph */
  uint8_t *touches;         /* per instruction */
  uint16_t *what;           /* per instruction: WHAT_... */
  uint8_t *works;           /* per block: the thread does something behind its last event */
  uint8_t *back;            /* per instruction: BACK_...; 0: not known */
  uint32_t *carried, mark;  /* per register: it is made of what a look has found (== mark) */
  way *ends;                /* two per block, at its end (come_to) */
  uint32_t *events;         /* looks, fences and rests, in the order of the text */
  uint32_t *first;          /* per block: its first event; one more behind the last block */
  uint32_t *order;          /* blocks in reverse postorder */
  uint32_t n_order;
  uint32_t from, to;                 /* in that order: paths begin there, and come to no look behind */
  bool begun;                        /* paths begin with one look only */
  bool known;                        /* what is known of places is asked for */
  bool sighted[WAIT_STRONG + 1];     /* of each strength: some look needs no fence */
  bool calls;                        /* some look is a call */
  uint8_t (*ahead)[WAIT_STRONG + 1]; /* per block: what lies on some path behind it: looks of each strength,
                                      * and fences (WAIT_OWN); no more than AHEAD_ENOUGH */
} poll;

/* It may find what it found before, or what its CTA knows, as long as no fence stands in between. */
static bool needs_fence(wait_search *w, uint32_t inst) {
  return w->source[inst] == WAIT_CTA || wait_call_copies(w, inst) || wait_is_plain_load(w, inst) ||
         wait_access(w, inst)->noncoherent;
}

/* A look at the word by which a loop ends in any case is none: at an update, or at a lock that is given back.
 * False: they are too few. */
static bool list_looks(poll *x) {
  wait_search *w = x->w;
  uint32_t most = 0;
  for (uint32_t i = 0; i < w->g.n_insts; i++) {
    if (w->word[i] == WAIT_WORD || (!wait_reads_others(w, i) && !wait_call_copies(w, i))) continue;
    if (!w->any_fence && needs_fence(w, i)) continue;
    x->looks[x->n_looks++] = i;
    most += wait_is_opaque(w, i) ? CALL_LOOKS : 1;
  }
  return most >= WAIT_POLL_LOOKS;
}

/* Marks the looks as if all were at one place, at which a path may begin with any. */
static void mark_all(poll *x) {
  for (uint32_t i = 0; i < x->n_looks; i++) x->touches[x->looks[i]] = TOUCH_SAME;
}

static const touch touch_of[] = {
    [WAIT_UNKNOWN_PLACES] = TOUCH_UNKNOWN, [WAIT_ONE_PLACE] = TOUCH_SAME, [WAIT_TWO_PLACES] = TOUCH_NONE};

/* Marks one look, and those behind it that are at its place. Of those of the same strength, which rounds of a
 * poll have, an unknown place counts as the same; `known`: what is known of their places is asked for. */
static void mark_places(poll *x, uint32_t look, bool known) {
  wait_search *w = x->w;
  x->known = known;
  const uint32_t home = w->g.insts[look].block, from = w->g.blocks[home].rpo;
  x->from = from;
  x->to = from + 1;
  for (uint32_t i = 0; i < x->n_looks; i++) {
    const uint32_t other = x->looks[i], block = w->g.insts[other].block;
    const bool behind = block == home ? other > look : w->g.blocks[block].rpo > from;
    const bool alike = w->source[look] == w->source[other];
    const uint32_t passes = w->passes[look], passes_too = w->passes[other];
    touch t = look == other ? TOUCH_FIRST : TOUCH_NONE;
    if (behind && (passes || passes_too)) /* through places, round for round: of one round, at one of them */
      t = alike && passes == passes_too && (!known || wait_compare_places(w, look, other) == WAIT_ONE_PLACE)
              ? TOUCH_SAME
              : TOUCH_NONE;
    else if (behind && alike)
      t = known ? touch_of[wait_compare_places(w, look, other)] : TOUCH_SAME;
    else if (behind && wait_same_place(w, look, other))
      t = TOUCH_SAME;
    x->touches[other] = (uint8_t)t;
    if (t != TOUCH_NONE && w->g.blocks[block].rpo < x->n_order && w->g.blocks[block].rpo >= x->to)
      x->to = w->g.blocks[block].rpo + 1;
    w->steps += known;
  }
}

typedef struct carried {
  poll *x;
  uint32_t regs[MOST_CARRIED], n;
  bool full;
} carried;

static void note_carried(void *ctx, uint32_t reg) {
  carried *c = ctx;
  if (c->x->carried[reg] == c->x->mark) return;
  c->x->carried[reg] = c->x->mark;
  if (c->n < MOST_CARRIED)
    c->regs[c->n++] = reg;
  else
    c->full = true;
}

/* A loop that updates end looks at the same place. */
static bool is_updated(const poll *x, uint32_t look) {
  wait_search *w = x->w;
  for (uint32_t i = 0; i < w->g.n_insts; i++)
    if (w->word[i] && wait_same_place(w, look, i)) return true;
  return false;
}

/* An instruction keeps what it reads of a look's value to itself: it writes the place that was looked at, or
 * decides about a loop that updates of the place end. */
static bool keeps(const poll *x, uint32_t look, uint32_t inst) {
  wait_search *w = x->w;
  if (hd_inst_form(&w->g, inst)->flags & HD_OPF_JUMPS)
    return w->settled[w->g.insts[inst].block] && is_updated(x, look);
  return inst != look && hd_ptx_access_in(wait_access(w, inst), HD_IN_ANY_GLOBAL) & HD_ACC_WRITE &&
         wait_access(w, inst)->bytes == wait_access(w, look)->bytes && wait_same_place(w, look, inst);
}

/* The instruction uses a register to decide what is worked out or written, or whether. */
static bool decides_by(const wait_search *w, uint32_t inst, uint32_t reg) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  const hd_sym guard = hd_inst_stmt(&w->g, inst)->guard;
  if (f->flags & HD_OPF_JUMPS) return false;
  return (guard && hd_cfg_reg(&w->g, w->g.insts[inst].call, guard) == reg) ||
         f->flags & HD_OPF_WRITES_CARRY || f->op == HD_OP_SET ||
         ((f->op == HD_OP_SELP || f->op == HD_OP_SLCT) && wait_operand(w, inst, CONDITION) == reg);
}

/* What a load finds only goes back to the place where it was: a sum in memory, as by a reduction. */
static uint8_t goes_back(poll *x, uint32_t look) {
  wait_search *w = x->w;
  carried c = {.x = x};
  bool kept = false;
  if (hd_inst_form(&w->g, look)->op != HD_OP_LD) return BACK_SOME;
  x->mark++;
  hd_inst_writes(&w->g, look, note_carried, &c);
  for (uint32_t k = 0; k < c.n && !c.full; k++) {
    uint32_t n;
    const uint32_t *readers = wait_readers(w, c.regs[k], &n);
    for (uint32_t i = 0; i < n; i++) {
      const uint32_t at = readers[i];
      w->steps++;
      if (decides_by(w, at, c.regs[k])) return BACK_SOME;
      if (hd_inst_form(&w->g, at)->flags & HD_OPF_PURE)
        hd_inst_writes(&w->g, at, note_carried, &c);
      else if (!keeps(x, look, at))
        return BACK_SOME;
      else
        kept = true;
    }
  }
  return c.full ? BACK_SOME : kept ? BACK_ALL : BACK_UNREAD;
}

/* Leaves out the marked looks that wait for nothing. Those whose values are not read stay: they let time go
 * by for one whose value is. */
static void leave_out(poll *x) {
  for (uint32_t i = 0; i < x->n_looks; i++) {
    const uint32_t look = x->looks[i];
    if (x->touches[look] == TOUCH_NONE) continue;
    if (!x->back[look]) x->back[look] = goes_back(x, look);
    if (x->back[look] == BACK_ALL) x->touches[look] = TOUCH_NONE;
  }
}

/* Others may come meanwhile: at whatever orders threads or waits for them, at a rest, and in a body that is
 * not looked into. */
static bool lets_time_go_by(const wait_search *w, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  const hd_ptx_class class = hd_ptx_op_class(f->op);
  return class == HD_OPC_SYNC || class == HD_OPC_EXCHANGE || f->op == HD_OP_NANOSLEEP ||
         f->op == HD_OP_MBARRIER || hd_ptx_form_has(f, HD_M_WAIT_GROUP) ||
         hd_ptx_form_has(f, HD_M_WAIT_ALL) || wait_is_opaque(w, inst);
}

/* Memory answers, and others write meanwhile: it is not at the place that is looked at, as far as is known.
 */
static bool asks_elsewhere(const poll *x, uint32_t inst) {
  if (x->known && (x->touches[inst] == TOUCH_SAME || x->touches[inst] == TOUCH_FIRST)) return false;
  return x->what[inst] & WHAT_ASKS;
}

static uint16_t what_is(wait_search *w, uint32_t inst) {
  const bool fence = wait_is_wide_fence(w, inst), look = w->source[inst] != WAIT_OWN;
  const bool asks = hd_ptx_access_in(wait_access(w, inst), HD_IN_ANY_GLOBAL) != 0;
  return (uint16_t)((fence ? WHAT_FENCE : 0) | (fence || lets_time_go_by(w, inst) ? WHAT_REST : 0) |
                    (asks ? WHAT_ASKS : 0) | (look && needs_fence(w, inst) ? WHAT_BLIND : 0) |
                    (w->source[inst] == WAIT_STRONG ? WHAT_STRONG : 0) |
                    (hd_inst_stmt(&w->g, inst)->guard ? WHAT_GUARDED : 0) |
                    (wait_is_opaque(w, inst) ? WHAT_CALL : 0));
}

/* The path begins with the look, or it is another one, made to see what has been written since the last. */
static bool is_next(const poll *x, uint32_t inst, const way *at) {
  const unsigned what = x->what[inst];
  const bool is_known = x->touches[inst] == TOUCH_SAME || what & WHAT_STRONG;
  if (!at->looks) return x->touches[inst] == TOUCH_FIRST || !x->begun;
  const bool later = at->apart || what & WHAT_GUARDED || (at->worked && x->touches[inst] == TOUCH_SAME);
  return x->touches[inst] != TOUCH_FIRST && later && (at->fenced || (is_known && !(what & WHAT_BLIND)));
}

static bool is_poll(const way *at) {
  return (at->looks >= WAIT_POLL_LOOKS || at->at_once > MOST_AT_ONCE) && at->read;
}

static void go_through(const poll *x, uint32_t block, way *at) {
  for (uint32_t k = x->first[block]; k < x->first[block + 1] && !is_poll(at); k++) {
    const uint32_t i = x->events[k];
    const unsigned what = x->what[i];
    const bool call = what & WHAT_CALL;
    at->worked |= what & WHAT_BEHIND;
    if (x->touches[i] != TOUCH_NONE && is_next(x, i, at)) {
      *at = (way){.looks = (uint8_t)(at->looks + (at->called && call ? CALL_LOOKS : 1)),
                  .at_once = 1,
                  .read = at->read || x->back[i] != BACK_UNREAD,
                  .called = at->called || call};
    } else if (at->looks && x->touches[i] == TOUCH_SAME && !(what & WHAT_BLIND)) {
      at->at_once++;
      at->read |= x->back[i] != BACK_UNREAD;
    }
    at->fenced |= what & WHAT_FENCE;
    at->apart |= what & WHAT_REST || asks_elsewhere(x, i);
  }
  at->worked |= x->works[block];
}

/* The thread does more than that it hands a number on. */
static bool does_something(const wait_search *w, uint32_t inst) {
  return wait_copied(w, inst) == HD_NONE && !wait_moves_whole(w, inst) &&
         !(hd_inst_form(&w->g, inst)->flags & HD_OPF_JUMPS) && !wait_loads_parameter(w, inst);
}

typedef struct joining {
  const poll *x;
  bool joins;
} joining;

static void look_for_found(void *ctx, uint32_t reg) {
  joining *j = ctx;
  const wait_search *w = j->x->w;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++)
    j->joins = j->joins || j->x->touches[w->writers.insts[i]] != TOUCH_NONE;
}

/* It computes with what a look has found. */
static bool joins_found(const poll *x, uint32_t inst) {
  joining j = {.x = x};
  if (hd_inst_form(&x->w->g, inst)->flags & HD_OPF_PURE) hd_inst_reads(&x->w->g, inst, look_for_found, &j);
  return j.joins;
}

/* Behind mark_all. */
static void list_events(poll *x) {
  wait_search *w = x->w;
  uint32_t n = 0;
  for (uint32_t b = 0; b < w->g.n_blocks; b++) {
    const hd_block *block = &w->g.blocks[b];
    bool works = false, joined = false;
    x->first[b] = n;
    for (uint32_t i = block->first; i < block->first + block->n_insts; i++) {
      unsigned what = what_is(w, i) | (x->touches[i] != TOUCH_NONE ? WHAT_LOOK : 0);
      if (what & (WHAT_LOOK | WHAT_FENCE | WHAT_REST | WHAT_ASKS)) {
        x->what[i] = (uint16_t)(what | (works ? WHAT_BEHIND : 0));
        x->events[n++] = i;
        works = joined = false;
      } else {
        /* One instruction may join what two looks have found: a number that is read several times at once. */
        const bool does = does_something(w, i), joins = does && !joined && joins_found(x, i);
        x->what[i] = (uint16_t)what;
        works |= does && !joins;
        joined |= joins;
      }
    }
    x->works[b] = works;
  }
  x->first[w->g.n_blocks] = n;
}

static bool is_further(const way *a, const way *b) {
  if (a->looks != b->looks) return a->looks > b->looks;
  if (a->at_once != b->at_once) return a->at_once > b->at_once;
  if (a->apart + a->fenced != b->apart + b->fenced) return a->apart + a->fenced > b->apart + b->fenced;
  return a->worked > b->worked;
}

/* The furthest of the paths that come to the block: [1] of those on which a look's value is read, [0] of the
 * others. */
static void come_to(const poll *x, uint32_t block, way at[2]) {
  const hd_cfg *g = &x->w->g;
  const hd_block *b = &g->blocks[block];
  for (uint32_t k = 0; k < b->n_pred; k++) {
    const uint32_t before = g->edges[b->first_pred + k];
    if (g->blocks[before].rpo >= b->rpo || g->blocks[before].rpo < x->from) continue;
    for (unsigned read = 0; read < 2; read++) {
      way end = x->ends[2 * before + read];
      end.apart |= g->blocks[before].n_succ > 1;
      if (is_further(&end, &at[read])) at[read] = end;
    }
  }
}

/* Some path, round no loop twice, comes to so many looks. */
static bool is_polled(const poll *x) {
  for (uint32_t i = x->from; i < x->to; i++) {
    const uint32_t block = x->order[i];
    way at[2] = {{0}, {.read = true}}, *ends = &x->ends[2 * block];
    come_to(x, block, at);
    go_through(x, block, &at[0]);
    if (at[1].looks) go_through(x, block, &at[1]);
    if (is_poll(&at[0]) || is_poll(&at[1])) return true;
    if (at[0].read && is_further(&at[0], &at[1])) at[1] = at[0];
    ends[0] = at[0].read ? (way){0} : at[0];
    ends[1] = at[1];
  }
  x->w->steps += x->n_order;
  return false;
}

/* Adds what a block holds from an instruction on. */
static void add_ahead(const poll *x, uint32_t block, uint32_t from, uint8_t ahead[WAIT_STRONG + 1]) {
  const wait_search *w = x->w;
  for (uint32_t k = x->first[block + 1]; k > x->first[block] && x->events[k - 1] >= from; k--) {
    const uint32_t i = x->events[k - 1], source = w->source[i];
    if (x->what[i] & WHAT_LOOK && ahead[source] < AHEAD_ENOUGH) ahead[source]++;
    if (x->what[i] & WHAT_FENCE && ahead[WAIT_OWN] < AHEAD_ENOUGH) ahead[WAIT_OWN]++;
  }
}

/* Behind list_events. */
static void look_ahead(poll *x) {
  const hd_cfg *g = &x->w->g;
  for (uint32_t i = 0; i < x->n_looks; i++) {
    const uint32_t look = x->looks[i];
    x->sighted[x->w->source[look]] |= !(x->what[look] & WHAT_BLIND);
    x->calls |= (x->what[look] & WHAT_CALL) != 0;
  }
  for (uint32_t i = x->n_order; i > 0; i--) {
    const hd_block *b = &g->blocks[x->order[i - 1]];
    uint8_t *most = x->ahead[x->order[i - 1]];
    for (uint32_t k = 0; k < b->n_succ; k++) {
      const uint32_t to = g->edges[b->first_succ + k];
      uint8_t ahead[WAIT_STRONG + 1];
      if (g->blocks[to].rpo < i) continue;
      memcpy(ahead, x->ahead[to], sizeof ahead);
      add_ahead(x, to, 0, ahead);
      for (unsigned s = 0; s <= WAIT_STRONG; s++)
        if (ahead[s] > most[s]) most[s] = ahead[s];
    }
  }
}

/* Enough looks and fences lie ahead to make a poll with this one. */
static bool may_be_polled(const poll *x, uint32_t look) {
  wait_search *w = x->w;
  const uint32_t block = w->g.insts[look].block, source = w->source[look];
  uint8_t ahead[WAIT_STRONG + 1];
  if (x->calls || w->g.blocks[block].rpo == HD_NONE) return true;
  memcpy(ahead, x->ahead[block], sizeof ahead);
  add_ahead(x, block, look + 1, ahead);
  if (ahead[source] >= WAIT_POLL_LOOKS - 1 && (x->sighted[source] || ahead[WAIT_OWN] >= WAIT_POLL_LOOKS - 1))
    return true;
  for (uint32_t i = 0; i < x->n_looks; i++)
    if (w->source[x->looks[i]] != source && wait_same_place(w, look, x->looks[i])) return true;
  return false;
}

uint32_t wait_unrolled(wait_search *w) {
  const hd_cfg *g = &w->g;
  poll x = {.w = w,
            .looks = HD_NEW_N(w->arena, g->n_insts + 1u, uint32_t),
            .touches = HD_NEW_N(w->arena, g->n_insts + 1u, uint8_t),
            .what = HD_NEW_N(w->arena, g->n_insts + 1u, uint16_t),
            .works = HD_NEW_N(w->arena, g->n_blocks + 1u, uint8_t),
            .back = HD_NEW_N(w->arena, g->n_insts + 1u, uint8_t),
            .carried = HD_NEW_N(w->arena, g->n_regs + 1u, uint32_t),
            .ahead = hd_arena_zalloc(w->arena, g->n_blocks + 1u, sizeof *x.ahead),
            .ends = HD_NEW_N(w->arena, 2 * (g->n_blocks + 1u), way),
            .events = HD_NEW_N(w->arena, g->n_insts + 1u, uint32_t),
            .first = HD_NEW_N(w->arena, g->n_blocks + 1u, uint32_t),
            .order = HD_NEW_N(w->arena, g->n_blocks + 1u, uint32_t)};
  if (!list_looks(&x)) return HD_NONE;
  for (uint32_t b = 0; b < g->n_blocks; b++) {
    if (g->blocks[b].rpo == HD_NONE) continue;
    x.order[g->blocks[b].rpo] = b;
    if (g->blocks[b].rpo >= x.n_order) x.n_order = g->blocks[b].rpo + 1;
  }
  x.to = x.n_order;
  mark_all(&x);
  list_events(&x);
  if (!is_polled(&x)) return HD_NONE;
  look_ahead(&x);
  x.begun = true;
  for (uint32_t i = 0; i < x.n_looks; i++) {
    if (w->steps >= WAIT_WALK) return x.looks[i];
    if (!may_be_polled(&x, x.looks[i])) continue;
    mark_places(&x, x.looks[i], false);
    if (!is_polled(&x)) continue;
    mark_places(&x, x.looks[i], true);
    if (!is_polled(&x)) continue;
    leave_out(&x);
    if (is_polled(&x)) return x.looks[i];
  }
  return HD_NONE;
}
