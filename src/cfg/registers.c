/* Which registers an instruction reads and writes. */
#include "cfg/internal.h"
#include "heddle/ptx_facts.h"

typedef struct finder {
  const hd_cfg *g;
  uint32_t call;
  unsigned role; /* HD_ROLE_... that is looked for */
  hd_reg_visit *visit;
  void *ctx;
} finder;

static bool find(void *ctx, const hd_ptx_leaf *leaf) {
  const finder *f = ctx;
  if (leaf->role & f->role && leaf->sym && f->g->module->syms[leaf->sym].kind == HD_SYM_REG)
    f->visit(f->ctx, hd_cfg_reg(f->g, f->call, leaf->sym));
  return true;
}

static void each_register(const hd_cfg *g, uint32_t inst, unsigned role, hd_reg_visit *visit, void *ctx) {
  finder f = {g, g->insts[inst].call, role, visit, ctx};
  hd_ptx_visit(g->module, hd_inst_stmt(g, inst), find, &f);
}

void hd_inst_writes(const hd_cfg *g, uint32_t inst, hd_reg_visit *visit, void *ctx) {
  const uint32_t flags = g->module->forms[hd_inst_stmt(g, inst)->form].flags;
  if (flags & (HD_OPF_RESULT | HD_OPF_CALLS)) each_register(g, inst, HD_ROLE_WRITTEN, visit, ctx);
}

void hd_inst_reads(const hd_cfg *g, uint32_t inst, hd_reg_visit *visit, void *ctx) {
  each_register(g, inst, HD_ROLE_READ, visit, ctx);
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
