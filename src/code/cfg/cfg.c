/* The passes in order. */
#include <string.h>

#include "cfg/internal.h"

void *cfg_grow(hd_arena *arena, const void *data, uint32_t *cap, size_t elem) {
  uint32_t old = *cap;
  *cap = old ? 2 * old : 16;
  void *grown = hd_arena_zalloc(arena, *cap, elem);
  if (old) memcpy(grown, data, old * elem);
  return grown;
}

hd_status hd_cfg_build(const hd_ptx_module *m, uint32_t func, uint32_t max_insts, hd_arena *arena,
                       hd_cfg *out, hd_diag *d) {
  cfg c = {.g = {.module = m}, .arena = arena, .diag = d};
  cfg_inline(&c, func, max_insts);
  hd_status st = cfg_blocks(&c);
  if (st != HD_OK) return st;
  cfg_dominators(&c);
  cfg_loops(&c);
  *out = c.g;
  return HD_OK;
}
