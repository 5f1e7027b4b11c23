/* Conversions between formats and integers against references of their own: tables
 * of each narrow format's values, exact integers, and the host's directed rounding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fenv.h>

#include "num_reference.h"

static const num_round all_rounds[] = {NUM_RN, NUM_RZ, NUM_RM, NUM_RP, NUM_RNA};
static const int host_rounds[] = {
    [NUM_RN] = FE_TONEAREST, [NUM_RZ] = FE_TOWARDZERO, [NUM_RM] = FE_DOWNWARD, [NUM_RP] = FE_UPWARD};

/* ---- Tables of the narrow formats ---------------------------------------- */

typedef struct narrow {
  num_fmt fmt;
  int width, man_bits, bias;
  unsigned greatest; /* code of the greatest finite value */
  unsigned shift;    /* where the code lies in the pattern */
  uint64_t nan, inf; /* patterns; inf 0: the format has none */
} narrow;

static const narrow narrows[] = {
    {NUM_F16, 16, 10, 15, 0x7bff, 0, 0x7fff, 0x7c00},
    {NUM_BF16, 16, 7, 127, 0x7f7f, 0, 0x7fff, 0x7f80},
    {NUM_TF32, 19, 10, 127, 0x3fbff, 13, 0x7fffe000, 0x7f800000},
    {NUM_E4M3, 8, 3, 7, 0x7e, 0, 0x7f, 0},
    {NUM_E5M2, 8, 2, 15, 0x7b, 0, 0x7f, 0x7c},
    {NUM_E2M3, 6, 3, 1, 0x1f, 0, 0x1f, 0},
    {NUM_E3M2, 6, 2, 3, 0x1f, 0, 0x1f, 0},
    {NUM_E2M1, 4, 1, 1, 0x7, 0, 0x7, 0},
};
enum { NARROWS = sizeof narrows / sizeof narrows[0] };

/* The value of a nonnegative finite code, and of the one that would follow the greatest. */
static double value_of(const narrow *n, unsigned code) {
  unsigned man = code & ((1u << n->man_bits) - 1), exp = code >> n->man_bits;
  double fraction = (double)man / (double)(1u << n->man_bits);
  return exp == 0 ? ldexp(fraction, 1 - n->bias) : ldexp(1 + fraction, (int)exp - n->bias);
}

/* x rounded to n by looking for its neighbours among all values. */
static uint64_t reference_pattern(const narrow *n, double x, num_round r, bool satfinite) {
  bool saturates = n->fmt == NUM_E2M3 || n->fmt == NUM_E3M2 || n->fmt == NUM_E2M1;
  uint64_t sign = signbit(x) ? UINT64_C(1) << (n->width - 1 + n->shift) : 0;
  double magnitude = fabs(x);
  unsigned low = 0, high = n->greatest + 1; /* value(low) <= magnitude < value(high), or beyond both */
  while (high - low > 1) {
    unsigned middle = (low + high) / 2;
    if (value_of(n, middle) <= magnitude)
      low = middle;
    else
      high = middle;
  }
  double below = value_of(n, low), above = value_of(n, high), half = below + (above - below) / 2;
  unsigned code = low;
  if (magnitude > below) {
    bool up = false;
    switch (r) {
    case NUM_RN: up = magnitude > half || (magnitude == half && (low & 1)); break;
    case NUM_RNA: up = magnitude >= half; break;
    case NUM_RZ: break;
    case NUM_RM: up = sign != 0; break;
    case NUM_RP: up = sign == 0; break;
    }
    code += up;
  }
  if (isinf(x)) code = n->greatest + 1;
  if (code <= n->greatest) return sign | (uint64_t)code << n->shift;
  if (satfinite || saturates) return sign | (uint64_t)n->greatest << n->shift;
  return sign | (n->inf ? n->inf : n->nan);
}

