/* emu/decode/mixed.c: sums of f32 and halves, minima and maxima of three, and stochastic rounding (sm_100).
 */
#include "emu/decode/decode.h"

/* ---- add, sub, fma with halves --------------------------------------------------------- */

static bool is_half(hd_mod type) { return type == HD_M_F16 || type == HD_M_BF16; }

bool emu_is_mixed(const emu_form *f) {
  const hd_ptx_op op = f->ptx->op;
  return (op == HD_OP_ADD || op == HD_OP_SUB || op == HD_OP_FMA) && f->words.n_types == 2 &&
         f->words.types[0] == HD_M_F32 && is_half(f->words.types[1]);
}

static void prepare_mixed(emu_decoder *d, emu_form *f) {
  const emu_words *w = &f->words;
  emu_arith *x = &f->proto.arith;
  const hd_ptx_op op = f->ptx->op;
  x->op = op == HD_OP_ADD ? '+' : op == HD_OP_SUB ? '-' : 'f';
  x->fmt = w->types[1] == HD_M_F16 ? NUM_F16 : NUM_BF16;
  x->round = w->round;
  x->sat = w->sat;
  if (w->other || w->integral || w->round == NUM_RNA || w->ftz || w->relu || w->nan || w->abs || w->xorsign ||
      w->approx || w->full || w->satfinite || (op == HD_OP_FMA && !w->has_round))
    f->refused = emu_no_form;
  else
    emu_use(d, f, op == HD_OP_FMA ? "mixed.fma" : "mixed.sum");
}
const emu_rule emu_rule_mixed = {prepare_mixed, emu_emit_shape};

/* ---- min, max ----------------------------------------------------------------------------- */

/* A form is that of two operands, of three, or of both: the statement says which. */
static void prepare_extreme(emu_decoder *d, emu_form *f) {
  f->op = emu_find_form(d, hd_ptx_op_text(f->ptx->op), f->ptx, NULL, false);
  if (!f->op && !emu_find_form(d, f->ptx->op == HD_OP_MIN ? "min3" : "max3", f->ptx, NULL, false))
    f->refused = emu_no_form;
}
static bool emit_extreme(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  if (s->n_opnds == 4) {
    emu_form three = *f;
    three.op = emu_find_form(fn->d, f->ptx->op == HD_OP_MIN ? "min3" : "max3", f->ptx, NULL, false);
    if (!three.op) return emu_refuse(fn, s, "it has 4 operands where 3 are expected");
    in->fn = three.op->fn;
    return emu_emit_shape(fn, &three, s, in);
  }
  return f->op ? emu_emit_shape(fn, f, s, in) : emu_refuse(fn, s, "%s", emu_no_form);
}
const emu_rule emu_rule_extreme = {prepare_extreme, emit_extreme};

/* ---- cvt.rs --------------------------------------------------------------------------------- */

/* Formats that four values go to; false: two, or no format of .rs. */
static bool packs_four(hd_mod type, num_fmt *fmt) {
  switch (type) {
  case HD_M_E4M3X4: *fmt = NUM_E4M3; return true;
  case HD_M_E5M2X4: *fmt = NUM_E5M2; return true;
  case HD_M_E2M3X4: *fmt = NUM_E2M3; return true;
  case HD_M_E3M2X4: *fmt = NUM_E3M2; return true;
  case HD_M_E2M1X4: *fmt = NUM_E2M1; return true;
  default: return false;
  }
}

/* cvt.rs{.relu}{.satfinite}.TYPE.f32: only these words, and of four a .satfinite. data[0]: values. */
static void prepare_stochastic(emu_decoder *d, emu_form *f) {
  emu_cvt *x = &f->proto.cvt;
  hd_mod types[2] = {0};
  unsigned n_types = 0;
  num_fmt fmt = NUM_F16;
  f->refused = emu_no_form;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    if (hd_ptx_mod_kind(mod) == HD_MK_TYPE) {
      if (n_types == 2) return;
      types[n_types++] = mod;
    } else if (mod != HD_M_RS && mod != HD_M_RELU && mod != HD_M_SATFINITE) {
      return;
    }
  }
  const bool four = packs_four(types[0], &fmt);
  if (types[1] != HD_M_F32 || (!four && types[0] != HD_M_F16X2 && types[0] != HD_M_BF16X2) ||
      (four && !f->words.satfinite))
    return;
  f->refused = NULL;
  f->data[0] = four ? 4 : 2;
  x->to = (uint8_t)(four ? fmt : types[0] == HD_M_F16X2 ? NUM_F16 : NUM_BF16);
  x->from = NUM_F32;
  x->relu = f->words.relu;
  x->satfinite = f->words.satfinite;
  emu_use(d, f, "cvt.rs");
}

/* d, a, b, random or d, {a, b, e, f}, random */
static bool emit_stochastic(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const unsigned n = f->data[0], n_opnds = n == 4 ? 3 : 4;
  emu_stochastic *x = HD_NEW(fn->d->env->arena, emu_stochastic);
  const hd_ptx_opnd *from = emu_operand(fn, s, 1);
  if (s->n_opnds != n_opnds)
    return emu_refuse(fn, s, "it has %u operands where %u are expected", s->n_opnds, n_opnds);
  if (n == 4 && (from->kind != HD_O_VEC || from->n_kids != 4))
    return emu_refuse(fn, s, "its vector has not 4 elements");
  x->n = n;
  in->extra = x;
  for (unsigned k = 0; k < n; k++)
    if (!emu_source(fn, s, n == 4 ? emu_kid(fn, from, k) : emu_operand(fn, s, 1 + k), 32, &x->value[k]))
      return false;
  return emu_source(fn, s, emu_operand(fn, s, n_opnds - 1), 32, &x->random) &&
         emu_destination(fn, s, emu_operand(fn, s, 0), f->proto.cvt.to == NUM_E2M1 ? 16 : 32, false,
                         &in->dst);
}
const emu_rule emu_rule_stochastic = {prepare_stochastic, emit_stochastic};
