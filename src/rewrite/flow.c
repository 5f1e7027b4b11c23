/* Control flow of a kernel's body: which statements all threads of a CTA (of a warp) run alike, and which
 * registers are read before they are written.
 *
 * Requires nothing of the kernel; what is not understood counts as different for each thread.
 *
 * A level says how far a value, or whether a statement runs, is the same: in the whole CTA, in each warp, or
 * nowhere. A register's level is the highest of what is computed into it, of the guards, and of the blocks
 * that do so; a block's level is that of the branches that it is control-dependent on, and of theirs. */
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_internal.h"

typedef enum level { SAME_IN_CTA = 0, SAME_IN_WARP, DIFFERENT } level;

/* What a register's lowest five bits tell about the lane, where whole warps lie along x: then %tid.x and
 * %ctaid.x * %ntid.x + %tid.x are 32*k + lane with one k in each warp, and comparing or dividing such a value
 * at a multiple of 32 has one result in each warp. */
typedef enum shape {
  NOT_WRITTEN = 0, /* by what was looked at so far */
  MULTIPLE,        /* of 32, one in each warp */
  LANE,            /* a MULTIPLE plus the lane */
  ANY_SHAPE,
} shape;

enum {
  MOST_LIVE_BYTES = 1 << 26, /* above, liveness is not worth its memory */
  MOST_STEPS = 1 << 26, /* along post-dominators: beyond, every block counts as different for each thread */
};

typedef struct block {
  uint32_t begin, end;         /* statements */
  uint32_t first_succ, n_succ; /* in edges; the last block is the exit */
  uint32_t idom;               /* nearest post-dominator */
  uint32_t order;              /* in reverse post-order from the exit; UINT32_MAX: not reached */
  uint8_t level;
  bool endless; /* no way leads from here to the exit: counts as if one did */
} block;

struct rewrite_flow {
  const hd_ptx_module *m;
  const hd_ptx_func *f;
  uint32_t block_dims[3];
  block *blocks;
  uint32_t n_blocks; /* the exit included */
  HD_VEC(uint32_t) edges;
  uint32_t *block_of; /* by statement */
  uint8_t *levels;    /* by register */
  uint8_t *shapes;    /* by register */
  uint64_t steps;     /* taken so far; see MOST_STEPS */
  HD_VEC(hd_sym) live;
};

static uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* ---- Statements ------------------------------------------------------------------------ */

static const hd_ptx_form *form_of(const rewrite_flow *w, const hd_ptx_stmt *s) {
  return s->kind == HD_S_INST ? &w->m->forms[s->form] : NULL;
}

static bool ends_thread(hd_ptx_op op) { return op == HD_OP_RET || op == HD_OP_EXIT || op == HD_OP_TRAP; }
static bool jumps(hd_ptx_op op) { return op == HD_OP_BRA || op == HD_OP_BRX || ends_thread(op); }

typedef void visit_fn(rewrite_flow *w, hd_sym reg, void *ctx);

/* All registers under operands first .. first + n - 1. */
static void each_register(rewrite_flow *w, uint32_t first, uint32_t n, visit_fn *visit, void *ctx) {
  for (uint32_t i = first; i < first + n; i++) {
    const hd_ptx_opnd *o = &w->m->opnds[i];
    switch (o->kind) {
    case HD_O_REG:
    case HD_O_ADDR:
      if (o->sym && w->m->syms[o->sym].kind == HD_SYM_REG) visit(w, o->sym, ctx);
      break;
    case HD_O_VEC:
    case HD_O_LIST:
    case HD_O_BRACKET:
    case HD_O_PAIR:
    case HD_O_INDEX: each_register(w, o->sym, o->n_kids, visit, ctx); break;
    default: break;
    }
  }
}

static void each_written(rewrite_flow *w, const hd_ptx_stmt *s, visit_fn *visit, void *ctx) {
  if (s->kind != HD_S_INST || !s->n_opnds) return;
  const hd_ptx_form *f = form_of(w, s);
  const hd_ptx_opnd *o = &w->m->opnds[s->first_opnd];
  /* A call's results stand in a list, which is the first operand where there is one. */
  if (f->op == HD_OP_CALL ? o->kind == HD_O_LIST : hd_ptx_form_writes(f) && o->kind != HD_O_ADDR)
    each_register(w, s->first_opnd, 1, visit, ctx);
}

