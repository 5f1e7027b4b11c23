/* Which registers are read, on some path, before they are written. */
#include <string.h>

#include "cfg/internal.h"

static void kill(void *ctx, uint32_t reg) { ((uint64_t *)ctx)[reg / 64] &= ~(UINT64_C(1) << reg % 64); }
static void use(void *ctx, uint32_t reg) { ((uint64_t *)ctx)[reg / 64] |= UINT64_C(1) << reg % 64; }

/* One pass over the blocks that wait, from the last to the first; true while some do. */
static bool flow_backwards(const hd_cfg *g, hd_liveness *l, uint64_t *now, uint8_t *waits) {
  bool changed = false;
  for (uint32_t b = g->n_blocks - 1; b-- > 0;) {
    const hd_block *block = &g->blocks[b];
    if (!waits[b]) continue;
    waits[b] = 0;
    memset(now, 0, l->words * sizeof *now);
    for (uint32_t k = 0; k < block->n_succ; k++) {
      const uint64_t *in = l->in + g->edges[block->first_succ + k] * l->words;
      for (size_t x = 0; x < l->words; x++) now[x] |= in[x];
    }
    for (uint32_t i = block->first + block->n_insts; i-- > block->first;) {
      cfg_replaced(g, i, kill, now);
      hd_inst_reads(g, i, use, now);
    }
    uint64_t *in = l->in + b * l->words;
    if (memcmp(in, now, l->words * sizeof *in) == 0) continue;
    memcpy(in, now, l->words * sizeof *in);
    for (uint32_t k = 0; k < block->n_pred; k++) {
      const uint32_t from = g->edges[block->first_pred + k];
      waits[from] = 1;
      changed |= from >= b;
    }
  }
  return changed;
}

bool hd_liveness_find(const hd_cfg *g, size_t max_bytes, hd_arena *arena, hd_liveness *out) {
  *out = (hd_liveness){.words = ((size_t)g->n_regs + 63) / 64};
  size_t bytes;
  if (!hd_mul_size(out->words * sizeof *out->in, g->n_blocks, &bytes) || bytes > max_bytes) return false;
  out->in = hd_arena_zalloc(arena, out->words * g->n_blocks + 1, sizeof *out->in);
  uint64_t *now = HD_NEW_N(arena, out->words + 1, uint64_t);
  uint8_t *waits = HD_NEW_N(arena, g->n_blocks, uint8_t);
  memset(waits, 1, g->n_blocks);
  while (flow_backwards(g, out, now, waits)) {
  }
  return true;
}
