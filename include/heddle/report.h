/* heddle/report.h: results for people and for programs: text tables, CSV, HTML. */
#ifndef HEDDLE_REPORT_H
#define HEDDLE_REPORT_H

#include "heddle/advise.h"
#include "heddle/analysis.h"
#include "heddle/optimize.h"
#include "heddle/polyhedral.h"
#include "heddle/predict.h"
#include "heddle/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Text tables ------------------------------------------------------------- */

/* A table under construction: cells are copied; the columns' widths come out by themselves. */
typedef struct hd_text_table hd_text_table;
/* `aligns` has one letter per column: 'l' or 'r'. NULL: out of memory. */
HD_OWN hd_text_table *hd_text_table_new(const char *aligns);
HD_OWN void hd_text_table_free(hd_text_table *t);
/* One cell; rows fill up left to right. */
HD_OWN void hd_text_table_cell(hd_text_table *t, const char *fmt, ...) HD_PRINTF(2, 3);
/* A line of dashes before the next row. */
HD_OWN void hd_text_table_rule(hd_text_table *t);
HD_OWN void hd_text_table_print(const hd_text_table *t, hd_buf *out);

/* ---- Progress ----------------------------------------------------------------- */

/* "40 s", "3 min", "5.2 h", "12 days". */
HD_OWN void hd_duration_print(double seconds, hd_buf *out);
/* "78 replays of whole launches: about 16 h on 2 threads" (hd_estimate_seconds); nothing under a minute. */
HD_OWN hd_status hd_estimate_print(const hd_workload *w, unsigned threads, bool timed, size_t replays,
                                   hd_buf *out, hd_diag *d);
/* "9 runs on the emulator: about 3 min, longer where kernels loop" (hd_check_estimate); nothing under 20
 * seconds. */
HD_OWN hd_status hd_check_estimate_print(const hd_workload *w, unsigned arch, size_t runs, hd_buf *out,
                                         hd_diag *d);
/* When the work at hand began, and how much was done by then. Zero at first. */
typedef struct hd_progress {
  char label[160];
  double start; /* hd_seconds */
  size_t done;
} hd_progress;
/* "replaying plans [###...] 12/64, 30 s left": the line for `done` of `n` at the second `now`. Another label,
 * or less done than before, begins other work. The time left is known once something of it was done. */
HD_OWN void hd_progress_line(hd_progress *p, const char *label, size_t done, size_t n, double now,
                             hd_buf *out);

/* ---- The result of an optimization --------------------------------------------- */

/* Which CTAs share lines with chosen ones: drawn over the grid. */
enum { HD_PICTURE_TASKS = 3 };
typedef struct hd_reuse_picture {
  const char *kernel; /* the workload's */
  uint32_t grid[3];
  uint64_t tasks[HD_PICTURE_TASKS]; /* the chosen ones */
  uint32_t n;
  float *share; /* as hd_sharing_with has it */
} hd_reuse_picture;
/* The picture of the busiest launch: a CTA in the middle, one halfway to a corner, and one at a corner. line:
 * bytes. */
HD_OWN hd_status hd_reuse_picture_make(const hd_study *s, const hd_workload *w, uint32_t line,
                                       hd_reuse_picture *out, hd_diag *d);
HD_OWN void hd_reuse_picture_free(hd_reuse_picture *p);

/* What bounds the time of a workload's launches on a GPU, from the counters of their replay: "DRAM bandwidth
 * bounds the time on h100 ...". */
HD_OWN void hd_bound_print(const hd_workload *w, const hd_counters *counters, const hd_gpu *g, hd_buf *out);

typedef struct hd_report {
  const hd_workload *workload;
  const hd_gpu *gpu;
  const char *dispatch;     /* name of the dispatcher */
  const hd_sweep_row *rows; /* rows[0] is the baseline */
  size_t n_rows;
  int64_t best;              /* row kept; 0: the baseline, nothing helps */
  const char *nothing_helps; /* the reason then; NULL: no_gain, or a plan helps */
  bool no_gain;              /* hd_optimized's, and the plan that gains most */
  size_t most;
  const hd_check_result *proof;         /* NULL when nothing was rewritten */
  const char *proof_size;               /* the smaller size that it is of; NULL or "": the workload's */
  double whole_proof_seconds;           /* that it would take at the workload's */
  const char *output;                   /* file with the rewritten kernel, or NULL */
  const char *table;                    /* file with its order's table, or NULL */
  const char *html;                     /* file with the page, or NULL */
  bool other_launch;                    /* the kernel written is launched another way than the original */
  hd_optimize_seconds seconds;          /* of a sweep: traces and replays */
  double all_seconds;                   /* the whole, with what is none of these; 0: their sum */
  const hd_plan_list *unseen;           /* plans that only a GPU can judge; or NULL */
  double second_speedup, second_part;   /* hd_optimized's; 0: none */
  double part;                          /* of the work that was replayed: hd_study_part; 0: all of it */
  bool lack_ends;                       /* hd_study_leaves_ends */
  bool stopped;                         /* not all plans were replayed */
  unsigned ended;                       /* hd_optimized's */
  size_t late;                          /* plans that were not */
  bool unproved;                        /* hd_optimized's */
  const char *fixed;                    /* hd_optimized's: why no order is possible; NULL or "": one is */
  const hd_reuse_picture *picture;      /* or NULL */
  const struct hd_timelines *timelines; /* on the page (timelines.h); or NULL */
  const hd_buf *rewritten;              /* the module written, for the page; or NULL */
} hd_report;

