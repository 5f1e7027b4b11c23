/* The fastest plan on a modelled GPU that can be applied and proved, and the kernel under it. */
#include "heddle/optimize.h"
#include "heddle/container.h"
#include "heddle/tuner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/second_look.h"
#include "tune/undone.h"
#include "tune/winner_proof.h"

static const double traced_part = 0.5, replays_part = 0.45, second_part = 0.1, proof_part = 0.25;
/* The time that a plan takes, in that of its replay: its order brings tasks that are recorded first, and
 * plans that change accesses have recordings of their own. bench_timing: traces run at 10 to 22 million units
 * a second, replays at 7 to 64. */
static const double plan_replays = 1.6;
/* The work follows from the seconds as numbers of accesses and instructions, so that results do not depend on
 * the machine. The wall only ends what takes far too long: each stage ends when so much of it is over, done
 * or not, and then there is no answer. */
static const double traced_by = 0.5, replayed_by = 0.75, looked_by = 0.83, proved_by = 0.95;
/* Plans that share the time of replays where launches are sampled; second looks at most. */
enum { SAMPLED = 48, LEAST_CANDIDATES = 4, LOOKS = 4 };

/* A plan that was not worth its instructions, which plans of its kind would need about as many of. */
typedef struct counted {
  uint32_t family; /* hd_plan_family */
  hd_order_kind order;
  double ratio; /* instructions, of the original's */
  size_t row;
} counted;

typedef struct optimizing {
  const hd_workload *w;
  const hd_gpu *g;
  hd_optimize_options o;
  hd_study_options how;
  hd_optimized *out;
  winner_proof proof; /* chosen when a plan is first tried */
  second_look second;
  size_t too_little; /* the first row that was struck out for promising less than is asked; 0: none */
  size_t fallen;     /* the fastest row that promised a gain and did not hold; 0: none */
  HD_VEC(counted) counted;
  size_t replayed; /* the first so many rows */
  double began;
} optimizing;

/* hd_seconds when this part of the wall is over; 0: it is never over. */
static double when(const optimizing *z, double part) {
  if (z->o.exact && z->o.wall <= 0) return 0;
  return z->began + part * hd_wall_seconds(z->o.wall, z->o.seconds);
}

static bool is_over(const optimizing *z, double part) {
  return when(z, part) > 0 && hd_seconds() >= when(z, part);
}

/* ---- Plans to choose among ------------------------------------------------------------ */

static hd_status add_row(optimizing *z, const hd_plan *p, hd_diag *d) {
  hd_optimized *out = z->out;
  for (size_t i = 0; i < out->n_rows; i++)
    if (hd_plan_equal(&out->rows[i].plan, p)) return HD_OK;
  hd_sweep_row *rows = realloc(out->rows, (out->n_rows + 1) * sizeof *rows);
  if (!rows) return hd_nomem(d);
  out->rows = rows;
  rows[out->n_rows++] = (hd_sweep_row){.plan = *p};
  return HD_OK;
}

/* Plans whose replays the seconds suffice for. */
static size_t affordable(const optimizing *z) {
  const double units = hd_study_units(z->out->study),
               all = (double)hd_sample_units(z->o.seconds * replays_part, 1),
               n = units > 0 ? all / (plan_replays * units) : 0;
  return n < LEAST_CANDIDATES ? LEAST_CANDIDATES : n > HD_CANDIDATES ? HD_CANDIDATES : (size_t)n;
}

