/* Whole texts and JSON of results that are made up. */
#include "golden.h"

#include <math.h>
#include <stdlib.h>

#include "heddle/report.h"
#include "heddle/results.h"
#include "report/json.h"
#include "report/summary.h"

static hd_wl_buffer buffers[] = {{.name = "a"},
                                 {.name = "out", .compare = HD_COMPARE_EXACT},
                                 {.name = "sums", .compare = HD_COMPARE_NEAR}};
static const hd_workload workload = {.name = "made-up",
                                     .title = "a workload of a test",
                                     .paper = "CLU table 2, MDE",
                                     .category = "algorithm",
                                     .size = "tiny",
                                     .buffers = buffers,
                                     .n_buffers = 3,
                                     .n_launches = 2},
                         plain = {
                             .name = "plain", .title = "another", .paper = "", .category = "", .size = "gpu"};
static const hd_device_info device = {
    .name = "cuda:0", .title = "A GPU", .uuid = "GPU-1", .n_sms = 132, .driver_version = 12040};
static const hd_plan column = {.order = {.kind = HD_ORDER_COL}},
                     mirror = {.order = {.kind = HD_ORDER_REVERSE}};
static const hd_counters counters = {.time_us = 12.5,
                                     .l1_sectors = 1000,
                                     .l1_hits = 250,
                                     .l2_sectors = 800,
                                     .l2_hits = 600,
                                     .l2_read_sectors = 700,
                                     .dram_read_bytes = 6400000,
                                     .dram_write_bytes = 3200000,
                                     .compulsory_bytes = 4800000,
                                     .cycles = 900,
                                     .cycles_issue = 100,
                                     .cycles_dram = 900,
                                     .resident = 8};

/* Figures that no GPU has. */
#define COMPARED                                                                                             \
  { .launches = 8, .time_error = 12.5, .effects = 10, .right_signs = 9, .sampled = 16, .sampled_error = 2.5 }

/* One tree, and the same text again when it is printed again. */
static void assert_json(const char *name, hd_buf *text) {
  json_t *j = json_loadb(text->data, text->len, JSON_REJECT_DUPLICATES, NULL);
  hd_buf again = {0};
  if (!j) fail_msg("no JSON:\n%s", text->data);
  report_put_json(j, &again);
  assert_string_equal(again.data, text->data);
  hd_buf_free(&again);
  assert_golden(name, text);
}

static void a_check_says_what_agrees(void **state) {
  hd_buf out = {0};
  hd_check_result r = {.equal = true,
                       .race_free = true,
                       .against_reference = true,
                       .runs = 5,
                       .bytes_compared = 4096,
                       .thread_instructions = 200,
                       .thread_instructions_rewritten = 210,
                       .seconds = 0.25};
  hd_check_text(&(hd_check_report){&workload, &column, NULL, &r}, &out);
  r.race_free = r.against_reference = false;
  r.thread_instructions = 0;
  hd_check_text(&(hd_check_report){&workload, &column, "A GPU", &r}, &out);
  hd_check_text(&(hd_check_report){&workload, &hd_plan_original, NULL, &r}, &out);
  assert_golden("check.txt", &out);
  hd_check_json(&(hd_check_report){&workload, &column, NULL, &r}, &out);
  assert_json("check.json", &out);
  r.equal = false;
  snprintf(r.what, sizeof r.what, "out[3] is 1, not 2");
  hd_check_json(&(hd_check_report){&workload, &column, "A GPU", &r}, &out);
  assert_json("check-different.json", &out);
  hd_check_refused_json("line 7: a \"reason\"", &out);
  assert_json("check-refused.json", &out);
}