static void each_read(rewrite_flow *w, const hd_ptx_stmt *s, visit_fn *visit, void *ctx) {
  if (s->kind != HD_S_INST) return;
  if (s->guard) visit(w, s->guard, ctx);
  const hd_ptx_form *f = form_of(w, s);
  /* wgmma adds to what it writes; so may what is not known. */
  bool all = !hd_ptx_form_writes(f) || f->op == HD_OP_WGMMA || f->op == HD_OP_UNKNOWN;
  uint32_t skip = all || !s->n_opnds || w->m->opnds[s->first_opnd].kind == HD_O_ADDR ? 0 : 1;
  each_register(w, s->first_opnd + skip, s->n_opnds - skip, visit, ctx);
}

/* ---- Blocks -------------------------------------------------------------------------------- */

static bool starts_block(const rewrite_flow *w, uint32_t i) {
  const hd_ptx_stmt *s = &w->f->stmts[i];
  if (i == 0 || s->kind == HD_S_LABEL) return true;
  const hd_ptx_form *before = form_of(w, &s[-1]);
  return before && jumps(before->op);
}

static bool add_edge(rewrite_flow *w, block *b, uint32_t to) {
  for (uint32_t k = b->first_succ; k < b->first_succ + b->n_succ; k++)
    if (w->edges.data[k] == to) return true;
  b->n_succ++;
  return hd_vec_push(&w->edges, to);
}

static bool add_target(rewrite_flow *w, block *b, const hd_ptx_opnd *o) {
  const hd_ptx_sym *y = &w->m->syms[o->sym];
  if (o->kind != HD_O_SYM || y->kind != HD_SYM_LABEL || y->index >= w->f->n_stmts) return true;
  return add_edge(w, b, w->block_of[y->index]);
}

/* Targets of a branch: labels among its operands, or those of the list that brx.idx names. */
static bool add_targets(rewrite_flow *w, block *b, const hd_ptx_stmt *s) {
  bool ok = true;
  for (uint32_t k = 0; ok && k < s->n_opnds; k++) {
    const hd_ptx_opnd *o = &w->m->opnds[s->first_opnd + k];
    if (o->kind != HD_O_SYM) continue;
    const hd_ptx_sym *y = &w->m->syms[o->sym];
    if (y->kind != HD_SYM_TARGETS) {
      ok = add_target(w, b, o);
      continue;
    }
    const hd_ptx_stmt *list = &w->f->stmts[y->index];
    for (uint32_t t = 0; ok && t < list->n_opnds; t++)
      ok = add_target(w, b, &w->m->opnds[list->first_opnd + t]);
  }
  return ok;
}

static bool make_blocks(rewrite_flow *w) {
  uint32_t n = w->f->n_stmts, exit;
  w->block_of = calloc((size_t)n + 1, sizeof *w->block_of);
  w->blocks = calloc((size_t)n + 2, sizeof *w->blocks);
  if (!w->block_of || !w->blocks) return false;
  for (uint32_t i = 0; i < n; i++) {
    if (starts_block(w, i)) w->blocks[w->n_blocks++].begin = i;
    w->blocks[w->n_blocks - 1].end = i + 1;
    w->block_of[i] = w->n_blocks - 1;
  }
  exit = w->n_blocks++;
  w->blocks[exit].begin = w->blocks[exit].end = n;
  for (uint32_t i = 0; i < exit; i++) {
    block *b = &w->blocks[i];
    b->first_succ = (uint32_t)w->edges.n;
    const hd_ptx_stmt *last = &w->f->stmts[b->end - 1];
    const hd_ptx_form *f = form_of(w, last);
    bool ok = true;
    if (f && ends_thread(f->op)) ok = add_edge(w, b, exit);
    if (f && (f->op == HD_OP_BRA || f->op == HD_OP_BRX)) ok = add_targets(w, b, last);
    if (ok && (!f || !jumps(f->op) || last->guard)) ok = add_edge(w, b, i + 1);
    if (!ok) return false;
  }
  return true;
}

/* ---- Post-dominators ------------------------------------------------------------------------ */

/* The blocks in post-order over the edges backwards, from the exit. Of endless loops, one block is taken to
 * be able to leave. */
