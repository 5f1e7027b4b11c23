/* Recording: sums, compulsory traffic, host threads, limits, misuse. */
#include "model/traces.h"

/* ---- Sums ---------------------------------------------------------------------------- */

typedef struct tally {
  hd_trace_info want;
  uint8_t read[SPACE * 2], written[SPACE * 2], mine[SPACE * 2];
} tally;

static void tally_access(void *ctx, unsigned worker, const hd_access *a) {
  tally *t = ctx;
  if (!a->mask) return;
  if (a->space == HD_SPACE_SHARED) {
    t->want.shared_accesses++;
    return;
  }
  t->want.warp_accesses++;
  static uint8_t seen[SPACE * 2];
  memset(seen, 0, sizeof seen);
  for (unsigned i = 0; i < 32; i++) {
    if (!(a->mask >> i & 1)) continue;
    t->want.thread_accesses++;
    uint64_t s = a->addr[i] / 32;
    t->want.sectors += !seen[s];
    seen[s] = 1;
    bool loads = a->kind == HD_ACCESS_LOAD || a->kind == HD_ACCESS_ATOMIC;
    if (loads && t->mine[s] < 1) t->read[s] = 1;
  }
  for (unsigned i = 0; i < 32; i++)
    if ((a->mask >> i & 1) && (a->kind == HD_ACCESS_STORE || a->kind == HD_ACCESS_ATOMIC))
      t->mine[a->addr[i] / 32] = t->written[a->addr[i] / 32] = 1;
}
static void tally_barrier(void *ctx, unsigned worker, uint64_t task, uint32_t warp) {}

static void sums_and_compulsory_traffic_are_those_of_counting_one_by_one(void **state) {
  for (uint64_t seed = 1; seed < 9; seed++) {
    tally *want = calloc(1, sizeof *want);
    hd_emu_hooks count = {.ctx = want, .access = tally_access, .barrier = tally_barrier};
    hd_trace *t = create(20, 1);
    for (uint64_t task = 0; task < 20; task++) {
      run_task(hd_trace_hooks(t), 0, seed, task);
      memset(want->mine, 0, sizeof want->mine);
      random_task(&count, 0, seed, task);
    }
    assert_int_equal(hd_trace_finish(t, NULL), HD_OK);
    hd_trace_info got = hd_trace_get_info(t);
    uint64_t read = 0, written = 0;
    for (size_t i = 0; i < sizeof want->read; i++) {
      read += want->read[i];
      written += want->written[i];
    }
    assert_int_equal(got.tasks, 20);
    assert_int_equal(got.warps_per_task, WARPS);
    assert_int_equal(got.warp_accesses, want->want.warp_accesses);
    assert_int_equal(got.thread_accesses, want->want.thread_accesses);
    assert_int_equal(got.shared_accesses, want->want.shared_accesses);
    assert_int_equal(got.sectors, want->want.sectors);
    assert_int_equal(got.read_bytes, read * 32);
    assert_int_equal(got.written_bytes, written * 32);
    assert_int_equal(got.warp_instructions, 20 * 100 + 190);
    assert_int_equal(got.thread_instructions, 20 * 3000 + 190);
    hd_trace_destroy(t);
    free(want);
  }
}

/* ---- Host threads ------------------------------------------------------------------------ */

typedef struct crew {
  hd_trace *t;
  unsigned n;
  uint32_t tasks;
} crew;

/* Each host thread keeps two CTAs open at once, as an emulator with two resident CTAs does. */
static void crew_run(void *ctx, unsigned worker) {
  crew *c = ctx;
  const hd_emu_hooks *h = hd_trace_hooks(c->t);
  for (uint64_t task = worker; task < c->tasks; task += 2 * c->n) {
    uint64_t other = task + c->n;
    h->cta_start(h->ctx, worker, task, 0);
    if (other < c->tasks) h->cta_start(h->ctx, worker, other, 0);
    random_task(h, worker, 5, task);
    if (other < c->tasks) random_task(h, worker, 5, other);
    if (other < c->tasks) h->cta_end(h->ctx, worker, other, 100, 3000);
    h->cta_end(h->ctx, worker, task, 100, 3000);
  }
}

static void the_trace_does_not_depend_on_the_number_of_host_threads(void **state) {
  enum { TASKS = 150 };
  hd_trace *traces[3];
  static const unsigned workers[] = {1, 2, 7};
  for (int i = 0; i < 3; i++) {
    crew c = {create(TASKS, workers[i]), workers[i], TASKS};
    assert_true(hd_parallel(c.n, crew_run, &c));
    assert_int_equal(hd_trace_finish(c.t, NULL), HD_OK);
    traces[i] = c.t;
  }
  hd_trace_info one = hd_trace_get_info(traces[0]);
  for (int i = 1; i < 3; i++) {
    hd_trace_info info = hd_trace_get_info(traces[i]);
    info.memory = one.memory;
    assert_memory_equal(&info, &one, sizeof one);
    expect_same_streams(traces[0], traces[i], TASKS);
  }
  for (int i = 0; i < 3; i++) hd_trace_destroy(traces[i]);
}

