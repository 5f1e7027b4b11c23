/* The line that says how far some work is. */
#include <stdio.h>
#include <string.h>

#include "heddle/report.h"

/* Seconds that are left, if the rest takes as long as what was done since the label came up; 0: not known. */
static double time_left(hd_progress *p, const char *label, size_t done, size_t n, double now) {
  if (strncmp(p->label, label, sizeof p->label - 1) != 0 || done < p->done) {
    *p = (hd_progress){.start = now, .done = done};
    snprintf(p->label, sizeof p->label, "%s", label);
  }
  return done > p->done ? (now - p->start) / (double)(done - p->done) * (double)(n - done) : 0;
}

void hd_progress_line(hd_progress *p, const char *label, size_t done, size_t n, double now, hd_buf *out) {
  enum { WIDTH = 30 };
  const double left = time_left(p, label, done, n, now);
  hd_buf_puts(out, label);
  if (done >= n) return;
  hd_buf_puts(out, " [");
  for (size_t i = 0; i < WIDTH; i++) hd_buf_putc(out, i < done * WIDTH / n ? '#' : '.');
  hd_buf_printf(out, "] %zu/%zu", done, n);
  if (left >= 60) hd_buf_printf(out, ", %.0f min left", left / 60);
  if (left >= 1 && left < 60) hd_buf_printf(out, ", %.0f s left", left);
}
