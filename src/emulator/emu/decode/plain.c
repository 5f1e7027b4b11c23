/* emu/decode/plain.c: instructions whose handler is found by name and whose operands follow from its shape;
 * mov, lop3, alloca. */
#include "emu/decode/decode.h"

#include <stdio.h>

/* ---- By shape ---------------------------------------------------------------------- */

unsigned emu_shape_bits(char letter) {
  switch (letter) {
  case 'h':
  case 'k': return 16;
  case 'w':
  case 'i':
  case 'f': return 32;
  case 'd':
  case 'j':
  case 'g': return 64;
  case 'q': return 128;
  default: return 1;
  }
}

bool emu_emit_shape(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const char *shape = f->op->shape;
  const unsigned n_sources = (unsigned)strlen(shape) - 2;
  if (s->n_opnds != n_sources + 1)
    return emu_refuse(fn, s, "it has %u operands where %u are expected", s->n_opnds, n_sources + 1);
  if (!emu_destination(fn, s, emu_operand(fn, s, 0), emu_shape_bits(shape[0]), false, &in->dst)) return false;
  for (unsigned k = 0; k < n_sources; k++)
    if (!emu_source(fn, s, emu_operand(fn, s, k + 1), emu_shape_bits(shape[2 + k]), &in->src[k]))
      return false;
  return true;
}

static void prepare_plain(emu_decoder *d, emu_form *f) {
  const hd_ptx_op op = f->ptx->op;
  f->op = emu_find_form(d, hd_ptx_op_text(op), f->ptx, NULL, op == HD_OP_SELP || op == HD_OP_SLCT);
  if (!f->op) f->refused = emu_no_form;
}
const emu_rule emu_rule_plain = {prepare_plain, emu_emit_shape};

/* ---- Carries --------------------------------------------------------------------------- */

static bool emit_carry(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  if (fn->carry_slot == EMU_NO_SLOT) fn->carry_slot = emu_new_slots(fn, 1);
  emu_ref(fn, &in->src[3], fn->carry_slot);
  emu_ref(fn, &in->dst2, fn->carry_slot);
  return emu_emit_shape(fn, f, s, in);
}
const emu_rule emu_rule_carry = {prepare_plain, emit_carry};

/* ---- lop3 --------------------------------------------------------------------------------- */

/* The exclusive-or normal form of a truth table, whose bit 4a + 2b + c is the result for
 * a, b, c: the coefficient of each product of inputs, same numbering. */
static uint8_t normal_form(uint8_t table) {
  for (unsigned input = 1; input < 8; input *= 2)
    for (unsigned k = 0; k < 8; k++)
      if (k & input) table ^= (uint8_t)((table >> (k ^ input) & 1) << k);
  return table;
}

static void prepare_lop3(emu_decoder *d, emu_form *f) {
  const bool either = EMU_HAS(f, OR), both = EMU_HAS(f, AND);
  f->proto.compare.combine = either ? EMU_BOOL_OR : both ? EMU_BOOL_AND : EMU_BOOL_NONE;
  if (f->words.n_types != 1 || f->words.types[0] != HD_M_B32 || f->ptx->n_mods != 1u + either + both)
    f->refused = emu_no_form;
  else
    emu_use(d, f, either || both ? "lop3.pred" : "lop3.b32");
}
static bool emit_lop3(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  int64_t table;
  const bool predicate = f->proto.compare.combine != EMU_BOOL_NONE;
  if (s->n_opnds != 5u + predicate)
    return emu_refuse(fn, s, "it has %u operands where %u are expected", s->n_opnds, 5u + predicate);
  if (!emu_integer(fn, s, emu_operand(fn, s, 4), &table) || table < 0 || table > 255)
    return emu_refuse(fn, s, "its table is no constant of 8 bits");
  in->imm = normal_form((uint8_t)table);
  for (unsigned k = 0; k < 3; k++)
    if (!emu_source(fn, s, emu_operand(fn, s, k + 1), 32, &in->src[k])) return false;
  if (!predicate) return emu_destination(fn, s, emu_operand(fn, s, 0), 32, false, &in->dst);
  const hd_ptx_opnd *value, *p;
  emu_pair(fn, emu_operand(fn, s, 0), &value, &p);
  if (!p) return emu_refuse(fn, s, "it has no predicate as its second result");
  return emu_destination(fn, s, value, 32, true, &in->dst) &&
         emu_destination(fn, s, p, 1, false, &in->dst2) &&
         emu_predicate(fn, s, emu_operand(fn, s, 5), &in->src[3], &in->compare.negate);
}
const emu_rule emu_rule_lop3 = {prepare_lop3, emit_lop3};

