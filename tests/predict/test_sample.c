/* Long launches are predicted from parts of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict/study.h"
#include "session.h"

/* `units` 0: of the whole. */
static hd_study *open_study(hd_workload *w, const hd_gpu *g, uint64_t units, unsigned threads) {
  const hd_run_options run = {.machine.threads = threads, .machine.n_sms = g->n_sms};
  const hd_study_options how = {.timed = true, .sample_gpu = g, .sample_units = units};
  hd_diag d = {0};
  hd_study *s;
  if (hd_study_open(w, &run, &how, &s, &d) != HD_OK) fail_msg("%s: %s", w->name, d.message);
  return s;
}

static hd_counters replay_of(hd_study *s, const hd_gpu *g, const char *text) {
  hd_plan p = parse_plan(text);
  hd_diag d = {0};
  hd_counters c;
  if (hd_study_replay(s, g, &p, g->dispatch, 0, &c, &d) != HD_OK) fail_msg("%s: %s", text, d.message);
  return c;
}

static hd_counters replay(const char *name, const char *size, uint64_t units, unsigned threads,
                          const char *text, double *part) {
  hd_workload *w = open_workload(name, size);
  const hd_gpu g = load_gpu("h100");
  hd_study *s = open_study(w, &g, units, threads);
  const hd_counters c = replay_of(s, &g, text);
  *part = hd_study_part(s);
  hd_study_close(s);
  hd_workload_close(w);
  return c;
}

enum { MOST_PLANS = 3, FEW_SMS = 3 };

/* What a sample is for: which plan is faster, and by how much. Traffic is known to be off where tasks share
 * tiles that the first of them bring: a sample has more first tasks. Its quotient has bounds on both sides,
 * so that a sample whose bias is mended shows as well as one that gets worse. On few SMs small launches have
 * many waves. */
static const struct sampled {
  const char *name;
  uint64_t units;
  double time;       /* part by which times may differ */
  double gain;       /* part by which a plan's speedup over the default may */
  double traffic[2]; /* sectors of L2, sample to whole: least and most */
  const char *plans[MOST_PLANS];
} sampled[] = {
    {"transpose", 20000, 0.1, 0.2, {0.95, 1.1}, {"order=reverse", "bind=agents"}},
    {"atax", 20000, 0.1, 0.1, {0.8, 1.1}, {"bind=agents", "bypass=l1:0"}},
    {"matmul-tiled", 50000, 0.1, 0.1, {1, 1.3}, {"bind=agents", "threads=cta:col"}}, /* first tasks' tiles */
    {"lps", 20000, 0.15, 0.1, {0.75, 0.95}, {"threads=cta:col", "bind=claim"}}, /* planes of later turns */
    {"sgemm", 40000, 0.16, 0.1, {0.4, 0.75}, {"order=col"}},                    /* L1 loses tiles later */
    /* Warps drift apart, and L1 hits less: what the places of the sample tell. */
    {"matmul-naive", 700000, 0.25, 0.25, {0.6, 1}, {"bind=agents", "bypass=l1:0", "bind=claim"}},
};

/* Of one of few SMs, on which small launches have many waves. */
static hd_gpu few_sms(void) {
  hd_gpu g = load_gpu("gtx570");
  g.n_sms = FEW_SMS;
  return g;
}

static void compare_sampled(const struct sampled *c) {
  hd_workload *w = open_workload(c->name, "small");
  const hd_gpu g = few_sms();
  hd_study *all = open_study(w, &g, 0, 2), *part = open_study(w, &g, c->units, 2);
  double base[2] = {0};
  assert_true(hd_study_part(all) == 1);
  assert_true(hd_study_part(part) < 0.6);
  for (unsigned k = 0; k <= MOST_PLANS && (!k || c->plans[k - 1]); k++) {
    const char *plan = k ? c->plans[k - 1] : "baseline";
    const hd_counters whole = replay_of(all, &g, plan), some = replay_of(part, &g, plan);
    if (!k) base[0] = whole.time_us, base[1] = some.time_us;
    const double time = some.time_us / whole.time_us - 1,
                 gain = base[1] / some.time_us / (base[0] / whole.time_us) - 1,
                 traffic = (double)some.l2_sectors / (double)whole.l2_sectors;
    print_message("%s %s: %.3f of it, time %+.3f, stated %.3f, gain %+.3f, L2 sectors %.3f\n", c->name, plan,
                  hd_study_part(part), time, some.time_error_us / some.time_us, gain, traffic);
    assert_true(fabs(time) < c->time);
    assert_true(fabs(gain) < c->gain);
    assert_true(traffic > c->traffic[0] && traffic < c->traffic[1]);
  }
  hd_study_close(all);
  hd_study_close(part);
  hd_workload_close(w);
}

