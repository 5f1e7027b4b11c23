#include "cli.h"

int cmd_report(int argc, char **argv) {
  const char *output = NULL;
  const cli_option options[] = {
      {"output", 'o', CLI_TEXT, &output, 0, "FILE", "the page (default: DIR/index.html)"}, {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  hd_buf page = {0};
  if (!output) output = hd_arena_printf(cli_memory(), "%s/index.html", argv[1]);
  hd_status st = output ? hd_report_folder(argv[1], &page, &d) : hd_nomem(&d);
  if (st == HD_OK) st = hd_file_write(output, page.data, page.len, &d);
  hd_buf_free(&page);
  return st == HD_OK ? EXIT_OK : cli_fail(&d);
}
