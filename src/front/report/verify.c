/* The table of verdicts that were measured once more. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/bench.h"
#include "heddle/report.h"
#include "report/fields.h"
#include "report/plans.h"

/* While tables are measured they are files of the cache, whose folder is of no interest to the reader. */
static void drop_folders(char *plan) {
  static const char mark[] = "order=table:", end[] = ".table";
  for (char *at = plan; (at = strstr(at, mark));) {
    char *file = at += sizeof mark - 1, *stop = strstr(at, end), *name = at;
    for (char *p = at; stop && p < stop; p++)
      if (*p == '/') name = p + 1;
    memmove(file, name, strlen(name) + 1);
  }
}

void hd_verify_begin(const hd_workload *w, const hd_tuning *t, hd_verify_row *out) {
  memset(out, 0, sizeof *out);
  snprintf(out->workload, sizeof out->workload, "%.95s", w->name);
  snprintf(out->size, sizeof out->size, "%.31s", w->size);
  out->original = !t->adopted;
  out->kept = t->adopted ? t->speedup.median : 1;
  report_plans(t, out->plan, sizeof out->plan);
  drop_folders(out->plan);
  out->before_us = t->before_us;
  out->after_us = t->adopted ? t->after_us : t->before_us;
  out->speedup = out->low = out->high = 1;
}

void hd_verify_end(const hd_tuning *t, hd_verify_row *out) {
  out->speedup = t->verified.median;
  out->low = t->verified.low;
  out->high = t->verified.high;
  out->before_us = t->before_us;
  out->after_us = out->speedup > 0 ? t->before_us / out->speedup : 0;
  out->seconds = t->seconds;
  if (out->speedup > 0) return;
  snprintf(out->failed, sizeof out->failed, "its plans cannot be measured");
  for (uint32_t i = 0; i < t->n_kernels; i++) {
    const hd_tuned *k = &t->kernels[i];
    if (k->speedup.median != 0 || !k->why[0]) continue;
    hd_fit(out->failed, sizeof out->failed, "%s: %s", k->kernel, k->why);
    break;
  }
}

hd_bench_mean hd_verify_geomean(const hd_verify_row *rows, size_t n) {
  double sum = 0;
  hd_bench_mean m = {.speedup = 1};
  for (size_t i = 0; i < n; i++) {
    if (rows[i].failed[0] || !(rows[i].speedup > 0)) continue;
    sum += log(rows[i].speedup);
    m.n++;
  }
  if (m.n) m.speedup = exp(sum / m.n);
  return m;
}

static bool is_below(const hd_verify_row *r, double least) { return !r->failed[0] && r->speedup < least; }

size_t hd_verify_count_bad(const hd_verify_row *rows, size_t n, double least) {
  size_t bad = 0;
  for (size_t i = 0; i < n; i++) bad += rows[i].failed[0] || is_below(&rows[i], least);
  return bad;
}

static int by_speedup(const void *a, const void *b) {
  const hd_verify_row *x = *(const hd_verify_row *const *)a, *y = *(const hd_verify_row *const *)b;
  if (x->speedup != y->speedup) return x->speedup < y->speedup ? -1 : 1;
  if (x->original != y->original) return x->original ? 1 : -1;
  int names = strcmp(x->workload, y->workload);
  return names ? names : strcmp(x->size, y->size);
}

typedef struct verified {
  const hd_verify_row *row;
  double least;
} verified;

static bool has_interval(const void *row) {
  const hd_verify_row *r = ((const verified *)row)->row;
  return !r->original && r->low > 0 && isfinite(r->high);
}
static void put_interval(const void *row, hd_buf *out) {
  const hd_verify_row *r = ((const verified *)row)->row;
  hd_buf_printf(out, "%.3f to %.3f", r->low, r->high);
}
static void put_plan(const void *row, hd_buf *out) {
  const verified *v = row;
  if (is_below(v->row, v->least)) hd_buf_puts(out, "SLOWER: ");
  hd_buf_puts(out, v->row->original ? "original kept" : v->row->plan);
}

#define OF(member) THROUGH(verified, row, hd_verify_row, member)
static const field verified_fields[] = {
    {.heading = "workload", OF(workload)},
    {.heading = "size", OF(size)},
    {.heading = "tuned", .kind = FIELD_RATIO, .decimals = 3, OF(kept)},
    {.heading = "now", .kind = FIELD_RATIO, .decimals = 3, OF(speedup)},
    {.heading = "99% interval", .when = has_interval, .put = put_interval},
    {.heading = "default us", .decimals = 1, OF(before_us)},
    {.heading = "plan us", .decimals = 1, OF(after_us)},
    {.heading = "plan", .put = put_plan},
    {0},
};

static void put_table(const hd_verify_row *rows, size_t n, double least, hd_buf *out) {
  const hd_verify_row **sorted = calloc(n + 1, sizeof *sorted);
  field_sheet sheet = report_sheet(verified_fields, 0);
  hd_buf none = {0};
  size_t m = 0;
  out->failed |= !sorted;
  for (size_t i = 0; sorted && i < n; i++)
    if (!rows[i].failed[0]) sorted[m++] = &rows[i];
  if (m) qsort(sorted, m, sizeof *sorted, by_speedup);
  for (size_t i = 0; i < m; i++) report_sheet_row(&sheet, &(verified){sorted[i], least});
  report_put_sheet(&sheet, m ? out : &none);
  hd_buf_free(&none);
  free(sorted);
}

void hd_verify_text(const hd_bench_place *p, const hd_verify_row *rows, size_t n, double least, hd_buf *out) {
  size_t below = 0, kept = 0, failed = 0;
  for (size_t i = 0; i < n; i++) {
    below += is_below(&rows[i], least);
    kept += rows[i].original && !rows[i].failed[0];
  }
  hd_buf_printf(out, "%s (%s), %u SMs, driver %s, heddle %s\n\n", p->device, p->gpu.title, p->n_sms,
                p->gpu.driver, p->version);
  hd_buf_puts(
      out, "Verdicts measured once more, slowest first: speedup over the default launch when it was tuned, "
           "and now. An original that was kept is the default launch itself.\n\n");
  put_table(rows, n, least, out);
  hd_bench_mean mean = hd_verify_geomean(rows, n);
  hd_buf_printf(out, "\nGeometric mean %.3fx over %u, of which %zu kept the original. Below %.2fx: %zu.\n",
                mean.speedup, mean.n, kept, least, below);
  for (size_t i = 0; i < n; i++) {
    if (!rows[i].failed[0]) continue;
    if (!failed++) hd_buf_puts(out, "\nNot measured:\n");
    hd_buf_printf(out, "  %s (%s): %s\n", rows[i].workload, rows[i].size, rows[i].failed);
  }
}
