/* A probe beside a GPU's file. */
#include <math.h>

#include "heddle/results.h"
#include "report/beside.h"
#include "report/json.h"
#include "report/table.h"

/* Files' values are JSON's, but for words; "": there is none. */
static json_t *value_json(const char *text) {
  json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);
  return v ? v : text[0] ? json_string(text) : json_null();
}

static bool is_alone(const hd_gpu_difference *k) { return !k->file[0] || !k->other[0]; }

json_t *report_beside_json(const hd_probe_beside *b) {
  const hd_gpu_comparison *c = &b->keys;
  json_t *keys = json_array();
  for (uint32_t i = 0; i < c->n; i++) {
    const hd_gpu_difference *k = &c->keys[i];
    json_t *row =
        json_pack("{s:o, s:s, s:o, s:o, s:o}", "table", k->table ? json_string(k->table) : json_null(), "key",
                  k->key, "file", value_json(k->file), "probed", value_json(k->other), "percent",
                  report_number_json(k->percent));
    json_object_set_new(row, "agrees", is_alone(k) ? json_null() : json_boolean(k->agrees));
    json_array_append_new(keys, row);
  }
  return json_pack("{s:s, s:f, s:i, s:i, s:i, s:i, s:o}", "file", b->file, "within_percent", b->percent,
                   "agree", (int)c->agree, "differ", (int)c->differ, "not_in_file", (int)c->alone,
                   "not_measured", (int)c->left_out, "keys", keys);
}

static void put_row(const hd_gpu_difference *k, hd_text_table *t) {
  hd_text_table_cell(t, "%s%s%s", k->table ? k->table : "", k->table ? "." : "", k->key);
  hd_text_table_cell(t, "%s", k->file[0] ? k->file : "-");
  hd_text_table_cell(t, "%s", k->other[0] ? k->other : "-");
  if (isfinite(k->percent))
    hd_text_table_cell(t, k->percent != 0 ? "%+.1f%%" : "%.0f", k->percent);
  else
    hd_text_table_cell(t, "%s", "");
  hd_text_table_cell(t, "%s", is_alone(k) || k->agrees ? "" : "differs");
}

void report_put_beside(const hd_probe_beside *b, hd_buf *out) {
  static const char *const head[] = {"key", "file", "probed", "difference", ""};
  const hd_gpu_comparison *c = &b->keys;
  hd_text_table *t = hd_text_table_new("lrrrl");
  if (t) {
    report_put_head(t, head, sizeof head / sizeof *head);
    hd_text_table_rule(t);
    for (uint32_t i = 0; i < c->n; i++) put_row(&c->keys[i], t);
  }
  hd_buf_printf(out, "\nBeside %s:\n\n", b->file);
  report_put_table(t, out);
  hd_buf_printf(out, "\n%u of %u keys agree within %g%%.\n", c->agree, c->agree + c->differ, b->percent);
  if (c->alone) hd_buf_printf(out, "%u more are not in %s.\n", c->alone, b->file);
  if (c->left_out) hd_buf_printf(out, "%u of its keys were not measured.\n", c->left_out);
}