/* ---- mov ------------------------------------------------------------------------------------ */

static void prepare_mov(emu_decoder *d, emu_form *f) {
  const unsigned bits = f->words.n_types == 1 ? emu_type_bits(f->words.types[0]) : 0;
  if (f->words.n_types != 1 || f->words.other) {
    f->refused = emu_no_form;
    return;
  }
  f->data[0] = bits;
  if (f->words.vec == 1)
    f->op = emu_find_form(d, "mov", f->ptx, NULL, true);
  else if (bits >= 16 && bits * f->words.vec <= 128)
    f->op = emu_find_op(d, "mov.v");
  if (!f->op) f->refused = emu_no_form;
}

static bool use_op(emu_function *fn, const hd_ptx_stmt *s, emu_inst *in, const char *name) {
  const emu_op *op = emu_find_op(fn->d, name);
  if (!op) return emu_refuse(fn, s, "%s", emu_no_form);
  in->fn = op->fn;
  return true;
}

static bool has_components(unsigned id) {
  static const uint8_t ids[] = {HD_SR_TID,       HD_SR_NTID,       HD_SR_CTAID,         HD_SR_NCTAID,
                                HD_SR_CLUSTERID, HD_SR_NCLUSTERID, HD_SR_CLUSTER_CTAID, HD_SR_CLUSTER_NCTAID};
  return memchr(ids, (int)id, sizeof ids) != NULL;
}

/* The elements of {a, b, ...}, of a vector register or of a special register such as %tid; 1: it is none. */
static unsigned elements_of(const emu_function *fn, const hd_ptx_opnd *o) {
  const hd_ptx_module *m = fn->d->m;
  if (o->kind == HD_O_VEC) return o->n_kids;
  if (o->kind == HD_O_REG && !o->part && m->syms[o->sym].vec > 1) return m->syms[o->sym].vec;
  return o->kind == HD_O_SREG && !o->part && has_components(m->syms[o->sym].index) ? 4 : 1;
}
static hd_ptx_opnd element_of(const emu_function *fn, const hd_ptx_opnd *o, unsigned k) {
  static const hd_mod parts[] = {HD_M_X, HD_M_Y, HD_M_Z, HD_M_W};
  if (o->kind == HD_O_VEC) return *emu_kid(fn, o, k);
  hd_ptx_opnd one = *o;
  one.part = parts[k];
  return one;
}

/* mov.v4: element by element. Special registers are 32-bit slots, of which 16 bits may be read. */
static bool emit_vector(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const hd_ptx_opnd *to = emu_operand(fn, s, 0), *from = emu_operand(fn, s, 1);
  const unsigned n = f->words.vec, bits = f->data[0];
  if (elements_of(fn, to) != n || elements_of(fn, from) != n)
    return emu_refuse(fn, s, "its operands have not %u elements", n);
  emu_vector *v = HD_NEW(fn->d->env->arena, emu_vector);
  v->n = n;
  v->bits = bits;
  in->extra = v;
  for (unsigned k = 0; k < n; k++) {
    const hd_ptx_opnd d = element_of(fn, to, k), a = element_of(fn, from, k);
    const bool half = bits == 16 && a.kind == HD_O_SREG;
    if (!emu_destination(fn, s, &d, bits, true, &v->to[k]) ||
        !emu_source(fn, s, &a, half ? 32 : bits, &v->from[k]))
      return false;
  }
  return true;
}

