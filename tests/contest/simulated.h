/* tests/contest/simulated.h: devices whose plans have speedups that are known. Times are noisy, drift and
 * have outliers; seconds pass only when something is measured. */
#ifndef HEDDLE_TESTS_CONTEST_SIMULATED_H
#define HEDDLE_TESTS_CONTEST_SIMULATED_H

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contest/search.h"

enum { MOST_SLOTS = 4096 };

typedef struct simulated {
  uint64_t seed, drawn;
  double base_us, noise, outliers, drift;
  double (*speedup)(const struct simulated *s, const hd_plan *p);
  double clock, admission; /* seconds */
  double time_of[MOST_SLOTS];
  bool used[MOST_SLOTS];
  uint32_t n, held, most_held, refused_every;
  /* Where buffers lie: a factor of the time of a plan (by its hash; 0: of the original) in a place. NULL: the
   * bench has no places. */
  double (*luck)(const struct simulated *s, uint64_t plan, uint32_t place);
  /* How code was loaded: a factor of the time of a plan (0: of the original) by the number of its admission.
   * NULL: that makes no difference. */
  double (*loading)(const struct simulated *s, uint64_t plan, uint32_t admission);
  uint64_t plan_of[MOST_SLOTS];
  uint32_t place, unsettled, fails_at; /* fails_at: the move that does, from 1 */
  uint32_t admitted, lost_at;          /* lost_at: the admission with which the device goes, from 1 */
  double moving;
  bool fragmented;    /* the last move since settle was */
  const char *kernel; /* whose plan has the speedup; NULL: the one for all */
  bool listens;       /* to announcements of plans that may be admitted soon */
  uint64_t heard[MOST_SLOTS];
  uint32_t n_heard, unheard; /* unheard: plans admitted all the same */
} simulated;

/* The time of a slot where its buffers lie now. */
static inline double here(const simulated *s, uint32_t slot) {
  return s->time_of[slot] * (s->luck ? s->luck(s, s->plan_of[slot], s->place) : 1);
}

static inline double uniform(simulated *s) {
  return (double)(hd_random_at(s->seed, s->drawn++) >> 11) * 0x1p-53;
}

/* A time with noise on both sides, outliers on one, and a clock that wanders. */
static inline double draw(simulated *s, double us) {
  double sum = 0;
  for (int i = 0; i < 12; i++) sum += uniform(s);
  double t = us * exp(s->noise * (sum - 6)) * (1 + s->drift * sin(s->clock));
  if (uniform(s) < s->outliers) t *= 1 + uniform(s);
  s->clock += t * 1e-6;
  return t;
}

static inline uint64_t plan_hash(const hd_plan *p) {
  hd_buf b = {0};
  hd_plan_print(p, &b);
  uint64_t h = hd_hash(b.data, b.len);
  hd_buf_free(&b);
  return h;
}

static inline const hd_plan *plan_in(const simulated *s, const hd_plan_set *plans) {
  return s->kernel ? hd_plan_set_of(plans, s->kernel) : &plans->all;
}

static inline bool was_heard(const simulated *s, uint64_t plan) {
  for (uint32_t i = 0; i < s->n_heard; i++)
    if (s->heard[i] == plan) return true;
  return false;
}

static inline void ahead(void *ctx, const hd_plan_set *plans, size_t n) {
  simulated *s = ctx;
  for (size_t i = 0; i < n; i++) {
    uint64_t plan = plan_hash(plan_in(s, &plans[i]));
    assert_true(s->n_heard < MOST_SLOTS);
    s->heard[s->n_heard++] = plan;
  }
}

static inline hd_status admit(void *ctx, const hd_plan_set *plans, uint32_t *slot, double *us, hd_diag *d) {
  simulated *s = ctx;
  const hd_plan *p = plan_in(s, plans);
  bool baseline = hd_plan_is_baseline(p);
  s->unheard += s->listens && !baseline && !was_heard(s, plan_hash(p));
  s->clock += s->admission;
  if (++s->admitted == s->lost_at) return hd_fail(d, HD_ERR_FAULT, "lost");
  if (!baseline && s->refused_every && plan_hash(p) % s->refused_every == 0)
    return hd_fail(d, HD_ERR_REFUSED, "not this one");
  for (*slot = 0; s->used[*slot]; ++*slot) assert_true(*slot + 1 < MOST_SLOTS);
  s->used[*slot] = true;
  s->held++;
  if (s->held > s->most_held) s->most_held = s->held;
  s->time_of[*slot] = s->base_us / (baseline ? 1 : s->speedup(s, p));
  s->plan_of[*slot] = baseline ? 0 : plan_hash(p);
  if (s->loading) s->time_of[*slot] *= s->loading(s, s->plan_of[*slot], s->admitted);
  *us = draw(s, here(s, *slot));
  return HD_OK;
}

