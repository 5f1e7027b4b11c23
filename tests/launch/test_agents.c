/* The form of kernels with agents follows from ptxas's results. */
#include "check.h"

#include "launch/launch.h"

enum { LOOPS = 2, WAYS = LOOPS * HD_BUDGET_COUNT };

/* A made-up ptxas: for code with and without hoisting and for each register budget, whether it spills and how
 * many registers it adds. Tight budgets spill. */
typedef struct assembler {
  bool spills[LOOPS][HD_BUDGET_COUNT];
  int64_t added[LOOPS][HD_BUDGET_COUNT];
} assembler;

static assembler draw(uint64_t seed) {
  assembler a;
  for (unsigned loop = 0; loop < LOOPS; loop++) {
    uint64_t enough = hd_random_at(seed, loop) % HD_BUDGET_COUNT;
    for (unsigned b = 0; b < HD_BUDGET_COUNT; b++) {
      a.spills[loop][b] = b < enough;
      a.added[loop][b] = (int64_t)(hd_random_at(seed, 10 + loop) % 12) - 2;
    }
  }
  return a;
}

/* The way that is settled for; *tried gets a bit for each that was tried. */
static hd_compile_options settle(const assembler *a, hd_compile_options way, unsigned *tried) {
  agents_search s = {.apply = &way};
  unsigned n = 0;
  *tried = 0;
  do {
    assert_true(n++ < WAYS + 1);
    *tried |= 1u << (way.no_hoisting * HD_BUDGET_COUNT + way.budget);
  } while (
      agents_try_next(&s, a->spills[way.no_hoisting][way.budget], a->added[way.no_hoisting][way.budget]));
  return way;
}

static void nothing_spills_and_few_registers_are_added_where_some_way_does_it(void **state) {
  for (uint64_t seed = 0; seed < 2000; seed++) {
    assembler a = draw(seed);
    unsigned tried;
    hd_compile_options way = settle(&a, (hd_compile_options){0}, &tried);
    int64_t added = a.added[way.no_hoisting][way.budget];
    assert_false(a.spills[way.no_hoisting][way.budget]);
    for (unsigned loop = 0; loop < LOOPS; loop++) {
      int64_t other = a.added[loop][HD_BUDGET_NONE];
      assert_true(added <= HD_AGENT_REGISTERS || added <= other);
    }
    /* Hoisting is forbidden only where it costs registers, and saves some. */
    bool dear = a.added[0][HD_BUDGET_NONE] > HD_AGENT_REGISTERS;
    assert_int_equal(way.no_hoisting, dear && a.added[1][HD_BUDGET_NONE] < a.added[0][HD_BUDGET_NONE]);
  }
}

static void the_first_way_is_the_only_one_tried_where_it_is_good(void **state) {
  static const assembler a;
  unsigned tried;
  hd_compile_options way = settle(&a, (hd_compile_options){0}, &tried);
  assert_int_equal(tried, 1);
  assert_false(way.no_hoisting);
}

static void what_the_caller_forbids_stays_forbidden(void **state) {
  for (uint64_t seed = 0; seed < 500; seed++) {
    assembler a = draw(seed);
    unsigned tried;
    hd_compile_options way =
        settle(&a, (hd_compile_options){.no_hoisting = true, .budget = HD_BUDGET_THREE_MORE}, &tried);
    assert_true(way.no_hoisting);
    assert_true(way.budget >= HD_BUDGET_THREE_MORE);
    assert_int_equal(tried & ((1u << HD_BUDGET_COUNT) - 1), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("nothing spills, and few registers are added, where some way does it",
                nothing_spills_and_few_registers_are_added_where_some_way_does_it),
      BEHAVIOUR("the first way is the only one tried where it is good",
                the_first_way_is_the_only_one_tried_where_it_is_good),
      BEHAVIOUR("what the caller forbids stays forbidden", what_the_caller_forbids_stays_forbidden),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
