/* What an address is computed from, so that it is known where a store, or a load, may lead. */
#include <stdlib.h>
#include <string.h>

#include "heddle/ptx_facts.h"
#include "launch/slice.h"

bool slice_begin_writes(slice_writes *w, uint32_t n_params) {
  *w = (slice_writes){.param = calloc((size_t)n_params + 1, sizeof *w->param),
                      .other = calloc((size_t)n_params + 1, sizeof *w->other),
                      .distance = calloc((size_t)n_params + 1, sizeof *w->distance),
                      .relied = calloc((size_t)n_params + 1, sizeof *w->relied)};
  return w->param && w->other && w->distance && w->relied;
}

void slice_end_writes(slice_writes *w) {
  free(w->relied);
  free(w->distance);
  free(w->other);
  free(w->param);
}

/* ---- Registers -------------------------------------------------------------------------------------------
 */

static void see_register(void *ctx, uint32_t reg) {
  slice *s = ctx;
  if (s->seen[reg] >= s->share) return;
  s->seen[reg] = (uint8_t)s->share;
  s->todo[s->n++] = reg;
}

static void see_operand(slice *s, uint32_t inst, const hd_ptx_opnd *o, slice_share as) {
  if (o->kind != HD_O_REG) return;
  s->share = as;
  see_register(s, hd_cfg_reg(s->g, s->g->insts[inst].call, o->sym));
}

/* The kernel's parameter that the instruction loads; HD_NONE: a function's, or, where the address is in a
 * register, one that is not known. */
static uint32_t loaded_param(slice *s, uint32_t inst, bool *of_function) {
  const hd_ptx_module *m = s->g->module;
  const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
  const hd_ptx_opnd *o = &m->opnds[st->first_opnd + 1];
  if (st->n_opnds < 2 || o->kind != HD_O_ADDR) return HD_NONE;
  const bool by_register = o->sym && m->syms[o->sym].kind == HD_SYM_REG;
  const hd_root root = by_register ? hd_root_of(s->g, &s->writers, inst, o) : (hd_root){.sym = o->sym};
  const uint32_t param = root.loaded ? HD_NONE : hd_cfg_param(s->g, root.sym);
  *of_function |= param == HD_NONE;
  s->out->anything |= by_register && param == HD_NONE;
  return param;
}

/* A struct, which may hold pointers: no other argument shows what is in it. */
static bool is_struct(const slice *s, uint32_t param) {
  const hd_ptx_func *f = &s->g->module->funcs[s->g->calls[0].func];
  return param < f->n_params && s->g->module->vars[f->first_param + param].n_dims;
}

/* A function's parameters and results come from what any call passes. */
static void follow_calls(slice *s) {
  s->share = SLICE_PARTS;
  for (uint32_t i = 0; i < s->g->n_insts; i++) {
    const hd_ptx_form *f = hd_inst_form(s->g, i);
    const hd_ptx_access a = hd_ptx_access_of(f);
    if (f->flags & HD_OPF_CALLS || hd_ptx_access_in(&a, HD_IN_PARAM) & HD_ACC_WRITE)
      hd_inst_reads(s->g, i, see_register, s);
  }
}

static bool see_value(void *ctx, const hd_ptx_leaf *leaf) {
  slice *s = ctx;
  if (leaf->role & HD_ROLE_READ && !(leaf->role & (HD_ROLE_BASE | HD_ROLE_GUARD)) && leaf->sym &&
      s->g->module->syms[leaf->sym].kind == HD_SYM_REG)
    see_register(s, hd_cfg_reg(s->g, s->g->insts[s->storing].call, leaf->sym));
  return true;
}

/* ---- Through memory ------------------------------------------------------------------------------------ */

enum { GENERIC_PLACE = HD_IN_LOCAL | HD_IN_SHARED | HD_IN_GLOBAL };

