#include "model_common.h"

int cmd_sweep(int argc, char **argv) {
  model_options o = {0};
  const char *output = "-", *html = NULL;
  const cli_option options[] = {
      {"plans", 0, CLI_TEXT, &o.plans, 0, "LIST",
       "plans separated by spaces, or @FILE with one a line (default: all candidates)"},
      {"html", 0, CLI_TEXT, &html, 0, "OUT", "also draw the landscape"},
      CLI_COMMON_AS("output", &output, "write the CSV to a file"),
      REPLAY_OPTIONS(o),
      {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  model_session s = {0};
  hd_buf csv = {0}, page = {0};
  hd_status st = model_open_workload(&s, argv[1], &o, &d);
  if (st == HD_OK) st = model_open_study(&s, &o, 96, &d);
  if (st == HD_OK) st = model_sweep(&s, &o, &d);
  if (st == HD_OK) {
    hd_sweep_csv(s.rows, s.n_rows, &csv);
    st = csv.failed ? hd_nomem(&d) : hd_file_write(output, csv.data, csv.len, &d);
  }
  if (st == HD_OK && html) {
    hd_report r = {.workload = s.workload,
                   .gpu = &s.gpu,
                   .dispatch = hd_dispatch_name(s.dispatch),
                   .rows = s.rows,
                   .n_rows = s.n_rows,
                   .part = hd_study_part(s.study),
                   .best = hd_sweep_best(s.rows, s.n_rows),
                   .seconds = {.trace = hd_study_seconds(s.study), .replay = s.sweep_seconds}};
    hd_report_html(&r, &page);
    st = page.failed ? hd_nomem(&d) : hd_file_write(html, page.data, page.len, &d);
  }
  hd_buf_free(&csv);
  hd_buf_free(&page);
  rc = st == HD_OK ? EXIT_OK : cli_fail(&d);
  model_close(&s);
  return rc;
}
