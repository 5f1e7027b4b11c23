/* A run over many workloads on disk: results.jsonl and verify.jsonl, written and read in one place.
 *
 * They grow by a line for each workload as it ends, so that a run that was cut off can be resumed; the tables
 * and the page are drawn again from all lines. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "heddle/bench.h"
#include "report/fields.h"
#include "report/folder.h"
#include "report/json.h"
#include "report/seconds.h"
#include "report/trees.h"

static const char *const files[] = {
    [HD_BENCH_RESULTS] = "results.jsonl", [HD_BENCH_VERIFIED] = "verify.jsonl"};

/* ---- Rows as JSON -------------------------------------------------------------------- */

static void read_events(const json_t *j, hd_counters *c) {
  for (size_t i = 0; i < HD_COUNTER_FIELDS; i++) {
    const hd_counter *f = &hd_counter_table[i];
    json_int_t v = json_integer_value(json_object_get(j, f->name));
    if (f->uses & HD_COUNTER_IS_EVENT) hd_counter_set_count(f, c, v > 0 ? (uint64_t)v : 0);
  }
}

/* A line begins with where it was measured: on the row's own GPU, or on the place's. */
static json_t *line_json(const hd_bench_place *p, const hd_bench_gpu *own) {
  const hd_bench_gpu *g = own->title[0] ? own : &p->gpu;
  json_t *j = json_pack("{s:s, s:s, s:s}", "heddle", p->version, "device", g->title, "driver", g->driver);
  if (j && g->uuid[0])
    json_object_update_new(j, json_pack("{s:s, s:f, s:f}", "gpu", g->uuid, "clock_mhz", g->clock_mhz,
                                        "memory_clock_mhz", g->memory_clock_mhz));
  return j;
}

static json_t *second_json(const hd_bench_second *s) {
  return json_pack("{s:s, s:o, s:o, s:o}", "gpu", s->uuid, "speedup", report_number_json(s->speedup), "low",
                   report_number_json(s->low), "high", report_number_json(s->high));
}

static json_t *bench_row_json(const hd_bench_place *p, const hd_bench_row *r) {
  json_t *j = line_json(p, &r->gpu);
  json_object_update_new(j, json_pack("{s:s, s:s, s:s, s:s, s:s}", "workload", r->workload, "size", r->size,
                                      "category", r->category, "paper", r->paper, "failed", r->failed));
  if (!j || r->failed[0]) return j;
  json_t *levers = json_object();
  for (unsigned k = 0; k < HD_TUNE_LEVERS; k++) {
    const hd_bench_lever *l = &r->levers[k];
    if (!l->plan[0]) continue;
    json_object_set_new(levers, hd_bench_lever_name(k),
                        json_pack("{s:s, s:o, s:o, s:o}", "plan", l->plan, "speedup",
                                  report_number_json(l->speedup), "low", report_number_json(l->low), "high",
                                  report_number_json(l->high)));
  }
  json_object_update_new(
      j, json_pack("{s:f, s:f, s:o, s:o, s:o, s:s, s:s, s:o, s:I, s:f, s:i, s:f}", "default_us",
                   r->default_us, "best_us", r->best_us, "speedup", report_number_json(r->speedup), "low",
                   report_number_json(r->low), "high", report_number_json(r->high), "plan", r->plan, "why",
                   r->why, "levers", levers, "compulsory_bytes", (json_int_t)r->compulsory_bytes,
                   "roofline_us", r->roofline_us, "tried", (int)r->tried, "seconds", r->seconds));
  json_object_set_new(j, "spent", report_fields_json(report_seconds_fields, &r->spent));
  if (r->second.uuid[0]) json_object_set_new(j, "second", second_json(&r->second));
  if (r->has_counters) {
    json_object_set_new(j, "before", report_counters_json(&r->before, HD_COUNTER_IS_EVENT));
    json_object_set_new(j, "after", report_counters_json(&r->after, HD_COUNTER_IS_EVENT));
  }
  return j;
}

