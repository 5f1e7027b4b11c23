/* Budgets, confidences and progress of a tuning, for all of its stages. */
#include <math.h>

#include "tune/tuning.h"

/* Of the default budget: at least, for each second of a run of the workload, at most. Where a run takes long,
 * a budget that is ample for short ones would try a dozen plans. */
static const double least_budget = 4, budget_of_runs = 80, most_budget = 10;
/* Where DRAM moves so many times the buffers' bytes, most of a run may be saved, which is worth twice the
 * budget: decoding over shared prefixes moves 8.5 times as many, and an order makes it 2.8x faster on an
 * H100. */
static const double much_to_save = 4;
#define DEFAULT_CONFIDENCE 0.99
/* Of the budget; the rest is for set-up, advice, and the whole workload's times and counters. */
static const double search_part = 0.75;
static const double least_wall = 600, walls_of_budgets = 10;

double tuning_moved_over_held(const tuning *t) {
  const hd_counters *c = &t->out->before;
  double dram = (double)hd_counters_dram(c);
  return t->out->has_counters && t->out->buffer_bytes ? dram / (double)t->out->buffer_bytes : 0;
}

double tuning_budget(const tuning *t) {
  double own = least_budget + budget_of_runs * 1e-6 * t->out->before_us;
  if (tuning_moved_over_held(t) >= much_to_save) own *= 2;
  return t->o.budget > 0 ? t->o.budget : fmin(own, most_budget);
}
double tuning_confidence(const tuning *t) {
  return t->o.confidence > 0 ? t->o.confidence : DEFAULT_CONFIDENCE;
}

double tuning_search_budget(const tuning *t) { return search_part * tuning_budget(t); }

double hd_wall_seconds(double wall, double budget) {
  return wall > 0 ? wall : fmax(walls_of_budgets * budget, least_wall);
}

void tuning_report(const tuning *t, const char *stage) {
  if (t->o.progress) t->o.progress(t->o.ctx, stage, 0, 1);
}

hd_speedup tuning_no_speedup(const tuning *t) {
  return (hd_speedup){.median = 1, .low = 0, .high = INFINITY, .confidence = tuning_confidence(t)};
}
