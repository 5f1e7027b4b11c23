/* Which registers an instruction reads and writes. */
#include "cfg/internal.h"

/* All registers under operands first .. first + n - 1, as numbered in the body of `call`. */
static void each_register(const hd_cfg *g, uint32_t call, uint32_t first, uint32_t n, hd_reg_visit *visit,
                          void *ctx) {
  const hd_ptx_module *m = g->module;
  for (uint32_t i = first; i < first + n; i++) {
    const hd_ptx_opnd *o = &m->opnds[i];
    switch (o->kind) {
    case HD_O_REG:
    case HD_O_ADDR:
      if (o->sym && m->syms[o->sym].kind == HD_SYM_REG) visit(ctx, hd_cfg_reg(g, call, o->sym));
      break;
    case HD_O_VEC:
    case HD_O_LIST:
    case HD_O_BRACKET:
    case HD_O_PAIR:
    case HD_O_INDEX: each_register(g, call, o->sym, o->n_kids, visit, ctx); break;
    default: break;
    }
  }
}

void hd_inst_writes(const hd_cfg *g, uint32_t inst, hd_reg_visit *visit, void *ctx) {
  const hd_ptx_stmt *s = hd_inst_stmt(g, inst);
  if (!s->n_opnds) return;
  const hd_ptx_form *f = &g->module->forms[s->form];
  const hd_ptx_opnd *o = &g->module->opnds[s->first_opnd];
  /* A call's results stand in a list, which is the first operand where there is one. */
  if (f->op == HD_OP_CALL ? o->kind == HD_O_LIST : hd_ptx_form_writes(f) && o->kind != HD_O_ADDR)
    each_register(g, g->insts[inst].call, s->first_opnd, 1, visit, ctx);
}

void hd_inst_reads(const hd_cfg *g, uint32_t inst, hd_reg_visit *visit, void *ctx) {
  const hd_ptx_stmt *s = hd_inst_stmt(g, inst);
  uint32_t call = g->insts[inst].call;
  if (s->guard) visit(ctx, hd_cfg_reg(g, call, s->guard));
  const hd_ptx_form *f = &g->module->forms[s->form];
  /* wgmma adds to what it writes; so may what is not known. */
  bool all = !hd_ptx_form_writes(f) || f->op == HD_OP_WGMMA || f->op == HD_OP_UNKNOWN;
  uint32_t skip = all || !s->n_opnds || g->module->opnds[s->first_opnd].kind == HD_O_ADDR ? 0 : 1;
  each_register(g, call, s->first_opnd + skip, s->n_opnds - skip, visit, ctx);
}

/* ---- Writers -------------------------------------------------------------------------- */

static void count(void *ctx, uint32_t reg) { ((uint32_t *)ctx)[reg + 2]++; }

typedef struct filler {
  hd_writers *w;
  uint32_t inst;
} filler;

static void fill(void *ctx, uint32_t reg) {
  filler *f = ctx;
  f->w->insts[f->w->first[reg + 1]++] = f->inst;
}

void hd_writers_find(const hd_cfg *g, hd_arena *arena, hd_writers *out) {
  out->first = HD_NEW_N(arena, (size_t)g->n_regs + 3, uint32_t);
  for (uint32_t i = 0; i < g->n_insts; i++) hd_inst_writes(g, i, count, out->first);
  for (uint32_t r = 2; r < g->n_regs + 2; r++) out->first[r] += out->first[r - 1];
  out->insts = HD_NEW_N(arena, (size_t)out->first[g->n_regs + 1] + 1, uint32_t);
  for (uint32_t i = 0; i < g->n_insts; i++) hd_inst_writes(g, i, fill, &(filler){out, i});
}
