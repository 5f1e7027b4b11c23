/* MSHRs: the lines that an SM's loads may wait for at once. */
#include <stdio.h>

#include "check.h"
#include "model/replay.h"
#include "model/subject.h"

enum { LANES = 32, LATENCY = 500 }; /* of DRAM in round_gpu() */

static hd_counters clocked(const hd_gpu *g, const char *body, uint32_t ctas, uint32_t threads) {
  subject s = trace_kernel(body, ctas, threads);
  hd_counters c = replay_once(g, s.trace, &(hd_replay_options){.timed = true});
  drop(&s);
  return c;
}

static hd_gpu with_mshrs(uint32_t n) {
  hd_gpu g = round_gpu();
  g.l1_mshrs = n;
  return g;
}

/* Each thread reads a line of its own, `loads` times, by `op`. */
static char *scattered(const char *op, unsigned loads) {
  hd_buf b = {0};
  hd_buf_puts(&b, "mul.wide.u32 %rd4, %r4, 128;\nadd.u64 %rd5, %rd1, %rd4;\nmov.f32 %f0, 0f00000000;\n");
  for (unsigned i = 1; i <= loads; i++) hd_buf_printf(&b, "%s.f32 %%f%u, [%%rd5+%u];\n", op, i, i * APART);
  for (unsigned i = 1; i <= loads; i++) hd_buf_printf(&b, "add.f32 %%f0, %%f0, %%f%u;\n", i);
  hd_buf_puts(&b, "st.global.f32 [%rd2], %f0;\n");
  return b.data;
}

/* ---- How many lines a latency fetches ------------------------------------------------------- */

static const struct {
  const char *op;
  bool l1_global;
} ways_to_load[] = {
    {"ld.global", true},    /* through L1 */
    {"ld.global.cg", true}, /* past it, as bypassing makes them */
    {"ld.global.cv", true}, /* and as they are written for data that others change */
    {"ld.global", false},   /* on a GPU that caches no global loads */
};

static void lines_of_a_latency_are_as_many_as_mshrs_through_l1_and_past_it(void **state) {
  enum { WARPS = 8, LOADS = 4, LINES = WARPS * LANES * LOADS };
  for (uint32_t n = 1; n <= 512; n *= 4) {
    double first = 0;
    for (size_t i = 0; i < sizeof ways_to_load / sizeof *ways_to_load; i++) {
      hd_gpu g = with_mshrs(n);
      g.l1_global = ways_to_load[i].l1_global;
      char *body = scattered(ways_to_load[i].op, LOADS);
      const double cycles = clocked(&g, body, 1, WARPS * LANES).cycles;
      free(body);
      const double least = (double)LINES / n * LATENCY;
      if (cycles < least)
        fail_msg("%s: %u MSHRs fetch %d lines in %g cycles", ways_to_load[i].op, n, LINES, cycles);
      /* No more either, as long as the MSHRs are what is short. */
      if (n <= 64 && cycles > 1.2 * least + 2 * LATENCY)
        fail_msg("%s: %u MSHRs take %g cycles for %d lines", ways_to_load[i].op, n, cycles, LINES);
      if (!i) first = cycles;
      if (n <= 64 && fabs(cycles / first - 1) > 0.1)
        fail_msg("%s: %u MSHRs: %g cycles, %g through L1", ways_to_load[i].op, n, cycles, first);
    }
  }
}

/* ---- What waits for one --------------------------------------------------------------------- */

/* One line that all warps have; then warp 0 reads `misses` lines, and warp 1 the line that is there, one
 * read after the other, 40 times. */
static char *hits_beside_misses(unsigned misses, bool hits) {
  hd_buf b = {0};
  hd_buf_puts(&b, "ld.global.u32 %r5, [%rd1];\nand.b32 %r5, %r5, 0;\nbar.sync 0;\n"
                  "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra HITS;\n"
                  "mul.wide.u32 %rd4, %r4, 128;\nadd.u64 %rd5, %rd1, %rd4;\n");
  for (unsigned i = 1; i <= misses; i++)
    hd_buf_printf(&b, "ld.global.u32 %%r%u, [%%rd1+%u];\n", 10 + i, i * APART);
  hd_buf_puts(&b, "bra END;\nHITS:\n");
  for (unsigned i = 0; hits && i < 40; i++)
    hd_buf_puts(&b, "cvt.u64.u32 %rd6, %r5;\nadd.u64 %rd7, %rd1, %rd6;\n"
                    "ld.global.u32 %r5, [%rd7];\nand.b32 %r5, %r5, 0;\n");
  hd_buf_puts(&b, "END:\nst.global.u32 [%rd2], %r5;\n");
  return b.data;
}

