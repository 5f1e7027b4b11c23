/* Replays with a clock: the effect of a kernel's dependences on its time. */
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "heddle/model.h"
#include "model/clock.h"
#include "model/subject.h"
#include "model/trace.h"

static hd_counters counters_on(const hd_gpu *g, const char *body, uint32_t ctas, uint32_t threads,
                               bool follows) {
  subject s = trace_kernel(body, ctas, threads);
  hd_diag d = {0};
  hd_model *m;
  hd_counters c;
  must(hd_model_create(g, &m, &d), &d);
  hd_replay_options o = {.timed = true, .keep_caches = follows};
  must(hd_model_replay(m, s.trace, &o, &c, &d), &d);
  hd_model_destroy(m);
  drop(&s);
  return c;
}

static double cycles_on(const hd_gpu *g, const char *body, uint32_t ctas, uint32_t threads) {
  return counters_on(g, body, ctas, threads, false).cycles;
}

static double cycles_of(const char *body, uint32_t ctas, uint32_t threads) {
  hd_gpu g = round_gpu();
  return cycles_on(&g, body, ctas, threads);
}

static void assert_between(double x, double low, double high) {
  if (!(x >= low && x <= high)) fail_msg("%g is not between %g and %g", x, low, high);
}

/* Loads number `n` from places of their own; with `use` each result is added up at once. */
static char *loads(const char *op, unsigned n, bool use, bool store) {
  hd_buf b = {0};
  hd_buf_puts(&b, "mov.f32 %f0, 0f00000000;\n");
  for (unsigned i = 1; i <= n; i++) {
    hd_buf_printf(&b, "%s.f32 %%f%u, [%%rd2+%u];\n", op, i, i * APART);
    if (use) hd_buf_printf(&b, "add.f32 %%f0, %%f0, %%f%u;\n", i);
    if (store) hd_buf_printf(&b, "st.global.f32 [%%rd2], %%f0;\n");
  }
  hd_buf_puts(&b, "st.global.f32 [%rd2], %f0;\n");
  return b.data;
}

/* ---- One warp ------------------------------------------------------------------------------- */

static void one_load_takes_a_way_to_dram_and_back(void **state) {
  char *one = loads("ld.global", 1, true, false);
  assert_between(cycles_of(one, 1, 32), 700, 800); /* and the store's to L2 */
  free(one);
}

static void independent_loads_of_a_block_are_in_flight_together(void **state) {
  char *one = loads("ld.global", 1, true, false), *eight = loads("ld.global", 8, true, false);
  double more = cycles_of(eight, 1, 32) - cycles_of(one, 1, 32);
  assert_between(more, 0, 8 * 12);
  free(one);
  free(eight);
}

static void a_load_that_needs_another_ones_result_waits_for_it(void **state) {
  const char *chain = "ld.global.u32 %r5, [%rd2+262144];\nand.b32 %r5, %r5, 0;\n"
                      "cvt.u64.u32 %rd4, %r5;\nadd.u64 %rd5, %rd2, %rd4;\n"
                      "ld.global.u32 %r6, [%rd5+524288];\nst.global.u32 [%rd2], %r6;\n";
  char *one = loads("ld.global", 1, true, false);
  double more = cycles_of(chain, 1, 32) - cycles_of(one, 1, 32);
  assert_between(more, 500, 600);
  free(one);
}

static void a_store_between_loads_keeps_them_apart_unless_nothing_writes_what_they_read(void **state) {
  char *weak = loads("ld.global", 4, true, true), *readonly = loads("ld.global.nc", 4, true, true);
  double apart = cycles_of(weak, 1, 32), together = cycles_of(readonly, 1, 32);
  assert_between(apart, 4 * 500, 4 * 600);
  assert_between(together, 700, 900);
  free(weak);
  free(readonly);
}

static void a_chain_of_additions_takes_the_latency_of_each(void **state) {
  hd_buf b = {0};
  hd_buf_puts(&b, "mov.f32 %f1, 0f3F800000;\n");
  for (int i = 0; i < 1000; i++) hd_buf_puts(&b, "add.f32 %f1, %f1, %f1;\n");
  hd_buf_puts(&b, "st.global.f32 [%rd2], %f1;\n");
  assert_between(cycles_of(b.data, 1, 32), 4200, 4300); /* and the store's way */
  hd_buf_free(&b);
}

