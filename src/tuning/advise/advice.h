/* advise/advice.h: the parts that advice is made of.
 *
 * counts.c     counts of one trace
 * trace_facts.c  counts over a study's traces
 * text_facts.c  facts from the kernels' text
 * category.c   CLU's category from them
 * experiments.c  replays where they do not decide
 * propose.c    plans worth trying, replayed
 * likely.c     which of them first
 * possible.c   whether the rewriter takes a plan
 * advise.c     all of it, and whether the order is free
 * space.c      the plans that a launch leaves to try, from the text alone
 * plan_list.c  the plans to try on a modelled GPU
 */
#ifndef HEDDLE_ADVISE_ADVICE_H
#define HEDDLE_ADVISE_ADVICE_H

#include "heddle/advise.h"

typedef struct advising {
  const hd_workload *w;
  hd_study *s;
  const hd_gpu *g;
  hd_advise_options o;
  hd_advice *out;
  const hd_reuse_array *arrays; /* of the facts */
  /* Where counts leave the category open; NULL: they must do. */
  hd_status (*experiment)(struct advising *a, hd_diag *d);
} advising;

/* ---- Facts ------------------------------------------------------------------------ */

hd_status advice_facts(advising *a, hd_diag *d);

/* a / b, 0 when b is 0. */
static inline double advice_part(uint64_t a, uint64_t b) { return b ? (double)a / (double)b : 0; }
/* (CTA, line) pairs that an order of CTAs can exploit: other CTAs name the line too, but fewer than half of
 * all. */
static inline uint64_t advice_exploitable(const hd_sharing_row *r) { return r->shared - r->common; }
/* Useful part of the sectors that warps ask for; of lines. */
static inline double advice_sector_use(const hd_pattern_row *r) {
  return advice_part(r->least_sectors, r->sectors);
}
static inline double advice_line_use(const hd_pattern_row *r) {
  return advice_part(r->least_lines, r->lines);
}

/* ---- The text ------------------------------------------------------------------------ */

/* Compile, parse, analyse: buffers, refusals. */
hd_status advice_text(advising *a, hd_diag *d);

/* ---- Category ------------------------------------------------------------------------ */

hd_status advice_category(advising *a, hd_diag *d);
hd_status advice_experiment(advising *a, hd_diag *d);
/* The array, -1: none, with most accesses among those that are irregular, and not affine by the kernels'
 * text; *part gets its regular part. */
int64_t advice_irregular_array(const hd_advice *out, double *part);

/* ---- Proposals --------------------------------------------------------------------------- */

hd_status advice_propose(advising *a, hd_diag *d);
/* The levers that plans are tried for. */
typedef enum advice_lever {
  ADVICE_THREADS,
  ADVICE_ORDER,
  ADVICE_BIND,
  ADVICE_STREAM,
  ADVICE_BYPASS,
  ADVICE_PREFETCH,
  ADVICE_LEVERS
} advice_lever;
advice_lever advice_lever_of(const hd_plan *p);
/* What the accesses ask for, 0 to 1, by the facts and the baseline's counters. */
void advice_needs(const hd_advice *out, double need[ADVICE_LEVERS]);
/* Put items of so many bytes, each of which begins with its plan, in another order: one of each lever before
 * the second of any, levers of the greatest need first, and plans of one lever as they stand. */
hd_status advice_put_likeliest_first(void *items, size_t n, size_t bytes, const double need[ADVICE_LEVERS],
                                     hd_diag *d);
/* The rewriter takes the plan for all kernels of the workload. */
hd_status advice_is_possible(const advising *a, const hd_plan *p, bool *possible, hd_diag *d);

#endif
