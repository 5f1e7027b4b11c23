/* emu/decode/convert.c: arithmetic with rounding, half precision, comparisons, cvt, cvta, isspacep. */
#include "emu/decode/decode.h"

#include <stdio.h>

/* ---- Half precision ------------------------------------------------------------------ */

/* The letter of num_arith_16; 0: none. */
static char half_letter(hd_ptx_op op, const emu_words *w) {
  const bool magnitudes = w->xorsign && w->abs;
  switch (op) {
  case HD_OP_ADD: return '+';
  case HD_OP_SUB: return '-';
  case HD_OP_MUL: return '*';
  case HD_OP_FMA: return w->relu ? 'x' : 'f';
  case HD_OP_ABS: return 'a';
  case HD_OP_NEG: return 'n';
  case HD_OP_MIN: return magnitudes ? 'y' : 'm';
  case HD_OP_MAX: return magnitudes ? 'Y' : 'M';
  default: return 0;
  }
}

static bool emit_half(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const unsigned bits = f->data[0], n_sources = f->data[1];
  if (s->n_opnds != n_sources + 1)
    return emu_refuse(fn, s, "it has %u operands where %u are expected", s->n_opnds, n_sources + 1);
  for (unsigned k = 0; k < n_sources; k++)
    if (!emu_source(fn, s, emu_operand(fn, s, k + 1), bits, &in->src[k])) return false;
  return emu_destination(fn, s, emu_operand(fn, s, 0), bits, false, &in->dst);
}
static void prepare_nothing(emu_decoder *d, emu_form *f) {}
static const emu_rule rule_half = {prepare_nothing, emit_half};

static void prepare_half(emu_decoder *d, emu_form *f, num_fmt fmt, bool pair) {
  const emu_words *w = &f->words;
  const hd_ptx_op op = f->ptx->op;
  emu_arith *x = &f->proto.arith;
  if (w->n_types != 1 || w->other || w->round != NUM_RN || w->satfinite || (w->relu && op != HD_OP_FMA)) {
    f->refused = emu_no_form;
    return;
  }
  static const hd_mod drop[] = {HD_M_RN, 0};
  f->op = emu_find_form(d, hd_ptx_op_text(op), f->ptx, drop, false);
  if (f->op) {
    f->rule = &emu_rule_plain;
    return;
  }
  f->rule = &rule_half;
  f->data[0] = pair ? 32 : 16;
  x->fmt = (uint8_t)fmt;
  x->ftz = w->ftz;
  x->sat = w->sat;
  x->nan = w->nan;
  if (op == HD_OP_EX2 || op == HD_OP_TANH) {
    f->data[1] = 1;
    x->op = op == HD_OP_EX2 ? NUM_EX2 : NUM_TANH;
    emu_use(d, f, pair ? "half.approx2" : "half.approx");
    return;
  }
  const char letter = half_letter(op, w);
  f->data[1] = op == HD_OP_FMA ? 3 : op == HD_OP_ABS || op == HD_OP_NEG ? 1 : 2;
  x->op = (uint8_t)letter;
  if (!letter || w->xorsign != w->abs)
    f->refused = emu_no_form;
  else
    emu_use(d, f, pair ? "half.arith2" : "half.arith");
}

/* ---- Arithmetic ------------------------------------------------------------------------- */

/* Directed rounding: the letter of num_arith_f32, and how many operands are read. */
static bool round_letter(hd_ptx_op op, uint8_t *letter, uint32_t *n_sources) {
  static const struct {
    hd_ptx_op op;
    char letter;
    uint8_t n;
  } table[] = {{HD_OP_ADD, '+', 2}, {HD_OP_SUB, '-', 2}, {HD_OP_MUL, '*', 2}, {HD_OP_DIV, '/', 2},
               {HD_OP_FMA, 'f', 3}, {HD_OP_MAD, 'f', 3}, {HD_OP_RCP, 'r', 1}, {HD_OP_SQRT, 's', 1}};
  for (unsigned k = 0; k < sizeof table / sizeof table[0]; k++) {
    if (table[k].op != op) continue;
    *letter = (uint8_t)table[k].letter;
    *n_sources = table[k].n;
    return true;
  }
  return false;
}

