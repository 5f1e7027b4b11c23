/* emu/decode/guess.c: plain loads of the value that atom.cas then compares.
 *
 * The loop that makes an atomic operation of atom.cas begins with a plain load: when the value is old, the
 * comparison fails and the loop goes on with what atom.cas found. The load is no race, though it is not
 * strong. It is known by its register: the comparison's operand, through moves. */
#include "emu/decode/decode.h"

void emu_mark_guesses(emu_function *fn) {
  const emu_code *c = fn->code;
  bool *compared = NULL, any = false;
  for (uint32_t k = 0; k < c->n_insts; k++) {
    const emu_inst *i = &c->insts[k];
    if (emu_op_of(fn, i) != HD_OP_ATOM || i->mem.atom != EMU_ATOM_CAS) continue;
    if (!compared) compared = HD_NEW_N(fn->scratch, c->n_slots, bool);
    compared[i->src[1]] = any = true;
  }
  while (any) {
    any = false;
    for (uint32_t k = 0; k < c->n_insts; k++) {
      const emu_inst *i = &c->insts[k];
      if (emu_op_of(fn, i) != HD_OP_MOV || i->extra || !compared[i->dst] || compared[i->src[0]]) continue;
      compared[i->src[0]] = any = true;
    }
  }
  for (uint32_t k = 0; compared && k < c->n_insts; k++) {
    emu_inst *i = &c->insts[k];
    if (emu_op_of(fn, i) == HD_OP_LD && i->mem.count == 1 && compared[i->dst]) i->mem.strong = EMU_STRONG;
  }
}
