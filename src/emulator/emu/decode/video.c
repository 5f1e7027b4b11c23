/* emu/decode/video.c: video instructions. Those of whole registers, as compilers write them, have handlers of
 * their own; all others are described to num/video.c. */
#include "emu/num/video.h"
#include "emu/decode/decode.h"

/* ---- Forms ----------------------------------------------------------------------------------- */

static const struct {
  hd_ptx_op op;
  num_video_op does;
  uint8_t lanes;
} operations[] = {
    {HD_OP_VADD, NUM_VADD, 1},          {HD_OP_VSUB, NUM_VSUB, 1},          {HD_OP_VABSDIFF, NUM_VABSDIFF, 1},
    {HD_OP_VMIN, NUM_VMIN, 1},          {HD_OP_VMAX, NUM_VMAX, 1},          {HD_OP_VSHL, NUM_VSHL, 1},
    {HD_OP_VSHR, NUM_VSHR, 1},          {HD_OP_VSET, NUM_VSET, 1},          {HD_OP_VMAD, NUM_VMAD, 1},
    {HD_OP_VADD2, NUM_VADD, 2},         {HD_OP_VSUB2, NUM_VSUB, 2},         {HD_OP_VAVRG2, NUM_VAVRG, 2},
    {HD_OP_VABSDIFF2, NUM_VABSDIFF, 2}, {HD_OP_VMIN2, NUM_VMIN, 2},         {HD_OP_VMAX2, NUM_VMAX, 2},
    {HD_OP_VSET2, NUM_VSET, 2},         {HD_OP_VADD4, NUM_VADD, 4},         {HD_OP_VSUB4, NUM_VSUB, 4},
    {HD_OP_VAVRG4, NUM_VAVRG, 4},       {HD_OP_VABSDIFF4, NUM_VABSDIFF, 4}, {HD_OP_VMIN4, NUM_VMIN, 4},
    {HD_OP_VMAX4, NUM_VMAX, 4},         {HD_OP_VSET4, NUM_VSET, 4},
};

/* One modifier that is no type; false: the operation has none such. */
static bool read_word(const emu_decoder *d, hd_mod mod, num_video *v, bool *clamps) {
  const bool shifts = v->op == NUM_VSHL || v->op == NUM_VSHR, one = v->lanes == 1, mad = v->op == NUM_VMAD;
  switch (mod) {
  case HD_M_SAT: v->sat = true; return v->op != NUM_VSET;
  case HD_M_WRAP: v->wrap = true; return shifts;
  case HD_M_CLAMP: *clamps = true; return shifts;
  case HD_M_ADD: v->second = NUM_VIDEO_ADD; return !mad;
  case HD_M_MIN: v->second = NUM_VIDEO_MIN; return one && !mad;
  case HD_M_MAX: v->second = NUM_VIDEO_MAX; return one && !mad;
  case HD_M_SHR7: v->scale = 7; return mad;
  case HD_M_SHR15: v->scale = 15; return mad;
  case HD_M_PO: v->plus_one = true; return mad;
  default: break;
  }
  const num_cmp cmp = num_cmp_from_text(hd_ptx_mod_text(d->m, mod));
  v->cmp = (uint8_t)cmp;
  return v->op == NUM_VSET && cmp >= NUM_CMP_EQ && cmp <= NUM_CMP_GE;
}

static bool read_types(const emu_words *w, num_video *v) {
  const unsigned sources = v->op == NUM_VSET ? 0 : 1; /* vset has no type of its own */
  if (w->n_types != sources + 2) return false;
  for (unsigned k = 0; k < w->n_types; k++)
    if (w->types[k] != HD_M_U32 && w->types[k] != HD_M_S32) return false;
  v->d_signed = sources && w->types[0] == HD_M_S32;
  v->a_signed = w->types[sources] == HD_M_S32;
  v->b_signed = w->types[sources + 1] == HD_M_S32;
  return !((v->op == NUM_VSHL || v->op == NUM_VSHR) && v->b_signed);
}

