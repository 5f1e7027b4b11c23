/* Which spaces an access is in, and which array it leads into: those of two parameters or variables are two.
 * Sets of arrays have a bit each; an array that is not known is the bit of its space, and meets all that are
 * there. */
#include "rewrite/levers/warp_talk.h"

uint8_t warp_spaces_of(unsigned space) {
  if (space & HD_IN_GENERIC) return WARP_IN_GLOBAL | WARP_IN_SHARED;
  if (space & (HD_IN_ANY_SHARED | HD_IN_TMEM)) return WARP_IN_SHARED;
  return space & (HD_IN_ANY_GLOBAL | HD_IN_SURFACE | HD_IN_TENSOR) ? WARP_IN_GLOBAL : 0;
}

uint8_t warp_spaces(const hd_ptx_access *a, unsigned kinds) {
  uint8_t in = 0;
  for (unsigned k = 0; k < a->n; k++)
    if (a->touches[k].kinds & kinds) in |= warp_spaces_of(a->touches[k].space);
  return in;
}

uint64_t warp_unknown_in(uint8_t spaces_there) {
  uint64_t set = 0;
  for (unsigned k = 0; k < WARP_SPACES; k++)
    if (spaces_there >> k & 1) set |= UINT64_C(1) << (WARP_ARRAYS + k);
  return set;
}

uint64_t warp_array_of(warp_search *s, uint32_t inst, const hd_ptx_touch *t) {
  const hd_ptx_stmt *st = hd_inst_stmt(&s->g, inst);
  if (t->operand >= st->n_opnds || !warp_spaces_of(t->space)) return 0;
  const hd_root array =
      hd_root_of(&s->g, &s->writers, inst, &s->g.module->opnds[st->first_opnd + t->operand]);
  const uint8_t there =
      warp_spaces_of(t->space & HD_IN_GENERIC ? hd_root_spaces(s->g.module, array) : t->space);
  unsigned i = 0;
  while (i < s->n_arrays && hd_roots_differ(s->arrays[i], array)) i++;
  if (!array.sym || i == WARP_ARRAYS) return warp_unknown_in(there);
  if (i == s->n_arrays) s->arrays[s->n_arrays++] = array;
  for (unsigned k = 0; k < WARP_SPACES; k++)
    if (there >> k & 1) s->in_space[k] |= UINT64_C(1) << i;
  return UINT64_C(1) << i;
}

bool warp_meet(const warp_search *s, uint64_t a, uint64_t b) {
  bool do_meet = a & b;
  for (unsigned k = 0; k < WARP_SPACES; k++) {
    const uint64_t unknown = warp_unknown_in((uint8_t)(1u << k)), all = s->in_space[k] | unknown;
    do_meet |= (a & unknown && b & all) || (b & unknown && a & all);
  }
  return do_meet;
}
