/* cli/bench_verify.h: bench --verify. */
#ifndef HEDDLE_CLI_BENCH_VERIFY_H
#define HEDDLE_CLI_BENCH_VERIFY_H

#include "heddle/bench.h"

typedef struct bench_verify_options {
  const char *device_name;
  const char *size; /* NULL: whichever a verdict was made at */
  hd_bench_results *results;
  hd_store *store;
  hd_device **device;   /* replaced by a new one after a kernel's fault */
  double budget, total; /* seconds for each workload; for all of them; 0: the default; no limit */
  unsigned threads;
  bool resume, json;
} bench_verify_options;

/* Verify the verdicts of these workloads and print the table. Returns the exit code. */
int bench_verify(const bench_verify_options *o, char **names, size_t n);

#endif