static bool order_backwards(rewrite_flow *w, uint32_t *order, uint32_t *n_order) {
  uint32_t n = w->n_blocks, top = 0;
  uint32_t *first = calloc((size_t)n + 1, sizeof *first), *preds = calloc(w->edges.n + 1, sizeof *preds);
  uint32_t *stack = calloc((size_t)n + 1, sizeof *stack), *at = calloc((size_t)n + 1, sizeof *at);
  bool ok = first && preds && stack && at;
  if (ok) {
    for (size_t k = 0; k < w->edges.n; k++) first[w->edges.data[k] + 1]++;
    for (uint32_t i = 0; i < n; i++) first[i + 1] += first[i];
    memcpy(at, first, n * sizeof *at);
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t k = 0; k < w->blocks[i].n_succ; k++)
        preds[at[w->edges.data[w->blocks[i].first_succ + k]]++] = i;
    memcpy(at, first, n * sizeof *at);
    for (uint32_t i = 0; i < n; i++) w->blocks[i].order = UINT32_MAX;
    uint32_t post = 0;
    for (uint32_t root = n; root-- > 0;) { /* the exit first, then what never reaches it */
      if (w->blocks[root].order != UINT32_MAX) continue;
      stack[top++] = root;
      w->blocks[root].order = 0;
      w->blocks[root].endless = root + 1 < n;
      while (top) {
        uint32_t b = stack[top - 1];
        if (at[b] < first[b + 1]) {
          uint32_t p = preds[at[b]++];
          if (w->blocks[p].order != UINT32_MAX) continue;
          w->blocks[p].order = 0;
          stack[top++] = p;
        } else {
          order[post++] = b;
          top--;
        }
      }
    }
    for (uint32_t i = 0; i < post; i++) w->blocks[order[i]].order = post - 1 - i;
    *n_order = post;
  }
  free(first);
  free(preds);
  free(stack);
  free(at);
  return ok;
}

static uint32_t meet(const rewrite_flow *w, uint32_t a, uint32_t b) {
  while (a != b) {
    while (w->blocks[a].order > w->blocks[b].order) a = w->blocks[a].idom;
    while (w->blocks[b].order > w->blocks[a].order) b = w->blocks[b].idom;
  }
  return a;
}

/* Cooper, Harvey and Kennedy's iteration. */
static bool find_post_dominators(rewrite_flow *w) {
  uint32_t n_order = 0, exit = w->n_blocks - 1;
  uint32_t *order = calloc(w->n_blocks, sizeof *order);
  if (!order || !order_backwards(w, order, &n_order)) {
    free(order);
    return false;
  }
  /* The roots of endless loops were visited after the exit and would come before it in the order. */
  w->blocks[exit].order = 0;
  for (uint32_t i = n_order, at = 1; i-- > 0;)
    if (order[i] != exit) w->blocks[order[i]].order = at++;
  for (uint32_t i = 0; i < w->n_blocks; i++) w->blocks[i].idom = UINT32_MAX;
  w->blocks[exit].idom = exit;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = n_order; i-- > 0;) {
      block *b = &w->blocks[order[i]];
      if (order[i] == exit) continue;
      uint32_t dom = b->endless ? exit : UINT32_MAX;
      for (uint32_t k = 0; k < b->n_succ; k++) {
        uint32_t s = w->edges.data[b->first_succ + k];
        if (w->blocks[s].idom == UINT32_MAX) continue;
        dom = dom == UINT32_MAX ? s : meet(w, dom, s);
      }
      if (dom == UINT32_MAX) dom = exit;
      changed |= b->idom != dom;
      b->idom = dom;
    }
  }
  free(order);
  return true;
}

/* ---- Levels ------------------------------------------------------------------------------------ */

static bool one_dimensional(const rewrite_flow *w) {
  return w->block_dims[0] && w->block_dims[1] == 1 && w->block_dims[2] == 1;
}
/* Whole warps along x: then %tid.y and %tid.z are the same in a warp. */
static bool whole_warps(const rewrite_flow *w) { return w->block_dims[0] && w->block_dims[0] % 32 == 0; }

