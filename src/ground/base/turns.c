/* The sequential test behind turns.h. What it keeps of an arm are counts: in how many rounds it was faster
 * than each other arm. The mixture's wealth depends on two counts only, so that a bet has won if the rounds
 * won are at least as many as a table says for the rounds lost. */
#include "heddle/turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The mixture: biases that a bet may have (chance of a side, less that of the other), and the wealth that
 * each begins with. A third goes to sides that all but always win, so that an arm of half the speed is out
 * after 8 pairs if it is the only one, and after 13 if there are 15. */
static const struct {
  double bias, wealth;
} mixture[] = {{.96, .35}, {.85, .15}, {.70, .10}, {.50, .10}, {.35, .06},
               {.25, .06}, {.18, .05}, {.12, .05}, {.08, .04}, {.05, .04}};
enum { BIASES = sizeof mixture / sizeof *mixture };

/* need[l]: rounds won that decide a bet of l rounds lost. Computed as far as they were asked for. */
typedef struct frontier {
  double threshold, wealth[BIASES]; /* at need[known - 1] won, known - 1 lost */
  uint32_t known;
  uint16_t need[HD_TURNS_PAIRS + 1];
} frontier;

/* Offsets of log times that depend on the launch's number modulo a period. */
enum { PERIODS = 4 }; /* 1..4; of period 1 there is none: what the others must be better than */
typedef struct offsets {
  double of[PERIODS + 1], error; /* mean absolute distance from what was foreseen */
  uint32_t seen[PERIODS + 1], told;
} offsets;

typedef struct arm {
  bool out, spent;                /* spent: because of what it cost alone */
  uint32_t crossed;               /* pairs when its bet against "not above gain" had won; 0: it has not */
  uint32_t pairs, launches, next; /* next: the round that it reports next */
  double sum, spread;             /* of the log ratios of its pairs; of their absolute values */
  double log_seconds, level;      /* sum of its log times; their running mean */
  double lost;
  float *ratio; /* logs of all pairs, ascending */
} arm;

typedef struct round {
  uint32_t arms;           /* a bit each */
  uint32_t n, dealt, left; /* order[0..n), of which `dealt` were dealt out; `left` not yet reported */
  uint8_t order[HD_TURNS_ARMS];
  uint32_t at[HD_TURNS_ARMS];                        /* by arm: number of the launch */
  double seconds[HD_TURNS_ARMS], log[HD_TURNS_ARMS]; /* by arm; NaN: dropped */
} round_t;

struct hd_turns {
  hd_turns_options o;
  double log_gain, patience;
  uint32_t n; /* arms */
  hd_turns_end end;
  bool finished;
  uint32_t winner, first_won;     /* rounds when the first arm crossed; 0: none has */
  uint32_t calls, dealt, drawn;   /* launches of the job; of the contest; random numbers used */
  uint32_t begun, closed, period; /* rounds; the period of the offsets that are in use */
  arm arms[HD_TURNS_ARMS];
  uint16_t faster[HD_TURNS_ARMS]
                 [HD_TURNS_ARMS]; /* rounds in which the first was faster; than the original: by gain */
  offsets offsets[PERIODS + 1];
  round_t rounds[HD_TURNS_AHEAD];
  frontier bets;
  float ratios[];
};
_Static_assert(sizeof(hd_turns) > 32 * 1024 && sizeof(hd_turns) <= 34 * 1024, "as turns.h has it");

/* ---- Bets ---- */

static double wealth_of(const frontier *f) {
  double sum = 0;
  for (int i = 0; i < BIASES; i++) sum += f->wealth[i];
  return sum;
}

static uint32_t need_of(frontier *f, uint32_t lost) {
  for (; f->known <= lost; f->known++) {
    uint32_t won = f->known ? f->need[f->known - 1] : 0;
    for (int i = 0; i < BIASES; i++) f->wealth[i] *= f->known ? 1 - mixture[i].bias : 1;
    for (; wealth_of(f) < f->threshold; won++)
      for (int i = 0; i < BIASES; i++) f->wealth[i] *= 1 + mixture[i].bias;
    f->need[f->known] = (uint16_t)won;
  }
  return f->need[lost];
}

static bool beats(hd_turns *t, uint32_t a, uint32_t b) {
  return t->faster[a][b] >= need_of(&t->bets, t->faster[b][a]);
}

/* Pairs after which an arm that gains twice `gain` would have won, by a sign test of power 0.99 on normal
 * noise of the spread seen. An arm that has not won by then gains less, if anything. */
static uint32_t patience(const hd_turns *t, const arm *a) {
  enum { LEAST = 64 };
  double deviation = 1.2533 * a->spread / a->pairs; /* sqrt(pi / 2): a normal's, of its mean absolute value */
  double ratio = deviation / t->log_gain, pairs = t->patience * ratio * ratio;
  return pairs < LEAST ? LEAST : pairs < HD_TURNS_PAIRS ? (uint32_t)pairs : HD_TURNS_PAIRS;
}

