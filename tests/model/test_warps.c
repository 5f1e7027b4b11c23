/* Policies of warp schedulers: who issues, who may load. */
#include "check.h"
#include "model/replay.h"
#include "model/warps.h"

/* ---- One scheduler whose warps are as the test says --------------------------------------- */

enum { PER_CTA = 4, CTAS = 4, WARPS = PER_CTA * CTAS };

typedef struct bench {
  hd_gpu gpu;
  model_warps p;
  model_ccws ccws;
  uint8_t owner[64];
  bool ready[WARPS];
} bench;

/* CTA 2 came first, then 0, 3, 1. */
static void open_bench(bench *b, hd_warp_scheduler kind, uint32_t warps) {
  static const uint32_t by_age[CTAS] = {2, 0, 3, 1};
  *b = (bench){.gpu = synth_gpu()};
  b->gpu.schedulers = 1;
  b->gpu.scheduler = kind;
  b->gpu.scheduler_warps = warps;
  model_ccws_reset(&b->ccws, b->owner, sizeof b->owner);
  model_warps_reset(&b->p, &b->gpu, WARPS, PER_CTA, &b->ccws);
  model_warps_order(&b->p, by_age, CTAS);
  for (uint32_t w = 0; w < WARPS; w++) {
    model_warps_start(&b->p, w);
    b->ready[w] = true;
  }
}

/* The warp that goes next issues one instruction. */
static uint32_t issue(bench *b) {
  uint32_t best = WARPS;
  for (uint32_t w = 0; w < WARPS; w++)
    if (b->ready[w] && (best == WARPS || model_warps_turn(&b->p, w) < model_warps_turn(&b->p, best)))
      best = w;
  assert_true(best < WARPS);
  model_warps_issued(&b->p, best % b->p.schedulers, best, 1);
  return best;
}

static void expect_order(bench *b, const uint32_t *order, size_t n) {
  for (size_t i = 0; i < n; i++) assert_int_equal(issue(b), order[i]);
}
#define EXPECT(b, ...) expect_order(b, (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4)

static void lrr_takes_the_next_one_that_is_ready(void **state) {
  bench b;
  open_bench(&b, HD_SCHED_LRR, 0);
  EXPECT(&b, 1, 2, 3, 4);
  b.ready[5] = b.ready[6] = b.ready[15] = false;
  EXPECT(&b, 7, 8, 9, 10, 11, 12, 13, 14, 0, 1);
}

static void lrr_is_fair(void **state) {
  bench b;
  uint32_t issued[WARPS] = {0};
  open_bench(&b, HD_SCHED_LRR, 0);
  for (uint32_t i = 0; i < 10 * WARPS; i++) issued[issue(&b)]++;
  for (uint32_t w = 0; w < WARPS; w++) assert_int_equal(issued[w], 10);
}

static void gto_stays_with_a_warp_until_it_waits_and_then_takes_the_oldest(void **state) {
  bench b;
  open_bench(&b, HD_SCHED_GTO, 0);
  b.ready[0] = false;
  EXPECT(&b, 8, 8, 8);
  b.ready[8] = false;
  EXPECT(&b, 9);
  b.ready[8] = b.ready[0] = true; /* 9 is not left for an older one */
  EXPECT(&b, 9, 9);
  b.ready[8] = b.ready[9] = b.ready[10] = b.ready[11] = false;
  EXPECT(&b, 0);
  b.ready[0] = b.ready[1] = b.ready[2] = b.ready[3] = false;
  EXPECT(&b, 12);
}

/* As CTAs of an H100 end: by age, the warps of one together (bench/microbenchmarks/policy.cu). */
static void oldest_goes_round_the_oldest_cta_that_is_ready(void **state) {
  bench b;
  open_bench(&b, HD_SCHED_OLDEST, 0);
  EXPECT(&b, 8, 9, 10, 11, 8);
  b.ready[9] = false;
  EXPECT(&b, 10, 11, 8, 10);
  b.ready[8] = b.ready[10] = b.ready[11] = false;
  EXPECT(&b, 0, 1);
  b.ready[10] = true;
  EXPECT(&b, 10, 10);
  b.ready[10] = false; /* the next CTA goes on where it was */
  EXPECT(&b, 2, 3, 0);
  for (uint32_t w = 0; w < 4; w++) b.ready[w] = false;
  EXPECT(&b, 12, 13);
}

