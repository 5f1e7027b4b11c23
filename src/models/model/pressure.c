/* How many of a thread's registers are taken where a block begins. */
#include "heddle/cfg.h"
#include "model/code.h"

enum {
  MOST_SETS = 64 << 20, /* bytes */
  RESERVED =
      3, /* the stack pointer, and two that ptxas counts and does not use since compute capability 7.0 */
};

/* Values that take no register: parameters, and their copies, which instructions read where they lie.
 * `writers` is scratch. */
static void fold(model_func *f, uint8_t *writers) {
  for (uint32_t i = 0; i < f->n; i++)
    for (uint32_t k = f->insts[i].n_src; k < f->insts[i].n_src + f->insts[i].n_dst; k++) {
      uint8_t *n = &writers[f->insts[i].regs[k]];
      *n += *n < 2;
    }
  for (uint32_t i = 0; i < f->n; i++) {
    const model_inst *in = &f->insts[i];
    bool folds = !in->n && (in->cls == CLASS_PLAIN || in->cls == CLASS_LOAD);
    for (uint32_t k = 0; k < in->n_src; k++) folds &= !f->words[in->regs[k]];
    for (uint32_t k = in->n_src; folds && k < in->n_src + in->n_dst; k++)
      if (writers[in->regs[k]] == 1) f->words[in->regs[k]] = 0;
  }
}

static uint32_t live_words(const hd_liveness *l, uint32_t block, const model_func *f) {
  uint32_t sum = RESERVED;
  for (uint32_t r = 0; r < f->n_regs; r++)
    if (hd_live_in(l, block, r)) sum += f->words[r];
  return sum < UINT16_MAX ? sum : UINT16_MAX;
}

hd_status model_code_pressure(const hd_ptx_module *m, uint32_t func, model_func *f, hd_diag *d) {
  hd_arena arena;
  hd_cfg g;
  hd_liveness live;
  hd_arena_init(&arena);
  uint8_t *writers = HD_NEW_N(&arena, f->n_regs + 1u, uint8_t);
  if (writers) fold(f, writers);
  hd_status st = writers ? HD_OK : hd_nomem(d);
  if (st == HD_OK) st = hd_cfg_build(m, func, 0, &arena, &g, d);
  if (st == HD_OK && hd_liveness_find(&g, MOST_SETS, &arena, &live)) {
    uint32_t block = HD_NONE;
    for (uint32_t i = 0, at = 0; i < f->n; i++) {
      while (at < g.n_insts && g.insts[at].stmt < f->insts[i].stmt) at++;
      if (at < g.n_insts && g.insts[at].block != block) {
        block = g.insts[at].block;
        f->insts[i].live = (uint16_t)live_words(&live, block, f);
        if (f->insts[i].live > f->most_live) f->most_live = f->insts[i].live;
      }
    }
  }
  hd_arena_free(&arena);
  return st;
}
