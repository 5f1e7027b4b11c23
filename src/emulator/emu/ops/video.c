/* emu/ops/video.c: video instructions, as compilers and programs use them: of whole registers, and absolute
 * differences of their bytes and halves. The second operation adds; a sum of 32 bits is the same, however
 * wide the first result is. One handler does all others. */
#include "emu/num/video.h"
#include "emu/ops/lanes.h"

#define DIFF(x, y) ((x) > (y) ? (uint32_t)(x) - (uint32_t)(y) : (uint32_t)(y) - (uint32_t)(x))

INLINE uint32_t part(uint32_t x, unsigned k, unsigned bits) { return x >> k * bits & ((1u << bits) - 1); }
/* Of 8 or 16 bits each: as four or two values. */
INLINE uint32_t differences(uint32_t a, uint32_t b, unsigned bits) {
  uint32_t d = 0;
  for (unsigned k = 0; k < 32 / bits; k++) d |= DIFF(part(a, k, bits), part(b, k, bits)) << k * bits;
  return d;
}
INLINE uint32_t sum_of_differences(uint32_t a, uint32_t b, unsigned bits) {
  uint32_t sum = 0;
  for (unsigned k = 0; k < 32 / bits; k++) sum += DIFF(part(a, k, bits), part(b, k, bits));
  return sum;
}
/* Shifts by any amount; more than 31 leave nothing but the sign. */
INLINE uint32_t left(uint32_t a, uint32_t by) { return by > 31 ? 0 : a << by; }
INLINE uint32_t right_u(uint32_t a, uint32_t by) { return by > 31 ? 0 : a >> by; }
INLINE uint32_t right_s(uint32_t a, uint32_t by) { return (uint32_t)((int32_t)a >> (by > 31 ? 31 : by)); }

#define ROWS_SCALAR(X2, X3, id, name, t, expr)                                                               \
  X2(id, name, w, t, t, expr) X3(id##_add, name ".add", w, t, t, w, (expr) + c)
#define ROWS_BOTH(X2, X3, id, op, expr)                                                                      \
  ROWS_SCALAR(X2, X3, id##_u, op ".u32.u32.u32", w, expr)                                                    \
  ROWS_SCALAR(X2, X3, id##_s, op ".s32.s32.s32", i, expr)
#define ROWS_SHIFT(X2, X3, id, name, expr)                                                                   \
  ROWS_SCALAR(X2, X3, id##_clamp, name ".clamp", w, expr(a, b))                                              \
  ROWS_SCALAR(X2, X3, id##_wrap, name ".wrap", w, expr(a, b & 31))
#define ROWS(X2, X3)                                                                                         \
  ROWS_BOTH(X2, X3, vadd, "vadd", (uint32_t)a + (uint32_t)b)                                                 \
  ROWS_BOTH(X2, X3, vsub, "vsub", (uint32_t)a - (uint32_t)b)                                                 \
  ROWS_BOTH(X2, X3, vabsdiff, "vabsdiff", DIFF(a, b))                                                        \
  ROWS_BOTH(X2, X3, vmin, "vmin", (uint32_t)(a < b ? a : b))                                                 \
  ROWS_BOTH(X2, X3, vmax, "vmax", (uint32_t)(a > b ? a : b))                                                 \
  ROWS_SHIFT(X2, X3, vshl, "vshl.u32.u32.u32", left)                                                         \
  ROWS_SHIFT(X2, X3, vshr_u, "vshr.u32.u32.u32", right_u)                                                    \
  ROWS_SHIFT(X2, X3, vshr_s, "vshr.s32.s32.u32", right_s)                                                    \
  X3(vabsdiff4, "vabsdiff4.u32.u32.u32", w, w, w, w, ((void)c, differences(a, b, 8)))                        \
  X3(vabsdiff2, "vabsdiff2.u32.u32.u32", w, w, w, w, ((void)c, differences(a, b, 16)))                       \
  X3(vabsdiff4_add, "vabsdiff4.u32.u32.u32.add", w, w, w, w, c + sum_of_differences(a, b, 8))                \
  X3(vabsdiff2_add, "vabsdiff2.u32.u32.u32.add", w, w, w, w, c + sum_of_differences(a, b, 16))

ROWS(DEFINE_2, DEFINE_3)

/* extra: num_video */
HANDLER(video) {
  const num_video *v = i->extra;
  const uint32_t *a = slot(r, i->src[0]), *b = slot(r, i->src[1]), *c = slot(r, i->src[2]);
  uint32_t *d = slot(r, i->dst);
  FOR_LANES(l, mask) d[l] = num_video_run(v, a[l], b[l], c[l]);
}

const emu_op EMU_OPS(video)[] = {ROWS(ROW_2, ROW_3){"video", "", video}, {0}};
