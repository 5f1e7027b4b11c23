/* The fields of an optimization: of the plans tried, and of the whole. */
#include <stdlib.h>

#include "report/code.h"
#include "report/fields.h"
#include "report/json.h"
#include "report/picture.h"
#include "report/summary.h"
#include "report/timelines.h"
#include "report/trees.h"

/* ---- A plan that was tried ------------------------------------------------------------------------ */

typedef struct tried {
  const hd_report *r;
  size_t i;
  bool colour;
} tried;

static const hd_sweep_row *row_of(const void *row) {
  const tried *t = row;
  return &t->r->rows[t->i];
}
static const hd_counters *counters_of(const void *row) { return &row_of(row)->counters; }
static bool was_replayed(const void *row) { return row_of(row)->status == HD_OK; }
static bool was_not_tried(const void *row) {
  return !was_replayed(row) && report_is_untried(((const tried *)row)->r, ((const tried *)row)->i);
}
static bool has_failed(const void *row) { return !was_replayed(row) && !was_not_tried(row); }

static void put_plan(const void *row, hd_buf *out) { hd_plan_print(&row_of(row)->plan, out); }
static const char *why(const void *row) { return row_of(row)->why; }
static json_t *counters_json(const void *row) { return report_counters_json(counters_of(row), 0); }
static double l1_hits(const void *row) {
  return report_rate(counters_of(row)->l1_hits, counters_of(row)->l1_sectors);
}
static int64_t l2_bytes(const void *row) { return (int64_t)(32 * counters_of(row)->l2_sectors); }
static int64_t dram_bytes(const void *row) { return (int64_t)hd_counters_dram(counters_of(row)); }
static double over_compulsory(const void *row) {
  return report_rate(hd_counters_dram(counters_of(row)), counters_of(row)->compulsory_bytes);
}
static double time_of(const void *row) { return counters_of(row)->time_us; }
static double speedup(const void *row) {
  return hd_report_speedup(((const tried *)row)->r, ((const tried *)row)->i);
}

static bool has_speedup(const void *row) { return was_replayed(row) && hd_counters_timed(counters_of(row)); }

/* What there is to say of the default's speedup, and of that of the plan kept. */
static const char *note_of(const hd_report *r, size_t i) {
  static const double shown = 1.005; /* as 1.01x, or more */
  if (i) return (int64_t)i != r->best ? "" : report_has_answer(r) ? "  best" : "  best so far";
  if (r->best != 0 || !report_has_answer(r) || r->n_rows < 2) return "  default";
  for (size_t k = 1; k < r->n_rows; k++)
    if (r->rows[k].status == HD_OK && hd_report_speedup(r, k) >= shown)
      return "  kept: faster plans gain less than the model may err";
  return "  kept: nothing beats it";
}

static void put_change(const void *row, hd_buf *out) {
  const tried *t = row;
  const bool kept = (int64_t)t->i == t->r->best && (t->i || report_has_answer(t->r));
  if (!was_replayed(row)) {
    hd_buf_printf(out, "%s%s", was_not_tried(row) ? "not tried: " : "", why(row));
    return;
  }
  hd_buf_printf(out, kept && t->colour ? "\033[1;32m%.2fx\033[0m" : "%.2fx", speedup(row));
  hd_buf_puts(out, note_of(t->r, t->i));
}

static const field tried_fields[] = {
    {.heading = "plan", .put = put_plan},
    {"not_tried", .when = was_not_tried, .text = why},
    {"failed", .when = has_failed, .text = why},
    {.section = was_replayed},
    {"counters", .spread = true, .tree = counters_json},
    {.heading = "L1 hits", .kind = FIELD_PERCENT, .decimals = 1, .real = l1_hits},
    {.heading = "L2 MB", .kind = FIELD_MEGABYTES, .decimals = 2, .count = l2_bytes},
    {.heading = "DRAM MB", .kind = FIELD_MEGABYTES, .decimals = 2, .count = dram_bytes},
    {.heading = "vs compulsory", .kind = FIELD_RATIO, .decimals = 2, .real = over_compulsory},
    {.heading = "predicted us", .decimals = 1, .real = time_of},
    {.section = field_always},
    {.heading = "change", .put = put_change},
    {"plan", .put = put_plan},
    {"speedup", .when = has_speedup, .real = speedup},
    {0},
};