/* ---- Opening ---- */

static hd_status wrong_options(const hd_turns_options *o, uint32_t arms, hd_diag *d) {
  if (arms < 2 || arms > HD_TURNS_ARMS)
    return hd_fail(d, HD_ERR_INPUT, "a contest has 2 to %d arms, not %u", HD_TURNS_ARMS, arms);
  if (!(o->error > 0 && o->error < 1))
    return hd_fail(d, HD_ERR_INPUT, "a chance of error is between 0 and 1, not %g", o->error);
  if (!(o->gain >= 1 && isfinite(o->gain)))
    return hd_fail(d, HD_ERR_INPUT, "a gain to find is at least 1, not %g", o->gain);
  if (!(o->loss >= 0)) return hd_fail(d, HD_ERR_INPUT, "a loss is not negative: %g s", o->loss);
  if (o->ahead > HD_TURNS_AHEAD)
    return hd_fail(d, HD_ERR_INPUT, "at most %d rounds may be out, not %u", HD_TURNS_AHEAD, o->ahead);
  return HD_OK;
}

hd_status hd_turns_open(const hd_turns_options *options, uint32_t arms, hd_turns **out, hd_diag *d) {
  hd_turns_options o = *options;
  *out = NULL;
  if (o.error == 0) o.error = 0.01;
  if (o.gain == 0) o.gain = 1.01;
  if (o.ahead == 0) o.ahead = 8;
  hd_status st = wrong_options(&o, arms, d);
  if (st != HD_OK) return st;
  hd_turns *t = calloc(1, sizeof *t + (size_t)arms * HD_TURNS_PAIRS * sizeof *t->ratios);
  if (!t) return hd_nomem(d);
  t->o = o;
  t->n = arms;
  t->log_gain = log(o.gain);
  t->bets.threshold = (arms - 1) / o.error;
  t->patience = M_PI * (log(t->bets.threshold) + log(100));
  for (int i = 0; i < BIASES; i++) t->bets.wealth[i] = mixture[i].wealth;
  for (uint32_t a = 0; a < arms; a++) t->arms[a].ratio = t->ratios + (size_t)a * HD_TURNS_PAIRS;
  *out = t;
  return HD_OK;
}

void hd_turns_close(hd_turns *t) { free(t); }

/* ---- Dealing out ---- */

static uint32_t arms_in(const hd_turns *t) {
  uint32_t n = 0;
  for (uint32_t a = 1; a < t->n; a++) n += !t->arms[a].out;
  return n;
}

static bool all_dealt(const hd_turns *t) {
  return t->begun >= HD_TURNS_PAIRS || (t->o.most && (uint64_t)t->dealt + arms_in(t) + 1 > t->o.most);
}

static void decide(hd_turns *t);

static round_t *begin_round(hd_turns *t) {
  if (t->begun - t->closed >= t->o.ahead) return NULL;
  if (all_dealt(t)) {
    if (t->begun == t->closed) decide(t);
    return NULL;
  }
  round_t *r = &t->rounds[t->begun++ % HD_TURNS_AHEAD];
  r->arms = r->n = r->dealt = 0;
  for (uint32_t a = 0; a < t->n; a++) {
    if (t->arms[a].out) continue;
    uint32_t to = (uint32_t)(hd_random_at(t->o.seed, t->drawn++) % (r->n + 1));
    r->order[r->n++] = r->order[to];
    r->order[to] = (uint8_t)a;
    r->arms |= 1u << a;
  }
  r->left = r->n;
  return r;
}

/* The round that is being dealt out; NULL: none is. */
static round_t *open_round(hd_turns *t) {
  round_t *r = t->begun > t->closed ? &t->rounds[(t->begun - 1) % HD_TURNS_AHEAD] : NULL;
  return r && r->dealt < r->n ? r : NULL;
}

uint32_t hd_turns_next(hd_turns *t) {
  uint32_t at = t->calls++;
  if (t->end != HD_TURNS_OPEN) return HD_TURNS_NONE;
  round_t *r = open_round(t);
  if (!r) r = begin_round(t);
  if (!r) return HD_TURNS_NONE;
  uint32_t a = r->order[r->dealt++];
  r->at[a] = at;
  t->dealt++;
  return a;
}

/* An arm goes out. It is taken out of the round that is being dealt out. */
static void leave(hd_turns *t, uint32_t a) {
  round_t *r = open_round(t);
  t->arms[a].out = true;
  for (uint32_t i = r ? r->dealt : 0; r && i < r->n; i++)
    if (r->order[i] == a) {
      for (r->n--; i < r->n; i++) r->order[i] = r->order[i + 1];
      r->left--;
      r->arms &= ~(1u << a);
    }
}

