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

/* Loads that nothing writes, by the caller's word. */
typedef struct word {
  const char *params;
  uint32_t *loads; /* malloc'd */
} word;

static hd_status take_word(void *ctx, const hd_ptx_module *m, uint32_t func, hd_rewrite_options *o,
                           hd_diag *d) {
  word *w = ctx;
  hd_status st = hd_unwritten_by_word(m, func, w->params, &w->loads, &o->n_unwritten, d);
  o->unwritten = w->loads;
  return st;
}

int cmd_rewrite(int argc, char **argv) {
  uint64_t index = UINT64_MAX, sms = 0, registers = 0, sample = 0;
  const char *output = "-", *kernel = NULL, *plan_text = NULL, *gpu_name = NULL;
  unsigned assume = 0;
  word unwritten = {0};
  uint32_t grid[3] = {0}, block[3] = {0};
  bool no_hoisting = false, all = false, json = false;
  const cli_option options[] = {
      {"kernel", 'k', CLI_TEXT, &kernel, 0, "NAME", "the kernel (default: the only one)"},
      {"plan", 0, CLI_TEXT, &plan_text, 0, "P", "e.g. order=tile:8x4,bind=redirect"},
      {"grid", 0, CLI_DIMS, grid, 0, "X[,Y[,Z]]",
       "the launch's grid: constants are baked in, and only this grid is right\n(default: any grid)"},
      {"block", 0, CLI_DIMS, block, 0, "X[,Y[,Z]]",
       "threads per CTA of the launches to come, if the kernel does not say"},
      {"registers", 0, CLI_NUMBER, &registers, 255, "N",
       "that a thread of the original uses; bind=agents limits the rewritten kernel's"},
      CLI_COMMON("no-hoisting", &no_hoisting),
      CLI_COMMON("assume", &assume),
      {"unwritten", 0, CLI_TEXT, &unwritten.params, 0, "A,B",
       "bypass=ro: parameters (arg1, arg2, ...) whose memory nothing writes while the kernel runs"},
      {"sms", 0, CLI_NUMBER, &sms, 65536, "N", "clusters, one per SM (default: those of --gpu, else 132)"},
      {"gpu", 0, CLI_TEXT, &gpu_name, 0, "NAME", "take the number of SMs from this GPU"},
      {"module", 'm', CLI_NUMBER, &index, UINT32_MAX, "N", "module number when the file holds several"},
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
  if (all && kernel) return cli_usage("rewrite: either --all or one kernel with -k");
  if (all && json && strcmp(output, "-") == 0)
    return cli_usage("rewrite: --json needs -o, since stdout holds the module");
  hd_diag d = {0};
  hd_buf launch = {0};
  hd_plan plan = {0};
  hd_gpu gpu = {.n_sms = 132};
  hd_status st = hd_plan_parse(plan_text, &plan, &d);
  if (st == HD_OK && gpu_name) st = hd_gpu_load(gpu_name, cli_gpus_dir(), &gpu, &d);
  hd_rewrite_options opt = {.grid = {.known = grid[0] > 0, .n_sms = sms ? (uint32_t)sms : gpu.n_sms},
                            .registers = (uint32_t)registers,
                            .no_hoisting = no_hoisting,
                            .assume = assume};
  memcpy(opt.grid.g, grid, sizeof grid);
  memcpy(opt.block, block, sizeof block);
  const hd_rewrite_file_options o = {.path = cli_kernel_file(argv[1]),
                                     .output = output,
                                     .index = index,
                                     .sample = sample,
                                     .plan = &plan,
                                     .options = &opt,
                                     .prepare = unwritten.params ? take_word : NULL,
                                     .ctx = &unwritten};
  rc = EXIT_OK;
  if (st == HD_OK && all)
    rc = rewrite_file(&o, json);
  else if (st == HD_OK)
    st = hd_rewrite_kernel(&o, kernel, &launch, &d);
  if (st == HD_OK && launch.len && strcmp(output, "-") != 0) fputs(launch.data, stderr);
  hd_buf_free(&launch);
  free(unwritten.loads);
  return st == HD_OK ? rc : cli_fail(&d);
}