/* Runs of waves, and a wave that is cut: times, plans' gains and traffic are near those of the whole. */
static void a_sample_predicts_the_whole(void **state) {
  skip_without_compiler();
  for (size_t i = 0; i < sizeof sampled / sizeof *sampled; i++) compare_sampled(&sampled[i]);
}

/* Compulsory traffic of a sample is estimated, and at most that of the buffers, however the launch reaches
 * them. */
static void samples_know_the_traffic_that_tensor_maps_bring(void **state) {
  skip_without_compiler();
  double part;
  const hd_counters c = replay("gemm-bf16-wgmma", "gpu", 100000, 2, "baseline", &part);
  const uint64_t buffers = UINT64_C(3) * 16384 * 16384 * 2;
  assert_true(part < 0.1);
  assert_in_range(c.compulsory_bytes, buffers / 2, 2 * buffers);
}

/* An affordable launch is replayed whole, and gives the same. */
static void short_launches_are_replayed_whole(void **state) {
  double part, all;
  skip_without_compiler();
  const hd_counters whole = replay("matmul-naive", "small", 0, 2, "baseline", &all);
  const hd_counters same = replay("matmul-naive", "small", 1ull << 40, 2, "baseline", &part);
  assert_true(part == 1);
  assert_true(whole.time_us == same.time_us);
  assert_int_equal(whole.dram_read_bytes, same.dram_read_bytes);
}

/* A second study takes what the first one has filled and computed, and is what it would be alone; so is what
 * outlives the other. */
static void a_study_like_another_is_as_one_of_its_own(void **state) {
  static const char *const names[] = {"bfs", "transpose"};
  skip_without_compiler();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const hd_gpu g = few_sms();
    hd_workload *w = open_workload(names[i], "small");
    const hd_run_options run = {.machine.threads = 2, .machine.n_sms = g.n_sms};
    const hd_study_options how = {.timed = true, .sample_gpu = &g, .sample_units = 5000};
    hd_study *own = open_study(w, &g, how.sample_units, 2);
    const hd_counters alone = replay_of(own, &g, "order=reverse");
    const double part = hd_study_part(own);
    assert_true(part < 1);
    hd_study_close(own);
    hd_plan p = parse_plan("order=reverse");
    hd_diag d = {0};
    hd_study *first, *second;
    hd_counters c;
    assert_int_equal(hd_study_open(w, &run, &how, &first, &d), HD_OK);
    assert_true(hd_study_part(first) == part);
    assert_int_equal(hd_study_open_like(first, &run, &how, &second, &d), HD_OK);
    hd_study_close(first);
    assert_true(hd_study_part(second) == part);
    assert_int_equal(hd_study_replay(second, &g, &p, g.dispatch, 0, &c, &d), HD_OK);
    assert_memory_equal(&c, &alone, sizeof c);
    hd_study_close(second);
    hd_workload_close(w);
  }
}

