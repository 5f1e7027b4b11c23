/* Approximate instructions: the PTX ISA's tables of special cases, and its error
 * bounds judged by long double functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "num_reference.h"

static const float nan_f = NAN, inf = INFINITY;
static const float subnormal = 0x1p-140f;

static void check_f32(num_approx op, float a, float b, bool ftz, float want) {
  uint32_t got = num_b32(num_approx_f32(op, a, b, ftz));
  uint32_t bits = isnan(want) ? 0x7fffffff : num_b32(want);
  if (got != bits) print_message("op %d a %a b %a ftz %d: %08x, want %08x\n", op, a, b, ftz, got, bits);
  assert_int_equal(got, bits);
}

static void special_cases_follow_the_isas_tables(void **state) {
  const struct {
    num_approx op;
    float a, want;
  } cases[] = {
      {NUM_RCP, -inf, -0.0f},
      {NUM_RCP, -0.0f, -inf},
      {NUM_RCP, 0.0f, inf},
      {NUM_RCP, inf, 0.0f},
      {NUM_RCP, nan_f, nan_f},
      {NUM_SQRT, -inf, nan_f},
      {NUM_SQRT, -1, nan_f},
      {NUM_SQRT, -0.0f, -0.0f},
      {NUM_SQRT, 0, 0},
      {NUM_SQRT, inf, inf},
      {NUM_SQRT, nan_f, nan_f},
      {NUM_RSQRT, -inf, nan_f},
      {NUM_RSQRT, -1, nan_f},
      {NUM_RSQRT, -0.0f, -inf},
      {NUM_RSQRT, 0, inf},
      {NUM_RSQRT, inf, 0},
      {NUM_SIN, -inf, nan_f},
      {NUM_SIN, -0.0f, -0.0f},
      {NUM_SIN, 0, 0},
      {NUM_SIN, inf, nan_f},
      {NUM_COS, -inf, nan_f},
      {NUM_COS, -0.0f, 1},
      {NUM_COS, 0, 1},
      {NUM_COS, inf, nan_f},
      {NUM_LG2, -inf, nan_f},
      {NUM_LG2, -1, nan_f},
      {NUM_LG2, -0.0f, -inf},
      {NUM_LG2, 0, -inf},
      {NUM_LG2, inf, inf},
      {NUM_LG2, nan_f, nan_f},
      {NUM_LG2, 8, 3},
      {NUM_EX2, -inf, 0},
      {NUM_EX2, -0.0f, 1},
      {NUM_EX2, 0, 1},
      {NUM_EX2, inf, inf},
      {NUM_EX2, nan_f, nan_f},
      {NUM_EX2, -3, 0.125f},
      {NUM_TANH, -inf, -1},
      {NUM_TANH, -0.0f, -0.0f},
      {NUM_TANH, 0, 0},
      {NUM_TANH, inf, 1},
      {NUM_TANH, nan_f, nan_f},
      {NUM_TANH, subnormal, subnormal},
      {NUM_EX2, 128, inf},
      {NUM_EX2, -200, 0},
      {NUM_RSQRT_FTZ, 1, nan_f},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_f32(cases[i].op, cases[i].a, 0, false, cases[i].want);
    if (cases[i].a != subnormal) check_f32(cases[i].op, cases[i].a, 0, true, cases[i].want);
  }
}

static void ftz_flushes_inputs_and_results(void **state) {
  check_f32(NUM_RCP, -subnormal, 0, true, -inf);
  check_f32(NUM_RCP, 0x1p127f, 0, true, 0);
  check_f32(NUM_RCP, 0x1p127f, 0, false, 0x1p-127f);
  check_f32(NUM_SQRT, -subnormal, 0, true, -0.0f);
  check_f32(NUM_SQRT, -subnormal, 0, false, nan_f);
  check_f32(NUM_RSQRT, subnormal, 0, true, inf);
  check_f32(NUM_RSQRT, subnormal, 0, false, 0x1p70f);
  check_f32(NUM_SIN, -subnormal, 0, true, -0.0f);
  check_f32(NUM_LG2, subnormal, 0, true, -inf);
  check_f32(NUM_LG2, subnormal, 0, false, -140);
  check_f32(NUM_EX2, -130, 0, true, 0);
  check_f32(NUM_EX2, -130, 0, false, 0x1p-130f);
  check_f32(NUM_EX2, subnormal, 0, true, 1);
  check_f32(NUM_DIV, 0x1p-100f, 0x1p30f, true, 0);
  check_f32(NUM_DIVFULL, -0x1p-100f, 0x1p30f, true, -0.0f);
  check_f32(NUM_DIVFULL, 1, subnormal, true, inf);
}

static void div_approx_loses_divisors_above_2_to_the_126(void **state) {
  float big = nextafterf(0x1p126f, inf);
  check_f32(NUM_DIV, 0x1p127f, big, false, 0);
  check_f32(NUM_DIV, 0x1p127f, -big, false, -0.0f);
  check_f32(NUM_DIV, inf, big, false, nan_f);
  check_f32(NUM_DIV, 0x1p127f, 0x1p126f, false, 2);
  check_f32(NUM_DIV, 1, inf, false, 0);
  check_f32(NUM_DIV, 1, -0.0f, false, -inf);
  check_f32(NUM_DIV, 0, 0, false, nan_f);
  check_f32(NUM_DIVFULL, inf, big, false, inf);
  check_f32(NUM_DIVFULL, 0x1p127f, 0x1p127f, false, 1);
}

static long double reference(num_approx op, long double a, long double b) {
  switch (op) {
  case NUM_RCP: return 1 / a;
  case NUM_RSQRT: return 1 / sqrtl(a);
  case NUM_SQRT: return sqrtl(a);
  case NUM_SIN: return sinl(a);
  case NUM_COS: return cosl(a);
  case NUM_LG2: return log2l(a);
  case NUM_EX2: return exp2l(a);
  case NUM_TANH: return tanhl(a);
  default: return a / b;
  }
}

/* Nothing is allowed that the tightest of the ISA's bounds would not allow: half a unit in
 * the last place, and a little for the double in between. */
