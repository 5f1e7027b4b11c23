/* Shares and distances against a log of all requests that is searched from the beginning each time. */
#include "check.h"

#include "../model/synth.h"
#include "heddle/reuse.h"

enum { TASKS = 7, WARPS = 3, ACCESSES = 40, LANES_APART = 4 };

/* Everything a made-up launch requests, by granule. */
typedef struct entry {
  uint64_t granule, event;
  uint32_t task, warp;
  bool write;
} entry;

typedef struct diary {
  HD_VEC(entry) lines;
  HD_VEC(entry) words;
  rng random;
  uint64_t event;
  uint64_t span; /* addresses are below it */
} diary;

static bool note(diary *d, bool words, uint64_t granule, uint32_t task, uint32_t warp, bool write) {
  entry e = {granule, d->event, task, warp, write};
  size_t n = words ? d->words.n : d->lines.n;
  const entry *all = words ? d->words.data : d->lines.data;
  for (size_t i = n; i-- && all[i].event == e.event;)
    if (all[i].granule == granule) return true; /* one access names a granule once */
  return words ? hd_vec_push(&d->words, e) : hd_vec_push(&d->lines, e);
}

static void random_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  diary *d = ctx;
  for (uint32_t i = 0; i < ACCESSES; i++) {
    uint64_t addr[32], base = 4 * below(&d->random, d->span / 4);
    bool scattered = below(&d->random, 4) == 0, write = below(&d->random, 5) == 0;
    for (unsigned k = 0; k < 32; k++)
      addr[k] = scattered ? 4 * below(&d->random, d->span / 4) : (base + k * LANES_APART) % d->span;
    hd_access a = synth_access(task, warp, i, write ? HD_ACCESS_STORE : HD_ACCESS_LOAD, 4, addr);
    a.mask = i % 3 ? UINT32_MAX : 0x00ff00f1;
    h->access(h->ctx, worker, &a);
    d->event++;
    for (unsigned k = 0; k < 32; k++) {
      if (!(a.mask >> k & 1)) continue;
      assert_true(note(d, false, addr[k] / 128, (uint32_t)task, warp, write));
      assert_true(note(d, true, addr[k] / 4, (uint32_t)task, warp, write));
    }
  }
}

static hd_reuse_shares naive_shares(const entry *e, size_t n) {
  hd_reuse_shares s = {.requests = n};
  for (size_t i = 0; i < n; i++) {
    bool any = false, cta = false, warp = false;
    for (size_t k = 0; k < i; k++)
      if (e[k].granule == e[i].granule) {
        any = true;
        cta |= e[k].task == e[i].task;
        warp |= e[k].task == e[i].task && e[k].warp == e[i].warp;
      }
    s.cold += !any;
    s.intra_warp += warp;
    s.intra_cta += cta && !warp;
    s.inter_cta += any && !cta;
  }
  return s;
}

static void free_diary(diary *d) {
  hd_vec_free(&d->lines);
  hd_vec_free(&d->words);
}

static void shares_are_those_of_a_search_through_all_requests(void **state) {
  for (uint64_t seed = 0; seed < 6; seed++) {
    diary d = {.random = {seed, 0}, .span = 4096 << seed};
    hd_trace *t = synth_trace(TASKS, WARPS * 32, random_warp, &d);
    hd_reuse r;
    assert_int_equal(hd_reuse_measure(t, NULL, 0, NULL, &r, NULL), HD_OK);
    hd_reuse_shares lines = naive_shares(d.lines.data, d.lines.n),
                    words = naive_shares(d.words.data, d.words.n);
    assert_memory_equal(&r.all.lines, &lines, sizeof lines);
    assert_memory_equal(&r.all.words, &words, sizeof words);
    assert_int_equal(lines.cold + lines.intra_warp + lines.intra_cta + lines.inter_cta, lines.requests);
    assert_int_equal(r.all.distinct_lines, lines.cold);
    assert_int_equal(r.all.load_requests + r.all.store_requests, lines.requests);
    hd_reuse_free(&r);
    hd_trace_destroy(t);
    free_diary(&d);
  }
}

