#include "check.h"

#include "heddle/plan.h"

static uint64_t apply(uint64_t n, hd_magic m) {
  return (uint64_t)(((unsigned __int128)n * m.multiplier) >> m.shift);
}

static uint64_t random_below(uint64_t stream, uint64_t i, unsigned max_bits) {
  unsigned bits = 1 + (unsigned)(hd_random_at(stream, 2 * i) % max_bits);
  return hd_random_at(stream, 2 * i + 1) >> (64 - bits);
}

/* Exact at the ends of the range, around every multiple near them, and at random places. */
static void check_divisor(uint64_t d, uint64_t max, unsigned bits, uint64_t i) {
  hd_magic m;
  if (!hd_find_magic(d, max, bits, &m)) return;
  assert_true(bits == 64 || m.multiplier <= UINT32_MAX);
  assert_true(m.shift >= bits);
  uint64_t top = max / d * d;
  const uint64_t at[] = {0, 1, d - 1, d, d + 1, max, max - 1, top, top ? top - 1 : 0};
  for (unsigned k = 0; k < sizeof at / sizeof *at; k++)
    if (at[k] <= max) assert_true(apply(at[k], m) == at[k] / d);
  for (uint64_t k = 0; k < 50; k++) {
    uint64_t n = hd_random_at(i, k) % max;
    assert_true(apply(n, m) == n / d);
    n = n / d * d;
    assert_true(apply(n, m) == n / d);
    if (n) assert_true(apply(n - 1, m) == (n - 1) / d);
  }
}

static void multiplications_divide_exactly(void **state) {
  for (uint64_t i = 0; i < 20000; i++) {
    uint64_t d = random_below(1, i, 31), max = random_below(2, i, 32);
    if (d < 3 || (d & (d - 1)) == 0 || max < 2) continue;
    check_divisor(d, max, 32, i);
    uint64_t wide_d = random_below(3, i, 62), wide_max = random_below(4, i, 63);
    if (wide_d < 3 || (wide_d & (wide_d - 1)) == 0 || wide_max < 2) continue;
    check_divisor(wide_d, wide_max, 64, i);
  }
}

static void small_divisors_are_exact_everywhere(void **state) {
  hd_magic m;
  for (uint64_t d = 3; d < 200; d++) {
    if ((d & (d - 1)) == 0) continue;
    assert_true(hd_find_magic(d, 100000, 32, &m));
    for (uint64_t n = 0; n <= 100000; n++)
      if (apply(n, m) != n / d) fail_msg("%lu / %lu", (unsigned long)n, (unsigned long)d);
  }
}

static void a_31_bit_range_always_has_a_multiplier(void **state) {
  hd_magic m;
  for (uint64_t i = 0; i < 100000; i++) {
    uint64_t d = random_below(5, i, 31);
    if (d < 3 || (d & (d - 1)) == 0) continue;
    assert_true(hd_find_magic(d, INT32_MAX, 32, &m));
  }
}

static void scaled_quotients_are_exact_everywhere(void **state) {
  unsigned found = 0;
  for (uint64_t i = 0; i < 3000; i++) {
    uint64_t d = 2 + random_below(6, i, 12), factor = 1 + hd_random_at(7, i) % d,
             max = 1 + random_below(8, i, 12);
    hd_magic m;
    if (!hd_find_scaled_magic(factor, d, max, 32, &m)) continue;
    found++;
    assert_true(m.multiplier <= UINT32_MAX);
    for (uint64_t n = 0; n <= max; n++)
      if (apply(n, m) != n * factor / d)
        fail_msg("%lu * %lu / %lu", (unsigned long)n, (unsigned long)factor, (unsigned long)d);
  }
  assert_true(found > 2000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a division by multiplication is exact over its range", multiplications_divide_exactly),
      BEHAVIOUR("small divisors are exact for every operand", small_divisors_are_exact_everywhere),
      BEHAVIOUR("a quotient of a product by a constant is exact over its range",
                scaled_quotients_are_exact_everywhere),
      BEHAVIOUR("operands of 31 bits always have a multiplier", a_31_bit_range_always_has_a_multiplier),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
