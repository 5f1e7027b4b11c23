/* emu/decode/operand.c: assigns slots to registers, immediates and addresses. */
#include "base/arith.h"
#include "emu/decode/decode.h"

/* ---- Slots ------------------------------------------------------------------------- */

void emu_vec_room(hd_arena *a, void **data, uint32_t n, uint32_t *cap, size_t size) {
  if (n < *cap) return;
  const uint32_t want = *cap ? 2 * *cap : 16;
  void *more = hd_arena_zalloc(a, want, size);
  if (n) memcpy(more, *data, n * size);
  *data = more;
  *cap = want;
}

void emu_ref(emu_function *fn, uint32_t *where, uint32_t slot) {
  *where = slot;
  if (slot != EMU_NO_SLOT) emu_push(fn->scratch, &fn->refs, where);
}

uint32_t emu_new_slots(emu_function *fn, uint32_t n) {
  const uint32_t slot = fn->n_slots;
  fn->n_slots += n;
  return slot;
}

static uint32_t slots_of(unsigned bits) { return bits <= 32 ? 1 : bits / 32; }

static uint32_t init_hash(emu_init_kind kind, uint64_t bits) {
  const uint64_t key[2] = {bits, kind};
  return (uint32_t)hd_hash(key, sizeof key);
}

static void grow_init_table(emu_function *fn) {
  fn->init_table_size = fn->init_table_size ? 2 * fn->init_table_size : 64;
  fn->init_table = HD_NEW_N(fn->scratch, fn->init_table_size, uint32_t);
  for (uint32_t k = 0; k < fn->inits.n; k++) {
    uint32_t at = init_hash(fn->inits.data[k].kind, fn->inits.data[k].bits);
    while (fn->init_table[at & (fn->init_table_size - 1)]) at++;
    fn->init_table[at & (fn->init_table_size - 1)] = k + 1;
  }
}

uint32_t emu_init_slot(emu_function *fn, emu_init_kind kind, uint64_t bits) {
  if (2 * fn->inits.n >= fn->init_table_size) grow_init_table(fn);
  uint32_t at = init_hash(kind, bits);
  for (;; at++) {
    const uint32_t k = fn->init_table[at & (fn->init_table_size - 1)];
    if (!k) break;
    const emu_init *i = &fn->inits.data[k - 1];
    if (i->kind == kind && i->bits == bits) return i->slot | EMU_INIT_SLOT;
  }
  const uint32_t slot = fn->n_init;
  fn->n_init += kind == EMU_INIT_128                                                        ? 4
                : kind == EMU_INIT_64 || kind == EMU_INIT_LOCAL || kind == EMU_INIT_RESERVE ? 2
                                                                                            : 1;
  emu_push(fn->scratch, &fn->inits, ((emu_init){bits, kind, slot}));
  fn->init_table[at & (fn->init_table_size - 1)] = fn->inits.n;
  return slot | EMU_INIT_SLOT;
}

uint32_t emu_constant(emu_function *fn, uint64_t bits, unsigned width) {
  if (width == 1) return emu_init_slot(fn, EMU_INIT_PRED, bits ? UINT32_MAX : 0);
  if (width < 64) return emu_init_slot(fn, EMU_INIT_32, bits & (UINT64_MAX >> (64 - width)));
  return emu_init_slot(fn, width == 64 ? EMU_INIT_64 : EMU_INIT_128, bits);
}

/* ---- Operands of a statement ----------------------------------------------------------- */

const hd_ptx_opnd *emu_operand(const emu_function *fn, const hd_ptx_stmt *s, unsigned k) {
  return k < s->n_opnds ? &fn->d->m->opnds[s->first_opnd + k] : NULL;
}
const hd_ptx_opnd *emu_kid(const emu_function *fn, const hd_ptx_opnd *o, unsigned k) {
  return k < o->n_kids ? &fn->d->m->opnds[o->sym + k] : NULL;
}