static inline void release(void *ctx, uint32_t slot) {
  simulated *s = ctx;
  assert_true(s->used[slot]);
  s->used[slot] = false;
  s->held--;
}

static inline hd_status time_slots(void *ctx, const uint32_t *slots, size_t n, uint32_t warmups,
                                   uint32_t rounds, double *us, hd_diag *d) {
  simulated *s = ctx;
  for (uint32_t r = 0; r < warmups + rounds; r++)
    for (size_t k = 0; k < n; k++) {
      size_t i = (k + r) % n;
      assert_true(s->used[slots[i]]);
      double t = draw(s, here(s, slots[i]));
      if (r >= warmups) us[i * rounds + (r - warmups)] = t;
    }
  return HD_OK;
}

static inline double clock_of(void *ctx) { return ((simulated *)ctx)->clock; }

static inline hd_status move(void *ctx, bool fragmented, double *part, hd_diag *d) {
  simulated *s = ctx;
  assert_true(fragmented || !s->fragmented);
  assert_true(fragmented || s->unsettled < 6); /* of at most 11 places the first half is memory of a piece */
  s->fragmented = fragmented;
  s->clock += s->moving;
  s->unsettled++;
  *part = 1;
  return ++s->place == s->fails_at ? hd_fail(d, HD_ERR_FAULT, "lost") : HD_OK;
}

static inline void settle(void *ctx) {
  simulated *s = ctx;
  s->unsettled = 0;
  s->fragmented = false;
}

static inline tuner_bench bench_of(simulated *s) {
  tuner_bench b = {.ctx = s, .admit = admit, .release = release, .time = time_slots, .clock = clock_of};
  if (s->listens) b.ahead = ahead;
  if (!s->luck) return b;
  b.move = move;
  b.settle = settle;
  b.moving = s->moving;
  return b;
}

static const hd_plan_space plane = {.grid = {64, 48, 1},
                                    .block = {32, 8, 1},
                                    .tasks = 64 * 48,
                                    .n_sms = 132,
                                    .resident = 8,
                                    .warps = 8,
                                    .loads = 3,
                                    .readonly = 2,
                                    .can_order = true,
                                    .can_loop = true,
                                    .can_swap_threads = true};

static inline void search_in(const hd_plan_space *space, simulated *s, double budget, search *out) {
  static const hd_plan_space *listed; /* thousands of tunings want the same list */
  static hd_candidate list[HD_CANDIDATES];
  static size_t n;
  search_options o = {.budget = budget, .confidence = 0.99};
  tuner_bench b = bench_of(s);
  hd_diag d = {0};
  if (listed != space) n = hd_candidates(space, list, HD_CANDIDATES);
  listed = space;
  assert_int_equal(tuner_search(out, &b, space, list, n, &o, &d), HD_OK);
  assert_int_equal(s->held, 0);
  assert_int_equal(s->unsettled, 0);
}

static inline void search_on(simulated *s, double budget, search *out) { search_in(&plane, s, budget, out); }

/* ---- Landscapes that several tests search ---- */

static inline double none_faster(const simulated *s, const hd_plan *p) { return 1; }

/* Two levers that pay together. */
static inline double two_levers(const simulated *s, const hd_plan *p) {
  double x = p->order.kind == HD_ORDER_COL ? 1.15 : 1;
  if (p->stream.kind == HD_STREAM_L1) x *= 1.1;
  if (p->bind != HD_BIND_NONE || p->prefetch.kind != HD_PREFETCH_NONE) x *= 0.8;
  return x;
}

/* As measured on an H100: the original takes 5% more or less as its buffers lie, every plan 2%. */
static inline double luck_of_places(const simulated *s, uint64_t plan, uint32_t place) {
  double x = (double)(hd_random_at(s->seed ^ plan, place) >> 11) * 0x1p-53 - 0.5;
  return 1 + (plan ? 0.04 : 0.1) * x;
}

#endif
