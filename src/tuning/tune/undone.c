#include "tune/undone.h"

#define TEXT(x) #x
#define NUMBER(x) TEXT(x)

static const struct {
  const char *reached, *remedy;
} bounds[] = {
    [HD_BOUND_NONE] = {"a bound was reached", "a smaller --size"},
    [HD_BOUND_TIME] = {"the time was over", "a longer --wall"},
    [HD_BOUND_WORK] = {"the traces' work was over what the budget pays for",
                       "a larger --budget, above " NUMBER(HD_OPTIMIZE_SECONDS)},
    [HD_BOUND_MEMORY] = {"the traces' memory was over its limit", "a smaller --size"},
    [HD_BOUND_PROOF] = {"a proof could not be made", "the reason is above"},
};

const char *hd_bound_reached(hd_bound b) { return bounds[b].reached; }
const char *hd_bound_remedy(hd_bound b) { return bounds[b].remedy; }

bool hd_optimize_answers(const hd_optimized *z) { return !z->ended && !z->stopped; }

void undone_end(hd_optimized *z, hd_bound b) { z->ended |= 1u << b; }

void undone_row(hd_sweep_row *row, hd_bound b, const char *why) {
  row->status = HD_ERR_BUDGET;
  row->bound = b;
  hd_fit(row->why, sizeof row->why, "%s", why);
}

void undone_count(hd_optimized *z, size_t replayed) {
  for (size_t i = replayed; i < z->n_rows; i++)
    undone_row(&z->rows[i], z->stopped ? HD_BOUND_NONE : HD_BOUND_TIME,
               z->stopped ? "the search was stopped before it was replayed"
                          : "the time was over before it was replayed");
  for (size_t i = 0; i < z->n_rows; i++) {
    if (z->rows[i].status != HD_ERR_BUDGET) continue;
    z->late++;
    if (i < replayed || !z->stopped) undone_end(z, z->rows[i].bound);
  }
}

void undone_know_nothing(hd_optimized *z) {
  z->best = 0;
  hd_fit(z->why, sizeof z->why, "no plan was tried: %s (%s)", z->rows[0].why,
         hd_bound_remedy(z->rows[0].bound));
}

void undone_leave_unproved(hd_optimized *z, const hd_sweep_row *row, hd_bound b, const char *stage) {
  hd_buf plan = {0};
  hd_plan_print(&row->plan, &plan);
  z->best = 0;
  z->unproved = true;
  undone_end(z, b);
  hd_fit(z->why, sizeof z->why, "%s before a plan was %s (next: %s, predicted %.2fx; %s)",
         hd_bound_reached(b), stage, plan.data ? plan.data : "",
         z->rows[0].counters.time_us / row->counters.time_us, hd_bound_remedy(b));
  hd_buf_free(&plan);
}

hd_status undone_lack_proof(hd_optimized *z, const hd_sweep_row *row, const hd_diag *e, hd_diag *d) {
  hd_buf plan = {0};
  char line[sizeof z->why];
  if (e->status != HD_ERR_BUDGET && e->status != HD_ERR_MISSING && !hd_blames_plan(e->status)) {
    if (d) *d = *e;
    return e->status;
  }
  hd_plan_print(&row->plan, &plan);
  z->best = 0;
  z->unproved = true;
  undone_end(z, HD_BOUND_PROOF);
  hd_fit(z->why, sizeof z->why, "no proof could be made here: %s (next: %s, predicted %.2fx)",
         hd_diag_line(e, line, sizeof line), plan.data ? plan.data : "",
         z->rows[0].counters.time_us / row->counters.time_us);
  const hd_status st = plan.failed ? hd_nomem(d) : HD_OK;
  hd_buf_free(&plan);
  return st;
}

void undone_explain(hd_optimized *z) {
  const hd_sweep_row *next = NULL; /* the fastest whose second look was not done */
  size_t replayed = 0;
  for (size_t i = 1; i < z->n_rows; i++) {
    const hd_sweep_row *row = &z->rows[i];
    if (row->counters.time_us <= 0) continue;
    replayed++;
    if (row->status == HD_ERR_BUDGET && (!next || row->counters.time_us < next->counters.time_us)) next = row;
  }
  if (next)
    undone_leave_unproved(z, next, next->bound, "looked at again");
  else if (replayed)
    hd_fit(z->why, sizeof z->why,
           "%zu of %zu plans replayed, and no such plan gains enough and can be proved", replayed,
           z->n_rows - 1);
  else
    hd_fit(z->why, sizeof z->why, "no plan but the default was replayed");
}