/* Distinct lines requested between two requests of one, tasks in the given order. */
static void distances_are_the_distinct_lines_in_between(void **state) {
  for (uint64_t seed = 0; seed < 4; seed++) {
    diary d = {.random = {seed, 9}, .span = 8192 << seed};
    hd_trace *t = synth_trace(TASKS, WARPS * 32, random_warp, &d);
    uint32_t order[TASKS] = {3, 1, 6, 0, 2, 5, 4};
    hd_table table = {order, TASKS};
    HD_VEC(entry) sequence = {0};
    for (unsigned p = 0; p < TASKS; p++)
      for (size_t i = 0; i < d.lines.n; i++)
        if (d.lines.data[i].task == order[p]) assert_true(hd_vec_push(&sequence, d.lines.data[i]));
    uint64_t inter[HD_REUSE_BUCKETS] = {0}, intra[HD_REUSE_BUCKETS] = {0};
    for (size_t i = 0; i < sequence.n; i++) {
      size_t before = i;
      while (before-- && sequence.data[before].granule != sequence.data[i].granule) {
      }
      if (before == SIZE_MAX) continue;
      uint64_t distinct = 0;
      for (size_t k = before + 1; k < i; k++) {
        bool last = true; /* a line counts where it is requested last */
        for (size_t m = k + 1; m < i; m++) last &= sequence.data[m].granule != sequence.data[k].granule;
        distinct += last;
      }
      unsigned b = 0;
      while (distinct >> b) b++;
      if (sequence.data[before].task == sequence.data[i].task)
        intra[b]++;
      else
        inter[b]++;
    }
    hd_reuse r;
    hd_reuse_options o = {.order = &table};
    assert_int_equal(hd_reuse_measure(t, NULL, 0, &o, &r, NULL), HD_OK);
    assert_true(r.sampled == 1);
    assert_memory_equal(r.all.inter_distance, inter, sizeof inter);
    assert_memory_equal(r.all.intra_distance, intra, sizeof intra);
    hd_reuse_free(&r);
    hd_vec_free(&sequence);
    hd_trace_destroy(t);
    free_diary(&d);
  }
}

static void every_request_belongs_to_the_array_it_lies_in(void **state) {
  diary d = {.random = {5, 0}, .span = 16384};
  hd_trace *t = synth_trace(TASKS, WARPS * 32, random_warp, &d);
  /* Behind a gap, and not in the order of their addresses. */
  const hd_reuse_array arrays[] = {{"high", 8192, 4096}, {"low", 0, 4096}};
  hd_reuse r;
  assert_int_equal(hd_reuse_measure(t, arrays, 2, NULL, &r, NULL), HD_OK);
  uint64_t want[3] = {0};
  for (size_t i = 0; i < d.words.n; i++) {
    uint64_t address = d.words.data[i].granule * 4;
    want[address < 4096 ? 1 : address >= 8192 && address < 12288 ? 0 : 2]++;
  }
  for (unsigned a = 0; a < 3; a++) assert_int_equal(r.arrays[a].words.requests, want[a]);
  hd_reuse_free(&r);
  const hd_reuse_array overlapping[] = {{"a", 0, 4096}, {"b", 4095, 10}};
  hd_diag e;
  assert_int_equal(hd_reuse_measure(t, overlapping, 2, NULL, &r, &e), HD_ERR_USAGE);
  assert_string_equal(e.message, "the arrays 'a' and 'b' overlap");
  hd_trace_destroy(t);
  free_diary(&d);
}

static void a_sample_of_the_lines_gives_nearly_the_same_histogram(void **state) {
  diary d = {.random = {3, 0}, .span = 1 << 20};
  hd_trace *t = synth_trace(64, WARPS * 32, random_warp, &d);
  hd_reuse all, some;
  hd_reuse_options o = {.distance_budget = d.lines.n / 4};
  assert_int_equal(hd_reuse_measure(t, NULL, 0, NULL, &all, NULL), HD_OK);
  assert_int_equal(hd_reuse_measure(t, NULL, 0, &o, &some, NULL), HD_OK);
  assert_true(some.sampled < 0.26);
  assert_int_equal(all.all.lines.inter_cta, some.all.lines.inter_cta);
  uint64_t a = 0, b = 0;
  for (unsigned i = 0; i < HD_REUSE_BUCKETS; i++) {
    a += all.all.inter_distance[i] + all.all.intra_distance[i];
    b += some.all.inter_distance[i] + some.all.intra_distance[i];
  }
  assert_true(a > 1000 && b > a * 8 / 10 && b < a * 12 / 10);
  hd_reuse_free(&all);
  hd_reuse_free(&some);
  hd_trace_destroy(t);
  free_diary(&d);
}

