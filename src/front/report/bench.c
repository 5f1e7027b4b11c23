/* The tables and plots of a run over many workloads. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/bench.h"
#include "report/plans.h"
#include "report/summary.h"
#include "report/table.h"

static const char *const lever_names[HD_TUNE_LEVERS] = {"order",  "bind",   "threads",
                                                        "bypass", "stream", "prefetch"};

const char *hd_bench_lever_name(unsigned lever) { return lever < HD_TUNE_LEVERS ? lever_names[lever] : ""; }

/* ---- Rows ------------------------------------------------------------------------- */

void hd_bench_describe(const hd_device *dev, const char *version, hd_bench_place *out) {
  const hd_device_info *i = hd_device_get_info(dev);
  const hd_gpu *g = hd_device_get_gpu(dev);
  hd_verdict_key place;
  memset(out, 0, sizeof *out);
  snprintf(out->device, sizeof out->device, "%s", i->name);
  snprintf(out->gpu.title, sizeof out->gpu.title, "%s", i->title);
  snprintf(out->gpu.uuid, sizeof out->gpu.uuid, "%s", i->uuid);
  out->gpu.clock_mhz = i->clock_mhz;
  out->gpu.memory_clock_mhz = i->memory_clock_mhz;
  snprintf(out->version, sizeof out->version, "%.31s", version);
  hd_tune_place(i, &place);
  snprintf(out->gpu.driver, sizeof out->gpu.driver, "%s", place.driver);
  out->n_sms = i->n_sms;
  hd_buf lines = {0};
  if (g) report_put_confirmation(g, hd_gpu_has_clock(g), 1, false, NULL, &lines);
  if (lines.data) snprintf(out->predicted, sizeof out->predicted, "%s", lines.data);
  hd_buf_free(&lines);
  /* Memory clocks are told in cycles, in each of which two words move. */
  out->dram_bytes_per_second = g ? g->dram_bytes_per_cycle * g->clock_mhz * 1e6
                                 : 2 * i->memory_clock_mhz * 1e6 * i->memory_bus_bits / 8;
}

static void put_plan(char *out, size_t cap, const hd_plan *p, const char *kernel) {
  hd_buf text = {0};
  size_t used = strlen(out);
  hd_plan_print(p, &text);
  if (kernel)
    snprintf(out + used, cap - used, "%s%s: %s", used ? "; " : "", kernel, text.data ? text.data : "");
  else
    snprintf(out + used, cap - used, "%s", text.data ? text.data : "");
  hd_buf_free(&text);
}

void report_plans(const hd_tuning *t, char *out, size_t cap) {
  out[0] = 0;
  for (uint32_t i = 0; i < t->n_kernels; i++) {
    const hd_tuned *k = &t->kernels[i];
    if (k->adopted) put_plan(out, cap, &k->plan, t->n_kernels > 1 ? k->kernel : NULL);
  }
  if (!out[0]) snprintf(out, cap, "baseline");
}

static void fill_levers(const hd_tuning *t, hd_bench_row *out) {
  for (uint32_t i = 0; i < t->n_levers; i++)
    for (unsigned k = 0; k < HD_TUNE_LEVERS; k++) {
      const hd_tune_lever *from = &t->levers[i];
      hd_bench_lever *to = &out->levers[k];
      if (strcmp(from->lever, lever_names[k]) != 0) continue;
      put_plan(to->plan, sizeof to->plan, &from->plan, NULL);
      to->speedup = from->speedup.median;
      to->low = from->speedup.low;
      to->high = from->speedup.high;
    }
}

static void fill_outcome(const hd_tuning *t, hd_bench_row *out) {
  out->default_us = t->before_us;
  out->best_us = t->after_us;
  out->speedup = t->speedup.median;
  out->low = t->speedup.low;
  out->high = t->speedup.high;
  report_plans(t, out->plan, sizeof out->plan);
  for (uint32_t i = 0; i < t->n_kernels; i++) {
    const hd_tuned *k = &t->kernels[i];
    if (!k->adopted && !out->why[0]) hd_fit(out->why, sizeof out->why, "%s", k->why);
  }
}

