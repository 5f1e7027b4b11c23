/* The search: which plans are measured how often, and whether the best one is adopted.
 *
 * - screening: candidates in batches, a few rounds each with the original among them, until their share of
 *   the budget is spent, or longer while few were seen. The next batch is chosen by the candidates' priors
 *   and by the evidence on their families (hd_plan_family): an unknown family comes early, one that wins is
 *   explored, one that loses or stays flat waits. Once a plan leads by far and the next batches bring no
 *   better one, climbing begins
 * - a second look: where no plan seems to win, the best few once more with the original loaded again and all
 *   buffers elsewhere, then further candidates until the budget of all stages is spent
 * - halving: the better half again with twice the rounds, until few are left; the best of each family stays
 *   longer than its score alone would let it
 * - climbing: neighbours of the best (SMC 5.1), and its levers with those of others, while that helps
 * Where times are exact, as a model's are, all that is left is the choice of the fastest plan that promises
 * what is asked of its kind. Where nothing can be moved, the few best and the original run in turns until it
 * is sure which of them is the fastest (decide.c). Else there are
 *
 * - finals: the few best, loaded again, with new rounds in two places, ranked by the lesser median
 * - the test: the first one against the original, with rounds that decide nothing else, in places that chose
 *   nothing; should it owe its win to where buffers lay, the next ones too
 * - another choice: where none passed, finals and tests of those that came next
 *
 * Three kinds of chance make a plan seem faster. Noise differs from round to round: a few per mil, with
 * outliers, against which medians of 5 to 20 rounds help. A place in memory favours the original or a plan by
 * some percent for as long as buffers lie there, and so does the loading of code and tables: more rounds do
 * not help, other places and loadings do. Screening has one place and one loading, which is fair enough
 * between plans, for a lucky original lowers all ratios alike; it is not fair to a plan that gains less than
 * that luck, hence the second look. Of two places the lesser median counts, because a plan that was lucky in
 * one is seldom lucky in the other, while one that wins wins in both.
 *
 * A plan of which no pair reached the gain that adoption takes is not followed further: with noise as small
 * as long kernels have it that leaves nothing to follow where nothing helps.
 *
 * Noise favours the best of many noisy times. The last step keeps that from doing harm: its places are
 * independent of the choice, so that a plan which gains nothing passes one test in 2^n cases, n being the
 * number of places. The first test takes 8 places, the others of the first choice 10 each, and the four of
 * another choice 11 each, which makes 1/256 + 3/1024 + 4/2048, less than 1%, however many plans were tried.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contest/search.h"

enum { CLIMB_ROUNDS = 7, MOST_CLIMBS = 12, MOST_AGAIN = 16 };

/* Parts of the budget at whose end a stage is over; the rest is the test's. */
static const double screening_ends = 0.55, climbing_ends = 0.78, finals_end = 0.88;
static const double step_worth = 1.003; /* by which a step must be faster to go on from it */
static const double long_step = 1.01;   /* by which it is worth more time than the budget's */
/* The most that the test alone may take, in budgets; a kernel that is slower still is left alone. */
static const double most_over_budget = 2;

/* ---- Climbing ---------------------------------------------------------------------------------- */

static void announce_new(search *s, const hd_plan *plans, size_t n) {
  const hd_plan *fresh[TUNER_NEIGHBOURS];
  size_t k = 0;
  for (size_t i = 0; i < n; i++)
    if (!search_is_known(s, &plans[i])) fresh[k++] = &plans[i];
  search_announce(s, fresh, k);
}

double search_overtime(const search *s, double until) { return until + s->spare; }