static void a_loop_counts_all_its_turns(void **state) {
  char body[512];
  double cycles[2];
  for (int k = 0; k < 2; k++) {
    snprintf(
        body, sizeof body,
        "mov.u32 %%r5, 0;\nmov.f32 %%f1, 0f3F800000;\nL:\nadd.f32 %%f1, %%f1, %%f1;\nadd.u32 %%r5, %%r5, 1;\n"
        "setp.lt.u32 %%p1, %%r5, %d;\n@%%p1 bra L;\nst.global.f32 [%%rd2], %%f1;\n",
        k ? 20000 : 10000);
    cycles[k] = cycles_of(body, 1, 32);
  }
  assert_between((cycles[1] - cycles[0]) / 10000, 4, 16);
}

/* A loop of loads, each used at once; `before` stands in front of it, `pragma` in it. */
static double loop_of_loads(const hd_gpu *g, const char *before, const char *pragma, const char *step) {
  hd_buf b = {0};
  hd_buf_printf(&b,
                "mov.u32 %%r5, 0;\nmov.u64 %%rd4, %%rd2;\nmov.f32 %%f0, 0f00000000;\n"
                "setp.eq.u32 %%p2, %%r1, 77;\n%sL:\n%sld.global.f32 %%f1, [%%rd4];\n"
                "add.f32 %%f0, %%f0, %%f1;\nadd.u64 %%rd4, %%rd4, 4096;\n%s\nsetp.lt.u32 %%p1, %%r5, 64;\n"
                "@%%p1 bra L;\nst.global.f32 [%%rd2], %%f0;\n",
                before, pragma, step);
  const double cycles = cycles_on(g, b.data, 1, 32);
  hd_buf_free(&b);
  return cycles;
}

static void turns_of_a_counted_loop_have_their_loads_in_flight_together(void **state) {
  static const char one[] = "add.u32 %r5, %r5, 1;",
                    two[] = "add.u32 %r5, %r5, 1;\ncvt.rzi.u32.f32 %r6, %f1;\nadd.u32 %r5, %r5, %r6;";
  const hd_gpu g = round_gpu();
  const double unrolled = loop_of_loads(&g, "", "", one),
               not_unrolled = loop_of_loads(&g, "", ".pragma \"nounroll\";\n", one),
               not_counted = loop_of_loads(&g, "", "", two);
  assert_between(not_unrolled, 64 * 500, 64 * 600);
  assert_between(not_counted, 64 * 500, 64 * 600);
  assert_between(unrolled, 16 * 500, 16 * 700);
}

static void a_loop_at_whose_head_branches_meet_may_stay_as_it_is(void **state) {
  static const char step[] = "add.u32 %r5, %r5, 1;", joined[] = "@%p2 bra M;\nadd.u64 %rd5, %rd4, 4;\nM:\n",
                    apart[] = "@%p2 bra M;\nadd.u64 %rd5, %rd4, 4;\nM:\nadd.u64 %rd6, %rd4, 4;\n";
  hd_gpu g = round_gpu();
  assert_between(loop_of_loads(&g, joined, "", step), 16 * 500, 16 * 700);
  g.ptxas.unrolls_no_join = true;
  assert_between(loop_of_loads(&g, joined, "", step), 64 * 500, 64 * 600);
  assert_between(loop_of_loads(&g, apart, "", step), 16 * 500, 16 * 700);
}

/* As bypass=l1:N writes them: each register has two loads, of which one runs. */
static void loads_under_opposite_guards_are_in_flight_together(void **state) {
  hd_buf b = {0};
  hd_buf_puts(&b, "setp.lt.u32 %p1, %r1, 1000;\nmov.f32 %f0, 0f00000000;\n");
  for (unsigned i = 1; i <= 4; i++)
    hd_buf_printf(&b,
                  "@%%p1 ld.global.f32 %%f%u, [%%rd2+%u];\n@!%%p1 ld.global.cg.f32 %%f%u, [%%rd2+%u];\n"
                  "add.f32 %%f0, %%f0, %%f%u;\n",
                  i, i * APART, i, i * APART, i);
  hd_buf_puts(&b, "st.global.f32 [%rd2], %f0;\n");
  hd_gpu g = round_gpu();
  const double apart = cycles_on(&g, b.data, 1, 32);
  assert_true(apart > 700); /* the load that does not run brings nothing: the other's data is waited for */
  g.ptxas.pairs_guarded = true;
  assert_between(cycles_on(&g, b.data, 1, 32), 700, 850);
  hd_buf_free(&b);
}

