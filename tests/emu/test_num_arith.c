/* Arithmetic in every rounding mode against exact 128-bit results rounded once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fenv.h>

#include "num_reference.h"

static const num_round directed[] = {NUM_RN, NUM_RZ, NUM_RM, NUM_RP};

/* ---- The reference ------------------------------------------------------- */

/* NaN, or an infinity, as IEEE 754 defines it: true when the operands call for it. */
static bool special_result(char op, double a, double b, double c, double *d) {
  bool unary = op == 's' || op == 'r', ternary = op == 'f';
  if (isnan(a) || (!unary && isnan(b)) || (ternary && isnan(c))) {
    *d = NAN;
    return true;
  }
  bool finite = isfinite(a) && (unary || isfinite(b)) && (!ternary || isfinite(c));
  bool zero_divisor = (op == '/' && b == 0) || (op == 'r' && a == 0);
  bool negative_root = op == 's' && a < 0;
  if (finite && !zero_divisor && !negative_root) return false;
  switch (op) { /* exact: the host's result does in any mode */
  case '+': *d = a + b; break;
  case '-': *d = a - b; break;
  case '*': *d = a * b; break;
  case '/': *d = a / b; break;
  case 'r': *d = 1 / a; break;
  case 's': *d = sqrt(a); break;
  case 'f': *d = !isfinite(a) || !isfinite(b) ? a * b + c : c; break;
  default: fail_msg("no operation '%c'", op);
  }
  return true;
}

static ref_exact exact_result(char op, double a, double b, double c, num_round r) {
  ref_exact x = ref_of(a);
  if (op == 'r') return ref_divide(ref_of(1), x);
  if (op == 's') return x.mag ? ref_root(x) : x;
  ref_exact y = ref_of(op == '-' ? -b : b);
  switch (op) {
  case '*': return ref_multiply(x, y);
  case '/': return ref_divide(x, y);
  case 'f': return ref_add(ref_multiply(x, y), ref_of(c), r);
  }
  return ref_add(x, y, r);
}

static double reference(char op, double a, double b, double c, ref_format f, num_round r, bool ftz) {
  double d = NAN;
  if (special_result(op, a, b, c, &d)) return d;
  ref_exact exact = exact_result(op, a, b, c, r);
  return ftz ? ref_round_ftz(exact, f, r) : ref_round(exact, f, r);
}

static double saturate(double x) { return isnan(x) || x <= 0 ? 0 : x >= 1 ? 1 : x; }

/* ---- f32 ----------------------------------------------------------------- */

static void f32_results_are_rounded_once_in_every_mode(void **state) {
  static const char ops[] = "+-*/fsr";
  uint64_t seed = 21;
  for (int i = 0; i < 600000; i++) {
    float a = ref_random_f32(&seed), b = ref_random_f32(&seed), c = ref_random_f32(&seed);
    uint64_t choice = ref_random(&seed);
    char op = ops[choice % 7];
    if (choice >> 20 & 1) c = -a * b; /* cancellation */
    if (choice >> 21 & 1) c = nextafterf(c, 0);
    num_round r = directed[choice >> 8 & 3];
    bool ftz = choice >> 16 & 1, sat = choice >> 17 & 1;
    float fa = ftz ? num_ftz(a) : a, fb = ftz ? num_ftz(b) : b, fc = ftz ? num_ftz(c) : c;
    double want = reference(op, fa, fb, fc, ref_f32, r, ftz);
    if (sat) want = saturate(want);
    uint32_t want_bits = isnan(want) ? 0x7fffffff : num_b32((float)want);
    uint32_t got = num_b32(num_arith_f32(op, a, b, c, r, ftz, sat));
    if (got != want_bits)
      print_message("%c %a %a %a mode %d ftz %d sat %d: %08x, want %08x\n", op, a, b, c, r, ftz, sat, got,
                    want_bits);
    assert_int_equal(got, want_bits);
  }
}

static void f32_ftz_follows_what_gpus_do_at_the_least_normal(void **state) {
  /* Operands and results of an sm_90 GPU. */
  static const struct {
    char op;
    uint32_t a, b, c;
    num_round r;
    uint32_t d;
  } cases[] = {
      {'*', 0x00800000, 0x3f7fffff, 0, NUM_RN, 0},
      {'*', 0x00ffffff, 0x3f000000, 0, NUM_RN, 0},
      {'*', 0x3f7fffff, 0x80800000, 0, NUM_RM, 0x80000000},
      {'*', 0x00800000, 0x3f7fffff, 0, NUM_RP, 0},
      {'f', 0xb3d3011d, 0x00e5c625, 0x00800001, NUM_RN, 0},
      {'f', 0x1fbfa9d4, 0x0f3f1be9, 0x80800000, NUM_RN, 0x80800000},
      {'f', 0x88cee64c, 0x892a61d3, 0x80800000, NUM_RM, 0x80800000},
      {'f', 0x12a0b27c, 0x8fe4dee7, 0x00800000, NUM_RP, 0x00800000},
      {'/', 0x3f7fffff, 0x7e800000, 0, NUM_RN, 0},
      {'/', 0xbf800000, 0x7e800001, 0, NUM_RM, 0x80000000},
      {'r', 0x7e800001, 0, 0, NUM_RP, 0},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    float a = num_f32(cases[i].a), b = num_f32(cases[i].b), c = num_f32(cases[i].c);
    assert_int_equal(num_b32(num_arith_f32(cases[i].op, a, b, c, cases[i].r, true, false)), cases[i].d);
  }
}

