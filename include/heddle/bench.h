/* heddle/bench.h: the papers' tables on a device: the speedup of each lever, and of the best plan, for each
 * workload.
 */
#ifndef HEDDLE_BENCH_H
#define HEDDLE_BENCH_H

#include "heddle/verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_bench_lever {
  char plan[512]; /* the best with this lever alone; of several kernels, the first one's; "" : none was
                     measured */
  double speedup, low, high;
} hd_bench_lever;

/* The GPU on which something was measured; "" and 0 if that is not known. */
typedef struct hd_bench_gpu {
  char title[128], uuid[48], driver[32];
  double clock_mhz, memory_clock_mhz; /* the highest */
} hd_bench_gpu;

/* A winner measured once more, on a second GPU of the same kind. */
typedef struct hd_bench_second {
  char uuid[48]; /* "": it was not */
  double speedup, low, high;
} hd_bench_second;

/* One workload. */
typedef struct hd_bench_row {
  hd_bench_gpu gpu;
  char workload[96], size[32], category[48], paper[160];
  char failed[512]; /* why there is nothing else; "" when there is */
  double default_us, best_us;
  double speedup, low, high;             /* of the best plan; 1 when the original stays */
  char plan[1024];                       /* notation; of several kernels "kernel: plan; ..." */
  char why[256];                         /* why the original stays */
  hd_bench_lever levers[HD_TUNE_LEVERS]; /* in the order of hd_bench_lever_name */
  bool has_counters;
  hd_counters before, after;
  /* The bytes that must move between DRAM and the GPU: each once. From traces if there are any, else the size
   * of the workload's buffers, which is more if parts of them are not used. */
  uint64_t compulsory_bytes;
  double roofline_us; /* the time that takes at the memory's peak; 0: unknown */
  uint32_t tried;
  double seconds; /* that tuning took */
  hd_tune_seconds spent;
  hd_bench_second second;
} hd_bench_row;

typedef struct hd_bench_place {
  char device[48], version[32]; /* version: heddle's */
  hd_bench_gpu gpu;
  uint32_t n_sms;
  double dram_bytes_per_second; /* peak; 0: unknown */
  char predicted[640];          /* of a model: lines that say what its times are; "": they are measured */
} hd_bench_place;

HD_OWN const char *hd_bench_lever_name(unsigned lever); /* "order", "bind", ... */
HD_OWN void hd_bench_describe(const hd_device *dev, const char *version, hd_bench_place *out);
HD_OWN void hd_bench_fill(const hd_workload *w, const hd_tuning *t, const hd_bench_place *p,
                          hd_bench_row *out);
/* Take over the results of hd_tuning_verify on a second GPU. `held`: every adopted plan won there, too; else
 * the row becomes that of the plans that are left. */
HD_OWN void hd_bench_fill_second(const hd_tuning *t, const hd_bench_gpu *gpu, bool held, hd_bench_row *out);

typedef struct hd_bench_mean {
  double speedup; /* geometric mean; 1 of none */
  uint32_t n;
} hd_bench_mean;
/* The geometric mean over the best plans of rows that did not fail. `clu`: over CLU's algorithm-related
 * applications only. */
HD_OWN hd_bench_mean hd_bench_geomean(const hd_bench_row *rows, size_t n, bool clu);

/* ---- Verdicts measured once more ------------------------------------------------------ */

typedef struct hd_verify_row {
  hd_bench_gpu gpu;
  char workload[96], size[32];
  char failed[512]; /* why its verdicts could not be measured; "" when they were */
  char plan[1024];  /* as in hd_bench_row */
  bool original;    /* no plan had won: the original is what runs, at 1x by identity */
  double kept;      /* speedup when it was tuned */
  double speedup, low, high;
  double before_us, after_us;
  double seconds;
} hd_verify_row;

/* hd_verify_begin takes the figures that were kept, before hd_tuning_verify; hd_verify_end those measured by
 * it. */
