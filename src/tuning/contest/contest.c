/* A launch that can be repeated as a bench of the search. */
#include "heddle/contest.h"

#include <math.h>
#include <stdlib.h>

#include "contest/search.h"

/* The variants by their slots; the original, which has none, has its slots too. */
typedef struct holder {
  void *variant;
  bool used;
} holder;

struct hd_contest {
  hd_contest_bench bench;
  tuner_bench interface;
  HD_VEC(holder) slots;
  search search;
  hd_plan_space space;
  uint32_t wrong;
};

/* ---- The bench ---- */

static hd_status take_slot(hd_contest *c, void *variant, uint32_t *out, hd_diag *d) {
  size_t i = 0;
  while (i < c->slots.n && c->slots.data[i].used) i++;
  if (i == c->slots.n && !hd_vec_push(&c->slots, ((holder){0}))) return hd_nomem(d);
  c->slots.data[i] = (holder){variant, true};
  *out = (uint32_t)i;
  return HD_OK;
}

static hd_status first_run(hd_contest *c, void *variant, double *us, hd_diag *d) {
  bool same = false;
  double seconds;
  hd_status st = c->bench.run(c->bench.ctx, variant, &seconds, &same, d);
  if (st != HD_OK) return st;
  *us = seconds * 1e6;
  if (same) return HD_OK;
  c->wrong += variant != NULL;
  return hd_fail(d, HD_ERR_REFUSED, variant ? "it leaves other bytes" : "its results differ from run to run");
}

static hd_status admit(void *ctx, const hd_plan_set *plans, uint32_t *slot, double *us, hd_diag *d) {
  hd_contest *c = ctx;
  void *variant = NULL;
  hd_status st = HD_OK;
  if (!hd_plan_is_baseline(&plans->all)) st = c->bench.make(c->bench.ctx, &plans->all, &variant, d);
  if (st != HD_OK) return st;
  st = first_run(c, variant, us, d);
  if (st == HD_OK) st = take_slot(c, variant, slot, d);
  if (st != HD_OK && variant) c->bench.drop(c->bench.ctx, variant);
  return st;
}

static void release(void *ctx, uint32_t slot) {
  hd_contest *c = ctx;
  if (c->slots.data[slot].variant) c->bench.drop(c->bench.ctx, c->slots.data[slot].variant);
  c->slots.data[slot].variant = NULL;
  c->slots.data[slot].used = false;
}

/* Who begins changes from round to round. One of several that cannot be run any more has infinite times. */
static hd_status time_slots(void *ctx, const uint32_t *slots, size_t n, uint32_t warmups, uint32_t rounds,
                            double *us, hd_diag *d) {
  hd_contest *c = ctx;
  hd_status st = HD_OK;
  for (uint32_t r = 0; st == HD_OK && r < warmups + rounds; r++)
    for (size_t k = 0; st == HD_OK && k < n; k++) {
      const size_t i = (k + r) % n;
      double seconds;
      void *variant = c->slots.data[slots[i]].variant;
      st = c->bench.run(c->bench.ctx, variant, &seconds, NULL, d);
      if (variant && n > 1 && search_plans_fault(st)) {
        seconds = INFINITY;
        st = HD_OK;
      }
      if (st == HD_OK && r >= warmups) us[i * rounds + (r - warmups)] = seconds * 1e6;
    }
  return st;
}

static void ahead(void *ctx, const hd_plan_set *plans, size_t n) {
  const hd_contest *c = ctx;
  const hd_plan *all[TUNER_NEIGHBOURS + SEARCH_AHEAD];
  const size_t most = sizeof all / sizeof *all;
  for (size_t i = 0; i < n && i < most; i++) all[i] = &plans[i].all;
  c->bench.ahead(c->bench.ctx, all, n < most ? n : most);
}

static void enter(void *ctx, uint32_t state) {
  const hd_contest *c = ctx;
  c->bench.enter(c->bench.ctx, state);
}

