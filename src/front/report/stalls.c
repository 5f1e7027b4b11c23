#include "report/stalls.h"

static const struct {
  const char *name;
  size_t at; /* in hd_counters; 0: the rest */
} reasons[] = {
    {"memory", offsetof(hd_counters, stall_memory)},
    {"dependency", offsetof(hd_counters, stall_dependency)},
    {"barrier", offsetof(hd_counters, stall_barrier)},
    {"throttle", offsetof(hd_counters, stall_throttle)},
    {"scheduler", offsetof(hd_counters, stall_issue)},
    {"issuing", 0},
};
enum { REASONS = sizeof reasons / sizeof *reasons };

/* Of the warps' cycles, in percent. */
static void find_parts(const hd_counters *c, double part[REASONS]) {
  double rest = 100;
  for (int i = 0; i < REASONS; i++) {
    part[i] =
        reasons[i].at ? 100 * *(const double *)((const char *)c + reasons[i].at) / c->warp_cycles : rest;
    rest -= part[i];
  }
}

void report_put_stalls(const hd_counters *c, hd_buf *out) {
  double part[REASONS];
  if (c->warp_cycles <= 0) return;
  bool any = false;
  find_parts(c, part);
  for (int i = 0; i < REASONS; i++) {
    if (part[i] < 0.5) continue; /* 0% in print */
    hd_buf_printf(out, "%s%.0f%% %s", any ? ", " : "", part[i], reasons[i].name);
    any = true;
  }
}
