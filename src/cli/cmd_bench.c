/* Many workloads tuned on a device: the papers' tables there. */
#include <string.h>

#include "bench_verify.h"
#include "heddle/bench.h"
#include "tuning.h"

typedef struct bench {
  const char *device_name, *size, *store_path;
  uint64_t budget, total, threads;
  bool resume, verify, no_advice, no_counters, shared, json;
  hd_device *device;
  hd_store *store;
  hd_gpu advisor;
  bool has_advisor;
  hd_bench_results r;
} bench;

/* ---- Workloads ---------------------------------------------------------------------------------- */

static const char *size_of(const bench *b) { return b->size ? b->size : tuning_size(b->device); }

/* The workload has a row that did not fail; a failed one is tried again. */
static bool is_done(const bench *b, const char *name) {
  const hd_bench_row *row = hd_bench_find(&b->r, name, size_of(b));
  return row && !row->failed[0];
}

static hd_status tune_workload(bench *b, const char *name, hd_bench_row *row, hd_diag *d) {
  hd_workload *w;
  hd_tuning t;
  hd_status st = hd_workload_open(name, cli_kernels_dir(), size_of(b), &w, d);
  if (st != HD_OK) return st;
  hd_tune_options o = {.run = {.threads = (unsigned)b->threads},
                       .budget = (double)b->budget,
                       .no_counters = b->no_counters,
                       .shared = b->shared,
                       .each_lever = true,
                       .advisor = b->has_advisor ? &b->advisor : NULL,
                       .progress = tuning_progress,
                       .ctx = (void *)name};
  st = hd_tune(b->device, w, &o, &t, d);
  if (st == HD_OK) {
    hd_bench_fill(w, &t, &b->r.place, row);
    if (b->store) st = hd_tuning_keep(b->store, b->device, w, &o, &t, d);
    hd_tuning_free(&t);
  }
  hd_workload_close(w);
  return st;
}

/* A kernel's fault takes the device's context with it: the next workload gets a new one. */
static hd_status reopen(bench *b, hd_diag *d) {
  hd_device_close(b->device);
  b->device = NULL;
  return cli_open_device(b->device_name, (unsigned)b->threads, &b->device, d);
}

static hd_status bench_workload(bench *b, const char *name, size_t i, size_t n, hd_diag *d) {
  hd_bench_row row = {0};
  hd_diag e = {0};
  hd_status st = tune_workload(b, name, &row, &e);
  tuning_progress_end();
  if (st != HD_OK) {
    memset(&row, 0, sizeof row);
    snprintf(row.size, sizeof row.size, "%.31s", size_of(b));
    hd_diag_line(&e, row.failed, sizeof row.failed);
    if ((st = reopen(b, d)) != HD_OK) return st;
  }
  snprintf(row.workload, sizeof row.workload, "%.95s", name);
  if (row.failed[0])
    fprintf(stderr, "[%zu/%zu] %s: %s\n", i, n, name, row.failed);
  else
    fprintf(stderr, "[%zu/%zu] %s: %.3fx, %s, %.1f s\n", i, n, name, row.speedup, row.plan, row.seconds);
  return hd_bench_add(&b->r, &row, d);
}

static hd_status run(bench *b, char **names, size_t n, hd_diag *d) {
  double start = hd_seconds();
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    if (b->resume && is_done(b, names[i])) continue;
    if (b->total && hd_seconds() - start > (double)b->total) {
      fprintf(stderr, "heddle: %zu of %zu workloads are left for --resume\n", n - i, n);
      break;
    }
    st = bench_workload(b, names[i], i + 1, n, d);
  }
  return st == HD_OK ? hd_bench_draw(&b->r, d) : st;
}

/* ---- The command ------------------------------------------------------------------------------------ */

static hd_status prepare(bench *b, hd_diag *d) {
  hd_status st =
      hd_bench_prepare(b->r.folder, b->verify ? HD_BENCH_VERIFIED : HD_BENCH_RESULTS, b->resume, d);
  if (st == HD_OK) st = cli_open_device(b->device_name, (unsigned)b->threads, &b->device, d);
  if (st != HD_OK) return st;
  if (!hd_device_get_info(b->device)->has_times)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "device %s measures no times", b->device_name);
  if (!b->no_advice) b->has_advisor = tuning_advisor(b->device, &b->advisor);
  hd_bench_describe(b->device, HEDDLE_VERSION, &b->r.place);
  if (strcmp(b->store_path ? b->store_path : "", "none") != 0)
    st = hd_store_open(b->store_path, &b->store, d);
  return st == HD_OK && b->resume ? hd_bench_read(&b->r, b->verify ? HD_BENCH_VERIFIED : HD_BENCH_RESULTS, d)
                                  : st;
}