/* Admit those neighbours of a trial that are new and measure them with it. *better: one of them is. */
static hd_status step(search *s, size_t from, double until, size_t *better, hd_diag *d) {
  hd_plan plans[TUNER_NEIGHBOURS];
  size_t at[TUNER_NEIGHBOURS + 1], n = 0;
  size_t m = tuner_neighbours(s->space, s->trials.data, s->trials.n, from, plans);
  hd_status st = HD_OK;
  *better = from;
  at[n++] = from;
  announce_new(s, plans, m);
  for (size_t i = 0; st == HD_OK && i < m && search_now(s) < until; i++) {
    if (search_is_known(s, &plans[i])) continue;
    if (!hd_vec_reserve(&s->trials, s->trials.n + 1)) return hd_nomem(d);
    search_trial *t = &s->trials.data[s->trials.n];
    *t = (search_trial){.plan = plans[i], .family = hd_plan_family(&plans[i])};
    s->trials.n++;
    st = search_admit(s, s->trials.n - 1, d);
    if (st == HD_OK && s->trials.data[s->trials.n - 1].ready) at[n++] = s->trials.n - 1;
  }
  if (st != HD_OK || n == 1) return st;
  uint32_t rounds = search_first_rounds(s);
  st = search_measure(s, at, n, 0, rounds < 3 ? rounds : CLIMB_ROUNDS, d);
  for (size_t i = 1; st == HD_OK && i < n; i++) {
    search_trial *t = &s->trials.data[at[i]];
    /* Even where it beats the plan it came from, which new rounds may have shown to be slow. */
    if (!search_is_hopeful(t))
      search_let_go(s, t);
    else if (t->score > s->trials.data[*better].score * step_worth)
      *better = at[i];
  }
  return st;
}

/* Where a second climb begins: the best of another family than the first one's, unless that is far behind. */
static size_t second_start(const search *s, const size_t *at, size_t n) {
  static const double far_behind = 0.95;
  const search_trial *first = &s->trials.data[at[0]];
  for (size_t k = 1; k < n; k++) {
    const search_trial *t = &s->trials.data[at[k]];
    if (t->family != first->family && t->score >= far_behind * first->score) return at[k];
  }
  return n > 1 ? at[1] : at[0];
}

/* A step that gained much, and the first one behind a good start, may be followed by one beyond that time. */
static hd_status climb_from(search *s, size_t from, double until, hd_diag *d) {
  const double latest = search_overtime(s, until);
  hd_status st = HD_OK;
  if (s->trials.data[from].score < SEARCH_PROMISING) return HD_OK;
  bool gains = s->trials.data[from].score >= long_step;
  for (size_t i = 0, to; st == HD_OK && i < MOST_CLIMBS; i++) {
    if (search_now(s) >= (gains ? latest : until)) break;
    st = step(s, from, gains ? latest : until, &to, d);
    search_report(s, "climbing", i, MOST_CLIMBS);
    if (to == from) break;
    gains = s->trials.data[to].score >= s->trials.data[from].score * long_step;
    from = to;
  }
  search_ran_late(s, until);
  return st;
}

/* When a stage is over that ends with that part of a budget: later by what those before it took beyond. */
static double ends(const search *s, double part, double budget) {
  return part * budget + s->o.overtime * budget - s->spare;
}

static hd_status climb(search *s, double budget, hd_diag *d) {
  size_t at[SEARCH_FINALISTS];
  size_t n = search_rank(s, at, SEARCH_FINALISTS);
  if (!n) return HD_OK;
  size_t second = second_start(s, at, n);
  hd_status st = climb_from(s, at[0], ends(s, climbing_ends, budget), d);
  if (st == HD_OK && second != at[0] && s->trials.data[second].ready)
    st = climb_from(s, second, ends(s, climbing_ends, budget), d);
  n = search_rank_families(s, at, SEARCH_FINALISTS);
  search_keep_only(s, at, n);
  return st;
}

/* ---- Finals and the test --------------------------------------------------------------------------- */

/* Rounds of n slots that fit until then. */
static uint32_t affordable(const search *s, size_t n, double until, uint32_t least, uint32_t most) {
  double left = until - search_now(s), round = s->second * (double)n;
  double rounds = round > 0 ? left / round : most;
  return rounds <= least ? least : rounds >= most ? most : (uint32_t)rounds;
}

/* Load plans again, so that the place of their code and its compilation differ. *slot stays where that
 * fails. */
static hd_status load_again(const search *s, const hd_plan_set *plans, uint32_t *slot, hd_diag *d) {
  uint32_t fresh;
  double us;
  hd_status st = s->bench->admit(s->bench->ctx, plans, &fresh, &us, d);
  if (st != HD_OK) return st;
  s->bench->release(s->bench->ctx, *slot);
  *slot = fresh;
  return HD_OK;
}

