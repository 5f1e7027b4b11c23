/* The product's main job: the plan that is chosen, proved and written out is of one text. */
#include "predict/session.h"

#include <stdio.h>
#include <string.h>

#include "advise/advice.h"
#include "heddle/optimize.h"
#include "tune/second_look.h"
#include "workload/scratch.h"

/* CTA (x, y) adds up block x of the data, as test_tuner.c's does; compiled for a later GPU than sm_80 it has
 * one load more, in front of all others. */
static const char workload_text[] = "title = \"blocks\"\n"
                                    "source = \"kernel.cu\"\n"
                                    "[sizes.tiny]\nblocks = 8\nreaders = 6\n"
                                    "[sizes.less]\nblocks = 40\nreaders = 6\n"
                                    "[sizes.small]\nblocks = 96\nreaders = 6\n"
                                    "[[buffer]]\nname = \"data\"\ntype = \"u32\"\ncount = \"blocks * 4096\"\n"
                                    "fill = \"iota\"\n"
                                    "[[buffer]]\nname = \"out\"\ntype = \"u32\"\n"
                                    "count = \"blocks * readers * 32\"\ncompare = \"exact\"\n"
                                    "[[launch]]\nkernel = \"reader\"\ngrid = [\"blocks\", \"readers\"]\n"
                                    "block = [32]\nargs = [\"data\", \"out\"]\n";
static const char kernel_text[] =
    "extern \"C\" __global__ void reader(const unsigned *data, unsigned *out) {\n"
    "  unsigned sum = 0;\n"
    "#if __CUDA_ARCH__ > 800\n"
    "  sum = data[0];\n"
    "#endif\n"
    "  for (unsigned i = 0; i < 128; i++) sum += data[blockIdx.x * 4096 + i * 32 + threadIdx.x];\n"
    "  out[(blockIdx.y * gridDim.x + blockIdx.x) * 32 + threadIdx.x] = sum;\n"
    "}\n";

