/* Traces that take more tasks, while others read them. */
#include <pthread.h>

#include "model/traces.h"

enum { TASKS = 240, FIRST = 40, AT_ONCE = 3, SEED = 7 };

static hd_trace *create_with_gaps(uint64_t limit) {
  const uint32_t grid[3] = {TASKS, 1, 1}, block[3] = {WARPS * 32, 1, 1};
  hd_trace *t;
  assert_int_equal(hd_trace_create(grid, block, AT_ONCE, limit, &t, NULL), HD_OK);
  hd_trace_allow_gaps(t);
  return t;
}

/* Tasks from .. to - 1, dealt to the workers. */
static hd_status record(hd_trace *t, uint64_t from, uint64_t to) {
  for (uint64_t task = from; task < to; task++)
    run_task(hd_trace_hooks(t), (unsigned)(task % AT_ONCE), SEED, task);
  return hd_trace_finish(t, NULL);
}

static hd_trace *first_tasks(void) {
  hd_trace *t = create_with_gaps(0);
  assert_int_equal(record(t, 0, FIRST), HD_OK);
  return t;
}

/* All in one recording. */
static hd_trace *whole(void) {
  hd_trace *t = create_with_gaps(0);
  assert_int_equal(record(t, 0, TASKS), HD_OK);
  return t;
}

static void recordings_one_after_the_other_give_the_trace_of_one(void **state) {
  hd_trace *want = whole(), *t = create_with_gaps(0);
  assert_int_equal(hd_trace_finish(t, NULL), HD_OK);
  for (uint64_t task = 0; task < TASKS; task++) { /* more workers than a few blocks of them */
    assert_false(hd_trace_has(t, task));
    assert_int_equal(hd_trace_resume(t, NULL), HD_OK);
    assert_int_equal(record(t, task, task + 1), HD_OK);
    assert_true(hd_trace_has(t, task));
    assert_int_equal(hd_trace_get_info(t).recorded, task + 1);
  }
  hd_trace_info a = hd_trace_get_info(want), b = hd_trace_get_info(t);
  a.memory = b.memory = 0;
  assert_memory_equal(&a, &b, sizeof a);
  expect_same_streams(want, t, TASKS);
  hd_trace_destroy(want);
  hd_trace_destroy(t);
}

/* ---- While others read -------------------------------------------------------------------- */

typedef struct recorder {
  hd_trace *t;
  hd_status st;
  _Atomic bool done;
} recorder;

static void *record_the_rest(void *ctx) {
  recorder *r = ctx;
  for (uint64_t task = FIRST; r->st == HD_OK && task < TASKS; task += 2) {
    r->st = hd_trace_resume(r->t, NULL);
    if (r->st == HD_OK) r->st = record(r->t, task, task + 2);
  }
  r->done = true;
  return NULL;
}

static void replays_go_on_while_further_tasks_are_recorded(void **state) {
  const hd_gpu g = synth_gpu();
  const hd_replay_options o = {.dispatch = {HD_DISPATCH_ROUND_ROBIN, 0}, .part = {0, FIRST}};
  hd_trace *want = first_tasks();
  hd_model *m;
  hd_counters before, after;
  hd_diag d = {0};
  assert_int_equal(hd_model_create(&g, &m, NULL), HD_OK);
  assert_int_equal(hd_model_replay(m, want, &o, &before, NULL), HD_OK);
  recorder r = {.t = first_tasks()};
  hd_trace_show_so_far(r.t);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, record_the_rest, &r), 0);
  unsigned replays = 0;
  for (bool last = false; !last; replays++) {
    last = r.done;
    if (hd_model_replay(m, r.t, &o, &after, &d) != HD_OK) fail_msg("%s", d.message);
    assert_memory_equal(&before, &after, sizeof before);
  }
  pthread_join(thread, NULL);
  assert_int_equal(r.st, HD_OK);
  assert_true(replays > 1);
  hd_trace *all = whole();
  expect_same_streams(all, r.t, TASKS);
  hd_trace_destroy(all);
  hd_trace_destroy(want);
  hd_trace_destroy(r.t);
  hd_model_destroy(m);
}

/* ---- Walks ------------------------------------------------------------------------------------ */

