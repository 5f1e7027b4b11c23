/* Uniformity: the registers, and the instructions, that are the same for all threads of a CTA or of a warp.
 */
#include <string.h>

#include "cfg/internal.h"
#include "heddle/ptx_facts.h"

/* A register's lowest five bits as a function of the lane. Where whole warps lie along x, %tid.x and
 * %ctaid.x * %ntid.x + %tid.x are 32*k + lane with one k in each warp; in any block, the number of a thread
 * in its CTA is, (%tid.z * %ntid.y + %tid.y) * %ntid.x + %tid.x. Comparing or dividing such a value at a
 * multiple of 32 has one result in each warp. */
typedef enum shape {
  NOT_WRITTEN = 0, /* by what was looked at so far */
  MULTIPLE,        /* of 32, one in each warp */
  LANE,            /* a MULTIPLE plus the lane */
  LANE_ALONE,      /* the lane */
  /* The number of a thread as it is worked out. */
  TID_X,
  TID_Y,
  TID_Z,
  NTID_X,
  NTID_Y,
  PLANE,    /* %tid.z * %ntid.y */
  ROW,      /* + %tid.y */
  ROW_BASE, /* * %ntid.x */
  ANY_SHAPE,
} shape;

/* Along post-dominators: beyond, every block counts as different for each thread. */
enum { MOST_STEPS = 1 << 26 };

typedef struct uniformity {
  const hd_cfg *g;
  const hd_ptx_module *m;
  uint32_t block_dims[3];
  uint8_t *blocks, *values; /* hd_same; values: of the results of each instruction, like the next */
  uint8_t *shapes;
  uint8_t *joined_values, *joined_shapes; /* per register of more than SOME writers: of all of them */
  uint64_t steps;                         /* taken so far; see MOST_STEPS */
  uint32_t *stack;                        /* scratch, a block each, like the next */
  uint8_t *seen;
  uint32_t assumed; /* a block whose branch goes one way; HD_NONE: none is assumed to */
  uint32_t *barriers,
      n_barriers;  /* instructions at which all threads of the CTA meet, or may in a function */
  hd_same meeting; /* the worst level of them: see count_barriers */
  uint32_t inst;   /* that is looked at */
  cfg_reaching reaching;
  cfg_alike alike;
  cfg_ranges ranges;
} uniformity;

/* ---- Levels ------------------------------------------------------------------------------------ */

static bool one_dimensional(const uniformity *w) {
  return w->block_dims[0] && w->block_dims[1] == 1 && w->block_dims[2] == 1;
}
/* Whole warps along x: then %tid.y and %tid.z are the same in a warp. */
static bool whole_warps(const uniformity *w) { return w->block_dims[0] && w->block_dims[0] % 32 == 0; }

static hd_same sreg_level(const uniformity *w, const hd_ptx_opnd *o) {
  switch (w->m->syms[o->sym].index) {
  case HD_SR_CTAID:
  case HD_SR_NCTAID:
  case HD_SR_NTID: return HD_SAME_IN_CTA;
  case HD_SR_TID:
    if (o->part == HD_M_X || !o->part) return HD_SAME_NOWHERE;
    return one_dimensional(w) ? HD_SAME_IN_CTA : whole_warps(w) ? HD_SAME_IN_WARP : HD_SAME_NOWHERE;
  default: return HD_SAME_NOWHERE;
  }
}

static hd_same worse(hd_same a, hd_same b) { return a > b ? a : b; }

/* The instructions whose results the one that is looked at may find in a register. Where it has more than
 * SOME writers, any of them may be: those are joined as they rise, so that a use takes no time for each. */
enum { SOME = 64 };
typedef struct origins {
  uint32_t reg;
  const uint32_t *insts;
  uint32_t n;   /* 0: they are joined */
  uint64_t set; /* of them */
} origins;

static origins origins_of(uniformity *w, hd_sym sym) {
  const uint32_t reg = hd_cfg_reg(w->g, w->g->insts[w->inst].call, sym);
  const uint32_t *first = &w->reaching.writers.first[reg];
  const uint32_t n = first[1] - first[0];
  return (origins){reg, &w->reaching.writers.insts[first[0]], n <= SOME ? n : 0,
                   cfg_reaching_at(&w->reaching, w->inst, reg)};
}

