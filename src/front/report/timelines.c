/* Timelines of a launch under plans: made from a study, and as JSON for the page. */
#include "heddle/timelines.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"
#include "report/fields.h"
#include "report/json.h"
#include "report/timelines.h"

/* ---- Making them ---------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* The tasks of all timelines. */
static hd_status list_tasks(hd_timelines *t, hd_diag *d) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < t->n; i++) n += t->at[i].n;
  t->tasks = malloc((n + 1) * sizeof *t->tasks);
  if (!t->tasks || n > UINT32_MAX) return hd_nomem(d);
  n = 0;
  for (uint32_t i = 0; i < t->n; i++)
    for (uint64_t k = 0; k < t->at[i].n; k++) t->tasks[n++] = t->at[i].ctas[k].task;
  qsort(t->tasks, n, sizeof *t->tasks, by_number);
  for (uint64_t k = 0; k < n; k++)
    if (!k || t->tasks[k] != t->tasks[t->n_tasks - 1]) t->tasks[t->n_tasks++] = t->tasks[k];
  return HD_OK;
}

hd_status hd_timelines_make(const hd_study *s, const hd_workload *w, const hd_gpu *g,
                            hd_dispatch_kind dispatch, uint64_t seed, const hd_plan *plans, uint32_t n,
                            uint64_t most, hd_timelines *out, hd_diag *d) {
  hd_status st = HD_OK;
  *out = (hd_timelines){.workload = w, .gpu = g, .launch = hd_study_busiest(s)};
  out->arrays = hd_study_arrays(s, &out->n_arrays);
  for (uint32_t i = 0; st == HD_OK && i < n && i < HD_TIMELINES; i++) {
    out->plans[i] = plans[i];
    out->at[i].most = most;
    out->n = i + 1;
    st = hd_study_timeline(s, g, &plans[i], dispatch, seed, &out->at[i], d);
  }
  if (st == HD_OK) st = list_tasks(out, d);
  if (st == HD_OK)
    st = hd_sharing_colour(hd_study_trace(s, out->launch), out->tasks, out->n_tasks, out->arrays,
                           out->n_arrays, g->l1.line, &out->colours, d);
  if (st != HD_OK) hd_timelines_free(out);
  return st;
}

void hd_timelines_free(hd_timelines *t) {
  for (uint32_t i = 0; i < t->n; i++) hd_timeline_free(&t->at[i]);
  hd_colourings_free(t->colours, t->n_arrays);
  free(t->tasks);
  *t = (hd_timelines){0};
}

