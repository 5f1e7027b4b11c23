/* Places of global memory, and who else may write them.
 *
 * An address is a root (a variable of the module, or the kernel's parameter that holds the pointer), an
 * offset, and a multiple of a step. A register that is not understood is a multiple of 1. */
#include "base/arith.h"
#include "rewrite/waits/waits.h"

enum { MOST_DEPTH = 16, MOST_OFFSET_BITS = 44 };

static const wait_place anything = {.step = 1, .bits = 64};

static unsigned bits_of(int64_t number) {
  unsigned n = 1;
  while (n < 64 && number != 0 && number != -1) {
    number /= 2;
    n++;
  }
  return n;
}

static wait_place constant(int64_t number) {
  return (wait_place){.offset = number, .bits = bits_of(number), .above = true};
}

static uint64_t low_bit(uint64_t x) { return x & (~x + 1); }

static wait_place sum(wait_place a, wait_place b) {
  wait_place s = {.step = hd_gcd(a.step, b.step),
                  .offset = hd_wrap_add(a.offset, b.offset),
                  .bits = (a.bits > b.bits ? a.bits : b.bits) + 1,
                  .above = a.above && b.above,
                  .mixed = a.mixed || b.mixed || (a.root && b.root)};
  s.root = a.root ? a.root : b.root;
  s.slot = a.root ? a.slot : b.slot;
  return s;
}

/* The same of two operands of an instruction. What leads from one variable to another is a root of its own.
 */
static wait_place sum_of(const wait_search *w, uint32_t at, const hd_ptx_opnd *p, const hd_ptx_opnd *q,
                         wait_place a, wait_place b) {
  wait_place s = sum(a, b);
  s.mixed =
      s.mixed || (a.root && wait_may_be_distance(w, at, q)) || (b.root && wait_may_be_distance(w, at, p));
  return s;
}

static wait_place times(wait_place a, int64_t by) {
  if (a.root || by < 0 || by > INT32_MAX) return anything;
  a.bits += bits_of(by);
  a.step *= (uint64_t)by;
  a.offset = (int64_t)((uint64_t)a.offset * (uint64_t)by);
  return a;
}

/* A result is right but for a multiple of a power of two, unless it is known to fit. */
static wait_place narrow(wait_place a, unsigned bits) {
  if (a.root ? a.bits < 64 : a.bits < bits && bits >= 64) return a;
  if (a.step) a.step = low_bit(a.step);
  if (a.root || !bits || bits >= 64) {
    a.above = a.above && !a.step;
    return a;
  }
  if (a.step > UINT64_C(1) << bits) a.step = UINT64_C(1) << bits;
  if (!a.step && (a.offset < 0 || a.offset > INT32_MAX)) return anything;
  a.above = !a.step;
  a.bits = bits;
  return a;
}

/* The same number of so many bits in more: of unsigned ones it is known that they are not negative. */
static wait_place widen(wait_place a, hd_ptx_type from) {
  const bool is_unsigned = from.number == HD_NUM_UNSIGNED;
  if (a.root || !from.bits || from.bits >= 64) return a;
  a.bits = from.bits;
  if (!a.step) {
    a.offset = is_unsigned ? (int64_t)((uint64_t)a.offset & ((UINT64_C(1) << from.bits) - 1))
                           : hd_sign_extend((uint64_t)a.offset, from.bits);
    return a;
  }
  a = narrow(a, from.bits);
  a.above = is_unsigned;
  a.offset = (int64_t)((uint64_t)a.offset % a.step);
  return a;
}

static wait_place place_of(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth);

/* A parameter of the kernel. */
static wait_place parameter(const wait_search *w, uint32_t at, const hd_ptx_opnd *o) {
  if (!wait_loads_parameter(w, at)) return anything;
  return (wait_place){.root = o->sym, .slot = o->imm, .above = true};
}