static bool is_origin(const origins *s, uint32_t i) { return s->set >> i & 1; }

static hd_same register_level(uniformity *w, hd_sym sym) {
  const origins s = origins_of(w, sym);
  hd_same level = (hd_same)w->joined_values[s.reg];
  for (uint32_t i = 0; i < s.n; i++)
    if (is_origin(&s, i)) level = worse(level, (hd_same)w->values[s.insts[i]]);
  return level;
}

static shape join_shapes(shape a, shape b) {
  return a == NOT_WRITTEN ? b : b == NOT_WRITTEN || a == b ? a : ANY_SHAPE;
}

static shape register_shape(uniformity *w, hd_sym sym) {
  const origins s = origins_of(w, sym);
  shape joined = (shape)w->joined_shapes[s.reg];
  for (uint32_t i = 0; i < s.n; i++)
    if (is_origin(&s, i)) joined = join_shapes(joined, (shape)w->shapes[s.insts[i]]);
  return joined;
}

/* A variable's address: local memory has one of its own for each thread. */
static hd_same symbol_level(const uniformity *w, hd_sym sym) {
  const hd_ptx_sym *y = &w->m->syms[sym];
  return y->kind == HD_SYM_VAR && w->m->vars[y->decl].space == HD_M_LOCAL ? HD_SAME_NOWHERE : HD_SAME_IN_CTA;
}

static hd_same address_level(uniformity *w, hd_sym base) {
  if (!base) return HD_SAME_IN_CTA;
  switch (w->m->syms[base].kind) {
  case HD_SYM_REG: return register_level(w, base);
  case HD_SYM_SREG: return HD_SAME_NOWHERE;
  default: return symbol_level(w, base);
  }
}

/* The worst level of what is read under operands first .. first + n - 1. */
static hd_same operand_levels(uniformity *w, uint32_t first, uint32_t n) {
  hd_same level = HD_SAME_IN_CTA;
  for (uint32_t i = first; i < first + n; i++) {
    const hd_ptx_opnd *o = &w->m->opnds[i];
    switch ((hd_ptx_opnd_kind)o->kind) {
    case HD_O_SREG: level = worse(level, sreg_level(w, o)); break;
    case HD_O_REG:
    case HD_O_ADDR: level = worse(level, address_level(w, o->sym)); break;
    case HD_O_SYM:
    case HD_O_GENERIC: level = worse(level, symbol_level(w, o->sym)); break;
    case HD_O_VEC:
    case HD_O_LIST:
    case HD_O_BRACKET:
    case HD_O_PAIR:
    case HD_O_INDEX: level = worse(level, operand_levels(w, o->sym, o->n_kids)); break;
    case HD_O_MASKED: level = worse(level, operand_levels(w, o->sym, 1)); break;
    case HD_O_NONE:
    case HD_O_INT:
    case HD_O_F32:
    case HD_O_F64:
    case HD_O_SINK:
    case HD_O_STRING:
    case HD_O_RAW: break;
    }
  }
  return level;
}

static bool is_variable(const uniformity *w, const hd_ptx_opnd *o) {
  return o->kind == HD_O_ADDR && o->sym && w->m->syms[o->sym].kind == HD_SYM_VAR;
}

static bool is_kernel_param(const uniformity *w, const hd_ptx_opnd *o) {
  return o->kind == HD_O_ADDR && cfg_is_own_param(w->g, o->sym);
}

static hd_same operand_level(uniformity *w, const hd_ptx_opnd *o) {
  return operand_levels(w, (uint32_t)(o - w->m->opnds), 1);
}

static bool lanes_along_x(const uniformity *w) { return one_dimensional(w) || whole_warps(w); }

static shape sreg_shape(const uniformity *w, const hd_ptx_opnd *o) {
  switch (w->m->syms[o->sym].index) {
  case HD_SR_TID:
    if (o->part == HD_M_X) return lanes_along_x(w) ? LANE : TID_X;
    return o->part == HD_M_Y ? TID_Y : o->part == HD_M_Z ? TID_Z : ANY_SHAPE;
  case HD_SR_NTID:
    if (o->part == HD_M_X) return whole_warps(w) ? MULTIPLE : NTID_X;
    return o->part == HD_M_Y ? NTID_Y : ANY_SHAPE;
  default: return ANY_SHAPE;
  }
}

