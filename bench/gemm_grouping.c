/* Compares orders that heddle applies to PTX with groupings written into the source. gemm-bf16-wgmma is timed
 * in row order, with every grouping of a list written by hand (gemm-grouping/), and under plans; all versions
 * take turns.
 *
 *     bench_gemm_grouping [SIZE [PLAN...]]     SIZE: gpu; no PLAN: the one that tuning finds
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/tuner.h"
#include "launch/placement.h"

enum { REPETITIONS = 11, WARMUPS = 1, MAX_PLANS = 8, NAME = 160, BUFFERS = 3 };
#define CONFIDENCE 0.99

static const unsigned groups[] = {1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64};
enum { N_GROUPS = sizeof groups / sizeof *groups, MAX_ENTRIES = 1 + 2 * N_GROUPS + MAX_PLANS };

/* One way to run the product. */
typedef struct entry {
  char name[NAME];
  hd_workload *w; /* of a grouping: its own, over the same buffers */
  placement place;
  variant v;
  double median;
  hd_speedup speedup; /* over row order */
} entry;

typedef struct contest {
  hd_device *device;
  hd_workload *w;
  placement place;
  entry entries[MAX_ENTRIES]; /* row order, groupings, plans */
  size_t n, first_plan;
  double *us;       /* per entry and round */
  uint32_t result;  /* the buffer */
  void *want, *got; /* its bytes: of row order, of the entry at hand */
  double start;
} contest;

/* Run once; the result must equal that of row order, which comes first. */
static hd_status admit(contest *c, entry *e, hd_diag *d) {
  const uint64_t bytes = c->w->buffers[c->result].bytes;
  const bool first = c->n == 1, inputs_stay[BUFFERS] = {0};
  hd_status st = placement_restore(&e->place, d);
  if (st == HD_OK && first) st = placement_learn_changed(&c->place, inputs_stay, d);
  if (st == HD_OK && first) e->place = c->place;
  if (st == HD_OK) st = placement_poison(&e->place, d);
  if (st == HD_OK) st = variant_run(&e->v, d);
  if (st == HD_OK) st = hd_device_sync(c->device, d);
  if (st == HD_OK)
    st = hd_device_read(c->device, c->place.addresses[c->result], first ? c->want : c->got, bytes, d);
  if (st == HD_OK && !first && memcmp(c->got, c->want, bytes) != 0)
    st = hd_fail(d, HD_ERR_REFUSED, "%s computes something else", e->name);
  return st;
}

static hd_status add(contest *c, hd_workload *w, const hd_plan *plan, const char *name, hd_diag *d) {
  entry *e = &c->entries[c->n++];
  snprintf(e->name, sizeof e->name, "%s", name);
  e->w = w;
  e->place = c->place; /* the same buffers, which are the contest's to close */
  hd_plan_set set = {0};
  hd_resolved plans = {0};
  hd_status st = HD_OK;
  if (w) e->place.w = w;
  if (w) st = hd_workload_compiled(w, e->place.run.compile.arch, &e->place.code, d);
  if (plan) set.all = *plan;
  if (st == HD_OK) st = hd_resolve(e->place.w, &set, &e->place.run, NULL, &plans, d);
  if (st == HD_OK) st = variant_open(&e->v, &e->place, &plans, d);
  hd_resolved_free(&plans);
  return st == HD_OK ? admit(c, e, d) : st;
}

static hd_status add_grouping(contest *c, const char *size, const char *what, unsigned group, hd_diag *d) {
  char rows[32], columns[32], name[NAME];
  const char *const set[] = {rows, columns};
  bool by_rows = strcmp(what, "rows") == 0;
  hd_workload *w;
  snprintf(rows, sizeof rows, "rows=%u", by_rows ? group : 0);
  snprintf(columns, sizeof columns, "columns=%u", by_rows ? 0 : group);
  snprintf(name, sizeof name, "groups of %u %s", group, what);
  hd_status st = hd_workload_open_with(SOURCE_DIR "/bench/gemm-grouping", NULL, size, set, 2, &w, d);
  return st == HD_OK ? add(c, w, NULL, name, d) : st;
}

static hd_status add_plan(contest *c, const hd_plan *plan, const char *by, hd_diag *d) {
  hd_buf text = {0};
  char name[NAME];
  hd_plan_print(plan, &text);
  snprintf(name, sizeof name, "%s: %s", by, text.data ? text.data : "");
  hd_buf_free(&text);
  return add(c, NULL, plan, name, d);
}

static hd_status add_tuned(contest *c, hd_diag *d) {
  hd_tuning t;
  hd_gpu advisor;
  bool advice = hd_gpu_load("h100", SOURCE_DIR "/gpus", &advisor, NULL) == HD_OK;
  hd_tune_options o = {.advisor = advice ? &advisor : NULL, .no_counters = true};
  hd_status st = hd_tune(c->device, c->w, &o, &t, d);
  if (st != HD_OK) return st;
  printf("tuned in %.1f s: %u plans\n", t.seconds, t.tried);
  st = add_plan(c, &t.kernels[0].plan, "heddle", d);
  hd_tuning_free(&t);
  return st;
}

