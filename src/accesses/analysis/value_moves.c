/* Operations that move a value: conversions, moves, loads of constants, parameters of inlined functions,
 * values of other threads. */
#include <string.h>

#include "analysis/transfer.h"

/* ---- Conversion ------------------------------------------------------------------------------ */

an_val tr_narrow(tr *t, const an_val *from, tr_type type, unsigned width) {
  an *a = t->a;
  an_val known = *from;
  const an_val *x = &known;
  an_use_range(a, &known);
  int64_t lo = hd_least_of(type.bits, type.kind == TR_SIGNED),
          hi = hd_most_of(type.bits, type.kind == TR_SIGNED);
  if (x->lo >= lo && x->hi <= hi) {
    an_val r = tr_result(t, x->poly, width, x, NULL);
    tr_add_ranges(&r, tr_range_of(x));
    return r;
  }
  /* x mod 2^bits, moved to the signed range by adding half and taking it away again */
  hd_poly p = an_wrap(&a->alg, x->poly, type.bits), shifted = an_add_const(&a->alg, p, -lo);
  int64_t turn = hd_power_of_two(type.bits);
  hd_poly turns = shifted == HD_NONE ? HD_NONE : an_floor_const(&a->alg, shifted, turn, t->inst);
  p = turns == HD_NONE ? HD_NONE : an_sub(&a->alg, p, an_scale(&a->alg, turns, turn));
  an_val r = tr_result(t, p, width, x, NULL);
  if (r.poly == p) an_known_range(a, &r, lo, hi);
  return r;
}

bool tr_cvt(tr *t, an_val *out) {
  tr_type to, from;
  tr_types_of(t->form, &to, &from);
  if (to.kind == TR_OTHER || from.kind == TR_OTHER || hd_ptx_form_has(t->form, HD_M_SAT))
    return tr_unknown(t, out);
  an_val x;
  unsigned width = to.bits < 16 ? 32 : to.bits;
  if (!tr_operand(t, 1, from.bits < 16 ? 32 : from.bits, &x)) return false;
  if (from.bits < x.width && from.bits < to.bits) {
    *out = tr_narrow(t, &x, from, width);
  } else if (to.bits < 16) {
    *out = tr_narrow(t, &x, to, width);
  } else if (to.bits <= from.bits) {
    *out = tr_result(t, x.poly, width, &x, NULL);
    if (out->poly == x.poly) tr_add_ranges(out, tr_range_of(&x));
  } else {
    *out = an_extend(t->a, &x, from.kind == TR_SIGNED, t->inst);
    an_val r = tr_result(t, out->poly, width, out, NULL);
    tr_add_ranges(&r, tr_range_of(out));
    r.maybe &= out->maybe;
    *out = r;
  }
  return true;
}

/* Generic addresses are those of global memory; other spaces have windows among them. */
bool tr_cvta(tr *t, an_val *out) {
  an *a = t->a;
  an_val x;
  if (!tr_operand(t, 1, t->type.bits, &x)) return false;
  hd_mod space = HD_M_NONE;
  for (unsigned i = 0; i < t->form->n_mods && !space; i++) {
    hd_mod mod = t->form->mods[i];
    unsigned in = hd_ptx_mod_kind(mod) == HD_MK_SPACE ? hd_ptx_mod_value(mod) : 0;
    if (in & HD_IN_ANY_SHARED) space = HD_M_SHARED;
    if (in & HD_IN_LOCAL) space = HD_M_LOCAL;
  }
  if (!space) {
    *out = x;
    return true;
  }
  hd_value_symbol s = {
      .kind = HD_V_WINDOW, .level = HD_LEVEL_LAUNCH, .a = space, .why = HD_NONE, .hi = INT64_MAX};
  an_val window = an_val_of(a, an_sym(&a->alg, an_symbol(&a->alg, s)), t->type.bits);
  *out = tr_sum(t, &x, &window, hd_ptx_form_has(t->form, HD_M_TO) ? -1 : 1, t->type.bits);
  return true;
}

/* ---- Moves ----------------------------------------------------------------------------------- */

enum { MAX_PARTS = 4 }; /* PTX has moves of two and of four */

