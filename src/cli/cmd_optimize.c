/* The main job: trace, sweep, prove the winner, write it. */
#include <stdlib.h>
#include <string.h>

#include "heddle/optimize.h"
#include "model_common.h"

typedef struct optimization {
  model_session s;
  hd_optimized found;
  hd_report report;
  char ptx_path[4200], html_path[4200], table_path[4200];
} optimization;

/* The module that was proved, with what its launches take as comments behind it; the table of an order that
 * is too large for the text. */
static hd_status write_kernel(optimization *z, hd_diag *d) {
  const hd_workload *w = z->s.workload;
  hd_buf text = {0};
  hd_status st = HD_OK;
  hd_buf_put(&text, z->found.text, z->found.len);
  for (uint32_t i = 0; i < w->n_launches; i++) {
    uint32_t first = 0;
    while (strcmp(w->launches[first].kernel, w->launches[i].kernel) != 0) first++;
    if (first == i) hd_recipe_print(w->launches[i].kernel, &z->found.recipes[i], &text);
  }
  if (z->found.table.n)
    st = hd_table_write(z->table_path, &z->found.table, d);
  else
    z->table_path[0] = 0;
  if (st == HD_OK && text.failed) st = hd_nomem(d);
  if (st == HD_OK) st = hd_file_write(z->ptx_path, text.data, text.len, d);
  hd_buf_free(&text);
  return st;
}

static hd_status write_page(optimization *z, hd_diag *d) {
  hd_buf page = {0};
  hd_reuse_picture picture;
  hd_status st = hd_reuse_picture_make(z->found.study, z->s.workload, z->s.gpu.l1.line, &picture, d);
  if (st != HD_OK) return st;
  z->report.picture = &picture;
  hd_report_html(&z->report, &page);
  z->report.picture = NULL;
  hd_reuse_picture_free(&picture);
  st = page.failed ? hd_nomem(d) : hd_file_write(z->html_path, page.data, page.len, d);
  hd_buf_free(&page);
  return st;
}

static void describe(optimization *z, const char *dir) {
  const char *name = z->s.workload->name;
  const hd_optimized *f = &z->found;
  snprintf(z->ptx_path, sizeof z->ptx_path, "%s/%s.ptx", dir, name);
  snprintf(z->html_path, sizeof z->html_path, "%s/%s.html", dir, name);
  snprintf(z->table_path, sizeof z->table_path, "%s/%s.table", dir, name);
  z->report = (hd_report){.workload = z->s.workload,
                          .gpu = &z->s.gpu,
                          .dispatch = hd_dispatch_name(z->s.dispatch),
                          .rows = f->rows,
                          .n_rows = f->n_rows,
                          .best = (int64_t)f->best,
                          .proof = f->best ? &f->proof : NULL,
                          .output = f->best ? z->ptx_path : NULL,
                          .html = z->html_path,
                          .other_launch = f->other_launch,
                          .nothing_helps = f->best ? NULL : f->why,
                          .trace_seconds = hd_study_seconds(f->study),
                          .sweep_seconds = f->sweep_seconds};
}

static hd_status optimize(optimization *z, const char *name, const model_options *o, const char *folder,
                          hd_diag *d) {
  const char *dir = folder ? folder : ".";
  hd_plan_list plans = {0};
  hd_status st = hd_folder_make(dir, d); /* before the work whose results go there */
  if (st == HD_OK) st = model_open_workload(&z->s, name, o, d);
  if (st == HD_OK && o->plans) st = model_list_plans(o->plans, &plans, d);
  hd_optimize_options options = {.run = {.threads = (unsigned)o->threads, .apply.assume = o->assume},
                                 .dispatch = z->s.dispatch,
                                 .seed = o->seed,
                                 .plans = plans.at,
                                 .n_plans = plans.n,
                                 .keep_launch = o->keep_launch,
                                 .progress = cli_progress,
                                 .ctx = (void *)"replaying plans"};
  if (st == HD_OK) st = hd_optimize(z->s.workload, &z->s.gpu, &options, &z->found, d);
  hd_plan_list_free(&plans);
  if (st != HD_OK) return st;
  describe(z, dir);
  if (z->found.best)
    st = write_kernel(z, d);
  else
    z->table_path[0] = 0;
  if (z->table_path[0]) z->report.table = z->table_path;
  return st == HD_OK ? write_page(z, d) : st;
}

