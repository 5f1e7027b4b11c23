/* Rows of places that a cycle within the region goes through, from the same place on in each round of it.
 *
 *     for (round = 0; round < most; round++)
 *       for (i = threadIdx.x; i < n; i += blockDim.x) seen |= flags[i];
 *
 * Each place is looked at again and again, once in a round. The address is made of registers. Those that the
 * cycle carries around must begin anew in each round, and nothing that goes into them may be carried around
 * by the region itself. */
#include "rewrite/waits/waits.h"

enum { MOST_NESTED = 32, MOST_LOOKED_AT = 256, MOST_RESETS = 16 };

typedef struct carried {
  uint32_t reg;
  bool around; /* it is written, from what stands behind it in the path, outside of the cycles within */
} carried;

typedef struct row {
  wait_search *w;
  uint32_t look; /* the block */
  carried path[MOST_NESTED];
  uint32_t n, looked_at;
  uint32_t resets[MOST_RESETS], n_resets; /* blocks in which what is carried around begins */
  uint32_t low;                           /* the first of the path that what was followed goes back to */
  bool moves;                             /* or that is not known */
} row;

static bool is_within(const wait_search *w, uint32_t inst) {
  return w->within[w->g.insts[inst].block] == w->stamp;
}

static void follow(void *ctx, uint32_t reg);

/* The same operands make the same number of it. Data is taken for what stays. */
static bool repeats(const wait_search *w, uint32_t at) {
  const hd_ptx_form *f = hd_inst_form(&w->g, at);
  if (hd_inst_stmt(&w->g, at)->guard) return false;
  for (uint32_t k = 1; k < hd_inst_stmt(&w->g, at)->n_opnds; k++) {
    const hd_ptx_opnd *o = &wait_operands(w, at)[k];
    if (o->kind == HD_O_SREG && hd_ptx_sreg_kind(w->m->syms[o->sym].index) == HD_SRK_SCHEDULE) return false;
  }
  return f->flags & HD_OPF_PURE ||
         (f->op == HD_OP_LD && (wait_loads_launch(w, at) || w->source[at] == WAIT_WEAK));
}

/* *low: as x->low. */
static void follow_write(row *x, uint32_t at, uint32_t *low) {
  const uint32_t before = x->low, here = x->n - 1;
  if (!repeats(x->w, at)) {
    x->moves = true;
    return;
  }
  x->path[here].around = !is_within(x->w, at);
  x->low = HD_NONE;
  hd_inst_reads(&x->w->g, at, follow, x);
  if (x->low > here && x->n_resets < MOST_RESETS) x->resets[x->n_resets++] = x->w->g.insts[at].block;
  if (x->low < *low) *low = x->low;
  x->low = before;
}

static void follow(void *ctx, uint32_t reg) {
  row *x = ctx;
  wait_search *w = x->w;
  if (x->moves || !wait_written_inside(w, reg)) return;
  for (uint32_t i = 0; i < x->n; i++) {
    if (x->path[i].reg != reg) continue;
    for (uint32_t k = i; k < x->n; k++) x->moves |= x->path[k].around;
    if (i < x->low) x->low = i;
    return;
  }
  if (x->n == MOST_NESTED || x->looked_at++ >= MOST_LOOKED_AT) {
    x->moves = true;
    return;
  }
  const uint32_t here = x->n, resets = x->n_resets;
  uint32_t low = HD_NONE;
  x->path[x->n++].reg = reg;
  w->steps++;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1] && !x->moves; i++)
    if (wait_inside(w, w->writers.insts[i])) follow_write(x, w->writers.insts[i], &low);
  x->n--;
  if (low < here) { /* the circle begins further up: so do its resets */
    if (low < x->low) x->low = low;
    return;
  }
  if (low == here) x->moves |= !wait_every_round_around(w, x->look, x->resets + resets, x->n_resets - resets);
  x->n_resets = resets;
}

static void follow_operand(row *x, uint32_t inst, const hd_ptx_opnd *o) {
  const wait_search *w = x->w;
  if (o->kind == HD_O_BRACKET || o->kind == HD_O_VEC || o->kind == HD_O_INDEX)
    for (uint32_t k = 0; k < o->n_kids; k++) follow_operand(x, inst, &w->m->opnds[o->sym + k]);
  else if ((o->kind == HD_O_REG || o->kind == HD_O_ADDR) && o->sym && w->m->syms[o->sym].kind == HD_SYM_REG)
    follow(x, hd_cfg_reg(&w->g, w->g.insts[inst].call, o->sym));
}

bool wait_begins_anew(wait_search *w, uint32_t inst) {
  row x = {.w = w, .look = w->g.insts[inst].block, .low = HD_NONE};
  const hd_ptx_opnd *o = wait_address(w, inst);
  if (o) follow_operand(&x, inst, o);
  return o && !x.moves;
}