HD_OWN void hd_verify_begin(const hd_workload *w, const hd_tuning *t, hd_verify_row *out);
HD_OWN void hd_verify_end(const hd_tuning *t, hd_verify_row *out);
/* The geometric mean over rows that did not fail. */
HD_OWN hd_bench_mean hd_verify_geomean(const hd_verify_row *rows, size_t n);
/* Rows below `least`, and those that failed. */
HD_OWN size_t hd_verify_count_bad(const hd_verify_row *rows, size_t n, double least);
/* The table, slowest first. */
HD_OWN void hd_verify_text(const hd_bench_place *p, const hd_verify_row *rows, size_t n, double least,
                           hd_buf *out);

/* ---- Tables and pages ---------------------------------------------------------------- */

/* Bars for a terminal, the greatest speedup first. */
HD_OWN void hd_bench_plot(const hd_bench_row *rows, size_t n, hd_buf *out);
HD_OWN void hd_bench_text(const hd_bench_place *p, const hd_bench_row *rows, size_t n, hd_buf *out);
/* One page, which its script draws from the JSON in it; nothing is fetched. `commands`: how the results were
 * made. */
HD_OWN void hd_bench_html(const hd_bench_place *p, const hd_bench_row *rows, size_t n, const char *commands,
                          hd_buf *out);

/* ---- Results on disk --------------------------------------------------------------------- */

/* A folder with results.jsonl and verify.jsonl, which grow by a line for each workload as it ends; table.txt,
 * report.html and verify.txt, which are drawn from all lines; commands.txt. */
typedef enum hd_bench_file { HD_BENCH_RESULTS, HD_BENCH_VERIFIED } hd_bench_file;

/* The folder's rows of one device, driver and version of heddle. Zero but for `folder` and `place`. */
typedef struct hd_bench_results {
  const char *folder;
  hd_bench_place place;
  HD_VEC(hd_bench_row) rows;
  HD_VEC(hd_verify_row) verified;
  /* Counts of a verification: all verdicts of this device; those of workloads that were not named; workloads
   * at a size whose kernels are not those of their verdicts. */
  uint64_t verdicts, unknown, gone;
} hd_bench_results;
HD_OWN void hd_bench_results_free(hd_bench_results *r);

/* Make the folder; without `resume` it may not hold that file yet. */
HD_OWN hd_status hd_bench_prepare(const char *folder, hd_bench_file which, bool resume, hd_diag *d);
/* Add a command line to commands.txt, quoted for a shell; argv begins behind "heddle". */
HD_OWN hd_status hd_bench_record_command(const char *folder, int argc, char *const *argv, hd_diag *d);
/* Take over the file's lines, of which a later one replaces an earlier one on the same workload and size.
 * Lines of another device, driver or version are not taken; a file that was cut off within a line is mended.
 */
HD_OWN hd_status hd_bench_read(hd_bench_results *r, hd_bench_file which, hd_diag *d);
/* NULL: there is none. Valid until the next row is added. */
HD_OWN const hd_bench_row *hd_bench_find(const hd_bench_results *r, const char *workload, const char *size);
HD_OWN const hd_verify_row *hd_verify_find(const hd_bench_results *r, const char *workload, const char *size);
/* A row as a line of its file, on the disk when this returns; then the table and the page. */
HD_OWN hd_status hd_bench_add(hd_bench_results *r, const hd_bench_row *row, hd_diag *d);
HD_OWN hd_status hd_verify_add(hd_bench_results *r, const hd_verify_row *row, hd_diag *d);
HD_OWN hd_status hd_bench_draw(const hd_bench_results *r, hd_diag *d);
HD_OWN hd_status hd_verify_draw(const hd_bench_results *r, double least, hd_diag *d);
/* All rows. hd_verify_results_text lists behind the table the workloads that hd_verify_text leaves out. */
HD_OWN void hd_bench_json(const hd_bench_results *r, hd_buf *out);
HD_OWN void hd_verify_results_text(const hd_bench_results *r, double least, hd_buf *out);
HD_OWN void hd_verify_json(const hd_bench_results *r, double least, hd_buf *out);

#ifdef __cplusplus
}
#endif
#endif
