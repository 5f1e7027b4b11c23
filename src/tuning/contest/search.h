/* contest/search.h: the search: which plans are measured how often, and whether the best one is adopted.
 *
 * neighbours.c  plans one step from a good one
 * trials.c      plans made ready, measured, let go, ranked
 * screen.c      which candidates are measured, and which of them are followed
 * search.c      all stages, from screening to the test
 * decide.c      the finalists in turns, where buffers cannot be moved
 * against.c     a plan against the original, buffers in place
 * confirm.c     a plan against the original, with buffers moved
 *
 * The search knows devices only as a table of functions (tuner_bench).
 */
#ifndef HEDDLE_CONTEST_SEARCH_H
#define HEDDLE_CONTEST_SEARCH_H

#include "heddle/contest.h"
#include "heddle/stats.h"

/* ---- Neighbours ------------------------------------------------------------------- */

enum { TUNER_NEIGHBOURS = 40 };

typedef struct search_trial search_trial;
/* The status of making a plan ready: a table's file that cannot be read is the plan's fault, not the
 * device's. */
hd_status tuner_blame(hd_status st, const hd_plan_set *plans);
/* Plans one step from trials[at]: its numbers halved, doubled, between (SMC 5.1), its threshold of bypassing
 * anywhere, because the speedup has several hills over thresholds; its levers together with those of the best
 * trial of each family that was faster than the original, and with bindings or orders of any speed. Returns
 * how many, at most TUNER_NEIGHBOURS; they share what the trials' plans own, and some may be among the trials
 * already. */
size_t tuner_neighbours(const hd_plan_space *s, const search_trial *trials, size_t n, size_t at,
                        hd_plan *out);

/* ---- Search -------------------------------------------------------------------------- */

/* The clock of a bench: it goes by the work that was done, so that what a budget pays for does not depend on
 * what else the machine does. From the wall on it says that all time is over. */
typedef struct search_meter {
  double worked;    /* seconds */
  double until;     /* hd_seconds at which the wall is; 0: there is none */
  const bool *stop; /* it is there once this is true; NULL: never */
  bool cut;         /* it was reached */
} search_meter;
double search_meter_now(search_meter *m);
bool search_meter_is_over(search_meter *m);
/* Whether a plan may still be admitted: HD_ERR_BUDGET when not. */
hd_status search_meter_admits(search_meter *m, hd_diag *d);

/* Where plans are measured. */
typedef struct tuner_bench {
  void *ctx;
  /* Make the workload ready under a set of plans (the baseline too: another copy of the original) and take
   * one rough time. HD_ERR_REFUSED, HD_ERR_UNSUPPORTED, HD_ERR_USAGE, HD_ERR_INPUT, HD_ERR_NOMEM and
   * HD_ERR_BUDGET are the plan's own business, anything else is the end. */
  hd_status (*admit)(void *ctx, const hd_plan_set *plans, uint32_t *slot, double *us, hd_diag *d);
  /* These may be admitted soon: a bench that can prepares several at once. NULL: none can. */
  void (*ahead)(void *ctx, const hd_plan_set *plans, size_t n);
  void (*release)(void *ctx, uint32_t slot);
  /* Rounds in which every slot runs once: us[i * rounds + r], after `warmups` rounds that do not count. Of
   * several slots one that cannot be run any more may have infinite times. */
  hd_status (*time)(void *ctx, const uint32_t *slots, size_t n, uint32_t warmups, uint32_t rounds, double *us,
                    hd_diag *d);
  double (*clock)(void *ctx); /* seconds, as work: search_meter_now */
  bool (*cut)(void *ctx);     /* the wall is over: nothing more is measured. NULL: there is none */
  bool exact;                 /* times do not vary: one round says all */
  /* Move the slots' buffers elsewhere, fragmented or in a piece (once fragmented, always, until settle).
   * NULL: there are none. *part gets the part of the bytes that moved. */
  hd_status (*move)(void *ctx, bool fragmented, double *part, hd_diag *d);
  void (*settle)(void *ctx); /* there will be no more moves for a while */
  double moving;             /* seconds that a move takes, about */
  /* Where times are exact; either may be NULL. The speedup that a plan must promise to be adopted, and what
   * it promises in a second look, which had no part in the choice: *speedup stays where none is to be had. */
  double (*asked)(void *ctx, const hd_plan *p);
  hd_status (*again)(void *ctx, const hd_plan *p, double *speedup, hd_diag *d);
  /* Where runs in turns decide: as in hd_contest_bench. */
  uint32_t states;
  void (*enter)(void *ctx, uint32_t state);
} tuner_bench;