static hd_status add_all(contest *c, const char *size, char **plans, size_t n_plans, hd_diag *d) {
  static const char *const directions[] = {"rows", "columns"};
  c->want = malloc(c->w->buffers[c->result].bytes);
  c->got = malloc(c->w->buffers[c->result].bytes);
  hd_status st =
      c->want && c->got ? add(c, NULL, NULL, "row order", d) : hd_fail(d, HD_ERR_NOMEM, "out of memory");
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; st == HD_OK && i < N_GROUPS; i++)
      st = add_grouping(c, size, directions[k], groups[i], d);
  c->first_plan = c->n;
  printf("%zu groupings compute the same: %.1f s\n", c->n - 1, hd_seconds() - c->start);
  if (st == HD_OK && !n_plans) st = add_tuned(c, d);
  for (size_t i = 0; st == HD_OK && i < n_plans; i++) {
    hd_plan p;
    if ((st = hd_plan_parse(plans[i], &p, d)) != HD_OK) break;
    st = add_plan(c, &p, "heddle", d);
  }
  return st;
}

static hd_status time_all(contest *c, hd_diag *d) {
  const hd_timing_options o = {.warmups = WARMUPS, .repetitions = REPETITIONS};
  hd_device_job jobs[MAX_ENTRIES];
  for (size_t i = 0; i < c->n; i++) jobs[i] = variant_job(&c->entries[i].v);
  c->us = calloc(c->n * REPETITIONS, sizeof *c->us);
  if (!c->us) return hd_fail(d, HD_ERR_NOMEM, "out of memory");
  hd_status st = hd_device_time(c->device, jobs, c->n, &o, c->us, d);
  for (size_t i = 0; st == HD_OK && i < c->n; i++) {
    const double *us = c->us + i * REPETITIONS;
    double sorted[REPETITIONS];
    memcpy(sorted, us, sizeof sorted);
    c->entries[i].median = hd_median(sorted, REPETITIONS);
    st = hd_paired_speedup(c->us, us, REPETITIONS, CONFIDENCE, &c->entries[i].speedup, d);
  }
  return st;
}

static double products(const hd_workload *w) {
  double n = 1;
  for (uint32_t i = 0; i < w->n_params; i++) n *= (double)w->params[i].value;
  return n;
}

static hd_status print_all(const contest *c, hd_diag *d) {
  size_t best = 1;
  printf("\n%-44s  %9s  %7s  %s\n", "", "us", "TFLOP/s", "speedup, 99% interval");
  for (size_t i = 0; i < c->n; i++) {
    const entry *e = &c->entries[i];
    if (i < c->first_plan && e->median < c->entries[best].median) best = i;
    printf("%-44s  %9.1f  %7.1f  %.3fx (%.3f to %.3f)\n", e->name, e->median,
           2 * products(c->w) / e->median / 1e6, e->speedup.median, e->speedup.low, e->speedup.high);
  }
  printf("\nbest by hand: %s\n", c->entries[best].name);
  for (size_t i = c->first_plan; i < c->n; i++) {
    hd_speedup s;
    hd_status st = hd_paired_speedup(c->us + best * REPETITIONS, c->us + i * REPETITIONS, REPETITIONS,
                                     CONFIDENCE, &s, d);
    if (st != HD_OK) return st;
    printf("%s: %.3fx of the best by hand (%.3f to %.3f at 99%%)\n", c->entries[i].name, s.median, s.low,
           s.high);
  }
  return HD_OK;
}

int main(int argc, char **argv) {
  static contest c;
  const char *size = argc > 1 ? argv[1] : "gpu";
  const hd_run_options run = {0};
  hd_diag d = {0};
  setvbuf(stdout, NULL, _IOLBF, 0);
  c.start = hd_seconds();
  hd_status st = argc > 2 + MAX_PLANS ? hd_fail(&d, HD_ERR_USAGE, "at most %d plans", MAX_PLANS) : HD_OK;
  if (st == HD_OK) st = hd_device_open("cuda:0", NULL, &c.device, &d);
  if (st == HD_OK) st = hd_workload_open("gemm-bf16-wgmma", SOURCE_DIR "/kernels", size, &c.w, &d);
  while (st == HD_OK && c.w->buffers[c.result].compare == HD_COMPARE_NONE) c.result++;
  if (st == HD_OK) st = placement_open(&c.place, c.device, c.w, &run, &d);
  if (st == HD_OK) st = add_all(&c, size, argv + 2, argc > 2 ? (size_t)argc - 2 : 0, &d);
  if (st == HD_OK) st = time_all(&c, &d);
  if (st == HD_OK) st = print_all(&c, &d);
  if (st != HD_OK) fprintf(stderr, "bench_gemm_grouping: %s\n", d.message);
  for (size_t i = 0; i < c.n; i++) {
    variant_close(&c.entries[i].v);
    hd_workload_close(c.entries[i].w);
  }
  free(c.want);
  free(c.got);
  placement_close(&c.place);
  hd_workload_close(c.w);
  hd_device_close(c.device);
  free(c.us);
  return st != HD_OK;
}
