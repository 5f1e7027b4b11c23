/* The text of an optimization. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "heddle/accuracy.h"
#include "report/stalls.h"
#include "report/summary.h"

double report_rate(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : 0; }

double hd_report_speedup(const hd_report *r, size_t row) {
  double t = r->rows[row].counters.time_us;
  return t > 0 ? r->rows[0].counters.time_us / t : 1;
}

static int by_time(const void *a, const void *b, void *rows) {
  size_t i = *(const size_t *)a, k = *(const size_t *)b;
  const hd_sweep_row *r = rows;
  if ((r[i].status == HD_OK) != (r[k].status == HD_OK)) return r[i].status == HD_OK ? -1 : 1;
  double x = r[i].counters.time_us, y = r[k].counters.time_us;
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
  if (rank) qsort_r(rank, r->n_rows, sizeof *rank, by_time, (void *)r->rows);
  return rank;
}

bool report_is_untried(const hd_report *r, size_t row) {
  return r->rows[row].status == HD_ERR_BUDGET && r->rows[row].counters.time_us <= 0;
}

size_t report_count_untried(const hd_report *r) {
  size_t n = 0;
  for (size_t i = 0; i < r->n_rows; i++) n += report_is_untried(r, i);
  return n;
}

bool report_has_answer(const hd_report *r) { return !r->stopped && !r->ended; }

void report_put_no_answer(const hd_report *r, hd_buf *out) {
  size_t replayed = 0;
  for (size_t i = 1; i < r->n_rows; i++) replayed += r->rows[i].counters.time_us > 0;
  if (report_is_untried(r, 0))
    hd_buf_puts(out, "No answer: nothing was replayed");
  else
    hd_buf_printf(out, "No answer: %zu of %zu plans replayed%s", replayed, r->n_rows - 1,
                  r->unproved ? ", and the best not proved," : "");
  hd_buf_printf(out, " when %s", r->stopped ? "the search was stopped" : "");
  bool first = !r->stopped;
  for (unsigned b = 0; b <= HD_BOUND_MEMORY; b++) {
    if (!(r->ended >> b & 1)) continue;
    hd_buf_printf(out, "%s%s (%s)", first ? "" : ", and ", hd_bound_reached(b), hd_bound_remedy(b));
    first = false;
  }
}

bool report_proof_is_smaller(const hd_report *r) { return r->proof && r->proof_size && r->proof_size[0]; }

const hd_counters *report_default(const hd_report *r) { return r->n_rows ? &r->rows[0].counters : NULL; }

bool report_by_clock(const hd_report *r) { return r->n_rows && r->rows[0].counters.warp_cycles > 0; }

void report_put_lacks(const hd_gpu *g, bool clock, hd_buf *out) {
  if (clock && !hd_gpu_has_launches(g))
    hd_buf_printf(out,
                  "The file of %s has no [launch]: what launches take beside their CTAs' work counts as "
                  "nothing.\n",
                  g->name);
  if (!clock && !hd_gpu_has_clock(g))
    hd_buf_printf(out, "The file of %s has no [units], which a clock needs.\n", g->name);
}

/* How the GPU's file says that such times compare with measurements. */
static void put_compared(const hd_gpu *g, bool clock, hd_buf *out) {
  const hd_compared *c = &g->compared;
  const uint32_t effects = clock ? c->effects : c->bound_effects,
                 right = clock ? c->right_signs : c->bound_right_signs;
  hd_buf_puts(out, clock ? "Times are by a clock" : "Times are bounds, those of the busiest resource");
  if (!effects) {
    hd_buf_printf(out, "%s compared with such a GPU (docs/decisions/clock.md).\n",
                  clock ? " that was not" : ", and were not");
    return;
  }
  hd_buf_puts(out, ". Compared with such a GPU, ");
  if (clock)
    hd_buf_printf(out, "it was off by %.1f%% (mean of %u default launches), and ", c->time_error,
                  c->launches);
  hd_buf_printf(out,
                "%sright about the sign of %.0f%% of plans' effects over %.0f%% (docs/decisions/clock.md).\n",
                clock ? "" : "they were ", 100.0 * right / effects, 100 * HD_ACCURACY_EFFECT);
}

void report_put_part(const hd_gpu *g, double part, const char *more, bool lack_ends, hd_buf *out) {
  if (part >= 1) return;
  hd_buf_printf(out, "%.1f%% of the launches' work was replayed (%s).", 100 * part, more);
  if (lack_ends)
    hd_buf_puts(out,
                " A few warps have far more work than others and were cut: times compare plans, and lack "
                "how long these warps take.");
  else if (g->compared.sampled)
    hd_buf_printf(out, " Such times were off by %.1f%% (mean of %u) from those of whole replays.",
                  g->compared.sampled_error, g->compared.sampled);
  hd_buf_putc(out, '\n');
}

void report_put_confirmation(const hd_gpu *g, bool clock, double part, bool lack_ends, const hd_counters *c,
                             hd_buf *out) {
  put_compared(g, clock, out);
  report_put_lacks(g, clock, out);
  report_put_part(g, part, "--exact replays all", lack_ends, out);
  if (c && c->time_error_us > 0)
    hd_buf_printf(out,
                  "Some launches stand for those like them: the standard error of the time is %.2f us "
                  "(%.1f%%).\n",
                  c->time_error_us, 100 * c->time_error_us / c->time_us);
}

