/* Which registers an instruction reads and writes. */
#include <string.h>

#include "cfg/internal.h"
#include "heddle/ptx_facts.h"

typedef struct finder {
  const hd_cfg *g;
  uint32_t call;
  unsigned role; /* HD_ROLE_... that is looked for */
  hd_reg_visit *visit;
  void *ctx;
} finder;

static void note(const finder *f, hd_sym sym) {
  if (sym && f->g->module->syms[sym].kind == HD_SYM_REG) f->visit(f->ctx, hd_cfg_reg(f->g, f->call, sym));
}

static bool find(void *ctx, const hd_ptx_leaf *leaf) {
  const finder *f = ctx;
  if (leaf->role & f->role) note(f, leaf->sym);
  return true;
}

/* These run over every instruction of every kernel, so that operands which are registers and numbers are not
 * visited as trees. */
void hd_inst_writes(const hd_cfg *g, uint32_t inst, hd_reg_visit *visit, void *ctx) {
  const hd_ptx_module *m = g->module;
  const hd_ptx_stmt *s = hd_inst_stmt(g, inst);
  const uint32_t flags = m->forms[s->form].flags;
  finder f = {g, g->insts[inst].call, HD_ROLE_WRITTEN, visit, ctx};
  if (flags & HD_OPF_CALLS) {
    hd_ptx_visit(m, s, find, &f);
    return;
  }
  if (!(flags & HD_OPF_RESULT) || !s->n_opnds) return;
  const hd_ptx_opnd *o = &m->opnds[s->first_opnd];
  if (o->kind == HD_O_REG)
    note(&f, o->sym);
  else if (o->kind != HD_O_BRACKET)
    hd_ptx_visit_operand(m, s->first_opnd, HD_ROLE_WRITTEN, find, &f);
}

void hd_inst_reads(const hd_cfg *g, uint32_t inst, hd_reg_visit *visit, void *ctx) {
  const hd_ptx_module *m = g->module;
  const hd_ptx_stmt *s = hd_inst_stmt(g, inst);
  const uint32_t flags = m->forms[s->form].flags;
  finder f = {g, g->insts[inst].call, HD_ROLE_READ, visit, ctx};
  if (flags & (HD_OPF_CALLS | HD_OPF_JUMPS)) {
    hd_ptx_visit(m, s, find, &f);
    return;
  }
  note(&f, s->guard);
  for (uint32_t k = 0; k < s->n_opnds; k++) {
    const hd_ptx_opnd *o = &m->opnds[s->first_opnd + k];
    bool written = k == 0 && flags & HD_OPF_RESULT && o->kind != HD_O_BRACKET;
    bool read = !written || flags & HD_OPF_READS_RESULT;
    if (o->kind == HD_O_REG) {
      if (read) note(&f, o->sym);
    } else if (o->kind == HD_O_ADDR) {
      note(&f, o->sym);
    } else if (o->kind != HD_O_INT) {
      unsigned role = (written ? HD_ROLE_WRITTEN : 0u) | (read ? HD_ROLE_READ : 0u);
      hd_ptx_visit_operand(m, s->first_opnd + k, role, find, &f);
    }
  }
}

/* ---- Writers -------------------------------------------------------------------------- */

/* Registers that instructions write, in the order of the text. */
typedef struct written {
  hd_arena *arena;
  uint32_t *regs, *insts, n, cap, inst;
} written;

static uint32_t *grow(written *w, const uint32_t *old) {
  uint32_t *more = hd_arena_alloc(w->arena, 2 * (size_t)w->cap * sizeof *more, _Alignof(uint32_t));
  memcpy(more, old, w->n * sizeof *more);
  return more;
}

static void add_written(void *ctx, uint32_t reg) {
  written *w = ctx;
  if (w->n == w->cap) {
    w->regs = grow(w, w->regs);
    w->insts = grow(w, w->insts);
    w->cap *= 2;
  }
  w->regs[w->n] = reg;
  w->insts[w->n++] = w->inst;
}

void hd_writers_find(const hd_cfg *g, hd_arena *arena, hd_writers *out) {
  written w = {.arena = arena, .cap = g->n_insts + 16};
  w.regs = hd_arena_alloc(arena, (size_t)w.cap * sizeof *w.regs, _Alignof(uint32_t));
  w.insts = hd_arena_alloc(arena, (size_t)w.cap * sizeof *w.insts, _Alignof(uint32_t));
  for (; w.inst < g->n_insts; w.inst++) hd_inst_writes(g, w.inst, add_written, &w);
  out->first = HD_NEW_N(arena, (size_t)g->n_regs + 3, uint32_t);
  for (uint32_t i = 0; i < w.n; i++) out->first[w.regs[i] + 2]++;
  for (uint32_t r = 2; r < g->n_regs + 2; r++) out->first[r] += out->first[r - 1];
  out->insts = HD_NEW_N(arena, (size_t)w.n + 1, uint32_t);
  for (uint32_t i = 0; i < w.n; i++) out->insts[out->first[w.regs[i] + 1]++] = w.insts[i];
}

static void mark(void *ctx, uint32_t reg) { ((uint8_t *)ctx)[reg] = 1; }

uint8_t *hd_reads_find(const hd_cfg *g, hd_arena *arena) {
  uint8_t *is_read = HD_NEW_N(arena, g->n_regs + 1u, uint8_t);
  for (uint32_t i = 0; i < g->n_insts; i++) hd_inst_reads(g, i, mark, is_read);
  return is_read;
}

typedef struct results {
  const uint8_t *is_read;
  bool any;
} results;

static void see_result(void *ctx, uint32_t reg) {
  results *r = ctx;
  r->any |= r->is_read[reg];
}

bool hd_result_is_read(const hd_cfg *g, const uint8_t *is_read, uint32_t inst) {
  results r = {.is_read = is_read};
  hd_inst_writes(g, inst, see_result, &r);
  return r.any;
}

uint32_t hd_cfg_param(const hd_cfg *g, hd_sym var) {
  const hd_ptx_func *f = &g->module->funcs[g->calls[0].func];
  if (!var || g->module->syms[var].kind != HD_SYM_VAR) return HD_NONE;
  const uint32_t decl = g->module->syms[var].decl;
  return decl >= f->first_param && decl < f->first_param + f->n_params ? decl - f->first_param : HD_NONE;
}
