/* A CUDA program on a machine without a GPU. */
#include "cli.h"
#include "heddle/program.h"

int cmd_emu(int argc, char **argv) {
  hd_program_options o = {.gpu_dir = cli_gpus_dir(), .devices = 1};
  const cli_option options[] = {
      CLI_COMMON_AS("gpu", &o.gpu, "the GPU that the program sees (default: h100)"),
      {"devices", 0, CLI_NUMBER, &o.devices, 64, "N", "how many of them (default: 1)"},
      {"memory", 0, CLI_TEXT, &o.memory, 0, "SIZE", "memory of each: 40G (default: 80G)"},
      {"check", 0, CLI_MAYBE, &o.checks, 0, "[=LIST]",
       "look for init, race, leak, streams; or for all of them"},
      CLI_COMMON_AS("seed", &o.seed, "let streams run late, in an order of this seed"),
      CLI_COMMON("threads", &o.threads),
      {"analyze", 0, CLI_FLAG, &o.analyze, 0, NULL, "report each kernel's locality: its category and why"},
      {"work", 0, CLI_NUMBER, &o.work, 0, "N",
       "end launches with CUDA_ERROR_LAUNCH_TIMEOUT once N thread instructions have run"},
      {"error-exitcode", 0, CLI_NUMBER, &o.error_code, 255, "N", "exit with N where anything is found"},
      {"kernel", 'k', CLI_TEXT, &o.kernel, 0, "NAME",
       "only what is found in kernels of this name or pattern"},
      {"log-file", 0, CLI_TEXT, &o.log, 0, "FILE", "heddle's lines into FILE, not to standard error"},
      {"findings", 0, CLI_TEXT, &o.findings, 0, "FILE",
       "what is found, alone: a line of JSON each, or SARIF into a FILE.sarif"},
      {"json", 0, CLI_TEXT, &o.report, 0, "FILE", "the report as JSON in FILE"},
      {"quiet", 'q', CLI_FLAG, &o.quiet, 0, NULL, "report findings only"},
      CLI_COMMON("library", &o.folder),
      {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  argv[n + 1] = NULL;
  hd_program_exec(&o, argv + 1, &d);
  return cli_fail(&d);
}