/* Loads that are added up at once, each behind a branch over both; `other`: a second way to where it leads.
 */
static double loads_behind_branches(const hd_gpu *g, const char *over, const char *other) {
  hd_buf b = {0};
  hd_buf_puts(&b, "setp.gt.u32 %p1, %r1, 1000;\nsetp.gt.u32 %p2, %r1, 2000;\nmov.f32 %f0, 0f00000000;\n");
  for (unsigned i = 1; i <= 4; i++) {
    hd_buf_printf(&b, "%s", other);
    if (*other) hd_buf_printf(&b, "J%u;\nadd.u32 %%r5, %%r5, 1;\n", i);
    hd_buf_printf(&b,
                  "@%%p1 bra J%u;\nld.global.f32 %%f%u, [%%rd2+%u];\nadd.f32 %%f0, %%f0, %%f%u;\n%sJ%u:\n", i,
                  i, i * APART, i, over, i);
  }
  hd_buf_puts(&b, "st.global.f32 [%rd2], %f0;\n");
  const double cycles = cycles_on(g, b.data, 1, 32);
  hd_buf_free(&b);
  return cycles;
}

static void a_branch_over_few_instructions_ends_no_block(void **state) {
  static const char five_more[] = "add.u32 %r5, %r5, 1;\nadd.u32 %r6, %r6, 1;\nadd.u32 %r7, %r7, 1;\n"
                                  "add.u32 %r8, %r8, 1;\nadd.u32 %r9, %r9, 1;\n";
  hd_gpu g = round_gpu();
  assert_between(loads_behind_branches(&g, "", ""), 4 * 500, 4 * 800);
  g.ptxas.predicated = 7;
  assert_between(loads_behind_branches(&g, "", ""), 500, 900);
  assert_between(loads_behind_branches(&g, five_more, ""), 500, 900);
  assert_between(loads_behind_branches(&g, "", "@%p2 bra "), 4 * 500, 4 * 800);
  assert_between(loads_behind_branches(&g, "fence.acq_rel.gpu;\n", ""), 4 * 500, 4 * 1800);
  g.ptxas.predicated = 6;
  assert_between(loads_behind_branches(&g, five_more, ""), 4 * 500, 4 * 800);
}

/* ---- Many warps ------------------------------------------------------------------------------- */

static const char thousand_additions[] =
    "mov.u32 %r5, 0;\nmov.f32 %f1, 0f3F800000;\nmov.f32 %f2, %f1;\nmov.f32 %f3, %f1;\nmov.f32 %f4, %f1;\nL:\n"
    "add.f32 %f1, %f1, %f1;\nadd.f32 %f2, %f2, %f2;\nadd.f32 %f3, %f3, %f3;\nadd.f32 %f4, %f4, %f4;\n"
    "add.f32 %f1, %f1, %f1;\nadd.f32 %f2, %f2, %f2;\nadd.f32 %f3, %f3, %f3;\nadd.f32 %f4, %f4, %f4;\n"
    "add.f32 %f1, %f1, %f1;\nadd.f32 %f2, %f2, %f2;\nadd.f32 %f3, %f3, %f3;\nadd.f32 %f4, %f4, %f4;\n"
    "add.f32 %f1, %f1, %f1;\nadd.f32 %f2, %f2, %f2;\nadd.f32 %f3, %f3, %f3;\nadd.f32 %f4, %f4, %f4;\n"
    "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 64;\n@%p1 bra L;\n"
    "add.f32 %f1, %f1, %f2;\nadd.f32 %f1, %f1, %f3;\nadd.f32 %f1, %f1, %f4;\nst.global.f32 [%rd2], %f1;\n";

static void enough_warps_fill_the_issue_slots(void **state) {
  double instructions = 64 * 18.25; /* of four turns' branches one is left */
  /* 16 warps: four for each scheduler. */
  assert_between(cycles_of(thousand_additions, 1, 512) / (4 * instructions), 1, 1.2);
}

static void fewer_lanes_in_a_pipeline_take_longer(void **state) {
  hd_gpu g = round_gpu();
  double fast = cycles_on(&g, thousand_additions, 1, 512);
  g.units.fma = 32;
  double slow = cycles_on(&g, thousand_additions, 1, 512);
  assert_between(slow / fast, 2.5, 4.2);
}

