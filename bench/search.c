/* The search on landscapes that a GPU's were measured to be (FILE of bench_regret), without the GPU: what it
 * chooses against the best plan of the file, over many seeds. A change to the search is tried here before it
 * is measured there.
 *
 *     build/release/bench/bench_search FILE [SEEDS [BUDGET]]
 *
 * BUDGET (2): seconds of each kernel's search. A plan that is not in FILE is 3% slower than the original, so
 * that a search which goes where none was looks worse than it is. Times have 0.3% of noise; each place in
 * memory favours a plan or the original by up to 1%; a plan takes as long to load as FILE's tuning had it. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contest/search.h"
#include "heddle/advise.h"

enum { MOST_PLANS = 8192, MOST_SLOTS = 4096, MOST_SEEDS = 64 };
static const double unknown_plan = 0.97, noise = 0.003, luck = 0.01, move_seconds = 0.05;

typedef struct landscape {
  const char *workload, *kernel, *best_plan;
  double us, best, load; /* load: seconds of making a plan ready */
  uint32_t most_agents;
  bool affinity, heavy_first, streams;
  const char *plans[MOST_PLANS];
  double ratios[MOST_PLANS];
  size_t n;
} landscape;

typedef struct simulated {
  const landscape *l;
  uint64_t seed, drawn;
  double clock;
  double us[MOST_SLOTS];
  uint64_t plan[MOST_SLOTS];
  bool used[MOST_SLOTS];
  uint32_t place;
} simulated;

/* ---- The simulated GPU --------------------------------------------------------------------- */

static double chance(uint64_t seed, uint64_t i) { return (double)(hd_random_at(seed, i) >> 11) * 0x1p-53; }

static double draw(simulated *s, uint32_t slot) {
  const double placed = 1 + luck * (chance(s->seed ^ s->plan[slot], s->place) - 0.5);
  double sum = 0;
  for (int i = 0; i < 12; i++) sum += chance(s->seed, s->drawn++);
  const double t = s->us[slot] * placed * exp(noise * (sum - 6));
  s->clock += t * 1e-6;
  return t;
}

static double ratio_of(const landscape *l, const char *plan) {
  for (size_t i = 0; i < l->n; i++)
    if (strcmp(l->plans[i], plan) == 0) return l->ratios[i];
  return unknown_plan;
}

static hd_status admit(void *ctx, const hd_plan_set *plans, uint32_t *slot, double *us, hd_diag *d) {
  simulated *s = ctx;
  hd_buf text = {0};
  for (*slot = 0; *slot < MOST_SLOTS && s->used[*slot];) ++*slot;
  if (*slot == MOST_SLOTS) return hd_nomem(d);
  hd_plan_print(&plans->all, &text);
  if (text.failed) return hd_nomem(d);
  const bool original = hd_plan_is_baseline(&plans->all);
  s->used[*slot] = true;
  s->plan[*slot] = original ? 0 : hd_hash(text.data, text.len);
  s->us[*slot] = s->l->us / (original ? 1 : ratio_of(s->l, text.data));
  s->clock += s->l->load;
  hd_buf_free(&text);
  *us = draw(s, *slot);
  return HD_OK;
}

static void release(void *ctx, uint32_t slot) { ((simulated *)ctx)->used[slot] = false; }

static hd_status time_slots(void *ctx, const uint32_t *slots, size_t n, uint32_t warmups, uint32_t rounds,
                            double *us, hd_diag *d) {
  (void)d;
  for (uint32_t r = 0; r < warmups + rounds; r++)
    for (size_t k = 0; k < n; k++) {
      const double t = draw(ctx, slots[k]);
      if (r >= warmups) us[k * rounds + r - warmups] = t;
    }
  return HD_OK;
}

static void ahead(void *ctx, const hd_plan_set *plans, size_t n) { (void)ctx, (void)plans, (void)n; }
static double clock_of(void *ctx) { return ((simulated *)ctx)->clock; }

static hd_status move(void *ctx, bool fragmented, double *part, hd_diag *d) {
  (void)fragmented, (void)d;
  simulated *s = ctx;
  s->place++;
  s->clock += move_seconds;
  *part = 1;
  return HD_OK;
}

static void settle(void *ctx) { (void)ctx; }

/* ---- The file ------------------------------------------------------------------------------ */

static landscape *landscapes[512];
static size_t n_landscapes;

static landscape *landscape_of(const json_t *line, const char *kernel) {
  const char *workload = json_string_value(json_object_get(line, "workload"));
  for (size_t i = 0; i < n_landscapes; i++)
    if (strcmp(landscapes[i]->workload, workload) == 0 && strcmp(landscapes[i]->kernel, kernel) == 0)
      return landscapes[i];
  landscape *l = n_landscapes < 512 ? calloc(1, sizeof *l) : NULL;
  if (!l) exit(1);
  l->workload = workload;
  l->kernel = kernel;
  return landscapes[n_landscapes++] = l;
}

static void take_tuned(const json_t *line, const json_t *tuned) {
  const double tried = json_number_value(json_object_get(line, "tried")),
               load = json_number_value(json_object_get(json_object_get(line, "spent"), "load"));
  size_t i;
  json_t *k;
  json_array_foreach(tuned, i, k) {
    landscape *l = landscape_of(line, json_string_value(json_object_get(k, "kernel")));
    l->affinity = json_is_true(json_object_get(k, "affinity"));
    l->heavy_first = json_is_true(json_object_get(k, "heavy_first"));
    l->streams = json_is_true(json_object_get(k, "streams"));
    l->load = tried > 0 ? load / tried : 0.02;
  }
}

