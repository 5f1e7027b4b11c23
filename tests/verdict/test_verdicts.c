/* Tuning on a model, the verdicts that are kept of it, and their use in launch paths. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/optimize.h"
#include "heddle/verdict.h"
#include "workload/scratch.h"

/* CTA (x, y) adds up block x of the data: CTAs of a column of the grid share all that they read, and the
 * grid's own order takes them one row at a time. */
static const char workload_text[] = "title = \"blocks\"\n"
                                    "source = \"kernel.ptx\"\n"
                                    "[sizes.tiny]\nblocks = 5\nreaders = 3\n"
                                    "[sizes.small]\nblocks = 96\nreaders = 6\n"
                                    "[[buffer]]\nname = \"data\"\ntype = \"u32\"\ncount = \"blocks * 4096\"\n"
                                    "fill = \"iota\"\n"
                                    "[[buffer]]\nname = \"out\"\ntype = \"u32\"\n"
                                    "count = \"blocks * readers * 32\"\ncompare = \"exact\"\n"
                                    "[[launch]]\nkernel = \"reader\"\ngrid = [\"blocks\", \"readers\"]\n"
                                    "block = [32]\nargs = [\"data\", \"out\"]\n";
static const char kernel_text[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry reader(.param .u64 data, .param .u64 out)\n{\n"
    ".reg .pred %p;\n.reg .b32 %r<12>;\n.reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [out];\n"
    "cvta.to.global.u64 %rd1, %rd1;\ncvta.to.global.u64 %rd2, %rd2;\n"
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\nmov.u32 %r3, %nctaid.x;\nmov.u32 %r4, %tid.x;\n"
    "shl.b32 %r5, %r1, 12;\nadd.u32 %r5, %r5, %r4;\nmul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd3, %rd1, %rd3;\n"
    "mov.u32 %r6, 0;\nmov.u32 %r7, 128;\n"
    "again:\nld.global.u32 %r8, [%rd3];\nadd.u32 %r6, %r6, %r8;\nadd.s64 %rd3, %rd3, 128;\n"
    "sub.u32 %r7, %r7, 1;\nsetp.ne.u32 %p, %r7, 0;\n@%p bra again;\n"
    "mad.lo.u32 %r9, %r2, %r3, %r1;\nshl.b32 %r9, %r9, 5;\nadd.u32 %r9, %r9, %r4;\n"
    "mul.wide.u32 %rd4, %r9, 4;\nadd.s64 %rd4, %rd2, %rd4;\nst.global.u32 [%rd4], %r6;\nret;\n}\n";

static hd_diag d;
#define OK(call)                                                                                             \
  do {                                                                                                       \
    if ((call) != HD_OK) fail_msg("%s: %s", #call, d.message);                                               \
  } while (0)

typedef struct bed {
  hd_device *device;
  hd_workload *w;
  hd_store *store;
} bed;

static bed open_bed(const char *size) {
  bed b;
  hd_device_options o = {.gpu_dir = SOURCE_DIR "/gpus"};
  scratch_write("blocks/workload.toml", workload_text);
  scratch_write("blocks/kernel.ptx", kernel_text);
  remove(scratch_path("v.db"));
  OK(hd_device_open("model:gtx580", &o, &b.device, &d));
  OK(hd_workload_open(scratch_path("blocks"), NULL, size, &b.w, &d));
  OK(hd_store_open(scratch_path("v.db"), &b.store, &d));
  return b;
}

static void close_bed(bed *b) {
  hd_store_close(b->store);
  hd_workload_close(b->w);
  hd_device_close(b->device);
}

/* ---- Tuning --------------------------------------------------------------------------- */

static void finds_what_a_sweep_finds(void **state) {
  bed b = open_bed("small");
  hd_tuning t;
  hd_tune_options o = {.budget = 60, .each_lever = true};
  OK(hd_tune(b.device, b.w, &o, &t, &d));
  const hd_tuned *k = &t.kernels[0];
  assert_int_equal(t.n_kernels, 1);
  assert_string_equal(k->kernel, "reader");
  assert_true(t.adopted && k->adopted);
  assert_int_equal(k->proof.emulated, HD_PROOF_EQUAL);
  assert_string_equal(k->proof.size, "tiny");
  assert_int_equal(k->proof.grid[0], 5);
  assert_int_equal(k->proof.dispatchers, HD_DISPATCH_COUNT);
  assert_true(k->proof.bytes > 0 && k->proof.device_bytes == 0);
  assert_true(k->speedup.median > 1.3);
  assert_true(k->after_us < k->before_us);
  assert_true(t.has_counters && t.after.dram_read_bytes < t.before.dram_read_bytes);

  static hd_candidate list[HD_CANDIDATES];
  static hd_sweep_row rows[HD_CANDIDATES + 1]; /* the first: the baseline */
  hd_plan_space space;
  hd_study *s;
  const hd_gpu *g = hd_device_get_gpu(b.device);
  OK(hd_advise_space(b.w, 0, NULL, &space, &d));
  space.n_sms = g->n_sms;
  size_t n = hd_candidates(&space, list, HD_CANDIDATES) + 1;
  for (size_t i = 1; i < n; i++) rows[i].plan = list[i - 1].plan;
  hd_run_options run = {.machine.n_sms = g->n_sms};
  hd_study_options how = {.timed = true};
  OK(hd_study_open(b.w, &run, &how, &s, &d));
  OK(hd_sweep(s, g, g->dispatch, 0, rows, n, 0, NULL, NULL, &d));
  for (size_t i = 0; i < n; i++) {
    const double x = rows[i].status == HD_OK ? rows[0].counters.time_us / rows[i].counters.time_us : 0;
    assert_true(x < hd_optimize_worth(&rows[i].plan) || x <= k->speedup.median * 1.0001);
  }
  hd_study_close(s);

  assert_true(t.n_levers > 2);
  for (uint32_t i = 0; i < t.n_levers; i++)
    assert_true(t.levers[i].speedup.median <= k->speedup.median * 1.0001);
  for (uint32_t i = 2; i < k->n_trials; i++)
    assert_true(k->trials[i].status != HD_OK || k->trials[i].speedup <= k->trials[i - 1].speedup);
  hd_tuning_free(&t);
  close_bed(&b);
}

static void tries_the_plans_given_first(void **state) {
  bed b = open_bed("tiny");
  hd_tuning t;
  hd_plan own[2] = {{.order = {.kind = HD_ORDER_ZIGZAG, .a = 3, .b = 2}},
                    {.order = {.kind = HD_ORDER_REVERSE}}};
  hd_tune_options o = {.budget = 1e-9, .plans = own, .n_plans = 2};
  bool seen[2] = {false, false};
  OK(hd_tune(b.device, b.w, &o, &t, &d));
  assert_in_range(t.kernels[0].n_trials, 2, 8);
  for (uint32_t i = 0; i < t.kernels[0].n_trials; i++)
    for (int k = 0; k < 2; k++) seen[k] |= hd_plan_equal(&t.kernels[0].trials[i].plan, &own[k]);
  assert_true(seen[0] && seen[1]);
  hd_tuning_free(&t);
  close_bed(&b);
}

static void passes_over_tables_that_are_gone(void **state) {
  bed b = open_bed("tiny");
  hd_tuning t;
  hd_plan own = {.order = {.kind = HD_ORDER_TABLE}, .table = "no/such/file"};
  hd_tune_options o = {.budget = 5, .plans = &own, .n_plans = 1};
  unsigned refused = 0;
  OK(hd_tune(b.device, b.w, &o, &t, &d));
  for (uint32_t i = 0; i < t.kernels[0].n_trials; i++)
    refused += t.kernels[0].trials[i].plan.order.kind == HD_ORDER_TABLE &&
               strstr(t.kernels[0].trials[i].why, "no/such/file");
  assert_int_equal(refused, 1);
  hd_tuning_free(&t);
  close_bed(&b);
}

static void needs_a_clock(void **state) {
  bed b = open_bed("tiny");
  hd_device *emu;
  hd_tuning t;
  OK(hd_device_open("emu", NULL, &emu, &d));
  assert_int_equal(hd_tune(emu, b.w, NULL, &t, &d), HD_ERR_UNSUPPORTED);
  hd_device_close(emu);
  close_bed(&b);
}

/* ---- Verdicts ---------------------------------------------------------------------------- */

static hd_tuning fake_tuning(hd_tuned *k, hd_plan plan) {
  *k = (hd_tuned){.kernel = "reader",
                  .adopted = !hd_plan_is_baseline(&plan),
                  .plan = plan,
                  .speedup = {.median = 1.5, .low = 1.4, .high = 1.6, .confidence = 0.99},
                  .before_us = 30,
                  .after_us = 20};
  return (hd_tuning){.kernels = k, .n_kernels = 1};
}

static void keeps_and_recalls(void **state) {
  bed b = open_bed("small");
  hd_tuned k;
  hd_tuning t = fake_tuning(&k, (hd_plan){.order = {.kind = HD_ORDER_COL}, .bind = HD_BIND_REDIRECT}), back;
  bool found = true;
  OK(hd_tuning_recall(b.store, b.device, b.w, NULL, &back, &found, &d));
  assert_false(found);
  t.assume = HD_ASSUME_NO_WAITS;
  OK(hd_tuning_keep(b.store, b.device, b.w, NULL, &t, &d));
  OK(hd_tuning_recall(b.store, b.device, b.w, NULL, &back, &found, &d));
  assert_true(found && back.recalled && back.adopted);
  assert_int_equal(back.assume, HD_ASSUME_NO_WAITS);
  assert_true(hd_plan_equal(&back.kernels[0].plan, &k.plan));
  assert_float_equal(back.kernels[0].speedup.low, 1.4, 1e-9);
  assert_float_equal(back.before_us, 30, 1e-9);
  assert_string_equal(back.kernels[0].basis, "replays of a model");
  hd_tuning_free(&back);
  /* Another size is another launch. */
  hd_workload *other;
  OK(hd_workload_open(scratch_path("blocks"), NULL, "tiny", &other, &d));
  OK(hd_tuning_recall(b.store, b.device, other, NULL, &back, &found, &d));
  assert_false(found);
  hd_workload_close(other);
  close_bed(&b);
}

/* One plan for all kernels of a workload: its times are theirs together. */
static void times_of_several_kernels_add_up(void **state) {
  bed b = open_bed("tiny");
  hd_tuned k;
  hd_tuning t = fake_tuning(&k, (hd_plan){.order = {.kind = HD_ORDER_COL}}), back;
  hd_workload *several;
  bool found;
  k.kernel[0] = 0;
  OK(hd_workload_open("kmeans", SOURCE_DIR "/kernels", "tiny", &several, &d));
  OK(hd_tuning_keep(b.store, b.device, several, NULL, &t, &d));
  OK(hd_tuning_recall(b.store, b.device, several, NULL, &back, &found, &d));
  assert_true(found && back.n_kernels > 1);
  assert_float_equal(back.before_us, k.before_us, 1e-9);
  assert_float_equal(back.after_us, k.after_us, 1e-9);
  hd_tuning_free(&back);
  hd_workload_close(several);
  close_bed(&b);
}

/* An order that a trace told goes to where there is no trace, and no cache. */
static void tables_go_with_their_verdicts(void **state) {
  bed b = open_bed("tiny");
  hd_tuned k;
  hd_tuning t = fake_tuning(&k, (hd_plan){.order = {.kind = HD_ORDER_AFFINITY}, .bind = HD_BIND_AGENTS}),
            back;
  hd_table want, got;
  hd_run_options run = {0};
  hd_store *other;
  hd_buf text = {0};
  uint64_t n;
  bool found;
  OK(hd_order_table(b.w, 0, &run, HD_ORDER_AFFINITY, NULL, &want, &d));
  OK(hd_tuning_keep(b.store, b.device, b.w, NULL, &t, &d));
  OK(hd_store_export(b.store, NULL, &text, &d));
  scratch_write("cache/heddle/empty", "");
  setenv("XDG_CACHE_HOME", scratch_path("cache"), 1);
  OK(hd_store_open(scratch_path("other.db"), &other, &d));
  OK(hd_store_import(other, text.data, text.len, "export", &n, &d));
  assert_int_equal(n, 1);
  OK(hd_tuning_recall(other, b.device, b.w, NULL, &back, &found, &d));
  assert_true(found);
  const hd_plan *p = &back.kernels[0].plan;
  assert_int_equal(p->order.kind, HD_ORDER_TABLE);
  assert_int_equal(p->bind, HD_BIND_AGENTS);
  OK(hd_table_read(p->table, want.n, &got, &d));
  assert_memory_equal(got.task, want.task, want.n * sizeof *want.task);
  hd_table_free(&got);

  /* Kept again, the verdict names the same table; and launch paths get it from the store alone. */
  OK(hd_tuning_keep(other, b.device, b.w, NULL, &back, &d));
  remove(p->table);
  hd_tuning_free(&back);
  hd_applier *a;
  hd_applier_module *m;
  hd_buf ptx = {0};
  OK(hd_workload_ptx(b.w, 80, &ptx, NULL, &d));
  OK(hd_applier_open(other, "model:gtx580", "none", 16, &a, &d));
  OK(hd_applier_add(a, ptx.data, ptx.len, "kernel.ptx", &m, &d));
  const hd_applied *r = hd_apply(a, m, "reader", b.w->launches[0].grid, b.w->launches[0].block, 0);
  assert_non_null(r);
  if (!r->changed) fail_msg("%s", r->why);
  assert_int_equal(r->table.n, want.n);
  assert_memory_equal(r->table.task, want.task, want.n * sizeof *want.task);
  hd_applier_close(a);
  hd_buf_free(&ptx);
  hd_buf_free(&text);
  hd_table_free(&want);
  hd_store_close(other);
  close_bed(&b);
}

static void verifying_drops_what_lost_its_worth(void **state) {
  static const double least[] = {0, 1e6}; /* the default, which this plan reaches; one that no plan reaches */
  for (int i = 0; i < 2; i++) {
    bed b = open_bed("small");
    hd_tuned k;
    hd_tuning t = fake_tuning(&k, (hd_plan){.order = {.kind = HD_ORDER_TILE, .a = 16, .b = 6}}), back;
    bool found;
    OK(hd_tuning_keep(b.store, b.device, b.w, NULL, &t, &d));
    OK(hd_tuning_recall(b.store, b.device, b.w, NULL, &back, &found, &d));
    assert_true(found);
    OK(hd_tuning_verify(b.device, b.w, NULL, least[i], &back, &d));
    assert_true(back.kernels[0].speedup.median > 1.3 && back.kernels[0].speedup.median != 1.5);
    assert_int_equal(back.adopted, i == 0);
    assert_int_equal(back.kernels[0].adopted, i == 0);
    assert_int_equal(back.kernels[0].why[0] != 0, i == 1);
    OK(hd_tuning_keep(b.store, b.device, b.w, NULL, &back, &d));
    hd_tuning_free(&back);
    OK(hd_tuning_recall(b.store, b.device, b.w, NULL, &back, &found, &d));
    assert_true(found);
    assert_int_equal(back.adopted, i == 0);
    assert_int_equal(hd_plan_is_baseline(&back.kernels[0].plan), i == 1);
    hd_tuning_free(&back);
    close_bed(&b);
  }
}

/* ---- Applying ------------------------------------------------------------------------------- */

static const uint32_t grid[3] = {96, 6, 1}, block[3] = {32, 1, 1};

static void put(bed *b, const char *plan, const uint32_t g[3]) {
  hd_verdict v = {
      .speedup = 1, .low = 1, .high = 1, .confidence = 0.99, .before_us = 1, .after_us = 1, .when = 1};
  hd_verdict_kernel(kernel_text, sizeof kernel_text - 1, "reader", v.key.kernel);
  hd_verdict_launch(g, block, 0, NULL, 0, v.key.launch);
  strcpy(v.key.gpu, "GPU");
  strcpy(v.key.driver, "1");
  strcpy(v.name, "blocks");
  snprintf(v.plan, sizeof v.plan, "%s", plan);
  OK(hd_store_put(b->store, &v, &d));
}

static hd_applier *open_applier(bed *b, hd_applier_module **m) {
  hd_applier *a;
  OK(hd_applier_open(b->store, "GPU", "1", 16, &a, &d));
  OK(hd_applier_add(a, kernel_text, sizeof kernel_text - 1, "kernel.ptx", m, &d));
  return a;
}

static void applies_what_rewriting_gives(void **state) {
  bed b = open_bed("tiny");
  hd_applier_module *m;
  put(&b, "order=col,bind=agents:2", grid);
  hd_applier *a = open_applier(&b, &m);
  const hd_applied *r = hd_apply(a, m, "reader", grid, block, 0);
  assert_non_null(r);
  assert_true(r->changed);
  assert_string_equal(r->plan, "order=col,bind=agents:2");

  hd_arena arena;
  hd_ptx_module *module;
  hd_plan p;
  hd_recipe recipe;
  hd_buf text = {0};
  hd_arena_init(&arena);
  OK(hd_plan_parse("order=col,bind=agents:2", &p, &d));
  OK(hd_ptx_parse(kernel_text, sizeof kernel_text - 1, "kernel.ptx", &arena, &module, &d));
  hd_rewrite_options o = {.grid = {.known = true, .g = {96, 6, 1}, .n_sms = 16}, .block = {32, 1, 1}};
  OK(hd_rewrite(module, 0, &p, &o, &recipe, &d));
  OK(hd_ptx_print(module, &text));
  assert_string_equal(r->ptx, text.data);
  assert_int_equal(r->ptx_len, text.len);
  assert_memory_equal(&r->recipe, &recipe, sizeof recipe);
  hd_buf_free(&text);
  hd_arena_free(&arena);

  assert_ptr_equal(hd_apply(a, m, "reader", grid, block, 0), r);
  hd_applier_close(a);
  close_bed(&b);
}

/* The word that a verdict rests on is given again when it is applied, and no other. */
static void applies_what_rests_on_the_callers_word(void **state) {
  static const char text[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry w(.param .u64 p)\n{\n.reg .pred "
      "%p<2>;\n"
      ".reg .b32 %r<3>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\nmov.u32 %r2, %ctaid.x;\n"
      "L: ld.volatile.global.u32 %r1, [%rd1];\nsetp.ne.u32 %p1, %r1, %r2;\n@%p1 bra L;\nret;\n}\n";
  static const struct {
    const char *assume, *why;
  } cases[] = {{"", "a loop may wait here"}, {"no-waits", NULL}, {"no-weights", "'no-weights'"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bed b = open_bed("tiny");
    hd_verdict v = {.speedup = 1, .low = 1, .high = 1, .before_us = 1, .after_us = 1, .when = 1};
    hd_verdict_kernel(text, sizeof text - 1, "w", v.key.kernel);
    hd_verdict_launch(grid, block, 0, NULL, 0, v.key.launch);
    strcpy(v.key.gpu, "GPU");
    strcpy(v.key.driver, "1");
    strcpy(v.plan, "order=reverse");
    strcpy(v.assume, cases[i].assume);
    OK(hd_store_put(b.store, &v, &d));
    hd_applier *a;
    hd_applier_module *m;
    OK(hd_applier_open(b.store, "GPU", "1", 16, &a, &d));
    OK(hd_applier_add(a, text, sizeof text - 1, "kernel.ptx", &m, &d));
    const hd_applied *r = hd_apply(a, m, "w", grid, block, 0);
    assert_non_null(r);
    assert_int_equal(r->changed, !cases[i].why);
    if (cases[i].why)
      assert_non_null(strstr(r->why, cases[i].why));
    else
      assert_non_null(strstr(r->ptx, "rests on the word that no loop waits for another CTA"));
    hd_applier_close(a);
    close_bed(&b);
  }
}

/* A kernel whose store may reach anything, and the caller's word about what it reads. */
static void applies_bypassing_by_the_callers_word(void **state) {
  static const char text[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry w(.param .u64 p, .param .u64 q)\n{\n"
      ".reg .b32 %r<3>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\n"
      "ld.global.u32 %r1, [%rd1];\nld.global.u64 %rd3, [%rd2];\nst.global.u32 [%rd3], %r1;\n"
      "st.global.u32 [%rd2], %r1;\nret;\n}\n";
  static const struct {
    const char *assume, *why;
  } cases[] = {{"", "does not go through the read-only cache"},
               {"unwritten=1", NULL},
               {"no-waits,unwritten=1", NULL},
               {"unwritten=2", "writes through parameter 2"},
               {"unwritten=1+2", "writes through parameter 2"},
               {"unwritten=3", "none '3'"},
               {"unwritten=x", "'unwritten=x'"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bed b = open_bed("tiny");
    hd_verdict v = {.speedup = 1, .low = 1, .high = 1, .before_us = 1, .after_us = 1, .when = 1};
    hd_verdict_kernel(text, sizeof text - 1, "w", v.key.kernel);
    hd_verdict_launch(grid, block, 0, NULL, 0, v.key.launch);
    strcpy(v.key.gpu, "GPU");
    strcpy(v.key.driver, "1");
    strcpy(v.plan, "bypass=ro:0");
    strcpy(v.assume, cases[i].assume);
    OK(hd_store_put(b.store, &v, &d));
    hd_applier *a;
    hd_applier_module *m;
    OK(hd_applier_open(b.store, "GPU", "1", 16, &a, &d));
    OK(hd_applier_add(a, text, sizeof text - 1, "kernel.ptx", &m, &d));
    const hd_applied *r = hd_apply(a, m, "w", grid, block, 0);
    assert_non_null(r);
    if (cases[i].why && !strstr(r->why, cases[i].why)) fail_msg("'%s', not '%s'", r->why, cases[i].why);
    if (!cases[i].why && !r->changed) fail_msg("%s", r->why);
    if (!cases[i].why) assert_non_null(strstr(r->ptx, ".nc"));
    hd_applier_close(a);
    close_bed(&b);
  }
}

static void leaves_the_rest_alone(void **state) {
  static const uint32_t torn[3] = {7, 1, 1}, refused[3] = {8, 1, 1}, kept[3] = {9, 1, 1},
                        lost[3] = {10, 1, 1};
  bed b = open_bed("tiny");
  hd_applier_module *m;
  put(&b, "order=nonsense", torn);
  put(&b, "bypass=ro:0", refused); /* no load of the kernel is one that this changes */
  put(&b, "baseline", kept);
  put(&b, "order=table:no/such/file", lost);
  hd_applier *a = open_applier(&b, &m);
  const struct {
    const uint32_t *g;
    bool told;
  } cases[] = {{grid, false}, {torn, true}, {refused, true}, {kept, false}, {lost, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const hd_applied *r = hd_apply(a, m, "reader", cases[i].g, block, 0);
    assert_non_null(r);
    assert_false(r->changed);
    assert_int_equal(r->why[0] != 0, cases[i].told);
    assert_int_equal(r->id, i);
  }
  hd_applier_close(a);
  close_bed(&b);
}

static void reads_tables_from_files(void **state) {
  static const uint32_t three[3] = {3, 1, 1};
  bed b = open_bed("tiny");
  hd_applier_module *m;
  char plan[600];
  scratch_write("turned.table", "2\n0\n1\n");
  snprintf(plan, sizeof plan, "order=table:%s", scratch_path("turned.table"));
  put(&b, plan, three);
  hd_applier *a = open_applier(&b, &m);
  const hd_applied *r = hd_apply(a, m, "reader", three, block, 0);
  if (!r->changed) fail_msg("%s", r->why);
  assert_int_equal(r->table.n, 3);
  assert_int_equal(r->table.task[0], 2);
  hd_applier_close(a);
  close_bed(&b);
}

enum { LAUNCHES = 500, THREADS = 4 };
typedef struct crowd {
  hd_applier *a;
  hd_applier_module *m;
  const hd_applied *seen[THREADS][LAUNCHES];
} crowd;

static void launch_many(void *ctx, unsigned worker) {
  crowd *c = ctx;
  for (uint32_t i = 0; i < LAUNCHES; i++) {
    uint32_t k = worker % 2 ? LAUNCHES - 1 - i : i, g[3] = {k + 1, 1, 1};
    c->seen[worker][k] = hd_apply(c->a, c->m, "reader", g, block, 0);
  }
}

static void many_threads_see_one_entry(void **state) {
  static crowd c;
  bed b = open_bed("tiny");
  bool ids[LAUNCHES] = {false};
  c.a = open_applier(&b, &c.m);
  assert_true(hd_parallel(THREADS, launch_many, &c));
  for (uint32_t i = 0; i < LAUNCHES; i++) {
    assert_non_null(c.seen[0][i]);
    for (int k = 1; k < THREADS; k++) assert_ptr_equal(c.seen[k][i], c.seen[0][i]);
    assert_true(c.seen[0][i]->id < LAUNCHES && !ids[c.seen[0][i]->id]);
    ids[c.seen[0][i]->id] = true;
  }
  hd_applier_close(c.a);
  close_bed(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("on a model no candidate order beats the plan that tuning finds", finds_what_a_sweep_finds),
      BEHAVIOUR("plans that are given are tried whatever the budget", tries_the_plans_given_first),
      BEHAVIOUR("a plan whose table's file is gone is passed over", passes_over_tables_that_are_gone),
      BEHAVIOUR("a device without times is refused", needs_a_clock),
      BEHAVIOUR("a tuning comes back from the store", keeps_and_recalls),
      BEHAVIOUR("times of several kernels under one plan add up", times_of_several_kernels_add_up),
      BEHAVIOUR("an order that a trace told goes with its verdict to other stores",
                tables_go_with_their_verdicts),
      BEHAVIOUR("verifying drops a plan that is slower now", verifying_drops_what_lost_its_worth),
      BEHAVIOUR("a launch with a verdict gets the rewritten module and its recipe",
                applies_what_rewriting_gives),
      BEHAVIOUR("the word that a verdict rests on is given again when it is applied",
                applies_what_rests_on_the_callers_word),
      BEHAVIOUR("bypassing rests on the caller's word where the kernel does not say so",
                applies_bypassing_by_the_callers_word),
      BEHAVIOUR("without a verdict, or with one that cannot be applied, the original stays",
                leaves_the_rest_alone),
      BEHAVIOUR("a table's file comes with the launch", reads_tables_from_files),
      BEHAVIOUR("threads that launch at once share entries", many_threads_see_one_entry),
  };
  return cmocka_run_group_tests_name("tune.tuner", tests, scratch_setup, scratch_teardown);
}