static hd_status load_original_again(search *s, hd_diag *d) {
  return load_again(s, s->o.fixed ? s->o.fixed : &hd_plan_set_original, &s->original, d);
}

/* Those that cannot be loaded again stay as they are: the test will say more. */
static hd_status load_finalists_again(search *s, const size_t *at, size_t n, double until, hd_diag *d) {
  hd_status st = load_original_again(s, d);
  for (size_t i = 0; st == HD_OK && i < n && search_now(s) < until; i++) {
    search_trial *t = &s->trials.data[at[i]];
    const hd_plan_set plans = search_plans(s, &t->plan);
    hd_diag e = {0};
    st = load_again(s, &plans, &t->slot, &e);
    if (search_plans_fault(st))
      st = HD_OK;
    else if (st != HD_OK && d)
      *d = e;
  }
  return st;
}

/* New rounds of the finalists where buffers lie now: earlier ones chose them, and so favour them. */
static hd_status compete(search *s, const size_t *at, size_t n, uint32_t rounds, double *least, hd_diag *d) {
  for (size_t i = 0; i < n; i++) s->trials.data[at[i]].n = 0;
  hd_status st = search_measure(s, at, n, 1, rounds, d);
  for (size_t i = 0; i < n; i++) least[i] = fmin(least[i], s->trials.data[at[i]].score);
  return st;
}

static hd_status finals(search *s, double until, hd_diag *d) {
  enum { PLACES = 2 };
  const tuner_bench *b = s->bench;
  size_t at[SEARCH_FINALISTS];
  size_t n = search_rank(s, at, SEARCH_FINALISTS);
  double least[SEARCH_FINALISTS] = {INFINITY, INFINITY, INFINITY, INFINITY}, part;
  if (n < 2) {
    s->best = n ? (int64_t)at[0] : -1;
    return HD_OK;
  }
  hd_status st = load_finalists_again(s, at, n, until, d);
  uint32_t rounds = affordable(s, PLACES * (n + 1), until - b->moving, 2, SEARCH_FINAL_ROUNDS / PLACES);
  for (uint32_t p = 0; st == HD_OK && p < PLACES; p++) {
    if (p) st = b->move(b->ctx, false, &part, d);
    if (st == HD_OK) st = compete(s, at, n, rounds, least, d);
  }
  b->settle(b->ctx);
  for (size_t i = 0; st == HD_OK && i < n; i++) s->trials.data[at[i]].score = least[i];
  search_rank(s, at, n);
  s->best = (int64_t)at[0];
  return st;
}

/* Measure a plan afresh, in other places. */
static hd_status test_one(const search *s, const hd_plan *p, double confidence, search_test *out,
                          hd_diag *d) {
  const hd_plan_set plans = search_plans(s, p), *before = s->o.fixed ? s->o.fixed : &hd_plan_set_original;
  const tuner_bench *b = s->bench;
  confirm_options o = {.confidence = confidence, .least = 1};
  confirm_afford(b, s->second, s->o.budget - search_now(s), &o);
  return search_confirm(b, before, &plans, &o, out, d);
}

static double least_test(const search *s) {
  const tuner_bench *b = s->bench;
  if (b->exact || s->o.handed) return 0;
  return b->move ? confirm_takes(b, s->second, s->o.confidence) : (2 * SEARCH_LEAST_TEST + 2) * s->second;
}

/* The best one is the first that passes; else the first. A plan may owe its win to where buffers lay while it
 * was chosen: then the next one is worth a test, if there is time left. Tests behind the first err more
 * seldom, so that all of them together still adopt a plan that gains nothing in less than 1% of all cases. */
static hd_status test(search *s, double stricter, hd_diag *d) {
  size_t at[SEARCH_FINALISTS], n = search_rank(s, at, SEARCH_FINALISTS);
  search_keep_only(s, NULL, 0);
  s->best = -1;
  for (size_t i = 0; i < n && !s->adopted; i++) {
    search_trial *t = &s->trials.data[at[i]];
    search_test result;
    hd_diag e = {0};
    if (t->score < SEARCH_PROMISING || (i && search_now(s) + least_test(s) > s->o.budget)) break;
    search_report(s, "testing", i, n);
    t->tested = true;
    hd_status st =
        test_one(s, &t->plan, 1 - (1 - s->o.confidence) / (i ? fmax(stricter, 4) : stricter), &result, &e);
    if (st != HD_OK && !search_plans_fault(st)) {
      if (d) *d = e;
      return st;
    }
    if (st != HD_OK) {
      /* It was ready before, and is not now. */
      t->status = st;
      hd_diag_line(&e, t->why, sizeof t->why);
      continue;
    }
    s->adopted = result.speedup.low > 1 && result.speedup.median >= SEARCH_LEAST_GAIN;
    if (s->best < 0 || s->adopted) {
      s->best = (int64_t)at[i];
      s->tested = result;
    }
  }
  search_report(s, "testing", n, n);
  return HD_OK;
}

