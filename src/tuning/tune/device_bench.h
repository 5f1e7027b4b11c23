/* tune/device_bench.h: a workload on a device, and its original's results there.
 *
 * device_bench.c  plans made ready, run, timed, moved
 * device_sums.c   whether they compute the original's results
 */
#ifndef HEDDLE_TUNE_DEVICE_BENCH_H
#define HEDDLE_TUNE_DEVICE_BENCH_H

#include "tune/tuner.h"

typedef struct slot {
  device_bench *bench;
  variant v;
  bool used;
} slot;

struct device_bench {
  placement p;
  bool keep_l2, shared;
  bool fragmented;      /* moves go to fragmented memory */
  const char *kernel;   /* watched; NULL: all */
  uint32_t first, last; /* its launches */
  slot **slots;         /* each stays where it is: jobs point to them */
  uint32_t n_slots;
  bool learnt;
  uint64_t *sums; /* per buffer: of the original's result */
  void **near;    /* per buffer: the original's result where sums may differ, else NULL */
  hd_device_module *tools;
  uint64_t tools_sums; /* on the device, one per buffer */
  hd_tune_seconds spent;
  search_meter meter;
};

/* A sum of each buffer's bytes as they are now. */
hd_status device_sum_up(device_bench *b, uint64_t *sums, hd_diag *d);
/* After the first run: find the buffers that changed, by their sums before it, and keep the new sums. */
hd_status device_learn(device_bench *b, const uint64_t *before, hd_diag *d);
/* The result of the run that just ended against the original's: by sums, but for buffers that atomics add to,
 * which are read back. */
hd_status device_compare(device_bench *b, hd_diag *d);
/* A copy of every buffer on the GPU, for device_drop_copies (NULL is fine). HD_ERR_NOMEM: there is no room.
 */
hd_status device_copy_all(device_bench *b, uint64_t **out, hd_diag *d);
void device_drop_copies(device_bench *b, uint64_t *copies);
/* All buffers against those copies, byte for byte, on the GPU. */
hd_status device_equals(device_bench *b, const uint64_t *copies, bool *equal, uint64_t *bytes, hd_diag *d);

#endif
