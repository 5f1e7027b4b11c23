/* Analysis of every kernel in given files: accesses to global memory by class, and time per kernel.
 * bench_analysis FILE... [-n SKIP]: of every SKIP modules one is looked at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "heddle/analysis.h"
#include "heddle/container.h"

typedef struct totals {
  size_t modules, kernels, failed, over_budget;
  size_t sites, levels[HD_LEVEL_COUNT], whys[HD_WHY_COUNT];
  HD_VEC(double) seconds;
  double slowest;
  char slowest_name[512];
} totals;

/* Processor time of this thread, which other programs on the machine do not stretch. */
static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void measure_kernel(const hd_ptx_module *m, uint32_t func, const char *label, totals *t) {
  hd_analysis *a;
  hd_diag d;
  char line[2048];
  double start = cpu_seconds();
  hd_status st = hd_analyze(m, func, NULL, &a, &d);
  double seconds = cpu_seconds() - start;
  t->kernels++;
  if (st != HD_OK) {
    fprintf(stderr, "%s: %s\n", label, hd_diag_line(&d, line, sizeof line));
    t->failed++;
    return;
  }
  if (!hd_vec_push(&t->seconds, seconds)) abort();
  if (seconds > t->slowest) {
    t->slowest = seconds;
    snprintf(t->slowest_name, sizeof t->slowest_name, "%s %.300s (%u instructions)", label,
             m->syms[m->funcs[func].sym].name, a->cfg.n_insts);
  }
  t->over_budget += a->over_budget;
  for (uint32_t i = 0; i < a->n_sites; i++) {
    t->sites++;
    t->levels[a->sites[i].level]++;
    t->whys[a->sites[i].why]++;
  }
  hd_analysis_free(a);
}

static void measure_file(const char *path, unsigned skip, totals *t) {
  hd_container *c;
  hd_diag d;
  char line[2048];
  if (hd_container_open(path, &c, &d) != HD_OK) {
    fprintf(stderr, "%s\n", hd_diag_line(&d, line, sizeof line));
    return;
  }
  for (;;) {
    hd_ptx_text text;
    bool more;
    if (hd_container_next(c, &text, &more, &d) != HD_OK) {
      if (!more) break;
      continue;
    }
    if (!more) break;
    if (text.index % skip) continue;
    hd_arena arena;
    hd_arena_init(&arena);
    hd_ptx_module *m;
    if (hd_ptx_parse(text.data, text.len, text.label, &arena, &m, &d) == HD_OK) {
      t->modules++;
      for (uint32_t f = 0; f < m->n_funcs; f++)
        if (m->funcs[f].entry && m->funcs[f].has_body) measure_kernel(m, f, text.label, t);
    }
    hd_arena_free(&arena);
  }
  hd_container_close(c);
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_totals(totals *t) {
  size_t n = t->seconds.n;
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += t->seconds.data[i];
  if (n) qsort(t->seconds.data, n, sizeof *t->seconds.data, by_value);
  printf("%zu modules, %zu kernels (%zu failed, %zu over budget), %zu accesses to global memory\n",
         t->modules, t->kernels, t->failed, t->over_budget, t->sites);
  for (int l = 0; l < HD_LEVEL_COUNT; l++)
    if (t->levels[l])
      printf("  %-14s %9zu  %5.1f%%\n", hd_level_name((hd_level)l), t->levels[l],
             100.0 * (double)t->levels[l] / (double)t->sites);
  printf("of those worse than quasi-affine:\n");
  for (int w = 1; w < HD_WHY_COUNT; w++)
    if (t->whys[w])
      printf("  %-14s %9zu  %5.1f%%  %s\n", hd_why_name((hd_why)w), t->whys[w],
             100.0 * (double)t->whys[w] / (double)t->sites, hd_why_text((hd_why)w));
  if (n)
    printf("time per kernel: median %.3f ms, 99th percentile %.3f ms, slowest %.3f ms, total %.1f "
           "s\nslowest: %s\n",
           1e3 * t->seconds.data[n / 2], 1e3 * t->seconds.data[n * 99 / 100], 1e3 * t->slowest, sum,
           t->slowest_name);
}

int main(int argc, char **argv) {
  unsigned skip = 1;
  int opt;
  while ((opt = getopt(argc, argv, "n:")) != -1)
    if (opt != 'n' || (skip = (unsigned)atoi(optarg)) < 1) optind = argc;
  if (optind >= argc) {
    fprintf(stderr, "usage: %s [-n SKIP] FILE...\n", argv[0]);
    return 2;
  }
  totals all = {0};
  for (int i = optind; i < argc; i++) measure_file(argv[i], skip, &all);
  print_totals(&all);
  hd_vec_free(&all.seconds);
  return 0;
}