static shape operand_shape(uniformity *w, const hd_ptx_opnd *o) {
  switch (o->kind) {
  case HD_O_INT: return o->imm % 32 == 0 ? MULTIPLE : ANY_SHAPE;
  case HD_O_REG: return o->flags & HD_OF_NEG || o->part ? ANY_SHAPE : register_shape(w, o->sym);
  case HD_O_SREG: return sreg_shape(w, o);
  default: return ANY_SHAPE;
  }
}

/* Either way round, a and b are x and y. */
static bool are(shape a, shape b, shape x, shape y) { return (a == x && b == y) || (a == y && b == x); }

static shape sum_shape(const uniformity *w, shape a, shape b) {
  if (a == NOT_WRITTEN || b == NOT_WRITTEN) return NOT_WRITTEN;
  if (a == MULTIPLE && b == MULTIPLE) return MULTIPLE;
  if (are(a, b, LANE, MULTIPLE) || are(a, b, LANE_ALONE, MULTIPLE) || are(a, b, ROW_BASE, TID_X)) return LANE;
  if (are(a, b, ROW_BASE, LANE) && lanes_along_x(w)) return LANE;
  return are(a, b, PLANE, TID_Y) ? ROW : ANY_SHAPE;
}

/* In a block that is one thread deep %tid.y is the number of the row. */
static bool is_row(const uniformity *w, shape s) { return s == ROW || (s == TID_Y && w->block_dims[2] == 1); }

/* The number of threads along an axis, in a register or as a number. */
static bool is_extent(uniformity *w, const hd_ptx_opnd *o, unsigned axis) {
  if (o->kind == HD_O_INT) return w->block_dims[axis] && o->imm == w->block_dims[axis];
  return operand_shape(w, o) == (axis ? NTID_Y : NTID_X);
}

static shape product_shape(uniformity *w, const hd_ptx_opnd *a, const hd_ptx_opnd *b) {
  shape x = operand_shape(w, a), y = operand_shape(w, b);
  if (x == NOT_WRITTEN || y == NOT_WRITTEN) return NOT_WRITTEN;
  if (x == MULTIPLE && operand_level(w, b) < HD_SAME_NOWHERE) return MULTIPLE;
  if (y == MULTIPLE && operand_level(w, a) < HD_SAME_NOWHERE) return MULTIPLE;
  if ((x == TID_Z && is_extent(w, b, 1)) || (y == TID_Z && is_extent(w, a, 1))) return PLANE;
  return (is_row(w, x) && is_extent(w, b, 0)) || (is_row(w, y) && is_extent(w, a, 0)) ? ROW_BASE : ANY_SHAPE;
}

/* Arithmetic modulo 2^16 or more. There a MULTIPLE wraps to a MULTIPLE and a LANE to a LANE: a warp's 32
 * values stay side by side, in signed and in unsigned order. */
static bool is_modular(const hd_ptx_form *f) { return hd_ptx_form_is_whole(f, 16); }

/* Without what the number of a thread is worked out from: none of that is taken away. */
static shape difference_shape(shape a, shape b) {
  if (a == NOT_WRITTEN || b == NOT_WRITTEN) return NOT_WRITTEN;
  if (a == LANE && b == LANE_ALONE) return MULTIPLE;
  return b == MULTIPLE && (a == MULTIPLE || a == LANE) ? a : ANY_SHAPE;
}

/* The number of the text that an operand is, in its type. */
static bool is_number(const uniformity *w, const hd_ptx_stmt *s, uint32_t operand, int64_t *value) {
  const hd_ptx_opnd *o = &w->m->opnds[s->first_opnd + operand];
  if (o->kind != HD_O_INT) return false;
  *value = hd_ptx_number_of(&w->m->forms[s->form], hd_ptx_result_of(w->m, s), operand, o->imm);
  return true;
}