void hd_bench_fill(const hd_workload *w, const hd_tuning *t, const hd_bench_place *p, hd_bench_row *out) {
  memset(out, 0, sizeof *out);
  out->gpu = p->gpu;
  snprintf(out->workload, sizeof out->workload, "%.95s", w->name);
  snprintf(out->size, sizeof out->size, "%.31s", w->size);
  snprintf(out->category, sizeof out->category, "%.47s", w->category);
  snprintf(out->paper, sizeof out->paper, "%.159s", w->paper);
  fill_outcome(t, out);
  fill_levers(t, out);
  out->has_counters = t->has_counters;
  out->before = t->before;
  out->after = t->after;
  out->compulsory_bytes = t->before.compulsory_bytes ? t->before.compulsory_bytes : t->buffer_bytes;
  if (p->dram_bytes_per_second > 0)
    out->roofline_us = (double)out->compulsory_bytes / p->dram_bytes_per_second * 1e6;
  out->tried = t->tried;
  out->seconds = t->seconds;
  out->spent = t->spent;
}

void hd_bench_fill_second(const hd_tuning *t, const hd_bench_gpu *gpu, bool held, hd_bench_row *out) {
  const hd_speedup *v = &t->verified;
  out->second = (hd_bench_second){.speedup = v->median, .low = v->low, .high = v->high};
  memcpy(out->second.uuid, gpu->uuid, sizeof out->second.uuid);
  if (held) return;
  out->why[0] = 0;
  fill_outcome(t, out);
}

hd_bench_mean hd_bench_geomean(const hd_bench_row *rows, size_t n, bool clu) {
  double sum = 0;
  hd_bench_mean m = {.speedup = 1};
  for (size_t i = 0; i < n; i++) {
    const hd_bench_row *r = &rows[i];
    if (r->failed[0] || !(r->speedup > 0)) continue;
    if (clu && (strcmp(r->category, "algorithm") != 0 || !strstr(r->paper, "CLU"))) continue;
    sum += log(r->speedup);
    m.n++;
  }
  if (m.n) m.speedup = exp(sum / m.n);
  return m;
}

/* ---- Text ---------------------------------------------------------------------------- */

static void megabytes(hd_text_table *t, bool have, uint64_t bytes) {
  if (have)
    hd_text_table_cell(t, "%.1f", (double)bytes / 1e6);
  else
    hd_text_table_cell(t, "-");
}

static void times(hd_text_table *t, double x) {
  if (x > 0)
    hd_text_table_cell(t, "%.3fx", x);
  else
    hd_text_table_cell(t, "-");
}

static void put_speedups(const hd_bench_row *rows, size_t n, hd_buf *out) {
  hd_text_table *t = hd_text_table_new("lrrrrrrrrlrl");
  if (!t) {
    out->failed = true;
    return;
  }
  hd_text_table_cell(t, "workload");
  hd_text_table_cell(t, "default us");
  for (unsigned k = 0; k < HD_TUNE_LEVERS; k++) hd_text_table_cell(t, "%s", lever_names[k]);
  hd_text_table_cell(t, "best");
  hd_text_table_cell(t, "99%% interval");
  hd_text_table_cell(t, "tuned in");
  hd_text_table_cell(t, "plan");
  hd_text_table_rule(t);
  for (size_t i = 0; i < n; i++) {
    const hd_bench_row *r = &rows[i];
    if (r->failed[0]) continue;
    hd_text_table_cell(t, "%s", r->workload);
    hd_text_table_cell(t, "%.1f", r->default_us);
    for (unsigned k = 0; k < HD_TUNE_LEVERS; k++) times(t, r->levers[k].speedup);
    times(t, r->speedup);
    if (strcmp(r->plan, "baseline") == 0 || !(r->low > 0) || !isfinite(r->high))
      hd_text_table_cell(t, "-");
    else
      hd_text_table_cell(t, "%.3f to %.3f", r->low, r->high);
    hd_text_table_cell(t, "%.1f s", r->seconds);
    hd_text_table_cell(t, "%s", r->plan);
  }
  hd_text_table_print(t, out);
  hd_text_table_free(t);
}