void report_put_tried(const hd_report *r, size_t limit, bool colour, hd_buf *out) {
  size_t *rank = report_ranking(r), shown = 0, more = 0, untried = 0;
  field_sheet sheet = report_sheet(tried_fields, 0);
  for (size_t i = 0; rank && i < r->n_rows; i++) {
    const bool over = limit && shown >= limit && rank[i] != 0;
    if (over) {
      ++*(report_is_untried(r, rank[i]) ? &untried : &more);
      continue;
    }
    report_sheet_row(&sheet, &(tried){r, rank[i], colour});
    shown++;
  }
  report_put_sheet(&sheet, out);
  out->failed |= !rank;
  free(rank);
  if (more && untried)
    hd_buf_printf(out, "(%zu more plan%s tried, %zu not tried)\n", more, more == 1 ? "" : "s", untried);
  else if (more || untried)
    hd_buf_printf(out, "(%zu more plan%s %stried)\n", more + untried, more + untried == 1 ? "" : "s",
                  untried ? "not " : "");
}

/* ---- Sweeps --------------------------------------------------------------------------------------- */

static const char *status(const void *row) {
  const hd_status st = ((const hd_sweep_row *)row)->status;
  return st == HD_OK ? "ok" : st == HD_ERR_BUDGET ? "not tried" : "failed";
}
static bool is_ok(const void *row) { return ((const hd_sweep_row *)row)->status == HD_OK; }
static const char *why_not(const void *row) { return is_ok(row) ? NULL : ((const hd_sweep_row *)row)->why; }
static const field sweep_fields[] = {
    {"plan", MEMBER(hd_sweep_row, plan)},
    {"status", .text = status},
    {"counters", .spread = true, .when = is_ok, MEMBER(hd_sweep_row, counters)},
    {"why", .text = why_not},
    {0}};

void hd_sweep_csv(const hd_sweep_row *rows, size_t n, hd_buf *out) {
  report_put_csv_head(sweep_fields, out);
  for (size_t i = 0; i < n; i++) report_put_csv_row(sweep_fields, &rows[i], out);
}

void hd_sweep_json(const hd_sweep_row *rows, size_t n, hd_buf *out) {
  report_put_json(report_rows_json(sweep_fields, rows, n, sizeof *rows), out);
}

/* ---- The whole ------------------------------------------------------------------------------------ */

static const hd_report *report_of(const void *row) { return row; }
static bool is_clocked(const void *row) { return report_by_clock(row); }
static bool has_best(const void *row) { return report_of(row)->best > 0; }
static bool has_second(const void *row) { return report_of(row)->second_speedup > 0; }
static bool is_default(const void *row) { return report_of(row)->best == 0 && report_has_answer(row); }
static bool has_part(const void *row) { return report_of(row)->part > 0; }
static bool has_late(const void *row) { return report_of(row)->late > 0; }
static bool has_unseen(const void *row) { return report_of(row)->unseen; }
static bool has_picture(const void *row) { return report_of(row)->picture; }
static bool has_no_answer(const void *row) { return !report_has_answer(row); }
static bool answered(const void *row) { return report_has_answer(row); }
static bool keeps_launch(const void *row) { return !report_of(row)->other_launch; }
static bool is_proved(const void *row) { return report_of(row)->proof && !report_proof_is_smaller(row); }

static void put_best(const void *row, hd_buf *out) {
  hd_plan_print(&report_of(row)->rows[report_of(row)->best].plan, out);
}
static double best_speedup(const void *row) { return hd_report_speedup(row, (size_t)report_of(row)->best); }
static void put_no_answer(const void *row, hd_buf *out) { report_put_no_answer(row, out); }
static void put_nothing_helps(const void *row, hd_buf *out) { report_put_nothing_helps(row, out); }
static const char *proof_size(const void *row) {
  const hd_report *r = row;
  return !r->proof ? NULL : report_proof_is_smaller(r) ? r->proof_size : r->workload->size;
}
static const char *no_reference(const void *row) {
  const hd_check_result *p = report_of(row)->proof;
  return p && p->no_reference[0] ? p->no_reference : NULL;
}
static const char *order_fixed(const void *row) {
  const char *fixed = report_of(row)->fixed;
  return fixed && fixed[0] ? fixed : NULL;
}
static int64_t late(const void *row) { return (int64_t)report_of(row)->late; }
static double all_seconds(const void *row) { return report_all_seconds(row); }

