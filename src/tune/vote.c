/* The threshold of bypassing that the SMs vote for (BYP 4.4.2; see rewrite/levers/ballot.c). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tuner.h"

enum { BALLOT_LAUNCHES = 3, LEAST_WAVES = 8 };

void vote_count(const uint32_t *ctas, uint32_t n_sms, uint32_t warps, hd_tune_vote *out) {
  double sum = 0;
  uint32_t sms[HD_TUNE_THRESHOLDS] = {0}, used = 0;
  out->n = warps + 1;
  memset(out->share, 0, sizeof out->share);
  for (uint32_t sm = 0; sm < n_sms; sm++) {
    if (!ctas[sm]) continue; /* an SM that is not there, or belongs to others */
    out->share[sm % out->n] += ctas[sm];
    sms[sm % out->n]++;
    sum += ctas[sm];
    used++;
  }
  for (uint32_t k = 0; k < out->n; k++)
    if (sms[k]) out->share[k] *= used / (sum * sms[k]);
  out->winner = warps;
  for (uint32_t k = 0; k < out->n; k++)
    if (out->share[k] > out->share[out->winner]) out->winner = k;
}

void vote_take(device_bench *b, const hd_plan_space *s, uint32_t launch, hd_tune_vote *out) {
  uint32_t *ctas = calloc(HD_BALLOT_SMS, sizeof *ctas);
  hd_diag e = {0};
  double start = hd_seconds();
  uint64_t waves = s->tasks / ((uint64_t)s->n_sms * (s->resident ? s->resident : 1));
  *out = (hd_tune_vote){0};
  if (!ctas)
    snprintf(out->why, sizeof out->why, "out of memory");
  else if (!s->loads)
    snprintf(out->why, sizeof out->why, "bypassing can change no load");
  else if (s->warps + 1 > HD_TUNE_THRESHOLDS || s->warps + 1 > s->n_sms)
    snprintf(out->why, sizeof out->why, "%u thresholds, and %u SMs to try them", s->warps + 1, s->n_sms);
  else if (waves < LEAST_WAVES)
    snprintf(out->why, sizeof out->why, "%" PRIu64 " waves of CTAs: too few to tell SMs apart", waves);
  else if (device_bench_ballot(b, launch, BALLOT_LAUNCHES, ctas, &e) != HD_OK)
    snprintf(out->why, sizeof out->why, "%.199s", e.message);
  else
    vote_count(ctas, HD_BALLOT_SMS, s->warps, out);
  out->launches = out->n ? BALLOT_LAUNCHES : 0;
  out->seconds = hd_seconds() - start;
  free(ctas);
}
