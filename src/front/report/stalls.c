#include "report/stalls.h"

#include "report/html.h"
#include "report/summary.h"

enum { REASONS = 6 };

static const struct {
  const char *name, *colour, *description;
  size_t at; /* in hd_counters; 0: the rest */
} reasons[REASONS] = {
    {"memory", "#4e79a7", "for loads", offsetof(hd_counters, stall_memory)},
    {"dependency", "#76b7b2", "for results of other instructions", offsetof(hd_counters, stall_dependency)},
    {"barrier", "#b07aa1", "at barriers", offsetof(hd_counters, stall_barrier)},
    {"throttle", "#e15759", "for a pipeline, for L1, for stores to be taken",
     offsetof(hd_counters, stall_throttle)},
    {"scheduler", "#f28e2b", "ready, while others issued", offsetof(hd_counters, stall_issue)},
    {"issuing", "#59a14f", "no wait", 0},
};

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
  find_parts(c, part);
  for (int i = 0; i < REASONS; i++)
    hd_buf_printf(out, "%s%.0f%% %s", i ? ", " : "", part[i], reasons[i].name);
}

static void put_bar(const hd_counters *c, double y, hd_buf *out) {
  enum { LEFT = 220, WIDTH = 690 };
  double part[REASONS], x = LEFT;
  find_parts(c, part);
  for (int i = 0; i < REASONS; i++) {
    const double width = part[i] * WIDTH / 100;
    hd_buf_printf(out,
                  "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"22\" fill=\"%s\"><title>%s: %.1f%%"
                  "</title></rect>",
                  x, y, width, reasons[i].colour, reasons[i].name, part[i]);
    x += width;
  }
}

static void put_legend(hd_buf *out) {
  hd_buf_puts(out, "<p class=\"sub\">");
  for (int i = 0; i < REASONS; i++)
    hd_buf_printf(out, "<span style=\"color:%s\">&#9632;</span> %s (%s)&ensp;", reasons[i].colour,
                  reasons[i].name, reasons[i].description);
  hd_buf_puts(out, "</p>");
}

void report_put_stall_bars(const hd_report *r, hd_buf *out) {
  if (!report_by_clock(r)) return;
  const size_t shown[2] = {0, (size_t)(r->best > 0 ? r->best : 0)};
  const int n = r->best > 0 ? 2 : 1;
  hd_buf_printf(out,
                "<h2>Where warps wait</h2><p class=\"sub\">Parts of the warps' cycles, from start to end.</p>"
                "<svg viewBox=\"0 0 920 %d\" width=\"100%%\" role=\"img\">",
                30 * n);
  for (int k = 0; k < n; k++) {
    hd_buf plan = {0};
    hd_plan_print(&r->rows[shown[k]].plan, &plan);
    hd_buf_printf(out, "<text x=\"210\" y=\"%d\" text-anchor=\"end\">", 30 * k + 16);
    hd_buf_html(out, plan.data ? plan.data : "");
    hd_buf_puts(out, "</text>");
    hd_buf_free(&plan);
    put_bar(&r->rows[shown[k]].counters, 30 * k, out);
  }
  hd_buf_puts(out, "</svg>");
  put_legend(out);
}