/* A list that takes too long to make is left out: its plans come from facts about all traces. */
static hd_status list_rows(optimizing *z, hd_diag *d) {
  hd_diag e = {0};
  hd_status st = add_row(z, &hd_plan_original, d);
  for (size_t i = 0; st == HD_OK && z->o.plans && i < z->o.n_plans; i++)
    st = add_row(z, &z->o.plans[i].plan, d);
  if (st != HD_OK || z->o.plans) return st;
  hd_list_options list = {.run = z->o.run,
                          .dispatch = z->o.dispatch,
                          .seed = z->o.seed,
                          .facts = true,
                          .keep_launch = z->o.keep_launch,
                          .most = affordable(z)};
  hd_plan_list plans = {0};
  hd_study_set_until(z->out->study, when(z, replayed_by));
  st = hd_advise_list(z->w, z->out->study, z->g, &list, &plans, &e);
  if (st == HD_ERR_BUDGET) {
    undone_end(z->out, e.bound);
    return HD_OK;
  }
  if (st != HD_OK && d) *d = e;
  for (size_t i = 0; st == HD_OK && i < plans.n && i < list.most; i++) st = add_row(z, &plans.at[i].plan, d);
  if (plans.replayed) {
    z->out->rows[0].counters = plans.original;
    z->replayed = 1;
  }
  hd_plan_list_free(&plans);
  return st;
}

/* ---- The kernel under a plan ----------------------------------------------------------- */

/* The order's table, where the text holds none. */
static hd_status take_table(optimizing *z, const hd_resolved *plans, hd_diag *d) {
  const hd_compiled *code = plans->code;
  for (uint32_t i = 0; i < code->n_kernels; i++) {
    const hd_recipe *r = &z->out->written.recipes[code->kernels[i].first];
    const hd_table *t = &plans->kernels[i].table;
    z->out->other_launch |= r->state_bytes || r->table_bytes || r->agents;
    if (!r->table_bytes || plans->kernels[i].plan.order.kind == HD_ORDER_TABLE) continue;
    if (z->out->table.n) return hd_fail(d, HD_ERR_UNSUPPORTED, "several kernels have tables of their order");
    z->out->table = (hd_table){.task = malloc(t->n * sizeof *t->task), .n = t->n};
    if (!z->out->table.task) return hd_nomem(d);
    memcpy(z->out->table.task, t->task, t->n * sizeof *t->task);
  }
  return HD_OK;
}

/* The module that a checker runs for these plans, as text. */
static hd_status take_text(optimizing *z, const hd_resolved *plans, hd_diag *d) {
  hd_rewritten_free(&z->out->written);
  hd_status st =
      hd_apply_resolved(plans, &z->o.run.compile, z->g->n_sms, HD_TEXT_IN_PLACE, &z->out->written, d);
  if (st == HD_OK) st = take_table(z, plans, d);
  if (st != HD_OK) hd_rewritten_free(&z->out->written);
  return st;
}

/* ---- The proof ------------------------------------------------------------------------- */

/* Seconds of work that a proof may take, on two cores; 0: any. */
static double proof_seconds(const optimizing *z) { return z->o.exact ? 0 : proof_part * z->o.seconds; }

/* That it may take where there is no smaller size; 0: any. */
static double proof_most(const optimizing *z) {
  return z->o.exact ? 0 : z->o.proof > 0 ? z->o.proof : 2 * fmax(z->o.seconds, HD_OPTIMIZE_SECONDS);
}

/* Run the original once, for all plans that are compared with it. */
static hd_status open_proof(optimizing *z, hd_diag *d) {
  const double instructions = (double)z->out->rows[0].counters.thread_instructions,
               affordable = proof_seconds(z);
  hd_status st = HD_OK;
  if (!z->proof.w)
    st = winner_proof_choose(&z->proof, z->w, &z->o.run, z->o.seed, instructions, affordable, proof_most(z),
                             d);
  z->out->whole_proof_seconds = z->proof.seconds;
  if (st == HD_OK && z->proof.smaller)
    snprintf(z->out->proof_size, sizeof z->out->proof_size, "%s", z->proof.smaller->size);
  return st == HD_OK ? winner_proof_open(&z->proof, d) : st;
}

