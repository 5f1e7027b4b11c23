/* emu/decode/wgmma.c: wgmma.mma_async, fence, commit_group, wait_group. */
#include "emu/decode/decode.h"

#include <stdio.h>

/* ---- Words -------------------------------------------------------------------------------- */

static bool type_of(hd_mod mod, uint8_t *out) {
  static const struct {
    hd_mod mod;
    uint8_t type;
  } types[] = {{HD_M_F16, NUM_MMA_F16},   {HD_M_BF16, NUM_MMA_BF16}, {HD_M_TF32, NUM_MMA_TF32},
               {HD_M_E4M3, NUM_MMA_E4M3}, {HD_M_E5M2, NUM_MMA_E5M2}, {HD_M_S8, NUM_MMA_S8},
               {HD_M_U8, NUM_MMA_U8},     {HD_M_B1, NUM_MMA_B1},     {HD_M_S32, NUM_MMA_S32},
               {HD_M_F32, NUM_MMA_F32}};
  for (unsigned k = 0; k < sizeof types / sizeof types[0]; k++) {
    if (types[k].mod != mod) continue;
    *out = types[k].type;
    return true;
  }
  return false;
}

/* .m64nNkK: both numbers are small. */
static bool shape_of(const char *text, num_wgmma *m) {
  unsigned rows, n, k;
  int end = 0;
  if (sscanf(text, "m%3un%3uk%3u%n", &rows, &n, &k, &end) != 3 || text[end]) return false;
  *m = (num_wgmma){.m = (uint16_t)rows, .n = (uint16_t)n, .k = (uint16_t)k, .satfinite = m->satfinite};
  return true;
}

/* The form of a product; *why names the part that is not emulated. */
static bool read_product(emu_decoder *d, const hd_ptx_form *f, num_wgmma *m, const char **why) {
  uint8_t types[3] = {0};
  unsigned n_types = 0;
  bool and = false, popc = false;
  *m = (num_wgmma){0};
  *why = emu_no_form;
  for (unsigned k = 0; k < f->n_mods; k++) {
    const hd_mod mod = f->mods[k];
    uint8_t type;
    if (type_of(mod, &type)) {
      if (n_types == 3) return false;
      types[n_types++] = type;
      continue;
    }
    switch (mod) {
    case HD_M_MMA_ASYNC:
    case HD_M_SYNC:
    case HD_M_ALIGNED: break;
    case HD_M_SATFINITE: m->satfinite = true; break;
    case HD_M_AND: and = true; break;
    case HD_M_POPC: popc = true; break;
    default:
      if (shape_of(hd_ptx_mod_text(d->m, mod), m)) break;
      *why = emu_why(d, ".%s is not emulated", hd_ptx_mod_text(d->m, mod));
      return false;
    }
  }
  if (n_types != 3) return false;
  m->d = types[0];
  m->a = types[1];
  m->b = types[2];
  return num_wgmma_valid(m) && and == (m->a == NUM_MMA_B1) && popc == and;
}

typedef enum what { W_PRODUCT, W_FENCE, W_COMMIT, W_WAIT } what;

static void prepare_wgmma(emu_decoder *d, emu_form *f) {
  static const char *const names[] = {[W_PRODUCT] = "wgmma.mma_async",
                                      [W_FENCE] = "wgmma.fence",
                                      [W_COMMIT] = "wgmma.commit_group",
                                      [W_WAIT] = "wgmma.wait_group"};
  num_wgmma m;
  const what w = EMU_HAS(f, MMA_ASYNC)      ? W_PRODUCT
                 : EMU_HAS(f, FENCE)        ? W_FENCE
                 : EMU_HAS(f, COMMIT_GROUP) ? W_COMMIT
                                            : W_WAIT;
  f->data[0] = w;
  f->proto.control = EMU_GATHER;
  f->proto.mem.sync = EMU_COLLECTIVE;
  emu_use(d, f, names[w]);
  if (w == W_PRODUCT) {
    const char *why;
    if (!read_product(d, f->ptx, &m, &why)) f->refused = why;
  } else if (f->ptx->n_mods != 3 || (w == W_WAIT && !EMU_HAS(f, WAIT_GROUP))) {
    f->refused = emu_no_form;
  }
  if (!EMU_HAS(f, SYNC) || !EMU_HAS(f, ALIGNED)) f->refused = emu_no_form;
}

/* ---- Operands ------------------------------------------------------------------------------ */

