/* Pages of single results: their JSON, which the pages' script draws. */
#include "report/pages.h"

#include <stdio.h>
#include <string.h>

#include "heddle/bench.h"
#include "heddle/profile.h"
#include "heddle/report.h"
#include "page/page.h"
#include "report/json.h"
#include "report/summary.h"
#include "report/trees.h"

/* Of a list of objects: so many travel as columns. */
enum { LIKE_ROWS = 4 };

/* ---- JSON, made small ----------------------------------------------------------------------------- */

/* Objects of a list, as one object of columns: {"$rows": n, "$columns": {key: [...]}}. NULL: out of memory.
 */
static json_t *columns_of(const json_t *list) {
  json_t *columns = json_object(), *row, *value;
  const char *key;
  size_t i, n = json_array_size(list);
  json_array_foreach(list, i, row) json_object_foreach(row, key, value) {
    json_t *column = json_object_get(columns, key);
    if (!column && json_object_set_new(columns, key, column = json_array()) != 0) column = NULL;
    while (column && json_array_size(column) < i) json_array_append_new(column, json_null());
    if (!column || json_array_append(column, value) != 0) {
      json_decref(columns);
      return NULL;
    }
  }
  json_object_foreach(columns, key, value) while (json_array_size(value) < n)
      json_array_append_new(value, json_null());
  return json_pack("{s:I, s:o}", "$rows", (json_int_t)n, "$columns", columns);
}

static bool are_objects(const json_t *list) {
  size_t i;
  json_t *row;
  json_array_foreach(list, i, row) if (!json_is_object(row)) return false;
  return json_array_size(list) >= LIKE_ROWS;
}

/* The same with its lists of objects as columns, at any depth. Takes the reference; NULL: out of memory. */
static json_t *shrink(json_t *j) {
  size_t i;
  const char *key;
  void *next;
  json_t *child;
  json_array_foreach(j, i, child) if (json_array_set_new(j, i, shrink(json_incref(child))) != 0) goto failed;
  json_object_foreach_safe(j, next, key, child) if (json_object_set_new(j, key, shrink(json_incref(child))) !=
                                                    0) goto failed;
  if (!json_is_array(j) || !are_objects(j)) return j;
  json_t *columns = columns_of(j);
  json_decref(j);
  return columns;
failed:
  json_decref(j);
  return NULL;
}

void report_add_page_json(hd_buf *files, const char *name, json_t *j) {
  hd_buf text = {0};
  report_dump_json(j ? shrink(j) : NULL, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6), &text);
  files->failed |= text.failed;
  if (!text.failed) page_add_json(files, name, text.data, text.len);
  hd_buf_free(&text);
}

/* ---- Pages of one result -------------------------------------------------------------------------- */

static void put_page(const char *title, const char *line, const char *name, json_t *j, hd_buf *out) {
  hd_buf files = {0};
  report_add_page_json(&files, name, j);
  page_put(out, title, line, &files);
  hd_buf_free(&files);
}

hd_status hd_report_page(const char *title, const char *line, const char *json, size_t len, hd_buf *out,
                         hd_diag *d) {
  json_error_t e;
  json_t *j = json_loadb(json, len, JSON_DECODE_ANY, &e);
  if (!j) return hd_fail(d, HD_ERR_INPUT, "no JSON: %s", e.text);
  put_page(title, line, "result", j, out);
  return out->failed ? hd_nomem(d) : HD_OK;
}

void hd_report_html(const hd_report *r, hd_buf *out) {
  const hd_workload *w = r->workload;
  hd_buf line = {0};
  hd_buf_printf(&line, "%s \u00b7 size %s \u00b7 modelled %s, %s dispatch \u00b7 ", w->title ? w->title : "",
                w->size, r->gpu->title, r->dispatch);
  report_put_count(r->n_rows, "plan", &line);
  out->failed |= line.failed;
  if (!line.failed) put_page(w->name, line.data, "plans", report_page_tree(r), out);
  hd_buf_free(&line);
}

void hd_report_probe(const hd_probe_result *r, hd_buf *out) {
  char line[64];
  snprintf(line, sizeof line, "heddle probe, sm_%u", r->device.arch);
  put_page(r->device.title, line, "probe", report_probe_tree(r, NULL), out);
}

void hd_profile_html(const hd_profile *p, const char *title, hd_buf *out) {
  put_page(title, "heddle profile", "profile", report_profile_tree(p), out);
}

void hd_bench_html(const hd_bench_place *p, const hd_bench_row *rows, size_t n, const char *commands,
                   hd_buf *out) {
  hd_buf files = {0}, text = {0}, title = {0}, line = {0};
  hd_buf_printf(&title, "Gains from steering CTAs on %s", p->gpu.title);
  hd_buf_printf(&line, "%s, %u SMs, driver %s, heddle %s", p->device, p->n_sms, p->gpu.driver, p->version);
  hd_bench_text(p, rows, n, &text);
  report_add_page_json(&files, "results", report_bench_tree(p, rows, n));
  if (text.data) page_add_text(&files, "table.txt", text.data, text.len);
  page_add_text(&files, "commands.txt", commands, strlen(commands));
  out->failed |= text.failed || title.failed || line.failed;
  if (!out->failed) page_put(out, title.data, line.data, &files);
  hd_buf_free(&files);
  hd_buf_free(&text);
  hd_buf_free(&title);
  hd_buf_free(&line);
}