/* Keeps every line: strings of the landscapes are its. */
static void take_line(const char *text) {
  json_t *line = json_loads(text, 0, NULL);
  const json_t *tuned = json_object_get(line, "tuned"), *plan = json_object_get(line, "plan"),
               *best = json_object_get(line, "best"), *kernel = json_object_get(line, "kernel");
  if (tuned) take_tuned(line, tuned);
  if (!kernel) return;
  landscape *l = landscape_of(line, json_string_value(kernel));
  if (best) l->us = json_number_value(json_object_get(line, "us"));
  const double ratio = json_number_value(json_object_get(line, "ratio"));
  if (!plan || ratio <= 0 || l->n == MOST_PLANS) return;
  l->plans[l->n] = json_string_value(plan);
  l->ratios[l->n++] = ratio;
  const char *agents = strstr(json_string_value(plan), "bind=agents:");
  const uint32_t n = agents ? (uint32_t)strtoul(agents + 12, NULL, 10) : 0;
  if (n > l->most_agents) l->most_agents = n;
}

static bool read_file(const char *path) {
  FILE *f = fopen(path, "r");
  char *text = NULL;
  size_t room = 0;
  if (!f) return false;
  while (getline(&text, &room, f) > 0) take_line(text);
  free(text);
  fclose(f);
  for (size_t i = 0; i < n_landscapes; i++) {
    landscape *l = landscapes[i];
    l->best = 1;
    l->best_plan = "baseline";
    for (size_t k = 0; k < l->n; k++)
      if (l->ratios[k] > l->best) l->best = l->ratios[k], l->best_plan = l->plans[k];
  }
  return true;
}

/* ---- The search ------------------------------------------------------------------------------ */

static hd_status space_of(const landscape *l, hd_plan_space *out, hd_diag *d) {
  hd_workload *w;
  hd_status st = hd_workload_open(l->workload, SOURCE_DIR "/kernels", "gpu", &w, d);
  if (st != HD_OK) return st;
  uint32_t at = 0;
  for (uint32_t i = 0; i < w->n_launches; i++)
    if (strcmp(w->launches[i].kernel, l->kernel) == 0) at = i;
  st = hd_advise_space(w, at, NULL, out, d);
  hd_workload_close(w);
  out->n_sms = 132;
  out->resident = l->most_agents + 1;
  out->has_affinity = l->affinity;
  out->has_heavy_first = l->heavy_first;
  out->has_streams = l->streams;
  return st;
}

/* The speedup of the plan that is adopted; *seconds of the search. */
static hd_status search_one(const landscape *l, const hd_plan_space *space, uint64_t seed, double budget,
                            double *speedup, double *seconds, hd_diag *d) {
  static simulated s;
  static hd_candidate list[HD_CANDIDATES];
  search r;
  hd_buf plan = {0};
  s = (simulated){.l = l, .seed = seed};
  const tuner_bench b = {&s,   admit, ahead, release, time_slots,  clock_of,
                         NULL, false, move,  settle,  move_seconds};
  const search_options o = {.budget = budget, .overtime = SEARCH_OVERTIME, .confidence = 0.99};
  const size_t n = hd_candidates(space, list, HD_CANDIDATES);
  hd_status st = tuner_search(&r, &b, space, list, n, &o, d);
  *speedup = 1;
  *seconds = s.clock;
  if (st == HD_OK && r.adopted) {
    hd_plan_print(&r.trials.data[r.best].plan, &plan);
    if (plan.failed) st = hd_nomem(d);
    if (st == HD_OK) *speedup = ratio_of(l, plan.data);
  }
  hd_buf_free(&plan);
  search_free(&r);
  return st;
}

static hd_status search_all(const landscape *l, uint32_t seeds, double budget, hd_diag *d) {
  hd_plan_space space;
  double chosen[MOST_SEEDS], took[MOST_SEEDS];
  uint32_t near = 0;
  hd_status st = space_of(l, &space, d);
  for (uint32_t i = 0; st == HD_OK && i < seeds; i++) {
    st = search_one(l, &space, i + 1, budget, &chosen[i], &took[i], d);
    near += chosen[i] * 1.02 >= l->best;
  }
  if (st != HD_OK) return st;
  printf("%-22s %-22s %8.3f %8.3f %6u/%u %8.2f  %s\n", l->workload, l->kernel, l->best,
         hd_median(chosen, seeds), near, seeds, hd_median(took, seeds), l->best_plan);
  fflush(stdout);
  return HD_OK;
}

int main(int argc, char **argv) {
  const uint32_t seeds = argc > 2 ? (uint32_t)fmin(MOST_SEEDS, atof(argv[2])) : 16;
  const double budget = argc > 3 ? atof(argv[3]) : 2;
  hd_diag d = {0};
  if (argc < 2 || !seeds || !read_file(argv[1])) {
    fprintf(stderr, "usage: bench_search FILE [SEEDS [BUDGET]]\n");
    return 2;
  }
  printf("%-22s %-22s %8s %8s %8s %8s  %s\n", "workload", "kernel", "best", "chosen", "near", "seconds",
         "best plan");
  for (size_t i = 0; i < n_landscapes; i++) {
    if (landscapes[i]->us <= 0) continue;
    if (search_all(landscapes[i], seeds, budget, &d) != HD_OK) {
      fprintf(stderr, "bench_search: %s: %s\n", landscapes[i]->workload, d.message);
      return 1;
    }
  }
  return 0;
}
