/* Replays with a clock: the ways of loads and stores past L1, on GPUs whose files say how they are. */
#include <math.h>

#include "check.h"

#include <stdlib.h>

#include "heddle/model.h"
#include "model/subject.h"

/* ---- Eviction priorities ---------------------------------------------------------------------- */

/* Each thread loads 15 words. */
static char *loads(const char *op) {
  hd_buf b = {0};
  hd_buf_puts(&b, "mov.f32 %f0, 0f00000000;\n");
  for (unsigned i = 1; i <= 15; i++)
    hd_buf_printf(&b, "%s.f32 %%f%u, [%%rd2+%u];\nadd.f32 %%f0, %%f0, %%f%u;\n", op, i, i * APART, i);
  hd_buf_puts(&b, "st.global.f32 [%rd2], %f0;\n");
  return b.data;
}

/* The part of its bytes that the second of two launches has to read from DRAM again. */
static double read_again(const hd_gpu *g, const char *op) {
  char *body = loads(op);
  subject s = trace_kernel(body, 8, 1024);
  hd_diag d = {0};
  hd_model *m;
  hd_counters first, second;
  must(hd_model_create(g, &m, &d), &d);
  hd_replay_options o = {.timed = true};
  must(hd_model_replay(m, s.trace, &o, &first, &d), &d);
  o.keep_caches = true;
  must(hd_model_replay(m, s.trace, &o, &second, &d), &d);
  hd_model_destroy(m);
  drop(&s);
  free(body);
  assert_int_equal(first.dram_read_bytes, 8 * 1024 * 15 * 4);
  return (double)second.dram_read_bytes / (double)first.dram_read_bytes;
}

static void a_load_that_l1_is_not_to_keep_goes_first_in_l2_too(void **state) {
  static const struct {
    const char *op;
    bool goes_first;
  } cases[] = {{"ld.global", false},
               {"ld.global.cg", false},
               {"ld.global.L1::evict_last", false},
               {"ld.global.L1::no_allocate", true},
               {"ld.global.L1::evict_first", true}};
  hd_gpu g = round_gpu();
  g.max_threads = 2048;
  g.l2_dirty_bytes = 1 << 19; /* others' lines are in L2 */
  for (int carries = 0; carries < 2; carries++) {
    g.l2_first_with_l1 = carries;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      const double again = read_again(&g, cases[i].op);
      if (carries && cases[i].goes_first ? again < 0.5 : again > 0)
        fail_msg("%s: %.2f is read again", cases[i].op, again);
    }
  }
}

/* ---- Prefetches and stores ---------------------------------------------------------------------- */

static hd_counters counters_on(const hd_gpu *g, const char *body, uint32_t threads) {
  subject s = trace_kernel(body, 1, threads);
  hd_diag d = {0};
  hd_model *m;
  hd_counters c;
  must(hd_model_create(g, &m, &d), &d);
  hd_replay_options o = {.timed = true};
  must(hd_model_replay(m, s.trace, &o, &c, &d), &d);
  hd_model_destroy(m);
  drop(&s);
  return c;
}

static void assert_between(double x, double low, double high) {
  if (!(x >= low && x <= high)) fail_msg("%g is not between %g and %g", x, low, high);
}

/* Eight prefetches of a line each, then a chain of additions, then loads of the same lines. */
static char *fetches(const char *op) {
  hd_buf b = {0};
  hd_buf_puts(&b, "mov.f32 %f0, 0f00000000;\n");
  for (int i = 0; i < 8; i++) hd_buf_printf(&b, "%s [%%rd2+%u];\n", op, i * APART);
  for (int i = 0; i < 400; i++) hd_buf_puts(&b, "add.f32 %f0, %f0, 0f3F800000;\n");
  hd_buf_puts(&b, "cvt.rzi.u32.f32 %r5, %f0;\nand.b32 %r5, %r5, 0;\ncvt.u64.u32 %rd4, %r5;\n"
                  "add.u64 %rd4, %rd2, %rd4;\n");
  for (int i = 0; i < 8; i++)
    hd_buf_printf(&b, "ld.global.f32 %%f1, [%%rd4+%u];\nadd.f32 %%f0, %%f0, %%f1;\n", i * APART);
  hd_buf_puts(&b, "st.global.f32 [%rd2], %f0;\n");
  return b.data;
}

