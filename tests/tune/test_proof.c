/* How much of a proof is afforded. */
#include "check.h"
#include "tune/winner_proof.h"

static void a_proof_runs_under_as_many_dispatchers_as_its_time_allows(void **state) {
  (void)state;
  static const struct {
    double each, seconds;
    size_t dispatchers;
  } cases[] = {{0, 5, HD_DISPATCH_COUNT},
               {0.001, 5, HD_DISPATCH_COUNT},
               {1, PROOF_RUNS, HD_DISPATCH_COUNT},
               {1, PROOF_RUNS - 0.5, 7},
               {1, 5, 2},
               {1, 4, 1},
               {1, 3.9, 0},
               {1, 0, 0},
               {1e9, 5, 0},
               {1e-300, 5, HD_DISPATCH_COUNT}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(proof_affordable(cases[i].each, cases[i].seconds), cases[i].dispatchers);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a proof runs under as many dispatchers as its time allows",
                a_proof_runs_under_as_many_dispatchers_as_its_time_allows),
  };
  return cmocka_run_group_tests_name("tune.proof", tests, NULL, NULL);
}
