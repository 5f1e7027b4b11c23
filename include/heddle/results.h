/* heddle/results.h: what single runs found, as text for people and as JSON for programs.
 *
 * Each result is a struct (often only pointers to what other headers describe), a function that appends its
 * text and one that appends its JSON: indented by two, a newline at the end, numbers with ten digits, null
 * for what is infinite or unknown. Running out of memory makes the buffer fail. */
#ifndef HEDDLE_RESULTS_H
#define HEDDLE_RESULTS_H

#include "heddle/accuracy.h"
#include "heddle/corun.h"
#include "heddle/difftest.h"
#include "heddle/overhead.h"
#include "heddle/predict.h"
#include "heddle/probe.h"
#include "heddle/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- One plan on one workload ------------------------------------------------------------ */

/* A proof by the emulator, or a comparison on a device. */
typedef struct hd_check_report {
  const hd_workload *workload;
  const hd_plan *plan;
  const char *device; /* its title; NULL: the emulator under every dispatcher */
  const hd_check_result *result;
} hd_check_report;
/* Of a result that is equal. One that is not has its reason in result->what. */
HD_API void hd_check_text(const hd_check_report *r, hd_buf *out);
HD_API void hd_check_json(const hd_check_report *r, hd_buf *out);
/* In place of a result where the plan was refused, or the original faults. */
HD_API void hd_check_refused_json(const char *why, hd_buf *out);

/* Counters on a modelled GPU. */
typedef struct hd_simulation {
  const hd_workload *workload;
  const hd_gpu *gpu;
  const char *dispatch; /* name of the dispatcher */
  const hd_plan *plan;
  hd_counters counters;
} hd_simulation;
HD_API void hd_simulation_text(const hd_simulation *s, hd_buf *out);
HD_API void hd_simulation_json(const hd_simulation *s, hd_buf *out);

/* ---- Times on a device -------------------------------------------------------------------- */

typedef struct hd_measurement {
  const hd_workload *workload;
  const hd_device_info *device;
  const hd_measure_row *rows; /* rows[0]: the default launch */
  size_t n;
} hd_measurement;
HD_API void hd_measurement_text(const hd_measurement *m, hd_buf *out);
HD_API void hd_measurement_json(const hd_measurement *m, hd_buf *out);

typedef struct hd_corun_report {
  const hd_workload *const *workloads; /* two */
  const hd_device_info *device;
  const hd_corun_result *result;
} hd_corun_report;
HD_API void hd_corun_text(const hd_corun_report *r, hd_buf *out);
HD_API void hd_corun_json(const hd_corun_report *r, hd_buf *out);

/* A probe's figures. `path`: its GPU file; `html`: its page, or NULL. */
HD_API void hd_probe_text(const hd_probe_result *r, const char *path, const char *html, hd_buf *out);
HD_API void hd_probe_json(const hd_probe_result *r, hd_buf *out);

/* ---- Comparisons over many ------------------------------------------------------------------ */

/* The traffic model beside a device's counters. */
typedef struct hd_accuracy_report {
  const char *const *names; /* of workloads */
  const hd_accuracy_row *rows;
  size_t n;
  const char *size;
  const hd_gpu *gpu;                    /* modelled */
  const hd_device_info *device;         /* measured */
  const hd_accuracy_summary *summaries; /* HD_ACCURACY_COUNT */
} hd_accuracy_report;
HD_API void hd_accuracy_text(const hd_accuracy_report *r, hd_buf *out);
HD_API void hd_accuracy_json(const hd_accuracy_report *r, hd_buf *out);

HD_API void hd_difftest_text(const hd_difftest_options *o, const hd_difftest_result *r, hd_buf *out);
HD_API void hd_difftest_json(const hd_difftest_options *o, const hd_difftest_result *r, hd_buf *out);

/* hd_report_overhead is the page. */
HD_API void hd_overhead_json(const hd_overhead_table *t, hd_buf *out);

/* ---- Lists -------------------------------------------------------------------------------------- */

/* names[i] is what workloads[i] was found by. */
HD_API void hd_workloads_text(const hd_workload *const *workloads, const char *const *names, size_t n,
                              hd_buf *out);
HD_API void hd_workloads_json(const hd_workload *const *workloads, const char *const *names, size_t n,
                              hd_buf *out);

/* Verdicts that pass, as a table; hd_store_export is their JSON. */
HD_API hd_status hd_verdicts_text(hd_store *s, const hd_store_filter *f, hd_buf *out, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