/* Predicted speedup of a row over the baseline: > 1 is faster. */
HD_OWN double hd_report_speedup(const hd_report *r, size_t row);

/* The plans, fastest first, at most `limit` rows (0: all) and always the baseline: L1 hit rate, L2 and DRAM
 * traffic against compulsory, predicted change; `colour` uses ANSI sequences. It says which plan was kept and
 * why, which files were written (`output` and `html` are), and how long it took. */
HD_API void hd_report_text(const hd_report *r, size_t limit, bool colour, hd_buf *out);
HD_API void hd_report_json(const hd_report *r, hd_buf *out);
/* One page, which its script draws from the JSON in it; nothing is fetched. */
HD_OWN void hd_report_html(const hd_report *r, hd_buf *out);

/* The report of an optimization, without files or seconds of the whole; it refers to all that is given. */
HD_API hd_report hd_optimized_report(const hd_workload *w, const hd_gpu *g, hd_dispatch_kind dispatch,
                                     const hd_optimized *f);
/* The kernel that was found, appended: the module, and comments that say how it is launched. Nothing where
 * nothing helps. */
HD_API void hd_optimized_text(const hd_workload *w, const hd_optimized *f, hd_buf *out);
/* Those comments alone: nothing where it is launched as before. */
HD_OWN void hd_optimized_launch(const hd_workload *w, const hd_optimized *f, hd_buf *out);

/* Append the page of an optimization whose `study` is there, and the same as JSON, which hd_report_folder
 * makes one page of many from. */
HD_OWN hd_status hd_optimized_page(const hd_report *r, const hd_optimized *f, hd_buf *page, hd_buf *json,
                                   hd_diag *d);

typedef struct hd_optimized_files {
  char kernel[4200], page[4200], json[4200], table[4200]; /* paths */
} hd_optimized_files;
/* Write the kernel that was found, a page and its JSON into a folder that is there, under the workload's
 * name; *r is what there is to report, and refers to all that was given. */
HD_OWN hd_status hd_optimized_write(const hd_workload *w, const hd_gpu *g, hd_dispatch_kind dispatch,
                                    const hd_optimized *f, const char *folder, hd_optimized_files *out,
                                    hd_report *r, hd_diag *d);
/* One line a row, a header line first; fields as hd_counters names them. */
HD_OWN void hd_sweep_plot(const hd_sweep_row *rows, size_t n, hd_buf *out); /* bars, the fastest first */
HD_OWN void hd_sweep_csv(const hd_sweep_row *rows, size_t n, hd_buf *out);
HD_OWN void hd_sweep_json(const hd_sweep_row *rows, size_t n, hd_buf *out); /* a list of objects */
/* A sentence on the rows whose samples differ from place to place (HD_SAMPLE_ERROR), which names the worst;
 * nothing where there are none. */
HD_OWN void hd_sweep_unsure(const hd_sweep_row *rows, size_t n, hd_buf *out);

/* ---- One result ---------------------------------------------------------------------- */

/* The page of a result of any command, of its JSON: a heading, a line below it, and what the script draws of
 * it. HD_ERR_INPUT: it is no JSON. */
HD_OWN hd_status hd_report_page(const char *title, const char *line, const char *json, size_t len,
                                hd_buf *out, hd_diag *d);

/* ---- All that lies in a folder ------------------------------------------------------- */

/* One page, without network, of a folder's results and those of the folders in it: JSON and JSON lines of any
 * command, CSV of sweeps, PTX, other text. Files of more than 4 MB are named only. HD_ERR_USAGE: there is
 * nothing. */
HD_OWN hd_status hd_report_folder(const char *folder, hd_buf *out, hd_diag *d);

/* ---- Results of a probe ---------------------------------------------------------- */

