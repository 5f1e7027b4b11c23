/* The traffic model's counters beside a device's. */
#include "heddle/results.h"
#include "report/fields.h"
#include "report/json.h"

/* ---- The metrics, which are columns and keys ------------------------------------------------------ */

typedef struct compared {
  const char *name;
  const hd_accuracy_row *row;
  double ratios[HD_ACCURACY_COUNT];
} compared;

static compared compare(const hd_accuracy_report *a, size_t i) {
  compared c = {.name = a->names[i], .row = &a->rows[i]};
  for (int m = 0; m < HD_ACCURACY_COUNT; m++)
    c.ratios[m] = hd_accuracy_ratio(&a->rows[i], (hd_accuracy_metric)m);
  return c;
}

/* A field for each metric, by its name; returns the end. */
static field *put_ratios(field *f) {
  for (size_t m = 0; m < HD_ACCURACY_COUNT; m++) {
    const char *name = hd_accuracy_name((hd_accuracy_metric)m);
    *f++ = (field){name, name, .decimals = 3, .null = true,
                   .place = {FIELD_REAL, .at = offsetof(compared, ratios) + m * sizeof(double)}};
  }
  return f;
}

/* ---- A workload ----------------------------------------------------------------------------------- */

static bool was_compared(const void *row) { return ((const compared *)row)->row->status == HD_OK; }
static bool has_failed(const void *row) { return !was_compared(row); }
static int64_t l2_read(const void *row) {
  return (int64_t)(32 * ((const compared *)row)->row->device.l2_read_sectors);
}
static json_t *ratios_json(const void *row) {
  field fields[HD_ACCURACY_COUNT + 1] = {0};
  put_ratios(fields);
  return report_fields_json(fields, row);
}

#define OF(member) THROUGH(compared, row, hd_accuracy_row, member)
static const field row_fields[] = {
    {"workload", MEMBER(compared, name)},
    {"failed", .when = has_failed, OF(why)},
    {.section = was_compared},
    {"ratios", .tree = ratios_json},
    {"model", OF(model)},
    {"device", OF(device)},
    {0},
};

static void put_rows(const hd_accuracy_report *a, hd_buf *out) {
  static const field name = {.heading = "model / device", MEMBER(compared, name)},
                     l2 = {.heading = "L2 read MB", .kind = FIELD_MEGABYTES, .decimals = 3, .count = l2_read},
                     dram = {.heading = "DRAM read MB",
                             .kind = FIELD_MEGABYTES,
                             .decimals = 3,
                             OF(device.dram_read_bytes)};
  field columns[HD_ACCURACY_COUNT + 4] = {name}, *end = put_ratios(columns + 1);
  end[0] = l2;
  end[1] = dram;
  field_sheet sheet = report_sheet(columns, 0);
  for (size_t i = 0; i < a->n; i++) {
    const compared one = compare(a, i);
    if (was_compared(&one)) report_sheet_row(&sheet, &one);
  }
  report_put_sheet(&sheet, out);
}

/* ---- Over all ------------------------------------------------------------------------------------- */

typedef struct overall {
  const char *metric;
  const hd_accuracy_report *a;
  const hd_accuracy_summary *s;
} overall;

static overall sum_up(const hd_accuracy_report *a, int m) {
  return (overall){hd_accuracy_name((hd_accuracy_metric)m), a, &a->summaries[m]};
}

static json_t *worst_json(const void *row) {
  const overall *o = row;
  json_t *worst = json_array();
  for (size_t i = 0; worst && i < o->s->n_worst; i++)
    worst = report_append(worst, json_string(o->a->names[o->s->worst[i]]));
  return worst;
}

#define SUM(member) THROUGH(overall, s, hd_accuracy_summary, member)
static const field summary_fields[] = {
    {.heading = "over all", MEMBER(overall, metric)},
    {"workloads", "workloads", SUM(n)},
    {"median_ratio", "median ratio", .decimals = 3, .null = true, SUM(median_ratio)},
    {"median_error", "median error", FIELD_PERCENT, 1, .null = true, SUM(median_error)},
    {"within_10_percent", "within 10%", FIELD_PERCENT, 1, .null = true, SUM(within_10)},
    {"within_25_percent", "within 25%", FIELD_PERCENT, 1, .null = true, SUM(within_25)},
    {"worst", .tree = worst_json},
    {0},
};

static void put_summaries(const hd_accuracy_report *a, hd_buf *out) {
  field_sheet sheet = report_sheet(summary_fields, 0);
  for (int m = 0; m < HD_ACCURACY_COUNT; m++) {
    const overall one = sum_up(a, m);
    report_sheet_row(&sheet, &one);
  }
  report_put_sheet(&sheet, out);
}

static json_t *summaries_json(const void *row) {
  json_t *j = json_object();
  for (int m = 0; j && m < HD_ACCURACY_COUNT; m++) {
    const overall one = sum_up(row, m);
    j = report_set(j, one.metric, report_fields_json(summary_fields, &one));
  }
  return j;
}

static json_t *rows_json(const void *row) {
  const hd_accuracy_report *a = row;
  json_t *rows = json_array();
  for (size_t i = 0; rows && i < a->n; i++) {
    const compared one = compare(a, i);
    rows = report_append(rows, report_fields_json(row_fields, &one));
  }
  return rows;
}

static const field accuracy_fields[] = {
    {"gpu", THROUGH(hd_accuracy_report, gpu, hd_gpu, name)},
    {"device", THROUGH(hd_accuracy_report, device, hd_device_info, title)},
    {"size", MEMBER(hd_accuracy_report, size)},
    {"summaries", .tree = summaries_json},
    {"rows", .tree = rows_json},
    {0},
};

void hd_accuracy_json(const hd_accuracy_report *a, hd_buf *out) {
  report_put_fields_json(accuracy_fields, a, out);
}

/* ---- The text ------------------------------------------------------------------------------------- */

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
  put_summaries(a, out);
  put_worst(a, &a->summaries[HD_ACCURACY_L2_READ_SECTORS], HD_ACCURACY_L2_READ_SECTORS, out);
  put_worst(a, &a->summaries[HD_ACCURACY_DRAM_READ_BYTES], HD_ACCURACY_DRAM_READ_BYTES, out);
  bool first = true;
  for (size_t i = 0; i < a->n; i++) {
    if (a->rows[i].status == HD_OK) continue;
    hd_buf_printf(out, "%s%s: %s\n", first ? "\n" : "", a->names[i], a->rows[i].why);
    first = false;
  }
}
