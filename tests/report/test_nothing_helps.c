/* Why a kernel is left as it is. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "report/summary.h"

static const hd_gpu gpu = {.name = "g", .n_sms = 132, .max_warps = 64};
static const hd_plan column = {.order = {.kind = HD_ORDER_COL}};

/* Of a launch of so many CTAs, from the default's counters. */
static void why(uint32_t ctas, hd_counters c, size_t most, hd_buf *out) {
  hd_wl_launch l = {.grid = {ctas, 1, 1}, .block = {256, 1, 1}};
  const hd_workload w = {.launches = &l, .n_launches = 1};
  c.resident = 8;
  c.time_us = 125;
  const hd_sweep_row rows[] = {{.counters = c}, {.plan = column, .counters = {.time_us = 100}}};
  const hd_report r = {.workload = &w, .gpu = &gpu, .rows = rows, .n_rows = 2, .no_gain = true, .most = most};
  hd_buf_clear(out);
  report_put_nothing_helps(&r, out);
}

static void the_busiest_part_of_the_gpu_bounds_the_time(void **state) {
  static const struct {
    hd_counters c;
    const char *says;
  } cases[] = {{{.cycles_issue = 2, .cycles_l1 = 1}, "instruction issue bounds the time on g"},
               {{.cycles_issue = 1, .cycles_l1 = 2, .cycles_l2 = 1}, "L1 bandwidth bounds the time on g"},
               {{.cycles_l1 = 1, .cycles_l2 = 2, .cycles_dram = 1}, "L2 bandwidth bounds the time on g"},
               {{.cycles_l2 = 1, .cycles_dram = 2}, "DRAM bandwidth bounds the time on g"}};
  hd_buf out = {0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    why(4096, cases[i].c, 0, &out);
    if (!strstr(out.data, cases[i].says)) fail_msg("case %zu: %s", i, out.data);
  }
  hd_buf_free(&out);
}

static void too_small_a_launch_waits_for_latency(void **state) {
  hd_buf out = {0};
  why(4, (hd_counters){.cycles_l1 = 100}, 0, &out);
  assert_non_null(strstr(out.data, "no gain is predicted; latency bounds the time on g, not bandwidth: "));
  hd_buf_free(&out);
}

static void traffic_is_called_what_it_is(void **state) {
  static const struct {
    uint64_t moved;
    const char *says;
  } cases[] = {{70, "0.70x compulsory, and"},    {96, "0.96x compulsory, and"},
               {97, "within 1% of compulsory"},  {100, "within 1% of compulsory"},
               {104, "within 4% of compulsory"}, {105, "1.05x compulsory)"},
               {150, "1.50x compulsory)"}};
  hd_buf out = {0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    why(4096, (hd_counters){.cycles_l1 = 1, .dram_read_bytes = cases[i].moved, .compulsory_bytes = 100}, 0,
        &out);
    if (!strstr(out.data, cases[i].says)) fail_msg("%s", out.data);
  }
  hd_buf_free(&out);
}

static void a_gain_that_the_model_may_err_is_named(void **state) {
  hd_buf out = {0};
  why(4096, (hd_counters){.cycles_l1 = 1}, 1, &out);
  assert_non_null(strstr(out.data, "no gain beyond what the model may err (the best: order=col, 1.25x) is "
                                   "predicted; "));
  hd_buf_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the busiest part of the GPU bounds the time", the_busiest_part_of_the_gpu_bounds_the_time),
      BEHAVIOUR("too small a launch waits for latency", too_small_a_launch_waits_for_latency),
      BEHAVIOUR("traffic is called what it is", traffic_is_called_what_it_is),
      BEHAVIOUR("a gain that the model may err is named", a_gain_that_the_model_may_err_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