/* An operand times a number of the text: 1, if it stands alone. */
typedef struct multiple {
  uint32_t of;
  int64_t by;
} multiple;

/* False: both factors may change. */
static bool multiple_of(const wait_search *w, uint32_t at, const hd_ptx_term *t, multiple *x) {
  const hd_ptx_opnd *p = wait_operands(w, at);
  *x = (multiple){t->of, 1};
  if (!t->by) return true;
  const bool known = wait_constant(w, at, &p[t->by], &x->by);
  if (t->power) {
    if (!known || x->by < 0 || x->by > 30) return false;
    x->by = INT64_C(1) << x->by;
    return true;
  }
  if (!known) x->of = t->by;
  return known || wait_constant(w, at, &p[t->of], &x->by);
}

static wait_place product(const wait_search *w, uint32_t at, multiple x, unsigned depth) {
  const hd_ptx_form *f = hd_inst_form(&w->g, at);
  wait_place place = place_of(w, at, &wait_operands(w, at)[x.of], depth + 1);
  if (hd_ptx_form_has(f, HD_M_WIDE)) {
    hd_ptx_type type[2];
    hd_ptx_types_of(f, type);
    place = widen(place, type[0]);
    x.by = widen(constant(x.by), type[0]).offset;
  }
  return times(place, x.by);
}

/* Of two terms, or of one that is a product. */
static wait_place sum_of_terms(const wait_search *w, uint32_t at, const hd_ptx_result *r, unsigned bits,
                               unsigned depth) {
  const hd_ptx_opnd *p = wait_operands(w, at);
  const hd_ptx_term *t = r->terms;
  multiple first;
  int64_t by;
  if (!multiple_of(w, at, &t[0], &first)) return anything;
  wait_place x = t[0].by ? product(w, at, first, depth) : place_of(w, at, &p[t[0].of], depth + 1);
  if (r->n_terms == 2 && t[1].minus) {
    if (!wait_constant(w, at, &p[t[1].of], &by) || by == INT64_MIN) return anything;
    x = sum(x, constant(-by));
  } else if (r->n_terms == 2) {
    x = sum_of(w, at, &p[first.of], &p[t[1].of], x, place_of(w, at, &p[t[1].of], depth + 1));
  }
  return narrow(x, bits << hd_ptx_form_has(hd_inst_form(&w->g, at), HD_M_WIDE));
}

static wait_place computed(const wait_search *w, uint32_t at, unsigned depth) {
  const hd_ptx_result *r = wait_result(w, at);
  const hd_ptx_opnd *p = wait_operands(w, at);
  int64_t by;
  hd_ptx_type type[2];
  hd_ptx_types_of(hd_inst_form(&w->g, at), type);
  if (type[0].format != HD_FMT_NONE || type[1].format != HD_FMT_NONE || p[0].kind != HD_O_REG)
    return anything;
  if (type[0].number == HD_NUM_FLOAT || type[0].elements > 1) return anything;
  if (hd_inst_form(&w->g, at)->op == HD_OP_LD)
    return hd_inst_stmt(&w->g, at)->n_opnds == 2 && type[0].bits == 64 ? parameter(w, at, &p[1]) : anything;
  if (r->makes == HD_MAKES_MASKED) {
    if (!wait_constant(w, at, &p[r->terms[0].by], &by) || by < 0 || by > INT32_MAX) return anything;
    return (wait_place){.step = low_bit((uint64_t)by), .bits = bits_of(by), .above = true};
  }
  if (r->makes == HD_MAKES_PLACE || (hd_ptx_is_copy(r) && !type[1].bits))
    return place_of(w, at, &p[1], depth + 1);
  if (hd_ptx_is_copy(r))
    return wait_copied(w, at) == HD_NONE ? anything : widen(place_of(w, at, &p[1], depth + 1), type[1]);
  return r->makes == HD_MAKES_SUM ? sum_of_terms(w, at, r, type[0].bits, depth) : anything;
}