/* A graph's first nodes have most of its edges: their tasks would cost many times what is affordable. */
static void uneven_work_costs_what_is_affordable(void **state) {
  skip_without_compiler();
  hd_workload *w = open_workload("bfs", "paper");
  hd_gpu g = load_gpu("h100");
  const hd_run_options run = {.machine.threads = 2, .machine.n_sms = g.n_sms};
  const hd_study_options how = {.timed = true, .sample_gpu = &g, .sample_units = 300000};
  hd_diag d = {0};
  hd_study *s;
  double units = 0;
  assert_int_equal(hd_study_open(w, &run, &how, &s, &d), HD_OK);
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const hd_trace_info info = hd_trace_get_info(hd_study_trace(s, i));
    if (!hd_study_leaves_out(s, i)) units += sample_units_of(&info);
  }
  print_message("%.0f units\n", units);
  assert_true(units < 10 * (double)how.sample_units);
  hd_study_close(s);
  hd_workload_close(w);
}

static void samples_do_not_depend_on_the_number_of_threads(void **state) {
  double part;
  skip_without_compiler();
  const hd_counters one = replay("transpose", "paper", 1000000, 1, "order=tile:4x4", &part);
  const hd_counters three = replay("transpose", "paper", 1000000, 3, "order=tile:4x4", &part);
  assert_memory_equal(&one, &three, sizeof one);
}

/* Of a launch that is nearly affordable the runs of waves lie close together, and the tasks that warm one are
 * among those of the run before it. */
static void runs_of_waves_may_touch(void **state) {
  skip_without_compiler();
  hd_workload *w = open_workload("transpose", "small");
  const hd_gpu g = few_sms();
  hd_study *all = open_study(w, &g, 0, 2);
  const hd_counters whole = replay_of(all, &g, "baseline");
  hd_study *most = open_study(w, &g, (uint64_t)(0.97 * hd_study_units(all)), 2);
  const hd_counters some = replay_of(most, &g, "baseline");
  print_message("%.3f of it, time %+.3f\n", hd_study_part(most), some.time_us / whole.time_us - 1);
  assert_true(hd_study_part(most) > 0.8 && hd_study_part(most) < 1);
  assert_true(fabs(some.time_us / whole.time_us - 1) < 0.1);
  hd_study_close(all);
  hd_study_close(most);
  hd_workload_close(w);
}

/* Rows of a sweep whose places of the grid are recorded while other rows are replayed, and that look at what
 * the default's replay recorded. */
static void samples_of_many_plans_at_once_are_as_one_after_the_other(void **state) {
  skip_without_compiler();
  static const char *const plans[] = {"order=reverse", "order=affinity", "order=col",  "order=tile:4x4",
                                      "order=band:3",  "order=hilbert",  "bind=agents"};
  enum { N = sizeof plans / sizeof *plans };
  static const unsigned threads[] = {1, 4, 1};
  hd_counters first[N];
  hd_workload *w = open_workload("transpose", "small");
  const hd_gpu g = few_sms();
  const hd_run_options run = {.machine.threads = 2, .machine.n_sms = g.n_sms};
  const hd_study_options how = {.timed = true, .sample_gpu = &g, .sample_units = 8000};
  for (int k = 0; k < 3; k++) {
    hd_sweep_row rows[N] = {0};
    hd_study *s;
    hd_diag d = {0};
    for (size_t i = 0; i < N; i++)
      assert_int_equal(hd_plan_parse(plans[k ? N - 1 - i : i], &rows[i].plan, &d), HD_OK);
    if (hd_study_open(w, &run, &how, &s, &d) != HD_OK) fail_msg("%s", d.message);
    assert_true(hd_study_part(s) < 0.2);
    assert_int_equal(hd_sweep(s, &g, g.dispatch, 1, rows, N, threads[k], NULL, NULL, &d), HD_OK);
    for (size_t i = 0; i < N; i++) {
      const size_t plan = k ? N - 1 - i : i;
      if (rows[i].status != HD_OK) fail_msg("%s: %s", plans[plan], rows[i].why);
      if (!k) first[plan] = rows[i].counters;
      const void *was = &first[plan], *is = &rows[i].counters;
      if (memcmp(was, is, sizeof *first) != 0)
        fail_msg("%s: %.3f us, then %.3f", plans[plan], first[plan].time_us, rows[i].counters.time_us);
    }
    hd_study_close(s);
  }
  hd_workload_close(w);
}