static void an_exact_zero_sum_is_negative_in_rm_only(void **state) {
  for (int i = 0; i < 4; i++) {
    num_round r = directed[i];
    uint32_t want = r == NUM_RM ? 0x80000000 : 0;
    assert_int_equal(num_b32(num_arith_f32('+', 1.5f, -1.5f, 0, r, false, false)), want);
    assert_int_equal(num_b32(num_arith_f32('-', 0, 0, 0, r, false, false)), want);
    assert_int_equal(num_b32(num_arith_f32('f', 2, 3, -6, r, false, false)), want);
    assert_int_equal(num_b64(num_arith_f64('+', 1.5, -1.5, 0, r)), (uint64_t)want << 32);
    assert_int_equal(num_b32(num_arith_f32('+', -0.0f, -0.0f, 0, r, false, false)), 0x80000000);
  }
}

/* ---- f64 ----------------------------------------------------------------- */

static void f64_results_are_rounded_once_in_every_mode(void **state) {
  static const char ops[] = "+-*/fsr";
  uint64_t seed = 22;
  for (int i = 0; i < 300000; i++) {
    double a = ref_random_f64(&seed), b = ref_random_f64(&seed), c = ref_random_f64(&seed);
    uint64_t choice = ref_random(&seed);
    char op = ops[choice % 7];
    if (choice >> 20 & 1) c = -a * b;
    if (choice >> 21 & 1) c = nextafter(c, 0);
    num_round r = directed[choice >> 8 & 3];
    double want = reference(op, a, b, c, ref_f64, r, false);
    double got = num_arith_f64(op, a, b, c, r);
    if (isnan(want)) {
      assert_true(isnan(got));
      continue;
    }
    if (num_b64(got) != num_b64(want))
      print_message("%c %a %a %a mode %d: %a, want %a\n", op, a, b, c, r, got, want);
    assert_int_equal(num_b64(got), num_b64(want));
  }
}

static void the_hosts_rounding_mode_is_left_as_it_was(void **state) {
  for (int i = 0; i < 4; i++) {
    num_arith_f64('/', 1, 3, 0, directed[i]);
    assert_int_equal(fegetround(), FE_TONEAREST);
  }
}

static void f64_nan_results_hand_on_a_payload_as_gpus_do(void **state) {
  const uint64_t x = 0x7ff0000000000011, y = 0xfff8000000000022, z = 0x7ff8000000000033,
                 quiet = 0x0008000000000000;
  const double a = num_f64(x), b = num_f64(y), c = num_f64(z);
  for (int i = 0; i < 4; i++) {
    num_round r = directed[i];
    assert_int_equal(num_b64(num_arith_f64('+', a, 1, 0, r)), x | quiet);
    assert_int_equal(num_b64(num_arith_f64('+', a, b, 0, r)), y);
    assert_int_equal(num_b64(num_arith_f64('-', 1, b, 0, r)), y);
    assert_int_equal(num_b64(num_arith_f64('*', a, b, 0, r)), y);
    assert_int_equal(num_b64(num_arith_f64('f', a, b, c, r)), y);
    assert_int_equal(num_b64(num_arith_f64('f', a, 1, c, r)), z);
    assert_int_equal(num_b64(num_arith_f64('/', a, b, 0, r)), x | quiet);
    assert_int_equal(num_b64(num_arith_f64('s', a, b, 0, r)), x | quiet);
    assert_int_equal(num_b64(num_arith_f64('-', INFINITY, INFINITY, 0, r)), 0xfff8000000000000);
    assert_int_equal(num_b64(num_arith_f64('s', -1, b, 0, r)), 0xfff8000000000000);
    assert_int_equal(num_b64(num_arith_f64('*', INFINITY, 0, c, r)), 0xfff8000000000000);
  }
}

/* ---- f16 and bf16 -------------------------------------------------------- */

