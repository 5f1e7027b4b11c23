/* Sums of f32 and halves, in every rounding, and minima and maxima of three, against the host's arithmetic.
 */
#include "emu/ops_warp.h"

#include <fenv.h>

/* ---- Sums ------------------------------------------------------------------------------- */

static float half_of(uint64_t h) {
  const uint32_t field = h >> 10 & 31, mantissa = h & 1023;
  const float size = field == 31  ? (mantissa ? NAN : INFINITY)
                     : field == 0 ? ldexpf((float)mantissa, -24)
                                  : ldexpf((float)(1024 + mantissa), (int)field - 25);
  return h & 0x8000 ? -size : size;
}
static float brain_of(uint64_t h) { return f32_of(h << 16); }

/* The host's fused operation under the host's mode. */
static uint64_t fused(volatile float a, volatile float b, volatile float c, int mode, bool sat) {
  fesetround(mode);
  volatile float d = fmaf(a, b, c);
  fesetround(FE_TONEAREST);
  return bits_f32(sat ? clamp01(d) : d);
}

/* clang-format off */
#define SUMS(X, mode, word, host, type, value) \
  X(add_##mode##_##type, "add" word ".f32." #type, "w=hw", fused(value(a), 1, f32_of(b), host, false)) \
  X(sub_##mode##_##type, "sub" word ".f32." #type, "w=hw", fused(value(a), 1, -f32_of(b), host, false)) \
  X(add_##mode##_sat_##type, "add" word ".sat.f32." #type, "w=hw", fused(value(a), 1, f32_of(b), host, true)) \
  X(sub_##mode##_sat_##type, "sub" word ".sat.f32." #type, "w=hw", fused(value(a), 1, -f32_of(b), host, true))
#define FUSED(X, mode, word, host, type, value) SUMS(X, mode, word, host, type, value) \
  X(fma_##mode##_##type, "fma" word ".f32." #type, "w=hhw", fused(value(a), value(b), f32_of(c), host, false)) \
  X(fma_##mode##_sat_##type, "fma" word ".sat.f32." #type, "w=hhw", fused(value(a), value(b), f32_of(c), host, true))
#define MIXED(X, type, value) \
  SUMS(X, none, "", FE_TONEAREST, type, value) FUSED(X, rn, ".rn", FE_TONEAREST, type, value) \
  FUSED(X, rz, ".rz", FE_TOWARDZERO, type, value) FUSED(X, rm, ".rm", FE_DOWNWARD, type, value) \
  FUSED(X, rp, ".rp", FE_UPWARD, type, value)
#define ROWS_MIXED(X) MIXED(X, f16, half_of) MIXED(X, bf16, brain_of)
/* clang-format on */
#define DEFINE(id, name, shape, expr) WANT(want_##id, expr)
#define ROW(id, name, shape, expr) {name, shape, want_##id, NULL},
ROWS_MIXED(DEFINE)
static const op_case mixed[] = {ROWS_MIXED(ROW)};
static void halves_are_added_to_f32(void **state) { op_check(mixed, sizeof mixed / sizeof *mixed); }

/* ---- Three operands -------------------------------------------------------------------------- */

enum { MAX = 1, FTZ = 2, ANY_NAN = 4, MAGNITUDE = 8 };

/* By sorting: -0 before +0. */
static uint64_t extreme(uint64_t a, uint64_t b, uint64_t c, unsigned how) {
  const uint64_t operands[3] = {a, b, c};
  float sorted[3];
  unsigned n = 0;
  for (unsigned k = 0; k < 3; k++) {
    float x = f32_of(operands[k]);
    if (how & FTZ) x = flush(x);
    if (how & MAGNITUDE) x = fabsf(x);
    if (isnan(x) && how & ANY_NAN) return 0x7fffffff;
    if (isnan(x)) continue;
    unsigned at = n++;
    for (; at > 0 && (sorted[at - 1] > x || (sorted[at - 1] == x && signbit(x) && !signbit(sorted[at - 1])));
         at--)
      sorted[at] = sorted[at - 1];
    sorted[at] = x;
  }
  return n ? bits_f32(sorted[how & MAX ? n - 1 : 0]) : 0x7fffffff;
}

/* clang-format off */
#define EXTREMES(X, op, how) \
  X(op, #op ".f32", "w=www", extreme(a, b, c, how)) \
  X(op##_ftz, #op ".ftz.f32", "w=www", extreme(a, b, c, (how) | FTZ)) \
  X(op##_nan, #op ".NaN.f32", "w=www", extreme(a, b, c, (how) | ANY_NAN)) \
  X(op##_ftz_nan, #op ".ftz.NaN.f32", "w=www", extreme(a, b, c, (how) | FTZ | ANY_NAN)) \
  X(op##_abs, #op ".abs.f32", "w=www", extreme(a, b, c, (how) | MAGNITUDE)) \
  X(op##_ftz_abs, #op ".ftz.abs.f32", "w=www", extreme(a, b, c, (how) | MAGNITUDE | FTZ)) \
  X(op##_nan_abs, #op ".NaN.abs.f32", "w=www", extreme(a, b, c, (how) | MAGNITUDE | ANY_NAN)) \
  X(op##_ftz_nan_abs, #op ".ftz.NaN.abs.f32", "w=www", extreme(a, b, c, (how) | MAGNITUDE | FTZ | ANY_NAN))
#define ROWS_EXTREME(X) EXTREMES(X, min, 0) EXTREMES(X, max, MAX)
/* clang-format on */
ROWS_EXTREME(DEFINE)
static const op_case extremes[] = {ROWS_EXTREME(ROW)};
static void the_least_and_greatest_of_three(void **state) {
  op_check(extremes, sizeof extremes / sizeof *extremes);
}

/* ---- What ptxas refuses --------------------------------------------------------------------------- */

static void what_ptxas_refuses_is_refused(void **state) {
  static const char *const lines[] = {
      "add.ftz.f32.f16 %f1, %h1, %f2",
      "mul.f32.f16 %f1, %h1, %h2",
      "fma.f32.f16 %f1, %h1, %h2, %f2",
      "add.f32 %f1, %f2, %f3, %f4",
      "max.xorsign.abs.f32 %f1, %f2, %f3, %f4",
      "max.abs.f32 %f1, %f2, %f3",
      "max.f16 %h1, %h2, %h3, %h4",
      "cvt.rs.f16.f32 %h1, %f1, %w1",
      "cvt.rs.e4m3x4.f32 %w1, {%f1, %f2, %f3, %f4}, %w2",
      "cvt.rs.satfinite.e4m3x2.f32 %h1, %f1, %f2, %w2",
  };
  for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
    hd_diag d = {0};
    char body[256];
    snprintf(body, sizeof body, "%s;", lines[k]);
    if (op_supported("", body, &d) != HD_ERR_UNSUPPORTED) fail_msg("not refused: %s", lines[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("halves are added to f32, rounded once", halves_are_added_to_f32),
      BEHAVIOUR("the least and the greatest of three", the_least_and_greatest_of_three),
      BEHAVIOUR("what ptxas refuses is refused", what_ptxas_refuses_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