static void a_prefetch_keeps_its_warp_and_the_pipeline(void **state) {
  char *body = fetches("prefetch.global.L2");
  hd_gpu g = round_gpu();
  g.max_threads = 1024;
  const double one = counters_on(&g, body, 32).cycles, many = counters_on(&g, body, 1024).cycles;
  g.units.fetch_latency = 100;
  assert_between(counters_on(&g, body, 32).cycles - one, 8 * 100 - 10, 8 * 100 + 10);
  g.units.fetch_latency = 0;
  g.units.fetch = 20;
  assert_between(counters_on(&g, body, 32).cycles - one, -10, 8 * 20);
  /* Beside the additions, which take 32 warps 3,200 cycles. */
  assert_true(many < 32 * 8 * 20);
  assert_between(counters_on(&g, body, 1024).cycles, 32 * 8 * 20, 32 * 8 * 20 + many);
  free(body);
}

static void a_prefetch_into_l1_may_bring_its_line_to_l2_alone(void **state) {
  char *into[2] = {fetches("prefetch.global.L1"), fetches("prefetch.global.L2")};
  hd_gpu g = round_gpu();
  uint64_t hits[2][2];
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < 2; i++) {
      g.l1_fetches_pass = pass;
      const hd_counters c = counters_on(&g, into[i], 32);
      hits[pass][i] = c.l1_hits;
      assert_int_equal(c.dram_read_bytes, 8 * 128);
    }
  assert_true(hits[0][0] > 0);
  assert_int_equal(hits[0][1], 0);
  assert_int_equal(hits[1][0], 0);
  assert_int_equal(hits[1][1], 0);
  free(into[0]);
  free(into[1]);
}

/* Rounds of four loads and four stores, each of 32 lines. */
static char *rounds(const char *load, bool stores) {
  hd_buf b = {0};
  hd_buf_puts(&b, "mul.wide.u32 %rd4, %r1, 128;\nadd.u64 %rd4, %rd1, %rd4;\nmov.u32 %r5, 0;\nL:\n");
  for (int i = 0; i < 4; i++) hd_buf_printf(&b, "%s.u32 %%r%d, [%%rd4+%d];\n", load, 10 + i, 4 * i);
  for (int i = 0; stores && i < 4; i++)
    hd_buf_printf(&b, "st.global.u32 [%%rd4+%d], %%r5;\n", (1 << 20) + 4 * i);
  hd_buf_puts(&b,
              "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 16;\n@%p1 bra L;\nst.global.u32 [%rd2], %r10;\n");
  return b.data;
}

static void loads_and_stores_share_an_sms_way_to_l2(void **state) {
  static const char hit[] = "ld.global", past[] = "ld.global.cg";
  enum { LINES = 8 * 16 * 4 * 32 }; /* of the loads; as many of the stores */
  char *loads[2] = {rounds(hit, false), rounds(past, false)},
       *both[2] = {rounds(hit, true), rounds(past, true)};
  hd_gpu g = round_gpu();
  g.l1_lines_per_cycle = 1;
  g.l1_unified = true; /* loads that hit want words of one bank */
  g.l2_sm_store_bytes_per_cycle = 32;
  g.l2_sm_stores_per_cycle = 0.5;
  for (int i = 0; i < 2; i++) assert_between(counters_on(&g, loads[i], 256).cycles, LINES, 1.15 * LINES);
  /* The ways are two: that of the stores takes them twice as long as the loads. */
  for (int i = 0; i < 2; i++) assert_between(counters_on(&g, both[i], 256).cycles, 2 * LINES, 2.3 * LINES);
  g.l1_stores_per_cycle = 0.5;
  const double hits = counters_on(&g, both[0], 256).cycles;
  assert_between(hits, 3 * LINES, 3.3 * LINES);
  g.l2_sm_loads_per_cycle = 0.5;
  assert_between(counters_on(&g, both[0], 256).cycles, 0.98 * hits, 1.02 * hits);
  assert_between(counters_on(&g, both[1], 256).cycles, 3.6 * LINES, 4.3 * LINES);
  assert_between(counters_on(&g, loads[1], 256).cycles, LINES, 1.15 * LINES); /* no stores are in the way */
  for (int i = 0; i < 2; i++) {
    free(loads[i]);
    free(both[i]);
  }
}

