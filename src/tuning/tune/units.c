/* The units of tuning: each kernel of a workload, or all of them with one plan. */
#include <math.h>
#include <string.h>

#include "tune/tuner.h"

uint64_t tuner_threads(const hd_wl_launch *l) {
  uint64_t tasks;
  return hd_grid_tasks(l->grid, &tasks) ? tasks * l->block[0] * l->block[1] * l->block[2] : 0;
}

uint32_t tuner_list_units(const hd_workload *w, bool whole, tuner_unit *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    uint32_t k = 0;
    while (k < n && out[k].kernel && strcmp(out[k].kernel, l->kernel) != 0) k++;
    if (k == n) out[n++] = (tuner_unit){.kernel = l->kernel, .launch = i};
    if (tuner_threads(l) > tuner_threads(&w->launches[out[k].launch])) out[k].launch = i;
  }
  if (!whole && n > 1) return n;
  /* One plan for all of them: a single kernel's name is still worth telling. */
  for (uint32_t k = 1; k < n; k++)
    if (tuner_threads(&w->launches[out[k].launch]) > tuner_threads(&w->launches[out[0].launch]))
      out[0].launch = out[k].launch;
  if (n > 1) out[0].kernel = NULL;
  return n ? 1 : 0;
}

hd_status tuner_time_unit(device_bench *b, tuner_unit *u, hd_diag *d) {
  tuner_bench bench = device_bench_interface(b);
  uint32_t slot;
  device_bench_watch(b, u->kernel);
  hd_status st = bench.admit(bench.ctx, &hd_plan_set_original, &slot, &u->us, d);
  if (st != HD_OK) return st;
  /* A short kernel's first run measures cold caches and clocks. */
  u->seconds = u->us * 1e-6;
  if (u->us < 50e3) {
    double begin = bench.clock(bench.ctx);
    st = bench.time(bench.ctx, &slot, 1, 0, 1, &u->us, d);
    u->seconds = bench.clock(bench.ctx) - begin;
  }
  bench.release(bench.ctx, slot);
  return st;
}

/* Every kernel worth tuning gets at least that. */
static const double kernel_share = 0.1;

/* Budgets go with the kernels' shares of the time. */
void tuner_share_out(tuner_unit *u, uint32_t n) {
  double sum = 0, shares = 0;
  for (uint32_t i = 0; i < n; i++) sum += u[i].us;
  for (uint32_t i = 0; i < n; i++) {
    double part = sum > 0 ? u[i].us / sum : 1.0 / n;
    u[i].share = n > 1 && part < TUNER_LEAST_SHARE ? 0 : fmax(part, kernel_share);
    shares += u[i].share;
  }
  for (uint32_t i = 0; i < n; i++) u[i].share /= shares > 0 ? shares : 1;
}

double tuner_unit_budget(const tuner_unit *u, uint32_t n, uint32_t i, const tuner_bench *b, double confidence,
                         double all) {
  double tests = 0, own = confirm_takes(b, u[i].seconds, confidence);
  for (uint32_t k = 0; k < n; k++)
    if (u[k].share > 0) tests += confirm_takes(b, u[k].seconds, confidence);
  return fmin(own + u[i].share * fmax(all - tests, all / 2), all);
}
