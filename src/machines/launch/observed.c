/* Which pointers' bits a kernel turns into numbers. From the bits of two it can work out their distance, bit
 * by bit, through branches, guards, tables or marks in memory, and then go from the one's buffer to the
 * other's. None of these ways is followed: it is enough that the bits of both are numbers somewhere.
 *
 * A register holds an address through a parameter; or the gap between two such, which leads from the one's
 * buffer to the other's; or another sum, whose low bits are made of the low bits of these alone; or numbers
 * made of bits. Low bits, by which code asks for alignment, tell no distance,
 * and neither does whether a pointer is null, whether two are equal, or how far apart two addresses through
 * one parameter are. */
#include "heddle/ptx_facts.h"
#include "launch/slice.h"

enum { LOW_BITS = 256, MOST_PARAMS = 64 };

/* Sets of parameters; those from MOST_PARAMS - 1 on share a bit. */
typedef struct seen {
  uint64_t of;   /* an address through one of them */
  uint64_t gap;  /* the difference of two such, and a number */
  uint64_t sum;  /* made of their addresses, and its low bits of their low bits */
  uint64_t bits; /* made of their bits */
} seen;

typedef struct search {
  const slice *s;
  seen *regs;
  seen memory, params; /* what was stored; what functions are passed */
  bool changed;
} search;

static bool is_one(uint64_t set) { return set && !(set & (set - 1)); }

static seen joined(seen a, seen b) {
  return (seen){a.of | b.of, a.gap | b.gap, a.sum | b.sum, a.bits | b.bits};
}

static seen as_sum(seen x) { return (seen){.sum = x.of | x.gap | x.sum, .bits = x.bits}; }

static seen as_bits(seen x) { return (seen){.bits = x.of | x.gap | x.sum | x.bits}; }

static void add(search *x, seen *to, seen more) {
  const seen all = joined(*to, more);
  x->changed |= all.of != to->of || all.gap != to->gap || all.sum != to->sum || all.bits != to->bits;
  *to = all;
}

static seen of_operand(const search *x, uint32_t inst, const hd_ptx_opnd *o) {
  const hd_cfg *g = x->s->g;
  seen all = {0};
  switch ((hd_ptx_opnd_kind)o->kind) {
  case HD_O_REG:
  case HD_O_ADDR:
    if (o->sym && g->module->syms[o->sym].kind == HD_SYM_REG) {
      const uint32_t reg = hd_cfg_reg(g, g->insts[inst].call, o->sym), *w = &x->s->writers.first[reg];
      all = w[0] == w[1] ? x->params : x->regs[reg]; /* a function's parameter that is a register */
    }
    return o->part ? as_bits(all) : all;
  case HD_O_VEC:
  case HD_O_LIST:
  case HD_O_BRACKET:
  case HD_O_PAIR:
  case HD_O_INDEX:
    for (uint32_t k = 0; k < o->n_kids; k++)
      all = joined(all, of_operand(x, inst, &g->module->opnds[o->sym + k]));
    return all;
  case HD_O_NONE:
  case HD_O_SREG:
  case HD_O_INT:
  case HD_O_F32:
  case HD_O_F64:
  case HD_O_SYM:
  case HD_O_GENERIC:
  case HD_O_MASKED:
  case HD_O_SINK:
  case HD_O_STRING:
  case HD_O_RAW: break;
  }
  return all;
}

static seen all_operands(const search *x, uint32_t inst, uint32_t first) {
  const hd_ptx_stmt *st = hd_inst_stmt(x->s->g, inst);
  seen all = {0};
  for (uint32_t k = first; k < st->n_opnds; k++)
    all = joined(all, of_operand(x, inst, &x->s->g->module->opnds[st->first_opnd + k]));
  return all;
}

/* ---- What instructions compute ---------------------------------------------------------------------- */

