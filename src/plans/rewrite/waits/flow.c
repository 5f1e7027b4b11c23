/* The values that decide whether a region is left. They are followed backwards from the conditions of its
 * exits: through registers and the carry, through variables that pass values into functions, through shared
 * and local memory, and through the branches that decide whether an instruction runs at all.
 *
 * The order of instructions is ignored: everything that may write a register counts. */
#include <string.h>

#include "rewrite/waits/waits.h"

/* A place that an instruction of the region writes. */
typedef struct written_place {
  uint32_t inst;
  hd_sym root; /* wait_root */
  uint16_t space;
  bool atomic; /* what is written depends on what was there, or the text says it */
} written_place;

typedef struct trace {
  wait_search *w;
  uint32_t *work, n_work;         /* instructions whose operands are still to be looked at */
  uint32_t bad;                   /* the instruction that the exits wait for; HD_NONE */
  bool stores_seen;               /* of global memory */
  bool carries_seen;              /* all that the region writes */
  uint32_t *doubtful, n_doubtful; /* plain loads that may look at the same place again */
  written_place *places;          /* NULL: not listed so far */
  uint32_t n_places;
  uint32_t *calls, n_calls; /* that may write anywhere, and bring anything; listed with the places */

  /* The region with one exit behind all: post-dominators by number, in reverse postorder from the exit (0).
   */
  uint32_t *number;       /* per block of the graph */
  uint32_t *by_order;     /* blocks */
  uint32_t *ipdom;        /* by number; 0 is the exit */
  uint32_t *first, *last; /* by number: the tree's preorder */
} trace;

/* ---- Branches that decide whether a block runs --------------------------------------------------- */

/* Numbers the blocks backwards from the exits: each exit block is a root behind the one exit. */
static void number_backwards(trace *t) {
  wait_search *w = t->w;
  uint32_t n = w->n_blocks, top = 0, left = n, *stack = w->part, *cursor = w->members;
  for (uint32_t i = 0; i < n; i++) t->number[w->blocks[i]] = HD_NONE;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t root = w->blocks[i];
    if (t->number[root] != HD_NONE || !wait_leaves(w, root)) continue;
    t->number[root] = 0;
    stack[top] = root;
    cursor[top++] = 0;
    while (top) {
      const hd_block *b = &w->g.blocks[stack[top - 1]];
      if (cursor[top - 1] == b->n_pred) {
        t->number[stack[--top]] = left;
        t->by_order[left--] = stack[top];
        continue;
      }
      uint32_t p = w->g.edges[b->first_pred + cursor[top - 1]++];
      if (w->in[p] != w->stamp || t->number[p] != HD_NONE) continue;
      t->number[p] = 0;
      stack[top] = p;
      cursor[top++] = 0;
    }
  }
}

static uint32_t meet(const trace *t, uint32_t a, uint32_t b) {
  while (a != b) {
    while (a > b) a = t->ipdom[a];
    while (b > a) b = t->ipdom[b];
  }
  return a;
}

/* Cooper, Harvey and Kennedy's iteration, over a strongly connected region: every block is numbered. */
static void find_post_dominators(trace *t) {
  wait_search *w = t->w;
  uint32_t n = w->n_blocks;
  number_backwards(t);
  memset(t->ipdom, 0xff, (n + 1) * sizeof *t->ipdom);
  t->ipdom[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t v = 1; v <= n; v++) {
      const hd_block *b = &w->g.blocks[t->by_order[v]];
      uint32_t dom = HD_NONE;
      for (uint32_t k = 0; k < b->n_succ; k++) {
        uint32_t to = w->g.edges[b->first_succ + k];
        uint32_t s = w->in[to] == w->stamp ? t->number[to] : 0;
        if (t->ipdom[s] == HD_NONE) continue;
        dom = dom == HD_NONE ? s : meet(t, dom, s);
      }
      w->steps += b->n_succ;
      changed |= t->ipdom[v] != dom;
      t->ipdom[v] = dom;
    }
  }
  /* Preorder of the tree, by sizes of subtrees. */
  uint32_t *size = t->last;
  for (uint32_t v = 0; v <= n; v++) size[v] = 1;
  for (uint32_t v = n; v; v--) size[t->ipdom[v]] += size[v];
  t->first[0] = 0;
  uint32_t *next = w->first;
  next[0] = 1;
  for (uint32_t v = 1; v <= n; v++) {
    t->first[v] = next[t->ipdom[v]];
    next[t->ipdom[v]] += size[v];
    next[v] = t->first[v] + 1;
  }
  for (uint32_t v = 0; v <= n; v++) t->last[v] = t->first[v] + size[v] - 1;
}