/* ---- Exact times ------------------------------------------------------------------------------------ */

/* The fastest trial that was not looked at; -1: none is left. */
static int64_t next_best(const search *s) {
  int64_t best = -1;
  for (size_t i = 0; i < s->trials.n; i++) {
    const search_trial *t = &s->trials.data[i];
    if (t->status != HD_OK || t->tested || t->score < SEARCH_PROMISING) continue;
    if (best < 0 || t->score > s->trials.data[best].score) best = (int64_t)i;
  }
  return best;
}

static void take_promise(search *s, double speedup) {
  s->tested.speedup = (hd_speedup){
      .median = speedup, .low = speedup, .high = speedup, .pairs = 1, .confidence = s->o.confidence};
  s->tested.before_us = s->original_us;
  s->tested.after_us = s->original_us / speedup;
}

/* Further rounds would tell what is known. The fastest plan may be of a kind of which much is asked: then
 * others behind it are content with less. */
static hd_status choose_exact(search *s, hd_diag *d) {
  enum { LOOKS = 4 };
  const tuner_bench *b = s->bench;
  uint32_t looks = 0;
  s->best = next_best(s);
  if (s->best >= 0) take_promise(s, s->trials.data[s->best].score);
  for (int64_t i = s->best; i >= 0 && !s->adopted && looks < LOOKS; i = next_best(s)) {
    search_trial *t = &s->trials.data[i];
    const double asked = fmax(b->asked ? b->asked(b->ctx, &t->plan) : 0, SEARCH_LEAST_GAIN);
    double promised = t->score;
    t->tested = true;
    if (promised >= asked && b->again) {
      hd_diag e = {0};
      hd_status st = b->again(b->ctx, &t->plan, &promised, &e);
      looks++;
      if (st != HD_OK && !search_plans_fault(st)) {
        if (d) *d = e;
        return st;
      }
      if (st != HD_OK) promised = 0;
    }
    s->adopted = promised >= asked;
    if (i == s->best || s->adopted) s->asked = s->adopted ? 0 : asked;
    if (promised > 0 && (i == s->best || s->adopted)) take_promise(s, promised);
    if (s->adopted) s->best = i;
  }
  return HD_OK;
}

/* ---- All of it ----------------------------------------------------------------------------------------- */

size_t hd_contest_order(hd_candidate *list, size_t n) {
  size_t left = 0;
  for (size_t i = 0; i < n; i++) {
    const hd_candidate c = list[i];
    bool known = hd_plan_is_baseline(&c.plan);
    for (size_t k = 0; !known && k < left; k++) known = hd_plan_equal(&list[k].plan, &c.plan);
    if (known) continue;
    size_t at = left++;
    for (; at && list[at - 1].prior < c.prior; at--) list[at] = list[at - 1];
    list[at] = c;
  }
  return left;
}

static hd_status take_candidates(search *s, const hd_candidate *list, size_t n, hd_diag *d) {
  hd_candidate *ordered = malloc((n + 1) * sizeof *ordered);
  if (!ordered || !hd_vec_reserve(&s->waiting, n)) {
    free(ordered);
    return hd_nomem(d);
  }
  if (n) memcpy(ordered, list, n * sizeof *list);
  n = hd_contest_order(ordered, n);
  for (size_t i = 0; i < n; i++)
    s->waiting.data[s->waiting.n++] = (search_waiting){ordered[i], hd_plan_family(&ordered[i].plan)};
  free(ordered);
  return HD_OK;
}

/* The first run of all finds cold clocks; the second one is the measure for others. Where a run takes long
 * that makes no difference. */