static void a_proof_of_a_smaller_size_says_so(void **state) {
  static const struct {
    const char *proof_size, *text, *json;
  } cases[] = {
      {"", "\nProved: 4096 bytes equal under 8 dispatchers, +5.00% instructions.\n", "\"proved\": true"},
      {"less",
       "\nNot proved at size tiny: that would take about 5 min (--exact does it). Proved at size less: 4096 "
       "bytes "
       "equal under 8 dispatchers, +5.00% instructions.\n",
       "\"proved\": false"},
  };
  const hd_gpu gpu = {.name = "h100", .title = "H100 SXM"};
  hd_sweep_row rows[] = {{.counters = counters}, {.plan = column, .counters = counters}};
  const hd_check_result proof = {.equal = true,
                                 .runs = 8,
                                 .bytes_compared = 4096,
                                 .thread_instructions = 200,
                                 .thread_instructions_rewritten = 210};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const hd_report r = {.workload = &workload,
                         .gpu = &gpu,
                         .dispatch = "demand",
                         .rows = rows,
                         .n_rows = 2,
                         .best = 1,
                         .proof = &proof,
                         .proof_size = cases[i].proof_size,
                         .whole_proof_seconds = 300,
                         .output = "made-up.ptx",
                         .html = "made-up.html"};
    hd_buf text = {0}, json = {0};
    hd_report_text(&r, 0, false, &text);
    hd_report_json(&r, &json);
    assert_non_null(strstr(text.data, cases[i].text));
    assert_non_null(strstr(json.data, cases[i].json));
    hd_buf_free(&text);
    hd_buf_free(&json);
  }
}

/* Each bound that was reached stands there, with the option that moves it; and none of the others does. */
static void no_answer_names_the_bounds_that_were_reached(void **state) {
  static const char *const said[] = {
      [HD_BOUND_TIME] = "the time was over (a longer --wall)",
      [HD_BOUND_WORK] = "the traces' work was over what the budget pays for (a larger --budget, above 60)",
      [HD_BOUND_MEMORY] = "the traces' memory was over its limit (a smaller --size)"};
  const hd_gpu gpu = {.name = "h100", .title = "H100 SXM"};
  const hd_sweep_row rows[] = {{.counters = counters}, {.status = HD_ERR_BUDGET, .why = "made up"}};
  for (unsigned ended = 0; ended < 2u << HD_BOUND_MEMORY; ended += 2) {
    hd_report r = {.workload = &workload,
                   .gpu = &gpu,
                   .dispatch = "demand",
                   .rows = rows,
                   .n_rows = 2,
                   .nothing_helps = "made up",
                   .stopped = !ended,
                   .ended = ended};
    hd_buf text = {0};
    hd_report_text(&r, 0, false, &text);
    for (unsigned b = HD_BOUND_TIME; b <= HD_BOUND_MEMORY; b++)
      if ((strstr(text.data, said[b]) != NULL) != (ended >> b & 1)) fail_msg("%u: %s", ended, text.data);
    assert_int_equal(strstr(text.data, "when the search was stopped.") != NULL, !ended);
    hd_buf_free(&text);
  }
}

/* Plans that the time did not suffice for are counted. Without traces there is no page. */
static void an_optimization_says_what_the_time_did_not_suffice_for(void **state) {
  const hd_gpu gpu = {.name = "h100", .title = "H100 SXM"};
  const hd_sweep_row late = {.status = HD_ERR_BUDGET, .why = "the time was over before it was replayed"};
  hd_sweep_row rows[] = {{.counters = counters}, late};
  hd_report r = {.workload = &workload,
                 .gpu = &gpu,
                 .dispatch = "demand",
                 .rows = rows,
                 .n_rows = 2,
                 .nothing_helps = "no gain is predicted",
                 .html = "made-up.html",
                 .ended = 1u << HD_BOUND_TIME,
                 .late = 1};
  hd_buf text = {0};
  hd_report_text(&r, 0, false, &text);
  assert_non_null(
      strstr(text.data, "No answer: 0 of 1 plans replayed when the time was over (a longer --wall).\n"));
  assert_non_null(strstr(text.data, "not tried: the time was over before it was replayed"));
  assert_null(strstr(text.data, "kept"));
  assert_non_null(strstr(text.data, "Wrote made-up.html.\n"));
  hd_report_json(&r, &text);
  assert_non_null(strstr(text.data, "\"late_plans\": 1"));
  assert_non_null(strstr(text.data, "\"answered\": false"));
  assert_non_null(strstr(text.data, "\"not_tried\": \"the time was over"));
  assert_null(strstr(text.data, "nothing_helps"));
  hd_buf_clear(&text);
  hd_report_html(&r, &text);
  assert_non_null(strstr(text.data, "\"no_answer\":\"No answer: 0 of 1 plans replayed"));
  assert_null(strstr(text.data, "\"nothing_helps\":"));
  hd_buf_free(&text);
  rows[0] = late;
  r.nothing_helps = "no plan was tried: made up";
  r.html = NULL;
  hd_report_text(&r, 0, false, &text);
  hd_report_json(&r, &text);
  assert_non_null(strstr(text.data, "\nThe kernel is left as it is: no plan was tried: made up"));
  assert_null(strstr(text.data, "Wrote"));
  assert_null(strstr(text.data, "\"report\""));
  hd_buf_free(&text);
}