static hd_diag d;
#define OK(call)                                                                                             \
  do {                                                                                                       \
    if ((call) != HD_OK) fail_msg("%s: %s", #call, d.message);                                               \
  } while (0)

/* So slow a DRAM that the order decides. */
static hd_gpu slow_dram_gpu(void) {
  hd_gpu g = load_gpu("gtx580");
  g.dram_bytes_per_cycle /= 20;
  return g;
}

static hd_workload *open_blocks(void) {
  hd_workload *w;
  scratch_write("archs/workload.toml", workload_text);
  scratch_write("archs/kernel.cu", kernel_text);
  OK(hd_workload_open(scratch_path("archs"), NULL, "small", &w, &d));
  return w;
}

/* The module that a checker runs for the plan, printed. */
static char *proved_text(const hd_workload *w, const hd_gpu *g, const hd_plan *p) {
  const hd_run_options run = {.machine.n_sms = g->n_sms};
  const hd_plan_set set = {.all = *p};
  hd_resolved plans;
  hd_rewritten own;
  OK(hd_resolve(w, &set, &run, NULL, &plans, &d));
  OK(hd_apply_resolved(&plans, &run.compile, g->n_sms, HD_TEXT_IN_PLACE, &own, &d));
  char *text = strdup(own.text.data);
  hd_rewritten_free(&own);
  hd_resolved_free(&plans);
  return text;
}

static void what_is_written_is_what_was_proved(void **state) {
  skip_without_compiler();
  hd_workload *w = open_blocks();
  hd_gpu g = slow_dram_gpu();
  g.arch = 90; /* a text for the modelled GPU would be another one */
  const hd_compiled *other;
  const hd_compiled *code;
  /* Code that differs by architecture tells the texts apart. */
  OK(hd_workload_compiled(w, 90, &other, &d));
  OK(hd_workload_compiled(w, hd_launch_arch(NULL, 0), &code, &d));
  size_t loads = hd_rewrite_loads(code->module, code->kernels[0].func, NULL, 0);
  assert_true(hd_rewrite_loads(other->module, other->kernels[0].func, NULL, 0) != loads);
  hd_candidate plans[] = {{.plan = {.order = {.kind = HD_ORDER_COL}}}};
  hd_optimize_options o = {
      .run = {.machine.threads = 2}, .dispatch = g.dispatch, .plans = plans, .n_plans = 1};
  hd_optimized z;
  OK(hd_optimize(w, &g, &o, &z, &d));
  assert_int_equal(z.best, 1);
  assert_true(z.proof.equal);
  assert_int_equal(z.proof.runs, HD_DISPATCH_COUNT);
  assert_true(z.proof.thread_instructions > 0 && z.proof.thread_instructions_rewritten > 0);
  char *want = proved_text(w, &g, &z.rows[z.best].plan);
  assert_int_equal(strlen(want), z.written.text.len);
  assert_memory_equal(z.written.text.data, want, z.written.text.len);
  assert_non_null(strstr(z.written.text.data, ".target sm_80"));
  free(want);
  hd_optimized_free(&z);
  hd_workload_close(w);
}

/* The proof at the workload's size is too dear for the budget: it is one of the largest size that is not, or
 * of the smallest, and the text is that of the workload's size all the same. */
static void a_proof_that_takes_too_long_is_of_a_smaller_size(void **state) {
  static const struct {
    double seconds;
    bool exact;
    const char *size;
    unsigned blocks;
  } cases[] = {{60, false, "", 96}, {0.4, false, "less", 40}, {1e-6, false, "tiny", 8}, {1e-6, true, "", 96}};
  skip_without_compiler();
  hd_workload *w = open_blocks();
  hd_gpu g = slow_dram_gpu();
  hd_candidate plans[] = {{.plan = {.order = {.kind = HD_ORDER_COL}}}};
  char *want = proved_text(w, &g, &plans[0].plan);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_optimize_options o = {.run = {.machine.threads = 2},
                             .dispatch = g.dispatch,
                             .plans = plans,
                             .n_plans = 1,
                             .seconds = cases[i].seconds,
                             .exact = cases[i].exact};
    hd_optimized z;
    OK(hd_optimize(w, &g, &o, &z, &d));
    assert_int_equal(z.best, 1);
    assert_string_equal(z.proof_size, cases[i].size);
    assert_int_equal(z.proof.bytes_compared, 4 * cases[i].blocks * (4096 + 6 * 32));
    assert_int_equal(z.proof.runs, HD_DISPATCH_COUNT);
    assert_true(z.whole_proof_seconds > 0);
    assert_string_equal(z.written.text.data, want);
    hd_optimized_free(&z);
  }
  free(want);
  hd_workload_close(w);
}

/* Where all tasks are traced, and that takes too long, the original stays. */
static void a_trace_that_takes_too_long_leaves_the_original(void **state) {
  hd_workload *w;
  hd_gpu g;
  hd_optimized z;
  hd_diag d = {0};
  assert_int_equal(hd_workload_open("gemm-bf16-cluster", SOURCE_DIR "/kernels", "paper", &w, &d), HD_OK);
  assert_int_equal(hd_gpu_load("h100", SOURCE_DIR "/gpus", &g, &d), HD_OK);
  const hd_optimize_options o = {
      .run = {.machine.threads = 2, .budget.trace_seconds = 0.02}, .dispatch = g.dispatch, .exact = true};
  assert_int_equal(hd_optimize(w, &g, &o, &z, &d), HD_OK);
  assert_int_equal(z.best, 0);
  assert_null(z.written.text.data);
  assert_non_null(
      strstr(z.why, "is more work than it may be: trace a smaller launch (a larger --budget, above 60)"));
  assert_int_equal(z.ended, 1u << HD_BOUND_WORK);
  assert_int_equal(z.late, 1);
  assert_null(z.study);
  hd_optimized_free(&z);
  hd_workload_close(w);
}

/* Whatever stands in the proof's way, the plan's row stays as it was replayed: nothing is said of the plan.
 */
