/* Prints which plans work on which workloads; runs random compositions of all levers. */
#include "cli.h"
#include "heddle/suite.h"

typedef struct options {
  cli_input in;
  cli_list plans;
  cli_work work;
  const char *output;
  uint64_t threads, compositions, seed;
  bool json;
} options;

/* Prints what differs to stderr, for that is heddle's fault, and `out`: to stdout or the file. */
static int print(const options *o, bool differ, hd_buf *differences, hd_buf *out) {
  hd_diag d = {0};
  int rc = EXIT_OK;
  fputs(differences->data ? differences->data : "", stderr);
  hd_buf_free(differences);
  if (o->json || o->compositions) {
    rc = cli_print(out);
  } else {
    if (hd_file_write(o->output, out->data, out->len, &d) != HD_OK) rc = cli_fail(&d);
    hd_buf_free(out);
  }
  return rc == EXIT_OK && differ ? EXIT_NO : rc;
}

static int print_levers(const options *o, hd_levers_table *t) {
  hd_diag d = {0};
  hd_buf out = {0}, differences = {0};
  const hd_suite_run run = {.like = cli_request(NULL, &o->in, "tiny"),
                            .threads = (unsigned)o->threads,
                            .progress = cli_progress,
                            .ctx = (void *)"checking workloads"};
  if (!t->n_plans) t->plans = hd_levers_plans(&t->n_plans);
  hd_lever_cell *cells = HD_NEW_N(cli_memory(), t->n_workloads * t->n_plans + 1, hd_lever_cell);
  t->cells = cells;
  hd_work_how how;
  bool whole = false;
  hd_status st = cells ? cli_work_how(&o->work, &how, &d) : hd_nomem(&d);
  if (st == HD_OK) st = hd_suite_levers(&run, t, cells, cli_memory(), &how, &whole, &d);
  if (st == HD_OK && !whole) return cli_work_left(&how);
  if (st == HD_OK) st = (o->json ? hd_levers_json : hd_levers_text)(t, &out, &d);
  if (st == HD_OK) return print(o, hd_levers_differences(t, &differences), &differences, &out);
  hd_buf_free(&out);
  return cli_fail(&d);
}

static int print_compositions(const options *o, const hd_levers_table *t) {
  const hd_compositions_options how = {.names = t->workloads,
                                       .n_names = t->n_workloads,
                                       .kernels_dir = cli_kernels_dir(),
                                       .size = t->size,
                                       .n = o->compositions,
                                       .seed = o->seed,
                                       .threads = (unsigned)o->threads,
                                       .progress = cli_progress,
                                       .ctx = (void *)"compositions"};
  hd_compositions found;
  hd_diag d = {0};
  hd_buf out = {0}, differences = {0};
  if (hd_compositions_run(&how, &found, &d) != HD_OK) return cli_fail(&d);
  const bool differ = hd_compositions_differences(&found, &differences);
  (o->json ? hd_compositions_json
           : hd_compositions_text)(&(hd_compositions_report){&found, how.n_names, how.seed}, &out);
  hd_compositions_free(&found);
  return print(o, differ, &differences, &out);
}

int cmd_levers(int argc, char **argv) {
  options o = {.output = "-", .seed = 1};
  const cli_option table[] = {
      {"plan", 0, CLI_LIST, &o.plans, 0, "P",
       "a column; may be given several times (default: one for each lever)"},
      CLI_INPUT_OPTIONS(&o.in, "the workloads' size (default: tiny)"),
      {"random", 0, CLI_NUMBER, &o.compositions, 100000000, "N",
       "N random compositions of all levers at random sizes around that one instead, each under\nthree "
       "dispatchers: one worker at a time, all at once, and one drawn"},
      CLI_COMMON("seed", &o.seed),
      CLI_COMMON("threads", &o.threads),
      CLI_COMMON_AS("output", &o.output, "write the table, in Markdown, to a file"),
      CLI_COMMON("json", &o.json),
      CLI_WORK_OPTIONS(o.work),
      {0}};
  int n, rc = cli_parse(table, argc, argv, &n);
  if (rc >= 0) return rc;
  if (o.compositions && o.plans.n) return cli_usage("levers: --random draws its plans; --plan names them");
  if (o.compositions && (o.work.shard || o.work.journal || o.work.resume))
    return cli_usage("levers: --random is split by its --seed, not into shards");
  if (o.compositions && (o.in.n_words || o.in.save))
    return cli_usage("levers: --random needs workloads with several sizes; a kernel file has one size");
  hd_diag d = {0};
  char **names;
  size_t n_names;
  if (hd_workload_names(cli_kernels_dir(), argv + 1, (size_t)n, &names, &n_names, &d) != HD_OK)
    return cli_fail(&d);
  hd_levers_table t = {.size = o.in.size ? o.in.size : "tiny",
                       .plans = o.plans.items,
                       .n_plans = o.plans.n,
                       .workloads = (const char *const *)names,
                       .n_workloads = n_names};
  rc = o.compositions ? print_compositions(&o, &t) : print_levers(&o, &t);
  hd_workload_list_free(names, n_names);
  return rc;
}