static bool read_form(const emu_decoder *d, const emu_form *f, num_video *v) {
  *v = (num_video){0};
  for (unsigned k = 0; k < sizeof operations / sizeof operations[0]; k++) {
    if (operations[k].op != f->ptx->op) continue;
    v->op = (uint8_t)operations[k].does;
    v->lanes = operations[k].lanes;
  }
  bool clamps = false;
  unsigned words = 0;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    if (emu_type_class(f->ptx->mods[k]) != EMU_CLASS_NONE) continue;
    words++;
    if (!read_word(d, f->ptx->mods[k], v, &clamps)) return false;
  }
  /* One word of each kind: of two, the first would be forgotten. */
  const unsigned kept = (unsigned)v->sat + clamps + v->wrap + (v->second != NUM_VIDEO_NONE) +
                        (v->scale != 0) + v->plus_one + (v->cmp != NUM_CMP_NONE);
  const bool shifts = v->op == NUM_VSHL || v->op == NUM_VSHR;
  return read_types(&f->words, v) && words == kept && (unsigned)shifts == (unsigned)clamps + v->wrap &&
         (v->op == NUM_VSET) == (v->cmp != NUM_CMP_NONE) && !(v->lanes > 1 && v->sat && v->second);
}

static void prepare_video(emu_decoder *d, emu_form *f) {
  num_video v;
  f->op = emu_find_form(d, hd_ptx_op_text(f->ptx->op), f->ptx, NULL, false);
  if (!read_form(d, f, &v)) f->refused = emu_no_form;
}

/* ---- Selectors ---------------------------------------------------------------------------------- */

/* .b0 to .b3, .h0, .h1; none: the whole register. */
static bool read_part(const char *text, num_video_part *p) {
  *p = (num_video_part){0, 32};
  if (!*text) return true;
  const unsigned n = text[0] == 'b' ? 4 : text[0] == 'h' ? 2 : 0, k = (unsigned)(text[1] - '0');
  if (!n || k >= n || text[2]) return false;
  *p = (num_video_part){(uint8_t)(k * 32 / n), (uint8_t)(32 / n)};
  return true;
}

/* .h10 or .b3210 of the lanes of {b, a}: the highest lane comes first; none: those of its own register. */
static bool read_lanes(const char *text, unsigned lanes, unsigned first, uint8_t from[4]) {
  for (unsigned k = 0; k < 4; k++) from[k] = (uint8_t)(first + k);
  if (!*text) return true;
  if (text[0] != (lanes == 2 ? 'h' : 'b') || strlen(text) != lanes + 1) return false;
  for (unsigned k = 0; k < lanes && k < 4; k++) {
    const unsigned from_lane = (unsigned)(text[lanes - k] - '0');
    if (from_lane >= 2 * lanes) return false;
    from[k] = (uint8_t)from_lane;
  }
  return true;
}

/* .h1, .h10, .b20 ...: each lane once, the highest first; none: all lanes. */
static bool read_mask(const char *text, unsigned lanes, uint8_t *mask) {
  *mask = (uint8_t)((1u << lanes) - 1);
  if (!*text) return true;
  if (text[0] != (lanes == 2 ? 'h' : 'b') || !text[1]) return false;
  unsigned above = lanes;
  *mask = 0;
  for (const char *p = text + 1; *p; p++) {
    const unsigned lane = (unsigned)(*p - '0');
    if (lane >= above) return false;
    *mask |= (uint8_t)(1u << lane);
    above = lane;
  }
  return true;
}

static bool read_selectors(emu_function *fn, const hd_ptx_stmt *s, num_video *v) {
  const char *d = hd_ptx_mod_text(fn->d->m, emu_operand(fn, s, 0)->part);
  const char *a = hd_ptx_mod_text(fn->d->m, emu_operand(fn, s, 1)->part);
  const char *b = hd_ptx_mod_text(fn->d->m, emu_operand(fn, s, 2)->part);
  if (v->lanes > 1)
    return read_mask(d, v->lanes, &v->mask) && read_lanes(a, v->lanes, 0, v->from_a) &&
           read_lanes(b, v->lanes, v->lanes, v->from_b);
  return read_part(d, &v->d) && read_part(a, &v->a) && read_part(b, &v->b);
}