/* The counters of a replay without a clock. */
static hd_counters untimed(void) {
  hd_counters c = counters;
  for (size_t i = 0; i < HD_COUNTER_FIELDS; i++)
    if (hd_counter_table[i].uses & HD_COUNTER_IS_TIMED)
      *(double *)(void *)((char *)&c + hd_counter_table[i].offset) = 0;
  return c;
}

static void without_a_clock_nothing_speaks_of_time(void **state) {
  static const char *const words[] = {"time", " us", "cycles", "stall", "speedup"};
  const hd_gpu gpu = {.name = "bare", .title = "bare"};
  hd_sweep_row rows[] = {{.counters = untimed()}, {.plan = column, .counters = untimed()}};
  rows[1].counters.dram_read_bytes /= 2;
  const hd_report r = {
      .workload = &workload, .gpu = &gpu, .dispatch = "demand", .rows = rows, .n_rows = 2, .best = 1};
  const hd_simulation s = {&workload, &gpu, "demand", &column, untimed(), false, 1, false};
  hd_buf text = {0}, csv = {0}, page = {0};
  hd_simulation_json(&s, &text);
  hd_sweep_plot(rows, 2, &text);
  hd_report_json(&r, &text);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strstr(text.data, words[i])) fail_msg("%s: %s", words[i], text.data);
  assert_true(hd_sweep_best(rows, 2) == 1);
  hd_sweep_csv(rows, 2, &csv);
  assert_non_null(strstr(csv.data, "\n\"baseline\",ok,,"));
  hd_report_html(&r, &page);
  assert_non_null(strstr(page.data, "There are no times without a clock (the file of bare has no [units])"));
  assert_null(strstr(page.data, "\"time\":"));
  hd_buf_free(&text);
  hd_buf_free(&csv);
  hd_buf_free(&page);
}

static void a_simulation_is_all_its_counters(void **state) {
  hd_buf out = {0};
  hd_gpu gpu = {.name = "h100", .title = "H100 SXM", .compared = COMPARED};
  hd_simulation s = {&workload, &gpu, "demand", &column, untimed(), false, 1, false};
  hd_simulation_text(&s, &out);
  s.counters = (hd_counters){0};
  hd_simulation_text(&s, &out);
  s.counters = counters;
  s.timed = true;
  hd_simulation_text(&s, &out);
  assert_golden("simulation.txt", &out);
  hd_simulation_json(&s, &out);
  assert_json("simulation.json", &out);
}

#define BY_TRAFFIC "plans rank by traffic, the bytes that L2 and DRAM move.\n"
#define NO_LAUNCH "The file of other has no [launch]: a launch costs nothing beside its CTAs' work.\n"

/* The figures are the GPU's own, by its file. */
static void what_confirms_times_is_said_for_each_gpu(void **state) {
  static const struct {
    hd_gpu gpu;
    bool clock;
    const char *text;
  } cases[] = {
      {{.name = "h100", .compared = COMPARED, .units.fma = 1, .launch.first_us = 1},
       true,
       "Times are by a clock. Compared with such a GPU, it was off by 12.5% (mean of 8 default launches), "
       "and "
       "right about the sign of 90% of plans' effects over 5% (docs/decisions/clock.md).\n"},
      {{.name = "h100", .compared = COMPARED, .units.fma = 1}, /* asked for */
       false,
       "There are no times without a clock (--depth traffic): " BY_TRAFFIC},
      {{.name = "probed", .units.fma = 1, .launch.first_us = 1},
       true,
       "Times are by a clock that was not compared with such a GPU (docs/decisions/clock.md).\n"},
      {{.name = "other", .units.fma = 1},
       true,
       "Times are by a clock that was not compared with such a GPU (docs/decisions/clock.md).\n" NO_LAUNCH},
      {{.name = "bare"},
       false,
       "There are no times without a clock (the file of bare has no [units]): " BY_TRAFFIC}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const hd_counters c = cases[i].clock ? counters : untimed();
    hd_sweep_row rows[] = {{.counters = c}};
    const hd_report r = {.workload = &workload,
                         .gpu = &cases[i].gpu,
                         .dispatch = "demand",
                         .rows = rows,
                         .n_rows = 1,
                         .nothing_helps = "no gain is predicted"};
    const hd_simulation s = {&workload, &cases[i].gpu,  "demand", &hd_plan_original,
                             c,         cases[i].clock, 1,        false};
    hd_buf simulated = {0}, swept = {0}, page = {0}, escaped = {0};
    hd_simulation_text(&s, &simulated);
    hd_report_text(&r, 0, false, &swept);
    hd_report_html(&r, &page);
    for (const char *p = cases[i].text; *p; p++)
      *p == '\n' ? hd_buf_puts(&escaped, "\\n") : hd_buf_putc(&escaped, *p);
    if (strlen(simulated.data) < strlen(cases[i].text) ||
        strcmp(simulated.data + strlen(simulated.data) - strlen(cases[i].text), cases[i].text) != 0)
      fail_msg("case %zu: %s", i, simulated.data);
    assert_non_null(strstr(swept.data, cases[i].text));
    assert_non_null(strstr(page.data, escaped.data ? escaped.data : "none"));
    hd_buf_free(&simulated);
    hd_buf_free(&swept);
    hd_buf_free(&page);
    hd_buf_free(&escaped);
  }
}