static void expect_no_proof(const hd_optimized *z, const char *why) {
  assert_int_equal(z->best, 0);
  assert_null(z->written.text.data);
  assert_false(hd_optimize_answers(z));
  assert_int_equal(z->ended, 1u << HD_BOUND_PROOF);
  assert_int_equal(z->rows[1].status, HD_OK);
  if (!strstr(z->why, why)) fail_msg("%s", z->why);
  assert_non_null(strstr(z->why, "(next: order=col, predicted "));
}

static void a_proof_that_would_take_far_too_long_is_not_made(void **state) {
  skip_without_compiler();
  hd_workload *w = open_blocks();
  hd_gpu g = slow_dram_gpu();
  hd_candidate plans[] = {{.plan = {.order = {.kind = HD_ORDER_COL}}}};
  for (int exact = 0; exact < 2; exact++) {
    const hd_optimize_options o = {.run = {.machine.threads = 2},
                                   .dispatch = g.dispatch,
                                   .plans = plans,
                                   .n_plans = 1,
                                   .seconds = 1e-6,
                                   .proof = 1e-6,
                                   .exact = exact};
    hd_optimized z;
    OK(hd_optimize(w, &g, &o, &z, &d));
    if (exact)
      assert_int_equal(z.best, 1);
    else
      expect_no_proof(&z, "it would take about 1 min of two cores (--exact makes it)");
    hd_optimized_free(&z);
  }
  hd_workload_close(w);
}

/* The list is as long as the seconds allow, by the work of a replay. */
static void long_replays_leave_time_for_few_plans(void **state) {
  skip_without_compiler();
  hd_workload *w = open_blocks();
  hd_gpu g = load_gpu("gtx580");
  size_t rows[2];
  for (size_t i = 0; i < 2; i++) {
    hd_optimize_options o = {.run = {.machine.threads = 2}, .dispatch = g.dispatch, .seconds = i ? 60 : 1e-6};
    hd_optimized z;
    OK(hd_optimize(w, &g, &o, &z, &d));
    rows[i] = z.n_rows;
    hd_optimized_free(&z);
  }
  assert_true(rows[0] > 1 && rows[0] <= 5);
  assert_true(rows[1] > rows[0]);
  hd_workload_close(w);
}

/* Of plans that promise less than they cost, none is proved. */
static void only_the_winner_is_proved(void **state) {
  skip_without_compiler();
  hd_workload *w = open_blocks();
  hd_gpu g = load_gpu("h100");
  hd_candidate plans[] = {{.plan = {.order = {.kind = HD_ORDER_REVERSE}}}};
  hd_optimize_options o = {
      .run = {.machine.threads = 2}, .dispatch = g.dispatch, .plans = plans, .n_plans = 1};
  hd_optimized z;
  OK(hd_optimize(w, &g, &o, &z, &d));
  assert_int_equal(z.best, 0);
  assert_int_equal(z.n_rows, 2);
  assert_null(z.written.text.data);
  assert_int_equal(z.proof.runs, 0);
  assert_true(z.why[0] || z.no_gain);
  hd_optimized_free(&z);
  hd_workload_close(w);
}

/* Tasks of few instructions, whose data is too large for L2. DRAM takes `over_issue` times as long as issuing
 * them at the GPU's nominal rate, at which a rewritten kernel's instructions are counted. */
static hd_workload *open_short(hd_gpu *g, double over_issue) {
  hd_workload *w;
  hd_study *s;
  hd_counters c;
  char text[sizeof kernel_text + 64];
  const char *loads = strstr(kernel_text, "128");
  snprintf(text, sizeof text, "%.*s4%s", (int)(loads - kernel_text), kernel_text, loads + 3);
  scratch_write("short/kernel.cu", text);
  scratch_write("short/workload.toml", workload_text);
  const char *const set[] = {"blocks=1024"};
  OK(hd_workload_open_with(scratch_path("short"), NULL, "small", set, 1, &w, &d));
  *g = load_gpu("gtx580");
  g->issue_per_cycle = 1;
  g->max_ctas = g->max_warps; /* so many that latencies are hidden */
  g->l2.bytes = 1 << 16;
  g->schedulers = 4;
  g->units.alu = g->units.fma = g->units.load_store = 128;
  g->l2.bytes_per_cycle *= 4;
  g->l2.latency = 100;
  g->dram_latency = 150;
  g->dram_banks = 0;
  g->dram_channels = 1;
  g->l1_global = false; /* where blocks' lines would fall into one set */
  const hd_run_options run = {.machine.threads = 2, .machine.n_sms = g->n_sms};
  OK(hd_study_open(w, &run, &(hd_study_options){.timed = true}, &s, &d));
  OK(hd_study_replay(s, g, &hd_plan_original, g->dispatch, 0, &c, &d));
  hd_study_close(s);
  g->dram_bytes_per_cycle *= c.cycles_dram / (over_issue * c.cycles_issue);
  return w;
}

