/* The traffic model's counters beside a device's. */
#include <math.h>
#include <stdio.h>

#include "heddle/results.h"
#include "report/fields.h"
#include "report/json.h"
#include "report/table.h"

static json_t *row_json(const hd_accuracy_report *a, size_t i) {
  const hd_accuracy_row *r = &a->rows[i];
  if (r->status != HD_OK) return json_pack("{s:s, s:s}", "workload", a->names[i], "failed", r->why);
  json_t *ratios = json_object();
  for (int m = 0; m < HD_ACCURACY_COUNT; m++)
    json_object_set_new(ratios, hd_accuracy_name((hd_accuracy_metric)m),
                        report_number_json(hd_accuracy_ratio(r, (hd_accuracy_metric)m)));
  return json_pack("{s:s, s:o, s:o, s:o}", "workload", a->names[i], "ratios", ratios, "model",
                   report_counters_json(&r->model, 0), "device", report_counters_json(&r->device, 0));
}

static json_t *summary_json(const hd_accuracy_report *a, const hd_accuracy_summary *s) {
  json_t *worst = json_array();
  for (size_t i = 0; i < s->n_worst; i++) json_array_append_new(worst, json_string(a->names[s->worst[i]]));
  return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "workloads", (json_int_t)s->n, "median_ratio",
                   report_number_json(s->median_ratio), "median_error", report_number_json(s->median_error),
                   "within_10_percent", report_number_json(s->within_10), "within_25_percent",
                   report_number_json(s->within_25), "worst", worst);
}

void hd_accuracy_json(const hd_accuracy_report *a, hd_buf *out) {
  json_t *rows = json_array(), *summaries = json_object();
  for (size_t i = 0; i < a->n; i++) json_array_append_new(rows, row_json(a, i));
  for (int m = 0; m < HD_ACCURACY_COUNT; m++)
    json_object_set_new(summaries, hd_accuracy_name((hd_accuracy_metric)m),
                        summary_json(a, &a->summaries[m]));
  report_put_json(json_pack("{s:s, s:s, s:s, s:o, s:o}", "gpu", a->gpu->name, "device", a->device->title,
                            "size", a->size, "summaries", summaries, "rows", rows),
                  out);
}

static void ratio_cell(hd_text_table *t, double ratio) {
  if (isnan(ratio))
    hd_text_table_cell(t, "-");
  else
    hd_text_table_cell(t, "%.3f", ratio);
}

static void percent_cell(hd_text_table *t, double part) {
  if (isnan(part))
    hd_text_table_cell(t, "-");
  else
    hd_text_table_cell(t, "%.1f%%", 100 * part);
}

static void put_rows(const hd_accuracy_report *a, hd_buf *out) {
  hd_text_table *t = hd_text_table_new("lrrrrrrrr");
  if (!t) {
    out->failed = true;
    return;
  }
  hd_text_table_cell(t, "model / device");
  for (int m = 0; m < HD_ACCURACY_COUNT; m++)
    hd_text_table_cell(t, "%s", hd_accuracy_name((hd_accuracy_metric)m));
  hd_text_table_cell(t, "L2 read MB");
  hd_text_table_cell(t, "DRAM read MB");
  hd_text_table_rule(t);
  for (size_t i = 0; i < a->n; i++) {
    const hd_accuracy_row *r = &a->rows[i];
    if (r->status != HD_OK) continue;
    hd_text_table_cell(t, "%s", a->names[i]);
    for (int m = 0; m < HD_ACCURACY_COUNT; m++) ratio_cell(t, hd_accuracy_ratio(r, (hd_accuracy_metric)m));
    hd_text_table_cell(t, "%.3f", 32.0 * (double)r->device.l2_read_sectors / 1e6);
    hd_text_table_cell(t, "%.3f", (double)r->device.dram_read_bytes / 1e6);
  }
  hd_text_table_print(t, out);
  hd_text_table_free(t);
}

static void put_summaries(const hd_accuracy_summary *s, hd_buf *out) {
  hd_text_table *t = hd_text_table_new("lrrrrr");
  if (!t) {
    out->failed = true;
    return;
  }
  static const char *const head[] = {"over all",     "workloads",  "median ratio",
                                     "median error", "within 10%", "within 25%"};
  report_put_head(t, head, sizeof head / sizeof *head);
  hd_text_table_rule(t);
  for (int m = 0; m < HD_ACCURACY_COUNT; m++) {
    hd_text_table_cell(t, "%s", hd_accuracy_name((hd_accuracy_metric)m));
    hd_text_table_cell(t, "%zu", s[m].n);
    ratio_cell(t, s[m].median_ratio);
    percent_cell(t, s[m].median_error);
    percent_cell(t, s[m].within_10);
    percent_cell(t, s[m].within_25);
  }
  hd_text_table_print(t, out);
  hd_text_table_free(t);
}

static void put_worst(const hd_accuracy_report *a, const hd_accuracy_summary *s, hd_accuracy_metric m,
                      hd_buf *out) {
  hd_buf_printf(out, "\nFarthest off in %s: ", hd_accuracy_name(m));
  for (size_t i = 0; i < s->n_worst; i++)
    hd_buf_printf(out, "%s%s %.2f", i ? ", " : "", a->names[s->worst[i]],
                  hd_accuracy_ratio(&a->rows[s->worst[i]], m));
  hd_buf_puts(out, s->n_worst ? ".\n" : "none.\n");
}

void hd_accuracy_text(const hd_accuracy_report *a, hd_buf *out) {
  hd_buf_printf(out, "%s modelled, %s (%s) measured, size %s\n\n", a->gpu->title, a->device->title,
                a->device->name, a->size);
  put_rows(a, out);
  hd_buf_putc(out, '\n');
  put_summaries(a->summaries, out);
  put_worst(a, &a->summaries[HD_ACCURACY_L2_READ_SECTORS], HD_ACCURACY_L2_READ_SECTORS, out);
  put_worst(a, &a->summaries[HD_ACCURACY_DRAM_READ_BYTES], HD_ACCURACY_DRAM_READ_BYTES, out);
  bool first = true;
  for (size_t i = 0; i < a->n; i++) {
    if (a->rows[i].status == HD_OK) continue;
    hd_buf_printf(out, "%s%s: %s\n", first ? "\n" : "", a->names[i], a->rows[i].why);
    first = false;
  }
}