static void warps_hide_each_others_loads(void **state) {
  char *body = loads("ld.global", 4, true, true);
  double one = cycles_of(body, 1, 32), many = cycles_of(body, 1, 512);
  assert_between(many / one, 1, 1.5);
  free(body);
}

static void all_warps_of_a_cta_leave_a_barrier_together(void **state) {
  /* Warp 0 loads, and all wait for it. */
  const char *body = "mov.u32 %r5, 1;\nsetp.gt.u32 %p1, %r1, 31;\n@%p1 bra W;\n"
                     "ld.global.u32 %r5, [%rd2+262144];\nst.shared.u32 [s], %r5;\nW:\nbar.sync 0;\n"
                     "ld.shared.u32 %r6, [s];\nst.global.u32 [%rd2], %r6;\n";
  assert_between(cycles_of(body, 1, 256), 730, 900); /* DRAM's latency, and the store's way */
}

static void conflicts_of_banks_take_a_pass_each(void **state) {
  char body[2][1024];
  for (int k = 0; k < 2; k++)
    snprintf(
        body[k], sizeof body[k],
        "mov.u32 %%r7, s;\nand.b32 %%r6, %%r1, 31;\nmad.lo.u32 %%r7, %%r6, %d, %%r7;\nmov.u32 %%r5, 0;\nL:\n"
        "st.shared.u32 [%%r7], %%r5;\nadd.u32 %%r5, %%r5, 1;\nsetp.lt.u32 %%p1, %%r5, 1000;\n@%%p1 bra L;\n"
        "st.global.u32 [%%rd2], %%r5;\n",
        k ? 128 : 4);
  double without = cycles_of(body[0], 1, 512), with = cycles_of(body[1], 1, 512);
  assert_between(with, 16 * 1000 * 32, 16 * 1000 * 32 * 1.1);
  assert_between(with / without, 6, 40);
}

/* ---- Causes of waits ---------------------------------------------------------------------------- */

static double waits(const hd_counters *c) {
  return c->stall_memory + c->stall_dependency + c->stall_barrier + c->stall_throttle + c->stall_issue;
}

static void each_wait_is_told_from_the_others(void **state) {
  hd_gpu g = round_gpu();
  char *load = loads("ld.global", 1, true, false);
  hd_counters memory = counters_on(&g, load, 1, 32, false);
  hd_counters issue = counters_on(&g, thousand_additions, 1, 1024, false);
  hd_counters dependency = counters_on(&g, thousand_additions, 1, 32, false);
  g.units.fma = 8;
  hd_counters throttle = counters_on(&g, thousand_additions, 1, 1024, false);
  hd_counters barrier = counters_on(
      &g,
      "mov.u32 %r5, 1;\nsetp.gt.u32 %p1, %r1, 31;\n@%p1 bra W;\nld.global.u32 %r5, [%rd2+262144];\n"
      "st.shared.u32 [s], %r5;\nW:\nbar.sync 0;\n",
      1, 256, false);
  free(load);
  assert_true(memory.stall_memory > 0.8 * memory.warp_cycles && !memory.stall_barrier);
  assert_true(issue.stall_issue > 0.4 * issue.warp_cycles);
  assert_true(dependency.stall_issue == 0 && dependency.stall_dependency > 0);
  assert_true(throttle.stall_throttle > 0.7 * throttle.warp_cycles);
  assert_true(barrier.stall_barrier > 0.7 * barrier.warp_cycles);
  const hd_counters *all[] = {&memory, &issue, &dependency, &throttle, &barrier};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    assert_true(all[i]->warp_cycles > 0 && waits(all[i]) <= all[i]->warp_cycles);
}

/* ---- Launches --------------------------------------------------------------------------------- */

static void a_launch_costs_more_than_its_ctas_take(void **state) {
  hd_gpu g = round_gpu();
  char *load = loads("ld.global", 1, true, false);
  hd_counters free_of_charge = counters_on(&g, load, 4, 32, false);
  g.launch = (hd_launch_cost){.first_us = 3, .next_us = 1, .cta_cycles = 100};
  hd_counters first = counters_on(&g, load, 4, 32, false), next = counters_on(&g, load, 4, 32, true);
  assert_between(first.cycles - free_of_charge.cycles, 200, 400); /* the fourth CTA starts 300 cycles later */
  assert_between(first.time_us - first.cycles / g.clock_mhz, 2.999, 3.001);
  assert_between(next.time_us - next.cycles / g.clock_mhz, 0.999, 1.001);
  free(load);
}

