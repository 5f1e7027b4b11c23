/* Timelines of replays: where and when CTAs ran, hits over time, and what instructions asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "heddle/model.h"
#include "model/subject.h"

enum { CTAS = 500, THREADS = 128, SMS = 5, RESIDENT = 3 };

/* A load that neighbours share, a loop that gets longer with the CTA's number, a store. */
static const char body[] = "shr.u32 %r5, %r2, 2;\nmul.wide.u32 %rd4, %r5, 4096;\nadd.u64 %rd4, %rd1, %rd4;\n"
                           "and.b32 %r6, %r2, 7;\nadd.u32 %r6, %r6, 1;\nmov.f32 %f0, 0f00000000;\n"
                           "again:\nld.global.f32 %f1, [%rd4];\nadd.f32 %f0, %f0, %f1;\n"
                           "add.u64 %rd4, %rd4, 512;\nbar.sync 0;\nsub.u32 %r6, %r6, 1;\n"
                           "setp.ne.u32 %p1, %r6, 0;\n@%p1 bra again;\n"
                           "ld.global.f32 %f2, [%rd2];\nadd.f32 %f0, %f0, %f2;\nst.global.f32 [%rd2], %f0;\n";

typedef struct shown {
  subject s;
  hd_gpu gpu;
  hd_counters counters;
  hd_timeline t;
} shown;

static void replay_into(shown *x, const hd_replay_options *wanted) {
  hd_diag d = {0};
  hd_model *m;
  hd_replay_options o = *wanted;
  o.timed = true;
  if (!o.dispatch.resident) o.dispatch.resident = RESIDENT;
  must(hd_model_create(&x->gpu, &m, &d), &d);
  must(hd_model_replay(m, x->s.trace, &o, &x->counters, &d), &d);
  hd_model_destroy(m);
}

static shown show(const hd_replay_options *wanted, uint64_t most) {
  shown x = {.s = trace_kernel(body, CTAS, THREADS), .gpu = round_gpu(), .t.most = most};
  hd_replay_options o = *wanted;
  x.gpu.n_sms = SMS;
  o.timeline = &x.t;
  replay_into(&x, &o);
  return x;
}

static void put_away(shown *x) {
  hd_timeline_free(&x->t);
  drop(&x->s);
}

/* Each task of those that were kept is there once, and none begins before its place is free. */
static void expect_no_overlap(const hd_timeline *t) {
  uint64_t free_at[SMS][8] = {{0}};
  bool *seen = calloc(CTAS, sizeof *seen);
  for (uint64_t i = 0; i < t->n; i++) {
    const hd_timeline_cta *c = &t->ctas[i];
    assert_true(c->task < CTAS && !seen[c->task]);
    seen[c->task] = true;
    assert_true(c->sm < SMS && c->slot < t->slots);
    assert_true(c->start >= free_at[c->sm][c->slot]);
    assert_true(c->end > c->start && c->end <= t->cycles);
    free_at[c->sm][c->slot] = c->end;
  }
  free(seen);
}

static void every_cta_is_there_once_and_no_two_share_a_place(void **state) {
  shown x = show(&(hd_replay_options){0}, 0);
  assert_int_equal(x.t.n, CTAS);
  assert_int_equal(x.t.ran, CTAS);
  assert_int_equal(x.t.slots, RESIDENT);
  assert_int_equal(x.t.sm_step, 1);
  assert_int_equal(x.t.kept_until, 0);
  expect_no_overlap(&x.t);
  put_away(&x);
}

static void an_order_gives_ctas_by_their_number_in_the_grid(void **state) {
  hd_table order = {calloc(CTAS, sizeof *order.task), CTAS};
  for (uint32_t i = 0; i < CTAS; i++) order.task[i] = CTAS - 1 - i;
  shown x = show(&(hd_replay_options){.order = &order}, 0);
  assert_int_equal(x.t.n, CTAS);
  assert_int_equal(x.t.ctas[0].task, CTAS - 1);
  expect_no_overlap(&x.t);
  put_away(&x);
  free(order.task);
}

static void tasks_of_agents_are_there_once(void **state) {
  hd_table order = {calloc(CTAS, sizeof *order.task), CTAS};
  for (uint32_t i = 0; i < CTAS; i++) order.task[i] = i;
  const uint32_t queue_of[SMS] = {0, 1, 0, 1, 0};
  shown x = show(
      &(hd_replay_options){.order = &order, .claims = {.n_queues = 2, .queue_of = queue_of, .agents = true}},
      0);
  assert_int_equal(x.t.n, CTAS);
  expect_no_overlap(&x.t);
  put_away(&x);
  free(order.task);
}