/* A touch of memory that stores may write. */
static slice_place place_of(const slice *s, uint32_t inst, const hd_ptx_touch *t) {
  const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
  slice_place p = {.spaces = GENERIC_PLACE};
  if (t->operand >= st->n_opnds || t->space & (HD_IN_SURFACE | HD_IN_TEXTURE | HD_IN_TENSOR)) return p;
  p.root = hd_root_of(s->g, &s->writers, inst, &s->g->module->opnds[st->first_opnd + t->operand]);
  if (t->space & HD_IN_ANY_SHARED)
    p.spaces = HD_IN_SHARED;
  else if (t->space & HD_IN_LOCAL)
    p.spaces = HD_IN_LOCAL;
  else if (!(t->space & HD_IN_GENERIC))
    p.spaces = HD_IN_GLOBAL;
  return p;
}

static bool may_meet(const slice_place *a, const slice_place *b) {
  return a->spaces & b->spaces && !(a->root.sym && b->root.sym && hd_roots_differ(a->root, b->root));
}

/* Places beyond the array become one, which is everywhere. */
static uint8_t place_number(slice *s, slice_place p) {
  unsigned i = 0;
  while (i < s->n_places && (s->places[i].spaces != p.spaces || s->places[i].root.sym != p.root.sym ||
                             (p.root.sym && hd_roots_differ(s->places[i].root, p.root))))
    i++;
  if (i == s->n_places && i + 1 < SLICE_PLACES) s->places[s->n_places++] = p;
  if (i + 1 < SLICE_PLACES) return (uint8_t)i;
  s->places[i] = (slice_place){.spaces = GENERIC_PLACE};
  s->n_places = SLICE_PLACES;
  return (uint8_t)i;
}

static unsigned writes_memory(const hd_ptx_touch *t) {
  return t->kinds & HD_ACC_WRITE && !(t->space & HD_IN_PARAM);
}

static void find_stores(slice *s, hd_arena *arena) {
  uint32_t n = 0;
  for (unsigned fill = 0; fill < 2; fill++) {
    for (uint32_t i = 0; i < s->g->n_insts; i++) {
      const hd_ptx_access a = hd_ptx_access_of(hd_inst_form(s->g, i));
      for (unsigned k = 0; k < a.n; k++) {
        if (!writes_memory(&a.touches[k])) continue;
        if (fill) {
          s->stores[s->n_stores] = i;
          s->place[s->n_stores++] = place_number(s, place_of(s, i, &a.touches[k]));
        }
        n += !fill;
      }
    }
    if (fill) break;
    s->stores = HD_NEW_N(arena, n + 1u, uint32_t);
    s->place = HD_NEW_N(arena, n + 1u, uint8_t);
  }
}

#define NOT_ASKED UINT32_MAX

/* The places that a load may meet. One through a parameter that no store is based on meets those of unknown
 * roots alone, as long as the launch passes it no memory that another parameter is written through. */
static uint32_t places_read(slice *s, uint32_t inst, const hd_ptx_access *a) {
  slice_read *const r = &s->reads[inst];
  if (r->places == NOT_ASKED) {
    *r = (slice_read){.relies = HD_NONE};
    for (unsigned k = 0; k < a->n; k++) {
      if (!(a->touches[k].kinds & HD_ACC_READ)) continue;
      const slice_place p = place_of(s, inst, &a->touches[k]);
      const bool of_param = p.root.loaded && p.spaces & HD_IN_GLOBAL;
      bool written = false;
      for (unsigned i = 0; i < s->n_places && of_param; i++)
        written |= s->places[i].root.sym && !hd_roots_differ(s->places[i].root, p.root);
      for (unsigned i = 0; i < s->n_places; i++)
        if (may_meet(&p, &s->places[i]) || (written && s->places[i].spaces & HD_IN_GLOBAL))
          r->places |= UINT32_C(1) << i;
      if (of_param && !written) r->relies = hd_cfg_param(s->g, p.root.sym);
    }
  }
  if (r->relies < s->n_params) s->out->relied[r->relies] = true;
  return r->places;
}

/* What a load gives may be what stores of the kernel left there. */
static void want_stored(slice *s, uint32_t inst, const hd_ptx_access *a, slice_share as) {
  const uint32_t meets = places_read(s, inst, a);
  for (unsigned i = 0; i < s->n_places; i++)
    if (meets >> i & 1 && s->places[i].wanted < as) s->places[i].wanted = as;
}

