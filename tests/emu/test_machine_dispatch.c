/* Dispatchers: every kind starts every CTA exactly once, and a seed fixes the order. */
#include "kit.h"

#include "emu/machine/dispatch.h"

typedef struct start {
  uint64_t task;
  uint32_t sm;
} start;

/* The order of starts when CTAs retire in a seeded random order. */
static start *play(const hd_dispatch *how, uint64_t n, uint32_t sms, uint64_t retire_seed) {
  emu_dispatcher *p;
  hd_diag d;
  CHECK_OK(emu_dispatcher_create(how, n, sms, &p, &d), &d);
  start *log = calloc(n, sizeof *log);
  uint32_t *alive = calloc(emu_dispatch_places(p), sizeof *alive);
  uint64_t n_alive = 0, started = 0, steps = 0;
  for (;;) {
    emu_dispatch_result r;
    start s;
    while ((r = emu_dispatch_next(p, &s.task, &s.sm)) == EMU_DISPATCH_START) {
      assert_in_range(started, 0, n - 1);
      assert_true(n_alive < emu_dispatch_places(p));
      alive[n_alive++] = s.sm;
      log[started++] = s;
    }
    if (!n_alive) {
      assert_int_equal(r, EMU_DISPATCH_END);
      break;
    }
    uint64_t k = hd_random_at(retire_seed, steps++) % n_alive;
    emu_dispatch_retire(p, alive[k]);
    alive[k] = alive[--n_alive];
  }
  assert_int_equal(started, n);
  free(alive);
  emu_dispatcher_destroy(p);
  return log;
}

static start *take_all(const hd_dispatch *how, uint64_t n, uint32_t sms) {
  emu_dispatcher *p;
  hd_diag d;
  CHECK_OK(emu_dispatcher_create(how, n, sms, &p, &d), &d);
  start *log = calloc(n, sizeof *log);
  for (uint64_t k = 0; k < n; k++) assert_true(emu_dispatch_take(p, &log[k].task, &log[k].sm));
  uint64_t task;
  uint32_t sm;
  assert_false(emu_dispatch_take(p, &task, &sm));
  emu_dispatcher_destroy(p);
  return log;
}

static void check_once(const start *log, uint64_t n, uint32_t sms) {
  char *seen = calloc(n, 1);
  for (uint64_t k = 0; k < n; k++) {
    assert_true(log[k].task < n && log[k].sm < sms);
    assert_int_equal(seen[log[k].task]++, 0);
  }
  free(seen);
}

static void every_cta_starts_exactly_once(void **state) {
  static const uint64_t sizes[] = {1, 2, 3, 7, 64, 131, 132, 133, 1000};
  static const uint32_t sms[] = {1, 2, 7, 132};
  for (unsigned kind = 0; kind < HD_DISPATCH_COUNT; kind++)
    for (unsigned a = 0; a < sizeof sizes / sizeof *sizes; a++)
      for (unsigned b = 0; b < sizeof sms / sizeof *sms; b++)
        for (uint32_t resident = 0; resident < 3; resident++) {
          hd_dispatch how = {(hd_dispatch_kind)kind, 17 * kind + a, resident};
          start *played = play(&how, sizes[a], sms[b], a), *taken = take_all(&how, sizes[a], sms[b]);
          check_once(played, sizes[a], sms[b]);
          check_once(taken, sizes[a], sms[b]);
          free(played);
          free(taken);
        }
}

static void a_seed_fixes_the_order(void **state) {
  for (unsigned kind = 0; kind < HD_DISPATCH_COUNT; kind++) {
    hd_dispatch how = {(hd_dispatch_kind)kind, 5, 2};
    start *a = take_all(&how, 500, 13), *b = take_all(&how, 500, 13);
    assert_memory_equal(a, b, 500 * sizeof *a);
    how.seed = 6;
    start *c = take_all(&how, 500, 13);
    if (kind == HD_DISPATCH_SHUFFLED || kind == HD_DISPATCH_DEMAND)
      assert_memory_not_equal(a, c, 500 * sizeof *a);
    free(a), free(b), free(c);
  }
}

