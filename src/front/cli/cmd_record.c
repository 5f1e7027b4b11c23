/* A CUDA program's launches as workloads. */
#include "cli.h"
#include "heddle/steer.h"

int cmd_record(int argc, char **argv) {
  hd_steer_options o = {.plan = "baseline"};
  const cli_option options[] = {
      {"output", 'o', CLI_TEXT, &o.record, 0, "FOLDER", "where they go, each a folder; made if need be"},
      {"kernel", 'k', CLI_TEXT, &o.kernel, 0, "PATTERN",
       "only kernels of this name or pattern: scale, 'scale*'"},
      {"launch", 0, CLI_TEXT, &o.launch, 0, "N",
       "launch number N of each kernel (default: one of each shape)"},
      {"most", 0, CLI_TEXT, &o.most, 0, "N", "keep those that took most time (default: 10)"},
      {"worth", 0, CLI_TEXT, &o.worth, 0, "S", NULL},
      {"json", 0, CLI_TEXT, &o.report, 0, "FILE", "the report as JSON in FILE"},
      {"quiet", 'q', CLI_FLAG, &o.quiet, 0, NULL, "no report"},
      CLI_COMMON("library", &o.folder),
      {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  if (!o.record) return cli_usage("record: which folder? -o FOLDER");
  hd_diag d = {0};
  argv[n + 1] = NULL;
  hd_steer_exec(&o, argv + 1, NULL, &d); /* no store is read under a plan */
  return cli_fail(&d);
}
