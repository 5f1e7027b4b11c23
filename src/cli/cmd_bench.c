/* Many workloads tuned on a device: the papers' tables there.
 *
 * results.jsonl grows by a line for each workload as it ends, so that a run that was cut off can be resumed;
 * the table and the page are drawn anew from the whole file after every line.
 */
#include <stdlib.h>
#include <string.h>

#include "bench_folder.h"
#include "bench_verify.h"
#include "heddle/bench.h"
#include "tuning.h"

typedef struct bench {
  const char *device_name, *size, *store_path, *folder;
  uint64_t budget, total, threads;
  bool resume, verify, no_advice, no_counters, shared, json;
  hd_device *device;
  hd_store *store;
  hd_gpu advisor;
  bool has_advisor;
  hd_bench_place place;
  HD_VEC(hd_bench_row) rows;
} bench;

/* ---- Rows as JSON -------------------------------------------------------------------- */

static json_t *counters_json(const hd_counters *c) {
  json_t *j = json_object();
  for (size_t i = 0; i < HD_COUNTER_FIELDS; i++) {
    const hd_counter *f = &hd_counter_table[i];
    if (f->uses & HD_COUNTER_IS_EVENT)
      json_object_set_new(j, f->name, json_integer((json_int_t)hd_counter_count(f, c)));
  }
  return j;
}

static void read_counters(const json_t *j, hd_counters *c) {
  for (size_t i = 0; i < HD_COUNTER_FIELDS; i++) {
    const hd_counter *f = &hd_counter_table[i];
    json_int_t v = json_integer_value(json_object_get(j, f->name));
    if (f->uses & HD_COUNTER_IS_EVENT) hd_counter_set_count(f, c, v > 0 ? (uint64_t)v : 0);
  }
}

static json_t *row_json(const hd_bench_place *p, const hd_bench_row *r) {
  json_t *j = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "heddle", p->version, "device", p->title,
                        "driver", p->driver, "workload", r->workload, "size", r->size, "category",
                        r->category, "paper", r->paper, "failed", r->failed);
  if (!j || r->failed[0]) return j;
  json_t *levers = json_object();
  for (unsigned k = 0; k < HD_TUNE_LEVERS; k++) {
    const hd_bench_lever *l = &r->levers[k];
    if (!l->plan[0]) continue;
    json_object_set_new(levers, hd_bench_lever_name(k),
                        json_pack("{s:s, s:o, s:o, s:o}", "plan", l->plan, "speedup",
                                  tuning_number_json(l->speedup), "low", tuning_number_json(l->low), "high",
                                  tuning_number_json(l->high)));
  }
  json_object_update_new(
      j, json_pack("{s:f, s:f, s:o, s:o, s:o, s:s, s:s, s:o, s:I, s:f, s:i, s:f}", "default_us",
                   r->default_us, "best_us", r->best_us, "speedup", tuning_number_json(r->speedup), "low",
                   tuning_number_json(r->low), "high", tuning_number_json(r->high), "plan", r->plan, "why",
                   r->why, "levers", levers, "compulsory_bytes", (json_int_t)r->compulsory_bytes,
                   "roofline_us", r->roofline_us, "tried", (int)r->tried, "seconds", r->seconds));
  if (r->has_counters) {
    json_object_set_new(j, "before", counters_json(&r->before));
    json_object_set_new(j, "after", counters_json(&r->after));
  }
  return j;
}

static void read_text(const json_t *j, const char *key, char *out, size_t cap) {
  const char *s = json_string_value(json_object_get(j, key));
  snprintf(out, cap, "%s", s ? s : "");
}

static double read_number(const json_t *j, const char *key) {
  return json_number_value(json_object_get(j, key));
}

/* False: a line of another version or device. */
static bool read_row(const json_t *j, const hd_bench_place *p, hd_bench_row *r) {
  char version[32], title[128], driver[32];
  memset(r, 0, sizeof *r);
  read_text(j, "heddle", version, sizeof version);
  read_text(j, "device", title, sizeof title);
  read_text(j, "driver", driver, sizeof driver);
  if (strcmp(version, p->version) != 0 || strcmp(title, p->title) != 0 || strcmp(driver, p->driver) != 0)
    return false;
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
  for (unsigned k = 0; k < HD_TUNE_LEVERS; k++) {
    const json_t *l = json_object_get(json_object_get(j, "levers"), hd_bench_lever_name(k));
    if (!l) continue;
    read_text(l, "plan", r->levers[k].plan, sizeof r->levers[k].plan);
    r->levers[k].speedup = read_number(l, "speedup");
    r->levers[k].low = read_number(l, "low");
    r->levers[k].high = read_number(l, "high");
  }
  r->has_counters = json_object_get(j, "before") != NULL;
  read_counters(json_object_get(j, "before"), &r->before);
  read_counters(json_object_get(j, "after"), &r->after);
  return r->workload[0] != 0;
}

/* ---- Files ------------------------------------------------------------------------------- */

static const char results[] = "results.jsonl";

