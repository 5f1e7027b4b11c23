/* Which instructions read a register. */
#include <string.h>

#include "rewrite/waits/waits.h"

/* Registers that instructions read, in the order of the text, and where each instruction's end. */
typedef struct reading {
  uint32_t *regs, *ends, n, cap;
  hd_arena *arena;
} reading;

static void add_read(void *ctx, uint32_t reg) {
  reading *r = ctx;
  if (r->n == r->cap) {
    uint32_t *grown = hd_arena_alloc(r->arena, 2 * (size_t)r->cap * sizeof *grown, _Alignof(uint32_t));
    memcpy(grown, r->regs, r->n * sizeof *grown);
    r->regs = grown;
    r->cap *= 2;
  }
  r->regs[r->n++] = reg;
}

static void list_readers(wait_search *w) {
  reading r = {.cap = 4 * w->g.n_insts + 16, .arena = w->arena};
  r.regs = hd_arena_alloc(w->arena, (size_t)r.cap * sizeof *r.regs, _Alignof(uint32_t));
  r.ends = HD_NEW_N(w->arena, w->g.n_insts + 1u, uint32_t);
  for (uint32_t i = 0; i < w->g.n_insts; i++) {
    hd_inst_reads(&w->g, i, add_read, &r);
    r.ends[i] = r.n;
  }
  w->first_reader = HD_NEW_N(w->arena, w->g.n_regs + 2u, uint32_t);
  w->readers = HD_NEW_N(w->arena, r.n + 1u, uint32_t);
  for (uint32_t k = 0; k < r.n; k++) w->first_reader[r.regs[k] + 1]++;
  for (uint32_t i = 0; i < w->g.n_regs; i++) w->first_reader[i + 1] += w->first_reader[i];
  for (uint32_t i = 0, k = 0; i < w->g.n_insts; i++)
    for (; k < r.ends[i]; k++) w->readers[w->first_reader[r.regs[k]]++] = i;
  for (uint32_t i = w->g.n_regs; i > 0; i--) w->first_reader[i] = w->first_reader[i - 1];
  w->first_reader[0] = 0;
}

const uint32_t *wait_readers(wait_search *w, uint32_t reg, uint32_t *n) {
  if (!w->readers) list_readers(w);
  *n = w->first_reader[reg + 1] - w->first_reader[reg];
  return &w->readers[w->first_reader[reg]];
}

typedef struct result_search {
  wait_search *w;
  bool read;
} result_search;

static void look_for_reader(void *ctx, uint32_t reg) {
  result_search *x = ctx;
  uint32_t n;
  (void)wait_readers(x->w, reg, &n);
  x->read |= n != 0;
}

bool wait_result_is_read(wait_search *w, uint32_t inst) {
  result_search x = {.w = w};
  hd_inst_writes(&w->g, inst, look_for_reader, &x);
  return x.read;
}