static void count_access(void *ctx, const hd_trace_event *e) { ++*(uint64_t *)ctx; }

static uint64_t walk(const hd_trace *t, uint64_t first, uint64_t n) {
  uint64_t accesses = 0;
  hd_diag d = {0};
  if (hd_trace_walk(t, first, n, count_access, &accesses, &d) != HD_OK) fail_msg("%s", d.message);
  return accesses;
}

static void walks_and_sums_show_what_was_recorded_by_then(void **state) {
  for (int frozen = 0; frozen < 2; frozen++) {
    hd_trace *t = first_tasks();
    const hd_trace_info info = hd_trace_get_info(t);
    const uint64_t accesses = walk(t, 0, TASKS);
    assert_int_equal(accesses, walk(t, 0, FIRST));
    assert_int_equal(accesses, info.warp_accesses);
    if (frozen) hd_trace_show_so_far(t);
    assert_int_equal(hd_trace_resume(t, NULL), HD_OK);
    assert_int_equal(walk(t, 0, TASKS), accesses); /* while it takes tasks */
    assert_int_equal(record(t, FIRST, TASKS), HD_OK);
    const hd_trace_info now = hd_trace_get_info(t);
    assert_true(hd_trace_has(t, TASKS - 1)); /* replays have it */
    assert_int_equal(hd_trace_task_instructions(t, FIRST - 1), 100 + FIRST - 1);
    assert_int_equal(hd_trace_task_instructions(t, TASKS - 1), frozen ? 0 : 100 + TASKS - 1);
    assert_int_equal(now.recorded, frozen ? FIRST : TASKS);
    assert_int_equal(walk(t, 0, TASKS), now.warp_accesses);
    if (frozen)
      assert_memory_equal(&now, &info, sizeof now);
    else
      assert_true(now.warp_accesses > info.warp_accesses);
    hd_trace_destroy(t);
  }
}

/* ---- Failures ----------------------------------------------------------------------------------- */

static void a_recording_that_fails_leaves_the_tasks_before_it(void **state) {
  enum { LIMIT = 600000 };
  hd_trace *t = create_with_gaps(LIMIT), *want = first_tasks();
  assert_int_equal(record(t, 0, FIRST), HD_OK);
  assert_int_equal(hd_trace_resume(t, NULL), HD_OK);
  assert_int_equal(record(t, FIRST, TASKS), HD_ERR_BUDGET);
  for (uint64_t task = 0; task < TASKS; task++) assert_int_equal(hd_trace_has(t, task), task < FIRST);
  const hd_trace_info a = hd_trace_get_info(t), b = hd_trace_get_info(want);
  assert_int_equal(a.recorded, b.recorded);
  assert_int_equal(a.sectors, b.sectors);
  assert_int_equal(walk(t, 0, TASKS), walk(want, 0, TASKS));
  expect_same_streams(want, t, FIRST);
  hd_diag d = {0};
  assert_int_equal(hd_trace_resume(t, &d), HD_ERR_USAGE);
  assert_string_equal(d.message, "only a finished trace that may have gaps is resumed");
  hd_trace_destroy(t);
  hd_trace_destroy(want);
}

static void a_trace_is_resumed_as_often_as_there_are_workers(void **state) {
  hd_trace *t = first_tasks();
  hd_diag d = {0};
  unsigned n = 0;
  while (hd_trace_resume(t, &d) == HD_OK) {
    assert_int_equal(hd_trace_finish(t, NULL), HD_OK);
    n++;
  }
  assert_string_equal(d.message, "resumed too often");
  assert_int_equal(n, 4096 / AT_ONCE - 1);
  hd_trace *want = first_tasks();
  expect_same_streams(want, t, FIRST);
  hd_trace_destroy(t);
  hd_trace_destroy(want);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recordings_one_after_the_other_give_the_trace_of_one),
      cmocka_unit_test(replays_go_on_while_further_tasks_are_recorded),
      cmocka_unit_test(walks_and_sums_show_what_was_recorded_by_then),
      cmocka_unit_test(a_recording_that_fails_leaves_the_tasks_before_it),
      cmocka_unit_test(a_trace_is_resumed_as_often_as_there_are_workers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
