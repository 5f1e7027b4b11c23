/* Comparing results with references. */
#include "check.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "workload/workload.h"

static bool near_f32(float got, float want, double abs, double rel) {
  char what[200];
  return hd_elem_compare(HD_ELEM_F32, HD_COMPARE_NEAR, abs, rel, &got, &want, 1, what, sizeof what);
}

static bool near_f64(double got, double want, double abs, double rel) {
  char what[200];
  return hd_elem_compare(HD_ELEM_F64, HD_COMPARE_NEAR, abs, rel, &got, &want, 1, what, sizeof what);
}

static void the_bound_itself_is_near_and_the_next_float_is_not(void **state) {
  assert_true(near_f32(1.5f, 1.0f, 0.5, 0));
  assert_false(near_f32(nextafterf(1.5f, 2), 1.0f, 0.5, 0));
  assert_true(near_f32(0.5f, 1.0f, 0.5, 0));
  assert_false(near_f32(nextafterf(0.5f, 0), 1.0f, 0.5, 0));
  assert_true(near_f32(10.0f, 8.0f, 0, 0.25));
  assert_false(near_f32(nextafterf(10.0f, 11), 8.0f, 0, 0.25));
  assert_true(near_f32(-10.0f, -8.0f, 0, 0.25));
  assert_true(near_f32(11.0f, 8.0f, 1, 0.25));
  assert_false(near_f32(11.001f, 8.0f, 1, 0.25));
  assert_true(near_f64(1.5, 1.0, 0.5, 0));
  assert_false(near_f64(nextafter(1.5, 2), 1.0, 0.5, 0));
}

static void nan_equals_nan_and_nothing_else(void **state) {
  assert_true(near_f32(NAN, -NAN, 1, 1));
  assert_false(near_f32(NAN, 0, 1e30, 0));
  assert_false(near_f32(0, NAN, 1e30, 1e30));
  assert_false(near_f64(INFINITY, NAN, 1, 1));
}

static void an_infinity_equals_itself_and_nothing_else(void **state) {
  assert_true(near_f32(INFINITY, INFINITY, 0, 1));
  assert_false(near_f32(-INFINITY, INFINITY, 1, 1));
  assert_false(near_f32(FLT_MAX, INFINITY, 0, 1)); /* rel * inf must not let it pass */
  assert_false(near_f32(INFINITY, FLT_MAX, 0, 1));
  assert_false(near_f64(-DBL_MAX, DBL_MAX, 1, 1)); /* the difference overflows */
}

static void exact_means_the_same_bits(void **state) {
  char what[200];
  float plus = 0.0f, minus = -0.0f;
  uint32_t nan_a = 0x7fc00000, nan_b = 0x7fc00001;
  assert_false(hd_elem_compare(HD_ELEM_F32, HD_COMPARE_EXACT, 0, 0, &plus, &minus, 1, what, sizeof what));
  assert_string_equal(what, "element 0 is 0 (0x00000000), should be -0 (0x80000000); 1 of 1 elements differ");
  assert_false(hd_elem_compare(HD_ELEM_F32, HD_COMPARE_EXACT, 0, 0, &nan_a, &nan_b, 1, what, sizeof what));
  assert_true(hd_elem_compare(HD_ELEM_F32, HD_COMPARE_EXACT, 0, 0, &nan_a, &nan_a, 1, what, sizeof what));
  assert_true(near_f32(plus, minus, 0, 1e-6));
}

static void a_difference_names_the_first_element_and_counts_them(void **state) {
  char what[200];
  int32_t got[5] = {1, -2, 3, 4, 50}, want[5] = {1, -2, 4, 4, 5};
  assert_false(hd_elem_compare(HD_ELEM_S32, HD_COMPARE_EXACT, 0, 0, got, want, 5, what, sizeof what));
  assert_string_equal(what, "element 2 is 3, should be 4; 2 of 5 elements differ");
  assert_false(hd_elem_compare(HD_ELEM_S32, HD_COMPARE_NEAR, 1, 0, got, want, 5, what, sizeof what));
  assert_string_equal(what, "element 4 is 50, should be 5 within 1; 1 of 5 elements differ");
}