static shape shifted_shape(uniformity *w, const hd_ptx_stmt *s, const hd_ptx_term *t) {
  const hd_ptx_opnd *o = &w->m->opnds[s->first_opnd + t->of];
  int64_t by;
  if (!is_number(w, s, t->by, &by)) return ANY_SHAPE;
  const shape x = operand_shape(w, o);
  if (x == NOT_WRITTEN) return NOT_WRITTEN;
  if (is_row(w, x) && by >= 0 && by < 5 && w->block_dims[0] == 1u << by) return ROW_BASE;
  return by >= 5 && operand_level(w, o) < HD_SAME_NOWHERE ? MULTIPLE : ANY_SHAPE;
}

static shape term_shape(uniformity *w, const hd_ptx_stmt *s, const hd_ptx_term *t) {
  const hd_ptx_opnd *o = &w->m->opnds[s->first_opnd];
  if (!t->by) return operand_shape(w, &o[t->of]);
  return t->power ? shifted_shape(w, s, t) : product_shape(w, &o[t->of], &o[t->by]);
}

/* The lowest five bits of a LANE. */
static shape masked_shape(uniformity *w, const hd_ptx_stmt *s, const hd_ptx_term *t) {
  const shape x = operand_shape(w, &w->m->opnds[s->first_opnd + t->of]);
  int64_t mask;
  if (x == NOT_WRITTEN) return NOT_WRITTEN;
  return (x == LANE || x == LANE_ALONE) && is_number(w, s, t->by, &mask) && mask == 31 ? LANE_ALONE
                                                                                       : ANY_SHAPE;
}

/* Of an instruction that writes one register; a vector's elements are parts of the number. */
static shape result_shape(uniformity *w, const hd_ptx_stmt *s) {
  const hd_ptx_result *r = hd_ptx_result_of(w->m, s);
  const hd_ptx_opnd *o = &w->m->opnds[s->first_opnd];
  if (!is_modular(&w->m->forms[s->form]) || o[0].kind != HD_O_REG) return ANY_SHAPE;
  if (r->makes == HD_MAKES_MASKED) return masked_shape(w, s, &r->terms[0]);
  if (r->makes != HD_MAKES_SUM) return ANY_SHAPE;
  const shape a = term_shape(w, s, &r->terms[0]);
  if (r->n_terms == 1) return a;
  const shape b = term_shape(w, s, &r->terms[1]);
  return r->terms[1].minus ? difference_shape(a, b) : sum_shape(w, a, b);
}

/* n * 32 of n > 0 divides the lanes' numbers between warps, but where division rounds towards zero: -32 to -1
 * are one warp's, and -32 / 32 is -1 where -31 / 32 is 0. */
static bool divides_between_warps(uniformity *w, const hd_ptx_stmt *s, const hd_ptx_form *f) {
  const hd_ptx_opnd *o = &w->m->opnds[s->first_opnd];
  int64_t by;
  if (!is_number(w, s, 2, &by) || by <= 0 || by % 32) return false;
  for (unsigned k = 0; k < f->n_mods; k++)
    if (hd_ptx_type_of(f->mods[k]).number == HD_NUM_UNSIGNED) return true;
  return cfg_is_not_negative(&w->ranges, w->inst, &o[1]);
}

/* A comparison, a division, or what is left without the lane: it has one result in all of a warp, because it
 * cuts between warps. */
static bool cuts_between_warps(uniformity *w, const hd_ptx_stmt *s, const hd_ptx_form *f) {
  const hd_ptx_opnd *o = &w->m->opnds[s->first_opnd];
  if (s->n_opnds != 3 || !is_modular(f)) return false;
  shape a = operand_shape(w, &o[1]), b = operand_shape(w, &o[2]);
  /* A register without a value so far: levels only rise, and the pass after its first write looks again. */
  if (a == NOT_WRITTEN || b == NOT_WRITTEN) return true;
  if (a != LANE) return false;
  int64_t value = 0;
  const bool number = is_number(w, s, 2, &value);
  const hd_ptx_result *r = hd_ptx_result_of(w->m, s);
  switch (r->makes) {
  case HD_MAKES_QUOTIENT: /* a power is divided by downwards, whatever the sign */
    return r->terms[0].power ? number && value >= 5 : divides_between_warps(w, s, f);
  case HD_MAKES_MASKED: return number && value % 32 == 0;
  case HD_MAKES_SUM: return r->n_terms == 2 && r->terms[1].minus && b == LANE_ALONE;
  case HD_MAKES_COMPARISON:
    if (hd_ptx_form_has(f, HD_M_LT) || hd_ptx_form_has(f, HD_M_GE)) return b == MULTIPLE;
    if (hd_ptx_form_has(f, HD_M_GT) || hd_ptx_form_has(f, HD_M_LE))
      return number && value >= 0 && value % 32 == 31;
    return false;
  default: return false;
  }
}