/* A task's turns are its number modulo a row of the grid. */
static const char repeated[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry repeated(.param .u32 row) {\n"
    " .reg .b32 %r<4>; .reg .pred %p<2>;\n ld.param.u32 %r1, [row];\n mov.u32 %r2, %ctaid.x;\n"
    " rem.u32 %r3, %r2, %r1;\nturn:\n setp.eq.u32 %p1, %r3, 0;\n @%p1 bra done;\n sub.u32 %r3, %r3, 1;\n"
    " bra turn;\ndone:\n ret;\n}\n";

static double estimate(const char *folder, unsigned tasks, unsigned row) {
  char path[512];
  hd_workload *w;
  hd_diag d = {0};
  double out;
  snprintf(path, sizeof path, "%s/workload.toml", folder);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f,
          "title = \"t\"\nsource = \"kernel.ptx\"\n[sizes.tiny]\nn = %u\nrow = %u\n[sizes.small]\nn = 1\n"
          "row = 1\n[[launch]]\nkernel = \"repeated\"\ngrid = [\"n\"]\nblock = [32]\nargs = [{ type = "
          "\"s32\", value = \"row\" }]\n",
          tasks, row);
  fclose(f);
  if (hd_workload_open(folder, SOURCE_DIR "/kernels", "tiny", &w, &d) != HD_OK) fail_msg("%s", d.message);
  if (hd_estimate_instructions(w, 0, 1, &out, &d) != HD_OK) fail_msg("%s", d.message);
  hd_workload_close(w);
  return out / tasks;
}

/* The tasks of a survey are not all from the same place of a grid's rows, however long these are. */
static void a_survey_knows_work_that_repeats_with_rows(void **state) {
  static const unsigned grids[] = {2048, 5000, 16384}, rows[] = {3, 16, 60, 128, 512, 1024};
  char folder[] = "/tmp/heddle-sample-XXXXXX", path[512];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/kernel.ptx", folder);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(repeated, f);
  fclose(f);
  const double none = estimate(folder, 1, 1),
               turns = estimate(folder, 2, 2) - none; /* of two tasks, one turn */
  for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
      const double some = estimate(folder, grids[i], rows[k]), mean = none + turns * (rows[k] - 1);
      if (fabs(some / mean - 1) > 0.4)
        fail_msg("%u tasks, rows of %u: %.0f instructions a task, not %.0f", grids[i], rows[k], some, mean);
    }
  snprintf(path, sizeof path, "rm -r %s", folder);
  assert_int_equal(system(path), 0);
}

static double seconds(const hd_workload *w, unsigned threads, bool timed, size_t replays) {
  hd_diag d = {0};
  double out;
  if (hd_estimate_seconds(w, 0, threads, timed, replays, &out, &d) != HD_OK) fail_msg("%s", d.message);
  return out;
}

static void an_estimate_follows_the_replays_and_the_threads(void **state) {
  hd_workload *w;
  hd_diag d = {0};
  if (hd_workload_open("matmul-naive", SOURCE_DIR "/kernels", "small", &w, &d) != HD_OK)
    fail_msg("%s", d.message);
  const double trace = seconds(w, 1, true, 0), one = seconds(w, 1, true, 1) - trace;
  assert_true(trace > 0 && one > 0);
  assert_float_equal(seconds(w, 1, true, 10), trace + 10 * one, 1e-9);
  assert_float_equal(seconds(w, 2, true, 10), (trace + 10 * one) / 2, 1e-9);
  assert_float_equal(seconds(w, 4, true, 2), trace / 4 + one, 1e-9); /* a replay has one thread */
  assert_true(seconds(w, 1, false, 10) < seconds(w, 1, true, 10));
  hd_workload_close(w);
  if (hd_workload_open("bfs", SOURCE_DIR "/kernels", "small", &w, &d) != HD_OK) fail_msg("%s", d.message);
  assert_true(seconds(w, 1, true, 10) == 0); /* earlier launches decide what later ones do */
  hd_workload_close(w);
}