static void prepare_round(emu_decoder *d, emu_form *f) {
  const emu_words *w = &f->words;
  const hd_mod type = w->types[0];
  if (w->n_types != 1 || w->other || w->integral || w->round == NUM_RNA || w->relu || w->nan || w->abs ||
      w->xorsign || w->approx || w->full || w->satfinite || (type != HD_M_F32 && w->sat) ||
      (type == HD_M_F64 && w->ftz) || !round_letter(f->ptx->op, &f->proto.arith.op, &f->data[1])) {
    f->refused = emu_no_form;
    return;
  }
  f->rule = &rule_half; /* operands alike */
  f->data[0] = type == HD_M_F32 ? 32 : 64;
  f->proto.arith.round = w->round;
  f->proto.arith.ftz = w->ftz;
  f->proto.arith.sat = w->sat;
  emu_use(d, f, type == HD_M_F32 ? "round.f32" : type == HD_M_F64 ? "round.f64" : "round.f32x2");
}

static void prepare_float(emu_decoder *d, emu_form *f) {
  const emu_words *w = &f->words;
  const hd_mod type = w->n_types ? w->types[0] : HD_M_NONE;
  num_fmt fmt;
  bool pair;
  if (!emu_num_fmt(type, &fmt, &pair)) { /* integers */
    f->rule =
        EMU_HAS(f, CC) || f->ptx->op == HD_OP_ADDC || f->ptx->op == HD_OP_SUBC || f->ptx->op == HD_OP_MADC
            ? &emu_rule_carry
            : &emu_rule_plain;
    f->rule->prepare(d, f);
    return;
  }
  if (fmt == NUM_F16 || fmt == NUM_BF16) {
    prepare_half(d, f, fmt, pair);
    return;
  }
  if (emu_is_mixed(f) || (fmt == NUM_F32 && !pair && (f->ptx->op == HD_OP_MIN || f->ptx->op == HD_OP_MAX))) {
    f->rule = emu_is_mixed(f) ? &emu_rule_mixed : &emu_rule_extreme;
    f->rule->prepare(d, f);
    return;
  }
  static const hd_mod drop[] = {HD_M_RN, 0};
  const char *op = f->ptx->op == HD_OP_MAD ? "fma" : hd_ptx_op_text(f->ptx->op);
  f->op = emu_find_form(d, op, f->ptx, drop, false);
  if (f->op)
    f->rule = &emu_rule_plain;
  else
    prepare_round(d, f);
}
const emu_rule emu_rule_float = {prepare_float, NULL};

/* ---- setp, set ------------------------------------------------------------------------------ */

/* cmp, bool, ftz and type of a comparison; false: something else stands there. */
static bool read_comparison(emu_decoder *d, emu_form *f, num_cmp *cmp) {
  *cmp = NUM_CMP_NONE;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    const num_cmp c = num_cmp_from_text(hd_ptx_mod_text(d->m, mod));
    if (mod == HD_M_AND)
      f->proto.compare.combine = EMU_BOOL_AND;
    else if (mod == HD_M_OR)
      f->proto.compare.combine = EMU_BOOL_OR;
    else if (mod == HD_M_XOR)
      f->proto.compare.combine = EMU_BOOL_XOR;
    else if (c != NUM_CMP_NONE)
      *cmp = c;
    else if (mod != HD_M_FTZ && emu_type_class(mod) == EMU_CLASS_NONE)
      return false;
  }
  return *cmp != NUM_CMP_NONE;
}