static json_t *rows_json(const void *row) {
  const hd_report *r = row;
  json_t *rows = json_array();
  for (size_t i = 0; rows && i < r->n_rows; i++)
    rows = report_append(rows, report_fields_json(tried_fields, &(tried){r, i, false}));
  return rows;
}

static json_t *unseen_json(const void *row) {
  const hd_plan_list *unseen = report_of(row)->unseen;
  json_t *plans = json_array();
  for (size_t i = 0; plans && i < unseen->n; i++)
    plans = report_append(plans, report_plan_json(&unseen->at[i].plan));
  return plans;
}

static json_t *picture_json(const void *row) { return report_picture_json(report_of(row)->picture); }

static const field second_fields[] = {
    {"speedup", MEMBER(hd_report, second_speedup)}, {"replayed_part", MEMBER(hd_report, second_part)}, {0}};
static const field seconds_fields[] = {{"trace", MEMBER(hd_report, seconds.trace)},
                                       {"advice", MEMBER(hd_report, seconds.advice)},
                                       {"replay", MEMBER(hd_report, seconds.replay)},
                                       {"proof", MEMBER(hd_report, seconds.proof)},
                                       {"all", .real = all_seconds},
                                       {0}};
static const field optimization_fields[] = {
    {"workload", THROUGH(hd_report, workload, hd_workload, name)},
    {"size", THROUGH(hd_report, workload, hd_workload, size)},
    {"gpu", THROUGH(hd_report, gpu, hd_gpu, name)},
    {"dispatcher", MEMBER(hd_report, dispatch)},
    {"best", .put = put_best},
    {"speedup", .when = is_clocked, .real = best_speedup},
    {"proved", .flag = is_proved},
    {"rows", .tree = rows_json},
    {"output", .when = has_best, MEMBER(hd_report, output)},
    {"proof_size", .text = proof_size},
    {"no_reference", .text = no_reference},
    {"second", .when = has_second, SELF(second_fields)},
    {"replayed_part", .when = has_part, MEMBER(hd_report, part)},
    {"table", MEMBER(hd_report, table)},
    {"keeps_launch", .when = has_best, .flag = keeps_launch},
    {"nothing_helps", .when = is_default, .put = put_nothing_helps},
    {"unseen", .when = has_unseen, .tree = unseen_json},
    {"seconds", SELF(seconds_fields)},
    {"report", MEMBER(hd_report, html)},
    {"late_plans", .when = has_late, .count = late},
    {"answered", .flag = answered},
    {"no_answer", .when = has_no_answer, .put = put_no_answer},
    {"order_fixed", .text = order_fixed},
    {"picture", .when = has_picture, .tree = picture_json},
    {0},
};

/* ---- Its page ------------------------------------------------------------------------------------- */

static const char *kind_of_time(const void *row) { return is_clocked(row) ? "clock" : NULL; }
static void put_confirmed(const void *row, hd_buf *out) { report_put_own_confirmation(row, out); }
static bool has_proof(const void *row) { return report_of(row)->proof; }
static bool has_timelines(const void *row) { return report_of(row)->timelines; }
static json_t *code_json(const void *row) {
  return report_code_json(report_of(row)->timelines, report_of(row)->rewritten);
}
static json_t *timelines_json(const void *row) { return report_timelines_json(report_of(row)->timelines); }
static const char *assumption(const void *proof) {
  const unsigned assume = ((const hd_check_result *)proof)->assume;
  return assume ? hd_assume_text(assume) : NULL;
}

static const field proof_fields[] = {{"bytes", MEMBER(hd_check_result, bytes_compared)},
                                     {"dispatchers", MEMBER(hd_check_result, runs)},
                                     {"assume", .text = assumption},
                                     {0}};
static const field page_fields[] = {
    {"optimization", .spread = true, SELF(optimization_fields)},
    {"time", .text = kind_of_time},
    {"confirmed", .put = put_confirmed},
    {"proof", .when = has_proof, STRUCT_AT(hd_report, proof, proof_fields)},
    {"timelines", .when = has_timelines, .tree = timelines_json},
    {"code", .when = has_timelines, .tree = code_json},
    {0},
};

json_t *report_page_tree(const hd_report *r) { return report_fields_json(page_fields, r); }

void hd_report_json(const hd_report *r, hd_buf *out) { report_put_fields_json(optimization_fields, r, out); }
