/* cli/analyze.h: between the command and its JSON. */
#ifndef HEDDLE_CLI_ANALYZE_H
#define HEDDLE_CLI_ANALYZE_H

#include "advice_print.h"
#include "heddle/polyhedral.h"
#include "heddle/rewrite.h"

/* One kernel. `at` (may be NULL) is what is known of the launch; n_stored of the n_refusals are given. */
json_t *analyze_json(hd_analysis *a, const hd_point *at, const hd_refusal *refusals, size_t n_refusals,
                     size_t n_stored);

/* Which CTAs share lines, from the code. w (may be NULL) names the arrays: buffer b of it begins at
 * (b + 1) << ANALYZE_BUFFER_SHIFT. */
enum { ANALYZE_BUFFER_SHIFT = 40 };
json_t *analyze_polyhedral_json(const hd_analysis *a, const hd_polyhedral *p, const hd_workload *w);
void analyze_polyhedral_print(const hd_analysis *a, const hd_polyhedral *p, const hd_workload *w,
                              hd_buf *out);
/* One row of a table of directions: workload, grid, distances, the direction, and the array with the largest.
 */
hd_text_table *analyze_directions_new(void);
void analyze_directions_row(hd_text_table *t, const hd_analysis *a, const hd_polyhedral *p,
                            const hd_workload *w, const uint32_t grid[3]);

/* What running the workload on a modelled GPU shows. */
typedef struct analyze_run {
  const char *gpu, *size;    /* NULL: h100; small */
  uint64_t threads, seconds; /* seconds: for predictions, about; 0: some */
  bool verbose, affinity;    /* affinity: only the graph, in Graphviz' language */
} analyze_run;
/* Into json, or text where that is NULL. */
hd_status analyze_measured(const char *name, const analyze_run *run, json_t *json, hd_buf *text, hd_diag *d);

#endif
