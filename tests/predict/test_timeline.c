/* Timelines of a workload's busiest launch. */
#include <string.h>

#include "predict/session.h"

/* Built from text alone: no compiler is needed. */
static session open_timed(uint64_t units) {
  session z = {.w = open_workload(SOURCE_DIR "/corpus/triton/softmax-sm80", "small"), .g = load_gpu("h100")};
  hd_diag d = {0};
  z.g.n_sms = z.g.max_ctas = 2; /* many waves */
  const hd_run_options run = {.machine = {.threads = 2, .n_sms = z.g.n_sms}};
  const hd_study_options how = {.timed = true, .sample_gpu = &z.g, .sample_units = units};
  if (hd_study_open(z.w, &run, &how, &z.s, &d) != HD_OK) fail_msg("%s", d.message);
  return z;
}

static hd_timeline timeline(const session *z, const char *plan) {
  hd_timeline t = {0};
  hd_diag d = {0};
  const hd_plan p = parse_plan(plan);
  if (hd_study_timeline(z->s, &z->g, &p, HD_DISPATCH_DEMAND, 1, &t, &d) != HD_OK)
    fail_msg("%s: %s", plan, d.message);
  return t;
}

static void plans_give_the_tasks_of_the_original_in_their_order(void **state) {
  session z = open_timed(0);
  const uint32_t *g = z.w->launches[0].grid;
  const uint64_t tasks = (uint64_t)g[0] * g[1] * g[2];
  hd_timeline rows = timeline(&z, "baseline"), columns = timeline(&z, "order=reverse");
  assert_int_equal(rows.n, tasks);
  assert_int_equal(columns.n, tasks);
  assert_int_equal(rows.ctas[0].task, 0);
  assert_int_equal(columns.ctas[0].task, tasks - 1);
  assert_false(rows.other_text || columns.other_text);
  assert_int_equal(rows.cut_after, 0);
  hd_timeline_free(&rows);
  hd_timeline_free(&columns);
  close_session(&z);
}

static void plans_that_change_accesses_say_that_the_text_is_another(void **state) {
  session z = open_timed(0);
  hd_timeline t = timeline(&z, "stream=l1");
  assert_true(t.other_text);
  assert_true(t.n > 0);
  hd_timeline_free(&t);
  close_session(&z);
}

static void of_a_sampled_launch_a_part_is_shown(void **state) {
  session z = open_timed(100);
  assert_true(hd_study_part(z.s) < 1);
  const uint64_t all = hd_trace_tasks(hd_study_trace(z.s, 0));
  for (unsigned i = 0; i < 2; i++) {
    hd_timeline t = timeline(&z, i ? "order=reverse" : "baseline");
    assert_true(t.tasks > 0 && t.tasks < all);
    assert_int_equal(t.n, t.tasks);
    assert_true(t.first + t.tasks <= all);
    for (uint64_t k = 0; k < t.n; k++)
      assert_in_range(i ? all - 1 - t.ctas[k].task : t.ctas[k].task, t.first, t.first + t.tasks - 1);
    hd_timeline_free(&t);
  }
  close_session(&z);
}

static void a_study_without_a_clock_has_none(void **state) {
  session z = open_session(SOURCE_DIR "/corpus/triton/softmax-sm80", "tiny", "h100");
  hd_timeline t = {0};
  hd_diag d = {0};
  assert_int_equal(hd_study_timeline(z.s, &z.g, &hd_plan_original, HD_DISPATCH_DEMAND, 1, &t, &d),
                   HD_ERR_UNSUPPORTED);
  assert_non_null(strstr(d.message, "clock"));
  close_session(&z);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("plans give the tasks of the original in their order",
                plans_give_the_tasks_of_the_original_in_their_order),
      BEHAVIOUR("plans that change accesses say that the text is another",
                plans_that_change_accesses_say_that_the_text_is_another),
      BEHAVIOUR("of a sampled launch a part is shown", of_a_sampled_launch_a_part_is_shown),
      BEHAVIOUR("a study without a clock has none", a_study_without_a_clock_has_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
