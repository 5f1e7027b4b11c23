/* heddle/turns.h: which variant of a kernel is the fastest, by launches in turns.
 *
 * The original and its candidates ("arms"; arm 0 is the original) take turns at one job: the launches of a
 * kernel, of one shape, as they come. Launches are dealt out in rounds. In a round each arm that is still in
 * comes once, in an order that is drawn anew. The ratio of the original's time to an arm's in one round is a
 * pair. The order is drawn, so if an arm makes no difference, its pair is above or below 1 with equal chance,
 * however the launches' inputs, the clock or the GPU's other users change the times.
 *
 * The test is sequential: it may be looked at after every round. Each pair bets on its own side of `gain`,
 * against the claim that both sides are equally likely (a mixture over all biases, so that none need be
 * guessed). The wealth of such a bet reaches n/error with a chance of at most error/n if the claim holds
 * (Ville's inequality); n is the number of arms beside the original. Of an arm's two answers, "its median
 * ratio is above gain" and "it is not", only one can be false, so the chance of any false answer is at most
 * `error`. No distribution is assumed. Two equal times (a coarse timer) are no evidence. An arm must also
 * have a geometric mean ratio above 1 to win: an arm that is faster in most launches and much slower in the
 * others does not. Arms are compared with each other by the same bets, and one that another beats goes out.
 *
 * Times that depend on the launch's number (two buffers by turns, L2 warm and cold) widen no pair for long:
 * offsets of period 2, 3 and 4 are learnt from past rounds and subtracted. As they know nothing of the round
 * at hand, the bets stay fair.
 *
 * This part measures nothing and keeps no clock: callers launch, time and report. It has no global state and
 * takes no lock; one thread at a time may use a contest. */
#ifndef HEDDLE_TURNS_H
#define HEDDLE_TURNS_H

#include "heddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  HD_TURNS_ARMS = 16,    /* the original among them */
  HD_TURNS_PAIRS = 4096, /* of an arm: a contest that is open by then is between equals */
  HD_TURNS_AHEAD = 64,   /* rounds that may be dealt out and not yet reported */
};
#define HD_TURNS_NONE UINT32_MAX /* no arm: the launch is not part of the contest */

typedef enum hd_turns_end {
  HD_TURNS_OPEN,     /* not decided */
  HD_TURNS_WON,      /* hd_turns_best's arm beats the original by more than `gain` */
  HD_TURNS_ORIGINAL, /* no arm is left that could */
  HD_TURNS_SPENT,    /* `most` launches were used up before it was decided: the original stays */
  HD_TURNS_COSTLY,   /* the same, and an arm had used up its share of `loss`, which says little of it */
} hd_turns_end;

typedef struct hd_turns_options {
  double error; /* chance of any false answer over all arms, (0, 1); 0: 0.01 */
  double gain; /* ratio that an arm must exceed to win, >= 1; 0: 1.01. 1 if the question is which is faster at
                  all */
  double loss; /* seconds that the arms may cost over the original. Each has an equal share, and goes out if
                  it has used it up; what is dealt out by then comes on top. 0: no bound */
  uint32_t most;  /* launches in all; 0: no bound but HD_TURNS_PAIRS rounds */
  uint32_t least; /* pairs that a winner has at least: the more, the better its speedup is known; 0: none */
  /* Rounds that may be out at once, at most HD_TURNS_AHEAD; 0: 8. Few: an arm that falls behind is noticed
   * sooner. Many: a program that launches long before the GPU runs gives more pairs. */
  uint32_t ahead;
  uint64_t seed; /* of the orders that are drawn */
} hd_turns_options;

typedef struct hd_turns hd_turns; /* 33 KiB, and 16 KiB for each arm: allocated once */

/* HD_ERR_INPUT if an option is out of its range or `arms` not within 2..HD_TURNS_ARMS; HD_ERR_NOMEM. */
HD_OWN hd_status hd_turns_open(const hd_turns_options *o, uint32_t arms, hd_turns **out, hd_diag *d);
HD_OWN void hd_turns_close(hd_turns *t); /* NULL is allowed */

/* The arm for the next launch of the job, to be called at every launch. HD_TURNS_NONE: launch what you like,
 * and report nothing; because the contest is decided, `most` launches are dealt out, or `ahead` rounds are
 * not yet reported. */
HD_OWN uint32_t hd_turns_next(hd_turns *t);

/* A launch's time, or that it has none (it failed, or was not timed). A time that is not a positive number
 * counts as dropped. The reports for one arm come in the order in which its launches were dealt out; those of
 * different arms may overtake each other. An arm that was dropped has no pair in that round; if the original
 * was, no arm has. Whether a launch is dropped must not depend on its time. */
HD_OWN void hd_turns_tell(hd_turns *t, uint32_t arm, double seconds);
HD_OWN void hd_turns_drop(hd_turns *t, uint32_t arm);

/* An arm cannot be launched any more: it goes out. Launches that are out are still to be reported or dropped.
 */
HD_OWN void hd_turns_withdraw(hd_turns *t, uint32_t arm);

/* There will be no more launches: an open contest ends. The best arm that has beaten the original by now
 * wins, though a faster one may have needed some rounds more; else it is spent, or costly. */
HD_OWN void hd_turns_finish(hd_turns *t);

HD_OWN hd_turns_end hd_turns_state(const hd_turns *t);
/* Rounds that are reported whole: as long as there are no more and it is open, nothing new is known of any
 * arm. */
HD_OWN uint32_t hd_turns_rounds(const hd_turns *t);

/* The winner if there is one; else the arm with the greatest median ratio of those that are in; 0: none. */
HD_OWN uint32_t hd_turns_best(hd_turns *t);

/* What is known of an arm. The interval holds all medians against which neither bet has won; with few pairs
 * it is [0, infinity]. After HD_TURNS_WON the median of the best of several arms is biased upwards by the
 * choice; the low end of its interval is not. */
typedef struct hd_turns_arm {
  uint32_t pairs;           /* of the original: rounds */
  double median, low, high; /* ratio of the original's time to the arm's, and its interval at 1 - error */
  double mean;    /* geometric mean of the same ratios: also tells something if the timer is coarse */
  double seconds; /* geometric mean of the arm's times */
  double lost;    /* seconds that it took longer than the original, in all; negative: saved */
  bool out;
} hd_turns_arm;
HD_OWN hd_turns_arm hd_turns_of(hd_turns *t, uint32_t arm);

#ifdef __cplusplus
}
#endif
#endif
