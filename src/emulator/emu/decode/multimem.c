/* emu/decode/multimem.c: multimem.ld_reduce, multimem.st, multimem.red and multimem's bulk copies.
 *
 * A multimem address stands for one place in the memory of each device of a team. The emulator is one device,
 * so that a team has one member, the place is one of its memory, and the address is that place's own: what is
 * reduced over all members is what is there. Each instruction is then a plain load, store, reduction or copy
 * of the same bytes. */
#include "emu/decode/decode.h"

enum { SUM = 1, LEAST_GREATEST = 2, BITWISE = 4 };

/* What ptxas takes of a type: operations, and elements of a vector. */
static const struct shape {
  hd_mod type, bits;
  uint8_t operations, least, most;
  bool reduces; /* multimem.red has it, too */
} shapes[] = {
    {HD_M_B32, HD_M_B32, BITWISE, 1, 1, true},
    {HD_M_B64, HD_M_B64, BITWISE, 1, 1, true},
    {HD_M_U32, HD_M_B32, SUM | LEAST_GREATEST, 1, 1, true},
    {HD_M_S32, HD_M_B32, SUM | LEAST_GREATEST, 1, 1, true},
    {HD_M_U64, HD_M_B64, SUM | LEAST_GREATEST, 1, 1, true},
    {HD_M_S64, HD_M_B64, LEAST_GREATEST, 1, 1, true},
    {HD_M_F16, HD_M_B16, SUM | LEAST_GREATEST, 2, 8, true},
    {HD_M_BF16, HD_M_B16, SUM | LEAST_GREATEST, 2, 8, true},
    {HD_M_F16X2, HD_M_B32, SUM | LEAST_GREATEST, 1, 4, true},
    {HD_M_BF16X2, HD_M_B32, SUM | LEAST_GREATEST, 1, 4, true},
    {HD_M_F32, HD_M_B32, SUM, 1, 4, true},
    {HD_M_F64, HD_M_B64, SUM, 1, 1, true},
    {HD_M_E5M2, HD_M_B8, SUM | LEAST_GREATEST, 4, 8, false},
    {HD_M_E4M3, HD_M_B8, SUM | LEAST_GREATEST, 4, 8, false},
    {HD_M_E5M2X2, HD_M_B16, SUM | LEAST_GREATEST, 2, 8, false},
    {HD_M_E4M3X2, HD_M_B16, SUM | LEAST_GREATEST, 2, 8, false},
    {HD_M_E5M2X4, HD_M_B32, SUM | LEAST_GREATEST, 1, 4, false},
    {HD_M_E4M3X4, HD_M_B32, SUM | LEAST_GREATEST, 1, 4, false},
};

static const struct shape *shape_of(hd_mod type) {
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
    if (shapes[k].type == type) return &shapes[k];
  return NULL;
}

static unsigned operation_of(hd_mod mod) {
  switch (mod) {
  case HD_M_ADD: return SUM;
  case HD_M_MIN:
  case HD_M_MAX: return LEAST_GREATEST;
  case HD_M_AND:
  case HD_M_OR:
  case HD_M_XOR: return BITWISE;
  default: return 0;
  }
}

/* The form of the plain instruction; NULL: there is none, since ptxas takes no such multimem. */
static hd_ptx_form *plain_form(emu_decoder *d, const hd_ptx_form *f, hd_ptx_op op) {
  hd_ptx_form *plain = HD_NEW(&d->scratch, hd_ptx_form);
  const struct shape *shape = NULL;
  unsigned operation = 0, width = 1;
  bool sums_wide = false;
  *plain = *f;
  plain->op = op;
  plain->n_mods = 0;
  for (unsigned k = 0; k < f->n_mods; k++) {
    hd_mod mod = f->mods[k];
    const struct shape *s = shape_of(mod);
    if (mod == HD_M_LD_REDUCE || mod == HD_M_ST || mod == HD_M_RED) continue;
    if (mod == HD_M_ACC_F32 || mod == HD_M_ACC_F16) { /* how sums are made of more than one value */
      sums_wide = true;
      continue;
    }
    if (hd_ptx_mod_kind(mod) == HD_MK_WIDTH) width = hd_ptx_mod_value(mod);
    if (s) {
      if (shape) return NULL;
      shape = s;
      if (op != HD_OP_RED) mod = s->bits;
    } else if (operation_of(mod)) {
      if (operation || op == HD_OP_ST) return NULL;
      operation = operation_of(mod);
      if (op != HD_OP_RED) continue;
    }
    plain->mods[plain->n_mods++] = mod;
  }
  if (!shape || width < shape->least || width > shape->most ||
      (op != HD_OP_ST && !(operation & shape->operations)) || (op == HD_OP_RED && !shape->reduces) ||
      (sums_wide && (op != HD_OP_LD || operation != SUM)))
    return NULL;
  return plain;
}

static void prepare_multimem(emu_decoder *d, emu_form *f) {
  const bool loads = EMU_HAS(f, LD_REDUCE), stores = EMU_HAS(f, ST);
  hd_ptx_form *plain = plain_form(d, f->ptx, loads ? HD_OP_LD : stores ? HD_OP_ST : HD_OP_RED);
  if (!plain || (!loads && !stores && !EMU_HAS(f, RED))) {
    f->refused = emu_no_form;
    return;
  }
  emu_use_plain(d, f, plain, loads ? &emu_rule_ld : stores ? &emu_rule_st : &emu_rule_atom);
}
const emu_rule emu_rule_multimem = {prepare_multimem, NULL};
