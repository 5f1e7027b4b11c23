/* What follows from what a program has learnt of a verdict. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "heddle/steer.h"

enum { SELDOM = 16 };            /* launches in a process that are too few to be measured in turns */
enum { FEWEST = 3 };             /* pairs that say by how much a plan is faster */
enum { STALE = 30 * 24 * 3600 }; /* seconds after which a plan that was slower, or too dear, is tried again */

static bool is(const hd_steer_note *n, const char *state) { return strcmp(n->state, state) == 0; }

bool hd_steer_note_is_of(const hd_steer_note *n, const hd_verdict_key *key) {
  return strcmp(n->key.kernel, key->kernel) == 0 && strcmp(n->key.launch, key->launch) == 0 &&
         strcmp(n->key.gpu, key->gpu) == 0 && strcmp(n->key.driver, key->driver) == 0;
}

void hd_steer_note_begin(hd_steer_note *n, const hd_verdict *v) {
  n->of = v->when;
  n->when = 0;
  n->promised = v->speedup;
  n->median = n->low = n->high = n->pairs = 0;
  n->seconds = v->before_us * 1e-6;
  n->saves = v->before_us > v->after_us ? (v->before_us - v->after_us) * 1e-6 : 0;
  snprintf(n->state, sizeof n->state, "%s", HD_STEER_NEW);
}

hd_steer_note hd_steer_note_of(const hd_verdict *v, const char *name) {
  hd_steer_note n = {.key = v->key};
  n.key.size[0] = 0;
  snprintf(n.plan, sizeof n.plan, "%s", v->plan);
  snprintf(n.name, sizeof n.name, "%s", name);
  hd_steer_note_begin(&n, v);
  return n;
}

/* Of kernels that run in graphs alone it is not known how often they do. */
bool hd_steer_note_pays(const hd_steer_note *n) { return !n->launches || n->launches * n->saves >= n->ready; }

bool hd_steer_note_is_stale(const hd_steer_note *n) {
  return n->when && time(NULL) - n->when > STALE && (is(n, HD_STEER_BROKEN) || !hd_steer_note_pays(n));
}

bool hd_steer_note_is_seldom(const hd_steer_note *n) { return n->launches < SELDOM; }

hd_probation_trust hd_steer_note_trust(const hd_steer_note *n) {
  return is(n, HD_STEER_KEPT) ? HD_TRUST_KEPT : is(n, HD_STEER_NEW) ? HD_TRUST_FOUND : HD_TRUST_NONE;
}

void hd_steer_note_learn(hd_steer_note *n, hd_probation end, const hd_turns_arm *plan, double original) {
  static const char *const states[] = {[HD_PROBATION_KEPT] = HD_STEER_KEPT,
                                       [HD_PROBATION_BROKEN] = HD_STEER_BROKEN,
                                       [HD_PROBATION_UNSURE] = HD_STEER_UNSURE};
  n->median = plan->median;
  n->low = plan->low;
  n->high = plan->high < 1e9 ? plan->high : 0;
  n->pairs = plan->pairs;
  n->seconds = original;
  n->when = (int64_t)time(NULL);
  if (plan->pairs >= FEWEST && original > plan->seconds) n->saves = original - plan->seconds;
  if (end == HD_PROBATION_OPEN) return;
  if (end == HD_PROBATION_KEPT && original <= plan->seconds) n->saves = 0;
  snprintf(n->state, sizeof n->state, "%s", states[end]);
}
