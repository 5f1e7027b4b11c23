/* Traces that take longer than they may, by a clock that advances by a millisecond with each CTA. */
#include "check.h"
#include "model/synth.h"

#include "model/trace.h"

/* CTAs that start, of `tasks`, where the trace may take so many milliseconds from now on. */
static uint32_t started(uint32_t tasks, double ms) {
  const uint32_t grid[3] = {tasks, 1, 1}, block[3] = {32, 1, 1};
  hd_trace *t;
  hd_diag d;
  uint32_t n = 0;
  assert_int_equal(hd_trace_create(grid, block, 1, 0, &t, &d), HD_OK);
  hd_trace_set_deadline(t, hd_seconds() + ms * 1e-3);
  const hd_emu_hooks *h = hd_trace_hooks(t);
  for (; n < tasks && h->go_on(h->ctx); n++) {
    h->cta_start(h->ctx, 0, n, 0);
    h->cta_end(h->ctx, 0, n, 1, 1);
  }
  assert_int_equal(hd_trace_finish(t, &d), n < tasks ? HD_ERR_BUDGET : HD_OK);
  hd_trace_destroy(t);
  return n;
}

static void a_trace_ends_at_its_deadline(void **state) {
  assert_int_equal(started(1000, 1100), 1000);
  assert_in_range(started(1000, 900), 880, 900);
}

static void a_trace_that_would_miss_its_deadline_by_far_ends_early(void **state) {
  assert_in_range(started(1000, 500), 60, 90);
  assert_in_range(started(100000, 500), 60, 90);
  assert_in_range(started(4, 1), 0, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a trace ends at its deadline", a_trace_ends_at_its_deadline),
      BEHAVIOUR("a trace that would miss its deadline by far ends early",
                a_trace_that_would_miss_its_deadline_by_far_ends_early),
  };
  return cmocka_run_group_tests_name("model.deadline", tests, NULL, NULL);
}
