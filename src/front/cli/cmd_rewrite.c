#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "heddle/results.h"

/* Text goes to stderr: stdout may hold the module. */
static int rewrite_file(const hd_rewrite_file_options *o, bool json) {
  hd_rewritten_file r;
  hd_diag d = {0};
  hd_buf out = {0};
  if (hd_rewrite_file(o, &r, &d) != HD_OK) return cli_fail(&d);
  (json ? hd_rewritten_file_json : hd_rewritten_file_text)(&r, &out);
  hd_rewritten_file_free(&r);
  if (json) return cli_print(&out);
  fputs(out.data ? out.data : "", stderr);
  hd_buf_free(&out);
  return EXIT_OK;
}

/* A kernel of which a launch is given, with its arguments. */
static hd_status rewrite_launched(const char *name, const cli_input *in, const hd_rewrite_file_options *o,
                                  hd_buf *how, hd_diag *d) {
  hd_workload *w = NULL;
  hd_status st = cli_open_workload(name, in, NULL, &w, d);
  if (st == HD_OK) st = hd_rewrite_launch(w, o->plan, o->options, o->output, how, d);
  hd_workload_close(w);
  return st;
}

int cmd_rewrite(int argc, char **argv) {
  uint64_t index = UINT64_MAX, sms = 0, registers = 0, sample = 0;
  const char *output = "-", *plan_text = NULL, *gpu_name = NULL;
  cli_input in = {0};
  hd_rewrite_options opt = {0};
  bool all = false, json = false;
  const cli_option options[] = {
      CLI_INPUT_OPTIONS(&in, "of a workload with --plan shape=auto: its size (default: small)"),
      {"plan", 0, CLI_TEXT, &plan_text, 0, "P", "e.g. order=tile:8x4,bind=redirect"},
      {"registers", 0, CLI_NUMBER, &registers, 255, "N",
       "that a thread of the original uses; bind=agents limits the rewritten kernel's"},
      CLI_COMMON("no-hoisting", &opt.no_hoisting),
      CLI_COMMON("assume", &opt.assume),
      {"sms", 0, CLI_NUMBER, &sms, 65536, "N", "clusters, one per SM (default: those of --gpu, else 132)"},
      {"gpu", 0, CLI_TEXT, &gpu_name, 0, "NAME", "take the number of SMs from this GPU"},
      {"all", 0, CLI_FLAG, &all, 0, NULL,
       "all kernels of all modules instead, but for those that are refused; a table of the\nreasons goes to "
       "stderr"},
      {"sample", 0, CLI_NUMBER, &sample, UINT32_MAX, "N",
       "with --all: N of the modules, spread evenly over the file"},
      {"json", 0, CLI_FLAG, &json, 0, NULL, "with --all: print modules and reasons as JSON"},
      CLI_COMMON_AS("output", &output, "write to a file; with --all and several modules an existing folder"),
      {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  if (!plan_text) return cli_usage("rewrite: name a plan with --plan");
  if (all && cli_word(&in, "kernel")) return cli_usage("rewrite: either --all or one kernel with -k");
  if (all && json && strcmp(output, "-") == 0)
    return cli_usage("rewrite: --json needs -o, since stdout holds the module");
  hd_diag d = {0};
  hd_buf how = {0};
  hd_plan plan = {0};
  hd_gpu gpu = {.n_sms = 132};
  hd_status st = hd_plan_parse(plan_text, &plan, &d);
  if (st == HD_OK && gpu_name) st = hd_gpu_load(gpu_name, cli_gpus_dir(), &gpu, &d);
  if (st == HD_OK) st = cli_read_launch("rewrite", &in, &index, opt.grid.g, opt.block, &d);
  opt.grid.known = opt.grid.g[0] > 0;
  opt.grid.n_sms = sms ? (uint32_t)sms : gpu.n_sms;
  opt.registers = (uint32_t)registers;
  hd_rewrite_facts facts = {.unwritten = cli_word(&in, "unwritten"), .plan = &plan};
  const hd_rewrite_file_options o = {.path = cli_kernel_file(argv[1]),
                                     .output = output,
                                     .index = index,
                                     .sample = sample,
                                     .plan = &plan,
                                     .options = &opt,
                                     .prepare = hd_rewrite_complete,
                                     .ctx = &facts};
  const bool launched =
      cli_word(&in, "arg") || (plan.shape.kind == HD_SHAPE_AUTO && !hd_workload_is_file(argv[1]));
  rc = EXIT_OK;
  if (st == HD_OK && all)
    rc = rewrite_file(&o, json);
  else if (st == HD_OK && launched)
    st = rewrite_launched(argv[1], &in, &o, &how, &d);
  else if (st == HD_OK)
    st = hd_rewrite_kernel(&o, cli_word(&in, "kernel"), &how, &d);
  if (st == HD_OK && how.len && strcmp(output, "-") != 0) fputs(how.data, stderr);
  hd_buf_free(&how);
  free(facts.loads);
  return st == HD_OK ? rc : cli_fail(&d);
}