void emu_pair(const emu_function *fn, const hd_ptx_opnd *o, const hd_ptx_opnd **first,
              const hd_ptx_opnd **second) {
  *first = o;
  *second = NULL;
  if (o && o->kind == HD_O_PAIR) {
    *first = emu_kid(fn, o, 0);
    *second = emu_kid(fn, o, 1);
  }
}

/* ---- Registers ---------------------------------------------------------------------------- */

unsigned emu_reg_bits(const emu_function *fn, hd_sym sym) {
  const hd_mod type = fn->d->m->syms[sym].type;
  return type == HD_M_PRED ? 1 : (unsigned)hd_ptx_type_size(type) * 8;
}

/* .x .y .z .w or .r .g .b .a; -1: something else. */
static int component(hd_mod part) {
  switch (part) {
  case HD_M_X:
  case HD_M_R: return 0;
  case HD_M_Y:
  case HD_M_G: return 1;
  case HD_M_Z:
  case HD_M_B: return 2;
  case HD_M_W:
  case HD_M_A: return 3;
  default: return -1;
  }
}

bool emu_reg(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, uint32_t *slot, unsigned *bits) {
  const hd_ptx_sym *sym = &fn->d->m->syms[o->sym];
  *bits = emu_reg_bits(fn, o->sym);
  if (*bits == 0 || *bits > 128)
    return emu_refuse(fn, s, "register %s has a type that is not emulated", sym->name);
  uint32_t element = 0;
  const unsigned n = sym->vec > 1 ? sym->vec : 1;
  if (o->part || n > 1) {
    const int c = component(o->part);
    if (c < 0 || (unsigned)c >= n)
      return emu_refuse(fn, s, "only whole registers and components of vectors are emulated: %s", sym->name);
    element = (uint32_t)c;
  }
  uint32_t *known = &fn->reg_slots[sym->index];
  if (!*known) *known = 1 + emu_new_slots(fn, slots_of(*bits) * n);
  *slot = *known - 1 + element * slots_of(*bits);
  return true;
}

/* ---- Special registers ------------------------------------------------------------------------ */

/* Performance counters, and registers that the driver or the tool chain sets, but for the workspace of
 * cooperative launches. */
static bool is_unknowable(const char *name, unsigned id) {
  static const char *const prefixes[] = {"%pm", "%envreg", "%reserved_smem_offset_0"};
  if (id == HD_SR_ENVREG1 || id == HD_SR_ENVREG2) return false;
  for (unsigned k = 0; k < sizeof prefixes / sizeof prefixes[0]; k++)
    if (strncmp(name, prefixes[k], strlen(prefixes[k])) == 0) return true;
  return false;
}

