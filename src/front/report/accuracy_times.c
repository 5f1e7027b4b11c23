/* The model's times beside measured ones. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/results.h"
#include "report/fields.h"
#include "report/summary.h"

/* ---- Measured times ------------------------------------------------------------------- */

static hd_status bad(const char *path, const char *workload, const char *what, hd_diag *d) {
  hd_fail(d, HD_ERR_INPUT, "workload '%.80s': %s", workload, what);
  if (d) snprintf(d->file, sizeof d->file, "%s", path);
  return HD_ERR_INPUT;
}

static hd_status read_row(const char *path, const char *workload, json_t *plans, hd_accuracy_times *row,
                          hd_diag *d) {
  const char *text;
  json_t *v, *base = json_object_get(plans, "baseline");
  if (!json_is_number(base) || json_number_value(base) <= 0)
    return bad(path, workload, "no \"baseline\" with its microseconds", d);
  row->plans[row->n++] = (hd_accuracy_plan){.text = "baseline", .measured_us = json_number_value(base)};
  json_object_foreach(plans, text, v) {
    hd_accuracy_plan *p = &row->plans[row->n];
    if (v == base || row->n == HD_ACCURACY_PLANS) continue;
    if (!json_is_number(v) || json_number_value(v) <= 0)
      return bad(path, workload, "a plan's time must be a positive number", d);
    if (strlen(text) >= sizeof p->text) return bad(path, workload, "a plan is too long", d);
    memcpy(p->text, text, strlen(text) + 1);
    p->measured_us = json_number_value(v);
    row->n++;
  }
  return HD_OK;
}

static bool is_named(const char *name, char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(words[i], name) == 0) return true;
  return !n;
}

static hd_status read_rows(const char *path, json_t *root, char *const *words, size_t n_words, char **names,
                           hd_accuracy_times *rows, size_t *n, hd_diag *d) {
  const char *workload;
  json_t *plans;
  hd_status st = HD_OK;
  for (size_t i = 0; i < n_words; i++)
    if (!json_object_get(root, words[i]))
      return hd_fail(d, HD_ERR_USAGE, "%s has no times of '%s'", path, words[i]);
  json_object_foreach(root, workload, plans) {
    if (!is_named(workload, words, n_words)) continue;
    st = read_row(path, workload, plans, &rows[*n], d);
    if (st != HD_OK) return st;
    names[*n] = strdup(workload);
    if (!names[(*n)++]) return hd_nomem(d);
  }
  return st;
}

hd_status hd_accuracy_read_times(const char *path, char *const *words, size_t n_words, char ***names,
                                 hd_accuracy_times **rows, size_t *n, hd_diag *d) {
  hd_file f;
  json_error_t e;
  *names = NULL;
  *rows = NULL;
  *n = 0;
  hd_status st = hd_file_open(path, &f, d);
  if (st != HD_OK) return st;
  json_t *root = json_loadb(f.data, f.len, JSON_REJECT_DUPLICATES, &e);
  hd_file_close(&f);
  if (!json_is_object(root)) {
    hd_fail(d, HD_ERR_INPUT, "not a JSON object of workloads: %.120s", root ? "something else" : e.text);
    if (d) snprintf(d->file, sizeof d->file, "%s", path);
    json_decref(root);
    return HD_ERR_INPUT;
  }
  size_t all = json_object_size(root);
  *names = calloc(all + 1, sizeof **names);
  *rows = calloc(all + 1, sizeof **rows);
  st = *names && *rows ? read_rows(path, root, words, n_words, *names, *rows, n, d) : hd_nomem(d);
  json_decref(root);
  if (st == HD_OK) return st;
  if (*names) hd_workload_list_free(*names, *n);
  free(*rows);
  *names = NULL;
  *rows = NULL;
  *n = 0;
  return st;
}

/* ---- A workload ----------------------------------------------------------------------------------- */

typedef struct judged {
  const char *name;
  const hd_accuracy_times *r;
  hd_accuracy_verdict verdict;
} judged;

static judged judge(const hd_accuracy_times_report *a, size_t i) {
  return (judged){a->names[i], &a->rows[i], hd_accuracy_judge(&a->rows[i])};
}

static const hd_accuracy_times *times_of(const void *row) { return ((const judged *)row)->r; }
static bool has_ratio(const void *row) { return isfinite(((const judged *)row)->verdict.ratio); }
static bool has_failed(const void *row) { return !has_ratio(row); }
static double measured_us(const void *row) { return times_of(row)->plans[0].measured_us; }
static double model_us(const void *row) { return times_of(row)->plans[0].model_us; }
static int64_t compared(const void *row) {
  const hd_accuracy_times *r = times_of(row);
  int64_t n = 0;
  for (uint32_t k = 1; k < r->n; k++) n += r->plans[k].model_us > 0 && r->plans[k].measured_us > 0;
  return n;
}
static const char *best(const void *row) {
  return times_of(row)->plans[((const judged *)row)->verdict.best].text;
}
static json_t *counters_json(const void *row) {
  return report_counters_json(&times_of(row)->plans[0].model, 0);
}