static json_t *verify_row_json(const hd_bench_place *p, const hd_verify_row *r) {
  json_t *j = line_json(p, &r->gpu);
  json_object_update_new(
      j, json_pack("{s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:f, s:f, s:f}", "workload", r->workload,
                   "size", r->size, "failed", r->failed, "plan", r->plan, "original", r->original, "tuned",
                   report_number_json(r->kept), "speedup", report_number_json(r->speedup), "low",
                   report_number_json(r->low), "high", report_number_json(r->high), "default_us",
                   r->before_us, "plan_us", r->after_us, "seconds", r->seconds));
  return j;
}

static bool read_text(const json_t *j, const char *key, char *out, size_t cap) {
  const char *s = json_string_value(json_object_get(j, key));
  snprintf(out, cap, "%s", s ? s : "");
  return s && strlen(s) < cap;
}

static double read_number(const json_t *j, const char *key) {
  return json_number_value(json_object_get(j, key));
}

static void read_gpu(const json_t *j, hd_bench_gpu *g) {
  read_text(j, "device", g->title, sizeof g->title);
  read_text(j, "driver", g->driver, sizeof g->driver);
  read_text(j, "gpu", g->uuid, sizeof g->uuid);
  g->clock_mhz = read_number(j, "clock_mhz");
  g->memory_clock_mhz = read_number(j, "memory_clock_mhz");
}

/* False: it names no workload. */
static bool read_bench_row(const json_t *j, hd_bench_row *r) {
  memset(r, 0, sizeof *r);
  read_gpu(j, &r->gpu);
  read_text(j, "workload", r->workload, sizeof r->workload);
  read_text(j, "size", r->size, sizeof r->size);
  read_text(j, "category", r->category, sizeof r->category);
  read_text(j, "paper", r->paper, sizeof r->paper);
  read_text(j, "failed", r->failed, sizeof r->failed);
  read_text(j, "plan", r->plan, sizeof r->plan);
  read_text(j, "why", r->why, sizeof r->why);
  r->default_us = read_number(j, "default_us");
  r->best_us = read_number(j, "best_us");
  r->speedup = read_number(j, "speedup");
  r->low = read_number(j, "low");
  r->high = read_number(j, "high");
  r->compulsory_bytes = (uint64_t)read_number(j, "compulsory_bytes");
  r->roofline_us = read_number(j, "roofline_us");
  r->tried = (uint32_t)read_number(j, "tried");
  r->seconds = read_number(j, "seconds");
  report_read_seconds(json_object_get(j, "spent"), &r->spent);
  const json_t *second = json_object_get(j, "second");
  read_text(second, "gpu", r->second.uuid, sizeof r->second.uuid);
  r->second.speedup = read_number(second, "speedup");
  r->second.low = read_number(second, "low");
  r->second.high = read_number(second, "high");
  for (unsigned k = 0; k < HD_TUNE_LEVERS; k++) {
    const json_t *l = json_object_get(json_object_get(j, "levers"), hd_bench_lever_name(k));
    if (!l) continue;
    read_text(l, "plan", r->levers[k].plan, sizeof r->levers[k].plan);
    r->levers[k].speedup = read_number(l, "speedup");
    r->levers[k].low = read_number(l, "low");
    r->levers[k].high = read_number(l, "high");
  }
  r->has_counters = json_object_get(j, "before") != NULL;
  read_events(json_object_get(j, "before"), &r->before);
  read_events(json_object_get(j, "after"), &r->after);
  return r->workload[0] != 0;
}

/* False: it names no workload, or no size. */
static bool read_verify_row(const json_t *j, hd_verify_row *r) {
  memset(r, 0, sizeof *r);
  read_gpu(j, &r->gpu);
  bool named = read_text(j, "workload", r->workload, sizeof r->workload) &&
               read_text(j, "size", r->size, sizeof r->size);
  read_text(j, "failed", r->failed, sizeof r->failed);
  read_text(j, "plan", r->plan, sizeof r->plan);
  r->original = json_is_true(json_object_get(j, "original"));
  r->kept = read_number(j, "tuned");
  r->speedup = read_number(j, "speedup");
  r->low = read_number(j, "low");
  r->high = read_number(j, "high");
  r->before_us = read_number(j, "default_us");
  r->after_us = read_number(j, "plan_us");
  r->seconds = read_number(j, "seconds");
  return named && r->workload[0];
}

/* ---- Rows in memory ------------------------------------------------------------------------ */

