/* The results of two workloads that run at the same time. */
#include <math.h>

#include "heddle/results.h"
#include "report/fields.h"
#include "report/summary.h"

/* ---- A mode --------------------------------------------------------------------------------------- */

typedef struct mode_row {
  const char *mode;
  const hd_corun_row *row;
  const hd_corun_result *all;
} mode_row;

static const hd_corun_row *row_of(const void *row) { return ((const mode_row *)row)->row; }
static bool was_run(const void *row) { return row_of(row)->status == HD_OK; }

static void put_sms(const void *row, hd_buf *out) {
  const uint32_t *sms = row_of(row)->sms;
  if (sms[0]) hd_buf_printf(out, "%u + %u", sms[0], sms[1]);
}
static void put_agents(const void *row, hd_buf *out) {
  for (int i = 0; i < 2; i++) {
    const uint32_t agents = row_of(row)->agents[i];
    if (i) hd_buf_puts(out, ", ");
    if (agents)
      hd_buf_printf(out, "%u", agents);
    else
      hd_buf_puts(out, "all");
  }
}
static double first_us(const void *row) { return row_of(row)->us[0]; }
static double second_us(const void *row) { return row_of(row)->us[1]; }
static void put_figure(const hd_corun_figure *f, hd_buf *out) {
  hd_buf_printf(out, "%.3f", f->median);
  if (f->low > 0) hd_buf_printf(out, " (%.3f to %.3f)", f->low, f->high);
}
static void put_stp(const void *row, hd_buf *out) { put_figure(&row_of(row)->stp, out); }
static void put_antt(const void *row, hd_buf *out) { put_figure(&row_of(row)->antt, out); }

/* How many times as long as alone each takes, of which ANTT is the arithmetic mean. */
static double turnaround(const void *row, int i) {
  const double alone = ((const mode_row *)row)->all->alone_us[i];
  return alone > 0 ? row_of(row)->us[i] / alone : 0;
}
static double geometric(const void *row) { return sqrt(turnaround(row, 0) * turnaround(row, 1)); }
static json_t *turnarounds_json(const void *row) {
  return json_pack("[f, f]", turnaround(row, 0), turnaround(row, 1));
}

/* Of hd_corun_row. */
static bool ran(const void *row) { return ((const hd_corun_row *)row)->status == HD_OK; }
static bool has_failed(const void *row) { return !ran(row); }
static bool has_sms(const void *row) { return ran(row) && ((const hd_corun_row *)row)->sms[0]; }
static bool has_plans(const void *row) { return ((const hd_corun_row *)row)->plans[0][0]; }
static json_t *plans_json(const void *row) {
  const hd_corun_row *r = row;
  return report_pair_json(r->plans[0], r->plans[1]);
}

static const field figure_fields[] = {{"median", MEMBER(hd_corun_figure, median)},
                                      {"low", .null = true, MEMBER(hd_corun_figure, low)},
                                      {"high", .null = true, MEMBER(hd_corun_figure, high)},
                                      {0}};
static const field outcome_fields[] = {
    {"failed", .when = has_failed, MEMBER(hd_corun_row, why)},
    {.section = ran},
    {"us", ARRAY(hd_corun_row, us)},
    {"stp", STRUCT(hd_corun_row, stp, figure_fields)},
    {"antt", STRUCT(hd_corun_row, antt, figure_fields)},
    {0},
};
static const field partition_fields[] = {
    {.section = has_sms},
    {"sms", ARRAY(hd_corun_row, sms)},
    {"agents", ARRAY(hd_corun_row, agents)},
    {"plans", .when = has_plans, .tree = plans_json},
    {"tried", MEMBER(hd_corun_row, tried)},
    {0},
};
static const field mode_fields[] = {
    {"mode", "mode", MEMBER(mode_row, mode)},
    {"outcome", .spread = true, STRUCT_AT(mode_row, row, outcome_fields)},
    {.section = was_run},
    {"turnaround", .tree = turnarounds_json},
    {"antt_geometric", .real = geometric},
    {"partition", .spread = true, STRUCT_AT(mode_row, row, partition_fields)},
    {.heading = "SMs", .put = put_sms},
    {.heading = "CTAs per SM", .put = put_agents},
    {.heading = "A us", .decimals = 2, .real = first_us},
    {.heading = "B us", .decimals = 2, .real = second_us},
    {.heading = "STP", .put = put_stp},
    {.heading = "ANTT", .put = put_antt},
    {0},
};