static bool special(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned bits,
                    uint32_t *where) {
  const hd_ptx_sym *sym = &fn->d->m->syms[o->sym];
  const unsigned id = sym->index;
  if (id == HD_SR_NONE || id >= HD_SR_COUNT)
    return emu_refuse(fn, s, "special register %s is unknown", sym->name);
  if (hd_ptx_sreg_clock(id)) return emu_refuse(fn, s, "%s can be read only by mov", sym->name);
  const hd_ptx_op op = s->kind == HD_S_INST ? (hd_ptx_op)fn->d->m->forms[s->form].op : HD_OP_UNKNOWN;
  if (op != HD_OP_MOV && op != HD_OP_CVT)
    return emu_refuse(fn, s, "%s can be read only by mov and cvt", sym->name);
  if (is_unknowable(sym->name, id)) return emu_refuse(fn, s, "%s is not emulated", sym->name);
  const bool wide = id == HD_SR_GRIDID || id == HD_SR_CURRENT_GRAPH_EXEC;
  if (bits != (wide ? 64u : 32u)) return emu_refuse(fn, s, "%s is read as %u bits", sym->name, bits);
  uint32_t slot = EMU_NO_SLOT;
  switch (id) {
  case HD_SR_RESERVED_SMEM_OFFSET_1: slot = emu_constant(fn, fn->d->vars[fn->d->m->n_vars].offset, 32); break;
  case HD_SR_LANEID: slot = emu_init_slot(fn, EMU_INIT_LANE, 0); break;
  case HD_SR_LANEMASK_EQ: slot = emu_init_slot(fn, EMU_INIT_EQ, 0); break;
  case HD_SR_LANEMASK_LE: slot = emu_init_slot(fn, EMU_INIT_LE, 0); break;
  case HD_SR_LANEMASK_LT: slot = emu_init_slot(fn, EMU_INIT_LT, 0); break;
  case HD_SR_LANEMASK_GE: slot = emu_init_slot(fn, EMU_INIT_GE, 0); break;
  case HD_SR_LANEMASK_GT: slot = emu_init_slot(fn, EMU_INIT_GT, 0); break;
  default: break;
  }
  if (slot == EMU_NO_SLOT) {
    const int c = o->part ? component(o->part) : 0;
    if (c < 0) return emu_refuse(fn, s, "%s has no such component", sym->name);
    for (uint32_t k = 0; k < fn->sregs.n && slot == EMU_NO_SLOT; k++)
      if (fn->sregs.data[k].id == id && fn->sregs.data[k].part == c) slot = fn->sregs.data[k].slot;
    if (slot == EMU_NO_SLOT) {
      slot = emu_new_slots(fn, wide ? 2 : 1);
      emu_push(fn->scratch, &fn->sregs, ((struct emu_sreg){(uint16_t)id, (uint8_t)c, slot}));
    }
  }
  emu_ref(fn, where, slot);
  return true;
}

/* ---- Sources and destinations -------------------------------------------------------------------- */

static bool wrong_size(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned have,
                       unsigned want) {
  return emu_refuse(fn, s, "%s has %u bits where the instruction takes %u", fn->d->m->syms[o->sym].name, have,
                    want);
}

/* A variable's or function's address as a value. */
static bool address_value(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned bits,
                          uint32_t *where) {
  const hd_ptx_sym *sym = &fn->d->m->syms[o->sym];
  if (sym->kind == HD_SYM_FUNC) {
    if (bits != 64) return emu_refuse(fn, s, "the address of %s has 64 bits", sym->name);
    emu_ref(fn, where,
            emu_constant(fn, fn->d->env->functions + 16 * (uint64_t)sym->decl + (uint64_t)o->imm, 64));
    return true;
  }
  if (sym->kind != HD_SYM_VAR) return emu_refuse(fn, s, "the address of %s is not emulated", sym->name);
  emu_location at;
  if (!emu_locate_var(fn, s, o->sym, &at)) return false;
  const bool constant = at.where == EMU_IN_GLOBAL && fn->d->m->vars[sym->decl].space == HD_M_CONST;
  const uint64_t offset = at.offset + (uint64_t)o->imm - (constant ? EMU_CONST_BASE : 0);
  /* Offsets: cvta makes them generic. */
  if (bits == 32 && (at.where == EMU_IN_SHARED || at.where == EMU_IN_PARAMS)) {
    emu_ref(fn, where, emu_constant(fn, offset, 32));
    return true;
  }
  if (bits != 64) return emu_refuse(fn, s, "the address of %s has 64 bits", sym->name);
  switch (at.where) {
  case EMU_IN_FRAME: emu_ref(fn, where, emu_init_slot(fn, EMU_INIT_LOCAL, offset)); return true;
  case EMU_IN_PARAMS: emu_ref(fn, where, emu_constant(fn, EMU_PARAM_BASE + offset, 64)); return true;
  default: emu_ref(fn, where, emu_constant(fn, offset, 64)); return true;
  }
}

