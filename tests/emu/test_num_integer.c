/* Integer instructions against the bit-by-bit loops of the PTX ISA. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "num_reference.h"

/* ---- prmt ---------------------------------------------------------------- */

static void prmt_modes_select_the_isas_bytes(void **state) {
  /* Source bytes of d.b3 d.b2 d.b1 d.b0 for selectors 0 to 3, the ISA's table. */
  static const struct {
    const char *text;
    num_prmt_mode mode;
    uint8_t bytes[4][4];
  } cases[] = {
      {"f4e", NUM_PRMT_F4E, {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}}},
      {"b4e", NUM_PRMT_B4E, {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}}},
      {"rc8", NUM_PRMT_RC8, {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
      {"ecl", NUM_PRMT_ECL, {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}}},
      {"ecr", NUM_PRMT_ECR, {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}}},
      {"rc16", NUM_PRMT_RC16, {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}},
  };
  const uint32_t a = 0x33221100, b = 0x77665544; /* byte i is 0x11 * i */
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(num_prmt_mode_from_text(cases[i].text), cases[i].mode);
    for (uint32_t s = 0; s < 4; s++) {
      uint32_t want = 0;
      for (int j = 0; j < 4; j++) want = want << 8 | cases[i].bytes[s][j] * 0x11u;
      assert_int_equal(num_prmt(a, b, s, cases[i].mode), want);
      assert_int_equal(num_prmt(a, b, s | 0xfffffffc, cases[i].mode), want); /* only two bits select */
    }
  }
  assert_int_equal(num_prmt_mode_from_text(NULL), NUM_PRMT_INDEX);
  assert_int_equal(num_prmt_mode_from_text("f4"), NUM_PRMT_INDEX);
}

static void prmt_index_selects_and_replicates_signs(void **state) {
  uint64_t seed = 31;
  for (int i = 0; i < 100000; i++) {
    uint64_t bytes = ref_random(&seed);
    uint32_t sel = (uint32_t)ref_random(&seed), want = 0;
    for (int j = 0; j < 4; j++) {
      uint8_t byte = (uint8_t)(bytes >> 8 * (sel >> 4 * j & 7));
      if (sel >> 4 * j & 8) byte = (uint8_t)((int8_t)byte >> 7);
      want |= (uint32_t)byte << 8 * j;
    }
    assert_int_equal(num_prmt((uint32_t)bytes, (uint32_t)(bytes >> 32), sel, NUM_PRMT_INDEX), want);
  }
}

/* ---- Bit fields ---------------------------------------------------------- */

static uint64_t reference_bfe(uint64_t a, uint32_t b, uint32_t c, unsigned bits, bool is_signed) {
  unsigned msb = bits - 1, pos = b & 0xff, len = c & 0xff;
  bool sign = false;
  if (is_signed && len != 0) sign = a >> (pos + len - 1 < msb ? pos + len - 1 : msb) & 1;
  uint64_t d = 0;
  for (unsigned i = 0; i <= msb; i++)
    d |= (uint64_t)(i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign) << i;
  return d;
}

static uint64_t reference_bfi(uint64_t a, uint64_t b, uint32_t c, uint32_t d, unsigned bits) {
  unsigned msb = bits - 1, pos = c & 0xff, len = d & 0xff;
  uint64_t f = b;
  for (unsigned i = 0; i < len && pos + i <= msb; i++) {
    f &= ~(UINT64_C(1) << (pos + i));
    f |= (a >> i & 1) << (pos + i);
  }
  return f;
}

static void bit_fields_match_the_isas_loops_for_every_position_and_length(void **state) {
  uint64_t seed = 32;
  for (uint32_t pos = 0; pos < 256; pos++)
    for (uint32_t len = 0; len < 256; len += pos % 8 || pos > 72 ? 5 : 1) {
      uint64_t a = ref_random(&seed), b = ref_random(&seed);
      uint32_t high = (uint32_t)b & 0xffffff00; /* ignored */
      uint32_t a32 = (uint32_t)a, b32 = (uint32_t)b;
      assert_int_equal(num_bfe(a, pos | high, len, 64, true), reference_bfe(a, pos, len, 64, true));
      assert_int_equal(num_bfe(a, pos, len | high, 64, false), reference_bfe(a, pos, len, 64, false));
      assert_int_equal(num_bfe(a32, pos, len, 32, true), reference_bfe(a32, pos, len, 32, true));
      assert_int_equal(num_bfe(a32, pos, len, 32, false), reference_bfe(a32, pos, len, 32, false));
      assert_int_equal(num_bfi(a, b, pos, len | high, 64), reference_bfi(a, b, pos, len, 64));
      assert_int_equal(num_bfi(a32, b32, pos | high, len, 32), reference_bfi(a32, b32, pos, len, 32));
    }
}

static uint32_t reference_bfind(uint64_t a, unsigned bits, bool is_signed, bool shiftamt) {
  int msb = (int)bits - 1;
  uint32_t d = UINT32_MAX;
  if (is_signed && a >> msb & 1) a = ~a;
  for (int i = msb; i >= 0; i--)
    if (a >> i & 1) {
      d = (uint32_t)i;
      break;
    }
  if (shiftamt && d != UINT32_MAX) d = (uint32_t)msb - d;
  return d;
}

