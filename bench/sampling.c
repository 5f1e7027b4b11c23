/* The error of sampling: times that are predicted from parts of launches, beside those of whole replays, on
 * a modelled GPU.
 *
 *   bench_sampling [-g GPU] [-s SIZE] [-u UNITS] [WORKLOAD...]
 *                                               default: the H100, size paper, 1000000 units a replay
 *
 * For each workload and plan that it takes: the part of the work that is replayed, both times, the error that
 * the sample states of itself, and the error. Then the regret of each workload's best sampled plan, by the
 * whole replays, and how many times are off by more than 1.5x though the sample did not say that it is
 * unsure.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/predict.h"
#include "heddle/stats.h"

static const char *const plans[] = {"baseline",      "order=col",     "order=tile:4x4", "order=band:16",
                                    "order=reverse", "order=hilbert", "bind=agents",    "bind=agents:2",
                                    "bind=claim",    "bypass=l1:0",   "bypass=ro:8",    "threads=cta:col"};
enum { PLANS = sizeof plans / sizeof *plans, MOST = 4096 };
static const double far_off = 1.5;

typedef struct errors {
  double of[MOST], regret[MOST];
  size_t n, n_regret, unsure, silent; /* silent: far off, and not unsure */
} errors;

typedef struct times {
  double us, stated; /* us 0: not replayed; stated: part of it by which it may be off */
} times;

static hd_status predict(const hd_workload *w, const hd_gpu *g, uint64_t units, times out[PLANS],
                         double *part, hd_diag *d) {
  const hd_run_options run = {.machine.threads = 1, .machine.n_sms = g->n_sms};
  const hd_study_options how = {.timed = true, .sample_gpu = g, .sample_units = units};
  hd_study *s = NULL;
  hd_status st = hd_study_open(w, &run, &how, &s, d);
  if (st != HD_OK) return st;
  *part = hd_study_part(s);
  for (int i = 0; st == HD_OK && i < PLANS && (*part < 1 || !units); i++) {
    hd_plan p = {0};
    hd_counters c;
    st = hd_plan_parse(plans[i], &p, d);
    if (st == HD_OK && hd_study_replay(s, g, &p, g->dispatch, 0, &c, NULL) == HD_OK)
      out[i] = (times){c.time_us, c.time_error_us / c.time_us};
  }
  hd_study_close(s);
  return st;
}

static void add(errors *e, const times *some, const times *whole) {
  const double ratio = some->us / whole->us;
  const bool unsure = some->stated > HD_SAMPLE_ERROR;
  if (e->n == MOST) return;
  e->of[e->n++] = fabs(ratio - 1);
  e->unsure += unsure;
  e->silent += !unsure && (ratio > far_off || ratio < 1 / far_off);
}

static hd_status compare(const char *name, const char *size, const hd_gpu *g, uint64_t units, errors *e,
                         hd_diag *d) {
  hd_workload *w = NULL;
  times whole[PLANS] = {0}, some[PLANS] = {0};
  double part = 1, all, least = INFINITY;
  int best = 0;
  hd_status st = hd_workload_open(name, SOURCE_DIR "/kernels", size, &w, d);
  if (st == HD_OK) st = predict(w, g, units, some, &part, d);
  if (st == HD_OK && part < 1) st = predict(w, g, 0, whole, &all, d);
  for (int i = 0; st == HD_OK && part < 1 && i < PLANS; i++) {
    if (whole[i].us <= 0 || some[i].us <= 0) continue;
    add(e, &some[i], &whole[i]);
    if (some[i].us < some[best].us) best = i;
    if (whole[i].us < least) least = whole[i].us;
    printf("%-22s %-16s %5.1f%% %10.1f us %10.1f us %5.1f%% stated %+6.1f%%\n", name, plans[i], 100 * part,
           some[i].us, whole[i].us, 100 * some[i].stated, 100 * (some[i].us / whole[i].us - 1));
  }
  if (st == HD_OK && part < 1 && whole[best].us > 0) {
    printf("%-22s best sampled plan %s: %+.1f%% by the whole replays\n", name, plans[best],
           100 * (whole[best].us / least - 1));
    fflush(stdout);
    e->regret[e->n_regret++] = whole[best].us / least - 1;
  }
  hd_workload_close(w);
  return st;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print(errors *e) {
  double sum = 0;
  for (size_t i = 0; i < e->n; i++) sum += e->of[i];
  if (!e->n) return;
  qsort(e->of, e->n, sizeof *e->of, ascending);
  qsort(e->regret, e->n_regret, sizeof *e->regret, ascending);
  printf("%zu replays: off by %.1f%% (mean), %.1f%% (median), %.1f%% (90th percentile)\n", e->n,
         100 * sum / (double)e->n, 100 * hd_median(e->of, e->n), 100 * e->of[(9 * e->n + 9) / 10 - 1]);
  printf("%zu workloads: regret of the best sampled plan %.1f%% (median), %.1f%% (largest)\n", e->n_regret,
         100 * hd_median(e->regret, e->n_regret), 100 * e->regret[e->n_regret - 1]);
  printf("%zu times that the samples are unsure of; %zu others off by more than %.1fx\n", e->unsure,
         e->silent, far_off);
}

int main(int argc, char **argv) {
  const char *size = "paper", *gpu = "h100";
  uint64_t units = 1000000;
  hd_gpu g;
  hd_diag d = {0};
  errors *e = calloc(1, sizeof *e);
  for (int o; (o = getopt(argc, argv, "g:s:u:")) != -1;) {
    if (o == 'g')
      gpu = optarg;
    else if (o == 's')
      size = optarg;
    else if (o == 'u')
      units = strtoull(optarg, NULL, 10);
    else
      return 2;
  }
  hd_status st = e ? hd_gpu_load(gpu, SOURCE_DIR "/gpus", &g, &d) : HD_ERR_NOMEM;
  for (int i = optind; st == HD_OK && i < argc; i++)
    if (compare(argv[i], size, &g, units, e, &d) != HD_OK) printf("%-22s %s\n", argv[i], d.message);
  if (st == HD_OK)
    print(e);
  else
    fprintf(stderr, "%s\n", d.message);
  free(e);
  return st != HD_OK;
}