/* data[0]: bits of the operands; data[1]: bits of set's destination. */
static void prepare_compare(emu_decoder *d, emu_form *f, const char *op, hd_mod type) {
  static const char *const text[] = {
      [NUM_CMP_EQ] = "eq",   [NUM_CMP_NE] = "ne",   [NUM_CMP_LT] = "lt",   [NUM_CMP_LE] = "le",
      [NUM_CMP_GT] = "gt",   [NUM_CMP_GE] = "ge",   [NUM_CMP_EQU] = "equ", [NUM_CMP_NEU] = "neu",
      [NUM_CMP_LTU] = "ltu", [NUM_CMP_LEU] = "leu", [NUM_CMP_GTU] = "gtu", [NUM_CMP_GEU] = "geu",
      [NUM_CMP_NUM] = "num", [NUM_CMP_NAN] = "nan", [NUM_CMP_LO] = "lt",   [NUM_CMP_LS] = "le",
      [NUM_CMP_HI] = "gt",   [NUM_CMP_HS] = "ge"};
  num_cmp cmp;
  if (!read_comparison(d, f, &cmp)) {
    f->refused = emu_no_form;
    return;
  }
  f->data[0] = emu_type_bits(type);
  num_fmt fmt;
  bool pair;
  if (emu_num_fmt(type, &fmt, &pair) && (fmt == NUM_F16 || fmt == NUM_BF16)) {
    char name[32];
    f->proto.compare.op = (uint8_t)cmp;
    f->proto.compare.fmt = (uint8_t)fmt;
    f->proto.compare.ftz = f->words.ftz && fmt == NUM_F16;
    snprintf(name, sizeof name, "%s.half%s", op, pair ? "2" : "");
    if (cmp >= NUM_CMP_LO)
      f->refused = emu_no_form;
    else
      emu_use(d, f, name);
    return;
  }
  char name[48];
  const emu_class class = emu_type_class(type);
  const bool unsigned_name = cmp >= NUM_CMP_LO; /* lo ls hi hs */
  if (class == EMU_CLASS_F)
    snprintf(name, sizeof name, "%s.%s%s.%s", op, text[cmp], f->words.ftz ? ".ftz" : "",
             hd_ptx_mod_text(d->m, type));
  else if (cmp == NUM_CMP_EQ || cmp == NUM_CMP_NE)
    snprintf(name, sizeof name, "%s.%s.i%u", op, text[cmp], f->data[0]);
  else
    snprintf(name, sizeof name, "%s.%s.%c%u", op, text[cmp],
             class == EMU_CLASS_S && !unsigned_name ? 's' : 'u', f->data[0]);
  if ((class == EMU_CLASS_F && unsigned_name) || (class == EMU_CLASS_B && cmp > NUM_CMP_NE && !unsigned_name))
    f->refused = emu_no_form;
  else
    emu_use(d, f, name);
}

static bool emit_compare(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const bool combined = f->proto.compare.combine != EMU_BOOL_NONE;
  if (s->n_opnds != 3u + combined)
    return emu_refuse(fn, s, "it has %u operands where %u are expected", s->n_opnds, 3u + combined);
  for (unsigned k = 0; k < 2; k++)
    if (!emu_source(fn, s, emu_operand(fn, s, k + 1), f->data[0], &in->src[k])) return false;
  return !combined || emu_predicate(fn, s, emu_operand(fn, s, 3), &in->src[2], &in->compare.negate);
}

static void prepare_setp(emu_decoder *d, emu_form *f) {
  if (f->words.n_types == 1)
    prepare_compare(d, f, "setp", f->words.types[0]);
  else
    f->refused = emu_no_form;
}
static bool emit_setp(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const hd_ptx_opnd *p, *q;
  if (!emit_compare(fn, f, s, in)) return false;
  emu_pair(fn, emu_operand(fn, s, 0), &p, &q);
  if (q && q->kind != HD_O_SINK) {
    in->compare.pair = 1;
    if (!emu_destination(fn, s, q, 1, false, &in->dst2)) return false;
  }
  return emu_destination(fn, s, p, 1, true, &in->dst);
}
const emu_rule emu_rule_setp = {prepare_setp, emit_setp};

static void prepare_set(emu_decoder *d, emu_form *f) {
  const hd_mod to = f->words.types[0], from = f->words.types[1];
  if (f->words.n_types != 2) {
    f->refused = emu_no_form;
    return;
  }
  prepare_compare(d, f, "set", from);
  const bool half_pair = from == HD_M_F16X2 || from == HD_M_BF16X2;
  f->data[1] = emu_type_bits(to);
  switch (to) {
  case HD_M_U32:
  case HD_M_S32: f->proto.imm = half_pair ? 0xffff : 0xffffffff; break;
  case HD_M_U16:
  case HD_M_S16: f->proto.imm = 0xffff; break;
  case HD_M_F32: f->proto.imm = 0x3f800000; break;
  case HD_M_F16:
  case HD_M_F16X2: f->proto.imm = 0x3c00; break;
  case HD_M_BF16:
  case HD_M_BF16X2: f->proto.imm = 0x3f80; break;
  default: f->refused = emu_no_form;
  }
}
static bool emit_set(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  return emit_compare(fn, f, s, in) &&
         emu_destination(fn, s, emu_operand(fn, s, 0), f->data[1], false, &in->dst);
}
const emu_rule emu_rule_set = {prepare_set, emit_set};