/* Replays count the original's instructions; one run of the rewritten kernel counts its own. */
static double time_with_instructions(const hd_counters *c, uint64_t before, uint64_t after) {
  if (!before || c->cycles <= 0) return c->time_us;
  double issue = c->cycles_issue * (double)after / (double)before;
  return issue > c->cycles ? c->time_us * issue / c->cycles : c->time_us;
}

static void strike_out(hd_sweep_row *row, hd_status st, const char *why) {
  row->status = st;
  hd_fit(row->why, sizeof row->why, "%s", why);
}

static double worth(const optimizing *z, const hd_plan *p) { return promise_asked(z->out->study, p); }

static bool is_promising(const optimizing *z, const hd_sweep_row *row) {
  return row->status == HD_OK &&
         row->counters.time_us * worth(z, &row->plan) <= z->out->rows[0].counters.time_us;
}

/* Would so many times the original's instructions leave it worth while? */
static bool is_worth(const optimizing *z, const hd_sweep_row *row, double ratio) {
  const uint64_t before = z->proof.original.thread_instructions;
  const uint64_t after = (uint64_t)((double)before * ratio);
  return time_with_instructions(&row->counters, before, after) * worth(z, &row->plan) <=
         z->out->rows[0].counters.time_us;
}

/* Strike the plan out where one of its kind has shown that it cannot be worth its instructions: orders of one
 * kind work out their tasks alike, whatever their numbers are. */
static bool is_known_loser(const optimizing *z, hd_sweep_row *row) {
  for (size_t i = 0; i < z->counted.n; i++) {
    const counted *c = &z->counted.data[i];
    if (c->family != hd_plan_family(&row->plan) || c->order != row->plan.order.kind) continue;
    if (is_worth(z, row, c->ratio)) continue;
    hd_buf plan = {0};
    char why[256];
    hd_plan_print(&z->out->rows[c->row].plan, &plan);
    hd_fit(why, sizeof why,
           "working out its tasks costs more than it gains, about as much as %s's: %+.0f%% instructions",
           plan.data ? plan.data : "", 100.0 * (c->ratio - 1));
    hd_buf_free(&plan);
    strike_out(row, HD_ERR_UNSUPPORTED, why);
    return true;
  }
  return false;
}

/* Whether the plan is worth a proof, and proved. One run counts its instructions; only if they leave it
 * worthwhile is it run under all other dispatchers. A row that fails is struck out; *st is the status of any
 * other failure. */
static bool prove(optimizing *z, hd_sweep_row *row, const hd_resolved *plans, hd_status *st, hd_diag *d) {
  hd_check_result first, rest = {0};
  const uint64_t before = z->proof.original.thread_instructions;
  *st = winner_proof_check(&z->proof, &row->plan, plans, 0, 1, &first, d);
  if (*st != HD_OK) return false;
  const double ratio = before ? (double)first.thread_instructions_rewritten / (double)before : 1;
  z->out->tried++;
  if (first.equal && !is_worth(z, row, ratio)) {
    char why[160];
    const counted c = {hd_plan_family(&row->plan), row->plan.order.kind, ratio, (size_t)(row - z->out->rows)};
    snprintf(why, sizeof why, "working out its tasks costs more than it gains: %+.0f%% instructions",
             100.0 * (ratio - 1));
    strike_out(row, HD_ERR_UNSUPPORTED, why);
    if (!hd_vec_push(&z->counted, c)) *st = hd_nomem(d);
    return false;
  }
  if (first.equal) *st = winner_proof_check(&z->proof, &row->plan, plans, 1, HD_DISPATCH_COUNT, &rest, d);
  if (*st != HD_OK) return false;
  if (!first.equal || !rest.equal) {
    strike_out(row, HD_ERR_REFUSED, first.equal ? rest.what : first.what);
    return false;
  }
  z->out->proof = rest;
  z->out->proof.runs += first.runs;
  z->out->proof.seconds += first.seconds + z->proof.original.seconds;
  z->out->proof.against_reference = z->proof.original.against_reference;
  memcpy(z->out->proof.no_reference, z->proof.original.no_reference, sizeof z->out->proof.no_reference);
  z->out->proof.race_free = z->proof.original.race_free;
  z->out->proof.thread_instructions = before;
  return true;
}

