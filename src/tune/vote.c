/* The threshold of bypassing that the SMs vote for (BYP 4.4.2; see rewrite/levers/ballot.c), or that a
 * sampled CTA is fastest with (its figure 11). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tuner.h"

enum { BALLOT_LAUNCHES = 3, LEAST_WAVES = 8 };

/* Of equals the one that bypasses less. */
static void choose(hd_tune_vote *v) {
  v->winner = v->n - 1;
  for (uint32_t k = v->n - 1; k-- > 0;)
    if (v->share[k] > v->share[v->winner]) v->winner = k;
}

void vote_count(const uint32_t *ctas, uint32_t n_sms, uint32_t warps, hd_tune_vote *out) {
  double sum = 0;
  uint32_t sms[HD_TUNE_THRESHOLDS] = {0}, used = 0;
  out->n = warps + 1;
  memset(out->share, 0, sizeof out->share);
  for (uint32_t sm = 0; sm < n_sms; sm++) {
    if (!ctas[sm]) continue; /* an SM that is not there, or belongs to others */
    const uint32_t k = hd_bypass_voted(warps, sm);
    out->share[k] += ctas[sm];
    sms[k]++;
    sum += ctas[sm];
    used++;
  }
  for (uint32_t k = 0; k < out->n; k++)
    if (sms[k]) out->share[k] *= used / (sum * sms[k]);
  choose(out);
}

/* Launches in which SMs cannot vote: true, and out->why says why. */
static bool cannot_vote(const hd_plan_space *s, hd_tune_vote *out) {
  uint64_t waves = s->tasks / ((uint64_t)s->n_sms * (s->resident ? s->resident : 1));
  if (!s->loads)
    snprintf(out->why, sizeof out->why, "bypassing can change no load");
  else if (s->warps + 1 > HD_TUNE_THRESHOLDS || s->warps + 1 > s->n_sms)
    snprintf(out->why, sizeof out->why, "%u thresholds, and %u SMs to try them", s->warps + 1, s->n_sms);
  else if (waves < LEAST_WAVES)
    snprintf(out->why, sizeof out->why, "%" PRIu64 " waves of CTAs: too few to tell SMs apart", waves);
  return out->why[0] != 0;
}

/* The device's SMs, or the model's. */
typedef struct voters {
  device_bench *bench;
  const hd_study *study;
  const hd_gpu *gpu;
} voters;

static void take(const voters *v, const hd_plan_space *s, uint32_t launch, hd_tune_vote *out) {
  const uint32_t launches = v->bench ? BALLOT_LAUNCHES : 1;
  uint32_t *ctas = calloc(HD_BALLOT_SMS, sizeof *ctas);
  hd_diag e = {0};
  double start = hd_seconds();
  *out = (hd_tune_vote){0};
  hd_status st = ctas ? HD_OK : hd_nomem(&e);
  if (st == HD_OK && !cannot_vote(s, out)) {
    st = v->bench ? device_bench_ballot(v->bench, launch, launches, ctas, &e)
                  : hd_study_vote(v->study, v->gpu, launch, ctas, &e);
    if (st == HD_OK) vote_count(ctas, HD_BALLOT_SMS, s->warps, out);
  }
  if (st != HD_OK) snprintf(out->why, sizeof out->why, "%.199s", e.message);
  out->launches = out->n ? launches : 0;
  out->seconds = hd_seconds() - start;
  free(ctas);
}

void vote_take(device_bench *b, const hd_plan_space *s, uint32_t launch, hd_tune_vote *out) {
  take(&(voters){.bench = b}, s, launch, out);
}

void vote_on_model(const hd_study *study, const hd_gpu *g, const hd_plan_space *s, uint32_t launch,
                   hd_tune_vote *out) {
  *out = (hd_tune_vote){0};
  if (g->dispatch != HD_DISPATCH_DEMAND)
    snprintf(out->why, sizeof out->why, "%.40s hands out CTAs %s: faster SMs get no more of them", g->name,
             hd_dispatch_name(g->dispatch));
  else if (g->n_sms > HD_BALLOT_SMS)
    snprintf(out->why, sizeof out->why, "%u SMs: at most %d are counted", g->n_sms, HD_BALLOT_SMS);
  else
    take(&(voters){.study = study, .gpu = g}, s, launch, out);
}

void vote_sample(const hd_study *study, const hd_gpu *g, const hd_plan_space *s, uint32_t launch,
                 hd_tune_vote *out) {
  double cycles[HD_TUNE_THRESHOLDS] = {0}, sum = 0;
  hd_diag e = {0};
  const double start = hd_seconds();
  *out = (hd_tune_vote){0};
  if (!s->loads) {
    snprintf(out->why, sizeof out->why, "bypassing can change no load");
  } else if (s->warps + 1 > HD_TUNE_THRESHOLDS) {
    snprintf(out->why, sizeof out->why, "%u thresholds: at most %d are tried", s->warps + 1,
             HD_TUNE_THRESHOLDS);
  } else if (hd_study_sample_thresholds(study, g, launch, cycles, &e) != HD_OK) {
    snprintf(out->why, sizeof out->why, "%.199s", e.message);
  } else {
    out->n = s->warps + 1;
    for (uint32_t k = 0; k < out->n; k++) sum += cycles[k];
    for (uint32_t k = 0; k < out->n; k++) out->share[k] = sum / out->n / cycles[k];
    choose(out);
  }
  out->seconds = hd_seconds() - start;
}