/* a + (b - a) is an address through b; added to a third one, a distance is an index. */
static seen added(seen a, seen b, bool minus) {
  const seen both = joined(a, b);
  seen out = {.sum = a.sum | b.sum, .bits = a.bits | b.bits};
  if (a.of && b.of) {
    const bool within = minus && a.of == b.of && is_one(a.of) && !both.gap;
    if (!within && minus && !both.gap)
      out.gap = both.of;
    else if (!within)
      out.sum |= both.of | both.gap;
  } else if (minus && (b.of || b.gap) && !(a.of && b.gap)) {
    out.sum |= both.of | both.gap;
  } else if (!both.of || (a.gap && b.gap)) {
    out.gap = a.gap && b.gap ? 0 : both.gap;
    out.sum |= a.gap && b.gap ? both.gap : 0;
  } else {
    const bool leads = both.gap && (both.of & both.gap) == both.of;
    out.of = leads ? both.gap : both.of;
    out.bits |= (leads ? 0 : both.gap) | out.sum;
    out.sum = 0;
  }
  return out;
}

static seen of_term(const search *x, uint32_t inst, const hd_ptx_opnd *o, const hd_ptx_term *t) {
  const seen a = of_operand(x, inst, &o[t->of]);
  return t->by ? joined(as_sum(a), as_sum(of_operand(x, inst, &o[t->by]))) : a;
}

static bool is_low_mask(const hd_ptx_opnd *o) {
  return o->kind == HD_O_INT && o->imm >= 0 && o->imm < LOW_BITS;
}

/* A mask that keeps all but low bits leaves an address. */
static seen masked(const search *x, uint32_t inst, const hd_ptx_opnd *o) {
  const seen a = of_operand(x, inst, &o[1]), b = of_operand(x, inst, &o[2]);
  if (is_low_mask(&o[1]) || is_low_mask(&o[2])) return (seen){.bits = a.bits | b.bits};
  const hd_ptx_opnd *mask = o[2].kind == HD_O_INT ? &o[2] : &o[1];
  if (mask->kind != HD_O_INT || mask->imm >= 0) return joined(as_sum(a), as_sum(b));
  const seen of = joined(a, b);
  return (seen){.of = of.of, .sum = of.gap | of.sum, .bits = of.bits};
}

/* Bits below a buffer's boundary are put into an address, or taken out. */
static seen mixed(const hd_ptx_opnd *o, seen all) {
  const bool low = is_low_mask(&o[1]) || is_low_mask(&o[2]);
  return low ? (seen){.of = all.of, .sum = all.gap | all.sum, .bits = all.bits} : as_sum(all);
}

bool slice_is_parameter(const slice *s, uint32_t inst, const hd_ptx_opnd *o) {
  enum { MOST_COPIES = 12 };
  const hd_ptx_module *m = s->g->module;
  for (unsigned steps = 0; steps < MOST_COPIES && o->kind == HD_O_REG && !o->part; steps++) {
    const uint32_t *w = &s->writers.first[hd_cfg_reg(s->g, s->g->insts[inst].call, o->sym)];
    if (w[1] - w[0] != 1) return false;
    inst = s->writers.insts[w[0]];
    const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
    const hd_ptx_result *r = hd_ptx_result_of(m, st);
    const hd_ptx_access a = hd_ptx_access_of(&m->forms[st->form]);
    o = &m->opnds[st->first_opnd];
    if (hd_ptx_access_in(&a, HD_IN_PARAM) & HD_ACC_READ)
      return st->n_opnds == 2 && o[1].kind == HD_O_ADDR && hd_cfg_param(s->g, o[1].sym) != HD_NONE;
    if (r->makes != HD_MAKES_PLACE && !(hd_ptx_is_copy(r) && hd_ptx_form_is_whole(&m->forms[st->form], 64)))
      return false;
    o += r->terms[0].of;
  }
  return false;
}

/* Two addresses through one parameter; a parameter and 0, or another one. */
static bool tells_nothing(const search *x, uint32_t inst, const hd_ptx_opnd *o) {
  const hd_ptx_form *f = hd_inst_form(x->s->g, inst);
  const seen a = of_operand(x, inst, &o[1]), b = of_operand(x, inst, &o[2]);
  if (is_one(a.of) && a.of == b.of && !a.sum && !b.sum && !a.gap && !b.gap) return true;
  if (!hd_ptx_form_has(f, HD_M_EQ) && !hd_ptx_form_has(f, HD_M_NE)) return false;
  return slice_is_parameter(x->s, inst, &o[1]) &&
         ((o[2].kind == HD_O_INT && !o[2].imm) || slice_is_parameter(x->s, inst, &o[2]));
}

