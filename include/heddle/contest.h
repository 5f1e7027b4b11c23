/* heddle/contest.h: which plan is the fastest for a launch that can be repeated.
 *
 * How a plan is made ready, and how a run is made and timed, is the caller's: a table of functions. What is
 * here is what all callers share: in which order plans are tried, which of them are followed, and how it is
 * decided.
 *
 * - Plans are tried from the likeliest on, by their priors and by what is known of their families by then.
 * Each is made ready and run once. One that leaves other bytes than the original is out, and so is one that
 * is far slower. The others get a few rounds.
 * - The better half gets more rounds, again and again, until four are left. What is one step from the best is
 * tried: its numbers halved and doubled, and its levers together with those of other families.
 * - The best few and the original run in turns until it is decided (heddle/turns.h); or they are handed over
 * to a caller who lets them take turns elsewhere.
 *
 * A contest whose bench is simulated gives the same result each time. There is no global state. */
#ifndef HEDDLE_CONTEST_H
#define HEDDLE_CONTEST_H

#include "heddle/plan.h"
#include "heddle/stats.h"

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
 * the plan lose, the search's next choices are tested too, in 10 places each, and where all of them lose
 * those of another choice, in 11.
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
  /* These may be made soon; what they name lives as long as the contest. NULL: there is no making ahead. */
  void (*ahead)(void *ctx, const hd_plan *const *plans, size_t n);
  double (*now)(void *ctx); /* seconds, from any point on */
  /* States that the machine may be in, such as caches that are cold: in each of them a plan must win. Runs
   * are in state 0 until another one is entered. 0, NULL: there is one. */
  uint32_t states;
  void (*enter)(void *ctx, uint32_t state);
} hd_contest_bench;

typedef struct hd_contest_options {
  double budget; /* seconds of the bench's clock. A decision that is due then may take some rounds more */
  double error;  /* as in hd_turns_options */
  double gain;   /* likewise; below 1: the best plan wins that is not slower than that for sure */
  uint64_t seed; /* of the turns' orders */
  double least;  /* the least speedup, by the search's rounds, of a finalist; 0: 1.001 */
  uint32_t most; /* rounds of a decision, in each state; 0: as many as there is time for */
  bool handed;   /* finalists are handed over (hd_contest_look): no time is set aside for a decision */
} hd_contest_options;

enum { HD_CONTEST_FINALISTS = 4 };

typedef struct hd_contest_finalist {
  const hd_plan *plan; /* as long as the contest */
  void *variant;       /* likewise, unless it is taken */
  double speedup;      /* by the search's rounds */
} hd_contest_finalist;

/* What the search has seen. */
typedef struct hd_contest_seen {
  uint32_t tried;       /* plans that ran */
  uint32_t wrong;       /* of these: they left other bytes */
  uint32_t untried;     /* plans that the budget did not come to */
  uint32_t n_finalists; /* the best first */
  hd_contest_finalist finalists[HD_CONTEST_FINALISTS];
} hd_contest_seen;

/* How it ended. */
typedef struct hd_contest_end {
  bool won;             /* a plan has: `plan` */
  bool decided;         /* of the plans that were tried; false: the time was over before it was known */
  const hd_plan *plan;  /* the best one, as long as the contest; NULL: there is none */
  void *variant;        /* its own, as long as the contest */
  hd_speedup speedup;   /* its own; 1 if there is none */
  double before, after; /* seconds: of the original's runs, and of its own */
} hd_contest_end;

typedef struct hd_contest hd_contest;

/* The order in which a contest begins, if nothing is known of families: greatest prior first, of the same
 * prior as they come; no plan twice, and the baseline not among them. Returns how many are left. */
HD_OWN size_t hd_contest_order(hd_candidate *list, size_t n);
/* Search, until the finalists are known. The list is copied. HD_ERR_REFUSED: the original does not
 * leave the same bytes each time; HD_ERR_BUDGET: its runs take too long for the budget. */
HD_OWN hd_status hd_contest_open(const hd_contest_bench *bench, const hd_contest_options *o,
                                 const hd_plan_space *space, const hd_candidate *list, size_t n,
                                 hd_contest **out, hd_diag *d);
HD_OWN void hd_contest_look(const hd_contest *c, hd_contest_seen *out);
/* Run them and the original in turns. The speedup is that of the state in which the plan gains least. */
HD_OWN hd_status hd_contest_decide(hd_contest *c, hd_contest_end *out, hd_diag *d);
/* The variant is the caller's from now on, and runs in the contest no more. */
HD_OWN void hd_contest_take(hd_contest *c, const void *variant);
HD_OWN void hd_contest_close(hd_contest *c); /* drops all variants; NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
