/* The cost of looking up a verdict in the store from a launch path: microseconds per verdict, medians over
 * thousands of calls on a store of 10,000 verdicts in the temporary folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/store.h"

enum { VERDICTS = 10000, CALLS = 5000 };

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static hd_verdict verdict(uint32_t i) {
  hd_verdict v = {
      .speedup = 1.1, .low = 1, .high = 1.2, .confidence = 0.99, .before_us = 10, .after_us = 9, .when = i};
  const uint32_t grid[3] = {i + 1, 1, 1}, block[3] = {256, 1, 1};
  hd_verdict_kernel("", 0, "kernel", v.key.kernel);
  hd_verdict_launch(grid, block, 0, NULL, 0, v.key.launch);
  strcpy(v.key.gpu, "GPU");
  strcpy(v.key.driver, "1");
  strcpy(v.plan, "order=band:8");
  return v;
}

static void report(const char *what, double *seconds, size_t n) {
  qsort(seconds, n, sizeof *seconds, compare);
  printf("%-24s %8.2f us median, %8.2f us at 99%%\n", what, seconds[n / 2] * 1e6,
         seconds[n * 99 / 100] * 1e6);
}

int main(void) {
  char folder[] = "/tmp/heddle-bench-XXXXXX", path[64];
  hd_store *s;
  hd_diag d;
  static double put[VERDICTS], hit[CALLS], miss[CALLS], opened[200];
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/v.db", folder);
  if (hd_store_open(path, &s, &d) != HD_OK) return 1;
  for (uint32_t i = 0; i < VERDICTS; i++) {
    hd_verdict v = verdict(i);
    double start = hd_seconds();
    if (hd_store_put(s, &v, &d) != HD_OK) return 1;
    put[i] = hd_seconds() - start;
  }
  for (uint32_t i = 0; i < CALLS; i++) {
    hd_verdict got, v = verdict((uint32_t)(hd_random_at(1, i) % VERDICTS));
    bool found;
    double start = hd_seconds();
    if (hd_store_get(s, &v.key, &got, &found, &d) != HD_OK || !found) return 1;
    hit[i] = hd_seconds() - start;
    v.key.driver[0] = '2';
    start = hd_seconds();
    if (hd_store_get(s, &v.key, &got, &found, &d) != HD_OK || found) return 1;
    miss[i] = hd_seconds() - start;
  }
  for (uint32_t i = 0; i < sizeof opened / sizeof *opened; i++) {
    hd_store *other;
    double start = hd_seconds();
    if (hd_store_open(path, &other, &d) != HD_OK) return 1;
    opened[i] = hd_seconds() - start;
    hd_store_close(other);
  }
  hd_store_close(s);
  report("open and look", opened, sizeof opened / sizeof *opened);
  report("put", put, VERDICTS);
  report("get, there", hit, CALLS);
  report("get, not there", miss, CALLS);
  static const char *const ends[] = {"", "-wal", "-shm"};
  for (size_t i = 0; i < 3; i++) {
    char file[80];
    snprintf(file, sizeof file, "%s%s", path, ends[i]);
    remove(file);
  }
  return rmdir(folder) != 0;
}
