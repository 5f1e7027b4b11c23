/* emu/machine/surface.c: suld, sust and sured: an array's bytes, by coordinates. */
#include "emu/machine/grid.h"
#include "emu/machine/image.h"

#include <inttypes.h>

/* The addresses of one warp's access, of the lanes inside the image. */
typedef struct span {
  uint32_t inside; /* lanes */
  uint64_t addr[HD_WARP];
} span;

/* Where a coordinate outside of [0, n) leads; false: nowhere. */
static bool bound(const emu_image_inst *x, int64_t n, int64_t *c) {
  if (*c >= 0 && *c < n) return true;
  if (x->bounds != EMU_BOUNDS_CLAMP) return false;
  *c = *c < 0 ? 0 : n - 1;
  return true;
}

static void out_of_bounds(emu_warp *w, const emu_inst *i, unsigned lane, const int64_t c[3],
                          const hd_image_level *l, uint64_t row) {
  emu_fault(w, i, 1u << lane, HD_FAULT_BOUNDS,
            "out of bounds: (%" PRId64 ", %" PRId64 ", %" PRId64 ") of a surface with rows of %" PRIu64
            " bytes, %u rows and %u slices or layers",
            c[0], c[1], c[2], row, l->height, l->depth);
}

/* One lane's address; false after a fault. */
static bool aim(emu_warp *w, const emu_inst *i, const char *r, unsigned lane, span *s) {
  const emu_image_inst *x = i->extra;
  const hd_texture *t = emu_image_of(w, i, r, lane);
  if (!t) return false;
  const hd_image *image = &t->image;
  const hd_image_level l = hd_image_level_of(image, 0);
  const int64_t texel = (int64_t)hd_texel_bytes(image->texel) * image->channels,
                bytes = (int64_t)x->bytes * x->n;
  int64_t c[3] = {0};
  for (unsigned k = 0; k < x->dims; k++) c[k] = (int32_t)emu_lane_u32(r, x->coord[k], lane);
  if (x->layered) c[2] = (int32_t)emu_lane_u32(r, x->layer, lane);
  if (x->texels) c[0] *= texel;
  const int64_t given[3] = {c[0], c[1], c[2]}, size[3] = {(int64_t)l.row - bytes + 1, l.height, l.depth};
  bool inside = size[0] > 0;
  for (unsigned k = 0; inside && k < 3; k++) inside = bound(x, size[k], &c[k]);
  if (!inside && x->bounds == EMU_BOUNDS_TRAP) {
    out_of_bounds(w, i, lane, given, &l, l.row);
    return false;
  }
  if (!inside) return true;
  s->inside |= 1u << lane;
  s->addr[lane] = image->address + (uint64_t)c[0] + (uint64_t)c[1] * l.row + (uint64_t)c[2] * l.slice;
  return true;
}

static bool find(emu_warp *w, const emu_inst *i, const char *r, uint32_t mask, hd_access_kind kind, span *s,
                 emu_view *v) {
  const emu_image_inst *x = i->extra;
  const unsigned cache = kind == HD_ACCESS_ATOMIC ? 0 : HD_CACHE_L1;
  *s = (span){0};
  for (uint32_t left = mask; left; left &= left - 1)
    if (!aim(w, i, r, (unsigned)__builtin_ctz(left), s)) return false;
  return !s->inside || emu_access(w, i, s->inside, s->addr, (unsigned)x->bytes * x->n, x->bytes, kind, cache,
                                  HD_SPACE_GLOBAL, v);
}

/* A lane's register: of 64 bits, or zero-extended in 32. */
static char *lane_of(char *r, uint32_t slot, unsigned bytes, unsigned lane) {
  return r + (size_t)slot * EMU_SLOT_BYTES + (size_t)lane * (bytes == 8 ? 8 : 4);
}

void emu_run_surface_load(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  const emu_image_inst *x = i->extra;
  span s;
  emu_view v;
  if (!find(w, i, r, mask, HD_ACCESS_LOAD, &s, &v)) return;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    char row[32] = {0};
    if (s.inside >> l & 1)
      memcpy(row, (const char *)(uintptr_t)(s.addr[l] + v.delta), (size_t)x->bytes * x->n);
    for (unsigned n = 0; n < x->n; n++) {
      uint64_t value = 0;
      memcpy(&value, row + (size_t)n * x->bytes, x->bytes);
      if (x->reg[n] != EMU_NO_SLOT) memcpy(lane_of(r, x->reg[n], x->bytes, l), &value, x->bytes == 8 ? 8 : 4);
    }
  }
}

void emu_run_surface_store(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  const emu_image_inst *x = i->extra;
  span s;
  emu_view v;
  if (!find(w, i, r, mask, HD_ACCESS_STORE, &s, &v)) return;
  for (uint32_t left = s.inside; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    char *to = (char *)(uintptr_t)(s.addr[l] + v.delta);
    for (unsigned n = 0; n < x->n; n++)
      memcpy(to + (size_t)n * x->bytes, lane_of(r, x->reg[n], x->bytes, l), x->bytes);
  }
}

/* ---- sured ---------------------------------------------------------------------------- */

static uint64_t reduced(const emu_image_inst *x, bool is_signed, uint64_t old, uint64_t v) {
  const bool wide = x->bytes == 8;
  const int64_t a = wide ? (int64_t)old : (int32_t)old, b = wide ? (int64_t)v : (int32_t)v;
  switch ((emu_atom_op)x->atom) {
  case EMU_ATOM_ADD: return old + v;
  case EMU_ATOM_AND: return old & v;
  case EMU_ATOM_OR: return old | v;
  case EMU_ATOM_MIN: return is_signed ? (a < b ? old : v) : (old < v ? old : v);
  case EMU_ATOM_MAX: return is_signed ? (a > b ? old : v) : (old > v ? old : v);
  default: return old;
  }
}

/* CTAs run on several host threads. */
static void reduce(const emu_image_inst *x, bool is_signed, char *at, uint64_t v) {
  if (x->bytes == 8) {
    uint64_t *p = (uint64_t *)(void *)at, old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, reduced(x, is_signed, old, v), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {
    }
  } else {
    uint32_t *p = (uint32_t *)(void *)at, old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, (uint32_t)reduced(x, is_signed, old, v), false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
  }
}

void emu_run_surface_reduce(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  const emu_image_inst *x = i->extra;
  span s;
  emu_view v;
  if (!find(w, i, r, mask, HD_ACCESS_ATOMIC, &s, &v)) return;
  for (uint32_t left = s.inside; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    uint64_t value = 0;
    memcpy(&value, lane_of(r, x->reg[0], x->bytes, l), x->bytes);
    /* sured.p has no sign of its own: the surface's format has. */
    const bool is_signed =
        x->texels ? emu_image_of(w, i, r, l)->image.texel == HD_TEXEL_S32 : x->type == EMU_ATOM_S;
    reduce(x, is_signed, (char *)(uintptr_t)(s.addr[l] + v.delta), value);
  }
}