/* True: there is more to follow. */
static bool follow_stored(slice *s) {
  bool more = false;
  s->through_memory = true;
  for (unsigned p = 0; p < s->n_places; p++) {
    const slice_share as = s->places[p].wanted;
    if (as <= s->places[p].followed) continue;
    s->places[p].followed = as;
    more = true;
    for (uint32_t i = 0; i < s->n_stores; i++) {
      const hd_ptx_access a = hd_ptx_access_of(hd_inst_form(s->g, s->stores[i]));
      if (s->place[i] != p) continue;
      s->storing = s->stores[i];
      s->share = as;
      hd_ptx_visit(s->g->module, hd_inst_stmt(s->g, s->storing), see_value, s);
      if (a.kinds & HD_ACC_READ) want_stored(s, s->storing, &a, as); /* a copy */
    }
  }
  return more;
}

/* ---- Through registers -----------------------------------------------------------------------------------
 */

static bool is_word(const hd_ptx_access *a) {
  return !a->bytes || a->bytes / (a->elements ? a->elements : 1) >= sizeof(uint64_t);
}

/* Memory may hold a distance between buffers: what the kernel put there, in memory that is its own; or what
 * the host did, but then a load that leaves its buffer by it is an error. An index in 32 bits is none that
 * the host put there; of what the kernel did, follow_stored says what it comes from. */
static bool may_hold_distance(const slice *s, const hd_ptx_access *a, slice_share as) {
  const bool own = hd_ptx_access_in(a, ~(unsigned)(HD_IN_GLOBAL | HD_IN_TEXTURE | HD_IN_CONST)) ||
                   a->kinds & HD_ACC_ATOMIC;
  const bool hosts = hd_ptx_access_in(a, ~(unsigned)(HD_IN_SHARED | HD_IN_LOCAL));
  if (s->of_a_load && !own) return false;
  if (as == SLICE_INDEX) return is_word(a) && hosts;
  if (as == SLICE_PARTS || is_word(a)) return true;
  return as == SLICE_BYTES && !hd_ptx_access_in(a, HD_IN_GLOBAL | HD_IN_TEXTURE);
}

/* A comparison with zero of a parameter: whether there is a pointer. */
static bool asks_for_null(const slice *s, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(s->g, inst);
  const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
  const hd_ptx_opnd *o = &s->g->module->opnds[st->first_opnd];
  if (st->n_opnds != 3 || o[2].kind != HD_O_INT || o[2].imm) return false;
  return (hd_ptx_form_has(f, HD_M_EQ) || hd_ptx_form_has(f, HD_M_NE)) && slice_is_parameter(s, inst, &o[1]);
}

/* m in a * m, or in a << m, by which a distance would be no more than the index of an element. */
static bool is_size(const hd_ptx_opnd *o, bool shift) {
  enum { MOST_SHIFT = 16 };
  return o->kind == HD_O_INT && o->imm > 0 && o->imm < (shift ? MOST_SHIFT : 1 << MOST_SHIFT);
}

static slice_share times(slice_share as, bool wide) {
  return as == SLICE_PARTS ? as : wide ? SLICE_INDEX : as < SLICE_ELEMENTS ? as : SLICE_ELEMENTS;
}

/* Of what registers the instruction computes a result that has the share. */
static void follow_operands(slice *s, uint32_t inst, slice_share as) {
  const hd_ptx_form *f = hd_inst_form(s->g, inst);
  const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
  const hd_ptx_opnd *o = &s->g->module->opnds[st->first_opnd];
  s->share = as;
  /* Of a barrier, what others brought to another one; the carry, of an operation that is not followed. */
  s->out->anything |= f->flags & (HD_OPF_CTA_WIDE | HD_OPF_READS_CARRY);
  if (st->n_opnds >= 3 && (f->op == HD_OP_MUL || f->op == HD_OP_MAD)) {
    const slice_share factor = times(as, hd_ptx_form_has(f, HD_M_WIDE));
    see_operand(s, inst, &o[1], factor);
    see_operand(s, inst, &o[2], factor);
    if (st->n_opnds > 3) see_operand(s, inst, &o[3], as);
    if (!st->guard) return;
    s->share = SLICE_ELEMENTS;
    see_register(s, hd_cfg_reg(s->g, s->g->insts[inst].call, st->guard));
    return;
  }
  if (f->op == HD_OP_SHL && st->n_opnds == 3)
    s->share = is_size(&o[2], true) ? times(as, false) : SLICE_PARTS;
  if (f->op == HD_OP_MOV && st->n_opnds == 2 && o[1].kind == HD_O_VEC) s->share = SLICE_PARTS;
  if (f->op == HD_OP_SETP) s->share = SLICE_ELEMENTS;
  hd_inst_reads(s->g, inst, see_register, s);
}

