/* Plans against the default launch, on a device. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct timing {
  hd_workload *w;
  hd_device *device;
  hd_measure_row *rows;
  size_t n;
} timing;

/* ---- Output ----------------------------------------------------------------------- */

static json_t *number(double v) { return isfinite(v) ? json_real(v) : json_null(); }

static json_t *row_json(const timing *t, size_t i, const char *plan) {
  const hd_measure_row *r = &t->rows[i];
  if (r->status != HD_OK) return json_pack("{s:s, s:s}", "plan", plan, "failed", r->why);
  json_t *j = json_pack("{s:s, s:f, s:f}", "plan", plan, "median_us", r->median_us, "least_us", r->least_us);
  if (!j) return NULL;
  if (i)
    json_object_set_new(j, "speedup",
                        json_pack("{s:f, s:o, s:o, s:f}", "median", r->speedup.median, "low",
                                  number(r->speedup.low), "high", number(r->speedup.high), "confidence",
                                  r->speedup.confidence));
  if (r->has_counters)
    json_object_set_new(j, "counters", cli_counters_json(&r->counters));
  else if (r->no_counters[0])
    json_object_set_new(j, "no_counters", json_string(r->no_counters));
  return j;
}

static int print_json(const timing *t) {
  const hd_device_info *d = hd_device_get_info(t->device);
  json_t *rows = json_array();
  for (size_t i = 0; i < t->n; i++) {
    hd_buf plan = {0};
    hd_plan_print(&t->rows[i].plan, &plan);
    json_array_append_new(rows, row_json(t, i, plan.data ? plan.data : ""));
    hd_buf_free(&plan);
  }
  return cli_print_json(json_pack(
      "{s:s, s:s, s:{s:s, s:s, s:s, s:i, s:i, s:b}, s:I, s:o}", "workload", t->w->name, "size", t->w->size,
      "device", "name", d->name, "title", d->title, "uuid", d->uuid, "sms", (int)d->n_sms, "driver",
      (int)d->driver_version, "mig", d->mig, "pairs", (json_int_t)t->rows[0].speedup.pairs, "rows", rows));
}

static void megabytes_cell(hd_text_table *table, uint64_t bytes) {
  hd_text_table_cell(table, "%.1f", (double)bytes / 1e6);
}

