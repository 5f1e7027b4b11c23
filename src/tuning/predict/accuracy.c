/* The traffic model against a device's counters. */
#include "heddle/accuracy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/distance.h"

/* ---- Counting --------------------------------------------------------------------- */

hd_status hd_accuracy_model(const hd_workload *w, const hd_gpu *g, const hd_run_options *o, bool timed,
                            hd_counters *out, hd_diag *d) {
  hd_run_options run = o ? *o : (hd_run_options){0};
  hd_study *s;
  if (!run.machine.n_sms) run.machine.n_sms = g->n_sms;
  hd_status st = hd_study_open(w, &run, &(hd_study_options){.timed = timed}, &s, d);
  if (st != HD_OK) return st;
  st = hd_study_replay(s, g, &hd_plan_original, g->dispatch, 0, out, d);
  hd_study_close(s);
  return st;
}

hd_status hd_accuracy_device(hd_device *dev, const hd_workload *w, const hd_run_options *o, hd_counters *out,
                             hd_diag *d) {
  hd_measure_options measure = {.warmups = 1, .repetitions = 1};
  hd_measure_row row = {0}; /* the original */
  if (o) measure.run = *o;
  hd_status st = hd_measure(dev, w, &measure, &row, 1, d);
  if (st != HD_OK) return st;
  if (!row.has_counters)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "%s counts nothing: %s", hd_device_get_info(dev)->name,
                   row.no_counters);
  *out = row.counters;
  return HD_OK;
}

/* ---- Comparing -------------------------------------------------------------------------- */

static const struct metric {
  const char *name;
  size_t at; /* of a uint64_t in hd_counters */
} metrics[HD_ACCURACY_COUNT] = {
    [HD_ACCURACY_L1_SECTORS] = {"L1 sectors", offsetof(hd_counters, l1_sectors)},
    [HD_ACCURACY_L1_HITS] = {"L1 hits", offsetof(hd_counters, l1_hits)},
    [HD_ACCURACY_L2_READ_SECTORS] = {"L2 read sectors", offsetof(hd_counters, l2_read_sectors)},
    [HD_ACCURACY_L2_WRITE_SECTORS] = {"L2 write sectors", offsetof(hd_counters, l2_write_sectors)},
    [HD_ACCURACY_L2_HITS] = {"L2 hits", offsetof(hd_counters, l2_hits)},
    [HD_ACCURACY_DRAM_READ_BYTES] = {"DRAM read bytes", offsetof(hd_counters, dram_read_bytes)},
};

const char *hd_accuracy_name(hd_accuracy_metric m) { return metrics[m].name; }

uint64_t hd_accuracy_value(const hd_counters *c, hd_accuracy_metric m) {
  return *(const uint64_t *)((const char *)c + metrics[m].at);
}

double hd_accuracy_ratio(const hd_accuracy_row *row, hd_accuracy_metric m) {
  uint64_t model = hd_accuracy_value(&row->model, m), device = hd_accuracy_value(&row->device, m);
  if (row->status != HD_OK || !model != !device) return NAN;
  return model ? (double)model / (double)device : 1;
}

hd_status hd_accuracy_summarize(const hd_accuracy_row *rows, size_t n, hd_accuracy_metric m,
                                hd_accuracy_summary *out, hd_diag *d) {
  *out = (hd_accuracy_summary){0};
  double *ratios = calloc(n + 1, sizeof *ratios), *errors = calloc(n + 1, sizeof *errors);
  distance *distances = calloc(n + 1, sizeof *distances);
  size_t close = 0, near = 0, k = 0;
  for (size_t i = 0; ratios && errors && distances && i < n; i++) {
    double ratio = hd_accuracy_ratio(&rows[i], m);
    if (isnan(ratio)) continue;
    ratios[k] = ratio;
    errors[k] = fabs(ratio - 1);
    close += errors[k] <= 0.1;
    near += errors[k] <= 0.25;
    distances[k++] = (distance){fmax(ratio, 1 / ratio), i};
  }
  hd_status st = HD_OK;
  if (ratios && errors && distances) {
    qsort(distances, k, sizeof *distances, distance_order);
    out->n = k;
    out->n_worst = k < HD_ACCURACY_WORST ? k : HD_ACCURACY_WORST;
    for (size_t i = 0; i < out->n_worst; i++) out->worst[i] = distances[i].row;
    out->median_ratio = hd_median(ratios, k);
    out->median_error = hd_median(errors, k);
    out->within_10 = k ? (double)close / (double)k : NAN;
    out->within_25 = k ? (double)near / (double)k : NAN;
  } else {
    st = hd_nomem(d);
  }
  free(ratios);
  free(errors);
  free(distances);
  return st;
}
