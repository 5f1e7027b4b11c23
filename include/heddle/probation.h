/* heddle/probation.h: whether a plan that was faster elsewhere is as fast here.
 *
 * In each process the first launches under such a plan (arm 1 of a contest, heddle/turns.h) take turns with
 * the original. These rules say how many do, when the plan is taken back, and what a later process learns of
 * it. `heddle run` and heddle.triton both go by them. As in turns.h: nothing is measured here, and nothing is
 * locked. */
#ifndef HEDDLE_PROBATION_H
#define HEDDLE_PROBATION_H

#include "heddle/turns.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hd_probation {
  HD_PROBATION_OPEN,   /* not known yet */
  HD_PROBATION_KEPT,   /* the plan is faster, or no slower by all that is known: it stays */
  HD_PROBATION_BROKEN, /* it is slower: it is taken back, and later processes do without */
  HD_PROBATION_UNSURE, /* it is taken back, but that it is slower is not sure */
} hd_probation;

/* How much is known of a plan before it is measured in this process. */
typedef enum hd_probation_trust {
  HD_TRUST_NONE,
  HD_TRUST_FOUND, /* it was fast when launches of this program were repeated: more rounds may be under way */
  HD_TRUST_KEPT,  /* it was kept in an earlier process: launches that are not timed run under it at once */
} hd_probation_trust;

/* Of the contest to open, for two arms. */
HD_OWN hd_turns_options hd_probation_options(hd_probation_trust trust, uint64_t seed);

/* What is known now. It stays the same once it is not open, and the launches dealt out after that count for
 * nothing. A contest that can go on no longer is finished first (hd_turns_finish). */
HD_OWN hd_probation hd_probation_look(hd_turns *t);
/* Launches between the turns may run under the plan: it is ahead by the pairs so far; as `before` has it
 * while these are too few. */
HD_OWN bool hd_probation_leads(hd_turns *t, bool before);
/* After so many launches of a kernel whose plan was kept at this one, it is put on probation again. */
HD_OWN uint64_t hd_probation_again(uint64_t launches);

#ifdef __cplusplus
}
#endif
#endif