/* ---- Statements ----------------------------------------------------------------------------------- */

/* Do the operands have neither selectors nor signs? */
static bool is_plain(emu_function *fn, const hd_ptx_stmt *s) {
  for (unsigned k = 0; k < s->n_opnds; k++) {
    const hd_ptx_opnd *o = emu_operand(fn, s, k);
    if (o->part || o->flags & HD_OF_NEG) return false;
  }
  return true;
}

/* A source without its selector and sign. */
static bool put_source(emu_function *fn, const hd_ptx_stmt *s, unsigned k, bool immediate, uint32_t *where) {
  hd_ptx_opnd o = *emu_operand(fn, s, k);
  if (o.kind != HD_O_REG && !(o.kind == HD_O_INT && immediate))
    return emu_refuse(fn, s, "operand %u is no register", k);
  if (o.kind == HD_O_REG) {
    o.part = HD_M_NONE;
    o.flags &= (uint8_t)~HD_OF_NEG;
  }
  return emu_source(fn, s, &o, 32, where);
}

static bool read_signs(emu_function *fn, const hd_ptx_stmt *s, num_video *v) {
  bool minus[4] = {0};
  for (unsigned k = 0; k < s->n_opnds; k++) {
    const hd_ptx_opnd *o = emu_operand(fn, s, k);
    minus[k] = o->kind == HD_O_REG && o->flags & HD_OF_NEG;
  }
  v->minus_product = minus[1] != minus[2];
  v->minus_c = minus[3];
  if (minus[0] || ((minus[1] || minus[2] || minus[3]) && v->op != NUM_VMAD) ||
      v->minus_product + v->minus_c + v->plus_one > 1)
    return emu_refuse(fn, s, "its operands cannot be negated like this");
  return true;
}

static bool emit_video(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  num_video *v = HD_NEW(fn->d->env->arena, num_video);
  read_form(fn->d, f, v);
  const bool always = v->lanes > 1 || v->second || v->op == NUM_VMAD;
  if (f->op && is_plain(fn, s) && s->n_opnds == strlen(f->op->shape) - 1) {
    for (unsigned k = 1; k < s->n_opnds; k++)
      if (!put_source(fn, s, k, v->lanes == 1, &in->src[k - 1])) return false;
    return emu_destination(fn, s, emu_operand(fn, s, 0), 32, false, &in->dst);
  }
  if (s->n_opnds != 4 && (always || s->n_opnds != 3))
    return emu_refuse(fn, s, "it has %u operands where 4 are expected", s->n_opnds);
  hd_ptx_opnd to = *emu_operand(fn, s, 0);
  if (!read_selectors(fn, s, v) ||
      (v->lanes == 1 && to.part && (s->n_opnds == 3 || v->second || v->op == NUM_VMAD)) ||
      (s->n_opnds == 4 && emu_operand(fn, s, 3)->part))
    return emu_refuse(fn, s, "it has no such selectors");
  to.part = HD_M_NONE;
  const emu_op *op = emu_find_op(fn->d, "video");
  in->fn = op->fn;
  in->extra = v;
  if (!read_signs(fn, s, v) || !emu_destination(fn, s, &to, 32, false, &in->dst)) return false;
  for (unsigned k = 1; k < 4; k++) {
    if (k == s->n_opnds)
      emu_ref(fn, &in->src[k - 1], emu_constant(fn, 0, 32));
    else if (!put_source(fn, s, k, v->lanes == 1, &in->src[k - 1]))
      return false;
  }
  return true;
}
const emu_rule emu_rule_video = {prepare_video, emit_video};
