#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "heddle/suite.h"

static hd_status parse_plans(const cli_list *given, hd_plan **plans, size_t *n, hd_diag *d) {
  const char *const *texts = hd_overhead_plans(n);
  if (given->n) {
    texts = given->items;
    *n = given->n;
  }
  *plans = calloc(*n, sizeof **plans);
  if (!*plans) return hd_nomem(d);
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < *n; i++) st = hd_plan_parse(texts[i], &(*plans)[i], d);
  return st;
}

int cmd_overhead(int argc, char **argv) {
  cli_list given = {0};
  cli_input in = {0};
  const char *output = "-";
  uint64_t threads = 0;
  bool json = false, any_grid = false;
  const cli_option options[] = {
      {"plan", 0, CLI_LIST, &given, 0, "P",
       "a row; may be given several times (default: one for each lever)"},
      CLI_INPUT_OPTIONS(&in, "the workloads' size (default: tiny)"),
      CLI_COMMON("any-grid", &any_grid),
      CLI_COMMON("threads", &threads),
      CLI_COMMON_AS("output", &output,
                    "write a page, in Markdown, to a file, and keep what it has from \"## Notes\" on "
                    "(default: for\nworkloads that are named a table, else the page)"),
      CLI_COMMON("json", &json),
      {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  hd_plan *plans = NULL;
  char **names = NULL;
  hd_overhead_table t = {.size = in.size ? in.size : "tiny",
                         .command = any_grid ? "heddle overhead --any-grid -o"
                                             : "heddle overhead -o docs/overhead.md"};
  hd_status st = parse_plans(&given, &plans, &t.n_plans, &d);
  t.plans = plans;
  if (st == HD_OK) st = hd_workload_names(cli_kernels_dir(), argv + 1, (size_t)n, &names, &t.n_workloads, &d);
  t.workloads = (const char *const *)names;
  hd_overhead_row *rows = st == HD_OK ? calloc(t.n_workloads * t.n_plans + 1, sizeof *rows) : NULL;
  t.rows = rows;
  if (st == HD_OK && !rows) st = hd_nomem(&d);
  const hd_suite_run run = {.like = cli_request(NULL, &in, "tiny"),
                            .threads = (unsigned)threads,
                            .progress = cli_progress,
                            .ctx = (void *)"measuring workloads"};
  if (st == HD_OK) st = hd_suite_overhead(&run, &t, any_grid, rows, &d);
  if (st == HD_OK && (json || (n && strcmp(output, "-") == 0))) {
    hd_buf out = {0};
    (json ? hd_overhead_json : hd_overhead_text)(&t, &out);
    rc = cli_print(&out);
  } else if (st == HD_OK) {
    hd_buf page = {0};
    st = hd_report_overhead(&t, &page, &d);
    hd_overhead_keep_notes(output, &page);
    if (st == HD_OK) st = hd_file_write(output, page.data, page.len, &d);
    hd_buf_free(&page);
    rc = EXIT_OK;
  }
  if (st != HD_OK) rc = cli_fail(&d);
  free(plans);
  free(rows);
  if (names) hd_workload_list_free(names, t.n_workloads);
  return rc;
}
