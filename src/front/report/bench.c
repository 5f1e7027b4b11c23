/* The tables of a run over many workloads. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/bench.h"
#include "report/fields.h"
#include "report/plans.h"
#include "report/summary.h"

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
  if (g) report_put_confirmation(g, true, 1, false, NULL, &lines);
  if (lines.data) snprintf(out->predicted, sizeof out->predicted, "%s", lines.data);
  hd_buf_free(&lines);
  /* Memory clocks are given in cycles, in each of which two words move. */
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
      if (strcmp(from->lever, hd_bench_lever_name(k)) != 0) continue;
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

static const hd_bench_row *row_of(const void *row) { return row; }
static bool has_interval(const void *row) {
  const hd_bench_row *r = row;
  return strcmp(r->plan, "baseline") != 0 && r->low > 0 && isfinite(r->high);
}
static void put_interval(const void *row, hd_buf *out) {
  hd_buf_printf(out, "%.3f to %.3f", row_of(row)->low, row_of(row)->high);
}
static bool was_counted(const void *row) { return row_of(row)->has_counters; }
static double rate(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : NAN; }
static double hits_before(const void *row) {
  return rate(row_of(row)->before.l1_hits, row_of(row)->before.l1_sectors);
}
static double hits_after(const void *row) {
  return rate(row_of(row)->after.l1_hits, row_of(row)->after.l1_sectors);
}
static int64_t l2_before(const void *row) { return (int64_t)(32 * row_of(row)->before.l2_read_sectors); }
static int64_t l2_after(const void *row) { return (int64_t)(32 * row_of(row)->after.l2_read_sectors); }
static int64_t dram_before(const void *row) { return (int64_t)hd_counters_dram(&row_of(row)->before); }
static int64_t dram_after(const void *row) { return (int64_t)hd_counters_dram(&row_of(row)->after); }
static double times_compulsory(const void *row) {
  return was_counted(row) ? rate(hd_counters_dram(&row_of(row)->after), row_of(row)->compulsory_bytes) : NAN;
}
static double of_roofline(const void *row) {
  const hd_bench_row *r = row;
  return r->roofline_us > 0 && r->best_us > 0 ? r->roofline_us / r->best_us : NAN;
}

#define OF(member) MEMBER(hd_bench_row, member)
#define SPEEDUP(member) .kind = FIELD_RATIO, .decimals = 3, .has = report_is_positive, OF(member)
/* The levers in the order of hd_bench_row's. */
enum { FIRST_LEVER = 2 };
static const field speedup_fields[] = {
    {.heading = "workload", OF(workload)},
    {.heading = "default us", .decimals = 1, OF(default_us)},
    {.heading = "order", SPEEDUP(levers[0].speedup)},
    {.heading = "bind", SPEEDUP(levers[1].speedup)},
    {.heading = "threads", SPEEDUP(levers[2].speedup)},
    {.heading = "bypass", SPEEDUP(levers[3].speedup)},
    {.heading = "stream", SPEEDUP(levers[4].speedup)},
    {.heading = "prefetch", SPEEDUP(levers[5].speedup)},
    {.heading = "best", SPEEDUP(speedup)},
    {.heading = "99% interval", .when = has_interval, .put = put_interval},
    {.heading = "tuned in", .kind = FIELD_SECONDS, .decimals = 1, OF(seconds)},
    {.heading = "plan", OF(plan)},
    {0},
};
static const field traffic_fields[] = {
    {.heading = "workload", OF(workload)},
    {.section = was_counted},
    {.heading = "L1 hits", .kind = FIELD_PERCENT, .decimals = 1, .real = hits_before},
    {.heading = "after", .kind = FIELD_PERCENT, .decimals = 1, .real = hits_after},
    {.heading = "L2 read MB", .kind = FIELD_MEGABYTES, .decimals = 1, .count = l2_before},
    {.heading = "after", .kind = FIELD_MEGABYTES, .decimals = 1, .count = l2_after},
    {.heading = "DRAM MB", .kind = FIELD_MEGABYTES, .decimals = 1, .count = dram_before},
    {.heading = "after", .kind = FIELD_MEGABYTES, .decimals = 1, .count = dram_after},
    {.section = field_always},
    {.heading = "compulsory", .kind = FIELD_MEGABYTES, .decimals = 1, OF(compulsory_bytes)},
    {.heading = "times it", .kind = FIELD_RATIO, .decimals = 2, .real = times_compulsory},
    {.heading = "of roofline", .kind = FIELD_PERCENT, .decimals = 1, .real = of_roofline},
    {0},
};

const char *hd_bench_lever_name(unsigned lever) {
  return lever < HD_TUNE_LEVERS ? speedup_fields[FIRST_LEVER + lever].heading : "";
}

/* Rows that did not fail. */
static void put_rows(const field *fields, const hd_bench_row *rows, size_t n, hd_buf *out) {
  field_sheet sheet = report_sheet(fields, 0);
  for (size_t i = 0; i < n; i++)
    if (!rows[i].failed[0]) report_sheet_row(&sheet, &rows[i]);
  report_put_sheet(&sheet, out);
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
           "is the original if no plan won.\n\n");
  put_rows(speedup_fields, rows, n, out);
  if (p->predicted[0]) hd_buf_printf(out, "\n%s", p->predicted);
  hd_buf_puts(
      out,
      "\nTraffic by default and after tuning. Compulsory: each byte once; 'times it' is after tuning. Of "
      "roofline: the time that compulsory traffic takes at DRAM's peak, over the time after tuning.\n\n");
  put_rows(traffic_fields, rows, n, out);
  hd_buf_putc(out, '\n');
  put_means(rows, n, out);
  put_seconds(rows, n, out);
  for (size_t i = 0; i < n; i++) {
    if (!rows[i].failed[0]) continue;
    if (!failed++) hd_buf_puts(out, "\nFailed:\n");
    hd_buf_printf(out, "  %s (%s): %s\n", rows[i].workload, rows[i].size, rows[i].failed);
  }
}
