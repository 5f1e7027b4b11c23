/* emu/ops/convert.c: cvt.
 *
 * The conversions that compiled CUDA code is full of are rows of vector code; every
 * other combination of types, rounding and saturation goes lane by lane through num.h.
 */
#include "emu/ops/lanes.h"

/* ---- Integer to integer -------------------------------------------------------------- */

/* cvt.DST.SRC, and cvt.DST.SRC.w (.d): into a 32-bit (64-bit) register wider than DST, which
 * a signed result fills with its sign. */
#define INT_SOURCES(X, name, text, D, T, suffix)                                                             \
  X(name##_u8, text "u8" suffix, D, w, (T)(uint8_t)a)                                                        \
  X(name##_s8, text "s8" suffix, D, w, (T)(int8_t)a)                                                         \
  X(name##_u16, text "u16" suffix, D, h, (T)(uint16_t)a)                                                     \
  X(name##_s16, text "s16" suffix, D, h, (T)(int16_t)a)                                                      \
  X(name##_u32, text "u32" suffix, D, w, (T)(uint32_t)a)                                                     \
  X(name##_s32, text "s32" suffix, D, w, (T)(int32_t)a)                                                      \
  X(name##_u64, text "u64" suffix, D, d, (T)(uint64_t)a)                                                     \
  X(name##_s64, text "s64" suffix, D, d, (T)(int64_t)a)
#define ROWS_INT(X)                                                                                          \
  INT_SOURCES(X, cvt_u8, "cvt.u8.", h, uint8_t, "")                                                          \
  INT_SOURCES(X, cvt_s8, "cvt.s8.", h, int8_t, "")                                                           \
  INT_SOURCES(X, cvt_u16, "cvt.u16.", h, uint16_t, "")                                                       \
  INT_SOURCES(X, cvt_s16, "cvt.s16.", h, int16_t, "")                                                        \
  INT_SOURCES(X, cvt_u32, "cvt.u32.", w, uint32_t, "")                                                       \
  INT_SOURCES(X, cvt_s32, "cvt.s32.", w, int32_t, "")                                                        \
  INT_SOURCES(X, cvt_u64, "cvt.u64.", d, uint64_t, "")                                                       \
  INT_SOURCES(X, cvt_s64, "cvt.s64.", d, int64_t, "")                                                        \
  INT_SOURCES(X, cvt_u8w, "cvt.u8.", w, uint8_t, ".w")                                                       \
  INT_SOURCES(X, cvt_s8w, "cvt.s8.", w, int8_t, ".w")                                                        \
  INT_SOURCES(X, cvt_u16w, "cvt.u16.", w, uint16_t, ".w")                                                    \
  INT_SOURCES(X, cvt_s16w, "cvt.s16.", w, int16_t, ".w")                                                     \
  INT_SOURCES(X, cvt_u32d, "cvt.u32.", d, uint32_t, ".d")                                                    \
  INT_SOURCES(X, cvt_s32d, "cvt.s32.", d, int32_t, ".d")
ROWS_INT(DEFINE_1)

/* ---- Integer and float ------------------------------------------------------------------ */

/* To nearest, which the host does. */
#define FLOAT_FROM(X, D, T, type)                                                                            \
  X(cvt_##type##_u8, "cvt." #type ".u8", D, w, (T)(uint8_t)a)                                                \
  X(cvt_##type##_s8, "cvt." #type ".s8", D, w, (T)(int8_t)a)                                                 \
  X(cvt_##type##_u16, "cvt." #type ".u16", D, h, (T)(uint16_t)a)                                             \
  X(cvt_##type##_s16, "cvt." #type ".s16", D, h, (T)(int16_t)a)                                              \
  X(cvt_##type##_u32, "cvt." #type ".u32", D, w, (T)a)                                                       \
  X(cvt_##type##_s32, "cvt." #type ".s32", D, i, (T)a)                                                       \
  X(cvt_##type##_u64, "cvt." #type ".u64", D, d, (T)a)                                                       \
  X(cvt_##type##_s64, "cvt." #type ".s64", D, j, (T)a)

/* x is integral or NaN. Out of range values clamp; NaN gives 0, or the sign bit alone where
 * the source is f64 or the destination has 64 bits. The selections come before the cast so
 * that it is always defined. */
#define TO_INT(x, below, above, least, greatest, nan, T)                                                     \
  ({                                                                                                         \
    const __typeof__(x) v_ = (x);                                                                            \
    const T in_ = (T)(v_ > (below) && v_ < (above) ? v_ : 0);                                                \
    v_ == v_ ? (v_ >= (above) ? (greatest) : v_ <= (below) ? (least) : in_) : (nan);                         \
  })
#define F32_TO_S32(x) TO_INT(x, -0x1p31f, 0x1p31f, INT32_MIN, INT32_MAX, 0, int32_t)
#define F32_TO_U32(x) TO_INT(x, -1.0f, 0x1p32f, 0u, UINT32_MAX, 0u, uint32_t)
#define F32_TO_S64(x) TO_INT(x, -0x1p63f, 0x1p63f, INT64_MIN, INT64_MAX, INT64_MIN, int64_t)
#define F32_TO_U64(x) TO_INT(x, -1.0f, 0x1p64f, 0ull, UINT64_MAX, 1ull << 63, uint64_t)
#define F64_TO_S32(x) TO_INT(x, -0x1p31 - 1, 0x1p31, INT32_MIN, INT32_MAX, INT32_MIN, int32_t)
#define F64_TO_U32(x) TO_INT(x, -1.0, 0x1p32, 0u, UINT32_MAX, 1u << 31, uint32_t)
#define F64_TO_S64(x) TO_INT(x, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX, INT64_MIN, int64_t)
#define F64_TO_U64(x) TO_INT(x, -1.0, 0x1p64, 0ull, UINT64_MAX, 1ull << 63, uint64_t)

#define INT_FROM(X, mode, f32_fn, f64_fn)                                                                    \
  X(cvt_##mode##_s32_f32, "cvt." #mode ".s32.f32", i, f, F32_TO_S32(f32_fn(a)))                              \
  X(cvt_##mode##_u32_f32, "cvt." #mode ".u32.f32", w, f, F32_TO_U32(f32_fn(a)))                              \
  X(cvt_##mode##_s64_f32, "cvt." #mode ".s64.f32", j, f, F32_TO_S64(f32_fn(a)))                              \
  X(cvt_##mode##_u64_f32, "cvt." #mode ".u64.f32", d, f, F32_TO_U64(f32_fn(a)))                              \
  X(cvt_##mode##_s32_f64, "cvt." #mode ".s32.f64", i, g, F64_TO_S32(f64_fn(a)))                              \
  X(cvt_##mode##_u32_f64, "cvt." #mode ".u32.f64", w, g, F64_TO_U32(f64_fn(a)))                              \
  X(cvt_##mode##_s64_f64, "cvt." #mode ".s64.f64", j, g, F64_TO_S64(f64_fn(a)))                              \
  X(cvt_##mode##_u64_f64, "cvt." #mode ".u64.f64", d, g, F64_TO_U64(f64_fn(a)))

/* Between f64 and narrower formats a NaN keeps its sign and the upper bits of its payload, as
 * the host's conversions keep them. */

/* ---- Float and float ----------------------------------------------------------------------- */

#define INTEGRAL(X, mode, f32_fn, f64_fn)                                                                    \
  X(cvt_##mode##_f32_f32, "cvt." #mode ".f32.f32", f, f, f32_fn(a))                                          \
  X(cvt_##mode##_ftz_f32_f32, "cvt." #mode ".ftz.f32.f32", f, f, f32_fn(num_ftz(a)))                         \
  X(cvt_##mode##_f64_f64, "cvt." #mode ".f64.f64", g, g, nan_g(f64_fn(a), a, 0, 0))

#define ROWS_FLOAT(X)                                                                                        \
  FLOAT_FROM(X, f, float, f32)                                                                               \
  FLOAT_FROM(X, g, double, f64)                                                                              \
  INT_FROM(X, rzi, __builtin_truncf, __builtin_trunc)                                                        \
  INT_FROM(X, rni, __builtin_rintf, __builtin_rint)                                                          \
  INT_FROM(X, rmi, __builtin_floorf, __builtin_floor)                                                        \
  INT_FROM(X, rpi, __builtin_ceilf, __builtin_ceil)                                                          \
  INTEGRAL(X, rzi, __builtin_truncf, __builtin_trunc)                                                        \
  INTEGRAL(X, rni, __builtin_rintf, __builtin_rint)                                                          \
  INTEGRAL(X, rmi, __builtin_floorf, __builtin_floor)                                                        \
  INTEGRAL(X, rpi, __builtin_ceilf, __builtin_ceil)                                                          \
  X(cvt_f32_f32, "cvt.f32.f32", w, w, a)                                                                     \
  X(cvt_ftz_f32_f32, "cvt.ftz.f32.f32", f, f, num_ftz(a))                                                    \
  X(cvt_sat_f32_f32, "cvt.sat.f32.f32", f, f, sat_f(a))                                                      \
  X(cvt_ftz_sat_f32_f32, "cvt.ftz.sat.f32.f32", f, f, sat_f(num_ftz(a)))                                     \
  X(cvt_f64_f64, "cvt.f64.f64", g, g, a)                                                                     \
  X(cvt_f32_f64, "cvt.f32.f64", w, g, num_b32((float)a))                                                     \
  X(cvt_f64_f32, "cvt.f64.f32", g, f, (double)a)                                                             \
  X(cvt_f16_f32, "cvt.f16.f32", h, f, num_f32_to_f16(a))                                                     \
  X(cvt_f32_f16, "cvt.f32.f16", f, h, num_f16_to_f32((uint16_t)a))                                           \
  X(cvt_bf16_f32, "cvt.bf16.f32", h, f, num_f32_to_bf16(a))                                                  \
  X(cvt_f32_bf16, "cvt.f32.bf16", w, h, a << 16)
ROWS_FLOAT(DEFINE_1)

/* Two f32 into one register: a on top. */
#define ROWS_PACK(X)                                                                                         \
  X(cvt_f16x2_f32, "cvt.f16x2.f32", w, f, f, (uint32_t)num_f32_to_f16(a) << 16 | num_f32_to_f16(b))          \
  X(cvt_bf16x2_f32, "cvt.bf16x2.f32", w, f, f, (uint32_t)num_f32_to_bf16(a) << 16 | num_f32_to_bf16(b))
ROWS_PACK(DEFINE_2)

/* ---- Everything else, lane by lane ------------------------------------------------------------ */

INLINE uint64_t read_lane(const emu_inst *i, char *r, unsigned src, unsigned l) {
  return i->cvt.flags & CVT_SRC_64 ? ((const uint64_t *)slot(r, i->src[src]))[l]
                                   : ((const uint32_t *)slot(r, i->src[src]))[l];
}
INLINE void write_lane(const emu_inst *i, char *r, unsigned l, uint64_t v) {
  if (i->cvt.flags & CVT_DST_64)
    ((uint64_t *)slot(r, i->dst))[l] = v;
  else
    ((uint32_t *)slot(r, i->dst))[l] = (uint32_t)v;
}
/* The low `bits` of v extended to 64. */
static uint64_t extend(uint64_t v, unsigned bits, bool is_signed) {
  const unsigned unused = 64 - bits;
  return is_signed ? (uint64_t)((int64_t)(v << unused) >> unused) : v << unused >> unused;
}
static uint64_t read_int(const emu_inst *i, char *r, unsigned l) {
  return extend(read_lane(i, r, 0, l), i->cvt.from, i->cvt.flags & CVT_SRC_SIGNED);
}
/* v, extended from the destination type, fills the destination register. */
static void write_int(const emu_inst *i, char *r, unsigned l, uint64_t v) {
  v = extend(v, i->cvt.to, i->cvt.flags & CVT_DST_SIGNED);
  write_lane(i, r, l, extend(v, i->cvt.width, false));
}

/* v of the given sign clamped to `bits`. */
static uint64_t clamp_int(uint64_t v, bool from_signed, unsigned bits, bool to_signed) {
  const bool negative = from_signed && (int64_t)v < 0;
  const uint64_t top = to_signed ? (1ull << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
  if (!negative) return v > top ? top : v;
  if (!to_signed) return 0;
  const int64_t least = -(int64_t)top - 1;
  return (int64_t)v < least ? (uint64_t)least : v;
}

HANDLER(cvt_ii) {
  FOR_LANES(l, mask) {
    uint64_t v = read_int(i, r, l);
    if (i->cvt.sat) v = clamp_int(v, i->cvt.flags & CVT_SRC_SIGNED, i->cvt.to, i->cvt.flags & CVT_DST_SIGNED);
    write_int(i, r, l, v);
  }
}

HANDLER(cvt_if) {
  const num_fmt fmt = (num_fmt)i->cvt.to;
  FOR_LANES(l, mask) {
    uint64_t v =
        num_int_to_float(fmt, read_int(i, r, l), i->cvt.flags & CVT_SRC_SIGNED, (num_round)i->cvt.round);
    if (i->cvt.sat) v = num_from_f64(fmt, num_sat(num_to_f64(fmt, v)), NUM_RN, false, false);
    write_lane(i, r, l, v);
  }
}

/* The value of a floating-point source; .ftz concerns f32 alone, whose NaN it makes canonical. On the way to
 * f16 it does nothing (measured on sm_90; the PTX ISA would flush: .rp and .rm tell). */
static double read_float(const emu_inst *i, uint64_t bits, bool to_f16) {
  const num_fmt fmt = (num_fmt)i->cvt.from;
  if (fmt == NUM_F32 && i->cvt.ftz && !to_f16) return canon_f(num_ftz(num_f32((uint32_t)bits)));
  return num_to_f64(fmt, bits);
}
/* A NaN result keeps what it can of the operand's bits where f64 is involved, and in .rna.tf32, which cuts
 * them; .rna.satfinite.tf32 then takes one step towards zero, as it does from infinity (measured on sm_90).
 * It is the format's canonical one everywhere else. */
static uint64_t make_nan(const emu_inst *i, double x, uint64_t source) {
  const num_fmt fmt = (num_fmt)i->cvt.to;
  const uint64_t bits = num_b64(x) | 0x0008000000000000ull;
  if (fmt == NUM_F64) return bits;
  if (fmt == NUM_TF32 && i->cvt.round == NUM_RNA)
    return (source & 0xffffe000u) - (i->cvt.satfinite ? 0x2000u : 0);
  if (i->cvt.from != NUM_F64) return num_from_f64(fmt, x, NUM_RN, i->cvt.satfinite, false);
  if (fmt == NUM_F32) return num_b32((float)num_f64(bits));
  if (fmt == NUM_F16) return (bits >> 48 & 0x8000) | 0x7c00 | (bits >> 42 & 0x3ff);
  if (fmt == NUM_BF16) return (bits >> 48 & 0x8000) | 0x7f80 | (bits >> 45 & 0x7f);
  return num_from_f64(fmt, x, NUM_RN, i->cvt.satfinite, false);
}
/* The destination's bits from the source's. */
static uint64_t make_float(const emu_inst *i, uint64_t source) {
  const num_fmt fmt = (num_fmt)i->cvt.to;
  double x = read_float(i, source, fmt == NUM_F16);
  if (i->cvt.flags & CVT_INTEGRAL) x = num_round_integral(x, (num_round)i->cvt.round);
  if (i->cvt.relu) x = num_relu(x);
  if (i->cvt.sat) x = num_sat(x);
  if (x != x) return make_nan(i, x, source);
  return num_from_f64(fmt, x, (num_round)i->cvt.round, i->cvt.satfinite, i->cvt.ftz && fmt == NUM_F32);
}

HANDLER(cvt_fi) {
  FOR_LANES(l, mask) {
    const double x = read_float(i, read_lane(i, r, 0, l), false);
    write_int(i, r, l,
              num_float_to_int((num_fmt)i->cvt.from, x, i->cvt.to, i->cvt.flags & CVT_DST_SIGNED,
                               (num_round)i->cvt.round));
  }
}

HANDLER(cvt_ff) { FOR_LANES(l, mask) write_lane(i, r, l, make_float(i, read_lane(i, r, 0, l))); }

/* Bits that an element takes in a packed pair. */
static unsigned pair_bits(unsigned fmt) {
  return fmt == NUM_F32 ? 32 : fmt == NUM_F16 || fmt == NUM_BF16 ? 16 : fmt == NUM_E2M1 ? 4 : 8;
}
/* cvt.join: two f32, a on top. cvt.pair: a pair into a pair. */
HANDLER(cvt_join) {
  const unsigned bits = pair_bits(i->cvt.to);
  FOR_LANES(l, mask) {
    const uint64_t high = make_float(i, read_lane(i, r, 0, l));
    write_lane(i, r, l, high << bits | make_float(i, read_lane(i, r, 1, l)));
  }
}
HANDLER(cvt_pair) {
  const unsigned to = pair_bits(i->cvt.to), from = pair_bits(i->cvt.from);
  FOR_LANES(l, mask) {
    const uint64_t src = read_lane(i, r, 0, l);
    const uint64_t high = make_float(i, extend(src >> from, from, false));
    write_lane(i, r, l, high << to | make_float(i, extend(src, from, false)));
  }
}

/* The random bits of value k of n. Two halves have a half of the operand each. Of four values two share 16
 * bits, of which the first one takes the last bit first; those of e2m1 are a byte of each half. The PTX ISA
 * draws where the fields lie; that the first value reads its field backwards was published of a B200. */
static uint32_t random_of(num_fmt fmt, uint32_t random, unsigned k) {
  if (fmt == NUM_F16) return (k == 0 ? random >> 16 : random) & 0x1fff;
  if (fmt == NUM_BF16) return k == 0 ? random >> 16 : random & 0xffff;
  const unsigned shift = k < 2 ? 8 : 0;
  uint32_t field = fmt == NUM_E2M1 ? (random >> (16 + shift) & 0xff) << 8 | (random >> shift & 0xff)
                   : k < 2         ? random >> 16
                                   : random & 0xffff;
  if (k % 2) return field;
  uint32_t backwards = 0;
  for (unsigned bit = 0; bit < 16; bit++) backwards |= (field >> bit & 1) << (15 - bit);
  return backwards;
}

/* cvt.rs: the first value on top. */
HANDLER(cvt_rs) {
  const emu_stochastic *x = i->extra;
  const num_fmt fmt = (num_fmt)i->cvt.to;
  const unsigned bits = pair_bits(fmt), n_random = fmt == NUM_F16 ? 13 : 16;
  const uint32_t *random = slot(r, x->random);
  uint32_t *dst = slot(r, i->dst);
  FOR_LANES(l, mask) {
    uint32_t packed = 0;
    for (unsigned k = 0; k < x->n; k++) {
      float v = ((const float *)slot(r, x->value[k]))[l];
      if (i->cvt.relu) v = (float)num_relu(v);
      packed = (uint32_t)((uint64_t)packed << bits) |
               num_from_f32_stochastic(fmt, v, random_of(fmt, random[l], k), n_random, i->cvt.satfinite);
    }
    dst[l] = packed;
  }
}

/* cvt.pack: a and b clamped to cvt.to bits, b lowest; c, when there is one, above them. */
HANDLER(cvt_pack) {
  const unsigned bits = i->cvt.to;
  const bool to_signed = i->cvt.flags & CVT_DST_SIGNED, from_signed = i->cvt.flags & CVT_SRC_SIGNED;
  const uint32_t *pc = slot(r, i->src[2]);
  uint32_t *dst = slot(r, i->dst);
  FOR_LANES(l, mask) {
    uint64_t v[2];
    for (unsigned k = 0; k < 2; k++) {
      const uint64_t source = extend(read_lane(i, r, k, l), 32, from_signed);
      v[k] = extend(clamp_int(source, from_signed, bits, to_signed), bits, false);
    }
    dst[l] = (uint32_t)(v[0] << bits | v[1] | (bits < 16 ? (uint64_t)pc[l] << (2 * bits) : 0));
  }
}

const emu_op EMU_OPS(convert)[] = {ROWS_INT(ROW_1) ROWS_FLOAT(ROW_1) ROWS_PACK(ROW_2){"cvt.ii", "", cvt_ii},
                                   {"cvt.if", "", cvt_if},
                                   {"cvt.fi", "", cvt_fi},
                                   {"cvt.ff", "", cvt_ff},
                                   {"cvt.join", "", cvt_join},
                                   {"cvt.pair", "", cvt_pair},
                                   {"cvt.rs", "", cvt_rs},
                                   {"cvt.pack", "", cvt_pack},
                                   {0}};
