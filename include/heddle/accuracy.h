/* heddle/accuracy.h: how far the traffic model is from a GPU's own counters.
 *
 * Both count the workload's original kernels, beginning with an L2 that holds nothing of the workload: the
 * model by a replay through hd_gpu's caches, the device by its hardware counters.
 */
#ifndef HEDDLE_ACCURACY_H
#define HEDDLE_ACCURACY_H

#include "heddle/predict.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_accuracy_row {
  hd_status status; /* HD_OK: both are there */
  char why[256];    /* else why not */
  hd_counters model, device;
} hd_accuracy_row;

/* The model's counters of all the workload's launches: one trace, one replay as the GPU dispatches. */
HD_API hd_status hd_accuracy_model(const hd_workload *w, const hd_gpu *g, const hd_run_options *o,
                                   hd_counters *out, hd_diag *d);
/* The device's. HD_ERR_UNSUPPORTED, saying why, where it counts nothing. */
HD_API hd_status hd_accuracy_device(hd_device *dev, const hd_workload *w, const hd_run_options *o,
                                    hd_counters *out, hd_diag *d);

/* The counters that are compared. DRAM writes are not: sectors that are dirty when a kernel ends stay in the
 * GPU's L2, and sectors that were dirty before are written while it runs. */
typedef enum hd_accuracy_metric {
  HD_ACCURACY_L1_SECTORS = 0,
  HD_ACCURACY_L1_HITS,
  HD_ACCURACY_L2_READ_SECTORS,
  HD_ACCURACY_L2_WRITE_SECTORS,
  HD_ACCURACY_L2_HITS,
  HD_ACCURACY_DRAM_READ_BYTES,
  HD_ACCURACY_COUNT
} hd_accuracy_metric;
HD_API const char *hd_accuracy_name(hd_accuracy_metric m); /* "L2 read sectors" */
HD_API uint64_t hd_accuracy_value(const hd_counters *c, hd_accuracy_metric m);

/* Model over device: above 1, the model sees more. 1 where both are 0, NaN where one is or the row has
 * failed. */
HD_API double hd_accuracy_ratio(const hd_accuracy_row *row, hd_accuracy_metric m);

enum { HD_ACCURACY_WORST = 10 };
typedef struct hd_accuracy_summary {
  size_t n;                    /* rows that have a ratio */
  double median_ratio;         /* NaN when n is 0; so are the errors */
  double median_error;         /* of |ratio - 1| */
  double within_10, within_25; /* parts of the rows with an error of at most 0.1, 0.25 */
  size_t
      worst[HD_ACCURACY_WORST]; /* rows, by the factor between the two, whichever is more; the worst first */
  size_t n_worst;
} hd_accuracy_summary;
HD_API hd_status hd_accuracy_summarize(const hd_accuracy_row *rows, size_t n, hd_accuracy_metric m,
                                       hd_accuracy_summary *out, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
