/* The line that says how far some work is. */
#include <stdio.h>
#include <string.h>

#include "heddle/predict.h"
#include "heddle/report.h"

/* Seconds that are left, if the rest takes as long as what was done since the label came up; 0: not known. */
static double time_left(hd_progress *p, const char *label, size_t done, size_t n, double now) {
  if (strncmp(p->label, label, sizeof p->label - 1) != 0 || done < p->done) {
    *p = (hd_progress){.start = now, .done = done};
    snprintf(p->label, sizeof p->label, "%s", label);
  }
  return done > p->done ? (now - p->start) / (double)(done - p->done) * (double)(n - done) : 0;
}

void hd_duration_print(double seconds, hd_buf *out) {
  static const struct {
    const char *name;
    double seconds, from;
  } units[] = {{"days", 86400, 2 * 86400}, {"h", 3600, 2 * 3600}, {"min", 60, 60}, {"s", 1, 0}};
  size_t k = 0;
  while (k + 1 < sizeof units / sizeof *units && seconds < units[k].from) k++;
  const double n = seconds / units[k].seconds;
  hd_buf_printf(out, n < 10 && units[k].seconds > 60 ? "%.1f %s" : "%.0f %s", n, units[k].name);
}

hd_status hd_estimate_print(const hd_workload *w, unsigned asked, bool timed, size_t replays, hd_buf *out,
                            hd_diag *d) {
  enum { LONG = 60 };
  const unsigned threads = asked ? asked : hd_cpu_count();
  double seconds;
  const hd_status st = hd_estimate_seconds(w, 0, asked, timed, replays, &seconds, d);
  if (st != HD_OK || seconds < LONG) return st;
  hd_buf_printf(out, "%zu replay%s of whole launches: about ", replays, replays == 1 ? "" : "s");
  hd_duration_print(seconds, out);
  hd_buf_printf(out, " on %u thread%s", threads, threads == 1 ? "" : "s");
  return HD_OK;
}

hd_status hd_check_estimate_print(const hd_workload *w, unsigned arch, size_t runs, hd_buf *out, hd_diag *d) {
  enum { LONG = 20 };
  double seconds;
  const hd_status st = hd_check_estimate(w, arch, runs, &seconds, d);
  if (st != HD_OK || seconds < LONG) return st;
  hd_buf_printf(out, "%zu runs on the emulator: about ", runs);
  hd_duration_print(seconds, out);
  hd_buf_puts(out, ", longer where kernels loop");
  return HD_OK;
}

void hd_progress_line(hd_progress *p, const char *label, size_t done, size_t n, double now, hd_buf *out) {
  enum { WIDTH = 30 };
  const double left = time_left(p, label, done, n, now);
  hd_buf_puts(out, label);
  if (done >= n) return;
  hd_buf_puts(out, " [");
  for (size_t i = 0; i < WIDTH; i++) hd_buf_putc(out, i < done * WIDTH / n ? '#' : '.');
  hd_buf_printf(out, "] %zu/%zu", done, n);
  if (left < 1) return;
  hd_buf_puts(out, ", ");
  hd_duration_print(left, out);
  hd_buf_puts(out, " left");
}
