/* heddle/results.h: the results of single runs, as text for people and as JSON for programs.
 *
 * Each result is a struct (often only pointers to structs of other headers), a function that appends its text
 * and one that appends its JSON: indented by two, a newline at the end, numbers with ten digits, null for
 * numbers that are infinite or unknown. Running out of memory makes the buffer fail. */
#ifndef HEDDLE_RESULTS_H
#define HEDDLE_RESULTS_H

#include "heddle/accuracy.h"
#include "heddle/advise.h"
#include "heddle/compositions.h"
#include "heddle/container.h"
#include "heddle/corun.h"
#include "heddle/difftest.h"
#include "heddle/overhead.h"
#include "heddle/predict.h"
#include "heddle/probe.h"
#include "heddle/rewrite_file.h"
#include "heddle/store.h"
#include "heddle/tuner.h"

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
/* Prints a result that is equal. A result that is not has its reason in result->what. */
HD_API void hd_check_text(const hd_check_report *r, hd_buf *out);
HD_API void hd_check_json(const hd_check_report *r, hd_buf *out);
/* In place of a result if the plan was refused, or the original faults. */
HD_OWN void hd_check_refused_json(const char *why, hd_buf *out);

/* Counters on a modelled GPU. */
typedef struct hd_simulation {
  const hd_workload *workload;
  const hd_gpu *gpu;
  const char *dispatch; /* name of the dispatcher */
  const hd_plan *plan;
  hd_counters counters;
  bool timed;     /* by a clock: there is a time */
  double part;    /* of the work that was replayed: hd_study_part */
  bool lack_ends; /* hd_study_leaves_ends */
} hd_simulation;
HD_API void hd_simulation_text(const hd_simulation *s, hd_buf *out);
HD_API void hd_simulation_json(const hd_simulation *s, hd_buf *out);

/* ---- Times on a device -------------------------------------------------------------------- */

typedef struct hd_measurement {
  const hd_workload *workload;
  const hd_device_info *device;
  const hd_gpu *gpu; /* of a model's device (hd_device_get_gpu), whose times are predicted; else NULL */
  const hd_measure_row *rows; /* rows[0]: the default launch */
  size_t n;
} hd_measurement;
HD_API void hd_measurement_text(const hd_measurement *m, hd_buf *out);
HD_API void hd_measurement_json(const hd_measurement *m, hd_buf *out);

typedef struct hd_corun_report {
  const hd_workload *const *workloads; /* two */
  const hd_device_info *device;
  const hd_gpu *gpu; /* as in hd_measurement */
  const hd_corun_result *result;
} hd_corun_report;
HD_OWN void hd_corun_text(const hd_corun_report *r, hd_buf *out);
HD_OWN void hd_corun_json(const hd_corun_report *r, hd_buf *out);

typedef struct hd_tuning_report {
  const hd_workload *workload;
  const hd_device_info *device;
  const hd_gpu *gpu; /* as in hd_measurement */
  const hd_tuning *tuning;
  hd_tune_strategy strategy; /* with which it was made: a vote is shown if there was one */
  uint32_t most_trials;      /* of each kernel, in text */
  bool verified;             /* a verdict was measured once more */
} hd_tuning_report;
HD_API void hd_tuning_text(const hd_tuning_report *r, hd_buf *out);
HD_API void hd_tuning_json(const hd_tuning_report *r, hd_buf *out);
/* Add a second GPU's measurements of the same plans to the text, or the JSON, of a tuning. */
HD_OWN void hd_tuning_add_second(const char *uuid, const hd_tuning *again, bool json, hd_buf *out);
/* Many tunings in one array, each as hd_tuning_json prints it. */
typedef struct hd_tuning_list hd_tuning_list;
HD_OWN hd_tuning_list *hd_tuning_list_new(void);                                 /* NULL: out of memory */
HD_OWN bool hd_tuning_list_add(hd_tuning_list *l, const char *text, size_t len); /* false: it is none */
HD_OWN void hd_tuning_list_json(const hd_tuning_list *l, hd_buf *out);
HD_OWN void hd_tuning_list_free(hd_tuning_list *l);