/* A later line on a workload takes an earlier one's place. */
static bool add_row(bench *b, const hd_bench_row *r) {
  for (size_t i = 0; i < b->rows.n; i++)
    if (strcmp(b->rows.data[i].workload, r->workload) == 0 && strcmp(b->rows.data[i].size, r->size) == 0) {
      b->rows.data[i] = *r;
      return true;
    }
  return hd_vec_push(&b->rows, *r);
}

static bool take_line(void *ctx, const json_t *line) {
  bench *b = ctx;
  hd_bench_row r;
  return !read_row(line, &b->place, &r) || add_row(b, &r);
}

static hd_status draw(const bench *b, hd_diag *d) {
  char path[BENCH_PATH];
  hd_buf table = {0}, page = {0}, commands = {0};
  hd_file f;
  hd_bench_text(&b->place, b->rows.data, b->rows.n, &table);
  if (hd_file_open(bench_path(b->folder, "commands.txt", path), &f, NULL) == HD_OK) {
    hd_buf_put(&commands, f.data, f.len);
    hd_file_close(&f);
  }
  hd_bench_html(&b->place, b->rows.data, b->rows.n, commands.data ? commands.data : "", &page);
  hd_buf_free(&commands);
  hd_status st = bench_write(b->folder, "table.txt", &table, d),
            rest = bench_write(b->folder, "report.html", &page, d);
  return st == HD_OK ? rest : st;
}

/* ---- Workloads ---------------------------------------------------------------------------------- */

static const char *size_of(const bench *b) { return b->size ? b->size : tuning_size(b->device); }

/* What failed is tried again. */
static bool is_done(const bench *b, const char *name) {
  for (size_t i = 0; i < b->rows.n; i++) {
    const hd_bench_row *r = &b->rows.data[i];
    if (strcmp(r->workload, name) == 0 && strcmp(r->size, size_of(b)) == 0) return !r->failed[0];
  }
  return false;
}

static hd_status tune_workload(bench *b, const char *name, hd_bench_row *row, hd_diag *d) {
  hd_workload *w;
  hd_tuning t;
  hd_status st = hd_workload_open(name, cli_kernels_dir(), size_of(b), &w, d);
  if (st != HD_OK) return st;
  hd_tune_options o = {.run = {.threads = (unsigned)b->threads},
                       .budget = (double)b->budget,
                       .no_counters = b->no_counters,
                       .shared = b->shared,
                       .each_lever = true,
                       .advisor = b->has_advisor ? &b->advisor : NULL,
                       .progress = tuning_progress,
                       .ctx = (void *)name};
  st = hd_tune(b->device, w, &o, &t, d);
  if (st == HD_OK) {
    hd_bench_fill(w, &t, &b->place, row);
    if (b->store) st = hd_tuning_keep(b->store, b->device, w, &o, &t, d);
    hd_tuning_free(&t);
  }
  hd_workload_close(w);
  return st;
}

/* A kernel's fault takes the device's context with it: what comes next gets a new one. */
static hd_status reopen(bench *b, hd_diag *d) {
  hd_device_close(b->device);
  b->device = NULL;
  return cli_open_device(b->device_name, (unsigned)b->threads, &b->device, d);
}

static hd_status bench_workload(bench *b, const char *name, size_t i, size_t n, hd_diag *d) {
  hd_bench_row row = {0};
  hd_diag e = {0};
  hd_status st = tune_workload(b, name, &row, &e);
  tuning_progress_end();
  if (st != HD_OK) {
    memset(&row, 0, sizeof row);
    snprintf(row.size, sizeof row.size, "%.31s", size_of(b));
    hd_diag_line(&e, row.failed, sizeof row.failed);
    if ((st = reopen(b, d)) != HD_OK) return st;
  }
  snprintf(row.workload, sizeof row.workload, "%.95s", name);
  if (row.failed[0])
    fprintf(stderr, "[%zu/%zu] %s: %s\n", i, n, name, row.failed);
  else
    fprintf(stderr, "[%zu/%zu] %s: %.3fx, %s, %.1f s\n", i, n, name, row.speedup, row.plan, row.seconds);
  st = bench_append_json(b->folder, results, row_json(&b->place, &row), d);
  if (st == HD_OK && !add_row(b, &row)) st = hd_nomem(d);
  return st == HD_OK ? draw(b, d) : st;
}

static hd_status run(bench *b, char **names, size_t n, hd_diag *d) {
  double start = hd_seconds();
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    if (b->resume && is_done(b, names[i])) continue;
    if (b->total && hd_seconds() - start > (double)b->total) {
      fprintf(stderr, "heddle: %zu of %zu workloads are left for --resume\n", n - i, n);
      break;
    }
    st = bench_workload(b, names[i], i + 1, n, d);
  }
  return st == HD_OK ? draw(b, d) : st;
}

/* ---- The command ------------------------------------------------------------------------------------ */

