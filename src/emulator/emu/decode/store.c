/* emu/decode/store.c: where each instruction's next store is, for the machine's first turns (warp.c). */
#include "emu/decode/decode.h"

/* Does it write memory that other warps see? Its form says what it is, its space where it goes. */
static bool stores(const emu_function *fn, const emu_inst *i) {
  const hd_ptx_op op = emu_op_of(fn, i);
  if (op != HD_OP_ST && op != HD_OP_ATOM && op != HD_OP_RED && op != HD_OP_MULTIMEM) return false;
  return i->mem.space == HD_SPACE_GLOBAL || i->mem.space == HD_SPACE_SHARED || i->mem.space == EMU_GENERIC;
}

void emu_find_stores(emu_function *fn) {
  emu_code *c = fn->code;
  uint32_t *next = HD_NEW_N(fn->d->env->arena, (size_t)c->n_insts + 1, uint32_t), at = UINT32_MAX;
  next[c->n_insts] = at;
  for (uint32_t k = c->n_insts; k-- > 0;) {
    if (stores(fn, &c->insts[k])) at = k;
    next[k] = at;
  }
  c->next_store = next;
}