static void hits_pass_a_miss_that_waits_for_an_mshr(void **state) {
  const hd_gpu g = with_mshrs(1);
  char *both = hits_beside_misses(6, true), *misses = hits_beside_misses(6, false),
       *hits = hits_beside_misses(0, true);
  const double of_both = clocked(&g, both, 1, 64).cycles, of_misses = clocked(&g, misses, 1, 64).cycles,
               of_hits = clocked(&g, hits, 1, 64).cycles;
  assert_true(of_misses > 6 * LATENCY);
  assert_true(of_hits > 40 * g.l1.latency);
  /* Side by side, not one after the other. */
  const double longer = of_misses > of_hits ? of_misses : of_hits;
  if (of_both > 1.2 * longer)
    fail_msg("%g cycles, the misses alone %g, the hits alone %g", of_both, of_misses, of_hits);
  free(both);
  free(misses);
  free(hits);
}

static void an_access_of_more_lines_than_mshrs_gets_all_of_them(void **state) {
  static const uint32_t numbers[] = {1, 2, 3, 5, 31, 32, 33};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    for (size_t k = 0; k < sizeof ways_to_load / sizeof *ways_to_load; k++) {
      hd_gpu g = with_mshrs(numbers[i]), many = with_mshrs(1024);
      g.l1_global = many.l1_global = ways_to_load[k].l1_global;
      char *body = scattered(ways_to_load[k].op, 2);
      const hd_counters few = clocked(&g, body, 3, 96), all = clocked(&many, body, 3, 96);
      assert_int_equal(few.l1_sectors, all.l1_sectors);
      assert_int_equal(few.l1_hits, all.l1_hits);
      assert_int_equal(few.l2_sectors, all.l2_sectors);
      assert_int_equal(few.dram_read_bytes, all.dram_read_bytes);
      assert_int_equal(few.thread_instructions, all.thread_instructions);
      assert_true(few.cycles >= all.cycles);
      free(body);
    }
}

/* ---- Any launch ----------------------------------------------------------------------------- */

static void replays_on_any_gpu_are_sane_with_few_mshrs(void **state) {
  rng r = {31, 0};
  for (int k = 0; k < 40; k++) {
    const mix m = {next(&r), 2000, 15, 30, k % 3 ? 5 : 0, false};
    hd_trace *t = synth_trace(1 + (uint32_t)below(&r, 20), 64, mixed_warp, (void *)(uintptr_t)&m);
    hd_gpu g = random_gpu(&r);
    g.l1_mshrs = 1 + (uint32_t)below(&r, 4);
    const hd_counters c = replay_once(&g, t, &(hd_replay_options){0});
    expect_sane(&g, &c, t);
    hd_trace_destroy(t);
  }
}

typedef struct side_by_side {
  const hd_trace *t;
  const hd_gpu *g;
  hd_counters c[6];
} side_by_side;

static void replay_beside_others(void *ctx, unsigned worker) {
  side_by_side *s = ctx;
  hd_model *m;
  const hd_replay_options o = {.timed = worker % 2};
  if (hd_model_create(s->g, &m, NULL) != HD_OK) return;
  if (hd_model_replay(m, s->t, &o, &s->c[worker], NULL) != HD_OK) s->c[worker].l2_sectors = 0;
  hd_model_destroy(m);
}

static void replays_side_by_side_count_the_same(void **state) {
  char *body = scattered("ld.global", 4);
  subject s = trace_kernel(body, 12, 128);
  const hd_gpu g = with_mshrs(3);
  side_by_side run = {.t = s.trace, .g = &g};
  assert_true(hd_parallel(6, replay_beside_others, &run));
  for (unsigned k = 0; k < 6; k++) {
    const hd_counters alone = replay_once(&g, s.trace, &(hd_replay_options){.timed = k % 2});
    assert_true(alone.l2_sectors > 0 && hd_counters_timed(&alone) == (k % 2 > 0));
    assert_memory_equal(&run.c[k], &alone, sizeof alone);
  }
  drop(&s);
  free(body);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the lines of a latency are as many as MSHRs, through L1 and past it",
                lines_of_a_latency_are_as_many_as_mshrs_through_l1_and_past_it),
      BEHAVIOUR("hits pass a miss that waits for an MSHR", hits_pass_a_miss_that_waits_for_an_mshr),
      BEHAVIOUR("an access of more lines than MSHRs gets all of them",
                an_access_of_more_lines_than_mshrs_gets_all_of_them),
      BEHAVIOUR("replays on any GPU are sane with few MSHRs", replays_on_any_gpu_are_sane_with_few_mshrs),
      BEHAVIOUR("replays side by side count the same", replays_side_by_side_count_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