/* A pointer that goes on by numbers of the text: it is written once otherwise. */
static wait_place moving(const wait_search *w, uint32_t reg, unsigned depth) {
  wait_place x = anything;
  uint64_t step = 0;
  bool begins = false, above = true;
  for (uint32_t i = w->writers.first[reg]; i < w->writers.first[reg + 1]; i++) {
    uint32_t at = w->writers.insts[i];
    const hd_ptx_form *f = hd_inst_form(&w->g, at);
    const hd_ptx_opnd *p = wait_operands(w, at);
    hd_ptx_type type[2];
    int64_t by;
    hd_ptx_types_of(f, type);
    if (f->op == HD_OP_ADD && f->n_mods == 1 && type[0].bits == 64 && wait_operand(w, at, 1) == reg &&
        wait_constant(w, at, &p[2], &by) && by >= INT32_MIN && by <= INT32_MAX) {
      step = hd_gcd(step, hd_magnitude(by));
      above = above && by >= 0;
      continue;
    }
    if (begins) return anything;
    begins = true;
    x = computed(w, at, depth + 1);
  }
  if (!begins || !x.root) return anything;
  x.step = hd_gcd(x.step, step);
  x.above = x.above && above;
  return x;
}

static wait_place place_of(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
  int64_t value;
  if (depth >= MOST_DEPTH || o->part || o->flags & HD_OF_NEG) return anything;
  if (o->kind == HD_O_INT && wait_constant(w, inst, o, &value)) return constant(value);
  if (o->kind != HD_O_REG && o->kind != HD_O_ADDR && o->kind != HD_O_SYM) return anything;
  wait_place x = anything;
  if (!o->sym) {
    x = (wait_place){.above = true};
  } else if (w->m->syms[o->sym].kind == HD_SYM_VAR) {
    x = (wait_place){.root = hd_storage(w->m, o->sym), .above = true};
  } else if (w->m->syms[o->sym].kind == HD_SYM_REG) {
    uint32_t reg = hd_cfg_reg(&w->g, w->g.insts[inst].call, o->sym), at = wait_only_writer(w, reg);
    x = at != HD_NONE ? computed(w, at, depth) : moving(w, reg, depth);
  }
  return o->kind == HD_O_REG ? x : sum(x, constant(o->imm));
}

bool wait_is_offset(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  const wait_place p = place_of(w, inst, o, 0);
  return (o->kind == HD_O_REG || o->kind == HD_O_INT) && !p.root && p.bits <= MOST_OFFSET_BITS;
}

bool wait_leads_from(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  return place_of(w, inst, o, 0).root != 0;
}

static bool is_variable(const wait_search *w, const wait_place *p) {
  return w->m->vars[w->m->syms[p->root].decl].space != HD_M_PARAM;
}

/* In a space that other CTAs do not write. */
static bool is_own(const wait_search *w, const wait_place *p) {
  if (!p->root || w->m->syms[p->root].kind != HD_SYM_VAR) return false;
  hd_mod space = w->m->vars[w->m->syms[p->root].decl].space;
  return space == HD_M_SHARED || space == HD_M_LOCAL || space == HD_M_CONST;
}

/* A number of 64 bits leads anywhere from a variable, and so does one that is taken for an address of another
 * space. Pointers of the launch have numbers of 64 bits beside them, which are meant for elements. */
static bool may_lead_out(const wait_search *w, const wait_place *p, const hd_ptx_touch *t) {
  if (p->mixed) return true;
  if (!p->root || !is_variable(w, p)) return false;
  return p->bits > MOST_OFFSET_BITS || (is_own(w, p) && !(t->space & HD_IN_GENERIC));
}

