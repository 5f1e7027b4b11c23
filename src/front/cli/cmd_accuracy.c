/* The model's counters, or times, against a device's, over many workloads. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "heddle/results.h"

typedef struct accuracy {
  hd_accuracy_job job;
  hd_accuracy_row *rows;
  hd_accuracy_times *times; /* --time */
  hd_gpu gpu;
  const char *device, *measured; /* --measured's file, else a device */
  hd_device *dev;
  bool json;
} accuracy;

/* ---- Device ------------------------------------------------------------------------------ */

static hd_status fail_row(hd_status *status, char why[256], hd_status st, const char *text) {
  *status = st;
  hd_fit(why, 256, "%s", text);
  return st;
}

/* A workload's failure is its own, unless the device goes with it. */
static hd_status measure_all(accuracy *a, hd_diag *d) {
  for (size_t i = 0; i < a->job.n; i++) {
    hd_diag e = {0};
    hd_workload *w = NULL;
    if ((a->rows ? a->rows[i].status : a->times[i].status) != HD_OK) continue;
    hd_status st = hd_workload_open(a->job.names[i], cli_kernels_dir(), a->job.size, &w, &e);
    if (st == HD_OK)
      st = a->rows ? hd_accuracy_device(a->dev, w, NULL, &a->rows[i].device, &e)
                   : hd_accuracy_device_times(a->dev, w, 9, &a->times[i], &e);
    hd_workload_close(w);
    if (st != HD_OK && a->rows) fail_row(&a->rows[i].status, a->rows[i].why, st, e.message);
    if (st != HD_OK && a->times) fail_row(&a->times[i].status, a->times[i].why, st, e.message);
    if (st != HD_OK && hd_device_sync(a->dev, NULL) != HD_OK) {
      if (d) *d = e;
      return st;
    }
    cli_progress((void *)"measuring workloads", i + 1, a->job.n);
  }
  return HD_OK;
}

/* ---- Counters ------------------------------------------------------------------------------ */

static hd_status compare_counters(accuracy *a, hd_buf *out, hd_diag *d) {
  hd_accuracy_summary s[HD_ACCURACY_COUNT];
  a->rows = calloc(a->job.n + 1, sizeof *a->rows);
  if (!a->rows) return hd_nomem(d);
  hd_status st = cli_open_device(a->device, 0, &a->dev, d);
  if (st == HD_OK) st = hd_accuracy_models(&a->job, a->rows, d);
  if (st == HD_OK) st = measure_all(a, d);
  for (int m = 0; st == HD_OK && m < HD_ACCURACY_COUNT; m++)
    st = hd_accuracy_summarize(a->rows, a->job.n, (hd_accuracy_metric)m, &s[m], d);
  if (st != HD_OK) return st;
  const hd_accuracy_report r = {.names = (const char *const *)a->job.names,
                                .rows = a->rows,
                                .n = a->job.n,
                                .size = a->job.size,
                                .gpu = &a->gpu,
                                .device = hd_device_get_info(a->dev),
                                .summaries = s};
  (a->json ? hd_accuracy_json : hd_accuracy_text)(&r, out);
  return HD_OK;
}

/* ---- Times --------------------------------------------------------------------------------- */

/* The plans that a device will be asked for. */
static hd_status list_plans(accuracy *a, hd_diag *d) {
  size_t n;
  const char *const *plans = hd_accuracy_plans(&n);
  a->times = calloc(a->job.n + 1, sizeof *a->times);
  if (!a->times) return hd_nomem(d);
  for (size_t i = 0; i < a->job.n; i++)
    for (a->times[i].n = 0; a->times[i].n < n; a->times[i].n++)
      snprintf(a->times[i].plans[a->times[i].n].text, sizeof a->times[i].plans->text, "%s",
               plans[a->times[i].n]);
  return cli_open_device(a->device, 0, &a->dev, d);
}

static hd_status compare_times(accuracy *a, hd_buf *out, hd_diag *d) {
  hd_status st = a->measured ? HD_OK : list_plans(a, d);
  if (st == HD_OK) st = hd_accuracy_model_times(&a->job, a->times, d);
  if (st == HD_OK && a->dev) st = measure_all(a, d);
  hd_accuracy_times_report r = {.names = (const char *const *)a->job.names,
                                .rows = a->times,
                                .n = a->job.n,
                                .size = a->job.size,
                                .gpu = &a->gpu,
                                .measured = a->dev ? hd_device_get_info(a->dev)->title : a->measured};
  if (st == HD_OK) st = hd_accuracy_rank(a->times, a->job.n, &r.ranking, d);
  if (st == HD_OK) (a->json ? hd_accuracy_times_json : hd_accuracy_times_text)(&r, out);
  return st;
}

/* ---- The command ------------------------------------------------------------------------------- */

int cmd_accuracy(int argc, char **argv) {
  const char *gpu = "h100";
  unsigned depth = 0;
  uint64_t seconds = 60, threads = 0;
  bool time = false;
  accuracy a = {.device = "cuda:0", .job = {.size = "small", .kernels_dir = cli_kernels_dir()}};
  const cli_option options[] = {
      CLI_COMMON_AS("gpu", &gpu, "the GPU to model (default: h100)"),
      {"device", 0, CLI_TEXT, &a.device, 0, "D", "the device that counts: cuda:N (default: cuda:0)"},
      {"time", 0, CLI_FLAG, &time, 0, NULL, "compare times, of the default launches and of plans"},
      {"measured", 0, CLI_TEXT, &a.measured, 0, "FILE",
       "--time: measured times, {workload: {plan: us}}, in place of a device"},
      CLI_COMMON("depth", &depth),
      CLI_COMMON_AS("size", &a.job.size, "the workloads' size (default: small)"),
      {"seconds", 0, CLI_NUMBER, &seconds, 86400, "N", "that modelling one workload may take (default: 60)"},
      {"threads", 0, CLI_NUMBER, &threads, 1024, "N",
       "workloads modelled at once (default: one per processor)"},
      CLI_COMMON("json", &a.json),
      {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  if (!seconds) return cli_usage("accuracy: --seconds is at least 1");
  if (a.measured && !time) return cli_usage("accuracy: --measured goes with --time");
  if (time && depth == DEPTH_TRAFFIC) return cli_usage("accuracy: --time needs a clock: --depth timing");
  hd_diag d = {0};
  hd_buf out = {0};
  a.job.seconds = (double)seconds;
  a.job.at_once = threads;
  a.job.gpu = &a.gpu;
  a.job.progress = cli_progress;
  a.job.ctx = (void *)"modelling workloads";
  hd_status st = hd_gpu_load(gpu, cli_gpus_dir(), &a.gpu, &d);
  a.job.timed = depth ? depth == DEPTH_TIMING : hd_gpu_has_clock(&a.gpu);
  if (st == HD_OK)
    st = a.measured
             ? hd_accuracy_read_times(a.measured, argv + 1, (size_t)n, &a.job.names, &a.times, &a.job.n, &d)
             : hd_workload_names(cli_kernels_dir(), argv + 1, (size_t)n, &a.job.names, &a.job.n, &d);
  if (st == HD_OK) st = (time ? compare_times : compare_counters)(&a, &out, &d);
  rc = st == HD_OK ? cli_print(&out) : cli_fail(&d);
  if (st != HD_OK) hd_buf_free(&out);
  hd_device_close(a.dev);
  free(a.rows);
  free(a.times);
  hd_workload_list_free(a.job.names, a.job.n);
  return rc;
}
