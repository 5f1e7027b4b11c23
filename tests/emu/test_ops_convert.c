/* cvt between all types, with all roundings, against num.h and plain C. */
#include "emu/num/num.h"
#include "emu/ops_run.h"

#define DEFINE(id, name, shape, expr) WANT(want_##id, expr)
#define ROW(id, name, shape, expr) {name, shape, want_##id, NULL},
#define F(x) f32_of(x)
#define G(x) f64_of(x)

/* ---- Integers ---------------------------------------------------------------------- */

/* x of the source type, and the clamp to the destination's range. */
static uint64_t clamp(__int128 x, unsigned bits, bool is_signed) {
  const __int128 top = is_signed ? ((__int128)1 << (bits - 1)) - 1 : ((__int128)1 << bits) - 1;
  const __int128 least = is_signed ? -top - 1 : 0;
  return (uint64_t)(x > top ? top : x < least ? least : x);
}
/* clang-format off */
#define FROM(X, to, D, TD, bits, sgn) \
  X(to##_u8, "cvt." #to ".u8", D "=h", (TD)(uint8_t)a) \
  X(to##_s8, "cvt." #to ".s8", D "=h", (TD)(int8_t)a) \
  X(to##_u16, "cvt." #to ".u16", D "=h", (TD)(uint16_t)a) \
  X(to##_s16, "cvt." #to ".s16", D "=h", (TD)(int16_t)a) \
  X(to##_u32, "cvt." #to ".u32", D "=w", (TD)(uint32_t)a) \
  X(to##_s32, "cvt." #to ".s32", D "=w", (TD)(int32_t)a) X(to##_u64, "cvt." #to ".u64", D "=d", (TD)a) \
  X(to##_s64, "cvt." #to ".s64", D "=d", (TD)(int64_t)a) /* from a register wider than its type */ \
  X(to##_u8_w, "cvt." #to ".u8", D "=w", (TD)(uint8_t)a) \
  X(to##_s16_d, "cvt." #to ".s16", D "=d", (TD)(int16_t)a) \
  X(to##_s32_d, "cvt." #to ".s32", D "=d", (TD)(int32_t)a)
/* clang-format on */
/* .sat stands where the destination does not hold all values of the source. */
#define SAT(X, to, D, TD, bits, sgn, from, S, TS)                                                            \
  X(to##_sat_##from, "cvt.sat." #to "." #from, D "=" S, (TD)clamp((TS)a, bits, sgn))
/* clang-format off */
#define SATURATED(X) \
  SAT(X, u8, "h", uint8_t, 8, 0, u16, "h", uint16_t) SAT(X, u8, "h", uint8_t, 8, 0, s16, "h", int16_t) \
  SAT(X, s8, "h", int8_t, 8, 1, u32, "w", uint32_t) SAT(X, s8, "h", int8_t, 8, 1, s32, "w", int32_t) \
  SAT(X, u16, "h", uint16_t, 16, 0, s16, "h", int16_t) \
  SAT(X, u16, "h", uint16_t, 16, 0, s32, "w", int32_t) \
  SAT(X, s16, "h", int16_t, 16, 1, u16, "h", uint16_t) \
  SAT(X, s16, "h", int16_t, 16, 1, s64, "d", int64_t) \
  SAT(X, u32, "w", uint32_t, 32, 0, s16, "h", int16_t) \
  SAT(X, u32, "w", uint32_t, 32, 0, s32, "w", int32_t) \
  SAT(X, u32, "w", uint32_t, 32, 0, u64, "d", uint64_t) \
  SAT(X, s32, "w", int32_t, 32, 1, u32, "w", uint32_t) \
  SAT(X, s32, "w", int32_t, 32, 1, s64, "d", int64_t) \
  SAT(X, u64, "d", uint64_t, 64, 0, s32, "w", int32_t) \
  SAT(X, u64, "d", uint64_t, 64, 0, s64, "d", int64_t) \
  SAT(X, s64, "d", int64_t, 64, 1, u64, "d", uint64_t)
/* clang-format on */
/* Into a register wider than the type, which the sign fills. */
/* clang-format off */
#define INTEGERS(X) \
  FROM(X, u8, "h", uint8_t, 8, 0) FROM(X, s8, "h", int8_t, 8, 1) FROM(X, u16, "h", uint16_t, 16, 0) \
  FROM(X, s16, "h", int16_t, 16, 1) FROM(X, u32, "w", uint32_t, 32, 0) \
  FROM(X, s32, "w", int32_t, 32, 1) FROM(X, u64, "d", uint64_t, 64, 0) \
  FROM(X, s64, "d", int64_t, 64, 1)
#define WIDER(X) \
  X(w_u8, "cvt.u8.u32", "w=w", (uint8_t)a) X(w_s8, "cvt.s8.s32", "w=w", (int8_t)a) \
  X(w_u16, "cvt.u16.u32", "w=w", (uint16_t)a) X(w_s16, "cvt.s16.s32", "w=w", (int16_t)a) \
  X(d_s8, "cvt.s8.s64", "d=d", (int8_t)a) X(d_u8, "cvt.u8.u64", "d=d", (uint8_t)a) \
  X(d_s16, "cvt.s16.s32", "d=w", (int16_t)a) X(d_s32, "cvt.s32.s64", "d=d", (int32_t)a) \
  X(d_u32, "cvt.u32.u64", "d=d", (uint32_t)a) \
  X(d_sats, "cvt.sat.s8.s64", "d=d", (int8_t)clamp((int64_t)a, 8, 1)) \
  X(w_satu, "cvt.sat.u8.s32", "w=w", clamp((int32_t)a, 8, 0)) \
  X(pk16, "cvt.pack.sat.s16.s32", "w=ww", (clamp((int32_t)a, 16, \
    1) & 0xffff) << 16 | (clamp((int32_t)b, 16, 1) & 0xffff)) \
  X(pku16, "cvt.pack.sat.u16.s32", "w=ww", clamp((int32_t)a, 16, 0) << 16 | clamp((int32_t)b, 16, 0)) \
  X(pk8, "cvt.pack.sat.u8.s32.b32", "w=www", c << 16 | clamp((int32_t)a, 8, \
    0) << 8 | clamp((int32_t)b, 8, 0))
/* clang-format on */
INTEGERS(DEFINE)
SATURATED(DEFINE)
WIDER(DEFINE)
static const op_case integers[] = {INTEGERS(ROW) SATURATED(ROW) WIDER(ROW)};
static void integers_to_integers(void **state) { op_check(integers, sizeof integers / sizeof integers[0]); }

/* ---- Integers and floats ---------------------------------------------------------------- */

#define EXT(T) ((uint64_t)(T)a)
/* clang-format off */
#define TO_FLOAT(X, t, D, FMT) \
  X(t##_u8, "cvt.rn." #t ".u8", D "=h", num_int_to_float(FMT, EXT(uint8_t), 0, NUM_RN)) \
  X(t##_s8, "cvt.rn." #t ".s8", D "=h", num_int_to_float(FMT, EXT(int8_t), 1, NUM_RN)) \
  X(t##_s16, "cvt.rn." #t ".s16", D "=h", num_int_to_float(FMT, EXT(int16_t), 1, NUM_RN)) \
  X(t##_u32, "cvt.rn." #t ".u32", D "=w", num_int_to_float(FMT, EXT(uint32_t), 0, NUM_RN)) \
  X(t##_s32, "cvt.rn." #t ".s32", D "=w", num_int_to_float(FMT, EXT(int32_t), 1, NUM_RN)) \
  X(t##_u64, "cvt.rn." #t ".u64", D "=d", num_int_to_float(FMT, a, 0, NUM_RN)) \
  X(t##_s64, "cvt.rn." #t ".s64", D "=d", num_int_to_float(FMT, a, 1, NUM_RN)) \
  X(t##_rz_u64, "cvt.rz." #t ".u64", D "=d", num_int_to_float(FMT, a, 0, NUM_RZ)) \
  X(t##_rm_s32, "cvt.rm." #t ".s32", D "=w", num_int_to_float(FMT, EXT(int32_t), 1, NUM_RM)) \
  X(t##_rp_s64, "cvt.rp." #t ".s64", D "=d", num_int_to_float(FMT, a, 1, NUM_RP))
#define FROM_FLOAT(X, mode, t, S, FMT, v, R) \
  X(mode##_u8_##t, "cvt." #mode ".u8." #t, "h=" S, num_float_to_int(FMT, v, 8, 0, R)) \
  X(mode##_s16_##t, "cvt." #mode ".s16." #t, "h=" S, num_float_to_int(FMT, v, 16, 1, R)) \
  X(mode##_s32_##t, "cvt." #mode ".s32." #t, "w=" S, num_float_to_int(FMT, v, 32, 1, R)) \
  X(mode##_u32_##t, "cvt." #mode ".u32." #t, "w=" S, num_float_to_int(FMT, v, 32, 0, R)) \
  X(mode##_s64_##t, "cvt." #mode ".s64." #t, "d=" S, num_float_to_int(FMT, v, 64, 1, R)) \
  X(mode##_u64_##t, "cvt." #mode ".u64." #t, "d=" S, num_float_to_int(FMT, v, 64, 0, R))
#define ALL_MODES(X, t, S, FMT, v) \
  FROM_FLOAT(X, rzi, t, S, FMT, v, NUM_RZ) FROM_FLOAT(X, rni, t, S, FMT, v, NUM_RN) \
  FROM_FLOAT(X, rmi, t, S, FMT, v, NUM_RM) FROM_FLOAT(X, rpi, t, S, FMT, v, NUM_RP)
#define MIXED(X) \
  TO_FLOAT(X, f16, "h", NUM_F16) TO_FLOAT(X, f32, "w", NUM_F32) TO_FLOAT(X, f64, "d", NUM_F64) \
  ALL_MODES(X, f32, "w", NUM_F32, F(a)) ALL_MODES(X, f64, "d", NUM_F64, G(a)) \
  ALL_MODES(X, f16, "h", NUM_F16, num_to_f64(NUM_F16, a)) \
  X(ftz_rmi, "cvt.rmi.ftz.s32.f32", "w=w", num_float_to_int(NUM_F32, flush(F(a)), 32, 1, NUM_RM)) \
  X(ftz_rzi, "cvt.rzi.ftz.u32.f32", "w=w", num_float_to_int(NUM_F32, F(a), 32, 0, NUM_RZ)) \
  X(sat_f32, "cvt.rn.sat.f32.s32", "w=w", bits_f32(clamp01((float)(int32_t)a)))
/* clang-format on */
MIXED(DEFINE)
static const op_case mixed[] = {MIXED(ROW)};
static void integers_and_floats(void **state) { op_check(mixed, sizeof mixed / sizeof mixed[0]); }

/* ---- Floats --------------------------------------------------------------------------------- */

/* From f32 and narrower; NaN is the format's own, or in f64 the operand's. */
static uint64_t to(num_fmt f, double x, num_round r, bool satfinite, bool ftz) {
  return num_from_f64(f, x, r, satfinite, ftz);
}
static double v(num_fmt f, uint64_t b) { return num_to_f64(f, b); }
/* From f64, a NaN keeps its sign and the top of its payload. */
static uint64_t from64(num_fmt f, uint64_t a, num_round r, bool ftz) {
  const uint64_t quiet = a | 0x0008000000000000;
  if (!isnan(G(a))) return to(f, G(a), r, false, ftz);
  if (f == NUM_F32) return (a >> 32 & 0x80000000) | 0x7f800000 | (quiet >> 29 & 0x7fffff);
  return (a >> 48 & 0x8000) | 0x7c00 | (quiet >> 42 & 0x3ff);
}
static uint64_t two(num_fmt f, unsigned bits, double high, double low, bool satfinite) {
  return to(f, high, NUM_RN, satfinite, false) << bits | to(f, low, NUM_RN, satfinite, false);
}
/* clang-format off */
#define INTEGRAL(X, mode, R) \
  X(i_##mode##_f32, "cvt." #mode ".f32.f32", "w=w", to(NUM_F32, num_round_integral(F(a), R), NUM_RN, 0, 0)) \
  X(i_##mode##_ftz, "cvt." #mode ".ftz.f32.f32", "w=w", to(NUM_F32, num_round_integral(flush(F(a)), \
    R), NUM_RN, 0, 0)) \
  X(i_##mode##_f64, "cvt." #mode ".f64.f64", "d=d", bits_f64(num_round_integral(G(a), R), a, 0, 0)) \
  X(i_##mode##_f16, "cvt." #mode ".f16.f16", "h=h", to(NUM_F16, num_round_integral(v(NUM_F16, a), R), \
    NUM_RN, 0, 0))
#define ROUNDED(X, mode, R) \
  X(r_##mode##_f32, "cvt." #mode ".f32.f64", "w=d", from64(NUM_F32, a, R, false)) \
  X(r_##mode##_ftz, "cvt." #mode ".ftz.f32.f64", "w=d", from64(NUM_F32, a, R, true)) \
  X(r_##mode##_f16, "cvt." #mode ".f16.f32", "h=w", to(NUM_F16, F(a), R, 0, 0)) \
  X(r_##mode##_f16d, "cvt." #mode ".f16.f64", "h=d", from64(NUM_F16, a, R, false)) \
  X(r_##mode##_sat, "cvt." #mode ".sat.f32.f64", "w=d", to(NUM_F32, num_sat(G(a)), R, 0, 0))
#define FLOATS(X) \
  INTEGRAL(X, rni, NUM_RN) INTEGRAL(X, rzi, NUM_RZ) INTEGRAL(X, rmi, NUM_RM) INTEGRAL(X, rpi, NUM_RP) \
  ROUNDED(X, rn, NUM_RN) ROUNDED(X, rz, NUM_RZ) ROUNDED(X, rm, NUM_RM) ROUNDED(X, rp, NUM_RP) \
  X(f64_f32, "cvt.f64.f32", "d=w", to(NUM_F64, F(a), NUM_RN, 0, 0)) \
  X(f64_ftz, "cvt.ftz.f64.f32", "d=w", isnan(F(a)) ? 0x7fffffffe0000000 : to(NUM_F64, flush(F(a)), \
    NUM_RN, 0, 0)) \
  X(f32_f16, "cvt.f32.f16", "w=h", to(NUM_F32, v(NUM_F16, a), NUM_RN, 0, 0)) \
  X(f32_bf16, "cvt.f32.bf16", "w=h", a << 16) \
  X(f64_f16, "cvt.f64.f16", "d=h", to(NUM_F64, v(NUM_F16, a), NUM_RN, 0, 0)) \
  X(ftz_f32, "cvt.ftz.f32.f32", "w=w", bits_f32(flush(F(a)))) \
  X(sat_f32f32, "cvt.sat.f32.f32", "w=w", bits_f32(clamp01(F(a)))) \
  X(bf_rn, "cvt.rn.bf16.f32", "h=w", to(NUM_BF16, F(a), NUM_RN, 0, 0)) \
  X(bf_rz, "cvt.rz.bf16.f32", "h=w", to(NUM_BF16, F(a), NUM_RZ, 0, 0)) \
  X(bf_relu, "cvt.rn.relu.bf16.f32", "h=w", to(NUM_BF16, num_relu(F(a)), NUM_RN, 0, 0)) \
  X(f16_relu, "cvt.rn.relu.f16.f32", "h=w", to(NUM_F16, num_relu(F(a)), NUM_RN, 0, 0)) \
  X(f16_satf, "cvt.rn.satfinite.f16.f32", "h=w", to(NUM_F16, F(a), NUM_RN, 1, 0)) \
  X(tf_rna, "cvt.rna.tf32.f32", "w=w", isnan(F(a)) ? a & 0xffffe000 : to(NUM_TF32, F(a), NUM_RNA, 0, 0)) \
  X(tf_rn, "cvt.rn.tf32.f32", "w=w", to(NUM_TF32, F(a), NUM_RN, 0, 0)) \
  X(h2, "cvt.rn.f16x2.f32", "w=ww", two(NUM_F16, 16, F(a), F(b), 0)) \
  X(bh2, "cvt.rn.bf16x2.f32", "w=ww", two(NUM_BF16, 16, F(a), F(b), 0)) \
  X(h2_relu, "cvt.rn.relu.f16x2.f32", "w=ww", two(NUM_F16, 16, num_relu(F(a)), num_relu(F(b)), 0)) \
  X(e4, "cvt.rn.satfinite.e4m3x2.f32", "h=ww", two(NUM_E4M3, 8, F(a), F(b), 1)) \
  X(e5, "cvt.rn.satfinite.e5m2x2.f32", "h=ww", two(NUM_E5M2, 8, F(a), F(b), 1)) \
  X(e4h, "cvt.rn.satfinite.e4m3x2.f16x2", "h=w", two(NUM_E4M3, 8, v(NUM_F16, a >> 16), v(NUM_F16, \
    a & 0xffff), 1)) \
  X(he4, "cvt.rn.f16x2.e4m3x2", "w=h", two(NUM_F16, 16, v(NUM_E4M3, a >> 8), v(NUM_E4M3, a & 0xff), 0)) \
  X(he5, "cvt.rn.relu.f16x2.e5m2x2", "w=h", two(NUM_F16, 16, num_relu(v(NUM_E5M2, a >> 8)), \
    num_relu(v(NUM_E5M2, a & 0xff)), 0)) \
  X(e2m3, "cvt.rn.satfinite.e2m3x2.f32", "h=ww", two(NUM_E2M3, 8, F(a), F(b), 1)) \
  X(e3m2, "cvt.rn.satfinite.e3m2x2.f32", "h=ww", two(NUM_E3M2, 8, F(a), F(b), 1)) \
  X(ue8, "cvt.rp.satfinite.ue8m0x2.f32", "h=ww", to(NUM_UE8M0, F(a), NUM_RP, 1, \
    0) << 8 | to(NUM_UE8M0, F(b), NUM_RP, 1, 0))
/* clang-format on */
FLOATS(DEFINE)
static const op_case floats[] = {FLOATS(ROW)};
static void floats_to_floats(void **state) { op_check(floats, sizeof floats / sizeof floats[0]); }

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("integers are cut, extended and clamped, whatever the registers' sizes",
                integers_to_integers),
      BEHAVIOUR("integers and floats convert with every rounding", integers_and_floats),
      BEHAVIOUR("floats convert between formats, alone and in pairs", floats_to_floats),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