/* ---- Offsets ---- */

static double offset_of(const hd_turns *t, uint32_t at) {
  return t->period ? t->offsets[t->period].of[at % t->period] : 0;
}

/* The mean of n values, of which x is the last; of about `memory` later on. */
static void towards(double *mean, double x, uint32_t n, uint32_t memory) {
  *mean += (x - *mean) / (n < memory ? n : memory);
}

/* Learn from a round that is over, for later ones. */
static void learn(hd_turns *t, const round_t *r) {
  for (uint32_t i = 0; i < r->n; i++) {
    uint32_t at = r->at[r->order[i]];
    arm *a = &t->arms[r->order[i]];
    double x = r->log[r->order[i]], from = x - a->level;
    if (isnan(x)) continue;
    a->log_seconds += x;
    towards(&a->level, x, ++a->launches, 16);
    if (a->launches == 1) continue;
    for (uint32_t p = 1; p <= PERIODS; p++) {
      offsets *o = &t->offsets[p];
      double *offset = &o->of[at % p];
      towards(&o->error, fabs(from - *offset), ++o->told, 32);
      if (p > 1) towards(offset, from, ++o->seen[at % p], 8);
    }
  }
  uint32_t best = 1;
  for (uint32_t p = 2; p <= PERIODS; p++)
    if (t->offsets[p].error < t->offsets[best].error) best = p;
  bool helps = t->offsets[best].error < 0.5 * t->offsets[1].error;
  t->period = helps ? best : 0;
}

/* ---- Pairs ---- */

/* Medians are asked for between single pairs, so pairs are kept in order, not sorted for each median. */
static void insert(arm *a, float x) {
  uint32_t low = 0, high = a->pairs;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (a->ratio[middle] <= x)
      low = middle + 1;
    else
      high = middle;
  }
  memmove(&a->ratio[low + 1], &a->ratio[low], (a->pairs++ - low) * sizeof *a->ratio);
  a->ratio[low] = x;
}

/* The original took x (of its time's logarithm) longer than arm a. */
static void pair(hd_turns *t, uint32_t number, double x) {
  arm *a = &t->arms[number];
  if (a->pairs == HD_TURNS_PAIRS) return;
  insert(a, (float)x);
  a->sum += x;
  a->spread += fabs(x);
  if (x > t->log_gain) t->faster[number][0]++;
  if (x < t->log_gain && x != 0) t->faster[0][number]++;
}

static void count(hd_turns *t, const round_t *r) {
  double x[HD_TURNS_ARMS] = {0};
  for (uint32_t a = 0; a < t->n; a++) x[a] = r->arms >> a & 1 ? r->log[a] - offset_of(t, r->at[a]) : NAN;
  if (!isnan(x[0])) t->arms[0].pairs++;
  for (uint32_t a = 1; a < t->n; a++) {
    if (isnan(x[a])) continue;
    if (!isnan(x[0])) t->arms[a].lost += r->seconds[a] - r->seconds[0];
    if (t->arms[a].out) continue;
    if (!isnan(x[0])) pair(t, a, x[0] - x[a]);
    for (uint32_t b = 1; b < a; b++) { /* a comparison with NaN is false */
      if (t->arms[b].out) continue;
      t->faster[a][b] += x[a] < x[b];
      t->faster[b][a] += x[b] < x[a];
    }
  }
}

/* ---- Deciding ---- */

static bool has_won(const hd_turns *t, uint32_t a) {
  const arm *k = &t->arms[a];
  return !k->out && k->crossed && k->pairs >= t->o.least && k->sum > 0;
}

/* Faster in most launches, and no faster in all of them: that is not luck any more. */
static bool has_slow_launches(const arm *a) {
  return a->crossed && a->sum <= 0 && a->pairs >= 2 * a->crossed;
}

/* Whether an arm, which is in, has to go. Another arm puts out one that has won only if it has won, too. */
static bool must_leave(hd_turns *t, uint32_t number) {
  arm *a = &t->arms[number];
  for (uint32_t b = 1; b < t->n; b++)
    if (b != number && (has_won(t, b) || !has_won(t, number)) && beats(t, b, number)) return true;
  if (has_won(t, number)) return false;
  const bool costly = t->o.loss > 0 && a->lost > t->o.loss / (t->n - 1);
  a->spent = costly && !beats(t, 0, number);
  if (a->crossed && a->pairs < t->o.least) return costly;
  return costly || beats(t, 0, number) || has_slow_launches(a) || (a->pairs && a->pairs >= patience(t, a));
}