static level sreg_level(const rewrite_flow *w, const hd_ptx_opnd *o) {
  switch (w->m->syms[o->sym].index) {
  case HD_SR_CTAID:
  case HD_SR_NCTAID:
  case HD_SR_NTID: return SAME_IN_CTA;
  case HD_SR_TID:
    if (o->part == HD_M_X) return DIFFERENT;
    return one_dimensional(w) ? SAME_IN_CTA : whole_warps(w) ? SAME_IN_WARP : DIFFERENT;
  default: return DIFFERENT;
  }
}

typedef struct read_level {
  level level;
  bool changed; /* by raise_register */
} read_level;

static void add_level(rewrite_flow *w, hd_sym reg, void *ctx) {
  read_level *r = ctx;
  r->level = (level)max_u32(r->level, w->levels[w->m->syms[reg].index]);
}

static level operand_levels(rewrite_flow *w, uint32_t first, uint32_t n) {
  read_level r = {.level = SAME_IN_CTA};
  each_register(w, first, n, add_level, &r);
  for (uint32_t i = first; i < first + n; i++)
    if (w->m->opnds[i].kind == HD_O_SREG) r.level = (level)max_u32(r.level, sreg_level(w, &w->m->opnds[i]));
  return r.level;
}

static bool is_kernel_param(const rewrite_flow *w, const hd_ptx_opnd *o) {
  if (o->kind != HD_O_ADDR || !o->sym || w->m->syms[o->sym].kind != HD_SYM_VAR) return false;
  uint32_t var = w->m->syms[o->sym].decl;
  return var >= w->f->first_param && var < w->f->first_param + w->f->n_params;
}

static level operand_level(rewrite_flow *w, const hd_ptx_opnd *o) {
  return operand_levels(w, (uint32_t)(o - w->m->opnds), 1);
}

static shape operand_shape(const rewrite_flow *w, const hd_ptx_opnd *o) {
  bool lanes_along_x = one_dimensional(w) || whole_warps(w);
  switch (o->kind) {
  case HD_O_INT: return o->imm % 32 == 0 ? MULTIPLE : ANY_SHAPE;
  case HD_O_REG:
    return o->flags & HD_OF_NEG || o->part ? ANY_SHAPE : (shape)w->shapes[w->m->syms[o->sym].index];
  case HD_O_SREG:
    if (o->part != HD_M_X) return ANY_SHAPE;
    if (w->m->syms[o->sym].index == HD_SR_TID && lanes_along_x) return LANE;
    return w->m->syms[o->sym].index == HD_SR_NTID && whole_warps(w) ? MULTIPLE : ANY_SHAPE;
  default: return ANY_SHAPE;
  }
}

static shape sum_shape(shape a, shape b) {
  if (a == NOT_WRITTEN || b == NOT_WRITTEN) return NOT_WRITTEN;
  if (a == MULTIPLE && b == MULTIPLE) return MULTIPLE;
  return (a == LANE && b == MULTIPLE) || (a == MULTIPLE && b == LANE) ? LANE : ANY_SHAPE;
}

static shape product_shape(rewrite_flow *w, const hd_ptx_opnd *a, const hd_ptx_opnd *b) {
  shape x = operand_shape(w, a), y = operand_shape(w, b);
  if (x == NOT_WRITTEN || y == NOT_WRITTEN) return NOT_WRITTEN;
  if (x == MULTIPLE && operand_level(w, b) < DIFFERENT) return MULTIPLE;
  return y == MULTIPLE && operand_level(w, a) < DIFFERENT ? MULTIPLE : ANY_SHAPE;
}

static bool is_narrow_or_float(const hd_ptx_form *f) {
  for (unsigned k = 0; k < f->n_mods; k++) switch (f->mods[k]) {
    case HD_M_U8:
    case HD_M_S8:
    case HD_M_B8:
    case HD_M_F16:
    case HD_M_BF16:
    case HD_M_F32:
    case HD_M_F64:
    case HD_M_HI: return true;
    default: break;
    }
  return false;
}