/* A probe beside a GPU's file. */
typedef struct hd_probe_beside {
  const char *file;
  double percent; /* as hd_gpu_compare had it */
  hd_gpu_comparison keys;
} hd_probe_beside;
/* A probe's figures. `path`: its GPU file; `html`: its page, or NULL; `beside`: or NULL. */
HD_OWN void hd_probe_text(const hd_probe_result *r, const char *path, const char *html,
                          const hd_probe_beside *beside, hd_buf *out);
HD_OWN void hd_probe_json(const hd_probe_result *r, const hd_probe_beside *beside, hd_buf *out);

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
HD_OWN void hd_accuracy_text(const hd_accuracy_report *r, hd_buf *out);
HD_OWN void hd_accuracy_json(const hd_accuracy_report *r, hd_buf *out);

/* The model's times beside measured ones. */
typedef struct hd_accuracy_times_report {
  const char *const *names;
  const hd_accuracy_times *rows;
  size_t n;
  const char *size;
  const hd_gpu *gpu;
  const char *measured; /* the device's title, or the file */
  hd_accuracy_ranking ranking;
} hd_accuracy_times_report;
HD_OWN void hd_accuracy_times_text(const hd_accuracy_times_report *r, hd_buf *out);
HD_OWN void hd_accuracy_times_json(const hd_accuracy_times_report *r, hd_buf *out);
/* Measured times from a JSON file {workload: {plan: microseconds}}, each workload with a "baseline": the
 * names in the file's order, only those among `words` if there are words (HD_ERR_USAGE: the file lacks one),
 * freed by hd_workload_list_free, and a row for each with the times in it, freed by free. A workload's plans
 * beyond HD_ACCURACY_PLANS are left out. */
HD_OWN hd_status hd_accuracy_read_times(const char *path, char *const *words, size_t n_words, char ***names,
                                        hd_accuracy_times **rows, size_t *n, hd_diag *d);

HD_OWN void hd_difftest_text(const hd_difftest_options *o, const hd_difftest_result *r, hd_buf *out);
HD_OWN void hd_difftest_json(const hd_difftest_options *o, const hd_difftest_result *r, hd_buf *out);

/* Each plan on each workload; hd_report_overhead is the page of many. */
HD_OWN void hd_overhead_json(const hd_overhead_table *t, hd_buf *out);
HD_OWN void hd_overhead_text(const hd_overhead_table *t, hd_buf *out);
/* Append the notes of the existing page: everything from "## Notes" on, which people wrote. */
HD_OWN void hd_overhead_keep_notes(const char *path, hd_buf *page);
/* The page's default rows: each lever once. */
HD_OWN const char *const *hd_overhead_plans(size_t *n);

/* Each plan on each workload: whether the rewritten kernels compute the same bytes. */
typedef enum hd_lever_answer { HD_LEVER_EQUAL = 0, HD_LEVER_REFUSED, HD_LEVER_DIFFERENT } hd_lever_answer;
typedef struct hd_lever_cell {
  hd_lever_answer answer;
  const char *why; /* of a refusal or a difference; else "" */
} hd_lever_cell;
typedef struct hd_levers_table {
  const char *size; /* of the workloads */
  const char *const *plans;
  size_t n_plans;
  const char *const *workloads;
  size_t n_workloads;
  const hd_lever_cell *cells; /* cells[w * n_plans + p] */
} hd_levers_table;
/* Fill a cell; its text is of the arena. */
HD_OWN hd_status hd_lever_try(const hd_workload *w, const char *plan, unsigned threads, hd_arena *arena,
                              hd_lever_cell *cell, hd_diag *d);
/* The default columns: a plan for each value of each lever. */
HD_OWN const char *const *hd_levers_plans(size_t *n);
/* In Markdown; each reason of refusals is listed once and has a letter. HD_ERR_NOMEM. */
HD_OWN hd_status hd_levers_text(const hd_levers_table *t, hd_buf *out, hd_diag *d);
/* A line for each that differs; false: none does. */
HD_OWN bool hd_levers_differences(const hd_levers_table *t, hd_buf *out);
HD_OWN hd_status hd_levers_json(const hd_levers_table *t, hd_buf *out, hd_diag *d);

