/* Traces that are more work than they may be. */
#include "check.h"
#include "model/synth.h"

#include "model/trace.h"

enum { EACH = 10 }; /* instructions of a CTA */

/* CTAs that start, of `tasks`, where the trace may be so much work. */
static uint32_t started(uint32_t tasks, uint64_t most) {
  const uint32_t grid[3] = {tasks, 1, 1}, block[3] = {32, 1, 1};
  hd_trace *t;
  hd_diag d;
  uint32_t n = 0;
  assert_int_equal(hd_trace_create(grid, block, 1, 0, &t, &d), HD_OK);
  hd_trace_set_most(t, most);
  const hd_emu_hooks *h = hd_trace_hooks(t);
  for (; n < tasks && h->go_on(h->ctx); n++) {
    h->cta_start(h->ctx, 0, n, 0);
    h->cta_end(h->ctx, 0, n, EACH, EACH);
  }
  assert_int_equal(hd_trace_finish(t, &d), n < tasks ? HD_ERR_BUDGET : HD_OK);
  hd_trace_destroy(t);
  return n;
}

/* Each row's launches are the same whatever the machine does meanwhile. */
static void a_trace_ends_with_its_work(void **state) {
  static const struct {
    uint32_t tasks, starts;
    uint64_t most;
  } cases[] = {{1000, 1000, 0},
               {1000, 1000, 1000 * EACH},
               {1000, 1000, 5000 * EACH},
               {1000, 901, 900 * EACH},
               {1000, 901, 901 * EACH - 1},
               {100000, 51, 50 * EACH},
               {4, 1, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(started(cases[i].tasks, cases[i].most), cases[i].starts);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a trace ends with the work that it may be", a_trace_ends_with_its_work),
  };
  return cmocka_run_group_tests_name("model.long_traces", tests, NULL, NULL);
}