static void every_code_decodes_to_its_value(void **state) {
  for (int f = 0; f < NARROWS; f++) {
    const narrow *n = &narrows[f];
    for (unsigned code = 0; code < 1u << (n->width - 1); code++) {
      uint64_t positive = (uint64_t)code << n->shift;
      uint64_t negative = positive | UINT64_C(1) << (n->width - 1 + n->shift);
      double p = num_to_f64(n->fmt, positive), m = num_to_f64(n->fmt, negative);
      if (code <= n->greatest) {
        assert_true(p == value_of(n, code) && !signbit(p));
        assert_true(m == -p && signbit(m));
      } else if (n->inf == positive) {
        assert_true(p == INFINITY && m == -INFINITY);
      } else {
        assert_true(isnan(p) && isnan(m));
      }
    }
  }
  for (unsigned code = 0; code < 255; code++)
    assert_true(num_to_f64(NUM_UE8M0, code) == exp2((int)code - 127));
  assert_true(isnan(num_to_f64(NUM_UE8M0, 255)));
  assert_true(num_to_f64(NUM_TF32, 0x3f801fff) == 1); /* the low 13 bits do not count */
}

static void check_all_modes(const narrow *n, double x) {
  for (int i = 0; i < 5; i++)
    for (int satfinite = 0; satfinite < 2; satfinite++) {
      uint64_t want = reference_pattern(n, x, all_rounds[i], satfinite);
      uint64_t got = num_from_f64(n->fmt, x, all_rounds[i], satfinite, false);
      if (got != want) print_message("format %d mode %d x %a\n", n->fmt, all_rounds[i], x);
      assert_int_equal(got, want);
    }
}

static void values_and_ties_round_to_the_right_neighbour_in_every_mode(void **state) {
  for (int f = 0; f < NARROWS; f++) {
    const narrow *n = &narrows[f];
    unsigned step = n->width > 16 ? 7 : n->width > 8 ? 3 : 1;
    for (unsigned code = 0; code <= n->greatest; code += step) {
      double x = value_of(n, code), half = x + (value_of(n, code + 1) - x) / 2;
      double points[] = {x, half, nextafter(half, 0), nextafter(half, INFINITY)};
      for (int i = 0; i < 4; i++) check_all_modes(n, code % 2 ? points[i] : -points[i]);
    }
    double greatest = value_of(n, n->greatest), next = value_of(n, n->greatest + 1);
    double edge = greatest + (next - greatest) / 2;
    double points[] = {greatest,  edge,      nextafter(edge, 0), nextafter(edge, INFINITY),
                       next,      2 * next,  0x1p1000,           INFINITY,
                       0x1p-1074, 0x1p-1022, value_of(n, 1) / 2, nextafter(value_of(n, 1) / 2, 1)};
    for (int i = 0; i < 12; i++) {
      check_all_modes(n, points[i]);
      check_all_modes(n, -points[i]);
    }
  }
}

static void random_doubles_round_to_the_right_neighbour(void **state) {
  uint64_t seed = 11;
  for (int i = 0; i < 40000; i++) {
    double x = ref_random_f64(&seed);
    if (isnan(x)) continue;
    for (int f = 0; f < NARROWS; f++) check_all_modes(&narrows[f], x);
  }
}

static void nan_becomes_the_formats_canonical_nan(void **state) {
  static const struct {
    num_fmt fmt;
    uint64_t nan;
  } cases[] = {{NUM_F16, 0x7fff}, {NUM_BF16, 0x7fff}, {NUM_TF32, 0x7fffe000}, {NUM_F32, 0x7fffffff},
               {NUM_E4M3, 0x7f},  {NUM_E5M2, 0x7f},   {NUM_E2M3, 0x1f},       {NUM_E3M2, 0x1f},
               {NUM_E2M1, 0x7},   {NUM_UE8M0, 0xff}};
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int satfinite = 0; satfinite < 2; satfinite++) {
      assert_int_equal(num_from_f64(cases[i].fmt, NAN, NUM_RN, satfinite, false), cases[i].nan);
      assert_int_equal(num_from_f64(cases[i].fmt, -(double)NAN, NUM_RZ, satfinite, true), cases[i].nan);
    }
  /* f64 keeps the payload and quiets it, so that cvt.f64.f32 and cvt.f64.f16 do. */
  assert_int_equal(num_from_f64(NUM_F64, num_f64(0x7ff0000000000001), NUM_RN, false, false),
                   0x7ff8000000000001);
  assert_int_equal(num_from_f64(NUM_F64, num_to_f64(NUM_F32, 0x7f800001), NUM_RN, false, false),
                   0x7ff8000020000000);
  assert_int_equal(num_from_f64(NUM_F64, num_to_f64(NUM_F16, 0x7c01), NUM_RN, false, false),
                   0x7ff8040000000000);
}