/* shfl.sync.idx d, a, lane, 31, mask: all lanes get one lane's value. */
static bool is_broadcast(uniformity *w, const hd_ptx_stmt *s, const hd_ptx_form *f) {
  const hd_ptx_opnd *o = &w->m->opnds[s->first_opnd];
  return hd_ptx_form_has(f, HD_M_SYNC) && hd_ptx_form_has(f, HD_M_IDX) && s->n_opnds == 5 &&
         o[0].kind == HD_O_REG && o[3].kind == HD_O_INT && o[3].imm == 31 &&
         operand_level(w, &o[2]) < HD_SAME_NOWHERE && operand_level(w, &o[4]) < HD_SAME_NOWHERE;
}

static hd_same load_level(uniformity *w, uint32_t inst, const hd_ptx_stmt *s, const hd_ptx_form *f,
                          hd_same sources) {
  const hd_ptx_opnd *o = &w->m->opnds[s->first_opnd];
  if (sources == HD_SAME_NOWHERE || s->n_opnds < 2) return HD_SAME_NOWHERE;
  if (hd_ptx_form_has(f, HD_M_PARAM) && is_variable(w, &o[1]))
    return is_kernel_param(w, &o[1]) ? sources : HD_SAME_NOWHERE;
  if (hd_ptx_form_has(f, HD_M_NC)) return sources; /* read-only data */
  return worse(worse(sources, w->meeting), cfg_load_is_alike_in(&w->alike, inst));
}

/* Lanes with several masks are several groups. */
static hd_same members_level(uniformity *w, const hd_ptx_stmt *s, const hd_ptx_form *f) {
  const hd_ptx_opnd *mask = &w->m->opnds[s->first_opnd + s->n_opnds - 1u];
  return hd_ptx_form_has(f, HD_M_SYNC) && operand_level(w, mask) < HD_SAME_NOWHERE ? HD_SAME_IN_WARP
                                                                                   : HD_SAME_NOWHERE;
}

/* The level of an instruction's result, without those of its guard and its block. */
static hd_same result_level(uniformity *w, uint32_t inst) {
  const hd_ptx_stmt *s = hd_inst_stmt(w->g, inst);
  const hd_ptx_form *f = &w->m->forms[s->form];
  if (!s->n_opnds) return HD_SAME_NOWHERE; /* nor a result */
  const hd_same sources = operand_levels(w, s->first_opnd + 1, s->n_opnds - 1u);
  switch (hd_ptx_alike_of(f)) {
  case HD_ALIKE_NOWHERE:
  case HD_ALIKE_NO_RESULT: break;
  case HD_ALIKE_OPERANDS:
    if (f->op == HD_OP_SETP && sources != HD_SAME_IN_CTA && cfg_is_decided(&w->ranges, inst))
      return HD_SAME_IN_CTA;
    return sources == HD_SAME_NOWHERE && cuts_between_warps(w, s, f) ? HD_SAME_IN_WARP : sources;
  case HD_ALIKE_MEMORY: return load_level(w, inst, s, f, sources);
  case HD_ALIKE_MEMBERS: return members_level(w, s, f);
  case HD_ALIKE_SOURCE: return is_broadcast(w, s, f) ? HD_SAME_IN_WARP : HD_SAME_NOWHERE;
  /* A barrier for a part of the CTA informs only that part. */
  case HD_ALIKE_BARRIER:
    return hd_inst_is_full_barrier(w->g, inst, w->block_dims) ? w->meeting : HD_SAME_NOWHERE;
  }
  return HD_SAME_NOWHERE;
}

/* ---- Raising ------------------------------------------------------------------------------ */

