/* Plans against the default launch, on a device. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "heddle/results.h"

typedef struct timing {
  hd_workload *w;
  hd_device *device;
  hd_measure_row *rows;
  size_t n;
} timing;

/* The baseline, then the plans in the order given; a plan that is the baseline adds nothing. */
static hd_status collect_rows(timing *t, const cli_list *plans, hd_diag *d) {
  t->rows = calloc(plans->n + 1, sizeof *t->rows);
  if (!t->rows) return hd_nomem(d);
  t->n = 1;
  for (size_t i = 0; i < plans->n; i++) {
    hd_plan p;
    hd_status st = hd_plan_parse(plans->items[i], &p, d);
    if (st != HD_OK) return st;
    if (!hd_plan_is_baseline(&p)) t->rows[t->n++].plan = p;
  }
  return HD_OK;
}

static int close_timing(timing *t, int rc) {
  free(t->rows);
  hd_device_close(t->device);
  hd_workload_close(t->w);
  return rc;
}

int cmd_time(int argc, char **argv) {
  cli_input in = {0};
  const char *device = "cuda:0";
  unsigned assume = 0, l2 = 0;
  cli_list plans = {0};
  uint64_t threads = 0, warmups = 0, repetitions = 0;
  bool json = false, any_grid = false, no_counters = false;
  const cli_option options[] = {
      {"plan", 0, CLI_LIST, &plans, 0, "P", "a plan; several are timed in turns"},
      CLI_COMMON("device", &device),
      CLI_COMMON_AS("repetitions", &repetitions,
                    "timed rounds (default: 31, of a model 1); an interval needs 8"),
      CLI_COMMON_AS("warmups", &warmups, "rounds before them (default: 3, of a model none)"),
      CLI_COMMON("l2", &l2),
      CLI_COMMON("no-counters", &no_counters),
      CLI_COMMON("any-grid", &any_grid),
      CLI_COMMON("assume", &assume),
      CLI_INPUT_OPTIONS(&in, "the workload's size (default: small)"),
      CLI_COMMON("threads", &threads),
      CLI_COMMON("json", &json),
      {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  timing t = {0};
  hd_measure_options o = {.run = {.machine.threads = (unsigned)threads,
                                  .compile = {.any_grid = any_grid, .assume = assume},
                                  .watch = cli_watch},
                          .warmups = (uint32_t)warmups,
                          .repetitions = (uint32_t)repetitions,
                          .keep_l2 = l2 == L2_KEEP,
                          .no_counters = no_counters};
  hd_status st = collect_rows(&t, &plans, &d);
  if (st == HD_OK) st = cli_open_workload(argv[1], &in, NULL, &t.w, &d);
  if (st == HD_OK) st = cli_open_device(device, (unsigned)threads, &t.device, &d);
  if (st == HD_OK) st = hd_measure(t.device, t.w, &o, t.rows, t.n, &d);
  if (st != HD_OK) return close_timing(&t, cli_fail(&d));
  hd_buf out = {0};
  const hd_measurement m = {t.w, hd_device_get_info(t.device), hd_device_get_gpu(t.device), t.rows, t.n};
  (json ? hd_measurement_json : hd_measurement_text)(&m, &out);
  return close_timing(&t, cli_print(&out));
}
