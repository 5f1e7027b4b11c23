/* Sets of small numbers. */
#include "check.h"

#include "heddle/numbers.h"

/* lo..hi, both included. */
static uint64_t draw(uint64_t *drawn, uint64_t lo, uint64_t hi) {
  return lo + hd_random_at(0x5e75, (*drawn)++) % (hi - lo + 1);
}

/* Against a list of flags. */
static void a_set_of_numbers_holds_what_was_added(void **state) {
  uint64_t drawn = 0;
  for (int c = 0; c < 300; c++) {
    hd_numbers s = {0};
    bool in[HD_NUMBERS + 1] = {false};
    uint32_t n = 0;
    for (uint64_t adds = draw(&drawn, 0, 6); adds; adds--) {
      const uint32_t first = (uint32_t)draw(&drawn, 0, HD_NUMBERS + 3),
                     last = (uint32_t)draw(&drawn, first ? first - 1 : 0, first + 70);
      const bool fits = first <= last && last < HD_NUMBERS;
      assert_int_equal(hd_numbers_add(&s, first, last), fits);
      for (uint32_t k = first; fits && k <= last; k++) in[k] = true;
    }
    for (uint32_t k = 0; k <= HD_NUMBERS; n += in[k++]) {
      assert_int_equal(hd_numbers_has(&s, k), in[k]);
      assert_int_equal(hd_numbers_below(&s, k), n);
    }
    assert_int_equal(hd_numbers_count(&s), n);
    assert_false(hd_numbers_has(&s, UINT32_MAX));
    hd_range run;
    uint32_t seen = 0;
    for (uint32_t at = 0; hd_numbers_run(&s, at, &run); at = run.last + 1) {
      assert_true(!run.first || !in[run.first - 1]);
      assert_false(in[run.last + 1]);
      seen += run.last - run.first + 1;
    }
    assert_int_equal(seen, n);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a set of numbers holds what was added", a_set_of_numbers_holds_what_was_added)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
