/* The threshold of bypassing that the SMs vote for (BYP 4.4.2; see rewrite/levers/ballot.c), or that a
 * sampled CTA is fastest with (its figure 11); the number of agents that they vote for (CLU 4.3). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tuner.h"

enum { BALLOT_LAUNCHES = 3, LEAST_WAVES = 8 };

/* Of equals the greatest: it bypasses less, or throttles less, which is for where it gains alone (CLU 4.3).
 */
static void choose(hd_tune_vote *v) {
  uint32_t best = v->n - 1;
  for (uint32_t k = v->n - 1; k-- > 0;)
    if (v->share[k] > v->share[best]) best = k;
  v->winner = v->least + best;
}

void vote_count(const uint32_t *ctas, uint32_t n_sms, bool agents, uint32_t most, hd_tune_vote *out) {
  double sum = 0;
  uint32_t sms[HD_TUNE_NUMBERS] = {0}, used = 0;
  out->least = agents;
  out->n = most + 1 - out->least;
  memset(out->share, 0, sizeof out->share);
  for (uint32_t sm = 0; sm < n_sms; sm++) {
    if (!ctas[sm]) continue; /* an SM that is not there, or belongs to others */
    const uint32_t k = (agents ? hd_agents_voted(most, sm) : hd_bypass_voted(most, sm)) - out->least;
    out->share[k] += ctas[sm];
    sms[k]++;
    sum += ctas[sm];
    used++;
  }
  for (uint32_t k = 0; k < out->n; k++)
    if (sms[k]) out->share[k] *= used / (sum * sms[k]);
  choose(out);
}

/* Numbers that SMs cannot try: true, and out->why says why. */
static bool too_many(const char *what, uint32_t n, uint32_t n_sms, hd_tune_vote *out) {
  if (n > HD_TUNE_NUMBERS || n > n_sms)
    snprintf(out->why, sizeof out->why, "%u %s, and %u SMs to try them", n, what, n_sms);
  return out->why[0] != 0;
}

/* Launches in which SMs cannot vote. */
static bool cannot_vote(const hd_plan_space *s, bool agents, hd_tune_vote *out) {
  const uint32_t resident = s->resident ? s->resident : 1;
  uint64_t waves = s->tasks / ((uint64_t)s->n_sms * resident);
  if (!agents && !s->loads)
    snprintf(out->why, sizeof out->why, "bypassing can change no load");
  else if (agents && !(s->can_order && s->can_loop))
    snprintf(out->why, sizeof out->why, "the kernel cannot run as agents");
  else if (agents && s->resident < 2)
    snprintf(out->why, sizeof out->why, "%s",
             s->resident ? "one CTA fits on an SM" : "CTAs of an SM are not known");
  else if (!too_many(agents ? "numbers of agents" : "thresholds", agents ? resident : s->warps + 1, s->n_sms,
                     out) &&
           waves < LEAST_WAVES)
    snprintf(out->why, sizeof out->why, "%" PRIu64 " waves of CTAs: too few to compare SMs", waves);
  return out->why[0] != 0;
}

/* In whose company agents are voted on. */
static void note_plan(const hd_plan *p, hd_tune_vote *out) {
  hd_plan company = *p;
  hd_buf text = {0};
  company.agents_voted = false;
  hd_plan_print(&company, &text);
  if (p->agents_voted) snprintf(out->plan, sizeof out->plan, "%s", text.data ? text.data : "");
  hd_buf_free(&text);
}

/* The device's SMs, or the model's. */
typedef struct voters {
  device_bench *bench;
  const hd_study *study;
  const hd_gpu *gpu;
} voters;

static hd_status count(const voters *v, const hd_plan *p, uint32_t launch, uint32_t launches, uint32_t n_sms,
                       hd_tune_vote *out, hd_diag *d) {
  uint32_t *ctas = calloc(HD_BALLOT_SMS, sizeof *ctas), most = 0;
  hd_status st = ctas ? HD_OK : hd_nomem(d);
  if (st == HD_OK)
    st = v->bench ? device_bench_ballot(v->bench, p, launch, launches, ctas, &most, d)
                  : hd_study_vote(v->study, v->gpu, p, launch, ctas, &most, d);
  /* Fewer agents may fit than CTAs of the original. */
  if (st == HD_OK && p->agents_voted && most < 2)
    st = hd_fail(d, HD_ERR_UNSUPPORTED, "one agent fits on an SM");
  if (st == HD_OK && !too_many("numbers", p->agents_voted ? most : most + 1, n_sms, out))
    vote_count(ctas, HD_BALLOT_SMS, p->agents_voted, most, out);
  free(ctas);
  return st;
}

static void take(const voters *v, const hd_plan_space *s, const hd_plan *p, uint32_t launch,
                 hd_tune_vote *out) {
  const uint32_t launches = v->bench ? BALLOT_LAUNCHES : 1;
  hd_diag e = {0};
  double start = hd_seconds();
  *out = (hd_tune_vote){0};
  note_plan(p, out);
  if (!cannot_vote(s, p->agents_voted, out) && count(v, p, launch, launches, s->n_sms, out, &e) != HD_OK)
    hd_fit(out->why, sizeof out->why, "%s", e.message);
  out->launches = out->n ? launches : 0;
  out->seconds = hd_seconds() - start;
}

void vote_take(device_bench *b, const hd_plan_space *s, const hd_plan *p, uint32_t launch,
               hd_tune_vote *out) {
  take(&(voters){.bench = b}, s, p, launch, out);
}

void vote_on_model(const hd_study *study, const hd_gpu *g, const hd_plan_space *s, const hd_plan *p,
                   uint32_t launch, hd_tune_vote *out) {
  *out = (hd_tune_vote){0};
  note_plan(p, out);
  if (g->dispatch != HD_DISPATCH_DEMAND && !p->agents_voted) /* agents take tasks by themselves */
    snprintf(out->why, sizeof out->why, "%.40s hands out CTAs %s: faster SMs get no more of them", g->name,
             hd_dispatch_name(g->dispatch));
  else if (g->n_sms > HD_BALLOT_SMS)
    snprintf(out->why, sizeof out->why, "%u SMs: at most %d are counted", g->n_sms, HD_BALLOT_SMS);
  else
    take(&(voters){.study = study, .gpu = g}, s, p, launch, out);
}

void vote_sample(const hd_study *study, const hd_gpu *g, const hd_plan_space *s, uint32_t launch,
                 hd_tune_vote *out) {
  double cycles[HD_TUNE_NUMBERS] = {0}, sum = 0;
  hd_diag e = {0};
  const double start = hd_seconds();
  *out = (hd_tune_vote){0};
  if (!s->loads) {
    snprintf(out->why, sizeof out->why, "bypassing can change no load");
  } else if (s->warps + 1 > HD_TUNE_NUMBERS) {
    snprintf(out->why, sizeof out->why, "%u thresholds: at most %d are tried", s->warps + 1, HD_TUNE_NUMBERS);
  } else if (hd_study_sample_thresholds(study, g, launch, cycles, &e) != HD_OK) {
    hd_fit(out->why, sizeof out->why, "%s", e.message);
  } else {
    out->n = s->warps + 1;
    for (uint32_t k = 0; k < out->n; k++) sum += cycles[k];
    for (uint32_t k = 0; k < out->n; k++) out->share[k] = sum / out->n / cycles[k];
    choose(out);
  }
  out->seconds = hd_seconds() - start;
}
