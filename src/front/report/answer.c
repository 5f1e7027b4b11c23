/* What an optimization came to: its plans in order, and whether there is an answer. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/summary.h"

void report_put_count(uint64_t n, const char *what, hd_buf *out) {
  hd_buf_printf(out, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

double report_rate(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : 0; }

double hd_report_speedup(const hd_report *r, size_t row) {
  double t = r->rows[row].counters.time_us;
  return t > 0 ? r->rows[0].counters.time_us / t : 1;
}

static int by_cost(const void *a, const void *b, void *rows) {
  size_t i = *(const size_t *)a, k = *(const size_t *)b;
  const hd_sweep_row *r = rows;
  if ((r[i].status == HD_OK) != (r[k].status == HD_OK)) return r[i].status == HD_OK ? -1 : 1;
  double x = hd_counters_cost(&r[i].counters), y = hd_counters_cost(&r[k].counters);
  if (x != y) return x < y ? -1 : 1;
  uint64_t dx = hd_counters_dram(&r[i].counters), dy = hd_counters_dram(&r[k].counters);
  if (dx != dy) return dx < dy ? -1 : 1;
  if (r[i].counters.l2_sectors != r[k].counters.l2_sectors)
    return r[i].counters.l2_sectors < r[k].counters.l2_sectors ? -1 : 1;
  return i < k ? -1 : i > k;
}

size_t *report_ranking(const hd_report *r) {
  size_t *rank = malloc((r->n_rows ? r->n_rows : 1) * sizeof *rank);
  for (size_t i = 0; rank && i < r->n_rows; i++) rank[i] = i;
  if (rank) qsort_r(rank, r->n_rows, sizeof *rank, by_cost, (void *)r->rows);
  return rank;
}

bool report_is_untried(const hd_report *r, size_t row) {
  return r->rows[row].status == HD_ERR_BUDGET && hd_counters_cost(&r->rows[row].counters) <= 0;
}

size_t report_count_untried(const hd_report *r) {
  size_t n = 0;
  for (size_t i = 0; i < r->n_rows; i++) n += report_is_untried(r, i);
  return n;
}

bool report_has_answer(const hd_report *r) { return !r->stopped && !r->ended; }

void report_put_no_answer(const hd_report *r, hd_buf *out) {
  size_t replayed = 0;
  for (size_t i = 1; i < r->n_rows; i++) replayed += hd_counters_cost(&r->rows[i].counters) > 0;
  if (report_is_untried(r, 0))
    hd_buf_puts(out, "No answer: nothing was replayed");
  else
    hd_buf_printf(out, "No answer: %zu of %zu plans replayed%s", replayed, r->n_rows - 1,
                  r->unproved ? ", and the best not proved," : "");
  hd_buf_printf(out, " when %s", r->stopped ? "the search was stopped" : "");
  bool first = !r->stopped;
  for (unsigned b = 0; b <= HD_BOUND_PROOF; b++) {
    if (!(r->ended >> b & 1)) continue;
    hd_buf_printf(out, "%s%s (%s)", first ? "" : ", and ", hd_bound_reached(b), hd_bound_remedy(b));
    first = false;
  }
}

bool report_proof_is_smaller(const hd_report *r) { return r->proof && r->proof_size && r->proof_size[0]; }

const hd_counters *report_default(const hd_report *r) { return r->n_rows ? &r->rows[0].counters : NULL; }

bool report_by_clock(const hd_report *r) { return r->n_rows && hd_counters_timed(&r->rows[0].counters); }

double report_stage_seconds(const hd_report *r) {
  const hd_optimize_seconds *s = &r->seconds;
  return s->trace + s->advice + s->replay + s->proof;
}

double report_all_seconds(const hd_report *r) { return fmax(r->all_seconds, report_stage_seconds(r)); }