static void a_part_has_its_own_ctas(void **state) {
  shown x = show(&(hd_replay_options){.part = {.first = 100, .n = 50}}, 0);
  assert_int_equal(x.t.n, 50);
  assert_int_equal(x.t.first, 100);
  assert_int_equal(x.t.tasks, 50);
  for (uint64_t i = 0; i < x.t.n; i++) assert_in_range(x.t.ctas[i].task, 100, 149);
  put_away(&x);
}

static void looking_changes_no_counter(void **state) {
  shown x = show(&(hd_replay_options){0}, 0);
  const hd_counters watched = x.counters;
  replay_into(&x, &(hd_replay_options){0});
  for (uint32_t i = 0; i < HD_COUNTER_FIELDS; i++) {
    const hd_counter *f = &hd_counter_table[i];
    assert_true(hd_counter_real(f, &watched) == hd_counter_real(f, &x.counters));
    assert_true(hd_counter_count(f, &watched) == hd_counter_count(f, &x.counters));
  }
  put_away(&x);
}

static void the_last_cta_ends_with_the_launch(void **state) {
  shown x = show(&(hd_replay_options){0}, 0);
  assert_true((double)x.t.cycles <= x.counters.cycles);
  assert_true((double)x.t.cycles > 0.9 * x.counters.cycles);
  assert_true(x.t.clock_mhz == x.gpu.clock_mhz);
  put_away(&x);
}

static void bins_sum_up_to_the_counters(void **state) {
  shown x = show(&(hd_replay_options){0}, 0);
  hd_timeline_bin sum = {0};
  assert_true(x.t.n_bins > 1 && x.t.n_bins <= HD_TIMELINE_BINS);
  assert_true(x.t.bin_cycles * (x.t.n_bins - 1) <= x.t.cycles + 512);
  for (uint32_t i = 0; i < x.t.n_bins; i++) {
    sum.l1_sectors += x.t.bins[i].l1_sectors;
    sum.l1_hits += x.t.bins[i].l1_hits;
    sum.l2_sectors += x.t.bins[i].l2_sectors;
    sum.l2_hits += x.t.bins[i].l2_hits;
    sum.dram_bytes += x.t.bins[i].dram_bytes;
  }
  assert_int_equal(sum.l1_sectors, x.counters.l1_sectors);
  assert_int_equal(sum.l1_hits, x.counters.l1_hits);
  assert_int_equal(sum.l2_sectors, x.counters.l2_sectors);
  assert_int_equal(sum.l2_hits, x.counters.l2_hits);
  /* What is left dirty in L2 is written back behind the launch. */
  assert_true(sum.dram_bytes >= x.counters.dram_read_bytes &&
              sum.dram_bytes <= hd_counters_dram(&x.counters));
  put_away(&x);
}

static void long_replays_have_longer_bins(void **state) {
  shown x = show(&(hd_replay_options){.dispatch.resident = 1}, 0);
  assert_true(x.t.cycles > 512 * HD_TIMELINE_BINS);
  assert_true(x.t.bin_cycles > 512);
  assert_true(x.t.n_bins > HD_TIMELINE_BINS / 2 && x.t.n_bins <= HD_TIMELINE_BINS);
  put_away(&x);
}

static void instructions_sum_up_to_the_counters(void **state) {
  shown x = show(&(hd_replay_options){0}, 0);
  hd_timeline_access sum = {0};
  assert_int_equal(x.t.n_accesses, 3);
  for (uint32_t i = 0; i < x.t.n_accesses; i++) {
    const hd_timeline_access *a = &x.t.accesses[i];
    if (i) assert_true(a->inst > a[-1].inst);
    sum.accesses += a->accesses;
    sum.l1_sectors += a->l1_sectors;
    sum.l1_hits += a->l1_hits;
    sum.l2_sectors += a->l2_sectors;
    sum.l2_hits += a->l2_hits;
    sum.waited += a->waited;
  }
  assert_int_equal(sum.accesses, hd_trace_get_info(x.s.trace).warp_accesses);
  assert_int_equal(sum.l1_sectors, x.counters.l1_sectors);
  assert_int_equal(sum.l1_hits, x.counters.l1_hits);
  assert_int_equal(sum.l2_sectors, x.counters.l2_sectors);
  assert_int_equal(sum.l2_hits, x.counters.l2_hits);
  /* Stalls for memory have the waits for stores, too, when warps end. */
  assert_true(sum.waited > 0 && (double)sum.waited <= x.counters.stall_memory);
  put_away(&x);
}

