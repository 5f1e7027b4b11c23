/* How much of a GPU a workload's largest launch keeps busy. */
#include <inttypes.h>
#include <stdio.h>

#include "heddle/predict.h"

enum { FEW = 8 }; /* warps, of so many that an SM has room for: too few to hide what memory takes */

static uint32_t warps_of(const uint32_t block[3]) {
  return (uint32_t)(((uint64_t)block[0] * block[1] * block[2] + HD_WARP - 1) / HD_WARP);
}

hd_filling hd_find_filling(const hd_workload *w, uint32_t resident, const hd_gpu *g) {
  hd_filling f = {.resident = resident};
  for (uint32_t i = 0; i < w->n_launches; i++) {
    uint64_t tasks;
    if (!hd_grid_tasks(w->launches[i].grid, &tasks) || tasks <= f.tasks) continue;
    f.tasks = tasks;
    f.warps = warps_of(w->launches[i].block);
  }
  uint64_t each = (f.tasks + g->n_sms - 1) / g->n_sms; /* CTAs that an SM gets in all */
  f.busy_sms = f.tasks < g->n_sms ? (uint32_t)f.tasks : g->n_sms;
  f.warps_at_once = (uint32_t)(each < resident ? each : resident) * f.warps;
  f.few = f.busy_sms < g->n_sms || f.warps_at_once * FEW <= g->max_warps;
  return f;
}

void hd_filling_print(const hd_filling *f, const hd_gpu *g, char *out, size_t cap) {
  snprintf(
      out, cap,
      "%" PRIu64
      " CTA%s of %u warp%s keep%s %u of %u SMs busy, each with %u of %u warps at once (%u CTA%s would fit)",
      f->tasks, f->tasks == 1 ? "" : "s", f->warps, f->warps == 1 ? "" : "s", f->tasks == 1 ? "s" : "",
      f->busy_sms, g->n_sms, f->warps_at_once, g->max_warps, f->resident, f->resident == 1 ? "" : "s");
}