/* ---- The choice ------------------------------------------------------------------------ */

static bool only_reorders(const hd_plan *p) {
  const hd_plan order = {.order = p->order, .shape = p->shape};
  return hd_plan_equal(p, &order);
}

static hd_status give_up(optimizing *z, const char *what, const char *why) {
  z->out->best = 0;
  hd_fit(z->out->why, sizeof z->out->why, "%s: %s", what, why);
  return HD_OK;
}

/* Try the row's plan; *done: it is the one, or no other would fare better. */
static hd_status try_row(optimizing *z, size_t at, bool *done, hd_diag *d) {
  hd_sweep_row *row = &z->out->rows[at];
  const hd_plan_set set = {.all = row->plan};
  hd_resolved plans = {0};
  hd_diag e = {0};
  hd_status st = hd_resolve(z->w, &set, &z->o.run, z->out->study, &plans, &e);
  bool resolved = st == HD_OK;
  if (resolved) st = open_proof(z, &e);
  *done = true;
  if (resolved && st != HD_OK &&
      (st != HD_ERR_BUDGET || e.bound == HD_BOUND_PROOF)) { /* no plan has a part in that */
    hd_resolved_free(&plans);
    return undone_lack_proof(z->out, row, &e, d);
  }
  if (st == HD_OK &&
      !z->proof.original.equal) { /* a race or a fault of the original: the kernel's, not a plan's */
    strike_out(row, HD_ERR_REFUSED, z->proof.original.what);
    hd_resolved_free(&plans);
    return give_up(z, "no plan can be proved", row->why);
  }
  bool proved = st == HD_OK && prove(z, row, &plans, &st, &e);
  if (proved) st = take_text(z, &plans, &e);
  if (st == HD_ERR_BUDGET) {
    undone_leave_unproved(z->out, row, e.bound, "proved");
    st = HD_OK;
  } else if (hd_blames_plan(st)) {
    strike_out(row, st, e.message);
    /* A plan that a smaller launch does not take may be one for larger ones. */
    *done = st == HD_ERR_REFUSED && only_reorders(&row->plan) && !z->proof.smaller;
    st = *done ? give_up(z, "the kernel cannot be reordered", row->why) : HD_OK;
  } else if (st == HD_OK) {
    *done = proved;
    if (proved) z->out->best = at;
  } else if (d) {
    *d = e;
  }
  if (resolved) hd_resolved_free(&plans);
  return st;
}

/* Plans that only a GPU can judge, as far as they can be applied. */
static hd_status list_unseen(optimizing *z, hd_diag *d) {
  hd_plan_list all = {0};
  hd_status st = hd_advise_unseen(z->w, z->g, &z->o.run.compile, &all, d);
  for (size_t i = 0; st == HD_OK && i < all.n; i++) {
    const hd_plan_set set = {.all = all.at[i].plan};
    hd_resolved plans = {0};
    hd_diag e = {0};
    st = hd_resolve(z->w, &set, &z->o.run, z->out->study, &plans, &e);
    if (st == HD_OK) {
      st = hd_apply_resolved(&plans, &z->o.run.compile, z->g->n_sms, HD_TEXT_NONE, NULL, &e);
      hd_resolved_free(&plans);
    }
    if (st == HD_OK)
      st = hd_plan_list_add(&z->out->unseen, &all.at[i].plan, all.at[i].prior, all.at[i].reason, &e);
    if (hd_blames_plan(st)) st = HD_OK;
    if (st != HD_OK && d) *d = e;
  }
  hd_plan_list_free(&all);
  return st;
}