bool emu_source(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned bits,
                uint32_t *where) {
  if (!o) return emu_refuse(fn, s, "an operand is missing");
  switch ((hd_ptx_opnd_kind)o->kind) {
  case HD_O_REG: {
    uint32_t slot;
    unsigned have;
    if (o->flags & HD_OF_NEG) return emu_refuse(fn, s, "a negated operand is not emulated here");
    if (!emu_reg(fn, s, o, &slot, &have)) return false;
    /* A b8 register serves where 16 bits are read: it is zero-extended. */
    if (have != bits && !(have == 8 && bits == 16)) return wrong_size(fn, s, o, have, bits);
    emu_ref(fn, where, slot);
    return true;
  }
  case HD_O_SREG: return special(fn, s, o, bits, where);
  case HD_O_INT: emu_ref(fn, where, emu_constant(fn, o->bits, bits)); return true;
  case HD_O_F32:
    emu_ref(fn, where, emu_constant(fn, bits == 64 ? num_b64(num_f32((uint32_t)o->bits)) : o->bits, bits));
    return true;
  case HD_O_F64:
    emu_ref(fn, where, emu_constant(fn, bits == 32 ? num_b32((float)num_f64(o->bits)) : o->bits, bits));
    return true;
  case HD_O_SYM: return address_value(fn, s, o, bits, where);
  default: return emu_refuse(fn, s, "an operand of this kind is not emulated here");
  }
}

bool emu_predicate(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, uint32_t *where,
                   uint8_t *negated) {
  if (!o) return emu_refuse(fn, s, "a predicate is missing");
  hd_ptx_opnd plain = *o;
  if (o->kind == HD_O_REG && o->flags & HD_OF_NEG && negated) {
    *negated = 1;
    plain.flags &= (uint8_t)~HD_OF_NEG;
  }
  return emu_source(fn, s, &plain, 1, where);
}

bool emu_destination(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned bits, bool sink,
                     uint32_t *where) {
  if (o && o->kind == HD_O_SINK && sink) {
    *where = EMU_NO_SLOT;
    return true;
  }
  if (!o || o->kind != HD_O_REG || o->flags & HD_OF_NEG)
    return emu_refuse(fn, s, "the destination is no register");
  uint32_t slot;
  unsigned have;
  if (!emu_reg(fn, s, o, &slot, &have)) return false;
  if (have != bits) return wrong_size(fn, s, o, have, bits);
  emu_ref(fn, where, slot);
  return true;
}

bool emu_integer(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, int64_t *value) {
  if (!o || o->kind != HD_O_INT) return emu_refuse(fn, s, "a constant is expected");
  *value = o->imm;
  return true;
}

/* ---- Variables and addresses -------------------------------------------------------------------------- */

bool emu_locate_var(emu_function *fn, const hd_ptx_stmt *s, hd_sym sym, emu_location *out) {
  emu_decoder *d = fn->d;
  const hd_ptx_sym *y = &d->m->syms[sym];
  if (y->kind != HD_SYM_VAR) return emu_refuse(fn, s, "%s is not defined in this module", y->name);
  emu_location *at = &d->vars[y->decl];
  if (at->where == EMU_NOWHERE) {
    const hd_mod space = d->m->vars[y->decl].space;
    bool ok = false;
    if (space == HD_M_GLOBAL || space == HD_M_CONST)
      at->offset = d->env->address_of(d->env->ctx, y->decl, &ok);
    if (!ok) return emu_refuse(fn, s, "variable %s has no address in this module", y->name);
    at->where = EMU_IN_GLOBAL;
  }
  *out = *at;
  return true;
}

