/* Values that are the same in all threads of a launch, and each time: arithmetic on the kernel's parameters,
 * numbers and the launch's extents. */
#include "rewrite/rewrite_internal.h"

enum { MOST_STEPS = 64 };

typedef struct slice {
  const hd_cfg *g;
  const hd_writers *writers;
  unsigned steps;
  bool same;
} slice;

static void follow(void *ctx, uint32_t reg);

static bool is_same(slice *s, uint32_t inst) {
  const hd_cfg *g = s->g;
  const hd_ptx_form *f = hd_inst_form(g, inst);
  const hd_ptx_access a = hd_ptx_access_of(f);
  const hd_ptx_stmt *st = hd_inst_stmt(g, inst);
  if (a.kinds) {
    /* What a call gave stands in such a variable, too. */
    const hd_ptx_opnd *o = st->n_opnds > 1 ? &g->module->opnds[st->first_opnd + 1] : NULL;
    if (f->op != HD_OP_LD || !o || o->kind != HD_O_ADDR || hd_cfg_param(g, o->sym) == HD_NONE) return false;
  } else if (!(f->flags & HD_OPF_PURE)) {
    return false;
  }
  for (uint32_t k = st->first_opnd; k < st->first_opnd + st->n_opnds; k++) {
    const hd_ptx_opnd *o = &g->module->opnds[k];
    const uint32_t id = o->kind == HD_O_SREG ? g->module->syms[o->sym].index : HD_SR_NTID;
    if (id != HD_SR_NTID && id != HD_SR_NCTAID) return false;
    if (o->kind != HD_O_REG && o->kind != HD_O_INT && o->kind != HD_O_SREG && o->kind != HD_O_ADDR)
      return false;
  }
  hd_inst_reads(g, inst, follow, s);
  return s->same;
}

static void follow(void *ctx, uint32_t reg) {
  slice *s = ctx;
  if (!s->same) return;
  const uint32_t *w = &s->writers->first[reg];
  s->same = w[1] - w[0] == 1 && s->steps++ < MOST_STEPS && is_same(s, s->writers->insts[w[0]]);
}

bool rewrite_same_in_launch(const hd_cfg *g, const hd_writers *writers, uint32_t reg) {
  slice s = {.g = g, .writers = writers, .same = true};
  follow(&s, reg);
  return s.same;
}
