/* The results of two workloads that run at the same time. */
#include <stdio.h>

#include "heddle/results.h"
#include "report/json.h"
#include "report/summary.h"
#include "report/table.h"

static json_t *figure_json(const hd_corun_figure *f) {
  return json_pack("{s:f, s:o, s:o}", "median", f->median, "low", report_number_json(f->low), "high",
                   report_number_json(f->high));
}

static bool has_mode(const hd_corun_row *r) { return r->status == HD_OK || r->why[0]; }

static json_t *row_json(const hd_corun_row *r, const char *mode) {
  if (r->status != HD_OK) return json_pack("{s:s, s:s}", "mode", mode, "failed", r->why);
  json_t *j = json_pack("{s:s, s:[f, f], s:o, s:o}", "mode", mode, "us", r->us[0], r->us[1], "stp",
                        figure_json(&r->stp), "antt", figure_json(&r->antt));
  if (j && r->sms[0]) {
    json_object_set_new(j, "sms", json_pack("[i, i]", (int)r->sms[0], (int)r->sms[1]));
    json_object_set_new(j, "agents", json_pack("[i, i]", (int)r->agents[0], (int)r->agents[1]));
    if (r->plans[0][0]) json_object_set_new(j, "plans", json_pack("[s, s]", r->plans[0], r->plans[1]));
    json_object_set_new(j, "tried", json_integer(r->tried));
  }
  return j;
}

void hd_corun_json(const hd_corun_report *s, hd_buf *out) {
  const hd_corun_result *r = s->result;
  json_t *rows = json_array();
  for (int m = 0; m < HD_CORUN_MODES; m++)
    if (has_mode(&r->rows[m]))
      json_array_append_new(rows, row_json(&r->rows[m], hd_corun_mode_name((hd_corun_mode)m)));
  report_put_json(json_pack("{s:[s, s], s:[s, s], s:s, s:[i, i], s:[f, f], s:i, s:o}", "workloads",
                            s->workloads[0]->name, s->workloads[1]->name, "sizes", s->workloads[0]->size,
                            s->workloads[1]->size, "device", s->device->title, "turns", (int)r->turns[0],
                            (int)r->turns[1], "alone_us", r->alone_us[0], r->alone_us[1], "rounds",
                            (int)r->rounds, "rows", rows),
                  out);
}

static void figure_cell(hd_text_table *t, const hd_corun_figure *f) {
  if (f->low > 0)
    hd_text_table_cell(t, "%.3f (%.3f to %.3f)", f->median, f->low, f->high);
  else
    hd_text_table_cell(t, "%.3f", f->median);
}

static void put_row(hd_text_table *t, const hd_corun_row *r, const char *mode) {
  hd_text_table_cell(t, "%s", mode);
  if (r->status != HD_OK) {
    for (int i = 0; i < 6; i++) hd_text_table_cell(t, "-");
    return;
  }
  if (r->sms[0])
    hd_text_table_cell(t, "%u + %u", r->sms[0], r->sms[1]);
  else
    hd_text_table_cell(t, "%s", "");
  char agents[2][16] = {"all", "all"};
  for (int i = 0; i < 2; i++)
    if (r->agents[i]) snprintf(agents[i], sizeof agents[i], "%u", r->agents[i]);
  hd_text_table_cell(t, "%s, %s", agents[0], agents[1]);
  for (int i = 0; i < 2; i++) hd_text_table_cell(t, "%.2f", r->us[i]);
  figure_cell(t, &r->stp);
  figure_cell(t, &r->antt);
}

void hd_corun_text(const hd_corun_report *s, hd_buf *out) {
  const hd_corun_result *r = s->result;
  hd_text_table *t = hd_text_table_new("lllrrll");
  if (!t) {
    out->failed = true;
    return;
  }
  static const char *const head[] = {"mode", "SMs", "CTAs per SM", "A us", "B us", "STP", "ANTT"};
  report_put_head(t, head, sizeof head / sizeof *head);
  hd_text_table_rule(t);
  for (int m = 0; m < HD_CORUN_MODES; m++)
    if (has_mode(&r->rows[m])) put_row(t, &r->rows[m], hd_corun_mode_name((hd_corun_mode)m));
  hd_buf_printf(out, "on %s (%s), %u rounds, medians (99%% intervals)\n", s->device->name, s->device->title,
                r->rounds);
  for (int i = 0; i < 2; i++)
    hd_buf_printf(out, "%c: %s (%s), %u turn%s, %.2f us alone\n", 'A' + i, s->workloads[i]->name,
                  s->workloads[i]->size, r->turns[i], r->turns[i] == 1 ? "" : "s", r->alone_us[i]);
  hd_buf_putc(out, '\n');
  hd_text_table_print(t, out);
  hd_text_table_free(t);
  const hd_corun_row *partition = &r->rows[HD_CORUN_PARTITION];
  if (partition->status == HD_OK)
    hd_buf_printf(out, "\npartition: A under %s, B under %s\n", partition->plans[0], partition->plans[1]);
  for (int m = 0; m < HD_CORUN_MODES; m++)
    if (r->rows[m].status != HD_OK && has_mode(&r->rows[m]))
      hd_buf_printf(out, "\n%s: %s\n", hd_corun_mode_name((hd_corun_mode)m), r->rows[m].why);
  if (!s->gpu) return;
  hd_buf_putc(out, '\n');
  report_put_confirmation(s->gpu, true, 1, false, NULL, out);
}