static seen computed(const search *x, uint32_t inst) {
  const hd_ptx_module *m = x->s->g->module;
  const hd_ptx_stmt *st = hd_inst_stmt(x->s->g, inst);
  const hd_ptx_form *f = hd_inst_form(x->s->g, inst);
  const hd_ptx_opnd *o = &m->opnds[st->first_opnd];
  const hd_ptx_result *r = hd_ptx_result_of(m, st);
  const seen all = all_operands(x, inst, 1);
  if (f->op == HD_OP_SETP && st->n_opnds == 3 && tells_nothing(x, inst, o)) return (seen){.bits = all.bits};
  if (!hd_ptx_form_is_whole(f, 32) || o[0].kind != HD_O_REG || f->flags & HD_OPF_READS_CARRY)
    return as_bits(all);
  switch ((hd_ptx_makes)r->makes) {
  case HD_MAKES_SUM: {
    const seen a = of_term(x, inst, o, &r->terms[0]);
    if (r->n_terms == 2) return added(a, of_term(x, inst, o, &r->terms[1]), r->terms[1].minus);
    return hd_ptx_form_is_whole(f, 64) ? a : as_sum(a);
  }
  case HD_MAKES_PLACE: return all;
  case HD_MAKES_MASKED: return masked(x, inst, o);
  case HD_MAKES_NEGATED: return as_sum(all);
  case HD_MAKES_JOINED:
  case HD_MAKES_MIXED: return st->n_opnds == 3 ? mixed(o, all) : as_sum(all);
  case HD_MAKES_LEAST:
  case HD_MAKES_GREATEST: return as_bits(all);
  case HD_MAKES_CHOICE:
    return joined(joined(of_operand(x, inst, &o[1]), of_operand(x, inst, &o[2])),
                  as_bits(of_operand(x, inst, &o[3])));
  case HD_MAKES_ANYTHING:
  case HD_MAKES_QUOTIENT:
  case HD_MAKES_REMAINDER:
  case HD_MAKES_PART:
  case HD_MAKES_COMPARISON: break;
  }
  return as_bits(all);
}

/* ---- Memory ---------------------------------------------------------------------------------------------
 */

static seen of_param(uint32_t param) {
  return (seen){.of = UINT64_C(1) << (param < MOST_PARAMS ? param : MOST_PARAMS - 1)};
}

/* A pointer of the host's is as long as 64 bits; a half of one is a number. */
static seen loaded_param(const search *x, uint32_t inst, const hd_ptx_access *a) {
  const hd_ptx_module *m = x->s->g->module;
  const hd_ptx_opnd *o = &m->opnds[hd_inst_stmt(x->s->g, inst)->first_opnd + 1];
  const uint32_t param = o->kind == HD_O_ADDR && o->sym && m->syms[o->sym].kind == HD_SYM_VAR
                             ? hd_cfg_param(x->s->g, o->sym)
                             : HD_NONE;
  const uint32_t own = x->s->g->calls[0].func;
  if (param == HD_NONE) return x->params;
  const hd_ptx_var *v = &m->vars[m->funcs[own].first_param + param];
  const uint32_t each = a->bytes / (a->elements ? a->elements : 1);
  if (each >= sizeof(uint64_t)) return of_param(param);
  return v->n_dims || hd_ptx_type_size(v->type) >= sizeof(uint64_t) ? as_bits(of_param(param)) : (seen){0};
}

typedef struct writing {
  search *x;
  seen value;
} writing;

static void write_register(void *ctx, uint32_t reg) {
  writing *w = ctx;
  add(w->x, &w->x->regs[reg], w->value);
}

