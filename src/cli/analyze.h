/* cli/analyze.h: between the command and its JSON. */
#ifndef HEDDLE_CLI_ANALYZE_H
#define HEDDLE_CLI_ANALYZE_H

#include "advice_print.h"
#include "heddle/rewrite.h"

/* One kernel. `at` (may be NULL) is what is known of the launch; n_stored of the n_refusals are given. */
json_t *analyze_json(hd_analysis *a, const hd_point *at, const hd_refusal *refusals, size_t n_refusals,
                     size_t n_stored);

/* What running the workload on a modelled GPU shows. */
typedef struct analyze_run {
  const char *gpu, *size;    /* NULL: h100; small */
  uint64_t threads, seconds; /* seconds: for predictions, about; 0: some */
  bool verbose, affinity;    /* affinity: only the graph, in Graphviz' language */
} analyze_run;
/* Into json, or text where that is NULL. */
hd_status analyze_measured(const char *name, const analyze_run *run, json_t *json, hd_buf *text, hd_diag *d);

#endif