static void time_grows_with_waves_of_ctas(void **state) {
  char *body = loads("ld.global", 4, true, true);
  double one = cycles_of(body, 8, 128), four = cycles_of(body, 32, 128);
  assert_between(four / one, 3.5, 4.5);
  free(body);
}

/* ---- Shared memory's banks ------------------------------------------------------------------- */

static void wavefronts_are_those_of_the_programming_guide(void **state) {
  static const struct {
    unsigned bytes, step, want;
  } cases[] = {{4, 4, 1},  {4, 8, 2},   {4, 12, 1}, {4, 128, 32}, {4, 0, 1},  {8, 8, 2},
               {8, 16, 4}, {16, 16, 4}, {2, 2, 1},  {1, 1, 1},    {16, 0, 4}, {4, 132, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t addr[32];
    for (unsigned l = 0; l < 32; l++) addr[l] = 4096 + l * cases[i].step;
    assert_int_equal(model_shared_wavefronts(addr, UINT32_MAX, cases[i].bytes), cases[i].want);
  }
  uint64_t addr[32] = {0};
  assert_int_equal(model_shared_wavefronts(addr, 1, 4), 1);
}

/* The guide's rule word by word: the most distinct words that a group of lanes names in one bank. */
static uint32_t passes_by_words(const uint64_t *addr, uint32_t mask, unsigned bytes) {
  const uint32_t words = (bytes + 3) / 4, lanes = 32 / words;
  uint32_t passes = 0;
  for (uint32_t group = 0; group < 32; group += lanes) {
    uint32_t most = 0;
    for (uint32_t bank = 0; bank < 32; bank++) {
      uint64_t seen[128];
      uint32_t n = 0;
      for (uint32_t i = 0; i < lanes * words; i++) {
        const uint32_t lane = group + i / words, known = n;
        const uint64_t word = addr[lane] / 4 + i % words;
        if (!(mask >> lane & 1) || word % 32 != bank) continue;
        seen[n] = word;
        uint32_t k = 0;
        while (seen[k] != word) k++;
        n = k == known ? n + 1 : n;
      }
      if (n > most) most = n;
    }
    passes += most;
  }
  return passes ? passes : 1;
}

static void wavefronts_are_the_most_words_of_a_bank_for_any_lanes(void **state) {
  rng random = {.seed = 20};
  for (int i = 0; i < 20000; i++) {
    const unsigned bytes = 1u << next(&random) % 5, pattern = next(&random) % 3;
    const uint32_t mask = next(&random) % 3 ? UINT32_MAX : (uint32_t)next(&random);
    const uint64_t from = next(&random) % 64, step = next(&random) % 40, range = 1 + next(&random) % 300;
    uint64_t addr[32];
    for (unsigned l = 0; l < 32; l++) {
      const uint64_t unit = pattern == 0   ? from + l * step
                            : pattern == 1 ? from + (l ^ step % 32)
                                           : next(&random) % range;
      addr[l] = unit * bytes;
    }
    assert_int_equal(model_shared_wavefronts(addr, mask, bytes), passes_by_words(addr, mask, bytes));
  }
}

/* ---- Invariants ------------------------------------------------------------------------------- */

static void the_same_way_is_kept_once(void **state) {
  subject s = trace_kernel(thousand_additions, 64, 128);
  const model_paths *p = model_trace_paths(s.trace, 0);
  assert_int_equal(p->paths.n, 1);
  assert_true(p->steps.n <= 4);
  drop(&s);
}

static void segments_have_an_event_for_each_of_the_streams(void **state) {
  const char *body = "setp.lt.u32 %p1, %r1, 48;\n@%p1 ld.global.u32 %r5, [%rd2+262144];\nbar.sync 0;\n"
                     "@%p1 bra A;\nst.global.u32 [%rd2], %r1;\nbra B;\nA:\nld.global.u32 %r6, [%rd2];\nB:\n"
                     "atom.global.add.u32 %r7, [%rd1], 1;\nst.global.u32 [%rd2], %r7;\n";
  subject s = trace_kernel(body, 5, 96);
  hd_gpu g = round_gpu();
  hd_diag d = {0};
  model_pace *p;
  must(model_pace_make(s.trace, &g, 0, &p, &d), &d);
  for (uint64_t task = 0; task < 5; task++)
    for (uint32_t warp = 0; warp < 3; warp++) {
      model_stream_reader r;
      model_stream_slot slots[STREAM_SLOTS];
      model_stream_event e;
      model_trace_open(s.trace, task, warp, &r, slots);
      model_pace_path path = p->workers[0].paths[model_trace_path_of(s.trace, task, warp)];
      for (size_t i = 0; i < path.n; i++) {
        const model_segment *g2 = &p->segments.data[p->workers[0].segments.data[path.first + i]];
        model_stream_next(&r, &e);
        assert_int_equal(g2->event == EVENT_END, e.slot == STREAM_END);
        assert_int_equal(g2->event == EVENT_BARRIER, e.slot == STREAM_BARRIER);
        if (e.slot == STREAM_END) break;
      }
      assert_int_equal(e.slot, STREAM_END);
    }
  model_pace_destroy(p);
  drop(&s);
}

static void a_trace_without_paths_has_no_clock(void **state) {
  const uint32_t one[3] = {1, 1, 1};
  hd_trace *t;
  model_pace *p;
  hd_diag d = {0};
  hd_gpu g = round_gpu();
  assert_int_equal(hd_trace_create(one, one, 1, 0, &t, &d), HD_OK);
  assert_int_equal(model_pace_make(t, &g, 0, &p, &d), HD_ERR_USAGE);
  hd_trace_destroy(t);
}

/* Lanes that add to one word wait for each other in L2; lanes with words of their own do not. */
static void additions_to_one_word_queue(void **state) {
  static const char own[] = "red.global.add.u32 [%rd2], %r1;\nred.global.add.u32 [%rd2+262144], %r1;";
  static const char one[] = "and.b64 %rd4, %rd2, -128;\nred.global.add.u32 [%rd4], %r1;\n"
                            "red.global.add.u32 [%rd4+262144], %r1;";
  hd_gpu g = round_gpu();
  g.l2_atomics_per_cycle = 1;
  g.l2_atomic_repeats_per_cycle = 0.5;
  /* 2 x 512 warps add to 4 sectors each, or to one with 31 repeats of 2 cycles. */
  const double apart = cycles_on(&g, own, 64, 256);
  assert_between(apart, 3900, 13000); /* no warp leaves before its additions are done */
  assert_between(cycles_on(&g, one, 64, 256), 1024 * 60, 1024 * 66);
  g.l2_atomic_repeats_per_cycle = 0;
  assert_true(cycles_on(&g, one, 64, 256) < 1.05 * apart);
}

/* ---- Registers, constants, queues ------------------------------------------------------------------ */

static void a_warp_keeps_its_place_until_its_stores_are_done(void **state) {
  hd_gpu g = round_gpu();
  const double with = cycles_on(&g, "st.global.u32 [%rd2], %r1;\n", 1, 32),
               without = cycles_on(&g, "\n", 1, 32);
  assert_between(with - without, 200, 220);
  /* So the next CTA waits for it, where there is room for one alone. */
  g.max_warps = 1;
  g.max_ctas = 1;
  assert_between(cycles_on(&g, "st.global.u32 [%rd2], %r1;\n", 8, 32), 8 * 200, 8 * 500);
}

static void registers_bound_the_loads_that_are_under_way(void **state) {
  char *body = loads("ld.global", 15, true, false);
  hd_gpu g = round_gpu();
  g.max_threads = 2048;
  g.registers = 64 * g.max_threads;
  const double all = cycles_on(&g, body, 1, 32);
  g.registers = 12 * g.max_threads; /* some of them hold addresses, the stack, the sum */
  const double few = cycles_on(&g, body, 1, 32);
  assert_between(all, 700, 900);
  assert_between(few, 1000 + 200, 1500); /* twice to DRAM */
  free(body);
}

static double cycles_within(hd_model *m, const hd_trace *t, uint32_t registers) {
  hd_diag d = {0};
  hd_counters c;
  hd_replay_options o = {.timed = true, .loads_within = registers};
  must(hd_model_replay(m, t, &o, &c, &d), &d);
  return c.cycles;
}

static void a_limit_on_registers_says_how_many_loads_are_under_way(void **state) {
  char *body = loads("ld.global", 15, true, false);
  subject s = trace_kernel(body, 1, 32);
  hd_gpu g = round_gpu();
  g.max_threads = 2048;
  g.registers = 12 * g.max_threads;
  for (int free_ones = 0; free_ones < 2; free_ones++) {
    hd_diag d = {0};
    hd_model *m;
    g.ptxas.registers = free_ones ? 12 : 0;
    must(hd_model_create(&g, &m, &d), &d);
    const double of_itself = cycles_within(m, s.trace, 0), more = cycles_within(m, s.trace, 64);
    assert_between(of_itself, 1200, 1500); /* twice to DRAM */
    if (free_ones)
      assert_between(more, 700, 900);
    else
      assert_true(more == of_itself); /* nobody has said what ptxas does */
    assert_true(cycles_within(m, s.trace, 0) == of_itself);
    hd_model_destroy(m);
  }
  drop(&s);
  free(body);
}

static void constants_by_index_take_a_word_after_the_other(void **state) {
  /* The index of lane i is i, or 0, times 4. */
  char body[2][512];
  for (int k = 0; k < 2; k++)
    snprintf(
        body[k], sizeof body[k],
        ".const .align 4 .b8 table[256];\nmov.u64 %%rd5, table;\nand.b32 %%r6, %%r1, %d;\n"
        "mul.wide.u32 %%rd6, %%r6, 4;\nadd.u64 %%rd5, %%rd5, %%rd6;\nmov.u32 %%r5, 0;\nL:\n"
        "ld.const.u32 %%r7, [%%rd5];\nadd.u32 %%r5, %%r5, 1;\nsetp.lt.u32 %%p1, %%r5, 100;\n@%%p1 bra L;\n"
        "st.global.u32 [%%rd2], %%r7;\n",
        k ? 31 : 0);
  hd_gpu g = round_gpu();
  g.units.constant = 2;
  g.units.constant_latency = 30;
  g.units.constant_word_latency = 10;
  assert_between(cycles_on(&g, body[1], 1, 1024), 32 * 100 * 32 * 2, 32 * 100 * 32 * 2 * 1.1);
  assert_between(cycles_on(&g, body[0], 1, 1024), 32 * 100 * 2, 32 * 100 * 3);
}

static void words_side_by_side_are_one_load(void **state) {
  static const char form[] =
      "mov.u32 %%r7, s;\nmov.u32 %%r5, 0;\nL:\nld.shared.u32 %%r10, [%%r7+%d];\n"
      "ld.shared.u32 %%r11, [%%r7+%d];\nld.shared.u32 %%r12, [%%r7+%d];\n"
      "ld.shared.u32 %%r13, [%%r7+%d];\nadd.u32 %%r5, %%r5, 1;\nsetp.lt.u32 %%p1, %%r5, 1000;\n"
      "@%%p1 bra L;\nst.global.u32 [%%rd2], %%r10;\n";
  static const int at[][4] = {{0, 4, 8, 12}, {8, 0, 12, 4}, {4, 8, 12, 16}, {0, 20, 40, 60}};
  static const double passes[] = {2, 2, 3, 4}; /* 16 bytes of one address, 8 of another: one and two passes */
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    char body[512];
    snprintf(body, sizeof body, form, at[i][0], at[i][1], at[i][2], at[i][3]);
    assert_between(cycles_of(body, 1, 1024), passes[i] * 32 * 1000, passes[i] * 32 * 1000 * 1.1);
  }
}

