/* The budget, shared out among kernels. */
#include "contest/simulated.h"

#include "tune/tuner.h"

/* Every kernel can afford its test, and the others' tests are not paid out of what one has for screening. */
static void kernels_share_what_the_tests_leave(void **state) {
  static simulated s;
  s = (simulated){.luck = luck_of_places, .moving = 0.06};
  tuner_bench b = bench_of(&s);
  tuner_unit units[] = {
      {.us = 3000, .seconds = 4e-3}, {.us = 500, .seconds = 1e-3}, {.us = 10, .seconds = 1e-4}};
  double test = confirm_takes(&b, units[1].seconds, 0.99), sum = 0;
  tuner_share_out(units, 3);
  for (uint32_t i = 0; i < 2; i++) sum += tuner_unit_budget(units, 3, i, &b, 0.99, 5);
  assert_true(fabs(sum - 5) < 1e-9);
  assert_true(units[2].share == 0);
  double small = tuner_unit_budget(units, 3, 1, &b, 0.99, 5);
  assert_true(small - test > 0.5 && small < 1.4);
  /* Tests that take more than there is leave half of it to be shared all the same. */
  assert_true(tuner_unit_budget(units, 3, 1, &b, 0.99, 0.1) > 0.05);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("kernels share the budget that their tests leave", kernels_share_what_the_tests_leave),
  };
  return cmocka_run_group_tests_name("tune.units", tests, NULL, NULL);
}