static bool asked_to_stop(const optimizing *z) { return z->o.stop && z->o.stop(z->o.ctx); }

static void report(const optimizing *z, const char *stage, size_t done, size_t n) {
  if (z->o.progress) z->o.progress(z->o.ctx, stage, done, n);
}

static size_t count_promising(const optimizing *z) {
  size_t n = 0;
  for (size_t i = 1; i < z->out->n_rows; i++) n += is_promising(z, &z->out->rows[i]);
  return n;
}

/* Does a row of a sampled sweep keep its promise in a second look? It is struck out if not. */
static bool keeps_promise(optimizing *z, hd_sweep_row *row, hd_status *st, hd_diag *d) {
  const double part = hd_study_part(z->out->study);
  hd_diag e = {0};
  char why[200];
  /* Of short tasks a sample has a least size, which may be more than was asked for: a second one would be the
   * same. */
  if (part >= 1 || (double)z->second.how.sample_units < 1.25 * hd_study_units(z->out->study)) return true;
  if (z->second.looks == LOOKS) {
    strike_out(row, HD_ERR_UNSUPPORTED, "the plans before it that promised more did not keep their promise");
    return false;
  }
  report(z, "looking again", z->second.looks, LOOKS);
  *st = second_look_take(&z->second, &row->plan, &z->out->second_speedup, &e);
  if (*st == HD_ERR_BUDGET &&
      second_look_spared(z->out->rows[0].counters.time_us / row->counters.time_us, worth(z, &row->plan))) {
    *st = HD_OK;
    z->out->second_speedup = 0;
    return true;
  }
  if (hd_blames_plan(*st) || *st == HD_ERR_BUDGET) {
    strike_out(row, *st, e.message);
    if (*st == HD_ERR_BUDGET) {
      row->bound = e.bound;
      z->out->unproved = true;
      undone_end(z->out, e.bound);
    }
    *st = HD_OK;
    return false;
  }
  if (*st != HD_OK) {
    if (d) *d = e;
    return false;
  }
  z->out->second_part = second_look_part(&z->second);
  if (z->out->second_speedup >= worth(z, &row->plan)) return true;
  snprintf(why, sizeof why, "does not keep its promise: %.3fx by %.1f%% of the work, %.3fx by %.1f%%",
           z->out->rows[0].counters.time_us / row->counters.time_us, 100 * part, z->out->second_speedup,
           100 * z->out->second_part);
  strike_out(row, HD_ERR_UNSUPPORTED, why);
  return false;
}

static hd_status explain(optimizing *z, hd_diag *d) {
  const hd_sweep_row *rows = z->out->rows;
  if (!hd_optimize_answers(z->out)) {
    undone_explain(z->out);
    return HD_OK;
  }
  if (z->out->n_rows == 1) {
    hd_fit(z->out->why, sizeof z->out->why, "there is no plan to try");
    return list_unseen(z, d);
  }
  if (z->fallen) {
    hd_buf plan = {0};
    hd_plan_print(&rows[z->fallen].plan, &plan);
    hd_fit(z->out->why, sizeof z->out->why, "of the plans that promised a gain none holds (%s: %s)",
           plan.data ? plan.data : "", rows[z->fallen].why);
    const hd_status st = plan.failed ? hd_nomem(d) : list_unseen(z, d);
    hd_buf_free(&plan);
    return st;
  }
  const int64_t best = z->too_little ? (int64_t)z->too_little : hd_sweep_best(rows, z->out->n_rows);
  z->out->no_gain = true;
  if (best > 0 && rows[best].counters.time_us * PROMISE_LEAST <= rows[0].counters.time_us)
    z->out->most = (size_t)best;
  return list_unseen(z, d);
}