static void under_oldest_a_cta_that_comes_later_goes_last(void **state) {
  static const uint32_t by_age[CTAS] = {0, 3, 1, 2};
  bench b;
  open_bench(&b, HD_SCHED_OLDEST, 0);
  EXPECT(&b, 8, 9);
  model_warps_order(&b.p, by_age, CTAS); /* CTA 2 ended, and another one has its place */
  for (uint32_t w = 8; w < 12; w++) model_warps_start(&b.p, w);
  EXPECT(&b, 0, 1, 2);
  for (uint32_t w = 0; w < WARPS; w++) b.ready[w] = w >= 8 && w < 12;
  EXPECT(&b, 8, 9, 10);
}

static void under_oldest_warps_of_a_cta_share_and_ctas_do_not(void **state) {
  bench b;
  uint32_t issued[WARPS] = {0};
  open_bench(&b, HD_SCHED_OLDEST, 0);
  for (uint32_t i = 0; i < 10 * PER_CTA; i++) issued[issue(&b)]++;
  for (uint32_t w = 0; w < WARPS; w++) assert_int_equal(issued[w], w / PER_CTA == 2 ? 10 : 0);
}

static void two_level_goes_round_its_group_until_all_of_it_waits(void **state) {
  bench b;
  open_bench(&b, HD_SCHED_TWO_LEVEL, 4);
  EXPECT(&b, 1, 2, 3, 0, 1);
  b.ready[2] = false;
  EXPECT(&b, 3, 0, 1, 3);
  b.ready[0] = b.ready[1] = b.ready[3] = false;
  EXPECT(&b, 4, 5);
  b.ready[0] = true; /* the group is left only when it has nothing to do */
  EXPECT(&b, 6, 7, 4);
  for (uint32_t w = 4; w < 12; w++) b.ready[w] = false;
  EXPECT(&b, 12, 13);
}

static void two_level_without_a_number_has_groups_of_eight(void **state) {
  bench b;
  open_bench(&b, HD_SCHED_TWO_LEVEL, 0);
  EXPECT(&b, 1, 2, 3, 4, 5, 6, 7, 0, 1);
}

static void turns_differ_between_warps_of_a_scheduler(void **state) {
  rng r = {7, 0};
  for (unsigned k = 0; k < 200; k++) {
    bench b;
    open_bench(&b, (hd_warp_scheduler)below(&r, HD_SCHED_COUNT), 1 + (uint32_t)below(&r, WARPS));
    for (unsigned i = 0; i < 5; i++) {
      for (uint32_t w = 0; w < WARPS; w++) b.ready[w] = below(&r, 3) > 0;
      b.ready[below(&r, WARPS)] = true;
      issue(&b);
      for (uint32_t w = 0; w < WARPS; w++)
        for (uint32_t v = 0; v < w; v++)
          assert_int_not_equal(model_warps_turn(&b.p, v), model_warps_turn(&b.p, w));
    }
  }
}