static void put_row(hd_text_table *table, const hd_measure_row *r, bool baseline, bool counters) {
  hd_buf plan = {0};
  hd_plan_print(&r->plan, &plan);
  hd_text_table_cell(table, "%s", plan.data ? plan.data : "");
  hd_buf_free(&plan);
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

static int print_text(const timing *t) {
  const hd_device_info *d = hd_device_get_info(t->device);
  bool counters = false;
  for (size_t i = 0; i < t->n; i++) counters |= t->rows[i].has_counters;
  hd_text_table *table = hd_text_table_new(counters ? "lrrlrrrr" : "lrrl");
  if (!table) return cli_usage("out of memory");
  static const char *const head[] = {"plan",    "median us",  "speedup",      "99% interval",
                                     "L1 hits", "L2 read MB", "DRAM read MB", "DRAM written MB"};
  for (size_t i = 0; i < (counters ? 8u : 4u); i++) hd_text_table_cell(table, "%s", head[i]);
  hd_text_table_rule(table);
  for (size_t i = 0; i < t->n; i++) put_row(table, &t->rows[i], i == 0, counters);
  hd_buf out = {0};
  hd_buf_printf(&out, "%s (%s) on %s (%s), %zu rounds\n\n", t->w->name, t->w->size, d->name, d->title,
                t->rows[0].speedup.pairs);
  hd_text_table_print(table, &out);
  hd_text_table_free(table);
  for (size_t i = 0; i < t->n; i++) {
    if (t->rows[i].status == HD_OK) continue;
    hd_buf plan = {0};
    hd_plan_print(&t->rows[i].plan, &plan);
    hd_buf_printf(&out, "\n%s: %s\n", plan.data ? plan.data : "", t->rows[i].why);
    hd_buf_free(&plan);
  }
  if (!counters && t->rows[0].no_counters[0])
    hd_buf_printf(&out, "\nNo counters: %s.\n", t->rows[0].no_counters);
  return cli_print(&out);
}

/* ---- Running ------------------------------------------------------------------------ */

/* The baseline, then the plans in the order given; a plan that is the baseline adds nothing. */
static hd_status collect_rows(timing *t, const cli_list *plans, hd_diag *d) {
  t->rows = calloc(plans->n + 1, sizeof *t->rows);
  if (!t->rows) return hd_nomem(d);
  t->n = 1;
  for (size_t i = 0; i < plans->n; i++) {
    hd_plan p;
    hd_status st = hd_plan_parse(plans->items[i], &p, d);
    if (st != HD_OK) return st;
    if (hd_plan_is_baseline(&p))
      hd_plan_free(&p);
    else
      t->rows[t->n++].plan = p;
  }
  return HD_OK;
}

static int close_timing(timing *t, int rc) {
  for (size_t i = 0; i < t->n; i++) hd_plan_free(&t->rows[i].plan);
  free(t->rows);
  hd_device_close(t->device);
  hd_workload_close(t->w);
  return rc;
}

int cmd_time(int argc, char **argv) {
  const char *size = NULL, *device = "cuda:0", *l2 = "flush";
  cli_list plans = {0};
  uint64_t threads = 0, warmups = 0, repetitions = 0;
  bool json = false, any_grid = false, no_counters = false;
  const cli_option options[] = {
      {"plan", 0, CLI_LIST, &plans, 0, "P", "a plan; several are timed in turns"},
      {"device", 0, CLI_TEXT, &device, 0, "D", "cuda:N or model:NAME (default: cuda:0)"},
      {"repetitions", 0, CLI_NUMBER, &repetitions, 100000, "N",
       "timed rounds (default: 31); an interval needs 8"},
      {"warmups", 0, CLI_NUMBER, &warmups, 100000, "N", "rounds before them (default: 3)"},
      {"l2", 0, CLI_TEXT, &l2, 0, "flush|keep",
       "what a run finds in L2: nothing of the workload, or what its last run left\n(default: flush)"},
      {"no-counters", 0, CLI_FLAG, &no_counters, 0, NULL, "times only"},
      {"any-grid", 0, CLI_FLAG, &any_grid, 0, NULL, "rewrite for any grid instead of the launch's own"},
      {"size", 0, CLI_TEXT, &size, 0, "NAME", "the workload's size (default: small)"},
      CLI_THREADS_OPTION(threads),
      CLI_JSON_OPTION(json),
      {0}};
  int n, rc = cli_parse(cli_find("time"), options, argc, argv, &n);
  if (rc >= 0) return rc;
  bool keep = strcmp(l2, "keep") == 0;
  if (n != 1 || (!keep && strcmp(l2, "flush") != 0)) {
    return n != 1 ? cli_usage("time: name one workload ('heddle list' shows them)")
                  : cli_usage("time: --l2 takes flush or keep, not '%s'", l2);
  }
  hd_diag d = {0};
  timing t = {0};
  hd_measure_options o = {.run = {.threads = (unsigned)threads, .any_grid = any_grid},
                          .warmups = (uint32_t)warmups,
                          .repetitions = (uint32_t)repetitions,
                          .keep_l2 = keep,
                          .no_counters = no_counters};
  hd_status st = collect_rows(&t, &plans, &d);
  if (st == HD_OK) st = hd_workload_open(argv[1], cli_kernels_dir(), size, &t.w, &d);
  if (st == HD_OK) st = cli_open_device(device, (unsigned)threads, &t.device, &d);
  if (st == HD_OK) st = hd_measure(t.device, t.w, &o, t.rows, t.n, &d);
  if (st != HD_OK) return close_timing(&t, cli_fail(&d));
  return close_timing(&t, json ? print_json(&t) : print_text(&t));
}
