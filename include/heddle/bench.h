/* heddle/bench.h: the papers' tables on a device: what each lever, and the best plan, does for each workload.
 */
#ifndef HEDDLE_BENCH_H
#define HEDDLE_BENCH_H

#include "heddle/tuner.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_bench_lever {
  char plan[512]; /* the best with this lever alone; of several kernels, the first one's; "" : none was
                     measured */
  double speedup, low, high;
} hd_bench_lever;

/* One workload. */
typedef struct hd_bench_row {
  char workload[96], size[32], category[48], paper[160];
  char failed[512]; /* why there is nothing else; "" when there is */
  double default_us, best_us;
  double speedup, low, high;             /* of the best plan; 1 when the original stays */
  char plan[1024];                       /* notation; of several kernels "kernel: plan; ..." */
  char why[256];                         /* why the original stays */
  hd_bench_lever levers[HD_TUNE_LEVERS]; /* in the order of hd_bench_lever_name */
  bool has_counters;
  hd_counters before, after;
  /* What must move between DRAM and the GPU: each byte once. From traces where there are some, else the size
   * of the workload's buffers, which is more when not all of them is used. */
  uint64_t compulsory_bytes;
  double roofline_us; /* the time that takes at the memory's peak; 0: unknown */
  uint32_t tried;
  double seconds; /* that tuning took */
} hd_bench_row;

typedef struct hd_bench_place {
  char device[48], title[128], driver[32], version[32]; /* version: heddle's */
  uint32_t n_sms;
  double dram_bytes_per_second; /* peak; 0: unknown */
} hd_bench_place;

HD_API const char *hd_bench_lever_name(unsigned lever); /* "order", "bind", ... */
HD_API void hd_bench_describe(const hd_device *dev, const char *version, hd_bench_place *out);
HD_API void hd_bench_fill(const hd_workload *w, const hd_tuning *t, const hd_bench_place *p,
                          hd_bench_row *out);

typedef struct hd_bench_mean {
  double speedup; /* geometric mean; 1 of none */
  uint32_t n;
} hd_bench_mean;
/* Of the best plans of rows that did not fail. `clu`: of CLU's algorithm-related applications only. */
HD_API hd_bench_mean hd_bench_geomean(const hd_bench_row *rows, size_t n, bool clu);

/* ---- Verdicts measured once more ------------------------------------------------------ */

typedef struct hd_verify_row {
  char workload[96], size[32];
  char failed[512]; /* why its verdicts could not be measured; "" when they were */
  char plan[1024];  /* as in hd_bench_row */
  bool original;    /* no plan had won: the original is what runs, at 1x by identity */
  double kept;      /* speedup when it was tuned */
  double speedup, low, high;
  double before_us, after_us;
  double seconds;
} hd_verify_row;

/* Before hd_tuning_verify: what was kept. After it: what was measured. */
HD_API void hd_verify_begin(const hd_workload *w, const hd_tuning *t, hd_verify_row *out);
HD_API void hd_verify_end(const hd_tuning *t, hd_verify_row *out);
/* Of rows that did not fail. */
HD_API hd_bench_mean hd_verify_geomean(const hd_verify_row *rows, size_t n);
/* Rows below `least`, and those that failed. */
HD_API size_t hd_verify_count_bad(const hd_verify_row *rows, size_t n, double least);
/* The table, slowest first. */
HD_API void hd_verify_text(const hd_bench_place *p, const hd_verify_row *rows, size_t n, double least,
                           hd_buf *out);

/* ---- Tables and pages ---------------------------------------------------------------- */

HD_API void hd_bench_text(const hd_bench_place *p, const hd_bench_row *rows, size_t n, hd_buf *out);
/* One self-contained page: no scripts, nothing fetched. `commands`: how the results were made. */
HD_API void hd_bench_html(const hd_bench_place *p, const hd_bench_row *rows, size_t n, const char *commands,
                          hd_buf *out);

#ifdef __cplusplus
}
#endif
#endif