static void f32_rounds_as_the_host_does_in_each_of_its_modes(void **state) {
  uint64_t seed = 12;
  for (int i = 0; i < 300000; i++) {
    double x = ref_random_f64(&seed);
    if (isnan(x)) continue;
    num_round r = (num_round)(i % 4);
    fesetround(host_rounds[r]);
    volatile double in = x;
    volatile float want = (float)in;
    fesetround(FE_TONEAREST);
    assert_int_equal(num_from_f64(NUM_F32, x, r, false, false), num_b32(want));
    assert_int_equal(num_b32(num_f64_to_f32(x, r, false)), num_b32(want));
    assert_int_equal(num_b32(num_f64_to_f32(x, r, true)), num_from_f64(NUM_F32, x, r, false, true));
    assert_int_equal(num_from_f64(NUM_F64, x, r, false, false), num_b64(x));
  }
}

static void ftz_flushes_what_is_subnormal_when_rounded_with_unbounded_exponent(void **state) {
  static const struct {
    num_fmt fmt;
    const ref_format *ref;
  } cases[] = {{NUM_F16, &ref_f16}, {NUM_BF16, &ref_bf16}, {NUM_F32, &ref_f32}};
  uint64_t seed = 13;
  for (int i = 0; i < 200000; i++) {
    unsigned f = (unsigned)i % 3;
    int least = cases[f].ref->emin;
    /* Within a few quanta of the least normal, and far below it. */
    double x =
        ldexp(1 + ldexp((double)(int64_t)ref_random(&seed), -63 - i % 55), least - (i % 7 == 0) * (i % 30));
    if (i % 2) x = -x;
    num_round r = all_rounds[(i / 6) % 4];
    double want = ref_round_ftz(ref_of(x), *cases[f].ref, r);
    uint64_t got = num_from_f64(cases[f].fmt, x, r, false, true);
    assert_int_equal(num_b64(num_to_f64(cases[f].fmt, got)), num_b64(want));
  }
  /* As an sm_90 GPU gives them. */
  assert_int_equal(num_from_f64(NUM_F32, num_f64(0x380fffffffffffff), NUM_RN, false, true), 0x00800000);
  assert_int_equal(num_from_f64(NUM_F32, num_f64(0x380fffffe0000000), NUM_RN, false, true), 0);
  assert_int_equal(num_from_f64(NUM_F32, num_f64(0x380fffffe0000000), NUM_RP, false, true), 0);
}

static void ue8m0_rounds_to_powers_of_two(void **state) {
  static const struct {
    double x;
    num_round r;
    bool satfinite;
    unsigned want;
  } cases[] = {
      {1, NUM_RZ, true, 127},          {1.5, NUM_RZ, true, 127},       {1.5, NUM_RP, true, 128},
      {-1.5, NUM_RP, true, 128},       {2, NUM_RP, true, 128},         {0, NUM_RP, true, 0},
      {0x1p-127, NUM_RP, true, 0},     {0x1.8p-127, NUM_RP, true, 1},  {0x1.8p-127, NUM_RZ, true, 0},
      {0x1p-149, NUM_RP, true, 0},     {0x1p127, NUM_RZ, false, 254},  {0x1.8p127, NUM_RZ, false, 254},
      {0x1.8p127, NUM_RP, false, 255}, {0x1.8p127, NUM_RP, true, 254}, {INFINITY, NUM_RZ, true, 254},
      {INFINITY, NUM_RZ, false, 255},  {-INFINITY, NUM_RP, true, 254},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_int_equal(num_from_f64(NUM_UE8M0, cases[i].x, cases[i].r, cases[i].satfinite, false),
                     cases[i].want);
}

/* ---- The fast paths ------------------------------------------------------ */

static void every_half_widens_fast_as_it_does_slowly(void **state) {
  for (unsigned h = 0; h < 0x10000; h++) {
    float f = num_f16_to_f32((uint16_t)h), b = num_bf16_to_f32((uint16_t)h);
    double f_want = num_to_f64(NUM_F16, h), b_want = num_to_f64(NUM_BF16, h);
    if (isnan(f_want))
      assert_int_equal(num_b32(f), 0x7fffffff);
    else
      assert_int_equal(num_b64(f), num_b64(f_want));
    assert_int_equal(num_b32(b), h << 16);
    if (!isnan(b_want)) assert_int_equal(num_b64(b), num_b64(b_want));
  }
}

static void check_fast_narrowing(uint32_t bits) {
  float x = num_f32(bits);
  if (num_f32_to_f16(x) != num_from_f64(NUM_F16, x, NUM_RN, false, false) ||
      num_f32_to_bf16(x) != num_from_f64(NUM_BF16, x, NUM_RN, false, false)) {
    print_message("f32 0x%08x\n", bits);
    fail();
  }
}

static void floats_narrow_fast_as_they_do_slowly(void **state) {
  for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += 2039) check_fast_narrowing((uint32_t)bits);
  for (unsigned h = 0; h < 0x10000; h++) { /* every value and tie of both formats, and their neighbours */
    uint32_t f = num_b32(num_f16_to_f32((uint16_t)h));
    for (int d = -1; d <= 1; d++) {
      check_fast_narrowing(f + (uint32_t)d);
      check_fast_narrowing(f + 0x1000 + (uint32_t)d);
      check_fast_narrowing((h << 16) + (uint32_t)d);
      check_fast_narrowing((h << 16) + 0x8000 + (uint32_t)d);
    }
    if (h < 0x400) { /* ties between f16 subnormals */
      uint32_t tie = num_b32(((float)h + 0.5f) * 0x1p-24f);
      for (int d = -1; d <= 1; d++) check_fast_narrowing(tie + (uint32_t)d);
    }
  }
}