static bool post_dominates(const trace *t, uint32_t a, uint32_t b) {
  return t->first[a] <= t->first[b] && t->first[b] <= t->last[a];
}

/* ---- Tracing ----------------------------------------------------------------------------------- */

static void trace_inst(trace *t, uint32_t inst) {
  if (t->w->seen_inst[inst] == t->w->stamp) return;
  t->w->seen_inst[inst] = t->w->stamp;
  t->work[t->n_work++] = inst;
}

static void trace_reg(void *ctx, uint32_t reg) {
  trace *t = ctx;
  const wait_search *w = t->w;
  if (w->seen_reg[reg] == t->w->stamp) return;
  w->seen_reg[reg] = t->w->stamp;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++)
    if (wait_inside(w, w->writers.insts[i])) trace_inst(t, w->writers.insts[i]);
}

static void blame(trace *t, uint32_t inst) {
  if (t->bad == HD_NONE || inst < t->bad) t->bad = inst;
}

static void trace_block(trace *t, uint32_t block) {
  wait_search *w = t->w;
  if (w->seen_block[block] == t->w->stamp) return;
  w->seen_block[block] = t->w->stamp;
  uint32_t v = t->number[block];
  w->steps += w->n_blocks;
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    uint32_t c = w->blocks[i];
    const hd_block *b = &w->g.blocks[c];
    if (b->n_succ < 2 || (v != t->number[c] && post_dominates(t, v, t->number[c]))) continue;
    for (uint32_t k = 0; k < b->n_succ; k++) {
      uint32_t to = w->g.edges[b->first_succ + k];
      if (w->in[to] != w->stamp || !post_dominates(t, v, t->number[to])) continue;
      /* Exits' own conditions are looked at by trace_exit. */
      if (!wait_leaves(w, c)) hd_inst_reads(&w->g, b->first + b->n_insts - 1, trace_reg, t);
      trace_block(t, c);
      break;
    }
  }
}

/* ---- Memory ------------------------------------------------------------------------------------ */

/* Where an access leads: what a handle leads to has no name. */
static hd_sym root_of(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned space) {
  return space & (HD_IN_TEXTURE | HD_IN_SURFACE | HD_IN_TENSOR) ? 0 : wait_root(w, inst, o);
}

/* List the places that the region writes, and its calls that are not inlined. */
static void list_places(trace *t) {
  wait_search *w = t->w;
  uint32_t n = 0, calls = 0;
  for (unsigned pass = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < w->n_blocks; i++) {
      const hd_block *b = &w->g.blocks[w->blocks[i]];
      w->steps += b->n_insts;
      for (uint32_t k = b->first; k < b->first + b->n_insts; k++) {
        const hd_ptx_access *a = wait_access(w, k);
        if (wait_is_opaque(w, k) || (w->source[k] && hd_inst_form(&w->g, k)->flags & HD_OPF_CALLS)) {
          if (pass) t->calls[t->n_calls++] = k;
          calls++;
        }
        for (unsigned at = 0; at < a->n; at++) {
          const hd_ptx_touch *x = &a->touches[at];
          if (!(x->kinds & HD_ACC_WRITE) || x->operand >= hd_inst_stmt(&w->g, k)->n_opnds) continue;
          if (pass)
            t->places[t->n_places++] =
                (written_place){k, root_of(w, k, &wait_operands(w, k)[x->operand], x->space),
                                (uint16_t)x->space, x->kinds & HD_ACC_ATOMIC};
          n++;
        }
      }
    }
    if (pass) return;
    t->places = HD_NEW_N(w->arena, n + 1u, written_place);
    t->calls = HD_NEW_N(w->arena, calls + 1u, uint32_t);
  }
}

