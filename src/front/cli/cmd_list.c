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
  char **names;
  size_t count, opened = 0;
  if (hd_workload_list(cli_kernels_dir(), &names, &count, &d) != HD_OK) return cli_fail(&d);
  if (only_names) {
    hd_buf out = {0};
    for (size_t i = 0; i < count; i++) hd_buf_printf(&out, "%s\n", names[i]);
    hd_workload_list_free(names, count);
    return cli_print(&out);
  }
  hd_workload **workloads = HD_NEW_N(cli_memory(), count + 1, hd_workload *);
  hd_status st = workloads ? HD_OK : hd_nomem(&d);
  for (size_t i = 0; st == HD_OK && i < count; i++) {
    const char *path = hd_arena_printf(cli_memory(), "%s/%s", cli_kernels_dir(), names[i]);
    st = path ? hd_workload_open(path, NULL, NULL, &workloads[i], &d) : hd_nomem(&d);
    opened += st == HD_OK;
  }
  if (st == HD_OK) {
    hd_buf out = {0};
    (json ? hd_workloads_json : hd_workloads_text)((const hd_workload *const *)workloads,
                                                   (const char *const *)names, count, &out);
    rc = cli_print(&out);
  } else {
    rc = cli_fail(&d);
  }
  for (size_t i = 0; i < opened; i++) hd_workload_close(workloads[i]);
  hd_workload_list_free(names, count);
  return rc;
}
