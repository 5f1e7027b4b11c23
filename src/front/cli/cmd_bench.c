/* Many workloads tuned on a device: the papers' tables there; or their verdicts measured once more. */
#include <string.h>

#include "cli.h"
#include "heddle/suite.h"

static const double least = 0.99; /* of a verdict that still holds */

typedef struct bench {
  hd_suite_options o;
  hd_work_how how;
  const char *device_name, *store_path;
  uint64_t budget, total, threads;
  bool verify, no_advice, json, plot;
  hd_device *device;
  hd_store *store;
  hd_gpu advisor;
  hd_bench_results r;
} bench;

static void say(void *ctx, const char *line) {
  cli_progress_end();
  fprintf(stderr, "%s\n", line);
}

/* A pool's worker leaves the folder to the process that has the pool. */
static hd_status prepare(bench *b, int argc, hd_diag *d) {
  const hd_bench_file file = b->verify ? HD_BENCH_VERIFIED : HD_BENCH_RESULTS;
  const bool keeps = !b->how.stream;
  hd_status st = cli_open_device(b->device_name, (unsigned)b->threads, &b->device, d);
  if (st != HD_OK) return st;
  if ((st = hd_device_need_times(b->device, d)) != HD_OK) return st;
  if (keeps && (st = hd_bench_prepare(b->r.folder, file, b->o.resume, d)) != HD_OK) return st;
  if (!b->no_advice && cli_advisor(b->device, &b->advisor)) b->o.advisor = &b->advisor;
  hd_bench_describe(b->device, HEDDLE_VERSION, &b->r.place);
  if (strcmp(b->store_path ? b->store_path : "", "none") != 0)
    st = hd_store_open(b->store_path, &b->store, d);
  b->o.store = b->store;
  if (st == HD_OK && b->verify && !b->store)
    return hd_fail(d, HD_ERR_USAGE, "bench: --verify needs a store of verdicts");
  if (st == HD_OK && keeps) st = hd_bench_record_command(b->r.folder, argc, cli_words, d);
  return st == HD_OK && keeps && b->o.resume ? hd_bench_read(&b->r, file, d) : st;
}

static hd_status run(bench *b, char **names, size_t n, int *rc, hd_diag *d) {
  hd_buf out = {0};
  bool whole;
  hd_status st = b->verify ? hd_suite_verify(&b->device, names, n, least, &b->o, &b->r, &whole, d)
                           : hd_suite_tune(&b->device, names, n, &b->o, &b->r, &whole, d);
  if (st != HD_OK || !whole) {
    *rc = st == HD_OK ? cli_work_left(&b->how) : EXIT_OK;
    return st;
  }
  if (b->verify)
    (b->json ? hd_verify_json : hd_verify_results_text)(&b->r, least, &out);
  else if (b->json)
    hd_bench_json(&b->r, &out);
  else if (b->plot)
    hd_bench_plot(b->r.rows.data, b->r.rows.n, &out);
  else
    hd_bench_text(&b->r.place, b->r.rows.data, b->r.rows.n, &out);
  *rc = cli_print(&out);
  if (*rc == EXIT_OK && b->verify && hd_verify_count_bad(b->r.verified.data, b->r.verified.n, least))
    *rc = EXIT_NO;
  return HD_OK;
}

int cmd_bench(int argc, char **argv) {
  bench b = {.o = {.kernels_dir = cli_kernels_dir(), .gpus_dir = cli_gpus_dir(), .say = say, .how = &b.how},
             .device_name = "cuda",
             .r.folder = "heddle-bench"};
  cli_work work = {0};
  const cli_option table[] = {
      CLI_COMMON_AS("device", &b.device_name,
                    "cuda:N or model:NAME (default: cuda, the first GPU; of MPI's ranks, each its own)"),
      CLI_COMMON_AS("size", &b.o.size, "the workloads' size (default: gpu; on models small)"),
      CLI_COMMON("budget", &b.budget),
      {"total", 0, CLI_NUMBER, &b.total, 86400 * 7, "S",
       "begin no further workload after so many seconds (default: no limit)"},
      {"resume", 0, CLI_FLAG, &b.o.resume, 0, NULL, "go on where an earlier run in the same folder ended"},
      {"verify", 0, CLI_FLAG, &b.verify, 0, NULL,
       "tune nothing: measure every verdict for this device once more, at the size it was\ntuned at, into "
       "verify.jsonl and verify.txt; nothing is dropped"},
      CLI_COMMON("shard", &work.shard),
      CLI_COMMON("journal", &work.journal),
      CLI_COMMON("mixed", &b.o.mixed),
      CLI_COMMON("once", &b.o.once),
      CLI_COMMON("store", &b.store_path),
      CLI_COMMON("no-advice", &b.no_advice),
      CLI_COMMON("no-counters", &b.o.no_counters),
      CLI_COMMON_AS("shared", &b.o.shared, "as for tune"),
      CLI_COMMON("threads", &b.threads),
      {"output", 'o', CLI_TEXT, &b.r.folder, 0, "DIR",
       "where results.jsonl, table.txt, report.html and commands.txt go\n(default: heddle-bench)"},
      CLI_COMMON("plot", &b.plot),
      CLI_COMMON("json", &b.json),
      {0}};
  int n, rc = cli_parse(table, argc, argv, &n);
  if (rc >= 0) return rc;
  b.o.budget = (double)b.budget;
  b.o.total = (double)b.total;
  b.o.threads = (unsigned)b.threads;
  b.o.progress = cli_stage;
  hd_diag d = {0};
  char **names = NULL;
  size_t count = 0;
  work.resume = b.o.resume && (work.shard || work.journal);
  hd_status st = cli_work_how(&work, &b.how, &d);
  if (st == HD_OK) st = prepare(&b, argc, &d);
  if (st == HD_OK) st = hd_workload_names(cli_kernels_dir(), argv + 1, (size_t)n, &names, &count, &d);
  if (st == HD_OK) st = run(&b, names, count, &rc, &d);
  if (names) hd_workload_list_free(names, count);
  hd_bench_results_free(&b.r);
  hd_store_close(b.store);
  hd_device_close(b.device);
  return st == HD_OK ? rc : cli_fail(&d);
}