static int print(const optimization *z, size_t rows, bool json) {
  hd_buf out = {0};
  if (json)
    hd_report_json(&z->report, &out);
  else
    hd_report_text(&z->report, rows, cli_colour(), &out);
  return cli_print(&out);
}

int cmd_optimize(int argc, char **argv) {
  model_options o = {0};
  hd_adhoc_options a = {.module = UINT64_MAX};
  cli_list args = {0};
  const char *folder = NULL;
  uint64_t rows = 12;
  bool json = false;
  const cli_option options[] = {
      {"gpu", 0, CLI_TEXT, &o.gpu_name, 0, "NAME", "the GPU to model (default: h100)"},
      {"plans", 0, CLI_TEXT, &o.plans, 0, "LIST", "as for sweep"},
      {"dispatcher", 0, CLI_TEXT, &o.dispatcher, 0, "NAME",
       "demand or round-robin (default: as the GPU's file says)"},
      {"output", 'o', CLI_TEXT, &folder, 0, "DIR",
       "where NAME.ptx and NAME.html go, made if need be (default: this folder)"},
      {"keep-launch", 0, CLI_FLAG, &o.keep_launch, 0, NULL,
       "leave out plans that need another launch: bind=agents, bind=claim, sms"},
      {"rows", 0, CLI_NUMBER, &rows, 0, "N", "rows of the table to print (default: 12)"},
      {"size", 0, CLI_TEXT, &o.size, 0, "NAME", "the workload's size (default: paper where there is one)"},
      CLI_ASSUME_OPTION(o.assume),
      CLI_THREADS_OPTION(o.threads),
      CLI_JSON_OPTION(json),
      {"kernel", 'k', CLI_TEXT, &a.kernel, 0, "NAME", "of a file: the kernel (default: the only one)"},
      {"module", 'm', CLI_NUMBER, &a.module, UINT32_MAX, "N",
       "of a file: module number when the file holds several"},
      {"grid", 0, CLI_DIMS, a.grid, 0, "X[,Y[,Z]]", "of a file: the launch's grid"},
      {"block", 0, CLI_DIMS, a.block, 0, "X[,Y[,Z]]", "of a file: threads per CTA"},
      {"shared", 0, CLI_NUMBER, &a.shared, UINT32_MAX, "BYTES",
       "of a file: shared memory that the launch adds"},
      {"arg", 0, CLI_LIST, &args, 0, "A",
       "of a file: one per parameter, in order: a scalar (s32:512, f32:0.5, u64:7) or a "
       "buffer\nTYPE[COUNT]=FILL, e.g. 'f32[262144]=uniform(-1, 1)', 's32[1024]=zero'"},
      {0}};
  int n, rc = cli_parse(cli_find("optimize"), options, argc, argv, &n);
  if (rc >= 0) return rc;
  if (n != 1) return cli_usage("optimize: name one workload or file");
  hd_diag d = {0};
  optimization *z = calloc(1, sizeof *z);
  if (!z) return cli_usage("out of memory");
  hd_adhoc launch = {0};
  const char *name = argv[1];
  hd_status st = HD_OK;
  if (cli_is_kernel_file(name)) {
    a.args = args.items;
    a.n_args = args.n;
    st = hd_adhoc_create(name, &a, &launch, &d);
    name = launch.folder;
  }
  if (st == HD_OK) st = optimize(z, name, &o, folder, &d);
  if (st != HD_OK)
    rc = cli_fail(&d);
  else
    rc = print(z, (size_t)rows, json);
  hd_optimized_free(&z->found);
  model_close(&z->s);
  hd_adhoc_remove(&launch);
  free(z);
  return rc;
}
