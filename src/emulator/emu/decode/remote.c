/* emu/decode/remote.c: st.async, red.async, st.bulk; mapa, getctarank. */
#include "emu/decode/decode.h"
#include "emu/machine/async.h"

/* emu_form.data */
enum { R_SPACE = 0, R_ATOM = 1, R_REDUCES = 2 };

/* Is it a reduction that ptxas takes? */
static bool reduces(hd_mod op, hd_mod type) {
  switch (op) {
  case HD_M_INC:
  case HD_M_DEC: return type == HD_M_U32;
  case HD_M_MIN:
  case HD_M_MAX: return type == HD_M_U32 || type == HD_M_S32;
  case HD_M_AND:
  case HD_M_OR:
  case HD_M_XOR: return type == HD_M_B32;
  case HD_M_ADD: return type == HD_M_U32 || type == HD_M_S32 || type == HD_M_U64 || type == HD_M_S64;
  default: return false;
  }
}

/* .mmio.release: to global memory, without an mbarrier. The instruction is carried out where it stands, as a
 * store or reduction with .release is. */
static void prepare_mmio(emu_decoder *d, emu_form *f) {
  hd_ptx_form *plain = HD_NEW(&d->scratch, hd_ptx_form);
  const bool red = f->ptx->op == HD_OP_RED;
  const unsigned bits = f->words.n_types == 1 ? emu_type_bits(f->words.types[0]) : 0;
  hd_mod atom = HD_M_NONE;
  *plain = *f->ptx;
  plain->n_mods = 0;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    if (emu_bulk_atom_of(mod) >= 0) atom = mod;
    if (mod != HD_M_ASYNC && mod != HD_M_MMIO) plain->mods[plain->n_mods++] = mod;
  }
  const bool scoped = EMU_HAS(f, GPU) || EMU_HAS(f, SYS);
  if (!EMU_HAS(f, RELEASE) || !scoped || f->words.vec > 1 || bits < 16 || bits > 64 ||
      (red ? !reduces(atom, f->words.types[0]) : atom != HD_M_NONE) ||
      EMU_HAS(f, MBARRIER_COMPLETE_TX_BYTES) || EMU_HAS(f, SHARED_CLUSTER) || EMU_HAS(f, SHARED_CTA) ||
      EMU_HAS(f, SHARED))
    f->refused = emu_no_form;
  else
    emu_use_plain(d, f, plain, red ? &emu_rule_atom : &emu_rule_st);
}

static void prepare_remote(emu_decoder *d, emu_form *f) {
  hd_mod atom = HD_M_NONE;
  bool counted = false, relaxed = false, cluster = false, weak = false;
  if (EMU_HAS(f, MMIO)) {
    prepare_mmio(d, f);
    return;
  }
  f->data[R_SPACE] = EMU_GENERIC;
  f->proto.fn = emu_run_remote;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    if (emu_type_class(mod) != EMU_CLASS_NONE || mod == HD_M_V2 || mod == HD_M_V4) continue;
    switch (mod) {
    case HD_M_ASYNC: break;
    case HD_M_SHARED_CLUSTER: f->data[R_SPACE] = HD_SPACE_SHARED; break;
    case HD_M_MBARRIER_COMPLETE_TX_BYTES: counted = true; break;
    case HD_M_RELAXED: relaxed = true; break;
    case HD_M_CLUSTER: cluster = true; break;
    case HD_M_WEAK: weak = true; break;
    default:
      if (atom || emu_bulk_atom_of(mod) < 0) {
        emu_refuse_word(d, f, mod);
        return;
      }
      atom = mod;
    }
  }
  const emu_words *w = &f->words;
  const unsigned bits = emu_type_bits(w->types[0]);
  const bool red = f->ptx->op == HD_OP_RED;
  f->data[R_REDUCES] = red;
  if (red) f->data[R_ATOM] = (uint32_t)emu_bulk_atom_of(atom);
  if (w->n_types != 1 || !counted || (bits != 32 && bits != 64) || bits * w->vec > 8 * EMU_REMOTE_BYTES ||
      (red ? !reduces(atom, w->types[0]) || w->vec > 1 || !relaxed || !cluster || weak
           : atom != HD_M_NONE || relaxed || cluster))
    f->refused = emu_no_form;
}