static bool variable_address(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, emu_address *out) {
  const hd_ptx_sym *y = &fn->d->m->syms[o->sym];
  emu_location at;
  if (!emu_locate_var(fn, s, o->sym, &at)) return false;
  out->imm = (int64_t)(at.offset + (uint64_t)o->imm);
  out->mode = EMU_ADDR_ABS;
  out->slot = EMU_NO_SLOT;
  unsigned own = HD_SPACE_GLOBAL;
  switch (at.where) {
  case EMU_IN_SHARED: own = HD_SPACE_SHARED; break;
  case EMU_IN_PARAMS:
    own = HD_SPACE_PARAM;
    out->imm = hd_wrap_add(out->imm, (int64_t)EMU_PARAM_BASE);
    break;
  case EMU_IN_FRAME:
    own = fn->d->m->vars[y->decl].space == HD_M_PARAM ? HD_SPACE_PARAM : HD_SPACE_LOCAL;
    break;
  default:
    if (fn->d->m->vars[y->decl].space == HD_M_CONST) own = HD_SPACE_CONST;
  }
  if (out->space != EMU_GENERIC && out->space != own)
    return emu_refuse(fn, s, "%s is not in the state space of this instruction", y->name);
  out->space = own;
  if (at.where == EMU_IN_FRAME && own == HD_SPACE_PARAM) {
    /* Not an access of memory: arguments and results are copied by the call. */
    if (out->imm < 0 || out->imm >= (int64_t)INT32_MAX)
      return emu_refuse(fn, s, "the offset is outside %s", y->name);
    out->space = EMU_FRAME;
  } else if (at.where == EMU_IN_FRAME) {
    out->slot = emu_init_slot(fn, EMU_INIT_LOCAL, at.offset);
    out->imm = o->imm;
    out->mode = EMU_ADDR_64;
  }
  return true;
}

bool emu_address_of(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned space,
                    emu_address *out) {
  *out = (emu_address){.space = space, .mode = EMU_ADDR_ABS, .slot = EMU_NO_SLOT};
  if (!o || o->kind != HD_O_ADDR) return emu_refuse(fn, s, "the address has a form that is not emulated");
  out->imm = o->imm;
  if (o->sym) {
    const hd_ptx_sym *y = &fn->d->m->syms[o->sym];
    if (y->kind == HD_SYM_REG) {
      unsigned bits;
      if (!emu_reg(fn, s, o, &out->slot, &bits)) return false;
      if (bits != 64 && (bits != 32 || space == EMU_GENERIC || space == HD_SPACE_GLOBAL))
        return emu_refuse(fn, s, "%s, of %u bits, holds no address here", y->name, bits);
      out->mode = bits == 64 ? EMU_ADDR_64 : EMU_ADDR_32;
      /* In a function the parameters lie in the thread's stack. */
      if (space == HD_SPACE_PARAM && !fn->func->entry) out->space = HD_SPACE_LOCAL;
      if (space == HD_SPACE_CONST) out->imm = hd_wrap_add(out->imm, (int64_t)EMU_CONST_BASE);
      return true;
    }
    return variable_address(fn, s, o, out);
  }
  if (space == HD_SPACE_CONST) out->imm = hd_wrap_add(out->imm, (int64_t)EMU_CONST_BASE);
  if (space == HD_SPACE_PARAM) return emu_refuse(fn, s, "a parameter's address is no number");
  return true;
}

bool emu_put_address(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned space,
                     emu_inst *in) {
  emu_address a;
  if (!emu_address_of(fn, s, o, space, &a)) return false;
  if (a.slot != EMU_NO_SLOT) emu_ref(fn, &in->src[0], a.slot);
  in->imm = a.imm;
  in->mem.mode = (uint8_t)a.mode;
  in->mem.space = (uint8_t)a.space;
  return true;
}

bool emu_frame_room(emu_function *fn, uint64_t bytes, uint64_t align, uint32_t *offset) {
  const uint64_t limit = 512u << 10; /* of local memory per thread, as on every GPU */
  if (align == 0) align = 1;
  if (align > limit || bytes > limit) return false;
  const uint64_t at = (fn->frame_used + align - 1) / align * align;
  if (at + bytes > limit) return false;
  fn->frame_used = at + bytes;
  if (fn->frame_used > fn->frame_peak) fn->frame_peak = fn->frame_used;
  *offset = (uint32_t)at;
  return true;
}