/* mov.b64 r, {lo, hi} */
static bool do_pack(tr *t, const hd_ptx_opnd *v, an_val *out) {
  an *a = t->a;
  unsigned part = t->type.bits / (v->n_kids ? v->n_kids : 1);
  if (part < 8 || t->type.bits > 64 || v->n_kids > MAX_PARTS) return tr_unknown(t, out);
  an_val parts[MAX_PARTS];
  bool ok = true;
  for (uint32_t k = 0; k < v->n_kids; k++)
    ok = an_operand(a, t->inst, &a->m->opnds[v->sym + k], part, &parts[k]) && ok;
  if (!ok) return false;
  an_val sum = an_val_of(a, 0, t->type.bits);
  for (uint32_t k = 0; k < v->n_kids; k++) {
    /* The last one's high bits fall off; the others must not reach into their neighbours. */
    an_val x = k + 1 < v->n_kids ? an_extend(a, &parts[k], false, t->inst) : parts[k];
    sum = tr_sum(t, &sum, &x, hd_power_of_two(k * part), t->type.bits);
  }
  *out = sum;
  return true;
}

/* mov.b64 {lo, hi}, r: the parts are exact, for an address does not fit into half of it. */
static bool do_unpack(tr *t, an_val *out) {
  an *a = t->a;
  unsigned n = t->opnds[0].n_kids, part = t->type.bits / (n ? n : 1);
  an_val x;
  if (part < 8 || part > 32 || t->type.bits > 64 || n > MAX_PARTS) return tr_unknown(t, out);
  if (!tr_operand(t, 1, t->type.bits, &x)) return false;
  an_val whole = t->sub + 1 == n ? an_extend(a, &x, true, t->inst) : x;
  hd_poly low = an_floor_const(&a->alg, whole.poly, hd_power_of_two(t->sub * part), t->inst);
  hd_poly high = t->sub + 1 == n || low == HD_NONE
                     ? 0
                     : an_floor_const(&a->alg, whole.poly, hd_power_of_two((t->sub + 1) * part), t->inst);
  hd_poly p = low == HD_NONE || high == HD_NONE
                  ? HD_NONE
                  : an_sub(&a->alg, low, an_scale(&a->alg, high, hd_power_of_two(part)));
  /* Not reduced to the part's width: packed again, the whole comes back. */
  if (p == HD_NONE) {
    *out = tr_opaque(t, HD_LEVEL_NONLINEAR, part, &x, NULL);
    return true;
  }
  if (t->sub + 1 < n) an_note_range(&a->alg, p, 0, hd_most_of(part, false), a->alg.used);
  const hd_polynomial *q = &a->alg.polys.data[p];
  *out = (an_val){.poly = p,
                  .lo = q->lo,
                  .hi = q->hi,
                  .maybe = hd_low_bits(part),
                  .pending = HD_NONE,
                  .width = (uint8_t)part};
  an_inherit(a, out, &whole);
  return true;
}

bool tr_mov(tr *t, an_val *out) {
  if (t->st->n_opnds < 2) return tr_unknown(t, out);
  if (t->opnds[0].kind == HD_O_VEC) return do_unpack(t, out);
  if (t->opnds[1].kind == HD_O_VEC) return do_pack(t, &t->opnds[1], out);
  return tr_operand(t, 1, t->type.bits > 64 ? 64 : t->type.bits, out);
}

/* ---- Loads that are constants of the launch -------------------------------------------------- */

static an_val constant_of(tr *t, hd_symbol_kind kind, uint32_t x, uint64_t offset, tr_type type) {
  an *a = t->a;
  bool is_signed = type.kind == TR_SIGNED || type.bits == 32;
  hd_value_symbol s = {.kind = (uint8_t)kind,
                       .level = HD_LEVEL_LAUNCH,
                       .width = (uint8_t)type.bits,
                       .is_signed = is_signed,
                       .a = x,
                       .b = (uint32_t)offset,
                       .why = HD_NONE,
                       .lo = INT64_MIN,
                       .hi = INT64_MAX};
  if (type.bits < 64) {
    s.lo = hd_least_of(type.bits, is_signed);
    s.hi = hd_most_of(type.bits, is_signed);
  }
  int64_t number;
  hd_poly p = kind == HD_V_PARAM && an_argument(a, &s, &number) ? an_const(&a->alg, number)
                                                                : an_sym(&a->alg, an_symbol(&a->alg, s));
  return an_val_of(a, p, type.bits > 32 ? 64 : 32);
}

