/* The rules behind probation.h. */
#include "heddle/probation.h"

enum {
  LAUNCHES = 64,  /* of a probation, at most */
  AHEAD = 16,     /* rounds under way, */
  FAR_AHEAD = 32, /* and where the plan was fast before */
  FIRST = 3,      /* pairs, before a plan is taken to be ahead, or far behind */
  LOSS = 6,       /* launches whose time a plan that is far behind may have lost */
  AGAIN = 16,     /* times as many launches, until a plan is looked at again, */
  SOONEST = 4096, /* and as many at least */
};
static const double far_below = 0.9, slower = 0.98; /* medians: the latter whatever the bets say */

hd_turns_options hd_probation_options(hd_probation_trust trust, uint64_t seed) {
  return (hd_turns_options){
      .gain = 1, .most = LAUNCHES, .ahead = trust >= HD_TRUST_FOUND ? FAR_AHEAD : AHEAD, .seed = seed};
}

/* The bets know only which of two was faster. What loses far more than that tells is taken back before they
 * are sure: a launch that met something else, or two buffers by turns, lose less. */
static bool is_far_behind(hd_turns *t, const hd_turns_arm *a) {
  return a->pairs >= FIRST && a->median < far_below && a->lost > LOSS * hd_turns_of(t, 0).seconds;
}

hd_probation hd_probation_look(hd_turns *t) {
  const hd_turns_end end = hd_turns_state(t);
  const hd_turns_arm a = hd_turns_of(t, 1);
  if (end == HD_TURNS_WON) return HD_PROBATION_KEPT;
  if (end == HD_TURNS_ORIGINAL || is_far_behind(t, &a)) return HD_PROBATION_BROKEN;
  if (end == HD_TURNS_OPEN) return HD_PROBATION_OPEN;
  /* What is not known to be faster stays if it is no slower by all that is known. */
  if (a.pairs && a.median >= 1) return HD_PROBATION_KEPT;
  return a.pairs && a.median < slower ? HD_PROBATION_BROKEN : HD_PROBATION_UNSURE;
}

bool hd_probation_leads(hd_turns *t, bool before) {
  const hd_turns_arm a = hd_turns_of(t, 1);
  return a.pairs < FIRST ? before : a.median > 1 && a.mean > 1;
}

uint64_t hd_probation_again(uint64_t launches) {
  return launches * AGAIN > SOONEST ? launches * AGAIN : SOONEST;
}