static void results_are_within_a_rounding_of_the_exact_ones(void **state) {
  static const num_approx ops[] = {NUM_RCP, NUM_RSQRT, NUM_SQRT, NUM_SIN, NUM_COS,
                                   NUM_LG2, NUM_EX2,   NUM_TANH, NUM_DIV, NUM_DIVFULL};
  uint64_t seed = 41;
  for (int i = 0; i < 300000; i++) {
    num_approx op = ops[i % 10];
    float a = ref_random_f32(&seed), b = ref_random_f32(&seed);
    if (op == NUM_RSQRT || op == NUM_SQRT || op == NUM_LG2) a = fabsf(a);
    if (!isfinite(a) || !isfinite(b) || a == 0 || b == 0) continue;
    if (op == NUM_EX2) a = ldexpf(a, i / 10 % 8 - ilogbf(a)); /* up to 2^8 */
    if (op == NUM_DIV && (fabsf(b) > 0x1p126f || fabsf(b) < 0x1p-126f)) continue;
    if ((op == NUM_SIN || op == NUM_COS) && fabsf(a) > 1e6f) continue;
    long double exact = reference(op, a, b);
    float got = num_approx_f32(op, a, b, false);
    if (isinf(got)) {
      assert_true(fabsl(exact) >= 0x1.fffffefp127L);
      continue;
    }
    float ulp = nextafterf(fabsf(got), inf) - fabsf(got);
    if (isinf(ulp)) ulp = 0x1p104f;
    if (fabsl(got - exact) > 0.500001L * ulp) print_message("op %d %a %a: %a\n", op, a, b, got);
    assert_true(fabsl(got - exact) <= 0.500001L * ulp);
  }
}

static void halves_are_within_a_rounding_of_the_exact_ones(void **state) {
  static const struct {
    num_approx op;
    num_fmt fmt;
    bool ftz;
    const ref_format *ref;
  } cases[] = {{NUM_EX2, NUM_F16, false, &ref_f16},
               {NUM_TANH, NUM_F16, false, &ref_f16},
               {NUM_EX2, NUM_BF16, true, &ref_bf16},
               {NUM_TANH, NUM_BF16, false, &ref_bf16}};
  for (unsigned i = 0; i < 4; i++)
    for (unsigned h = 0; h < 0x10000; h++) {
      double a = num_to_f64(cases[i].fmt, h);
      uint16_t bits = num_approx_16(cases[i].op, cases[i].fmt, (uint16_t)h, cases[i].ftz);
      double got = num_to_f64(cases[i].fmt, bits);
      if (isnan(a)) {
        assert_int_equal(bits, 0x7fff);
        continue;
      }
      double exact = (double)reference(cases[i].op, a, 1);
      if (cases[i].ftz && fabs(exact) < 0x1p-126) exact = 0;
      double want = isinf(exact) || exact == 0 ? exact : ref_round(ref_of(exact), *cases[i].ref, NUM_RN);
      assert_int_equal(num_b64(got), num_b64(want));
    }
}