/* For a register that the instruction that is looked at writes. */
static void join_writer(void *ctx, uint32_t reg) {
  uniformity *w = ctx;
  const uint32_t *first = &w->reaching.writers.first[reg];
  if (first[1] - first[0] <= SOME) return;
  w->joined_values[reg] = (uint8_t)worse((hd_same)w->joined_values[reg], (hd_same)w->values[w->inst]);
  w->joined_shapes[reg] = (uint8_t)join_shapes((shape)w->joined_shapes[reg], (shape)w->shapes[w->inst]);
}

/* True if the result of the instruction that is looked at rises. */
static bool raise_value(uniformity *w, hd_same level, shape sh) {
  uint8_t *at = &w->values[w->inst], *shape_at = &w->shapes[w->inst];
  const hd_same raised = worse((hd_same)*at, level);
  const shape joined = join_shapes((shape)*shape_at, sh);
  const bool changed = raised != *at || joined != *shape_at;
  *at = (uint8_t)raised;
  *shape_at = (uint8_t)joined;
  if (changed) hd_inst_writes(w->g, w->inst, join_writer, w);
  return changed;
}

/* Of the instruction that is looked at. */
static hd_same guard_level(uniformity *w) {
  hd_sym guard = hd_inst_stmt(w->g, w->inst)->guard;
  return guard ? register_level(w, guard) : HD_SAME_IN_CTA;
}

static hd_same branch_level(uniformity *w, const hd_block *b) {
  if (b->n_succ < 2) return HD_SAME_IN_CTA;
  uint32_t last = b->first + b->n_insts - 1;
  const hd_ptx_stmt *s = hd_inst_stmt(w->g, last);
  w->inst = last;
  return worse(guard_level(w), operand_levels(w, s->first_opnd, s->n_opnds));
}

static bool raise_block(uniformity *w, uint32_t b, hd_same level) {
  if (w->blocks[b] >= level) return false;
  w->blocks[b] = (uint8_t)level;
  return true;
}

/* Some ways of a branch may go round for ever, so its ways need not meet. Every block that they reach then
 * depends on the branch. */
static bool raise_reached(uniformity *w, uint32_t from, hd_same level) {
  bool changed = false;
  uint32_t top = 0;
  memset(w->seen, 0, w->g->n_blocks);
  w->stack[top++] = from;
  while (top) {
    const hd_block *b = &w->g->blocks[w->stack[--top]];
    for (uint32_t k = 0; k < b->n_succ; k++) {
      uint32_t to = w->g->edges[b->first_succ + k];
      if (w->seen[to]) continue;
      w->seen[to] = 1;
      changed |= raise_block(w, to, level);
      w->stack[top++] = to;
    }
  }
  return changed;
}

/* There is a way from b that never reaches the exit: threads that take it come to no place where ways meet.
 */
static bool may_go_for_ever(const hd_cfg *g, const hd_block *b) {
  if (b->ipdom == HD_NONE) return true;
  for (uint32_t k = 0; k < b->n_succ; k++) {
    uint32_t to = g->edges[b->first_succ + k];
    if (to != g->n_blocks - 1 && g->blocks[to].ipdom == HD_NONE) return true;
  }
  return false;
}

/* Raise the blocks that are control-dependent on a block's branch: from its successors up to where its ways
 * meet. */
static bool raise_dependents(uniformity *w, uint32_t block, hd_same level) {
  const hd_block *b = &w->g->blocks[block];
  bool changed = false;
  if (may_go_for_ever(w->g, b)) return raise_reached(w, block, level);
  for (uint32_t k = 0; k < b->n_succ; k++)
    for (uint32_t at = w->g->edges[b->first_succ + k]; at != b->ipdom; at = w->g->blocks[at].ipdom) {
      if (w->steps++ > MOST_STEPS) return true; /* one more pass */
      changed |= raise_block(w, at, level);
    }
  return changed;
}

/* Barriers pair threads by how many each has run, not by where they stand. If not all threads run all of
 * them, one that all run may be the second of some and the third of others, and these bring each other
 * different answers; and a load behind it lies between other barriers for the ones than for the others. True
 * if the level rises. */
static bool count_barriers(uniformity *w) {
  const hd_same was = w->meeting;
  for (uint32_t i = 0; i < w->n_barriers; i++) {
    w->inst = w->barriers[i];
    w->meeting = worse(w->meeting, worse((hd_same)w->blocks[w->g->insts[w->inst].block], guard_level(w)));
  }
  return w->meeting != was;
}

