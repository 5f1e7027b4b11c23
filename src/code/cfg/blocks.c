/* Basic blocks and the edges between them. */
#include <string.h>

#include "cfg/internal.h"
#include "heddle/ptx_facts.h"

/* How an instruction ends a block. */
typedef enum ending {
  END_NOT = 0,
  END_JUMP,   /* bra, brx: to labels */
  END_LEAVE,  /* exit, trap, ret of the kernel, call of a function that does not return */
  END_RETURN, /* ret of an inlined function */
  END_CALL,   /* inlined: on to the body */
} ending;

static bool never_returns(const hd_cfg *g, const hd_ptx_stmt *st) {
  const hd_ptx_module *m = g->module;
  for (uint32_t i = 0; i < st->n_opnds; i++) {
    const hd_ptx_opnd *o = &m->opnds[st->first_opnd + i];
    if (o->kind != HD_O_SYM) continue;
    const hd_ptx_sym *s = &m->syms[o->sym];
    return s->kind == HD_SYM_FUNC && hd_ptx_func_dir(m, &m->funcs[s->decl], HD_M_NORETURN);
  }
  return false;
}

static ending ending_of(const hd_cfg *g, uint32_t inst) {
  const uint32_t flags = hd_inst_form(g, inst)->flags;
  if (!(flags & (HD_OPF_LEAVES | HD_OPF_CALLS))) return END_NOT;
  if (flags & HD_OPF_JUMPS) return END_JUMP;
  if (flags & HD_OPF_EXITS) return END_LEAVE;
  if (flags & HD_OPF_RETURNS) return g->insts[inst].call ? END_RETURN : END_LEAVE;
  if (g->insts[inst].body) return END_CALL;
  return never_returns(g, hd_inst_stmt(g, inst)) ? END_LEAVE : END_NOT;
}

