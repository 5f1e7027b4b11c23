/* The times of plans on a device. */
#include <math.h>

#include "heddle/results.h"
#include "report/fields.h"
#include "report/summary.h"

/* ---- A plan --------------------------------------------------------------------------------------- */

typedef struct measured {
  const hd_measure_row *row;
  bool baseline;
} measured;
/* Columns that not every table has. */
enum { MEASURED = 1, PREDICTED = 2, COUNTED = 4 };

static const hd_measure_row *row_of(const void *row) { return ((const measured *)row)->row; }
static bool was_run(const void *row) { return row_of(row)->status == HD_OK; }
static bool has_failed(const void *row) { return !was_run(row); }
static bool was_compared(const void *row) { return !((const measured *)row)->baseline; }
static bool was_counted(const void *row) { return was_run(row) && row_of(row)->has_counters; }
static bool was_not_counted(const void *row) { return was_run(row) && !row_of(row)->has_counters; }

static double l1_hits(const void *row) {
  const hd_counters *c = &row_of(row)->counters;
  return c->l1_sectors ? (double)c->l1_hits / (double)c->l1_sectors : NAN;
}
static int64_t l2_read(const void *row) { return (int64_t)(32 * row_of(row)->counters.l2_read_sectors); }

static void put_speedup(const void *row, hd_buf *out) {
  if (was_compared(row)) hd_buf_printf(out, "%.3fx", row_of(row)->speedup.median);
}

static void put_interval(const void *row, hd_buf *out) {
  const hd_speedup *s = &row_of(row)->speedup;
  if (!was_compared(row)) return;
  if (s->low > 0)
    hd_buf_printf(out, "%.3f to %.3f", s->low, s->high);
  else
    hd_buf_puts(out, "too few rounds");
}

static const field speedup_fields[] = {{"median", MEMBER(hd_speedup, median)},
                                       {"low", .null = true, MEMBER(hd_speedup, low)},
                                       {"high", .null = true, MEMBER(hd_speedup, high)},
                                       {"confidence", MEMBER(hd_speedup, confidence)},
                                       {0}};

#define OF(member) THROUGH(measured, row, hd_measure_row, member)
static const field row_fields[] = {
    {"plan", "plan", OF(plan)},
    {"failed", .when = has_failed, OF(why)},
    {.section = was_run},
    {"median_us", "median us", .decimals = 2, .only = MEASURED, OF(median_us)},
    {.heading = "predicted us", .decimals = 2, .only = PREDICTED, OF(median_us)},
    {"least_us", OF(least_us)},
    {"speedup", .when = was_compared, STRUCT_THROUGH(measured, row, hd_measure_row, speedup, speedup_fields)},
    {.heading = "speedup", .align = 'r', .put = put_speedup},
    {.heading = "99% interval", .put = put_interval},
    {.section = was_counted},
    {"counters", OF(counters)},
    {.heading = "L1 hits", .kind = FIELD_PERCENT, .decimals = 1, .only = COUNTED, .real = l1_hits},
    {.heading = "L2 read MB", .kind = FIELD_MEGABYTES, .decimals = 1, .only = COUNTED, .count = l2_read},
    {.heading = "DRAM read MB",
     .kind = FIELD_MEGABYTES,
     .decimals = 1,
     .only = COUNTED,
     OF(counters.dram_read_bytes)},
    {.heading = "DRAM written MB",
     .kind = FIELD_MEGABYTES,
     .decimals = 1,
     .only = COUNTED,
     OF(counters.dram_write_bytes)},
    {.section = was_not_counted},
    {"no_counters", .has = report_is_said, OF(no_counters)},
    {0},
};

/* ---- All of them ---------------------------------------------------------------------------------- */

static const char *kind_of_time(const void *row) {
  const hd_measurement *t = row;
  return t->gpu ? "clock" : "measured";
}
static int64_t pairs(const void *row) {
  return (int64_t)((const hd_measurement *)row)->rows[0].speedup.pairs;
}

static json_t *rows_json(const void *row) {
  const hd_measurement *t = row;
  json_t *rows = json_array();
  for (size_t i = 0; rows && i < t->n; i++) {
    const measured one = {&t->rows[i], i == 0};
    rows = report_append(rows, report_fields_json(row_fields, &one));
  }
  return rows;
}

static const field device_fields[] = {{"name", MEMBER(hd_device_info, name)},
                                      {"title", MEMBER(hd_device_info, title)},
                                      {"uuid", MEMBER(hd_device_info, uuid)},
                                      {"sms", MEMBER(hd_device_info, n_sms)},
                                      {"driver", MEMBER(hd_device_info, driver_version)},
                                      {"mig", MEMBER(hd_device_info, mig)},
                                      {0}};
static const field measurement_fields[] = {
    {"workload", THROUGH(hd_measurement, workload, hd_workload, name)},
    {"size", THROUGH(hd_measurement, workload, hd_workload, size)},
    {"time", .text = kind_of_time},
    {"device", STRUCT_AT(hd_measurement, device, device_fields)},
    {"pairs", .count = pairs},
    {"rows", .tree = rows_json},
    {0},
};

void hd_measurement_json(const hd_measurement *t, hd_buf *out) {
  report_put_fields_json(measurement_fields, t, out);
}

void hd_measurement_text(const hd_measurement *t, hd_buf *out) {
  const hd_device_info *d = t->device;
  unsigned columns = t->gpu ? PREDICTED : MEASURED;
  for (size_t i = 0; i < t->n; i++)
    if (t->rows[i].has_counters) columns |= COUNTED;
  field_sheet sheet = report_sheet(row_fields, columns);
  for (size_t i = 0; i < t->n; i++) report_sheet_row(&sheet, &(measured){&t->rows[i], i == 0});
  hd_buf_printf(out, "%s (%s) on %s (%s), %zu round%s\n\n", t->workload->name, t->workload->size, d->name,
                d->title, t->rows[0].speedup.pairs, t->rows[0].speedup.pairs == 1 ? "" : "s");
  report_put_sheet(&sheet, out);
  for (size_t i = 0; i < t->n; i++) {
    if (t->rows[i].status == HD_OK) continue;
    hd_buf_putc(out, '\n');
    hd_plan_print(&t->rows[i].plan, out);
    hd_buf_printf(out, ": %s\n", t->rows[i].why);
  }
  if (!(columns & COUNTED) && t->rows[0].no_counters[0])
    hd_buf_printf(out, "\nNo counters: %s.\n", t->rows[0].no_counters);
  if (!t->gpu) return;
  hd_buf_putc(out, '\n');
  report_put_confirmation(t->gpu, true, 1, false, NULL, out);
}