static hd_candidate tile(uint32_t a, uint32_t b) {
  return (hd_candidate){.plan = {.order = {.kind = HD_ORDER_TILE, .a = a, .b = b}}};
}

static void instructions_are_counted_once_for_orders_of_a_kind(void **state) {
  skip_without_compiler();
  hd_gpu g;
  hd_workload *w = open_short(&g, 1.0);
  const hd_candidate plans[] = {tile(2, 6), tile(4, 6), tile(8, 6), tile(16, 6)};
  hd_optimize_options o = {
      .run = {.machine.threads = 2}, .dispatch = g.dispatch, .plans = plans, .n_plans = 4};
  hd_optimized z;
  OK(hd_optimize(w, &g, &o, &z, &d));
  unsigned counted = 0, alike = 0;
  for (size_t i = 1; i < z.n_rows; i++) {
    alike += strstr(z.rows[i].why, "about as much as order=tile") != NULL;
    counted += strstr(z.rows[i].why, "costs more than it gains: ") != NULL;
  }
  assert_int_equal(z.best, 0);
  assert_int_equal(z.tried, 1);
  assert_int_equal(counted, 1);
  assert_true(alike >= 1);
  hd_optimized_free(&z);
  hd_workload_close(w);
}

typedef struct stopping {
  unsigned asked, after, stages;
} stopping;

static bool stop_after(void *ctx) {
  stopping *s = ctx;
  return s->asked++ >= s->after;
}

static void count_stages(void *ctx, const char *stage, size_t done, size_t n) {
  assert_true(stage[0] && done <= n);
  ((stopping *)ctx)->stages++;
}

static void a_search_that_is_stopped_proves_the_best_so_far(void **state) {
  skip_without_compiler();
  hd_workload *w = open_blocks();
  hd_gpu g = slow_dram_gpu();
  hd_candidate plans[12] = {{.plan = {.order = {.kind = HD_ORDER_COL}}}};
  for (uint32_t i = 1; i < 12; i++) plans[i] = tile(i, 3);
  stopping s = {0};
  hd_optimize_options o = {.run = {.machine.threads = 1},
                           .dispatch = g.dispatch,
                           .plans = plans,
                           .n_plans = 12,
                           .progress = count_stages,
                           .stop = stop_after,
                           .ctx = &s};
  hd_optimized z;
  OK(hd_optimize(w, &g, &o, &z, &d));
  assert_true(z.stopped);
  assert_int_equal(z.best, 1);
  assert_true(z.proof.equal);
  assert_int_equal(z.n_rows, 13);
  assert_non_null(strstr(z.rows[12].why, "stopped before it was replayed"));
  assert_true(s.stages > 3);
  assert_true(z.seconds.trace > 0 && z.seconds.replay > 0 && z.seconds.proof > 0);
  hd_optimized_free(&z);
  hd_workload_close(w);
}

static void plans_whose_gain_the_model_does_not_see_are_named(void **state) {
  static const struct {
    const char *workload;
    hd_plan winner; /* on an H100 */
  } cases[] = {{"reduce", {.bypass = {HD_BYPASS_L2, 4}}}};
  skip_without_compiler();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    session q = open_session(cases[i].workload, "small", "h100");
    hd_optimize_options o = {.run = {.machine.threads = 2}, .dispatch = q.g.dispatch, .seconds = 0.01};
    hd_optimized z;
    bool found = false;
    OK(hd_optimize(q.w, &q.g, &o, &z, &d));
    assert_int_equal(z.best, 0);
    assert_true(z.no_gain);
    for (size_t k = 0; k < z.unseen.n; k++) {
      found |= hd_plan_equal(&z.unseen.at[k].plan, &cases[i].winner);
      assert_true(hd_plan_is_unseen(&z.unseen.at[k].plan));
      assert_true(!k || z.unseen.at[k].prior <= z.unseen.at[k - 1].prior);
    }
    assert_true(found);
    hd_optimized_free(&z);
    close_session(&q);
  }
}