static void kinds_place_ctas_as_they_say(void **state) {
  enum { N = 400, M = 20 };
  for (unsigned kind = 0; kind < HD_DISPATCH_COUNT; kind++) {
    hd_dispatch how = {(hd_dispatch_kind)kind, 9, 2};
    for (int played = 0; played < 2; played++) {
      start *log = played ? play(&how, N, M, 3) : take_all(&how, N, M);
      uint32_t count[M] = {0}, early[M] = {0}, used = 0, used_early = 0;
      for (int k = 0; k < N; k++) {
        used += count[log[k].sm]++ == 0;
        if (k < N / 2 - 2 * M) used_early += early[log[k].sm]++ == 0;
        if (kind != HD_DISPATCH_SHUFFLED)
          assert_int_equal(log[k].task, kind == HD_DISPATCH_REVERSE ? N - 1 - k : k);
        if (kind == HD_DISPATCH_ROUND_ROBIN) assert_int_equal(log[k].sm, k % M);
        if (kind == HD_DISPATCH_DEMAND && k < 2 * M) assert_int_equal(log[k].sm, k % M);
      }
      switch (kind) {
      case HD_DISPATCH_ONE_SM: assert_int_equal(count[0], N); break;
      case HD_DISPATCH_STARVED: assert_int_equal(used, M / 2); break;
      case HD_DISPATCH_LATE:
        assert_int_equal(used_early, (M + 7) / 8);
        assert_int_equal(used, M);
        break;
      default: assert_int_equal(used, M); break;
      }
      free(log);
    }
  }
}

static void serial_keeps_one_cta_alive(void **state) {
  hd_dispatch how = {HD_DISPATCH_SERIAL, 0, 4};
  emu_dispatcher *p;
  hd_diag d;
  CHECK_OK(emu_dispatcher_create(&how, 3, 5, &p, &d), &d);
  uint64_t task;
  uint32_t sm;
  for (int k = 0; k < 3; k++) {
    assert_int_equal(emu_dispatch_next(p, &task, &sm), EMU_DISPATCH_START);
    assert_int_not_equal(emu_dispatch_next(p, &task, &sm), EMU_DISPATCH_START);
    emu_dispatch_retire(p, sm);
  }
  assert_int_equal(emu_dispatch_next(p, &task, &sm), EMU_DISPATCH_END);
  emu_dispatcher_destroy(p);
}

/* 8448 CTAs of a saxpy on 132 SMs of an H100: 51 to 73 each. */
static void demand_spreads_like_hardware(void **state) {
  hd_dispatch how = {HD_DISPATCH_DEMAND, 1, 8};
  start *log = take_all(&how, 8448, 132);
  uint32_t count[132] = {0}, least = UINT32_MAX, most = 0;
  for (int k = 0; k < 8448; k++) count[log[k].sm]++;
  for (int s = 0; s < 132; s++) {
    if (count[s] < least) least = count[s];
    if (count[s] > most) most = count[s];
  }
  assert_in_range(least, 48, 62);
  assert_in_range(most, 66, 80);
  free(log);
}

static void huge_grids_are_dispatched_without_lists(void **state) {
  for (unsigned kind = 0; kind < HD_DISPATCH_COUNT; kind++) {
    hd_dispatch how = {(hd_dispatch_kind)kind, 1, 1};
    emu_dispatcher *p;
    hd_diag d;
    const uint64_t n = UINT64_C(0x7fffffff) * 65535 * 65535;
    CHECK_OK(emu_dispatcher_create(&how, n, 132, &p, &d), &d);
    uint64_t task;
    uint32_t sm;
    for (int k = 0; k < 1000; k++) {
      assert_true(emu_dispatch_take(p, &task, &sm));
      assert_true(task < n);
    }
    emu_dispatcher_destroy(p);
  }
}

static void names_are_parsed_back(void **state) {
  for (unsigned kind = 0; kind < HD_DISPATCH_COUNT; kind++) {
    hd_dispatch_kind back;
    assert_int_equal(hd_dispatch_parse(hd_dispatch_name((hd_dispatch_kind)kind), &back, NULL), HD_OK);
    assert_int_equal(back, kind);
  }
  hd_dispatch_kind back;
  assert_int_equal(hd_dispatch_parse("robin", &back, NULL), HD_ERR_USAGE);
  hd_diag d;
  emu_dispatcher *p;
  assert_int_equal(emu_dispatcher_create(&(hd_dispatch){.kind = HD_DISPATCH_COUNT}, 1, 1, &p, &d),
                   HD_ERR_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every CTA starts exactly once under every dispatcher", every_cta_starts_exactly_once),
      BEHAVIOUR("the seed fixes the order and nothing else does", a_seed_fixes_the_order),
      BEHAVIOUR("each kind places CTAs as its description says", kinds_place_ctas_as_they_say),
      BEHAVIOUR("serial keeps one CTA alive in the whole machine", serial_keeps_one_cta_alive),
      BEHAVIOUR("demand spreads CTAs as unevenly as hardware", demand_spreads_like_hardware),
      BEHAVIOUR("the largest grid needs no list of its CTAs", huge_grids_are_dispatched_without_lists),
      BEHAVIOUR("names are parsed back, others refused", names_are_parsed_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