/* CLU's table 2 in Markdown: a head, a row for each workload, and the totals. An application may be there
 * with several inputs, one row after the other. */
/* The application's name in CLU's table 2, from what a workload says of papers ("CLU table 2, KMN; BYP ..."),
 * to be freed; NULL: it is not in there, or memory ran out. */
HD_OWN char *hd_categories_name(const char *paper);
typedef struct hd_categories {
  unsigned rows, applications, equal;
  char last[16];
  bool last_equal;
  double inter_lines, inter_words;
} hd_categories;
HD_OWN void hd_categories_head(hd_buf *out);
/* `clu`: the application's name in the paper; `name`: the workload's. */
HD_OWN void hd_categories_row(hd_categories *sum, const char *clu, const char *name, const hd_workload *w,
                              const hd_advice *a, hd_buf *out);
HD_OWN void hd_categories_total(const hd_categories *sum, hd_buf *out);

/* Random compositions: by lever, dispatcher, kind of grid; reasons of refusals with a first example each. */
typedef struct hd_compositions_report {
  const hd_compositions *result;
  size_t n_names; /* of workloads, and the seed, as hd_compositions_run had them */
  uint64_t seed;
} hd_compositions_report;
/* A line for each that differs; false: none does. */
HD_OWN bool hd_compositions_differences(const hd_compositions *r, hd_buf *out);
HD_OWN void hd_compositions_text(const hd_compositions_report *r, hd_buf *out);
HD_OWN void hd_compositions_json(const hd_compositions_report *r, hd_buf *out);

/* ---- Lists -------------------------------------------------------------------------------------- */

/* names[i] is the name by which workloads[i] was found. */
HD_OWN void hd_workloads_text(const hd_workload *const *workloads, const char *const *names, size_t n,
                              hd_buf *out);
HD_OWN void hd_workloads_json(const hd_workload *const *workloads, const char *const *names, size_t n,
                              hd_buf *out);

/* Modules and kernels of files. */
typedef struct hd_listed_kernel {
  const char *file, *name, *limits; /* limits: "block<=256 regs<=32", or "" */
  uint32_t module, sm, parameters;
  uint64_t parameter_bytes, shared_bytes; /* shared_bytes: static */
  size_t refusals;                        /* of another order of its CTAs */
  hd_refusal why;                         /* the first */
  const hd_parameter *params;             /* so many as `parameters` says */
} hd_listed_kernel;
typedef struct hd_listing {
  const char *file; /* under way; outlives the listing */
  bool detailed;    /* kernels are kept, not only counted */
  uint64_t modules, kernels, bytes, failures;
  double seconds;
  HD_VEC(hd_listed_kernel) rows;
  hd_arena arena; /* holds their texts */
} hd_listing;
HD_OWN void hd_listing_begin(hd_listing *l, bool detailed);
HD_OWN void hd_listing_free(hd_listing *l);
/* The kernels of a module of l->file. */
HD_OWN hd_status hd_listing_add(hd_listing *l, const hd_ptx_text *t, const hd_ptx_module *m, hd_diag *d);
/* The kernels of all modules of a file. Modules that cannot be read are counted and reported to `failed`. */
HD_OWN hd_status hd_listing_file(hd_listing *l, const char *path, void (*failed)(void *ctx, const hd_diag *d),
                                 void *ctx, hd_diag *d);
HD_OWN void hd_listing_text(const hd_listing *l, hd_buf *out);
HD_OWN void hd_listing_json(const hd_listing *l, hd_buf *out);

/* The outcome for each of a file's kernels; the reasons of those that were refused. */
HD_OWN void hd_rewritten_file_text(const hd_rewritten_file *r, hd_buf *out);
HD_OWN void hd_rewritten_file_json(const hd_rewritten_file *r, hd_buf *out);

/* Verdicts that pass, as a table; hd_store_export is their JSON. */
HD_OWN hd_status hd_verdicts_text(hd_store *s, const hd_store_filter *f, hd_buf *out, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