static void requests_meet_before_a_level_is_full(void **state) {
  char *body = loads("ld.global", 15, true, false);
  hd_gpu g = round_gpu();
  g.dram_bytes_per_cycle = 160; /* L1 asks for 128 */
  g.max_ctas = 2;
  const double alone = cycles_on(&g, body, 64, 256);
  g.dram_queue_cycles = 200;
  assert_true(cycles_on(&g, body, 64, 256) > 1.03 * alone);
  assert_between(cycles_on(&g, body, 1, 32) / cycles_of(body, 1, 32), 0.99, 1.05);
  free(body);
}

static void the_slowest_of_a_warps_lines_decides(void **state) {
  /* One line, or one for each lane. */
  static const char one[] = "ld.global.u32 %r5, [%rd1];\nst.global.u32 [%rd2], %r5;\n";
  static const char each[] =
      "mul.wide.u32 %rd4, %r1, 4096;\nadd.u64 %rd4, %rd1, %rd4;\nld.global.u32 %r5, [%rd4];\n"
      "st.global.u32 [%rd2], %r5;\n";
  hd_gpu g = round_gpu();
  const double few = cycles_on(&g, one, 1, 32), many = cycles_on(&g, each, 1, 32);
  assert_between(many - few, 0, 60);
  g.dram_latency_least = 400;
  g.dram_latency_most = 1000;
  assert_between(cycles_on(&g, one, 1, 32) - few, -110, 510);
  assert_between(cycles_on(&g, each, 1, 32) - many, 100, 510);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a warp keeps its place until its stores are done",
                a_warp_keeps_its_place_until_its_stores_are_done),
      BEHAVIOUR("registers bound the loads that are under way", registers_bound_the_loads_that_are_under_way),
      BEHAVIOUR("a limit on registers says how many loads are under way",
                a_limit_on_registers_says_how_many_loads_are_under_way),
      BEHAVIOUR("constants by index take a word after the other",
                constants_by_index_take_a_word_after_the_other),
      BEHAVIOUR("words side by side are one load", words_side_by_side_are_one_load),
      BEHAVIOUR("requests meet before a level is full", requests_meet_before_a_level_is_full),
      BEHAVIOUR("the slowest of a warp's lines decides", the_slowest_of_a_warps_lines_decides),
      BEHAVIOUR("additions to one word queue", additions_to_one_word_queue),
      BEHAVIOUR("one load takes a way to DRAM and back", one_load_takes_a_way_to_dram_and_back),
      BEHAVIOUR("independent loads of a block are in flight together",
                independent_loads_of_a_block_are_in_flight_together),
      BEHAVIOUR("a load that needs another one's result waits for it",
                a_load_that_needs_another_ones_result_waits_for_it),
      BEHAVIOUR("a store between loads keeps them apart, unless nothing writes what they read",
                a_store_between_loads_keeps_them_apart_unless_nothing_writes_what_they_read),
      BEHAVIOUR("a chain of additions takes the latency of each",
                a_chain_of_additions_takes_the_latency_of_each),
      BEHAVIOUR("a loop counts all its turns", a_loop_counts_all_its_turns),
      BEHAVIOUR("turns of a counted loop have their loads in flight together",
                turns_of_a_counted_loop_have_their_loads_in_flight_together),
      BEHAVIOUR("a loop at whose head branches meet may stay as it is",
                a_loop_at_whose_head_branches_meet_may_stay_as_it_is),
      BEHAVIOUR("loads under opposite guards are in flight together",
                loads_under_opposite_guards_are_in_flight_together),
      BEHAVIOUR("enough warps fill the issue slots", enough_warps_fill_the_issue_slots),
      BEHAVIOUR("fewer lanes in a pipeline take longer", fewer_lanes_in_a_pipeline_take_longer),
      BEHAVIOUR("warps hide each other's loads", warps_hide_each_others_loads),
      BEHAVIOUR("all warps of a CTA leave a barrier together", all_warps_of_a_cta_leave_a_barrier_together),
      BEHAVIOUR("conflicts of banks take a pass each", conflicts_of_banks_take_a_pass_each),
      BEHAVIOUR("each wait is told from the others", each_wait_is_told_from_the_others),
      BEHAVIOUR("a branch over few instructions ends no block", a_branch_over_few_instructions_ends_no_block),
      BEHAVIOUR("a launch costs more than its CTAs take", a_launch_costs_more_than_its_ctas_take),
      BEHAVIOUR("time grows with waves of CTAs", time_grows_with_waves_of_ctas),
      BEHAVIOUR("wavefronts are those of the programming guide",
                wavefronts_are_those_of_the_programming_guide),
      BEHAVIOUR("wavefronts are the most words of a bank for any lanes",
                wavefronts_are_the_most_words_of_a_bank_for_any_lanes),
      BEHAVIOUR("the same way is kept once", the_same_way_is_kept_once),
      BEHAVIOUR("segments have an event for each of the streams'",
                segments_have_an_event_for_each_of_the_streams),
      BEHAVIOUR("a trace without paths has no clock", a_trace_without_paths_has_no_clock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