static double now(void *ctx) {
  const hd_contest *c = ctx;
  return c->bench.now(c->bench.ctx);
}

/* ---- Contests ---- */

hd_status hd_contest_open(const hd_contest_bench *bench, const hd_contest_options *o,
                          const hd_plan_space *space, const hd_candidate *list, size_t n, hd_contest **out,
                          hd_diag *d) {
  *out = NULL;
  hd_contest *c = calloc(1, sizeof *c);
  if (!c) return hd_nomem(d);
  c->bench = *bench;
  c->space = *space;
  c->interface = (tuner_bench){.ctx = c,
                               .admit = admit,
                               .release = release,
                               .time = time_slots,
                               .clock = now,
                               .states = bench->states,
                               .enter = enter};
  if (bench->ahead) c->interface.ahead = ahead;
  const search_options so = {.budget = o->budget,
                             .confidence = 1 - (o->error > 0 ? o->error : 0.01),
                             .gain = o->gain > 0 ? o->gain : 1.01,
                             .seed = o->seed,
                             .undecided = true,
                             .handed = o->handed,
                             .least = o->least,
                             .most = o->most};
  hd_status st = tuner_search(&c->search, &c->interface, &c->space, list, n, &so, d);
  if (st == HD_OK && c->search.unaffordable)
    st = hd_fail_bound(d, HD_BOUND_TIME, "a launch takes too long for its budget");
  if (st != HD_OK) {
    hd_contest_close(c);
    return st;
  }
  *out = c;
  return HD_OK;
}

void hd_contest_look(const hd_contest *c, hd_contest_seen *out) {
  const search *s = &c->search;
  size_t at[SEARCH_FINALISTS], n = search_rank(s, at, SEARCH_FINALISTS);
  *out = (hd_contest_seen){.tried = c->wrong, .wrong = c->wrong, .untried = (uint32_t)s->left};
  for (size_t i = 0; i < s->trials.n; i++) {
    out->tried += s->trials.data[i].status == HD_OK;
    out->untried += s->trials.data[i].status == HD_ERR_BUDGET;
  }
  for (size_t i = 0; i < n; i++) {
    const search_trial *t = &s->trials.data[at[i]];
    if (t->score < search_least(s)) break;
    out->finalists[out->n_finalists++] =
        (hd_contest_finalist){&t->plan, c->slots.data[t->slot].variant, t->score};
  }
}

void hd_contest_take(hd_contest *c, const void *variant) {
  for (size_t i = 0; i < c->slots.n; i++)
    if (c->slots.data[i].variant == variant) c->slots.data[i].variant = NULL;
  for (size_t i = 0; i < c->search.trials.n; i++) {
    search_trial *t = &c->search.trials.data[i];
    if (t->ready && !c->slots.data[t->slot].variant) search_let_go(&c->search, t);
  }
}

hd_status hd_contest_decide(hd_contest *c, hd_contest_end *out, hd_diag *d) {
  search *s = &c->search;
  const double all = s->original_us * 1e-6;
  *out = (hd_contest_end){.speedup = {.median = 1, .low = 1, .high = 1, .confidence = s->o.confidence},
                          .before = all,
                          .after = all};
  hd_status st = search_decide(s, d);
  if (st != HD_OK) return st;
  out->won = s->adopted;
  out->decided = !s->undecided;
  if (s->best < 0) return HD_OK;
  const search_trial *t = &s->trials.data[s->best];
  out->plan = &t->plan;
  out->variant = t->ready ? c->slots.data[t->slot].variant : NULL;
  out->speedup = s->tested.speedup;
  out->before = s->tested.before_us * 1e-6;
  out->after = s->tested.after_us * 1e-6;
  return HD_OK;
}

void hd_contest_close(hd_contest *c) {
  if (!c) return;
  if (c->search.bench) search_let_all_go(&c->search);
  search_free(&c->search);
  hd_vec_free(&c->slots);
  free(c);
}
