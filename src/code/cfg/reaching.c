/* Reaching writes: those of a register that may have given it the value which an instruction reads.
 *
 * A register with one writer has that. Of another, a set of its writers is found for each block, when it is
 * asked for first. */
#include <string.h>

#include "cfg/internal.h"
#include "heddle/ptx_facts.h"

enum { MOST_SETS = 1 << 22, MOST_WRITERS = 64 };

static uint32_t n_writers(const cfg_reaching *r, uint32_t reg) {
  return r->writers.first[reg + 1] - r->writers.first[reg];
}

static const uint32_t *writers_of(const cfg_reaching *r, uint32_t reg) {
  return &r->writers.insts[r->writers.first[reg]];
}

/* The operands that may be replaced whole. */
static const hd_ptx_opnd *results(const hd_cfg *g, const hd_ptx_stmt *s, const hd_ptx_opnd **end) {
  const hd_ptx_opnd *o = s->guard || !s->n_opnds ? NULL : &g->module->opnds[s->first_opnd];
  *end = o ? o + 1 : o;
  if (!o || (o->kind != HD_O_VEC && o->kind != HD_O_PAIR)) return o;
  *end = &g->module->opnds[o->sym] + o->n_kids;
  return &g->module->opnds[o->sym];
}

static bool is_whole(const hd_ptx_opnd *o) { return o->kind == HD_O_REG && !o->part && o->sym; }

bool cfg_replaces(const hd_cfg *g, uint32_t inst, uint32_t reg) {
  const hd_ptx_opnd *end, *o = results(g, hd_inst_stmt(g, inst), &end);
  for (; o < end; o++)
    if (is_whole(o) && hd_cfg_reg(g, g->insts[inst].call, o->sym) == reg) return true;
  return false;
}

void cfg_replaced(const hd_cfg *g, uint32_t inst, hd_reg_visit *visit, void *ctx) {
  const uint32_t flags = hd_inst_form(g, inst)->flags;
  if (!(flags & HD_OPF_RESULT) || flags & HD_OPF_CALLS) return;
  const hd_ptx_opnd *end, *o = results(g, hd_inst_stmt(g, inst), &end);
  for (; o < end; o++)
    if (is_whole(o) && g->module->syms[o->sym].kind == HD_SYM_REG)
      visit(ctx, hd_cfg_reg(g, g->insts[inst].call, o->sym));
}

/* The writers behind the instructions first .. end - 1 of one block, where `set` are those in front. */
static uint64_t pass(const cfg_reaching *r, uint32_t reg, uint32_t first, uint32_t end, uint64_t set) {
  const uint32_t *at = writers_of(r, reg), n = n_writers(r, reg);
  for (uint32_t k = 0; k < n; k++) {
    if (at[k] < first || at[k] >= end) continue;
    if (cfg_replaces(r->g, at[k], reg)) set = 0;
    set |= UINT64_C(1) << k;
  }
  return set;
}

/* From the blocks of the writers on, until no set grows. */
static void find_sets(cfg_reaching *r, uint32_t reg, uint64_t *in) {
  const hd_cfg *g = r->g;
  const uint32_t *at = writers_of(r, reg);
  uint32_t top = 0;
  for (uint32_t k = 0; k < n_writers(r, reg); k++) {
    uint32_t b = g->insts[at[k]].block;
    if (!r->waits[b]) r->stack[top++] = b;
    r->waits[b] = 1;
  }
  while (top) {
    uint32_t from = r->stack[--top];
    const hd_block *b = &g->blocks[from];
    uint64_t out = pass(r, reg, b->first, b->first + b->n_insts, in[from]);
    r->waits[from] = 0;
    for (uint32_t k = 0; k < b->n_succ; k++) {
      uint32_t to = g->edges[b->first_succ + k];
      if (!(out & ~in[to])) continue;
      in[to] |= out;
      if (!r->waits[to]) r->stack[top++] = to;
      r->waits[to] = 1;
    }
  }
}

void cfg_reaching_init(cfg_reaching *r, const hd_cfg *g, hd_arena *arena) {
  *r = (cfg_reaching){.g = g,
                      .arena = arena,
                      .in = HD_NEW_N(arena, (size_t)g->n_regs + 1, uint64_t *),
                      .stack = HD_NEW_N(arena, (size_t)g->n_blocks + 1, uint32_t),
                      .waits = HD_NEW_N(arena, (size_t)g->n_blocks + 1, uint8_t)};
  hd_writers_find(g, arena, &r->writers);
}

uint64_t cfg_reaching_at(cfg_reaching *r, uint32_t inst, uint32_t reg) {
  const uint32_t n = n_writers(r, reg);
  if (n < 2 || n > MOST_WRITERS) return UINT64_MAX;
  if (!r->in[reg]) {
    if ((r->sets += r->g->n_blocks) > MOST_SETS) return UINT64_MAX;
    r->in[reg] = HD_NEW_N(r->arena, r->g->n_blocks, uint64_t);
    find_sets(r, reg, r->in[reg]);
  }
  uint32_t block = r->g->insts[inst].block;
  return pass(r, reg, r->g->blocks[block].first, inst, r->in[reg][block]);
}
