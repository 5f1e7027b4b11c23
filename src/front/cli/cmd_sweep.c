#include "model_common.h"

static void note_unsure(const model_session *s) {
  hd_buf line = {0};
  hd_sweep_unsure(s->rows, s->n_rows, &line);
  if (line.len && !line.failed) fprintf(stderr, "heddle: %s; --exact replays all\n", line.data);
  hd_buf_free(&line);
}

int cmd_sweep(int argc, char **argv) {
  model_options o = {0};
  cli_work work = {0};
  bool plot = false, json = false;
  const char *output = "-", *html = NULL;
  const cli_option options[] = {
      {"plans", 0, CLI_LIST, &o.plans, 0, "LIST",
       "plans separated by spaces, or @FILE with one a line (default: all candidates)"},
      {"html", 0, CLI_TEXT, &html, 0, "OUT", "also draw the landscape"},
      CLI_COMMON_AS("output", &output, "write the CSV to a file"),
      {"free-mapping", 0, CLI_FLAG, &o.free_mapping, 0, NULL,
       "order and binding cost no instructions, as if the GPU's own CTA scheduler did them (MAP 2)"},
      CLI_COMMON("plot", &plot),
      CLI_COMMON_AS("json", &json, "write JSON in place of CSV"),
      REPLAY_OPTIONS(o),
      CLI_WORK_OPTIONS(work),
      {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  model_session s = {0};
  hd_buf csv = {0}, page = {0};
  hd_work_how how;
  bool whole = false;
  hd_status st = cli_work_how(&work, &how, &d);
  if (!how.journal && !how.n_parts) cli_catch_interrupts();
  if (st == HD_OK) st = model_open_workload(&s, argv[1], &o, &d);
  if (st == HD_OK) st = model_sweep(&s, &o, &how, &whole, &d);
  if (st == HD_OK && whole) {
    (plot ? hd_sweep_plot : json ? hd_sweep_json : hd_sweep_csv)(s.rows, s.n_rows, &csv);
    st = csv.failed ? hd_nomem(&d) : hd_file_write(output, csv.data, csv.len, &d);
    note_unsure(&s);
  }
  if (st == HD_OK && whole && html) {
    hd_report r = {.workload = s.workload,
                   .gpu = &s.gpu,
                   .dispatch = hd_dispatch_name(s.dispatch),
                   .rows = s.rows,
                   .n_rows = s.n_rows,
                   .part = s.part,
                   .lack_ends = hd_study_leaves_ends(s.study),
                   .best = hd_sweep_best(s.rows, s.n_rows),
                   .seconds = {.trace = s.study ? hd_study_seconds(s.study) : 0, .replay = s.sweep_seconds}};
    hd_report_html(&r, &page);
    st = page.failed ? hd_nomem(&d) : hd_file_write(html, page.data, page.len, &d);
  }
  hd_buf_free(&csv);
  hd_buf_free(&page);
  rc = st != HD_OK         ? cli_fail(&d)
       : !whole            ? cli_work_left(&how)
       : cli_stopped(NULL) ? EXIT_INTERRUPTED
                           : EXIT_OK;
  model_close(&s);
  return rc;
}