static shape result_shape(rewrite_flow *w, const hd_ptx_stmt *s) {
  const hd_ptx_form *f = form_of(w, s);
  const hd_ptx_opnd *o = &w->m->opnds[s->first_opnd];
  if (is_narrow_or_float(f)) return ANY_SHAPE;
  switch (f->op) {
  case HD_OP_MOV:
  case HD_OP_CVT: return s->n_opnds == 2 ? operand_shape(w, &o[1]) : ANY_SHAPE;
  case HD_OP_ADD: return sum_shape(operand_shape(w, &o[1]), operand_shape(w, &o[2]));
  case HD_OP_MUL: return product_shape(w, &o[1], &o[2]);
  case HD_OP_MAD: return sum_shape(product_shape(w, &o[1], &o[2]), operand_shape(w, &o[3]));
  case HD_OP_SHL:
    return o[2].kind == HD_O_INT && o[2].imm >= 5 && operand_level(w, &o[1]) < DIFFERENT ? MULTIPLE
                                                                                         : ANY_SHAPE;
  default: return ANY_SHAPE;
  }
}

/* A comparison or a division that has one result in all of a warp, because it cuts between warps. */
static bool cuts_between_warps(rewrite_flow *w, const hd_ptx_stmt *s, const hd_ptx_form *f) {
  const hd_ptx_opnd *o = &w->m->opnds[s->first_opnd];
  if (s->n_opnds != 3 || is_narrow_or_float(f)) return false;
  shape a = operand_shape(w, &o[1]), b = operand_shape(w, &o[2]);
  if (a == NOT_WRITTEN || b == NOT_WRITTEN) return true; /* for now */
  if (a != LANE) return false;
  bool number = o[2].kind == HD_O_INT && o[2].imm >= 0;
  switch (f->op) {
  case HD_OP_SHR: return number && o[2].imm >= 5;
  case HD_OP_DIV: return number && o[2].imm && b == MULTIPLE;
  case HD_OP_AND: return number && b == MULTIPLE;
  case HD_OP_SETP:
    if (hd_ptx_form_has(f, HD_M_LT) || hd_ptx_form_has(f, HD_M_GE)) return b == MULTIPLE;
    if (hd_ptx_form_has(f, HD_M_GT) || hd_ptx_form_has(f, HD_M_LE)) return number && o[2].imm % 32 == 31;
    return false;
  default: return false;
  }
}

/* What an instruction computes, its guard and its block left aside. */
static level result_level(rewrite_flow *w, const hd_ptx_stmt *s) {
  const hd_ptx_form *f = form_of(w, s);
  const hd_ptx_opnd *o = &w->m->opnds[s->first_opnd];
  if (!s->n_opnds) return SAME_IN_CTA;
  level sources = operand_levels(w, s->first_opnd + 1, s->n_opnds - 1u);
  switch (f->op) {
  case HD_OP_LD:
    if (hd_ptx_form_has(f, HD_M_PARAM) && !is_kernel_param(w, &o[1])) return DIFFERENT;
    /* What the kernel cannot write. */
    if (hd_ptx_form_has(f, HD_M_PARAM) || hd_ptx_form_has(f, HD_M_CONST) || hd_ptx_form_has(f, HD_M_NC))
      return sources;
    return DIFFERENT;
  case HD_OP_VOTE:
  case HD_OP_REDUX: return hd_ptx_form_has(f, HD_M_SYNC) ? SAME_IN_WARP : DIFFERENT;
  case HD_OP_BAR:
  case HD_OP_BARRIER: return SAME_IN_CTA; /* .red */
  case HD_OP_ADDC:                        /* with a carry that may come from anywhere */
  case HD_OP_SUBC:
  case HD_OP_MADC:
  case HD_OP_CALL:
  case HD_OP_LDU:
  case HD_OP_ATOM:
  case HD_OP_SHFL:
  case HD_OP_MATCH:
  case HD_OP_ACTIVEMASK:
  case HD_OP_ELECT:
  case HD_OP_TEX:
  case HD_OP_TLD4:
  case HD_OP_SULD:
  case HD_OP_LDMATRIX:
  case HD_OP_MOVMATRIX:
  case HD_OP_WMMA:
  case HD_OP_MMA:
  case HD_OP_WGMMA:
  case HD_OP_TCGEN05:
  case HD_OP_MBARRIER:
  case HD_OP_MULTIMEM:
  case HD_OP_CLUSTERLAUNCHCONTROL:
  case HD_OP_MAPA:
  case HD_OP_ALLOCA:
  case HD_OP_STACKSAVE:
  case HD_OP_UNKNOWN: return DIFFERENT;
  case HD_OP_MOV:
  case HD_OP_CVTA:
    /* Local memory has an address of its own for each thread; other variables have one. */
    if (o[1].kind == HD_O_SYM && w->m->syms[o[1].sym].kind == HD_SYM_VAR &&
        w->m->vars[w->m->syms[o[1].sym].decl].space == HD_M_LOCAL)
      return DIFFERENT;
    return sources;
  default: return sources == DIFFERENT && cuts_between_warps(w, s, f) ? SAME_IN_WARP : sources;
  }
}

