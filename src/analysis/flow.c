/* Basic blocks and the edges between them. */
#include <stdlib.h>
#include <string.h>

#include "analysis/internal.h"

/* How an instruction ends a block. */
typedef enum ending {
  END_NOT = 0,
  END_JUMP,   /* bra, brx: to labels */
  END_LEAVE,  /* exit, trap, ret of the kernel, call of a function that does not return */
  END_RETURN, /* ret of an inlined function */
  END_CALL,   /* inlined: on to the body */
} ending;

static bool never_returns(const an *a, const hd_ptx_stmt *st) {
  const hd_ptx_module *m = a->m;
  for (uint32_t i = 0; i < st->n_opnds; i++) {
    const hd_ptx_opnd *o = &m->opnds[st->first_opnd + i];
    if (o->kind != HD_O_SYM) continue;
    const hd_ptx_sym *s = &m->syms[o->sym];
    return s->kind == HD_SYM_FUNC && hd_ptx_func_dir(m, &m->funcs[s->decl], HD_M_NORETURN);
  }
  return false;
}

static ending ending_of(const an *a, uint32_t inst) {
  switch (an_form(a, inst)->op) {
  case HD_OP_BRA:
  case HD_OP_BRX: return END_JUMP;
  case HD_OP_EXIT:
  case HD_OP_TRAP: return END_LEAVE;
  case HD_OP_RET: return a->insts.data[inst].call ? END_RETURN : END_LEAVE;
  case HD_OP_CALL:
    if (an_is_inlined(a, inst)) return END_CALL;
    return never_returns(a, an_stmt(a, inst)) ? END_LEAVE : END_NOT;
  default: return END_NOT;
  }
}

/* The labels a branch names: itself or in its table. */
static uint32_t target_operands(const an *a, uint32_t inst, uint32_t *n) {
  const hd_ptx_module *m = a->m;
  const hd_ptx_stmt *st = an_stmt(a, inst);
  const hd_ptx_func *f = &m->funcs[a->insts.data[inst].func];
  *n = 0;
  for (uint32_t i = 0; i < st->n_opnds; i++) {
    const hd_ptx_opnd *o = &m->opnds[st->first_opnd + i];
    if (o->kind != HD_O_SYM) continue;
    const hd_ptx_sym *s = &m->syms[o->sym];
    if (s->kind == HD_SYM_LABEL) {
      *n = 1;
      return st->first_opnd + i;
    }
    if (s->kind == HD_SYM_TARGETS && s->index < f->n_stmts) {
      *n = f->stmts[s->index].n_opnds;
      return f->stmts[s->index].first_opnd;
    }
  }
  return 0;
}

/* The instruction behind a label, n_insts at the kernel's end; HD_NONE for a label that is not there. */
static uint32_t target_of(const an *a, uint32_t inst, const hd_ptx_opnd *o) {
  if (o->kind != HD_O_SYM || a->m->syms[o->sym].kind != HD_SYM_LABEL) return HD_NONE;
  const hd_inst *i = &a->insts.data[inst];
  uint32_t stmt = a->m->syms[o->sym].index;
  if (stmt >= a->m->funcs[i->func].n_stmts) return HD_NONE;
  return a->call_info.data[i->call].position[stmt];
}

/* Where control goes on at the end of a body: behind the call. */
static uint32_t behind(const an *a, uint32_t inst) {
  uint32_t after = a->call_info.data[a->insts.data[inst].call].after;
  return after == HD_NONE ? (uint32_t)a->insts.n : after;
}

typedef HD_VEC(uint32_t) number_list;

/* The instructions that may follow the last one of a block. */
static hd_status successors(an *a, uint32_t inst, number_list *out) {
  ending e = ending_of(a, inst);
  const hd_ptx_stmt *st = an_stmt(a, inst);
  uint32_t n = (uint32_t)a->insts.n;
  out->n = 0;
  switch (e) {
  case END_JUMP: {
    uint32_t count, first = target_operands(a, inst, &count);
    for (uint32_t i = 0; i < count; i++) {
      uint32_t to = target_of(a, inst, &a->m->opnds[first + i]);
      if (to == HD_NONE)
        return hd_fail(a->diag, HD_ERR_INPUT, "line %u: a branch to a label that is not there", st->line);
      AN_PUSH(a, out, to);
    }
    if (!count) return hd_fail(a->diag, HD_ERR_INPUT, "line %u: a branch without a target", st->line);
    break;
  }
  case END_LEAVE: AN_PUSH(a, out, n); break;
  case END_RETURN: AN_PUSH(a, out, behind(a, inst)); break;
  case END_CALL: AN_PUSH(a, out, inst + 1); break;
  case END_NOT: break;
  }
  if (e == END_NOT) {
    AN_PUSH(a, out, inst + 1);
  } else if (st->guard) {
    /* A skipped call goes on behind its body. */
    uint32_t over = inst + 1;
    if (e == END_CALL)
      for (uint32_t c = a->insts.data[inst + 1 < n ? inst + 1 : inst].call; c; c = a->calls.data[c].parent)
        if (a->calls.data[c].site == inst) over = a->call_info.data[c].after;
    AN_PUSH(a, out, over);
  }
  return HD_OK;
}

