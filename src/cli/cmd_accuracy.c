/* The traffic model's counters against a device's, over many workloads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "heddle/process.h"
#include "heddle/results.h"

typedef struct accuracy {
  char **names;
  hd_accuracy_row *rows;
  size_t n, modelled;
  const char *size;
  double seconds; /* that one workload's trace and replay may take */
  hd_gpu gpu;
} accuracy;

/* ---- Models ------------------------------------------------------------------------ */

static void fail_row(hd_accuracy_row *row, hd_status st, const char *why) {
  row->status = st;
  snprintf(row->why, sizeof row->why, "%.255s", why);
}

/* In a process of its own: only its end stops an emulator that is at work. It leaves the device alone, which
 * would not survive a fork. */
static void model_one(void *ctx, size_t i, void *answer) {
  const accuracy *a = ctx;
  hd_accuracy_row *row = answer;
  hd_diag d = {0};
  hd_run_options run = {.threads = 1};
  hd_workload *w = NULL;
  hd_status st = hd_workload_open(a->names[i], cli_kernels_dir(), a->size, &w, &d);
  if (st == HD_OK) st = hd_accuracy_model(w, &a->gpu, &run, &row->model, &d);
  if (st != HD_OK) fail_row(row, st, d.message);
  hd_workload_close(w);
}

static void take_row(void *ctx, size_t i, hd_job_end end, const void *answer) {
  accuracy *a = ctx;
  char why[96];
  switch (end) {
  case HD_JOB_ANSWERED: memcpy(&a->rows[i], answer, sizeof a->rows[i]); break;
  case HD_JOB_DIED: fail_row(&a->rows[i], HD_ERR_FAULT, "the process that modelled it died"); break;
  case HD_JOB_UNBEGUN: fail_row(&a->rows[i], HD_ERR_NOMEM, strerror(errno)); break;
  case HD_JOB_LATE:
    snprintf(why, sizeof why, "not modelled within %.0f s", a->seconds);
    fail_row(&a->rows[i], HD_ERR_UNSUPPORTED, why);
    break;
  }
  cli_progress((void *)"modelling workloads", ++a->modelled, a->n);
}

/* ---- Device ------------------------------------------------------------------------------ */

static bool ends_everything(hd_device *dev) { return hd_device_sync(dev, NULL) != HD_OK; }

static hd_status count_all(accuracy *a, hd_device *dev, hd_diag *d) {
  for (size_t i = 0; i < a->n; i++) {
    hd_accuracy_row *row = &a->rows[i];
    hd_diag e = {0};
    hd_workload *w = NULL;
    if (row->status != HD_OK) continue;
    hd_status st = hd_workload_open(a->names[i], cli_kernels_dir(), a->size, &w, &e);
    if (st == HD_OK) st = hd_accuracy_device(dev, w, NULL, &row->device, &e);
    hd_workload_close(w);
    if (st != HD_OK) fail_row(row, st, e.message);
    if (st != HD_OK && ends_everything(dev)) {
      if (d) *d = e;
      return st;
    }
    cli_progress((void *)"counting workloads", i + 1, a->n);
  }
  return HD_OK;
}

static int print(const accuracy *a, hd_device *dev, const hd_accuracy_summary *summaries, bool json) {
  hd_buf out = {0};
  const hd_accuracy_report r = {.names = (const char *const *)a->names,
                                .rows = a->rows,
                                .n = a->n,
                                .size = a->size,
                                .gpu = &a->gpu,
                                .device = hd_device_get_info(dev),
                                .summaries = summaries};
  (json ? hd_accuracy_json : hd_accuracy_text)(&r, &out);
  return cli_print(&out);
}

/* ---- The command ------------------------------------------------------------------------------- */

static hd_status compare(accuracy *a, const char *device, uint64_t at_once, hd_device **dev,
                         hd_accuracy_summary *s, hd_diag *d) {
  a->rows = calloc(a->n + 1, sizeof *a->rows);
  if (!a->rows) return hd_nomem(d);
  hd_status st = cli_open_device(device, 0, dev, d);
  const hd_jobs jobs = {.n = a->n,
                        .at_once = at_once,
                        .seconds = a->seconds,
                        .answer_bytes = sizeof *a->rows,
                        .work = model_one,
                        .done = take_row,
                        .ctx = a};
  if (st == HD_OK) st = hd_jobs_run(&jobs, d);
  if (st == HD_OK) st = count_all(a, *dev, d);
  for (int m = 0; st == HD_OK && m < HD_ACCURACY_COUNT; m++)
    st = hd_accuracy_summarize(a->rows, a->n, (hd_accuracy_metric)m, &s[m], d);
  return st;
}

int cmd_accuracy(int argc, char **argv) {
  const char *gpu = "h100", *device = "cuda:0";
  uint64_t seconds = 60, threads = 0;
  bool json = false;
  accuracy a = {.size = "small"};
  const cli_option options[] = {
      {"gpu", 0, CLI_TEXT, &gpu, 0, "NAME", "the GPU to model (default: h100)"},
      {"device", 0, CLI_TEXT, &device, 0, "D", "the device that counts: cuda:N (default: cuda:0)"},
      {"size", 0, CLI_TEXT, &a.size, 0, "NAME", "the workloads' size (default: small)"},
      {"seconds", 0, CLI_NUMBER, &seconds, 86400, "N", "that modelling one workload may take (default: 60)"},
      {"threads", 0, CLI_NUMBER, &threads, 1024, "N",
       "workloads modelled at once (default: one per processor)"},
      CLI_JSON_OPTION(json),
      {0}};
  int n, rc = cli_parse(cli_find("accuracy"), options, argc, argv, &n);
  if (rc >= 0) return rc;
  if (!seconds) return cli_usage("accuracy: --seconds is at least 1");
  hd_diag d = {0};
  char **all = NULL;
  hd_device *dev = NULL;
  hd_accuracy_summary summaries[HD_ACCURACY_COUNT];
  a.seconds = (double)seconds;
  a.names = argv + 1;
  a.n = (size_t)n;
  hd_status st = hd_gpu_load(gpu, cli_gpus_dir(), &a.gpu, &d);
  if (st == HD_OK && !n) {
    st = hd_workload_list(cli_kernels_dir(), &all, &a.n, &d);
    a.names = all;
  }
  if (st == HD_OK) st = compare(&a, device, threads, &dev, summaries, &d);
  if (st != HD_OK)
    rc = cli_fail(&d);
  else
    rc = print(&a, dev, summaries, json);
  hd_device_close(dev);
  free(a.rows);
  if (all) hd_workload_list_free(all, a.n);
  return rc;
}