static hd_status time_original(search *s, hd_diag *d) {
  const tuner_bench *b = s->bench;
  s->second = s->original_us * 1e-6;
  if (s->original_us < 100e3) {
    double us[2], begin = search_now(s);
    hd_status st = b->time(b->ctx, &s->original, 1, b->exact ? 0 : 1, 1, us, d);
    if (st != HD_OK) return st;
    s->second = (search_now(s) - begin) / 2;
    s->original_us = us[0];
  }
  s->tested.before_us = s->tested.after_us = s->original_us;
  return HD_OK;
}

/* ---- The second look ------------------------------------------------------------------------------- */

/* By the medians: where many are tried, one of some pair reaches any gain. */
static bool some_seem_to_win(const search *s) {
  for (size_t i = 0; i < s->trials.n; i++)
    if (s->trials.data[i].ready && s->trials.data[i].score >= SEARCH_LEAST_GAIN) return true;
  return false;
}

/* The best of all trials of so many pairs at least, but for those that were tested. */
static size_t rank_all(const search *s, uint32_t pairs, size_t *out, size_t cap) {
  size_t n = 0;
  for (size_t i = 0; i < s->trials.n; i++) {
    const search_trial *t = &s->trials.data[i];
    if (t->n < pairs || t->tested) continue;
    size_t k = n < cap ? n++ : cap;
    for (; k && t->score > s->trials.data[out[k - 1]].score; k--)
      if (k < cap) out[k] = out[k - 1];
    if (k < cap) out[k] = i;
  }
  return n;
}

/* The original may be lucky where it was loaded and its buffers lie: no plan that gains less than that luck
 * seems to win there. The few that came nearest are measured once more with another loading, elsewhere. */
static hd_status look_again(search *s, size_t most, hd_diag *d) {
  const tuner_bench *b = s->bench;
  size_t at[MOST_AGAIN], n = rank_all(s, 2, at, most), ready = 0; /* 1: its first run was its last */
  double part;
  if (!n || !b->move) return HD_OK;
  search_keep_only(s, NULL, 0);
  hd_status st = load_original_again(s, d);
  if (st == HD_OK) st = b->move(b->ctx, false, &part, d);
  b->settle(b->ctx);
  if (st == HD_OK) st = time_original(s, d);
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    s->trials.data[at[i]].n = 0;
    st = search_admit(s, at[i], d);
    if (st == HD_OK && s->trials.data[at[i]].ready) at[ready++] = at[i];
  }
  if (st == HD_OK) st = search_measure(s, at, ready, 0, search_first_rounds(s), d);
  for (size_t i = 0; st == HD_OK && i < ready; i++)
    if (!search_is_hopeful(&s->trials.data[at[i]])) search_let_go(s, &s->trials.data[at[i]]);
  search_report(s, "screening", s->trials.n, s->trials.n + s->waiting.n);
  return st;
}

double search_least(const search *s) { return s->o.least > 0 ? s->o.least : SEARCH_PROMISING; }

/* Plans that seem to lose are finalists if the caller says so: what it decides by may speak for them. */
static hd_status fill_up(search *s, hd_diag *d) {
  size_t at[SEARCH_FINALISTS], n = rank_all(s, 1, at, SEARCH_FINALISTS);
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    const search_trial *t = &s->trials.data[at[i]];
    if (!t->ready && t->status == HD_OK && t->score >= search_least(s)) st = search_admit(s, at[i], d);
  }
  return st;
}

/* Nothing seems to win so far. */
static hd_status find_late(search *s, double until, hd_diag *d) {
  hd_status st = look_again(s, SEARCH_FINALISTS, d);
  if (st != HD_OK || some_seem_to_win(s)) return st;
  st = search_screen(s, until, d);
  return st == HD_OK ? search_halve(s, until, d) : st;
}

/* ---- Another choice --------------------------------------------------------------------------------- */

/* No finalist passed its test. Where a kernel's time depends so much on where its buffers lie, that chose the
 * finalists, too: those that came behind them are measured, and the best of these tested, elsewhere. */
