/* emu/ops/lanes.h: how handlers go over the 32 lanes of a warp.
 *
 * A handler computes all lanes, into the destination when all are active and into a
 * temporary otherwise, of which the active lanes are then written. Inactive lanes hold
 * stale values, so no expression may trap. A destination may be the very slot of a
 * source, never part of it: lanes are independent, which LANE_LOOP tells the compiler.
 */
#ifndef HEDDLE_EMU_LANES_H
#define HEDDLE_EMU_LANES_H

#include "emu/num/num.h"
#include "emu/ops/ops.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define EMU_JOIN_(a, b) a##_##b
#define EMU_JOIN(a, b) EMU_JOIN_(a, b)
/* The name of a file's table in the build for this instruction set. */
#define EMU_OPS(subject) EMU_JOIN(emu_ops_##subject, EMU_ISA)

#if defined(__clang__)
#define LANE_LOOP _Pragma("clang loop vectorize(assume_safety)") for (unsigned l = 0; l < 32; l++)
#else
#define LANE_LOOP _Pragma("GCC ivdep") for (unsigned l = 0; l < 32; l++)
#endif
/* The lanes of a mask, one by one, in ascending order. */
#define FOR_LANES(l, mask)                                                                                   \
  for (uint32_t rest_ = (mask), l; rest_ && (l = (uint32_t)__builtin_ctz(rest_), true); rest_ &= rest_ - 1)

#define HANDLER(id) static void id(emu_warp *w, const emu_inst *i, char *r, uint32_t mask)
#define INLINE static inline __attribute__((always_inline))

/* The exact product added and rounded once. Without a fused instruction: in double, where the sum is
 * rounded to double and then to f32, which num/mma.c shows to be once. */
INLINE float fused(float a, float b, float c) {
#if defined(__FMA__)
  return __builtin_fmaf(a, b, c);
#else
  return (float)((double)c + (double)a * (double)b);
#endif
}

#define ALL_LANES 0xffffffffu

INLINE void *slot(char *r, uint32_t s) {
  return __builtin_assume_aligned(r + (size_t)s * EMU_SLOT_BYTES, 64);
}

static const uint32_t lane_bit[32] __attribute__((aligned(64))) = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

/* d[l] = t[l] for the lanes of the mask. The whole slot is stored: a masked store would keep the
 * next instruction's load waiting. */
INLINE void blend32(void *dst, const void *src, uint32_t mask) {
#if defined(__AVX512F__)
  for (unsigned k = 0; k < 2; k++) {
    __m512i *d = (__m512i *)dst + k;
    *d = _mm512_mask_loadu_epi32(*d, (__mmask16)(mask >> (16 * k)), (const __m512i *)src + k);
  }
#else
  uint32_t *d = dst;
  const uint32_t *t = src;
  LANE_LOOP d[l] = mask & lane_bit[l] ? t[l] : d[l];
#endif
}
INLINE void blend64(void *dst, const void *src, uint32_t mask) {
#if defined(__AVX512F__)
  for (unsigned k = 0; k < 4; k++) {
    __m512i *d = (__m512i *)dst + k;
    *d = _mm512_mask_loadu_epi64(*d, (__mmask8)(mask >> (8 * k)), (const __m512i *)src + k);
  }
#else
  uint64_t *d = dst;
  const uint64_t *t = src;
  LANE_LOOP d[l] = mask & lane_bit[l] ? t[l] : d[l];
#endif
}
#define BLEND(d, t, mask) (sizeof *(d) == 4 ? blend32((d), (t), (mask)) : blend64((d), (t), (mask)))

/* Bit l of the result is the top bit of t[l]. */
INLINE uint32_t top_bits(const uint32_t t[32]) {
  uint32_t m = 0;
#if defined(__AVX512DQ__)
  m = (uint32_t)_mm512_movepi32_mask(_mm512_loadu_si512(t)) |
      (uint32_t)_mm512_movepi32_mask(_mm512_loadu_si512(t + 16)) << 16;
#elif defined(__AVX2__)
  for (unsigned k = 0; k < 4; k++)
    m |= (uint32_t)_mm256_movemask_ps(_mm256_loadu_ps((const float *)(t + (size_t)8 * k))) << (8 * k);
#elif defined(__SSE2__)
  for (unsigned k = 0; k < 8; k++)
    m |= (uint32_t)_mm_movemask_ps(_mm_loadu_ps((const float *)(t + (size_t)4 * k))) << (4 * k);
#else
  for (unsigned l = 0; l < 32; l++) m |= (t[l] >> 31) << l;
#endif
  return m;
}

INLINE uint32_t get_pred(char *r, uint32_t s) { return *(const uint32_t *)slot(r, s); }
INLINE void put_pred(char *r, uint32_t s, uint32_t bits, uint32_t mask) {
  uint32_t *d = slot(r, s);
  *d = (*d & ~mask) | (bits & mask);
}

/* ---- Floats ------------------------------------------------------------------ */

