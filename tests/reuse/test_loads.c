/* Loads of which nothing is asked for again, against a list of all accesses. */
#include "model/synth.h"

#include "check.h"
#include "heddle/reuse.h"

enum { LOADS = 5, MOST = 4096 };

typedef struct asked {
  uint64_t sector;
  uint32_t access, inst;
  hd_access_kind kind;
  bool called;
} asked;

typedef struct recorded {
  rng r;
  uint64_t range; /* of addresses */
  asked list[MOST];
  uint32_t n, accesses;
} recorded;

static void one(recorded *x, const hd_emu_hooks *h, unsigned worker, hd_access *a) {
  uint64_t seen[64];
  uint32_t n = 0;
  h->access(h->ctx, worker, a);
  x->accesses++;
  for (unsigned l = 0; l < 32; l++)
    for (uint64_t s = a->addr[l] / 32; s <= (a->addr[l] + a->bytes - 1) / 32; s++) {
      uint32_t k = 0;
      while (k < n && seen[k] != s) k++;
      if (k < n) continue;
      seen[n++] = s;
      assert_in_range(x->n, 0, MOST - 1);
      x->list[x->n++] = (asked){s, x->accesses, a->inst, (hd_access_kind)a->kind, a->called};
    }
}

/* Runs of a warp, strided ones, and lanes anywhere; loads, stores, atomics, prefetches. */
static void anything(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  recorded *x = ctx;
  uint64_t addr[32];
  for (int k = 0; k < 6; k++) {
    uint64_t base = below(&x->r, x->range) * 4, step = below(&x->r, 3) * 4;
    for (unsigned l = 0; l < 32; l++) addr[l] = base + l * step;
    hd_access_kind kind = below(&x->r, 2) ? HD_ACCESS_LOAD : (hd_access_kind)below(&x->r, 4);
    hd_access a = synth_access(task, warp, (uint32_t)below(&x->r, LOADS), kind, 4, addr);
    a.called = !below(&x->r, 6);
    one(x, h, worker, &a);
  }
}

static bool is_asked_again(const recorded *x, uint64_t sector) {
  uint32_t loads = 0, stored = 0;
  for (uint32_t i = 0; i < x->n; i++) {
    const asked *a = &x->list[i];
    if (a->sector != sector || a->kind == HD_ACCESS_ATOMIC) continue;
    if (a->kind == HD_ACCESS_STORE)
      stored |= !loads;
    else
      loads++;
  }
  return loads + stored > 1;
}

static void requests_are_counted_as_reused_where_another_one_is(void **state) {
  for (uint64_t seed = 0; seed < 60; seed++) {
    static recorded x[2];
    hd_load_reuses sum = {0};
    hd_load_reuse want[LOADS] = {{0}};
    hd_diag d;
    for (int launch = 0; launch < 2; launch++) { /* two launches add up */
      recorded *y = &x[launch];
      *y = (recorded){.r = {seed, (uint64_t)launch << 32}, .range = seed % 2 ? 4096 : 1 << 20};
      hd_trace *t = synth_trace(3, 64, anything, y);
      assert_int_equal(hd_reuse_add_loads(t, 0, &sum, &d), HD_OK);
      hd_trace_destroy(t);
      for (uint32_t i = 0; i < y->n; i++) {
        const asked *a = &y->list[i];
        if (a->kind != HD_ACCESS_LOAD || a->called) continue;
        want[a->inst].requests++;
        want[a->inst].reused += is_asked_again(y, a->sector);
      }
    }
    for (uint32_t inst = 0, k = 0; inst < LOADS; inst++) {
      if (!want[inst].requests) continue;
      assert_true(k < sum.n);
      assert_int_equal(sum.loads[k].inst, inst);
      assert_int_equal(sum.loads[k].requests, want[inst].requests);
      assert_int_equal(sum.loads[k++].reused, want[inst].reused);
    }
    hd_load_reuses_free(&sum);
  }
}

/* Load 0 streams, load 1 reads one table in all CTAs, load 2 data that its own warp stored. */
static void three_loads(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  uint64_t at = (task * 8 + warp) * 4096;
  for (uint64_t k = 0; k < 32; k++) {
    synth_put(h, worker, task, warp, 0, HD_ACCESS_LOAD, (1 << 24) + at + k * 128, 4);
    synth_put(h, worker, task, warp, 1, HD_ACCESS_LOAD, k * 128, 4);
    synth_put(h, worker, task, warp, 3, HD_ACCESS_STORE, (1 << 26) + at + k * 128, 4);
    synth_put(h, worker, task, warp, 2, HD_ACCESS_LOAD, (1 << 26) + at + k * 128, 4);
    synth_put(h, worker, task, warp, 4, HD_ACCESS_STORE, (1 << 24) + at + k * 128, 4);
  }
}

static void a_sample_tells_streams_from_the_rest(void **state) {
  hd_trace *t = synth_trace(64, 256, three_loads, NULL);
  for (uint64_t budget = 1 << 15; budget <= 1 << 21; budget *= 8) {
    hd_load_reuses sum = {0};
    hd_diag d;
    assert_int_equal(hd_reuse_add_loads(t, budget, &sum, &d), HD_OK);
    assert_int_equal(sum.n, 3);
    assert_true(sum.loads[0].requests > 0);
    assert_int_equal(sum.loads[0].reused, 0); /* that it is written to in the end is no use to L1 */
    assert_int_equal(sum.loads[1].reused, sum.loads[1].requests);
    assert_int_equal(sum.loads[2].reused, sum.loads[2].requests);
    hd_load_reuses_free(&sum);
  }
  hd_trace_destroy(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("requests count as reused where the launch asks for their sector once more",
                requests_are_counted_as_reused_where_another_one_is),
      BEHAVIOUR("a sample tells loads that stream from the rest", a_sample_tells_streams_from_the_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