static void an_access_that_lacks_mshrs_counts_once(void **state) {
  shown x = {.s = trace_kernel(body, 40, 256), .gpu = round_gpu()};
  uint64_t accesses = 0, throttled = 0;
  x.gpu.l1_mshrs = 1;
  replay_into(&x, &(hd_replay_options){.timeline = &x.t});
  for (uint32_t i = 0; i < x.t.n_accesses; i++) {
    accesses += x.t.accesses[i].accesses;
    throttled += x.t.accesses[i].throttled;
  }
  assert_int_equal(accesses, hd_trace_get_info(x.s.trace).warp_accesses);
  assert_true(throttled > 0 && (double)throttled <= x.counters.stall_throttle);
  put_away(&x);
}

static void waits_are_those_of_the_load_that_is_waited_for(void **state) {
  const subject s = trace_kernel("ld.global.f32 %f1, [%rd2+262144];\nld.global.f32 %f2, [%rd2+524288];\n"
                                 "add.f32 %f3, %f2, %f2;\nst.global.f32 [%rd2], %f3;\n",
                                 1, 32);
  shown x = {.s = s, .gpu = round_gpu()};
  replay_into(&x, &(hd_replay_options){.timeline = &x.t});
  assert_int_equal(x.t.n_accesses, 3);
  assert_int_equal(x.t.accesses[0].waited, 0);
  assert_true(x.t.accesses[1].waited > 400);
  assert_int_equal(x.t.accesses[2].waited, 0);
  put_away(&x);
}

static void with_too_many_ctas_those_of_some_sms_are_all_there(void **state) {
  shown all = show(&(hd_replay_options){0}, 0), few = show(&(hd_replay_options){0}, 300);
  uint64_t k = 0;
  assert_int_equal(few.t.sm_step, 2);
  assert_int_equal(few.t.ran, CTAS);
  assert_true(few.t.n <= 300 && !few.t.kept_until);
  for (uint64_t i = 0; i < all.t.n; i++) {
    if (all.t.ctas[i].sm % 2 != 0) continue;
    assert_true(k < few.t.n);
    assert_memory_equal(&all.t.ctas[i], &few.t.ctas[k], sizeof all.t.ctas[i]);
    k++;
  }
  assert_int_equal(k, few.t.n);
  assert_memory_equal(all.t.bins, few.t.bins, sizeof all.t.bins);
  put_away(&all);
  put_away(&few);
}

static void of_one_sm_with_too_many_the_first_are_there(void **state) {
  shown x = show(&(hd_replay_options){0}, 20);
  assert_int_equal(x.t.n, 20);
  assert_int_equal(x.t.ran, CTAS);
  assert_true(x.t.kept_until > 0 && x.t.kept_until < x.t.cycles);
  for (uint64_t i = 0; i < x.t.n; i++) {
    assert_int_equal(x.t.ctas[i].sm, 0);
    assert_true(x.t.ctas[i].start <= x.t.kept_until && x.t.ctas[i].end > x.t.ctas[i].start);
  }
  put_away(&x);
}

static void replays_without_a_clock_have_no_timeline(void **state) {
  subject s = trace_kernel(body, 4, THREADS);
  hd_gpu g = round_gpu();
  hd_diag d = {0};
  hd_model *m;
  hd_counters c;
  hd_timeline t = {0};
  must(hd_model_create(&g, &m, &d), &d);
  must(hd_model_replay(m, s.trace, &(hd_replay_options){.timeline = &t}, &c, &d), &d);
  assert_int_equal(t.n, 0);
  assert_int_equal(t.ran, 0);
  hd_model_destroy(m);
  drop(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every CTA is there once and no two share a place",
                every_cta_is_there_once_and_no_two_share_a_place),
      BEHAVIOUR("an order gives CTAs by their number in the grid",
                an_order_gives_ctas_by_their_number_in_the_grid),
      BEHAVIOUR("tasks of agents are there once", tasks_of_agents_are_there_once),
      BEHAVIOUR("a part has its own CTAs", a_part_has_its_own_ctas),
      BEHAVIOUR("looking changes no counter", looking_changes_no_counter),
      BEHAVIOUR("the last CTA ends with the launch", the_last_cta_ends_with_the_launch),
      BEHAVIOUR("bins sum up to the counters", bins_sum_up_to_the_counters),
      BEHAVIOUR("long replays have longer bins", long_replays_have_longer_bins),
      BEHAVIOUR("instructions sum up to the counters", instructions_sum_up_to_the_counters),
      BEHAVIOUR("an access that lacks MSHRs counts once", an_access_that_lacks_mshrs_counts_once),
      BEHAVIOUR("waits are those of the load that is waited for",
                waits_are_those_of_the_load_that_is_waited_for),
      BEHAVIOUR("with too many CTAs those of some SMs are all there",
                with_too_many_ctas_those_of_some_sms_are_all_there),
      BEHAVIOUR("of one SM with too many the first are there", of_one_sm_with_too_many_the_first_are_there),
      BEHAVIOUR("replays without a clock have no timeline", replays_without_a_clock_have_no_timeline),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