static void bfind_finds_the_leading_bit_that_is_no_sign(void **state) {
  uint64_t seed = 33;
  for (int i = 0; i < 200000; i++) {
    uint64_t a = ref_random(&seed) >> i % 64;
    if (i & 64) a = ~a;
    if (i % 1000 == 0) a = i % 3 ? 0 : UINT64_MAX;
    for (int flags = 0; flags < 4; flags++) {
      assert_int_equal(num_bfind(a, 64, flags & 1, flags & 2), reference_bfind(a, 64, flags & 1, flags & 2));
      uint32_t low = (uint32_t)a;
      uint32_t want = reference_bfind(low, 32, flags & 1, flags & 2);
      assert_int_equal(num_bfind(low, 32, flags & 1, flags & 2), want);
      assert_int_equal(num_bfind((uint64_t)(int64_t)(int32_t)low, 32, flags & 1, flags & 2), want);
    }
  }
}

static uint32_t reference_fns(uint32_t mask, uint32_t base, int32_t offset) {
  if (offset == 0) return mask >> base & 1 ? base : UINT32_MAX;
  int pos = (int)base, inc = offset > 0 ? 1 : -1;
  int64_t count = (offset > 0 ? offset : -(int64_t)offset) - 1;
  for (; pos >= 0 && pos < 32; pos += inc)
    if (mask >> pos & 1) {
      if (count == 0) return (uint32_t)pos;
      count--;
    }
  return UINT32_MAX;
}

static void fns_finds_the_nth_set_bit(void **state) {
  uint64_t seed = 34;
  for (int i = 0; i < 20000; i++) {
    uint32_t mask = (uint32_t)(ref_random(&seed) & ref_random(&seed));
    uint32_t base = (uint32_t)ref_random(&seed) & 31;
    for (int32_t offset = -34; offset <= 34; offset++)
      assert_int_equal(num_fns(mask, base, offset), reference_fns(mask, base, offset));
    assert_int_equal(num_fns(mask, base, INT32_MIN), UINT32_MAX);
    for (int32_t offset = -1; offset <= 1; offset++)
      assert_int_equal(num_fns(mask, base + 32, offset), UINT32_MAX);
  }
}

/* ---- Dot products and logic ---------------------------------------------- */

static void dot_products_extend_each_operand_by_its_own_type(void **state) {
  uint64_t seed = 35;
  for (int i = 0; i < 200000; i++) {
    uint32_t a = (uint32_t)ref_random(&seed), b = (uint32_t)ref_random(&seed),
             c = (uint32_t)ref_random(&seed);
    bool a_signed = i & 1, b_signed = i & 2;
    int64_t four = 0, two[2] = {0, 0};
    for (int j = 0; j < 4; j++) {
      int64_t y = b_signed ? (int8_t)(b >> 8 * j) : (uint8_t)(b >> 8 * j);
      four += (a_signed ? (int8_t)(a >> 8 * j) : (uint8_t)(a >> 8 * j)) * y;
      int half = j % 2;
      two[j / 2] += (a_signed ? (int64_t)(int16_t)(a >> 16 * half) : (uint16_t)(a >> 16 * half)) * y;
    }
    assert_int_equal((uint32_t)num_dp4a(a, b, (int32_t)c, a_signed, b_signed), (uint32_t)(c + four));
    assert_int_equal((uint32_t)num_dp2a(a, b, (int32_t)c, a_signed, b_signed, false), (uint32_t)(c + two[0]));
    assert_int_equal((uint32_t)num_dp2a(a, b, (int32_t)c, a_signed, b_signed, true), (uint32_t)(c + two[1]));
  }
}

static void lop3_evaluates_every_table(void **state) {
  uint64_t seed = 36;
  for (unsigned lut = 0; lut < 256; lut++) {
    uint32_t a = (uint32_t)ref_random(&seed), b = (uint32_t)ref_random(&seed),
             c = (uint32_t)ref_random(&seed);
    uint32_t want = 0;
    for (int i = 0; i < 32; i++) {
      unsigned row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
      want |= (lut >> row & 1) << i;
    }
    assert_int_equal(num_lop3(a, b, c, (uint8_t)lut), want);
    /* The ISA's immediates: ta 0xf0, tb 0xcc, tc 0xaa. */
    assert_int_equal(num_lop3(a, b, c, 0xf0 & 0xcc & 0xaa), a & b & c);
    assert_int_equal(num_lop3(a, b, c, (0xf0 & 0xcc) | (0xf0 ^ 0xaa)), (a & b) | (a ^ c));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prmt_modes_select_the_isas_bytes),
      cmocka_unit_test(prmt_index_selects_and_replicates_signs),
      cmocka_unit_test(bit_fields_match_the_isas_loops_for_every_position_and_length),
      cmocka_unit_test(bfind_finds_the_leading_bit_that_is_no_sign),
      cmocka_unit_test(fns_finds_the_nth_set_bit),
      cmocka_unit_test(dot_products_extend_each_operand_by_its_own_type),
      cmocka_unit_test(lop3_evaluates_every_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