/* Of the modes that the device has; false: there are no more. */
static bool next_mode(const hd_corun_result *r, int *m, mode_row *out) {
  for (; *m < HD_CORUN_MODES; ++*m) {
    const hd_corun_row *row = &r->rows[*m];
    if (row->status != HD_OK && !row->why[0]) continue;
    *out = (mode_row){hd_corun_mode_name((hd_corun_mode)(*m)++), row, r};
    return true;
  }
  return false;
}

/* ---- All of them ---------------------------------------------------------------------------------- */

static json_t *names_json(const void *row) {
  const hd_corun_report *s = row;
  return report_pair_json(s->workloads[0]->name, s->workloads[1]->name);
}
static json_t *sizes_json(const void *row) {
  const hd_corun_report *s = row;
  return report_pair_json(s->workloads[0]->size, s->workloads[1]->size);
}
static json_t *rows_json(const void *row) {
  json_t *rows = json_array();
  mode_row one;
  for (int m = 0; rows && next_mode(row, &m, &one);)
    rows = report_append(rows, report_fields_json(mode_fields, &one));
  return rows;
}

static const field result_fields[] = {{"turns", ARRAY(hd_corun_result, turns)},
                                      {"alone_us", ARRAY(hd_corun_result, alone_us)},
                                      {"rounds", MEMBER(hd_corun_result, rounds)},
                                      {"rows", .tree = rows_json},
                                      {0}};
static const field corun_fields[] = {
    {"workloads", .tree = names_json},
    {"sizes", .tree = sizes_json},
    {"device", THROUGH(hd_corun_report, device, hd_device_info, title)},
    {"result", .spread = true, STRUCT_AT(hd_corun_report, result, result_fields)},
    {0},
};

void hd_corun_json(const hd_corun_report *s, hd_buf *out) { report_put_fields_json(corun_fields, s, out); }

/* A mean of which one of two carries most is said with both, and with the geometric one. */
static void put_carried(const mode_row *one, hd_buf *out) {
  static const double carries = 4;
  const double slower[2] = {turnaround(one, 0), turnaround(one, 1)};
  const int more = slower[1] > slower[0];
  if (slower[!more] <= 0 || slower[more] < carries * slower[!more]) return;
  hd_buf_printf(out,
                "\n%s: %c carries the ANTT: it takes %.2fx as long as alone, and %c %.2fx; their geometric "
                "mean is %.3f\n",
                one->mode, 'A' + more, slower[more], 'A' + !more, slower[!more], geometric(one));
}

void hd_corun_text(const hd_corun_report *s, hd_buf *out) {
  const hd_corun_result *r = s->result;
  field_sheet sheet = report_sheet(mode_fields, 0);
  mode_row one;
  for (int m = 0; next_mode(r, &m, &one);) report_sheet_row(&sheet, &one);
  hd_buf_printf(out, "on %s (%s), %u round%s, medians (99%% intervals)\n", s->device->name, s->device->title,
                r->rounds, r->rounds == 1 ? "" : "s");
  for (int i = 0; i < 2; i++)
    hd_buf_printf(out, "%c: %s (%s), %u turn%s, %.2f us alone\n", 'A' + i, s->workloads[i]->name,
                  s->workloads[i]->size, r->turns[i], r->turns[i] == 1 ? "" : "s", r->alone_us[i]);
  hd_buf_putc(out, '\n');
  report_put_sheet(&sheet, out);
  const hd_corun_row *partition = &r->rows[HD_CORUN_PARTITION];
  if (partition->status == HD_OK)
    hd_buf_printf(out, "\npartition: A under %s, B under %s\n", partition->plans[0], partition->plans[1]);
  for (int m = 0; next_mode(r, &m, &one);)
    if (!was_run(&one)) hd_buf_printf(out, "\n%s: %s\n", one.mode, one.row->why);
  for (int m = 0; next_mode(r, &m, &one);)
    if (was_run(&one)) put_carried(&one, out);
  if (!s->gpu) return;
  hd_buf_putc(out, '\n');
  report_put_confirmation(s->gpu, true, 1, false, NULL, out);
}