static bool emit_remote(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const hd_ptx_opnd *value = emu_operand(fn, s, 1);
  const unsigned n = f->words.vec, bits = emu_type_bits(f->words.types[0]);
  if (s->n_opnds != 3) return emu_refuse(fn, s, "it has %u operands where 3 are expected", s->n_opnds);
  if ((value->kind == HD_O_VEC ? value->n_kids : 1) != n)
    return emu_refuse(fn, s, "its vector has not %u elements", n);
  emu_remote *x = HD_NEW(fn->d->env->arena, emu_remote);
  *x = (emu_remote){.copy = {.op = EMU_BULK_SHARED,
                             .size_slot = EMU_NO_SLOT,
                             .mask_slot = EMU_NO_SLOT,
                             .bytes_slot = EMU_NO_SLOT,
                             .policy_slot = EMU_NO_SLOT,
                             .reduce = f->data[R_REDUCES]},
                    .n = n,
                    .bytes = bits / 8};
  if (x->copy.reduce) {
    x->copy.atom = (emu_atom_op)f->data[R_ATOM];
    x->copy.type = (emu_bulk_type)emu_bulk_type_of(f->words.types[0]);
  }
  in->extra = x;
  for (unsigned k = 0; k < n; k++)
    if (!emu_source(fn, s, value->kind == HD_O_VEC ? emu_kid(fn, value, k) : value, bits, &x->slot[k]))
      return false;
  return emu_put_shared(fn, s, emu_operand(fn, s, 0), f->data[R_SPACE], &x->copy.dst) &&
         emu_put_shared(fn, s, emu_operand(fn, s, 2), f->data[R_SPACE], &x->copy.bar);
}
const emu_rule emu_rule_remote = {prepare_remote, emit_remote};

/* ---- st.bulk ------------------------------------------------------------------------------ */

static void prepare_fill(emu_decoder *d, emu_form *f) {
  f->data[R_SPACE] = EMU_GENERIC;
  f->proto.fn = emu_run_fill;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    if (mod == HD_M_SHARED_CTA || mod == HD_M_SHARED) {
      f->data[R_SPACE] = HD_SPACE_SHARED;
    } else if (mod != HD_M_BULK && mod != HD_M_WEAK) {
      emu_refuse_word(d, f, mod);
      return;
    }
  }
}

/* st.bulk [a], size, 0 */
static bool emit_fill(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  emu_fill *x = HD_NEW(fn->d->env->arena, emu_fill);
  int64_t value;
  in->extra = x;
  if (s->n_opnds != 3) return emu_refuse(fn, s, "it has %u operands where 3 are expected", s->n_opnds);
  return emu_put_shared(fn, s, emu_operand(fn, s, 0), f->data[R_SPACE], &x->at) &&
         emu_source(fn, s, emu_operand(fn, s, 1), 64, &x->size_slot) &&
         emu_integer(fn, s, emu_operand(fn, s, 2), &value) &&
         (value == 0 || emu_refuse(fn, s, "it fills with %lld, not with 0", (long long)value));
}
const emu_rule emu_rule_fill = {prepare_fill, emit_fill};

/* ---- mapa, getctarank ------------------------------------------------------------------------------ */

static void prepare_cluster_address(emu_decoder *d, emu_form *f) {
  f->data[0] = 0;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    if (mod == HD_M_U32 || mod == HD_M_U64)
      f->data[0] = emu_type_bits(mod);
    else if (mod != HD_M_SHARED_CLUSTER) {
      emu_refuse_word(d, f, mod);
      return;
    }
  }
  if (!f->data[0]) f->refused = emu_no_form;
  f->proto.fn = f->ptx->op == HD_OP_MAPA ? emu_run_mapa : emu_run_getctarank;
  f->proto.mem.bytes = (uint8_t)(f->data[0] / 8);
}
static bool emit_cluster_address(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const unsigned bits = f->data[0];
  const bool mapa = f->ptx->op == HD_OP_MAPA;
  const unsigned n = mapa ? 3 : 2;
  if (s->n_opnds != n) return emu_refuse(fn, s, "it has %u operands where %u are expected", s->n_opnds, n);
  return emu_destination(fn, s, emu_operand(fn, s, 0), mapa ? bits : 32, false, &in->dst) &&
         emu_source(fn, s, emu_operand(fn, s, 1), bits, &in->src[0]) &&
         (!mapa || emu_source(fn, s, emu_operand(fn, s, 2), 32, &in->src[1]));
}
const emu_rule emu_rule_cluster_address = {prepare_cluster_address, emit_cluster_address};