static void find_barriers(uniformity *w, hd_arena *arena) {
  w->barriers = HD_NEW_N(arena, (size_t)w->g->n_insts + 1, uint32_t);
  for (uint32_t i = 0; i < w->g->n_insts; i++) {
    const bool calls = hd_inst_form(w->g, i)->flags & HD_OPF_CALLS && !w->g->insts[i].body &&
                       !hd_call_writes_nothing(w->m, hd_inst_stmt(w->g, i));
    if (calls || hd_inst_is_full_barrier(w->g, i, w->block_dims)) w->barriers[w->n_barriers++] = i;
  }
}

/* One pass over branches and instructions; true while something rises. */
static bool raise_levels(uniformity *w) {
  const hd_cfg *g = w->g;
  bool changed = count_barriers(w);
  for (uint32_t b = 0; b + 1 < g->n_blocks; b++) {
    if (w->steps > MOST_STEPS) {
      changed |= raise_block(w, b, HD_SAME_NOWHERE);
      continue;
    }
    if (b == w->assumed) continue;
    hd_same level = worse(branch_level(w, &g->blocks[b]), (hd_same)w->blocks[b]);
    if (level != HD_SAME_IN_CTA && g->blocks[b].n_succ > 1) changed |= raise_dependents(w, b, level);
  }
  for (uint32_t i = 0; i < g->n_insts; i++) {
    const hd_ptx_stmt *s = hd_inst_stmt(g, i);
    w->inst = i;
    hd_same way = worse((hd_same)w->blocks[g->insts[i].block], guard_level(w)); /* on which it is reached */
    changed |= raise_value(w, worse(result_level(w, i), way),
                           way == HD_SAME_NOWHERE ? ANY_SHAPE : result_shape(w, s));
  }
  return changed;
}

void hd_uniformity_assume(const hd_cfg *g, const uint32_t block_dims[3], uint32_t branch, hd_arena *arena,
                          hd_uniformity *out) {
  uniformity w = {.g = g,
                  .assumed = branch,
                  .m = g->module,
                  .blocks = HD_NEW_N(arena, g->n_blocks, uint8_t),
                  .values = HD_NEW_N(arena, (size_t)g->n_insts + 1, uint8_t),
                  .shapes = HD_NEW_N(arena, (size_t)g->n_insts + 1, uint8_t),
                  .joined_values = HD_NEW_N(arena, (size_t)g->n_regs + 1, uint8_t),
                  .joined_shapes = HD_NEW_N(arena, (size_t)g->n_regs + 1, uint8_t),
                  .stack = HD_NEW_N(arena, (size_t)g->n_blocks + 1, uint32_t),
                  .seen = HD_NEW_N(arena, (size_t)g->n_blocks + 1, uint8_t)};
  cfg_reaching_init(&w.reaching, g, arena);
  w.alike = (cfg_alike){.g = g, .arena = arena, .writers = &w.reaching.writers};
  w.ranges = (cfg_ranges){.g = g, .arena = arena, .writers = &w.reaching.writers};
  memcpy(w.block_dims, block_dims, sizeof w.block_dims);
  memcpy(w.ranges.block_dims, block_dims, sizeof w.block_dims);
  memcpy(w.alike.block_dims, block_dims, sizeof w.block_dims);
  find_barriers(&w, arena);
  while (raise_levels(&w)) {
  }
  *out = (hd_uniformity){.block = w.blocks, .inst = HD_NEW_N(arena, (size_t)g->n_insts + 1, uint8_t)};
  for (w.inst = 0; w.inst < g->n_insts; w.inst++)
    out->inst[w.inst] = (uint8_t)worse((hd_same)w.blocks[g->insts[w.inst].block], guard_level(&w));
}

void hd_uniformity_find(const hd_cfg *g, const uint32_t block_dims[3], hd_arena *arena, hd_uniformity *out) {
  hd_uniformity_assume(g, block_dims, HD_NONE, arena, out);
}

hd_same hd_inst_same(const hd_uniformity *u, uint32_t inst) { return (hd_same)u->inst[inst]; }