static void put_traffic(const hd_bench_row *rows, size_t n, hd_buf *out) {
  hd_text_table *t = hd_text_table_new("lrrrrrrrrr");
  if (!t) {
    out->failed = true;
    return;
  }
  static const char *const head[] = {"workload", "L1 hits", "after",      "L2 read MB", "after",
                                     "DRAM MB",  "after",   "compulsory", "times it",   "of roofline"};
  report_put_head(t, head, sizeof head / sizeof *head);
  hd_text_table_rule(t);
  for (size_t i = 0; i < n; i++) {
    const hd_bench_row *r = &rows[i];
    const hd_counters *b = &r->before, *a = &r->after;
    bool have = r->has_counters;
    if (r->failed[0]) continue;
    hd_text_table_cell(t, "%s", r->workload);
    for (int k = 0; k < 2; k++) {
      const hd_counters *c = k ? a : b;
      if (have && c->l1_sectors)
        hd_text_table_cell(t, "%.1f%%", 100 * report_rate(c->l1_hits, c->l1_sectors));
      else
        hd_text_table_cell(t, "-");
    }
    megabytes(t, have, 32 * b->l2_read_sectors);
    megabytes(t, have, 32 * a->l2_read_sectors);
    megabytes(t, have, hd_counters_dram(b));
    megabytes(t, have, hd_counters_dram(a));
    megabytes(t, true, r->compulsory_bytes);
    if (have && r->compulsory_bytes)
      hd_text_table_cell(t, "%.2fx", report_rate(hd_counters_dram(a), r->compulsory_bytes));
    else
      hd_text_table_cell(t, "-");
    if (r->roofline_us > 0 && r->best_us > 0)
      hd_text_table_cell(t, "%.1f%%", 100 * r->roofline_us / r->best_us);
    else
      hd_text_table_cell(t, "-");
  }
  hd_text_table_print(t, out);
  hd_text_table_free(t);
}

/* How long tuning took; the longest is most often one whose order needs a trace of the whole launch. */
static void put_seconds(const hd_bench_row *rows, size_t n, hd_buf *out) {
  double *seconds = calloc(n + 1, sizeof *seconds), longest = 0;
  const char *who = "";
  size_t m = 0;
  if (!seconds) {
    out->failed = true;
    return;
  }
  for (size_t i = 0; i < n; i++) {
    if (rows[i].failed[0]) continue;
    seconds[m++] = rows[i].seconds;
    if (rows[i].seconds > longest) longest = rows[i].seconds, who = rows[i].workload;
  }
  if (m)
    hd_buf_printf(out, "Tuning took %.1f s a workload (median of %zu), at most %.1f s (%s).\n",
                  hd_median(seconds, m), m, longest, who);
  free(seconds);
}

static void put_means(const hd_bench_row *rows, size_t n, hd_buf *out) {
  hd_bench_mean clu = hd_bench_geomean(rows, n, true), all = hd_bench_geomean(rows, n, false);
  if (clu.n)
    hd_buf_printf(
        out,
        "CLU's algorithm-related applications: geometric mean %.3fx over %u (the paper's, on its four "
        "GPUs: 1.41x to 1.48x).\n",
        clu.speedup, clu.n);
  hd_buf_printf(out, "All workloads: geometric mean %.3fx over %u.\n", all.speedup, all.n);
}

void hd_bench_text(const hd_bench_place *p, const hd_bench_row *rows, size_t n, hd_buf *out) {
  size_t failed = 0;
  hd_buf_printf(out, "%s (%s), %u SMs, driver %s, heddle %s\n\n", p->device, p->gpu.title, p->n_sms,
                p->gpu.driver, p->version);
  hd_buf_puts(
      out, "Speedup over the default launch: the best plan of each lever alone, and the best of all, which "
           "is the original where none won.\n\n");
  put_speedups(rows, n, out);
  if (p->predicted[0]) hd_buf_printf(out, "\n%s", p->predicted);
  hd_buf_puts(
      out,
      "\nTraffic by default and after tuning. Compulsory: each byte once; 'times it' is after tuning. Of "
      "roofline: the time that compulsory traffic takes at DRAM's peak, over the time after tuning.\n\n");
  put_traffic(rows, n, out);
  hd_buf_putc(out, '\n');
  put_means(rows, n, out);
  put_seconds(rows, n, out);
  for (size_t i = 0; i < n; i++) {
    if (!rows[i].failed[0]) continue;
    if (!failed++) hd_buf_puts(out, "\nFailed:\n");
    hd_buf_printf(out, "  %s (%s): %s\n", rows[i].workload, rows[i].size, rows[i].failed);
  }
}
