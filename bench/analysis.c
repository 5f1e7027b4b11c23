/* Analysis of every kernel in given files: accesses to global memory by class, and time per kernel.
 * bench_analysis FILE... [-n SKIP]: of every SKIP modules one is looked at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "heddle/container.h"
#include "heddle/report.h"

typedef struct totals {
  hd_coverage coverage;
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
  if (st != HD_OK) {
    fprintf(stderr, "%s: %s\n", label, hd_diag_line(&d, line, sizeof line));
    t->coverage.failed++;
    return;
  }
  if (!hd_vec_push(&t->seconds, seconds)) abort();
  if (seconds > t->slowest) {
    t->slowest = seconds;
    snprintf(t->slowest_name, sizeof t->slowest_name, "%s %.300s (%u instructions)", label,
             m->syms[m->funcs[func].sym].name, a->cfg.n_insts);
  }
  hd_coverage_add(&t->coverage, a);
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
      t->coverage.modules++;
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
  hd_buf out = {0};
  hd_report_coverage(&t->coverage, &out);
  printf("%s\n", out.data ? out.data : "");
  hd_buf_free(&out);
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