static hd_status choose(optimizing *z, hd_diag *d) {
  hd_sweep_row *rows = z->out->rows;
  const size_t promising = count_promising(z);
  hd_status st = HD_OK;
  for (bool done = false; st == HD_OK && !done;) {
    int64_t best = hd_sweep_best(rows, z->out->n_rows);
    if (rows[0].status == HD_ERR_BUDGET) {
      undone_know_nothing(z->out);
      return HD_OK;
    }
    if (best < 0) return hd_fail(d, HD_ERR_INPUT, "no plan could be simulated: %s", rows[0].why);
    z->out->best = 0;
    if (best == 0 || !count_promising(z)) break;
    if (!is_promising(z, &rows[best])) { /* others are content with less */
      if (!z->too_little) z->too_little = (size_t)best;
      strike_out(&rows[best], HD_ERR_UNSUPPORTED,
                 "promises too little for a plan that binds CTAs to SMs, or changes what caches keep");
      continue;
    }
    if (z->out->tried && asked_to_stop(z)) {
      z->out->stopped = true;
      snprintf(z->out->why, sizeof z->out->why, "no plan was proved before the search was stopped");
      return HD_OK;
    }
    if (is_over(z, proved_by)) {
      undone_leave_unproved(z->out, &rows[best], HD_BOUND_TIME, "proved");
      return HD_OK;
    }
    if (!z->fallen) z->fallen = (size_t)best; /* unless it is kept */
    if (!keeps_promise(z, &rows[best], &st, d)) continue;
    report(z, "proving plans", promising - count_promising(z), promising);
    if (z->proof.checker && is_known_loser(z, &rows[best])) continue;
    st = try_row(z, (size_t)best, &done, d);
  }
  return st == HD_OK && !z->out->best && !z->out->why[0] ? explain(z, d) : st;
}

/* ---- Replays --------------------------------------------------------------------------- */

static void report_replays(void *ctx, size_t done, size_t n) {
  const optimizing *z = ctx;
  report(z, "replaying plans", z->replayed + done, z->out->n_rows);
}

/* All rows at once; so many at a time where someone may stop it. The rows that are left out are struck out.
 */
static hd_status replay(optimizing *z, hd_diag *d) {
  const size_t threads = z->o.run.machine.threads ? z->o.run.machine.threads : hd_cpu_count(),
               n = z->out->n_rows;
  const size_t most = z->o.stop || !z->o.exact ? 4 * threads : n;
  hd_status st = HD_OK;
  hd_study_set_until(z->out->study, when(z, replayed_by));
  while (st == HD_OK && z->replayed < n && !is_over(z, replayed_by)) {
    const size_t at = z->replayed, some = n - at < most ? n - at : most;
    st = hd_sweep(z->out->study, z->g, z->o.dispatch, z->o.seed, z->out->rows + at, some,
                  z->o.run.machine.threads, report_replays, z, d);
    z->replayed += some;
    z->out->stopped = st == HD_OK && z->replayed < n && asked_to_stop(z);
    if (z->out->stopped) break;
  }
  undone_count(z->out, z->replayed);
  return st;
}

/* ---- All of it ------------------------------------------------------------------------- */

/* The seconds since *since, which becomes now. */
static double lap(double *since) {
  const double now = hd_seconds(), took = now - *since;
  *since = now;
  return took;
}

/* Launches that cannot be sampled are traced whole, where that is no more work than half of the seconds pay
 * for, or of the default ones. */
static hd_status trace(optimizing *z, hd_diag *d) {
  hd_run_options traced = z->o.run;
  hd_diag e = {0};
  traced.watch = (hd_watch){z->o.progress, z->o.ctx};
  traced.budget.until = when(z, traced_by);
  if (!z->o.exact && traced.budget.trace_seconds <= 0)
    traced.budget.trace_seconds = traced_part * fmax(z->o.seconds, HD_OPTIMIZE_SECONDS);
  hd_status st = hd_study_open(z->w, &traced, &z->how, &z->out->study, &e);
  if (st == HD_ERR_BUDGET) {
    z->out->late = 1;
    st = add_row(z, &hd_plan_original, d);
    if (st != HD_OK) return st;
    undone_row(&z->out->rows[0], e.bound, e.message);
    undone_end(z->out, e.bound);
    undone_know_nothing(z->out);
    return HD_OK;
  }
  if (st != HD_OK && d) *d = e;
  return st;
}

