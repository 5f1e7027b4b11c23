/* A plan against the original, in several places of the buffers in memory.
 *
 * Both are ready at once and run in turns in each place, so that a place is a pair. Which of them begins
 * alternates, for the first run in a place finds cold address translations; half way both are loaded again,
 * for where code and tables come to lie is chance as well.
 *
 * The first half of the places is memory of a piece, the second one fragmented. A fresh process gets the
 * first kind, and all of it is much alike; one that has allocated and freed for a while, or shares the GPU,
 * gets the other.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contest/search.h"

enum { MOST_PLACES = 64, MOST_ROUNDS = 5, MOST_SHORT_ROUNDS = 11 };
/* Runs, in seconds: of short ones more rounds cost next to nothing, and vary more; of slow ones one says all.
 */
static const double short_run = 1e-3, slow_run = 20e-3;

uint32_t confirm_places(double confidence) {
  uint32_t n = 1;
  while (n < MOST_PLACES && !hd_median_interval(n, confidence)) n++;
  return n;
}

static bool is_slow(double second) { return second >= slow_run; }

/* One round in each place, and its warm-up. */
double confirm_takes(const tuner_bench *b, double second, double confidence) {
  return confirm_places(confidence) * (b->moving + 2 * second * (is_slow(second) ? 1 : 2));
}

void confirm_afford(const tuner_bench *b, double second, double seconds, confirm_options *o) {
  uint32_t most = second < short_run ? MOST_SHORT_ROUNDS : MOST_ROUNDS;
  o->slow = is_slow(second);
  double left = seconds / confirm_places(o->confidence) - b->moving;
  double rounds = second > 0 ? left / (2 * second) - !o->slow : most;
  o->rounds = rounds < 1 ? 1 : rounds > most ? most : (uint32_t)rounds;
}

/* ---- Pairs of slots ------------------------------------------------------------------- */

typedef struct pair {
  const tuner_bench *bench;
  const hd_plan_set *plans[2]; /* before, after */
  uint32_t slots[2];
  uint32_t held;
} pair;

static void release(pair *p) {
  while (p->held) p->bench->release(p->bench->ctx, p->slots[--p->held]);
}

static hd_status load(pair *p, hd_diag *d) {
  hd_status st = HD_OK;
  double rough;
  release(p);
  for (int i = 0; st == HD_OK && i < 2; i++) {
    st = p->bench->admit(p->bench->ctx, p->plans[i], &p->slots[i], &rough, d);
    p->held += st == HD_OK;
  }
  return st;
}

/* ---- Places -------------------------------------------------------------------------------- */

/* The times of all places, the original's and the plan's; their ratios, place by place. */
typedef struct observations {
  double *us[2], *round; /* round: room for those of one place */
  double *ratio, *one;
  uint32_t n; /* of us[0] and of us[1] */
} observations;

static hd_status observe(pair *p, uint32_t place, const confirm_options *o, observations *w, search_test *out,
                         hd_diag *d) {
  const tuner_bench *b = p->bench;
  uint32_t first = place % 2, slots[2] = {p->slots[first], p->slots[!first]};
  double part = 1;
  hd_speedup here;
  hd_status st = b->move(b->ctx, 2 * place >= confirm_places(o->confidence), &part, d);
  if (st == HD_OK) st = b->time(b->ctx, slots, 2, !o->slow, o->rounds, w->round, d);
  if (st != HD_OK) return st;
  for (int i = 0; i < 2; i++)
    memcpy(w->us[i] + w->n, w->round + (first ? !i : i) * o->rounds, o->rounds * sizeof *w->round);
  st = hd_paired_speedup(w->us[0] + w->n, w->us[1] + w->n, o->rounds, o->confidence, &here, d);
  if (st != HD_OK) return st;
  w->n += o->rounds;
  w->ratio[place] = here.median;
  w->one[place] = 1;
  hd_tune_places *all = &out->places;
  all->least = place ? fmin(all->least, here.median) : here.median;
  all->most = place ? fmax(all->most, here.median) : here.median;
  all->moved = place ? fmin(all->moved, part) : part;
  all->n = place + 1;
  return HD_OK;
}

static hd_status visit(pair *p, const confirm_options *o, observations *w, search_test *out, hd_diag *d) {
  uint32_t n = confirm_places(o->confidence);
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < n && (!i || out->places.least > o->least); i++) {
    if (!i || (i == n / 2 && !o->slow)) st = load(p, d);
    if (st == HD_OK) st = observe(p, i, o, w, out, d);
  }
  if (st == HD_OK) st = hd_paired_speedup(w->ratio, w->one, out->places.n, o->confidence, &out->speedup, d);
  if (st != HD_OK) return st;
  out->before_us = hd_median(w->us[0], w->n);
  out->after_us = hd_median(w->us[1], w->n);
  return HD_OK;
}

hd_status search_confirm(const tuner_bench *b, const hd_plan_set *before, const hd_plan_set *after,
                         const confirm_options *o, search_test *out, hd_diag *d) {
  size_t n = confirm_places(o->confidence), rounds = o->rounds;
  double *room = calloc(2 * n * rounds + 2 * rounds + 2 * n, sizeof *room);
  if (!room) return hd_nomem(d);
  observations w = {.us = {room, room + n * rounds}, .round = room + 2 * n * rounds};
  w.ratio = w.round + 2 * rounds;
  w.one = w.ratio + n;
  pair both = {.bench = b, .plans = {before, after}};
  *out = (search_test){0};
  hd_status st = visit(&both, o, &w, out, d);
  release(&both);
  b->settle(b->ctx);
  free(room);
  return st;
}