static void trace_store(trace *t, const written_place *p) {
  wait_search *w = t->w;
  uint32_t store = p->inst;
  /* A copy that updates a barrier as well brings what it read. */
  if (!p->atomic) {
    trace_inst(t, store);
    return;
  }
  /* The value that an atomic found matters only to readers of its result. */
  trace_block(t, w->g.insts[store].block);
  hd_inst_reads(&w->g, store, trace_reg, t);
}

/* Shared memory of the CTA has two names, and surfaces lie in global memory. */
static bool spaces_meet(unsigned a, unsigned b) {
  return a == b || a == HD_IN_GENERIC || b == HD_IN_GENERIC ||
         (a & HD_IN_ANY_SHARED && b & HD_IN_ANY_SHARED) || (a & HD_IN_ANY_GLOBAL && b & HD_IN_ANY_GLOBAL);
}

/* Follow the stores of the region to the place that `load` reads. Calls that are not inlined may store
 * anything. */
static void trace_stores(trace *t, uint32_t load, const hd_ptx_opnd *address, unsigned space) {
  wait_search *w = t->w;
  if (!t->places) list_places(t);
  const hd_sym root = root_of(w, load, address, space);
  w->steps += t->n_places;
  for (uint32_t i = 0; i < t->n_calls; i++) trace_inst(t, t->calls[i]);
  for (uint32_t i = 0; i < t->n_places; i++) {
    const written_place *p = &t->places[i];
    if (spaces_meet(space, p->space) && (!root || !p->root || root == p->root)) trace_store(t, p);
  }
}

/* Variables that pass values: every access of the variable, or of one that stands for it in a call, counts.
 */
static void trace_param(trace *t, hd_sym var);

static void trace_param_operand(trace *t, uint32_t inst, const hd_ptx_opnd *o) {
  if ((o->kind == HD_O_SYM || o->kind == HD_O_ADDR) && o->sym) {
    if (t->w->m->syms[o->sym].kind == HD_SYM_VAR) trace_param(t, o->sym);
    if (t->w->m->syms[o->sym].kind == HD_SYM_REG)
      trace_reg(t, hd_cfg_reg(&t->w->g, t->w->g.insts[inst].call, o->sym));
  } else if (o->kind == HD_O_REG) {
    trace_reg(t, hd_cfg_reg(&t->w->g, t->w->g.insts[inst].call, o->sym));
  }
}

/* Follow the actual variable of a call for the formal one `var`: an argument, or (results) the variable for a
 * result. */
static void trace_actual(trace *t, uint32_t inst, const hd_ptx_func *f, hd_sym var) {
  const hd_ptx_module *m = t->w->m;
  const hd_ptx_stmt *s = hd_inst_stmt(&t->w->g, inst);
  const hd_ptx_opnd *results = NULL, *arguments = NULL;
  bool named = false;
  for (uint32_t i = 0; i < s->n_opnds; i++) {
    const hd_ptx_opnd *o = &wait_operands(t->w, inst)[i];
    named |= o->kind == HD_O_SYM;
    if (o->kind == HD_O_LIST && !named) results = o;
    if (o->kind == HD_O_LIST && named && !arguments) arguments = o;
  }
  for (uint32_t i = 0; i < f->n_params && arguments && i < arguments->n_kids; i++)
    if (m->vars[f->first_param + i].sym == var) trace_param_operand(t, inst, &m->opnds[arguments->sym + i]);
  /* Backwards: the result's variable holds what the function stored in the formal one. */
  for (uint32_t i = 0; i < f->n_rets && results && i < results->n_kids; i++)
    if (m->opnds[results->sym + i].sym == var) trace_param(t, m->vars[f->first_ret + i].sym);
}