/* ---- Integers ------------------------------------------------------------ */

/* Rounded by exact integer arithmetic, clamped in 128 bits. */
static uint64_t reference_to_int(double x, unsigned bits, bool is_signed, num_round r) {
  __int128 least = is_signed ? -((__int128)1 << (bits - 1)) : 0;
  __int128 greatest = ((__int128)1 << (is_signed ? bits - 1 : bits)) - 1;
  __int128 v;
  if (fabs(x) >= 0x1p100) {
    v = x > 0 ? greatest : least;
  } else {
    ref_format integers = {1200, 1199, 1 << 20}; /* a quantum of one */
    double d = ref_round(ref_of(x), integers, r);
    v = (__int128)d;
  }
  v = v < least ? least : v > greatest ? greatest : v;
  return (uint64_t)v;
}

static void floats_become_integers_rounded_and_clamped(void **state) {
  static const unsigned widths[] = {8, 16, 32, 64};
  uint64_t seed = 14;
  for (int i = 0; i < 200000; i++) {
    uint64_t r = ref_random(&seed);
    double x;
    switch (r % 4) {
    case 0: x = ref_random_f64(&seed); break;
    case 1: x = (double)(int64_t)(r >> 8) * 0x1p-2; break;
    case 2: x = ((double)(int64_t)(r >> 40) - 0x1p23) / 4; break;
    default: { /* about the limits of some width */
      double limit = exp2((int)((r >> 8) % 66) - 1);
      double beside[] = {limit, -limit, limit - 0.5, 0.5 - limit, nextafter(limit, 0), -limit - 0.5};
      x = beside[(r >> 40) % 6];
    }
    }
    if (isnan(x)) continue;
    for (int w = 0; w < 4; w++)
      for (int s = 0; s < 2; s++) {
        num_round mode = all_rounds[i % 5];
        uint64_t want = reference_to_int(x, widths[w], s, mode);
        uint64_t got = num_float_to_int(NUM_F64, x, widths[w], s, mode);
        if (got != want) print_message("%a to %c%u mode %d\n", x, s ? 's' : 'u', widths[w], mode);
        assert_int_equal(got, want);
      }
  }
}