static const field plan_fields[] = {
    {"plan", MEMBER(hd_accuracy_plan, text)},
    {"measured_us", .null = true, .has = report_is_positive, MEMBER(hd_accuracy_plan, measured_us)},
    {"model_us", .null = true, .has = report_is_positive, MEMBER(hd_accuracy_plan, model_us)},
    {0},
};
static json_t *plans_json(const void *row) {
  const hd_accuracy_times *r = times_of(row);
  json_t *plans = json_array();
  for (uint32_t k = 0; plans && k < r->n; k++)
    plans = report_append(plans, report_set(report_fields_json(plan_fields, &r->plans[k]), "contradicted",
                                            json_boolean(k && hd_accuracy_is_contradicted(r, k))));
  return plans;
}

static const field row_fields[] = {
    {"workload", "workload", MEMBER(judged, name)},
    {"failed", .when = has_failed, THROUGH(judged, r, hd_accuracy_times, why)},
    {.section = has_ratio},
    {.heading = "measured us", .decimals = 1, .real = measured_us},
    {.heading = "model us", .decimals = 1, .real = model_us},
    {.heading = "replayed", .kind = FIELD_PERCENT, THROUGH(judged, r, hd_accuracy_times, part)},
    {"ratio", "ratio", .decimals = 2, MEMBER(judged, verdict.ratio)},
    {.heading = "plans", .count = compared},
    {"replayed_part", THROUGH(judged, r, hd_accuracy_times, part)},
    {"effects", "effects", MEMBER(judged, verdict.effects)},
    {"right_signs", "right", MEMBER(judged, verdict.right)},
    {"tau", "tau", .decimals = 2, .null = true, MEMBER(judged, verdict.tau)},
    {"best", "model's best plan", .text = best},
    {"regret", "regret", FIELD_PERCENT, 1, MEMBER(judged, verdict.regret)},
    {"counters", .tree = counters_json},
    {.section = field_always},
    {"plans", .tree = plans_json},
    {0},
};

/* ---- All of them ---------------------------------------------------------------------------------- */

static json_t *rows_json(const void *row) {
  const hd_accuracy_times_report *a = row;
  json_t *rows = json_array();
  for (size_t i = 0; rows && i < a->n; i++) {
    const judged one = judge(a, i);
    rows = report_append(rows, report_fields_json(row_fields, &one));
  }
  return rows;
}

#define ALL(member) MEMBER(hd_accuracy_times_report, member)
static const field times_fields[] = {
    {"gpu", THROUGH(hd_accuracy_times_report, gpu, hd_gpu, name)},
    {"measured", ALL(measured)},
    {"size", ALL(size)},
    {"workloads", ALL(ranking.n)},
    {"mean_error", .null = true, ALL(ranking.mean_error)},
    {"median_error", .null = true, ALL(ranking.median_error)},
    {"geometric_error", .null = true, ALL(ranking.geometric)},
    {"effects", ALL(ranking.effects)},
    {"right_signs", ALL(ranking.right)},
    {"median_tau", .null = true, ALL(ranking.median_tau)},
    {"median_regret", .null = true, ALL(ranking.median_regret)},
    {"p90_regret", .null = true, ALL(ranking.p90_regret)},
    {"rows", .tree = rows_json},
    {0},
};

void hd_accuracy_times_json(const hd_accuracy_times_report *a, hd_buf *out) {
  report_put_fields_json(times_fields, a, out);
}

/* ---- Text ----------------------------------------------------------------------------------------- */

static void put_rows(const hd_accuracy_times_report *a, hd_buf *out) {
  field_sheet sheet = report_sheet(row_fields, 0);
  for (size_t i = 0; i < a->n; i++) {
    const judged one = judge(a, i);
    if (has_ratio(&one)) report_sheet_row(&sheet, &one);
  }
  report_put_sheet(&sheet, out);
}

/* The resource that bounds the original's time in the model, and the part of the time that it accounts
 * for. */
static const char *busiest(const hd_counters *c, double *part) {
  const struct {
    const char *name;
    double cycles;
  } all[] = {
      {"issue", c->cycles_issue}, {"L1", c->cycles_l1}, {"L2", c->cycles_l2}, {"DRAM", c->cycles_dram}};
  size_t most = 0;
  for (size_t i = 1; i < sizeof all / sizeof *all; i++)
    if (all[i].cycles > all[most].cycles) most = i;
  *part = c->cycles > 0 ? all[most].cycles / c->cycles : 0;
  return all[most].name;
}