static uint16_t random_16(uint64_t *seed, num_fmt fmt) {
  static const uint16_t special[] = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x8400, 0x401,  0x7bff,
                                     0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0x7fff, 0xffff, 0x3c00, 0xbc00,
                                     0x7f80, 0xff80, 0x7f7f, 0x7fc0, 0x80,   0x8080, 0x7f,   0x81,   0x3f80};
  uint64_t r = ref_random(seed);
  switch (r >> 60 & 3) {
  case 0: return special[r % (sizeof special / sizeof special[0])];
  case 1: return (uint16_t)r;
  default: /* exponents near each other */
    return fmt == NUM_F16 ? (uint16_t)((r & 0x83ff) | (12 + (r >> 32) % 6) << 10)
                          : (uint16_t)((r & 0x807f) | (118 + (r >> 32) % 18) << 7);
  }
}

static void half_results_are_rounded_once(void **state) {
  static const char ops[] = "+-*f";
  uint64_t seed = 23;
  for (int i = 0; i < 800000; i++) {
    num_fmt fmt = i % 2 ? NUM_F16 : NUM_BF16;
    ref_format f = i % 2 ? ref_f16 : ref_bf16;
    uint16_t a = random_16(&seed, fmt), b = random_16(&seed, fmt), c = random_16(&seed, fmt);
    uint64_t choice = ref_random(&seed);
    char op = ops[choice & 3];
    bool ftz = choice >> 8 & 1, sat = choice >> 9 & 1, relu = op == 'f' && !sat && (choice >> 10 & 1);
    double x[3] = {num_to_f64(fmt, a), num_to_f64(fmt, b), num_to_f64(fmt, c)};
    if (choice >> 11 & 1 && op == 'f') { /* cancel: c about -a*b */
      c = (uint16_t)(num_from_f64(fmt, -x[0] * x[1], NUM_RN, false, false) + (choice >> 12 & 1));
      x[2] = num_to_f64(fmt, c);
    }
    for (int j = 0; ftz && j < 3; j++)
      if (fabs(x[j]) < ldexp(1, f.emin)) x[j] = copysign(0, x[j]);
    double want = reference(op, x[0], x[1], x[2], f, NUM_RN, ftz);
    if (sat) want = saturate(want);
    if (relu && want <= 0) want = 0;
    uint16_t got = num_arith_16(fmt, relu ? 'x' : op, a, b, c, ftz, sat, false);
    if (isnan(want)) {
      assert_int_equal(got, 0x7fff);
      continue;
    }
    if (num_to_f64(fmt, got) != want)
      print_message("%c fmt %d %04x %04x %04x ftz %d\n", op, fmt, a, b, c, ftz);
    assert_int_equal(num_b64(num_to_f64(fmt, got)), num_b64(want));
  }
}

static void neg_and_abs_change_the_sign_of_all_but_nan(void **state) {
  for (unsigned h = 0; h < 0x10000; h++)
    for (int f = 0; f < 2; f++) {
      num_fmt fmt = f ? NUM_BF16 : NUM_F16;
      bool nan = isnan(num_to_f64(fmt, h));
      assert_int_equal(num_arith_16(fmt, 'n', (uint16_t)h, 0, 0, false, false, false),
                       nan ? 0x7fff : h ^ 0x8000);
      assert_int_equal(num_arith_16(fmt, 'a', (uint16_t)h, 0, 0, false, false, false),
                       nan ? 0x7fff : h & 0x7fff);
    }
  assert_int_equal(num_arith_16(NUM_F16, 'n', 0x0001, 0, 0, true, false, false), 0x8000);
}

/* ---- min and max --------------------------------------------------------- */

/* The PTX ISA's own definition, on doubles. */
static double reference_min(double a, double b, bool max, bool nan) {
  if (isnan(a) && isnan(b)) return NAN;
  if (isnan(a)) return nan ? NAN : b;
  if (isnan(b)) return nan ? NAN : a;
  if (a == 0 && b == 0) return max ? (signbit(a) ? b : a) : (signbit(a) ? a : b); /* -0.0 < +0.0 */
  return max ? (a > b ? a : b) : (a < b ? a : b);
}