static hd_status search(optimizing *z, double *clock, hd_diag *d) {
  report(z, "choosing plans to try", 0, 1);
  z->second.first = z->out->study;
  hd_status st = list_rows(z, d);
  z->out->seconds.advice = lap(clock);
  if (st == HD_OK) st = replay(z, d);
  z->out->seconds.replay = lap(clock);
  z->o.run.budget.until = when(z, proved_by);
  if (st == HD_OK) st = choose(z, d);
  z->out->seconds.proof = lap(clock) - z->second.seconds;
  z->out->seconds.replay += z->second.seconds;
  return st;
}

/* Which kernel's order cannot be changed, and for which instruction of it; the other levers may still help.
 */
static hd_status find_fixed(optimizing *z, hd_diag *d) {
  const hd_compiled *code;
  hd_status st = hd_workload_compiled(z->w, hd_launch_arch(NULL, z->o.run.compile.arch), &code, d);
  for (uint32_t k = 0; st == HD_OK && k < code->n_kernels && !z->out->fixed[0]; k++) {
    hd_refusal r;
    if (!hd_rewrite_refusals_assuming(code->module, code->kernels[k].func, z->o.run.compile.assume, &r, 1))
      continue;
    hd_buf title = {0};
    hd_kernel_title(code->kernels[k].name, false, &title);
    hd_fit(z->out->fixed, sizeof z->out->fixed, "%s, line %u: %s", title.data ? title.data : "", r.line,
           r.what);
    if (title.failed) st = hd_nomem(d);
    hd_buf_free(&title);
  }
  return st;
}

hd_status hd_optimize(const hd_workload *w, const hd_gpu *g, const hd_optimize_options *o, hd_optimized *out,
                      hd_diag *d) {
  optimizing z = {.w = w, .g = g, .out = out, .began = hd_seconds()};
  if (o) z.o = *o;
  z.o.run.machine.n_sms = g->n_sms;
  if (z.o.seconds <= 0) z.o.seconds = HD_OPTIMIZE_SECONDS;
  z.how = (hd_study_options){.timed = true, .sample_gpu = g};
  if (!z.o.exact)
    z.how.sample_units = hd_sample_units(z.o.seconds * replays_part, z.o.plans ? z.o.n_plans + 1 : SAMPLED);
  z.second = (second_look){.g = g, .run = z.o.run, .how = z.how, .dispatch = z.o.dispatch, .seed = z.o.seed};
  z.second.how.sample_units = hd_sample_units(z.o.seconds * second_part, 2);
  z.second.run.budget.until = when(&z, looked_by);
  *out = (hd_optimized){.dispatch = z.o.dispatch, .seed = z.o.seed};
  double clock = z.began;
  report(&z, "tracing", 0, 1);
  hd_status st = hd_gpu_need_clock(g, d);
  if (st == HD_OK) st = find_fixed(&z, d);
  if (st == HD_OK) st = trace(&z, d);
  out->seconds.trace = lap(&clock);
  if (st == HD_OK && out->study) st = search(&z, &clock, d);
  report(&z, "proving plans", 1, 1);
  winner_proof_close(&z.proof);
  second_look_close(&z.second);
  hd_vec_free(&z.counted);
  if (st != HD_OK) hd_optimized_free(out);
  return st;
}

void hd_optimized_free(hd_optimized *z) {
  free(z->rows);
  hd_rewritten_free(&z->written);
  hd_plan_list_free(&z->unseen);
  hd_table_free(&z->table);
  hd_study_close(z->study);
  *z = (hd_optimized){0};
}