const hd_bench_row *hd_bench_find(const hd_bench_results *r, const char *workload, const char *size) {
  for (size_t i = 0; i < r->rows.n; i++)
    if (strcmp(r->rows.data[i].workload, workload) == 0 && strcmp(r->rows.data[i].size, size) == 0)
      return &r->rows.data[i];
  return NULL;
}

const hd_verify_row *hd_verify_find(const hd_bench_results *r, const char *workload, const char *size) {
  for (size_t i = 0; i < r->verified.n; i++)
    if (strcmp(r->verified.data[i].workload, workload) == 0 && strcmp(r->verified.data[i].size, size) == 0)
      return &r->verified.data[i];
  return NULL;
}

/* A later row on a workload takes an earlier one's place. */
static bool add_bench_row(hd_bench_results *r, const hd_bench_row *row) {
  hd_bench_row *known = (hd_bench_row *)hd_bench_find(r, row->workload, row->size);
  if (!known) return hd_vec_push(&r->rows, *row);
  *known = *row;
  return true;
}

static bool add_verify_row(hd_bench_results *r, const hd_verify_row *row) {
  hd_verify_row *known = (hd_verify_row *)hd_verify_find(r, row->workload, row->size);
  if (!known) return hd_vec_push(&r->verified, *row);
  *known = *row;
  return true;
}

void hd_bench_results_free(hd_bench_results *r) {
  hd_vec_free(&r->rows);
  hd_vec_free(&r->verified);
}

/* ---- Reading ---------------------------------------------------------------------------------- */

/* Whether an entry was measured with this version of heddle, on this device and driver. */
static bool is_of_place(const json_t *j, const hd_bench_place *p) {
  char version[32], title[128], driver[32];
  return read_text(j, "heddle", version, sizeof version) && strcmp(version, p->version) == 0 &&
         read_text(j, "device", title, sizeof title) && strcmp(title, p->gpu.title) == 0 &&
         read_text(j, "driver", driver, sizeof driver) && strcmp(driver, p->gpu.driver) == 0;
}

static bool take_result(void *ctx, const json_t *line) {
  hd_bench_results *r = ctx;
  hd_bench_row row;
  return !is_of_place(line, &r->place) || !read_bench_row(line, &row) || add_bench_row(r, &row);
}

static bool take_verified(void *ctx, const json_t *line) {
  hd_bench_results *r = ctx;
  hd_verify_row row;
  return !is_of_place(line, &r->place) || !read_verify_row(line, &row) || add_verify_row(r, &row);
}

hd_status hd_bench_read(hd_bench_results *r, hd_bench_file which, hd_diag *d) {
  return folder_each_line(r->folder, files[which], which == HD_BENCH_VERIFIED ? take_verified : take_result,
                          r, d);
}

/* ---- Writing ------------------------------------------------------------------------------------ */

hd_status hd_bench_prepare(const char *folder, hd_bench_file which, bool resume, hd_diag *d) {
  char path[REPORT_PATH];
  struct stat s;
  hd_status st = hd_folder_make(folder, d);
  if (st == HD_OK && !resume && stat(folder_path(folder, files[which], path), &s) == 0)
    st = hd_fail(d, HD_ERR_USAGE, "%s holds results already: --resume goes on, -o names another folder",
                 folder);
  return st;
}

static void put_word(const char *word, hd_buf *line) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-";
  if (word[0] && strspn(word, plain) == strlen(word)) {
    hd_buf_puts(line, word);
    return;
  }
  hd_buf_putc(line, '\'');
  for (const char *p = word; *p; p++)
    if (*p == '\'')
      hd_buf_puts(line, "'\\''");
    else
      hd_buf_putc(line, *p);
  hd_buf_putc(line, '\'');
}

hd_status hd_bench_record_command(const char *folder, int argc, char *const *argv, hd_diag *d) {
  hd_buf line = {0};
  hd_buf_puts(&line, "heddle");
  for (int i = 0; i < argc; i++) {
    hd_buf_putc(&line, ' ');
    put_word(argv[i], &line);
  }
  hd_buf_putc(&line, '\n');
  hd_status st = line.failed ? hd_nomem(d) : folder_append(folder, "commands.txt", line.data, d);
  hd_buf_free(&line);
  return st;
}