/* The labels that a branch names, as operands or in its table. */
static uint32_t target_operands(const hd_cfg *g, uint32_t inst, uint32_t *n) {
  const hd_ptx_module *m = g->module;
  const hd_ptx_stmt *st = hd_inst_stmt(g, inst);
  const hd_ptx_func *f = &m->funcs[g->insts[inst].func];
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
static uint32_t target_of(const hd_cfg *g, uint32_t inst, const hd_ptx_opnd *o) {
  if (o->kind != HD_O_SYM || g->module->syms[o->sym].kind != HD_SYM_LABEL) return HD_NONE;
  const hd_inst *i = &g->insts[inst];
  uint32_t stmt = g->module->syms[o->sym].index;
  if (stmt >= g->module->funcs[i->func].n_stmts) return HD_NONE;
  return g->calls[i->call].position[stmt];
}

/* Where control goes on at the end of a body: behind the call. */
static uint32_t behind(const hd_cfg *g, uint32_t inst) {
  uint32_t after = g->calls[g->insts[inst].call].after;
  return after == HD_NONE ? g->n_insts : after;
}

typedef CFG_LIST(uint32_t) number_list;

/* The instructions that may follow the last one of a block. */
static hd_status successors(cfg *c, uint32_t inst, number_list *out) {
  const hd_cfg *g = &c->g;
  ending e = ending_of(g, inst);
  const hd_ptx_stmt *st = hd_inst_stmt(g, inst);
  out->n = 0;
  switch (e) {
  case END_JUMP: {
    uint32_t count, first = target_operands(g, inst, &count);
    for (uint32_t i = 0; i < count; i++) {
      uint32_t to = target_of(g, inst, &g->module->opnds[first + i]);
      if (to == HD_NONE)
        return hd_fail(c->diag, HD_ERR_INPUT, "line %u: a branch to a label that is not there", st->line);
      CFG_PUSH(c->arena, out, to);
    }
    if (!count) return hd_fail(c->diag, HD_ERR_INPUT, "line %u: a branch without a target", st->line);
    break;
  }
  case END_LEAVE: CFG_PUSH(c->arena, out, g->n_insts); break;
  case END_RETURN: CFG_PUSH(c->arena, out, behind(g, inst)); break;
  case END_CALL:
  case END_NOT: CFG_PUSH(c->arena, out, inst + 1); break;
  }
  if (e == END_NOT || !st->guard) return HD_OK;
  /* A skipped call goes on behind its body. */
  uint32_t body = g->insts[inst].body, over = body ? g->calls[body].after : inst + 1;
  CFG_PUSH(c->arena, out, over);
  return HD_OK;
}

static void mark_leaders(const hd_cfg *g, uint8_t *leader) {
  uint32_t n = g->n_insts;
  leader[0] = 1;
  for (uint32_t i = 0; i < n; i++) {
    ending e = ending_of(g, i);
    if (e == END_NOT) continue;
    leader[i + 1] = 1;
    if (e == END_RETURN) leader[behind(g, i)] = 1;
    if (e != END_JUMP) continue;
    uint32_t count, first = target_operands(g, i, &count);
    for (uint32_t k = 0; k < count; k++) {
      uint32_t to = target_of(g, i, &g->module->opnds[first + k]);
      if (to != HD_NONE) leader[to] = 1;
    }
  }
  for (uint32_t c = 1; c < g->n_calls; c++) leader[g->calls[c].after] = 1;
}

static hd_sym label_before(const hd_cfg *g, uint32_t inst) {
  const hd_inst *i = &g->insts[inst];
  const hd_ptx_func *f = &g->module->funcs[i->func];
  hd_sym label = 0;
  for (uint32_t s = i->stmt; s-- > 0 && f->stmts[s].kind != HD_S_INST;)
    if (f->stmts[s].kind == HD_S_LABEL) label = f->stmts[s].sym;
  return label;
}

static void make_blocks(cfg *c, const uint8_t *leader, uint32_t *block_at) {
  hd_cfg *g = &c->g;
  uint32_t n = g->n_insts, count = 0;
  for (uint32_t i = 0; i < n; i++) count += leader[i];
  g->n_blocks = count + 1;
  g->blocks = HD_NEW_N(c->arena, g->n_blocks, hd_block);
  uint32_t b = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (leader[i]) {
      g->blocks[b].first = i;
      g->blocks[b].label = label_before(g, i);
      b++;
    }
    g->blocks[b - 1].n_insts++;
    g->insts[i].block = b - 1;
    block_at[i] = b - 1;
  }
  g->blocks[count].first = n;
  block_at[n] = count;
}

static void make_predecessors(hd_cfg *g, uint32_t n_succ) {
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

hd_status cfg_blocks(cfg *c) {
  hd_cfg *g = &c->g;
  uint32_t n = g->n_insts;
  uint8_t *leader = HD_NEW_N(c->arena, (size_t)n + 2, uint8_t);
  uint32_t *block_at = HD_NEW_N(c->arena, (size_t)n + 1, uint32_t);
  mark_leaders(g, leader);
  make_blocks(c, leader, block_at);
  number_list next = {0}, all = {0};
  for (uint32_t b = 0; b + 1 < g->n_blocks; b++) {
    hd_block *block = &g->blocks[b];
    hd_status st = successors(c, block->first + block->n_insts - 1, &next);
    if (st != HD_OK) return st;
    block->first_succ = all.n;
    /* An edge is there once, however often a table names its target. */
    for (uint32_t i = 0; i < next.n; i++) {
      uint32_t to = block_at[next.data[i] > n ? n : next.data[i]];
      bool seen = false;
      for (uint32_t k = block->first_succ; k < all.n && !seen; k++) seen = all.data[k] == to;
      if (!seen) CFG_PUSH(c->arena, &all, to);
    }
    block->n_succ = all.n - block->first_succ;
  }
  g->edges = HD_NEW_N(c->arena, 2 * (size_t)all.n + 1, uint32_t);
  if (all.n) memcpy(g->edges, all.data, all.n * sizeof *g->edges);
  make_predecessors(g, all.n);
  return HD_OK;
}