static void the_clock_sees_what_loads_of_memory_that_nothing_writes_gain(void **state) {
  skip_without_compiler();
  session q = open_session("copy-col", "small", "h100");
  hd_optimize_options o = {.run = {.machine.threads = 2}, .dispatch = q.g.dispatch};
  hd_optimized z;
  OK(hd_optimize(q.w, &q.g, &o, &z, &d));
  assert_true(z.best > 0);
  assert_int_equal(z.rows[z.best].plan.bypass.kind, HD_BYPASS_READONLY);
  assert_true(z.rows[0].counters.warp_cycles > 0);
  hd_optimized_free(&z);
  close_session(&q);
}

/* The winner of a sampled sweep is replayed once more, from more of the work. */
static void a_sampled_winner_keeps_its_promise_in_a_second_look(void **state) {
  skip_without_compiler();
  enum { PLANS = 16 };
  const char *const set[] = {"width=65536", "height=16"};
  hd_workload *w;
  hd_gpu g = load_gpu("h100");
  g.n_sms = 4; /* eight waves */
  OK(hd_workload_open_with("copy-col", SOURCE_DIR "/kernels", "small", set, 2, &w, &d));
  hd_candidate plans[PLANS] = {{.plan = {.bypass = {HD_BYPASS_READONLY, 8}}}};
  for (uint32_t i = 1; i < PLANS; i++) plans[i].plan.order = (hd_order){.kind = HD_ORDER_BAND, .a = i};
  for (int exact = 0; exact < 2; exact++) {
    hd_optimize_options o = {.run = {.machine.threads = 2},
                             .dispatch = g.dispatch,
                             .plans = plans,
                             .n_plans = PLANS,
                             .seconds = 0.2,
                             .exact = exact};
    hd_optimized z;
    OK(hd_optimize(w, &g, &o, &z, &d));
    const double part = hd_study_part(z.study),
                 first = z.rows[0].counters.time_us / z.rows[z.best].counters.time_us;
    assert_true(z.best > 0);
    assert_true(first >= hd_optimize_worth(&plans[0].plan));
    if (exact) {
      assert_true(part == 1 && z.second_part == 0);
    } else {
      assert_true(part < 1 && z.second_part > part);
      assert_true(z.second_speedup >= hd_optimize_worth(&plans[0].plan));
    }
    hd_optimized_free(&z);
  }
  hd_workload_close(w);
}