/* NaN results are those of GPUs. f32: always the same one. f64: the first NaN among the operands,
 * in an order of the instruction's own, made quiet; if there is none, the one with the sign set. */
INLINE float canon_f(float x) { return x == x ? x : num_f32(0x7fffffffu); }
INLINE double nan_g(double x, double first, double second, double third) {
  const double invalid = num_f64(0xfff8000000000000ull);
  const double operand = first != first     ? first
                         : second != second ? second
                         : third != third   ? third
                                            : invalid;
  return x == x ? x : num_f64(num_b64(operand) | 0x0008000000000000ull);
}
INLINE float sat_f(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

/* ---- Handlers from expressions ------------------------------------------------- */

/* Storage of an operand by its letter in the shape. */
#define T_h uint32_t
#define T_k uint32_t
#define T_w uint32_t
#define T_i int32_t
#define T_d uint64_t
#define T_j int64_t
#define T_f float
#define T_g double
/* The value read from it, and the value written to it. */
#define GET_h(x) (x)
#define GET_k(x) ((int32_t)(int16_t)(x))
#define GET_w(x) (x)
#define GET_i(x) (x)
#define GET_d(x) (x)
#define GET_j(x) (x)
#define GET_f(x) (x)
#define GET_g(x) (x)
#define PUT_h(x) ((uint16_t)(x))
#define PUT_k(x) ((uint16_t)(x))
#define PUT_w(x) ((uint32_t)(x))
#define PUT_i(x) ((int32_t)(x))
#define PUT_d(x) ((uint64_t)(x))
#define PUT_j(x) ((int64_t)(x))
#define PUT_f(x) canon_f(x)
#define PUT_g(x) (x)

#define LANES_OF(D, compute)                                                                                 \
  T_##D *dst = slot(r, i->dst), part[32] __attribute__((aligned(64)));                                       \
  T_##D *out = mask == ALL_LANES ? dst : part;                                                               \
  LANE_LOOP { compute }                                                                                      \
  if (mask != ALL_LANES) BLEND(dst, part, mask);

/* X-macro rows: (id, name, D, A[, B[, C[, E]]], expression in a, b, c, e). */
#define DEFINE_1(id, name, D, A, expr)                                                                       \
  HANDLER(id) {                                                                                              \
    const T_##A *pa = slot(r, i->src[0]);                                                                    \
    LANES_OF(D, __auto_type a = GET_##A(pa[l]); (void)a; out[l] = PUT_##D(expr);)                            \
  }
#define DEFINE_2(id, name, D, A, B, expr)                                                                    \
  HANDLER(id) {                                                                                              \
    const T_##A *pa = slot(r, i->src[0]);                                                                    \
    const T_##B *pb = slot(r, i->src[1]);                                                                    \
    LANES_OF(D, __auto_type a = GET_##A(pa[l]); __auto_type b = GET_##B(pb[l]); out[l] = PUT_##D(expr);)     \
  }
#define DEFINE_3(id, name, D, A, B, C, expr)                                                                 \
  HANDLER(id) {                                                                                              \
    const T_##A *pa = slot(r, i->src[0]);                                                                    \
    const T_##B *pb = slot(r, i->src[1]);                                                                    \
    const T_##C *pc = slot(r, i->src[2]);                                                                    \
    LANES_OF(D, __auto_type a = GET_##A(pa[l]); __auto_type b = GET_##B(pb[l]);                              \
             __auto_type c = GET_##C(pc[l]); out[l] = PUT_##D(expr);)                                        \
  }
#define DEFINE_4(id, name, D, A, B, C, E, expr)                                                              \
  HANDLER(id) {                                                                                              \
    const T_##A *pa = slot(r, i->src[0]);                                                                    \
    const T_##B *pb = slot(r, i->src[1]);                                                                    \
    const T_##C *pc = slot(r, i->src[2]);                                                                    \
    const T_##E *pe = slot(r, i->src[3]);                                                                    \
    LANES_OF(D, __auto_type a = GET_##A(pa[l]); __auto_type b = GET_##B(pb[l]);                              \
             __auto_type c = GET_##C(pc[l]); __auto_type e = GET_##E(pe[l]); out[l] = PUT_##D(expr);)        \
  }
#define ROW_1(id, name, D, A, expr) {name, #D "=" #A, id},
#define ROW_2(id, name, D, A, B, expr) {name, #D "=" #A #B, id},
#define ROW_3(id, name, D, A, B, C, expr) {name, #D "=" #A #B #C, id},
#define ROW_4(id, name, D, A, B, C, E, expr) {name, #D "=" #A #B #C #E, id},

/* A predicate from each lane's condition. */
#define PRED_OF(condition)                                                                                   \
  uint32_t part[32] __attribute__((aligned(64)));                                                            \
  LANE_LOOP { part[l] = (condition) ? ALL_LANES : 0; }                                                       \
  const uint32_t bits = top_bits(part)

#endif