static void trace_param(trace *t, hd_sym var) {
  wait_search *w = t->w;
  uint32_t *seen = &w->seen_var[w->m->syms[var].decl];
  if (!var || *seen == w->stamp) return;
  *seen = w->stamp;
  for (uint32_t i = 0; i < w->n_blocks; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    w->steps += b->n_insts;
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++) {
      const hd_ptx_form *f = hd_inst_form(&w->g, k);
      const hd_ptx_opnd *o = wait_operands(w, k);
      if (f->op == HD_OP_ST && o[0].kind == HD_O_ADDR && o[0].sym == var) trace_inst(t, k);
      if (!(f->flags & HD_OPF_CALLS)) continue;
      if (w->g.insts[k].body)
        trace_actual(t, k, &w->m->funcs[w->g.calls[w->g.insts[k].body].func], var);
      else if (w->source[k] || wait_is_opaque(w, k))
        trace_inst(t, k);
    }
  }
}

/* ---- Instructions ------------------------------------------------------------------------------ */

/* A load that is made to see what others write finds something new when it looks at a place again. Where it
 * never does, it is a search, which a counter ends. */
static bool is_foreign(trace *t, uint32_t inst) {
  wait_search *w = t->w;
  switch ((wait_source)w->source[inst]) {
  case WAIT_OWN: return false;
  case WAIT_CTA:
    if (!w->any_fence) return false;
    break;
  case WAIT_WEAK:
    if (w->fence) break;
    if (wait_is_plain_load(w, inst)) {
      if (!wait_looks_elsewhere(w, inst)) t->doubtful[t->n_doubtful++] = inst;
      return false;
    }
    if (wait_looks_elsewhere_in_any_grid(w, inst)) return false;
    break;
  case WAIT_STRONG: break;
  }
  return !wait_looks_elsewhere(w, inst) || !wait_counts_out(w, w->g.insts[inst].block);
}

/* What a body that the graph does not hold brings is made of what it is given. */
static void trace_call(trace *t, uint32_t call) {
  for (uint32_t i = 0; i < hd_inst_stmt(&t->w->g, call)->n_opnds; i++) {
    const hd_ptx_opnd *o = &wait_operands(t->w, call)[i];
    for (uint32_t k = 0; k < o->n_kids && o->kind == HD_O_LIST; k++)
      trace_param_operand(t, call, &t->w->m->opnds[o->sym + k]);
  }
}

/* What may have written the carry that the instruction reads: the last before it in its block, or any of the
 * region. */
static void trace_carry(trace *t, uint32_t inst) {
  wait_search *w = t->w;
  const hd_block *own = &w->g.blocks[w->g.insts[inst].block];
  for (uint32_t k = inst; k > own->first; k--) {
    if (!(hd_inst_form(&w->g, k - 1)->flags & HD_OPF_WRITES_CARRY)) continue;
    trace_inst(t, k - 1);
    if (!hd_inst_stmt(&w->g, k - 1)->guard) return;
  }
  for (uint32_t i = 0; i < w->n_blocks && !t->carries_seen; i++) {
    const hd_block *b = &w->g.blocks[w->blocks[i]];
    w->steps += b->n_insts;
    for (uint32_t k = b->first; k < b->first + b->n_insts; k++)
      if (hd_inst_form(&w->g, k)->flags & HD_OPF_WRITES_CARRY) trace_inst(t, k);
  }
  t->carries_seen = true;
}