/* Of a part of the work; nothing where no such times were compared, or the part is no sample. */
static void what_a_part_of_the_work_tells_is_said_by_the_gpus_file(void **state) {
  static const struct {
    hd_gpu gpu;
    double part;
    bool lack_ends;
    const char *text;
  } cases[] = {
      {{.compared = COMPARED}, 1, false, ""},
      {{.compared = COMPARED},
       0.25,
       false,
       "25.0% of the launches' work was replayed (--exact replays all). Such times were off by 2.5% (mean of "
       "16) "
       "from those of whole replays.\n"},
      {{.name = "other"}, 0.25, false, "25.0% of the launches' work was replayed (--exact replays all).\n"},
      {{.compared = COMPARED},
       0.25,
       true,
       "25.0% of the launches' work was replayed (--exact replays all). A few warps have far more work than "
       "others and were cut: times compare plans, but do not say how long these warps take.\n"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_buf text = {0};
    report_put_part(&cases[i].gpu, cases[i].part, "--exact replays all", cases[i].lack_ends, &text);
    assert_string_equal(text.data ? text.data : "", cases[i].text);
    hd_buf_free(&text);
  }
}

static void a_models_times_say_what_they_are(void **state) {
  static const hd_gpu gpu = {.name = "h100", .compared = COMPARED, .units.fma = 1, .launch.first_us = 1};
  const hd_device_info model = {.kind = HD_DEVICE_MODEL, .name = "model:X", .title = "A GPU"};
  hd_measure_row row = {.median_us = 100, .least_us = 100, .speedup = {1, 1, 1, 31, 0.99}};
  const hd_measurement m = {&workload, &model, &gpu, &row, 1};
  hd_buf text = {0}, json = {0};
  hd_measurement_text(&m, &text);
  hd_measurement_json(&m, &json);
  assert_non_null(strstr(text.data, " predicted us "));
  assert_non_null(strstr(text.data, "\nTimes are by a clock. Compared with such a GPU, it was off by 12.5%"));
  assert_non_null(strstr(json.data, "\"time\": \"clock\""));
  hd_buf_free(&text);
  hd_buf_free(&json);
}

static void times_name_what_failed_and_what_has_too_few_rounds(void **state) {
  hd_buf out = {0};
  hd_measure_row rows[] = {
      {.median_us = 100, .least_us = 99, .speedup = {1, 1, 1, 31, 0.99}},
      {.plan = column, .median_us = 80, .least_us = 79, .speedup = {1.25, 1.2, 1.3, 31, 0.99}},
      {.plan = mirror, .median_us = 110, .least_us = 105, .speedup = {0.91, 0, INFINITY, 31, 0.99}},
      {.plan = {.bind = HD_BIND_AGENTS}, .status = HD_ERR_REFUSED, .why = "line 3: %smid"}};
  hd_measurement m = {&workload, &device, NULL, rows, 4};
  snprintf(rows[0].no_counters, sizeof rows[0].no_counters, "no permission");
  hd_measurement_text(&m, &out);
  rows[0].has_counters = rows[1].has_counters = true;
  rows[0].counters = counters;
  hd_measurement_text(&m, &out);
  assert_golden("measurement.txt", &out);
  hd_measurement_json(&m, &out);
  assert_json("measurement.json", &out);
}

static void a_corun_has_a_row_for_each_mode(void **state) {
  hd_buf out = {0};
  const hd_workload *both[] = {&workload, &plain};
  hd_corun_result r = {.turns = {1, 3}, .alone_us = {50, 20}, .rounds = 21};
  for (int m = 0; m < HD_CORUN_MODES; m++) {
    hd_corun_row *row = &r.rows[m];
    *row = (hd_corun_row){.us = {60, 70 + m}, .stp = {1.5, 1.4, 1.6}, .antt = {1.2, 0, INFINITY}};
    if (m != HD_CORUN_PARTITION) continue;
    *row = (hd_corun_row){
        .us = {60, 70}, .sms = {100, 32}, .agents = {2, 0}, .tried = 9, .stp = {1.5, 1.4, 1.6}};
    snprintf(row->plans[0], sizeof row->plans[0], "bind=agents:2");
    snprintf(row->plans[1], sizeof row->plans[1], "bind=agents");
  }
  r.rows[HD_CORUN_STREAMS].us[1] = 1620; /* 81 times as long as alone */
  r.rows[HD_CORUN_GREEN].status = HD_ERR_UNSUPPORTED;
  snprintf(r.rows[HD_CORUN_GREEN].why, sizeof r.rows[0].why, "the driver is too old");
  r.rows[HD_CORUN_THREADS].status = HD_ERR_UNSUPPORTED; /* the device has no such mode: no row */
  const hd_corun_report c = {both, &device, NULL, &r};
  hd_corun_text(&c, &out);
  assert_golden("corun.txt", &out);
  hd_corun_json(&c, &out);
  assert_json("corun.json", &out);
}

static void accuracy_leaves_out_what_could_not_be_compared(void **state) {
  hd_buf out = {0};
  const char *names[] = {"made-up", "late", "plain"};
  hd_accuracy_row rows[3] = {{.model = counters, .device = counters},
                             {.status = HD_ERR_UNSUPPORTED, .why = "not modelled within 60 s"},
                             {.model = counters, .device = counters}};
  rows[2].device.l2_read_sectors *= 2;
  hd_accuracy_summary s[HD_ACCURACY_COUNT];
  hd_gpu gpu = {.name = "h100", .title = "H100 SXM"};
  for (int m = 0; m < HD_ACCURACY_COUNT; m++)
    assert_int_equal(hd_accuracy_summarize(rows, 3, (hd_accuracy_metric)m, &s[m], NULL), HD_OK);
  const hd_accuracy_report r = {names, rows, 3, "small", &gpu, &device, s};
  hd_accuracy_text(&r, &out);
  assert_golden("accuracy.txt", &out);
  hd_accuracy_json(&r, &out);
  assert_json("accuracy.json", &out);
}

static void a_difftest_counts_by_instruction(void **state) {
  hd_buf out = {0};
  char text[] = "// the program\n";
  hd_difftest_count counts[] = {{"ex2.approx.f32", {3, 0, 0}}, {"add.f16", {0, 1, 2}}};
  hd_difftest_report reports[] = {{.program = 17, .compiler = true, .culprit = "add.f16", .text = text}};
  const hd_difftest_options o = {.seed = 5, .first = 10};
  const hd_difftest_result r = {.device = "cuda:0",
                                .programs = 100,
                                .instructions = 4000,
                                .tally = {3, 1, 2},
                                .counts = counts,
                                .n_counts = 2,
                                .reports = reports,
                                .n_reports = 1,
                                .seconds = 1.5,
                                .title = "A GPU",
                                .sm = 90};
  hd_difftest_text(&o, &r, &out);
  assert_golden("difftest.txt", &out);
  hd_difftest_json(&o, &r, &out);
  assert_json("difftest.json", &out);
}

static void a_probe_prints_its_figures(void **state) {
  enum { CTAS = 4 };
  hd_buf out = {0};
  uint32_t sm[CTAS] = {1, 0, 1, 0}, ticks[CTAS] = {500, 501, 40, 41};
  hd_probe_launch launches[] = {{.sm = sm,
                                 .ticks = ticks,
                                 .distinct = 2,
                                 .round_robin = 1,
                                 .least = 2,
                                 .most = 2,
                                 .first = 500,
                                 .later = 40,
                                 .hits = 0.5},
                                {.sm = sm, .ticks = ticks, .distinct = 2, .staggered = true}};
  const hd_probe_result r = {.device = device,
                             .n_ctas = CTAS,
                             .n_launches = 2,
                             .launches = launches,
                             .clock_mhz = 1755,
                             .l1_cycles = 32.2,
                             .l2_cycles = 280.6,
                             .dram_cycles = 690,
                             .carveout = {0, 25, 50, 75, 100},
                             .l1_bytes = {221184, 188416, 118784, 45056, 12288},
                             .l1_sector = 32,
                             .l2_sector = 64,
                             .line = 128,
                             .n_footprints = 1,
                             .footprints = {{4096, 32}},
                             .l1_bandwidth = 30e12};
  hd_probe_text(&r, "gpu.toml", NULL, NULL, &out);
  hd_probe_text(&r, "gpu.toml", "page.html", NULL, &out);
  assert_golden("probe.txt", &out);
  hd_probe_json(&r, NULL, &out);
  assert_json("probe.json", &out);
}

static void workloads_say_what_is_compared(void **state) {
  hd_buf out = {0};
  const hd_workload *both[] = {&workload, &plain};
  const char *names[] = {"made-up", "corpus/plain"};
  hd_workloads_text(both, names, 2, &out);
  assert_golden("workloads.txt", &out);
  hd_workloads_json(both, names, 2, &out);
  assert_json("workloads.json", &out);
}

static void overhead_as_json_has_what_was_measured(void **state) {
  hd_buf out = {0};
  const char *names[] = {"made-up"};
  const hd_plan plans[] = {column, mirror, {.bind = HD_BIND_AGENTS}};
  const hd_overhead_row rows[] = {{.ctas = 10, .threads = 100, .thread_before = 1000, .thread_after = 1500},
                                  {.status = HD_ERR_REFUSED, .why = "line 3: %smid"},
                                  {.ctas = 10, .threads = 100, .assembled = true, .registers_added = 3}};
  const hd_overhead_table t = {
      .plans = plans, .n_plans = 3, .workloads = names, .n_workloads = 1, .rows = rows, .size = "tiny"};
  hd_overhead_json(&t, &out);
  assert_json("overhead.json", &out);
}

static void running_out_of_memory_makes_the_buffer_fail(void **state) {
  hd_buf out = {0};
  report_put_json(NULL, &out);
  assert_true(out.failed);
  hd_buf_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a check says what agrees", a_check_says_what_agrees),
      BEHAVIOUR("a proof of a smaller size says so", a_proof_of_a_smaller_size_says_so),
      BEHAVIOUR("an optimization says what the time did not suffice for",
                an_optimization_says_what_the_time_did_not_suffice_for),
      BEHAVIOUR("without a clock nothing speaks of time", without_a_clock_nothing_speaks_of_time),
      BEHAVIOUR("no answer names the bounds that were reached", no_answer_names_the_bounds_that_were_reached),
      BEHAVIOUR("what a part of the work tells is said by the GPU's file",
                what_a_part_of_the_work_tells_is_said_by_the_gpus_file),
      BEHAVIOUR("a simulation is all its counters", a_simulation_is_all_its_counters),
      BEHAVIOUR("what confirms times is said for each GPU", what_confirms_times_is_said_for_each_gpu),
      BEHAVIOUR("a model's times say what they are", a_models_times_say_what_they_are),
      BEHAVIOUR("times name what failed, and what has too few rounds",
                times_name_what_failed_and_what_has_too_few_rounds),
      BEHAVIOUR("a corun has a row for each mode", a_corun_has_a_row_for_each_mode),
      BEHAVIOUR("accuracy leaves out what could not be compared",
                accuracy_leaves_out_what_could_not_be_compared),
      BEHAVIOUR("a difftest counts by instruction", a_difftest_counts_by_instruction),
      BEHAVIOUR("a probe prints its figures", a_probe_prints_its_figures),
      BEHAVIOUR("workloads say what is compared", workloads_say_what_is_compared),
      BEHAVIOUR("overhead as JSON has what was measured", overhead_as_json_has_what_was_measured),
      BEHAVIOUR("running out of memory makes the buffer fail", running_out_of_memory_makes_the_buffer_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
