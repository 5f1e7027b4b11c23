/* Operations of a warp whose mask is what a ballot gave.
 *
 *     vote.sync.ballot.b32 M, p, ...;  @!p bra D;  shfl.sync... M;  D:
 *
 * M names the lanes that took part in this vote and said yes, and these are the lanes that do not branch. So
 * all of M run what they run alike behind the branch. Blocks that are the same for a warp were its branch the
 * same for all are the same for these lanes: none of them took the other way. In a cycle that does not hold,
 * where values come back that lanes of the other way had in the turn before. */
#include "cfg/internal.h"
#include "heddle/ptx_facts.h"

typedef struct written {
  uint32_t reg;
  bool found;
} written;

static void see(void *ctx, uint32_t reg) {
  written *w = ctx;
  w->found |= reg == w->reg;
}

static bool writes(const hd_cfg *g, uint32_t inst, hd_sym sym) {
  written w = {.reg = hd_cfg_reg(g, g->insts[inst].call, sym)};
  hd_inst_writes(g, inst, see, &w);
  return w.found;
}

/* The last instruction of the block in front of `inst` that writes the register; HD_NONE: there is none. */
static uint32_t writer_before(const hd_cfg *g, uint32_t inst, hd_sym sym) {
  for (uint32_t i = inst; i-- > g->blocks[g->insts[inst].block].first;)
    if (writes(g, i, sym)) return i;
  return HD_NONE;
}

static hd_mod inverse(hd_mod comparison) {
  static const hd_mod pairs[][2] = {
      {HD_M_LT, HD_M_GE}, {HD_M_GT, HD_M_LE}, {HD_M_EQ, HD_M_NE}, {HD_M_LO, HD_M_HS}, {HD_M_HI, HD_M_LS}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    for (unsigned k = 0; k < 2; k++)
      if (pairs[i][k] == comparison) return pairs[i][1 - k];
  return HD_M_NONE;
}

/* A comparison of whole numbers: setp.CMP.TYPE p, a, b. */
static const hd_ptx_form *plain_comparison(const hd_cfg *g, uint32_t inst) {
  const hd_ptx_stmt *s = hd_inst_stmt(g, inst);
  const hd_ptx_form *f = hd_inst_form(g, inst);
  if (f->op != HD_OP_SETP || s->guard || s->n_opnds != 3 || f->n_mods != 2) return NULL;
  hd_ptx_number n = hd_ptx_type_of(f->mods[1]).number;
  bool whole = n == HD_NUM_UNSIGNED || n == HD_NUM_SIGNED || n == HD_NUM_BITS;
  return whole && g->module->opnds[s->first_opnd].kind == HD_O_REG ? f : NULL;
}

/* An operand that is the same at both instructions of one block. */
static bool same_operand(const hd_cfg *g, uint32_t first, uint32_t second, unsigned k) {
  const hd_ptx_opnd *a = &g->module->opnds[hd_inst_stmt(g, first)->first_opnd + k];
  const hd_ptx_opnd *b = &g->module->opnds[hd_inst_stmt(g, second)->first_opnd + k];
  if (a->kind != b->kind || a->part != b->part || a->flags != b->flags) return false;
  if (a->kind == HD_O_INT) return a->imm == b->imm;
  if (a->kind != HD_O_REG || a->sym != b->sym) return false;
  for (uint32_t i = first; i < second; i++)
    if (writes(g, i, a->sym)) return false;
  return true;
}

/* Predicates p at one instruction of a block and q at another one: the one holds where the other does not. */
static bool are_opposite(const hd_cfg *g, uint32_t at_p, hd_sym p, uint32_t at_q, hd_sym q) {
  uint32_t a = writer_before(g, at_p, p), b = writer_before(g, at_q, q);
  if (a == HD_NONE || b == HD_NONE || a == b) return false;
  uint32_t first = a < b ? a : b, second = a < b ? b : a;
  const hd_ptx_form *f = plain_comparison(g, first), *h = plain_comparison(g, second);
  return f && h && f->mods[1] == h->mods[1] && inverse(f->mods[0]) == h->mods[0] &&
         same_operand(g, first, second, 1) && same_operand(g, first, second, 2);
}

/* Where the lanes go that said yes in the vote, by the branch that ends its block; HD_NONE: not known. */
static uint32_t way_of_yes(const hd_cfg *g, uint32_t vote) {
  const hd_block *b = &g->blocks[g->insts[vote].block];
  uint32_t last = b->first + b->n_insts - 1;
  const hd_ptx_stmt *branch = hd_inst_stmt(g, last);
  const hd_ptx_opnd *p = &g->module->opnds[hd_inst_stmt(g, vote)->first_opnd + 1];
  if (b->n_succ != 2 || hd_inst_form(g, last)->op != HD_OP_BRA || !branch->guard || p->kind != HD_O_REG)
    return HD_NONE;
  bool yes = !(p->flags & HD_OF_NEG), taken; /* the predicate's value where the lane says yes */
  if (p->sym == branch->guard && writer_before(g, vote, p->sym) == writer_before(g, last, p->sym))
    taken = yes == !branch->guard_neg;
  else if (are_opposite(g, vote, p->sym, last, branch->guard))
    taken = yes == branch->guard_neg;
  else
    return HD_NONE;
  return g->edges[b->first_succ + (taken ? 0 : 1)];
}

bool hd_members_run(const hd_cfg *g, const hd_writers *writers, const uint32_t block_dims[3], uint32_t inst,
                    hd_arena *arena) {
  const hd_ptx_stmt *s = hd_inst_stmt(g, inst);
  if (!s->n_opnds || g->irreducible) return false;
  const hd_ptx_opnd *mask = &g->module->opnds[s->first_opnd + s->n_opnds - 1u];
  if (mask->kind != HD_O_REG || mask->part) return false;
  const uint32_t *at = &writers->first[hd_cfg_reg(g, g->insts[inst].call, mask->sym)];
  if (at[1] - at[0] != 1) return false;
  uint32_t vote = writers->insts[at[0]], block = g->insts[vote].block;
  const hd_ptx_form *f = hd_inst_form(g, vote);
  if (f->op != HD_OP_VOTE || !hd_ptx_form_has(f, HD_M_BALLOT) || !hd_ptx_form_has(f, HD_M_SYNC) ||
      hd_inst_stmt(g, vote)->guard || g->blocks[block].loop != HD_NONE)
    return false;
  uint32_t way = way_of_yes(g, vote);
  if (way == HD_NONE || g->blocks[way].n_pred != 1 || !hd_dominates(g, way, g->insts[inst].block))
    return false;
  hd_uniformity same;
  hd_uniformity_assume(g, block_dims, block, arena, &same);
  return hd_inst_same(&same, inst) <= HD_SAME_IN_WARP;
}