/* One page of plots, without network: latency against footprint, L1 by carve-out, bandwidths, the bytes that
 * a miss fetches, and which SM ran which CTA. */
HD_OWN void hd_report_probe(const hd_probe_result *r, hd_buf *out);

/* ---- Results of an analysis ------------------------------------------------------ */

/* Arrays of a workload go by their buffers' names where pointers to them, among a launch's arguments, are
 * numbered: buffer b begins at address (b + 1) << HD_REPORT_BUFFER_SHIFT, too far apart to be mixed up. */
enum { HD_REPORT_BUFFER_SHIFT = 40 };

/* Launch number `launch` of the workload, for the analysis of its kernel, with such pointers. Its arguments
 * are the caller's to free. */
HD_OWN hd_status hd_report_point(const hd_compiled *code, uint32_t launch, hd_point *out, hd_diag *d);

typedef struct hd_analysis_page {
  const hd_point *at;         /* what is known of the launch, for coalescing and assumptions; or NULL */
  const hd_refusal *refusals; /* why its CTAs keep their order: n_stored of n_refusals */
  size_t n_refusals, n_stored;
  bool verbose; /* guards and assumptions too */
  bool cut;     /* long formulas, to fit a terminal */
  /* For a document: */
  const hd_polyhedral *reuse;  /* which CTAs share lines, from the code; or NULL */
  const hd_workload *workload; /* whose launch it is, or NULL */
  bool brief;                  /* only which CTAs share lines */
} hd_analysis_page;

/* A page on one kernel: arrays, accesses with their strides and coalescing, loops. */
HD_OWN void hd_report_analysis(hd_analysis *a, const hd_analysis_page *p, hd_buf *out);

/* Results of running a workload on a modelled GPU, and the advice from them. */
typedef struct hd_advice_report {
  const hd_workload *workload;
  const hd_gpu *gpu;
  const hd_advice *advice;
  bool verbose; /* every array of every launch too */
} hd_advice_report;
HD_API void hd_advice_text(const hd_advice_report *r, hd_buf *out);

/* A document on one file or workload, as text or JSON: the advice, if any, then the kernels. */
typedef struct hd_analysis_document hd_analysis_document;
HD_OWN hd_analysis_document *hd_analysis_document_new(bool json); /* NULL: out of memory */
HD_OWN void hd_analysis_document_free(hd_analysis_document *doc);
HD_OWN void hd_analysis_document_advice(hd_analysis_document *doc, const hd_advice_report *r);
HD_OWN void hd_analysis_document_kernel(hd_analysis_document *doc, hd_analysis *a, const hd_analysis_page *p);
/* `input`: the file or workload, as it was named. */
HD_OWN void hd_analysis_document_print(hd_analysis_document *doc, const char *input, hd_buf *out);

/* A table of MAP's directions, a row for each kernel: workload, grid, distances, the direction, and the array
 * with the largest distance. NULL: out of memory. */
HD_OWN hd_text_table *hd_directions_new(void);
HD_OWN void hd_directions_row(hd_text_table *t, const hd_analysis *a, const hd_polyhedral *p,
                              const hd_workload *w, const uint32_t grid[3]);

/* Accesses by class over many kernels. */
typedef struct hd_coverage {
  uint64_t sample; /* set before files are added: so many modules of each, spread evenly; 0: all */
  uint64_t modules, kernels, failed, over_budget, sites;
  uint64_t levels[HD_LEVEL_COUNT], whys[HD_WHY_COUNT];
  /* Of files: classes at a launch, whichever it is (hd_classes_at_launch), and why those have no form that
   * are not affine from a start of their CTA either. */
  uint64_t any_launch[HD_LEVEL_COUNT], any_launch_starts[HD_START_COUNT], any_launch_whys[HD_WHY_COUNT],
      any_launch_sites;
  /* Of workloads, whose launches are at hand: */
  uint64_t launched;                        /* accesses */
  uint64_t launched_levels[HD_LEVEL_COUNT]; /* their classes with the launch's arguments known */
  uint64_t divided, shaped; /* kernels that divide the CTA's number; of those, whose tiles are known */
} hd_coverage;
HD_OWN void hd_coverage_add(hd_coverage *c, const hd_analysis *a);
/* All kernels of all modules of a file, or those that a workload's folder launches, each at its first launch;
 * modules and kernels that cannot be read count as failed. */
HD_OWN hd_status hd_coverage_file(const char *path, hd_coverage *c, hd_diag *d);
HD_OWN void hd_report_coverage(const hd_coverage *c, hd_buf *out);
HD_OWN void hd_coverage_json(const hd_coverage *c, hd_buf *out);

#ifdef __cplusplus
}
#endif
#endif