/* ---- Memory -------------------------------------------------------------------------------- */

static void stencil_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  uint64_t at = (1 << 20) + (task * WARPS + warp) * 128;
  for (uint32_t i = 0; i < 5; i++)
    synth_put(h, worker, task, warp, i, HD_ACCESS_LOAD, at + (uint64_t)(i % 2 ? 4 : 8192) * i, 4);
  synth_put(h, worker, task, warp, 5, HD_ACCESS_STORE, at + (64 << 20), 4);
}

static void affine_kernels_take_three_bytes_per_access_or_less(void **state) {
  hd_trace *t = synth_trace(4096, WARPS * 32, stencil_warp, NULL);
  hd_trace_info info = hd_trace_get_info(t);
  assert_in_range(info.memory, 1, 3 * info.warp_accesses);
  hd_trace_destroy(t);
}

static void a_trace_that_outgrows_its_limit_ends_with_nomem(void **state) {
  const uint32_t grid[3] = {64, 1, 1}, block[3] = {WARPS * 32, 1, 1};
  hd_diag d;
  hd_trace *t;
  assert_int_equal(hd_trace_create(grid, block, 1, 1000, &t, &d), HD_ERR_BUDGET);
  assert_null(t);
  assert_int_equal(hd_trace_create(grid, block, 1, 2 << 20, &t, &d), HD_OK);
  const hd_emu_hooks *h = hd_trace_hooks(t);
  rng r = {6, 0};
  for (uint64_t task = 0; task < 64; task++) {
    h->cta_start(h->ctx, 0, task, 0);
    for (int k = 0; k < 2000; k++) {
      uint64_t addr[32];
      for (unsigned i = 0; i < 32; i++) addr[i] = below(&r, 1 << 20) * 4;
      hd_access a = synth_access(task, 0, 0, HD_ACCESS_LOAD, 4, addr);
      h->access(h->ctx, 0, &a);
    }
    h->cta_end(h->ctx, 0, task, 1, 1);
  }
  assert_int_equal(hd_trace_finish(t, &d), HD_ERR_BUDGET);
  hd_trace_destroy(t);
}

/* A launch of a long row may touch a little of much memory: the sectors that it touches take no more memory
 * than they need. */
static void touches_far_apart_take_little_memory(void **state) {
  const uint32_t grid[3] = {1, 1, 1}, block[3] = {32, 1, 1};
  hd_diag d;
  hd_trace *t;
  assert_int_equal(hd_trace_create(grid, block, 1, 2 << 20, &t, &d), HD_OK);
  const hd_emu_hooks *h = hd_trace_hooks(t);
  h->cta_start(h->ctx, 0, 0, 0);
  for (uint64_t k = 0; k < 256; k++) {
    synth_put(h, 0, 0, 0, 0, HD_ACCESS_LOAD, k << 25, 4);
    synth_put(h, 0, 0, 0, 1, HD_ACCESS_STORE, k << 25, 4); /* 64 bytes of the second half are new */
    synth_put(h, 0, 0, 0, 1, HD_ACCESS_STORE, (k << 25) + 64, 4);
  }
  h->cta_end(h->ctx, 0, 0, 1, 32);
  assert_int_equal(hd_trace_finish(t, &d), HD_OK);
  assert_int_equal(hd_trace_get_info(t).read_bytes, 256 * 128);
  assert_int_equal(hd_trace_get_info(t).written_bytes, 256 * 192);
  hd_trace_destroy(t);
}

/* ---- Misuse ---------------------------------------------------------------------------------- */

