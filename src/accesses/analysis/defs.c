/* Which definition of a register reaches a use.
 *
 * PTX is not SSA, but most registers are written once: their definition is the answer where it dominates the
 * use. For the others phis are placed on the iterated dominance frontier of their definitions (Sreedhar and
 * Gao, "A linear time algorithm for placing phi-nodes", 1995), for each register when it is first needed:
 * most never are.
 *
 * A definition under a predicate counts as one; its value is a choice between the new and the old.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/internal.h"

/* ---- Definitions --------------------------------------------------------------------- */

typedef struct def_list {
  an *a;
  AN_VEC(an_def) v;
} def_list;

static void add_operand(def_list *l, uint32_t inst, const hd_ptx_opnd *o) {
  an *a = l->a;
  switch (o->kind) {
  case HD_O_REG:
    if (a->m->syms[o->sym].kind == HD_SYM_REG)
      AN_PUSH(&a->arena, &l->v, ((an_def){inst, an_reg(a, a->pub.cfg.insts[inst].call, o->sym)}));
    break;
  case HD_O_VEC:
  case HD_O_PAIR:
  case HD_O_LIST:
    for (uint32_t k = 0; k < o->n_kids; k++) add_operand(l, inst, &a->m->opnds[o->sym + k]);
    break;
  default: break;
  }
}

/* A store into a variable that passes values defines the slots it covers exactly. */
static void add_param_store(def_list *l, uint32_t inst, const hd_ptx_stmt *st, const hd_ptx_form *f) {
  an *a = l->a;
  const hd_ptx_opnd *o = &a->m->opnds[st->first_opnd], *from = o + 1;
  hd_ptx_access access = hd_ptx_access_of(f);
  if (!hd_ptx_access_in(&access, HD_IN_PARAM)) return;
  if (o->kind != HD_O_ADDR || !o->sym || a->m->syms[o->sym].kind != HD_SYM_VAR) return;
  uint32_t lanes = from->kind == HD_O_VEC ? from->n_kids : 1, bytes = access.bytes / access.elements;
  for (uint32_t k = 0; k < lanes; k++) {
    uint32_t slot = an_slot_of(a, a->pub.cfg.insts[inst].call, o->sym, (uint64_t)o->imm + (uint64_t)k * bytes,
                               bytes, false);
    if (slot != HD_NONE) AN_PUSH(&a->arena, &l->v, ((an_def){inst, slot}));
  }
}

/* A call that is not inlined writes its results: registers, or every slot of its variables. */
static void add_call_results(def_list *l, uint32_t inst, const hd_ptx_stmt *st) {
  an *a = l->a;
  const hd_ptx_opnd *o = &a->m->opnds[st->first_opnd];
  if (!st->n_opnds || o->kind != HD_O_LIST) return;
  for (uint32_t k = 0; k < o->n_kids; k++) {
    const hd_ptx_opnd *r = &a->m->opnds[o->sym + k];
    if (r->kind == HD_O_REG) add_operand(l, inst, r);
    if (r->kind != HD_O_SYM) continue;
    for (uint32_t s = 0; s < a->slots.list.n; s++)
      if (a->slots.list.data[s].call == a->pub.cfg.insts[inst].call && a->slots.list.data[s].var == r->sym)
        AN_PUSH(&a->arena, &l->v, ((an_def){inst, a->pub.cfg.n_regs + s}));
  }
}

