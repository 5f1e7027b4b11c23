/* Prints which plans work on which workloads; runs random compositions of all levers. */
#include "cli.h"
#include "heddle/results.h"

typedef struct run {
  hd_levers_table table;
  hd_lever_cell *cells;
  cli_input in;
  unsigned threads;
  bool differ;
} run;

/* A difference is heddle's fault, and named on stderr as well. */
static hd_status fill_cell(run *r, const hd_workload *w, size_t row, size_t plan, hd_diag *d) {
  const hd_levers_table *t = &r->table;
  hd_lever_cell *cell = &r->cells[row * t->n_plans + plan];
  hd_status st = hd_lever_try(w, t->plans[plan], r->threads, cli_memory(), cell, d);
  if (st != HD_OK || cell->answer != HD_LEVER_DIFFERENT) return st;
  fprintf(stderr, "heddle: %s, %s: %s\n", t->workloads[row], t->plans[plan], cell->why);
  r->differ = true;
  return HD_OK;
}

static hd_status fill_row(run *r, size_t row, hd_diag *d) {
  const hd_levers_table *t = &r->table;
  hd_workload *w;
  hd_status st = cli_open_workload(t->workloads[row], &r->in, t->size, &w, d);
  if (st != HD_OK) return st;
  for (size_t i = 0; st == HD_OK && i < t->n_plans; i++) st = fill_cell(r, w, row, i, d);
  hd_workload_close(w);
  return st;
}

static int print_levers(run *r, const char *output, bool json) {
  const hd_levers_table *t = &r->table;
  hd_diag d = {0};
  hd_buf out = {0};
  r->cells = HD_NEW_N(cli_memory(), t->n_workloads * t->n_plans + 1, hd_lever_cell);
  r->table.cells = r->cells;
  hd_status st = r->cells ? HD_OK : hd_nomem(&d);
  for (size_t i = 0; st == HD_OK && i < t->n_workloads; i++) {
    cli_progress((void *)"checking workloads", i, t->n_workloads);
    st = fill_row(r, i, &d);
  }
  cli_progress((void *)"checking workloads", t->n_workloads, t->n_workloads);
  if (st == HD_OK) st = (json ? hd_levers_json : hd_levers_text)(t, &out, &d);
  if (st == HD_OK && !json) st = hd_file_write(output, out.data, out.len, &d);
  int rc = st != HD_OK ? cli_fail(&d) : EXIT_OK;
  if (rc == EXIT_OK && json) return cli_print(&out) ? EXIT_USAGE : r->differ ? EXIT_NO : EXIT_OK;
  hd_buf_free(&out);
  return rc == EXIT_OK && r->differ ? EXIT_NO : rc;
}

static int print_compositions(const hd_compositions_options *o, bool json) {
  hd_compositions found;
  hd_diag d = {0};
  hd_buf out = {0}, differences = {0};
  if (hd_compositions_run(o, &found, &d) != HD_OK) return cli_fail(&d);
  const bool differ = hd_compositions_differences(&found, &differences);
  fputs(differences.data ? differences.data : "", stderr);
  hd_buf_free(&differences);
  (json ? hd_compositions_json : hd_compositions_text)(&(hd_compositions_report){&found, o->n_names, o->seed},
                                                       &out);
  hd_compositions_free(&found);
  int rc = cli_print(&out);
  return rc == EXIT_OK && differ ? EXIT_NO : rc;
}

int cmd_levers(int argc, char **argv) {
  cli_list plans = {0};
  cli_input in = {0};
  const char *output = "-";
  uint64_t threads = 0, compositions = 0, seed = 1;
  bool json = false;
  const cli_option options[] = {
      {"plan", 0, CLI_LIST, &plans, 0, "P",
       "a column; may be given several times (default: one for each lever)"},
      CLI_INPUT_OPTIONS(in, "the workloads' size (default: tiny)"),
      {"random", 0, CLI_NUMBER, &compositions, 100000000, "N",
       "N random compositions of all levers at random sizes around that one instead, each under\nthree "
       "dispatchers: one worker at a time, all at once, and one drawn"},
      {"seed", 0, CLI_NUMBER, &seed, 0, "S", "of what is drawn (default: 1)"},
      CLI_THREADS_OPTION(threads),
      {"output", 'o', CLI_TEXT, &output, 0, "OUT", "write the table, in Markdown, to a file"},
      CLI_JSON_OPTION(json),
      {0}};
  int n, rc = cli_parse(cli_find("levers"), options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  char **names = NULL;
  size_t n_names = 0;
  const char *size = in.size ? in.size : "tiny";
  if (compositions && plans.n) {
    rc = cli_usage("levers: --random draws its plans; --plan names them");
  } else if (hd_workload_names(cli_kernels_dir(), argv + 1, (size_t)n, &names, &n_names, &d) != HD_OK) {
    rc = cli_fail(&d);
  } else if (compositions) {
    const hd_compositions_options o = {.names = (const char *const *)names,
                                       .n_names = n_names,
                                       .kernels_dir = cli_kernels_dir(),
                                       .size = size,
                                       .n = compositions,
                                       .seed = seed,
                                       .threads = (unsigned)threads,
                                       .progress = cli_progress,
                                       .ctx = (void *)"compositions"};
    rc = print_compositions(&o, json);
  } else {
    run r = {.threads = (unsigned)threads,
             .in = in,
             .table = {.size = size,
                       .plans = plans.items,
                       .n_plans = plans.n,
                       .workloads = (const char *const *)names,
                       .n_workloads = n_names}};
    if (!plans.n) r.table.plans = hd_levers_plans(&r.table.n_plans);
    rc = print_levers(&r, output, json);
  }
  hd_workload_list_free(names, n_names);
  return rc;
}
