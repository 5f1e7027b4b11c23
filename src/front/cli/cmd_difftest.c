/* Random PTX programs on the emulator and on another device. */
#include "cli.h"
#include "heddle/results.h"

int cmd_difftest(int argc, char **argv) {
  hd_difftest_options o = {.device = "cuda", .seed = 1, .programs = 1000, .progress = cli_progress};
  uint64_t sm = 0, threads = 0, reports = 0;
  bool json = false, whole;
  cli_work work = {0};
  hd_work_how how;
  const cli_option options[] = {
      {"device", 0, CLI_TEXT, &o.device, 0, "D",
       "the other side: cuda:N, or an instruction set of the emulator's own: emu:portable,\nemu:avx2, "
       "emu:avx512 (default: cuda, the first GPU; of MPI's ranks, each its own)"},
      {"programs", 0, CLI_NUMBER, &o.programs, UINT32_MAX, "N", "how many (default: 1000)"},
      CLI_COMMON_AS("seed", &o.seed, "of all programs (default: 1)"),
      {"first", 0, CLI_NUMBER, &o.first, UINT64_MAX / 2, "N",
       "number of the first: one that differs is run again by its number (default: 0)"},
      {"op", 0, CLI_TEXT, &o.select.pattern, 0, "PATTERN",
       "only instructions whose dotted word matches, e.g. 'cvt.*.f16'"},
      {"sm", 0, CLI_NUMBER, &sm, 999, "N",
       "architecture that programs are written for (default: the device's)"},
      {"reports", 0, CLI_NUMBER, &reports, 100000, "N", "differences to reduce and print (default: 20)"},
      {"threads", 0, CLI_NUMBER, &threads, 1024, "N",
       "host threads, each with a process for a GPU of its own (default: all)"},
      CLI_WORK_OPTIONS(work),
      CLI_COMMON("json", &json),
      {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  o.select.sm = (unsigned)sm;
  o.threads = (unsigned)threads;
  o.max_reports = (uint32_t)reports;
  o.devices.gpu_dir = cli_gpus_dir();
  o.ctx = "difftest";
  hd_difftest_result r;
  hd_diag d = {0};
  hd_status st = cli_work_how(&work, &how, &d);
  if (st == HD_OK) st = hd_difftest_run(&o, &how, &whole, &r, &d);
  if (st != HD_OK) return cli_fail(&d);
  if (!whole) return cli_work_left(&how);
  hd_buf out = {0};
  (json ? hd_difftest_json : hd_difftest_text)(&o, &r, &out);
  rc = cli_print(&out);
  if (rc == EXIT_OK && r.tally.different) rc = EXIT_NO;
  hd_difftest_result_free(&r);
  return rc;
}