struct search_trial {
  hd_plan plan; /* owned by the search */
  uint32_t family;
  hd_status status;
  char why[200];
  uint32_t slot;
  bool ready;     /* slot is held */
  double *ratios; /* of the original's time to the plan's, by pairs */
  uint32_t n, cap;
  double score; /* their median; 0: never measured */
  bool tested;  /* against the original, in places that chose nothing */
};

/* A plan against the original. */
typedef struct search_test {
  hd_speedup speedup;
  double before_us, after_us; /* medians */
  hd_tune_places places;
} search_test;

typedef struct search_options {
  double budget, confidence;
  double gain;     /* what a plan must gain for sure where runs in turns decide; SEARCH_LEAST_GAIN when 0 */
  uint64_t seed;   /* of the turns' orders */
  bool undecided;  /* end with the finalists and the original held, for the caller to decide (search_decide),
                      and to let go  of (search_let_all_go) */
  bool handed;     /* likewise, and the caller decides in a way of its own: no time is set aside for that */
  double least;    /* score of a finalist of runs in turns, at least; SEARCH_PROMISING when 0 */
  uint32_t most;   /* rounds of such a decision; 0: as many as there is time for */
  double overtime; /* what stages may take beyond the budget where they have reason to, in budgets */
  const char *kernel;       /* whose plan is searched for; NULL: one plan for all kernels */
  const hd_plan_set *fixed; /* plans of other kernels, in the original too; NULL: none */
  uint32_t batch;           /* plans that are screened together; 8 when 0 */
  void (*progress)(void *ctx, const char *stage, size_t done, size_t n);
  void *progress_ctx;
} search_options;

/* A candidate, and its family. */
typedef struct search_waiting {
  hd_candidate candidate;
  uint32_t family;
  bool announced; /* the bench knows that it may come */
} search_waiting;

typedef struct search {
  const tuner_bench *bench;
  const hd_plan_space *space;
  search_options o;
  hd_kernel_plan *room;           /* for a set's kernels */
  HD_VEC(search_waiting) waiting; /* not tried so far */
  HD_VEC(search_trial) trials;
  uint32_t original; /* slot */
  bool holds_original;
  double original_us;
  double start, second; /* clock when it began; seconds of the clock that one run takes */
  double spare;         /* seconds beyond the budget that may still be taken: see search_overtime */
  size_t runs;          /* so far */
  int64_t best;         /* trial; -1: none was promising */
  size_t left;          /* candidates that were not tried */
  bool cut;             /* the wall was over before the budget was */
  bool undecided;       /* the time was over before runs in turns decided */
  bool unaffordable;    /* a run takes so long that nothing was tried */
  bool adopted;         /* the best one's speedup is above 1 for sure */
  search_test tested;   /* the best, measured again */
  double asked;         /* where times are exact: of the best, which promised less; 0: of none */
} search;

/* Search and decide. The search takes over the candidates' plans, and search_free frees them, after a failure
 * too. */
hd_status tuner_search(search *s, const tuner_bench *b, const hd_plan_space *space, const hd_candidate *list,
                       size_t n, const search_options *o, hd_diag *d);
void search_free(search *s);
/* The finalists and the original in turns: s->best, adopted, tested, undecided. */
hd_status search_decide(search *s, hd_diag *d);
double search_decision_takes(const search *s, size_t arms); /* seconds */
void search_let_all_go(search *s);
/* Measure plans against others, both made ready again in each of two halves. */
hd_status search_compare(const tuner_bench *b, const hd_plan_set *before, const hd_plan_set *after,
                         uint32_t rounds, double confidence, hd_speedup *speedup, double *before_us,
                         double *after_us, hd_diag *d);