/* The first sixteenth of the tasks has most of the work. */
static const char front_heavy[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry front_heavy(.param .u64 in, .param .u64 out, .param .u32 heavy) {\n"
    " .reg .b32 %r<7>; .reg .b64 %rd<5>; .reg .f32 %f<3>; .reg .pred %p<3>;\n"
    " ld.param.u64 %rd1, [in]; cvta.to.global.u64 %rd1, %rd1;\n"
    " ld.param.u64 %rd2, [out]; cvta.to.global.u64 %rd2, %rd2;\n ld.param.u32 %r1, [heavy];\n"
    " mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r5, %r2, 32, %r3;\n"
    " mul.wide.u32 %rd3, %r5, 4; add.u64 %rd2, %rd2, %rd3;\n"
    " setp.lt.u32 %p1, %r2, %r1; selp.b32 %r4, 400, 2, %p1; mov.f32 %f1, 0f00000000;\n"
    "turn:\n and.b32 %r6, %r5, 4194303; mul.wide.u32 %rd3, %r6, 4; add.u64 %rd4, %rd1, %rd3;\n"
    " ld.global.f32 %f2, [%rd4]; add.f32 %f1, %f1, %f2; add.u32 %r5, %r5, 87040;\n"
    " sub.u32 %r4, %r4, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra turn;\n st.global.f32 [%rd2], %f1;\n ret;\n}\n";

static const char front_heavy_workload[] =
    "title = \"t\"\nsource = \"kernel.ptx\"\n[sizes.tiny]\nn = 66000\n[sizes.small]\nn = 1\n"
    "[[buffer]]\nname = \"in\"\ntype = \"f32\"\ncount = \"4194304\"\nfill = \"zero\"\n"
    "[[buffer]]\nname = \"out\"\ntype = \"f32\"\ncount = \"32 * n\"\n"
    "[[launch]]\nkernel = \"front_heavy\"\ngrid = [\"n\"]\nblock = [32]\n"
    "args = [\"in\", \"out\", { type = \"s32\", value = \"n / 16\" }]\n";

static void write_file(const char *folder, const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

/* Wherever an order puts them, a sample costs no more than several times what is affordable, and promises no
 * gain that the whole has not. */
static void a_few_tasks_with_most_of_the_work_do_not_stand_for_all(void **state) {
  static const char *const plans[] = {"baseline", "order=reverse"};
  enum { UNITS = 150000 };
  char folder[] = "/tmp/heddle-sample-XXXXXX", command[64];
  assert_non_null(mkdtemp(folder));
  write_file(folder, "kernel.ptx", front_heavy);
  write_file(folder, "workload.toml", front_heavy_workload);
  hd_workload *w;
  hd_diag d = {0};
  hd_study *s[2];
  const hd_gpu g = load_gpu("h100");
  if (hd_workload_open(folder, SOURCE_DIR "/kernels", "tiny", &w, &d) != HD_OK) fail_msg("%s", d.message);
  for (unsigned k = 0; k < 2; k++) {
    const hd_run_options run = {.machine.threads = 2, .machine.n_sms = g.n_sms};
    const hd_study_options how = {.timed = true, .sample_gpu = &g, .sample_units = k ? UNITS : 0};
    if (hd_study_open(w, &run, &how, &s[k], &d) != HD_OK) fail_msg("%s", d.message);
  }
  const hd_trace_info info = hd_trace_get_info(hd_study_trace(s[1], 0));
  print_message("%.3f of %.0f units, %.0f recorded\n", hd_study_part(s[1]), hd_study_units(s[0]),
                sample_units_of(&info));
  assert_true(hd_study_leaves_ends(s[1]) && !hd_study_leaves_ends(s[0]));
  assert_true(hd_study_part(s[1]) < 0.2);
  assert_true(sample_units_of(&info) < 10 * UNITS);
  double first[2] = {0};
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    const hd_plan p = parse_plan(plans[i]);
    hd_counters c[2];
    for (unsigned k = 0; k < 2; k++)
      if (hd_study_replay(s[k], &g, &p, g.dispatch, 0, &c[k], &d) != HD_OK) fail_msg("%s", d.message);
    for (unsigned k = 0; k < 2 && !i; k++) first[k] = c[k].time_us;
    const double whole = c[0].time_us / first[0], some = c[1].time_us / first[1];
    print_message("%s: %.1f us, %.2f of the default's; of a sample %.1f, %.2f\n", plans[i], c[0].time_us,
                  whole, c[1].time_us, some);
    assert_true(whole / some < 1.3);
  }
  /* Of which tasks have most work a sample knows too little. */
  const hd_plan heavy = parse_plan("order=heavy-first");
  hd_counters c;
  assert_int_equal(hd_study_replay(s[1], &g, &heavy, g.dispatch, 0, &c, &d), HD_ERR_UNSUPPORTED);
  for (unsigned k = 0; k < 2; k++) hd_study_close(s[k]);
  hd_workload_close(w);
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

/* Tasks are left out of a launch only where others of it do not decide what they access. */
static void tasks_that_others_steer_are_all_run(void **state) {
  static const struct {
    const char *name;
    steered kind;
    bool reads_data;
  } cases[] = {
      {"matmul-naive", STEERED_BY_NOTHING, false},    {"copy-row", STEERED_BY_NOTHING, false},
      {"spmv-csr", STEERED_BY_NOTHING, true},         {"srad", STEERED_BY_NOTHING, true},
      {"embedding-gather", STEERED_BY_NOTHING, true}, {"bfs", STEERED_BETWEEN, true},
      {"gemm-bf16-wgmma", STEERED_BY_NOTHING, false}, {"gemm-bf16-cluster", STEERED_BY_NOTHING, false},
  };
  skip_without_compiler();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_workload *w = open_workload(cases[i].name, "tiny");
    const hd_compiled *code;
    steering found;
    hd_diag d = {0};
    assert_int_equal(hd_workload_compiled(w, 80, &code, &d), HD_OK);
    assert_int_equal(record_steering(code, &found, &d), HD_OK);
    if (found.kind != cases[i].kind || found.reads_data != cases[i].reads_data)
      fail_msg("%s: %d, reads data %d", cases[i].name, (int)found.kind, found.reads_data);
    steering_free(&found);
    hd_workload_close(w);
  }
}

static void add_event(void *ctx, const hd_trace_event *e) {
  hd_digest *h = ctx;
  const uint32_t of[] = {(uint32_t)e->task, e->warp, (uint32_t)e->kind, e->inst, e->n};
  hd_digest_bytes(h, of, sizeof of);
  hd_digest_bytes(h, e->start, e->n * sizeof *e->start);
}

static void digest_task(const hd_trace *t, uint64_t task, char out[HD_DIGEST_HEX]) {
  hd_digest h = hd_digest_begin();
  assert_int_equal(hd_trace_walk(t, task, 1, add_event, &h, NULL), HD_OK);
  hd_digest_hex(&h, out);
}

/* A grid of 3 x 4 CTAs in clusters of 1 x 2: the CTA below is recorded, too, and no other one. */
static void clusters_are_recorded_whole(void **state) {
  enum { ACROSS = 3, TASKS = 12 };
  static const uint64_t some[] = {7, 4, 1}, recorded[] = {7, 10, 1, 4};
  hd_workload *w = open_workload("gemm-bf16-cluster", "small");
  const hd_run_options run = {.machine.threads = 2, .compile.arch = 90};
  const hd_study_options how = {.timed = true};
  const hd_compiled *code;
  runner_contents *contents;
  recording *r;
  hd_study *whole;
  hd_diag d = {0};
  assert_int_equal(hd_workload_compiled(w, hd_launch_arch(NULL, run.compile.arch), &code, &d), HD_OK);
  assert_int_equal(w->launches[0].grid[0], ACROSS);
  assert_int_equal(record_contents(w, false, &contents, &d), HD_OK);
  const record_options some_of = {.contents = contents, .timed = true};
  if (record_open(code, NULL, &run, &some_of, &r, &d) != HD_OK) fail_msg("%s", d.message);
  for (unsigned k = 0; k < 2; k++) /* the second time there is nothing to do */
    if (record_tasks(r, 0, some, 3, UINT64_MAX, &d) != HD_OK) fail_msg("%s", d.message);
  assert_int_equal(hd_trace_get_info(r->traces[0]).recorded, 4);
  if (hd_study_open(w, &run, &how, &whole, &d) != HD_OK) fail_msg("%s", d.message);
  for (unsigned k = 0; k < 4; k++) {
    char a[HD_DIGEST_HEX], b[HD_DIGEST_HEX];
    assert_true(hd_trace_has(r->traces[0], recorded[k]));
    hd_trace_show_so_far(r->traces[0]);
    digest_task(r->traces[0], recorded[k], a);
    digest_task(hd_study_trace(whole, 0), recorded[k], b);
    assert_string_equal(a, b);
  }
  hd_study_close(whole);
  record_close(r);
  record_contents_free(contents);
  hd_workload_close(w);
}

static recording *record_transpose(hd_workload **w) {
  const hd_run_options run = {.machine.threads = 2};
  const hd_compiled *code;
  recording *r;
  hd_diag d = {0};
  *w = open_workload("transpose", "tiny");
  assert_int_equal(hd_workload_compiled(*w, hd_launch_arch(NULL, run.compile.arch), &code, &d), HD_OK);
  if (record_open(code, NULL, &run, &(record_options){.timed = true}, &r, &d) != HD_OK)
    fail_msg("%s", d.message);
  return r;
}

static void a_task_that_is_asked_for_twice_is_recorded_once(void **state) {
  static const uint64_t some[] = {3, 1, 3, 0, 1};
  skip_without_compiler();
  hd_workload *w;
  recording *r = record_transpose(&w);
  hd_diag d = {0};
  if (record_tasks(r, 0, some, 5, UINT64_MAX, &d) != HD_OK) fail_msg("%s", d.message);
  assert_int_equal(hd_trace_get_info(r->traces[0]).recorded, 3);
  record_close(r);
  hd_workload_close(w);
}

/* A trace that has failed ends the launch: the reason is the trace's, not that the launch was ended. */
static void a_recording_that_breaks_off_says_why(void **state) {
  static const uint64_t some[] = {0, 1};
  skip_without_compiler();
  hd_workload *w;
  recording *r = record_transpose(&w);
  hd_diag d = {0};
  hd_trace_set_most(r->traces[0], 1);
  assert_int_equal(record_tasks(r, 0, some, 2, UINT64_MAX, &d), HD_ERR_BUDGET);
  for (int again = 0; again < 2; again++) {
    assert_non_null(strstr(d.message, "the trace is more work than it may be"));
    assert_int_equal(d.bound, HD_BOUND_WORK);
    assert_int_equal(record_tasks(r, 0, some, 2, UINT64_MAX, &d), HD_ERR_BUDGET);
  }
  record_close(r);
  hd_workload_close(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sample_predicts_the_whole),
      cmocka_unit_test(samples_know_the_traffic_that_tensor_maps_bring),
      cmocka_unit_test(short_launches_are_replayed_whole),
      cmocka_unit_test(a_study_like_another_is_as_one_of_its_own),
      cmocka_unit_test(uneven_work_costs_what_is_affordable),
      cmocka_unit_test(samples_do_not_depend_on_the_number_of_threads),
      cmocka_unit_test(runs_of_waves_may_touch),
      cmocka_unit_test(samples_of_many_plans_at_once_are_as_one_after_the_other),
      cmocka_unit_test(a_survey_knows_work_that_repeats_with_rows),
      cmocka_unit_test(an_estimate_follows_the_replays_and_the_threads),
      cmocka_unit_test(a_few_tasks_with_most_of_the_work_do_not_stand_for_all),
      cmocka_unit_test(tasks_that_others_steer_are_all_run),
      cmocka_unit_test(clusters_are_recorded_whole),
      cmocka_unit_test(a_task_that_is_asked_for_twice_is_recorded_once),
      cmocka_unit_test(a_recording_that_breaks_off_says_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
