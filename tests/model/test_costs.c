/* Instructions that take longer than their pipelines say: releases, before which ptxas writes a fence of the
 * GPU, and looks at the clock. */
#include "check.h"
#include "heddle/model.h"
#include "model/subject.h"

enum { FENCE = 1000 };

static const char around[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 data) {\n"
    ".reg .u64 %%rd<8>;\n.reg .u32 %%r<8>;\n.reg .pred %%p<2>;\n.shared .align 8 .b64 bar;\n"
    "ld.param.u64 %%rd1, [data];\nmov.u32 %%r1, 1;\nmov.u32 %%r2, %%tid.x;\nsetp.ne.u32 %%p1, %%r2, 0;\n"
    "@%%p1 bra DONE;\nmov.u32 %%r3, bar;\nmbarrier.init.shared::cta.b64 [%%r3], "
    "100;\n%s\nDONE:\n%s\nret;\n}\n";

static double cycles_of_trace(const hd_gpu *g, const subject *k) {
  hd_model *m;
  hd_counters c;
  hd_diag d = {0};
  const hd_replay_options o = {.timed = true};
  must(hd_model_create(g, &m, &d), &d);
  must(hd_model_replay(m, k->trace, &o, &c, &d), &d);
  hd_model_destroy(m);
  return c.cycles;
}

/* One thread runs the first, all run the second. */
static double cycles_with(const char *alone, const char *together) {
  hd_gpu g = round_gpu();
  hd_buf text = {0};
  g.units.fence_latency = FENCE;
  hd_buf_printf(&text, around, alone, together);
  subject k = trace_module(text.data, 1, 32);
  const double cycles = cycles_of_trace(&g, &k);
  drop(&k);
  hd_buf_free(&text);
  return cycles;
}

static const struct {
  const char *instruction;
  bool fenced;
} cases[] = {
    {"fence.acq_rel.gpu;", true},
    {"fence.sc.sys;", true},
    {"fence.acq_rel.cluster;", true},
    {"fence.acq_rel.cta;", false},
    {"membar.gl;", true},
    {"membar.cta;", false},
    {"red.release.gpu.global.add.u32 [%rd1], %r1;", true},
    {"red.release.cluster.global.add.u32 [%rd1], %r1;", true},
    {"red.release.cta.global.add.u32 [%rd1], %r1;", false},
    {"red.relaxed.gpu.global.add.u32 [%rd1], %r1;", false},
    {"red.global.add.u32 [%rd1], %r1;", false},
    {"atom.acq_rel.gpu.global.add.u32 %r4, [%rd1], %r1;", true},
    {"atom.acquire.gpu.global.add.u32 %r4, [%rd1], %r1;", false},
    {"st.release.gpu.global.u32 [%rd1], %r1;", true},
    {"st.relaxed.gpu.global.u32 [%rd1], %r1;", false},
    {"ld.acquire.gpu.global.u32 %r4, [%rd1];", false},
    {"mbarrier.arrive.release.cluster.shared::cta.b64 %rd4, [%r3];", true},
    {"mbarrier.arrive.release.cta.shared::cta.b64 %rd4, [%r3];", false},
    {"mbarrier.arrive.shared::cta.b64 %rd4, [%r3];", false},
};

static void a_release_that_other_ctas_may_see_waits_for_a_fence(void **state) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double with = cycles_with(cases[i].instruction, ""), without = cycles_with("", "");
    if ((with > without + FENCE * 0.9) != cases[i].fenced)
      fail_msg("%s: %.0f cycles, without it %.0f", cases[i].instruction, with, without);
  }
}

static void an_arrival_at_a_barrier_of_the_cluster_waits_for_a_fence_unless_it_is_relaxed(void **state) {
  const double fenced = cycles_with("", "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;"),
               released = cycles_with("", "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;"),
               relaxed = cycles_with("", "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait.aligned;");
  assert_true(fenced > relaxed + FENCE * 0.9);
  assert_true(released > relaxed + FENCE * 0.9);
  assert_true(relaxed < cycles_with("", "") + FENCE / 2);
}

/* The emulator's clock says how often the loop turns, and the model how long that takes. */
static double cycles_by_clock(const char *body, uint32_t ctas) {
  const hd_gpu g = round_gpu();
  subject k = trace_kernel(body, ctas, 32);
  const double cycles = cycles_of_trace(&g, &k);
  drop(&k);
  return cycles;
}

static void a_loop_that_waits_by_the_clock_takes_about_as_long_as_it_waits(void **state) {
  static const char wait[] = "mov.u32 %%r5, %%clock;\nL:\nmov.u32 %%r6, %%clock;\nsub.u32 %%r7, %%r6, %%r5;\n"
                             "setp.lt.u32 %%p1, %%r7, %u;\n@%%p1 bra L;\n";
  for (unsigned cycles = 10000; cycles <= 40000; cycles *= 2) {
    hd_buf b = {0};
    hd_buf_printf(&b, wait, cycles);
    for (uint32_t ctas = 1; ctas <= 4; ctas *= 4) {
      const double took = cycles_by_clock(b.data, ctas) / cycles;
      if (took < 0.7 || took > 1.4)
        fail_msg("%u CTAs that wait for %u cycles take %g times as long", ctas, cycles, took);
    }
    hd_buf_free(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a release that other CTAs may see waits for a fence",
                a_release_that_other_ctas_may_see_waits_for_a_fence),
      BEHAVIOUR("an arrival at a barrier of the cluster waits for a fence unless it is relaxed",
                an_arrival_at_a_barrier_of_the_cluster_waits_for_a_fence_unless_it_is_relaxed),
      BEHAVIOUR("a loop that waits by the clock takes about as long as it waits",
                a_loop_that_waits_by_the_clock_takes_about_as_long_as_it_waits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