/* The parameter or variable and offset that an address polynomial names. */
static bool named_by(an *a, hd_poly p, uint32_t *var, int64_t *offset) {
  const hd_polynomial *q = &a->alg.polys.data[p];
  *offset = 0;
  *var = HD_NONE;
  for (uint32_t i = 0; i < q->n; i++) {
    const hd_term *term = &a->alg.terms.data[q->first + i];
    const hd_product *prod = &a->alg.products.data[term->product];
    if (prod->n == 0) {
      *offset = term->coefficient;
      continue;
    }
    const hd_value_symbol *s = &a->alg.symbols.data[a->alg.factors.data[prod->first]];
    if (prod->n != 1 || term->coefficient != 1 || s->kind != HD_V_ADDRESS || *var != HD_NONE) return false;
    *var = s->a;
  }
  return *var != HD_NONE && *offset >= 0 && *offset < UINT32_MAX;
}

bool tr_ld(tr *t, an_val *out) {
  an *a = t->a;
  hd_mod space = HD_M_NONE;
  for (unsigned i = 0; i < t->form->n_mods && !space; i++) {
    hd_mod mod = t->form->mods[i];
    if (mod == HD_M_PARAM || mod == HD_M_PARAM_ENTRY || mod == HD_M_PARAM_FUNC) space = HD_M_PARAM;
    if (mod == HD_M_CONST) space = HD_M_CONST;
  }
  tr_type type = t->type;
  unsigned width = type.bits > 32 ? 64 : type.bits == 16 ? 16 : 32;
  const hd_ptx_opnd *o = t->st->n_opnds > 1 ? t->opnds + 1 : NULL;
  uint64_t sub = (uint64_t)t->sub * (type.bits / 8);
  if (space && o && o->kind == HD_O_ADDR && type.bits >= 8 && type.bits <= 64) {
    uint32_t call = a->pub.cfg.insts[t->inst].call;
    if (space == HD_M_PARAM && o->sym && a->m->syms[o->sym].kind == HD_SYM_VAR) {
      uint32_t slot = an_slot_of(a, call, o->sym, (uint64_t)o->imm + sub, type.bits / 8, false);
      if (slot != HD_NONE) {
        an_val x;
        an_value v = an_reaching(a, slot, t->inst);
        if (v == HD_NONE) {
          *out = an_val_unknown(a, HD_V_OPAQUE, t->inst, t->sub, HD_LEVEL_DATA,
                                (an_blame){HD_WHY_CALL, t->inst}, width);
          return true;
        }
        if (!an_get_at(a, v, a->pub.cfg.insts[t->inst].block, &x)) return false;
        *out = type.bits < 32 && type.kind != TR_OTHER ? tr_narrow(t, &x, type, width) : x;
        return true;
      }
    }
    an_val address;
    if (!tr_operand(t, 1, 64, &address)) return false;
    uint32_t var;
    int64_t offset;
    if (named_by(a, address.poly, &var, &offset)) {
      const hd_ptx_func *f = &a->m->funcs[a->pub.func];
      hd_mod where = a->m->vars[var].space;
      bool param = where == HD_M_PARAM && var >= f->first_param && var < f->first_param + f->n_params;
      if (param || where == HD_M_CONST) {
        *out = constant_of(t, param ? HD_V_PARAM : HD_V_CONST, param ? var - f->first_param : var,
                           (uint64_t)offset + sub, type);
        return true;
      }
    }
  }
  *out =
      an_val_unknown(a, HD_V_LOAD, t->inst, t->sub, HD_LEVEL_DATA, (an_blame){HD_WHY_LOAD, t->inst}, width);
  if (type.bits < 32 && type.kind != TR_OTHER)
    an_known_range(a, out, hd_least_of(type.bits, type.kind == TR_SIGNED),
                   hd_most_of(type.bits, type.kind == TR_SIGNED));
  return true;
}