static void f64_forms_follow_the_isas_tables(void **state) {
  const uint64_t nan = 0x7fffffff00000000;
  const struct {
    num_approx op;
    uint64_t a, want;
  } cases[] = {
      {NUM_RCP, 0xfff0000000000000, 0x8000000000000000}, /* -Inf */
      {NUM_RCP, 0x800fffffffffffff, 0xfff0000000000000}, /* -subnormal */
      {NUM_RCP, 0x8000000000000000, 0xfff0000000000000},
      {NUM_RCP, 0x0000000000000000, 0x7ff0000000000000},
      {NUM_RCP, 0x0000000000000001, 0x7ff0000000000000},
      {NUM_RCP, 0x7ff0000000000000, 0x0000000000000000},
      {NUM_RCP, 0x7ff8000000000000, nan},
      {NUM_RCP, 0x7ff0000000000001, 0x0000000000000000}, /* only the upper word is seen: +Inf */
      {NUM_RCP, 0x7fe0000000000000, 0x0000000000000000}, /* the result is subnormal */
      {NUM_RCP, 0x40000000ffffffff, 0x3fe0000000000000},
      {NUM_RSQRT_FTZ, 0xfff0000000000000, nan},
      {NUM_RSQRT_FTZ, 0xbff0000000000000, nan},
      {NUM_RSQRT_FTZ, 0x800fffffffffffff, 0xfff0000000000000},
      {NUM_RSQRT_FTZ, 0x8000000000000000, 0xfff0000000000000},
      {NUM_RSQRT_FTZ, 0x0000000000000000, 0x7ff0000000000000},
      {NUM_RSQRT_FTZ, 0x000fffffffffffff, 0x7ff0000000000000},
      {NUM_RSQRT_FTZ, 0x7ff0000000000000, 0x0000000000000000},
      {NUM_RSQRT_FTZ, 0xfff8000000000000, nan},
      {NUM_RSQRT_FTZ, 0x4010000000000000, 0x3fe0000000000000},
      {NUM_RSQRT, 0xfff0000000000000, 0xfff8000000000000},
      {NUM_RSQRT, 0x8000000000000000, 0xfff0000000000000},
      {NUM_RSQRT, 0x0000000000000000, 0x7ff0000000000000},
      {NUM_RSQRT, 0x7ff0000000000000, 0x0000000000000000},
      {NUM_RSQRT, 0x7ff0000000000001, 0x7ff8000000000001},
      {NUM_RSQRT, 0x4010000000000000, 0x3fe0000000000000},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_int_equal(num_b64(num_approx_f64(cases[i].op, num_f64(cases[i].a))), cases[i].want);

  uint64_t seed = 42;
  for (int i = 0; i < 100000; i++) {
    double a = fabs(ref_random_f64(&seed));
    if (!(a > 0x1p-1000 && a < 0x1p1000)) continue;
    double rcp = num_approx_f64(NUM_RCP, a), rsqrt = num_approx_f64(NUM_RSQRT_FTZ, a);
    assert_int_equal((uint32_t)num_b64(rcp) | (uint32_t)num_b64(rsqrt), 0);
    assert_true(fabs(rcp * a - 1) < 0x1p-18 && fabs(rsqrt * rsqrt * a - 1) < 0x1p-17);
    double full = num_approx_f64(NUM_RSQRT, a);
    assert_true(fabsl((long double)full * full * a - 1) < 0x1p-50L);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(special_cases_follow_the_isas_tables),
      cmocka_unit_test(ftz_flushes_inputs_and_results),
      cmocka_unit_test(div_approx_loses_divisors_above_2_to_the_126),
      cmocka_unit_test(results_are_within_a_rounding_of_the_exact_ones),
      cmocka_unit_test(halves_are_within_a_rounding_of_the_exact_ones),
      cmocka_unit_test(f64_forms_follow_the_isas_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
