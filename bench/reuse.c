/* Time and memory to find which CTAs share data, for launches of many CTAs that gather from communities. The
 * communities are scattered over the grid. Traces are synthetic; figures are medians of several runs, and the
 * process' peak memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "heddle/sharing.h"

enum {
  RUNS = 3,
  COMMUNITY = 32, /* CTAs */
  GATHERS = 64,   /* warp accesses per CTA, of 512 bytes each */
  RECORDS = 128,  /* of 512 bytes, per community */
  OUTSIDE = 5,    /* one gather in so many goes anywhere */
};

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *seconds) {
  qsort(seconds, RUNS, sizeof *seconds, ascending);
  return seconds[RUNS / 2];
}

static double peak_megabytes(void) {
  struct rusage r;
  getrusage(RUSAGE_SELF, &r);
  return (double)r.ru_maxrss / 1024;
}

static void check(hd_status st, const hd_diag *d) {
  if (st == HD_OK) return;
  fprintf(stderr, "%s\n", d->message);
  exit(1);
}

/* Multiplying by a number prime to n strews neighbours over the grid. */
static uint64_t scattered(uint64_t task, uint64_t n) { return task * 7919 % n; }

static hd_trace *make_trace(uint32_t tasks) {
  const uint32_t grid[3] = {tasks, 1, 1}, block[3] = {32, 1, 1};
  hd_diag d = {0};
  hd_trace *t;
  check(hd_trace_create(grid, block, 1, 0, &t, &d), &d);
  const hd_emu_hooks *h = hd_trace_hooks(t);
  uint64_t records = (uint64_t)tasks / COMMUNITY * RECORDS;
  for (uint64_t task = 0; task < tasks; task++) {
    uint64_t community = scattered(task, tasks) / COMMUNITY;
    h->cta_start(h->ctx, 0, task, 0);
    for (uint32_t i = 0; i < GATHERS; i++) {
      uint64_t random = hd_random_at(task, i), addr[32];
      uint64_t record = i % OUTSIDE ? community * RECORDS + random % RECORDS : random % records;
      for (unsigned k = 0; k < 32; k++) addr[k] = record * 512 + k * 16;
      hd_access a = {.task = task,
                     .inst = 1,
                     .kind = HD_ACCESS_LOAD,
                     .cache = HD_CACHE_L1,
                     .space = HD_SPACE_GLOBAL,
                     .bytes = 16,
                     .mask = UINT32_MAX,
                     .addr = addr};
      h->access(h->ctx, 0, &a);
    }
    h->cta_end(h->ctx, 0, task, 1000, 32000);
  }
  check(hd_trace_finish(t, &d), &d);
  return t;
}

static void measure_facts(const hd_trace *t, uint32_t tasks) {
  const uint32_t grid[3] = {tasks, 1, 1};
  double reuse[RUNS], sharing[RUNS], pattern[RUNS];
  hd_diag d = {0};
  for (unsigned r = 0; r < RUNS; r++) {
    hd_reuse a;
    hd_sharing b;
    hd_pattern c;
    double start = hd_seconds();
    check(hd_reuse_measure(t, NULL, 0, NULL, &a, &d), &d);
    reuse[r] = hd_seconds() - start;
    start = hd_seconds();
    check(hd_sharing_measure(t, grid, NULL, 0, NULL, &b, &d), &d);
    sharing[r] = hd_seconds() - start;
    start = hd_seconds();
    check(hd_pattern_measure(t, grid, NULL, 0, 0, &c, &d), &d);
    pattern[r] = hd_seconds() - start;
    hd_reuse_free(&a);
    hd_sharing_free(&b);
    hd_pattern_free(&c);
  }
  printf("  facts: reuse %.2f s, sharing %.2f s, patterns %.2f s\n", median(reuse), median(sharing),
         median(pattern));
}

static void measure_affinity(const hd_trace *t) {
  double build[RUNS], walk[RUNS];
  uint64_t edges = 0;
  double sampled = 1;
  hd_diag d = {0};
  for (unsigned r = 0; r < RUNS; r++) {
    hd_affinity a;
    hd_table order;
    double start = hd_seconds();
    check(hd_affinity_build(t, NULL, &a, &d), &d);
    build[r] = hd_seconds() - start;
    edges = a.first[a.n] / 2;
    sampled = a.sampled;
    start = hd_seconds();
    check(hd_affinity_order(&a, 0, &order, &d), &d);
    walk[r] = hd_seconds() - start;
    hd_table_free(&order);
    hd_affinity_free(&a);
  }
  printf("  affinity: %" PRIu64 " edges (blocks followed: %.0f%%) in %.2f s, order %.2f s\n", edges,
         100 * sampled, median(build), median(walk));
}

int main(void) {
  static const uint32_t sizes[] = {32768, 102400};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    hd_trace *t = make_trace(sizes[i]);
    printf("%u CTAs, %u accesses each; the trace takes %.0f MB, making it %.0f MB\n", sizes[i], GATHERS,
           (double)hd_trace_get_info(t).memory / 1e6, peak_megabytes());
    measure_affinity(t);
    printf("  peak memory %.0f MB\n", peak_megabytes());
    measure_facts(t, sizes[i]);
    hd_trace_destroy(t);
  }
  return 0;
}