/* True: what it computes comes from calls. */
static bool follow_writer(slice *s, uint32_t inst, slice_share as) {
  const hd_ptx_form *f = hd_inst_form(s->g, inst);
  const hd_ptx_access a = hd_ptx_access_of(f);
  bool of_function = f->flags & HD_OPF_CALLS;
  if (hd_ptx_access_in(&a, HD_IN_PARAM) & HD_ACC_READ) {
    const uint32_t param = loaded_param(s, inst, &of_function);
    if (param < s->n_params && param != s->base) {
      const bool narrowed = is_struct(s, param) && (is_word(&a) || as == SLICE_PARTS);
      s->out->other[param] = true;
      s->out->distance[param] |= narrowed || (as >= SLICE_BYTES && is_word(&a));
    }
  } else if (a.kinds) {
    s->out->anything |= !s->through_memory && may_hold_distance(s, &a, as);
    if (a.kinds & HD_ACC_READ && !a.noncoherent) want_stored(s, inst, &a, as);
  } else if (f->op != HD_OP_SETP || !asks_for_null(s, inst)) {
    follow_operands(s, inst, as);
  }
  return of_function;
}

static void begin_at_address(slice *s, uint32_t inst) {
  const hd_ptx_module *m = s->g->module;
  const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
  const hd_ptx_access a = hd_ptx_access_of(hd_inst_form(s->g, inst));
  const hd_ptx_opnd *o =
      a.n && a.touches[0].operand < st->n_opnds ? &m->opnds[st->first_opnd + a.touches[0].operand] : NULL;
  memset(s->seen, 0, s->g->n_regs);
  for (unsigned i = 0; i < s->n_places; i++) s->places[i].wanted = s->places[i].followed = (slice_share)0;
  s->share = SLICE_BYTES;
  if (o && o->kind == HD_O_ADDR && m->syms[o->sym].kind == HD_SYM_REG)
    see_register(s, hd_cfg_reg(s->g, s->g->insts[inst].call, o->sym));
  else if (!o || o->kind != HD_O_ADDR)
    hd_inst_reads(s->g, inst, see_register, s);
}

/* A kernel that has looked at the bits of its base and of another pointer may have made their distance. */
static void add_observed(slice *s) {
  if (s->base >= s->n_params || !slice_is_observed(s, s->base)) return;
  for (uint32_t p = 0; p < s->n_params; p++) s->out->other[p] |= p != s->base && slice_is_observed(s, p);
}

void slice_follow(slice *s, uint32_t inst, uint32_t base) {
  bool calls = false;
  s->base = base;
  add_observed(s);
  s->through_memory = false;
  begin_at_address(s, inst);
  do
    while (s->n) {
      const uint32_t reg = s->todo[--s->n], *w = &s->writers.first[reg];
      const slice_share as = (slice_share)s->seen[reg];
      bool of_function = w[0] == w[1]; /* a function's parameter that is a register */
      for (uint32_t i = w[0]; i < w[1]; i++) of_function |= follow_writer(s, s->writers.insts[i], as);
      if (of_function && !calls) follow_calls(s);
      calls |= of_function;
    }
  while (follow_stored(s));
}

void slice_begin(slice *s, const hd_cfg *g, uint32_t n_params, slice_writes *out, hd_arena *arena) {
  *s = (slice){.g = g,
               .seen = HD_NEW_N(arena, g->n_regs + 1u, uint8_t),
               .todo = HD_NEW_N(arena, (size_t)SLICE_PARTS * g->n_regs + 1, uint32_t),
               .n_params = n_params,
               .out = out};
  s->reads = HD_NEW_N(arena, g->n_insts + 1u, slice_read);
  for (uint32_t i = 0; i < g->n_insts; i++) s->reads[i].places = NOT_ASKED;
  hd_writers_find(g, arena, &s->writers);
  find_stores(s, arena);
  slice_find_observed(s, arena);
}
