/* heddle/contest.h: which plan is the fastest for a launch that can be repeated.
 *
 * How a plan is made ready, and how a run is made and timed, is the caller's: a table of functions. What is
 * here is what all callers share: in which order plans are tried, which of them are followed, and how it is
 * decided.
 *
 * - Plans are tried from the likeliest on (hd_candidates has them in this order). Each is made ready and run
 * once. One that leaves other bytes than the original is out, and so is one that is far slower. The others
 * get a pair of times. The best few stay ready.
 * - Families are joined: what the best plans of other families have beyond the best plan of all is added to
 * it.
 * - The best few and the original run in turns until it is decided (heddle/turns.h).
 *
 * A search whose bench is simulated gives the same result each time. There is no global state. */
#ifndef HEDDLE_CONTEST_H
#define HEDDLE_CONTEST_H

#include "heddle/plan.h"
#include "heddle/turns.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Places ---- */

/* How much faster a launch is depends on where in memory its buffers happen to lie (which of their pages
 * share a channel, a bank, a part of L2): by several percent, for as long as they lie there. So on devices
 * that have memory of their own, the plan that the search chose is tested in places that chose nothing: all
 * buffers are put into other memory, original and plan run there in turns, and the median of their ratios is
 * that place's speedup. A place is one observation, however many rounds it takes. There are as many places as
 * the interval of a median needs (8 at 99%), so the plan must win in every one of them; a place where it does
 * not is the last. Half of the places lie in memory of a piece, as fresh processes get it, the others in
 * fragmented pages all over the device: for some tenths of a second the test takes all memory that is free,
 * unless hd_tune_options.shared. The speedup told is the median of the places', its interval theirs. Should
 * the plan lose, the search's next choices are tested too, in 9 places each.
 *
 * Plans of several kernels, each tested so, are tested once more together: the whole workload must not lose
 * in the places' median, nor more than 1% in any. */
typedef struct hd_tune_places {
  uint32_t n;         /* places; 0: models, which have none, or nothing came so far */
  double least, most; /* speedup in any of them */
  double moved; /* part of the buffers' bytes that went elsewhere each time, 1 where memory has room: the
                   device must hold a buffer beside itself for it to be moved */
} hd_tune_places;

/* ---- Contests ---- */

/* Where plans are measured. A failure for which a plan is to blame (hd_blames_plan, HD_ERR_INPUT,
 * HD_ERR_NOMEM) leaves out this plan; any other is the end. */
typedef struct hd_contest_bench {
  void *ctx;
  hd_status (*make)(void *ctx, const hd_plan *p, void **variant, hd_diag *d);
  void (*drop)(void *ctx, void *variant);
  /* Run a variant (NULL: the original) on the launch's own data. *same, if not NULL: it left the bytes that
   * the original leaves. */
  hd_status (*run)(void *ctx, void *variant, double *seconds, bool *same, hd_diag *d);
  double (*now)(void *ctx); /* seconds, from any point on */
} hd_contest_bench;

enum { HD_FINALISTS = HD_TURNS_ARMS - 1 };

typedef struct hd_contest_options {
  double until; /* by the bench's clock: the end of all. A decision that is not made by then is not made */
  double error, gain; /* as in hd_turns_options */
  uint32_t finalists; /* plans that stay ready, 1 to HD_FINALISTS; 0: 3 */
  uint32_t most;      /* runs in turns; 0: as many as there is time for */
  uint64_t seed;      /* of the turns' orders */
} hd_contest_options;

typedef struct hd_finalist {
  hd_plan plan; /* owns nothing: what it names is the candidate's */
  void *variant;
  double ratio; /* of the original's time to its own, in one pair */
} hd_finalist;

typedef struct hd_contest_family {
  hd_plan plan; /* the fastest of its family (hd_plan_family) */
  double ratio;
} hd_contest_family;

typedef struct hd_contest {
  hd_contest_bench bench;
  hd_contest_options o;
  hd_finalist best[HD_FINALISTS + 1]; /* the fastest first */
  uint32_t n;
  uint32_t tried; /* plans that ran */
  uint32_t wrong; /* of them, plans that left other bytes */
  double seconds; /* of a run of the original */
  double takes;   /* seconds that a run takes, with all that is around it: the mean of so many */
  uint32_t runs;
  double make_takes; /* seconds that making a plan ready takes, the longest so far */
  double begin;
  hd_contest_family families[32];
  uint32_t n_families;
} hd_contest;

/* How it ended. */
typedef struct hd_contest_end {
  hd_turns_end end;     /* HD_TURNS_WON: finalist `winner` */
  uint32_t winner;      /* of best[]; the best guess if none has won; `n` of the contest: there is none */
  hd_turns_arm arm;     /* what is known of it: pairs, speedup, interval */
  double before, after; /* seconds: geometric means of the original's runs and of its own */
  bool timely;          /* false: the time was over before it was decided */
} hd_contest_end;

/* Begin: the original runs once. HD_ERR_BUDGET: there is not even the time for one plan; HD_ERR_REFUSED: the
 * original does not leave the same bytes each time. */
HD_API hd_status hd_contest_begin(hd_contest *c, const hd_contest_bench *bench, const hd_contest_options *o,
                                  hd_diag *d);
/* Try plans, the likeliest first, as long as there is time to try one and to decide afterwards; then join
 * families. */
HD_API hd_status hd_contest_search(hd_contest *c, const hd_candidate *list, size_t n, hd_diag *d);
/* Run the finalists and the original in turns. */
HD_API hd_status hd_contest_decide(hd_contest *c, hd_contest_end *out, hd_diag *d);
/* Takes finalist i out: its variant is the caller's from now on. */
HD_API hd_finalist hd_contest_take(hd_contest *c, uint32_t i);
/* Drops all finalists. */
HD_API void hd_contest_free(hd_contest *c);

#ifdef __cplusplus
}
#endif
#endif