static void min_and_max_order_zeros_and_drop_nan(void **state) {
  uint64_t seed = 24;
  for (int i = 0; i < 400000; i++) {
    uint64_t choice = ref_random(&seed);
    bool max = choice & 1, ftz = choice & 2, nan = choice & 4, xorsign = choice & 8;
    float a = ref_random_f32(&seed), b = ref_random_f32(&seed);
    float x = ftz ? num_ftz(a) : a, y = ftz ? num_ftz(b) : b;
    double want = reference_min(xorsign ? fabsf(x) : x, xorsign ? fabsf(y) : y, max, nan);
    if (xorsign && !isnan(want)) want = copysign(want, signbit(x) != signbit(y) ? -1 : 1);
    uint32_t got = num_b32(num_min_f32(a, b, max, ftz, nan, xorsign));
    assert_int_equal(got, isnan(want) ? 0x7fffffff : num_b32((float)want));

    double p = ref_random_f64(&seed), q = ref_random_f64(&seed), m = reference_min(p, q, max, false);
    double d = num_min_f64(p, q, max);
    assert_true(isnan(m) ? isnan(d) : num_b64(d) == num_b64(m));

    num_fmt fmt = choice & 16 ? NUM_F16 : NUM_BF16;
    uint16_t h = random_16(&seed, fmt), k = random_16(&seed, fmt);
    double u = num_to_f64(fmt, h), v = num_to_f64(fmt, k);
    double w = reference_min(xorsign ? fabs(u) : u, xorsign ? fabs(v) : v, max, nan);
    if (xorsign && !isnan(w)) w = copysign(w, (h ^ k) & 0x8000 ? -1 : 1);
    char op = xorsign ? (max ? 'Y' : 'y') : (max ? 'M' : 'm');
    uint16_t e = num_arith_16(fmt, op, h, k, 0, false, false, nan);
    if (isnan(w))
      assert_int_equal(e, 0x7fff);
    else
      assert_int_equal(num_b64(num_to_f64(fmt, e)), num_b64(w));
  }
}

/* ---- Comparison ---------------------------------------------------------- */

static void comparisons_follow_the_isas_tables(void **state) {
  static const struct {
    const char *text;
    num_cmp op;
    bool less, equal, greater, unordered; /* of floats */
  } cases[] = {
      {"eq", NUM_CMP_EQ, 0, 1, 0, 0},   {"ne", NUM_CMP_NE, 1, 0, 1, 0},   {"lt", NUM_CMP_LT, 1, 0, 0, 0},
      {"le", NUM_CMP_LE, 1, 1, 0, 0},   {"gt", NUM_CMP_GT, 0, 0, 1, 0},   {"ge", NUM_CMP_GE, 0, 1, 1, 0},
      {"equ", NUM_CMP_EQU, 0, 1, 0, 1}, {"neu", NUM_CMP_NEU, 1, 0, 1, 1}, {"ltu", NUM_CMP_LTU, 1, 0, 0, 1},
      {"leu", NUM_CMP_LEU, 1, 1, 0, 1}, {"gtu", NUM_CMP_GTU, 0, 0, 1, 1}, {"geu", NUM_CMP_GEU, 0, 1, 1, 1},
      {"num", NUM_CMP_NUM, 1, 1, 1, 0}, {"nan", NUM_CMP_NAN, 0, 0, 0, 1}, {"lo", NUM_CMP_LO, 1, 0, 0, 0},
      {"ls", NUM_CMP_LS, 1, 1, 0, 0},   {"hi", NUM_CMP_HI, 0, 0, 1, 0},   {"hs", NUM_CMP_HS, 0, 1, 1, 0},
      {"", NUM_CMP_NONE, 0, 0, 0, 0},   {"eqx", NUM_CMP_NONE, 0, 0, 0, 0}};
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    num_cmp op = num_cmp_from_text(cases[i].text);
    assert_int_equal(op, cases[i].op);
    assert_int_equal(num_compare_f(op, -1, 2), cases[i].less);
    assert_int_equal(num_compare_f(op, 0.0, -0.0), cases[i].equal);
    assert_int_equal(num_compare_f(op, INFINITY, 2), cases[i].greater);
    assert_int_equal(num_compare_f(op, NAN, 2), cases[i].unordered);
    assert_int_equal(num_compare_f(op, 2, NAN), cases[i].unordered);
    assert_int_equal(num_compare(cases[i].text, 1, 2), cases[i].less);
    assert_int_equal(num_compare_u(op, 1, UINT64_MAX), cases[i].less);
    assert_int_equal(num_compare_s(op, 1, -1), cases[i].greater);
    assert_int_equal(num_compare_s(op, -5, -5), cases[i].equal);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f32_results_are_rounded_once_in_every_mode),
      cmocka_unit_test(f32_ftz_follows_what_gpus_do_at_the_least_normal),
      cmocka_unit_test(an_exact_zero_sum_is_negative_in_rm_only),
      cmocka_unit_test(f64_results_are_rounded_once_in_every_mode),
      cmocka_unit_test(the_hosts_rounding_mode_is_left_as_it_was),
      cmocka_unit_test(f64_nan_results_hand_on_a_payload_as_gpus_do),
      cmocka_unit_test(half_results_are_rounded_once),
      cmocka_unit_test(neg_and_abs_change_the_sign_of_all_but_nan),
      cmocka_unit_test(min_and_max_order_zeros_and_drop_nan),
      cmocka_unit_test(comparisons_follow_the_isas_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