static void mark_leaders(an *a, uint8_t *leader) {
  uint32_t n = (uint32_t)a->insts.n;
  leader[0] = 1;
  for (uint32_t i = 0; i < n; i++) {
    ending e = ending_of(a, i);
    if (e == END_NOT) continue;
    leader[i + 1] = 1;
    if (e == END_RETURN) leader[behind(a, i)] = 1;
    if (e != END_JUMP) continue;
    uint32_t count, first = target_operands(a, i, &count);
    for (uint32_t k = 0; k < count; k++) {
      uint32_t to = target_of(a, i, &a->m->opnds[first + k]);
      if (to != HD_NONE) leader[to] = 1;
    }
  }
  for (uint32_t c = 1; c < a->calls.n; c++) leader[a->call_info.data[c].after] = 1;
}

static hd_sym label_before(const an *a, uint32_t inst) {
  const hd_inst *i = &a->insts.data[inst];
  const hd_ptx_func *f = &a->m->funcs[i->func];
  hd_sym label = 0;
  for (uint32_t s = i->stmt; s-- > 0 && f->stmts[s].kind != HD_S_INST;)
    if (f->stmts[s].kind == HD_S_LABEL) label = f->stmts[s].sym;
  return label;
}

static void make_blocks(an *a, const uint8_t *leader, uint32_t *block_at) {
  hd_cfg *g = &a->pub.cfg;
  uint32_t n = (uint32_t)a->insts.n, count = 0;
  for (uint32_t i = 0; i < n; i++) count += leader[i];
  g->n_blocks = count + 1;
  g->blocks = HD_NEW_N(&a->arena, g->n_blocks, hd_block);
  uint32_t b = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (leader[i]) {
      g->blocks[b].first = i;
      g->blocks[b].label = label_before(a, i);
      b++;
    }
    g->blocks[b - 1].n_insts++;
    a->insts.data[i].block = b - 1;
    block_at[i] = b - 1;
  }
  g->blocks[count].first = n;
  block_at[n] = count;
}

static void make_predecessors(an *a, uint32_t n_succ) {
  hd_cfg *g = &a->pub.cfg;
  uint32_t at = n_succ;
  for (uint32_t e = 0; e < n_succ; e++) g->blocks[g->edges[e]].n_pred++;
  for (uint32_t b = 0; b < g->n_blocks; b++) {
    g->blocks[b].first_pred = at;
    at += g->blocks[b].n_pred;
    g->blocks[b].n_pred = 0;
  }
  for (uint32_t b = 0; b < g->n_blocks; b++)
    for (uint32_t k = 0; k < g->blocks[b].n_succ; k++) {
      hd_block *to = &g->blocks[g->edges[g->blocks[b].first_succ + k]];
      g->edges[to->first_pred + to->n_pred++] = b;
    }
  g->n_edges = at;
}

hd_status an_flow(an *a) {
  hd_cfg *g = &a->pub.cfg;
  uint32_t n = (uint32_t)a->insts.n;
  uint8_t *leader = HD_NEW_N(&a->arena, (size_t)n + 2, uint8_t);
  uint32_t *block_at = HD_NEW_N(&a->arena, (size_t)n + 1, uint32_t);
  mark_leaders(a, leader);
  make_blocks(a, leader, block_at);
  number_list next = {0}, all = {0};
  hd_status st = HD_OK;
  for (uint32_t b = 0; b + 1 < g->n_blocks && st == HD_OK; b++) {
    hd_block *block = &g->blocks[b];
    st = successors(a, block->first + block->n_insts - 1, &next);
    block->first_succ = (uint32_t)all.n;
    /* An edge is there once, however often a table names its target. */
    for (uint32_t i = 0; st == HD_OK && i < next.n; i++) {
      uint32_t to = block_at[next.data[i] > n ? n : next.data[i]];
      bool seen = false;
      for (uint32_t k = block->first_succ; k < all.n && !seen; k++) seen = all.data[k] == to;
      if (!seen) AN_PUSH(a, &all, to);
    }
    block->n_succ = (uint32_t)all.n - block->first_succ;
  }
  if (st == HD_OK) {
    g->edges = HD_NEW_N(&a->arena, 2 * all.n + 1, uint32_t);
    if (all.n) memcpy(g->edges, all.data, all.n * sizeof *g->edges);
    make_predecessors(a, (uint32_t)all.n);
  }
  hd_vec_free(&next);
  hd_vec_free(&all);
  return st;
}