static hd_status choose_again(search *s, hd_diag *d) {
  static const double stricter = 8;
  const double until = search_overtime(s, s->o.budget), test_takes = least_test(s);
  const int64_t best = s->best;
  const search_test tested = s->tested;
  hd_status st = HD_OK;
  if (search_now(s) + 2 * test_takes > until) return HD_OK;
  s->o.budget = until;
  st = look_again(s, MOST_AGAIN, d);
  size_t at[SEARCH_FINALISTS], n = search_rank(s, at, SEARCH_FINALISTS);
  search_keep_only(s, at, n);
  if (st == HD_OK && n) st = finals(s, until - test_takes, d);
  if (st == HD_OK && n) st = test(s, stricter, d);
  if (s->adopted) return st;
  s->best = best;
  s->tested = tested;
  return st;
}

static void forget_candidates(search *s) {
  s->left += s->waiting.n;
  s->waiting.n = 0;
}

/* Where buffers can be moved: in places that chose nothing. */
static hd_status choose_in_places(search *s, double budget, hd_diag *d) {
  hd_status st = finals(s, ends(s, finals_end, budget), d);
  s->cut |= s->bench->cut && s->bench->cut(s->bench->ctx);
  if (st != HD_OK || s->cut || s->best < 0 || s->trials.data[s->best].score < SEARCH_PROMISING) return st;
  st = test(s, 1, d);
  return st == HD_OK && !s->adopted ? choose_again(s, d) : st;
}

static hd_status choose(search *s, double budget, hd_diag *d) {
  s->cut = s->bench->cut && s->bench->cut(s->bench->ctx);
  if (s->cut || s->o.undecided) return HD_OK;
  return s->bench->exact  ? choose_exact(s, d)
         : s->bench->move ? choose_in_places(s, budget, d)
                          : search_decide(s, d);
}

/* All stages up to the finalists. */
static hd_status look(search *s, double budget, hd_diag *d) {
  hd_status st = search_screen(s, screening_ends * budget, d);
  if (st == HD_OK) st = search_halve(s, ends(s, climbing_ends, budget), d);
  if (st == HD_OK && !some_seem_to_win(s)) st = find_late(s, ends(s, finals_end, budget), d);
  forget_candidates(s); /* candidates beyond the budget were not tried */
  if (st == HD_OK) st = climb(s, budget, d);
  return st == HD_OK && s->o.least > 0 ? fill_up(s, d) : st;
}

void search_let_all_go(search *s) {
  search_keep_only(s, NULL, 0);
  if (s->holds_original) s->bench->release(s->bench->ctx, s->original);
  s->holds_original = false;
}

hd_status tuner_search(search *s, const tuner_bench *b, const hd_plan_space *space, const hd_candidate *list,
                       size_t n, const search_options *o, hd_diag *d) {
  *s = (search){.bench = b,
                .space = space,
                .o = *o,
                .best = -1,
                .tested.speedup = {.median = 1, .low = 0, .high = INFINITY, .confidence = o->confidence}};
  s->start = b->clock(b->ctx);
  hd_status st = take_candidates(s, list, n, d);
  s->room = calloc((o->fixed ? o->fixed->n : 0) + 1, sizeof *s->room);
  if (st == HD_OK && !s->room) st = hd_nomem(d);
  if (st == HD_OK)
    st = b->admit(b->ctx, o->fixed ? o->fixed : &hd_plan_set_original, &s->original, &s->original_us, d);
  s->holds_original = st == HD_OK;
  if (st == HD_OK) st = time_original(s, d);
  /* The test is worth more than any other measurement: its least is set aside first. */
  double test_takes = least_test(s), budget = s->o.budget - test_takes;
  s->unaffordable = test_takes > most_over_budget * s->o.budget;
  if (budget < s->o.budget / 4) budget = s->o.budget / 4;
  if (s->unaffordable) forget_candidates(s);
  s->spare = o->overtime * budget;
  if (st == HD_OK) st = look(s, budget, d);
  if (st == HD_OK) st = choose(s, budget, d);
  s->cut |= b->cut && b->cut(b->ctx);
  s->adopted &= !s->cut;
  if (st != HD_OK || !o->undecided) search_let_all_go(s);
  return st;
}

void search_free(search *s) {
  forget_candidates(s);
  hd_vec_free(&s->waiting);
  free(s->room);
  for (size_t i = 0; i < s->trials.n; i++) free(s->trials.data[i].ratios);
  hd_vec_free(&s->trials);
}