static void nan_becomes_the_integer_that_the_isa_says(void **state) {
  static const struct {
    num_fmt src;
    unsigned bits;
    bool is_signed;
    uint64_t want;
  } cases[] = {
      {NUM_F32, 32, true, 0},
      {NUM_F32, 32, false, 0},
      {NUM_F16, 16, true, 0},
      {NUM_BF16, 8, false, 0},
      {NUM_F32, 64, true, 0x8000000000000000},
      {NUM_F32, 64, false, 0x8000000000000000},
      {NUM_F16, 64, false, 0x8000000000000000},
      {NUM_F64, 64, true, 0x8000000000000000},
      {NUM_F64, 32, true, 0xffffffff80000000},
      {NUM_F64, 32, false, 0x80000000},
      {NUM_F64, 16, true, 0xffffffffffff8000},
      {NUM_F64, 8, false, 0x80},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_int_equal(num_float_to_int(cases[i].src, NAN, cases[i].bits, cases[i].is_signed, NUM_RZ),
                     cases[i].want);
}

static void integers_become_floats_rounded_once(void **state) {
  static const struct {
    num_fmt fmt;
    const ref_format *ref;
  } cases[] = {{NUM_F16, &ref_f16}, {NUM_BF16, &ref_bf16}, {NUM_F32, &ref_f32}, {NUM_F64, &ref_f64}};
  uint64_t seed = 15;
  for (int i = 0; i < 200000; i++) {
    uint64_t r = ref_random(&seed), v = ref_random(&seed) >> r % 64;
    if (r & 1 << 8) v = -v;
    if (r & 1 << 9) v = (v & ~UINT64_C(0xff)) + (r >> 10 & 1); /* about ties */
    for (int f = 0; f < 4; f++)
      for (int s = 0; s < 2; s++) {
        num_round mode = all_rounds[i % 4];
        bool negative = s && v >> 63;
        ref_exact exact = {negative, false, negative ? -v : v, 0};
        double want = ref_round(exact, *cases[f].ref, mode);
        uint64_t got = num_int_to_float(cases[f].fmt, v, s, mode);
        assert_int_equal(num_b64(num_to_f64(cases[f].fmt, got)), num_b64(want));
      }
  }
  assert_int_equal(num_int_to_float(NUM_F16, 65520, false, NUM_RN), 0x7c00);
  assert_int_equal(num_int_to_float(NUM_F16, 65520, false, NUM_RZ), 0x7bff);
  assert_int_equal(num_int_to_float(NUM_F32, 0, true, NUM_RM), 0);
}

static void floats_round_to_integral_floats(void **state) {
  uint64_t seed = 16;
  for (int i = 0; i < 200000; i++) {
    double x = i % 2 ? ref_random_f64(&seed) : (double)((int64_t)ref_random(&seed) >> 40) / 4;
    num_round mode = all_rounds[i % 5];
    double got = num_round_integral(x, mode);
    if (isnan(x)) {
      assert_true(isnan(got));
      continue;
    }
    ref_format integers = {1200, 1199, 1 << 20};
    double want = fabs(x) >= 0x1p53 ? x : ref_round(ref_of(x), integers, mode);
    assert_int_equal(num_b64(got), num_b64(want));
  }
}

static void sat_and_relu_clamp_before_as_after_rounding(void **state) {
  uint64_t seed = 17;
  for (int i = 0; i < 100000; i++) {
    double x = ref_random_f64(&seed);
    num_round r = all_rounds[i % 4];
    double after = num_to_f64(NUM_F16, num_from_f64(NUM_F16, x, r, false, false));
    uint64_t sat = num_from_f64(NUM_F16, num_sat(x), r, false, false);
    uint64_t relu = num_from_f64(NUM_F16, num_relu(x), r, false, false);
    double sat_want = isnan(after) || after <= 0 ? 0 : after >= 1 ? 1 : after;
    assert_int_equal(num_b64(num_to_f64(NUM_F16, sat)), num_b64(sat_want));
    if (isnan(x))
      assert_int_equal(relu, 0x7fff);
    else
      assert_int_equal(num_b64(num_to_f64(NUM_F16, relu)), num_b64(after <= 0 ? 0 : after));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_code_decodes_to_its_value),
      cmocka_unit_test(values_and_ties_round_to_the_right_neighbour_in_every_mode),
      cmocka_unit_test(random_doubles_round_to_the_right_neighbour),
      cmocka_unit_test(nan_becomes_the_formats_canonical_nan),
      cmocka_unit_test(f32_rounds_as_the_host_does_in_each_of_its_modes),
      cmocka_unit_test(ftz_flushes_what_is_subnormal_when_rounded_with_unbounded_exponent),
      cmocka_unit_test(ue8m0_rounds_to_powers_of_two),
      cmocka_unit_test(every_half_widens_fast_as_it_does_slowly),
      cmocka_unit_test(floats_narrow_fast_as_they_do_slowly),
      cmocka_unit_test(floats_become_integers_rounded_and_clamped),
      cmocka_unit_test(nan_becomes_the_integer_that_the_isa_says),
      cmocka_unit_test(integers_become_floats_rounded_once),
      cmocka_unit_test(floats_round_to_integral_floats),
      cmocka_unit_test(sat_and_relu_clamp_before_as_after_rounding),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
