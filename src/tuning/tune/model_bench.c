/* Plans predicted: each is a replay of the workload's traces, and its time does not vary. */
#include <stdlib.h>
#include <string.h>

#include "tune/second_look.h"
#include "tune/tuner.h"

/* Of the work of a sampled replay, in a second look. */
enum { LOOK = 4 };

struct model_bench {
  hd_study *study;
  const hd_gpu *gpu;
  const hd_workload *w;
  hd_run_options run;
  hd_study_options how;
  second_look look;
  search_meter meter;
  HD_VEC(hd_counters) slots; /* plans that were replayed; never reused */
};

/* The replay looks at tasks only, so the rewriter is tried here: kernels may refuse the plan. */
static hd_status rewrite(model_bench *b, const hd_plan_set *set, hd_diag *d) {
  hd_resolved plans;
  hd_status st = hd_resolve(b->w, set, &b->run, b->study, &plans, d);
  if (st != HD_OK) return st;
  st = hd_apply_resolved(&plans, &b->run.compile, b->run.machine.n_sms, HD_TEXT_NONE, NULL, d);
  hd_resolved_free(&plans);
  return st;
}

/* Seconds of one idle core that a plan took, about. Replays go by the sectors that they asked for; plans that
 * change accesses are traced, too, and orders that need a table are worked out. */
static double took(const model_bench *b, const hd_plan *p, const hd_counters *c) {
  static const double traced = 0.5, tabled = 1, rewriting = 0.01;
  const double replay = hd_study_replay_seconds(b->study);
  const hd_counters *original = b->slots.n ? &b->slots.data[0] : c;
  const double sectors =
      original->l1_sectors && c->l1_sectors ? (double)c->l1_sectors / (double)original->l1_sectors : 1;
  return rewriting + replay * (sectors + (hd_plan_changes_tasks(p) ? traced : 0) +
                               (hd_order_needs_table(p->order.kind) ? tabled : 0));
}

/* A replay knows only one plan for all kernels. */
static hd_status admit(void *ctx, const hd_plan_set *plans, uint32_t *slot, double *us, hd_diag *d) {
  model_bench *b = ctx;
  const hd_plan *p = &plans->all;
  hd_counters c = {0};
  /* Tables of orders are worked out by the replay, from traces that are there, and found by the rewrite. */
  bool table = hd_order_needs_table(p->order.kind);
  hd_status st = search_meter_admits(&b->meter, d);
  if (st != HD_OK) return st;
  st = table ? HD_OK : rewrite(b, plans, d);
  if (st == HD_OK) st = tuner_blame(hd_study_replay(b->study, b->gpu, p, b->gpu->dispatch, 0, &c, d), plans);
  b->meter.worked += took(b, p, &c);
  if (st == HD_OK && table) st = rewrite(b, plans, d);
  if (st == HD_OK && !hd_vec_push(&b->slots, c)) st = hd_nomem(d);
  *slot = (uint32_t)(b->slots.n - 1);
  *us = c.time_us;
  return st;
}

static void release(void *ctx, uint32_t slot) {}

static hd_status time_slots(void *ctx, const uint32_t *slots, size_t n, uint32_t warmups, uint32_t rounds,
                            double *us, hd_diag *d) {
  const model_bench *b = ctx;
  for (size_t i = 0; i < n; i++)
    for (uint32_t r = 0; r < rounds; r++) us[i * rounds + r] = b->slots.data[slots[i]].time_us;
  return HD_OK;
}

static double asked(void *ctx, const hd_plan *p) {
  const model_bench *b = ctx;
  return promise_asked(b->study, p);
}

/* The best of many sampled times is partly the luckiest. Of short tasks a sample has a least size, which may
 * be more than was asked for: a second one would be the same, as one of a launch that is replayed whole. */
static hd_status again(void *ctx, const hd_plan *p, double *speedup, hd_diag *d) {
  model_bench *b = ctx;
  if (hd_study_part(b->study) >= 1 || (double)b->look.how.sample_units < 1.25 * hd_study_units(b->study))
    return HD_OK;
  return second_look_take(&b->look, p, speedup, d);
}

static double seconds(void *ctx) { return search_meter_now(&((model_bench *)ctx)->meter); }

static bool cut(void *ctx) { return search_meter_is_over(&((model_bench *)ctx)->meter); }

tuner_bench model_bench_interface(model_bench *b) {
  return (tuner_bench){.ctx = b,
                       .admit = admit,
                       .release = release,
                       .time = time_slots,
                       .clock = seconds,
                       .cut = cut,
                       .exact = true,
                       .asked = asked,
                       .again = again};
}

const hd_counters *model_bench_counters(const model_bench *b, uint32_t slot) { return &b->slots.data[slot]; }

hd_status model_bench_open(hd_study *s, const hd_gpu *g, const hd_workload *w, const hd_run_options *run,
                           const hd_study_options *how, model_bench **out, hd_diag *d) {
  model_bench *b = calloc(1, sizeof *b);
  *out = NULL;
  if (!b) return hd_nomem(d);
  b->study = s;
  b->gpu = g;
  b->w = w;
  b->run = *run;
  b->how = *how;
  b->run.machine.n_sms = g->n_sms;
  b->meter.until = run->budget.until;
  b->meter.stop = run->budget.stop;
  b->look = (second_look){.first = s, .g = g, .run = b->run, .how = b->how, .dispatch = g->dispatch};
  b->look.how.sample_units *= LOOK;
  *out = b;
  return HD_OK;
}

void model_bench_close(model_bench *b) {
  if (!b) return;
  second_look_close(&b->look);
  hd_vec_free(&b->slots);
  free(b);
}