/* The parts of {a, b, ...}, which make up `whole` bits. */
static bool parts_of(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned whole, bool write,
                     emu_parts **out) {
  const uint32_t n = elements_of(fn, o);
  if (n < 2 || n > 8 || whole % n || whole / n > 64)
    return emu_refuse(fn, s, "%u parts of %u bits", n, whole);
  emu_parts *p = HD_NEW(fn->d->env->arena, emu_parts);
  p->n = n;
  p->bits = whole / n;
  for (uint32_t k = 0; k < n; k++) {
    const hd_ptx_opnd kid = element_of(fn, o, k);
    if (!(write ? emu_destination(fn, s, &kid, p->bits, true, &p->slot[k])
                : emu_source(fn, s, &kid, p->bits, &p->slot[k])))
      return false;
  }
  *out = p;
  return true;
}

static bool emit_join(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned bits,
                      emu_inst *in) {
  emu_parts *p;
  if (!parts_of(fn, s, o, bits, false, &p)) return false;
  in->extra = p;
  const char *name = bits == 128  ? "join.2x64"
                     : bits == 64 ? (p->bits == 32 ? "join.2x32" : "join.64")
                                  : "join.32";
  if (bits == 128 && p->n != 2) return emu_refuse(fn, s, "128 bits are made of two registers");
  return use_op(fn, s, in, name) && emu_destination(fn, s, emu_operand(fn, s, 0), bits, false, &in->dst);
}

static bool emit_split(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned bits,
                       emu_inst *in) {
  emu_parts *p;
  if (!parts_of(fn, s, o, bits, true, &p)) return false;
  in->extra = p;
  if (bits == 128 && p->n != 2) return emu_refuse(fn, s, "128 bits are taken apart into two registers");
  return use_op(fn, s, in,
                bits == 128  ? "split.2x64"
                : bits == 64 ? "split.64"
                             : "split.32") &&
         emu_source(fn, s, emu_operand(fn, s, 1), bits, &in->src[0]);
}

/* May the low 16 bits alone be read by mov? Of those that had no more once. */
static bool was_narrow(unsigned id) {
  return id == HD_SR_TID || id == HD_SR_NTID || id == HD_SR_CTAID || id == HD_SR_NCTAID;
}

/* Special registers have 32 bits (some 64), whatever the type of the read; clocks are read when the
 * instruction runs. */
static bool emit_special(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned bits,
                         emu_inst *in) {
  const unsigned id = fn->d->m->syms[o->sym].index;
  if (!emu_destination(fn, s, emu_operand(fn, s, 0), bits, false, &in->dst)) return false;
  switch (id) {
  case HD_SR_CLOCK:
  case HD_SR_CLOCK_HI:
  case HD_SR_GLOBALTIMER_LO:
  case HD_SR_GLOBALTIMER_HI:
    if (bits < 32) break;
    in->imm = id == HD_SR_CLOCK_HI || id == HD_SR_GLOBALTIMER_HI ? 32 : 0;
    return use_op(fn, s, in, bits == 32 ? "mov.clock32" : "mov.clock64");
  case HD_SR_CLOCK64:
  case HD_SR_GLOBALTIMER: return use_op(fn, s, in, bits == 64 ? "mov.clock64" : "mov.clock32");
  default: break;
  }
  const bool wide = id == HD_SR_GRIDID || id == HD_SR_CURRENT_GRAPH_EXEC;
  const char *spelling = fn->d->m->syms[o->sym].name;
  if (elements_of(fn, o) > 1) return emu_refuse(fn, s, "%s has four components", spelling);
  if (!wide && (bits == 64 || (bits == 16 && !was_narrow(id))))
    return emu_refuse(fn, s, "%s is read as %u bits", spelling, bits);
  const char *name = wide ? (bits == 64   ? "mov.b64"
                             : bits == 32 ? "cvt.u32.u64"
                                          : "cvt.u16.u64")
                          : (bits == 32 ? "mov.b32" : "mov.narrow");
  return use_op(fn, s, in, name) && emu_source(fn, s, o, wide ? 64 : 32, &in->src[0]);
}

/* The address of a .local variable cut to 32 bits, as compilers take it where pointers into its space are
 * short; the machine knows them as 64 bits. */
static bool emit_short_local(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, emu_inst *in) {
  return use_op(fn, s, in, "cvt.u32.u64") && emu_source(fn, s, o, 64, &in->src[0]) &&
         emu_destination(fn, s, emu_operand(fn, s, 0), 32, false, &in->dst);
}

