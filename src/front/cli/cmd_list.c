/* The workloads that come with heddle. */
#include "cli.h"
#include "heddle/results.h"

int cmd_list(int argc, char **argv) {
  bool json = false, only_names = false;
  const cli_option options[] = {{"names", 0, CLI_FLAG, &only_names, 0, NULL, "their names only, one a line"},
                                CLI_COMMON("json", &json),
                                {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  hd_buf out = {0};
  hd_workload **workloads = NULL;
  char **names;
  size_t count;
  const hd_status st = only_names ? hd_workload_list(cli_kernels_dir(), &names, &count, &d)
                                  : hd_workload_open_all(cli_kernels_dir(), &workloads, &names, &count, &d);
  if (st != HD_OK) return cli_fail(&d);
  for (size_t i = 0; only_names && i < count; i++) hd_buf_printf(&out, "%s\n", names[i]);
  if (!only_names)
    (json ? hd_workloads_json : hd_workloads_text)((const hd_workload *const *)workloads,
                                                   (const char *const *)names, count, &out);
  hd_workload_close_all(workloads, names, count);
  return cli_print(&out);
}