/* ---- cvt ---------------------------------------------------------------------------------------- */

typedef enum cvt_kind {
  CVT_INT_INT,
  CVT_INT_FLOAT,
  CVT_FLOAT_INT,
  CVT_FLOAT_FLOAT,
  CVT_JOIN,
  CVT_PAIR,
  CVT_PACK
} cvt_kind;
enum { CVT_KIND = 0, CVT_TO_BITS = 1, CVT_FROM_BITS = 2, CVT_FAST = 3 }; /* emu_form.data */

/* The handler that takes this form lane by lane. */
static const char *const cvt_slow[] = {
    [CVT_INT_INT] = "cvt.ii",     [CVT_INT_FLOAT] = "cvt.if", [CVT_FLOAT_INT] = "cvt.fi",
    [CVT_FLOAT_FLOAT] = "cvt.ff", [CVT_JOIN] = "cvt.join",    [CVT_PAIR] = "cvt.pair",
    [CVT_PACK] = "cvt.pack"};

/* cvt.pack.sat.u8.s32.b32 d, a, b, c */
static bool is_pack(const emu_decoder *d, const emu_form *f) {
  return f->words.other && strcmp(hd_ptx_mod_text(d->m, f->words.other), "pack") == 0;
}
static void prepare_pack(emu_decoder *d, emu_form *f) {
  const emu_words *w = &f->words;
  const unsigned bits = emu_type_bits(w->types[0]);
  const emu_class to = emu_type_class(w->types[0]);
  const bool joins = w->n_types == 3;
  if (!w->sat || w->n_types < 2 || w->types[1] != HD_M_S32 || (to != EMU_CLASS_U && to != EMU_CLASS_S) ||
      (joins ? bits != 8 || w->types[2] != HD_M_B32 : bits != 16)) {
    f->refused = emu_no_form;
    return;
  }
  f->data[CVT_KIND] = CVT_PACK;
  f->proto.cvt.to = (uint8_t)bits;
  f->proto.cvt.flags = CVT_SRC_SIGNED | (to == EMU_CLASS_S ? CVT_DST_SIGNED : 0);
  emu_use(d, f, cvt_slow[CVT_PACK]);
}