static void raise_register(rewrite_flow *w, hd_sym reg, void *ctx) {
  uint8_t *l = &w->levels[w->m->syms[reg].index];
  read_level *r = ctx;
  r->changed |= *l < r->level;
  *l = (uint8_t)max_u32(*l, r->level);
}

typedef struct written_shape {
  shape shape;
  bool changed;
} written_shape;

static void join_shape(rewrite_flow *w, hd_sym reg, void *ctx) {
  uint8_t *l = &w->shapes[w->m->syms[reg].index];
  written_shape *x = ctx;
  shape joined = *l == NOT_WRITTEN                           ? x->shape
                 : x->shape == NOT_WRITTEN || x->shape == *l ? (shape)*l
                                                             : ANY_SHAPE;
  x->changed |= joined != *l;
  *l = (uint8_t)joined;
}

static level branch_level(rewrite_flow *w, const block *b) {
  if (b->n_succ < 2) return SAME_IN_CTA;
  const hd_ptx_stmt *s = &w->f->stmts[b->end - 1];
  read_level r = {.level = SAME_IN_CTA};
  each_read(w, s, add_level, &r);
  return r.level;
}

/* Raise what is control-dependent on block b's branch: from its successors up to where its ways meet. */
static bool raise_dependents(rewrite_flow *w, const block *b, level l) {
  bool changed = false;
  for (uint32_t k = 0; k < b->n_succ; k++)
    for (uint32_t at = w->edges.data[b->first_succ + k]; at != b->idom; at = w->blocks[at].idom) {
      if (w->steps++ > MOST_STEPS) return true; /* one more pass */
      changed |= w->blocks[at].level < l;
      w->blocks[at].level = (uint8_t)max_u32(w->blocks[at].level, l);
      if (at == w->blocks[at].idom) break;
    }
  return changed;
}

/* One pass over branches and statements; true while something rises. */
static bool raise_levels(rewrite_flow *w) {
  bool changed = false;
  for (uint32_t i = 0; i + 1 < w->n_blocks; i++) {
    block *b = &w->blocks[i];
    if (w->steps > MOST_STEPS) {
      changed |= b->level < DIFFERENT;
      b->level = DIFFERENT;
      continue;
    }
    level l = (level)max_u32(branch_level(w, b), b->level);
    if (l != SAME_IN_CTA && b->n_succ > 1) changed |= raise_dependents(w, b, l);
  }
  for (uint32_t i = 0; i < w->f->n_stmts; i++) {
    const hd_ptx_stmt *s = &w->f->stmts[i];
    if (s->kind != HD_S_INST) continue;
    read_level r = {.level = (level)max_u32(result_level(w, s), w->blocks[w->block_of[i]].level)};
    level way = (level)w->blocks[w->block_of[i]].level; /* on which it is reached */
    if (s->guard) {
      add_level(w, s->guard, &r);
      way = (level)max_u32(way, w->levels[w->m->syms[s->guard].index]);
    }
    written_shape x = {.shape = way == DIFFERENT ? ANY_SHAPE : result_shape(w, s)};
    each_written(w, s, join_shape, &x);
    each_written(w, s, raise_register, &r);
    changed |= r.changed || x.changed;
  }
  return changed;
}

/* ---- Liveness -------------------------------------------------------------------------------------- */

typedef struct live_sets {
  uint64_t *in; /* per block */
  size_t words;
  uint64_t *now;
} live_sets;

static void kill(rewrite_flow *w, hd_sym reg, void *ctx) {
  uint64_t *set = ctx;
  uint32_t r = w->m->syms[reg].index;
  set[r / 64] &= ~(UINT64_C(1) << r % 64);
}

static void use(rewrite_flow *w, hd_sym reg, void *ctx) {
  uint64_t *set = ctx;
  uint32_t r = w->m->syms[reg].index;
  set[r / 64] |= UINT64_C(1) << r % 64;
}

