/* Memory that runs out in report/: results as JSON, text and CSV, jansson's allocations among them. */
#include "nomem.h"

#include <jansson.h>

#include "heddle/report.h"
#include "heddle/results.h"
#include "heddle/timelines.h"
#include "report/json.h"
#include "report/timelines.h"

static const hd_workload workload = {.name = "made-up", .size = "tiny"};
static const hd_device_info device = {.name = "cuda:0", .title = "A GPU"};
static const hd_gpu gpu = {.name = "other", .title = "Another GPU"};

typedef struct printing {
  const char *name;
  void (*print)(hd_buf *out);
  hd_buf whole; /* with all memory */
} printing;

/* jansson does without some of its allocations; what does not fail is whole. */
static hd_status print(void *ctx, hd_diag *d) {
  printing *p = ctx;
  hd_buf out = {0};
  p->print(&out);
  if (!p->whole.data) {
    p->whole = out;
    return HD_OK;
  }
  const bool failed = out.failed;
  if (!failed) assert_string_equal(out.data, p->whole.data);
  hd_buf_free(&out);
  return failed ? hd_nomem(d) : HD_OK;
}

static hd_tune_trial trials[] = {{.plan = {.order = {.kind = HD_ORDER_COL}}, .speedup = 1.5, .pairs = 9},
                                 {.status = HD_ERR_REFUSED, .why = "line 3: %smid"}};
static hd_tuned kernels[] = {
    {.kernel = "gemm", .vote = {.n = 2, .why = "none"}, .trials = trials, .n_trials = 2}};
static const hd_tuning tuning = {.kernels = kernels, .n_kernels = 1, .has_counters = true};
static const hd_tuning_report tuned = {&workload, &device, &gpu, &tuning, HD_TUNE_SEARCH, 8, false};

static void tuning_json(hd_buf *out) { hd_tuning_json(&tuned, out); }
static void tuning_text(hd_buf *out) { hd_tuning_text(&tuned, out); }

static const hd_sweep_row rows[] = {{.counters = {.time_us = 2, .warp_cycles = 1}},
                                    {.plan = {.order = {.kind = HD_ORDER_COL}}, .counters = {.time_us = 1}},
                                    {.status = HD_ERR_REFUSED, .why = "line 3: %smid"}};
static const hd_report optimized = {.workload = &workload,
                                    .gpu = &gpu,
                                    .dispatch = "demand",
                                    .rows = rows,
                                    .n_rows = 3,
                                    .nothing_helps = "made up"};

static void report_json(hd_buf *out) { hd_report_json(&optimized, out); }
static void report_text(hd_buf *out) { hd_report_text(&optimized, 0, true, out); }
static void sweep_csv(hd_buf *out) { hd_sweep_csv(rows, 3, out); }

static hd_wl_launch launch = {.kernel = "k", .grid = {2, 1, 1}};
static const hd_workload launched = {.name = "made-up", .size = "tiny", .launches = &launch, .n_launches = 1};
static hd_timeline_cta ctas[] = {{.task = 0, .end = 9}, {.task = 1, .start = 9, .end = 20}};
static uint64_t tasks[] = {0, 1};
static uint8_t groups[] = {0, 1};
static hd_colouring colours = {.n = 2, .of = groups, .uses = 4, .within = 2};
static const hd_timelines timelines = {.workload = &launched,
                                       .gpu = &gpu,
                                       .n = 1,
                                       .at = {{.ctas = ctas,
                                               .n = 2,
                                               .ran = 2,
                                               .tasks = 2,
                                               .n_sms = 1,
                                               .sm_step = 1,
                                               .slots = 1,
                                               .cycles = 20,
                                               .clock_mhz = 1000,
                                               .n_bins = 1,
                                               .bin_cycles = 512,
                                               .bins = {{.l1_sectors = 4, .l1_hits = 1}}}},
                                       .tasks = tasks,
                                       .n_tasks = 2,
                                       .colours = &colours};
static void trace_events(hd_buf *out) { hd_timelines_trace(&timelines, out); }
static void timelines_json(hd_buf *out) { report_put_json(report_timelines_json(&timelines), out); }

static void every_allocation_that_fails_makes_the_buffer_fail(void **state) {
  printing cases[] = {
      {"tuning as JSON", tuning_json, {0}},       {"tuning as text", tuning_text, {0}},
      {"optimization as JSON", report_json, {0}}, {"optimization as text", report_text, {0}},
      {"sweep as CSV", sweep_csv, {0}},           {"timelines as trace events", trace_events, {0}},
      {"timelines as JSON", timelines_json, {0}}};
  json_set_alloc_funcs(__wrap_malloc, free);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nomem_expect(&(nomem_entry){cases[i].name, print, &cases[i], true});
    hd_buf_free(&cases[i].whole);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {BEHAVIOUR("every allocation that fails makes the buffer fail",
                                               every_allocation_that_fails_makes_the_buffer_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