void report_put_own_confirmation(const hd_report *r, hd_buf *out) {
  report_put_confirmation(r->gpu, report_by_clock(r), r->part > 0 ? r->part : 1, r->lack_ends,
                          report_default(r), out);
}

/* The model's blind spots, and what to measure for their sake. */
static void put_unseen(const hd_report *r, hd_buf *out) {
  if (!r->unseen || !r->unseen->n) return;
  hd_buf_printf(out, "The model does not see %s. On a GPU, measure these, the most promising first:\n",
                hd_explain_unseen());
  for (size_t i = 0; i < r->unseen->n; i++) {
    hd_buf_puts(out, i ? " --plan " : "  heddle time ... --device cuda:0 --plan ");
    hd_plan_print(&r->unseen->at[i].plan, out);
  }
  hd_buf_putc(out, '\n');
}

static double sum_of(const hd_optimize_seconds *s) { return s->trace + s->advice + s->replay + s->proof; }

double report_all_seconds(const hd_report *r) { return fmax(r->all_seconds, sum_of(&r->seconds)); }

/* Stages that add up to the whole. */
static void put_seconds(const hd_report *r, hd_buf *out) {
  const hd_optimize_seconds *s = &r->seconds;
  const double all = report_all_seconds(r);
  hd_buf_printf(out, "(%.1f s: traces %.1f, advice %.1f, replays %.1f, proof %.1f, all else %.1f)\n", all,
                s->trace, s->advice, s->replay, s->proof, all - sum_of(s));
}

/* Where the warps of the default and of the plan kept wait. */
static void put_waits(const hd_report *r, hd_buf *out) {
  if (!report_by_clock(r)) return;
  hd_buf_puts(out, "Warps of the default: ");
  report_put_stalls(&r->rows[0].counters, out);
  if (r->best > 0) {
    hd_buf_puts(out, ";\nof the best: ");
    report_put_stalls(&r->rows[r->best].counters, out);
  }
  hd_buf_puts(out, ".\n");
}

/* The size that was proved, and the one that was not. */
static void put_proof(const hd_report *r, hd_buf *out) {
  const hd_check_result *p = r->proof;
  if (report_proof_is_smaller(r)) {
    const double minutes = r->whole_proof_seconds / 60;
    hd_buf_printf(
        out, "Not proved at size %s: that would take about %.0f min (--exact does it). Proved at size %s",
        r->workload->size, minutes < 1 ? 1 : minutes, r->proof_size);
  } else {
    hd_buf_puts(out, "Proved");
  }
  hd_buf_printf(out, ": %" PRIu64 " bytes equal under %u dispatchers, %+.2f%% instructions.\n",
                p->bytes_compared, p->runs,
                100.0 * ((double)p->thread_instructions_rewritten / (double)p->thread_instructions - 1));
  if (p->assume) hd_buf_printf(out, "Assumed: %s.\n", hd_assume_text(p->assume));
}

static void put_best(const hd_report *r, hd_buf *out) {
  hd_buf plan = {0};
  hd_plan_print(&r->rows[r->best].plan, &plan);
  hd_buf_printf(out, "\nBest%s: %s, predicted %.2fx as fast as the default%s.\n",
                report_has_answer(r) ? "" : " so far", plan.data ? plan.data : "",
                hd_report_speedup(r, (size_t)r->best), report_by_clock(r) ? "" : ", by bounds on the time");
  put_waits(r, out);
  if (r->second_speedup > 0)
    hd_buf_printf(out, "By a second replay of %.1f%% of the work: %.2fx.\n", 100 * r->second_part,
                  r->second_speedup);
  put_proof(r, out);
  hd_buf_printf(out, "Wrote %s%s%s and %s.\n", r->output, r->table ? ", " : "", r->table ? r->table : "",
                r->html);
  if (r->other_launch)
    hd_buf_puts(out,
                "It is launched another way than the original: its last lines say how (--keep-launch leaves "
                "such plans out).\n");
  hd_buf_free(&plan);
}

static void put_default(const hd_report *r, hd_buf *out) {
  hd_buf_printf(out, "\nThe kernel is left as it is: %s.\n", r->nothing_helps);
  put_waits(r, out);
  put_unseen(r, out);
  if (r->html) hd_buf_printf(out, "Wrote %s.\n", r->html);
}

void hd_report_text(const hd_report *r, size_t limit, bool colour, hd_buf *out) {
  hd_buf_printf(out, "%s (%s) on %s, %s dispatch: %zu plans\n\n", r->workload->name, r->workload->size,
                r->gpu->title, r->dispatch, r->n_rows);
  if (r->fixed && r->fixed[0])
    hd_buf_printf(out, "The order of the CTAs cannot be changed: %s.\n\n", r->fixed);
  report_put_tried(r, limit, colour, out);
  if (r->rows[0].status == HD_OK) report_put_own_confirmation(r, out);
  if (r->best > 0)
    put_best(r, out);
  else
    put_default(r, out);
  if (!report_has_answer(r)) {
    report_put_no_answer(r, out);
    hd_buf_puts(out, ".\n");
  }
  put_seconds(r, out);
}