static bool flow_backwards(rewrite_flow *w, live_sets *l) {
  bool changed = false;
  for (uint32_t i = w->n_blocks - 1; i-- > 0;) {
    const block *b = &w->blocks[i];
    memset(l->now, 0, l->words * sizeof *l->now);
    for (uint32_t k = 0; k < b->n_succ; k++) {
      const uint64_t *in = l->in + w->edges.data[b->first_succ + k] * l->words;
      for (size_t x = 0; x < l->words; x++) l->now[x] |= in[x];
    }
    for (uint32_t s = b->end; s-- > b->begin;) {
      if (!w->f->stmts[s].guard) each_written(w, &w->f->stmts[s], kill, l->now);
      each_read(w, &w->f->stmts[s], use, l->now);
    }
    uint64_t *in = l->in + i * l->words;
    if (memcmp(in, l->now, l->words * sizeof *in) == 0) continue;
    memcpy(in, l->now, l->words * sizeof *in);
    changed = true;
  }
  return changed;
}

typedef struct name_search {
  const uint64_t *set;
  hd_sym *syms; /* by register number */
} name_search;

static void note_name(rewrite_flow *w, hd_sym reg, void *ctx) {
  name_search *n = ctx;
  n->syms[w->m->syms[reg].index] = reg;
}

static bool find_live_in(rewrite_flow *w) {
  live_sets l = {.words = (w->f->n_regs + 63) / 64};
  size_t bytes;
  if (!hd_mul_size(l.words * sizeof *l.in, w->n_blocks, &bytes) || bytes > MOST_LIVE_BYTES || !l.words)
    return true;
  l.in = calloc(1, bytes);
  l.now = calloc(l.words, sizeof *l.now);
  name_search names = {.syms = calloc(w->f->n_regs, sizeof *names.syms)};
  bool ok = l.in && l.now && names.syms;
  if (ok) {
    while (flow_backwards(w, &l)) {
    }
    for (uint32_t i = 0; i < w->f->n_stmts; i++) each_read(w, &w->f->stmts[i], note_name, &names);
    for (uint32_t r = 0; ok && r < w->f->n_regs; r++)
      if (l.in[r / 64] >> r % 64 & 1) ok = hd_vec_push(&w->live, names.syms[r]);
  }
  free(l.in);
  free(l.now);
  free(names.syms);
  return ok;
}

/* ---- Interface --------------------------------------------------------------------------------------- */

rewrite_flow *rewrite_flow_new(const hd_ptx_module *m, uint32_t func, const uint32_t block_dims[3]) {
  rewrite_flow *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  w->m = m;
  w->f = &m->funcs[func];
  memcpy(w->block_dims, block_dims, sizeof w->block_dims);
  w->levels = calloc((size_t)w->f->n_regs + 1, 1);
  w->shapes = calloc((size_t)w->f->n_regs + 1, 1);
  if (!w->levels || !w->shapes || !make_blocks(w) || !find_post_dominators(w) || !find_live_in(w)) {
    rewrite_flow_free(w);
    return NULL;
  }
  while (raise_levels(w)) {
  }
  return w;
}

void rewrite_flow_free(rewrite_flow *w) {
  if (!w) return;
  free(w->blocks);
  free(w->block_of);
  free(w->levels);
  free(w->shapes);
  hd_vec_free(&w->edges);
  hd_vec_free(&w->live);
  free(w);
}

static level stmt_level(const rewrite_flow *w, uint32_t stmt) {
  const hd_ptx_stmt *s = &w->f->stmts[stmt];
  level l = (level)w->blocks[w->block_of[stmt]].level;
  if (s->guard) l = (level)max_u32(l, w->levels[w->m->syms[s->guard].index]);
  return l;
}

bool rewrite_flow_splits_cta(const rewrite_flow *w, uint32_t stmt) {
  return stmt_level(w, stmt) > SAME_IN_CTA;
}
bool rewrite_flow_splits_warp(const rewrite_flow *w, uint32_t stmt) {
  return stmt_level(w, stmt) > SAME_IN_WARP;
}

const hd_sym *rewrite_flow_live_in(const rewrite_flow *w, uint32_t *n) {
  *n = (uint32_t)w->live.n;
  return w->live.data;
}
