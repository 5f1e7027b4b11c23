#include "cli.h"
#include "heddle/plan.h"

int cmd_header(int argc, char **argv) {
  const char *output = "-";
  const cli_option options[] = {CLI_COMMON("output", &output), {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  hd_buf text = {0};
  hd_status st = hd_plan_header(&text, &d);
  if (st == HD_OK) st = hd_file_write(output, text.data, text.len, &d);
  hd_buf_free(&text);
  return st == HD_OK ? EXIT_OK : cli_fail(&d);
}
