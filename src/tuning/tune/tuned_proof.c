/* The proof that the chosen plan computes the same as the original: on the emulator at a small size, on the
 * device at the size that was tuned. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tuning.h"
#include "tune/winner_proof.h"

/* Of the budget, that the emulator may take at the size that was tuned, where there is no smaller one. */
static const double proof_budgets = 5;
/* The dispatchers, those first that are farthest from the order in which the original's CTAs come. */
static const hd_dispatch_kind most_telling[HD_DISPATCH_COUNT] = {
    HD_DISPATCH_SHUFFLED, HD_DISPATCH_STARVED, HD_DISPATCH_REVERSE,     HD_DISPATCH_LATE,
    HD_DISPATCH_ONE_SM,   HD_DISPATCH_DEMAND,  HD_DISPATCH_ROUND_ROBIN, HD_DISPATCH_SERIAL};

void tuning_put(hd_plan_set *set, const hd_tuned *k, const hd_plan *p) {
  hd_plan_set_put(set, k->kernel[0] ? k->kernel : NULL, p);
}

void tuning_drop(hd_tuned *k, const char *why, ...) {
  va_list ap;
  k->adopted = false;
  k->plan = hd_plan_original;
  k->after_us = k->before_us;
  k->proof = (hd_proof){0};
  va_start(ap, why);
  hd_fit_args(k->why, sizeof k->why, why, ap);
  va_end(ap);
}

/* ---- On the emulator ------------------------------------------------------------------ */

/* The smallest size there is: all dispatchers take a while. */
static hd_status open_small(const tuning *t, hd_workload **w, hd_diag *d) {
  hd_status st = hd_workload_reopen(t->w, "tiny", w, d);
  return st == HD_OK ? st : hd_workload_reopen(t->w, "small", w, d);
}

/* A recorded launch or a kernel's file has one size, at which the emulator may take hours: under how many
 * dispatchers it may run there. HD_ERR_UNSUPPORTED: not even under one. */
static hd_status afford(const tuning *t, const hd_workload *w, size_t *n, hd_diag *d) {
  double instructions;
  *n = HD_DISPATCH_COUNT;
  if (w->n_sizes > 1 || hd_estimate_instructions(w, t->o.run.compile.arch, t->o.run.machine.threads,
                                                 &instructions, NULL) != HD_OK)
    return HD_OK;
  const bool unknown = instructions == 0;
  for (uint32_t i = 0; unknown && i < w->n_launches; i++)
    instructions += t->work * (double)tuner_threads(&w->launches[i]);
  const double each = proof_run_seconds(w, instructions) * 2 / hd_cpu_count();
  *n = proof_affordable(each, proof_budgets * tuning_budget(t));
  return *n ? HD_OK
            : hd_fail(d, HD_ERR_UNSUPPORTED,
                      "that would take about %.0f seconds, more than the budget allows", each * PROOF_RUNS);
}

static hd_status emulate(const tuning *t, const hd_workload *w, const hd_tuned *k, hd_check_result *r,
                         hd_diag *d) {
  hd_check_options o = {.run = {.compile = {.arch = t->o.run.compile.arch,
                                            .any_grid = t->o.run.compile.any_grid,
                                            .assume = t->o.run.compile.assume},
                                .machine.threads = t->o.run.machine.threads},
                        .dispatchers = most_telling,
                        .no_reference = true};
  hd_kernel_plan room[1];
  hd_plan_set set = {.kernels = room};
  hd_resolved plans = {0};
  tuning_put(&set, k, &k->plan);
  hd_status st = afford(t, w, &o.n_dispatchers, d);
  if (st == HD_OK) st = hd_resolve(w, &set, &o.run, NULL, &plans, d);
  if (st == HD_OK) st = hd_check_resolved(&plans, &o, r, d);
  hd_resolved_free(&plans);
  return st;
}

/* The grid that reports show: that of the kernel's first launch. */
static void take_grid(const hd_workload *w, const char *kernel, uint32_t grid[3]) {
  for (uint32_t i = 0; i < w->n_launches; i++) {
    if (kernel[0] && strcmp(w->launches[i].kernel, kernel) != 0) continue;
    memcpy(grid, w->launches[i].grid, sizeof w->launches[i].grid);
    return;
  }
}

static bool has_grids_of(const hd_workload *a, const hd_workload *b) {
  bool same = a->n_launches == b->n_launches;
  for (uint32_t i = 0; same && i < a->n_launches; i++)
    same = memcmp(a->launches[i].grid, b->launches[i].grid, sizeof a->launches[i].grid) == 0;
  return same;
}

void tuning_prove(tuning *t, hd_tuned *k) {
  hd_workload *w = NULL;
  hd_diag e = {0};
  hd_check_result r = {0};
  double start = hd_seconds();
  tuning_report(t, "proof");
  hd_status st = open_small(t, &w, &e);
  if (st == HD_OK) {
    snprintf(k->proof.size, sizeof k->proof.size, "%s", w->size);
    take_grid(w, k->kernel, k->proof.grid);
    k->proof.same_grid = has_grids_of(w, t->w);
    st = emulate(t, w, k, &r, &e);
  }
  k->proof.any_grid = t->o.run.compile.any_grid;
  if (st != HD_OK) {
    k->proof.emulated = HD_PROOF_SKIPPED;
    hd_fit(k->proof.why, sizeof k->proof.why, "%s", e.message);
  } else if (r.equal) {
    k->proof.emulated = HD_PROOF_EQUAL;
    k->proof.dispatchers = r.runs;
    k->proof.bytes = r.bytes_compared;
  } else {
    tuning_drop(k, "not proved: %s", r.what);
  }
  hd_workload_close(w);
  t->out->spent.proof += hd_seconds() - start;
}

/* ---- On the device -------------------------------------------------------------------- */

hd_status tuning_compare(tuning *t, device_bench *b, const hd_plan_set *fixed, hd_tuned *k, hd_diag *d) {
  hd_plan_set set = *fixed;
  hd_diag e = {0};
  double start = hd_seconds();
  tuning_report(t, "comparison");
  set.kernels = calloc(fixed->n + 1, sizeof *set.kernels);
  if (!set.kernels) return hd_nomem(d);
  for (size_t i = 0; i < fixed->n; i++) set.kernels[i] = fixed->kernels[i];
  tuning_put(&set, k, &k->plan);
  hd_status st = device_bench_prove(b, &set, &k->proof.device_bytes, &e);
  if (st == HD_ERR_NOMEM || st == HD_ERR_BUDGET) { /* no verdict on the plan, which is not adopted */
    t->out->unanswered = true;
    tuning_drop(k, "no answer: the plan that won could not be compared at the size that was tuned: %s",
                e.message);
    st = HD_OK;
  } else if (st != HD_OK && search_plans_fault(st)) {
    tuning_drop(k, "at the size that was tuned: %s", e.message);
    st = HD_OK;
  } else if (st != HD_OK && d) {
    *d = e;
  }
  free(set.kernels);
  t->out->spent.proof += hd_seconds() - start;
  return st;
}