/* Where an access leads shows in what it brings, or leaves; the base by itself is no number. */
static seen of_addresses(const search *x, uint32_t inst, const hd_ptx_access *a) {
  const hd_ptx_stmt *st = hd_inst_stmt(x->s->g, inst);
  seen all = {0};
  for (unsigned k = 0; k < a->n; k++)
    if (a->touches[k].operand < st->n_opnds)
      all = joined(all, of_operand(x, inst, &x->s->g->module->opnds[st->first_opnd + a->touches[k].operand]));
  return (seen){.bits = all.bits | all.sum | all.gap};
}

static bool is_address(const hd_ptx_access *a, uint32_t operand) {
  bool is = false;
  for (unsigned k = 0; k < a->n; k++) is |= a->touches[k].operand == operand;
  return is;
}

static seen of_guard(const search *x, uint32_t inst) {
  const hd_sym guard = hd_inst_stmt(x->s->g, inst)->guard;
  if (!guard) return (seen){0};
  return as_bits(x->regs[hd_cfg_reg(x->s->g, x->s->g->insts[inst].call, guard)]);
}

static void see_store(search *x, uint32_t inst, const hd_ptx_access *a, seen *memory) {
  const hd_ptx_stmt *st = hd_inst_stmt(x->s->g, inst);
  seen values = joined(of_addresses(x, inst, a), of_guard(x, inst));
  for (uint32_t k = 0; k < st->n_opnds; k++)
    if (!is_address(a, k))
      values = joined(values, of_operand(x, inst, &x->s->g->module->opnds[st->first_opnd + k]));
  add(x, memory, values);
}

/* A number of 32 bits is no address that was stored. */
static seen loaded(const search *x, uint32_t inst, const hd_ptx_access *a) {
  const seen where = of_addresses(x, inst, a);
  if (hd_ptx_access_in(a, HD_IN_PARAM)) return joined(where, loaded_param(x, inst, a));
  if (a->bytes && a->bytes / (a->elements ? a->elements : 1) < sizeof(uint64_t))
    return (seen){.bits = where.bits | x->memory.bits | x->memory.sum | x->memory.gap};
  return joined(where, x->memory);
}

static void see(search *x, uint32_t inst) {
  const hd_cfg *g = x->s->g;
  const hd_ptx_stmt *st = hd_inst_stmt(g, inst);
  const hd_ptx_form *f = hd_inst_form(g, inst);
  const hd_ptx_access a = hd_ptx_access_of(f);
  writing w = {.x = x};
  if (f->flags & HD_OPF_CALLS) {
    add(x, &x->params, all_operands(x, inst, 0));
    w.value = x->params;
  } else if (a.kinds) {
    if (a.kinds & HD_ACC_WRITE)
      see_store(x, inst, &a, hd_ptx_access_in(&a, HD_IN_PARAM) ? &x->params : &x->memory);
    if (a.kinds & HD_ACC_READ) w.value = loaded(x, inst, &a);
  } else if (st->n_opnds) {
    w.value = computed(x, inst);
  }
  /* A branch, and the carry flag, bring them to what is not followed. */
  if (f->flags & (HD_OPF_JUMPS | HD_OPF_WRITES_CARRY))
    add(x, &x->memory, (seen){.bits = as_bits(all_operands(x, inst, 0)).bits});
  w.value = joined(w.value, of_guard(x, inst));
  hd_inst_writes(g, inst, write_register, &w);
}

bool slice_is_observed(const slice *s, uint32_t param) {
  return s->observed >> (param < MOST_PARAMS ? param : MOST_PARAMS - 1) & 1;
}

void slice_find_observed(slice *s, hd_arena *arena) {
  search x = {.s = s, .regs = HD_NEW_N(arena, s->g->n_regs + 1u, seen)};
  for (x.changed = true; x.changed;) {
    x.changed = false;
    for (uint32_t i = 0; i < s->g->n_insts; i++) see(&x, i);
  }
  s->observed = x.memory.bits | x.params.bits;
  for (uint32_t r = 0; r < s->g->n_regs; r++) s->observed |= x.regs[r].bits;
}
