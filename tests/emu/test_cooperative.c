/* Cooperative launches: grid.sync() as nvcc compiles it. */
#include "session.h"

static void the_grid_waits_for_all_its_ctas(void **state) {
  enum { N = 1000, STEPS = 7 };
  session s;
  ON_EACH_MACHINE(&s, "cooperative") {
    uint32_t want[2][N];
    for (int i = 0; i < N; i++) want[0][i] = (uint32_t)i * 7 % 11;
    uint64_t a = buffer(&s, want[0], sizeof want[0]), b = buffer(&s, NULL, sizeof want[0]);
    for (int k = 0; k < STEPS; k++)
      for (int i = 0; i < N; i++) {
        const uint32_t *from = want[k % 2];
        want[1 - k % 2][i] = from[i ? i - 1 : N - 1] + 2 * from[i] + 3 * from[i + 1 < N ? i + 1 : 0];
      }
    const int n = N, steps = STEPS;
    s.cooperative = true;
    RUN_OK(&s, "diffuse", 9, 64, 0, ARG(a), ARG(b), ARG(n), ARG(steps));
    assert_memory_equal(HOST(&s, uint32_t, b, N), want[1], sizeof want[1]);
    assert_memory_equal(HOST(&s, uint32_t, a, N), want[0], sizeof want[0]);
  }
}

static void arriving_and_waiting_may_stand_apart(void **state) {
  session s;
  ON_EACH_MACHINE(&s, "cooperative") {
    enum { CTAS = 20, THREADS = 96, N = CTAS * THREADS };
    uint64_t a = buffer(&s, NULL, N * 4), b = buffer(&s, NULL, N * 4);
    s.cooperative = true;
    RUN_OK(&s, "exchange", CTAS, THREADS, 0, ARG(a), ARG(b));
    for (int i = 0; i < N; i++) assert_int_equal(HOST(&s, int, b, N)[i], (N - 1 - i) * (N - 1 - i) + 3 * i);
  }
}

static void shared_memory_lasts_over_the_barrier(void **state) {
  session s;
  ON_EACH_MACHINE(&s, "cooperative") {
    enum { CTAS = 12, THREADS = 64, N = CTAS * THREADS };
    const int n = 0;
    uint64_t out = buffer(&s, NULL, (CTAS + N) * 4);
    s.cooperative = true;
    RUN_OK(&s, "shared_too", CTAS, THREADS, THREADS * 4, ARG(out), ARG(n));
    for (int i = 0; i < N; i++)
      assert_int_equal(HOST(&s, int, out, CTAS + N)[CTAS + i],
                       THREADS - 1 - i % THREADS + CTAS * (CTAS + 1) / 2);
  }
}

static void other_launches_have_no_grid_to_wait_for(void **state) {
  session s;
  ON_EACH_MACHINE(&s, "cooperative") {
    uint64_t out = buffer(&s, NULL, 12);
    RUN_OK(&s, "valid", 3, 32, 0, ARG(out));
    for (int k = 0; k < 3; k++) assert_int_equal(HOST(&s, int, out, 3)[k], 0);
    assert_int_equal(RUN(&s, "skipped", 3, 32, 0, ARG(out)), HD_ERR_FAULT);
    CHECK_MESSAGE(&s.d, "trap");
    s.cooperative = true;
    RUN_OK(&s, "valid", 3, 32, 0, ARG(out));
    for (int k = 0; k < 3; k++) assert_int_equal(HOST(&s, int, out, 3)[k], 1);
  }
}

static void a_cta_that_skips_the_barrier_is_a_deadlock(void **state) {
  session s;
  ON_EACH_MACHINE(&s, "cooperative") {
    uint64_t out = buffer(&s, NULL, 12);
    s.cooperative = true;
    assert_int_equal(RUN(&s, "skipped", 3, 32, 0, ARG(out)), HD_ERR_FAULT);
    assert_int_equal(s.d.fault, HD_FAULT_HANG);
  }
}

static void what_the_barrier_does_not_order_is_a_race(void **state) {
  enum { N = 512 };
  session s;
  open_file(&s, "cooperative",
            &(hd_emu_options){.checks = HD_CHECK_ALL, .threads = 1, .n_sms = 4, .memory = 1 << 24});
  const int n = N, steps = 3;
  uint64_t a = zeros(&s, N * 4), b = zeros(&s, N * 4);
  s.cooperative = true;
  RUN_OK(&s, "diffuse", 4, 64, 0, ARG(a), ARG(b), ARG(n), ARG(steps));
  assert_int_equal(RUN(&s, "diffuse_unsynchronised", 4, 64, 0, ARG(a), ARG(b), ARG(n), ARG(steps)),
                   HD_ERR_FAULT);
  assert_int_equal(s.d.fault, HD_FAULT_RACE);
  close_file(&s);
}

static void grids_that_cannot_be_resident_are_refused(void **state) {
  session s;
  open_file(&s, "cooperative", &(hd_emu_options){.threads = 1, .n_sms = 2, .memory = 1 << 24});
  uint64_t out = buffer(&s, NULL, 4096);
  static const struct {
    uint32_t grid[3], block, shared, fit;
    const char *why; /* NULL: they fit */
  } cases[] = {
      {{64, 1, 1}, 32, 0, 0, NULL},
      {{65, 1, 1}, 32, 0, 0, "32 fit each of the 2 SMs"},
      {{4, 1, 1}, 1024, 0, 0, NULL},
      {{5, 1, 1}, 1024, 0, 0, "2 fit"},
      {{4, 1, 1}, 993, 0, 0, NULL},
      {{5, 1, 1}, 993, 0, 0, "2 fit"},
      {{2, 1, 1}, 32, 200 << 10, 0, NULL},
      {{3, 1, 1}, 32, 200 << 10, 0, "1 fit"},
      {{6, 1, 1}, 32, 0, 3, NULL},
      {{7, 1, 1}, 32, 0, 3, "3 fit"},
      {{2, 2, 16}, 32, 0, 0, NULL},
      {{2, 2, 17}, 32, 0, 0, "32 fit"},
      {{0x7fffffff, 65535, 65535}, 32, 0, 0, "2147483647 x 65535 x 65535"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    hd_emu_launch_params l = {.kernel = "valid",
                              .grid = {cases[k].grid[0], cases[k].grid[1], cases[k].grid[2]},
                              .block = {cases[k].block, 1, 1},
                              .dynamic_shared = cases[k].shared,
                              .args = &out,
                              .args_bytes = sizeof out,
                              .cooperative = true,
                              .fit = cases[k].fit};
    hd_status st = hd_emu_launch(s.p, &l, NULL, NULL, NULL, &s.d);
    if (!cases[k].why) CHECK_OK(st, &s.d);
    if (!cases[k].why) continue;
    assert_int_equal(st, HD_ERR_USAGE);
    CHECK_MESSAGE(&s.d, cases[k].why);
  }
  close_file(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the grid waits for all its CTAs", the_grid_waits_for_all_its_ctas),
      BEHAVIOUR("arriving and waiting may stand apart", arriving_and_waiting_may_stand_apart),
      BEHAVIOUR("shared memory lasts over the barrier", shared_memory_lasts_over_the_barrier),
      BEHAVIOUR("other launches have no grid to wait for", other_launches_have_no_grid_to_wait_for),
      BEHAVIOUR("a CTA that skips the barrier is a deadlock", a_cta_that_skips_the_barrier_is_a_deadlock),
      BEHAVIOUR("what the barrier does not order is a race", what_the_barrier_does_not_order_is_a_race),
      BEHAVIOUR("grids that cannot be resident are refused", grids_that_cannot_be_resident_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