static void the_oldest_of_a_set_is_the_one_with_the_lowest_turn(void **state) {
  static const hd_warp_scheduler kinds[] = {HD_SCHED_GTO, HD_SCHED_CCWS, HD_SCHED_PRIORITY, HD_SCHED_OLDEST};
  rng r = {11, 0};
  for (unsigned k = 0; k < 500; k++) {
    bench b;
    open_bench(&b, kinds[below(&r, 4)], 0);
    b.gpu.schedulers = 1 + (uint32_t)below(&r, 4);
    uint32_t by_age[CTAS] = {0, 1, 2, 3};
    for (uint32_t i = CTAS - 1; i; i--) {
      const uint32_t j = (uint32_t)below(&r, i + 1), kept = by_age[i];
      by_age[i] = by_age[j];
      by_age[j] = kept;
    }
    model_warps_reset(&b.p, &b.gpu, WARPS, PER_CTA, &b.ccws);
    model_warps_order(&b.p, by_age, CTAS);
    for (unsigned i = 0; i < 20; i++) {
      const uint32_t scheduler = (uint32_t)below(&r, b.p.schedulers);
      uint64_t places = 0;
      uint32_t best = WARPS;
      for (uint32_t w = scheduler; w < WARPS; w += b.p.schedulers) {
        if (below(&r, 3)) continue;
        places |= UINT64_C(1) << w / b.p.schedulers;
        if (best == WARPS || model_warps_turn(&b.p, w) < model_warps_turn(&b.p, best)) best = w;
      }
      if (!places) continue;
      assert_int_equal(model_warps_oldest(&b.p, scheduler, places), best);
      if (below(&r, 2)) model_warps_issued(&b.p, scheduler, best, 1);
    }
  }
}

/* ---- Who may load --------------------------------------------------------------------------- */

static uint32_t may_load(bench *b, uint64_t cycle) {
  uint32_t set = 0;
  for (uint32_t w = 0; w < WARPS; w++) set |= (uint32_t)model_warps_may_load(&b->p, w, cycle) << w;
  return set;
}

static void priority_lets_the_oldest_load_across_ctas(void **state) {
  bench b;
  open_bench(&b, HD_SCHED_PRIORITY, 6);
  assert_int_equal(may_load(&b, 0), 0xf << 8 | 0x3); /* CTA 2, then two of CTA 0 */
  model_warps_end(&b.p, 9);
  assert_int_equal(may_load(&b, 0) & ~(1u << 9), 0xd << 8 | 0x7);
}

static void priority_gives_the_place_of_a_warp_at_a_barrier_to_the_next(void **state) {
  bench b;
  open_bench(&b, HD_SCHED_PRIORITY, 2);
  assert_int_equal(may_load(&b, 0), 0x3 << 8);
  model_warps_wait(&b.p, 8);
  model_warps_wait(&b.p, 9);
  assert_int_equal(may_load(&b, 0) & ~(0x3u << 8), 0xc << 8);
  model_warps_go_on(&b.p, 8);
  model_warps_go_on(&b.p, 9);
  assert_int_equal(may_load(&b, 0), 0x3 << 8);
}

static void other_schedulers_let_all_warps_load(void **state) {
  static const hd_warp_scheduler all[] = {HD_SCHED_LRR, HD_SCHED_GTO, HD_SCHED_TWO_LEVEL, HD_SCHED_PRIORITY};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    bench b;
    open_bench(&b, all[i], 0);
    assert_int_equal(may_load(&b, 0), 0xffff);
  }
}

/* ---- CCWS ----------------------------------------------------------------------------------- */

/* Warp 3 fetches line 100 into place 0, others take it; warp 3 misses the line again at cycle 1000. */
static void lose_locality(bench *b, uint32_t others) {
  model_ccws_miss(&b->ccws, 3, 100, 0, UINT32_MAX, 0);
  for (uint32_t i = 0; i < others; i++) model_ccws_miss(&b->ccws, 5, 200 + i, 0, i ? 199 + i : 100, 0);
  model_ccws_miss(&b->ccws, 3, 100, 0, 200 + others - 1, 1000);
}

static void a_miss_of_a_line_that_another_warp_drove_out_is_lost_locality(void **state) {
  bench b;
  open_bench(&b, HD_SCHED_CCWS, 0);
  lose_locality(&b, 1);
  assert_int_equal(b.ccws.lost, 1);
  model_ccws_miss(&b.ccws, 3, 101, 1, UINT32_MAX, 1000); /* never there before */
  model_ccws_miss(&b.ccws, 6, 200, 2, UINT32_MAX, 1000); /* another warp's */
  assert_int_equal(b.ccws.lost, 1);
}