static void launches_that_cannot_be_are_refused(void **state) {
  static const struct {
    uint32_t grid[3], block[3];
    unsigned workers;
    hd_status want;
  } cases[] = {
      {{0, 1, 1}, {32, 1, 1}, 1, HD_ERR_USAGE},
      {{1, 1, 1}, {0, 1, 1}, 1, HD_ERR_USAGE},
      {{1, 1, 1}, {32, 1, 0}, 1, HD_ERR_USAGE},
      {{1, 1, 1}, {1025, 1, 1}, 1, HD_ERR_USAGE},
      {{1, 1, 1}, {UINT32_MAX, UINT32_MAX, UINT32_MAX}, 1, HD_ERR_USAGE},
      {{UINT32_MAX, UINT32_MAX, UINT32_MAX}, {32, 1, 1}, 1, HD_ERR_USAGE},
      {{UINT32_MAX, UINT32_MAX, 1}, {32, 1, 1}, 1, HD_ERR_BUDGET},
      {{1, 1, 1}, {32, 1, 1}, 0, HD_ERR_USAGE},
      {{1, 1, 1}, {32, 1, 1}, 1u << 30, HD_ERR_USAGE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_trace *t;
    assert_int_equal(hd_trace_create(cases[i].grid, cases[i].block, cases[i].workers, 0, &t, NULL),
                     cases[i].want);
    assert_null(t);
  }
}

static void expect_finish(hd_trace *t, hd_status want) {
  assert_int_equal(hd_trace_finish(t, NULL), want);
  hd_trace_destroy(t);
}

static void hooks_out_of_place_fail_the_trace_and_nothing_else(void **state) {
  uint64_t addr[32] = {0};
  for (int k = 0; k < 8; k++) {
    hd_trace *t = create(2, 1);
    const hd_emu_hooks *h = hd_trace_hooks(t);
    run_task(h, 0, 1, 0);
    if (k != 4) run_task(h, 0, 1, 1);
    hd_access a = synth_access(0, 0, 0, HD_ACCESS_LOAD, 4, addr);
    switch (k) {
    case 0: h->access(h->ctx, 0, &a); break;      /* a task that is not running */
    case 1: h->access(h->ctx, 1, &a); break;      /* no such worker */
    case 2: h->cta_start(h->ctx, 0, 2, 0); break; /* no such task */
    case 3: run_task(h, 0, 1, 1); break;          /* twice */
    case 4: h->cta_start(h->ctx, 0, 1, 0); break; /* never ends */
    case 5: h->cta_end(h->ctx, 0, 0, 1, 1); break;
    case 6:
      h->cta_start(h->ctx, 0, 1, 0);
      h->barrier(h->ctx, 0, 1, WARPS); /* no such warp */
      break;
    default:
      h->cta_start(h->ctx, 0, 1, 0);
      a.task = 1;
      addr[7] = 1ull << 38; /* too far */
      h->access(h->ctx, 0, &a);
      break;
    }
    expect_finish(t, k == 7 ? HD_ERR_UNSUPPORTED : HD_ERR_USAGE);
  }
}

static void addresses_count_from_the_start_of_device_memory(void **state) {
  hd_trace *t[2];
  for (uint64_t i = 0; i < 2; i++) {
    t[i] = create(1, 1);
    const hd_emu_hooks *h = hd_trace_hooks(t[i]);
    h->cta_start(h->ctx, 0, 0, 0);
    synth_put(h, 0, 0, 0, 0, HD_ACCESS_LOAD, i * 0x700000000000ull + 4096, 4);
    h->cta_end(h->ctx, 0, 0, 1, 1);
    assert_int_equal(hd_trace_finish(t[i], NULL), HD_OK);
  }
  expect_same_streams(t[0], t[1], 1);
  hd_trace_destroy(t[0]);
  hd_trace_destroy(t[1]);
}

static void count_access(void *ctx, const hd_trace_event *e) { ++*(uint64_t *)ctx; }

static void a_walk_beyond_the_last_task_is_refused_with_the_task_that_is_not_there(void **state) {
  hd_trace *t = create(3, 1);
  hd_diag d;
  uint64_t n = 0;
  for (uint64_t task = 0; task < 3; task++) run_task(hd_trace_hooks(t), 0, 1, task);
  assert_int_equal(hd_trace_walk(t, 0, 3, count_access, &n, &d), HD_ERR_USAGE); /* not finished */
  assert_int_equal(hd_trace_finish(t, NULL), HD_OK);
  static const struct {
    uint64_t first, n;
    const char *message;
  } cases[] = {{0, 4, "the trace has no task 3"},
               {1, UINT64_MAX, "the trace has no task 3"},
               {3, 1, "the trace has no task 3"},
               {7, 0, "the trace has no task 7"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(hd_trace_walk(t, cases[i].first, cases[i].n, count_access, &n, &d), HD_ERR_USAGE);
    assert_string_equal(d.message, cases[i].message);
  }
  assert_int_equal(n, 0);
  assert_int_equal(hd_trace_walk(t, 3, 0, count_access, &n, &d), HD_OK);
  assert_int_equal(n, 0);
  assert_int_equal(hd_trace_walk(t, 1, 2, count_access, &n, &d), HD_OK);
  assert_true(n > 0);
  hd_trace_destroy(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_and_compulsory_traffic_are_those_of_counting_one_by_one),
      cmocka_unit_test(the_trace_does_not_depend_on_the_number_of_host_threads),
      cmocka_unit_test(affine_kernels_take_three_bytes_per_access_or_less),
      cmocka_unit_test(a_trace_that_outgrows_its_limit_ends_with_nomem),
      cmocka_unit_test(touches_far_apart_take_little_memory),
      cmocka_unit_test(launches_that_cannot_be_are_refused),
      cmocka_unit_test(hooks_out_of_place_fail_the_trace_and_nothing_else),
      cmocka_unit_test(addresses_count_from_the_start_of_device_memory),
      cmocka_unit_test(a_walk_beyond_the_last_task_is_refused_with_the_task_that_is_not_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
