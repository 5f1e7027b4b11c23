/* The table of an optimization, and sweeps as CSV. */
#include <inttypes.h>
#include <stdlib.h>

#include "heddle/accuracy.h"
#include "report/json.h"
#include "report/picture.h"
#include "report/stalls.h"
#include "report/summary.h"
#include "report/table.h"

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

/* What the default's row says of it. */
static const char *kept_text(const hd_report *r) {
  static const double told = 1.005; /* shown as 1.01x, or more */
  if (r->best != 0 || !report_has_answer(r) || r->n_rows < 2) return "  default";
  for (size_t i = 1; i < r->n_rows; i++)
    if (r->rows[i].status == HD_OK && hd_report_speedup(r, i) >= told)
      return "  kept: what is faster gains less than the model may err";
  return "  kept: nothing beats it";
}

static void put_row(hd_text_table *t, const hd_report *r, size_t i, bool colour) {
  const hd_sweep_row *row = &r->rows[i];
  const hd_counters *c = &row->counters;
  hd_buf plan = {0};
  hd_plan_print(&row->plan, &plan);
  hd_text_table_cell(t, "%s", plan.data ? plan.data : "");
  hd_buf_free(&plan);
  if (row->status != HD_OK) {
    hd_text_table_cell(t, "-");
    hd_text_table_cell(t, "-");
    hd_text_table_cell(t, "-");
    hd_text_table_cell(t, "-");
    hd_text_table_cell(t, "-");
    hd_text_table_cell(t, "%s%s", report_is_untried(r, i) ? "not tried: " : "", row->why);
    return;
  }
  double speedup = hd_report_speedup(r, i);
  bool kept = (int64_t)i == r->best && (i || report_has_answer(r));
  hd_text_table_cell(t, "%.1f%%", 100 * report_rate(c->l1_hits, c->l1_sectors));
  hd_text_table_cell(t, "%.2f", (double)c->l2_sectors * 32 / 1e6);
  hd_text_table_cell(t, "%.2f", (double)hd_counters_dram(c) / 1e6);
  hd_text_table_cell(t, "%.2fx", report_rate(hd_counters_dram(c), c->compulsory_bytes));
  hd_text_table_cell(t, "%.1f", c->time_us);
  hd_text_table_cell(t, "%s%.2fx%s%s", kept && colour ? "\033[1;32m" : "", speedup,
                     kept && colour ? "\033[0m" : "",
                     i == 0 ? kept_text(r)
                     : kept ? report_has_answer(r) ? "  best" : "  best so far"
                            : "");
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

static void put_table(const hd_report *r, size_t limit, bool colour, hd_buf *out) {
  size_t *rank = report_ranking(r);
  hd_text_table *t = hd_text_table_new("lrrrrrl");
  if (!rank || !t) {
    out->failed = true;
  } else {
    static const char *const head[] = {"plan",          "L1 hits",      "L2 MB", "DRAM MB",
                                       "vs compulsory", "predicted us", "change"};
    static const char *const bounds[] = {"plan",          "L1 hits",  "L2 MB", "DRAM MB",
                                         "vs compulsory", "bound us", "change"};
    report_put_head(t, report_by_clock(r) ? head : bounds, sizeof head / sizeof *head);
    hd_text_table_rule(t);
    size_t shown = 0, tried = 0, untried = 0;
    for (size_t i = 0; i < r->n_rows; i++) {
      bool over = limit && shown >= limit;
      if (over && rank[i] != 0) {
        ++*(report_is_untried(r, rank[i]) ? &untried : &tried);
        continue;
      }
      put_row(t, r, rank[i], colour);
      shown++;
    }
    hd_text_table_print(t, out);
    if (tried && untried)
      hd_buf_printf(out, "(%zu more plans tried, %zu not tried)\n", tried, untried);
    else if (tried || untried)
      hd_buf_printf(out, "(%zu more plans %stried)\n", tried + untried, untried ? "not " : "");
  }
  hd_text_table_free(t);
  free(rank);
}

static void put_field(const hd_counter *f, const hd_counters *c, hd_buf *out) {
  if (f->type == HD_COUNTER_REAL)
    hd_buf_printf(out, ",%.*f", f->decimals, hd_counter_real(f, c));
  else
    hd_buf_printf(out, ",%" PRIu64, hd_counter_count(f, c));
}

void hd_sweep_csv(const hd_sweep_row *rows, size_t n, hd_buf *out) {
  hd_buf_puts(out, "plan,status");
  for (size_t k = 0; k < HD_COUNTER_FIELDS; k++)
    if (hd_counter_table[k].uses & HD_COUNTER_IN_SWEEPS) hd_buf_printf(out, ",%s", hd_counter_table[k].name);
  hd_buf_putc(out, '\n');
  for (size_t i = 0; i < n; i++) {
    hd_buf plan = {0};
    hd_plan_print(&rows[i].plan, &plan);
    hd_buf_printf(out, "\"%s\",%s", plan.data ? plan.data : "", rows[i].status == HD_OK ? "ok" : "failed");
    hd_buf_free(&plan);
    for (size_t k = 0; k < HD_COUNTER_FIELDS; k++)
      if (hd_counter_table[k].uses & HD_COUNTER_IN_SWEEPS)
        put_field(&hd_counter_table[k], &rows[i].counters, out);
    hd_buf_putc(out, '\n');
  }
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

/* Stages that add up to the whole. */
static void put_seconds(const hd_report *r, hd_buf *out) {
  const hd_optimize_seconds *s = &r->seconds;
  const double sum = s->trace + s->advice + s->replay + s->proof,
               all = r->all_seconds > sum ? r->all_seconds : sum;
  hd_buf_printf(out, "(%.1f s: traces %.1f, advice %.1f, replays %.1f, proof %.1f, all else %.1f)\n", all,
                s->trace, s->advice, s->replay, s->proof, all - sum);
}

static json_t *seconds_json(const hd_report *r) {
  const hd_optimize_seconds *s = &r->seconds;
  const double sum = s->trace + s->advice + s->replay + s->proof;
  return json_pack("{s:f, s:f, s:f, s:f, s:f}", "trace", s->trace, "advice", s->advice, "replay", s->replay,
                   "proof", s->proof, "all", r->all_seconds > sum ? r->all_seconds : sum);
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
  put_table(r, limit, colour, out);
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

void hd_report_json(const hd_report *r, hd_buf *out) {
  json_t *rows = json_array();
  for (size_t i = 0; i < r->n_rows; i++) {
    json_t *row = r->rows[i].status == HD_OK
                      ? report_counters_json(&r->rows[i].counters)
                      : json_pack("{s:s}", report_is_untried(r, i) ? "not_tried" : "failed", r->rows[i].why);
    if (row) {
      json_object_set_new(row, "plan", report_plan_json(&r->rows[i].plan));
      if (r->rows[i].status == HD_OK) json_object_set_new(row, "speedup", json_real(hd_report_speedup(r, i)));
    }
    json_array_append_new(rows, row);
  }
  json_t *j =
      json_pack("{s:s, s:s, s:s, s:s, s:o, s:f, s:b, s:o}", "workload", r->workload->name, "size",
                r->workload->size, "gpu", r->gpu->name, "dispatcher", r->dispatch, "best",
                report_plan_json(&r->rows[r->best].plan), "speedup", hd_report_speedup(r, (size_t)r->best),
                "proved", r->proof && !report_proof_is_smaller(r), "rows", rows);
  if (j && r->best > 0) json_object_set_new(j, "output", json_string(r->output));
  if (j && r->proof)
    json_object_set_new(j, "proof_size",
                        json_string(report_proof_is_smaller(r) ? r->proof_size : r->workload->size));
  if (j && r->second_speedup > 0)
    json_object_set_new(
        j, "second", json_pack("{s:f, s:f}", "speedup", r->second_speedup, "replayed_part", r->second_part));
  if (j && r->part > 0) json_object_set_new(j, "replayed_part", json_real(r->part));
  if (j && r->table) json_object_set_new(j, "table", json_string(r->table));
  if (j && r->best > 0) json_object_set_new(j, "keeps_launch", json_boolean(!r->other_launch));
  if (j && r->best == 0 && report_has_answer(r))
    json_object_set_new(j, "nothing_helps", json_string(r->nothing_helps));
  if (j && r->unseen) {
    json_t *unseen = json_array();
    for (size_t i = 0; i < r->unseen->n; i++)
      json_array_append_new(unseen, report_plan_json(&r->unseen->at[i].plan));
    json_object_set_new(j, "unseen", unseen);
  }
  if (j) json_object_set_new(j, "seconds", seconds_json(r));
  if (j && r->html) json_object_set_new(j, "report", json_string(r->html));
  if (j && r->late) json_object_set_new(j, "late_plans", json_integer((json_int_t)r->late));
  if (j) json_object_set_new(j, "answered", json_boolean(report_has_answer(r)));
  if (j && !report_has_answer(r)) {
    hd_buf why = {0};
    report_put_no_answer(r, &why);
    json_object_set_new(j, "no_answer", json_string(why.data ? why.data : ""));
    hd_buf_free(&why);
  }
  if (j && r->fixed && r->fixed[0]) json_object_set_new(j, "order_fixed", json_string(r->fixed));
  if (j && r->picture) json_object_set_new(j, "picture", report_picture_json(r->picture));
  report_put_json(j, out);
}