static void victim_tags_forget_the_least_recent(void **state) {
  for (uint32_t n = 2; n <= 2 * CCWS_TAGS; n++) {
    bench b;
    open_bench(&b, HD_SCHED_CCWS, 0);
    /* Warp 3 fetches n lines of one set of tags, one after the other into the same place, then the first
     * again. */
    for (uint32_t i = 0; i <= n; i++)
      model_ccws_miss(&b.ccws, 3, i % n * 2, 0, i ? (i - 1) * 2 : UINT32_MAX, 0);
    assert_int_equal(b.ccws.lost, n <= CCWS_TAG_WAYS + 1);
  }
}

static void a_score_rises_with_lost_locality_and_falls_by_one_a_cycle(void **state) {
  bench b;
  open_bench(&b, HD_SCHED_CCWS, 0);
  b.ccws.issued = 32;
  lose_locality(&b, 1);
  const double cutoff = CCWS_BASE * WARPS, score = CCWS_THROTTLE * 1.0 / 32 * cutoff;
  assert_true(model_ccws_score(&b.ccws, 3, 1000) == score);
  assert_true(model_ccws_score(&b.ccws, 3, 1100) == score - 100);
  assert_true(model_ccws_score(&b.ccws, 3, 100000) == CCWS_BASE);
  assert_true(model_ccws_score(&b.ccws, 5, 1000) == CCWS_BASE);
  /* 400 of 1600 are taken: 12 others fit, 3 above them do not. */
  assert_int_equal(may_load(&b, 1000), 0x1fff);
  assert_int_equal(may_load(&b, 1100), 0x3fff);
  assert_int_equal(may_load(&b, 1300), 0xffff);
}

static void the_warp_with_the_highest_score_may_always_load(void **state) {
  rng r = {11, 0};
  for (unsigned k = 0; k < 100; k++) {
    bench b;
    open_bench(&b, HD_SCHED_CCWS, 0);
    uint32_t last = UINT32_MAX, lines[64];
    memset(lines, 0xff, sizeof lines);
    for (uint64_t cycle = 0; cycle < 3000; cycle += 1 + below(&r, 20)) {
      uint32_t w = (uint32_t)below(&r, WARPS), at = (uint32_t)below(&r, 8);
      last = (uint32_t)below(&r, 40);
      model_ccws_miss(&b.ccws, w, last, at, lines[at], cycle);
      lines[at] = last;
      model_warps_issued(&b.p, w % b.p.schedulers, w, (uint32_t)below(&r, 8));
      uint32_t best = 0;
      for (uint32_t v = 1; v < WARPS; v++)
        if (model_ccws_score(&b.ccws, v, cycle) > model_ccws_score(&b.ccws, best, cycle)) best = v;
      assert_true(model_warps_may_load(&b.p, best, cycle));
    }
    assert_int_equal(may_load(&b, UINT64_MAX), 0xffff);
  }
}

/* ---- GPUs -------------------------------------------------------------------------------------- */

