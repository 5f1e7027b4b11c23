/* Affinity graphs, their cuts, and the orders made of them. */
#include "check.h"

#include <math.h>

#include "../model/synth.h"
#include "heddle/reuse.h"

/* Task t of community t % COMMUNITIES reads most of its community's blocks and some of all the others. */
enum { COMMUNITIES = 6, PER_COMMUNITY = 20, TASKS = COMMUNITIES * PER_COMMUNITY, POOL = 32, READS = 24 };

typedef struct sets {
  bool has[TASKS][COMMUNITIES * POOL + 1];
  rng random;
} sets;

static void community_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  sets *s = ctx;
  for (unsigned i = 0; i < READS; i++) {
    uint64_t community = below(&s->random, 10) ? task % COMMUNITIES : below(&s->random, COMMUNITIES);
    uint64_t block = community * POOL + below(&s->random, POOL);
    s->has[task][block] = true;
    synth_put(h, worker, task, warp, i, HD_ACCESS_LOAD, 128 * block, 4);
  }
  s->has[task][COMMUNITIES * POOL] = true; /* one that everybody reads */
  synth_put(h, worker, task, warp, READS, HD_ACCESS_LOAD, 128 * COMMUNITIES * POOL, 4);
}

static hd_trace *communities(sets *s, uint64_t seed) {
  memset(s, 0, sizeof *s);
  s->random.seed = seed;
  return synth_trace(TASKS, 32, community_warp, s);
}

static double jaccard(const sets *s, uint32_t a, uint32_t b, unsigned blocks) {
  unsigned both = 0, any = 0;
  for (unsigned i = 0; i < blocks; i++) {
    both += s->has[a][i] && s->has[b][i];
    any += s->has[a][i] || s->has[b][i];
  }
  return (double)both / any;
}

static double weight_of(const hd_affinity *a, uint32_t from, uint32_t to) {
  for (uint64_t i = a->first[from]; i < a->first[from + 1]; i++)
    if (a->to[i] == to) return a->weight[i] / 65535.0;
  return 0;
}

static void edges_are_jaccard_indices_above_the_threshold(void **state) {
  sets s;
  for (unsigned round = 0; round < 3; round++) {
    hd_trace *t = communities(&s, round);
    hd_affinity a;
    /* With few sharers allowed, the block that everybody reads is left out. */
    hd_affinity_options o = {.max_sharers = round ? 100 : 0, .max_neighbours = TASKS, .threads = 1 + round};
    assert_int_equal(hd_affinity_build(t, &o, &a, NULL), HD_OK);
    assert_int_equal(a.n, TASKS);
    assert_int_equal(a.popular, round ? 1 : 0);
    for (uint32_t i = 0; i < TASKS; i++)
      for (uint32_t k = 0; k < TASKS; k++) {
        double want = jaccard(&s, i, k, COMMUNITIES * POOL + !round), got = weight_of(&a, i, k);
        if (i == k || want < 0.05)
          assert_true(got == 0);
        else
          assert_true(fabs(got - want) < 1e-4);
      }
    hd_affinity_free(&a);
    hd_trace_destroy(t);
  }
}

static void only_the_heaviest_edges_are_kept_and_in_both_directions(void **state) {
  sets s;
  hd_trace *t = communities(&s, 4);
  hd_affinity a;
  hd_affinity_options o = {.max_neighbours = 3};
  assert_int_equal(hd_affinity_build(t, &o, &a, NULL), HD_OK);
  for (uint32_t i = 0; i < TASKS; i++) {
    assert_true(a.first[i + 1] - a.first[i] >= 3);
    for (uint64_t e = a.first[i]; e < a.first[i + 1]; e++) {
      if (e > a.first[i]) assert_true(a.to[e] > a.to[e - 1]);
      assert_true(weight_of(&a, a.to[e], i) == a.weight[e] / 65535.0);
    }
  }
  assert_true(a.first[TASKS] <= 2 * 3 * TASKS);
  hd_affinity_free(&a);
  hd_trace_destroy(t);
}

static void a_sample_of_the_blocks_estimates_the_index(void **state) {
  sets s;
  hd_trace *t = communities(&s, 7);
  hd_affinity a;
  hd_affinity_options o = {
      .budget = TASKS * READS / 4, .max_neighbours = TASKS, .max_sharers = 100, .threshold = 1e-9};
  assert_int_equal(hd_affinity_build(t, &o, &a, NULL), HD_OK);
  assert_true(a.sampled <= 0.5 && a.sampled >= 0.1);
  double got = 0, want = 0;
  for (uint32_t i = 0; i < TASKS; i++)
    for (uint32_t k = 0; k < i; k++) {
      got += weight_of(&a, i, k);
      want += jaccard(&s, i, k, COMMUNITIES * POOL);
    }
  assert_true(got > 0.7 * want && got < 1.3 * want);
  hd_affinity_free(&a);
  hd_trace_destroy(t);
}

/* Task t reads a block that it shares with three others far away, and one of its own. */
enum { MANY = 20000, GROUPS = MANY / 4 };
static void sharing_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  synth_put(h, worker, task, warp, 0, HD_ACCESS_LOAD, 128 * (task % GROUPS), 4);
  synth_put(h, worker, task, warp, 1, HD_ACCESS_LOAD, 128 * (GROUPS + task), 4);
}

