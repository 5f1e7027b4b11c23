/* Bars in a terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/bench.h"
#include "heddle/report.h"

enum { LABEL = 34, BAR = 30 }; /* columns */

/* A label, a bar of `part` of the full length in eighths of a column, a note behind it. */
static void put_bar(const char *label, double part, const char *note, hd_buf *out) {
  static const char *const eighths[] = {"",       "\u258f", "\u258e", "\u258d",
                                        "\u258c", "\u258b", "\u258a", "\u2589"};
  const int all = part > 0 ? (int)((part < 1 ? part : 1) * BAR * 8 + 0.5) : 0;
  hd_buf_printf(out, "%-*.*s ", LABEL, LABEL, label);
  for (int i = 0; i < all / 8; i++) hd_buf_puts(out, "\u2588");
  hd_buf_puts(out, eighths[all % 8]);
  hd_buf_printf(out, "%*s %s\n", BAR - all / 8 - (all % 8 != 0), "", note);
}

static int by_cost(const void *a, const void *b) {
  const hd_sweep_row *x = *(const hd_sweep_row *const *)a, *y = *(const hd_sweep_row *const *)b;
  const double p = hd_counters_cost(&x->counters), q = hd_counters_cost(&y->counters);
  if (p != q) return p < q ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* A time and its speedup; without a clock the traffic, and how much of it the plan adds. */
static void put_note(const hd_counters *c, const hd_counters *base, char note[64]) {
  const double cost = hd_counters_cost(c), before = hd_counters_cost(base);
  if (hd_counters_timed(c))
    snprintf(note, 64, "%10.1f us  %5.2fx", cost, before / cost);
  else
    snprintf(note, 64, "%10.3f MB of traffic  %+5.1f%%", cost / 1e6,
             before > 0 ? 100 * (cost / before - 1) : 0);
}

void hd_sweep_plot(const hd_sweep_row *rows, size_t n, hd_buf *out) {
  const hd_sweep_row **sorted = calloc(n + 1, sizeof *sorted);
  double most = 0;
  size_t done = 0;
  if (!sorted) {
    out->failed = true;
    return;
  }
  for (size_t i = 0; i < n; i++) {
    if (rows[i].status != HD_OK) continue;
    sorted[done++] = &rows[i];
    if (hd_counters_cost(&rows[i].counters) > most) most = hd_counters_cost(&rows[i].counters);
  }
  if (done) qsort(sorted, done, sizeof *sorted, by_cost);
  for (size_t i = 0; i < done; i++) {
    hd_buf plan = {0};
    char note[64];
    hd_plan_print(&sorted[i]->plan, &plan);
    put_note(&sorted[i]->counters, &rows[0].counters, note);
    put_bar(plan.data ? plan.data : "", most > 0 ? hd_counters_cost(&sorted[i]->counters) / most : 0, note,
            out);
    out->failed |= plan.failed;
    hd_buf_free(&plan);
  }
  if (done < n) hd_buf_printf(out, "(%zu plan%s cannot be replayed)\n", n - done, n - done == 1 ? "" : "s");
  free(sorted);
}

static int by_speedup(const void *a, const void *b) {
  const hd_bench_row *x = *(const hd_bench_row *const *)a, *y = *(const hd_bench_row *const *)b;
  if (x->speedup != y->speedup) return x->speedup > y->speedup ? -1 : 1;
  return strcmp(x->workload, y->workload);
}

void hd_bench_plot(const hd_bench_row *rows, size_t n, hd_buf *out) {
  const hd_bench_row **sorted = calloc(n + 1, sizeof *sorted);
  size_t done = 0;
  if (!sorted) {
    out->failed = true;
    return;
  }
  for (size_t i = 0; i < n; i++)
    if (!rows[i].failed[0]) sorted[done++] = &rows[i];
  if (done) qsort(sorted, done, sizeof *sorted, by_speedup);
  for (size_t i = 0; i < done; i++) {
    char note[160];
    snprintf(note, sizeof note, "%6.2fx  %.100s", sorted[i]->speedup, sorted[i]->plan);
    put_bar(sorted[i]->workload, sorted[i]->speedup / sorted[0]->speedup, note, out);
  }
  free(sorted);
}
