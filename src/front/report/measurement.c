/* The times of plans on a device. */
#include <stdio.h>

#include "heddle/results.h"
#include "report/json.h"
#include "report/summary.h"
#include "report/table.h"

/* A model's device goes by a clock where its GPU's file has what that needs. */
static bool by_clock(const hd_measurement *t) { return t->gpu && hd_gpu_has_clock(t->gpu); }

static json_t *row_json(const hd_measurement *t, size_t i) {
  const hd_measure_row *r = &t->rows[i];
  if (r->status != HD_OK)
    return json_pack("{s:o, s:s}", "plan", report_plan_json(&r->plan), "failed", r->why);
  json_t *j = json_pack("{s:o, s:f, s:f}", "plan", report_plan_json(&r->plan), "median_us", r->median_us,
                        "least_us", r->least_us);
  if (!j) return NULL;
  if (i)
    json_object_set_new(j, "speedup",
                        json_pack("{s:f, s:o, s:o, s:f}", "median", r->speedup.median, "low",
                                  report_number_json(r->speedup.low), "high",
                                  report_number_json(r->speedup.high), "confidence", r->speedup.confidence));
  if (r->has_counters)
    json_object_set_new(j, "counters", report_counters_json(&r->counters));
  else if (r->no_counters[0])
    json_object_set_new(j, "no_counters", json_string(r->no_counters));
  return j;
}

void hd_measurement_json(const hd_measurement *t, hd_buf *out) {
  const hd_device_info *d = t->device;
  json_t *rows = json_array();
  for (size_t i = 0; i < t->n; i++) json_array_append_new(rows, row_json(t, i));
  report_put_json(json_pack("{s:s, s:s, s:s, s:{s:s, s:s, s:s, s:i, s:i, s:b}, s:I, s:o}", "workload",
                            t->workload->name, "size", t->workload->size, "time",
                            !t->gpu       ? "measured"
                            : by_clock(t) ? "clock"
                                          : "bound",
                            "device", "name", d->name, "title", d->title, "uuid", d->uuid, "sms",
                            (int)d->n_sms, "driver", (int)d->driver_version, "mig", d->mig, "pairs",
                            (json_int_t)t->rows[0].speedup.pairs, "rows", rows),
                  out);
}

static void megabytes_cell(hd_text_table *table, uint64_t bytes) {
  hd_text_table_cell(table, "%.1f", (double)bytes / 1e6);
}

static void put_row(hd_text_table *table, const hd_measure_row *r, bool baseline, bool counters) {
  report_plan_cell(table, &r->plan);
  if (r->status != HD_OK) {
    for (int i = 0; i < (counters ? 7 : 3); i++) hd_text_table_cell(table, "-");
    return;
  }
  hd_text_table_cell(table, "%.2f", r->median_us);
  if (baseline)
    hd_text_table_cell(table, "%s", "");
  else
    hd_text_table_cell(table, "%.3fx", r->speedup.median);
  if (baseline)
    hd_text_table_cell(table, "%s", "");
  else if (r->speedup.low > 0)
    hd_text_table_cell(table, "%.3f to %.3f", r->speedup.low, r->speedup.high);
  else
    hd_text_table_cell(table, "too few rounds");
  if (!counters) return;
  const hd_counters *c = &r->counters;
  if (!r->has_counters) {
    for (int i = 0; i < 4; i++) hd_text_table_cell(table, "-");
    return;
  }
  if (c->l1_sectors)
    hd_text_table_cell(table, "%.1f%%", 100.0 * (double)c->l1_hits / (double)c->l1_sectors);
  else
    hd_text_table_cell(table, "-");
  megabytes_cell(table, 32 * c->l2_read_sectors);
  megabytes_cell(table, c->dram_read_bytes);
  megabytes_cell(table, c->dram_write_bytes);
}

void hd_measurement_text(const hd_measurement *t, hd_buf *out) {
  const hd_device_info *d = t->device;
  bool counters = false;
  for (size_t i = 0; i < t->n; i++) counters |= t->rows[i].has_counters;
  hd_text_table *table = hd_text_table_new(counters ? "lrrlrrrr" : "lrrl");
  if (!table) {
    out->failed = true;
    return;
  }
  const bool bounds = t->gpu && !by_clock(t);
  const char *const head[] = {"plan",         bounds ? "bound us" : t->gpu ? "predicted us" : "median us",
                              "speedup",      "99% interval",
                              "L1 hits",      "L2 read MB",
                              "DRAM read MB", "DRAM written MB"};
  for (size_t i = 0; i < (counters ? 8u : 4u); i++) hd_text_table_cell(table, "%s", head[i]);
  hd_text_table_rule(table);
  for (size_t i = 0; i < t->n; i++) put_row(table, &t->rows[i], i == 0, counters);
  hd_buf_printf(out, "%s (%s) on %s (%s), %zu rounds\n\n", t->workload->name, t->workload->size, d->name,
                d->title, t->rows[0].speedup.pairs);
  hd_text_table_print(table, out);
  hd_text_table_free(table);
  for (size_t i = 0; i < t->n; i++) {
    if (t->rows[i].status == HD_OK) continue;
    hd_buf_putc(out, '\n');
    hd_plan_print(&t->rows[i].plan, out);
    hd_buf_printf(out, ": %s\n", t->rows[i].why);
  }
  if (!counters && t->rows[0].no_counters[0])
    hd_buf_printf(out, "\nNo counters: %s.\n", t->rows[0].no_counters);
  if (!t->gpu) return;
  hd_buf_putc(out, '\n');
  report_put_confirmation(t->gpu, !bounds, 1, false, NULL, out);
}