static void more_is_asked_of_plans_that_bind_or_change_caches(void **state) {
  static const struct {
    hd_plan plan;
    double worth;
  } cases[] = {{{.order = {.kind = HD_ORDER_COL}}, 1.05},
               {{.threads = {.kind = HD_ORDER_COL}}, 1.05},
               {{.bypass = {HD_BYPASS_READONLY, 8}}, 1.3},
               {{.stream = {.kind = HD_STREAM_L1}}, 1.3},
               {{.prefetch = {.kind = HD_PREFETCH_L2}}, 1.15},
               {{.bind = HD_BIND_REDIRECT}, 1.15},
               {{.bind = HD_BIND_CLAIM}, 1.15},
               {{.bind = HD_BIND_AGENTS}, 1.3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_true(hd_optimize_worth(&cases[i].plan) == cases[i].worth);
}

static void a_second_look_is_of_its_own_sample(void **state) {
  skip_without_compiler();
  session q = open_session("copy-col", "small", "h100");
  second_look l = {.first = q.s,
                   .g = &q.g,
                   .run = {.machine.threads = 2, .machine.n_sms = q.g.n_sms},
                   .how.timed = true,
                   .dispatch = q.g.dispatch};
  hd_plan plan;
  hd_counters base, changed;
  double speedup;
  OK(hd_plan_parse("bypass=ro:8", &plan, &d));
  OK(second_look_take(&l, &plan, &speedup, &d));
  assert_true(second_look_part(&l) == 1);
  OK(hd_study_replay(l.study, &q.g, &(hd_plan){0}, q.g.dispatch, 0, &base, &d));
  OK(hd_study_replay(l.study, &q.g, &plan, q.g.dispatch, 0, &changed, &d));
  assert_true(speedup == base.time_us / changed.time_us);
  const double of_first = speedup;
  OK(second_look_take(&l, &(hd_plan){0}, &speedup, &d));
  assert_true(speedup == 1 && of_first != 1);
  assert_int_equal(l.looks, 2);
  second_look_close(&l);
  close_session(&q);
}

static void a_second_look_that_comes_too_late_is_spared_large_promises(void **state) {
  skip_without_compiler();
  session q = open_session("copy-col", "small", "h100");
  second_look l = {.first = q.s,
                   .g = &q.g,
                   .run = {.machine.threads = 2, .machine.n_sms = q.g.n_sms, .budget.until = hd_seconds()},
                   .how.timed = true,
                   .dispatch = q.g.dispatch};
  hd_plan plan;
  double speedup;
  OK(hd_plan_parse("bypass=ro:8", &plan, &d));
  assert_int_equal(second_look_take(&l, &plan, &speedup, &d), HD_ERR_BUDGET);
  assert_int_equal(l.looks, 0);
  assert_true(second_look_spared(7, 1.05) && second_look_spared(1.7, 1.3));
  assert_false(second_look_spared(1.3, 1.05) || second_look_spared(1.6, 1.3));
  second_look_close(&l);
  close_session(&q);
}

static void every_list_begins_with_what_the_traces_propose(void **state) {
  skip_without_compiler();
  session z = open_session("matmul-naive", "small", "gtx580");
  hd_list_options o = {.run = {.machine.threads = 2}, .facts = true};
  hd_plan_list facts, text, kept;
  OK(hd_advise_list(z.w, z.s, &z.g, &o, &facts, &d));
  o.facts = false;
  OK(hd_advise_list(z.w, NULL, &z.g, &o, &text, &d));
  o.keep_launch = true;
  OK(hd_advise_list(z.w, NULL, &z.g, &o, &kept, &d));
  assert_true(facts.n > 0 && text.n > kept.n && kept.n > 0);
  /* The list with facts holds every plan that the text alone suggests, but for agents and claims. */
  for (size_t i = 0; i < text.n; i++) {
    bool found = false;
    for (size_t k = 0; k < facts.n; k++) found |= hd_plan_equal(&text.at[i].plan, &facts.at[k].plan);
    assert_true(found || text.at[i].plan.bind == HD_BIND_AGENTS || text.at[i].plan.bind == HD_BIND_CLAIM);
    assert_true(text.at[i].reason[0]);
  }
  for (size_t i = 0; i < kept.n; i++)
    assert_true(kept.at[i].plan.bind != HD_BIND_AGENTS && kept.at[i].plan.bind != HD_BIND_CLAIM);
  hd_plan_list_free(&facts);
  hd_plan_list_free(&text);
  hd_plan_list_free(&kept);
  close_session(&z);
}

/* Remapped threads are the first of all where accesses are scattered; where CTAs share lines that L1 misses,
 * and DRAM moves each byte once, it is a binding. */
static void one_plan_of_each_lever_comes_before_the_second_of_any(void **state) {
  static const struct {
    const char *name;
    advice_lever first;
  } cases[] = {{"matmul-swapped", ADVICE_THREADS}, {"syr2k", ADVICE_THREADS}, {"matmul-naive", ADVICE_BIND}};
  skip_without_compiler();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    session z = open_session(cases[i].name, "small", "gtx580");
    const hd_list_options o = {.run = {.machine.threads = 2}, .facts = true};
    hd_plan_list list;
    unsigned all = 0, seen = 0;
    OK(hd_advise_list(z.w, z.s, &z.g, &o, &list, &d));
    for (size_t k = 0; k < list.n; k++) all |= 1u << advice_lever_of(&list.at[k].plan);
    assert_true(hd_bits32(all) > 2);
    for (unsigned k = 0; k < hd_bits32(all); k++) seen |= 1u << advice_lever_of(&list.at[k].plan);
    if (seen != all) fail_msg("%s: a lever's second plan comes before another's first", cases[i].name);
    if (advice_lever_of(&list.at[0].plan) != cases[i].first)
      fail_msg("%s: lever %d is the first", cases[i].name, (int)advice_lever_of(&list.at[0].plan));
    hd_plan_list_free(&list);
    close_session(&z);
  }
}

/* The wall, and nothing else, decides whether there is an answer; how much was done is told as it is. */
static void an_optimization_that_the_wall_ends_is_no_answer(void **state) {
  skip_without_compiler();
  hd_workload *w = open_blocks();
  hd_gpu g = load_gpu("gtx580");
  hd_optimize_options o = {.run = {.machine.threads = 2}, .dispatch = g.dispatch, .wall = 1e-6};
  for (int late = 1; late >= 0; late--, o.wall = 0) {
    hd_optimized z;
    size_t untried = 0;
    OK(hd_optimize(w, &g, &o, &z, &d));
    for (size_t i = 0; i < z.n_rows; i++) untried += z.rows[i].status == HD_ERR_BUDGET;
    assert_int_equal(hd_optimize_answers(&z), !late);
    assert_int_equal(z.late, untried);
    assert_int_equal(untried > 0, late);
    assert_int_equal(z.ended, late ? 1u << HD_BOUND_TIME : 0);
    if (late) assert_false(z.no_gain);
    hd_optimized_free(&z);
  }
  hd_workload_close(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the module that is written is byte for byte the one that was proved",
                what_is_written_is_what_was_proved),
      BEHAVIOUR("a second look that comes too late is spared large promises",
                a_second_look_that_comes_too_late_is_spared_large_promises),
      BEHAVIOUR("one plan of each lever comes before the second of any",
                one_plan_of_each_lever_comes_before_the_second_of_any),
      BEHAVIOUR("an optimization that the wall ends is no answer",
                an_optimization_that_the_wall_ends_is_no_answer),
      BEHAVIOUR("a proof that takes too long is of a smaller size",
                a_proof_that_takes_too_long_is_of_a_smaller_size),
      BEHAVIOUR("a trace that takes too long leaves the original",
                a_trace_that_takes_too_long_leaves_the_original),
      BEHAVIOUR("a proof that would take far too long is not made",
                a_proof_that_would_take_far_too_long_is_not_made),
      BEHAVIOUR("long replays leave time for few plans", long_replays_leave_time_for_few_plans),
      BEHAVIOUR("a plan that promises nothing is not proved", only_the_winner_is_proved),
      BEHAVIOUR("instructions are counted once for orders of a kind",
                instructions_are_counted_once_for_orders_of_a_kind),
      BEHAVIOUR("a search that is stopped proves the best so far",
                a_search_that_is_stopped_proves_the_best_so_far),
      BEHAVIOUR("the clock sees what loads of memory that nothing writes gain",
                the_clock_sees_what_loads_of_memory_that_nothing_writes_gain),
      BEHAVIOUR("plans whose gain the model does not see are named",
                plans_whose_gain_the_model_does_not_see_are_named),
      BEHAVIOUR("a sampled winner keeps its promise in a second look",
                a_sampled_winner_keeps_its_promise_in_a_second_look),
      BEHAVIOUR("more is asked of plans that bind CTAs or change what caches keep",
                more_is_asked_of_plans_that_bind_or_change_caches),
      BEHAVIOUR("a second look is of its own sample", a_second_look_is_of_its_own_sample),
      BEHAVIOUR("optimize and sweep try one list, with and without what the traces propose",
                every_list_begins_with_what_the_traces_propose),
  };
  return cmocka_run_group_tests_name("tune.optimize", tests, NULL, NULL);
}