hd_status hd_bench_draw(const hd_bench_results *r, hd_diag *d) {
  char path[REPORT_PATH];
  hd_buf table = {0}, page = {0}, commands = {0};
  hd_file f;
  hd_bench_text(&r->place, r->rows.data, r->rows.n, &table);
  if (hd_file_open(folder_path(r->folder, "commands.txt", path), &f, NULL) == HD_OK) {
    hd_buf_put(&commands, f.data, f.len);
    hd_file_close(&f);
  }
  hd_bench_html(&r->place, r->rows.data, r->rows.n, commands.data ? commands.data : "", &page);
  hd_buf_free(&commands);
  hd_status st = folder_write(r->folder, "table.txt", &table, d),
            rest = folder_write(r->folder, "report.html", &page, d);
  return st == HD_OK ? rest : st;
}

hd_status hd_bench_add(hd_bench_results *r, const hd_bench_row *row, hd_diag *d) {
  hd_status st = folder_append_json(r->folder, files[HD_BENCH_RESULTS], bench_row_json(&r->place, row), d);
  if (st == HD_OK && !add_bench_row(r, row)) st = hd_nomem(d);
  return st == HD_OK ? hd_bench_draw(r, d) : st;
}

hd_status hd_verify_add(hd_bench_results *r, const hd_verify_row *row, hd_diag *d) {
  hd_status st = folder_append_json(r->folder, files[HD_BENCH_VERIFIED], verify_row_json(&r->place, row), d);
  return st == HD_OK && !add_verify_row(r, row) ? hd_nomem(d) : st;
}

hd_status hd_verify_draw(const hd_bench_results *r, double least, hd_diag *d) {
  hd_buf text = {0};
  hd_verify_results_text(r, least, &text);
  return folder_write(r->folder, "verify.txt", &text, d);
}

json_t *report_bench_tree(const hd_bench_place *p, const hd_bench_row *rows, size_t n) {
  json_t *list = json_array();
  for (size_t i = 0; list && i < n; i++) list = report_append(list, bench_row_json(p, &rows[i]));
  return list;
}

/* ---- All rows -------------------------------------------------------------------------------------- */

void hd_bench_json(const hd_bench_results *r, hd_buf *out) {
  json_t *rows = json_array();
  hd_bench_mean clu = hd_bench_geomean(r->rows.data, r->rows.n, true);
  hd_bench_mean all = hd_bench_geomean(r->rows.data, r->rows.n, false);
  for (size_t i = 0; i < r->rows.n; i++)
    json_array_append_new(rows, bench_row_json(&r->place, &r->rows.data[i]));
  report_put_json(json_pack("{s:o, s:f, s:i, s:f, s:i}", "rows", rows, "clu_algorithm_mean", clu.speedup,
                            "clu_algorithm_n", (int)clu.n, "mean", all.speedup, "n", (int)all.n),
                  out);
}

void hd_verify_results_text(const hd_bench_results *r, double least, hd_buf *out) {
  hd_verify_text(&r->place, r->verified.data, r->verified.n, least, out);
  if (r->unknown)
    hd_buf_printf(out, "%llu of %llu verdicts are of other workloads.\n", (unsigned long long)r->unknown,
                  (unsigned long long)r->verdicts);
  if (r->gone)
    hd_buf_printf(out, "%llu workloads have other kernels or launches now than their verdicts.\n",
                  (unsigned long long)r->gone);
}

void hd_verify_json(const hd_bench_results *r, double least, hd_buf *out) {
  json_t *rows = json_array();
  hd_bench_mean mean = hd_verify_geomean(r->verified.data, r->verified.n);
  for (size_t i = 0; i < r->verified.n; i++)
    json_array_append_new(rows, verify_row_json(&r->place, &r->verified.data[i]));
  report_put_json(json_pack("{s:o, s:f, s:i, s:i, s:i, s:i}", "rows", rows, "mean", mean.speedup, "n",
                            (int)mean.n, "below_or_failed",
                            (int)hd_verify_count_bad(r->verified.data, r->verified.n, least),
                            "other_workloads", (int)r->unknown, "other_kernels", (int)r->gone),
                  out);
}