/* All tasks read line 0; task k alone reads and writes line 1 + k; tasks 2 and 3 both touch what task 2
 * writes. */
static void plain_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  synth_put(h, worker, task, warp, 0, HD_ACCESS_LOAD, 0, 4);
  synth_put(h, worker, task, warp, 1, HD_ACCESS_LOAD, 128 * (1 + task), 4);
  synth_put(h, worker, task, warp, 2, HD_ACCESS_STORE, 128 * (1 + task), 4);
  if (task == 3) synth_put(h, worker, task, warp, 3, HD_ACCESS_LOAD, 128 * 3, 4);
}

static void footprints_and_shared_lines_are_counted(void **state) {
  hd_trace *t = synth_trace(5, 32, plain_warp, NULL);
  hd_reuse r;
  assert_int_equal(hd_reuse_measure(t, NULL, 0, NULL, &r, NULL), HD_OK);
  assert_int_equal(r.footprint.least, 2);
  assert_int_equal(r.footprint.median, 2);
  assert_int_equal(r.footprint.most, 3);
  assert_true(r.footprint.mean == 11 / 5.0);
  assert_int_equal(r.all.distinct_lines, 6);
  assert_int_equal(r.all.shared_lines, 2);
  assert_int_equal(r.all.written_shared_lines, 1);
  assert_int_equal(r.all.lines.inter_cta, 4 + 1);
  assert_int_equal(r.all.lines.intra_warp, 5);
  assert_true(hd_reuse_inter(&r.all.lines) == 0.5);
  hd_reuse_free(&r);
  hd_trace_destroy(t);
}

static void read_k_lines(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  for (uint32_t i = 0; i < *(const uint32_t *)ctx; i++)
    synth_put(h, worker, task, warp, i, HD_ACCESS_LOAD, (uint64_t)128 * i, 4);
}

static void the_mean_of_added_launches_is_that_of_all_their_tasks(void **state) {
  /* Launches of so many tasks, each of which names so many lines. */
  static const uint32_t tasks[] = {3, 90, 1, 6}, lines[] = {10, 2, 40, 5};
  hd_reuse sum = {0};
  uint64_t all = 0, named = 0;
  for (unsigned i = 0; i < sizeof tasks / sizeof *tasks; i++) {
    uint32_t k = lines[i];
    hd_trace *t = synth_trace(tasks[i], 32, read_k_lines, &k);
    hd_reuse r;
    assert_int_equal(hd_reuse_measure(t, NULL, 0, NULL, i ? &r : &sum, NULL), HD_OK);
    hd_trace_destroy(t);
    all += tasks[i];
    named += (uint64_t)tasks[i] * lines[i];
    if (i) {
      hd_reuse_add(&sum, &r);
      hd_reuse_free(&r);
    }
    assert_int_equal(sum.footprint.tasks, all);
    assert_float_equal(sum.footprint.mean, (double)named / (double)all, 1e-9);
  }
  assert_int_equal(sum.footprint.least, 2);
  assert_int_equal(sum.footprint.most, 40);
  assert_int_equal(sum.footprint.median, 2); /* of the launch with the most tasks */
  assert_int_equal(sum.all.load_requests, named);
  hd_reuse_free(&sum);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shares_are_those_of_a_search_through_all_requests),
      cmocka_unit_test(distances_are_the_distinct_lines_in_between),
      cmocka_unit_test(every_request_belongs_to_the_array_it_lies_in),
      cmocka_unit_test(a_sample_of_the_lines_gives_nearly_the_same_histogram),
      cmocka_unit_test(footprints_and_shared_lines_are_counted),
      cmocka_unit_test(the_mean_of_added_launches_is_that_of_all_their_tasks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