static void put_worst(const hd_accuracy_times_report *a, hd_buf *out) {
  const hd_accuracy_ranking *k = &a->ranking;
  hd_buf_puts(out, "\nFarthest off:\n");
  for (size_t i = 0; i < k->n_worst; i++) {
    const hd_accuracy_times *r = &a->rows[k->worst[i]];
    double part, ratio = r->plans[0].model_us / r->plans[0].measured_us;
    const char *name = busiest(&r->plans[0].model, &part);
    hd_buf_printf(out, "  %s: %.2f; in the model %s is the busiest, %.0f%% of the time%s\n",
                  a->names[k->worst[i]], ratio, name, 100 * part,
                  part > 0.8  ? ": its rate decides"
                  : ratio < 1 ? ": latencies, launches or what is not modelled are too cheap"
                              : ": latencies are too dear, or too few warps hide them");
  }
}

static double change(double from, double to) { return from > 0 ? 100 * (to / from - 1) : 0; }

static double waiting(const hd_counters *c) {
  return c->warp_cycles > 0 ? 100 * c->stall_memory / c->warp_cycles : 0;
}

/* The reason in the model: its counters under the plan beside those of the original. */
static void put_contradiction(const char *name, const hd_accuracy_times *r, uint32_t plan, hd_buf *out) {
  const hd_accuracy_plan *base = &r->plans[0], *p = &r->plans[plan];
  const hd_counters *a = &base->model, *b = &p->model;
  const double model = base->model_us / p->model_us;
  hd_buf_printf(out, "  %s, %s: measured %.2fx, modelled %.2fx", name, p->text,
                base->measured_us / p->measured_us, model);
  if (fabs(model - 1) < HD_ACCURACY_NOISE) hd_buf_puts(out, ", as good as no effect");
  hd_buf_printf(out, "; model: cycles issuing %+.0f%%, L2 sectors %+.0f%%, DRAM reads %+.0f%%",
                change(a->cycles_issue, b->cycles_issue),
                change((double)a->l2_sectors, (double)b->l2_sectors),
                change((double)a->dram_read_bytes, (double)b->dram_read_bytes));
  if (a->warp_cycles > 0 && b->warp_cycles > 0)
    hd_buf_printf(out, ", warps wait for memory %.0f%% of their time instead of %.0f%%", waiting(b),
                  waiting(a));
  hd_buf_putc(out, '\n');
}

static void put_contradictions(const hd_accuracy_times_report *a, hd_buf *out) {
  bool first = true;
  for (size_t i = 0; i < a->n; i++)
    for (uint32_t k = 1; k < a->rows[i].n; k++) {
      if (a->rows[i].status != HD_OK || !hd_accuracy_is_contradicted(&a->rows[i], k)) continue;
      if (first) hd_buf_puts(out, "\nContradicted by the measured times:\n");
      first = false;
      put_contradiction(a->names[i], &a->rows[i], k, out);
    }
}

void hd_accuracy_times_text(const hd_accuracy_times_report *a, hd_buf *out) {
  const hd_accuracy_ranking *k = &a->ranking;
  hd_buf_printf(out, "%s modelled by a clock, measured: %s, size %s\n\n", a->gpu->title, a->measured,
                a->size);
  report_put_lacks(a->gpu, true, out);
  put_rows(a, out);
  if (k->n) {
    hd_buf_printf(
        out,
        "\nDefault launches of %zu workloads: off by %.1f%% (mean), %.1f%% (median), %.2fx (geometric "
        "mean).\n",
        k->n, 100 * k->mean_error, 100 * k->median_error, k->geometric);
    hd_buf_printf(
        out,
        "Plans: right sign on %u of %u with an effect over %.0f%% (%.0f%%); Kendall's tau %.2f (median of "
        "%zu "
        "workloads, differences under %.0f%% left out); regret of the model's best plan %.1f%% (median), "
        "%.1f%% (90th percentile).\n",
        k->right, k->effects, 100 * HD_ACCURACY_EFFECT, k->effects ? 100.0 * k->right / k->effects : 100.0,
        k->median_tau, k->n_tau, 100 * HD_ACCURACY_NOISE, 100 * k->median_regret, 100 * k->p90_regret);
    put_worst(a, out);
    put_contradictions(a, out);
  }
  bool first = true;
  for (size_t i = 0; i < a->n; i++) {
    if (a->rows[i].status == HD_OK) continue;
    hd_buf_printf(out, "%s%s: %s\n", first ? "\n" : "", a->names[i], a->rows[i].why);
    first = false;
  }
}