static void look_at(trace *t, uint32_t inst) {
  wait_search *w = t->w;
  const hd_ptx_access *a = wait_access(w, inst);
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  if (w->source[inst] && is_foreign(t, inst)) {
    blame(t, inst);
    return;
  }
  trace_block(t, w->g.insts[inst].block);
  hd_inst_reads(&w->g, inst, trace_reg, t);
  if (hd_inst_form(&w->g, inst)->flags & HD_OPF_READS_CARRY) trace_carry(t, inst);
  if (wait_is_opaque(w, inst)) trace_call(t, inst);
  for (unsigned k = 0; k < a->n; k++) {
    if (!(a->touches[k].kinds & HD_ACC_READ) || a->touches[k].operand >= s->n_opnds) continue;
    const hd_ptx_opnd *o = &wait_operands(w, inst)[a->touches[k].operand];
    unsigned space = a->touches[k].space;
    if (space == HD_IN_PARAM) {
      if (o->kind == HD_O_ADDR && o->sym && w->m->syms[o->sym].kind == HD_SYM_VAR) trace_param(t, o->sym);
    } else if (space & (HD_IN_ANY_SHARED | HD_IN_LOCAL | HD_IN_GENERIC)) {
      trace_stores(t, inst, o, space);
    } else if (space & HD_IN_ANY_GLOBAL && !t->stores_seen) {
      t->stores_seen = !root_of(w, inst, o, space); /* all of them */
      trace_stores(t, inst, o, space);
    }
  }
}

typedef struct step_reads {
  trace *t;
  uint32_t but;
} step_reads;

static void trace_other(void *ctx, uint32_t reg) {
  step_reads *x = ctx;
  if (reg != x->but) trace_reg(x->t, reg);
}

/* The condition of an exit. Where it comes true as the CTA fetches work, everything matters but the fetched
 * number itself: the decisions to fetch it and to pass it on, the lane that it is asked of, and the number
 * that it is compared with. */
static void trace_exit(trace *t, uint32_t block) {
  wait_search *w = t->w;
  const hd_block *b = &w->g.blocks[block];
  uint32_t reg;
  bool leaves;
  wait_fetched f;
  trace_block(t, block);
  if (wait_counts_to_plain_bound(w, block)) return;
  if (!wait_exit(w, block, &reg, &leaves) || !wait_fetch(w, block, reg, leaves, &f)) {
    hd_inst_reads(&w->g, b->first + b->n_insts - 1, trace_reg, t);
    return;
  }
  w->fetch_ends[block] = 1;
  w->any_fetches = true;
  for (uint32_t i = 0; i < f.n_steps; i++) {
    step_reads x = {t, f.steps[i].value};
    w->fetches[f.steps[i].inst] = w->n_blocks;
    trace_block(t, w->g.insts[f.steps[i].inst].block);
    hd_inst_reads(&w->g, f.steps[i].inst, trace_other, &x);
  }
  if (f.bound != HD_NONE) trace_reg(t, f.bound);
}

uint32_t wait_find(wait_search *w, uint32_t exit, uint32_t part, bool *doubtful) {
  size_t n = w->n_blocks;
  uint32_t *space = HD_NEW_N(w->arena, 4 * (n + 1), uint32_t);
  trace t = {.w = w,
             .work = w->work,
             .doubtful = w->doubtful,
             .number = w->number,
             .by_order = space,
             .ipdom = space + n + 1,
             .first = space + 2 * (n + 1),
             .last = space + 3 * (n + 1),
             .bad = HD_NONE};
  find_post_dominators(&t);
  if (part != HD_NONE) {
    trace_block(&t, exit);
    trace_inst(&t, part);
  }
  for (uint32_t i = 0; i < w->n_blocks && part == HD_NONE; i++)
    if (wait_leaves(w, w->blocks[i]) && (exit == HD_NONE || exit == w->blocks[i]))
      trace_exit(&t, w->blocks[i]);
  while (t.n_work && w->steps < WAIT_WALK) look_at(&t, t.work[--t.n_work]);
  *doubtful = t.bad == HD_NONE && t.n_doubtful;
  w->stays = false;
  for (uint32_t i = 0; i < t.n_doubtful && *doubtful; i++) {
    w->stays |= !wait_goes_through(w, t.doubtful[i]);
    blame(&t, t.doubtful[i]);
  }
  return t.bad;
}
