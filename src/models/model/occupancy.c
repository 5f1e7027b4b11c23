#include "heddle/model.h"

enum { MAX_CTA_THREADS = 1024 };

static uint64_t round_up(uint64_t v, uint64_t unit) { return (v + unit - 1) / unit * unit; }
static uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The limits of the CUDA programming guide's occupancy calculation: CTAs, threads, warps, registers,
 * shared memory. Registers are given to whole warps, from the part of the register file that belongs to the
 * warp's scheduler; the guide counts the warps that fit over all schedulers. */
uint32_t hd_gpu_occupancy(const hd_gpu *g, uint32_t threads, uint32_t registers, uint32_t shared_bytes) {
  if (!threads || threads > MAX_CTA_THREADS) return 0;
  uint32_t warps = (threads + HD_WARP - 1) / HD_WARP;
  uint64_t fit = min_u64(g->max_ctas, min_u64(g->max_warps / warps, g->max_threads / threads));
  if (registers) {
    uint64_t per_warp = round_up((uint64_t)registers * HD_WARP, g->register_unit);
    uint64_t warps_that_fit = g->registers / g->schedulers / per_warp * g->schedulers;
    fit = min_u64(fit, warps_that_fit / warps);
  }
  uint64_t shared = round_up((uint64_t)shared_bytes + g->shared_reserved, g->shared_unit);
  if (shared) fit = min_u64(fit, g->shared_bytes / shared);
  return (uint32_t)fit;
}