static wait_place work_out(wait_search *w, uint32_t inst, const hd_ptx_touch *t) {
  const hd_ptx_access *a = wait_access(w, inst);
  wait_place p = anything;
  bool plain = t->space & (HD_IN_GLOBAL | HD_IN_GENERIC) && !a->unknown;
  if (plain && t->operand < hd_inst_stmt(&w->g, inst)->n_opnds)
    p = place_of(w, inst, &wait_operands(w, inst)[t->operand], 0);
  p.bytes = plain && !a->bulk ? a->bytes : 0;
  if (may_lead_out(w, &p, t)) p.root = 0;
  return p;
}

/* The first place of global memory that an instruction accesses; NULL: it accesses none. */
static const hd_ptx_touch *first_touch(const hd_ptx_access *a) {
  for (unsigned k = 0; k < a->n; k++)
    if (a->touches[k].space & HD_IN_ANY_GLOBAL) return &a->touches[k];
  return NULL;
}

/* The place that an operand of an instruction names. Of each instruction the first is remembered: a copy into
 * shared memory names that in front of it. */
static wait_place place_at(wait_search *w, uint32_t inst, const hd_ptx_touch *t) {
  if (t != first_touch(wait_access(w, inst))) return work_out(w, inst, t);
  if (!w->places[inst]) {
    wait_place *p = hd_arena_alloc(w->arena, sizeof *p, _Alignof(wait_place));
    *p = work_out(w, inst, t);
    w->places[inst] = p;
  }
  return *w->places[inst];
}

wait_place wait_place_of(wait_search *w, uint32_t inst) {
  const hd_ptx_touch *t = first_touch(wait_access(w, inst));
  return t ? place_at(w, inst, t) : anything;
}

/* a is one place, and all of b is behind it. */
static bool is_before(const wait_place *a, const wait_place *b) {
  return !a->step && a->bytes && b->above && b->offset >= a->offset + a->bytes;
}

static wait_meeting meeting(const wait_search *w, const wait_place *a, const wait_place *b) {
  if (is_own(w, b)) return WAIT_APART;
  if (!a->root || !b->root) return WAIT_MEETS;
  if (a->root != b->root || a->slot != b->slot)
    return is_variable(w, a) && is_variable(w, b) ? WAIT_APART : WAIT_OTHER_POINTER;
  if (!a->bytes || !b->bytes) return WAIT_MEETS;
  int64_t apart = b->offset - a->offset;
  uint64_t step = hd_gcd(a->step, b->step);
  if (is_before(a, b) || is_before(b, a)) return WAIT_APART;
  if (!step) return apart >= a->bytes || -apart >= b->bytes ? WAIT_APART : WAIT_MEETS;
  uint64_t from = apart >= 0 ? (uint64_t)apart % step : (step - (uint64_t)-apart % step) % step;
  return from >= a->bytes && step - from >= b->bytes ? WAIT_APART : WAIT_MEETS;
}

wait_meeting wait_may_write(wait_search *w, const wait_place *place, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  if (f->flags & HD_OPF_CALLS) return wait_call_is_harmless(w, inst) ? WAIT_APART : WAIT_MEETS;
  const hd_ptx_access *a = wait_access(w, inst);
  wait_meeting nearest = WAIT_APART;
  if (a->unknown) return a->kinds & HD_ACC_WRITE ? WAIT_MEETS : WAIT_APART;
  for (unsigned k = 0; k < a->n; k++) {
    if (!(a->touches[k].kinds & HD_ACC_WRITE) || !(a->touches[k].space & HD_IN_ANY_GLOBAL)) continue;
    wait_place other = place_at(w, inst, &a->touches[k]);
    wait_meeting here = meeting(w, place, &other);
    if (here > nearest) nearest = here;
  }
  return nearest;
}

bool wait_is_plain_store(wait_search *w, uint32_t inst) {
  const hd_ptx_access *a = wait_access(w, inst);
  return hd_inst_form(&w->g, inst)->op == HD_OP_ST && a->order == HD_ORDERED_WEAK && !a->unknown;
}