/* A store into a variable that passes a value to a function. */
bool tr_st(tr *t, an_val *out) {
  const hd_ptx_opnd *o = t->opnds + 1;
  if (o->kind == HD_O_VEC) o = &t->a->m->opnds[o->sym + (t->sub < o->n_kids ? t->sub : 0)];
  return an_operand(t->a, t->inst, o, t->type.bits > 32 ? 64 : 32, out);
}

bool tr_call(tr *t, an_val *out) {
  *out = an_val_unknown(t->a, HD_V_CALL, t->inst, t->sub, HD_LEVEL_CALL, (an_blame){HD_WHY_CALL, t->inst},
                        an_reg_width(t->a, t->a->ssa.defs[t->def].reg));
  return true;
}

/* ---- Other threads --------------------------------------------------------------------------- */

/* The value is the same in all lanes of a warp: thread ids occur as floor(tid.x / multiple of 32) only. */
static bool warp_uniform(an *a, hd_poly p, unsigned depth) {
  const hd_polynomial q = a->alg.polys.data[p];
  if (!(q.varies & 7)) return true;
  if (q.level >= HD_LEVEL_DATA || depth > 8) return false;
  for (uint32_t i = 0; i < q.n; i++) {
    const hd_product prod = a->alg.products.data[a->alg.terms.data[q.first + i].product];
    for (uint32_t k = 0; k < prod.n; k++) {
      const hd_value_symbol s = a->alg.symbols.data[a->alg.factors.data[prod.first + k]];
      int64_t d;
      if (!(s.varies & 7)) continue;
      if (s.kind == HD_V_FLOOR && an_is_const(&a->alg, s.b, &d) && d > 0 && d % AN_WARP == 0 &&
          s.varies == 1 && a->alg.polys.data[s.a].n == 1 &&
          a->alg.terms.data[a->alg.polys.data[s.a].first].coefficient == 1)
        continue;
      bool function = an_is_function(s.kind);
      if (!function || !warp_uniform(a, s.a, depth + 1)) return false;
      bool two = s.kind != HD_V_POS && s.kind != HD_V_GE && s.kind != HD_V_EQ && s.kind != HD_V_POW2;
      if (two && !warp_uniform(a, s.b, depth + 1)) return false;
    }
  }
  return true;
}

/* A shuffle of a value that is the same in all lanes of a warp changes nothing. */
bool tr_shfl(tr *t, an_val *out) {
  an *a = t->a;
  an_val x;
  if (t->sub == 0 && t->st->n_opnds > 1) {
    if (!tr_operand(t, 1, 32, &x)) return false;
    if (warp_uniform(a, x.poly, 0)) {
      *out = x;
      /* Warps are runs of 32 thread numbers; they keep to one row of the CTA when rows are whole warps. */
      if (a->alg.polys.data[x.poly].varies & 7 && !(a->opt.block[1] == 1 && a->opt.block[2] == 1)) {
        hd_poly row = an_ntid(a, 0),
                rest = an_sub(&a->alg, row,
                              an_scale(&a->alg, an_floor_const(&a->alg, row, AN_WARP, t->inst), AN_WARP));
        hd_poly rows = an_mul(&a->alg, an_ntid(a, 1), an_ntid(a, 2));
        out->assumes = an_assume(&a->alg, out->assumes,
                                 an_mul(&a->alg, rest, an_add_const(&a->alg, rows, -1)), 0, 0, t->inst);
      }
      return true;
    }
  }
  *out = an_val_unknown(a, HD_V_OPAQUE, t->inst, t->sub, HD_LEVEL_DATA, (an_blame){HD_WHY_EXCHANGE, t->inst},
                        an_reg_width(a, a->ssa.defs[t->def].reg));
  return true;
}

bool tr_exchange(tr *t, an_val *out) {
  *out = an_val_unknown(t->a, HD_V_OPAQUE, t->inst, t->sub, HD_LEVEL_DATA,
                        (an_blame){HD_WHY_EXCHANGE, t->inst}, an_reg_width(t->a, t->a->ssa.defs[t->def].reg));
  return true;
}

bool tr_load_unknown(tr *t, an_val *out) {
  *out = an_val_unknown(t->a, HD_V_LOAD, t->inst, t->sub, HD_LEVEL_DATA, (an_blame){HD_WHY_LOAD, t->inst},
                        an_reg_width(t->a, t->a->ssa.defs[t->def].reg));
  return true;
}