static void whole_numbers_are_compared_exactly_at_64_bits(void **state) {
  char what[200];
  uint64_t got = UINT64_MAX, want = UINT64_MAX - 3;
  assert_true(hd_elem_compare(HD_ELEM_U64, HD_COMPARE_NEAR, 3, 0, &got, &want, 1, what, sizeof what));
  assert_false(hd_elem_compare(HD_ELEM_U64, HD_COMPARE_NEAR, 2, 0, &got, &want, 1, what, sizeof what));
  int64_t low = INT64_MIN, high = INT64_MAX;
  assert_false(hd_elem_compare(HD_ELEM_S64, HD_COMPARE_NEAR, 1e18, 0, &low, &high, 1, what, sizeof what));
  int8_t a = -128, b = 127;
  assert_false(hd_elem_compare(HD_ELEM_S8, HD_COMPARE_NEAR, 254, 0, &a, &b, 1, what, sizeof what));
  assert_true(hd_elem_compare(HD_ELEM_S8, HD_COMPARE_NEAR, 255, 0, &a, &b, 1, what, sizeof what));
}

/* Every 16-bit pattern: reading one and rounding it back is the identity, and rounding picks
 * the nearest, ties to even. */
static void every_16_bit_float_survives_a_round_trip(void **state) {
  const hd_elem types[] = {HD_ELEM_F16, HD_ELEM_BF16};
  for (unsigned t = 0; t < 2; t++) {
    const wl_elem_info *info = wl_elem(types[t]);
    uint16_t infinity = (uint16_t)(((1u << info->exponent) - 1) << info->mantissa);
    for (uint32_t i = 0; i < 0x10000; i++) {
      uint16_t bits = (uint16_t)i;
      double v = wl_elem_get(types[t], &bits, 0);
      if (isnan(v)) {
        assert_true((bits & 0x7fff) > infinity);
        continue;
      }
      assert_int_equal(wl_elem_from_double(types[t], v), bits);
      uint16_t next = (uint16_t)(bits + 1);
      if ((bits & 0x7fff) + 1 >= infinity) continue; /* the largest finite one has no finite neighbour */
      double w = wl_elem_get(types[t], &next, 0), middle = (v + w) / 2;
      assert_int_equal(wl_elem_from_double(types[t], middle), bits & 1 ? next : bits);
      assert_int_equal(wl_elem_from_double(types[t], nextafter(middle, v)), bits);
      assert_int_equal(wl_elem_from_double(types[t], nextafter(middle, w)), next);
    }
    assert_int_equal(wl_elem_from_double(types[t], 1e300), infinity);
    assert_int_equal(wl_elem_from_double(types[t], -1e300), infinity | 0x8000);
  }
  assert_int_equal(wl_elem_from_double(HD_ELEM_F16, 65519.999), 0x7bff);
  assert_int_equal(wl_elem_from_double(HD_ELEM_F16, 65520.0), 0x7c00);
}

static void half_floats_are_compared_by_value(void **state) {
  char what[200];
  uint16_t got = (uint16_t)wl_elem_from_double(HD_ELEM_F16, 1.5),
           want = (uint16_t)wl_elem_from_double(HD_ELEM_F16, 1);
  assert_true(hd_elem_compare(HD_ELEM_F16, HD_COMPARE_NEAR, 0.5, 0, &got, &want, 1, what, sizeof what));
  assert_false(hd_elem_compare(HD_ELEM_F16, HD_COMPARE_NEAR, 0.49, 0, &got, &want, 1, what, sizeof what));
  assert_string_equal(what, "element 0 is 1.5, should be 1 within 0.49; 1 of 1 elements differ");
}

static void a_small_message_buffer_is_not_overrun(void **state) {
  float got = 1, want = 2;
  char what[9] = "????????";
  assert_false(hd_elem_compare(HD_ELEM_F32, HD_COMPARE_EXACT, 0, 0, &got, &want, 1, what, 8));
  assert_string_equal(what, "element");
  assert_int_equal(what[8], 0);
  assert_false(hd_elem_compare(HD_ELEM_F32, HD_COMPARE_EXACT, 0, 0, &got, &want, 1, NULL, 0));
  assert_true(hd_elem_compare(HD_ELEM_F32, HD_COMPARE_NONE, 0, 0, &got, &want, 1, NULL, 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_bound_itself_is_near_and_the_next_float_is_not),
      cmocka_unit_test(nan_equals_nan_and_nothing_else),
      cmocka_unit_test(an_infinity_equals_itself_and_nothing_else),
      cmocka_unit_test(exact_means_the_same_bits),
      cmocka_unit_test(a_difference_names_the_first_element_and_counts_them),
      cmocka_unit_test(whole_numbers_are_compared_exactly_at_64_bits),
      cmocka_unit_test(every_16_bit_float_survives_a_round_trip),
      cmocka_unit_test(half_floats_are_compared_by_value),
      cmocka_unit_test(a_small_message_buffer_is_not_overrun),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