/* Many tasks are gone through in slices: the graph is the same on any number of threads, sampled or not. */
static void the_graph_does_not_depend_on_the_number_of_threads(void **state) {
  hd_trace *t = synth_trace(MANY, 32, sharing_warp, NULL);
  for (int sampled = 0; sampled < 2; sampled++) {
    hd_affinity a, b;
    hd_affinity_options one = {.threads = 1, .budget = sampled ? MANY : 0}, five = one;
    five.threads = 5;
    assert_int_equal(hd_affinity_build(t, &one, &a, NULL), HD_OK);
    assert_int_equal(hd_affinity_build(t, &five, &b, NULL), HD_OK);
    assert_true(sampled ? a.sampled < 1 : a.sampled == 1);
    assert_true(a.sampled == b.sampled && a.blocks == b.blocks);
    assert_memory_equal(a.first, b.first, (MANY + 1) * sizeof *a.first);
    assert_memory_equal(a.to, b.to, a.first[MANY] * sizeof *a.to);
    assert_memory_equal(a.weight, b.weight, a.first[MANY] * sizeof *a.weight);
    for (uint32_t i = 0; !sampled && i < MANY; i++) {
      assert_int_equal(a.first[i + 1] - a.first[i], 3);
      for (uint64_t e = a.first[i]; e < a.first[i + 1]; e++) assert_int_equal(a.to[e] % GROUPS, i % GROUPS);
    }
    hd_affinity_free(&a);
    hd_affinity_free(&b);
  }
  hd_trace_destroy(t);
}

/* How many neighbours in the order are of different communities. */
static unsigned changes(const hd_table *order) {
  unsigned n = 0;
  for (uint64_t i = 1; i < order->n; i++)
    n += order->task[i] % COMMUNITIES != order->task[i - 1] % COMMUNITIES;
  return n;
}

static void expect_permutation(const hd_table *t) {
  bool seen[TASKS] = {0};
  assert_int_equal(t->n, TASKS);
  for (uint64_t i = 0; i < t->n; i++) {
    assert_true(t->task[i] < TASKS && !seen[t->task[i]]);
    seen[t->task[i]] = true;
  }
}

static void the_walk_finds_the_communities(void **state) {
  sets s;
  hd_trace *t = communities(&s, 11);
  hd_affinity a;
  hd_affinity_options o = {.max_sharers = 100, .threshold = 0.1};
  assert_int_equal(hd_affinity_build(t, &o, &a, NULL), HD_OK);
  hd_table order;
  assert_int_equal(hd_affinity_order(&a, 8, &order, NULL), HD_OK);
  expect_permutation(&order);
  assert_int_equal(changes(&order), COMMUNITIES - 1);
  hd_table_free(&order);
  hd_affinity_free(&a);
  hd_trace_destroy(t);
}

static void lonely_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  synth_put(h, worker, task, warp, 0, HD_ACCESS_LOAD, 128 * task, 4);
}

static void tasks_that_share_nothing_keep_their_order(void **state) {
  hd_trace *t = synth_trace(9, 32, lonely_warp, NULL);
  hd_affinity a;
  assert_int_equal(hd_affinity_build(t, NULL, &a, NULL), HD_OK);
  assert_int_equal(a.first[9], 0);
  hd_table order;
  assert_int_equal(hd_affinity_order(&a, 0, &order, NULL), HD_OK);
  for (uint32_t i = 0; i < 9; i++) assert_int_equal(order.task[i], i);
  hd_table_free(&order);
  hd_affinity_free(&a);
  hd_trace_destroy(t);
}

static void the_graph_is_written_in_dot(void **state) {
  sets s;
  hd_trace *t = communities(&s, 2);
  hd_affinity a;
  assert_int_equal(hd_affinity_build(t, NULL, &a, NULL), HD_OK);
  hd_buf all = {0}, some = {0};
  hd_affinity_dot(&a, 0, &all);
  hd_affinity_dot(&a, 10, &some);
  unsigned edges = 0, few = 0;
  for (const char *p = all.data; (p = strstr(p, " -- ")); p++) edges++;
  for (const char *p = some.data; (p = strstr(p, " -- ")); p++) few++;
  assert_int_equal(edges, a.first[a.n] / 2);
  assert_true(few <= 10);
  assert_int_equal(strncmp(all.data, "graph affinity {", 16), 0);
  hd_buf_free(&all);
  hd_buf_free(&some);
  hd_affinity_free(&a);
  hd_trace_destroy(t);
}

static void heavy_first_sorts_tasks_by_their_work(void **state) {
  hd_trace *t = NULL;
  const uint32_t grid[3] = {6, 1, 1}, block[3] = {32, 1, 1};
  const uint64_t work[6] = {5, 9, 5, 1, 9, 7};
  assert_int_equal(hd_trace_create(grid, block, 1, 0, &t, NULL), HD_OK);
  const hd_emu_hooks *h = hd_trace_hooks(t);
  for (uint64_t task = 0; task < 6; task++) {
    h->cta_start(h->ctx, 0, task, 0);
    h->cta_end(h->ctx, 0, task, work[task], 32);
  }
  assert_int_equal(hd_trace_finish(t, NULL), HD_OK);
  hd_table order;
  assert_int_equal(hd_reuse_heavy_first(t, &order, NULL), HD_OK);
  const uint32_t want[6] = {1, 4, 5, 0, 2, 3};
  assert_int_equal(order.n, 6);
  assert_memory_equal(order.task, want, sizeof want);
  hd_table_free(&order);
  hd_trace_destroy(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(edges_are_jaccard_indices_above_the_threshold),
      cmocka_unit_test(only_the_heaviest_edges_are_kept_and_in_both_directions),
      cmocka_unit_test(a_sample_of_the_blocks_estimates_the_index),
      cmocka_unit_test(the_graph_does_not_depend_on_the_number_of_threads),
      cmocka_unit_test(the_walk_finds_the_communities),
      cmocka_unit_test(tasks_that_share_nothing_keep_their_order),
      cmocka_unit_test(the_graph_is_written_in_dot),
      cmocka_unit_test(heavy_first_sorts_tasks_by_their_work),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