uint8_t hd_timelines_group(const hd_timelines *t, const hd_colouring *c, uint64_t task) {
  const uint64_t *at = bsearch(&task, t->tasks, t->n_tasks, sizeof task, by_number);
  return at ? c->of[at - t->tasks] : HD_NO_COLOUR;
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

typedef struct drawn {
  const hd_timelines *t;
  const hd_timeline *one;
  const hd_plan *plan;
} drawn;

/* Colourings that tell anything: of several groups. */
static uint32_t count_colourings(const hd_timelines *t) {
  uint32_t n = 0;
  while (n <= t->n_arrays && t->colours[n].n > 1) n++;
  return n;
}

static const field cta_fields[] = {
    {"task", MEMBER(hd_timeline_cta, task)}, {"start", MEMBER(hd_timeline_cta, start)},
    {"end", MEMBER(hd_timeline_cta, end)},   {"sm", MEMBER(hd_timeline_cta, sm)},
    {"slot", MEMBER(hd_timeline_cta, slot)}, {0}};
static const field bin_fields[] = {
    {"l1_sectors", MEMBER(hd_timeline_bin, l1_sectors)}, {"l1_hits", MEMBER(hd_timeline_bin, l1_hits)},
    {"l2_sectors", MEMBER(hd_timeline_bin, l2_sectors)}, {"l2_hits", MEMBER(hd_timeline_bin, l2_hits)},
    {"dram_bytes", MEMBER(hd_timeline_bin, dram_bytes)}, {0}};

/* For each colouring a string with a digit for each CTA: its group, "." for none. */
static json_t *groups_json(const void *row) {
  static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  const drawn *d = row;
  json_t *list = json_array();
  for (uint32_t k = 0, n = count_colourings(d->t); list && k < n; k++) {
    hd_buf text = {0};
    for (uint64_t i = 0; i < d->one->n; i++) {
      const uint8_t at = hd_timelines_group(d->t, &d->t->colours[k], d->one->ctas[i].task);
      hd_buf_putc(&text, at == HD_NO_COLOUR ? '.' : digits[at]);
    }
    list = report_append(list, report_text_json(&text));
  }
  return list;
}

static json_t *bins_json(const void *row) {
  const hd_timeline *t = ((const drawn *)row)->one;
  return report_rows_json(bin_fields, t->bins, t->n_bins, sizeof *t->bins);
}

static const field plan_fields[] = {
    {"plan", POINTED(drawn, plan)},
    {"cycles", THROUGH(drawn, one, hd_timeline, cycles)},
    {"ran", THROUGH(drawn, one, hd_timeline, ran)},
    {"first", THROUGH(drawn, one, hd_timeline, first)},
    {"tasks", THROUGH(drawn, one, hd_timeline, tasks)},
    {"sms", THROUGH(drawn, one, hd_timeline, n_sms)},
    {"sm_step", THROUGH(drawn, one, hd_timeline, sm_step)},
    {"kept_until", THROUGH(drawn, one, hd_timeline, kept_until)},
    {"cut_after", THROUGH(drawn, one, hd_timeline, cut_after)},
    {"slots", THROUGH(drawn, one, hd_timeline, slots)},
    {"clock_mhz", THROUGH(drawn, one, hd_timeline, clock_mhz)},
    {"bin_cycles", THROUGH(drawn, one, hd_timeline, bin_cycles)},
    {"bins", .tree = bins_json},
    {"groups", .tree = groups_json},
    {0},
};

static json_t *plan_json(const drawn *d) {
  return report_set(report_fields_json(plan_fields, d), "ctas",
                    report_rows_json(cta_fields, d->one->ctas, d->one->n, sizeof *d->one->ctas));
}

static json_t *plans_json(const void *row) {
  const hd_timelines *t = row;
  json_t *list = json_array();
  for (uint32_t i = 0; list && i < t->n; i++)
    list = report_append(list, plan_json(&(drawn){t, &t->at[i], &t->plans[i]}));
  return list;
}

/* The array of a colouring, and the part of what CTAs share that is shared within its groups. */
typedef struct colouring {
  const hd_timelines *t;
  const hd_colouring *c;
} colouring;
static const char *array_of(const void *row) {
  const colouring *c = row;
  return c->c->array < c->t->n_arrays ? c->t->arrays[c->c->array].name : NULL;
}
static double within(const void *row) {
  const hd_colouring *c = ((const colouring *)row)->c;
  return c->uses ? (double)c->within / (double)c->uses : 0;
}
static const field colouring_fields[] = {{"array", .text = array_of},
                                         {"groups", THROUGH(colouring, c, hd_colouring, n)},
                                         {"requests", THROUGH(colouring, c, hd_colouring, requests)},
                                         {"within", .real = within},
                                         {0}};

static json_t *colourings_json(const void *row) {
  const hd_timelines *t = row;
  json_t *list = json_array();
  for (uint32_t k = 0, n = count_colourings(t); list && k < n; k++)
    list = report_append(list, report_fields_json(colouring_fields, &(colouring){t, &t->colours[k]}));
  return list;
}

static const hd_wl_launch *launch_of(const void *row) {
  const hd_timelines *t = row;
  return &t->workload->launches[t->launch];
}
static void put_kernel(const void *row, hd_buf *out) { hd_kernel_title(launch_of(row)->kernel, false, out); }
static json_t *grid_json(const void *row) {
  const uint32_t *g = launch_of(row)->grid;
  return json_pack("[I, I, I]", (json_int_t)g[0], (json_int_t)g[1], (json_int_t)g[2]);
}

static const field timelines_fields[] = {
    {"kernel", .put = put_kernel}, {"launch", MEMBER(hd_timelines, launch)},
    {"grid", .tree = grid_json},   {"colours", .tree = colourings_json},
    {"plans", .tree = plans_json}, {0}};

json_t *report_timelines_json(const hd_timelines *t) { return report_fields_json(timelines_fields, t); }