static hd_status prepare(bench *b, hd_diag *d) {
  hd_status st = bench_prepare(b->folder, b->verify ? bench_verify_results : results, b->resume, d);
  if (st == HD_OK) st = cli_open_device(b->device_name, (unsigned)b->threads, &b->device, d);
  if (st != HD_OK) return st;
  if (!hd_device_get_info(b->device)->has_times)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "device %s measures no times", b->device_name);
  if (!b->no_advice) b->has_advisor = tuning_advisor(b->device, &b->advisor, NULL) == HD_OK;
  hd_bench_describe(b->device, HEDDLE_VERSION, &b->place);
  if (strcmp(b->store_path ? b->store_path : "", "none") != 0)
    st = hd_store_open(b->store_path, &b->store, d);
  return st == HD_OK && b->resume && !b->verify ? bench_each_line(b->folder, results, take_line, b, d) : st;
}

static int print(const bench *b) {
  if (b->json) {
    json_t *rows = json_array();
    for (size_t i = 0; i < b->rows.n; i++) json_array_append_new(rows, row_json(&b->place, &b->rows.data[i]));
    hd_bench_mean clu = hd_bench_geomean(b->rows.data, b->rows.n, true);
    hd_bench_mean all = hd_bench_geomean(b->rows.data, b->rows.n, false);
    return cli_print_json(json_pack("{s:o, s:f, s:i, s:f, s:i}", "rows", rows, "clu_algorithm_mean",
                                    clu.speedup, "clu_algorithm_n", (int)clu.n, "mean", all.speedup, "n",
                                    (int)all.n));
  }
  hd_buf out = {0};
  hd_bench_text(&b->place, b->rows.data, b->rows.n, &out);
  return cli_print(&out);
}

static int verify(bench *b, char **names, size_t n) {
  bench_verify_options o = {.folder = b->folder,
                            .device_name = b->device_name,
                            .size = b->size,
                            .place = &b->place,
                            .store = b->store,
                            .device = &b->device,
                            .budget = (double)b->budget,
                            .total = (double)b->total,
                            .threads = (unsigned)b->threads,
                            .resume = b->resume,
                            .json = b->json};
  return bench_verify(&o, names, n);
}

static int close_bench(bench *b, int rc) {
  hd_vec_free(&b->rows);
  hd_store_close(b->store);
  hd_device_close(b->device);
  return rc;
}

int cmd_bench(int argc, char **argv) {
  bench b = {.device_name = "cuda:0", .folder = "heddle-bench"};
  const cli_option table[] = {
      {"device", 0, CLI_TEXT, &b.device_name, 0, "D", "cuda:N or model:NAME (default: cuda:0)"},
      {"size", 0, CLI_TEXT, &b.size, 0, "NAME", "the workloads' size (default: gpu; on models small)"},
      {"budget", 0, CLI_NUMBER, &b.budget, 86400, "S", "seconds for each workload, about (default: 10)"},
      {"total", 0, CLI_NUMBER, &b.total, 86400 * 7, "S",
       "begin no further workload after so many seconds (default: no limit)"},
      {"resume", 0, CLI_FLAG, &b.resume, 0, NULL, "go on where an earlier run in the same folder ended"},
      {"verify", 0, CLI_FLAG, &b.verify, 0, NULL,
       "tune nothing: measure every verdict for this device once more, at the size it was\ntuned at, into "
       "verify.jsonl and verify.txt; nothing is dropped"},
      {"store", 0, CLI_TEXT, &b.store_path, 0, "FILE",
       "keep the verdicts there (default: heddle's store); none: nowhere"},
      {"no-advice", 0, CLI_FLAG, &b.no_advice, 0, NULL,
       "do not ask the analysis of a small size what to try first"},
      {"no-counters", 0, CLI_FLAG, &b.no_counters, 0, NULL, "times only"},
      {"shared", 0, CLI_FLAG, &b.shared, 0, NULL, "as for tune"},
      CLI_THREADS_OPTION(b.threads),
      {"output", 'o', CLI_TEXT, &b.folder, 0, "DIR",
       "where results.jsonl, table.txt, report.html and commands.txt go\n(default: heddle-bench)"},
      CLI_JSON_OPTION(b.json),
      {0}};
  /* Parsing moves the words about. */
  char **words = calloc((size_t)argc + 1, sizeof *words);
  if (!words) return cli_usage("out of memory");
  memcpy(words, argv, (size_t)argc * sizeof *words);
  int n, rc = cli_parse(cli_find("bench"), table, argc, argv, &n);
  if (rc >= 0) {
    free(words);
    return rc;
  }
  hd_diag d = {0};
  char **names = argv + 1, **all = NULL;
  size_t count = (size_t)n;
  hd_status st = prepare(&b, &d);
  if (st == HD_OK && !n) {
    st = hd_workload_list(cli_kernels_dir(), &all, &count, &d);
    names = all;
  }
  if (st == HD_OK) st = bench_record_command(b.folder, argc, words, &d);
  if (st == HD_OK && b.verify)
    rc = verify(&b, names, count);
  else if (st == HD_OK && (st = run(&b, names, count, &d)) == HD_OK)
    rc = print(&b);
  if (all) hd_workload_list_free(all, count);
  free(words);
  return close_bench(&b, st == HD_OK ? rc : cli_fail(&d));
}