static void a_scheduler_that_a_gpu_cannot_have_is_refused(void **state) {
  static const struct {
    const char *text;
    bool uncached;
    hd_status status;
    const char *why;
  } cases[] = {
      {"gto", false, HD_OK, ""},
      {"two-level", true, HD_OK, ""},
      {"two-level:32", false, HD_OK, ""},
      {"priority:6", false, HD_OK, ""},
      {"ccws", false, HD_OK, ""},
      {"two-level:33", false, HD_ERR_USAGE, "an SM of small has 32 warps"},
      {"gto:3", false, HD_ERR_USAGE, "takes no number"},
      {"ccws:3", false, HD_ERR_USAGE, "takes no number"},
      {"priority:0", false, HD_ERR_USAGE, "a number of warps"},
      {"priority:", false, HD_ERR_USAGE, "a number of warps"},
      {"fifo", false, HD_ERR_USAGE, "no warp scheduler 'fifo'"},
      {"", false, HD_ERR_USAGE, "no warp scheduler ''"},
      {"ccws", true, HD_ERR_UNSUPPORTED, "does not use for global loads"},
      {"priority", true, HD_ERR_UNSUPPORTED, "does not use for global loads"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_gpu g = synth_gpu();
    hd_diag d = {0};
    g.l1_global = !cases[i].uncached;
    assert_int_equal(hd_gpu_parse_scheduler(&g, cases[i].text, &d), cases[i].status);
    assert_non_null(strstr(d.message, cases[i].why));
    if (cases[i].status != HD_OK) assert_int_equal(g.scheduler, synth_gpu().scheduler);
  }
}

static void a_replay_without_a_clock_has_the_schedulers_that_let_all_warps_load(void **state) {
  mix m = loads_only;
  hd_trace *t = synth_trace(8, 64, mixed_warp, &m);
  for (unsigned k = 0; k < HD_SCHED_COUNT; k++) {
    hd_gpu g = synth_gpu();
    hd_model *model;
    hd_counters c;
    hd_diag d = {0};
    g.scheduler = (hd_warp_scheduler)k;
    assert_int_equal(hd_model_create(&g, &model, NULL), HD_OK);
    hd_status st = hd_model_replay(model, t, &(hd_replay_options){0}, &c, &d);
    assert_int_equal(st, k <= HD_SCHED_GTO || k == HD_SCHED_OLDEST ? HD_OK : HD_ERR_UNSUPPORTED);
    if (st != HD_OK) assert_non_null(strstr(d.message, "needs a clock"));
    hd_model_destroy(model);
  }
  hd_trace_destroy(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("LRR takes the next one that is ready", lrr_takes_the_next_one_that_is_ready),
      BEHAVIOUR("LRR is fair", lrr_is_fair),
      BEHAVIOUR("GTO stays with a warp until it waits and then takes the oldest",
                gto_stays_with_a_warp_until_it_waits_and_then_takes_the_oldest),
      BEHAVIOUR("oldest goes round the oldest CTA that is ready",
                oldest_goes_round_the_oldest_cta_that_is_ready),
      BEHAVIOUR("under oldest a CTA that comes later goes last",
                under_oldest_a_cta_that_comes_later_goes_last),
      BEHAVIOUR("under oldest warps of a CTA share and CTAs do not",
                under_oldest_warps_of_a_cta_share_and_ctas_do_not),
      BEHAVIOUR("two-level goes round its group until all of it waits",
                two_level_goes_round_its_group_until_all_of_it_waits),
      BEHAVIOUR("two-level without a number has groups of eight",
                two_level_without_a_number_has_groups_of_eight),
      BEHAVIOUR("turns differ between warps of a scheduler", turns_differ_between_warps_of_a_scheduler),
      BEHAVIOUR("the oldest of a set is the one with the lowest turn",
                the_oldest_of_a_set_is_the_one_with_the_lowest_turn),
      BEHAVIOUR("priority lets the oldest load across CTAs", priority_lets_the_oldest_load_across_ctas),
      BEHAVIOUR("priority gives the place of a warp at a barrier to the next",
                priority_gives_the_place_of_a_warp_at_a_barrier_to_the_next),
      BEHAVIOUR("other schedulers let all warps load", other_schedulers_let_all_warps_load),
      BEHAVIOUR("CCWS: a miss of a line that another warp drove out is lost locality",
                a_miss_of_a_line_that_another_warp_drove_out_is_lost_locality),
      BEHAVIOUR("CCWS: victim tags forget the least recent", victim_tags_forget_the_least_recent),
      BEHAVIOUR("CCWS: a score rises with lost locality and falls by one a cycle",
                a_score_rises_with_lost_locality_and_falls_by_one_a_cycle),
      BEHAVIOUR("CCWS: the warp with the highest score may always load",
                the_warp_with_the_highest_score_may_always_load),
      BEHAVIOUR("a scheduler that a GPU cannot have is refused",
                a_scheduler_that_a_gpu_cannot_have_is_refused),
      BEHAVIOUR("a replay without a clock has the schedulers that let all warps load",
                a_replay_without_a_clock_has_the_schedulers_that_let_all_warps_load),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