static void decide(hd_turns *t) {
  bool won = false, spent = t->finished || (all_dealt(t) && t->begun == t->closed), any_spent = false;
  for (uint32_t a = 1; a < t->n; a++)
    if (!t->arms[a].crossed && !t->arms[a].out && beats(t, a, 0)) t->arms[a].crossed = t->arms[a].pairs;
  for (uint32_t a = 1; a < t->n; a++) {
    if (!t->arms[a].out && must_leave(t, a)) leave(t, a);
    any_spent |= t->arms[a].spent;
    won |= has_won(t, a);
  }
  if (won && !t->first_won) t->first_won = t->closed;
  uint32_t in = arms_in(t);
  if (won && (in == 1 || spent || t->closed >= 2 * t->first_won)) {
    t->winner = hd_turns_best(t);
    t->end = HD_TURNS_WON;
  } else if (!won && (in == 0 || spent)) {
    t->end = any_spent ? HD_TURNS_COSTLY : in ? HD_TURNS_SPENT : HD_TURNS_ORIGINAL;
  }
}

void hd_turns_finish(hd_turns *t) {
  t->finished = true;
  if (t->end == HD_TURNS_OPEN) decide(t);
}

/* Close the rounds that are reported, the oldest first. */
static void close_rounds(hd_turns *t) {
  while (t->closed < t->begun) {
    round_t *r = &t->rounds[t->closed % HD_TURNS_AHEAD];
    if (r->left) return;
    count(t, r);
    learn(t, r);
    t->closed++;
    if (t->end == HD_TURNS_OPEN) decide(t);
  }
}

void hd_turns_tell(hd_turns *t, uint32_t number, double seconds) {
  if (number >= t->n) return;
  arm *a = &t->arms[number];
  while (a->next < t->begun && !(t->rounds[a->next % HD_TURNS_AHEAD].arms >> number & 1)) a->next++;
  if (a->next == t->begun) return;
  round_t *r = &t->rounds[a->next % HD_TURNS_AHEAD];
  for (uint32_t i = r->dealt; i < r->n; i++)
    if (r->order[i] == number) return; /* not dealt out yet */
  a->next++;
  r->seconds[number] = seconds;
  r->log[number] = seconds > 0 && isfinite(seconds) ? log(seconds) : NAN;
  r->left--;
  if (!r->left) close_rounds(t);
}

void hd_turns_drop(hd_turns *t, uint32_t number) { hd_turns_tell(t, number, NAN); }

void hd_turns_withdraw(hd_turns *t, uint32_t number) {
  if (number == 0 || number >= t->n || t->arms[number].out || t->end != HD_TURNS_OPEN) return;
  leave(t, number);
  close_rounds(t);
  if (t->end == HD_TURNS_OPEN) decide(t);
}

/* ---- What is known ---- */

hd_turns_end hd_turns_state(const hd_turns *t) { return t->end; }
uint32_t hd_turns_rounds(const hd_turns *t) { return t->closed; }

static double middle(const arm *a) {
  if (!a->pairs) return NAN;
  double low = a->ratio[(a->pairs - 1) / 2], high = a->ratio[a->pairs / 2];
  return (low + high) / 2;
}

uint32_t hd_turns_best(hd_turns *t) {
  if (t->winner) return t->winner;
  uint32_t best = 0;
  double most = -INFINITY;
  bool won = false;
  for (uint32_t a = 1; a < t->n; a++) {
    bool wins = has_won(t, a);
    if (t->arms[a].out || (won && !wins)) continue;
    double x = middle(&t->arms[a]);
    if ((wins && !won) || x > most) best = a, most = x;
    won |= wins;
  }
  return best;
}

/* Pairs at either end of n sorted ones that a bet has been won against; n: none has. */
static uint32_t sure_ends(frontier *f, uint32_t n) {
  uint32_t lost = 0;
  while (lost < n && lost + need_of(f, lost) <= n) lost++;
  return lost ? lost - 1 : n;
}

hd_turns_arm hd_turns_of(hd_turns *t, uint32_t number) {
  if (number >= t->n) return (hd_turns_arm){.median = NAN, .high = INFINITY, .mean = NAN, .out = true};
  arm *a = &t->arms[number];
  hd_turns_arm k = {
      .pairs = a->pairs, .median = 1, .low = 1, .high = 1, .mean = 1, .lost = a->lost, .out = a->out};
  k.seconds = a->launches ? exp(a->log_seconds / a->launches) : NAN;
  if (number == 0) return k;
  k.median = exp(middle(a));
  k.mean = a->pairs ? exp(a->sum / a->pairs) : NAN;
  uint32_t end = sure_ends(&t->bets, a->pairs);
  k.low = end < a->pairs ? exp((double)a->ratio[end]) : 0;
  k.high = end < a->pairs ? exp((double)a->ratio[a->pairs - 1 - end]) : INFINITY;
  return k;
}