static void prepare_cvt(emu_decoder *d, emu_form *f) {
  const emu_words *w = &f->words;
  emu_cvt *x = &f->proto.cvt;
  if (is_pack(d, f)) {
    prepare_pack(d, f);
    return;
  }
  if (EMU_HAS(f, RS)) {
    f->rule = &emu_rule_stochastic;
    f->rule->prepare(d, f);
    return;
  }
  num_fmt to_fmt = NUM_F32, from_fmt = NUM_F32;
  bool to_pair = false, from_pair = false;
  const bool to_float = emu_num_fmt(w->types[0], &to_fmt, &to_pair);
  const bool from_float = emu_num_fmt(w->types[1], &from_fmt, &from_pair);
  const emu_class to = emu_type_class(w->types[0]), from = emu_type_class(w->types[1]);
  if (w->n_types != 2 || w->other || w->vec != 1 || w->nan || w->approx || w->full || w->abs || w->xorsign ||
      to == EMU_CLASS_B || from == EMU_CLASS_B || to == EMU_CLASS_PRED || from == EMU_CLASS_PRED ||
      (to_pair && !to_float) || (from_pair && !from_float) || (from_pair && !to_pair) ||
      (to_pair && !from_pair && (!from_float || from_fmt != NUM_F32))) {
    f->refused = emu_no_form;
    return;
  }
  const cvt_kind kind = to_pair      ? (from_pair ? CVT_PAIR : CVT_JOIN)
                        : to_float   ? (from_float ? CVT_FLOAT_FLOAT : CVT_INT_FLOAT)
                        : from_float ? CVT_FLOAT_INT
                                     : CVT_INT_INT;
  f->data[CVT_KIND] = kind;
  f->data[CVT_TO_BITS] = emu_type_bits(w->types[0]);
  f->data[CVT_FROM_BITS] = emu_type_bits(w->types[1]);
  x->flags = (uint8_t)((from == EMU_CLASS_S ? CVT_SRC_SIGNED : 0) | (to == EMU_CLASS_S ? CVT_DST_SIGNED : 0) |
                       (w->integral && to_float ? CVT_INTEGRAL : 0));
  x->to = (uint8_t)(to_float ? to_fmt : f->data[CVT_TO_BITS]);
  x->from = (uint8_t)(from_float ? from_fmt : f->data[CVT_FROM_BITS]);
  x->round = w->round;
  x->ftz = w->ftz;
  x->sat = w->sat;
  x->relu = w->relu;
  x->satfinite = w->satfinite;
  if (kind == CVT_FLOAT_INT && !w->has_round) f->refused = emu_no_form;
  /* The quick handlers: .rn is the default, .sat means nothing for a float's conversion to an
   * integer, nor .ftz where a subnormal gives 0 either way. */
  static const hd_mod drop_rn[] = {HD_M_RN, 0}, drop_int[] = {HD_M_SAT, HD_M_FTZ, 0};
  const bool ftz_matters = w->ftz && (w->round == NUM_RM || w->round == NUM_RP);
  f->op = kind != CVT_FLOAT_INT ? emu_find_form(d, "cvt", f->ptx, drop_rn, false)
          : ftz_matters         ? NULL
                                : emu_find_form(d, "cvt", f->ptx, drop_int, false);
  if (kind == CVT_INT_INT && !w->sat) f->data[CVT_FAST] = 1; /* by the registers' sizes too */
  if (!f->op)
    f->op = emu_find_op(d, cvt_slow[kind]);
  else
    f->data[CVT_FAST] = 1;
}

/* Bits of a source: a register's, else those of its type. Special registers have 32, of which fewer may be
 * read. */
static unsigned source_bits(const emu_function *fn, const hd_ptx_opnd *o, unsigned type_bits) {
  if (o && o->kind == HD_O_SREG && type_bits < 32) return 32;
  if (!o || o->kind != HD_O_REG) return type_bits;
  const unsigned bits = emu_reg_bits(fn, o->sym);
  return bits > type_bits ? bits : type_bits;
}

static bool emit_cvt(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const unsigned kind = f->data[CVT_KIND], to = f->data[CVT_TO_BITS], from = f->data[CVT_FROM_BITS];
  const hd_ptx_opnd *dst = emu_operand(fn, s, 0);
  if (kind == CVT_PACK || kind == CVT_JOIN) {
    const unsigned n = kind == CVT_JOIN || f->words.n_types == 2 ? 3 : 4;
    if (s->n_opnds != n) return emu_refuse(fn, s, "it has %u operands where %u are expected", s->n_opnds, n);
    for (unsigned k = 1; k < n; k++)
      if (!emu_source(fn, s, emu_operand(fn, s, k), 32, &in->src[k - 1])) return false;
    return emu_destination(fn, s, dst, kind == CVT_PACK ? 32 : to, false, &in->dst);
  }
  if (s->n_opnds != 2) return emu_refuse(fn, s, "it has %u operands where 2 are expected", s->n_opnds);
  if (!dst || dst->kind != HD_O_REG) return emu_refuse(fn, s, "the destination is no register");
  const unsigned dst_bits = emu_reg_bits(fn, dst->sym),
                 src_bits = source_bits(fn, emu_operand(fn, s, 1), from);
  if (emu_operand(fn, s, 1)->kind == HD_O_SREG && kind != CVT_INT_INT)
    return emu_refuse(fn, s, "a special register converts only to an integer");
  if (dst_bits < to || dst_bits > 64 || src_bits > 64)
    return emu_refuse(fn, s, "its registers have the wrong sizes");
  if (!emu_destination(fn, s, dst, dst_bits, false, &in->dst) ||
      !emu_source(fn, s, emu_operand(fn, s, 1), src_bits, &in->src[0]))
    return false;

  const bool usual_source = (src_bits == 64) == (from == 64);
  const bool usual_destination = kind == CVT_FLOAT_INT ? dst_bits == to : (dst_bits == 64) == (to == 64);
  const emu_op *op = NULL;
  if (f->data[CVT_FAST] && usual_source) {
    if (kind != CVT_INT_INT) {
      if (usual_destination) op = f->op;
    } else {
      char name[48];
      const char *suffix = dst_bits == 64 && to < 64 ? ".d" : dst_bits == 32 && to < 32 ? ".w" : "";
      snprintf(name, sizeof name, "cvt.%s.%s%s", hd_ptx_mod_text(fn->d->m, f->words.types[0]),
               hd_ptx_mod_text(fn->d->m, f->words.types[1]), suffix);
      op = emu_find_op(fn->d, name);
    }
  }
  if (!op) op = emu_find_op(fn->d, cvt_slow[kind]);
  in->fn = op->fn;
  in->cvt.flags |= (uint8_t)((src_bits == 64 ? CVT_SRC_64 : 0) | (dst_bits == 64 ? CVT_DST_64 : 0));
  if (kind == CVT_INT_INT || kind == CVT_FLOAT_INT) in->cvt.width = (uint8_t)dst_bits;
  return true;
}
const emu_rule emu_rule_cvt = {prepare_cvt, emit_cvt};