/* ---- L1's lines and banks, and the way from L2 ----------------------------------------------------- */

/* Each warp's lanes read words so many bytes apart, again and again. */
#define APART_BY(bytes, load)                                                                                \
  "mov.u32 %r5, 0;\nmul.wide.u32 %rd4, %r1, " bytes ";\nadd.u64 %rd4, %rd2, %rd4;\nL:\n" load                \
  ".u32 %r6, [%rd4];\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 200;\n@%p1 bra L;\n"                       \
  "st.global.u32 [%rd2], %r6;\n"
static const char scattered[] = APART_BY("128", "ld.global.nc"), past_l1[] = APART_BY("128", "ld.global.cg");

static void lines_that_l1_lacks_take_it_one_after_the_other(void **state) {
  hd_gpu g = round_gpu();
  g.l1_mshrs = 1024; /* enough of them: loads past L1 take them, too */
  const double hits = counters_on(&g, scattered, 128).cycles, past = counters_on(&g, past_l1, 128).cycles;
  g.l1_lines_per_cycle = 1;
  assert_between(hits, 4 * 200 * 8, 4 * 200 * 8 * 1.3); /* 32 sectors, 128 bytes a cycle */
  assert_between(past, 4 * 200 * 8, 4 * 200 * 8 * 1.3);
  assert_between(counters_on(&g, scattered, 128).cycles, 4 * 200 * 8, 4 * 200 * 8 * 1.3);
  assert_between(counters_on(&g, past_l1, 128).cycles, 4 * 200 * 32, 4 * 200 * 32 * 1.2);
}

/* %rd2 is 4 bytes further for each lane. */
static void lanes_wait_for_a_bank_of_l1_and_for_tags(void **state) {
  static const struct {
    const char *body;
    uint32_t cycles; /* of a load */
  } loads[] = {
      {APART_BY("0", "ld.global"), 1},    /* side by side */
      {APART_BY("4", "ld.global"), 2},    /* every other word of two lines */
      {APART_BY("28", "ld.global"), 8},   /* 32 apart: eight lines, eight lanes in each of four banks */
      {APART_BY("32", "ld.global"), 3},   /* 36 apart: nine lines, four tags at a time */
      {APART_BY("124", "ld.global"), 32}, /* all in one bank */
      {APART_BY("128", "ld.global"), 8},  /* each in another one */
      {APART_BY("252", "ld.global"), 32}, {APART_BY("256", "ld.global"), 8},
  };
  hd_gpu g = round_gpu();
  g.l1_lines_per_cycle = 1;
  g.l1_unified = true;
  for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
    const double cycles = counters_on(&g, loads[i].body, 256).cycles / (8 * 200);
    if (fabs(cycles / loads[i].cycles - 1) > 0.3)
      fail_msg("row %zu: %.2f cycles a load, not %u", i, cycles, loads[i].cycles);
  }
}

static void an_sm_gets_no_more_from_l2_than_its_port_brings(void **state) {
  hd_gpu g = round_gpu();
  double wide = counters_on(&g, past_l1, 128).cycles;
  g.l2_sm_bytes_per_cycle = 32;
  double narrow = counters_on(&g, past_l1, 128).cycles;
  assert_true(wide < narrow);
  assert_between(narrow, 4 * 200 * 32, 4 * 200 * 32 * 1.2); /* 32 sectors, one a cycle */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a load that L1 is not to keep goes first in L2, too",
                a_load_that_l1_is_not_to_keep_goes_first_in_l2_too),
      BEHAVIOUR("a prefetch keeps its warp and the pipeline", a_prefetch_keeps_its_warp_and_the_pipeline),
      BEHAVIOUR("a prefetch into L1 may bring its line to L2 alone",
                a_prefetch_into_l1_may_bring_its_line_to_l2_alone),
      BEHAVIOUR("loads and stores share an SM's way to L2", loads_and_stores_share_an_sms_way_to_l2),
      BEHAVIOUR("lines that L1 lacks take it one after the other",
                lines_that_l1_lacks_take_it_one_after_the_other),
      BEHAVIOUR("lanes wait for a bank of L1 and for tags", lanes_wait_for_a_bank_of_l1_and_for_tags),
      BEHAVIOUR("an SM gets no more from L2 than its port brings",
                an_sm_gets_no_more_from_l2_than_its_port_brings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
