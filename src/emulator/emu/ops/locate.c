/* emu/ops/locate.c: the host bytes behind a warp's addresses, space by space. */
#include "emu/ops/address.h"

static void take(emu_hosts *out, uint32_t mask, const uint64_t addr[32], emu_view v) {
  if (mask == ALL_LANES) {
    LANE_LOOP out->at[l] = addr[l] + v.delta + (uint64_t)((int64_t)l * v.lane_stride);
    return;
  }
  uint64_t at[32] __attribute__((aligned(64)));
  LANE_LOOP at[l] = addr[l] + v.delta + (uint64_t)((int64_t)l * v.lane_stride);
  blend64(out->at, at, mask);
}

/* A kernel's parameters: the same bytes for every lane. Addresses are generic ones, or offsets. */
static bool locate_param(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[32],
                         const emu_locate *how, emu_hosts *out) {
  const emu_launch_view *v = emu_warp_launch(w);
  if (how->kind == HD_ACCESS_PREFETCH) return true;
  const uint32_t first = 1u << __builtin_ctz(mask);
  uint64_t differs = 0;
  LANE_LOOP differs |= addr[l] ^ addr[0];
  FOR_LANES(l, differs ? mask : first) {
    const uint64_t at = addr[l] < EMU_PARAM_BASE ? addr[l] : addr[l] - EMU_PARAM_BASE;
    if (how->kind != HD_ACCESS_LOAD) {
      emu_fault(w, i, 1u << l, HD_FAULT_OTHER, "write to the kernel's parameters at offset %llu",
                (unsigned long long)at);
      return false;
    }
    if (at > v->params_bytes || v->params_bytes - at < how->bytes) {
      emu_fault(w, i, 1u << l, HD_FAULT_OTHER,
                "read of %u bytes at offset %llu of the kernel's parameters, which are %llu bytes",
                how->bytes, (unsigned long long)at, (unsigned long long)v->params_bytes);
      return false;
    }
    if (at % how->align) {
      emu_fault(w, i, 1u << l, HD_FAULT_MISALIGNED,
                "read of %u bytes at misaligned offset %llu of the kernel's parameters", how->bytes,
                (unsigned long long)at);
      return false;
    }
    out->at[l] = (uint64_t)(uintptr_t)(v->params + at);
  }
  const uint64_t at = out->at[__builtin_ctz(mask)];
  if (!differs) LANE_LOOP out->at[l] = at;
  return true;
}

bool locate(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[32], const emu_locate *how,
            emu_hosts *out) {
  out->shared = 0;
  if (how->space == HD_SPACE_PARAM) return locate_param(w, i, mask, addr, how, out);
  if (how->space == EMU_FRAME) {
    FOR_LANES(l, mask) out->at[l] = (uint64_t)(uintptr_t)emu_local_ptr(w, l, (uint32_t)addr[l]);
    return true;
  }
  emu_view view;
  if (how->space == EMU_CLUSTER) {
    out->shared = mask;
    while (mask) {
      const uint32_t part = emu_split_cluster(addr, mask);
      if (!emu_access(w, i, part, addr, how->bytes, how->align, how->kind, how->cache, HD_SPACE_SHARED,
                      &view))
        return false;
      if (how->kind != HD_ACCESS_PREFETCH) take(out, part, addr, view);
      mask &= ~part;
    }
    return true;
  }
  if (how->space != EMU_GENERIC) {
    if (how->space == HD_SPACE_SHARED) out->shared = mask;
    if (!emu_access(w, i, mask, addr, how->bytes, how->align, how->kind, how->cache, how->space, &view))
      return false;
    if (how->kind != HD_ACCESS_PREFETCH) take(out, mask, addr, view);
    return true;
  }
  while (mask) {
    unsigned space = HD_SPACE_GLOBAL;
    const uint32_t window = emu_split_generic(addr, mask, &space);
    if (space == HD_SPACE_PARAM) {
      if (!locate_param(w, i, window, addr, how, out)) return false;
    } else {
      if (space == HD_SPACE_SHARED) out->shared |= window;
      if (!emu_access(w, i, window, addr, how->bytes, how->align, how->kind, how->cache, EMU_GENERIC, &view))
        return false;
      if (how->kind != HD_ACCESS_PREFETCH) take(out, window, addr, view);
    }
    mask &= ~window;
  }
  return true;
}