static bool emit_mov(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const hd_ptx_opnd *to = emu_operand(fn, s, 0), *from = emu_operand(fn, s, 1);
  const unsigned bits = f->data[0];
  if (s->n_opnds != 2) return emu_refuse(fn, s, "it has %u operands where 2 are expected", s->n_opnds);
  if (f->words.vec > 1) return emit_vector(fn, f, s, in);
  if (from->kind == HD_O_VEC || (from->kind == HD_O_REG && elements_of(fn, from) > 1))
    return emit_join(fn, s, from, bits, in);
  if (to->kind == HD_O_VEC || elements_of(fn, to) > 1) return emit_split(fn, s, to, bits, in);
  if (from->kind == HD_O_SREG) return emit_special(fn, s, from, bits, in);
  const hd_ptx_sym *y = from->kind == HD_O_SYM ? &fn->d->m->syms[from->sym] : NULL;
  if (bits == 32 && y && y->kind == HD_SYM_VAR && fn->d->m->vars[y->decl].space == HD_M_LOCAL)
    return emit_short_local(fn, s, from, in);
  return emu_emit_shape(fn, f, s, in);
}
const emu_rule emu_rule_mov = {prepare_mov, emit_mov};

/* ---- The stack --------------------------------------------------------------------------------- */

/* The reserve outlives the block it is first used in: it gets its place in the frame at the end. */
static void need_reserve(emu_function *fn) {
  if (fn->alloca_slot == EMU_NO_SLOT) fn->alloca_slot = emu_new_slots(fn, 2);
}

static void prepare_alloca(emu_decoder *d, emu_form *f) {
  if (f->words.n_types == 1 && f->words.types[0] == HD_M_U64)
    emu_use(d, f, "alloca.u64");
  else
    f->refused = "only 64-bit addresses are emulated";
}
static bool emit_alloca(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  int64_t align = 8;
  if (s->n_opnds < 2 || s->n_opnds > 3) return emu_refuse(fn, s, "it has %u operands", s->n_opnds);
  if (s->n_opnds == 3 && !emu_integer(fn, s, emu_operand(fn, s, 2), &align)) return false;
  if (align < 1 || align > 4096 || align & (align - 1))
    return emu_refuse(fn, s, "its alignment is no power of two up to 4096");
  in->imm = align;
  need_reserve(fn);
  emu_ref(fn, &in->src[3], fn->alloca_slot);
  emu_ref(fn, &in->src[1], emu_init_slot(fn, EMU_INIT_RESERVE, 0));
  return emu_destination(fn, s, emu_operand(fn, s, 0), 64, false, &in->dst) &&
         emu_source(fn, s, emu_operand(fn, s, 1), 64, &in->src[0]);
}
const emu_rule emu_rule_alloca = {prepare_alloca, emit_alloca};

/* stacksave gives the bytes that alloca has taken so far, stackrestore sets them. */
static void prepare_stack(emu_decoder *d, emu_form *f) {
  if (f->words.n_types == 1 && f->words.types[0] == HD_M_U64)
    emu_use(d, f, "mov.b64");
  else
    f->refused = "only 64-bit addresses are emulated";
}
static bool emit_stack(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  need_reserve(fn);
  if (s->n_opnds != 1) return emu_refuse(fn, s, "it has %u operands", s->n_opnds);
  if (f->ptx->op == HD_OP_STACKSAVE) {
    emu_ref(fn, &in->src[0], fn->alloca_slot);
    return emu_destination(fn, s, emu_operand(fn, s, 0), 64, false, &in->dst);
  }
  emu_ref(fn, &in->dst, fn->alloca_slot);
  return emu_source(fn, s, emu_operand(fn, s, 0), 64, &in->src[0]);
}
const emu_rule emu_rule_stack = {prepare_stack, emit_stack};

/* ---- Nothing -------------------------------------------------------------------------------------- */

static void prepare_nop(emu_decoder *d, emu_form *f) { f->proto.control = EMU_NOP; }
static bool emit_nop(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) { return true; }
const emu_rule emu_rule_nop = {prepare_nop, emit_nop};