void an_defs(an *a) {
  uint32_t n = a->pub.cfg.n_insts, n_regs = a->pub.cfg.n_regs + (uint32_t)a->slots.list.n;
  def_list l = {.a = a};
  a->ssa.inst_def = HD_NEW_N(&a->arena, (size_t)n + 1, uint32_t);
  for (uint32_t i = 0; i < n; i++) {
    const hd_ptx_stmt *st = an_stmt(a, i);
    const hd_ptx_form *f = an_form(a, i);
    a->ssa.inst_def[i] = (uint32_t)l.v.n;
    if (f->op == HD_OP_ST)
      add_param_store(&l, i, st, f);
    else if (f->flags & HD_OPF_CALLS && !an_is_inlined(a, i))
      add_call_results(&l, i, st);
    else if (st->n_opnds && f->flags & HD_OPF_RESULT)
      add_operand(&l, i, &a->m->opnds[st->first_opnd]);
  }
  a->ssa.inst_def[n] = a->ssa.n_defs = (uint32_t)l.v.n;
  a->ssa.defs = HD_NEW_N(&a->arena, l.v.n + 1, an_def);
  if (l.v.n) memcpy(a->ssa.defs, l.v.data, l.v.n * sizeof *a->ssa.defs);
  a->ssa.reg_first = HD_NEW_N(&a->arena, (size_t)n_regs + 2, uint32_t);
  a->ssa.reg_list = HD_NEW_N(&a->arena, (size_t)a->ssa.n_defs + 1, uint32_t);
  a->ssa.reg_defs = HD_NEW_N(&a->arena, (size_t)n_regs + 1, an_reg_defs *);
  for (uint32_t d = 0; d < a->ssa.n_defs; d++) a->ssa.reg_first[a->ssa.defs[d].reg + 2]++;
  for (uint32_t r = 2; r <= n_regs + 1; r++) a->ssa.reg_first[r] += a->ssa.reg_first[r - 1];
  for (uint32_t d = 0; d < a->ssa.n_defs; d++)
    a->ssa.reg_list[a->ssa.reg_first[a->ssa.defs[d].reg + 1]++] = d;

  const hd_cfg *g = &a->pub.cfg;
  a->ssa.mark = HD_NEW_N(&a->arena, g->n_blocks, uint32_t);
  uint32_t **scratch[] = {&a->ssa.dom_order, &a->ssa.dom_level, &a->ssa.heap, &a->ssa.found, &a->ssa.pres};
  for (size_t k = 0; k < sizeof scratch / sizeof *scratch; k++)
    *scratch[k] = HD_NEW_N(&a->arena, g->n_blocks, uint32_t);
  for (uint32_t b = 0; b < g->n_blocks; b++)
    if (g->blocks[b].rpo != HD_NONE) a->ssa.dom_order[g->blocks[b].dom_pre] = b;
  for (uint32_t pre = 1; pre < g->n_blocks; pre++) {
    uint32_t b = a->ssa.dom_order[pre];
    if (g->blocks[b].rpo != HD_NONE && b) a->ssa.dom_level[b] = a->ssa.dom_level[g->blocks[b].idom] + 1;
  }
}

/* ---- Phis -------------------------------------------------------------------------------- */

/* Blocks waiting for their dominator subtree to be searched, the deepest first. */
typedef struct queue {
  an *a;
  uint32_t *heap;
  uint32_t n;
} queue;

static bool deeper(const queue *q, uint32_t x, uint32_t y) {
  return q->a->ssa.dom_level[q->heap[x]] > q->a->ssa.dom_level[q->heap[y]];
}
static void swap_entries(queue *q, uint32_t x, uint32_t y) {
  uint32_t t = q->heap[x];
  q->heap[x] = q->heap[y];
  q->heap[y] = t;
}
static void queue_add(queue *q, uint32_t block) {
  uint32_t i = q->n++;
  q->heap[i] = block;
  for (; i && deeper(q, i, (i - 1) / 2); i = (i - 1) / 2) swap_entries(q, i, (i - 1) / 2);
}
static uint32_t queue_take(queue *q) {
  uint32_t top = q->heap[0];
  q->heap[0] = q->heap[--q->n];
  for (uint32_t i = 0, k; (k = 2 * i + 1) < q->n; i = k) {
    if (k + 1 < q->n && deeper(q, k + 1, k)) k++;
    if (!deeper(q, k, i)) break;
    swap_entries(q, i, k);
  }
  return top;
}

/* Marks of one register's search: a->ssa.mark[block] - a->ssa.mark_stamp. */
enum { SEARCHED = 1, NEEDS_PHI = 2, DEFINES = 4, MARK_STEP = 8 };

static unsigned mark_of(const an *a, uint32_t block) {
  return a->ssa.mark[block] >= a->ssa.mark_stamp ? a->ssa.mark[block] - a->ssa.mark_stamp : 0;
}
static void set_mark(an *a, uint32_t block, unsigned bit) {
  a->ssa.mark[block] = a->ssa.mark_stamp + (mark_of(a, block) | bit);
}