/* A constant out of two. */
static bool choice(emu_function *fn, const hd_ptx_stmt *s, unsigned operand, int64_t no, int64_t yes,
                   bool *out) {
  int64_t v;
  if (!emu_integer(fn, s, emu_operand(fn, s, operand), &v)) return false;
  if (v != no && v != yes)
    return emu_refuse(fn, s, "operand %u is %lld, neither %lld nor %lld", operand + 1, (long long)v,
                      (long long)no, (long long)yes);
  *out = v == yes;
  return true;
}

static bool put_d(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, const num_wgmma *m,
                  emu_wgmma_regs *d) {
  d->n = m->n;
  d->halves = m->d == NUM_MMA_F16;
  d->n_regs = (uint16_t)(m->n / (d->halves ? 4 : 2));
  const unsigned have = !o ? 0 : o->kind == HD_O_VEC ? o->n_kids : 1;
  if (have != d->n_regs) return emu_refuse(fn, s, "D has %u registers where %u are needed", have, d->n_regs);
  d->slot = HD_NEW_N(fn->d->env->arena, d->n_regs, uint32_t);
  uint32_t slots[NUM_WGMMA_MAX_N / 2], least = UINT32_MAX, greatest = 0;
  for (unsigned k = 0; k < d->n_regs; k++) {
    const hd_ptx_opnd *one = o->kind == HD_O_VEC ? emu_kid(fn, o, k) : o;
    unsigned bits;
    if (!emu_destination(fn, s, one, 32, false, &d->slot[k]) || !emu_reg(fn, s, one, &slots[k], &bits))
      return false;
    for (unsigned j = 0; j < k; j++)
      if (slots[j] == slots[k]) return emu_refuse(fn, s, "D has a register twice");
    least = slots[k] < least ? slots[k] : least;
    greatest = slots[k] > greatest ? slots[k] : greatest;
  }
  emu_ref(fn, &d->least, least);
  emu_ref(fn, &d->greatest, greatest);
  return true;
}

static bool put_a(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, emu_wgmma *x) {
  x->a_in_regs = o && o->kind == HD_O_VEC;
  if (!x->a_in_regs) return emu_source(fn, s, o, 64, &x->a_desc);
  if (o->n_kids != 4) return emu_refuse(fn, s, "A has %u registers where 4 are needed", o->n_kids);
  for (unsigned k = 0; k < 4; k++)
    if (!emu_source(fn, s, emu_kid(fn, o, k), 32, &x->a_slot[k])) return false;
  return true;
}

/* d, a | a-desc, b-desc, scale-d {, imm-scale-a, imm-scale-b {, imm-trans-a}, imm-trans-b} */
static bool emit_product(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  emu_wgmma *x = HD_NEW(fn->d->env->arena, emu_wgmma);
  const char *why;
  in->extra = x;
  if (!read_product(fn->d, f->ptx, &x->m, &why) || !put_a(fn, s, emu_operand(fn, s, 1), x)) return false;
  const bool signs = num_wgmma_is_float(&x->m), transposes = num_wgmma_bits(&x->m) == 16;
  const unsigned n = 4 + (signs ? 2 : 0) + (!transposes ? 0 : x->a_in_regs ? 1 : 2);
  if (s->n_opnds != n) return emu_refuse(fn, s, "it has %u operands where %u are expected", s->n_opnds, n);
  return put_d(fn, s, emu_operand(fn, s, 0), &x->m, &x->d) &&
         emu_source(fn, s, emu_operand(fn, s, 2), 64, &x->b_desc) &&
         emu_predicate(fn, s, emu_operand(fn, s, 3), &x->scale_slot, &x->scale_neg) &&
         (!signs || (choice(fn, s, 4, 1, -1, &x->negate_a) && choice(fn, s, 5, 1, -1, &x->negate_b))) &&
         (!transposes || x->a_in_regs || choice(fn, s, 6, 0, 1, &x->a_mn_major)) &&
         (!transposes || choice(fn, s, n - 1, 0, 1, &x->b_mn_major));
}

static bool emit_wgmma(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  if (f->data[0] == W_PRODUCT) return emit_product(fn, f, s, in);
  const unsigned n = f->data[0] == W_WAIT ? 1 : 0;
  if (s->n_opnds != n) return emu_refuse(fn, s, "it has %u operands where %u are expected", s->n_opnds, n);
  if (n == 0) return true;
  if (!emu_integer(fn, s, emu_operand(fn, s, 0), &in->imm)) return false;
  return (in->imm >= 0 && in->imm <= 7) ||
         emu_refuse(fn, s, "it leaves %lld groups in flight, not 0 to 7", (long long)in->imm);
}
const emu_rule emu_rule_wgmma = {prepare_wgmma, emit_wgmma};