/* Rounds of that comparison of runs that take so long which fit into so many seconds: at least those that
 * tell something, at most `most`. */
uint32_t search_rounds(double us, double seconds, uint32_t most);

/* ---- Places ------------------------------------------------------------------------------ */

/* How a plan is tested in other places (hd_tune_places); benches that cannot move have none. */
typedef struct confirm_options {
  double confidence;
  double least;    /* a speedup at or below it in any place ends the test */
  uint32_t rounds; /* in each place */
  bool slow;       /* a run takes so long that neither warm-ups nor loading again are worth it */
} confirm_options;

/* Places that the confidence needs, at least 1. */
uint32_t confirm_places(double confidence);
/* The rounds, and whether slow, for so many seconds, when a run takes `second` of them. */
void confirm_afford(const tuner_bench *b, double second, double seconds, confirm_options *o);
/* The seconds that the least of them takes. */
double confirm_takes(const tuner_bench *b, double second, double confidence);
/* out->places.n says how far it came: with fewer than confirm_places the interval is 0 to infinity. */
hd_status search_confirm(const tuner_bench *b, const hd_plan_set *before, const hd_plan_set *after,
                         const confirm_options *o, search_test *out, hd_diag *d);

/* ---- Parts of a search ---------------------------------------------------------------------- */

enum {
  SEARCH_FINALISTS = HD_CONTEST_FINALISTS,
  SEARCH_FINAL_ROUNDS = 21,
  SEARCH_LEAST_TEST = 8, /* pairs: fewer say nothing at 99% */
};
/* Smaller gains are not adopted: they do not outlive a new driver, or another run. */
#define SEARCH_LEAST_GAIN 1.005
#define SEARCH_PROMISING 1.001 /* to be worth the test */
#define SEARCH_OVERTIME 0.4    /* search_options.overtime of default budgets */

/* The fixed plans with this one for the kernel that is tuned. Borrowed, until the next call. */
hd_plan_set search_plans(const search *s, const hd_plan *p);
double search_now(const search *s); /* seconds since it began */
void search_report(const search *s, const char *stage, size_t done, size_t n);
/* The status speaks of the plan; any other than these and HD_OK ends the search. */
bool search_plans_fault(hd_status st);
/* Make a trial ready. One whose first time is hopeless is let go at once; a plan's own fault is its trial's.
 */
hd_status search_admit(search *s, size_t at, hd_diag *d);
/* Tell the bench of plans that may be admitted soon. */
enum { SEARCH_AHEAD = 24 };
void search_announce(search *s, const hd_plan *const *plans, size_t n);
void search_let_go(search *s, search_trial *t);
void search_keep_only(search *s, const size_t *kept, size_t n);
/* Rounds in the first measurement of a plan: enough for a median where they cost next to nothing. */
uint32_t search_first_rounds(const search *s);
/* Rounds of the original and of trials, whose ratios they add to. */
hd_status search_measure(search *s, const size_t *at, size_t n, uint32_t warmups, uint32_t rounds,
                         hd_diag *d);
/* The pair that speaks most for a trial, or least. */
double search_extreme(const search_trial *t, bool best);
/* One of its pairs reached the gain that adoption takes. */
bool search_is_hopeful(const search_trial *t);
/* The plan is the baseline or a trial's. */
bool search_is_known(const search *s, const hd_plan *p);
/* The held trials by their score, best first; returns how many, at most cap. */
size_t search_rank(const search *s, size_t *out, size_t cap);
/* The same, of which a quarter are left to families that the others do not belong to. */
size_t search_rank_families(const search *s, size_t *out, size_t cap);

/* Where a stage has reason to go on at its end, it may until this second. The stage then calls
 * search_ran_late, which delays all that follows by what it took. */
double search_overtime(const search *s, double until);
void search_ran_late(search *s, double until);
/* Measure candidates until then, or later if the least was not seen by then (search_overtime); the others go
 * on waiting. */
hd_status search_screen(search *s, double until, hd_diag *d);
/* Leave SEARCH_FINALISTS of the trials. */
hd_status search_halve(search *s, double until, hd_diag *d);
/* The score that a finalist of runs in turns has at least. */
double search_least(const search *s);

#endif