/* Joins that the subtree under `root` leads to and that are no deeper than it. */
static void search_subtree(an *a, queue *q, uint32_t root, uint32_t *found, uint32_t *n_found) {
  const hd_cfg *g = &a->pub.cfg;
  uint32_t pre = g->blocks[root].dom_pre;
  while (pre <= g->blocks[root].dom_last) {
    uint32_t b = a->ssa.dom_order[pre];
    const hd_block *block = &g->blocks[b];
    if (mark_of(a, b) & SEARCHED) { /* with its whole subtree */
      pre = block->dom_last + 1;
      continue;
    }
    set_mark(a, b, SEARCHED);
    pre++;
    for (uint32_t k = 0; k < block->n_succ; k++) {
      uint32_t to = g->edges[block->first_succ + k];
      if (g->blocks[to].idom == b || a->ssa.dom_level[to] > a->ssa.dom_level[root] || to == g->n_blocks - 1)
        continue;
      unsigned marks = mark_of(a, to);
      if (marks & NEEDS_PHI) continue;
      set_mark(a, to, NEEDS_PHI);
      found[(*n_found)++] = to;
      if (!(marks & DEFINES)) queue_add(q, to);
    }
  }
}

static int by_number(const void *pa, const void *pb) {
  const uint32_t *x = pa, *y = pb;
  return (*x > *y) - (*x < *y);
}

static uint32_t def_block(const an *a, uint32_t d) { return a->pub.cfg.insts[a->ssa.defs[d].inst].block; }

static an_value new_phi(an *a, uint32_t reg, uint32_t block) {
  uint32_t n = a->pub.cfg.blocks[block].n_pred;
  an_phi phi = {reg, block, NULL};
  phi.args = hd_arena_alloc(&a->arena, (n ? n : 1) * sizeof *phi.args, sizeof(an_value));
  phi.args[0] = AN_UNRESOLVED;
  AN_PUSH(&a->arena, &a->ssa.phis, phi);
  AN_PUSH(&a->arena, &a->eval.vals, ((an_val){0}));
  AN_PUSH(&a->arena, &a->eval.states, AN_WAITING);
  return an_first_phi(a) + (uint32_t)a->ssa.phis.n - 1;
}

/* All blocks in which the register gets a new value, in preorder of the dominator tree. */
static void place_phis(an *a, uint32_t reg) {
  const hd_cfg *g = &a->pub.cfg;
  const uint32_t *list = a->ssa.reg_list + a->ssa.reg_first[reg];
  uint32_t n = a->ssa.reg_first[reg + 1] - a->ssa.reg_first[reg], n_found = 0, n_pre = 0;
  uint32_t *found = a->ssa.found, *pres = a->ssa.pres;
  queue q = {a, a->ssa.heap, 0};
  a->ssa.mark_stamp += MARK_STEP;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t b = def_block(a, list[i]);
    if (g->blocks[b].rpo == HD_NONE || mark_of(a, b) & DEFINES) continue;
    set_mark(a, b, DEFINES);
    queue_add(&q, b);
    pres[n_pre++] = g->blocks[b].dom_pre;
  }
  while (q.n) search_subtree(a, &q, queue_take(&q), found, &n_found);
  for (uint32_t i = 0; i < n_found; i++)
    if (!(mark_of(a, found[i]) & DEFINES)) pres[n_pre++] = g->blocks[found[i]].dom_pre;
  qsort(pres, n_pre, sizeof *pres, by_number);

  an_reg_defs *r = HD_NEW(&a->arena, an_reg_defs);
  r->blocks = HD_NEW_N(&a->arena, (size_t)n_pre + 1, an_def_block);
  r->n_blocks = n_pre;
  uint32_t open = HD_NONE;
  for (uint32_t i = 0; i < n_pre; i++) {
    uint32_t b = a->ssa.dom_order[pres[i]];
    while (open != HD_NONE && g->blocks[r->blocks[open].block].dom_last < pres[i])
      open = r->blocks[open].parent;
    r->blocks[i] = (an_def_block){.block = b, .parent = open, .phi = HD_NONE};
    if (mark_of(a, b) & NEEDS_PHI) r->blocks[i].phi = new_phi(a, reg, b);
    open = i;
  }
  /* Definitions in program order are sorted by block. */
  for (uint32_t i = 0; i < n;) {
    uint32_t b = def_block(a, list[i]), end = i;
    while (end < n && def_block(a, list[end]) == b) end++;
    if (g->blocks[b].rpo != HD_NONE) {
      uint32_t lo = 0, hi = n_pre;
      while (hi - lo > 1) {
        uint32_t mid = (lo + hi) / 2;
        if (g->blocks[r->blocks[mid].block].dom_pre <= g->blocks[b].dom_pre)
          lo = mid;
        else
          hi = mid;
      }
      r->blocks[lo].first = i;
      r->blocks[lo].n = end - i;
    }
    i = end;
  }
  a->ssa.reg_defs[reg] = r;
}

/* ---- Questions ---------------------------------------------------------------------------------- */

