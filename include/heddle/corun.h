/* heddle/corun.h: two workloads on one GPU at the same time (SMC 5.1 and 6).
 *
 * serial     both in one stream, one after the other
 * streams    the original kernels in two streams: the hardware mixes their CTAs as it likes
 * partition  two streams, and plans with bind=agents and sms=: workload A has the first SMs, B the others
 * green      the original kernels in two green contexts of the driver, each with SMs of its own
 * threads    persistent threads: on each SM one worker, which takes task after task; A's on the first SMs. On
 *            modelled GPUs only, because hardware does not let a program place workers (SMC 6.1)
 *
 * The workload that takes less time runs several turns in a row, so that both are busy all the while. Times
 * are those of all turns. With t alone and T together, over the two workloads: system throughput STP is the
 * sum of t / T, the average normalised turnaround time ANTT the mean of T / t. Serially each waits for the
 * other's turn, so T is both workloads' time, and STP is 1. */
#ifndef HEDDLE_CORUN_H
#define HEDDLE_CORUN_H

#include "heddle/predict.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hd_corun_mode {
  HD_CORUN_SERIAL = 0,
  HD_CORUN_STREAMS,
  HD_CORUN_PARTITION,
  HD_CORUN_GREEN,
  HD_CORUN_THREADS,
  HD_CORUN_MODES
} hd_corun_mode;
HD_OWN const char *hd_corun_mode_name(hd_corun_mode m);

/* Zero is the default of each field. */
typedef struct hd_corun_options {
  hd_run_options run;
  hd_plan plans[2];     /* partition: the other levers of A's and B's plan; bind, split and sms are set by the
                           search */
  uint32_t sms;         /* partition, green: A's; looked for when 0 */
  uint32_t warmups;     /* rounds; 2 when 0 */
  uint32_t repetitions; /* rounds; 21 when 0 */
  double confidence;    /* of the intervals; 0.99 when 0 */
} hd_corun_options;

typedef struct hd_corun_figure {
  double median, low, high; /* 0 and infinity when there are too few rounds */
} hd_corun_figure;

typedef struct hd_corun_row {
  hd_status status; /* HD_OK: it ran, and both results were those of each workload alone, byte for byte. Not
                       HD_OK and no `why`: this device does not have the mode */
  char why[256];
  uint32_t sms[2];    /* partition, green: SMs of each, as the search found them */
  uint32_t agents[2]; /* partition: CTAs at once on an SM; 0: all that fit */
  char plans[2][256]; /* partition: the plans that it came to */
  uint32_t tried;     /* configurations measured */
  double us[2];       /* medians, from the common start to each one's end */
  hd_corun_figure stp, antt;
} hd_corun_row;

typedef struct hd_corun_result {
  uint32_t turns[2];
  double alone_us[2]; /* medians of those turns */
  uint32_t rounds;
  hd_corun_row rows[HD_CORUN_MODES];
} hd_corun_result;

/* Partitions are looked for as SMC 5.1 does: how tasks are cut into clusters and how many CTAs an SM has at
 * once, by hill climbing on halves of the GPU; then the number of SMs, sampled and refined around the best
 * sample; all by ANTT. All modes are then timed in interleaved rounds, each against both workloads alone in
 * the same round. Results are compared at the configuration where the search ends, before it is timed. A mode
 * that is not possible fails its own row only. HD_ERR_UNSUPPORTED on a device without streams.
 *
 * On a modelled GPU, model:NAME, by its clock (hd_study_replay_streams): both workloads go on until each has
 * ended `repetitions` turns (3 when 0), times are a turn's, and nothing varies. Partitions are looked for as
 * in SMC 5.1: the number of CTAs by hill climbing on halves, then every third number of SMs. Persistent
 * threads get the halves, and the partition's numbers of SMs. Nothing is run, so results are not compared;
 * plans that change accesses are refused. */
HD_OWN hd_status hd_corun(hd_device *dev, const hd_workload *const w[2], const hd_corun_options *o,
                          hd_corun_result *out, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