/* ---- Address spaces --------------------------------------------------------------------------------- */

/* The base of a space's window; 0 for those that lie in generic space as they are. */
static bool window_of(const emu_form *f, uint64_t *base) {
  *base = 0;
  if (EMU_HAS(f, SHARED) || EMU_HAS(f, SHARED_CTA) || EMU_HAS(f, SHARED_CLUSTER))
    *base = EMU_SHARED_BASE;
  else if (EMU_HAS(f, LOCAL))
    *base = EMU_LOCAL_BASE;
  else if (EMU_HAS(f, PARAM) || EMU_HAS(f, PARAM_ENTRY))
    *base = EMU_PARAM_BASE;
  else if (EMU_HAS(f, CONST))
    *base = EMU_CONST_BASE;
  else if (!EMU_HAS(f, GLOBAL))
    return false;
  return true;
}

static void prepare_cvta(emu_decoder *d, emu_form *f) {
  uint64_t base;
  if (!window_of(f, &base)) {
    f->refused = "the state space is not emulated";
    return;
  }
  if (f->words.n_types != 1 || f->words.types[0] != HD_M_U64) {
    f->refused = "only 64-bit addresses are emulated";
    return;
  }
  emu_use(d, f, "mov.add_imm");
}
static bool emit_cvta(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  uint64_t base = 0;
  window_of(f, &base);
  /* A kernel's parameters have generic addresses from the start, where they are taken as 64 bits; a
   * function's lie in its stack. */
  if (base == EMU_PARAM_BASE && fn->func->entry && !EMU_HAS(f, TO)) {
    in->fn = emu_find_op(fn->d, "or.b64")->fn;
    emu_ref(fn, &in->src[1], emu_constant(fn, EMU_PARAM_BASE, 64));
    return emu_emit_shape(fn, f, s, in);
  }
  if (base == EMU_PARAM_BASE) base = fn->func->entry ? 0 : EMU_LOCAL_BASE;
  in->imm = (int64_t)(EMU_HAS(f, TO) ? 0 - base : base);
  if (!base) in->fn = emu_find_op(fn->d, "mov.b64")->fn;
  return emu_emit_shape(fn, f, s, in);
}
const emu_rule emu_rule_cvta = {prepare_cvta, emit_cvta};

static void prepare_isspacep(emu_decoder *d, emu_form *f) {
  uint64_t base;
  if (!window_of(f, &base) || EMU_HAS(f, CONST)) {
    f->refused = "the state space is not emulated";
    return;
  }
  f->proto.imm = (int64_t)base;
  emu_use(d, f, "isspacep");
}
const emu_rule emu_rule_isspacep = {prepare_isspacep, emu_emit_shape};