/* The last of these blocks, in preorder, that dominates `block` (itself counted if `self`). */
static uint32_t nearest(const an *a, const an_reg_defs *r, uint32_t block, bool self) {
  const hd_cfg *g = &a->pub.cfg;
  uint32_t pre = g->blocks[block].dom_pre, lo = 0, hi = r->n_blocks;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2, at = g->blocks[r->blocks[mid].block].dom_pre;
    if (self ? at <= pre : at < pre)
      lo = mid + 1;
    else
      hi = mid;
  }
  uint32_t i = lo ? lo - 1 : HD_NONE;
  while (i != HD_NONE && g->blocks[r->blocks[i].block].dom_last < pre) i = r->blocks[i].parent;
  return i;
}

static an_value value_at_end(const an *a, uint32_t reg, const an_def_block *b) {
  return b->n ? a->ssa.reg_list[a->ssa.reg_first[reg] + b->first + b->n - 1] : b->phi;
}

static const an_reg_defs *defs_of(an *a, uint32_t reg) {
  if (!a->ssa.reg_defs[reg]) place_phis(a, reg);
  return a->ssa.reg_defs[reg];
}

/* The only definition of the register, if it dominates what follows `inst` of `block`. */
static bool only_def(const an *a, uint32_t reg, uint32_t inst, uint32_t block, an_value *out) {
  uint32_t n = a->ssa.reg_first[reg + 1] - a->ssa.reg_first[reg];
  *out = HD_NONE;
  if (n == 0) return true;
  if (n > 1) return false;
  uint32_t d = a->ssa.reg_list[a->ssa.reg_first[reg]], b = def_block(a, d);
  *out = d;
  return b == block ? a->ssa.defs[d].inst < inst : hd_dominates(&a->pub.cfg, b, block);
}

an_value an_reaching_in(an *a, uint32_t reg, uint32_t block) {
  an_value only;
  if (only_def(a, reg, a->pub.cfg.blocks[block].first, block, &only)) return only;
  const an_reg_defs *r = defs_of(a, reg);
  uint32_t i = nearest(a, r, block, true);
  if (i == HD_NONE) return HD_NONE;
  if (r->blocks[i].block != block) return value_at_end(a, reg, &r->blocks[i]);
  if (r->blocks[i].phi != HD_NONE) return r->blocks[i].phi;
  i = nearest(a, r, block, false);
  return i == HD_NONE ? HD_NONE : value_at_end(a, reg, &r->blocks[i]);
}

an_value an_reaching_out(an *a, uint32_t reg, uint32_t block) {
  an_value only;
  const hd_block *b = &a->pub.cfg.blocks[block];
  if (only_def(a, reg, b->first + b->n_insts, block, &only)) return only;
  const an_reg_defs *r = defs_of(a, reg);
  uint32_t i = nearest(a, r, block, true);
  return i == HD_NONE ? HD_NONE : value_at_end(a, reg, &r->blocks[i]);
}

an_value an_reaching(an *a, uint32_t reg, uint32_t inst) {
  an_value only;
  uint32_t block = a->pub.cfg.insts[inst].block;
  if (only_def(a, reg, inst, block, &only)) return only;
  const an_reg_defs *r = defs_of(a, reg);
  uint32_t i = nearest(a, r, block, true);
  if (i != HD_NONE && r->blocks[i].block == block) {
    const uint32_t *list = a->ssa.reg_list + a->ssa.reg_first[reg] + r->blocks[i].first;
    for (uint32_t k = r->blocks[i].n; k-- > 0;)
      if (a->ssa.defs[list[k]].inst < inst) return list[k];
  }
  return an_reaching_in(a, reg, block);
}

const an_value *an_phi_args(an *a, an_value v) {
  an_phi *phi = &a->ssa.phis.data[v - an_first_phi(a)];
  if (phi->args[0] == AN_UNRESOLVED) {
    const hd_block *b = &a->pub.cfg.blocks[phi->block];
    an_value *args = phi->args;
    uint32_t reg = phi->reg;
    for (uint32_t k = 0; k < b->n_pred; k++) {
      uint32_t from = a->pub.cfg.edges[b->first_pred + k];
      args[k] = a->pub.cfg.blocks[from].rpo == HD_NONE ? HD_NONE : an_reaching_out(a, reg, from);
    }
    return args;
  }
  return phi->args;
}

uint32_t an_value_block(const an *a, an_value v) {
  return an_is_phi(a, v) ? a->ssa.phis.data[v - an_first_phi(a)].block : def_block(a, v);
}