static int print(const bench *b) {
  hd_buf out = {0};
  if (b->json)
    hd_bench_json(&b->r, &out);
  else
    hd_bench_text(&b->r.place, b->r.rows.data, b->r.rows.n, &out);
  return cli_print(&out);
}

static int verify(bench *b, char **names, size_t n) {
  bench_verify_options o = {.device_name = b->device_name,
                            .size = b->size,
                            .results = &b->r,
                            .store = b->store,
                            .device = &b->device,
                            .budget = (double)b->budget,
                            .total = (double)b->total,
                            .threads = (unsigned)b->threads,
                            .resume = b->resume,
                            .json = b->json};
  return bench_verify(&o, names, n);
}

static int close_bench(bench *b, int rc) {
  hd_bench_results_free(&b->r);
  hd_store_close(b->store);
  hd_device_close(b->device);
  return rc;
}

int cmd_bench(int argc, char **argv) {
  bench b = {.device_name = "cuda:0", .r.folder = "heddle-bench"};
  const cli_option table[] = {
      {"device", 0, CLI_TEXT, &b.device_name, 0, "D", "cuda:N or model:NAME (default: cuda:0)"},
      {"size", 0, CLI_TEXT, &b.size, 0, "NAME", "the workloads' size (default: gpu; on models small)"},
      {"budget", 0, CLI_NUMBER, &b.budget, 86400, "S",
       "seconds for each workload, about (default: 6, and up to 12 where runs take long)"},
      {"total", 0, CLI_NUMBER, &b.total, 86400 * 7, "S",
       "begin no further workload after so many seconds (default: no limit)"},
      {"resume", 0, CLI_FLAG, &b.resume, 0, NULL, "go on where an earlier run in the same folder ended"},
      {"verify", 0, CLI_FLAG, &b.verify, 0, NULL,
       "tune nothing: measure every verdict for this device once more, at the size it was\ntuned at, into "
       "verify.jsonl and verify.txt; nothing is dropped"},
      {"store", 0, CLI_TEXT, &b.store_path, 0, "FILE",
       "keep the verdicts there (default: heddle's store); none: nowhere"},
      {"no-advice", 0, CLI_FLAG, &b.no_advice, 0, NULL,
       "do not ask the analysis of a small size what to try first"},
      {"no-counters", 0, CLI_FLAG, &b.no_counters, 0, NULL, "times only"},
      {"shared", 0, CLI_FLAG, &b.shared, 0, NULL, "as for tune"},
      CLI_THREADS_OPTION(b.threads),
      {"output", 'o', CLI_TEXT, &b.r.folder, 0, "DIR",
       "where results.jsonl, table.txt, report.html and commands.txt go\n(default: heddle-bench)"},
      CLI_JSON_OPTION(b.json),
      {0}};
  /* Parsing moves the words about. */
  char **words = HD_NEW_N(cli_memory(), (size_t)argc + 1, char *);
  if (!words) return cli_usage("out of memory");
  memcpy(words, argv, (size_t)argc * sizeof *words);
  int n, rc = cli_parse(cli_find("bench"), table, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  char **names = argv + 1, **all = NULL;
  size_t count = (size_t)n;
  hd_status st = prepare(&b, &d);
  if (st == HD_OK && !n) {
    st = hd_workload_list(cli_kernels_dir(), &all, &count, &d);
    names = all;
  }
  if (st == HD_OK) st = hd_bench_record_command(b.r.folder, argc, words, &d);
  if (st == HD_OK && b.verify)
    rc = verify(&b, names, count);
  else if (st == HD_OK && (st = run(&b, names, count, &d)) == HD_OK)
    rc = print(&b);
  if (all) hd_workload_list_free(all, count);
  return close_bench(&b, st == HD_OK ? rc : cli_fail(&d));
}
